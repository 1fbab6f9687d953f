"""What every query can say about itself, and queries of the user's own."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, runtime_checkable

from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.model.ranges import is_each
from statpriv.numeric.exact import Number
from statpriv.numeric.literals import abridged

if TYPE_CHECKING:
    from statpriv.model.ranges import Stated

Pair: TypeAlias = "tuple[Any, Any] | None"
"""Which values of the critical entry are compared; None is the worst pair."""
LawOfValues: TypeAlias = "tuple[tuple[Any, Stated], ...]"
"""Each value that an entry may have, with its probability or the range of it."""
Groups: TypeAlias = "Sequence[tuple[str | None, int]]"
"""Name and size of each group; None is the name of all entries together."""


_MAX_SHOWN = 300
"""Characters of a query that are shown."""


def shown(query: object) -> str:
    """The query, of which a long list is cut."""
    text = repr(query)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 3]}..."


@dataclass(frozen=True)
class EntryLaw:
    """Entries with the same law of their values, which the query treats alike."""

    group: str | None
    size: int
    law: LawOfValues
    column: tuple[int, ...] = ()
    """Of several counts: which of them include these entries."""


class Capabilities:
    """What a query says of the laws of the entries, and of how its answer depends on them.

    Every capability is "no" unless the class of the query overrides it.
    """

    attribute: str | None = None
    name: str | None = None

    law_fields: ClassVar[tuple[str, ...]] = ()
    """The fields that state laws of entries, or one law for each group."""
    range_noun: ClassVar[str] = "probabilities of values are ranges"
    """What messages say where some probability is a range."""
    counts_values: ClassVar[bool] = False
    """Whether the answer is the number of entries with each value, and nothing else: a count or a histogram."""
    is_total: ClassVar[bool] = False
    """Whether the answer is one number, a sum of what the entries add, up to a factor: see `added`."""
    is_count: ClassVar[bool] = False
    """Whether the answer is the number of entries with a property."""
    states_answers: ClassVar[bool] = False
    """Whether the laws of the answer itself are stated: see `laws_of_answers`."""
    has_rank: ClassVar[bool] = False
    """Whether the answer is the entry of a given rank: see `rank_among`."""
    is_symmetric: ClassVar[bool] = False
    """Whether the answer depends on the entries through the histogram of their values alone."""
    has_minimum: ClassVar[bool] = False
    """Whether nothing is published unless every cell holds a minimum number of entries."""
    is_mean: ClassVar[bool] = False
    """Whether a sum is divided by the number of entries that answer."""

    # --- the laws of the entries ---

    @property
    def kind(self) -> str:
        """What messages call queries of this kind."""
        return type(self).__name__

    @property
    def is_uniform(self) -> bool:
        """Whether one law, or one range, is stated for all entries together."""
        return False

    @property
    def has_ranges(self) -> bool:
        """Whether some probability is only known to a range."""
        return False

    @property
    def holds_for_every_law(self) -> bool:
        """Whether the query states no probability: what is certified holds for every law that the entries share."""
        return False

    @property
    def each_own(self) -> bool:
        """Whether entries have laws of their own in ranges: :class:`~statpriv.model.ranges.EachBetween`."""
        return any(is_each(share) for group in self.stated_groups or (None,) for _, share in self.law(group))

    @property
    def stated_groups(self) -> tuple[str, ...] | None:
        """The groups for which the query states laws of their own."""
        return None

    @property
    def stated_entries(self) -> int | None:
        """For how many entries the query states a law each."""
        return None

    @property
    def laws_differ(self) -> bool:
        """Whether laws are stated by group or by entry."""
        return self.stated_groups is not None or self.stated_entries is not None

    @property
    def stated_law(self) -> object:
        """What two queries of one attribute must state alike."""
        return self

    @property
    def shown_law(self) -> str:
        """How messages spell the law of the entries."""
        return shown(self)

    def law(self, group: str | None = None) -> LawOfValues:
        """The law of an entry: of any where there is one law, else of an entry of this group."""
        del group
        return ()

    def values_in(self, group: str | None = None) -> tuple[Any, ...]:
        """The values that an entry may have: of this group, if one is named."""
        return tuple(value for value, _ in self.law(group))

    def laws_by_class(self, groups: Groups) -> tuple[EntryLaw, ...]:
        """The classes of entries that have one law and are treated alike."""
        return tuple(EntryLaw(name, size, self.law(name)) for name, size in groups)

    def class_of_entries(self, groups: Groups) -> Sequence[int]:
        """The index of the class of each entry, in the order of the population."""
        return [index for index, of in enumerate(self.laws_by_class(groups)) for _ in range(of.size)]

    # --- the answer ---

    def probability(self, group: str | None = None) -> Stated | None:
        """Of the number of entries with a property: its probability for all entries, or for those of this group."""
        del group
        return None

    @property
    def one_histogram(self) -> tuple[Stated, ...] | None:
        """Of a histogram of entries with one law: the probability of each cell."""
        return None

    def added(self, value: Any) -> Fraction:  # noqa: ANN401  (a value of an entry)
        """What an entry with this value adds to a total."""
        raise NotAvailableError(
            f"{self.kind} states no added: it is no total of what entries with {abridged(value)} add"
        )

    def rank_among(self, entries: int) -> int | None:
        """The rank of the answer among the values of so many entries, counted from below."""
        del entries
        return None

    @property
    def least_entries(self) -> int:
        """Of fewer entries there is no answer."""
        return 1

    def changed_counts(self, pair: Pair) -> list[tuple[int, int]] | None:
        """Of several counts: how many are larger by one under the first value of a pair, how many under the second."""
        del pair
        return None

    def laws_of_answers(self, entries: int) -> object:
        """For each value of the critical entry the law of the answer of so many entries."""
        raise NotAvailableError(f"{self.kind} states no laws_of_answers of {entries} entries")

    # --- checks ---

    def check_size(self, size: int) -> None:
        """Refuse a population of this size, if the query does not fit it."""

    def check_part(self, shown: str, smallest: int | None) -> None:
        """Refuse to answer on parts of random partitions, of `smallest` entries if that is told."""

    @property
    def pairs_required(self) -> str:
        """Which pairs of values are allowed, as messages say it."""
        return "a pair of different values of the critical entry, or None is required"

    def checked_pair(self, pair: Any) -> Pair:  # noqa: ANN401  (a user's)
        """Two different values that the critical entry may have, as the query writes them."""
        if pair is None:
            return None
        if not isinstance(pair, tuple) or len(pair) != 2 or (checked := self._read_pair(*pair)) is None:
            raise ArgumentError(f"pair = {abridged(pair)}; {self.pairs_required}")
        return checked

    def _read_pair(self, first: Any, second: Any) -> Pair:  # noqa: ANN401
        """The pair as the query writes it; None where it is not allowed."""
        del first, second
        return None


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


@dataclass(frozen=True, repr=False)
class OwnLaws(Capabilities):
    """The capabilities of a query of the user's own: it states the laws of its answers, and nothing of entries."""

    query: AnswerLaws
    states_answers: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for label in ("attribute", "name"):
            object.__setattr__(self, label, getattr(self.query, label, None))

    @property
    def kind(self) -> str:
        """The class of the user's query."""
        return type(self.query).__name__

    @property
    def stated_law(self) -> object:
        """The query itself."""
        return self.query

    def laws_of_answers(self, entries: int) -> object:
        """As the user's query states them."""
        return self.query.answer_laws(entries)

    def _read_pair(self, first: Any, second: Any) -> Pair:  # noqa: ANN401
        hashable = all(isinstance(value, Hashable) for value in (first, second))
        return (first, second) if hashable and first != second else None

    def __repr__(self) -> str:
        return repr(self.query)


def capabilities_of(query: Capabilities | AnswerLaws) -> Capabilities:
    """What a query can say about itself, whether or not it is one of this package."""
    return query if isinstance(query, Capabilities) else OwnLaws(query)
