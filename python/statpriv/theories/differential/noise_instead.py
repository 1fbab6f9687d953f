"""What noise would cost in place of a release: its error under differential privacy at the same (ε, δ).

Every question of the release is asked of the whole table once, with noise, so that all noisy answers together are (ε,
δ)-differentially private. Let one row change K of the published numbers at once, the i-th by at most `S_i`: a count is
one number that changes by one, a histogram or a table has two such cells, a sum changes by the distance of its extreme
values. The noise of each number is proportional to its `S_i`.

* *Normal noise* of standard deviation `σ S_i`: all numbers together have the curve of two normal laws at distance
  `μ = √K/σ`, so `σ = √K/μ(ε, δ)`, with the exact `μ` of :func:`statpriv.differential.gaussian_distance`.
* *Laplace noise* of scale `b S_i`, standard deviation `√2 b S_i`: the exact composition of K answers
  (:class:`statpriv.differential.LaplaceMechanism`). δ falls as b rises, because noise of a larger scale b' is that of
  b and an independent amount, 0 with probability `(b/b')²` and else of scale b'. b is enclosed by comparisons of δ that
  are certain.

Beside it stands the error of the release itself: that of the secret sample whose answer is scaled up to the table.
Parts of a partition that ask one attribute are one sample of all their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from statpriv.curves.comparison import Tabulated
from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.model.populations import Population
from statpriv.model.queries.protocol import shown
from statpriv.model.samplings import Sampling
from statpriv.model.situation import Query, asked_of, attribute_of, capabilities
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_fraction
from statpriv.numeric.literals import spelled
from statpriv.planning.sampling_error import root
from statpriv.planning.worst_error import root_mean_squared_error
from statpriv.rules.registry import AnySituation
from statpriv.theories.differential.gaussian import gaussian_deviation
from statpriv.theories.differential.laplace import LaplaceMechanism

__all__ = ["NoiseInstead", "NoisyAnswer", "noise_instead"]

Mechanism: TypeAlias = Literal["Gaussian", "Laplace"]
_CLOSE = Fraction(1, 2**14)
"""Relative distance of the ends between which the scale of Laplace noise is enclosed."""
_STEP = Fraction(9, 8)


@dataclass(frozen=True)
class NoisyAnswer:
    """One question, with the error of its exact answer and with that of noise in its place.

    Attributes
    ----------
    question
        Its name, its attribute, or what is asked.
    rows
        Number of rows that answer it in the release; None for a sample of random size.
    error
        Root mean squared error of the answer, before it is processed and scaled up to the table, in the worst table.
        None where a sample has no error of this kind: of order statistics, and of queries of your own.
    noise
        Standard deviation of the noise on the answer of the whole table, for each number that is published.
    """

    question: str
    rows: int | None
    error: Enclosure | None
    noise: Enclosure

    def _cells(self) -> list[str]:
        rows = "at random" if self.rows is None else f"{self.rows}"
        error = "–" if self.error is None else f"± {self.error.upper:.4g}"
        return [self.question, rows, error, f"± {self.noise.upper:.4g}"]


@dataclass(frozen=True)
class NoiseInstead(Tabulated):
    """The errors of a release beside those of noise under differential privacy at the same (ε, δ).

    Attributes
    ----------
    mechanism
        "Gaussian" or "Laplace".
    epsilon, delta
        The guarantee of all answers together: for the release statistical privacy, for the noise differential privacy.
    rows
        One for each different question.
    """

    mechanism: Mechanism
    epsilon: Number
    delta: Fraction
    rows: tuple[NoisyAnswer, ...]

    def __iter__(self) -> Iterator[NoisyAnswer]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> NoisyAnswer:
        return self.rows[index]

    @property
    def _heading(self) -> list[str]:
        return ["question", "rows asked", "error of the release", f"{self.mechanism} noise instead"]

    def _cells(self) -> list[list[str]]:
        return [row._cells() for row in self.rows]  # noqa: SLF001  (its own rows)

    @property
    def _meaning(self) -> str:
        at = f"({spelled(self.epsilon)}, {float(self.delta):.4g})"
        return (
            f"At (ε, δ) = {at}. Differential privacy holds against whoever knows every other row, whatever the\n"
            "distribution; statistical privacy does not."
        )

    def __str__(self) -> str:
        return "\n".join([*self._lines(), self._meaning])

    def _repr_html_(self) -> str:
        return f"{super()._repr_html_()}<p>{self._meaning}</p>"

    def __repr__(self) -> str:
        return f"<NoiseInstead: {self.mechanism}, {len(self)} questions at ε = {spelled(self.epsilon)}>"


def noise_instead(mechanism: Mechanism, situation: AnySituation, epsilon: Number, delta: Fraction) -> NoiseInstead:
    """The errors of this situation's answers, and those of noise that is (ε, δ)-differentially private.

    Raises
    ------
    ArgumentError
        Normal noise at δ = 0, or a δ of 1.
    NotAvailableError
        A query of which is not stated how far a row moves it, or parts of random sizes.
    """
    if not delta < 1:
        raise ArgumentError("delta = 1 is no guarantee: nothing of any size has it. State a delta below 1")
    if delta == 0 and (mechanism == "Gaussian" or not as_fraction(epsilon, "epsilon")):
        raise ArgumentError(
            f"delta = 0 at epsilon = {spelled(epsilon)} is reached by no {mechanism} noise. State a delta above 0, "
            'such as "1e-9"'
        )
    n = situation.population.size
    questions = situation.questions
    changes = [_changes(query, n) for query, _ in questions]
    changed = [numbers if most else 0 for numbers, most in changes]
    at_once = max(changed) if situation.protects_one_attribute else sum(changed)
    spread = _SPREAD[mechanism](epsilon, delta, at_once) if at_once else Enclosure(0.0, 0.0)
    return NoiseInstead(
        mechanism,
        epsilon,
        delta,
        tuple(
            NoisyAnswer(
                _called(query),
                n if sampling is None else sampling.number_answering(situation.population),
                _error(query, situation.population, sampling),
                spread * most,
            )
            for (query, sampling), (_, most) in zip(questions, changes, strict=True)
        ),
    )


def _changes(query: Query, n: int) -> tuple[int, Fraction]:
    """How many published numbers of an answer about all rows one row changes at once, and by how much at most."""
    asked = capabilities(query)
    if asked.is_total or asked.has_rank:
        groups = asked.stated_groups or (None,)
        values = [value for group in groups for value in asked.values_in(group)]
        added = [Fraction(value) for value in values] if asked.has_rank else [asked.added(value) for value in values]
        return 1, (max(added) - min(added)) / (n if asked.is_mean else 1)
    changed = [(1, 1)] if asked.has_minimum else asked.changed_counts(None)
    if changed is None:
        raise NotAvailableError(f"{asked.kind} does not state how far one row moves its answer")
    return max(map(sum, changed), default=0), Fraction(1)


def _called(query: Query) -> str:
    return getattr(query, "name", None) or attribute_of(query) or shown(query)


def _error(query: Query, population: Population, sampling: Sampling | None) -> Enclosure | None:
    if sampling is None:
        return Enclosure(0.0, 0.0)
    try:
        return root_mean_squared_error(asked_of(query), population, sampling)
    except NotAvailableError:
        return None


def _gaussian(epsilon: Number, delta: Fraction, numbers: int) -> Enclosure:
    """σ for each number that changes by one."""
    return gaussian_deviation(epsilon, delta, answers=numbers)


def _laplace(epsilon: Number, delta: Fraction, numbers: int) -> Enclosure:
    """`√2 b` for each number that changes by one, b the least scale with δ(ε) ≤ δ."""

    def reached(scale: Fraction) -> Enclosure:
        return LaplaceMechanism(scale=scale, k=numbers).delta(epsilon)

    if delta == 0:
        return root(2 * (numbers / as_fraction(epsilon, "epsilon")) ** 2)
    # Normal noise of the same variance has about the same curve.
    enough = Fraction(_gaussian(epsilon, delta, numbers).upper) * Fraction(5, 7)
    while reached(enough).upper > delta:
        enough *= _STEP
    short = enough / _STEP
    while (found := reached(short)).lower <= delta:
        if found.upper >= 1:  # doubles do not tell δ from 1 there, nor from a target so close to it
            short = Fraction(0)
            break
        short /= _STEP
    while enough - short > enough * _CLOSE:
        middle = (short + enough) / 2
        found = reached(middle)
        if found.upper <= delta:
            enough = middle
        elif found.lower > delta:
            short = middle
        else:
            break
    return Enclosure(root(2 * short**2).lower, root(2 * enough**2).upper)


_SPREAD: Mapping[Mechanism, Callable[[Number, Fraction, int], Enclosure]] = {"Gaussian": _gaussian, "Laplace": _laplace}
