"""What a plan file says, exactly; and that every mistaken plan is refused with its key and its value."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from importlib import resources
from pathlib import Path
from textwrap import dedent

import jsonschema
import pytest

import statpriv as sp
from statpriv.errors import PlanError
from statpriv.model.same_rows import SameRows
from statpriv.releasing import plan_file
from statpriv.releasing.plan import DataSource, PlannedQuery, PriorPublication, Publication, Target
from statpriv.releasing.plan_file import load_plan, plan_schema
from statpriv.releasing.predicate import Predicate

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

GOOD = """
[data]
source = "election.csv"
row_id = "respondent"

[guarantee]
epsilon = 0.1
delta = 0.02

[[query]]
name = "Clinton voters"
where = "vote = 0"
probability = ["0.40", 0.6]
source = "pre-election polls"
rows = 472
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "release.toml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def changed(old, new):
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


def test_a_plan_is_read_exactly(write, tmp_path):
    plan = load_plan(write(GOOD))
    assert plan.path == tmp_path / "release.toml"
    assert plan.data == DataSource(tmp_path / "election.csv", "election.csv", "respondent", (), ",")
    assert plan.guarantee == Target(Fraction(1, 10), Fraction(1, 50), 0)
    assert plan.queries == (
        PlannedQuery(
            name="Clinton voters",
            predicate=Predicate.parse("vote = 0"),
            probability=(Fraction(2, 5), Fraction(3, 5)),
            source="pre-election polls",
            rows=472,
            share=None,
        ),
    )
    assert plan.prior is None
    assert plan.written_before_access is None
    assert plan.sha256 == hashlib.sha256(GOOD.encode()).hexdigest()


EVERYTHING = (
    changed("epsilon = 0.1", 'epsilon = "1/10"\nknown_rows = 10\nwritten_before_access = true')
    .replace("rows = 472", "share = 0.5")
    .replace('["0.40", 0.6]', "1e-3")
    .replace('source = "election.csv"', 'source = "in/a.csv"\nnull_values = ["NA", ""]\ndelimiter = "\\t"')
)


def test_a_mark_that_an_editor_puts_before_the_text_is_no_text(write):
    assert load_plan(write(f"\ufeff{EVERYTHING}")).queries == load_plan(write(EVERYTHING)).queries


def test_every_optional_key_is_read(write, tmp_path):
    plan = load_plan(
        write(EVERYTHING + '[[prior]]\ndescription = "Yearbook"\nepsilon = 0.5\n[[prior]]\ndescription = "B"')
    )
    assert plan.data == DataSource(tmp_path / "in" / "a.csv", "a.csv", "respondent", ("NA", ""), "\t")
    assert plan.guarantee == Target(Fraction(1, 10), Fraction(1, 50), 10)
    assert plan.written_before_access is True
    assert plan.queries[0].probability == Fraction(1, 1000)
    assert plan.queries[0].share == Fraction(1, 2)
    assert plan.queries[0].rows is None
    assert plan.prior == (PriorPublication("Yearbook", Fraction(1, 2), None), PriorPublication("B"))


def test_no_prior_publications_is_something_to_say(write):
    assert load_plan(write('prior = "none"\n' + GOOD)).prior == ()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", Fraction(1, 10)),
        ('"0.1"', Fraction(1, 10)),
        ('"1/10"', Fraction(1, 10)),
        ("1e-1", Fraction(1, 10)),
        ('"1E-300"', Fraction(1, 10**300)),
        ("0.1000000000000000055511151231257827", Fraction(1000000000000000055511151231257827, 10**34)),
        ("0", Fraction(0)),
        ("3", Fraction(3)),
        ("1_000.5", Fraction(2001, 2)),
    ],
)
def test_numbers_are_exact_however_they_are_written(write, text, value):
    assert load_plan(write(changed("epsilon = 0.1", f"epsilon = {text}"))).guarantee.epsilon == value


@pytest.mark.parametrize("end", [0, 1])
def test_a_probability_of_0_or_1_is_read_and_left_to_the_guarantee(write, end):
    plan = load_plan(write(changed('["0.40", 0.6]', str(end))))
    assert plan.queries[0].range == (end, end)


