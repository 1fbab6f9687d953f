"""`statpriv plot`: pictures of one exact count, and their data."""

import json
import os
import re
import subprocess
import sys

import jsonschema
import pytest

import statpriv as sp

pytest.importorskip("matplotlib")

TEXT = {"type": "string", "minLength": 1}
END = {"anyOf": [{"type": "number"}, {"const": "inf"}]}
ENCLOSURE = {
    "type": "object",
    "required": ["lower", "upper"],
    "additionalProperties": False,
    "properties": {"lower": END, "upper": END},
}


def schema(across, up):
    point = {
        "type": "object",
        "required": [across, up],
        "additionalProperties": False,
        "properties": {across: {"type": "number"}, up: ENCLOSURE},
    }
    line = {
        "type": "object",
        "required": ["label", "kind", "theorem", "source", "assumptions", "points"],
        "additionalProperties": False,
        "properties": {
            "label": TEXT,
            "kind": {"enum": ["exact", "bound"]},
            "theorem": TEXT,
            "source": TEXT,
            "assumptions": {"type": "array", "minItems": 1, "items": TEXT},
            "points": {"type": "array", "minItems": 2, "items": point},
        },
    }
    return {
        "type": "object",
        "required": ["title", "across", "up", "lines", "inputs"],
        "additionalProperties": False,
        "properties": {
            "title": {"type": "string"},
            "across": {"const": across},
            "up": {"const": up},
            "lines": {"type": "array", "minItems": 1, "items": line},
            "inputs": {"type": "object"},
        },
    }


@pytest.fixture
def plotted(run, tmp_path):
    """Draw, and return the data after a check that they are what the command promises."""

    def invoke(*arguments, across, up="delta"):
        data = tmp_path / "data.json"
        result = run("plot", *arguments, "--out", tmp_path / "figure.svg", "--json", data)
        assert result.exit_code == 0, result.stderr
        assert result.stdout == f"Figure: {tmp_path / 'figure.svg'}\nData: {data}\n"
        assert b"<svg" in (tmp_path / "figure.svg").read_bytes()
        document = json.loads(data.read_text())
        jsonschema.validate(document, schema(across, up))
        return document

    return invoke


def read(line, across, up="delta"):
    return {point[across]: (point[up]["lower"], point[up]["upper"]) for point in line["points"]}


def ends(value):
    return value.lower, value.upper


def test_curve(plotted):
    document = plotted(
        "curve", "--n", 60, "--p", "0.4..0.6", "--known", 10, "--size", 20, "--bound", "spc", "--points", 7,
        across="epsilon",
    )  # fmt: skip
    curve = sp.privacy_curve(
        sp.PropertyQuery(sp.Between("0.4", "0.6")),
        sp.Population(60),
        adversary=sp.Adversary(known=10),
        sampling=sp.WithoutReplacement(20),
        bound="spc",
    )
    (line,) = document["lines"]
    assert (line["label"], line["kind"], line["theorem"]) == ("upper bound of δ(ε)", "bound", curve.theorem)
    assert len(line["points"]) == 7
    assert read(line, "epsilon") == {point["epsilon"]: ends(curve.delta(point["epsilon"])) for point in line["points"]}
    assert document["inputs"] == {"n": 60, "p": ["2/5", "3/5"], "each": False, "known": 10, "size": 20, "bound": "spc"}


def test_trade_off(plotted):
    document = plotted("trade-off", "--n", 30, "--p", "0.1", "--points", 5, across="alpha", up="beta")
    curve = sp.privacy_curve(sp.PropertyQuery("0.1"), sp.Population(30))
    expected = {alpha: ends(curve.beta(alpha)) for alpha in (0, 0.25, 0.5, 0.75, 1)}
    assert read(document["lines"][0], "alpha", "beta") == expected


def test_size(plotted):
    document = plotted(
        "size", "--p", "1/2", "--p", "0.1", "--epsilon", "0.05", "--from", 4, "--to", 64, "--known", 3, "--points", 5,
        across="n",
    )  # fmt: skip
    for line, p in zip(document["lines"], ("1/2", "0.1"), strict=True):
        expected = {
            n: ends(sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n - 3)).delta("0.05"))
            for n in (4, 8, 16, 32, 64)
        }
        assert read(line, "n") == expected
    assert [line["label"] for line in document["lines"]] == ["p = 0.5", "p = 0.1"]
    assert document["title"] == "ε = 0.05, 3 known"
    assert document["inputs"] == {
        "p": ["1/2", "1/10"],
        "each": False,
        "epsilon": ["1/20"],
        "from": 4,
        "to": 64,
        "known": 3,
    }


def test_known(plotted):
    document = plotted("known", "--n", 12, "--p", "1/2", "--epsilon", "0", "--epsilon", "0.1", across="known")
    for line, epsilon in zip(document["lines"], ("0", "0.1"), strict=True):
        expected = {
            u: ends(sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(12 - u)).delta(epsilon)) for u in range(12)
        }
        assert read(line, "known") == expected


def test_known_with_noise_ends_at_the_level_of_the_noise(plotted):
    document = plotted("known", "--n", 12, "--p", "1/2", "--epsilon", "0", "--noise-alpha", "1/2", across="known")
    lower, upper = read(document["lines"][0], "known")[11]
    assert lower <= 1 / 3 <= upper  # (1 − α)/(1 + α)
    assert document["inputs"]["noise_alpha"] == "1/2"


