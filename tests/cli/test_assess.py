"""`statpriv assess`: what a published table says, from a file that describes it."""

import json
import math
from fractions import Fraction
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

import statpriv as sp
from statpriv.files.assessment import IMPROBABLE, Published
from statpriv.files.documents import parsed

ONE = """
epsilon = [0.1, 0.05]
population = 944
[[count]]
name = "Clinton voters"
probability = ["0.4", "0.6"]
count = 441
"""
PARTS = """
epsilon = 0.1
population = 944
known_rows = 5
[[count]]
probability = ["0.4", "0.6"]
size = 472
attribute = "vote"
[[count]]
probability = ["0.4", "0.6"]
size = 472
attribute = "vote"
"""
TABLE = """
epsilon = 0.1
population = 944
[table]
name = "Vote"
[[table.cell]]
name = "Clinton"
probability = "0.49"
count = 455
[[table.cell]]
probability = 0.41
[[table.cell]]
probability = "1/10"
"""


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "counts.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def delta_of(curve, epsilon="0.1"):
    found = curve.delta(epsilon)
    return {"lower": found.lower, "upper": found.upper}


def test_one_count(run_json, written):
    document = run_json("assess", written(ONE))
    curve = sp.privacy_curve(sp.PropertyQuery(sp.Between("0.4", "0.6")), sp.Population(944))
    assert document["delta"] == delta_of(curve)
    assert document["deltas"][1] == {"epsilon": "1/20", "delta": delta_of(curve, "0.05")}
    assert document["kind"] == "exact"
    assert document["warnings"] == []
    assert document["verdict"] is None
    assert document["curve"][0] == {"epsilon": 0.0, "delta": delta_of(curve, 0)}


def test_the_count_itself_changes_nothing_of_the_curve(run_json, written):
    one, other = (run_json("assess", written(ONE.replace("441", count))) for count in ("441", "940"))
    assert one["delta"] == other["delta"]
    assert one["sensitivity"] == other["sensitivity"]
    assert other["warnings"] != []


def test_counts_on_parts_are_composed(run_json, written):
    document = run_json("assess", written(PARTS))
    query = sp.PropertyQuery(sp.Between("0.4", "0.6"), attribute="vote")
    parts = sp.RandomPartition([472, 472])
    curve = sp.compose([query] * 2, sp.Population(944), parts, adversary=sp.Adversary(known=5))
    assert document["delta"] == delta_of(curve)


def test_one_count_of_some_entries_is_of_a_secret_part(run_json, written):
    document = run_json("assess", written(ONE.replace("count = 441", "size = 100")))
    parts = sp.RandomPartition([100])
    query = sp.PropertyQuery(sp.Between("0.4", "0.6"))
    assert document["delta"] == delta_of(sp.compose([query], sp.Population(944), parts))


def test_a_contingency_table_is_a_histogram(run_json, written):
    document = run_json("assess", written(TABLE))
    curve = sp.privacy_curve(sp.HistogramQuery(["0.49", "0.41", "0.1"]), sp.Population(944))
    assert document["delta"] == delta_of(curve)
    assert [row["value"] for row in document["sensitivity"][1:3]] == [
        "rarest cell 2 times rarer",
        "rarest cell 5 times rarer",
    ]


@pytest.mark.parametrize(
    ("delta", "code", "verdict"), [("0.003", 0, "proved"), ("0.002", 1, "refuted"), ("1", 0, "proved")]
)
def test_a_target_decides_the_exit_code(run_json, written, delta, code, verdict):
    document = run_json("assess", written(f"delta = {delta}\n{ONE}"), code=code)
    assert document["verdict"] == verdict


def test_a_bound_above_the_target_is_undecided(run_json, written, monkeypatch):
    def bounded(*args, **options):
        return sp.compose(*args, **options, bound="partition-sum")

    monkeypatch.setattr("statpriv.files.assessment.compose", bounded)
    document = run_json("assess", written(f"delta = 0.0001\n{PARTS}"), code=4)
    assert document["verdict"] == "undecided"


@pytest.mark.parametrize("count", [0, 1, 30, 39, 40, 55, 60, 61, 75, 100])
def test_warnings_are_the_exact_tail_at_the_nearer_end(count):
    low, high = Fraction(2, 5), Fraction(3, 5)
    found = Published("a", (low, high), 100, count).improbability()
    if 40 <= count <= 60:
        assert found is None
        return
    far = range(count, 101) if count > 60 else range(count + 1)
    p = high if count > 60 else low
    tail = sum(math.comb(100, k) * p**k * (1 - p) ** (100 - k) for k in far)
    assert tail in found
    assert found.width < 1e-12


