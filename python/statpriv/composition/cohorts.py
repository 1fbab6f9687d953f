"""The probability that a row of a growing table is drawn in each of several releases, which use disjoint rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Cohort:
    """Rows that joined a table at one time, after `joined_after` releases."""

    rows: int
    joined_after: int = 0


class Draws:
    """Successive uniform draws, without replacement, from the rows of a growing table.

    Attributes
    ----------
    left : int
        Number of rows not drawn yet.
    rates : tuple of Fraction
        For each cohort, the probability that a given row of it is still undrawn and is the next one drawn: u/M, with u
        the probability that the row is undrawn and M the number of undrawn rows. A draw of s rows leaves the rate
        unchanged, because u(1 − s/M)/(M − s) = u/M. Only joining rows change it.
    """

    def __init__(self, rows: int) -> None:
        self.left = rows
        self.rates: tuple[Fraction, ...] = (Fraction(1, rows),)

    def join(self, rows: int) -> None:
        """Append rows as a cohort of their own."""
        left, self.left = self.left, self.left + rows
        self.rates = (*(rate * Fraction(left, self.left) for rate in self.rates), Fraction(1, self.left))

    def weights(self, rows: int) -> tuple[Fraction, ...]:
        """For each cohort, the probability that a given row of it is undrawn and among the next `rows` drawn."""
        return tuple(rate * rows for rate in self.rates)

    def draw(self, rows: int) -> tuple[Fraction, ...]:
        """Draw rows, and return their weights."""
        self.left -= rows
        return self.weights(rows)


def used(cohorts: Sequence[Cohort], rows: Sequence[int]) -> tuple[tuple[Fraction, ...], ...]:
    """For each cohort, the probabilities that a row of it is used in release 1, 2, …, of size rows[0], rows[1], …."""
    draws, table = Draws(cohorts[0].rows), []
    for r, size in enumerate(rows):
        for cohort in cohorts[len(draws.rates) :]:
            if cohort.joined_after <= r:
                draws.join(cohort.rows)
        table.append(draws.draw(size))
    return tuple(
        tuple(weights[c] if c < len(weights) else Fraction(0) for weights in table) for c in range(len(cohorts))
    )
