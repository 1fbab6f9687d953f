"""Distances of granularities against shortest paths over all databases, and what follows from them."""

import math
import random
import warnings
from collections import Counter
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product

import networkx as nx
import pytest

import statpriv as sp
from statpriv import granularity as gr

TABLES = [table for size in range(5) for table in combinations_with_replacement("abc", size)]
SEQUENCES = list(product("abc", repeat=3))


def graphs(nodes):
    """Every graph on these nodes."""
    pairs = list(combinations(nodes, 2))
    for chosen in product((False, True), repeat=len(pairs)):
        graph = nx.Graph()
        graph.add_nodes_from(nodes)
        graph.add_edges_from(pair for pair, there in zip(pairs, chosen, strict=True) if there)
        yield graph


def key(graph):
    return frozenset(graph.nodes), frozenset(map(frozenset, graph.edges))


def one_more(first, second):
    """Whether one multiset is the other with one record added, by adding each."""
    low, high = sorted((first, second), key=len)
    return any(Counter(low) + Counter([record]) == Counter(high) for record in "abc")


def one_replaced(first, second):
    """Whether one multiset is the other with one record replaced, by replacing each."""
    return first != second and any(
        sorted([*first[:i], record, *first[i + 1 :]]) == list(second) for i in range(len(first)) for record in "abc"
    )


