"""Exact tables in plans whose cells have declared ranges: alone, on parts, and beside other answers."""

from __future__ import annotations

import pytest

import statpriv as sp
from statpriv.errors import GuaranteeNotReachedError, PlanError
from statpriv.files.composition import read_composition
from statpriv.releasing.report import render
from statpriv.rules.assumptions import COMMON_LAW, EACH_GIVEN_THE_REST

from .conftest import query, toml

pytestmark = pytest.mark.usefixtures("computed_once")

REGIONS, AGES = ["north", "south"], ["young", "old"]
CELLS = [(region, age) for region in REGIONS for age in AGES]
RANGE, OWN = ("0.1", "0.5"), ("0.2", "0.6")
SAME = '[publication]\nrows = "same"\nprotects = "{}"\n'
VOTES = query("vote = 0", rows=1, probability=("0.2", "0.8"), name="votes").replace("rows = 1", "each = true")


def table(*, minimum=3, dimensions=("region", "age"), source=True, **keys):
    """A [[table]] whose cells have ranges, one cell its own."""
    lists = {"region": REGIONS, "age": AGES}
    own = f"[{{ cell = {toml(list(CELLS[0]))}, probability = {toml(list(OWN))} }}]"
    stated = {"probability": toml(list(RANGE)), "probabilities": own, "each": "true", **keys}
    more = "".join(f"{key} = {value}\n" for key, value in stated.items() if value is not None)
    named = 'source = "census"\n' if source else ""
    declared = "".join(f"{name} = {toml(lists[name])}\n" for name in dimensions)
    return f'[[table]]\nname = "a table"\nminimum = {minimum}\n{named}{more}[table.dimensions]\n{declared}'


def asked(kind=sp.EachBetween, **labels):
    """The same table as the library takes it."""
    p = {"default": kind(*RANGE), CELLS[0]: kind(*OWN)}
    return sp.ContingencyTable({"region": REGIONS, "age": AGES}, minimum=3, p=p, **labels)


@pytest.fixture
def release(workshop):
    rows = [[f"p{k:03}", *CELLS[k % 4], k % 2] for k in range(60)]

    def release(*stated, publication="", **options):
        workshop.table(["id", "region", "age", "vote"], rows)
        workshop.plan(*stated, more_data='row_id = "id"', more=publication, **options)
        contents = workshop.release(force=True).contents
        assert read_composition(workshop.json).disagreements == ()
        return contents

    return release


@pytest.fixture
def refused(workshop, release):
    def refused(*stated, **options):
        with pytest.raises(PlanError) as refusal:
            release(*stated, **options)
        workshop.assert_untouched()
        return str(refusal.value)

    return refused


# --- the guarantee ---


@pytest.mark.parametrize("protects", ["attribute", "row"])
def test_a_table_is_an_answer_about_the_same_rows_as_counts_are(release, protects):
    contents = release(table(), VOTES, publication=SAME.format(protects), epsilon="1.5")
    votes = sp.PropertyQuery(sp.EachBetween("0.2", "0.8"), attribute="vote")
    curve = sp.compose([asked(attribute="where"), votes], sp.Population(60), sp.SameRows(protects=protects))
    assert contents["guarantee"]["delta"]["upper"] == curve.delta("1.5").upper
    assert EACH_GIVEN_THE_REST in contents["guarantee"]["assumptions"]
    assert COMMON_LAW not in contents["guarantee"]["assumptions"]
    assert {cell["count"] for cell in contents["tables"][0]["cells"]} == {15}
    assert [answer["count"] for answer in contents["answers"]] == [30]
    assert contents["release"]["rows_spent"] == 60


def test_two_tables_of_the_same_rows_have_columns_of_their_own(release):
    two = [table(dimensions=(name,), probability='["0.3", "0.7"]', probabilities=None) for name in ("region", "age")]
    contents = release(*two, publication=SAME.format("row"), epsilon="1.5")
    own = sp.ContingencyTable({"x": REGIONS}, minimum=3, p=sp.EachBetween("0.3", "0.7"), attribute="x")
    other = sp.ContingencyTable({"x": REGIONS}, minimum=3, p=sp.EachBetween("0.3", "0.7"), attribute="y")
    curve = sp.compose([own, other], sp.Population(60), sp.SameRows(protects="row"))
    assert contents["guarantee"]["delta"]["upper"] == curve.delta("1.5").upper
    assert [{cell["count"] for cell in one["cells"]} for one in contents["tables"]] == [{30}, {30}]


def test_of_one_table_of_all_rows_the_number_of_rows_protects(release):
    contents = release(table(), epsilon="1.5")
    assert contents["guarantee"]["delta"]["upper"] == sp.privacy_curve(asked(), sp.Population(60)).delta("1.5").upper
    assert COMMON_LAW not in contents["guarantee"]["assumptions"]
    assert "a table holds for every distribution" not in render(contents)


