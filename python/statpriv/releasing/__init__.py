"""Releases: exact counts of a table, on secret random parts, under a certified guarantee."""

from statpriv.releasing.run import Report, release

__all__ = ["Report", "release"]
