"""Ladders and trees of tables, against the definition: every table of a few rows.

`sp.reference` enumerates them and shares no code with the bounds; the composition of stages is also checked against
the product of small laws in exact rationals.
"""

import math
from fractions import Fraction
from itertools import product
from random import Random

import pytest

import statpriv as sp
from statpriv._native import Curve, Law


def bound_of(depth, minimum, ratio, known=0):
    """δ of a tree of this depth: a binary one has the bound of every other."""
    dimensions = {f"d{level}": ["0", "1"] for level in range(depth)}
    table = sp.ContingencyTable(dimensions, minimum=minimum, nested=depth > 1)
    curve = sp.privacy_curve(table, sp.Population(1000), adversary=sp.Adversary(known=known))
    # δ falls with ε, and this ε is not above the logarithm.
    return curve.delta(math.log(ratio) * (1 - 1e-14)).upper


@pytest.mark.parametrize(
    ("minimum", "composed", "one_sided"),
    [(3, (0.553, 0.360, 0.184), (0.459, 0.245, 0.092)), (10, (0.276, 0.0629, 0.00436), (0.211, 0.0249, 4.7e-4))],
)
def test_two_levels_lie_between_a_search_and_three_copies_of_one_table(minimum, composed, one_sided):
    """`composed` is what three copies of the flat curve give; `one_sided` a search with the least curves of stages."""
    flat = Curve.peaks(size=2 * minimum, tests=[minimum - 1, minimum], lower=0, upper=1)
    table = sp.ContingencyTable({"a": ["0", "1"], "b": ["0", "1"]}, minimum=minimum, nested=True)
    for epsilon, copies, searched in zip(("0.1", "1", "2"), composed, one_sided, strict=True):
        assert Curve.stages([(flat, 3)]).delta(epsilon).upper == pytest.approx(copies, rel=2e-3)
        assert searched * 0.995 <= sp.privacy_curve(table, sp.Population(99)).delta(epsilon).upper < copies


def test_the_flat_bound_is_false_for_a_tree():
    """Eight rows, three leaves: v alone, w with a sibling."""
    law = {"v": Fraction(14, 1000), "s": Fraction(851, 1000), "w": Fraction(135, 1000)}
    ratio = Fraction(201, 10)
    reached = sp.reference.table_curve(law, 8, minimum=2, tree=["v", ["s", "w"]])(ratio)
    flat = sp.minimum_count_curve(2).exact_delta(exp_epsilon=ratio)
    assert flat == pytest.approx(0.0361, rel=2e-3)
    assert reached == pytest.approx(0.0380, rel=2e-3)
    assert flat < reached < bound_of(2, 2, float(ratio))


def shares(random, cells):
    drawn = [random.choice([1, 1, 2, 5, 12, 40]) for _ in cells]
    return {cell: Fraction(share, sum(drawn)) for cell, share in zip(cells, drawn, strict=True)}


TREES = [
    (2, ["a", ["b", "c"]]),
    (2, [["a", "b"], ["c", "d"]]),
    (3, ["a", ["b", ["c", "d"]]]),
]


@pytest.mark.parametrize(("depth", "tree"), TREES, ids=str)
def test_no_tree_of_nine_rows_exceeds_the_stages(depth, tree):
    random = Random(str(tree))  # noqa: S311
    cells = sorted(str(tree).replace("[", "").replace("]", "").replace("'", "").replace(",", " ").split())
    nearest = 0
    for n, ratio in product((6, 9), (Fraction(11, 10), Fraction(4))):
        bound = bound_of(depth, 2, float(ratio))
        for _ in range(5):
            reached = sp.reference.table_curve(shares(random, cells), n, minimum=2, tree=tree)(ratio)
            assert reached <= bound
            nearest = max(nearest, reached / bound)
    assert nearest > 0.15


def test_no_ladder_exceeds_the_stages_and_a_ladder_is_a_function_of_the_tree():
    random = Random("ladders")  # noqa: S311
    cells = ["a", "b", "c", "d"]
    ladder = [[["a"], ["b"], ["c"], ["d"]], [["a", "b"], ["c", "d"]]]
    tree = [["a", "b"], ["c", "d"]]
    for ratio in (Fraction(1), Fraction(3, 2), Fraction(5)):
        bound = bound_of(2, 2, float(ratio))
        for _ in range(4):
            law = shares(random, cells)
            of_ladder = sp.reference.table_curve(law, 9, minimum=2, ladder=ladder)(ratio)
            assert of_ladder <= sp.reference.table_curve(law, 9, minimum=2, tree=tree)(ratio) <= bound


