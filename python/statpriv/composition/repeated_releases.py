"""Several releases from one table, each from rows that no earlier release used.

Later plans are written by people who saw earlier answers. docs/explanation/repeated-releases.md proves that over all
releases,

    δ ≤ max over cohorts c of Σ_r w_{c,r} · δ_r,

where δ_r is the composition inside release r on its own s_r rows, and w_{c,r} is the probability that a row of cohort
c is used in release r.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

from statpriv.composition.cohorts import Cohort, used
from statpriv.errors import NotAvailableError
from statpriv.numeric.digits import exact_ends
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import as_fraction

if TYPE_CHECKING:
    from statpriv.assurance.certificate import Certificate
    from statpriv.curves.curve import PrivacyCurve
    from statpriv.numeric.exact import Number
    from statpriv.planning.sensitivity import Sensitivity

_LENGTHS = (6, 17, 30)
"""Numbers of digits tried, shortest first, for the claimed δ of one release."""


@dataclass(frozen=True)
class RepeatedReleases:
    """The privacy curve of everything released from a table; it is a bound.

    Attributes
    ----------
    cohorts : tuple of Cohort
        The rows of the table, grouped by when they joined it; the first cohort first.
    releases : tuple of PrivacyCurve
        For each release, the curve of its queries on its own rows.
    rows : tuple of int, optional
        Rows that each release used, if it consists of several equal parts; by default those of its curve.

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
    rows: tuple[int, ...] = ()

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

    def __post_init__(self) -> None:
        for curve in self.releases:
            curve.situation.population.require_no_clusters("several releases of rows")

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions about the data and the releases."""
        of_releases = (text for curve in self.releases for text in curve.assumptions)
        return tuple(dict.fromkeys((*of_releases, *self.own_assumptions)))

    @property
    def summary(self) -> str:
        """A short description: the number of releases and of rows."""
        return f"{len(self.releases)} releases of {sum(cohort.rows for cohort in self.cohorts)} rows"

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of rows that each release used."""
        return self.rows or tuple(curve.situation.population.size for curve in self.releases)

    @cached_property
    def weights(self) -> tuple[tuple[Fraction, ...], ...]:
        """For each cohort, the probability that a row of it is used, by release."""
        return used(self.cohorts, self.sizes)

    def deltas(self, epsilon: Number, *, digits: int | None = None) -> tuple[Enclosure, ...]:
        """δ inside each release, on its own rows."""
        asked = as_fraction(epsilon, "epsilon"), digits
        if asked not in self._computed:
            self._computed[asked] = self.of_each(lambda curve: curve.delta(epsilon, digits=digits))
        return self._computed[asked]

    def remembering(self, epsilon: Fraction, deltas: tuple[Enclosure, ...]) -> RepeatedReleases:
        """These releases, with δ inside each of them already known in doubles."""
        self._computed[epsilon, None] = deltas
        return self

    def of_each(self, number: Callable[[PrivacyCurve], Enclosure]) -> tuple[Enclosure, ...]:
        """A number computed from the curve of each release; equal curves are evaluated once."""
        different = {curve: number(curve) for curve in dict.fromkeys(self.releases)}
        return tuple(different[curve] for curve in self.releases)

    @cached_property
    def _computed(self) -> dict[tuple[Fraction, int | None], tuple[Enclosure, ...]]:
        """Values of δ computed so far; a composition may take seconds."""
        return {}

    def delta(self, epsilon: Number, *, digits: int | None = None) -> Enclosure:
        """The bound on δ(ε), rounded outward to doubles; `digits` is the number of digits of the terms."""
        return Enclosure(*(min(end, Fraction(1)) for end in self.largest(self.deltas(epsilon, digits=digits))))

    def largest(self, deltas: Sequence[Enclosure]) -> tuple[Fraction, Fraction]:
        """Both ends of the largest sum over the cohorts, exactly."""
        lower, upper = zip(*self.sums(deltas), strict=True)
        return max(lower), max(upper)

    def sums(self, deltas: Sequence[Enclosure]) -> list[tuple[Fraction, Fraction]]:
        """For each cohort, both ends of Σ_r w_r · δ_r, exactly."""
        ends = [exact_ends(delta) for delta in deltas]
        lower, upper = [low for low, _ in ends], [high for _, high in ends]
        return [(_product(weights, lower), _product(weights, upper)) for weights in self.weights]

    def exact_delta(self, *, exp_epsilon: Number) -> Fraction:
        """Refused: each release has an exact δ, but their sum is only a bound."""
        raise NotAvailableError(
            f"δ of {len(self.releases)} releases together is a bound; ask one of `releases` for "
            f"exact_delta(exp_epsilon={exp_epsilon})"
        )

    def exact_terms(self, epsilon: Number) -> tuple[Fraction, Fraction]:
        """Refused, as :meth:`exact_delta`."""
        raise NotAvailableError(
            f"δ of {len(self.releases)} releases together is a bound; ask one of `releases` for exact_terms({epsilon})"
        )

    def sensitivity(self, *, epsilon: Number) -> Sensitivity:
        """Refused: an assumption may fail for one release and hold for others; each curve has its own sensitivity."""
        raise NotAvailableError(
            f"the sensitivity of {len(self.releases)} releases together is not computed; state the queries of one "
            f"release in sp.sensitivity_of(..., epsilon={epsilon})"
        )

    def certify(self, *, epsilon: Number, delta: Number) -> Certificate:
        """A certificate that everything released is (ε, δ)-private; see `PrivacyCurve.certify`.

        The certificate holds one certificate for each release, with claims δ_r such that Σ_r w_r · δ_r is at most
        `delta` for every cohort. The δ_r from the kernel are scaled up by one factor, so that the sum of the worst
        cohort becomes `delta`, and are then rounded down. This leaves the checker room to prove each claim.

        Raises
        ------
        NotAvailableError
            The bound exceeds `delta`; the theorems that certificates rest on do not prove a claim; or a release
            consists of several equal parts, which a certificate cannot express.
        """
        from statpriv.assurance.certificate import together

        if self.sizes != replace(self, rows=()).sizes:
            raise NotAvailableError("equal parts that were asked in one go are not certified; ask them one by one")
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
    """A short decimal between `least` and `most`, or `least` itself."""
    for digits in _LENGTHS:
        floor = Context(prec=digits, rounding=ROUND_FLOOR)
        shorter = Fraction(floor.divide(Decimal(most.numerator), Decimal(most.denominator)))
        if shorter >= least:
            return shorter
    return least
