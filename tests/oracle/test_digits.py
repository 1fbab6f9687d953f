"""Digits on demand: the enclosure contains the true value, and its width is as requested.

The true value comes from exact rationals at rational bounds of ``e^epsilon`` (150 digits), from stored vectors, and
from python-flint's balls. The doubles are an independent check: they share no computation with the digits.
"""

import os
import random
import re
from collections.abc import Callable
from fractions import Fraction
from math import sqrt
from pathlib import Path

import pytest

import statpriv as sp

from . import oracle
from .test_vectors import described, exact_input, stored

SEED = int(os.environ.get("STATPRIV_SEED", random.SystemRandom().randrange(2**32)))
PAIRS = (*oracle.DIRECTIONS, None)
DIGITS_SOURCES = Path(__file__).parents[2] / "rust" / "core" / "src"


def fraction(end) -> Fraction:
    """The exact value of an mpf."""
    sign, mantissa, exponent, _ = end._mpf_
    return (-1) ** sign * int(mantissa) * Fraction(2) ** int(exponent)


def fault(truth: oracle.Bounds, found: sp.Enclosure, digits: int) -> str:
    """What is wrong with an enclosure, or an empty text if nothing is."""
    lower, upper = fraction(found.lower), fraction(found.upper)
    if upper < truth.lower or truth.upper < lower:
        return f"misses the truth: {found}"
    if upper - lower > Fraction(1, 10**digits) * min(abs(lower), abs(upper)):
        return f"too wide: {found}"
    return ""


def generator(name: str) -> random.Random:
    return random.Random(f"{SEED} {name}")  # noqa: S311  (no secrets here)


def an_epsilon(rng: random.Random) -> Fraction:
    return Fraction(rng.choice([0, 1e-12, 1e-300, rng.uniform(0, 0.4), rng.uniform(0, 3), 40.0, Fraction(1, 3)]))


CURVES: dict[str, Callable[[random.Random, int, Fraction], tuple[dict, Callable[..., Fraction]]]] = {
    "count": lambda rng, n, p: (
        {"query": sp.PropertyQuery(p)},
        lambda x, pair: oracle.delta(n, p, x, pair),
    ),
    "sampled": lambda rng, n, p: (
        {"query": sp.PropertyQuery(p), "sampling": sp.WithoutReplacement(size := rng.randint(1, n))},
        lambda x, pair: oracle.sampled_delta(n, size, p, x, pair),
    ),
    "range": lambda rng, n, p: (
        {"query": sp.PropertyQuery(sp.Between(low := p * Fraction(rng.randint(0, 9), 10), p))},
        lambda x, pair: oracle.range_supremum(n, low, p, x, pair),
    ),
    "known": lambda rng, n, p: (
        {
            "query": sp.PropertyQuery(p),
            "sampling": sp.WithoutReplacement(size := rng.randint(1, n)),
            "adversary": sp.Adversary(known=(known := rng.randint(0, n - 1))),
            "bound": "spc",
        },
        lambda x, pair: oracle.spc(n, known, size, p, x, pair=pair),
    ),
}


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("kind", CURVES)
def test_every_kind_of_curve_against_exact_rationals(kind, pair):
    rng = generator(f"{kind} {pair}")
    for _ in range(12):
        n = rng.choice([1, 2, 3, rng.randint(4, 20), rng.randint(20, 60)])
        p = Fraction(rng.randint(1, 99), 100)
        described_curve, exact = CURVES[kind](rng, n, p)
        query = described_curve.pop("query")
        curve = sp.privacy_curve(query, sp.Population(n), pair=pair, **described_curve)
        epsilon, digits = an_epsilon(rng), rng.choice([1, 10, 50, 100])
        truth = oracle.at_epsilon(lambda x, exact=exact: exact(x, pair), epsilon)
        found = curve.delta(epsilon, digits=digits)
        assert not (wrong := fault(truth, found, digits)), (wrong, SEED, n, p, epsilon, described_curve)


