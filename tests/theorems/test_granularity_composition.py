"""Composition at every granularity against enumeration: finite mechanisms on all small databases, in exact rationals.

Budgets are whole multiples of ln 2, so that a guarantee of `k ln 2` says that no ratio of probabilities is above `2^k`.
The mechanisms are bits that tell the truth with odds of `2^k`: where a step turns the answer over they lose exactly k.
"""

import math
import random
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product

import networkx as nx
import pytest

import statpriv as sp
from statpriv import granularity as gr

RECORDS = ["a", "b", "c", "d"]
TABLES = [table for size in range(4) for table in combinations_with_replacement(RECORDS, size)]
SEQUENCES = list(product(RECORDS, repeat=3))
NODES = range(4)
PAIRS = list(combinations(NODES, 2))
LOOPS = [(node, node) for node in NODES]


def all_graphs():
    for chosen in product((False, True), repeat=len(PAIRS)):
        yield frozenset(NODES), frozenset(pair for pair, there in zip(PAIRS, chosen, strict=True) if there)


def induced():
    """All graphs on subsets of the nodes."""
    return {
        (nodes, edges)
        for size in range(5)
        for chosen in combinations(NODES, size)
        for nodes, edges in [
            (frozenset(chosen), edges) for _, edges in all_graphs() if all(set(e) <= set(chosen) for e in edges)
        ]
    }


def truth(answer, odds):
    """A bit that is right with these odds."""
    return {answer: Fraction(odds, odds + 1), 1 - answer: Fraction(1, odds + 1)}


def whole_ratio(laws, neighbours):
    """The largest ratio of probabilities of the tuple of independent bits, over neighbours, exactly."""
    worst = Fraction(1)
    for first, second in neighbours:
        ratio = Fraction(1)
        for law in laws:
            ratio *= max(law[first][answer] / law[second][answer] for answer in law[first])
        worst = max(worst, ratio)
    return worst


def neighbours_of(granularity, databases):
    return [pair for pair in permutations(databases, 2) if granularity.neighbours(*pair)]


def steps_of_graphs(granularity):
    if granularity.name == "edge":
        return [((nodes, edges), (nodes, edges ^ {edge})) for nodes, edges in all_graphs() for edge in PAIRS + LOOPS]
    graphs = induced()
    removed = [
        ((nodes, edges), (nodes - {v}, frozenset(edge for edge in edges if v not in edge)))
        for nodes, edges in graphs
        for v in nodes
    ]
    return removed + [(second, first) for first, second in removed]


def read(part, by, database):
    """What a query sees, without the library."""
    if by == "record":
        return tuple(record for record in database if record in part)
    if by == "index":
        return tuple(record for place, record in enumerate(database) if place in part)
    nodes, edges = database
    if by == "node":
        return nodes & part, frozenset(edge for edge in edges if set(edge) <= part)
    return frozenset(edge for edge in edges if edge in part)


CASES = [
    (granularity, by, databases)
    for granularity, by, databases in (
        (gr.Unbounded(), "record", TABLES),
        (gr.Bounded(), "record", TABLES),
        (gr.FreeLunch(), "record", TABLES),
        (gr.Ordered(), "index", SEQUENCES),
        (gr.Ordered(), "record", SEQUENCES),
        (gr.Edge(), "edge", None),
        (gr.Edge(), "node", None),
        (gr.Node(), "node", None),
        (gr.Node(), "edge", None),
    )
]
ATOMS = {"record": RECORDS, "index": list(range(3)), "node": list(NODES), "edge": PAIRS}
STEPS = {}


def steps(granularity, databases):
    if granularity not in STEPS:
        STEPS[granularity] = (
            steps_of_graphs(granularity) if databases is None else neighbours_of(granularity, databases)
        )
    return STEPS[granularity]


def drawn_parts(draw, by, *, disjoint):
    """Three inputs, disjoint or not."""
    atoms = ATOMS[by]
    if disjoint:
        owner = {atom: draw.randrange(4) for atom in atoms}
        return [{atom for atom in atoms if owner[atom] == i} for i in range(3)]
    return [{atom for atom in atoms if draw.random() < 0.5} for _ in range(3)]