@pytest.mark.parametrize(
    ("granularity", "databases", "step"),
    [
        (gr.Unbounded(), TABLES, one_more),
        (gr.Bounded(), TABLES, one_replaced),
        (gr.FreeLunch(), TABLES, lambda first, second: first != second),
        (gr.Ordered(), SEQUENCES, lambda first, second: sum(map(str.__ne__, first, second)) == 1),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_distance_is_the_least_number_of_steps(granularity, databases, step):
    """Definitions II.3, II.4, III.1 and Proposition A.1."""
    steps = gr.Relation(databases, step)
    for first, second in product(databases, repeat=2):
        assert granularity.distance(first, second) == steps.distance(first, second)
        assert granularity.neighbours(first, second) == steps.neighbours(first, second)


def test_the_canonical_metric_is_a_metric():
    """Proposition A.1, on a relation drawn at random."""
    draw = random.Random(5)  # noqa: S311  (not for secrets)
    databases = range(12)
    pairs = [pair for pair in combinations(databases, 2) if draw.random() < 0.15]
    relation = gr.Relation(databases, pairs)
    for first, second, third in product(databases, repeat=3):
        assert relation.distance(first, second) == relation.distance(second, first)
        assert (relation.distance(first, second) == 0) == (first == second)
        assert relation.distance(first, third) <= relation.distance(first, second) + relation.distance(second, third)


def test_node_distance_is_the_least_number_of_nodes_removed_and_added():
    """All graphs on subsets of four nodes."""
    everything = {
        key(graph): graph for size in range(5) for nodes in combinations(range(4), size) for graph in graphs(nodes)
    }
    links = [(name, key(nx.restricted_view(graph, [node], []))) for name, graph in everything.items() for node in graph]
    steps = gr.Relation(everything, links)
    node = gr.Node()
    for first, second in combinations(everything, 2):
        assert node.distance(everything[first], everything[second]) == steps.distance(first, second)
        assert node.neighbours(everything[first], everything[second]) == steps.neighbours(first, second)


def test_edge_distance_is_the_least_number_of_edges_removed_and_added():
    everything = {key(graph): graph for graph in graphs(range(4))}
    one_apart = [pair for pair in combinations(everything, 2) if len(pair[0][1] ^ pair[1][1]) == 1]
    steps = gr.Relation(everything, one_apart)
    for first, second in combinations(everything, 2):
        assert gr.Edge().distance(everything[first], everything[second]) == steps.distance(first, second)
    assert gr.Edge().distance(nx.empty_graph(3), nx.empty_graph(4)) == math.inf


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_node_distance_is_a_least_vertex_cover_of_the_difference(seed, directed):
    """With loops and directions, against all sets of nodes."""
    draw = random.Random(seed)  # noqa: S311  (not for secrets)
    kind = nx.DiGraph if directed else nx.Graph

    def drawn():
        graph = kind()
        graph.add_nodes_from(range(7))
        graph.add_edges_from(pair for pair in product(range(7), repeat=2) if draw.random() < 0.15)
        return graph

    first, second = drawn(), drawn()
    arcs = [edge for edge in product(range(7), repeat=2) if first.has_edge(*edge) != second.has_edge(*edge)]
    least = next(
        size
        for size in range(8)
        for cover in combinations(range(7), size)
        if all(one in cover or other in cover for one, other in arcs)
    )
    assert gr.Node().distance(first, second) == 2 * least
    once = {frozenset(arc) for arc in arcs} if not directed else arcs
    assert gr.Edge().distance(first, second) == len(once)


def test_a_cover_that_needs_branching():
    """The Petersen graph has a least cover of six nodes, disjoint cycles of 5 and 6 nodes one of three each."""
    for graph, least in ((nx.petersen_graph(), 6), (nx.disjoint_union(nx.cycle_graph(5), nx.cycle_graph(6)), 6)):
        assert gr.Node().distance(graph, nx.empty_graph(graph.number_of_nodes())) == 2 * least


def test_too_large_a_difference_is_refused_between_bounds():
    graph = nx.gnm_random_graph(400, 4000, seed=1)
    with pytest.raises(sp.NotAvailableError, match=r"4000 pairs of nodes.* has \d+ to \d+ nodes"):
        gr.Node().distance(graph, nx.empty_graph(400))


def test_the_metric_of_a_class_is_not_the_restricted_metric():
    """Remark A.2: without () and (a, b) the way from (a) to (b) is longer."""
    tables = [("a",), ("a", "c"), ("a", "b", "c"), ("b", "c"), ("b",)]
    within = gr.restricted(gr.Unbounded(), tables)
    assert gr.Unbounded().distance(("a",), ("b",)) == 2
    assert within.distance(("a",), ("b",)) == 4


def test_a_class_without_paths_makes_the_identity_private_and_is_warned_of():
    """Example III.4: tables of one size have no unbounded neighbours."""
    tables = list(combinations_with_replacement("ab", 2))
    identity = gr.FiniteMechanism({table: {table: 1} for table in tables})
    with pytest.warns(gr.NoPathWarning, match="no neighbouring steps lead from"):
        alone = gr.restricted(gr.Unbounded(), tables)
    assert len(alone.components) == 3
    with pytest.warns(gr.NoPathWarning, match="Example III.4"):
        assert identity.is_private(alone, 0)
    # The bounded granularity links tables of one size, and then the identity is anything but private.
    assert identity.least_epsilon(gr.Bounded()).epsilon.lower == math.inf


def test_the_bounded_granularity_links_tables_of_one_size_and_no_others():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(gr.restricted(gr.Bounded(), [table for table in TABLES if len(table) == 2]).components) == 1
    with pytest.warns(gr.NoPathWarning):
        assert len(gr.restricted(gr.Bounded(), TABLES).components) == 5


@pytest.mark.parametrize(
    ("source", "target", "factor"),
    [
        (gr.Unbounded(), gr.Bounded(), 2),
        (gr.FreeLunch(), gr.Unbounded(), 1),
        (gr.FreeLunch(), gr.Bounded(), 1),
        (gr.Unbounded(), gr.Unbounded(), 1),
    ],
)
def test_factors_between_granularities_are_right_and_least(source, target, factor):
    """Proposition A.3 and section III-A: the known factor is the one found on all tables, and d ≤ c·d'."""
    known = gr.change_granularity("1/3", source=source, target=target)
    tried = gr.change_granularity("1/3", source=source, target=target, universe=TABLES)
    assert known.factor == tried.factor == factor
    assert known.figures == tried.figures == gr.preprocess("1/3", factor)
    for first, second in combinations(TABLES, 2):
        assert source.distance(first, second) <= factor * target.distance(first, second)


def test_a_factor_is_attained_by_a_mechanism():
    """A two-sided geometric count of records "a" is ln 2-private unbounded, and for bounded neighbours that differ in
    the number of "a" and of "b" two counts lose 2 ln 2."""
    tables = [table for table in TABLES if len(table) <= 3]
    one = {record: randomized_count(tables, record) for record in "ab"}
    both = gr.FiniteMechanism.independent([one["a"], one["b"]])
    assert both.least_epsilon(gr.Unbounded()).ratio == 2
    with pytest.warns(gr.NoPathWarning):
        assert both.least_epsilon(gr.Bounded()).ratio == 4


def randomized_count(tables, record):
    """Whether a number of records is odd, with the truth twice as likely: ε = ln 2 for a step."""
    return gr.FiniteMechanism(
        {table: {table.count(record) % 2: "2/3", 1 - table.count(record) % 2: "1/3"} for table in tables}
    )


def test_an_edge_neighbour_is_two_node_steps_away():
    first, second = nx.path_graph(5), nx.cycle_graph(5)
    assert gr.Edge().distance(first, second) == 1
    assert gr.Node().distance(first, second) == 2
    assert gr.change_granularity(1, source=gr.Node(), target=gr.Edge()).factor == 2


def test_no_guarantee_comes_from_a_granularity_that_does_not_link_the_neighbours():
    with pytest.raises(sp.NotAvailableError, match="no bounded steps lead"), pytest.warns(gr.NoPathWarning):
        gr.change_granularity(1, source=gr.Bounded(), target=gr.Unbounded(), universe=TABLES)
    with pytest.raises(sp.NotAvailableError, match="no factor holds for all databases"):
        gr.change_granularity(1, source=gr.Bounded(), target=gr.Unbounded())


def test_sensitivity_by_the_definition():
    """Definition III.5 on all pairs, for a relation too, where the neighbours are enough."""
    within = gr.restricted(gr.Unbounded(), TABLES)

    def difference(one, other):
        return abs(one - other)

    for function in (len, lambda table: table.count("a") ** 2, lambda table: 5 * ("a" in table)):
        truth = max(
            Fraction(difference(function(first), function(second)), gr.Unbounded().distance(first, second))
            for first, second in permutations(TABLES, 2)
        )
        for source in (gr.Unbounded(), within):
            found = gr.sensitivity(function, universe=TABLES, source=source, target=difference)
            assert found.value == truth
            first, second = found.pair
            assert difference(function(first), function(second)) == truth * source.distance(first, second)


def test_sensitivity_of_a_composition_is_at_most_the_product():
    """Proposition III.8; and less where the two stretch different pairs."""
    line = gr.Relation(range(6), lambda x, y: abs(x - y) == 1)

    def absolute(one, other):
        return abs(one - other)

    def spread(x):
        return 2 * min(x, 2)

    def late(x):
        return 3 * max(x - 4, 0)

    inner = gr.sensitivity(spread, universe=range(6), source=line, target=absolute).value
    outer = gr.sensitivity(late, universe=range(12), source=absolute, target=absolute).value
    both = gr.sensitivity(lambda x: late(spread(x)), universe=range(6), source=line, target=absolute).value
    assert (inner, outer, both) == (2, 3, 0)
    doubled = gr.sensitivity(lambda x: 3 * 2 * x, universe=range(6), source=line, target=absolute).value
    assert doubled == 6


def test_sensitivity_is_infinite_where_neighbours_become_unreachable():
    """Example II.9 seen from the input: a part of bounded neighbours may change its size."""
    tables = [table for table in TABLES if len(table) == 2]
    part = gr.Inputs([{"a"}])
    found = gr.sensitivity(
        lambda table: part.restricted(0, table), universe=tables, source=gr.Bounded(), target=gr.Bounded()
    )
    assert found.value == math.inf