@pytest.mark.parametrize("row", stored("hockey_stick_binomial"), ids=described)
def test_hockey_sticks(row):
    for v, w in oracle.DIRECTIONS:
        truth = oracle.Bounds(*(Fraction(end) for end in row[f"delta_{v}_{w}"]))
        curve = sp.privacy_curve(sp.PropertyQuery(exact_input(row["p"])), sp.Population(row["n"]), pair=(v, w))
        assert not fault(truth, curve.delta(exact_input(row["epsilon"]), digits=50), 50)


@pytest.mark.parametrize("row", stored("binomial_upper_tail"), ids=described)
def test_binomial_tails(row):
    truth = oracle.Bounds(*(Fraction(end) for end in row["upper_tail"]))
    found = sp.laws.binomial_upper_tail(row["k"], n=row["n"], p=exact_input(row["p"]), digits=50)
    assert not fault(truth, found, 50)


@pytest.mark.parametrize("row", stored("ln_pmf_binomial"), ids=described)
def test_logarithms_of_binomial_probabilities(row):
    truth = oracle.Bounds(*(Fraction(end) for end in row["ln_pmf"]))
    found = sp.laws.binomial_log_pmf(row["k"], n=row["n"], p=exact_input(row["p"]), digits=50)
    assert not fault(truth, found, 50)


@pytest.mark.parametrize("row", stored("ln_pmf_hypergeometric"), ids=described)
def test_logarithms_of_hypergeometric_probabilities(row):
    truth = oracle.Bounds(*(Fraction(end) for end in row["ln_pmf"]))
    sizes = {"population": row["N"], "marked": row["K"], "draws": row["s"]}
    assert not fault(truth, sp.laws.hypergeometric_log_pmf(row["k"], **sizes, digits=50), 50)


def test_small_laws_against_exact_integers():
    rng = generator("laws")
    for _ in range(60):
        n, p, digits = rng.randint(1, 80), Fraction(rng.randint(1, 99), 100), rng.choice([1, 20, 200])
        k = rng.randint(0, n)
        law = oracle.binomial(n, p)
        pmf = Fraction(law.weights[k], law.denominator)
        found = sp.laws.binomial_pmf(k, n=n, p=p, digits=digits)
        assert not fault(oracle.Bounds(pmf, pmf), found, digits)
        tail = oracle.binomial_upper_tail(k, n, p)
        assert not fault(oracle.Bounds(tail, tail), sp.laws.binomial_upper_tail(k, n=n, p=p, digits=digits), digits)
        marked, draws = rng.randint(0, n), rng.randint(0, n)
        tail = oracle.hypergeometric_upper_tail(k, n, marked, draws)
        found = sp.laws.hypergeometric_upper_tail(k, population=n, marked=marked, draws=draws, digits=digits)
        assert not fault(oracle.Bounds(tail, tail), found, digits), (n, marked, draws, k, found)


def test_a_poisson_binomial_law_against_exact_rationals():
    p = [Fraction(1, 3), Fraction(0), Fraction(1), Fraction(0.1), Fraction(1, 10**30), Fraction(2, 7)]
    law = [Fraction(1)]
    for hit in p:
        law = [a * (1 - hit) + b * hit for a, b in zip([*law, 0], [0, *law], strict=True)]
    found = sp.laws.poisson_binomial_pmf(p, digits=60)
    assert [fault(oracle.Bounds(x, x), e, 60) for x, e in zip(law, found, strict=True)] == [""] * 7


@pytest.mark.parametrize("n", [10**3, 10**6, 10**9, 10**12, 10**15])
def test_doubles_and_digits_overlap(n):
    """The two tiers share no computation."""
    rng = generator(f"overlap {n}")
    for _ in range(20):
        p = rng.choice([Fraction(1, 2), Fraction(rng.randint(1, 99), 100), Fraction(rng.uniform(1e-6, 1e-2))])
        epsilon = rng.choice([0.0, rng.uniform(0, 8), 1e-3]) / sqrt(n * p * (1 - p))
        curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), pair=rng.choice(PAIRS))
        digits = curve.delta(epsilon, digits=30)
        try:
            doubles = curve.delta(epsilon)
        except sp.PrecisionError:
            continue
        truth = oracle.Bounds(Fraction(doubles.lower), Fraction(doubles.upper))
        assert not fault(truth, digits, 30), (SEED, n, p, epsilon, doubles)


