"""Planning an exact table before its data: how likely it is to be published, and which recoding is the finest.

A table under a minimum count is published as a whole or not at all. The finer it is, the more often it fails. What is
known beforehand are expected shares, from an earlier publication for instance: they give the probability that the gate
passes, for each recoding and for each minimum.

The recoding must be chosen from these, and never from the table itself. Which of several recodings the data allow is an
answer about the data, and publishing the finest one that passes is another rule, with a larger δ.

**What each minimum costs.** The gate passes less often under a larger minimum, because its event is a part of that
under a smaller one. So the largest minimum with which a recoding still passes is found by bisection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from statpriv.curves.minimum_count import minimum_count_curve
from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import is_mapping
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_nonnegative, as_probability
from statpriv.numeric.literals import abridged, at_least, at_most, literal
from statpriv.planning.designs import Verdict
from statpriv.planning.gate_probability import cell_probabilities, gate_probability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

USUAL_MINIMUMS = (3, 5, 10, 20, 30, 50, 100)
"""Minimum counts whose price is shown beside the one that is planned."""


@dataclass(frozen=True)
class PlannedTable:
    """One recoding of a planned table.

    Attributes
    ----------
    name : str
        What it is called.
    shares : tuple of Fraction
        The expected share of each cell.
    passes : Enclosure
        The probability that every cell holds the minimum.
    verdict : "holds", "fails" or "undecided"
        Whether it is at least the confidence, certified.
    largest_minimum : int
        The largest minimum count with which it still is, certified; 0 where there is none.
    """

    name: str
    shares: tuple[Fraction, ...] = field(repr=False)
    passes: Enclosure
    verdict: Verdict
    largest_minimum: int

    @property
    def rarest(self) -> Fraction:
        """The smallest share."""
        return min(self.shares)


@dataclass(frozen=True)
class MinimumPrice:
    """What a minimum count gives, and how often each recoding passes it.

    Attributes
    ----------
    minimum : int
        The least number of rows in every cell.
    delta : Enclosure
        The δ of the rule at the planned ε.
    passes : tuple of Enclosure
        The probability that each recoding is published.
    """

    minimum: int
    delta: Enclosure
    passes: tuple[Enclosure, ...]


@dataclass(frozen=True)
class TablePlan:
    """How likely each recoding of a table is to be published, and what other minimum counts would cost.

    Attributes
    ----------
    rows, minimum, known_rows : int
        Rows of the table, the least of them in every cell, and those that a reader knows.
    epsilon : Fraction
        ε in nats.
    confidence : Fraction
        The probability with which the table should be published.
    source : str
        Where the expected shares are from.
    delta : Enclosure
        The δ of the rule at `epsilon`.
    recodings : tuple of PlannedTable
        The finest first.
    prices : tuple of MinimumPrice
        Of other minimum counts.
    """

    rows: int
    minimum: int
    known_rows: int
    epsilon: Fraction
    confidence: Fraction
    source: str
    delta: Enclosure
    recodings: tuple[PlannedTable, ...]
    prices: tuple[MinimumPrice, ...]

    @cached_property
    def finest(self) -> PlannedTable | None:
        """The finest recoding that is published with the confidence; None where none is, or it is not decided."""
        return next((each for each in self.recodings if each.verdict == "holds"), None)

    def document(self) -> dict[str, Any]:
        """The result for JSON: exact numbers as strings, probabilities with both ends."""
        names = [each.name for each in self.recodings]
        return {
            "rows": self.rows,
            "minimum": self.minimum,
            "known_rows": self.known_rows,
            "epsilon": str(self.epsilon),
            "delta": _ends(self.delta),
            "confidence": str(self.confidence),
            "source": self.source,
            "finest": None if self.finest is None else self.finest.name,
            "recodings": [
                {
                    "name": each.name,
                    "cells": len(each.shares),
                    "rarest_share": float(each.rarest),
                    "passes": _ends(each.passes),
                    "verdict": each.verdict,
                    "largest_minimum": each.largest_minimum,
                }
                for each in self.recodings
            ],
            "prices": [
                {
                    "minimum": price.minimum,
                    "delta": _ends(price.delta),
                    "passes": {name: _ends(passes) for name, passes in zip(names, price.passes, strict=True)},
                }
                for price in self.prices
            ],
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """The probability that each recoding is published, against the minimum count (needs matplotlib).

        `ax` are axes to draw on, or None for a new figure.
        """
        from statpriv.plotting.axes import plot_table_plan

        return plot_table_plan(self, ax)

    def __str__(self) -> str:
        name = "none of these" if self.finest is None else self.finest.name
        lines = [
            f"finest table that is published with probability {literal(self.confidence)}: {name}",
            f"  {self.rows} rows, at least {self.minimum} in every cell: δ at most {at_most(self.delta.upper)} at "
            f"ε = {literal(self.epsilon)}, {self.known_rows} known rows",
            f"  expected shares from: {self.source}",
        ]
        lines += [
            f"  {each.name}: {len(each.shares)} cells, the rarest {at_most(float(each.rarest) * self.rows, 4)} rows, "
            f"published with probability {at_least(each.passes.lower, 4)}; up to minimum {each.largest_minimum}"
            for each in self.recodings
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        name = "none" if self.finest is None else self.finest.name
        return f"<TablePlan of {self.rows} rows, minimum {self.minimum}, {len(self.recodings)} recodings: {name}>"


def plan_table(
    recodings: Mapping[str, Sequence[Number]],
    n: Number,
    *,
    minimum: Number,
    epsilon: Number,
    source: str,
    known: Number = 0,
    confidence: Number = "0.95",
) -> TablePlan:
    """How likely a table is to be published, for each of several recodings, and what other minimum counts would cost.

    Parameters
    ----------
    recodings : mapping from str to a sequence of number
        The name of each recoding, the finest first, and the expected share of each of its cells; only their ratios
        matter, so that they may be counts of an earlier table. They must not be taken from the table that is planned.
    n : int
        Rows of the table.
    minimum : int
        The least number of rows in every cell, at least 2; :func:`least_minimum` finds it for a target.
    epsilon : number
        ε in nats, at least 0, at which δ is shown.
    source : str
        Where the shares are from.
    known : int, default 0
        Rows that a reader knows.
    confidence : number, default "0.95"
        The probability with which the table should be published, above 0 and below 1.

    Returns
    -------
    TablePlan

    Raises
    ------
    ArgumentError
        A value that is not allowed; the message names it.

    Notes
    -----
    Source of the probabilities: :mod:`statpriv.planning.gate_probability`; of δ: docs/explanation/minimum-counts.md.

    Examples
    --------
    >>> import statpriv as sp
    >>> plan = sp.design.plan_table(
    ...     {"by region and age": [310, 95, 420, 61], "by region": [405, 481]}, 400, minimum=30, epsilon=1,
    ...     source="survey of 2019",
    ... )
    >>> plan.finest.name, [each.largest_minimum for each in plan.recodings]
    ('by region', [19, 166])
    """
    if not is_mapping(recodings) or not recodings:
        raise ArgumentError(f"recodings = {abridged(recodings)}; a mapping from names to expected shares is required")
    if not isinstance(source, str) or not source.strip():
        raise ArgumentError("source: say where the expected shares are from; they must not be those of this table")
    rows, least, knows = as_count(n, "n", least=1), as_count(minimum, "minimum", least=2), as_count(known, "known")
    exact, wanted = as_nonnegative(epsilon, "epsilon"), as_probability(confidence, "confidence")
    if not 0 < wanted < 1:
        raise ArgumentError(f"confidence = {confidence}; a probability above 0 and below 1 is required")
    planned = tuple(_planned(name, shares, rows, least, wanted) for name, shares in recodings.items())
    prices = tuple(
        MinimumPrice(
            each,
            minimum_count_curve(each, known=knows).delta(exact),
            tuple(gate_probability(one.shares, rows, minimum=each) for one in planned),
        )
        for each in sorted({*USUAL_MINIMUMS, least})
    )
    delta = next(price.delta for price in prices if price.minimum == least)
    return TablePlan(rows, least, knows, exact, wanted, source, delta, planned, prices)


def _planned(name: str, shares: Sequence[Number], rows: int, minimum: int, confidence: Fraction) -> PlannedTable:
    probabilities = tuple(cell_probabilities(shares))
    passes = gate_probability(probabilities, rows, minimum=minimum)

    def holds(least: int) -> bool:
        return Fraction(gate_probability(probabilities, rows, minimum=least).lower) >= confidence

    low, high = 0, rows // len(probabilities) + 1  # high times the number of cells are more than there are
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    verdict: Verdict = (
        "holds"
        if Fraction(passes.lower) >= confidence
        else "fails"
        if Fraction(passes.upper) < confidence
        else "undecided"
    )
    return PlannedTable(name, probabilities, passes, verdict, low)


def _ends(value: Enclosure) -> dict[str, float]:
    return {"lower": value.lower, "upper": value.upper}
