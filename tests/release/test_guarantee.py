"""The certificate of a plan: which steps it makes use of, what it relies on, and what leaks would do to it."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

import statpriv as sp
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import PlanError
from statpriv.files.composition import read_composition
from statpriv.releasing import contents as contents_module
from statpriv.releasing.contents import prospective_contents
from statpriv.releasing.guarantee import Guarantee, certify
from statpriv.releasing.history import as_first_release
from statpriv.releasing.leaks import block, leaks
from statpriv.releasing.plan_file import load_plan
from statpriv.releasing.report import validate

HALF = '["0.4", "0.6"]'


def counted(where, *, rows=None, share=None, probability=HALF, more=""):
    size = f"rows = {rows}" if rows is not None else f'share = "{share}"'
    return (
        f'[[query]]\nname = "{where}"\nwhere = "{where}"\nprobability = {probability}\nsource = "s"\n{size}\n{more}\n'
    )


HISTOGRAM = """
[[query]]
name = "Age"
source = "census"
rows = 236
[[query.cell]]
name = "young"
where = "age < 30"
probability = "0.2"
[[query.cell]]
name = "old"
where = "age >= 60"
probability = "0.5"
"""


@pytest.fixture
def certified(tmp_path):
    """The guarantee of a plan of these queries."""

    def certified(*queries, n=944, known=0, publication="", group=None, groups=None, epsilon="0.1"):
        data = f'group = "{group}"\ngroup_source = "census"' if group else ""
        plan = tmp_path / "plan.toml"
        plan.write_text(
            f'[data]\nsource = "a.csv"\nrow_id = "id"\n{data}\n[publication]\n{publication}\n'
            f"[guarantee]\nepsilon = {epsilon}\ndelta = 1\nknown_rows = {known}\n{''.join(queries)}",
            encoding="utf-8",
        )
        return certify(load_plan(plan), n, groups)

    return certified


def contents(guarantee):
    alone = prospective_contents(guarantee, rows_left=guarantee.rows, dry_run=True, progress=lambda _step: None)
    made = as_first_release(alone, guarantee)
    validate(made)
    return made


def recomputed(tmp_path, guarantee):
    """What `statpriv compose report.json` says of the report: δ again, and where it disagrees."""
    path = tmp_path / "report.json"
    path.write_text(json.dumps(contents(guarantee)), encoding="utf-8")
    report = read_composition(path)
    delta = report.composition.curve().delta(report.composition.epsilon)
    return delta, report.disagreements


# --- gates ----------------------------------------------------------------------------------------


def test_a_gated_count_is_certified_for_every_probability(certified):
    guarantee = certified(counted("a = 1", rows=472), publication="gate = true")
    (alone,) = guarantee.deltas(known=0, epsilon=Fraction(1, 10))
    assert 0.00836066 < alone.lower <= alone.upper < 0.00836067
    assumptions = contents(guarantee)["guarantee"]["assumptions"]
    assert any("every declared probability may be wrong" in text for text in assumptions)


@pytest.mark.usefixtures("computed_once")
def test_what_is_not_protected_does_not_contradict_the_assumptions(certified):
    gated, plain = (
        contents(certified(counted("a = 1", rows=472), publication=text))["guarantee"]["not_protected"]
        for text in ("gate = true", "")
    )
    assert not any("a wrong probability" in text for text in gated)
    assert any("a wrong probability" in text for text in plain)


@pytest.mark.usefixtures("computed_once")
def test_a_group_that_is_too_small_for_a_share_answers_nothing(certified, tmp_path):
    guarantee = certified(counted("a = 1", share="1/2"), group="sex", n=501, groups={"f": 500, "z": 1})
    assert guarantee.parts[0].groups == {"f": 250, "z": 0}
    delta, disagreements = recomputed(tmp_path, guarantee)
    assert (delta, disagreements) == (guarantee.delta, ())


@pytest.mark.usefixtures("computed_once")
def test_the_sizes_of_groups_are_said_to_be_published(certified):
    guarantee = certified(counted("a = 1", share="1/2"), group="sex", groups={"f": 500, "m": 444})
    assert (
        'the column "sex": the exact size of each of its groups is published'
        in (contents(guarantee)["guarantee"]["not_protected"])
    )


@pytest.mark.parametrize("p", ["0.5", "0.4"])
def test_a_gate_around_one_number_is_certified_for_every_probability_too(certified, p):
    guarantee = certified(counted("a = 1", rows=472, probability=p), publication="gate = true")
    (part,) = guarantee.parts
    declared = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(472)).delta("0.1")
    assert part.is_gated
    assert part.curve(known=0).delta("0.1").lower > declared.upper


def test_a_gate_that_lets_nobody_through_as_a_count_of_0_is_not_relied_on(certified):
    queries = [counted("a = 1", rows=100, probability='["0.02", "0.1"]')]
    gated, plain = (certified(*queries, publication=text) for text in ("gate = true", ""))
    assert not gated.parts[0].is_gated
    assert gated.delta == plain.delta
    assert "gives no bound for every p" in contents(gated)["warnings"][0]


@pytest.mark.usefixtures("few_points")
def test_the_picture_of_a_wrong_probability_is_flat_with_a_gate_and_steep_without(certified, monkeypatch):
    monkeypatch.setattr(contents_module, "_RESOLUTION", 48)
    (curve,) = contents(certified(counted("a = 1", rows=472), publication="gate = true"))["curves"]["probability"]
    outer = curve["points"][0]
    assert outer["p"] < 0.01
    assert outer["delta"]["upper"] < 0.01
    assert outer["exact_counts"]["lower"] > 0.1
    (plain,) = contents(certified(counted("a = 1", rows=472)))["curves"]["probability"]
    assert all("exact_counts" not in point for point in plain["points"])


@pytest.mark.campaign  # alone it notices a width of pictures
@pytest.mark.parametrize("known", [0, 40, 300])
def test_figures_of_several_properties_are_drawn_by_a_cheap_bound_next_to_the_tightest(certified, known):
    queries = [counted(f"{name} = 1", rows=310, probability='["0.3", "0.4"]') for name in "abc"]
    guarantee = certified(*queries)
    asked = [sp.PropertyQuery(sp.Between("0.3", "0.4"), attribute=name) for name in "abc"]
    tightest = sp.compose(
        asked, sp.Population(944), sp.RandomPartition([310] * 3), adversary=sp.Adversary(known=known), bound="tightest"
    )
    for epsilon in (Fraction(1, 50), Fraction(1, 10), Fraction(1, 5)):
        drawn, delta = guarantee.secret(known=known, epsilon=epsilon), tightest.delta(epsilon)
        assert delta.lower <= drawn.upper <= 1.1 * delta.upper
        assert known or epsilon < guarantee.epsilon or drawn.upper <= guarantee.delta.upper
    assert known or guarantee.secret(known=0, epsilon=guarantee.epsilon) == guarantee.delta == tightest.delta("0.1")


@pytest.mark.campaign  # alone it notices an order of two pictures
@pytest.mark.parametrize("others", [(), (counted("b = 1", rows=472),)])
def test_with_known_rows_the_picture_of_a_wrong_probability_is_not_above_what_gates_certify(certified, others):
    guarantee = certified(counted("a = 1", rows=472), *others, known=5, publication="gate = true")
    curves = contents(guarantee)["curves"]["probability"]
    assert len(curves) == 1 + len(others)
    for curve in curves:
        assert max(point["delta"]["upper"] for point in curve["points"]) <= guarantee.delta.upper
        assert curve["points"][0]["exact_counts"]["lower"] > 0.1


@pytest.mark.parametrize("probability", [Fraction(1, 10), Fraction(4, 5)])
def test_the_certificate_covers_what_is_really_published_of_a_small_part(certified, probability):
    for rows, gate, below, base in product([2, 6], ["true", "false"], [0, 1, 4, 9], [1, 2]):
        more = f"gate = {gate}\nsuppressed_below = {below}\nrounded_to = {base}"
        guarantee = certified(counted("a = 1", rows=rows, probability=f'"{probability}"', more=more), n=rows)
        found = published_difference(guarantee.parts[0].steps, probability, guarantee.epsilon)
        assert found <= guarantee.delta.upper * (1 + 1e-12), more


def published_difference(steps, p, epsilon):
    """δ of what is published of a part that is the whole table, from the law of everything that can be published."""
    laws = (Counter(), Counter())  # without and with the property in the critical row
    others = steps.size - 1
    for own, count in product([0, 1], range(others + 1)):
        laws[own][steps.publish([count + own])] += math.comb(others, count) * p**count * (1 - p) ** (others - count)
    return max(
        sum(max(one[answer] - math.exp(epsilon) * other[answer], 0) for answer in one)
        for one, other in (laws, laws[::-1])
    )


def test_known_rows_beside_a_gate_and_a_histogram_are_bounded_for_every_probability_by_the_sum_of_the_parts(certified):
    queries = [counted("a = 1", rows=472), HISTOGRAM]
    assert certified(*queries, publication="gate = true").parts[0].is_gated
    known = certified(*queries, publication="gate = true", known=10)
    assert known.parts[0].is_gated
    assert certified(*queries, known=10).delta.upper < known.delta.upper < 0.02


# --- coarsening -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "publication", ["rounded_to = 50", "suppressed_below = 230", "rounded_to = 9\nsuppressed_below = 9"]
)
def test_suppression_and_rounding_never_make_the_certificate_worse(certified, publication):
    queries = [counted("a = 1", rows=472), counted("b = 1", rows=236)]
    assert certified(*queries, publication=publication).delta.upper <= certified(*queries).delta.upper


def test_rounding_to_a_large_base_makes_the_certificate_better(certified):
    single = [counted("a = 1", rows=944, probability="0.5")]
    assert certified(*single, publication="rounded_to = 5000").delta.upper < certified(*single).delta.lower / 100


# --- the number can be computed again ---------------------------------------------------------------


@pytest.mark.usefixtures("computed_once")
@pytest.mark.parametrize(
    ("queries", "options"),
    [
        ([counted("a = 1", rows=472), counted("b = 1", rows=236)], {"publication": "gate = true\nrounded_to = 5"}),
        ([counted("a = 1", rows=472)], {"publication": "rounded_to = 5\nsuppressed_below = 200"}),
        ([counted("a = 1", rows=472), HISTOGRAM], {}),
        ([counted("a = 1", rows=472, probability="0.5"), HISTOGRAM], {"known": 10}),
        (
            [counted("a = 1", rows="{f = 200, m = 150}", probability=f'{{f = {HALF}, m = "0.3"}}')],
            {"group": "sex", "groups": {"f": 500, "m": 444}},
        ),
        (
            [counted("a = 1", rows="{f = 200, m = 150}"), counted("b = 1", rows="{f = 100, m = 90}")],
            {"group": "sex", "groups": {"f": 500, "m": 444}, "known": 7},
        ),
    ],
    ids=["gates", "coarsened", "histogram", "known rows", "groups", "known rows of groups"],
)
def test_the_report_is_recomputed_from_itself(certified, tmp_path, queries, options):
    guarantee = certified(*queries, **options)
    delta, disagreements = recomputed(tmp_path, guarantee)
    assert disagreements == ()
    assert guarantee.delta.lower <= delta.upper
    assert delta.lower <= guarantee.delta.upper


@pytest.mark.usefixtures("computed_once")
def test_delta_at_the_target_is_computed_once(certified, monkeypatch):
    guarantee = certified(counted("a = 1", rows=472), counted("b = 1", rows=236), known=5)
    curve, delta, asked = guarantee.curve, PrivacyCurve.delta, Counter()

    def count_and_compute(self, epsilon, **options):
        asked[epsilon] += self is curve
        return delta(self, epsilon, **options)

    monkeypatch.setattr(PrivacyCurve, "delta", count_and_compute)
    contents(guarantee)
    assert asked[guarantee.epsilon] <= 1


# --- groups ---------------------------------------------------------------------------------------

GROUPS = {"f": 500, "m": 444}


def test_a_stratified_plan_is_composed_by_group(certified):
    guarantee = certified(
        counted("a = 1", share="1/2", probability='{f = "0.4", m = "0.5"}'), group="sex", groups=GROUPS
    )
    assert guarantee.sizes_by_group == (("f", (250,)), ("m", (222,)))
    curve = sp.compose(
        [sp.PropertyQuery({"f": "0.4", "m": "0.5"})],
        sp.Population(groups=GROUPS),
        sp.RandomPartition([{"f": 250, "m": 222}]),
    )
    assert guarantee.delta == curve.delta("0.1")


def test_known_rows_of_a_stratified_plan_are_composed(certified):
    guarantee = certified(counted("a = 1", share="1/2"), group="sex", groups=GROUPS, known=5)
    curve = sp.compose(
        [sp.PropertyQuery({group: sp.Between("0.4", "0.6") for group in GROUPS})],
        sp.Population(groups=GROUPS),
        sp.RandomPartition([{"f": 250, "m": 222}]),
        adversary=sp.Adversary(known=5),
    )
    assert guarantee.delta == curve.delta("0.1")
    fewer = certified(counted("a = 1", share="1/2"), group="sex", groups=GROUPS)
    assert fewer.delta.upper < guarantee.delta.upper < fewer.secret(known=6, epsilon=fewer.epsilon).upper
    at = [guarantee.secret(known=known, epsilon=guarantee.epsilon).upper for known in (0, 4, 5, 6, 100)]
    assert at == sorted(at)


@pytest.mark.campaign  # alone it notices an order of two bounds
def test_ranges_in_groups_are_bounded_by_the_worst_group_alone_with_and_without_known_rows(certified):
    queries = counted("a = 1", share="1/2"), counted("b = 1", share="1/4")
    guarantee = certified(*queries, group="sex", groups=GROUPS)
    ranges = [sp.PropertyQuery(sp.Between("0.4", "0.6")) for _ in queries]

    def alone(known):
        curves = [
            sp.compose(ranges, sp.Population(n), sp.RandomPartition(sizes), adversary=sp.Adversary(known=known))
            for n, sizes in ((500, [250, 125]), (444, [222, 111]))
        ]
        return max(curve.delta("0.1").upper for curve in curves)

    assert guarantee.delta.upper == alone(0)
    assert guarantee.secret(known=20, epsilon=guarantee.epsilon).upper == alone(20)


@pytest.mark.campaign  # alone it notices pictures that cost too much
def test_pictures_of_a_large_stratified_plan_use_the_sum_over_the_parts(certified):
    """The exact composition of 3000 rows would take seconds for each point of a curve; the target's δ is exact."""
    groups = {"f": 1600, "m": 1400}
    guarantee = certified(
        counted("a = 1", share="1/2", probability='"1/2"'),
        counted("b = 1", share="1/2", probability='"1/2"'),
        group="sex", groups=groups, n=3000,
    )  # fmt: skip
    other = Fraction(1, 20)
    bound = sp.compose(
        [sp.PropertyQuery({"f": "1/2", "m": "1/2"})] * 2,
        sp.Population(groups=groups),
        sp.RandomPartition([{"f": 800, "m": 700}] * 2),
        bound="partition-sum",
    )
    drawn, proved = guarantee.secret(known=0, epsilon=other), bound.delta(other)
    assert (drawn.lower, drawn.upper) == pytest.approx((proved.lower, proved.upper), rel=1e-12)
    assert guarantee.delta.upper < bound.delta("0.11").lower
    assert guarantee.secret(known=0, epsilon=Fraction(11, 100)) == guarantee.delta


