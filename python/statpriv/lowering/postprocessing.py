"""What is done to an answer before it is released, as changes of its law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, hypot, lcm, sqrt
from typing import TypeAlias

from statpriv._native import Curve, Law
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.contributions import DEVIATIONS, Lattice, require_written_out
from statpriv.model import noise
from statpriv.model.queries.processed import Clamping, Gate, Rounding, Step, Table, Threshold

__all__ = ["Released", "hockey_stick"]

INTEGERS = Lattice()
MOST_TABULATED = 200_000
"""So many answers are published one by one where a step does not act on the lattice as a whole."""
MOST_PRODUCTS = 2**29
"""So many products a sum with noise may take: some twenty seconds."""
POINTS_OF_A_DEVIATION = 256
"""A rounded real answer has so many values in a standard deviation, …"""
POINTS_OF_THE_NOISE = 16
"""… and at least so many in one of the noise; …"""
FINEST = 4096
"""… but no more between two answers without noise."""

Continuous: TypeAlias = noise.Laplace | noise.Gaussian


@dataclass(frozen=True)
class Released:
    """The two laws of an answer that a hockey stick compares, on one lattice."""

    first: Law
    second: Law
    lattice: Lattice = INTEGERS
    """What the integers stand for, unless they are mere labels."""
    labelled: bool = False
    smoothing: Continuous | None = None
    reference: Law | None = None
    """The law of the same answer without the critical entry, where that is needed too."""
    window: float = 0
    """About how many integers hold each law, where that is told; noise is refused where they become too many."""

    def processed(self, steps: Sequence[Step]) -> Released:
        """After all steps, the first one first."""
        if not steps:
            return self
        first, *rest = steps
        if isinstance(first, noise.Noise):
            return self._noisy(first).processed(rest)
        bounded = isinstance(first, Gate) or not self._unbounded
        if rest and not any(isinstance(step, noise.Noise) for step in rest) and bounded:
            return self._tabulated(steps)
        return self._mapped(first, last=not rest).processed(rest)

    @property
    def _unbounded(self) -> bool:
        return any(None in law.support for law in self._laws)

    @property
    def _laws(self) -> list[Law]:
        return [law for law in (self.first, self.second, self.reference) if law is not None]

    def _with_laws(self, change: object, lattice: Lattice, *, labelled: bool = False) -> Released:
        first, second, *rest = (change(law) for law in self._laws)  # type: ignore[operator]
        reference = rest[0] if rest else None
        return replace(self, first=first, second=second, reference=reference, lattice=lattice, labelled=labelled)

    def _require_numbers(self, step: Step) -> None:
        if self.smoothing is not None:
            raise NotApplicable(f"{step!r} follows continuous noise, after which no step has a closed law here")
        if self.labelled:
            raise NotApplicable(f"{step!r} follows a step that leaves no lattice of numbers")

    def _mapped(self, step: Step, *, last: bool) -> Released:
        self._require_numbers(step)
        offset, unit = self.lattice.offset, self.lattice.unit
        if isinstance(step, Threshold):
            most = floor((step.above - offset) / unit)
            return self._with_laws(lambda law: law.suppressed(most), self.lattice, labelled=True)
        if isinstance(step, Rounding):
            slope, start = unit / step.base, offset / step.base + Fraction(1, 2)
            scale = lcm(slope.denominator, start.denominator)
            factor, added = int(slope * scale), int(start * scale)
            return self._with_laws(lambda law: law.divided(factor, added, scale), Lattice(Fraction(0), step.base))
        if isinstance(step, Clamping):
            return self._clamped(step, last=last)
        if isinstance(step, Gate) or (isinstance(step, Table) and not self._unbounded):
            return self._tabulated([step])
        raise NotApplicable(f"{step!r} of an answer without bounds has no law here")

    def _clamped(self, step: Clamping, *, last: bool) -> Released:
        """Ends between two points of the lattice get a label of their own, the point outside, and must come last."""
        offset, unit = self.lattice.offset, self.lattice.unit
        ends = [None if end is None else (end - offset) / unit for end in (step.lower, step.upper)]
        on_lattice = all(end is None or end.denominator == 1 for end in ends)
        if not (on_lattice or last):
            raise NotApplicable(f"{step!r} ends between two possible answers and is not the last step")
        least = None if ends[0] is None else floor(ends[0])
        most = None if ends[1] is None else ceil(ends[1])
        if ends[0] is not None and ends[0] == ends[1]:
            most = least  # everything is published as the one end
        return self._with_laws(lambda law: law.clamped(least, most), self.lattice, labelled=not on_lattice)

    def _narrowing(self, step: Step) -> Callable[[Law], Law]:
        """Of a gate one answer for all that it withholds below, and one above: of many answers few are left."""
        if not isinstance(step, Gate):
            return lambda law: law
        offset, unit = self.lattice.offset, self.lattice.unit
        least, most = ceil((step.lower - offset) / unit), floor((step.upper - offset) / unit)
        return lambda law: law.clamped(least - 1, most + 1)

    def _tabulated(self, steps: Sequence[Step]) -> Released:
        """Answer by answer."""
        self._require_numbers(steps[0])
        narrowed = self._narrowing(steps[0])
        supports = [narrowed(law).support for law in self._laws]
        least = min(low for low, _ in supports if low is not None)
        most = max(high for _, high in supports if high is not None)
        if most - least >= MOST_TABULATED:
            raise NotApplicable(f"the {most - least + 1} possible answers are too many to be published one by one")
        labels: dict[object, int] = {}
        published: dict[int, int] = {}
        for answer in range(least, most + 1):
            number: object = self.lattice.offset + self.lattice.unit * answer
            for step in steps:
                number = step.apply(number)  # type: ignore[union-attr]
            published[answer] = labels.setdefault(number, len(labels))
        return self._with_laws(lambda law: narrowed(law).relabelled(published), self.lattice, labelled=True)

    def _noisy(self, added: noise.Noise) -> Released:
        self._require_numbers(added)
        if isinstance(added, Continuous):
            return replace(self, smoothing=added)
        unit = self.lattice.unit
        drawn = _window(added)
        quickly = isinstance(added, noise.DiscreteLaplace | noise.Binomial) and unit.denominator == 1
        if not quickly and self.window * drawn > MOST_PRODUCTS:
            raise NotApplicable(f"about {self.window:.0e} answers with {added!r} take too long to be added up")
        window = require_written_out(self.window * unit.numerator + drawn * unit.denominator)
        spread = noise_law(added).scaled(unit.denominator)
        lattice = Lattice(self.lattice.offset, Fraction(1, unit.denominator))
        noisy = self._with_laws(lambda law: Law.sum([law.scaled(unit.numerator), spread]), lattice)
        return replace(noisy, window=window)

    def moved(self, by: Fraction) -> Released:
        """The second law against itself, its answers so much larger in the first."""
        return replace(self, first=self.second.shifted(int(by / self.lattice.unit)))

    def rounded(self, deviation: float) -> Released:
        """The same with continuous noise, rounded to a lattice that is fine for answers of such a standard deviation.

        The lattice holds all answers without noise, so that it is the noise that is rounded.
        """
        if self.smoothing is None:
            return self
        is_laplace = isinstance(self.smoothing, noise.Laplace)
        size = self.smoothing.scale if isinstance(self.smoothing, noise.Laplace) else self.smoothing.sigma
        size /= self.lattice.unit
        finer = max(
            ceil(POINTS_OF_A_DEVIATION / hypot(deviation, float(size))), ceil(Fraction(POINTS_OF_THE_NOISE) / size)
        )
        if finer > FINEST:
            raise NotApplicable(f"{self.smoothing!r} is too little for a lattice that tells it from none")
        spread = (Law.rounded_laplace_noise if is_laplace else Law.rounded_gaussian_noise)(size * finer)
        lattice = Lattice(self.lattice.offset, self.lattice.unit / finer)
        return replace(self._with_laws(lambda law: Law.sum([law.scaled(finer), spread]), lattice), smoothing=None)

    def curve(self) -> Curve:
        """The hockey stick of the two laws."""
        if self.smoothing is None:
            return Curve.answers(self.first, self.second)
        unit = self.lattice.unit
        if isinstance(self.smoothing, noise.Laplace):
            return Curve.smoothed(self.first, self.second, laplace_scale=self.smoothing.scale / unit)
        return Curve.smoothed(self.first, self.second, gaussian_sigma=self.smoothing.sigma / unit)


def hockey_stick(first: Law, second: Law, lattice: Lattice, steps: Sequence[Step] = ()) -> Curve:
    """Δ of the two laws after all steps."""
    return Released(first, second, lattice).processed(steps).curve()


def noise_law(added: noise.DiscreteNoise) -> Law:
    """The law of a noise on the integers."""
    if isinstance(added, noise.DiscreteLaplace):
        return Law.geometric_noise(added.alpha) if added.alpha is not None else Law.laplace_noise(added.scale or 1)
    if isinstance(added, noise.DiscreteGaussian):
        return Law.gaussian_noise(added.sigma**2)
    if isinstance(added, noise.Binomial):
        return Law.binomial(added.trials, added.p)
    if isinstance(added.noise, noise.Binomial):
        return _truncated_binomial(added.noise, added.lower, added.upper)
    return noise_law(added.noise).truncated(added.lower, added.upper)


def _window(added: noise.DiscreteNoise) -> float:
    """About how many integers hold the noise, but for 2^-80."""
    integers: Fraction | float
    if isinstance(added, noise.DiscreteGaussian):
        integers = DEVIATIONS * added.sigma
    elif isinstance(added, noise.Binomial):
        integers = min(added.trials + 1, DEVIATIONS * sqrt(added.trials * added.p * (1 - added.p)))
    elif isinstance(added, noise.DiscreteLaplace):
        # α^k is 2^-80 at k = 80 ln 2/(−ln α), and −ln α ≥ 1 − α.
        integers = 111 * (1 / (1 - added.alpha) if added.alpha is not None else added.scale or 1)
    else:
        least, most = added.support
        integers = most - least + 1
    return float(min(integers, MOST_PRODUCTS))


def _truncated_binomial(added: noise.Binomial, lower: int, upper: int) -> Law:
    """Relative to the least value by ratios of neighbours, then divided by the sum."""
    odds = added.p / (1 - added.p) if added.p < 1 else Fraction(0)
    masses = [Fraction(1)]
    for k in range(lower, upper):
        masses.append(masses[-1] * odds * Fraction(added.trials - k, k + 1))
    total = sum(masses, Fraction(0))
    return Law.table(lower, [mass / total for mass in masses])
