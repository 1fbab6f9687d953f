"""Samplings: which of the entries the query sees."""

from __future__ import annotations

from dataclasses import dataclass

from statpriv.numbers import Number, as_count

__all__ = ["WithoutReplacement"]


@dataclass(frozen=True, init=False)
class WithoutReplacement:
    """A secret sample of `size` entries, each set of that size equally likely.

    Parameters
    ----------
    size : int
        Number of entries drawn, from 1 to the size of the population.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.WithoutReplacement(256)
    WithoutReplacement(size=256)
    """

    size: int

    def __init__(self, size: Number) -> None:
        object.__setattr__(self, "size", as_count(size, "size", least=1))