def test_the_override_of_the_source_starts_from_the_working_directory(write, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    source = load_plan(write(GOOD), data="other.parquet").data
    assert source.path == elsewhere / "other.parquet"
    assert source.label == "other.parquet"
    assert source.row_id == "respondent"


def test_an_absolute_source_stays(write):
    source = load_plan(write(changed('"election.csv"', '"/data/x.csv"'))).data
    assert (source.path, source.label) == (Path("/data/x.csv"), "x.csv")


def test_the_documented_format_is_a_plan(write):
    blocks = plan_file.__doc__.split(".. code-block:: toml\n")[1:]
    example, publication, histogram, columns, groups, same, units, plain, table, ranges, prior = (
        dedent(block[: re.search(r"\n(?=\S)", block).start()]) for block in blocks
    )
    asked = load_plan(write(example + histogram + publication)).queries[1]
    assert (asked.cells[0].name, asked.publication) == ("under 30", Publication(True, 5, None))
    with pytest.raises(PlanError, match=r"age never reaches 1000.* states 0 to 120"):
        load_plan(write(example + columns + histogram.replace("age < 30", "age < 1000")))
    data, _, _ = example.partition("[[query]]")
    (tabulated,) = load_plan(write(data + table)).tables
    assert (len(tabulated.cells), tabulated.query.minimum, tabulated.size(500)) == (8, 40, 500)
    (declared,) = load_plan(write(data + ranges)).tables
    assert declared.query.p == (
        sp.EachBetween("0.05", "0.6"),
        sp.EachBetween("0.1", "0.3"),
        sp.EachBetween("0.05", "0.6"),
    )
    target = "[guarantee]\nepsilon = 1\ndelta = 1\n"
    assert load_plan(write(target + groups)).queries[0].sizes_in({"f": 300, "m": 300}) == {"f": 250, "m": 222}
    together = load_plan(write(units + target + same))
    assert (together.same_rows, together.queries[0].size(500)) == (SameRows(protects="attribute"), 500)
    assert (together.data.units, together.data.largest_unit, together.is_once) == (8000, 5, True)
    of_all = load_plan(write(plain + target))
    assert (of_all.stratified, of_all.queries[0].size(600)) == (False, 300)
    plan = load_plan(write(example))
    assert (plan.prior, plan.same_rows, plan.is_once) == ((), None, False)
    assert plan.queries[0].range == (Fraction(2, 5), Fraction(3, 5))
    entry = PriorPublication("Table 3 of the 1997 yearbook", Fraction(1, 10), Fraction(1, 1000))
    assert load_plan(write(example.replace('prior = "none"', "") + prior)).prior == (entry,)
    assert plan.written_before_access is True


# --- mistakes -------------------------------------------------------------------------------------

NUMBER = 'must be a number such as 0.1, "0.1" or "1/10"'
RANGE = 'must be one number from 0 to 1, or a range ["lower", "upper"] of two with lower <= upper'
DOUBLE = "must be 0, or a number from 1e-300 to 1e300"
PRINTABLE = "control and bidirectional ones are not allowed"

MISTAKES = [
    ("epsilon = 0.1", "epsilon = -0.1", "guarantee.epsilon = -0.1: must be a number at least 0"),
    ("epsilon = 0.1", "epsilon = nan", f"guarantee.epsilon = NaN: {NUMBER}"),
    ("epsilon = 0.1", "epsilon = inf", f"guarantee.epsilon = Infinity: {NUMBER}"),
    ("epsilon = 0.1", "epsilon = true", f"guarantee.epsilon = true: {NUMBER}"),
    ("epsilon = 0.1", "epsilon = [1]", f"guarantee.epsilon = [1]: {NUMBER}"),
    ("epsilon = 0.1", 'epsilon = "ten"', f'guarantee.epsilon = "ten": {NUMBER}'),
    ("epsilon = 0.1", 'epsilon = "1/0"', f'guarantee.epsilon = "1/0": {NUMBER}'),
    ("epsilon = 0.1", 'epsilon = "١"', f'guarantee.epsilon = "١": {NUMBER}'),
    ("epsilon = 0.1", "epsilon = 1e999999999", f'guarantee.epsilon = "1e999999999": {NUMBER}'),
    ("epsilon = 0.1", "epsilon = 1e-99999", f"guarantee.epsilon = 1E-99999: {NUMBER}"),
    ("epsilon = 0.1", "epsilon = 1e400", f"guarantee.epsilon = 1E+400: {DOUBLE}"),
    ("delta = 0.02", "delta = 1e-400", f"guarantee.delta = 1E-400: {DOUBLE}"),
    (
        "epsilon = 0.1",
        "",
        "guarantee.epsilon is missing: the epsilon of the guarantee, a number at least 0",
    ),
    ("delta = 0.02", "delta = 1.5", "guarantee.delta = 1.5: must be a number from 0 to 1"),
    (
        "delta = 0.02",
        "",
        "guarantee.delta is missing: the largest certified delta to accept, a number from 0 to 1",
    ),
    (
        "delta = 0.02",
        "delta = 0.02\nknown_rows = -1",
        "guarantee.known_rows = -1: must be a whole number from 0 to 2^53",
    ),
    (
        "delta = 0.02",
        "delta = 0.02\nknown_row = 1",
        "guarantee.known_row is not a key of a plan; did you mean known_rows?",
    ),
    (
        "delta = 0.02",
        'delta = 0.02\nwritten_before_access = "yes"',
        'guarantee.written_before_access = "yes": must be true or false',
    ),
    ('["0.40", 0.6]', "[0.6, 0.4]", f"query[1].probability = [0.6, 0.4]: {RANGE}"),
    ('["0.40", 0.6]', "[0.4]", f"query[1].probability = [0.4]: {RANGE}"),
    ('["0.40", 0.6]', "[]", f"query[1].probability = []: {RANGE}"),
    ('["0.40", 0.6]', "1.01", f"query[1].probability = 1.01: {RANGE}"),
    ('["0.40", 0.6]', '"about half"', f'query[1].probability = "about half": {RANGE}'),
    ("rows = 472", "rows = 0", "query[1].rows = 0: must be a whole number from 1 to 2^53"),
    ("rows = 472", "rows = 4.5", "query[1].rows = 4.5: must be a whole number from 1 to 2^53"),
    ("rows = 472", 'rows = "472"', 'query[1].rows = "472": must be a whole number from 1 to 2^53'),
    (
        "rows = 472",
        f"rows = {2**53 + 1}",
        f"query[1].rows = {2**53 + 1}: must be a whole number from 1 to 2^53",
    ),
    ("rows = 472", "", 'query[1] needs exactly one of rows = 100 and share = "1/2"; it has neither'),
    (
        "rows = 472",
        "rows = 472\nshare = 0.5",
        'query[1] needs exactly one of rows = 100 and share = "1/2"; it has both',
    ),
    ("rows = 472", "share = 0", "query[1].share = 0: must be a number above 0 and at most 1"),
    ("rows = 472", 'share = "3/2"', 'query[1].share = "3/2": must be a number above 0 and at most 1'),
    (
        '"vote = 0"',
        '"vote = NULL"',
        'query[1].where = "vote = NULL": NULL is not a value to compare with: write vote IS NULL or vote IS NOT NULL',
    ),
    (
        '"vote = 0"',
        '"Respondent = 17"',
        'query[1].where = "Respondent = 17": "Respondent" identifies rows (row_id), and no predicate may '
        "single out rows",
    ),
    ('"vote = 0"', "0", 'query[1].where = 0: must be a condition in quotes, such as "age >= 18"'),
    (
        'where = "vote = 0"',
        "",
        'query[1].where is missing: the property to count, such as "age >= 18"',
    ),
    (
        'name = "Clinton voters"',
        'name = " "',
        'query[1].name = " ": must be a text of 1 to 200 characters, in quotes',
    ),
    (
        '"Clinton voters"',
        '"a\\u202Eb"',
        f'query[1].name = "a\\u202eb": holds the character U+202E; {PRINTABLE}',
    ),
    ('"Clinton voters"', '"a\\nb"', f'query[1].name = "a\\nb": holds the character U+000A; {PRINTABLE}'),
    (
        'source = "pre-election polls"',
        "",
        "query[1].source is missing: where the probability is publicly known from",
    ),
    (
        '"pre-election polls"',
        '""',
        'query[1].source = "": must be a text of 1 to 1000 characters, in quotes',
    ),
    (
        '"election.csv"',
        '"https://example.org/a.csv"',
        'data.source = "https://example.org/a.csv": is a URL; only a file on this machine is read: '
        "download it and give its path",
    ),
    (
        'source = "election.csv"',
        "",
        "data needs source: the file that holds the table, relative to the plan",
    ),
    ("[data]", "[data]\nunit = 1", "data.unit = 1: must be a text of 1 to 200 characters, in quotes"),
    (
        "[data]",
        '[data]\nunit = "Vote"',
        'query[1].where = "vote = 0": "Vote" names persons (unit), and no predicate may single out persons',
    ),
    ("[data]", '[data]\ndelimiter = "ab"', "data.delimiter = \"ab\": must be one of ',', ';', '|' or '\\t'"),
    (
        "[data]",
        '[data]\nnull_values = "NA"',
        'data.null_values = "NA": must be a list: cells of a CSV file that mean NULL',
    ),
    (
        "[data]",
        "[data]\nnull_values = [0]",
        'data.null_values[1] = 0: must be a text in quotes without control characters, such as "NA"',
    ),
    (
        'row_id = "respondent"',
        "row_id = 3",
        "data.row_id = 3: must be a text of 1 to 200 characters, in quotes",
    ),
    (
        "\n[data]",
        "\nseed = 7\n[data]",
        "seed is not a key of a plan; allowed here: data, guarantee, publication, query, table, prior",
    ),
    (
        "\n[data]",
        '\n"s\\u001b[31m" = 7\n[data]',
        '"s\\x1b[31m" is not a key of a plan; allowed here: data, guarantee, publication, query, table, prior',
    ),
    (
        "\n[data]",
        '\nprior = "some"\n[data]',
        'prior = "some": must be "none", or one [[prior]] entry for each publication',
    ),
    (
        "\n[data]",
        "\nprior = [{ epsilon = 1 }]\n[data]",
        "prior[1].description is missing: what was published",
    ),
    ("[[query]]", "[query]", "query must be a list: one [[query]] for each count to release"),
    *[
        (place, f"{added}\n{place}" if table == "publication" else f"{place}\n{key}", f"{where}.{message}")
        for key, message in [
            ("gate = 1", "gate = 1: must be true or false"),
            ("rounded_to = 0", "rounded_to = 0: must be a whole number from 1 to 2^53"),
            ("rounded_to = 2.5", "rounded_to = 2.5: must be a whole number from 1 to 2^53"),
            ("suppressed_below = -1", "suppressed_below = -1: must be a whole number from 0 to 2^53"),
        ]
        for table, place, where in [
            ("publication", "[[query]]", "publication"),
            ("query", "rows = 472", "query[1]"),
        ]
        for added in [f"[publication]\n{key}"]
    ],
    (
        "rows = 472",
        'rows = 472\npreset = "exact"\nrounded_to = 5',
        "query[1] has preset beside rounded_to or suppressed_below, which it stands for; remove one",
    ),
    (
        "rows = 472",
        "rows = {f = 3}",
        "query[1].rows is stated by group, but no data.group names the column of the groups",
    ),
    (
        '["0.40", 0.6]',
        "{f = 0.5}",
        "query[1].probability is stated by group, but no data.group names the column of the groups",
    ),
    (
        "[data]",
        '[data]\ngroup_source = "census"',
        "data has group_source and no group, whose sizes it is about; remove it, or name the column",
    ),
    (
        "[data]",
        '[data]\ngroup = "sex"\ngroup_source = "census"\nstratified = true',
        "query[1].rows = 472: must be stated for each group, such as {f = 30, m = 20}, because rows are drawn in each "
        "group of data.group. State one number for every query, or data.stratified = false, and they are drawn from "
        "all rows alike",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES, ids=[new or f"no {old}" for old, new, _ in MISTAKES])
def test_a_mistake_is_refused_with_its_key_its_value_and_what_is_allowed(write, old, new, message):
    with pytest.raises(PlanError) as refusal:
        load_plan(write(changed(old, new)))
    assert str(refusal.value) == f"release.toml: 1 mistake\n  {message}"


def test_all_mistakes_are_reported_at_once(write):
    text = changed("epsilon = 0.1", "epsilon = -1").replace("rows = 472", "row = 472") + GOOD[GOOD.index("[[query]]") :]
    with pytest.raises(PlanError) as refusal:
        load_plan(write(text.replace('"vote = 0"', '"vote"').replace("[data]", "[dat]")))
    vote = "the column vote alone is not a condition: write vote = TRUE, vote <> 0 or vote IS NOT NULL"
    assert str(refusal.value).splitlines() == [
        "release.toml: 6 mistakes (queries are counted from 1)",
        "  data is missing: a table [data] that names the source",
        "  guarantee.epsilon = -1: must be a number at least 0",
        f'  query[1].where = "vote": {vote}',
        "  query[1].row is not a key of a plan; did you mean rows?",
        f'  query[2].where = "vote": {vote}',
        "  dat is not a key of a plan; did you mean data?",
    ]


def test_hundreds_of_mistakes_are_counted_and_not_all_printed(write):
    query = GOOD[GOOD.index("[[query]]") :].replace("rows = 472", "rows = 0")
    with pytest.raises(PlanError) as refusal:
        load_plan(write(GOOD + query * 300))
    lines = str(refusal.value).splitlines()
    assert lines[0] == "release.toml: 300 mistakes (queries are counted from 1)"
    assert lines[1] == "  query[2].rows = 0: must be a whole number from 1 to 2^53"
    assert (len(lines), lines[-1]) == (22, "  and 280 more")


def test_a_plan_needs_a_query_and_has_at_most_10000(write):
    none = "query = []\n" + GOOD[: GOOD.index("[[query]]")]
    with pytest.raises(
        PlanError, match=r"query is missing: one \[\[query\]\] for each count to release, or a \[\[table\]\]"
    ):
        load_plan(write(none))
    query = '[[query]]\nname="a"\nwhere="a=1"\nprobability=0.5\nsource="b"\nrows=1\n'
    with pytest.raises(PlanError, match="at most 10000 queries are allowed"):
        load_plan(write(GOOD + query * 10_000))


def test_shares_of_more_than_everything_are_refused(write):
    text = changed("rows = 472", 'share = "2/3"')
    with pytest.raises(PlanError, match=r"the shares of the queries add up to 4/3; parts are disjoint, so at most 1"):
        load_plan(write(text + text[text.index("[[query]]") :]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[data]\nsource = \n", "release.toml is not valid TOML: Invalid value (at line 2, column 10)"),
        (
            "[data]\nx = 1\nx = 2\n",
            "release.toml is not valid TOML: Cannot overwrite a value (at line 3, column 6)",
        ),
        (b"[data]\nsource = '\xff'\n", "release.toml: line 2 is not UTF-8; save the plan as UTF-8"),
        (
            f"x = {'9' * 5000}",
            "release.toml: an integer has thousands of digits; no number of a plan is that long",
        ),
        (f"x = {'[' * 5000}", "release.toml: arrays or tables are nested too deeply for a plan"),
    ],
    ids=["value", "twice", "encoding", "digits", "nesting"],
)
def test_broken_toml_is_refused_with_its_line(write, text, message):
    with pytest.raises(PlanError) as refusal:
        load_plan(write(text))
    assert str(refusal.value) == message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in the file system")
def test_a_plan_that_is_no_regular_file_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    for path in (tmp_path / "pipe.toml", Path("/dev/zero")):
        with pytest.raises(PlanError) as refused:
            load_plan(path)
        assert str(refused.value) == f'the plan "{path}" is no regular file; a TOML file is required'


def test_a_plan_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(PlanError, match=r'the plan ".*nosuch\.toml" cannot be read: No such file or directory'):
        load_plan(tmp_path / "nosuch.toml")
    with pytest.raises(PlanError, match=r"cannot be read: Is a directory"):
        load_plan(tmp_path)


def test_a_url_as_override_is_refused(write):
    with pytest.raises(PlanError, match=r'data = "s3://bucket/a\.csv": is a URL; only a file on this machine'):
        load_plan(write(GOOD), data="s3://bucket/a.csv")


def test_an_unknown_preset_is_refused_with_the_closed_list(write):
    with pytest.raises(PlanError) as refusal:
        load_plan(write(changed("rows = 472", 'rows = 472\npreset = "rounded to 7"')))
    assert str(refusal.value).startswith(
        "release.toml: 1 mistake\n  query[1].preset = \"rounded to 7\": must be one of 'exact', 'suppressed below 3',"
    )


# --- what is done to counts -----------------------------------------------------------------------


def publications(write, general, *own):
    """Of a plan with this [publication], and a query for each text of keys."""
    start, query = GOOD[: GOOD.index("[[query]]")], GOOD[GOOD.index("[[query]]") :]
    plan = load_plan(write(start + general + "\n" + "\n".join(query + keys for keys in own)))
    return [asked.publication for asked in plan.queries]


def test_counts_are_published_as_they_are_unless_the_plan_says_otherwise(write):
    assert publications(write, "", "") == [Publication(gate=False, rounded_to=None, suppressed_below=None)]


def test_a_query_overrides_key_by_key_what_is_said_for_all(write):
    general = "[publication]\ngate = true\nrounded_to = 5\nsuppressed_below = 10"
    assert publications(
        write, general, "", "gate = false", "rounded_to = 1", "suppressed_below = 0", "rounded_to = 3\ngate = true"
    ) == [
        Publication(True, 5, 10),
        Publication(False, 5, 10),
        Publication(True, None, 10),
        Publication(True, 5, None),
        Publication(True, 3, 10),
    ]


@pytest.mark.parametrize(
    ("preset", "rounded_to", "suppressed_below"),
    [
        ("exact", None, None),
        ("rounded to 5", 5, None),
        ("suppressed below 3", None, 3),
        ("rounded to 5, suppressed below 10", 5, 10),
    ],
)
def test_a_preset_stands_for_its_two_keys_wherever_it_is_said(write, preset, rounded_to, suppressed_below):
    expected = [Publication(False, rounded_to, suppressed_below)]
    key = f'preset = "{preset}"'
    assert publications(write, f"[publication]\n{key}", "") == expected
    assert publications(write, "[publication]\nrounded_to = 7\nsuppressed_below = 8", key) == expected


def test_one_key_of_a_query_leaves_the_other_of_a_preset(write):
    preset = '[publication]\npreset = "rounded to 5, suppressed below 10"'
    assert publications(write, preset, "rounded_to = 3") == [Publication(False, 3, 10)]


# --- histograms and groups ------------------------------------------------------------------------

CELLS = """
[[query]]
name = "Age"
source = "census"
rows = 300

[[query.cell]]
name = "under 30"
where = "age < 30"
probability = ["0.2", "0.3"]

[[query.cell]]
name = "under 60"
where = "age < 60"
probability = 0.4
"""
HISTOGRAM = GOOD[: GOOD.index("[[query]]")] + CELLS


def test_a_histogram_is_read_with_its_implied_last_cell(write):
    plan = load_plan(write(HISTOGRAM))
    (histogram,) = plan.queries
    assert [cell.name for cell in histogram.cells] == ["under 30", "under 60"]
    assert histogram.questions == (Predicate.parse("age < 30"), Predicate.parse("age < 60"))
    assert plan.attribute(histogram) == 'first of: "age" < 30; "age" < 60'
    tenths = [[Fraction(end, 10) for end in ends] for ends in [(2, 3), (4, 4), (3, 4)]]
    assert [list(ends) for ends in plan.hulls(histogram)] == tenths


def test_histograms_of_the_same_cells_take_the_hull_cell_by_cell(write):
    plan = load_plan(write(HISTOGRAM + CELLS.replace('["0.2", "0.3"]', '["0.1", "0.25"]')))
    first, same = plan.queries
    assert plan.hulls(first) == plan.hulls(same)
    assert plan.hulls(first)[0] == (Fraction(1, 10), Fraction(3, 10))
    assert plan.hulls(first)[-1] == (Fraction(3, 10), Fraction(1, 2))
    swapped = load_plan(write(HISTOGRAM + CELLS.replace("age < 30", "age < 20")))
    assert len(swapped.properties) == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "probability = 0.4",
            "",
            "query[1].cell[2].probability is missing: what the public knows of the property's probability: "
            "a number or a range of two",
        ),
        (
            'where = "age < 60"',
            'where = "age"',
            'query[1].cell[2].where = "age": the column age alone is not a condition: write age = TRUE, age <> 0 or '
            "age IS NOT NULL",
        ),
        (
            'name = "under 60"',
            'nam = "under 60"\nname = "b"',
            "query[1].cell[2].nam is not a key of a plan; did you mean name?",
        ),
        (
            "rows = 300",
            'rows = 300\nwhere = "age < 30"',
            "query[1].where is not a key of a histogram; it stands in each [[query.cell]]",
        ),
        (
            'name = "under 60"',
            'name = "under 30"',
            'query[1] has two cells called "under 30" ("none of these" is the implied last one)',
        ),
        (
            'name = "under 60"',
            'name = "none of these"',
            'query[1] has two cells called "none of these" ("none of these" is the implied last one)',
        ),
        (
            "probability = 0.4",
            "probability = 0.9",
            "query[1] has cells whose probabilities add up to at least 11/10, which is above 1",
        ),
        (
            "probability = 0.4",
            'probability = [0.4, "0.7"]',
            "query[1] has cells whose probabilities may add up to 1, so that rows in no cell would have probability 0 "
            "and give themselves away: leave out one cell, and it is the implied last one",
        ),
        (
            "[data]",
            '[data]\ngroup = "sex"\ngroup_source = "census"',
            "query[1] has cells, but data.group is there: a plan with groups asks counts only in this version; ask one "
            "count for each cell, each on rows of its own",
        ),
        (
            "rows = 300",
            "rows = 300\nsuppressed_below = 10",
            "query[1] is a histogram with suppressed_below = 10: a suppressed cell would be what the other cells leave "
            "of the rows. State suppressed_below = 0 for it, and round it instead",
        ),
    ],
)
def test_a_mistake_in_a_histogram_is_refused(write, old, new, message):
    assert HISTOGRAM.count(old) == 1
    with pytest.raises(PlanError) as refusal:
        load_plan(write(HISTOGRAM.replace(old, new)))
    assert str(refusal.value) == f"release.toml: 1 mistake\n  {message}"


