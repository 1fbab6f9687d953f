"""The bound of exact tables with a minimum count, against stored values, quadrature and the definition.

The oracles share no code with the library: values from another implementation, mpmath's quadrature of
``E(Γ_l/l − rΓ_k/k)_+``, and the sum over all tables of a few rows.
"""

import json
from collections import defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement, permutations
from math import factorial, prod
from pathlib import Path
from random import Random

import mpmath
import pytest

import statpriv as sp

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "tables.json").read_text(encoding="utf-8"))[
    "minimum_count"
]


@pytest.mark.parametrize("stored", VECTORS[::4], ids=lambda stored: "{minimum}-{known}-{exp_epsilon}".format(**stored))
def test_exact_values_are_the_stored_ones(stored):
    expected = Fraction(stored["bound"])
    found = sp.minimum_count_curve(stored["minimum"], known=stored["known"]).exact_delta(
        exp_epsilon=stored["exp_epsilon"]
    )
    assert abs(found - expected) <= expected * Fraction(1, 10**35)


def height(k, m, r):
    """``E(Γ_m/m − rΓ_k/k)_+``: the expectation over Γ_k in closed form, that over Γ_m by quadrature."""

    def inner(x):
        y = k * x / r
        # E(x − rK)_+ for K = Γ_k/k.
        return x * mpmath.gammainc(k, 0, y, regularized=True) - r * mpmath.gammainc(k + 1, 0, y, regularized=True)

    def density(x):
        return mpmath.exp(m * mpmath.log(m) - mpmath.loggamma(m) + (m - 1) * mpmath.log(x) - m * x)

    points = [0, *(mpmath.mpf(x) for x in ("0.25", "0.5", "1", "2", "4", "8", "16", "60"))]
    return mpmath.quad(lambda x: inner(x) * density(x), points)


@pytest.mark.parametrize("minimum", [2, 5, 12])
@pytest.mark.parametrize("epsilon", ["0.1", "2"])
def test_the_bound_has_ten_digits_of_the_quadrature(minimum, epsilon):
    with mpmath.workdps(20):
        r = mpmath.exp(mpmath.mpf(epsilon))
        expected = max(height(minimum - 1, minimum, r), height(minimum, minimum - 1, r))
        found = sp.minimum_count_curve(minimum).delta(epsilon)
        assert found.upper - found.lower <= 1e-14 * found.upper
        assert abs(found.upper - expected) <= expected * mpmath.mpf(10) ** -10
        digits = sp.minimum_count_curve(minimum).delta(epsilon, digits=40)
        assert abs(digits.lower - expected) <= expected * mpmath.mpf(10) ** -10


@pytest.mark.parametrize(("minimum", "known"), [(2, 0), (4, 2), (7, 1), (10, 8), (40, 5)])
def test_three_tiers_agree(minimum, known):
    curve = sp.minimum_count_curve(minimum, known=known)
    for ratio in (Fraction(1), Fraction(3, 2), Fraction(40)):
        exact = curve.exact_delta(exp_epsilon=ratio)
        assert exact == most_of_all_splits(minimum, minimum, known, ratio)
    for epsilon in ("0", "0.3", "1", "5", "15"):
        rough, fine = curve.delta(epsilon), curve.delta(epsilon, digits=30)
        assert rough.lower <= fine.upper
        assert fine.lower <= rough.upper
        assert rough.upper - rough.lower <= 1e-13 * rough.upper


def height_of_a_test(k, m, r):
    """``max_p P[B ≥ k] − rP[B ≥ k+1]`` of ``B ~ Bin(k+m, p)``, at the p where the derivative is 0."""
    if k <= 0 or m <= 0:
        return Fraction(1)
    n, p = k + m, Fraction(k) / (k + m * r)
    law = [Fraction(factorial(n), factorial(j) * factorial(n - j)) * p**j * (1 - p) ** (n - j) for j in range(n + 1)]
    return sum(law[k:], Fraction(0)) - r * sum(law[k + 1 :], Fraction(0))


