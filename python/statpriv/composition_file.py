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

Every number is exact: ``0.1``, ``"0.1"`` and ``"1/10"`` are one tenth. A key that is not listed here is an error,
and all errors are reported at once. The JSON report of a release holds the same structure under ``composition``,
beside what it says of it.
"""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from statpriv.enclosure import Enclosure
from statpriv.errors import ArgumentError
from statpriv.numbers import as_count, as_fraction, as_probability

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from statpriv.curve import PrivacyCurve

__all__ = ["Composition", "Part", "Report", "read_composition"]

MOST_PARTS = 100_000

_Value: TypeAlias = Any
"""What a value of a TOML or JSON file is read as."""
_WIDEST = 1e-6  # no report of ours states δ more loosely
_Sized: TypeAlias = "tuple[tuple[int, tuple[Fraction, Fraction]], ...]"
"""Size and range of p, of each part."""


@dataclass(frozen=True)
class Part:
    """`count` parts of `size` entries each, on which a property with a probability in this range is counted."""

    probability: tuple[Fraction, Fraction]
    size: int
    count: int = 1
    attribute: str | None = None
    name: str | None = None


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

        queries = [
            sp.PropertyQuery(sp.Between(*part.probability), attribute=part.attribute, name=part.name)
            for part in self.parts
            for _ in range(part.count)
        ]
        return sp.compose(
            queries,
            sp.Population(self.population),
            sp.RandomPartition([part.size for part in self.parts for _ in range(part.count)]),
            adversary=sp.Adversary(known=self.known_rows),
            bound=self.bound,
        )

    def document(self) -> dict[str, object]:
        """The composition as it stands in a file, without the keys that have their defaults."""
        parts = [
            {
                "probability": [str(end) for end in part.probability],
                "size": part.size,
                **({"count": part.count} if part.count > 1 else {}),
                **({"attribute": part.attribute} if part.attribute is not None else {}),
                **({"name": part.name} if part.name is not None else {}),
            }
            for part in self.parts
        ]
        return {
            "epsilon": str(self.epsilon),
            "population": self.population,
            "known_rows": self.known_rows,
            **({"bound": self.bound} if self.bound != "tightest" else {}),
            "part": parts,
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
        parts = tuple((part.size, part.probability) for part in asked.parts for _ in range(part.count))
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
        size == part_size and low <= query_low and query_high <= high
        for (size, (query_low, query_high)), (part_size, (low, high)) in zip(queries, parts, strict=True)
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
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ArgumentError(f"{path}: {error.strerror}; the path of a composition file is required") from error
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{path}: not a text in UTF-8, so neither TOML nor JSON") from error
    document = _parsed(text, path)
    faults: list[str] = []
    found = _report(document, faults) if "composition" in document else _composition(document, "", faults)
    if found is None:
        raise ArgumentError("\n  ".join([f"{path} cannot be used as it is:", *faults]))
    return found


def _parsed(text: str, path: Path) -> dict[str, _Value]:
    try:
        if text.lstrip().startswith("{"):
            document = json.loads(text, parse_float=Decimal, object_pairs_hook=_without_repetition)
        else:
            document = tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"{path}: neither TOML nor JSON: {error}") from error
    return dict(document)


def _without_repetition(pairs: list[tuple[str, _Value]]) -> dict[str, _Value]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} stands there twice")
    return table


_MISSING = object()


@dataclass(frozen=True)
class _Key:
    """A key of a table: how its value is read, what is allowed, and what stands for its absence."""

    read: Callable[[_Value], Any]
    allowed: str
    absent: Any = _MISSING


def _number(value: _Value) -> Fraction:
    number = as_fraction(value, "value")
    if number < 0:
        raise ArgumentError("negative")
    return number


def _range(value: _Value) -> tuple[Fraction, Fraction]:
    low, high = value if isinstance(value, list) else (value, value)
    ends = as_probability(low, "value"), as_probability(high, "value")
    if ends[0] > ends[1]:
        raise ArgumentError("not in order")
    return ends


def _range_of_table(value: _Value) -> tuple[Fraction, Fraction]:
    return _range([value["lower"], value["upper"]])


def _enclosure(value: _Value) -> Enclosure:
    # JSON numbers of a report are doubles in decimal.
    return Enclosure(float(value["lower"]), float(value["upper"]))


def _text(value: _Value) -> str:
    if not isinstance(value, str) or not value:
        raise ArgumentError("not a text")
    return value


def _truth(value: _Value) -> bool:
    if not isinstance(value, bool):
        raise ArgumentError("not a truth value")
    return value


def _list(value: _Value) -> list[_Value]:
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_PARTS:
        raise ArgumentError("not a list")
    return value


_NUMBER = 'a number of at least 0 such as 0.1, "0.1" or "1/10"'
_COUNT, _SIZE = "a whole number from 0 to 2^53", "a whole number from 1 to 2^53"
_A_COUNT, _A_SIZE = (partial(as_count, name="value", least=least) for least in (0, 1))
_A_PROBABILITY = 'a number from 0 to 1, or a range ["low", "high"] of two in order'

_PART_KEYS = {
    "probability": _Key(_range, _A_PROBABILITY),
    "size": _Key(_A_SIZE, _SIZE),
    "count": _Key(_A_SIZE, _SIZE, absent=1),
    "attribute": _Key(_text, "a text that is not empty", absent=None),
    "name": _Key(_text, "a text that is not empty", absent=None),
}
_COMPOSITION_KEYS = {
    "epsilon": _Key(_number, _NUMBER),
    "population": _Key(_A_SIZE, _SIZE),
    "known_rows": _Key(_A_COUNT, _COUNT, absent=0),
    "bound": _Key(_text, 'the name of a bound, such as "tightest"', absent="tightest"),
    "part": _Key(_list, f"1 to {MOST_PARTS} tables [[part]]"),
}
_GUARANTEE_KEYS = {
    "delta": _Key(_enclosure, 'an enclosure {"lower": …, "upper": …}'),
    "epsilon": _Key(_number, _NUMBER, absent=None),
    "epsilon_exact": _Key(_number, _NUMBER, absent=None),
    "target_delta": _Key(_number, _NUMBER, absent=None),
    "target_delta_exact": _Key(_number, _NUMBER, absent=None),
    "known_rows": _Key(_A_COUNT, _COUNT, absent=None),
    "holds": _Key(_truth, "true or false", absent=None),
}
_DATA_KEYS = {"rows": _Key(_A_SIZE, _SIZE, absent=None)}
_QUERY_KEYS = {
    "size": _Key(_A_SIZE, _SIZE),
    "probability": _Key(_range_of_table, 'a range {"lower": …, "upper": …} within 0 and 1'),
}


def _composition(table: _Value, place: str, faults: list[str]) -> Composition | None:
    read = _read(table, _COMPOSITION_KEYS, place, faults)
    prefix = f"{place}." if place else ""
    parts = [
        _read(part, _PART_KEYS, f"{prefix}part[{k}]", faults) for k, part in enumerate(read.pop("part", []), start=1)
    ]
    if not faults and (together := sum(part["count"] for part in parts)) > MOST_PARTS:
        faults.append(f"{prefix}part: {together} parts together; at most {MOST_PARTS} are allowed")
    return None if faults else Composition(**read, parts=tuple(Part(**part) for part in parts))


def _report(document: dict[str, _Value], faults: list[str]) -> Report | None:
    composition = _composition(document["composition"], "composition", faults)
    said = _read(document.get("guarantee"), _GUARANTEE_KEYS, "guarantee", faults, closed=False)
    data = _read(document.get("data", {}), _DATA_KEYS, "data", faults, closed=False)
    queries = document.get("queries")
    asked = [
        _read(query, _QUERY_KEYS, f"queries[{k}]", faults, closed=False)
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
        queries=None if queries is None else tuple((query["size"], query["probability"]) for query in asked),
    )


def _read(
    table: _Value, keys: Mapping[str, _Key], place: str, faults: list[str], *, closed: bool = True
) -> dict[str, _Value]:
    """The values of a table by key; what is wrong with it is added to `faults`."""
    prefix = f"{place}." if place else ""
    if not isinstance(table, dict):
        faults.append(f"{place} = {_shown(table)}; a table with the keys {', '.join(keys)} is required")
        return {}
    if closed:
        faults += [f"{prefix}{name}: no such key{_suggestion(name, keys)}" for name in table if name not in keys]
    values = {}
    for name, key in keys.items():
        if name not in table and key.absent is not _MISSING:
            values[name] = key.absent
        elif name not in table:
            faults.append(f"{prefix}{name} is missing; {key.allowed} is required")
        else:
            try:
                values[name] = key.read(table[name])
            except (KeyError, TypeError, ValueError, OverflowError):
                faults.append(f"{prefix}{name} = {_shown(table[name])}; {key.allowed} is required")
    return values


def _suggestion(name: str, keys: Mapping[str, _Key]) -> str:
    close = difflib.get_close_matches(name, keys, n=1)
    return f"; did you mean {close[0]}?" if close else f"; allowed here: {', '.join(keys)}"


def _shown(value: object) -> str:
    plain = str(value) if isinstance(value, Decimal) else json.dumps(value, default=str, ensure_ascii=False)
    return plain if len(plain) <= 60 else f"{plain[:59]}…"