def test_too_many_cells_and_cells_in_groups_are_refused(write):
    cell = CELLS[CELLS.index("[[query.cell]]") :].replace("0.4", "0").replace('["0.2", "0.3"]', "0")
    with pytest.raises(PlanError, match=r"at most 100 cells are allowed"):
        load_plan(write(HISTOGRAM + "".join(cell.replace("under", f"{k} under") for k in range(50))))
    grouped = HISTOGRAM.replace("[data]", '[data]\ngroup = "sex"\ngroup_source = "census"').replace(
        "rows = 300", 'share = "1/2"'
    )
    with pytest.raises(PlanError, match=r"a plan with groups asks counts only in this version; ask one count for each"):
        load_plan(write(grouped))


GROUPS = (
    GOOD.replace("[data]", '[data]\ngroup = "sex"\ngroup_source = "census"')
    .replace('["0.40", 0.6]', '{f = ["0.40", 0.6], m = "0.5"}')
    .replace("rows = 472", "rows = {f = 250, m = 222}")
)


def test_a_stratified_plan_is_read_by_group(write):
    plan = load_plan(write(GROUPS))
    (counted,) = plan.queries
    assert plan.data.group == "sex"
    assert counted.sizes_in({"f": 500, "m": 444}) == {"f": 250, "m": 222}
    half = Fraction(1, 2)
    assert (plan.hull(counted, "f"), plan.hull(counted, "m")) == ((Fraction(2, 5), Fraction(3, 5)), (half, half))


