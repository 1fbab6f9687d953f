"""δ of a curve at one ε, remembered.

A report asks for the same number on several of its sheets, and whoever recomputes it asks for all of them again.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from statpriv.curves.curve import PrivacyCurve
from statpriv.numeric.enclosure import Enclosure

_REMEMBERED = 2048
"""About the numbers of three reports. A curve is kept with each of its numbers."""


@lru_cache(maxsize=_REMEMBERED)
def remembered_delta(curve: PrivacyCurve, epsilon: Fraction) -> Enclosure:
    """`curve.delta(epsilon)`. Curves that state the same are one, however often they are built."""
    return curve.delta(epsilon)
