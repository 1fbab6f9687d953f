"""Drawing of a picture: axes, dashes, labels, files.

The safe end of every enclosure is drawn: the upper end of δ, the lower end of β and of the chance to be published.
Lines differ in their dashes as well as in their colours. matplotlib is imported only when something is drawn.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from statpriv.errors import MissingExtraError
from statpriv.plotting.picture import Picture, Quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_AXIS_LABELS: dict[Quantity, str] = {
    "epsilon": "ε (nats)",
    "delta": "δ",
    "alpha": "type I error α",
    "beta": "type II error β",
    "n": "size n of the population (entries)",
    "known": "known entries",
    "queries": "number of queries",
    "size": "entries of a part",
    "distance": "distance of p from what is stated",
    "rmse": "root mean squared error",
    "minimum": "least number of rows in every cell",
    "published": "probability that the table is published",
}
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
"""The palette of Okabe and Ito, distinguishable under every kind of colour vision."""
_DASHES: tuple[str | tuple[int, tuple[float, ...]], ...] = (
    "-",
    (0, (6, 2)),
    (0, (6, 2, 1, 2)),
    (0, (1, 1.5)),
    (0, (6, 2, 1, 2, 1, 2)),
    (0, (2.5, 1.5)),
)
_FIGURE_SIZE = (6.4, 4.0)
_SQUARE = (4.4, 4.3)
_DOTS_PER_INCH = 200
_LOGARITHMIC_FROM = 30
"""Ratio of the largest to the smallest value above which an axis is logarithmic."""
_MAX_SPELLED_OUT = 10**6
"""Upper end of an axis of counts below which ticks are written with all their digits."""
_COUNTS: tuple[Quantity, ...] = ("n", "known", "queries", "size", "minimum")
_MAX_DIRECT_LABELS = 6
_LABEL_HEIGHT = 12.0
"""Least vertical distance, in points, between two labels that do not touch."""


def draw(picture: Picture, ax: Axes) -> Axes:
    """Draw a picture on axes that may hold lines already; the same axes are returned."""
    drawn_before = len(ax.get_lines())
    for number, line in enumerate(picture.lines, start=drawn_before):
        ax.plot(
            line.places,
            picture.heights(line),
            label=line.label,
            color=_COLOURS[number % len(_COLOURS)],
            linestyle=_DASHES[number % len(_DASHES)],
            linewidth=1.6,
        )
    for number, reference in enumerate(picture.references):
        label = reference.label if number == 0 else "_nolegend_"
        ax.plot(reference.places, reference.heights, label=label, color="0.55", linestyle="-", linewidth=0.8, zorder=1)
    if (marks := picture.marks) is not None:
        (drawn,) = ax.plot(
            marks.places,
            marks.heights,
            "o",
            label=marks.label,
            color="0.2",
            markerfacecolor="none",
            markersize=4.5,
            markeredgewidth=0.8,
        )
    _scale(picture, ax)
    if marks is not None:  # marks on an axis are drawn whole; marks far below it are clipped
        drawn.set_clip_on(min(marks.heights) < ax.get_ylim()[0])
    ax.set_xlabel(_AXIS_LABELS[picture.across])
    ax.set_ylabel(_AXIS_LABELS[picture.up])
    ax.set_title(picture.title, fontsize="medium")
    ax.grid(visible=True, which="major", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if drawn_before or picture.marks or not _label_directly(picture, ax):
        ax.legend(frameon=False, fontsize="small", handlelength=3.2)
    return ax


def render(picture: Picture | Sequence[Picture], file_format: str) -> bytes:
    """A picture, or several side by side, as a file in "svg", "png" or "pdf"; equal pictures give equal bytes.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    """
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    # Ignore any matplotlibrc; write no date and no random names; embed letters in PDF that printers accept.
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update({"svg.hashsalt": "statpriv", "pdf.fonttype": 42})
        pictures = [picture] if isinstance(picture, Picture) else list(picture)
        figure = Figure(figsize=figure_size(*pictures), layout="constrained")
        for each, ax in zip(pictures, figure.subplots(1, len(pictures), squeeze=False)[0], strict=True):
            draw(each, ax)
        undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        file = io.BytesIO()
        figure.savefig(file, format=file_format, dpi=_DOTS_PER_INCH, metadata=undated.get(file_format))
    return file.getvalue()


def figure_size(*pictures: Picture) -> tuple[float, float]:
    """The figure size for pictures side by side, each somewhat narrower than a single one."""
    sizes = [_SQUARE if picture.up == "beta" else _FIGURE_SIZE for picture in pictures]
    return sum(width for width, _ in sizes) * (1 if len(sizes) == 1 else 0.8), max(height for _, height in sizes)


def require_matplotlib() -> None:
    """Refuse to draw without matplotlib, before anything is computed."""
    try:
        import matplotlib as mpl  # noqa: F401  (only whether it is there)
    except ImportError as error:
        raise MissingExtraError("plots need matplotlib: pip install 'statpriv[plot]'") from error


def _scale(picture: Picture, ax: Axes) -> None:
    """Limits and scales, from everything on the axes; a logarithmic scale stays logarithmic."""
    import numpy as np

    lines = ax.get_lines()
    places = np.concatenate([np.asarray(line.get_xdata(), dtype=float) for line in lines])
    heights = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in lines])
    heights = heights[heights > 0]
    if picture.up == "beta":
        ax.set_aspect("equal")
        ax.set_xlim(0, 1)
        ax.set_ylim(0, 1)
        return
    if picture.up == "published":
        ax.set_ylim(0, 1.02)
    elif heights.size and (ax.get_yscale() == "log" or max(heights) > _LOGARITHMIC_FROM * min(heights)):
        ax.set_yscale("log")
        ax.set_ylim(max(min(heights), max(heights) * 10.0**-picture.decades) / 1.3, max(heights) * 1.3)
    else:
        ax.set_ylim(0, max(heights, default=1.0) * 1.05)
    if picture.across in ("n", "queries") and max(places) > _LOGARITHMIC_FROM * min(places):
        ax.set_xscale("log")
    ax.set_xlim(min(places), max(places))
    if picture.across in _COUNTS and max(places) < _MAX_SPELLED_OUT:
        ax.xaxis.set_major_formatter(_count)


def _count(number: float, _position: float | None = None) -> str:
    """A tick at a number of entries; none between two integers."""
    return f"{number:,.0f}" if number == round(number) else ""


def _label_directly(picture: Picture, ax: Axes) -> bool:
    """Label each line at its right end, if all ends are visible and far enough apart."""
    ends = [(line.places[-1], picture.heights(line)[-1], line.label) for line in picture.lines]
    if not 2 <= len(ends) <= _MAX_DIRECT_LABELS:
        return False
    lowest, highest = ax.get_ylim()
    if not all(lowest <= height <= highest for _, height, _ in ends):
        return False
    points_per_pixel = 72 / ax.figure.dpi
    feet = sorted(ax.transData.transform((place, height))[1] * points_per_pixel for place, height, _ in ends)
    if any(above - below < _LABEL_HEIGHT for below, above in pairwise(feet)):
        return False
    for number, (place, height, label) in enumerate(ends):
        ax.annotate(
            label,
            (place, height),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color=_COLOURS[number % len(_COLOURS)],
            annotation_clip=False,
        )
    for reference in picture.references[:1]:
        ax.annotate(
            reference.label,
            (reference.places[0], reference.heights[0]),
            xytext=(4, 2),
            textcoords="offset points",
            fontsize="small",
            color="0.4",
        )
    return True
