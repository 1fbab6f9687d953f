"""Proves or refutes a privacy certificate, with integers and fractions of the standard library alone.

    python checker.py certificate.json

Exit code 0: the claim is proved; 1: refuted; 4: undecided; 2: the file is no certificate, or contradicts itself.
This file needs nothing else of statpriv. It takes nothing for granted that the certificate says: the claim and
the situation are read, δ is computed from them again, and the numbers of the witness only have to agree with that.

The claim: n independent entries have a property with probability p each; on secret random disjoint parts of them
exact counts are released; that of a part with a `gate` only if it is within it, else that it is not. To someone who
knows `known_rows` other entries the answers are (ε, δ)-private: they satisfy P_v(S) ≤ e^ε P_w(S) + δ for every set S of
answers, whichever values v, w one entry has and whatever p is in its range. The least such δ is here called Δ. What is
made of the answers, rounded or suppressed ones, is as private, since S may be all answers of which the same is made.
What is used, with r = e^ε:

1.  Every Δ below falls with r, by at most as much as r rises, since P_w(S) ≤ 1. So with rationals r1 ≤ e^ε ≤ r2 it
    is at most its value at r1, and at least that less r2 − r1: all else is about a rational r.
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
4.  *total-count*: all parts ask one property. The answers are a random map of the total, in which the u known
    entries are a constant: Δ ≤ that of one count of n−u entries; equal where all entries are counted.
5.  *hidden-sample*: one property, one p, nobody known: 2. with s the entries counted and w = s/n, exactly.
6.  *partition-sum* (Breutigam and Reischuk, Theorems 5.1 and 5.2): Δ ≤ Σ_k (n_k/n) E[Δ of n_k − Z entries], Z the
    known ones among the other n_k − 1 entries of part k, hypergeometric.
7.  *composition*: nobody known, s_i entries asked for property i, one p_i each. A pattern chooses φ_i = p_i or 1−p_i,
    by the value of the critical entry. With independent A_i ~ Bin(s_i, φ_i), Δ is the largest of E[T_+]/n,

        T = (n − Σ s_i)(1−r) + Σ_i X_i,     X_i = A_i/φ_i − r (s_i−A_i)/(1−φ_i).

    (docs/explanation/composition.md, 2 and 5) E[T_+] rises if an X_i is replaced by what has a larger E[(X_i − t)_+]
    for every t. So the largest of these functions, of the φ_i that are still open, bounds all patterns at once.
8.  *On a grid* of step h: X_i is put on its two neighbours, with its mean. That adds some U_i of mean 0 given all X,
    so for G = T + ΣU_i, E[T_+] ≤ E[G_+]. They differ by E[|G|; T and G differ in sign], and there |G| ≤ |ΣU_i| ≤ k h
    if k of the X_i were rounded: E[T_+] ≥ E[G_+] − E[|G|; |G| ≤ k h]. Mass that is left out counts as the largest T.
9.  *Probabilities* are relative to that of the mode: their ratios u_{k+1}/u_k are rational and fall with k, and they
    sum to one. Terms are integers, rounded down for the lower bound and up for the upper one. What is left out after
    a term u, with the next ratio x < 1, is at most u x/(1−x). Started with an exact integer, no division rounds.
10. *Several releases* of a table, each from a random choice of the rows that none before it has used: Δ of all is at
    most the largest, over the `cohorts` of rows that joined when so many releases had been made, of Σ_r w_r Δ_r, with
    w_r the probability that a row is used in release r and Δ_r that of release r on its own rows, whatever earlier
    answers later queries follow (Theorem 5.3 and docs/explanation/repeated-releases.md).
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":  # this file's own folder may hold modules that hide those of the standard library
    sys.path = [folder for folder in sys.path if folder != os.path.dirname(os.path.realpath(__file__))]  # noqa: PTH120

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, comb, floor, isqrt
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["CertificateError", "Verdict", "check"]

FORMAT = "statpriv certificate 1"
EXIT_CODES = {"proved": 0, "refuted": 1, "undecided": 4}
Interval: TypeAlias = "tuple[Fraction, Fraction]"
_Ratio: TypeAlias = "Callable[[int], tuple[int, int]]"
_ZERO, _ONE = Fraction(0), Fraction(1)
_MOST_TERMS, _MOST_BITS, _MOST_EXACT_BITS, _MOST_COUNTS = 2**20, 2**13, 2**34, 2**19
_MOST_POINTS, _MOST_GRID_BITS, _MOST_COSTS = 2**20, 2**10, 2**21
_WIDEST = Fraction(1, 10**12)
"""A witness that states δ more loosely would agree with too much; of a composition the kernel may know no more."""


class CertificateError(ValueError):
    """The file is no certificate, or contradicts itself."""


class TooLargeError(CertificateError):
    """Checking would take too long."""


# --- probabilities (7) ---------------------------------------------------------------------------


def _law(mode: int, ratio: _Ratio, start: int) -> tuple[dict[int, tuple[int, int]], int, int]:
    """Bounds of u_k for start = u_mode, and of the sums of what is left out below and above them."""
    law, left_out = {mode: (start, start)}, []
    for step in (-1, 1):
        k, (low, high) = mode, law[mode]
        while True:
            times, over = ratio(k) if step == 1 else ratio(k - 1)[::-1]
            if high * times == 0:
                left_out.append(0)
                break
            if low == 0 and times < over:
                left_out.append(-(-high * times // (over - times)))
                break
            if len(law) == _MOST_TERMS:
                raise TooLargeError(f"a law has more than {_MOST_TERMS} terms that matter")
            k, low, high = k + step, low * times // over, -(-high * times // over)
            law[k] = low, high
    return law, left_out[0], left_out[1]


def _total(law: dict[int, tuple[int, int]], left_out: int) -> tuple[int, int]:
    return sum(low for low, _ in law.values()), sum(high for _, high in law.values()) + left_out


def exponential(x: Fraction, bits: int) -> Interval:
    """Bounds of e^x for x ≥ 0: the series at x/2^h ≤ 1/2, squared h times."""
    halvings = max(0, x.numerator.bit_length() - x.denominator.bit_length() + 2)
    up, down = x.numerator, x.denominator << halvings
    low = high = term_low = term_high = 1 << bits
    k = 0
    while term_low:
        k += 1
        term_low, term_high = term_low * up // (down * k), -(-term_high * up // (down * k))
        low, high = low + term_low, high + term_high
    high += term_high  # the terms left out halve at least, from the last one on
    for _ in range(halvings):
        low, high = low * low >> bits, -(-high * high >> bits)
    return Fraction(low, 1 << bits), Fraction(high, 1 << bits)


# --- one count (2, 3), at a rational r -----------------------------------------------------------


def _one_direction(size: int, p: Fraction, w: Fraction, r: Fraction, bits: int | None) -> Interval:
    """Bounds of Δ_{1,0}; without bits it is computed exactly."""
    q, others = 1 - p, size - 1
    a = ceil(size * p * (w * r + q * (1 - w) * (r - 1)) / (w * (q + r * p)))
    gain = w - (1 - w) * (r - 1) * p
    if a > size or gain <= 0:
        return _ZERO, _ZERO
    up, down, mode = p.numerator, q.numerator, floor(size * p)
    if bits is None and others**2 * p.denominator.bit_length() > _MOST_EXACT_BITS:
        raise TooLargeError("the exact fraction would be too long")
    start = comb(others, mode) * up**mode * down ** (others - mode) if bits is None else 1 << bits
    law, below, above = _law(mode, lambda k: ((others - k) * up, (k + 1) * down), start)
    total = _total(law, below + above)
    at = law.get(a - 1, (0, below if a - 1 < mode else above))
    tail = _total({k: bounds for k, bounds in law.items() if k >= a}, above + (below if a < min(law) else 0))
    lower = gain * Fraction(at[0], total[1]) - (r - 1) * Fraction(tail[1], total[0])
    upper = gain * Fraction(at[1], total[0]) - (r - 1) * Fraction(tail[0], total[1])
    return max(_ZERO, lower), min(_ONE, max(_ZERO, upper))


def _largest(values: list[Interval]) -> Interval:
    return max(low for low, _ in values), max(high for _, high in values)


def _height(size: int, j: int, r: Fraction, bits: int | None) -> Interval:
    """Bounds of h_j, all counted."""
    others = size - 1
    if not 0 < j < others:
        return _ONE, _ONE
    return _one_direction(size, Fraction(j) / (j + (others - j) * r), _ONE, r, bits)


def _supremum(size: int, low: Fraction, high: Fraction, r: Fraction, bits: int | None) -> Interval:
    """Bounds of the supremum of Δ_{1,0} over low ≤ p ≤ high, all counted."""
    first = ceil((size - 1) * r * low / (1 - low + r * low))
    last = floor((size - 1) * r * high / (1 - high + r * high))
    heights = [_height(size, j, r, bits) for j in {first, last} if first <= last]
    return _largest([*(_one_direction(size, p, _ONE, r, bits) for p in {low, high}), *heights])


# --- a sum of counts (7, 8), at a rational r -----------------------------------------------------


@dataclass(frozen=True)
class _Grid:
    """A law on multiples of the step, from `first` on, in units of 2^-bits and rounded down; `rounded` is k of (8)."""

    first: int
    masses: list[int]
    rounded: int

    def with_mass(self, mass: int) -> _Grid:
        """The same with less mass, a little less of the largest."""
        masses, place = list(self.masses), self.masses.index(max(self.masses))
        masses[place] -= sum(masses) - mass
        return _Grid(self.first, masses, self.rounded)

    def stop_loss(self, low: int, high: int) -> list[int]:
        """Σ_j (j−t)_+ times the mass at j, for t from low to high, where no mass is beyond high."""
        values, tail = [0], 0
        for t in range(high, low, -1):
            tail += self.masses[t - self.first] if 0 <= t - self.first < len(self.masses) else 0
            values.append(values[-1] + tail)
        return values[::-1]


def _count_on_grid(size: int, p: Fraction, r: Fraction, step: Fraction, bits: int) -> _Grid:
    """X of so many entries with φ = p."""
    up, down = p.numerator, (1 - p).numerator
    law, below, above = _law(floor((size + 1) * p), lambda k: ((size - k) * up, (k + 1) * down), 1 << bits)
    total = _total(law, below + above)[1]
    masses: dict[int, int] = {}
    for a in sorted(law):
        place = (a * (1 / p + r / (1 - p)) - r * size / (1 - p)) / step
        cell, mass = floor(place), (law[a][0] << bits) // total
        right = floor(mass * (place - cell))
        masses[cell] = masses.get(cell, 0) + max(0, mass - right - 1)
        masses[cell + 1] = masses.get(cell + 1, 0) + right
    first, last = min(masses), max(masses)
    if last - first > _MOST_TERMS:
        raise TooLargeError(f"a law has more than {_MOST_TERMS} points of the grid")
    return _Grid(first, [masses.get(j, 0) for j in range(first, last + 1)], 1)


def _added(left: _Grid, right: _Grid, bits: int) -> _Grid:
    """The law of the sum of two independent ones: their masses are the digits of two integers, which are multiplied."""
    width = bits // 4 + 1  # bytes: a digit of the product is at most 2^(2 bits)
    one, other = (
        int.from_bytes(b"".join(mass.to_bytes(width, "little") for mass in law.masses), "little")
        for law in (left, right)
    )
    length = (len(left.masses) + len(right.masses) - 1) * width
    digits = (one * other).to_bytes(length, "little")
    masses = [int.from_bytes(digits[k : k + width], "little") >> bits for k in range(0, length, width)]
    begin = next((k for k, mass in enumerate(masses) if mass), 0)
    end = next((k for k in range(len(masses), 0, -1) if masses[k - 1]), 1)
    return _Grid(left.first + right.first + begin, masses[begin:end], left.rounded + right.rounded)


def _dominating(laws: list[_Grid]) -> _Grid:
    """The law whose E[(X − t)_+] is the largest of those of the laws, for every t."""
    if len(laws) == 1:
        return laws[0]
    mass = min(sum(law.masses) for law in laws)  # of all, so that for low t they differ by a constant
    laws = [law.with_mass(mass) for law in laws]
    first, last = min(law.first for law in laws), max(law.first + len(law.masses) - 1 for law in laws)
    largest = [max(values) for values in zip(*(law.stop_loss(first - 1, last + 1) for law in laws), strict=True)]
    masses = [largest[k] - 2 * largest[k + 1] + largest[k + 2] for k in range(len(largest) - 2)]
    return _Grid(first, masses, max(law.rounded for law in laws))


@dataclass(frozen=True)
class _Composition:
    """Δ by (7) on a grid; `kinds` says how many properties there are of each p ≤ 1/2 and number of entries."""

    population: int
    kinds: dict[tuple[Fraction, int], int]
    r: Fraction
    step: Fraction
    bits: int

    def law(self, entries: dict[Fraction, int]) -> _Grid:
        """The sum of the X of so many entries of each φ."""
        found = _Grid(0, [1 << self.bits], 0)
        for p, size in entries.items():
            if size:
                found = _added(found, _count_on_grid(size, p, self.r, self.step, self.bits), self.bits)
        return found

    def choices(self, p: Fraction, size: int, count: int) -> list[_Grid]:
        """The laws that patterns give to the properties of a kind, by how many have φ = p."""
        if 2 * p == 1:
            return [self.law({p: size * count})]
        return [self.law({p: size * k, 1 - p: size * (count - k)}) for k in range(count + 1)]

    def ends(self, law: _Grid) -> Interval:
        """Bounds of Δ if this is the law of the sum of all X (8); of one that dominates, the upper one is."""
        used = sum(size * count for (_, size), count in self.kinds.items())
        most = sum(size * count / p for (p, size), count in self.kinds.items()) / self.step + law.rounded
        shift = (self.population - used) * (1 - self.r) / self.step
        over, near = shift.denominator, law.rounded * shift.denominator
        points = [(j * over + shift.numerator, mass) for j, mass in enumerate(law.masses, law.first)]
        left_out = (1 << self.bits) - sum(law.masses)
        upper = sum(g * mass for g, mass in points if g > 0) + left_out * most * over
        lower = sum(g * mass for g, mass in points if g > near or -near <= g < 0) - left_out * near
        unit = self.step / (over * self.population << self.bits)
        return max(_ZERO, lower * unit), min(_ONE, upper * unit)

    def bounds(self, claimed: Fraction) -> Interval:
        """Bounds of Δ: patterns are decided property by property, always where the bound is the largest."""
        likely = self.law(_totals({(1 - p, size): count for (p, size), count in self.kinds.items()}))
        low = self.ends(likely)[0]
        kinds = sorted(self.kinds.items(), key=lambda kind: -kind[0][1] * kind[1])
        choices = [self.choices(p, size, count) for (p, size), count in kinds]
        rest = [self.law({})]
        for laws in reversed(choices):
            rest.insert(0, _added(_dominating(laws), rest[0], self.bits))
        patterns, points = [(self.ends(rest[0])[1], self.law({}), 0)], 0
        while points < _MOST_POINTS:
            high, law, decided = patterns.pop(patterns.index(max(patterns, key=lambda pattern: pattern[0])))
            if high <= claimed or low > claimed or decided == len(choices):
                return low, high
            for choice in choices[decided]:
                more = _added(law, choice, self.bits)
                whole = _added(more, rest[decided + 1], self.bits)
                ends, points = self.ends(whole), points + len(whole.masses)
                patterns.append((ends[1], more, decided + 1))
                low = max(low, ends[0]) if decided + 1 == len(choices) else low
        return low, max(high for high, _, _ in patterns)


def _totals(kinds: dict[tuple[Fraction, int], int]) -> dict[Fraction, int]:
    """How many entries there are of each p."""
    totals: dict[Fraction, int] = {}
    for (p, size), count in kinds.items():
        totals[p] = totals.get(p, 0) + size * count
    return totals


def _composition(
    population: int, kinds: dict[tuple[Fraction, int], int], claimed: Fraction, r: Fraction, effort: int | None
) -> Interval:
    """Bounds of Δ, which end where they tell it from `claimed`."""
    if effort is None:
        raise TooLargeError("a composition is not computed exactly")
    most = sum(size * count / p for (p, size), count in kinds.items()) / population
    bits = 96 + ceil(most / (claimed or 1)).bit_length()
    if bits > _MOST_GRID_BITS:
        raise TooLargeError(f"the masses of a composition would have more than {_MOST_GRID_BITS} bits")
    laws = [(size * count, p, 1 if 2 * p == 1 else count + 1) for (p, size), count in kinds.items()]
    # Of a count about so many terms matter; what else a law costs is worth some more.
    if sum(number * (2**6 + min(size, 3 * isqrt(ceil(bits * size * p)))) for size, p, number in laws) > _MOST_TERMS:
        raise TooLargeError(f"a composition has more than {_MOST_TERMS} terms that matter, those of all patterns")
    variance = sum(size * count * p * (1 - p) * (1 / (1 - p) + r / p) ** 2 for (p, size), count in kinds.items())
    # Points of the grid in a standard deviation.
    finest = min(2**10, 2**17 // bits, 2**15 // sum(number for *_, number in laws) + 1)
    step = Fraction(isqrt(floor(variance * 2**40)) + 1, 2**20 * min(finest, (effort // 24) ** 2))
    return _Composition(population, kinds, r, step, bits).bounds(claimed)


# --- the situation -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    low: Fraction
    high: Fraction
    size: int
    count: int
    attribute: str | None
    gate: tuple[int, int] | None


@dataclass(frozen=True)
class _Situation:
    population: int
    known: int
    parts: tuple[_Part, ...]
    pair: tuple[int, int] | None

    @property
    def used(self) -> int:
        return sum(part.size * part.count for part in self.parts)

    @property
    def one_property(self) -> bool:
        attributes = {part.attribute for part in self.parts}
        return (len(self.parts) == 1 and self.parts[0].count == 1) or (len(attributes) == 1 and None not in attributes)

    def count(self, size: int, part: _Part, r: Fraction, bits: int | None) -> Interval:
        """Δ of a count of `size` entries in the directions asked for."""
        ranges = {(1, 0): (part.low, part.high), (0, 1): (1 - part.high, 1 - part.low)}
        asked = ranges.values() if self.pair is None else [ranges[self.pair]]
        return _largest([_supremum(size, *ends, r, bits) for ends in set(asked)])

    def published(self, part: _Part, known: int, r: Fraction, bits: int | None) -> Interval:
        """Δ, or its bound by (3), of what is published of a part of which so many entries are known."""
        if part.gate is None:
            return self.count(part.size - known, part, r, bits)
        # Entries without the property are published from size − A2 to size − A1.
        gates = {(1, 0): part.gate, (0, 1): (part.size - part.gate[1], part.size - part.gate[0])}
        asked = gates.values() if self.pair is None else [gates[self.pair]]
        tests = {j for least, most in asked for j in (least - 1 - known, most)}
        return _largest([_height(part.size - known, j, r, bits) for j in tests])

    # One function a theorem: Δ or its bound at a rational r. Which hypotheses they have stands in `_theorem`.

    def total_count(self, r: Fraction, bits: int | None) -> Interval:
        return self.count(self.population - self.known, self.parts[0], r, bits)

    def hidden_sample(self, r: Fraction, bits: int | None) -> Interval:
        p, w = self.parts[0].low, Fraction(self.used, self.population)
        directions = [p, 1 - p] if self.pair is None else [p if self.pair == (1, 0) else 1 - p]
        return _largest([_one_direction(self.used, chance, w, r, bits) for chance in directions])

    def partition_sum(self, r: Fraction, bits: int | None) -> Interval:
        low = high = _ZERO
        # A part takes about the time of so many terms for each number of known entries; and a little by itself.
        costs = (64 + isqrt(part.size) * (1 + isqrt(min(self.known, part.size))) for part in self.parts)
        if sum(costs) > _MOST_COSTS:
            raise TooLargeError("too many large parts differ")
        for part in self.parts:
            mean = self._over_known(part, r, bits)
            weight = Fraction(part.size * part.count, self.population)
            low, high = low + weight * mean[0], high + weight * mean[1]
        return low, min(_ONE, high)

    @property
    def kinds(self) -> dict[tuple[Fraction, int], int]:
        """How many properties there are of each p, or 1−p, and number of entries (7)."""
        named: dict[str, tuple[Fraction, int]] = {}
        kinds: dict[tuple[Fraction, int], int] = {}
        for part in self.parts:
            p = min(part.low, 1 - part.low)
            if part.attribute is None:
                kinds[p, part.size] = kinds.get((p, part.size), 0) + part.count
            else:
                before = named.get(part.attribute, (p, 0))[1]
                named[part.attribute] = p, before + part.size * part.count
        for kind in named.values():
            kinds[kind] = kinds.get(kind, 0) + 1
        return kinds

    def _over_known(self, part: _Part, r: Fraction, bits: int | None) -> Interval:
        """The mean of Δ over Z, how many of the part's other entries are known (6)."""
        n, u, s = self.population, self.known, part.size
        mode = s * (u + 1) // (n + 1)
        if bits is None and s > _MOST_BITS:
            raise TooLargeError("the exact fraction would be too long")
        start = comb(u, mode) * comb(n - 1 - u, s - 1 - mode) if bits is None else 1 << bits
        law, below, above = _law(mode, lambda z: ((u - z) * (s - 1 - z), (z + 1) * (n - u - s + z + 1)), start)
        if len(law) * isqrt(s) > _MOST_COUNTS:
            raise TooLargeError("too many numbers of known entries in a part matter")
        total = _total(law, below + above)
        values = [(weight, self.published(part, z, r, bits)) for z, weight in law.items()]
        lower = sum((weight[0] * value[0] for weight, value in values), _ZERO) / total[1]
        upper = sum((weight[1] * value[1] for weight, value in values), Fraction(below + above)) / total[0]
        return lower, min(_ONE, upper)


