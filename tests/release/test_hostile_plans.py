"""Does every mistaken or hostile plan end with exit code 2, a sentence that helps, nothing read and nothing spent?"""

from __future__ import annotations

import os
import stat

import pytest

from statpriv.releasing.ledger import Registry

from .conftest import query, statpriv

CELLS = ["cell7391a", "cell7391b"]
COLUMNS = ["id", "vote", "age", "name", "d", 'we"ird; col', "select"]
ROWS = [[f"cell7391{i}", i % 2, 20 + i, "cell7391", "2020-01-01", "it's", 1] for i in range(8)]

FUNCTIONS = "functions, casts and subqueries are not allowed"
WORD = "is a word of SQL that this language does not have"
ARITHMETIC = "arithmetic is not allowed: compare the column itself with a constant"
NULL = "NULL is not a value to compare with: write vote IS NULL or vote IS NOT NULL"
SINGLE_OUT = "no predicate may single out rows"
PARAMETER = "parameters are not allowed: write the constant itself"
DEEP = "parentheses and NOT are nested more than 20 deep"
LONG = "at most 4096 are allowed"

REFUSED = {
    "vote=0; DROP TABLE t": "only one condition is allowed, without ';'",
    "vote=0) OR (1=1": "a ')' closes a parenthesis that was never opened",
    "1=1": "a comparison takes one column and one constant",
    "TRUE": "a constant alone is not a condition",
    "vote": "the column vote alone is not a condition: write vote = TRUE, vote <> 0 or vote IS NOT NULL",
    "vote=0 UNION SELECT 1": WORD,
    "EXISTS(SELECT 1 FROM read_text('x'))": FUNCTIONS,
    "age>(SELECT avg(age) FROM t)": FUNCTIONS,
    "vote IN (SELECT 1)": WORD,
    "sum(vote)>3": FUNCTIONS,
    "row_number() OVER ()<=5": FUNCTIONS,
    "random()<0.5": FUNCTIONS,
    "id=17": SINGLE_OUT,
    "vote=0 OR \"ID\"='x'": SINGLE_OUT,
    "rowid=17": SINGLE_OUT,
    'NOT ("RowID">3)': SINGLE_OUT,
    "1/(vote-3)>0": ARITHMETIC,
    "age*age>5": ARITHMETIC,
    "CAST(name AS INT)>0": FUNCTIONS,
    "name::INT>0": "casts are not allowed",
    "CASE WHEN vote=0 THEN error('x') ELSE TRUE END": FUNCTIONS,
    "regexp_matches(name,'(a+)+b')": FUNCTIONS,
    "name COLLATE NOCASE='x'": WORD,
    "current_date>d": WORD,
    "getenv('HOME')=name": FUNCTIONS,
    "mymacro(vote)": FUNCTIONS,
    "t.vote=0": "the name of a column takes no prefix: write vote, not t.vote",
    "vote=NULL": NULL,
    "vote NOT IN (1,NULL)": NULL,
    "vote=0x10": "is not a plain decimal such as 1000 or 0.25",
    "vote=1e400": "is not a plain decimal such as 1000 or 0.25",
    "vote=9999999999999999999": "more than 18 digits before or after the point",
    "d>DATE '2020-13-01'": "is not a day of the calendar, written as 2020-12-31",
    "@vote=1": PARAMETER,
    "vote=$1": PARAMETER,
    "vote=?": PARAMETER,
    "COLUMNS('a')>1": FUNCTIONS,
    "vote=0 LIMIT 1": WORD,
    "(" * 5000 + "vote=0" + ")" * 5000: LONG,
    "(" * 2000 + "vote=0" + ")" * 2000: DEEP,
    "NOT " * 1000 + "vote=0": DEEP,
    "vote=-" + "-" * 2000 + "1": "",
    "vote IN (" + ",".join(map(str, range(600))) + ")": "at most 500 are allowed",
    "name='\u202ex'": "holds the character U+202E",
    "name='\u2066x'": "holds the character U+2066",
    "vote=0 \x00": "holds the character U+0000",
    "name LIKE '%a%a%a%a%b'": "the pattern of LIKE may hold at most 3 '%'",
    "name LIKE name": "the pattern of LIKE must be a constant text in quotes",
    "vote = age": "two columns cannot be compared",
    "vote = 0 AND vote = 'x'": "a column has one type",
    "name='x": "a quote or a comment is opened and not closed",
    "vote=0 /* or": "a quote or a comment is opened and not closed",
    "": "it is empty; write a condition such as age >= 18",
    "   ": "it is empty; write a condition such as age >= 18",
}

