"""Random allocation: the counterpart of a secret partition in differential privacy.

Every entry takes part in one of m noisy answers, which is drawn at random and kept secret. Feldman and Shenfeld,
*Efficient Privacy Loss Accounting for Subsampling and Random Allocation*, account for it on a grid in floating point.
This module encloses it, by the same idea as for exact composition over a secret partition.

Let one answer have the law P₁ with the entry and Q₁ without it. One entry present or absent is the mean P of the m
laws with P₁ in one place and Q₁ in the others, against `Q = Q₁ ⊗ … ⊗ Q₁`. Under Q the ratio `P/Q = (Y_1 + … + Y_m)/m
=: y` is a mean of independent copies of `Y = P₁/Q₁`, of mean at most one (one less the mass of P₁ where Q₁ has none).
With `K = e^ε` both directions are puts on y,

    P(y = ∞) + E_Q[(P/Q − K)_+] = 1 − K + E(K − y)_+,        E_Q[(1 − K P/Q)_+] = K E(1/K − y)_+.

So both increase if Y is replaced by Y' with `u'(x) = E(x − Y')_+ >= u(x) = E(x − Y)_+` for all x, and decrease if it
is replaced by one with `u' <= u`. This is the order of decreasing convex functions. Sums of independent variables
preserve it: given the other terms, the payoff is a put on one of them. u is convex, `u(x) = x δ'(−ln x)` for `x <= 1`
and `x − 1 + δ(ln x)` for `x > 1`, where δ and δ' are the curves of one answer, P₁ against Q₁ and the reverse.

**Above.** Take upper bounds of u on a grid. The greatest convex function below them is at least u. Beyond the end of
the grid it is continued by a ray of slope one, the largest slope of u. The kinks of this function are the atoms of Y'.

**Below.** Let a < b be neighbours on the grid and c their middle. A line that supports u at c has a slope between
``(u(c) − u(a))/(c − a)`` and ``(u(b) − u(c))/(b − c)``. So it is at least ``2u(c) − u(b)`` at a, and at least
``2u(c) − u(a)`` at b, and the line through these two points is at most u on [a, b]. So is the line through 0 and 0. At
every point of the grid take the smaller of the values of the lines on its two sides: what joins these is at most u, and
so is the greatest convex function below it. Beyond the grid its slope must not exceed the last slope of a chord of u.

**In k of m answers**, a set of k drawn uniformly. The ratio is the mean of the products of k different copies of Y. Let
the m answers be divided into k blocks, of sizes that differ by one at most, at random among all divisions with these
sizes, and let one answer of each block be drawn. By symmetry every set of k answers is drawn equally often. Whoever is
told the division, which does not depend on the entry, faces k independent allocations of one each; so their composition
is an upper bound (joint convexity). Each is replaced by a finite pair above it: the law Y' of its ratio, what was lost
in rounding where the entry is absent alone, and what the ratio lacks where it is present alone. Ratios beyond the grid
are moved down to its end, which raises u. The composition of these pairs is that of `lowering/dominating_pairs.py`.

From below, whatever is computed of the answers is not worse than they are: their sum, where the noise is normal, of
distance ``kμ/√m``; and the answers with neighbouring ratios merged until they are few, and counted out. Where the
ratio has no few values these are those of the law below Y, which is that of a pair into which the answer can be turned;
what its masses lack of one changes δ by at most ``m (1 + K)`` times as much.

The law of the sum is a power of an integer polynomial, with each coefficient rounded down. Mass lost by rounding is
counted as if y were zero above, and not at all below. Sums beyond `m K` do not contribute and are cut off. The relative
error of the grid is of the order of the squared ratio of its step to the standard deviation of Y.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from statpriv import budget
from statpriv._native import Curve, Enclosure, Law, gaussian_delta
from statpriv.errors import ArgumentError
from statpriv.lowering.dominating_pairs import laws_of_product
from statpriv.model.probabilities import probability_list
from statpriv.numeric.arguments import as_tuple
from statpriv.numeric.exact import Number, as_count, as_fraction, as_positive
from statpriv.numeric.intervals import exact, interval_context, rational_ends
from statpriv.numeric.literals import abridged, spelled
from statpriv.numeric.polynomials import product

_Ratios: TypeAlias = Sequence[tuple[Fraction, Fraction]]
"""Values of a likelihood ratio with their probabilities."""

_BITS = 128
"""Masses are multiples of 2^-128, so the mass lost by rounding is below 1e-30."""
_STEPS = ((64, 64), (1024, 32), (2**14, 16))
"""Pairs of a largest number of answers and the grid steps per standard deviation of Y."""
_MOST_POINTS = 2**13
"""Points of a grid whose laws are composed."""
_DEVIATIONS = 11
"""Reach of the grid from the mean of `ln Y`, in standard deviations; the mass beyond it is 1e-28."""


def random_allocation_delta(
    epsilon: Number,
    *,
    m: int,
    k: int = 1,
    sigma: Number | None = None,
    sensitivity: Number = 1,
    answer: tuple[Sequence[Number], Sequence[Number]] | None = None,
) -> Enclosure:
    """δ(ε) where every entry takes part in one of m noisy answers, or in k of them, drawn in secret.

    Parameters
    ----------
    epsilon : float, int, Fraction, Decimal or str
        ε in nats, at least 0.
    m : int
        Number of answers, from 1 to 2^14. A hundred take a second, a thousand half a minute.
    k : int, default 1
        In how many of the answers every entry takes part, from 1 to m.
    sigma : float, int, Fraction, Decimal or str, optional
        Standard deviation of normal noise on each answer, above 0.
    sensitivity : float, int, Fraction, Decimal or str
        How far one entry, present or absent, moves the answer it takes part in; above 0.
    answer : tuple of two sequences of numbers, optional
        Instead of `sigma`: the probabilities of every value of one answer, with the entry and without it. Each sums to
        one, and no value has a probability with the entry alone.

    Returns
    -------
    Enclosure
        It holds the larger δ of the two directions, an entry added and one removed. It is some tenths of a per cent
        wide for few answers and δ that are not small, and wider on the coarser grids beyond 64 and 1024 answers. For k
        above 1 the ends are further apart, unless an answer has few values: the upper one is that of k independent
        allocations of one each.

    Raises
    ------
    ArgumentError
        The noise is too small for a grid, for instance as small as the sensitivity with 10^4 answers; or a value that
        is not allowed, and the message names it.

    Examples
    --------
    Twenty answers; each entry takes part in one of them, which is either secret or known:

    >>> import statpriv as sp
    >>> bound = sp.differential.random_allocation_delta("0.2", sigma=4, m=20)
    >>> print(f"{bound.upper:.2e}, known {sp.differential.gaussian_delta('0.2', mu='1/4').upper:.2e}")
    3.44e-06, known 3.31e-02

    Everybody in two of six answers that are told by randomized response:

    >>> told = (["0.75", "0.25"], ["0.25", "0.75"])
    >>> print(f"{sp.differential.random_allocation_delta('0.2', m=6, k=2, answer=told).upper:.4f}")
    0.3327
    """
    answers, target = as_count(m, "m", least=1), as_fraction(epsilon, "epsilon")
    taken = as_count(k, "k", least=1)
    if taken > answers:
        raise ArgumentError(f"k = {spelled(k)} of m = {answers} answers; at most m are required")
    one = _stated(answer) if answer is not None else _with_noise(sigma, sensitivity)
    if answers == 1:
        return one.delta(target)
    if answers > budget.MAX_ALLOCATED_ANSWERS:
        raise ArgumentError(f"m = {spelled(m)}; at most {budget.MAX_ALLOCATED_ANSWERS} answers are summed up")
    context = interval_context(_BITS)
    least, most = rational_ends(context.exp(exact(context, target)))
    if one.ratios and _ways(len(one.ratios), answers) <= budget.MAX_ALLOCATION_TERMS:
        ends = [_of_all_ratios(one.ratios, answers, taken, factor) for factor in (most, least)]
        return Enclosure(max(Fraction(0), ends[0]), min(Fraction(1), ends[1]))
    if taken > 1:
        return _several(one, answers, taken, target, most)
    known = one.delta(target)  # an upper bound also with the secret, by joint convexity
    steps = next(steps for limit, steps in _STEPS if answers <= limit)
    grid = _grid(one, answers * most, steps)
    above, below = (law.power(answers, answers * most) for law in (_dominating(grid), _dominated(one, grid)))

    def bound(total: _Law, factor: Fraction) -> Fraction:
        """The larger of both directions; it decreases in K. `total` is the law of the sum, m times the mean y."""
        present = 1 - factor + total.put(answers * factor) / answers
        return max(present, factor * total.put(answers / factor) / answers)

    upper = min(bound(above, least) + most * Fraction(above.lost, 1 << _BITS), Fraction(known.upper))
    return Enclosure(max(Fraction(0), min(bound(below, most), upper)), upper)


def _several(one: _Answer, answers: int, taken: int, target: Fraction, factor: Fraction) -> Enclosure:
    """In several of the answers, on a grid: k allocations of one each above, what is computed of all answers below."""
    size, larger = divmod(answers, taken)
    sizes = [size + 1] * larger + [size] * (taken - larger)
    step = _step(one, _STEPS[0][1])
    most = min(Fraction(math.ceil(one.reach[1] * sizes[0])), _MOST_POINTS * step)
    grid = _grid(one, most, _STEPS[0][1])
    above = _dominating(grid)
    of_size = {size: _block(above, size, most) for size in set(sizes)}
    present, absent = laws_of_product([of_size[size] for size in sizes])
    upper = max(Curve.answers(*laws).delta(target).upper for laws in ((present, absent), (absent, present)))
    below = _dominated(one, grid)
    lower = _of_all_ratios(_few(one.ratios or below.ratios, answers), answers, taken, factor)
    lower -= answers * (1 + factor) * Fraction(0 if one.ratios else below.lost, 1 << _BITS)
    if one.of_sum is not None:
        lower = max(lower, Fraction(one.of_sum(answers, taken, target).lower))
    return Enclosure(max(Fraction(0), lower), min(Fraction(1), Fraction(upper)))


def _block(one: _Law, answers: int, most: Fraction) -> tuple[Curve, Curve]:
    """The hockey sticks of a finite pair above one of so many answers, and of its reverse."""
    total = one.power(answers, most)
    beyond = (1 << _BITS) - sum(total.masses) - total.lost
    masses = [*total.masses, max(beyond, 0)]
    places = [*range(total.first, total.first + len(total.masses)), max(math.floor(most / total.step), total.first)]
    absent = [Fraction(mass, 1 << _BITS) for mass in masses]
    present = [place * total.step / answers * mass for place, mass in zip(places, absent, strict=True)]
    zero = Fraction(0)
    first = Law.table(0, [zero, *present, 1 - sum(present, zero)])
    second = Law.table(0, [1 - sum(absent, zero), *absent, zero])
    return Curve.answers(first, second), Curve.answers(second, first)


@dataclass(frozen=True)
class _Answer:
    """One answer: its curves with the entry against without it, and in reverse; and where the ratio of both lies."""

    joined: Callable[[Fraction], Enclosure]
    left: Callable[[Fraction], Enclosure]
    spread: float
    """About the standard deviation of Y."""
    reach: tuple[float, float]
    """Y is between these, but for a negligible part."""
    described: str
    ratios: tuple[tuple[Fraction, Fraction], ...] = ()
    """The values of Y with their probabilities, where they are few and known."""
    of_sum: Callable[[int, int, Fraction], Enclosure] | None = None
    """δ of the sum of so many answers, where an entry is in so many of them, if it is known."""

    def delta(self, epsilon: Fraction) -> Enclosure:
        """The larger of both directions."""
        return max(self.joined(epsilon), self.left(epsilon), key=lambda delta: delta.upper)

    def put(self, x: Fraction) -> tuple[Fraction, Fraction]:
        """Both ends of `u(x)`: δ does not rise, so it is evaluated at both ends of `|ln x|`."""
        context = interval_context(64)
        low, high = rational_ends(context.log(exact(context, x)))
        if x <= 1:
            ends = self.left(max(Fraction(0), -low)).lower, self.left(max(Fraction(0), -high)).upper
            return x * Fraction(ends[0]), x * Fraction(ends[1])
        ends = self.joined(max(Fraction(0), high)).lower, self.joined(max(Fraction(0), low)).upper
        return x - 1 + Fraction(ends[0]), x - 1 + Fraction(ends[1])


def _with_noise(sigma: Number | None, sensitivity: Number) -> _Answer:
    """``ln Y ~ N(−μ²/2, μ²)``."""
    if sigma is None:
        raise ArgumentError("sigma and answer are both left out; the noise of an answer or its two laws are required")
    mu = as_positive(sensitivity, "sensitivity") / as_positive(sigma, "sigma")
    about = min(float(mu), 3.0)

    def delta(epsilon: Fraction) -> Enclosure:
        return gaussian_delta(epsilon, mu=mu)

    def of_sum(answers: int, taken: int, epsilon: Fraction) -> Enclosure:
        below = Fraction(math.isqrt(taken**2 * 2**80 // answers), 2**40)  # k/√m, rounded down
        return gaussian_delta(epsilon, mu=mu * below)

    reach = math.exp(-_DEVIATIONS * about), math.exp(_DEVIATIONS * about)
    described = f"sigma is {float(1 / mu):.3g} times the sensitivity"
    return _Answer(delta, delta, math.sqrt(math.expm1(about**2)), reach, described, of_sum=of_sum)


def _stated(answer: tuple[Sequence[Number], Sequence[Number]]) -> _Answer:
    """The likelihood ratio has as many values as the answer."""
    required = "two sequences of probabilities, with the entry and without it, are required"
    first, second = (
        probability_list(law, f"answer[{index}]") for index, law in enumerate(as_tuple(answer, "answer", required))
    )
    if len(first) != len(second) or sum(first) != 1 or sum(second) != 1:
        raise ArgumentError(f"answer = {abridged(answer)}; {required}, as many in both, and each sums to exactly one")
    if any(p and not q for p, q in zip(first, second, strict=True)):
        raise ArgumentError(
            f"answer = {abridged(answer)}; each value that is possible with the entry must be so without"
        )
    laws = Law.table(0, first), Law.table(0, second)
    joined, left = Curve.answers(*laws), Curve.answers(*laws[::-1])
    masses: dict[Fraction, Fraction] = {}
    for p, q in zip(first, second, strict=True):
        if q:
            masses[p / q] = masses.get(p / q, Fraction(0)) + q
    spread = math.sqrt(sum((y - 1) ** 2 * q for y, q in masses.items()))
    reach = float(min(masses)), float(max(masses))
    return _Answer(joined.delta, left.delta, spread, reach, "the answer is told", tuple(masses.items()))


def _ways(ratios: int, answers: int) -> int:
    """In how many ways so many answers can have so many ratios."""
    return math.comb(answers + ratios - 1, answers)


def _few(ratios: _Ratios, answers: int) -> _Ratios:
    """The law of the ratio with neighbours merged until the answers have them in few ways.

    Each group has about the same part of the variance. Any grouping is right.
    """
    number = 2
    while number < len(ratios) and _ways(number + 1, answers) <= budget.MAX_ALLOCATION_TERMS:
        number += 1
    total = sum(mass * (ratio - 1) ** 2 for ratio, mass in ratios)
    before, groups = Fraction(0), dict[int, tuple[Fraction, Fraction]]()
    for ratio, mass in sorted(ratios):
        middle = before + mass * (ratio - 1) ** 2 / 2
        before = 2 * middle - before
        group = int(number * middle / total) if total else 0
        present, absent = groups.get(group, (Fraction(0), Fraction(0)))
        groups[group] = present + ratio * mass, absent + mass
    return [(present / absent, absent) for present, absent in groups.values()]


def _of_all_ratios(ratios: _Ratios, answers: int, taken: int, factor: Fraction) -> Fraction:
    """The larger of both directions at K, exactly, over how many of the answers have each ratio."""
    joined = left = Fraction(0)
    sets = math.comb(answers, taken)
    for products, mass in _products(ratios, answers, taken):
        within = mass * products[taken] / sets
        joined += max(Fraction(0), within - factor * mass)
        left += max(Fraction(0), mass - factor * within)
    return max(joined, left)


def _products(ratios: _Ratios, answers: int, most: int) -> Iterator[tuple[list[Fraction], Fraction]]:
    """For each way to have the ratios, Σ Π of the ratios of j different answers, j up to `most`; and its probability.

    These are the coefficients of ``Π (1 + Y_i x)``, so that answers with one ratio y give the factor ``(1 + y x)^c``.
    """
    (ratio, mass), *others = ratios
    for count in range(answers + 1) if others else (answers,):
        own = [math.comb(count, j) * ratio**j for j in range(min(count, most) + 1)]
        ways = math.comb(answers, count) * mass**count
        rest = _products(others, answers - count, most) if others else [([Fraction(1)], Fraction(1))]
        for products, probability in rest:
            yield _multiplied(own, products, most), ways * probability


def _multiplied(one: Sequence[Fraction], other: Sequence[Fraction], most: int) -> list[Fraction]:
    """The product of two polynomials, up to the power `most`."""
    found = [Fraction(0)] * (min(len(one) + len(other) - 2, most) + 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other[: most + 1 - i]):
            found[i + j] += a * b
    return found


@dataclass(frozen=True)
class _Law:
    """Masses at `step·first, step·(first+1), …`, in units of 2^-128 and rounded down; `lost` is at least the rest."""

    step: Fraction
    first: int
    masses: list[int]
    lost: int

    @property
    def ratios(self) -> _Ratios:
        """The places that have a mass, with their probabilities."""
        places = enumerate(self.masses, self.first)
        return [(place * self.step, Fraction(mass, 1 << _BITS)) for place, mass in places if mass]

    def power(self, exponent: int, most: Fraction) -> _Law:
        """The law of a sum of independent copies, restricted to values below `most`."""
        result, square = None, self
        while True:
            if exponent % 2:
                result = square if result is None else result.plus(square, most)
            exponent //= 2
            if not exponent:
                return result or square
            square = square.plus(square, most)

    def plus(self, other: _Law, most: Fraction) -> _Law:
        """The law of the sum of two independent variables; what lies above `most` is left out."""
        first = self.first + other.first
        masses = product(self.masses, other.masses, bits=_BITS, kept=max(0, math.floor(most / self.step) + 1 - first))
        kept = len(masses)
        while masses and not masses[-1]:
            masses.pop()
        leading = next((i for i, mass in enumerate(masses) if mass), 0)
        return _Law(self.step, first + leading, masses[leading:] or [0], self.lost + other.lost + kept)

    def put(self, strike: Fraction) -> Fraction:
        """`E(x − Y)_+` of the masses that are kept."""
        below = self.masses[: max(0, math.ceil(strike / self.step) - self.first)]
        mass, moment = sum(below), sum(i * x for i, x in enumerate(below, self.first))
        return (strike * mass - self.step * moment) / (1 << _BITS)


@dataclass(frozen=True)
class _Grid:
    """Multiples of a step around whatever Y may be and the sum can use, with both ends of u at each."""

    step: Fraction
    places: range
    puts: list[tuple[Fraction, Fraction]]


def _step(one: _Answer, steps: int) -> Fraction:
    """A power of two, of which so many or more are in the standard deviation of Y."""
    return Fraction(1, 2 ** max(0, math.ceil(math.log2(steps / one.spread)))) if one.spread else Fraction(1)


def _grid(one: _Answer, most: Fraction, steps: int) -> _Grid:
    step = _step(one, steps)
    low, high = one.reach[0], min(one.reach[1], float(most) + 1)
    first, last = max(1, math.floor(low / step)), math.ceil(high / step) + 1
    if last - first > budget.MAX_ALLOCATION_GRID:
        raise ArgumentError(
            f"{one.described}; at most {budget.MAX_ALLOCATION_GRID} grid points are used, here {last - first}: more "
            "noise is required (gaussian_delta bounds δ without the secret)"
        )
    places = range(first, last + 1)
    return _Grid(step, places, [one.put(place * step) for place in places])


def _dominating(grid: _Grid) -> _Law:
    """A law on the grid whose puts are at least those of Y, up to its end."""
    step = grid.step
    hull = [(0, Fraction(0))]  # the slope of the chord from here to the first point is mass at zero
    for place, (_, top) in zip(grid.places, grid.puts, strict=True):
        _add_convexly(hull, (place, top))
    while len(hull) > 1 and _slope(hull[-2], hull[-1]) > step:
        hull.pop()
    if hull[1][0] > len(grid.places):  # a grid from zero on would be mostly empty, and next to no mass is there
        return _of_slopes(hull[1:], before=_slope(hull[0], hull[1]) / step, last=Fraction(1), step=step)
    return _of_slopes(hull, before=Fraction(0), last=Fraction(1), step=step)


def _dominated(one: _Answer, grid: _Grid) -> _Law:
    """A law on the grid whose puts are at most those of Y."""
    step, places = grid.step, grid.places
    tops = [top for _, top in grid.puts]
    lines = []  # on every interval the values at its ends
    for place, (left, right) in zip(places, pairwise(tops), strict=False):
        middle = one.put((place + Fraction(1, 2)) * step)[0]
        line = 2 * middle - right, 2 * middle - left
        lines.append(line if line[0] >= 0 else (Fraction(0), Fraction(0)))
    lines[0] = Fraction(0), Fraction(0)  # from the first point on, where Y' begins
    heights = [lines[0][0], *(min(before[1], after[0]) for before, after in pairwise(lines)), lines[-1][1]]
    hull: list[tuple[int, Fraction]] = []
    for place, height in zip(places, heights, strict=True):
        _add_convexly(hull, (place, height))
    return _of_slopes(hull, before=Fraction(0), last=(grid.puts[-1][0] - tops[-2]) / step, step=step)


def _add_convexly(hull: list[tuple[int, Fraction]], point: tuple[int, Fraction]) -> None:
    """The greatest convex function below the points so far."""
    while len(hull) > 1 and _slope(hull[-2], hull[-1]) >= _slope(hull[-1], point):
        hull.pop()
    hull.append(point)


def _of_slopes(hull: list[tuple[int, Fraction]], *, before: Fraction, last: Fraction, step: Fraction) -> _Law:
    """The law whose puts have these vertices: an atom is the rise of the slope, from `before` to `last`."""
    start = hull[0][0]
    masses = [0] * (hull[-1][0] - start + 1)
    slopes = [*(min(last, _slope(left, right) / step) for left, right in pairwise(hull)), last]
    for (place, _), slope in zip(hull, slopes, strict=True):
        masses[place - start] = math.floor((slope - before) * 2**_BITS)
        before = slope
    return _Law(step, start, masses, 2**_BITS - sum(masses))


def _slope(left: tuple[int, Fraction], right: tuple[int, Fraction]) -> Fraction:
    return (right[1] - left[1]) / (right[0] - left[0])
