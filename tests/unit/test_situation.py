"""Impossible situations are refused as a whole, by name, with a remedy."""

import re

import pytest

import statpriv as sp
from statpriv.model import situation

FIVE = sp.Population(5)
GROUPS = sp.Population(groups={"f": 3, "m": 2})
HALF = sp.PropertyQuery("1/2")
SUM = sp.SumQuery({0: "1/2", 5: "1/2"})
CELLS = sp.HistogramQuery(["1/3"] * 3)
THIRD_OF = sp.OrderStatisticQuery({0: "1/2", 1: "1/2"}, 3)
ONE_KNOWN = sp.Adversary(known=1)
LAW_EACH = sp.PropertyQuery(["1/2"] * 5)
DIFFERENT = sp.PropertyQuery(["1/2", "1/3", "1/4", "1/5", "1/6"])


class Own:
    """A query that releases the critical entry."""

    def answer_laws(self, entries):
        return {0: {0: 1}, 1: {1: 1}}


def ask(query, population=FIVE, **others):
    return lambda: sp.privacy_curve(query, population, **others)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            ask(sp.PropertyQuery({"f": "1/2"}), GROUPS),
            "the query names the groups ['f']; each of ['f', 'm'], those of the population, is required",
        ),
        (
            ask(sp.SumQuery({"f": {0: 1}, "m": {0: "1/2", 1: "1/2"}, "x": {1: 1}}), GROUPS),
            "the query names the groups ['f', 'm', 'x']; each of ['f', 'm'], those of the population, is required",
        ),
        (
            ask(sp.HistogramQuery({"f": ["1/2", "1/2"], "w": ["1/2", "1/2"]}), GROUPS),
            "the query names the groups ['f', 'w']; each of ['f', 'm'], those of the population, is required",
        ),
        (
            ask(sp.PropertyQuery({"f": "1/2", "m": "1/3"}).thresholded(1)),
            "the query names groups, ['f', 'm'], and the population has none; write Population(groups=...)",
        ),
        (
            ask(HALF, adversary=sp.Adversary(known={"f": 1})),
            "known names groups, ['f'], and the population has none; write Population(groups=...)",
        ),
        (
            ask(HALF, GROUPS, adversary=sp.Adversary(known={"x": 1})),
            "known names the groups ['x']; some of ['f', 'm'], those of the population, are required",
        ),
        (
            ask(HALF, GROUPS, sampling=sp.Stratified({"f": 1})),
            "the sampling names the groups ['f']; each of ['f', 'm'], those of the population, is required (0 where "
            "nobody is drawn)",
        ),
        (
            ask(HALF, sampling=sp.Stratified({"f": 1})),
            "the sampling names groups, ['f'], and the population has none; write Population(groups=...)",
        ),
    ],
)
def test_groups_are_those_of_the_population(call, message):
    refused(call, message)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (ask(sp.PropertyQuery(["1/2"] * 4)), "p has 4 probabilities, one an entry, and the population 5 entries"),
        (ask(sp.LinearQuery([[1, 0]])), "matrix has 2 columns, one an entry, and the population 5 entries"),
        (
            ask(HALF, adversary=sp.Adversary(known=5)),
            "known = 5; at most 4 of 5 entries can be known, the critical one is not",
        ),
        (
            ask(HALF, GROUPS, adversary=sp.Adversary(known={"f": 3, "m": 2})),
            "known = 5 altogether; at most 4 of 5 entries can be known, the critical one is not",
        ),
        (ask(HALF, GROUPS, adversary=sp.Adversary(known={"f": 4})), "known['f'] = 4; the group has 3 entries"),
        (
            ask(HALF, sampling=sp.WithoutReplacement(6)),
            "size = 6: the sample has 6 entries, the population only 5; take a smaller sample",
        ),
        (
            ask(HALF, sampling=sp.OverlappingSamples([2, 6])),
            "sizes = [2, 6]: a sample has 6 entries, the population only 5; take smaller samples",
        ),
        (
            ask(HALF, GROUPS, sampling=sp.Stratified({"f": 1, "m": 3})),
            "sizes['m'] = 3; at most 2, the entries of the group, can be drawn",
        ),
        (
            ask(HALF, sampling=sp.TemplateLaw({(0, 5): 1})),
            "a template names the entry 5; those of the population are 0 to 4",
        ),
    ],
)
def test_no_more_entries_than_there_are(call, message):
    refused(call, message)


