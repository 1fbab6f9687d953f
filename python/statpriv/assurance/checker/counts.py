"""δ of one count and of a sum of counts, with integers and fractions alone.

n independent entries have a property with probability p each. Exact counts are released on secret random disjoint
parts. The count of a part with a `gate` is released only if it lies within the gate; otherwise that fact is. To someone
who knows `known` other entries the answers are (ε, δ)-private: they satisfy P_v(S) ≤ e^ε P_w(S) + δ for every set S of
answers, whichever values v, w one entry has and whatever p is in its range. Δ denotes the least such δ. Functions of
the answers, such as rounded or suppressed ones, are as private, since S may be the preimage of any set of outputs.
The statements used, with r = e^ε:

1.  Every Δ below falls with r, by at most as much as r rises, since P_w(S) ≤ 1. So with rationals r1 ≤ e^ε ≤ r2 it
    is at most its value at r1, and at least that minus r2 − r1. All further statements are about a rational r.
2.  *One count* of s entries, each present with probability w (one draw for all; w = 1: all of them are counted).
    With B ~ Bin(s−1, p), q = 1−p, P_1 is the law (1−w) Bin(s, p) + w (1+B) and P_0 is (1−w) Bin(s, p) + w B.
    (P_1(a) − r P_0(a))/P[Bin(s, p) = a] = (1−w)(1−r) + w a/(sp) − r w (s−a)/(sq) grows with a, and is at least 0 from
    κ = s p (w r + q (1−w)(r−1))/(w (q + r p)) on. So with a = ⌈κ⌉ and P[Bin(s,p) ≥ a] = P[B ≥ a] + p P[B = a−1]

        Δ_{1,0} = Σ_{k≥a} (P_1(k) − r P_0(k)) = (w − (1−w)(r−1) p) P[B = a−1] − (r−1) P[B ≥ a].

    Zeros and ones exchanged: Δ_{0,1} at p is Δ_{1,0} at 1−p.
3.  *p in a range* (w = 1, N = s−1): the supremum is attained at an end or at the outermost peaks in the range,
    p_j = j/(j + (N−j) r) with j = ⌈N r lo/(1−lo + r lo)⌉ or ⌊N r hi/(1−hi + r hi)⌋. (docs/explanation/ranges.md)
    *Published from A1 to A2 only*: for every p in [0, 1] Δ_{1,0} ≤ max(h_{A1−1}, h_{A2}), h_j being Δ_{1,0} at p_j for
    0 < j < N and else 1. If z of the s entries are known, N is s−1−z, and A1−1−z takes the place of A1−1. (the same)
4.  *total-count*: all parts ask one property. The answers are a random function of the total, to which the u known
    entries add a constant: Δ ≤ that of one count of n−u entries; equal if all entries are counted.
5.  *hidden-sample*: one property, one p, nobody known: 2. with s the entries counted and w = s/n, exactly.
6.  *partition-sum* (Breutigam and Reischuk, Theorems 5.1 and 5.2): Δ ≤ Σ_k (n_k/n) E[Δ of n_k − Z entries], Z the
    known ones among the other n_k − 1 entries of part k, hypergeometric.
7.  *Probabilities* are relative to that of the mode: their ratios u_{k+1}/u_k are rational and fall with k, and they
    sum to one. Terms are integers, rounded down for the lower bound and up for the upper bound. The terms omitted
    after a term u, with next ratio x < 1, sum to at most u x/(1−x). If u starts as an exact integer, no division
    rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, comb, floor, isqrt
from typing import TYPE_CHECKING, ClassVar, TypeAlias

if TYPE_CHECKING:
    from .histograms import Histogram
    from .tables import Table

Interval: TypeAlias = "tuple[Fraction, Fraction]"
ZERO, ONE = Fraction(0), Fraction(1)
MOST_TERMS, MOST_BITS, MOST_COSTS = 2**20, 2**13, 2**21
_MOST_EXACT_BITS, _MOST_COUNTS = 2**34, 2**19


class CertificateError(ValueError):
    """The file is not a certificate, or contradicts itself."""


class TooLargeError(CertificateError):
    """Checking would take too long."""


def exponential(x: Fraction, bits: int) -> Interval:
    """Bounds of e^x for x ≥ 0: the series at y = x/2^h ≤ 1/2, squared h times."""
    halvings = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 2)
    up, down, one = x.numerator, x.denominator << halvings, 1 << bits
    low, high = one, 2 * one  # of 1 + y/(k+1) + y²/((k+1)(k+2)) + …, which is 1 + y/(k+1) times the same of k+1
    for k in range(bits // 4 + 16, 0, -1):
        low, high = one + low * up // (down * k), one - (-high * up) // (down * k)
    for _ in range(halvings):
        low, high = low * low >> bits, -(-high * high >> bits)
    return Fraction(low, one), Fraction(high, one)


# --- probabilities (7); exact if `bits` is None ---------------------------------------------------


@dataclass(frozen=True)
class Law:
    """Bounds of the significant terms, and of the sums of the terms omitted below and above them."""

    terms: dict[int, tuple[int, int]]
    below: int
    above: int

    def mass(self, first: int, last: int) -> tuple[int, int]:
        """Bounds of the sum of the terms from `first` to `last`."""
        least, most = min(self.terms), max(self.terms)
        inside = [self.terms[k] for k in range(max(first, least), min(last, most) + 1)]
        left_out = self.below * (first < least) + self.above * (last > most)
        return sum(low for low, _ in inside), sum(high for _, high in inside) + left_out


def _law(mode: int, ratio: Callable[[int], tuple[int, int]], start: int) -> Law:
    """The law with u_mode = start and the ratios u_{k+1}/u_k."""
    terms, left_out = {mode: (start, start)}, []
    for step in (-1, 1):
        k, (low, high) = mode, terms[mode]
        while True:
            times, over = ratio(k) if step == 1 else ratio(k - 1)[::-1]
            if high * times == 0 or (low == 0 and times < over):
                left_out.append(-(-high * times // (over - times)) if high * times else 0)
                break
            if len(terms) == MOST_TERMS:
                raise TooLargeError(f"a law has more than {MOST_TERMS} terms that matter")
            k, low, high = k + step, low * times // over, -(-high * times // over)
            terms[k] = low, high
    return Law(terms, *left_out)


def binomial(size: int, p: Fraction, bits: int | None) -> Law:
    """The law of the number of `size` independent entries that have a property of probability p."""
    up, down, mode = p.numerator, (1 - p).numerator, floor((size + 1) * p)
    if bits is None and size**2 * p.denominator.bit_length() > _MOST_EXACT_BITS:
        raise TooLargeError("the exact fraction would be too long")
    start = comb(size, mode) * up**mode * down ** (size - mode) if bits is None else 1 << bits
    return _law(mode, lambda k: ((size - k) * up, (k + 1) * down), start)


def poisson(mean: Fraction, bits: int) -> Law:
    """The law of the number of events of which `mean` are expected."""
    return _law(floor(mean), lambda k: (mean.numerator, (k + 1) * mean.denominator), 1 << bits)


def _hypergeometric(drawn: int, marked: int, others: int, bits: int | None) -> Law:
    """The law of the number of marked items among the drawn ones."""
    mode = (drawn + 1) * (marked + 1) // (marked + others + 2)
    if bits is None and drawn >= MOST_BITS:
        raise TooLargeError("the exact fraction would be too long")
    start = comb(marked, mode) * comb(others, drawn - mode) if bits is None else 1 << bits
    return _law(mode, lambda k: ((marked - k) * (drawn - k), (k + 1) * (others - drawn + k + 1)), start)


# --- one count (2, 3), at a rational r -----------------------------------------------------------


def largest(values: list[Interval]) -> Interval:
    """Bounds of the largest of several numbers."""
    return max(low for low, _ in values), max(high for _, high in values)


def one_direction(size: int, p: Fraction, w: Fraction, r: Fraction, bits: int | None) -> Interval:
    """Bounds of Δ_{1,0} of one count of `size` entries."""
    q, others = 1 - p, size - 1
    a = ceil(size * p * (w * r + q * (1 - w) * (r - 1)) / (w * (q + r * p)))
    gain = w - (1 - w) * (r - 1) * p
    if a > size or gain <= 0:
        return ZERO, ZERO
    law = binomial(others, p, bits)
    total, at, tail = law.mass(0, others), law.mass(a - 1, a - 1), law.mass(a, others)
    lower = gain * Fraction(at[0], total[1]) - (r - 1) * Fraction(tail[1], total[0])
    upper = gain * Fraction(at[1], total[0]) - (r - 1) * Fraction(tail[0], total[1])
    return max(ZERO, lower), min(ONE, max(ZERO, upper))


# --- the situation; one method per theorem: Δ or a bound on it at a rational r (4-6) --------------


@dataclass(frozen=True)
class Part:
    """`count` parts of `size` entries, each asked about a property with low ≤ p ≤ high."""

    low: Fraction
    high: Fraction
    size: int
    count: int
    attribute: str | None
    gate: tuple[int, int] | None
    depth: ClassVar[int] = 1
    knows_shares: ClassVar[bool] = True
    """Whether known entries of the part are covered, however many of them there are."""

    @property
    def law(self) -> Interval:
        """The stated range of p."""
        return self.low, self.high

    @property
    def is_point(self) -> bool:
        """Whether the range is a single law."""
        return self.low == self.high

    def cost(self, known: int) -> int:
        """Approximate number of terms computed, in units of about sixteen, plus a constant for the part itself."""
        return 64 + isqrt(self.size) * (1 + isqrt(min(known, self.size)))

    def sides(self, pair: tuple[int, int] | None) -> set[Part]:
        """The parts whose Δ_{1,0} is needed: this part for (1, 0), and with zeros and ones exchanged for (0, 1)."""
        gate = self.gate and (self.size - self.gate[1], self.size - self.gate[0])
        exchanged = replace(self, low=1 - self.high, high=1 - self.low, gate=gate)
        return {self, exchanged} if pair is None else {self if pair == (1, 0) else exchanged}

    def worst(self, pair: tuple[int, int] | None, known: int, r: Fraction, bits: int | None) -> Interval:
        """Bounds of Δ, or of a bound on it, for the published answer of a part with `known` known entries."""
        return largest([side.published(known, r, bits) for side in self.sides(pair)])

    def published(self, known: int, r: Fraction, bits: int | None) -> Interval:
        """Δ_{1,0}, or a bound on it, for the published answer of a part with `known` known entries (3)."""
        size, others = self.size - known, self.size - known - 1
        if self.gate is None:
            ends = {self.low, self.high}
            first = ceil(others * r * self.low / (1 - self.low + r * self.low))
            last = floor(others * r * self.high / (1 - self.high + r * self.high))
            peaks = {first, last} if first <= last else set()
        else:
            ends, peaks = set(), {self.gate[0] - 1 - known, self.gate[1]}
        points = ends | {j / (j + (others - j) * r) for j in peaks if 0 < j < others}
        beyond = [(ONE, ONE) for j in peaks if not 0 < j < others]
        return largest([one_direction(size, p, ONE, r, bits) for p in points] + beyond)


@dataclass(frozen=True)
class Situation:
    """A release to someone who knows `known` other entries; `pair` is (v, w), or None for both directions."""

    population: int
    known: int
    parts: tuple[Part | Histogram | Table, ...]
    pair: tuple[int, int] | None

    @property
    def used(self) -> int:
        """The number of counted entries."""
        return sum(part.size * part.count for part in self.parts)

    @property
    def one_property(self) -> bool:
        """Whether all parts ask about the same property."""
        attributes = {part.attribute for part in self.parts}
        return (len(self.parts) == 1 and self.parts[0].count == 1) or (len(attributes) == 1 and None not in attributes)

    @property
    def counts(self) -> tuple[Part, ...]:
        """The parts if all of them are counts, else none."""
        counts = tuple(part for part in self.parts if isinstance(part, Part))
        return counts if len(counts) == len(self.parts) else ()

    @property
    def is_point(self) -> bool:
        """Whether a single law is stated for each part."""
        return all(part.is_point for part in self.parts)

    @property
    def is_refined(self) -> bool:
        """Whether the data choose the cells of a table."""
        return any(part.depth > 1 for part in self.parts)

    def total_count(self, r: Fraction, bits: int | None) -> Interval:
        """Bounds of Δ of one count, or histogram, of all unknown entries."""
        return replace(self.parts[0], size=self.population).worst(self.pair, self.known, r, bits)

    def hidden_sample(self, r: Fraction, bits: int | None) -> Interval:
        """Bounds of Δ of one count of a sample."""
        w = Fraction(self.used, self.population)
        sides = self.counts[0].sides(self.pair)
        return largest([one_direction(self.used, side.low, w, r, bits) for side in sides])

    def partition_sum(self, r: Fraction, bits: int | None) -> Interval:
        """Bounds of the sum over the parts."""
        low = high = ZERO
        if sum(part.cost(self.known) for part in self.parts) > MOST_COSTS:
            raise TooLargeError("too many large parts differ")
        for part in self.parts:
            mean = self._over_known(part, r, bits)
            weight = Fraction(part.size * part.count, self.population)
            low, high = low + weight * mean[0], high + weight * mean[1]
        return low, min(ONE, high)

    def _over_known(self, part: Part | Histogram | Table, r: Fraction, bits: int | None) -> Interval:
        """The mean of Δ over Z, the number of the part's other entries that are known."""
        law = _hypergeometric(part.size - 1, self.known, self.population - 1 - self.known, bits)
        if len(law.terms) * isqrt(part.size) > _MOST_COUNTS:
            raise TooLargeError("too many numbers of known entries in a part matter")
        low, high, total = ZERO, Fraction(law.below + law.above), law.mass(0, self.known)
        for known, weight in law.terms.items():
            delta = part.worst(self.pair, known, r, bits)
            low, high = low + weight[0] * delta[0], high + weight[1] * delta[1]
        return low / total[1], min(ONE, high / total[0])