@pytest.mark.parametrize("disjoint", [True, False])
@pytest.mark.parametrize(("granularity", "by", "databases"), CASES, ids=lambda value: getattr(value, "name", ""))
def test_the_composed_budget_is_right_and_no_larger_than_the_worst_step(granularity, by, databases, disjoint):
    """Theorems IV.6, IV.11, IV.12, Corollary IV.13: which queries one step changes, from all neighbouring pairs.

    For each query the worst law for given budgets changes its bit fully whenever its input changes; so the sum of
    budgets over the inputs that differ is what some mechanisms lose, and no mechanisms lose more.
    """
    draw = random.Random(f"{granularity}{by}{disjoint}")  # noqa: S311  (not for secrets)
    universe = range(3) if by == "index" else ATOMS[by]
    for _ in range(12):
        parts = drawn_parts(draw, by, disjoint=disjoint)
        budgets = [draw.randrange(1, 6) for _ in parts]
        worst = max(
            sum(
                budget
                for part, budget in zip(parts, budgets, strict=True)
                if read(part, by, first) != read(part, by, second)
            )
            for first, second in steps(granularity, databases)
        )
        inputs = gr.Inputs(parts, by=by, universe=universe, exhaustive=False)
        found = gr.compose(budgets, granularity=granularity, inputs=inputs)
        assert found.epsilon == worst
        assert found.epsilon <= sum(budgets)
        assert found.epsilon == sum(budgets[i] for i in found.worst)
        rho = gr.compose(budgets, granularity=granularity, inputs=inputs, notion="zcdp")
        assert rho.rho == found.epsilon
        pairs = [(budget, Fraction(budget, 100)) for budget in budgets]
        approximate = gr.compose(pairs, granularity=granularity, inputs=inputs, notion="approximate")
        assert (approximate.epsilon, approximate.delta) == (found.epsilon, found.epsilon / 100)
        assert granularity.compatible(inputs) == all(
            sum(read(part, by, first) != read(part, by, second) for part in parts) <= 1
            for first, second in steps(granularity, databases)
        )


def bit_mechanism(databases, question, odds):
    return gr.FiniteMechanism({database: truth(question(database), odds) for database in databases})


@pytest.mark.parametrize("granularity", [gr.Unbounded(), gr.Bounded(), gr.FreeLunch()], ids=lambda value: value.name)
def test_bits_of_disjoint_parts_lose_what_the_theorem_says_and_attain_it(granularity):
    """Theorem IV.6 and Corollary IV.13 with mechanisms: parities of counts, at odds 2, 4 and 8."""
    parts, odds = ["a", "b", "cd"], [2, 4, 8]
    laws = [
        {table: truth(sum(record in part for record in table) % 2, odd) for table in TABLES}
        for part, odd in zip(parts, odds, strict=True)
    ]
    ratio = whole_ratio(laws, steps(granularity, TABLES))
    found = gr.compose([1, 2, 3], granularity=granularity, setting="element_partition")
    assert ratio == 2 ** int(found.epsilon)
    assert found.epsilon == {"unbounded": 3, "bounded": 5, "free-lunch": 6}[granularity.name]


def test_sequential_composition_at_every_granularity():
    """Theorems IV.3 and V.3: the same bit asked twice."""
    for granularity in (gr.Unbounded(), gr.Bounded(), gr.FreeLunch()):
        law = {table: truth(len(table) % 2 ^ ("a" in table), 4) for table in TABLES}
        ratio = whole_ratio([law, law], steps(granularity, TABLES))
        found = gr.compose([2, 2], granularity=granularity, setting="sequential")
        assert ratio == 2 ** int(found.epsilon)


def test_adaptive_composition_loses_no_more():
    """Theorems V.3, V.4 and V.5: the later bits are chosen by the earlier ones, at random, over disjoint parts."""
    draw = random.Random(11)  # noqa: S311  (not for secrets)
    tables = [table for table in TABLES if len(table) == 2]
    for _ in range(20):
        budgets = [draw.randrange(1, 4) for _ in range(3)]
        parts = [{"a"}, {"b", "c"}, {"d"}]

        seed = draw.random()

        def chosen(i, earlier, budgets=budgets, parts=parts, seed=seed):
            """Any function of the part, which the earlier answers choose."""
            choice = random.Random(f"{seed}{earlier}{i}")  # noqa: S311  (not for secrets)
            answers = {}

            def question(table):
                seen = read(parts[i], "record", table)
                return answers.setdefault(seen, choice.randrange(2))

            return bit_mechanism(tables, question, 2 ** budgets[i])

        whole = gr.FiniteMechanism.adaptive([lambda earlier, i=i: chosen(i, earlier) for i in range(3)])
        loss = whole.least_epsilon(gr.Bounded())
        bound = gr.compose(budgets, granularity=gr.Bounded(), setting="element_partition", adaptive=True)
        assert loss.ratio <= 2 ** int(bound.epsilon * loss.distance)


