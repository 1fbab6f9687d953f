"""The plan file: TOML, read exactly and checked completely before anything else happens.

.. code-block:: toml

    prior = "none"                     # nothing was published from these rows outside this tool

    [data]
    source = "election_1996.csv"       # relative to the plan; never a URL
    row_id = "respondent"              # a column that is unique. Absent: the row's position
    null_values = ["NA"]               # CSV only: cells that mean "unknown"; an empty cell is not NULL
    delimiter = ";"                    # CSV only: "," (the default), ";", "|" or a tab
    glob = true                        # source is a pattern for files of one format: "visits-*.parquet"
    table = "survey.persons"           # the table of a DuckDB file, a database or a Spark catalog
    engine = "duckdb"                  # or "spark", or "postgresql", which a postgresql:// source implies

    [guarantee]
    epsilon = 0.1
    delta = 0.02                       # refused if the certified delta is above it
    known_rows = 0                     # rows an adversary may know; 0 by default
    written_before_access = true       # the author had not seen any value; "not stated" if absent

    [[query]]                          # one or more
    name = "Clinton voters"            # a label; names may repeat
    where = "vote = 0"                 # the language of statpriv.releasing.predicate
    probability = ["0.40", "0.60"]     # public knowledge: one number or a range, also written "0.40..0.60"
    each = true                        # optional: each row has a probability of its own in it; else all rows share one
    source = "pre-election polls"      # the source of this knowledge
    rows = 472                         # or share = "1/2"

The steps applied to exact counts before publication are stated once for all queries. A query may state its own steps
instead:

.. code-block:: toml

    [publication]
    gate = true                        # a count outside its range, give or take 3 standard deviations, is withheld
    suppressed_below = 10              # smaller counts are published as "below 10"; 0: none is suppressed
    rounded_to = 5                     # to the nearest multiple of 5; 1: exact
    # preset = "rounded to 5, suppressed below 10" states the last two in one line

A histogram has cells instead of a condition and its probability. A row counts in the first cell whose condition holds.
Rows in no cell form the implied last cell, whose probability is what the other cells leave:

.. code-block:: toml

    [[query]]
    name = "Age"
    source = "census"
    rows = 300
    suppressed_below = 0               # a suppressed cell of a histogram could be computed from the others

    [[query.cell]]
    name = "under 30"
    where = "age < 30"
    probability = ["0.2", "0.3"]

    [[query.cell]]
    name = "under 60"
    where = "age < 60"
    probability = "0.4"

A condition with a slip counts nobody, and its rows are spent all the same. So a plan may list the codes of columns, as
a codebook does. A constant that is none of them is refused before any data are opened. The codes are not compared with
the data:

.. code-block:: toml

    [data.columns]
    smoker = ["yes", "no"]
    age = { range = [0, 120], codes = [999], source = "codebook of 2021" }

In a stratified plan, ``group`` of ``[data]`` names a column that is assumed to be public, and rows are drawn in each of
its groups. No condition may refer to this column. A probability may then differ between groups. Numbers of rows are
stated for each group; a share applies to each group:

.. code-block:: toml

    [data]
    source = "election_1996.csv"
    group = "sex"
    group_source = "census of 1990"    # where the group sizes are public: the report publishes them, exactly

    [[query]]
    name = "Clinton voters"
    where = "vote = 0"
    probability = {f = ["0.40", "0.60"], m = "0.5"}
    source = "pre-election polls"
    rows = {f = 250, m = 222}

All rows may answer every query, in place of parts. Each query is then about columns of its own, and its range holds for
each row given all its other attributes (:mod:`statpriv.rules.same_rows`); such a table is released once:

.. code-block:: toml

    [publication]
    rows = "same"                      # all rows answer every query; the queries state neither rows nor share
    protects = "attribute"             # what is protected: one attribute of a person, or "row" (the default)

    [[query]]
    name = "Smokers"
    where = "smoker = 'yes'"
    probability = ["0.1", "0.9"]
    each = true                        # required here
    source = "health survey"

Rows of a person or a household may hang together. Their number and the size of the largest are declared, compared with
the column before content is read, and published. Ranges then hold given the other rows of the unit, too. Several
queries need ``rows = "same"``, and tables and histograms have no theorem:

.. code-block:: toml

    [data]
    source = "people.csv"
    unit = "household"                 # alone: all its values have to differ, one row is one person
    units = 8000                       # how many there are
    largest_unit = 5                   # no unit has more rows
    unit_source = "census of 2021"     # where these two are public

Parts are drawn from all rows alike, and probabilities may still differ between the groups, if every query states one
number of rows; a plan with shares says so:

.. code-block:: toml

    [data]
    source = "election_1996.csv"
    group = "sex"
    group_source = "census of 1990"
    stratified = false

    [[query]]
    name = "Clinton voters"
    where = "vote = 0"
    probability = {f = ["0.40", "0.60"], m = "0.5"}
    source = "pre-election polls"
    share = "1/2"                      # of all rows

An exact table of all rows stands alone in its plan. It is published whole if every possible cell holds at least
``minimum`` rows and every row is in a declared cell; otherwise it is withheld. Categories are declared, never read from
the data; :mod:`statpriv.releasing.classification` describes their forms:

.. code-block:: toml

    [[table]]
    name = "Region by age"
    minimum = 40
    minima = [{ cell = ["south", "60+"], minimum = 60 }]   # optional: cells with a minimum of their own
    impossible = [["north", "<30"]]    # optional: combinations that cannot occur
    by = "region"                      # optional: everybody may know this of each row; each class is gated by itself
    by_source = "address register"     # where that is public; required with by

    [table.dimensions]
    region = ["north", "south", "*"]   # values of a column; "*", as the last one, takes everything else
    age = { breaks = [30, 60], labels = ["<30", "30-59", "60+"] }

With ``rows`` or ``share``, as in a query, a table is answered on a secret part of its own, beside queries and other
tables.

A table may declare what the public knows of its cells. Then the number of rows protects, too, and with ``each`` it may
stand beside other answers of the same rows (``rows = "same"``), about other columns:

.. code-block:: toml

    [[table]]
    name = "Region"
    minimum = 40
    probability = ["0.05", "0.6"]      # of every cell: one number or a range
    probabilities = [{ cell = ["south"], probability = "0.1..0.3" }]   # optional: cells with one of their own
    each = true                        # optional: each row has probabilities of its own in these ranges
    source = "census of 2021"          # where they are known from; required with probability

    [table.dimensions]
    region = ["north", "south", "*"]

If something was published outside this tool, one entry for each publication replaces ``prior = "none"``. A plan with
neither is reported as "not stated":

.. code-block:: toml

    [[prior]]
    description = "Table 3 of the 1997 yearbook"
    epsilon = 0.1                      # optional, with delta: the guarantee it was given under
    delta = 0.001

Every number is exact: ``0.1``, ``"0.1"`` and ``"1/10"`` are one tenth. A key that is not listed here is an error. All
errors are reported at once.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from statpriv import budget
from statpriv.errors import PlanError
from statpriv.numeric.arguments import is_mapping
from statpriv.releasing.plan import (
    DataSource,
    Plan,
    PlannedQuery,
    PriorPublication,
    Publication,
    TableInMemory,
    Target,
)
from statpriv.releasing.plan_mistakes import mistake_in_words, printed
from statpriv.releasing.plan_tables import CountTable, DataTable, HistogramTable, PlanFile
from statpriv.releasing.plan_theorems import is_stratified
from statpriv.releasing.sql_text import quoted

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["load_plan", "plan_of", "plan_schema"]

_MAX_ERRORS = 20


def load_plan(plan: str | Path | Mapping[str, Any], *, data: str | Path | TableInMemory | None = None) -> Plan:
    """Read and check a plan.

    Parameters
    ----------
    plan
        The TOML file, in the format at the top of this module; or what such a file holds, as a dict. A float of a
        dict is the decimal that it prints as, as in a file.
    data
        A table to use instead of the plan's ``source``: a path, relative to the working directory, or a table in
        memory. The plan then need not name a source.

    Raises
    ------
    PlanError
        With a message that names every invalid key, its value and what is allowed; for broken TOML, the line.
    """
    match plan:
        case str() | PathLike():
            path = Path(plan)
            content = _read(path)
            tables = _tables(content, printed(path.name))
        case _:
            path, tables = Path(_IN_MEMORY), _in_memory(plan)
            content = json.dumps(tables, sort_keys=True, ensure_ascii=False, default=str).encode()
    sha256 = hashlib.sha256(content).hexdigest()
    match data:
        case None | str() | PathLike():
            file = _validated(tables, printed(path.name))
            source = _data_source(file.data, path, data)
        case _:
            file = _validated(_without_source(tables), printed(path.name))
            source = _of_data_frame(_data_source(file.data, path, None), data)
    return _plan(file, path, source, sha256)


_IN_MEMORY = "plan"
"""What messages call a plan that is no file."""
_DATA_FRAME = "data frame"
"""What a report calls a table in memory."""
_OF_FILES = ("source", "table", "glob", "engine")


def _of_data_frame(stated: DataSource, data: TableInMemory) -> DataSource:
    if not hasattr(data, "__arrow_c_stream__"):
        raise PlanError(
            f"data is of the type {type(data).__name__}; a path is required, or a table that hands its columns over as "
            "Arrow does (`__arrow_c_stream__`): a data frame of polars, or of pandas 2.2 with pyarrow, for example"
        )
    return replace(stated, path=None, label=_DATA_FRAME, in_memory=data)


def _without_source(tables: dict[str, Any]) -> dict[str, Any]:
    """The same, of the table that is given instead."""
    data = tables.get("data", {})
    if not is_mapping(data):
        return tables
    return {**tables, "data": {"source": _DATA_FRAME} | {key: data[key] for key in data if key not in _OF_FILES}}


def _in_memory(plan: object) -> dict[str, Any]:
    """What a dict states, as if it had been read from a file."""
    if not is_mapping(plan):
        raise PlanError(f"plan is of the type {type(plan).__name__}; the path of a plan file, or a dict, is required")
    try:
        return {**_as_in_a_file(plan, _IN_MEMORY)}
    except RecursionError:
        raise PlanError(f"{_IN_MEMORY}: dicts or lists are nested too deeply for a plan") from None


def _as_in_a_file(value: Any, place: str) -> Any:  # noqa: ANN401  (what TOML can hold)
    """What TOML would read: dicts, lists, texts, whole numbers, decimals, and true or false."""
    match value:
        case Mapping():
            if strange := [key for key in value if type(key) is not str]:
                raise PlanError(f"{place} has the key {printed(repr(strange[0]))}; keys of a plan are texts")
            return {key: _as_in_a_file(inner, f"{place}.{key}") for key, inner in value.items()}
        case list() | tuple():
            return [_as_in_a_file(inner, f"{place}[{k}]") for k, inner in enumerate(value, start=1)]
        case float():
            return Decimal(repr(float(value)))
        case Fraction():
            return str(value)
        case str() | int() | Decimal():
            return value
    raise PlanError(
        f"{place} is of the type {type(value).__name__}; a plan holds dicts, lists, texts, numbers, and true or false"
    )


def plan_of(tables: dict[str, Any], name: str, *, data: DataSource, sha256: str) -> Plan:
    """The plan that these tables state, checked as those of a file are.

    Parameters
    ----------
    tables
        What the TOML file of such a plan would hold.
    name
        What messages call the plan.
    data
        The table, in place of what the tables say of it.
    sha256
        The digest of the plan file.

    Raises
    ------
    PlanError
        With a message that names every invalid key, its value and what is allowed.
    """
    return _plan(_validated(tables, name), Path(name), data, sha256)


def _plan(file: PlanFile, path: Path, data: DataSource, sha256: str) -> Plan:
    return Plan(
        path=path,
        data=data,
        guarantee=Target(file.guarantee.epsilon, file.guarantee.delta, file.guarantee.known_rows),
        queries=tuple(_planned(query, file.publication.publication(Publication())) for query in file.query),
        tables=tuple(table.planned() for table in file.table),
        prior=None
        if file.prior is None
        else tuple(PriorPublication(entry.description, entry.epsilon, entry.delta) for entry in file.prior),
        written_before_access=file.guarantee.written_before_access,
        sha256=sha256,
        same_rows=file.publication.same_rows,
        stratified=is_stratified(file),
    )


def _planned(table: CountTable | HistogramTable, otherwise: Publication) -> PlannedQuery:
    return PlannedQuery(
        name=table.name,
        predicate=table.where,
        probability=table.probability,
        source=table.source,
        rows=table.rows,
        share=table.share,
        publication=table.publication(otherwise),
        cells=table.cells,
        each=table.each,
    )


def _read(path: Path) -> bytes:
    try:
        # Reading a pipe or a device could block for ever.
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise PlanError(f"the plan {quoted(str(path), longest=4096)} is no regular file; a TOML file is required")
        with path.open("rb") as file:
            content = file.read(int(budget.MAX_PLAN_BYTES) + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise PlanError(f"the plan {quoted(str(path), longest=4096)} cannot be read: {reason}") from None
    if len(content) > budget.MAX_PLAN_BYTES:
        raise PlanError(f"{printed(path.name)}: a plan has at most {budget.MAX_PLAN_BYTES} bytes; this file is no plan")
    return content


def _tables(content: bytes, name: str) -> dict[str, Any]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PlanError(f"{name}: line {line} is not UTF-8; save the plan as UTF-8") from None
    if _has_long_key(text):
        raise PlanError(f"{name}: a dotted key has more than {budget.MAX_KEY_PARTS} parts; no key of a plan is so long")
    try:
        return dict(tomllib.loads(text, parse_float=_toml_float))
    except RecursionError:
        raise PlanError(f"{name}: arrays or tables are nested too deeply for a plan") from None
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{name} is not valid TOML: {error}") from None
    except ValueError:  # from int(), for more digits than Python's limit
        raise PlanError(f"{name}: an integer has thousands of digits; no number of a plan is that long") from None


def _has_long_key(text: str) -> bool:
    """Whether a text has a chain of parts and points that may be a dotted key, for which a parser needs long."""
    part = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*"""
    return re.search(rf"(?<![A-Za-z0-9_-])(?:{part}){{{int(budget.MAX_KEY_PARTS)}}}", text) is not None


