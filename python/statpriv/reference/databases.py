"""Databases of independent entries, each with its own law."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product as every_combination

from statpriv.errors import ArgumentError
from statpriv.reference.cases import product
from statpriv.reference.laws import Law, Number, Weights, as_law


@dataclass(frozen=True, init=False)
class Database:
    """Independent entries with finitely many values, each with its own law.

    Parameters
    ----------
    entries : iterable of mappings
        The law of each entry, `{value: probability}`; values are hashable (numbers, strings, tuples). The critical
        entry may take any listed value, also one of probability 0; leave a value out to exclude it.

    Examples
    --------
    >>> import statpriv as sp
    >>> database = sp.reference.Database([{"a": "1/2", "b": "1/2"}, {"a": "1/3", "b": "2/3"}])
    >>> len(database), database.entries[1]["b"]
    (2, Fraction(2, 3))
    """

    entries: tuple[Law, ...]

    def __init__(self, entries: Iterable[Mapping[Hashable, Number]]) -> None:
        if isinstance(entries, Mapping | str) or not isinstance(entries, Iterable):
            raise ArgumentError(f"entries = {entries!r}; one law for each entry is required; iid(law, n) repeats one")
        laws = tuple(as_law(entry, f"entries[{i}]") for i, entry in enumerate(entries))
        if not laws:
            raise ArgumentError("entries = []; at least one entry is required")
        object.__setattr__(self, "entries", laws)

    def __len__(self) -> int:
        return len(self.entries)

    def __hash__(self) -> int:
        return hash(tuple(frozenset(law.items()) for law in self.entries))

    def fixed(self, values: Mapping[int, Hashable]) -> Database:
        """The conditional database in which the entries of a mapping have its values (`D_{j,w}` of the paper).

        Each value is one of its entry, possibly of probability zero.

        Examples
        --------
        >>> import statpriv as sp
        >>> sp.reference.iid(sp.reference.coin("1/2"), 2).fixed({1: 0}).entries[1]
        {0: Fraction(1, 1)}
        """
        for i, value in values.items():
            self.expect_entry(i)
            if value not in self.entries[i]:
                raise ArgumentError(f"entry {i} = {value!r}; its values are {list(self.entries[i])}")
        return Database({values[i]: Fraction(1)} if i in values else law for i, law in enumerate(self.entries))

    @cached_property
    def weights(self) -> tuple[Weights[Hashable], ...]:
        """The law of each entry over one denominator."""
        return tuple(map(Weights.from_law, self.entries))

    @property
    def total(self) -> int:
        """The denominator of the law of all entries."""
        return product(own.total for own in self.weights)

    def realisations(self, indices: Iterable[int]) -> Iterator[tuple[dict[int, Hashable], int]]:
        """Every combination of values of these entries, with its weight, a part of `total`.

        The other entries are summed out: they contribute their denominators.
        """
        chosen = tuple(indices)
        others = self.total // product(self.weights[i].total for i in chosen)
        possible = [[(value, weight) for value, weight in self.weights[i].of.items() if weight] for i in chosen]
        for outcome in every_combination(*possible):
            weight = others
            for _, own in outcome:
                weight *= own
            yield dict(zip(chosen, (value for value, _ in outcome), strict=True)), weight

    def expect_entry(self, index: object) -> None:
        """Raise if there is no such entry."""
        if not isinstance(index, int) or not 0 <= index < len(self):
            raise ArgumentError(f"entry {index!r}; the entries are numbered 0 to {len(self) - 1}")


def iid(law: Mapping[Hashable, Number], n: int) -> Database:
    """A database of `n` independent entries with the same law.

    Parameters
    ----------
    law : mapping from values to probabilities
        The law of every entry.
    n : int
        Number of entries, at least 1, the critical one included.

    Examples
    --------
    >>> import statpriv as sp
    >>> len(sp.reference.iid({"red": "1/3", "blue": "2/3"}, 4))
    4
    """
    if not isinstance(n, int) or n < 1:
        raise ArgumentError(f"n = {n!r}; at least one entry is required")
    return Database([law] * n)
