"""The checker on histograms and on groups: by the definitions, with the kernel, and under every alteration."""

import json
import re
import shutil
from fractions import Fraction
from itertools import product
from math import comb, log, prod
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv.assurance.certificate import _described
from statpriv.assurance.checker import CertificateError, TooLargeError, check, counts, histograms
from statpriv.assurance.checker import certificate as claims
from statpriv.composition.cohorts import Cohort
from statpriv.composition.repeated_releases import RepeatedReleases
from statpriv.numeric.digits import exact_ends

from ..cases import cases, spread
from .test_checker import FOLDER, altered, restated, run, schema, unnoticed_alterations

CLOSE = Fraction(1, 2**100)
ratios = st.fractions(min_value=1, max_value=4, max_denominator=20)


def of_cells(cells, size, count=1, attribute=None):
    """The part of a situation in which a histogram is asked; each cell is p or a range."""
    ends = [cell if isinstance(cell, tuple) else (cell, cell) for cell in cells]
    ranges = [{"lower": str(Fraction(low)), "upper": str(Fraction(high))} for low, high in ends]
    return {"cells": ranges, "size": size, "count": count, "attribute": attribute}


def situation(parts, population, known=0):
    return claims.situation_of({"population": population, "known_rows": known, "parts": parts, "pair": None})


def by_definition(cells, n, r):
    """Δ of the histogram of n entries: every database and every pair of values of one entry."""
    law = dict(enumerate(map(Fraction, cells)))
    database = sp.reference.iid(law, n)
    return sp.reference.privacy_curve(database, lambda rows: tuple(map(rows.count, law)), critical=0)(r)


def laws(cells):
    """Laws of so many cells, none of which is empty."""
    return st.lists(st.integers(1, 9), min_size=cells, max_size=cells).map(
        lambda shares: [Fraction(share, sum(shares)) for share in shares]
    )


# --- histograms ----------------------------------------------------------------------------------


@settings(max_examples=cases(20, campaign=600), deadline=None)
@given(st.integers(2, 4).flatmap(laws), st.integers(1, 4), ratios)
def test_a_histogram_is_what_the_definitions_give(cells, n, r):
    whole = situation([of_cells(cells, n)], n)
    exact = by_definition(cells, n, r)
    assert whole.total_count(r, None) == (exact, exact)
    low, high = whole.total_count(r, 192)
    assert low <= exact <= high < low + CLOSE


@pytest.mark.parametrize("n", [1, 3, 5])
@pytest.mark.parametrize("r", [Fraction(1), Fraction(11, 10), Fraction(3)])
def test_every_law_of_three_cells_of_tenths_is_exact(n, r):
    for first, second in product(range(1, 9), repeat=2):
        if first + second < 10:
            cells = [Fraction(first, 10), Fraction(second, 10), Fraction(10 - first - second, 10)]
            exact = by_definition(cells, n, r)
            assert situation([of_cells(cells, n)], n).total_count(r, None) == (exact, exact)


BOXES = [
    [("0.2", "0.4"), ("0.1", "0.3"), ("0.3", "0.7")],
    [("0.25", "0.25"), ("0.1", "0.6"), ("0.3", "0.4")],
    [("0.3", "0.4"), ("1/3", "1/3"), ("0.2", "0.5")],
    [("0.1", "0.9"), ("0.1", "0.9"), ("0.1", "0.9")],
    [("0.4", "0.6"), ("0.3", "0.7")],
]