def test_a_count_far_outside_its_range_is_warned_of(run, written):
    result = run("assess", written(ONE.replace("441", "700")))
    assert result.exit_code == 0
    shown = " ".join(result.stdout.split())
    assert "Clinton voters: a count so far out as 700 of 944 has a probability of at most 4.79e-20" in shown
    assert Fraction(1, 1000) == IMPROBABLE


def test_text_shows_the_curve_and_the_sensitivity(run, written):
    result = run("assess", written(f"delta = 0.003\n{ONE}"))
    assert result.stdout.startswith("δ is at most 0.00209090 at ε = 0.1\n")
    shown = " ".join(result.stdout.split())
    for text in ("δ ≤ 0.003 at ε = 0.1: proved", "known rows 95", "rows a person 2", "p from 0.2 to 0.8"):
        assert text in shown


FIRST, SECOND = PARTS.split("[[count]]\nprob", 1)[0], '[[count]]\nprobability = "0.3"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            ONE.replace("population", "popluation"),
            "line 3: popluation: no such key; did you mean population?\n  population is missing",
        ),
        (ONE.replace('"0.4"', '"0.7"'), 'line 6: count[1].probability = ["0.7", "0.6"]'),
        (ONE.replace("441", "945"), "line 7: count[1].count = 945; at most its 944 entries can be counted"),
        ("epsilon = 1\npopulation = 3\n", "either [[count]] or [table] is required; neither is there"),
        (f"{ONE}[table]\n", "either [[count]] or [table] is required; both are there"),
        (
            FIRST + SECOND + SECOND,
            "count[1].size is missing: several counts are assessed on disjoint secret random parts. Counts of the same "
            "entries depend on how their properties occur together: state the table of all combinations as [table]",
        ),
        (PARTS.replace("472", "473"), "population = 944; the parts have 946 entries together"),
        (PARTS.replace("known_rows = 5", "known_rows = 944"), "known_rows = 944; of 944 entries at most 943"),
        (PARTS.replace('["0.4", "0.6"]', "0.5", 1), "one property has one probability"),
        (TABLE.replace("0.49", "0.48"), "table.cell: the probabilities sum to 0.99; exactly 1 is required"),
        (TABLE.replace('"0.49"', '["0.4", "0.6"]'), "table.cell[1].probability = "),
        (TABLE.replace("455", "945"), "table.cell: the counts sum to 945, and the population has 944 entries"),
        (ONE.replace("[0.1, 0.05]", "[]"), "epsilon = []; a number of at least 0, or a list of such is required"),
        (ONE.replace("[0.1, 0.05]", "-1"), "epsilon = -1; a number of at least 0, or a list of such is required"),
    ],
)
def test_files_that_cannot_be_used_say_why(run, written, text, message):
    result = run("assess", written(text))
    assert result.exit_code == 2
    assert message in result.stderr
    assert "cannot be used as it is" in result.stderr


def test_all_faults_are_listed_at_once(run, written):
    result = run("assess", written("epsilon = -1\npopulation = 0\n[[count]]\nprobability = 2\n[[count]]\nsise = 3\n"))
    for fault in ("epsilon = -1", "population = 0", "count[1].probability = 2", "count[2].sise", "did you mean size?"):
        assert fault in result.stderr


def test_an_assessment_is_a_value(written):
    found = sp.assess(written(ONE))
    assert repr(found) == "<Assessment of 1 counts of 944 entries>"
    assert str(found).splitlines()[1] == "δ is at most 0.00897185 at ε = 0.05"


def test_the_file_of_the_help_runs(run, written):
    shown = run("assess", "--help").stdout.splitlines()
    start = next(k for k, line in enumerate(shown) if "epsilon = " in line)
    end = next(k for k, line in enumerate(shown) if "count = " in line)
    assert run("assess", written("\n".join(shown[start : end + 1]))).exit_code == 0
    assert max(map(len, shown)) <= 80


# --- the published schema


@pytest.fixture
def schema():
    text = resources.files("statpriv.releasing").joinpath("counts.schema.json").read_text("utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def as_json(text):
    return json.loads(json.dumps(parsed(text, Path("counts.toml")), default=float))


@pytest.mark.parametrize("text", [ONE, PARTS, TABLE])
def test_the_schema_takes_what_the_reader_takes(schema, text):
    whole = as_json(text)
    schema.validate(whole)
    wrong = [{**whole, "known": 3}, {**whole, "epsilon": -1}, {**whole, "population": 0}, {**whole, "table": {}}]
    assert not any(map(schema.is_valid, wrong))


@pytest.mark.parametrize("name", ["counts.toml", "table.toml"])
def test_the_examples_are_such_files(schema, name):
    path = Path(__file__).parents[2] / "examples" / name
    schema.validate(as_json(path.read_text(encoding="utf-8")))
    assert sp.assess(path).warnings == ()
