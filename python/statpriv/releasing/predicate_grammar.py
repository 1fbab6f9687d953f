"""The grammar of conditions: characters, tokens, nesting and nodes, each checked against an allow-list.

SQLGlot parses a condition only after its characters, tokens and nesting have passed. Nothing is executed as written.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from statpriv import budget
from statpriv.errors import MissingExtraError
from statpriv.releasing.sql_text import quoted, unprintable

try:
    from sqlglot import Dialect, ParseError, TokenError, TokenType, exp
except ImportError as missing:
    raise MissingExtraError("a plan needs SQLGlot: pip install 'statpriv[release]'") from missing

if TYPE_CHECKING:
    from sqlglot import Token

__all__ = ["NOT_DECIMAL", "WORD", "Node", "RefusedError", "exp", "parse"]

Node: TypeAlias = Any  # the name of SQLGlot's base class of nodes depends on the version


class RefusedError(Exception):
    """The reason for a refusal, without the condition itself."""


def parse(where: str) -> Node:
    """Return SQLGlot's tree of a condition in this language.

    Raises
    ------
    RefusedError
        If the condition is not in the language; the message says why.
    """
    _check_characters(where)
    tree = _parse(where)
    _check_tree(tree)
    return tree


def _check_characters(where: str) -> None:
    if len(where) > budget.MAX_PREDICATE_CHARACTERS:
        raise RefusedError(f"it has {len(where)} characters; at most {budget.MAX_PREDICATE_CHARACTERS} are allowed")
    if (character := unprintable(where)) is not None:
        raise RefusedError(
            f"it holds the character {character}; control characters, line breaks and characters that "
            "change the direction of writing are not allowed: write the condition on one line"
        )


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
# DATE begins a constant, but it is also too common as a column name to be refused.
_NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER, TokenType.DATE})
_CONSTANTS = frozenset({TokenType.STRING, TokenType.NUMBER})
_ALLOWED_TOKENS = _SYMBOLS | _KEYWORDS | _NAMES | _CONSTANTS
_BETWEEN_TOKENS = re.compile(r"(\s|--.*|/\*((?!\*/).)*\*/)*")  # line breaks have already been refused
_PLAIN_DECIMAL = re.compile(r"[0-9]+(\.[0-9]*)?")
WORD = re.compile(r"[^\W\d][\w$]*")

_ARITHMETIC = "arithmetic is not allowed: compare the column itself with a constant"
_PARAMETER = "parameters are not allowed: write the constant itself"
NOT_DECIMAL = "is not a plain decimal such as 1000 or 0.25"
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


def _parse(where: str) -> Node:
    dialect = Dialect.get_or_raise("duckdb")
    try:
        tokens = dialect.tokenize(where)
    except TokenError:
        raise RefusedError("a quote or a comment is opened and not closed") from None
    if not tokens:
        raise RefusedError("it is empty; write a condition such as age >= 18")
    _check_tokens(where, tokens)
    _check_nesting(tokens)
    try:
        trees = dialect.parser().parse_into(exp.Condition, tokens, where)
    except ParseError as error:
        near = str(error.errors[0].get("highlight") or "") if error.errors else ""
        place = f" near {quoted(near)}" if near else ""
        raise RefusedError(
            f"it cannot be read{place}; write comparisons such as age >= 18, joined by AND, OR and NOT"
        ) from None
    if len(trees) != 1 or trees[0] is None:
        raise RefusedError("exactly one condition is allowed")
    return trees[0]


def _check_tokens(where: str, tokens: list[Token]) -> None:
    """Accept only tokens that this grammar uses; most of SQL is refused here, before it is parsed."""
    written = [where[token.start : token.end + 1] for token in tokens]
    ends = [-1, *(token.end for token in tokens)]
    starts = [*(token.start for token in tokens), len(where)]
    for end, start in zip(ends, starts, strict=True):
        if not _BETWEEN_TOKENS.fullmatch(where, end + 1, start):
            raise RefusedError(f"{quoted(where[end + 1 : start].strip())} is not allowed")
    for (token, text), (after, after_text) in pairwise(zip(tokens, written, strict=True)):
        if token.token_type in _NAMES and after.token_type is TokenType.L_PAREN:
            raise RefusedError(
                f"{quoted(text + '(…)')}: functions, casts and subqueries are not allowed; "
                "compare columns with constants"
            )
        if token.token_type is TokenType.NUMBER and after.start == token.end + 1 and WORD.match(after_text):
            raise RefusedError(f"the number {quoted(text + after_text)} {NOT_DECIMAL}")
    for token, text in zip(tokens, written, strict=True):
        _check_token(token, text)


def _check_token(token: Token, text: str) -> None:
    kind = token.token_type
    if kind is TokenType.NUMBER and not _PLAIN_DECIMAL.fullmatch(text):
        raise RefusedError(f"the number {quoted(text)} {NOT_DECIMAL}")
    if kind is TokenType.STRING and not text.startswith("'"):
        raise RefusedError(f"{quoted(text)} is not allowed: {_QUOTES}")
    if kind in _ALLOWED_TOKENS:
        return
    if reason := _REASONS.get(text.upper()):
        raise RefusedError(f"{quoted(text)}: {reason}")
    if WORD.fullmatch(text):
        raise RefusedError(
            f"{quoted(text)} is a word of SQL that this language does not have; a column of that name "
            "needs double quotes around it"
        )
    if text.endswith(("'", "$")):
        raise RefusedError(f"{quoted(text)} is not allowed: {_QUOTES}")
    raise RefusedError(f"{quoted(text)} is not allowed")


def _check_nesting(tokens: list[Token]) -> None:
    """Bound the depth of the parser's recursion beforehand: parentheses, and runs of NOT."""
    levels: list[int] = []
    run = 0
    for token in tokens:
        kind = token.token_type
        if kind is TokenType.L_PAREN:
            levels.append(run + 1)
            run = 0
        elif kind is TokenType.R_PAREN and not levels:
            raise RefusedError("a ')' closes a parenthesis that was never opened")
        elif kind is TokenType.R_PAREN:
            levels.pop()
            run = 0
        else:
            run = run + 1 if kind in {TokenType.NOT, TokenType.DASH} else 0
        if sum(levels) + run > budget.MAX_PREDICATE_DEPTH:
            raise RefusedError(f"parentheses and NOT are nested more than {budget.MAX_PREDICATE_DEPTH} deep")
    if levels:
        raise RefusedError("a parenthesis is opened and not closed")


# The parts that a node may have. SQLGlot represents every further meaning (symmetric, subquery, escape, …) as an
# additional part, so a node with any other part is refused, regardless of the version of SQLGlot.
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


def _check_tree(tree: Node) -> None:
    """Check that every node and every part of a node is allowed, and that there are not too many nodes."""
    count = 0
    for node in tree.walk():
        count += not isinstance(node, _UNCOUNTED)
        parts = {name for name, value in node.args.items() if value}
        if type(node) is exp.Column and parts != {"this"}:
            raise RefusedError("the name of a column takes no prefix: write vote, not t.vote")
        if isinstance(node, exp.Binary) and type(node) not in _PARTS:
            raise RefusedError(_ARITHMETIC)
        if type(node) not in _PARTS or not parts <= _PARTS[type(node)]:
            raise RefusedError(
                "only comparisons of a column with constants (=, <>, <, <=, >, >=, IS, IN, BETWEEN, LIKE), "
                "joined by AND, OR and NOT, are allowed"
            )
    if count > budget.MAX_PREDICATE_NODES:
        raise RefusedError(
            f"it has {count} columns, constants and operators; at most {budget.MAX_PREDICATE_NODES} are allowed"
        )
