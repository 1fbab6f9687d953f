"""A bound on everything that counts of arbitrary properties reveal together, for any choice of rows and any order.

Only the range of the properties' probabilities is known. The theorem and its proof are in
docs/explanation/filters-and-odometers.md, under "Any properties".
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from statpriv.composition.least_epsilon import least_epsilon
from statpriv.curves.build import privacy_curve
from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.model.adversaries import Adversary
from statpriv.model.populations import Population
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import Between
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_fraction
from statpriv.numeric.intervals import exact, interval_context, rational_ends
from statpriv.rules.assumptions import DRAWN, INDEPENDENT, SECRET

_BITS = 120
"""Precision of e^ε: above that of the doubles in the result, so that it does not widen them."""


@dataclass(frozen=True)
class AnyPropertyCurve:
    """The worst δ over all ways to count properties with probabilities in a range, each row counted at most once.

    δ is enclosed: counting all rows for one of the properties attains the lower end; the theorem proves the upper end.

    Parameters
    ----------
    query : PropertyQuery
        The range, within (0, 1).
    population : Population
        Entries of one law.
    adversary : Adversary
        How many of the other entries are known.

    Notes
    -----
    Let `x = e^ε`, `m` the least of all p and 1 − p, and `π = (m + x(1−m))/(1+x)`. For every choice of counts,

        δ(ε) ≤ (π/m) · Δ_{1,0}(ε + ln((1−π)/π)),

    where Δ_{1,0} is the curve of one count of all unknown entries for a property of probability π.

    Examples
    --------
    >>> import statpriv as sp
    >>> asked = sp.PropertyQuery(sp.Between("0.4", "0.6"))
    >>> print(AnyPropertyCurve(asked, sp.Population(32768), sp.Adversary()).delta(".01"))
    [0.00116803111..., 0.00190355607...]
    """

    query: PropertyQuery
    population: Population
    adversary: Adversary

    source = "docs/explanation/filters-and-odometers.md"
    assumptions = (
        INDEPENDENT,
        "whatever property is counted, every entry has it with the same probability, within the promised range",
        DRAWN,
        SECRET,
    )

    def __post_init__(self) -> None:
        if self.query.each_own:
            raise NotAvailableError(
                f"only = {self.query!r}: each row has a probability of its own, and the bound for any property is for "
                "one that all rows share; give the query an attribute="
            )
        if not self.query.is_uniform or self._least == 0:
            raise ArgumentError(
                f"only = {self.query!r}; one range of p above 0 and below 1 is required where no attribute is given"
            )
        if self.population.groups is not None:
            raise ArgumentError(
                f"only = {self.query!r} with {self.population!r}; an attribute= is required where there are groups"
            )

    @property
    def _least(self) -> Fraction:
        """The least of p and 1 − p over the range."""
        return min(self.query.lower, 1 - self.query.upper)

    @property
    def theorem(self) -> str:
        """The theorem behind the bound."""
        return (
            "Counts of any properties with probabilities in the range, each on rows of its own: every bit moves the "
            "likelihood ratio by a mean of zero within bounds that the range gives, and the law on these bounds alone "
            "dominates it in convex order, so that δ is at most the stop-loss of one binomial, whatever is asked."
        )

    def delta(self, epsilon: Number) -> Enclosure:
        """The worst δ at ε in nats, at least 0; the upper end is the guarantee."""
        lower, upper = self._ends(as_fraction(epsilon, "epsilon"))
        return Enclosure(lower, upper)

    def epsilon(self, delta: Number) -> Enclosure:
        """The least ε in nats at which the worst δ is at most `delta`, at least 0; the upper end is the guarantee."""
        return least_epsilon(lambda at: self._ends(Fraction(at)), as_fraction(delta, "delta"))

    def _ends(self, epsilon: Fraction) -> tuple[Fraction, Fraction]:
        attained = privacy_curve(self.query, self.population, adversary=self.adversary).delta(epsilon)
        low, high, shift = self._dominating(epsilon)
        unknown = Population(self.population.size - self.adversary.total)
        # Δ falls with ε, so its value at the lower end of the shifted ε is an upper bound. The supremum over π is one
        # too.
        one_count = privacy_curve(PropertyQuery(Between(low, high)), unknown, pair=(1, 0))
        proved = high / self._least * Fraction(one_count.delta(max(Fraction(0), epsilon + shift)).upper)
        lower = Fraction(attained.lower)
        return lower, max(lower, min(proved, Fraction(1)))

    def _dominating(self, epsilon: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        """Bounds of π, and the lower end of `ln((1−π)/π)`, by interval arithmetic at `_BITS` bits."""
        context = interval_context(_BITS)
        x, m = context.exp(exact(context, epsilon)), self._least
        # (m + x(1−m))/(1+x), rewritten so that the interval x occurs only once.
        pi = exact(context, 1 - m) - exact(context, 1 - 2 * m) / (1 + x)
        return *rational_ends(pi), rational_ends(context.log((1 - pi) / pi))[0]
