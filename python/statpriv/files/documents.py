"""Files that people write, TOML or JSON: read key by key, exactly, with all faults at once."""

from __future__ import annotations

import difflib
import json
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from statpriv.errors import ArgumentError
from statpriv.numeric.exact import as_count, as_fraction, as_probability

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "COUNT",
    "NUMBER",
    "PROBABILITY",
    "SIZE",
    "TEXT",
    "Key",
    "Value",
    "located",
    "parsed",
    "probability_range",
    "read_table",
    "read_text",
]

Value: TypeAlias = Any
"""What a value of a TOML or JSON file is read as."""


def read_text(path: Path, kind: str) -> str:
    """The text of a file, which messages call `kind`."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ArgumentError(f"{path}: {error.strerror}; the path of a {kind} file is required") from error
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{path}: not a text in UTF-8, so neither TOML nor JSON") from error


def parsed(text: str, path: Path) -> dict[str, Value]:
    """The tables of a text, TOML or JSON; decimal numbers stay exact."""
    try:
        if text.lstrip().startswith("{"):
            document = json.loads(text, parse_float=Decimal, object_pairs_hook=_without_repetition)
        else:
            document = tomllib.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"{path}: neither TOML nor JSON: {error}") from error
    return dict(document)


def _without_repetition(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} stands there twice")
    return table


_MISSING = object()


@dataclass(frozen=True)
class Key:
    """A key of a table: how its value is read, what is allowed, and what stands for its absence."""

    read: Callable[[Value], Any]
    allowed: str
    absent: Any = _MISSING

    def optional(self, absent: object = None) -> Key:
        """The same key where it may be left out."""
        return replace(self, absent=absent)


def _number(value: Value) -> Fraction:
    number = as_fraction(value, "value")
    if number < 0:
        raise ArgumentError("negative")
    return number


def probability_range(value: Value) -> tuple[Fraction, Fraction]:
    """Two probabilities in order, from a list of them or from one."""
    low, high = value if isinstance(value, list) else (value, value)
    ends = as_probability(low, "value"), as_probability(high, "value")
    if ends[0] > ends[1]:
        raise ArgumentError("not in order")
    return ends


def _text(value: Value) -> str:
    if not isinstance(value, str) or not value:
        raise ArgumentError("not a text")
    return value


NUMBER = Key(_number, 'a number of at least 0 such as 0.1, "0.1" or "1/10"')
COUNT = Key(partial(as_count, name="value", least=0), "a whole number from 0 to 2^53")
SIZE = Key(partial(as_count, name="value", least=1), "a whole number from 1 to 2^53")
PROBABILITY = Key(probability_range, 'a number from 0 to 1, or a range ["low", "high"] of two in order')
TEXT = Key(_text, "a text that is not empty")


def read_table(
    table: Value, keys: Mapping[str, Key], place: str, faults: list[str], *, closed: bool = True
) -> dict[str, Value]:
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


def _suggestion(name: str, keys: Mapping[str, Key]) -> str:
    close = difflib.get_close_matches(name, keys, n=1)
    return f"; did you mean {close[0]}?" if close else f"; allowed here: {', '.join(keys)}"


def _shown(value: object) -> str:
    plain = str(value) if isinstance(value, Decimal) else json.dumps(value, default=str, ensure_ascii=False)
    return plain if len(plain) <= 60 else f"{plain[:59]}…"


# --- where it stands -----------------------------------------------------------------------------


def located(faults: list[str], document: Value, text: str) -> list[str]:
    """The faults of a TOML text, with the line of the key or table that each starts with the name of."""
    places = dict(_places(document, "", ()))
    found = []
    for fault in faults:
        place = max((place for place in places if fault.startswith(place)), key=len, default="")
        line = _line(text, places[place]) if place else None
        found.append(fault if line is None else f"line {line}: {fault}")
    return found


def _places(value: Value, place: str, path: tuple[str | int, ...]) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Every key and table, as faults name it, and the way to it."""
    if path:
        yield place, path
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _places(inner, f"{place}.{name}" if place else name, (*path, name))
    elif isinstance(value, list):
        for k, inner in enumerate(value):
            yield from _places(inner, f"{place}[{k + 1}]", (*path, k))


def _line(text: str, path: tuple[str | int, ...]) -> int | None:
    """The line of TOML at which a key or table starts: the first with its name after which a parser has seen it."""
    lines = text.split("\n")
    name = next(part for part in reversed(path) if isinstance(part, str))
    candidates = [number for number, line in enumerate(lines, start=1) if name in line]
    # What a longer beginning of the text holds does not become less: all False come before all True.
    first = bisect_left(candidates, 1, key=lambda number: int(_is_there(lines, number, path)))
    return candidates[first] if first < len(candidates) else None


def _is_there(lines: list[str], number: int, path: tuple[str | int, ...]) -> bool:
    """Whether the first `number` lines hold it; some more where they end within a value."""
    for end in range(number, len(lines) + 1):
        try:
            found: Value = tomllib.loads("\n".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue
        for part in path:
            if not (part in found if isinstance(part, str) else part < len(found)):
                return False
            found = found[part]
        return True
    return False
