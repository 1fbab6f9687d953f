"""Several tables of the same rows whose certainty is bounded: never above the bound, by enumeration of all answers."""

import math
import random
from collections import Counter
from itertools import product

import statpriv as sp
from statpriv.audit.table import PublishedTable
from statpriv.files.tables_together import tables_together

from ..cases import cases

LOW, HIGH = 0.2, 0.8


def random_law(rng, sharp):
    """The joint law of two yes-or-no columns in which, given one, the other has a probability between the ends."""
    while True:
        law = {cell: rng.random() ** sharp for cell in product((0, 1), repeat=2)}
        total = sum(law.values())
        law = {cell: mass / total for cell, mass in law.items()}
        given = [law[1, b] / (law[0, b] + law[1, b]) for b in (0, 1)]
        given += [law[a, 1] / (law[a, 0] + law[a, 1]) for a in (0, 1)]
        if all(LOW <= p <= HIGH for p in given):
            return law


def answers(laws, first):
    """The law of both counts, with the critical row."""
    found = {first: 1.0}
    for law in laws:
        step = Counter()
        for (a, b), mass in found.items():
            for (x, y), share in law.items():
                step[a + x, b + y] += mass * share
        found = step
    return found


def hockey_stick(p, q, r):
    return math.fsum(max(0.0, mass - r * q.get(answer, 0.0)) for answer, mass in p.items())


def test_two_margins_of_the_same_rows_stay_below_one_table_of_such_rows():
    rng = random.Random(1)  # noqa: S311  (a case, not a secret)
    worst = 0.0
    for _ in range(cases(60, campaign=2000)):
        n, epsilon = rng.randint(2, 6), rng.choice([0.1, 0.5, 1.0])
        laws = [random_law(rng, rng.choice([1, 3])) for _ in range(n - 1)]
        if rng.random() < 0.3:  # independent columns at an end of the range: nearly the worst
            end = rng.choice([LOW, HIGH])
            corner = {(a, b): (end if a else 1 - end) / 2 for a, b in product((0, 1), repeat=2)}
            laws = [corner] * (n - 1)
        one = PublishedTable.from_counts({"a": ["yes", "no"]}, [n, 0], name="a")
        other = PublishedTable.from_counts({"b": ["yes", "no"]}, [0, n], name="b")
        bound = tables_together([one, other], (str(LOW), str(HIGH)), 0).delta(epsilon).upper
        for b in (0, 1):
            yes, no = answers(laws, (1, b)), answers(laws, (0, b))
            for found in (hockey_stick(yes, no, math.exp(epsilon)), hockey_stick(no, yes, math.exp(epsilon))):
                assert found <= bound * (1 + 1e-12)
                worst = max(worst, found / bound)
    assert worst > 0.95


def test_it_is_the_bound_of_answers_about_the_same_rows():
    """Two tables of different shapes, by the way that `sp.SameRows` takes to the same theorem."""
    tables = [
        PublishedTable.from_counts({"a": ["x", "y"]}, [400, 600], name="a"),
        PublishedTable.from_counts({"b": ["u", "v", "w"]}, [300, 300, 400], name="b"),
    ]
    own = sp.EachBetween("0.1", "0.8")
    queries = [sp.HistogramQuery([own] * len(table.inner), attribute=table.name) for table in tables]
    curve = sp.compose(queries, sp.Population(1000), sp.SameRows(protects="attribute"), adversary=sp.Adversary(known=3))
    assert tables_together(tables, ("0.1", "0.8"), 3).delta("0.5") == curve.delta("0.5")
