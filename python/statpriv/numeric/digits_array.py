"""Arrays of enclosures with a requested number of digits."""

from __future__ import annotations

import operator
from collections.abc import Callable
from html import escape
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from statpriv._native import DigitsEnclosure
from statpriv.errors import ArgumentError
from statpriv.numeric.enclosure_array import EnclosureArray, elementwise, is_operand, one_by_one


class DigitsEnclosureArray(EnclosureArray):
    """The result of functions of an array of arguments with `digits=`; its ends are arrays of `mpmath.mpf`.

    Parameters
    ----------
    entries : array of DigitsEnclosure
        The results of functions of one number with `digits=`.

    Notes
    -----
    Every operation acts entry by entry as for single enclosures, with exact ends, whatever mpmath's precision is.

    Examples
    --------
    >>> import statpriv as sp
    >>> deltas = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(100)).delta(["0.1", "0.2"], digits=20)
    >>> print(deltas[1])
    [0.0184640881066221568748406034, 0.0184640881066221568748406552]
    >>> deltas < [0.05, 0.01]
    array([ True, False])
    """

    __slots__ = ("_entries",)

    def __init__(self, entries: object) -> None:
        objects = np.array(entries, dtype=object)
        for entry in objects.flat:
            if not isinstance(entry, DigitsEnclosure):
                raise ArgumentError(f"entries holds {entry!r}; what is computed with digits= is required")
        super().__init__(objects)
        objects.setflags(write=False)
        self._entries: NDArray[Any] = objects

    @property
    def lower(self) -> NDArray[Any]:
        """Lower ends, as `mpmath.mpf`."""
        return self._each(operator.attrgetter("lower"))

    @property
    def upper(self) -> NDArray[Any]:
        """Upper ends, as `mpmath.mpf`."""
        return self._each(operator.attrgetter("upper"))

    @property
    def width(self) -> NDArray[Any]:
        """`upper - lower`, exactly; 0 for `[inf, inf]`."""
        return self._each(operator.attrgetter("width"))

    @property
    def midpoint(self) -> NDArray[Any]:
        """The exact midpoints; an error if an end is infinite."""
        return self._each(operator.attrgetter("midpoint"))

    def _each(self, one: Callable[[Any], Any]) -> NDArray[Any]:
        return np.array(elementwise(one, self._entries), dtype=object).reshape(self.shape)

    def contains(self, values: object) -> NDArray[np.bool_]:
        """Whether the entries contain `values`, broadcast with the array, decided exactly: an array of bool."""
        return one_by_one(operator.contains, self, values).astype(bool)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401  (whatever numpy takes; an Enclosure or such an array)
        chosen = self._entries[index]
        return DigitsEnclosureArray(chosen) if isinstance(chosen, np.ndarray) else chosen

    def __eq__(self, other: object) -> bool:
        if isinstance(other, EnclosureArray):
            return isinstance(other, DigitsEnclosureArray) and np.array_equal(self._entries, other._entries)
        return super().__eq__(other)

    def __hash__(self) -> int:
        return hash((self.shape, *self._entries.flat))

    def __lt__(self, other: object) -> NDArray[np.bool_]:
        return self._compared(operator.lt, other)

    def __le__(self, other: object) -> NDArray[np.bool_]:
        return self._compared(operator.le, other)

    def __gt__(self, other: object) -> NDArray[np.bool_]:
        return self._compared(operator.gt, other)

    def __ge__(self, other: object) -> NDArray[np.bool_]:
        return self._compared(operator.ge, other)

    def _compared(self, relation: Callable[[Any, Any], Any], other: object) -> NDArray[np.bool_]:
        if not is_operand(other):
            return cast("NDArray[np.bool_]", NotImplemented)
        return one_by_one(relation, self, other).astype(bool)

    def __neg__(self) -> EnclosureArray:
        return DigitsEnclosureArray(self._each(operator.neg))

    def __add__(self, other: object) -> EnclosureArray:
        return _combined(operator.add, self, other)

    def __radd__(self, other: object) -> EnclosureArray:
        return _combined(operator.add, other, self)

    def __sub__(self, other: object) -> EnclosureArray:
        return _combined(operator.sub, self, other)

    def __rsub__(self, other: object) -> EnclosureArray:
        return _combined(operator.sub, other, self)

    def __mul__(self, other: object) -> EnclosureArray:
        return _combined(operator.mul, self, other)

    def __rmul__(self, other: object) -> EnclosureArray:
        return _combined(operator.mul, other, self)

    def __truediv__(self, other: object) -> EnclosureArray:
        return _combined(operator.truediv, self, other)

    def __rtruediv__(self, other: object) -> EnclosureArray:
        return _combined(operator.truediv, other, self)

    def __reduce__(self) -> tuple[object, ...]:
        return DigitsEnclosureArray, (self._entries,)

    def __repr__(self) -> str:
        entries = np.array2string(self._entries, separator=", ", threshold=100, prefix="DigitsEnclosureArray(")
        shape = f", shape={self.shape}" if self.size > 100 or self.size == 0 else ""
        return f"DigitsEnclosureArray({entries}{shape})"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def _combined(operation: Callable[[Any, Any], Any], left: object, right: object) -> EnclosureArray:
    """`operation` entry by entry; `NotImplemented` if an operand is neither a number nor an array."""
    if not (is_operand(left) and is_operand(right)):
        return cast("EnclosureArray", NotImplemented)
    return DigitsEnclosureArray(one_by_one(operation, left, right))
