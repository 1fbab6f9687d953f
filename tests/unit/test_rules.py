"""The registry: every rule states what it proves and where, applies somewhere, and is useful."""

import inspect
import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

import statpriv as sp
from statpriv import _native, budget, noise
from statpriv.curves.given_threshold import AtThreshold
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.contributions import EntryClass, contributions
from statpriv.model.situation import PartitionedSituation, Situation
from statpriv.model.strategies import AdaptiveSituation
from statpriv.rules import secret_partition
from statpriv.rules.registry import all_rules, applicable, lower

TWELVE = sp.Population(12)
GROUPS = sp.Population(groups={"f": 5, "m": 7})
NOBODY, THREE = sp.Adversary(), sp.Adversary(known=3)
HALF, RANGE = sp.PropertyQuery("1/2"), sp.PropertyQuery(sp.Between("0.4", "0.6"))
OWN = sp.PropertyQuery(sp.EachBetween("0.4", "0.6"), attribute="own")
SKEWED = sp.PropertyQuery(sp.Between("0.4", "0.9"))
TWO_LAWS = sp.PropertyQuery({"f": "1/3", "m": "1/2"})
SUM, MEDIAN = sp.SumQuery({0: "1/2", 1: "1/4", 3: "1/4"}), sp.MedianQuery({0: "1/2", 1: "1/4", 3: "1/4"})
TWO_COUNTS = sp.LinearQuery([[1] * 6 + [0] * 6, [0] * 3 + [1] * 9])
CELLS = sp.HistogramQuery(["1/2", "1/4", "1/4"])
NAMED = sp.PropertyQuery("1/3", attribute="named")
NOISY = HALF.noisy(noise.Binomial(trials=4, p="1/2"))


class Parity:
    """Whether the number of ones among fair bits is odd."""

    def __repr__(self):
        return "Parity()"

    def answer_laws(self, entries):
        law = {0: "1/2", 1: "1/2"}
        return {0: law, 1: law} if entries > 1 else {0: {0: 1}, 1: {1: 1}}


