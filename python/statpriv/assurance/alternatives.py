"""What else offices do with a table of counts, beside an exact one: errors, certified δ and attacks on real tables.

Two readers are told apart. One knows *every other row*: for that reader δ is that of the method alone, for the worst
counts. The other knows *the law*, whichever it is, and no row; the table is published only if every cell holds T rows,
and then perturbed. What is published is a function of the exact table and of draws that are independent of it, so for
that reader δ is at most the smaller of δ_T and the δ of the method alone.

A row moves from one cell to another, so two counts change. Attacks are simulations (`attack.py`) against the first
reader on the two counts for which the method is worst.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from statpriv.assurance.attack import Attack, attack
from statpriv.curves.build import privacy_curve
from statpriv.curves.curve import PrivacyCurve
from statpriv.curves.minimum_count import minimum_count_curve
from statpriv.curves.perturbation import perturbation_curve
from statpriv.model.noise import Gaussian, Laplace, Noise
from statpriv.model.perturbations import Perturbation, RandomRounding
from statpriv.model.populations import Population
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.processed import Numerical
from statpriv.numeric.enclosure import Enclosure
from statpriv.planning.perturbation_table import perturbation_table
from statpriv.planning.sampling_error import root
from statpriv.theories.differential.gaussian import gaussian_deviation
from statpriv.theories.pac_privacy import noise_variances

if TYPE_CHECKING:
    from statpriv.plotting import Picture

__all__ = ["DELTA", "EPSILON", "NAME", "TABLES", "Alternative", "RealTable", "alternatives", "picture_of_alternatives"]

NAME = "alternatives"
"""The name under which the comparison is printed."""
EPSILON = Fraction(1)
DELTA = Fraction(1, 10**5)
"""The target of normal noise under differential privacy."""
INFORMATION = Fraction(1, 8)
"""What the noise of PAC privacy lets a whole table tell, in nats: a guess at even odds is right in at most 75 %."""
_TRIALS = 20_000
_DRAWN = tuple(step / 32 for step in range(65))
_NOTHING = Enclosure(1.0, 1.0)


@dataclass(frozen=True)
class RealTable:
    """The counts of a real table, and the minimum with which it is published.

    Attributes
    ----------
    name, source : str
        What is counted, and where the counts come from.
    minimum : int
        T: no cell is smaller.
    counts : tuple of int
        One for each cell.
    """

    name: str
    source: str
    minimum: int
    counts: tuple[int, ...]


TABLES = (
    RealTable(
        "Visits to a doctor (none, 1, 2-3, 4-6, more) by coinsurance by health",
        "RAND health insurance experiment, 20,190 years of persons",
        30,
        (2765, 303, 2969, 271, 1897, 147, 1667, 106, 2392, 218, 1934, 137, 1631, 165, 1085, 121, 1247, 232, 741, 162),
    ),
    RealTable(
        "Party by vote",
        "American National Election Study 1996, 944 respondents",
        10,
        (467, 21, 26, 11, 58, 361),
    ),
)


@dataclass(frozen=True)
class Alternative:
    """One method on one table.

    Attributes
    ----------
    method : str
        What is done to every cell.
    errors : tuple of Enclosure
        Root mean squared error of every cell, in the order of the counts.
    error : Enclosure
        The same over all cells of the table.
    if_others_known : Enclosure
        δ at `EPSILON` for a reader who knows every other row.
    if_law_known : Enclosure or None
        The same for a reader who knows the law and no row, if the table is withheld unless every cell holds the
        minimum; None where no theorem says anything.
    found : Attack or None
        What a simulated attack of the first reader gained; None where certainty needs no simulation.
    remark : str
        What the method is good for, and what it does not do.
    """

    method: str
    errors: tuple[Enclosure, ...]
    error: Enclosure
    if_others_known: Enclosure
    if_law_known: Enclosure | None
    found: Attack | None
    remark: str

    @property
    def agrees(self) -> bool:
        """Whether no attack gained more than is certified."""
        return self.found is None or not self.found.refuted


@dataclass(frozen=True)
class _Method:
    """How a method errs, what it protects alone, and how it is run."""

    name: str
    remark: str
    mean_square: Callable[[int], Fraction]
    """Of the error of one count."""
    alone: PrivacyCurve | None
    """The curve for who knows every other row; None: everything is told."""
    run: Callable[[int, random.Random], float] | None
    worst: tuple[int, int]
    """The two counts of other rows between which the attack works."""
    has_theorem: bool = True


def alternatives(table: RealTable, *, seed: int | None = 1) -> tuple[Alternative, ...]:
    """Every method on one table, at `EPSILON`.

    Parameters
    ----------
    table : RealTable
        One of `TABLES`.
    seed : int, optional
        Of the simulated attacks.

    Examples
    --------
    >>> exact, *others = alternatives(TABLES[1])
    >>> exact.method, exact.error.upper, exact.if_others_known.lower
    ('exact, every cell at least 10', 0.0, 1.0)
    """
    rule = minimum_count_curve(table.minimum).delta(EPSILON)
    return tuple(_on(table, method, rule, seed) for method in _methods(table))


def picture_of_alternatives() -> Picture:
    """δ against ε for who knows every other row, a line for each method that protects there."""
    from statpriv.plotting import Line, Picture

    lines = tuple(
        Line(method.name, _DRAWN, tuple(method.alone.delta(epsilon) for epsilon in _DRAWN), (method.alone,))
        for method in _methods(TABLES[0])
        if method.alone is not None
    )
    return Picture("epsilon", "delta", "One table of counts, for a reader who knows every other row", lines, decades=7)


def _on(table: RealTable, method: _Method, rule: Enclosure, seed: int | None) -> Alternative:
    squares = [method.mean_square(count) for count in table.counts]
    alone = _NOTHING if method.alone is None else method.alone.delta(EPSILON)
    both = min(alone, rule, key=lambda delta: delta.upper) if method.has_theorem else None
    whole = root(sum(squares, Fraction(0)) / len(squares))
    return Alternative(method.name, tuple(map(root, squares)), whole, alone, both, _attack(method, seed), method.remark)


def _attack(method: _Method, seed: int | None) -> Attack | None:
    """Whether the row is in the first cell or in the second, if all others are known."""
    run, others = method.run, method.worst
    if run is None or method.alone is None:
        return None

    def published(rows: list[int], source: random.Random) -> tuple[float, ...]:
        return tuple(run(count + (rows[0] == cell), source) for cell, count in enumerate(others))

    return attack(
        published, (0, 1), law={0: 1}, others=0, epsilon=EPSILON, claimed=method.alone, trials=_TRIALS, seed=seed
    )


def _methods(table: RealTable) -> tuple[_Method, ...]:
    minimum = table.minimum
    scale, deviation = 2 / EPSILON, Fraction(gaussian_deviation(EPSILON, DELTA, answers=2).upper)
    key = perturbation_table(largest=5, variance=3, smallest=3)
    return (
        _Method(
            f"exact, every cell at least {minimum}",
            "no error, margins add up; nothing against who knows all others; withheld if a cell is smaller",
            lambda _: Fraction(0),
            None,
            None,
            (0, 0),
        ),
        _Method(
            "rounded to the nearest 5",
            "hides single rows from nobody who knows the others; small tables lose much",
            lambda count: Fraction((5 * ((2 * count + 5) // 10) - count) ** 2),
            None,
            None,
            (0, 0),
        ),
        _Method(
            "single cells below 10 suppressed",
            "which cells are small is told, and totals often give them away: no theorem",
            lambda count: Fraction(count**2 if count < 10 else 0),
            None,
            None,
            (0, 0),
            has_theorem=False,
        ),
        _perturbed("rounded at random to base 3", "unbiased; margins do not add up", RandomRounding(3)),
        _perturbed(
            "cell keys (5, variance 3, no 1 or 2)",
            "the same rows always get the same count, so asking again tells nothing new; margins do not add up",
            key,
        ),
        _noisy(
            "Laplace noise of scale 2/epsilon",
            "differential privacy: against every reader, at delta = 0",
            Laplace(scale=scale),
            lambda _: 2 * scale**2,
            lambda count, source: round(count + _laplace(float(scale), source)),
        ),
        _noisy(
            "normal noise at delta = 1e-5",
            "differential privacy: against every reader, and many answers compose well",
            Gaussian(sigma=deviation),
            lambda _: deviation**2,
            lambda count, source: round(count + source.gauss(0, float(deviation))),
        ),
        _calibrated(table),
    )


def _calibrated(table: RealTable) -> _Method:
    """Normal noise by the variance of each cell over draws of the table; the worst cells are two of the least noise."""
    rows = sum(table.counts)
    variances = [Fraction(count * (rows - count), rows) for count in table.counts]
    noises = dict(zip(table.counts, noise_variances(variances, information=INFORMATION), strict=True))
    least = Fraction(root(min(noises.values())).lower)
    return _noisy(
        "PAC privacy: noise for 1/8 nat",
        "bounds what the table tells about all rows together; large counts get much noise",
        Gaussian(sigma=least),
        lambda count: noises[count],
        lambda count, source: round(count + source.gauss(0, float(least))),
    )


def _perturbed(name: str, remark: str, step: Perturbation) -> _Method:
    def mean_square(count: int) -> Fraction:
        return sum(((seen - count) ** 2 * mass for seen, mass in step.law_for(count).items()), Fraction(0))

    def run(count: int, source: random.Random) -> float:
        return _drawn(step.law_for(count), source)

    return _Method(name, remark, mean_square, perturbation_curve(step, counts=(1, 1)), run, _told_apart_best(step))


def _told_apart_best(step: Perturbation) -> tuple[int, int]:
    """The counts at which one more, and one less, is told best."""
    counts = range(step.different_counts or 0)
    ratio = Fraction(math.exp(EPSILON))

    def gain(seen: int, instead: int) -> Fraction:
        other = step.law_for(instead)
        masses = step.law_for(seen).items()
        return sum((max(Fraction(0), mass - ratio * other.get(outcome, 0)) for outcome, mass in masses), Fraction(0))

    return max(counts, key=lambda c: gain(c + 1, c)), max(counts, key=lambda c: gain(c, c + 1))


def _noisy(
    name: str,
    remark: str,
    noise: Noise,
    mean_square: Callable[[int], Fraction],
    run: Callable[[int, random.Random], float],
) -> _Method:
    table: Numerical = HistogramQuery(["1/2", "1/2"])
    alone = privacy_curve(table.noisy(noise), Population(2), bound="noise")
    return _Method(name, remark, mean_square, alone, run, (0, 0))


def _drawn(law: Mapping[int, Fraction], source: random.Random) -> int:
    return source.choices(list(law), [float(mass) for mass in law.values()])[0]


def _laplace(scale: float, source: random.Random) -> float:
    return scale * (source.expovariate(1) - source.expovariate(1))
