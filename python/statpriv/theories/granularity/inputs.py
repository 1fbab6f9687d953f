"""The inputs of the queries: sets of records, of places of an ordered database, of nodes or of edges."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, get_args

from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import as_items, as_key, as_word, is_list, is_mapping
from statpriv.numeric.exact import as_count
from statpriv.numeric.literals import abridged

Kind: TypeAlias = Literal["record", "index", "node", "edge"]

_KINDS = get_args(Kind)


@dataclass(frozen=True)
class _Any:
    """A placeholder for the elements of one of several inputs that are known only to be disjoint."""

    of: str

    def __repr__(self) -> str:
        return self.of


@dataclass(frozen=True, init=False, repr=False)
class Inputs:
    """The part of the database that each query reads. Parts may overlap, be equal, or leave elements out.

    Parameters
    ----------
    parts : sequence of collections
        The elements that each query reads: values of records, places (counted from 0), nodes, or edges (pairs of
        nodes).
    by : {"record", "index", "node", "edge"}, default "record"
        The kind of the elements. By record the query sees the records with these values; by index the records at these
        places; by node the induced subgraph; by edge these edges and no others.
    universe : collection, int or networkx graph, optional
        All possible elements: values that a record may have, the length of the databases, the nodes or edges, or a
        graph that has them. Without it, any further elements may exist.
    exhaustive : bool, default True
        Whether the parts have to cover the universe.
    directed : bool, default False
        Whether (u, v) and (v, u) are two edges.

    Raises
    ------
    ArgumentError
        Parts that are not collections, lie outside the universe, or do not cover it.

    Notes
    -----
    Partitioning functions of *Composition in Differential Privacy for General Granularity Notions*, Example IV.4
    (by record) and Example IV.7 (by index); overlapping inputs as in Example IV.5.

    Examples
    --------
    >>> import statpriv as sp
    >>> districts = sp.granularity.Inputs([{"north"}, {"south", "west"}], universe={"north", "south", "west"})
    >>> len(districts), districts.is_partition
    (2, True)
    >>> sp.granularity.Inputs([{"north"}], universe={"north", "south"})
    Traceback (most recent call last):
    statpriv.errors.ArgumentError: the parts leave out 'south'; add it to a part, or say exhaustive=False: ...
    """

    parts: tuple[frozenset[Hashable], ...]
    by: Kind
    universe: frozenset[Hashable] | range | None
    directed: bool

    def __init__(
        self,
        parts: Sequence[Collection[Hashable]],
        *,
        by: Kind = "record",
        universe: Any = None,  # noqa: ANN401  (a collection, a number or a graph)
        exhaustive: bool = True,
        directed: bool = False,
    ) -> None:
        by = as_word(by, "by", _KINDS)
        if not is_list(parts) or not parts:
            raise ArgumentError(f"parts = {abridged(parts)}; a sequence with one collection for each query is required")
        read = tuple(_atoms(part, f"parts[{i}]", by, directed=directed) for i, part in enumerate(parts))
        everything = None if universe is None else _universe(universe, by, directed=directed)
        if everything is not None:
            covered = frozenset[Hashable]().union(*read)
            if outside := [atom for atom in covered if atom not in everything]:
                raise ArgumentError(f"the parts hold {abridged(min(outside, key=repr))}, which is not in the universe")
            if exhaustive and len(covered) < len(everything):
                places = everything if isinstance(everything, range) else sorted(everything, key=repr)
                left = next(atom for atom in places if atom not in covered)
                raise ArgumentError(
                    f"the parts leave out {abridged(left)}; "
                    "add it to a part, or say exhaustive=False: it is read by no query"
                )
        object.__setattr__(self, "parts", read)
        object.__setattr__(self, "by", by)
        object.__setattr__(self, "universe", everything)
        object.__setattr__(self, "directed", directed)

    @classmethod
    def disjoint(cls, count: int, by: Kind) -> Inputs:
        """Disjoint inputs whose elements are not known."""
        inputs = object.__new__(cls)
        object.__setattr__(inputs, "parts", tuple(frozenset({_Any(f"any {by} of input {i}")}) for i in range(count)))
        object.__setattr__(inputs, "by", by)
        object.__setattr__(inputs, "universe", None)
        object.__setattr__(inputs, "directed", False)
        return inputs

    @property
    def is_named(self) -> bool:
        """Whether the elements of the parts are known, and not only that the parts are disjoint."""
        return not any(isinstance(atom, _Any) for part in self.parts for atom in part)

    @property
    def is_partition(self) -> bool:
        """Whether no element is read by two queries."""
        return sum(map(len, self.parts)) == len(frozenset[Hashable]().union(*self.parts))

    def readers(self) -> dict[Hashable, frozenset[int]]:
        """For each element that is read, the queries that read it."""
        found: dict[Hashable, frozenset[int]] = {}
        for query, part in enumerate(self.parts):
            alone = frozenset({query})
            for atom in part:
                found[atom] = found[atom] | alone if atom in found else alone
        return found

    def classes(self) -> dict[frozenset[int], Hashable]:
        """The distinct sets of readers, each with the first element that exactly these queries read."""
        found: dict[frozenset[int], Hashable] = {}
        for atom, queries in self.readers().items():
            found.setdefault(queries, atom)
        return found

    @property
    def whole(self) -> bool:
        """Whether every query with a nonempty part reads all elements."""
        return self.universe is not None and all(len(part) in (0, len(self.universe)) for part in self.parts)

    def restricted(self, query: int, database: Any) -> Any:  # noqa: ANN401
        """The part of a database that one query sees: a dict, a tuple or a graph."""
        part = self.parts[query]
        if self.by == "index":
            records = as_items(database, "database", "a sequence of records is required", text=True)
            return tuple(value for place, value in enumerate(records) if place in part)
        if self.by == "node":
            return database.subgraph(part)
        if self.by == "edge":
            return database.edge_subgraph(
                edge for edge in database.edges if edge_key(edge, directed=self.directed) in part
            )
        if is_mapping(database):
            return {record: number for record, number in database.items() if record in part}
        records = as_items(database, "database", "a list of records, or a dict of how many, is required", text=True)
        return tuple(record for record in records if as_key(record, "a record") in part)

    def __len__(self) -> int:
        return len(self.parts)

    def __repr__(self) -> str:
        return f"<Inputs of {len(self)} queries, by {self.by}>"


def sets_of(value: object) -> Inputs | None:
    """The argument if it is Inputs with known elements; None for functions, plain sets and missing inputs."""
    return value if isinstance(value, Inputs) else None


def as_inputs(value: object, *, by: Kind) -> Inputs:
    """Inputs unchanged, or Inputs made of sets of elements of the given kind."""
    found = sets_of(value)
    return Inputs(cast("Sequence[Collection[Hashable]]", value), by=by) if found is None else found


def edge_key(edge: Hashable, *, directed: bool) -> Hashable:
    """An edge in canonical form: as an unordered set if it is undirected."""
    if not isinstance(edge, (tuple, frozenset)) or not 1 <= len(edge) <= 2:
        raise ArgumentError(f"edge {abridged(edge)}; a pair of nodes is required")
    return edge if directed else frozenset(edge)


def _atoms(part: object, name: str, by: Kind, *, directed: bool) -> frozenset[Hashable]:
    listed = as_items(part, name, "a collection of what the query reads is required")
    try:
        atoms = frozenset(listed)
    except TypeError as unhashable:
        raise ArgumentError(f"{name}: {unhashable}; what is read has to be hashable") from None
    if by == "edge":
        return frozenset(edge_key(edge, directed=directed) for edge in atoms)
    if by == "index" and not all(isinstance(place, int) and place >= 0 for place in atoms):
        raise ArgumentError(f"{name} = {abridged(part)}; places of an ordered database are counted from 0")
    return atoms


def _universe(universe: Any, by: Kind, *, directed: bool) -> frozenset[Hashable] | range:  # noqa: ANN401
    if by == "index" and not isinstance(universe, Iterable):
        return range(as_count(universe, "universe"))
    if by in ("node", "edge") and hasattr(universe, "nodes") and hasattr(universe, "edges"):
        universe = list(universe.nodes if by == "node" else universe.edges)
    return _atoms(universe, "universe", by, directed=directed)
