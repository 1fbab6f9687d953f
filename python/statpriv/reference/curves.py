"""Privacy curves from the definitions: every pair of values, every database, every template.

A curve here is a function from `x = e^ε >= 1` to the exact δ. The maxima over the critical entry, the known entries and
the pair of values are taken as in the definitions; each function documents their order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Literal

from statpriv.errors import ArgumentError
from statpriv.reference.cases import LIMIT, refuse_above
from statpriv.reference.databases import Database
from statpriv.reference.laws import Number, as_rational, excess
from statpriv.reference.releases import (
    Answers,
    Asked,
    Query,
    Release,
    Strategy,
    Templates,
    asking,
    part_count,
    release_of,
)
from statpriv.reference.templates import Family
from statpriv.reference.worlds import Compared, Known, Pair, worlds

ZERO = Fraction(0)


@dataclass(frozen=True)
class Curve:
    """The least δ as a function of `e^ε`, an exact rational; the object is called with `exp_epsilon`.

    Parameters
    ----------
    at : callable
        From a Fraction `x = e^ε` of at least 1 to δ.

    Examples
    --------
    >>> import statpriv as sp
    >>> coins = sp.reference.iid(sp.reference.coin("1/2"), 3)
    >>> curve = sp.reference.privacy_curve(coins, sum)
    >>> curve(1), curve("3/2")
    (Fraction(1, 2), Fraction(3, 8))
    """

    at: Callable[[Fraction], Fraction]

    def __call__(self, exp_epsilon: Number) -> Fraction:
        """The exact δ at `exp_epsilon`, a number of at least 1."""
        x = as_rational(exp_epsilon, "exp_epsilon")
        if x < 1:
            raise ArgumentError(
                f"exp_epsilon = {exp_epsilon!r}; e^epsilon of at least 1 is required (hockey_stick takes any above 0)"
            )
        return self.at(x)


def privacy_curve(
    database: Database,
    query: Asked,
    templates: Templates | None = None,
    *,
    critical: int | None = None,
    pair: Pair | None = None,
    known: Known = (),
    values: Literal["worst", "expected"] = "worst",
    limit: int = LIMIT,
) -> Curve:
    """The privacy curve of the released answer; the secret template is averaged over (Definitions 2.2 and 2.3).

    `δ(ε) = max Σ_a max(0, P_v(a) − e^ε P_w(a))`, the maximum over the critical entries, the choices and values of
    the known entries, and the ordered pairs (v, w).

    Parameters
    ----------
    database : Database
        The law of each entry.
    query : callable, list of callables or Strategy
        A function of the tuple of rows that a template picks; or one function for each part of a family, which releases
        all answers together; or an adaptive :class:`Strategy`.
    templates : mapping, optional
        The law of the template, or of the family of templates. By default every query sees all entries.
    critical : int, optional
        Index of the critical entry; the worst entry by default.
    pair : (v, w), optional
        Values of the critical entry in this order; the worst ordered pair of its values by default.
    known : int, collection of int, or mapping, optional
        The other entries that are known: their number (the worst choice is taken), their indices, or a mapping from
        their indices to values.
    values : {"worst", "expected"}
        The treatment of known entries without stated values. "worst": they have their worst values. "expected": their
        values are released with the answer, so δ is the mean over them, and the maximum over pairs is outside the mean.
    limit : int, default 2 000 000
        Largest number of cases, databases times templates; more are refused.

    Returns
    -------
    Curve
        δ as a function of `exp_epsilon`.

    Raises
    ------
    ArgumentError
        Laws that do not sum to one, values or indices that do not exist, more cases than `limit`.

    Notes
    -----
    Source: *Parallel Composition for Statistical Privacy*, Definitions 2.2, 2.3, 3.1, 3.2 and 3.4.

    Examples
    --------
    The count of ones in a secret sample of two out of six fair coins, with two other coins known. Known values 0 and 1
    reveal more than two equal known values.

    >>> import statpriv as sp
    >>> coins, sample = sp.reference.iid(sp.reference.coin("1/2"), 6), sp.reference.without_replacement(6, 2)
    >>> [float(sp.reference.privacy_curve(coins, sum, sample, critical=0, known=known)("3/2"))
    ...  for known in ({4: 0, 5: 0}, {4: 0, 5: 1}, [4, 5])]
    [0.075, 0.09166666666666666, 0.09166666666666666]
    """
    release = release_of(query, templates, database)
    compared = [
        laws
        for world in worlds(database, release, critical=critical, pair=pair, known=known, values=values, limit=limit)
        for laws in world.compared(release)
    ]
    return Curve(lambda x: _worst(compared, x))


def sampling_privacy_curve(
    database: Database,
    query: Query,
    templates: Templates,
    *,
    critical: int | None = None,
    pair: Pair | None = None,
    known: Known = (),
    values: Literal["worst", "expected"] = "worst",
    limit: int = LIMIT,
) -> Curve:
    """The sampling privacy curve: the mean of the curves of the templates that contain the critical entry.

    `SPC(ε) = E[Δ̂_τ(ε) | j ∈ τ]` (*Parallel Composition for Statistical Privacy*, Definition 3.3 in the conditional
    form that Theorem 5.2 needs, and Example 1). The maximum over pairs is inside the mean, the maxima over critical
    entries and known values are outside.

    Parameters
    ----------
    database, query, critical, pair, known, values, limit
        As for :func:`privacy_curve`, with one query.
    templates : mapping
        The law of the template. At least one template has to contain the critical entry.

    Examples
    --------
    >>> import statpriv as sp
    >>> coins, sample = sp.reference.iid(sp.reference.coin("1/2"), 3), sp.reference.without_replacement(3, 2)
    >>> sp.reference.sampling_privacy_curve(coins, sum, sample, known=1)(1)
    Fraction(3, 4)
    """
    release = release_of(query, templates, database)
    means = []
    for world in worlds(database, release, critical=critical, pair=pair, known=known, values=values, limit=limit):
        holding = {family: mass for family, mass in release.families.items() if world.critical in family[0]}
        inclusion = sum(holding.values(), ZERO)
        if not inclusion:
            raise ArgumentError(
                f"templates: none holds the critical entry {world.critical}, so there is no mean over them"
            )
        means.append([(mass / inclusion, world.compared(_given(release, family))) for family, mass in holding.items()])
    return _worst_mean(means)


def partition_sum(
    database: Database,
    queries: Sequence[Query],
    templates: Templates,
    *,
    critical: int | None = None,
    pair: Pair | None = None,
    known: Known = (),
    values: Literal["worst", "expected"] = "worst",
    limit: int = LIMIT,
) -> Curve:
    """The bound for a composition over disjoint parts: `Σ_k P[j ∈ τ_k] · SPC_k(ε)`.

    It is that of *Parallel Composition for Statistical Privacy*, Theorems 5.1 and 5.2.

    Parameters
    ----------
    database, critical, pair, known, values, limit
        As for :func:`privacy_curve`; the maximum over pairs is inside the sum.
    queries : sequence of callables
        Query k is answered on part k.
    templates : mapping
        The law of the family of parts; the parts of a family are disjoint.

    Examples
    --------
    >>> import statpriv as sp
    >>> coins, parts = sp.reference.iid(sp.reference.coin("1/2"), 3), sp.reference.partitions(3, [1, 2])
    >>> bound = sp.reference.partition_sum(coins, [sum, sum], parts, critical=0)
    >>> bound(1), sp.reference.privacy_curve(coins, [sum, sum], parts, critical=0)(1)
    (Fraction(2, 3), Fraction(1, 2))
    """
    release = release_of(list(queries), templates, database)
    _expect_disjoint(release.families)
    sums = []
    for world in worlds(database, release, critical=critical, pair=pair, known=known, values=values, limit=limit):
        terms = []
        for k, query in enumerate(queries):
            part: defaultdict[Family, Fraction] = defaultdict(Fraction)
            for family, mass in release.families.items():
                if world.critical in family[k]:
                    part[family[k],] += mass
            alone = asking(query, part)
            terms += [(mass, world.compared(_given(alone, family))) for family, mass in part.items()]
        sums.append(terms)
    return _worst_mean(sums)


def adaptive_partition_sum(
    database: Database,
    strategy: Strategy,
    templates: Templates,
    *,
    critical: int | None = None,
    pair: Pair | None = None,
    known: Known = (),
    limit: int = LIMIT,
) -> Curve:
    """The bound for an adaptive composition over disjoint parts.

    It is `max_{v,w} Σ_τ T(τ) · Σ_{a_<k} P[a_<k | τ] · Δ_{v,w}(ε)`, where k is the part of τ that contains the critical
    entry, and Δ is that of query `F_k(a_<k)` on part k (*Parallel Composition for Statistical Privacy*, Theorems 5.3
    and 5.4). Given the template, the earlier answers do not depend on the critical entry. The maximum over pairs is
    outside the sum.

    Parameters
    ----------
    database, templates, critical, pair, known, limit
        As for :func:`partition_sum`; known entries have their worst values.
    strategy : Strategy
        Chooses the query of each part from the earlier answers.

    Examples
    --------
    >>> import statpriv as sp
    >>> coins, parts = sp.reference.iid(sp.reference.coin("1/2"), 3), sp.reference.partitions(3, [1, 2])
    >>> ask = sp.reference.Strategy(lambda earlier: max if earlier == (1,) else sum)
    >>> bound = sp.reference.adaptive_partition_sum(coins, ask, parts, critical=0)
    >>> bound(1), sp.reference.privacy_curve(coins, ask, parts, critical=0)(1)
    (Fraction(2, 3), Fraction(1, 2))
    """
    _expect_strategy(strategy)
    release = release_of(strategy, templates, database)
    _expect_disjoint(release.families)
    sums = []
    for world in worlds(database, release, critical=critical, pair=pair, known=known, limit=limit):
        terms: list[list[tuple[Fraction, list[Compared]]]] = [[] for _ in world.pairs]
        for family, mass in release.families.items():
            for k, part in enumerate(family):
                if world.critical not in part:
                    continue
                earlier_law = _given(release, family[:k]).law(world.database).probabilities()
                for (earlier, _), probability in earlier_law.items():
                    alone = asking(strategy.choose(earlier), {(part,): Fraction(1)})
                    for term, laws in zip(terms, world.compared(alone), strict=True):
                        term.append((mass * probability, [laws]))
        sums += terms
    return _worst_mean(sums)


def worst_strategy_curve(
    database: Database,
    allowed: Sequence[Query],
    templates: Templates,
    *,
    critical: int | None = None,
    pair: Pair | None = None,
    known: Known = (),
    limit: int = LIMIT,
) -> Curve:
    """The privacy curve under the worst adaptive strategy that chooses from a finite list of queries at every step.

    A strategy chooses separately after every sequence of answers, and `Σ_a max(0, P_v(a) − e^ε P_w(a))` is a sum over
    the complete sequences. So backward induction, from the last part to the first, gives the worst strategy. A
    different strategy may attain the curve at a different ε.

    Parameters
    ----------
    database, critical, pair, known, limit
        As for :func:`privacy_curve`; known entries have their worst values.
    allowed : sequence of callables
        The queries that may be asked on any part.
    templates : mapping
        The law of the family of templates, one for each step.

    Examples
    --------
    >>> import statpriv as sp
    >>> coins, parts = sp.reference.iid(sp.reference.coin("1/2"), 3), sp.reference.partitions(3, [1, 2])
    >>> sp.reference.worst_strategy_curve(coins, [sum, max], parts, critical=0)("3/2")
    Fraction(3, 8)
    """
    if not isinstance(allowed, Sequence) or not allowed:
        raise ArgumentError(f"allowed = {allowed!r}; a list of at least one query is required")
    steps = part_count(templates)
    sequences = len(allowed) ** steps
    refuse_above(limit, sequences, f"{len(allowed)} queries in {steps} steps")
    releases = {
        chosen: release_of([allowed[c] for c in chosen], templates, database)
        for chosen in product(range(len(allowed)), repeat=steps)
    }
    families = next(iter(releases.values()))
    games = []
    for world in worlds(
        database, families, critical=critical, pair=pair, known=known, limit=limit, repetitions=sequences
    ):
        compared = {chosen: world.compared(release) for chosen, release in releases.items()}
        games += [{chosen: laws[k] for chosen, laws in compared.items()} for k in range(len(world.pairs))]
    return Curve(lambda x: max((_best_play(game, steps, x) for game in games), default=ZERO))


def _given(release: Release, family: Family) -> Release:
    """The release with the same queries and this template with certainty."""
    return Release(release.choose, {family: Fraction(1)})


def _worst(compared: Iterable[Compared], x: Fraction) -> Fraction:
    return max((excess(p, q, x) for p, q in compared), default=ZERO)


def _worst_mean(sums: Sequence[Sequence[tuple[Fraction, list[Compared]]]]) -> Curve:
    """`max Σ weight · max Δ`: the outer maximum is over the alternatives, the inner one over the pairs by template."""
    return Curve(
        lambda x: max((sum((mass * _worst(laws, x) for mass, laws in terms), ZERO) for terms in sums), default=ZERO)
    )


def _best_play(game: Mapping[tuple[int, ...], Compared], steps: int, x: Fraction) -> Fraction:
    """Backward induction from the complete sequences of choices and answers to the first choice."""
    value = {
        (chosen, released[0]): max(ZERO, Fraction(weight, p.total) - x * Fraction(q.of.get(released, 0), q.total))
        for chosen, (p, q) in game.items()
        for released, weight in p.of.items()
    }
    for _ in range(steps):
        expected: defaultdict[tuple[tuple[int, ...], Answers], Fraction] = defaultdict(Fraction)
        for (chosen, answers), gain in value.items():
            expected[chosen, answers[:-1]] += gain
        value = {}
        for (chosen, answers), gain in expected.items():
            value[chosen[:-1], answers] = max(gain, value.get((chosen[:-1], answers), ZERO))
    return value[(), ()]


def _expect_disjoint(families: Iterable[Family]) -> None:
    for family in families:
        drawn = [i for part in family for i in part]
        if len(set(drawn)) < len(drawn):
            raise ArgumentError(
                f"templates has {family!r}; the theorem is about parts that share no entry and repeat none"
            )


def _expect_strategy(strategy: object) -> None:
    if not isinstance(strategy, Strategy):
        raise ArgumentError(f"strategy = {strategy!r}; a Strategy is required; for a list of queries use partition_sum")