def test_known_in_a_sample(plotted):
    document = plotted("known", "--n", 8, "--p", "1/2", "--epsilon", "0.1", "--size", 4, across="known")
    assert read(document["lines"][0], "known")[7][1] <= 0.5 + 1e-12  # in the sample with a chance of 1/2


@pytest.mark.parametrize(("suffix", "start"), [("svg", b"<?xml"), ("PNG", b"\x89PNG"), ("pdf", b"%PDF")])
def test_the_name_says_the_format(run, tmp_path, suffix, start):
    out = tmp_path / f"figure.{suffix}"
    assert run("plot", "curve", "--n", 10, "--p", "1/2", "--out", out).exit_code == 0
    assert out.read_bytes().startswith(start)
    assert list(tmp_path.iterdir()) == [out]


def test_data_alone(run, tmp_path):
    result = run("plot", "curve", "--n", 10, "--p", "1/2", "--json", tmp_path / "data.json")
    assert result.stdout == f"Data: {tmp_path / 'data.json'}\n"


CURVE = ("curve", "--n", 10, "--p", "1/2")
SIZE = ("size", "--p", "1/2", "--epsilon", "0.1")
KNOWN = ("known", "--n", 10, "--p", "1/2", "--epsilon", "0.1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (CURVE, "--out is missing: name the picture, such as figure.svg, or its data with --json"),
        ((*CURVE, "--out", "a.gif"), "--out = a.gif; a name that ends in .svg, .png or .pdf is required"),
        ((*CURVE, "--out", "a.svg", "--json", "a.svg"), "--out and --json are both a.svg; two names are required"),
        ((*CURVE, "--out", "no/a.svg"), "--out = no/a.svg: its folder does not exist; create it first"),
        ((*CURVE, "--json", "there.json"), "--json = there.json: it exists; choose another name or say --force"),
        ((*CURVE, "--json", "."), "--json = .: it exists and is not a regular file; choose another name"),
        ((*CURVE, "--out", "a.svg", "--points", 1), "--points = 1; a whole number from 2 to 2^53 is required"),
        ((*CURVE, "--out", "a.svg", "--points", 10**6), "--points = 1000000; at most 10000 points are drawn"),
        ((*SIZE, "--out", "a.svg", "--from", 9, "--to", 9), "--from = 9 and --to = 9; --from below --to is required"),
        ((*SIZE, "--out", "a.svg", "--known", 2), "--known = 2 and --from = 2; fewer known entries than --from"),
        ((*SIZE, "--out", "a.svg", "--p", "1.5"), "--p = 1.5; a probability from 0 to 1 is required"),
        ((*KNOWN, "--out", "a.svg", "--noise-alpha", 1), "--noise-alpha = 1; a number above 0 and below 1 is required"),
        ((*KNOWN, "--out", "a.svg", "--epsilon", "x"), '--epsilon: "x" is not a number such as 0.1, 1e-6 or 1/2'),
        ((*KNOWN, "--out", "a.svg", "--n", 1), "--n = 1; a whole number from 2 to 2^53 is required"),
        (("known", "--n", 10, "--p", "1/2", "--out", "a.svg"), "Missing option '--epsilon'"),
        (("pie",), "No such command 'pie'"),
    ],
    ids=str,
)
def test_a_mistake_is_a_sentence_and_nothing_is_written(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.json").write_text("kept")
    result = run("plot", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {message}")
    assert [path.name for path in tmp_path.iterdir()] == ["there.json"]
    assert (tmp_path / "there.json").read_text() == "kept"


def test_force_replaces(run, tmp_path):
    out = tmp_path / "figure.svg"
    out.write_text("old")
    assert run("plot", *CURVE, "--out", out, "--force").exit_code == 0
    assert "<svg" in out.read_text()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written(run, tmp_path):
    tmp_path.chmod(0o500)
    result = run("plot", *CURVE, "--out", tmp_path / "figure.svg")
    assert result.exit_code == 2
    assert "it cannot be written" in result.stderr


def test_a_failed_write_leaves_the_old_file(run, tmp_path, monkeypatch):
    out = tmp_path / "figure.svg"
    out.write_text("old")

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    result = run("plot", *CURVE, "--out", out, "--force")
    assert result.exit_code == 2
    assert result.stderr == f"Error: --out = {out}: it cannot be written (No space left on device)\n"
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


def test_without_matplotlib_the_extra_is_named_and_data_are_written(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("plot", *CURVE, "--out", tmp_path / "figure.svg")
    assert result.exit_code == 2
    assert "plots need matplotlib: pip install 'statpriv[plot]'" in result.stderr
    assert run("plot", *CURVE, "--json", tmp_path / "data.json").exit_code == 0


def test_no_other_extra_is_needed(tmp_path):
    program = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(('duckdb', 'jinja2', 'jsonschema', 'pydantic', 'sqlglot')))\n"
        "from statpriv.cli import command_line\n"
        f"command_line(['plot', 'curve', '--n', '10', '--p', '1/2', '--out', {str(tmp_path / 'a.svg')!r}])\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    assert (tmp_path / "a.svg").exists()


@pytest.mark.parametrize("kind", ["curve", "trade-off", "size", "known"])
def test_the_help_has_examples_that_fit_a_terminal(run, kind):
    text = run("plot", kind, "--help").stdout
    assert max(map(len, text.splitlines())) <= 80
    assert re.search(rf"Examples\s+statpriv plot {kind} ", text)
