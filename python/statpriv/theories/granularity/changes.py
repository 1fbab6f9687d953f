"""Sensitivity, preprocessing, and the conversion of guarantees to another granularity."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

from statpriv.errors import NotAvailableError
from statpriv.numeric.arguments import as_function, as_key
from statpriv.numeric.exact import Number, as_nonnegative, is_finite
from statpriv.numeric.literals import abridged, literal
from statpriv.theories.granularity.notions import Figures, Notion, as_notion, grown, read_budgets
from statpriv.theories.granularity.pairs import Metric, distance_of
from statpriv.theories.granularity.protocol import Granularity, as_granularity
from statpriv.theories.granularity.relation import all_databases, relation_on, warn_of_missing_paths


@dataclass(frozen=True)
class Sensitivity:
    """The largest factor by which a function increases the distance of two databases.

    Attributes
    ----------
    value : Fraction or float
        The least Δ with `d'(f(D), f(D')) ≤ Δ d(D, D')`; `math.inf` if there is none.
    pair : tuple or None
        Two databases that attain it; None if no two databases are at a finite distance.
    """

    value: Fraction | float
    pair: tuple[Any, Any] | None


def sensitivity(
    function: Callable[[Any], Any], *, universe: Sequence[Hashable], source: Metric, target: Metric
) -> Sensitivity:
    """The sensitivity of a function on a finite class of databases, exactly.

    Parameters
    ----------
    function : callable
        f, from databases to databases or answers.
    universe : sequence of hashables
        All databases.
    source, target : granularity or callable
        The metric of the arguments and the metric of the values of f.

    Returns
    -------
    Sensitivity
        The sensitivity, with a pair that attains it.

    Notes
    -----
    Definition III.5. `Δ(g ∘ f) ≤ Δg · Δf` (Proposition III.8).

    Examples
    --------
    >>> import statpriv as sp
    >>> tables = [(), ("a",), ("b",), ("a", "a"), ("a", "b")]
    >>> unbounded = sp.granularity.Unbounded()
    >>> sp.granularity.sensitivity(len, universe=tables, source=unbounded, target=lambda x, y: abs(x - y))
    Sensitivity(value=Fraction(1, 1), pair=((), ('a',)))
    """
    best = Sensitivity(Fraction(0), None)
    as_function(function, "function", "a function of the database is required")
    databases = all_databases(universe)
    values = {as_key(database, "a database"): function(database) for database in databases}
    for first, second in _pairs(databases, source):
        distance = distance_of(source, first, second)
        if not is_finite(distance):
            continue
        moved = distance_of(target, values[first], values[second])
        ratio = _ratio(moved, distance)
        if best.pair is None or ratio > best.value:
            best = Sensitivity(ratio, (first, second))
    return best


def preprocess(budget: Any, sensitivity: Number, *, notion: Notion = "pure") -> Figures:  # noqa: ANN401
    """The guarantee of `M ∘ f` if M has this budget and f this sensitivity.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.granularity.preprocess("0.5", 3).epsilon
    Fraction(3, 2)
    >>> print(sp.granularity.preprocess(("0.5", "1e-6"), 3, notion="approximate"))
    ε = 1.5, δ = 0.00000536701

    Notes
    -----
    Proposition III.6, with Theorems VI.3, VI.12 and VI.20. M itself need not be private if `M ∘ f` is (Remark III.7).
    """
    kind = as_notion(notion)
    (cost,) = read_budgets([budget], kind)
    factor = as_nonnegative(sensitivity, "sensitivity")
    return Figures.of(kind, grown(cost, kind, factor))


@dataclass(frozen=True)
class Change:
    """A guarantee at another granularity.

    Attributes
    ----------
    factor : Fraction
        c: neighbours of the target are at most c steps of the source apart.
    figures : Figures
        The guarantee at the target granularity.
    because : str
        The justification of the factor.
    pair : tuple or None
        Neighbours of the target that are c steps apart, if a universe was given.
    theorem : str
        The statement.
    """

    factor: Fraction
    figures: Figures
    because: str
    pair: tuple[Any, Any] | None
    theorem: str = "Proposition A.3"

    def __repr__(self) -> str:
        return f"<Change of granularity by a factor {literal(self.factor)}: {self.figures}>"


_FACTORS: dict[tuple[str, str], tuple[int, str]] = {
    ("unbounded", "bounded"): (2, "a record is replaced by removing it and adding another"),
    ("unbounded", "ordered"): (2, "a value is changed by removing one record and adding another"),
    ("bounded", "ordered"): (1, "a changed value is one record replaced by another"),
    ("node", "edge"): (2, "an edge changes when one of its nodes is removed and added again"),
}


def change_granularity(
    budget: Any,  # noqa: ANN401  (as the notion has it)
    *,
    source: Granularity,
    target: Granularity,
    notion: Notion = "pure",
    universe: Sequence[Hashable] | None = None,
    factor: Number | None = None,
) -> Change:
    """The guarantee at another granularity that follows from a guarantee at one granularity.

    Parameters
    ----------
    budget : number or pair
        ε, (ε, δ), ρ or μ at the source.
    source, target : granularity
        The granularity of the budget, and the granularity of the result.
    notion : {"pure", "approximate", "zcdp", "gaussian"}, default "pure"
        The notion of the budget.
    universe : sequence of hashables, optional
        All databases of a finite class; the factor is then found by trying all of them.
    factor : int, optional
        An upper bound of the number of source steps between neighbours of the target, if known: for instance the number
        of rows of a person, if the target protects persons and the source protects rows.

    Returns
    -------
    Change
        c, and the guarantee `cε`, `(cε, δ (e^{cε}−1)/(e^ε−1))`, `c²ρ` or `cμ`.

    Raises
    ------
    NotAvailableError
        If no finite factor holds, or none is known.

    Warns
    -----
    NoPathWarning
        If some databases of the class are not linked by steps of the source.

    Notes
    -----
    Proposition A.3 and section III-A: unbounded ε gives bounded 2ε, free-lunch ε gives ε at every granularity.

    Examples
    --------
    >>> import statpriv as sp
    >>> unbounded, bounded = sp.granularity.Unbounded(), sp.granularity.Bounded()
    >>> sp.granularity.change_granularity("0.5", source=unbounded, target=bounded)
    <Change of granularity by a factor 2: ε = 1>
    """
    kind = as_notion(notion)
    (cost,) = read_budgets([budget], kind)
    start, end = as_granularity(source), as_granularity(target)
    if factor is not None:
        steps, because, pair = as_nonnegative(factor, "factor"), "the factor was stated", None
    elif universe is not None:
        databases = all_databases(universe)
        warn_of_missing_paths(databases, start)
        steps, because, pair = _tried(databases, start, end)
    else:
        steps, because = _known(start, end)
        pair = None
    return Change(steps, Figures.of(kind, grown(cost, kind, steps)), because, pair)


def _tried(
    universe: Sequence[Hashable], source: Granularity, target: Granularity
) -> tuple[Fraction, str, tuple[Any, Any] | None]:
    worst, pair = Fraction(0), None
    for first, second in _pairs(universe, target):
        if not target.neighbours(first, second):
            continue
        found = distance_of(source, first, second)
        if not is_finite(found):
            raise NotAvailableError(
                f"{abridged(first)} and {abridged(second)} are {target.name} neighbours, and no {source.name} steps "
                "lead from one to the other: no guarantee follows, whatever the budget"
            )
        if found > worst:
            worst, pair = found, (first, second)
    return worst, f"all pairs of {len(universe)} databases were tried", pair


def _known(source: Granularity, target: Granularity) -> tuple[Fraction, str]:
    if source == target:
        return Fraction(1), "the granularities are the same"
    if source.name == "free-lunch":
        return Fraction(1), "all databases are free-lunch neighbours"
    if (source.name, target.name) in _FACTORS:
        steps, because = _FACTORS[source.name, target.name]
        return Fraction(steps), because
    raise NotAvailableError(
        f"from {source.name} to {target.name}: no factor holds for all databases; give the universe of a finite "
        "class, or the factor= that is known"
    )


def _pairs(universe: Sequence[Hashable], metric: Metric) -> Any:  # noqa: ANN401
    """Ordered pairs that suffice for the maximum: for a Relation on exactly these databases, the neighbours."""
    relation = relation_on(metric, universe)
    return permutations(universe, 2) if relation is None else relation.pairs


def _ratio(moved: Fraction | float, distance: Fraction) -> Fraction | float:
    if moved == 0:
        return Fraction(0)
    return moved / distance if distance and is_finite(moved) else math.inf
