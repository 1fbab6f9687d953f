"""Steps: what every change of an answer can say about itself."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from statpriv._native import Law
from statpriv.errors import NotAvailableError
from statpriv.numeric.literals import abridged

Answer = Hashable
"""A number, exactly; None where it is suppressed; or whatever else was published in its place.

Steps that compute leave what is no number as it is, truth values included."""


@dataclass(frozen=True)
class Lattice:
    """The integer a stands for the answer ``offset + unit * a``."""

    offset: Fraction = Fraction(0)
    unit: Fraction = Fraction(1)

    def place(self, answer: Fraction) -> Fraction:
        """Where an answer stands; an integer if the lattice holds it."""
        return (answer - self.offset) / self.unit


@dataclass(frozen=True)
class LatticeMap:
    """A step as a map of laws on a lattice."""

    change: Callable[[Law], Law]
    lattice: Lattice
    """What the integers stand for afterwards."""
    labelled: bool = False
    """Whether the integers are mere labels afterwards."""
    refused_before_others: str | None = None
    """Why no step can follow, if none can."""


class Step:
    """What can be done to an answer. Each capability is "no" unless a class overrides it."""

    is_function: ClassVar[bool] = False
    """Whether the step is a function of the answer, given by `published_for`."""
    moves_with_answer: ClassVar[bool] = False
    """Whether a shifted answer gives the same published answer, shifted."""
    is_dense: ClassVar[bool] = False
    """Whether the step adds a noise that has a density."""
    is_gaussian: ClassVar[bool] = False
    """Whether the curve of an answer after this step is closed only where likelihood ratios are monotone."""
    least_answer: ClassVar[int | None] = None
    """The least answer that the step is defined for, if not for all."""
    withholds_outside: ClassVar[bool] = False
    """Whether all answers outside an interval are published alike: see `interval`."""

    @property
    def keeps_ratios_monotone(self) -> bool:
        """Whether a monotone likelihood ratio stays monotone, or no number is left to which noise could be added.

        A noise does where its density, or its probabilities of the integers, are log-concave.
        """
        return False

    @property
    def different_counts(self) -> int | None:
        """Of a draw by the count: how many pairs of neighbours differ, or are the worst; the first so many."""
        return None

    def published_for(self, answer: Answer) -> Answer:
        """What is published instead of `answer`."""
        raise NotAvailableError(f"{self!r} states no published_for: it is no function of the answer {abridged(answer)}")

    def on_lattice(self, lattice: Lattice) -> LatticeMap | None:
        """The step as a map of laws on this lattice; None where answers are published one by one."""
        del lattice
        return None

    def interval(self, lattice: Lattice) -> tuple[int, int] | None:
        """The least and the largest integer outside of which all answers are published alike."""
        del lattice
        return None
