"""Examples and counterexamples of the paper, as explicit laws."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from statpriv import budget
from statpriv.errors import ArgumentError
from statpriv.numeric.exact import Number, as_count, as_fraction
from statpriv.numeric.literals import spelled

_Joint = dict[int, dict[tuple[int, int], Fraction]]


def differencing_attack(*, n: Number, p: Number) -> _Joint:
    """Example 8: the number of yes votes, and the number without the critical voter; together they are not private.

    Parameters
    ----------
    n : int
        Number of voters, including the critical one; from 2 to 2000.
    p : float, int, Fraction, Decimal or str
        The probability of a yes of each voter, above 0 and below 1.

    Returns
    -------
    dict
        The joint law of both counts given the critical vote, as :func:`dependency` takes it.

    Examples
    --------
    >>> import statpriv as sp
    >>> votes = sp.partial_knowledge.differencing_attack(n=100, p="1/2")
    >>> sp.partial_knowledge.composed_curve(votes).delta(1000)
    Enclosure(1.0, 1.0)
    >>> sp.partial_knowledge.dependency(votes, mu=1000)
    Enclosure(1.0, 1.0)
    """
    voters, yes = as_count(n, "n", least=2), as_fraction(p, "p")
    if voters > budget.MAX_DIFFERENCED_RECORDS:
        raise ArgumentError(f"n = {voters}; at most {budget.MAX_DIFFERENCED_RECORDS} is required: the law is exact")
    if not 0 < yes < 1:
        raise ArgumentError(f"p = {spelled(p)}; a number above 0 and below 1 is required")
    others = {k: comb(voters - 1, k) * yes**k * (1 - yes) ** (voters - 1 - k) for k in range(voters)}
    return {vote: {(k + vote, k): mass for k, mass in others.items()} for vote in (0, 1)}


def proposition_29_counterexample() -> _Joint:
    """Two independent releases that together reveal the record: Proposition 29 fails as printed.

    The record and a second record are fair bits. The releases are their sum modulo 2, and the second record.

    Returns
    -------
    dict
        The joint law of both releases given the record, as :func:`dependency` takes it.

    Examples
    --------
    >>> import statpriv as sp
    >>> bits = sp.partial_knowledge.proposition_29_counterexample()
    >>> sp.partial_knowledge.composed_curve(bits).mass_at_infinity
    Fraction(1, 1)
    """
    half = Fraction(1, 2)
    return {record: {(record ^ other, other): half for other in (0, 1)} for record in (0, 1)}
