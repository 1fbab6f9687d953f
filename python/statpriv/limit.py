"""What a limit on work or size is, and how a page shows it; the limits themselves are in `budget.py`.

It imports nothing of the package.
"""

from __future__ import annotations

from collections.abc import Iterable

MARKERS = ("<!-- limits: written by python -m statpriv.budget -->", "<!-- end of limits -->")
"""Lines around the table in docs/LIMITATIONS.md."""


class Limit(int):
    """A number that knows what it limits.

    Attributes
    ----------
    of : str
        What is limited, with its unit.
    refusal : str
        What a user is told beyond it, or given instead, and what to do.
    reason : str
        Why the limit has this value.
    """

    of: str
    refusal: str
    reason: str

    def __new__(cls, value: int, of: str, *, refusal: str, reason: str) -> Limit:  # noqa: D102
        self = super().__new__(cls, value)
        self.of, self.refusal, self.reason = of, refusal, reason
        return self

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        """Results that hold a limit are copied and pickled with the number alone."""
        return int, (int(self),)


def rows(limits: Iterable[Limit]) -> str:
    """The limits as rows of a Markdown table."""
    found = (f"| {each.of} | {_written(each)} | {each.refusal} | {each.reason} |" for each in limits)
    return "\n".join(["| what is limited | value | what happens | reason |", "|---|---|---|---|", *found])


def replaced(page: str, table: str) -> str:
    """The page with a table between its markers."""
    before, _, rest = page.partition(MARKERS[0])
    _, _, after = rest.partition(MARKERS[1])
    return f"{before}{MARKERS[0]}\n\n{table}\n\n{MARKERS[1]}{after}"


def _written(value: int) -> str:
    """A number as people write it: a large power of two or of ten as such, others with spaces between thousands.

    >>> _written(2**20), _written(10**6), _written(2**32 - 1), _written(2000)
    ('2²⁰', '10⁶', '2³² − 1', '2000')
    """
    for base, least in ((2, 13), (10, 6)):
        for less, ending in ((0, ""), (1, " − 1")):
            for exponent in range(least, 64):
                if base**exponent - less == value:
                    return f"{base}{str(exponent).translate(_SUPERSCRIPTS)}{ending}"
    return f"{value:,}".replace(",", "\u00a0") if value >= 10_000 else str(int(value))


_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