@pytest.mark.campaign  # alone it notices work that is done more often than needed
def test_what_a_wrong_probability_would_do_is_computed_once_for_the_other_parts(certified, monkeypatch):
    guarantee = certified(counted("a = 1", share="1/2"), counted("b = 1", share="1/2"), group="sex", groups=GROUPS)
    asked = []
    compute = Guarantee._additive
    monkeypatch.setattr(
        Guarantee, "_additive", lambda self, known, parts: asked.append(tuple(parts)) or compute(self, known, parts)
    )
    (one, _) = guarantee.plan.properties
    found = [guarantee.if_probability_were(one, Fraction(k, 10), published=True) for k in (2, 5, 8)]
    assert found[0].upper == pytest.approx(found[2].upper)  # p and 1 − p
    assert len(asked) == 4


@pytest.mark.campaign  # alone it notices a figure about strata
def test_what_known_rows_would_do_to_a_stratified_plan_is_bounded(certified):
    guarantee = certified(counted("a = 1", share="1/2"), group="sex", groups=GROUPS)
    at = [guarantee.secret(known=known, epsilon=guarantee.epsilon).upper for known in (0, 10, 100)]
    assert at == sorted(at)
    assert at[-1] < 0.02


def test_groups_with_too_few_rows_and_too_many_groups_are_refused(certified):
    asked = counted("a = 1", rows="{f = 300}") * 2
    with pytest.raises(PlanError, match=r'use 600 rows together, the group "f" has 500; give them fewer rows'):
        certified(asked, group="sex", groups=GROUPS)
    many = {f"g{k}": 10 for k in range(101)}
    with pytest.raises(PlanError, match=r"the group column has 101 values; at most 100 groups are possible"):
        certified(counted("a = 1", share="1/2"), n=1010, group="sex", groups=many)


