"""Every row has a probability of its own in a range: the worst are at the ends, and what is not proved is refused."""

import copy
import pickle
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv.model.codec import query_from, written_query
from statpriv.model.ranges import ends
from statpriv.model.situation import holds_for_every_probability

OWN = sp.EachBetween("0.1", "0.9")
ASKED = sp.PropertyQuery(OWN)
TWENTY = sp.Population(20)
GROUPS = sp.Population(groups={"a": 10, "b": 10})


def law_of_count(probabilities):
    """The law of a sum of independent bits."""
    law = [Fraction(1)]
    for p in probabilities:
        law = [(1 - p) * stays + p * moves for stays, moves in zip([*law, 0], [0, *law], strict=True)]
    return law


def hockey_stick(first, second, ratio):
    return sum(max(v - ratio * w, Fraction(0)) for v, w in zip(first, second, strict=True))


def delta_of(probabilities, ratio):
    """Of a count of independent others, one at each of these probabilities: the larger of both directions."""
    law = law_of_count(probabilities)
    one, zero = [Fraction(0), *law], [*law, Fraction(0)]
    return max(hockey_stick(one, zero, ratio), hockey_stick(zero, one, ratio))


hundredths = st.integers(1, 99).map(lambda k: Fraction(k, 100))


@settings(max_examples=40, deadline=None)
@given(st.tuples(hundredths, hundredths).map(sorted), st.lists(st.integers(0, 10), min_size=1, max_size=6))
def test_no_laws_inside_the_range_are_worse_and_some_at_its_ends_are_as_bad(box, places):
    lower, upper = box
    inside = [lower + (upper - lower) * place / 10 for place in places]
    curve = sp.privacy_curve(sp.PropertyQuery(sp.EachBetween(lower, upper)), sp.Population(len(places) + 1))
    at_the_ends = [[upper] * k + [lower] * (len(places) - k) for k in range(len(places) + 1)]
    total_variation = curve.delta(0)
    assert max(delta_of(vertex, 1) for vertex in at_the_ends) in total_variation
    assert delta_of(inside, 1) <= total_variation.upper
    assert total_variation.width <= 1e-9 * total_variation.upper


@settings(max_examples=25, deadline=None)
@given(
    st.tuples(hundredths, hundredths).map(sorted),
    st.integers(1, 30),
    st.sampled_from(["0", "0.05", "0.4", "2"]),
)
def test_a_probability_that_all_share_never_looks_less_safe(box, size, epsilon):
    own, shared = (
        sp.privacy_curve(sp.PropertyQuery(of(*box)), sp.Population(size)).delta(epsilon)
        for of in (sp.EachBetween, sp.Between)
    )
    assert shared.lower <= own.upper


def test_known_rows_shift_the_count_only():
    seven = sp.privacy_curve(ASKED, sp.Population(7), adversary=sp.Adversary(known=2))
    assert seven.delta("0.1") == sp.privacy_curve(ASKED, sp.Population(5)).delta("0.1")


def test_the_worst_rows_may_be_at_both_ends():
    """Six others in [.1, .9] at e^ε = 1.05: .5810, and .5314 for a probability that all share."""
    sixes = [[Fraction(9, 10)] * k + [Fraction(1, 10)] * (6 - k) for k in range(7)]
    values = [delta_of(vertex, Fraction(21, 20)) for vertex in sixes]
    assert values.index(max(values)) not in (0, 6)
    assert round(float(max(values)), 4) == 0.5810


def test_the_value_is_a_value():
    assert sp.EachBetween("0.5", "0.5") != sp.Between("0.5", "0.5")
    assert sp.PropertyQuery(OWN) != sp.PropertyQuery(sp.Between("0.1", "0.9"))
    assert sp.PropertyQuery(sp.EachBetween("0.5", "0.5")) != sp.PropertyQuery("0.5"), "it says more of the others"
    assert ends(OWN) == (Fraction(1, 10), Fraction(9, 10))
    assert repr(OWN) == "EachBetween('1/10', '9/10')"
    for made in (OWN, ASKED):
        assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == made  # noqa: S301
        assert hash(made) == hash(copy.deepcopy(made))
    with pytest.raises(sp.ArgumentError, match="lower <= upper"):
        sp.EachBetween("0.9", "0.1")


@pytest.mark.parametrize(
    "query",
    [
        ASKED,
        sp.PropertyQuery({"a": OWN, "b": "0.5"}),
        sp.HistogramQuery([sp.EachBetween("0.1", "0.3"), sp.Between("0.7", "0.9")]),
        sp.SumQuery({0: OWN, 1: OWN}),
        ASKED.rounded(5),
    ],
)
def test_it_is_written_and_read_back(query):
    assert query_from(written_query(query)) == query
    assert "each" in str(written_query(query))


REFUSED = {
    "rounding": lambda: sp.privacy_curve(ASKED.rounded(5), TWENTY),
    "a gate": lambda: sp.privacy_curve(ASKED.gated(3, 5), TWENTY),
    "noise": lambda: sp.privacy_curve(ASKED.noisy(sp.noise.Gaussian(sigma=2)), TWENTY),
    "a sample": lambda: sp.privacy_curve(ASKED, TWENTY, sampling=sp.WithoutReplacement(5)),
    "a histogram": lambda: sp.privacy_curve(sp.HistogramQuery([OWN, OWN]), TWENTY),
    "groups": lambda: sp.privacy_curve(sp.PropertyQuery({"a": OWN, "b": "0.5"}), GROUPS),
    "a sum": lambda: sp.privacy_curve(sp.SumQuery({0: OWN, 1: OWN}), TWENTY),
    "several counts": lambda: sp.privacy_curve(sp.LinearQuery([[1, 1], [0, 1]], p=OWN), sp.Population(2)),
    "parts": lambda: sp.compose([ASKED, ASKED], TWENTY, sp.RandomPartition([10, 10])),
    "one of the parts": lambda: sp.compose([ASKED, sp.PropertyQuery("0.5")], TWENTY, sp.RandomPartition([10, 10])),
    "an analyst": lambda: sp.compose_adaptive(
        sp.Ask(sp.PropertyQuery(OWN, attribute="a")), TWENTY, sp.RandomPartition([10])
    ),
    "a promise of any property": lambda: sp.PartitionAccountant(TWENTY, epsilon=1, delta=1, only=ASKED),
    "a design": lambda: sp.design.guarantee(ASKED, TWENTY),
    "a wider range": lambda: sp.design.widest_range(ASKED, TWENTY, epsilon=1, delta="0.9"),
    "a certificate": lambda: sp.privacy_curve(ASKED, TWENTY).certify(epsilon=1, delta="0.9"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_proved_is_refused_in_words(what):
    with pytest.raises(sp.NotAvailableError, match="each row has a probability of its own"):
        REFUSED[what]()


def test_a_promise_of_a_shared_probability_does_not_cover_rows_with_their_own():
    account = sp.PartitionAccountant(TWENTY, epsilon=1, delta=1, only=sp.PropertyQuery(sp.Between("0.1", "0.9")))
    with pytest.raises(sp.BudgetExceededError):
        account.compose(ASKED, size=10)


def test_a_gate_does_not_make_the_guarantee_hold_for_every_probability():
    assert not holds_for_every_probability(ASKED.gated(3, 5))
    shared = sp.PropertyQuery(sp.Between("0.1", "0.9")).gated(3, 5)
    assert sp.privacy_curve(shared, TWENTY).situation.holds_for_every_probability


def test_explain_says_whose_probability_it_is():
    assert "Each row has its own probability" in sp.privacy_curve(ASKED, TWENTY).explain()