def _theorem(
    name: str, situation: _Situation, claimed: Fraction = _ZERO
) -> tuple[Callable[[Fraction, int | None], Interval], bool]:
    """The function of a theorem, and whether it gives Δ itself, so that it can refute."""
    point = all(part.low == part.high for part in situation.parts)
    if name == "partition-sum":
        return situation.partition_sum, False
    if name == "total-count" and situation.one_property and not any(part.gate for part in situation.parts):
        return situation.total_count, situation.used == situation.population
    if name == "hidden-sample" and situation.one_property and point and situation.known == 0:
        return situation.hidden_sample, True
    if name == "composition" and situation.pair is None and point and situation.known == 0:
        return lambda r, bits: _composition(situation.population, situation.kinds, claimed, r, bits), True
    raise CertificateError(f"witness.theorem = {name!r} does not apply to the situation")


# --- the verdict ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """What became of a claim: "proved", "refuted" or "undecided"; bounds of Δ, or of the bound that was used."""

    verdict: str
    claim: str
    claimed: Fraction
    delta: Interval
    exact: bool

    @property
    def margin(self) -> Interval:
        """Bounds of the claimed δ minus the computed one."""
        return self.claimed - self.delta[1], self.claimed - self.delta[0]

    def __str__(self) -> str:
        computed = "delta" if self.exact else "an upper bound of delta"
        lower, upper = _digits(self.delta[0], floor), _digits(self.delta[1], ceil)
        margin = _digits(self.margin[0], floor)
        return f"{self.verdict}: {self.claim}\n{computed} is from {lower} to {upper}; the margin is at least {margin}"


