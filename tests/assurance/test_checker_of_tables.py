"""The checker on exact tables with a minimum count: by stored values, by the definition, and under every alteration."""

import json
import re
from fractions import Fraction
from functools import cache, partial
from math import comb
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv.assurance.checker import CertificateError, TooLargeError, check, counts, stages, tables
from statpriv.assurance.checker import certificate as claims
from statpriv.files.claims import read_claims
from statpriv.numeric.digits import exact_ends

from ..cases import cases, spread
from .test_checker import FOLDER, altered, restated, run, schema

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "tables.json").read_text("utf-8"))["minimum_count"]
ratios = st.fractions(min_value=1, max_value=20, max_denominator=40)


def rule(*minima, known=0):
    return claims.situation_of({"minima": [list(pair) for pair in minima], "known_rows": known})


def ten(known=0, delta="8.5e-6", minimum=10):
    return sp.minimum_count_curve(minimum, known=known).certify(epsilon=2, delta=delta).document


def verdict_on(document):
    try:
        return check(document).verdict
    except CertificateError:
        return "refused"


# --- the bound -----------------------------------------------------------------------------------


@pytest.mark.parametrize("stored", VECTORS[::3], ids=lambda stored: "{minimum}-{known}-{exp_epsilon}".format(**stored))
def test_stored_values_are_within_the_bounds_and_those_are_narrow(stored):
    expected, minimum = Fraction(stored["bound"]), stored["minimum"]
    last = Fraction(1, 10**37)  # of the digits that are stored
    low, high = rule((minimum, minimum), known=stored["known"]).bound(Fraction(stored["exp_epsilon"]), 1024)
    assert low <= expected * (1 + last)
    assert expected * (1 - last) <= high
    assert high - low <= expected / 10**100


def height(k, l, r):  # noqa: E741
    """h(k, l) by its definition, with every term of the law."""
    if k < 1 or l < 1:
        return Fraction(1)
    n, p = k + l, Fraction(k) / (k + l * r)
    law = [comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(n + 1)]
    return sum(law[k:]) - r * sum(law[k + 1 :])


@settings(deadline=None)
@given(st.integers(2, 9), st.integers(2, 9), st.integers(0, 9), ratios)
def test_two_ends_are_the_worst_of_all_splits_of_the_known_entries(first, second, known, r):
    low, high = rule((min(first, second), max(first, second)), known=known).bound(r, None)
    assert low == high
    splits = [(v, w) for v in range(known + 1) for w in range(known + 1 - v)]
    worst = Fraction(0)
    for v, w in splits:
        for a, b in ((first - v, second - w), (second - v, first - w)):
            if min(a, b) >= 1:
                worst = max(worst, height(a - 1, b, r), height(a, b - 1, r))
    assert low == (worst if known < min(first, second) - 1 else 1)


def published(rows, cells, minimum):
    """The exact table, if every cell holds the minimum."""
    found = tuple(map(rows.count, cells))
    return found if min(found) >= minimum else None


@pytest.mark.parametrize("n", [4, 5, 6, 7])
@pytest.mark.parametrize("known", [0, 1])
def test_no_law_of_two_or_three_cells_exceeds_the_bound_by_the_definition(n, known):
    r, minimum, worst = Fraction(3, 2), 2 + known, Fraction(0)
    bound, _ = rule((minimum, minimum), known=known).bound(r, None)
    for law in ([1, 1], [1, 2], [1, 5], [2, 1, 1], [1, 1, 1]):
        if len(law) * minimum > n or (len(law) == 3 and n > 6):
            continue
        chances = {cell: Fraction(share, sum(law)) for cell, share in enumerate(law)}
        database = sp.reference.iid(chances, n)
        truth = sp.reference.privacy_curve(
            database, lambda rows, cells=chances: published(rows, cells, minimum), critical=0, known=known
        )(r)
        worst = max(worst, truth)
    assert worst <= bound
    if n == 2 * minimum:
        assert bound <= 2 * worst


