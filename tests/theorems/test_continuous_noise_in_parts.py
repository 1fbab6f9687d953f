"""Continuous noise in parts of a secret partition, against numerical integration of the densities.

The integrals know nothing of the library: the law of all answers is written down as the mixture that it is, over the
part that holds the critical entry, and integrated by the midpoint rule, the kinks of the densities on the grid.
"""

from itertools import product
from math import comb

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp

from ..cases import cases

STEP = 1 / 512
REACH = 30
"""Of the grid beyond the data, in numbers of the noise's scale 1."""


def binomial(size, p):
    return [comb(size, k) * p**k * (1 - p) ** (size - k) for k in range(size + 1)]


def density(masses, shift, noise, y):
    return sum(mass * noise(y - k - shift) for k, mass in enumerate(masses))


def laplace(x):
    return np.exp(-np.abs(x)) / 2


def gaussian(x):
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


NOISES = {sp.noise.Laplace(scale=1): laplace, sp.noise.Gaussian(sigma=1): gaussian}


def integral(n, parts, noise, ratio, pattern):
    """``E[(w_0 (1−r) + X_1 + X_2)_+]`` of two parts ``(size, p)``; `pattern` says which value comes first in each."""
    values, masses = [], []
    for (size, p), ones_first in zip(parts, pattern, strict=True):
        y = np.arange(-REACH, size + REACH, STEP) + STEP / 2
        others = binomial(size - 1, p)
        one, zero = density(others, 1, noise, y), density(others, 0, noise, y)
        reference = density(binomial(size, p), 0, noise, y)
        first, second = (one, zero) if ones_first else (zero, one)
        values.append(size / n * (first - ratio * second) / reference)
        masses.append(reference * STEP)
    order = np.argsort(values[1])
    last, mass = values[1][order], masses[1][order]
    # Sums over what is larger, so that E[(X_2 − t)_+] is one subtraction.
    tail = np.concatenate([np.cumsum(mass[::-1])[::-1], [0]])
    moment = np.concatenate([np.cumsum((mass * last)[::-1])[::-1], [0]])
    unused = 1 - sum(size for size, _ in parts) / n
    at = -(unused * (1 - ratio) + values[0])
    place = np.searchsorted(last, at)
    return float(np.sum(masses[0] * (moment[place] - at * tail[place])))


def composed(n, parts, noise, **options):
    queries = [sp.PropertyQuery(str(p)).noisy(noise) for _, p in parts]
    return sp.compose(queries, sp.Population(n), sp.RandomPartition([size for size, _ in parts]), **options)


@settings(max_examples=cases(1, campaign=40), deadline=None)
@given(
    sizes=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    more=st.integers(0, 3),
    p=st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.75]), st.sampled_from([0.2, 0.5, 0.9])),
    noise=st.sampled_from(list(NOISES)),
    epsilon=st.sampled_from([0.0, 0.05, 0.25]),
)
def test_the_worst_pattern_is_enclosed_narrowly(sizes, more, p, noise, epsilon):
    parts = list(zip(sizes, p, strict=True))
    n = sum(sizes) + more
    curve = composed(n, parts, noise)
    found = curve.delta(epsilon)
    patterns = product((True, False), repeat=2)
    truth = max(integral(n, parts, NOISES[noise], np.exp(epsilon), pattern) for pattern in patterns)
    assert curve.kind == "enclosed"
    assert found.lower - 1e-6 * truth - 1e-12 <= truth <= found.upper + 1e-6 * truth + 1e-12
    assert found.upper - found.lower <= 1e-3 * truth + 1e-9