def _digits(value: Fraction, rounded: Callable[[Fraction], int]) -> str:
    """Some twelve digits, rounded down or up."""
    power = 12 + (value.denominator.bit_length() - value.numerator.bit_length()) * 3 // 10
    return f"{rounded(value * Fraction(10) ** power)}e{-power}"


def delta(
    situation: _Situation, theorem: str, epsilon: Fraction, bits: int | None, claimed: Fraction = _ZERO
) -> Interval:
    """Bounds of Δ(ε), or of the bound, by a theorem (1); without bits all but e^ε is exact."""
    value, _ = _theorem(theorem, situation, claimed)
    r = exponential(epsilon, (bits or _MOST_BITS) + ceil(2 * epsilon))
    low, high = value(r[0], bits)
    return max(_ZERO, low - (r[1] - r[0])), high


def check(document: object) -> Verdict:
    """Prove or refute the claim of a certificate, read from JSON.

    Raises
    ------
    CertificateError
        It is no certificate, contradicts itself, or would take too long (`TooLargeError`).
    """
    several = isinstance(document, dict) and "releases" in document
    return _check_releases(document) if several else _check_release(document)


def _claim(top: dict[str, Any]) -> tuple[Fraction, Fraction]:
    if top["format"] != FORMAT:
        raise CertificateError(f"format = {top['format']!r}; {FORMAT!r} is required")
    claim = _table(top["claim"], "claim", {"epsilon", "delta"})
    epsilon, claimed = _number(claim["epsilon"], "claim.epsilon"), _number(claim["delta"], "claim.delta")
    if epsilon > 1000 or claimed > 1:
        raise CertificateError("claim: ε from 0 to 1000 and δ from 0 to 1 are required")
    return epsilon, claimed


