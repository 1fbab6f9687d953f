"""The predicate language of a plan: what a ``where`` may say, and what it comes to.

A ``where`` is never executed as written. SQLGlot parses it, every token and every node is checked
against an allow-list, and what passes is rendered anew:

* ``AND``, ``OR``, ``NOT``, parentheses, comments (dropped);
* a column compared with a constant: ``= <> != < <= > >=``, ``IS [NOT] DISTINCT FROM``,
  ``[NOT] BETWEEN``, ``[NOT] IN (…)``, ``[NOT] LIKE`` with a constant pattern;
* ``IS [NOT] NULL``, ``IS [NOT] TRUE``, ``IS [NOT] FALSE``;
* constants: text ``'it''s'``, decimals ``-0.25``, ``TRUE``, ``FALSE``, ``DATE '2020-12-31'``.

Every one of these is total on typed data: no value in any cell can make it fail, so a failure
can tell nobody anything.

One normal form serves two ends: rendered for an engine it is what is counted, and its rendering in
standard SQL is the identity of the property.
SQL's three-valued logic makes that hard to see on the text, so the reading turns it into the
classical logic of "this comparison is true" and "this comparison is not true":

    TRUE(x AND y)  = TRUE(x) and TRUE(y)      FALSE(x AND y) = FALSE(x) or FALSE(y)
    TRUE(NOT x)    = FALSE(x)                 FALSE(NOT x)   = TRUE(x)
    TRUE(c < k)    = "c < k"                  FALSE(c < k)   = "c >= k"     (orders are total)
    TRUE(x IS TRUE) = TRUE(x)                 FALSE(x IS TRUE) = not TRUE(x)

There, sorting and merging are safe, and two spellings of one property mostly become one text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

from statpriv import budget
from statpriv.errors import MissingExtraError, PlanError

try:
    from sqlglot import Dialect, ParseError, TokenError, TokenType, exp
except ImportError as missing:
    raise MissingExtraError("a plan needs SQLGlot: pip install 'statpriv[release]'") from missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlglot import Token

__all__ = ["ColumnType", "Predicate", "identifier", "quoted", "text_literal", "unprintable"]

ColumnType: TypeAlias = Literal["number", "text", "date", "boolean", "any"]
_Spelling: TypeAlias = Callable[[str], str]
_Node: TypeAlias = Any  # SQLGlot's base class of nodes has another name from version to version


# The engine's own name for the position of a row, in every table that has no such column.
_ENGINE_COLUMNS = frozenset({"rowid"})


@dataclass(frozen=True)
class Predicate:
    """A ``where`` that passed the allow-list.

    Two predicates are equal exactly when their canonical texts are; equal ones hold on the same rows.

    Attributes
    ----------
    text
        The ``where`` as written, for people to read.
    canonical
        The condition as it is counted: quoted identifiers, sorted, in classical normal form.
    demands
        Each column, in order of appearance, with the type that its constants demand
        (``"any"`` where only ``IS NULL`` asks for it).
    equated
        The columns that some comparison asks to equal a constant, or not to.

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
    _formula: _Formula = field(compare=False, repr=False)

    @classmethod
    def parse(cls, where: str, *, row_id: str | None = None) -> Predicate:
        """Read and restrict a condition.

        Parameters
        ----------
        where
            A condition in the language of this module, at most 4096 characters.
        row_id
            The column that identifies rows, which no predicate may name, in any case of letters.

        Raises
        ------
        PlanError
            Saying what is not allowed and what to write instead; it quotes the condition alone.
        """
        try:
            _check_characters(where)
            tree = _parse(where)
            reading = _Reading(row_id)
            formula = reading.condition(tree, value=True)
            equated = frozenset(atom.column for atom in formula.atoms() if atom.operator in {"IN", "NOT IN"})
            return cls(formula.sql(), reading.demands(), equated, where, formula)
        except _RefusedError as refused:
            raise PlanError(f"where = {quoted(where)}: {refused}") from None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, exactly as written, each once."""
        return tuple(column for column, _ in self.demands)

    @property
    def column_types(self) -> dict[str, ColumnType]:
        """The type that each column must have for the comparisons to be defined on every value."""
        return dict(self.demands)

    def sql(self, column: _Spelling | None = None, text: _Spelling | None = None) -> str:
        """Render for an engine: TRUE or FALSE on every row, never NULL.

        Parameters
        ----------
        column
            Gives the engine's SQL for a column of that name; by default the quoted name itself.
        text
            Gives the engine's SQL for a text constant; by default that of the standard, ``'it''s'``.

        Examples
        --------
        >>> Predicate.parse("age >= 18").sql(lambda name: f"typed.{name}")
        'COALESCE((typed.age >= 18), FALSE)'
        """
        return f"COALESCE(({self._formula.sql(column or identifier, text or text_literal)}), FALSE)"


def identifier(name: str) -> str:
    """Quote a name in standard SQL."""
    return '"' + name.replace('"', '""') + '"'


def text_literal(value: str) -> str:
    """Quote a text in standard SQL, where a backslash is a character like any other."""
    return "'" + value.replace("'", "''") + "'"


class _RefusedError(Exception):
    """A reason for a refusal, without the condition it is about."""


# --- characters -------------------------------------------------------------------------------


def unprintable(text: str) -> str | None:
    """Name the first character that a reader could not see or that reorders its neighbours.

    Control, separator, surrogate and format characters (the bidirectional ones among them); the two
    joiners that Persian and Indic words are spelled with are allowed.
    """
    for character in text:
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and character not in "\u200c\u200d":
            return f"U+{ord(character):04X}"
    return None


def quoted(text: str, *, longest: int = 80) -> str:
    """Quote for a message: one line, escapes for what cannot be seen, and not too long."""
    shown = text if len(text) <= longest else text[: longest - 1] + "…"
    escaped = (c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in shown)
    return '"' + "".join(escaped) + '"'


def _check_characters(where: str) -> None:
    if len(where) > budget.MAX_PREDICATE_CHARACTERS:
        raise _RefusedError(f"it has {len(where)} characters; at most {budget.MAX_PREDICATE_CHARACTERS} are allowed")
    if (character := unprintable(where)) is not None:
        raise _RefusedError(
            f"it holds the character {character}; control characters, line breaks and characters that "
            "change the direction of writing are not allowed: write the condition on one line"
        )


# --- tokens -----------------------------------------------------------------------------------

_SYMBOLS = frozenset(
    {
        TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE,
        TokenType.L_PAREN, TokenType.R_PAREN, TokenType.COMMA, TokenType.DASH, TokenType.DOT,
    }
)  # fmt: skip
_KEYWORDS = frozenset(
    {
        TokenType.AND, TokenType.OR, TokenType.NOT, TokenType.IS, TokenType.NULL, TokenType.TRUE,
        TokenType.FALSE, TokenType.BETWEEN, TokenType.IN, TokenType.LIKE, TokenType.DISTINCT, TokenType.FROM,
    }
)  # fmt: skip
# DATE begins a constant, and is also too common a name of a column to be refused.
_NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER, TokenType.DATE})
_CONSTANTS = frozenset({TokenType.STRING, TokenType.NUMBER})
_ALLOWED_TOKENS = _SYMBOLS | _KEYWORDS | _NAMES | _CONSTANTS
_BETWEEN_TOKENS = re.compile(r"(\s|--.*|/\*((?!\*/).)*\*/)*")  # no line breaks get here
_PLAIN_DECIMAL = re.compile(r"[0-9]+(\.[0-9]*)?")
_WORD = re.compile(r"[^\W\d][\w$]*")

_ARITHMETIC = "arithmetic is not allowed: compare the column itself with a constant"
_PARAMETER = "parameters are not allowed: write the constant itself"
_NOT_DECIMAL = "is not a plain decimal such as 1000 or 0.25"
_QUOTES = "text is written in single quotes, with no prefix: 'it''s'"
_REASONS = {
    ";": "only one condition is allowed, without ';'",
    **dict.fromkeys(["+", "*", "/", "%", "^", "**", "//", "||"], _ARITHMETIC),
    **dict.fromkeys(["@", "$", "?", ":", "#"], _PARAMETER),
    "{": "templates and braces are not allowed",
    "::": "casts are not allowed",
    "ILIKE": "ILIKE is not allowed: write LIKE, or IN with every spelling",
    "ESCAPE": "LIKE takes no ESCAPE",
    "ISNULL": "write IS NULL",
    "NOTNULL": "write IS NOT NULL",
    "UNKNOWN": "write IS NULL; a column of that name needs double quotes",
}


def _parse(where: str) -> _Node:
    dialect = Dialect.get_or_raise("duckdb")
    try:
        tokens = dialect.tokenize(where)
    except TokenError:
        raise _RefusedError("a quote or a comment is opened and not closed") from None
    if not tokens:
        raise _RefusedError("it is empty; write a condition such as age >= 18")
    _check_tokens(where, tokens)
    _check_nesting(tokens)
    try:
        trees = dialect.parser().parse_into(exp.Condition, tokens, where)
    except ParseError as error:
        near = str(error.errors[0].get("highlight") or "") if error.errors else ""
        place = f" near {quoted(near)}" if near else ""
        raise _RefusedError(
            f"it cannot be read{place}; write comparisons such as age >= 18, joined by AND, OR and NOT"
        ) from None
    if len(trees) != 1 or trees[0] is None:
        raise _RefusedError("exactly one condition is allowed")
    _check_tree(trees[0])
    return trees[0]


def _check_tokens(where: str, tokens: list[Token]) -> None:
    """Let through what the grammar of this module can use; most of SQL ends here, before it is parsed."""
    written = [where[token.start : token.end + 1] for token in tokens]
    ends = [-1, *(token.end for token in tokens)]
    starts = [*(token.start for token in tokens), len(where)]
    for end, start in zip(ends, starts, strict=True):
        if not _BETWEEN_TOKENS.fullmatch(where, end + 1, start):
            raise _RefusedError(f"{quoted(where[end + 1 : start].strip())} is not allowed")
    for (token, text), (after, after_text) in pairwise(zip(tokens, written, strict=True)):
        if token.token_type in _NAMES and after.token_type is TokenType.L_PAREN:
            raise _RefusedError(
                f"{quoted(text + '(…)')}: functions, casts and subqueries are not allowed; "
                "compare columns with constants"
            )
        if token.token_type is TokenType.NUMBER and after.start == token.end + 1 and _WORD.match(after_text):
            raise _RefusedError(f"the number {quoted(text + after_text)} {_NOT_DECIMAL}")
    for token, text in zip(tokens, written, strict=True):
        _check_token(token, text)


def _check_token(token: Token, text: str) -> None:
    kind = token.token_type
    if kind is TokenType.NUMBER and not _PLAIN_DECIMAL.fullmatch(text):
        raise _RefusedError(f"the number {quoted(text)} {_NOT_DECIMAL}")
    if kind is TokenType.STRING and not text.startswith("'"):
        raise _RefusedError(f"{quoted(text)} is not allowed: {_QUOTES}")
    if kind in _ALLOWED_TOKENS:
        return
    if reason := _REASONS.get(text.upper()):
        raise _RefusedError(f"{quoted(text)}: {reason}")
    if _WORD.fullmatch(text):
        raise _RefusedError(
            f"{quoted(text)} is a word of SQL that this language does not have; a column of that name "
            "needs double quotes around it"
        )
    if text.endswith(("'", "$")):
        raise _RefusedError(f"{quoted(text)} is not allowed: {_QUOTES}")
    raise _RefusedError(f"{quoted(text)} is not allowed")


def _check_nesting(tokens: list[Token]) -> None:
    """Bound the depth of the parser's recursion before it begins: parentheses, and runs of NOT."""
    levels: list[int] = []
    run = 0
    for token in tokens:
        kind = token.token_type
        if kind is TokenType.L_PAREN:
            levels.append(run + 1)
            run = 0
        elif kind is TokenType.R_PAREN and not levels:
            raise _RefusedError("a ')' closes a parenthesis that was never opened")
        elif kind is TokenType.R_PAREN:
            levels.pop()
            run = 0
        else:
            run = run + 1 if kind in {TokenType.NOT, TokenType.DASH} else 0
        if sum(levels) + run > budget.MAX_PREDICATE_DEPTH:
            raise _RefusedError(f"parentheses and NOT are nested more than {budget.MAX_PREDICATE_DEPTH} deep")
    if levels:
        raise _RefusedError("a parenthesis is opened and not closed")