def test_approximate_composition_over_disjoint_parts():
    """Theorems VI.5 to VI.7 and A.13: bits that with probability δ tell the truth for certain."""
    tables = [table for table in TABLES if len(table) == 2]

    def leaking(part, odds, delta):
        laws = {}
        for table in tables:
            answer = sum(record in part for record in table) % 2
            laws[table] = {("sure", answer): delta} | {
                ("bit", bit): (1 - delta) * mass for bit, mass in truth(answer, odds).items()
            }
        return gr.FiniteMechanism(laws)

    parts, odds = ["a", "b", "cd"], [2, 4, 8]
    deltas = [Fraction(1, 10), Fraction(1, 20), Fraction(1, 7)]
    mechanisms = [leaking(*each) for each in zip(parts, odds, deltas, strict=True)]
    for mechanism, odd, delta in zip(mechanisms, odds, deltas, strict=True):
        assert mechanism.least_delta(gr.Bounded(), exp_epsilon=odd) == delta
    whole = gr.FiniteMechanism.independent(mechanisms)
    found = gr.compose(
        list(zip([1, 2, 3], deltas, strict=True)),
        granularity=gr.Bounded(),
        setting="element_partition",
        notion="approximate",
    )
    assert (found.epsilon, found.delta) == (5, Fraction(1, 10) + Fraction(1, 7))
    delta = whole.least_delta(gr.Bounded(), exp_epsilon=2**5)
    assert max(deltas) < delta <= found.delta


def test_zero_concentrated_composition_over_disjoint_parts():
    """Theorem VI.14: Rényi divergences of the whole stay below α times the two largest ρ, at integer orders."""
    odds = [2, 4, 8]
    laws = [truth(1, odd) for odd in odds], [truth(0, odd) for odd in odds]

    def divergence(order, chosen):
        """exp((α−1) D_α) of the bits that change, exactly."""
        value = Fraction(1)
        for i in chosen:
            value *= sum(laws[0][i][bit] ** order / laws[1][i][bit] ** (order - 1) for bit in (0, 1))
        return value

    orders = range(2, 12)
    # ρ_i: the least that holds at these orders, rounded upwards.
    rhos = [
        max(
            Fraction(math.log(divergence(order, [i])) / (order - 1) / order).limit_denominator(10**6)
            for order in orders
        )
        + Fraction(1, 10**5)
        for i in range(3)
    ]
    found = gr.compose(rhos, granularity=gr.Bounded(), setting="element_partition", notion="zcdp")
    assert found.rho == sum(sorted(rhos)[1:])
    for order, pair in product(orders, combinations(range(3), 2)):
        assert math.log(divergence(order, pair)) / (order - 1) <= order * found.rho
    parallel = gr.compose(rhos, granularity=gr.Unbounded(), setting="disjoint", notion="zcdp")
    assert parallel.rho == max(rhos)


@pytest.mark.parametrize(
    ("setting", "granularity", "mu"),
    [
        ("sequential", gr.Unbounded(), 13),
        ("disjoint", gr.Unbounded(), 12),
        ("element_partition", gr.Bounded(), Fraction(12**2 + 4**2)),
        ("element_partition", gr.FreeLunch(), 13),
    ],
)
def test_gaussian_budgets_add_up_in_squares(setting, granularity, mu):
    """Theorems VI.23, VI.26 and Corollary A.18."""
    found = gr.compose([3, 4, 12], granularity=granularity, setting=setting, notion="gaussian")
    if isinstance(mu, int):
        assert found.mu == mu
    else:
        assert Fraction(found.mu.lower) ** 2 <= mu <= Fraction(found.mu.upper) ** 2
        assert found.mu.width < 1e-14


def test_gaussian_guarantees_are_the_curves_of_normal_noise():
    """μ at 1 of five counts with noise of variance 4: the library's own mechanism says the same."""
    found = gr.compose(["1/2"] * 5, granularity=gr.Unbounded(), setting="sequential", notion="gaussian")
    other = sp.differential.GaussianMechanism(sigma=2, k=5)
    for epsilon in ("0.1", 1, 3):
        one, two = found.delta_at(epsilon), other.delta(epsilon)
        assert one.lower <= two.upper
        assert two.lower <= one.upper


