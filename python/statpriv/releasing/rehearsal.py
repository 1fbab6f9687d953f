"""A plan as a mechanism: what it would publish of rows that do not exist, drawn and counted as a release does.

Nothing is registered, and nothing of it is secret: the rows are made up. Which conditions a row fulfils is asked of
the engine, once for each different row; the partition, the gates and the published forms are those of a release.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from statpriv._native import Partition
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.numeric.arguments import length_of_tuple
from statpriv.numeric.calls import answered
from statpriv.numeric.exact import Number, as_count
from statpriv.numeric.literals import abridged
from statpriv.releasing.exact_tables import TableAnswer
from statpriv.releasing.guarantee import certify
from statpriv.releasing.ledger import Rows
from statpriv.releasing.partition import Strata, secret_partition
from statpriv.releasing.plan import DataSource
from statpriv.releasing.plan_file import load_plan
from statpriv.releasing.run import counted, tabulated
from statpriv.releasing.sql_text import identifier, quoted
from statpriv.releasing.steps import PublishedCount
from statpriv.releasing.tables import open_table

__all__ = ["PlanMechanism", "plan_mechanism"]


class PlanMechanism:
    """What a plan publishes of rows, as a function of them and of a source of randomness: for :func:`statpriv.attack`.

    Attributes
    ----------
    columns : tuple of str
        The columns that the plan asks about, in the order of the values of a row. Of one column a row is the value.
    rows : int
        How many rows there are.
    curve : PrivacyCurve
        What is certified of a release of the plan for so many rows.
    """

    def __init__(self, plan: str | Path | Mapping[str, Any], rows: int) -> None:
        self._engine = duckdb.connect(":memory:")
        loaded = load_plan(plan, data=self._engine.sql("SELECT 1 AS nothing"))
        if loaded.data.group is not None:
            raise NotAvailableError(
                "the plan has groups, whose sizes are public: a plan without [data] group is required"
            )
        self.columns = tuple(dict.fromkeys(name for condition in loaded.conditions for name in condition.columns))
        self.rows = rows
        self._guarantee = certify(loaded, rows)
        self._data = replace(loaded.data, row_id=None, unit=None)
        self._number_of: dict[Any, int] = {}
        self._asked_of: list[list[Sequence[int]]] = []
        self._added: list[NDArray[np.int64]] = []
        """For each part what every different row adds to its counts."""

    @property
    def curve(self) -> PrivacyCurve:
        """δ against ε of the whole release."""
        return self._guarantee.curve

    def __call__(self, rows: Sequence[Any], source: random.Random) -> tuple[Any, ...]:
        """The published answers, in the order of the plan: queries before tables."""
        if len(rows) != self.rows:
            raise ArgumentError(f"there are {len(rows)} rows; {self.rows} are required, as the plan was certified for")
        kinds = np.array([self._kind(row) for row in rows])
        drawn = Strata([tuple(self._guarantee.sizes_drawn)])
        with secret_partition(Rows.of(self.rows, None), b"", drawn, source.randbytes) as partition:
            labels = partition.labels()
        of_parts = self._guarantee.is_of_parts
        counts = [
            np.bincount(kinds[labels == (part if of_parts else 1)], minlength=len(added)) @ added
            for part, added in enumerate(self._added, start=1)
        ]
        return self._published([[int(count) for count in each] for each in counts])

    def _published(self, counts: Sequence[Sequence[int]]) -> tuple[Any, ...]:
        guarantee = self._guarantee
        queries = [
            tuple(map(_shown, part.steps.publish(each))) for part, each in zip(guarantee.counted, counts, strict=False)
        ]
        tables = zip(guarantee.plan.tables, counts[len(queries) :], strict=True)
        return (
            *(cells[0] if len(cells) == 1 else cells for cells in queries),
            *(TableAnswer.of_outcomes(table, outcomes).cells for table, outcomes in tables),
        )

    def _kind(self, row: Any) -> int:  # noqa: ANN401  (a value of any type that the engine knows)
        """The number of a row among the different ones."""
        try:
            number = self._number_of.get(row)
        except TypeError:
            raise ArgumentError(f"row = {abridged(row)}; a value, or a tuple of values, is required") from None
        if number is None:
            number = len(self._asked_of)
            self._asked_of.append(self._asked(row))
            self._number_of[row] = number
            self._added = [np.array(added) for added in zip(*self._asked_of, strict=True)]
        return number

    def _asked(self, row: Any) -> list[Sequence[int]]:  # noqa: ANN401
        """What the row adds to the counts of each part: as many equal rows are counted, one in each set of rows."""
        values = list(row) if length_of_tuple(row) == len(self.columns) > 1 else [row]
        if len(values) != len(self.columns):
            raise ArgumentError(
                f"row = {abridged(row)}; a value for each of the columns {', '.join(map(quoted, self.columns))} is "
                "required, as a tuple in this order"
            )
        plan, sets = self._guarantee.plan, len(self._guarantee.sizes_drawn)
        with open_table(self._equal_rows(values, sets), plan.conditions) as table:
            content, partition = table.load(bytes(32)), Partition.given(np.arange(1, sets + 1, dtype=np.uint32))
            return [
                *counted(content, partition, self._guarantee),
                *tabulated(content, partition, self._guarantee),
            ]

    def _equal_rows(self, values: Sequence[Any], number: int) -> DataSource:
        named = ", ".join(map(identifier, self.columns))
        made = f"(VALUES ({', '.join('?' for _ in values)})) AS made({named})"
        sql = f"SELECT made.* FROM {made}, range({number})"  # noqa: S608  (names are quoted, values are parameters)
        return replace(self._data, in_memory=self._engine.sql(sql, params=list(values)))


@answered
def plan_mechanism(plan: str | Path | Mapping[str, Any], *, rows: Number) -> PlanMechanism:
    """A release plan as a mechanism that :func:`statpriv.attack` attacks.

    Parameters
    ----------
    plan : path or dict
        A plan for `statpriv release`, without groups. Its data are not read.
    rows : int
        How many rows the made-up tables have: the attacked row and the others.

    Returns
    -------
    PlanMechanism
        A function of rows and a source of randomness; ``.curve`` is what is certified, ``.columns`` are the columns
        that a row has values of.

    Raises
    ------
    PlanError
        The plan is refused.
    NotAvailableError
        The plan has groups.
    ArgumentError
        A value that is not allowed; the message names it.

    Examples
    --------
    >>> import statpriv as sp
    >>> query = {"name": "voters", "where": "vote = 1", "probability": 0.3, "source": "-", "rows": 20}
    >>> plan = {"prior": "none", "guarantee": {"epsilon": 0.1, "delta": 1}, "query": [query]}
    >>> released = sp.plan_mechanism(plan, rows=50)
    >>> law = {1: "0.3", 0: "0.7"}
    >>> sp.attack(released, (1, 0), law=law, others=49, claimed=released.curve, trials=500, seed=1).verdict
    'consistent'
    """
    return PlanMechanism(plan, as_count(rows, "rows", least=1))


def _shown(count: PublishedCount) -> int | str | None:
    return "withheld" if count.withheld else "suppressed" if count.suppressed else count.count
