"""The values of a plan: the data, the target, the queries and the public knowledge about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from statpriv.errors import PlanError
from statpriv.model.fields import Range
from statpriv.model.same_rows import SameRows
from statpriv.numeric.arguments import is_mapping
from statpriv.releasing.part_size import size_of
from statpriv.releasing.planned_table import PlannedTable
from statpriv.releasing.sql_text import names_of, quoted

if TYPE_CHECKING:
    from pathlib import Path

    from statpriv.releasing.classification import Dimension
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
    "StatedColumn",
    "Target",
    "as_range",
]

Probability: TypeAlias = Fraction | Range
"""What the public knows of a property: one number or a range."""

LAST_CELL = "none of these"
"""The cell of a histogram that a plan does not name: of rows in no other."""


@dataclass(frozen=True)
class StatedColumn:
    """The public values of a column, by the plan: single codes, a range of numbers, and where they are known from."""

    column: str
    codes: tuple[str, ...]
    range: tuple[str, ...] | None
    source: str | None


class TableInMemory(Protocol):
    """A data frame or a table that hands its columns over by the Arrow PyCapsule interface, as often as it is asked."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


@dataclass(frozen=True)
class DataSource:
    """The location of the table, and facts that the table itself does not state.

    Attributes
    ----------
    path
        The absolute path of the file; a relative ``source`` is resolved from the folder of the plan. None for a
        table of a database or a catalog.
    label
        The name of the table, or of the file without its folders. A report shows nothing else of the location.
    row_id
        The column that identifies rows; None if their position does.
    null_values
        Cells of a CSV file that mean "unknown".
    delimiter
        The separator between the cells of a CSV file.
    engine
        The engine that reads the table.
    database
        The PostgreSQL database, as a URL without a password.
    table
        The table of a DuckDB file, a database or a catalog.
    glob
        Whether ``path`` is a pattern for several files.
    group
        The column of a stratified plan, which is assumed to be public; None for a plan without groups.
    group_source
        The place where the sizes of the groups are public; None without a group.
    unit
        The column that names the person or the household of a row; None if it is not declared.
    units, largest_unit
        The declared number of units, and of rows of the largest; None where each row is a unit of its own.
    unit_source
        The place where these two are public; None without them.
    columns
        The declared values of columns, as a report states them.
    in_memory
        The table itself, if it lies in the memory of this process.
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
    units: int | None = None
    largest_unit: int | None = None
    unit_source: str | None = None
    columns: tuple[StatedColumn, ...] = ()
    in_memory: TableInMemory | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Target:
    """The guarantee that the release must reach: certified delta at ``epsilon`` at most ``delta``."""

    epsilon: Fraction
    delta: Fraction
    known_rows: int = 0


@dataclass(frozen=True)
class Publication:
    """The steps applied to an exact count before it is published, in this order.

    Attributes
    ----------
    gate
        Whether a count outside its declared range is withheld.
    suppressed_below
        Counts smaller than this are published as "below" it; None if no count is suppressed.
    rounded_to
        The base to whose nearest multiple a count is rounded; None if counts are not rounded.
    """

    gate: bool = False
    rounded_to: int | None = None
    suppressed_below: int | None = None


@dataclass(frozen=True)
class PlannedCell:
    """One cell of a histogram: the rows that satisfy its condition and that of no earlier cell."""

    name: str
    predicate: Predicate
    probability: Probability

    @property
    def range(self) -> Range:
        """The declared probability as a range; a single number is a range of width 0."""
        return as_range(self.probability)


@dataclass(frozen=True)
class PlannedQuery:
    """A count or a histogram: its conditions, the public knowledge about them, and the rows it may use.

    Attributes
    ----------
    name, source
        A label, and the source of the public probabilities.
    predicate, probability
        For a count: the property, and its probability, for all rows or by group. None for a histogram.
    cells
        For a histogram: all cells except the implied last one. Empty for a count.
    each
        Whether each row has a probability of its own in the declared range.
    rows, share
        A number of rows, in total or by group, or a fraction of all rows, and of each group; neither where all rows
        answer every query.
    publication
        The steps applied to the exact counts.
    """

    name: str
    predicate: Predicate | None
    probability: Probability | Mapping[str, Probability] | None
    source: str
    rows: int | Mapping[str, int] | None = None
    share: Fraction | None = None
    publication: Publication = Publication()
    cells: tuple[PlannedCell, ...] = ()
    each: bool = False

    @property
    def questions(self) -> tuple[Predicate, ...]:
        """The conditions in order; a row counts for the first one that holds."""
        return tuple(cell.predicate for cell in self.cells) if self.predicate is None else (self.predicate,)

    @property
    def ranges(self) -> tuple[Range, ...]:
        """The declared range of each cell of a histogram, or of the count."""
        if self.cells:
            return tuple(cell.range for cell in self.cells)
        return (self.range,)

    @property
    def range(self) -> Range:
        """The declared probability of a count as a range, the hull over all groups.

        Raises
        ------
        PlanError
            If the query is a histogram, which has one range for each cell.
        """
        if self.probability is None:
            raise PlanError(f"query {quoted(self.name)}: a histogram has a probability for each cell")
        return _hull([as_range(stated) for stated in _by_group(self.probability, otherwise="").values()])

    def range_in(self, group: str) -> Range:
        """The declared probability of a count in one group."""
        stated = _by_group(self.probability)
        return as_range(stated[group]) if stated else self.range

    def size(self, n: int) -> int:
        """Number of rows of this query in a table of ``n`` rows: ``rows``, ``share * n`` rounded down, or all of them.

        Raises
        ------
        PlanError
            If the number is 0, or larger than the number of rows of the table.
        """
        return size_of(f"query {quoted(self.name)}", self, n)

    def sizes_in(self, groups: Mapping[str, int]) -> dict[str, int]:
        """Number of rows of this query in each group, given the number of rows of each group.

        Raises
        ------
        PlanError
            If the plan names a group that is not in the table, if the table has a group that the plan does not
            name, or if the query has no rows at all.
        """
        self.check_groups(groups)
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

    def check_groups(self, groups: Mapping[str, int]) -> None:
        """Check the group names: ``rows`` may omit groups, which then answer nothing; ``probability`` may not."""
        for key, stated in (("probability", _by_group(self.probability)), ("rows", _by_group(self.rows))):
            if not stated:
                continue
            unknown = [name for name in stated if name not in groups]
            missing = [name for name in groups if name not in stated and key == "probability"]
            if unknown or missing:
                raise PlanError(
                    f"query {quoted(self.name)}: {key} names the groups {names_of(stated)}; the table has "
                    f"{names_of(groups)}, each of which needs a probability"
                )


@dataclass(frozen=True)
class PriorPublication:
    """A publication from the same rows outside this tool, and the guarantee it was given under."""

    description: str
    epsilon: Fraction | None = None
    delta: Fraction | None = None


@dataclass(frozen=True)
class Plan:
    """A validated plan.

    Attributes
    ----------
    path
        The path of the plan file, as given.
    tables
        Exact tables.
    prior
        Publications outside this tool; empty if the plan states that there are none, None if it is silent.
    written_before_access
        Whether the author had not seen any value yet; None if the plan is silent.
    sha256
        SHA-256 of the bytes of the plan file, in hexadecimal.
    same_rows
        What is protected where all rows answer every query; None where each query has rows of its own.
    stratified
        Whether rows are drawn in each group by itself; false where parts are drawn from all rows alike.
    """

    path: Path
    data: DataSource
    guarantee: Target
    queries: tuple[PlannedQuery, ...]
    tables: tuple[PlannedTable, ...]
    prior: tuple[PriorPublication, ...] | None
    written_before_access: bool | None
    sha256: str
    same_rows: SameRows | None = None
    stratified: bool = False

    @property
    def is_conditional(self) -> bool:
        """Whether each range holds given everything else of the row, or of its unit, and not of the row alone."""
        return self.same_rows is not None or self.data.units is not None

    @property
    def is_once(self) -> bool:
        """Whether its table is released once only: no theorem of this version adds another release to this one."""
        return self.is_conditional or self.data.group is not None

    @cached_property
    def properties(self) -> dict[str, tuple[PlannedQuery, ...]]:
        """The queries by property: two queries have the same property exactly if their canonical predicates agree."""
        asked: dict[str, list[PlannedQuery]] = {}
        for query in self.queries:
            asked.setdefault(self.attribute(query), []).append(query)
        return {attribute: tuple(queries) for attribute, queries in asked.items()}

    @property
    def what_is_asked(self) -> str:
        """What messages call everything that uses rows."""
        return " and ".join([*(["queries"] if self.queries else []), *(["tables"] if self.tables else [])])

    @property
    def conditions(self) -> tuple[Predicate | Dimension, ...]:
        """All conditions on columns: the predicates of the queries, and the dimensions of the tables."""
        predicates = (question for query in self.queries for question in query.questions)
        return (*predicates, *(dimension for table in self.tables for dimension in table.dimensions))

    @cached_property
    def _hulls(self) -> dict[str, tuple[Range, ...]]:
        return {
            attribute: tuple(_hull(list(ranges)) for ranges in zip(*(query.ranges for query in queries), strict=True))
            for attribute, queries in self.properties.items()
        }

    def is_each(self, query: PlannedQuery) -> bool:
        """Whether some query of the same property declares that each row has a probability of its own."""
        return any(same.each for same in self.properties[self.attribute(query)])

    def attribute(self, query: PlannedQuery) -> str:
        """The property of a query, independent of its label and of the spelling of its conditions.

        The result is the canonical predicate, or the canonical predicates of the cells in order. No predicate begins
        like the text of a histogram, and no predicate contains a semicolon outside quotes.
        """
        conditions = [predicate.canonical for predicate in query.questions]
        return "first of: " + "; ".join(conditions) if query.cells else conditions[0]

    def hulls(self, query: PlannedQuery) -> tuple[Range, ...]:
        """The hull of all ranges that this plan declares for the property of the query, cell by cell.

        For a histogram, the implied cell comes last, with the range that the others leave.
        """
        declared = self._hulls[self.attribute(query)]
        return (*declared, _remaining(declared)) if query.cells else declared

    def hull(self, query: PlannedQuery, group: str | None = None) -> Range:
        """The hull of all ranges that this plan declares for the property counted by the query, in a group if given."""
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
    """The range that is left for the implied cell by cells with these ranges."""
    least, most = (sum((cell[end] for cell in cells), Fraction(0)) for end in (0, 1))
    return max(1 - most, Fraction(0)), max(1 - least, Fraction(0))
