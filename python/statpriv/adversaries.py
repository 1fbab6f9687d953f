"""Adversaries: what is known besides the distribution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from statpriv.errors import NotAvailableError
from statpriv.numbers import Number, as_count

__all__ = ["Adversary"]


@dataclass(frozen=True, init=False)
class Adversary:
    """Someone who knows the distribution of the entries, and the values of some of them.

    Parameters
    ----------
    known : int, default 0
        How many of the other entries are known, the critical one never among them.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.Adversary(known=100)
    Adversary(known=100)
    """

    known: int

    def __init__(self, *, known: Number = 0) -> None:
        if isinstance(known, Mapping):
            raise NotAvailableError(
                f"known = {known!r}: known entries by group are not available yet; a number of known entries is"
            )
        object.__setattr__(self, "known", as_count(known, "known"))
