"""The verdict of a rule or a lowering whose hypotheses do not hold."""

from __future__ import annotations

from statpriv.model.queries.protocol import Capabilities
from statpriv.model.situation import PartitionedSituation


class NotApplicable(Exception):  # noqa: N818  (a verdict of a rule, caught by the registry, not an error)
    """A hypothesis of a rule does not hold; the message says which."""


def require_no_pattern(situation: PartitionedSituation) -> None:
    """Refuse a named pair for each part: the rule concerns the worst values of each part, or one pair for all."""
    if situation.pattern is not None:
        raise NotApplicable("a pair is named for each part, which are composed exactly or not at all")


def require_no_range(asked: Capabilities, what: str = "this law") -> None:
    """Refuse ranges of probabilities: the law is known for given probabilities only."""
    if asked.has_ranges:
        raise NotApplicable(f"{asked.range_noun}, over which {what} has no closed supremum here")
