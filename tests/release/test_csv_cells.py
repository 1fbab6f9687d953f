"""Does a cell of a CSV file mean the same on every engine, and exactly what the grammar says?"""

from __future__ import annotations

import random
import re
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

import duckdb
import pytest

from statpriv.releasing.tables import files
from statpriv.releasing.tables.csv_cells import DUCKDB, DUCKDB_MACROS, SPARK

from ..cases import cases
from .test_table import counts, refusal, write

NUMBER = re.compile(
    r" *(?P<sign>[+-]?)(?P<whole>\d*)(?P<point>\.?)(?P<fraction>\d*)([eE](?P<exponent>[+-]?\d{1,3}))? *", re.A
)
LARGEST = Fraction(10**20)

# Cells that some version of some engine read as another number, or as none.
NUMBERS = [
    "123456789012345678901e-1",
    "12345678901234567890123e-5",
    f"0.{'0' * 40}1e41",
    f"0.{'0' * 40}1e+041",
    "0e999",
    "0.000E-999",
    "1e400",
    "1e-400",
    "99999999999999999999.9999999999999999994",
    "99999999999999999999.9999999999999999995",
    "99999999999999999999",
    "100000000000000000000",
    "0.1e21",
    "1e20",
    "9e19",
    "5e-19",
    "4.9e-19",
    "-5e-19",
    "0.5e-18",
    f"{'0' * 60}1",
    f"{'0' * 60}1e1",
    f"0.{'0' * 18}5",
    f"{'1' * 60}e-50",
    f"0.{'9' * 60}",
    f"1{'0' * 300}e-300",
    "1.",
    ".5",
    "+.5e3",
    "1e+05",
    "-0",
    "-0e0",
    "-.0e1",
    " 1e1 ",
    "1e0001",
    "1e",
    "e1",
    ".",
    "",
    "+",
    "1_0",
    "0x1",
    "1,5",
    "1e1.5",
    "1 e1",
    "١",
    "1\n",
    "\t1",
    "nan",
    "inf",
    "1e1\n",
    "--1",
    "1-",
    "1d",
    "1f",
    "1L",
]


def meant(text):
    """The documented value of a cell, in exact rationals."""
    found = NUMBER.fullmatch(text)
    if found is None or not found["whole"] + found["fraction"]:
        return None
    digits = Fraction(int(found["whole"] + found["fraction"]), 10 ** len(found["fraction"]))
    size = digits * Fraction(10) ** int(found["exponent"] or 0) * 10**18
    rounded = Fraction(int(size + Fraction(1, 2)), 10**18)
    return None if rounded >= LARGEST else -rounded if found["sign"] == "-" else rounded


def on_duckdb(texts, demand):
    connection = duckdb.connect(":memory:")
    for macro in DUCKDB_MACROS:
        connection.execute(macro)
    connection.execute("CREATE TABLE cells AS SELECT unnest(?::VARCHAR[]) AS c0", [texts])
    sql = DUCKDB[demand].format(text="(c0)")
    return [value for (value,) in connection.execute(f"SELECT {sql} FROM cells").fetchall()]  # noqa: S608 - our own SQL


def on_spark(text, demand):
    """What Spark does with its SQL, modelled: patterns of Java, and casts as its source has them.

    Spark makes a BigDecimal of the text, which is exact, refuses more than 38 digits before the point, rounds halves
    away from zero, and refuses what then does not fit.
    """
    sql = SPARK[demand].format(text="t")
    patterns = [pattern.replace("\\\\z", r"\Z") for pattern in re.findall(r"RLIKE '([^']*)'", sql)]
    assert len(patterns) == sql.count("RLIKE") == {"number": 2, "date": 1}[demand]
    holds = [re.search(pattern, text, re.A) is not None for pattern in patterns]
    if demand == "date":
        return holds[0]
    if holds[0]:
        return Fraction(0)
    if not holds[1]:
        return None
    exact = Decimal(text.strip(" "))
    _, digits, exponent = exact.as_tuple()
    if len(digits) + exponent > 38:
        return None
    rounded = Fraction(exact.quantize(Decimal("1e-18"), ROUND_HALF_UP, Context(prec=5000, Emax=9999, Emin=-9999)))
    return rounded if abs(rounded) < LARGEST else None


def random_numbers(count):
    choose = random.Random(5)  # noqa: S311 - a test repeats them
    for _ in range(count):
        digits = ["".join(choose.choices("0019", k=choose.choice([0, 1, 3, 20, 45]))) for _ in range(2)]
        exponent = choose.choice(
            ["", f"e{choose.randrange(-60, 61)}", f"E{choose.choice('+-')}{choose.randrange(1000)}"]
        )
        yield f"{choose.choice(['', '+', '-', ' '])}{digits[0]}{choose.choice(['', '.'])}{digits[1]}{exponent}"


