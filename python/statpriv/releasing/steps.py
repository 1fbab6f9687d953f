"""The steps from exact counts to a report: gate, then suppression, then rounding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import isqrt, lcm
from typing import TYPE_CHECKING, Any

from statpriv.model.step_fields import publication_steps

if TYPE_CHECKING:
    from statpriv.model.queries.processed import Step
    from statpriv.releasing.plan import Publication, Range

__all__ = ["PublishedCount", "StatedQuery", "Steps", "expected_counts"]

DEVIATIONS = 3
"""Standard deviations by which a count may lie outside what its range of probabilities leads to expect."""


@dataclass(frozen=True)
class PublishedCount:
    """The published form of one count: the number, or the reason why there is none."""

    count: int | None
    withheld: bool = False
    suppressed: bool = False


@dataclass(frozen=True)
class StatedQuery:
    """The public statement of a plan about a query: the predicate and the publication steps.

    Attributes
    ----------
    predicate
        The predicate that is counted, or all cells of a histogram.
    gates
        The least and the largest published count, for each cell of a histogram; None without a gate.
    suppressed_below, rounded_to
        As stated in the plan.
    """

    predicate: str
    gates: tuple[tuple[int, int], ...] | None = None
    suppressed_below: int | None = None
    rounded_to: int | None = None

    def document(self) -> dict[str, Any]:
        """The document that `from_document` reads."""
        gates = None if self.gates is None else [{"lower": lower, "upper": upper} for lower, upper in self.gates]
        return {**asdict(self), "gates": gates}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> StatedQuery:
        """Read the output of `document`."""
        gates = document["gates"]
        read = None if gates is None else tuple((gate["lower"], gate["upper"]) for gate in gates)
        return cls(**{**document, "gates": read})


@dataclass(frozen=True)
class Steps:
    """The publication steps of one query, on a part of `size` rows.

    Attributes
    ----------
    size
        Number of rows of the part.
    expected
        For each cell of a histogram, or for the one count, the least and the largest count within the gate.
    publication
        The steps that the plan requests.
    """

    size: int
    expected: tuple[tuple[int, int], ...]
    publication: Publication

    def publish(self, counts: Sequence[int]) -> tuple[PublishedCount, ...]:
        """The published counts in place of the exact ones, one for each cell.

        If one cell of a histogram is outside its gate, all cells are withheld, because the others determine it.
        """
        if self.publication.gate and any(self._unexpected(counts)):
            return tuple(PublishedCount(None, withheld=True) for _ in counts)
        return tuple(self._coarsened(count) for count in counts)

    def exact(self, published: PublishedCount, cell: int = 0) -> tuple[int, int]:
        """The least and the largest exact count with this published form."""
        least, most = (0, self.size) if not self.publication.gate else self.expected[cell]
        below, base = self.publication.suppressed_below, self.publication.rounded_to
        if published.suppressed and below is not None:
            return least, min(most, below - 1)
        if published.count is None:
            return 0, self.size
        # Ties are rounded up: b·m is published if b·m − b/2 <= a < b·m + b/2.
        low = published.count - (base or 1) // 2
        high = low + (base or 1) - 1
        return max(least, below or 0, low), min(most, high)

    def contradicts(self, published: PublishedCount, cell: int = 0) -> bool:
        """Whether every exact count with this published form is outside the expected counts of the declared range.

        The result is a function of the published form and not of the exact count, so it reveals nothing more.
        """
        if published.withheld:
            return False
        low, high = self.exact(published, cell)
        least, most = self.expected[cell]
        return high < least or low > most

    def could_publish(self, published: Sequence[PublishedCount]) -> bool:
        """Whether some exact counts, one for each cell, have these published forms.

        >>> from statpriv.releasing.plan import Publication
        >>> part = Steps(50, ((10, 40),), Publication(gate=True, rounded_to=5))
        >>> [part.could_publish([PublishedCount(count)]) for count in (8, 10, 42, 45)]
        [False, True, False, False]
        """
        if any(count.withheld for count in published):
            return self.withholds and all(count == PublishedCount(None, withheld=True) for count in published)
        if any((count.count is None) != count.suppressed or not self._is_spelt(count) for count in published):
            return False
        ranges = [self.exact(count, cell) for cell, count in enumerate(published)]
        if any(low > high for low, high in ranges):
            return False
        return len(ranges) == 1 or sum(low for low, _ in ranges) <= self.size <= sum(high for _, high in ranges)

    def _is_spelt(self, published: PublishedCount) -> bool:
        below, base = self.publication.suppressed_below, self.publication.rounded_to
        return below is not None if published.count is None else published.count % (base or 1) == 0

    @property
    def gate(self) -> tuple[Step, ...]:
        """The gate of a count, as a step of the theory; empty without a gate, and for a histogram."""
        gated = self.publication.gate and len(self.expected) == 1
        return publication_steps(self.expected[0]) if gated else ()

    def stated(self, predicate: str) -> StatedQuery:
        """The public statement of these steps together with the predicate."""
        gates = self.expected if self.publication.gate else None
        return StatedQuery(predicate, gates, self.publication.suppressed_below, self.publication.rounded_to)

    @property
    def withholds(self) -> bool:
        """Whether some count is outside its gate: withholding then distinguishes it from counts inside."""
        return self.publication.gate and any(expected != (0, self.size) for expected in self.expected)

    @property
    def coarsening(self) -> tuple[Step, ...]:
        """Suppression and rounding, as steps of the theory."""
        return publication_steps(None, self.publication.suppressed_below, self.publication.rounded_to)

    def _unexpected(self, counts: Sequence[int]) -> Iterable[bool]:
        return (not least <= count <= most for count, (least, most) in zip(counts, self.expected, strict=True))

    def _coarsened(self, count: int) -> PublishedCount:
        below, base = self.publication.suppressed_below, self.publication.rounded_to
        if below is not None and count < below:
            return PublishedCount(None, suppressed=True)
        return PublishedCount(count if base is None else base * ((2 * count + base) // (2 * base)))


def expected_counts(parts: Iterable[tuple[int, Range]], *, largest_unit: int = 1) -> tuple[int, int]:
    """The counts expected from the range, extended by three standard deviations at each end of the range.

    Parameters
    ----------
    parts : iterable of (int, (Fraction, Fraction))
        For each group, its number of rows and the range of its probability.
    largest_unit : int, default 1
        Rows that may depend on each other. The variance of a sum of c numbers is at most c times the sum of their
        variances, by Cauchy and Schwarz.

    >>> expected_counts([(472, (Fraction(2, 5), Fraction(3, 5)))])
    (157, 315)
    """
    stated = list(parts)
    least = -_deviations_less_mean([(rows, low) for rows, (low, _) in stated], largest_unit)
    # The upper end is the lower end for the complementary property.
    size = sum(rows for rows, _ in stated)
    most = size + _deviations_less_mean([(rows, 1 - high) for rows, (_, high) in stated], largest_unit)
    return max(least, 0), min(most, size)


def _deviations_less_mean(parts: Sequence[tuple[int, Fraction]], largest_unit: int) -> int:
    """⌊3·sd − mean⌋, exactly.

    With mean = a/c and 9·variance = v/c², the largest integer k with k + a/c <= √v / c is ⌊(⌊√v⌋ − a) / c⌋, because
    k·c + a is an integer.
    """
    mean = sum((rows * p for rows, p in parts), Fraction(0))
    variance = largest_unit * sum((rows * p * (1 - p) for rows, p in parts), Fraction(0))
    common = lcm(mean.denominator, variance.denominator)
    return (isqrt(int(DEVIATIONS**2 * variance * common**2)) - int(mean * common)) // common
