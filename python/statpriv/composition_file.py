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

    [[part]]
    cells = [["0.2", "0.3"], ["0.7", "0.8"]]     # instead of probability: all counts of a histogram
    size = 1024

Every number is exact: ``0.1``, ``"0.1"`` and ``"1/10"`` are one tenth. A key that is not listed here is an error,
and all errors are reported at once. The JSON report of a release holds the same structure under ``composition``,
beside what it says of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from statpriv.documents import (
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
from statpriv.enclosure import Enclosure
from statpriv.errors import ArgumentError
from statpriv.numbers import as_count

if TYPE_CHECKING:
    from statpriv.curve import PrivacyCurve
    from statpriv.queries.processed import Step
    from statpriv.situation import Query

__all__ = ["BOUND", "PARTS", "Composition", "Part", "Report", "read_composition", "read_parts"]

MOST_PARTS = 100_000

_WIDEST = 1e-3  # no report of ours states δ more loosely
Range: TypeAlias = "tuple[Fraction, Fraction]"
"""The ends of a range of probabilities."""
_Sized: TypeAlias = "tuple[tuple[int, tuple[Range, ...]], ...]"
"""Size of each part, and the range of p, or those of the cells."""


@dataclass(frozen=True)
class Part:
    """`count` parts of `size` entries each, on which a property with a probability in this range is counted.

    Or the cells of a histogram, each with a range. A count is published within its gate only, if it has one, then
    suppressed, then rounded.
    """

    probability: Range | None
    size: int
    count: int = 1
    attribute: str | None = None
    name: str | None = None
    cells: tuple[Range, ...] | None = None
    gate: tuple[int, int] | None = None
    suppressed_below: int | None = None
    rounded_to: int | None = None

    @property
    def ranges(self) -> tuple[Range, ...]:
        """The range of p, or those of the cells."""
        return (self.cells or ()) if self.probability is None else (self.probability,)

    def query(self) -> Query:
        """What is asked of each part.

        A gated count is certified for every p, and its parts need not ask one property.
        """
        import statpriv as sp

        if self.probability is None:
            cells = [sp.Between(*ends) for ends in self.ranges]
            return sp.HistogramQuery(cells, attribute=self.attribute, name=self.name)
        steps: list[Step] = []
        if self.suppressed_below is not None:
            steps.append(sp.Threshold(self.suppressed_below - 1))
        if self.rounded_to is not None:
            steps.append(sp.Rounding(self.rounded_to))
        if self.gate is not None:
            return sp.Processed(sp.PropertyQuery(sp.Between(0, 1), name=self.name), sp.Gate(*self.gate), *steps)
        asked = sp.PropertyQuery(sp.Between(*self.probability), attribute=self.attribute, name=self.name)
        return sp.Processed(asked, *steps) if steps else asked

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
        law: dict[str, object] = (
            {"cells": [list(map(str, ends)) for ends in self.ranges]}
            if self.probability is None
            else {"probability": list(map(str, self.probability))}
        )
        return {
            **law,
            "size": self.size,
            **{key: value for key, value in optional.items() if value is not None},
        }


@dataclass(frozen=True)
class Composition:
    """Counts on the parts of a secret random partition, and the ε at which their δ is asked."""

    epsilon: Fraction
    population: int
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
            sp.Population(self.population),
            sp.RandomPartition([part.size for part in self.parts for _ in range(part.count)]),
            adversary=sp.Adversary(known=self.known_rows),
            bound=self.bound,
        )

    def document(self) -> dict[str, object]:
        """The composition as it stands in a file, without the keys that have their defaults."""
        return {
            "epsilon": str(self.epsilon),
            "population": self.population,
            "known_rows": self.known_rows,
            **({"bound": self.bound} if self.bound != "tightest" else {}),
            "part": [part.document() for part in self.parts],
        }