SITUATIONS = [
    Situation(HALF, TWELVE, None, THREE),
    Situation(HALF, GROUPS, None, sp.Adversary(known={"f": 2}, values="expected")),
    Situation(RANGE, TWELVE, None, NOBODY),
    Situation(sp.PropertyQuery(sp.EachBetween("0.4", "0.6")), TWELVE, None, THREE),
    Situation(sp.PropertyQuery(sp.EachBetween("0.4", "0.6")).rounded(3), TWELVE, None, NOBODY),
    Situation(TWO_LAWS, GROUPS, None, THREE),
    Situation(sp.PropertyQuery(["1/2"] * 6 + ["1/3"] * 6), TWELVE, None, THREE),
    Situation(SUM, TWELVE, None, NOBODY, pair=(3, 0)),
    Situation(CELLS, TWELVE, None, THREE),
    Situation(sp.ContingencyTable(3, minimum=4), TWELVE, None, NOBODY),
    Situation(sp.ContingencyTable(2, minimum=4, p=["1/3", "2/3"]), TWELVE, None, NOBODY),
    Situation(sp.ContingencyTable({"r": ["n", "s"], "a": ["x", "y"]}, minimum=3, nested=True), TWELVE, None, NOBODY),
    Situation(MEDIAN, TWELVE, None, NOBODY),
    Situation(TWO_COUNTS, TWELVE, None, THREE),
    Situation(TWO_COUNTS, TWELVE, sp.WithoutReplacement(5), NOBODY),
    Situation(TWO_COUNTS, TWELVE, sp.WithReplacement(4), sp.Adversary(known=1)),
    Situation(TWO_COUNTS, TWELVE, sp.PoissonSampling("1/3"), NOBODY),
    Situation(sp.HistogramQuery({"f": ["1/2", "1/4", "1/4"], "m": ["1/3"] * 3}), GROUPS, None, THREE),
    Situation(CELLS, TWELVE, sp.PoissonSampling("1/3"), NOBODY),
    Situation(CELLS, GROUPS, sp.Stratified({"f": 2, "m": 3}), sp.Adversary(known={"m": 1})),
    Situation(CELLS, TWELVE, sp.OverlappingSamples([2, 3]), NOBODY),
    Situation(SUM, TWELVE, sp.WithReplacement(5), NOBODY),
    Situation(sp.SumQuery({0: RANGE.p, 1: "1/4", 3: sp.Between(0, 1)}), TWELVE, sp.WithoutReplacement(5), THREE),
    Situation(MEDIAN, TWELVE, sp.PoissonSampling("1/3"), sp.Adversary(known=1)),
    Situation(SUM, TWELVE, sp.PoissonSampling("1/3", size_published=True), NOBODY),
    Situation(Parity(), TWELVE, None, NOBODY),
    Situation(Parity(), TWELVE, sp.WithoutReplacement(5), NOBODY),
    Situation(HALF.thresholded(3), TWELVE, None, THREE),
    Situation(HALF.randomly_rounded(3), TWELVE, None, THREE),
    Situation(CELLS.randomly_rounded(3), TWELVE, None, NOBODY),
    Situation(NOISY, TWELVE, None, NOBODY),
    Situation(HALF, TWELVE, sp.WithoutReplacement(5), NOBODY),
    Situation(HALF, TWELVE, sp.WithoutReplacement(5), THREE),
    AtThreshold(HALF, TWELVE, sp.WithoutReplacement(5), THREE, threshold=1),
    Situation(RANGE, TWELVE, sp.WithoutReplacement(5), NOBODY),
    *(
        Situation(SKEWED, TWELVE, sampling, NOBODY)
        for sampling in (None, sp.WithReplacement(4), sp.PoissonSampling("1/3"))
    ),
    PartitionedSituation((SKEWED,), TWELVE, sp.RandomPartition([8]), NOBODY),
    PartitionedSituation((HALF, sp.ContingencyTable(2, minimum=3)), TWELVE, sp.RandomPartition([4, 8]), NOBODY),
    Situation(CELLS, TWELVE, sp.WithoutReplacement(5), NOBODY),
    Situation(SUM, TWELVE, sp.WithoutReplacement(5), NOBODY),
    Situation(HALF, TWELVE, sp.WithReplacement(5), NOBODY),
    Situation(HALF, TWELVE, sp.PoissonSampling("1/3"), THREE),
    Situation(HALF, TWELVE, sp.PoissonSampling("1/3", size_published=True), NOBODY),
    Situation(TWO_LAWS, GROUPS, sp.Stratified({"f": 2, "m": 3}), NOBODY),
    Situation(RANGE, GROUPS, sp.Stratified({"f": 2, "m": 3}), NOBODY),
    Situation(HALF, TWELVE, sp.OverlappingSamples([3, 4]), NOBODY),
    Situation(HALF, TWELVE, sp.TemplateLaw({(0, 1): "1/2", (2, 2): "1/2"}), NOBODY),
    Situation(RANGE, TWELVE, sp.TemplateLaw({(0, 1, 3): "1/2", (2, 2, 1): "1/2"}), THREE),
    Situation(NOISY, TWELVE, sp.WithoutReplacement(5), NOBODY),
    Situation(RANGE.gated(3, 9), TWELVE, None, THREE),
    Situation(RANGE.rounded(3), TWELVE, None, THREE),
    Situation(sp.HistogramQuery([RANGE.p, "1/4", sp.Between(0, 1)]), TWELVE, None, THREE),
    *(
        PartitionedSituation(queries, TWELVE, sp.RandomPartition([used // len(queries)] * len(queries)), adversary)
        for queries in (
            (HALF,),
            (RANGE,),
            (RANGE.gated(2, 3),),
            (HALF, HALF),
            (sp.PropertyQuery("1/2", attribute="a"),) * 2,
        )
        for used in (12, 8)
        for adversary in (NOBODY, THREE)
    ),
    *(
        AdaptiveSituation(strategy, population, sp.RandomPartition([3, 2]), adversary)
        for strategy, population, adversary in (
            (sp.AnyOf([NAMED]), TWELVE, NOBODY),
            (sp.AnyOf([NAMED]), TWELVE, THREE),
            (sp.AnyOf([sp.PropertyQuery(RANGE.p, attribute="range")]), TWELVE, NOBODY),
            (sp.Ask(NAMED, then={1: sp.Ask(NAMED)}), TWELVE, NOBODY),
            (sp.Ask(sp.PropertyQuery({"f": "1/3", "m": "1/2"}, attribute="two")), GROUPS, NOBODY),
        )
    ),
    *(
        PartitionedSituation(
            (HALF, HALF), TWELVE, sp.MultinomialPartition(["1/3", "1/2"], sizes_published=published), NOBODY
        )
        for published in (False, True)
    ),
    PartitionedSituation(
        (HALF, NAMED), TWELVE, sp.PartitionLaw({((0, 1), (2,)): "1/3", ((3, 2), (0,)): "2/3"}), NOBODY
    ),
    PartitionedSituation((HALF, NAMED), TWELVE, sp.PartitionLaw({((0, 1), (2,)): "1/3", ((3,), ()): "2/3"}), NOBODY),
    PartitionedSituation((TWO_LAWS, HALF), GROUPS, sp.RandomPartition([{"f": 2, "m": 3}, {"m": 2}]), NOBODY),
    Situation(sp.PropertyQuery({"f": OWN.p, "m": "1/2"}), GROUPS, None, NOBODY),
    PartitionedSituation((OWN, OWN), TWELVE, sp.RandomPartition([5, 7]), THREE),
    PartitionedSituation((OWN, sp.PropertyQuery(OWN.p, attribute="other")), TWELVE, sp.RandomPartition([5, 6]), NOBODY),
    PartitionedSituation((TWO_LAWS, RANGE), GROUPS, sp.RandomPartition([{"f": 2, "m": 3}, {"m": 2}]), THREE),
    PartitionedSituation((TWO_LAWS, HALF), GROUPS, sp.RandomPartition([3, 2]), NOBODY),
    PartitionedSituation((TWO_LAWS, HALF), GROUPS, sp.MultinomialPartition(["1/3", "1/2"]), NOBODY),
    PartitionedSituation((TWO_LAWS, HALF), GROUPS, sp.PartitionLaw({((0, 1), (2,)): 1}), NOBODY),
    PartitionedSituation((OWN, OWN), TWELVE, sp.RandomPartition([5, 7]), THREE),
    PartitionedSituation((TWO_LAWS, RANGE), GROUPS, sp.RandomPartition([3, 2]), THREE),
    PartitionedSituation(
        (sp.PropertyQuery({"f": "1/3", "m": "1/2"}, attribute="two"),) * 2, GROUPS, sp.RandomPartition([3, 2]), THREE
    ),
    PartitionedSituation((CELLS, SUM, MEDIAN), TWELVE, sp.RandomPartition([4, 3, 3]), NOBODY),
]


def asked(situation):
    return situation.queries if isinstance(situation, PartitionedSituation) else (situation.query,)


def with_queries(situation, queries):
    parts = isinstance(situation, PartitionedSituation)
    return replace(situation, queries=tuple(queries)) if parts else replace(situation, query=queries[0])


def is_enclosed_alone(rule):
    """Whether a rule is about many laws at once, or may rest on a rule that is; it then has no rational value."""
    return rule.bound in {
        "convex-order",
        "representatives",
        "revealed",
        "worst-entry",
        "supremum",
        "stages",
    } or rule.lowering.__name__ in {
        "own_group_in_parts",
        "other_groups_known",
        "hull_in_parts",
    }


EVERY_TABLE = sp.minimum_count_curve(4).situation
DECLARED_TABLE = sp.ContingencyTable(2, minimum=3, p=sp.EachBetween("0.2", "0.8"))
SHARED_TABLE = sp.ContingencyTable(2, minimum=3, p=sp.Between("0.2", "0.8"))
DECLARED_IN_PARTS = [
    sp.compose([table], TWELVE, sp.RandomPartition([8])).situation for table in (DECLARED_TABLE, SHARED_TABLE)
]
MANY_PATTERNS = PartitionedSituation(
    tuple(sp.PropertyQuery(Fraction(k, 13)) for k in range(1, 13)), TWELVE, sp.RandomPartition([1] * 12), NOBODY
)
rules = pytest.mark.parametrize(
    "rule", all_rules(), ids=lambda rule: f"{rule.lowering.__module__.split('.')[-1]}.{rule.lowering.__name__}"
)
situations = pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.summary)


@rules
def test_a_rule_declares_what_it_rests_on(rule):
    assert rule.bound == rule.bound.lower().strip() != "tightest"
    assert rule.kind in ("exact", "enclosed", "bound")
    assert rule.queries
    assert rule.samplings or rule.sampling_with is not None
    assert rule.cost > 0
    assert len(rule.theorem) > 20
    assert rule.theorem.endswith(".")
    assert rule.source
    assert rule.assumptions
    assert all(isinstance(text, str) and text for text in rule.assumptions)
    assert inspect.getdoc(rule.lowering)


@pytest.mark.parametrize("known", [0, 3, {"f": 2}])
def test_groups_of_one_p_are_one_population(known):
    grouped, together = sp.PropertyQuery({"f": "0.3", "m": "0.3"}), sp.PropertyQuery("0.3")
    total = known if isinstance(known, int) else sum(known.values())
    for pair in (None, (1, 0), (0, 1)):
        curve = sp.privacy_curve(
            grouped, sp.Population(groups={"f": 7, "m": 5}), adversary=sp.Adversary(known=known), pair=pair
        )
        same = sp.privacy_curve(together, sp.Population(12), adversary=sp.Adversary(known=total), pair=pair)
        assert curve.exact_delta(exp_epsilon=Fraction(6, 5)) == same.exact_delta(exp_epsilon=Fraction(6, 5))


@rules
def test_a_conditional_rule_is_no_bound_of_what_is_released_and_does_not_compete(rule):
    assert not (rule.conditional and (rule.competes or rule.kind == "exact"))


HOUSEHOLDS = sp.Population(12, clusters=6, largest_cluster=3)
OWN_BITS = sp.SumQuery({0: OWN.p, 1: OWN.p})
ABOUT_A, ABOUT_B = (sp.PropertyQuery(OWN.p, attribute=name) for name in "ab")
OF_PEOPLE_WHO_HANG_TOGETHER = [
    Situation(OWN, HOUSEHOLDS, None, NOBODY),
    Situation(OWN, HOUSEHOLDS, sp.WithoutReplacement(5), NOBODY),
    Situation(OWN_BITS, HOUSEHOLDS, None, NOBODY),
    Situation(OWN.rounded(3), HOUSEHOLDS, None, NOBODY),
    PartitionedSituation((ABOUT_A,) * 2, HOUSEHOLDS, sp.RandomPartition([4, 3]), NOBODY),
    Situation(OWN, HOUSEHOLDS, sp.ClusterSample(3), NOBODY),
    PartitionedSituation((ABOUT_A, ABOUT_B), HOUSEHOLDS, sp.ClusterPartition([2, 3]), NOBODY),
]
OF_THE_SAME_ROWS = [
    sp.compose(queries, TWELVE, same_rows).situation
    for queries, same_rows in (
        ([ABOUT_A, ABOUT_B], sp.SameRows(protects="attribute")),
        ([ABOUT_A, ABOUT_A.rounded(3), ABOUT_B], sp.SameRows(protects="attribute")),
        ([ABOUT_A, ABOUT_B], sp.SameRows(protects="row")),
        ([ABOUT_A, ABOUT_B], sp.SameRows(protects="row", independent=True)),
        ([ABOUT_A.rounded(3), ABOUT_B], sp.SameRows(protects="row", independent=True)),
    )
] + [sp.compose([ABOUT_A, ABOUT_B], HOUSEHOLDS, sp.SameRows(protects="attribute")).situation]


@rules
def test_a_rule_applies_somewhere(rule):
    known = [
        *SITUATIONS,
        *OF_PEOPLE_WHO_HANG_TOGETHER,
        *OF_THE_SAME_ROWS,
        MANY_PATTERNS,
        EVERY_TABLE,
        *DECLARED_IN_PARTS,
    ]
    assert any(verdict(rule, situation) is None for situation in known if rule.is_about(situation))


@rules
def test_a_rule_says_in_words_why_it_does_not_apply(rule):
    for situation in filter(rule.is_about, SITUATIONS):
        reason = verdict(rule, situation)
        assert reason is None or (len(reason.split()) > 3 and reason[0].islower())


def test_exact_rules_come_first():
    kinds = [rule.kind for rule in all_rules()]
    assert kinds == sorted(kinds, key=["exact", "enclosed", "bound"].index)


@situations
def test_the_order_of_rules_does_not_depend_on_where_they_are_written(situation):
    """Rules of one kind that apply to one situation have different costs."""
    ranked = [(rule.kind, rule.cost) for rule in about(situation)]
    assert len(set(ranked)) == len(ranked)


@situations
def test_every_bound_is_at_least_the_exact_curve(situation):
    curves = [(rule, rule.curve(situation)) for rule in about(situation) if verdict(rule, situation) is None]
    exact = [curve for rule, curve in curves if rule.kind == "exact"]
    for epsilon_exp in (Fraction(1), Fraction(11, 10), Fraction(3)):
        values = {_native.exact_delta(curve, epsilon_exp) for curve in exact}
        assert len(values) <= 1, "two exact rules say the same"
        # δ falls with ε, and this ε is not above the logarithm.
        epsilon = math.log(epsilon_exp) * (1 - 1e-14)
        for rule, curve in curves:
            claimed = (
                Fraction(curve.delta(epsilon).upper)
                if is_enclosed_alone(rule)
                else _native.exact_delta(curve, epsilon_exp)
            )
            assert all(claimed >= value for value in values), rule.lowering.__name__


def at(query, end):
    """The same query with an end of the range of p in place of the range."""
    if isinstance(query, sp.PostProcessed):
        return sp.PostProcessed(at(query.query, end), *query.steps)
    ranged = isinstance(query, sp.PropertyQuery) and query.is_uniform and isinstance(query.p, sp.Between)
    return sp.PropertyQuery(getattr(query.p, end), attribute=query.attribute) if ranged else query


RANGES = [
    situation
    for situation in SITUATIONS
    if not isinstance(situation, AdaptiveSituation) and any(at(query, "lower") != query for query in asked(situation))
]


@pytest.mark.parametrize("end", ["lower", "upper"])
@pytest.mark.parametrize("situation", RANGES, ids=lambda situation: situation.summary)
def test_what_is_said_of_a_range_holds_at_its_ends(situation, end):
    one = with_queries(situation, [at(query, end) for query in asked(situation)])
    stated, found = (lower(made, "tightest").curve.delta(0.2) for made in (situation, one))
    assert found.lower <= stated.upper


@situations
def test_the_tightest_curve_is_the_exact_one_or_the_least_bound(situation):
    lowered = lower(situation, "tightest")
    found = [
        (rule, rule.curve(situation)) for rule in about(situation) if rule.competes and verdict(rule, situation) is None
    ]
    if any(rule.kind == "exact" for rule, _ in found):
        assert lowered.kind == "exact"
        assert len(lowered.rules) == 1
        return
    assert lowered.kind == "bound"
    assert lowered.rules == tuple(rule for rule, _ in found)
    if any(is_enclosed_alone(rule) for rule, _ in found):
        values = [curve.delta(0.1) for _, curve in found]
        least = sp.Enclosure(min(value.lower for value in values), min(value.upper for value in values))
        assert lowered.curve.delta(0.1).upper <= least.upper * (1 + 1e-12)
        assert lowered.curve.delta(0.1).lower >= least.lower * (1 - 1e-12)
        return
    least = min(_native.exact_delta(curve, Fraction(11, 10)) for _, curve in found)
    assert _native.exact_delta(lowered.curve, Fraction(11, 10)) == least


@situations
@pytest.mark.parametrize("bound", ["exact", "total-count", "partition-sum", "spc", "own-group", "unprocessed", "noise"])
def test_a_bound_by_name_is_that_rule_or_a_reason(situation, bound):
    applying = [rule for rule in about(situation) if rule.bound == bound and verdict(rule, situation) is None]
    if applying:
        assert {rule.bound for rule in lower(situation, bound).rules} == {bound}
    else:
        with pytest.raises(sp.NotAvailableError, match=rf"^bound = '{bound}' does not apply here: "):
            lower(situation, bound)


def test_a_chain_with_no_curve_before_its_steps_says_so_once():
    situation = Situation(sp.PostProcessed(Parity(), sp.Relabel({0: "even"})), TWELVE, sp.WithReplacement(5), NOBODY)
    assert list(applicable(situation)) == []
    with pytest.raises(sp.NotAvailableError, match="the answer has no curve before its steps either") as refused:
        lower(situation, "tightest")
    assert str(refused.value).count("does not apply here") == 1


@pytest.mark.parametrize("bound", ["tightest", "convex-order", "exact"])
def test_an_enclosed_composition_is_lowered_once(monkeypatch, bound):
    lowered, whole = [], secret_partition.whole_composition
    monkeypatch.setattr(
        secret_partition, "whole_composition", lambda *args, **named: lowered.append(args) or whole(*args, **named)
    )
    queries = [sp.PropertyQuery(f"0.{10 + k}", attribute=f"{k}") for k in range(40)]
    asked = queries, sp.Population(4000), sp.RandomPartition([100] * 40)
    if bound == "exact":
        with pytest.raises(sp.NotAvailableError, match=r"delta is only enclosed.*What applies: 'convex-order'"):
            sp.compose(*asked, bound=bound)
    else:
        curve = sp.compose(*asked, bound=bound)
        assert curve.kind == "enclosed"
        assert "dominates them in convex order" in curve.explain()
    assert len(lowered) == 1


def about(situation):
    return [rule for rule in all_rules() if rule.is_about(situation)]


def verdict(rule, situation) -> str | None:
    """The reason why a rule does not apply, or None."""
    try:
        rule.curve(situation)
    except NotApplicable as reason:
        return str(reason)
    return None


def test_known_entries_of_no_stated_group_are_the_worst_of_all_ways_to_choose_them():
    query, population = sp.PropertyQuery({"f": "1/3", "m": "1/2"}), sp.Population(groups={"f": 40, "m": 40})
    anywhere = sp.privacy_curve(query, population, adversary=sp.Adversary(known=75)).delta("0.1")
    chosen = [
        sp.privacy_curve(query, population, adversary=sp.Adversary(known={"f": of_f, "m": 75 - of_f})).delta("0.1")
        for of_f in range(36, 40)
    ]
    assert anywhere == max(chosen, key=lambda delta: delta.upper)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ({0: "1/4", 1: "1/2", 2: "1/4"}, True),
        ({0: "1/7", 1: "2/7", 2: "4/7"}, True),
        ({0: "2/5", 1: "1/5", 2: "2/5"}, False),
        ({0: "1/2", 2: "1/2"}, False),
    ],
)
def test_a_law_is_log_concave_without_gaps_and_valleys(shares, expected):
    entries = EntryClass(None, 1, tuple((amount, Fraction(share)) for amount, share in shares.items()))
    assert entries.is_log_concave is expected