def test_sizes_of_groups_are_published_only_if_the_plan_says_where_they_are_public(write):
    assert load_plan(write(GROUPS)).data.group_source == "census"
    with pytest.raises(PlanError) as refused:
        load_plan(write(GROUPS.replace('\ngroup_source = "census"', "")))
    assert str(refused.value) == (
        'release.toml: 1 mistake\n  data has group = "sex" and no group_source: the report publishes the exact size of '
        'each group, outside the guarantee. Say where these sizes are public, such as group_source = "census of 2021"; '
        "if they are not, leave group out"
    )
    with pytest.raises(PlanError, match=r'data.group_source = "": must be a text of 1 to 1000 characters, in quotes'):
        load_plan(write(GROUPS.replace('"census"', '""')))


@pytest.mark.parametrize("where", ["sex = 'f'", 'vote = 0 AND "SEX" IS NOT NULL'])
def test_a_predicate_on_the_column_of_the_groups_is_refused(write, where):
    with pytest.raises(PlanError) as refused:
        load_plan(write(GROUPS.replace('where = "vote = 0"', f"where = {json.dumps(where)}")))
    assert str(refused.value).endswith(
        '"sex" is the column of the groups: it is taken as known of everybody, so a count of it says nothing, and no '
        "one probability holds for all of them. State probabilities by group instead, such as "
        'probability = {f = "0.4", m = "0.5"}'
    )


