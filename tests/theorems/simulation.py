"""Secret partitions drawn at random, and what a best test makes of the answers. Nothing of statpriv is used here.

A simulation draws the entries and the partition, counts, and forgets both. A test of "the critical entry is w" against
"it is v" rejects on a set of answers. The sets are those of the likelihood ratio, written out from the definition; if a
ratio were wrong, its tests would be tests still, only worse ones.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..cases import cases

Numbers = NDArray[np.float64]
Values = tuple[int, ...]

DRAWS = cases(300_000, campaign=10**6)
CHUNK = 10**5


@dataclass(frozen=True)
class Mechanism(ABC):
    """Counts on the parts of a secret partition.

    Parts with the same number in `attributes` ask for the same attribute. `p[k][g]` is the probability with which an
    entry of group g has the property that is counted in part k.
    """

    groups: tuple[int, ...]
    p: tuple[tuple[float, ...], ...]
    attributes: tuple[int, ...]

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """How many answers each part may give."""

    @abstractmethod
    def partition(self, group: int, rng: np.random.Generator) -> NDArray[np.integer]:
        """The part of each entry of this group, one partition a row; the number after the last part is no part."""

    @abstractmethod
    def likelihoods(self, critical: int, values: Values) -> Numbers:
        """The probability of each combination of answers."""

    @cache  # noqa: B019  (a handful of mechanisms, which live as long as the tests)
    def frequencies(self, critical: int, values: Values) -> Numbers:
        """How often each combination of answers came, the first entry of group `critical` having these attributes."""
        rng = np.random.default_rng([critical, *values])
        counted = np.zeros(math.prod(self.shape), dtype=np.int64)
        for _ in range(DRAWS // CHUNK):
            answers = self._answers(critical, values, rng)
            counted += np.bincount(np.ravel_multi_index(tuple(answers), self.shape), minlength=counted.size)
        return counted / DRAWS

    def _answers(self, critical: int, values: Values, rng: np.random.Generator) -> NDArray[np.intp]:
        answers = np.zeros((len(self.p), CHUNK), dtype=np.intp)
        for group, size in enumerate(self.groups):
            partition = self.partition(group, rng)
            database: dict[int, NDArray[np.bool_]] = {}
            for k, attribute in enumerate(self.attributes):
                if attribute not in database:
                    entries = rng.random((CHUNK, size), dtype=np.float32) < np.float32(self.p[k][group])
                    if group == critical:
                        entries[:, 0] = values[attribute]
                    database[attribute] = entries
                answers[k] += np.count_nonzero(database[attribute] & (partition == k), axis=1)
        return answers

    def errors(self, critical: int, v: Values, w: Values) -> Numbers:
        """Type I and type II errors that the likelihood ratio tests of w against v made, one test a row."""
        of_v, of_w = self.likelihoods(critical, v), self.likelihoods(critical, w)
        # In the order of the ratio, which may be infinite.
        order = np.argsort(-of_v / np.maximum(of_v + of_w, np.finfo(float).tiny), kind="stable")
        rejected = [np.concatenate([[0], np.cumsum(self.frequencies(critical, x)[order])]) for x in (w, v)]
        return np.column_stack([rejected[0], 1 - rejected[1]])


@dataclass(frozen=True)
class FixedSizes(Mechanism):
    """Uniform among the partitions that give part k `parts[k][g]` entries of each group g."""

    parts: tuple[tuple[int, ...], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(sum(part) + 1 for part in self.parts)

    def partition(self, group: int, rng: np.random.Generator) -> NDArray[np.integer]:
        places = np.full(self.groups[group], len(self.parts), dtype=np.int8)
        used = [k for k, part in enumerate(self.parts) for _ in range(part[group])]
        places[: len(used)] = used
        return rng.permuted(np.tile(places, (CHUNK, 1)), axis=1)

    def likelihoods(self, critical: int, values: Values) -> Numbers:
        """The mean over where the critical entry may be."""
        without = [self._law(k) for k in range(len(self.parts))]
        weights = [part[critical] / self.groups[critical] for part in self.parts]
        total = (1 - sum(weights)) * _outer(without)
        for k, weight in enumerate(weights):
            if weight:
                shift = [0.0, 1.0] if values[self.attributes[k]] else [1.0, 0.0]
                holding = np.convolve(self._law(k, without=critical), shift)
                total += weight * _outer([*without[:k], holding, *without[k + 1 :]])
        return total.ravel()

    def _law(self, k: int, without: int | None = None) -> Numbers:
        law = np.ones(1)
        for group, (count, p) in enumerate(zip(self.parts[k], self.p[k], strict=True)):
            for _ in range(count - (group == without)):
                law = np.convolve(law, [1 - p, p])
        return law


@dataclass(frozen=True)
class RandomSizes(Mechanism):
    """Every entry goes to part k with probability `weights[k]`, by itself; sizes are not published. One group."""

    weights: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.groups[0] + 1,) * len(self.weights)

    def partition(self, group: int, rng: np.random.Generator) -> NDArray[np.integer]:
        return np.searchsorted(np.cumsum(self.weights), rng.random((CHUNK, self.groups[group])), side="right")

    def likelihoods(self, critical: int, values: Values) -> Numbers:
        """One entry after the other, the critical one last."""
        law = np.zeros(self.shape)
        law[(0,) * len(self.shape)] = 1
        own = [float(values[attribute]) for attribute in self.attributes]
        for probabilities in [*[[p for (p,) in self.p]] * (self.groups[critical] - 1), own]:
            cells = [weight * p for weight, p in zip(self.weights, probabilities, strict=True)]
            law = (1 - sum(cells)) * law + sum(cell * np.roll(law, 1, axis=k) for k, cell in enumerate(cells))
        return law.ravel()


def _outer(laws: list[Numbers]) -> Numbers:
    product = np.ones(())
    for law in laws:
        product = np.multiply.outer(product, law)
    return product


def margin(statements: int, risk: float) -> float:
    """By how much no frequency of all these tests is off, but with probability `risk`.

    The tests of one pair reject on growing sets of answers, in an order that was fixed before anything was drawn. So
    their errors are values of two empirical distribution functions (a statement each), which are off by more than η
    anywhere with probability at most 2 exp(−2Nη²) (Dvoretzky, Kiefer and Wolfowitz, with Massart's constant).
    """
    return math.sqrt(math.log(2 * statements / risk) / (2 * DRAWS))


def lower_hull(points: Numbers) -> Numbers:
    """The corners of the greatest convex function that no point lies below: tests may be mixed by a coin."""
    corners: list[Numbers] = []
    for point in points[np.lexsort((points[:, 1], points[:, 0]))]:
        while len(corners) > 1 and _turn(corners[-2], corners[-1], point) <= 0:
            corners.pop()
        if not corners or point[0] > corners[-1][0]:
            corners.append(point)
    return np.array(corners)


def _turn(a: Numbers, b: Numbers, c: Numbers) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