THOUSAND = sp.Population(1000)
MANY_GROUPS = sp.Population(groups={"f": 500, "m": 500})
BY_GROUP = sp.HistogramQuery({"f": ["1/2", "1/4", "1/4"], "m": ["1/3"] * 3})
TEN_CELLS = sp.HistogramQuery(["1/10"] * 10)


@pytest.mark.parametrize(
    ("situation", "reason"),
    [
        (Situation(CELLS, sp.Population(201), sp.PoissonSampling("1/2"), NOBODY), "more than 200 sizes of samples"),
        (Situation(CELLS, THOUSAND, sp.WithReplacement(1000), NOBODY), "samples of 1000 or more, of which some"),
        (Situation(CELLS, THOUSAND, sp.WithReplacement(999), NOBODY), "in more than 1000 ways"),
        (Situation(CELLS, THOUSAND, sp.OverlappingSamples([3] * 30), NOBODY), "30 samples have too many joint answers"),
        (Situation(CELLS, TWELVE, sp.PoissonSampling("1/2"), sp.Adversary(known=9)), "takes too long"),
        (Situation(TEN_CELLS, THOUSAND, sp.OverlappingSamples([9, 9]), NOBODY), "the 9 counts have about 1e+09 joint"),
        (Situation(BY_GROUP, MANY_GROUPS, None, NOBODY), "histograms of 2 groups with about 1e+06 joint values take"),
        (
            Situation(sp.SumQuery({10007 * k + k * k: "1/50" for k in range(50)}), sp.Population(10**5), None, NOBODY),
            "about 6e+08 answers matter, and the probabilities of 2e+07 are written out at most",
        ),
        (
            Situation(MEDIAN, sp.Population(101), sp.PoissonSampling("1/2"), NOBODY),
            "samples of more than 100 sizes are not averaged over",
        ),
        (
            Situation(MEDIAN.thresholded(0), TWELVE, sp.PoissonSampling("1/2"), NOBODY),
            "an order statistic that a sample may be too small for is not always a number",
        ),
        (
            Situation(SUM.rounded(2), TWELVE, sp.PoissonSampling("1/2", size_published=True), NOBODY),
            "a processed answer with the published size of its sample is not one number",
        ),
    ],
    ids=lambda part: "" if isinstance(part, Situation) else part,
)
def test_beyond_what_is_added_up_there_are_bounds(situation, reason):
    with pytest.raises(sp.NotAvailableError) as refused:
        lower(situation, "exact")
    assert reason in str(refused.value)
    assert lower(situation, "tightest").kind == "bound"


