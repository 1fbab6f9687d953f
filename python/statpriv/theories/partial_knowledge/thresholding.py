"""A count that is published only above a threshold (Theorem 4).

Let the records be independent with `p_i <= p`. Let ⊥ be published if the count is at most T, and let f be the binomial
probability. If ⊥ is not published, at least T of the other n − 1 records are counted. The probability of this event is
largest if all p_i are p. From T on, the ratio of successive terms of the tail of Bin(n−1, p) is at most
`r = p(n−1)/((1−p)T)`. So for r < 1 the tail is at most `x = f(T; n−1, p)/(1−r)`, and

    δ = x,     ε = −ln(1 − x):

answers above T have probability at most δ, and `P[⊥]` is between 1 − x and 1 for both values of the critical record.

If the attacker passively knows |B| other records (PPKDP), choose any number b. Let `y` be the bound of
`P[Bin(|B|, p) >= b]` and `x'` the bound of `P[Bin(n−|B|−1, p) >= T − b]` of the same form. Then δ = y + x' and
ε = −ln(1 − x').
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from statpriv._native import binomial_pmf
from statpriv.errors import ArgumentError
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_fraction
from statpriv.numeric.literals import at_most, literal, spelled

if TYPE_CHECKING:
    from statpriv.curves.curve import PrivacyCurve

_BITS = 128


@dataclass(frozen=True, repr=False)
class ThresholdGuarantee:
    """(ε, δ) of a thresholded count.

    Attributes
    ----------
    epsilon, delta : Enclosure
        Their upper ends are safe; ε in nats.
    n, p, threshold, known
        The arguments of :func:`threshold_guarantee`.
    most_known_ones : int, or None
        The number b of the second form.
    theorem : str
        The form of the theorem.
    """

    epsilon: Enclosure
    delta: Enclosure
    n: int
    p: Fraction
    threshold: int
    known: int
    most_known_ones: int | None
    theorem: str

    def __repr__(self) -> str:
        known = f", {self.known} known" if self.known else ""
        asked = f"count of {self.n} above {self.threshold}, p <= {literal(self.p)}{known}"
        return f"<ThresholdGuarantee, {asked}: epsilon = {self.epsilon!r}, delta = {self.delta!r}>"

    def exact_curve(self) -> PrivacyCurve:
        """The exact curve if all records have probability p, for the same attacker; the bound lies above it.

        For other known probabilities, pass them to `sp.PropertyQuery`.

        Examples
        --------
        >>> import statpriv as sp
        >>> found = sp.partial_knowledge.threshold_guarantee(n=100, p="0.05", threshold=20)
        >>> found.exact_curve().delta(found.epsilon.upper) < found.delta
        True
        """
        import statpriv as sp

        query = sp.PropertyQuery(self.p).thresholded(self.threshold)
        adversary = sp.Adversary(known=self.known, values="expected") if self.known else None
        return sp.privacy_curve(query, sp.Population(self.n), adversary=adversary)

    def explain(self) -> str:
        """The guarantee, the theorem and its assumptions, as text."""
        return (
            f"(ε, δ) with ε ≤ {at_most(self.epsilon.upper)} and δ ≤ {at_most(self.delta.upper)}.\n{self.theorem}.\n"
            f"Records are independent, each of a probability of at most p = {float(self.p):g}."
        )


def threshold_guarantee(
    *,
    n: Number,
    p: Number,
    threshold: Number,
    known: Number = 0,
    most_known_ones: Number | None = None,
) -> ThresholdGuarantee:
    """(ε, δ) of a count that is published only above a threshold, of independent records with `p_i <= p` (Theorem 4).

    Parameters
    ----------
    n : int
        Number of records, including the critical one; at least 2.
    p : float, int, Fraction, Decimal or str
        The largest probability of a record, above 0 and below 1.
    threshold : int
        T, the largest count that is suppressed; above `p(n−1)/(1−p)`.
    known : int, default 0
        Number of the other records that a passive attacker knows; above 0 the second form (PPKDP) is used.
    most_known_ones : int, optional
        The number b of the second form; by default the b with the least δ.

    Returns
    -------
    ThresholdGuarantee
        With `epsilon` in nats and `delta`, both enclosures.

    Raises
    ------
    ArgumentError
        A value outside its range: the statement needs ratios r below 1.

    Notes
    -----
    Source: Desfontaines, section 3.2, Theorem 4; the proof is in the module docstring.

    Examples
    --------
    >>> import statpriv as sp
    >>> found = sp.partial_knowledge.threshold_guarantee(n=1000, p="0.001", threshold=10)
    >>> print(f"{found.epsilon.upper:.3g} {found.delta.upper:.3g}")
    1.08e-07 1.08e-07
    """
    records, last = as_count(n, "n", least=2), as_count(threshold, "threshold", least=1)
    told, share = as_count(known, "known"), as_fraction(p, "p")
    if not 0 < share < 1:
        raise ArgumentError(f"p = {spelled(p)}; a number above 0 and below 1 is required")
    if told >= records:
        raise ArgumentError(
            f"known = {told}; at most n - 1 = {records - 1} is required: the critical record is not known"
        )
    unknown = records - 1 - told
    if not told:
        if most_known_ones is not None:
            raise ArgumentError(f"most_known_ones = {spelled(most_known_ones)} and known = 0; give known too")
        tail = _tail(last, unknown, share, f"threshold = {last}")
        theorem = "Theorem 4 of Desfontaines, section 3.2, first form (nothing known)"
        return ThresholdGuarantee(_epsilon(tail), tail, records, share, last, 0, None, theorem)
    ones = (
        _best(last, told, unknown, share) if most_known_ones is None else as_count(most_known_ones, "most_known_ones")
    )
    if not 0 < ones < last:
        raise ArgumentError(f"most_known_ones = {ones}; an integer above 0 and below threshold = {last} is required")
    tail = _tail(last - ones, unknown, share, f"threshold - most_known_ones = {last - ones}")
    of_known = _tail(ones, told, share, f"most_known_ones = {ones}")
    delta = of_known + tail
    theorem = f"Theorem 4 of Desfontaines, section 3.2, second form (PPKDP, {told} known)"
    return ThresholdGuarantee(
        _epsilon(tail), Enclosure(delta.lower, min(delta.upper, 1.0)), records, share, last, told, ones, theorem
    )


def _tail(start: int, trials: int, p: Fraction, asked: str) -> Enclosure:
    """`f(start; trials, p)/(1 − r)`, a bound of `P[Bin(trials, p) >= start]`, at most 1."""
    ratio = p * trials / ((1 - p) * start)
    if ratio >= 1:
        raise ArgumentError(
            f"{asked}; above {math.floor(p * trials / (1 - p))} is required: Theorem 4 needs "
            f"r = p·{trials}/((1 − p)·{start}) below 1. The exact curve "
            "has no such limit: sp.privacy_curve(sp.PropertyQuery(p).thresholded(T), ...)"
        )
    if start > trials:
        return Enclosure(0)
    bound = binomial_pmf(start, n=trials, p=p) / Enclosure(1 - ratio)
    return Enclosure(min(bound.lower, 1.0), min(bound.upper, 1.0))


def _best(threshold: int, known: int, unknown: int, p: Fraction) -> int:
    """The b with the least δ of the two integers where the decreasing part (known) crosses the increasing part."""
    first = math.floor(p * known / (1 - p)) + 1
    last = min(math.ceil(threshold - p * unknown / (1 - p)) - 1, threshold - 1)
    if first > last:
        raise ArgumentError(
            f"threshold = {threshold}; above {first + math.floor(p * unknown / (1 - p))} is required: Theorem 4 needs "
            "both ratios r below 1"
        )

    def parts(b: int) -> tuple[float, float]:
        return _tail(b, known, p, "").upper, _tail(threshold - b, unknown, p, "").upper

    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        falling, growing = parts(middle)
        low, high = (low, middle) if falling <= growing else (middle + 1, high)
    return min({max(low - 1, first), low}, key=lambda b: sum(parts(b)))


def _epsilon(tail: Enclosure) -> Enclosure:
    """`−ln(1 − x)`."""
    from statpriv.numeric.intervals import bits_below_one, enclosure, exact, interval_context

    def at(x: Fraction) -> Enclosure:
        if x >= 1:
            return Enclosure(math.inf)
        context = interval_context(_BITS + bits_below_one(x))
        return enclosure(-context.log(exact(context, 1 - x)), least=0)

    return Enclosure(at(Fraction(tail.lower)).lower, at(Fraction(tail.upper)).upper)
