"""What δ would be if something about the secret partition leaked, or if several rows changed together.

Let row i be the critical one, and let a reader know something of the labels. Given what he knows, the label of row i is
k with some probability w_k, and revealing it only helps him: δ ≤ Σ_k w_k · Δ̂_k (Theorem 5.2), Δ̂_k the curve of part k
for somebody who knows who is in it. What he knows changes the weights:

* labels of everyone: w_k is 0 or 1, so δ is the largest Δ̂_k;
* the union U of the used rows: the parts are a secret partition of U, and w_k = n_k/|U|. Everything is composed on U;
* labels of l other rows, l_k of them in part k: of the n − l others part k has n_k − l_k, so w_k = (n_k − l_k)/(n − l);
* labels and values of l other rows: also these are known rows of part k, which has m_k = n_k − l_k unknown ones.

Which l rows leaked is not known either, so the split l_k is the worst one. With labels alone the sum is linear in the
l_k, and largest if they are taken from the parts (and unused rows) with the least Δ̂_k first. With values it is
Σ_k f_k(m_k)/(n − l), f_k(m) = m · Δ̂_k(m unknown). For every λ >= 0, because the m_k and the unused rows m_0 that did
not leak add up to n − l,

    Σ_k f_k(m_k) ≤ λ(n − l) − λ m_0 + Σ_k max_m (f_k(m) − λ m),

and the least of these bounds over some λ is taken. Δ̂ does not rise with the number of unknown rows, so on an interval
of m it is at most its value at the lower end, and a few values of it bound f_k everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from statpriv.model.queries.variants import of_groups, unlabelled
from statpriv.numeric.enclosure import Enclosure
from statpriv.planning.sensitivity import if_one_count, one_row_at_a_time
from statpriv.releasing.guarantee import Guarantee, Part, at_most_one

__all__ = ["block", "leaks"]

SHARES = (Fraction(1, 100), Fraction(1, 10))
"""Of the rows, as numbers of other rows of which labels leak."""
ROWS = (1, 2, 4)
"""That change together."""
_INTERVALS = 24
_SLOPES = 48


def leaks(guarantee: Guarantee) -> list[tuple[str, int | None, Enclosure]]:
    """What is known, of how many rows, and δ then, at the target's ε; the plan's known rows are known besides."""
    known, epsilon = guarantee.plan.guarantee.known_rows, guarantee.epsilon
    found: list[tuple[str, int | None, Enclosure]] = [
        ("labels of everyone", None, guarantee.published(known=known, epsilon=epsilon)),
        ("the union of used rows", None, _union(guarantee)),
    ]
    numbers = sorted({int(share * guarantee.rows) for share in SHARES} - {0})
    found += [("labels of other rows", rows, _labels(guarantee, rows)) for rows in numbers]
    found += [("labels and values of other rows", rows, _values(guarantee, rows)) for rows in numbers]
    return found


def block(guarantee: Guarantee) -> list[tuple[int, Enclosure]]:
    """δ at the target's ε if `rows` rows belong to one person: the other rows of the person are known ones.

    Exactly where the answers are together one count of all rows. Else by chaining c steps that change one row each, at
    ε/c: :mod:`statpriv.planning.sensitivity` has both.
    """
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
    """The same parts, of a table that has no other rows."""
    used = sum(guarantee.sizes)
    groups = {group: sum(sizes) for group, sizes in guarantee.sizes_by_group if any(sizes)}
    parts = tuple(
        replace(part, groups={group: part.groups[group] for group in groups}, asked=of_groups(part.asked, groups))
        if part.groups
        else part
        for part in guarantee.parts
    )
    whole = replace(guarantee, rows=used, groups=groups or None, parts=parts)
    known = min(guarantee.plan.guarantee.known_rows, used - 1)
    if whole.costly(known):
        return whole.bounded(known, guarantee.epsilon)
    return whole.secret(known=known, epsilon=guarantee.epsilon)


def _labels(guarantee: Guarantee, leaked: int, *, known: int = 0) -> Enclosure:
    """The greatest Σ_k w_k · Δ̂_k over all splits of the leaked labels; in a stratified plan that of the worst group.

    There all labels are those of the group of the critical row, as far as it has enough.
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
    """The mean value of the rows that are left, after those of the least values were removed, and one is left."""
    remaining, total = min(leaked, rows - 1), Fraction(0)
    left = rows - remaining
    unused = (Fraction(0), rows - sum(sizes))
    for value, size in sorted([unused, *zip(values, sizes, strict=True)]):
        gone = min(size, remaining)
        remaining -= gone
        total += (size - gone) * value
    return total / left


def _values(guarantee: Guarantee, leaked: int) -> Enclosure:
    """A bound of Σ_k m_k/(n − l) · Δ̂_k(m_k unknown) over all splits."""
    if guarantee.groups is not None:  # as if all leaked rows were in every part
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
    """Δ̂ of a part by its number m of unknown rows: at most a value on each interval of m, its ends included."""

    intervals: tuple[tuple[int, int, Fraction], ...]

    @classmethod
    def of(cls, guarantee: Guarantee, part: Part, leaked: int) -> _Unknown:
        """From all rows of the part down to all but the leaked ones."""
        fewest = max(part.size - leaked, 1)
        step = -(-(part.size - fewest + 1) // _INTERVALS)
        known = guarantee.plan.guarantee.known_rows
        found = []
        for first in range(fewest, part.size + 1, step):
            delta = part.curve(known=part.size - first + known).delta(guarantee.epsilon)
            found.append((first, min(first + step - 1, part.size), Fraction(delta.upper)))
        return cls(tuple(found))

    def most_above(self, slope: Fraction) -> Fraction:
        """At least m · Δ̂(m) − slope · m for every m; also for m = 0, where it is 0."""
        return max(Fraction(0), *(m * (value - slope) for *ends, value in self.intervals for m in ends))
