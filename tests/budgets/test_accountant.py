"""The accountant as a ledger: what it allows, what it refuses, what it says, and how it is kept."""

import copy
import json
import math
import pickle
from fractions import Fraction
from importlib import resources

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import statpriv as sp
from statpriv.assurance.checker.certificate import check
from statpriv.composition import filter as module
from statpriv.model.codec import query_from, written_query

from ..cases import cases

SMOKERS = sp.PropertyQuery("1/2", attribute="smoker")
AGES = {0: "1/2", "1/2": "1/4", 5: "1/4"}

QUERIES = [
    SMOKERS,
    sp.PropertyQuery(0.3, name="Größe"),
    sp.PropertyQuery(sp.Between("0.4", "0.6"), attribute="a"),
    sp.PropertyQuery({"f": "1/3", "m": sp.Between("0.4", "0.6")}),
    sp.PropertyQuery([0.5, "1/3", "1/7"]),
    sp.HistogramQuery([0.2, 0.3, 0.5], attribute="h"),
    sp.HistogramQuery({"f": ["1/3", "2/3"], "m": ["1/2", "1/2"]}),
    sp.SumQuery(AGES, attribute="age"),
    sp.SumQuery({"f": AGES, "m": {0: 0.5, 1: 0.5}}),
    sp.MeanQuery(AGES),
    sp.OrderStatisticQuery(AGES, 2),
    sp.MedianQuery(AGES, name="median"),
    sp.LinearQuery([[1, 1, 0], [0, 1, 1]], p="1/3", attribute="l"),
    sp.LinearQuery([[1, 0]], p=sp.Between("0.2", "0.4")),
    sp.SumQuery({0: sp.Between("0.2", "0.4"), 1: "0.5", 2: sp.Between("0.1", "0.3")}),
    SMOKERS.thresholded(10).rounded(5).clamped(lower=-1, upper=7),
    SMOKERS.clamped(upper="1/2").mapped({0: "none", 1: None, "few": "3/2", None: "?"}),
    SMOKERS.noisy(sp.noise.DiscreteLaplace(alpha="1/3")),
    SMOKERS.noisy(sp.noise.DiscreteLaplace(scale=3)).noisy(sp.noise.DiscreteGaussian(sigma=2.5)),
    SMOKERS.noisy(sp.noise.Laplace(scale=2)),
    SMOKERS.noisy(sp.noise.Gaussian(sigma="0.1")),
    SMOKERS.noisy(sp.noise.Binomial(trials=20, p="1/2")),
    SMOKERS.noisy(sp.noise.Truncated(sp.noise.DiscreteLaplace(alpha=0.5), -3, 3)),
]


def accountant(rows=1000, epsilon="0.1", delta="0.05", **promise):
    return sp.PartitionAccountant(sp.Population(rows), epsilon=epsilon, delta=delta, **promise)


class Parity:
    """A query of the user's own."""

    def answer_laws(self, entries):
        fair = {0: "1/2", 1: "1/2"}
        return {0: fair, 1: fair} if entries > 1 else {0: {0: 1}, 1: {1: 1}}


# --- the budget ----------------------------------------------------------------------------------


def test_each_part_costs_its_share_of_its_own_curve():
    acc = accountant().compose(SMOKERS, size=100, count=3)
    delta = sp.privacy_curve(SMOKERS, sp.Population(100)).delta("0.1")
    assert acc.spent == 3 * Fraction(100, 1000) * Fraction(delta.upper)
    assert acc.remaining_delta == Fraction(1, 20) - acc.spent
    assert acc.remaining_rows == 700


def test_a_count_of_parts_is_that_many_calls_at_the_cost_of_one(monkeypatch):
    evaluated = []
    curve = module.privacy_curve
    monkeypatch.setattr(module, "privacy_curve", lambda *args, **kw: evaluated.append(args) or curve(*args, **kw))
    many = accountant(2**50, delta=1).compose(SMOKERS, size=1000, count=10**9)
    assert len(evaluated) == 1
    one = accountant(2**50, delta=1)
    for _ in range(10):
        one.compose(SMOKERS, size=1000)
    assert len(evaluated) == 2
    assert many.spent == 10**8 * one.spent


