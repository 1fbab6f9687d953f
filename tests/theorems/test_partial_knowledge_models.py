"""Active and passive partial knowledge of finite models, against the definitions, written down again by enumeration."""

import math
from fractions import Fraction
from itertools import permutations, product
from typing import ClassVar

import pytest

import statpriv as sp
from statpriv import partial_knowledge as pk

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
VOTES = [{0: HALF, 1: HALF}, {0: THIRD, 1: 1 - THIRD}, {0: Fraction(1, 5), 1: Fraction(4, 5)}, {0: HALF, 1: HALF}]


def probability(databases, weight, event):
    return sum((weight(d) for d in databases if event(d)), Fraction(0))


def by_definition(databases, weight, mechanism, background, *, x, attacker):
    """sup over b, or mean over b given t, of E max(0, 1 − x/e^L), pair by pair, with every sum written out."""
    worst = Fraction(0)
    values = sorted({d[0] for d in databases})
    for t, other in permutations(values, 2):
        mean = Fraction(0)
        for b in {background(d) for d in databases}:
            here = probability(databases, weight, lambda d, b=b, t=t: d[0] == t and background(d) == b)
            there = probability(databases, weight, lambda d, b=b, t=other: d[0] == t and background(d) == b)
            if not here or not there:
                continue
            delta = Fraction(0)
            for answer in {mechanism(d) for d in databases}:

                def gives(d, b=b, answer=answer):
                    return background(d) == b and mechanism(d) == answer

                p = probability(databases, weight, lambda d, t=t, gives=gives: d[0] == t and gives(d)) / here
                q = probability(databases, weight, lambda d, t=other, gives=gives: d[0] == t and gives(d)) / there
                delta += max(Fraction(0), p - x * q)
            if attacker == "active":
                worst = max(worst, delta)
            mean += here / probability(databases, weight, lambda d, t=t: d[0] == t) * delta
        if attacker == "passive":
            worst = max(worst, mean)
    return worst


def weight_of(laws):
    return lambda database: math.prod((law[v] for law, v in zip(laws, database, strict=True)), start=Fraction(1))


MECHANISMS = {
    "count": sum,
    "thresholded count": lambda d: sum(d) if sum(d) > 2 else None,
    "parity": lambda d: sum(d) % 2,
    "maximum": max,
}
BACKGROUNDS = {
    "nothing": lambda d: None,
    "the last record": lambda d: d[3],
    "two records": lambda d: d[2:],
    "the sum of two": lambda d: d[1] + d[2],
}


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("background", BACKGROUNDS)
@pytest.mark.parametrize("x", [Fraction(1), Fraction(5, 4), Fraction(3)], ids=str)
def test_both_attackers_are_those_of_the_definition(mechanism, background, x):
    asked, known = MECHANISMS[mechanism], BACKGROUNDS[background]
    model = pk.Model.independent(VOTES, asked, background=known)
    databases = list(product((0, 1), repeat=4))
    for attacker, curve in (("active", model.apkdp()), ("passive", model.ppkdp())):
        assert curve.exact_delta(x) == by_definition(databases, weight_of(VOTES), asked, known, x=x, attacker=attacker)
    assert model.ppkdp().exact_delta(x) <= model.apkdp().exact_delta(x)


@pytest.mark.parametrize("background", BACKGROUNDS)
def test_counts_are_reducible_if_records_are_known_and_both_attackers_are_equally_strong(background):
    model = pk.Model.independent(VOTES, sum, background=BACKGROUNDS[background])
    assert model.is_reducible() or background == "the sum of two"
    if model.is_reducible():
        for x in (1, "1.1", 2):
            assert model.apkdp().exact_delta(x) == model.ppkdp().exact_delta(x)


def test_a_thresholded_count_is_not_reducible_and_the_active_attacker_is_stronger():
    unanimous = pk.Model.independent(VOTES, lambda d: sum(d) if sum(d) > 3 else None, background=lambda d: d[3])
    found = unanimous.is_reducible()
    assert not found
    assert found.backgrounds == (0, 1)
    # Whoever knows a no learns nothing; whoever knows a yes learns with probability 2/3 · 4/5. It is a fair coin.
    assert unanimous.apkdp().exact_delta(1) == Fraction(8, 15)
    assert unanimous.ppkdp().exact_delta(1) == Fraction(4, 15)


def test_a_count_has_the_curve_of_the_library():
    model = pk.Model.independent([{0: "2/3", 1: "1/3"}] * 5, sum, background=lambda d: d[3:])
    curve = sp.privacy_curve(sp.PropertyQuery("1/3"), sp.Population(5), adversary=sp.Adversary(known=2))
    for x in (1, "11/10", 2, 5):
        assert model.apkdp().exact_delta(x) == curve.exact_delta(exp_epsilon=x)
    assert model.apkdp().delta("0.1") == curve.delta("0.1")


def test_any_record_can_be_asked_about():
    turned = pk.Model.independent(VOTES[1:] + VOTES[:1], lambda d: d[0] + 2 * d[3], background=lambda d: d[1], entry=3)
    straight = pk.Model.independent(VOTES, lambda d: d[1] + 2 * d[0], background=lambda d: d[2])
    for x in (1, "3/2"):
        assert turned.apkdp().exact_delta(x) == straight.apkdp().exact_delta(x)
        assert turned.ppkdp().exact_delta(x) == straight.ppkdp().exact_delta(x)


