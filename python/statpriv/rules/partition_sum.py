"""The composition theorems over a secret partition, Theorems 5.1 and 5.2."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import TypeVar

from statpriv._native import Curve
from statpriv.errors import NotAvailableError
from statpriv.lowering.applicability import NotApplicable, require_no_pattern
from statpriv.lowering.background import Drawn, boxes, known_by_group
from statpriv.model.adversaries import Adversary
from statpriv.model.groups import ByGroup
from statpriv.model.partitions import MultinomialPartition, PartitionLaw, RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.contingency import ContingencyTable
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.protocol import AnswerLaws, Capabilities, capabilities_of
from statpriv.model.queries.valued import Valued
from statpriv.model.queries.variants import of_groups, unlabelled
from statpriv.model.ranges import ends, is_each, is_range
from statpriv.model.situation import (
    PartitionedSituation,
    Query,
    Situation,
    asked_of,
    capabilities,
    gate_for_every_p,
)
from statpriv.rules.assumptions import COMMON_LAW, DRAWN, DRAWN_AS_STATED, IDENTICAL, INDEPENDENT, PAPER, STATED
from statpriv.rules.gated_count import gated
from statpriv.rules.histogram_range import histogram_with_known
from statpriv.rules.one_property import require_alike, require_count, weights_of
from statpriv.rules.own_count import count_of
from statpriv.rules.registry import Lowering, lower, rule
from statpriv.rules.whole_population import worst

Place = TypeVar("Place", bound=Hashable)
THRESHOLDS = 32
QUERIES = (PropertyQuery, HistogramQuery, Valued, PostProcessed, AnswerLaws)
ASSUMPTIONS = (INDEPENDENT, STATED, DRAWN)
_THEOREM = (
    "δ(ε) ≤ Σ_k (n_k/n) · SPC_k(ε), the sampling privacy curve of part k given that it holds the critical entry "
    "(Theorem 5.2)."
)


@rule(
    bound="partition-sum",
    kind="bound",
    queries=QUERIES,
    samplings=(RandomPartition,),
    cost=60,
    theorem=f"{_THEOREM} Without known entries that is the privacy curve of n_k entries (Theorem 5.1).",
    source=f"{PAPER}, Theorems 5.1 and 5.2; known entries by the corrected Example 1",
    assumptions=ASSUMPTIONS,
    covers=("each",),
)
def partition_sum(situation: PartitionedSituation) -> Curve:
    """The maximum over pairs is inside the sum."""
    require_no_pattern(situation)
    if situation.sampling.part_strata is not None:
        return _stratified_sum(situation, situation.sampling.part_strata)
    if situation.adversary.total:
        return _sum_with_known(situation)
    sizes = situation.sampling.part_sizes or ()
    n, parts = situation.population.size, Counter(zip(situation.queries, sizes, strict=True))
    if any(capabilities(query).laws_differ for query, _ in parts):
        raise NotApplicable(
            "entries with different laws are composed in this version only where the partition is stratified by group"
        )
    curves = [_of_part(query, Population(size), situation) for query, size in parts]
    return Curve.mean([Fraction(count * size, n) for (_, size), count in parts.items()], curves)


def _sum_with_tables(
    cost: int, said: str, assumptions: tuple[str, ...], needs: tuple[str, ...] = ()
) -> Callable[[Lowering], Lowering]:
    """A rule for the same sum where some part answers an exact table, and what it says of these."""
    return rule(
        bound="partition-sum",
        kind="bound",
        queries=(*QUERIES, ContingencyTable),
        samplings=(RandomPartition,),
        cost=cost,
        theorem=f"{_THEOREM} {said}",
        source=f"{PAPER}, Theorem 5.2; docs/explanation/minimum-counts.md",
        assumptions=assumptions,
        needs=needs,
    )


@_sum_with_tables(
    63,
    "Of an exact table with a minimum count, SPC_k is the bound of its rule, which depends neither on the law nor on "
    "n_k.",
    (INDEPENDENT, COMMON_LAW, STATED, DRAWN),
)
def partition_sum_with_tables(situation: PartitionedSituation) -> Curve:
    """If no table declares probabilities."""
    tables = _tables(situation)
    if not tables or not all(table.holds_for_every_law for table in tables):
        raise NotApplicable("no part answers an exact table, or one has declared probabilities")
    return partition_sum(situation)


@_sum_with_tables(
    65,
    "What is published of an exact table is a function of the counts of its cells: SPC_k is at most that of their "
    "histogram where probabilities are declared, and the bound of its minimum where entries share one law.",
    (INDEPENDENT, COMMON_LAW, STATED, DRAWN),
)
def partition_sum_with_declared_tables(situation: PartitionedSituation) -> Curve:
    """If some table declares probabilities."""
    if all(table.holds_for_every_law for table in _tables(situation)):
        raise NotApplicable("no part answers an exact table with declared probabilities")
    return partition_sum(situation)


@_sum_with_tables(
    66,
    "What is published of an exact table is a function of the counts of its cells: SPC_k is at most that of their "
    "histogram, with probabilities of its own for every entry where that is declared.",
    ASSUMPTIONS,
    needs=("each",),
)
def partition_sum_with_tables_of_different_entries(situation: PartitionedSituation) -> Curve:
    """If entries have laws of their own: no table may rest on one that they share."""
    tables = _tables(situation)
    if not tables or any(table.holds_for_every_law for table in tables):
        raise NotApplicable("no part answers an exact table, or one declares no probabilities and needs a common law")
    return partition_sum(situation)


def _tables(situation: PartitionedSituation) -> list[Capabilities]:
    """The exact tables with a minimum among the queries."""
    return [asked for asked in map(capabilities, situation.different_queries) if asked.has_minimum]


@rule(
    bound="partition-sum",
    kind="bound",
    queries=QUERIES,
    samplings=(PartitionLaw,),
    cost=60,
    theorem=(
        "δ(ε) ≤ Σ_k P[j ∈ τ_k] · E[Δ(ε) of the entries τ_k | j ∈ τ_k], for any law of disjoint parts τ_1, …, τ_m "
        "(Definition 3.4). The worst entry j."
    ),
    source=f"{PAPER}, Definition 3.4 and Theorem 5.1",
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN_AS_STATED),
)
def stated_partitions_sum(situation: PartitionedSituation) -> Curve:
    """Only the sizes of the parts matter; entries with equal probabilities of these are evaluated once."""
    require_no_pattern(situation)
    law = situation.sampling
    if situation.adversary.total or not isinstance(law, PartitionLaw):
        raise NotApplicable("known entries in stated partitions are not composed in this version")
    if any(capabilities(query).laws_differ for query in situation.different_queries):
        raise NotApplicable("entries with different laws are not composed in stated partitions")
    chances = chances_of_places(law, lambda _, k, part: (k, len(part)))
    of_part = {
        (k, size): _of_part(situation.queries[k], Population(size), situation)
        for k, size in {place for of_entry in chances.values() for place in of_entry}
    }
    alike = [dict(each) for each in sorted({tuple(sorted(of_entry.items())) for of_entry in chances.values()})]
    return worst([Curve.mean(list(each.values()), [of_part[place] for place in each]) for each in alike])


def chances_of_places(
    law: PartitionLaw, place: Callable[[int, int, tuple[int, ...]], Place]
) -> dict[int, dict[Place, Fraction]]:
    """For each entry, how likely each of its places is: what `place` says of the entry, the part and who is in it."""
    chances: dict[int, defaultdict[Place, Fraction]] = {entry: defaultdict(Fraction) for entry in law.entries}
    for parts, mass in law.probabilities:
        for k, part in enumerate(parts):
            for entry in part:
                chances[entry][place(entry, k, part)] += mass
    return {entry: dict(of_entry) for entry, of_entry in chances.items()}


@rule(
    bound="partition-sum",
    kind="bound",
    queries=(PropertyQuery,),
    samplings=(MultinomialPartition,),
    cost=60,
    theorem=(
        "δ(ε) ≤ Σ_k w_k · E[Δ_{1+Bin(n−1, w_k)}(ε)]: given that part k holds the critical entry, its size is one more "
        "than the number of the others that it holds (Theorem 5.2)."
    ),
    source=f"{PAPER}, Theorem 5.2, with multinomial assignment",
    assumptions=ASSUMPTIONS,
    covers=("each",),
)
def multinomial_sum(situation: PartitionedSituation) -> Curve:
    """The mean over the sizes of the parts. If sizes are not published, the answer is post-processing of this case."""
    require_no_pattern(situation)
    require_alike(situation)
    if situation.adversary.total:
        raise NotApplicable("known entries in parts of random sizes are not composed in this version")
    n = situation.population.size
    parts = Counter(zip(situation.queries, weights_of(situation), strict=True))
    curves = []
    for query, weight in parts:
        curves.append(count_of(require_count(query)).at_a_rate(n, weight, situation.one_pair))
    return Curve.mean([count * weight for (_, weight), count in parts.items()], curves)


@rule(
    bound="threshold",
    kind="bound",
    queries=(PropertyQuery,),
    samplings=(RandomPartition,),
    cost=62,
    theorem=(
        "The sum of Theorem 5.2 with each sampling privacy curve replaced by its threshold bound: the curve does not "
        "fall with the number of known entries in the part, so its value at the next larger of "
        f"{THRESHOLDS} thresholds bounds it."
    ),
    source=f"{PAPER}, Example 1, with several thresholds",
    assumptions=ASSUMPTIONS,
    competes=False,
    covers=("each",),
)
def threshold(situation: PartitionedSituation) -> Curve:
    """Cheap for many known entries, and slightly larger than the partition sum."""
    require_no_pattern(situation)
    if situation.sampling.part_strata is not None:
        raise NotApplicable("a stratified partition has no threshold bound in this version")
    return _sum_with_known(situation, thresholds=THRESHOLDS)


def _sum_with_known(situation: PartitionedSituation, thresholds: int | None = None) -> Curve:
    """Δ̂ of a part that holds the critical entry, averaged over the number of known entries it also holds."""
    require_alike(situation)
    sizes = situation.sampling.part_sizes or ()
    published = [gate.counts if (gate := gate_for_every_p(query)) else None for query in situation.queries]
    parts = Counter(zip(map(unlabelled, map(_counted, situation.queries)), published, sizes, strict=True))
    curves = [_with_known(situation, *part, thresholds) for part in parts]
    n = situation.population.size
    return Curve.mean([Fraction(count * size, n) for (_, _, size), count in parts.items()], curves)


def _counted(query: Query) -> Query:
    """A count before processing, which reveals no more; for other queries, the released answer."""
    asked = capabilities(query)
    counts = asked.is_count or (asked.counts_values and asked.has_ranges)
    return asked_of(query) if counts else query


def _with_known(
    situation: PartitionedSituation, query: Query, published: range | None, size: int, thresholds: int | None
) -> Curve:
    """The mean over the number of known entries: exact for counts, by nested boxes otherwise."""
    n, known, pair = situation.population.size, situation.adversary.total, situation.one_pair
    p, cells = capabilities_of(query).probability(), capabilities_of(query).one_histogram
    if cells is not None and any(map(is_range, cells)):
        if pair is not None:
            raise NotApplicable("a histogram with ranges and known entries is composed for the worst pair only")
        return histogram_with_known(cells, n, known, size)
    if p is None:
        fallen = boxes([Drawn(n - 1, known, size - 1)])
        return _mean(
            [(weight, _of_part(query, Population(size), situation, Adversary(known=z))) for weight, (z,) in fallen]
        )
    if published is not None:
        return gated(n, known, size, published, pair)
    if not known:
        return count_of(p).of(size, pair)
    if is_each(p):
        return count_of(p).drawn(n, known, size, pair)
    lower, upper = ends(p)
    return Curve.known_entries(
        population=n, known=known, size=size, lower=lower, upper=upper, pair=pair, thresholds=thresholds
    )


def _stratified_sum(situation: PartitionedSituation, strata: Sequence[ByGroup[int]]) -> Curve:
    """The sum with the critical entry and the known entries in the worst groups; for each part, its worst entry."""
    if situation.adversary.values != "worst":
        raise NotApplicable("known entries with expected values are not composed in this version")
    groups = dict(situation.population.groups or ())
    parts = Counter(zip(situation.queries, strata, strict=True))
    of_stratum: dict[object, Curve] = {}
    curves = []
    for known in known_by_group(situation.adversary, groups):
        for name, size in groups.items():
            weighted = []
            for (query, part), count in parts.items():
                if not (weight := Fraction(count * dict(part).get(name, 0), size)):
                    continue
                fallen = _fallen(dict(part), groups, known, name)
                for _, box in fallen:
                    if (query, part, box) not in of_stratum:
                        of_stratum[query, part, box] = _of_stratum(situation, query, part, box)
                weighted.append((weight, _mean([(chance, of_stratum[query, part, box]) for chance, box in fallen])))
            curves.append(Curve.mean([weight for weight, _ in weighted], [curve for _, curve in weighted]))
    return curves[0] if len(curves) == 1 else Curve.maximum(curves)


def _fallen(
    part: dict[str, int], groups: dict[str, int], known: dict[str, int], critical: str
) -> list[tuple[Fraction, ByGroup[int]]]:
    """Boxes of known entries in a part that holds the critical entry, which is itself unknown, with their weights."""
    names = [name for name, size in part.items() if size and known.get(name)]
    drawn = []
    for name in names:
        own = int(name == critical)
        others = groups[name] - own
        drawn.append(Drawn(others, min(known[name], others), part[name] - own))
    return [(weight, tuple(zip(names, box, strict=True))) for weight, box in boxes(drawn)]


def _mean(weighted: list[tuple[Fraction, Curve]]) -> Curve:
    """The mean; a single curve is its own mean."""
    return (
        weighted[0][1]
        if len(weighted) == 1
        else Curve.mean([weight for weight, _ in weighted], [curve for _, curve in weighted])
    )


def _of_stratum(situation: PartitionedSituation, query: Query, part: ByGroup[int], known: ByGroup[int]) -> Curve:
    present, pair = {name: size for name, size in part if size}, situation.one_pair
    if pair is not None and not any(set(pair) <= set(capabilities(query).values_in(name)) for name in present):
        return worst([])  # no entry of the part has both values
    adversary = Adversary(known=dict(known)) if known else Adversary()
    return _of_part(query, Population(groups=present), situation, adversary)


def _of_part(
    query: Query, population: Population, situation: PartitionedSituation, adversary: Adversary | None = None
) -> Curve:
    """The curve of the part, given that it holds the critical entry, for what the adversary knows of the others."""
    if population.groups is not None:
        query = of_groups(query, [name for name, _ in population.groups])
    try:
        return lower(Situation(query, population, None, adversary or Adversary(), situation.one_pair), "tightest").curve
    except NotAvailableError as error:
        raise NotApplicable(f"a part has no curve: {error}") from None