def test_known_entries_are_charged_where_they_hurt_most():
    acc = accountant(adversary=sp.Adversary(known=30)).compose(SMOKERS, size=100)
    assert acc.spent == Fraction(1, 10) * Fraction(sp.privacy_curve(SMOKERS, sp.Population(70)).delta("0.1").upper)
    acc = accountant(adversary=sp.Adversary(known=30)).compose(SMOKERS, size=20)
    assert acc.spent == Fraction(20, 1000), "all others of the part may be known, and the count gives the last away"


def test_what_breaks_the_budget_is_refused_and_changes_nothing():
    acc = accountant(delta="0.02").compose(SMOKERS, size=100, count=4)
    before = copy.copy(acc)
    with pytest.raises(
        sp.BudgetExceededError,
        match=r"on 100 rows, 5 times, costs up to 0\.02\d*; 0\.016\d* of delta = 0\.02 is spent at epsilon = 0\.1; "
        r"at most 0 such parts fit",
    ):
        acc.compose(SMOKERS, size=100, count=5)
    with pytest.raises(sp.BudgetExceededError, match=r"takes 700 rows; 600 of 1000 have not answered yet; fewer rows"):
        acc.compose(SMOKERS, size=700)
    assert acc == before
    assert not acc.supports(SMOKERS, size=700)
    assert acc.supports(SMOKERS, size=600)


def test_a_refused_error_is_no_argument_error():
    assert issubclass(sp.BudgetExceededError, sp.StatprivError)
    assert not issubclass(sp.BudgetExceededError, sp.ArgumentError)


@given(size=st.integers(1, 300), delta=st.fractions(0, 1))
def test_the_largest_count_is_allowed_and_one_more_is_not(size, delta):
    acc = accountant(delta=delta)
    largest = acc.largest_count(SMOKERS, size=size)
    assert largest == 0 or acc.supports(SMOKERS, size=size, count=largest)
    assert not acc.supports(SMOKERS, size=size, count=largest + 1)


def test_a_batch_costs_its_exact_composition():
    acc = accountant(32768, epsilon=".01").compose_batch([SMOKERS] * 4, sp.RandomPartition([1024] * 4))
    delta = sp.privacy_curve(SMOKERS, sp.Population(4096)).delta(".01")
    assert acc.spent == Fraction(4096, 32768) * Fraction(delta.upper)
    assert acc.spent < accountant(32768, epsilon=".01").compose(SMOKERS, size=1024, count=4).spent
    assert acc.ledger[0].rows == 4096
    with pytest.raises(sp.BudgetExceededError, match=r"^2 queries at once takes 32768 rows"):
        acc.compose_batch([SMOKERS] * 2, sp.RandomPartition([16384] * 2))
    assert not acc.supports_batch([SMOKERS] * 2, sp.RandomPartition([16384] * 2))
    assert acc.supports_batch([SMOKERS] * 2, sp.RandomPartition([14336] * 2))


def test_what_is_left_of_a_table_that_grew():
    """Of 1000 rows 400 answered; 600 join, and 300 of the 1200 that are left answer."""
    acc = accountant(1000, delta=1).compose(SMOKERS, size=400).extend(600).compose(SMOKERS, size=300)
    first, second = (Fraction(_delta("1/2", size)) for size in (400, 300))
    old, new = Fraction(4, 10) * first + Fraction(6, 10) * Fraction(300, 1200) * second, Fraction(300, 1200) * second
    assert acc.spent == max(old, new) == old
    assert (acc.population.size, acc.remaining_rows) == (1600, 900)
    assert [entry.costs for entry in acc.ledger] == [(old - acc.ledger[1].costs[0],), (acc.ledger[1].costs[0], new)]
    assert acc.get_delta("0.1").upper == pytest.approx(float(old), rel=1e-15)
    with pytest.raises(sp.ArgumentError, match="rows were appended in between"):
        acc.non_adaptive_curve()
    assert "each cohort has its own sum" in acc.explain()
    assert "when they came did not depend on their values" in acc.explain()
    assert "cohort" not in accountant().explain()


def test_a_refusal_is_about_the_cohort_whose_sum_would_be_too_large():
    """800 of 900 rows answered and 100 join: all 200 that are left may cost an old row little, and a new one all."""
    first, second = (Fraction(_delta("1/2", size)) for size in (800, 200))
    old, new = Fraction(8, 9) * first + Fraction(1, 9) * second, second
    acc = accountant(900, delta=(old + new) / 2).compose(SMOKERS, size=800).extend(100)
    with pytest.raises(sp.BudgetExceededError, match=r"on 200 rows costs up to 0\.0\d+; 0 of delta = .* is spent"):
        acc.compose(SMOKERS, size=200)
    assert accountant(900, delta=new).compose(SMOKERS, size=800).extend(100).supports(SMOKERS, size=200)


