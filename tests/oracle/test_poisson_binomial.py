"""The Poisson-binomial law against the product of the polynomials ``q_i + p_i z``, in exact integers."""

import os
import random
from fractions import Fraction
from math import inf, nextafter, prod

import numpy as np
import pytest
from flint import fmpz_poly

import statpriv as sp

from . import oracle

SEED = int(os.environ.get("STATPRIV_SEED", random.SystemRandom().randrange(2**32)))
SMALLEST = Fraction(1, 10**300)


def product(probabilities: list[Fraction]) -> list[Fraction]:
    """All coefficients of the product, over one common denominator."""
    factors = [fmpz_poly([p.denominator - p.numerator, p.numerator]) for p in probabilities]
    while len(factors) > 1:
        pairs = zip(factors[::2], [*factors[1::2], fmpz_poly([1])][: len(factors[::2])], strict=False)
        factors = [a * b for a, b in pairs]
    denominator = prod(p.denominator for p in probabilities)
    numerators = [int(factors[0][k]) for k in range(len(probabilities) + 1)] if factors else [1]
    return [Fraction(numerator, denominator) for numerator in numerators]


KINDS = {
    "doubles": lambda rng: rng.random(),
    "tiny": lambda rng: 10 ** rng.uniform(-300, -1),
    "near one": lambda rng: 1 - 10 ** rng.uniform(-16, -1),
    "certain": lambda rng: float(rng.randint(0, 1)),
    "rational": lambda rng: Fraction(rng.randint(0, 97), 97),
    "decimal": lambda rng: f"0.{rng.randint(0, 10**30):031}",
}


@pytest.mark.parametrize("kind", [*KINDS, "mixed"])
@pytest.mark.parametrize("entries", [0, 1, 2, 7, 60])
def test_the_whole_law(kind, entries):
    rng = random.Random(f"{SEED} {kind} {entries}")  # noqa: S311  (no secrets here)
    for _ in range(5):
        p = [KINDS[rng.choice(list(KINDS)) if kind == "mixed" else kind](rng) for _ in range(entries)]
        law = sp.laws.poisson_binomial_pmf(p)
        truth = product([Fraction(x) for x in p])
        for lower, upper, mass in zip(law.lower, law.upper, truth, strict=True):
            assert Fraction(lower) <= mass <= Fraction(upper), f"STATPRIV_SEED={SEED}"
            assert upper <= nextafter(nextafter(lower, inf), inf) + 4 * 5e-324, f"STATPRIV_SEED={SEED}"
            assert mass or upper == 0 or kind == "mixed"


@pytest.mark.parametrize("entries", [2049, *(pytest.param(n, marks=pytest.mark.campaign) for n in (2048, 3000))])
def test_many_entries(entries):
    rng = np.random.default_rng(SEED)
    p = rng.integers(0, 1 << 16, entries) / (1 << 16)
    law = sp.laws.poisson_binomial_pmf(p)
    truth = product([Fraction(x) for x in p])
    for lower, upper, mass in zip(law.lower, law.upper, truth, strict=True):
        assert Fraction(lower) <= mass <= Fraction(upper)
        if mass >= SMALLEST:
            assert Fraction(upper) - Fraction(lower) <= oracle.RELATIVE_WIDTH / 10 * mass
        else:
            assert upper <= 1e-299


def test_equal_probabilities_are_the_binomial_law():
    n, p = 300, Fraction(1, 3)
    law = sp.laws.poisson_binomial_pmf([p] * n)
    exact = oracle.binomial(n, p)
    assert all(
        Fraction(lower) <= Fraction(weight, exact.denominator) <= Fraction(upper)
        for lower, upper, weight in zip(law.lower, law.upper, exact.weights, strict=True)
    )


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([0.5, -0.5], r"p\[1\] = -0.5; a probability from 0 to 1 is required"),
        ([0.5, float("nan")], r"p\[1\] = NaN; a probability"),
        (["1/2", "3/2"], r"p\[1\] = 3/2; a probability"),
        (["1/2", None], r"p\[1\] = None is not a number"),
        (0.5, r"p is a float; a sequence of probabilities is required$"),
        ({0: 0.5}, r"p is a dict; a sequence of probabilities is required$"),
        (np.zeros((2, 2)), r"p is an array of 2 dimensions; a sequence"),
    ],
)
def test_what_is_no_sequence_of_probabilities_is_refused(p, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.laws.poisson_binomial_pmf(p)
