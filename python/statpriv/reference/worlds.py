"""The critical entry and the adversary's knowledge: all cases over which the definitions take a maximum."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations, product
from typing import Literal, TypeAlias

from statpriv.errors import ArgumentError
from statpriv.reference.cases import LIMIT, refuse_above, subsets
from statpriv.reference.databases import Database
from statpriv.reference.laws import Weights
from statpriv.reference.releases import Release, Released

Known: TypeAlias = int | Collection[int] | Mapping[int, Hashable]
"""The known entries: their number, their indices, or a mapping from indices to values."""

Pair: TypeAlias = tuple[Hashable, Hashable]

Compared: TypeAlias = tuple[Weights[Released], Weights[Released]]
"""The laws of the release under the two values of a pair."""


@dataclass(frozen=True)
class World:
    """One critical entry and one state of knowledge.

    Known entries are either certain in the database, or their random values are `revealed` with the answers.
    """

    database: Database
    critical: int
    revealed: tuple[int, ...]
    pairs: tuple[Pair, ...]

    def compared(self, release: Release) -> list[Compared]:
        """For each pair of values the two laws of the release."""
        laws = {
            value: release.law(self.database.fixed({self.critical: value}), self.revealed)
            for value in dict.fromkeys(value for pair in self.pairs for value in pair)
        }
        return [(laws[v], laws[w]) for v, w in self.pairs]


def worlds(
    database: Database,
    release: Release,
    *,
    critical: int | None,
    pair: Pair | None,
    known: Known,
    values: Literal["worst", "expected"] = "worst",
    limit: int = LIMIT,
    repetitions: int = 1,
) -> Iterator[World]:
    """Every critical entry with every state of knowledge; refused if the total number of cases is too large."""
    if values not in ("worst", "expected"):
        raise ArgumentError(f'values = {values!r}; "worst" or "expected" is required')
    stated = known if isinstance(known, Mapping) else {}
    certain = database.fixed(stated)
    targets = [
        (entry, chosen, _pairs(database, entry, pair)) for entry, chosen in _targets(database, critical, known, limit)
    ]
    refuse_above(limit, len(targets) * len(release.by_entries), "this curve")
    cases = sum(
        release.cases(certain, entry, chosen) * len({value for pair in pairs for value in pair})
        for entry, chosen, pairs in targets
    )
    refuse_above(limit, cases * repetitions, "this curve")
    return (
        World(database.fixed(state), entry, chosen if values == "expected" and not stated else (), pairs)
        for entry, chosen, pairs in targets
        for state in ([stated] if stated or values == "expected" else _states(database, chosen))
    )


def _targets(
    database: Database, critical: int | None, known: Known, limit: int
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Each critical entry with each choice of known entries among the others."""
    n = len(database)
    if critical is not None:
        database.expect_entry(critical)
    entries = range(n) if critical is None else (critical,)
    if isinstance(known, int):
        if not 0 <= known < n:
            raise ArgumentError(f"known = {known}; of {n} entries 0 to {n - 1} can be known, never the critical one")
        refuse_above(limit, len(entries) * subsets(n - 1, known), f"the choice of {known} known entries")
        for entry in entries:
            for chosen in combinations([i for i in range(n) if i != entry], known):
                yield entry, chosen
        return
    chosen = tuple(dict.fromkeys(known))
    for index in chosen:
        database.expect_entry(index)
    if critical in chosen or len(chosen) == n:
        raise ArgumentError(f"known = {known!r}; the critical entry is never among the known ones: leave it out")
    for entry in entries:
        if entry not in chosen:
            yield entry, chosen


def _states(database: Database, chosen: tuple[int, ...]) -> Iterator[dict[int, Hashable]]:
    """Every combination of values of the known entries, including values of probability zero."""
    for values in product(*(database.entries[i] for i in chosen)):
        yield dict(zip(chosen, values, strict=True))


def _pairs(database: Database, critical: int, pair: Pair | None) -> tuple[Pair, ...]:
    """The ordered pairs of values that are compared."""
    law = database.entries[critical]
    if pair is None:
        return tuple(permutations(law, 2))
    if not isinstance(pair, tuple) or len(pair) != 2 or any(value not in law for value in pair):
        raise ArgumentError(f"pair = {pair!r}; two values of entry {critical} are required, out of {list(law)}")
    return (pair,)