@pytest.mark.parametrize("boxes", BOXES)
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("r", [Fraction(1), Fraction(6, 5)])
def test_no_law_in_the_ranges_of_the_cells_exceeds_the_bound(boxes, n, r):
    """And two cells of which both least probabilities can be had attain it."""
    ends = [tuple(map(Fraction, box)) for box in boxes]
    low, bound = situation([of_cells(boxes, n)], n).total_count(r, None)
    assert low == bound
    worst = Fraction(0)
    for some in product(*([least + (most - least) * k / 8 for k in range(9)] for least, most in ends[:-1])):
        last = 1 - sum(some)
        if ends[-1][0] <= last <= ends[-1][1]:
            worst = max(worst, by_definition([*some, last], n, r))
    assert worst <= bound <= worst * Fraction(3, 2)
    if boxes in (BOXES[0], BOXES[3]):
        assert worst == bound


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 4).flatmap(laws), st.integers(2, 2000), st.fractions(0, 1, max_denominator=100), st.data())
def test_a_histogram_agrees_with_the_kernel(cells, n, epsilon, data):
    known = data.draw(st.integers(0, n - 1))
    curve = sp.privacy_curve(sp.HistogramQuery(cells), sp.Population(n), adversary=sp.Adversary(known=known))
    low, high = claims.delta_of(claims.situation_of(_described(curve.situation)), "total-count", epsilon, 192)
    kernel = exact_ends(curve.delta(epsilon))
    assert low <= kernel[1]
    assert kernel[0] <= high
    assert high <= low * Fraction(11, 10) + CLOSE


@pytest.mark.parametrize("boxes", BOXES)
@pytest.mark.parametrize("n", [1, 5, 12])
def test_ranges_of_cells_agree_with_the_kernel_to_the_fraction(boxes, n):
    curve = sp.privacy_curve(sp.HistogramQuery([sp.Between(*box) for box in boxes]), sp.Population(n))
    exact = curve.exact_delta(exp_epsilon="6/5")
    assert situation([of_cells(boxes, n)], n).total_count(Fraction(6, 5), None) == (exact, exact)


@spread("boxes", BOXES, few=2)
def test_the_mean_in_pieces_is_closer_with_more_of_them(boxes):
    whole, r = situation([of_cells(boxes, 300)], 300), Fraction(11, 10)
    exactly, rough, fine = (whole.total_count(r, bits) for bits in (None, 192, 384))
    assert exactly[0] == exactly[1]
    assert rough[0] <= fine[0] <= exactly[0] <= fine[1] <= rough[1]
    assert rough[1] - rough[0] < exactly[0] / 20
    assert fine[1] - fine[0] <= (rough[1] - rough[0]) / 2 + CLOSE


@pytest.mark.parametrize("splits", [0, 3, 50])
def test_the_mean_in_pieces_counts_what_the_law_leaves_out(splits):
    """Of few bits few terms are kept: a value may be one at all that are left out."""
    law = counts.binomial(60, Fraction(1, 3), 8)
    exact = [comb(60, z) * Fraction(1, 3) ** z * Fraction(2, 3) ** (60 - z) for z in range(61)]
    outside = sum(mass for z, mass in enumerate(exact) if z not in law.terms)
    assert outside > Fraction(1, 10**4)
    low, high = histograms._mean(law, lambda z: (Fraction(z > max(law.terms)),) * 2, 60, splits)
    beyond = sum(exact[max(law.terms) + 1 :])
    assert low <= beyond <= high < 20 * outside
    middle = sum(mass for z, mass in enumerate(exact) if z >= 20)
    low, high = histograms._mean(law, lambda z: (Fraction(z >= 20),) * 2, 60, splits)
    assert low <= middle <= high


def table_of_cells(**kwargs):
    ranges = [sp.Between("0.3", "0.4"), "1/3", sp.Between("0.2", "0.5")]
    return sp.privacy_curve(sp.HistogramQuery(ranges, attribute="age"), sp.Population(200), **kwargs)


def beside_a_count():
    queries = [sp.HistogramQuery(["0.2", "0.3", "0.5"]), sp.PropertyQuery(sp.Between("0.4", "0.6"))]
    return sp.compose(queries, sp.Population(300), sp.RandomPartition([150, 100]))


