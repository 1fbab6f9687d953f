"""What somebody who waits at a terminal is shown: the step that is under way."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, Timer
from typing import TYPE_CHECKING, TypeVar

from statpriv.cli.plain_text import printable
from statpriv.numeric.waiting import shown_elsewhere

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text

_PATIENCE = 1.0
"""Seconds that nobody minds to wait without a word."""
_Piece = TypeVar("_Piece")


@dataclass
class Waiting:
    """A spinner with the current step, once somebody has waited a second for it."""

    step: str = ""
    _text: str = ""
    _status: Status | None = None
    _over: bool = False
    _lock: Lock = field(default_factory=Lock)

    def begin(self, step: str) -> None:
        """Say what is done from now on."""
        self.step = step
        self._show(step)

    def read(self, rows: int) -> None:
        """Say how many rows this step has read."""
        self._show(f"{self.step}: {rows:,} rows")

    def counted(self, done: int, of: int) -> None:
        """Say at which of how many pieces this step is."""
        self._show(f"{self.step}: {done:,} of {of:,}")

    def counting(self, pieces: Collection[_Piece]) -> Iterator[tuple[int, _Piece]]:
        """Every piece of this step with its number, which is shown."""
        for number, piece in enumerate(pieces, start=1):
            self.counted(number, len(pieces))
            yield number, piece

    def _show(self, text: str) -> None:
        with self._lock:
            self._text = text
            if self._status is not None:
                self._status.update(_plain(text))

    def _appear(self) -> None:
        from rich.console import Console

        with self._lock:
            if not self._over:
                self._status = Console(stderr=True, highlight=False).status(_plain(self._text))
                self._status.start()

    def _end(self) -> None:
        with self._lock:
            self._over = True
            if self._status is not None:
                self._status.stop()


def _plain(text: str) -> Text:
    """Nothing in it is markup or moves a cursor."""
    from rich.text import Text

    return Text(printable(text))


@contextmanager
def progress_on_terminal(step: str) -> Iterator[Waiting]:
    """Show on the terminal what is under way, if standard error is one and it takes longer than a second.

    Kernel work that takes long runs without the interpreter lock, so the spinner turns meanwhile.
    """
    waiting = Waiting(step, step)
    if not sys.stderr.isatty():
        yield waiting
        return
    patience = Timer(_PATIENCE, waiting._appear)  # noqa: SLF001  (the two are one thing)
    patience.daemon = True
    patience.start()
    try:
        with shown_elsewhere():
            yield waiting
    finally:
        patience.cancel()
        waiting._end()  # noqa: SLF001
