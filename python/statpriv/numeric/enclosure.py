"""Enclosures: the only kind of number statpriv returns."""

from __future__ import annotations

from statpriv._native import Enclosure
from statpriv.numeric.exact import Number, as_fraction

__all__ = ["Enclosure", "as_enclosure"]


def as_enclosure(value: Number | Enclosure, name: str) -> Enclosure:
    """The enclosure itself, or the enclosure of a number."""
    return value if isinstance(value, Enclosure) else Enclosure(as_fraction(value, name))
