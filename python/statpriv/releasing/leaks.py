"""δ if information about the secret partition leaked, or if several rows changed together.

Let row i be the critical row, and let a reader have partial information about the labels. Given this information, the
label of row i is k with some probability w_k. Revealing the label only helps the reader, so δ ≤ Σ_k w_k · Δ̂_k
(Theorem 5.2), where Δ̂_k is the curve of part k for a reader who knows its rows. The information determines w_k:

* labels of all rows: w_k is 0 or 1, so δ is the largest Δ̂_k;
* the union U of the used rows: the parts are a secret partition of U, and w_k = n_k/|U|. Everything is composed on U;
* labels of l other rows, l_k of them in part k: n − l rows remain, n_k − l_k of them in part k, so
  w_k = (n_k − l_k)/(n − l);
* labels and values of l other rows: those of part k are also known rows of it, which leaves m_k = n_k − l_k unknown.

It is also unknown which l rows leaked, so the split l_k is the worst one. With labels alone the sum is linear in the
l_k, and it is largest if the leaked rows come first from the parts (and unused rows) with the least Δ̂_k. With values
the sum is Σ_k f_k(m_k)/(n − l), where f_k(m) = m · Δ̂_k(m unknown). Let m_0 be the number of unused rows that did not
leak. The m_k and m_0 add up to n − l, so for every λ >= 0

    Σ_k f_k(m_k) ≤ λ(n − l) − λ m_0 + Σ_k max_m (f_k(m) − λ m).

The result is the least of these bounds over several λ. Δ̂ does not increase with the number of unknown rows, so on an
interval of m it is at most its value at the lower end. A few values of Δ̂ therefore bound f_k everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from statpriv.curves.remembered import remembered_delta
from statpriv.model.queries.variants import of_groups, unlabelled
from statpriv.numeric.enclosure import Enclosure
from statpriv.planning.sensitivity import if_one_count, one_row_at_a_time
from statpriv.releasing.deltas import at_most_one
from statpriv.releasing.guarantee import Guarantee
from statpriv.releasing.part import Part

__all__ = ["block", "leaks"]

SHARES = (Fraction(1, 100), Fraction(1, 10))
"""Of the rows, as numbers of other rows of which labels leak."""
ROWS = (1, 2, 4)
"""That change together."""
_INTERVALS = 24
_SLOPES = 48


def leaks(guarantee: Guarantee) -> list[tuple[str, int | None, Enclosure]]:
    """For each kind of leak: its name, its number of rows, and δ at the target's ε, besides the plan's known rows."""
    guarantee = guarantee.alike
    if not guarantee.is_of_parts:
        return []
    known, epsilon = guarantee.plan.guarantee.known_rows, guarantee.epsilon
    found: list[tuple[str, int | None, Enclosure]] = [
        ("labels of everyone", None, guarantee.published(known=known, epsilon=epsilon))
    ]
    if guarantee.plan.data.units is not None:  # labels of some rows of a unit say something of its other ones
        return found
    found.append(("the union of used rows", None, _union(guarantee)))
    numbers = sorted({int(share * guarantee.rows) for share in SHARES} - {0})
    found += [("labels of other rows", rows, _labels(guarantee, rows)) for rows in numbers]
    found += [("labels and values of other rows", rows, _values(guarantee, rows)) for rows in numbers]
    return found


def block(guarantee: Guarantee) -> list[tuple[int, Enclosure]]:
    """δ at the target's ε if one person has `rows` rows; the person's other rows are known rows.

    The value is exact if the answers together are one count of all rows. Otherwise it is the bound from chaining c
    steps of one changed row each, at ε/c. :mod:`statpriv.planning.sensitivity` has both.
    """
    largest = guarantee.plan.data.largest_unit
    if largest is not None:  # δ is that of all rows of a unit together
        return [(rows, guarantee.delta) for rows in ROWS if rows <= largest]
    unknown = guarantee.rows - guarantee.plan.guarantee.known_rows
    return [(rows, _of_one_person(guarantee, rows)) for rows in ROWS if rows <= unknown]


def _of_one_person(guarantee: Guarantee, rows: int) -> Enclosure:
    if rows == 1:
        return guarantee.delta
    epsilon = guarantee.epsilon
    exact = if_one_count(guarantee.curve, rows, epsilon)
    if exact is not None:
        return exact
    known = guarantee.plan.guarantee.known_rows + rows - 1
    return one_row_at_a_time(guarantee.secret(known=known, epsilon=epsilon / rows), rows, epsilon)


def _union(guarantee: Guarantee) -> Enclosure:
    """The same parts in a table without the other rows."""
    used = sum(guarantee.sizes)
    if used == guarantee.rows:
        return guarantee.delta
    groups = {group: sum(sizes) for group, sizes in guarantee.sizes_by_group if any(sizes)}
    parts = tuple(
        replace(part, groups={group: part.groups[group] for group in groups}, asked=of_groups(part.asked, groups))
        if part.groups
        else part
        for part in guarantee.parts
    )
    whole = replace(guarantee, rows=used, groups=groups or None, parts=parts)
    known = min(guarantee.plan.guarantee.known_rows, used - 1)
    return whole.bounded(known, guarantee.epsilon)


def _labels(guarantee: Guarantee, leaked: int, *, known: int = 0) -> Enclosure:
    """The greatest Σ_k w_k · Δ̂_k over all splits of the leaked labels; for a stratified plan, that of the worst group.

    In a stratified plan all leaked labels are assumed to belong to the group of the critical row, up to its size.
    """
    known += guarantee.plan.guarantee.known_rows
    deltas = guarantee.deltas(known=known, epsilon=guarantee.epsilon)
    strata = guarantee.sizes_by_group or ((None, guarantee.sizes),)
    ends = [
        max(
            _after_removing(leaked, (guarantee.groups or {}).get(group or "", guarantee.rows), sizes, side)
            for group, sizes in strata
        )
        for side in ([Fraction(delta.lower) for delta in deltas], [Fraction(delta.upper) for delta in deltas])
    ]
    return at_most_one(Enclosure(*ends))


def _after_removing(leaked: int, rows: int, sizes: Sequence[int], values: Sequence[Fraction]) -> Fraction:
    """Mean value of the remaining rows after removing those of least value; at least one row remains."""
    remaining, total = min(leaked, rows - 1), Fraction(0)
    left = rows - remaining
    unused = (Fraction(0), rows - sum(sizes))
    for value, size in sorted([unused, *zip(values, sizes, strict=True)]):
        gone = min(size, remaining)
        remaining -= gone
        total += (size - gone) * value
    return total / left


def _values(guarantee: Guarantee, leaked: int) -> Enclosure:
    """An upper bound on Σ_k m_k/(n − l) · Δ̂_k(m_k unknown) over all splits."""
    if guarantee.groups is not None:  # bound: all leaked rows are known in every part
        return _labels(guarantee, leaked, known=leaked)
    left = guarantee.rows - leaked
    fewest_unused = max(0, guarantee.rows - sum(guarantee.sizes) - leaked)
    kinds = Counter((part.size, unlabelled(part.query)) for part in guarantee.parts)
    of_kind = {(part.size, unlabelled(part.query)): part for part in guarantee.parts}
    bounded = [(count, _Unknown.of(guarantee, of_kind[kind], leaked)) for kind, count in kinds.items()]
    slopes = sorted({Fraction(0), *(value for _, part in bounded for *_, value in part.intervals)})
    bounds = [
        slope * (left - fewest_unused) + sum((count * part.most_above(slope) for count, part in bounded), Fraction(0))
        for slope in slopes[:: -(-len(slopes) // _SLOPES)]
    ]
    return at_most_one(Enclosure(Fraction(0), min(bounds) / left))


@dataclass(frozen=True)
class _Unknown:
    """Δ̂ of a part as a function of its number m of unknown rows: an upper bound on each closed interval of m."""

    intervals: tuple[tuple[int, int, Fraction], ...]

    @classmethod
    def of(cls, guarantee: Guarantee, part: Part, leaked: int) -> _Unknown:
        """Cover the numbers of unknown rows from all rows of the part to all except the leaked ones."""
        fewest = max(part.size - leaked, 1)
        step = -(-(part.size - fewest + 1) // _INTERVALS)
        known = guarantee.plan.guarantee.known_rows
        found = []
        for first in range(fewest, part.size + 1, step):
            delta = remembered_delta(part.curve(known=part.size - first + known), guarantee.epsilon)
            found.append((first, min(first + step - 1, part.size), Fraction(delta.upper)))
        return cls(tuple(found))

    def most_above(self, slope: Fraction) -> Fraction:
        """An upper bound on m · Δ̂(m) − slope · m over all m, including m = 0, where the value is 0."""
        return max(Fraction(0), *(m * (value - slope) for *ends, value in self.intervals for m in ends))