@settings(max_examples=cases(30, campaign=400), deadline=None)
@given(st.integers(2, 300), st.integers(0, 20), st.fractions(0, 3, max_denominator=100))
def test_the_kernel_agrees(minimum, known, epsilon):
    low, high = claims.delta_of(rule((minimum, minimum), known=known), "minimum-count", epsilon, 3000)
    kernel = exact_ends(sp.minimum_count_curve(minimum, known=known).delta(epsilon, digits=20))
    assert low <= kernel[1]
    assert kernel[0] <= high
    assert kernel[1] - kernel[0] <= high / 10**15


def test_the_worst_class_counts_and_its_two_least_minima():
    r = Fraction(2)
    alone = [rule(pair).bound(r, None)[0] for pair in ((5, 9), (7, 7))]
    assert rule((5, 9), (7, 7)).bound(r, None)[0] == max(alone)
    assert rule((5, 10)).bound(r, None)[0] < alone[0] < rule((5, 8)).bound(r, None)[0]


# --- ladders and trees ---------------------------------------------------------------------------


def test_a_split_by_one_exponential_variable_has_the_curves_of_its_formula():
    """E(1 − rK)_+ = 1 − r + r e^(−1/r), and E(K − r)_+ = e^(−r)."""
    for r in (Fraction(1), Fraction(3, 2), Fraction(7), Fraction(1000)):
        inverse, power = counts.exponential(1 / r, 300), counts.exponential(r, 3000)
        rare, frequent = (stages.further_split(1, r, 300, exchanged=exchanged) for exchanged in (False, True))
        assert 0 <= rare - (1 - r + r / inverse[1]) < Fraction(1, 10**60)
        assert 0 <= frequent - 1 / power[1] < Fraction(1, 10**60)


@given(st.integers(2, 40), ratios)
@settings(deadline=None, max_examples=cases(10, campaign=100))
def test_a_split_is_what_an_unending_cell_with_a_minimum_would_tell(k, r):
    """Both orders are limits of heights, which fall: h(k, l) and h(l, k) for l → ∞."""
    for exchanged in (False, True):
        found = stages.further_split(k, r, 200, exchanged=exchanged)
        height = tables.height(*((10**5, k) if exchanged else (k, 10**5)), r, 200)[1]
        assert found <= height <= found + Fraction(1, 1000)


@given(st.integers(1, 30), st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=60))
@settings(deadline=None, max_examples=cases(10, campaign=100))
def test_masses_on_a_lattice_are_above_the_curve_everywhere_and_close_to_it(k, r):
    def curve(at, *, exchanged=False):
        if at < 1:  # from that of the other order
            return 1 - at + at * curve(1 / at, exchanged=not exchanged)
        return stages.further_split(k, at, 300, exchanged=exchanged)

    lattice = stages.Lattice.until(5, 200)
    values = [lattice.values(partial(curve, exchanged=exchanged)) for exchanged in (False, True)]
    losses, one = lattice.masses(*values), 1 << lattice.bits
    ratios = (
        Fraction(lattice.at(j)[0], one) if abs(j) <= lattice.reach else None
        for j in range(losses.first, losses.first + len(losses.masses))
    )
    expression = losses.infinite + sum(
        mass * max(0, 1 - r / ratio) for mass, ratio in zip(losses.masses, ratios, strict=True)
    )
    assert -one / 10**60 <= expression - curve(r) * one <= one / 1000
    assert sum(losses.masses) + losses.infinite >= one
    if r >= 1:
        assert lattice.stop_loss(losses, r) * one == pytest.approx(float(expression), rel=1e-12)


def test_a_product_of_masses_is_that_of_every_pair():
    one, two = stages.Losses(-1, [8, 16, 24], 5), stages.Losses(2, [48, 0, 32], 7)
    expected = [0] * 5
    for j, mass in enumerate(one.masses):
        for k, other in enumerate(two.masses):
            expected[j + k] += mass * other
    found = one.then(two, 3)
    assert (found.first, found.masses) == (1, [-(-mass >> 3) for mass in expected])
    assert found.infinite == -(-(5 * (48 + 32 + 7) + 7 * 48) >> 3)