@pytest.mark.parametrize(
    ("curve", "delta", "theorem", "exact"),
    [
        (table_of_cells(), "0.1", "total-count", False),
        (table_of_cells(adversary=sp.Adversary(known=20)), "0.1", "total-count", False),
        (sp.privacy_curve(sp.HistogramQuery(["0.2", "0.3", "0.5"]), sp.Population(200)), "0.2", "total-count", True),
        (table_of_cells(sampling=sp.WithoutReplacement(90)), "0.2", "partition-sum", False),
        (beside_a_count(), "0.2", "partition-sum", False),
    ],
    ids=["ranges", "known rows", "one law", "sample", "beside a count"],
)
def test_histograms_are_certified(curve, delta, theorem, exact):
    certificate = curve.certify(epsilon="0.2", delta=delta)
    assert certificate.theorems == (theorem,)
    verdict = certificate.check()
    assert (verdict.verdict, verdict.exact) == ("proved", exact)
    schema().validate(certificate.document)


def test_histograms_that_cannot_be_certified_are_named():
    cells, people, known = sp.HistogramQuery(["0.2", "0.8"]), sp.Population(20), sp.Adversary(known=1)
    curves = [
        (
            sp.privacy_curve(cells, people, pair=(1, 0)),
            r"pair = \(1, 0\); histograms can be certified for the worst pair",
        ),
        (
            sp.compose([cells], people, sp.RandomPartition([9]), adversary=known),
            r"Adversary\(known=1\) cannot be certified beside a histogram on a part of the entries",
        ),
        (sp.privacy_curve(sp.HistogramQuery([1, 0]), people), "only cells of p strictly between 0 and 1"),
    ]
    for curve, message in curves:
        with pytest.raises(sp.NotAvailableError, match=message):
            curve.certify(epsilon="0.1", delta=1)


def test_a_false_claim_about_one_law_is_refuted():
    curve = sp.privacy_curve(sp.HistogramQuery(["0.2", "0.3", "0.5"]), sp.Population(200))
    with pytest.raises(sp.ArgumentError, match=r"the claim is false, delta\(0\.2\) is at least 0\.0"):
        curve.certify(epsilon="0.2", delta="0.001")


def test_the_stored_values_are_those_of_the_checker():
    stored = json.loads(Path("tests/vectors/histogram_exact.json").read_text("utf-8"))
    for case in stored:
        delta, n = Fraction(*map(int, case["delta"])), case["n"]
        found = situation([of_cells(case["p"], n)], n).total_count(Fraction(case["exp_epsilon"]), None)
        assert found == (delta, delta)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cells": []}, "parts[0].cells: two or more ranges strictly between 0 and 1"),
        ({"cells": of_cells(["1"], 2)["cells"]}, "parts[0].cells: two or more ranges strictly between 0 and 1"),
        ({"cells": of_cells(["0", "1"], 2)["cells"]}, "parts[0].cells: two or more ranges strictly between 0 and 1"),
        (
            {"cells": of_cells(["0.5", "0.6"], 2)["cells"]},
            "parts[0].cells: ranges of probabilities that can sum to one",
        ),
        ({"cells": of_cells([("0.1", "0.2")] * 4, 2)["cells"]}, "ranges of probabilities that can sum to one"),
        ({"cells": of_cells([("0.4", "0.3"), "0.6"], 2)["cells"]}, "parts[0].cells[0]: lower is above upper"),
        ({"attribute": 5}, "parts[0].attribute: a text or null is required"),
        ({"size": 201}, "parts[0].size: a whole number from 1 to 200"),
        ({"gate": None}, "a table with exactly the keys attribute, cells, count, size"),
    ],
)
def test_impossible_histograms_are_refused(change, message):
    document = table_of_cells().certify(epsilon="0.2", delta="0.1").document
    part = document["situation"]["parts"][0]
    with pytest.raises(CertificateError, match=re.escape(message)):
        check(altered(document, ("situation", "parts"), [{**part, **change}]))


