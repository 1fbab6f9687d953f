"""Figures 3.5 and 3.6: the published curves, recomputed with certified values, and the correct curves.

Both figures show the nested composition of section 3.2.4, but differ from their captions; `remarks` lists the
differences. In Figure 3.6 two-sided geometric noise of parameter α is ``P[k] ∝ α^|k|``. The published lines are upper
tails of the loss. Here they are computed from the exact law of 1000 records plus noise. All answers below 0 have the
same loss, and so have all answers above 1001, so each of these sets is treated as one answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb
from typing import TYPE_CHECKING

from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.literals import at_most
from statpriv.theories.partial_knowledge.counting import bernoulli_curve, bernoulli_epsilon
from statpriv.theories.partial_knowledge.loss import PrivacyLoss

if TYPE_CHECKING:
    from statpriv.plotting import Line, Picture

_RECORDS, _MARGIN, _DELTA, _SCALE = 100_000, Fraction(1, 20), Fraction(1, 10**10), 2
_OTHERS, _P, _ALPHAS = 1000, Fraction(1, 20), (None, Fraction(1, 2), Fraction(3, 5))
_STEPS = 40
_EPSILONS = tuple(k / 100 for k in range(81))
_SOURCE = "Desfontaines, Lowering the cost of anonymization, section 3.2.4"


@dataclass(frozen=True)
class PublishedFigure:
    """A figure of a paper, recomputed together with our own curves.

    Attributes
    ----------
    name : str
        The number of the figure.
    picture : Picture
        The published lines and ours.
    remarks : tuple of str
        Errors of the caption, and what the figure actually shows.
    proved : dict of str to bool
        The statements checked at every place, and whether they hold.
    """

    name: str
    picture: Picture
    remarks: tuple[str, ...]
    proved: Mapping[str, bool]

    @property
    def agrees(self) -> bool:
        """Whether all checked statements hold."""
        return all(self.proved.values())

    def values(self, label: str) -> dict[float, Enclosure]:
        """The values of the line with this label, by place."""
        (line,) = (line for line in self.picture.lines if line.label == label)
        return dict(zip(line.places, line.values, strict=True))


@cache
def figure_3_5() -> PublishedFigure:
    """ε against the number of known records, with and without noise: n = 10⁵, λ = 0.05, δ = 10⁻¹⁰, Laplace scale 2."""
    from statpriv.plotting import Line, Picture, Statement

    everywhere = tuple(sorted({_RECORDS * k // _STEPS for k in range(_STEPS)} | _near_the_end()))
    printed, sharp = (
        {
            known: bernoulli_epsilon(n=_RECORDS, margin=_MARGIN, delta=_DELTA, known=known, method=method).epsilon
            for known in everywhere
        }
        for method in ("printed", "sharp")
    )
    assumptions = ("independent records, each of a probability from 0.05 to 0.95",)
    closed_form = Statement("bound", "Theorem 3, as printed", _SOURCE, assumptions)
    by_noise = Statement("bound", "Laplace noise of scale 2 is (1/2, 0)-differentially private", _SOURCE, ())

    def without_noise(label: str, found: dict[int, Enclosure], origin: Statement) -> Line:
        shown = [known for known in everywhere if found[known].upper <= 1]
        return Line(label, tuple(shown), tuple(found[known] for known in shown), (origin,))

    def with_noise(label: str, found: dict[int, Enclosure], origin: Statement) -> Line:
        cut = tuple(Enclosure(min(e.lower, 1 / _SCALE), min(e.upper, 1 / _SCALE)) for e in found.values())
        return Line(label, everywhere, cut, (origin, by_noise))

    ours = bernoulli_curve(n=_RECORDS, margin=_MARGIN)
    sharper = Statement("bound", "Theorem 3, sharpened: the mean over how many records are coins", _SOURCE, assumptions)
    picture = Picture(
        "known",
        "epsilon",
        f"Figure 3.5: n = {_RECORDS:,}, λ = 0.05, δ = 1e-10",
        (
            without_noise("published, without noise", printed, closed_form),
            with_noise("published, with noise", printed, closed_form),
            without_noise("ours, without noise", sharp, sharper),
            with_noise("ours, with noise", sharp, sharper),
        ),
    )
    in_range = [known for known in everywhere if printed[known].upper <= 1]
    remarks = (
        "With noise the figure draws the smaller of two guarantees, of the data alone and of the noise alone (1/2). "
        "That of both together is better where the p_i are known: sp.partial_knowledge.nested_guarantee.",
        f"The closed form holds for ε ≤ 1 only, here up to about {in_range[-1]:,} known records: the line ends there.",
        "The closed form is loose: the same statement sharpened gives ε ≤ "
        f"{at_most(ours.epsilon(_DELTA).upper, 3)} instead of {at_most(printed[0].upper, 3)} where nothing is known.",
    )
    below = _nowhere_above((sharp[known] for known in in_range), (printed[known] for known in in_range))
    proved = {"ours is nowhere above the published closed form in its range": below}
    return PublishedFigure("Figure 3.5", picture, remarks, proved)


@cache
def figure_3_6() -> PublishedFigure:
    """δ against ε of a count of 1001 records of p = 0.05, alone and with two-sided geometric noise."""
    import statpriv as sp
    from statpriv.plotting import Line, Picture, Statement

    population, count = sp.Population(_OTHERS + 1), sp.PropertyQuery(_P)
    published, ours, proved = [], [], {}
    for alpha in _ALPHAS:
        name = "no noise" if alpha is None else f"noise α = {float(alpha):g}"
        loss = loss_of_noisy_count(_OTHERS, _P, alpha)
        tail = Statement("bound", "P[L > ε] is at least δ(ε)", _SOURCE, (f"{_OTHERS} other records of p = 0.05",))
        query = count if alpha is None else count.noisy(sp.noise.DiscreteLaplace(alpha=alpha))
        curve = sp.privacy_curve(query, population)
        published.append(
            Line(f"published, {name}", _EPSILONS, tuple(loss.exceeds(epsilon) for epsilon in _EPSILONS), (tail,))
        )
        ours.append(Line(f"ours, {name}", _EPSILONS, tuple(curve.delta(epsilon) for epsilon in _EPSILONS), (curve,)))
        # The published tail is for the loss of 1 against 0, so it is compared with the hockey stick of this pair.
        in_order = sp.privacy_curve(query, population, pair=(1, 0))
        below = _nowhere_above([in_order.delta(epsilon) for epsilon in _EPSILONS], published[-1].values)
        proved[f"{name}: δ of 1 against 0 is nowhere above the published line"] = below
    picture = Picture("epsilon", "delta", "Figure 3.6: 1000 other records, p = 0.05", (*published, *ours), decades=14)
    theorem = bernoulli_epsilon(n=_OTHERS + 1, margin=_P, delta=_DELTA, method="printed").upper
    remarks = (
        "What the figure calls δ is P[L > ε], the tail of the privacy loss, an upper bound of δ. Ours is δ itself, the "
        "hockey-stick divergence.",
        "Only the loss of 1 against 0 is drawn. At p = 0.05 the other order is the worse one, and from some ε on the "
        "published line lies below the δ that holds: without noise at ε = 0.6 it is "
        f"{at_most(published[0].values[60].upper, 2)}, and δ is {at_most(ours[0].values[60].upper, 2)}. Ours is the "
        "worse order.",
        "The lines are not bounds of Theorem 3, which at n = 1001, λ = 0.05, δ = 1e-10 would give "
        f"ε = {at_most(theorem, 3)}, outside its range: they belong to {_OTHERS} other records (n − 1, not n) that all "
        "have p = 0.05.",
        "The noise that gives the published lines is P[k] ∝ α^|k| with α = 0.5 and α = 0.6; with it δ is 0 from "
        f"ε = ln(1/α) = {math.log(2):.3f} and {math.log(5 / 3):.3f} on.",
    )
    return PublishedFigure("Figure 3.6", picture, remarks, proved)


def loss_of_noisy_count(others: int, p: Fraction, alpha: Fraction | None) -> PrivacyLoss:
    """The loss of a count of `others` records and the critical one, 1 against 0, with noise ``P[k] ∝ alpha^|k|``."""
    count = [comb(others, k) * p**k * (1 - p) ** (others - k) for k in range(others + 1)]
    if alpha is None:
        return PrivacyLoss.mixture(
            [(Fraction(1), {k + 1: mass for k, mass in enumerate(count)}, dict(enumerate(count)))]
        )
    scale, geometric = (1 - alpha) / (1 + alpha), 1 / (1 - alpha)
    # f(a) = Σ_k count[k] α^|a−k|; one recursion for the terms with k ≤ a, and one for the terms with k > a.
    left, right = [count[0]], [Fraction(0)]
    for k in range(1, others + 1):
        left.append(left[-1] * alpha + count[k])
        right.append((right[-1] + count[others + 1 - k]) * alpha)
    noisy = [scale * (a + b) for a, b in zip(left, reversed(right), strict=True)]
    low, high = noisy[0] * geometric, noisy[-1] * geometric  # P[a ≤ 0] and P[a ≥ others] of the count with noise
    one = {a: noisy[a - 1] for a in range(1, others + 1)} | {"below": low * alpha, "above": high}
    zero = {a: noisy[a] for a in range(1, others + 1)} | {"below": low, "above": high * alpha}
    return PrivacyLoss.mixture([(Fraction(1), one, zero)])


def _nowhere_above(ours: Iterable[Enclosure], published: Iterable[Enclosure]) -> bool:
    """Whether each of our values is certainly at most the published value at the same place."""
    return all(first.upper <= second.lower for first, second in zip(ours, published, strict=True))


def _near_the_end() -> set[int]:
    """Additional places near the end, where few records are unknown."""
    return {_RECORDS - unknown for unknown in (1, 200, 500, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 6450, 8000)}
