"""Perturbation tables of the cell-key method, as the tools of statistics offices write them.

* **By key**: one line for each count and cell key: `pcv` (count), `ckey` (key), `pvalue` (what is added). The keys are
  uniform on 0, …, K. What is not listed is not changed. This is the format of the Office for National Statistics, whose
  tool treats counts above the last like the last 250 in turn.
* **By transition**: one line for each count `i` and published count `j`: `p` (probability) or `p_int_ub` (the upper end
  of the interval of keys in [0, 1)), and perhaps `v = j − i`. This is what the R package `ptable` exports. The ends of
  the intervals are what tools look up, so they count where both are there; where only the rounded probabilities are,
  they are divided by their sum.
"""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from statpriv.errors import ArgumentError
from statpriv.files.csv_rows import csv_rows
from statpriv.model.perturbations import CellKey
from statpriv.numeric.exact import Number, as_count
from statpriv.numeric.literals import abridged

_KIND = "perturbation table"
_BY_KEY = ("pcv", "ckey", "pvalue")
_BY_TRANSITION = ("i", "j")
_NUMBERS = frozenset({*_BY_KEY, *_BY_TRANSITION, "p", "p_int_ub"})
_ROUNDING = Fraction(1, 10**6)
"""How far rounded probabilities of a count may sum to more or less than one: eight digits of some ten of them."""

_Numbers = dict[str, Fraction | int]
_Line = tuple[int, _Numbers]


def read_perturbation_table(path: str | Path, *, repeat: Number | None = None) -> CellKey:
    r"""The cell-key method with the perturbation table of a CSV file.

    Parameters
    ----------
    path : str or Path
        A file in UTF-8 with the columns `pcv`, `ckey` and `pvalue`, or `i`, `j` and one of `p_int_ub` and `p`;
        parted by commas, semicolons, tabs or bars.
    repeat : int, optional
        Counts above the last of the table are treated like its last `repeat` counts in turn. By default like the last
        250 for a table by key with at least 500 counts, as its tool does, else like the last.

    Returns
    -------
    noise.CellKey

    Raises
    ------
    ArgumentError
        The file cannot be read, or is no perturbation table of counts; the message names line and remedy.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import statpriv as sp
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "ptable.csv")
    ...     _ = path.write_text("i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.5;-1;0.5\n1;2;0.5;1;1\n")
    ...     sp.read_perturbation_table(path)
    noise.CellKey(<counts 0 to 1, then as 1; from -1 to +1>)
    """
    place = Path(path)
    lines = csv_rows(place, _KIND)
    _, header = next(lines, (0, []))
    columns = [name.strip().lower() for name in header]
    numbers = [_numbers(place, line, columns, cells) for line, cells in lines]
    again = None if repeat is None else as_count(repeat, "repeat", least=1)
    if set(_BY_KEY) <= set(columns):
        return _by_key(place, numbers, again)
    if set(_BY_TRANSITION) <= set(columns) and {"p", "p_int_ub"} & set(columns):
        return _by_transition(place, numbers, again or 1)
    raise ArgumentError(
        f"{place}: the columns {abridged(header)}; {', '.join(_BY_KEY)}, or i, j and p_int_ub or p, are required"
    )


def _numbers(place: Path, line: int, columns: list[str], cells: list[str]) -> _Line:
    if len(cells) != len(columns):
        raise ArgumentError(
            f"{place}: line {line} has {len(cells)} cells; {len(columns)} as in the header are required"
        )
    needed = {name: cell for name, cell in zip(columns, cells, strict=True) if name in _NUMBERS}
    try:
        return line, {name: int(cell) if cell.isdecimal() else Fraction(Decimal(cell)) for name, cell in needed.items()}
    except (InvalidOperation, ValueError, OverflowError):
        raise ArgumentError(f"{place}: line {line} has {abridged(cells)}; numbers are required") from None


def _whole(place: Path, line: int, name: str, value: Fraction | int, least: int | None = 0) -> int:
    if value.denominator != 1 or (least is not None and value.numerator < least) or abs(value.numerator) > 2**53:
        required = "an integer" if least is None else f"an integer from {least} on"
        raise ArgumentError(f"{place}: line {line}: {name} = {abridged(value)}; {required} is required")
    return int(value)


def _by_key(place: Path, lines: list[_Line], repeat: int | None) -> CellKey:
    added: dict[int, dict[int, int]] = defaultdict(dict)
    for line, number in lines:
        count, key = (_whole(place, line, name, number[name]) for name in ("pcv", "ckey"))
        if key in added[count]:
            raise ArgumentError(f"{place}: line {line} states the count {count} with the key {key} again")
        added[count][key] = _whole(place, line, "pvalue", number["pvalue"], least=None)
    if not added:
        raise ArgumentError(f"{place}: no line below the header; one for each count and key is required")
    keys = max(max(by_key) for by_key in added.values()) + 1
    last = max(added)
    usual = 250 if last + 1 >= 500 else 1
    rows = (_row_of_keys(added.get(count, {}), keys) for count in range(last + 1))
    return _as_cell_key(place, list(rows), usual if repeat is None else repeat)


def _row_of_keys(by_key: dict[int, int], keys: int) -> dict[int, Fraction]:
    row: dict[int, Fraction] = defaultdict(Fraction)
    row[0] = Fraction(keys - len(by_key), keys)
    for added in by_key.values():
        row[added] += Fraction(1, keys)
    return {added: mass for added, mass in row.items() if mass}


def _by_transition(place: Path, lines: list[_Line], repeat: int) -> CellKey:
    stated: dict[int, dict[int, _Numbers]] = defaultdict(dict)
    for line, number in lines:
        count, published = (_whole(place, line, name, number[name]) for name in ("i", "j"))
        if published in stated[count]:
            raise ArgumentError(f"{place}: line {line} states the count {count} as {published} again")
        stated[count][published] = number
    if not stated:
        raise ArgumentError(f"{place}: no line below the header; one for each count and what is published is required")
    rows = [_row_of_transitions(place, count, stated.get(count, {})) for count in range(max(stated) + 1)]
    return _as_cell_key(place, rows, repeat)


def _row_of_transitions(place: Path, count: int, stated: dict[int, _Numbers]) -> dict[int, Fraction]:
    if not stated:
        raise ArgumentError(f"{place}: no line for the count {count}; each count up to the last is required")
    ordered = sorted(stated)
    if "p_int_ub" in stated[ordered[0]]:
        ends = sorted(Fraction(number["p_int_ub"]) for number in stated.values())
        by_end = sorted(ordered, key=lambda published: (stated[published]["p_int_ub"], published))
        masses = [to - from_ for from_, to in pairwise([Fraction(0), *ends])]
        total, row = ends[-1], zip(by_end, masses, strict=True)
    else:
        total = sum((Fraction(number["p"]) for number in stated.values()), Fraction(0))
        row = zip(ordered, (Fraction(stated[published]["p"]) for published in ordered), strict=True)
    if abs(total - 1) > _ROUNDING:
        raise ArgumentError(f"{place}: the probabilities of the count {count} sum to {float(total):.9g}; 1 is required")
    return {published - count: mass / total for published, mass in row if mass}


def _as_cell_key(place: Path, rows: list[dict[int, Fraction]], repeat: int) -> CellKey:
    try:
        return CellKey(rows, repeat=repeat)
    except ArgumentError as error:
        raise ArgumentError(f"{place}: {error}") from None
