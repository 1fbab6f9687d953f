"""`statpriv reproduce`: the 24 cells, the figure that they lie on, and that a wrong number is noticed."""

import math
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

import statpriv as sp
from statpriv.assurance import alternatives, reproduction
from statpriv.errors import UndecidedError
from statpriv.theories.partial_knowledge import figures

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


@pytest.mark.campaign  # every reproduction has tests of its own; this runs them in a row
def test_all(run, run_json, tmp_path):
    result = run("reproduce", "all")
    assert result.exit_code == 0
    assert "24 of 24 cells come out" in result.stdout
    assert "✗" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    document = run_json("reproduce", "all", "--out", tmp_path / "delta-n.png")
    assert document["reproduced"] is True
    assert [len(table["cells"]) for table in document["tables"]] == [15, 9]
    cell = document["tables"][0]["cells"][0]
    assert cell["dp_queries"]["printed"] == cell["dp_queries"]["computed"] == "0"
    assert cell["comparison"]["gaussian_queries"] == 992
    assert cell["comparison"]["gaussian_queries_at_secret_partition"] == 31
    assert [figure["figure"] for figure in document["figures"]] == ["delta against n", "Figure 3.5", "Figure 3.6"]
    assert (tmp_path / "delta-n.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("name", "count"), [("table1", 15), ("table2", 9)])
def test_one_table(run, name, count):
    result = run("reproduce", name)
    assert result.exit_code == 0
    assert f"{count} of {count} cells come out" in result.stdout


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


@pytest.mark.parametrize("name", ["figure-3.7", "table3", ""])
def test_what_is_not_there_is_named(run, name):
    result = run("reproduce", name)
    assert result.exit_code == 2
    assert (
        "this version reproduces table1, table2, figure-delta-n, figure-3.5, figure-3.6, minimum-counts, alternatives "
        "and all of" in result.stderr
    )


@pytest.fixture(scope="module")
def figure():
    return reproduction.delta_against_size()


def test_every_printed_delta_is_a_point_of_the_figure(figure):
    printed = {(title, place): numbers[1] for title, table in PRINTED.items() for place, numbers in table.items()}
    n = {"Table 1": 32768, "Table 2": 1024}
    points = {(point.table, (point.epsilon, n[point.table] // point.size)): point.delta for point in figure.points}
    assert {place: delta.computed for place, delta in points.items()} == printed
    lines = dict(zip(figure.flattens, figure.picture.lines, strict=True))
    for point in figure.points:
        line = lines[point.epsilon]
        assert line.values[line.places.index(point.size)] == point.delta.value
    assert figure.agrees


def test_the_figure_drops_rapidly_and_then_flattens_out(figure):
    assert list(figure.flattens) == ["0.005", "0.01", "0.02", "0.05", "0.1", "0.2"]
    assert all(figure.flattens.values())
    for line in figure.picture.lines:
        assert (line.places[0], line.places[-1]) == (1, 32768)
        assert line.is_exact
        uppers = figure.picture.heights(line)
        assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(uppers))


def test_what_does_not_flatten_is_noticed():
    def values(*numbers):
        return [sp.Enclosure(number) for number in numbers]

    assert reproduction._flattens(values(1, 0.5, 0.375, 0.3125))
    assert not reproduction._flattens(values(1, 0.75, 0.25))
    assert not reproduction._flattens(values(1, 0.5, 0.5))
    assert not reproduction._flattens([sp.Enclosure(1), sp.Enclosure(0.5), sp.Enclosure(0.2, 0.5)])


def test_the_figure_is_shown_drawn_and_stored(run, run_json, tmp_path):
    out = tmp_path / "delta-n.svg"
    result = run("reproduce", "figure-delta-n", "--out", out)
    assert result.exit_code == 0
    assert "24 of 24 printed δ lie on the lines" in result.stdout
    assert "6 of 6 lines drop rapidly and then flatten out" in result.stdout
    assert result.stdout.count("✓") == 24 + 1
    assert b"<svg" in out.read_bytes()
    document = run_json("reproduce", "figure-delta-n")
    (shown,) = document["figures"]
    assert (document["reproduced"], document["tables"]) == (True, [])
    assert (
        shown["printed"][0].items() >= {"table": "Table 1", "epsilon": "0.005", "n": 1024, "printed": ".0225"}.items()
    )
    points = {point["n"]: point["delta"] for point in shown["lines"][0]["points"]}
    assert points[1024] == shown["printed"][0]["value"]


def test_a_wrong_point_of_the_figure_is_an_error(run, run_json, monkeypatch):
    table = reproduction.TABLES["table2"]
    first, *rest = table.rows
    wrong = replace(first, columns=((".1215", "2"), *first.columns[1:]))
    monkeypatch.setitem(reproduction.TABLES, "table2", replace(table, rows=(wrong, *rest)))
    result = run("reproduce", "figure-delta-n")
    assert result.exit_code == 1
    assert "Table 2, ε = 0.05, n = 32: .1215 does not come out" in result.stdout
    assert "23 of 24 printed δ lie on the lines" in result.stdout
    assert run_json("reproduce", "figure-delta-n", code=1)["reproduced"] is False


def test_a_shape_that_is_not_proved_is_an_error(run, monkeypatch):
    monkeypatch.setattr(reproduction, "_flattens", lambda deltas: deltas[-1].upper > 1e-9)
    result = run("reproduce", "figure-delta-n")
    assert result.exit_code == 1
    assert "ε = 0.2: not proved to drop and to flatten" in result.stdout
    assert "4 of 6 lines" in result.stdout


def test_numbers_are_checked_without_matplotlib(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run("reproduce", "all").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("table1", "--out", "a.svg"),
            "--out = a.svg: table1 is a table; figure-delta-n, figure-3.5, figure-3.6, minimum-counts, alternatives "
            "and all have a figure to draw",
        ),
        (("all", "--out", "a.jpg"), "--out = a.jpg; a name that ends in .svg, .png or .pdf is required"),
        (("all", "--out", "no/a.svg"), "--out = no/a.svg: its folder does not exist; create it first"),
    ],
)
def test_a_figure_that_cannot_be_drawn_is_refused_first(run, arguments, message):
    result = run("reproduce", *arguments)
    assert (result.exit_code, result.stderr) == (2, f"Error: {message}\n")


def test_figure_3_5_is_the_closed_form_and_the_smaller_of_two_guarantees(run, run_json, tmp_path):
    published = reproduction.published_figure("figure-3.5")
    printed, cut = (published.values(f"published, {which} noise") for which in ("without", "with"))
    for known, epsilon in printed.items():
        closed = math.sqrt(14 * math.log(1e10) / (0.05 * (10**5 - known - 1)))
        assert epsilon.midpoint == pytest.approx(closed, rel=1e-12)
        assert cut[known].upper == pytest.approx(min(closed, 0.5), rel=1e-12)
    assert 93_000 < max(printed) < 93_600  # where the closed form leaves its range
    ours = published.values("ours, without noise")
    assert all(ours[known].upper < 0.6 * epsilon.lower for known, epsilon in printed.items())
    result = run("reproduce", "figure-3.5", "--out", tmp_path / "figure.svg")
    assert result.exit_code == 0
    assert "the smaller of two guarantees" in " ".join(result.stdout.split())
    assert b"<svg" in (tmp_path / "figure.svg").read_bytes()
    (shown,) = run_json("reproduce", "figure-3.5")["figures"]
    assert shown["figure"] == "Figure 3.5"
    assert len(shown["remarks"]) == 3
    assert [line["label"] for line in shown["lines"]] == [line.label for line in published.picture.lines]


def test_figure_3_6_is_the_tail_of_one_loss_and_not_delta(run, run_json, tmp_path):
    published = reproduction.published_figure("figure-3.6")
    tail = published.values("published, no noise")
    # a p/((n − a) q) against 1: P[1 + B >= a] for the least a with ln(a q/((n − a) p)) > ε.
    for epsilon, value in tail.items():
        least = next(a for a in range(1, 1001) if math.log(a * 0.95 / ((1001 - a) * 0.05)) > epsilon)
        assert sp.laws.binomial_upper_tail(least - 1, n=1000, p="0.05").midpoint == pytest.approx(
            value.midpoint, rel=1e-9
        )
    for alpha in (0.5, 0.6):
        line = published.values(f"published, noise α = {alpha}")
        assert all((value.upper > 0) == (math.exp(epsilon) < 1 / alpha) for epsilon, value in line.items())
    # The order that is not drawn is the worse one: the published line is below δ.
    assert tail[0.6].upper < 0.1 * published.values("ours, no noise")[0.6].lower
    assert published.agrees
    result = run("reproduce", "figure-3.6", "--out", tmp_path / "figure.png")
    assert result.exit_code == 0
    assert "Only the loss of 1 against 0 is drawn" in " ".join(result.stdout.split())
    (shown,) = run_json("reproduce", "figure-3.6")["figures"]
    assert all(shown["proved"].values())
    assert len(shown["lines"]) == 6


@pytest.mark.parametrize("alpha", [None, "1/2", "3/5"])
def test_the_law_of_the_published_loss_has_the_curve_of_the_kernel(alpha):
    share = None if alpha is None else Fraction(alpha)
    loss = figures.loss_of_noisy_count(30, Fraction(1, 20), share)
    count = sp.PropertyQuery("1/20")
    query = count if alpha is None else count.noisy(sp.noise.DiscreteLaplace(alpha=alpha))
    curve = sp.privacy_curve(query, sp.Population(31), pair=(1, 0))
    assert sum(loss.law.values()) == 1
    for epsilon in (0, "0.1", "0.4", "0.65"):
        ours, kernel = loss.delta(epsilon), curve.delta(epsilon)
        assert ours.lower <= kernel.upper
        assert kernel.lower <= ours.upper
        assert ours.width < 1e-14


def test_a_published_line_that_is_passed_is_an_error(run, monkeypatch):
    figure = reproduction.published_figure("figure-3.5")
    monkeypatch.setattr(reproduction, "published_figure", lambda name: replace(figure, proved={"ours is lower": False}))
    result = run("reproduce", "figure-3.5")
    assert result.exit_code == 1
    assert "✗ ours is lower" in result.stdout


@pytest.mark.campaign  # alone it notices a number of the page that is not the kernel's
def test_the_table_of_rules_is_the_one_of_the_page_and_its_picture_is_drawn(run, tmp_path):
    """The page shows what the command prints: every δ rounded up."""
    printed = run("reproduce", "minimum-counts", "--out", tmp_path / "rules.svg").stdout
    assert (tmp_path / "rules.svg").stat().st_size > 10_000
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "minimum-counts.md").read_text(encoding="utf-8")
    rows = [line.split() for line in printed.splitlines() if line.split()[:1] and line.split()[0].isdigit()]
    assert len(rows) == 16
    for bound, supremum in zip(rows[:8], rows[8:], strict=True):
        assert f"| {' | '.join([*bound, *supremum[1:]])} |" in page


