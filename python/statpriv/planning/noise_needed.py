"""The least noise on top of exact answers: a guarantee against readers of the law, and a floor against all others.

Noise is discrete Laplace, of one scale for every answer. Two guarantees may be asked of the same release: statistical
privacy against readers who know the law and some rows, which the data give for nothing or nearly so, and differential
privacy at a weaker level, against readers who know every other row. The floor is the curve of the same release with
all other rows known.

**Parts.** Over a secret partition a row is in one part at most. Tell the reader who is in which part: that never
lowers δ (joint convexity), and then one answer alone depends on the row. So the floor of the release is that of its
worst answer.

**Monotone.** δ does not rise with the scale, whatever is asked: discrete Laplace noise is the difference of two
independent geometric numbers, ``P[k] = (1 − α) α^k``. One of ratio β > α is one of ratio α plus an independent number,
whose generating function ``(1 − β)(1 − αz)/((1 − α)(1 − βz))`` has the coefficients ``(1 − β)/(1 − α) > 0`` and
``(1 − β)(β − α) β^{k−1}/(1 − α) > 0``. So more noise is processing of less, and bisection finds the least scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, cast

from statpriv.curves.build import compose, privacy_curve
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError, GuaranteeNotReachedError, PrecisionError, UndecidedError
from statpriv.model.adversaries import Adversary
from statpriv.model.noise import DiscreteLaplace
from statpriv.model.partitions import Partition
from statpriv.model.populations import Population
from statpriv.model.queries.processed import Numerical
from statpriv.model.samplings import Sampling
from statpriv.numeric.arguments import as_items, is_list
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
    epsilon: Fraction
    delta: Fraction
    curve: Callable[[Sequence[Numerical]], PrivacyCurve]
    """Of the queries with their noise."""


def least_noise(
    query: Numerical | Sequence[Numerical],
    population: Population,
    *,
    epsilon: Number,
    delta: Number,
    floor: tuple[Number, Number] | None = None,
    sampling: Sampling | None = None,
    partition: Partition | None = None,
    adversary: Adversary | None = None,
) -> Design:
    """The least scale of discrete Laplace noise with which a release reaches a guarantee, and a floor below it.

    Parameters
    ----------
    query : query, or list of queries
        What is asked, before noise, with whole numbers as answers: a count, a histogram, a sum of whole numbers. With a
        `partition` a list, one for each part.
    population : Population
        The rows.
    epsilon, delta : number
        The guarantee against a reader who knows the law, and the rows of `adversary`: ε in nats, at least 0, and δ from
        0 to 1.
    floor : tuple of two numbers, optional
        ε and δ of differential privacy, which has to hold as well: against a reader who knows all other rows.
    sampling : sampling, optional
        The secret sample that answers; all rows by default.
    partition : Partition, optional
        The secret partition whose parts answer. The floor is then that of the worst answer by itself.
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

    On the parts of a secret partition a row meets the noise of one answer only:

    >>> parts = sp.RandomPartition([250] * 4)
    >>> asked = [sp.PropertyQuery("0.3", attribute="smoker")] * 4
    >>> sp.design.least_noise(asked, people, partition=parts, epsilon="0.1", delta="0.01", floor=(1, "1e-6")).value
    Fraction(1, 1)
    """
    queries, targets = (
        _queries(query, partition, sampling),
        (as_nonnegative(epsilon, "epsilon"), as_probability(delta, "delta")),
    )

    def released(noisy: Sequence[Numerical]) -> PrivacyCurve:
        if partition is None:
            return privacy_curve(noisy[0], population, sampling=sampling, adversary=adversary)
        return compose(noisy, population, partition, adversary=adversary)

    asked = [_Asked("", *targets, released)]
    if floor is not None:
        everybody = Adversary(known=population.size - 1)
        different = {one: index for index, one in enumerate(queries)}
        asked += [
            _Asked("against all other rows ", *_floor(floor), partial(_alone, population, sampling, everybody, index))
            for index in different.values()
        ]
    trials: dict[int, Trial] = {}

    def trial(steps: int) -> Trial:
        if steps not in trials:
            scale = Fraction(steps, STEPS_PER_UNIT)
            noisy = [one.noisy(DiscreteLaplace(scale=scale)) if scale else one for one in queries]
            trials[steps] = _trial(scale, [one.curve(noisy) for one in asked], asked)
        return trials[steps]

    def refusal(nearest: Trial) -> GuaranteeNotReachedError:
        return GuaranteeNotReachedError(
            f"no scale up to {_LARGEST // STEPS_PER_UNIT} reaches it: {nearest.why}; ask for a larger ε or δ"
        )

    best = first_enough(trial, 0, _LARGEST, refusal, second=STEPS_PER_UNIT)
    neighbour = trials.get(int(best.value * STEPS_PER_UNIT) - 1)
    return Design(
        "scale of the noise",
        _given(asked, (adversary or Adversary()).total),
        best,
        neighbour,
        _beyond(neighbour),
        tuple(trials[steps] for steps in sorted(trials)),
        len(asked) * len(trials),
        asked[0].delta,
    )


def _queries(
    query: Numerical | Sequence[Numerical], partition: Partition | None, sampling: Sampling | None
) -> list[Numerical]:
    if partition is not None and sampling is not None:
        raise ArgumentError(f"partition = {partition!r} and sampling = {sampling!r}; one of them is allowed")
    if partition is None:
        if is_list(query):
            raise ArgumentError(
                f"query = {abridged(query)}; several queries need a partition= that says who answers which"
            )
        return [cast("Numerical", query)]
    return list(as_items(query, "query", "with a partition a list of queries, one for each part, is required"))


def _alone(
    population: Population, sampling: Sampling | None, everybody: Adversary, index: int, noisy: Sequence[Numerical]
) -> PrivacyCurve:
    return privacy_curve(noisy[index], population, sampling=sampling, adversary=everybody)


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


def _given(asked: Sequence[_Asked], known: int) -> str:
    first, *floor = dict.fromkeys((one.who, f"δ({literal(one.epsilon)}) ≤ {literal(one.delta)}") for one in asked)
    below = "".join(f", and {target} against anybody who knows all other rows" for _, target in floor)
    return f"discrete Laplace noise, {first[1]} with {known} known rows{below}"