def _check_releases(document: object) -> Verdict:
    """Prove each release, and add them up (10)."""
    top = _table(document, "the certificate", {"format", "claim", "cohorts", "releases"})
    epsilon, claimed = _claim(top)
    releases = top["releases"] if isinstance(top["releases"], list) else []
    verdicts = [_check_release(release) for release in releases]
    for k, (release, verdict) in enumerate(zip(releases, verdicts, strict=True)):
        if verdict.verdict != "proved" or _number(release["claim"]["epsilon"], "claim.epsilon") != epsilon:
            raise CertificateError(f"releases[{k}] does not prove a claim of the same epsilon")
    weights = _weights(top["cohorts"], [release["situation"]["population"] for release in releases])
    low, high = (
        max(sum((w * v.delta[end] for w, v in zip(of_cohort, verdicts, strict=True)), _ZERO) for of_cohort in weights)
        for end in (0, 1)
    )
    told = {"cohorts": top["cohorts"], "releases": [release["situation"] for release in releases]}
    text = f"(epsilon, delta) = ({top['claim']['epsilon']}, {top['claim']['delta']}) for {json.dumps(told)}"
    return Verdict("proved" if high <= claimed else "undecided", text, claimed, (low, min(_ONE, high)), exact=False)


def _weights(cohorts: object, used: list[int]) -> list[list[Fraction]]:
    """For each cohort the probabilities w_r: what of it is unspent is drawn like all other unspent rows."""
    if not isinstance(cohorts, list) or not cohorts or not used:
        raise CertificateError("cohorts and releases: a list of at least one each is required")
    joined: list[tuple[int, int]] = []
    for k, cohort in enumerate(cohorts):
        table = _table(cohort, f"cohorts[{k}]", {"rows", "joined_after"})
        rows = _whole(table["rows"], f"cohorts[{k}].rows", 1, 2**53)
        joined.append((rows, _whole(table["joined_after"], f"cohorts[{k}].joined_after", 0, len(used) - 1)))
    weights: list[list[Fraction]] = [[] for _ in joined]
    unspent = [_ONE for _ in joined]
    for r, size in enumerate(used):
        left = sum(rows for rows, after in joined if after <= r) - sum(used[:r])
        if size > left:
            raise CertificateError(f"releases[{r}] uses {size} rows, of which {left} are left")
        for c, (_, after) in enumerate(joined):
            weights[c].append(unspent[c] * size / left if after <= r else _ZERO)
            unspent[c] -= weights[c][-1]
    return weights


