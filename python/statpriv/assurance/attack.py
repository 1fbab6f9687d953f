"""Attacks by simulation: whether a mechanism keeps the (ε, δ) that is claimed for it.

A mechanism answers about rows. Whoever attacks it hesitates between two values v and w of one row, and accuses the row
of v where the answer lies in a set S. If the mechanism is (ε, δ)-private for rows of the stated law, then for every S

    P_v(S) − e^ε P_w(S) ≤ δ,

the *advantage* of the attack. Databases are drawn and answered with either value, many times. A quarter of the answers
suggests sets, another quarter chooses one of them, v against w or w against v. The other half, which had no part in
the choice, counts how often answers lie in it. Exact binomial intervals (Clopper and Pearson) for both probabilities
enclose the advantage of *this* attack with the stated confidence. If even its lower end is above δ, the claim is
refuted. If not, nothing is proved: another attack may gain more.

Sets are suggested in three ways. Answers, or what `features` makes of them, are in S if they come more often under v,
by several margins. Numbers may be at or beyond a threshold. Floating-point numbers may be multiples of a power of two:
noise that is added without care leaves traces there (Mironov, *On Significance of the Least Significant Bits for
Differential Privacy*).
"""

# ruff: noqa: S311  (databases are drawn for a simulation; nothing is kept secret)
from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import accumulate
from operator import ge, le
from typing import Any, Protocol, TypeAlias, runtime_checkable

from statpriv.distributions.laws import binomial_lower_tail, binomial_upper_tail
from statpriv.errors import ArgumentError
from statpriv.model.probabilities import as_law
from statpriv.numeric.arguments import is_mapping
from statpriv.numeric.calls import answered
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_nonnegative, as_probability
from statpriv.numeric.literals import abridged, spelled
from statpriv.numeric.search import least_integer
from statpriv.numeric.transcendental import exponential_ends

__all__ = ["Attack", "attack"]

Row: TypeAlias = Any
Answer: TypeAlias = Any
Mechanism: TypeAlias = Callable[[list[Row], random.Random], Answer]
"""From the rows, the attacked one first, and a source of randomness to what is published."""
Law: TypeAlias = "Mapping[Row, Number] | Callable[[random.Random], Row]"
Test: TypeAlias = Callable[[Answer], bool]

_FEWEST = 100
_MARGINS = (0, 1, 2)
"""By how many standard deviations an answer has to be more frequent under v to be in a set."""
_THRESHOLDS = 15
_GRID = 2**40
"""Ends of binomial intervals are multiples of one part of this, rounded outwards."""


@runtime_checkable
class Claim(Protocol):
    """What says which δ it has at every ε: a privacy curve, or a mechanism of `sp.differential`."""

    def delta(self, epsilon: Number, /) -> Enclosure:
        """δ at ε in nats."""


@dataclass(frozen=True)
class Attack:
    """What an attack gained, beside what is claimed.

    Attributes
    ----------
    pair
        The values that were compared, in the order in which the attack gained more.
    epsilon
        ε in nats, as it was given.
    advantage
        ``P_v(S) − e^ε P_w(S)`` of the set that was learned, with this confidence.
    claimed
        The claimed δ at ε, or None.
    confidence
        The least probability that the interval of the advantage holds its true value.
    accused, falsely_accused
        How many of the tested answers with either value lie in the set.
    tested
        How many answers with each value were tested.
    """

    pair: tuple[Row, Row]
    epsilon: Number
    advantage: Enclosure
    claimed: Enclosure | None
    confidence: Fraction
    accused: int
    falsely_accused: int
    tested: int

    @property
    def refuted(self) -> bool:
        """Whether the attack gained more than is claimed, but for the stated confidence."""
        return self.claimed is not None and self.advantage.lower > self.claimed.upper

    @property
    def verdict(self) -> str:
        """One of "refuted", "consistent" and "nothing claimed"."""
        return "nothing claimed" if self.claimed is None else "refuted" if self.refuted else "consistent"

    @property
    def loose_by(self) -> float:
        """The claim is at most this many times what the attack gains for certain: infinite if that is nothing."""
        if self.claimed is None or self.advantage.lower <= 0:
            return math.inf
        return self.claimed.upper / self.advantage.lower

    def __str__(self) -> str:
        v, w = self.pair
        first, second = self.accused / self.tested, self.falsely_accused / self.tested
        lines = [
            f"{self.verdict}: an attack at ε = {spelled(self.epsilon)} that accuses a row of {v!r} and not {w!r}",
            f"advantage  {self.advantage.lower:.4g} to {self.advantage.upper:.4g} with confidence "
            f"{float(self.confidence):g}: {first:.2%} of those accused rightly, {second:.2%} falsely",
        ]
        if self.claimed is not None:
            loose = "" if math.isinf(self.loose_by) or self.refuted else f", at most {self.loose_by:.3g} times as much"
            lines.append(f"claimed    δ at most {self.claimed.upper:.4g}{loose}")
        return "\n".join(lines)


