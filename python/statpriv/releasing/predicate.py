"""The predicate language of a plan: the grammar of a ``where`` and its normal form.

A ``where`` is never executed as written. SQLGlot parses it, every token and every node is checked
against an allow-list, and the accepted condition is rendered anew. Allowed are:

* ``AND``, ``OR``, ``NOT``, parentheses, comments (dropped);
* a column compared with a constant: ``= <> != < <= > >=``, ``IS [NOT] DISTINCT FROM``,
  ``[NOT] BETWEEN``, ``[NOT] IN (…)``, ``[NOT] LIKE`` with a constant pattern;
* ``IS [NOT] NULL``, ``IS [NOT] TRUE``, ``IS [NOT] FALSE``;
* constants: text ``'it''s'``, decimals ``-0.25``, ``TRUE``, ``FALSE``, ``DATE '2020-12-31'``.

Each of these is total on typed data: no cell value can make it fail, so a failure reveals nothing.

The normal form serves two purposes. Its rendering for an engine is the condition that is counted, and its
rendering in standard SQL identifies the property. SQL's three-valued logic makes equality of properties hard
to recognise in the text. The reader therefore translates the condition into the classical logic of "this
comparison is true" and "this comparison is not true":

    TRUE(x AND y)  = TRUE(x) and TRUE(y)      FALSE(x AND y) = FALSE(x) or FALSE(y)
    TRUE(NOT x)    = FALSE(x)                 FALSE(NOT x)   = TRUE(x)
    TRUE(c < k)    = "c < k"                  FALSE(c < k)   = "c >= k"     (orders are total)
    TRUE(x IS TRUE) = TRUE(x)                 FALSE(x IS TRUE) = not TRUE(x)

In classical logic, sorting and merging are sound, and most spellings of a property get the same text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import NoReturn

from statpriv import budget
from statpriv.errors import PlanError
from statpriv.releasing.predicate_formula import (
    MIRRORED,
    OPPOSITES,
    Atom,
    ColumnType,
    Constant,
    Formula,
    Spelling,
    atom,
    junction,
)
from statpriv.releasing.predicate_grammar import NOT_DECIMAL, WORD, Node, RefusedError, exp, parse
from statpriv.releasing.sql_text import identifier, quoted, text_literal

__all__ = ["ColumnType", "Predicate"]

# The engine's own name for the position of a row, in every table without a column of that name.
_ENGINE_COLUMNS = frozenset({"rowid"})


@dataclass(frozen=True)
class Predicate:
    """A ``where`` that passed the allow-list.

    Two predicates are equal exactly if their canonical texts are equal; equal predicates hold on the same rows.

    Attributes
    ----------
    text
        The ``where`` as written, for human readers.
    canonical
        The condition that is counted, in classical normal form: sorted, with quoted identifiers.
    demands
        Each column, in order of appearance, with the type that its constants require
        (``"any"`` if the column occurs only in ``IS NULL``).
    equated
        The columns that some comparison tests for equality or inequality with a constant.

    Examples
    --------
    >>> Predicate.parse("NOT (5 <= age) and vote in (2, 1.0)").canonical
    '"age" < 5 AND "vote" IN (1, 2)'
    >>> Predicate.parse("vote in (1,02) AND age < 5.0 -- the young").column_types
    {'vote': 'number', 'age': 'number'}
    """

    canonical: str
    demands: tuple[tuple[str, ColumnType], ...] = field(compare=False)
    equated: frozenset[str] = field(compare=False)
    text: str = field(compare=False)
    _formula: Formula = field(compare=False, repr=False)

    @classmethod
    def parse(cls, where: str, *, row_id: str | None = None) -> Predicate:
        """Parse a condition and check it against the language.

        Parameters
        ----------
        where
            A condition in the language of this module, at most 4096 characters.
        row_id
            The column that identifies rows. No predicate may name it, in upper or lower case.

        Raises
        ------
        PlanError
            With a message that says what is not allowed and what to write instead. It quotes only the condition.
        """
        try:
            reading = _Reading(row_id)
            formula = reading.condition(parse(where), value=True)
            equated = frozenset(atom.column for atom in formula.atoms() if atom.operator in {"IN", "NOT IN"})
            return cls(formula.sql(), reading.demands(), equated, where, formula)
        except RefusedError as refused:
            raise PlanError(f"where = {quoted(where)}: {refused}") from None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, exactly as written, without repetition."""
        return tuple(column for column, _ in self.demands)

    @property
    def comparisons(self) -> tuple[Atom, ...]:
        """The comparisons of its normal form, in order."""
        return tuple(self._formula.atoms())

    @property
    def place(self) -> str:
        """How messages about a table call the predicate."""
        return f"where = {quoted(self.text)}"

    @property
    def subject(self) -> str:
        """What compares the columns, in messages."""
        return "the predicate"

    @property
    def column_types(self) -> dict[str, ColumnType]:
        """The type that each column must have so that its comparisons are defined on every value."""
        return dict(self.demands)

    def sql(self, column: Spelling | None = None, text: Spelling | None = None) -> str:
        """Render the condition for an engine: TRUE or FALSE on every row, never NULL.

        Parameters
        ----------
        column
            Maps a column name to the engine's SQL for the column; by default the quoted name.
        text
            Maps a text constant to the engine's SQL for it; by default that of the standard, ``'it''s'``.

        Examples
        --------
        >>> Predicate.parse("age >= 18").sql(lambda name: f"typed.{name}")
        'COALESCE((typed.age >= 18), FALSE)'
        """
        return f"COALESCE(({self._formula.sql(column or identifier, text or text_literal)}), FALSE)"


