"""The numbers of a privacy curve: δ and ε in three tiers, and the errors of the best test."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, overload

from statpriv import _native, budget
from statpriv._native import Curve, Enclosure, delta_array, epsilon_array
from statpriv.errors import ArgumentError
from statpriv.numeric import digits as on_demand
from statpriv.numeric.calls import answered
from statpriv.numeric.exact import Number, as_count, is_array
from statpriv.numeric.waiting import while_found

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    from statpriv.numeric.enclosure_array import EnclosureArray
    from statpriv.numeric.exact import ArrayLike


def as_points(points: Number) -> int:
    """The number of ε at which a curve is integrated."""
    many = as_count(points, "points", least=3)
    if many > budget.MAX_CURVE_POINTS:
        raise ArgumentError(f"points = {points}; at most {budget.MAX_CURVE_POINTS} are allowed")
    return many


_COSTLY = 1e6
"""Terms of a sum that take the kernel some ten milliseconds."""


class EvaluatedCurve(ABC):
    """An expression of the kernel, evaluated: what a curve says whatever theorem it rests on."""

    __slots__ = ()

    @property
    @abstractmethod
    def _expression(self) -> Curve:
        """The expression that the kernel evaluates."""

    @property
    def is_costly(self) -> bool:
        """Whether one δ takes more than some ten milliseconds."""
        return self._expression.terms > _COSTLY

    @overload
    def delta(self, epsilon: Number, *, digits: int | None = None) -> Enclosure: ...
    @overload
    def delta(self, epsilon: ArrayLike, *, digits: int | None = None) -> EnclosureArray: ...
    def delta(self, epsilon: Any, *, digits: int | None = None) -> Any:
        """The least δ at which the answers are (ε, δ)-statistically private (for a bound: the bound).

        Parameters
        ----------
        epsilon : float, int, Fraction, Decimal or str, or array of these
            ε in nats, at least 0.
        digits : int, optional
            Correct decimal digits, up to 10 000; doubles by default.

        Returns
        -------
        Enclosure or EnclosureArray
            δ, a probability.

        Examples
        --------
        >>> import statpriv as sp
        >>> sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(3)).delta(0)
        Enclosure(0.5, 0.5)
        >>> sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(2)).delta([0, 100])
        EnclosureArray(lower=[0.5, 0.5],
                       upper=[0.5, 0.5])
        >>> print(sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024)).delta("0.005", digits=20))
        [0.02257377618990693694135..., 0.02257377618990693694135...]
        """
        curve = self._expression
        if digits is not None:
            return on_demand.delta(curve, epsilon, digits)
        if is_array(epsilon):
            from statpriv.numeric.broadcasting import evaluate_each

            with while_found("δ at ε") as on_done:
                return evaluate_each(
                    curve.delta, epsilon, "epsilon", lambda doubles: delta_array(curve, doubles, on_done)
                )
        return curve.delta(epsilon)

    @overload
    def epsilon(self, delta: Number, *, digits: int | None = None) -> Enclosure: ...
    @overload
    def epsilon(self, delta: ArrayLike, *, digits: int | None = None) -> EnclosureArray: ...
    @answered
    def epsilon(self, delta: Any, *, digits: int | None = None) -> Any:
        """The least ε >= 0 at which the answers are (ε, δ)-statistically private.

        Parameters
        ----------
        delta : float, int, Fraction, Decimal or str, or array of these
            δ, at least 0.
        digits : int, optional
            As for :meth:`delta`.

        Returns
        -------
        Enclosure or EnclosureArray
            ε in nats; `[0, 0]` where δ is at least the total variation, infinite where no ε is enough.

        Examples
        --------
        >>> import statpriv as sp
        >>> curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(10))
        >>> curve.epsilon(0)
        Enclosure(float('inf'), float('inf'))
        """
        curve = self._expression
        if digits is not None:
            return on_demand.epsilon(curve, delta, digits)
        if is_array(delta):
            from statpriv.numeric.broadcasting import evaluate_each

            with while_found("ε at δ") as on_done:
                return evaluate_each(
                    curve.epsilon, delta, "delta", lambda doubles: epsilon_array(curve, doubles, on_done)
                )
        return curve.epsilon(delta)

    @overload
    def exact_delta(self, *, exp_epsilon: Number) -> Fraction: ...
    @overload
    def exact_delta(self, *, exp_epsilon: ArrayLike) -> NDArray[Any]: ...
    @answered
    def exact_delta(self, *, exp_epsilon: Any) -> Any:
        """δ as an exact fraction, at a rational e^ε (for a bound: the exact value of the bound).

        Parameters
        ----------
        exp_epsilon : float, int, Fraction, Decimal or str, or array of these
            e^ε, at least 1.

        Returns
        -------
        Fraction, or array of Fraction
            δ, a probability, with nothing rounded.

        Raises
        ------
        PrecisionError
            The fraction would be too long; the message estimates its size. Its denominator has about as many bits as
            that of p, times the number of entries, and the double 0.3 has a denominator of 54 bits where "0.3" has 4.

        Notes
        -----
        Where p is only known to a range, the worst p is rational too, so that the supremum is exact.

        Examples
        --------
        >>> from fractions import Fraction
        >>> import statpriv as sp
        >>> curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(4))
        >>> curve.exact_delta(exp_epsilon=Fraction(11, 10))
        Fraction(29, 80)
        """
        if is_array(exp_epsilon):
            from statpriv.numeric.broadcasting import exact_each

            return exact_each(lambda one: _native.exact_delta(self._expression, one), exp_epsilon, "exp_epsilon")
        return _native.exact_delta(self._expression, exp_epsilon)

    @overload
    def exact_terms(self, epsilon: Number) -> tuple[Fraction, Fraction]: ...
    @overload
    def exact_terms(self, epsilon: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]: ...
    @answered
    def exact_terms(self, epsilon: Any) -> tuple[Any, Any]:
        """Rationals A and B with δ(ε) = A − e^ε·B, exactly (for a bound: the bound).

        Parameters
        ----------
        epsilon : float, int, Fraction, Decimal or str, or array of these
            ε in nats, at least 0.

        Returns
        -------
        tuple of two Fractions, or of two arrays of them
            A and B: of one count and one direction the probabilities, under the two values of the critical entry,
            of the answers whose likelihood ratio is at least e^ε.

        Raises
        ------
        ArgumentError
            p is a range: the worst p depends on e^ε, so that δ has no such form.
        PrecisionError
            The fractions would be too long: see :meth:`exact_delta`.

        Examples
        --------
        >>> import statpriv as sp
        >>> sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(4)).exact_terms("0.1")
        (Fraction(1, 2), Fraction(1, 8))
        """
        if is_array(epsilon):
            from statpriv.numeric.broadcasting import exact_pairs

            return exact_pairs(lambda one: _native.exact_terms(self._expression, one), epsilon, "epsilon")
        return _native.exact_terms(self._expression, epsilon)

    @overload
    def log_delta(self, epsilon: Number, *, digits: int | None = None) -> Enclosure: ...
    @overload
    def log_delta(self, epsilon: ArrayLike, *, digits: int | None = None) -> EnclosureArray: ...
    def log_delta(self, epsilon: Any, *, digits: int | None = None) -> Any:
        """The natural logarithm of :meth:`delta`, with its arguments: at most 0, and -∞ where δ is zero.

        It is also found where δ is far below the least double.

        Examples
        --------
        >>> import statpriv as sp
        >>> curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(10001))
        >>> curve.delta(9).upper < 1e-300, round(curve.log_delta(9).upper, 3)
        (True, -6923.923)
        """
        if digits is not None:
            return on_demand.log_delta(self._expression, epsilon, digits)
        return at_each(lambda one: _native.log_delta(self._expression, one), epsilon, "epsilon")

    def total_variation(self) -> Enclosure:
        """The total variation distance of the answers' laws for the two values: δ(0).

        Examples
        --------
        >>> import statpriv as sp
        >>> sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(3)).total_variation()
        Enclosure(0.5, 0.5)
        """
        return self.delta(0)

    def infinity_mass(self, *, digits: int | None = None) -> Enclosure:
        """The limit of δ for ε → ∞, a probability: below it no ε is enough. `digits` is as for :meth:`delta`.

        Examples
        --------
        >>> import statpriv as sp
        >>> sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(4)).infinity_mass()
        Enclosure(0.125, 0.125)
        """
        if digits is not None:
            return on_demand.mass_at_infinity(self._expression, digits)
        return self._expression.mass_at_infinity()

    @overload
    def beta(self, alpha: Number) -> Enclosure: ...
    @overload
    def beta(self, alpha: ArrayLike) -> EnclosureArray: ...
    def beta(self, alpha: Any) -> Any:
        """The trade-off function (f-DP): the least type II error of a test with type I error `alpha`.

        With ``pair=(v, w)`` of the tests of "the critical entry is w", the null hypothesis, against "it is v": none
        that rejects a true null hypothesis with a probability of at most alpha accepts a false one with a smaller
        probability than β, and a best one attains it. Without a pair it is the greatest convex function that is its
        own inverse and that the tests of both directions obey. For a bound it is the β that the bound proves: every
        test errs at least that often.

        Parameters
        ----------
        alpha : float, int, Fraction, Decimal or str, or array of these
            Type I error, from 0 to 1.

        Returns
        -------
        Enclosure or EnclosureArray
            β(α), at most 1 − α; its lower end is the safe one.

        Notes
        -----
        ``β(α) = sup_ε max(0, 1 − δ(ε) − e^ε α)`` over all real ε (Dong, Roth and Su, *Gaussian Differential Privacy*,
        on the duality of f-DP and (ε, δ)-DP). The supremum of this concave function of e^ε is enclosed by its chords.

        Examples
        --------
        >>> import statpriv as sp
        >>> curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024))
        >>> round(curve.beta("0.05").lower, 4)
        0.9432
        """
        return at_each(lambda one: _native.beta(self._expression, one), alpha, "alpha")

    @overload
    def alpha(self, beta: Number) -> Enclosure: ...
    @overload
    def alpha(self, beta: ArrayLike) -> EnclosureArray: ...
    def alpha(self, beta: Any) -> Any:
        """The inverse of :meth:`beta`: the least type I error of a test with type II error `beta`, from 0 to 1.

        It is at most 1 − β, and its lower end is the safe one. Without a pair it is the same function as β.

        Examples
        --------
        >>> import statpriv as sp
        >>> curve = sp.privacy_curve(sp.PropertyQuery("0.1"), sp.Population(50), pair=(1, 0))
        >>> curve.alpha(curve.beta("0.05").lower).upper >= 0.05
        True
        """
        return at_each(lambda one: _native.alpha(self._expression, one), beta, "beta")

    @overload
    def gaussian_mu(self, epsilon: Number) -> Enclosure: ...
    @overload
    def gaussian_mu(self, epsilon: ArrayLike) -> EnclosureArray: ...
    def gaussian_mu(self, epsilon: Any) -> Any:
        """The μ of Gaussian differential privacy with the same δ at this ε in nats, at least 0.

        Two normal laws of variance one at distance μ have this δ(ε) (Dong, Roth and Su, *Gaussian Differential
        Privacy*). μ is 0 where δ is 0, and infinite where it is 1. For a bound, it is that of the bound. (Over all ε
        together there is no such μ wherever some answer gives the value away: see :meth:`infinity_mass`.)

        Examples
        --------
        >>> import statpriv as sp
        >>> curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(10_000))
        >>> round(curve.gaussian_mu("0.01").midpoint, 4)  # about 1/√(npq)
        0.02
        """
        return at_each(self._gaussian_mu, epsilon, "epsilon")

    def _gaussian_mu(self, epsilon: Number) -> Enclosure:
        from statpriv.theories.differential.gaussian import gaussian_distance

        delta = self.delta(epsilon)
        lower = gaussian_distance(epsilon, delta.lower).lower if 0 < delta.lower < 1 else 0.0
        if delta.lower == 1:
            return Enclosure(math.inf, math.inf)
        if delta.upper == 0:
            return Enclosure(0.0, 0.0)
        return Enclosure(lower, gaussian_distance(epsilon, delta.upper).upper if delta.upper < 1 else math.inf)


def at_each(one: Callable[[Any], Enclosure], value: Number | ArrayLike, name: str) -> Any:  # noqa: ANN401  (an enclosure, or an array of them)
    """A function of one number; at every entry, where `value` is an array."""
    if not is_array(value):
        return one(value)
    from statpriv.numeric.broadcasting import evaluate_each

    return evaluate_each(one, value, name)
