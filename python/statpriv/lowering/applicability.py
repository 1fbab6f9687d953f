"""The verdict of a rule or a lowering whose hypotheses do not hold."""

from __future__ import annotations

from statpriv.model.queries.protocol import Capabilities
from statpriv.model.situation import PartitionedSituation

__all__ = ["NotApplicable", "require_no_pattern", "require_no_range"]


class NotApplicable(Exception):  # noqa: N818  (a verdict of a rule, caught by the registry, not an error)
    """A hypothesis of a rule does not hold; the message says which."""


def require_no_pattern(situation: PartitionedSituation) -> None:
    """For rules that are about the worst values of each part, or about one pair."""
    if situation.pattern is not None:
        raise NotApplicable("a pair is named for each part, which are composed exactly or not at all")


def require_no_range(asked: Capabilities, what: str = "this law") -> None:
    """For laws that are known of known probabilities only."""
    if asked.has_ranges:
        raise NotApplicable(f"{asked.range_noun}, over which {what} has no closed supremum here")
