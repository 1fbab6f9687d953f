"""Exact laws of answers of all entries."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from itertools import permutations
from math import comb

from statpriv import budget
from statpriv._native import Curve, Law
from statpriv.errors import ArgumentError
from statpriv.lowering.applicability import NotApplicable, require_no_range
from statpriv.lowering.contributions import World, contributions, known_law, laws_by_class
from statpriv.lowering.sums import alternatives
from statpriv.model.draws import compositions
from statpriv.model.probabilities import as_law
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.linear import LinearQuery
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.protocol import AnswerLaws
from statpriv.model.queries.sum import Additive
from statpriv.model.ranges import ends
from statpriv.model.situation import Pair, Situation
from statpriv.model.steps import Step
from statpriv.numeric.arguments import is_mapping
from statpriv.numeric.exact import Number
from statpriv.numeric.literals import abridged
from statpriv.rules.assumptions import IDENTICAL, INDEPENDENT, KNOWN_LAW, PAPER, STATED
from statpriv.rules.registry import rule


@rule(
    bound="exact",
    kind="exact",
    queries=(PropertyQuery,),
    cost=10,
    theorem=(
        "The count of the entries the adversary does not know: 1 + Bin(N, p) against Bin(N, p) for the N others. "
        "Known entries shift both by a constant. Over a range of p it is the exact supremum."
    ),
    source=f"{PAPER}, Definition 2.3; for a range, the theorem on peak heights in docs/explanation/ranges.md",
    assumptions=(INDEPENDENT, IDENTICAL),
)
def count(situation: Situation) -> Curve:
    """Δ_{n−u}: all entries are counted, so no sample is secret."""
    p = situation.asked.probability()
    if p is None:
        raise NotApplicable("the entries have different probabilities")
    unknown = situation.population.size - situation.adversary.total
    lower, upper = ends(p)
    return Curve.count(size=unknown, lower=lower, upper=upper, pair=situation.pair)


@rule(
    bound="exact",
    kind="exact",
    queries=(PropertyQuery,),
    cost=11,
    theorem=(
        "1 + T against T, where T counts the entries that the adversary does not know, without the critical one: of "
        "independent zeros and ones, each with its own probability. Known entries shift both by a constant. The worst "
        "of all entries that may be critical, and of all choices of known ones."
    ),
    source=f"{PAPER}, Definitions 2.2 and 2.3",
    assumptions=(INDEPENDENT, STATED),
)
def varied_count(situation: Situation) -> Curve:
    """The maximum over all possible critical entries, for each choice of known entries."""
    if situation.asked.is_uniform:
        raise NotApplicable("all entries have one probability")
    require_no_range(situation.asked)
    classes = [(of.size, dict(known_law(of.law))[1]) for of in laws_by_class(situation)]
    p = classes[0][1]
    if all(other == p for _, other in classes):  # the groups differ only in their names
        unknown = situation.population.size - situation.adversary.total
        return Curve.count(size=unknown, lower=p, upper=p, pair=situation.pair)
    curves = [
        Curve.varied_count(
            counts=[size - known for (size, _), known in zip(classes, choice, strict=True)],
            probabilities=[p for _, p in classes],
            pair=situation.pair,
        )
        for choice in _choices_of_known(situation, [size for size, _ in classes])
    ]
    return worst(curves)


def _choices_of_known(situation: Situation, sizes: list[int]) -> list[tuple[int, ...]]:
    """The possible numbers of known entries of each class, whichever entry is critical."""
    known, classes = situation.adversary.total, len(sizes)
    if known == 0:
        return [(0,) * classes]
    if not situation.adversary.by_group and comb(known + classes - 1, known) <= budget.MAX_KNOWN_ENTRY_WORLDS:
        return list(compositions(known, sizes))
    return list(dict.fromkeys(world.known for world in contributions(situation).worlds(situation)))


@rule(
    bound="exact",
    kind="exact",
    queries=(Additive, LinearQuery, HistogramQuery),
    cost=20,
    theorem=(
        "v + S against w + S, where S is what the entries add that the adversary does not know: a sum of independent "
        "numbers, or of vectors of counts, one law a group or an entry. Known entries shift both by a constant. The "
        "worst of all groups that may hold the critical entry, and of all choices of known ones."
    ),
    source=f"{PAPER}, Definitions 2.2 and 2.3",
    assumptions=(INDEPENDENT, STATED),
)
def total(situation: Situation) -> Curve:
    """Only the difference of the two values' contributions matters."""
    if situation.asked.one_histogram is not None:
        raise NotApplicable("all entries have one law, of which only the two cells matter")
    _, worlds = alternatives(situation, shift_matters=False, labelled=True)
    curves = []
    for alternative in worlds:
        others = alternative.world.others
        curves += [Curve.answers(others.shifted(gap), others) for gap in worst_gaps(alternative.world, situation.pair)]
    return worst(curves)


