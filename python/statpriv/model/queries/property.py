"""How many entries have a property."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from statpriv.model.groups import ByGroup, by_group, show_groups
from statpriv.model.probabilities import probability_list
from statpriv.model.queries.labels import Labelled
from statpriv.model.queries.processed import Numerical
from statpriv.model.queries.protocol import EntryLaw, Groups, LawOfValues, Pair
from statpriv.model.ranges import (
    Between,
    EachBetween,
    Range,
    Stated,
    as_stated,
    complement,
    ends,
    is_each,
    is_range,
    show_stated,
)
from statpriv.numeric.arguments import is_mapping
from statpriv.numeric.calls import answered_class
from statpriv.numeric.exact import Number, is_array
from statpriv.numeric.literals import show, show_list

if TYPE_CHECKING:
    from numpy.typing import NDArray


PAIRS_OF_BITS = "(1, 0), (0, 1) or None is required for a property"
"""Which pairs of values of an entry that is zero or one are allowed."""


@answered_class
@dataclass(frozen=True, init=False, repr=False)
class PropertyQuery(Labelled, Numerical):
    """The number of entries that have a property, exactly.

    Parameters
    ----------
    p : number, Between or EachBetween; dict of str to these; list, tuple or array of numbers
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
    probabilities : Fraction, Between or EachBetween, tuple of (str, one of these), or tuple of Fraction
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
    law_fields: ClassVar[tuple[str, ...]] = ("probabilities",)
    range_noun: ClassVar[str] = "p is a range"
    counts_values: ClassVar[bool] = True
    is_total: ClassVar[bool] = True
    is_count: ClassVar[bool] = True

    def __init__(
        self,
        p: Number | Range | Mapping[str, Number | Range] | Sequence[Number] | NDArray[Any],
        *,
        attribute: str | None = None,
        name: str | None = None,
    ) -> None:
        self._set_labels(attribute, name)
        probabilities: Stated | ByGroup[Stated] | tuple[Fraction, ...]
        if is_mapping(p):
            probabilities = by_group(p, "p", as_stated)
        elif is_array(p) and not isinstance(p, bytes):
            probabilities = probability_list(p, "p")
        else:
            probabilities = as_stated(p, "p")
        object.__setattr__(self, "probabilities", probabilities)

    @property
    def is_uniform(self) -> bool:
        """Whether one probability, or one range, is stated for all entries together."""
        return self._forms[0] is not None

    @cached_property
    def lower(self) -> Fraction:
        """The least probability that any entry may have."""
        return min(ends(stated)[0] for stated in self._all_stated)

    @cached_property
    def upper(self) -> Fraction:
        """The largest probability that any entry may have."""
        return max(ends(stated)[1] for stated in self._all_stated)

    @property
    def p(self) -> Stated:
        """The probability, or the range that holds that of every entry."""
        if self.each_own:
            return EachBetween(self.lower, self.upper)
        return self.lower if self.lower == self.upper else Between(self.lower, self.upper)

    @property
    def has_ranges(self) -> bool:
        """Whether some probability is only known to a range."""
        return any(map(is_range, self._all_stated))

    @property
    def each_own(self) -> bool:
        """Whether entries have probabilities of their own in a range."""
        return any(map(is_each, self._all_stated))

    @cached_property
    def _forms(self) -> tuple[Stated | None, ByGroup[Stated], tuple[Fraction, ...]]:
        """The one probability, or the probabilities by group, or those by entry."""
        stated = self.probabilities
        if not isinstance(stated, tuple):
            return stated, (), ()
        groups = tuple(p for p in stated if isinstance(p, tuple))
        return None, groups, tuple(p for p in stated if isinstance(p, Fraction))

    @property
    def stated_groups(self) -> tuple[str, ...] | None:
        """The groups for which the query states a probability of their own."""
        return tuple(name for name, _ in self._forms[1]) or None

    @property
    def stated_entries(self) -> int | None:
        """For how many entries the query states a probability each."""
        return len(self._forms[2]) or None

    @property
    def stated_law(self) -> object:
        """What two queries of one attribute must state alike."""
        return self.probabilities

    @property
    def shown_law(self) -> str:
        """The probability, or the range that holds that of every entry."""
        return show_stated(self.p)

    def probability(self, group: str | None = None) -> Stated | None:
        """The probability of all entries, if they have one, or of those of this group."""
        p, groups, _ = self._forms
        return dict(groups).get(group or "") if p is None else p

    def law(self, group: str | None = None) -> LawOfValues:
        """Zero and one."""
        p = self.probability(group)
        return () if p is None else law_of_bit(p)

    def values_in(self, group: str | None = None) -> tuple[int, ...]:
        """An entry has the property, or has not."""
        del group
        return (1, 0)

    def laws_by_class(self, groups: Groups) -> tuple[EntryLaw, ...]:
        """Entries with a probability each are in the order of these."""
        if self.stated_entries is None:
            return super().laws_by_class(groups)
        return tuple(EntryLaw(None, size, law_of_bit(p)) for p, size in self._sizes)

    @cached_property
    def _sizes(self) -> list[tuple[Fraction, int]]:
        """The different probabilities of the single entries in order, and how many have each."""
        # Thousands of entries: integers and doubles, which are in the same order, are compared sooner than fractions.
        fractions = {p.as_integer_ratio(): p for p in self._forms[2]}
        sizes = Counter(p.as_integer_ratio() for p in self._forms[2])
        in_order = sorted(fractions, key=lambda ratio: (ratio[0] / ratio[1], fractions[ratio]))
        return [(fractions[ratio], sizes[ratio]) for ratio in in_order]

    def class_of_entries(self, groups: Groups) -> Sequence[int]:
        """The index of the class of each entry."""
        if self.stated_entries is None:
            return super().class_of_entries(groups)
        place = {p: index for index, (p, _) in enumerate(self._sizes)}
        return [place[p] for p in self._forms[2]]

    def added(self, value: int) -> Fraction:
        """One, if the entry has the property."""
        return Fraction(value)

    @property
    def pairs_required(self) -> str:
        """Which pairs are allowed."""
        return PAIRS_OF_BITS

    def _read_pair(self, first: object, second: object) -> Pair:
        return read_pair_of_bits(first, second)

    @property
    def _all_stated(self) -> tuple[Stated, ...]:
        p, groups, entries = self._forms
        return tuple(p for _, p in groups) or entries if p is None else (p,)

    def __repr__(self) -> str:
        p, groups, entries = self._forms
        if p is not None:
            return self._shown(show_stated(p))
        return self._shown(show_groups(groups, show_stated) if groups else show_list(entries, show))


def read_pair_of_bits(first: object, second: object) -> Pair:
    """The pair as integers; None where it is not allowed."""
    return (int(first), int(second)) if (first, second) in ((1, 0), (0, 1)) else None  # type: ignore[call-overload]


def law_of_bit(p: Stated) -> LawOfValues:
    """The probabilities of zero and of one, if the probability of one is p."""
    return ((0, complement(p)), (1, p))


CountQuery = PropertyQuery
"""The name that other libraries have for it."""
