"""User-defined partitions, checked on all databases of a finite class."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import as_key
from statpriv.numeric.literals import abridged, literal
from statpriv.theories.granularity.changes import sensitivity
from statpriv.theories.granularity.inputs import sets_of
from statpriv.theories.granularity.pairs import Metric, distance_of
from statpriv.theories.granularity.protocol import Granularity, as_granularity
from statpriv.theories.granularity.relation import (
    all_databases,
    as_functions,
    relation_on,
    warn_of_missing_paths,
)


@dataclass(frozen=True)
class Counterexample:
    """Two databases for which a condition fails, and their inputs.

    Attributes
    ----------
    pair : tuple
        D and D'.
    inputs : tuple of int
        The inputs in which they differ.
    first, second : tuple
        The inputs of D and of D'.
    """

    pair: tuple[Any, Any]
    inputs: tuple[int, ...]
    first: tuple[Any, ...]
    second: tuple[Any, ...]

    def __str__(self) -> str:
        return (
            f"{abridged(self.pair[0])} and {abridged(self.pair[1])} differ in inputs {', '.join(map(str, self.inputs))}"
        )


@dataclass(frozen=True)
class PartitionCheck:
    """The properties of the inputs on this class of databases.

    Attributes
    ----------
    compatible : bool
        Whether neighbouring databases differ in at most one input.
    commuting : bool or None
        Whether `Σ d(f_i(D), f_i(D')) ≤ d(D, D')`; None if no metric of the inputs is known.
    sensitivities : tuple or None
        The sensitivity of each function, `math.inf` if it is not finite; None if no metric of the inputs is known.
    incompatible_pair, noncommuting_pair : Counterexample or None
        A pair of databases for which the property fails.
    most_changed : int
        The largest number of inputs that one step changes.
    """

    compatible: bool
    commuting: bool | None
    sensitivities: tuple[Fraction | float, ...] | None
    incompatible_pair: Counterexample | None
    noncommuting_pair: Counterexample | None
    most_changed: int

    @property
    def own_domain(self) -> bool:
        """Whether Theorem IV.6 applies: compatible, and all sensitivities at most 1."""
        return self.compatible and self.sensitivities is not None and all(value <= 1 for value in self.sensitivities)

    def explain(self) -> str:
        """The properties, the theorem that applies, and counterexamples."""
        lines = [
            "compatible: neighbours differ in one input at most"
            if self.incompatible_pair is None
            else f"not compatible: {self.incompatible_pair}"
        ]
        if self.sensitivities is not None:
            shown = ", ".join("∞" if value == math.inf else literal(Fraction(value)) for value in self.sensitivities)
            lines.append(f"sensitivities: {shown}")
            lines.append(
                "commuting: the distances of the inputs add up to no more than that of the databases"
                if self.noncommuting_pair is None
                else f"not commuting: {self.noncommuting_pair}"
            )
        lines.append(f"the maximum of the budgets: {self._maximum()}")
        return "\n".join(lines)

    def _maximum(self) -> str:
        if self.own_domain:
            return "yes, for budgets on the inputs (Theorem IV.6) or on whole databases (Theorem IV.12)"
        if self.compatible:
            return "yes, for budgets on whole databases (Theorem IV.12)"
        return f"no; of budgets on whole databases {self.most_changed} can add up (Theorem IV.11)"

    def __repr__(self) -> str:
        words = ["compatible" if self.compatible else "not compatible"]
        if self.commuting is not None:
            words.append("commuting" if self.commuting else "not commuting")
        return f"<PartitionCheck: {', '.join(words)}>"


def check_partition(
    inputs: Any,  # noqa: ANN401  (Inputs, or functions)
    granularity: Granularity,
    universe: Sequence[Hashable] | None = None,
    *,
    parts: Metric | None = None,
) -> PartitionCheck:
    """Whether inputs are compatible and commuting, and their sensitivities, on a finite class of databases.

    Parameters
    ----------
    inputs : Inputs or sequence of functions
        The part of a database that each query reads.
    granularity : granularity
        The granularity of the databases.
    universe : sequence of hashables, optional
        All databases of the class; by default those of a `Relation`.
    parts : granularity or callable, optional
        The metric of the inputs. The default for `Inputs` is the granularity itself. Without a metric only
        compatibility is checked.

    Returns
    -------
    PartitionCheck
        The properties, with a counterexample for each property that fails.

    Warns
    -----
    NoPathWarning
        If some databases of the class are infinitely far apart.

    Notes
    -----
    Section IV-C. The cost is quadratic in the number of databases. "Commuting" is stronger than "compatible" for
    databases that are far apart; for neighbours the two are equivalent.

    Examples
    --------
    >>> import statpriv as sp
    >>> tables = [("a", "a"), ("a", "b"), ("b", "b")]
    >>> by_value = sp.granularity.Inputs([{"a"}, {"b"}])
    >>> found = sp.granularity.check_partition(by_value, sp.granularity.Bounded(), tables)
    >>> print(found.explain())
    not compatible: ('a', 'a') and ('a', 'b') differ in inputs 0, 1
    sensitivities: ∞, ∞
    not commuting: ('a', 'a') and ('a', 'b') differ in inputs 0, 1
    the maximum of the budgets: no; of budgets on whole databases 2 can add up (Theorem IV.11)
    """
    chosen = as_granularity(granularity)
    relation = relation_on(chosen)
    if universe is None and relation is None:
        raise ArgumentError(f"universe is not given; all databases of the class are required with {chosen.name}")
    databases = relation.universe if relation is not None and universe is None else all_databases(universe)
    functions = as_functions(inputs)
    warn_of_missing_paths(databases, chosen)
    metric = parts if parts is not None or sets_of(inputs) is None else chosen
    seen = {
        as_key(database, "a database"): tuple(function(database) for function in functions) for database in databases
    }
    # Tables are multisets, so `==` may distinguish equal inputs: the metric of the inputs decides, if there is one.
    changed = _changed(metric)
    worst: Counterexample | None = None
    for first, second in _neighbours(databases, chosen):
        differing = changed(seen[first], seen[second])
        if len(differing) > (len(worst.inputs) if worst else 0):
            worst = Counterexample((first, second), differing, seen[first], seen[second])
    compatible = worst is None or len(worst.inputs) < 2
    noncommuting, sensitivities = None, None
    if metric is not None:
        sensitivities = tuple(
            sensitivity(function, universe=databases, source=chosen, target=metric).value for function in functions
        )
        noncommuting = _noncommuting(databases, chosen, metric, seen, changed)
    return PartitionCheck(
        compatible,
        None if metric is None else noncommuting is None,
        sensitivities,
        None if compatible else worst,
        noncommuting,
        len(worst.inputs) if worst else 0,
    )


Changed = Callable[[tuple[Any, ...], tuple[Any, ...]], tuple[int, ...]]


def _changed(metric: Metric | None) -> Changed:
    """The inputs in which two databases differ."""

    def differ(one: object, other: object) -> bool:
        return one != other if metric is None else distance_of(metric, one, other) != 0

    return lambda first, second: tuple(
        i for i, (one, other) in enumerate(zip(first, second, strict=True)) if differ(one, other)
    )


def _neighbours(databases: Sequence[Hashable], granularity: Granularity) -> Iterator[tuple[Hashable, Hashable]]:
    relation = relation_on(granularity)
    if relation is not None and relation.universe == databases:
        yield from relation.pairs
        return
    for first, second in combinations(databases, 2):
        if granularity.neighbours(first, second):
            yield first, second


def _noncommuting(
    databases: Sequence[Hashable],
    granularity: Granularity,
    metric: Metric,
    seen: dict[Hashable, tuple[Any, ...]],
    changed: Changed,
) -> Counterexample | None:
    """The first pair for which the distances of the inputs sum to more than the distance of the databases."""
    for first, second in combinations(databases, 2):
        whole = distance_of(granularity, first, second)
        inputs = zip(seen[first], seen[second], strict=True)
        if sum(distance_of(metric, one, other) for one, other in inputs) > whole:
            return Counterexample((first, second), changed(seen[first], seen[second]), seen[first], seen[second])
    return None
