"""Probabilities and quantiles of the binomial and the hypergeometric law, certified, with named parameters.

Arguments are numbers or arrays of numbers, broadcast together by numpy's rules; arrays give an
:class:`statpriv.EnclosureArray`. k is any integer with absolute value at most 2^53. Outside the support the pmf is 0,
its logarithm -inf, and the tail 1 or 0. Quantiles take single numbers and are integers.

>>> import statpriv as sp
>>> sp.laws.binomial_pmf(2, n=4, p=0.5)
Enclosure(0.375, 0.375)
>>> sp.laws.binomial_pmf([0, 1, 2, 3], n=2, p="1/2")
EnclosureArray(lower=[0.25, 0.5 , 0.25, 0.  ],
               upper=[0.25, 0.5 , 0.25, 0.  ])
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast, overload

from statpriv import _native, budget
from statpriv.distributions.poisson_binomial import poisson_binomial_pmf
from statpriv.distributions.quantiles import binomial_quantile, hypergeometric_quantile
from statpriv.errors import ArgumentError
from statpriv.numeric.exact import as_count, is_array

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from statpriv._native import Enclosure
    from statpriv.numeric.enclosure_array import EnclosureArray
    from statpriv.numeric.exact import ArrayLike, Number

__all__ = [
    "binomial_log_pmf",
    "binomial_lower_tail",
    "binomial_pmf",
    "binomial_pmf_row",
    "binomial_quantile",
    "binomial_upper_tail",
    "hypergeometric_log_pmf",
    "hypergeometric_lower_tail",
    "hypergeometric_pmf",
    "hypergeometric_pmf_row",
    "hypergeometric_quantile",
    "hypergeometric_upper_tail",
    "poisson_binomial_pmf",
]


Argument: TypeAlias = Any
Result: TypeAlias = Any
"""The two protocols below state the argument and result types of the functions."""


class OfBinomial(Protocol):
    """A quantity of Bin(n, p): an enclosure for numbers, an array of enclosures if an argument is an array."""

    @overload
    def __call__(  # type: ignore[overload-overlap]  # numbers alone give one enclosure
        self, k: Number, *, n: Number, p: Number, digits: int | None = None
    ) -> Enclosure: ...
    @overload
    def __call__(
        self, k: Number | ArrayLike, *, n: Number | ArrayLike, p: Number | ArrayLike, digits: int | None = None
    ) -> EnclosureArray: ...


class OfHypergeometric(Protocol):
    """A quantity of a hypergeometric law: an enclosure for numbers, an array of them if an argument is an array."""

    @overload
    def __call__(  # type: ignore[overload-overlap]  # numbers alone give one enclosure
        self, k: Number, *, population: Number, marked: Number, draws: Number, digits: int | None = None
    ) -> Enclosure: ...
    @overload
    def __call__(
        self,
        k: Number | ArrayLike,
        *,
        population: Number | ArrayLike,
        marked: Number | ArrayLike,
        draws: Number | ArrayLike,
        digits: int | None = None,
    ) -> EnclosureArray: ...


def _of_binomial(quantity: str) -> Callable[[Callable[..., Any]], OfBinomial]:
    """A quantity of Bin(n, p); plain numbers go straight to the kernel."""
    law = getattr(_native, f"binomial_{quantity}")

    def evaluated(documented: Callable[..., Any]) -> OfBinomial:
        @wraps(documented)
        def evaluate(k: Argument, *, n: Argument, p: Argument, digits: int | None = None) -> Result:
            if digits is None and not (hasattr(k, "__len__") or hasattr(n, "__len__") or hasattr(p, "__len__")):
                return law(k, n=n, p=p)
            return _evaluated(law, digits, quantity, k=k, n=n, p=p)

        return cast("OfBinomial", evaluate)

    return evaluated


def _of_hypergeometric(quantity: str) -> Callable[[Callable[..., Any]], OfHypergeometric]:
    """A quantity of a hypergeometric law; plain numbers go straight to the kernel."""
    law = getattr(_native, f"hypergeometric_{quantity}")

    def evaluated(documented: Callable[..., Any]) -> OfHypergeometric:
        @wraps(documented)
        def evaluate(
            k: Argument, *, population: Argument, marked: Argument, draws: Argument, digits: int | None = None
        ) -> Result:
            if digits is None and not (
                hasattr(k, "__len__")
                or hasattr(population, "__len__")
                or hasattr(marked, "__len__")
                or hasattr(draws, "__len__")
            ):
                return law(k, population=population, marked=marked, draws=draws)
            return _evaluated(law, digits, quantity, k=k, population=population, marked=marked, draws=draws)

        return cast("OfHypergeometric", evaluate)

    return evaluated


@_of_binomial("log_pmf")
def binomial_log_pmf(k: Argument, *, n: Argument, p: Argument, digits: int | None = None) -> Result:
    """The logarithm of :func:`binomial_pmf`, in nats: at most 0, and `[-inf, -inf]` outside the support.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.laws.binomial_log_pmf(0, n=1, p=0.5)
    Enclosure(-0.6931471805599454, -0.6931471805599453)
    """


@_of_binomial("pmf")
def binomial_pmf(k: Argument, *, n: Argument, p: Argument, digits: int | None = None) -> Result:
    """P[X = k] for X ~ Bin(n, p).

    Parameters
    ----------
    k : int or array of int
        Any integer up to 2^53 in size.
    n : int or array of int
        Number of trials, from 0 to 2^53.
    p : float, Fraction, Decimal, str, or array of these
        Probability of a hit, from 0 to 1, exactly as given.
    digits : int, optional
        Correct decimal digits; doubles by default.

    Returns
    -------
    Enclosure or EnclosureArray
        A probability.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.laws.binomial_pmf([0, 1, 2], n=2, p=0.25)
    EnclosureArray(lower=[0.5625, 0.375 , 0.0625],
                   upper=[0.5625, 0.375 , 0.0625])
    """


@_of_binomial("upper_tail")
def binomial_upper_tail(k: Argument, *, n: Argument, p: Argument, digits: int | None = None) -> Result:
    """P[X >= k] for X ~ Bin(n, p), a probability; the arguments are those of :func:`binomial_pmf`.

    Examples
    --------
    >>> import statpriv as sp
    >>> 0.5 in sp.laws.binomial_upper_tail(2, n=3, p="1/2")
    True
    """


@_of_binomial("lower_tail")
def binomial_lower_tail(k: Argument, *, n: Argument, p: Argument, digits: int | None = None) -> Result:
    """P[X <= k] for X ~ Bin(n, p), a probability; the arguments are those of :func:`binomial_pmf`.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.laws.binomial_lower_tail([-1, 1, 2], n=2, p=0.5).contains([0, 0.75, 1])
    array([ True,  True,  True])
    """


def binomial_pmf_row(*, n: Number, p: Number, digits: int | None = None) -> EnclosureArray:
    """P[X = k] for X ~ Bin(n, p) and all k from 0 to n, at a few nanoseconds each.

    Parameters
    ----------
    n : int
        Number of trials, from 0 to 2^26 - 1.
    p, digits
        As for :func:`binomial_pmf`, p a single number.

    Returns
    -------
    EnclosureArray
        n + 1 probabilities, relatively narrower than 1e-13 while they are normal doubles.

    Raises
    ------
    ArgumentError
        A value that is not allowed; the message names it.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.laws.binomial_pmf_row(n=2, p=0.5).contains([0.25, 0.5, 0.25])
    array([ True,  True,  True])
    """
    if digits is None:
        return _row(_native.binomial_pmf_row(n=n, p=p))
    values = range(_row_length(as_count(n, "n") + 1))
    return cast("EnclosureArray", _evaluated(_native.binomial_pmf, digits, "pmf", k=values, n=n, p=p))


@_of_hypergeometric("log_pmf")
def hypergeometric_log_pmf(
    k: Argument, *, population: Argument, marked: Argument, draws: Argument, digits: int | None = None
) -> Result:
    """The logarithm of :func:`hypergeometric_pmf`, in nats: at most 0, and `[-inf, -inf]` outside the support.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.laws.hypergeometric_log_pmf(3, population=10, marked=2, draws=3)
    Enclosure(float('-inf'), float('-inf'))
    """


@_of_hypergeometric("pmf")
def hypergeometric_pmf(
    k: Argument, *, population: Argument, marked: Argument, draws: Argument, digits: int | None = None
) -> Result:
    """P[X = k] for the number X of marked ones among `draws` items.

    Parameters
    ----------
    k : int or array of int
        Any integer up to 2^53 in size.
    population : int or array of int
        Number of items, up to 2^53.
    marked : int or array of int
        Number of marked ones among them.
    draws : int or array of int
        Number of items drawn, without replacement.
    digits : int, optional
        Correct decimal digits; doubles by default.

    Returns
    -------
    Enclosure or EnclosureArray
        A probability.

    Examples
    --------
    >>> import statpriv as sp
    >>> from fractions import Fraction
    >>> Fraction(1, 30) in sp.laws.hypergeometric_pmf(3, population=10, marked=4, draws=3)
    True
    """


@_of_hypergeometric("upper_tail")
def hypergeometric_upper_tail(
    k: Argument, *, population: Argument, marked: Argument, draws: Argument, digits: int | None = None
) -> Result:
    """P[X >= k], a probability, for the X and the arguments of :func:`hypergeometric_pmf`.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.laws.hypergeometric_upper_tail([0, 4], population=10, marked=4, draws=3)
    EnclosureArray(lower=[1., 0.],
                   upper=[1., 0.])
    """


@_of_hypergeometric("lower_tail")
def hypergeometric_lower_tail(
    k: Argument, *, population: Argument, marked: Argument, draws: Argument, digits: int | None = None
) -> Result:
    """P[X <= k], a probability, for the X and the arguments of :func:`hypergeometric_pmf`.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.laws.hypergeometric_lower_tail([-1, 3], population=10, marked=4, draws=3)
    EnclosureArray(lower=[0., 1.],
                   upper=[0., 1.])
    """


def hypergeometric_pmf_row(
    *, population: Number, marked: Number, draws: Number, digits: int | None = None
) -> EnclosureArray:
    """P[X = k] for the number X of marked ones among `draws` items and all possible k, at about a nanosecond each.

    Parameters
    ----------
    population, marked, draws, digits
        As for :func:`hypergeometric_pmf`, single numbers.

    Returns
    -------
    EnclosureArray
        The probabilities of k from ``max(0, marked + draws - population)`` to ``min(marked, draws)``, relatively
        narrower than 1e-13 while they are normal doubles.

    Raises
    ------
    ArgumentError
        A value that is not allowed, or more than 2^26 possible k.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.laws.hypergeometric_pmf_row(population=4, marked=2, draws=3).contains(["1/2", "1/2"])  # of 1 and of 2
    array([ True,  True])
    """
    if digits is None:
        return _row(_native.hypergeometric_pmf_row(population=population, marked=marked, draws=draws))
    items, ones, drawn = as_count(population, "population"), as_count(marked, "marked"), as_count(draws, "draws")
    least, greatest = max(0, ones + drawn - items), min(ones, drawn)
    values = range(least, least + _row_length(greatest - least + 1))
    sizes = {"population": items, "marked": ones, "draws": drawn}
    return cast("EnclosureArray", _evaluated(_native.hypergeometric_pmf, digits, "pmf", k=values, **sizes))


def _row(ends: tuple[NDArray[np.float64], NDArray[np.float64]]) -> EnclosureArray:
    """The kernel's row."""
    from statpriv.numeric.enclosure_array import EnclosureArray

    return EnclosureArray(*ends)


def _row_length(values: int) -> int:
    """The number of values, checked against the maximal length of a row."""
    if values > budget.MAX_ROW:
        raise ArgumentError(
            f"a row of {values} probabilities is too long; up to 2^26 = {budget.MAX_ROW} values are allowed: ask for "
            "single probabilities or tails instead"
        )
    return values


def _evaluated(law: Callable[..., Enclosure], digits: int | None, quantity: str, **arguments: Argument) -> Result:
    """The quantity in the general case: digits, arrays, and numbers written as strings."""
    if digits is not None:
        from statpriv.numeric import digits as on_demand

        return on_demand.law(quantity, digits, **arguments)
    if not any(map(is_array, arguments.values())):
        return law(**arguments)
    from statpriv.numeric.broadcasting import evaluate_law

    many = _native.binomial_array if "p" in arguments else _native.hypergeometric_array
    return evaluate_law(many, quantity, **arguments)
