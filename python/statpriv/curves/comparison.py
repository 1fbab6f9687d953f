"""Curves side by side: all bounds that apply to a situation, and one curve at several ε, as tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from statpriv._native import Enclosure
from statpriv.errors import MissingExtraError, PrecisionError
from statpriv.numeric.exact import Number
from statpriv.numeric.literals import spelled
from statpriv.rules.registry import AnySituation, Kind, applicable

if TYPE_CHECKING:
    from pandas import DataFrame


class Tabulated(ABC):
    """What is shown as a table: as lines of text where it is printed, as HTML in notebooks."""

    __slots__ = ()

    @property
    @abstractmethod
    def _heading(self) -> Sequence[str]:
        """The heading of each column."""

    @abstractmethod
    def _cells(self) -> list[list[str]]:
        """The rows."""

    def _lines(self) -> list[str]:
        """The heading and the rows as lines of text."""
        return aligned(self._heading, self._cells())

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        return html_table(self._heading, self._cells())


@dataclass(frozen=True)
class Compared:
    """The result of one theorem for δ at one ε."""

    bound: str
    """The name that selects it with `bound=`."""
    kind: Kind
    delta: Enclosure
    conditional: bool
    """Whether it concerns the answer given that the critical entry is sampled; then it does not bound the release."""
    theorem: str


@dataclass(frozen=True)
class Comparison(Tabulated):
    """Every theorem that applies to a situation at one ε, the smallest δ first."""

    epsilon: Number
    rows: tuple[Compared, ...]
    not_evaluated: tuple[tuple[str, str], ...] = ()
    """Names of bounds that apply and could not be evaluated, with the reason."""

    def __iter__(self) -> Iterator[Compared]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Compared:
        return self.rows[index]

    @property
    def _heading(self) -> list[str]:
        return [f"δ({spelled(self.epsilon)}) by", "", "at most"]

    @property
    def _missing(self) -> list[str]:
        return [f"{name}: not evaluated ({why})" for name, why in self.not_evaluated]

    def _cells(self) -> list[list[str]]:
        kinds = {row.bound: "given that it is sampled" if row.conditional else row.kind for row in self.rows}
        return [[row.bound, kinds[row.bound], f"{row.delta.upper:.6g}"] for row in self.rows]

    def __str__(self) -> str:
        return "\n".join([*self._lines(), *self._missing])

    def __repr__(self) -> str:
        return f"<Comparison at ε = {spelled(self.epsilon)}: {', '.join(row.bound for row in self.rows)}>"

    def _repr_html_(self) -> str:
        missing = "".join(f"<p>{escape(line)}</p>" for line in self._missing)
        return super()._repr_html_() + missing


@dataclass(frozen=True)
class CurveTable(Tabulated):
    """δ at several ε."""

    epsilons: tuple[Number, ...]
    deltas: tuple[Enclosure, ...]
    exact: bool

    def __iter__(self) -> Iterator[tuple[Number, Enclosure]]:
        return iter(zip(self.epsilons, self.deltas, strict=True))

    def __len__(self) -> int:
        return len(self.epsilons)

    @property
    def _heading(self) -> list[str]:
        return ["ε (nats)", "δ" if self.exact else "upper bound of δ"]

    def _cells(self) -> list[list[str]]:
        return [[spelled(epsilon), f"{delta.upper:.6g}"] for epsilon, delta in self]

    def __repr__(self) -> str:
        return f"<CurveTable of {len(self)} ε>"

    def to_pandas(self) -> DataFrame:
        """As a pandas DataFrame with the columns `epsilon`, `delta_lower` and `delta_upper`.

        Raises
        ------
        MissingExtraError
            pandas is not installed.
        """
        return data_frame(
            {"epsilon": epsilon, "delta_lower": delta.lower, "delta_upper": delta.upper} for epsilon, delta in self
        )


def compare(situation: AnySituation, epsilon: Number) -> Comparison:
    """The result of every applicable rule at this ε."""
    rows, missing = [], []
    seen: set[str] = set()
    for rule, curve in applicable(situation):
        if rule.bound in seen:
            continue  # another route to the same number: exact rules agree
        seen.add(rule.bound)
        try:
            delta = curve.delta(epsilon)
        except PrecisionError as error:
            missing.append((rule.bound, str(error)))
            continue
        rows.append(Compared(rule.bound, rule.kind, delta, rule.conditional, rule.theorem))
    # Among equal values, the exact one comes first.
    rows.sort(key=lambda row: (row.delta.upper, row.kind != "exact"))
    return Comparison(epsilon, tuple(rows), tuple(missing))


def aligned(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table as lines of text."""
    widths = [max(map(len, column)) for column in zip(heading, *rows, strict=True)]
    table = [heading, *rows]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def data_frame(rows: Iterable[Mapping[str, object]]) -> DataFrame:
    """The rows as a pandas DataFrame."""
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise MissingExtraError("a DataFrame needs pandas: pip install pandas") from error
    return DataFrame(list(rows))


def html_table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as HTML."""
    head = "".join(f"<th scope='col'>{escape(cell)}</th>" for cell in heading)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
