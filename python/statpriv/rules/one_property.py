"""All parts ask the same property: the answers are one count in disguise."""

from __future__ import annotations

from fractions import Fraction

from statpriv._native import Curve
from statpriv.rules.registry import NotApplicable, rule
from statpriv.situation import Situation

INDEPENDENT = "the entries are independent of each other"
IDENTICAL = "every entry has the property with the same probability, the one stated (or any in the stated range)"
DRAWN = "which entries answer which query, if there is a choice, is drawn uniformly and independently of the data"
SECRET = "who answers which query is kept secret, and the partition is not used again"  # noqa: S105  (a sentence)


@rule(
    bound="exact",
    kind="exact",
    theorem=(
        "The count of the entries the adversary does not know: 1 + Bin(N, p) against Bin(N, p) for the N others. "
        "Known entries shift both by a constant. Over a range of p it is the exact supremum."
    ),
    source=(
        "Breutigam and Reischuk, Parallel Composition for Statistical Privacy, Definition 2.3; "
        "for a range, the theorem on peak heights in docs/explanation/ranges.md"
    ),
    assumptions=(INDEPENDENT, IDENTICAL),
)
def full_count(situation: Situation) -> Curve:
    """Δ_{n−u}: no partition, no secret."""
    if situation.sampling.sizes != (situation.population.size,):
        raise NotApplicable("the count is not one of all entries")
    return _total(situation)


@rule(
    bound="exact",
    kind="exact",
    theorem=(
        "The answers of all parts are post-processing of the total count, and the total is a function of them: "
        "the privacy curve is that of the total over the entries the adversary does not know, "
        "whatever the number and the sizes of the parts. Over a range of p it is the exact supremum."
    ),
    source="data processing; for a range, the theorem on peak heights in docs/explanation/ranges.md",
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN, SECRET),
)
def every_entry_counted(situation: Situation) -> Curve:
    """Δ_{n−u}: known entries only shift the total."""
    _require_one_property(situation)
    if situation.used < situation.population.size:
        raise NotApplicable("some entries are not used")
    return _total(situation)


@rule(
    bound="exact",
    kind="exact",
    theorem=(
        "The released counts of a secret sample have the law (1 − s/n) Bin(s, p) + (s/n)(v + Bin(s−1, p)) "
        "in their sum, on which the hockey stick depends alone."
    ),
    source="exact composition of iid entries with one class of parts, docs/explanation/composition.md",
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN, SECRET),
)
def some_entries_counted(situation: Situation) -> Curve:
    """The chance of not being counted is part of the law."""
    _require_one_property(situation)
    if situation.adversary.known:
        raise NotApplicable("entries of a hidden sample are known, which is not a shift of the count")
    query = situation.queries[0]
    if query.lower != query.upper:
        raise NotApplicable("p is a range, over which the law of a hidden sample has no closed supremum here")
    inclusion = Fraction(situation.used, situation.population.size)
    return Curve.sampled_count(size=situation.used, p=query.lower, inclusion=inclusion, pair=situation.pair)


@rule(
    bound="total-count",
    kind="bound",
    theorem=(
        "Counts of a sample are post-processing of the total count, so their privacy curve is at most that of "
        "the total over the entries the adversary does not know."
    ),
    source="data processing",
    assumptions=(INDEPENDENT, IDENTICAL, DRAWN, SECRET),
)
def total_count(situation: Situation) -> Curve:
    """Δ_{n−u} again, as a bound."""
    _require_one_property(situation)
    return _total(situation)


def _require_one_property(situation: Situation) -> None:
    if not situation.one_property:
        raise NotApplicable("the parts ask unrelated properties (attribute= says that two are the same)")


def _total(situation: Situation) -> Curve:
    query = situation.queries[0]
    unknown = situation.population.size - situation.adversary.known
    return Curve.count(size=unknown, lower=query.lower, upper=query.upper, pair=situation.pair)
