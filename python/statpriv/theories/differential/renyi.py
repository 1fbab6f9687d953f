"""Rényi and zero-concentrated differential privacy, converted to (ε, δ).

Let a mechanism have Rényi divergence at most `τ(α)` at order α (Mironov, *Rényi Differential Privacy*). It is
ρ-zero-concentrated private if `τ(α) = ρα` for all α > 1 (Bun and Steinke, *Concentrated Differential Privacy*). By
Canonne, Kamath and Steinke (*The Discrete Gaussian for Differential Privacy*, Proposition 12), it is (ε, δ)-private
for every order α > 1 with

    ln δ = (α−1)(τ(α) − ε) + α ln(1 − 1/α) − ln(α−1).

Proof. With `Z = ln(P/Q)` under P, `δ = E[(1 − e^{ε−Z})_+] <= sup_z (1 − e^{ε−z})_+ e^{−(α−1)z} · E[e^{(α−1)Z}]`. The
last factor is `e^{(α−1)τ}`, and the supremum is at `e^{ε−z} = (α−1)/α`. Every order gives a valid bound. So the best
order is searched in floating point, and only the bound at the order found is enclosed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from statpriv._native import Enclosure
from statpriv.errors import ArgumentError
from statpriv.numeric.enclosure import as_enclosure
from statpriv.numeric.exact import Number, as_fraction, as_nonnegative, as_probability
from statpriv.numeric.intervals import enclosure, exact, interval_context
from statpriv.numeric.literals import spelled

Divergence = Callable[[Fraction], Enclosure]

_BITS = 160
_COARSE = range(-40, 121)
"""Exponents i of the orders `1 + 2^(i/4)` that are tried first: from 1.001 to 10^9."""
_REFINEMENTS = 40


def as_order(value: Number) -> Fraction:
    """An order above 1."""
    order = as_fraction(value, "order")
    if order <= 1:
        raise ArgumentError(f"order = {spelled(value)}; an order above 1 is required")
    return order


def delta_from_renyi(epsilon: Number, divergence: Divergence) -> Enclosure:
    """The least δ of the conversion at this ε, over all orders.

    Parameters
    ----------
    epsilon : float, int, Fraction, Decimal or str
        ε in nats, at least 0.
    divergence : callable
        The Rényi divergence as a function of the order, a Fraction above 1: an Enclosure, or an exact number.

    Returns
    -------
    Enclosure
        The bound at the best order found, at most 1. Its upper end is safe; the true δ may be far below the lower one.

    Examples
    --------
    >>> import statpriv as sp
    >>> laplace = sp.differential.LaplaceMechanism(scale=10, k=20)
    >>> bound = sp.differential.delta_from_renyi(1, laplace.renyi)
    >>> print(f"{bound.upper:.3e}, exactly {laplace.delta(1).upper:.3e}")
    6.356e-03, exactly 2.294e-03
    """
    target = as_nonnegative(epsilon, "epsilon")
    order = _best_order(
        lambda a, tau: (a - 1) * (tau - float(target)) + a * math.log1p(-1 / a) - math.log(a - 1), divergence
    )
    context = interval_context(_BITS)
    tau, alpha = _divergence(context, divergence, order), exact(context, order)
    gain = alpha * context.log(1 - 1 / alpha) - context.log(alpha - 1)
    return enclosure(context.exp((alpha - 1) * (tau - exact(context, target)) + gain), least=0, most=1)


def epsilon_from_renyi(delta: Number, divergence: Divergence) -> Enclosure:
    """The least ε of the conversion at this δ, over all orders: `τ + (α ln(1−1/α) − ln(α−1) − ln δ)/(α−1)`.

    Parameters
    ----------
    delta : float, int, Fraction, Decimal or str
        δ, above 0 and at most 1.
    divergence : callable
        The Rényi divergence as a function of the order, a Fraction above 1: an Enclosure, or an exact number.

    Returns
    -------
    Enclosure
        The bound at the best order found, in nats, at least 0. Its upper end is safe.

    Examples
    --------
    >>> import statpriv as sp
    >>> gaussian = sp.differential.GaussianMechanism(sigma=10, k=20)
    >>> bound = sp.differential.epsilon_from_renyi("1e-5", gaussian.renyi)
    >>> print(f"{bound.upper:.3f}, exactly {gaussian.epsilon('1e-5').upper:.3f}")
    1.914, exactly 1.760
    """
    target = as_probability(delta, "delta")
    if target == 0:
        raise ArgumentError(f"delta = {spelled(delta)}; a number above 0 is required: the conversion gives no pure ε")
    context = interval_context(_BITS)
    logarithm = context.log(exact(context, target))
    about = enclosure(logarithm).midpoint
    order = _best_order(lambda a, tau: tau + (a * math.log1p(-1 / a) - math.log(a - 1) - about) / (a - 1), divergence)
    tau, alpha = _divergence(context, divergence, order), exact(context, order)
    gain = alpha * context.log(1 - 1 / alpha) - context.log(alpha - 1)
    return enclosure(tau + (gain - logarithm) / (alpha - 1), least=0)


def delta_from_zcdp(epsilon: Number, *, rho: Number | Enclosure) -> Enclosure:
    """:func:`delta_from_renyi` of a mechanism that is ρ-zero-concentrated private.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.differential.delta_from_zcdp(1, rho="0.05").upper
    0.00038...
    """
    return delta_from_renyi(epsilon, _concentrated(rho))


def epsilon_from_zcdp(delta: Number, *, rho: Number | Enclosure) -> Enclosure:
    """:func:`epsilon_from_renyi` of a mechanism that is ρ-zero-concentrated private.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.differential.epsilon_from_zcdp("1e-6", rho="0.05").upper
    1.471...
    """
    return epsilon_from_renyi(delta, _concentrated(rho))


def _concentrated(rho: Number | Enclosure) -> Divergence:
    per_order = as_enclosure(rho, "rho")
    if per_order.lower < 0:
        raise ArgumentError(f"rho = {spelled(rho)}; a number of at least 0 is required")
    return lambda order: per_order * order


def _divergence(context: Any, divergence: Divergence, order: Fraction) -> Any:  # noqa: ANN401
    found = _enclosed(divergence, order)
    return context.mpf([found.lower, found.upper])


def _enclosed(divergence: Divergence, order: Fraction) -> Enclosure:
    return as_enclosure(divergence(order), "divergence")


def _best_order(bound: Callable[[float, float], float], divergence: Divergence) -> Fraction:
    """An approximately optimal order: a coarse grid, then golden-section search around its best point."""

    def at(exponent: float) -> float:
        order = _order(exponent)
        return bound(float(order), _enclosed(divergence, order).upper)

    values = {float(i): at(i) for i in _COARSE}
    best = min(values, key=values.__getitem__)
    low, high, section = best - 1, best + 1, (math.sqrt(5) - 1) / 2
    for _ in range(_REFINEMENTS):
        left, right = high - section * (high - low), low + section * (high - low)
        if at(left) <= at(right):
            high = right
        else:
            low = left
    return _order((low + high) / 2 if at((low + high) / 2) < values[best] else best)


def _order(exponent: float) -> Fraction:
    return 1 + Fraction(2 ** (exponent / 4))
