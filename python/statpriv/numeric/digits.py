"""Numbers to any number of digits: enclosures whose ends are mpmath numbers.

An array argument gives an array result: a :class:`statpriv.numeric.digits_array.DigitsEnclosureArray`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from statpriv import _native
from statpriv.numeric.exact import is_array

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from statpriv._native import Curve, Enclosure

Argument = Any
"""A number of any exact kind, or an array of them."""


def delta(curve: Curve, epsilon: Argument, digits: int) -> Any:  # noqa: ANN401  (an enclosure, or an array of them)
    """δ(ε), relatively narrower than 10^-digits."""
    return _evaluated(lambda epsilon: _native.delta_digits(curve, epsilon, digits), epsilon=epsilon)


def exact_ends(enclosure: Enclosure) -> tuple[Fraction, Fraction]:
    """The finite ends of an enclosure, of doubles or of digits, as exact fractions."""
    return exact_end(enclosure.lower), exact_end(enclosure.upper)


def exact_end(end: Any) -> Fraction:  # noqa: ANN401  (a double, or a number of mpmath, which is imported late)
    """One finite end of an enclosure, exactly."""
    from fractions import Fraction

    return Fraction(end) if isinstance(end, float) else end.man_exp[0] * Fraction(2) ** end.man_exp[1]


def log_delta(curve: Curve, epsilon: Argument, digits: int) -> Any:  # noqa: ANN401
    """The logarithm ln δ(ε), relatively narrower than 10^-digits."""
    return _evaluated(lambda epsilon: _native.log_delta_digits(curve, epsilon, digits), epsilon=epsilon)


def epsilon(curve: Curve, delta: Argument, digits: int) -> Any:  # noqa: ANN401
    """ε(δ), relatively narrower than 10^-digits."""
    return _evaluated(lambda delta: _native.epsilon_digits(curve, delta, digits), delta=delta)


def mass_at_infinity(curve: Curve, digits: int) -> Enclosure:
    """The limit of δ(ε) for ε → ∞, relatively narrower than 10^-digits."""
    return _native.mass_at_infinity_digits(curve, digits)


def law(quantity: str, digits: int, **arguments: Argument) -> Any:  # noqa: ANN401
    """The `"pmf"`, `"log_pmf"`, `"upper_tail"` or `"lower_tail"` of a binomial law (k, n, p) or hypergeometric one."""
    function = _native.binomial_digits if "p" in arguments else _native.hypergeometric_digits
    return _evaluated(lambda **numbers: function(quantity, digits, **numbers), **arguments)


def poisson_binomial_pmf(p: Argument, digits: int) -> Any:  # noqa: ANN401
    """The law of the number of successes in independent trials, one enclosure for each k."""
    from statpriv.numeric.digits_array import DigitsEnclosureArray

    return DigitsEnclosureArray(_native.poisson_binomial_digits(list(p), digits))


def _evaluated(one: Callable[..., Enclosure], **arguments: Argument) -> Any:  # noqa: ANN401
    """A function of numbers, applied to every entry if there are arrays."""
    if not any(map(is_array, arguments.values())):
        return one(**arguments)
    from statpriv.numeric.broadcasting import evaluate_digits

    return evaluate_digits(one, **arguments)
