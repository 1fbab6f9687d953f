"""How many entries have a property."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from statpriv.errors import ArgumentError
from statpriv.model.groups import ByGroup, by_group, show_groups
from statpriv.model.probabilities import probability_list, show_law
from statpriv.model.queries.labels import Labelled
from statpriv.model.queries.processed import Numerical
from statpriv.numeric.exact import Number, as_probability, is_array
from statpriv.numeric.literals import abridged, show, show_list

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Between",
    "PropertyQuery",
    "Stated",
    "as_stated",
    "ranges_of_a_law",
    "show_stated",
    "show_stated_law",
]


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


Stated: TypeAlias = Fraction | Between
"""A probability, or the range of one."""


@dataclass(frozen=True, init=False, repr=False)
class PropertyQuery(Labelled, Numerical):
    """The number of entries that have a property, exactly.

    Parameters
    ----------
    p : float, int, Fraction, Decimal, str or Between; dict of str to these; list, tuple or array of numbers
        Probability that an entry has the property, from 0 to 1, or a range of it. A float is the rational
        it stores; `"0.1"` is one tenth. A dict has one for each group of the population, a list one for each entry:
        independent entries that differ.
    attribute : str, optional
        What says that two queries ask the *same* property. Without it, or with different ones, two queries
        are unrelated properties.
    name : str, optional
        A label; it proves nothing.

    Attributes
    ----------
    probabilities : Fraction, Between, tuple of (str, Fraction or Between), or tuple of Fraction
        The one p, that of each group in the order given, or that of each entry. A range of one point is a number.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.PropertyQuery(0.5, attribute="smoker", name="Smokers")
    PropertyQuery(0.5, attribute='smoker', name='Smokers')
    >>> sp.PropertyQuery({"f": 0.5, "m": sp.Between("0.4", "0.6")})
    PropertyQuery({'f': 0.5, 'm': Between('2/5', '3/5')})
    >>> sp.PropertyQuery([0.5, 0.5, 0.25]).p
    Between(0.25, 0.5)
    """

    probabilities: Stated | ByGroup[Stated] | tuple[Fraction, ...]

    def __init__(
        self,
        p: Number | Between | Mapping[str, Number | Between] | Sequence[Number] | NDArray[Any],
        *,
        attribute: str | None = None,
        name: str | None = None,
    ) -> None:
        self._set_labels(attribute, name)
        probabilities: Stated | ByGroup[Stated] | tuple[Fraction, ...]
        if isinstance(p, Mapping):
            probabilities = by_group(p, "p", as_stated)
        elif is_array(p) and not isinstance(p, bytes):
            probabilities = probability_list(p, "p")
        else:
            probabilities = as_stated(p, "p")
        object.__setattr__(self, "probabilities", probabilities)

    @property
    def is_uniform(self) -> bool:
        """Whether one probability, or one range, is stated for all entries together."""
        return not isinstance(self.probabilities, tuple)

    @cached_property
    def lower(self) -> Fraction:
        """The least probability that any entry may have."""
        return min(stated.lower if isinstance(stated, Between) else stated for stated in self._all_stated)

    @cached_property
    def upper(self) -> Fraction:
        """The largest probability that any entry may have."""
        return max(stated.upper if isinstance(stated, Between) else stated for stated in self._all_stated)

    @property
    def p(self) -> Stated:
        """The probability, or the range that holds that of every entry."""
        return self.lower if self.lower == self.upper else Between(self.lower, self.upper)

    @property
    def _all_stated(self) -> list[Stated]:
        if not isinstance(self.probabilities, tuple):
            return [self.probabilities]
        return [stated[1] if isinstance(stated, tuple) else stated for stated in self.probabilities]

    def __repr__(self) -> str:
        if not isinstance(self.probabilities, tuple):
            return self._shown(show_stated(self.probabilities))
        groups = [stated for stated in self.probabilities if isinstance(stated, tuple)]
        if groups:
            return self._shown(show_groups(tuple(groups), show_stated))
        return self._shown(show_list((stated for stated in self.probabilities if isinstance(stated, Fraction)), show))


def as_stated(p: Any, name: str) -> Stated:  # noqa: ANN401  (any kind of number, or a range)
    """A range of one point is that probability."""
    if isinstance(p, Between):
        return p.lower if p.lower == p.upper else p
    return as_probability(p, name)


def ranges_of_a_law(masses: Sequence[tuple[str, Any]], name: str) -> tuple[Stated, ...]:
    """Probabilities and ranges of them, each after what messages call it; some in the ranges must sum to one."""
    stated = tuple(as_stated(mass, label) for label, mass in masses)
    lower = sum((mass.lower if isinstance(mass, Between) else mass for mass in stated), Fraction(0))
    upper = sum((mass.upper if isinstance(mass, Between) else mass for mass in stated), Fraction(0))
    if not lower <= 1 <= upper:
        raise ArgumentError(
            f"{name} sums to at least {abridged(lower)} and at most {abridged(upper)}; ranges with some probabilities "
            "that sum to one are required"
        )
    return stated


def show_stated(stated: Stated) -> str:
    """The literal that reads back as it."""
    return repr(stated) if isinstance(stated, Between) else show(stated)


def show_stated_law(masses: Sequence[Stated], total: Fraction) -> list[str]:
    """Literals that read back as probabilities, or as ranges of some of them; `total` is what they were divided by."""
    exact = tuple(mass for mass in masses if isinstance(mass, Fraction))
    return show_law((exact, total)) if len(exact) == len(masses) else [show_stated(mass) for mass in masses]