def test_known_rows_of_a_tree_are_covered():
    random = Random("known")  # noqa: S311
    for known in (["a"], ["b"], ["c"]):
        for ratio in (Fraction(11, 10), Fraction(4)):
            bound = bound_of(2, 3, float(ratio), known=1)
            for _ in range(3):
                law = shares(random, ["a", "b", "c"])
                curve = sp.reference.table_curve(law, 11, minimum=3, tree=["a", ["b", "c"]], known=known)
                assert curve(ratio) <= bound
    assert bound_of(2, 3, 4, known=2) == 1


def gated_split(m, theta, minimum):
    """One split below the ancestor: c rows of m in the cell, one of them for certain, or all drawn; shown within."""

    def law(trials, shift):
        published = {}
        for k in range(trials + 1):
            c, mass = k + shift, math.comb(trials, k) * theta**k * (1 - theta) ** (trials - k)
            key = c if minimum <= c <= m - minimum else None
            published[key] = published.get(key, Fraction(0)) + mass
        return published

    return law(m - 1, 1), law(m, 0)


def excess(p, q, r):
    return sum((max(Fraction(0), mass - r * q.get(key, 0)) for key, mass in p.items()), Fraction(0))


@pytest.mark.parametrize("minimum", [2, 3])
def test_a_split_below_the_ancestor_has_at_most_its_curve_in_either_order(minimum):
    far = 2**40
    below = [Curve.peaks(size=minimum + far, tests=[minimum - 1], lower=0, upper=1, pair=p) for p in ((1, 0), (0, 1))]
    nearest = 0
    for r in (Fraction(1), Fraction(3, 2), Fraction(4)):
        bounds = [curve.delta(math.log(r) * (1 - 1e-14)).upper for curve in below]
        for m, k in product((2 * minimum, 9, 16, 40), range(1, 12)):
            fixed, drawn = gated_split(m, Fraction(k, 40), minimum)
            reached = excess(fixed, drawn, r), excess(drawn, fixed, r)
            assert reached[0] <= bounds[0] + 1e-12
            assert reached[1] <= bounds[1] + 1e-12
            nearest = max(nearest, reached[0] / bounds[0])
    assert nearest > 0.9


def test_far_out_and_for_large_minima_the_bound_falls_and_stays_small():
    tree = {"a": ["0", "1"], "b": ["0", "1"]}
    curve = sp.privacy_curve(sp.ContingencyTable(tree, minimum=10, nested=True), sp.Population(99))
    values = [curve.delta(epsilon).upper for epsilon in (0, "0.01", 1, 5, 20)]
    assert values == sorted(values, reverse=True)
    assert curve.delta(20).upper < 1e-60
    assert max(curve.delta(epsilon).upper for epsilon in (100, 5000, 10**15)) < 1e-95
    large = sp.privacy_curve(sp.ContingencyTable(tree, minimum=10**6, nested=True), sp.Population(99))
    assert sp.minimum_count_curve(10**6).delta("0.001").upper < large.delta("0.001").upper < 0.001


def as_law(masses):
    return Law.table(0, masses)


def test_stages_contain_the_product_of_small_laws_and_lie_close():
    """The exact δ of independent pairs of laws, by every joint outcome."""
    random = Random("stages")  # noqa: S311
    for _ in range(4):
        pairs = []
        for _ in range(2):
            p, q = ([Fraction(random.randint(1, 9)) for _ in range(4)] for _ in range(2))
            pairs.append(([x / sum(p) for x in p], [x / sum(q) for x in q]))
        stages = [(Curve.answers(as_law(p), as_law(q)), copies) for (p, q), copies in zip(pairs, (1, 2), strict=True)]
        curve = Curve.stages(stages)
        for ratio in (Fraction(1), Fraction(3, 2), Fraction(6)):
            exact = Fraction(0)
            for i, j, k in product(range(4), repeat=3):
                (p, q), (s, t) = pairs
                exact += max(Fraction(0), p[i] * s[j] * s[k] - ratio * q[i] * t[j] * t[k])
            found = curve.delta(math.log(ratio)).upper
            assert exact <= found * (1 + 1e-13)
            assert found <= exact * (1 + Fraction(1, 200)) + Fraction(1, 10**5)
