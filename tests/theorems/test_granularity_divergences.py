"""Zero-concentrated and Gaussian privacy of finite mechanisms, against their definitions and against composition."""

import math
import random
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

import mpmath
import pytest

import statpriv as sp
from statpriv import granularity as gr
from statpriv.numeric.normal import normal_quantile, two_sided_tail

from ..cases import cases, spread

PATH = gr.Relation(range(4), lambda x, y: abs(x - y) == 1)
PAIR = gr.Relation(range(2), [(0, 1)])


def laws_drawn(count, answers, seed):
    draw = random.Random(seed)  # noqa: S311  (not for secrets)
    for _ in range(count):
        weights = [draw.randrange(1, draw.choice([3, 30, 3000])) for _ in range(answers)]
        yield {answer: Fraction(weight, sum(weights)) for answer, weight in enumerate(weights)}


def mechanism_of(laws):
    return gr.FiniteMechanism(dict(enumerate(laws)))


def renyi(law, other, order):
    """D_α from its definition, in 200 bits."""
    with mpmath.workprec(200):
        total = mpmath.mpf(0)
        for answer, mass in law.items():
            p, q = (mpmath.mpf(x.numerator) / x.denominator for x in (mass, other[answer]))
            total += p ** mpmath.mpf(order) * q ** (1 - mpmath.mpf(order))
        return mpmath.log(total) / (mpmath.mpf(order) - 1)


ORDERS = [1 + 2.0 ** (k / 8) for k in range(-160, 64, 4)]


@pytest.mark.parametrize("seed", range(8))
def test_rho_is_the_supremum_over_all_orders(seed):
    """Definition VI.10: no order has a larger D_α/α than the upper end, and some order nearly has the lower one."""
    first, second = laws_drawn(2, 2 + seed, seed)
    found = mechanism_of([first, second]).least_rho(PAIR)
    seen = max(renyi(*pair, order) / order for pair in ((first, second), (second, first)) for order in ORDERS)
    assert seen <= found.upper
    assert found.lower <= seen * (1 + 1e-2)
    assert found.width <= found.upper * 1e-6


@pytest.mark.parametrize("odds", [Fraction(101, 100), Fraction(3, 2), 3, 10**6])
def test_rho_and_mu_of_randomised_response(odds):
    """ρ is ε tanh(ε/2), at orders near 1, and μ is twice the quantile of the chance to tell the truth."""
    truth = Fraction(odds) / (1 + Fraction(odds))
    response = mechanism_of([{0: truth, 1: 1 - truth}, {0: 1 - truth, 1: truth}])
    with mpmath.workprec(200):
        epsilon = mpmath.log(mpmath.mpf(Fraction(odds).numerator) / Fraction(odds).denominator)
        rho, lie = epsilon * mpmath.tanh(epsilon / 2), mpmath.mpf((1 - truth).numerator) / (1 - truth).denominator
        mu = -2 * mpmath.sqrt(2) * mpmath.erfinv(2 * lie - 1)
        found = response.least_rho(PAIR)
        assert found.lower <= rho <= found.upper
        assert found.width <= 2e-6 * found.upper
        found = response.least_mu(PAIR)
        assert found.lower <= mu <= found.upper
        assert found.width <= 1e-14 * found.upper


@pytest.mark.parametrize("seed", range(8))
def test_mu_is_the_least_whose_normal_laws_are_easier_to_tell_apart(seed):
    """Definition VI.18 by its dual: `δ(ε) <= δ_μ(ε)` for all ε of either sign, and for no smaller μ."""
    first, second = laws_drawn(2, 2 + seed, seed + 100)
    found = mechanism_of([first, second]).least_mu(PAIR)
    # Where a vertex of the trade-off function decides, the line between the two ratios beside it touches G_μ.
    ratios = [first[answer] / second[answer] for answer in first]
    ratios += [1 / ratio for ratio in ratios]
    steps = [math.log(ratio) for ratio in ratios]
    grid = [low + (high - low) * k / 200 for low in [min(steps)] for high in [max(steps)] for k in range(201)]

    def exceeded(mu):
        """Whether some ε tells the laws apart better than N(0,1) and N(μ,1)."""

        def normal(epsilon):
            return mpmath.ncdf(-epsilon / mu + mu / 2) - mpmath.exp(epsilon) * mpmath.ncdf(-epsilon / mu - mu / 2)

        return any(
            sum(max(Fraction(0), p[a] - Fraction(math.exp(epsilon)) * q[a]) for a in p) > normal(epsilon) + 1e-15
            for epsilon in grid
            for p, q in ((first, second), (second, first))
        )

    assert not exceeded(found.upper)
    assert exceeded(found.lower * 0.98)
    assert found.width <= 1e-13 * found.upper