def test_the_table_of_rules_in_json_has_both_ends_of_both_bounds(run_json):
    document = run_json("reproduce", "minimum-counts")
    assert document["reproduced"] is True
    ten = next(rule for rule in document["rules"] if (rule["minimum"], rule["epsilon"]) == (10, "2"))
    assert ten["supremum"]["upper"] < ten["delta"]["lower"] <= sp.minimum_count_curve(10).delta(2).upper


@pytest.fixture
def compared():
    return {table.name: alternatives.alternatives(table) for table in alternatives.TABLES}


@pytest.mark.campaign  # alone it notices a number of the page that is out of date
def test_the_alternatives_are_those_of_the_page(run, tmp_path):
    printed = run("reproduce", "alternatives", "--out", tmp_path / "alternatives.svg").stdout
    assert (tmp_path / "alternatives.svg").stat().st_size > 10_000
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "alternatives.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.count("|") == 6 and "---" not in line]
    rows = [row for row in rows if row[0] != "method"]
    assert len(rows) == 16
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    assert all(" ".join(row) in lines for row in rows)


@pytest.mark.campaign  # alone it notices an attack that gains too much, or nothing
def test_no_attack_gains_more_than_is_certified_and_some_gain_nearly_that(compared):
    for methods in compared.values():
        assert all(method.agrees for method in methods)
        gains = [method.found.advantage.upper / method.if_others_known.upper for method in methods if method.found]
        assert sorted(gains)[1] > 1  # the intervals of both perturbations reach what is certified
        perturbed = [method for method in methods if "random" in method.method or "keys" in method.method]
        assert all(method.found.advantage.lower > 0.8 * method.if_others_known.upper for method in perturbed)


