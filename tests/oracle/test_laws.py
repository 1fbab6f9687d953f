"""Single probabilities and tails at every size: stored vectors, balls of 500 bits, exact sums.

The log pmf comes from log-gamma functions in ball arithmetic. The tail comes from exact integers, or from the
incomplete beta function in ball arithmetic.
"""

import json
import os
import random
from fractions import Fraction
from itertools import accumulate
from math import comb, inf, nextafter, sqrt
from pathlib import Path

import pytest
from flint import arb, ctx, fmpq

import statpriv as sp

from ..cases import cases

VECTORS = Path(__file__).parents[1] / "vectors"
SEED = int(os.environ.get("STATPRIV_SEED", random.SystemRandom().randrange(2**32)))
LARGEST = 2**53
ULPS = 8
BITS = 500


def stored(name: str) -> list[dict]:
    return json.loads((VECTORS / f"{name}.json").read_text())


def exact_input(text: str) -> float | str:
    return float.fromhex(text) if "0x" in text else text


def described(row: dict) -> str:
    return " ".join(f"{key}={value}" for key, value in row.items() if isinstance(value, str | int))


def ulps(enclosure: sp.Enclosure) -> float:
    end = max(abs(enclosure.lower), abs(enclosure.upper))
    return (enclosure.upper - enclosure.lower) / (nextafter(end, inf) - end)


def holds(enclosure: sp.Enclosure, bounds: tuple[Fraction, Fraction]) -> bool:
    return Fraction(enclosure.lower) <= bounds[1] and bounds[0] <= Fraction(enclosure.upper)


def fraction(x: arb) -> tuple[Fraction, Fraction]:
    """The two ends of a ball."""

    def end(which: arb) -> Fraction:
        mantissa, exponent = which.man_exp()
        return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)

    return end(x.lower()), end(x.upper())


def log_choose(n: int, k: int) -> arb:
    return arb(n + 1).lgamma() - arb(k + 1).lgamma() - arb(n - k + 1).lgamma()


def log_binomial(k: int, n: int, p: Fraction) -> arb:
    x, y = (arb(fmpq(value.numerator, value.denominator)) for value in (p, 1 - p))
    return log_choose(n, k) + k * x.log() + (n - k) * y.log()


@pytest.fixture(autouse=True)
def precision():
    before, ctx.prec = ctx.prec, BITS
    yield
    ctx.prec = before


@pytest.fixture(name="rng")
def random_numbers(request):
    """``STATPRIV_SEED=…`` repeats a run. A failure shows its inputs, which also repeat it."""
    return random.Random(f"{SEED} {request.node.name}")  # noqa: S311  (no secrets here)


@pytest.mark.parametrize("row", stored("ln_pmf_binomial"), ids=described)
def test_stored_binomial_log_pmfs(row):
    log = sp.laws.binomial_log_pmf(row["k"], n=row["n"], p=exact_input(row["p"]))
    assert holds(log, tuple(map(Fraction, row["ln_pmf"])))
    assert log.width == 0 or ulps(log) <= ULPS


@pytest.mark.parametrize("row", stored("ln_pmf_hypergeometric"), ids=described)
def test_stored_hypergeometric_log_pmfs(row):
    log = sp.laws.hypergeometric_log_pmf(row["k"], population=row["N"], marked=row["K"], draws=row["s"])
    assert holds(log, tuple(map(Fraction, row["ln_pmf"])))
    assert log.width == 0 or ulps(log) <= ULPS


@pytest.mark.parametrize("row", stored("binomial_upper_tail"), ids=described)
def test_stored_binomial_upper_tails(row):
    tail = sp.laws.binomial_upper_tail(row["k"], n=row["n"], p=exact_input(row["p"]))
    assert holds(tail, tuple(map(Fraction, row["upper_tail"])))
    assert tail.width <= 1e-12 * tail.upper


def size(rng: random.Random) -> int:
    return max(1, round(2 ** rng.uniform(0, 53)))


