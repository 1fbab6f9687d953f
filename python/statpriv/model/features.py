"""What a situation may state that no theorem covers unless it says so."""

from __future__ import annotations

FEATURES = {
    "clusters": "rows of a cluster depend on each other in any way",
    "each": "each row has a probability of its own",
}
"""The name of each feature by which rules say that they cover it, and what messages call it.

A rule that does not name a feature is offered no situation that has it. Functions that compute without rules refuse it.
"""
EACH = frozenset({"each"})
CLUSTERS = frozenset({"clusters"})
NONE: frozenset[str] = frozenset()
