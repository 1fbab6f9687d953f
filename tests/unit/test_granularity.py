"""`sp.granularity`: the promised names, explanations, and helpful refusals."""

import math
import pickle
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import networkx as nx
import pytest

import statpriv as sp
from statpriv import granularity as gr

ALL = [gr.Unbounded(), gr.Bounded(), gr.FreeLunch(), gr.Ordered(), gr.Edge(), gr.Node()]
BUDGETS = {
    "pure": [1, 2, 3],
    "approximate": [(1, "0.01"), (2, "0.02"), (3, "0.03")],
    "zcdp": [1, 2, 3],
    "gaussian": [1, 2, 3],
}


def value(composition):
    """The first coordinate of a guarantee; μ is compared by its exact square."""
    if composition.notion != "gaussian":
        return composition.rho if composition.notion == "zcdp" else composition.epsilon
    if isinstance(composition.mu, Fraction):
        return composition.mu**2
    return round(composition.mu.upper**2)


@pytest.mark.parametrize("notion", BUDGETS)
@pytest.mark.parametrize(
    ("granularity", "setting", "chosen"),
    [
        *((granularity, "sequential", (1, 2, 3)) for granularity in ALL),
        (gr.Unbounded(), "disjoint", (3,)),
        (gr.Ordered(), "disjoint", (3,)),
        (gr.Edge(), "disjoint", (3,)),
        (gr.Unbounded(), "element_partition", (3,)),
        (gr.Edge(), "element_partition", (3,)),
        (gr.Node(), "element_partition", (3,)),
        (gr.Bounded(), "element_partition", (2, 3)),
        (gr.Ordered(), "element_partition", (2, 3)),
        (gr.FreeLunch(), "element_partition", (1, 2, 3)),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_promised_settings_and_notions(granularity, setting, chosen, notion):
    found = gr.compose(BUDGETS[notion], granularity=granularity, setting=setting, notion=notion)
    power = 2 if notion == "gaussian" else 1
    assert value(found) == sum(budget**power for budget in chosen)
    assert found.theorem.startswith(("Theorem", "Corollary"))
    assert isinstance(found.delta, Fraction) == (notion in ("pure", "approximate"))
    assert found.parallel_holds == (len(chosen) == 1)
    told = found.explain()
    for words in (found.theorem, "sequential rule", "parallel rule", "because"):
        assert words in told
    assert repr(found).startswith(f"<Composition, {notion}: ")
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301  (our own)


@pytest.mark.parametrize("notion", BUDGETS)
@pytest.mark.parametrize("granularity", [gr.Bounded(), gr.FreeLunch()], ids=lambda value: value.name)
def test_disjoint_parts_that_are_not_compatible_are_refused(granularity, notion):
    with pytest.raises(sp.NotAvailableError, match=r"not compatible.*Example II\.9.*element partition"):
        gr.compose(BUDGETS[notion], granularity=granularity, setting="disjoint", notion=notion)


def test_disjoint_parts_of_graphs_have_to_be_declared_for_nodes():
    with pytest.raises(sp.NotAvailableError, match="declare them as inputs="):
        gr.compose([1, 2], granularity=gr.Node(), setting="disjoint")
    nodes, edges = gr.Inputs([{0, 1}, {2}], by="node"), gr.Inputs([{(0, 1)}, {(1, 2)}], by="edge")
    assert gr.compose([1, 2], granularity=gr.Node(), setting="disjoint", inputs=nodes).epsilon == 2
    with pytest.raises(sp.NotAvailableError, match="not compatible with the node granularity"):
        gr.compose([1, 2], granularity=gr.Node(), setting="disjoint", inputs=edges)
    assert gr.compose([1, 2], granularity=gr.Node(), inputs=edges).epsilon == 3


@pytest.mark.parametrize(
    ("adaptive", "domain", "theorem"),
    [
        (None, None, "Theorem IV.6 (adaptively Theorem V.4)"),
        (False, "own", "Theorem IV.6"),
        (True, "own", "Theorem V.4"),
        (False, "common", "Theorem IV.12"),
        (True, "common", "Theorem V.6"),
    ],
)
def test_the_theorem_is_named_for_the_domain_and_the_order(adaptive, domain, theorem):
    found = gr.compose([1, 2], granularity=gr.Unbounded(), setting="disjoint", adaptive=adaptive, domain=domain)
    assert found.theorem == theorem


@pytest.mark.parametrize("number", [0.5, Fraction(1, 2), Decimal("0.5"), "0.5", "1/2"])
def test_budgets_are_read_exactly(number):
    assert gr.compose([number, number], granularity=gr.Bounded(), setting="sequential").epsilon == 1


def test_a_float_is_the_rational_it_stores():
    assert gr.compose([0.1, 0.1], granularity=gr.Bounded(), setting="sequential").epsilon == 2 * Fraction(0.1)


def test_mechanisms_stand_for_their_budgets():
    laplace = sp.differential.LaplaceMechanism(scale=4, k=2)
    gaussian = sp.differential.GaussianMechanism(sigma=4, k=4)

    def together(mechanisms, notion):
        return gr.compose(mechanisms, granularity=gr.Bounded(), setting="element_partition", notion=notion)

    assert together([laplace, "0.25", 0], "pure").epsilon == Fraction(3, 4)
    assert together([laplace, (1, "0.1")], "approximate").epsilon == Fraction(3, 2)
    assert together([gaussian], "gaussian").mu == Fraction(1, 2)
    assert together([gaussian, laplace], "zcdp").rho == Fraction(1, 8) + Fraction(1, 16)
    assert Fraction(1, 8) == Fraction(gaussian.zcdp.upper)
    with pytest.raises(sp.ArgumentError, match=r"budgets\[0\] = GaussianMechanism.* 'gaussian' or 'zcdp' only"):
        together([gaussian], "pure")


def test_figures_are_shown_in_a_length_that_people_read():
    """Budgets given as doubles are not decimals: displayed values are rounded upwards, stored values are exact."""
    found = gr.compose([0.5, 0.3, 0.1], granularity=gr.Unbounded(), setting="sequential")
    assert found.epsilon == Fraction(0.5) + Fraction(0.3) + Fraction(0.1)
    assert str(found.figures) == "ε = 0.900001"
    exact = gr.compose(["0.5", "0.3", "0.1", "1/7"], granularity=gr.Unbounded(), setting="sequential")
    assert str(exact.figures) == "ε = 73/70"


def test_irrational_mu_is_a_tight_enclosure():
    for budgets in ([1, 1], ["1e-30", "1e-30"], [10**12, 1]):
        mu = gr.compose(budgets, granularity=gr.Unbounded(), setting="sequential", notion="gaussian").mu
        square = sum(Fraction(b) ** 2 for b in budgets)
        assert Fraction(mu.lower) ** 2 < square < Fraction(mu.upper) ** 2
        assert mu.width <= 2 * math.ulp(mu.upper)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"granularity": "bounded"}, r"granularity = 'bounded'; one of Unbounded\(\)"),
        ({"granularity": gr.Bounded}, r"one of Unbounded\(\), Bounded\(\)"),
        ({"setting": "parallel"}, "setting = 'parallel'; one of 'sequential', 'disjoint'"),
        ({"setting": None}, "setting is not given; .* or inputs="),
        ({"notion": "rdp"}, "notion = 'rdp'; one of 'pure', 'approximate', 'zcdp', 'gaussian'"),
        ({"budgets": []}, "budgets is empty"),
        ({"budgets": "12"}, "a sequence with the budget of each query is required"),
        ({"budgets": 1}, "a sequence with the budget of each query is required"),
        ({"budgets": [1, -1]}, r"budgets\[1\] = -1; a number of at least 0"),
        ({"budgets": [1, 2], "notion": "approximate"}, r"budgets\[0\] = 1; a pair"),
        ({"budgets": [(1, 2)], "notion": "approximate"}, r"budgets\[0\]\[1\] = 2; a probability"),
        ({"setting": "overlapping"}, '"overlapping" needs it'),
        ({"reach": 2}, '"overlapping" needs it, and nothing else does'),
        ({"setting": "overlapping", "reach": 0}, "reach = 0"),
        ({"inputs": gr.Inputs([{"a"}, {"b"}])}, "leave the setting out"),
        ({"domain": "mine"}, "domain = 'mine'; 'own' or 'common'"),
        ({"setting": None, "inputs": gr.Inputs([{"a"}])}, "with 2 budgets; one input for each"),
        ({"setting": None, "inputs": 3}, "inputs = 3; one input for each of the 2 budgets"),
        ({"setting": None, "inputs": gr.Inputs([{0}, {1}], by="index")}, 'by="index" do not fit bounded'),
        ({"setting": "element_partition", "inputs": gr.Inputs([{"a"}, {"a"}])}, "'a' is read by several queries"),
    ],
)
def test_what_compose_refuses(arguments, message):
    given = {"budgets": [1, 2], "granularity": gr.Bounded(), "setting": "sequential"} | arguments
    with pytest.raises(sp.ArgumentError, match=message):
        gr.compose(given.pop("budgets"), **given)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gr.Inputs([]), "a sequence with one collection for each query"),
        (lambda: gr.Inputs(["ab"]), r"parts\[0\] = 'ab'; a collection"),
        (lambda: gr.Inputs([{1}], by="row"), "by = 'row'; one of 'record', 'index', 'node', 'edge'"),
        (lambda: gr.Inputs([[[1]]]), r"parts\[0\]: .*hashable"),
        (lambda: gr.Inputs([{-1}], by="index"), "counted from 0"),
        (lambda: gr.Inputs([{1}], by="edge"), "edge 1; a pair of nodes"),
        (lambda: gr.Inputs([{"a"}], universe=["a", "b"]), "leave out 'b'; add it to a part, or say exhaustive=False"),
        (lambda: gr.Inputs([{"a", "z"}], universe=["a"]), "hold 'z', which is not in the universe"),
        (lambda: gr.Inputs([{0}], by="node", universe=nx.path_graph(2)), "leave out 1"),
        (lambda: gr.Relation([], []), "universe is empty"),
        (lambda: gr.Relation([1, 1], []), "1 of them different"),
        (lambda: gr.Relation([[1]], []), "take tuples"),
        (lambda: gr.Relation([1, 2], [(1, 3)]), r"neighbours has \(1, 3\)"),
        (lambda: gr.Relation([1, 2], 3), "a function of two databases, or pairs"),
        (lambda: gr.Relation([1, 2], lambda x, y: x < y), "a symmetric relation is required"),
        (lambda: gr.Relation([1, 2], []).distance(1, 3), "database 3 is not in the universe"),
        (lambda: gr.Relation([1, 2], []).compatible([{1}]), "a sequence of functions of the database"),
        (lambda: gr.Unbounded().distance("ab", []), "a list of records"),
        (lambda: gr.Unbounded().distance([[1]], []), "records have to be hashable"),
        (lambda: gr.Unbounded().distance({"a": -1}, []), "an integer of at least 0"),
        (lambda: gr.Ordered().distance({1}, {2}), "a list, tuple or string"),
        (lambda: gr.Ordered().compatible([{0}, {1}]), 'by="index"'),
        (lambda: gr.Edge().distance([1], nx.path_graph(2)), "a networkx graph without parallel edges"),
        (lambda: gr.Node().distance(nx.MultiGraph(), nx.path_graph(2)), "without parallel edges"),
        (lambda: gr.Node().distance(nx.DiGraph(), nx.path_graph(2)), "take graphs of one kind"),
        (lambda: gr.FiniteMechanism({}), "a dict with the law of each database"),
        (lambda: gr.FiniteMechanism({0: {0: "1/2"}}), "sums to 1/2; exactly 1"),
        (lambda: gr.FiniteMechanism({0: [1]}), "the law of 0 is"),
        (lambda: gr.FiniteMechanism({0: {0: 1}}).law(1), "database 1 has no law"),
        (lambda: gr.FiniteMechanism({0: {0: 1}}).is_private(gr.FreeLunch(), -1), "epsilon = -1"),
        (lambda: gr.preprocess(1, -1), "sensitivity = -1"),
        (lambda: gr.change_granularity(1, source=gr.Edge(), target=gr.Node(), factor=-1), "factor = -1"),
        (lambda: gr.check_partition([len], gr.Unbounded()), "universe is not given"),
        (lambda: gr.compose_between([1], [], [], metrics=[]), "metrics of 0 mechanisms, and 1 budgets"),
        (lambda: gr.compose_between([1], 0, 1, metrics=lambda x, y: -1), "distance = -1"),
        (lambda: gr.minimum_distance(0, 1, metric=gr.FreeLunch(), reads=abs, universe=[]), "universe is empty"),
        (lambda: gr.person_curve(sp.PropertyQuery("1/2"), sp.Population(3), rows=4), "rows = 4; nobody knows 3 rows"),
        (lambda: gr.person_curve(sp.PropertyQuery("1/2"), sp.Population(3), rows=2).epsilon(0), "delta = 0"),
        (lambda: gr.person_curve(sp.PropertyQuery("1/2"), sp.Population(3), rows=2).delta(-1), "epsilon = -1"),
    ],
)
def test_what_is_refused_elsewhere(make, message):
    with pytest.raises(sp.ArgumentError, match=message):
        make()


