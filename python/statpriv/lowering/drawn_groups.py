"""A count of drawn entries, averaged over how many of each kind are drawn: Definition 3.3 for entries that differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import islice

from statpriv import budget
from statpriv._native import Curve
from statpriv.errors import PrecisionError
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.draws import compositions
from statpriv.model.queries.protocol import Pair
from statpriv.model.ranges import Stated, ends, is_range


def pooled(others: Iterable[tuple[Fraction, int]]) -> dict[Fraction, int]:
    """Numbers of entries by probability: kinds of entries that are equally likely to have the property are merged."""
    pools: defaultdict[Fraction, int] = defaultdict(int)
    for p, number in others:
        pools[p] += number
    return {p: number for p, number in pools.items() if number}


def count_of_drawn(pools: dict[Fraction, int], irrelevant: int, draws: int, pair: Pair) -> Curve:
    """The critical entry and `draws` others, drawn without replacement from the pools and from irrelevant entries.

    The curve is the mean over the numbers of entries that are drawn of each pool, which are multivariate
    hypergeometric, of that of the count given them. Entries whose values are known or revealed are irrelevant: they
    only shift the count.

    Raises
    ------
    NotApplicable
        There are too many ways to compose the sample.
    """
    everyone = sum(pools.values()) + irrelevant + 1
    if len(pools) <= 1:
        [p] = pools or {Fraction(1, 2): 0}
        return count_of_one_kind(p, everyone, irrelevant, draws, pair)
    if len(pools) > budget.MAX_GROUPS:
        raise NotApplicable(f"entries of more than {budget.MAX_GROUPS} different kinds can be drawn in too many ways")
    try:
        return Curve.drawn_groups(
            others=list(pools.values()), probabilities=list(pools), irrelevant=irrelevant, draws=draws, pair=pair
        )
    except PrecisionError as error:
        raise NotApplicable(str(error)) from None


def count_of_one_kind(p: Stated, everyone: int, irrelevant: int, draws: int, pair: Pair) -> Curve:
    """The same where all that count have one probability, or one of a range."""
    lower, upper = ends(p)
    if not irrelevant:
        return Curve.count(size=draws + 1, lower=lower, upper=upper, pair=pair)
    return Curve.known_entries(
        population=everyone, known=irrelevant, size=draws + 1, lower=lower, upper=upper, pair=pair, thresholds=None
    )


def count_of_own(
    stated: dict[str, Stated], unknown: dict[str, int], own: str, sizes: tuple[int, int], pair: Pair
) -> Curve:
    """The same by group, for a critical entry of the group `own`; a bound where p is a range.

    `sizes` are the numbers of all others and of those that are drawn. Revealed values raise δ. Where the group's own p
    is a number, entries of groups with ranges are revealed. Where it is a range, those of all other groups are: each
    group has a probability of its own, and the rest only shifts the count.
    """
    number, draws = sizes
    if is_range(p := stated[own]):
        return count_of_one_kind(p, number + 1, number - unknown[own], draws, pair)
    pools = pooled((p, unknown[name]) for name, p in stated.items() if isinstance(p, Fraction))
    return count_of_drawn(pools, number - sum(pools.values()), draws, pair)


def at_most(limit: int, draws: int, room: Sequence[int]) -> bool:
    """Whether so many entries can be drawn from kinds of these sizes in at most `limit` ways."""
    if len(room) > budget.MAX_GROUPS + 1:  # Known entries are one kind more.
        return False
    return sum(1 for _ in islice(compositions(draws, room), limit + 1)) <= limit
