"""Queries of entries that are numbers: what their values are, and how probable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from statpriv.errors import ArgumentError
from statpriv.model.groups import ByGroup, by_group, show_groups
from statpriv.model.probabilities import as_law
from statpriv.model.queries.labels import Labelled
from statpriv.model.queries.processed import Numerical
from statpriv.model.queries.protocol import Pair
from statpriv.model.ranges import Range, Stated, is_each, is_range, ranges_of_a_law, show_stated_law, states_range
from statpriv.numeric.arguments import as_mapping, is_mapping
from statpriv.numeric.exact import Number, as_fraction
from statpriv.numeric.literals import abridged, show_number

Pmf: TypeAlias = "tuple[tuple[Fraction, Stated], ...]"
ValuesAndLaw: TypeAlias = "Mapping[Any, Number | Range] | Mapping[str, Mapping[Any, Number | Range]]"
"""From value to probability or its range, or that for each group."""


@dataclass(frozen=True, init=False, repr=False)
class Valued(Labelled, Numerical):
    """A query with one numerical answer, of entries that are numbers.

    Attributes
    ----------
    pmf : tuple of (Fraction, Fraction or a range), or tuple of (str, such a tuple)
        Value and probability or its range, in the order of the values; or group and these, in the order given.
    sums : Fraction, or tuple of (str, Fraction)
        What the probabilities were divided by; other than one only where floats are among them.
    """

    pmf: Pmf | ByGroup[Pmf]
    sums: Fraction | ByGroup[Fraction] = field(compare=False)
    law_fields: ClassVar[tuple[str, ...]] = ("pmf", "sums")
    is_symmetric: ClassVar[bool] = True

    def _set_pmf(self, pmf: ValuesAndLaw) -> None:
        as_mapping(pmf, "pmf", "a dict from value to probability, such as {0: 0.5, 1: 0.5}, is required")
        nested = {is_mapping(inner) for inner in pmf.values()}
        if nested == {True, False}:
            raise ArgumentError(f"pmf = {abridged(pmf)}; a probability for each value, or a dict for each group")
        if nested == {True}:
            laws = by_group(pmf, "pmf", _read)
            object.__setattr__(self, "pmf", tuple((group, law) for group, (law, _) in laws))
            object.__setattr__(self, "sums", tuple((group, total) for group, (_, total) in laws))
        else:
            law, total = _read(pmf, "pmf")
            object.__setattr__(self, "pmf", law)
            object.__setattr__(self, "sums", total)
        if len(self.values) < 2:
            raise ArgumentError(f"pmf = {abridged(pmf)}; at least two values are required, one alone hides nothing")

    @property
    def is_uniform(self) -> bool:
        """Whether one law is stated for all entries together."""
        return isinstance(self.sums, Fraction)

    @property
    def has_ranges(self) -> bool:
        """Whether the probability of some value is only known to a range."""
        return any(is_range(mass) for _, law in self._by_group for _, mass in law)

    @property
    def each_own(self) -> bool:
        """Whether entries have laws of their own in a box of ranges."""
        return any(is_each(mass) for _, law in self._by_group for _, mass in law)

    @property
    def stated_groups(self) -> tuple[str, ...] | None:
        """The groups for which the query states a law of their own."""
        return None if self.is_uniform else tuple(name for name, _ in self._by_group)

    @property
    def stated_law(self) -> object:
        """What two queries of one attribute must state alike."""
        return self.pmf

    def law(self, group: str | None = None) -> Pmf:
        """The law of an entry: of any where there is one law, else of an entry of this group."""
        return self._by_group[0][1] if self.is_uniform else dict(self._by_group).get(group or "", ())

    def values_in(self, group: str | None = None) -> tuple[Fraction, ...]:
        """The values that an entry may have: of this group, if one is named."""
        return self.values if group is None else tuple(value for value, _ in self.law(group))

    @property
    def pairs_required(self) -> str:
        """Which pairs of values are allowed, as messages say it."""
        shown = ", ".join(show_number(value) for value in self.values[:6])
        of_group = "" if self.is_uniform else ", both of one group"
        more = ", ..." if len(self.values) > 6 else ""
        return f"a pair of different values among {shown}{more}{of_group}, or None is required"

    def _read_pair(self, first: Any, second: Any) -> Pair:  # noqa: ANN401  (a user's)
        try:
            chosen = as_fraction(first, "pair"), as_fraction(second, "pair")
        except ArgumentError:
            return None
        laws = ({value for value, _ in law} for _, law in self._by_group)
        return chosen if chosen[0] != chosen[1] and any(set(chosen) <= values for values in laws) else None

    @property
    def _by_group(self) -> ByGroup[Pmf]:
        """The laws of the groups, or the one law as that of a group without a name."""
        by_name: Any = (("", self.pmf),) if self.is_uniform else self.pmf
        return tuple(by_name)

    @property
    def values(self) -> tuple[Fraction, ...]:
        """Every value that some entry may have, in order."""
        return tuple(sorted({value for _, law in self._by_group for value, _ in law}))

    @property
    def _pmf_shown(self) -> str:
        if isinstance(self.sums, Fraction):
            return _show((self._by_group[0][1], self.sums))
        laws = zip(self._by_group, self.sums, strict=True)
        return show_groups(tuple((group, (law, total)) for (group, law), (_, total) in laws), _show)


def _read(pmf: Mapping[Any, Any], name: str) -> tuple[Pmf, Fraction]:
    """The probabilities by value, and what they were divided by."""
    if not pmf:
        raise ArgumentError(f"{name} = {{}}; at least one value is required")
    exact: dict[Fraction, tuple[str, Number]] = {}
    for value, mass in pmf.items():
        number = as_fraction(value, f"a value of {name}")
        if number in exact:
            raise ArgumentError(f"{name} = {abridged(pmf)}; the value {abridged(number)} stands there twice")
        exact[number] = f"{name}[{abridged(value)}]", mass
    ordered = sorted(exact)
    masses: tuple[Stated, ...]
    if any(map(states_range, pmf.values())):
        masses, total = ranges_of_a_law([exact[number] for number in ordered], name), Fraction(1)
    else:
        masses, total = as_law([exact[number] for number in ordered], name)
    return tuple(zip(ordered, masses, strict=True)), total


def _show(law: tuple[Pmf, Fraction]) -> str:
    pmf, total = law
    masses = show_stated_law([mass for _, mass in pmf], total)
    pairs = (f"{show_number(value)}: {mass}" for (value, _), mass in zip(pmf, masses, strict=True))
    return f"{{{', '.join(pairs)}}}"
