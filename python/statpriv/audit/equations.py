"""Bounds of unknown counts from linear equations, by linear programming, and proved in exact arithmetic.

Unknown counts `x_j` are integers with `0 ≤ x_j ≤ u_j`, where `u_j` may be infinite, and `Σ_{j∈R_i} x_j = b_i` for each
equation i. HiGHS proposes; nothing it says is believed. A lower bound of `f = Σ_{j∈S} x_j` is proved by weak duality:
for *any* rational multipliers y, every solution has

    f  =  Σ_i y_i b_i + Σ_j r_j x_j  ≥  Σ_i y_i b_i + Σ_j min(0, r_j) u_j,     r_j = 1{j∈S} − Σ_{i: j∈R_i} y_i,

with the right side −∞ where some r_j < 0 has an infinite u_j. The multipliers of HiGHS are rounded to fractions, and
the right side is evaluated in integers. As f is an integer, the bound may be rounded up. Upper bounds are those of −f.
Bad multipliers make a bound weak, and never false (A. Schrijver, Theory of Linear and Integer Programming, 1986,
chapter 7).

A bound is *attained* if a solution of integers that has it was found and checked. In a table of two dimensions with any
of its totals, the equations are about two families of nested sets: rows and the whole, columns and the whole. Their
matrix is totally unimodular (J. Edmonds, Submodular functions, matroids, and certain polyhedra, 1970), so that vertices
are integers and bounds are attained. In three dimensions tables of integers may reach less far than those of fractions.
There a table of integers is also looked for by branch and bound.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from statpriv.errors import ArgumentError, MissingExtraError

_DENOMINATORS = (1, 2, 6, 60, 5040)
"""Multipliers of HiGHS are tried as multiples of one over these. In tables of two dimensions they are integers."""
_BRANCHES = 20
"""Nodes of branch and bound in the search for a table of integers that attains a bound. A number of nodes, not a time:
results do not depend on the machine."""
_INFEASIBLE = 2
"""What scipy reports where no solution exists."""


@dataclass(frozen=True)
class Bounds:
    """What a count lies between.

    Attributes
    ----------
    lower : int
        It is at least this: proved.
    upper : int, or None
        It is at most this: proved. None where nothing bounds it.
    lower_attained, upper_attained : bool
        Whether whole numbers with exactly this count were found that solve every equation that bears on it.
    """

    lower: int
    upper: int | None
    lower_attained: bool = False
    upper_attained: bool = False

    @property
    def known(self) -> bool:
        """Whether only one value is possible."""
        return self.lower == self.upper

    def __str__(self) -> str:
        return (
            str(self.lower) if self.known else f"{self.lower} to {'any number' if self.upper is None else self.upper}"
        )


class ContradictionError(ArgumentError):
    """Published counts that no table has."""


@dataclass(frozen=True)
class Equation:
    """The unknown counts of these numbers sum to `total`."""

    unknowns: tuple[int, ...]
    total: int


@dataclass(frozen=True)
class CountSystem:
    """Equations about `size` unknown counts, the j-th of which is at most `most[j]`."""

    size: int
    equations: tuple[Equation, ...]
    most: tuple[int | None, ...] = field(repr=False)

    @cached_property
    def upper(self) -> tuple[int | None, ...]:
        """The largest value of each unknown by itself: by its mark, and by each equation, since none is negative.

        Raises
        ------
        ContradictionError
            An equation cannot hold.
        """
        found = list(self.most)
        for each in self.equations:
            if each.total < 0 or (each.total > 0 and not each.unknowns):
                raise ContradictionError("the published counts contradict each other: no table has all of them")
            for j in each.unknowns:
                known = found[j]
                found[j] = each.total if known is None else min(known, each.total)
        return tuple(found)

    @cached_property
    def _component(self) -> list[int]:
        """For each unknown, one that stands for all it hangs together with."""
        parent = list(range(self.size))

        def root(j: int) -> int:
            while parent[j] != j:
                parent[j] = parent[parent[j]]
                j = parent[j]
            return j

        for each in self.equations:
            for j in each.unknowns[1:]:
                parent[root(j)] = root(each.unknowns[0])
        return [root(j) for j in range(self.size)]

    def bounds(self, of: Collection[int]) -> Bounds:
        """The bounds of the sum of these unknowns.

        Raises
        ------
        ContradictionError
            No counts solve the equations.
        MissingExtraError
            scipy is not installed.
        """
        chosen = frozenset(of)
        ends = [self.upper[j] for j in chosen]
        most = None if None in ends else sum(end or 0 for end in ends)
        if most == 0:
            return Bounds(0, 0, lower_attained=True, upper_attained=True)
        part = self._part(frozenset(self._component[j] for j in chosen))
        places = [part.place[j] for j in chosen]
        proved, least = part.extreme(places, 1)
        lower = max(0, proved or 0)
        if most is None:
            return Bounds(lower, None, lower_attained=least == lower)
        proved, greatest = part.extreme(places, -1)
        upper = most if proved is None else min(most, -proved)
        return Bounds(lower, upper, lower_attained=least == lower, upper_attained=greatest == upper)

    def _part(self, roots: frozenset[int]) -> _Part:
        """All that hangs together with some unknowns."""
        if roots not in self._parts:
            kept = [j for j in range(self.size) if self._component[j] in roots]
            place = {j: k for k, j in enumerate(kept)}
            equations = [
                Equation(tuple(place[j] for j in each.unknowns), each.total)
                for each in self.equations
                if each.unknowns and each.unknowns[0] in place
            ]
            self._parts[roots] = _Part(equations, [self.upper[j] for j in kept], place)
        return self._parts[roots]

    @cached_property
    def _parts(self) -> dict[frozenset[int], _Part]:
        return {}


class _Part:
    """Equations about unknowns that hang together, and what HiGHS needs of them."""

    def __init__(self, equations: Sequence[Equation], upper: Sequence[int | None], place: dict[int, int]) -> None:
        self.equations, self.upper, self.place = equations, upper, place

    def extreme(self, chosen: Collection[int], sign: int) -> tuple[int | None, int | None]:
        """A proved lower bound of `sign` times the sum of the chosen, and the least sum (or greatest) that was found.

        Either may be None: nothing was proved, or no solution of integers was found.
        """
        if not self.equations:  # each unknown is free up to its own end
            ends = [self.upper[j] for j in chosen]
            if sign > 0:
                return 0, 0
            return (None, None) if None in ends else (-sum(end or 0 for end in ends), sum(end or 0 for end in ends))
        costs = [0] * len(self.upper)
        for j in chosen:
            costs[j] = sign
        solved = _linprog()(costs, A_eq=self._matrix, b_eq=self._totals, bounds=self._ranges, method="highs")
        if solved.status == _INFEASIBLE:
            raise ContradictionError("the published counts contradict each other: no table has all of them")
        if solved.status != 0:
            return None, None
        proved = self._proved(costs, [float(y) for y in solved.eqlin.marginals], float(solved.fun))
        found = self._checked([float(x) for x in solved.x], chosen)
        if proved is not None and found != sign * proved:
            found = self._integers(costs, chosen)
        return proved, found

    def _integers(self, costs: Sequence[int], chosen: Collection[int]) -> int | None:
        """The sum of the chosen in a solution of integers, if HiGHS finds one with little branching."""
        from scipy.optimize import Bounds as Ranges
        from scipy.optimize import LinearConstraint, milp

        ends = [math.inf if end is None else end for end in self.upper]
        solved = milp(
            costs,
            constraints=LinearConstraint(self._matrix, self._totals, self._totals),
            bounds=Ranges(0, ends),
            integrality=[1] * len(costs),
            options={"node_limit": _BRANCHES},
        )
        return None if solved.x is None else self._checked([float(x) for x in solved.x], chosen)

    def _proved(self, costs: Sequence[int], multipliers: Sequence[float], optimum: float) -> int | None:
        """The best bound by weak duality for multipliers next to those of HiGHS, in integers."""
        best: int | None = None
        for denominator in _DENOMINATORS:
            scaled = [round(y * denominator) for y in multipliers]
            remaining = [denominator * cost for cost in costs]
            bound, finite = 0, True
            for y, each in zip(scaled, self.equations, strict=True):
                if y:
                    bound += y * each.total
                    for j in each.unknowns:
                        remaining[j] -= y
            for r, end in zip(remaining, self.upper, strict=True):
                if r < 0:
                    bound, finite = bound + r * (end or 0), finite and end is not None
            if finite:
                rounded_up = -(-bound // denominator)
                best = rounded_up if best is None else max(best, rounded_up)
                if best >= math.ceil(optimum - 1e-6):  # a guess that no better one is there; the bound is proved anyway
                    return best
        return best

    def _checked(self, values: Sequence[float], chosen: Collection[int]) -> int | None:
        """The sum of the chosen in the integers next to `values`, if these solve the equations."""
        counts = [round(value) for value in values]
        inside = all(x >= 0 and (end is None or x <= end) for x, end in zip(counts, self.upper, strict=True))
        holds = all(sum(counts[j] for j in each.unknowns) == each.total for each in self.equations)
        return sum(counts[j] for j in chosen) if inside and holds else None

    @cached_property
    def _matrix(self) -> Any:  # noqa: ANN401  (scipy has no types)
        from scipy.sparse import csr_array

        rows = [i for i, each in enumerate(self.equations) for _ in each.unknowns]
        columns = [j for each in self.equations for j in each.unknowns]
        return csr_array(([1.0] * len(rows), (rows, columns)), shape=(len(self.equations), len(self.upper)))

    @cached_property
    def _totals(self) -> list[int]:
        return [each.total for each in self.equations]

    @cached_property
    def _ranges(self) -> list[tuple[int, int | None]]:
        return [(0, end) for end in self.upper]


def _linprog() -> Any:  # noqa: ANN401  (scipy has no types)
    try:
        from scipy.optimize import linprog
    except ImportError as error:
        raise MissingExtraError(
            "bounds of unknown counts need scipy: pip install 'statpriv[audit]', or leave them out"
        ) from error
    return linprog
