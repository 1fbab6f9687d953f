"""What a command prints: JSON that reads back as the same numbers, or text at the safe end."""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import rich_click as click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from statpriv.cli.plain_text import one_line
from statpriv.errors import PublicationError
from statpriv.numeric.literals import at_least, at_most

if TYPE_CHECKING:
    from statpriv._native import DigitsEnclosure
    from statpriv.composition.repeated_releases import RepeatedReleases
    from statpriv.curves.curve import PrivacyCurve
    from statpriv.numeric.enclosure import Enclosure

__all__ = [
    "WHAT_IS_ENCLOSED",
    "at_most",
    "enclosed",
    "ends",
    "fact_grid",
    "grounds",
    "print_facts",
    "print_json",
    "provenance",
    "screen",
    "upper_end",
    "writable",
    "write_whole",
]

WHAT_IS_ENCLOSED = {
    "exact": "exact: the least δ itself is enclosed",
    "enclosed": "enclosed: the least δ lies between what one combination of values attains and a bound of all",
    "bound": "bound: the least δ is at most this",
}

_VERSION_OF_SCHEMAS = 1
"""Of every schema of `docs/reference/json-output.md`. A key that is added does not change it."""

_Facts = Iterable[tuple[str, "str | Iterable[str]"]]


def screen() -> Console:
    """Standard output for text: nothing in it is markup, and colours only where a terminal wants them."""
    return Console(markup=False, emoji=False, highlight=False)


def print_json(document: Mapping[str, object], *, schema: str) -> None:
    """Print a document after the name of its schema; its text is escaped, so that no encoding can change it."""
    head = {"schema": f"statpriv.{schema}", "version": _VERSION_OF_SCHEMAS}
    click.echo(json.dumps({**head, **document}, indent=2, allow_nan=False))


def has_digits(enclosure: Enclosure) -> TypeGuard[DigitsEnclosure]:
    """Whether its ends are of mpmath."""
    from statpriv._native import DigitsEnclosure  # commands print their help without the library

    return isinstance(enclosure, DigitsEnclosure)


def ends(enclosure: Enclosure) -> dict[str, float | str]:
    """An enclosure for JSON: doubles that read back as they were, or digits as strings rounded outward.

    Infinity is the string "inf".
    """
    if has_digits(enclosure):
        return dict(zip(("lower", "upper"), enclosure.decimals(), strict=True))
    return {
        name: value if math.isfinite(value) else "inf"
        for name, value in (("lower", enclosure.lower), ("upper", enclosure.upper))
    }


def enclosed(enclosure: Enclosure) -> str:
    """An enclosure for reading, both ends rounded outward: doubles to 17 digits, others to a few more than agree."""
    if has_digits(enclosure):
        return str(enclosure).replace("inf", "∞")
    return f"[{at_least(enclosure.lower, 17)}, {at_most(enclosure.upper, 17)}]"


def upper_end(enclosure: Enclosure) -> str:
    """The upper end for reading, not below it: to six digits, or to all that were asked for."""
    if has_digits(enclosure):
        return enclosure.decimals()[1].replace("inf", "∞")
    return at_most(enclosure.upper)


def provenance(curve: PrivacyCurve | RepeatedReleases) -> dict[str, object]:
    """What the numbers of a curve rest on, for JSON."""
    return {
        "kind": curve.kind,
        "theorem": curve.theorem,
        "source": curve.source,
        "assumptions": list(curve.assumptions),
    }


def grounds(curve: PrivacyCurve) -> _Facts:
    """What the numbers of a curve rest on and do not cover, for reading."""
    return (
        ("theorem", curve.theorem),
        ("source", curve.source),
        ("assumes", curve.assumptions),
        ("not covered", curve.not_protected),
    )


def print_facts(headline: str, facts: _Facts) -> None:
    """Print a sentence, and under it what it rests on."""
    console = screen()
    console.print(Text(one_line(headline), style="bold"))
    console.print()
    console.print(fact_grid(facts))


def fact_grid(facts: _Facts) -> Table:
    """Names on the left, a text or a list of texts on the right of each."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in facts:
        for k, line in enumerate([text] if isinstance(text, str) else text):
            grid.add_row("" if k else f"  {name}", one_line(line))
    return grid


def writable(path: Path, option: str, *, force: bool) -> None:
    """Refuse, before anything is computed, a file that cannot be written or must not be replaced."""
    if not path.parent.is_dir():
        raise PublicationError(f"{option} = {path}: its folder does not exist; create it first")
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise PublicationError(f"{option} = {path}: it exists and is not a regular file; choose another name")
    if path.exists() and not force:
        raise PublicationError(f"{option} = {path}: it exists; choose another name or say --force")


def write_whole(path: Path, content: bytes, option: str) -> None:
    """Put a file there in one step: whole, or not at all."""
    temporary = path.with_name(f".statpriv-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise PublicationError(f"{option} = {path}: it cannot be written ({error.strerror})") from error
    finally:
        with suppress(OSError):
            temporary.unlink()
