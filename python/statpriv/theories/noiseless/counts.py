"""Counts of bits: symmetric functions, and counts on any family of sets of entries.

*One set* (Theorem 5, Corollary 2). Any number of symmetric functions of static bits are functions of one count c. The
ratio of the probabilities of c for the two values of an entry, `c q/((n−c) p)`, increases in c. It lies within `e^{±ε}`
exactly for `np/(p + q e^ε) <= c <= n p e^ε/(q + p e^ε)`. So δ of Definition 4 is the probability of all other counts,
if no value is excepted.

*Any sets* [own]. Entries that lie in the same sets form a *block*. The block counts `N_b` are independent, and the
answers are sums of block counts. An entry of block b affects `N_b` only, so that

    the curve of the entry  <=  Δ_{|b|},

with equality if the answers determine `N_b`, that is, if the indicator of b is a rational combination of the indicators
of the sets. Δ_n decreases in n, so the smallest block gives the upper bound. Each single count of `n_k` entries gives
the lower bound `Δ_{n_k}`. If the two bounds differ, small families are computed exactly from the law of all answers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, prod
from typing import Literal, TypeAlias

from statpriv import budget
from statpriv.curves.build import privacy_curve
from statpriv.curves.curve import PrivacyCurve
from statpriv.distributions.laws import binomial_upper_tail
from statpriv.errors import ArgumentError
from statpriv.model.adversaries import Adversary
from statpriv.model.populations import Population
from statpriv.model.queries.property import PropertyQuery
from statpriv.numeric.arguments import as_function, as_items, as_key
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_probability
from statpriv.numeric.literals import spelled
from statpriv.theories.noiseless.guarantee import NoiselessGuarantee
from statpriv.theories.noiseless.levels import Level, level_of

Block: TypeAlias = "tuple[int, ...]"
"""A block, as the indices of the sets that contain its entries."""


def symmetric_curve(
    entries: int,
    *,
    p: Number,
    function: Callable[[int], Hashable] | None = None,
    known: int = 0,
) -> PrivacyCurve:
    """The privacy curve of one symmetric function of independent bits, or of any number of them together.

    Parameters
    ----------
    entries : int
        Number n of bits, at least 1.
    p : float, int, Fraction, Decimal or str
        Probability that a bit is one.
    function : callable, optional
        The published function of the count, such as ``lambda count: count % 2``. The default is the count itself,
        which determines every symmetric function.
    known : int, default 0
        Number of the other bits that are known.

    Returns
    -------
    PrivacyCurve
        Exact: δ of statistical privacy against ε.

    Raises
    ------
    ArgumentError
        A value that is not allowed.

    Notes
    -----
    Source: *Noiseless Database Privacy*, Theorem 5 and Corollary 2, which say that δ is negligible.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.noiseless.symmetric_curve(1000, p="1/2").delta("0.2").upper < 1e-4
    True
    >>> sp.noiseless.symmetric_curve(10, p="1/2", function=lambda count: count % 2).delta(0)
    Enclosure(0.0, 0.0)
    """
    n = as_count(entries, "entries", least=1)
    query = PropertyQuery(p)
    if function is not None:
        as_function(function, "function", "a function of the count, such as lambda count: count % 2, is required")
    asked = query if function is None else query.mapped(_classes(function, n))
    return privacy_curve(asked, Population(n), adversary=Adversary(known=known))


def symmetric_guarantee(
    entries: int,
    epsilon: Number | None = None,
    *,
    p: Number,
    exp_epsilon: Number | None = None,
    known: int = 0,
) -> NoiselessGuarantee:
    """(ε, δ)-noiseless privacy of any number of symmetric functions of independent bits: Theorem 5 with an explicit δ.

    Parameters
    ----------
    entries : int
        Number n of bits, at least 1.
    epsilon : float, int, Fraction, Decimal or str
        ε in nats, at least 0; or `exp_epsilon`, e^ε, at least 1.
    p : float, int, Fraction, Decimal or str
        Probability that a bit is one, strictly between 0 and 1.
    known : int, default 0
        Number of the other bits that are known; only the unknown bits hide an entry.

    Returns
    -------
    NoiselessGuarantee
        An enclosure of δ, the probability of the counts whose ratio is not within `e^{±ε}`. This δ is the least
        possible, unless a value of the entries is excepted.

    Raises
    ------
    ArgumentError
        A value that is not allowed.

    Notes
    -----
    Source: *Noiseless Database Privacy*, Theorem 5 and Corollary 2.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.noiseless.symmetric_guarantee(4, p="1/2", exp_epsilon=3).delta
    Enclosure(0.12499999..., 0.12500000...)
    >>> sp.noiseless.symmetric_guarantee(10_000, "0.1", p="1/2").delta.upper < 1e-5
    True
    """
    n, probability = as_count(entries, "entries", least=1), as_probability(p, "p")
    if probability in (0, 1):
        raise ArgumentError(f"p = {spelled(p)}; a probability strictly between 0 and 1 is required")
    if as_count(known, "known") >= n:
        raise ArgumentError(f"known = {known}; at most {n - 1} of {n} entries can be known, the critical one is not")
    n -= as_count(known, "known")
    level = level_of(epsilon, exp_epsilon)
    above = _largest_count(n, probability, level) + 1
    below = _largest_count(n, 1 - probability, level) + 1
    tails = binomial_upper_tail(above, n=n, p=probability) + binomial_upper_tail(below, n=n, p=1 - probability)
    delta = Enclosure(min(1.0, tails.lower), min(1.0, tails.upper))
    theorem = "Theorem 5 with an explicit δ, and Corollary 2 for any number of symmetric functions"
    return NoiselessGuarantee(level.shown, delta, "noiseless", theorem)


def _classes(function: Callable[[int], Hashable], n: int) -> dict[int, str]:
    """A name for the answer of each count: only the partition of the counts by their answers matters."""
    names: dict[Hashable, str] = {}
    return {count: names.setdefault(function(count), f"answer {len(names)}") for count in range(n + 1)}


def _largest_count(n: int, p: Fraction, level: Level) -> int:
    """The largest c from 0 to n−1 with `c q/((n−c) p) <= e^ε`, by bisection: the ratio increases in c."""
    holds, fails = 0, n
    while fails - holds > 1:
        middle = (holds + fails) // 2
        if level.holds(middle * (1 - p) / ((n - middle) * p)):
            holds = middle
        else:
            fails = middle
    return holds


class SubsetCounts:
    """Exact counts of independent bits on any family of sets of entries, all of them published.

    Parameters
    ----------
    subsets : sequence of iterables
        The entries of each count; any hashable names.
    p : float, int, Fraction, Decimal or str
        Probability that a bit is one, strictly between 0 and 1.

    Raises
    ------
    ArgumentError
        No sets, an empty set, or a probability out of range.

    Examples
    --------
    A register counts its members when it has 100 and again when it has 250: the later 150 hide each other, and so do
    the first 100.

    >>> import statpriv as sp
    >>> counts = sp.noiseless.SubsetCounts([range(100), range(250)], p="1/2")
    >>> counts.kind, counts.hidden_among
    ('exact', 100)
    >>> counts.delta("0.3") == sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(100)).delta("0.3")
    True
    """

    def __init__(self, subsets: Sequence[Iterable[Hashable]], *, p: Number) -> None:
        listed = as_items(subsets, "subsets", "a list of sets of entries is required")
        self._p = as_probability(p, "p")
        if self._p in (0, 1):
            raise ArgumentError(f"p = {spelled(p)}; a probability strictly between 0 and 1 is required")
        of_entry: defaultdict[Hashable, list[int]] = defaultdict(list)
        self._sizes = []
        for index, subset in enumerate(listed):
            name = f"subsets[{index}]"
            entries = frozenset(as_key(entry, name) for entry in as_items(subset, name, "a set of entries is required"))
            if not entries:
                raise ArgumentError(f"subsets[{index}] is empty; a set of entries is required")
            self._sizes.append(len(entries))
            for entry in entries:
                of_entry[entry].append(index)
        if not self._sizes:
            raise ArgumentError("subsets is empty; at least one set of entries is required")
        self._blocks = Counter(tuple(sets) for sets in of_entry.values())

    @property
    def blocks(self) -> dict[tuple[int, ...], int]:
        """The number of entries of each block; a block is the tuple of the indices of its sets, from 0."""
        return dict(self._blocks)

    @property
    def hidden_among(self) -> int:
        """The size of the smallest block: every entry is hidden in a block of at least this many entries."""
        return min(self._blocks.values())

    @cached_property
    def determined(self) -> frozenset[tuple[int, ...]]:
        """Blocks whose own count is determined by the answers."""
        return frozenset(block for row in self._reduced if len(row) == 1 for block in row)

    @property
    def kind(self) -> Literal["exact", "enclosed"]:
        """Whether :meth:`delta` encloses δ up to rounding ("exact"), or between a lower and an upper bound."""
        return "exact" if self._exact_curves is not None else "enclosed"

    @property
    def theorem(self) -> str:
        """The statement that proves the curve."""
        if self.hidden_among == self._least_attained:
            return "Theorems 12 and 13, exactly: max over blocks of Δ_{|b|}; the answers tell the smallest count"
        if self.kind == "exact":
            return "the law of all answers that tie blocks together, written out"
        return "δ is at most Δ of the smallest block, and at least Δ of every count that the answers determine"

    def delta(self, epsilon: Number) -> Enclosure:
        """The least δ at which all counts together are (ε, δ)-statistically private; ε in nats, at least 0.

        The upper end is safe. :attr:`kind` says whether the enclosure is tight.
        """
        if self._exact_curves is not None:
            found = [curve.delta(epsilon) for curve in self._exact_curves]
            return Enclosure(max(one.lower for one in found), max(one.upper for one in found))
        attained = self._of_count(self._least_attained).delta(epsilon)
        return Enclosure(attained.lower, self._of_count(self.hidden_among).delta(epsilon).upper)

    def epsilon(self, delta: Number) -> Enclosure:
        """The least ε in nats at which all counts together are (ε, δ)-statistically private; δ from 0 to 1."""
        if self._exact_curves is not None:
            found = [curve.epsilon(delta) for curve in self._exact_curves]
            return Enclosure(max(one.lower for one in found), max(one.upper for one in found))
        attained = self._of_count(self._least_attained).epsilon(delta)
        return Enclosure(attained.lower, self._of_count(self.hidden_among).epsilon(delta).upper)

    def explain(self) -> str:
        """The blocks, and the statement that proves the guarantee."""
        lines = [f"{sum(self._blocks.values())} entries in {len(self._sizes)} counts, a bit one with p = {self._p}"]
        for sets, size in sorted(self._blocks.items()):
            known = "count determined by the answers" if sets in self.determined else "count not determined"
            lines.append(f"  in counts {', '.join(map(str, sets))}: {size} entries, {known}")
        return "\n".join([*lines, f"{self.kind}: {self.theorem}"])

    def __repr__(self) -> str:
        blocks = f"{len(self._blocks)} blocks, the smallest of {self.hidden_among}"
        return f"<SubsetCounts: {len(self._sizes)} counts, {blocks}>"

    @cached_property
    def _least_attained(self) -> int:
        """The smallest size of a set or block whose count is determined by the answers."""
        return min([*self._sizes, *(self._blocks[block] for block in self.determined)])

    @cached_property
    def _components(self) -> list[list[Block]]:
        """Groups of blocks such that the answers about different groups are independent."""
        component = {block: [block] for block in self._blocks}
        for row in self._reduced:
            tied = {id(component[block]): component[block] for block in row}
            joined = [block for blocks in tied.values() for block in blocks]
            component.update(dict.fromkeys(joined, joined))
        return list({id(blocks): blocks for blocks in component.values()}.values())

    @cached_property
    def _reduced(self) -> list[dict[Block, Fraction]]:
        """Reduced basis of the rational combinations of block counts that the answers determine."""
        rows: list[dict[Block, Fraction]] = [{} for _ in self._sizes]
        for block in self._blocks:
            for index in block:
                rows[index][block] = Fraction(1)
        return _row_space(rows)

    @cached_property
    def _exact_curves(self) -> tuple[PrivacyCurve, ...] | None:
        """Curves whose maximum is the curve of the family; None if the exact law of the answers is too large.

        The first is the curve of the smallest determined count. The others are those of the components that have a
        smaller block, and so may be worse.
        """
        curves = [self._of_count(self._least_attained)]
        for component in self._components:
            sizes = [self._blocks[block] for block in component]
            if min(sizes) >= self._least_attained:
                continue
            if prod(size + 1 for size in sizes) > budget.MAX_COUNT_OUTCOMES:
                return None
            curves += [privacy_curve(self._stated(block, component), Population(sum(sizes))) for block in component]
        return tuple(curves)

    def _of_count(self, size: int) -> PrivacyCurve:
        return privacy_curve(PropertyQuery(self._p), Population(size))

    def _stated(self, critical: Block, component: list[Block]) -> _Answers:
        """The law of the answers about a component, for either value of an entry of one of its blocks."""
        one, zero = self._p.numerator, self._p.denominator - self._p.numerator
        laws = []
        for value in (0, 1):
            law = {tuple(value if index in critical else 0 for index in range(len(self._sizes))): 1}
            for block in component:
                size = self._blocks[block] - (block == critical)
                masses = [comb(size, count) * one**count * zero ** (size - count) for count in range(size + 1)]
                added: defaultdict[tuple[int, ...], int] = defaultdict(int)
                for answer, mass in law.items():
                    for count, weight in enumerate(masses):
                        moved = tuple(a + count if index in block else a for index, a in enumerate(answer))
                        added[moved] += mass * weight
                law = added
            total = sum(law.values())
            laws.append({answer: Fraction(mass, total) for answer, mass in law.items()})
        return _Answers(laws[0], laws[1])


@dataclass(frozen=True)
class _Answers:
    """The laws of all counts for both values of an entry, as a query."""

    zero: dict[tuple[int, ...], Fraction]
    one: dict[tuple[int, ...], Fraction]

    def answer_laws(self, entries: int) -> dict[int, dict[tuple[int, ...], Fraction]]:  # noqa: ARG002
        """The same for any number of entries."""
        return {0: self.zero, 1: self.one}


def _row_space(rows: Iterable[dict[Block, Fraction]]) -> list[dict[Block, Fraction]]:
    """The reduced echelon form as sparse rows, without zero rows."""
    reduced: dict[Block, dict[Block, Fraction]] = {}
    for given in rows:
        row = dict(given)
        for leading in [block for block in row if block in reduced]:
            _subtract(row, row[leading], reduced[leading])
        if not row:
            continue
        place = next(iter(row))
        row = {block: value / row[place] for block, value in row.items()}
        for basis in reduced.values():
            if place in basis:
                _subtract(basis, basis[place], row)
        reduced[place] = row
    return list(reduced.values())


def _subtract(row: dict[Block, Fraction], factor: Fraction, other: dict[Block, Fraction]) -> None:
    """`row −= factor · other`, in place; entries that become zero are removed."""
    for block, value in other.items():
        left = row.get(block, Fraction(0)) - factor * value
        if left:
            row[block] = left
        else:
            row.pop(block, None)
