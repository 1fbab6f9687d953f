"""What a plan says, as values: the data, the target, the counts and what the public knows of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from statpriv.errors import PlanError
from statpriv.releasing.predicate import quoted

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    from statpriv.releasing.predicate import Predicate

__all__ = ["DataSource", "Plan", "PlannedQuery", "PriorPublication", "Target"]


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
        The column of groups that everybody is taken to know.
    unit
        The column that names the person of a row.
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
    unit: str | None = None


@dataclass(frozen=True)
class Target:
    """The guarantee that the release must reach: certified delta at ``epsilon`` at most ``delta``."""

    epsilon: Fraction
    delta: Fraction
    known_rows: int = 0


@dataclass(frozen=True)
class PlannedQuery:
    """One count: a property, what the public knows of its probability, and the rows it may use."""

    name: str
    predicate: Predicate
    probability: Fraction | tuple[Fraction, Fraction]
    source: str
    rows: int | None = None
    share: Fraction | None = None

    @property
    def range(self) -> tuple[Fraction, Fraction]:
        """The declared probability as a range; a single number is a range of width 0."""
        if isinstance(self.probability, tuple):
            return self.probability
        return (self.probability, self.probability)

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
        if self.rows is None or not 1 <= self.rows <= n:
            raise PlanError(
                f"query {quoted(self.name)}: rows = {self.rows} of a table of {n}; allowed is 1 to {n}, "
                "for all queries together"
            )
        return self.rows


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
    def _hulls(self) -> dict[str, tuple[Fraction, Fraction]]:
        return {
            attribute: (min(query.range[0] for query in queries), max(query.range[1] for query in queries))
            for attribute, queries in self.properties.items()
        }

    def attribute(self, query: PlannedQuery) -> str:
        """Name the property that the query asks, independently of its label and its spelling."""
        return query.predicate.canonical

    def hull(self, query: PlannedQuery) -> tuple[Fraction, Fraction]:
        """Span every range that this plan declares for the property that the query asks."""
        return self._hulls[self.attribute(query)]
