"""How likely a row of a growing table is drawn by each of several releases, from the rows that none before it drew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Cohort", "Draws", "used"]


@dataclass(frozen=True)
class Cohort:
    """Rows that joined a table at one time: when `joined_after` of its releases had been made."""

    rows: int
    joined_after: int = 0


class Draws:
    """The rows of a growing table that are drawn one after the other, each uniformly from those that are left.

    Attributes
    ----------
    left : int
        Rows that were not drawn.
    rates : tuple of Fraction
        For each cohort the probability that a given row of it was not drawn before and is the next one: its
        probability u of being left, divided by the number M of those that are. A draw of s rows does not change it,
        because u(1 − s/M)/(M − s) = u/M; only rows that join do.
    """

    def __init__(self, rows: int) -> None:
        self.left = rows
        self.rates: tuple[Fraction, ...] = (Fraction(1, rows),)

    def join(self, rows: int) -> None:
        """Rows join, as a cohort of their own."""
        left, self.left = self.left, self.left + rows
        self.rates = (*(rate * Fraction(left, self.left) for rate in self.rates), Fraction(1, self.left))

    def weights(self, rows: int) -> tuple[Fraction, ...]:
        """For each cohort the probability that a given row of it is among the next `rows`, and was not drawn before."""
        return tuple(rate * rows for rate in self.rates)

    def draw(self, rows: int) -> tuple[Fraction, ...]:
        """Draw rows, and return their weights."""
        self.left -= rows
        return self.weights(rows)


def used(cohorts: Sequence[Cohort], rows: Sequence[int]) -> tuple[tuple[Fraction, ...], ...]:
    """For each cohort, the probability that a row of it is used in release 1, 2, …, which uses rows[0], rows[1], …."""
    draws, table = Draws(cohorts[0].rows), []
    for r, size in enumerate(rows):
        for cohort in cohorts[len(draws.rates) :]:
            if cohort.joined_after <= r:
                draws.join(cohort.rows)
        table.append(draws.draw(size))
    return tuple(
        tuple(weights[c] if c < len(weights) else Fraction(0) for weights in table) for c in range(len(cohorts))
    )