def test_known_rows_that_join_are_known_from_then_on():
    acc = accountant(1000, delta=1, adversary=sp.Adversary(known=20)).compose(SMOKERS, size=100)
    acc.extend(500, known=10).compose(SMOKERS, size=100)
    assert acc.adversary == sp.Adversary(known=30)
    assert [entry.known for entry in acc.ledger] == [20, 30]
    assert [entry.delta for entry in acc.ledger] == [Fraction(_delta("1/2", rows)) for rows in (80, 70)]


def test_what_the_filter_found_is_not_computed_again(monkeypatch):
    asked = []
    delta = sp.PrivacyCurve.delta
    monkeypatch.setattr(
        sp.PrivacyCurve, "delta", lambda curve, *args, **kw: asked.append(args) or delta(curve, *args, **kw)
    )
    acc = accountant(delta=1).compose(SMOKERS, size=100).compose(SMOKERS, size=200).extend(50)
    assert acc.supports(SMOKERS, size=100)
    at_own = acc.get_delta("0.1")
    assert len(asked) == 2
    assert at_own == sp.PartitionAccountant.from_json(acc.to_json()).get_delta("0.1")
    assert len(asked) == 4, "a state that was restored has upper ends alone"


def test_what_was_charged_can_be_certified():
    acc = accountant().compose(SMOKERS, size=100).extend(200).compose(SMOKERS, size=300)
    proof = acc.charged.certify(epsilon="0.1", delta=acc.spent + Fraction(1, 1000))
    assert check(proof.document).verdict == "proved"
    assert proof.document["cohorts"] == [
        {"rows": 1000, "joined_after": 0},
        {"rows": 200, "joined_after": 1},
    ]
    with pytest.raises(sp.NotAvailableError, match="equal parts that were asked in one go are not certified"):
        acc.compose(SMOKERS, size=10, count=2).charged.certify(epsilon="0.1", delta="0.9")


@pytest.mark.parametrize(
    ("grow", "told"),
    [
        (lambda: accountant().extend(0), "rows = 0; an integer from 1 to 2"),
        (lambda: accountant().extend("many"), 'rows: "many" is not a number'),
        (lambda: accountant().extend(10, known=11), "known = 11; of 10 rows that joined no more can be known"),
        (lambda: accountant().extend(2**53), "size = 9007199254741992"),
        (lambda: accountant(only=SMOKERS).extend(10), "what was promised is about the 1000 entries"),
        (lambda: accountant(only=SMOKERS).charged, "with a promise no sum is charged"),
    ],
    ids=range(6),
)
def test_a_table_that_cannot_grow(grow, told):
    with pytest.raises(sp.ArgumentError, match=told):
        grow()


class Curator(RuleBasedStateMachine):
    """Any sequence of questions and of rows that join: the accountant against sums that are added up here."""

    @initialize(delta=st.fractions(0, "1/2"), known=st.integers(0, 5))
    def open(self, delta, known):
        self.known, self.delta = known, delta
        self.acc = accountant(200, delta=delta, adversary=sp.Adversary(known=known))
        self.rows, self.sums, self.unspent = 200, [Fraction(0)], [Fraction(1)]

    @rule(p=st.sampled_from(["1/2", "1/5"]), size=st.integers(1, 80), count=st.integers(1, 4))
    def ask(self, p, size, count):
        query = sp.PropertyQuery(p)
        unknown = max(1, size - self.known)
        sums, unspent, left = list(self.sums), list(self.unspent), self.rows
        for _ in range(count):
            drawn = Fraction(size, left) if size <= left else 1
            sums = [spent + u * drawn * Fraction(_delta(p, unknown)) for spent, u in zip(sums, unspent, strict=True)]
            unspent, left = [u * (1 - drawn) for u in unspent], left - size
        allowed = size * count <= self.rows and max(sums) <= self.delta
        assert self.acc.supports(query, size=size, count=count) == allowed
        before = self.acc.to_json()
        if allowed:
            assert self.acc.compose(query, size=size, count=count) is self.acc
            self.sums, self.unspent, self.rows = sums, unspent, left
        else:
            with pytest.raises(sp.BudgetExceededError):
                self.acc.compose(query, size=size, count=count)
            assert self.acc.to_json() == before

    @precondition(lambda self: hasattr(self, "acc") and len(self.sums) < 4)
    @rule(rows=st.integers(1, 100), known=st.integers(0, 1))
    def grow(self, rows, known):
        assert self.acc.extend(rows, known=known) is self.acc
        self.rows, self.known = self.rows + rows, self.known + known
        self.sums.append(Fraction(0))
        self.unspent.append(Fraction(1))

    @rule()
    def keep(self):
        restored = sp.PartitionAccountant.from_json(self.acc.to_json())
        assert restored == self.acc
        self.acc = restored

    @invariant()
    def nothing_is_overdrawn(self):
        if hasattr(self, "acc"):
            assert (self.acc.spent, self.acc.remaining_rows) == (max(self.sums), self.rows)
            assert 0 <= self.acc.spent <= self.delta
            assert self.acc.get_delta("0.1").upper >= max(self.sums)


