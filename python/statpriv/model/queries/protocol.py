"""Queries of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from statpriv.numeric.exact import Number

__all__ = ["AnswerLaws"]


@runtime_checkable
class AnswerLaws(Protocol):
    """A query that states the laws of its answer, one for each value of the critical entry.

    Examples
    --------
    The parity of fair bits is the same law for both values of one of them, unless it is the only one:

    >>> import statpriv as sp
    >>> class Parity:
    ...     def answer_laws(self, entries):
    ...         fair = {0: "1/2", 1: "1/2"}
    ...         return {0: fair, 1: fair} if entries > 1 else {0: {0: 1}, 1: {1: 1}}
    >>> isinstance(Parity(), sp.AnswerLaws)
    True
    """

    def answer_laws(self, entries: int) -> Mapping[Any, Mapping[Any, Number]]:
        """For each value of the critical entry the law of the answer on `entries` entries, that one among them.

        Parameters
        ----------
        entries : int
            Number of entries that the query is answered on, at least 1.

        Returns
        -------
        dict of dict
            By value of the critical entry: the probability of each answer. Answers are hashable, and one left out
            has probability 0.
        """
        ...