def most_of_all_splits(first, second, known, r):
    """The theorem as it stands: every split of the known rows over the two cells, both orders."""
    return max(
        height
        for of_first in range(known + 1)
        for of_second in range(known - of_first + 1)
        for a, b in [(first - of_first, second - of_second), (second - of_second, first - of_first)]
        for height in (height_of_a_test(a - 1, b, r), height_of_a_test(a, b - 1, r))
    )


@pytest.mark.parametrize("minima", [(2, 2), (3, 5), (5, 3), (4, 9)])
def test_two_heights_are_the_most_of_all_splits_of_known_rows(minima):
    table = sp.ContingencyTable(4, minimum={0: minima[0], 1: minima[1], "default": max(minima)})
    for known in range(min(minima)):
        curve = sp.privacy_curve(table, sp.Population(100), adversary=sp.Adversary(known=known))
        for ratio in (Fraction(11, 10), Fraction(3)):
            assert curve.exact_delta(exp_epsilon=ratio) == most_of_all_splits(*minima, known, ratio)


def test_a_pair_of_cells_has_its_own_minima():
    table = sp.ContingencyTable(3, minimum={0: 3, 1: 5, 2: 8})
    r = Fraction(2)
    for v, w in permutations(range(3), 2):
        a, b = table.minimum_of(v), table.minimum_of(w)
        expected = max(height_of_a_test(a - 1, b, r), height_of_a_test(a, b - 1, r))
        assert sp.privacy_curve(table, sp.Population(99), pair=(v, w)).exact_delta(exp_epsilon=r) == expected
    assert sp.privacy_curve(table, sp.Population(99)).exact_delta(exp_epsilon=r) == most_of_all_splits(3, 5, 0, r)


def test_a_public_classification_has_the_worst_class():
    minima = {("n", "x"): 3, ("n", "y"): 9, ("s", "x"): 4, ("s", "y"): 5}
    table = sp.ContingencyTable({"r": ["n", "s"], "a": ["x", "y"]}, minimum=minima, by="r")
    r = Fraction(3, 2)
    found = sp.privacy_curve(table, sp.Population(99)).exact_delta(exp_epsilon=r)
    assert found == max(most_of_all_splits(3, 9, 0, r), most_of_all_splits(4, 5, 0, r))
    # Without the classification the two least minima may meet.
    flat = sp.ContingencyTable({"r": ["n", "s"], "a": ["x", "y"]}, minimum=minima)
    assert sp.privacy_curve(flat, sp.Population(99)).exact_delta(exp_epsilon=r) == most_of_all_splits(3, 4, 0, r)


def test_one_cell_of_a_class_tells_nothing():
    table = sp.ContingencyTable(
        {"r": ["n", "s"], "a": ["x", "y"]}, minimum=5, impossible=[("n", "x"), ("s", "y")], by="r"
    )
    assert sp.privacy_curve(table, sp.Population(99)).delta(0).upper == 0


SEARCHED = {
    10: {"0.1": 0.12484, "0.5": 0.03357, "1": 0.003552, "2": 6.756e-6, "3": 2.936e-9},
    5: {"0.1": 0.19644, "0.5": 0.09263, "1": 0.02868, "2": 0.001456, "3": 4.476e-5},
}
"""What another search found; nothing certain."""


@pytest.mark.parametrize("minimum", SEARCHED)
def test_the_supremum_is_what_another_search_found_and_below_the_bound(minimum):
    supremum = sp.minimum_count_curve(minimum, bound="supremum")
    assert supremum.kind == "exact"
    for epsilon, found in SEARCHED[minimum].items():
        enclosed = supremum.delta(epsilon)
        assert enclosed.upper == pytest.approx(found, rel=2e-4)
        assert enclosed.upper - enclosed.lower <= 1e-12 * enclosed.upper
        assert 0.75 < enclosed.upper / sp.minimum_count_curve(minimum).delta(epsilon).lower < 0.95


