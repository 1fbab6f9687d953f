"""The values of a plan: the data, the target, the queries and the public knowledge about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from statpriv.errors import PlanError
from statpriv.model.fields import Range
from statpriv.model.queries.contingency import DEFAULT, ContingencyTable
from statpriv.model.queries.variants import with_attribute
from statpriv.model.same_rows import SameRows
from statpriv.numeric.arguments import is_mapping
from statpriv.releasing.cell_ranges import CellRanges
from statpriv.releasing.classification import Classification, Dimension
from statpriv.releasing.sql_text import identifier, quoted

if TYPE_CHECKING:
    from pathlib import Path

    from statpriv.releasing.predicate import Predicate

__all__ = [
    "LAST_CELL",
    "DataSource",
    "Plan",
    "PlannedCell",
    "PlannedQuery",
    "PlannedTable",
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
        return _size_of(f"query {quoted(self.name)}", self, n)

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
                    f"query {quoted(self.name)}: {key} names the groups {_names(stated)}; the table has "
                    f"{_names(groups)}, each of which needs a probability"
                )


@dataclass(frozen=True)
class PlannedTable:
    """An exact table: its declared cells, the minimum of each, and the rows it may use.

    Attributes
    ----------
    name
        A label.
    dimensions
        The columns with their declared categories.
    minimum
        The least number of rows of every possible cell that has none of its own.
    impossible
        Combinations of categories that cannot occur.
    minima
        Cells with a least number of rows of their own.
    by, by_source
        The dimension that is a public classification, and where it is public; None without one.
    rows, share
        The number of rows of its part, or a fraction of all rows; all rows answer if both are None.
    ranges
        What the public knows of the cells; None if nothing is declared, and δ is for every law.
    """

    name: str
    dimensions: tuple[Dimension, ...]
    minimum: int
    impossible: tuple[tuple[str, ...], ...] = ()
    minima: tuple[tuple[tuple[str, ...], int], ...] = ()
    by: str | None = None
    by_source: str | None = None
    rows: int | None = None
    share: Fraction | None = None
    ranges: CellRanges | None = None

    def __post_init__(self) -> None:
        """Check what the parts of the statement say together.

        Raises
        ------
        ValueError
            With a sentence in the words of a plan.
        """
        names = [dimension.column for dimension in self.dimensions]
        if self.by is not None and self.by not in names:
            raise ValueError(f"has by = {quoted(self.by)}, which is none of its dimensions: {_names(names)}")
        self._check_combinations("impossible", self.impossible)
        self._check_combinations("minima", [cell for cell, _ in self.minima])
        if self.ranges is not None:
            self._check_combinations("probabilities", [cell for cell, _ in self.ranges.own])
        both = set(self.impossible) & {cell for cell, _ in self.minima}
        if both:
            raise ValueError(f"has {_names(min(both))} in impossible and in minima; leave it out of one of them")
        self._check_possible_cells()
        if self.is_ladder:
            if self.by is not None:
                raise ValueError("has by and a recode: classes that choose their own grouping are not in this version")
            _ = self.query  # its own rules name a grouping that is none
        if self.ranges is not None:
            if self.by is not None:
                raise ValueError(
                    "has by and a probability: with ranges the sizes of the classes would protect, which are not known "
                    "before the rows are counted"
                )
            self.ranges.check(self.cells)

    def _check_combinations(self, key: str, stated: Sequence[tuple[str, ...]]) -> None:
        names = [dimension.column for dimension in self.dimensions]
        for combination in stated:
            fits = len(combination) == len(names) and all(
                label in dimension.labels for label, dimension in zip(combination, self.dimensions, strict=True)
            )
            if not fits:
                raise ValueError(
                    f"has {key} = {_names(combination)}, which is no combination of its categories: one category "
                    f"of each of {_names(names)} is required, in this order"
                )
        if len(set(stated)) < len(stated):
            raise ValueError(f"has the same combination twice in {key}")

    def _check_possible_cells(self) -> None:
        possible = Counter(self.class_of(cell) for cell in self.cells)
        if sum(possible.values()) < 2:
            raise ValueError("has fewer than two possible cells: one alone says nothing about anybody")
        if self.by is None:
            return
        by = self.dimensions[self.classification.by or 0]
        missing = [label for label in by.labels if label not in possible]
        if missing:
            raise ValueError(f"has no possible cell in the class {quoted(missing[0])} of by; leave the class out")
        if max(possible.values()) < 2:
            raise ValueError("has one possible cell in each class of by: it says only what everybody knows")

    @property
    def classification(self) -> Classification:
        """The cells, as rows are counted in them."""
        names = [dimension.column for dimension in self.dimensions]
        return Classification(self.dimensions, None if self.by is None else names.index(self.by))

    @cached_property
    def all_cells(self) -> tuple[tuple[str, ...], ...]:
        """All combinations of categories in row-major order, impossible ones included."""
        return tuple(product(*(dimension.labels for dimension in self.dimensions)))

    @cached_property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """The possible cells in row-major order."""
        excluded = frozenset(self.impossible)
        return tuple(cell for cell in self.all_cells if cell not in excluded)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of the public classification; none without one."""
        return () if self.by is None else self.dimensions[self.classification.by or 0].labels

    def class_of(self, cell: tuple[str, ...]) -> str | None:
        """The class of a cell; None without a public classification."""
        place = self.classification.by
        return None if place is None else cell[place]

    @property
    def is_ladder(self) -> bool:
        """Whether the data choose among coarser groupings."""
        return any(dimension.recode for dimension in self.dimensions)

    @cached_property
    def query(self) -> ContingencyTable:
        """The table as the theory sees it."""
        recode = {
            dimension.column: [{label: list(own) for label, own in grouping} for grouping in dimension.recode]
            for dimension in self.dimensions
            if dimension.recode
        }
        return ContingencyTable(
            {dimension.column: dimension.labels for dimension in self.dimensions},
            minimum={DEFAULT: self.minimum, **dict(self.minima)},
            impossible=self.impossible,
            by=self.by,
            recode=recode or None,
            p=None if self.ranges is None else self.ranges.stated(self.cells),
            name=self.name,
        )

    @property
    def of_the_same_rows(self) -> ContingencyTable:
        """The table as one of several answers about the same rows: what it asks is an attribute of them."""
        columns = " | ".join(identifier(dimension.column) for dimension in self.dimensions)
        return with_attribute(self.query, attribute=columns)

    @property
    def is_each(self) -> bool:
        """Whether each row has probabilities of its own, within declared ranges."""
        return self.ranges is not None and self.ranges.each

    @property
    def canonical(self) -> str:
        """The cells and their conditions, whatever the plan calls the table."""
        return " | ".join(dimension.canonical for dimension in self.dimensions)

    def size(self, n: int) -> int:
        """Number of rows of this table's part, of ``n`` rows: all of them, ``rows``, or ``share * n`` rounded down.

        Raises
        ------
        PlanError
            If the number is 0, or larger than the number of rows.
        """
        return _size_of(f"table {quoted(self.name)}", self, n)


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


class _Sized(Protocol):
    @property
    def rows(self) -> object: ...
    @property
    def share(self) -> Fraction | None: ...


def _size_of(what: str, asked: _Sized, n: int) -> int:
    if asked.rows is None and asked.share is None:
        return n
    if asked.share is not None:
        size = asked.share.numerator * n // asked.share.denominator
        if size < 1:
            raise PlanError(
                f"{what}: share = {asked.share} of {n} rows is less than one row; use a share of at least 1/{n}"
            )
        return size
    if not isinstance(asked.rows, int) or not 1 <= asked.rows <= n:
        together = "for all queries together" if what.startswith("query") else "for all that is asked together"
        raise PlanError(f"{what}: rows = {asked.rows} of a table of {n}; allowed is 1 to {n}, {together}")
    return asked.rows


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


def _names(groups: Iterable[str]) -> str:
    shown = [quoted(name) for name in groups]
    return ", ".join(shown[:10] + ["…"] * (len(shown) > 10))
