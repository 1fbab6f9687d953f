"""Partial knowledge in a finite model: what the answer adds to the background knowledge of the attacker.

A model is a joint law of all records, a mechanism, and a background function, which is what the attacker sees of the
database besides the answer. The attacker compares two values t and t' of one record. For a value b of the background
that is compatible with both t and t', the loss of an answer is

    L(o; b) = ln(P[M = o | t, b]/P[M = o | t', b]).

The *active* attacker chooses b (APKDP), so δ is the maximum over b. The *passive* attacker only observes b (PPKDP), so
δ is the mean over b given t. A mean is at most the maximum, so APKDP implies PPKDP. The two coincide if the query is
*reducible*: for any two b the answers can be renamed so that their laws agree for every value of the record. Counts,
sums and means are reducible, because known records only shift the answer.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import Any, TypeAlias

from statpriv import budget
from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import as_items, as_key, is_mapping, length_of_tuple
from statpriv.numeric.exact import Number, as_count
from statpriv.numeric.literals import abridged
from statpriv.theories.partial_knowledge.loss import LossCurve, PrivacyLoss, read_law

Database: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True)
class Reducibility:
    """Whether the background only renames the answers.

    Attributes
    ----------
    holds : bool
        Whether it does.
    backgrounds : tuple, or None
        Two values of the background whose answer laws do not differ by a renaming only.
    """

    holds: bool
    backgrounds: tuple[Any, Any] | None = None

    def __bool__(self) -> bool:
        return self.holds


class Model:
    """A joint law of records, a mechanism and a background function, all finite.

    Parameters
    ----------
    records : dict
        From databases to probabilities; a database is the tuple of the values of all records.
    mechanism : callable
        From a database to the answer, or to a dict from answers to probabilities for a randomised mechanism.
    background : callable, optional
        From a database to the attacker's background knowledge; none by default.
    entry : int, default 0
        The record under attack, counted from 0.

    Notes
    -----
    All databases are enumerated, so the number of records must be small. The definitions are those of active and
    passive partial knowledge differential privacy in Desfontaines, section 3.2. A background that excludes one of the
    two values by itself is not counted, because the loss is then not due to the answer.

    Examples
    --------
    Three fair votes; the attacker knows the last one.

    >>> import statpriv as sp
    >>> vote = {0: "1/2", 1: "1/2"}
    >>> model = sp.partial_knowledge.Model.independent([vote] * 3, sum, background=lambda votes: votes[2])
    >>> model.apkdp().exact_delta(exp_epsilon=1), model.is_reducible().holds
    (Fraction(1, 2), True)
    """

    def __init__(
        self,
        records: Mapping[Database, Number],
        mechanism: Callable[[Database], Any],
        *,
        background: Callable[[Database], Hashable] | None = None,
        entry: Number = 0,
    ) -> None:
        law = read_law(records, "records")
        self.entry = as_count(entry, "entry")
        lengths = {length_of_tuple(database) for database in law}
        if len(lengths) != 1 or not self.entry < min(lengths):
            raise ArgumentError(
                f"records = {abridged(records)} and entry = {entry}; databases are tuples of one length above entry"
            )
        for name, function in (("mechanism", mechanism), ("background", background)):
            if not callable(function) and not (name == "background" and function is None):
                raise ArgumentError(f"{name} = {abridged(function)}; a function of a database is required")
        self._laws = _answers(law, mechanism, background or (lambda _: None), self.entry)

    @classmethod
    def independent(
        cls,
        laws: Sequence[Mapping[Any, Number]],
        mechanism: Callable[[Database], Any],
        *,
        background: Callable[[Database], Hashable] | None = None,
        entry: Number = 0,
    ) -> Model:
        """Independent records, each with a law of its own from its values to their probabilities.

        The other arguments are those of :class:`Model`.
        """
        listed = as_items(laws, "laws", "a list with the law of each record is required")
        exact = [read_law(law, f"laws[{index}]") for index, law in enumerate(listed)]
        if (databases := math.prod(map(len, exact))) > budget.MAX_MODEL_DATABASES:
            raise ArgumentError(
                f"laws have {databases} databases; at most {budget.MAX_MODEL_DATABASES} are looked at one by one: "
                "sp.privacy_curve knows formulas for counts, sums and histograms of any size"
            )
        joint = {
            tuple(value for value, _ in case): math.prod((mass for _, mass in case), start=Fraction(1))
            for case in product(*(law.items() for law in exact))
        }
        return cls(joint, mechanism, background=background, entry=entry)

    @property
    def backgrounds(self) -> list[Any]:
        """The possible values of the background, in order of first occurrence."""
        return list(dict.fromkeys(background for laws in self._laws.values() for background in laws))

    def answer_laws(self, background: Hashable = None) -> dict[Any, dict[Any, Fraction]]:
        """The law of the answer given each value of the record that is compatible with this background.

        For a mechanism that answers with a pair of releases this is the `joint` of :func:`dependency`.
        """
        as_key(background, "background")
        found = {value: _scaled(laws[background]) for value, laws in self._laws.items() if background in laws}
        if not found:
            raise ArgumentError(f"background = {abridged(background)}; one of {abridged(self.backgrounds)} is required")
        return found

    def loss(self, value: Hashable, other: Hashable, *, background: Hashable = None) -> PrivacyLoss:
        """The loss of the answer of a database where the record is `value`, compared with `other`.

        Raises
        ------
        ArgumentError
            The background is not compatible with both.
        """
        laws = self.answer_laws(background)
        for name, asked in (("value", value), ("other", other)):
            if as_key(asked, name) not in laws:
                raise ArgumentError(
                    f"the record is {abridged(asked)} and background = {abridged(background)}: they have no database "
                    "in common"
                )
        return PrivacyLoss.mixture([(Fraction(1), laws[value], laws[other])])

    def apkdp(self) -> LossCurve:
        """The curve against the active attacker: the worst background; `losses` are by (t, t', b)."""
        return LossCurve(
            {
                (value, other, background): self.loss(value, other, background=background)
                for value, other in self._pairs()
                for background in self._compatible(value, other)
            }
        )

    def ppkdp(self) -> LossCurve:
        """The curve against the passive attacker: the mean over the background; `losses` are by (t, t')."""
        return LossCurve({pair: self._passive(*pair) for pair in self._pairs() if self._compatible(*pair)})

    def is_reducible(self) -> Reducibility:
        """Whether any two backgrounds only rename the answers; if so, both attackers are equally strong."""
        first: tuple[Any, object] | None = None
        for background in self.backgrounds:
            laws = {value: _scaled(by[background]) for value, by in self._laws.items() if background in by}
            answers = dict.fromkeys(answer for law in laws.values() for answer in law)
            # A renaming exists exactly if the multisets of columns agree; a column is an answer's probability by value.
            shape = frozenset(laws), Counter(tuple(laws[v].get(a, 0) for v in self._laws if v in laws) for a in answers)
            if first is None:
                first = background, shape
            elif first[1] != shape:
                return Reducibility(holds=False, backgrounds=(first[0], background))
        return Reducibility(holds=True)

    def _passive(self, value: Hashable, other: Hashable) -> PrivacyLoss:
        here, there = self._laws[value], self._laws[other]
        all_of_it = sum((sum(law.values()) for law in here.values()), Fraction(0))
        return PrivacyLoss.mixture(
            (sum(here[b].values(), Fraction(0)) / all_of_it, _scaled(here[b]), _scaled(there[b]))
            for b in self._compatible(value, other)
        )

    def _pairs(self) -> Iterator[tuple[Any, Any]]:
        return permutations(self._laws, 2)

    def _compatible(self, value: Hashable, other: Hashable) -> list[Any]:
        return [background for background in self._laws[value] if background in self._laws[other]]

    def __repr__(self) -> str:
        return f"<Model: record {self.entry} of {len(self._laws)} values, {len(self.backgrounds)} backgrounds>"


def _answers(
    law: Mapping[Database, Fraction],
    mechanism: Callable[[Database], Any],
    background: Callable[[Database], Hashable],
    entry: int,
) -> dict[Any, dict[Any, dict[Any, Fraction]]]:
    """`P[D(i) = t, B = b, M = o]` as a dict by t, of dicts by b, of dicts by o."""
    laws: dict[Any, dict[Any, defaultdict[Any, Fraction]]] = {}
    for database, weight in law.items():
        if not weight:
            continue
        answer = mechanism(database)
        known = background(database)
        for name, found in (("mechanism", answer), ("background", known)):
            if not isinstance(found, Hashable | Mapping):
                raise ArgumentError(
                    f"{name} returned {abridged(found)}; something hashable is required, such as a tuple"
                )
        answers = read_law(answer, "what mechanism returned") if is_mapping(answer) else {answer: Fraction(1)}
        masses = laws.setdefault(database[entry], {}).setdefault(known, defaultdict(Fraction))
        for outcome, mass in answers.items():
            if mass:
                masses[outcome] += weight * mass
    return {value: {b: dict(masses) for b, masses in by.items()} for value, by in laws.items()}


def _scaled(masses: Mapping[Any, Fraction]) -> dict[Any, Fraction]:
    total = sum(masses.values(), Fraction(0))
    return {answer: mass / total for answer, mass in masses.items()}
