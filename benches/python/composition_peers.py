"""Compositions of different counts, computed by accountants of differential privacy.

Counts of *independent* tables that share the critical person compose by products. They are computed by dp_accounting
with its own discretisation, by dp_accounting with the distributions that statpriv exports (from above and from below),
and by prv_accountant. Counts of the parts of one *secret random partition* do not compose by products. Here, both
packages must first be given all joint answers.

The true value is a sum of positive terms over all answers within forty standard deviations, computed in doubles with
numpy alone. It has ten digits.
"""

from __future__ import annotations

import functools
import itertools
import math
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from benches.python.peers import dp_accounting_delta, optional
from scipy.stats import binom

import statpriv as sp

SPREAD = 40
"""Half-width of the summed range of a law, in standard deviations."""

Counts = list[tuple[int, float]]
"""The number of entries of each count, and the probability of the counted property."""

Law = Callable[[np.ndarray], np.ndarray]
"""The distribution function of a privacy loss."""


def binomial(n: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    """The answers within the range, and the logarithms of their probabilities."""
    mean, deviation = n * p, math.sqrt(n * p * (1 - p))
    a = np.arange(max(0, int(mean - SPREAD * deviation)), min(n, int(mean + SPREAD * deviation)) + 1)
    return a, binom.logpmf(a, n, p)


# --- independent tables


def product_delta(tables: Counts, epsilon: float) -> float:
    """``Σ P(a) (1 − e^{ε−L(a)})_+`` in the direction 1 against 0; ``L = ln(a(1−p)/((n−a)p))`` is the loss of one count.

    The loss of a composition is the sum of the losses of its counts.
    """
    losses, masses = np.zeros(1), np.ones(1)
    for n, p in tables[:-1]:
        loss, mass = loss_law(n, p)
        kept = mass > 1e-20
        losses = np.add.outer(losses, loss[kept]).ravel()
        masses = np.multiply.outer(masses, mass[kept]).ravel()
    loss, mass = loss_law(*tables[-1])
    first = np.append(np.cumsum(mass[::-1])[::-1], 0)
    second = np.append(np.cumsum((mass * np.exp(-loss))[::-1])[::-1], 0)
    start = np.searchsorted(loss, epsilon - losses, side="right")
    return float(np.sum(masses * (first[start] - np.exp(epsilon - losses) * second[start])))


def loss_law(n: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    """The finite losses of a count in increasing order, and their probabilities for a critical entry of 1."""
    a, log_pmf = binomial(n - 1, p)
    one = a + 1
    inside = one < n
    return np.log(one[inside] * (1 - p) / ((n - one[inside]) * p)), np.exp(log_pmf[inside])


def discretised(tables: Counts, epsilon: float, interval: float) -> float:
    """δ by dp_accounting, from the two laws of each count."""
    loss = optional("dp_accounting.pld.privacy_loss_distribution")

    def distribution(n: int, p: float):
        a, log_pmf = binomial(n - 1, p)
        one, zero = dict(zip(a + 1, log_pmf, strict=True)), dict(zip(a, log_pmf, strict=True))
        return loss.from_two_probability_mass_functions(zero, one, value_discretization_interval=interval)

    return composed([distribution(*table) for table in tables], epsilon)


def exported(tables: Counts, epsilon: float, interval: float) -> sp.Enclosure:
    """An enclosure of δ by dp_accounting, from statpriv's distributions from below and from above."""
    optional("dp_accounting")
    curves = [sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), pair=(1, 0)) for n, p in tables]

    def side(*, pessimistic: bool) -> float:
        export = sp.interop.privacy_loss_distribution
        return composed([export(curve, interval=interval, pessimistic=pessimistic) for curve in curves], epsilon)

    return sp.Enclosure(side(pessimistic=False), side(pessimistic=True))


def composed(distributions: list, epsilon: float) -> float:
    """δ of the composition of these distributions, in the direction 1 against 0."""
    first, *others = distributions
    for other in others:
        first = first.compose(other)
    return float(first._pmf_remove.get_delta_for_epsilon(epsilon))  # noqa: SLF001  (dp_accounting names no direction)


def prv(tables: Counts, epsilon: float) -> float:
    """δ by prv_accountant, from the law of each count's loss."""

    def law(n: int, p: float) -> Law:
        def cdf(t):
            ratio = np.exp(np.asarray(t, dtype=float))
            return binom.cdf(np.floor(n * p * ratio / (1 - p + p * ratio)) - 1, n - 1, p)

        return cdf

    return prv_estimate([law(*table) for table in tables], epsilon)


def prv_estimate(laws: list[Law], epsilon: float) -> float:
    """The estimate of prv_accountant from the laws of independent losses, with ε to be known to a thousandth."""
    package = optional("prv_accountant")
    base = optional("prv_accountant.privacy_random_variables.abstract_privacy_random_variable")

    class Loss(base.PrivacyRandomVariable):
        def __init__(self, law: Law) -> None:
            self.law = law

        def cdf(self, t):
            return self.law(t)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        losses = [Loss(law) for law in laws]
        accountant = package.PRVAccountant(losses, eps_error=epsilon / 1000, delta_error=1e-10, eps_max=1.0)
        return float(accountant.compute_delta(epsilon, [1] * len(losses))[1])


# --- a secret partition


def patterns(parts: Counts) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each pattern, log probabilities of all joint answers: for the critical entry's values, and the opposite."""
    laws = [binomial(*part) for part in parts]
    absent = functools.reduce(np.add.outer, [log_pmf for _, log_pmf in laws]).ravel()
    total = sum(n for n, _ in parts)

    def law(values: tuple[int, ...]) -> np.ndarray:
        """The law for these values of the critical entry, which is in part k with probability n_k/n."""
        ratios = [
            a / (total * p) if value else (n - a) / (total * (1 - p))
            for (n, p), (a, _), value in zip(parts, laws, values, strict=True)
        ]
        return absent + np.log(functools.reduce(np.add.outer, ratios).ravel())

    for values in itertools.product((0, 1), repeat=len(parts)):
        yield law(values), law(tuple(1 - value for value in values))


def partition_delta(parts: Counts, epsilon: float) -> float:
    """δ of the worst pattern, from the definition."""
    return max(
        float(np.sum(np.maximum(0, np.exp(first) - np.exp(epsilon + second)))) for first, second in patterns(parts)
    )


def partition_discretised(parts: Counts, epsilon: float, interval: float) -> float:
    """δ of the worst pattern by dp_accounting, from all likely joint answers of each pattern."""
    return max(float(dp_accounting_delta(*laws, epsilon, interval)) for laws in patterns(parts))


def partition_prv(parts: Counts, epsilon: float) -> float:
    """δ of the worst pattern by prv_accountant, from the law of the loss over all joint answers of each pattern."""

    def law(first: np.ndarray, second: np.ndarray) -> Law:
        losses = first - second
        order = np.argsort(losses)
        losses, below = losses[order], np.append(0, np.cumsum(np.exp(first[order])))
        return lambda t: below[np.searchsorted(losses, np.asarray(t, dtype=float), side="right")]

    return max(prv_estimate([law(*laws)], epsilon) for laws in patterns(parts))


def partition_certified(parts: Counts, epsilon: float) -> sp.Enclosure:
    """δ by statpriv, from the description of the situation."""
    sizes = [n for n, _ in parts]
    queries = [sp.PropertyQuery(p) for _, p in parts]
    return sp.compose(queries, sp.Population(sum(sizes)), sp.RandomPartition(sizes)).delta(epsilon)
