"""Quantiles of counts: the least k with P[X ≤ k] ≥ level, as an integer that is certain.

P[X ≤ k] does not fall with k, so a bisection finds the least k. Each comparison is decided by enclosures in doubles, of
the smaller of both tails: P[X ≤ k] ≥ level exactly if P[X ≥ k+1] ≤ 1 − level. Where these enclosures contain the level,
enclosures with fifty digits decide. Only a level that P[X ≤ k] attains, or nearly so, is left then; it is compared in
integers, as a sum of all terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING

from statpriv import _native, budget
from statpriv.errors import ArgumentError, UndecidedError
from statpriv.numeric.exact import as_count, as_probability
from statpriv.numeric.literals import literal
from statpriv.numeric.search import least_integer

if TYPE_CHECKING:
    from statpriv._native import Enclosure
    from statpriv.numeric.exact import Number

__all__ = ["binomial_quantile", "hypergeometric_quantile"]

_DIGITS = 50


def binomial_quantile(level: Number, *, n: Number, p: Number) -> int:
    """The least k with P[X <= k] >= level for X ~ Bin(n, p).

    Parameters
    ----------
    level : float, Fraction, Decimal or str
        A probability from 0 to 1, exactly as given. At 0 the result is the least value that X may have.
    n : int
        Number of trials, from 0 to 2^53.
    p : float, Fraction, Decimal or str
        Probability of a hit, from 0 to 1, exactly as given.

    Returns
    -------
    int
        A number of hits, from 0 to `n`. It is certain.

    Raises
    ------
    ArgumentError
        A value that is not allowed; the message names it.
    UndecidedError
        If P[X <= k] agrees with the level to fifty digits at some k, and has too many terms to be summed exactly.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.laws.binomial_quantile("0.975", n=1000, p="1/2")
    531
    >>> sp.laws.binomial_quantile("3/4", n=2, p="1/2")  # P[X <= 1] is 3/4 exactly
    1
    """
    reached, trials, hit = as_probability(level, "level"), as_count(n, "n"), as_probability(p, "p")

    def terms() -> Iterator[int]:
        hits, misses = hit.numerator, hit.denominator - hit.numerator
        term = misses**trials
        for k in range(trials + 1):
            yield term
            term = term * (hits * (trials - k)) // (misses * (k + 1))

    law = _Law(
        f"Bin({trials}, {literal(hit)})",
        least=trials if hit == 1 else 0,
        greatest=0 if hit == 0 else trials,
        lower_tail=lambda k: _native.binomial_lower_tail(k, n=trials, p=hit),
        upper_tail=lambda k: _native.binomial_upper_tail(k, n=trials, p=hit),
        digits=lambda k: _native.binomial_digits("lower_tail", _DIGITS, k=k, n=trials, p=hit),
        bits=trials * hit.denominator.bit_length(),
        terms=terms,
        total=lambda: hit.denominator**trials,
    )
    return law.quantile(reached)


def hypergeometric_quantile(level: Number, *, population: Number, marked: Number, draws: Number) -> int:
    """The least k with P[X <= k] >= level for the number X of marked ones among `draws` items.

    Parameters
    ----------
    level : float, Fraction, Decimal or str
        A probability from 0 to 1, exactly as given. At 0 the result is the least value that X may have.
    population : int
        Number of items, up to 2^53.
    marked : int
        Number of marked ones among them.
    draws : int
        Number of items drawn, without replacement.

    Returns
    -------
    int
        A number of marked items. It is certain.

    Raises
    ------
    ArgumentError
        A value that is not allowed; the message names it.
    UndecidedError
        If P[X <= k] agrees with the level to fifty digits at some k, and has too many terms to be summed exactly.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.laws.hypergeometric_quantile("0.95", population=1000, marked=100, draws=50)
    9
    """
    reached = as_probability(level, "level")
    items, ones, drawn = as_count(population, "population"), as_count(marked, "marked"), as_count(draws, "draws")
    sizes = {"population": items, "marked": ones, "draws": drawn}
    for name in ("marked", "draws"):
        if sizes[name] > items:
            raise ArgumentError(f"{name} = {sizes[name]}; at most population = {items} is possible")
    least, greatest = max(0, ones + drawn - items), min(ones, drawn)

    def terms() -> Iterator[int]:
        term = math.comb(ones, least) * math.comb(items - ones, drawn - least)
        for k in range(least, greatest + 1):
            yield term
            term = term * ((ones - k) * (drawn - k)) // ((k + 1) * (items - ones - drawn + k + 1))

    law = _Law(
        f"the hypergeometric law of population = {items}, marked = {ones}, draws = {drawn}",
        least=least,
        greatest=greatest,
        lower_tail=lambda k: _native.hypergeometric_lower_tail(k, **sizes),
        upper_tail=lambda k: _native.hypergeometric_upper_tail(k, **sizes),
        digits=lambda k: _native.hypergeometric_digits("lower_tail", _DIGITS, k=k, **sizes),
        bits=min(drawn, items - drawn) * items.bit_length(),
        terms=terms,
        total=lambda: math.comb(items, drawn),
    )
    return law.quantile(reached)


@dataclass(frozen=True)
class _Law:
    """The law of a count.

    Attributes
    ----------
    name
        The law, for messages.
    least, greatest
        The ends of its support.
    lower_tail, upper_tail, digits
        P[X ≤ k] and P[X ≥ k] in doubles, and P[X ≤ k] with many digits.
    bits
        A bound on the bits of one term and of their total.
    terms, total
        Integers proportional to the probabilities, from the least value of X on, and their sum.
    """

    name: str
    least: int
    greatest: int
    lower_tail: Callable[[int], Enclosure]
    upper_tail: Callable[[int], Enclosure]
    digits: Callable[[int], Enclosure]
    bits: int
    terms: Callable[[], Iterator[int]]
    total: Callable[[], int]

    def quantile(self, level: Fraction) -> int:
        """The least k with P[X ≤ k] ≥ level."""
        if level == 1:
            return self.greatest
        return least_integer(lambda k: self._reaches(k, level), self.least, self.greatest)

    def _reaches(self, k: int, level: Fraction) -> bool:
        from statpriv.numeric.digits import exact_ends

        if 2 * level <= 1:
            below, above = exact_ends(self.lower_tail(k))
        else:
            least_rest, most_rest = exact_ends(self.upper_tail(k + 1))
            below, above = 1 - most_rest, 1 - least_rest
        if below >= level or above < level:
            return below >= level
        below, above = exact_ends(self.digits(k))
        if below >= level or above < level:
            return below >= level
        return self._reaches_exactly(k, level)

    def _reaches_exactly(self, k: int, level: Fraction) -> bool:
        work = (k - self.least + 1) * self.bits
        if work > budget.MAX_BITS_OF_EXACT_TAILS:
            raise UndecidedError(
                f"level = {literal(level)}: for {self.name}, P[X <= {k}] agrees with it to {_DIGITS} digits, and has "
                f"{k - self.least + 1} terms, too many to be summed exactly; ask for a level slightly above or below"
            )
        summed = sum(islice(self.terms(), k - self.least + 1))
        return summed * level.denominator >= level.numerator * self.total()
