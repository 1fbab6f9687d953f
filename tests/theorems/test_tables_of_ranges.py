"""Exact tables with declared ranges for their cells, against every vertex of the laws of a few rows."""

from fractions import Fraction
from itertools import product

import pytest

import statpriv as sp


def shown(c, rows, minimum):
    return c if minimum <= c <= rows - minimum else None


def worst_of_vertices(rows, ends, minimum, r):
    """The largest hockey stick of a gated count, both directions, over all laws whose rows are at an end each."""
    most = Fraction(0)
    for shares in product(ends, repeat=rows - 1):
        laws = []
        for own in (0, 1):
            law = {own: Fraction(1)}
            for p in shares:
                moved = {}
                for c, mass in law.items():
                    moved[c] = moved.get(c, Fraction(0)) + mass * (1 - p)
                    moved[c + 1] = moved.get(c + 1, Fraction(0)) + mass * p
                law = moved
            published = {}
            for c, mass in law.items():
                key = shown(c, rows, minimum)
                published[key] = published.get(key, Fraction(0)) + mass
            laws.append(published)
        for p, q in (laws, laws[::-1]):
            most = max(most, sum((max(Fraction(0), mass - r * q.get(c, 0)) for c, mass in p.items()), Fraction(0)))
    return most


@pytest.mark.parametrize("ends", [(Fraction(1, 5), Fraction(4, 5)), (Fraction(3, 10), Fraction(1, 2))])
def test_rows_that_each_have_a_law_are_protected_by_their_number_in_the_smallest_class(ends):
    table = sp.ContingencyTable(
        {"b": ["n", "s"], "a": ["x", "y"]},
        minimum=2,
        by="b",
        p={("n", "x"): sp.EachBetween(*ends), ("n", "y"): sp.EachBetween(1 - ends[1], 1 - ends[0]), "default": "1/2"},
    )
    for epsilon, r in (("0", Fraction(1)), ("0.4", Fraction("1.4918246976412703"))):
        bound = sp.privacy_curve(table, sp.Population(groups={"n": 6, "s": 90})).delta(epsilon)
        assert worst_of_vertices(6, ends, 2, r) <= bound.upper
        # The bound is that of a bare count, attained without the gate.
        count = sp.privacy_curve(sp.PropertyQuery(sp.EachBetween(*ends)), sp.Population(6)).delta(epsilon)
        assert bound.upper == pytest.approx(count.upper, rel=1e-9)


def test_known_rows_are_in_the_smallest_class_or_where_they_are_said_to_be():
    table = sp.ContingencyTable({"b": ["n", "s"], "a": ["x", "y"]}, minimum=5, by="b", p=sp.EachBetween("0.2", "0.8"))
    groups = sp.Population(groups={"n": 30, "s": 60})

    def upper(**options):
        return sp.privacy_curve(table, groups, **options).delta("0.2").upper

    def of_rows(rows):
        return sp.privacy_curve(sp.PropertyQuery(sp.EachBetween("0.2", "0.8")), sp.Population(rows)).delta("0.2").upper

    assert upper() == pytest.approx(of_rows(30), rel=1e-9)
    assert upper(adversary=sp.Adversary(known=10)) == pytest.approx(of_rows(20), rel=1e-9)
    assert upper(adversary=sp.Adversary(known={"s": 40})) == pytest.approx(of_rows(20), rel=1e-9)
    assert upper(pair=(("s", "x"), ("s", "y"))) == pytest.approx(of_rows(60), rel=1e-9)


def test_of_a_common_law_in_ranges_the_smaller_bound_counts():
    ranges = [sp.Between("0.2", "0.4")] * 3
    few, many = sp.Population(31), sp.Population(4000)
    table, bare = sp.ContingencyTable(3, minimum=10, p=ranges), sp.ContingencyTable(3, minimum=10)
    assert sp.privacy_curve(table, few).delta("0.1").upper == sp.privacy_curve(bare, few).delta("0.1").upper
    histogram = sp.privacy_curve(sp.HistogramQuery(ranges), many).delta("0.1").upper
    assert sp.privacy_curve(table, many).delta("0.1").upper == histogram < 0.01


def test_a_rule_for_one_common_law_is_never_used_where_rows_have_laws_of_their_own():
    each = sp.ContingencyTable(3, minimum=10, p=sp.EachBetween("0.1", "0.6"))
    tree = sp.ContingencyTable(
        {"b": ["n", "s"], "a": ["x", "y"]}, minimum=9, nested=True, p=sp.EachBetween("0.1", "0.6")
    )
    for table in (each, tree):
        assert {row.bound for row in sp.privacy_curve(table, sp.Population(60)).compare(1)} == {"ranges"}
        assert "a wrong probability" in sp.privacy_curve(table, sp.Population(60)).explain()
        with pytest.raises(sp.NotAvailableError):
            sp.privacy_curve(table, sp.Population(60)).certify(epsilon=1, delta="0.5")


@pytest.mark.parametrize(
    ("p", "message"),
    [
        (sp.Between("0.4", "0.5"), "p sums to at least 6/5"),
        (sp.Between(0.4, 0.5), "p sums to at least about 1.2 and at most 3/2"),
        (["0.5", "0.5"], "p has 2 probabilities; one for each of the 3 possible cells"),
        ({0: "0.5"}, "p states none for 1"),
        ({7: "0.5", "default": "0.1"}, "p has 7; a cell is a number from 0 to 2"),
        ("0.3", "p = '0.3'; a list with the probability of each possible cell"),
    ],
)
def test_ranges_that_are_none_are_refused(p, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.ContingencyTable(3, minimum=10, p=p)


def test_sizes_of_classes_are_needed():
    table = sp.ContingencyTable({"b": ["n", "s"], "a": ["x", "y"]}, minimum=5, by="b", p=sp.EachBetween("0.2", "0.8"))
    with pytest.raises(sp.NotAvailableError, match="the number of entries of each class of 'b' protects"):
        sp.privacy_curve(table, sp.Population(90))