# --- the normal form --------------------------------------------------------------------------

_OPPOSITES = {
    "IN": "NOT IN", "NOT IN": "IN", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
    "LIKE": "NOT LIKE", "NOT LIKE": "LIKE",
}  # fmt: skip
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "IN": "IN", "NOT IN": "NOT IN"}


@dataclass(frozen=True)
class _Constant:
    """A constant of a type, in its only spelling."""

    type: ColumnType
    value: str

    def sql(self, text: _Spelling) -> str:
        if self.type == "text":
            return text(self.value)
        return f"DATE '{self.value}'" if self.type == "date" else self.value


@dataclass(frozen=True)
class _Atom:
    """A comparison of a column with constants; with ``true`` it is true, without it is false or NULL."""

    column: str
    operator: str
    constants: frozenset[_Constant] = frozenset()
    true: bool = True

    def sql(self, column: _Spelling = identifier, text: _Spelling = text_literal) -> str:
        name = column(self.column)
        if self.operator == "IS NULL":
            return f"{name} IS NULL" if self.true else f"{name} IS NOT NULL"
        comparison = f"{name} {self._operation(text)}"
        return comparison if self.true else f"({comparison}) IS NOT TRUE"

    def _operation(self, text: _Spelling) -> str:
        constants = sorted(constant.sql(text) for constant in self.constants)
        if len(constants) > 1:
            return f"{self.operator} ({', '.join(constants)})"
        symbol = {"IN": "=", "NOT IN": "<>"}.get(self.operator, self.operator)
        return f"{symbol} {constants[0]}"

    def negated(self) -> _Atom:
        return replace(self, true=not self.true)

    def atoms(self) -> Iterator[_Atom]:
        yield self