@pytest.mark.parametrize("key", ["row_id", "unit"])
def test_a_group_that_identifies_rows_or_persons_is_refused(write, key):
    text = GROUPS.replace('row_id = "respondent"', f'{key} = "sex"')
    with pytest.raises(PlanError, match=f'data.group = "sex": is also {key}: a column of groups that everybody is'):
        load_plan(write(text))


def test_a_share_is_one_of_each_group_and_rows_may_leave_groups_out(write):
    shared = load_plan(write(GROUPS.replace("rows = {f = 250, m = 222}", 'share = "1/3"'))).queries[0]
    assert shared.sizes_in({"f": 10, "m": 2}) == {"f": 3, "m": 0}
    one = load_plan(write(GROUPS.replace(", m = 222}", "}"))).queries[0]
    assert one.sizes_in({"f": 500, "m": 444}) == {"f": 250, "m": 0}


@pytest.mark.parametrize(
    ("old", "new", "groups", "message"),
    [
        (
            "",
            "",
            {"f": 500, "x": 1},
            'query "Clinton voters": probability names the groups "f", "m"; the table has "f", "x", each of which '
            "needs a probability",
        ),
        (
            "m = 222",
            "d = 222",
            {"f": 500, "m": 400},
            'query "Clinton voters": rows names the groups "f", "d"; the table has "f", "m", each of which needs a '
            "probability",
        ),
        (
            "rows = {f = 250, m = 222}",
            'share = "1/10"',
            {"f": 9, "m": 9},
            'query "Clinton voters": of 18 rows in groups it uses no row at all; give it a larger share, or at least '
            "one row of some group",
        ),
    ],
)
def test_groups_that_the_table_does_not_have_are_refused(write, old, new, groups, message):
    planned = load_plan(write(GROUPS.replace(old, new) if old else GROUPS)).queries[0]
    with pytest.raises(PlanError) as refusal:
        planned.sizes_in(groups)
    assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rows = {f = 250, m = 222}", "rows = {f = 0}", "must be at least one row of some group"),
        ("m = 222", "m = 1.5", 'of the group "m": must be a whole number from 0 to 2^53'),
        ('m = "0.5"', 'm = "2"', f'of the group "m": {RANGE}'),
        ("rows = {f = 250, m = 222}", "rows = {}", "must have 1 to 100 groups"),
    ],
)
def test_a_mistake_in_a_group_is_refused(write, old, new, message):
    with pytest.raises(PlanError, match=re.escape(message)):
        load_plan(write(GROUPS.replace(old, new)))


