"""Releases: exact counts of a table, on secret random parts, under a certified guarantee."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from statpriv.releasing.run import Report, release

__all__ = ["Report", "release"]


def __getattr__(name: str) -> object:
    """What runs a release is loaded when it is used: the ledger and the schemas do without."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from statpriv.releasing import run

    return getattr(run, name)
