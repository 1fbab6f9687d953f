"""Granularities of graphs: one edge, or one node with all its edges.

Graphs are networkx graphs without parallel edges. Loops are edges. Graphs are compared with the names of their nodes,
without attributes.

**The node distance.** Each node that only one graph has costs one step. On a path from one graph to the other, let K be
the set of the common nodes that are never removed. Two nodes of K are adjacent in both graphs or in neither. So the
other common nodes are a vertex cover of the *difference graph*, whose edges are the pairs that are an edge in exactly
one of the two graphs. A common node outside K is removed and added again, which costs two steps. Conversely, for every
vertex cover a path is to remove all nodes outside K first, and to add nodes afterwards. So

    d(G, G') = |V Δ V'| + 2 · (size of the least vertex cover of the difference graph on V ∩ V').
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from statpriv import budget
from statpriv.errors import ArgumentError, MissingExtraError, NotAvailableError
from statpriv.numeric.literals import abridged
from statpriv.theories.granularity.inputs import Inputs
from statpriv.theories.granularity.protocol import Distance, Granularity, Touched, read_inputs


@dataclass(frozen=True)
class Edge(Granularity):
    """A step adds or removes one edge; the nodes are public.

    Disjoint sets of edges, and graphs on disjoint sets of nodes, are compatible.

    Examples
    --------
    >>> import networkx as nx, statpriv as sp
    >>> edge = sp.granularity.Edge()
    >>> edge.distance(nx.path_graph(4), nx.cycle_graph(4)), edge.distance(nx.path_graph(4), nx.path_graph(5))
    (1, inf)
    >>> edge.compatible(sp.granularity.Inputs([{(0, 1), (1, 2)}, {(2, 3)}], by="edge"))
    True
    """

    @property
    def name(self) -> str:
        """The name in the literature."""
        return "edge"

    def distance(self, first: Any, second: Any, /) -> Distance:  # noqa: ANN401  (networkx has no types)
        """The number of edges that only one of two networkx graphs has; infinite for different node sets."""
        changed = _changed(first, second)
        if set(first.nodes) != set(second.nodes):
            return math.inf
        ends = sum(map(len, changed.values()))
        loops = sum(1 for node, near in changed.items() if node in near)
        return ends if first.is_directed() else (ends + loops) // 2  # an edge is seen from both of its ends

    def touched(self, inputs: object, /) -> Touched:
        """The queries that one step can change: those that read the edge, or both of its nodes."""
        # An edge may be a loop at one node. A query that reads both nodes of an edge also reads the loop at each.
        read = read_inputs(inputs, self.name, ("edge", "node"))
        return Touched(read.classes(), together=1, own_domain=True)

    def elements(self, count: int, /) -> Inputs:
        """Disjoint sets of edges."""
        return Inputs.disjoint(count, "edge")


@dataclass(frozen=True)
class Node(Granularity):
    """A step adds or removes one node with all its edges.

    Parts by node are induced subgraphs; they are compatible if they are disjoint. Parts by edge are compatible only if
    no node has edges in two of them.

    Examples
    --------
    >>> import networkx as nx, statpriv as sp
    >>> node = sp.granularity.Node()
    >>> node.distance(nx.star_graph(5), nx.empty_graph(6)), node.distance(nx.path_graph(4), nx.path_graph(3))
    (2, 1)
    >>> parts = [{(0, 1), (1, 2)}, {(2, 3)}]
    >>> node.compatible(sp.granularity.Inputs(parts, by="edge")), node.compatible([{0, 1}, {2, 3}])
    (False, True)
    """

    @property
    def name(self) -> str:
        """The name in the literature."""
        return "node"

    def distance(self, first: Any, second: Any, /) -> Distance:  # noqa: ANN401
        """The least number of nodes to remove and add to turn one networkx graph into the other.

        Raises
        ------
        NotAvailableError
            The graphs differ in too many edges, and the search for the least number is given up; the message gives
            bounds of the number.
        """
        changed = _changed(first, second)
        nodes, others = set(first.nodes), set(second.nodes)
        return len(nodes ^ others) + 2 * _least_cover(changed, nodes & others)

    def neighbours(self, first: Any, second: Any, /) -> bool:  # noqa: ANN401
        """Whether one graph is the other without one node and its edges."""
        apart = set(first.nodes) ^ set(second.nodes)
        return len(apart) == 1 and self.distance(first, second) == 1

    def touched(self, inputs: object, /) -> Touched:
        """The queries that one step can change: those that read the node, or an edge of it."""
        read = read_inputs(inputs, self.name, ("node", "edge"))
        if read.by == "node":
            return Touched(read.classes(), together=1, own_domain=True)
        # Removing a node can isolate several nodes of an edge set, so an input may change by more than one step.
        if not read.is_named:
            return Touched({frozenset(range(len(read))): "a node with edges in all of them"}, 1, own_domain=False)
        at: dict[Hashable, set[int]] = {}
        for edge, queries in read.readers().items():
            for node in edge:  # type: ignore[attr-defined]  # a pair, or a set of one or two nodes
                at.setdefault(node, set()).update(queries)
        classes: dict[frozenset[int], Hashable] = {}
        for node, reached in at.items():
            classes.setdefault(frozenset(reached), node)
        return Touched(classes, together=1, own_domain=False)

    def elements(self, count: int, /) -> Inputs:
        """Disjoint sets of nodes, with their induced subgraphs."""
        return Inputs.disjoint(count, "node")

    def disjoint(self, count: int, /) -> Inputs | None:  # noqa: ARG002  (disjoint nodes or disjoint edges?)
        """None: disjoint sets of nodes are compatible, disjoint sets of edges are not, so inputs must be declared."""
        return None


def _changed(first: Any, second: Any) -> dict[Hashable, set[Hashable]]:  # noqa: ANN401
    """For each node of either graph, the ends of its edges that only one of the graphs has."""
    try:
        import networkx as nx
    except ImportError:
        raise MissingExtraError("distances of graphs need networkx: pip install 'statpriv[graph]'") from None
    for graph in (first, second):
        if not isinstance(graph, nx.Graph) or graph.is_multigraph():
            raise ArgumentError(f"database {abridged(graph)}; a networkx graph without parallel edges is required")
    if first.is_directed() != second.is_directed():
        raise ArgumentError("one graph is directed and the other is not; take graphs of one kind")
    one, other = (dict(graph.adjacency()) for graph in (first, second))
    none: dict[Hashable, object] = {}
    changed = {node: one.get(node, none).keys() ^ other.get(node, none).keys() for node in {**one, **other}}
    return {node: ends for node, ends in changed.items() if ends}


def _least_cover(changed: dict[Hashable, set[Hashable]], nodes: set[Hashable]) -> int:
    """The size of the least vertex cover of the pairs that changed among these nodes."""
    pairs: dict[Hashable, set[Hashable]] = {}
    for node, ends in changed.items():
        for end in ends & nodes if node in nodes else ():
            pairs.setdefault(node, set()).add(end)
            pairs.setdefault(end, set()).add(node)
    work = [int(budget.MAX_COVER_STEPS)]
    try:
        return sum(_cover(part, math.inf, work, budget.MAX_COVER_DEPTH) for part in _components(pairs))
    except _TooLongError:
        least = _disjoint_edges(pairs)  # a cover has a node of each disjoint edge, and all their nodes are a cover
        raise NotAvailableError(
            f"the graphs differ in {sum(map(len, pairs.values())) // 2} pairs of nodes, and the least vertex cover of "
            f"these is not found within {budget.MAX_COVER_STEPS} steps; it has {least} to {2 * least} nodes, and the "
            "distance is twice that, plus the number of nodes that only one graph has"
        ) from None


class _TooLongError(Exception):
    """The search is given up."""


def _cover(graph: dict[Hashable, set[Hashable]], most: float, work: list[int], depth: int) -> int:
    """The size of the least vertex cover, or a number of at least `most` if it has that many; consumes the graph."""
    work[0] -= sum(map(len, graph.values()))
    if work[0] < 0 or not depth:
        raise _TooLongError
    taken = _forced(graph)
    if taken >= most or not graph:
        return taken
    node = max(graph, key=lambda node: len(graph[node]))
    around = list(graph[node])
    if len(around) == 2:  # every degree is two, so only cycles are left
        return taken + sum((len(cycle) + 1) // 2 for cycle in _components(graph))
    without = {other: set(ends) for other, ends in graph.items()}
    _remove(without, [node])
    best = taken + 1 + _cover(without, most - taken - 1, work, depth - 1)
    _remove(graph, [node, *around])
    left = min(best, most) - taken - len(around)
    return best if left <= 0 else min(best, taken + len(around) + _cover(graph, left, work, depth - 1))


def _forced(graph: dict[Hashable, set[Hashable]]) -> int:
    """Take nodes that some least cover contains: nodes with a loop, and the neighbour of a node of degree one."""
    loops = [node for node, ends in graph.items() if node in ends]
    _remove(graph, loops)
    taken, leaves = len(loops), [node for node, ends in graph.items() if len(ends) == 1]
    while leaves:
        leaf = leaves.pop()
        if len(graph.get(leaf, ())) == 1:
            (inner,) = graph[leaf]
            around = graph[inner] - {leaf}
            _remove(graph, [inner])
            taken += 1
            leaves.extend(node for node in around if len(graph.get(node, ())) == 1)
    return taken


def _remove(graph: dict[Hashable, set[Hashable]], nodes: list[Hashable]) -> None:
    """Remove nodes, and then all nodes without edges."""
    for node in nodes:
        for end in graph.pop(node, set()) - {node}:
            graph[end].discard(node)
            if not graph[end]:
                del graph[end]


def _components(graph: dict[Hashable, set[Hashable]]) -> list[dict[Hashable, set[Hashable]]]:
    """The connected parts."""
    left, found = dict(graph), []
    while left:
        reached, queue = {}, [next(iter(left))]
        while queue:
            node = queue.pop()
            if node in left:
                reached[node] = left.pop(node)
                queue.extend(reached[node])
        found.append(reached)
    return found


def _disjoint_edges(graph: dict[Hashable, set[Hashable]]) -> int:
    """The number of edges of a maximal matching."""
    used: set[Hashable] = set()
    for node, ends in graph.items():
        free = ends - used
        if node not in used and free:
            used.update((node, next(iter(free))))
    return (len(used) + 1) // 2