@pytest.mark.parametrize(
    ("others", "answering"),
    [
        ({"population": sp.Population(2)}, 2),
        ({"population": sp.Population(2), "adversary": sp.Adversary(known=1)}, 2),
        ({"population": sp.Population(2), "sampling": sp.PoissonSampling("1/2")}, 2),
        ({"sampling": sp.WithoutReplacement(2)}, 2),
        ({"sampling": sp.WithReplacement(1)}, 1),
        ({"population": GROUPS, "sampling": sp.Stratified({"f": 1, "m": 1})}, 2),
        ({"sampling": sp.OverlappingSamples([3, 2])}, 2),
        ({"sampling": sp.TemplateLaw({(0, 1, 2): "1/2", (3,): "1/2"})}, 1),
    ],
    ids=str,
)
def test_a_rank_is_one_among_the_entries_that_answer(others, answering):
    message = f"rank = 3; at most {answering}, the number of entries that answer, is possible"
    refused(ask(THIRD_OF, **others), message)
    refused(ask(THIRD_OF.thresholded(0), **others), message)


@pytest.mark.parametrize(
    ("query", "pair", "required"),
    [
        (HALF, (1, 1), "(1, 0), (0, 1) or None is required for a property"),
        (HALF.rounded(2), (2, 0), "(1, 0), (0, 1) or None is required for a property"),
        (sp.LinearQuery([[1] * 5]), (0,), "(1, 0), (0, 1) or None is required for a property"),
        (CELLS, (0, 3), "a pair of different cells, counted from 0, or None is required"),
        (CELLS, (1, 1), "a pair of different cells, counted from 0, or None is required"),
        (CELLS, (0.5, 1), "a pair of different cells, counted from 0, or None is required"),
        (CELLS, ("red", 1), "a pair of different cells, counted from 0, or None is required"),
        (SUM, (5, 5), "a pair of different values among 0, 5, or None is required"),
        (SUM, (5, 1), "a pair of different values among 0, 5, or None is required"),
        (SUM, ("a", 1), "a pair of different values among 0, 5, or None is required"),
        (SUM, [5, 0], "a pair of different values among 0, 5, or None is required"),
        (SUM, (5, 0, 1), "a pair of different values among 0, 5, or None is required"),
        (
            sp.SumQuery(dict.fromkeys(range(8), "1/8")),
            (8, 0),
            "a pair of different values among 0, 1, 2, 3, 4, 5, ..., or None is required",
        ),
        (Own(), (0, 0), "a pair of different values of the critical entry, or None is required"),
        (Own(), ([], 0), "a pair of different values of the critical entry, or None is required"),
        (Own(), (0, 7), "two of the values [0, 1] that answer_laws states are required"),
    ],
)
def test_a_pair_is_of_two_values_of_the_critical_entry(query, pair, required):
    refused(ask(query, pair=pair), f"pair = {pair!r}; {required}")


def test_a_pair_is_of_two_values_that_one_entry_can_have():
    query = sp.SumQuery({"f": {0: "1/2", 1: "1/2"}, "m": {2: "1/2", 3: "1/2"}})
    refused(
        ask(query, GROUPS, pair=(0, 2)),
        "pair = (0, 2); a pair of different values among 0, 1, 2, 3, both of one group, or None is required",
    )
    assert sp.privacy_curve(query, GROUPS, pair=(2, 3)).kind == "exact"


MINIMUM = sp.MinimumQuery({0: "1/2", 1: "1/2"})


