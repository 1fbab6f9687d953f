"""The number of independent entries with a property, where each entry has its own probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from statpriv import _native
from statpriv.distributions.hockey_stick import doubles, listed

if TYPE_CHECKING:
    import numpy as np

    from statpriv.numeric.enclosure_array import EnclosureArray
    from statpriv.numeric.exact import Number


def poisson_binomial_pmf(p: Sequence[Number] | np.ndarray[Any, Any], *, digits: int | None = None) -> EnclosureArray:
    """``P[X = k]`` for k = 0, …, N, where X counts N independent entries, the i-th with probability ``p[i]``.

    Parameters
    ----------
    p : sequence or numpy array of one dimension
        Probabilities from 0 to 1: float, int, Fraction, Decimal or str. A float is the rational it stores.
    digits : int, optional
        Correct decimal digits; doubles by default.

    Returns
    -------
    EnclosureArray
        N + 1 enclosures: one or two ulps wide for N up to 2048, and relatively narrower than 1e-12 up to 100 000.
        Values ruled out by probabilities 0 or 1 are exact zeros.

    Raises
    ------
    ArgumentError
        A value that is not a probability.

    Notes
    -----
    All terms are positive, so every value keeps its relative accuracy, however small it is. The running time grows as
    N² up to some thousands, and roughly linearly in N beyond: 4 ms for N = 1000, about a second for 100 000.

    Examples
    --------
    >>> import statpriv as sp
    >>> law = sp.laws.poisson_binomial_pmf(["1/2", "1/4", 0])
    >>> law.upper.size, float(law.upper[3])
    (4, 0.0)
    """
    entries = listed(p, "p")
    if digits is not None:
        from statpriv.numeric import digits as on_demand

        law: EnclosureArray = on_demand.poisson_binomial_pmf(entries, digits)
        return law
    as_bytes = doubles(entries)
    ends = _native.poisson_binomial_pmf(list(entries) if as_bytes is None else as_bytes)

    import numpy as np

    from statpriv.numeric.enclosure_array import EnclosureArray

    return EnclosureArray(*(np.frombuffer(end) for end in ends))
