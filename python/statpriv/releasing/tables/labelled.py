"""Files of SPSS, Stata and SAS: their codes as numbers and texts, by pyreadstat.

Such files store most numbers as doubles, and say in the format of a column, or by labels of its codes, that they are
whole. These columns are read as integers, so that a plan can compare them with `=`. Values that the file declares
missing are unknown (NULL). Labels are not read: a plan names codes, as the codebook does.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

from statpriv.errors import MissingExtraError
from statpriv.releasing.plan import TableInMemory
from statpriv.releasing.sql_text import quoted
from statpriv.releasing.tables.protocol import Refusals

__all__ = ["LABELLED_SUFFIXES", "labelled_table"]

_READERS = {".sav": "read_sav", ".zsav": "read_sav", ".dta": "read_dta", ".sas7bdat": "read_sas7bdat"}
LABELLED_SUFFIXES = frozenset(_READERS)
_WHOLE_FORMAT = re.compile(r"F\d+(\.0)?|%\d+\.0f", re.IGNORECASE)
_UNREADABLE = "it cannot be read as a file of SPSS, Stata or SAS; --debug shows the message, which may quote data"


def labelled_table(path: Path, refusal: Refusals, *, debug: bool) -> TableInMemory:
    """The table of a file.

    Raises
    ------
    MissingExtraError
        If pyreadstat or polars is not installed.
    TableError
        If the file cannot be read, or a column whose format has no decimals holds a number that is not whole.
    """
    try:
        pyreadstat, polars = import_module("pyreadstat"), import_module("polars")
    except ImportError as missing:
        raise MissingExtraError(
            "files of SPSS, Stata and SAS need pyreadstat and polars: pip install 'statpriv[labelled]'"
        ) from missing
    read = getattr(pyreadstat, _READERS[path.suffix.lower()])
    try:
        frame, about = read(path, output_format="polars")
        whole = [name for name in frame.columns if _is_whole(frame, about, name)]
        numbers = [polars.col(name).fill_nan(None) for name in whole]
        broken = frame.select((number.floor() != number).any() for number in numbers).row(0) if whole else ()
        table: TableInMemory = frame.with_columns(number.cast(polars.Int64) for number in numbers)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, polars.exceptions.PolarsError, ValueError) as error:
        original: Exception = error
    else:
        if any(broken):
            column = whole[broken.index(True)]
            raise refusal(
                f"the column {quoted(column)} has no decimals by its format or its labels, and not all of it is whole"
            )
        return table
    raise refusal(_UNREADABLE) from (original if debug else None)


def _is_whole(frame: Any, about: Any, name: str) -> bool:  # noqa: ANN401  (types of optional packages)
    """Whether a column of doubles holds whole numbers, by what the file says of it."""
    if not frame.schema[name].is_float():
        return False
    written = about.original_variable_types.get(name) or ""
    return name in about.variable_value_labels or _WHOLE_FORMAT.fullmatch(written) is not None