def _toml_float(text: str) -> Decimal | str:
    # A number too long for a Decimal stays text; the check of its key then reports that it is not a number.
    digits = text.replace("_", "")
    return Decimal(digits) if len(digits) < 1000 and not re.search("[eE][+-]?[0-9]{6}", digits) else text


def _validated(tables: dict[str, Any], name: str) -> PlanFile:
    from pydantic import ValidationError

    data = tables.get("data")
    columns = {key: data.get(key) if is_mapping(data) else None for key in ("row_id", "group", "unit")}
    publication = tables.get("publication")
    columns["publication.rows"] = publication.get("rows") if is_mapping(publication) else None
    context = {key: column if isinstance(column, str) else None for key, column in columns.items()}
    try:
        file = PlanFile.model_validate(tables, context=context)
        if not (mistakes := [*file.values_that_do_not_occur()]):
            return file
    except ValidationError as error:
        mistakes = [mistake_in_words(detail) for detail in error.errors(include_url=False)]
    count = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes (queries are counted from 1)"
    more = [f"and {len(mistakes) - _MAX_ERRORS} more"] if len(mistakes) > _MAX_ERRORS else []
    raise PlanError("\n  ".join([f"{name}: {count}", *mistakes[:_MAX_ERRORS], *more]))


def described_source(data: Mapping[str, str], folder: Path) -> DataSource:
    """The table that keys of `[data]` describe, as in a plan in this folder.

    Raises
    ------
    PlanError
        If they describe none.
    """
    return _data_source(_checked(data, ""), folder / "plan.toml", None)


