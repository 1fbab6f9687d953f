"""What answers do to somebody's guess of one person's value, given a prior.

Let a reader hesitate between two values of a person, with probability π and 1 − π, π ≤ 1/2. The answers have the law P
under the first value and Q under the second. The best guess of each answer is the value with the larger of πP and
(1 − π)Q, so it is right with probability

    Σ max(πP, (1 − π)Q) = (1 − π) + Σ max(πP − (1 − π)Q, 0) = (1 − π) + π · δ(ln((1 − π)/π)),

where δ is the hockey-stick divergence of P from Q. That is exact for a pair of values, and the supremum over all pairs
for the curve of the worst one.
A guess without the answers is right with probability 1 − π.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_probability
from statpriv.numeric.transcendental import logarithm_ends

if TYPE_CHECKING:
    from statpriv.curves.guesses import Guesses

__all__ = ["posterior"]


def posterior(curve: Guesses, prior: Number) -> Enclosure:
    """The probability that the best guess is right; :meth:`statpriv.PrivacyCurve.posterior` documents it."""
    first = as_probability(prior, "prior")
    if first in (0, 1):
        return Enclosure(1)
    # The less likely value of the two comes first.
    less, turned = (first, curve) if first <= Fraction(1, 2) else (1 - first, curve.reversed())
    least, most = logarithm_ends((1 - less) / less)
    # δ does not rise with ε.
    ends = turned.delta(most).lower, turned.delta(max(least, Fraction(0))).upper
    lower, upper = ((1 - less) + less * Fraction(end) for end in ends)
    return Enclosure(lower, min(upper, Fraction(1)))
