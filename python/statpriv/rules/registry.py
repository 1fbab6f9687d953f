"""The registry of rules: which theorem answers which situation.

A rule is a function from a :class:`~statpriv.situation.Situation` to a kernel curve, declared with its kind,
theorem, source and assumptions. It raises :class:`NotApplicable` with the reason where its hypotheses fail.
`explain()`, the choice of the tightest bound and the nearest possible combination in errors are read off these
declarations.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Literal, TypeAlias

from statpriv import rules
from statpriv._native import Curve
from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.situation import Situation

__all__ = ["Kind", "Lowered", "NotApplicable", "Rule", "lower", "rule"]

Kind: TypeAlias = Literal["exact", "bound"]
Lowering: TypeAlias = Callable[[Situation], Curve]


class NotApplicable(Exception):  # noqa: N818  (a verdict of a rule, caught by the registry, not an error)
    """A hypothesis of a rule does not hold; the message says which."""


@dataclass(frozen=True)
class Rule:
    """A theorem, with the function that turns it into a curve.

    `bound` is the name that `bound=` selects it by. `competes` says whether it is tried by
    `bound="tightest"`; a rule that never wins does not.
    """

    bound: str
    kind: Kind
    theorem: str
    source: str
    assumptions: tuple[str, ...]
    competes: bool
    lowering: Lowering


@dataclass(frozen=True)
class Lowered:
    """A curve and the rules it rests on."""

    curve: Curve
    kind: Kind
    rules: tuple[Rule, ...]


_RULES: list[Rule] = []


def rule(
    *,
    bound: str,
    kind: Kind,
    theorem: str,
    source: str,
    assumptions: tuple[str, ...],
    competes: bool = True,
) -> Callable[[Lowering], Lowering]:
    """Declare a rule."""

    def register(lowering: Lowering) -> Lowering:
        _RULES.append(Rule(bound, kind, theorem, source, assumptions, competes, lowering))
        return lowering

    return register


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule of this package, exact ones first: a new file of rules is found by being there."""
    for module in pkgutil.iter_modules(rules.__path__):
        import_module(f"{rules.__name__}.{module.name}")
    return tuple(sorted(_RULES, key=lambda declared: declared.kind != "exact"))


def lower(situation: Situation, bound: str) -> Lowered:
    """The curve of a situation by the named bound, or by the tightest that applies.

    Raises
    ------
    ArgumentError
        `bound` is not the name of one.
    NotAvailableError
        No such rule applies; the message says why, and which bounds do.
    """
    names = list(dict.fromkeys(["tightest", *(known.bound for known in all_rules())]))
    if not isinstance(bound, str) or bound not in names:
        raise ArgumentError(f"bound = {bound!r}; one of {', '.join(map(repr, names))} is required")
    found: list[tuple[Rule, Curve]] = []
    reasons: list[str] = []
    for candidate in all_rules():
        if bound != candidate.bound and not (bound == "tightest" and candidate.competes):
            continue
        try:
            found.append((candidate, candidate.lowering(situation)))
        except NotApplicable as reason:
            reasons.append(str(reason))
            continue
        if candidate.kind == "exact":
            return Lowered(found[0][1], "exact", (candidate,))
    if not found:
        raise NotAvailableError(
            f"bound = {bound!r} does not apply here: {'; '.join(dict.fromkeys(reasons))}. {_alternatives(situation)}"
        )
    applied, curves = zip(*found, strict=True)
    return Lowered(curves[0] if len(curves) == 1 else Curve.minimum(curves), "bound", applied)


def _alternatives(situation: Situation) -> str:
    applicable = []
    for candidate in all_rules():
        try:
            candidate.lowering(situation)
        except NotApplicable:
            continue
        applicable.append(repr(candidate.bound))
    return f"What applies: {', '.join(applicable)}" if applicable else "No bound of this version applies"
