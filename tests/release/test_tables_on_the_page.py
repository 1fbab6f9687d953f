"""Exact tables on the page: every published count, every total that may be formed, and no word of what is withheld."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise

import pytest

from statpriv.releasing.page_facts import page_facts
from statpriv.releasing.released_table import ReleasedTable
from statpriv.releasing.report import render
from statpriv.releasing.table_page import _MOST_CELLS, _MOST_COLUMNS, table_pages

from .report_samples import dry_run, only_tables, sample, smallest
from .table_samples import SAMPLES, table

LARGE = table({"place": [f"p{k}" for k in range(100)], "work": [f"w{k}" for k in range(100)]}, name="Large")
DEEP = table({"a": [f"a{k}" for k in range(10)], "b": ["x", "y"], "c": ["0", "1", "2"]}, name="Deep")


def page_of(*tables):
    return render(only_tables(smallest(sample()), *tables))


def section(html):
    """The text of the section on tables, cell by cell."""
    found = re.search(r'<section aria-labelledby="tables">.*?</section>', html, re.DOTALL).group()
    return [unescape(text).strip() for text in re.split(r"<[^>]*>", found) if text.strip()]


def facts(*tables):
    return table_pages(only_tables(sample(), *tables))


def numbers(words):
    return [int(word.replace(",", "")) for word in words if re.fullmatch(r"\d[\d,]*", word)]


@pytest.mark.parametrize("name", SAMPLES)
def test_every_published_count_and_every_allowed_total_stands_in_a_grid(name):
    (stated,) = facts(SAMPLES[name])
    found = ReleasedTable.from_document(SAMPLES[name])
    shown = [cell.count for grid in stated.grids for row in grid.rows for cell in row.cells if cell.count is not None]
    assert sorted(shown) == sorted(count for _, count in found.counts)
    for grid in stated.grids:
        outer = dict(grid.heading)
        places = [grid.row_dimension, *([] if grid.column_dimension is None else [grid.column_dimension])]
        if grid.row_totals:
            rows = found.margin(*outer, grid.row_dimension)
            told = {row.label: row.total for row in grid.rows if row.total is not None}
            assert told == {key[-1]: total for key, total in rows.items() if key[:-1] == tuple(outer.values())}
        if grid.total is not None:
            assert grid.total == found.margin(*outer)[tuple(outer.values())]
        by_column = grid.column_totals is not None
        assert by_column == (found.by != grid.row_dimension)
        assert grid.row_totals == (len(places) == 2 and found.by != grid.column_dimension)
        assert (grid.total is None) == (found.by in places or grid.withheld is not None or not found.counts)


@pytest.mark.parametrize("name", [name for name, stated in SAMPLES.items() if stated["published"] is not None])
def test_the_page_shows_the_counts_and_names_the_rule_in_a_sentence(name):
    stated = SAMPLES[name] | {"delta": {"lower": 0.0, "upper": 2**-17}}
    words = section(page_of(stated))
    counts = [cell["count"] for cell in stated["cells"]]
    assert set(counts) <= set(numbers(words))
    text = " ".join(words)
    least = "its minimum of rows (10, but for north, <30 : 4; east, 60+ : 11)" if name == "minima" else "10 rows"
    assert (
        f"every possible cell{' of a class' if stated['by'] else ''} has at least {least} and every row is in" in text
    )
    assert "for every distribution of the rows, every number of rows and every number of cells" in text
    assert f"({sample()['guarantee']['epsilon_exact']}, 7.63 × 10⁻⁶)-statistically private" in text
    assert ("Published only because" in text) == bool(stated["published"])


def test_a_withheld_table_shows_no_count_and_says_not_why():
    words = section(page_of(SAMPLES["withheld"]))
    text = " ".join(words)
    assert "Which it was is not said" in text
    assert "“nobody is in it” tells everybody that they are not" in text
    assert numbers(words) == []


def test_pages_of_two_withheld_tables_are_the_same_bytes():
    one, other = (table(published=False, counts=lambda k, c=c: c * (k + 1)) for c in (0, 5))
    one["rows"] = other["rows"] = 500
    assert page_of(one) == page_of(other)


def test_a_withheld_class_is_named_and_no_total_over_the_classes_stands_on_the_page():
    stated = SAMPLES["by class"]
    words = section(page_of(stated))
    assert words.count("withheld") == 3  # one in each cell of the class
    total = sum(cell["count"] for cell in stated["cells"])
    assert total not in numbers(words)
    for age in stated["dimensions"]["age"]:
        over = sum(cell["count"] for cell in stated["cells"] if cell["age"] == age)
        assert over not in numbers(words)


def test_an_impossible_cell_is_told_from_one_that_is_withheld():
    words = section(page_of(SAMPLES["two dimensions"]))
    assert words.count("cannot occur") == 1
    assert "withheld" not in words


def test_of_more_dimensions_each_class_has_a_grid_of_its_own():
    (stated,) = facts(SAMPLES["three dimensions"])
    assert [grid.heading for grid in stated.grids] == [(("sex", "f"),), (("sex", "m"),)]
    assert [name for name, _ in stated.margins] == ["sex"]
    (deep,) = facts(DEEP)
    assert [name for name, _ in deep.margins] == ["a", "b", "c"]
    assert [grid.folded for grid in deep.grids] == [False] * 6 + [True] * 4
    assert {(grid.row_dimension, grid.column_dimension) for grid in deep.grids} == {("c", "b")}


@pytest.mark.campaign  # alone it notices a page of a large table
def test_a_large_table_is_cut_short_with_its_totals_whole_and_the_files_named():
    html = page_of(LARGE)
    assert len(html) < 400_000
    (stated,) = facts(LARGE)
    (grid,) = stated.grids
    found = ReleasedTable.from_document(LARGE)
    assert len(grid.columns) == _MOST_COLUMNS
    assert len(grid.rows) * len(grid.columns) <= _MOST_CELLS
    assert grid.rows[3].total == found.margin("place")[("p3",)]
    assert grid.column_totals[5] == found.margin("work")[("w5",)]
    assert grid.total == found.margin()[()]
    text = " ".join(section(html))
    assert f"{10_000 - len(grid.rows) * len(grid.columns):,} of 10,000 declared cells are not on this page" in text
    assert "1-large.csv" in text


@pytest.mark.parametrize("name", ["two dimensions", "by class", "three dimensions"])
def test_shades_are_fifths_of_the_range_and_grow_with_the_count(name):
    (stated,) = facts(SAMPLES[name])
    cells = [cell for grid in stated.grids for row in grid.rows for cell in row.cells if cell.count is not None]
    for cell in cells:
        (own,) = [shade for shade in stated.shades if shade.least <= cell.count <= shade.most]
        assert own.shade == cell.shade
    assert max(cell.shade for cell in cells) == 5
    assert stated.shades[0].least == 1


def luminance(colour):
    """Relative luminance by WCAG 2."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("theme", [0, 1])