def test_theorems_of_counts_say_nothing_of_histograms():
    document = table_of_cells().certify(epsilon="0.2", delta="0.1").document
    for theorem in ("hidden-sample", "composition"):
        with pytest.raises(CertificateError, match="does not apply to the situation"):
            check(altered(document, ("witness", "theorem"), theorem))
    known = situation([of_cells(["1/2", "1/2"], 10)], 20, known=3)
    with pytest.raises(CertificateError, match="does not apply to the situation"):
        claims.theorem("partition-sum", known)
    with pytest.raises(CertificateError, match=re.escape("situation.pair: null is required")):
        check(altered(document, ("situation", "pair"), [1, 0]))


def test_one_attribute_has_one_law():
    parts = [of_cells(["0.5", "0.5"], 10, attribute="a"), of_cells(["0.4", "0.6"], 10, attribute="a")]
    with pytest.raises(CertificateError, match="one attribute has two different probabilities"):
        situation(parts, 20)


def test_histograms_that_would_be_computed_for_hours_are_refused_at_once():
    with pytest.raises(TooLargeError, match="too many large parts differ"):
        claims.delta_of(situation([of_cells(["1/2", "1/2"], 2**30)], 2**31), "partition-sum", Fraction(1, 10), 192)
    with pytest.raises(TooLargeError, match="too many pairs of cells of a large histogram matter"):
        claims.delta_of(situation([of_cells(["1/2", "1/2"], 2**30)], 2**30), "total-count", Fraction(1, 10), 192)
    # Of later cells the least probability is larger, and the least sum with another one smaller: all pairs matter.
    apart = [(Fraction(500 + k, 10**5), Fraction(1007 - k, 10**5)) for k in range(-50, 50)]
    for cells, message in [
        ([Fraction(1, 257)] * 257, "a histogram has more than 256 cells"),
        (apart, "too many pairs of cells of a large histogram matter"),
    ]:
        with pytest.raises(TooLargeError, match=message):
            claims.delta_of(situation([of_cells(cells, 300)], 300), "total-count", Fraction(1, 10), 192)
    with pytest.raises(TooLargeError, match="the exact fractions would be too many"):
        claims.delta_of(situation([of_cells(["0.1", "0.2", "0.7"], 3000)], 3000), "total-count", Fraction(0), None)


# --- groups --------------------------------------------------------------------------------------


def two_groups(p, known=0, bound="tightest"):
    queries = [sp.PropertyQuery(p, attribute="a"), sp.PropertyQuery({"f": "1/2", "m": "0.4"})]
    partition = sp.RandomPartition([{"f": 60, "m": 40}, {"f": 30, "m": 50}])
    population = sp.Population(groups={"f": 100, "m": 90})
    return sp.compose(queries, population, partition, adversary=sp.Adversary(known=known), bound=bound)


RANGES = {"f": sp.Between("0.4", "0.6"), "m": sp.Between("0.3", "0.6")}


@pytest.mark.parametrize("known", [0, 5])
@pytest.mark.parametrize("p", [RANGES, {"f": "0.4", "m": "0.3"}])
def test_groups_are_certified_one_by_one(p, known):
    certificate = two_groups(p, known).certify(epsilon="0.5", delta="0.3")
    document, verdict = certificate.document, certificate.check()
    assert (verdict.verdict, verdict.exact) == ("proved", False)
    assert [group["situation"]["population"] for group in document["groups"].values()] == [100, 90]
    assert all(group["situation"]["known_rows"] == known for group in document["groups"].values())
    of_each = [check(group).delta for group in document["groups"].values()]
    assert verdict.delta == tuple(map(max, zip(*of_each, strict=True)))
    schema().validate(document)


