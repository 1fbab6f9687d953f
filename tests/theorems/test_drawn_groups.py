"""The sampling privacy curve of samples from groups at useful sizes: certified, narrow, and with little work."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

import statpriv as sp


def of_sample(groups, p, size, **options):
    query, population = sp.PropertyQuery(p), sp.Population(groups=groups)
    sampling = sp.WithoutReplacement(size)
    return sp.privacy_curve(query, population, sampling=sampling, bound="spc", **options)


def larger(law, ratio):
    present, absent = np.append(0, law), np.append(law, 0)
    return max(np.maximum(present - ratio * absent, 0).sum(), np.maximum(absent - ratio * present, 0).sum())


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5])
def test_two_thousand_of_two_groups(epsilon):
    """By numpy, in doubles, at every fifth standard deviation's step of the number from the first group."""
    sizes, p, size = {"a": 6000, "b": 9000}, {"a": 0.25, "b": 0.5}, 400
    found = of_sample(sizes, p, size).delta(epsilon)
    truth = 0.0
    for critical in sizes:
        others = {name: number - (name == critical) for name, number in sizes.items()}
        chances = hypergeom.pmf(range(size), sum(others.values()), others["a"], size - 1)
        mean = 0.0
        for drawn, chance in enumerate(chances):
            if chance > 1e-18:
                rest = size - 1 - drawn
                law = np.convolve(binom.pmf(range(drawn + 1), drawn, 0.25), binom.pmf(range(rest + 1), rest, 0.5))
                mean += chance * larger(law, np.exp(epsilon))
        truth = max(truth, mean)
    assert found.midpoint == pytest.approx(truth, rel=1e-9)
    assert found.width <= 1e-10 * truth


def test_three_groups_and_known_rows_contain_the_exact_value():
    """Exact rationals of a small sample, compared with what doubles enclose."""
    sizes, p = {"a": 9, "b": 7, "c": 8}, {"a": "1/5", "b": "1/2", "c": "9/10"}
    for known in (0, {"b": 3}):
        curve = of_sample(sizes, p, 9, adversary=sp.Adversary(known=known))
        exact = curve.exact_delta(exp_epsilon=1)
        found = curve.delta(0)
        assert found.lower <= exact <= found.upper
        assert found.width <= 1e-10
        assert curve.delta(0, digits=30).width < Fraction(1, 10**28)


def test_groups_with_one_p_are_one_group():
    """Then the curve is that of one binomial law, whatever is drawn of each group."""
    apart = of_sample({"a": 300, "b": 500}, {"a": "0.3", "b": "0.3"}, 120).delta("0.1")
    together = sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(120)).delta("0.1")
    assert apart == together
    close = of_sample({"a": 300, "b": 500}, {"a": "0.3", "b": "0.300000001"}, 120).delta("0.1")
    assert close.midpoint == pytest.approx(together.midpoint, rel=1e-6)


def test_ten_thousand_of_two_groups_take_as_many_products_as_their_deviation_allows():
    """Time is that of the compositions that matter: some 18 standard deviations, and not all ten thousand."""
    curve = of_sample({"a": 60_000, "b": 40_000}, {"a": "0.2", "b": "0.667"}, 10_000)
    found = curve.delta("0.1")
    assert found.width <= 1e-8 * found.upper
    whole = sp.privacy_curve(sp.PropertyQuery("0.667"), sp.Population(10_000)).delta("0.1").upper
    fewest = sp.privacy_curve(sp.PropertyQuery("0.2"), sp.Population(10_000)).delta("0.1").upper
    assert min(whole, fewest) <= found.lower
    assert found.upper <= max(whole, fewest)


def test_what_takes_too_long_is_refused_and_other_bounds_named():
    groups = {str(k): 1000 for k in range(12)}
    p = {name: Fraction(k + 1, 13) for k, name in enumerate(groups)}
    with pytest.raises(sp.NotAvailableError, match="ways that matter, which take too long"):
        of_sample(groups, p, 6000)


def test_the_limit_is_the_chance_that_all_others_are_alike():
    """One group of three and one of two, two others drawn: all zero or all one, the larger, by composition."""
    curve = of_sample({"a": 3, "b": 3}, {"a": "1/4", "b": "2/3"}, 3, pair=(1, 0))
    alike = {"a": Fraction(1, 4), "b": Fraction(2, 3)}
    largest = max(
        sum(
            Fraction(comb(own, i) * comb(other, 2 - i), comb(own + other, 2))
            * alike[name] ** i
            * alike[rest] ** (2 - i)
            for i in range(3)
        )
        for name, rest, own, other in (("a", "b", 2, 3), ("b", "a", 2, 3))
    )
    mass = curve.infinity_mass()
    assert mass.lower <= largest <= mass.upper
    assert mass.width < 1e-14
