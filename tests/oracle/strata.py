"""The distributions of the campaign's inputs: sizes, probabilities, and the regions of a law or a curve.

Inputs are drawn as a user would write them (doubles, integers, and fractions and decimals as text). So the worst ones
can be stored as JSON and read back exactly. Guesses here are in doubles: an inaccurate guess changes which input is
drawn, but not whether it is judged correctly.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, log, log1p, sqrt

from flint import arb, ctx

from . import tails

Number = float | str
LARGEST_EPSILON = 700.0


def between(low: float, high: float) -> Callable[[random.Random], int]:
    """An integer, uniform in its logarithm."""
    return lambda rng: min(max(round(10 ** rng.uniform(log(low, 10), log(high, 10))), round(low)), round(high))


SIZES: dict[str, Callable[[random.Random], int]] = {
    "1": lambda rng: 1,
    "2 to 12": lambda rng: rng.randint(2, 12),
    "13 to 1e3": between(13, 1e3),
    "1e3 to 1e5": between(1e3, 1e5),
    "1e5 to 1e7": between(1e5, 1e7),
    "1e7 to 1e10": between(1e7, 1e10),
    "1e10 to 1e13": between(1e10, 1e13),
    "1e13 and more": lambda rng: 2**53 if rng.random() < 0.1 else between(1e13, 2**53)(rng),
}

PROBABILITIES: dict[str, Callable[[random.Random], Number]] = {
    "tiny": lambda rng: 10 ** rng.uniform(-300, -2),
    "near one, a double": lambda rng: 1 - 2.0 ** -rng.randint(3, 53),
    "near one, a decimal": lambda rng: f"0.{'9' * rng.randint(2, 300)}{rng.randint(0, 9)}",
    "dyadic": lambda rng: f"{rng.randint(1, 255)}/256",
    "double": lambda rng: rng.uniform(1e-3, 1 - 1e-3),
    "fraction": lambda rng: f"{rng.randint(1, 996)}/997",
    "decimal": lambda rng: f"0.{rng.randint(1, 999):03d}",
}


def probability(rng: random.Random) -> Number:
    """A probability of any kind."""
    return PROBABILITIES[rng.choice(list(PROBABILITIES))](rng)


# --- where on a curve: epsilon


def deviation(n: int, p: Number) -> float:
    """σ of the count. The product is exact, because p near 1 may round to 1 as a double."""
    return sqrt(n * Fraction(p) * (1 - Fraction(p)))


def exponent(n: int, p: Number, epsilon: float) -> float:
    """Approximately −ln Δ_{1,0}: n KL(p'‖p), where p' is p tilted by e^epsilon."""
    hit, miss = float(Fraction(p)), float(1 - Fraction(p))
    log_mean = log1p(hit * expm1(epsilon)) if epsilon < 30 else epsilon + log(hit + miss * exp(-epsilon))
    return n * (hit * exp(epsilon - log_mean) * epsilon - log_mean)


def epsilon_at(n: int, p: Number, wanted: float) -> float:
    """An epsilon at which δ is about e^−wanted, or the largest epsilon."""
    low, high = 0.0, LARGEST_EPSILON
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if exponent(n, p, middle) < wanted else (low, middle)
    return low


def near_tie(rng: random.Random, n: int, p: Number) -> float:
    """An epsilon at which two answers are equally good thresholds, up to rounding."""
    exact = Fraction(p)
    answer = min(int(n * exact) + rng.randint(1, int(4 * deviation(n, p)) + 1), n - 1)
    odds = answer * (1 - exact) / ((n - answer) * exact)
    return min(log(odds), LARGEST_EPSILON) if odds > 1 else 0.0


def in_deviations(rng: random.Random, n: int, p: Number, least: float, most: float) -> float:
    """An epsilon between least/σ and most/σ."""
    return min(rng.uniform(least, most) / max(deviation(n, p), 1), LARGEST_EPSILON)


EPSILONS: dict[str, Callable[[random.Random, int, Number], Number]] = {
    "ε = 0": lambda rng, n, p: 0.0,
    "ε ≤ 1e-12": lambda rng, n, p: rng.choice([1e-12, 10 ** rng.uniform(-320, -13)]),
    "ε around 1/σ": lambda rng, n, p: in_deviations(rng, n, p, 0.2, 4),
    "ε around 10/σ": lambda rng, n, p: in_deviations(rng, n, p, 8, 30),
    "ε from 1 to 40": lambda rng, n, p: rng.uniform(1, 40),
    "ε from 40 to 700": lambda rng, n, p: rng.uniform(40, LARGEST_EPSILON),
    "ε a fraction": lambda rng, n, p: f"{rng.randint(1, 400)}/211",
    "ε a decimal": lambda rng, n, p: f"{in_deviations(rng, n, p, 0.5, 9):.12e}",
    "ε near a tie": near_tie,
    "log δ about -700": lambda rng, n, p: epsilon_at(n, p, rng.uniform(300, 680)),
    "δ at the edge of underflow": lambda rng, n, p: epsilon_at(n, p, rng.uniform(660, 750)),
    "log δ about -1e4": lambda rng, n, p: epsilon_at(n, p, rng.uniform(2e3, 2e4)),
}


# --- where in a law: k


DEPTHS = {"log about -700": (400, 690), "edge of underflow": (690, 750), "log about -1e4": (2e3, 2e4)}
REGIONS = ("core", *DEPTHS)


@dataclass(frozen=True)
class Law:
    """The data of a law that are needed to find its regions."""

    support: tuple[int, int]
    mean: Fraction
    spread: float
    log_pmf: Callable[[int], arb]


def k_in_region(rng: random.Random, region: str, law: Law) -> int:
    """A value whose probability is in the region, or an end of the support if there is none."""
    least, greatest = law.support
    if region == "core":
        return min(max(round(float(law.mean) + rng.uniform(-3, 3) * law.spread), least), greatest)
    wanted, upwards = -rng.uniform(*DEPTHS[region]), rng.random() < 0.7
    near = min(max(round(law.mean), least), greatest)
    far = greatest if upwards else least
    with ctx.workprec(160):
        while abs(far - near) > 1:
            middle = (near + far) // 2
            near, far = (middle, far) if law.log_pmf(middle) > wanted else (near, middle)
    return far


def binomial(rng: random.Random, size: str, region: str) -> dict[str, Number | int]:
    """Arguments k, n and p."""
    n, p = SIZES[size](rng), probability(rng)
    exact = Fraction(p)
    law = Law((0, n), n * exact, deviation(n, p), lambda k: tails.binomial_log_pmf(k, n, exact))
    return {"k": k_in_region(rng, region, law), "n": n, "p": p}


def hypergeometric(rng: random.Random, size: str, region: str) -> dict[str, Number | int]:
    """Arguments k, population, marked and draws. A population of one becomes one of two, so that it is random."""
    population = max(SIZES[size](rng), 2)
    marked, draws = (part_of(rng, population) for _ in range(2))
    support = max(0, marked + draws - population), min(marked, draws)
    mean, left = Fraction(marked * draws, population), (population - marked) * (population - draws)
    spread = sqrt(mean * left / (population * (population - 1)))
    law = Law(support, mean, spread, lambda k: tails.hypergeometric_log_pmf(k, population, marked, draws))
    return {"k": k_in_region(rng, region, law), "population": population, "marked": marked, "draws": draws}


def part_of(rng: random.Random, population: int) -> int:
    """A number from 1 to population − 1: any, half, few, or all but a few."""
    some = rng.choice(
        [
            rng.randint(1, population - 1),
            population // 2,
            between(1, population - 1)(rng),
            population - between(1, population - 1)(rng),
        ]
    )
    return min(max(some, 1), population - 1)