ACCEPTED = {
    "\"we\"\"ird; col\"='it''s'": 8,
    "name='; DROP TABLE t'": 0,
    "vote=0 -- c": 4,
    "(age>25) IS TRUE": 2,
    '"select"=1': 8,
    "age='20'": 1,
}


@pytest.fixture
def refuse(workshop, in_process, connections):
    """Run the command: it exits 2, says something that helps, and has read, spent and written nothing."""

    def run(*arguments, plan=workshop.folder / "plan.toml", outputs=True, schema_read=False):
        before = files(workshop.folder)
        connections.clear()
        written = ["--out", workshop.page, "--json", workshop.json] if outputs else []
        code, out, err = in_process("release", plan, *written, "--registry", workshop.registry, *arguments)
        assert (code, out) == (2, ""), err
        assert err.startswith("Error: ")
        assert err.isprintable() or err.replace("\n", "").isprintable()
        assert "Traceback" not in err
        assert "cell7391" not in err
        assert all("parquet_schema(" in sql or sql.startswith("DESCRIBE") for sql in connections)
        assert schema_read or not connections
        assert workshop.spent() == []
        assert files(workshop.folder) == before
        return err.removeprefix("Error: ").removesuffix("\n")

    return run


def files(folder):
    """Everything outside the registry, with its bytes."""
    return {
        path: path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in folder.rglob("*")
        if "registry" not in path.parts
    }


def sentence(message):
    """The message of a refusal in one line: shorter than a screen, and about one mistake."""
    assert len(message) < 1000
    assert "1 mistake\n" in message or "\n" not in message.rstrip("\n")
    return message


# --- predicates


@pytest.mark.parametrize("where", REFUSED, ids=lambda where: repr(where[:40]))
def test_hostile_predicates(workshop, refuse, where):
    workshop.table(COLUMNS, ROWS)
    escaped = where.replace("\x00", "")
    workshop.plan(query(escaped, rows=4), more_data='row_id = "id"')
    if escaped != where:
        text = (workshop.folder / "plan.toml").read_text(encoding="utf-8")
        workshop.write("plan.toml", text.replace(f'where = "{escaped}"', f'where = "{escaped}\\u0000"'))
    message = sentence(refuse())
    assert "plan.toml" in message
    assert "query[1].where = " in message
    assert REFUSED[where] in message


@pytest.mark.parametrize(("where", "expected"), ACCEPTED.items())
def test_odd_predicates_that_are_allowed(workshop, in_process, where, expected):
    workshop.table(COLUMNS, ROWS)
    workshop.plan(query(where, rows=8))
    code, out, err = in_process(
        "release", workshop.folder / "plan.toml", "--out", workshop.page, "--json", workshop.json,
        "--registry", workshop.registry,
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert f"{expected} of 8" in out
    assert workshop.report["answers"][0]["count"] == expected
    workshop.assert_whole_report()


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("nosuch=1", 'there is no column "nosuch"'),
        ("Vote=1", 'there is no column "Vote"; did you mean "vote"?'),
        ("vote = 0 AND vots = 1", 'there is no column "vots"; did you mean "vote"?'),
    ],
)
def test_columns_that_are_not_there(workshop, refuse, where, reason):
    workshop.table(COLUMNS, ROWS)
    workshop.plan(query(where, rows=4))
    assert reason in sentence(refuse())


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("age='18'", "declared INTEGER, and the predicate compares it as a text; write the constant without quotes"),
        ("name=18", "declared VARCHAR, and the predicate compares it as a number; write the constant as text"),
        ("height=1.8", "declared DOUBLE, where equality is a matter of rounding"),
        ("d>'2020-01-01'", "write the constant as DATE '2020-12-31'"),
        ("tags='x'", "only numbers, text, dates and booleans can be compared"),
    ],
)
def test_predicates_that_do_not_fit_the_declared_type(workshop, refuse, where, reason):
    path = workshop.parquet(
        "SELECT CAST(i AS INTEGER) AS age, 'cell7391' AS name, CAST(i AS DOUBLE) AS height, "
        "DATE '2020-01-01' AS d, ['cell7391'] AS tags FROM range(8) t(i)"
    )
    workshop.plan(query(where, rows=4), data=path.name)
    assert reason in sentence(refuse(schema_read=True))


# --- plans


