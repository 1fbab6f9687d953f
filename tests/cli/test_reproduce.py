"""`statpriv reproduce`: the 24 cells, and that a wrong one is noticed."""

from dataclasses import replace

import pytest

from statpriv import reproduction
from statpriv.errors import UndecidedError

# As printed: (#SP, σ, (δ, #DP) for each ε).
PRINTED = {
    "Table 1": {
        ("0.005", 32): (".0153", ".0225", "0"),
        ("0.005", 64): (".0219", ".0329", "1"),
        ("0.005", 128): (".0311", ".0475", "3"),
        ("0.005", 256): (".0441", ".0682", "6"),
        ("0.005", 512): (".0624", ".0973", "12"),
        ("0.01", 32): (".0153", ".0203", "3"),
        ("0.01", 64): (".0219", ".0306", "6"),
        ("0.01", 128): (".0311", ".0452", "12"),
        ("0.01", 256): (".0441", ".0660", "25"),
        ("0.01", 512): (".0624", ".0953", "50"),
        ("0.02", 32): (".0153", ".0163", "9"),
        ("0.02", 64): (".0219", ".0264", "20"),
        ("0.02", 128): (".0311", ".0409", "44"),
        ("0.02", 256): (".0441", ".0617", "93"),
        ("0.02", 512): (".0624", ".0912", "194"),
    },
    "Table 2": {
        ("0.05", 32): (".0869", ".1214", "2"),
        ("0.05", 64): (".1240", ".1808", "4"),
        ("0.05", 128): (".1760", ".2618", "9"),
        ("0.1", 32): (".0869", ".1020", "7"),
        ("0.1", 64): (".1240", ".1644", "16"),
        ("0.1", 128): (".1760", ".2496", "35"),
        ("0.2", 32): (".0869", ".0711", "23"),
        ("0.2", 64): (".1240", ".1291", "55"),
        ("0.2", 128): (".1760", ".2232", "126"),
    },
}


@pytest.fixture(scope="module")
def computed():
    return {
        table.title: {(cell.epsilon, cell.queries): cell for cell in reproduction.cells(table)}
        for table in reproduction.TABLES.values()
    }


@pytest.mark.parametrize(
    ("title", "place"), [(title, place) for title, table in PRINTED.items() for place in table], ids=str
)
def test_every_printed_number_comes_out(computed, title, place):
    cell = computed[title][place]
    figures = (cell.sigma, cell.delta, cell.dp_queries)
    assert tuple(figure.computed for figure in figures) == PRINTED[title][place]
    assert tuple(figure.printed for figure in figures) == PRINTED[title][place]
    assert cell.agrees


def test_no_cell_is_left_out(computed):
    assert {title: set(table) for title, table in computed.items()} == {
        title: set(table) for title, table in PRINTED.items()
    }


def test_the_honest_comparison(computed):
    first = computed["Table 1"]["0.005", 32].comparison
    assert first.gaussian_queries == 992
    assert f"{first.delta.midpoint:.3e}" == "2.357e-03"
    for table in computed.values():
        for (_, queries), cell in table.items():
            assert cell.comparison.gaussian_queries_at_exact_delta == queries - 1
            assert cell.comparison.delta.upper < cell.delta.value.lower


def test_the_value_of_sigma_is_enclosed(computed):
    sigma = computed["Table 2"]["0.05", 32].sigma.value
    # σ² = (1/4)(1/32 − 1/1024) = 31/4096.
    assert sigma.lower**2 <= 31 / 4096 * (1 + 1e-15)
    assert sigma.upper**2 >= 31 / 4096 * (1 - 1e-15)
    assert sigma.width < 1e-15


def test_all(run, run_json):
    result = run("reproduce", "all")
    assert result.exit_code == 0
    assert "24 of 24 cells come out" in result.stdout
    assert "✗" not in result.stdout
    document = run_json("reproduce", "all")
    assert document["reproduced"] is True
    assert [len(table["cells"]) for table in document["tables"]] == [15, 9]
    cell = document["tables"][0]["cells"][0]
    assert cell["dp_queries"]["printed"] == cell["dp_queries"]["computed"] == "0"
    assert cell["comparison"]["gaussian_queries"] == 992
    assert cell["comparison"]["gaussian_queries_at_secret_partition"] == 31


@pytest.mark.parametrize(("name", "count"), [("table1", 15), ("table2", 9)])
def test_one_table(run, name, count):
    result = run("reproduce", name)
    assert result.exit_code == 0
    assert f"{count} of {count} cells come out" in result.stdout


def test_every_line_fits_a_terminal_of_80_columns(run):
    assert max(map(len, run("reproduce", "all").stdout.splitlines())) <= 80


def test_a_number_that_does_not_come_out_is_an_error(run, run_json, monkeypatch):
    table = reproduction.TABLES["table2"]
    first, *rest = table.rows
    wrong = replace(first, columns=((".1215", "2"), *first.columns[1:]))
    monkeypatch.setitem(reproduction.TABLES, "table2", replace(table, rows=(wrong, *rest)))
    result = run("reproduce", "table2")
    assert result.exit_code == 1
    assert "Table 2, ε = 0.05, #SP = 32: does not come out" in result.stdout
    assert "8 of 9 cells come out" in result.stdout
    document = run_json("reproduce", "all", code=1)
    assert document["reproduced"] is False
    assert document["tables"][1]["cells"][0]["delta"]["computed"] == ".1214"


def test_rounding_that_the_enclosure_does_not_decide_is_an_error():
    with pytest.raises(
        UndecidedError, match=r"a number between 0\.9 and 1\.1 rounds to 0 or 1: more digits are needed"
    ):
        reproduction._decided(0.9, 1.1, reproduction.math.floor)


@pytest.mark.parametrize("name", ["figure-3.5", "table3", ""])
def test_what_is_not_there_is_named(run, name):
    result = run("reproduce", name)
    assert result.exit_code == 2
    assert "this version reproduces table1, table2 and all of these; it has no figures yet" in result.stderr
