"""What a plan says, as values: the data, the target, the queries and what the public knows of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from statpriv.errors import PlanError
from statpriv.model.fields import Range
from statpriv.numeric.arguments import is_mapping
from statpriv.releasing.sql_text import quoted

if TYPE_CHECKING:
    from pathlib import Path

    from statpriv.releasing.predicate import Predicate

__all__ = [
    "LAST_CELL",
    "DataSource",
    "Plan",
    "PlannedCell",
    "PlannedQuery",
    "PriorPublication",
    "Probability",
    "Publication",
    "Range",
    "Target",
    "as_range",
]

Probability: TypeAlias = Fraction | Range
"""What the public knows of a property: one number or a range."""

LAST_CELL = "none of these"
"""The cell of a histogram that a plan does not name: of rows in no other."""


@dataclass(frozen=True)
class DataSource:
    """Where the table is, and what it does not say itself.

    Attributes
    ----------
    path
        The file, absolute; a relative ``source`` starts from the folder of the plan. None for a table of a
        database or a catalog.
    label
        The name of the file without its folders, or of the table: all that a report shows.
    row_id
        The column that identifies rows; None stands for their position.
    null_values
        Cells of a CSV file that mean "unknown".
    delimiter
        Between the cells of a CSV file.
    engine
        What reads the table.
    database
        Of PostgreSQL, as a URL without a password.
    table
        Of a DuckDB file, a database or a catalog.
    glob
        Whether ``path`` is a pattern that names many files.
    group
        The column of a stratified plan that everybody is taken to know; None where there is none.
    group_source
        Where the sizes of its groups are public; None without a group.
    unit
        The column that names the person of a row, in which no value may repeat; None where it is not declared.
    """

    path: Path | None
    label: str
    row_id: str | None = None
    null_values: tuple[str, ...] = ()
    delimiter: str = ","
    engine: Literal["duckdb", "postgresql", "spark"] = "duckdb"
    database: str | None = None
    table: str | None = None
    glob: bool = False
    group: str | None = None
    group_source: str | None = None
    unit: str | None = None


@dataclass(frozen=True)
class Target:
    """The guarantee that the release must reach: certified delta at ``epsilon`` at most ``delta``."""

    epsilon: Fraction
    delta: Fraction
    known_rows: int = 0


@dataclass(frozen=True)
class Publication:
    """What is done to an exact count before it is published, in this order.

    Attributes
    ----------
    gate
        Whether a count outside its declared range is withheld.
    suppressed_below
        Smaller counts are published as "below" it; None where none are.
    rounded_to
        The base to whose nearest multiple a count is rounded; None where it is not.
    """

    gate: bool = False
    rounded_to: int | None = None
    suppressed_below: int | None = None


@dataclass(frozen=True)
class PlannedCell:
    """One cell of a histogram: rows that fulfil its condition and that of no cell before it."""

    name: str
    predicate: Predicate
    probability: Probability

    @property
    def range(self) -> Range:
        """The declared probability as a range; a single number is a range of width 0."""
        return as_range(self.probability)


@dataclass(frozen=True)
class PlannedQuery:
    """A count or a histogram: what is asked, what the public knows of it, and the rows it may use.

    Attributes
    ----------
    name, source
        A label, and where the probabilities are known from.
    predicate, probability
        Of a count: the property, and its probability, for everybody or by group. None of a histogram.
    cells
        Of a histogram: all of them but the last, implied one; empty of a count.
    rows, share
        One of them: a number of rows, altogether or by group; or a part of all rows, and of each group.
    publication
        What is done to the exact counts.
    """

    name: str
    predicate: Predicate | None
    probability: Probability | Mapping[str, Probability] | None
    source: str
    rows: int | Mapping[str, int] | None = None
    share: Fraction | None = None
    publication: Publication = Publication()
    cells: tuple[PlannedCell, ...] = ()

    @property
    def questions(self) -> tuple[Predicate, ...]:
        """The conditions whose first that holds is counted."""
        return tuple(cell.predicate for cell in self.cells) if self.predicate is None else (self.predicate,)

    @property
    def ranges(self) -> tuple[Range, ...]:
        """The declared range of each cell of a histogram, or the one of a count."""
        if self.cells:
            return tuple(cell.range for cell in self.cells)
        return (self.range,)

    @property
    def range(self) -> Range:
        """The declared probability of a count as a range, over all groups.

        Raises
        ------
        PlanError
            The query is a histogram, which has one for each cell.
        """
        if self.probability is None:
            raise PlanError(f"query {quoted(self.name)}: a histogram has a probability for each cell")
        return _hull([as_range(stated) for stated in _by_group(self.probability, otherwise="").values()])

    def range_in(self, group: str) -> Range:
        """The declared probability of a count in one group."""
        stated = _by_group(self.probability)
        return as_range(stated[group]) if stated else self.range

    def size(self, n: int) -> int:
        """Count the rows of this query in a table of ``n``: ``rows``, or the whole part of ``share * n``.

        Raises
        ------
        PlanError
            If that is no row at all, or more rows than there are.
        """
        if self.share is not None:
            size = self.share.numerator * n // self.share.denominator
            if size < 1:
                raise PlanError(
                    f"query {quoted(self.name)}: share = {self.share} of {n} rows is less than one row; "
                    f"use a share of at least 1/{n}"
                )
            return size
        if not isinstance(self.rows, int) or not 1 <= self.rows <= n:
            raise PlanError(
                f"query {quoted(self.name)}: rows = {self.rows} of a table of {n}; allowed is 1 to {n}, "
                "for all queries together"
            )
        return self.rows

    def sizes_in(self, groups: Mapping[str, int]) -> dict[str, int]:
        """Count the rows of this query in each group, of which there are so many rows.

        Raises
        ------
        PlanError
            If a group that the plan names is not in the table, or the table has one that the plan does not know, or
            that is no row at all.
        """
        self._check_names(groups)
        if self.share is not None:
            sizes = {group: self.share.numerator * n // self.share.denominator for group, n in groups.items()}
        else:
            stated = _by_group(self.rows)
            sizes = {group: stated.get(group, 0) for group in groups}
        if not any(sizes.values()):
            raise PlanError(
                f"query {quoted(self.name)}: of {sum(groups.values())} rows in groups it uses no row at all; "
                "give it a larger share, or at least one row of some group"
            )
        return sizes

    def _check_names(self, groups: Mapping[str, int]) -> None:
        """Rows may leave groups out, which then answer nothing; a probability is needed of every group."""
        for key, stated in (("probability", _by_group(self.probability)), ("rows", _by_group(self.rows))):
            if not stated:
                continue
            unknown = [name for name in stated if name not in groups]
            missing = [name for name in groups if name not in stated and key == "probability"]
            if unknown or missing:
                raise PlanError(
                    f"query {quoted(self.name)}: {key} names the groups {_names(stated)}; the table has "
                    f"{_names(groups)}, each of which needs a probability"
                )


@dataclass(frozen=True)
class PriorPublication:
    """Something published from the same rows outside this tool, and the guarantee it was given under."""

    description: str
    epsilon: Fraction | None = None
    delta: Fraction | None = None


@dataclass(frozen=True)
class Plan:
    """A validated plan.

    Attributes
    ----------
    path
        The plan file, as it was named.
    prior
        Publications outside this tool; empty if the plan says that there are none, None if it is silent.
    written_before_access
        Whether the author had not seen any value yet; None if the plan is silent.
    sha256
        Of the bytes of the plan file, in hexadecimal.
    """

    path: Path
    data: DataSource
    guarantee: Target
    queries: tuple[PlannedQuery, ...]
    prior: tuple[PriorPublication, ...] | None
    written_before_access: bool | None
    sha256: str

    @cached_property
    def properties(self) -> dict[str, tuple[PlannedQuery, ...]]:
        """The queries by property: two ask the same one exactly if their canonical predicates agree."""
        asked: dict[str, list[PlannedQuery]] = {}
        for query in self.queries:
            asked.setdefault(self.attribute(query), []).append(query)
        return {attribute: tuple(queries) for attribute, queries in asked.items()}

    @cached_property
    def _hulls(self) -> dict[str, tuple[Range, ...]]:
        return {
            attribute: tuple(_hull(list(ranges)) for ranges in zip(*(query.ranges for query in queries), strict=True))
            for attribute, queries in self.properties.items()
        }

    def attribute(self, query: PlannedQuery) -> str:
        """Name what the query asks, independently of its label and its spelling.

        That is the canonical predicate, or those of the cells in their order. No predicate begins as the text of a
        histogram does, and none holds a semicolon outside quotes.
        """
        conditions = [predicate.canonical for predicate in query.questions]
        return "first of: " + "; ".join(conditions) if query.cells else conditions[0]

    def hulls(self, query: PlannedQuery) -> tuple[Range, ...]:
        """Span every range that this plan declares for what the query asks, cell by cell.

        Of a histogram the implied cell comes last: what the others leave.
        """
        declared = self._hulls[self.attribute(query)]
        return (*declared, _remaining(declared)) if query.cells else declared

    def hull(self, query: PlannedQuery, group: str | None = None) -> Range:
        """Span every range that this plan declares for the property that the query counts, in one group if given."""
        if group is None:
            return self.hulls(query)[0]
        return _hull([same.range_in(group) for same in self.properties[self.attribute(query)]])


def as_range(stated: Probability) -> Range:
    """The probability as a range; a single number is a range of width 0."""
    return stated if isinstance(stated, tuple) else (stated, stated)


def _by_group(stated: Any, otherwise: str | None = None) -> Mapping[str, Any]:  # noqa: ANN401  (what a plan states)
    """What is stated by group; what is stated for all is that of the group `otherwise`, or of none."""
    if is_mapping(stated):
        return stated
    return {} if otherwise is None else {otherwise: stated}


def _hull(ranges: Sequence[Range]) -> Range:
    return min(lower for lower, _ in ranges), max(upper for _, upper in ranges)


def _remaining(cells: Sequence[Range]) -> Range:
    """What cells of these probabilities leave."""
    least, most = (sum((cell[end] for cell in cells), Fraction(0)) for end in (0, 1))
    return max(1 - most, Fraction(0)), max(1 - least, Fraction(0))


def _names(groups: Iterable[str]) -> str:
    shown = [quoted(name) for name in groups]
    return ", ".join(shown[:10] + ["…"] * (len(shown) > 10))