def test_an_answer_that_only_one_neighbour_gives_is_not_bounded():
    first, second = {0: Fraction(1, 2), 1: Fraction(1, 2)}, {0: Fraction(1, 3), 1: Fraction(1, 3), 2: Fraction(1, 3)}
    mechanism = mechanism_of([first, second])
    assert mechanism.least_rho(PAIR).lower == math.inf
    assert mechanism.least_mu(PAIR).lower == math.inf
    alike = mechanism_of([first, first])
    assert alike.least_rho(PAIR).upper == 0
    assert alike.least_mu(PAIR).upper == 0


def test_losses_beyond_doubles_are_bounded():
    tiny = Fraction(1, 10**300)
    nearly = mechanism_of(
        [{0: Fraction(1, 2), 1: Fraction(1, 2)}, {0: Fraction(1, 2) + tiny, 1: Fraction(1, 2) - tiny}]
    )
    assert 0 <= nearly.least_rho(PAIR).lower <= nearly.least_rho(PAIR).upper < 1e-70
    assert 0 < nearly.least_mu(PAIR).upper < 1e-40
    certain = mechanism_of([{0: tiny, 1: 1 - tiny}, {0: 1 - tiny, 1: tiny}])
    assert 690 < certain.least_rho(PAIR).lower <= certain.least_rho(PAIR).upper < 691
    assert 74 < certain.least_mu(PAIR).lower <= certain.least_mu(PAIR).upper < 75


@spread("seed", range(4), few=2)
def test_theorems_vi_12_and_vi_20_over_several_steps(seed):
    """`D_α <= d²ρα` and `T >= G_{dμ}` at distance d, from the least ρ and μ of neighbours."""
    laws = list(laws_drawn(4, 3, seed + 200))
    mechanism = mechanism_of(laws)
    rho, mu = mechanism.least_rho(PATH).upper, mechanism.least_mu(PATH).upper
    for first, second in permutations(range(4), 2):
        steps, apart = abs(first - second), mechanism_of([laws[first], laws[second]])
        assert apart.least_rho(PAIR).lower <= steps**2 * rho
        assert apart.least_mu(PAIR).lower <= steps * mu


TABLES = [table for table in combinations_with_replacement("abc", 2) if table != ("c", "c")]
PARTS = ["a", "b", "c"]


def drawn_on_counts(part, seed):
    """A random mechanism that reads how many records of a part there are."""
    laws = list(laws_drawn(3, 2, f"{seed}{part}"))
    return gr.FiniteMechanism({table: laws[sum(record in part for record in table)] for table in TABLES})


@pytest.mark.parametrize("seed", range(cases(1, campaign=8)))
@pytest.mark.parametrize(
    ("granularity", "setting"),
    [
        (gr.Bounded(), "element_partition"),
        pytest.param(gr.Bounded(), "sequential", marks=pytest.mark.campaign),
        # It alone goes through all pairs of tables.
        pytest.param(gr.FreeLunch(), "element_partition", marks=pytest.mark.campaign),
    ],
    ids=["element partition", "sequential", "free-lunch"],
)
def test_composed_rho_and_mu_hold_for_mechanisms(granularity, setting, seed):
    """Theorems VI.14, VI.15, VI.22, VI.23 and Corollary A.18, from the mechanisms' own least budgets."""
    mechanisms = [drawn_on_counts(part, seed) for part in PARTS]
    whole = gr.FiniteMechanism.independent(mechanisms)
    for notion, least in (("zcdp", "least_rho"), ("gaussian", "least_mu")):
        budgets = [getattr(mechanism, least)(granularity).upper for mechanism in mechanisms]
        found = gr.compose(budgets, granularity=granularity, setting=setting, notion=notion)
        bound = found.rho if notion == "zcdp" else found.mu
        exact = getattr(whole, least)(granularity)
        assert exact.lower <= (bound.upper if isinstance(bound, sp.Enclosure) else bound)
        assert exact.upper >= max(getattr(mechanism, least)(granularity).lower for mechanism in mechanisms)


