"""Several δ of one release, taken together: the greatest, the least, and a weighted sum."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from statpriv.numeric.enclosure import Enclosure

__all__ = ["at_most_one", "greatest", "least", "weighted"]


def greatest(deltas: Sequence[Enclosure]) -> Enclosure:
    """The largest of the δ values."""
    return Enclosure(max(delta.lower for delta in deltas), max(delta.upper for delta in deltas))


def least(bounds: Sequence[Enclosure]) -> Enclosure:
    """The smallest of several bounds on one δ."""
    return Enclosure(min(delta.lower for delta in bounds), min(delta.upper for delta in bounds))


def weighted(weights: Sequence[Fraction], deltas: Sequence[Enclosure]) -> Enclosure:
    """The weighted sum, with weights that sum to at most 1."""
    ends = [
        sum((weight * Fraction(end) for weight, end in zip(weights, side, strict=True)), Fraction(0))
        for side in ([delta.lower for delta in deltas], [delta.upper for delta in deltas])
    ]
    return at_most_one(Enclosure(*ends))


def at_most_one(delta: Enclosure) -> Enclosure:
    """Cap a bound on δ at 1; δ is a difference of probabilities."""
    return Enclosure(min(delta.lower, 1.0), min(delta.upper, 1.0))