@answered
def attack(
    mechanism: Mechanism,
    pair: tuple[Row, Row],
    *,
    law: Law,
    others: Number,
    epsilon: Number = "0.1",
    claimed: Claim | Number | None = None,
    trials: Number = 10_000,
    confidence: Number = "0.999",
    features: Callable[[Answer], Hashable] | None = None,
    seed: int | None = None,
) -> Attack:
    """Attack a mechanism by simulation, and compare what it gives away with what is claimed.

    Parameters
    ----------
    mechanism : callable
        ``mechanism(rows, random)`` answers about a list of rows, the attacked one first. Whatever it draws it should
        draw from ``random``, a :class:`random.Random`, so that a seed repeats it.
    pair : tuple of two values
        The values v and w of the attacked row.
    law : dict of value to probability, or callable
        What the other rows are drawn from, independently: a law, or a function of a :class:`random.Random` that draws
        one row. A law with one value of probability 1 is that of rows that the reader knows.
    others : int
        Number of other rows.
    epsilon : float, int, Fraction, Decimal or str, default "0.1"
        ε in nats, at least 0.
    claimed : PrivacyCurve, mechanism, or number from 0 to 1, optional
        What is claimed: a curve or whatever else has ``delta(epsilon)``, or δ at this ε.
    trials : int, default 10000
        Databases that are answered with each value, at least 100.
    confidence : number above 0 and below 1, default "0.999"
        Of the interval of the advantage. A true claim is refuted with probability at most one less this.
    features : callable, optional
        What of an answer may matter, hashable: such as the sum of several counts. By default the answer itself.
    seed : int, optional
        Repeats the simulation; by default it is another one each time.

    Returns
    -------
    Attack
        ``print`` it; ``.refuted``, ``.advantage`` and ``.loose_by`` say the same.

    Raises
    ------
    ArgumentError
        A value that is not allowed; the message names it.

    Notes
    -----
    Source: the definition of the hockey-stick divergence as a supremum over tests, and Clopper and Pearson's interval.

    Examples
    --------
    The exact count of 50 rows gains what is certified; one that asks the attacked row in every sample is found out:

    >>> import statpriv as sp
    >>> count = sp.PropertyQuery("0.3")
    >>> curve = sp.privacy_curve(count, sp.Population(50))
    >>> law = {1: "0.3", 0: "0.7"}
    >>> exact = sp.attack(lambda rows, _: sum(rows), (1, 0), law=law, others=49, claimed=curve, seed=1)
    >>> exact.verdict, exact.advantage.lower < curve.delta("0.1").upper
    ('consistent', True)
    >>> sampled = sp.privacy_curve(count, sp.Population(50), sampling=sp.WithoutReplacement(5))
    >>> never_drawn = lambda rows, random: rows[0] + sum(random.sample(rows[1:], 4))
    >>> sp.attack(never_drawn, (1, 0), law=law, others=49, claimed=sampled, seed=1).verdict
    'refuted'
    """
    if not callable(mechanism):
        raise ArgumentError(
            f"mechanism = {abridged(mechanism)}; a function of the rows and a random.Random is required"
        )
    match pair:
        case (v, w) if v != w:
            pass
        case _:
            raise ArgumentError(f"pair = {abridged(pair)}; two different values of the attacked row are required")
    size, many = as_count(others, "others"), as_count(trials, "trials", least=_FEWEST)
    risk = 1 - as_probability(confidence, "confidence")
    if not 0 < risk < 1:
        raise ArgumentError(f"confidence = {spelled(confidence)}; a number above 0 and below 1 is required")
    ratio = exponential_ends(as_nonnegative(epsilon, "epsilon"))
    source = random.SystemRandom() if seed is None else random.Random(seed)
    draw = _drawing(law)
    answers = [
        [mechanism([value, *(draw(source) for _ in range(size))], source) for _ in range(many)] for value in (v, w)
    ]
    quarter = many // 4
    learned, chosen, tested = (
        [own[a:b] for own in answers] for a, b in ((0, quarter), (quarter, 2 * quarter), (2 * quarter, many))
    )
    test, turned = _best(learned, chosen, float(ratio[0]), features)
    first, second = (sum(map(test, own)) for own in (tested[::-1] if turned else tested))
    left = many - 2 * quarter
    advantage = _advantage(first, second, left, ratio, risk)
    return Attack(
        pair=(w, v) if turned else (v, w),
        epsilon=epsilon,
        advantage=advantage,
        claimed=_claimed(claimed, epsilon),
        confidence=1 - risk,
        accused=first,
        falsely_accused=second,
        tested=left,
    )


