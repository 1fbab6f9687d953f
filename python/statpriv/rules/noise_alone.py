"""What the noise alone hides, from somebody who knows all other entries."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

from statpriv._native import Curve, Law
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.contributions import MOST_LABELS, Lattice, contributions
from statpriv.lowering.postprocessing import Continuous, hockey_stick, noise_law
from statpriv.model import noise
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.linear import LinearQuery
from statpriv.model.queries.processed import Processed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.sum import Additive
from statpriv.model.situation import Situation
from statpriv.rules.assumptions import NOISE
from statpriv.rules.registry import rule
from statpriv.rules.whole_population import worst

__all__ = ["added_noise", "changed_counts"]

PRECISION = 2**100
"""A deviation is rounded down to a multiple of one part in so many."""


@rule(
    bound="noise",
    kind="bound",
    queries=(Processed,),
    theorem=(
        "Somebody who knew all other entries would still see the noise: at most the curve of the noise against the "
        "noise moved by what the critical entry changes. Several counts have a noise each, of which those count that "
        "the entry changes, two of a histogram; Laplace noise as randomized response, if there are several."
    ),
    source="known entries never make an answer more private; docs/explanation/queries.md, for several counts",
    assumptions=(NOISE,),
)
def noise_alone(situation: Situation) -> Curve:
    """The first step must be the noise; what follows is post-processing."""
    added = _first_step(situation)
    if isinstance(situation.asked, HistogramQuery | LinearQuery):
        return worst([_of_counts(added, *numbers) for numbers in changed_counts(situation)])
    _, gaps, lattice = added_noise(situation)
    point = Law.table(0, [1])
    if isinstance(added, Continuous):
        # Of a density only the largest difference matters, however fine the lattice: it is symmetric and log-concave.
        farthest = Lattice(unit=max(map(abs, gaps), default=0) * lattice.unit)
        return hockey_stick(point.shifted(1), point, farthest, (added,)) if farthest.unit else worst([])
    return worst([hockey_stick(point.shifted(gap), point, lattice, (added,)) for gap in gaps if gap])


def added_noise(situation: Situation) -> tuple[noise.Noise, list[int], Lattice]:
    """The noise that is the first step, and how far the values of the critical entry move the one number before it.

    Raises
    ------
    NotApplicable
        The first step is no noise, or the answer is not one number that a value moves.
    """
    first, asked = _first_step(situation), situation.asked
    if isinstance(asked, PropertyQuery):
        gaps = [1, -1] if situation.pair is None else [situation.pair[0] - situation.pair[1]]
        return first, gaps, Lattice()
    if isinstance(asked, Additive):
        entries = contributions(situation)
        pairs = (pair for world in entries.worlds(situation) for pair in world.pairs(situation.pair))
        return first, list(dict.fromkeys(v - w for v, w in pairs)), entries.lattice
    raise NotApplicable("what an entry changes of this answer is not one of a few numbers")


def _first_step(situation: Situation) -> noise.Noise:
    query: Any = situation.query
    first = query.steps[0]
    if not isinstance(first, noise.Noise):
        raise NotApplicable("the first step is no noise")
    return first


def changed_counts(situation: Situation) -> list[tuple[int, int]]:
    """How many counts are larger by one under the first value of a pair, and how many under the second."""
    if isinstance(situation.asked, HistogramQuery):
        return [(1, 1)]
    matrix: Any = situation.asked
    most = max(sum(column) for column, _ in matrix.columns)
    pairs = [(1, 0), (0, 1)] if situation.pair is None else [situation.pair]
    return [(most * v, most * w) for v, w in pairs if most]


def _of_counts(added: noise.Noise, first: int, second: int) -> Curve:
    """So many noises against the same, of which some are moved by one under the first value, the rest under the second.

    Of normal noises only the signed sum matters; of two-sided geometric ones how many are on the side of the first
    value. Laplace noise says no more than that answer of randomized response does.
    """
    point, counts = Law.table(0, [1]), first + second
    if counts == 1:
        return hockey_stick(point.shifted(first), point.shifted(second), Lattice(), (added,))
    if isinstance(added, noise.Gaussian):
        deviation = Fraction(isqrt(int(counts * (added.sigma * PRECISION) ** 2)), PRECISION)
        return Curve.smoothed(point.shifted(counts), point, gaussian_sigma=deviation)
    if isinstance(added, noise.DiscreteGaussian):
        total = noise_law(added).repeated(counts)
        return Curve.answers(total.shifted(counts), total)
    if isinstance(added, noise.Laplace):
        added = noise.DiscreteLaplace(scale=added.scale)
    if isinstance(added, noise.DiscreteLaplace):
        law = noise_law(added)
        return Curve.answers(*(each.clamped(0, 1).repeated(counts) for each in (law.shifted(1), law)))
    return _joint(added, first, second)


def _joint(added: noise.Binomial | noise.Truncated, first: int, second: int) -> Curve:
    """All noises together, each the digit of a number."""
    least, most = added.support
    base = most - least + 2
    if base ** (first + second) > MOST_LABELS:
        raise NotApplicable(f"{first + second} noises with {base - 1} values each have too many joint values")
    places = [base**place for place in range(first + second)]
    law = noise_law(added)
    together = Law.sum([law.scaled(place) for place in places])
    return Curve.answers(together.shifted(sum(places[:first])), together.shifted(sum(places[first:])))
