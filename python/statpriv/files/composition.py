"""Files that describe a composition: several counts, each on its own part of the entries.

.. code-block:: toml

    epsilon = 0.005
    population = 32768
    known_rows = 0                     # entries an adversary knows; 0 by default
    bound = "tightest"                 # as in statpriv.compose

    [[part]]                           # one or more
    probability = ["0.4", "0.6"]       # one number or a range
    each = true                        # every entry has a probability of its own in it; else all share one
    size = 1024
    count = 32                         # how many such parts; 1 by default
    attribute = "smoker"               # parts with the same attribute ask the same property
    name = "Smokers"                   # a label; it proves nothing
    gate = [400, 624]                  # published within these only, else withheld: then δ is for every p
    suppressed_below = 10              # smaller counts are published as one
    rounded_to = 5                     # the others to multiples of this

Several answers about the same entries have no sizes of parts, and entries may be in clusters:

.. code-block:: toml

    epsilon = 0.1
    population = 20190                 # or { size = 20190, clusters = 8000, largest_cluster = 5 } for one count
    same_rows = "attribute"            # or "row", or { protects = "row", independent = true }

    [[part]]
    probability = ["0.1", "0.9"]
    each = true                        # given all other attributes of the row
    attribute = "smoker"

A range is also written ``"0.4..0.6"``. Any other query takes the place of the probability, as
:mod:`statpriv.model.codec` writes it:

.. code-block:: toml

    [[part]]
    query = { kind = "sum", pmf = { 0 = "1/2", 5 = "1/2" }, attribute = "visits" }
    size = 100

A histogram has cells in place of a probability, the last one included. A stratified composition states everything by
group; with one size a part is drawn from all entries alike:

.. code-block:: toml

    population = {f = 500, m = 444}

    [[part]]
    probability = {f = ["0.4", "0.6"], m = "0.5"}
    size = {f = 250, m = 222}

    [[part]]                           # not in a stratified one
    cells = ["0.2", "0.5", "0.3"]
    size = 236

Every number is exact: ``0.1``, ``"0.1"`` and ``"1/10"`` are one tenth. A key that is not listed here is an error,
and all errors are reported at once. The JSON report of a release holds the same structure under ``composition``,
beside what it says of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statpriv import budget
from statpriv.errors import ArgumentError
from statpriv.files.documents import as_text, parsed, read_content, refused
from statpriv.model.codec import POPULATION, QUERY, SAME_ROWS, is_clustered, stated_range
from statpriv.model.fields import (
    COUNT,
    NUMBER,
    RANGE,
    SIZE,
    TEXT,
    TRUTH,
    Field,
    Range,
    Record,
    Value,
    by_group,
    by_name,
    definition,
    is_by_group,
    list_of,
    listed,
)
from statpriv.model.groups import ByGroup
from statpriv.model.populations import Population
from statpriv.model.ranges import EachBetween
from statpriv.model.situation import capabilities
from statpriv.model.step_fields import publication_steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from statpriv.curves.curve import PrivacyCurve
    from statpriv.model.ranges import Stated
    from statpriv.model.same_rows import SameRows
    from statpriv.model.situation import Query
    from statpriv.releasing.recomputation import ReleaseReport

__all__ = [
    "BOUND",
    "COMPOSITION",
    "PART",
    "PARTS",
    "POPULATION_SIZE",
    "Composition",
    "Part",
    "composition_of",
    "read_composition",
    "read_parts",
    "refuse_plan",
    "together",
]


@dataclass(frozen=True)
class Part:
    """`count` parts of `size` entries each, on which a property with a probability in this range is counted.

    A count is published within its gate only, if it has one, then suppressed, then rounded.

    Attributes
    ----------
    probability
        One range, or one for each group; None of a histogram.
    size
        Entries, or those of each group; None where all entries answer every query.
    cells
        Of a histogram the ranges of all cells; None of a count.
    asked
        Any other query; None of a count or a histogram that the part states itself.
    each
        Whether every entry has a probability of its own in the range.
    """

    probability: Range | ByGroup[Range] | None
    size: int | ByGroup[int] | None
    count: int = 1
    attribute: str | None = None
    name: str | None = None
    gate: tuple[int, int] | None = None
    suppressed_below: int | None = None
    rounded_to: int | None = None
    cells: tuple[Range, ...] | None = None
    asked: Query | None = None
    each: bool = False

    @property
    def ranges(self) -> tuple[Range, ...]:
        """The range of the count, or those of all groups or cells; empty of any other query."""
        stated: Any = self.probability
        if stated is None:
            return self.cells or ()
        return tuple(by_name(stated).values()) if is_by_group(stated) else (stated,)

    @property
    def entries(self) -> int:
        """How many there are, of all groups together."""
        return 0 if self.size is None else together(self.size)

    def query(self) -> Query:
        """What is asked of each part.

        A gated count with one p is certified for every p, and its parts need not ask one property.
        """
        import statpriv as sp

        if self.asked is not None:
            return self.asked
        labels: Any = {"attribute": self.attribute, "name": self.name}
        if self.cells is not None:
            return sp.HistogramQuery([*map(self._stated, self.cells)], **labels)
        stated: Any = self.probability
        if is_by_group(stated):
            return sp.PropertyQuery({group: self._stated(ends) for group, ends in stated}, **labels)
        if self.gate is not None and not self.each:
            stated, labels = (0, 1), {"name": self.name}
        steps = publication_steps(self.gate, self.suppressed_below, self.rounded_to)
        count = sp.PropertyQuery(self._stated(stated), **labels)
        return sp.PostProcessed(count, *steps) if steps else count

    def _stated(self, ends: Range) -> Stated:
        # A range of one point stays a range given everything else of the row: clusters and the same rows ask for it.
        return EachBetween(*ends) if self.each else stated_range(ends)

    def document(self) -> dict[str, object]:
        """The part as it stands in a file, without the keys that have their defaults."""
        return _ANY_PART.write(
            {
                **vars(self),
                "query": self.asked,
                "count": None if self.count == 1 else self.count,
                "each": self.each or None,
            }
        )


@dataclass(frozen=True)
class Composition:
    """Counts on the parts of a secret random partition, or of the same entries, and the ε at which their δ is asked."""

    epsilon: Fraction
    population: int | ByGroup[int] | Population
    parts: tuple[Part, ...]
    known_rows: int = 0
    bound: str = "tightest"
    same_rows: SameRows | None = None

    def curve(self) -> PrivacyCurve:
        """The privacy curve of all answers together.

        Raises
        ------
        ArgumentError
            The parts do not fit together or into the population.
        """
        import statpriv as sp

        if self._is_one_table_of_all:
            return sp.privacy_curve(
                self.parts[0].query(),
                self._population,
                adversary=sp.Adversary(known=self.known_rows),
                bound=self.bound,
            )
        return sp.compose(
            [query for part in self.parts for query in [part.query()] * part.count],
            self._population,
            self.same_rows
            or sp.RandomPartition([by_name(part.size) for part in self.parts for _ in range(part.count)]),
            adversary=sp.Adversary(known=self.known_rows),
            bound=self.bound,
        )

    @property
    def _population(self) -> Population:
        stated: Any = self.population
        return stated if isinstance(stated, Population) else POPULATION.read(by_name(stated))

    @property
    def _is_one_table_of_all(self) -> bool:
        """Whether all entries answer one exact table: there is no partition then."""
        alone = [(part.size, part.count) for part in self.parts] == [(self.population, 1)]
        asked = self.parts[0].asked
        return alone and self.bound == "tightest" and asked is not None and capabilities(asked).has_minimum

    def document(self) -> dict[str, object]:
        """The composition as it stands in a file, without the keys that have their defaults."""
        bound = None if self.bound == BOUND.absent else self.bound
        return {
            **COMPOSITION.write({**vars(self), "bound": bound}),
            "part": [part.document() for part in self.parts],
        }


def together(size: int | ByGroup[int] | Population) -> int:
    """A number of entries, of all groups together."""
    if isinstance(size, Population):
        return size.size
    sizes: Any = by_name(size)
    return sum(sizes.values()) if is_by_group(size) else sizes


# --- reading -------------------------------------------------------------------------------------


def read_composition(path: Path) -> Composition | ReleaseReport:
    """Read a composition file, TOML or JSON, or the JSON report of a release.

    Raises
    ------
    ArgumentError
        The file cannot be read or is not such a file; the message lists every key at fault.
    MissingExtraError
        The file is a report, and the release extra is not installed.
    """
    content = read_content(path, "composition")
    document = parsed(as_text(content, path), path)
    refuse_plan(document, path)
    if "composition" in document:
        from statpriv.releasing.recomputation import read_report

        return read_report(content, path)
    faults: list[str] = []
    found = composition_of(document, "", faults)
    if found is None:
        raise refused(path, faults)
    return found


def refuse_plan(document: Mapping[str, Value], path: Path) -> None:
    """Refuse the plan of a release, which another command reads.

    Raises
    ------
    ArgumentError
        It is one.
    """
    if {"data", "guarantee"} <= document.keys() and "composition" not in document:
        raise ArgumentError(
            f"{path} is the plan of a release; statpriv release {path} --dry-run says what it guarantees"
        )


def _gate(value: Value) -> tuple[int, int]:
    least, most = map(COUNT.read, value)
    if least > most:
        raise ArgumentError("not in order")
    return least, most


def _cells(value: Value) -> tuple[Range, ...]:
    cells: tuple[Range, ...] = _RANGES.read(value)
    least, most = (sum((cell[end] for cell in cells), Fraction(0)) for end in (0, 1))
    if not least <= 1 <= most:
        raise ArgumentError("not the cells of one histogram")
    return cells


_RANGES = list_of(RANGE, "a list of probabilities, numbers or ranges, that can add up to 1", least=2)
_GATE = Field(_gate, "a list of two counts in order", list_of(COUNT, "", least=2, most=2).schema, list, absent=None)

BOUND = TEXT.optional("tightest").described("the name of a bound, as in statpriv.compose")
POPULATION_SIZE = by_group(SIZE, COUNT).described("entries, the critical one included")
_POPULATION = Field(
    lambda value: (POPULATION if is_clustered(value) else POPULATION_SIZE).read(value),
    POPULATION_SIZE.allowed,
    POPULATION.schema,
    lambda population: (POPULATION if isinstance(population, Population) else POPULATION_SIZE).write(population),
    description=POPULATION_SIZE.description,
)
PART = Record(
    {
        "probability": by_group(RANGE).optional(),
        "cells": replace(_RANGES, read=_cells, absent=None).described("those of all cells of a histogram"),
        "query": QUERY.optional().described("any other query"),
        "each": TRUTH.optional(absent=False).described("every entry has a probability of its own in the range"),
        "size": by_group(SIZE, COUNT),
        "count": SIZE.optional(1).described("how many such parts"),
        "attribute": TEXT.optional().described("parts with the same attribute ask the same property"),
        "name": TEXT.optional().described("a label; it proves nothing"),
        "gate": _GATE.described("published within these two counts only, else withheld: then δ is for every p"),
        "suppressed_below": SIZE.optional().described("smaller counts are published as one"),
        "rounded_to": SIZE.optional().described("counts are rounded to multiples of this"),
    },
    one_of=("probability", "cells", "query"),
)
_SIZE = PART.fields["size"].optional().described("entries; left out where all answer (same_rows)")
_ANY_PART = replace(PART, fields={**PART.fields, "size": _SIZE})
PARTS = Field(
    lambda value: listed(value, least=1, most=budget.MAX_FILE_PARTS),
    f"1 to {budget.MAX_FILE_PARTS} tables [[part]]",
    {
        "type": "array",
        "minItems": 1,
        "maxItems": int(budget.MAX_FILE_PARTS),
        "items": definition("part", _ANY_PART.schema),
    },
)
COMPOSITION = Record(
    {
        "epsilon": NUMBER.described("ε in nats"),
        "population": _POPULATION,
        "same_rows": SAME_ROWS.optional().described("all entries answer every query; what of them is protected"),
        "known_rows": COUNT.optional(0).described("entries an adversary knows"),
        "bound": BOUND,
        "part": PARTS,
    }
)


def read_parts(
    tables: list[Value], place: str, faults: list[str], *, of_same_rows: int | None = None
) -> tuple[Part, ...]:
    """The parts of a composition; what is wrong with them is added to `faults`.

    Of so many same rows all answer, and a size need not be stated.
    """
    known = len(faults)
    record = PART if of_same_rows is None else _ANY_PART
    parts = [record.read(part, f"{place}[{k}]", faults) for k, part in enumerate(tables, start=1)]
    if len(faults) > known:
        return ()
    if (together := sum(part["count"] for part in parts)) > budget.MAX_FILE_PARTS:
        faults.append(f"{place}: {together} parts together; at most {budget.MAX_FILE_PARTS} are allowed")
    for k, part in enumerate(parts, start=1):
        if of_same_rows is not None and (part["size"] not in (None, of_same_rows) or part["count"] > 1):
            faults.append(
                f"{place}[{k}].size or count: with same_rows all entries answer every query once; leave both out"
            )
        faults += [f"{place}[{k}] {fault}" for fault in _contradictions(part)]
    return () if len(faults) > known else tuple(Part(asked=part.pop("query"), **part) for part in parts)


def _contradictions(part: dict[str, Value]) -> list[str]:
    of_groups = is_by_group(part["size"])
    stated = [key for key in PART.one_of if part[key] is not None]
    steps = [key for key in ("gate", "suppressed_below", "rounded_to") if part[key] is not None]
    labels = [key for key in ("attribute", "name", "each") if part[key]]
    found = []
    if len(stated) != 1:
        found.append("needs either a probability, or the cells of a histogram, or a query")
    elif "query" in stated and labels:
        found.append(f"has {labels[0]} beside a query, in which it stands")
    elif "query" not in stated and of_groups and not is_by_group(part["probability"]):
        found.append("states size by group, and probability not")
    if steps and (stated != ["probability"] or of_groups):
        found.append(f"has {steps[0]}, which is for counts of one probability")
    return found


def composition_of(table: Value, place: str, faults: list[str]) -> Composition | None:
    """The composition that a table describes; what is wrong with it is added to `faults`."""
    read = COMPOSITION.read(table, place, faults)
    all_rows = None if read.get("same_rows") is None else together(read.get("population") or 0)
    parts = read_parts(read.pop("part", []), f"{place}.part" if place else "part", faults, of_same_rows=all_rows)
    return None if faults else Composition(**read, parts=parts)