def test_distances_take_lists_and_multiplicities():
    assert gr.Unbounded().distance({"a": 3}, ["a"]) == 2
    assert gr.Bounded().distance({"a": 2, "b": 1}, ["a", "b", "b"]) == 1
    assert gr.Bounded().distance([], ["a"]) == math.inf
    assert gr.FreeLunch().distance(nx, math) == 1


def test_a_relation_says_which_parts_are_compatible_and_pickles():
    grid = [(x, y) for x in range(3) for y in range(3)]
    steps = gr.Relation(grid, lambda p, q: abs(p[0] - q[0]) + abs(p[1] - q[1]) == 1)
    moves = gr.Relation(grid, lambda p, q: max(abs(p[0] - q[0]), abs(p[1] - q[1])) == 1)
    coordinates = [lambda p: p[0], lambda p: p[1]]
    assert steps.compatible(coordinates)
    assert not moves.compatible(coordinates)
    assert gr.compose([1, 2], granularity=steps, setting="disjoint", inputs=coordinates).epsilon == 2
    assert gr.compose([1, 2], granularity=moves, inputs=coordinates).epsilon == 3
    found = gr.check_partition(coordinates, moves)
    assert (found.compatible, found.commuting, found.most_changed) == (False, None, 2)
    assert "2 can add up" in found.explain()
    assert "yes, for budgets on whole databases" in gr.check_partition(coordinates, steps).explain()
    assert pickle.loads(pickle.dumps(steps)) == steps  # noqa: S301  (our own)
    assert "12 pairs of neighbours" in repr(steps)
    with pytest.raises(sp.NotAvailableError, match="declare"):
        gr.compose([1, 2], granularity=steps, setting="element_partition")
    with pytest.raises(sp.NotAvailableError, match="declare the inputs="):
        gr.compose([1, 2], granularity=steps, setting="overlapping", reach=1)