def worst_gaps(world: World, pair: Pair, *, monotone: bool = True) -> list[int]:
    """The differences of two values' contributions that matter; for log-concave laws, only the extreme differences.

    Sums of independent log-concave numbers are log-concave. So the likelihood ratio of ``d + S`` against S is monotone
    for every d, and the best test for d > 0 is "at least t". For a larger d the power of that test is larger and its
    level is the same. Processing that keeps ratios `monotone` preserves this argument.
    """
    gaps = list(dict.fromkeys(v - w for v, w in world.pairs(pair) if v != w))
    if len(gaps) > 2 and monotone and is_log_concave(world):
        return [max(gaps), min(gaps)]
    return gaps


def is_log_concave(world: World) -> bool:
    """Whether the unknown others' sum has log-concave summands."""
    present = zip(world.contributions.classes, world.unknown, strict=True)
    return all(kind.is_log_concave for kind, count in present if count)


@rule(
    bound="exact",
    kind="exact",
    queries=(HistogramQuery,),
    cost=21,
    theorem=(
        "Of the cells v and w only their own counts tell the values apart: given how many entries are in either, that "
        "is a count of one property, and the curves average. Known entries shift the counts. The worst pair of cells."
    ),
    source="docs/explanation/queries.md, with the proof",
    assumptions=(INDEPENDENT, STATED),
)
def histogram(situation: Situation) -> Curve:
    """The mean over the number of entries in the two cells."""
    cells = uniform_cells(situation)
    unknown = situation.population.size - situation.adversary.total
    return Curve.histogram(size=unknown, cells=cells, pair=situation.pair)


@rule(
    bound="exact",
    kind="exact",
    queries=(AnswerLaws,),
    cost=22,
    theorem="The hockey stick of the laws that the query states for two values of the critical entry; the worst pair.",
    source=f"{PAPER}, Definition 2.3",
    assumptions=(KNOWN_LAW,),
)
def stated_laws(situation: Situation) -> Curve:
    """The curve of the laws that the user's query states."""
    return worst(of_stated_laws(situation))


def of_stated_laws(situation: Situation, steps: tuple[Step, ...] = ()) -> list[Curve]:
    """The hockey stick of each ordered pair of the laws that a user's query states, after all steps."""
    if situation.adversary.total:
        raise NotApplicable("a query of the user's own states its laws without known entries")
    laws = _read(situation.asked.laws_of_answers(situation.population.size))
    if situation.pair is not None and not all(value in laws for value in situation.pair):
        raise ArgumentError(
            f"pair = {abridged(situation.pair)}; two of the values {abridged(list(laws))} that answer_laws states are "
            "required"
        )
    labels: dict[Hashable, int] = {}
    for law in laws.values():
        for answer in law:
            labels.setdefault(_published(answer, steps), len(labels))
    tables = {}
    for value, law in laws.items():
        masses = [Fraction(0)] * len(labels)
        for answer, mass in law.items():
            masses[labels[_published(answer, steps)]] += mass
        tables[value] = Law.table(0, masses)
    pairs = permutations(laws, 2) if situation.pair is None else [situation.pair]
    return [Curve.answers(tables[v], tables[w]) for v, w in pairs]


def _published(answer: Hashable, steps: tuple[Step, ...]) -> Hashable:
    for step in steps:
        if not step.is_function:
            raise NotApplicable("noise is not added to the answers of a query of the user's own: state its noisy laws")
        answer = step.published_for(answer)
    return answer


def _read(stated: object) -> dict[Hashable, dict[Hashable, Fraction]]:
    if not is_mapping(stated) or len(stated) < 2:
        raise ArgumentError(
            f"answer_laws returned {abridged(stated)}; a dict from each of at least two values of the critical entry "
            "to a dict from answer to probability is required"
        )
    laws = {}
    for value, law in stated.items():
        name = f"answer_laws(...)[{abridged(value)}]"
        if not is_mapping(law) or not law:
            raise ArgumentError(f"{name} = {abridged(law)}; a dict from answer to probability is required")
        masses: list[tuple[str, Number]] = [(f"{name}[{abridged(answer)}]", mass) for answer, mass in law.items()]
        laws[value] = dict(zip(law, as_law(masses, name)[0], strict=True))
    return laws


def uniform_cells(situation: Situation) -> tuple[Fraction, ...]:
    """The probabilities of the cells, if they are equal for all entries."""
    cells = situation.asked.one_histogram
    if cells is None:
        raise NotApplicable("cells have other probabilities in other groups")
    require_no_range(situation.asked, "a histogram")
    return tuple(ends(cell)[0] for cell in cells)


def worst(curves: list[Curve]) -> Curve:
    """The maximum; δ is zero if no two values of the critical entry give different answers."""
    if not curves:
        certain = Law.table(0, [1])
        return Curve.answers(certain, certain)
    return curves[0] if len(curves) == 1 else Curve.maximum(curves)
