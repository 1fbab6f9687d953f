"""Limits of work: cases are enumerated up to the limit, and the refusal beyond it names the limit."""

import pytest

import statpriv as sp
from statpriv import budget
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.situation import PartitionedSituation, Situation
from statpriv.rules import hidden_sample
from statpriv.rules.registry import lower

TWELVE, GROUPS = sp.Population(12), sp.Population(groups={"f": 5, "m": 7})
HALF, MEDIAN = sp.PropertyQuery("1/2"), sp.MedianQuery({0: "1/2", 1: "1/4", 3: "1/4"})
SUM, CELLS = sp.SumQuery({0: "1/2", 1: "1/4", 3: "1/4"}), sp.HistogramQuery(["1/2", "1/4", "1/4"])
TWO_TABLES = sp.HistogramQuery({"f": ["1/2", "1/4", "1/4"], "m": ["1/3"] * 3})
BY_GROUP = sp.SumQuery({"f": {0: "1/2", 2: "1/2"}, "m": {0: "1/4", 1: "1/2", 5: "1/4"}})
TWO_COUNTS = sp.LinearQuery([[1] * 6 + [0] * 6, [0] * 3 + [1] * 9])
TEMPLATES = sp.TemplateLaw({(0, 1): "1/2", (2, 3): "1/4", (5,): "1/4"})
OFTEN, STRATA = sp.PoissonSampling("1/3"), sp.Stratified({"f": 2, "m": 3})
UNRELATED = tuple(sp.PropertyQuery(f"{k}/7") for k in (1, 2, 3))


def known(number):
    return sp.Adversary(known=number)


NOBODY = known(0)


