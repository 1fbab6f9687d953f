"""δ of counts of different properties on secret parts, exactly.

1.  *composition*: nobody known, s_i entries asked for property i, one p_i each. A pattern chooses φ_i = p_i or 1−p_i,
    by the value of the critical entry. With independent A_i ~ Bin(s_i, φ_i), Δ is the largest of E[T_+]/n,

        T = (n − Σ s_i)(1−r) + Σ_i X_i,     X_i = A_i/φ_i − r (s_i−A_i)/(1−φ_i).

    (docs/explanation/composition.md, 2 and 5) E[T_+] rises if an X_i is replaced by a variable with a larger
    E[(X_i − t)_+] for every t. Taking the largest of these functions over the open φ_i bounds all patterns at once.
2.  *On a grid* of step h: the mass of X_i moves to the two neighbouring points, preserving the mean. This adds U_i with
    mean 0 given all X, so for G = T + ΣU_i, E[T_+] ≤ E[G_+]. They differ by E[|G|; T and G differ in sign], and there
    |G| ≤ |ΣU_i| ≤ k h if k of the X_i were rounded: E[T_+] ≥ E[G_+] − E[|G|; |G| ≤ k h]. Omitted mass counts as the
    largest T.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, isqrt

from .counts import MOST_TERMS, ONE, ZERO, Interval, Situation, TooLargeError, binomial

_MOST_POINTS, _MOST_GRID_BITS = 2**20, 2**10


@dataclass(frozen=True)
class Grid:
    """A law on multiples of the step from `first` on, in units of 2^-bits, rounded down; `rounded` is k of (2)."""

    first: int
    masses: list[int]
    rounded: int

    def with_mass(self, mass: int) -> Grid:
        """The same law with total mass `mass`; the excess is taken from the largest mass."""
        masses, place = list(self.masses), self.masses.index(max(self.masses))
        masses[place] -= sum(masses) - mass
        return Grid(self.first, masses, self.rounded)

    def stop_loss(self, low: int, high: int) -> list[int]:
        """Σ_j (j−t)_+ times the mass at j, for t from low to high, if there is no mass beyond high."""
        values, tail = [0], 0
        for t in range(high, low, -1):
            tail += self.masses[t - self.first] if 0 <= t - self.first < len(self.masses) else 0
            values.append(values[-1] + tail)
        return values[::-1]


def _count_on_grid(size: int, p: Fraction, r: Fraction, step: Fraction, bits: int) -> Grid:
    """The law of X for `size` entries with φ = p."""
    law = binomial(size, p, bits)
    total = law.mass(0, size)[1]
    masses: dict[int, int] = {}
    for a, (low, _) in law.terms.items():
        place = (a * (1 / p + r / (1 - p)) - r * size / (1 - p)) / step
        cell, mass = floor(place), (low << bits) // total
        right = floor(mass * (place - cell))
        masses[cell] = masses.get(cell, 0) + max(0, mass - right - 1)
        masses[cell + 1] = masses.get(cell + 1, 0) + right
    first, last = min(masses), max(masses)
    if last - first > MOST_TERMS:
        raise TooLargeError(f"a law has more than {MOST_TERMS} points of the grid")
    return Grid(first, [masses.get(j, 0) for j in range(first, last + 1)], 1)


def added(left: Grid, right: Grid, bits: int) -> Grid:
    """The law of the sum of two independent variables: the masses are digits of two integers, which are multiplied."""
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
    return Grid(left.first + right.first + begin, masses[begin:end], left.rounded + right.rounded)


def dominating(laws: list[Grid]) -> Grid:
    """A law whose E[(X − t)_+] is, for every t, the largest over the given laws."""
    if len(laws) == 1:
        return laws[0]
    mass = min(sum(law.masses) for law in laws)  # of all, so that for low t they differ by a constant
    laws = [law.with_mass(mass) for law in laws]
    first, last = min(law.first for law in laws), max(law.first + len(law.masses) - 1 for law in laws)
    largest = [max(values) for values in zip(*(law.stop_loss(first - 1, last + 1) for law in laws), strict=True)]
    masses = [largest[k] - 2 * largest[k + 1] + largest[k + 2] for k in range(len(largest) - 2)]
    return Grid(first, masses, max(law.rounded for law in laws))


@dataclass(frozen=True)
class Composition:
    """Δ by (1) on a grid; `kinds` counts the properties for each p ≤ 1/2 and number of entries."""

    population: int
    kinds: dict[tuple[Fraction, int], int]
    r: Fraction
    step: Fraction
    bits: int

    def law(self, entries: dict[Fraction, int]) -> Grid:
        """The law of the sum of the X, for the given number of entries of each φ."""
        found = Grid(0, [1 << self.bits], 0)
        for p, size in entries.items():
            if size:
                found = added(found, _count_on_grid(size, p, self.r, self.step, self.bits), self.bits)
        return found

    def choices(self, p: Fraction, size: int, count: int) -> list[Grid]:
        """The laws of one kind under all patterns, by the number of properties with φ = p."""
        if 2 * p == 1:
            return [self.law({p: size * count})]
        return [self.law({p: size * k, 1 - p: size * (count - k)}) for k in range(count + 1)]

    def ends(self, law: Grid) -> Interval:
        """Bounds of Δ if `law` is the law of the sum of all X (2); for a dominating law, only the upper bound holds."""
        used = sum(size * count for (_, size), count in self.kinds.items())
        most = sum(size * count / p for (p, size), count in self.kinds.items()) / self.step + law.rounded
        shift = (self.population - used) * (1 - self.r) / self.step
        over, near = shift.denominator, law.rounded * shift.denominator
        points = [(j * over + shift.numerator, mass) for j, mass in enumerate(law.masses, law.first)]
        left_out = (1 << self.bits) - sum(law.masses)
        upper = sum(g * mass for g, mass in points if g > 0) + left_out * most * over
        lower = sum(g * mass for g, mass in points if g > near or -near <= g < 0) - left_out * near
        unit = self.step / (over * self.population << self.bits)
        return max(ZERO, lower * unit), min(ONE, upper * unit)

    def bounds(self, claimed: Fraction) -> Interval:
        """Bounds of Δ by branch and bound: kinds are decided one by one, at the pattern with the largest bound."""
        likely = self.law(_totals({(1 - p, size): count for (p, size), count in self.kinds.items()}))
        low = self.ends(likely)[0]
        kinds = sorted(self.kinds.items(), key=lambda kind: -kind[0][1] * kind[1])
        choices = [self.choices(p, size, count) for (p, size), count in kinds]
        rest = [self.law({})]
        for laws in reversed(choices):
            rest.insert(0, added(dominating(laws), rest[0], self.bits))
        patterns, points = [(self.ends(rest[0])[1], self.law({}), 0)], 0
        while points < _MOST_POINTS:
            high, law, decided = patterns.pop(patterns.index(max(patterns, key=lambda pattern: pattern[0])))
            if high <= claimed or low > claimed or decided == len(choices):
                return low, high
            for choice in choices[decided]:
                more = added(law, choice, self.bits)
                whole = added(more, rest[decided + 1], self.bits)
                ends, points = self.ends(whole), points + len(whole.masses)
                patterns.append((ends[1], more, decided + 1))
                low = max(low, ends[0]) if decided + 1 == len(choices) else low
        return low, max(high for high, _, _ in patterns)


def _totals(kinds: dict[tuple[Fraction, int], int]) -> dict[Fraction, int]:
    """The number of entries of each p."""
    totals: dict[Fraction, int] = {}
    for (p, size), count in kinds.items():
        totals[p] = totals.get(p, 0) + size * count
    return totals


def _kinds(situation: Situation) -> dict[tuple[Fraction, int], int]:
    """The number of properties for each p, or 1−p, and number of entries."""
    named: dict[str, tuple[Fraction, int]] = {}
    kinds: dict[tuple[Fraction, int], int] = {}
    for part in situation.counts:
        p = min(part.low, 1 - part.low)
        if part.attribute is None:
            kinds[p, part.size] = kinds.get((p, part.size), 0) + part.count
        else:
            before = named.get(part.attribute, (p, 0))[1]
            named[part.attribute] = p, before + part.size * part.count
    for kind in named.values():
        kinds[kind] = kinds.get(kind, 0) + 1
    return kinds


def composed(situation: Situation, claimed: Fraction, r: Fraction, effort: int | None) -> Interval:
    """Bounds of Δ; refinement stops once they separate it from `claimed`."""
    if effort is None:
        raise TooLargeError("a composition is not computed exactly")
    population, kinds = situation.population, _kinds(situation)
    most = sum(size * count / p for (p, size), count in kinds.items()) / population
    bits = 96 + ceil(most / (claimed or 1)).bit_length()
    if bits > _MOST_GRID_BITS:
        raise TooLargeError(f"the masses of a composition would have more than {_MOST_GRID_BITS} bits")
    laws = [(size * count, p, 1 if 2 * p == 1 else count + 1) for (p, size), count in kinds.items()]
    # About this many terms of a count matter; the other costs of a law amount to some more.
    if sum(number * (2**6 + min(size, 3 * isqrt(ceil(bits * size * p)))) for size, p, number in laws) > MOST_TERMS:
        raise TooLargeError(f"a composition has more than {MOST_TERMS} terms that matter, those of all patterns")
    variance = sum(size * count * p * (1 - p) * (1 / (1 - p) + r / p) ** 2 for (p, size), count in kinds.items())
    # Grid points per standard deviation.
    finest = min(2**10, 2**17 // bits, 2**15 // sum(number for *_, number in laws) + 1)
    step = Fraction(isqrt(floor(variance * 2**40)) + 1, 2**20 * min(finest, (effort // 24) ** 2))
    return Composition(population, kinds, r, step, bits).bounds(claimed)
