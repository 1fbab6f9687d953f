"""The file of a plan: TOML, read exactly and checked as a whole before anything else happens.

.. code-block:: toml

    prior = "none"                     # nothing was published from these rows outside this tool

    [data]
    source = "election_1996.csv"       # relative to the plan; never a URL
    row_id = "respondent"              # a column that is unique. Absent: the row's position
    null_values = ["NA"]               # CSV only: cells that mean "unknown"; an empty cell is not NULL
    delimiter = ";"                    # CSV only: "," (the default), ";", "|" or a tab
    glob = true                        # source is a pattern of many files of one format: "visits-*.parquet"
    table = "survey.persons"           # of a DuckDB file, a database or a Spark catalog
    engine = "duckdb"                  # or "spark", or "postgresql", which a postgresql:// source stands for

    [guarantee]
    epsilon = 0.1
    delta = 0.02                       # refused if the certified delta is above it
    known_rows = 0                     # rows an adversary may know; 0 by default
    written_before_access = true       # the author had not seen any value; "not stated" if absent

    [[query]]                          # one or more
    name = "Clinton voters"            # a label; names may repeat
    where = "vote = 0"                 # the language of statpriv.releasing.predicate
    probability = ["0.40", "0.60"]     # what the public knows: one number or a range
    source = "pre-election polls"      # where that is known from
    rows = 472                         # or share = "1/2"

What is done to the exact counts before they are published is said once for all queries, and a query may say it
differently for itself:

.. code-block:: toml

    [publication]
    gate = true                        # a count outside its range, give or take 3 standard deviations, is withheld
    suppressed_below = 10              # smaller counts are published as "below 10"; 0: none are
    rounded_to = 5                     # to the nearest multiple of 5; 1: exact
    # preset = "rounded to 5, suppressed below 10" says the last two in one line

A histogram has cells in place of a condition and its probability. A row counts in the first cell whose condition
holds; rows in no cell are the last one, whose probability is what the others leave:

.. code-block:: toml

    [[query]]
    name = "Age"
    source = "census"
    rows = 300
    suppressed_below = 0               # what is suppressed of a histogram would be what the other cells leave

    [[query.cell]]
    name = "under 30"
    where = "age < 30"
    probability = ["0.2", "0.3"]

    [[query.cell]]
    name = "under 60"
    where = "age < 60"
    probability = "0.4"

In a stratified plan, ``group`` of ``[data]`` names a column that everybody is taken to know, and rows are drawn in
each of its groups. A probability may then differ between groups, and rows are stated for each; a share is one of
each group:

.. code-block:: toml

    [data]
    source = "election_1996.csv"
    group = "sex"

    [[query]]
    name = "Clinton voters"
    where = "vote = 0"
    probability = {f = ["0.40", "0.60"], m = "0.5"}
    source = "pre-election polls"
    rows = {f = 250, m = 222}

Where something was published, one entry for each takes the place of ``prior = "none"``; a plan without
either is reported as "not stated":

.. code-block:: toml

    [[prior]]
    description = "Table 3 of the 1997 yearbook"
    epsilon = 0.1                      # optional, with delta: the guarantee it was given under
    delta = 0.001

Every number is exact: ``0.1``, ``"0.1"`` and ``"1/10"`` are one tenth. A key that is not listed here is
an error, and all errors are reported at once.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import sys
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar
from urllib.parse import parse_qsl, urlsplit

from statpriv.errors import MissingExtraError, PlanError
from statpriv.releasing.plan import (
    LAST_CELL,
    DataSource,
    Plan,
    PlannedCell,
    PlannedQuery,
    PriorPublication,
    Probability,
    Publication,
    Target,
    as_range,
)
from statpriv.releasing.predicate import Predicate, quoted, unprintable

try:
    from pydantic import (
        AfterValidator,
        BaseModel,
        BeforeValidator,
        ConfigDict,
        Discriminator,
        Field,
        PlainValidator,
        StrictBool,
        Tag,
        ValidationError,
        ValidationInfo,
        WithJsonSchema,
        model_validator,
    )
except ImportError as missing:
    raise MissingExtraError("a plan needs pydantic: pip install 'statpriv[release]'") from missing

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic_core import ErrorDetails
    from typing_extensions import Self

__all__ = ["load_plan", "plan_schema"]

MOST_QUERIES = 10_000
MOST_CELLS = 100
MOST_GROUPS = 100
MOST_ROWS = 2**53
_MOST_ERRORS = 20
_Read = TypeVar("_Read")

_BASES = (3, 5, 10)
PRESETS = {
    "exact": (1, 0),
    **{f"suppressed below {least}": (1, least) for least in _BASES},
    **{f"rounded to {base}": (base, 0) for base in _BASES},
    **{f"rounded to {base}, suppressed below {least}": (base, least) for base in _BASES for least in _BASES},
}
"""The usual ways of statistical offices, as a base to round to and the least count that is published."""

# --- exact numbers and printable texts ----------------------------------------------------------

_DECIMAL = re.compile(r"[+-]?([0-9]{1,400}(\.[0-9]{0,400})?|\.[0-9]{1,400})([eE][+-]?[0-9]{1,3})?")
_RATIO = re.compile(r"[+-]?[0-9]{1,400}/0*[1-9][0-9]{0,400}")
_NUMBER_RULE = 'must be a number such as 0.1, "0.1" or "1/10"'


def _number(value: object) -> Fraction:
    # The patterns bound the length, lest 1e999999999 be written out as an integer; they also refuse True.
    text = str(value) if isinstance(value, int | Decimal) else value
    if isinstance(text, str) and (_DECIMAL.fullmatch(text) or _RATIO.fullmatch(text)):
        return Fraction(text)
    raise ValueError(_NUMBER_RULE)


def _at_least_zero(value: Fraction) -> Fraction:
    if value < 0:
        raise ValueError("must be a number at least 0")
    return value


def _in_unit_interval(value: Fraction) -> Fraction:
    if not 0 <= value <= 1:
        raise ValueError("must be a number from 0 to 1")
    return value


def _share(value: Fraction) -> Fraction:
    if not 0 < value <= 1:
        raise ValueError("must be a number above 0 and at most 1")
    return value


def _range(value: object) -> Fraction | tuple[Fraction, Fraction]:
    rule = 'must be one number from 0 to 1, or a range ["lower", "upper"] of two with lower <= upper'
    ends = value if isinstance(value, list) else [value]
    try:
        numbers = [_in_unit_interval(_number(end)) for end in ends]
    except ValueError:
        raise ValueError(rule) from None
    if not isinstance(value, list):
        return numbers[0]
    if len(numbers) != 2 or numbers[0] > numbers[1]:
        raise ValueError(rule)
    return (numbers[0], numbers[1])


def _probability(value: object, info: ValidationInfo) -> Probability | dict[str, Probability]:
    return _by_group(value, info, _range) if isinstance(value, dict) else _range(value)


def _rows(value: object, info: ValidationInfo) -> int | dict[str, int]:
    if isinstance(value, dict):
        sizes = _by_group(value, info, _count)
        if not any(sizes.values()):
            raise ValueError("must be at least one row of some group")
        return sizes
    size = _size(value)
    if _context(info, "group") is not None:
        raise ValueError("must be stated for each group, such as {f = 30, m = 20}, because data.group is there")
    return size


def _by_group(value: dict[str, object], info: ValidationInfo, read: Callable[[object], _Read]) -> dict[str, _Read]:
    if _context(info, "group") is None:
        raise ValueError("is stated by group, but no data.group names the column of the groups")
    if not 1 <= len(value) <= MOST_GROUPS:
        raise ValueError(f"must have 1 to {MOST_GROUPS} groups")
    return {_label(name): _of_group(name, stated, read) for name, stated in value.items()}


def _of_group(name: str, stated: object, read: Callable[[object], _Read]) -> _Read:
    try:
        return read(stated)
    except ValueError as error:
        raise ValueError(f"of the group {quoted(name)}: {error}") from None


def _context(info: ValidationInfo, key: str) -> str | None:
    return (info.context or {}).get(key)


def _whole(value: object, *, least: int) -> int:
    rule = f"must be a whole number from {least} to 2^53"
    try:
        number = _number(value)
    except ValueError:
        raise ValueError(rule) from None
    if isinstance(value, str) or number.denominator != 1 or not least <= number <= MOST_ROWS:
        raise ValueError(rule)
    return int(number)


def _count(value: object) -> int:
    return _whole(value, least=0)


def _size(value: object) -> int:
    return _whole(value, least=1)


def _printable(value: object, *, longest: int) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        raise ValueError(f"must be a text of 1 to {longest} characters, in quotes")
    if (character := unprintable(value)) is not None:
        raise ValueError(f"holds the character {character}; control and bidirectional ones are not allowed")
    return value


def _label(value: object) -> str:
    return _printable(value, longest=200)


def _note(value: object) -> str:
    return _printable(value, longest=1000)


_DATABASE_SCHEMES = ("postgresql://", "postgres://")
_CONNECTION_KEYS = frozenset(
    {
        "application_name", "channel_binding", "connect_timeout", "dbname", "gssencmode", "host", "krbsrvname",
        "passfile", "port", "service", "sslcert", "sslcrl", "sslkey", "sslmode", "sslrootcert", "target_session_attrs",
        "user",
    }
)  # fmt: skip


def _source(value: object) -> str:
    text = _printable(value, longest=4096)
    if text.startswith(_DATABASE_SCHEMES):
        return _database(text)
    if "://" in text:
        raise ValueError("is a URL; only a file on this machine is read: download it and give its path")
    return text


def _database(url: str) -> str:
    """Let through an address without secrets; what is refused is not quoted, because it may hold one."""
    try:
        address = urlsplit(url)
        keys = {key for key, _ in parse_qsl(address.query, keep_blank_values=True, strict_parsing=bool(address.query))}
        password = address.password
    except ValueError:
        raise PlanError("source: cannot be read as postgresql://host/database") from None
    if password is not None or keys & {"password", "sslpassword"}:
        raise PlanError(
            "source: the URL holds a password, and plans are shown to people; leave it out and use "
            "PGPASSWORD, a password file (PGPASSFILE) or a service"
        )
    if not keys <= _CONNECTION_KEYS or address.fragment:
        raise PlanError(
            f"source: after the '?' of the URL only these are allowed: {', '.join(sorted(_CONNECTION_KEYS))}"
        )
    return url


def _null_value(value: object) -> str:
    if not isinstance(value, str) or unprintable(value) is not None:
        raise ValueError('must be a text in quotes without control characters, such as "NA"')
    return value


def _where(value: object, info: ValidationInfo) -> Predicate:
    if isinstance(value, str):
        return _without_unit(Predicate.parse(value, row_id=_context(info, "row_id")), info)
    raise ValueError('must be a condition in quotes, such as "age >= 18"')


def _without_unit(predicate: Predicate, info: ValidationInfo) -> Predicate:
    unit = _context(info, "unit")
    if unit is not None and unit.casefold() in {column.casefold() for column in predicate.columns}:
        raise ValueError(f"{quoted(unit)} names persons (unit), and no predicate may single out persons")
    return predicate


def _group(value: object, info: ValidationInfo) -> str:
    name = _label(value)
    for key, column in (info.context or {}).items():
        if key in ("row_id", "unit") and column == name:
            raise ValueError(f"is also {key}: a column of groups that everybody is taken to know cannot be that")
    return name


def _prior(value: object) -> object:
    if value == "none":
        return []
    if isinstance(value, list):
        return value
    raise ValueError('must be "none", or one [[prior]] entry for each publication')


def _prior_schema(schema: dict[str, Any]) -> None:
    schema["anyOf"].insert(0, {"const": "none"})


# --- the file: one model for each table ---------------------------------------------------------

_NUMBER_SCHEMA = {
    "anyOf": [{"type": "number"}, {"type": "string", "pattern": f"^({_DECIMAL.pattern}|{_RATIO.pattern})$"}]
}
_Number: TypeAlias = Annotated[Fraction, PlainValidator(_number), WithJsonSchema(_NUMBER_SCHEMA)]
_Count: TypeAlias = Annotated[int, PlainValidator(_count), WithJsonSchema({"type": "integer", "minimum": 0})]
_Size: TypeAlias = Annotated[int, PlainValidator(_size), WithJsonSchema({"type": "integer", "minimum": 1})]
_Label: TypeAlias = Annotated[
    str, PlainValidator(_label), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 200})
]
_Note: TypeAlias = Annotated[
    str, PlainValidator(_note), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 1000})
]


_RANGE_SCHEMAS: list[dict[str, Any]] = [
    *_NUMBER_SCHEMA["anyOf"],
    {"type": "array", "items": _NUMBER_SCHEMA, "minItems": 2, "maxItems": 2},
]


def _or_by_group(schemas: list[dict[str, Any]], within: dict[str, Any]) -> dict[str, Any]:
    by_group = {
        "type": "object",
        "additionalProperties": within,
        "minProperties": 1,
        "maxProperties": MOST_GROUPS,
    }
    return {"anyOf": [*schemas, by_group]}


_PROBABILITY_SCHEMA = _or_by_group(_RANGE_SCHEMAS, {"anyOf": _RANGE_SCHEMAS})
_ROWS_SCHEMA = _or_by_group([{"type": "integer", "minimum": 1}], {"type": "integer", "minimum": 0})


class StrictTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


_ENGINE_NAMES = {"postgresql": "PostgreSQL", "spark": "Spark"}


class DataTable(StrictTable):
    source: Annotated[str, PlainValidator(_source), WithJsonSchema({"type": "string", "minLength": 1})] | None = Field(
        default=None, description="the file that holds the table, relative to the plan, or postgresql://host/database"
    )
    engine: Literal["duckdb", "postgresql", "spark"] | None = Field(
        default=None, description='what reads the table: "duckdb" (the default), "postgresql" or "spark"'
    )
    glob: StrictBool = Field(default=False, description="whether source is a pattern of many files of one format")
    table: _Label | None = Field(default=None, description="a table of a DuckDB file, a database or a Spark catalog")
    row_id: _Label | None = Field(default=None, description="a column that is unique")
    null_values: list[Annotated[str, PlainValidator(_null_value), WithJsonSchema({"type": "string"})]] = Field(
        default=[], description="cells of a CSV file that mean NULL"
    )
    delimiter: Literal[",", ";", "|", "\t"] = Field(default=",", description="between the cells of a CSV file")
    group: (
        Annotated[str, PlainValidator(_group), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 200})]
        | None
    ) = Field(default=None, description="a column that everybody is taken to know, in whose groups rows are drawn")
    unit: _Label | None = Field(
        default=None, description="the column that names the person of a row; no person may have two rows"
    )

    @property
    def reader(self) -> Literal["duckdb", "postgresql", "spark"]:
        """The engine as stated, or as the source implies."""
        return self.engine or ("postgresql" if self._is_database else "duckdb")

    @property
    def _is_database(self) -> bool:
        return self.source is not None and self.source.startswith(_DATABASE_SCHEMES)

    @model_validator(mode="after")
    def _says_where(self) -> DataTable:
        files = self.source is not None and not self._is_database
        if self.reader == "spark":
            wrong = files == (self.table is not None) or self._is_database
            rule = 'with engine = "spark" needs either a source of CSV or Parquet files, or a table of the catalog'
        elif self.reader == "postgresql":
            wrong = not self._is_database or self.table is None
            rule = 'with engine = "postgresql" needs source = "postgresql://host/database" and table = "schema.name"'
        else:
            wrong = not files
            rule = "needs source: the file that holds the table, relative to the plan"
        if wrong:
            raise ValueError(rule)
        if self.reader != "duckdb" and self.row_id is None:
            raise ValueError(
                f"needs row_id: in {_ENGINE_NAMES[self.reader]} rows have no order that could identify them"
            )
        if not files and (self.glob or self.null_values or self.delimiter != ","):
            raise ValueError("is a table, and glob, null_values and delimiter are for files")
        return self


class GuaranteeTable(StrictTable):
    epsilon: Annotated[_Number, AfterValidator(_at_least_zero)] = Field(
        description="the epsilon of the guarantee, a number at least 0"
    )
    delta: Annotated[_Number, AfterValidator(_in_unit_interval)] = Field(
        description="the largest certified delta to accept, a number from 0 to 1"
    )
    known_rows: _Count = Field(default=0, description="the number of rows an adversary may know")
    written_before_access: StrictBool | None = Field(
        default=None, description="whether the author of the plan had not seen any value yet"
    )


class PublicationTable(StrictTable):
    gate: StrictBool | None = Field(
        default=None, description="whether a count outside its declared range is withheld; false by default"
    )
    rounded_to: _Size | None = Field(default=None, description="the base to round counts to; 1 is exact")
    suppressed_below: _Count | None = Field(default=None, description="the least count that is published; 0 is any")
    preset: Literal[tuple(PRESETS)] | None = Field(  # type: ignore[valid-type]
        default=None, description="rounded_to and suppressed_below in one line"
    )

    @model_validator(mode="after")
    def _preset_or_its_keys(self) -> Self:
        if self.preset is not None and (self.rounded_to is not None or self.suppressed_below is not None):
            raise ValueError("has preset beside rounded_to or suppressed_below, which it stands for; remove one")
        return self

    def publication(self, otherwise: Publication) -> Publication:
        """What is stated here, and of the rest what is said otherwise."""
        base, least = (self.rounded_to, self.suppressed_below) if self.preset is None else PRESETS[self.preset]
        return Publication(
            gate=otherwise.gate if self.gate is None else self.gate,
            rounded_to=otherwise.rounded_to if base is None else base if base > 1 else None,
            suppressed_below=otherwise.suppressed_below if least is None else least or None,
        )


_Where: TypeAlias = Annotated[
    Predicate, PlainValidator(_where), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 4096})
]
_WHERE = 'the property to count, such as "age >= 18"'
_PROBABILITY = "what the public knows of the property's probability: a number or a range of two"


class SizedTable(PublicationTable):
    """What counts and histograms have in common."""

    name: _Label = Field(description="a label for the report")
    source: _Note = Field(description="where the probability is publicly known from")
    rows: Annotated[int | dict[str, int], PlainValidator(_rows), WithJsonSchema(_ROWS_SCHEMA)] | None = Field(
        default=None, description="the number of rows this query may use, by group in a stratified plan"
    )
    share: Annotated[_Number, AfterValidator(_share)] | None = Field(
        default=None, description="the part of the rows this query may use, instead of rows"
    )

    @model_validator(mode="after")
    def _rows_or_share(self) -> Self:
        if (self.rows is None) == (self.share is None):
            stated = "neither" if self.rows is None else "both"
            raise ValueError(f'needs exactly one of rows = 100 and share = "1/2"; it has {stated}')
        return self


class CountTable(SizedTable):
    where: _Where = Field(description=_WHERE)
    probability: Annotated[
        Probability | dict[str, Probability], PlainValidator(_probability), WithJsonSchema(_PROBABILITY_SCHEMA)
    ] = Field(description=f"{_PROBABILITY}, by group in a stratified plan")


class CellTable(StrictTable):
    name: _Label = Field(description="a label for the report")
    where: _Where = Field(description=_WHERE)
    probability: Annotated[Probability, PlainValidator(_range), WithJsonSchema({"anyOf": _RANGE_SCHEMAS})] = Field(
        description=_PROBABILITY
    )


class HistogramTable(SizedTable):
    cell: list[CellTable] = Field(
        min_length=2, max_length=MOST_CELLS, description="two or more [[query.cell]], the last cell being implied"
    )

    @model_validator(mode="after")
    def _last_cell_possible(self, info: ValidationInfo) -> Self:
        if _context(info, "group") is not None:
            raise ValueError(
                "has cells, but data.group is there: a stratified plan asks counts only in this version; "
                "ask one count for each cell, each on rows of its own"
            )
        names = [*(cell.name for cell in self.cell), LAST_CELL]
        repeated = next((name for name in names if names.count(name) > 1), None)
        if repeated is not None:
            raise ValueError(f"has two cells called {quoted(repeated)} ({quoted(LAST_CELL)} is the implied last one)")
        least, most = (sum((as_range(cell.probability)[end] for cell in self.cell), Fraction(0)) for end in (0, 1))
        if least > 1:
            raise ValueError(f"has cells whose probabilities add up to at least {least}, which is above 1")
        if most >= 1:
            raise ValueError(
                f"has cells whose probabilities may add up to {most}, so that rows in no cell would have probability "
                "0 and give themselves away: leave out one cell, and it is the implied last one"
            )
        return self


def _kind_of_query(table: object) -> str:
    return "histogram" if isinstance(table, dict) and "cell" in table else "count"


class PriorTable(StrictTable):
    description: _Note = Field(description="what was published")
    epsilon: Annotated[_Number, AfterValidator(_at_least_zero)] | None = Field(
        default=None, description="the epsilon of its guarantee"
    )
    delta: Annotated[_Number, AfterValidator(_in_unit_interval)] | None = Field(
        default=None, description="the delta of its guarantee"
    )


class PlanFile(StrictTable):
    """A plan for `statpriv release`, as a TOML file."""

    model_config = ConfigDict(title="statpriv release plan")

    data: DataTable = Field(description="a table [data] that names the source")
    guarantee: GuaranteeTable = Field(description="a table [guarantee] with epsilon and delta")
    publication: PublicationTable = Field(
        default=PublicationTable(), description="a table [publication]: what is done to all counts"
    )
    query: list[
        Annotated[
            Annotated[CountTable, Tag("count")] | Annotated[HistogramTable, Tag("histogram")],
            Discriminator(_kind_of_query),
        ]
    ] = Field(min_length=1, max_length=MOST_QUERIES, description="one [[query]] for each count to release")
    prior: Annotated[list[PriorTable] | None, BeforeValidator(_prior)] = Field(
        default=None,
        description='publications outside this tool, or "none"',
        json_schema_extra=_prior_schema,
    )

    @model_validator(mode="after")
    def _shares_fit(self) -> PlanFile:
        total = sum((query.share for query in self.query if query.share is not None), Fraction(0))
        if total > 1:
            raise ValueError(f"the shares of the queries add up to {total}; parts are disjoint, so at most 1")
        return self

    @model_validator(mode="after")
    def _cells_not_suppressed(self) -> PlanFile:
        general = self.publication.publication(Publication())
        for k, query in enumerate(self.query, start=1):
            least = query.publication(general).suppressed_below
            if isinstance(query, HistogramTable) and least is not None:
                raise ValueError(
                    f"query[{k}] is a histogram with suppressed_below = {least}: a suppressed cell would be what the "
                    "other cells leave of the rows. State suppressed_below = 0 for it, and round it instead"
                )
        return self


def plan_schema() -> dict[str, Any]:
    """Describe the plan file as a JSON Schema, for editors and other tools."""
    schema = PlanFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


# --- reading ------------------------------------------------------------------------------------


def load_plan(path: str | Path, *, data: str | Path | None = None) -> Plan:
    """Read and check a plan.

    Parameters
    ----------
    path
        The TOML file, in the format at the top of this module.
    data
        A table to use instead of the plan's ``source``; relative to the working directory.

    Raises
    ------
    PlanError
        Naming every key at fault, its value and what is allowed; for broken TOML, the line.
    """
    path = Path(path)
    content = _read(path)
    name = _printed(path.name)
    file = _validated(_tables(content, name), name)
    return Plan(
        path=path,
        data=_data_source(file.data, path, data),
        guarantee=Target(file.guarantee.epsilon, file.guarantee.delta, file.guarantee.known_rows),
        queries=tuple(_planned(query, file.publication.publication(Publication())) for query in file.query),
        prior=None
        if file.prior is None
        else tuple(PriorPublication(entry.description, entry.epsilon, entry.delta) for entry in file.prior),
        written_before_access=file.guarantee.written_before_access,
        sha256=hashlib.sha256(content).hexdigest(),
    )


def _planned(table: CountTable | HistogramTable, otherwise: Publication) -> PlannedQuery:
    predicate, probability = None, None
    cells: tuple[PlannedCell, ...] = ()
    if isinstance(table, CountTable):
        predicate, probability = table.where, table.probability
    else:
        cells = tuple(PlannedCell(cell.name, cell.where, cell.probability) for cell in table.cell)
    return PlannedQuery(
        name=table.name,
        predicate=predicate,
        probability=probability,
        source=table.source,
        rows=table.rows,
        share=table.share,
        publication=table.publication(otherwise),
        cells=cells,
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise PlanError(f"the plan {quoted(str(path), longest=4096)} cannot be read: {reason}") from None


def _tables(content: bytes, name: str) -> dict[str, Any]:
    try:
        return dict(tomllib.loads(content.decode("utf-8"), parse_float=_toml_float))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PlanError(f"{name}: line {line} is not UTF-8; save the plan as UTF-8") from None
    except RecursionError:
        raise PlanError(f"{name}: arrays or tables are nested too deeply for a plan") from None
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{name} is not valid TOML: {error}") from None
    except ValueError:  # from int(), beyond Python's limit on digits
        raise PlanError(f"{name}: an integer has thousands of digits; no number of a plan is that long") from None


def _toml_float(text: str) -> Decimal | str:
    # What is too long to be a Decimal stays text, and its key then says that it is no number.
    digits = text.replace("_", "")
    return Decimal(digits) if len(digits) < 1000 and not re.search("[eE][+-]?[0-9]{6}", digits) else text


def _validated(tables: dict[str, Any], name: str) -> PlanFile:
    data = tables.get("data")
    columns = {key: data.get(key) if isinstance(data, dict) else None for key in ("row_id", "group", "unit")}
    context = {key: column if isinstance(column, str) else None for key, column in columns.items()}
    try:
        return PlanFile.model_validate(tables, context=context)
    except ValidationError as error:
        mistakes = [_mistake(detail) for detail in error.errors(include_url=False)]
    count = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes (queries are counted from 1)"
    more = [f"and {len(mistakes) - _MOST_ERRORS} more"] if len(mistakes) > _MOST_ERRORS else []
    raise PlanError("\n  ".join([f"{name}: {count}", *mistakes[:_MOST_ERRORS], *more]))


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
        unit=table.unit,
    )


def _overridden(table: DataTable, source: str) -> DataTable:
    """Replace the source of the plan, with all checks."""
    try:
        return DataTable.model_validate({**table.model_dump(exclude_unset=True), "source": source})
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
    reason = detail["ctx"]["error"]
    if isinstance(reason, PlanError) or len(detail["loc"]) == 0:
        raise PlanError(f"data: {reason}")
    raise PlanError(f"data = {quoted(source, longest=4096)}: {reason}")


# --- mistakes, in words -------------------------------------------------------------------------


def _mistake(detail: ErrorDetails) -> str:
    """One line: the path of the key, its value, what is allowed."""
    location = _Location.of(detail["loc"])
    kind = detail["type"]
    if kind == "missing":
        return f"{location.key} is missing: {location.description}"
    if kind == "extra_forbidden":
        return f"{location.key} is not a key of {location.table_name}{location.suggestion}"
    rule = _rule(detail, location)
    if isinstance(detail.get("ctx", {}).get("error"), PlanError):  # it names its own value: where = "…"
        return f"{location.above.key}.{rule}"
    if isinstance(detail["input"], dict) or not location.key:
        return f"{location.key} {rule}".strip()
    return f"{location.key} = {_shown(detail['input'])}: {rule}"


def _rule(detail: ErrorDetails, location: _Location) -> str:
    if detail["type"] == "value_error":
        return str(detail["ctx"]["error"])
    rules = {
        "bool_type": "must be true or false",
        "list_type": f"must be a list: {location.description}",
        "model_type": f"must be {location.description}",
        "too_short": f"needs {location.description}",
        "too_long": f"at most {MOST_CELLS} cells are allowed"
        if location.path[-1] == "cell"
        else f"at most {MOST_QUERIES} queries are allowed",
        "literal_error": f"must be one of {detail.get('ctx', {}).get('expected')}",
    }
    return rules.get(detail["type"]) or detail["msg"]


@dataclass(frozen=True)
class _Location:
    """A place in a plan: its keys and, from 0, its numbers in lists; and the kind of the query around it."""

    path: tuple[str | int, ...]
    histogram: bool

    @classmethod
    def of(cls, places: Sequence[str | int]) -> _Location:
        # The kind of a query stands behind its number, and is no key.
        kinds = places[2:3] if places[:1] == ("query",) else ()
        return cls((*places[:2], *places[3:]) if kinds else tuple(places), "histogram" in kinds)

    @property
    def above(self) -> _Location:
        return _Location(self.path[:-1], self.histogram)

    @property
    def key(self) -> str:
        path = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{_printed(part)}" for part in self.path)
        return path.removeprefix(".")

    @property
    def table(self) -> type[BaseModel]:
        """The model of the table that holds the key."""
        names = tuple(part for part in self.above.path if isinstance(part, str))
        tables: dict[tuple[str, ...], type[BaseModel]] = {
            (): PlanFile,
            ("data",): DataTable,
            ("guarantee",): GuaranteeTable,
            ("publication",): PublicationTable,
            ("query",): HistogramTable if self.histogram else CountTable,
            ("query", "cell"): CellTable,
            ("prior",): PriorTable,
        }
        # A query by itself, number k of its list, is described where the list is.
        return PlanFile if len(self.path) == 2 and isinstance(self.path[1], int) else tables[names]

    @property
    def table_name(self) -> str:
        return "a histogram" if self.table is HistogramTable else "a plan"

    @property
    def description(self) -> str:
        fields = self.table.model_fields
        name = next(part for part in reversed(self.path) if isinstance(part, str))
        return str(fields[name].description) if name in fields else "a value"

    @property
    def suggestion(self) -> str:
        if self.table is HistogramTable and self.path[-1] in CellTable.model_fields:
            return "; it stands in each [[query.cell]]"
        known = list(self.table.model_fields)
        close = difflib.get_close_matches(str(self.path[-1]), known, n=1)
        return f"; did you mean {close[0]}?" if close else f"; allowed here: {', '.join(known)}"


def _printed(name: str) -> str:
    """Show a name bare where a terminal can show it, and quoted with escapes where it cannot."""
    return name if name.isprintable() else quoted(name)


def _shown(value: object) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        items = [_shown(item) for item in value[:4]] + ["…"] * (len(value) > 4)
        return f"[{', '.join(items)}]"
    text = str(value)
    return text if len(text) <= 40 else text[:39] + "…"
