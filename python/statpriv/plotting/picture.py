"""A picture as values: lines of certified numbers over a common axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from statpriv.curves.curve import PrivacyCurve
from statpriv.numeric.enclosure import Enclosure

__all__ = ["Line", "Picture", "Quantity", "Reference", "Statement"]

Quantity: TypeAlias = Literal["epsilon", "delta", "alpha", "beta", "n", "known", "queries", "size", "distance", "rmse"]


@dataclass(frozen=True)
class Statement:
    """What values rest on that are read off no privacy curve: named as a curve names it."""

    kind: Literal["exact", "bound"]
    theorem: str
    source: str
    assumptions: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """Certified values of one quantity at several places.

    Attributes
    ----------
    label : str
        What tells it from the other lines.
    places : tuple of float
        Where, in increasing order; counts are integers.
    values : tuple of Enclosure
        As many.
    curves : tuple of PrivacyCurve or Statement
        What the values were read off: one curve, or one for each place; or what they rest on.
    """

    label: str
    places: tuple[float, ...]
    values: tuple[Enclosure, ...]
    curves: tuple[PrivacyCurve | Statement, ...]

    @property
    def is_exact(self) -> bool:
        """Whether the values enclose the quantity itself, not a bound of it."""
        return all(curve.kind == "exact" for curve in self.curves)


@dataclass(frozen=True)
class Reference:
    """Points to compare with, joined by a thin line or each by itself."""

    label: str
    places: tuple[float, ...]
    heights: tuple[float, ...]


@dataclass(frozen=True)
class Picture:
    """Lines over a common axis, with all that is needed to draw them.

    Attributes
    ----------
    across, up : str
        The quantities on the axes: "epsilon", "alpha", "n", "known", "queries", "size" or "distance"; "delta", "beta",
        "epsilon" or "rmse".
    title : str
        What all lines have in common.
    lines : tuple of Line
        At least one, or else marks.
    references : tuple of Reference
        Thin grey lines.
    marks : Reference, optional
        Single points, drawn as circles.
    decades : int
        A logarithmic axis of δ follows the lines so far down; the data go on.
    """

    across: Quantity
    up: Quantity
    title: str
    lines: tuple[Line, ...]
    references: tuple[Reference, ...] = ()
    marks: Reference | None = None
    decades: int = 10

    def heights(self, line: Line) -> list[float]:
        """The safe end of each value: the upper one of δ, the lower one of β."""
        return [value.lower if self.up == "beta" else value.upper for value in line.values]