def _delta(p, rows):
    return sp.privacy_curve(sp.PropertyQuery(p), sp.Population(rows)).delta("0.1").upper


TestCurator = Curator.TestCase
TestCurator.settings = settings(max_examples=cases(10, campaign=300), stateful_step_count=12, deadline=None)


# --- what is reported ----------------------------------------------------------------------------


def test_nothing_asked_is_nothing_spent():
    acc = accountant()
    assert acc.get_delta(0) == sp.Enclosure(0.0, 0.0)
    assert acc.get_epsilon(0) == sp.Enclosure(0.0, 0.0)
    with pytest.raises(sp.ArgumentError, match="nothing was asked yet"):
        acc.non_adaptive_curve()
    with pytest.raises(sp.ArgumentError, match="no attribute and no list of queries was promised"):
        acc.promised_curve  # noqa: B018  (a property that refuses)


def test_the_report_is_the_sum_of_theorem_5_1():
    acc = accountant(32768, epsilon=".01").compose(SMOKERS, size=1024, count=20).compose(SMOKERS, size=2000, count=6)
    parts = sp.RandomPartition([1024] * 20 + [2000] * 6)
    theorem = sp.compose([SMOKERS] * 26, sp.Population(32768), parts, bound="partition-sum")
    for epsilon in ("0", ".005", ".01", ".1"):
        ours, theirs = acc.get_delta(epsilon), theorem.delta(epsilon)
        assert ours.lower <= theirs.upper
        assert theirs.lower <= ours.upper
        assert ours.width <= 1e-15
    for delta in (".05", ".01", ".001", "1e-9"):
        ours, theirs = acc.get_epsilon(delta), theorem.epsilon(delta)
        assert ours.lower <= theirs.upper
        assert theirs.lower <= ours.upper
        assert ours.width <= 1e-12


def test_epsilon_is_infinite_where_an_answer_may_give_the_row_away():
    acc = accountant(delta=1).compose(SMOKERS, size=1, count=10)
    assert acc.get_epsilon("0.009").lower == float("inf")
    assert acc.get_epsilon("0.01") == sp.Enclosure(0.0, 0.0)


@given(delta=st.fractions("1/1000000", "1/10"))
@settings(max_examples=cases(10, campaign=300), deadline=None)
def test_delta_of_the_reported_epsilon_is_delta(delta):
    acc = accountant().compose(sp.PropertyQuery("0.3"), size=200, count=2).compose(SMOKERS, size=300)
    epsilon = acc.get_epsilon(delta)
    assert acc.get_delta(epsilon.upper).lower <= delta
    assert epsilon.lower == 0 or acc.get_delta(epsilon.lower).upper > delta
    assert epsilon.width <= 1e-12


def test_the_non_adaptive_curve_is_the_exact_composition():
    acc = accountant(32768, epsilon=".01").compose(SMOKERS, size=1024, count=30)
    acc.compose_batch([SMOKERS] * 2, sp.RandomPartition([1024, 1024]))
    curve = acc.non_adaptive_curve()
    assert curve.kind == "exact"
    assert curve.delta(".01") == sp.privacy_curve(SMOKERS, sp.Population(32768)).delta(".01")
    assert acc.non_adaptive_curve(bound="partition-sum").kind == "bound"
    many = accountant(2**40, delta=1).compose(SMOKERS, size=1, count=10**9)
    with pytest.raises(sp.ArgumentError, match="1000000000 parts were asked; at most 10000000 are composed"):
        many.non_adaptive_curve()


