"""Counts of entries that each have a probability of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import prod

from statpriv import budget
from statpriv._native import Curve
from statpriv.errors import NotAvailableError
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.adversaries import Adversary
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import EachBetween, Stated, ends, is_each
from statpriv.model.situation import PartitionedSituation, Situation
from statpriv.rules.assumptions import DRAWN, EACH, INDEPENDENT, NOISE, SAMPLED, SECRET
from statpriv.rules.data_processing import treats_entries_alike
from statpriv.rules.one_property import require_count, require_one_property
from statpriv.rules.own_count import count_of
from statpriv.rules.registry import lower, rule
from statpriv.rules.whole_population import worst

SOURCE = "docs/explanation/people-who-are-not-alike.md, with the proof"


@rule(
    bound="exact",
    kind="exact",
    queries=(PropertyQuery,),
    cost=9,
    theorem=(
        "Each row has its own probability, anywhere in the range. δ is convex in the law of each other entry, so the "
        "worst have the lower end or the upper one: the maximum over k of 1 + S against S, S = Bin(k, upper) + "
        "Bin(N − k, lower), for the N others that the adversary does not know. Known entries shift both by a constant. "
        "The enclosure reaches from a value that is attained to one that no k exceeds."
    ),
    source=SOURCE,
    assumptions=(INDEPENDENT, EACH),
    needs=("each",),
)
def count_of_each(situation: Situation) -> Curve:
    """The supremum over all probabilities of the other entries."""
    p = situation.asked.probability()
    if p is None:
        raise NotApplicable("the entries have probabilities by group, some of them a range of each entry's own")
    return count_of(p).of(situation.population.size - situation.adversary.total, situation.pair)


@rule(
    bound="exact",
    kind="exact",
    queries=(PropertyQuery, PostProcessed),
    sampling_with=treats_entries_alike,
    cost=60,
    theorem=(
        "Each row has its own probability, anywhere in its range. Whatever is done to the answer, and however the "
        "sample is drawn, δ is convex in the law of each other entry, so the worst have the lower end or the upper "
        "one, and only their numbers matter: the maximum over these of the exact curve of groups with known "
        "probabilities. The worst values of known entries are found for each number by itself."
    ),
    source=SOURCE,
    assumptions=(INDEPENDENT, EACH, SAMPLED, NOISE),
    needs=("each",),
)
def at_the_ends(situation: Situation) -> Curve:
    """The maximum over the number of entries of each group at the upper end, the critical one among them or not."""
    if not situation.asked.is_count:
        raise NotApplicable(f"laws of their own of entries of a {situation.asked.kind} have too many vertices")
    if situation.sampling is None and not situation.steps and situation.asked.is_uniform:
        raise NotApplicable("a count of all entries has a closed form")
    if situation.sampling is not None and situation.sampling.looks_at_groups:
        raise NotApplicable("samples by group are not drawn from entries that are sorted by their probability")
    try:
        return worst([lower(vertex, "exact").curve for vertex in _vertices(situation)])
    except NotAvailableError as reason:
        raise NotApplicable(f"at the ends of the range: {reason}") from reason


@rule(
    bound="exact",
    kind="exact",
    queries=(PropertyQuery,),
    samplings=(RandomPartition,),
    cost=11,
    theorem=(
        "All parts ask the same property of all rows. Given their total, the answers are a random split that does not "
        "depend on the data, whatever the probabilities of the rows: the curve of the count of all rows, each with its "
        "own probability. Known entries shift it."
    ),
    source=SOURCE,
    assumptions=(INDEPENDENT, EACH, DRAWN, SECRET),
    needs=("each",),
)
def all_parts_count_all_rows(situation: PartitionedSituation) -> Curve:
    """The parts hold every row."""
    if situation.used < situation.population.size:
        raise NotApplicable("some entries are not used")
    return total_of_parts(situation)


@rule(
    bound="total-count",
    kind="bound",
    queries=(PropertyQuery,),
    samplings=(RandomPartition,),
    cost=23,
    theorem=(
        "The counts of parts that ask one property are post-processing of the count of all rows, each with its own "
        "probability, whichever rows are known."
    ),
    source=SOURCE,
    assumptions=(INDEPENDENT, EACH, DRAWN, SECRET),
    needs=("each",),
)
def total_of_parts(situation: PartitionedSituation) -> Curve:
    """The curve of the count of all unknown rows."""
    require_one_property(situation)
    p = require_count(situation.queries[0])
    return count_of(p).of(situation.population.size - situation.adversary.total, situation.one_pair)


@rule(
    bound="hull",
    kind="bound",
    queries=(PropertyQuery, PostProcessed),
    sampling_with=treats_entries_alike,
    cost=25,
    theorem=(
        "Groups of which some have ranges of each row's own: every row has some probability between the least and the "
        "largest of all. So δ is at most that of rows that each have their own in this one range, whatever their group."
    ),
    source=SOURCE,
    assumptions=(INDEPENDENT, EACH, SAMPLED),
    needs=("each",),
)
def hull_of_groups(situation: Situation) -> Curve:
    """All rows as one group, in the hull of the ranges."""
    asked = situation.asked
    if not asked.is_count or asked.is_uniform:
        raise NotApplicable("all entries have one range, or the answer is no count")
    boxes = [ends(p) for _, p, _ in _groups(situation)]
    count = PropertyQuery(EachBetween(min(low for low, _ in boxes), max(high for _, high in boxes)))
    query = PostProcessed(count, *situation.steps) if situation.steps else count
    try:
        return lower(replace(situation, query=query), "tightest").curve
    except NotAvailableError as reason:
        raise NotApplicable(f"the hull of the ranges: {reason}") from reason


def _vertices(situation: Situation) -> Iterator[Situation]:
    """Every number of entries at the upper end; those of a group at either end are a group each."""
    groups = _groups(situation)
    choices = [range(size + 1) if is_each(p) else (size,) for _, p, size in groups]
    by_group = [dict(situation.adversary.groups).get(name, 0) for name, _, _ in groups]
    ways = prod(map(len, choices)) * prod(known + 1 for known in by_group)
    if ways > budget.MAX_VERTICES:
        raise NotApplicable(
            f"{ways} numbers of entries at either end of their ranges are more than {budget.MAX_VERTICES}, which are "
            "tried one by one"
        )
    for numbers in product(*choices):
        sizes: dict[str, int] = {}
        laws: dict[str, Stated] = {}
        known: list[list[dict[str, int]]] = []
        for (name, p, size), high, of_group in zip(groups, numbers, by_group, strict=True):
            (least, most), parts = ends(p), (f"{name} (lower)", f"{name} (upper)")
            ways_known = []
            for part, count, end in zip(parts, (size - high, high), (least, most), strict=True):
                if count:
                    sizes[part], laws[part] = count, end if is_each(p) else p
            for upper in range(of_group + 1):
                split = dict(zip(parts, (of_group - upper, upper), strict=True))
                if all(split[part] <= sizes.get(part, 0) for part in parts):
                    ways_known.append({part: number for part, number in split.items() if number})
            known.append(ways_known)
        asked = PropertyQuery(laws)
        query = PostProcessed(asked, *situation.steps) if situation.steps else asked
        adversaries = [situation.adversary]
        if situation.adversary.by_group:
            joined = (
                {part: number for split in chosen for part, number in split.items()} for chosen in product(*known)
            )
            adversaries = [Adversary(known=numbers, values=situation.adversary.values) for numbers in joined]
        population = Population(groups=sizes)
        for adversary in adversaries:
            yield replace(situation, query=query, population=population, adversary=adversary)


def _groups(situation: Situation) -> list[tuple[str, Stated, int]]:
    """Name, law and size of each group, or of all entries together."""
    asked, population = situation.asked, situation.population
    p = asked.probability()
    if p is not None and not situation.adversary.by_group:
        return [("all", p, population.size)]
    stated = [(name, asked.probability(name), size) for name, size in population.groups or ()]
    return [(name, law, size) for name, law, size in stated if law is not None]