@cache
def certified_tree():
    return tree().certify(epsilon=2, delta="0.00073")


def tree(minimum=10, depth=2, known=0):
    dimensions = {f"d{level}": ["0", "1"] for level in range(depth)}
    table = sp.ContingencyTable(dimensions, minimum=minimum, nested=True)
    return sp.privacy_curve(table, sp.Population(5000), adversary=sp.Adversary(known=known))


@spread("minimum, depth, known, epsilon", [(10, 4, 0, 1), (10, 2, 0, 2), (40, 3, 0, "1/4"), (12, 3, 3, 2)], few=2)
def test_the_kernel_composes_the_same_bound_of_a_tree(minimum, depth, known, epsilon):
    stated = claims.situation_of({"minima": [[minimum, minimum]], "depth": depth, "known_rows": known})
    low, high = claims.delta_of(stated, "stages", Fraction(epsilon), 220)
    kernel = tree(minimum, depth, known).delta(epsilon).upper
    assert low < kernel < high * Fraction(1001, 1000)
    assert high < Fraction(kernel) * Fraction(1001, 1000)


def test_no_law_of_a_tree_of_three_leaves_exceeds_the_bound_by_the_definition():
    law = {"v": Fraction(14, 1000), "s": Fraction(851, 1000), "w": Fraction(135, 1000)}
    ratio = Fraction(201, 10)
    reached = sp.reference.table_curve(law, 8, minimum=2, tree=["v", ["s", "w"]])(ratio)
    assert rule((2, 2)).bound(ratio, 200)[1] < reached <= stages.refined((2, 2), 2, 0, ratio, 200)[1]


def test_a_ladder_and_a_tree_of_as_many_levels_have_one_certificate():
    ages = [f"{start}-{start + 9}" for start in range(20, 60, 10)]
    recode = {"age": [[ages[:2], ages[2:]]]}
    table = sp.ContingencyTable({"region": ["n", "s"], "age": ages}, minimum=10, recode=recode)
    ladder = sp.privacy_curve(table, sp.Population(5000)).certify(epsilon=2, delta="0.00073")
    assert ladder.document["situation"] == {"minima": [[10, 10]], "depth": 2, "known_rows": 0}
    assert ladder.theorems == ("stages",)
    assert str(ladder) == str(certified_tree())
    assert ladder.check().verdict == "proved"
    schema().validate(ladder.document)


@pytest.mark.campaign  # alone it notices that no finer lattice follows
def test_a_closer_claim_of_a_tree_is_proved_on_a_finer_lattice():
    delta = Fraction(tree(5).delta(1).upper)
    stated = claims.situation_of({"minima": [[5, 5]], "depth": 2, "known_rows": 0})
    coarse = claims.delta_of(stated, "stages", Fraction(1), 200)[1]
    assert delta < coarse < delta * Fraction(1001, 1000)
    assert tree(5).certify(epsilon=1, delta=delta).theorems == ("stages",)  # proved before it is returned


def test_a_tree_on_a_part_is_certified_beside_other_answers():
    dimensions = {"a": ["x", "y"], "b": ["u", "v"]}
    queries = [sp.ContingencyTable(dimensions, minimum=10, nested=True), sp.PropertyQuery("1/2")]
    curve = sp.compose(queries, sp.Population(5000), sp.RandomPartition([3000, 2000]), bound="partition-sum")
    certificate = curve.certify(epsilon=2, delta="0.00044")
    assert certificate.document["situation"]["parts"][0]["depth"] == 2
    assert certificate.check().verdict == "proved"
    schema().validate(certificate.document)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("situation", "depth"), 3),
        (("situation", "minima"), [[9, 10]]),
        (("situation", "known_rows"), 2),
        (("claim", "epsilon"), "1.9"),
        (("claim", "delta"), "0.0007"),
        (("witness", "theorem"), "minimum-count"),
        (("witness", "delta", "upper"), "0.0000001"),
        (("witness", "margin", "lower"), "0"),
    ],
    ids=lambda part: ".".join(part) if isinstance(part, tuple) else "",
)
def test_an_alteration_of_a_tree_is_refused_or_undecided(path, value):
    found = verdict_on(altered(certified_tree().document, path, value))
    assert found != "proved"
    assert found == "refused" or path[0] != "witness"


