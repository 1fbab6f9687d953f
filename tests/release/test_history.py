"""Does the guarantee of everything released hold, whatever later plans follow, and however a table grows?"""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv.composition.cohorts import Cohort, used
from statpriv.releasing.guarantee import certify
from statpriv.releasing.history import Everything, widened
from statpriv.releasing.ledger import PastRelease
from statpriv.releasing.plan_file import load_plan

from .conftest import Workshop, query

P = {"a": Fraction(1, 5), "b": Fraction(1, 2)}
LAW = {
    (a, b): (P["a"] if a else 1 - P["a"]) * (P["b"] if b else 1 - P["b"])
    for a, b in itertools.product((0, 1), repeat=2)
}
EPSILON = "0.1"


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """The guarantee of a plan with these counts: (column, rows) or (column, rows, lower, upper)."""
    workshop = Workshop(tmp_path_factory.mktemp("plans"))
    made = {}

    def make(n, *counts, known=0):
        if (n, counts, known) not in made:
            asked = [
                query(f"{column} = 1", rows=rows, probability=list(map(str, ends or (P[column], P[column]))))
                for column, rows, *ends in counts
            ]
            workshop.plan(*asked, epsilon=EPSILON, more=f"known_rows = {known}")
            made[n, counts, known] = certify(load_plan(workshop.folder / "plan.toml"), n)
        return made[n, counts, known]

    return make


def past(*guarantees):
    return tuple(PastRelease(k, "", g.queries, g.sizes, (), "", "") for k, g in enumerate(guarantees, start=1))


# --- the mechanism itself, row by row


def law_of_answers(release_1, follow, *, old, new, critical, value, known=()):
    """The law of both answers: all values of all rows, and all draws. `known` are rows with their values."""
    fixed = dict(known) | {critical: value}
    free = [row for row in range(old + new) if row not in fixed]
    law = defaultdict(Fraction)
    column, size = release_1
    for values in itertools.product(LAW, repeat=len(free)):
        chance = Fraction(1)
        for drawn in values:
            chance *= LAW[drawn]
        rows = fixed | dict(zip(free, values, strict=True))
        for first in itertools.combinations(range(old), size):
            count = sum(rows[i]["ab".index(column)] for i in first)
            column_2, size_2 = follow(count)
            left = [i for i in range(old + new) if i not in first]
            for second in itertools.combinations(left, size_2):
                answer = sum(rows[i]["ab".index(column_2)] for i in second)
                law[count, answer] += chance / comb(old, size) / comb(len(left), size_2)
    return law


def hockey_stick(one, other, factor):
    return sum((max(one[answer] - factor * other[answer], Fraction(0)) for answer in one), Fraction(0))


def true_delta(release_1, follow, *, old, new, known=0):
    """The least δ at ε = 0.1: the worst pair of values of the worst row, and of known rows at their worst."""
    lower = Fraction("1.10517091")  # below exp(0.1), so what comes out is above the truth by 10^-8
    worst = Fraction(0)
    for critical in {0, old + new - 1}:
        others = [row for row in range(old + new) if row != critical][:known]
        for values in itertools.product(LAW, repeat=known):
            laws = [
                law_of_answers(
                    release_1, follow, old=old, new=new, critical=critical, value=value,
                    known=zip(others, values, strict=True),
                )
                for value in LAW
            ]  # fmt: skip
            worst = max(worst, *(hockey_stick(one, other, lower) for one, other in itertools.permutations(laws, 2)))
    return worst


STRATEGIES = {
    "the same again": lambda _count: ("a", 2),
    "another property": lambda _count: ("b", 2),
    "the property follows the answer": lambda count: ("a" if count else "b", 2),
    "the size follows the answer": lambda count: ("a", 1 if count else 2),
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("old", "new", "known"), [(4, 0, 0), (3, 1, 0), (3, 2, 0), (4, 0, 1), (3, 1, 1)])
def test_no_strategy_beats_the_guarantee(certified, strategy, old, new, known):
    follow = STRATEGIES[strategy]
    cohorts = (Cohort(old), Cohort(new, joined_after=1)) if new else (Cohort(old),)
    first = certified(old, ("a", 2), known=known)
    promised = max(
        Fraction(Everything(certified(old + new, follow(count), known=known), cohorts, past(first)).delta.upper)
        for count in range(3)
    )
    truth = true_delta(("a", 2), follow, old=old, new=new, known=known)
    assert promised / 2 <= truth <= promised + Fraction(1, 10**7)


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_weights_are_the_chances_of_being_drawn(data):
    """By enumeration of all draws, for rows of each cohort."""
    steps = data.draw(st.lists(st.tuples(st.integers(1, 2), st.integers(0, 2)), min_size=1, max_size=3))
    rows, cohorts, sizes, spent = data.draw(st.integers(2, 4)), [], [], 0
    cohorts.append(Cohort(rows))
    for r, (size, new) in enumerate(steps):
        if r and new:
            cohorts.append(Cohort(new, joined_after=r))
            rows += new
        sizes.append(min(size, rows - spent))
        spent += sizes[-1]
    if 0 in sizes:
        return
    firsts = list(itertools.accumulate((c.rows for c in cohorts), initial=0))[:-1]
    drawn = [[Fraction(0)] * len(sizes) for _ in cohorts]

    def go(r, used_rows, chance):
        if r == len(sizes):
            return
        there = [i for i in range(sum(c.rows for c in cohorts if c.joined_after <= r)) if i not in used_rows]
        ways = list(itertools.combinations(there, sizes[r]))
        for way in ways:
            for c, row in enumerate(firsts):
                drawn[c][r] += (row in way) * chance / len(ways)
            go(r + 1, used_rows | set(way), chance / len(ways))

    go(0, frozenset(), Fraction(1))
    assert used(cohorts, sizes) == tuple(map(tuple, drawn))


