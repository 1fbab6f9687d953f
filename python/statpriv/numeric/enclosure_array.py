"""Arrays of enclosures, and the arrays of exact numbers from which they are computed."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from statpriv import budget
from statpriv._native import Enclosure, combined_arrays, fraction, width_array
from statpriv.errors import ArgumentError, NotASingleNumberError, StatprivError

Doubles: TypeAlias = NDArray[np.float64]

_NAMES = ("lower", "upper")
_ROWS_SHOWN = 8


class EnclosureArray:
    """An array whose entries are enclosures: the result of functions of an array of arguments.

    Parameters
    ----------
    lower : array of float, int, Fraction, Decimal, str or Enclosure
        Lower ends; rounded down to doubles. Infinity is allowed.
    upper : array of the same kinds, optional
        Upper ends; rounded up and broadcast with `lower`. If omitted, each entry of `lower` is enclosed as narrowly as
        doubles allow.

    Notes
    -----
    An index that picks one entry gives an :class:`Enclosure`; slices and masks give an `EnclosureArray`. Arithmetic
    is rounded outwards, entry by entry; operands are other such arrays, enclosures, numbers and arrays of numbers. `<`,
    `<=`, `>` and `>=` compare entry by entry and give an array of bool; an entry that cannot be decided raises
    :class:`statpriv.UndecidedError`. `==` compares whole arrays, ends and shape, and gives one truth value. It is
    refused for arrays of numbers; use `e.contains(values)` or `e.upper == values` instead. numpy's functions do not
    take enclosures, because the safe end depends on the question (δ: upper; rows left: lower).

    Examples
    --------
    >>> import statpriv as sp
    >>> e = sp.EnclosureArray([0.25, 0.5], [0.375, 0.5])
    >>> e[0], float(e.upper.max())
    (Enclosure(0.25, 0.375), 0.5)
    >>> 2 * e + 1
    EnclosureArray(lower=[1.5, 2. ],
                   upper=[1.75, 2.  ])
    >>> e.contains(0.3)
    array([ True, False])
    >>> e < 0.5
    array([ True, False])
    """

    __slots__ = ("_lower", "_upper")

    __array_ufunc__ = None
    """Keeps numpy from silently taking one end, or making an array of objects."""

    def __init__(self, lower: object, upper: object = None) -> None:
        low = _ends(lower, "lower")
        high = low if upper is None else _ends(upper, "upper")
        shape = broadcast_shape({"lower": low[0], "upper": high[1]})
        ends = np.broadcast_to(low[0], shape), np.broadcast_to(high[1], shape)
        ordered = ends[0] <= ends[1]
        if not ordered.all():
            _refuse_nan(low[0], "lower")
            _refuse_nan(high[1], "upper")
            place = _first(~ordered)
            low_end, high_end = (
                f"{name}{located(place)} = {end[place]}" for name, end in zip(_NAMES, ends, strict=True)
            )
            raise ArgumentError(f"{low_end} and {high_end} do not bound an enclosure; lower ≤ upper is required")
        self._lower, self._upper = map(_frozen, ends)

    @staticmethod
    def _known(lower: Doubles, upper: Doubles) -> EnclosureArray:
        """The array of ends that are known to bound enclosures."""
        made = EnclosureArray.__new__(EnclosureArray)
        made._lower, made._upper = _frozen(lower), _frozen(upper)  # noqa: SLF001  (its own)
        return made

    @property
    def lower(self) -> Doubles:
        """Lower ends; read-only."""
        return self._lower

    @property
    def upper(self) -> Doubles:
        """Upper ends; read-only."""
        return self._upper

    @property
    def width(self) -> Doubles:
        """`upper - lower`, rounded up; 0 for `[inf, inf]`."""
        return width_array(self._lower, self._upper)

    @property
    def midpoint(self) -> Doubles:
        """Doubles inside the enclosures, next to the centres; an error if an end is infinite."""
        infinite = ~(np.isfinite(self._lower) & np.isfinite(self._upper))
        if infinite.any():
            at = located(_first(infinite))
            raise ArgumentError(f"the enclosure at {at} has no midpoint: an end is infinite; leave it out")
        return np.clip(self._lower / 2 + self._upper / 2, self._lower, self._upper)

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self._lower.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._lower.ndim

    @property
    def size(self) -> int:
        """Number of entries."""
        return self._lower.size

    def contains(self, values: object) -> NDArray[np.bool_]:
        """Whether the entries contain `values`, which are broadcast with the array, decided exactly: an array of bool.

        Examples
        --------
        >>> from fractions import Fraction
        >>> import statpriv as sp
        >>> sp.EnclosureArray(["1/3", 0.5]).contains([Fraction(1, 3), "1/3"])
        array([ True, False])
        """
        if _is_enclosed(values):
            broadcast_shape({"self": self._lower, "values": np.asarray(values.lower)})
            return np.asarray((self._lower <= values.lower) & (values.upper <= self._upper), dtype=bool)
        entries = exact_entries(values, "values")
        shape = broadcast_shape({"self": self._lower, "values": entries})
        if entries.dtype == object:
            inside = [
                value in Enclosure(low, high)
                for low, high, value in np.broadcast(self._lower, self._upper, entries)  # each end is a double
            ]
            return np.array(inside, dtype=bool).reshape(shape)
        _refuse_nan(entries, "values")
        return np.asarray((self._lower <= entries) & (entries <= self._upper))

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401  (whatever numpy takes; an Enclosure or an EnclosureArray)
        lower, upper = self._lower[index], self._upper[index]
        return EnclosureArray._known(lower, upper) if isinstance(lower, np.ndarray) else Enclosure(lower, upper)

    def __len__(self) -> int:
        return len(self._lower)

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def __contains__(self, value: object) -> bool:
        raise NotASingleNumberError("`in` has no one answer for an array of enclosures: use e.contains(values).any()")

    def __bool__(self) -> bool:
        raise NotASingleNumberError("an EnclosureArray has no truth value: compare .upper or .lower")

    def __array__(self, *_: object, **__: object) -> Doubles:
        raise NotASingleNumberError(
            "an EnclosureArray is no array of numbers: use .upper where too small would be unsafe (delta, epsilon), "
            ".lower where too large would be (rows left, type II error), .midpoint for plots"
        )

    def __eq__(self, other: object) -> bool:
        if isinstance(other, EnclosureArray):
            return np.array_equal(self._lower, other._lower) and np.array_equal(self._upper, other._upper)
        if isinstance(other, (np.ndarray, Enclosure)) or _is_number(other):
            raise NotASingleNumberError(
                "== compares arrays of enclosures as a whole: use e.contains(values), or compare .lower and .upper"
            )
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.shape, self._lower.tobytes(), self._upper.tobytes()))

    def __lt__(self, other: object) -> NDArray[np.bool_]:
        return _compared(operator.lt, self, other)

    def __le__(self, other: object) -> NDArray[np.bool_]:
        return _compared(operator.le, self, other)

    def __gt__(self, other: object) -> NDArray[np.bool_]:
        return _compared(operator.gt, self, other)

    def __ge__(self, other: object) -> NDArray[np.bool_]:
        return _compared(operator.ge, self, other)

    def __neg__(self) -> EnclosureArray:
        return EnclosureArray._known(-self._upper, -self._lower)

    def __pos__(self) -> EnclosureArray:
        return self

    def __add__(self, other: object) -> EnclosureArray:
        return _combined("+", self, other)

    def __radd__(self, other: object) -> EnclosureArray:
        return _combined("+", other, self)

    def __sub__(self, other: object) -> EnclosureArray:
        return _combined("-", self, other)

    def __rsub__(self, other: object) -> EnclosureArray:
        return _combined("-", other, self)

    def __mul__(self, other: object) -> EnclosureArray:
        return _combined("*", self, other)

    def __rmul__(self, other: object) -> EnclosureArray:
        return _combined("*", other, self)

    def __truediv__(self, other: object) -> EnclosureArray:
        return _combined("/", self, other)

    def __rtruediv__(self, other: object) -> EnclosureArray:
        return _combined("/", other, self)

    def __reduce__(self) -> tuple[object, ...]:
        return EnclosureArray, (self._lower, self._upper)

    def __repr__(self) -> str:
        indent = " " * len("EnclosureArray(lower=")
        lower, upper = (
            np.array2string(ends, separator=", ", floatmode="unique", threshold=100, prefix=indent)
            for ends in (self._lower, self._upper)
        )
        shape = f",\n{indent[:-6]}shape={self.shape}" if self.size > 100 or self.size == 0 else ""
        return f"EnclosureArray(lower={lower},\n{indent[:-6]}upper={upper}{shape})"

    def _repr_html_(self) -> str:
        if self.ndim != 1:
            return f"<pre>{self!r}</pre>"
        rows = [
            f"<tr><td>{place}</td><td>{low!r}</td><td>{high!r}</td></tr>"
            for place, (low, high) in enumerate(zip(self._lower.tolist(), self._upper.tolist(), strict=True))
            if place < _ROWS_SHOWN
        ]
        more = f"<p>{self.size} enclosures</p>" if self.size > _ROWS_SHOWN else ""
        return f"<table><tr><th></th><th>lower</th><th>upper</th></tr>{''.join(rows)}</table>{more}"


def exact_entries(value: object, name: str) -> NDArray[Any]:
    """The unchanged entries of `value`: an array of doubles if all entries are doubles, otherwise an array of objects.

    A list is read object by object, since numpy would turn `[0.1, "0.1"]` into strings and round a large integer to a
    double.
    """
    if type(value) is float or (type(value) is int and abs(value) <= budget.MAX_INTEGER):
        return np.array(value, dtype=np.float64)
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentError(f"{name} is a masked array; one without a mask is required: fill or compress it")
    of_one_kind = isinstance(value, (array, memoryview)) or hasattr(value, "__array__")
    entries: NDArray[Any] = np.asarray(value) if of_one_kind else np.array(value, dtype=object)
    kind = entries.dtype.kind
    if kind == "f" and entries.itemsize <= 8:
        return np.require(entries, np.float64, ["C_CONTIGUOUS", "ALIGNED"])
    if kind in "iu" and all(abs(int(end)) <= budget.MAX_INTEGER for end in _extremes(entries)):
        return np.require(entries, np.float64, ["C_CONTIGUOUS", "ALIGNED"])
    if kind not in "iufOU":
        raise ArgumentError(
            f"{name} is an array of {entries.dtype}; numbers, or objects that are numbers, are required"
        )
    objects = np.require(entries, object, ["C_CONTIGUOUS"])
    return _as_doubles(objects)


def _extremes(entries: NDArray[Any]) -> tuple[Any, ...]:
    """The least and the greatest entry; nothing for an empty array."""
    return (entries.min(), entries.max()) if entries.size else ()


def _as_doubles(objects: NDArray[Any]) -> NDArray[Any]:
    """An array of doubles if all entries are floats or integers equal to doubles; Python compares them exactly."""
    if set(map(type, objects.flat)) <= {float, int}:
        try:
            doubles = objects.astype(np.float64)
        except OverflowError:
            return objects
        if ((doubles == objects) | np.isnan(doubles)).all():
            return doubles
    return objects


def located(place: tuple[int, ...]) -> str:
    """An index as messages write it, `[2, 5]`; empty for a single number."""
    return f"[{', '.join(map(str, place))}]" if place else ""


def _first(wrong: NDArray[np.bool_]) -> tuple[int, ...]:
    """The index of the first True."""
    return tuple(int(along) for along in np.unravel_index(int(np.argmax(wrong)), wrong.shape))


def _refuse_nan(doubles: Doubles, name: str) -> None:
    undefined = np.isnan(doubles)
    if undefined.any():
        raise ArgumentError(f"{name}{located(_first(undefined))} = nan is not a number; a number is required")


def _ends(value: object, name: str) -> tuple[Doubles, Doubles]:
    """The nearest doubles below and above each entry, and NaN for NaN."""
    if isinstance(value, EnclosureArray):
        return value.lower, value.upper
    entries = exact_entries(value, name)
    if entries.dtype != object:
        return entries, entries
    enclosures = elementwise(_enclosed, entries)
    return (
        np.array([enclosure.lower for enclosure in enclosures]).reshape(entries.shape),
        np.array([enclosure.upper for enclosure in enclosures]).reshape(entries.shape),
    )


def _enclosed(entry: Any) -> Enclosure:  # noqa: ANN401  (checked by the kernel)
    if not isinstance(entry, Enclosure):
        return Enclosure(entry)
    # Use the ends of the base class: the ends of an enclosure with digits are not doubles, and may be infinite as
    # doubles.
    return Enclosure(Enclosure.lower.__get__(entry), Enclosure.upper.__get__(entry))


def elementwise(one: Callable[..., Any], *arrays: NDArray[Any]) -> list[Any]:
    """The results of `one` at every index of arrays of one shape, in C order; an error names the failing index."""
    objects = [entries.astype(object) for entries in arrays]

    def at(place: tuple[int, ...]) -> object:
        try:
            return one(*(entries[place] for entries in objects))
        except StatprivError as error:
            if not place:
                raise
            raise type(error)(f"at {located(place)}: {error}") from error

    return [at(place) for place in np.ndindex(arrays[0].shape)]


def _frozen(ends: Doubles) -> Doubles:
    """A read-only copy without negative zeros."""
    copied = np.add(ends, 0.0, out=np.empty(ends.shape))
    copied.setflags(write=False)
    return copied


def _is_number(value: object) -> bool:
    numeric = hasattr(value, "as_integer_ratio") or hasattr(value, "_mpf_") or hasattr(value, "__index__")
    return numeric and not isinstance(value, type)


def _is_enclosed(value: object) -> TypeGuard[EnclosureArray | Enclosure]:
    """Whether a value has a lower and an upper end."""
    return isinstance(value, (EnclosureArray, Enclosure))


def is_operand(value: object) -> bool:
    """Whether arrays of enclosures can be compared and combined with `value`: a number, an enclosure or an array."""
    return _is_enclosed(value) or isinstance(value, (np.ndarray, list, tuple)) or _is_number(value)


def as_objects(value: object) -> NDArray[Any]:
    """The entries of an operand, each an enclosure or an unchanged number."""
    if isinstance(value, EnclosureArray):
        return np.array([value[place] for place in np.ndindex(value.shape)], dtype=object).reshape(value.shape)
    entries = np.array(value, dtype=object) if _is_enclosed(value) else exact_entries(value, "operand")
    return np.array(elementwise(_exact, entries), dtype=object).reshape(entries.shape)


def _exact(entry: Any) -> Any:  # noqa: ANN401  (checked by the kernel)
    return entry if isinstance(entry, (Enclosure, float)) else fraction(entry, "operand")


def one_by_one(function: Callable[[Any, Any], Any], left: object, right: object) -> NDArray[Any]:
    """`function` of the entries of two operands broadcast together, as objects; an error names the failing index."""
    sides = {"left": as_objects(left), "right": as_objects(right)}
    shape = broadcast_shape(sides)
    found = elementwise(function, *(np.broadcast_to(side, shape) for side in sides.values()))
    return np.array(found, dtype=object).reshape(shape)


def _compared(relation: Callable[[Any, Any], Any], left: EnclosureArray, right: object) -> NDArray[np.bool_]:
    """`relation`, one of the four orders, on arrays of doubles.

    An order is monotone in each operand, so it is decided if opposite pairs of ends agree on it.
    """
    if not is_operand(right):
        return cast("NDArray[np.bool_]", NotImplemented)
    ends: Any = right if _is_enclosed(right) else exact_entries(right, "operand")
    if _is_enclosed(ends) or ends.dtype != object:
        low, high = _ends(ends, "operand")
        _refuse_nan(low, "operand")
        broadcast_shape({"left": left.lower, "right": low})
        outcome = np.asarray(relation(left.lower, high), dtype=bool)
        if np.array_equal(outcome, relation(left.upper, low)):
            return outcome
    return one_by_one(relation, left, right).astype(bool)


def _combined(operation: str, left: object, right: object) -> EnclosureArray:
    """`left operation right`, rounded outwards; `NotImplemented` if an operand is neither a number nor an array."""
    if not (is_operand(left) and is_operand(right)):
        return cast("EnclosureArray", NotImplemented)
    first, second = _ends(left, "operand"), _ends(right, "operand")
    for ends in (first, second):
        _refuse_nan(ends[0], "operand")
    shape = broadcast_shape({"left": first[0], "right": second[0]})
    return from_ends(combined_arrays(operation, first, second, shape))


def from_ends(ends: Doubles) -> EnclosureArray:
    """The array of a kernel result, whose last axis holds the lower and upper ends."""
    return EnclosureArray._known(ends[..., 0], ends[..., 1])  # noqa: SLF001  (of this file)


def broadcast_shape(arrays: Mapping[str, NDArray[Any]]) -> tuple[int, ...]:
    """The shape that numpy broadcasts the arrays to."""
    try:
        return np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError as error:
        shapes = ", ".join(f"{name}: {array.shape}" for name, array in arrays.items())
        raise ArgumentError(
            f"the shapes {shapes} do not fit; shapes that numpy broadcasts to one are required"
        ) from error
