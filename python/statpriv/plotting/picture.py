"""Pictures as values: lines of certified numbers over a common axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from statpriv.curves.curve import PrivacyCurve
from statpriv.numeric.enclosure import Enclosure

Quantity: TypeAlias = Literal[
    "epsilon",
    "delta",
    "alpha",
    "beta",
    "n",
    "known",
    "queries",
    "size",
    "distance",
    "rmse",
    "minimum",
    "published",
]


@dataclass(frozen=True)
class Statement:
    """The basis of values that were not read off a privacy curve, with the attributes of a curve."""

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
        The text that distinguishes this line from the others.
    places : tuple of float
        Positions, in increasing order; counts are integers.
    values : tuple of Enclosure
        One value for each place.
    curves : tuple of PrivacyCurve or Statement
        The source of the values: one curve, or one for each place; or the statements they rest on.
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
    """Reference points, joined by a thin line or drawn separately."""

    label: str
    places: tuple[float, ...]
    heights: tuple[float, ...]


@dataclass(frozen=True)
class Picture:
    """Lines over a common axis, with everything needed to draw them.

    Attributes
    ----------
    across, up : str
        The quantities on the axes: "epsilon", "alpha", "n", "known", "queries", "size", "distance" or "minimum";
        "delta", "beta", "epsilon", "rmse" or "published".
    title : str
        What all lines share.
    lines : tuple of Line
        At least one line, unless there are marks.
    references : tuple of Reference
        Thin grey lines.
    marks : Reference, optional
        Single points, drawn as circles.
    decades : int
        Number of decades that a logarithmic axis of δ displays below the lines; the data continue below.
    """

    across: Quantity
    up: Quantity
    title: str
    lines: tuple[Line, ...]
    references: tuple[Reference, ...] = ()
    marks: Reference | None = None
    decades: int = 10

    def heights(self, line: Line) -> list[float]:
        """The safe end of each value: the upper end of δ, the lower end of β and of the chance to be published."""
        return [value.lower if self.up in ("beta", "published") else value.upper for value in line.values]