def test_group_privacy_of_the_approximate_notion_is_attained_by_no_less():
    """Theorem VI.3 against the chain: the worst that (ε, δ) neighbours allow, step by step."""
    ratio, delta = Fraction(2), Fraction(1, 100)
    for steps_apart in range(1, 6):
        allowed = Fraction(0)
        for _ in range(steps_apart):
            allowed = ratio * allowed + delta
        figures = gr.change_granularity(
            (math.log(2), delta), source=gr.Unbounded(), target=gr.Unbounded(), notion="approximate", factor=steps_apart
        ).figures
        value = figures.delta
        low, high = (value, value) if isinstance(value, Fraction) else (Fraction(value.lower), Fraction(value.upper))
        assert abs(low - allowed) < Fraction(1, 10**14)
        assert abs(high - allowed) < Fraction(1, 10**14)
    nothing = gr.preprocess((0, delta), 7, notion="approximate")
    assert nothing.delta == 7 * delta


def test_preprocessing_multiplies_by_the_sensitivity_and_has_no_converse():
    """Proposition III.6, Remark III.7."""
    line = gr.Relation(range(5), lambda x, y: abs(x - y) == 1)
    mechanism = gr.FiniteMechanism(
        {x: {0: Fraction(1, 2 ** (x + 1)), 1: 1 - Fraction(1, 2 ** (x + 1))} for x in range(5)}
    )
    one = mechanism.least_epsilon(line)
    assert one.ratio == 2
    twice = mechanism.preprocessed(range(3), lambda x: 2 * x)
    short = gr.Relation(range(3), [(0, 1), (1, 2)])
    assert twice.least_epsilon(short).ratio == 4
    # The other way round: the identity on five values tells everything, and of a constant nothing.
    identity = gr.FiniteMechanism({x: {x: 1} for x in range(5)})
    assert identity.least_epsilon(line).epsilon.lower == math.inf
    assert identity.preprocessed(range(3), lambda _: 4).is_private(gr.FreeLunch(), 0)


def test_example_ii_9_counts_of_parts_are_perfectly_private_and_together_reveal_all():
    tables = [table for table in TABLES if len(table) == 2]
    counts = [
        gr.FiniteMechanism({table: {len(table): 1} for table in {read(part, "record", table) for table in TABLES}})
        for part in ("ab", "cd")
    ]
    for count in counts:
        with pytest.warns(gr.NoPathWarning):
            assert count.is_private(gr.Bounded(), 0)
    together = gr.FiniteMechanism.independent(
        [
            count.preprocessed(tables, lambda table, part=part: read(part, "record", table))
            for count, part in zip(counts, ("ab", "cd"), strict=True)
        ]
    )
    assert together.least_epsilon(gr.Bounded()).epsilon.lower == math.inf
    with pytest.raises(sp.NotAvailableError, match=r"Example II\.9.*element partition"):
        gr.compose([0, 0], granularity=gr.Bounded(), setting="disjoint")
    with pytest.raises(sp.NotAvailableError, match=r'domain = "own".*Example II\.9'):
        gr.compose([0, 0], granularity=gr.Bounded(), setting="element_partition", domain="own")


def test_partitions_by_record_commute_with_unbounded_and_are_not_compatible_with_bounded():
    """Propositions A.4 and A.5, Example IV.4."""
    by_record = gr.Inputs([{"a"}, {"b", "c"}], universe=RECORDS, exhaustive=False)
    assert gr.check_partition(by_record, gr.Unbounded(), TABLES).own_domain
    tables = [table for table in TABLES if len(table) == 3]
    found = gr.check_partition(by_record, gr.Bounded(), tables)
    assert not found.compatible
    assert not found.commuting
    first, second = found.incompatible_pair.pair
    assert gr.Bounded().neighbours(first, second)
    assert found.incompatible_pair.inputs == (0, 1)
    assert found.sensitivities == (math.inf, math.inf)


def test_partitions_by_index_are_compatible_and_commute():
    """Example IV.7, Proposition A.6."""
    by_index = gr.Inputs([{0, 2}, {1}], by="index", universe=3)
    found = gr.check_partition(by_index, gr.Ordered(), SEQUENCES)
    assert found.own_domain
    assert found.commuting
    assert found.sensitivities == (1, 1)
    assert gr.compose([1, 2], granularity=gr.Ordered(), setting="disjoint").epsilon == 2


def test_commuting_inputs_lose_at_most_the_largest_budget_per_step():
    """Section IV-C: Σ ε_i d(f_i(D), f_i(D')) ≤ max ε_i · d(D, D')."""
    by_record = gr.Inputs([{"a"}, {"b"}, {"c", "d"}])
    for first, second in combinations(TABLES, 2):
        between = gr.compose_between([1, 2, 3], first, second, metrics=gr.Unbounded(), inputs=by_record)
        assert between.epsilon <= 3 * gr.Unbounded().distance(first, second)


