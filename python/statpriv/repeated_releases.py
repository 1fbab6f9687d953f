"""Several releases from one table, each from rows that none before it has used.

Later plans are written by people who saw earlier answers. What holds for them, with its proof, is in
docs/explanation/repeated-releases.md: over all releases,

    δ ≤ max over cohorts c of Σ_r w_{c,r} · δ_r,

where δ_r is the composition inside release r on its own s_r rows, and w_{c,r} the probability that a row which joined
with cohort c is used in release r.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

from statpriv.digits import exact_ends
from statpriv.enclosure import Enclosure
from statpriv.errors import NotAvailableError
from statpriv.numbers import as_fraction

if TYPE_CHECKING:
    from statpriv.certificate import Certificate
    from statpriv.curve import PrivacyCurve
    from statpriv.numbers import Number
    from statpriv.sensitivity import Sensitivity

__all__ = ["Cohort", "RepeatedReleases", "used"]

_LENGTHS = (6, 17, 30)
"""Digits of a δ that is claimed of one release: as few as do."""


@dataclass(frozen=True)
class Cohort:
    """Rows that joined a table at one time: when `joined_after` of its releases had been made."""

    rows: int
    joined_after: int = 0


def used(cohorts: Sequence[Cohort], rows: Sequence[int]) -> tuple[tuple[Fraction, ...], ...]:
    """For each cohort, the probability that a row of it is used in release 1, 2, …, which uses rows[0], rows[1], ….

    Release r draws its s_r rows from the M_r unspent ones, uniformly: a row that is unspent then is drawn with
    probability s_r/M_r, and stays unspent with what is missing to 1. Before a row has joined it is not drawn.
    """
    table = []
    for cohort in cohorts:
        unspent, weights = Fraction(1), []
        for r, size in enumerate(rows):
            if r < cohort.joined_after:
                weights.append(Fraction(0))
                continue
            there = sum(other.rows for other in cohorts if other.joined_after <= r) - sum(rows[:r])
            drawn = Fraction(size, there)
            weights.append(unspent * drawn)
            unspent *= 1 - drawn
        table.append(tuple(weights))
    return tuple(table)


@dataclass(frozen=True)
class RepeatedReleases:
    """The privacy curve of everything released from a table, as a bound.

    Attributes
    ----------
    cohorts : tuple of Cohort
        The rows of the table by when they joined it, the first cohort first.
    releases : tuple of PrivacyCurve
        Of each release the curve of its queries on its own rows.

    Examples
    --------
    >>> import statpriv as sp
    >>> half = sp.privacy_curve(sp.PropertyQuery("1/5"), sp.Population(7))
    >>> both = RepeatedReleases((Cohort(14),), (half, half))
    >>> both.weights
    ((Fraction(1, 2), Fraction(1, 2)),)
    >>> both.delta("0.1") == half.delta("0.1")
    True
    """

    cohorts: tuple[Cohort, ...]
    releases: tuple[PrivacyCurve, ...]

    kind: ClassVar[Literal["bound"]] = "bound"
    theorem: ClassVar[str] = (
        "δ(ε) ≤ max over cohorts of Σ_r w_r · δ_r(ε): w_r the probability that a row of the cohort is used in release "
        "r, δ_r the exact composition inside release r on its own rows; it holds whatever earlier answers later plans "
        "follow"
    )
    source: ClassVar[str] = (
        "Parallel Composition for Statistical Privacy, Theorem 5.3; docs/explanation/repeated-releases.md"
    )
    own_assumptions: ClassVar[tuple[str, ...]] = (
        "ε and δ of the target were not chosen by earlier answers",
        "rows that were appended have the same law as the others, and when they came did not depend on their values",
    )

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What has to be true of the data and of the releases."""
        of_releases = (text for curve in self.releases for text in curve.assumptions)
        return tuple(dict.fromkeys((*of_releases, *self.own_assumptions)))

    @property
    def summary(self) -> str:
        """What is released of whom, in a few words."""
        return f"{len(self.releases)} releases of {sum(cohort.rows for cohort in self.cohorts)} rows"

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows that each release used."""
        return tuple(curve.situation.population.size for curve in self.releases)

    @cached_property
    def weights(self) -> tuple[tuple[Fraction, ...], ...]:
        """For each cohort the probability that a row of it is used, by release."""
        return used(self.cohorts, self.sizes)

    def deltas(self, epsilon: Number, *, digits: int | None = None) -> tuple[Enclosure, ...]:
        """δ inside each release on its own rows."""
        asked = as_fraction(epsilon, "epsilon"), digits
        if asked not in self._computed:
            self._computed[asked] = tuple(curve.delta(epsilon, digits=digits) for curve in self.releases)
        return self._computed[asked]

    @cached_property
    def _computed(self) -> dict[tuple[Fraction, int | None], tuple[Enclosure, ...]]:
        """What was computed already: a composition may take seconds."""
        return {}

    def delta(self, epsilon: Number, *, digits: int | None = None) -> Enclosure:
        """The bound of δ(ε), rounded outward to doubles; `digits` are those of the terms."""
        sums = self.sums(self.deltas(epsilon, digits=digits))
        return Enclosure(*(min(max(ends), Fraction(1)) for ends in zip(*sums, strict=True)))

    def sums(self, deltas: Sequence[Enclosure]) -> list[tuple[Fraction, Fraction]]:
        """For each cohort both ends of Σ_r w_r · δ_r, exactly."""
        lower, upper = zip(*map(exact_ends, deltas), strict=True)
        return [(_product(weights, lower), _product(weights, upper)) for weights in self.weights]

    def sensitivity(self, *, epsilon: Number) -> Sensitivity:
        """Refused: an assumption that is wrong for one release need not be for the others. Each curve has its own."""
        raise NotAvailableError(
            f"the sensitivity of {len(self.releases)} releases together is not computed; state the queries of one "
            f"release in sp.sensitivity_of(..., epsilon={epsilon})"
        )

    def certify(self, *, epsilon: Number, delta: Number) -> Certificate:
        """A certificate that everything released is (ε, δ)-private; see `PrivacyCurve.certify`.

        It holds one of each release, of claims δ_r whose sum Σ_r w_r · δ_r is at most `delta` for every cohort. All δ_r
        of the kernel are raised by one factor, so that the sum of the worst cohort becomes `delta`, and then rounded
        down: the checker has room to prove each.

        Raises
        ------
        NotAvailableError
            The bound exceeds `delta`, or the theorems that certificates rest on do not prove a claim.
        """
        from statpriv.certificate import together

        delta = as_fraction(delta, "delta")
        least = [exact_ends(reached)[1] for reached in self.deltas(epsilon)]
        worst = max(_product(weights, least) for weights in self.weights)
        if worst > delta:
            raise NotAvailableError(f"the bound is {float(worst):.6g}, above delta = {float(delta):.6g}")
        factor = delta / worst if worst else Fraction(1)
        proofs = [
            curve.certify(epsilon=epsilon, delta=_short(reached, min(reached * factor, Fraction(1))))
            for curve, reached in zip(self.releases, least, strict=True)
        ]
        return together(proofs, self.cohorts, epsilon=as_fraction(epsilon, "epsilon"), delta=delta)


def _product(weights: Sequence[Fraction], values: Sequence[Fraction]) -> Fraction:
    return sum((weight * value for weight, value in zip(weights, values, strict=True)), Fraction(0))


def _short(least: Fraction, most: Fraction) -> Fraction:
    """A short decimal between two numbers, or the first of them."""
    for digits in _LENGTHS:
        floor = Context(prec=digits, rounding=ROUND_FLOOR)
        shorter = Fraction(floor.divide(Decimal(most.numerator), Decimal(most.denominator)))
        if shorter >= least:
            return shorter
    return least