@pytest.mark.parametrize(
    ("call", "reason", "instead"),
    [
        (
            ask(Own(), sampling=sp.WithReplacement(2)),
            "it is not for Own with WithReplacement",
            "One does without a sample. Own is available with PoissonSampling, WithoutReplacement, no sampling; "
            "WithReplacement with HistogramQuery, LinearQuery, MeanQuery, OrderStatisticQuery, PostProcessed, "
            "PropertyQuery, SumQuery",
        ),
        (
            ask(Own(), sp.Population(201), sampling=sp.PoissonSampling("1/2")),
            "a query of the user's own is not averaged over more than 200 sizes of samples",
            "One does without a sample.",
        ),
        (
            ask(Own(), adversary=sp.Adversary(known=1)),
            "a query of the user's own states its laws without known entries",
            "One does without known entries.",
        ),
        (
            ask(sp.PostProcessed(Own(), sp.Threshold(0)), sampling=sp.WithReplacement(2)),
            "a sample of Own has no closed law here; the answer has no curve before its steps either",
            "One does without a sample.",
        ),
        (
            ask(DIFFERENT, GROUPS, adversary=sp.Adversary(known={"f": 1})),
            "the entries have different probabilities; entries are known by group, and the query states laws of single "
            "entries; every entry has a law of its own",
            "One does with known=1 instead of groups, or without known entries.",
        ),
        (
            ask(sp.PropertyQuery(sp.Between("1/3", "1/2")).gated(1, 3), sampling=sp.WithReplacement(2)),
            "p is a range, over which this law has no closed supremum here; a gated count with a range of p is "
            "certified for every p; leave the gate out for what trusts the range",
            "One does without a sample, or without the steps.",
        ),
        (
            ask(LAW_EACH, GROUPS, sampling=sp.Stratified({"f": 1, "m": 1})),
            "a stratified sample of entries that have a law each has no closed law here; every entry has a law of its "
            "own; a stratified sample of entries that have a law each is not averaged over",
            "One does without a sample.",
        ),
        (
            ask(DIFFERENT, GROUPS, adversary=sp.Adversary(known={"m": 1}), sampling=sp.Stratified({"f": 1, "m": 1})),
            "a stratified sample of entries that have a law each has no closed law here; every entry has a law of its "
            "own; a stratified sample with known entries, or of several counts, is not averaged over",
            "One does with known=1 instead of groups and without a sample, or without known entries and without a "
            "sample.",
        ),
    ],
)
def test_what_is_not_available_says_why_and_what_is_nearest(call, reason, instead):
    message = f"bound = 'tightest' does not apply here: {reason}. No bound of this version applies. {instead}"
    with pytest.raises(sp.NotAvailableError, match=f"^{re.escape(message)}$"):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            ask(HALF, sampling=sp.WithReplacement(2), bound="threshold"),
            "bound = 'threshold' does not apply here: it is not for PropertyQuery with WithReplacement. What applies: "
            "'exact', 'total-count', 'spc', 'partition-sum'",
        ),
        (
            ask(SUM, bound="own-group"),
            "bound = 'own-group' does not apply here: it is not for SumQuery with no sampling. What applies: 'exact', "
            "'total-histogram', 'spc', 'partition-sum'",
        ),
        (
            ask(sp.PropertyQuery({"f": sp.Between("0.4", "0.5"), "m": "1/2"}), GROUPS, bound="exact"),
            "bound = 'exact' does not apply here: the entries have different probabilities; p is a range, over which "
            "this law has no closed supremum here. What applies: 'total-count', 'own-group'",
        ),
        (
            ask(sp.HistogramQuery([sp.Between(0, 1)] * 2), sampling=sp.TemplateLaw({(0, 1): 1}), bound="exact"),
            "bound = 'exact' does not apply here: probabilities of cells are ranges, over which a histogram has no "
            "closed supremum here. What applies: 'own-group-sum'",
        ),
        (
            ask(MINIMUM, sampling=sp.TemplateLaw({(0, 1): 1}), adversary=ONE_KNOWN, bound="exact"),
            "bound = 'exact' does not apply here: known entries of a template law are not available for order "
            "statistics. What applies: 'own-group-sum'",
        ),
    ],
)
def test_a_bound_that_does_not_apply_names_those_that_do(call, message):
    with pytest.raises(sp.NotAvailableError, match=f"^{re.escape(message)}$"):
        call()


def test_an_answer_that_depends_on_nobody_is_private():
    nothing = sp.privacy_curve(sp.LinearQuery([[0] * 5]), FIVE)
    assert nothing.kind == "exact"
    assert nothing.delta(0).upper == 0
    assert nothing.epsilon(0).upper == 0
    assert nothing.exact_delta(exp_epsilon=1) == 0


@pytest.mark.campaign  # alone it notices work that is done more often than needed
def test_a_pair_for_each_part_is_looked_up_as_often_as_there_are_parts(monkeypatch):
    """Whether all parts ask about one property is decided once, not again for each part."""
    looked_up = []

    def remembered(query, attribute_of=situation.attribute_of):
        looked_up.append(query)
        return attribute_of(query)

    monkeypatch.setattr(situation, "attribute_of", remembered)

    def composed(parts):
        looked_up.clear()
        queries = [sp.PropertyQuery(f"1/{k + 2}") for k in range(parts)]
        sp.compose(queries, sp.Population(parts), sp.RandomPartition([1] * parts), pair=[(1, 0)] * parts).delta("0.1")
        return len(looked_up)

    assert composed(40) == 2 * composed(20)


def refused(call, message):
    with pytest.raises(sp.ArgumentError, match=f"^{re.escape(message)}$"):
        call()


TEN = sp.Population(10)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: sp.root_mean_squared_error(HALF, TEN, 5), "^sampling = 5; a sampling such as"),
        (lambda: sp.root_mean_squared_error(HALF, TEN, sp.RandomPartition([5, 5])), "^sampling = RandomPartition"),
        (lambda: sp.root_mean_squared_error(HALF, TEN, sp.WithoutReplacement), "^sampling = <class"),
        (lambda: sp.root_mean_squared_error(HALF, 10), "^population = 10; a Population such as"),
        (lambda: sp.threshold_bound(HALF, 10, sp.WithoutReplacement(3), known=1, threshold=1), "^population = 10; "),
        (lambda: sp.threshold_bound(HALF, TEN, 3, known=1, threshold=1), "^sampling = 3; a sampling such as"),
        (
            lambda: sp.threshold_bound(5, TEN, sp.WithoutReplacement(3), known=1, threshold=1),
            "^query = 5; a query such",
        ),
    ],
)
def test_what_is_no_query_population_or_sampling_is_refused_by_name(ask, message):
    with pytest.raises(sp.ArgumentError, match=message):
        ask()