def probability(rng: random.Random) -> Fraction:
    tiny = Fraction(10 ** rng.uniform(-300, -1))
    return rng.choice([tiny, 1 - tiny, Fraction(rng.random()), Fraction(1, 2), Fraction(rng.randint(1, 996), 997)])


def near(rng: random.Random, mean: float, sigma: float, least: int, greatest: int) -> int:
    anywhere = rng.randint(least, greatest)
    ends = rng.choice([least, least + 1, greatest, greatest - 1])
    k = rng.choice([anywhere, ends, *[round(mean + rng.uniform(-38, 38) * sigma)] * 3])
    return min(max(k, least), greatest)


def test_binomial_probabilities_of_every_size(rng):
    for _ in range(3000):
        n, p = size(rng), probability(rng)
        k = near(rng, float(n * p), sqrt(n * p * (1 - p)), 0, n)
        truth = log_binomial(k, n, p)
        log, pmf = sp.laws.binomial_log_pmf(k, n=n, p=p), sp.laws.binomial_pmf(k, n=n, p=p)
        assert holds(log, fraction(truth)), (k, n, p)
        assert ulps(log) <= ULPS, (k, n, p, log)
        assert holds(pmf, fraction(truth.exp())) if truth > -(10**6) else pmf.lower == 0, (k, n, p)
        assert ulps(pmf) <= ULPS, (k, n, p, pmf)


def test_hypergeometric_probabilities_of_every_size(rng):
    for _ in range(3000):
        population = size(rng) + 1
        marked, draws = (min(population, rng.choice([size(rng), rng.randint(0, population)])) for _ in range(2))
        least, greatest = max(0, marked + draws - population), min(marked, draws)
        share = Fraction(marked, population)
        variance = draws * share * (1 - share) * Fraction(population - draws, population - 1)
        k = near(rng, float(draws * share), sqrt(variance), least, greatest)
        if least == greatest:
            k = least
        law = {"population": population, "marked": marked, "draws": draws}
        truth = log_choose(marked, k) + log_choose(population - marked, draws - k) - log_choose(population, draws)
        log, pmf = sp.laws.hypergeometric_log_pmf(k, **law), sp.laws.hypergeometric_pmf(k, **law)
        assert holds(log, fraction(truth)), (k, law)
        assert ulps(log) <= ULPS, (k, law, log)
        assert holds(pmf, fraction(truth.exp())) if truth > -(10**6) else pmf.lower == 0, (k, law)
        assert ulps(pmf) <= ULPS, (k, law, pmf)


