"""Several releases of one table, each of rows that no earlier release used.

Each release uses a random choice of the rows that are left. Δ of all releases is at most the largest of Σ_r w_r Δ_r
over the `cohorts`, the rows that joined after the same number of releases. w_r is the probability that a row is used in
release r, and Δ_r is the Δ of release r on its own rows. This holds whatever earlier answers later queries follow
(Theorem 5.3 of Breutigam and Reischuk, and docs/explanation/repeated-releases.md).
"""

from __future__ import annotations

import json
from fractions import Fraction

from .certificate import Verdict, claim, listed, proved, table, whole
from .counts import ONE, ZERO, CertificateError


def check_releases(document: dict[str, object]) -> Verdict:
    """Prove each release, and sum the results."""
    top = table(document, "the certificate", {"format", "claim", "cohorts", "releases"})
    epsilon, claimed = claim(top)
    releases = listed(top["releases"])
    verdicts = [proved(release, f"releases[{k}]", epsilon) for k, release in enumerate(releases)]
    populations = [release["situation"].get("population") for release in releases]
    if None in populations:
        raise CertificateError("releases: each has to state its entries, which a rule for tables does not")
    weights = weights_of(top["cohorts"], populations)
    low, high = (
        max(sum((w * v.delta[end] for w, v in zip(of_cohort, verdicts, strict=True)), ZERO) for of_cohort in weights)
        for end in (0, 1)
    )
    told = {"cohorts": top["cohorts"], "releases": [release["situation"] for release in releases]}
    text = f"(epsilon, delta) = ({top['claim']['epsilon']}, {top['claim']['delta']}) for {json.dumps(told)}"
    return Verdict("proved" if high <= claimed else "undecided", text, claimed, (low, min(ONE, high)), exact=False)


def weights_of(cohorts: object, used: list[int]) -> list[list[Fraction]]:
    """For each cohort the probabilities w_r: what of it is unspent is drawn like all other unspent rows."""
    if not listed(cohorts) or not used:
        raise CertificateError("cohorts and releases: a list of at least one each is required")
    joined: list[tuple[int, int]] = []
    for k, cohort in enumerate(listed(cohorts)):
        stated = table(cohort, f"cohorts[{k}]", {"rows", "joined_after"})
        rows = whole(stated["rows"], f"cohorts[{k}].rows", 1, 2**53)
        joined.append((rows, whole(stated["joined_after"], f"cohorts[{k}].joined_after", 0, len(used) - 1)))
    weights: list[list[Fraction]] = [[] for _ in joined]
    unspent = [ONE for _ in joined]
    for r, size in enumerate(used):
        left = sum(rows for rows, after in joined if after <= r) - sum(used[:r])
        if size > left:
            raise CertificateError(f"releases[{r}] uses {size} rows, of which {left} are left")
        for c, (_, after) in enumerate(joined):
            weights[c].append(unspent[c] * size / left if after <= r else ZERO)
            unspent[c] -= weights[c][-1]
    return weights