def test_more_digits_agree_with_fewer():
    curve = sp.privacy_curve(sp.PropertyQuery(0.3), sp.Population(10**7))
    few, many = curve.delta("0.001", digits=30), curve.delta("0.001", digits=400)
    assert many in few
    assert not fault(oracle.Bounds(fraction(few.lower), fraction(few.upper)), many, 400)


@pytest.mark.parametrize("n", [2, 30, 1000, 10**6, 10**12])
def test_epsilon_is_where_delta_crosses(n):
    rng = generator(f"inverse {n}")
    for _ in range(6):
        p = rng.choice([Fraction(1, 2), Fraction(rng.randint(1, 99), 100)])
        curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), pair=rng.choice(PAIRS))
        start = fraction(curve.delta(0, digits=20).upper)
        end = max(p, 1 - p) ** (n - 1) if n <= 1000 else 0  # for larger n, far too small to be expanded
        delta = end + (start - end) * Fraction(rng.choice([0.5, 1e-3, 1e-9, 0.999999]))
        if delta <= end * Fraction(1001, 1000):
            continue
        found = curve.epsilon(delta, digits=40)
        lower, upper = fraction(found.lower), fraction(found.upper)
        assert 0 < upper - lower <= Fraction(1, 10**40) * lower, (SEED, n, p, delta, found)
        assert curve.delta(lower, digits=60) > delta >= curve.delta(upper, digits=60), (SEED, n, p, delta)


def test_the_least_epsilon_is_zero_or_infinite_where_it_must_be():
    curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(10))
    inf = float("inf")
    for delta, epsilon in [(1, 0), (Fraction(126, 512), 0), (Fraction(1, 513), inf), (0, inf)]:
        found = curve.epsilon(delta, digits=30)
        assert (found.lower, found.upper) == (epsilon, epsilon), delta
    least_finite = curve.epsilon(Fraction(1, 512), digits=30)
    nine = oracle.log_bounds(Fraction(9))
    assert not fault(nine, least_finite, 30), "beyond ln 9 only the answers 0 and 10 tell anything"


def test_the_logarithm_of_what_no_double_holds():
    curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(10**6))
    found = curve.log_delta(30, digits=40)
    assert not fault(scaled_log(999_999), found, 40)


def scaled_log(power: int) -> oracle.Bounds:
    """``ln 2^-power``."""
    half = oracle.log_bounds(Fraction(2))
    return oracle.Bounds(-half.upper * power, -half.lower * power)


def test_the_digits_import_no_computation_of_the_other_tiers():
    """An error in shared code would affect both tiers. So they share only descriptions, rationals and errors."""
    allowed = {"budget", "curve", "digits", "error", "interrupt", "laws::Hypergeometric", "numbers::rational"}
    allowed |= {"forms::finite::ExpEpsilon", "forms::finite::Finite"}  # laws and ε as rationals
    allowed |= {
        f"forms::{name}"
        for name in ("Answers", "BinomialPeaks", "BinomialRange", "Digits", "Directed", "Direction", "ShiftedBinomial")
    }
    of_tests: set[str] = set()
    files: list[Path] = []
    for root in (DIGITS_SOURCES / "digits.rs", DIGITS_SOURCES / "curve" / "digits.rs"):
        of_tests |= {
            *re.findall(r"#\[cfg\(test\)\]\n(?:pub(?:\(crate\))? )?mod (\w+);", root.read_text(encoding="utf-8"))
        }
        files += [root, *(file for file in root.with_suffix("").rglob("*.rs") if file.stem not in of_tests)]
    assert len(files) > 13
    for file in files:
        own, _, _ = file.read_text(encoding="utf-8").partition("#[cfg(test)]\nmod tests {")  # tests may use other code
        for names in re.findall(r"crate::([\w:]+(?:\{[^}]*\})?)", own):
            module, brace, inner = names.partition("{")
            parts = [module + name.strip() for name in inner.rstrip("}").split(",")] if brace else [module]
            for part in filter(None, parts):
                assert any(f"{part}::".startswith(f"{name}::") for name in allowed), (file.name, part)