@dataclass(frozen=True)
class _Junction:
    operator: Literal["AND", "OR"]
    operands: tuple[_Formula, ...]

    def sql(self, column: _Spelling = identifier, text: _Spelling = text_literal) -> str:
        rendered = ((x, x.sql(column, text)) for x in self.operands)
        return f" {self.operator} ".join(f"({sql})" if isinstance(x, _Junction) else sql for x, sql in rendered)

    def negated(self) -> _Formula:
        return _junction(conjunction=self.operator == "OR", operands=[x.negated() for x in self.operands])

    def atoms(self) -> Iterator[_Atom]:
        for operand in self.operands:
            yield from operand.atoms()


_Formula: TypeAlias = "_Atom | _Junction"


def _junction(*, conjunction: bool, operands: Iterable[_Formula]) -> _Formula:
    """Flatten, merge lists of one column, drop repetitions, sort: all of them hold in classical logic."""
    operator: Literal["AND", "OR"] = "AND" if conjunction else "OR"
    parts: set[_Formula] = set()
    lists: dict[_Atom, frozenset[_Constant]] = {}
    for part in _flattened(operator, operands):
        # c = 1 OR c = 2 is c IN (1, 2), and c <> 1 AND c <> 2 is c NOT IN (1, 2); so are their negations.
        if (
            isinstance(part, _Atom)
            and part.operator in {"IN", "NOT IN"}
            and (((part.operator == "IN") == part.true) != conjunction)
        ):
            key = replace(part, constants=frozenset())
            lists[key] = lists.get(key, frozenset()) | part.constants
        else:
            parts.add(part)
    parts.update(replace(key, constants=constants) for key, constants in lists.items())
    ordered = sorted(parts, key=lambda part: part.sql())
    return ordered[0] if len(ordered) == 1 else _Junction(operator, tuple(ordered))


