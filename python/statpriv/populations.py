"""Populations: how many entries there are, the critical one included."""

from __future__ import annotations

from dataclasses import dataclass

from statpriv.numbers import Number, as_count

__all__ = ["Population"]


@dataclass(frozen=True, init=False)
class Population:
    """`size` independent, identically distributed entries.

    Parameters
    ----------
    size : int
        Number of entries from 1 to 2^53, the critical one included.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.Population(1024)
    Population(size=1024)
    """

    size: int

    def __init__(self, size: Number) -> None:
        object.__setattr__(self, "size", as_count(size, "size", least=1))