def test_the_text_says_what_is_a_guarantee():
    told = accountant().explain()
    assert "(0.1, 0.05)-statistical privacy of all answers together, whatever is asked." in told
    assert "get_delta, get_epsilon: the sum on the path that happened. No guarantee by itself." in told
    assert "as if it held as many" in accountant(adversary=sp.Adversary(known=3)).explain()
    assert "guarantees at every ε" in accountant(only=SMOKERS).explain()
    assert "everything is refused" in accountant(only=SMOKERS, delta="1e-9").explain()


def test_the_ledger_is_a_table():
    acc = accountant().compose(SMOKERS, size=100, count=3)
    assert str(acc.ledger) == (
        "query                                               times  rows  δ charged at most\n"
        "PropertyQuery(0.5, attribute='smoker') on 100 rows  3      300   0.01256"
    )
    assert isinstance(acc.ledger, tuple)
    assert acc.ledger._repr_html_().startswith("<table>")
    assert repr(acc.ledger) == "<Ledger of 1 entries, 300 rows>"
    assert "<table>" in acc._repr_html_()
    with pytest.raises(AttributeError):
        acc.ledger[0].count = 4


# --- promises ------------------------------------------------------------------------------------


def test_what_asks_one_attribute_costs_its_total_once():
    acc = accountant(32768, epsilon=".01", delta=".0012", only=SMOKERS)
    total = sp.privacy_curve(SMOKERS, sp.Population(32768))
    acc.compose(SMOKERS, size=1, count=1000).compose(SMOKERS.thresholded(3), size=10)
    assert acc.spent == Fraction(total.delta(".01").upper)
    assert acc.get_delta(".02") == total.delta(".02")
    assert acc.get_epsilon("1e-6") == total.epsilon("1e-6")
    assert acc.promised_curve == total
    assert acc.remaining_rows == 32768 - 1010
    assert acc.largest_count(SMOKERS, size=2) == (32768 - 1010) // 2
    for other in (
        sp.PropertyQuery("1/2"),
        sp.PropertyQuery("1/2", attribute="drinker"),
        sp.SumQuery({0: ".5", 1: ".5"}),
    ):
        assert not acc.supports(other, size=1)
        assert acc.largest_count(other, size=1) == 0
        with pytest.raises(
            sp.BudgetExceededError, match=r"the promise, OneAttribute\(query=PropertyQuery\(0.5, .*, covers 0 more"
        ):
            acc.compose(other, size=1)


def test_a_range_stands_for_every_property_in_it():
    acc = accountant(32768, epsilon=".01", delta=".002", only=sp.PropertyQuery(sp.Between("0.4", "0.6")))
    assert acc.compose(SMOKERS, size=1024, count=16).supports(sp.PropertyQuery("0.4").thresholded(3), size=10, count=9)
    assert acc.supports(sp.PropertyQuery(sp.Between("0.5", "0.55")), size=10)
    for other in (sp.PropertyQuery("0.39"), sp.PropertyQuery([0.5, 0.5]), sp.SumQuery({0: 0.5, 1: 0.5})):
        assert not acc.supports(other, size=2)
    attained = sp.privacy_curve(sp.PropertyQuery("0.4"), acc.population).delta(".01")
    assert acc.get_delta(".01").lower == attained.lower
    assert attained.upper < acc.get_delta(".01").upper < 2 * attained.lower
    with pytest.raises(sp.ArgumentError, match="no one curve bounds what may be asked"):
        acc.promised_curve  # noqa: B018  (a property that refuses)


def test_the_bound_of_any_property_is_the_total_where_p_is_one_half():
    acc = accountant(32768, epsilon=".01", delta=1, only=sp.PropertyQuery("1/2"))
    total = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(32768))
    for epsilon in ("0", ".005", ".02", "1"):
        assert acc.get_delta(epsilon).upper == total.delta(epsilon).upper
        assert acc.get_delta(epsilon).lower == total.delta(epsilon).lower
    for delta in (".01", "1e-6"):
        assert acc.get_epsilon(delta).lower <= total.epsilon(delta).upper
        assert total.epsilon(delta).lower <= acc.get_epsilon(delta).upper
        assert acc.get_epsilon(delta).width < 1e-12


