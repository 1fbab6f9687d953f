"""Queries on overlapping parts of independent data: Theorem 1, in its printed and in a sharper form.

Query i reads the entries `T_i`; `T*` is the set of entries that two or more queries read. Suppose that query i is
(ε_i, δ_i)-noiseless private when up to `|T_i ∩ T*|` entries of T_i are known. Fix an entry ℓ, and reveal `T* ∖ {ℓ}`.
The revealed values are independent of t_ℓ, and given them and t_ℓ the answers are independent. A query that does not
read ℓ has the same law for both values of t_ℓ. So, as long as no answer lies in the excepted set `S_1` of its query,
the ratio of all answers is at most `exp Σ_{i: ℓ∈T_i} ε_i`; the paper has the sum over all queries. Mixing over the
revealed values preserves this bound. One set of excepted answers for all entries has probability at most `Σ_i δ_i`. For
a single entry ℓ only the queries that read it contribute: `Σ_{i: ℓ∈T_i} δ_i`.

So disjoint queries do not increase ε (Theorems 12 and 13), nor the δ of a single entry. With *one* excepted set for all
entries, as in Definition 4, the δ_i add up even for disjoint queries, which the paper overlooks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import as_items, as_key
from statpriv.numeric.exact import Number, as_count, as_fraction, as_probability, is_array
from statpriv.numeric.literals import literal, spelled


@dataclass(frozen=True)
class OverlappingQueries:
    """The joint guarantee of queries on overlapping parts of independent data.

    Attributes
    ----------
    epsilon
        ε in nats: the largest sum, over the entries, of the ε_i of the queries that read the entry.
    printed_epsilon
        ε of Theorem 1 as printed: the sum of all ε_i.
    delta
        δ of Definition 4, with one set of excepted answers for all entries: the sum of all δ_i, at most 1.
    delta_of_each_entry
        δ of a single entry: the largest sum, over the entries, of the δ_i of the queries that read the entry.
    shared
        T*, the entries that two or more queries read.
    leaks
        `|T_i ∩ T*|` of each query: its own guarantee has to hold when that many of its entries are known.
    """

    epsilon: Fraction
    printed_epsilon: Fraction
    delta: Fraction
    delta_of_each_entry: Fraction
    shared: frozenset[Hashable]
    leaks: tuple[int, ...]

    @property
    def theorem(self) -> str:
        """The statement that proves the guarantee."""
        if not self.shared:
            return "Theorems 12 and 13: the queries read disjoint entries"
        return "Theorem 1, summed over the queries that read one entry"

    def explain(self) -> str:
        """The guarantee, its hypotheses, and the ε of the theorem as printed."""
        return (
            f"ε = {literal(self.epsilon)}, δ = {literal(self.delta)} for all entries at once, "
            f"{literal(self.delta_of_each_entry)} for each by itself, by {self.theorem}.\n"
            f"{len(self.shared)} entries are read by two queries or more; query i must keep its guarantee with so many "
            f"of its entries known: {', '.join(map(str, self.leaks))}.\n"
            f"Theorem 1 as printed: ε = {literal(self.printed_epsilon)}."
        )


def compose_overlapping(
    entries: Sequence[Iterable[Hashable]],
    epsilon: Number | Sequence[Number],
    delta: Number | Sequence[Number] = 0,
    *,
    leaked: int | Sequence[int] | None = None,
) -> OverlappingQueries:
    """Queries on parts of independent data that may share entries: Theorem 1, and a sharper ε.

    Parameters
    ----------
    entries : sequence of iterables
        T_i, the entries that each query reads; any hashable names.
    epsilon, delta : float, int, Fraction, Decimal or str, or a sequence
        (ε_i, δ_i) of each query, ε in nats: its noiseless privacy when `leaks[i]` of its entries are known. One
        number for all queries or one for each.
    leaked : int or sequence of int, optional
        Number of known entries under which the given guarantees hold. If given, it is checked to be at least `leaks`.

    Returns
    -------
    OverlappingQueries
        The guarantee of all answers together.

    Raises
    ------
    ArgumentError
        Inconsistent numbers, or a query that shares more entries than its guarantee allows for.

    Notes
    -----
    Source: *Noiseless Database Privacy*, Theorem 1; the sharper form is proved in the module docstring.

    Examples
    --------
    Three surveys; ten people took part in the first and in the second:

    >>> import statpriv as sp
    >>> surveys = [range(0, 100), range(90, 200), range(200, 300)]
    >>> together = sp.noiseless.compose_overlapping(surveys, ["0.5", "0.25", "0.5"], leaked=10)
    >>> str(together.epsilon), str(together.printed_epsilon), together.leaks
    ('3/4', '5/4', (10, 10, 0))
    """
    parts = _parts(entries)
    epsilons = _each(epsilon, len(parts), "epsilon")
    deltas = _each(delta, len(parts), "delta")
    for index, (one, loss) in enumerate(zip(epsilons, deltas, strict=True)):
        if one < 0:
            raise ArgumentError(f"epsilon[{index}] = {spelled(one)}; a number of at least 0 is required")
        as_probability(loss, f"delta[{index}]")
    readers = Counter(entry for part in parts for entry in part)
    shared = frozenset(entry for entry, count in readers.items() if count > 1)
    leaks = tuple(len(part & shared) for part in parts)
    _check_leaks(leaks, leaked)
    return OverlappingQueries(
        epsilon=_largest_sum(parts, epsilons),
        printed_epsilon=sum(epsilons, Fraction(0)),
        delta=min(Fraction(1), sum(deltas, Fraction(0))),
        delta_of_each_entry=min(Fraction(1), _largest_sum(parts, deltas)),
        shared=shared,
        leaks=leaks,
    )


def _parts(entries: object) -> list[frozenset[Hashable]]:
    parts: list[frozenset[Hashable]] = []
    for index, part in enumerate(
        as_items(entries, "entries", "a list with the entries that each query reads is required")
    ):
        name = f"entries[{index}]"
        read = as_items(part, name, "the entries that the query reads are required")
        parts.append(frozenset(as_key(entry, name) for entry in read))
        if not parts[-1]:
            raise ArgumentError(
                f"entries[{index}] is empty; a query that reads no entry needs no guarantee: leave it out"
            )
    if not parts:
        raise ArgumentError("entries is empty; the entries of at least one query are required")
    return parts


def _each(value: object, count: int, name: str) -> list[Fraction]:
    if not is_array(value) or getattr(value, "ndim", 1) == 0:
        return [as_fraction(value, name)] * count  # type: ignore[arg-type]
    listed = [as_fraction(one, f"{name}[{index}]") for index, one in enumerate(value)]  # type: ignore[arg-type,var-annotated]
    if len(listed) != count:
        raise ArgumentError(f"{name} has {len(listed)} numbers for {count} queries; one for each is required")
    return listed


def _check_leaks(leaks: tuple[int, ...], leaked: int | Sequence[int] | None) -> None:
    if leaked is None:
        return
    allowed = list(leaked) if isinstance(leaked, Sequence) else [leaked] * len(leaks)
    if len(allowed) != len(leaks):
        raise ArgumentError(f"leaked has {len(allowed)} numbers for {len(leaks)} queries; one for each is required")
    for index, (needed, given) in enumerate(zip(leaks, allowed, strict=True)):
        if needed > as_count(given, f"leaked[{index}]"):
            raise ArgumentError(
                f"query {index} shares {needed} entries with others, but its guarantee allows for {given} known ones; "
                f"give its ε and δ with {needed} known entries, which are larger, or let it read more of its own"
            )


def _largest_sum(parts: list[frozenset[Hashable]], amounts: list[Fraction]) -> Fraction:
    sums: Counter[Hashable] = Counter()
    for part, amount in zip(parts, amounts, strict=True):
        for entry in part:
            sums[entry] += amount  # type: ignore[assignment]
    return Fraction(max(sums.values()))
