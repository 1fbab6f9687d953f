"""`statpriv design`: the same answers as the library, in text, JSON and pictures."""

import json
from fractions import Fraction

import pytest

import statpriv as sp

TARGET = ["--epsilon", "0.01", "--delta", "0.05"]


def test_most_queries_shows_the_neighbour(run_json):
    document = run_json(
        "design", "most-queries", "--n", 32768, "--p", "1/2", *TARGET, "--same-property", "--rmse", "0.02"
    )
    assert (document["value"], document["neighbour"]["value"]) == (53, 54)
    assert document["neighbour"]["verdict"] == "fails"
    assert document["kind"] == "exact"
    assert Fraction(document["best"]["delta"]["upper"]) <= Fraction("0.05")


@pytest.mark.campaign  # alone it notices another default of one option
def test_unrelated_properties_are_the_default(run_json):
    asked = ["design", "most-queries", "--n", 500, "--p", "0.3..0.4", "--epsilon", "0.1", "--delta", "0.1"]
    document = run_json(*asked)
    plan = sp.design.most_queries(
        sp.PropertyQuery(sp.Between("0.3", "0.4")), sp.Population(500), epsilon="0.1", delta="0.1"
    )
    assert document["value"] == plan.value
    assert run_json(*asked, "--unrelated")["value"] == plan.value


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["smallest-population", "--p", "0.2..0.4", "--epsilon", "0.1", "--delta", "0.001"], 1973),
        (["most-known", "--n", 1000, "--p", "1/2", "--epsilon", "0.1", "--delta", "0.01"], 634),
        (["widest-range", "--n", 1000, "--p", "1/2", "--epsilon", "0.1", "--delta", "0.002"], "133/1000"),
        (
            [
                *("smallest-sizes", "--n", 10000, "--p", "1/2", "--p", "0.1"),
                *("--rmse", "0.02", "--epsilon", "0.1", "--delta", "0.01"),
            ],
            [589, 221],
        ),
    ],
)
def test_each_question_has_its_command(run_json, arguments, value):
    assert run_json("design", *arguments)["value"] == value


def test_guarantees_are_enclosures(run_json):
    document = run_json("design", "least-delta", "--n", 1024, "--p", "1/2", "--epsilon", "0.005")
    assert document["value"]["lower"] <= Fraction("0.022573776189906936941352858160") <= document["value"]["upper"]
    document = run_json("design", "least-epsilon", "--n", 1024, "--p", "1/2", "--delta", "0.01")
    assert document["value"]["upper"] < 0.05


def test_text_says_what_holds_and_what_fails(run):
    result = run("design", "most-known", "--n", 1000, "--p", "1/2", "--epsilon", "0.1", "--delta", "0.01")
    assert result.exit_code == 0
    assert result.stdout.startswith("known entries: 634\n")
    assert "634 holds: δ ≤ 0.0099" in result.stdout
    assert "635 fails: δ ≥ 0.0100" in result.stdout


@pytest.mark.campaign  # alone it notices a picture of the trade-off
def test_the_trade_off_is_a_table_and_a_picture(run, run_json, tmp_path):
    pytest.importorskip("matplotlib")
    asked = ["design", "trade-off", "--n", 1000, "--p", "1/2", "--epsilon", "0.1"]
    asked += ["--delta", "0.05", "--queries", "1,2,4,8"]
    document = run_json(*asked)
    assert [row["queries"] for row in document["rows"]] == [1, 2, 4, 8]
    picture = tmp_path / "trade-off.svg"
    result = run(*asked, "--out", picture)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1].startswith("queries  entries of a part")
    drawn = picture.read_text(encoding="utf-8")
    assert drawn.count("axes_") >= 2
    assert run(*asked, "--out", picture).exit_code == 2
    assert run(*asked, "--out", picture, "--force").exit_code == 0


def test_a_plan_is_drawn(run, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "plan.png"
    result = run("design", "most-queries", "--n", 500, "--p", "1/2", *TARGET[:2], "--delta", "0.5", "--out", picture)
    assert result.exit_code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert f"Figure: {picture}" in result.stdout


def test_a_target_out_of_reach_has_its_exit_code(run):
    result = run("design", "most-queries", "--n", 100, "--p", "1/2", "--epsilon", "0.1", "--delta", "0.001")
    assert result.exit_code == 3
    assert "Error: no number of queries is certified to reach δ(0.1) ≤ 0.001. The best is 1:" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "plan.txt"], "--out = plan.txt; a name that ends in .svg, .png or .pdf is required"),
        (["--rmse", "0.1", "--half-width", "0.1"], "give only one of them"),
        (["--rmse", "-1"], "rmse = -1; a number above 0 is required"),
        (["--bound", "best"], "bound = 'best'"),
    ],
)
def test_what_is_refused_is_said(run, arguments, message):
    result = run("design", "most-queries", "--n", 100, "--p", "1/2", *TARGET, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("most-queries", marks=pytest.mark.campaign),  # its last example takes some seconds
        *("smallest-sizes", "smallest-population", "most-known", "widest-range", "largest-size"),
        *("least-delta", "least-epsilon", "trade-off"),
    ],
)
def test_every_command_has_help_with_examples_that_run(run, command, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    shown = run("design", command, "--help").stdout.splitlines()
    assert max(map(len, shown)) <= 80
    lines = [line.split() for line in shown if line.split()[:3] == ["statpriv", "design", command]]
    assert lines
    for words in lines:
        assert run(*words[1:]).exit_code == 0, words


def test_json_is_one_document(run):
    result = run("design", "least-delta", "--n", 10, "--p", "0.1", "--epsilon", 0, "--json")
    assert json.loads(result.stdout)["unknown"] == "δ"