def test_on_a_part_the_smaller_of_both_bounds_counts(release):
    shared = table(each=None, rows="40")
    contents = release(shared, query("vote = 0", rows=20), epsilon="1.5")
    parts = sp.RandomPartition([20, 40])
    both = [sp.PropertyQuery(sp.Between("0.4", "0.6"), attribute="vote"), asked(sp.Between)]
    curve = sp.compose(both, sp.Population(60), parts)
    assert contents["guarantee"]["delta"]["upper"] == curve.delta("1.5").upper
    alone = [
        sp.privacy_curve(query, sp.Population(40)).delta("1.5").upper
        for query in (asked(sp.Between), sp.ContingencyTable(4, minimum=3))
    ]
    assert contents["tables"][0]["delta"]["upper"] == alone[0] < alone[1]


def test_a_later_release_counts_it_as_it_was_declared(workshop, release):
    first = release(table(each=None, rows="30"), epsilon="1.5", delta="0.9")
    later = release(query("vote = 0", rows=10), epsilon="1.5", delta="0.9")
    assert later["history"][0]["delta"]["upper"] == first["tables"][0]["delta"]["upper"]
    assert "table" in later["history"][0]["queries"][0]
    assert workshop.spent() == [30, 10]


def test_known_rows_are_counted_against_the_minimum(release):
    contents = release(table(each=None, rows="30"), epsilon="1.5", publication="known_rows = 1\n")
    known = sp.privacy_curve(asked(sp.Between), sp.Population(30), adversary=sp.Adversary(known=1))
    assert contents["tables"][0]["delta"]["upper"] == known.delta("1.5").upper


def test_a_row_that_may_be_certain_of_its_cell_meets_no_target(workshop, release):
    with pytest.raises(GuaranteeNotReachedError, match='answers "a table": the probability may be 0 or 1'):
        release(table(probability='["0", "0.5"]', rows="6"), query("vote = 0", rows=20), delta="0.5")
    workshop.assert_untouched()


# --- the page ---


def test_the_page_names_the_ranges_and_their_source(release):
    page = render(release(table(), epsilon="1.5"))
    assert "0.1 to 0.5; <bdi>north, young</bdi>: 0.2 to 0.6; each row its own" in page
    assert "<bdi>census</bdi>" in page


# --- what is refused ---


@pytest.mark.parametrize(
    ("stated", "sentence"),
    [
        ({"probability": None}, "has probabilities and no probability"),
        ({"probability": None, "probabilities": None}, "has each and no probability"),
        ({"source": False}, "has a probability and no source"),
        ({"by": '"region"', "by_source": '"a register"'}, "has by and a probability"),
        ({"probability": '"0.1"'}, "add up to at most 9/10, below 1"),
        ({"probability": '["0.4", "0.5"]'}, "add up to at least 7/5, above 1"),
        ({"probability": '"1.5"'}, "must be one number from 0 to 1"),
        ({"probabilities": "[0.1]"}, "must be a list of cells, each with its probability"),
        ({"probabilities": '[{ cell = ["west", "old"], probability = 0.1 }]'}, "is no combination of its categories"),
        ({"impossible": '[["north", "young"]]'}, "in impossible and in probabilities"),
    ],
)
def test_ranges_that_do_not_fit_their_table_are_refused(refused, stated, sentence):
    assert sentence in refused(table(**stated))


@pytest.mark.parametrize(
    ("stated", "sentence"),
    [
        ({"each": None}, "table[1] needs probability, each = true and source"),
        ({"rows": "20"}, 'table[1] has rows, but [publication] rows = "same"'),
        ({"dimensions": ("region",), "probabilities": None, "share": '"1/2"'}, "table[1] has share"),
    ],
)
def test_a_table_of_the_same_rows_states_ranges_and_no_part(refused, stated, sentence):
    assert sentence in refused(table(**stated), VOTES, publication=SAME.format("row"))


def test_a_table_of_many_cells_has_no_ranges(workshop, refused):
    many = ", ".join(f'"c{k}"' for k in range(101))
    wide = table(probabilities=None, dimensions=("region",)).replace(toml(REGIONS), f"[{many}]")
    assert "has a probability and 101 cells" in refused(wide)


def test_rows_of_one_law_and_rows_that_each_have_their_own_are_not_asked_together(refused):
    plain = table(probability=None, probabilities=None, each=None, source=False, rows="20")
    sentence = refused(plain, VOTES + "rows = 20\n")
    assert "declares no probability, so its rows need to share one law" in sentence
    assert '"votes" says each = true' in sentence


def test_no_column_is_asked_twice_of_the_same_rows(refused):
    twice = [VOTES.replace("vote = 0", "region = 'north'"), table()]
    assert "query[1] and table[1] both ask about the column" in refused(*twice, publication=SAME.format("row"))
    assert "table[1] and table[2] both ask about" in refused(table(), table(), publication=SAME.format("row"))
