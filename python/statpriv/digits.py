"""Numbers to as many digits as are asked for: enclosures whose ends are mpmath numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from statpriv import _native
from statpriv.errors import NotAvailableError
from statpriv.numbers import is_array

if TYPE_CHECKING:
    from fractions import Fraction

    from statpriv._native import Curve, Enclosure
    from statpriv.numbers import Number

__all__ = ["delta", "epsilon", "exact_ends", "law", "log_delta", "mass_at_infinity", "poisson_binomial_pmf"]


def delta(curve: Curve, epsilon: Number, digits: int) -> Enclosure:
    """δ(ε), relatively narrower than 10^-digits."""
    _refuse_arrays(epsilon=epsilon)
    return _native.delta_digits(curve, epsilon, digits)


def exact_ends(enclosure: Enclosure) -> tuple[Fraction, Fraction]:
    """The finite ends of an enclosure, of doubles or of digits, as the fractions that they are."""
    from fractions import Fraction

    lower, upper = (
        Fraction(end) if isinstance(end, float) else end.man_exp[0] * Fraction(2) ** end.man_exp[1]
        for end in (enclosure.lower, enclosure.upper)
    )
    return lower, upper


def log_delta(curve: Curve, epsilon: Number, digits: int) -> Enclosure:
    """The logarithm ln δ(ε), relatively narrower than 10^-digits."""
    _refuse_arrays(epsilon=epsilon)
    return _native.log_delta_digits(curve, epsilon, digits)


def epsilon(curve: Curve, delta: Number, digits: int) -> Enclosure:
    """ε(δ), relatively narrower than 10^-digits."""
    _refuse_arrays(delta=delta)
    return _native.epsilon_digits(curve, delta, digits)


def mass_at_infinity(curve: Curve, digits: int) -> Enclosure:
    """The limit of δ(ε) for ε → ∞, relatively narrower than 10^-digits."""
    return _native.mass_at_infinity_digits(curve, digits)


def law(quantity: str, digits: int, **arguments: Any) -> Enclosure:  # noqa: ANN401  (a number of any exact kind)
    """The `"pmf"`, `"log_pmf"` or `"upper_tail"` of a binomial law (k, n, p) or a hypergeometric one."""
    _refuse_arrays(**arguments)
    function = _native.binomial_digits if "p" in arguments else _native.hypergeometric_digits
    return function(quantity, digits, **arguments)


def poisson_binomial_pmf(p: Any, digits: int) -> list[Enclosure]:  # noqa: ANN401  (any sequence of exact numbers)
    """The law of the number of successes in independent trials, one enclosure for each k."""
    return _native.poisson_binomial_digits(list(p), digits)


def _refuse_arrays(**arguments: Any) -> None:  # noqa: ANN401  (what a caller wrote)
    for name, value in arguments.items():
        if is_array(value):
            raise NotAvailableError(f"{name} is an array: with digits= one number at a time is available")
