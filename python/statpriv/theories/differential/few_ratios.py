"""Random allocation of answers with few likelihood ratios, counted out over how many of the answers have each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from statpriv import budget
from statpriv.theories.differential.answer_ratio import Ratios

__all__ = ["few_of", "of_all_pairs", "of_all_ratios", "ways"]


def ways(ratios: int, answers: int) -> int:
    """In how many ways so many answers can have so many ratios."""
    return math.comb(answers + ratios - 1, answers)


def few_of(ratios: Ratios, answers: int) -> Ratios:
    """The law of the ratio with neighbours merged until the answers have them in few ways.

    Each group has about the same part of the variance. Any grouping is right.
    """
    number = 2
    while number < len(ratios) and ways(number + 1, answers) <= budget.MAX_ALLOCATION_TERMS:
        number += 1
    total = sum(mass * (ratio - 1) ** 2 for ratio, mass in ratios)
    before, groups = Fraction(0), dict[int, tuple[Fraction, Fraction]]()
    for ratio, mass in sorted(ratios):
        middle = before + mass * (ratio - 1) ** 2 / 2
        before = 2 * middle - before
        group = int(number * middle / total) if total else 0
        present, absent = groups.get(group, (Fraction(0), Fraction(0)))
        groups[group] = present + ratio * mass, absent + mass
    return [(present / absent, absent) for present, absent in groups.values()]


def of_all_ratios(ratios: Ratios, answers: int, taken: int, factor: Fraction) -> Fraction:
    """The larger of both directions at K, by puts on the ratio, over how many of the answers have each ratio.

    Where the masses of the ratios are less than one, the rest counts as an infinite ratio, on which a put is nothing.
    """
    present, left = 1 - factor, Fraction(0)
    sets = math.comb(answers, taken)
    for products, mass in _products(ratios, answers, taken):
        within = mass * products[taken] / sets
        present += max(Fraction(0), factor * mass - within)
        left += max(Fraction(0), mass - factor * within)
    return max(present, left)


def of_all_pairs(
    ratios: Sequence[tuple[Fraction, Fraction, Fraction]], answers: int, taken: int, factor: Fraction
) -> Fraction:
    """``E(P/Q − K P'/Q)_+`` of an entry that is replaced, over how many of the answers have each pair of ratios."""
    both = (
        _products([(ratio[which], ratio[2]) for ratio in ratios], answers, taken) for which in (0, 1)
    )  # in the same order of ways
    total = sum(
        (
            mass * max(Fraction(0), first[taken] - factor * second[taken])
            for (first, mass), (second, _) in zip(*both, strict=True)
        ),
        Fraction(0),
    )
    return total / math.comb(answers, taken)


def _products(ratios: Ratios, answers: int, most: int) -> Iterator[tuple[list[Fraction], Fraction]]:
    """For each way to have the ratios, Σ Π of the ratios of j different answers, j up to `most`; and its probability.

    These are the coefficients of ``Π (1 + Y_i x)``, so that answers with one ratio y give the factor ``(1 + y x)^c``.
    """
    (ratio, mass), *others = ratios
    for count in range(answers + 1) if others else (answers,):
        own = [math.comb(count, j) * ratio**j for j in range(min(count, most) + 1)]
        chance = math.comb(answers, count) * mass**count
        rest = _products(others, answers - count, most) if others else [([Fraction(1)], Fraction(1))]
        for products, probability in rest:
            yield _multiplied(own, products, most), chance * probability


def _multiplied(one: Sequence[Fraction], other: Sequence[Fraction], most: int) -> list[Fraction]:
    """The product of two polynomials, up to the power `most`."""
    found = [Fraction(0)] * (min(len(one) + len(other) - 2, most) + 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other[: most + 1 - i]):
            found[i + j] += a * b
    return found
