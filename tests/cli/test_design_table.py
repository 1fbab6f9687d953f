"""`statpriv design table plan.toml`: an exact table is planned before its data."""

import json
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

import statpriv as sp
from statpriv.files.documents import parsed

EARLIER = "region \\ age,<20,20-29,30+,Total\nnorth,10,90,200,300\nsouth,20,130,350,500\nTotal,30,220,550,800\n"
PLAN = """
rows = 4000
minimum = 60
epsilon = 1
source = "survey of 2019, table 3"
earlier = "earlier.csv"
[[recoding]]
name = "broad ages"
merge = { age = { "<30" = ["<20", "20-29"] } }
[[recoding]]
name = "by region"
drop = ["age"]
"""


@pytest.fixture
def written(tmp_path):
    def write(plan=PLAN, earlier=EARLIER):
        (tmp_path / "earlier.csv").write_text(earlier, encoding="utf-8")
        (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
        return tmp_path / "plan.toml"

    return write


def test_recodings_are_sums_of_the_earlier_table(run_json, written):
    document = run_json("design", "table", written())
    assert (document["schema"], document["version"]) == ("statpriv.design.table", 1)
    shares = {
        "as the earlier table": [10, 90, 200, 20, 130, 350],
        "broad ages": [100, 200, 150, 350],
        "by region": [300, 500],
    }
    for each in document["recodings"]:
        chance = sp.design.gate_probability(shares[each["name"]], 4000, minimum=60)
        assert each["passes"] == {"lower": chance.lower, "upper": chance.upper}
    assert document["finest"] == "broad ages"
    assert document["delta"]["upper"] == sp.minimum_count_curve(60).delta(1).upper


def test_a_target_plans_the_least_minimum_that_reaches_it(run_json, written):
    document = run_json("design", "table", written(PLAN.replace("minimum = 60", 'delta = "1e-5"')))
    assert document["minimum"] == sp.design.least_minimum(epsilon=1, delta="1e-5").value == 30


def test_shares_may_be_stated(run_json, written):
    plan = (
        'rows = 400\nminimum = 30\nepsilon = 1\nsource = "a guess"\n[[recoding]]\nname = "a"\nshares = ["0.3", "0.7"]\n'
    )
    assert run_json("design", "table", written(plan))["finest"] == "a"


def test_no_recoding_that_is_published_ends_with_one(run, written):
    result = run("design", "table", written(PLAN.replace("4000", "100")))
    assert result.exit_code == 1
    assert "none of these" in result.stdout


def test_text_names_the_source_and_the_prices(run, written):
    shown = " ".join(run("design", "table", written()).stdout.split())
    assert "finest table that is published with probability 0.95: broad ages" in shown
    assert "expected shares from: survey of 2019, table 3" in shown
    assert "100: δ at most 7.9" in shown


def test_the_picture_is_written(run, written, tmp_path):
    out = tmp_path / "plan.svg"
    result = run("design", "table", written(), "--out", out)
    assert result.exit_code == 0
    assert b"least number of rows in every cell" in out.read_bytes()
    assert run("design", "table", written(), "--out", out).exit_code == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("minimum = 60", ""), "either minimum or delta is required"),
        (("minimum = 60", "minimum = 60\ndelta = 0.1"), "either minimum or delta is required"),
        (('source = "survey of 2019, table 3"', ""), "source is missing"),
        (('earlier = "earlier.csv"', 'earlier = "missing.csv"'), "No such file"),
        (('earlier = "earlier.csv"', ""), "recoding[1] needs shares"),
        (('drop = ["age"]', ""), "recoding[2] needs merge or drop"),
        (('drop = ["age"]', 'drop = ["sex"]'), "recoding[2].drop: no dimension sex"),
        (('["<20", "20-29"]', '["<20", "21-29"]'), "each new category is a list of old ones"),
        (('["<20", "20-29"]', '["<20", "<20"]'), "each new category is a list of old ones"),
        (("merge = { age", "merge = { sex"), "merge.sex: a dimension of region, age"),
        (('name = "by region"', 'name = "broad ages"'), "name is there twice"),
        (("minimum = 60", "minimum = 1"), "minimum = 1"),
    ],
)
def test_a_plan_that_cannot_be_used_is_refused_in_sentences(run, written, change, message):
    assert change[0] in PLAN
    result = run("design", "table", written(PLAN.replace(*change)))
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_an_earlier_table_with_suppressed_counts_gives_no_shares(run, written):
    result = run("design", "table", written(earlier=EARLIER.replace("north,10", "north,..")))
    assert result.exit_code == 2
    assert "1 counts are suppressed, so the shares are not known" in result.stderr


def test_the_published_schema_takes_what_the_reader_takes():
    schema = json.loads(resources.files("statpriv").joinpath("releasing/table_plan.schema.json").read_text("utf-8"))
    jsonschema.validate(parsed(PLAN, Path("plan.toml"), number=float), schema)
    for wrong in (PLAN.replace("rows", "row"), PLAN.replace('drop = ["age"]', "drop = []")):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(parsed(wrong, Path("plan.toml"), number=float), schema)