@pytest.mark.parametrize(("minimum", "ratio"), [(2, Fraction(11, 10)), (3, Fraction(3, 2)), (3, Fraction(8))])
def test_tables_of_two_cells_come_close_to_the_supremum_and_none_exceeds_it(minimum, ratio):
    epsilon = float(mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator))
    supremum = sp.minimum_count_curve(minimum, bound="supremum").delta(epsilon)
    reached = Fraction(0)
    for n in range(2 * minimum, 3 * minimum + 3):
        for k in range(1, 24):
            p = Fraction(k, 24) / (Fraction(k, 24) + (1 - Fraction(k, 24)) * ratio)
            reached = max(reached, delta_by_definition(n, [p, 1 - p], minimum, ratio))
    assert 0.98 * supremum.lower <= reached <= supremum.upper * (1 + 1e-12)


@pytest.mark.parametrize("known", [0, 1, 4])
def test_the_supremum_with_known_rows_is_the_worst_split(known):
    whole = sp.minimum_count_curve(6, known=known, bound="supremum").delta("0.7")
    table = sp.ContingencyTable
    splits = []
    for of_first in range(known + 1):
        minima = {0: 6 - of_first, 1: 6 - (known - of_first)}
        curve = sp.privacy_curve(table(2, minimum=minima), sp.Population(99), bound="supremum")
        assert curve.kind == "bound"
        splits.append(curve.delta("0.7"))
    assert max(split.lower for split in splits) <= whole.upper
    assert whole.lower <= max(split.upper for split in splits)


def test_larger_minima_are_searched_no_further():
    assert sp.minimum_count_curve(1000, bound="supremum").delta(3).upper == 5e-324
    with pytest.raises(sp.NotAvailableError, match="a minimum of 1001 is above 1000"):
        sp.minimum_count_curve(1001, bound="supremum")


def test_the_least_minimum_is_one_step_from_failing():
    for bound in ("minimum-count", "supremum"):
        plan = sp.design.least_minimum(epsilon=1, delta="1e-5", known=2, bound=bound)
        assert plan.curve.satisfies(epsilon=1, delta="1e-5")
        smaller = sp.minimum_count_curve(plan.value - 1, known=2, bound=bound).delta(1)
        assert smaller.lower > 1e-5
        assert plan.neighbour.value == plan.value - 1
    assert (plan.neighbour.verdict, sp.design.least_minimum(epsilon=3, delta="1/2").value) == ("fails", 2)
    with pytest.raises(sp.GuaranteeNotReachedError, match="no minimum count up to 1000 reaches"):
        sp.design.least_minimum(epsilon=1, delta="1e-120", bound="supremum")
    for arguments in [{"epsilon": -1, "delta": "0.1"}, {"epsilon": 1, "delta": 0}, {"epsilon": 1, "delta": 2}]:
        with pytest.raises(sp.ArgumentError, match="is required"):
            sp.design.least_minimum(**arguments)


def test_rows_that_the_reader_knows_can_be_all_but_one():
    for minimum in (2, 3, 10):
        curve = sp.minimum_count_curve(minimum, known=minimum - 1)
        assert (curve.delta(3).lower, curve.infinity_mass().lower, curve.delta(3).upper) == (1, 1, 1)
        assert sp.minimum_count_curve(minimum, known=minimum - 2).delta(3).upper < 1


def exact(number):
    return Fraction(number.man_exp[0]) * Fraction(2) ** number.man_exp[1]


@pytest.mark.parametrize("delta", ["0.1", "1e-9", "1e-60", "1e-400"])
def test_the_inverse_has_digits_however_small_delta_is(delta):
    curve = sp.minimum_count_curve(10)
    epsilon = curve.epsilon(delta, digits=25)
    assert epsilon.upper - epsilon.lower <= epsilon.upper * mpmath.mpf(10) ** -25
    assert exact(curve.delta(exact(epsilon.lower), digits=60).upper) >= Fraction(delta)
    assert exact(curve.delta(exact(epsilon.upper), digits=60).lower) <= Fraction(delta)