def test_correlated_records_and_a_background_that_excludes_a_record():
    # The second record copies the first with probability 3/4; whoever knows it exactly learns nothing from it again.
    joint = {(0, 0): "3/8", (1, 1): "3/8", (0, 1): "1/8", (1, 0): "1/8"}
    model = pk.Model(joint, lambda d: d[1])
    assert model.apkdp().exact_delta(1) == HALF
    assert pk.Model(joint, lambda d: d[1], background=lambda d: d[1]).apkdp().exact_delta(1) == 0
    revealed = pk.Model(joint, sum, background=lambda d: d)
    assert revealed.apkdp().losses == {}
    assert revealed.ppkdp().delta(0).upper == 0
    assert revealed.apkdp().epsilon("0.1").upper == 0


def test_a_randomised_mechanism_may_answer_with_a_law():
    def response(database):
        return {database[0]: Fraction(3, 4), 1 - database[0]: Fraction(1, 4)}

    curve = pk.Model.independent(VOTES[:2], response).apkdp()
    assert curve.exact_delta(1) == HALF
    assert curve.exact_delta(3) == 0
    assert curve.epsilon(0).lower <= math.log(3) <= curve.epsilon(0).upper


def test_a_user_who_did_not_participate_is_one_more_value():
    day = {"yes": "1/4", "no": "1/4", None: "1/2"}
    curve = pk.Model.independent([day] * 4, lambda d: d.count("yes")).apkdp()
    same = sp.privacy_curve(sp.PropertyQuery("1/4"), sp.Population(4))
    assert curve.exact_delta("3/2") == same.exact_delta(exp_epsilon="3/2")
    assert set(curve.losses) == {(t, other, None) for t, other in permutations(["yes", "no", None], 2)}


class TestPrivacyLoss:
    LAW: ClassVar = {0: Fraction(1, 8), 1: Fraction(1, 2), 2: Fraction(3, 8)}
    OTHER: ClassVar = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    LOSS = pk.PrivacyLoss.between(LAW, OTHER)

    def test_the_law_is_that_of_the_ratio(self):
        assert self.LOSS.law == {
            Fraction(1, 4): Fraction(1, 8),
            Fraction(1): Fraction(1, 2),
            math.inf: Fraction(3, 8),
        }
        assert self.LOSS.mass_at_infinity == Fraction(3, 8)

    @pytest.mark.parametrize("x", [Fraction(1, 8), Fraction(1), Fraction(3, 2), Fraction(100)], ids=str)
    def test_delta_is_the_hockey_stick(self, x):
        assert self.LOSS.exact_delta(x) == sp.hockey_stick(self.LAW, self.OTHER, exp_epsilon=x)

    def test_what_exceeds_bounds_delta_and_jumps(self):
        loss = pk.PrivacyLoss.between({0: "1/4", 1: "3/4"}, {0: "3/4", 1: "1/4"})
        at_three = math.log(3)
        assert loss.exceeds(0) == sp.Enclosure(0.75)
        assert loss.exceeds(math.nextafter(at_three, 0) - 1e-15) == sp.Enclosure(0.75)
        assert loss.exceeds(at_three + 1e-15) == sp.Enclosure(0)
        assert all(loss.delta(e).upper <= loss.exceeds(e).upper for e in (0, 0.3, 1, 2))

    def test_epsilon_inverts_delta(self):
        loss = pk.PrivacyLoss.between({0: "1/4", 1: "3/4"}, {0: "3/4", 1: "1/4"})
        found = loss.epsilon("0.1")  # 3/4 − x/4 = 1/10
        assert found.lower <= math.log(2.6) <= found.upper
        assert found.width < 1e-15
        assert self.LOSS.epsilon("0.3").lower == math.inf
        assert self.LOSS.epsilon("3/8") == sp.Enclosure(0)

    @pytest.mark.parametrize("epsilon", [1e300, 10**6, "1e-300"])
    def test_extreme_epsilons(self, epsilon):
        assert self.LOSS.delta(epsilon).lower <= self.LOSS.delta(0).upper
        assert self.LOSS.delta(epsilon).upper >= 0.375

    @pytest.mark.parametrize("order", ["3/2", 2, 5])
    def test_renyi_is_the_moment_of_the_loss(self, order):
        first, second = {0: "1/5", 1: "4/5"}, {0: "3/5", 1: "2/5"}
        a = float(Fraction(order))
        truth = math.log(0.2**a * 0.6 ** (1 - a) + 0.8**a * 0.4 ** (1 - a)) / (a - 1)
        found = pk.PrivacyLoss.between(first, second).renyi(order)
        assert found.midpoint == pytest.approx(truth, rel=1e-13)
        assert found.width < 1e-15
        assert self.LOSS.renyi(order).lower == math.inf
        # Two independent releases have twice the divergence.
        both = pk.PrivacyLoss.between(first, second).independent_sum(pk.PrivacyLoss.between(first, second))
        assert both.renyi(order).midpoint == pytest.approx(2 * truth, rel=1e-13)

    def test_independent_losses_add_up_to_that_of_both_releases(self):
        first = ({0: Fraction(1, 5), 1: Fraction(4, 5)}, {0: Fraction(3, 5), 1: Fraction(2, 5)})
        second = (self.LAW, self.OTHER)
        both = [{(a, b): p * q for (a, p), (b, q) in product(first[k].items(), second[k].items())} for k in (0, 1)]
        together = pk.PrivacyLoss.between(*first).independent_sum(pk.PrivacyLoss.between(*second))
        assert together == pk.PrivacyLoss.between(*both)