# --- leaks and blocks -----------------------------------------------------------------------------


def told(guarantee):
    return {(what, rows): delta for what, rows, delta in leaks(guarantee)}


def test_labels_of_everyone_leave_the_worst_part(certified):
    guarantee = certified(counted("a = 1", rows=472), counted("b = 1", rows=236))
    leaked = told(guarantee)["labels of everyone", None]
    assert leaked == sp.privacy_curve(sp.PropertyQuery(sp.Between("0.4", "0.6")), sp.Population(236)).delta("0.1")


def test_the_union_of_used_rows_is_a_table_of_its_own(certified):
    queries = [counted("a = 1", rows=200), counted("b = 1", rows=100)]
    assert told(certified(*queries))["the union of used rows", None] == certified(*queries, n=300).delta
    whole = certified(*queries, n=300)
    assert told(whole)["the union of used rows", None] == whole.delta


def splits(leaked, sizes):
    """All ways in which so many of the rows are of these parts."""
    ranges = [range(min(leaked, size) + 1) for size in sizes]
    return [split for split in product(*ranges) if sum(split) == leaked]


@pytest.mark.parametrize("known", [0, 1])
def test_leaked_labels_are_those_of_the_worst_split(certified, known):
    sizes, rows, leaked = (15, 25, 40), 100, 10
    names = [counted(f"a = {k}", rows=size) for k, size in enumerate(sizes)]
    guarantee = certified(*names, n=rows, known=known)
    others = [*sizes, rows - sum(sizes)]

    def part(unknown):
        if unknown < 1:
            return 1.0
        query = sp.PropertyQuery(sp.Between("0.4", "0.6"))
        return sp.privacy_curve(query, sp.Population(max(unknown - known, 1))).delta("0.1").upper

    def mean(split, unknown):
        kept = [size - gone for size, gone in zip(sizes, split, strict=False)]
        return sum(k * part(m) for k, m in zip(kept, unknown(kept), strict=True)) / (rows - leaked)

    labels = max(mean(split, lambda _kept: sizes) for split in splits(leaked, others))
    values = max(mean(split, lambda kept: kept) for split in splits(leaked, others))
    found = told(guarantee)
    assert found["labels of other rows", leaked].upper == pytest.approx(labels)
    bound = found["labels and values of other rows", leaked].upper
    assert values <= bound * (1 + 1e-12)
    assert bound <= 1.1 * values


