"""The hockey stick of two finite laws against its definition, in exact rationals and with bounds of e^ε."""

import os
import random
from collections.abc import Callable
from fractions import Fraction
from math import exp, nextafter

import numpy as np
import pytest

import statpriv as sp

from . import oracle

SEED = int(os.environ.get("STATPRIV_SEED", random.SystemRandom().randrange(2**32)))


def definition(p: list[Fraction], q: list[Fraction], x: Fraction) -> Fraction:
    """``Σ_a max(0, P(a) − x Q(a))`` of the normalised laws."""
    p_sum, q_sum = sum(p), sum(q)
    return sum((max(Fraction(0), a / p_sum - x * b / q_sum) for a, b in zip(p, q, strict=True)), Fraction(0))


def truth(p: list[Fraction], q: list[Fraction], epsilon: Fraction) -> oracle.Bounds:
    """Bounds of the hockey stick at a rational ε of either sign. It falls with ``e^ε``."""
    x = oracle.exp_bounds(abs(epsilon), bits=8192)
    if epsilon < 0:
        x = oracle.Bounds(1 / x.upper, 1 / x.lower)
    return oracle.Bounds(definition(p, q, x.upper), definition(p, q, x.lower))


def floats(rng: random.Random, answers: int) -> list[float]:
    weights = [rng.choice([0.0, rng.random(), 10 ** rng.uniform(-250, 0)]) for _ in range(answers)]
    weights[rng.randrange(answers)] += rng.random() + 1e-3
    return [weight / sum(weights) for weight in weights]


def fractions(rng: random.Random, answers: int) -> list[Fraction]:
    weights = [rng.randint(0, 9) * rng.randint(0, 10 ** rng.randint(0, 60)) for _ in range(answers)]
    weights[rng.randrange(answers)] += 1
    return [Fraction(weight, sum(weights)) for weight in weights]


def at_a_ratio(rng: random.Random, p: list[float], q: list[float]) -> float:
    """An ε next to the logarithm of the likelihood ratio of one answer."""
    ratios = [Fraction(a) / Fraction(b) for a, b in zip(p, q, strict=True) if a and b]
    epsilon = oracle.log_bounds(rng.choice(ratios)).lower if ratios else Fraction(0)
    return nextafter(float(epsilon), rng.choice([-1e3, float(epsilon), 1e3]))


EPSILONS: dict[str, Callable[..., float]] = {
    "zero": lambda rng, p, q: 0.0,
    "vanishing": lambda rng, p, q: rng.choice([-1, 1]) * 10 ** rng.uniform(-300, -10),
    "usual": lambda rng, p, q: rng.uniform(-3, 3),
    "large": lambda rng, p, q: rng.uniform(-800, 800),
    "at a tie": at_a_ratio,
}


def check(value: sp.Enclosure, expected: oracle.Bounds) -> None:
    note = f"{value!r} (STATPRIV_SEED={SEED})"
    assert not expected.refutes(value.lower, value.upper), note
    assert nextafter(nextafter(value.lower, 2), 2) >= value.upper, note


@pytest.mark.parametrize("law", [floats, fractions])
@pytest.mark.parametrize("kind", EPSILONS)
def test_two_laws_against_the_definition(kind, law):
    rng = random.Random(f"{SEED} {kind} {law.__name__}")  # noqa: S311  (no secrets here)
    for _ in range(40):
        answers = rng.randint(1, 12)
        p, q = law(rng, answers), law(rng, answers)
        if rng.random() < 0.2:
            q = p[::-1]
        epsilon = EPSILONS[kind](rng, p, q)
        expected = truth([Fraction(x) for x in p], [Fraction(x) for x in q], Fraction(epsilon))
        check(sp.hockey_stick(p, q, epsilon), expected)


def test_a_rational_factor_gives_the_definition_itself():
    rng = random.Random(SEED)  # noqa: S311
    for _ in range(200):
        answers = rng.randint(1, 12)
        p, q, x = fractions(rng, answers), fractions(rng, answers), Fraction(rng.randint(1, 99), rng.randint(1, 99))
        assert sp.hockey_stick(p, q, exp_epsilon=x) == definition(p, q, x), f"STATPRIV_SEED={SEED}"


def test_many_answers_in_an_array():
    rng = np.random.default_rng(SEED)
    p, q = rng.dirichlet(np.ones(3000), 2)
    expected = truth([Fraction(x) for x in p], [Fraction(x) for x in q], Fraction(1, 4))
    check(sp.hockey_stick(p, q, 0.25), expected)


def test_the_count_of_a_property_is_one_such_pair():
    n, p, x = 40, Fraction(1, 3), Fraction(6, 5)
    law = oracle.binomial(n - 1, p)
    others = [Fraction(weight, law.denominator) for weight in law.weights]
    one, zero = [Fraction(0), *others], [*others, Fraction(0)]
    assert sp.hockey_stick(one, zero, exp_epsilon=x) == oracle.delta_1_0(n, p, x)
    assert sp.hockey_stick(zero, one, exp_epsilon=x) == oracle.delta_0_1(n, p, x)


def test_proportional_laws_leave_only_what_rounding_made_of_them():
    """All ratios but one are within an ulp of e^ε, so every other term nearly vanishes."""
    rng = random.Random(SEED)  # noqa: S311
    for _ in range(40):
        q = floats(rng, 6)
        epsilon = rng.uniform(-2, -0.1)
        p = [x * exp(epsilon) for x in q]
        p.append(1 - sum(p))
        q.append(0.0)
        expected = truth([Fraction(x) for x in p], [Fraction(x) for x in q], Fraction(epsilon))
        check(sp.hockey_stick(p, q, epsilon), expected)
        check(
            sp.hockey_stick(q, p, -epsilon),
            truth([Fraction(x) for x in q], [Fraction(x) for x in p], -Fraction(epsilon)),
        )