@given(
    least=st.fractions("1/100", "1/2"),
    x=st.fractions(1, 20).filter(lambda x: x.denominator < 100),
    n=st.integers(1, 30),
)
@settings(max_examples=cases(20, campaign=600), deadline=None)
def test_the_bound_of_any_property_is_the_stop_loss_of_its_binomial(least, x, n):
    """Against E[(K − x(n−K))_+]/(mn) in exact rationals, K binomial."""
    epsilon = Fraction(math.log(x))
    pi = (least + x * (1 - least)) / (1 + x)
    stop_loss = sum(
        (math.comb(n, k) * pi**k * (1 - pi) ** (n - k) * max(0, k - x * (n - k)) for k in range(n + 1)), Fraction(0)
    ) / (least * n)
    acc = accountant(n, epsilon=epsilon, delta=1, only=sp.PropertyQuery(sp.Between(least, 1 - least)))
    assert acc.spent == pytest.approx(min(1, stop_loss), rel=1e-9)


def test_one_half_stands_for_every_property_of_one_half():
    acc = accountant(only=sp.PropertyQuery("1/2"))
    assert acc.supports(SMOKERS, size=10)
    assert acc.supports(sp.PropertyQuery(0.5).rounded(5), size=10, count=100)
    assert not acc.supports(sp.PropertyQuery("0.51"), size=10)
    assert not acc.supports(sp.PropertyQuery(sp.Between("0.5", "0.6")), size=10)


def test_one_attribute_may_have_groups_and_a_histogram():
    groups = sp.Population(groups={"f": 30, "m": 20})
    query = sp.PropertyQuery({"f": "1/3", "m": "1/2"}, attribute="smoker")
    acc = sp.PartitionAccountant(groups, epsilon=1, delta="0.5", only=query)
    assert acc.spent == Fraction(sp.privacy_curve(query, groups).delta(1).upper)
    assert acc.compose(query, size=7).remaining_rows == 43
    cells = sp.HistogramQuery(["1/2", "1/4", "1/4"], attribute="city")
    assert accountant(only=cells, delta="0.5").supports(cells, size=10, count=3)


def test_a_promise_that_costs_more_than_the_budget_allows_nothing():
    acc = accountant(only=SMOKERS, delta="0.001")
    assert acc.remaining_delta < 0
    assert not acc.supports(SMOKERS, size=1)
    assert acc.largest_count(SMOKERS, size=1) == 0
    with pytest.raises(sp.BudgetExceededError, match=r"what was promised costs up to 0\.\d+ at epsilon = 0\.1, above"):
        acc.compose(SMOKERS, size=1)


def test_declared_queries_cost_their_composition_once():
    declared = ([SMOKERS, SMOKERS, sp.PropertyQuery("0.3")], sp.RandomPartition([100, 100, 50]))
    acc = accountant(declared=declared)
    curve = sp.compose(declared[0], sp.Population(1000), declared[1])
    assert acc.spent == Fraction(curve.delta("0.1").upper)
    assert acc.compose(SMOKERS, size=100).largest_count(SMOKERS, size=100) == 1
    assert acc.get_delta("0.2") == curve.delta("0.2")
    with pytest.raises(
        sp.BudgetExceededError, match=r"on 100 rows, 2 times: the promise, Declared\(.*, covers 1 more of these"
    ):
        acc.compose(SMOKERS, size=100, count=2)
    assert not acc.supports(SMOKERS, size=50)
    acc.compose_batch([sp.PropertyQuery("0.3"), SMOKERS], sp.RandomPartition([50, 100]))
    assert acc.largest_count(SMOKERS, size=100) == 0


# --- keeping it ----------------------------------------------------------------------------------


def validator(*, query=False):
    """Of a state, or of one query, by the published schema."""
    schema = json.loads(resources.files("statpriv.composition").joinpath("accountant.schema.json").read_text("utf-8"))
    if query:
        schema = {"$schema": schema["$schema"], "$defs": schema["$defs"], "$ref": "#/$defs/query"}
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("query", QUERIES, ids=repr)
def test_every_query_survives_json(query):
    document = json.loads(json.dumps(written_query(query)))
    assert query_from(document) == query
    validator(query=True).validate(document)


def test_a_query_of_your_own_can_be_asked_but_not_written():
    acc = accountant().compose(Parity(), size=10)
    with pytest.raises(sp.ArgumentError, match=r"queries of your own cannot be written as JSON"):
        acc.to_json()
    strange = SMOKERS.mapped({0: (1, 2)})
    with pytest.raises(sp.ArgumentError, match=r"\(1, 2\) in a Relabel cannot be written as JSON"):
        written_query(strange)
    with pytest.raises(sp.ArgumentError, match="more digits than a JSON document can hold"):
        written_query(SMOKERS.thresholded(Fraction(1, 10**5000)))