@spread("r", [Fraction(11, 10), Fraction(2), Fraction(1)], few=2)
@pytest.mark.parametrize(
    ("parts", "laws"),
    [
        ([{"f": 1, "m": 1}, {"f": 1, "m": 1}], [{"f": "1/2", "m": "1/3"}, {"f": "1/5", "m": "1/2"}]),
        ([{"f": 2, "m": 1}, {"m": 1}], [{"f": "2/5", "m": "1/3"}, {"f": "2/5", "m": "1/3"}]),
        ([{"f": 2, "m": 2}], [{"f": "1/2", "m": "9/10"}]),
    ],
)
def test_the_worst_group_bounds_all_groups_together(parts, laws, r):
    """By the definitions: every database, every partition by group, each entry as the critical one."""
    group_of, properties = "ffmmm", range(len(laws))
    database = sp.reference.Database(
        {
            values: prod(chances[k] if value else 1 - chances[k] for k, value in enumerate(values))
            for values in product((0, 1), repeat=len(laws))
        }
        for chances in ([Fraction(law[group]) for law in laws] for group in group_of)
    )
    families = sp.reference.stratified_partitions(group_of, parts, ordered=False)
    asked = [lambda rows, k=k: sum(row[k] for row in rows) for k in properties]
    truth = max(sp.reference.privacy_curve(database, asked, families, critical=j, known=())(r) for j in (0, 2))
    bounds = []
    for group, rows in (("f", 2), ("m", 3)):
        counted = [
            {"probability": {"lower": law[group], "upper": law[group]}, "size": part[group], "count": 1}
            | {"attribute": None, "gate": None}
            for part, law in zip(parts, laws, strict=True)
            if group in part
        ]
        bounds.append(situation(counted, rows).partition_sum(r, None)[1])
    assert truth <= max(bounds)
    queries = [sp.PropertyQuery(law) for law in laws]
    population, partition = sp.Population(groups={"f": 2, "m": 3}), sp.RandomPartition(parts)
    alone = sp.compose(queries, population, partition, bound="own-group").exact_delta(exp_epsilon=r)
    assert truth <= alone <= max(bounds)
    for known in (1, 3) if r == 2 else ():
        worst = sp.reference.privacy_curve(database, asked, families, known=known)(r)
        adversary = sp.Adversary(known=known)
        bound = sp.compose(queries, population, partition, adversary=adversary, bound="own-group")
        assert worst <= Fraction(bound.delta(log(r) * (1 - 1e-14)).upper)


def test_ranges_of_groups_are_bounded_by_the_worst_group_alone():
    """By hand: each group is a population of its own, and the sum over the parts is far above it."""
    curve = two_groups(RANGES)
    alone = [
        sp.compose(
            [sp.PropertyQuery(RANGES[group], attribute="a"), sp.PropertyQuery(p)],
            sp.Population(rows),
            sp.RandomPartition(sizes),
        ).delta("0.5")
        for group, rows, sizes, p in (("f", 100, [60, 30], "1/2"), ("m", 90, [40, 50], "0.4"))
    ]
    assert curve.delta("0.5").upper == max(delta.upper for delta in alone)
    stated = two_groups(RANGES, bound="partition-sum").delta("0.5")
    assert curve.delta("0.5").upper < stated.lower / 5


@pytest.mark.parametrize(
    ("query", "sizes", "message"),
    [
        (sp.PropertyQuery("1/2"), 9, "the partition is not stratified by group"),
        (sp.PropertyQuery(sp.Between("0.4", "0.6")).gated(3, 6), {"f": 9}, "leave the gate out"),
        (sp.SumQuery({0: "1/2", 2: "1/2"}).clamped(upper=9), {"f": 9}, "only counts and histograms are bounded"),
    ],
    ids=["not stratified", "gate", "sum"],
)
def test_what_the_own_group_alone_does_not_bound(query, sizes, message):
    people = sp.Population(groups={"f": 12, "m": 5})
    with pytest.raises(sp.NotAvailableError, match=message):
        sp.compose([query], people, sp.RandomPartition([sizes]), bound="own-group").delta("0.1")


def test_a_group_of_which_no_row_is_used_has_no_certificate_and_needs_none():
    partition = sp.RandomPartition([{"f": 60}])
    curve = sp.compose([sp.PropertyQuery(RANGES)], sp.Population(groups={"f": 100, "m": 90}), partition)
    assert list(curve.certify(epsilon="0.5", delta="0.3").document["groups"]) == ["f"]


