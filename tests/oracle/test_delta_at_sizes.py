"""δ at many sizes of the population, against the definition in exact fractions and against balls."""

import math
import os
import random
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import statpriv as sp

from . import oracle

SEED = int(os.environ.get("STATPRIV_SEED", random.SystemRandom().randrange(2**32)))
PAIRS = (None, (1, 0), (0, 1))


@pytest.fixture(name="rng")
def random_numbers(request):
    """``STATPRIV_SEED=…`` repeats a run. A failure shows its inputs, which also repeat it."""
    return random.Random(f"{SEED} {request.node.name}")  # noqa: S311  (no secrets here)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(3, 10), Fraction(99, 100)])
def test_small_sizes_are_those_of_the_definition(p, pair):
    def definition(unknown, x):
        return oracle.delta(unknown, p, x, pair)

    for known in (0, 7):
        sizes = range(known + 1, 180)
        deltas = sp.delta_at_sizes(sp.PropertyQuery(p), sizes, "0.1", adversary=sp.Adversary(known=known), pair=pair)
        for n, delta in zip(sizes, deltas, strict=True):
            truth = oracle.at_epsilon(partial(definition, n - known), Fraction(1, 10))
            assert delta.lower <= truth.upper, (n, known)
            assert truth.lower <= delta.upper, (n, known)
            assert delta.width <= 1e-12 * delta.upper, (n, known)


@pytest.mark.parametrize("pair", PAIRS)
def test_large_sizes_hold_the_truth_narrowly(rng, pair):
    for _ in range(12):
        last = round(10 ** rng.uniform(2.5, 8))
        p = rng.choice([Fraction(1, 2), Fraction(rng.randint(1, 999), 1000), Fraction(rng.random())])
        deviations = 10 ** rng.uniform(-2, 1.2)
        epsilon = Fraction(min(deviations / math.sqrt(last * p * (1 - p)), 3.0))
        sizes = np.arange(last - 200, last + 1)
        deltas = sp.delta_at_sizes(sp.PropertyQuery(p), sizes, epsilon, pair=pair)
        assert np.all(deltas.width <= 1.2e-13 * deltas.upper)
        for place in (0, 200, *(rng.randint(1, 199) for _ in range(6))):
            truth = oracle.delta_ball(int(sizes[place]), p, epsilon, pair)
            delta = deltas[place]
            assert Fraction(delta.lower) <= truth.upper, (sizes[place], p, epsilon)
            assert truth.lower <= Fraction(delta.upper), (sizes[place], p, epsilon)
