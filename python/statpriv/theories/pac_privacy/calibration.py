"""How much noise bounds the information in answers, and what that information allows a reader to guess.

**Noise.** Let the data be drawn, and let the answers have the covariance V, with the variances V_1, …, V_m. With
independent normal noise of the variances e_j, E the diagonal matrix of these, the answers tell about the data at most

    I ≤ ½ ln det(1 + V E^-1) ≤ Σ_j ½ ln(1 + V_j/e_j) ≤ Σ_j V_j/(2 e_j)

nats: of all laws with a given covariance the normal one has the largest entropy; the second step is Hadamard's
inequality, and an equation if the answers have no correlations. Among the variances with
``Σ_j V_j/(2 e_j) = β`` those with ``e_j = √V_j · Σ_i √V_i / (2β)`` have the least sum (Xiao and Devadas, Theorem 3).
Every e_j is rounded up, which lowers I.

**Guesses.** Let s₀ be the chance that the best guess without the answers is right, and s the chance with them. Whether
the guess is right is a function of the data and the answers, so by data processing ``s ln(s/s₀) + (1 − s) ln((1 −
s)/(1 − s₀)) ≤ I`` (the same, Theorem 1). The left side increases in s ≥ s₀.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import is_list
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_nonnegative, as_positive, as_probability
from statpriv.numeric.literals import abridged
from statpriv.numeric.search import least_integer
from statpriv.numeric.transcendental import logarithm_ends
from statpriv.planning.sampling_error import root

__all__ = ["largest_success", "noise_variances"]

_GRID = 2**60
"""A chance of success is found up to one part in so many."""


def noise_variances(variances: Sequence[Number], *, information: Number) -> list[Fraction]:
    """The variances of independent normal noises on answers that bound what these tell about the data.

    Parameters
    ----------
    variances : list of numbers
        The variance of each answer over the draw of the data, at least 0.
    information : float, int, Fraction, Decimal or str
        The largest mutual information of the data and all answers together, in nats, above 0.

    Returns
    -------
    list of Fraction
        One for each answer, rounded up; 0 for an answer that does not vary.

    Raises
    ------
    ArgumentError
        A value that is not allowed; the message names it.

    Notes
    -----
    Source: Xiao and Devadas, *PAC Privacy*, Theorem 3, for a diagonal covariance; a bound for any other.

    Examples
    --------
    Four answers of variance 16 together, and one of them alone:

    >>> noise_variances([16] * 4, information="1/8") == [256] * 4, noise_variances([16], information="1/8") == [64]
    (True, True)
    """
    if not is_list(variances) or not variances:
        raise ArgumentError(f"variances = {abridged(variances)}; a list of the variances of the answers is required")
    roots = [Fraction(root(as_nonnegative(each, f"variances[{index}]")).upper) for index, each in enumerate(variances)]
    budget = as_positive(information, "information")
    return [each * sum(roots) / (2 * budget) for each in roots]


def largest_success(information: Number, prior: Number = "1/2") -> Enclosure:
    """How likely a guess may be right by a bound on the information in the answers.

    Parameters
    ----------
    information : float, int, Fraction, Decimal or str
        Bound on the mutual information of what is guessed and the answers, in nats, at least 0.
    prior : float, Fraction, Decimal or str, default "1/2"
        How likely the best guess without the answers is right, above 0 and up to 1.

    Returns
    -------
    Enclosure
        The largest probability of a right guess that the information allows.

    Raises
    ------
    ArgumentError
        A value that is not allowed; the message names it.

    Notes
    -----
    Source: Xiao and Devadas, *PAC Privacy*, Theorem 1, with the Kullback-Leibler divergence.

    Examples
    --------
    >>> print(f"{largest_success('1/128'):.4f}")
    [0.5624, 0.5625]
    """
    allowed, before = as_nonnegative(information, "information"), as_probability(prior, "prior")
    if not before:
        raise ArgumentError(f"prior = {abridged(prior)}; a probability above 0 is required")
    if before == 1:
        return Enclosure(1)

    def success(place: int) -> Fraction:
        return before + (1 - before) * Fraction(place, _GRID)

    def least_above(end: int) -> int:
        """The least place whose divergence is above what is allowed, by its lower or its upper end; or the last one."""
        return least_integer(
            lambda place: place == _GRID or _divergence(success(place), before)[end] > allowed, 0, _GRID
        )

    upper, possible = least_above(0), least_above(1)
    if possible == _GRID and _divergence(Fraction(1), before)[1] <= allowed:
        return Enclosure(1)
    return Enclosure(success(max(possible - 1, 0)), success(upper))


def _divergence(s: Fraction, before: Fraction) -> tuple[Fraction, Fraction]:
    """Both ends of the divergence of a coin of chance s from one of chance `before`."""
    low = high = Fraction(0)
    for own, other in ((s, before), (1 - s, 1 - before)):
        if own:
            ends = logarithm_ends(own / other)
            low, high = low + own * ends[0], high + own * ends[1]
    return low, high
