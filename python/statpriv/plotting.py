"""Pictures of certified numbers: δ against ε, against the size of the population and against what is known.

A :class:`Picture` is computed first and drawn afterwards, so that its data can be stored beside it and are what is
seen. It needs no matplotlib; :func:`draw` and the functions `plot_…` do. Of every enclosure the safe end is drawn: the
upper one of δ, the lower one of β. Lines are told apart by their dashes as well as by their colours.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from statpriv.adversaries import Adversary
from statpriv.analysis import privacy_curve
from statpriv.curve import PrivacyCurve
from statpriv.designs import written
from statpriv.enclosure import Enclosure
from statpriv.errors import ArgumentError, MissingExtraError
from statpriv.literals import abridged, literal
from statpriv.numbers import Number, as_count, as_fraction, is_array
from statpriv.populations import Population
from statpriv.queries.processed import Processed
from statpriv.queries.property import Between, PropertyQuery
from statpriv.situation import Situation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from statpriv.designs import Design, TradeOff
    from statpriv.rules.registry import AnySituation
    from statpriv.samplings import Sampling
    from statpriv.situation import Query

__all__ = [
    "Line",
    "Picture",
    "Reference",
    "Statement",
    "against_epsilon",
    "against_known",
    "against_size",
    "design_picture",
    "draw",
    "plot_against_known",
    "plot_against_size",
    "plot_curve",
    "plot_design",
    "plot_designs",
    "plot_trade_off",
    "render",
    "require_matplotlib",
    "sizes_between",
    "trade_off",
    "trade_off_pictures",
]

Quantity: TypeAlias = Literal["epsilon", "delta", "alpha", "beta", "n", "known", "queries", "size", "distance", "rmse"]

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
}
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
"""Okabe and Ito's: distinct to every kind of colour vision."""
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
"""An axis is logarithmic if its largest value is more than so many times its least."""
_DECADES_OF_A_CURVE = 6
_MOST_SPELLED_OUT = 10**6
"""Ticks of an axis of counts that ends before it are written with all their digits."""
_COUNTS: tuple[Quantity, ...] = ("n", "known", "queries", "size")
_MOST_DIRECT_LABELS = 6
_LABEL_HEIGHT = 12.0
"""Points between the feet of two labels that do not touch."""


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


def plot_curve(curve: PrivacyCurve, ax: Axes | None = None, *, points: int = 200) -> Axes:
    """δ against ε.

    Parameters
    ----------
    curve : PrivacyCurve
        Of one answer or of several together.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    points : int, default 200
        Number of ε, from 0 to where δ has fallen by six orders of magnitude.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    """
    return _on_axes(lambda: against_epsilon(curve, points=points), ax)


def plot_trade_off(curve: PrivacyCurve, ax: Axes | None = None, *, points: int = 200) -> Axes:
    """The least type II error β of a test with type I error α, below the 1 − α of a test that sees nothing.

    Parameters
    ----------
    curve : PrivacyCurve
        Of one answer or of several together.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    points : int, default 200
        Number of α, from 0 to 1.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    """
    return _on_axes(lambda: trade_off(curve, points=points), ax)


def plot_against_size(
    query: Query | Sequence[Query],
    sizes: Iterable[Number],
    epsilon: Number | Sequence[Number],
    ax: Axes | None = None,
    *,
    adversary: Adversary | None = None,
    sampling: Sampling | None = None,
    bound: str = "tightest",
) -> Axes:
    """δ against the size of the population, one line for each query and each ε.

    Parameters
    ----------
    query : a query, or several
        Such as `PropertyQuery(p)` for several p.
    sizes : iterable of int
        At least two different sizes, such as :func:`sizes_between` chooses.
    epsilon : number, or several
        ε in nats, at least 0.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    adversary, sampling, bound : optional
        As of :func:`statpriv.privacy_curve`.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    """
    return _on_axes(
        lambda: against_size(query, sizes, epsilon, adversary=adversary, sampling=sampling, bound=bound), ax
    )