@pytest.mark.parametrize("known", [0, 100])
def test_a_block_of_rows_that_change_together(certified, known):
    """One count of all rows, c of which move it by c: told exactly, whether it comes in one part or in several."""
    for sizes in ([472], [72, 400]):
        parts = [counted("a = 1", rows=rows, probability="0.4") for rows in sizes]
        found = dict(block(certified(*parts, n=472, known=known)))
        assert {rows: delta.upper for rows, delta in found.items()} == pytest.approx(
            {rows: moved_count(472 - known, rows) for rows in (1, 2, 4)}
        )
        assert all(delta.upper - delta.lower < 1e-12 for delta in found.values())
    assert [round(moved_count(472, rows), 4) for rows in (1, 2, 4)] == [0.0074, 0.0374, 0.1106]


def moved_count(entries, rows):
    """The hockey stick of c + B and B for B ~ Bin(N − c, p), from the masses, at e^ε = e^0.1 and both ends of p."""
    others, still = entries - rows, [0.0] * rows
    masses = [[math.comb(others, k) * p**k * (1 - p) ** (others - k) for k in range(others + 1)] for p in (0.4, 0.6)]
    return max(
        sum(max(0.0, moved - math.exp(0.1) * mass) for moved, mass in zip(still + b, b + still, strict=True))
        for b in masses
    )


