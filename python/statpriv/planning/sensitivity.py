"""The sensitivity of a guarantee to its assumptions: stated probabilities, known rows, and one row per person.

**Several rows per person.** Let r rows belong to one person, and let all of them change, one after the other. In each
step one row is critical and the other r−1 rows have fixed values. Two neighbouring steps are therefore (ε/r, δ')-close,
with δ' = Δ̂(ε/r) for an adversary that knows r−1 further entries at their worst values. Chaining the r inequalities
`P_i(S) ≤ e^{ε/r} P_{i+1}(S) + δ'` gives

    Δ_r(ε) ≤ Σ_{i<r} e^{iε/r} · Δ̂_{r−1 more known}(ε/r).

Δ_r falls with ε, so the same expression at any smaller ε is a bound too. The best of several values is taken.

**One count: exact.** Let N entries be unknown, r of them the person's. The count is `a + B` for the person's own
a = 0..r and `B ~ Bin(N−r, p)`. B is log-concave, so for a > b the ratio of the laws of `a + B` and `b + B` increases,
and the best test is "at least c". The value `P[a + B ≥ c] − e^ε P[b + B ≥ c]` at its best c depends only on a − b and
grows with it. So (r, 0) is the worst pair of one direction: `δ = max_c P[B ≥ c−r] − e^ε P[B ≥ c]`. The best c is the
least integer with `P[B = c−r] > e^ε P[B = c]`. The other direction is the same at 1−p.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Literal, TypeAlias, cast

from statpriv.curves.build import compose, privacy_curve
from statpriv.curves.comparison import Tabulated
from statpriv.curves.curve import PrivacyCurve
from statpriv.distributions.laws import binomial_upper_tail
from statpriv.errors import ArgumentError, NotAvailableError, PrecisionError
from statpriv.model.adversaries import Adversary
from statpriv.model.codec import stated_range
from statpriv.model.features import CLUSTERS, EACH
from statpriv.model.fields import Range
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import EachBetween
from statpriv.model.situation import PartitionedSituation, Query, Situation
from statpriv.numeric.arguments import as_items
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_fraction, as_nonnegative
from statpriv.numeric.literals import at_most, literal
from statpriv.numeric.search import least_integer
from statpriv.numeric.transcendental import exponential_ends
from statpriv.planning.study import require_no_features
from statpriv.rules.registry import Kind, all_rules

Assumption: TypeAlias = Literal[
    "as stated", "probability", "people not alike", "households", "known rows", "rows a person"
]
_Changed: TypeAlias = Callable[[Fraction], tuple[Enclosure, Kind]]

_OUTSIDE = tuple(Fraction(k, 100) for k in (1, 2, 5, 10, 20))
APART = (Fraction(5, 100), Fraction(20, 100))
"""How far outside a stated range the probabilities of single rows may lie."""
_EVERYTHING = "everything"
"""What stands for several different ranges."""
HOUSEHOLDS = (2, 3)
"""Rows of the largest household; there are as few households as these allow."""
_ROWS = (2, 3, 5, 10)
_RARER = tuple(Fraction(1, k) for k in (2, 5, 10))
_SHARES_KNOWN = tuple(Fraction(k, 100) for k in (1, 2, 5, 10))
_MAX_STEP = Fraction(8)
_SHORTER = Fraction(3, 4)
"""Ratio between successive steps tried for the chain, from the largest step down."""
_UNIT = Fraction(1, 32)
"""Spacing of the lattice of steps around the best of them."""
_MAX_EXPONENT = Fraction(2000)
"""Beyond it an exponential times the least positive double is above one."""
_DIGITS = 30
"""Digits of the tails; their difference has fewer."""


@dataclass(frozen=True)
class Change:
    """δ under one changed assumption.

    Attributes
    ----------
    assumption : {"as stated", "probability", "people not alike", "households", "known rows", "rows a person"}
        The changed assumption.
    value : str
        What is assumed instead.
    delta : Enclosure
        δ under the changed assumption.
    kind : str
        What the enclosure encloses: `"exact"`, `"bound"` or `"enclosed"`, as for a curve.
    """

    assumption: Assumption
    value: str
    delta: Enclosure
    kind: Kind


@dataclass(frozen=True)
class Sensitivity(Tabulated):
    """δ at one ε under changed assumptions, with the stated ones first."""

    epsilon: Fraction
    changes: tuple[Change, ...]

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    def __getitem__(self, index: int) -> Change:
        return self.changes[index]

    @property
    def _heading(self) -> list[str]:
        return ["assumption", "instead", f"δ({literal(self.epsilon)}) at most", "kind"]

    def _cells(self) -> list[list[str]]:
        return [[change.assumption, change.value, at_most(change.delta.upper), change.kind] for change in self]

    def __repr__(self) -> str:
        return f"<Sensitivity at ε = {literal(self.epsilon)}: {len(self)} assumptions>"

    def document(self) -> list[dict[str, object]]:
        """The table for JSON: δ with both ends."""
        return [
            {
                "assumption": change.assumption,
                "value": change.value,
                "delta": {"lower": change.delta.lower, "upper": change.delta.upper},
                "kind": change.kind,
            }
            for change in self
        ]


def sensitivity_of(
    queries: Query | Iterable[PropertyQuery],
    population: Population,
    partition: RandomPartition | None = None,
    *,
    epsilon: Number,
    known: Number = 0,
    rows: Iterable[Number] = _ROWS,
    bound: str = "tightest",
) -> Sensitivity:
    """δ under changed assumptions: p outside its range, more known rows, or several rows per person.

    Parameters
    ----------
    queries : a query, or iterable of PropertyQuery
        One query of all entries, or one query for each part of a partition.
    population : Population
        How many entries there are, the critical one included.
    partition : RandomPartition, optional
        The entries that answer each query; by default all entries answer the one query.
    epsilon : number
        ε in nats, at least 0.
    known : int, default 0
        Number of entries an adversary knows, as stated.
    rows : iterable of int, default (2, 3, 5, 10)
        Numbers of rows that one person may have, each at least 2.
    bound : str, default "tightest"
        As for :func:`statpriv.compose`.

    Returns
    -------
    Sensitivity
        A table. Ranges of p are widened by 0.01, 0.02, 0.05, 0.1 and 0.2 at both ends. For a histogram, the rarest cell
        is made 2, 5 and 10 times rarer. Each row has a probability of its own, in the stated range and up to 0.05 and
        0.2 outside of it. Rows of a household depend on each other, in households of up to 2 and 3. 1, 2, 5 and 10
        percent of the entries are known. One person has each of the given numbers of rows. The table omits impossible
        changes, such as more rows than unknown entries, and changes
        for which no bound is known. If δ for one row is exact and δ for several rows is a bound, part of the difference
        is the looseness of the bound. Results for several rows per person assume that all rows are independent,
        including those of one person.

    Raises
    ------
    ArgumentError
        A value that is not allowed.

    Notes
    -----
    One assumption changes at a time. Sources: *Parallel Composition for Statistical Privacy*, Definition 2.2; for
    several rows per person, the proofs in :mod:`statpriv.planning.sensitivity`.

    Examples
    --------
    >>> import statpriv as sp
    >>> query = sp.PropertyQuery("0.4")
    >>> print(sp.sensitivity_of(query, sp.Population(1000), epsilon="0.1", rows=[2, 3]))
    assumption        instead                               δ(0.1) at most  kind
    as stated         p = 0.4                               0.00183795      exact
    probability       p from 0.39 to 0.41                   0.00188160      exact
    probability       p from 0.38 to 0.42                   0.00192788      exact
    probability       p from 0.35 to 0.45                   0.00210306      exact
    probability       p from 0.3 to 0.5                     0.00253209      exact
    probability       p from 0.2 to 0.6                     0.00439357      exact
    people not alike  each row its own p from 0.35 to 0.45  0.00210306      exact
    people not alike  each row its own p from 0.2 to 0.6    0.00439357      exact
    households        of up to 2 rows                       0.0354235       bound
    households        of up to 3 rows                       0.0939074       bound
    known rows        10                                    0.00188136      exact
    known rows        20                                    0.00192389      exact
    known rows        50                                    0.00206302      exact
    known rows        100                                   0.00231997      exact
    rows a person     2                                     0.0172054       exact
    rows a person     3                                     0.0394065       exact
    """
    return _Release.of(queries, population, partition, as_count(known, "known"), bound).sensitivity(epsilon, rows)


def sensitivity_of_curve(curve: PrivacyCurve, bound: str, *, epsilon: Number, rows: Iterable[Number]) -> Sensitivity:
    """δ of a curve under changed assumptions, by the named bound; see :meth:`PrivacyCurve.sensitivity`."""
    situation = curve.situation
    if not isinstance(situation, Situation | PartitionedSituation):
        raise NotAvailableError(
            "the sensitivity of an adaptive composition, or of answers about the same rows, is not computed; state its "
            "queries in sp.compose(...) with a partition"
        )
    require_no_features(situation.features & CLUSTERS, "no other assumptions are compared")
    return _Release(situation, bound).sensitivity(epsilon, rows)


def several_rows(
    queries: Query | Iterable[PropertyQuery],
    population: Population,
    partition: RandomPartition | None = None,
    *,
    epsilon: Number,
    rows: Number,
    known: Number = 0,
    bound: str = "tightest",
) -> tuple[Enclosure, Kind]:
    """δ at one ε if one person has `rows` rows, and the kind of enclosure; arguments as for `sensitivity_of`."""
    release = _Release.of(queries, population, partition, as_count(known, "known"), bound)
    person = as_count(rows, "rows", least=1)
    if person > release.unknown:
        raise ArgumentError(f"rows = {rows}; of {release.unknown} unknown entries, a person has at most that many")
    exact = as_nonnegative(epsilon, "epsilon")
    if person == 1:
        return release.delta(exact)
    return release.person_of(person, exact)


def if_one_count(curve: PrivacyCurve, rows: int, epsilon: Fraction) -> Enclosure | None:
    """The exact δ if one person has `rows` rows and the answers amount to one count of all entries; else None.

    >>> curve = privacy_curve(PropertyQuery("2/5"), Population(472))
    >>> [round(if_one_count(curve, rows, Fraction(1, 10)).upper, 4) for rows in (2, 4)]
    [0.0374, 0.1106]
    """
    return _Release(cast("Situation | PartitionedSituation", curve.situation), "tightest").if_one_count(rows, epsilon)


@dataclass(frozen=True)
class _Release:
    """A release: what is published, the adversary, and the bound."""

    situation: Situation | PartitionedSituation
    bound: str

    @classmethod
    def of(
        cls,
        queries: Query | Iterable[PropertyQuery],
        population: Population,
        partition: RandomPartition | None,
        known: int,
        bound: str,
    ) -> _Release:
        several = not isinstance(queries, Query)
        if several != (partition is not None):
            raise ArgumentError(
                f"partition = {partition}; several queries need a partition, and one query of all entries none"
            )
        adversary = Adversary(known=known)
        if partition is None:
            curve = privacy_curve(cast("Query", queries), population, adversary=adversary, bound=bound)
        else:  # what is no list of queries is refused there
            asked = cast("Iterable[PropertyQuery]", queries)
            curve = compose(asked, population, partition, adversary=adversary, bound=bound)
        require_no_features(curve.situation.features - EACH, "no other assumptions are compared")
        return cls(cast("Situation | PartitionedSituation", curve.situation), bound)

    def sensitivity(self, epsilon: Number, rows: Iterable[Number]) -> Sensitivity:
        """The table, without changes that are impossible or for which no bound is known."""
        exact = as_fraction(epsilon, "epsilon")
        asked = as_items(rows, "rows", "a list of numbers of rows, such as [2, 3], is required")
        people = [as_count(number, "rows", least=2) for number in asked]
        stated = self.curve()
        changes = [Change("as stated", self.probability, stated.delta(exact), stated.kind)]
        for assumption, value, changed in self._alternatives(people):
            try:
                delta, kind = changed(exact)
            except (NotAvailableError, PrecisionError):
                continue
            changes.append(Change(assumption, value, delta, kind))
        return Sensitivity(exact, tuple(changes))

    def _alternatives(self, people: list[int]) -> Iterator[tuple[Assumption, str, _Changed]]:
        """Every changed assumption in words, with the function from ε to δ under it."""
        for description, other in self.other_probabilities():
            yield "probability", description, other.delta
        for description, other in self.people_not_alike():
            yield "people not alike", description, other.delta
        for description, other in self.in_households():
            yield "households", description, other.delta
        for number in self.other_numbers_known():
            yield "known rows", str(number), self.knowing(number).delta
        if not self._given_that_it_is_drawn:
            for person in people:
                if person <= self.unknown:
                    yield "rows a person", str(person), partial(self.person_of, person)

    def curve(self) -> PrivacyCurve:
        return PrivacyCurve(self.situation, bound=self.bound)

    def delta(self, epsilon: Fraction) -> tuple[Enclosure, Kind]:
        curve = self.curve()
        return curve.delta(epsilon), curve.kind

    def knowing(self, known: int) -> _Release:
        """The same release with this many known rows, wherever they are."""
        adversary = Adversary(known=known, values=self.situation.adversary.values)
        return replace(self, situation=replace(self.situation, adversary=adversary))

    @property
    def queries(self) -> tuple[Query, ...]:
        return self.situation.queries

    @property
    def size(self) -> int:
        return self.situation.population.size

    @property
    def unknown(self) -> int:
        return self.size - self.situation.adversary.total

    @property
    def _given_that_it_is_drawn(self) -> bool:
        """Whether the bound concerns a critical entry in the sample; it then excludes several rows of a person."""
        return any(
            rule.conditional for rule in all_rules() if rule.bound == self.bound and rule.is_about(self.situation)
        )

    # --- probabilities

    @property
    def _uniform_counts(self) -> list[PropertyQuery]:
        """The counts that state one p, or one range of p, for all entries."""
        return [query for query in self.queries if isinstance(query, PropertyQuery) and query.is_uniform]

    @property
    def probability(self) -> str:
        """The stated probability, in words."""
        ranges = {(query.lower, query.upper) for query in self._uniform_counts}
        if len(ranges) != 1:
            return _EVERYTHING
        (ends,) = ranges
        own = "each row its own " if any(query.each_own for query in self._uniform_counts) else ""
        return own + _range(*ends)

    def other_probabilities(self) -> Iterator[tuple[str, _Release]]:
        """The same release under changed probabilities, each with a description."""
        properties = self._uniform_counts
        if len(properties) == len(self.queries):
            for distance in _OUTSIDE:
                wider = tuple(_widened(query, distance) for query in properties)
                if wider == self.queries:
                    continue
                other = self._asking(wider)
                one = other.probability != _EVERYTHING
                yield other.probability if one else f"{literal(distance)} outside each range", other
        query = self.queries[0]
        if len(self.queries) == 1 and isinstance(query, HistogramQuery) and query.is_uniform and not query.has_ranges:
            for factor in _RARER:
                yield f"rarest cell {factor.denominator} times rarer", self._asking((_with_rarest_cell(query, factor),))

    def people_not_alike(self) -> Iterator[tuple[str, _Release]]:
        """The same release if each row has a probability of its own, in each range and somewhat outside of it."""
        properties = self._uniform_counts
        if len(properties) < len(self.queries) or any(query.each_own for query in properties):
            return
        if all(query.lower == 0 and query.upper == 1 for query in properties):
            return  # nothing is said of any row
        for distance in (Fraction(0), *APART):
            own = tuple(_widened(query, distance, each=True) for query in properties)
            if own == self.queries:
                continue
            other = self._asking(own)
            outside = f"{literal(distance)} outside each range" if distance else "in each range"
            several = other.probability == _EVERYTHING
            yield f"each row its own {outside}" if several else other.probability, other

    def in_households(self) -> Iterator[tuple[str, _Release]]:
        """The same count if rows of a household depend on each other, each in its range given the others."""
        situation, counts = self.situation, self._uniform_counts
        if isinstance(situation, PartitionedSituation) or not counts or situation.sampling is not None:
            return
        nothing_said = all((query.lower == 0 and query.upper == 1) for query in counts)
        if situation.population.groups is not None or nothing_said:
            return
        own = PropertyQuery(EachBetween(counts[0].lower, counts[0].upper), attribute=counts[0].attribute)
        for largest in HOUSEHOLDS:
            if largest < self.size:
                clustered = Population(self.size, clusters=-(-self.size // largest), largest_cluster=largest)
                yield (
                    f"of up to {largest} rows",
                    replace(self, situation=replace(situation, query=own, population=clustered)),
                )

    def _asking(self, queries: tuple[Query, ...]) -> _Release:
        if isinstance(self.situation, PartitionedSituation):
            return replace(self, situation=replace(self.situation, queries=queries))
        return replace(self, situation=replace(self.situation, query=queries[0]))

    # --- rows

    def other_numbers_known(self) -> list[int]:
        """1 to 10 percent of the entries, rounded up; only numbers above the stated one that leave an entry unknown."""
        numbers = (math.ceil(share * self.size) for share in _SHARES_KNOWN)
        return sorted({number for number in numbers if self.situation.adversary.total < number < self.size})

    def person_of(self, rows: int, epsilon: Fraction) -> tuple[Enclosure, Kind]:
        """δ for `rows` rows of one person. Rows that do not change have their worst values, as known rows do."""
        exact = self.if_one_count(rows, epsilon)
        return (self._chained(rows, epsilon), "bound") if exact is None else (exact, "exact")

    def if_one_count(self, rows: int, epsilon: Fraction) -> Enclosure | None:
        """The exact δ for `rows` rows if the answers amount to one count of all entries; else None."""
        p = self._probability_of_one_count()
        return None if p is None else shifted_count(self.unknown, rows, p, epsilon)

    def _chained(self, rows: int, epsilon: Fraction) -> Enclosure:
        """The chained bound, at this ε or at a smaller ε if that is tighter: δ falls with ε, but the chain need not."""
        known = Adversary(known=self.size - self.unknown + rows - 1)
        curve = replace(self, situation=replace(self.situation, adversary=known)).curve()

        found: dict[Fraction, Enclosure] = {}

        def bound(step: Fraction) -> float:
            if step not in found:
                found[step] = one_row_at_a_time(curve.delta(step), rows, rows * step)
            return found[step].upper

        largest = best = step = min(epsilon / rows, _MAX_STEP)
        while step * (rows - 1) > 1:  # below that the exponentials hardly matter
            step *= _SHORTER
            if bound(step) >= bound(best) and bound(best) < 1:
                break
            best = min(best, step, key=bound)
        # Search near the best step, on a lattice independent of ε, so that the bound at a larger ε finds the same step.
        low, high = math.ceil(best * _SHORTER / _UNIT), math.floor(min(best / _SHORTER, largest) / _UNIT)
        while step < largest and low < high:
            middle = (low + high) // 2
            falls = bound(middle * _UNIT) > bound((middle + 1) * _UNIT)
            low, high = (middle + 1, high) if falls else (low, middle)
        bound(best)
        return min(found.values(), key=lambda enclosure: enclosure.upper)

    def _probability_of_one_count(self) -> Fraction | None:
        """The p of the one count of all entries that the answers are together, if they are one."""
        counts, sampling = self._uniform_counts, self.situation.sampling
        if len(counts) < len(self.queries) or counts[0].lower < counts[0].upper:
            return None
        first = counts[0]
        one = all(query.attribute == first.attribute for query in counts)
        named = first.attribute is not None or len(self.queries) == 1
        everybody = sampling is None or (isinstance(sampling, RandomPartition) and sum(sampling.sizes) == self.size)
        return first.lower if one and named and everybody and self.situation.pair is None else None


def one_row_at_a_time(step: Enclosure, rows: int, epsilon: Fraction) -> Enclosure:
    """δ if `rows` rows change and each step is (ε/rows, step)-close for an adversary who knows the other rows.

    >>> one_row_at_a_time(Enclosure(0.001, 0.001), 2, Fraction(0))
    Enclosure(0.002, 0.002)
    """
    if step.upper == 0:
        return Enclosure(0.0, 0.0)
    level = min(epsilon, _MAX_EXPONENT)
    total = sum((Enclosure(*exponential_ends(i * level / rows)) * step for i in range(rows)), Enclosure(0.0, 0.0))
    return Enclosure(min(total.lower, 1.0), min(total.upper, 1.0) if level == epsilon else 1.0)


def shifted_count(entries: int, rows: int, p: Fraction, epsilon: Fraction) -> Enclosure:
    """The larger δ of the two directions between `rows + B` and B, with `B ~ Bin(entries − rows, p)`.

    >>> shifted_count(3, 2, Fraction(1, 2), Fraction(0))
    Enclosure(1.0, 1.0)
    >>> shifted_count(10**12, 2, Fraction(1, 2), Fraction(1, 10**7)).width < 1e-21
    True
    """
    if p in (0, 1):
        return Enclosure(1.0, 1.0)
    # Beyond the largest finite ratio, which is below 2^bits < e^bits, δ is the mass at infinite ratio and is constant.
    bits = max(Fraction(_ratio(entries - rows, entries - rows, rows, q)).numerator.bit_length() for q in (p, 1 - p))
    level = min(epsilon, Fraction(bits))
    found = [_upward(entries - rows, rows, probability, level) for probability in (p, 1 - p)]
    return Enclosure(max(delta.lower for delta in found), max(delta.upper for delta in found))


def _upward(others: int, rows: int, p: Fraction, epsilon: Fraction) -> Enclosure:
    """δ of `rows + B` against B, at the best threshold or at the best of those that rounding cannot tell apart."""
    low, high = exponential_ends(epsilon)
    first = least_integer(lambda c: _ratio(c, others, rows, p) > low, 0, others + 1)
    last = least_integer(lambda c: _ratio(c, others, rows, p) > high, first, others + 1)
    lower, upper = Fraction(0), Fraction(0)
    for threshold in range(first, last + 1):
        above = binomial_upper_tail(threshold, n=others, p=p, digits=_DIGITS)
        reached = binomial_upper_tail(threshold - rows, n=others, p=p, digits=_DIGITS)
        lower = max(lower, as_fraction(reached.lower, "lower") - high * as_fraction(above.upper, "upper"))
        upper = max(upper, as_fraction(reached.upper, "upper") - low * as_fraction(above.lower, "lower"))
    return Enclosure(lower, min(upper, Fraction(1)))


def _ratio(c: int, others: int, rows: int, p: Fraction) -> Fraction | float:
    """P[B = c − rows]/P[B = c], increasing in c; infinite if only the numerator is positive."""
    if c < rows:
        return Fraction(0)
    if c > others:
        return math.inf
    numerator = math.prod(c - i for i in range(rows)) * (1 - p).numerator ** rows
    # p and 1 − p have the same denominator, so it cancels.
    denominator = math.prod(others - c + i + 1 for i in range(rows)) * p.numerator**rows
    return Fraction(numerator, denominator)


def widened(ends: Range, distance: Fraction) -> Range:
    """The range with so much more at both ends, as far as these are probabilities."""
    low, high = ends
    return max(low - distance, Fraction(0)), min(high + distance, Fraction(1))


def _widened(query: PropertyQuery, distance: Fraction, *, each: bool = False) -> PropertyQuery:
    wider = stated_range(widened((query.lower, query.upper), distance), each=each or query.each_own)
    return PropertyQuery(wider, attribute=query.attribute, name=query.name)


def _with_rarest_cell(query: HistogramQuery, factor: Fraction) -> HistogramQuery:
    """The same cells, with the rarest multiplied by a factor and the others rescaled alike."""
    cells = [cell for cell in query.cells if isinstance(cell, Fraction)]
    rarest = min(range(len(cells)), key=lambda k: cells[k])
    rest = (1 - cells[rarest] * factor) / (1 - cells[rarest])
    changed = [cell * (factor if k == rarest else rest) for k, cell in enumerate(cells)]
    return HistogramQuery(changed, attribute=query.attribute, name=query.name)


def _range(low: Fraction, high: Fraction) -> str:
    return f"p = {literal(low)}" if low == high else f"p from {literal(low)} to {literal(high)}"