def test_compatible_and_stretching_nothing_is_commuting_for_relations_drawn_at_random():
    """Along a shortest way each step changes one input by one step; and commuting says so of neighbours."""
    draw = random.Random(3)  # noqa: S311  (not for secrets)
    seen = set()
    for _ in range(150):
        size = draw.randrange(3, 6)
        links = [pair for pair in combinations(range(size), 2) if draw.random() < 0.6]
        relation = gr.Relation(range(size), links)
        if len(relation.components) > 1:
            continue
        functions = [
            {x: draw.randrange(2) for x in range(size)}.__getitem__,
            {x: draw.randrange(2) for x in range(size)}.__getitem__,
        ]
        found = gr.check_partition(functions, relation, parts=gr.FreeLunch())
        assert found.own_domain == found.commuting
        seen.add((found.compatible, found.commuting))
    assert (True, True) in seen
    assert (False, False) in seen


def test_example_iv_2_two_districts_and_their_ambulances():
    """A count at a·d_unbounded and a location at b·distance: the loss between two tables is their sum."""

    def closest(table):
        return min(table, default=10)

    metrics = [gr.Unbounded(), lambda x, y: abs(x - y)]
    between = gr.compose_between(
        ["0.5", "0.1"], (1, 4), (2, 4, 7), metrics=metrics, inputs=[lambda table: table, closest]
    )
    assert between.epsilon == 3 * Fraction(1, 2) + Fraction(1, 10)
    farthest = gr.compose_between(["0.5", "0.1"], (1,), (9,), metrics=metrics, inputs=[lambda table: table, closest])
    assert farthest.epsilon == 1 + Fraction(8, 10)


def test_example_iv_5_an_ambulance_of_three_hospitals():
    """3ε instead of kε, for any number of hospitals; under the bounded granularity twice as much (Example VI.8)."""
    hospitals = range(6)
    ambulances = [frozenset(chosen) for size in (1, 2, 3) for chosen in combinations(hospitals, size)]
    inputs = gr.Inputs([{a for a in ambulances if hospital in a} for hospital in hospitals])
    epsilon = Fraction(1, 5)
    unbounded = gr.compose([epsilon] * 6, granularity=gr.Unbounded(), inputs=inputs)
    stated = gr.compose([epsilon] * 6, granularity=gr.Unbounded(), setting="overlapping", reach=3)
    assert unbounded.epsilon == stated.epsilon == 3 * epsilon
    assert unbounded.theorem.startswith("Theorem IV.1 ")
    assert unbounded.sequential.epsilon == 6 * epsilon
    many = gr.compose(
        [(epsilon, "0.01")] * 9, granularity=gr.Bounded(), setting="overlapping", reach=3, notion="approximate"
    )
    assert (many.epsilon, many.delta) == (6 * epsilon, Fraction(6, 100))
    with pytest.raises(sp.NotAvailableError, match=r"Example II\.9"):
        gr.compose([1] * 9, granularity=gr.Bounded(), setting="overlapping", reach=3, domain="own")


def test_example_iv_9_the_noisy_count_of_a_district_depends_on_it_alone():
    """Definition IV.8 and Remark A.7: equal inputs, equal laws, and distance 0 for what does not count."""
    law = randomized(TABLES, "ab")
    for first, second in combinations(TABLES, 2):
        if read("ab", "record", first) == read("ab", "record", second):
            assert law.law(first) == law.law(second)
    found = gr.minimum_distance(
        ("a", "c"), ("a", "d"), metric=gr.Bounded(), reads=lambda table: read("ab", "record", table), universe=TABLES
    )
    assert found.value == 0


def randomized(tables, part):
    return gr.FiniteMechanism({table: truth(sum(record in part for record in table) % 2, 2) for table in tables})


def test_proposition_iv_10_the_minimum_distance_bounds_the_loss():
    """And is no metric: the triangle inequality fails."""
    tables = [table for table in TABLES if len(table) == 2]

    def reads(table):
        return table.count("a")

    law = gr.FiniteMechanism(
        {
            table: {0: Fraction(1, 2 ** (reads(table) + 1)), 1: 1 - Fraction(1, 2 ** (reads(table) + 1))}
            for table in tables
        }
    )
    assert law.least_epsilon(gr.Bounded()).ratio == 2
    for first, second in permutations(tables, 2):
        found = gr.minimum_distance(first, second, metric=gr.Bounded(), reads=reads, universe=tables)
        assert found.value <= gr.Bounded().distance(first, second)
        assert all(law.law(first)[a] <= 2 ** int(found.value) * law.law(second)[a] for a in (0, 1))

    line = gr.Relation(range(4), [(0, 1), (1, 2), (2, 3)])
    look = {0: "x", 1: "y", 2: "y", 3: "z"}.__getitem__

    def distance(first, second):
        return gr.minimum_distance(first, second, metric=line, reads=look, universe=range(4)).value

    assert (distance(0, 1), distance(1, 3), distance(0, 3)) == (1, 1, 3)


