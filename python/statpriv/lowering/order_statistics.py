"""Laws of order statistics, from the laws of counts.

The r-th smallest of several numbers is at most x if and only if at least r of them are:

    P[answer ≤ x] = P[C(x) ≥ r],   C(x) the number of answering entries with a value of at most x.

C(x) is the count of the property "at most x". It has a law for every population, adversary and sampling for which
counts have laws. The known entries are the same in all these counts. If the sample size is random, the law is a mixture
over it: given its size, the sample is one without replacement.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, permutations, product
from math import comb, prod

from statpriv import budget
from statpriv._native import Law
from statpriv.lowering.applicability import NotApplicable, require_no_range
from statpriv.lowering.contributions import known_law, lattice_of, multinomial
from statpriv.lowering.sums import CountedWorld, counted_worlds
from statpriv.model.draws import compositions
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.protocol import Capabilities
from statpriv.model.samplings import Sampling, WithoutReplacement
from statpriv.model.situation import Situation
from statpriv.model.steps import Lattice


@dataclass(frozen=True)
class OrderedAlternative:
    """One world: the laws of the answer by the value of the critical entry, for each choice of the known entries."""

    pairs: tuple[tuple[Fraction, Fraction], ...]
    known: tuple[tuple[Fraction, Mapping[Fraction, Law]], ...]
    """For each choice of known values: its probability, if these values are averaged over, and the laws."""


def ordered_alternatives(situation: Situation, *, labelled: bool) -> tuple[Lattice, list[OrderedAlternative]]:
    """All worlds of an order statistic. Answers may be `labelled` by their rank if they are not processed further.

    Raises
    ------
    NotApplicable
        There is no closed law for this sampling, or there are too many cases.
    """
    asked, sampling = situation.asked, situation.sampling
    require_no_range(asked)
    values = asked.values_in()
    lattice, on_lattice = lattice_of(values)
    places = tuple(range(len(values))) if labelled else on_lattice
    if sampling is not None and (rate := sampling.independent_rate) is not None:
        return lattice, _of_random_size(situation, sampling, rate, places)
    if situation.number_answering is None:
        raise NotApplicable("order statistics of several samples, or of samples of several sizes, have no closed law")
    rank = _rank(asked, situation.number_answering)
    by_value = [counted_worlds(replace(situation, query=_at_most(asked, x), pair=None)) for x in values]
    return lattice, [_alternative(situation, rank, counts, places) for counts in zip(*by_value, strict=True)]


def _rank(asked: Capabilities, entries: int) -> int:
    rank = asked.rank_among(entries)
    if rank is None:
        raise NotApplicable(f"{asked.kind} is no entry of a given rank")
    return rank


def _of_random_size(
    situation: Situation, sampling: Sampling, rate: Fraction, places: Sequence[int]
) -> list[OrderedAlternative]:
    """A mixture over the size. A sample smaller than the rank has no answer, which counts as a further answer.

    A published size is a digit above those of the answer.
    """
    n = situation.population.size
    if n > budget.MAX_ORDER_STATISTIC_SAMPLE_SIZES:
        most = budget.MAX_ORDER_STATISTIC_SAMPLE_SIZES
        raise NotApplicable(f"order statistics of samples of more than {most} sizes are not averaged over")
    least = situation.asked.least_entries
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


def order_statistic_of_identical(asked: Capabilities, size: int) -> tuple[list[Law], Lattice]:
    """For each value of the critical entry, the law of the order statistic of `size` entries including it."""
    distribution = tuple(accumulate(share for _, share in known_law(asked.law())))
    counts = [(share, Law.binomial(size - 1, share).shifted) for share in distribution]
    values = asked.values_in()
    lattice, places = lattice_of(values)
    return list(_laws(values, values, _rank(asked, size), counts, {}, places=places).values()), lattice


def _at_most(asked: Capabilities, x: Fraction) -> PropertyQuery:
    """The count of entries with a value of at most x."""

    def share_of(group: str | None) -> Fraction:
        return sum((share for value, share in known_law(asked.law(group)) if value <= x), Fraction(0))

    groups = asked.stated_groups
    return PropertyQuery(share_of(None) if groups is None else {name: share_of(name) for name in groups})


def _alternative(
    situation: Situation, rank: int, counts: Sequence[CountedWorld], places: Sequence[int]
) -> OrderedAlternative:
    """The world shared by the counts of entries of at most each value."""
    asked = situation.asked
    laws_of_classes = [known_law(asked.law(kind.name)) for kind in counts[0].world.contributions.classes]
    values = [value for value, _ in laws_of_classes[counts[0].world.critical]]
    pairs = [pair for pair in permutations(values, 2) if situation.pair in (None, pair)]
    cases = []
    made: dict[tuple[Hashable, bool], Law] = {}
    for weight, ones in _known(situation, counts[0].world.known, laws_of_classes):
        described = [
            ((*(kind.p for kind in count.world.contributions.classes), *at_most), count.released(at_most))
            for count, at_most in zip(counts, ones, strict=True)
        ]
        cases.append((weight, _laws(asked.values_in(), values, rank, described, made, places=places)))
    return OrderedAlternative(tuple(pairs), tuple(cases))


def _known(
    situation: Situation, known: Sequence[int], laws: Sequence[Sequence[tuple[Fraction, Fraction]]]
) -> Iterator[tuple[Fraction, list[tuple[int, ...]]]]:
    """What the known entries may be, with its probability: for each value how many of each class are at most it."""
    most = budget.MAX_KNOWN_ENTRY_VALUES
    if prod(comb(number + len(law) - 1, number) for number, law in zip(known, laws, strict=True)) > most:
        raise NotApplicable(f"the known entries can have more than {most} different compositions")
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
                    for x in situation.asked.values_in()
                ],
            )


def _laws(
    thresholds: Sequence[Fraction],
    values: Sequence[Fraction],
    rank: int,
    counts: Sequence[tuple[Hashable, Callable[[int], Law]]],
    made: dict[tuple[Hashable, bool], Law],
    *,
    places: Sequence[int],
) -> dict[Fraction, Law]:
    """The law for each of these values of the critical entry, from a description of each count and its law.

    Counts with equal descriptions have equal laws and share one object, which caches its results. `places` are the
    positions of the answers.
    """
    laws = {}
    for critical in values:
        at_most = []
        for x, (description, count) in zip(thresholds, counts, strict=True):
            counted = critical <= x
            if (description, counted) not in made:
                made[description, counted] = count(int(counted))
            at_most.append(made[description, counted])
        law = Law.order_statistic(at_most, rank)
        laws[critical] = law if tuple(places) == tuple(range(len(places))) else law.relabelled(dict(enumerate(places)))
    return laws
