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
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from statpriv.errors import MissingExtraError, PlanError
from statpriv.releasing.plan import DataSource, Plan, PlannedQuery, PriorPublication, Target
from statpriv.releasing.predicate import Predicate, quoted, unprintable

try:
    from pydantic import (
        AfterValidator,
        BaseModel,
        BeforeValidator,
        ConfigDict,
        Field,
        PlainValidator,
        StrictBool,
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
    from collections.abc import Sequence

    from pydantic_core import ErrorDetails

__all__ = ["load_plan", "plan_schema"]

MOST_QUERIES = 10_000
MOST_ROWS = 2**53
_MOST_ERRORS = 20

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


def _unit(_value: object) -> None:
    raise ValueError("is not supported: one row must be one person. Aggregate repeated rows first and remove the key")


def _where(value: object, info: ValidationInfo) -> Predicate:
    if isinstance(value, str):
        return Predicate.parse(value, row_id=(info.context or {}).get("row_id"))
    raise ValueError('must be a condition in quotes, such as "age >= 18"')


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
    unit: Annotated[None, PlainValidator(_unit), WithJsonSchema({"not": {}})] = Field(
        default=None, description="reserved: one row is one person"
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


class QueryTable(StrictTable):
    name: _Label = Field(description="a label for the report")
    where: Annotated[
        Predicate,
        PlainValidator(_where),
        WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 4096}),
    ] = Field(description='the property to count, such as "age >= 18"')
    probability: Annotated[
        Fraction | tuple[Fraction, Fraction],
        PlainValidator(_range),
        WithJsonSchema(
            {
                "anyOf": [
                    *_NUMBER_SCHEMA["anyOf"],
                    {"type": "array", "items": _NUMBER_SCHEMA, "minItems": 2, "maxItems": 2},
                ]
            }
        ),
    ] = Field(description="what the public knows of the property's probability: a number or a range of two")
    source: _Note = Field(description="where the probability is publicly known from")
    rows: _Size | None = Field(default=None, description="the number of rows this query may use")
    share: Annotated[_Number, AfterValidator(_share)] | None = Field(
        default=None, description="the part of the rows this query may use, instead of rows"
    )

    @model_validator(mode="after")
    def _rows_or_share(self) -> QueryTable:
        if (self.rows is None) == (self.share is None):
            stated = "neither" if self.rows is None else "both"
            raise ValueError(f'needs exactly one of rows = 100 and share = "1/2"; it has {stated}')
        return self


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
    query: list[QueryTable] = Field(
        min_length=1, max_length=MOST_QUERIES, description="one [[query]] for each count to release"
    )
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
        queries=tuple(
            PlannedQuery(query.name, query.where, query.probability, query.source, query.rows, query.share)
            for query in file.query
        ),
        prior=None
        if file.prior is None
        else tuple(PriorPublication(entry.description, entry.epsilon, entry.delta) for entry in file.prior),
        written_before_access=file.guarantee.written_before_access,
        sha256=hashlib.sha256(content).hexdigest(),
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
    row_id = data.get("row_id") if isinstance(data, dict) else None
    try:
        return PlanFile.model_validate(tables, context={"row_id": row_id if isinstance(row_id, str) else None})
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
    location: Sequence[str | int] = detail["loc"]
    key = _key(location)
    kind = detail["type"]
    if kind == "missing":
        return f"{key} is missing: {_field_description(location)}"
    if kind == "extra_forbidden":
        return f"{key} is not a key of a plan{_suggestion(location)}"
    rule = _rule(detail, location)
    if isinstance(detail.get("ctx", {}).get("error"), PlanError):  # it names its own value: where = "…"
        return f"{_key(location[:-1])}.{rule}"
    if isinstance(detail["input"], dict) or not key:
        return f"{key} {rule}".strip()
    return f"{key} = {_shown(detail['input'])}: {rule}"


def _rule(detail: ErrorDetails, location: Sequence[str | int]) -> str:
    if detail["type"] == "value_error":
        return str(detail["ctx"]["error"])
    rules = {
        "bool_type": "must be true or false",
        "list_type": f"must be a list: {_field_description(location)}",
        "model_type": f"must be {_field_description(location)}",
        "too_short": f"needs {_field_description(location)}",
        "too_long": f"at most {MOST_QUERIES} queries are allowed",
        "literal_error": f"must be one of {detail.get('ctx', {}).get('expected')}",
    }
    return rules.get(detail["type"]) or detail["msg"]


def _key(location: Sequence[str | int]) -> str:
    path = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{_printed(part)}" for part in location)
    return path.removeprefix(".")


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


def _table_of(location: Sequence[str | int]) -> type[BaseModel]:
    """Find the model of the table that holds the key."""
    tables: dict[str | int, type[BaseModel]] = {
        "data": DataTable,
        "guarantee": GuaranteeTable,
        "query": QueryTable,
        "prior": PriorTable,
    }
    return tables[location[0]] if len(location) > 1 else PlanFile


def _field_description(location: Sequence[str | int]) -> str:
    fields = _table_of([part for part in location if isinstance(part, str)]).model_fields
    names = [part for part in location if isinstance(part, str)]
    return str(fields[names[-1]].description) if names[-1] in fields else "a value"


def _suggestion(location: Sequence[str | int]) -> str:
    known = list(_table_of(location).model_fields)
    close = difflib.get_close_matches(str(location[-1]), known, n=1)
    return f"; did you mean {close[0]}?" if close else f"; allowed here: {', '.join(known)}"