@pytest.mark.parametrize(
    "promise",
    [
        {},
        {"only": SMOKERS},
        {"only": sp.PropertyQuery("1/2"), "adversary": sp.Adversary(known=3, values="expected")},
        {"declared": ([SMOKERS] * 3, sp.RandomPartition([100] * 3))},
        {"adversary": sp.Adversary(known=3)},
    ],
    ids=str,
)
def test_an_accountant_survives_json_pickle_and_copy(promise):
    acc = accountant(delta=1, **promise).compose(SMOKERS, size=100, count=2)
    for restored in (
        sp.PartitionAccountant.from_json(acc.to_json()),
        pickle.loads(pickle.dumps(acc)),  # noqa: S301  (our own)
        copy.copy(acc),
        copy.deepcopy(acc),
    ):
        validator().validate(json.loads(restored.to_json()))
        assert restored == acc
        assert restored.get_delta("0.2") == acc.get_delta("0.2")
        restored.compose(SMOKERS, size=100)
        assert restored != acc
        assert acc.remaining_rows == 800


def test_groups_survive_json():
    query = sp.PropertyQuery({"f": "1/3", "m": "1/2"}, attribute="smoker")
    acc = sp.PartitionAccountant(
        sp.Population(groups={"f": 30, "m": 20}),
        epsilon=1,
        delta=1,
        only=query,
        adversary=sp.Adversary(known={"f": 3}),
    )
    assert sp.PartitionAccountant.from_json(acc.compose(query, size=5).to_json()) == acc


def test_a_declared_partition_by_group_survives_json():
    query = sp.PropertyQuery({"f": "1/3", "m": "1/2"}, attribute="smoker")
    declared = [query] * 2, sp.RandomPartition([{"f": 10, "m": 5}] * 2)
    people = sp.Population(groups={"f": 30, "m": 20})
    acc = sp.PartitionAccountant(people, epsilon=1, delta=1, declared=declared)
    restored = sp.PartitionAccountant.from_json(acc.to_json())
    validator().validate(json.loads(acc.to_json()))
    assert restored == acc
    assert restored.get_delta(1) == acc.get_delta(1)


def _edited(**changes):
    return json.dumps({**json.loads(accountant().compose(SMOKERS, size=100).to_json()), **changes})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (3, "text = 3; the text that to_json"),
        ("{", "text is no JSON document"),
        ("[1]", "format is not 'statpriv partition accountant'"),
        ('{"format": "other"}', "format is not 'statpriv partition accountant'"),
        (_edited(version=3), "version = 3 of the state; this statpriv reads versions up to 2"),
        (_edited(delta="1"), "was edited or damaged"),
        (_edited(ledger=[]), "was edited or damaged"),
        (_edited(more=1), "was edited or damaged"),
        (_edited(sha256=None), "was edited or damaged"),
    ],
    ids=range(9),
)
def test_other_documents_are_refused(text, told):
    with pytest.raises(sp.ArgumentError, match=told):
        sp.PartitionAccountant.from_json(text)


@pytest.mark.parametrize(
    "changes",
    [
        {"ledger": [{"queries": []}]},
        {"ledger": [{"queries": [], "sizes": [3], "count": 1, "known": 0, "delta": "0"}]},
        {"delta": "1/1000"},
        {"population": 50},
        {"epsilon": None},
        {"promise": {"other": 1}},
        {"ledger": [{"queries": [{"type": "Other"}], "sizes": [3], "count": 1, "known": 0, "delta": "0"}]},
        {"joined": [{"rows": 10, "known": 0, "after": 2}]},
        {"joined": [{"rows": 10, "known": 0, "after": 1}, {"rows": 10, "known": 0, "after": 0}]},
        {"joined": [{"rows": 10, "known": 11, "after": 1}]},
        {"ledger": 3},
        {"population": "x"},
    ],
    ids=str,
)
def test_a_document_with_a_new_digest_still_has_to_make_sense(changes):
    from statpriv.composition.state import sealed, unsealed

    content = {**unsealed(accountant().compose(SMOKERS, size=100).to_json()), **changes}
    with pytest.raises(sp.ArgumentError):
        sp.PartitionAccountant.from_json(sealed(content))


