"""Probabilities of which only a range is known: one that all rows share, or each row with its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, TypeGuard

from statpriv.errors import ArgumentError
from statpriv.model.probabilities import show_law
from statpriv.numeric.arguments import is_list
from statpriv.numeric.calls import answered_class
from statpriv.numeric.exact import Number, as_probability
from statpriv.numeric.literals import abridged, show, spelled


@answered_class
@dataclass(frozen=True, init=False, repr=False)
class Between:
    """A probability of which only a range is known, the same for every entry.

    The guarantee is the certified supremum over the whole range (Definition 2.2 of *Parallel Composition
    for Statistical Privacy* allows a collection of distributions). Where entries differ, see :class:`EachBetween`.

    Parameters
    ----------
    lower, upper : float, int, Fraction, Decimal or str
        Ends, `0 <= lower <= upper <= 1`. A float is the rational it stores, `"0.4"` is four tenths. One text with both
        ends stands for them: `"0.4..0.6"`.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.PropertyQuery(sp.Between("0.4", "0.6"))
    PropertyQuery(Between('2/5', '3/5'))
    """

    lower: Fraction
    upper: Fraction

    def __init__(self, lower: Number, upper: Number | None = None) -> None:
        _set_ends(self, lower, upper)

    def __repr__(self) -> str:
        return f"Between({show(self.lower)}, {show(self.upper)})"


@answered_class
@dataclass(frozen=True, init=False, repr=False)
class EachBetween:
    """Every entry has a probability of its own, of which only a range is known.

    Nobody is surer than this range of anybody's answer, and entries are independent. The guarantee is the certified
    supremum over all choices of one law for each entry. :class:`Between` is one unknown probability that all entries
    share, so that its supremum is never larger.

    Parameters
    ----------
    lower, upper : float, int, Fraction, Decimal or str
        Ends, `0 <= lower <= upper <= 1`. A float is the rational it stores, `"0.4"` is four tenths. It may stand
        wherever :class:`Between` may.

    Examples
    --------
    >>> import statpriv as sp
    >>> people = sp.PropertyQuery(sp.EachBetween("0.1", "0.9"))
    >>> people
    PropertyQuery(EachBetween('1/10', '9/10'))
    >>> round(sp.privacy_curve(people, sp.Population(7)).delta("0.1").upper, 4)
    0.571
    """

    lower: Fraction
    upper: Fraction

    def __init__(self, lower: Number, upper: Number | None = None) -> None:
        _set_ends(self, lower, upper)

    def __repr__(self) -> str:
        return f"EachBetween({show(self.lower)}, {show(self.upper)})"


def _set_ends(made: Between | EachBetween, lower: Number, upper: Number | None) -> None:
    if upper is None:
        if not is_text_of_range(lower):
            name = type(made).__name__
            raise ArgumentError(
                f'{name}({spelled(lower)}): two ends are required, or a text such as {name}("0.4..0.6")'
            )
        lower, upper = lower.split("..", 1)
    ends = as_probability(lower, "lower"), as_probability(upper, "upper")
    if ends[0] > ends[1]:
        raise ArgumentError(f"{type(made).__name__}({lower}, {upper}): lower <= upper is required")
    object.__setattr__(made, "lower", ends[0])
    object.__setattr__(made, "upper", ends[1])


Range: TypeAlias = Between | EachBetween
Stated: TypeAlias = Fraction | Range
"""A probability, or the range of one."""


def ends(p: Stated) -> tuple[Fraction, Fraction]:
    """The least and the largest value of a probability; equal where it is known."""
    return (p, p) if isinstance(p, Fraction) else (p.lower, p.upper)


def is_range(p: object) -> TypeGuard[Range]:
    """Whether only a range of the probability is known."""
    return isinstance(p, Between | EachBetween)


def is_each(p: object) -> TypeGuard[EachBetween]:
    """Whether every entry has a probability of its own in the range."""
    return isinstance(p, EachBetween)


def complement(p: Stated) -> Stated:
    """The probability of the opposite, as a range of the same kind."""
    return 1 - p if isinstance(p, Fraction) else type(p)(1 - p.upper, 1 - p.lower)


def as_stated(p: Any, name: str) -> Stated:  # noqa: ANN401  (any kind of number, or a range)
    """The probability or range that somebody states: a number, a range, or a range as text such as ``"0.4..0.6"``.

    A shared range of one point is that probability; one of every row says more, given what else is known of it.
    """
    if is_text_of_range(p):
        p = _range_from_text(p, name)
    if is_range(p):
        return p.lower if p.lower == p.upper and not is_each(p) else p
    if is_list(p) and len(p) == 2:
        low, high = map(spelled, p)
        raise ArgumentError(
            f"{name} = {abridged(p)}; one number is required, or a range: sp.Between({low}, {high}), or for a "
            f'probability of every entry\'s own sp.EachBetween({low}, {high}); as a text "{low}..{high}"'
        )
    return as_probability(p, name)


def is_text_of_range(p: object) -> TypeGuard[str]:
    """Whether a range is written as a text such as ``"0.4..0.6"``."""
    return isinstance(p, str) and ".." in p


def states_range(p: object) -> bool:
    """Whether somebody who states this as a probability means a range, if only as a list, which is refused."""
    return is_range(p) or is_text_of_range(p) or is_list(p)


def _range_from_text(text: str, name: str) -> Between:
    try:
        return Between(text)
    except ArgumentError as error:
        raise ArgumentError(
            f'{name} = "{text}"; two probabilities in order are required, such as "0.4..0.6"'
        ) from error


def ranges_of_a_law(masses: Sequence[tuple[str, Any]], name: str) -> tuple[Stated, ...]:
    """Probabilities and ranges of them, each after what messages call it; some in the ranges must sum to one."""
    stated = tuple(as_stated(mass, label) for label, mass in masses)
    lower, upper = (sum((ends(mass)[end] for mass in stated), Fraction(0)) for end in (0, 1))
    if not lower <= 1 <= upper:
        raise ArgumentError(
            f"{name} sums to at least {_short(lower)} and at most {_short(upper)}; ranges with some probabilities "
            "that sum to one are required"
        )
    return stated


def _short(total: Fraction) -> str:
    """A sum of floats is a fraction that nobody wrote."""
    return abridged(total) if total.denominator < 10**6 else f"about {float(total):.6g}"


def show_stated(stated: Stated) -> str:
    """The literal that reads back as it."""
    return show(stated) if isinstance(stated, Fraction) else repr(stated)


def show_stated_law(masses: Sequence[Stated], total: Fraction) -> list[str]:
    """Literals that read back as probabilities, or as ranges of some of them; `total` is what they were divided by."""
    exact = tuple(mass for mass in masses if isinstance(mass, Fraction))
    return show_law((exact, total)) if len(exact) == len(masses) else [show_stated(mass) for mass in masses]
