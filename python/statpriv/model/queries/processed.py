"""What is done to an answer before it is released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, lcm
from numbers import Real
from typing import Any, ClassVar, TypeGuard

from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.model.perturbations import RandomRounding
from statpriv.model.queries.protocol import AnswerLaws, Capabilities
from statpriv.model.steps import Answer, Lattice, LatticeMap, Step
from statpriv.numeric.arguments import as_instance, as_mapping
from statpriv.numeric.exact import Number, as_fraction, as_positive
from statpriv.numeric.literals import abridged, show_number

__all__ = [
    "Clip",
    "Numerical",
    "PostProcessed",
    "RangeGate",
    "Relabel",
    "Rounding",
    "Step",
    "Threshold",
    "asked_of",
    "steps_of",
]


class _Function(Step):
    """A step that is a function of the answer: it keeps the order of numbers, or leaves mere labels."""

    is_function: ClassVar[bool] = True
    keeps_ratios_monotone = True

    def apply(self, answer: Answer) -> Answer:
        """What is published instead of `answer`."""
        raise NotAvailableError(f"{self!r} states no apply: it is no function of the answer {abridged(answer)}")

    def published_for(self, answer: Answer) -> Answer:
        """What is published instead of `answer`."""
        return self.apply(answer)


@dataclass(frozen=True, init=False, repr=False)
class Threshold(_Function):
    """Answers above `above` are published, the others suppressed: None is published instead.

    Parameters
    ----------
    above : float, int, Fraction, Decimal or str
        The largest answer that is suppressed.

    Examples
    --------
    >>> import statpriv as sp
    >>> step = sp.Threshold(10)
    >>> step.apply(11), step.apply(10)
    (11, None)
    """

    above: Fraction

    def __init__(self, above: Number) -> None:
        object.__setattr__(self, "above", as_fraction(above, "above"))

    def apply(self, answer: Answer) -> Answer:
        """What is published instead of `answer`."""
        number = _number(answer)
        return answer if number is None or number > self.above else None

    def on_lattice(self, lattice: Lattice) -> LatticeMap:
        """Suppressed answers become one label."""
        most = floor(lattice.place(self.above))
        return LatticeMap(lambda law: law.suppressed(most), lattice, labelled=True)

    def __repr__(self) -> str:
        return f"Threshold({show_number(self.above)})"


@dataclass(frozen=True, init=False, repr=False)
class RangeGate(_Function):
    """Answers from `lower` to `upper` are published, the others withheld: None is published instead.

    A count with a gate as its first step and a *range* of p is certified for every p, whether or not the range holds:
    the range says no more than where the gate was put.

    Parameters
    ----------
    lower, upper : float, int, Fraction, Decimal or str
        The least and the largest answer that is published, `lower <= upper`.

    Examples
    --------
    >>> import statpriv as sp
    >>> step = sp.RangeGate(10, 20)
    >>> step.apply(9), step.apply(10), step.apply(20), step.apply(21)
    (None, 10, 20, None)
    """

    lower: Fraction
    upper: Fraction
    withholds_outside: ClassVar[bool] = True

    def __init__(self, lower: Number, upper: Number) -> None:
        low, high = as_fraction(lower, "lower"), as_fraction(upper, "upper")
        if low > high:
            raise ArgumentError(f"lower = {abridged(lower)} and upper = {abridged(upper)}; lower <= upper is required")
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)

    @property
    def counts(self) -> range:
        """The counts that are published."""
        return range(max(0, ceil(self.lower)), max(0, floor(self.upper) + 1))

    def apply(self, answer: Answer) -> Answer:
        """What is published instead of `answer`."""
        number = _number(answer)
        return answer if number is None or self.lower <= number <= self.upper else None

    def interval(self, lattice: Lattice) -> tuple[int, int]:
        """The answers that are published."""
        return ceil(lattice.place(self.lower)), floor(lattice.place(self.upper))

    def __repr__(self) -> str:
        return f"RangeGate({show_number(self.lower)}, {show_number(self.upper)})"


@dataclass(frozen=True, init=False, repr=False)
class Rounding(_Function):
    """The nearest multiple of `base` is published, the larger one of two.

    Parameters
    ----------
    base : float, int, Fraction, Decimal or str
        Above 0.

    Examples
    --------
    >>> import statpriv as sp
    >>> step = sp.Rounding(10)
    >>> step.apply(14), step.apply(15), step.apply(-15)
    (10, 20, -10)
    """

    base: Fraction

    def __init__(self, base: Number) -> None:
        object.__setattr__(self, "base", as_positive(base, "base"))

    def apply(self, answer: Answer) -> Answer:
        """What is published instead of `answer`."""
        number = _number(answer)
        return answer if number is None else _simplest(self.base * floor(number / self.base + Fraction(1, 2)))

    def on_lattice(self, lattice: Lattice) -> LatticeMap:
        """A multiple of the base for each answer, as a quotient of integers."""
        slope, start = lattice.unit / self.base, lattice.offset / self.base + Fraction(1, 2)
        scale = lcm(slope.denominator, start.denominator)
        factor, added = int(slope * scale), int(start * scale)
        return LatticeMap(lambda law: law.divided(factor, added, scale), Lattice(Fraction(0), self.base))

    def __repr__(self) -> str:
        return f"Rounding({show_number(self.base)})"


@dataclass(frozen=True, init=False, repr=False)
class Clip(_Function):
    """Answers below `lower` are published as `lower`, those above `upper` as `upper`: bottom- and top-coding.

    Parameters
    ----------
    lower, upper : float, int, Fraction, Decimal or str, optional
        At least one of them, `lower <= upper`.

    Examples
    --------
    >>> import statpriv as sp
    >>> step = sp.Clip(upper=100)
    >>> step.apply(99), step.apply(250)
    (99, 100)
    """

    lower: Fraction | None
    upper: Fraction | None

    def __init__(self, lower: Number | None = None, upper: Number | None = None) -> None:
        if lower is None and upper is None:
            raise ArgumentError("lower = None and upper = None; at least one of them is required")
        low = None if lower is None else as_fraction(lower, "lower")
        high = None if upper is None else as_fraction(upper, "upper")
        if low is not None and high is not None and low > high:
            raise ArgumentError(f"lower = {abridged(lower)} and upper = {abridged(upper)}; lower <= upper is required")
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)

    def apply(self, answer: Answer) -> Answer:
        """What is published instead of `answer`."""
        number = _number(answer)
        if number is None:
            return answer
        if self.lower is not None and number < self.lower:
            return _simplest(self.lower)
        return _simplest(self.upper) if self.upper is not None and number > self.upper else answer

    def on_lattice(self, lattice: Lattice) -> LatticeMap:
        """An end between two points of the lattice is the point outside, as a label; then no step can follow."""
        low, high = (None if end is None else lattice.place(end) for end in (self.lower, self.upper))
        on_lattice = all(end is None or end.denominator == 1 for end in (low, high))
        least = None if low is None else floor(low)
        most = None if high is None else ceil(high)
        if low is not None and low == high:
            most = least  # everything is published as the one end
        refused = None if on_lattice else "ends between two possible answers and is not the last step"
        return LatticeMap(lambda law: law.clamped(least, most), lattice, not on_lattice, refused)

    def __repr__(self) -> str:
        ends = [("lower", self.lower), ("upper", self.upper)]
        return f"Clip({', '.join(f'{end}={show_number(value)}' for end, value in ends if value is not None)})"


@dataclass(frozen=True, init=False, repr=False)
class Relabel(_Function):
    """Any map of the answers, given one by one; an answer that is not in the table is published as it is.

    Parameters
    ----------
    published : dict
        What is published instead of each answer. Numbers are exact ones, None is a suppressed answer, and everything
        else that is hashable stands for itself: strings too, however much like numbers they look.

    Attributes
    ----------
    published : tuple of pairs
        Answer and what is published, numbers first and in their order.

    Examples
    --------
    >>> import statpriv as sp
    >>> step = sp.Relabel({0: "none", 1: "few", 2: "few"})
    >>> step.apply(2), step.apply(3)
    ('few', 3)
    """

    published: tuple[tuple[Answer, Answer], ...]

    def __init__(self, published: Mapping[Any, Answer]) -> None:
        as_mapping(published, "published", "a dict from answer to what is published, such as {0: 'none'}, is required")
        pairs = [
            (_exact(answer, "an answer"), _exact(instead, f"published[{abridged(answer)}]"))
            for answer, instead in published.items()
        ]
        if len(dict(pairs)) < len(pairs):
            raise ArgumentError(f"published = {abridged(published)}; each answer may stand there only once")
        object.__setattr__(self, "published", tuple(sorted(pairs, key=_place)))

    @cached_property
    def _instead(self) -> dict[Answer, Answer]:
        return dict(self.published)

    def apply(self, answer: Answer) -> Answer:
        """What is published instead of `answer`."""
        return self._instead.get(answer, answer)

    def __repr__(self) -> str:
        return f"Relabel({{{', '.join(f'{answer!r}: {instead!r}' for answer, instead in self.published)}}})"


class Numerical(Capabilities):
    """A query whose answer is one number, or several counts: each may be processed further before it is released."""

    def thresholded(self, above: Number) -> PostProcessed:
        """Only an answer above `above` is published: see :class:`Threshold`."""
        return PostProcessed(self, Threshold(above))

    def gated(self, lower: Number, upper: Number) -> PostProcessed:
        """Only an answer from `lower` to `upper` is published: see :class:`RangeGate`."""
        return PostProcessed(self, RangeGate(lower, upper))

    def rounded(self, base: Number) -> PostProcessed:
        """The nearest multiple of `base` is published, ties upwards: see :class:`Rounding`."""
        return PostProcessed(self, Rounding(base))

    def clamped(self, lower: Number | None = None, upper: Number | None = None) -> PostProcessed:
        """Answers outside `lower` and `upper` are published as these: see :class:`Clip`."""
        return PostProcessed(self, Clip(lower, upper))

    def mapped(self, published: Mapping[Any, Answer]) -> PostProcessed:
        """Any other map of the answers: see :class:`Relabel`."""
        return PostProcessed(self, Relabel(published))

    def randomly_rounded(self, base: Number) -> PostProcessed:
        """One of the two multiples of the base around a count is published: see :class:`RandomRounding`."""
        return PostProcessed(self, RandomRounding(base))

    def noisy(self, noise: Step) -> PostProcessed:
        """A noise is added: independent of the data, or by the table of cell keys. See :mod:`statpriv.model.noise`."""
        required = "a noise, such as noise.DiscreteLaplace(alpha=0.5), is required"
        if as_instance(noise, "noise", Step, required).is_function:
            raise ArgumentError(f"noise = {abridged(noise)}; {required}")
        return PostProcessed(self, noise)


@dataclass(frozen=True, init=False, repr=False)
class PostProcessed(Numerical):
    """A query whose answer is processed before it is released.

    Parameters
    ----------
    query : any query, PostProcessed ones and those with `answer_laws` included
        The query; of a processed one, its steps come first.
    *steps : Threshold, RangeGate, Rounding, RandomRounding, Clip, Relabel or a noise
        What is done to the answer, first applied first; of several counts to each, with a noise of its own.

    Attributes
    ----------
    query : Numerical or AnswerLaws
        The query before all steps.
    steps : tuple
        All steps, first applied first.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.PostProcessed(sp.PropertyQuery(0.5), sp.Threshold(10))
    PostProcessed(PropertyQuery(0.5), Threshold(10))
    >>> sp.PropertyQuery(0.5).noisy(sp.noise.DiscreteLaplace(alpha=0.5)).rounded(5).steps
    (noise.DiscreteLaplace(alpha=0.5), Rounding(5))
    """

    query: Numerical | AnswerLaws
    steps: tuple[Step, ...]

    def __init__(self, query: Numerical | AnswerLaws, *steps: Step) -> None:
        if isinstance(query, type) or not isinstance(query, (Numerical, AnswerLaws)):
            raise ArgumentError(
                f"query = {abridged(query)}; a query, such as PropertyQuery(0.5), or an object with a method "
                "answer_laws is required"
            )
        if not steps:
            raise ArgumentError("steps = (); at least one step, such as Threshold(10), is required")
        for index, step in enumerate(steps):
            required = "Threshold, RangeGate, Rounding, RandomRounding, Clip, Relabel or a noise is required"
            as_instance(step, f"steps[{index}]", Step, required)
        object.__setattr__(self, "query", asked_of(query))
        object.__setattr__(self, "steps", (*steps_of(query), *steps))

    def __repr__(self) -> str:
        return f"PostProcessed({', '.join(map(repr, (self.query, *self.steps)))})"


def asked_of(query: Numerical | AnswerLaws) -> Numerical | AnswerLaws:
    """The query before its answer is processed."""
    return query.query if isinstance(query, PostProcessed) else query


def steps_of(query: object) -> tuple[Step, ...]:
    """What is done to the answer of a query."""
    return query.steps if isinstance(query, PostProcessed) else ()


def _number(answer: Answer) -> Fraction | None:
    """The exact number that an answer is, if it is one."""
    if isinstance(answer, int) and not isinstance(answer, bool):
        return Fraction(answer)
    return as_fraction(answer, "answer") if _is_number(answer) else None


def _is_number(answer: object) -> TypeGuard[Number]:
    return (isinstance(answer, (Real, Decimal)) or hasattr(answer, "_mpf_")) and not isinstance(answer, bool)


def _simplest(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


def _exact(answer: Answer, name: str) -> Answer:
    """Numbers as exact ones, everything else as it is."""
    if isinstance(answer, bool):
        raise ArgumentError(f"{name} = {answer}; Python takes a truth value for 0 or 1: use a string, such as 'yes'")
    if _is_number(answer):
        return _simplest(as_fraction(answer, name))
    try:
        hash(answer)
    except TypeError:
        raise ArgumentError(f"{name} = {abridged(answer)}; something hashable, such as a string, is required") from None
    return answer


def _place(pair: tuple[Answer, Answer]) -> tuple[bool, Fraction, str]:
    """Numbers first and in their order, whatever the order of the rest."""
    number = _number(pair[0])
    return (True, Fraction(0), repr(pair[0])) if number is None else (False, number, "")