def test_a_published_size_is_averaged_over_at_any_size():
    published = sp.PoissonSampling("1/100", size_published=True)
    curve = sp.privacy_curve(HALF, sp.Population(10**5), sampling=published)
    assert curve.kind == "exact"
    assert curve.delta("0.1") <= sp.privacy_curve(HALF, sp.Population(10**5), sampling=published, bound="spc").delta(
        "0.1"
    )


def test_histograms_of_groups_of_sixty_are_added_up():
    cells = sp.HistogramQuery({"f": ["0.5", "0.3", "0.2"], "m": ["0.2", "0.3", "0.5"]})
    curve = sp.privacy_curve(cells, sp.Population(groups={"f": 60, "m": 60}))
    assert curve.kind == "exact"
    total = sp.privacy_curve(cells, curve.situation.population, bound="total-histogram")
    assert curve.delta("0.1") < total.delta("0.1")


def test_parts_of_random_sizes_take_the_values_of_the_pair_or_the_worst():
    common, parts = sp.PropertyQuery("0.7", attribute="common"), sp.MultinomialPartition(["1/2", "1/4"])
    both = sp.compose([common, common], sp.Population(4), parts)
    first, second = (sp.compose([common, common], sp.Population(4), parts, pair=pair) for pair in ((1, 0), (0, 1)))
    assert second.delta("0.1") < first.delta("0.1") == both.delta("0.1")


