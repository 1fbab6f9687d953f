"""The results of planning: the answer, its neighbour that fails, and the alternatives that were tried."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from statpriv.curves.comparison import Tabulated
from statpriv.curves.curve import PrivacyCurve
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.literals import at_most, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Verdict: TypeAlias = Literal["holds", "fails", "undecided"]


@dataclass(frozen=True)
class Trial:
    """One alternative that was tried.

    Attributes
    ----------
    value : int, Fraction, tuple of int, or Enclosure
        The value of the number asked for.
    verdict : {"holds", "fails", "undecided"}
        Whether the alternative reaches the target; all three verdicts are certified.
    why : str
        The reason, in words.
    sizes : tuple of int
        Entries of each part.
    delta : Enclosure, or None
        δ of all answers together at the ε of the target; None if accuracy decides first.
    rmse : Enclosure, or None
        Root mean squared error of a proportion in the smallest part, as an estimate of that in the population.
    curve : PrivacyCurve, or None
        The whole privacy curve.
    """

    value: Any
    verdict: Verdict
    why: str
    sizes: tuple[int, ...]
    delta: Enclosure | None = None
    rmse: Enclosure | None = None
    curve: PrivacyCurve | None = field(default=None, repr=False, compare=False)

    def cells(self) -> list[str]:
        """The alternative as a row of a table."""
        return [
            written(self.value),
            _written_sizes(self.sizes),
            "" if self.delta is None else at_most(self.delta.upper),
            "" if self.rmse is None else at_most(self.rmse.upper),
            "the accuracy fails" if self.delta is None and self.verdict == "fails" else self.verdict,
        ]


_MAX_WRITTEN = 8


@dataclass(frozen=True)
class Design(Tabulated):
    """How far a number can go, and the alternative next to it.

    Attributes
    ----------
    unknown : str
        The number asked for.
    given : str
        The conditions of the question.
    best : Trial
        The answer, which holds.
    neighbour : Trial or None
        The alternative next to the answer, which does not hold; None if there is none.
    beyond : str
        What is proved about all further alternatives, and why.
    trials : tuple of Trial
        All alternatives that were tried, in the order of their values.
    evaluations : int
        Number of curves evaluated.
    target : Fraction or None
        The δ to be reached.
    """

    unknown: str
    given: str
    best: Trial
    neighbour: Trial | None
    beyond: str
    trials: tuple[Trial, ...] = field(repr=False)
    evaluations: int
    target: Fraction | None = None

    @property
    def value(self) -> Any:  # noqa: ANN401  (a count, a fraction, sizes or an enclosure)
        """The answer."""
        return self.best.value

    @property
    def sizes(self) -> tuple[int, ...]:
        """Entries of each part."""
        return self.best.sizes

    @property
    def delta(self) -> Enclosure | None:
        """δ of the answer at the ε of the target."""
        return self.best.delta

    @property
    def rmse(self) -> Enclosure | None:
        """Root mean squared error of a proportion in the smallest part of the answer."""
        return self.best.rmse

    @property
    def curve(self) -> PrivacyCurve | None:
        """The whole privacy curve of the answer."""
        return self.best.curve

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.trials)

    @property
    def _heading(self) -> list[str]:
        return [self.unknown, "entries of a part", "δ at most", "rmse at most", "guarantee"]

    def _cells(self) -> list[list[str]]:
        return [trial.cells() for trial in self.trials]

    def table(self) -> str:
        """All alternatives that were tried, as lines of text."""
        return "\n".join(self._lines())

    def __str__(self) -> str:
        lines = [f"{self.unknown}: {written(self.value)}", f"  {self.given}"]
        shown = (self.best, self.neighbour) if self.neighbour else (self.best,)
        lines += [f"  {written(trial.value)} {_VERBS[trial.verdict]}: {trial.why}" for trial in shown]
        return "\n".join([*lines, f"  {self.beyond}", f"  curves evaluated: {self.evaluations}"])

    def __repr__(self) -> str:
        beside = f"; {written(self.neighbour.value)} {_VERBS[self.neighbour.verdict]}" if self.neighbour else ""
        return f"<Design, {self.unknown}: {written(self.value)} holds{beside}>"

    def document(self) -> dict[str, object]:
        """The result for JSON: exact numbers as strings, δ with both ends."""
        return {
            "unknown": self.unknown,
            "value": _plain(self.value),
            "given": self.given,
            "target_delta": None if self.target is None else str(self.target),
            "best": _trial_document(self.best),
            "neighbour": None if self.neighbour is None else _trial_document(self.neighbour),
            "beyond": self.beyond,
            "trials": [_trial_document(trial) for trial in self.trials],
            "evaluations": self.evaluations,
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """δ of all alternatives that were tried, the target, and the answer: :func:`statpriv.plotting.plot_design`."""
        from statpriv.plotting import plot_design

        return plot_design(self, ax)


_VERBS: dict[Verdict, str] = {"holds": "holds", "fails": "fails", "undecided": "is undecided"}


@dataclass(frozen=True)
class TradeOffRow:
    """The privacy and the accuracy of a number of queries.

    Attributes
    ----------
    queries : int
        Number of queries.
    size : int
        Entries of the smallest part if all entries are shared equally.
    delta : Enclosure
        δ of all answers together with parts of that size.
    rmse : Enclosure
        Root mean squared error of a proportion with parts of that size.
    size_at_guarantee : int, or None
        The largest size of equal parts found to reach the target δ; None without a target, or if no size was found.
    rmse_at_guarantee : Enclosure, or None
        Root mean squared error with parts of `size_at_guarantee`.
    """

    queries: int
    size: int
    delta: Enclosure
    rmse: Enclosure
    size_at_guarantee: int | None = None
    rmse_at_guarantee: Enclosure | None = None
    curve: PrivacyCurve | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class TradeOff(Tabulated):
    """Privacy and accuracy against the number of queries."""

    given: str
    rows: tuple[TradeOffRow, ...]
    target: Fraction | None

    def __iter__(self) -> Iterator[TradeOffRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def _heading(self) -> list[str]:
        shared = ["queries", "entries of a part", "δ at most", "rmse at most"]
        if self.target is None:
            return shared
        return [*shared, f"entries of a part for δ ≤ {literal(self.target)}", "rmse at most"]

    def _cells(self) -> list[list[str]]:
        rows = []
        for row in self.rows:
            cells = [str(row.queries), str(row.size), at_most(row.delta.upper), at_most(row.rmse.upper)]
            if self.target is not None:
                error = row.rmse_at_guarantee
                cells += ["–", "–"] if error is None else [str(row.size_at_guarantee), at_most(error.upper)]
            rows.append(cells)
        return rows

    def __str__(self) -> str:
        return "\n".join([self.given, *self._lines()])

    def __repr__(self) -> str:
        return f"<TradeOff of {len(self)} numbers of queries: {self.given}>"

    def document(self) -> dict[str, object]:
        """The result for JSON."""
        rows = [
            {
                "queries": row.queries,
                "size": row.size,
                "delta": _plain(row.delta),
                "rmse": _plain(row.rmse),
                "size_at_guarantee": row.size_at_guarantee,
                "rmse_at_guarantee": _plain(row.rmse_at_guarantee),
            }
            for row in self.rows
        ]
        return {"given": self.given, "target_delta": None if self.target is None else str(self.target), "rows": rows}

    def plot(self, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
        """δ and the root mean squared error by the number of queries: :func:`statpriv.plotting.plot_designs`."""
        from statpriv.plotting import plot_designs

        return plot_designs(self, axes)


def written(value: object) -> str:
    """A value for display; for an enclosure, its upper end."""
    match value:
        case Enclosure():
            return at_most(value.upper)
        case Fraction():
            return literal(value)
        case tuple() if len(value) > _MAX_WRITTEN:
            return _written_sizes(value)
        case tuple():
            return ", ".join(map(str, value))
        case _:
            return str(value)


def _written_sizes(sizes: tuple[int, ...]) -> str:
    different = sorted(set(sizes))
    if len(different) <= 2:
        return " and ".join(map(str, different))
    return f"{different[0]} to {different[-1]}"


def _plain(value: object) -> object:
    match value:
        case Enclosure():
            ends = (("lower", value.lower), ("upper", value.upper))
            return {name: end if math.isfinite(end) else "inf" for name, end in ends}
        case tuple():
            return list(value)
        case Fraction():
            return str(value)
        case _:
            return value


def _trial_document(trial: Trial) -> dict[str, object]:
    return {
        "value": _plain(trial.value),
        "verdict": trial.verdict,
        "why": trial.why,
        "sizes": {"least": min(trial.sizes), "largest": max(trial.sizes)} if trial.sizes else None,
        "delta": _plain(trial.delta),
        "rmse": _plain(trial.rmse),
    }
