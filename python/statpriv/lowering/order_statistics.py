"""Laws of order statistics, from those of counts.

The r-th smallest of several numbers is at most x if and only if at least r of them are:

    P[answer ≤ x] = P[C(x) ≥ r],   C(x) the number of those that answer with a value of at most x.

C(x) is the count of a property, "at most x", and has a law for every population, adversary and sampling for which
counts have. What the known entries are is the same in all these counts. Where the size of the sample is random, the law
is a mixture over it: given the size, the sample is one without replacement.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, permutations, product
from math import comb, prod
from typing import Any

from statpriv._native import Law
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.contributions import Lattice, compositions, lattice_of, multinomial, number_answering
from statpriv.lowering.sums import MOST_KNOWN, CountedWorld, counted_worlds
from statpriv.model.queries.order_statistic import OrderStatisticQuery
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.samplings import PoissonSampling, WithoutReplacement
from statpriv.model.situation import Situation

__all__ = ["OrderedAlternative", "order_statistic_of_identical", "ordered_alternatives"]


MOST_SIZES = 100
"""So many sizes of a sample are averaged over."""


@dataclass(frozen=True)
class OrderedAlternative:
    """One world: the laws of the answer by the value of the critical entry, for whatever the known entries are."""

    pairs: tuple[tuple[Fraction, Fraction], ...]
    known: tuple[tuple[Fraction, Mapping[Fraction, Law]], ...]
    """Probability, where the values are expected ones, and laws."""


def ordered_alternatives(situation: Situation, *, labelled: bool) -> tuple[Lattice, list[OrderedAlternative]]:
    """All worlds of an order statistic. Answers may be `labelled` by their rank where nothing is done to them.

    Raises
    ------
    NotApplicable
        There is no closed law for this sampling, or there are too many cases.
    """
    asked: Any = situation.asked
    if asked.has_ranges:
        raise NotApplicable("probabilities of values are ranges, over which this law has no closed supremum here")
    places = tuple(range(len(asked.values))) if labelled else lattice_of(asked.values)[1]
    if isinstance(situation.sampling, PoissonSampling):
        return lattice_of(asked.values)[0], _of_random_size(situation, situation.sampling, places)
    entries = number_answering(situation)
    if entries is None:
        raise NotApplicable("order statistics of several samples, or of samples of several sizes, have no closed law")
    rank = asked.rank_among(entries)
    by_value = [counted_worlds(replace(situation, query=_at_most(asked, x), pair=None)) for x in asked.values]
    return lattice_of(asked.values)[0], [
        _alternative(situation, rank, counts, places) for counts in zip(*by_value, strict=True)
    ]


def _of_random_size(situation: Situation, sampling: PoissonSampling, places: Sequence[int]) -> list[OrderedAlternative]:
    """A mixture over the size; a sample that is smaller than the rank has no answer, which is one more answer.

    A size that is published is a digit above those of the answer.
    """
    asked: Any = situation.asked
    n, rate = situation.population.size, sampling.rate
    if n > MOST_SIZES:
        raise NotApplicable(f"order statistics of samples of more than {MOST_SIZES} sizes are not averaged over")
    least = asked.rank if isinstance(asked.rank, int) else 1
    none = places[-1] + 1
    block = none + 1 if sampling.size_published else 0
    labelled = places[-1] < len(places)
    by_size = [
        ordered_alternatives(replace(situation, sampling=WithoutReplacement(size)), labelled=labelled)[1]
        for size in range(least, n + 1)
    ]
    weights = [multinomial((size, n - size), (rate, 1 - rate)) for size in range(n + 1)]
    silent = [Law.table(none + block * size, [1]) for size in range(least)]

    def mixed(laws: Sequence[Law]) -> Law:
        return Law.mixture(weights, [*silent, *(law.shifted(block * s) for s, law in enumerate(laws, least))])

    found = []
    for worlds in zip(*by_size, strict=True):
        cases = []
        for same in zip(*(world.known for world in worlds), strict=True):
            laws = [laws for _, laws in same]
            cases.append((same[0][0], {value: mixed([of[value] for of in laws]) for value in laws[0]}))
        found.append(OrderedAlternative(worlds[0].pairs, tuple(cases)))
    return found


def order_statistic_of_identical(asked: OrderStatisticQuery, size: int) -> tuple[list[Law], Lattice]:
    """For each value of the critical entry the law of the order statistic of `size` entries, it among them."""
    pmf: Any = asked.pmf
    distribution = tuple(accumulate(share for _, share in pmf))
    counts = [(share, Law.binomial(size - 1, share).shifted) for share in distribution]
    lattice, places = lattice_of(asked.values)
    return list(_laws(asked, asked.values, asked.rank_among(size), counts, {}, places=places).values()), lattice


def _at_most(asked: OrderStatisticQuery, x: Fraction) -> PropertyQuery:
    """The count of entries of at most x."""
    by_group = {
        name: sum((share for value, share in law if value <= x), Fraction(0)) for name, law in _laws_of_entries(asked)
    }
    return PropertyQuery(by_group[None] if asked.is_uniform else by_group)  # type: ignore[arg-type]


def _laws_of_entries(asked: OrderStatisticQuery) -> list[tuple[str | None, Any]]:
    pmf: Any = asked.pmf
    return [(None, pmf)] if asked.is_uniform else list(pmf)


def _alternative(
    situation: Situation, rank: int, counts: Sequence[CountedWorld], places: Sequence[int]
) -> OrderedAlternative:
    """The world that the counts of entries of at most each value share."""
    asked: Any = situation.asked
    by_group = dict(_laws_of_entries(asked))
    classes = counts[0].world.contributions.classes
    laws_of_classes = [by_group[None if asked.is_uniform else kind.name] for kind in classes]
    values = [value for value, _ in laws_of_classes[counts[0].world.critical]]
    pairs = [pair for pair in permutations(values, 2) if situation.pair in (None, pair)]
    cases = []
    made: dict[tuple[Hashable, bool], Law] = {}
    for weight, ones in _known(situation, counts[0].world.known, laws_of_classes):
        described = [
            ((*(kind.p for kind in count.world.contributions.classes), *at_most), count.released(at_most))
            for count, at_most in zip(counts, ones, strict=True)
        ]
        cases.append((weight, _laws(asked, values, rank, described, made, places=places)))
    return OrderedAlternative(tuple(pairs), tuple(cases))


def _known(
    situation: Situation, known: Sequence[int], laws: Sequence[Any]
) -> Iterator[tuple[Fraction, list[tuple[int, ...]]]]:
    """What the known entries may be, with its probability: for each value how many of each class are at most it."""
    asked: Any = situation.asked
    if prod(comb(number + len(law) - 1, number) for number, law in zip(known, laws, strict=True)) > MOST_KNOWN:
        raise NotApplicable(f"the known entries can have more than {MOST_KNOWN} different compositions")
    ways = (list(compositions(number, [number] * len(law))) for number, law in zip(known, laws, strict=True))
    for chosen in product(*ways):
        weight = Fraction(1)
        if situation.adversary.values == "expected":
            for numbers, law in zip(chosen, laws, strict=True):
                weight *= multinomial(numbers, [share for _, share in law])
        if weight > 0:
            yield (
                weight,
                [
                    tuple(
                        sum(number for number, (value, _) in zip(numbers, law, strict=True) if value <= x)
                        for numbers, law in zip(chosen, laws, strict=True)
                    )
                    for x in asked.values
                ],
            )


def _laws(
    asked: OrderStatisticQuery,
    values: Sequence[Fraction],
    rank: int,
    counts: Sequence[tuple[Hashable, Callable[[int], Law]]],
    made: dict[tuple[Hashable, bool], Law],
    *,
    places: Sequence[int],
) -> dict[Fraction, Law]:
    """The law for each of these values of the critical entry, from a description of each count and its law.

    Counts with equal descriptions have equal laws, and share one object, which remembers its work. The answers stand at
    these places.
    """
    laws = {}
    for critical in values:
        at_most = []
        for x, (description, count) in zip(asked.values, counts, strict=True):
            counted = critical <= x
            if (description, counted) not in made:
                made[description, counted] = count(int(counted))
            at_most.append(made[description, counted])
        law = Law.order_statistic(at_most, rank)
        laws[critical] = law if tuple(places) == tuple(range(len(places))) else law.relabelled(dict(enumerate(places)))
    return laws
