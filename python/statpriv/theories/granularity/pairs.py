"""Guarantees between two given databases, which may be better than the guarantee of the worst step."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import as_function, as_items, as_key
from statpriv.numeric.exact import Number, as_fraction, is_finite
from statpriv.numeric.literals import abridged, literal
from statpriv.theories.granularity.notions import Budget, Figures, Notion, Value, as_notion, grown, read_budgets
from statpriv.theories.granularity.protocol import Distance, Granularity, alike
from statpriv.theories.granularity.relation import all_databases, as_functions
from statpriv.theories.granularity.tabular import Multiset, multiset
from statpriv.theories.granularity.theorems import theorem

Metric: TypeAlias = "Granularity | Callable[[Any, Any], Number]"
"""A granularity, or any other metric as a function of two databases, with exact values or infinity."""


@dataclass(frozen=True)
class Between:
    """The joint guarantee of several mechanisms between two databases.

    Attributes
    ----------
    epsilon, delta, rho, mu : Fraction, Enclosure, float or None
        The parameters of the notion, the others None; `math.inf` if there is no guarantee.
    distances : tuple
        The distance of the two databases for each mechanism.
    theorem : str
        The composition theorem.
    """

    epsilon: Value | float | None
    delta: Value | float | None
    rho: Value | float | None
    mu: Value | float | None
    distances: tuple[Fraction | float, ...]
    theorem: str

    @property
    def figures(self) -> Figures:
        """The guarantee alone."""
        return Figures(self.epsilon, self.delta, self.rho, self.mu)

    def __repr__(self) -> str:
        distances = ", ".join("∞" if d == math.inf else literal(Fraction(d)) for d in self.distances)
        return f"<Between: {self.figures}, of distances {distances}, by {self.theorem}>"


def compose_between(
    budgets: Iterable[Any],
    first: object,
    second: object,
    *,
    metrics: Metric | Sequence[Metric],
    inputs: Any = None,  # noqa: ANN401  (Inputs, or functions)
    notion: Notion = "pure",
    universe: Iterable[Any] | None = None,
    adaptive: bool | None = None,
) -> Between:
    """The joint guarantee between two databases of mechanisms on inputs of their own.

    Parameters
    ----------
    budgets : iterable
        The budget of each mechanism for one step of its metric: ε, (ε, δ), ρ or μ.
    first, second : object
        Two databases.
    metrics : granularity, callable, or sequence of them
        The metric of the inputs; one for all mechanisms, or one for each.
    inputs : Inputs or sequence of functions, optional
        The part that each mechanism reads; by default everything.
    notion : {"pure", "approximate", "zcdp", "gaussian"}, default "pure"
        The notion of the budgets.
    universe : iterable, optional
        All databases of a finite class, if the budgets hold for `M_i ∘ f_i` on whole databases (common domain) and
        `metrics` are metrics of these. Then `d_i` is the minimum distance of :func:`minimum_distance`.
    adaptive : bool, optional
        Whether mechanisms may depend on earlier answers; only the theorem's name differs.

    Returns
    -------
    Between
        By the notion `Σ ε_i d_i`, `Σ ρ_i d_i²` or `√Σ μ_i² d_i²` with `d_i = d(f_i(D), f_i(D'))`; infinite if a
        distance is. For approximate privacy δ grows with the distances too.

    Notes
    -----
    Theorems IV.1, V.2, VI.4, VI.13 and VI.21, and with a universe IV.11, V.5, VI.7, VI.14 and VI.22; metrics may
    differ. For inputs that commute with the metric (`Σ d_i ≤ d`) ε is at most `max ε_i · d` (section IV-C).

    Examples
    --------
    A distance that is split over the parts costs less than a single one of the same length (Example VI.25):

    >>> import statpriv as sp
    >>> between = sp.granularity.compose_between(
    ...     [1, 1], ["a", "a", "a"], ["b", "b", "b", "b"], notion="gaussian",
    ...     metrics=sp.granularity.Unbounded(), inputs=sp.granularity.Inputs([{"a"}, {"b"}]),
    ... )
    >>> between.mu, sp.granularity.Unbounded().distance(["a"] * 3, ["b"] * 4)
    (Fraction(5, 1), 7)
    """
    kind = as_notion(notion)
    costs = read_budgets(budgets, kind)
    functions = [_identity] * len(costs) if inputs is None else as_functions(inputs)
    measures = list(metrics) if isinstance(metrics, Sequence) else [metrics] * len(costs)
    for name, values in (("inputs", functions), ("metrics", measures)):
        if len(values) != len(costs):
            raise ArgumentError(
                f"{name} of {len(values)} mechanisms, and {len(costs)} budgets; one for each is required"
            )
    databases = None if universe is None else all_databases(universe)
    distances = tuple(
        distance_of(metric, function(first), function(second))
        if databases is None
        else minimum_distance(first, second, metric=metric, reads=function, universe=databases).value
        for metric, function in zip(measures, functions, strict=True)
    )
    found = Figures.of(kind, summed(costs, kind, distances))
    name = theorem("own domain" if databases is None else "common domain", kind, adaptive=adaptive)
    return Between(found.epsilon, found.delta, found.rho, found.mu, distances, name)


def summed(costs: Sequence[Budget], notion: Notion, distances: Sequence[Fraction | float]) -> list[Value | float]:
    """The coordinates of the whole: the sum of the budgets, each grown over its distance."""
    totals: list[Any] = [Fraction(0) for _ in costs[0]]
    for budget, distance in zip(costs, distances, strict=True):
        for axis, value in enumerate(_grown(budget, notion, distance)):
            totals[axis] = math.inf if math.inf in (totals[axis], value) else totals[axis] + value
    return totals


def _grown(budget: Budget, notion: Notion, distance: Fraction | float) -> Sequence[Value | float]:
    """The budget grown over the distance: infinite at infinite distance, except that a zero budget stays zero."""
    if is_finite(distance):
        return grown(budget, notion, distance)
    return [math.inf if any(budget) else Fraction(0) for _ in budget]


def distance_of(metric: Metric, first: object, second: object) -> Fraction | float:
    """The distance, exactly, or infinity."""
    if isinstance(metric, Granularity) and not isinstance(metric, type):
        found: Any = metric.distance(first, second)
    else:
        required = "a granularity such as Unbounded(), or a function of two databases, is required"
        found = as_function(None if isinstance(metric, type) else metric, "metric", required)(first, second)
    if isinstance(found, float) and math.isinf(found) and found > 0:
        return math.inf
    exact = as_fraction(found, "distance")
    if exact < 0:
        raise ArgumentError(f"distance = {found} of {abridged(first)} and {abridged(second)}; at least 0 is required")
    return exact


def _identity(database: object) -> object:
    return database


@dataclass(frozen=True)
class MinimumDistance:
    """The minimum distance of two databases for a mechanism that reads only `f(D)`.

    Attributes
    ----------
    value : int or float
        The least distance of two databases with the same `f` as the two given ones.
    pair : tuple
        Two databases that attain it.
    delta : Fraction
        For approximate privacy, the least δ of the pairs that attain it; 0 if no δ was given.
    """

    value: Fraction | float
    pair: tuple[Any, Any]
    delta: Fraction


def minimum_distance(
    first: object,
    second: object,
    *,
    metric: Metric,
    reads: Callable[[Any], Any],
    universe: Iterable[Any],
    delta: Callable[[Any, Any], Number] | None = None,
) -> MinimumDistance:
    """The minimum distance for a mechanism that reads only `f(D)`, by trying all databases of a finite class.

    Parameters
    ----------
    first, second : object
        Two databases.
    metric : granularity or callable
        The metric for which the mechanism is private on whole databases.
    reads : callable
        f, from a database to the part that the mechanism reads.
    universe : iterable
        All databases. The cost is quadratic in the number of databases with the same `f` as the two given ones.
    delta : callable, optional
        For approximate privacy, δ as a function of two databases.

    Returns
    -------
    MinimumDistance
        `min d(E, E')` over `f(E) = f(D)`, `f(E') = f(D')`. Not a metric: the triangle inequality may fail.

    Notes
    -----
    Propositions IV.10, A.12 and A.14.

    Examples
    --------
    A mechanism that looks at the number of votes for "a" alone, in tables of two votes:

    >>> import statpriv as sp
    >>> tables = [("a", "a"), ("a", "b"), ("b", "b")]
    >>> found = sp.granularity.minimum_distance(
    ...     tables[0], tables[2], metric=sp.granularity.Bounded(), reads=lambda table: "a" in table, universe=tables
    ... )
    >>> found.value, found.pair
    (Fraction(1, 1), (('a', 'b'), ('b', 'b')))
    """
    databases = all_databases(universe)
    as_function(reads, "reads", "a function of the database is required")
    if delta is not None:
        as_function(delta, "delta", "a function of two databases is required")
    starts = [database for database in databases if alike(reads(database), reads(first))] or [first]
    ends = [database for database in databases if alike(reads(database), reads(second))] or [second]
    pairs = [(distance_of(metric, start, end), start, end) for start in starts for end in ends]
    least = min(distance for distance, _, _ in pairs)
    nearest = [
        MinimumDistance(least, (start, end), Fraction(0) if delta is None else as_fraction(delta(start, end), "delta"))
        for distance, start, end in pairs
        if distance == least
    ]
    return min(nearest, key=lambda found: found.delta)


def subuniverse_distance(
    first: Multiset[Hashable],
    second: Multiset[Hashable],
    *,
    part: Collection[Hashable],
    outside: Hashable,
) -> Distance:
    """The minimum distance for a mechanism that is private for bounded neighbours and reads a part of the database.

    Parameters
    ----------
    first, second : iterable or dict
        Two databases: records, or a dict with the multiplicity of each.
    part : collection
        The values of records that the mechanism reads.
    outside : hashable
        A value that is not read. It must exist: otherwise the distance of databases of different sizes is infinite.

    Returns
    -------
    int
        `max(|A∖A'|, |A'∖A|)` for the records A and A' that are read. The loss is ε times this distance.

    Raises
    ------
    ArgumentError
        If `outside` is read.

    Notes
    -----
    Corollary IV.15. Its statement omits that the part has to be a proper subset.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.granularity.subuniverse_distance(["a", "a", "b"], ["c"], part={"a", "b"}, outside="c")
    3
    """
    read = {
        as_key(value, "part") for value in as_items(part, "part", "the values of records that are read are required")
    }
    if as_key(outside, "outside") in read:
        raise ArgumentError(
            f"outside = {abridged(outside)} is in the part; a value that is not read is required, and if everything is "
            "read the distance is that of Bounded(): infinite for databases of different sizes (Corollary IV.15 needs "
            "a proper part)"
        )
    one, other = (
        multiset({record: number for record, number in multiset(database).items() if record in part})
        for database in (first, second)
    )
    return max((one - other).total(), (other - one).total())