def test_disjoint_parts_lose_the_largest_rho_and_mu():
    """Theorems VI.16 and VI.26, attained: tables of at most one record, each record in a part of its own."""
    tables = [(), ("a",), ("b",), ("c",)]
    laws = {part: list(laws_drawn(2, 2, part)) for part in PARTS}
    mechanisms = [gr.FiniteMechanism({table: laws[part][part in table] for table in tables}) for part in PARTS]
    whole = gr.FiniteMechanism.independent(mechanisms)
    for notion, least in (("zcdp", "least_rho"), ("gaussian", "least_mu")):
        budgets = [getattr(mechanism, least)(gr.Unbounded()) for mechanism in mechanisms]
        found = gr.compose([b.upper for b in budgets], granularity=gr.Unbounded(), setting="disjoint", notion=notion)
        exact = getattr(whole, least)(gr.Unbounded())
        assert exact.upper <= float(found.rho if notion == "zcdp" else found.mu) * (1 + 1e-6)
        assert exact.lower >= max(b.lower for b in budgets) * (1 - 1e-6)


def test_example_ii_9_in_the_notions_of_section_vi():
    """Sizes of parts have ρ = μ = 0 on their own inputs, and together neither is finite."""
    tables = [("a",), ("b",)]
    sizes = gr.FiniteMechanism({table: {tuple(table.count(part) for part in "ab"): 1} for table in tables})
    assert sizes.least_rho(gr.Bounded()).lower == math.inf
    assert sizes.least_mu(gr.Bounded()).lower == math.inf


@pytest.mark.parametrize("x", [0, Fraction(1, 10**9), Fraction(1, 3), Fraction(1999, 1000), 2, 5, 37, 200])
def test_tails_of_the_normal_law_are_tight_near_and_far(x):
    with mpmath.workprec(400):
        truth = mpmath.erfc(mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator / mpmath.sqrt(2))
        found = two_sided_tail(Fraction(x))
        assert found.lower <= truth <= found.upper
        assert found.width <= 2 * math.ulp(found.upper)


@pytest.mark.parametrize(
    "tail",
    ["1/3", "499999999/1000000000", "0.4999999999999999999999999", "0.99", "1e-9", "1e-299", "1e-301", "1e-3000"],
)
def test_quantiles_of_the_normal_law(tail):
    found = normal_quantile(Fraction(tail))
    with mpmath.workprec(400):
        upper, lower = (mpmath.erfc(mpmath.mpf(x) / mpmath.sqrt(2)) / 2 for x in (found.lower, found.upper))
        assert lower <= mpmath.mpf(Fraction(tail).numerator) / Fraction(tail).denominator <= upper
    assert 0 < found.width <= 1e-14 * abs(found.upper)


@pytest.mark.parametrize("granularity", [None, 3, gr.Unbounded])
def test_a_granularity_is_asked_for(granularity):
    mechanism = mechanism_of(laws_drawn(2, 2, 1))
    for ask in (mechanism.least_rho, mechanism.least_mu, lambda chosen: mechanism.least_delta(chosen, 1)):
        with pytest.raises(sp.errors.ArgumentError, match=r"granularity = .*; one of Unbounded\(\)"):
            ask(granularity)


def test_every_pair_of_bits_is_tried():
    """The worst neighbours decide, in their worst order."""
    answers = list(product((0, 1), repeat=2))
    uniform = dict.fromkeys(answers, Fraction(1, 4))
    tilted = {answer: Fraction(1 + sum(answer), 8) for answer in answers}
    tilted[1, 1] = Fraction(3, 8)
    whole = mechanism_of([uniform, uniform, tilted, uniform])
    assert whole.least_rho(PATH) == mechanism_of([uniform, tilted]).least_rho(PAIR)
    assert whole.least_mu(PATH) == mechanism_of([uniform, tilted]).least_mu(PAIR)