# --- sizes and properties -------------------------------------------------------------------------


def query(**changes):
    fields = {"name": "a", "predicate": Predicate.parse("a=1"), "probability": Fraction(1, 2), "source": "s"}
    return PlannedQuery(**{**fields, **changes})


def test_a_share_is_rounded_down():
    thirds = query(share=Fraction(1, 3))
    assert [thirds.size(n) for n in (3, 4, 5, 6, 10**15 + 2)] == [1, 1, 1, 2, (10**15 + 2) // 3]
    assert query(rows=7).size(7) == 7


@pytest.mark.parametrize(
    ("planned", "n", "message"),
    [
        (
            query(share=Fraction(1, 3)),
            2,
            'query "a": share = 1/3 of 2 rows is less than one row; use a share of at least 1/2',
        ),
        (
            query(rows=8),
            7,
            'query "a": rows = 8 of a table of 7; allowed is 1 to 7, for all queries together',
        ),
    ],
)
def test_a_size_that_the_table_does_not_have_is_refused(planned, n, message):
    with pytest.raises(PlanError) as refusal:
        planned.size(n)
    assert str(refusal.value) == message


def test_sameness_of_properties_comes_from_the_predicate_and_takes_the_hull_of_the_ranges(write):
    other = GOOD[GOOD.index("[[query]]") :]
    plan = load_plan(
        write(
            GOOD
            + other.replace("vote = 0", "NOT vote<>0.0").replace('["0.40", 0.6]', '["0.55", "0.7"]')
            + other.replace("vote = 0", "vote = 1").replace('["0.40", 0.6]', "0.3")
        )
    )
    first, same, different = plan.queries
    assert plan.attribute(first) == plan.attribute(same) == '"vote" = 0'
    assert plan.attribute(different) == '"vote" = 1'
    assert plan.hull(first) == plan.hull(same) == (Fraction(2, 5), Fraction(7, 10))
    assert plan.hull(different) == (Fraction(3, 10), Fraction(3, 10))
    assert plan.properties == {'"vote" = 0': (first, same), '"vote" = 1': (different,)}


# --- where the table is ---------------------------------------------------------------------------

DATABASE = 'source = "postgresql://ana@db.example:5433/health?sslmode=verify-full"\ntable = "survey.persons"'


def located(data, row_id='row_id = "respondent"'):
    return changed('source = "election.csv"', data).replace('row_id = "respondent"', row_id)


def test_a_table_of_a_database_is_labelled_without_host_and_user(write):
    data = load_plan(write(located(DATABASE))).data
    assert (data.engine, data.path, data.label, data.table) == (
        "postgresql",
        None,
        "survey.persons",
        "survey.persons",
    )
    assert data.database == "postgresql://ana@db.example:5433/health?sslmode=verify-full"


def test_tables_of_catalogs_and_patterns_of_files(write, tmp_path):
    catalog = load_plan(write(located('engine = "spark"\ntable = "survey.persons"'))).data
    assert (catalog.engine, catalog.path, catalog.label) == ("spark", None, "survey.persons")
    files = load_plan(write(located('source = "in/visits-*.parquet"\nglob = true'))).data
    assert (files.engine, files.path, files.label, files.glob) == (
        "duckdb",
        tmp_path / "in" / "visits-*.parquet",
        "visits-*.parquet",
        True,
    )


SECRET = "hunter2"  # noqa: S105 - nobody's


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (f"postgresql://ana:{SECRET}@db/health", "source: the URL holds a password"),
        (f"postgresql://db/health?password={SECRET}", "source: the URL holds a password"),
        (f"postgresql://db/health?sslpassword={SECRET}", "source: the URL holds a password"),
        (f"postgresql://db/health?options=-c%20role%3D{SECRET}", "only these are allowed: application_name"),
        (f"postgresql://db:port{SECRET}/health?sslmode", "cannot be read as postgresql://host/database"),
        (f"postgresql://[{SECRET}/health", "cannot be read as postgresql://host/database"),
    ],
)
def test_an_address_may_hold_no_secret_and_is_not_quoted(write, data, reason):
    for attempt in (
        lambda: load_plan(write(located(f'source = "{data}"\ntable = "t"'))),
        lambda: load_plan(write(located(DATABASE)), data=data),
    ):
        with pytest.raises(PlanError) as refused:
            attempt()
        assert reason in str(refused.value)
        assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("data", "row_id", "reason"),
    [
        ('engine = "postgresql"\nsource = "a.csv"', "id", 'needs source = "postgresql://host/database" and table'),
        ('source = "postgresql://db/health"', "id", 'needs source = "postgresql://host/database" and table'),
        (DATABASE, "", "needs row_id: in PostgreSQL rows have no order that could identify them"),
        ('engine = "spark"\nsource = "a.csv"', "", "needs row_id: in Spark rows have no order"),
        ('engine = "spark"', "id", "needs either a source of CSV or Parquet files, or a table of the catalog"),
        ('engine = "spark"\nsource = "a.csv"\ntable = "t"', "id", "needs either a source of CSV or Parquet files"),
        ('engine = "duckdb"\ntable = "t"', "id", "needs source: the file that holds the table"),
        (f'engine = "duckdb"\n{DATABASE}', "id", "needs source: the file that holds the table"),
        (f"{DATABASE}\nglob = true", "id", "is a table, and glob, null_values and delimiter are for files"),
        ('engine = "mysql"\nsource = "a.csv"', "id", "must be one of 'duckdb', 'postgresql' or 'spark'"),
    ],
)
def test_a_place_without_sense_is_refused(write, data, row_id, reason):
    with pytest.raises(PlanError) as refused:
        load_plan(write(located(data, f'row_id = "{row_id}"' if row_id else "")))
    assert reason in str(refused.value)


