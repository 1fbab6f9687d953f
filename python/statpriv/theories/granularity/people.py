"""Persons who own several rows: which part of the theory of granularities carries over to statistical privacy.

A *person* is a granularity: neighbouring databases differ in all rows of one person, at most r. In differential privacy
the change of granularity is Proposition A.3 with c = r: (ε, δ) for rows gives (rε, δ (e^{rε}−1)/(e^ε−1)) for persons.

**The rule is false in statistical privacy**, because δ there comes from the rows that nobody knows. In a chain of r
steps that each change one row, the other r−1 rows of the person have fixed values, so they are no longer unknown. For a
count of 5 rows at p = 2/5 and ε = 2, a person of two rows has δ = 0.648, but the rule applied to the curve of one row
gives 0.482.

**The valid bound** is the chain with r−1 more known entries, at their worst values
(:mod:`statpriv.planning.sensitivity`):

    Δ_r(ε) ≤ Σ_{i<r} e^{iε/r} · Δ̂_{r−1 more known}(ε/r),

or the same at a smaller ε; for one count the exact value is used. Both are bounds for every person of *at most* r rows.
Proof: let a person own s < r rows, and add any r−s other rows. Given the values of these, the two laws of the answer
are a pair that the bound for r rows covers, with the same r−s values on both sides. The hockey stick of a mixture of
pairs is at most that of the worst pair.

**Assumptions of both.** All rows are independent, also the rows of one person. The rows that nobody knows may belong to
persons with several rows too. If the rows of such a person depend on each other, their sum has a different law than
that of independent rows, and neither δ holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from statpriv.errors import ArgumentError
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.situation import Query
from statpriv.numeric.arguments import as_instance, as_items
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_fraction, as_probability
from statpriv.numeric.literals import at_most, literal
from statpriv.planning.sensitivity import several_rows
from statpriv.theories.differential.inverse import least_epsilon

_BEYOND = 10**300
"""An ε beyond which δ of several rows is constant."""
_INDEPENDENT = "all rows are independent of each other, also the rows of one person"


@dataclass(frozen=True)
class PersonCurve:
    """δ as a function of ε for persons of at most `rows` rows, where all rows are independent.

    Attributes
    ----------
    queries, population, partition, known, bound
        The arguments of :func:`person_curve`.
    rows : int
        The largest number of rows of a person.
    """

    queries: Query | tuple[PropertyQuery, ...]
    population: Population
    partition: RandomPartition | None
    rows: int
    known: int
    bound: str

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions on the data."""
        return (_INDEPENDENT,)

    def delta(self, epsilon: Number) -> Enclosure:
        """A δ for which every person of at most `rows` rows is (ε, δ)-private; ε in nats. Its upper end is safe."""
        return self._at(epsilon)[0]

    def epsilon(self, delta: Number) -> Enclosure:
        """The least ε at which :meth:`delta` is at most this δ > 0; the upper end is safe, and may be infinite."""
        target = as_probability(delta, "delta")
        if target == 0:
            raise ArgumentError(f"delta = {delta}; a number above 0 is required: an exact answer has no pure guarantee")
        if self.rows > 1 and self.delta(_BEYOND).lower > target:  # some answers exclude a person, at any ε
            return Enclosure(math.inf)
        return least_epsilon(self.delta, target)

    def kind_at(self, epsilon: Number) -> str:
        """Whether δ at this ε is `"exact"`, `"enclosed"` or a `"bound"`, under the :attr:`assumptions`."""
        return self._at(epsilon)[1]

    def printed_group_privacy(self, epsilon: Number) -> Enclosure:
        """Proposition A.3 applied to the curve of one row, `Σ_{i<r} e^{iε/r} Δ(ε/r)`; it may be too low."""
        step = as_fraction(epsilon, "epsilon") / self.rows
        one, _ = self._several(step, 1)
        total = one
        for i in range(1, self.rows):
            total = total + one * _exponential(i * step)
        return total

    def explain(self, epsilon: Number) -> str:
        """δ at one ε, its kind, its assumptions, and values that do not follow."""
        at = as_fraction(epsilon, "epsilon")
        (delta, kind), (one, _) = self._several(at, self.rows), self._several(at, 1)
        found = f"{at_most(delta.upper)} ({kind} for independent rows)"
        return "\n".join(
            [
                f"persons of at most {self.rows} rows: δ({literal(at)}) ≤ {found}",
                f"  assumes: {_INDEPENDENT}",
                f"  one row a person: {at_most(one.upper)}",
                "  holds: the chain of one row after the other, with the person's other rows known to the adversary",
                "  does not hold: group privacy with the curve of one row (Proposition A.3); of a person's rows one "
                "is critical, and the others are not unknown",
                "  does not hold: that a person is in one part of a random partition (Theorem 5.1); rows may "
                "be in several",
            ]
        )

    def _at(self, epsilon: Number) -> tuple[Enclosure, str]:
        return self._several(as_fraction(epsilon, "epsilon"), self.rows)

    def _several(self, epsilon: Fraction, rows: int) -> tuple[Enclosure, str]:
        return several_rows(
            self.queries,
            self.population,
            self.partition,
            epsilon=epsilon,
            rows=rows,
            known=self.known,
            bound=self.bound,
        )

    def __repr__(self) -> str:
        return f"<PersonCurve, at most {self.rows} of {self.population.size} rows a person>"