def test_too_many_answers_for_a_step_over_a_range_are_counted_out():
    query = sp.PropertyQuery(sp.Between("0.2", "0.4")).rounded(10)
    with pytest.raises(sp.NotAvailableError, match="the 4000001 possible answers are too many to be published one by"):
        sp.privacy_curve(query, sp.Population(4_000_000), bound="exact")


def test_a_part_without_a_curve_is_the_reason_that_the_sum_has_none():
    with pytest.raises(sp.NotAvailableError, match="a part has no curve: bound = 'tightest' does not apply here"):
        sp.compose([Parity()], TWELVE, sp.RandomPartition([6]), adversary=THREE, bound="partition-sum")


@pytest.mark.parametrize("known", [1, 2])
def test_known_entries_of_different_probabilities_are_the_worst_of_all_ways_to_choose_them(known):
    shares = [Fraction(k, 31) for k in (1, 2, 5, 9, 12, 15, 17, 22, 26, 30)] + [Fraction(1, 2)] * 20
    curve = sp.privacy_curve(sp.PropertyQuery(shares), sp.Population(30), adversary=sp.Adversary(known=known))
    assert curve.kind == "exact"
    left = {tuple(sorted(rest)) for rest in combinations(shares, 30 - known)}
    for epsilon in ("0", "0.3"):
        each = (
            sp.privacy_curve(sp.PropertyQuery(rest), sp.Population(30 - known)).delta(epsilon).upper for rest in left
        )
        assert curve.delta(epsilon).upper == max(each)