def test_all_known_rows_may_be_in_one_group():
    partition = sp.RandomPartition([{"f": 60, "m": 4}])
    curve = sp.compose(
        [sp.PropertyQuery(RANGES)],
        sp.Population(groups={"f": 100, "m": 5}),
        partition,
        adversary=sp.Adversary(known=9),
    )
    document = curve.certify(epsilon="0.5", delta="0.9").document
    assert [group["situation"]["known_rows"] for group in document["groups"].values()] == [9, 4]


def test_a_count_with_one_law_a_group_is_certified_group_by_group():
    people = sp.Population(groups={"f": 200, "m": 100})
    curve = sp.privacy_curve(sp.PropertyQuery({"f": "0.4", "m": "0.5"}), people)
    document = curve.certify(epsilon="0.2", delta="0.1").document
    assert [group["witness"]["theorem"] for group in document["groups"].values()] == ["total-count"] * 2
    cells = sp.privacy_curve(sp.HistogramQuery({"f": ["0.4", "0.6"], "m": ["0.5", "0.5"]}), people)
    with_cells = cells.certify(epsilon="0.2", delta="0.1").document
    assert [len(group["situation"]["parts"][0]["cells"]) for group in with_cells["groups"].values()] == [2, 2]


def test_releases_of_groups_are_not_added_up():
    curve = two_groups(RANGES)
    both = RepeatedReleases((Cohort(400),), (curve, curve))
    with pytest.raises(sp.NotAvailableError, match="only where none is stated by group"):
        both.certify(epsilon="0.5", delta="0.9")


def test_a_group_that_misses_refutes_nothing():
    with pytest.raises(sp.NotAvailableError, match="the group 'm' by itself: delta = 1/100 at epsilon = 1/2 cannot be"):
        two_groups(RANGES).certify(epsilon="0.5", delta="0.01")


def test_groups_that_do_not_fit_together_are_refused():
    document = two_groups(RANGES).certify(epsilon="0.5", delta="0.3").document
    for value in ({}, []):
        with pytest.raises(CertificateError, match="groups: a table with at least one is required"):
            check({**document, "groups": value})
    other = two_groups(RANGES).certify(epsilon="0.6", delta="0.3").document["groups"]["m"]
    with pytest.raises(CertificateError, match=re.escape('groups["m"] does not prove a claim of the same epsilon')):
        check(altered(document, ("groups", "m"), other))
    less = restated(document["groups"]["m"], Fraction(1, 1000))
    with pytest.raises(CertificateError, match=re.escape('groups["m"] does not prove a claim of the same epsilon')):
        check(altered(document, ("groups", "m"), less))
    assert check(altered(document, ("claim", "delta"), "0.01")).verdict == "undecided"
    for place in ([], None):
        with pytest.raises(CertificateError):
            check(altered(document, ("groups", "m"), place))


@pytest.mark.parametrize("curve", [beside_a_count(), two_groups(RANGES)], ids=["histogram", "groups"])
def test_it_decides_them_as_a_folder_far_from_the_package(tmp_path, curve):
    path = tmp_path / "certificate.json"
    path.write_text(str(curve.certify(epsilon="0.5", delta="0.3")), encoding="utf-8")
    copied = shutil.copytree(FOLDER, tmp_path / "copied", ignore=shutil.ignore_patterns("__pycache__"))
    done = run(["-I", str(copied)], path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("proved: (epsilon, delta) = (0.5, 0.3) for ")


@pytest.mark.parametrize(
    "document",
    [
        # Half a minute for the two: what a histogram says is in the groups too.
        pytest.param(table_of_cells().certify(epsilon="0.2", delta="0.1").document, marks=pytest.mark.campaign),
        pytest.param(beside_a_count().certify(epsilon="0.2", delta="0.2").document, marks=pytest.mark.campaign),
        two_groups(RANGES).certify(epsilon="0.5", delta="0.3").document,
    ],
    ids=["histogram", "beside a count", "groups"],
)
def test_every_alteration_is_found_unless_what_it_says_is_true_as_well(document):
    found, passed = unnoticed_alterations(document)
    assert found > 80
    assert len(passed) <= 20
