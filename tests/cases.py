"""How many cases a test tries: some for every change, more where `make campaign` sets `STATPRIV_CAMPAIGN`."""

import os

CAMPAIGN = os.environ.get("STATPRIV_CAMPAIGN", "") not in ("", "0")


def cases(few: int, *, campaign: int) -> int:
    """The number for this run."""
    return campaign if CAMPAIGN else few
