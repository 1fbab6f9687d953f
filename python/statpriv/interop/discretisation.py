"""A privacy curve on a grid of privacy losses: its evaluation points and the resulting masses."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import floor, inf, isinf, log10
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from statpriv import budget
from statpriv._native import Curve
from statpriv.curves.evaluation import EvaluatedCurve
from statpriv.curves.shown import least_of_two_digits
from statpriv.errors import ArgumentError
from statpriv.interop.grid import Grid, bits_for, ceiling, double_above, double_below, grid
from statpriv.interop.loss_masses import LossMasses, masses_above, masses_below
from statpriv.numeric.arguments import as_instance
from statpriv.numeric.exact import as_fraction, as_probability
from statpriv.numeric.literals import spelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from statpriv.curves.curve import PrivacyCurve
    from statpriv.numeric.enclosure import Enclosure
    from statpriv.numeric.exact import Number

# δ is convex in x = e^ε, with a change of slope over an interval that is the Q of the outcomes with that loss. A chord
# exceeds a convex function by at most a quarter of the length times this change, and x Q ≤ P there. So at an interval h
# the excess is at most (e^h − 1)/4 · P[a loss in the interval], a product of two small numbers.
_LOSSES, _LOSSES_IF_COSTLY = 2000, 100
"""Losses of a grid that fits a curve, at least."""

_USUAL_INTERVAL = 1e-4
"""The default of dp_accounting."""


@dataclass(frozen=True)
class _Ends:
    """Bounds of one direction of a curve at the losses 0, h, 2h, … and of its limit; lower bounds only if needed."""

    lower: list[float]
    upper: list[float]
    limit: float


@runtime_checkable
class Mechanism(Protocol):
    """What has curves above its own in both directions: an entry present against absent, and the reverse."""

    def dominating_curves(self) -> tuple[Curve, Curve]:
        """Both, of pairs of laws that dominate the answers with each other's reverse."""


@dataclass(frozen=True)
class _Above(EvaluatedCurve):
    """The direction of a mechanism, by its dominating curve."""

    dominating: Curve
    kind: ClassVar[str] = "bound"

    @property
    def _expression(self) -> Curve:
        return self.dominating


def _directions(curve: PrivacyCurve | Mechanism) -> tuple[PrivacyCurve | _Above, ...]:
    """The pair of the curve, and in the other order where a pair is named."""
    match curve:
        case Mechanism():
            return tuple(map(_Above, curve.dominating_curves()))
        case _:
            expect_curve(curve)
            return (curve,) if curve.situation.pair is None else (curve, curve.reversed())


def discretise(
    curve: PrivacyCurve | Mechanism, *, interval: float, truncation: Number, pessimistic: bool
) -> tuple[LossMasses, LossMasses | None]:
    """Masses for the pair of the curve, and for the pair in the other order where a pair is named."""
    both = _directions(curve)
    step, tail = as_interval(interval), as_probability(truncation, "truncation")
    if len(both) == 1:
        ends = _ends(both[0], step, tail, pessimistic=pessimistic)
        return _masses(step, ends, ends, pessimistic=pessimistic), None
    forward, backward = (_ends(one, step, tail, pessimistic=pessimistic) for one in both)
    return (
        _masses(step, forward, backward, pessimistic=pessimistic),
        _masses(step, backward, forward, pessimistic=pessimistic),
    )


def as_interval(interval: float) -> Fraction:
    """The interval of a grid of losses, exactly."""
    step = as_fraction(interval, "interval")
    if not 0 < step <= 1 or Fraction(float(step)) != step:
        raise ArgumentError(f"interval = {spelled(interval)}; a double above 0 and up to 1 is required, such as 1e-4")
    return step


def fitting_interval(curve: PrivacyCurve | Mechanism, truncation: Number) -> float:
    """The longest of 1, 2 or 5 times a power of ten with so many losses until δ is nearly its limit."""
    tail, directions = as_probability(truncation, "truncation"), _directions(curve)
    reach = max(_reach(direction, direction.infinity_mass(), tail) for direction in directions)
    if not 0 < reach < inf:
        return _USUAL_INTERVAL
    losses = _LOSSES_IF_COSTLY if any(direction.is_costly for direction in directions) else _LOSSES
    longest = min(reach / losses, 1.0)
    power = 10.0 ** floor(log10(longest))
    return max(step for step in (power / 2, power, 2 * power, 5 * power) if step <= longest)