def _flattened(operator: str, operands: Iterable[_Formula]) -> Iterator[_Formula]:
    for operand in operands:
        if isinstance(operand, _Junction) and operand.operator == operator:
            yield from operand.operands
        else:
            yield operand


# --- from SQLGlot's tree to the normal form ---------------------------------------------------


# The parts that a node may have. SQLGlot hangs every further meaning (symmetric, subquery, escape, …)
# on another part, so whatever has one is refused, whichever version of SQLGlot made it.
_PARTS: dict[type, frozenset[str]] = {
    exp.Paren: frozenset({"this"}),
    exp.Not: frozenset({"this"}),
    exp.Neg: frozenset({"this"}),
    exp.And: frozenset({"this", "expression"}),
    exp.Or: frozenset({"this", "expression"}),
    exp.Is: frozenset({"this", "expression"}),
    exp.In: frozenset({"this", "expressions"}),
    exp.Between: frozenset({"this", "low", "high"}),
    exp.Like: frozenset({"this", "expression", "negate"}),
    exp.EQ: frozenset({"this", "expression"}),
    exp.NEQ: frozenset({"this", "expression"}),
    exp.LT: frozenset({"this", "expression"}),
    exp.LTE: frozenset({"this", "expression"}),
    exp.GT: frozenset({"this", "expression"}),
    exp.GTE: frozenset({"this", "expression"}),
    exp.NullSafeEQ: frozenset({"this", "expression"}),
    exp.NullSafeNEQ: frozenset({"this", "expression"}),
    exp.Column: frozenset({"this"}),
    exp.Identifier: frozenset({"this", "quoted"}),
    exp.Literal: frozenset({"this", "is_string"}),
    exp.Boolean: frozenset({"this"}),
    exp.Null: frozenset(),
    exp.Cast: frozenset({"this", "to"}),
    exp.DataType: frozenset({"this"}),
}
_UNCOUNTED = (exp.Paren, exp.Identifier, exp.DataType)
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
    """One pass over the tree; it collects the columns and the types that their constants demand."""

    def __init__(self, row_id: str | None) -> None:
        self._row_id = None if row_id is None else row_id.casefold()
        self._columns: dict[str, None] = {}
        self._types: dict[str, ColumnType] = {}
        self._inside_null_test = False

    def demands(self) -> tuple[tuple[str, ColumnType], ...]:
        # Names are case-insensitive in SQL, so two spellings of one name demand one type.
        return tuple((name, self._types[name.casefold()]) for name in self._columns)

    def condition(self, node: _Node, *, value: bool) -> _Formula:
        """Say, in classical logic, when the condition is TRUE (``value``), or when it is FALSE."""
        node = node.unnest()
        read = _CONDITIONS.get(type(node)) or _refuse_as_condition(node)
        return read(self, node, value=value)

    def not_(self, node: _Node, *, value: bool) -> _Formula:
        return self.condition(node.this, value=not value)

    def junction(self, node: _Node, *, value: bool) -> _Formula:
        operands = [self.condition(operand, value=value) for operand in _operands(node)]
        return _junction(conjunction=(type(node) is exp.And) == value, operands=operands)

    def comparison(self, node: _Node, *, value: bool) -> _Formula:
        operator = _COMPARISONS[type(node)]
        return self._compared(node, operator if value else _OPPOSITES[operator])

    def null_safe(self, node: _Node, *, value: bool) -> _Formula:
        equal = self._compared(node, "IN")
        return equal if (type(node) is exp.NullSafeEQ) == value else equal.negated()

    def between(self, node: _Node, *, value: bool) -> _Formula:
        column = self._column(node.this.unnest(), "BETWEEN takes a column and two constants")
        bounds = [self._constant(column, node.args[end].unnest()) for end in ("low", "high")]
        if bounds[0].type == "boolean":
            raise _RefusedError("TRUE and FALSE have no order here: use =, <>, IN or IS")
        operators = (">=", "<=") if value else ("<", ">")
        atoms = [_atom(column, op, [bound]) for op, bound in zip(operators, bounds, strict=True)]
        return _junction(conjunction=value, operands=atoms)

    def in_(self, node: _Node, *, value: bool) -> _Formula:
        rule = "IN takes a column and a list of constants, such as vote IN (1, 2)"
        column = self._column(node.this.unnest(), rule)
        if not node.expressions:
            raise _RefusedError(rule)
        constants = [self._constant(column, item.unnest()) for item in node.expressions]
        return _atom(column, "IN" if value else "NOT IN", constants)

    def like(self, node: _Node, *, value: bool) -> _Formula:
        column = self._column(node.this.unnest(), "LIKE takes a column and a pattern in quotes")
        pattern = node.expression.unnest()
        if type(pattern) is not exp.Literal or not pattern.is_string:
            raise _RefusedError("the pattern of LIKE must be a constant text in quotes, such as name LIKE 'A%'")
        if pattern.this.count("%") > budget.MAX_PERCENT_SIGNS:
            raise _RefusedError(f"the pattern of LIKE may hold at most {budget.MAX_PERCENT_SIGNS} '%'")
        if "\\" in pattern.this:
            raise _RefusedError("the pattern of LIKE may not hold a backslash, which engines read differently")
        like = value != bool(node.args.get("negate"))
        return _atom(column, "LIKE" if like else "NOT LIKE", [self._constant(column, pattern)])

    def is_(self, node: _Node, *, value: bool) -> _Formula:
        subject, state = node.this.unnest(), node.expression.unnest()
        if type(state) is exp.Null:
            null = self._null(subject)
            return null if value else null.negated()
        if type(state) is not exp.Boolean:
            raise _RefusedError("IS takes NULL, TRUE, FALSE or DISTINCT FROM a constant; use = for other constants")
        if type(subject) is exp.Column:
            column = self._column(subject, _COLUMN_AND_CONSTANT)
            holds: _Formula = _atom(column, "IN", [self._constant(column, state)])
        else:
            holds = self.condition(subject, value=state.this)
        return holds if value else holds.negated()

    def _null(self, subject: _Node) -> _Formula:
        """Say when the subject is NULL: for a condition, when it is neither true nor false."""
        if type(subject) is exp.Column:
            column = self._column(subject, _COLUMN_AND_CONSTANT)
            self._types.setdefault(column.casefold(), "any")
            return _Atom(column, "IS NULL")
        if self._inside_null_test:  # each level would double the text
            raise _RefusedError("IS NULL of a condition cannot be nested in another: test the columns themselves")
        self._inside_null_test = True
        states = [self.condition(subject, value=value).negated() for value in (True, False)]
        self._inside_null_test = False
        return _junction(conjunction=True, operands=states)

    def _compared(self, node: _Node, operator: str) -> _Atom:
        left, right = node.this.unnest(), node.expression.unnest()
        if type(right) is exp.Column and type(left) is not exp.Column:
            left, right, operator = right, left, _MIRRORED[operator]
        column = self._column(left, _COLUMN_AND_CONSTANT)
        constant = self._constant(column, right)
        if constant.type == "boolean" and operator not in {"IN", "NOT IN"}:
            raise _RefusedError("TRUE and FALSE have no order here: use =, <>, IN or IS")
        return _atom(column, operator, [constant])

    def _column(self, node: _Node, rule: str) -> str:
        if type(node) is not exp.Column:
            raise _RefusedError(rule)
        name = node.name
        folded = name.casefold()
        if not name:
            raise _RefusedError("the name of a column is empty")
        if folded == self._row_id:
            raise _RefusedError(f"{quoted(name)} identifies rows (row_id), and no predicate may single out rows")
        if folded in _ENGINE_COLUMNS:
            raise _RefusedError(f"{quoted(name)} is the position of a row, and no predicate may single out rows")
        self._columns.setdefault(name)
        return str(name)

    def _constant(self, column: str, node: _Node) -> _Constant:
        constant = _constant(column, node)
        demanded = self._types.get(column.casefold(), "any")
        if demanded not in {"any", constant.type}:
            raise _RefusedError(
                f"{quoted(column)} is compared with a {demanded} and with a {constant.type}: a column has one type"
            )
        self._types[column.casefold()] = constant.type
        return constant


