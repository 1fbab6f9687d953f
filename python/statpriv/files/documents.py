"""Files that people write, TOML or JSON: their text, their tables, and the lines of their faults."""

from __future__ import annotations

import json
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

from statpriv.errors import ArgumentError
from statpriv.model.fields import Value
from statpriv.numeric.arguments import is_list, is_mapping

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["as_text", "located", "parsed", "read_content", "read_text", "refused"]


def read_text(path: Path, kind: str) -> str:
    """The text of a file, which messages call `kind`."""
    return as_text(read_content(path, kind), path)


def read_content(path: Path, kind: str) -> bytes:
    """The bytes of a file, which messages call `kind`."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ArgumentError(f"{path}: {error.strerror}; the path of a {kind} file is required") from error


def as_text(content: bytes, path: Path) -> str:
    """The text of a file that was read."""
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{path}: not a text in UTF-8, so neither TOML nor JSON") from error


def parsed(text: str, path: Path, *, number: Callable[[str], object] = Decimal) -> dict[str, Value]:
    """The tables of a text, TOML or JSON; decimal numbers stay exact unless `number` reads them otherwise."""
    try:
        if text.lstrip().startswith("{"):
            document = json.loads(text, parse_float=number, object_pairs_hook=_without_repetition)
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


def refused(path: str | Path, faults: list[str]) -> ArgumentError:
    """The error of a file with these faults."""
    return ArgumentError("\n  ".join([f"{path} cannot be used as it is:", *faults]))


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
    if is_mapping(value):
        for name, inner in value.items():
            yield from _places(inner, f"{place}.{name}" if place else name, (*path, name))
    elif is_list(value):
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
