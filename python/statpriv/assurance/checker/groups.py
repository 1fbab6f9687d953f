"""Counts of several groups of entries, each on secret parts of its own.

The groups are counted together: for each part, a given number of entries is drawn from each group, independently. A
reader who is told the counts of each group separately learns no less, and the counts of the other groups do not depend
on the critical entry. So Δ is at most the largest Δ of one group alone, for a reader whose known entries are all in
that group, as far as they fit.
"""

from __future__ import annotations

import json

from .certificate import Verdict, claim, proved, table
from .counts import ONE, CertificateError


def check_groups(document: dict[str, object]) -> Verdict:
    """Prove each group separately; the worst one counts."""
    top = table(document, "the certificate", {"format", "claim", "groups"})
    epsilon, claimed = claim(top)
    groups = top["groups"]
    if not isinstance(groups, dict) or not groups:
        raise CertificateError("groups: a table with at least one is required")
    verdicts = [proved(of_group, f"groups[{json.dumps(name)}]", epsilon) for name, of_group in groups.items()]
    low, high = (max(verdict.delta[end] for verdict in verdicts) for end in (0, 1))
    told = {"groups": {name: of_group["situation"] for name, of_group in groups.items()}}
    text = f"(epsilon, delta) = ({top['claim']['epsilon']}, {top['claim']['delta']}) for {json.dumps(told)}"
    return Verdict("proved" if high <= claimed else "undecided", text, claimed, (low, min(ONE, high)), exact=False)