_CONDITIONS: dict[type, Callable[..., _Formula]] = {
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


def _operands(node: _Node) -> list[_Node]:
    """Unroll a chain of one operator, which SQLGlot nests to the left as deep as the chain is long."""
    operands, chain = [], node
    while type(chain) is type(node):
        operands.append(chain.expression)
        chain = chain.this
    return [chain, *reversed(operands)]


_TRUTH_VALUES = frozenset({_Constant("boolean", "TRUE"), _Constant("boolean", "FALSE")})


def _atom(column: str, operator: str, constants: list[_Constant]) -> _Atom:
    values = frozenset(constants)
    if operator == "NOT IN" and len(values) == 1 and values <= _TRUTH_VALUES:
        return _Atom(column, "IN", _TRUTH_VALUES - values)
    return _Atom(column, operator, values)


def _constant(column: str, node: _Node) -> _Constant:
    kind = type(node)
    if kind is exp.Literal and node.is_string:
        return _Constant("text", node.this)
    if kind is exp.Literal:
        return _Constant("number", _decimal(node.this))
    if kind is exp.Neg and type(node.this) is exp.Literal and not node.this.is_string:
        return _Constant("number", _decimal("-" + node.this.this))
    if kind is exp.Boolean:
        return _Constant("boolean", "TRUE" if node.this else "FALSE")
    if kind is exp.Cast:
        return _Constant("date", _day(node))
    if kind is exp.Null:
        name = column if _WORD.fullmatch(column) else quoted(column)
        raise _RefusedError(f"NULL is not a value to compare with: write {name} IS NULL or {name} IS NOT NULL")
    if kind is exp.Column:
        raise _RefusedError("two columns cannot be compared, only a column with a constant; text needs single quotes")
    raise _RefusedError(_COLUMN_AND_CONSTANT)


def _decimal(written: str) -> str:
    """Give a decimal its only spelling: no leading or trailing zeros, no exponent, no minus zero."""
    sign = "-" if written.startswith("-") else ""
    whole, _, fraction = written.removeprefix("-").partition(".")
    whole, fraction = whole.lstrip("0"), fraction.rstrip("0")
    if not re.fullmatch("[0-9]*", whole + fraction):
        raise _RefusedError(f"the number {quoted(written)} {_NOT_DECIMAL}")
    if len(whole) > budget.MAX_PREDICATE_DIGITS or len(fraction) > budget.MAX_PREDICATE_DIGITS:
        raise _RefusedError(
            f"the number {quoted(written)} has more than {budget.MAX_PREDICATE_DIGITS} digits before or after the point"
        )
    digits = (whole or "0") + ("." + fraction if fraction else "")
    return digits if digits == "0" else sign + digits


def _day(node: _Node) -> str:
    written = node.this
    if node.args["to"].this != exp.DataType.Type.DATE or type(written) is not exp.Literal:
        raise _RefusedError("casts are not allowed")
    try:
        day = date.fromisoformat(written.this).isoformat()
    except ValueError:
        day = None
    if day is None or day != written.this:  # fromisoformat reads other spellings too, in later Pythons
        raise _RefusedError(f"{quoted(written.this)} is not a day of the calendar, written as 2020-12-31")
    return day


def _check_tree(tree: _Node) -> None:
    """Every node and every part of a node is on the list, and there are not too many."""
    count = 0
    for node in tree.walk():
        count += not isinstance(node, _UNCOUNTED)
        parts = {name for name, value in node.args.items() if value}
        if type(node) is exp.Column and parts != {"this"}:
            raise _RefusedError("the name of a column takes no prefix: write vote, not t.vote")
        if isinstance(node, exp.Binary) and type(node) not in _PARTS:
            raise _RefusedError(_ARITHMETIC)
        if type(node) not in _PARTS or not parts <= _PARTS[type(node)]:
            raise _RefusedError(
                "only comparisons of a column with constants (=, <>, <, <=, >, >=, IS, IN, BETWEEN, LIKE), "
                "joined by AND, OR and NOT, are allowed"
            )
    if count > budget.MAX_PREDICATE_NODES:
        raise _RefusedError(
            f"it has {count} columns, constants and operators; at most {budget.MAX_PREDICATE_NODES} are allowed"
        )


def _refuse_as_condition(node: _Node) -> NoReturn:
    if type(node) is exp.Column:
        name = node.name if _WORD.fullmatch(node.name) else quoted(node.name)
        raise _RefusedError(
            f"the column {name} alone is not a condition: write {name} = TRUE, {name} <> 0 or {name} IS NOT NULL"
        )
    raise _RefusedError("a constant alone is not a condition: compare a column with it")
