"""Files that describe a composition: several counts, each on its own part of the entries.

.. code-block:: toml

    epsilon = 0.005
    population = 32768
    known_rows = 0                     # entries an adversary knows; 0 by default
    bound = "tightest"                 # as in statpriv.compose

    [[part]]                           # one or more
    probability = ["0.4", "0.6"]       # one number or a range
    size = 1024
    count = 32                         # how many such parts; 1 by default
    attribute = "smoker"               # parts with the same attribute ask the same property
    name = "Smokers"                   # a label; it proves nothing
    gate = [400, 624]                  # published within these only, else withheld: then δ is for every p
    suppressed_below = 10              # smaller counts are published as one
    rounded_to = 5                     # the others to multiples of this

A histogram has cells in place of a probability, the last one included; a stratified composition states everything by
group:

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

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from statpriv.errors import ArgumentError
from statpriv.files.documents import (
    COUNT,
    NUMBER,
    PROBABILITY,
    SIZE,
    TEXT,
    Key,
    Value,
    parsed,
    probability_range,
    read_table,
    read_text,
)
from statpriv.model.groups import ByGroup
from statpriv.numeric.exact import as_count

if TYPE_CHECKING:
    from statpriv.curves.curve import PrivacyCurve
    from statpriv.files.release_report import Report
    from statpriv.model.queries.processed import Step
    from statpriv.model.situation import Query

__all__ = [
    "BOUND",
    "PARTS",
    "Composition",
    "Part",
    "Range",
    "composition_of",
    "read_composition",
    "read_parts",
    "together",
]

MOST_PARTS = 100_000
_Stated = TypeVar("_Stated")

Range: TypeAlias = "tuple[Fraction, Fraction]"


@dataclass(frozen=True)
class Part:
    """`count` parts of `size` entries each, on which a property with a probability in this range is counted.

    A count is published within its gate only, if it has one, then suppressed, then rounded.

    Attributes
    ----------
    probability
        One range, or one for each group; None of a histogram.
    size
        Entries, or those of each group.
    cells
        Of a histogram the ranges of all cells; None of a count.
    """

    probability: Range | ByGroup[Range] | None
    size: int | ByGroup[int]
    count: int = 1
    attribute: str | None = None
    name: str | None = None
    gate: tuple[int, int] | None = None
    suppressed_below: int | None = None
    rounded_to: int | None = None
    cells: tuple[Range, ...] | None = None

    @property
    def ranges(self) -> tuple[Range, ...]:
        """Of the count, or of all groups or cells."""
        if self.cells is not None:
            return self.cells
        stated: Any = self.probability
        return tuple(ends for _, ends in stated) if _is_by_group(stated) else (stated,)

    @property
    def entries(self) -> int:
        """How many there are, of all groups together."""
        return together(self.size)

    def query(self) -> Query:
        """What is asked of each part.

        A gated count is certified for every p, and its parts need not ask one property.
        """
        import statpriv as sp

        if self.cells is not None:
            cells: Any = [low if low == high else sp.Between(low, high) for low, high in self.cells]
            return sp.HistogramQuery(cells, attribute=self.attribute, name=self.name)
        stated: Any = self.probability
        if _is_by_group(stated):
            by_group = {group: sp.Between(*ends) for group, ends in stated}
            return sp.PropertyQuery(by_group, attribute=self.attribute, name=self.name)
        steps: list[Step] = []
        if self.suppressed_below is not None:
            steps.append(sp.Threshold(self.suppressed_below - 1))
        if self.rounded_to is not None:
            steps.append(sp.Rounding(self.rounded_to))
        if self.gate is not None:
            return sp.PostProcessed(
                sp.PropertyQuery(sp.Between(0, 1), name=self.name), sp.RangeGate(*self.gate), *steps
            )
        asked = sp.PropertyQuery(sp.Between(*stated), attribute=self.attribute, name=self.name)
        return sp.PostProcessed(asked, *steps) if steps else asked

    def document(self) -> dict[str, object]:
        """The part as it stands in a file, without the keys that have their defaults."""
        optional = {
            "count": self.count if self.count > 1 else None,
            "attribute": self.attribute,
            "name": self.name,
            "gate": None if self.gate is None else list(self.gate),
            "suppressed_below": self.suppressed_below,
            "rounded_to": self.rounded_to,
        }
        stated: Any = self.probability
        if self.cells is not None:
            law: dict[str, object] = {"cells": [_written(ends) for ends in self.cells]}
        else:
            law = {"probability": {g: _written(p) for g, p in stated} if _is_by_group(stated) else _written(stated)}
        return {
            **law,
            "size": self.size if isinstance(self.size, int) else dict(self.size),
            **{key: value for key, value in optional.items() if value is not None},
        }


@dataclass(frozen=True)
class Composition:
    """Counts on the parts of a secret random partition, and the ε at which their δ is asked."""

    epsilon: Fraction
    population: int | ByGroup[int]
    parts: tuple[Part, ...]
    known_rows: int = 0
    bound: str = "tightest"

    def curve(self) -> PrivacyCurve:
        """The privacy curve of all answers together.

        Raises
        ------
        ArgumentError
            The parts do not fit together or into the population.
        """
        import statpriv as sp

        return sp.compose(
            [query for part in self.parts for query in [part.query()] * part.count],
            sp.Population(self.population)
            if isinstance(self.population, int)
            else sp.Population(groups=dict(self.population)),
            sp.RandomPartition(
                [
                    part.size if isinstance(part.size, int) else dict(part.size)
                    for part in self.parts
                    for _ in range(part.count)
                ]
            ),
            adversary=sp.Adversary(known=self.known_rows),
            bound=self.bound,
        )

    def document(self) -> dict[str, object]:
        """The composition as it stands in a file, without the keys that have their defaults."""
        return {
            "epsilon": str(self.epsilon),
            "population": self.population if isinstance(self.population, int) else dict(self.population),
            "known_rows": self.known_rows,
            **({"bound": self.bound} if self.bound != "tightest" else {}),
            "part": [part.document() for part in self.parts],
        }


def _is_by_group(stated: tuple[Any, ...]) -> bool:
    return isinstance(stated[0], tuple)


def together(size: int | ByGroup[int]) -> int:
    """A number of entries, of all groups together."""
    return size if isinstance(size, int) else sum(entries for _, entries in size)


def _written(ends: Range) -> list[str]:
    return [str(end) for end in ends]


# --- reading -------------------------------------------------------------------------------------


def read_composition(path: Path) -> Composition | Report:
    """Read a composition file, TOML or JSON, or the JSON report of a release.

    Raises
    ------
    ArgumentError
        The file cannot be read or is not such a file; the message lists every key at fault.
    """
    from statpriv.files.release_report import read_report

    document = parsed(read_text(path, "composition"), path)
    faults: list[str] = []
    read = read_report if "composition" in document else composition_of
    found = read(document, "", faults)
    if found is None:
        raise ArgumentError("\n  ".join([f"{path} cannot be used as it is:", *faults]))
    return found


def _list(value: Value) -> list[Value]:
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_PARTS:
        raise ArgumentError("not a list")
    return value


def _gate(value: Value) -> tuple[int, int]:
    least, most = (as_count(end, name="value", least=0) for end in value)
    if least > most:
        raise ArgumentError("not in order")
    return least, most


def _by_group(
    value: Value, read: Callable[[Value], _Stated], within: Callable[[Value], _Stated]
) -> _Stated | ByGroup[_Stated]:
    if not isinstance(value, dict):
        return read(value)
    if not value:
        raise ArgumentError("no group")
    return tuple((group, within(stated)) for group, stated in value.items())


def _cells(value: Value) -> tuple[Range, ...]:
    cells = tuple(map(probability_range, value))
    least, most = (sum((cell[end] for cell in cells), Fraction(0)) for end in (0, 1))
    if len(cells) < 2 or not least <= 1 <= most:
        raise ArgumentError("not the cells of one histogram")
    return cells


def _or_by_group(key: Key, within: Key) -> Key:
    return Key(
        partial(_by_group, read=key.read, within=within.read),
        f"{key.allowed}, or one for each group",
        absent=key.absent,
    )


BOUND = Key(TEXT.read, 'the name of a bound, such as "tightest"', absent="tightest")
PARTS = Key(_list, f"1 to {MOST_PARTS} tables [[part]]")
_PART_KEYS = {
    "probability": _or_by_group(PROBABILITY.optional(), PROBABILITY),
    "cells": Key(_cells, "a list of probabilities, numbers or ranges, that can add up to 1", absent=None),
    "size": _or_by_group(SIZE, COUNT),
    "count": SIZE.optional(1),
    "attribute": TEXT.optional(),
    "name": TEXT.optional(),
    "gate": Key(_gate, "a list of two counts in order", absent=None),
    "suppressed_below": SIZE.optional(),
    "rounded_to": SIZE.optional(),
}
_COMPOSITION_KEYS = {
    "epsilon": NUMBER,
    "population": _or_by_group(SIZE, COUNT),
    "known_rows": COUNT.optional(0),
    "bound": BOUND,
    "part": PARTS,
}


def read_parts(tables: list[Value], place: str, faults: list[str]) -> tuple[Part, ...]:
    """The parts of a composition; what is wrong with them is added to `faults`."""
    known = len(faults)
    parts = [read_table(part, _PART_KEYS, f"{place}[{k}]", faults) for k, part in enumerate(tables, start=1)]
    if len(faults) > known:
        return ()
    if (together := sum(part["count"] for part in parts)) > MOST_PARTS:
        faults.append(f"{place}: {together} parts together; at most {MOST_PARTS} are allowed")
    for k, part in enumerate(parts, start=1):
        faults += [f"{place}[{k}] {fault}" for fault in _contradictions(part)]
    return () if len(faults) > known else tuple(Part(**part) for part in parts)


def _contradictions(part: dict[str, Value]) -> list[str]:
    by_group = isinstance(part["size"], tuple)
    simple = part["cells"] is None and not by_group
    steps = [key for key in ("gate", "suppressed_below", "rounded_to") if part[key] is not None]
    found = []
    if (part["probability"] is None) == (part["cells"] is None):
        found.append("needs either a probability, or the cells of a histogram")
    elif by_group != (part["probability"] is not None and _is_by_group(part["probability"])):
        found.append("states either probability or size by group, and not the other")
    if steps and not simple:
        found.append(f"has {steps[0]}, which is for counts of one probability")
    return found


def composition_of(table: Value, place: str, faults: list[str]) -> Composition | None:
    """The composition that a table describes; what is wrong with it is added to `faults`."""
    read = read_table(table, _COMPOSITION_KEYS, place, faults)
    parts = read_parts(read.pop("part", []), f"{place}.part" if place else "part", faults)
    return None if faults else Composition(**read, parts=parts)