def replaced(old, new):
    return lambda plan: plan.replace(old, new)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (replaced("delta = 1", "delta = nan"), "guarantee.delta = NaN: must be a number"),
        (replaced("delta = 1", "delta = inf"), "guarantee.delta = Infinity: must be a number"),
        (replaced("delta = 1", "delta = 1.5"), "guarantee.delta = 1.5: must be a number from 0 to 1"),
        (replaced("delta = 1", "delta = true"), "guarantee.delta = true: must be a number"),
        (replaced("epsilon = 0.1", "epsilon = -0.1"), "guarantee.epsilon = -0.1: must be a number at least 0"),
        (replaced("epsilon = 0.1", "epsilon = 1e999999999"), "guarantee.epsilon = "),
        (replaced("epsilon = 0.1", f"epsilon = {'9' * 5000}"), "an integer has thousands of digits"),
        (replaced("epsilon = 0.1\n", ""), "guarantee.epsilon is missing"),
        (replaced("delta = 1", "delta = 1\nsigma = 3"), "guarantee.sigma is not a key of a plan"),
        (replaced("delta = 1", "delta = 1\nknown_row = 3"), "did you mean known_rows?"),
        (replaced("delta = 1", "delta = 1\nknown_rows = -1"), "guarantee.known_rows = -1: must be a whole number"),
        (replaced("delta = 1", "delta = 1\nknown_rows = 0.5"), "guarantee.known_rows = 0.5: must be a whole number"),
        (replaced("[data]", "[data]\nfilter = 'vote = 0'"), "data.filter is not a key of a plan"),
        (replaced("[data]", "[data]\nunit = 7"), "data.unit = 7: must be a text"),
        (replaced("[data]", "[data]\nrow_id = 7"), "data.row_id = 7: must be a text"),
        (replaced("[data]", "[data]\ndelimiter = 'xx'"), 'data.delimiter = "xx": must be one of'),
        (replaced("people.csv", "https://example.org/people.csv"), "is a URL; only a file on this machine is read"),
        (replaced("rows = 4", "rows = 0"), "query[1].rows = 0: must be a whole number from 1 to 2^53"),
        (replaced("rows = 4", "rows = 1e400"), "query[1].rows = 1E+400: must be a whole number from 1 to 2^53"),
        (replaced("rows = 4", "rows = '4'"), 'query[1].rows = "4": must be a whole number from 1 to 2^53'),
        (replaced("rows = 4", "rows = 4\nshare = 0.5"), "it has both"),
        (replaced("rows = 4", ""), "it has neither"),
        (replaced("rows = 4", "share = 1.01"), "query[1].share = 1.01: must be a number above 0 and at most 1"),
        (replaced('["0.4", "0.6"]', '["0.6", "0.4"]'), "of two with lower <= upper"),
        (replaced('["0.4", "0.6"]', '["0.4", "1.1"]'), "must be one number from 0 to 1, or a range"),
        (replaced('["0.4", "0.6"]', "nan"), "must be one number from 0 to 1, or a range"),
        (replaced('["0.4", "0.6"]', "[]"), "must be one number from 0 to 1, or a range"),
        (replaced('source = "a public table"\n', ""), "query[1].source is missing"),
        (replaced('name = "a count"', 'name = ""'), "must be a text of 1 to 200 characters"),
        (replaced('prior = "none"', 'prior = "some"'), 'prior = "some": must be "none", or one [[prior]] entry'),
        (replaced("[[query]]", "[query]"), "query"),
        (replaced("[guarantee]", "[guarante]"), "did you mean guarantee?"),
        (lambda plan: plan[: plan.index("[[query]]")], "query is missing"),
        (lambda plan: plan + "[[[", "is not valid TOML"),
        (lambda _plan: "", "guarantee is missing"),
        (lambda _plan: "x = " + "[" * 5000, "nested too deeply"),
        (lambda plan: plan.encode() + b"# \xff", "is not UTF-8; save the plan as UTF-8"),
    ],
)  # fmt: skip
def test_mistaken_plans(workshop, refuse, change, reason):
    workshop.table(COLUMNS, ROWS)
    path = workshop.plan(query("vote = 0", rows=4))
    workshop.write("plan.toml", change(path.read_text(encoding="utf-8")))
    message = refuse()
    assert reason in message
    assert "plan.toml" in message
    assert len(message) < 1000