def _check_release(document: object) -> Verdict:
    top = _table(document, "the certificate", {"format", "claim", "situation", "witness"})
    epsilon, claimed = _claim(top)
    claim = top["claim"]
    situation = _situation(top["situation"])
    witness = _table(top["witness"], "witness", {"theorem", "delta", "margin"})
    stated = _interval(witness["delta"], "witness.delta")
    _, exact = _theorem(witness["theorem"], situation)
    smallest = min(value for value in (claimed, stated[0], _ONE) if value > 0)
    bits = 192 + min(_MOST_BITS, smallest.denominator.bit_length() - smallest.numerator.bit_length())
    for precision in (bits, 2 * bits, 4 * bits, None):
        try:
            found = delta(situation, witness["theorem"], epsilon, precision, claimed)
        except TooLargeError:
            if precision is not None:
                raise
            break
        if found[1] <= claimed or found[0] > claimed:
            break
    refuted = found[0] > claimed and exact
    text = f"(epsilon, delta) = ({claim['epsilon']}, {claim['delta']}) for {json.dumps(top['situation'])}"
    verdict = Verdict(
        "proved" if found[1] <= claimed else "refuted" if refuted else "undecided", text, claimed, found, exact
    )
    if not refuted:
        _agree(verdict, witness["theorem"], stated, _interval(witness["margin"], "witness.margin"))
    return verdict


