"""Queries of different kinds about one attribute, on the parts of a partition: exact, against brute force."""

from fractions import Fraction
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv import reference

from ..cases import cases

RATIOS = st.sampled_from(["1", "11/10", "3/2", "3"])


def kinds(law):
    """Every kind of query that states this law of the values 0, 1, …, with what it answers."""
    masses = [law[value] for value in sorted(law)]
    return {
        "histogram": (sp.HistogramQuery(masses, attribute="a"), lambda rows: tuple(sorted(rows))),
        "sum": (sp.SumQuery(law, attribute="a"), sum),
        "mean": (sp.MeanQuery(law, attribute="a"), sum),
        "median": (sp.MedianQuery(law, attribute="a"), median),
        "rounded sum": (sp.SumQuery(law, attribute="a").rounded(2), lambda rows: (sum(rows) + 1) // 2 * 2),
    }


@st.composite
def releases(draw):
    """A law of two or three values, two or three kinds of queries with the sizes of their parts, and e^ε."""
    weights = draw(st.lists(st.integers(1, 5), min_size=2, max_size=3))
    law = {value: Fraction(weight, sum(weights)) for value, weight in enumerate(weights)}
    chosen = draw(st.lists(st.sampled_from([*kinds(law)]), min_size=2, max_size=3))
    sizes = [1 if kind == "median" else draw(st.integers(1, 2)) for kind in chosen]
    outside = draw(st.integers(0, 1 if sum(sizes) < 6 else 0))  # more are too many to enumerate
    return law, chosen, sizes, sum(sizes) + outside, draw(RATIOS)


@settings(max_examples=cases(10, campaign=300), deadline=None)
@given(releases())
def test_kinds_of_one_attribute_are_composed_exactly(release):
    law, chosen, sizes, n, ratio = release
    asked = [kinds(law)[kind] for kind in chosen]
    curve = sp.compose([query for query, _ in asked], sp.Population(n), sp.RandomPartition(sizes))
    database = reference.iid(law, n)
    answers = [answer for _, answer in asked]
    truth = reference.privacy_curve(database, answers, reference.partitions(n, sizes, ordered=False))
    assert (curve.kind, curve.exact_delta(exp_epsilon=ratio)) == ("exact", truth(ratio))


def test_unrelated_attributes_are_never_safer_than_one():
    law = {0: "0.2", 1: "0.3", 2: "0.5"}
    one = [sp.SumQuery(law, attribute="a"), sp.HistogramQuery([".2", ".3", ".5"], attribute="a")]
    two = [sp.SumQuery(law), sp.HistogramQuery([".2", ".3", ".5"])]
    population, partition = sp.Population(30), sp.RandomPartition([10, 12])
    for epsilon in ("0", "0.1", "1"):
        same, unrelated = (sp.compose(asked, population, partition).delta(epsilon) for asked in (one, two))
        assert same.lower <= unrelated.upper


def test_groups_state_their_laws_for_every_kind():
    by_group = {"a": ["1/2", "1/4", "1/4"], "b": ["1/5", "1/5", "3/5"]}
    asked = [
        sp.SumQuery({name: dict(enumerate(law)) for name, law in by_group.items()}, attribute="x"),
        sp.HistogramQuery(by_group, attribute="x"),
    ]
    rows = [dict(enumerate(map(Fraction, by_group[name]))) for name in "aab"]
    answers = [sum, lambda values: tuple(sorted(values))]
    truth = reference.privacy_curve(reference.Database(rows), answers, reference.partitions(3, [1, 1], ordered=False))
    curve = sp.compose(asked, sp.Population(groups={"a": 2, "b": 1}), sp.RandomPartition([1, 1]))
    assert curve.exact_delta(exp_epsilon="11/10") == truth("11/10")


@pytest.mark.parametrize(
    "other",
    [
        sp.HistogramQuery(["0.6", "0.4"], attribute="a"),
        sp.HistogramQuery(["0.5", "0.2", "0.3"], attribute="a"),
        sp.MeanQuery({1: "0.7", 2: "0.3"}, attribute="a"),
        sp.PropertyQuery({"g": "0.3", "h": "0.3"}, attribute="a"),
    ],
)
def test_laws_that_differ_are_refused(other):
    asked = [sp.SumQuery({0: "0.7", 1: "0.3"}, attribute="a"), other]
    population = sp.Population(groups={"g": 5, "h": 5})
    with pytest.raises(sp.ArgumentError, match="that do not state the same law of the same values"):
        sp.compose(asked, population, sp.RandomPartition([5, 5]))