def test_numbers_are_legible_on_every_shade_and_shades_differ_in_grey(theme):
    """A contrast of 7 is level AAA; in grey only the luminance is left."""
    style = re.search(r"<style>(.*?)</style>", page_of(SAMPLES["one dimension"]), re.DOTALL).group(1)
    shades = [luminance(re.findall(rf"--h{k}: (#[0-9a-f]{{6}})", style)[theme]) for k in range(1, 6)]
    ink = luminance(re.findall(r"--ink: (#[0-9a-f]{6})", style)[theme])
    for shade in shades:
        assert (max(ink, shade) + 0.05) / (min(ink, shade) + 0.05) >= (7 if theme == 0 else 5)
    assert shades == sorted(shades, reverse=theme == 0)
    steps = [(max(a, b) + 0.05) / (min(a, b) + 0.05) for a, b in pairwise(shades)]
    assert min(steps) > 1.08


def test_a_page_of_one_table_speaks_of_no_parts():
    html = page_of(SAMPLES["two dimensions"])
    for words in ("Who is in which part", "δ if parts were known", "Why the parts do not add up", "all answers"):
        assert words not in html
    assert "Why it is safe" in html
    assert "<h1>Exact table of" in html
    two = page_of(SAMPLES["two dimensions"], SAMPLES["one dimension"])
    assert "Who is in which part" in two
    assert "<h1>Exact tables of" in two


def test_a_dry_run_shows_the_declared_categories():
    text = " ".join(section(render(dry_run(only_tables(smallest(sample()), table())))))
    assert "The table would be published only if every possible cell has at least 10 rows" in text
    assert "9 possible cells" in text
    assert all(category in text for category in ("north", "30-59", "60+"))


@pytest.mark.parametrize(
    "label", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{7*7}}", "a\nb", "\u202egnp.exe"]
)
def test_categories_are_nothing_but_text(label):
    hostile = table({f"d {label}": [f"{label} 1", f"{label} 2"], "by": [f"{label} 3", "x"]}, by="by", withheld=("x",))
    html = page_of(hostile)
    shown = label.replace("\u202e", "[U+202E]")
    assert all(any(f"{shown} {k}" in word for word in section(html)) for k in (1, 2, 3))
    assert "<script" not in html
    assert "<img" not in html
    assert "\u202e" not in html


def test_known_rows_are_drawn_up_to_where_nothing_is_left():
    report = only_tables(sample(), SAMPLES["one dimension"])
    some = {"lower": 0.001, "upper": 0.001}
    one = {"lower": 1.0, "upper": 1.0}
    rising = [(0, some), (4, some), (9, one), (400, one)]
    report["degradation"] = [
        {"known_rows": u, "delta": d, "partition_secret": d, "partition_known": d} for u, d in rising
    ]
    ticks = [tick.label for tick in page_facts(report)["figures"]["known_rows"].x_ticks]
    assert ticks[-1] == "10"


def test_what_holds_on_the_rows_of_a_category_is_shown_of_the_first_ones():
    stated = table() | {"conditions": {"region": ["a = 1", "a = 2", "a = 3"], "age": ["b < 30", "b < 60", "b >= 60"]}}
    words = section(page_of(stated))
    assert [word for word in words if word in ("a = 2", "b < 60")] == ["a = 2", "b < 60"]
    conditions = {"a": [f"c{k}" for k in range(50)], "b": ["x", "y"]}
    long = table({"a": [f"a{k}" for k in range(50)], "b": ["x", "y"]}) | {"conditions": conditions}
    text = " ".join(section(page_of(long)))
    assert "c39" in text
    assert "c40" not in text
    assert "and 10 more in the JSON report" in text