def _data_source(table: DataTable, plan: Path, override: str | Path | None) -> DataSource:
    folder = plan.parent
    if override is not None:
        table, folder = _overridden(table, str(override)), Path()
    database = table.source if table.reader == "postgresql" else None
    path = None if table.source is None or database is not None else folder / table.source
    return DataSource(
        path=None if path is None else path.absolute(),
        label=path.name if path is not None else table.table or "",
        row_id=table.row_id,
        null_values=tuple(table.null_values),
        delimiter=table.delimiter,
        engine=table.reader,
        database=database,
        table=table.table,
        glob=table.glob,
        group=table.group,
        group_source=table.group_source,
        unit=table.unit,
        units=table.units,
        largest_unit=table.largest_unit,
        unit_source=table.unit_source,
        columns=tuple(column.stated(name) for name, column in table.columns.items()),
    )


def _overridden(table: DataTable, source: str) -> DataTable:
    """Replace the source of the plan, and repeat all checks."""
    return _checked({**table.model_dump(exclude_unset=True), "source": source}, f" = {quoted(source, longest=4096)}")


def _checked(data: Mapping[str, Any], where: str) -> DataTable:
    """What `[data]` says; `where` follows its name in the message on a single key."""
    from pydantic import ValidationError

    try:
        return DataTable.model_validate(dict(data))
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
    reason = detail["ctx"]["error"]
    raise PlanError(f"data{'' if isinstance(reason, PlanError) or not detail['loc'] else where}: {reason}")


def plan_schema() -> dict[str, Any]:
    """The JSON Schema of the plan file, for editors and other tools."""
    schema = PlanFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