@lru_cache(8)
def _reach(curve: PrivacyCurve | _Above, limit: Enclosure, tail: Fraction) -> float:
    """ε from which δ exceeds its limit by at most `tail`; of a costly curve one of two digits."""
    level = min(Fraction(limit.upper) + tail, Fraction(1))
    return least_of_two_digits(curve, double_below(level)) if curve.is_costly else curve.epsilon(level).upper


def expect_curve(curve: object) -> None:
    """Refuse anything that is not a privacy curve."""
    from statpriv.curves.curve import PrivacyCurve

    as_instance(curve, "curve", PrivacyCurve, "a PrivacyCurve is required: see sp.privacy_curve, sp.compose")


def _ends(curve: PrivacyCurve | _Above, step: Fraction, tail: Fraction, *, pessimistic: bool) -> _Ends:
    """Bounds up to the first loss from which δ exceeds its limit by at most `tail`."""
    if curve.kind == "bound" and not pessimistic:
        raise ArgumentError(
            "pessimistic = False: a curve of kind 'bound' says nothing from below; ask for pessimistic=True, or make "
            "the curve with bound='exact'"
        )
    limit = curve.infinity_mass()
    furthest = _reach(curve, limit, tail)
    if isinf(furthest):
        raise ArgumentError(
            f"truncation = {spelled(tail)}: δ is larger at every ε, so that no grid of losses is long enough; a "
            "truncation such as 1e-15 is required, which is added to the mass at infinity"
        )
    last = ceiling(Fraction(furthest).numerator * step.denominator, Fraction(furthest).denominator * step.numerator)
    if last > budget.MAX_LOSSES:
        raise ArgumentError(
            f"interval = {float(step)}: δ falls until ε = {furthest:.4g}, which is {last} intervals, and at most "
            f"{budget.MAX_LOSSES} are allowed; take a longer interval or a larger truncation"
        )
    losses = [step * index for index in range(last + 1)]
    # δ is nonincreasing: its value at a double below a loss is an upper bound, at a double above a loss a lower bound.
    upper = curve.delta([double_below(loss) for loss in losses]).upper.tolist()
    lower = [] if pessimistic else curve.delta([double_above(loss) for loss in losses]).lower.tolist()
    return _Ends(lower, [*accumulate(upper, min)], limit.lower)


def _masses(step: Fraction, forward: _Ends, backward: _Ends, *, pessimistic: bool) -> LossMasses:
    """Masses for one direction; for x < 1, δ(x) = 1 − x (1 − δ'(1/x)) with δ' the other direction."""
    points = grid(step, 1 - len(backward.upper), len(forward.upper) - 1, _bits(step, forward, backward))
    upper = [*_mirrored(points, backward.upper, points.low, upwards=True), *map(points.up, forward.upper)]
    if pessimistic:
        return masses_above(points, upper)
    lower = [*_mirrored(points, backward.lower, points.high, upwards=False), *map(points.down, forward.lower)]
    return masses_below(points, lower, upper, (forward.limit, backward.limit))


def _mirrored(points: Grid, deltas: Sequence[float], x: Sequence[int], *, upwards: bool) -> list[int]:
    """1 − x (1 − δ'(1/x)) at the points below x = 1, rounded up with x from below, and down with x from above."""
    others = [points.down(1 - Fraction(d)) if upwards else points.up(1 - Fraction(d)) for d in reversed(deltas[1:])]
    products = (x[index] * other for index, other in enumerate(others))
    return [points.one - (product >> points.bits if upwards else ceiling(product, points.one)) for product in products]


def _bits(step: Fraction, forward: _Ends, backward: _Ends) -> int:
    """Bits that suffice for the exponentials, the differences of neighbouring exponentials, and the smallest δ."""
    longest = max(len(forward.upper), len(backward.upper)) * step
    smallest = min((delta for ends in (forward, backward) for delta in ends.upper if delta > 0), default=1.0)
    return bits_for(longest) + 2 * int(1 / step).bit_length() + int(1 / Fraction(smallest)).bit_length()