# --- sums by group


def test_a_pair_is_compared_in_the_groups_that_have_both_values():
    query = sp.SumQuery({"f": {0: "1/2", 1: "1/2"}, "m": {0: "1/2", 2: "1/2"}})
    there, back, worst = (
        sp.privacy_curve(query, GROUPS, pair=pair).exact_delta(exp_epsilon=Fraction(6, 5))
        for pair in ((2, 0), (0, 2), None)
    )
    assert there == back == worst, "all laws are symmetric, and twos tell more than ones"


def test_where_a_whole_group_is_known_the_other_one_is_left():
    law = {0: "1/2", 1: "1/3", 5: "1/6"}
    query = sp.SumQuery({"f": {0: "1/4", 1: "1/4", 5: "1/2"}, "m": law})
    curve = sp.privacy_curve(query, GROUPS, adversary=sp.Adversary(known={"f": 5}))
    alone = sp.privacy_curve(sp.SumQuery(law), sp.Population(7))
    assert curve.exact_delta(exp_epsilon=Fraction(6, 5)) == alone.exact_delta(exp_epsilon=Fraction(6, 5))


def test_known_entries_of_three_groups_are_chosen_in_up_to_two_thousand_ways():
    """Of u known ones C(u + 2, 2), for each of the groups that may hold the critical entry."""
    groups = sp.Population(groups=dict.fromkeys("abc", 50))
    query = sp.SumQuery({name: {0: "1/2", 1: "1/4", k: "1/4"} for k, name in enumerate("abc", 2)})

    def worlds(known):
        situation = Situation(query, groups, None, sp.Adversary(known=known))
        return sum(1 for _ in contributions(situation).worlds(situation))

    assert worlds(35) == 3 * math.comb(37, 2) == 1998
    with pytest.raises(NotApplicable, match="36 known entries can be chosen in too many ways from 3 kinds"):
        worlds(36)