FORMATS = Path(__file__).parents[1] / "vectors" / "formats" / "plan" / "1"


def test_a_range_is_also_one_text(tmp_path):
    text = (FORMATS / "first.toml").read_text("utf-8")
    path = tmp_path / "plan.toml"
    path.write_text(text.replace('["0.40", "0.60"]', '"0.40..0.60"'), encoding="utf-8")
    jsonschema.validate(tomllib.loads(path.read_text("utf-8")), published_schema())
    assert load_plan(path).queries == load_plan(FORMATS / "first.toml").queries
    for wrong in ("0.6..0.4", "0.4..", "0.4..1.1", "0.4..0.5..0.6", "..", "nan..1"):
        path.write_text(text.replace('["0.40", "0.60"]', f'"{wrong}"'), encoding="utf-8")
        with pytest.raises(sp.PlanError, match="must be one number from 0 to 1, or a range"):
            load_plan(path)


# --- the published schema -------------------------------------------------------------------------


def published_schema():
    return json.loads(resources.files("statpriv.releasing").joinpath("plan.schema.json").read_text("utf-8"))


def names(schema):
    """Every key a schema allows and requires, by table: what must not drift, in whatever words."""
    tables = {"": schema, **schema["$defs"]}
    return {name: (sorted(table["properties"]), sorted(table.get("required", []))) for name, table in tables.items()}