def test_a_block_of_rows_of_which_some_are_left_out_is_bounded(certified):
    """By one row after the other; no less than one row alone."""
    found = dict(block(certified(counted("a = 1", rows=236, probability="0.4"), n=472)))
    assert found[1].upper < found[2].upper < found[4].upper


def test_a_block_of_rows_is_bounded_elsewhere(certified):
    for guarantee in (
        certified(counted("a = 1", rows=472), n=472),
        certified(counted("a = 1", share="1", probability="0.4"), n=472, groups={"f": 472}, group="sex"),
    ):
        found = dict(block(guarantee))
        for rows in (1, 2, 4):
            assert moved_count(472, rows) * (1 - 1e-9) <= found[rows].upper < 1.02 * moved_count(472, rows)


def test_ranges_of_cells_are_certified_for_all_their_laws(certified):
    ranged = certified(HISTOGRAM.replace('"0.2"', '["0.2", "0.25"]'))
    for p in ("0.2", "0.21", "0.25"):
        assert certified(HISTOGRAM.replace('"0.2"', f'"{p}"')).delta.lower <= ranged.delta.upper
    assert ranged.curve.kind == "bound"


def test_beyond_a_delta_that_is_as_good_as_none_the_curve_is_only_bounded(certified, monkeypatch):
    guarantee = certified(counted("vote = 0", share="1"), n=1500, epsilon="1")
    asked = []
    secret = type(guarantee).secret
    monkeypatch.setattr(
        type(guarantee), "secret", lambda self, **who: asked.append(float(who["epsilon"])) or secret(self, **who)
    )
    points = contents_module._epsilon_curve(guarantee)
    uppers = [point["partition_secret"]["upper"] for point in points]
    assert uppers == sorted(uppers, reverse=True)
    assert len(asked) < len(points)
    for point in points:
        truth = secret(guarantee, known=0, epsilon=Fraction(str(point["epsilon"])))
        assert truth.lower <= point["partition_secret"]["upper"]
        if truth.lower > 1e-29:
            assert point["partition_secret"]["upper"] == truth.upper