def test_a_relation_with_parts_apart_is_warned_of():
    apart = gr.Relation(range(4), [(0, 1), (2, 3)])
    with pytest.warns(gr.NoPathWarning, match="from 0 to 2"):
        gr.compose([1], granularity=apart, setting="disjoint", inputs=[lambda x: x])


def test_guarantees_convert_to_other_epsilons():
    pure = gr.compose([1, 1], granularity=gr.Bounded(), setting="sequential")
    approximate = gr.compose([(1, "0.01")], granularity=gr.Bounded(), setting="sequential", notion="approximate")
    zcdp = gr.compose(["0.01"], granularity=gr.Bounded(), setting="sequential", notion="zcdp")
    nothing = gr.compose([0], granularity=gr.Bounded(), setting="sequential", notion="gaussian")
    # Randomized response at e² has δ(ε) = (e² − e^ε)/(1 + e²).
    expected = (math.e**2 - math.e) / (1 + math.e**2)
    assert abs(pure.delta_at(1).midpoint - expected) < 1e-15
    assert pure.delta_at(2).upper == 0
    assert approximate.delta_at(1).lower <= 0.01 <= approximate.delta_at(1).upper
    assert zcdp.delta_at("0.5").upper < 0.01
    assert nothing.delta_at("0.1").upper == 0