def person_curve(
    queries: Query | Iterable[PropertyQuery],
    population: Population,
    partition: RandomPartition | None = None,
    *,
    rows: Number,
    known: Number = 0,
    bound: str = "tightest",
) -> PersonCurve:
    """The certified privacy curve of exact answers at the granularity of persons.

    Parameters
    ----------
    queries : a query, or iterable of PropertyQuery
        One query of all entries, or one for each part of a partition.
    population : Population
        The rows.
    partition : RandomPartition, optional
        The assignment of rows to queries; by default all rows answer the one query.
    rows : int
        The largest number of rows of a person, from 1 to the number of rows that nobody knows.
    known : int, default 0
        Number of rows of others that the adversary knows.
    bound : str, default "tightest"
        As for :func:`statpriv.compose`.

    Returns
    -------
    PersonCurve
        The curve, with `delta`, `epsilon` and `explain`. It is exact for one count of all rows.

    Notes
    -----
    All rows are assumed to be independent of each other, also the rows of one person.
    Proofs in :mod:`statpriv.theories.granularity.people` and :mod:`statpriv.planning.sensitivity`.

    Examples
    --------
    >>> import statpriv as sp
    >>> visits = sp.granularity.person_curve(sp.PropertyQuery("0.4"), sp.Population(1000), rows=3)
    >>> print(visits.explain("0.1"))
    persons of at most 3 rows: δ(0.1) ≤ 0.0394065 (exact for independent rows)
      assumes: all rows are independent of each other, also the rows of one person
      one row a person: 0.00183795
      ...
    """
    as_instance(population, "population", Population, "a Population such as sp.Population(1000) is required")
    population.require_no_clusters("persons of several rows")
    required = "a query such as sp.PropertyQuery(0.5), or a list with one for each part, is required"
    asked: Query | tuple[PropertyQuery, ...] = (
        queries if isinstance(queries, Query) else tuple(as_items(queries, "queries", required))
    )
    person = as_count(rows, "rows", least=1)
    curve = PersonCurve(asked, population, partition, person, as_count(known, "known"), bound)
    unknown = population.size - curve.known
    if person > unknown:
        raise ArgumentError(f"rows = {rows}; nobody knows {unknown} rows, and a person has at most that many")
    return curve


def _exponential(exponent: Fraction) -> Enclosure:
    from statpriv.numeric.intervals import enclosure, exact, interval_context

    context = interval_context(128)
    return enclosure(context.exp(exact(context, exponent)))
