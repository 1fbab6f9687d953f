"""Parts of a plain random partition that all ask about one attribute reveal what one sample of their union reveals."""

from collections import Counter
from fractions import Fraction
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv import reference

from ..cases import cases

RATIOS = ["1", "11/10", "3/2", "3"]


def counted(rows):
    return tuple(sorted(Counter(rows).items()))


def by_definition(laws, sizes, ratio, known=0):
    """The worst δ over entries, over which others are known, and over their values."""
    partitions = reference.partitions(len(laws), sizes, ordered=False)
    found = []
    for critical in range(len(laws)):
        others = [i for i in range(len(laws)) if i != critical]
        for chosen in combinations(others, known):
            curve = reference.privacy_curve(
                reference.Database(laws), [counted] * len(sizes), partitions, critical=critical, known=list(chosen)
            )
            found.append(curve(ratio))
    return max(found)


def agrees(curve, expected, ratio):
    assert curve.kind == "exact"
    assert curve.exact_delta(exp_epsilon=ratio) == expected


def test_two_of_five_with_one_more_part_of_one_and_two_groups():
    smokers = sp.PropertyQuery({"a": "1/5", "b": "1/2"}, attribute="smoker")
    population = sp.Population(groups={"a": 3, "b": 2})
    laws = [reference.coin("1/5")] * 3 + [reference.coin("1/2")] * 2
    curve = sp.compose([smokers, smokers], population, sp.RandomPartition([2, 1]))
    for ratio in RATIOS:
        agrees(curve, by_definition(laws, [2, 1], ratio), ratio)


@settings(max_examples=cases(12, campaign=200), deadline=None)
@given(st.data())
def test_groups_with_laws_of_their_own(data):
    first, second = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 2))
    p, q = (Fraction(data.draw(st.integers(1, 9)), 10) for _ in range(2))
    sizes = data.draw(st.sampled_from([s for s in ([1], [2], [1, 1], [2, 1]) if sum(s) <= first + second]))
    ratio = data.draw(st.sampled_from(RATIOS))
    asked = sp.PropertyQuery({"a": p, "b": q}, attribute="smoker")
    curve = sp.compose([asked] * len(sizes), sp.Population(groups={"a": first, "b": second}), sp.RandomPartition(sizes))
    laws = [reference.coin(p)] * first + [reference.coin(q)] * second
    agrees(curve, by_definition(laws, sizes, ratio), ratio)


@settings(max_examples=cases(12, campaign=200), deadline=None)
@given(st.data())
def test_histograms_and_known_entries(data):
    n = data.draw(st.integers(2, 5))
    first, second = (data.draw(st.integers(1, 4)) for _ in range(2))
    cells = [Fraction(first, 10), Fraction(second, 10), Fraction(10 - first - second, 10)]
    sizes = data.draw(st.sampled_from([s for s in ([1], [2], [1, 1], [2, 1], [2, 2]) if sum(s) <= n]))
    known = data.draw(st.integers(0, min(2, n - 1)))
    ratio = data.draw(st.sampled_from(RATIOS))
    asked = sp.HistogramQuery(cells, attribute="age")
    partition, adversary = sp.RandomPartition(sizes), sp.Adversary(known=known)
    curve = sp.compose([asked] * len(sizes), sp.Population(n), partition, adversary=adversary)
    agrees(curve, by_definition([dict(enumerate(cells))] * n, sizes, ratio, known), ratio)


def test_sums_are_not_split_by_their_total():
    """Values 0 to 3, alike: two parts of one entry show more than one sample of two, so no such theorem is used."""
    asked = sp.SumQuery(dict.fromkeys(range(4), "1/4"), attribute="children")
    parts = sp.compose([asked, asked], sp.Population(2), sp.RandomPartition([1, 1]), pair=(1, 2))
    sample = sp.privacy_curve(asked, sp.Population(2), pair=(1, 2))
    assert parts.exact_delta(exp_epsilon="11/10") > sample.exact_delta(exp_epsilon="11/10")
