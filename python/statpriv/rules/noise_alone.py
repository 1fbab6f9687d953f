"""The protection by noise alone, against an adversary who knows all other entries."""

from __future__ import annotations

from statpriv import budget
from statpriv._native import Curve, Law
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.contributions import contributions
from statpriv.lowering.postprocessing import hockey_stick
from statpriv.model.noise import DiscreteNoise, Noise
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.situation import Situation
from statpriv.model.steps import Lattice
from statpriv.rules.assumptions import NOISE
from statpriv.rules.registry import rule
from statpriv.rules.whole_population import worst


@rule(
    bound="noise",
    kind="bound",
    queries=(PostProcessed,),
    cost=54,
    theorem=(
        "Somebody who knew all other entries would still see the noise: at most the curve of the noise against the "
        "noise moved by what the critical entry changes. Several counts have a noise each, of which those count that "
        "the entry changes, two of a histogram; Laplace noise as randomized response, if there are several."
    ),
    source="known entries never make an answer more private; docs/explanation/queries.md, for several counts",
    assumptions=(NOISE,),
    covers=("each",),
)
def noise_alone(situation: Situation) -> Curve:
    """The curve of the noise, which must be the first step; later steps are post-processing."""
    added = _first_step(situation)
    if (changed := situation.asked.changed_counts(situation.pair)) is not None:
        return worst([_of_counts(added, *numbers) for numbers in changed])
    _, gaps, lattice = added_noise(situation)
    point = Law.table(0, [1])
    if added.is_dense:
        # A symmetric, log-concave density is worst at the largest difference, however fine the lattice.
        farthest = Lattice(unit=max(map(abs, gaps), default=0) * lattice.unit)
        return hockey_stick(point.shifted(1), point, farthest, (added,)) if farthest.unit else worst([])
    return worst([hockey_stick(point.shifted(gap), point, lattice, (added,)) for gap in gaps if gap])


def added_noise(situation: Situation) -> tuple[Noise, list[int], Lattice]:
    """The noise that is the first step, and the shifts of the one number before it by the critical entry's values.

    Raises
    ------
    NotApplicable
        The first step is not noise, or the answer is not a single number that the value shifts.
    """
    first, asked = _first_step(situation), situation.asked
    if asked.is_count:
        gaps = [1, -1] if situation.pair is None else [situation.pair[0] - situation.pair[1]]
        return first, gaps, Lattice()
    if asked.is_total:
        entries = contributions(situation)
        pairs = (pair for world in entries.worlds(situation) for pair in world.pairs(situation.pair))
        return first, list(dict.fromkeys(v - w for v, w in pairs)), entries.lattice
    raise NotApplicable("what an entry changes of this answer is not one of a few numbers")


def _first_step(situation: Situation) -> Noise:
    first = situation.steps[0]
    if not isinstance(first, Noise):
        raise NotApplicable("the first step is no noise")
    return first


def _of_counts(added: Noise, first: int, second: int) -> Curve:
    """Several equal noises: `first` of them are shifted by one under the first value, `second` under the second."""
    point, counts = Law.table(0, [1]), first + second
    if counts == 1:
        return hockey_stick(point.shifted(first), point.shifted(second), Lattice(), (added,))
    told = added.of_several(first, second)
    if told is None:
        return _joint(added, first, second)
    one, other, smoothing = told
    return hockey_stick(one, other, Lattice(), () if smoothing is None else (smoothing,))


def _joint(added: Noise, first: int, second: int) -> Curve:
    """All noises together, each as a digit of one number."""
    least, most = added.support if isinstance(added, DiscreteNoise) else (None, None)
    if not isinstance(added, DiscreteNoise) or least is None or most is None:
        raise NotApplicable(f"several noises {added!r} without bounds have no joint law here")
    base = most - least + 2
    if base ** (first + second) > budget.MAX_LABELS:
        raise NotApplicable(f"{first + second} noises with {base - 1} values each have too many joint values")
    places = [base**place for place in range(first + second)]
    law = added.law()
    together = Law.sum([law.scaled(place) for place in places])
    return Curve.answers(together.shifted(sum(places[:first])), together.shifted(sum(places[first:])))
