"""The declared categories of an exact table: how a plan states them, and the category of a row.

A dimension is a column with categories in an order. Categories are declared and never read from the data. A dimension
is stated in one of two ways:

.. code-block:: toml

    region = ["north", "south", "*"]
    age = { breaks = [30, 60], labels = ["<30", "30-59", "60+"], null = "unknown" }

In a list, a category is

* a text, a number, or true or false: the rows with this value;
* ``{ values = [11, 12], label = "north" }``: the rows with one of these values;
* ``{ null = true, label = "unknown" }``: the rows without a value; the label is "NULL" if none is stated;
* ``"*"``, as the last one: all other rows, those without a value included.

Breaks divide a column of numbers. They are closed on the left: with ``breaks = [30, 60]`` a row of exactly 30 is in the
second category. With ``null``, rows without a number are a category too.

With ``recode``, a list of coarser groupings, the data choose: the finest table that holds the minimum is published. A
list of categories then stands as ``values``:

.. code-block:: toml

    region = { values = ["north", "south", "*"], recode = [{ mainland = ["north", "south"], other = ["*"] }] }

A row in no category is *undeclared*. The conditions are the comparisons of :mod:`statpriv.releasing.predicate`, each
total on typed data, so no cell can make one fail.
"""

# ruff: noqa: S608 - every piece of SQL here is a number, or was rendered by an engine or by a formula
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from math import prod
from typing import Any, TypeAlias

from statpriv import budget
from statpriv.numeric.arguments import is_list, is_mapping
from statpriv.releasing.plan_values import printable, printed_label, shown
from statpriv.releasing.predicate_formula import Atom, ColumnType, Constant, Formula, Spelling, atom, junction
from statpriv.releasing.released_table import RESERVED_NAMES
from statpriv.releasing.sql_text import identifier, quoted, text_literal, unprintable

__all__ = [
    "DIMENSIONS_SCHEMA",
    "EVERYTHING_ELSE",
    "Category",
    "Classification",
    "Dimension",
    "category_label",
    "dimension_from",
    "plain_decimal",
]

EVERYTHING_ELSE = "*"
"""The category of all rows that no other category of the dimension takes."""

_NULL = "NULL"
_CATEGORY = (
    'a category is a text, a number, true or false, { values = [1, 2], label = "low" }, { null = true }, or "*" as the '
    "last one"
)
_DIMENSION = (
    'a dimension is a list of categories, such as ["north", "south", "*"], or '
    '{ breaks = [30, 60], labels = ["<30", "30-59", "60+"] }'
)
_GROUPING = (
    "recode is a list of coarser groupings of the categories, the finest first, such as "
    '[[["<30", "30-59"], ["60+"]]], or [{ "under 60" = ["<30", "30-59"], "60+" = ["60+"] }]'
)
_LONGEST = 400
_MAX_CASES = 16
"""Values that are compared one after the other; engines look more of them up."""


Recode: TypeAlias = "tuple[tuple[tuple[str, tuple[str, ...]], ...], ...]"


@dataclass(frozen=True)
class Category:
    """A category of a dimension.

    Attributes
    ----------
    label
        What the report calls it.
    condition
        What holds on its rows; None for everything else.
    after_others
        The same for rows in no earlier category, where that is shorter.
    """

    label: str
    condition: Formula | None
    after_others: Formula | None = None

    @property
    def canonical(self) -> str:
        """The condition in standard SQL."""
        return "everything else" if self.condition is None else self.condition.sql()


