"""Geometry of the report's figures: converts numbers to positions.

The template draws the figures, so that the engine that escapes the rest of the page also escapes their texts.
Positions are per cent of the plot (paths: thousandths), so that a figure scales to any width while its lettering
keeps its size. Logarithms are computed in decimal arithmetic, which rounds identically on every machine. The same
report therefore gives the same bytes everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any, Protocol

__all__ = [
    "AnswerRow",
    "Axis",
    "Band",
    "Chart",
    "DotRow",
    "Line",
    "LinearAxis",
    "LogAxis",
    "Mark",
    "Strip",
    "Tick",
    "answer_strip",
    "comparison_strip",
    "declared",
    "delta_against_epsilon",
    "delta_against_known_rows",
    "delta_against_probability",
    "histograms",
]

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_MAX_DECADES_BELOW_TARGET = 6
_MIN_SPREAD = 1e-9


@dataclass(frozen=True)
class Tick:
    """A labelled position on an axis, in per cent of its length."""

    position: str
    label: str


@dataclass(frozen=True)
class Line:
    """A curve: an SVG path in a box of 1000 by 1000, and its style class."""

    style: str
    path: str


@dataclass(frozen=True)
class Mark:
    """A dot, in per cent of the plot from its upper left corner."""

    x: str
    y: str


@dataclass(frozen=True)
class Band:
    """A range on the horizontal axis, in per cent."""

    start: str
    width: str


@dataclass(frozen=True)
class Chart:
    """Everything the template needs to draw one figure of δ as a function of another quantity."""

    x_label: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lines: tuple[Line, ...]
    target: str
    here: Mark | None = None
    band: Band | None = None


@dataclass(frozen=True)
class AnswerRow:
    """One answer as dot or bar with interval over its declared range; without a count, only the range."""

    declared: Band | None
    interval: Band | None
    dot: str | None


@dataclass(frozen=True)
class DotRow:
    """Dots on a common scale; an infinite value has no dot."""

    style: str
    dots: tuple[str, ...]


@dataclass(frozen=True)
class Strip:
    """Rows that share one horizontal axis."""

    ticks: tuple[Tick, ...]
    answers: tuple[AnswerRow, ...] = ()
    dots: tuple[DotRow, ...] = ()
    query: str | None = None


class Axis(Protocol):
    """Maps values to positions between the two ends of an axis."""

    def share(self, value: float) -> float:
        """Return 0 for the lower end and 1 for the upper end, linearly in the axis's scale, also beyond the ends."""


@dataclass(frozen=True)
class LinearAxis:
    """An axis whose ends are multiples of its step."""

    lower: float
    upper: float
    step: float
    percent: bool = False

    @classmethod
    def around(cls, values: Sequence[float], *, steps: int = 5, percent: bool = False) -> LinearAxis:
        """Return the axis that contains all values, with a step of 1, 2, 2.5 or 5 times a power of ten."""
        lower, upper = min(values), max(values)
        spread = Decimal(upper - lower if upper - lower > _MIN_SPREAD else 1.0)
        decade = Decimal(10) ** (spread / steps).adjusted()
        step = next(s for s in (m * decade for m in map(Decimal, ("1", "2", "2.5", "5", "10"))) if spread <= s * steps)
        first = (Decimal(lower) / step).to_integral_value(ROUND_FLOOR) * step
        last = (Decimal(upper) / step).to_integral_value(ROUND_CEILING) * step
        return cls(float(first), float(max(last, first + step)), float(step), percent)

    def share(self, value: float) -> float:
        """Return the position of a value as a share of the axis."""
        return (value - self.lower) / (self.upper - self.lower)

    def ticks(self) -> tuple[Tick, ...]:
        """Return a tick for every multiple of the step."""
        number = round((self.upper - self.lower) / self.step)
        values = (Decimal(repr(self.lower)) + i * Decimal(repr(self.step)) for i in range(number + 1))
        return tuple(Tick(_percent(self.share(float(v))), self._label(v)) for v in values)

    def _label(self, value: Decimal) -> str:
        shown = value * 100 if self.percent else value
        if abs(shown) >= 10000 and not self.percent:
            return f"{shown:,.0f}"
        text = f"{shown.normalize():f}" if shown else "0"
        return f"{text}%" if self.percent else text