def test_a_number_is_what_its_digits_say_on_both_engines():
    texts = [*NUMBERS, *random_numbers(cases(1500, campaign=100_000))]
    found = [None if value is None else Fraction(value) for value in on_duckdb(texts, "number")]
    assert [meant(text) for text in NUMBERS[:3]] == [
        Fraction("12345678901234567890.1"), Fraction("123456789012345678.90123"), Fraction(1),
    ]  # fmt: skip
    for text, value in zip(texts, found, strict=True):
        assert value == meant(text), text
        assert on_spark(text, "number") == meant(text), text
    assert sum(value is not None and value != 0 for value in found) > len(found) // 4


@pytest.mark.parametrize(
    ("text", "is_date"),
    [
        ("0001-01-01", True),
        (" 9999-12-31 ", True),
        ("0010-01-01", True),
        ("0100-01-01", True),
        ("1000-01-01", True),
        ("2000-02-29", True),
        ("0000-01-01", False),
        ("0000-12-31", False),
        ("10000-01-01", False),
        ("-001-01-01", False),
        ("2020-1-1", False),
        ("2020-01-01\n", False),
        ("٢٠٢٠-01-01", False),
    ],
)
def test_dates_begin_with_the_year_1(text, is_date):
    (found,) = on_duckdb([text], "date")
    assert (found is not None) == is_date == on_spark(text, "date")


def test_a_number_of_a_file_is_counted_by_its_exact_value(tmp_path):
    path = write(tmp_path, "a\n" + "\n".join(NUMBERS[:3]) + "\n")
    wheres = ["a > 999999999999999999", "a = 123456789012345678.90123", "a = 1"]
    assert counts(path, *wheres) == [1, 1, 1]


# --- quotes


def well_formed(text, delimiter):
    """By a machine that reads one character after the other."""
    state = "start"
    for c in text:
        end = c in (delimiter, "\n", "\r")
        if state == "quoted":
            state = "closed" if c == '"' else "quoted"
        elif c == '"':
            if state == "plain":
                return False
            state = "quoted"
        elif end:
            state = "start"
        elif state == "closed":
            return False
        else:
            state = "plain"
    return state != "quoted"


@pytest.mark.parametrize("block", [1, 2, 3, 2**20])
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_quotes_stand_around_whole_cells(tmp_path, monkeypatch, block, delimiter):
    monkeypatch.setattr(files, "_BLOCK", block)
    choose = random.Random(block)  # noqa: S311 - a test repeats them
    texts = ["", '"', '""', '"""', '""""', 'a"', '"a"b', '"a""b"', "a,b"]
    texts += [
        "".join(choose.choices(f'"""a{delimiter}\n\r', k=choose.randrange(12)))
        for _ in range(cases(400, campaign=20_000))
    ]
    ends = set()
    for mark in ("", "\ufeff"):
        for text in texts:
            path = write(tmp_path, mark + text, "x.csv")
            found = files._has_plain_quotes(path, delimiter)
            assert found == well_formed(text, delimiter), text
            ends.add(found)
    assert ends == {True, False}


@pytest.mark.parametrize("cell", ['5" pipe', 'a"b"c', ' "a"', '"a" ', '"a"b', 'a""b', '"', '"a""'])
def test_a_quote_elsewhere_is_refused_as_documented(tmp_path, cell):
    path = write(tmp_path, f"a,b\n{cell},1\nx,2\n")
    assert "quotes only around whole cells, closed, and doubled inside" in refusal(path, "b = 1", stage="end")


def test_a_cell_may_be_quoted_and_hold_doubled_quotes(tmp_path):
    path = write(tmp_path, '\ufeff"a","b"\r\n"5"" pipe",1\r\n"x, y","1"\r\n"",""\r\n')
    assert counts(path, "a = '5\" pipe'", "b = 1", "a = ''") == [1, 2, 1]


# --- typed sources


@pytest.mark.parametrize("setting", [{"null_values": ("18",)}, {"delimiter": ";"}])
@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_settings_of_csv_files_are_refused_with_typed_sources(tmp_path, kind, setting):
    """Otherwise engines would apply them, or ignore them, as they like."""
    path = tmp_path / f"x.{kind}"
    with duckdb.connect(str(path) if kind == "duckdb" else ":memory:") as connection:
        connection.execute("CREATE TABLE t AS SELECT '18' AS a")
        if kind == "parquet":
            connection.execute(f"COPY t TO '{path}' (FORMAT parquet)")
    table = {"table": "t"} if kind == "duckdb" else {}
    assert counts(path, "a = '18'", **table) == [1]
    assert "null_values and delimiter are for CSV files" in refusal(path, "a = '18'", stage="open", **table, **setting)