@dataclass(frozen=True)
class Dimension:
    """A column with its declared categories.

    Attributes
    ----------
    column
        The name of the column, which is also that of the dimension.
    categories
        At least one. No two of them hold on one row.
    demand
        The type of the constants; "any" if there are none.
    recode
        Coarser groupings of the categories, the finest first, as labels with the labels of their categories.
    """

    column: str
    categories: tuple[Category, ...]
    demand: ColumnType
    recode: Recode = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the categories, in order."""
        return tuple(category.label for category in self.categories)

    @property
    def comparisons(self) -> tuple[Atom, ...]:
        """The comparisons of all categories, in order."""
        return tuple(part for category in self.categories if category.condition for part in category.condition.atoms())

    @property
    def covered(self) -> frozenset[Constant] | None:
        """The values that have a category; None if everything else has one, or not all categories are single values."""
        if any(category.condition is None for category in self.categories):
            return None
        single = all(part.operator == "IN" for part in self.comparisons)
        return frozenset().union(*(part.constants for part in self.comparisons)) if single else None

    @property
    def place(self) -> str:
        """How messages about the table call it."""
        return f"table.dimensions, {quoted(self.column)}"

    @property
    def column_types(self) -> dict[str, ColumnType]:
        """The type that the column must have."""
        return {self.column: self.demand}

    @property
    def columns(self) -> tuple[str, ...]:
        """The column alone."""
        return (self.column,)

    @property
    def equated(self) -> frozenset[str]:
        """The column, if some category compares it for equality with a constant."""
        return frozenset({self.column} if any(part.operator == "IN" for part in self.comparisons) else ())

    @property
    def is_whole(self) -> bool:
        """Whether the column is compared with whole numbers alone."""
        values = [constant.value for part in self.comparisons for constant in part.constants]
        return self.demand == "number" and not any("." in value for value in values)

    @property
    def subject(self) -> str:
        """What compares the column, in messages."""
        return "the dimension"

    @property
    def canonical(self) -> str:
        """The column and its categories, whatever the plan calls them in."""
        stated = "; ".join(f"{text_literal(each.label)} if {each.canonical}" for each in self.categories)
        return f"{identifier(self.column)}: {stated}"

    def sql(self, column: str, text: Spelling = text_literal, *, lookup: str | None = None) -> str:
        """SQL for the index of the category of a row; the number of categories for an undeclared row.

        Parameters
        ----------
        column
            SQL for the value of the column.
        text
            How the engine writes a text.
        lookup
            A column that holds the index of the category with this value, NULL if none has it: see :attr:`lookup`.

        Examples
        --------
        >>> dimension_from("region", ["n", "*"]).sql("c0")
        "CASE WHEN c0 = 'n' THEN 0 ELSE 1 END"
        """
        stated = ((k, each.after_others or each.condition) for k, each in enumerate(self.categories))
        declared = [(k, condition) for k, condition in stated if condition is not None]
        rest = next((k for k, each in enumerate(self.categories) if each.condition is None), len(self.categories))
        found = "" if lookup is None else f" WHEN {lookup} IS NOT NULL THEN {lookup}"
        cases = "".join(
            f" WHEN {condition.sql(lambda _: column, text)} THEN {k}"
            for k, condition in declared
            if lookup is None or not _values_of(condition)
        )
        return f"CASE{found}{cases} ELSE {rest} END" if found or cases else str(rest)

    @property
    def lookup(self) -> list[tuple[Constant, int]] | None:
        """The values of the column with the index of their category, if there are many; engines join these."""
        values = [
            (constant, k)
            for k, each in enumerate(self.categories)
            for constant in (() if each.condition is None else _values_of(each.condition))
        ]
        return sorted(values, key=lambda entry: entry[0].value) if len(values) > _MAX_CASES else None


def _values_of(condition: Formula) -> frozenset[Constant]:
    """The values of a category that lists them; none of any other."""
    return frozenset(constant for part in condition.atoms() if part.operator == "IN" for constant in part.constants)


@dataclass(frozen=True)
class Classification:
    """The cells of an exact table: every combination of the categories of its dimensions, in row-major order.

    Attributes
    ----------
    dimensions
        At least one.
    by
        Index of the dimension that is a public classification; None without one.
    """

    dimensions: tuple[Dimension, ...]
    by: int | None = None

    @property
    def number_of_cells(self) -> int:
        """The number of cells, impossible ones included."""
        return prod(len(dimension.categories) for dimension in self.dimensions)

    @property
    def number_of_classes(self) -> int:
        """The number of classes of the public classification; 0 without one."""
        return 0 if self.by is None else len(self.dimensions[self.by].categories)

    @property
    def number_of_outcomes(self) -> int:
        """The cells, then each class for its rows in no cell, then all other rows in no cell."""
        return self.number_of_cells + self.number_of_classes + 1

    def sql(self, relation: str, typed: Sequence[str], text: Spelling = text_literal, *, more: str = "") -> str:
        """SQL that selects the outcome of each row as `cell`.

        Parameters
        ----------
        relation
            The relation that holds the rows.
        typed
            For each dimension, the SQL for the value of its column as its constants demand it.
        text
            How the engine writes a text.
        more
            Columns of the relation that are selected, too.

        Examples
        --------
        >>> Classification((dimension_from("sex", ["f", "m"]),)).sql("t", ["c0"])[:64]
        'SELECT CASE WHEN d0 < 2 THEN d0 ELSE 2 END AS cell FROM (SELECT '
        """
        further = f", {more}" if more else ""
        indices, joins = [], []
        for k, dimension in enumerate(self.dimensions):
            entries = dimension.lookup
            if entries is not None:
                values = ", ".join(f"({constant.sql(text)}, {index})" for constant, index in entries)
                joins.append(f" LEFT JOIN (VALUES {values}) AS l{k}(value, number) ON l{k}.value = x{k}")
            lookup = None if entries is None else f"l{k}.number"
            indices.append(f"{dimension.sql(f'x{k}', text, lookup=lookup)} AS d{k}")
        values = ", ".join(f"{column} AS x{k}" for k, column in enumerate(typed))
        return (
            f"SELECT {self._outcome} AS cell{further} FROM (SELECT {', '.join(indices)}{further} FROM "
            f"(SELECT {values}{further} FROM {relation}) AS typed{''.join(joins)}) AS indexed"
        )

    @property
    def _outcome(self) -> str:
        """SQL for the outcome of a row, from the index of its category in each dimension."""
        sizes = [len(dimension.categories) for dimension in self.dimensions]
        declared = " AND ".join(f"d{k} < {size}" for k, size in enumerate(sizes))
        factors = [prod(sizes[k + 1 :]) for k in range(len(sizes))]
        cell = " + ".join(f"d{k}" if factor == 1 else f"d{k} * {factor}" for k, factor in enumerate(factors))
        cells, classes = self.number_of_cells, self.number_of_classes
        of_class = "" if self.by is None else f" WHEN d{self.by} < {classes} THEN {cells} + d{self.by}"
        return f"CASE WHEN {declared} THEN {cell}{of_class} ELSE {cells + classes} END"


_VALUE: dict[str, Any] = {"type": ["string", "number", "boolean"]}
_LABEL: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 200}
_LISTED: dict[str, Any] = {
    "anyOf": [
        _VALUE,
        {
            "type": "object",
            "required": ["values", "label"],
            "additionalProperties": False,
            "properties": {"values": {"type": "array", "minItems": 1, "items": _VALUE}, "label": _LABEL},
        },
        {
            "type": "object",
            "required": ["null"],
            "additionalProperties": False,
            "properties": {"null": {"const": True}, "label": _LABEL},
        },
    ]
}
_GROUP: dict[str, Any] = {"type": "array", "minItems": 1, "items": _VALUE}
_GROUPINGS: dict[str, Any] = {
    "type": "array",
    "minItems": 1,
    "items": {
        "anyOf": [
            {"type": "array", "minItems": 1, "items": _GROUP},
            {"type": "object", "minProperties": 1, "additionalProperties": _GROUP},
        ]
    },
}
_DIVIDED: dict[str, Any] = {
    "type": "object",
    "required": ["breaks", "labels"],
    "additionalProperties": False,
    "properties": {
        "breaks": {"type": "array", "minItems": 1, "items": {"type": "number"}},
        "labels": {"type": "array", "minItems": 2, "items": _LABEL},
        "null": _LABEL,
        "recode": _GROUPINGS,
    },
}
_RECODED: dict[str, Any] = {
    "type": "object",
    "required": ["values", "recode"],
    "additionalProperties": False,
    "properties": {"values": {"type": "array", "minItems": 1, "items": _LISTED}, "recode": _GROUPINGS},
}
DIMENSIONS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {"anyOf": [{"type": "array", "minItems": 1, "items": _LISTED}, _DIVIDED, _RECODED]},
}
"""The JSON Schema of the dimensions of a table in a plan."""

# --- reading -------------------------------------------------------------------------------------


def dimension_from(column: str, stated: object) -> Dimension:
    """Read a dimension of a plan.

    Raises
    ------
    ValueError
        With a sentence that names the dimension, the value and what is allowed.

    Examples
    --------
    >>> age = dimension_from("age", {"breaks": [30, 60], "labels": ["<30", "30-59", "60+"]})
    >>> [category.canonical for category in age.categories]
    ['"age" < 30', '"age" < 60 AND "age" >= 30', '"age" >= 60']
    """
    if column in RESERVED_NAMES:
        raise ValueError(
            f"{quoted(column)} cannot be a dimension: published cells have a key of this name beside their categories; "
            "give the column another name"
        )
    try:
        printed_label(column)
        recode: Recode = ()
        if is_mapping(stated) and "recode" in stated:
            recode = _recode(stated["recode"])
            stated = {key: value for key, value in stated.items() if key != "recode"}
            stated = stated["values"] if set(stated) == {"values"} else stated
        categories, demand = _from_breaks(column, stated) if is_mapping(stated) else _from_list(column, stated)
        _check_labels(categories)
    except ValueError as error:
        raise ValueError(f"{quoted(column)} {error}") from None
    return Dimension(column, tuple(categories), demand, recode)


def _recode(stated: object) -> Recode:
    if not is_list(stated) or not stated:
        raise ValueError(f"has recode = {shown(stated)}; {_GROUPING}")
    return tuple(map(_grouping, stated))


def _grouping(stated: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    groups: list[tuple[str | None, Any]] = []
    match stated:
        case dict():
            groups = [*stated.items()]
        case list():
            groups = [(None, group) for group in stated]
    if not groups or not all(is_list(group) and group for _, group in groups):
        raise ValueError(f"has {shown(stated)} in recode; {_GROUPING}")
    members = [(label, tuple(map(category_label, group))) for label, group in groups]
    return tuple((printed_label(", ".join(own) if label is None else label), own) for label, own in members)


def category_label(value: object) -> str:
    """The label of the category that a plan states by this value.

    >>> category_label("north"), category_label(1), category_label(True)
    ('north', '1', 'true')
    """
    return _label_of(_constant(value, labelled=True))


def _from_list(column: str, stated: object) -> tuple[list[Category], ColumnType]:
    if not is_list(stated) or not stated:
        raise ValueError(f"is no dimension: {_DIMENSION}")
    reader = _ListReader(column)
    categories = [reader.category(entry, last=k == len(stated)) for k, entry in enumerate(stated, start=1)]
    return categories, reader.demand


@dataclass
class _ListReader:
    """Reads the categories of a list, and remembers which values they have taken."""

    column: str
    demand: ColumnType = "any"
    taken: set[Constant] = field(default_factory=set)
    null_taken: bool = False

    def category(self, entry: object, *, last: bool) -> Category:
        if entry == EVERYTHING_ELSE:
            if not last:
                raise ValueError(f'has "{EVERYTHING_ELSE}" before its last category: everything else comes last')
            return Category(EVERYTHING_ELSE, None)
        if is_mapping(entry):
            return self._labelled(entry)
        constant = self._constant(entry)
        return Category(_label_of(constant), atom(self.column, "IN", [constant]))

    def _labelled(self, entry: Mapping[str, Any]) -> Category:
        if set(entry) <= {"null", "label"} and entry.get("null") is True:
            if self.null_taken:
                raise ValueError("has { null = true } twice")
            self.null_taken = True
            return Category(_label(entry.get("label", _NULL)), Atom(self.column, "IS NULL"))
        values = entry.get("values")
        if set(entry) != {"values", "label"} or not is_list(values) or not values:
            raise ValueError(f"has the category {shown(entry)}; {_CATEGORY}")
        constants = [self._constant(value, labelled=True) for value in values]
        return Category(_label(entry["label"]), atom(self.column, "IN", constants))

    def _constant(self, value: object, *, labelled: bool = False) -> Constant:
        constant = _constant(value, labelled=labelled)
        if self.demand not in ("any", constant.type):
            raise ValueError(f"has a {self.demand} and a {constant.type} as values: a column has one type")
        if constant in self.taken:
            raise ValueError(f"has the value {shown(value)} twice: categories do not overlap")
        self.demand = constant.type
        self.taken.add(constant)
        return constant


def _from_breaks(column: str, stated: Mapping[str, Any]) -> tuple[list[Category], ColumnType]:
    if not {"breaks", "labels"} <= set(stated) <= {"breaks", "labels", "null"}:
        raise ValueError(f"is no dimension: {_DIMENSION}")
    breaks, labels = stated["breaks"], stated["labels"]
    if not is_list(breaks) or not breaks or not is_list(labels) or len(labels) != len(breaks) + 1:
        raise ValueError("needs a list of breaks, and one label more than breaks")
    ends = [_constant(value) for value in breaks]
    if any(end.type != "number" for end in ends):
        raise ValueError("has a break that is no number")
    for (one, other), (before, after) in zip(pairwise(breaks), pairwise(ends), strict=True):
        if Decimal(before.value) >= Decimal(after.value):
            raise ValueError(
                f"has the break {shown(other)} after {shown(one)}: breaks ascend, and no two of them are equal"
            )
    below = [atom(column, "<", [end]) for end in ends]
    above = [atom(column, ">=", [end]) for end in ends]
    conditions: list[Formula] = [
        below[0],
        *(junction(conjunction=True, operands=[low, high]) for low, high in zip(above, below[1:], strict=False)),
        above[-1],
    ]
    categories = [
        Category(_label(label), *both) for label, *both in zip(labels, conditions, [*below, above[-1]], strict=True)
    ]
    if "null" in stated:
        categories.append(Category(_label(stated["null"]), Atom(column, "IS NULL")))
    return categories, "number"


def _check_labels(categories: Sequence[Category]) -> None:
    labels = [category.label for category in categories]
    repeated = next((label for label in labels if labels.count(label) > 1), None) if _repeats(labels) else None
    if repeated is not None:
        raise ValueError(f"has two categories called {quoted(repeated)}")


def _repeats(labels: Sequence[str]) -> bool:
    return len(set(labels)) < len(labels)


def _constant(value: object, *, labelled: bool = False) -> Constant:
    match value:
        case bool():
            return Constant("boolean", "TRUE" if value else "FALSE")
        case str() if labelled and not value.strip():  # the empty text, and blanks, are values that need a label
            return Constant("text", _plain(value))
        case str():
            return Constant("text", printable(value, longest=200))
        case int() | Decimal():
            return Constant("number", plain_decimal(value))
        case _:
            raise ValueError(f"has the category {shown(value)}; {_CATEGORY}")


def _plain(value: str) -> str:
    if len(value) > 200 or unprintable(value) is not None:
        raise ValueError("has a value that is no text of at most 200 characters without control characters")
    return value


def plain_decimal(value: int | Decimal) -> str:
    """Write a decimal without leading or trailing zeros, as the constants of predicates are written."""
    number, most = Decimal(value), budget.MAX_PREDICATE_DIGITS
    if not number.is_finite() or abs(number.adjusted()) > _LONGEST:
        raise ValueError(f"has the number {shown(value)}, which is not a plain decimal of {most} digits")
    whole, _, fraction = f"{abs(number):f}".partition(".")
    whole, fraction = whole.lstrip("0"), fraction.rstrip("0")
    if len(whole) > most or len(fraction) > most:
        raise ValueError(f"has the number {shown(value)}, with more than {most} digits before or after the point")
    text = (whole or "0") + (f".{fraction}" if fraction else "")
    return f"-{text}" if number < 0 else text


def _label_of(constant: Constant) -> str:
    return constant.value.lower() if constant.type == "boolean" else constant.value


def _label(value: object) -> str:
    try:
        label = printed_label(value)
    except ValueError as error:
        raise ValueError(f"has the label {shown(value)}, which {error}") from None
    if label == EVERYTHING_ELSE:
        raise ValueError(f'has the label "{EVERYTHING_ELSE}", which is that of everything else')
    return label
