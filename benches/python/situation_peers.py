"""What a user would write in numpy and scipy for samples, histograms, sums and entries that differ."""

from __future__ import annotations

import numpy as np
from benches.python.peers import scipy_delta
from scipy.stats import binom, hypergeom

SPREAD = 12
"""Standard deviations of a law that are summed over."""


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


def _window(mean: float, deviation: float, most: int) -> tuple[int, int]:
    return max(0, int(mean - SPREAD * deviation)), min(most, int(mean + SPREAD * deviation) + 1) + 1
