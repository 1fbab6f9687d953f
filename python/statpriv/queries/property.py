"""How many entries have a property."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.literals import show
from statpriv.numbers import Number, as_probability

__all__ = ["Between", "PropertyQuery"]


@dataclass(frozen=True, init=False, repr=False)
class Between:
    """A probability of which only a range is known.

    The guarantee is the certified supremum over the whole range (Definition 2.2 of *Parallel Composition
    for Statistical Privacy* allows a collection of distributions).

    Parameters
    ----------
    lower, upper : float, int, Fraction, Decimal or str
        Ends, `0 <= lower <= upper <= 1`. A float is the rational it stores, `"0.4"` is four tenths.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.PropertyQuery(sp.Between("0.4", "0.6"))
    PropertyQuery(Between('2/5', '3/5'))
    """

    lower: Fraction
    upper: Fraction

    def __init__(self, lower: Number, upper: Number) -> None:
        ends = as_probability(lower, "lower"), as_probability(upper, "upper")
        if ends[0] > ends[1]:
            raise ArgumentError(f"Between({lower}, {upper}): lower <= upper is required")
        object.__setattr__(self, "lower", ends[0])
        object.__setattr__(self, "upper", ends[1])

    def __repr__(self) -> str:
        return f"Between({show(self.lower)}, {show(self.upper)})"


@dataclass(frozen=True, init=False, repr=False)
class PropertyQuery:
    """The number of entries that have a property, exactly.

    Parameters
    ----------
    p : float, int, Fraction, Decimal, str or Between
        Probability that an entry has the property, from 0 to 1, or a range of it. A float is the rational
        it stores; `"0.1"` is one tenth.
    attribute : str, optional
        What says that two queries ask the *same* property. Without it, or with different ones, two queries
        are unrelated properties.
    name : str, optional
        A label; it proves nothing.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.PropertyQuery(0.5, attribute="smoker", name="Smokers")
    PropertyQuery(0.5, attribute='smoker', name='Smokers')
    """

    lower: Fraction
    upper: Fraction
    attribute: str | None
    name: str | None

    def __init__(self, p: Number | Between, *, attribute: str | None = None, name: str | None = None) -> None:
        for argument, text in (("attribute", attribute), ("name", name)):
            if text is not None and not isinstance(text, str):
                raise ArgumentError(f"{argument} = {text!r}; a string or None is required")
        if isinstance(p, Mapping) or (hasattr(p, "__len__") and not isinstance(p, str)):
            raise NotAvailableError(
                f"p = {p!r}: probabilities by group or by entry are not available yet; "
                "one p for all entries, or Between(lower, upper) around all of them, is"
            )
        if isinstance(p, Between):
            lower, upper = p.lower, p.upper
        else:
            lower = upper = as_probability(p, "p")
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        object.__setattr__(self, "attribute", attribute)
        object.__setattr__(self, "name", name)

    @property
    def p(self) -> Fraction | Between:
        """The probability, or its range."""
        return self.lower if self.lower == self.upper else Between(self.lower, self.upper)

    def __repr__(self) -> str:
        shown = show(self.p) if isinstance(self.p, Fraction) else repr(self.p)
        options = "".join(
            f", {key}={value!r}"
            for key, value in (("attribute", self.attribute), ("name", self.name))
            if value is not None
        )
        return f"PropertyQuery({shown}{options})"