def test_strata_are_added_up_where_they_have_few_joint_answers(monkeypatch):
    """The counts of two cells of five that answer have 36 values together, in each stratum two laws, in two worlds."""
    situation = Situation(CELLS, GROUPS, sp.Stratified({"f": 2, "m": 3}), NOBODY)
    monkeypatch.setattr(budget, "MAX_JOINT_ANSWERS", 2 * 2 * 36)
    assert lower(situation, "exact").kind == "exact"
    monkeypatch.setattr(budget, "MAX_JOINT_ANSWERS", 2 * 2 * 36 - 1)
    with pytest.raises(sp.NotAvailableError, match="all joint answers of 2 laws are too many to be added up"):
        lower(situation, "exact")


# --- noise


def test_the_noise_alone_covers_the_largest_difference_of_two_values_however_far_they_are_apart():
    added = noise.DiscreteLaplace(alpha="0.999")
    far = sp.privacy_curve(sp.SumQuery({0: "1/2", 1: "1/4", 1000: "1/4"}).noisy(added), TWELVE, bound="noise")
    two = sp.privacy_curve(sp.SumQuery({0: "1/2", 1000: "1/2"}).noisy(added), TWELVE, bound="noise")
    assert 0.3 < far.delta("0.1").lower <= far.delta("0.1").upper == two.delta("0.1").upper


def test_the_noise_alone_is_that_of_the_first_step():
    quiet = sp.privacy_curve(NOISY, TWELVE, bound="noise")
    assert sp.privacy_curve(NOISY.rounded(5), TWELVE, bound="noise").delta("0.1") == quiet.delta("0.1")
    with pytest.raises(sp.NotAvailableError, match="the first step is no noise"):
        sp.privacy_curve(HALF.rounded(5).noisy(noise.Binomial(trials=4, p="1/2")), TWELVE, bound="noise")


def test_normal_noise_on_a_sum_over_a_sample_is_bounded():
    values = sp.SumQuery({0: "1/4", 1: "1/2", 2: "1/4"}).noisy(noise.Gaussian(sigma=1))
    assert lower(Situation(values, TWELVE, None, NOBODY), "tightest").kind == "exact"
    assert lower(Situation(values, TWELVE, sp.WithoutReplacement(5), NOBODY), "tightest").kind == "bound"