def plot_against_known(
    query: Query,
    population: Population,
    epsilon: Number | Sequence[Number],
    ax: Axes | None = None,
    *,
    sampling: Sampling | None = None,
    bound: str = "tightest",
    points: int = 100,
) -> Axes:
    """δ against the number of entries that an adversary knows, one line for each ε.

    With noise the lines flatten at the level of the noise alone, which is drawn too.

    Parameters
    ----------
    query : a query
        What is asked.
    population : Population
        Of at least two entries.
    epsilon : number, or several
        ε in nats, at least 0.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    sampling, bound : optional
        As of :func:`statpriv.privacy_curve`.
    points : int, default 100
        About how many numbers of known entries, from none to all others, closer together near the end.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    """
    return _on_axes(
        lambda: against_known(query, population, epsilon, sampling=sampling, bound=bound, points=points), ax
    )


def plot_design(design: Design, ax: Axes | None = None) -> Axes:
    """δ of the alternatives that a plan was chosen from, the target, and the answer.

    Parameters
    ----------
    design : Design
        What a function of `statpriv.design` gave; of one with no number that varies the whole curve is drawn.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    """
    return _on_axes(lambda: design_picture(design), ax)


def plot_designs(designs: TradeOff, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
    """δ and the root mean squared error against the number of queries.

    Parameters
    ----------
    designs : TradeOff
        What `statpriv.design.trade_off` gave.
    axes : two matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    two matplotlib Axes

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    """
    require_matplotlib()
    from matplotlib import pyplot

    pictures = trade_off_pictures(designs)
    if axes is None:
        _, axes = pyplot.subplots(1, len(pictures), figsize=_figure_size(*pictures), layout="constrained")
    return [draw(picture, ax) for picture, ax in zip(pictures, axes, strict=True)]


def design_picture(design: Design) -> Picture:
    """The picture of :func:`plot_design`."""
    across = _ACROSS.get(design.unknown)
    tried = [trial for trial in design.trials if trial.delta is not None and trial.curve is not None]
    if across is None or len(tried) < 2:
        if design.curve is None:
            raise ArgumentError(f"design = {design!r}; one with a curve is required")
        return against_epsilon(design.curve)
    places = tuple(float(trial.value) for trial in tried)
    exact = all(trial.curve is not None and trial.curve.kind == "exact" for trial in tried)
    heights = tuple(trial.delta.upper for trial in tried if trial.delta is not None)
    # Between the alternatives nothing was evaluated: no line joins them.
    marks = Reference("δ" if exact else "upper bound of δ", places, heights)
    target = () if design.target is None else (_level("target", design.target, places),)
    return Picture(across, "delta", f"{design.unknown}: {written(design.value)}", (), target, marks)


def trade_off_pictures(designs: TradeOff) -> tuple[Picture, Picture]:
    """The pictures of :func:`plot_designs`."""
    places = tuple(row.queries for row in designs)
    if len(places) < 2:
        raise ArgumentError(f"designs = {designs!r}; at least two numbers of queries are required")
    curves = tuple(row.curve for row in designs if row.curve is not None)
    shared = Line("all entries used", places, tuple(row.delta for row in designs), curves)
    privacy = Picture(
        "queries",
        "delta",
        "privacy",
        _marked_as_bounds([shared]),
        () if designs.target is None else (_level("target", designs.target, places),),
    )

    asked = [row for row in designs if row.rmse.upper > 0]  # that of one query is 0, and has no logarithm
    errors = [_errors("all entries used", [(row.queries, row.rmse) for row in asked], curves)]
    reached = [(row.queries, row.rmse_at_guarantee) for row in asked if row.rmse_at_guarantee is not None]
    if designs.target is not None and len(reached) > 1:
        errors.append(_errors(f"parts that reach δ ≤ {_spelled(designs.target)}", reached, curves))
    return privacy, Picture("queries", "rmse", "accuracy", tuple(errors))


_ACROSS: dict[str, Quantity] = {
    "queries": "queries",
    "entries": "n",
    "size of a part": "size",
    "known entries": "known",
    "distance of p from what is stated": "distance",
}
"""By the unknown of a plan what its alternatives differ in."""


def _errors(label: str, values: Sequence[tuple[int, Enclosure]], curves: tuple[PrivacyCurve, ...]) -> Line:
    return Line(label, tuple(m for m, _ in values), tuple(error for _, error in values), curves)


def _level(label: str, height: Fraction, places: Sequence[float]) -> Reference:
    """A horizontal line."""
    return Reference(label, (places[0], places[-1]), (float(height), float(height)))


def against_epsilon(curve: PrivacyCurve, *, points: int = 200) -> Picture:
    """The picture of :func:`plot_curve`."""
    points = as_count(points, "points", least=2)
    start = curve.delta(0).upper
    lowest = max(start * 10.0**-_DECADES_OF_A_CURVE, curve.mass_at_infinity().upper * (1 + 1e-9), 1e-300)
    end = curve.epsilon(lowest).upper
    end = end if math.isfinite(end) and end > 0 else 1.0
    places = [end * k / (points - 1) for k in range(points)]
    values = curve.delta(places)
    label = "δ(ε)" if curve.kind == "exact" else "upper bound of δ(ε)"
    line = Line(label, tuple(places), tuple(values[k] for k in range(points)), (curve,))
    return Picture("epsilon", "delta", _title(curve.situation), (line,))


def trade_off(curve: PrivacyCurve, *, points: int = 200) -> Picture:
    """The picture of :func:`plot_trade_off`."""
    points = as_count(points, "points", least=2)
    places = [k / (points - 1) for k in range(points)]
    label = "β(α)" if curve.kind == "exact" else "lower bound of β(α)"
    line = Line(label, tuple(places), tuple(curve.beta(alpha) for alpha in places), (curve,))
    blind = Reference("1 − α: seeing nothing", (0.0, 1.0), (1.0, 0.0))
    return Picture("alpha", "beta", _title(curve.situation), (line,), (blind,))


def against_size(
    query: Query | Sequence[Query],
    sizes: Iterable[Number],
    epsilon: Number | Sequence[Number],
    *,
    adversary: Adversary | None = None,
    sampling: Sampling | None = None,
    bound: str = "tightest",
) -> Picture:
    """The picture of :func:`plot_against_size`.

    Examples
    --------
    >>> import statpriv as sp
    >>> from statpriv.plotting import against_size
    >>> picture = against_size(sp.PropertyQuery("1/2"), [1, 2, 4], 0)
    >>> [value.upper for value in picture.lines[0].values]
    [1.0, 0.5, 0.375]
    """
    queries: Sequence[Query] = query if isinstance(query, list | tuple) else (query,)
    epsilons = _several(epsilon, "epsilon")
    places = tuple(sorted({as_count(size, "sizes", least=1) for size in sizes}))
    if not queries:
        raise ArgumentError(f"query = {abridged(query)}; at least one query is required")
    if len(places) < 2:
        raise ArgumentError(f"sizes = {abridged(list(places))}; at least two different sizes are required")
    lines = []
    for asked in queries:
        curves = tuple(
            privacy_curve(asked, Population(n), adversary=adversary, sampling=sampling, bound=bound) for n in places
        )
        for exact in epsilons:
            names = (_described(asked), f"ε = {_spelled(exact)}")
            varying = [name for name, all_names in zip(names, (queries, epsilons), strict=True) if len(all_names) > 1]
            lines.append(Line(", ".join(varying or names[1:]), places, _deltas(curves, exact), curves))
    common = [_described(queries[0])] if len(queries) == 1 else []
    common += [f"ε = {_spelled(epsilons[0])}"] if len(epsilons) == 1 and len(queries) > 1 else []
    common += _circumstances(0 if adversary is None else adversary.total, sampling)
    return Picture("n", "delta", ", ".join(common), _marked_as_bounds(lines))


def against_known(
    query: Query,
    population: Population,
    epsilon: Number | Sequence[Number],
    *,
    sampling: Sampling | None = None,
    bound: str = "tightest",
    points: int = 100,
) -> Picture:
    """The picture of :func:`plot_against_known`.

    Examples
    --------
    >>> import statpriv as sp
    >>> from statpriv.plotting import against_known
    >>> picture = against_known(sp.PropertyQuery("1/2"), sp.Population(4), 0)
    >>> [(known, value.upper) for known, value in zip(picture.lines[0].places, picture.lines[0].values)]
    [(0, 0.375), (1, 0.5), (2, 0.5), (3, 1.0)]
    """
    epsilons = _several(epsilon, "epsilon")
    if not isinstance(population, Population) or population.size < 2:
        raise ArgumentError(f"population = {abridged(population)}; a Population of at least two entries is required")
    places = _numbers_known(population.size, as_count(points, "points", least=2))
    curves = tuple(
        privacy_curve(query, population, adversary=Adversary(known=known), sampling=sampling, bound=bound)
        for known in places
    )
    lines = [Line(f"ε = {_spelled(exact)}", places, _deltas(curves, exact), curves) for exact in epsilons]
    levels = [line.values[-1].upper for line in lines]
    references = [Reference("all others known", (0, places[-1]), (level, level)) for level in levels if 0 < level < 1]
    title = ", ".join([_described(query), f"n = {population.size:,}", *_circumstances(0, sampling)])
    return Picture("known", "delta", title, _marked_as_bounds(lines), tuple(references))


def sizes_between(first: Number, last: Number, points: int = 100) -> list[int]:
    """At most so many sizes from the first to the last, both included, in about equal ratios.

    Examples
    --------
    >>> from statpriv.plotting import sizes_between
    >>> sizes_between(1, 1024, 6)
    [1, 4, 16, 64, 256, 1024]
    """
    low, high = as_count(first, "first", least=1), as_count(last, "last", least=1)
    if high <= low:
        raise ArgumentError(f"first = {low} and last = {high}; first < last is required")
    steps = as_count(points, "points", least=2) - 1
    inner = {round(low * (high / low) ** (k / steps)) for k in range(1, steps)}
    return sorted({low, high, *inner})


def draw(picture: Picture, ax: Axes) -> Axes:
    """Draw a picture on axes that may hold lines already.

    Parameters
    ----------
    picture : Picture
        What to draw.
    ax : matplotlib Axes
        Where.

    Returns
    -------
    matplotlib Axes
        The same.
    """
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
        ax.plot(
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
    """A picture, or several side by side, as a file: "svg", "png" or "pdf", the same bytes for the same pictures.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    """
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    # Not what somebody's matplotlibrc says; no date and no random names; letters in PDF that printers accept.
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update({"svg.hashsalt": "statpriv", "pdf.fonttype": 42})
        pictures = [picture] if isinstance(picture, Picture) else list(picture)
        figure = Figure(figsize=_figure_size(*pictures), layout="constrained")
        for each, ax in zip(pictures, figure.subplots(1, len(pictures), squeeze=False)[0], strict=True):
            draw(each, ax)
        undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        file = io.BytesIO()
        figure.savefig(file, format=file_format, dpi=_DOTS_PER_INCH, metadata=undated.get(file_format))
    return file.getvalue()


def _on_axes(picture: Callable[[], Picture], ax: Axes | None) -> Axes:
    """Draw on the axes, or on new ones; what cannot be drawn is not computed."""
    require_matplotlib()
    from matplotlib import pyplot

    computed = picture()
    if ax is None:
        _, ax = pyplot.subplots(figsize=_figure_size(computed), layout="constrained")
    return draw(computed, ax)


def _figure_size(*pictures: Picture) -> tuple[float, float]:
    """Side by side, somewhat narrower each than alone."""
    sizes = [_SQUARE if picture.up == "beta" else _FIGURE_SIZE for picture in pictures]
    return sum(width for width, _ in sizes) * (1 if len(sizes) == 1 else 0.8), max(height for _, height in sizes)


def require_matplotlib() -> None:
    """Refuse to draw without it, before anything is computed."""
    try:
        import matplotlib as mpl  # noqa: F401  (only whether it is there)
    except ImportError as error:
        raise MissingExtraError("plots need matplotlib: pip install 'statpriv[plot]'") from error


def _several(value: Number | Sequence[Number], name: str) -> list[Fraction]:
    numbers: Iterable[Number] = value if is_array(value) else (value,)  # type: ignore[assignment]
    exact = [as_fraction(number, name) for number in numbers]
    if not exact:
        raise ArgumentError(f"{name} = {abridged(value)}; at least one number is required")
    return exact


def _deltas(curves: Iterable[PrivacyCurve], epsilon: Fraction) -> tuple[Enclosure, ...]:
    return tuple(curve.delta(epsilon) for curve in curves)


def _marked_as_bounds(lines: list[Line]) -> tuple[Line, ...]:
    return tuple(line if line.is_exact else replace(line, label=f"{line.label} (upper bound)") for line in lines)


def _numbers_known(population: int, points: int) -> tuple[int, ...]:
    """About so many numbers from 0 to all others: half of them evenly, half closer together near the end."""
    others = population - 1
    if population <= points:
        return tuple(range(population))
    half = points // 2
    evenly = {others * k // half for k in range(half + 1)}
    return tuple(sorted(evenly | {others + 1 - unknown for unknown in sizes_between(1, others + 1, points - half)}))


def _spelled(value: Fraction) -> str:
    """As people write it, or its nearest double where that takes too many digits."""
    text = literal(value)
    return text if len(text) <= 12 else repr(float(value))


def _described(query: object) -> str:
    """What is asked, in few words."""
    if isinstance(query, Processed):
        return ", ".join([_described(query.query), *(_step(step) for step in query.steps)])
    name = getattr(query, "name", None)
    if name is not None:
        return str(name)
    if isinstance(query, PropertyQuery):
        p = query.p
        return f"p from {_spelled(p.lower)} to {_spelled(p.upper)}" if isinstance(p, Between) else f"p = {_spelled(p)}"
    return type(query).__name__


def _step(step: object) -> str:
    return repr(step).removeprefix("noise.").replace("'", "")


def _circumstances(known: int, sampling: Sampling | None) -> list[str]:
    return [*([f"{known:,} known"] if known else []), *([] if sampling is None else [repr(sampling)])]


def _title(situation: AnySituation) -> str:
    """The situation in one line."""
    if not isinstance(situation, Situation):
        return situation.title
    size = f"n = {situation.population.size:,} entries"
    return ", ".join(
        [
            _described(situation.query),
            size,
            *_circumstances(situation.adversary.total, situation.sampling),
        ]
    )


def _scale(picture: Picture, ax: Axes) -> None:
    """Limits and scales, from all that is on the axes; a logarithmic scale stays one."""
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
    if heights.size and (ax.get_yscale() == "log" or max(heights) > _LOGARITHMIC_FROM * min(heights)):
        ax.set_yscale("log")
        ax.set_ylim(max(min(heights), max(heights) * 10.0**-picture.decades) / 1.3, max(heights) * 1.3)
    else:
        ax.set_ylim(0, max(heights, default=1.0) * 1.05)
    if picture.across in ("n", "queries") and max(places) > _LOGARITHMIC_FROM * min(places):
        ax.set_xscale("log")
    ax.set_xlim(min(places), max(places))
    if picture.across in _COUNTS and max(places) < _MOST_SPELLED_OUT:
        ax.xaxis.set_major_formatter(_count)


def _count(number: float, _position: float | None = None) -> str:
    """A tick at a number of entries; none between two integers."""
    return f"{number:,.0f}" if number == round(number) else ""


def _label_directly(picture: Picture, ax: Axes) -> bool:
    """Write the label of each line at its right end, if all ends are seen and apart from each other."""
    ends = [(line.places[-1], picture.heights(line)[-1], line.label) for line in picture.lines]
    if not 2 <= len(ends) <= _MOST_DIRECT_LABELS:
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
