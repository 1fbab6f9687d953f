"""Pictures of plans: the alternatives tried, and privacy against accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError
from statpriv.numeric.enclosure import Enclosure
from statpriv.planning.designs import written
from statpriv.planning.gate_probability import gate_probability
from statpriv.plotting.curves import against_epsilon, marked_as_bounds, spelled
from statpriv.plotting.picture import Line, Picture, Quantity, Reference, Statement

if TYPE_CHECKING:
    from statpriv.planning.designs import Design, TradeOff
    from statpriv.planning.table_plan import TablePlan

_ACROSS: dict[str, Quantity] = {
    "queries": "queries",
    "entries": "n",
    "size of a part": "size",
    "known entries": "known",
    "distance of p from what is stated": "distance",
}
"""For each unknown of a plan, the quantity in which its alternatives differ."""


_MAX_PLACES = 60
"""Minimum counts at which a picture of a table plan shows its probabilities."""


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
    # No lines join the alternatives, because nothing between them was evaluated.
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
        marked_as_bounds([shared]),
        () if designs.target is None else (_level("target", designs.target, places),),
    )

    asked = [row for row in designs if row.rmse.upper > 0]  # the error of one query is 0, which has no logarithm
    errors = [_errors("all entries used", [(row.queries, row.rmse) for row in asked], curves)]
    reached = [(row.queries, row.rmse_at_guarantee) for row in asked if row.rmse_at_guarantee is not None]
    if designs.target is not None and len(reached) > 1:
        errors.append(_errors(f"parts that reach δ ≤ {spelled(designs.target)}", reached, curves))
    return privacy, Picture("queries", "rmse", "accuracy", tuple(errors))


def table_plan_picture(plan: TablePlan) -> Picture:
    """The picture of :func:`plot_table_plan`."""
    passing = max(each.largest_minimum for each in plan.recodings)
    last = max(2 * plan.minimum, min(passing + passing // 3, 5 * plan.minimum))
    step = max(1, (last - 1) // _MAX_PLACES)
    places = tuple(sorted({plan.minimum, *range(2, last + 1, step)}))
    of = Statement("exact", "the probability that every cell holds the minimum", plan.source, ("shares as stated",))
    lines = tuple(
        Line(
            each.name,
            places,
            tuple(gate_probability(each.shares, plan.rows, minimum=least) for least in places),
            (of,),
        )
        for each in plan.recodings
    )
    wanted = _level(f"wanted: {spelled(plan.confidence)}", plan.confidence, places)
    planned = Reference("planned", (plan.minimum, plan.minimum), (0.0, 1.0))
    return Picture("minimum", "published", f"{plan.rows} rows", lines, (wanted, planned))


def _errors(label: str, values: Sequence[tuple[int, Enclosure]], curves: tuple[PrivacyCurve, ...]) -> Line:
    return Line(label, tuple(m for m, _ in values), tuple(error for _, error in values), curves)


def _level(label: str, height: Fraction, places: Sequence[float]) -> Reference:
    """A horizontal line."""
    return Reference(label, (places[0], places[-1]), (float(height), float(height)))
