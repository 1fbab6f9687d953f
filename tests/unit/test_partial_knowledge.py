"""The refusals of sp.partial_knowledge, and the display of its objects."""

import math

import pytest

import statpriv as sp
from statpriv import partial_knowledge as pk
from statpriv.errors import ArgumentError, NotAvailableError

FAIR = {0: {(0, 0): "1/2", (1, 1): "1/2"}, 1: {(0, 0): "1/2", (1, 1): "1/2"}}
NOISE = sp.noise.Laplace(scale=2)
COIN = {0: "1/2", 1: "1/2"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: pk.bernoulli_epsilon(n=10, margin=0, delta="0.1"),
            "margin = 0; a number above 0, at most 1/2 is required",
        ),
        (lambda: pk.bernoulli_epsilon(n=10, margin="0.6", delta="0.1"), "margin = 0.6; a number above 0, at most 1/2"),
        (lambda: pk.bernoulli_epsilon(n=1, margin="0.1", delta="0.1"), "n = 1; an integer from 2"),
        (lambda: pk.bernoulli_epsilon(n=10, margin="0.1", delta=1), "delta = 1; a number above 0 and below 1"),
        (lambda: pk.bernoulli_epsilon(n=10, margin="0.1", delta=0), "delta = 0; a number above 0 and below 1"),
        (
            lambda: pk.bernoulli_epsilon(n=10, margin="0.1", delta="0.1", known=10),
            "known = 10; at most n - 1 = 9 is required",
        ),
        (
            lambda: pk.bernoulli_epsilon(n=10, margin="0.1", delta="0.1", method="exact"),
            "method = 'exact'; 'sharp' or 'printed' is required",
        ),
        (lambda: pk.threshold_guarantee(n=10, p=0, threshold=5), "p = 0; a number above 0 and below 1"),
        (lambda: pk.threshold_guarantee(n=10, p=1, threshold=5), "p = 1; a number above 0 and below 1"),
        (
            lambda: pk.threshold_guarantee(n=100, p="1/2", threshold=99),
            "threshold = 99; above 99 is required: Theorem 4 needs r",
        ),
        (lambda: pk.threshold_guarantee(n=10, p="0.1", threshold=5, known=10), "known = 10; at most n - 1 = 9"),
        (
            lambda: pk.threshold_guarantee(n=10, p="0.1", threshold=5, most_known_ones=2),
            "most_known_ones = 2 and known = 0",
        ),
        (
            lambda: pk.threshold_guarantee(n=10, p="0.1", threshold=5, known=3, most_known_ones=5),
            "most_known_ones = 5; an integer above 0 and below threshold = 5",
        ),
        (lambda: pk.threshold_guarantee(n=10, p="0.4", threshold=5, known=4), "threshold = 5; above"),
        (lambda: pk.dependency(FAIR), "either mu or exp_mu is required; neither is given"),
        (lambda: pk.dependency(FAIR, 1, exp_mu=2), "either mu or exp_mu is required; mu = 1 and exp_mu = 2"),
        (lambda: pk.dependency(FAIR, mu=-1), "mu = -1; a number of at least 0"),
        (lambda: pk.dependency({0: FAIR[0]}, mu=0), "a dict from two or more values of the record"),
        (lambda: pk.dependency({0: FAIR[0], 1: {0: 1}}, mu=0), r"joint\[1\] has the outcome 0; pairs \(o1, o2\)"),
        (lambda: pk.dependency({0: FAIR[0], 1: {(0, 0): "1/2"}}, mu=0), r"joint\[1\] sums to 1/2"),
        (lambda: pk.dependency({0: FAIR[0], 1: []}, mu=0), r"joint\[1\] = \[\]; a dict from outcomes"),
        (lambda: pk.compose((1, 0), (1,), dependency=(0, 0)), r"second = \(1,\); a pair"),
        (lambda: pk.compose((-1, 0), (1, 0), dependency=(0, 0)), r"first\[0\] = -1; a number of at least 0"),
        (lambda: pk.compose((1, 0), (1, 0), dependency=(0, 2)), r"dependency\[1\] = 2; a probability"),
        (lambda: pk.Model({}, sum), "records = {}; a dict"),
        (lambda: pk.Model({(0,): 1}, sum, entry=1), "entry = 1; databases are tuples of one length above entry"),
        (lambda: pk.Model({(0,): "1/2", (0, 1): "1/2"}, sum), "databases are tuples of one length"),
        (lambda: pk.Model({(0,): 1}, "sum"), "mechanism = 'sum'; a function of a database"),
        (lambda: pk.Model({(0,): 1}, list), r"mechanism returned \[0\]; something hashable is required"),
        (lambda: pk.Model({(0,): 1}, sum, background=list), r"background returned \[0\]; something hashable"),
        (lambda: pk.Model.independent([COIN] * 30, sum), "laws have 1073741824 databases; at most 4194304"),
        (lambda: pk.Model.independent([COIN] * 2, sum).loss(0, 2), "the record is 2 and background = None"),
        (lambda: pk.Model.independent([COIN] * 2, sum).answer_laws(7), r"background = 7; one of \[None\]"),
        (lambda: pk.PrivacyLoss({-1: 1}), "e.L = -1; a ratio of probabilities"),
        (lambda: pk.PrivacyLoss({1: 1, 2: "1/2"}), "law sums to 3/2; at most 1"),
        (lambda: pk.PrivacyLoss({1: 1}).delta(-1), "epsilon = -1; a number of at least 0"),
        (lambda: pk.DailyCounts([]), r"others = \[\]; a list of triples"),
        (lambda: pk.DailyCounts([(0.5, 0.5)]), r"others\[0\] = \(0.5, 0.5\); a triple"),
        (lambda: pk.DailyCounts([(0.5, 1, 0.5)]), r"others\[0\]\[1\] = 1; a probability above 0 and below 1"),
        (lambda: pk.DailyCounts([(0.5, 0.5, 0.5)] * 401).joint(), "at most 100 are enumerated"),
        (lambda: pk.differencing_attack(n=3000, p="1/2"), "n = 3000; at most 2000"),
        (lambda: pk.differencing_attack(n=3, p=1), "p = 1; a number above 0 and below 1"),
        (
            lambda: pk.nested_guarantee(n=9, noise=NOISE, known=0, delta=0),
            "either p or margin is required; neither is given",
        ),
        (
            lambda: pk.nested_guarantee(n=9, p="1/2", margin="0.1", noise=NOISE, known=0, delta=0),
            "either p or margin is required; p = '1/2' and margin = 0.1",
        ),
        (pk.chained_epsilon, "epsilons: numbers of at least 0 are required; none is given"),
        (lambda: pk.chained_epsilon(1, -1), "-1 is among them"),
        (lambda: pk.chained_epsilon(10**5, 10**5), "the least is 100000; at most 10000"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


def test_approximations_without_constants_are_not_turned_into_numbers():
    with pytest.raises(NotAvailableError, match=r'no explicit constants.*the certified replacement is method="sharp"'):
        pk.bernoulli_epsilon(n=10, margin="0.1", delta="0.1", method="normal")


def test_floats_are_divided_by_their_sum():
    tenths = {0: {(k, 0): 0.1 for k in range(10)}, 1: {(k, 0): 0.1 for k in range(10)}}
    assert pk.dependency(tenths, mu=0) == sp.Enclosure(0)


def test_a_list_of_laws_is_one_by_position():
    assert pk.dependency([FAIR[0], FAIR[1]], mu=0) == pk.dependency(FAIR, mu=0)


def test_objects_show_what_they_are():
    model = pk.Model.independent([COIN] * 3, sum, background=lambda d: d[2])
    assert repr(model) == "<Model: record 0 of 2 values, 2 backgrounds>"
    assert repr(model.apkdp()) == "<LossCurve: the largest of 4 privacy losses>"
    assert repr(model.loss(0, 1, background=1)) == "<PrivacyLoss: 2 values of e^L, infinite with probability 0.5>"
    assert model.loss(0, 1, background=1) == model.loss(0, 1, background=0)
    assert hash(model.loss(0, 1, background=1)) == hash(model.loss(0, 1, background=0))
    assert model.loss(0, 1, background=1) != "a loss"
    assert model.apkdp().worst(0) in model.apkdp().losses
    assert repr(pk.DailyCounts([(0.5, 0.4, 0.3)])) == "<DailyCounts: 1 users besides the critical one>"
    threshold = pk.threshold_guarantee(n=100, p="0.5", threshold=100, known=0)
    assert repr(threshold) == (
        "<ThresholdGuarantee, count of 100 above 100, p <= 0.5: epsilon = Enclosure(0.0, 0.0), "
        "delta = Enclosure(0.0, 0.0)>"
    )
    printed = pk.bernoulli_epsilon(n=101, margin="0.1", delta="0.9", method="printed")
    assert repr(printed) == (
        "<BernoulliGuarantee, printed: epsilon = Enclosure(2.6999999999999997, 2.7) at delta = 0.9, INVALID above 1>"
    )
    assert "first form" in pk.threshold_guarantee(n=100, p="0.01", threshold=10).explain()
    assert (
        "by both together ε ≤"
        in pk.nested_guarantee(n=10, p="1/2", noise=sp.noise.DiscreteLaplace(alpha="1/2"), known=0, delta=0).explain()
    )


def test_a_bernoulli_guarantee_shows_its_ends():
    found = pk.bernoulli_epsilon(n=100, margin="0.2", delta="0.01")
    assert (found.lower, found.upper, found.midpoint) == (
        found.epsilon.lower,
        found.epsilon.upper,
        found.epsilon.midpoint,
    )
    assert found.width == found.epsilon.width
    assert found < 10
    assert found <= found.upper
    assert found > 0
    assert found >= found.lower
    assert "INVALID" not in found.explain()
    assert math.isfinite(found.upper)
