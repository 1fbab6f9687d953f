"""What several exact tables of the same people protect together, where the reader's certainty is bounded.

A minimum count bounds one table. Several tables of the same rows need an assumption about what a reader who knows all
the rest of a person may still not know: given all other answers of a row, each cell of a table has a probability
between two declared ends, for each row its own.

**Theorem.** The tables are about different dimensions of independent rows. Compare two rows that differ in the
dimensions of one table alone. Reveal the other dimensions of all rows: that lowers no δ (data processing), and makes
all other tables constants. Given these, the cells of the table are those of independent rows, each with a law of its
own within the ends. So δ is at most that of one table of such rows, whatever the number of other tables: the maximum
over the tables bounds them all together. No minimum is needed, and suppression only takes away (data processing).

It protects one table's answer of a person, not all of them at once. The same theorem is behind `sp.SameRows`, which
takes other queries and ranges, and also protects whole rows (docs/explanation/same-rows.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from statpriv.audit.table import PublishedTable
from statpriv.curves.build import privacy_curve
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError, UndecidedError
from statpriv.model.adversaries import Adversary
from statpriv.model.populations import Population
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.ranges import EachBetween
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_probability
from statpriv.numeric.literals import literal


@dataclass(frozen=True)
class Together:
    """The δ of several tables of the same people, for a declared range.

    Attributes
    ----------
    each : tuple of two Fraction
        The ends between which every cell's probability lies, for each row its own, given all else about the person.
    curves : tuple of PrivacyCurve
        One for each different number of cells.
    """

    each: tuple[Fraction, Fraction]
    curves: tuple[PrivacyCurve, ...]

    def delta(self, epsilon: Number) -> Enclosure:
        """δ of all tables together, at ε in nats: the largest of the curves."""
        found = [curve.delta(epsilon) for curve in self.curves]
        return Enclosure(max(each.lower for each in found), max(each.upper for each in found))

    def reaches(self, epsilon: Number, delta: Number) -> bool | None:
        """Whether δ at ε is proved to be at most `delta`; None where the bound does not decide it."""
        try:
            return all(curve.satisfies(epsilon=epsilon, delta=delta) for curve in self.curves)
        except UndecidedError:
            return None

    @property
    def assumption(self) -> str:
        """What is declared, in words."""
        low, high = map(literal, self.each)
        return (
            f"given all else about a person, each cell has a probability from {low} to {high}, for each person their "
            "own; people are independent; the person's cell in one table is protected, not those in all tables at once"
        )


def tables_together(tables: Sequence[PublishedTable], each: tuple[Number, Number], known: int) -> Together:
    """The δ of several tables of the same people.

    Parameters
    ----------
    tables : sequence of PublishedTable
        Tables of exactly the same people, no two of which share a dimension.
    each : tuple of two numbers
        The least and the largest probability of a cell, given all else about a person.
    known : int
        How many rows a reader knows.

    Returns
    -------
    Together

    Raises
    ------
    ArgumentError
        The tables are not such, or no probabilities of their cells lie between the ends.

    Examples
    --------
    >>> smokes = PublishedTable.from_counts({"smokes": ["yes", "no"]}, [300, 700], name="smokes")
    >>> votes = PublishedTable.from_counts({"votes": ["a", "b", "c"]}, [300, 300, 400], name="votes")
    >>> tables_together([smokes, votes], ("0.1", "0.8"), 0).delta(1).upper < 1e-4
    True
    """
    if not isinstance(each, tuple | list) or len(each) != 2:
        raise ArgumentError(f"each = {each!r}; the least and the largest probability of a cell are required")
    low, high = as_probability(each[0], "each"), as_probability(each[1], "each")
    seen: dict[str, str] = {}
    for table in tables:
        for name in table.dimension_names:
            if name in seen:
                raise ArgumentError(
                    f"each: {seen[name]} and {table.name} share the dimension {name}; what they say together is "
                    "bounded for tables about different dimensions. Publish the table of all combinations instead"
                )
            seen[name] = table.name
    totals = {table.count((None,) * len(table.dimensions)) for table in tables}
    rows = totals.pop()
    if totals or rows is None:
        raise ArgumentError(
            "each: the tables have no common total that is known; they are bounded together only if they are of "
            "exactly the same people"
        )
    if known >= rows:
        raise ArgumentError(f"known = {known}; of {rows} rows at most {rows - 1} can be known besides one")
    population, adversary = Population(rows), Adversary(known=known)
    curves = []
    for cells in sorted({len(table.inner) for table in tables}):
        if cells < 2:
            raise ArgumentError("each: a table of a single cell says nothing; leave it out")
        try:
            query = HistogramQuery([EachBetween(low, high)] * cells)
        except ArgumentError as error:
            raise ArgumentError(f"each, for a table of {cells} cells: {error}") from error
        curves.append(privacy_curve(query, population, adversary=adversary))
    return Together((low, high), tuple(curves))