@dataclass(frozen=True)
class Report:
    """What the report of a release says, and the composition that it says it of. None stands for silence."""

    composition: Composition
    delta: Enclosure
    holds: bool | None
    target: Fraction | None
    epsilons: tuple[Fraction, ...]
    known_rows: int | None
    rows: int | None
    queries: _Sized | None

    def disagreements(self, delta: Enclosure) -> list[str]:
        """Where the report contradicts its own composition, or the δ that was computed from that again.

        Two enclosures of one number overlap; their ends may differ between versions.
        """
        asked = self.composition
        parts = tuple((part.size, part.ranges) for part in asked.parts for _ in range(part.count))
        comparisons = [
            (
                self.delta.lower <= delta.upper and delta.lower <= self.delta.upper,
                f"guarantee.delta is {_ends(self.delta)}, computed again {_ends(delta)}",
            ),
            (
                not self.holds or self.target is None or delta.lower <= self.target,
                f"guarantee.holds is true, but δ, computed again {_ends(delta)}, is above the target {self.target}",
            ),
            (
                self.holds or self.target is None or delta.upper > self.target,
                f"guarantee.holds is false, but δ, computed again {_ends(delta)}, is at most the target {self.target}",
            ),
            (
                self.delta.upper - self.delta.lower <= _WIDEST,
                f"guarantee.delta is {_ends(self.delta)}, which says too little to agree or disagree",
            ),
            (
                all(abs(epsilon - asked.epsilon) <= asked.epsilon / 2**52 for epsilon in self.epsilons),
                f"guarantee.epsilon is not {asked.epsilon}, as in the composition",
            ),
            (
                self.known_rows in (None, asked.known_rows),
                f"guarantee.known_rows is {self.known_rows}, in the composition {asked.known_rows}",
            ),
            (
                self.rows in (None, asked.population),
                f"data.rows is {self.rows}, in the composition {asked.population}",
            ),
            (
                self.queries is None or _covered(self.queries, parts),
                "the queries differ from the parts of the composition in number, size or range of p",
            ),
        ]
        return [contradiction for agrees, contradiction in comparisons if not agrees]


def _covered(queries: _Sized, parts: _Sized) -> bool:
    """Whether query k has the size of part k, and a range of p inside that of part k."""
    return len(queries) == len(parts) and all(
        size == part_size
        and len(asked) == len(stated)
        and all(
            low <= asked_low and asked_high <= high
            for (asked_low, asked_high), (low, high) in zip(asked, stated, strict=False)
        )
        for (size, asked), (part_size, stated) in zip(queries, parts, strict=True)
    )


def _ends(enclosure: Enclosure) -> str:
    return f"[{enclosure.lower}, {enclosure.upper}]"


# --- reading -------------------------------------------------------------------------------------


def read_composition(path: Path) -> Composition | Report:
    """Read a composition file, TOML or JSON, or the JSON report of a release.

    Raises
    ------
    ArgumentError
        The file cannot be read or is not such a file; the message lists every key at fault.
    """
    document = parsed(read_text(path, "composition"), path)
    faults: list[str] = []
    found = _report(document, faults) if "composition" in document else _composition(document, "", faults)
    if found is None:
        raise ArgumentError("\n  ".join([f"{path} cannot be used as it is:", *faults]))
    return found


def _range_of_table(value: Value) -> tuple[Fraction, Fraction]:
    return probability_range([value["lower"], value["upper"]])


def _range_of_query(value: Value) -> Range | None:
    return None if value is None else _range_of_table(value)


def _cells_of_query(value: Value) -> tuple[Range, ...] | None:
    return None if value is None else tuple(_range_of_table(cell["probability"]) for cell in value)


def _enclosure(value: Value) -> Enclosure:
    # JSON numbers of a report are doubles in decimal.
    return Enclosure(float(value["lower"]), float(value["upper"]))


def _truth(value: Value) -> bool:
    if not isinstance(value, bool):
        raise ArgumentError("not a truth value")
    return value


def _list(value: Value) -> list[Value]:
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_PARTS:
        raise ArgumentError("not a list")
    return value


def _cells(value: Value) -> tuple[Range, ...]:
    cells = tuple(map(probability_range, value))
    lowers, uppers = (sum(ends) for ends in zip(*cells, strict=True))
    if len(cells) < 2 or not lowers <= 1 <= uppers:
        raise ArgumentError("no law")
    return cells


def _gate(value: Value) -> tuple[int, int]:
    least, most = (as_count(end, name="value", least=0) for end in value)
    if least > most:
        raise ArgumentError("not in order")
    return least, most