def test_proposition_a_12_the_smallest_delta_among_the_nearest():
    line = gr.Relation(range(4), [(0, 1), (0, 2), (1, 3), (2, 3)])
    cost = {(1, 3): Fraction(1, 10), (2, 3): Fraction(1, 20)}
    found = gr.minimum_distance(
        1,
        3,
        metric=line,
        reads=lambda x: x in (1, 2),
        universe=(1, 2, 3),
        delta=lambda x, y: cost.get((x, y), cost.get((y, x), 0)),
    )
    assert (found.value, found.delta, found.pair) == (1, Fraction(1, 20), (2, 3))


def test_example_iv_14_two_districts_lose_twice_one_district_once():
    epsilons = [Fraction(k, 10) for k in range(1, 8)]
    found = gr.compose(epsilons, granularity=gr.Bounded(), setting="element_partition")
    assert found.epsilon == Fraction(6, 10) + Fraction(7, 10)
    assert found.worst == (5, 6)
    assert found.sequential.epsilon == sum(epsilons)


def test_example_vi_25_split_distances_tell_less():
    """√Σ instead of max·d."""
    parts = gr.Inputs([{"a"}, {"b"}, {"c"}])
    first, second = ("a", "a", "b"), ("c", "c", "a", "b", "b")
    between = gr.compose_between([1, 1, 1], first, second, metrics=gr.Unbounded(), inputs=parts, notion="gaussian")
    assert Fraction(between.mu.lower) ** 2 <= 1 + 1 + 4 <= Fraction(between.mu.upper) ** 2
    assert between.mu.upper < gr.Unbounded().distance(first, second) == 4
    together = gr.compose_between(
        [1, 1, 1], ("a",), ("a",) * 5, metrics=gr.Unbounded(), inputs=parts, notion="gaussian"
    )
    assert together.mu == 4


def test_between_two_databases_for_budgets_on_whole_databases():
    """Theorem IV.11: at most the sum over the inputs that differ, and what mechanisms attain."""
    tables = [table for table in TABLES if len(table) == 3]
    parts, odds = ["a", "b", "cd"], [2, 4, 8]
    laws = [
        {table: truth(sum(record in part for record in table) % 2, odd) for table in tables}
        for part, odd in zip(parts, odds, strict=True)
    ]
    functions = [lambda table, part=part: read(part, "record", table) for part in parts]
    attained = 0
    for first, second in permutations(tables, 2):
        asked = {"metrics": gr.Bounded(), "inputs": functions, "universe": tables}
        between = gr.compose_between([1, 2, 3], first, second, **asked)
        ratio = whole_ratio(laws, [(first, second)])
        assert ratio <= 2 ** int(between.epsilon)
        attained += ratio == 2 ** int(between.epsilon)
        differing = sum(k for k, f in zip((1, 2, 3), functions, strict=True) if f(first) != f(second))
        assert between.epsilon <= differing * gr.Bounded().distance(first, second)
        gaussian = gr.compose_between([1, 2, 3], first, second, notion="gaussian", **asked)
        square = sum((k * d) ** 2 for k, d in zip((1, 2, 3), gaussian.distances, strict=True))
        mu = gaussian.mu if isinstance(gaussian.mu, Fraction) else Fraction(gaussian.mu.upper)
        assert square <= mu**2
    assert attained > 20
    assert between.theorem == "Theorem IV.11 (adaptively Theorem V.5)"
    assert gaussian.theorem == "Theorem VI.22"
    assert "of distances" in repr(between)


def test_between_two_databases_in_every_notion():
    """Theorems IV.1, VI.4, VI.13 and VI.21, by hand: distances 1 and 2."""
    parts = gr.Inputs([{"a"}, {"b"}])
    asked = {"metrics": gr.Unbounded(), "inputs": parts}
    pure = gr.compose_between([1, 2], ["a", "b", "b"], [], **asked)
    zcdp = gr.compose_between([1, 2], ["a", "b", "b"], [], notion="zcdp", **asked)
    approximate = gr.compose_between([(0, "0.1"), (0, "0.2")], ["a", "b", "b"], [], notion="approximate", **asked)
    assert (pure.epsilon, zcdp.rho, approximate.delta) == (5, 9, Fraction(1, 2))
    lost = gr.compose_between([1, 0], ["a"], ["b"], metrics=gr.Bounded(), inputs=parts)
    assert lost.epsilon == math.inf
    free = gr.compose_between([0, 0], ["a"], ["b"], metrics=gr.Bounded(), inputs=parts)
    assert free.epsilon == 0