def test_the_published_schema_is_that_of_the_code():
    published = published_schema()
    jsonschema.Draft202012Validator.check_schema(published)
    assert names(published) == names(plan_schema())
    assert all(not table["additionalProperties"] for table in [published, *published["$defs"].values()])


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        EVERYTHING,
        'prior = "none"\n' + GOOD,
        HISTOGRAM,
        GROUPS,
        GOOD + '[publication]\npreset = "exact"\ngate = true',
    ],
    ids=["least", "most", "none", "histogram", "groups", "publication"],
)
def test_the_published_schema_accepts_plans(text):
    jsonschema.validate(tomllib.loads(text), published_schema())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("epsilon = 0.1", ""),
        ("epsilon = 0.1", 'epsilon = "ten"'),
        ("rows = 472", "rows = 0"),
        ("rows = 472", "row = 472"),
        ("rows = 472", 'rows = 472\npreset = "fine"'),
        ("rows = 472", "rows = {f = -1}"),
        ("rows = 472", "rows = 472\nsuppressed_below = -1"),
        ('["0.40", 0.6]', "[0.4]"),
        ("\n[data]", '\nprior = "some"\n[data]'),
    ],
)
def test_the_published_schema_refuses_mistakes(old, new):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(changed(old, new)), published_schema())


def test_a_missing_extra_says_which():
    code = "import sys; sys.modules['pydantic'] = None; import statpriv.releasing.plan_file"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtraError: a plan needs pydantic: pip install 'statpriv[release]'" in run.stderr
