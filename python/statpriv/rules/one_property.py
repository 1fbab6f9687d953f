"""All parts ask about the same property, so the answers amount to one count."""

from __future__ import annotations

from fractions import Fraction

from statpriv import budget
from statpriv._native import Curve
from statpriv.errors import NotAvailableError
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.entry_classes import by_class
from statpriv.model.partitions import MultinomialPartition, RandomPartition
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import Stated, ends, is_range
from statpriv.model.samplings import WithoutReplacement
from statpriv.model.situation import PartitionedSituation, Query, Situation, capabilities
from statpriv.rules.assumptions import DRAWN, IDENTICAL, INDEPENDENT, SECRET, STATED
from statpriv.rules.own_count import count_of
from statpriv.rules.registry import lower, rule


@rule(
    bound="exact",
    kind="exact",
    queries=(PropertyQuery,),
    samplings=(RandomPartition,),
    cost=10,
    theorem=(
        "The answers of all parts are post-processing of the total count, and the total is a function of them: "
        "the privacy curve is that of the total over the entries the adversary does not know, "
        "whatever the number and the sizes of the parts. Over a range of p it is the exact supremum."
    ),
    source="data processing; for a range, the theorem on peak heights in docs/explanation/ranges.md",
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN, SECRET),
)
def every_entry_counted(situation: PartitionedSituation) -> Curve:
    """Δ_{n−u}: known entries only shift the total."""
    require_one_property(situation)
    if situation.used < situation.population.size:
        raise NotApplicable("some entries are not used")
    return _total(situation)


@rule(
    bound="exact",
    kind="exact",
    queries=(PropertyQuery,),
    samplings=(RandomPartition,),
    cost=12,
    theorem=(
        "The released counts of a secret sample have the law (1 − s/n) Bin(s, p) + (s/n)(v + Bin(s−1, p)) "
        "in their sum, on which the hockey stick depends alone."
    ),
    source="exact composition of iid entries with one class of parts, docs/explanation/composition.md",
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN, SECRET),
)
def some_entries_counted(situation: PartitionedSituation) -> Curve:
    """The chance of not being counted is part of the law."""
    require_one_property(situation)
    if situation.adversary.total:
        raise NotApplicable("entries of a hidden sample are known, which is not a shift of the count")
    p = require_count(situation.queries[0])
    if is_range(p):
        raise NotApplicable("p is a range, over which the law of a hidden sample has no closed supremum here")
    inclusion = Fraction(situation.used, situation.population.size)
    return Curve.sampled_count(size=situation.used, p=ends(p)[0], inclusion=inclusion, pair=situation.one_pair)


@rule(
    bound="exact",
    kind="exact",
    queries=(PropertyQuery, HistogramQuery),
    samplings=(RandomPartition,),
    cost=14,
    theorem=(
        "All parts ask the same question. Given the entries of the union of the parts and their values, the partition "
        "of the union is uniform. So given the histogram of the union, the histograms of the parts are a random split "
        "that does not depend on the data. Their privacy curve is that of the union, which is one sample without "
        "replacement, whatever the laws of the entries and, for histograms, whichever entries are known."
    ),
    source="docs/explanation/composition.md, with the proof",
    assumptions=(INDEPENDENT, STATED, DRAWN, SECRET),
    covers=("each",),
)
def one_sample_of_the_union(situation: PartitionedSituation) -> Curve:
    """The exact curve of one sample of as many entries as all parts have together."""
    _require_common_property(situation)
    _require_short_search(situation)
    population, used = situation.population, situation.used
    union = Situation(
        query=situation.queries[0],
        population=population,
        sampling=None if used == population.size else WithoutReplacement(used),
        adversary=situation.adversary,
        pair=situation.one_pair,
    )
    try:
        return lower(union, "exact").curve
    except NotAvailableError as reason:
        raise NotApplicable(f"the union of all parts has no exact curve: {reason}") from reason


