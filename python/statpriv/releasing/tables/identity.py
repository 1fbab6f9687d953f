"""Keyed tokens of rows and their groups, computed identically on every engine."""

from __future__ import annotations

import secrets
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from statpriv import budget
from statpriv._native import RowIdsError, RowTokens
from statpriv.releasing.plan import DataSource
from statpriv.releasing.sql_text import quoted, unprintable
from statpriv.releasing.tables.protocol import Groups, Refusals

__all__ = [
    "LookAlikeIdsWarning",
    "check_distinct",
    "check_units",
    "groups_of",
    "identifying",
    "tokens_of",
]


class LookAlikeIdsWarning(UserWarning):
    """Some ids differ from others only in what a reader hardly sees, so one row or person may have two ids."""


def tokens_of(key: bytes, texts: Iterable[str | None], column: str, refusal: Refusals, *, with_rows: bool) -> RowTokens:
    """Normalise ids, hash them under a key, and refuse ids that are unusable, without quoting any.

    Ids are stripped of surrounding blanks and put into one Unicode form; "007" stays distinct from "7".

    Parameters
    ----------
    texts
        The ids as they are stored; None for a missing id.
    """
    return identifying(lambda: RowTokens.of(key, texts, with_rows=with_rows), column, refusal)


def check_distinct(texts: Iterable[str | None], column: str, refusal: Refusals) -> None:
    """Refuse a column of persons whose values do not distinguish the rows, by the rules for ids."""
    identifying(lambda: RowTokens.of(secrets.token_bytes(32), texts), column, refusal, named="unit", rows="persons")


def check_units(texts: Iterable[str | None], source: DataSource, refusal: Refusals) -> None:
    """Refuse a column of units that are not as many, or larger, than the plan says; without units, any repeated value.

    Values are compared after trimming, in Unicode form NFC, as ids are.
    """
    column, most = source.unit or "", source.largest_unit
    if source.units is None or most is None:
        check_distinct(texts, column, refusal)
        return
    rows_of: Counter[str] = Counter()
    for text in texts:
        name = "" if text is None else unicodedata.normalize("NFC", text).strip()
        if not name:
            raise refusal(f"the unit column {quoted(column)} has no value in some row; every row needs a unit")
        rows_of[name] += 1
    if len(rows_of) != source.units:
        raise refusal(
            f"the unit column {quoted(column)} has {len(rows_of)} different values; "
            f"the plan says units = {source.units}"
        )
    if (largest := max(rows_of.values())) > most:
        raise refusal(
            f"the unit column {quoted(column)} has a value in {largest} rows; the plan says largest_unit = {most}"
        )


def identifying(
    read: Callable[[], RowTokens], column: str, refusal: Refusals, *, named: str = "row_id", rows: str = "rows"
) -> RowTokens:
    """Read ids with a function of the engine, turn its refusal into this package's own message, warn of look-alikes.

    Parameters
    ----------
    named, rows
        The plan's key for the column, and the noun for what its values identify.
    """
    try:
        tokens = read()
    except RowIdsError as refused:
        reason = _MISFITS[str(refused)]
    else:
        if tokens.look_alikes:
            warnings.warn(_look_alikes(tokens.look_alikes, column, named, rows), LookAlikeIdsWarning, stacklevel=2)
        return tokens
    raise refusal(f"the {named} column {quoted(column)} " + reason.format(rows=rows))


def _look_alikes(number: int, column: str, named: str, rows: str) -> str:
    """How many more ids there are than plain forms of ids."""
    return (
        f"the {named} column {quoted(column)} has values that differ only by case, by the width of letters or by "
        f"invisible characters; with one spelling of each there would be {number:,} fewer. They count as different "
        f"{rows}: correct the table if they are not"
    )


_MISFITS = {
    "missing": "has no value in some row",
    "empty": "is empty in some row",
    "too many": "belongs to 2^32 {rows} or more, and fewer can be released",
    "no text": "holds something that is no text in UTF-8",
    "repeated": (
        "does not identify {rows}: two of its values are equal, or differ "
        "only in blanks around them or in the Unicode form of their letters"
    ),
}


def groups_of(texts: Sequence[str | None], column: str, refusal: Refusals) -> Groups:
    """Number the groups in the binary order of their names; each name must be one that a plan could state."""
    present = [text for text in texts if text is not None]
    if len(present) < len(texts):
        raise refusal(f"the group column {quoted(column)} has no value in some row; every row needs a group")
    names = tuple(sorted(set(present)))
    if any(not name.strip() or len(name) > budget.MAX_GROUP_NAME or unprintable(name) is not None for name in names):
        raise refusal(
            f"the group column {quoted(column)} holds a value that cannot be the name of a group: one of 1 to "
            f"{budget.MAX_GROUP_NAME} characters, none of them a control or bidirectional one"
        )
    numbers = {name: number for number, name in enumerate(names)}
    return Groups(names, np.fromiter((numbers[text] for text in present), dtype=np.int64, count=len(present)))
