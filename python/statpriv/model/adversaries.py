"""Adversaries: what is known besides the distribution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from statpriv.model.groups import ByGroup, by_group, show_groups
from statpriv.numeric.arguments import as_word
from statpriv.numeric.calls import answered_class
from statpriv.numeric.exact import Number, as_count


@answered_class
@dataclass(frozen=True, init=False, repr=False)
class Adversary:
    """Someone who knows the distribution of the entries, and the values of some of them.

    Parameters
    ----------
    known : int or dict of str to int, default 0
        How many of the other entries are known, the critical one never among them; or how many of each group.
    values : {"worst", "expected"}, default "worst"
        The known entries have their worst values, or values of which only the distribution is stated: then δ is the
        mean over them.

    Attributes
    ----------
    known : int or tuple of (str, int)
        The number, or the group and number of each group, in the order given.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.Adversary(known=100)
    Adversary(known=100)
    >>> sp.Adversary(known={"f": 3, "m": 2}, values="expected").total
    5
    """

    known: int | ByGroup[int]
    values: Literal["worst", "expected"]

    def __init__(
        self, *, known: Number | Mapping[str, Number] = 0, values: Literal["worst", "expected"] = "worst"
    ) -> None:
        expected = as_word(values, "values", ("worst", "expected"))
        counts = by_group(known, "known", as_count) if isinstance(known, Mapping) else as_count(known, "known")
        object.__setattr__(self, "known", counts)
        object.__setattr__(self, "values", expected)

    @property
    def total(self) -> int:
        """How many entries are known, over all groups."""
        return self.known if isinstance(self.known, int) else sum(count for _, count in self.known)

    @property
    def by_group(self) -> bool:
        """Whether the number is stated for each group."""
        return not isinstance(self.known, int)

    @property
    def groups(self) -> ByGroup[int]:
        """Group and number, where these are stated; else nothing."""
        return () if isinstance(self.known, int) else self.known

    def known_in(self, group: str | None) -> int:
        """How many entries of a group may be known: all, where that is not stated by group."""
        return self.total if group is None or not self.by_group else dict(self.groups).get(group, 0)

    def __repr__(self) -> str:
        known = show_groups(self.groups, str) if self.by_group else str(self.total)
        return f"Adversary(known={known}{'' if self.values == 'worst' else f', values={self.values!r}'})"