def test_a_graph_of_ten_thousand_nodes():
    graph = nx.gnm_random_graph(10_000, 30_000, seed=3)
    edges = list(graph.edges)
    by_edge = gr.Inputs([edges[i::5] for i in range(5)], by="edge", universe=graph)
    by_node = gr.Inputs([range(i, 10_000, 5) for i in range(5)], by="node", universe=graph)
    assert gr.Edge().compatible(by_edge)
    assert not gr.Node().compatible(by_edge)
    assert gr.Node().compatible(by_node)
    without = graph.copy()
    without.remove_nodes_from([7, 8])
    without.remove_edge(*next(edge for edge in edges if not {7, 8} & set(edge)))
    assert gr.Node().distance(graph, without) == 4


def test_only_graphs_need_networkx():
    """Neither composing nor tables load it, and what needs it says so."""
    program = (
        "import sys\nsys.modules['networkx'] = None\nimport statpriv as sp\n"
        "gr = sp.granularity\n"
        "print(gr.compose([1, 2], granularity=gr.Node(), setting='element_partition').epsilon)\n"
        "try:\n    gr.Edge().distance(1, 2)\n"
        "except sp.MissingExtraError as missing:\n    print(missing)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "2\ndistances of graphs need networkx: pip install 'statpriv[graph]'\n"
