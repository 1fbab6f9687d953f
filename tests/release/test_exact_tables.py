"""Exact tables from plan to report: counted as declared, published whole or not at all, spent once."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv.errors import GuaranteeNotReachedError, LedgerError, PlanError
from statpriv.files.composition import read_composition
from statpriv.releasing.classification import dimension_from
from statpriv.releasing.exact_tables import TableAnswer
from statpriv.releasing.plan_file import load_plan, plan_schema
from statpriv.releasing.planned_table import PlannedTable
from statpriv.releasing.tables import open_table

from ..cases import cases
from .conftest import labels, parts, query, toml

pytestmark = pytest.mark.usefixtures("computed_once")

COLUMNS = ["id", "region", "age", "kind"]
REGIONS = ['north "N"', "<b>south</b>", "east, & west", "it's"]
AGES = '{ breaks = [30, 60], labels = ["<30", "30-59", "60+"] }'
BY_REGION_AND_AGE = f"region = {toml(REGIONS)}\nage = {AGES}"


def table(dimensions=BY_REGION_AND_AGE, *, name="a table", minimum=5, **keys):
    """A [[table]] of a plan."""
    more = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return f"[[table]]\nname = {toml(name)}\nminimum = {minimum}\n{more}[table.dimensions]\n{dimensions}\n"


def age_of(text):
    return "<30" if int(text) < 30 else "30-59" if int(text) < 60 else "60+"


def people(*, each=6, extra=()):
    """Rows with so many in every cell, and some more."""
    ages = ["0", "30", "60"]
    rows = [(region, age) for region, age in product(REGIONS, ages) for _ in range(each)]
    rows += extra
    return [(f"p{k:04}", region, age, "ab"[k % 2]) for k, (region, age) in enumerate(rows)]


def counted(rows):
    return Counter((region, age_of(age)) for _, region, age, _ in rows)


def published(entry):
    """The published cells of an entry of the report."""
    names = [*entry["dimensions"]]
    return {tuple(cell[name] for name in names): cell["count"] for cell in entry["cells"]}


@pytest.fixture
def released(workshop):
    """Release a table of these rows, and return its entry in the report."""

    def released(rows, *tables, **plan):
        workshop.table(COLUMNS, rows)
        workshop.plan(*(tables or [table()]), more_data='row_id = "id"', **plan)
        workshop.release()
        workshop.assert_whole_report()
        return workshop.report["tables"][0]

    return released


# --- the gate


CELLS = [("north", "<30"), ("north", "30+"), ("south", "<30"), ("south", "30+")]


def planned(**keys):
    dimensions = (
        dimension_from("region", ["north", "south"]),
        dimension_from("age", {"breaks": [30], "labels": ["<30", "30+"]}),
    )
    return PlannedTable("a table", dimensions, **{"minimum": 3, **keys})


@settings(max_examples=cases(200, campaign=5000))
@given(
    counts=st.lists(st.sampled_from([0, 0, 2, 3, 4, 9]), min_size=4, max_size=4),
    outside=st.lists(st.sampled_from([0, 0, 0, 1]), min_size=3, max_size=3),
    impossible=st.sampled_from([(), (("north", "<30"),), (("south", "30+"),)]),
    minima=st.sampled_from([(), ((("north", "30+"), 4),), ((("north", "30+"), 2), (("south", "<30"), 9))]),
    by=st.booleans(),
)
def test_a_table_is_published_if_every_possible_cell_is_large_and_every_row_is_in_one(
    counts, outside, impossible, minima, by
):
    held, own = dict(zip(CELLS, counts, strict=True)), dict(minima)

    def passes(cells):
        return all(held[cell] == 0 if cell in impossible else held[cell] >= own.get(cell, 3) for cell in cells)

    stated = {"impossible": impossible, "minima": minima}
    if by:
        declared = planned(**stated, by="region", by_source="a register")
        of_class = {region: [cell for cell in CELLS if cell[0] == region] for region in ("north", "south")}
        stray = dict(zip(of_class, outside, strict=False))
        right = [region for region, cells in of_class.items() if passes(cells) and not stray[region]]
        right = [] if outside[2] else right
        outcomes = [*counts, *outside]
    else:
        declared, right = planned(**stated), ["north", "south"]
        right = right if passes(CELLS) and not outside[2] else []
        outcomes = [*counts, outside[2]]
    answer = TableAnswer.of_outcomes(declared, outcomes)
    expected = tuple((cell, held[cell]) for cell in CELLS if cell[0] in right and cell not in impossible)
    assert answer.cells == expected
    assert answer.published == bool(right)
    assert answer.withheld == (tuple(region for region in ("north", "south") if region not in right) if by else ())


def test_all_withheld_tables_have_one_answer():
    withheld = TableAnswer.of_outcomes(planned(), [0, 0, 0, 0, 9])
    outcomes = [[2, 9, 9, 9, 0], [9, 9, 9, 9, 1], [9, 9, 0, 9, 0], [0, 0, 0, 0, 0]]
    assert {TableAnswer.of_outcomes(planned(), found) for found in outcomes} == {withheld}


# --- releases


def test_a_table_is_published_exactly_as_the_rows_are(released):
    rows = people(extra=[("it's", "59"), ("it's", "29.5"[:2]), (REGIONS[0], "100")])
    entry = released(rows)
    assert (entry["published"], entry["withheld"], entry["rows"]) == (True, [], len(rows))
    assert entry["dimensions"] == {"region": REGIONS, "age": ["<30", "30-59", "60+"]}
    assert published(entry) == counted(rows)
    assert [*published(entry)] == [*product(REGIONS, entry["dimensions"]["age"])]
    assert entry["conditions"]["age"] == ['"age" < 30', '"age" < 60 AND "age" >= 30', '"age" >= 60']
    assert entry["conditions"]["region"][3] == """"region" = 'it''s'"""


@pytest.mark.parametrize(
    ("each", "extra"),
    [
        (4, []),
        (6, [("nowhere", "30")]),
        (6, [("it's", "")]),
        (6, [("it's", "thirty")]),
        (6, [("it's\n", "30")]),
        (6, [("IT'S", "30")]),
    ],
)
def test_a_table_is_withheld_whole_if_a_cell_is_small_or_a_row_is_in_no_cell(released, each, extra):
    entry = released(people(each=each, extra=extra))
    assert (entry["published"], entry["withheld"], entry["cells"]) == (False, [], [])


def test_everything_else_and_rows_without_a_value_are_categories_if_declared(workshop, released):
    rows = people(extra=[("nowhere", "30")] * 5 + [("", "30")] * 3 + [("nowhere", "")] * 6 + [("nowhere", "x")] * 2)
    dimensions = f'region = {toml([REGIONS[0], "*"])}\nage = {AGES[:-1].rstrip()}, null = "unknown" }}'
    entry = released(rows, table(dimensions, impossible=toml([[REGIONS[0], "unknown"]])))
    cells = published(entry)
    assert cells["*", "unknown"] == 8
    assert cells["*", "30-59"] == 3 * 6 + 8
    assert (REGIONS[0], "unknown") not in cells
    assert sum(cells.values()) == len(rows)


def test_an_impossible_cell_with_a_row_withholds_the_table(workshop, released):
    impossible = toml([["it's", "60+"]])
    rows = [row for row in people() if row[1:3] != ("it's", "60")]
    assert ("it's", "60+") not in published(released(rows, table(impossible=impossible)))
    stray = [*rows, ("p9999", "it's", "60", "a")]
    workshop.table(COLUMNS, stray, name="other.csv")
    workshop.plan(table(impossible=impossible), data="other.csv")
    assert workshop.release(force=True).contents["tables"][0]["cells"] == []


@pytest.mark.parametrize(
    ("extra", "withheld"),
    [
        ([("it's", "")], ["it's"]),
        ([("nowhere", "30")], REGIONS),
        ([], []),
    ],
)
def test_each_class_is_published_or_withheld_by_itself(released, extra, withheld):
    entry = released(people(extra=extra), table(by='"region"', by_source='"a register"'))
    assert (entry["withheld"], entry["published"]) == (withheld, withheld != REGIONS)
    right = {cell: count for cell, count in counted(people()).items() if cell[0] not in withheld}
    assert published(entry) == right


def test_a_table_of_ten_rows_is_withheld_and_said_to_be_beforehand(workshop, in_process):
    workshop.table(COLUMNS, people(each=1)[:10])
    workshop.plan(table(), more_data='row_id = "id"')
    arguments = ["release", workshop.folder / "plan.toml", "--out", workshop.page, "--registry", workshop.registry]
    warning = "will be withheld: 12 possible cells of at least 5 rows need 60 rows, and it has 10"
    code, out, _ = in_process(*arguments, "--dry-run")
    assert (code, warning in out) == (0, True)
    code, out, _ = in_process(*arguments, "--force", "--json", workshop.json)
    assert (code, "withheld  a table" in out, warning in out) == (0, True, True)
    assert workshop.report["tables"][0]["cells"] == []


def test_parts_of_tables_and_queries_are_disjoint_and_each_is_counted_on_its_own(workshop):
    """Labels of the same seed say which rows answer which."""
    rows = people(each=30)
    n = len(rows)
    tables = [table(rows=150), table('kind = ["a", "b"]', name="kinds", minimum=2, share='"1/4"')]
    workshop.table(COLUMNS, rows)
    workshop.plan(query("age >= 30", rows=50), *tables, more_data='row_id = "id"')
    workshop.release(seed=3)
    drawn = labels([row[0] for row in rows], [50, 150, n // 4], 3)
    own = [[row for row, label in zip(rows, drawn, strict=True) if label == part] for part in (1, 2, 3)]
    report = workshop.report
    assert report["answers"][0]["count"] == sum(int(age) >= 30 for _, _, age, _ in own[0])
    first, second = report["tables"]
    assert published(first) == (counted(own[1]) if min(counted(own[1]).values()) >= 5 else {})
    assert published(second) == Counter((kind,) for *_, kind in own[2])
    assert (first["rows"], second["rows"]) == (150, n // 4)


# --- ladders


LADDER = (
    f"region = {{ values = {toml(REGIONS)}, recode = [[{toml(REGIONS[:2])}, {toml(REGIONS[2:])}]] }}\n"
    f'age = {AGES[:-1].rstrip()}, recode = [{{ "<60" = ["<30", "30-59"], "60+" = ["60+"] }}] }}'
)


@pytest.mark.parametrize(
    ("left_out", "level"), [(0, 0), (4, 1), (34, None)], ids=["the finest", "the coarser one", "nothing"]
)
def test_the_finest_table_that_holds_the_minimum_is_published(workshop, released, left_out, level):
    """Leave out young people of one region, and then of two."""
    young = [row for row in people(each=6) if row[1] in REGIONS[:2] and int(row[2]) < 60]
    gone = {row[0] for row in young[:left_out]}
    rows = [row for row in people(each=6) if row[0] not in gone]
    if left_out > len(young):
        rows = [row for row in rows if not (row[1] in REGIONS[:2] and row[2] == "60")]
    entry = released(rows, table(LADDER), epsilon="1")
    assert entry["ladder"]["level"] == level
    assert entry["published"] == (level is not None)
    label = {region: region for region in REGIONS}
    if level:
        label = {region: ", ".join(REGIONS[:2] if region in REGIONS[:2] else REGIONS[2:]) for region in REGIONS}
    ages = {"<30": "<60", "30-59": "<60", "60+": "60+"} if level else {age: age for age in ("<30", "30-59", "60+")}
    expected = Counter((label[region], ages[age_of(age)]) for _, region, age, _ in rows)
    assert published(entry) == (expected if level is not None else {})
    assert workshop.report["verify"]["proof"] == []
    assert "in one of 2 declared groupings, of which the finest such one counts" in workshop.page.read_text()
    report = workshop.report
    ladder = sp.ContingencyTable(
        {"region": REGIONS, "age": ["<30", "30-59", "60+"]},
        minimum=5,
        recode={"region": [[REGIONS[:2], REGIONS[2:]]], "age": [{"<60": ["<30", "30-59"], "60+": ["60+"]}]},
    )
    delta = sp.privacy_curve(ladder, sp.Population(len(rows))).delta(1)
    assert report["guarantee"]["delta"] == {"lower": delta.lower, "upper": delta.upper}
    if level:
        assert read_composition(workshop.json).disagreements == ()
        report["tables"][0]["ladder"]["level"] = 0
        workshop.json.write_text(json.dumps(report), encoding="utf-8")
        assert read_composition(workshop.json).disagreements


@settings(max_examples=cases(200, campaign=3000))
@given(
    counts=st.lists(st.sampled_from([0, 1, 2, 3, 4, 9]), min_size=4, max_size=4),
    outside=st.integers(0, 1),
    minima=st.sampled_from([(), ((("north", "30+"), 4),), ((("north", "30+"), 2), (("south", "<30"), 4))]),
)
def test_the_gate_of_a_ladder_is_that_of_its_levels_from_the_finest_on(counts, outside, minima):
    """A coarser cell has the least minimum of what it holds."""
    age = {"breaks": [30], "labels": ["<30", "30+"]}
    region = {"values": ["north", "south"], "recode": [[["north", "south"]]]}
    ladder = PlannedTable(
        "a",
        (dimension_from("region", region), dimension_from("age", age)),
        minimum=3,
        impossible=(CELLS[0],),
        minima=minima,
    )
    own = {cell: dict(minima).get(cell, 3) for cell in CELLS[1:]}
    least = {
        **own,
        ("north, south", "<30"): own["south", "<30"],
        ("north, south", "30+"): min(own["north", "30+"], own["south", "30+"]),
    }
    answer = TableAnswer.of_outcomes(ladder, [*counts, outside])
    finest = dict(zip(CELLS[1:], counts[1:], strict=True))
    coarse = {("north, south", "<30"): counts[2], ("north, south", "30+"): counts[1] + counts[3]}
    levels = [(0, finest), (1, coarse)] if not outside and counts[0] == 0 else []
    full = ((level, found) for level, found in levels if all(found[cell] >= least[cell] for cell in found))
    right = next(full, None)
    assert (answer.published, dict(answer.cells), answer.level) == (right is not None, *(right or (0, {}))[::-1])


# --- the guarantee


def delta_of(minimum, epsilon, known=0):
    return sp.minimum_count_curve(minimum, known=known).delta(epsilon)


def test_a_cell_with_a_minimum_of_its_own_withholds_the_table_below_it(workshop, released):
    minima = toml([["it's", "<30"], 8]).replace("[[", "[{ cell = [").replace("], 8]", "], minimum = 8 }]")
    assert published(released(people(), table(minima=minima))) == {}
    rows = people(extra=[("it's", "1"), ("it's", "2")])
    workshop.table(COLUMNS, [(f"q{row[0]}", *row[1:]) for row in rows], name="other.csv")
    workshop.plan(table(minima=minima), data="other.csv", more_data='row_id = "id"')
    workshop.release(force=True)
    entry = workshop.report["tables"][0]
    assert (entry["minimum"], entry["minima"]) == (5, [{"cell": ["it's", "<30"], "minimum": 8}])
    assert published(entry)["it's", "<30"] == 8
    read = read_composition(workshop.json)
    assert read.disagreements == ()
    assert read.of_plan(load_plan(workshop.folder / "plan.toml")).disagreements == ()
    page = " ".join(workshop.page.read_text(encoding="utf-8").split())
    assert "its minimum of rows (5, but for <bdi>it&#39;s, &lt;30</bdi>: 8) and every row is in a declared cell" in page
    for changed in ([], [{"cell": ["it's", "<30"], "minimum": 7}], [{"cell": ["it's", "60+"], "minimum": 8}]):
        altered = {**workshop.report, "tables": [{**entry, "minima": changed}]}
        (workshop.folder / "altered.json").write_text(json.dumps(altered), encoding="utf-8")
        told = read_composition(workshop.folder / "altered.json").disagreements
        assert told, changed


def test_the_least_two_minima_are_what_the_guarantee_follows_from(workshop, released):
    """Larger ones gain nothing, and one smaller one costs as little as the theorem says."""
    smaller = '[{ cell = ["it\'s", "<30"], minimum = 4 }, { cell = ["it\'s", "60+"], minimum = 40 }]'
    entry = released(people(each=40), table(minimum=10, minima=smaller), epsilon="1")
    query = sp.ContingencyTable(4, minimum={"default": 10, 0: 4})
    delta = sp.privacy_curve(query, sp.Population(480)).delta(1)
    assert (entry["delta"]["lower"], entry["delta"]["upper"]) == (delta.lower, delta.upper)
    assert workshop.report["guarantee"]["delta"]["upper"] == delta.upper > delta_of(10, 1).upper


def test_a_ladder_states_the_minima_of_the_level_that_is_published(workshop, released):
    region = f"region = {{ values = {toml(REGIONS)}, recode = [[{toml(REGIONS[:2])}, {toml(REGIONS[2:])}]] }}"
    minima = '[{ cell = ["it\'s", "<30"], minimum = 9 }, { cell = ["<b>south</b>", "<30"], minimum = 4 }]'
    entry = released(people(), table(f"{region}\nage = {AGES}", minima=minima), epsilon="2")
    joined = ", ".join(REGIONS[:2])
    assert entry["ladder"]["level"] == 1
    assert entry["minima"] == [{"cell": [joined, "<30"], "minimum": 4}]
    assert [own["minimum"] for own in entry["ladder"]["minima"]] == [4, 9]
    assert read_composition(workshop.json).disagreements == ()


def test_the_guarantee_of_a_table_of_all_rows_is_that_of_its_minimum(workshop, released):
    entry = released(people(each=12), table(minimum=10), epsilon="1", delta="0.0081", more="known_rows = 2")
    report = workshop.report
    expected = delta_of(10, 1, known=2)
    for stated in (report["guarantee"]["delta"], report["guarantee"]["partition_known"], entry["delta"]):
        assert stated == {"lower": expected.lower, "upper": expected.upper}
    by_known = {row["known_rows"]: row["delta"]["upper"] for row in report["degradation"]}
    assert {known: delta_of(10, 1, known=known).upper for known in (0, 4, 9)}.items() <= by_known.items()
    assert by_known[9] == 1
    assert by_known[2] < 0.0081 < by_known[3]  # the largest number with which the target is met, and the next
    assert report["leaks"] == []


def test_parts_are_composed_by_their_shares(workshop):
    rows = people(each=40)
    n = len(rows)
    workshop.table(COLUMNS, rows)
    workshop.plan(table(minimum=8, rows=100), table(minimum=12, rows=200), epsilon="1", more_data='row_id = "id"')
    workshop.release()
    found = workshop.report["guarantee"]["delta"]
    parts = [(Fraction(100, n), delta_of(8, 1)), (Fraction(200, n), delta_of(12, 1))]
    lower, upper = (sum(w * Fraction(getattr(d, end)) for w, d in parts) for end in ("lower", "upper"))
    assert lower * (1 - Fraction(1, 10**12)) <= found["lower"] <= found["upper"] <= upper * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize(
    ("minimum", "known", "delta"), [(10, 0, "0.004"), (10, 9, "0.5"), (10, 3, "0.01")], ids=["target", "known", "few"]
)
def test_a_target_that_is_not_reached_is_refused_before_the_content_is_read(workshop, minimum, known, delta):
    workshop.table(COLUMNS, people(each=12))
    workshop.plan(table(minimum=minimum), epsilon="1", delta=delta, more=f"known_rows = {known}")
    with pytest.raises(GuaranteeNotReachedError):
        workshop.release()
    assert "content" not in workshop.steps
    workshop.assert_untouched()


# --- the ledger


def test_all_rows_answer_once(workshop, released):
    rows = people()
    released(rows)
    assert workshop.spent() == [len(rows)]
    for plan in ([table()], [query("age >= 30", rows=1)], [table(rows=1)]):
        workshop.plan(*plan, more_data='row_id = "id"')
        with pytest.raises(LedgerError, match=r"earlier releases have left 0 of 72"):
            workshop.release(force=True)


def test_a_later_release_counts_the_table_and_recomputes(workshop):
    rows = people(each=40)
    workshop.table(COLUMNS, rows)
    workshop.plan(table(minimum=8, rows=100), epsilon="1", more_data='row_id = "id"')
    workshop.release()
    workshop.plan(query("age >= 30", rows=100), table(minimum=8, rows=100), epsilon="1", more_data='row_id = "id"')
    workshop.release(force=True)
    workshop.assert_whole_report()
    (past,) = workshop.report["history"]
    assert past["queries"][0]["table"].startswith('"region": ')
    assert past["part"][0]["query"]["minimum"] == 8
    found = read_composition(workshop.json)
    assert found.disagreements == ()
    stated = workshop.report["guarantee"]["delta"]
    delta = found.curve.delta(1)
    assert (delta.lower, delta.upper) == pytest.approx((stated["lower"], stated["upper"]), rel=1e-9)
    assert Fraction(stated["upper"]) > Fraction(100, len(rows)) * Fraction(delta_of(8, 1).lower)


# --- from the report back


LEAVES = {
    "minimum": 6,
    "minima": [{"cell": ["it's", "60+"], "minimum": 6}],
    "rows": 71,
    "published": False,
    "delta": {"lower": 0.0, "upper": 0.5},
    "impossible": [["it's", "60+"]],
    "by": "age",
    "conditions": {"region": ["x"], "age": ["y", "z", "a"]},
}


@pytest.mark.parametrize("leaf", LEAVES)
def test_a_changed_leaf_of_a_table_is_found(workshop, released, leaf):
    released(people())
    report = workshop.report
    assert read_composition(workshop.json).disagreements == ()
    report["tables"][0][leaf] = LEAVES[leaf]
    workshop.json.write_text(json.dumps(report), encoding="utf-8")
    assert read_composition(workshop.json).disagreements


def test_the_conditions_of_a_report_are_those_of_its_plan(workshop, released):
    released(people())
    report = workshop.report
    report["tables"][0]["conditions"]["age"][0] = '"age" < 31'
    workshop.json.write_text(json.dumps(report), encoding="utf-8")
    read = read_composition(workshop.json)
    assert read.disagreements == ()
    (told,) = read.of_plan(load_plan(workshop.folder / "plan.toml")).disagreements
    assert told.startswith("tables[1].conditions.age[1] is ")


def test_compose_and_the_report_agree_on_the_theorem(workshop, released):
    released(people(each=12), table(minimum=10), epsilon="1")
    guarantee, curve = workshop.report["guarantee"], read_composition(workshop.json).curve
    assert curve.theorem == guarantee["theorem"]
    assert curve.delta(1).upper == guarantee["delta"]["upper"]


# --- plans

GOOD = table(impossible=toml([["it's", "<30"]]), by='"region"', by_source='"a register"')
HEAD = '[data]\nsource = "people.csv"\nrow_id = "id"\n[guarantee]\nepsilon = 1\ndelta = 1\n'
MISTAKES = [
    (
        "minimum = 5",
        "minimum = { default = 30 }",
        "must be one number, of all cells that have none of their own; state those as minima = ",
    ),
    ("minimum = 5", "minimum = 5\nminima = 3", "table[1].minima = 3: must be a list of cells, each with its minimum"),
    ("minimum = 5", "minimum = 5\nminima = [{ cell = 3, minimum = 9 }]", "has a cell that is no list of categories"),
    (
        "minimum = 5",
        "minimum = 5\nminima = [{ cell = ['east, & west', '60+'], minimum = 1 }]",
        "must be at least 2: a cell of one row shows where that row is",
    ),
    (
        "minimum = 5",
        "minimum = 5\nminima = [{ cell = ['east', '60+'], minimum = 9 }]",
        'has minima = "east", "60+", which is no combination of its categories',
    ),
    (
        "minimum = 5",
        """minimum = 5\nminima = [{ cell = ["it's", "<30"], minimum = 9 }]""",
        'has "it\'s", "<30" in impossible and in minima; leave it out of one of them',
    ),
    ("minimum = 5", "minimum = 1", "table[1].minimum = 1: must be at least 2: a cell of one row shows where that row"),
    ("minimum = 5", "minimum = 4294967296", "table[1].minimum = 4294967296: must be below 2^32"),
    ("minimum = 5", "minimum = 5.5", "table[1].minimum = 5.5: must be a whole number"),
    ("minimum = 5\n", "", "table[1].minimum is missing"),
    (
        'by = "region"',
        'by = "nowhere"',
        'table[1] has by = "nowhere", which is none of its dimensions: "region", "age"',
    ),
    ('by_source = "a register"', "", 'table[1] has by = "region" and no by_source'),
    ('by = "region"\n', "", "table[1] has by_source and no by"),
    ('["it\'s", "<30"]', '["it\'s"]', "which is no combination of its categories"),
    ('["it\'s", "<30"]', '["it\'s", "<31"]', "which is no combination of its categories"),
    ('["it\'s", "<30"]', '["<30", "it\'s"]', "which is no combination of its categories"),
    ('["it\'s", "<30"]', '["it\'s", "<30"], ["it\'s", "<30"]', "has the same combination twice in impossible"),
    (
        '["it\'s", "<30"]',
        ", ".join(toml(["it's", age]) for age in ("<30", "30-59", "60+")),
        'table[1] has no possible cell in the class "it\'s" of by; leave the class out',
    ),
    ("[30, 60]", "[60, 30]", '"age" has the break 30 after 60: breaks ascend'),
    ("[30, 60]", "[30, 30]", '"age" has the break 30 after 30: breaks ascend'),
    ("[30, 60]", '["30", 60]', '"age" has a break that is no number'),
    ("[30, 60]", "[30]", "needs a list of breaks, and one label more than breaks"),
    ('"60+"', '"<30"', '"age" has two categories called "<30"'),
    ("labels =", "recode = [[60]], labels =", '"age" has [60] in recode; recode is a list of coarser groupings'),
    ("labels =", 'recode = [[["<30"], ["30-59"]]], labels =', "has by and a recode"),
    ("labels =", "label =", '"age" is no dimension'),
    ('"it\'s"]\nage', '"it\'s", "it\'s"]\nage', '"region" has the value "it\'s" twice: categories do not overlap'),
    ('"it\'s"]\nage', '"*", "it\'s"]\nage', '"region" has "*" before its last category: everything else comes last'),
    ('"it\'s"]\nage', '"it\'s", 1]\nage', '"region" has a text and a number as values: a column has one type'),
    ('"it\'s"]\nage', '"it\\u0007s"]\nage', '"region" holds the character U+0007'),
    ('"it\'s"]\nage', '"it\\ns"]\nage', '"region" holds the character U+000A'),
    ('"it\'s"]\nage', '"it\\u202es"]\nage', '"region" holds the character U+202E'),
    ('"it\'s"]\nage', '"it\'s", { nul = true }]\nage', '"region" has the category { "nul" = true }'),
    ('"it\'s"]\nage', '"it\'s", {values = ["x"], label = "*"}]\nage', "which is that of everything else"),
    ("age = {", "count = {", '"count" cannot be a dimension'),
    ("age = {", "count_status = {", '"count_status" cannot be a dimension'),
    ("age = {", "id = {", 'has the dimension "id", which is the row_id of [data]'),
    ("age = {", "ROWID = {", 'has the dimension "rowid", which is the position of a row'),
    ("age = {", 'Region = ["a", "b"]\nage = {', "two dimensions whose names differ only in case"),
    ("age = {", f"town = {[*range(5000)]}\nage = {{", "has 60000 cells; allowed are 2 to 32768"),
    ("minimum = 5", "minimum = 5\nrows = 3\nshare = 0.5", "table[1] has rows and share"),
    ("minimum = 5", "minimum = 5\nrow = 3", "table[1].row is not a key of a plan; did you mean rows?"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_a_mistake_in_a_table_is_refused_with_what_is_allowed(workshop, old, new, message):
    assert GOOD.count(old) == 1, old
    workshop.write("good.toml", HEAD + GOOD)
    assert len(load_plan(workshop.folder / "good.toml").tables[0].cells) == 11
    workshop.write("plan.toml", HEAD + GOOD.replace(old, new))
    with pytest.raises(PlanError) as refused:
        load_plan(workshop.folder / "plan.toml")
    assert message in str(refused.value)


@pytest.mark.parametrize("other", [query("age >= 30", rows=5), table(rows=5), table()])
def test_nothing_stands_beside_a_table_of_all_rows(workshop, other):
    workshop.write("plan.toml", HEAD + table() + other)
    with pytest.raises(PlanError, match=r"two tables of the same rows protect nothing in general.*rows = "):
        load_plan(workshop.folder / "plan.toml")


def test_tables_take_no_groups_and_shares_add_up_with_those_of_queries(workshop):
    grouped = HEAD.replace('row_id = "id"', 'row_id = "id"\ngroup = "kind"\ngroup_source = "census"')
    for text, message in [
        (grouped + table(), "a table needs rows of one law"),
        (HEAD + query("age > 1", share="1/2") + table(share='"2/3"'), "the shares of the queries and tables add up to"),
        (HEAD, r"query is missing: one \[\[query\]\] for each count to release, or a \[\[table\]\]"),
    ]:
        workshop.write("plan.toml", text)
        with pytest.raises(PlanError, match=message):
            load_plan(workshop.folder / "plan.toml")


def test_ten_thousand_cells_are_planned_and_counted(workshop):
    breaks, labelled = [*range(1, 100)], toml([str(k) for k in range(100)])
    dimensions = f"region = {[*range(100)]}\nage = {{ breaks = {breaks}, labels = {labelled} }}"
    workshop.table(COLUMNS, [(f"p{k}", k % 100, k // 100 % 100, "a") for k in range(20_000)])
    workshop.plan(table(dimensions, minimum=2), more_data='row_id = "id"')
    plan = load_plan(workshop.folder / "plan.toml")
    (planned_table,) = plan.tables
    with open_table(plan.data, plan.conditions) as opened:
        outcomes = opened.load(b"k" * 32).tabulate(parts([1] * 20_000), 1, planned_table.classification)
    assert outcomes == [*[2] * 10_000, 0]
    assert len(TableAnswer.of_outcomes(planned_table, outcomes).cells) == 10_000


def test_the_published_schema_accepts_every_form_of_a_dimension(workshop):
    import jsonschema

    from statpriv.releasing.plan_file import tomllib

    dimensions = (
        'a = ["x", { values = ["", "y"], label = "none" }, { null = true }, "*"]\n'
        'b = [1, 2.5, { null = true, label = "?" }]\n'
        'c = [true, false]\nd = { breaks = [-1.5, 3], labels = ["l", "m", "h"], null = "unknown" }'
    )
    text = HEAD + table(dimensions, share='"1/3"')
    jsonschema.validate(tomllib.loads(text), plan_schema())
    workshop.write("plan.toml", text)
    (planned_table,) = load_plan(workshop.folder / "plan.toml").tables
    assert [dimension.labels for dimension in planned_table.dimensions] == [
        ("x", "none", "NULL", "*"),
        ("1", "2.5", "?"),
        ("true", "false"),
        ("l", "m", "h", "unknown"),
    ]