def test_post_processing_loses_nothing_and_components_inherit():
    """Theorems VII.1, VII.2, VII.3."""
    draw = random.Random(2)  # noqa: S311  (not for secrets)
    line = gr.Relation(range(3), [(0, 1), (1, 2)])

    def drawn(answers):
        laws = {}
        for x in range(3):
            weights = [draw.randrange(1, 9) for _ in answers]
            laws[x] = {a: Fraction(w, sum(weights)) for a, w in zip(answers, weights, strict=True)}
        return gr.FiniteMechanism(laws)

    for _ in range(30):
        first, choices = drawn(range(3)), [drawn("xy") for _ in range(3)]
        whole = gr.FiniteMechanism.adaptive([lambda _, first=first: first, lambda a, c=choices: c[a[0]]])
        loss = whole.least_epsilon(line).ratio
        assert whole.processed(lambda answer: answer[0] == 1).least_epsilon(line).ratio <= loss
        for index in (0, 1):
            assert whole.component(index).least_epsilon(line).ratio <= loss
        for exp_epsilon in (1, Fraction(3, 2), 2):
            delta = whole.least_delta(line, exp_epsilon=exp_epsilon)
            assert whole.component(0).least_delta(line, exp_epsilon=exp_epsilon) <= delta
    both = gr.compose([1, 2], granularity=gr.Bounded(), setting="element_partition")
    assert "Theorem VII.2" in both.of_each_component()


def test_a_mechanism_is_private_for_its_granularity_exactly_if_it_is_for_its_metric():
    """Theorem III.3: neighbours decide, for every pair of databases."""
    draw = random.Random(4)  # noqa: S311  (not for secrets)
    path = gr.Relation(range(5), [(i, i + 1) for i in range(4)])
    for _ in range(30):
        laws = {}
        for x in range(5):
            weights = [draw.randrange(1, 7) for _ in range(3)]
            laws[x] = {a: Fraction(w, sum(weights)) for a, w in enumerate(weights)}
        mechanism = gr.FiniteMechanism(laws)
        by_neighbours = mechanism.least_epsilon(path)
        by_pairs = mechanism.least_epsilon(path.distance)
        assert by_neighbours.epsilon.upper == by_pairs.epsilon.upper
        assert mechanism.is_private(path, by_neighbours.epsilon.upper)
        assert not mechanism.is_private(path.distance, by_neighbours.epsilon.lower - 1e-12)


