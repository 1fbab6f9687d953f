"""The least noise on top of exact answers: a guarantee against readers of the law, and a floor against all others.

Noise is discrete Laplace, of one scale for every answer. Two guarantees may be asked of the same release: statistical
privacy against readers who know the law and some rows, which the data give for nothing or nearly so, and differential
privacy at a weaker level, against readers who know every other row. The floor is the curve of the same release with
all other rows known.

**Monotone.** δ does not rise with the scale, whatever is asked: discrete Laplace noise is the difference of two
independent geometric numbers, ``P[k] = (1 − α) α^k``. One of ratio β > α is one of ratio α plus an independent number,
whose generating function ``(1 − β)(1 − αz)/((1 − α)(1 − βz))`` has the coefficients ``(1 − β)/(1 − α) > 0`` and
``(1 − β)(β − α) β^{k−1}/(1 − α) > 0``. So more noise is processing of less, and bisection finds the least scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from statpriv.curves.build import privacy_curve
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError, GuaranteeNotReachedError, PrecisionError, UndecidedError
from statpriv.model.adversaries import Adversary
from statpriv.model.noise import DiscreteLaplace
from statpriv.model.populations import Population
from statpriv.model.queries.processed import Numerical
from statpriv.model.samplings import Sampling
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_nonnegative, as_probability
from statpriv.numeric.literals import abridged, at_least, at_most, literal
from statpriv.planning.designs import Design, Trial
from statpriv.planning.search import first_enough

STEPS_PER_UNIT = 64
"""Scales are multiples of one part of this."""
_LARGEST = 2**14 * STEPS_PER_UNIT


@dataclass(frozen=True)
class _Asked:
    """A guarantee against somebody, and what messages say before it."""

    who: str
    adversary: Adversary
    epsilon: Fraction
    delta: Fraction


def least_noise(
    query: Numerical,
    population: Population,
    *,
    epsilon: Number,
    delta: Number,
    floor: tuple[Number, Number] | None = None,
    sampling: Sampling | None = None,
    adversary: Adversary | None = None,
) -> Design:
    """The least scale of discrete Laplace noise with which a release reaches a guarantee, and a floor below it.

    Parameters
    ----------
    query : query
        What is asked, before noise, with whole numbers as answers: a count, a histogram, a sum of whole numbers.
    population : Population
        The rows.
    epsilon, delta : number
        The guarantee against a reader who knows the law, and the rows of `adversary`: ε in nats, at least 0, and δ from
        0 to 1.
    floor : tuple of two numbers, optional
        ε and δ of differential privacy, which has to hold as well: against a reader who knows all other rows.
    sampling : sampling, optional
        The secret sample that answers; all rows by default.
    adversary : Adversary, optional
        Rows that a reader knows; none by default.

    Returns
    -------
    Design
        Its `value` is the scale, a multiple of 1/64; 0 where exact answers reach both. Its `curve` is that of the
        release, and the noise ``sp.noise.DiscreteLaplace(scale=value)``.

    Raises
    ------
    ArgumentError
        A value that is not allowed.
    GuaranteeNotReachedError
        No scale up to 16384 reaches both.
    NotAvailableError
        There is no curve of this query with noise.

    Notes
    -----
    Source: the lemma in :mod:`statpriv.planning.noise_needed`.

    Examples
    --------
    A count that is private enough by itself takes noise for the floor alone:

    >>> import statpriv as sp
    >>> count, people = sp.PropertyQuery("0.3"), sp.Population(1000)
    >>> sp.design.least_noise(count, people, epsilon="0.1", delta="0.01").value
    Fraction(0, 1)
    >>> plan = sp.design.least_noise(count, people, epsilon="0.1", delta="0.01", floor=(1, "1e-6"))
    >>> plan.value, plan.neighbour.verdict
    (Fraction(1, 1), 'fails')
    """
    asked = [_Asked("", adversary or Adversary(), as_nonnegative(epsilon, "epsilon"), as_probability(delta, "delta"))]
    if floor is not None:
        asked.append(_Asked("against all other rows ", Adversary(known=population.size - 1), *_floor(floor)))
    trials: dict[int, Trial] = {}

    def trial(steps: int) -> Trial:
        if steps not in trials:
            scale = Fraction(steps, STEPS_PER_UNIT)
            noisy = query.noisy(DiscreteLaplace(scale=scale)) if scale else query
            curves = [privacy_curve(noisy, population, sampling=sampling, adversary=one.adversary) for one in asked]
            trials[steps] = _trial(scale, curves, asked)
        return trials[steps]

    def refusal(nearest: Trial) -> GuaranteeNotReachedError:
        return GuaranteeNotReachedError(
            f"no scale up to {_LARGEST // STEPS_PER_UNIT} reaches it: {nearest.why}; ask for a larger ε or δ"
        )

    best = first_enough(trial, 0, _LARGEST, refusal, second=STEPS_PER_UNIT)
    neighbour = trials.get(int(best.value * STEPS_PER_UNIT) - 1)
    return Design(
        "scale of the noise",
        _given(asked),
        best,
        neighbour,
        _beyond(neighbour),
        tuple(trials[steps] for steps in sorted(trials)),
        len(asked) * len(trials),
        asked[0].delta,
    )


def _beyond(neighbour: Trial | None) -> str:
    if neighbour is None:
        return "Exact answers reach it."
    if neighbour.verdict == "fails":
        return "All smaller scales fail too: δ does not rise with the scale."
    return "Whether a smaller scale reaches it is not decided."


def _floor(floor: Any) -> tuple[Fraction, Fraction]:  # noqa: ANN401  (a user's)
    match floor:
        case (epsilon, delta):
            return as_nonnegative(epsilon, "floor[0]"), as_probability(delta, "floor[1]")
    raise ArgumentError(f"floor = {abridged(floor)}; ε and δ of differential privacy are required, such as (1, '1e-6')")


def _trial(scale: Fraction, curves: Sequence[PrivacyCurve], asked: Sequence[_Asked]) -> Trial:
    reached: Enclosure | None = None
    said = []
    for curve, one in zip(curves, asked, strict=True):
        try:
            at_epsilon = curve.delta(one.epsilon)
        except PrecisionError as error:
            return Trial(scale, "undecided", f"{one.who}{error}", (), reached, None, curves[0])
        reached = at_epsilon if reached is None else reached
        try:
            enough = curve.satisfies(epsilon=one.epsilon, delta=one.delta)
        except UndecidedError:
            least = at_least(at_epsilon.lower)
            return Trial(scale, "undecided", f"{one.who}the bound is at least {least}", (), reached, None, curves[0])
        if not enough:
            return Trial(scale, "fails", f"{one.who}δ ≥ {at_least(at_epsilon.lower)}", (), reached, None, curves[0])
        said.append(f"{one.who}δ({literal(one.epsilon)}) ≤ {at_most(at_epsilon.upper)}")
    return Trial(scale, "holds", ", ".join(said), (), reached, None, curves[0])


def _given(asked: Sequence[_Asked]) -> str:
    first, *floor = (f"δ({literal(one.epsilon)}) ≤ {literal(one.delta)}" for one in asked)
    below = "".join(f", and {target} against anybody who knows all other rows" for target in floor)
    return f"discrete Laplace noise, {first} with {asked[0].adversary.total} known rows{below}"