# --- what cannot be asked ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: sp.PartitionAccountant(1000, epsilon=1, delta=1), "population = 1000; a Population such as"),
        (lambda: accountant(epsilon=-1), "epsilon = -1; a number of at least 0"),
        (lambda: accountant(delta=2), "delta = 2; a probability from 0 to 1"),
        (lambda: accountant(adversary=3), "adversary = 3; an Adversary such as"),
        (lambda: accountant(adversary=sp.Adversary(known=1000)), "known = 1000; at most 999 of 1000"),
        (lambda: accountant(adversary=sp.Adversary(known=1, values="expected")), "at their worst values"),
        (
            lambda: sp.PartitionAccountant(sp.Population(groups={"f": 3, "m": 4}), epsilon=1, delta=1),
            "entries of one law are required, because earlier answers tell which groups are left",
        ),
        (lambda: accountant(only=sp.HistogramQuery([0.5, 0.5])), "an attribute= is required, which says that all"),
        (lambda: accountant(only=sp.PropertyQuery(sp.Between(0, "0.3"))), "one range of p above 0 and below 1"),
        (lambda: accountant(only=sp.PropertyQuery([0.5, 0.3])), "one range of p above 0 and below 1"),
        (lambda: accountant(only=SMOKERS.rounded(5)), "from which all answers are made is required"),
        (lambda: accountant(only=SMOKERS, declared=([], None)), "at most one promise is possible"),
        (lambda: accountant(declared=[SMOKERS]), "a list of queries and a partition are required"),
        (lambda: accountant(declared=([SMOKERS], sp.RandomPartition([1, 1]))), "2 queries, one a part, are required"),
        (lambda: accountant(declared=(SMOKERS, sp.RandomPartition([1]))), "1 queries, one a part, are required"),
        (
            lambda: sp.PartitionAccountant(
                sp.Population(groups={"f": 3, "m": 4}), epsilon=1, delta=1, only=sp.PropertyQuery("1/2")
            ),
            "an attribute= is required where there are groups",
        ),
        (lambda: accountant().compose(SMOKERS, size=0), "size = 0"),
        (lambda: accountant().compose(SMOKERS, size=1.5), "size = 1.5"),
        (lambda: accountant().compose(SMOKERS, size=1001), "size = 1001; the population has only 1000 entries"),
        (lambda: accountant().compose(SMOKERS, size=3, count=0), "count = 0"),
        (lambda: accountant().compose("smokers", size=3), "query = 'smokers'; a query such as sp.PropertyQuery"),
        (lambda: accountant().compose(sp.PropertyQuery, size=3), "a query such as sp.PropertyQuery"),
        (
            lambda: accountant().compose(sp.PropertyQuery([0.5, 0.4]), size=2),
            "one law for all entries is required: with laws by group or by entry, earlier answers tell",
        ),
        (
            lambda: accountant().compose(SMOKERS, size=3).supports(sp.PropertyQuery("0.4", attribute="smoker"), size=3),
            "attribute = 'smoker' is asked with two different laws",
        ),
        (
            lambda: accountant(only=SMOKERS).compose(sp.PropertyQuery("0.4", attribute="smoker"), size=3),
            "attribute = 'smoker' is asked with two different laws",
        ),
        (lambda: accountant().compose_batch([SMOKERS], [3]), r"partition = \[3\]; a RandomPartition such as"),
        (lambda: accountant().compose_batch([SMOKERS], sp.RandomPartition([3, 3])), "2 queries, one a part"),
        (lambda: accountant().get_delta(-1), "epsilon = -1; a number of at least 0"),
        (lambda: accountant().get_epsilon(-1), "delta = -1; a number of at least 0"),
    ],
)
def test_what_is_not_allowed_is_named(made, told):
    with pytest.raises(sp.ArgumentError, match=told):
        made()


def test_a_query_that_cannot_be_compared_is_refused():
    class Unhashable(Parity):
        __hash__ = None

    with pytest.raises(sp.ArgumentError, match="is not hashable; give its class a __hash__"):
        accountant().compose(Unhashable(), size=3)


def test_one_attribute_keeps_its_law_across_kinds_of_queries():
    acc = accountant(delta=1).compose(sp.SumQuery(AGES, attribute="age"), size=10)
    assert acc.supports(sp.MedianQuery(AGES, attribute="age").rounded(2), size=10)
    with pytest.raises(sp.ArgumentError, match="two different laws"):
        acc.supports(sp.MedianQuery({0: ".5", 1: ".5"}, attribute="age"), size=10)
    with pytest.raises(TypeError):
        hash(acc)
