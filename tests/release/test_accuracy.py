"""Errors and intervals: what they promise is counted out on small tables."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb, inf, nextafter

import pytest

from statpriv.releasing.accuracy import (
    CONFIDENCE,
    Stratum,
    confidence_interval,
    imbalance,
    root_mean_squared_error,
    stratified_interval,
)
from statpriv.releasing.plan import Publication
from statpriv.releasing.steps import Steps


def drawn(rows, marked, size):
    """The hypergeometric law, by counting."""
    ways = {count: comb(marked, count) * comb(rows - marked, size - count) for count in range(size + 1)}
    return {count: Fraction(number, comb(rows, size)) for count, number in ways.items() if number}


def sum_of(first, second):
    law = Counter()
    for (a, p), (b, q) in product(first.items(), second.items()):
        law[a + b] += p * q
    return law


def behind(count, size, base):
    """The exact counts that are published like this one."""
    steps = Steps(size, ((0, size),), Publication(rounded_to=base))
    return steps.exact(steps.publish([count])[0])


@pytest.mark.parametrize("base", [None, 3, 5])
@pytest.mark.parametrize(("rows", "size"), [(30, 12), (25, 25), (40, 1)])
def test_the_interval_of_an_exact_or_rounded_count_covers_the_proportion_in_every_table(rows, size, base):
    for marked in range(rows + 1):
        covered = Fraction(0)
        for count, probability in drawn(rows, marked, size).items():
            least, most = behind(count, size, base)
            low, high = confidence_interval(least=least, most=most, size=size, rows=rows)
            covered += probability * (low <= Fraction(marked, rows) <= high)
        assert covered >= CONFIDENCE


def test_the_interval_of_a_rounded_count_spans_those_of_all_counts_behind_it():
    ends = [confidence_interval(least=count, most=count, size=50, rows=200) for count in range(18, 23)]
    spanned = confidence_interval(least=18, most=22, size=50, rows=200)
    assert spanned == (min(low for low, _ in ends), max(high for _, high in ends))


@pytest.mark.parametrize("sizes", [(6, 9), (3, 12), (0, 10)])
def test_the_interval_of_a_stratified_part_covers_the_proportion_in_every_table(sizes):
    rows = (10, 15)
    strata = [Stratum(n, s, Fraction(0), Fraction(1)) for n, s in zip(rows, sizes, strict=True)]
    for marked in product(range(0, 11, 2), range(0, 16, 3)):
        law = sum_of(*(drawn(n, k, s) for n, k, s in zip(rows, marked, sizes, strict=True)))
        covered = Fraction(0)
        for count, probability in law.items():
            low, high = stratified_interval(least=count, most=count, strata=strata)
            covered += probability * (low <= Fraction(sum(marked), sum(rows)) <= high)
        assert covered >= CONFIDENCE


def mean_squared_error(strata, p, base):
    """Of the published proportion, over the values of everyone and the rows that are drawn, by counting."""
    steps = Steps(sum(s.size for s in strata), ((0, 1),), Publication(rounded_to=base))
    rows, size = sum(s.rows for s in strata), sum(s.size for s in strata)
    total = Fraction(0)
    for marked in product(*(range(s.rows + 1) for s in strata)):
        table = Fraction(1)
        for stratum, k, q in zip(strata, marked, p, strict=True):
            table *= comb(stratum.rows, k) * q**k * (1 - q) ** (stratum.rows - k)
        law = {0: Fraction(1)}
        for stratum, k in zip(strata, marked, strict=True):
            law = sum_of(law, drawn(stratum.rows, k, stratum.size))
        truth = Fraction(sum(marked), rows)
        for count, probability in law.items():
            error = Fraction(steps.publish([count])[0].count, size) - truth
            total += table * probability * error**2
    return total


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 2), Fraction(1, 10**320), Fraction(1, 10**400), Fraction(0)])
def test_the_error_of_an_exact_count_is_attained_at_the_worst_probability(p):
    stratum = Stratum(9, 4, p, p)
    stated, truth = root_mean_squared_error([stratum]), mean_squared_error([stratum], [p], None)
    assert Fraction(stated.lower) ** 2 <= truth <= Fraction(stated.upper) ** 2
    assert stated.upper <= nextafter(stated.lower, inf)


@pytest.mark.parametrize("base", [None, 3, 4])
@pytest.mark.parametrize("sizes", [(2, 3), (1, 4)])
def test_the_error_of_strata_and_of_rounding_is_at_least_what_it_is(sizes, base):
    p = (Fraction(1, 5), Fraction(3, 5))
    strata = [Stratum(n, s, q, q) for n, s, q in zip((4, 6), sizes, p, strict=True)]
    stated = root_mean_squared_error(strata, rounded_to=base)
    assert Fraction(stated.upper) ** 2 >= mean_squared_error(strata, p, base)


def test_a_part_with_the_same_share_of_each_group_has_no_imbalance():
    assert imbalance([Stratum(10, 5, Fraction(0), Fraction(1)), Stratum(20, 10, Fraction(0), Fraction(1))]) == 0
    one_sided = [Stratum(10, 10, Fraction(0), Fraction(1)), Stratum(30, 0, Fraction(0), Fraction(1))]
    assert imbalance(one_sided) == Fraction(3, 4)