# --- samples and parts


def test_a_histogram_at_a_rate_compares_the_cells_that_are_asked_for():
    cells, often = sp.HistogramQuery(["1/2", "3/8", "1/8"]), sp.PoissonSampling("1/2")
    common, rare, worst = (
        sp.privacy_curve(cells, TWELVE, sampling=often, pair=pair).delta("0.1") for pair in ((0, 1), (1, 2), None)
    )
    assert common < rare == worst


def test_the_bound_by_thresholds_has_thirty_two():
    for situation in (
        Situation(HALF, TWELVE, sp.WithoutReplacement(5), THREE),
        PartitionedSituation((HALF,), TWELVE, sp.RandomPartition([5]), THREE),
    ):
        [rule] = lower(situation, "threshold").rules
        assert " 32 thresholds" in rule.theorem


def test_the_sum_over_the_parts_takes_counts_as_they_are():
    parts = sp.RandomPartition([6, 6])
    coarse, fine = (
        sp.compose([query] * 2, TWELVE, parts, adversary=THREE, bound="partition-sum")
        for query in (HALF.rounded(4), HALF)
    )
    assert coarse.delta("0.1") == fine.delta("0.1")


def test_eleven_unrelated_attributes_in_parts_of_random_sizes_are_too_many():
    eleven = tuple(sp.PropertyQuery(f"{k}/23") for k in range(1, 12))
    situation = PartitionedSituation(eleven, TWELVE, sp.MultinomialPartition(["1/11"] * 11), NOBODY)
    with pytest.raises(sp.NotAvailableError, match="the 2048 combinations of values of these attributes are too many"):
        lower(situation, "exact")


def test_what_does_not_apply_names_the_first_query():
    with pytest.raises(sp.NotAvailableError, match="it is not for PropertyQuery with RandomPartition"):
        sp.compose([HALF, CELLS], TWELVE, sp.RandomPartition([6, 6]), bound="spc")


def test_counts_published_alike_that_do_not_follow_each_other_have_no_exact_curve_over_a_range():
    """The ratio need not be monotone: "few or many" is published both if nobody and if everybody has the property."""
    ends = RANGE.mapped({0: "few or many", 12: "few or many"})
    with pytest.raises(sp.NotAvailableError, match="answers that are published alike do not follow each other"):
        sp.privacy_curve(ends, TWELVE, bound="exact")
    assert sp.privacy_curve(RANGE.mapped({0: "few", 1: "few"}), TWELVE).kind == "exact"


def test_a_part_that_does_not_name_a_group_has_none_of_it():
    alone = [
        sp.compose((TWO_LAWS, HALF), GROUPS, sp.RandomPartition([{"f": 2, "m": 3}, part]), bound="own-group")
        for part in ({"m": 2}, {"f": 0, "m": 2})
    ]
    assert alone[0].delta("0.1") == alone[1].delta("0.1")
    one = sp.compose((sp.PropertyQuery("1/3"),), sp.Population(5), sp.RandomPartition([2]))
    other = sp.compose((HALF, HALF), sp.Population(7), sp.RandomPartition([3, 2]))
    assert alone[0].delta("0.1").upper == max(one.delta("0.1").upper, other.delta("0.1").upper)


def test_the_own_group_in_a_template_is_that_group_alone():
    """The only drawn entry of its group is revealed by the count of the group; two drawn entries protect each other."""
    groups = sp.Population(groups={"f": 2, "m": 2})
    lone, both = (
        sp.privacy_curve(TWO_LAWS, groups, sampling=sp.TemplateLaw({template: 1}), bound="own-group-sum").delta(0)
        for template in ((0, 2, 3), (0, 1))
    )
    assert lone.upper == 1
    assert both == sp.privacy_curve(sp.PropertyQuery("1/3"), sp.Population(2)).delta(0)


def test_normal_noise_after_noise_on_the_integers_has_an_exact_curve_on_log_concave_sums_of_integers():
    both = (noise.Binomial(trials=3, p="1/2"), noise.Gaussian(sigma=1))
    for half, kind in ((1, "exact"), (Fraction(1, 2), "bound")):
        values = sp.SumQuery({0: "1/4", half: "1/2", 2 * half: "1/4"})
        assert lower(Situation(sp.PostProcessed(values, *both), TWELVE, None, NOBODY), "tightest").kind == kind


def test_of_strata_only_which_answers_are_equal_matters_however_far_apart_the_values_are():
    strata = sp.Stratified({"f": 2, "m": 3})
    near, far = (
        sp.privacy_curve(sp.SumQuery({0: "1/2", 1: "1/4", k: "1/4"}), GROUPS, sampling=strata, bound="spc").delta(0)
        for k in (100, 10**12)
    )
    assert near == far
