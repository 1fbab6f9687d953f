"""A table over a year, as a curator works with it: releases, rows that are appended, a refused plan and a crash."""

from __future__ import annotations

from fractions import Fraction

import pytest

import statpriv as sp
from statpriv.errors import GuaranteeNotReachedError, LedgerError, RowsSpentError
from statpriv.files.composition import read_composition
from statpriv.releasing.extension import extend

from .conftest import query

COLUMNS = ["record", "visits", "limited"]
SPRING, SUMMER, AUTUMN = 400, 500, 560


def record(number):
    return [number, number * 7919 % 10, number * 104729 % 4 == 0]


class Files:
    """The table is a CSV file, exported anew each time."""

    more_data = 'row_id = "record"'

    def __init__(self, workshop):
        self.workshop = workshop

    source = "people.csv"

    def has(self, rows):
        self.workshop.table(COLUMNS, [record(number) for number in range(rows)])


class Database:
    """The table is one of PostgreSQL, into which rows are inserted."""

    more_data = 'row_id = "record"\ntable = "public.visits"'

    def __init__(self, postgresql):
        self.postgresql, self.source, self.rows = postgresql, postgresql.url, 0
        postgresql.execute(
            "DROP TABLE IF EXISTS visits", "CREATE TABLE visits (record int, visits int, limited boolean)"
        )

    def has(self, rows):
        new = ", ".join(
            f"({number}, {visits}, {limited})" for number, visits, limited in map(record, range(self.rows, rows))
        )
        self.postgresql.execute(f"INSERT INTO visits VALUES {new}")  # noqa: S608 - numbers of this test
        self.rows = rows


@pytest.fixture(params=["duckdb", pytest.param("postgresql", marks=pytest.mark.xdist_group("postgresql"))])
def table(request, workshop):
    if request.param == "duckdb":
        yield Files(workshop)
        return
    pytest.importorskip("statpriv.releasing.tables.postgresql", exc_type=ImportError)
    postgresql = request.getfixturevalue("postgresql")
    yield Database(postgresql)
    postgresql.execute("DROP TABLE IF EXISTS visits")


@pytest.mark.campaign  # alone it notices what adds up over many releases
@pytest.mark.usefixtures("computed_once")
def test_a_year_of_a_table(workshop, table):
    def plan(name, *queries, delta="0.2"):
        return workshop.plan(
            *queries, name=name, data=table.source, more_data=table.more_data, delta=delta, epsilon="0.5"
        )

    no_visit, many = "visits = 0", "visits >= 6"
    first = plan(
        "first.toml",
        query(no_visit, rows=90, probability=("0.05", "0.2")),
        query("limited = TRUE", rows=60, probability=("0.2", "0.4")),
    )
    second = plan("second.toml", query(many, rows=100, probability=("0.3", "0.5")))
    greedy = plan("greedy.toml", query("visits = 9", rows=3, probability=("0.05", "0.2")), delta="0.001")
    third = plan("third.toml", query(no_visit, rows=80, probability=("0.1", "0.3")))

    table.has(SPRING)
    workshop.release(first.name)
    assert workshop.report["guarantee"]["releases"] == 1

    table.has(SUMMER)
    with pytest.raises(LedgerError, match="adds rows to one that was"):
        workshop.release(second.name, force=True)
    grown = extend(second, registry=workshop.registry)
    assert (grown.rows_before, grown.rows_joined) == (SPRING, SUMMER - SPRING)
    with pytest.raises(GuaranteeNotReachedError):
        workshop.release(greedy.name, force=True)
    assert workshop.spent() == [150]

    def crash(step):
        if step == "predicates":
            raise OSError("the machine was switched off")

    with pytest.raises(RowsSpentError):
        workshop.release(second.name, force=True, on_step=crash)
    assert workshop.spent() == [150, 100]
    workshop.release(second.name, force=True)
    assert workshop.spent() == [150, 100, 100]

    table.has(AUTUMN)
    extend(third, registry=workshop.registry)
    workshop.release(third.name, force=True)
    report = workshop.report
    assert workshop.spent() == [150, 100, 100, 80]
    assert report["ledger"]["rows_left"] == AUTUMN - 430
    assert [entry["number"] for entry in report["history"]] == [1, 2, 3]
    assert report["guarantee"]["releases"] == 4
    assert_the_sum_is_certified(report)
    [answer] = report["answers"]
    assert answer["size"] == 80

    again = read_composition(workshop.json).composition
    this = report["guarantee"]["this_release"]
    assert this["lower"] <= again.curve().delta("0.5").upper
    assert again.curve().delta("0.5").lower <= this["upper"]


def assert_the_sum_is_certified(report):
    """By hand: which share of each cohort was used when, and what each release is on its own rows."""
    hull = sp.PropertyQuery(sp.Between("0.05", "0.3"), attribute="visits = 0")
    limited = sp.PropertyQuery(sp.Between("0.2", "0.4"), attribute="limited")
    many = sp.PropertyQuery(sp.Between("0.3", "0.5"), attribute="many")
    asked = [([hull, limited], [90, 60]), ([many], [100]), ([many], [100]), ([hull], [80])]
    drawn = [
        Fraction(150, SPRING),
        Fraction(100, SUMMER - 150),
        Fraction(100, SUMMER - 250),
        Fraction(80, AUTUMN - 350),
    ]
    deltas = [
        sp.compose(queries, sp.Population(sum(sizes)), sp.RandomPartition(sizes)).delta("0.5")
        for queries, sizes in asked
    ]
    total = Fraction(0)
    for joined in (0, 1, 3):
        left, exposed = Fraction(1), Fraction(0)
        for share, delta in list(zip(drawn, deltas, strict=True))[joined:]:
            exposed += left * share * Fraction(delta.upper)
            left *= 1 - share
        total = max(total, exposed)
    certified = report["guarantee"]["delta"]
    assert abs(Fraction(certified["upper"]) - total) <= total / 10**9
    assert total <= Fraction(1, 5)
