"""External mechanisms as queries: two laws, or a privacy loss distribution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from statpriv import budget
from statpriv.distributions.hockey_stick import listed
from statpriv.errors import ArgumentError
from statpriv.interop.discretisation import as_interval
from statpriv.interop.grid import bits_for, grid
from statpriv.numeric.arguments import is_mapping
from statpriv.numeric.exact import as_fraction
from statpriv.numeric.literals import abridged

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    from statpriv.distributions.hockey_stick import Law
    from statpriv.numeric.exact import Number

_PLACES = 256
"""Binary places of the probabilities of an imported distribution: they are multiples of 2^-256."""


@dataclass(frozen=True, repr=False)
class PairOfLaws:
    """A query whose answer has one of two laws, whatever the number of entries: one for the value 1, one for 0."""

    one: tuple[tuple[Any, Number], ...]
    zero: tuple[tuple[Any, Number], ...]
    origin: str

    def answer_laws(self, entries: int) -> dict[int, dict[Any, Number]]:  # noqa: ARG002  (they are stated for all)
        """The two laws."""
        return {1: dict(self.one), 0: dict(self.zero)}

    def __repr__(self) -> str:
        return f"PairOfLaws({self.origin})"


# ruff: noqa: N803  (P and Q are what the field calls them)
def query_from_laws(P: Law, Q: Law) -> PairOfLaws:
    """A mechanism as a query: its answer has law `P` if the critical entry is 1, and law `Q` if it is 0.

    Parameters
    ----------
    P, Q : sequence, numpy array of one dimension, or dict
        The probabilities of the same answers in the same order, or dicts from answers to probabilities. As for
        `sp.hockey_stick`, a float is the rational it stores, and floats whose sum is nearly one are divided by it.

    Returns
    -------
    PairOfLaws
        A query for `sp.privacy_curve`, with any population: the laws are stated for all entries together.

    Raises
    ------
    ArgumentError
        Laws of different lengths, or only one of them a dict. `sp.privacy_curve` refuses anything that is not a law.

    Examples
    --------
    >>> import statpriv as sp
    >>> randomised_response = sp.interop.query_from_laws(["3/4", "1/4"], ["1/4", "3/4"])
    >>> sp.privacy_curve(randomised_response, sp.Population(1)).delta(0)
    Enclosure(0.5, 0.5)
    """
    if is_mapping(P) and is_mapping(Q):
        return PairOfLaws(tuple(P.items()), tuple(Q.items()), f"two laws of {len({**P, **Q})} answers")
    one, zero = tuple(enumerate(listed(P, "P"))), tuple(enumerate(listed(Q, "Q")))
    if len(one) != len(zero):
        raise ArgumentError(
            f"P has {len(one)} probabilities and Q {len(zero)}; as many are required, or dicts from answers to "
            "probabilities"
        )
    return PairOfLaws(one, zero, f"two laws of {len(one)} answers")


def query_from_distribution(distribution: PrivacyLossDistribution) -> PairOfLaws:
    """Two laws that dominate a pessimistic `PrivacyLossDistribution` of dp_accounting, as a query.

    Parameters
    ----------
    distribution : dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
        Pessimistic. Its direction "remove" is taken: a mechanism that it dominates at every real ε is dominated in the
        other direction too.

    Returns
    -------
    PairOfLaws
        A query for `sp.privacy_curve`. These two laws dominate every pair of laws that the masses dominate.

    Raises
    ------
    ArgumentError
        Not such an object; an optimistic one, which guarantees nothing; more than 2^20 losses.

    Notes
    -----
    Both laws are rational and sum to one. Masses are rounded to multiples of 2^-256, and a total below one is completed
    at infinity. A total above one, caused by rounding of doubles, is corrected at the smallest losses. The hockey stick
    F then becomes the line from 1 at ``x = e^ε = 0`` to F at one of the losses; every convex δ with δ(0) = 1 that is
    below F is also below that line. The law for 0 is rounded down, and its deficit becomes an answer that only this law
    can give.

    Examples
    --------
    >>> from dp_accounting.pld import privacy_loss_distribution
    >>> import statpriv as sp
    >>> gaussian = privacy_loss_distribution.from_gaussian_mechanism(10, value_discretization_interval=1e-3)
    >>> curve = sp.privacy_curve(sp.interop.query_from_distribution(gaussian), sp.Population(1))
    >>> round(curve.delta("0.1").upper, 4), round(sp.differential.gaussian_delta("0.1", mu="0.1").upper, 4)
    (0.0088, 0.0088)
    """
    masses, infinity, step = _read(distribution)
    first, last = min([0, *masses]), max([0, *masses])
    if last - first > budget.MAX_LOSSES:
        raise ArgumentError(
            f"distribution spans {last - first} intervals of losses; at most {budget.MAX_LOSSES} are allowed"
        )
    points = grid(step, first, last, bits_for(step * max(-first, last)))
    one: dict[Any, Fraction] = {index: _floor(mass) for index, mass in masses.items()}
    one["infinite loss"] = _floor(infinity)
    excess = _total(one) - 1
    if excess < 0:
        one["infinite loss"] -= excess
    _take_from_smallest(one, masses, excess)
    zero: dict[Any, Fraction] = {index: _floor(points.over_exponential(one[index], index)) for index in masses}
    _take_from_smallest(zero, masses, _total(zero) - 1)
    zero["only if 0"] = 1 - _total(zero)
    return PairOfLaws(
        tuple(one.items()), tuple(zero.items()), f"a privacy loss distribution, {len(masses)} losses of interval {step}"
    )


def _read(distribution: PrivacyLossDistribution) -> tuple[dict[int, float], float, Fraction]:
    """Positive masses by increasing index, the mass at infinity, and the interval.

    dp_accounting has no public names for these attributes.
    """
    remove = getattr(distribution, "_pmf_remove", None)
    if remove is None:
        raise ArgumentError(f"distribution = {abridged(distribution)}; a PrivacyLossDistribution is required")
    if not remove._pessimistic_estimate:  # noqa: SLF001
        raise ArgumentError(
            "distribution is an optimistic estimate, which guarantees nothing; a pessimistic one is required"
        )
    dense = remove.to_dense_pmf()
    masses = {dense._lower_loss + k: float(mass) for k, mass in enumerate(dense._probs) if mass > 0}  # noqa: SLF001
    infinity = as_fraction(float(dense._infinity_mass), "the mass at infinity")  # noqa: SLF001
    return masses, float(infinity), as_interval(float(dense._discretization))  # noqa: SLF001


def _total(law: Mapping[Any, Fraction]) -> Fraction:
    return sum(law.values(), Fraction(0))


def _floor(mass: Fraction | float) -> Fraction:
    numerator, denominator = mass.as_integer_ratio()
    return Fraction((numerator << _PLACES) // denominator, 1 << _PLACES)


def _take_from_smallest(law: dict[Any, Fraction], losses: Mapping[int, object], excess: Fraction) -> None:
    """Lower the probabilities by `excess` in total, starting at the smallest loss."""
    for loss in losses:
        if excess <= 0:
            break
        taken = min(excess, law[loss])
        law[loss] -= taken
        excess -= taken
