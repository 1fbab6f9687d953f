"""Draws: how often a secret sample holds entries of each kind, and the critical one.

Entries but the critical one are of several kinds, those of one kind alike. A sampling that treats all entries alike is
a mixture over draws: of each kind so many entries are drawn so often, and given that what they add is a sum of
independent numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb, factorial, perm, prod
from typing import TypeAlias

Multiplicities: TypeAlias = "tuple[tuple[int, int], ...]"
"""A factor of what an entry adds, and the number of entries that have it; those that are not drawn are left out."""


@dataclass(frozen=True)
class Draw:
    """One way to draw, with its probability."""

    weight: Fraction
    critical: int
    """The factor of what the critical entry adds; 0 if it is not drawn."""
    others: tuple[Multiplicities, ...]
    """For each kind of the other entries."""


def compositions(total: int, room: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All ways to choose so many altogether, from each kind at most as many as there is room for."""
    if not room:
        if total == 0:
            yield ()
        return
    first, *rest = room
    for number in range(max(0, total - sum(rest)), min(first, total) + 1):
        for others in compositions(total - number, rest):
            yield (number, *others)


def drawn_once(room: Sequence[int], size: int, *, critical: bool = True) -> Iterator[Draw]:
    """Without replacement from so many entries of each kind, the `critical` one besides.

    With d entries of the kinds but the largest, e of them drawn, the multivariate hypergeometric probability
    ``Π C(N_i, k_i)/C(n, s)`` has short numbers however large the last kind is: ``C(n−d, s−e)/C(n, s)`` is
    a quotient of falling factorials, ``(s)_e (n−s)_{d−e}/(n)_d``.
    """
    n = sum(room) + critical
    largest = max(range(len(room)), key=room.__getitem__, default=None)
    for holds in range(min(size, int(critical)) + 1):
        for numbers in compositions(size - holds, room):
            small = [pair for kind, pair in enumerate(zip(room, numbers, strict=True)) if kind != largest]
            apart = n - (0 if largest is None else room[largest])
            taken = size - (0 if largest is None else numbers[largest])
            ways = prod(comb(number, k) for number, k in small) * perm(size, taken) * perm(n - size, apart - taken)
            yield Draw(Fraction(ways, perm(n, apart)), holds, tuple(((1, k),) if k else () for k in numbers))


def drawn_again(room: Sequence[int], alike: Sequence[bool], size: int, *, least: int = 0) -> Iterator[Draw]:
    """With replacement from so many entries of each kind and the critical one, which is drawn at `least` so often.

    Of s draws from n entries the kinds get multinomially many, and d draws fall on the N entries of a kind as a
    partition of d into at most N parts. Of kinds whose entries are `alike`, all of them adding the same for certain, it
    does not matter on which entries the draws fall.
    """
    n = sum(room) + 1
    for times in range(least, size + 1):
        for numbers in compositions(size - times, [size - times if number else 0 for number in room]):
            orders = factorial(size) // factorial(times) // prod(map(factorial, numbers))
            for ways, others in _all_fallen(list(zip(room, alike, numbers, strict=True))):
                yield Draw(Fraction(orders * ways, n**size), times, others)


def _all_fallen(kinds: list[tuple[int, bool, int]]) -> Iterator[tuple[int, tuple[Multiplicities, ...]]]:
    if not kinds:
        yield 1, ()
        return
    first, *rest = kinds
    for ways, drawn in _fallen(*first):
        for more, others in _all_fallen(rest):
            yield ways * more, (drawn, *others)


def _fallen(entries: int, alike: bool, draws: int) -> Iterator[tuple[int, Multiplicities]]:  # noqa: FBT001  (one of a kind's facts)
    """On how many entries of a kind its draws fall how often, and in how many orders."""
    if not draws:
        yield 1, ()
    elif alike:
        if entries:
            yield entries**draws, ((draws, 1),)
    else:
        for partition in partitions(draws, entries):
            counted = Counter(partition)
            orders = factorial(draws) // prod(map(factorial, partition))
            chosen = perm(entries, len(partition)) // prod(map(factorial, counted.values()))
            yield orders * chosen, tuple(sorted(counted.items()))


def partitions(total: int, parts: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """Partitions of a number into at most so many parts, in falling order."""
    if total == 0:
        yield ()
        return
    if parts == 0:
        return
    for first in range(min(total, total if largest is None else largest), 0, -1):
        for rest in partitions(total - first, parts - 1, first):
            yield (first, *rest)


def drawn_several_times(room: Sequence[int], sizes: Sequence[int], stride: int) -> Iterator[Draw]:
    """Several samples without replacement from so many entries of each kind and the critical one.

    An entry is in some of the samples: what it adds to the answers, written as the digits of one number, is multiplied
    with ``Σ stride^k`` over the samples k that hold it. Samples of s_k entries have ``Π C(n, s_k)`` equally likely
    outcomes.
    """
    n = sum(room) + 1
    outcomes = prod(comb(n, size) for size in sizes)
    held = sorted(product((0, 1), repeat=len(sizes)), key=sum, reverse=True)[:-1]
    factors = [sum(bit * stride**k for k, bit in enumerate(samples)) for samples in held]
    for samples, factor in [((0,) * len(sizes), 0), *zip(held, factors, strict=True)]:
        left = tuple(size - bit for size, bit in zip(sizes, samples, strict=True))
        if min(left) < 0:
            continue
        for ways, kinds in _shared(list(room), left, held):
            others = tuple(
                tuple((factor, number) for factor, number in zip(factors, numbers, strict=True) if number)
                for numbers in kinds
            )
            yield Draw(Fraction(ways, outcomes), factor, others)


def _shared(
    room: list[int], left: tuple[int, ...], held: list[tuple[int, ...]]
) -> Iterator[tuple[int, tuple[tuple[int, ...], ...]]]:
    """How many entries of each kind are in which samples, and in how many ways, until all samples are full."""
    if not room:
        if not any(left):
            yield 1, ()
        return
    first, *rest = room
    for ways, numbers in _in_samples(first, left, held, fill=not rest):
        used = [sum(bits[k] * number for bits, number in zip(held, numbers, strict=True)) for k in range(len(left))]
        remaining = tuple(size - taken for size, taken in zip(left, used, strict=True))
        if max(remaining, default=0) <= sum(rest):
            for more, others in _shared(rest, remaining, held):
                yield ways * more, (numbers, *others)


def _in_samples(
    entries: int, left: tuple[int, ...], held: list[tuple[int, ...]], *, fill: bool
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """How many of so many entries are in exactly each set of samples, and in how many ways.

    Entries in one sample only come last, so that those of the last kind `fill` what is left of it.
    """
    if not held:
        yield 1, ()
        return
    samples, *others = held
    most = min([entries, *(size for size, bit in zip(left, samples, strict=True) if bit)])
    for number in range(most if fill and sum(samples) == 1 else 0, most + 1):
        remaining = tuple(size - bit * number for size, bit in zip(left, samples, strict=True))
        for ways, numbers in _in_samples(entries - number, remaining, others, fill=fill):
            yield comb(entries, number) * ways, (number, *numbers)
