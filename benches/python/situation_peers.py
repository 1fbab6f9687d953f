"""Samples, histograms, sums, entries with different p and compositions, as a user would write them in numpy and scipy.

Where a peer needs the two laws of an answer, one function gives them. numpy sums their hockey stick, and dp_accounting
gets the same laws.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from benches.python.peers import dp_accounting_delta, scipy_delta
from scipy.signal import fftconvolve
from scipy.stats import binom, hypergeom, poisson_binom

SPREAD = 12
"""Half-width of the summed range of a law, in standard deviations."""
JOINT_SPREAD = 8
"""The same for joint answers. It is smaller because they are numerous."""
GRID = 1 << 16
"""Points of the grid on which the laws of a composition are convolved."""
DRAWS = 10**6

Laws = tuple[np.ndarray, np.ndarray]
"""Probabilities of the same answers under two values of the critical entry."""


def hockey_stick(laws: Laws, epsilon: float) -> float:
    """The sum of the positive parts of the first law minus e^ε times the second."""
    first, second = laws
    return float(np.sum(np.maximum(0, first - np.exp(epsilon) * second)))


def discretised(laws: Laws, epsilon: float) -> float:
    """The hockey stick by dp_accounting, on its default grid."""
    with np.errstate(divide="ignore"):
        first, second = map(np.log, laws)
    return float(dp_accounting_delta(first, second, epsilon, 1e-4))


def known_in_sample(n: int, known: int, size: int, p: float, epsilon: float) -> float:
    """Definition 3.3: the mean of δ over the number of known entries in the sample."""
    law = hypergeom(n - 1, known, size - 1)
    z = np.arange(*_window(law.mean(), law.std(), min(known, size - 1)))
    return float(np.sum(law.pmf(z) * np.maximum(0, scipy_delta(size - z, p, epsilon))))


def known_in_sample_laws(n: int, known: int, size: int, p: float) -> Laws:
    """Laws of the number of known entries in the sample, jointly with the count of the other entries."""
    law = hypergeom(n - 1, known, size - 1)
    z = np.arange(*_window(law.mean(), law.std(), min(known, size - 1), JOINT_SPREAD))[:, None]
    return _joint(law.pmf(z), size - z - 1, p)


def _joint(weights: np.ndarray, others: np.ndarray, p: float) -> Laws:
    """Joint laws of a number with probabilities `weights` and the count of `others` entries plus the critical one."""
    mean, deviation = np.mean(others) * p, np.sqrt(np.mean(others) * p * (1 - p)) + np.ptp(others) * p / JOINT_SPREAD
    a = np.arange(*_window(mean, deviation, int(others.max()) + 1, JOINT_SPREAD))
    return (weights * binom.pmf(a - 1, others, p)).ravel(), (weights * binom.pmf(a, others, p)).ravel()


def with_replacement_laws(n: int, size: int, p: float) -> Laws:
    """Laws of the count of draws with replacement, summed over the number of other marked entries."""
    a = np.arange(size + 1)
    laws = np.zeros((2, size + 1))
    deviation = np.sqrt((n - 1) * p * (1 - p))
    for marked in range(*_window((n - 1) * p, deviation, n - 1)):
        weight = binom.pmf(marked, n - 1, p)
        for value in (0, 1):
            laws[value] += weight * binom.pmf(a, size, (marked + value) / n)
    return laws[1], laws[0]


def histogram(n: int, cells: list[float], epsilon: float) -> float:
    """δ for the two rarest cells: the mean over the number of entries in either of them."""
    rarest = sorted(cells)[:2]
    both = sum(rarest)
    law = binom(n - 1, both)
    others = np.arange(*_window(law.mean(), law.std(), n - 1))
    return max(
        float(np.sum(law.pmf(others) * np.maximum(0, scipy_delta(others + 1, share / both, epsilon))))
        for share in rarest
    )


def histogram_laws(n: int, cells: list[float]) -> Laws:
    """Joint laws of the number of entries in the two rarest cells, with the critical one, and of those in the rarer."""
    one, other = sorted(cells)[:2]
    law = binom(n - 1, one + other)
    others = np.arange(*_window(law.mean(), law.std(), n - 1, JOINT_SPREAD))[:, None]
    return _joint(law.pmf(others), others, one / (one + other))


def sum_laws(n: int, pmf: list[float]) -> Laws:
    """Laws of a sum for the largest difference of two values, from an (n−1)-fold convolution by FFT."""
    length = (n - 1) * (len(pmf) - 1) + 1
    size = 1 << (length + len(pmf)).bit_length()
    law = np.maximum(0, np.fft.irfft(np.fft.rfft(pmf, size) ** (n - 1), size))[:length]
    gap = len(pmf) - 1
    return np.pad(law, (gap, 0)), np.pad(law, (0, gap))


def mixed_laws(shares: list[float], critical: int) -> Laws:
    """Laws of a count of entries, each with its own p, one of them critical."""
    others = np.delete(shares, critical)
    law = poisson_binom(others).pmf(np.arange(-1, len(shares) + 1))
    return law[:-1], law[1:]


def each_in_range(n: int, lower: float, upper: float, epsilon: float, gap: int = 1) -> float:
    """The worst of every number k of the others at the upper end, two binomial laws convolved for each."""
    worst, apart = 0.0, np.zeros(gap)
    for k in range(n):
        others = np.convolve(binom.pmf(np.arange(k + 1), k, upper), binom.pmf(np.arange(n - k), n - 1 - k, lower))
        worst = max(worst, hockey_stick((np.append(apart, others), np.append(others, apart)), epsilon))
    return worst


def drawn_groups(sizes: tuple[int, int], shares: tuple[float, float], size: int, epsilon: float) -> float:
    """Definition 3.3 for a sample of two groups: two binomial laws convolved for each number from the first group."""
    worst = 0.0
    for critical in (0, 1):
        first, second = (number - (index == critical) for index, number in enumerate(sizes))
        mean = 0.0
        for drawn in range(max(0, size - 1 - second), min(first, size - 1) + 1):
            chance = hypergeom.pmf(drawn, first + second, first, size - 1)
            rest = size - 1 - drawn
            law = np.convolve(
                binom.pmf(np.arange(drawn + 1), drawn, shares[0]), binom.pmf(np.arange(rest + 1), rest, shares[1])
            )
            mean += chance * hockey_stick((np.append(0.0, law), np.append(law, 0.0)), epsilon)
        worst = max(worst, mean)
    return worst


def grouped_laws(sizes: Mapping[str, int], shares: Mapping[str, float], critical: str) -> Laws:
    """Laws of a count over groups of entries, each group with its own p. The critical entry is in group `critical`."""
    law = np.ones(1)
    for group, size in sizes.items():
        others = size - (group == critical)
        law = fftconvolve(law, binom.pmf(np.arange(others + 1), others, shares[group]))
    law = np.maximum(0, law)
    return np.append(0, law), np.append(law, 0)


Pattern = list[tuple[int, float, bool]]
"""For each part its size, the probability of its property, and whether the values are 1 against 0 or 0 against 1."""


def composed_on_a_grid(n: int, pattern: Pattern, epsilon: float) -> float:
    """δ as the stop-loss of a sum of binomials, each rounded to a grid, by a fast Fourier transform."""
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
    """δ as the mean positive part of `DRAWS` random sums of binomials."""
    rng = np.random.default_rng(1)
    constant, terms = _terms(n, pattern, epsilon)
    total = np.full(DRAWS, constant)
    for slope, start, size, p in terms:
        total += start + slope * rng.binomial(size, p, DRAWS)
    return float(np.mean(np.maximum(0, total)))


def _terms(n: int, pattern: Pattern, epsilon: float) -> tuple[float, list[tuple[float, float, int, float]]]:
    """The exact form: the constant ``w_0 (1 − r)``, and for each part the term ``slope · a + start`` of a count a."""
    ratio = np.exp(epsilon)
    terms = []
    for size, p, upwards in pattern:
        one, zero = 1 / (n * p), 1 / (n * (1 - p))
        slope, start = (one + ratio * zero, -ratio * size * zero) if upwards else (-zero - ratio * one, size * zero)
        terms.append((slope, start, size, p))
    return (1 - sum(size for size, _, _ in pattern) / n) * (1 - ratio), terms


def _window(mean: float, deviation: float, most: int, spread: float = SPREAD) -> tuple[int, int]:
    return max(0, int(mean - spread * deviation)), min(most, int(mean + spread * deviation) + 1) + 1