def test_privacy_is_decided_where_doubles_cannot_tell():
    """3 against e^ε for ε the double below ln 3 and the one above."""
    mechanism = gr.FiniteMechanism({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    near = math.log(3)
    around = [math.nextafter(near, 0), near, math.nextafter(near, 2)]
    told = [mechanism.is_private(gr.FreeLunch(), epsilon) for epsilon in around]
    exact = mechanism.least_epsilon(gr.FreeLunch()).epsilon
    assert told == [epsilon >= exact.upper for epsilon in around]
    assert mechanism.violation(gr.FreeLunch(), "1.0986").ratio == 3


def test_a_persons_rows_in_statistical_privacy():
    """The curve for persons contains the enumeration, and group privacy with the curve of one row is false."""
    n, rows, p = 5, 2, Fraction(2, 5)
    curve = gr.person_curve(sp.PropertyQuery(p), sp.Population(n), rows=rows)
    entries = [sp.reference.coin(p)] * n

    def of_person(value, own):
        fixed = [{value_: 1} for value_ in value]
        return sp.reference.answer_law(sp.reference.Database([*fixed, *entries[own:]]), 0, value[0], sum)

    for own in (1, 2):
        values = list(product((0, 1), repeat=own))
        for epsilon in (0, Fraction(1, 2), 2):
            worst = max(
                sp.hockey_stick(of_person(one, own), of_person(other, own), epsilon).lower
                for one, other in permutations(values, 2)
            )
            found = curve.delta(epsilon)
            if own == rows:
                assert found.lower <= worst + 1e-15
            assert worst <= found.upper + 1e-15
    assert curve.kind_at(2) == "exact"
    assert curve.printed_group_privacy(2).upper < 0.4820
    assert curve.delta(2).lower > 0.6479
    assert curve.epsilon("0.7").upper < 2


def test_persons_in_a_composition_over_a_partition_have_a_bound():
    queries = [sp.PropertyQuery("1/2"), sp.PropertyQuery("1/2")]
    partition = sp.RandomPartition([500, 500])
    curve = gr.person_curve(queries, sp.Population(1000), partition, rows=2)
    one = gr.person_curve(queries, sp.Population(1000), partition, rows=1)
    assert curve.kind_at("0.3") == "bound"
    assert one.delta("0.3").upper < curve.delta("0.3").upper < 1
    assert "(bound for independent rows)" in curve.explain("0.3")


def test_a_curve_for_persons_is_exact_for_independent_rows_only():
    """Two persons of two rows each: where the rows of the other differ, their count is 1, and the person's is seen."""
    curve = gr.person_curve(sp.PropertyQuery("1/2"), sp.Population(4), rows=2)
    assert "also the rows of one person" in curve.explain(0)
    assert curve.assumptions == ("all rows are independent of each other, also the rows of one person",)
    assert curve.kind_at("1/2") == "exact"
    assert curve.delta("1/2").upper < sp.hockey_stick({3: 1}, {1: 1}, "1/2").lower == 1


def of_person_in_halves(n, values, p, properties):
    """The laws of the counts of both halves of a secret partition, by enumeration: rows of a person have these values.

    A row is a pair of bits, one for each property; half i counts property `properties[i]`.
    """
    rows = [((x, y), (p if x else 1 - p) * (p if y else 1 - p)) for x, y in product((0, 1), repeat=2)]
    halves = list(combinations(range(n), n // 2))
    law = {}
    for half in halves:
        for others in product(rows, repeat=n - len(values)):
            table = [*values, *(row for row, _ in others)]
            counts = tuple(
                sum(table[i][properties[side]] for i in range(n) if (i in half) == (side == 0)) for side in (0, 1)
            )
            law[counts] = law.get(counts, 0) + math.prod(mass for _, mass in others) / Fraction(len(halves))
    return law


@pytest.mark.parametrize("properties", [(0, 0), (0, 1)], ids=["one property", "two properties"])
def test_a_person_of_two_rows_in_a_secret_partition_stays_below_the_bound(properties):
    """Of one named property exactly, and of two or of unnamed ones at most."""
    n, p = 4, Fraction(2, 5)
    values = list(product(product((0, 1), repeat=2), repeat=2))
    laws = [of_person_in_halves(n, value, p, properties) for value in values]
    partition, population = sp.RandomPartition([2, 2]), sp.Population(n)
    bound = gr.person_curve([sp.PropertyQuery(p)] * 2, population, partition, rows=2)
    names = [f"property {i}" for i in properties]
    named = gr.person_curve([sp.PropertyQuery(p, attribute=a) for a in names], population, partition, rows=2)
    for epsilon in (Fraction(1, 5), 1, Fraction(5, 2)):
        worst = max(sp.hockey_stick(one, other, epsilon).lower for one, other in permutations(laws, 2))
        assert worst <= bound.delta(epsilon).upper + 1e-15
        found = named.delta(epsilon)
        assert worst <= found.upper + 1e-15
        if properties == (0, 0):
            assert named.kind_at(epsilon) == "exact"
            assert found.lower <= worst + 1e-15


def test_the_bound_for_persons_does_not_grow_with_epsilon():
    """A longer chain of steps may say less than one at a smaller ε: the smaller one counts."""
    queries, partition = [sp.PropertyQuery("0.4")] * 2, sp.RandomPartition([10, 10])
    curve = gr.person_curve(queries, sp.Population(20), partition, rows=2)
    bounds = [curve.delta(epsilon).upper for epsilon in (5, 10, 20, 10**400)]
    assert bounds[0] < 0.003
    assert all(bound <= bounds[0] for bound in bounds)


def test_graphs_of_networkx_are_restricted_as_they_are_read():
    graph = nx.path_graph(4)
    by_node = gr.Inputs([{0, 1}, {2, 3}], by="node", universe=graph)
    by_edge = gr.Inputs([{(1, 0)}, {(1, 2), (3, 2)}], by="edge", universe=graph)
    assert set(by_node.restricted(0, graph).edges) == {(0, 1)}
    assert set(by_edge.restricted(1, graph).nodes) == {1, 2, 3}
    without = nx.restricted_view(graph, [], [(1, 2)])
    between = gr.compose_between([1, 2], graph, without, metrics=gr.Edge(), inputs=by_node)
    assert between.epsilon == 0
