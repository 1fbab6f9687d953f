"""Privacy curves as privacy loss distributions: for dp_accounting, and as two arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from statpriv.errors import MissingExtraError
from statpriv.interop.discretisation import as_interval, discretise
from statpriv.interop.grid import bits_for, double_below, grid

if TYPE_CHECKING:
    import numpy as np
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
    from numpy.typing import NDArray

    from statpriv.curves.curve import PrivacyCurve
    from statpriv.interop.discretisation import Mechanism
    from statpriv.numeric.exact import Number


def privacy_loss_distribution(
    curve: PrivacyCurve | Mechanism, *, interval: float = 1e-4, truncation: Number = "1e-15", pessimistic: bool = True
) -> PrivacyLossDistribution:
    """The curve as dp_accounting's `PrivacyLossDistribution`, certified to dominate it, or to be dominated by it.

    Results for a composition hold if the outputs are independent given the critical entry's value. Answers about the
    *same* random entries are not: what one answer reveals about the other entries makes the next one more informative.

    Parameters
    ----------
    curve : PrivacyCurve or differential.RandomAllocation
        The curve of one answer, or of several together; or a mechanism, of which "remove" is an entry present against
        absent. With ``pair=(v, w)`` the direction "remove" is v against w and "add" is w against v; without a pair, one
        symmetric distribution covers all pairs.
    interval : float, default 1e-4
        The losses are multiples of it: `value_discretization_interval` of dp_accounting, with the same default. Above 0
        and up to 1. Distributions to be composed must have the same interval.
    truncation : float, int, Fraction, Decimal or str, default "1e-15"
        Largest excess of δ, a probability, allowed for ε so large that δ is within it of its limit.
    pessimistic : bool, default True
        True: for every ε, of either sign, the hockey stick of the masses is at least that of the answers' laws, and the
        same holds for every composition with other dominating distributions. False: it is at most that, for curves that
        enclose δ.

    Returns
    -------
    dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution

    Raises
    ------
    MissingExtraError
        dp_accounting is not installed.
    ArgumentError
        A value that is not allowed; a curve of kind "bound" with ``pessimistic=False``; more than 2^20 losses.

    Notes
    -----
    The statement concerns the masses in the object, as rationals, at the exact multiples of the double `interval`.
    dp_accounting computes with them in doubles. Without a pair, an optimistic distribution is below the maximum over
    all pairs, but its compositions need not be below those of any single pair; for that, name a pair.

    Source: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, *Connect the Dots: Tighter Discrete Approximations of
    Privacy Loss Distributions*; proofs in :mod:`statpriv.interop.loss_masses`.

    Examples
    --------
    >>> import statpriv as sp
    >>> curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024))
    >>> distribution = sp.interop.privacy_loss_distribution(curve)
    >>> round(float(distribution.get_delta_for_epsilon(0.005)), 7), round(curve.delta(0.005).upper, 7)
    (0.0225738, 0.0225738)
    """
    try:
        from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
    except ImportError:
        raise MissingExtraError(
            "a privacy loss distribution is an object of dp_accounting: pip install 'statpriv[dp]'; "
            "sp.interop.dominating_pair needs only numpy"
        ) from None
    remove, add = discretise(curve, interval=interval, truncation=truncation, pessimistic=pessimistic)
    other: dict[str, Any] = {"symmetric": True}
    if add is not None:
        other = {
            "symmetric": False,
            "rounded_probability_mass_function_add": add.finite or {0: 0.0},
            "infinity_mass_add": add.infinity,
        }
    return PrivacyLossDistribution.create_from_rounded_probability(
        remove.finite or {0: 0.0},
        remove.infinity,
        float(interval),
        pessimistic_estimate=pessimistic,
        **other,
    )


class DominatingPair(NamedTuple):
    """Two measures on the same outcomes, in order of increasing privacy loss; the last loss is infinite."""

    loss: NDArray[np.float64]
    P: NDArray[np.float64]
    Q: NDArray[np.float64]


def dominating_pair(curve: PrivacyCurve, *, interval: float = 1e-4, truncation: Number = "1e-15") -> DominatingPair:
    """Two arrays of masses whose hockey stick is certifiably at least that of the answers' laws, at any real ε.

    Parameters
    ----------
    curve : PrivacyCurve
        The curve of one answer, or of several together.
    interval, truncation
        As in :func:`privacy_loss_distribution`.

    Returns
    -------
    DominatingPair
        Arrays `loss`, in nats, `P` and `Q`. The last entry has infinite loss, the mass at infinity in P, and 0 in Q.

    Raises
    ------
    ArgumentError
        A value that is not allowed; more than 2^20 losses.

    Notes
    -----
    The doubles dominate as rationals: P is rounded up and Q down, so P sums to slightly more than 1 and Q to slightly
    less. Compositions of them dominate too. Dividing by the sums would break both properties.

    Examples
    --------
    >>> import numpy as np
    >>> import statpriv as sp
    >>> curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024))
    >>> pair = sp.interop.dominating_pair(curve)
    >>> delta = np.maximum(0, pair.P - np.exp(0.005) * pair.Q).sum()
    >>> round(float(delta), 7), round(curve.delta(0.005).upper, 7)
    (0.0225738, 0.0225738)
    """
    import numpy as np

    masses, _ = discretise(curve, interval=interval, truncation=truncation, pessimistic=True)
    step = as_interval(interval)
    indices = sorted(masses.finite)
    first_index, last_index = min([0, *indices]), max([0, *indices])
    points = grid(step, first_index, last_index, bits_for(step * max(-first_index, last_index)))
    first = [masses.finite[index] for index in indices]
    second = [double_below(points.over_exponential(mass, index)) for index, mass in zip(indices, first, strict=True)]
    return DominatingPair(
        np.array([float(step * index) for index in indices] + [np.inf]),
        np.array([*first, masses.infinity]),
        np.array([*second, 0.0]),
    )
