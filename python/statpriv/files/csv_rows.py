"""The lines of a CSV file that a user gives: bounded, in UTF-8, with whatever delimiter its first line has most of."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from statpriv import budget
from statpriv.errors import ArgumentError

_DELIMITERS = ",;\t|"


def csv_rows(place: Path, kind: str, *, skip: int = 0) -> Iterator[tuple[int, list[str]]]:
    """The lines that are not empty, with their numbers; a cell may hold line breaks between quotes.

    Raises
    ------
    ArgumentError
        The file cannot be read, is no text, or is larger than a published `kind`.
    """
    text = "".join(_text(place, kind).split("\n", skip)[skip:])
    first = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    cells = 0
    try:
        for row in reader:
            cells += len(row)
            if cells > budget.MAX_PUBLISHED_ENTRIES:
                raise ArgumentError(
                    f"{place}: more than {budget.MAX_PUBLISHED_ENTRIES} cells are no published {kind}; give it in parts"
                )
            stripped = [cell.strip() for cell in row]
            if any(stripped):
                yield reader.line_num + skip, stripped
    except csv.Error as error:
        raise ArgumentError(f"{place}: line {reader.line_num + skip} is not CSV ({error})") from error


def _text(place: Path, kind: str) -> str:
    try:
        with place.open("rb") as file:
            content = file.read(budget.MAX_PUBLISHED_BYTES + 1)
    except OSError as error:
        raise ArgumentError(f"{place}: {error.strerror}; the path of a CSV file with a {kind} is required") from error
    if len(content) > budget.MAX_PUBLISHED_BYTES:
        raise ArgumentError(f"{place}: more than {budget.MAX_PUBLISHED_BYTES} bytes are not a published {kind}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ArgumentError(f"{place}: not a text in UTF-8; save it as CSV in UTF-8") from error
    if "\0" in text:
        raise ArgumentError(f"{place}: not a text (it has zero bytes); save the {kind} as CSV")
    return text
