"""The tables of a plan file as pydantic models: the allowed values of each key, and their consistency."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, TypeGuard, TypeVar
from urllib.parse import parse_qsl, urlsplit

from statpriv import budget
from statpriv.errors import MissingExtraError, PlanError
from statpriv.model.same_rows import SameRows
from statpriv.numeric.arguments import is_list
from statpriv.releasing.plan import LAST_CELL, PlannedCell, Probability, Publication, as_range
from statpriv.releasing.plan_columns import Column, DeclaredColumn, constants_without_code, values_without_category
from statpriv.releasing.plan_exact_tables import ExactTable
from statpriv.releasing.plan_theorems import refuse_without_theorem
from statpriv.releasing.plan_values import (
    RANGE_SCHEMAS,
    Count,
    Delta,
    Epsilon,
    Label,
    Note,
    Share,
    Size,
    StrictTable,
    named_column,
    printable,
    printed_label,
    probability_range,
    whole_count,
    whole_size,
)
from statpriv.releasing.predicate import Predicate
from statpriv.releasing.sql_text import quoted, unprintable

try:
    from pydantic import (
        BeforeValidator,
        ConfigDict,
        Discriminator,
        Field,
        PlainValidator,
        StrictBool,
        Tag,
        ValidationInfo,
        WithJsonSchema,
        field_validator,
        model_validator,
    )
except ImportError as missing:
    raise MissingExtraError("a plan needs pydantic: pip install 'statpriv[release]'") from missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import Self

__all__ = [
    "CellTable",
    "CountTable",
    "DataTable",
    "GuaranteeTable",
    "HistogramTable",
    "PlanFile",
    "PriorTable",
    "PublicationTable",
]

_Read = TypeVar("_Read")

_BASES = (3, 5, 10)
PRESETS = {
    "exact": (1, 0),
    **{f"suppressed below {least}": (1, least) for least in _BASES},
    **{f"rounded to {base}": (base, 0) for base in _BASES},
    **{f"rounded to {base}, suppressed below {least}": (base, least) for base in _BASES for least in _BASES},
}
"""The usual ways of statistical offices, as a base to round to and the least count that is published."""


def _range(value: object) -> Fraction | tuple[Fraction, Fraction]:
    low, high = probability_range(value)
    return low if low == high else (low, high)


def _probability(value: object, info: ValidationInfo) -> Probability | dict[str, Probability]:
    return _by_group(value, info, _range) if _is_table(value) else _range(value)


def _rows(value: object, info: ValidationInfo) -> int | dict[str, int]:
    if _is_table(value):
        sizes = _by_group(value, info, whole_count)
        if not any(sizes.values()):
            raise ValueError("must be at least one row of some group")
        return sizes
    return whole_size(value)


def _is_table(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _by_group(value: dict[str, object], info: ValidationInfo, read: Callable[[object], _Read]) -> dict[str, _Read]:
    if named_column(info, "group") is None:
        raise ValueError("is stated by group, but no data.group names the column of the groups")
    if not 1 <= len(value) <= budget.MAX_GROUPS:
        raise ValueError(f"must have 1 to {budget.MAX_GROUPS} groups")
    return {printed_label(name): _of_group(name, stated, read) for name, stated in value.items()}


def _of_group(name: str, stated: object, read: Callable[[object], _Read]) -> _Read:
    try:
        return read(stated)
    except ValueError as error:
        raise ValueError(f"of the group {quoted(name)}: {error}") from None


_DATABASE_SCHEMES = ("postgresql://", "postgres://")
_CONNECTION_KEYS = frozenset(
    {
        "application_name", "channel_binding", "connect_timeout", "dbname", "gssencmode", "host", "krbsrvname",
        "passfile", "port", "service", "sslcert", "sslcrl", "sslkey", "sslmode", "sslrootcert", "target_session_attrs",
        "user",
    }
)  # fmt: skip


def _source(value: object) -> str:
    text = printable(value, longest=4096)
    if text.startswith(_DATABASE_SCHEMES):
        return _database(text)
    if "://" in text:
        raise ValueError("is a URL; only a file on this machine is read: download it and give its path")
    return text


def _database(url: str) -> str:
    """Accept an address without secrets; a refused address is not quoted, because it may contain one."""
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
        return _about_values(Predicate.parse(value, row_id=named_column(info, "row_id")), info)
    raise ValueError('must be a condition in quotes, such as "age >= 18"')


def _about_values(predicate: Predicate, info: ValidationInfo) -> Predicate:
    """Refuse a predicate on the column of persons or on the column of groups."""
    asked = {column.casefold() for column in predicate.columns}
    unit, group = named_column(info, "unit"), named_column(info, "group")
    if unit is not None and unit.casefold() in asked:
        raise ValueError(f"{quoted(unit)} names persons (unit), and no predicate may single out persons")
    if group is not None and group.casefold() in asked:
        raise ValueError(
            f"{quoted(group)} is the column of the groups: it is taken as known of everybody, so a count of it says "
            "nothing, and no one probability holds for all of them. State probabilities by group instead, such as "
            'probability = {f = "0.4", m = "0.5"}'
        )
    return predicate


def _group(value: object, info: ValidationInfo) -> str:
    name = printed_label(value)
    for key, column in (info.context or {}).items():
        if key in ("row_id", "unit") and column == name:
            raise ValueError(f"is also {key}: a column of groups that everybody is taken to know cannot be that")
    return name


def _prior(value: object) -> object:
    if value == "none":
        return []
    if is_list(value):
        return value
    raise ValueError('must be "none", or one [[prior]] entry for each publication')


def _prior_schema(schema: dict[str, Any]) -> None:
    schema["anyOf"].insert(0, {"const": "none"})


# --- the file: one model for each table ---------------------------------------------------------


def _or_by_group(schemas: list[dict[str, Any]], within: dict[str, Any]) -> dict[str, Any]:
    by_group = {
        "type": "object",
        "additionalProperties": within,
        "minProperties": 1,
        "maxProperties": int(budget.MAX_GROUPS),
    }
    return {"anyOf": [*schemas, by_group]}


_PROBABILITY_SCHEMA = _or_by_group(RANGE_SCHEMAS, {"anyOf": RANGE_SCHEMAS})
_ROWS_SCHEMA = _or_by_group([{"type": "integer", "minimum": 1}], {"type": "integer", "minimum": 0})


_ENGINE_NAMES = {"postgresql": "PostgreSQL", "spark": "Spark"}


class DataTable(StrictTable):
    """Where the table is, and what it does not say itself."""

    source: Annotated[str, PlainValidator(_source), WithJsonSchema({"type": "string", "minLength": 1})] | None = Field(
        default=None, description="the file that holds the table, relative to the plan, or postgresql://host/database"
    )
    engine: Literal["duckdb", "postgresql", "spark"] | None = Field(
        default=None, description='what reads the table: "duckdb" (the default), "postgresql" or "spark"'
    )
    glob: StrictBool = Field(default=False, description="whether source is a pattern of many files of one format")
    table: Label | None = Field(default=None, description="a table of a DuckDB file, a database or a Spark catalog")
    row_id: Label | None = Field(default=None, description="a column that is unique")
    null_values: list[Annotated[str, PlainValidator(_null_value), WithJsonSchema({"type": "string"})]] = Field(
        default=[], description="cells of a CSV file that mean NULL"
    )
    delimiter: Literal[",", ";", "|", "\t"] = Field(default=",", description="between the cells of a CSV file")
    group: (
        Annotated[str, PlainValidator(_group), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 200})]
        | None
    ) = Field(default=None, description="a column that everybody is taken to know, in whose groups rows are drawn")
    group_source: Note | None = Field(
        default=None, description="where the sizes of the groups are public; required with group"
    )
    stratified: StrictBool | None = Field(
        default=None,
        description="with group: whether rows are drawn in each group by itself; if absent, unless every query states "
        "one number of rows",
    )
    unit: Label | None = Field(
        default=None, description="the column that names the person or household of a row; without units, all differ"
    )
    units: Size | None = Field(default=None, description="the number of units, where a unit may have several rows")
    largest_unit: Size | None = Field(default=None, description="at least the number of rows of the largest unit")
    unit_source: Note | None = Field(
        default=None, description="where the number and the largest size of units are public; required with units"
    )

    columns: dict[Label, Column] = Field(
        default={}, description="the public codes of columns, which the constants of the plan are compared with"
    )

    @field_validator("columns")
    @classmethod
    def _named_once(cls, columns: dict[str, DeclaredColumn]) -> dict[str, DeclaredColumn]:
        names: dict[str, str] = {}
        for name in columns:
            if (other := names.setdefault(name.casefold(), name)) != name:
                raise ValueError(f"{quoted(other)} and {quoted(name)} differ only in case, so they name one column")
        return columns

    @property
    def reader(self) -> Literal["duckdb", "postgresql", "spark"]:
        """The stated engine, or the one that the source implies."""
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
        if self.group is not None and self.group_source is None:
            raise ValueError(
                f"has group = {quoted(self.group)} and no group_source: the report publishes the exact size of each "
                "group, outside the guarantee. Say where these sizes are public, such as "
                'group_source = "census of 2021"; if they are not, leave group out'
            )
        if self.group is None and self.group_source is not None:
            raise ValueError("has group_source and no group, whose sizes it is about; remove it, or name the column")
        if self.group is None and self.stratified is not None:
            raise ValueError("has stratified and no group, in which rows could be drawn; remove it, or name the column")
        self._says_all_of_units()
        if not files and (self.glob or self.null_values or self.delimiter != ","):
            raise ValueError("is a table, and glob, null_values and delimiter are for files")
        return self

    def _says_all_of_units(self) -> None:
        stated = {key: getattr(self, key) for key in ("units", "largest_unit", "unit_source")}
        missing = [key for key, value in {"unit": self.unit, **stated}.items() if value is None]
        if missing and any(value is not None for value in stated.values()):
            raise ValueError(
                f"states units that have several rows and not {' and '.join(missing)}. Needed are the column, how many "
                "units there are, how many rows the largest may have, and where both are public, such as unit = "
                '"household", units = 8000, largest_unit = 5, unit_source = "census of 2021"'
            )


class GuaranteeTable(StrictTable):
    """The guarantee that the release must reach."""

    epsilon: Epsilon = Field(description="the epsilon of the guarantee, a number at least 0")
    delta: Delta = Field(description="the largest certified delta to accept, a number from 0 to 1")
    known_rows: Count = Field(default=0, description="the number of rows an adversary may know")
    written_before_access: StrictBool | None = Field(
        default=None, description="whether the author of the plan had not seen any value yet"
    )


class PublicationTable(StrictTable):
    """What is done to an exact count before it is published."""

    gate: StrictBool | None = Field(
        default=None, description="whether a count outside its declared range is withheld; false by default"
    )
    rounded_to: Size | None = Field(default=None, description="the base to round counts to; 1 is exact")
    suppressed_below: Count | None = Field(default=None, description="the least count that is published; 0 is any")
    preset: Literal[tuple(PRESETS)] | None = Field(  # type: ignore[valid-type]
        default=None, description="rounded_to and suppressed_below in one line"
    )

    @model_validator(mode="after")
    def _preset_or_its_keys(self) -> Self:
        if self.preset is not None and (self.rounded_to is not None or self.suppressed_below is not None):
            raise ValueError("has preset beside rounded_to or suppressed_below, which it stands for; remove one")
        return self

    def publication(self, otherwise: Publication) -> Publication:
        """The publication steps: values stated here, and those of `otherwise` for the rest."""
        base, least = (self.rounded_to, self.suppressed_below) if self.preset is None else PRESETS[self.preset]
        return Publication(
            gate=otherwise.gate if self.gate is None else self.gate,
            rounded_to=otherwise.rounded_to if base is None else base if base > 1 else None,
            suppressed_below=otherwise.suppressed_below if least is None else least or None,
        )


class ReleaseTable(PublicationTable):
    """What is done to all counts, and which rows answer."""

    rows: Literal["same"] | None = Field(
        default=None, description='"same": all rows answer every query, and there are no parts'
    )
    protects: Literal["attribute", "row"] | None = Field(
        default=None,
        description='with rows = "same": what two records that are compared differ in, one attribute or the whole row '
        "(the default)",
    )

    @model_validator(mode="after")
    def _protects_the_same_rows(self) -> Self:
        if self.protects is not None and self.rows is None:
            raise ValueError(
                f'has protects = "{self.protects}", which is for several answers about the same rows: add rows = '
                '"same", or leave protects out'
            )
        return self

    @property
    def same_rows(self) -> SameRows | None:
        """What is protected where all rows answer every query; None where they do not."""
        return None if self.rows is None else SameRows(protects=self.protects or "row")


_Where: TypeAlias = Annotated[
    Predicate, PlainValidator(_where), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 4096})
]
_WHERE = 'the property to count, such as "age >= 18"'
_PROBABILITY = "what the public knows of the property's probability: a number or a range of two"


class SizedTable(PublicationTable):
    """What counts and histograms have in common."""

    name: Label = Field(description="a label for the report")
    source: Note = Field(description="where the probability is publicly known from")
    each: StrictBool = Field(
        default=False,
        description="whether each row has a probability of its own in the range; false if all rows share one",
    )
    rows: Annotated[int | dict[str, int], PlainValidator(_rows), WithJsonSchema(_ROWS_SCHEMA)] | None = Field(
        default=None, description="the number of rows this query may use, by group in a stratified plan"
    )
    share: Share | None = Field(default=None, description="the part of the rows this query may use, instead of rows")

    @model_validator(mode="after")
    def _rows_or_share(self, info: ValidationInfo) -> Self:
        if named_column(info, "publication.rows") == "same":
            if self.rows is not None or self.share is not None:
                key = "share" if self.rows is None else "rows"
                raise ValueError(f'has {key}, but [publication] rows = "same": all rows answer it; leave {key} out')
        elif (self.rows is None) == (self.share is None):
            stated = "neither" if self.rows is None else "both"
            raise ValueError(f'needs exactly one of rows = 100 and share = "1/2"; it has {stated}')
        return self


class CountTable(SizedTable):
    """A count, and what the public knows of its property."""

    cells: ClassVar[tuple[PlannedCell, ...]] = ()

    where: _Where = Field(description=_WHERE)
    probability: Annotated[
        Probability | dict[str, Probability], PlainValidator(_probability), WithJsonSchema(_PROBABILITY_SCHEMA)
    ] = Field(description=f"{_PROBABILITY}, by group in a stratified plan")

    @property
    def conditions(self) -> tuple[tuple[str, Predicate], ...]:
        """The condition, after its place in the query."""
        return ((".where", self.where),)


class CellTable(StrictTable):
    """One cell of a histogram."""

    name: Label = Field(description="a label for the report")
    where: _Where = Field(description=_WHERE)
    probability: Annotated[Probability, PlainValidator(_range), WithJsonSchema({"anyOf": RANGE_SCHEMAS})] = Field(
        description=_PROBABILITY
    )


class HistogramTable(SizedTable):
    """A histogram: counts of several cells, the last one implied."""

    where: ClassVar[None] = None
    probability: ClassVar[None] = None
    cell: list[CellTable] = Field(
        min_length=2,
        max_length=int(budget.MAX_CELLS),
        description="two or more [[query.cell]], the last cell being implied",
    )

    @property
    def conditions(self) -> tuple[tuple[str, Predicate], ...]:
        """The conditions, each after its place in the query."""
        return tuple((f".cell[{k}].where", cell.where) for k, cell in enumerate(self.cell, start=1))

    @property
    def cells(self) -> tuple[PlannedCell, ...]:
        """The cells, without the implied last one."""
        return tuple(PlannedCell(cell.name, cell.where, cell.probability) for cell in self.cell)

    @model_validator(mode="after")
    def _last_cell_possible(self, info: ValidationInfo) -> Self:
        if named_column(info, "group") is not None:
            raise ValueError(
                "has cells, but data.group is there: a plan with groups asks counts only in this version; "
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
    return "histogram" if _is_table(table) and "cell" in table else "count"


class PriorTable(StrictTable):
    """Something that was published from the same rows outside this tool."""

    description: Note = Field(description="what was published")
    epsilon: Epsilon | None = Field(default=None, description="the epsilon of its guarantee")
    delta: Delta | None = Field(default=None, description="the delta of its guarantee")


class PlanFile(StrictTable):
    """A plan for `statpriv release`, as a TOML file."""

    model_config = ConfigDict(title="statpriv release plan")

    data: DataTable = Field(description="a table [data] that names the source")
    guarantee: GuaranteeTable = Field(description="a table [guarantee] with epsilon and delta")
    publication: ReleaseTable = Field(
        default=ReleaseTable(), description="a table [publication]: what is done to all counts, and which rows answer"
    )
    query: list[
        Annotated[
            Annotated[CountTable, Tag("count")] | Annotated[HistogramTable, Tag("histogram")],
            Discriminator(_kind_of_query),
        ]
    ] = Field(default=[], max_length=int(budget.MAX_FILE_TABLES), description="one [[query]] for each count to release")
    table: list[ExactTable] = Field(
        default=[], max_length=int(budget.MAX_PLAN_TABLES), description="one [[table]] for each exact table to release"
    )
    prior: Annotated[list[PriorTable] | None, BeforeValidator(_prior)] = Field(
        default=None,
        description='publications outside this tool, or "none"',
        json_schema_extra=_prior_schema,
    )

    def values_that_do_not_occur(self) -> Iterator[str]:
        """Each constant of a condition that the codes of its column exclude, in words."""
        if not self.data.columns:
            return
        places = [
            (f"query[{k}]{place}", predicate.comparisons)
            for k, query in enumerate(self.query, start=1)
            for place, predicate in query.conditions
        ]
        dimensions = [
            (f"table[{k}].dimensions.{dimension.column}", dimension)
            for k, table in enumerate(self.table, start=1)
            for dimension in table.dimensions
        ]
        places += [(place, dimension.comparisons) for place, dimension in dimensions]
        yield from constants_without_code(self.data.columns, places)
        yield from values_without_category(self.data.columns, dimensions)

    @model_validator(mode="after")
    def _something_is_asked(self) -> PlanFile:
        if not self.query and not self.table:
            raise ValueError("query is missing: one [[query]] for each count to release, or a [[table]]")
        return self

    @model_validator(mode="after")
    def _shares_fit(self) -> PlanFile:
        asked = [*self.query, *self.table]
        total = sum((each.share for each in asked if each.share is not None), Fraction(0))
        if total > 1:
            what = "queries and tables" if self.table else "queries"
            raise ValueError(f"the shares of the {what} add up to {total}; parts are disjoint, so at most 1")
        return self

    @model_validator(mode="after")
    def _has_theorems(self) -> PlanFile:
        refuse_without_theorem(self)
        return self

    @model_validator(mode="after")
    def _cells_not_suppressed(self) -> PlanFile:
        general = self.publication.publication(Publication())
        for k, query in enumerate(self.query, start=1):
            least = query.publication(general).suppressed_below
            if query.cells and least is not None:
                raise ValueError(
                    f"query[{k}] is a histogram with suppressed_below = {least}: a suppressed cell would be what the "
                    "other cells leave of the rows. State suppressed_below = 0 for it, and round it instead"
                )
        return self