def test_zero_is_the_limit_and_no_epsilon_attains_it():
    curve = sp.minimum_count_curve(10)
    assert curve.infinity_mass().upper == 0
    assert curve.epsilon(0).upper == curve.epsilon(0, digits=20).lower == float("inf")
    with pytest.raises(sp.PrecisionError, match="falls for ever"):
        curve.infinity_mass(digits=20)


def tables(laws, critical, cells):
    """The law of the table of independent rows with one law, one of them known to be in a cell."""
    n, law = laws

    def counts(rows, left):
        if left == 1:
            yield (rows,)
            return
        for first in range(rows + 1):
            for others in counts(rows - first, left - 1):
                yield (first, *others)

    for drawn in counts(n - 1, cells):
        weight = Fraction(factorial(n - 1), prod(map(factorial, drawn)))
        weight *= prod((p**k for p, k in zip(law, drawn, strict=True)), start=Fraction(1))
        yield tuple(k + (cell == critical) for cell, k in enumerate(drawn)), weight


def delta_by_definition(n, law, minimum, r):
    """The worst hockey stick over pairs of cells, of what the rule publishes."""
    published = {}
    for critical in range(len(law)):
        answers = defaultdict(Fraction)
        for table, weight in tables((n, law), critical, len(law)):
            answers[table if min(table) >= minimum else None] += weight
        published[critical] = answers
    return max(
        sum(
            (max(Fraction(0), mass - r * published[w].get(answer, 0)) for answer, mass in published[v].items()),
            Fraction(0),
        )
        for v, w in permutations(published, 2)
    )


@pytest.mark.parametrize(("minimum", "known"), [(3, 1), (3, 0), (4, 2)])
def test_known_rows_of_any_cells_never_exceed_the_bound(minimum, known):
    """The enumeration of `sp.reference`, with every choice of the cells of the known rows."""
    random = Random(f"{known} known")  # noqa: S311
    nearest = Fraction(0)
    for cells in (2, 3):
        table = sp.ContingencyTable(cells, minimum=minimum)
        for n in range(minimum * cells, minimum * cells + 4):
            bound = sp.privacy_curve(table, sp.Population(n), adversary=sp.Adversary(known=known))
            for law in random_laws(random, cells, 3):
                named = dict(enumerate(law))
                for who in combinations_with_replacement(named, known):
                    curve = sp.reference.table_curve(named, n, minimum=minimum, known=who)
                    for r in (Fraction(11, 10), Fraction(3)):
                        reached, most = curve(r), bound.exact_delta(exp_epsilon=r)
                        assert reached <= most
                        nearest = max(nearest, reached / most)
    assert nearest > Fraction(1, 2)


def random_laws(random, cells, count):
    for _ in range(count):
        shares = [random.randint(1, 12) for _ in range(cells)]
        yield [Fraction(share, sum(shares)) for share in shares]


@pytest.mark.parametrize("minimum", [2, 3])
def test_no_table_of_nine_rows_exceeds_the_bound_and_some_come_within_a_factor_of_two(minimum):
    random = Random(f"tables with at least {minimum}")  # noqa: S311
    nearest = Fraction(0)
    for cells in (2, 3, 4):
        for n in range(minimum * cells, 10):
            for r in (Fraction(21, 20), Fraction(2), Fraction(7)):
                bound = sp.privacy_curve(sp.ContingencyTable(cells, minimum=minimum), sp.Population(n))
                most = bound.exact_delta(exp_epsilon=r)
                # Shares near the peaks of the two heights, and others.
                laws = [*random_laws(random, cells, 6)]
                for k, m in [(minimum, minimum - 1), (minimum - 1, minimum)] if cells == 2 else []:
                    laws.append([k / (k + m * r), m * r / (k + m * r)])
                for law in laws:
                    reached = delta_by_definition(n, law, minimum, r)
                    assert reached <= most, (n, law, r)
                    nearest = max(nearest, reached / most)
    assert nearest > Fraction(1, 2)
