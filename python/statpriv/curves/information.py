"""How much answers tell about one person's value: their mutual information.

Let the value be the first of two with probability π, else the second, and let the answers have the laws P and Q. Then
the mutual information of value and answers is the f-divergence ``E_Q f(P/Q)`` of P from Q with

    f(t) = π t ln(t/m) + (1 − π) ln(1/m),   m = πt + 1 − π,   f''(t) = π(1 − π)/(t m),

since ``m = dM/dQ`` for the law M of the answers. With ``H(x) = Δ(ln x)`` of P from Q and H' of Q from P, Taylor's
formula around t = 1 (Sason and Verdú, *f-Divergence Inequalities*) gives

    I = J(π, H) + J(1 − π, H'),   J(u, H) = ∫_1^∞ w(x) H(x) dx,   w(x) = u(1 − u)/(x(ux + 1 − u)).

Here ``∫ w = u (ln x − ln(ux + 1 − u))`` and ``∫ x w = (1 − u) ln(ux + 1 − u)``, so that a cell from a to b has a weight
``W`` and a centre of weight c. H is convex and falls. So over a cell it lies below its chord, and its mean is at least
``H(c)`` (Jensen). Beyond the last point X it lies between what is left for ever, the mass at infinity, and H(X). With
H = 1 everywhere I is the entropy of the prior: everything is told.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from statpriv._native import Enclosure
from statpriv.numeric.intervals import enclosure, exact, interval_context

if TYPE_CHECKING:
    from statpriv.curves.curve import PrivacyCurve

__all__ = ["mutual_information"]

_BITS = 128
_REST = 2.0**-30
"""Points are placed up to the ε at which δ is this part of δ(0) above the mass at infinity, …"""
_FAR = 30.0
"""… and at most up to this ε."""


def mutual_information(forward: PrivacyCurve, backward: PrivacyCurve, prior: Fraction, points: int) -> Enclosure:
    """The information in nats, for the curves of a pair in both orders; the prior is strictly between 0 and 1."""
    context = interval_context(_BITS)
    total = _integral(context, forward, prior, points) + _integral(context, backward, 1 - prior, points)
    entropy = -sum(exact(context, share) * context.log(exact(context, share)) for share in (prior, 1 - prior))
    found = enclosure(total, least=0)
    return Enclosure(found.lower, min(found.upper, enclosure(entropy).upper))


def _integral(context: Any, curve: PrivacyCurve, share: Fraction, points: int) -> Any:  # noqa: ANN401  (mpmath)
    """J(share, H) as an interval."""
    u, v = exact(context, share), exact(context, 1 - share)
    epsilons = _grid(curve, points)
    ends = [context.exp(exact(context, Fraction(epsilon))) for epsilon in epsilons]
    weights = [u * (context.log(x) - context.log(u * x + v)) for x in ends]
    moments = [v * context.log(u * x + v) for x in ends]
    cells = range(points - 1)
    weight = [weights[k + 1] - weights[k] for k in cells]
    moment = [moments[k + 1] - moments[k] for k in cells]
    # H falls: at a point rounded up it is at most what it is at the centre.
    centres = [math.nextafter(enclosure(context.log(moment[k] / weight[k])).upper, math.inf) for k in cells]
    at_ends, at_centres = _deltas(curve, epsilons), _deltas(curve, centres)
    lower = upper = exact(context, Fraction(0))
    for k in cells:
        first, second = (exact(context, Fraction(at_ends[k + end].upper)) for end in (0, 1))
        slope = (second - first) / (ends[k + 1] - ends[k])
        upper += first * weight[k] + slope * (moment[k] - ends[k] * weight[k])
        lower += exact(context, Fraction(at_centres[k].lower)) * weight[k]
    beyond = -u * context.log(u) - weights[-1]
    upper += exact(context, Fraction(at_ends[-1].upper)) * beyond
    lower += exact(context, Fraction(curve.infinity_mass().lower)) * beyond
    return context.mpf([lower.a, upper.b])


def _grid(curve: PrivacyCurve, points: int) -> list[float]:
    """So many ε from 0, evenly spaced."""
    most, for_ever = curve.delta(0).upper, curve.infinity_mass().upper
    last = min(curve.epsilon(min(for_ever + most * _REST, 1.0)).upper, _FAR) if most > 0 else 1.0
    return [last * k / (points - 1) for k in range(points)] if last > 0 else [k / points for k in range(points)]


def _deltas(curve: PrivacyCurve, epsilons: Sequence[float]) -> list[Enclosure]:
    import numpy as np

    return list(curve.delta(np.array(epsilons)))
