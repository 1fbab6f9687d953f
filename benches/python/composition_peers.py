"""Compositions of different counts beside accountants of differential privacy: how long, how wrong, and to which side.

Two kinds. Counts of *independent* tables that share the critical person compose by products: dp_accounting with its own
discretisation, with the distributions that statpriv exports (from above and from below), and prv_accountant. Counts of
the parts of one *secret random partition* do not, and a privacy loss distribution must first be told all joint answers.

The truth is a sum of positive terms over all answers within forty standard deviations, in doubles and by numpy alone:
ten digits. Errors are signed; a δ that is too small is no guarantee.

    python -m benches.python.composition_peers
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from benches.python.budgets import in_units
from benches.python.peers import SkippedError, optional
from benches.python.side_by_side import machine, seconds
from scipy.stats import binom

import statpriv as sp

SPREAD = 40
"""Standard deviations of a law that are summed over."""

EPSILON = 0.02
TABLES = [(1 << 15, 0.5), (1 << 14, 0.3), (1 << 13, 0.1)]
"""Size and probability of each count of independent tables."""
PARTS = [(2000, 0.1), (3000, 0.5)]
"""Size and probability of each part of a secret partition, all of whose entries are used."""


def binomial(n: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    """The answers that matter, and the logarithms of their probabilities."""
    mean, deviation = n * p, math.sqrt(n * p * (1 - p))
    a = np.arange(max(0, int(mean - SPREAD * deviation)), min(n, int(mean + SPREAD * deviation)) + 1)
    return a, binom.logpmf(a, n, p)


# --- independent tables


def product_delta(tables: list[tuple[int, float]], epsilon: float) -> float:
    """``Σ P(a) (1 − e^{ε−L(a)})_+`` for the direction 1 against 0, with the loss ``L = ln(a(1−p)/((n−a)p))``."""
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
    """The finite losses of a count, increasing, and their probabilities for a critical entry of 1."""
    a, log_pmf = binomial(n - 1, p)
    one = a + 1
    inside = one < n
    return np.log(one[inside] * (1 - p) / ((n - one[inside]) * p)), np.exp(log_pmf[inside])


def discretised(tables: list[tuple[int, float]], epsilon: float, interval: float) -> float:
    """dp_accounting, told the two laws of each count."""
    loss = optional("dp_accounting.pld.privacy_loss_distribution")

    def distribution(n: int, p: float):
        a, log_pmf = binomial(n - 1, p)
        one, zero = dict(zip(a + 1, log_pmf, strict=True)), dict(zip(a, log_pmf, strict=True))
        return loss.from_two_probability_mass_functions(zero, one, value_discretization_interval=interval)

    return composed([distribution(*table) for table in tables], epsilon)


def exported(tables: list[tuple[int, float]], epsilon: float, interval: float, *, pessimistic: bool) -> float:
    """dp_accounting, given the distributions of statpriv."""
    optional("dp_accounting")
    curves = [sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), pair=(1, 0)) for n, p in tables]
    export = sp.interop.privacy_loss_distribution
    distributions = [export(curve, interval=interval, pessimistic=pessimistic) for curve in curves]
    return composed(distributions, epsilon)


def composed(distributions: list, epsilon: float) -> float:
    """δ in the direction 1 against 0."""
    first, *others = distributions
    for other in others:
        first = first.compose(other)
    return float(first._pmf_remove.get_delta_for_epsilon(epsilon))  # noqa: SLF001  (dp_accounting names no direction)


def prv(tables: list[tuple[int, float]], epsilon: float) -> tuple[float, float, float]:
    """The lower bound, the estimate and the upper bound of prv_accountant that is to know ε to a thousandth."""
    package = optional("prv_accountant")
    base = optional("prv_accountant.privacy_random_variables.abstract_privacy_random_variable")

    class Count(base.PrivacyRandomVariable):
        def __init__(self, n: int, p: float) -> None:
            self.n, self.p = n, p

        def cdf(self, t):
            ratio = np.exp(np.asarray(t, dtype=float))
            threshold = self.n * self.p * ratio / (1 - self.p + self.p * ratio)
            return binom.cdf(np.floor(threshold) - 1, self.n - 1, self.p)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        counts = [Count(*table) for table in tables]
        accountant = package.PRVAccountant(counts, eps_error=epsilon / 1000, delta_error=1e-10, eps_max=1.0)
        return accountant.compute_delta(epsilon, [1] * len(counts))


# --- a secret partition


def partition_laws(values: tuple[int, ...], parts: list[tuple[int, float]]) -> tuple[list, np.ndarray]:
    """All joint answers, and the logarithms of their probabilities: the entry is in part k with probability n_k/n."""
    total = sum(n for n, _ in parts)
    laws = [binomial(n, p) for n, p in parts]
    joint = [np.add.outer(laws[0][1], laws[1][1])]
    ratios = []
    for k, ((n, p), value) in enumerate(zip(parts, values, strict=True)):
        a = laws[k][0]
        ratio = a / (n * p) if value else (n - a) / (n * (1 - p))
        ratios.append(n / total * (ratio[:, None] if k == 0 else ratio[None, :]))
    return laws, joint[0] + np.log(ratios[0] + ratios[1])


def patterns(count: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Each property is there or not; the other value of the critical entry is opposite in all of them."""
    for values in itertools.product((0, 1), repeat=count):
        yield values, tuple(1 - value for value in values)


