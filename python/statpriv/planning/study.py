"""One question about a repeated query, and the alternatives evaluated for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from statpriv import budget
from statpriv.curves.build import compose
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError, GuaranteeNotReachedError, NotAvailableError, StatprivError, UndecidedError
from statpriv.model.adversaries import Adversary
from statpriv.model.features import FEATURES
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.property import PropertyQuery
from statpriv.numeric.arguments import as_instance
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_fraction
from statpriv.numeric.literals import abridged, at_least, at_most, literal, spelled
from statpriv.numeric.search import least_integer
from statpriv.planning.accuracy import Accuracy, root_mean_squared_error, variance_of
from statpriv.planning.designs import Design, Trial, Verdict
from statpriv.planning.sampling_error import root

_NOTHING_CLAIMED = "Nothing is claimed of those further on."


@dataclass
class Study:
    """A question about one repeated query; it counts the curves it evaluates."""

    query: PropertyQuery
    epsilon: Fraction
    delta: Fraction
    known: int
    bound: str
    accuracy: Accuracy | None
    trials: dict[tuple[object, ...], Trial] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        query: PropertyQuery,
        epsilon: Number,
        delta: Number,
        *,
        known: Number = 0,
        bound: str = "tightest",
        accuracy: Accuracy | None = None,
    ) -> Study:
        """The study of a query, with its numbers validated."""
        require_uniform(query)
        target, exact = as_fraction(delta, "delta"), as_fraction(epsilon, "epsilon")
        if exact < 0:
            raise ArgumentError(f"epsilon = {spelled(epsilon)}; a number of at least 0 is required")
        if not 0 <= target <= 1:
            raise ArgumentError(f"delta = {spelled(delta)}; a number from 0 to 1 is required")
        return cls(query, exact, target, as_count(known, "known"), bound, accuracy)

    @property
    def one_property(self) -> bool:
        """Whether every repetition of the query asks the same property."""
        return self.query.attribute is not None

    @property
    def probability(self) -> str:
        """The stated p or range, in words."""
        low, high = self.query.lower, self.query.upper
        if low == high:
            return f"p = {literal(low)}"
        own = "a p of its own for each entry" if self.query.each_own else "any p"
        return f"{own} from {literal(low)} to {literal(high)}"

    @property
    def goal(self) -> str:
        """The target, in words."""
        accuracy = "" if self.accuracy is None else f", {self.accuracy}"
        return f"δ({literal(self.epsilon)}) ≤ {literal(self.delta)}{accuracy}"

    def given(self, n: int | None, m: int | None, how: str = "", *, states_known: bool = True) -> str:
        """The conditions, in words: population, queries, target and adversary."""
        entries = [] if n is None else [f"{n} entries"]
        layout = [how] if how else []
        asked = (
            f"queries of {self.probability}" if m is None else f"{counted(m, 'query', 'queries')} of {self.probability}"
        )
        unrelated = [] if self.one_property or m == 1 else ["unrelated properties"]
        return ", ".join([*entries, *layout, asked, *unrelated, self.goal, *([self.knows] if states_known else [])])

    @property
    def knows(self) -> str:
        """The adversary's knowledge, in words."""
        return f"{counted(self.known, 'entry', 'entries') if self.known else 'no entry'} known"

    def trial(
        self,
        value: object,
        n: int,
        sizes: tuple[int, ...],
        *,
        queries: tuple[PropertyQuery, ...] | None = None,
        known: int | None = None,
    ) -> Trial:
        """Evaluate one alternative, once."""
        asked = (self.query,) * len(sizes) if queries is None else queries
        knows = self.known if known is None else known
        key = (asked[0], len(asked), n, sizes, knows)
        if key not in self.trials:
            curve = compose(
                asked, Population(n), RandomPartition(sizes), adversary=Adversary(known=knows), bound=self.bound
            )
            reached = curve.delta(self.epsilon)
            verdict = self._verdict(curve, reached)
            error = root_mean_squared_error(asked, sizes, n)
            self.trials[key] = Trial(value, verdict, _why(curve, reached, verdict), sizes, reached, error, curve)
        return self.trials[key]

    def _verdict(self, curve: PrivacyCurve, reached: Enclosure) -> Verdict:
        if Fraction(reached.upper) <= self.delta:
            return "holds"
        if Fraction(reached.lower) > self.delta:
            return "undecided" if curve.kind == "bound" else "fails"
        try:
            return "holds" if curve.satisfies(epsilon=self.epsilon, delta=self.delta) else "fails"
        except UndecidedError:
            return self._equal(curve)

    def _equal(self, curve: PrivacyCurve) -> Verdict:
        """The verdict if no number of digits separates δ from the target: whether they are equal.

        δ = A − e^ε B with rational A and B; e^ε is irrational unless ε = 0, so equality needs B = 0 or ε = 0.
        """
        try:
            first, second = curve.exact_terms(self.epsilon)
        except StatprivError:
            return "undecided"
        rational = second == 0 or self.epsilon == 0
        return "holds" if rational and first - second <= self.delta else "undecided"

    def design(
        self,
        unknown: str,
        given: str,
        best: Trial,
        neighbour: Trial | None,
        beyond: str,
        *,
        trials: Iterable[Trial] | None = None,
    ) -> Design:
        """The result, with all trials or with the given ones."""
        looked_at = list(self.trials.values() if trials is None else trials)
        if neighbour is not None and neighbour not in looked_at:
            looked_at.append(neighbour)
        in_order = tuple(sorted(looked_at, key=lambda trial: trial.value))
        return Design(unknown, given, best, neighbour, beyond, in_order, len(self.trials), self.delta)

    def beyond(self, neighbour: Trial, direction: str, *, truth: str | None, total: str | None) -> str:
        """The consequence of a failing neighbour for all further alternatives, in words.

        `truth` is the reason why the least δ is monotone, `total` the reason why the sum of Theorem 5.2 is; each is
        None if monotonicity is not proved.
        """
        if neighbour.verdict == "fails" and truth is not None:
            return f"All {direction} fail too: {truth}."
        if self.bound == "partition-sum" and total is not None:
            return f"The bound proves none of the {direction}: {total}."
        return _NOTHING_CLAIMED

    # --- accuracy

    def _squared_error(self, size: int, n: int) -> Fraction:
        return (
            Fraction(0) if self.accuracy is None else self.accuracy.squared_error(variance_of(self.query, n), size, n)
        )

    def accurate(self, size: int, n: int) -> bool:
        """Whether parts of this size reach the accuracy."""
        return self.accuracy is None or self._squared_error(size, n) <= self.accuracy.target**2

    def inaccuracy(self, size: int, n: int) -> str:
        """The error of an answer on a part of this size, in words."""
        error = root(self._squared_error(size, n))
        return f"a part of {size} has {at_least(error.lower)} at least, and {self.accuracy} is asked for"

    def smallest_size(self, n: int) -> int:
        """The smallest part that reaches the accuracy; a part of all entries always does."""
        return least_integer(lambda size: self.accurate(size, n), 1, n)

    def accurate_population(self, n: int, m: int) -> int:
        """The smallest population of at least n in which m equal parts reach the accuracy: n, or a multiple of m.

        The error rises with n while ⌊n/m⌋ is constant, and falls along the multiples of m.
        """
        if self.accurate(n // m, n):
            return n
        if not self.accurate(budget.MAX_INTEGER // m, budget.MAX_INTEGER // m * m):
            raise GuaranteeNotReachedError(
                f"no population of up to 2^53 entries has {self.accuracy} with {counted(m, 'query', 'queries')}; "
                "ask for less accuracy"
            )
        size, step = n // m + 1, 1
        while not self.accurate(size + step, m * (size + step)):
            step *= 2
        return m * least_integer(lambda s: self.accurate(s, m * s), size, size + step)


def _why(curve: PrivacyCurve, reached: Enclosure, verdict: Verdict) -> str:
    if verdict == "holds":
        return f"δ ≤ {at_most(reached.upper)}"
    if verdict == "fails":
        return f"δ ≥ {at_least(reached.lower)}"
    if curve.kind == "bound":
        return f"the bound is {at_most(reached.upper)}, which refutes nothing"
    return f"δ is between {at_least(reached.lower)} and {at_most(reached.upper)}"


def require_uniform(query: object) -> None:
    """Refuse any query that is not a count of entries of one law."""
    if not isinstance(query, PropertyQuery) or not query.is_uniform:
        raise ArgumentError(
            f"query = {abridged(query)}; a sp.PropertyQuery with one p or one range for all entries is required"
        )


def require_no_features(features: frozenset[str], what: str) -> None:
    """Refuse what only rules that name it cover."""
    for feature in sorted(features):
        raise NotAvailableError(
            f"{FEATURES[feature]}, for which {what} in this version; sp.privacy_curve and sp.compose give δ"
        )


def counted(number: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{number} {one if number == 1 else many}"


def entries_of(population: object, known: int) -> int:
    """The size of a population, checked to exceed the number of known entries."""
    size = as_instance(
        population, "population", Population, "a Population such as sp.Population(1024) is required"
    ).size
    if known >= size:
        raise ArgumentError(f"known = {known}; of {size} entries at most {size - 1} can be known")
    return size


def folds_of(n: int, queries: Number) -> tuple[int, ...]:
    """The sizes of one part for each query, as equal as possible."""
    m = as_count(queries, "queries", least=1)
    if m > n:
        raise ArgumentError(f"queries = {m}; at most one an entry, here {n}, is possible")
    return RandomPartition.folds(n, m).sizes
