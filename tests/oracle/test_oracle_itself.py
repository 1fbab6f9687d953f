"""Is the oracle right? Literal values, stored vectors, a second route, and checks that can fail."""

import ast
import json
import math
import random
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from flint import arb, ctx

from ..theorems import brute_force
from . import oracle, tails

TESTS = Path(__file__).parents[1]
HALF = Fraction(1, 2)


def stored(name: str) -> list[dict]:
    return json.loads((TESTS / "vectors" / f"{name}.json").read_text())


def rational(text: str) -> Fraction:
    """A fraction, or a double in hexadecimal."""
    return Fraction(float.fromhex(text)) if "0x" in text else Fraction(text)


def bounds_of(pair: list[str]) -> oracle.Bounds:
    return oracle.Bounds(*(Fraction(end) for end in pair))


def overlap(first: oracle.Bounds, second: oracle.Bounds) -> bool:
    return first.lower <= second.upper and second.lower <= first.upper


@pytest.mark.parametrize("source", ["oracle/oracle.py", "oracle/tails.py", "theorems/brute_force.py"])
def test_nothing_of_the_library_is_imported(source):
    tree = ast.parse((TESTS / source).read_text())
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                names.add((node.module or "").partition(".")[0])
            else:
                assert (node.level, node.module or node.names[0].name) == (1, "tails"), "which is looked at here, too"
    assert names <= sys.stdlib_module_names | {"flint"}
    assert not names & {"importlib", "statpriv"}


def test_three_fair_entries_by_hand():
    assert oracle.delta_max(3, HALF, Fraction(1)) == HALF
    assert oracle.delta_max(3, HALF, Fraction(2)) == Fraction(1, 4)
    at_half_log_two = oracle.at_epsilon(lambda x: oracle.delta_max(3, HALF, x), Fraction(math.log(2) / 2))
    assert float(at_half_log_two.lower) == pytest.approx(0.75 - math.sqrt(2) / 4, rel=1e-15)


@pytest.mark.parametrize(
    ("n", "epsilon", "digits"),
    [
        (1024, Fraction(1, 200), "0.02257377618990693694135285815974"),
        (1024, Fraction(0.005), "0.022573776189906936894255280455549"),
        (32768, Fraction(1, 200), "0.002357408469201706682856342974706"),
        (32768, Fraction(0.005), "0.002357408469201706648830835352074"),
    ],
)
def test_published_digits(n, epsilon, digits):
    truth = oracle.delta_ball(n, HALF, epsilon)
    printed = Fraction(digits)
    last_place = Fraction(1, 10 ** (len(digits) - 2))
    assert printed - last_place < truth.lower <= truth.upper < printed + last_place
    assert truth.upper - truth.lower < printed / 10**30


def test_the_corrected_example_of_known_entries():
    delta = oracle.spc(8, 3, 4, HALF, Fraction(11, 10))
    assert f"{float(delta):.6f}" == "0.485714"


def test_a_mixed_sign_pattern_can_be_the_worst():
    parts, p = [(6, Fraction(3, 10)), (1, Fraction(3, 10))], oracle.exp_bounds(Fraction(1, 10)).lower
    plain = oracle.partition_delta(7, parts, p, (1, 1), (0, 0))
    mixed = oracle.partition_exact(7, parts, p)
    assert (f"{float(plain):.7f}", f"{float(mixed):.7f}") == ("0.2972438", "0.3105713")


@pytest.mark.parametrize("row", stored("hockey_stick_binomial"))
def test_stored_hockey_sticks(row):
    for pair, key in (((1, 0), "delta_1_0"), ((0, 1), "delta_0_1")):
        truth = oracle.delta_ball(row["n"], rational(row["p"]), rational(row["epsilon"]), pair)
        assert overlap(truth, bounds_of(row[key])), key


@pytest.mark.parametrize("row", stored("spc_known_entries_exact"))
def test_stored_sampling_curves(row):
    x = Fraction(row["exp_epsilon"])
    assert oracle.spc(row["n"], row["known"], row["sample"], Fraction(row["p"]), x) == Fraction(*map(int, row["spc"]))


@pytest.mark.parametrize("row", stored("partition_exact"))
def test_stored_partitions(row):
    parts = [(size, Fraction(p)) for size, p in zip(row["sizes"], row["p"], strict=True)]
    x = Fraction(row["exp_epsilon"])
    assert oracle.partition_exact(row["n"], parts, x) == Fraction(*map(int, row["exact"]))
    assert oracle.partition_sum(row["n"], parts, x) == Fraction(*map(int, row["theorem_5_1"]))


@pytest.mark.parametrize("row", stored("binomial_upper_tail"))
def test_stored_binomial_tails(row):
    k, n, p = row["k"], row["n"], rational(row["p"])
    assert overlap(oracle.binomial_upper_tail_ball(k, n, p), bounds_of(row["upper_tail"]))
    if n <= 1000:
        tail = oracle.binomial_upper_tail(k, n, p)
        assert overlap(oracle.Bounds(tail, tail), bounds_of(row["upper_tail"]))