@pytest.mark.parametrize(
    ("queries", "more", "reason"),
    [
        ([query("vote = 0", rows=9)], "", "rows = 9 of a table of 8; allowed is 1 to 8"),
        ([query("vote = 0", rows=2**53)], "", "rows = 9007199254740992 of a table of 8"),
        (
            [query("vote = 0", rows=5), query("vote = 0", rows=4)],
            "",
            "the queries use 9 rows together, the table has 8",
        ),
        ([query("vote = 0", share="1/9")], "", "share = 1/9 of 8 rows is less than one row"),
        ([query("vote = 0", rows=4)], "known_rows = 8", "guarantee.known_rows = 8; of 8 rows at most 7 can be known"),
        ([query("vote = 0", rows=4)], f"known_rows = {2**53}", "of 8 rows at most 7 can be known"),
    ],
)
def test_plans_that_do_not_fit_the_number_of_rows(workshop, in_process, connections, *, queries, more, reason):
    workshop.table(COLUMNS, ROWS)
    workshop.plan(*queries, more=more, more_data='row_id = "id"')
    code, out, err = in_process(
        "release", workshop.folder / "plan.toml", "--out", workshop.page, "--registry", workshop.registry
    )
    assert (code, out) == (2, "")
    assert reason in err
    assert [sql.split(" FROM ")[0] for sql in connections] == ["SELECT count(*)"]
    workshop.assert_untouched()


# --- files


@pytest.mark.parametrize("way", ["name", "other spelling", "hard link"])
@pytest.mark.parametrize("target", ["people.csv", "plan.toml", "registry/ledger.sqlite3", "registry/secret.json"])
def test_inputs_and_the_ledger_are_never_overwritten(workshop, in_process, target, way):
    workshop.table(COLUMNS, ROWS)
    workshop.plan(query("vote = 0", rows=4))
    path = workshop.folder / target
    if "registry" in target:
        with Registry.open(workshop.registry).locked():
            pass
    if way == "other spelling":
        path = path.parent / ".." / path.parent.name / path.name
    if way == "hard link":
        path = workshop.folder / "innocent.html"
        path.hardlink_to(workshop.folder / target)
    before = (workshop.folder / target).read_bytes()
    for option, other in (("--out", "--json"), ("--json", "--out")):
        code, out, err = in_process(
            "release", workshop.folder / "plan.toml", "--registry", workshop.registry,
            option, path, other, workshop.folder / "other.out", "--force",
        )  # fmt: skip
        assert (code, out) == (2, "")
        assert "the data, the plan and the ledger are never overwritten" in sentence(err)
        assert (workshop.folder / target).read_bytes() == before
        assert not (workshop.folder / "other.out").exists()
        assert workshop.spent() == []


def test_outputs_that_cannot_be_written(workshop, refuse):
    workshop.table(COLUMNS, ROWS)
    workshop.plan(query("vote = 0", rows=4))
    folder = workshop.folder
    (folder / "kept.html").write_text("kept", encoding="utf-8")
    (folder / "folder.html").mkdir()
    (folder / "link.html").symlink_to(folder / "kept.html")
    (folder / "dangling.html").symlink_to(folder / "nowhere.html")
    for arguments, reason in [
        (["--out", folder / "kept.html"], "it exists; choose another name or say --force"),
        (["--out", folder / "folder.html", "--force"], "it exists and is not a regular file"),
        (["--out", folder / "link.html", "--force"], "it is a symbolic link; write to the file itself"),
        (["--out", folder / "dangling.html", "--force"], "it is a symbolic link; write to the file itself"),
        (["--out", folder / "none" / "report.html"], "its folder does not exist; create it first"),
        (["--out", folder / "kept.html" / "report.html"], "it cannot be written (Not a directory)"),
        (
            ["--out", folder / "same.html", "--json", folder / "same.html"],
            "two files of the report would have this name",
        ),
        (["--out", folder / ("x" * 300)], "it cannot be written"),
        ([], "--out is missing"),
    ]:
        assert reason in sentence(refuse(*arguments, outputs=False))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="no folder is closed to the superuser")
def test_a_folder_that_cannot_be_written(workshop, refuse):
    workshop.table(COLUMNS, ROWS)
    workshop.plan(query("vote = 0", rows=4))
    closed = workshop.folder / "closed"
    closed.mkdir(mode=0o500)
    assert "no file can be created in its folder" in refuse("--out", closed / "report.html", outputs=False)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="a folder where nobody can create files")  # noqa: PTH112
def test_a_folder_where_nobody_can_create_files(workshop, refuse):
    workshop.table(COLUMNS, ROWS)
    workshop.plan(query("vote = 0", rows=4))
    assert "no file can be created in its folder" in refuse("--out", "/proc/self/report.html", outputs=False)


