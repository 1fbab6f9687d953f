"""The same work with alternative software, written as its own users would write it.

A peer that cannot do a case in reasonable time, or is not installed, raises `SkippedError` with the reason.
"""

from __future__ import annotations

import ctypes
import importlib
import math
import warnings
from fractions import Fraction
from functools import cache
from types import ModuleType

import flint
import mpmath
import numpy as np
from scipy.stats import binom, hypergeom


class SkippedError(Exception):
    """The reason why a peer has no result."""


def optional(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise SkippedError(f"{name} is not installed") from missing


def threshold(n: int, p: float, epsilon):
    """The threshold κ: δ sums over the answers from κ on."""
    return n * p * np.exp(epsilon) / (1 - p + p * np.exp(epsilon))


# --- scipy


def scipy_delta(n: int, p: float, epsilon):
    """The textbook difference of two tails, for numbers and for arrays."""
    first = np.ceil(threshold(n, p, epsilon))
    return binom.sf(first - 2, n - 1, p) - np.exp(epsilon) * binom.sf(first - 1, n - 1, p)


def scipy_log_pmf(k: int, n: int, p: float) -> float:
    return float(binom.logpmf(k, n, p))


def scipy_tail(k: int, n: int, p: float) -> float:
    return float(binom.sf(k - 1, n, p))


def scipy_pmf(n: int, p: float):
    return binom.pmf(np.arange(n + 1), n, p)


def scipy_hypergeometric_log_pmf(k: int, population: int, marked: int, draws: int) -> float:
    return float(hypergeom.logpmf(k, population, marked, draws))


def scipy_hypergeometric_tail(k: int, population: int, marked: int, draws: int) -> float:
    return float(hypergeom.sf(k - 1, population, marked, draws))


# --- R's functions, from its stand-alone library


@cache
def rmath() -> ctypes.CDLL:
    for name in ("libRmath.so.1", "libRmath.so", "libRmath.dylib"):
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        for function, numbers, switches in (("dbinom", 3, 1), ("dhyper", 4, 1), ("pbinom", 3, 2), ("phyper", 4, 2)):
            symbol = getattr(library, function)
            symbol.restype = ctypes.c_double
            symbol.argtypes = [ctypes.c_double] * numbers + [ctypes.c_int] * switches
        return library
    raise SkippedError("libRmath is not installed")


def r_delta(n: int, p: float, epsilon: float) -> float:
    first = math.ceil(threshold(n, p, epsilon))
    tail = rmath().pbinom
    return tail(first - 2, n - 1, p, 0, 0) - math.exp(epsilon) * tail(first - 1, n - 1, p, 0, 0)


def r_log_pmf(k: int, n: int, p: float) -> float:
    return rmath().dbinom(k, n, p, 1)


def r_tail(k: int, n: int, p: float) -> float:
    return rmath().pbinom(k - 1, n, p, 0, 0)


def r_hypergeometric_log_pmf(k: int, population: int, marked: int, draws: int) -> float:
    return rmath().dhyper(k, marked, population - marked, draws, 1)


def r_hypergeometric_tail(k: int, population: int, marked: int, draws: int) -> float:
    return rmath().phyper(k - 1, marked, population - marked, draws, 0, 0)


# --- python-flint: ball arithmetic of any precision


def flint_log_choose(n: int, k: int) -> flint.arb:
    return flint.arb(n + 1).lgamma() - flint.arb(k + 1).lgamma() - flint.arb(n - k + 1).lgamma()


def flint_log_pmf(k: int, n: int, p: float) -> float:
    with flint.ctx.workprec(128):
        at = flint.arb(p)
        return float(flint_log_choose(n, k) + k * at.log() + (n - k) * (1 - at).log())


def flint_hypergeometric_log_pmf(k: int, population: int, marked: int, draws: int) -> float:
    with flint.ctx.workprec(128):
        chosen = flint_log_choose(marked, k) + flint_log_choose(population - marked, draws - k)
        return float(chosen - flint_log_choose(population, draws))


def flint_digits(n: int, p: float, epsilon: float) -> flint.arb:
    """Fifty digits of δ from the incomplete beta function."""
    with flint.ctx.workprec(300):
        at, ratio = flint.arb(p), flint.arb(epsilon).exp()
        first = int((n * at * ratio / (1 - at + at * ratio)).ceil().unique_fmpz())
        tail = [at.beta_lower(k, n - k, regularized=True) for k in (first - 1, first)]
        return tail[0] - ratio * tail[1]


# --- mpmath


def mpmath_digits(n: int, p: float, epsilon: float) -> mpmath.mpf:
    if n > 1000:
        raise SkippedError("betainc takes more than 25 s from 32768 entries on")
    with mpmath.workdps(60):
        at, ratio = mpmath.mpf(p), mpmath.exp(epsilon)
        first = int(mpmath.ceil(n * at * ratio / (1 - at + at * ratio)))
        tail = [mpmath.betainc(k, n - k, 0, at, regularized=True) for k in (first - 1, first)]
        return tail[0] - ratio * tail[1]


# --- integers


def exact_delta(n: int, p: Fraction, ratio: Fraction) -> Fraction:
    """δ as a sum over one common denominator, with each binomial coefficient computed from the previous one."""
    a, b = p.numerator, p.denominator - p.numerator
    x, y = ratio.numerator, ratio.denominator
    first = -(-n * a * x // (b * y + a * x))
    sums = [0, 0]
    term = math.comb(n - 1, first - 1) * a ** (first - 1) * b ** (n - first)
    for k in range(first - 1, n):
        sums[0] += term
        if k >= first:
            sums[1] += term
        term = term * (n - 1 - k) * a // ((k + 1) * b)
    return Fraction(y * sums[0] - x * sums[1], y * p.denominator ** (n - 1))


# --- accountants of differential privacy: δ of the discretised privacy loss

UNLIKELY = -50
"""Log probability below which answers are dropped. They do not change any δ that is compared."""


def dp_accounting_delta(first, second, epsilons, interval: float):
    """δ in one direction, from both log probabilities of every answer that is likely under either law."""
    loss = optional("dp_accounting.pld.privacy_loss_distribution")
    likely = np.flatnonzero(np.maximum(first, second) > UNLIKELY)
    lower, upper = (dict(zip(likely.tolist(), law[likely].tolist(), strict=True)) for law in (second, first))
    distribution = loss.from_two_probability_mass_functions(
        lower, upper, value_discretization_interval=interval, symmetric=True
    )
    return distribution.get_delta_for_epsilon(epsilons)


def dp_accounting_curve(n: int, p: float, epsilons, interval: float):
    """δ of the count, including the construction of its laws for the critical entry 1 and 0."""
    law = binom.logpmf(np.arange(-1, n + 1), n - 1, p)
    return dp_accounting_delta(law[:-1], law[1:], epsilons, interval)


def prv_accountant_delta(n: int, p: float, epsilon: float) -> float:
    """The estimate of an accountant of privacy random variables, with ε to be known to a thousandth."""
    prv = optional("prv_accountant")
    base = optional("prv_accountant.privacy_random_variables.abstract_privacy_random_variable")

    class Count(base.PrivacyRandomVariable):
        def cdf(self, t):
            return binom.cdf(np.floor(threshold(n, p, np.asarray(t, dtype=float))) - 1, n - 1, p)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        accountant = prv.PRVAccountant(Count(), eps_error=epsilon / 1000, delta_error=1e-10, eps_max=1.0)
        return accountant.compute_delta(epsilon, [1])[1]
