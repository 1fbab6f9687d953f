"""The normal form of a condition: comparisons, joined by AND and OR, in classical logic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from statpriv.releasing.sql_text import identifier, text_literal

__all__ = ["MIRRORED", "OPPOSITES", "Atom", "ColumnType", "Constant", "Formula", "Spelling", "atom", "junction"]

ColumnType: TypeAlias = Literal["number", "text", "date", "boolean", "any"]
Spelling: TypeAlias = Callable[[str], str]
"""How an engine writes a name or a text."""

OPPOSITES = {
    "IN": "NOT IN", "NOT IN": "IN", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
    "LIKE": "NOT LIKE", "NOT LIKE": "LIKE",
}  # fmt: skip
MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "IN": "IN", "NOT IN": "NOT IN"}


@dataclass(frozen=True)
class Constant:
    """A typed constant in its unique spelling."""

    type: ColumnType
    value: str

    def sql(self, text: Spelling) -> str:
        """SQL of the constant for an engine."""
        if self.type == "text":
            return text(self.value)
        return f"DATE '{self.value}'" if self.type == "date" else self.value


@dataclass(frozen=True)
class Atom:
    """A comparison of a column with constants: asserts that it is true, or with ``true=False`` that it is not true."""

    column: str
    operator: str
    constants: frozenset[Constant] = frozenset()
    true: bool = True

    def sql(self, column: Spelling = identifier, text: Spelling = text_literal) -> str:
        """SQL of the condition for an engine: standard SQL by default."""
        name = column(self.column)
        if self.operator == "IS NULL":
            return f"{name} IS NULL" if self.true else f"{name} IS NOT NULL"
        comparison = f"{name} {self._operation(text)}"
        return comparison if self.true else f"({comparison}) IS NOT TRUE"

    def _operation(self, text: Spelling) -> str:
        constants = sorted(constant.sql(text) for constant in self.constants)
        if len(constants) > 1:
            return f"{self.operator} ({', '.join(constants)})"
        symbol = {"IN": "=", "NOT IN": "<>"}.get(self.operator, self.operator)
        return f"{symbol} {constants[0]}"

    def operand(self, column: Spelling, text: Spelling) -> str:
        """SQL of the comparison as an operand of a junction."""
        return self.sql(column, text)

    def parts(self, operator: str) -> tuple[Formula, ...]:  # noqa: ARG002  (see Junction)
        """The operands that this operator joins: the comparison alone."""
        return (self,)

    def merged_by(self, *, conjunction: bool) -> Atom | None:
        """The comparison without its constants if this junction merges its list of constants, else None.

        c = 1 OR c = 2 merges to c IN (1, 2), and c <> 1 AND c <> 2 to c NOT IN (1, 2). The negations merge likewise.
        """
        if self.operator not in {"IN", "NOT IN"} or ((self.operator == "IN") == self.true) == conjunction:
            return None
        return replace(self, constants=frozenset())

    def negated(self) -> Atom:
        """The assertion with the opposite truth."""
        return replace(self, true=not self.true)

    def atoms(self) -> Iterator[Atom]:
        """The comparisons, in order."""
        yield self


@dataclass(frozen=True)
class Junction:
    """A conjunction or a disjunction of formulas."""

    operator: Literal["AND", "OR"]
    operands: tuple[Formula, ...]

    def sql(self, column: Spelling = identifier, text: Spelling = text_literal) -> str:
        """SQL of the condition for an engine: standard SQL by default."""
        return f" {self.operator} ".join(part.operand(column, text) for part in self.operands)

    def operand(self, column: Spelling, text: Spelling) -> str:
        """SQL of the junction as an operand of another junction."""
        return f"({self.sql(column, text)})"

    def parts(self, operator: str) -> tuple[Formula, ...]:
        """The operands that this operator joins."""
        return self.operands if self.operator == operator else (self,)

    def merged_by(self, *, conjunction: bool) -> None:  # noqa: ARG002  (see Atom)
        """None, because a junction has no list of constants."""
        return

    def negated(self) -> Formula:
        """The negation of the junction, by De Morgan's laws."""
        return junction(conjunction=self.operator == "OR", operands=[x.negated() for x in self.operands])

    def atoms(self) -> Iterator[Atom]:
        """The comparisons, in order."""
        for operand in self.operands:
            yield from operand.atoms()


Formula: TypeAlias = Atom | Junction


def junction(*, conjunction: bool, operands: Iterable[Formula]) -> Formula:
    """Flatten, merge lists of one column, drop duplicates and sort; each step is valid in classical logic."""
    operator: Literal["AND", "OR"] = "AND" if conjunction else "OR"
    parts: set[Formula] = set()
    lists: dict[Atom, frozenset[Constant]] = {}
    for part in (part for operand in operands for part in operand.parts(operator)):
        key = part.merged_by(conjunction=conjunction)
        if key is None:
            parts.add(part)
        else:
            lists[key] = lists.get(key, frozenset()).union(*(atom.constants for atom in part.atoms()))
    parts.update(replace(key, constants=constants) for key, constants in lists.items())
    ordered = sorted(parts, key=lambda part: part.sql())
    return ordered[0] if len(ordered) == 1 else Junction(operator, tuple(ordered))


_TRUTH_VALUES = frozenset({Constant("boolean", "TRUE"), Constant("boolean", "FALSE")})


def atom(column: str, operator: str, constants: list[Constant]) -> Atom:
    """Build a comparison; a column that differs from one truth value equals the other one."""
    values = frozenset(constants)
    if operator == "NOT IN" and len(values) == 1 and values <= _TRUTH_VALUES:
        return Atom(column, "IN", _TRUTH_VALUES - values)
    return Atom(column, operator, values)