def test_an_attack_that_refutes_is_told_by_the_exit_code(run, monkeypatch):
    monkeypatch.setattr(alternatives.Alternative, "agrees", property(lambda _: False))
    assert run("reproduce", "alternatives").exit_code == 1


def test_errors_and_bounds_of_alternatives_are_those_of_the_definitions(compared):
    table = alternatives.TABLES[1]
    by_name = {method.method: method for method in compared[table.name]}
    base_3 = [{0: 0, 1: 2, 2: 2}[count % 3] for count in table.counts]
    assert by_name["rounded at random to base 3"].error.lower ** 2 == pytest.approx(sum(base_3) / len(base_3))
    assert by_name["rounded at random to base 3"].if_others_known.upper == pytest.approx(5 / 9)
    nearest = [(min(count % 5, 5 - count % 5)) ** 2 for count in table.counts]
    assert by_name["rounded to the nearest 5"].error.lower ** 2 == pytest.approx(sum(nearest) / len(nearest))
    assert by_name["cell keys (5, variance 3, no 1 or 2)"].error.upper == pytest.approx(3**0.5)
    assert by_name["Laplace noise of scale 2/epsilon"].error.upper == pytest.approx(8**0.5)
    assert by_name["single cells below 10 suppressed"].if_law_known is None
    rule = sp.minimum_count_curve(10).delta(1)
    assert by_name["exact, every cell at least 10"].if_law_known == rule
    assert by_name["normal noise at delta = 1e-5"].if_law_known.upper <= 1e-5 < rule.lower
