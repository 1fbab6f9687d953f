"""Parts whose members a reader knows: each part is evaluated by itself, and the worst one counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from statpriv.curves.build import privacy_curve
from statpriv.model.adversaries import Adversary
from statpriv.model.populations import Population
from statpriv.model.queries.variants import of_groups, unlabelled
from statpriv.model.situation import asked_of, capabilities
from statpriv.numeric.enclosure import Enclosure

if TYPE_CHECKING:
    from statpriv.curves.curve import PrivacyCurve
    from statpriv.model.situation import Query

Size: TypeAlias = "int | Mapping[str, int]"
"""Number of entries of a part, in total or by group."""


def curve_of_part(query: Query, size: Size, *, known: int) -> PrivacyCurve:
    """The curve of one part alone, for a reader who knows its members and the values of up to `known` of them."""
    if isinstance(size, int):
        known = min(known, size - 1)
        if asked_of(query) is query and not capabilities(query).has_minimum:
            # known entries only shift an exact count
            return privacy_curve(query, Population(size - known))
        return privacy_curve(query, Population(size), adversary=Adversary(known=known))
    present = {group: entries for group, entries in size.items() if entries}
    known = min(known, sum(present.values()) - 1)
    return privacy_curve(of_groups(query, present), Population(groups=present), adversary=Adversary(known=known))


def worst_part(parts: Iterable[tuple[Query, Size]], *, known: int, epsilon: Fraction) -> Enclosure:
    """δ of the worst part, for a reader who knows all parts' members, and `known` values in whichever part is worst."""
    different = {
        (unlabelled(query), size if isinstance(size, int) else tuple(size.items())): (query, size)
        for query, size in parts
    }
    found = [curve_of_part(*part, known=known).delta(epsilon) for part in different.values()]
    return Enclosure(max(delta.lower for delta in found), max(delta.upper for delta in found))