@pytest.mark.parametrize("depth", [1, 51, 2.0, None])
def test_a_depth_that_is_none_is_refused(depth):
    document = certified_tree().document
    with pytest.raises(CertificateError, match="depth: a whole number from 2 to 50"):
        check(altered(document, ("situation", "depth"), depth))


# --- on parts ------------------------------------------------------------------------------------


def on_parts(*parts, population, known=0):
    read = [{"minima": minima, "size": size, "count": 1, "attribute": None} for minima, size in parts]
    return claims.situation_of({"population": population, "known_rows": known, "parts": read, "pair": None})


@pytest.mark.parametrize("known", [0, 1, 3])
def test_tables_on_parts_cost_their_share_averaged_over_the_known_entries_in_them(known):
    r, n, sizes = Fraction(2), 12, (7, 4)
    situation = on_parts(([[3, 4]], 7), ([[2, 2]], 4), population=n, known=known)
    mean = Fraction(0)
    for size, pair in zip(sizes, ((3, 4), (2, 2)), strict=True):
        for z in range(known + 1):
            ways = Fraction(comb(known, z) * comb(n - 1 - known, size - 1 - z), comb(n - 1, size - 1))
            mean += Fraction(size, n) * ways * rule(pair, known=z).bound(r, None)[0]
    assert situation.partition_sum(r, None) == (mean, mean)


def test_the_sum_over_parts_bounds_what_the_definition_gives():
    r = Fraction(5, 4)
    asked = [lambda rows: published(rows, (0, 1), 2), sum]
    parts = sp.reference.partitions(6, [4, 1])
    for p in (Fraction(1, 2), Fraction(1, 3)):
        database = sp.reference.iid({0: 1 - p, 1: p}, 6)
        truth = sp.reference.privacy_curve(database, asked, parts, critical=0)(r)
        counted = {"probability": {"lower": str(p), "upper": str(p)}, "gate": None}
        of_count = {**counted, "size": 1, "count": 1, "attribute": None}
        of_table = {"minima": [[2, 2]], "size": 4, "count": 1, "attribute": None}
        stated = {"population": 6, "known_rows": 0, "parts": [of_table, of_count], "pair": None}
        assert truth <= claims.situation_of(stated).partition_sum(r, None)[1]


@pytest.mark.parametrize("theorem", ["total-count", "hidden-sample", "composition", "minimum-count"])
def test_other_theorems_say_nothing_of_tables_on_parts(theorem):
    with pytest.raises(CertificateError, match="does not apply"):
        claims.theorem(theorem, on_parts(([[3, 4]], 12), population=12))


@pytest.mark.parametrize("theorem", ["total-count", "hidden-sample", "composition", "partition-sum"])
def test_other_theorems_say_nothing_of_a_rule(theorem):
    with pytest.raises(CertificateError, match="does not apply to a rule for tables"):
        claims.theorem(theorem, rule((3, 4)))


# --- certificates --------------------------------------------------------------------------------


def by_class(**kwargs):
    dimensions = {"region": ["n", "s", "w"], "age": ["<30", "30+", "?"]}
    impossible = [("w", "30+"), ("w", "?")]
    table = sp.ContingencyTable(dimensions, minimum={"default": 12, ("n", "?"): 7}, by="region", impossible=impossible)
    return sp.privacy_curve(table, kwargs.pop("population", sp.Population(800)), **kwargs)


