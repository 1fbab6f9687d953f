"""The ledger of an accountant."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from statpriv.composition.cohorts import Draws
from statpriv.curves.comparison import Tabulated
from statpriv.errors import ArgumentError
from statpriv.model.codec import KEPT_QUERY
from statpriv.model.fields import COUNT, SIZE, WRITTEN, Record, list_of
from statpriv.model.situation import Query


@dataclass(frozen=True)
class LedgerEntry:
    """Queries that were allowed together in one call.

    Attributes
    ----------
    queries : tuple of queries
        One query; or all queries of a batch, one for each size.
    sizes : tuple of int
        Rows on which each query is answered.
    count : int
        Number of equal entries, each on rows of its own.
    known : int
        Number of entries an adversary may know among the rows answered on together: as many as these rows can hold.
    delta : Fraction
        δ of these queries on these rows, rounded upwards; 0 if a promise covers it.
    weights : tuple of Fraction
        For each cohort, the probability that a given row of it is among all rows of the entry.
    """

    queries: tuple[Query, ...]
    sizes: tuple[int, ...]
    count: int
    known: int
    delta: Fraction
    weights: tuple[Fraction, ...]

    @property
    def costs(self) -> tuple[Fraction, ...]:
        """The amount added to the sum of each cohort."""
        return tuple(weight * self.delta for weight in self.weights)

    @property
    def cost(self) -> Fraction:
        """The largest of `costs`; without appended rows, the amount added to the sum kept below the budget."""
        return max(self.costs)

    @property
    def rows(self) -> int:
        """Number of rows used up."""
        return sum(self.sizes) * self.count

    @property
    def shown(self) -> str:
        """The query, the number of its rows and its count, for messages."""
        return f"{_asked(self)}{'' if self.count == 1 else f', {self.count} times,'}"

    def document(self) -> dict[str, Any]:
        """The entry as JSON."""
        return ENTRY.write({key: getattr(self, key) for key in ENTRY.fields})

    @classmethod
    def from_document(cls, document: dict[str, Any], draws: Draws) -> LedgerEntry:
        """The entry of a JSON document, after these draws."""
        stated = ENTRY.strictly(document)
        queries, sizes = stated["queries"], stated["sizes"]
        if len(queries) != len(sizes):
            raise ArgumentError(f"an entry has {len(queries)} queries and {len(sizes)} sizes")
        return cls(**stated, weights=draws.weights(stated["count"] * sum(sizes)))


SIZES = list_of(SIZE, "a list of sizes", least=1)
QUERIES = list_of(KEPT_QUERY, "a list of queries", least=1)
ENTRY = Record(
    {
        "queries": QUERIES,
        "sizes": SIZES,
        "count": SIZE.described("how often, each time on rows of its own"),
        "known": COUNT.described("known entries on rows that were answered on together"),
        "delta": WRITTEN.described("of these rows, rounded upwards; 0 where a promise covers it"),
    }
)
"""A ledger entry as it stands in a document."""


class Ledger(Tabulated, tuple[LedgerEntry, ...]):
    """The entries in order; printed, and displayed in notebooks, as a table."""

    __slots__ = ()

    @property
    def _heading(self) -> tuple[str, ...]:
        return ("query", "times", "rows", "δ charged at most")

    def _cells(self) -> list[list[str]]:
        return [[_asked(entry), str(entry.count), str(entry.rows), at_most(entry.cost)] for entry in self]

    def __repr__(self) -> str:
        return f"<Ledger of {len(self)} entries, {sum(entry.rows for entry in self)} rows>"


def at_most(value: Fraction) -> str:
    """Four digits, rounded upwards: a spent budget is never displayed as smaller than it is.

    >>> at_most(Fraction(1, 3)), at_most(Fraction(-1, 3)), at_most(Fraction(0))
    ('0.3334', '-0.3333', '0')
    """
    rounded = Context(prec=4, rounding=ROUND_CEILING).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{rounded:g}" if rounded else "0"


def _asked(entry: LedgerEntry) -> str:
    """The query and the number of its rows, for display."""
    if len(entry.sizes) > 1:
        return f"{len(entry.sizes)} queries at once"
    text = repr(entry.queries[0])
    return f"{text if len(text) <= _MAX_SHOWN else f'{text[: _MAX_SHOWN - 3]}...'} on {entry.sizes[0]} rows"


_MAX_SHOWN = 80