@pytest.mark.parametrize(
    ("limit", "cases", "situation", "reason"),
    [
        # What the known entries may add, or which values so many of them may have: C(u + v − 1, u) of v values.
        (
            "MAX_KNOWN_ENTRY_VALUES",
            5,
            Situation(HALF.rounded(3), TWELVE, None, known(4)),
            "add more than 4 different",
        ),
        (
            "MAX_KNOWN_ENTRY_VALUES",
            6,
            Situation(SUM.rounded(3), TWELVE, None, known(2)),
            "add more than 5 different numbers",
        ),
        # In stratified samples for each group that may hold the critical entry, and each number of them in each group.
        (
            "MAX_KNOWN_ENTRY_VALUES",
            2 * 6,
            Situation(CELLS, GROUPS, STRATA, known({"m": 2})),
            "have more than 11 different",
        ),
        (
            "MAX_KNOWN_ENTRY_VALUES",
            2 * (2 + 3),
            Situation(BY_GROUP, GROUPS, STRATA, known(1)),
            "have more than 9 different",
        ),
        (
            "MAX_KNOWN_ENTRY_VALUES",
            12 * 11 * 2,
            Situation(HALF, TWELVE, TEMPLATES, known(1)),
            "values, in more than 263 ways",
        ),
        (
            "MAX_KNOWN_ENTRY_VALUES",
            6,
            Situation(MEDIAN, TWELVE, None, known(2)),
            "5 different compositions",
        ),
        (
            "MAX_KNOWN_ENTRY_COMPOSITIONS",
            6,
            Situation(SUM, TWELVE, sp.WithoutReplacement(4), known(2)),
            "can have more than 5 different values",
        ),
        (
            "MAX_KNOWN_ENTRY_COMPOSITIONS",
            2 * 3,
            Situation(BY_GROUP, GROUPS, sp.WithoutReplacement(4), known({"f": 1, "m": 1})),
            "can have more than 5 different values",
        ),
        # Of four draws the critical entry has t, the others fall as a partition of 4 − t: 5 + 3 + 2 + 1 + 1.
        (
            "MAX_DRAWS",
            12,
            Situation(SUM, TWELVE, sp.WithReplacement(4), NOBODY),
            "entries in more than 11 ways",
        ),
        (
            "MAX_DRAWS",
            4 + 5,
            Situation(BY_GROUP, GROUPS, sp.WithoutReplacement(4), NOBODY),
            "more than 8 ways",
        ),
        # The critical entry is in none, the first, the second or both of two samples of three, which share the rest.
        (
            "MAX_DRAWS",
            4 + 3 + 3 + 3,
            Situation(SUM, TWELVE, sp.OverlappingSamples([3, 3]), NOBODY),
            "in more than 12 ways",
        ),
        # Laws times answers: two cells of four entries that answer have 5², two sums of three entries (3 · 3 + 1)².
        (
            "MAX_JOINT_ANSWERS",
            12 * 5**2,
            Situation(CELLS, TWELVE, sp.WithReplacement(4), NOBODY),
            "joint answers of 12 laws",
        ),
        (
            "MAX_JOINT_ANSWERS",
            13 * 10**2,
            Situation(SUM, TWELVE, sp.OverlappingSamples([3, 3]), NOBODY),
            "all joint answers of 13 laws are too many",
        ),
        (
            "MAX_JOINT_ANSWERS",
            9 * 2,
            Situation(BY_GROUP, GROUPS, sp.WithoutReplacement(4), NOBODY),
            "of 9 laws are too",
        ),
        # Four of two groups in sixteen ways, three values of the known one, two worlds.
        (
            "MAX_JOINT_ANSWERS",
            16 * 5**2 * 3 * 2,
            Situation(TWO_TABLES, GROUPS, sp.WithoutReplacement(4), known({"m": 1})),
            "all joint answers of 16 laws are too many",
        ),
        # With the size as a digit above the sum of twelve entries: 37 · 13.
        (
            "MAX_JOINT_ANSWERS",
            37 * 13,
            Situation(SUM, TWELVE, sp.PoissonSampling("1/3", size_published=True), NOBODY),
            "1 kinds of entries with about 5e+02 joint answers takes too long",
        ),
        # A count is one number, of two kinds of entries, in two worlds.
        (
            "MAX_JOINT_ANSWERS",
            2 * 16 * 2,
            Situation(sp.PropertyQuery({"f": "1/2", "m": "1/3"}), GROUPS, OFTEN, NOBODY),
            "a sum over 2 kinds of entries with about 1e+00 joint answers takes too long",
        ),
        # Three cells of twelve, 13³ numbers, of two kinds of entries, for each of three values of the known one.
        (
            "MAX_JOINT_ANSWERS",
            13**3 * 2 * 16 * 3,
            Situation(CELLS, TWELVE, OFTEN, known(1)),
            "a sum over 2 kinds of entries with about 2e+03 joint answers takes too long",
        ),
        (
            "MAX_SUMMED_ANSWERS",
            13**2,
            Situation(TWO_TABLES, GROUPS, None, NOBODY),
            "histograms of 2 groups with about 2e+02 joint values take too long",
        ),
        (
            "MAX_SUMMED_ANSWERS",
            7 * 10,
            Situation(TWO_COUNTS, TWELVE, OFTEN, NOBODY),
            "a sum over 3 kinds of entries",
        ),
        (
            "MAX_TEMPLATES",
            3,
            Situation(HALF, TWELVE, TEMPLATES, NOBODY),
            "more than 2 templates or 200 entries",
        ),
        ("MAX_TEMPLATE_ENTRIES", 12, Situation(HALF, TWELVE, TEMPLATES, NOBODY), "2000 templates or 11 entries"),
        # Three known of two groups in four ways, two of three columns in six; the critical one is in any of them.
        (
            "MAX_KNOWN_ENTRY_WORLDS",
            4 * 2,
            Situation(BY_GROUP, GROUPS, None, known(3)),
            "3 known entries can be chosen in too many ways from 2 kinds of entries (known= may name the group)",
        ),
        (
            "MAX_KNOWN_ENTRY_WORLDS",
            6 * 3,
            Situation(TWO_COUNTS, TWELVE, None, known(2)),
            "ways from 3 kinds of entries",
        ),
        (
            "MAX_KNOWN_ENTRY_WORLDS",
            3 * 3,
            Situation(sp.LinearQuery([[1] * 2 + [0] * 10]), GROUPS, None, known({"f": 2, "m": 3})),
            "known entries can be chosen in too many ways from the kinds of entries",
        ),
        (
            "MAX_LABELS",
            7 * 10,
            Situation(TWO_COUNTS, TWELVE, None, NOBODY),
            "2 counts have about 7e",
        ),
        (
            "MAX_LABELS",
            5**2,
            Situation(CELLS, TWELVE, sp.WithReplacement(4), NOBODY),
            "the 2 counts have about 2e+01 joint values",
        ),
        # Eleven others add up to 3 each.
        (
            "MAX_LABELS",
            11 * 3 + 1,
            Situation(SUM, TWELVE, None, NOBODY),
            "answers matter, and the probabilities",
        ),
        (
            "MAX_ORDER_STATISTIC_SAMPLE_SIZES",
            12,
            Situation(MEDIAN, TWELVE, OFTEN, NOBODY),
            "samples of more than 11 sizes",
        ),
        (
            "MAX_VALUE_PATTERNS",
            2**3,
            PartitionedSituation(UNRELATED, TWELVE, sp.MultinomialPartition(["1/3"] * 3), NOBODY),
            "the 8 combinations of values of these attributes are too many",
        ),
        (
            # Three others of two groups: none to three of the first.
            "MAX_TEMPLATE_KINDS",
            4,
            Situation(BY_GROUP, GROUPS, sp.WithoutReplacement(4), NOBODY),
            "in more than 3 ways",
        ),
        # The critical entry is drawn at least once: 3 + 2 + 1 + 1.
        (
            "MAX_TEMPLATE_KINDS",
            7,
            Situation(SUM, TWELVE, sp.WithReplacement(4), NOBODY),
            "more than 6 kinds of templates",
        ),
        ("MAX_TEMPLATE_KINDS", 6 * 7, Situation(BY_GROUP, GROUPS, OFTEN, NOBODY), "more than 41 kinds of templates"),
        # Three others of columns with 2, 6 and 3 entries, ten ways but one, and 5² answers.
        (
            "MAX_TEMPLATE_ANSWERS",
            10 * 5**2,
            Situation(TWO_COUNTS, TWELVE, sp.WithoutReplacement(4), NOBODY),
            "more than 9 kinds of templates",
        ),
        (
            "MAX_TEMPLATE_ANSWERS",
            6**2,
            Situation(CELLS, GROUPS, STRATA, NOBODY),
            "joint answers are too many for this mean",
        ),
    ],
)
def test_exactly_so_many_cases_are_tried(monkeypatch, limit, cases, situation, reason):
    bound = "spc" if limit in {"MAX_TEMPLATE_KINDS", "MAX_TEMPLATE_ANSWERS"} else "exact"
    monkeypatch.setattr(budget, limit, cases)
    lower(situation, bound)
    monkeypatch.setattr(budget, limit, cases - 1)
    with pytest.raises(sp.NotAvailableError) as refused:
        lower(situation, bound)
    assert reason in str(refused.value)


def test_worst_values_of_known_entries_are_sought_up_to_a_million_steps(monkeypatch):
    """Thresholds times deviations: three known of twelve, five in the sample, and √9."""
    situation = Situation(HALF, TWELVE, sp.WithoutReplacement(5), known(3))
    assert budget.MAX_KNOWN_IN_SAMPLE_STEPS == 10**6
    monkeypatch.setattr(budget, "MAX_KNOWN_IN_SAMPLE_STEPS", 3 * 5 / 12 * 3)
    hidden_sample.count_with_known_entries(situation)
    monkeypatch.setattr(budget, "MAX_KNOWN_IN_SAMPLE_STEPS", 3 * 5 / 12 * 3 - 0.01)
    with pytest.raises(NotApplicable, match="the worst values of 3 known entries in a sample of 5 take too long"):
        hidden_sample.count_with_known_entries(situation)


def test_groups_of_entries_with_one_law_are_one_kind_of_entries(monkeypatch):
    monkeypatch.setattr(budget, "MAX_KNOWN_ENTRY_WORLDS", 1)
    lower(Situation(HALF.rounded(3), GROUPS, None, known(3)), "exact")
