"""The ε at which a curve is shown where nobody names them."""

from __future__ import annotations

from functools import lru_cache
from math import inf, isfinite, log
from time import monotonic
from typing import TYPE_CHECKING

from statpriv.numeric.enclosure import Enclosure

if TYPE_CHECKING:
    from statpriv.curves.curve import PrivacyCurve
    from statpriv.curves.evaluation import EvaluatedCurve

_TARGETS = tuple(10.0**-exponent for exponent in range(1, 7))
_FIRST = 0.1
"""The ε that is tried first, and all that a display shows of a curve whose δ takes long."""
_SECONDS = 0.15
"""After that a sketch begins no further δ."""
_STEP = 4
"""Between ε that are tried until δ has fallen to a target, and until it has not."""
_HALVINGS = 40
"""Of a bracket, until the place where a parabola crosses a level is known to many more digits than two."""
_LEAST, _MOST = 1e-100, 1e9
"""Where an enclosure does not tell δ from its limit, no ε beyond these is tried."""


def telling(curve: PrivacyCurve) -> dict[float, Enclosure]:
    """δ at ε = 0, and where it has fallen to powers of ten: at the least such ε of two digits."""
    return _Falling(curve, until=None).told()


def least_of_two_digits(curve: EvaluatedCurve, target: float) -> float:
    """The least ε of two digits at which δ is at most `target`; infinite where there is none."""
    return _Falling(curve, until=None).least(target)


@lru_cache(256)
def sketched(curve: PrivacyCurve) -> dict[float, Enclosure]:
    """The same, or where that takes longer than a reader waits for a display, δ where it is known by then."""
    falling = _Falling(curve, until=monotonic() + _SECONDS)
    try:
        return falling.told()
    except _OutOfTimeError:
        return dict(sorted(falling.known.items()))


class _OutOfTimeError(Exception):
    """A sketch ends here."""


class _Falling:
    """δ where it was computed: at 0, and at ε of two digits."""

    def __init__(self, curve: EvaluatedCurve, *, until: float | None) -> None:
        self.curve, self.until = curve, until
        self.known: dict[float, Enclosure] = {}

    def told(self) -> dict[float, Enclosure]:
        """See :func:`telling`."""
        found: list[float] = [0]
        for target in _TARGETS:
            reached = self.least(target)
            if isfinite(reached) and reached > found[-1]:
                found.append(reached)
        return {epsilon: self.known[epsilon] for epsilon in found}

    def compute(self, *epsilons: float) -> None:
        """δ at each ε, computed once, and together."""
        new = [*dict.fromkeys(epsilon for epsilon in epsilons if epsilon not in self.known)]
        if not new:
            return
        if self.known and self.until is not None and monotonic() > self.until:
            raise _OutOfTimeError
        self.known.update(zip(new, self.curve.delta(new), strict=True))

    def least(self, target: float) -> float:
        """The least ε of two digits at which δ has fallen to `target`; infinite where there is none.

        Each bracket is cut at both sides of where the parabola of ln δ through known values reaches the target, and in
        its middle where that hardly moves an end.
        """
        self.compute(_FIRST)
        if self.until is not None and self.curve.is_costly:
            raise _OutOfTimeError  # at 0, δ may take twenty times as long
        self.compute(0)
        if self.known[0].upper <= target:
            return 0
        if self.curve.infinity_mass().upper > target:
            return inf
        while self.known[max(self.known)].upper > target:
            if max(self.known) > _MOST:
                return inf
            self.compute(_at_least(max(self.known) * _STEP))
        halve = False
        while (low := self._last_above(target)) < _before(high := self._first_reached(target)):
            if high < _LEAST:
                return 0
            middle = (low + high) / 2 if low else high / _STEP
            guess = min(_at_least(middle if halve else self._crossing(low, high, target)), _before(high))
            self.compute(guess, max(_before(guess), _after(low)))
            halve = self._first_reached(target) - self._last_above(target) > (high - low) / 2
        return high

    def _last_above(self, target: float) -> float:
        return max(epsilon for epsilon, delta in self.known.items() if delta.upper > target)

    def _first_reached(self, target: float) -> float:
        return min(epsilon for epsilon, delta in self.known.items() if delta.upper <= target)

    def _crossing(self, low: float, high: float, target: float) -> float:
        """Where the parabola of ln δ through the ends of a bracket, and a third known value, reaches the target."""
        upper = {epsilon: delta.upper for epsilon, delta in self.known.items() if delta.upper > 0}
        if high not in upper or target == 0:
            return (low + high) / 2
        slope = (log(upper[high]) - log(upper[low])) / (high - low)
        others = sorted(upper.keys() - {low, high}, key=lambda epsilon: abs(epsilon - low) + abs(epsilon - high))
        bend = 0.0
        if others:
            along = log(upper[low]) + slope * (others[0] - low)
            bend = (log(upper[others[0]]) - along) / ((others[0] - low) * (others[0] - high))
        left, right = low, high
        for _ in range(_HALVINGS):
            middle = (left + right) / 2
            value = log(upper[low]) + (middle - low) * (slope + bend * (middle - high))
            left, right = (middle, right) if value > log(target) else (left, middle)
        return right


def _at_least(epsilon: float) -> float:
    """The least number of two digits that is not below a positive one."""
    rounded = float(f"{epsilon:.1e}")
    return rounded if rounded >= epsilon else _after(rounded)


def _after(epsilon: float) -> float:
    """The next number of two digits; of 0 one that is below all that are looked at."""
    if epsilon == 0:
        return _LEAST
    digits, exponent = _digits(epsilon)
    return float(f"{digits + 1}e{exponent}")


def _before(epsilon: float) -> float:
    """The number of two digits before one."""
    digits, exponent = _digits(epsilon)
    return float(f"{digits - 1}e{exponent}" if digits > 10 else f"99e{exponent - 1}")


def _digits(epsilon: float) -> tuple[int, int]:
    """The two digits of a number as a whole number from 10 to 99, and the power of ten that they are multiplied by."""
    digits, exponent = f"{epsilon:.1e}".replace(".", "").split("e")
    return int(digits), int(exponent) - 1
