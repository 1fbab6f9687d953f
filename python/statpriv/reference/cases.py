"""The number of cases of an enumeration, computed before it starts.

These numbers only decide whether to refuse the enumeration. No probability is derived from them: a uniform law is
obtained by enumerating its templates and counting them.
"""

from __future__ import annotations

from collections.abc import Iterable

from statpriv.errors import ArgumentError

LIMIT = 2_000_000
"""Default limit of the number of cases: about ten seconds of work, or twenty."""


def refuse_above(limit: int, cases: int, what: str) -> None:
    """Raise if there are more cases than the caller allows."""
    if cases > limit:
        raise ArgumentError(
            f"{what}: about {cases} cases would be enumerated, more than limit = {limit}; take fewer entries, "
            "values, templates or known entries, or raise limit= (a million cases take about five seconds)"
        )


def product(factors: Iterable[int]) -> int:
    """The product of the counts."""
    result = 1
    for factor in factors:
        result *= factor
    return result


def arrangements(n: int, size: int) -> int:
    """The number of sequences of `size` different entries of n."""
    return product(range(n - size + 1, n + 1))


def subsets(n: int, size: int) -> int:
    """The number of sets of `size` entries of n."""
    return arrangements(n, size) // product(range(1, size + 1))