def test_the_formula_for_a_superset():
    """N1 = 10 rows of which 4 were used, 6 new ones, 3 drawn of the 12 that are left."""
    old, new = used([Cohort(10), Cohort(6, joined_after=1)], [4, 3])
    assert old == (Fraction(4, 10), (1 - Fraction(4, 10)) * Fraction(3, 12))
    assert new == (0, Fraction(3, 12))


# --- against the formula, and the numbers of one property


def test_without_growth_it_is_the_sum_of_shares(certified):
    plans = [(("a", 30), ("a", 20)), (("b", 40),), (("a", 25), ("b", 35))]
    for known in (0, 7):
        guarantees = [certified(200, *plan, known=known) for plan in plans]
        total = Fraction(0)
        for guarantee in guarantees:
            rows = sum(guarantee.sizes)
            there = sp.Adversary(known=min(known, rows - 1))
            inside = sp.compose(
                guarantee.queries, sp.Population(rows), sp.RandomPartition(guarantee.sizes), adversary=there
            )
            total += Fraction(rows, 200) * Fraction(inside.delta(EPSILON).upper)
        whole = Everything(guarantees[-1], (Cohort(200),), past(*guarantees[:-1]))
        assert whole.accountant.spent == total
        assert whole.delta.lower <= total <= whole.delta.upper
        assert whole.delta.width <= 1e-7


def test_known_rows_are_as_many_as_a_small_first_cohort_can_hold(certified):
    first, second = certified(200, ("a", 10), known=30), certified(200, ("a", 60), known=30)
    whole = Everything(second, (Cohort(20), Cohort(180, joined_after=1)), past(first))
    assert [entry.known for entry in whole.accountant.ledger] == [9, 30]
    assert whole.accountant.adversary == sp.Adversary(known=30)


def test_two_halves_that_are_fine_alone_are_not_together(tmp_path):
    """n = 14, one property of p = 1/5, e^ε = 1.1: each half alone, both settled at once, the second written later."""
    workshop = Workshop(tmp_path)

    def counts_of_halves(number):
        halves = [query("a = 1", rows=7, probability=["1/5", "1/5"])] * number
        return certify(load_plan(workshop.plan(*halves, epsilon="0.0953101798043248")), 14)

    one, both = counts_of_halves(1), counts_of_halves(2)
    later = Everything(one, (Cohort(14),), past(one))
    assert [round(delta.upper, 3) for delta in (one.delta, both.delta, later.delta)] == [0.158, 0.245, 0.367]
    assert later.on_rows_left.delta.upper == pytest.approx(0.367, abs=5e-4)


# --- ranges


def test_a_wider_range_counts_for_earlier_releases_too(certified):
    narrow = certified(200, ("a", 60, "2/5", "3/5"))
    wide = certified(200, ("a", 60, "1/5", "1/2"))
    whole = Everything(wide, (Cohort(200),), past(narrow))
    assert [query.p for queries, _ in whole.asked for query in queries] == [sp.Between("1/5", "3/5")] * 2
    assert whole.deltas[0] == whole.deltas[1]
    assert whole.deltas[0].lower > sp.privacy_curve(narrow.queries[0], sp.Population(60)).delta(EPSILON).upper


def test_hulls_are_of_one_property_and_leave_what_is_published_as_it_was():
    one = sp.PropertyQuery(sp.Between("0.4", "0.5"), attribute="x")
    other = sp.PropertyQuery("0.2", attribute="y", name="kept")
    rounded = sp.PropertyQuery("0.6", attribute="x").rounded(5)
    unnamed = sp.PropertyQuery("0.1")
    hull = sp.Between("0.4", "0.6")
    assert widened([one, other, rounded, unnamed]) == [
        sp.PropertyQuery(hull, attribute="x"), other, sp.PropertyQuery(hull, attribute="x").rounded(5), unnamed,
    ]  # fmt: skip


def test_the_worst_cohort_counts(certified):
    """Few old rows, of which most were used, and many new ones; then the other way round."""
    first, second = certified(20, ("a", 18)), certified(200, ("a", 20))
    whole = Everything(second, (Cohort(20), Cohort(180, joined_after=1)), past(first))
    assert whole.worst_cohort == 0
    assert whole.rows_left == 182
    first, second = certified(200, ("a", 2)), certified(210, ("a", 200))
    assert Everything(second, (Cohort(200), Cohort(10, joined_after=1)), past(first)).worst_cohort == 0
    first, second = certified(200, ("a", 150)), certified(210, ("a", 60))
    assert Everything(second, (Cohort(200), Cohort(10, joined_after=1)), past(first)).worst_cohort == 1


def test_labels_of_everyone_known_the_worst_part_of_all_releases_counts(certified):
    first, second = certified(200, ("a", 5), ("b", 60)), certified(200, ("b", 70))
    published = Everything(second, (Cohort(200),), past(first)).published()
    assert published == sp.privacy_curve(sp.PropertyQuery("1/5"), sp.Population(5)).delta(EPSILON)