@dataclass(frozen=True)
class LogAxis:
    """A logarithmic axis between two powers of ten; a value below it lies just outside."""

    lowest: int
    highest: int

    @classmethod
    def around(cls, values: Sequence[float], target: float) -> LogAxis:
        """Return the axis that contains the values, except values far below the target."""
        exponents = [_log10(v) for v in (*values, target) if v > 0] or [0.0]
        floor = min(exponents)
        if target > 0:
            floor = max(floor, _log10(target) - _MAX_DECADES_BELOW_TARGET)
        lowest = int(Decimal(floor).to_integral_value(ROUND_FLOOR))
        highest = int(Decimal(max(exponents)).to_integral_value(ROUND_CEILING))
        return cls(lowest, max(highest, lowest + 1))

    def share(self, value: float) -> float:
        """Return the position of a value as a share of the axis."""
        below = -0.2
        return max((_log10(value) - self.lowest) / (self.highest - self.lowest), below) if value > 0 else below

    def ticks(self) -> tuple[Tick, ...]:
        """Return ticks at powers of ten, and also at 2 and 5 between them if the axis is short."""
        decades = self.highest - self.lowest
        multiples = (1, 2, 5) if decades <= 2 else (1,)
        stride = -(-decades // 6)
        values = [Decimal(m).scaleb(e) for e in range(self.lowest, self.highest + 1, stride) for m in multiples]
        return tuple(
            Tick(_percent(1 - self.share(float(v))), _power_label(v))
            for v in values
            if v <= Decimal(10) ** self.highest
        )


def delta_against_epsilon(report: Mapping[str, Any]) -> Chart:
    """δ of the whole release as a function of ε, with a secret and a known partition."""
    return _secret_and_known(report, report["curves"]["epsilon"], "epsilon", "ε")


def delta_against_known_rows(report: Mapping[str, Any]) -> Chart:
    """δ of the whole release as a function of the number of rows whose values the reader knows."""
    return _secret_and_known(report, _until_one(report), "known_rows", "rows whose values the reader knows")


def _until_one(report: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The numbers of known rows to draw: of a report with tables, where δ rises to 1 within a few rows, up to that."""
    points: Sequence[Mapping[str, Any]] = report["degradation"]
    if "tables" not in report:
        return points
    first = next((k for k, point in enumerate(points) if point["partition_secret"]["upper"] >= 1), len(points) - 1)
    return points[: max(first, 1) + 1]


def delta_against_probability(report: Mapping[str, Any], curve: Mapping[str, Any]) -> Chart:
    """δ of the whole release as a function of the true probability of one property; its declared range is shaded."""
    target = report["guarantee"]["target_delta"]
    points = [(point["p"], point["delta"]["upper"]) for point in curve["points"]]
    exact = [(point["p"], point["exact_counts"]["upper"]) for point in curve["points"] if "exact_counts" in point]
    x = LinearAxis(0.0, 1.0, 0.25)
    y = LogAxis.around([value for _, value in points + exact], target)
    spans = [declared(query) for query in report["queries"] if query["property"] == curve["property"]]
    known = [span for span in spans if span is not None]
    return Chart(
        x_label="true probability p",
        x_ticks=x.ticks(),
        y_ticks=y.ticks(),
        lines=(*([Line("known", _path(exact, x, y))] if exact else []), Line("secret", _path(points, x, y))),
        target=_percent(1 - y.share(target)),
        band=_band(x, min(lower for lower, _ in known), max(upper for _, upper in known)) if known else None,
    )


def answer_strip(report: Mapping[str, Any]) -> Strip | None:
    """The proportion of each count with its interval, over its declared range."""
    found = [(declared(query), answer) for query, cell, answer in _answers(report) if cell is None]
    return _answer_strip(found) if found else None


def histograms(report: Mapping[str, Any]) -> tuple[Strip, ...]:
    """For each histogram, one bar per cell, from 0 to its proportion."""
    answers = _answers(report)
    return tuple(
        _answer_strip([(declared(q, cell), answer) for q, cell, answer in answers if q is query], query=query["name"])
        for query in report["queries"]
        if answers and query["cells"]
    )


def declared(query: Mapping[str, Any], cell: Mapping[str, Any] | None = None) -> tuple[float, float] | None:
    """The declared range of an answer: that of its cell or its query, or the hull over its groups."""
    if cell is not None:
        ranges = [cell["probability"]]
    elif query["probability"] is not None:
        ranges = [query["probability"]]
    else:
        ranges = [group["probability"] for group in query["groups"] or ()]
    if not ranges or None in ranges:
        return None
    ends = [(float(Fraction(each["lower"])), float(Fraction(each["upper"]))) for each in ranges]
    return min(lower for lower, _ in ends), max(upper for _, upper in ends)


def comparison_strip(report: Mapping[str, Any]) -> Strip:
    """Compare the sampling errors of this release with the noise that differential privacy would add."""
    comparison = report["comparison"]
    groups = (
        ("released", comparison["rmse_released"]),
        ("tight", [comparison["noise_tight"]]),
        ("loose", [comparison["noise_loose"]]),
    )
    finite = [value for _, values in groups for value in values if value != "inf"]
    x = LinearAxis.around([0.0, *finite], percent=True)
    return Strip(
        ticks=x.ticks(),
        dots=tuple(
            DotRow(style, tuple(_percent(x.share(value)) for value in values if value != "inf"))
            for style, values in groups
        ),
    )


def _secret_and_known(report: Mapping[str, Any], points: Sequence[Mapping[str, Any]], key: str, x_label: str) -> Chart:
    guarantee = report["guarantee"]
    target = guarantee["target_delta"]
    curves = {
        style: [(point[key], point[f"partition_{style}"]["upper"]) for point in points] for style in ("known", "secret")
    }
    x = LinearAxis.around([0.0, *(point[key] for point in points)])
    y = LogAxis.around([value for curve in curves.values() for _, value in curve], target)
    here = [
        Mark(_percent(x.share(point[key])), _percent(1 - y.share(point["partition_secret"]["upper"])))
        for point in points
        if point[key] == guarantee[key]
    ]
    return Chart(
        x_label=x_label,
        x_ticks=x.ticks(),
        y_ticks=y.ticks(),
        lines=tuple(Line(style, _path(curve, x, y)) for style, curve in curves.items()),
        here=here[0] if here else None,
        target=_percent(1 - y.share(target)),
    )


def _path(points: Sequence[tuple[float, float]], x: Axis, y: Axis) -> str:
    places = (f"{_fixed(1000 * x.share(a))} {_fixed(1000 - 1000 * y.share(b))}" for a, b in points)
    return "M" + " L".join(places)


def _answers(report: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], Mapping[str, Any] | None, Mapping[str, Any]]]:
    """Each answer with its query, and with its cell if it belongs to a histogram."""
    asked = [(query, cell) for query in report["queries"] for cell in query["cells"] or (None,)]
    return [(query, cell, answer) for (query, cell), answer in zip(asked, report["answers"], strict=False)]


def _answer_strip(
    found: Sequence[tuple[tuple[float, float] | None, Mapping[str, Any]]], *, query: str | None = None
) -> Strip:
    """Draw answers with their declared ranges on one axis; for the bars of a histogram the axis includes 0."""
    spans = [span for declared_range, answer in found for span in (declared_range, answer["interval"]) if span]
    values = [end for span in spans for end in span]
    values += [answer["proportion"] for _, answer in found if answer["proportion"] is not None]
    x = LinearAxis.around(values + [0.0] * (query is not None or not values), percent=True)
    rows = tuple(
        AnswerRow(
            declared=None if span is None else _band(x, *span),
            interval=None if answer["interval"] is None else _band(x, *answer["interval"]),
            dot=None if answer["proportion"] is None else _percent(x.share(answer["proportion"])),
        )
        for span, answer in found
    )
    return Strip(ticks=x.ticks(), answers=rows, query=query)


def _band(axis: Axis, lower: float, upper: float) -> Band:
    start, end = axis.share(lower), axis.share(upper)
    return Band(_percent(start), _percent(end - start))


def _percent(share: float) -> str:
    return _fixed(100 * share) + "%"


def _fixed(value: float) -> str:
    """Two decimals, without a minus sign before zero."""
    return f"{round(value, 2) + 0.0:.2f}"


def _log10(value: float) -> float:
    return float(Decimal(value).log10())


def _power_label(value: Decimal) -> str:
    exponent = value.adjusted()
    if exponent >= -3:
        return f"{value.normalize():f}"
    digit = value.scaleb(-exponent).normalize()
    power = "10" + str(exponent).translate(_SUPERSCRIPTS)
    return power if digit == 1 else f"{digit:f}×{power}"