def _claimed(claimed: Claim | Number | None, epsilon: Number) -> Enclosure | None:
    match claimed:
        case None:
            return None
        case Claim():
            return claimed.delta(epsilon)
        case _:
            return Enclosure(as_probability(claimed, "claimed"))


def _drawing(law: Law) -> Callable[[random.Random], Row]:
    if callable(law):
        return law
    if not is_mapping(law) or not law:
        raise ArgumentError(
            f"law = {abridged(law)}; a dict of value to probability, or a function that draws, is required"
        )
    masses, _ = as_law([(f"law[{value!r}]", mass) for value, mass in law.items()], "law")
    values, bounds = list(law), [float(bound) for bound in accumulate(masses)]
    return lambda source: source.choices(values, cum_weights=bounds)[0]


# --- what is learned ---


def _best(
    learned: Sequence[Sequence[Answer]],
    chosen: Sequence[Sequence[Answer]],
    ratio: float,
    features: Callable[[Answer], Hashable] | None,
) -> tuple[Test, bool]:
    """The test that gains most on what chooses, and whether it accuses of the second value."""
    best: tuple[float, Test, bool] = (-math.inf, lambda _: False, False)
    for turned in (False, True):
        own, other = learned[::-1] if turned else learned
        mine, theirs = chosen[::-1] if turned else chosen
        for test in _suggested(own, other, ratio, features):
            gained = sum(map(test, mine)) / len(mine) - ratio * sum(map(test, theirs)) / len(theirs)
            if gained > best[0]:
                best = (gained, test, turned)
    return best[1], best[2]


def _suggested(
    own: Sequence[Answer], other: Sequence[Answer], ratio: float, features: Callable[[Answer], Hashable] | None
) -> Iterator[Test]:
    yield from _frequent(own, other, ratio, features or _hashable)
    answers = [*own, *other]
    types = set(map(type, answers))
    if features is None and types <= {bool, int, float}:
        ordered = sorted(answers)
        places = {ordered[len(ordered) * k // (_THRESHOLDS + 1)] for k in range(1, _THRESHOLDS + 1)}
        for place in places:
            yield partial(le, place)
            yield partial(ge, place)
        if float in types:
            yield from _frequent(own, other, ratio, _grain)


def _frequent(
    own: Sequence[Answer], other: Sequence[Answer], ratio: float, features: Callable[[Answer], Hashable]
) -> Iterator[Test]:
    """What comes more often under the own value, by each margin."""
    mine, theirs = Counter(map(features, own)), Counter(map(features, other))
    for margin in _MARGINS:
        more = frozenset(
            seen
            for seen, count in mine.items()
            if count - ratio * theirs[seen] > margin * math.sqrt(count + ratio**2 * theirs[seen])
        )
        yield partial(_is_among, more, features)


def _is_among(more: frozenset[Hashable], features: Callable[[Answer], Hashable], answer: Answer) -> bool:
    return features(answer) in more


def _hashable(answer: Answer) -> Hashable:
    return answer if answer.__hash__ else repr(answer)


def _grain(answer: float) -> Hashable:
    """The largest power of two that a number is a multiple of, as its exponent."""
    numerator, denominator = answer.as_integer_ratio() if math.isfinite(answer) else (0, 1)
    return (numerator & -numerator).bit_length() - denominator.bit_length()


# --- what is tested ---


def _advantage(first: int, second: int, tested: int, ratio: tuple[Fraction, Fraction], risk: Fraction) -> Enclosure:
    """P_v(S) − e^ε P_w(S); each of the four ends misses with a quarter of the risk."""
    v, w = (_success(count, tested, risk / 4) for count in (first, second))
    return Enclosure(v[0] - ratio[1] * w[1], v[1] - ratio[0] * w[0])


def _success(count: int, tested: int, risk: Fraction) -> tuple[Fraction, Fraction]:
    """Clopper and Pearson's ends of a probability of success, each missed with at most this risk."""

    def possible(place: int) -> bool:
        return binomial_upper_tail(count, n=tested, p=Fraction(place, _GRID)).upper > risk

    def too_large(place: int) -> bool:
        return binomial_lower_tail(count, n=tested, p=Fraction(place, _GRID)).upper <= risk

    low, high = least_integer(possible, 0, _GRID) - 1, least_integer(too_large, 0, _GRID)
    return Fraction(max(low, 0), _GRID), Fraction(high, _GRID)
