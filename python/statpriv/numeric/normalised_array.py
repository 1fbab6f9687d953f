"""Hockey sticks of normalised laws, at several ε."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from statpriv._native import NormalisedEnclosure
from statpriv.numeric.enclosure_array import EnclosureArray


class NormalisedEnclosureArray(EnclosureArray):
    """An array of :class:`statpriv.NormalisedEnclosure` of the same two laws.

    Parameters
    ----------
    lower, upper : array of float
        The ends.
    sums : tuple of two Fractions
        The sums of the probabilities of P and of Q as given.

    Examples
    --------
    >>> import statpriv as sp
    >>> array = sp.hockey_stick([0.1] * 10, [0.1] * 10, [0, 1])
    >>> array.sums[0] > 1, array[0].sums == array.sums
    (True, True)
    """

    __slots__ = ("_sums",)

    def __init__(self, lower: object, upper: object, sums: tuple[Fraction, Fraction]) -> None:
        super().__init__(lower, upper)
        self._sums = sums

    @property
    def sums(self) -> tuple[Fraction, Fraction]:
        """The sums of the probabilities of P and of Q as given, by which they were divided."""
        return self._sums

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401  (whatever numpy takes)
        chosen = super().__getitem__(index)
        made = NormalisedEnclosureArray if hasattr(chosen, "ndim") else NormalisedEnclosure
        return made(chosen.lower, chosen.upper, self._sums)

    def __reduce__(self) -> tuple[object, ...]:
        return NormalisedEnclosureArray, (self.lower, self.upper, self._sums)
