"""The sampling privacy curve of a sample without replacement from groups with laws of their own, at useful sizes."""

from math import exp

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

import statpriv as sp

SIZES = {"a": 600, "b": 400}
LAWS = {"a": 0.2, "b": 0.667}
EPSILON = 0.1


def hockey_stick_of_shifted(law):
    """The larger of both directions of the hockey stick of 1 + S against S."""
    present, absent, ratio = np.append(0, law), np.append(law, 0), exp(EPSILON)
    return max(np.maximum(present - ratio * absent, 0).sum(), np.maximum(absent - ratio * present, 0).sum())


def sampling_privacy_curve(size):
    """Definition 3.3: the mean over how many sampled others are of group a, for the worst group of the critical row."""
    worst = 0.0
    for critical in SIZES:
        others = {name: number - (name == critical) for name, number in SIZES.items()}
        mean = 0.0
        for drawn in range(size):
            chance = hypergeom.pmf(drawn, sum(others.values()), others["a"], size - 1)
            counts = [binom.pmf(range(k + 1), k, LAWS[name]) for name, k in (("a", drawn), ("b", size - 1 - drawn))]
            mean += chance * hockey_stick_of_shifted(np.convolve(*counts))
        worst = max(worst, mean)
    return worst


@pytest.mark.parametrize("size", [55, 125])
def test_the_compositions_of_a_sample_of_two_groups_are_averaged_over(size):
    query = sp.PropertyQuery({name: str(p) for name, p in LAWS.items()})
    sampling = sp.WithoutReplacement(size)
    curve = sp.privacy_curve(query, sp.Population(groups=SIZES), sampling=sampling, bound="spc")
    found = curve.delta(str(EPSILON))
    assert found.midpoint == pytest.approx(sampling_privacy_curve(size), rel=1e-9)
    assert found.width <= 1e-12


def test_a_sample_of_125_has_the_published_curve():
    query = sp.PropertyQuery({"a": "0.2", "b": "0.667"})
    sampling = sp.WithoutReplacement(125)
    curve = sp.privacy_curve(query, sp.Population(groups=SIZES), sampling=sampling, bound="spc")
    assert f"{curve.delta('0.1').upper:.4f}" == "0.0451"