def test_tails_are_the_exact_sums(rng):
    for _ in range(30):
        n, p = rng.randint(1, 300), Fraction(rng.randint(1, 99), 100)
        terms = [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
        for k, truth in zip(range(n, -1, -1), accumulate(reversed(terms)), strict=True):
            tail = sp.laws.binomial_upper_tail(k, n=n, p=p)
            assert truth in tail, (k, n, p)
            assert tail.width <= 1e-12 * tail.upper or tail.upper < 1e-300, (k, n, p, tail)
        for k, truth in enumerate(accumulate(terms)):
            tail = sp.laws.binomial_lower_tail(k, n=n, p=p)
            assert truth in tail, (k, n, p)
            assert tail.width <= 1e-12 * tail.upper or tail.upper < 1e-300, (k, n, p, tail)
        population, marked, draws = n, rng.randint(0, n), rng.randint(0, n)
        total = comb(population, draws)
        terms = [Fraction(comb(marked, k) * comb(population - marked, draws - k), total) for k in range(draws + 1)]
        for k, truth in zip(range(draws, -1, -1), accumulate(reversed(terms)), strict=True):
            tail = sp.laws.hypergeometric_upper_tail(k, population=population, marked=marked, draws=draws)
            assert truth in tail, (k, population, marked, draws)
            assert tail.width <= 1e-12 * tail.upper or tail.upper < 1e-300
        for k, truth in enumerate(accumulate(terms)):
            tail = sp.laws.hypergeometric_lower_tail(k, population=population, marked=marked, draws=draws)
            assert truth in tail, (k, population, marked, draws)
            assert tail.width <= 1e-12 * tail.upper or tail.upper < 1e-300


def test_rows_hold_the_probabilities_of_every_value(rng):
    for _ in range(20):
        n, p = round(10 ** rng.uniform(0, 5)), probability(rng)
        row = sp.laws.binomial_pmf_row(n=n, p=p)
        sigma = sqrt(n * p * (1 - p))
        for k in {0, n, *(near(rng, float(n * p), sigma, 0, n) for _ in range(30))}:
            assert holds(row[k], fraction(log_binomial(k, n, p).exp())), (k, n, p, row[k])
            assert row[k].width <= 1e-13 * row[k].upper or row[k].upper < 1e-300, (k, n, p, row[k])


def test_a_double_is_the_rational_it_stores(rng):
    for _ in range(300):
        n, p = size(rng), rng.choice([rng.random(), 10 ** rng.uniform(-320, -1), 1 - 2.0 ** -rng.randint(1, 53)])
        k = near(rng, n * p, sqrt(n * p * (1 - p)), 0, n)
        by_fraction = sp.laws.binomial_log_pmf(k, n=n, p=Fraction(p))
        log = sp.laws.binomial_log_pmf(k, n=n, p=p)
        assert holds(log, fraction(log_binomial(k, n, Fraction(p)))), (k, n, p)
        assert log.width <= 1.01 * by_fraction.width or ulps(log) <= ULPS, (k, n, p)


def test_far_tails_at_large_sizes(rng):
    for _ in range(cases(20, campaign=200)):
        n, p = (
            round(10 ** rng.uniform(2, 6)),
            Fraction(rng.choice([rng.uniform(0.01, 0.99), 10 ** rng.uniform(-5, -2)])),
        )
        k = round(n * p + rng.choice([-1, 1]) * rng.uniform(0.6, 25) * sqrt(n * p * (1 - p)))
        if not 1 <= k <= n:
            continue
        truth = arb(fmpq(p.numerator, p.denominator)).beta_lower(k, n - k + 1, regularized=True)
        tail = sp.laws.binomial_upper_tail(k, n=n, p=p)
        assert holds(tail, fraction(truth)), (k, n, p)
        assert tail.width <= 1e-12 * tail.upper or tail.upper < 1e-300, (k, n, p, tail)


def test_outside_the_support_and_for_certain_laws():
    laws = sp.laws
    never, always, log_never = sp.Enclosure(0, 0), sp.Enclosure(1, 1), sp.Enclosure(-inf, -inf)
    marbles = {"population": 10, "marked": 4, "draws": 3}
    for k in (-1, -LARGEST, 4.0, LARGEST):
        assert laws.binomial_pmf(k, n=3, p="1/3") == laws.hypergeometric_pmf(k, **marbles) == never
        assert laws.binomial_log_pmf(k, n=3, p="1/3") == laws.hypergeometric_log_pmf(k, **marbles) == log_never
        tail = always if k < 0 else never
        assert laws.binomial_upper_tail(k, n=3, p="1/3") == laws.hypergeometric_upper_tail(k, **marbles) == tail
    for p, sure in ((0, 0), (1, 3)):
        assert laws.binomial_pmf(sure, n=3, p=p) == laws.binomial_upper_tail(sure, n=3, p=p) == always
        assert laws.binomial_log_pmf(sure, n=3, p=p) == never
        assert laws.binomial_pmf(2, n=3, p=p) == laws.binomial_upper_tail(sure + 1, n=3, p=p) == never
        assert laws.binomial_log_pmf(2, n=3, p=p) == log_never
    for wrong in (1.5, LARGEST + 1, float("nan"), "x"):
        with pytest.raises(ValueError, match="k"):
            laws.binomial_log_pmf(wrong, n=3, p=0.5)