@pytest.mark.parametrize(
    ("curve", "minima"),
    [
        (sp.minimum_count_curve(10), [[10, 10]]),
        (sp.privacy_curve(sp.ContingencyTable(12, minimum=10), sp.Population(5000)), [[10, 10]]),
        (sp.privacy_curve(sp.ContingencyTable(3, minimum={0: 20, 1: 10, 2: 30}), sp.Population(500)), [[10, 20]]),
        (by_class(), [[7, 12], [12, 12]]),
        (by_class(population=sp.Population(groups={"n": 300, "s": 300, "w": 200})), [[7, 12], [12, 12]]),
    ],
    ids=["the rule", "one minimum", "minima by cell", "by class", "by class with groups"],
)
def test_tables_are_certified_by_the_two_least_minima_of_each_class(curve, minima):
    certificate = curve.certify(epsilon=2, delta="0.01")
    assert certificate.document["situation"] == {"minima": minima, "known_rows": 0}
    assert certificate.theorems == ("minimum-count",)
    verdict = certificate.check()
    assert (verdict.verdict, verdict.exact) == ("proved", False)
    schema().validate(certificate.document)


def test_a_certificate_far_below_the_doubles_is_proved():
    document = sp.minimum_count_curve(1000, known=3).certify(epsilon=3, delta="1e-600").document
    assert check(document).verdict == "proved"
    assert check(restated(document, Fraction(1, 10**1000))).verdict == "undecided"


def test_known_rows_that_fill_a_cell_but_for_one_leave_nothing():
    low, high = check(ten(known=9, delta=1)).delta
    assert 1 - Fraction(1, 10**50) < low <= high == 1
    with pytest.raises(sp.NotAvailableError, match="minimum-count gives 1"):
        ten(known=9, delta="0.999")


def test_a_bound_that_misses_is_undecided_and_never_refuted():
    with pytest.raises(sp.NotAvailableError, match=r"which does not refute it: of the theorems .* minimum-count gives"):
        ten(delta="8.4e-6")
    assert check(restated(ten(), Fraction("8.4e-6"))).verdict == "undecided"