BOUND = Key(TEXT.read, 'the name of a bound, such as "tightest"', absent="tightest")
PARTS = Key(_list, f"1 to {MOST_PARTS} tables [[part]]")
_PART_KEYS = {
    "probability": PROBABILITY.optional(),
    "cells": Key(_cells, "a list of at least two probabilities or ranges, which some law fits into", absent=None),
    "size": SIZE,
    "count": SIZE.optional(1),
    "attribute": TEXT.optional(),
    "name": TEXT.optional(),
    "gate": Key(_gate, "a list of two counts in order", absent=None),
    "suppressed_below": SIZE.optional(),
    "rounded_to": SIZE.optional(),
}
_COMPOSITION_KEYS = {
    "epsilon": NUMBER,
    "population": SIZE,
    "known_rows": COUNT.optional(0),
    "bound": BOUND,
    "part": PARTS,
}
_GUARANTEE_KEYS = {
    "delta": Key(_enclosure, 'an enclosure {"lower": …, "upper": …}'),
    "epsilon": NUMBER.optional(),
    "epsilon_exact": NUMBER.optional(),
    "target_delta": NUMBER.optional(),
    "target_delta_exact": NUMBER.optional(),
    "known_rows": COUNT.optional(),
    "holds": Key(_truth, "true or false", absent=None),
}
_DATA_KEYS = {"rows": SIZE.optional()}
_QUERY_KEYS = {
    "size": SIZE,
    "probability": Key(_range_of_query, 'a range {"lower": …, "upper": …} within 0 and 1', absent=None),
    "cells": Key(_cells_of_query, 'cells with a "probability" each', absent=None),
}


def read_parts(tables: list[Value], place: str, faults: list[str]) -> tuple[Part, ...]:
    """The parts of a composition; what is wrong with them is added to `faults`."""
    known = len(faults)
    parts = [read_table(part, _PART_KEYS, f"{place}[{k}]", faults) for k, part in enumerate(tables, start=1)]
    for k, part in enumerate(parts if len(faults) == known else (), start=1):
        faults += [f"{place}[{k}]{why}" for why in _contradictions(part)]
    if len(faults) > known:
        return ()
    if (together := sum(part["count"] for part in parts)) > MOST_PARTS:
        faults.append(f"{place}: {together} parts together; at most {MOST_PARTS} are allowed")
    return tuple(Part(**part) for part in parts)


def _contradictions(part: dict[str, Value]) -> list[str]:
    if part["cells"] is None:
        return (
            [] if part["probability"] is not None else [f".probability is missing; {PROBABILITY.allowed} is required"]
        )
    others = [key for key in ("probability", "gate", "suppressed_below", "rounded_to") if part[key] is not None]
    return [f".{key} stands beside cells; a histogram has cells alone" for key in others]


def _composition(table: Value, place: str, faults: list[str]) -> Composition | None:
    read = read_table(table, _COMPOSITION_KEYS, place, faults)
    parts = read_parts(read.pop("part", []), f"{place}.part" if place else "part", faults)
    return None if faults else Composition(**read, parts=parts)


def _report(document: dict[str, Value], faults: list[str]) -> Report | None:
    composition = _composition(document["composition"], "composition", faults)
    said = read_table(document.get("guarantee"), _GUARANTEE_KEYS, "guarantee", faults, closed=False)
    data = read_table(document.get("data", {}), _DATA_KEYS, "data", faults, closed=False)
    queries = document.get("queries")
    asked = [
        read_table(query, _QUERY_KEYS, f"queries[{k}]", faults, closed=False)
        for k, query in enumerate(queries if isinstance(queries, list) else [], start=1)
    ]
    if composition is None or faults:
        return None
    target = said["target_delta"] if said["target_delta_exact"] is None else said["target_delta_exact"]
    return Report(
        composition=composition,
        delta=said["delta"],
        holds=said["holds"],
        target=target,
        epsilons=tuple(said[key] for key in ("epsilon", "epsilon_exact") if said[key] is not None),
        known_rows=said["known_rows"],
        rows=data["rows"],
        queries=None if queries is None else tuple(map(_sized, asked)),
    )


def _sized(query: dict[str, Value]) -> tuple[int, tuple[Range, ...]]:
    """Of a query of a report the size and the range of p, or those of the cells."""
    return query["size"], (query["cells"] or ()) if query["probability"] is None else (query["probability"],)