@rule(
    bound="total-count",
    kind="bound",
    queries=(PropertyQuery,),
    samplings=(RandomPartition,),
    cost=20,
    theorem=(
        "Counts of a sample are post-processing of the total count, so their privacy curve is at most that of "
        "the total over the entries the adversary does not know."
    ),
    source="data processing",
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN, SECRET),
)
def total_count(situation: PartitionedSituation) -> Curve:
    """Δ_{n−u} again, as a bound."""
    require_one_property(situation)
    return _total(situation)


@rule(
    bound="total-count",
    kind="bound",
    queries=(PropertyQuery,),
    samplings=(RandomPartition,),
    cost=21,
    theorem=(
        "Counts of a sample are post-processing of the total count, so their privacy curve is at most that of the "
        "total, whatever the laws of the entries. The worst entry, and the worst known ones."
    ),
    source="data processing",
    assumptions=(INDEPENDENT, STATED, DRAWN, SECRET),
)
def total_count_of_groups(situation: PartitionedSituation) -> Curve:
    """The count of all entries, which is a count of groups."""
    _require_common_property(situation)
    query, adversary = situation.queries[0], situation.adversary
    if not capabilities(query).laws_differ and not adversary.by_group:
        raise NotApplicable("all entries have one law, and are known by number")
    try:
        return lower(Situation(query, situation.population, None, adversary, situation.one_pair), "tightest").curve
    except NotAvailableError as reason:
        raise NotApplicable(f"the total has no curve: {reason}") from reason


def require_alike(situation: PartitionedSituation) -> None:
    """Require one law for all entries and a plain number of known entries, as these theorems assume."""
    if any(capabilities(query).laws_differ for query in situation.different_queries):
        raise NotApplicable("probabilities by group are not those of one count")
    if situation.adversary.by_group or situation.adversary.values != "worst":
        raise NotApplicable("known entries by group, or with expected values, are not composed in this version")


def require_count(query: Query) -> Stated:
    """The probability, or its range, of a count of entries with one law."""
    p = capabilities(query).probability()
    if p is None:
        raise NotApplicable("probabilities by group are not those of one count")
    return p


def weights_of(situation: PartitionedSituation) -> tuple[Fraction, ...]:
    """The probability of each part, for entries assigned independently of each other."""
    if not isinstance(situation.sampling, MultinomialPartition):
        raise NotApplicable("entries are not assigned to the parts independently of each other")
    return situation.sampling.weights


def require_one_property(situation: PartitionedSituation) -> None:
    """Require that all parts ask one property of entries with one law, or one range, each."""
    require_alike(situation)
    _require_common_property(situation)


def _require_common_property(situation: PartitionedSituation) -> None:
    if not situation.one_property:
        raise NotApplicable("the parts ask unrelated properties (attribute= says that two are the same)")
    if situation.sampling.part_strata is not None:
        raise NotApplicable(
            "a stratified partition tells which groups are in which part, and its counts more than their total"
        )


def _require_short_search(situation: PartitionedSituation) -> None:
    """Of counts of a hidden sample the worst known entries, and the worst critical one, are tried one by one."""
    known, queries = situation.adversary.total, [capabilities(query) for query in situation.different_queries]
    if not all(query.is_count for query in queries) or situation.used == situation.population.size:
        return
    if known and all(query.is_uniform for query in queries):
        raise NotApplicable("known entries of a hidden count have other bounds, which stay narrow at every p")
    if known * situation.used > budget.MAX_KNOWN_PART_ENTRIES:
        raise NotApplicable(
            f"the worst of {known} known entries in a sample of {situation.used} takes long to be found"
        )
    if any(query.stated_entries is not None for query in queries):
        by_class(situation)


def _total(situation: PartitionedSituation) -> Curve:
    unknown = situation.population.size - situation.adversary.total
    return count_of(require_count(situation.queries[0])).of(unknown, situation.one_pair)
