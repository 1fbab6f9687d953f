"""δ of one exact answer at one ε, for many sizes of the population."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, overload

from statpriv import _native
from statpriv.curves.build import privacy_curve
from statpriv.model.populations import Population
from statpriv.model.queries.protocol import capabilities_of
from statpriv.model.ranges import ends
from statpriv.model.situation import Situation
from statpriv.numeric.exact import Number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from statpriv.curves.curve import PrivacyCurve
    from statpriv.model.adversaries import Adversary
    from statpriv.model.samplings import Sampling
    from statpriv.model.situation import Pair, Query
    from statpriv.numeric.enclosure import Enclosure
    from statpriv.numeric.enclosure_array import EnclosureArray
    from statpriv.numeric.exact import ArrayLike

    Doubles: TypeAlias = NDArray[np.float64]


@overload
def delta_at_sizes(
    query: Query,
    sizes: Number,
    epsilon: Number,
    *,
    adversary: Adversary | None = None,
    sampling: Sampling | None = None,
    pair: Pair = None,
    bound: str = "tightest",
    digits: int | None = None,
) -> Enclosure: ...
@overload
def delta_at_sizes(
    query: Query,
    sizes: ArrayLike,
    epsilon: Number,
    *,
    adversary: Adversary | None = None,
    sampling: Sampling | None = None,
    pair: Pair = None,
    bound: str = "tightest",
    digits: int | None = None,
) -> EnclosureArray: ...
def delta_at_sizes(
    query: Query,
    sizes: Any,
    epsilon: Number,
    *,
    adversary: Adversary | None = None,
    sampling: Sampling | None = None,
    pair: Pair = None,
    bound: str = "tightest",
    digits: int | None = None,
) -> Any:
    """The δ(ε) of :func:`statpriv.privacy_curve`, for each of many sizes of the population.

    For counts of all entries, sizes close to each other share work: each δ is computed from that of a larger size
    nearby by a few additions and multiplications.

    Parameters
    ----------
    query : a query
        What is asked.
    sizes : int, or array of int
        Numbers of entries, the critical one included, in any order.
    epsilon : float, int, Fraction, Decimal or str
        ε in nats, at least 0.
    adversary, sampling, pair, bound
        As for :func:`statpriv.privacy_curve`, the same for all sizes.
    digits : int, optional
        Correct decimal digits, up to 10 000; doubles by default.

    Returns
    -------
    Enclosure or EnclosureArray
        δ at each size, a probability; it encloses what the curve of that size encloses.

    Raises
    ------
    ArgumentError
        A value that is not allowed; the message names it.
    NotAvailableError
        The named bound does not apply.

    Notes
    -----
    With ``X_n ~ Bin(n, p)``, ``P[X_{n-1} >= a] = P[X_n >= a] - (a/n) P[X_n = a]`` and
    ``E(X_{n-1} - a)_+ = E(X_n - a)_+ - p P[X_{n-1} >= a]``: as X_n is X_{n-1} and one entry more.

    Examples
    --------
    >>> import statpriv as sp
    >>> deltas = sp.delta_at_sizes(sp.PropertyQuery("1/2"), range(1000, 2000), "0.1")
    >>> deltas.shape
    (1000,)
    >>> round(float(deltas.upper[0]), 6), round(float(deltas.upper[-1]), 6)
    (0.001619, 0.000209)
    >>> sp.delta_at_sizes(sp.PropertyQuery("1/2"), [3, 2], 0)
    EnclosureArray(lower=[0.5, 0.5],
                   upper=[0.5, 0.5])
    """
    from statpriv.numeric.broadcasting import evaluate_at_sizes, evaluate_digits

    def curve(size: float) -> PrivacyCurve:
        return privacy_curve(query, Population(size), adversary=adversary, sampling=sampling, pair=pair, bound=bound)

    if digits is not None:
        return evaluate_digits(lambda sizes: curve(sizes).delta(epsilon, digits=digits), sizes=sizes)

    def together(all_sizes: Doubles) -> Doubles | None:
        # Errors about anything but the sizes are reported for the largest size.
        return _together(curve(float(all_sizes.max())), all_sizes, epsilon)

    return evaluate_at_sizes(lambda size: curve(size).delta(epsilon), sizes, "sizes", together)


def _together(largest: PrivacyCurve, sizes: Doubles, epsilon: Number) -> Doubles | None:
    """The ends of δ at all sizes, if the curve is that of a count of all entries; otherwise None."""
    situation = largest.situation
    p = capabilities_of(situation.query).probability() if isinstance(situation, Situation) else None
    if p is None or situation.features or situation.sampling is not None or largest.kind != "exact":
        return None
    lower, upper = ends(p)
    return _native.delta_at_sizes(
        sizes,
        epsilon,
        known=situation.adversary.total,
        lower=lower,
        upper=upper,
        pair=situation.pair,
    )
