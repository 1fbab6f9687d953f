"""A program of any language as a mechanism: it reads rows, a list a line, and writes a line for what it publishes."""

from __future__ import annotations

import json
import math
import random
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from statpriv.errors import ArgumentError
from statpriv.numeric.literals import abridged

__all__ = ["Program", "number_or_text"]


class Program:
    r"""A process that answers as long as the context lasts; what it draws at random is its own.

    Parameters
    ----------
    words : sequence of str
        The program and its arguments.

    Examples
    --------
    >>> import random, sys
    >>> counting = "import json, sys\nfor line in sys.stdin: print(sum(json.loads(line)), flush=True)"
    >>> with Program([sys.executable, "-c", counting]) as program:
    ...     program([1, 0, 1], random.Random())
    2
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)
        self._answers = 0
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Program:
        try:
            self._process = subprocess.Popen(  # noqa: S603  (the program that the user names)
                self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", bufsize=1
            )
        except OSError as error:
            raise ArgumentError(f"{abridged(self._words[0])} cannot be started ({error.strerror})") from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):  # what the program never read
                    stream.close()

    def __call__(self, rows: list[Any], source: random.Random) -> int | float | str:
        """What the program publishes for these rows."""
        del source
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise ArgumentError("the program is not running: use it as a context")
        try:
            process.stdin.write(json.dumps(rows) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (BrokenPipeError, UnicodeDecodeError):
            line = ""
        if not line.endswith("\n"):
            raise ArgumentError(
                f"the program {abridged(' '.join(self._words))} stopped after {self._answers} answers; it has to read "
                "one line of JSON after the other, a list of rows, and to write one line for each, flushed"
            )
        self._answers += 1
        return number_or_text(line.strip())


def number_or_text(text: str) -> int | float | str:
    """A number where the text is a finite one, else the text.

    >>> number_or_text("7"), number_or_text("-0.5"), number_or_text("yes"), number_or_text("[1, 2]")
    (7, -0.5, 'yes', '[1, 2]')
    """
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        return text
    return int(text) if text.lstrip("+-").isdecimal() else number
