"""What somebody is shown who waits for many values of a curve: how many are found, after a second.

It is written to standard error, if that is a terminal or a notebook's, and taken back when the values are there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import TypeAlias

__all__ = ["shown_elsewhere", "while_found"]

OnDone: TypeAlias = "Callable[[int, int], None] | None"

_PATIENCE = 1.0
"""Seconds that nobody minds to wait without a word."""

_is_shown_elsewhere: ContextVar[bool] = ContextVar("_is_shown_elsewhere", default=False)


@contextmanager
def shown_elsewhere() -> Iterator[None]:
    """Whoever calls shows progress in another way."""
    before = _is_shown_elsewhere.set(True)
    try:
        yield
    finally:
        _is_shown_elsewhere.reset(before)


@contextmanager
def while_found(what: str) -> Iterator[OnDone]:
    """Something to tell how many values are found, and of how many; None if nobody watches."""
    if _is_shown_elsewhere.get() or not _is_watched():
        yield None
        return
    start, longest = monotonic(), 0

    def on_done(done: int, of: int) -> None:
        nonlocal longest
        if monotonic() - start >= _PATIENCE:
            line = f"{what}: {done:,} of {of:,}"
            longest = max(longest, len(line))
            _write(f"\r{line:{longest}}")

    try:
        yield on_done
    finally:
        if longest:
            _write(f"\r{'':{longest}}\r")


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _is_watched() -> bool:
    return sys.stderr is not None and ("ipykernel" in sys.modules or sys.stderr.isatty())
