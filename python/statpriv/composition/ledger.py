"""What an accountant has allowed so far."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from statpriv.composition.cohorts import Draws
from statpriv.curves.comparison import aligned, html_table
from statpriv.errors import ArgumentError
from statpriv.model.codec import KEPT_QUERY
from statpriv.model.fields import COUNT, SIZE, WRITTEN, Record, list_of
from statpriv.model.situation import Query

__all__ = ["ENTRY", "QUERIES", "SIZES", "Ledger", "LedgerEntry", "at_most"]


@dataclass(frozen=True)
class LedgerEntry:
    """Queries that were allowed in one go.

    Attributes
    ----------
    queries : tuple of queries
        One query; or all of a batch, one for each size.
    sizes : tuple of int
        Rows that each of them is answered on.
    count : int
        How often: equal entries, each on rows of its own.
    known : int
        Entries that an adversary may know, of the rows that were answered on together: as many as they can hold.
    delta : Fraction
        δ of them on these rows, rounded upwards; 0 where a promise covers it.
    weights : tuple of Fraction
        For each cohort of rows the probability that a row of it is among all rows of the entry.
    """

    queries: tuple[Query, ...]
    sizes: tuple[int, ...]
    count: int
    known: int
    delta: Fraction
    weights: tuple[Fraction, ...]

    @property
    def costs(self) -> tuple[Fraction, ...]:
        """What is added to the sum of each cohort."""
        return tuple(weight * self.delta for weight in self.weights)

    @property
    def cost(self) -> Fraction:
        """The largest of these: what is added to the sum that is kept below the budget, where no rows were appended."""
        return max(self.costs)

    @property
    def rows(self) -> int:
        """Rows that were used up."""
        return sum(self.sizes) * self.count

    @property
    def shown(self) -> str:
        """What was asked, of how many rows, and how often."""
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
"""An entry as it stands in a document."""


class Ledger(tuple[LedgerEntry, ...]):
    """The entries in their order; prints, and shows in notebooks, as a table."""

    __slots__ = ()

    def _cells(self) -> list[list[str]]:
        return [[_asked(entry), str(entry.count), str(entry.rows), at_most(entry.cost)] for entry in self]

    def __str__(self) -> str:
        return "\n".join(aligned(_HEADING, self._cells()))

    def __repr__(self) -> str:
        return f"<Ledger of {len(self)} entries, {sum(entry.rows for entry in self)} rows>"

    def _repr_html_(self) -> str:
        return html_table(_HEADING, self._cells())


_HEADING = ("query", "times", "rows", "δ charged at most")


def at_most(value: Fraction) -> str:
    """Four digits, rounded upwards: a spent budget is never shown smaller than it is.

    >>> at_most(Fraction(1, 3)), at_most(Fraction(-1, 3)), at_most(Fraction(0))
    ('0.3334', '-0.3333', '0')
    """
    rounded = Context(prec=4, rounding=ROUND_CEILING).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{rounded:g}" if rounded else "0"


def _asked(entry: LedgerEntry) -> str:
    """What was asked, of how many rows."""
    if len(entry.sizes) > 1:
        return f"{len(entry.sizes)} queries at once"
    text = repr(entry.queries[0])
    return f"{text if len(text) <= _MAX_SHOWN else f'{text[: _MAX_SHOWN - 3]}...'} on {entry.sizes[0]} rows"


_MAX_SHOWN = 80
