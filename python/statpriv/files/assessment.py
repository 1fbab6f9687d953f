"""Is a table that is already published private? What its counts say, from their number and ranges alone.

.. code-block:: toml

    epsilon = 0.1                      # one, or several: [0.05, 0.1]
    population = 944
    delta = 0.02                       # optional: whether this is reached
    known_rows = 0                     # entries an adversary knows; 0 by default

    [[count]]                          # one count of all entries; or several, each on a secret part of its own
    name = "Clinton voters"            # optional: a label
    probability = ["0.4", "0.6"]       # what the public knew: one number or a range
    count = 441                        # optional: as published, compared with the range and with nothing else
    size = 472                         # entries that answer; may be left out of a single count
    attribute = "vote"                 # optional: counts with the same attribute ask the same property
    each = true                        # optional: every entry has a probability of its own in the range

or, instead of counts, one contingency table of all entries:

.. code-block:: toml

    [table]
    name = "Vote"
    [[table.cell]]                     # two or more; their probabilities sum to one
    name = "Clinton"
    probability = "0.49"
    count = 455

No count is used to estimate a probability: that would be a statement about the table, and δ is one about what its
readers knew before. Several counts of the *same* entries are refused, since what they say together depends on how their
properties occur together: state the table of all combinations instead, of which each such count is a function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from statpriv import budget
from statpriv.curves.build import compose, privacy_curve
from statpriv.curves.curve import PrivacyCurve
from statpriv.distributions.laws import binomial_upper_tail
from statpriv.errors import ArgumentError, UndecidedError
from statpriv.files.documents import located, parsed, read_text, refused
from statpriv.model.adversaries import Adversary
from statpriv.model.codec import stated_range
from statpriv.model.fields import (
    COUNT,
    NUMBER,
    PROBABILITY,
    RANGE,
    SIZE,
    TEXT,
    TRUTH,
    Field,
    Record,
    list_of,
    listed,
    table_from,
)
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import ends
from statpriv.numeric.arguments import is_list
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.literals import at_most, literal
from statpriv.planning.sensitivity import Sensitivity, sensitivity_of

__all__ = ["COUNTS", "IMPROBABLE", "Assessment", "Published", "assess"]

IMPROBABLE = Fraction(1, 1000)
"""A count further outside its range than this probability is warned of."""

Verdict: TypeAlias = Literal["proved", "refuted", "undecided"]


@dataclass(frozen=True)
class Published:
    """A count as it was published, or a cell of a table.

    Attributes
    ----------
    probability : tuple of two Fraction
        The range of the probability that an entry is counted.
    size : int
        Entries that answer.
    count : int, or None
        How many were counted; None where that is not stated.
    each : bool
        Whether every entry has a probability of its own in the range.
    """

    name: str
    probability: tuple[Fraction, Fraction]
    size: int
    count: int | None = None
    attribute: str | None = None
    each: bool = False

    def improbability(self) -> Enclosure | None:
        """The largest probability over the range of a count that is as far outside; None inside the range.

        Bin(n, p) is stochastically increasing in p, so the end of the range next to the count has the largest. A sum of
        trials with probabilities of their own lies between those of both ends.
        """
        low, high = self.probability
        if self.count is None or low * self.size <= self.count <= high * self.size:
            return None
        if self.count > high * self.size:
            return binomial_upper_tail(self.count, n=self.size, p=high)
        return binomial_upper_tail(self.size - self.count, n=self.size, p=1 - low)


@dataclass(frozen=True)
class Assessment:
    """What a published table says about one entry.

    Attributes
    ----------
    epsilons : tuple of Fraction
        ε in nats at which δ is asked, the first one for the target and the sensitivity.
    target : Fraction, or None
        The δ to be reached.
    curve : PrivacyCurve
        Of all counts together.
    published : tuple of Published
        The counts.
    sensitivity : Sensitivity
        δ under other assumptions.
    """

    epsilons: tuple[Fraction, ...]
    population: int
    known_rows: int
    target: Fraction | None
    published: tuple[Published, ...]
    curve: PrivacyCurve
    sensitivity: Sensitivity

    @cached_property
    def deltas(self) -> tuple[Enclosure, ...]:
        """δ at each ε."""
        return tuple(self.curve.delta(epsilon) for epsilon in self.epsilons)

    @cached_property
    def verdict(self) -> Verdict | None:
        """Whether the target is reached, proved or refuted; None without a target."""
        if self.target is None:
            return None
        try:
            return "proved" if self.curve.satisfies(epsilon=self.epsilons[0], delta=self.target) else "refuted"
        except UndecidedError:
            return "undecided"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Counts that lie improbably far outside their range: the range, and with it δ, may not be about them."""
        found = []
        for each in self.published:
            tail = each.improbability()
            if tail is not None and Fraction(tail.upper) < IMPROBABLE:
                low, high = each.probability
                p = f"p = {literal(low)}" if low == high else f"any p from {literal(low)} to {literal(high)}"
                found.append(
                    f"{each.name}: a count so far out as {each.count} of {each.size} has a probability of at most "
                    f"{at_most(tail.upper, 3)} for {p}; what is stated may not hold, and δ is only about what is stated"
                )
        return tuple(found)

    def document(self) -> dict[str, Any]:
        """The result for JSON: numbers that were given as exact strings, δ with both ends."""
        points = zip(self.epsilons, self.deltas, strict=True)
        return {
            "delta": _ends(self.deltas[0]),
            "target_delta": None if self.target is None else str(self.target),
            "verdict": self.verdict,
            "deltas": [{"epsilon": str(epsilon), "delta": _ends(delta)} for epsilon, delta in points],
            "curve": [{"epsilon": float(epsilon), "delta": _ends(delta)} for epsilon, delta in self.curve.table()],
            "sensitivity": self.sensitivity.document(),
            "inputs": {"population": self.population, "known_rows": self.known_rows, "counts": len(self.published)},
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        points = zip(self.epsilons, self.deltas, strict=True)
        lines = [f"δ is at most {at_most(delta.upper)} at ε = {literal(epsilon)}" for epsilon, delta in points]
        return "\n".join([*lines, *self.warnings, "", str(self.sensitivity)])

    def __repr__(self) -> str:
        return f"<Assessment of {len(self.published)} counts of {self.population} entries>"


def assess(path: str | Path) -> Assessment:
    r"""How private a table is that is already published, from a file that describes it.

    Parameters
    ----------
    path : str or Path
        A file as :mod:`statpriv.files.assessment` describes it, TOML or JSON. No data are read.

    Returns
    -------
    Assessment

    Raises
    ------
    ArgumentError
        The file cannot be read or used as it is; the message lists every fault, with its line.

    Examples
    --------
    >>> import statpriv as sp
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "counts.toml")
    ...     _ = path.write_text('epsilon = 0.1\npopulation = 944\n[[count]]\nprobability = ["0.4", "0.6"]')
    ...     found = sp.assess(path)
    >>> found.deltas[0].upper
    0.0020908...
    """
    place = Path(path)
    text = read_text(place, "counts")
    document = parsed(text, place)
    faults: list[str] = []
    read = COUNTS.read(document, "", faults)
    published = _published(read, faults)
    if not faults:
        try:
            return _assessed(read, published)
        except ArgumentError as error:
            faults.append(str(error))
    raise refused(path, located(faults, document, text))


# --- reading -------------------------------------------------------------------------------------


_EPSILONS = list_of(NUMBER, "", least=1)
_COUNT = Record(
    {
        "name": TEXT.optional(),
        "probability": RANGE,
        "count": COUNT.optional(),
        "size": SIZE.optional(),
        "attribute": TEXT.optional(),
        "each": TRUTH.optional(absent=False),
    }
)
_CELL = Record({"name": TEXT.optional(), "probability": PROBABILITY, "count": COUNT.optional()})


def _tables(record: Record, name: str, *, least: int) -> Field:
    """A list of tables, which are read one by one."""
    return Field(
        lambda value: listed(value, least=least, most=budget.MAX_FILE_TABLES),
        f"{least} to {budget.MAX_FILE_TABLES} tables [[{name}]]",
        {"type": "array", "minItems": least, "maxItems": int(budget.MAX_FILE_TABLES), "items": record.schema},
    )


_TABLE = Record({"name": TEXT.optional(), "cell": _tables(_CELL, "table.cell", least=2)})
COUNTS = Record(
    {
        "epsilon": Field(
            lambda value: _EPSILONS.read(value if is_list(value) else [value]),
            "a number of at least 0, or a list of such",
            {"anyOf": [NUMBER.schema, _EPSILONS.schema]},
            description="ε in nats, one or several; the first one is that of the target",
        ),
        "population": SIZE,
        "delta": PROBABILITY.optional().described("a target from 0 to 1"),
        "known_rows": COUNT.optional(0),
        "count": _tables(_COUNT, "count", least=1).optional(),
        "table": Field(table_from, "a table with [[table.cell]]", _TABLE.schema, absent=None),
    },
    one_of=("count", "table"),
)
"""What a counts file says."""


def _published(read: dict[str, Any], faults: list[str]) -> tuple[Published, ...]:
    """The counts, or the cells of the table; what is wrong with them, or with all together, is added to `faults`."""
    counts, table = read.get("count"), read.get("table")
    if (counts is None) == (table is None) and {"count", "table"} <= read.keys():
        faults.append(f"either [[count]] or [table] is required; {'both are' if counts else 'neither is'} there")
    rows = [_COUNT.read(row, f"count[{k}]", faults) for k, row in enumerate(counts or [], start=1)]
    stated = _TABLE.read(table, "table", faults).get("cell", []) if table is not None else []
    cells = [_CELL.read(cell, f"table.cell[{k}]", faults) for k, cell in enumerate(stated, start=1)]
    if faults:
        return ()
    n, known = read["population"], read["known_rows"]
    if known >= n:
        faults.append(f"known_rows = {known}; of {n} entries at most {n - 1} can be known besides the critical one")
    return _cells(cells, n, faults) if cells else _counts(rows, n, faults)


def _counts(rows: list[dict[str, Any]], n: int, faults: list[str]) -> tuple[Published, ...]:
    without = [k for k, row in enumerate(rows, start=1) if row["size"] is None]
    if len(rows) > 1 and without:
        faults.append(
            f"count[{without[0]}].size is missing: several counts are assessed on disjoint secret random parts. Counts "
            "of the same entries depend on how their properties occur together: state the table of all combinations "
            "as [table]"
        )
    published = tuple(
        Published(
            name=row["name"] or f"count[{k}]",
            probability=row["probability"],
            size=row["size"] or n,
            count=row["count"],
            attribute=row["attribute"],
            each=row["each"],
        )
        for k, row in enumerate(rows, start=1)
    )
    if not without and (together := sum(each.size for each in published)) > n:
        faults.append(f"population = {n}; the parts have {together} entries together")
    faults += [
        f"count[{k}].count = {each.count}; at most its {each.size} entries can be counted"
        for k, each in enumerate(published, start=1)
        if each.count is not None and each.count > each.size
    ]
    return published


def _cells(cells: list[dict[str, Any]], n: int, faults: list[str]) -> tuple[Published, ...]:
    counts = [cell["count"] for cell in cells if cell["count"] is not None]
    if (len(counts) == len(cells) and sum(counts) != n) or sum(counts) > n:
        faults.append(f"table.cell: the counts sum to {sum(counts)}, and the population has {n} entries")
    if (together := sum(cell["probability"] for cell in cells)) != 1:
        faults.append(f"table.cell: the probabilities sum to {literal(together)}; exactly 1 is required")
    return tuple(
        Published(cell["name"] or f"table.cell[{k}]", ends(cell["probability"]), n, cell["count"])
        for k, cell in enumerate(cells, start=1)
    )


# --- assessing -----------------------------------------------------------------------------------


def _assessed(read: dict[str, Any], published: tuple[Published, ...]) -> Assessment:
    population, known, epsilons = Population(read["population"]), read["known_rows"], read["epsilon"]
    adversary = Adversary(known=known)
    if read["table"] is None and published[0].size < population.size:
        queries = [_query(each) for each in published]
        parts = RandomPartition([each.size for each in published])
        curve = compose(queries, population, parts, adversary=adversary)
        sensitivity = sensitivity_of(queries, population, parts, epsilon=epsilons[0], known=known)
    else:
        asked = _query(published[0]) if read["table"] is None else _histogram(read["table"].get("name"), published)
        curve = privacy_curve(asked, population, adversary=adversary)
        sensitivity = sensitivity_of(asked, population, epsilon=epsilons[0], known=known)
    return Assessment(epsilons, population.size, known, read["delta"], published, curve, sensitivity)


def _query(count: Published) -> PropertyQuery:
    probability = stated_range(count.probability, each=count.each)
    return PropertyQuery(probability, attribute=count.attribute, name=count.name)


def _histogram(name: str | None, cells: Sequence[Published]) -> HistogramQuery:
    return HistogramQuery([cell.probability[0] for cell in cells], name=name)


def _ends(delta: Enclosure) -> dict[str, float]:
    return {"lower": delta.lower, "upper": delta.upper}