_COMPARISONS: dict[type, str] = {
    exp.EQ: "IN",
    exp.NEQ: "NOT IN",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_COLUMN_AND_CONSTANT = "a comparison takes one column and one constant, such as age >= 18; join several with AND"


class _Reading:
    """One pass over the tree that collects the columns and the types required by their constants."""

    def __init__(self, row_id: str | None) -> None:
        self._row_id = None if row_id is None else row_id.casefold()
        self._columns: dict[str, None] = {}
        self._types: dict[str, ColumnType] = {}
        self._inside_null_test = False

    def demands(self) -> tuple[tuple[str, ColumnType], ...]:
        # Names are case-insensitive in SQL, so two spellings of a name require one type.
        return tuple((name, self._types[name.casefold()]) for name in self._columns)

    def condition(self, node: Node, *, value: bool) -> Formula:
        """The formula of classical logic that says when the condition is TRUE (``value``) or FALSE."""
        node = node.unnest()
        read = _CONDITIONS.get(type(node)) or _refuse_as_condition(node)
        return read(self, node, value=value)

    def not_(self, node: Node, *, value: bool) -> Formula:
        return self.condition(node.this, value=not value)

    def junction(self, node: Node, *, value: bool) -> Formula:
        operands = [self.condition(operand, value=value) for operand in _operands(node)]
        return junction(conjunction=(type(node) is exp.And) == value, operands=operands)

    def comparison(self, node: Node, *, value: bool) -> Formula:
        operator = _COMPARISONS[type(node)]
        return self._compared(node, operator if value else OPPOSITES[operator])

    def null_safe(self, node: Node, *, value: bool) -> Formula:
        equal = self._compared(node, "IN")
        return equal if (type(node) is exp.NullSafeEQ) == value else equal.negated()

    def between(self, node: Node, *, value: bool) -> Formula:
        column = self._column(node.this.unnest(), "BETWEEN takes a column and two constants")
        bounds = [self._constant(column, node.args[end].unnest()) for end in ("low", "high")]
        if bounds[0].type == "boolean":
            raise RefusedError("TRUE and FALSE have no order here: use =, <>, IN or IS")
        operators = (">=", "<=") if value else ("<", ">")
        atoms = [atom(column, op, [bound]) for op, bound in zip(operators, bounds, strict=True)]
        return junction(conjunction=value, operands=atoms)

    def in_(self, node: Node, *, value: bool) -> Formula:
        rule = "IN takes a column and a list of constants, such as vote IN (1, 2)"
        column = self._column(node.this.unnest(), rule)
        if not node.expressions:
            raise RefusedError(rule)
        constants = [self._constant(column, item.unnest()) for item in node.expressions]
        return atom(column, "IN" if value else "NOT IN", constants)

    def like(self, node: Node, *, value: bool) -> Formula:
        column = self._column(node.this.unnest(), "LIKE takes a column and a pattern in quotes")
        pattern = node.expression.unnest()
        if type(pattern) is not exp.Literal or not pattern.is_string:
            raise RefusedError("the pattern of LIKE must be a constant text in quotes, such as name LIKE 'A%'")
        if pattern.this.count("%") > budget.MAX_PERCENT_SIGNS:
            raise RefusedError(f"the pattern of LIKE may hold at most {budget.MAX_PERCENT_SIGNS} '%'")
        if "\\" in pattern.this:
            raise RefusedError("the pattern of LIKE may not hold a backslash, which engines read differently")
        like = value != bool(node.args.get("negate"))
        return atom(column, "LIKE" if like else "NOT LIKE", [self._constant(column, pattern)])

    def is_(self, node: Node, *, value: bool) -> Formula:
        subject, state = node.this.unnest(), node.expression.unnest()
        if type(state) is exp.Null:
            null = self._null(subject)
            return null if value else null.negated()
        if type(state) is not exp.Boolean:
            raise RefusedError("IS takes NULL, TRUE, FALSE or DISTINCT FROM a constant; use = for other constants")
        if type(subject) is exp.Column:
            column = self._column(subject, _COLUMN_AND_CONSTANT)
            holds: Formula = atom(column, "IN", [self._constant(column, state)])
        else:
            holds = self.condition(subject, value=state.this)
        return holds if value else holds.negated()

    def _null(self, subject: Node) -> Formula:
        """The formula for "the subject is NULL": a condition is NULL if it is neither true nor false."""
        if type(subject) is exp.Column:
            column = self._column(subject, _COLUMN_AND_CONSTANT)
            self._types.setdefault(column.casefold(), "any")
            return Atom(column, "IS NULL")
        if self._inside_null_test:  # each nested level would double the length of the text
            raise RefusedError("IS NULL of a condition cannot be nested in another: test the columns themselves")
        self._inside_null_test = True
        states = [self.condition(subject, value=value).negated() for value in (True, False)]
        self._inside_null_test = False
        return junction(conjunction=True, operands=states)

    def _compared(self, node: Node, operator: str) -> Atom:
        left, right = node.this.unnest(), node.expression.unnest()
        if type(right) is exp.Column and type(left) is not exp.Column:
            left, right, operator = right, left, MIRRORED[operator]
        column = self._column(left, _COLUMN_AND_CONSTANT)
        constant = self._constant(column, right)
        if constant.type == "boolean" and operator not in {"IN", "NOT IN"}:
            raise RefusedError("TRUE and FALSE have no order here: use =, <>, IN or IS")
        return atom(column, operator, [constant])

    def _column(self, node: Node, rule: str) -> str:
        if type(node) is not exp.Column:
            raise RefusedError(rule)
        name = node.name
        folded = name.casefold()
        if not name:
            raise RefusedError("the name of a column is empty")
        if folded == self._row_id:
            raise RefusedError(f"{quoted(name)} identifies rows (row_id), and no predicate may single out rows")
        if folded in _ENGINE_COLUMNS:
            raise RefusedError(f"{quoted(name)} is the position of a row, and no predicate may single out rows")
        self._columns.setdefault(name)
        return str(name)

    def _constant(self, column: str, node: Node) -> Constant:
        constant = _constant(column, node)
        demanded = self._types.get(column.casefold(), "any")
        if demanded not in {"any", constant.type}:
            raise RefusedError(
                f"{quoted(column)} is compared with a {demanded} and with a {constant.type}: a column has one type"
            )
        self._types[column.casefold()] = constant.type
        return constant


_CONDITIONS: dict[type, Callable[..., Formula]] = {
    exp.Not: _Reading.not_,
    exp.And: _Reading.junction,
    exp.Or: _Reading.junction,
    **dict.fromkeys(_COMPARISONS, _Reading.comparison),
    exp.NullSafeEQ: _Reading.null_safe,
    exp.NullSafeNEQ: _Reading.null_safe,
    exp.Between: _Reading.between,
    exp.In: _Reading.in_,
    exp.Like: _Reading.like,
    exp.Is: _Reading.is_,
}


def _operands(node: Node) -> list[Node]:
    """Unroll a chain of one operator, which SQLGlot nests to the left to the length of the chain."""
    operands, chain = [], node
    while type(chain) is type(node):
        operands.append(chain.expression)
        chain = chain.this
    return [chain, *reversed(operands)]


def _constant(column: str, node: Node) -> Constant:
    kind = type(node)
    if kind is exp.Literal and node.is_string:
        return Constant("text", node.this)
    if kind is exp.Literal:
        return Constant("number", _decimal(node.this))
    if kind is exp.Neg and type(node.this) is exp.Literal and not node.this.is_string:
        return Constant("number", _decimal("-" + node.this.this))
    if kind is exp.Boolean:
        return Constant("boolean", "TRUE" if node.this else "FALSE")
    if kind is exp.Cast:
        return Constant("date", _day(node))
    if kind is exp.Null:
        name = column if WORD.fullmatch(column) else quoted(column)
        raise RefusedError(f"NULL is not a value to compare with: write {name} IS NULL or {name} IS NOT NULL")
    if kind is exp.Column:
        raise RefusedError("two columns cannot be compared, only a column with a constant; text needs single quotes")
    raise RefusedError(_COLUMN_AND_CONSTANT)


def _decimal(written: str) -> str:
    """Return the unique spelling of a decimal: no leading or trailing zeros, no exponent, no minus zero."""
    sign = "-" if written.startswith("-") else ""
    whole, _, fraction = written.removeprefix("-").partition(".")
    whole, fraction = whole.lstrip("0"), fraction.rstrip("0")
    if not re.fullmatch("[0-9]*", whole + fraction):
        raise RefusedError(f"the number {quoted(written)} {NOT_DECIMAL}")
    if len(whole) > budget.MAX_PREDICATE_DIGITS or len(fraction) > budget.MAX_PREDICATE_DIGITS:
        raise RefusedError(
            f"the number {quoted(written)} has more than {budget.MAX_PREDICATE_DIGITS} digits before or after the point"
        )
    digits = (whole or "0") + ("." + fraction if fraction else "")
    return digits if digits == "0" else sign + digits


def _day(node: Node) -> str:
    written = node.this
    if node.args["to"].this != exp.DataType.Type.DATE or type(written) is not exp.Literal:
        raise RefusedError("casts are not allowed")
    try:
        day = date.fromisoformat(written.this).isoformat()
    except ValueError:
        day = None
    if day is None or day != written.this:  # later Python versions of fromisoformat accept other spellings
        raise RefusedError(f"{quoted(written.this)} is not a day of the calendar, written as 2020-12-31")
    return day


def _refuse_as_condition(node: Node) -> NoReturn:
    if type(node) is exp.Column:
        name = node.name if WORD.fullmatch(node.name) else quoted(node.name)
        raise RefusedError(
            f"the column {name} alone is not a condition: write {name} = TRUE, {name} <> 0 or {name} IS NOT NULL"
        )
    raise RefusedError("a constant alone is not a condition: compare a column with it")
