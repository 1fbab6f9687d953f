"""Processing of an answer before its release, as changes of its law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, hypot

from statpriv import budget
from statpriv._native import Curve, Law
from statpriv.lowering.applicability import NotApplicable
from statpriv.lowering.contributions import require_written_out
from statpriv.model.noise import ContinuousNoise, DiscreteNoise, Noise
from statpriv.model.steps import Answer, Lattice, Step

INTEGERS = Lattice()
POINTS_OF_A_DEVIATION = 256
"""A rounded real answer has so many values in a standard deviation, …"""
POINTS_OF_THE_NOISE = 16
"""… and at least so many in one of the noise; …"""
FINEST = 4096
"""… but no more between two answers without noise."""


@dataclass(frozen=True)
class Released:
    """The two laws of an answer that a hockey stick compares, on one lattice."""

    first: Law
    second: Law
    lattice: Lattice = INTEGERS
    """The numbers that the integers stand for, unless the integers are only labels."""
    labelled: bool = False
    smoothing: ContinuousNoise | None = None
    reference: Law | None = None
    """The law of the same answer without the critical entry, if it is needed."""
    window: float = 0
    """Approximate number of integers that hold each law, if stated; noise is refused if there are too many."""

    def processed(self, steps: Sequence[Step]) -> Released:
        """The released answer after all steps, in order."""
        if not steps:
            return self
        first, *rest = steps
        if isinstance(first, Noise):
            return self._noisy(first).processed(rest)
        bounded = first.withholds_outside or not self._unbounded
        if rest and bounded and all(step.is_function for step in steps):
            return self._tabulated(steps)
        return self._mapped(first, last=not rest).processed(rest)

    @property
    def _unbounded(self) -> bool:
        return any(None in law.support for law in self._laws)

    def _is_from(self, least: int) -> bool:
        ends = [low for low, _ in (law.support for law in self._laws)]
        return all(low is not None and self.lattice.offset + self.lattice.unit * low >= least for low in ends)

    @property
    def _laws(self) -> list[Law]:
        return [law for law in (self.first, self.second, self.reference) if law is not None]

    def _with_laws(self, change: Callable[[Law], Law], lattice: Lattice, *, labelled: bool = False) -> Released:
        first, second, *rest = map(change, self._laws)
        reference = rest[0] if rest else None
        return replace(self, first=first, second=second, reference=reference, lattice=lattice, labelled=labelled)

    def _require_numbers(self, step: Step) -> None:
        if self.smoothing is not None:
            raise NotApplicable(f"{step!r} follows continuous noise, after which no step has a closed law here")
        if self.labelled:
            raise NotApplicable(f"{step!r} follows a step that leaves no lattice of numbers")

    def _mapped(self, step: Step, *, last: bool) -> Released:
        self._require_numbers(step)
        if step.least_answer is not None and not self._is_from(step.least_answer):
            raise NotApplicable(f"{step!r} is for answers from {step.least_answer} on, and these go below")
        acts = step.on_lattice(self.lattice)
        if acts is not None:
            if acts.refused_before_others is not None and not last:
                raise NotApplicable(f"{step!r} {acts.refused_before_others}")
            return self._with_laws(acts.change, acts.lattice, labelled=acts.labelled)
        if step.is_function and (step.withholds_outside or not self._unbounded):
            return self._tabulated([step])
        without = "without bounds" if step.is_function else f"of multiples of {self.lattice.unit}"
        raise NotApplicable(f"{step!r} of an answer {without} has no law here")

    def _narrowing(self, step: Step) -> Callable[[Law], Law]:
        """The answers outside the interval of a gate become one on each side, so that few answers remain."""
        interval = step.interval(self.lattice)
        if interval is None:
            return lambda law: law
        least, most = interval
        return lambda law: law.clamped(least - 1, most + 1)

    def _tabulated(self, steps: Sequence[Step]) -> Released:
        """The steps applied answer by answer."""
        self._require_numbers(steps[0])
        narrowed = self._narrowing(steps[0])
        supports = [narrowed(law).support for law in self._laws]
        least = min(low for low, _ in supports if low is not None)
        most = max(high for _, high in supports if high is not None)
        if most - least >= budget.MAX_PROCESSED_ANSWERS:
            raise NotApplicable(f"the {most - least + 1} possible answers are too many to be published one by one")
        published = _labels(tuple(steps), self.lattice, least, most)
        return self._with_laws(lambda law: narrowed(law).relabelled(published), self.lattice, labelled=True)

    def _noisy(self, added: Noise) -> Released:
        self._require_numbers(added)
        if isinstance(added, ContinuousNoise):
            return replace(self, smoothing=added)
        if not isinstance(added, DiscreteNoise):
            raise NotApplicable(f"{added!r} states no law")
        unit, drawn = self.lattice.unit, min(added.window, budget.MAX_NOISE_PRODUCTS)
        quickly = added.adds_quickly and unit.denominator == 1
        if not quickly and self.window * drawn > budget.MAX_NOISE_PRODUCTS:
            raise NotApplicable(f"about {self.window:.0e} answers with {added!r} take too long to be added up")
        window = require_written_out(self.window * unit.numerator + drawn * unit.denominator)
        spread = added.law().scaled(unit.denominator)
        lattice = Lattice(self.lattice.offset, Fraction(1, unit.denominator))
        noisy = self._with_laws(lambda law: Law.sum([law.scaled(unit.numerator), spread]), lattice)
        return replace(noisy, window=window)

    def moved(self, by: Fraction) -> Released:
        """The second law against itself, shifted by `by` in the first place."""
        return replace(self, first=self.second.shifted(int(by / self.lattice.unit)))

    def rounded(self, deviation: float) -> Released:
        """The answer with continuous noise rounded to a lattice that is fine relative to this standard deviation.

        The lattice contains all answers without noise, so that only the noise is rounded.
        """
        if self.smoothing is None:
            return self
        size = self.smoothing.spread / self.lattice.unit
        finer = max(
            ceil(POINTS_OF_A_DEVIATION / hypot(deviation, float(size))), ceil(Fraction(POINTS_OF_THE_NOISE) / size)
        )
        if finer > FINEST:
            raise NotApplicable(f"{self.smoothing!r} is too little for a lattice that tells it from none")
        spread = self.smoothing.rounded_law(size * finer)
        lattice = Lattice(self.lattice.offset, self.lattice.unit / finer)
        return replace(self._with_laws(lambda law: Law.sum([law.scaled(finer), spread]), lattice), smoothing=None)

    def curve(self) -> Curve:
        """The hockey stick of the two laws."""
        if self.smoothing is None:
            return Curve.answers(self.first, self.second)
        return self.smoothing.smoothed(self.first, self.second, self.lattice.unit)


@lru_cache(maxsize=8)
def _labels(steps: tuple[Step, ...], lattice: Lattice, least: int, most: int) -> dict[int, int]:
    """For each answer a number of what is published instead.

    A picture asks for the same labels at every p.
    """
    labels: dict[object, int] = {}
    published: dict[int, int] = {}
    for answer in range(least, most + 1):
        number: Answer = lattice.offset + lattice.unit * answer
        for step in steps:
            number = step.published_for(number)
        published[answer] = labels.setdefault(number, len(labels))
    return published


def hockey_stick(first: Law, second: Law, lattice: Lattice, steps: Sequence[Step] = ()) -> Curve:
    """Δ of the two laws after all steps."""
    return Released(first, second, lattice).processed(steps).curve()
