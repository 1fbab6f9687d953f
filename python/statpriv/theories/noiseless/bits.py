"""Databases of bits: truth tables, laws of the bits, and exact masses of cylinders.

A database of n bits is encoded as a number from 0 to 2^n − 1 whose highest bit is the first entry: the order of
`itertools.product((0, 1), repeat=n)`. The theorems need only the *cylinder masses* of a function f and a law,

    M_S = P[f = 1 and t_j = 1 for all j in S],    S a set of at most k entries.

With independent bits the weight of a database is the product of the weights of its two halves. The truth table is then
a matrix of zeros and ones between two vectors of integers, and M_S is one matrix product and a short sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import lcm, prod
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from statpriv import budget
from statpriv.errors import ArgumentError
from statpriv.model.probabilities import probability_list
from statpriv.numeric.arguments import is_mapping, length_of_tuple
from statpriv.numeric.exact import Number, as_count, as_fraction, is_array
from statpriv.numeric.literals import abridged, spelled
from statpriv.theories.noiseless.integer_products import integer_product, integers_from_doubles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    TruthTable: TypeAlias = NDArray[np.bool_]

_POINTS = 1 << 16
"""Databases of a joint law that are added up at a time."""

Masses: TypeAlias = "dict[tuple[int, ...], int]"
"""`M_S` by set of entries in increasing order, as an integer multiple of one common unit."""


def truth_table_of(function: object, entries: int | None, name: str = "truth_table") -> TruthTable:
    """A truth table as an array of 2^n booleans; a Python function of a tuple of bits is evaluated on every tuple."""
    import numpy as np

    if callable(function):
        if entries is None:
            raise ArgumentError("entries = None; a Python function does not say how many bits it takes: give entries=")
        n = as_count(entries, "entries", least=1)
        if n > budget.MAX_TRUTH_TABLE_ENTRIES:
            raise ArgumentError(
                f"entries = {n}; truth tables of at most {budget.MAX_TRUTH_TABLE_ENTRIES} entries are computed with"
            )
        return np.fromiter((_bit(function(bits), bits) for bits in product((0, 1), repeat=n)), np.bool_, 1 << n)
    if not is_array(function):
        raise ArgumentError(
            f"{name} = {abridged(function)}; a list of 2^n zeros and ones in the order of itertools.product((0, 1), "
            "repeat=n) is required, or a Python function of a tuple of bits"
        )
    try:
        table = np.asarray(function)
    except ValueError:  # rows of different lengths
        raise ArgumentError(f"{name} = {abridged(function)}; a list of 2^n zeros and ones is required") from None
    if table.ndim != 1 or table.dtype.kind not in "biuf":
        raise ArgumentError(f"{name} is {abridged(function)}; a list of 2^n zeros and ones is required")
    n = table.size.bit_length() - 1
    if table.size < 2 or table.size != 1 << n:
        raise ArgumentError(
            f"{name} has {table.size} answers; 2^n are required, one for each database in the order of "
            "itertools.product((0, 1), repeat=n), so 2, 4, 8, …"
        )
    if n > budget.MAX_TRUTH_TABLE_ENTRIES:
        raise ArgumentError(f"{name} has 2^{n} answers; at most 2^{budget.MAX_TRUTH_TABLE_ENTRIES} are computed with")
    if entries is not None and as_count(entries, "entries") != n:
        raise ArgumentError(f"entries = {spelled(entries)}, but {name} has 2^{n} answers; leave entries out")
    ones: TruthTable = table == 1
    wrong = np.flatnonzero(~(ones | (table == 0)))
    if wrong.size:
        raise ArgumentError(f"{name}[{wrong[0]}] = {table[wrong[0]]}; 0 or 1 is required")
    return ones


def _bit(answer: object, bits: tuple[int, ...]) -> bool:
    if answer in (0, 1):
        return bool(answer)
    raise ArgumentError(f"the function answers {abridged(answer)} for {bits}; 0 or 1 is required")


class BitLaw(Protocol):
    """A law of n bits."""

    @property
    def entries(self) -> int:
        """The number n of bits."""
        ...

    def masses(self, table: TruthTable | None, size: int) -> Masses:
        """`M_S` for all S of at most this size, as multiples of one unit; `table=None` is the constant function 1."""
        ...

    def slices(self, table: TruthTable, leaked: Sequence[int]) -> Iterator[tuple[Fraction, BitLaw, TruthTable]]:
        """For each value of the leaked entries: its probability, and the law and the truth table of the others."""
        ...


@dataclass(frozen=True)
class IndependentBits:
    """Independent bits, bit i one with probability `p[i]`, strictly between 0 and 1."""

    p: tuple[Fraction, ...]

    @property
    def entries(self) -> int:
        """The number n of bits."""
        return len(self.p)

    def masses(self, table: TruthTable | None, size: int) -> Masses:
        """By halves: `M_S = Σ_x w(x) [x ⊇ S'] Σ_y f(x, y) w(y) [y ⊇ S'']`."""
        import numpy as np

        n = self.entries
        if table is None:
            unit = prod(p.denominator for p in self.p)
            return {chosen: int(unit * prod(self.p[j] for j in chosen)) for chosen in _sets(range(n), size)}
        half = n // 2
        first, second = _weights(self.p[:half]), _weights(self.p[half:])
        right = list(_sets(range(half, n), size))
        columns = np.stack([_restricted(second, chosen, half) for chosen in right], axis=1)
        inner = integer_product(table.reshape(len(first), len(second)), columns)
        result: Masses = {}
        for left in _sets(range(half), size):
            weights = _restricted(first, left, 0)
            used = [c for c, chosen in enumerate(right) if len(left) + len(chosen) <= size]
            for c, mass in zip(used, (weights[:, None] * inner[:, used]).sum(axis=0), strict=True):
                result[left + right[c]] = int(mass)
        return result

    def slices(self, table: TruthTable, leaked: Sequence[int]) -> Iterator[tuple[Fraction, BitLaw, TruthTable]]:
        """The slices by leaked values: the law of the other entries does not depend on them."""
        n, known = self.entries, sorted(leaked)
        others = [j for j in range(n) if j not in known]
        rows = table.reshape((2,) * n).transpose(*known, *others).reshape(1 << len(known), 1 << len(others))
        rest = IndependentBits(tuple(self.p[j] for j in others))
        for bits, row in zip(product((0, 1), repeat=len(known)), rows, strict=True):
            mass = prod(
                (self.p[j] if bit else 1 - self.p[j] for j, bit in zip(known, bits, strict=True)), start=Fraction(1)
            )
            yield mass, rest, row


@dataclass(frozen=True, eq=False)
class JointBits:
    """Any law of bits: the databases that have positive weight, and their weights as integers."""

    entries: int
    points: NDArray[np.int64]
    weights: NDArray[Any]

    def masses(self, table: TruthTable | None, size: int) -> Masses:
        """`M_S` by one product with the indicators of the cylinders for each block of databases."""
        import numpy as np

        n, sets = self.entries, list(_sets(range(self.entries), size))
        totals = np.zeros(len(sets), dtype=object)
        for start in range(0, len(self.points), _POINTS):
            points, weights = self.points[start : start + _POINTS], self.weights[start : start + _POINTS]
            if table is not None:
                points, weights = points[table[points]], weights[table[points]]
            needed = np.array([sum(1 << (n - 1 - j) for j in chosen) for chosen in sets], dtype=np.int64)
            inside = (points[:, None] & needed[None, :]) == needed[None, :]
            totals += integer_product(weights[None, :], inside)[0]
        return {chosen: int(total) for chosen, total in zip(sets, totals, strict=True)}

    def slices(self, table: TruthTable, leaked: Sequence[int]) -> Iterator[tuple[Fraction, BitLaw, TruthTable]]:
        """The slices by leaked values of positive probability, with the conditional law of the other entries."""
        import numpy as np

        n, known = self.entries, sorted(leaked)
        others = [j for j in range(n) if j not in known]
        rows = table.reshape((2,) * n).transpose(*known, *others).reshape(1 << len(known), 1 << len(others))
        seen, rest = _extracted(self.points, known, n), _extracted(self.points, others, n)
        total = int(self.weights.sum())
        for value in np.unique(seen):
            chosen = seen == value
            weights = self.weights[chosen]
            yield Fraction(int(weights.sum()), total), JointBits(len(others), rest[chosen], weights), rows[value]


def bit_law(entries: int, p: Number | Sequence[Number] | None, law: object) -> BitLaw:
    """The law given by the user: probabilities of independent bits, or a joint law; fair bits by default."""
    if law is not None:
        if p is not None:
            raise ArgumentError(f"p = {abridged(p)} and law = {abridged(law)}; give only one of them")
        return _joint(entries, law)
    return IndependentBits(bit_probabilities(entries, Fraction(1, 2) if p is None else p))


def bit_probabilities(entries: int, p: Number | Sequence[Number]) -> tuple[Fraction, ...]:
    """One probability strictly between 0 and 1 for all entries, or one for each."""
    listed = probability_list(p, "p") if is_array(p) else (as_fraction(p, "p"),) * entries  # type: ignore[arg-type]
    if len(listed) != entries:
        raise ArgumentError(f"p has {len(listed)} probabilities for {entries} entries; one for each is required")
    for index, value in enumerate(listed):
        if not 0 < value < 1:
            name = f"p[{index}]" if is_array(p) else "p"
            raise ArgumentError(
                f"{name} = {spelled(value)}; a probability strictly between 0 and 1 is required: of an entry that is "
                "certain there are no two values to compare, leave it out of the database"
            )
    return listed


def _joint(entries: int, law: object) -> JointBits:
    """A dict from tuples of bits to probabilities, or 2^n probabilities in the order of the table."""
    import numpy as np

    if is_mapping(law):
        for bits in law:
            if length_of_tuple(bits) != entries or any(bit not in (0, 1) for bit in bits):
                raise ArgumentError(
                    f"law has the key {abridged(bits)}; tuples of {entries} zeros and ones are required"
                )
        keys = [int("".join(str(int(bit)) for bit in bits), 2) for bits in law]
        points, values = np.array(keys, dtype=np.int64), list(law.values())
    elif is_array(law) and getattr(law, "ndim", 1) == 1:
        values = law if hasattr(law, "dtype") else list(law)  # type: ignore[call-overload,assignment]
        if len(values) != 1 << entries:
            raise ArgumentError(f"law has {len(values)} probabilities; {1 << entries} are required, one a database")
        points = np.arange(1 << entries, dtype=np.int64)
    else:
        raise ArgumentError(f"law = {abridged(law)}; a dict from tuples of bits to probabilities, or 2^n of these")
    weights = _integer_weights(values)
    positive = weights > 0
    return JointBits(entries, points[positive.astype(bool)], weights[positive.astype(bool)])


def _integer_weights(values: Any) -> NDArray[Any]:  # noqa: ANN401  (numbers of any kind)
    """Probabilities as integer multiples of one unit. They must sum to one; for doubles, up to rounding errors."""
    import numpy as np

    rounded = all(isinstance(value, float) for value in values) if not hasattr(values, "dtype") else True
    if rounded:
        doubles = np.asarray(values, dtype=np.float64)
        if not np.isfinite(doubles).all() or (doubles < 0).any():
            raise ArgumentError("law has a probability that is negative or no number; numbers from 0 to 1 are required")
        weights, exponent = integers_from_doubles(doubles)
        total = Fraction(int(weights.sum())) * Fraction(2) ** exponent
        tolerance = Fraction(1, 2**40) + Fraction(len(weights), 2**52)
    else:
        exact = [as_fraction(value, f"law[{index}]") for index, value in enumerate(values)]
        if negative := [value for value in exact if value < 0]:
            raise ArgumentError(f"law has the probability {spelled(negative[0])}; numbers from 0 to 1 are required")
        unit = lcm(*(value.denominator for value in exact))
        weights = np.array([int(value * unit) for value in exact], dtype=object)
        total, tolerance = sum(exact, Fraction(0)), Fraction(0)
    if abs(total - 1) > tolerance:
        raise ArgumentError(f"law sums to {spelled(float(total))}; probabilities must sum to one")
    return weights


def _sets(entries: Sequence[int] | range, size: int) -> Iterator[tuple[int, ...]]:
    """All sets of at most this many entries."""
    for count in range(min(size, len(entries)) + 1):
        yield from combinations(entries, count)


def _weights(p: tuple[Fraction, ...]) -> NDArray[Any]:
    """The weight of each value of these bits, as a multiple of one over the product of the denominators."""
    import numpy as np

    weights = np.array([1], dtype=object)
    for probability in p:
        one, zero = probability.numerator, probability.denominator - probability.numerator
        weights = np.stack([weights * zero, weights * one], axis=1).reshape(-1)
    return weights


def _restricted(weights: NDArray[Any], chosen: tuple[int, ...], first: int) -> NDArray[Any]:
    """The weights of the values with all chosen bits one, and 0 for the others; `first` is the highest bit's entry."""
    import numpy as np

    bits = len(weights).bit_length() - 1
    needed = sum(1 << (bits - 1 - (j - first)) for j in chosen)
    return np.where((np.arange(len(weights)) & needed) == needed, weights, 0)


def _extracted(points: NDArray[np.int64], entries: Sequence[int], n: int) -> NDArray[np.int64]:
    """The bits of these entries of every database, encoded as numbers."""
    import numpy as np

    result = np.zeros(len(points), dtype=np.int64)
    for j in entries:
        result = (result << 1) | ((points >> (n - 1 - j)) & 1)
    return result


Function: TypeAlias = "Callable[[tuple[int, ...]], int] | Sequence[int]"
"""A Python function of a tuple of bits, or its truth table."""