def test_a_certificate_runs_far_from_the_package(tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(ten()), encoding="utf-8")
    done = run(["-I", str(FOLDER)], path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(
        'proved: (epsilon, delta) = (2, 0.0000085) for {"minima": [[10, 10]], "known_rows": 0}\n'
        "an upper bound of delta is from "
    )


def test_what_cannot_be_certified_is_named():
    lonely = sp.ContingencyTable({"a": ["x", "y"]}, minimum=5, by="a")
    sampled = sp.WithoutReplacement(90)
    for make, message in [
        (lambda: by_class(pair=(("n", "<30"), ("n", "30+"))), "exact tables can be certified for the worst pair"),
        (
            lambda: by_class(
                adversary=sp.Adversary(known={"n": 1}), population=sp.Population(groups={"n": 300, "s": 300, "w": 200})
            ),
            "known",
        ),
        (lambda: sp.privacy_curve(lonely, sp.Population(50)), "every class has one cell alone"),
        (
            lambda: sp.privacy_curve(sp.ContingencyTable(3, minimum=5), sp.Population(100), sampling=sampled),
            "Sampl|sampl",
        ),
    ]:
        with pytest.raises(sp.NotAvailableError, match=message):
            make().certify(epsilon=1, delta="0.5")


ALTERED = [
    (("situation", "minima"), [[9, 10]]),
    (("situation", "minima"), [[10, 10], [9, 9]]),
    (("situation", "known_rows"), 1),
    (("claim", "epsilon"), "1.99"),
    (("claim", "delta"), "0.0000084"),
    (("witness", "theorem"), "partition-sum"),
    (("witness", "delta", "upper"), "0.0000085"),
    (("witness", "margin", "lower"), "0"),
    (("format",), "statpriv certificate 2"),
]


@pytest.mark.parametrize(("path", "value"), ALTERED, ids=lambda part: ".".join(part) if isinstance(part, tuple) else "")
def test_an_alteration_is_refused_or_undecided(path, value):
    found = verdict_on(altered(ten(), path, value))
    assert found != "proved"
    assert found == "refused" or path == ("claim", "delta")  # the margin would have to be altered, too


@pytest.mark.parametrize(
    ("situation", "message"),
    [
        ({"minima": []}, "situation.minima: a list of 1 to 1024 pairs of minima is required"),
        ({"minima": [[10, 10]] * 1025}, "situation.minima: a list of 1 to 1024 pairs"),
        ({"minima": [[10]]}, "situation.minima[0]: the two least minima of the cells of a class are required"),
        ({"minima": [[1, 10]]}, "situation.minima[0]: a whole number from 2 to"),
        ({"minima": [[10, 9]]}, "situation.minima[0]: a whole number from 10 to"),
        ({"minima": [[10.0, 10]]}, "situation.minima[0]: a whole number"),
        ({"minima": 10}, "situation.minima: a list"),
        ({"known_rows": -1}, "situation.known_rows: a whole number from 0 to"),
        ({"population": 5}, "situation: a table with exactly the keys known_rows, minima is required"),
    ],
)
def test_what_is_no_rule_is_refused(situation, message):
    document = ten()
    with pytest.raises(CertificateError, match=re.escape(message)):
        check(altered(document, ("situation",), {**document["situation"], **situation}))


def test_a_rule_states_no_entries_and_is_no_part_of_several_releases():
    releases = {
        "format": claims.FORMAT,
        "claim": {"epsilon": "2", "delta": "0.1"},
        "cohorts": [{"rows": 100, "joined_after": 0}],
        "releases": [ten()],
    }
    with pytest.raises(CertificateError, match="each has to state its entries, which a rule for tables does not"):
        check(releases)


def test_what_would_be_computed_for_hours_is_refused_at_once():
    for minima in ([[2**40, 2**41]], [[2**20, 2**20 + k] for k in range(1000)]):
        with pytest.raises(TooLargeError):
            claims.delta_of(rule(*minima), "minimum-count", Fraction(1, 10), 192)
    assert tables.Table(((10, 10),), 1, 1, None).cost(0) < counts.MOST_COSTS
    deep = claims.situation_of({"minima": [[3000, 3000]], "depth": 50, "known_rows": 0})
    with pytest.raises(TooLargeError):
        claims.delta_of(deep, "stages", Fraction(1, 10), 192)
    often = {"minima": [[10, 10]], "depth": 3, "size": 3000, "count": 1, "attribute": None}
    known = {"population": 5000, "known_rows": 500, "parts": [often], "pair": None}
    with pytest.raises(TooLargeError):
        claims.delta_of(claims.situation_of(known), "partition-sum", Fraction(1, 10), 192)


# --- claims --------------------------------------------------------------------------------------


def test_a_claims_file_states_the_rule_alone(tmp_path):
    path = tmp_path / "claims.toml"
    path.write_text(
        "[[claim]]\nname = 'ten'\nepsilon = 2\ndelta = 8.5e-6\nminimum = 10\n"
        "[[claim]]\nepsilon = 1\ndelta = 8.8e-6\nminimum = 30\n"
        "[[claim]]\nepsilon = 2\ndelta = 2.5e-4\nminimum = 10\nknown_rows = 3\n"
        "[[claim]]\nepsilon = 2\ndelta = 8.4e-6\nminimum = 10\n",
        encoding="utf-8",
    )
    found = sp.verify(path)
    assert [finding.verdict for finding in found] == ["proved", "proved", "proved", "undecided"]
    assert found[0].claim == sp.Claim(sp.minimum_count_curve(10), epsilon=2, delta="8.5e-6", name="ten")
    assert found[2].certificate().document["situation"] == {"minima": [[10, 10]], "known_rows": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("minimum = 1", "line 1: claim[1]: minimum = 1; an integer from 2 to 2^53 is required"),
        ("minimum = 10\npopulation = 5", "line 5: claim[1].population: no such key"),
        ("minimum = 10\nprobability = 0.5", "one of part, probability, query, minimum, report is required"),
    ],
)
def test_a_claim_that_is_no_rule_is_refused_with_its_line(tmp_path, text, message):
    path = tmp_path / "claims.toml"
    path.write_text(f"[[claim]]\nepsilon = 2\ndelta = 1e-6\n{text}\n", encoding="utf-8")
    with pytest.raises(sp.ArgumentError, match=re.escape(message)):
        read_claims(path)
