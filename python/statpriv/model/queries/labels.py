"""What every query may be called, and what says that two ask the same."""

from __future__ import annotations

from dataclasses import dataclass

from statpriv.errors import ArgumentError
from statpriv.numeric.literals import abridged


@dataclass(frozen=True, init=False, repr=False)
class Labelled:
    """A query with a label, and with the attribute that it asks.

    Attributes
    ----------
    attribute : str or None
        What says that two queries ask the *same*. Without it, or with different ones, two queries are unrelated.
    name : str or None
        A label; it proves nothing.
    """

    attribute: str | None
    name: str | None

    def _set_labels(self, attribute: str | None, name: str | None) -> None:
        for argument, text in (("attribute", attribute), ("name", name)):
            if text is not None and not isinstance(text, str):
                raise ArgumentError(f"{argument} = {abridged(text)}; a string or None is required")
            object.__setattr__(self, argument, text)

    def _shown(self, *arguments: str) -> str:
        """The call that makes this query."""
        labels = [f"{key}={text!r}" for key in ("attribute", "name") if (text := getattr(self, key)) is not None]
        return f"{type(self).__name__}({', '.join([*arguments, *labels])})"
