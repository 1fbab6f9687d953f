"""Parts of which a reader knows who is in them: each is by itself, and the worst one counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from statpriv.curves.build import privacy_curve
from statpriv.model.adversaries import Adversary
from statpriv.model.populations import Population
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.variants import of_groups, unlabelled
from statpriv.numeric.enclosure import Enclosure

if TYPE_CHECKING:
    from statpriv.curves.curve import PrivacyCurve
    from statpriv.model.situation import Query

__all__ = ["Size", "curve_of_part", "worst_part"]

Size: TypeAlias = "int | Mapping[str, int]"
"""Entries of a part, or those of each group."""


def curve_of_part(query: Query, size: Size, *, known: int) -> PrivacyCurve:
    """The part all by itself, for a reader who knows who is in it and the values of up to `known` of them."""
    if isinstance(size, int):
        known = min(known, size - 1)
        if not isinstance(query, PostProcessed):  # known entries only shift an exact count
            return privacy_curve(query, Population(size - known))
        return privacy_curve(query, Population(size), adversary=Adversary(known=known))
    present = {group: entries for group, entries in size.items() if entries}
    known = min(known, sum(present.values()) - 1)
    return privacy_curve(of_groups(query, present), Population(groups=present), adversary=Adversary(known=known))


def worst_part(parts: Iterable[tuple[Query, Size]], *, known: int, epsilon: Fraction) -> Enclosure:
    """δ of the part that tells most, for a reader who knows who is in which, and `known` values wherever they help."""
    different = {
        (unlabelled(query), size if isinstance(size, int) else tuple(size.items())): (query, size)
        for query, size in parts
    }
    found = [curve_of_part(*part, known=known).delta(epsilon) for part in different.values()]
    return Enclosure(max(delta.lower for delta in found), max(delta.upper for delta in found))
