"""Draws: their probabilities agree with an enumeration of all samples of named entries."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import pytest

from statpriv.model.draws import drawn_again, drawn_once, drawn_several_times, partitions

ROOMS = [(), (3,), (2, 1), (1, 3), (2, 0, 2)]


def named(room):
    """The kind of each entry; the critical one comes last, as None."""
    return [kind for kind, number in enumerate(room) for _ in range(number)] + [None]


def counted(kinds, samples, factor):
    """The joint law of the multiplicities of the critical entry and of each kind, by enumeration of samples."""
    law = Counter()
    for drawn in samples:
        factors = [factor(drawn, entry) for entry in range(len(kinds))]
        others = tuple(
            tuple(sorted(Counter(f for f, kind in zip(factors, kinds, strict=True) if kind == of and f).items()))
            for of in range(max([-1, *(kind for kind in kinds if kind is not None)]) + 1)
        )
        law[factors[-1], others] += 1
    total = sum(law.values())
    return {draw: Fraction(ways, total) for draw, ways in law.items()}


def law_of(draws):
    law = {}
    for draw in draws:
        case = draw.critical, tuple(tuple(sorted(of)) for of in draw.others)
        assert case not in law, "each way to draw once"
        law[case] = draw.weight
    return {case: weight for case, weight in law.items() if weight}


@pytest.mark.parametrize("room", ROOMS)
def test_without_replacement(room):
    kinds = named(room)
    for size in range(1, len(kinds) + 1):
        truth = counted(kinds, combinations(range(len(kinds)), size), lambda drawn, entry: int(entry in drawn))
        assert law_of(drawn_once(room, size)) == truth
    for size in range(len(kinds)):
        samples = [(*drawn,) for drawn in combinations(range(len(kinds) - 1), size)]
        truth = counted(kinds, samples, lambda drawn, entry: int(entry in drawn))
        assert law_of(drawn_once(room, size, critical=False)) == truth


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_with_replacement(room, size):
    kinds = named(room)
    truth = counted(kinds, product(range(len(kinds)), repeat=size), lambda drawn, entry: drawn.count(entry))
    assert law_of(drawn_again(room, [False] * len(room), size)) == truth
    holding = {case: weight for case, weight in truth.items() if case[0]}
    assert law_of(drawn_again(room, [False] * len(room), size, least=1)) == holding


def test_of_entries_that_add_the_same_only_the_number_of_draws_counts():
    split, together = drawn_again([3], [False], 3), drawn_again([3], [True], 3)
    draws = Counter()
    for draw in split:
        draws[draw.critical, sum(factor * number for factor, number in draw.others[0])] += draw.weight
    assert draws == {(draw.critical, draw.others[0][0][0] if draw.others[0] else 0): draw.weight for draw in together}


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("sizes", [(1,), (1, 1), (2, 1), (1, 1, 1)])
def test_several_samples(room, sizes):
    kinds = named(room)
    if max(sizes) > len(kinds):
        return
    samples = product(*(list(combinations(range(len(kinds)), size)) for size in sizes))
    truth = counted(
        kinds, samples, lambda drawn, entry: sum(10**k * (entry in sample) for k, sample in enumerate(drawn))
    )
    assert law_of(drawn_several_times(room, sizes, 10)) == truth


def test_partitions_are_those_of_a_small_number():
    assert list(partitions(4, 4)) == [(4,), (3, 1), (2, 2), (2, 1, 1), (1, 1, 1, 1)]
    assert list(partitions(4, 2)) == [(4,), (3, 1), (2, 2)]
    assert list(partitions(0, 0)) == [()]
    assert list(partitions(2, 0)) == []