def partition_delta(parts: list[tuple[int, float]], epsilon: float) -> float:
    """The worst pattern, by the definition."""
    deltas = []
    for one, zero in patterns(len(parts)):
        first, second = (np.exp(partition_laws(values, parts)[1]) for values in (one, zero))
        deltas.append(float(np.sum(np.maximum(0, first - math.exp(epsilon) * second))))
    return max(deltas)


def partition_discretised(parts: list[tuple[int, float]], epsilon: float, interval: float) -> float:
    """dp_accounting, told every joint answer of likelihood above e^−50, for each pattern."""
    loss = optional("dp_accounting.pld.privacy_loss_distribution")
    deltas = []
    for one, zero in patterns(len(parts)):
        first, second = (partition_laws(values, parts)[1].ravel() for values in (one, zero))
        likely = np.flatnonzero(np.maximum(first, second) > -50)
        laws = [dict(zip(likely.tolist(), law[likely].tolist(), strict=True)) for law in (second, first)]
        distribution = loss.from_two_probability_mass_functions(*laws, value_discretization_interval=interval)
        deltas.append(float(distribution.get_delta_for_epsilon(epsilon)))
    return max(deltas)


def partition_certified(parts: list[tuple[int, float]], epsilon: float) -> sp.Enclosure:
    """statpriv, from the situation."""
    queries = [sp.PropertyQuery(p) for _, p in parts]
    curve = sp.compose(queries, sp.Population(sum(n for n, _ in parts)), sp.RandomPartition([n for n, _ in parts]))
    return curve.delta(epsilon)


# --- the tables


def row(name: str, work: Callable[[], float | sp.Enclosure | tuple[float, float, float]], truth: float) -> str:
    """A number, an enclosure with its upper end, or an estimate with two bounds."""
    try:
        value = work()
    except SkippedError as reason:
        return f"| {name} | – | {reason} | |"
    if isinstance(value, sp.Enclosure):
        value = value.lower, value.upper, value.upper
    if isinstance(value, tuple):
        lower, value, upper = map(float, value)
        errors = f"{lower / truth - 1:+.1e} to {upper / truth - 1:+.1e}"
    else:
        errors = f"{value / truth - 1:+.1e}"
    return f"| {name} | {in_units(seconds(work))} | {value:.7g} | {errors} |"


def products() -> Iterator[str]:
    for count in range(1, len(TABLES) + 1):
        tables = TABLES[:count]
        yield f"\n### {count} of the counts {TABLES} (n, p), independent tables; δ at ε = {EPSILON}\n"
        yield "| | time | δ | its error |\n|---|---|---|---|"
        truth = product_delta(tables, EPSILON)
        if count == 1:
            curve = sp.privacy_curve(sp.PropertyQuery(tables[0][1]), sp.Population(tables[0][0]), pair=(1, 0))
            yield row("statpriv", lambda: curve.delta(EPSILON), truth)
        yield row("numpy, all answers", lambda: product_delta(tables, EPSILON), truth)
        for interval in (1e-4, EPSILON / 1000):
            yield row(f"dp_accounting, h = {interval:g}", lambda: discretised(tables, EPSILON, interval), truth)
            for pessimistic, side in ((True, "above"), (False, "below")):
                yield row(
                    f"dp_accounting with statpriv's distributions from {side}, h = {interval:g}",
                    lambda: exported(tables, EPSILON, interval, pessimistic=pessimistic),
                    truth,
                )
        yield row("prv_accountant, ε to 1/1000", lambda: prv(tables, EPSILON), truth)


def partitions() -> Iterator[str]:
    yield f"\n### A secret partition into unrelated counts {PARTS} (n, p); δ at ε = {EPSILON}\n"
    yield "| | time | δ | its error |\n|---|---|---|---|"
    truth = partition_delta(PARTS, EPSILON)
    yield row("statpriv", lambda: partition_certified(PARTS, EPSILON), truth)
    yield row("numpy, all joint answers", lambda: partition_delta(PARTS, EPSILON), truth)
    yield row(
        "dp_accounting, all joint answers, h = 0.0001", lambda: partition_discretised(PARTS, EPSILON, 1e-4), truth
    )


def main() -> None:
    print(machine())
    for line in itertools.chain(products(), partitions()):
        print(line, flush=True)


if __name__ == "__main__":
    main()
