"""`statpriv compose` and the files it reads."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

import statpriv as sp
from statpriv.files.composition import Composition, Part, read_composition
from statpriv.releasing.recomputation import ReleaseReport

TABLE_1 = """
epsilon = 0.005
population = 32768
[[part]]
probability = "1/2"
size = 1024
count = 32
attribute = "smoker"
"""
ONE_PROPERTY_32768 = Fraction("0.002357408469201706682856342974706163")


@pytest.fixture
def written(tmp_path):
    def write(text, name="composition.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


REPORTS = Path(__file__).parents[1] / "vectors" / "formats" / "report" / "1"


def kept(name="first"):
    """A report of a release, with every point of its curves."""
    return json.loads((REPORTS / f"{name}.json").read_text(encoding="utf-8"))


def test_one_property_over_all_entries_is_exact(run_json, written):
    document = run_json("compose", written(TABLE_1))
    assert document["delta"]["lower"] <= ONE_PROPERTY_32768 <= document["delta"]["upper"]
    assert document["kind"] == "exact"
    assert Fraction(document["inputs"]["epsilon"]) == Fraction(1, 200)
    assert "report" not in document


def test_the_bound_of_the_file_is_used(run_json, written):
    document = run_json("compose", written('bound = "partition-sum"' + TABLE_1))
    assert document["kind"] == "bound"
    assert document["delta"]["lower"] == pytest.approx(0.02257377618990693, rel=1e-14)


def test_numbers_in_a_file_are_exact(written):
    text = """
    epsilon = 0.1
    population = 10
    [[part]]
    probability = [0.1, "1/3"]
    size = 5
    """
    composition = read_composition(written(text))
    assert composition.epsilon == Fraction(1, 10)
    assert composition.parts[0].probability == (Fraction(1, 10), Fraction(1, 3))


def test_defaults(written):
    composition = read_composition(written("epsilon = 1\npopulation = 9\npart = [{probability = 0.5, size = 9}]"))
    assert composition == Composition(
        epsilon=Fraction(1),
        population=9,
        parts=(Part(probability=(Fraction(1, 2), Fraction(1, 2)), size=9, count=1, attribute=None, name=None),),
        known_rows=0,
        bound="tightest",
    )


def test_what_is_written_reads_back(written):
    composition = Composition(
        epsilon=Fraction(1, 10),
        population=100,
        parts=(
            Part(probability=(Fraction(2, 5), Fraction(3, 5)), size=40, attribute="a"),
            Part(probability=(Fraction(1, 5), Fraction(1, 5)), size=30, count=2, attribute="b"),
        ),
        known_rows=3,
    )
    assert read_composition(written(json.dumps(composition.document()), "composition.json")) == composition


GATED = """
epsilon = 0.1
population = 400
known_rows = 3
[[part]]
probability = "1/2"
size = 50
count = 4
gate = [10, 40]
suppressed_below = 12
rounded_to = 5
[[part]]
probability = ["0.45", "0.55"]
size = 50
count = 4
attribute = "b"
rounded_to = 5
"""


def test_what_is_done_to_counts_is_read(written):
    composition = read_composition(written(GATED))
    gated, rounded = composition.parts
    assert gated.query() == sp.PostProcessed(
        sp.PropertyQuery(sp.Between(0, 1)), sp.RangeGate(10, 40), sp.Threshold(11), sp.Rounding(5)
    )
    assert rounded.query() == sp.PropertyQuery(sp.Between("0.45", "0.55"), attribute="b").rounded(5)
    assert read_composition(written(json.dumps(composition.document()), "gated.json")) == composition


def test_a_gated_part_is_certified_for_every_p(run_json, written):
    document = run_json("compose", written(GATED))
    assert document["kind"] == "bound"
    other = run_json("compose", written(GATED.replace('"1/2"', '"0.9"')))
    assert other["delta"] == document["delta"]


ANY_QUERY = """
epsilon = 0.1
population = 100
[[part]]
query = { kind = "sum", pmf = { 0 = "1/2", 5 = "1/2" }, attribute = "visits", steps = [{ kind = "rounding", base = 5}]}
size = 30
count = 2
[[part]]
probability = "0.4..0.6"
size = 40
"""


def test_a_part_may_ask_any_query(run, run_json, written):
    composition = read_composition(written(ANY_QUERY))
    visits, count = composition.parts
    assert visits.query() == sp.SumQuery({0: "1/2", 5: "1/2"}, attribute="visits").rounded(5)
    assert count.probability == (Fraction(2, 5), Fraction(3, 5))
    assert read_composition(written(json.dumps(composition.document()), "any.json")) == composition
    document = run_json("compose", written(ANY_QUERY))
    curve = sp.compose(
        [visits.query(), visits.query(), sp.PropertyQuery(sp.Between("0.4", "0.6"))],
        sp.Population(100),
        sp.RandomPartition([30, 30, 40]),
    )
    assert (document["delta"]["lower"], document["delta"]["upper"]) == (
        curve.delta("0.1").lower,
        curve.delta("0.1").upper,
    )
    assert "2 × PostProcessed(SumQuery(" in run("compose", written(ANY_QUERY)).stdout


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ("query = 3", 'part[1].query = 3; a table such as { kind = "property", … } is required'),
        ('query = { kind = "sun" }', "part[1].query.kind = 'sun'; one of property, histogram, sum, mean"),
        (
            'query = { kind = "property", probability = 1, steps = [{ kind = "rounding" }] }',
            'part[1].query.steps[1].base is missing; a number such as 0.1, "-3" or "1/10" is required',
        ),
        (
            'query = { kind = "histogram", cells = ["0.5", "0.4"] }',
            "part[1].query: p sums to 9/10; exact probabilities must sum to exactly one",
        ),
        ('query = { kind = "property", probability = 1 }\nname = "x"', "part[1] has name beside a query"),
        ('query = { kind = "property", probability = 1 }\nprobability = 1', "part[1] needs either a probability, or"),
        ('query = { kind = "property", probability = 1 }\ngate = [1, 2]', "part[1] has gate, which is for counts of"),
    ],
    ids=range(7),
)
def test_what_is_wrong_with_a_query_is_named_with_its_path(run, written, part, told):
    result = run("compose", written(f"epsilon = 1\npopulation = 9\n[[part]]\nsize = 9\n{part}"))
    assert result.exit_code == 2
    assert told in result.stderr


HISTOGRAM = """
epsilon = 0.1
population = 200
[[part]]
cells = [["0.2", "0.3"], "0.3", ["0.4", "0.5"]]
size = 100
attribute = "age"
"""


def test_a_histogram_has_ranges_for_its_cells(written, run):
    composition = read_composition(written(HISTOGRAM))
    asked = sp.HistogramQuery([sp.Between("0.2", "0.3"), "0.3", sp.Between("0.4", "0.5")], attribute="age")
    assert [part.query() for part in composition.parts] == [asked]
    assert read_composition(written(json.dumps(composition.document()), "cells.json")) == composition
    told = " ".join(run("compose", written(HISTOGRAM)).stdout.split())
    assert "1 × a histogram of 100 entries, any p from 0.2 to 0.3, p = 0.3, any p from 0.4 to 0.5, property age" in told


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ("size = 9", "part[1] needs either a probability, or the cells of a histogram"),
        (
            'size = 9\nprobability = "1/2"\ncells = ["1/2", "1/2"]',
            "part[1] needs either a probability, or the cells of a histogram",
        ),
        (
            'size = 9\ngate = [1, 2]\ncells = ["1/2", "1/2"]',
            "part[1] has gate, which is for counts of one probability",
        ),
        (
            'size = 9\ncells = ["1/2", "1/3"]',
            'part[1].cells = ["1/2", "1/3"]; a list of probabilities, numbers or ranges, that can add up to 1',
        ),
        ('size = 9\nprobability = "1/2"\ngate = [3, 2]', "part[1].gate = [3, 2]; a list of two counts in order"),
    ],
)
def test_parts_that_contradict_themselves_are_refused(run, written, part, sentence):
    result = run("compose", written(f"epsilon = 1\npopulation = 9\n[[part]]\n{part}\n"))
    assert result.exit_code == 2
    assert sentence in result.stderr


def test_the_text_says_what_is_done_to_counts(run, written):
    text = " ".join(run("compose", written(GATED)).stdout.split())
    assert "4 × a count of 50 entries, any p, published from 10 to 40, a property of its own" in text
    assert "suppressed below 12, rounded to 5" in text


def test_the_text_lists_the_parts(run, written):
    result = run("compose", written(TABLE_1))
    assert result.exit_code == 0
    assert result.stdout.startswith("δ is at most 0.00235741 at ε = 0.005\n")
    assert "32 × a count of 1024 entries, p = 0.5, property smoker" in result.stdout
    assert "report" not in result.stdout


def test_all_mistakes_of_a_file_are_named_at_once(run, written):
    text = """
    epsilon = -0.1
    populaton = 10
    known_rows = 1.5
    [[part]]
    probability = ["0.6", "0.4"]
    size = 0
    count = true
    colour = 1
    [[part]]
    probability = nan
    attribute = ""
    """
    path = written(text)
    result = run("compose", path)
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        f"Error: {path} cannot be used as it is:",
        "  populaton: no such key; did you mean population?",
        '  epsilon = -0.1; a number of at least 0 such as 0.1, "0.1" or "1/10" is required',
        "  population is missing; a whole number from 1 to 2^53, or one for each group is required",
        "  known_rows = 1.5; a whole number from 0 to 2^53 is required",
        "  part[1].colour: no such key; allowed here: probability, cells, query, each, size, count, attribute, name, "
        "gate, suppressed_below, rounded_to",
        '  part[1].probability = ["0.6", "0.4"]; a number from 0 to 1, or a range ["low", "high"] of two in order, '
        "or one for each group is required",
        "  part[1].size = 0; a whole number from 1 to 2^53, or one for each group is required",
        "  part[1].count = true; a whole number from 1 to 2^53 is required",
        '  part[2].probability = NaN; a number from 0 to 1, or a range ["low", "high"] of two in order, '
        "or one for each group is required",
        "  part[2].size is missing; a whole number from 1 to 2^53, or one for each group is required",
        '  part[2].attribute = ""; a text that is not empty is required',
    ]


BAD_FILES = [
    ("epsilon = ", "neither TOML nor JSON"),
    ('{"epsilon": 1, "epsilon": 2}', "the key 'epsilon' stands there twice"),
    ('{"epsilon": ' + "[" * 100_000, "neither TOML nor JSON"),
    ("x = " + "[" * 5_000, "neither TOML nor JSON"),
    ("", "epsilon is missing; a number of at least 0"),
    ("part = []", "part = []; 1 to 100000 tables [[part]] is required"),
    (
        "part = [1]",
        "part[1] = 1; a table with the keys probability, cells, query, each, size, count, attribute, name, gate, "
        "suppressed_below, rounded_to is required",
    ),
    (TABLE_1.replace("32\n", "4000000\n"), "4000000 parts together; at most 100000 are allowed"),
    (TABLE_1.replace("32\n", "33\n"), "the sample or parts have 33792 entries together, the population only 32768"),
    (TABLE_1.replace("0.005", "1e999999999"), "epsilon = 1E+999999999; a number of at least 0"),
    ("known_rows = 32768" + TABLE_1, "known = 32768; at most 32767 of 32768 entries can be known"),
    ('bound = "best"' + TABLE_1, "bound = 'best'; one of 'tightest'"),
    (
        TABLE_1.replace("32\n", "31\n") + '[[part]]\nprobability = "1/3"\nsize = 1\nattribute = "smoker"\n',
        "attribute = 'smoker' is asked with two different p",
    ),
]


@pytest.mark.parametrize(("text", "sentence"), BAD_FILES)
def test_a_bad_file_is_refused(run, written, text, sentence):
    result = run("compose", written(text))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert sentence in result.stderr


def test_a_file_that_is_not_there_is_named(run, tmp_path):
    result = run("compose", tmp_path / "nowhere.toml")
    assert result.exit_code == 2
    assert "nowhere.toml: No such file or directory; the path of a composition file is required" in result.stderr


def test_a_file_that_is_not_text_is_refused(run, tmp_path):
    (tmp_path / "data.toml").write_bytes(b"\xff\xfe\x00")
    result = run("compose", tmp_path / "data.toml")
    assert result.exit_code == 2
    assert "not a text in UTF-8" in result.stderr


def test_a_mark_that_an_editor_puts_before_the_text_is_no_text(written):
    assert read_composition(written(f"\ufeff{TABLE_1}")) == read_composition(written(TABLE_1))


def test_a_file_cannot_write_to_the_terminal(run, written):
    good = written(TABLE_1.replace('"smoker"', '"\\u001b[31m\\u202e"'))
    assert "\\x1b[31m\\u202e" in run("compose", good).stdout
    bad = written(TABLE_1.replace("epsilon", '"\\u001b[31m"'))
    for result in (run("compose", good), run("compose", bad)):
        assert "\x1b" not in result.output
        assert "\u202e" not in result.output


def test_what_a_file_says_adds_no_line_to_what_is_printed(run, written):
    forged = written(TABLE_1.replace('"smoker"', '"x\\n\\n1 proved"'))
    assert "x\\n\\n1 proved" in run("compose", forged).stdout


def test_a_true_report_agrees(run, run_json):
    """Report by report of the kept ones, in full: what is taken on trust is said."""
    told = run_json("compose", REPORTS / "first.json")["report"]
    assert (told["agrees"], told["disagreements"]) == (True, [])
    assert "release.id" in told["on_trust"]
    result = run("compose", REPORTS / "groups.json")
    assert result.exit_code == 0
    assert "agrees: everything that follows from the plan, the rows, the history" in " ".join(result.stdout.split())


FORGERIES = [
    (
        ("guarantee", "delta"),
        {"lower": 0.001, "upper": 0.0010000001},
        "guarantee.delta is [0.001, 0.0010000001], computed again [",
    ),
    (("guarantee", "delta"), {"lower": 0.0, "upper": 1.0}, "guarantee.delta is [0.0, 1.0], which says too little"),
    (("guarantee", "epsilon"), 0.01, "guarantee.epsilon is 0.01, computed again 0.1 (from guarantee.epsilon_exact)"),
    (("answers", 0, "proportion"), 0.25, "answers[1].proportion is 0.25, computed again 0."),
    (("curves", "epsilon", 3, "epsilon"), 0.07, "curves.epsilon[4].epsilon is 0.07, computed again 0.06"),
    (("composition", "known_rows"), 1, "composition.known_rows is 1, computed again 2 (from guarantee.known_rows"),
]


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: ".".join(map(str, forgery[0])))
def test_a_forged_report_disagrees(run_json, written, forgery):
    place, value, sentence = forgery
    report = kept()
    *path, last = place
    table = report
    for key in path:
        table = table[key]
    table[last] = value
    file = written(json.dumps(report), "report.json")
    [disagreement] = run_json("compose", file, code=1)["report"]["disagreements"]
    assert disagreement.startswith(sentence)


def test_the_terminal_shows_the_first_disagreements_and_says_how_many_there_are(run, written):
    report = kept()
    report["guarantee"]["known_rows"] = 3
    result = run("compose", written(json.dumps(report), "report.json"))
    assert result.exit_code == 1
    assert "more; --json lists all" in result.stdout


@pytest.mark.parametrize(("factor", "code"), [(1 - 1e-14, 1), (1 - 1e-5, 1)])
def test_a_delta_below_the_truth_disagrees(run, written, factor, code):
    report = kept()
    stated = report["guarantee"]["delta"]
    stated["lower"] = stated["upper"] = stated["lower"] * factor
    assert run("compose", written(json.dumps(report))).exit_code == code


def test_overlapping_enclosures_agree(run, written):
    """Another machine, or another version, may round outward a little further."""
    report = kept()
    stated = report["guarantee"]["delta"]
    stated["lower"], stated["upper"] = stated["lower"] * (1 - 1e-9), stated["upper"] * (1 + 1e-9)
    assert run("compose", written(json.dumps(report))).exit_code == 0


@pytest.mark.parametrize(
    ("forge", "told"),
    [
        (lambda report: report.update(note="all is well"), 'the schema does not name: "note"'),
        (lambda report: report["data"].update({"a\n\u202eb": 1}), 'does not name: "a\\n\\u202eb"'),
        (lambda report: report["guarantee"].update(delta=0.5), "$.guarantee.delta breaks the rule"),
        (lambda report: report.pop("guarantee"), "$ breaks the rule required"),
        (lambda report: report["release"].update(number=5.0), '$.release.number breaks the rule type: "integer"'),
    ],
    ids=["unknown", "hostile", "number", "missing", "point"],
)
def test_a_report_that_breaks_the_schema_is_refused_by_the_key(run, written, forge, told):
    report = kept()
    forge(report)
    result = run("compose", written(json.dumps(report)))
    assert result.exit_code == 2
    assert told in result.stderr


def test_a_report_is_recognised_by_its_composition():
    assert isinstance(read_composition(REPORTS / "first.json"), ReleaseReport)


def test_the_curve_of_a_file_is_that_of_the_library(written):
    composition = read_composition(written(TABLE_1))
    smokers = sp.PropertyQuery("1/2", attribute="smoker")
    assert composition.curve() == sp.compose([smokers] * 32, sp.Population(32768), sp.RandomPartition([1024] * 32))


def test_the_release_schema_accepts_a_written_composition():
    schema = json.loads(Path(sp.__file__).with_name("releasing").joinpath("report.schema.json").read_text("utf-8"))
    import jsonschema

    once = Composition(
        epsilon=Fraction(1, 3), population=9, parts=(Part((Fraction(1, 7), Fraction(1, 2)), size=9, attribute="x = 1"),)
    )
    jsonschema.validate(once.document(), {**schema["properties"]["composition"], "$defs": schema["$defs"]})