@pytest.mark.parametrize("row", stored("ln_pmf_binomial"))
def test_stored_binomial_logarithms(row):
    found = oracle.binomial_log_pmf_ball(row["k"], row["n"], rational(row["p"]))
    assert overlap(found, bounds_of(row["ln_pmf"]))


@pytest.mark.parametrize("row", [row for row in stored("ln_pmf_hypergeometric") if row["ln_pmf"] != ["0", "0"]])
def test_stored_hypergeometric_logarithms(row):
    found = oracle.hypergeometric_log_pmf_ball(row["k"], row["N"], row["K"], row["s"])
    assert overlap(found, bounds_of(row["ln_pmf"]))


class TestTheCircleAgainstOtherRoutes:
    """Tails of many terms are sums over a circle. Here they are compared with direct sums and incomplete betas."""

    @pytest.mark.parametrize("deviations", [0, 0.4, 2, 6, 20, 37])
    @pytest.mark.parametrize(("n", "p"), [(10**5, HALF), (10**6, Fraction(1, 97)), (10**6, Fraction(96, 97))])
    def test_binomial_terms(self, n, p, deviations):
        k = math.ceil(n * p + Fraction(deviations * math.sqrt(n * p * (1 - p)))) + 1
        with ctx.workprec(oracle.FIRST_PRECISION):
            circle = tails.binomial_circle_tail(k, n, p)
            terms = tails.binomial_log_pmf(k, n, p).exp() * tails.binomial_tail_ratio(k, n, p)
        assert circle.overlaps(terms)
        assert min(circle.rel_accuracy_bits(), terms.rel_accuracy_bits()) > oracle.RELATIVE_BITS

    @pytest.mark.parametrize("deviations", [0, 1, 9, 37])
    def test_the_incomplete_beta_function(self, deviations):
        """``P[X ≥ k] = I_p(k, n−k+1)``, at 10^12 entries."""
        n = 10**12
        k = n // 2 + 1 + int(deviations * math.sqrt(n) / 2)
        with ctx.workprec(400):
            beta = arb(0.5).beta_lower(k, n - k + 1, regularized=True)
        with ctx.workprec(oracle.FIRST_PRECISION):
            circle = tails.binomial_circle_tail(k, n, HALF)
        assert circle.overlaps(beta)
        assert min(circle.rel_accuracy_bits(), beta.rel_accuracy_bits()) > oracle.RELATIVE_BITS

    @pytest.mark.parametrize("deviations", [0, 0.4, 2, 6, 20, 37])
    @pytest.mark.parametrize(
        ("population", "marked", "draws"),
        [(10**6, 5 * 10**5, 5 * 10**5), (10**7, 10**5, 2 * 10**6), (10**9, 10**6, 9 * 10**8), (10**8, 10**6, 10**6)],
    )
    def test_hypergeometric_terms(self, population, marked, draws, deviations):
        mean, left = Fraction(marked * draws, population), (population - marked) * (population - draws)
        k = math.ceil(mean + Fraction(deviations * math.sqrt(mean * left / population**2))) + 1
        with ctx.workprec(oracle.FIRST_PRECISION):
            circle = tails.hypergeometric_circle_tail(k, population, marked, draws)
            mass = tails.hypergeometric_log_pmf(k, population, marked, draws).exp()
            terms = mass * tails.hypergeometric_tail_ratio(k, population, marked, draws)
        assert circle.overlaps(terms)
        assert min(circle.rel_accuracy_bits(), terms.rel_accuracy_bits()) > oracle.RELATIVE_BITS

    def test_one_step_of_a_tail_is_one_probability(self):
        """At 2^53 there are too many terms for a direct sum, so the check is ``P[X ≥ k] − P[X ≥ k+1] = P[X = k]``."""
        n, p, sizes = 2**53, Fraction(1, 3), (2**53, 2**52 + 1, 2**51 + 3)
        with ctx.workprec(320):
            for k in (n // 3 + 1, n // 3 + 10**9):
                step = tails.binomial_circle_tail(k, n, p) - tails.binomial_circle_tail(k + 1, n, p)
                assert step.overlaps(tails.binomial_log_pmf(k, n, p).exp())
                assert step.rel_accuracy_bits() > 100
            k = sizes[1] * sizes[2] // sizes[0] + 10**6
            step = tails.hypergeometric_circle_tail(k, *sizes) - tails.hypergeometric_circle_tail(k + 1, *sizes)
            assert step.overlaps(tails.hypergeometric_log_pmf(k, *sizes).exp())
            assert step.rel_accuracy_bits() > 100


def test_tails_of_small_laws_are_the_exact_ones():
    rng = random.Random(21)  # noqa: S311  (no secrets here)
    for _ in range(200):
        n, p = rng.randint(1, 60), Fraction(rng.randint(1, 999), 1000)
        k, marked, draws = rng.randint(-1, n + 1), rng.randint(0, n), rng.randint(0, n)
        exact, found = oracle.binomial_upper_tail(k, n, p), oracle.binomial_upper_tail_ball(k, n, p)
        assert found.lower <= exact <= found.upper
        if draws:
            exact = oracle.hypergeometric_upper_tail(k, n, marked, draws)
            found = oracle.hypergeometric_upper_tail_ball(k, n, marked, draws)
            assert found.lower <= exact <= found.upper


def test_hypergeometric_tail_by_hand():
    # Two of four items are marked, and two are drawn. None, one or both are marked in 1, 4 and 1 of 6 ways.
    assert [oracle.hypergeometric_upper_tail(k, 4, 2, 2) for k in range(4)] == [
        1, Fraction(5, 6), Fraction(1, 6), 0,
    ]  # fmt: skip


def test_balls_against_exact_sums():
    rng = random.Random(20)  # noqa: S311  (no secrets here)
    for _ in range(150):
        n = rng.randint(1, 60)
        p = Fraction(rng.randint(1, 999), 1000) if rng.random() < 0.5 else Fraction(rng.random())
        epsilon = Fraction(rng.choice([0, 1e-12, 0.01, 0.3, 1.0, 5.0, 40.0, 700.0]))
        for pair in (*oracle.DIRECTIONS, None):
            exact = oracle.at_epsilon(lambda x, n=n, p=p, pair=pair: oracle.delta(n, p, x, pair), epsilon)
            ball = oracle.delta_ball(n, p, epsilon, pair)
            assert overlap(exact, ball), (n, p, epsilon, pair)
            assert ball.upper - ball.lower < ball.upper / 10**30


@pytest.mark.campaign  # alone it notices an oracle that is wrong beyond small sizes
def test_balls_against_exact_sums_at_a_thousand_entries():
    p, epsilon = Fraction(0.37), Fraction(1, 50)
    exact = oracle.at_epsilon(lambda x: oracle.delta_1_0(1000, p, x), epsilon)
    assert overlap(exact, oracle.delta_1_0_ball(1000, p, epsilon))


@pytest.mark.parametrize("n", [2, 3, 6, 13])
@pytest.mark.parametrize("x", [Fraction(1), Fraction(21, 20), Fraction(3, 2), Fraction(8)])
def test_a_supremum_over_a_range_is_neither_missed_nor_exceeded(n, x):
    """A dense grid is below the supremum by at most half a step times the largest slope: |f_a'| ≤ (n−1) max(1, x)."""
    rng = random.Random(f"{n} {x}")  # noqa: S311  (no secrets here)
    for _ in range(4):
        low, high = sorted(Fraction(rng.randint(0, 100), 100) for _ in range(2))
        step = (high - low) / 40
        slack = (n - 1) * x * step / 2
        for pair in (*oracle.DIRECTIONS, None):
            grid = max(oracle.delta(n, low + i * step, x, pair) for i in range(41))
            assert grid <= oracle.range_supremum(n, low, high, x, pair) <= grid + slack


def test_the_oracle_against_brute_force():
    def ones(entries):
        return sum(entries)

    for n, size, known, p, x in [
        (5, 2, 2, Fraction(3, 10), Fraction(6, 5)),
        (5, 4, 1, Fraction(2, 3), Fraction(3, 2)),
        (4, 3, 0, Fraction(1, 2), Fraction(1)),
    ]:
        laws = [{0: 1 - p, 1: p}] * n
        for pair in oracle.DIRECTIONS:
            sampled = brute_force.privacy_curve(laws, brute_force.partitioned([ones], n, [size]), pairs=[pair])(x)
            full = brute_force.privacy_curve(laws, brute_force.exactly(ones), pairs=[pair])(x)
            assert oracle.sampled_delta(n, size, p, x, pair) == sampled
            assert oracle.delta(n, p, x, pair) == full
        curve = brute_force.sampling_privacy_curve(laws, ones, size, known=range(1, known + 1))(x)
        assert oracle.spc(n, known, size, p, x) == curve


class TestTheChecksCanFail:
    """The judge of `test_enclosures.py`, given enclosures that are wrong on purpose."""

    truth = oracle.delta_1_0_ball(1024, HALF, Fraction(1, 200))
    value = float(truth.lower)
    good = (math.nextafter(value, 0), math.nextafter(value, 1))

    def test_a_right_one_passes(self):
        assert self.truth.fault(*self.good) == ""

    @pytest.mark.parametrize("factor", [1 + 1e-15, 1 - 1e-15, 1.1])
    def test_shifted(self, factor):
        assert self.truth.fault(*(end * factor for end in self.good)) == "misses the truth"

    def test_narrowed_to_one_end(self):
        assert self.truth.fault(self.good[0], self.good[0]) == "misses the truth"
        assert self.truth.fault(self.good[1], self.good[1]) == "misses the truth"

    def test_narrowed_to_the_nearest_double(self):
        assert self.truth.fault(self.value, self.value) == "misses the truth"

    def test_widened(self):
        assert self.truth.fault(self.value * (1 - 1e-12), self.good[1]) == "too wide"
        assert self.truth.fault(0.0, 1.0) == "too wide"

    @pytest.mark.parametrize("ends", [(1.0, 0.0), (-1e-9, 1.0), (0.0, 1.1), (math.nan, 1.0), (0.0, math.inf)])
    def test_not_an_interval(self, ends):
        assert self.truth.fault(*ends) == "not an interval within [0, 1]"