def _agree(verdict: Verdict, theorem: str, stated: Interval, margin: Interval) -> None:
    """Refuse a witness that contradicts the claim, or that states too little to do so."""
    if stated[1] < verdict.delta[0] or verdict.delta[1] < stated[0]:
        raise CertificateError("witness.delta is not what the situation gives: the certificate was altered")
    if stated[1] - stated[0] > _WIDEST * stated[1] and theorem != "composition":
        raise CertificateError("witness.delta is too wide to agree or disagree")
    if margin != (verdict.claimed - stated[1], verdict.claimed - stated[0]):
        raise CertificateError("witness.margin is not claim.delta − witness.delta: the certificate was altered")


# --- reading -------------------------------------------------------------------------------------


def _table(value: object, place: str, keys: set[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != keys:
        raise CertificateError(f"{place}: a table with exactly the keys {', '.join(sorted(keys))} is required")
    return value


def _number(value: object, place: str) -> Fraction:
    """A number as text: "0.0226", "1e-6", "-3/8"."""
    form = r"-?\d{1,4000}(/[1-9]\d{0,4000}|(\.\d{1,4000})?(e[+-]?\d{1,4})?)"
    if not isinstance(value, str) or not re.fullmatch(form, value, re.ASCII):
        raise CertificateError(f'{place}: a number as text, such as "0.1" or "1/10", is required')
    number = Fraction(value)
    if number < 0 and not place.startswith("witness.margin"):
        raise CertificateError(f"{place}: a number of at least 0 is required")
    return number


def _interval(value: object, place: str) -> Interval:
    ends = _table(value, place, {"lower", "upper"})
    low, high = _number(ends["lower"], f"{place}.lower"), _number(ends["upper"], f"{place}.upper")
    if low > high:
        raise CertificateError(f"{place}: lower is above upper")
    return low, high


def _whole(value: object, place: str, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise CertificateError(f"{place}: a whole number from {least} to {most} is required")
    return value


def _situation(value: object) -> _Situation:
    table = _table(value, "situation", {"population", "known_rows", "parts", "pair"})
    n = _whole(table["population"], "situation.population", 1, 2**53)
    known = _whole(table["known_rows"], "situation.known_rows", 0, n - 1)
    if table["pair"] not in (None, [1, 0], [0, 1]):
        raise CertificateError("situation.pair: null, [1, 0] or [0, 1] is required")
    if not isinstance(table["parts"], list) or not table["parts"]:
        raise CertificateError("situation.parts: a list of parts is required")
    parts = tuple(_part(part, f"situation.parts[{k}]", n) for k, part in enumerate(table["parts"]))
    situation = _Situation(n, known, parts, None if table["pair"] is None else (table["pair"][0], table["pair"][1]))
    if situation.pair is not None and not situation.one_property:
        raise CertificateError("situation.pair: null is required where parts ask different properties")
    if situation.used > n:
        raise CertificateError(f"situation.parts have {situation.used} entries together, the population only {n}")
    ranges = {(part.attribute, part.low, part.high) for part in parts if part.attribute is not None}
    if len(ranges) > len({attribute for attribute, _, _ in ranges}):
        raise CertificateError("situation.parts: one attribute has two different probabilities")
    return situation


def _part(value: object, place: str, most: int) -> _Part:
    part = _table(value, place, {"probability", "size", "count", "attribute", "gate"})
    ends = _interval(part["probability"], f"{place}.probability")
    if part["gate"] is None and not 0 < ends[0] <= ends[1] < 1:
        raise CertificateError(f"{place}.probability: a range strictly between 0 and 1 is required")
    if part["gate"] is not None and ends != (_ZERO, _ONE):
        raise CertificateError(f"{place}.probability: from 0 to 1 is required behind a gate, which is for every p")
    if part["attribute"] is not None and not isinstance(part["attribute"], str):
        raise CertificateError(f"{place}.attribute: a text or null is required")
    size, count = (_whole(part[key], f"{place}.{key}", 1, most) for key in ("size", "count"))
    return _Part(*ends, size, count, part["attribute"], _gate(part["gate"], f"{place}.gate", size))


def _gate(value: object, place: str, size: int) -> tuple[int, int] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2:
        raise CertificateError(f"{place}: null or two counts are required")
    least = _whole(value[0], place, 0, size)
    return least, _whole(value[1], place, least, size)


def read(text: str) -> object:
    """The document of a certificate; a key that stands there twice is an error."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(pairs)) < len(pairs):
            raise CertificateError("a key stands there twice")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"not the JSON of a certificate: {error}") from error


def main(arguments: list[str]) -> int:
    """Check the certificate at a path, print the verdict, and return the exit code."""
    try:
        (path,) = arguments
        document = read(Path(path).read_text(encoding="utf-8"))
        verdict = check(document)
    except (ValueError, OSError) as error:  # a CertificateError, no UTF-8, or not one argument
        sys.stderr.write(f"Error: {error}\n" if arguments else "Usage: checker.py certificate.json\n")
        return 2
    sys.stdout.write(f"{verdict}\n")
    return EXIT_CODES[verdict.verdict]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
