"""Privacy curves as plain functions and arrays of doubles, each number at its safe end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from statpriv.interop.discretisation import expect_curve

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from statpriv.curves.curve import PrivacyCurve
    from statpriv.numeric.exact import ArrayLike


def privacy_profile(curve: PrivacyCurve) -> Callable[[float], float]:
    """The function from ε to the upper end of δ, for accountants that take a privacy profile.

    It is that of any curve, and takes ε, in nats and at least 0, to a double certifiably not below δ(ε).

    Notes
    -----
    OpenDP: ``opendp.prelude.new_privacy_profile(sp.interop.privacy_profile(curve))``, with the features "contrib" and
    "honest-but-curious" enabled.

    Examples
    --------
    >>> import statpriv as sp
    >>> profile = sp.interop.privacy_profile(sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(3)))
    >>> profile(0.0)
    0.5
    """
    expect_curve(curve)
    return lambda epsilon: curve.delta(epsilon).upper


def trade_off(curve: PrivacyCurve) -> Callable[[float], float]:
    """The function from a type I error to the lower end of the least type II error: the trade-off function of f-DP.

    It is that of any curve, and takes α, from 0 to 1, to a double certifiably not above β(α).

    Examples
    --------
    >>> import statpriv as sp
    >>> beta = sp.interop.trade_off(sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(3)))
    >>> beta(0.0), round(beta(0.5), 3)
    (0.75, 0.125)
    """
    expect_curve(curve)
    return lambda alpha: curve.beta(alpha).lower


class ProfileArrays(NamedTuple):
    """ε in nats, with the lower and the upper ends of δ at these ε."""

    epsilon: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


def profile_arrays(curve: PrivacyCurve, epsilons: ArrayLike) -> ProfileArrays:
    """The curve at several ε as plain numpy arrays.

    Parameters
    ----------
    curve : PrivacyCurve
        Of any kind; for a bound both ends enclose the bound.
    epsilons : array of doubles
        ε in nats, at least 0.

    Returns
    -------
    ProfileArrays
        Arrays `epsilon`, `lower` and `upper`.

    Examples
    --------
    >>> import statpriv as sp
    >>> curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(2))
    >>> sp.interop.profile_arrays(curve, [0.0, 1.0]).upper
    array([0.5, 0.5])
    """
    import numpy as np

    expect_curve(curve)
    at = np.asarray(epsilons, dtype=np.float64)
    deltas = curve.delta(at)
    return ProfileArrays(at, np.asarray(deltas.lower), np.asarray(deltas.upper))
