"""The ε at which a curve is shown where nobody names them."""

from __future__ import annotations

from functools import lru_cache
from math import isfinite, log
from time import monotonic
from typing import TYPE_CHECKING

from statpriv.numeric.enclosure import Enclosure

if TYPE_CHECKING:
    from statpriv.curves.curve import PrivacyCurve

_TARGETS = tuple(10.0**-exponent for exponent in range(1, 7))
_FIRST = 0.1
"""The ε that is tried first, and all that a display shows of a curve whose δ takes long."""
_SECONDS = 0.15
"""After that a sketch begins no further δ."""
_STEP = 4
"""Between ε that are tried until δ has fallen to a target, and until it has not."""
_LEAST, _MOST = 1e-100, 1e9
"""Where an enclosure does not tell δ from its limit, no ε beyond these is tried."""


def telling(curve: PrivacyCurve) -> dict[float, Enclosure]:
    """δ at ε = 0, and where it has fallen to powers of ten: at the least such ε, to two digits."""
    return _Falling(curve, until=None).told()


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
    """δ where it was computed."""

    def __init__(self, curve: PrivacyCurve, *, until: float | None) -> None:
        self.curve, self.until = curve, until
        self.known: dict[float, Enclosure] = {}

    def told(self) -> dict[float, Enclosure]:
        """See :func:`telling`."""
        found: list[float] = [0]
        for target in _TARGETS:
            reached = _rounded(self.least(target))
            if isfinite(reached) and reached > found[-1]:
                found.append(reached)
        return {epsilon: self.at(epsilon) for epsilon in found}

    def at(self, epsilon: float) -> Enclosure:
        """δ at ε, computed once."""
        if epsilon not in self.known:
            if self.known and self.until is not None and monotonic() > self.until:
                raise _OutOfTimeError
            self.known[epsilon] = self.curve.delta(epsilon)
        return self.known[epsilon]

    def least(self, target: float) -> float:
        """The least ε at which δ has fallen to `target`, to two digits; infinite where there is none.

        From one bracket to the next by the chord of ln δ, and by halves where that hardly moves an end.
        """
        self.at(_FIRST)
        if self.at(0).upper <= target:
            return 0
        if self.curve.infinity_mass().upper > target:
            return float("inf")
        while not self._reached(target):
            if max(self.known) > _MOST:
                return float("inf")
            self.at(max(self.known) * _STEP)
        while not self._above(target):
            if min(self._reached(target)) < _LEAST:
                return 0
            self.at(min(self._reached(target)) / _STEP)
        low, high, halve = max(self._above(target)), min(self._reached(target)), False
        while _rounded(low) != _rounded(high):
            middle = (low + high) / 2 if halve else self._chord(low, high, target)
            if not low < middle < high:
                break
            width = high - low
            low, high = (low, middle) if self.at(middle).upper <= target else (middle, high)
            halve = high - low > width / 2
        return high

    def _reached(self, target: float) -> list[float]:
        return [epsilon for epsilon, delta in self.known.items() if delta.upper <= target]

    def _above(self, target: float) -> list[float]:
        return [epsilon for epsilon, delta in self.known.items() if delta.upper > target and epsilon > 0]

    def _chord(self, low: float, high: float, target: float) -> float:
        """Where the chord of ln δ reaches the target, to two digits where that lies between."""
        upper, lower = self.at(low).upper, self.at(high).upper
        share = log(upper / target) / log(upper / lower) if lower > 0 else 0.5
        found = low + (high - low) * min(max(share, 0.01), 0.99)
        return _rounded(found) if low < _rounded(found) < high else found


def _rounded(epsilon: float) -> float:
    return float(f"{epsilon:.2g}")