def test_data_that_cannot_be_read(workshop, refuse):
    folder = workshop.folder
    workshop.table(COLUMNS, ROWS)
    (folder / "folder.csv").mkdir()
    os.mkfifo(folder / "pipe.csv")
    (folder / "link.csv").symlink_to(folder / "link.csv")
    workshop.write("empty.csv", "")
    workshop.write("headless.csv", "\n1,2\n")
    workshop.write("twice.csv", "vote,vote\n1,2\n")
    workshop.write("people.xlsx", "PK")
    workshop.write("latin.csv", "vote,gr\xfc\xdfe\n1,2\n".encode("latin-1"))
    workshop.plan(query("vote = 0", rows=4))
    for name, reason in [
        ("nosuch.csv", 'data "nosuch.csv": there is no such file'),
        ("folder.csv", 'data "folder.csv": it is not a regular file'),
        ("pipe.csv", 'data "pipe.csv": it is not a regular file'),
        ("link.csv", 'data "link.csv": the file cannot be opened for reading'),
        ("people.csv/x.csv", "the file cannot be opened for reading"),
        ("x" * 300 + ".csv", "the file cannot be opened for reading"),
        ("empty.csv", "it is empty, or its first line has no names of columns"),
        ("headless.csv", "it is empty, or its first line has no names of columns"),
        ("twice.csv", 'two columns are called "vote"; give each its own name'),
        ("people.xlsx", "export the table as .csv or .parquet"),
        ("latin.csv", "its first line cannot be read as names of columns in UTF-8"),
        ("https://example.org/people.csv", "is a URL; only a file on this machine is read"),
    ]:
        data = name if "://" in name else folder / name
        assert reason in sentence(refuse("--data", data))
    assert "cannot be read: No such file" in sentence(refuse(plan=folder / "nosuch.toml"))
    assert "cannot be read: Is a directory" in sentence(refuse(plan=folder))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("people.csv", "id,vote\n", "it has no rows"),
        ("people.csv", "id,vote\ncell7391,1\ncell7391\n", "it is not a CSV file that can be read without doubt"),
        ("people.csv", 'id,vote\ncell7391,"1\n', "it is not a CSV file that can be read without doubt"),
        ("people.csv", b"id,vote\ncell7391\xff,1\n", "it is not a CSV file that can be read without doubt"),
        ("people.csv", "id,vote\ncell7391,1\n cell7391 ,0\n", 'the row_id column "id" does not identify rows'),
        ("people.csv", "id,vote\ncell7391,1\n,0\n", 'the row_id column "id" is empty in some row'),
        ("people.csv", "name,vote\ncell7391,1\nx,0\n", 'row_id = "id": there is no column "id"'),
        ("people.parquet", "PAR1cell7391PAR1", "it cannot be read as a Parquet file"),
    ],
)
def test_tables_that_cannot_be_released(workshop, in_process, name, content, reason):
    workshop.write(name, content)
    workshop.plan(query("vote = 0", rows=1), data=name, more_data='row_id = "id"')
    code, out, err = in_process(
        "release", workshop.folder / "plan.toml", "--out", workshop.page, "--registry", workshop.registry
    )
    assert (code, out) == (2, "")
    assert reason in sentence(err)
    assert "cell7391" not in err
    workshop.assert_untouched()


def test_a_registry_that_cannot_be_used(workshop, refuse):
    workshop.table(COLUMNS, ROWS)
    workshop.plan(query("vote = 0", rows=4))
    workshop.write("registry.txt", "not a folder")
    shared = workshop.folder / "shared"
    shared.mkdir(mode=0o755)
    (shared / "stranger").write_text("", encoding="utf-8")
    shared.chmod(0o755)
    assert "registry" in sentence(refuse("--registry", workshop.folder / "registry.txt"))
    assert "choose an empty folder" in sentence(refuse("--registry", shared))
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755


# --- as a user meets it


def test_a_released_table_is_recognised_under_any_name(workshop):
    workshop.table(COLUMNS, ROWS)
    workshop.plan(query("vote = 0", rows=len(ROWS)))
    workshop.release()
    report = workshop.page.read_bytes(), workshop.json.read_bytes()
    workshop.table(COLUMNS, ROWS, name="renamed.csv")
    again = workshop.command("--data", str(workshop.folder / "renamed.csv"), "--force")
    assert (again.returncode, again.stdout) == (2, "")
    assert f"earlier releases have left 0 of {len(ROWS)}" in again.stderr
    assert "cell7391" not in again.stderr
    assert (workshop.page.read_bytes(), workshop.json.read_bytes()) == report
    assert workshop.spent() == [len(ROWS)]


def test_a_mistake_in_a_process_of_its_own(workshop):
    workshop.table(COLUMNS, ROWS)
    workshop.plan(query("vote=0; DROP TABLE t", rows=4))
    done = workshop.command()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: plan.toml: 1 mistake\n  query[1].where = ")
    assert statpriv("release").returncode == 2
    workshop.assert_untouched()
