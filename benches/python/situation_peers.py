"""What a user would write in numpy and scipy for samples, histograms, sums, entries that differ and compositions."""

from __future__ import annotations

import numpy as np
from benches.python.peers import scipy_delta
from scipy.stats import binom, hypergeom

SPREAD = 12
"""Standard deviations of a law that are summed over."""
GRID = 1 << 16
"""Points of the grid on which the laws of a composition are convolved."""
DRAWS = 10**6


def known_in_sample(n: int, known: int, size: int, p: float, epsilon: float) -> float:
    """Definition 3.3: the mean of δ over the number of known entries in the sample."""
    law = hypergeom(n - 1, known, size - 1)
    z = np.arange(*_window(law.mean(), law.std(), min(known, size - 1)))
    return float(np.sum(law.pmf(z) * np.maximum(0, scipy_delta(size - z, p, epsilon))))


def with_replacement(n: int, size: int, p: float, epsilon: float) -> float:
    """The law of a count of draws with replacement, row by row."""
    a = np.arange(size + 1)
    laws = np.zeros((2, size + 1))
    deviation = np.sqrt((n - 1) * p * (1 - p))
    for marked in range(*_window((n - 1) * p, deviation, n - 1)):
        weight = binom.pmf(marked, n - 1, p)
        for value in (0, 1):
            laws[value] += weight * binom.pmf(a, size, (marked + value) / n)
    return float(np.sum(np.maximum(0, laws[1] - np.exp(epsilon) * laws[0])))


def histogram(n: int, cells: list[float], epsilon: float) -> float:
    """The two rarest cells: the mean of δ over how many entries are in either."""
    rarest = sorted(cells)[:2]
    both = sum(rarest)
    law = binom(n - 1, both)
    others = np.arange(*_window(law.mean(), law.std(), n - 1))
    return max(
        float(np.sum(law.pmf(others) * np.maximum(0, scipy_delta(others + 1, share / both, epsilon))))
        for share in rarest
    )


def sum_of_values(n: int, pmf: list[float], epsilon: float) -> float:
    """The (n−1)-fold convolution by a fast Fourier transform; the largest difference of two values."""
    length = (n - 1) * (len(pmf) - 1) + 1
    size = 1 << (length + len(pmf)).bit_length()
    law = np.maximum(0, np.fft.irfft(np.fft.rfft(pmf, size) ** (n - 1), size))[:length]
    gap = len(pmf) - 1
    first, second = np.pad(law, (gap, 0)), np.pad(law, (0, gap))
    return float(np.sum(np.maximum(0, first - np.exp(epsilon) * second)))


Pattern = list[tuple[int, float, bool]]
"""The size of each part, the probability asked for there, and whether the values are 1 against 0 or 0 against 1."""


def composed_on_a_grid(n: int, pattern: Pattern, epsilon: float) -> float:
    """The stop-loss of a sum of binomials, each rounded to a grid, by a fast Fourier transform."""
    constant, terms = _terms(n, pattern, epsilon)
    deviation = np.sqrt(sum(slope**2 * size * p * (1 - p) for slope, _, size, p in terms))
    step = 2 * SPREAD * deviation / GRID
    mean = constant + sum(start + slope * size * p for slope, start, size, p in terms)
    transform = np.ones(GRID // 2 + 1, dtype=complex)
    for slope, _, size, p in terms:
        a = np.arange(size + 1)
        places = np.rint(slope * (a - size * p) / step).astype(int) % GRID
        transform *= np.fft.rfft(np.bincount(places, weights=binom.pmf(a, size, p), minlength=GRID))
    places = np.fft.fftfreq(GRID, 1 / GRID)
    return float(np.fft.irfft(transform, GRID) @ np.maximum(0, mean + step * places))


def composed_by_drawing(n: int, pattern: Pattern, epsilon: float) -> float:
    """The mean of the positive part of as many sums of binomials."""
    rng = np.random.default_rng(1)
    constant, terms = _terms(n, pattern, epsilon)
    total = np.full(DRAWS, constant)
    for slope, start, size, p in terms:
        total += start + slope * rng.binomial(size, p, DRAWS)
    return float(np.mean(np.maximum(0, total)))


def _terms(n: int, pattern: Pattern, epsilon: float) -> tuple[float, list[tuple[float, float, int, float]]]:
    """Of the exact form: w_0 (1 − r), and for each part what a count a adds, slope · a + start."""
    ratio = np.exp(epsilon)
    terms = []
    for size, p, upwards in pattern:
        one, zero = 1 / (n * p), 1 / (n * (1 - p))
        slope, start = (one + ratio * zero, -ratio * size * zero) if upwards else (-zero - ratio * one, size * zero)
        terms.append((slope, start, size, p))
    return (1 - sum(size for size, _, _ in pattern) / n) * (1 - ratio), terms


def _window(mean: float, deviation: float, most: int) -> tuple[int, int]:
    return max(0, int(mean - SPREAD * deviation)), min(most, int(mean + SPREAD * deviation) + 1) + 1
