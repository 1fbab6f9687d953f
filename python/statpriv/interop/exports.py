"""Exports under the names of the libraries that take them, with defaults that fit the curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from statpriv.errors import MissingExtraError
from statpriv.interop.discretisation import fitting_interval
from statpriv.interop.privacy_loss_distribution import privacy_loss_distribution
from statpriv.interop.profile import privacy_profile

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    from statpriv.curves.curve import PrivacyCurve
    from statpriv.interop.discretisation import Mechanism
    from statpriv.numeric.exact import Number


def to_dp_accounting(
    curve: PrivacyCurve | Mechanism,
    *,
    interval: float | None = None,
    truncation: Number = "1e-15",
    pessimistic: bool = True,
) -> PrivacyLossDistribution:
    """The curve as dp_accounting's `PrivacyLossDistribution`, on a grid that fits the curve.

    Parameters
    ----------
    curve : PrivacyCurve or differential.RandomAllocation
        The curve of one answer, or of several together; or a mechanism of differential privacy.
    interval : float, optional
        The losses are multiples of it. By default the longest of 1, 2 or 5 times a power of ten that gives at least
        2000 losses until δ is within `truncation` of its limit, or 100 if the curve is costly. Distributions to be
        composed must have the same interval: state one, such as 1e-4, the default of dp_accounting.
    truncation, pessimistic
        As in :func:`statpriv.interop.privacy_loss_distribution`, which says what is certified.

    Returns
    -------
    dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution

    Raises
    ------
    MissingExtraError
        dp_accounting is not installed.
    ArgumentError
        A value that is not allowed; a curve of kind "bound" with ``pessimistic=False``.

    Examples
    --------
    >>> import statpriv as sp
    >>> curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024))
    >>> distribution = sp.interop.to_dp_accounting(curve)
    >>> round(float(distribution.get_delta_for_epsilon(0.005)), 7), round(curve.delta(0.005).upper, 7)
    (0.0225738, 0.0225738)
    """
    fitting = fitting_interval(curve, truncation) if interval is None else interval
    return privacy_loss_distribution(curve, interval=fitting, truncation=truncation, pessimistic=pessimistic)


def to_opendp(curve: PrivacyCurve) -> Any:  # noqa: ANN401  (OpenDP is imported late, and has no types)
    """The curve as OpenDP's `PrivacyProfile`: ε, in nats, to a double certifiably not below δ(ε).

    OpenDP asks that its features "contrib" and "honest-but-curious" are enabled first, by
    ``opendp.prelude.enable_features("contrib", "honest-but-curious")``. That is left to you, because it is your consent
    for the whole process.

    Parameters
    ----------
    curve : PrivacyCurve
        The curve of any kind.

    Returns
    -------
    opendp.mod.PrivacyProfile
        With the methods `delta`, `epsilon` and `beta` of OpenDP.

    Raises
    ------
    MissingExtraError
        OpenDP is not installed.
    ArgumentError
        No curve is given.

    Examples
    --------
    >>> import statpriv as sp
    >>> curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(3))
    >>> from opendp.mod import enable_features
    >>> enable_features("contrib", "honest-but-curious")
    >>> sp.interop.to_opendp(curve).delta(0.0)
    0.5
    """
    profile = privacy_profile(curve)
    try:
        from opendp.measures import new_privacy_profile
    except ImportError:
        raise MissingExtraError(
            "a privacy profile is an object of OpenDP: pip install opendp; sp.interop.privacy_profile is a function"
        ) from None
    return new_privacy_profile(profile)  # type: ignore[no-untyped-call]
