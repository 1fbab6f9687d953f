"""Rows that depend on each other inside clusters, by brute force."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from itertools import permutations
from itertools import product as every_combination
from typing import Any, TypeAlias

from statpriv.errors import ArgumentError
from statpriv.reference.cases import LIMIT, product, refuse_above
from statpriv.reference.curves import Curve
from statpriv.reference.laws import Number, as_law, hockey_stick

Cluster: TypeAlias = "dict[tuple[Any, ...], Fraction]"
"""The joint law of the members of a cluster."""
Query: TypeAlias = Callable[[list[Any]], Hashable]


def conditional_range(cluster: Mapping[tuple[Any, ...], Number], value: Hashable) -> tuple[Fraction, Fraction]:
    """The least and the largest probability of `value` for a member of a cluster given all other members.

    Parameters
    ----------
    cluster : mapping from tuples to probabilities
        The joint law of the members.
    value : hashable
        A value of a member.

    Examples
    --------
    Two members that agree with probability 3/4:

    >>> import statpriv as sp
    >>> alike = {(0, 0): "3/8", (1, 1): "3/8", (0, 1): "1/8", (1, 0): "1/8"}
    >>> sp.reference.conditional_range(alike, 1)
    (Fraction(1, 4), Fraction(3, 4))
    """
    law = as_cluster(cluster, "cluster")
    found = []
    for member in range(len(next(iter(law)))):
        together: defaultdict[object, Fraction] = defaultdict(Fraction)
        hits: defaultdict[object, Fraction] = defaultdict(Fraction)
        for values, mass in law.items():
            rest = (*values[:member], *values[member + 1 :])
            together[rest] += mass
            hits[rest] += mass if values[member] == value else 0
        found += [hits[rest] / mass for rest, mass in together.items()]
    return min(found), max(found)


def clustered_curve(
    clusters: Iterable[Mapping[tuple[Any, ...], Number]],
    query: Query,
    *,
    critical: tuple[int, int],
    known: Mapping[tuple[int, int], Hashable] | None = None,
    limit: int = LIMIT,
) -> Curve:
    """The privacy curve of one member of a cluster, where the others of its cluster may depend on it in any way.

    Parameters
    ----------
    clusters : iterable of mappings from tuples to probabilities
        The joint law of the members of each cluster. Clusters are independent of each other.
    query : callable
        A function of the list of the values of all rows, cluster by cluster.
    critical : (int, int)
        The cluster and the member that is compared, both from 0. The worst ordered pair of its values counts.
    known : mapping from (cluster, member) to value, optional
        Rows that are certain. What they say about the others of their clusters is part of the laws.
    limit : int, default 2 000 000
        Largest number of cases; more are refused.

    Returns
    -------
    Curve
        δ as a function of `exp_epsilon`.

    Notes
    -----
    Source: *Parallel Composition for Statistical Privacy*, Definition 2.3, for one database whose rows are not
    independent.

    Examples
    --------
    Two couples that mostly agree. The total tells more about one of the four than among four strangers:

    >>> import statpriv as sp
    >>> alike = {(0, 0): "3/8", (1, 1): "3/8", (0, 1): "1/8", (1, 0): "1/8"}
    >>> sp.reference.clustered_curve([alike, alike], sum, critical=(0, 0))("11/10")
    Fraction(147, 320)
    >>> sp.reference.privacy_curve(sp.reference.iid(sp.reference.coin("1/2"), 4), sum)("11/10")
    Fraction(29, 80)
    """
    laws = [as_cluster(law, f"clusters[{j}]") for j, law in enumerate(clusters)]
    j, member = critical
    if not 0 <= j < len(laws) or not 0 <= member < len(next(iter(laws[j]))):
        raise ArgumentError(
            f"critical = {critical!r}; a cluster and one of its members, both counted from 0, are required"
        )
    refuse_above(limit, product(map(len, laws)), "clusters")
    possible = list(dict.fromkeys(values[member] for values in laws[j]))
    of_value = {value: _answers(laws, query, {**(known or {}), critical: value}) for value in possible}
    pairs = list(permutations(possible, 2))
    return Curve(lambda x: max((hockey_stick(of_value[v], of_value[w], x) for v, w in pairs), default=Fraction(0)))


def as_cluster(stated: Mapping[tuple[Any, ...], Number], name: str) -> Cluster:
    """A joint law of the members of one cluster, without combinations of probability zero."""
    law: dict[Any, Fraction] = as_law(stated, name)
    if not all(isinstance(values, tuple) for values in law) or len(set(map(len, law))) != 1:
        raise ArgumentError(f"{name}: tuples with one value a member, all of one length, are required")
    return {values: mass for values, mass in law.items() if mass}


def _answers(laws: list[Cluster], query: Query, fixed: Mapping[tuple[int, int], Hashable]) -> dict[Hashable, Fraction]:
    """The law of the answer given the values of some rows."""
    given = [_given(law, {i: value for (k, i), value in fixed.items() if k == j}) for j, law in enumerate(laws)]
    answers: defaultdict[Hashable, Fraction] = defaultdict(Fraction)
    for outcome in every_combination(*(law.items() for law in given)):
        mass = Fraction(1)
        for _, chance in outcome:
            mass *= chance
        answers[query([value for values, _ in outcome for value in values])] += mass
    return dict(answers)


def _given(law: Cluster, fixed: Mapping[int, Hashable]) -> Cluster:
    """The conditional law given the values of some members."""
    kept = {values: mass for values, mass in law.items() if all(values[i] == value for i, value in fixed.items())}
    total = sum(kept.values(), Fraction(0))
    if not total:
        raise ArgumentError(f"known values {dict(fixed)!r} have probability 0 in their cluster")
    return {values: mass / total for values, mass in kept.items()}
