"""Published tables as CSV files have them: wide, tidy, SDMX-CSV; and what is refused instead of guessed."""

import pytest

import statpriv as sp
from statpriv import budget
from statpriv.audit.ordered import intervals
from statpriv.releasing.released_table import ReleasedTable as Released
from statpriv.releasing.table_files import as_csv, as_sdmx_csv

WIDE = "region \\ age,<30,30-59,60+\nnorth,12,30,44\nsouth,19,41,50\n"
TIDY = "region,age,count\n" + "".join(
    f"{region},{age},{count}\n"
    for region, row in (("north", (12, 30, 44)), ("south", (19, 41, 50)))
    for age, count in zip(("<30", "30-59", "60+"), row, strict=True)
)
SDMX = "STRUCTURE,STRUCTURE_ID,ACTION,region,age,OBS_VALUE,OBS_STATUS,CONF_STATUS\n" + "".join(
    f"dataflow,OFFICE:T(1.0),I,{line.rpartition(',')[0]},{line.rpartition(',')[2]},A,F\n"
    for line in TIDY.splitlines()[1:]
)


@pytest.fixture
def read(tmp_path):
    def of(text, name="table.csv", **layout):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return sp.read_table(path, sp.TableLayout(**layout))

    return of


def counts(table):
    return {cell.key: cell.count for cell in table.inner}


@pytest.mark.parametrize(
    "text", [TIDY, SDMX, WIDE.replace(",", ";"), WIDE.replace(",", "\t"), "\ufeff" + WIDE, WIDE + "\n\n"]
)
def test_every_layout_gives_the_same_table(read, text):
    plain, other = read(WIDE), read(text)
    assert plain.dimensions == (("region", ("north", "south")), ("age", ("<30", "30-59", "60+")))
    assert (other.dimensions, counts(other)) == (plain.dimensions, counts(plain))


def test_cells_may_hold_the_delimiter_quotes_markup_and_line_breaks(read):
    label = '<b>"north", left\nside</b>'
    table = read(f'region,yes,no\n"{label.replace(chr(34), chr(34) * 2)}",12,30\nsouth,1,2\n')
    assert table.count((label, "yes")) == 12


def test_several_columns_of_labels_are_several_dimensions(read):
    text = "region,sex,young,old\nnorth,f,1,2\n,m,3,4\nsouth,f,5,6\n,m,7,8\n"
    table = read(text.replace("\n,m", "\n,m"), dimensions=("region", "sex"), columns="age")
    assert table.dimension_names == ("region", "sex", "age")
    assert table.count(("north", "m", None)) == 7
    assert table.count(("south", None, "old")) == 14


def test_an_empty_label_after_the_last_stated_one_is_not_filled_from_above(read):
    """The row may be a total, and would be counted as one more cell of the category above."""
    with pytest.raises(sp.ArgumentError, match="sex is empty"):
        read("region,sex,n_\nnorth,f,1\nnorth,m,3\nTotal,,4\n", dimensions=("region", "sex"))


@pytest.mark.parametrize(
    ("mark", "most"), [("..", None), ("x", None), ("c", None), ("", None), ("*", None), ("<10", 9), ("< 5", 4)]
)
def test_marks_of_suppressed_counts_are_recognised(read, mark, most):
    table = read(WIDE.replace("12", mark))
    (hidden,) = table.suppressed()
    assert (hidden.key, hidden.most) == (("north", "<30"), most)


def test_declared_marks_replace_those_that_are_recognised(read):
    assert len(read(WIDE.replace("12", "conf"), suppressed=("conf",)).suppressed()) == 1
    with pytest.raises(sp.ArgumentError, match=r"line 2, column <30: 'x' is neither a count"):
        read(WIDE.replace("12", "x"), suppressed=("conf",))


@pytest.mark.parametrize("written", ["1,234", "1 234", "1\u00a0234", "1\u202f234", "1234", "1234.0"])
def test_thousands_may_be_parted(read, written):
    assert read(f"region;yes;no\nnorth;{written};1\nsouth;1;1\n").count(("north", "yes")) == 1234


@pytest.mark.parametrize("written", ["-3", "1.5", "12a", "1.234", "12,34", "9007199254740993", "1e3", "nan", "٣"])
def test_what_is_no_count_is_refused_with_its_place(read, written):
    with pytest.raises(sp.ArgumentError, match=r"line 2, column yes: .* is neither a count"):
        read(f"region;yes;no\nnorth;{written};1\nsouth;1;1\n")


# --- totals --------------------------------------------------------------------------------------

TOTALS = "region,young,old,Total\nnorth,12,30,42\nsouth,19,41,60\nTotal,31,71,102\n"


@pytest.mark.parametrize("layout", [{}, {"totals": ("Total",)}])
def test_totals_are_no_categories(read, layout):
    table = read(TOTALS, **layout)
    assert table.size == 4
    assert {cell.key: cell.count for cell in table.totals} == {
        ("north", None): 42,
        ("south", None): 60,
        (None, "young"): 31,
        (None, "old"): 71,
        (None, None): 102,
    }
    assert table.contradictions() == ()


def test_what_looks_like_a_total_and_does_not_add_up_has_to_be_declared(read):
    wrong = TOTALS.replace("102", "103")
    with pytest.raises(sp.ArgumentError, match=r"103 instead of 102 where region = \(all\), column = \(all\)"):
        read(wrong)
    (contradiction,) = read(wrong, totals=("Total",)).contradictions()
    assert (contradiction.total, contradiction.cells) == (103, 102)
    assert read(wrong, categories=("Total",)).size == 9


def test_a_total_below_the_sum_of_its_published_cells_is_a_contradiction_whatever_is_suppressed(read):
    table = read(TOTALS.replace("12,30,42", "..,30,29"), totals=("Total",))
    assert [each.key for each in table.contradictions()] == [("north", None)]


def test_totals_that_are_not_published_are_added_up(read):
    table = read(WIDE.replace("12", ".."))
    assert table.count((None, "60+")) == 94
    assert table.count((None, "<30")) is None
    assert table.count((None, None)) is None


# --- what a file does not say --------------------------------------------------------------------

SPARSE = "region,age,count\nnorth,young,12\nnorth,old,30\nsouth,old,41\n"


def test_combinations_that_are_not_listed_have_to_be_explained(read):
    with pytest.raises(sp.ArgumentError, match=r"1 of 4 combinations .* not listed, south × young"):
        read(SPARSE)
    assert [cell.key for cell in read(SPARSE, absent="zero").zeros()] == [("south", "young")]
    assert [cell.key for cell in read(SPARSE, absent="suppressed").suppressed()] == [("south", "young")]
    impossible = read(SPARSE, absent="impossible")
    assert impossible.impossible == {("south", "young")}
    assert impossible.zeros() == ()
    assert read(SPARSE, impossible=(("south", "young"),)).impossible == {("south", "young")}


def test_people_in_an_impossible_cell_are_refused(read):
    with pytest.raises(sp.ArgumentError, match="north × young is declared impossible, and has people"):
        read(SPARSE, absent="zero", impossible=(("north", "young"),))


def test_in_sdmx_data_that_cannot_exist_are_impossible_and_empty_values_suppressed(read):
    text = SDMX.replace("12,A,F", ",M,F").replace("50,A,F", ",Q,N")
    table = read(text)
    assert table.impossible == {("north", "<30")}
    assert [cell.key for cell in table.suppressed()] == [("south", "60+")]


def test_the_total_of_sdmx_is_a_total(read):
    text = SDMX + "dataflow,OFFICE:T(1.0),I,_T,_T,196,A,F\n"
    assert read(text).by_key[(None, None)].count == 196


@pytest.mark.parametrize(
    ("text", "layout", "message"),
    [
        ("", {}, "a header of at least two columns"),
        ("region\n", {}, "a header of at least two columns"),
        ("region,a,a\nx,1,2\n", {}, "'a' more than once"),
        ("region,a,\nx,1,2\n", {}, "column 3 has no name"),
        ("region,a,b\nx,1\n", {}, "line 2 has 2 cells, and the header 3"),
        ("region,a,b\nx,1,2\nx,3,4\n", {}, "x × a stands there twice"),
        ("region,a,b\n", {}, "no cells below the header"),
        ('region,a,b\n"x,1,2\n', {}, "is not CSV"),
        (TIDY, {"count": "people"}, "no column 'people'; the header has region, age, count"),
        (WIDE, {"layout": "tidy"}, "which column has the counts"),
        (WIDE, {"layout": "sdmx"}, "has a column OBS_VALUE"),
        (WIDE, {"dimensions": ("sex",)}, "no column 'sex'"),
        (SPARSE, {"impossible": (("south",),), "absent": "zero"}, "one category for each of region, age"),
        ("region,Total\nTotal,3\n", {}, "totals only"),
        ("a\0b,c\n1,2\n", {}, "zero bytes"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_reason(read, text, layout, message):
    with pytest.raises(sp.ArgumentError, match=message):
        read(text, **layout)


def test_files_that_are_no_tables_are_refused(tmp_path):
    with pytest.raises(sp.ArgumentError, match="No such file"):
        sp.read_table(tmp_path / "missing.csv")
    with pytest.raises(sp.ArgumentError, match=r"Is a directory|Permission"):
        sp.read_table(tmp_path)
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(sp.ArgumentError, match="UTF-8"):
        sp.read_table(tmp_path / "binary.csv")


@pytest.mark.parametrize(
    ("limit", "message"),
    [("MAX_PUBLISHED_BYTES", "bytes"), ("MAX_PUBLISHED_ENTRIES", "cells"), ("MAX_PUBLISHED_CELLS", "combinations")],
)
def test_files_are_bounded(read, monkeypatch, limit, message):
    monkeypatch.setattr(budget, limit, 5)
    with pytest.raises(sp.ArgumentError, match=message):
        read(WIDE)


@pytest.mark.parametrize("option", [{"layout": "long"}, {"absent": "none"}])
def test_options_are_checked(option):
    with pytest.raises(sp.ArgumentError, match="is required"):
        sp.TableLayout(**option)


def test_nested_lists_make_a_table():
    table = sp.PublishedTable.from_counts({"a": ["x", "y"], "b": ["u", "v"]}, [[1, None], [3, 4]])
    assert table.count((None, "u")) == 4
    assert table.count(("x", None)) is None
    assert table.smallest.key == ("x", "u")
    with pytest.raises(sp.ArgumentError, match="3 counts; one for each of 4"):
        sp.PublishedTable.from_counts({"a": ["x", "y"], "b": ["u", "v"]}, [[1, 2], [3]])
    with pytest.raises(sp.ArgumentError, match="is not a count"):
        sp.PublishedTable.from_counts({"a": ["x", "y"]}, [1, -1])


@pytest.mark.parametrize(
    ("labels", "ends"),
    [
        (["<18", "18-64", "65+"], [(0, 18), (18, 65), (65, None)]),
        (["0–15", "16 to 29", "over 29"], [(0, 16), (16, 30), (30, None)]),
        (["16", "17", "18 and over"], [(16, 17), (17, 18), (18, None)]),
        (["up to 5 years", "6 years or more"], [(0, 6), (6, None)]),
    ],
)
def test_labels_of_ranges_are_read(labels, ends):
    assert [(each.low, each.high) for each in intervals(labels).values()] == ends


@pytest.mark.parametrize("labels", [["0-9", "20-29"], ["0-9", "9-19"], ["a", "b"], ["5-3", "6+"], ["17"], ["<5", "<9"]])
def test_labels_that_are_no_partition_are_not(labels):
    assert intervals(labels) is None


def test_files_of_a_release_are_read_back(tmp_path):
    """Tidy and SDMX-CSV files of this package: impossible cells stay impossible, withheld ones suppressed."""
    released = Released(
        name="Region by age",
        dimensions=(("region", ("n", "s")), ("age", ("<30", '30, or "more"'))),
        minimum=10,
        impossible=(("n", "<30"),),
        by="region",
        by_source="register",
        published=True,
        withheld=("s",),
        rows=40,
        counts=((("n", '30, or "more"'), 17),),
    )
    for name, content in (("tidy.csv", as_csv(released)), ("sdmx.csv", as_sdmx_csv(released))):
        (tmp_path / name).write_bytes(content)
        table = sp.read_table(tmp_path / name)
        assert table.dimensions == released.dimensions
        assert table.impossible == {("n", "<30")}
        assert [cell.key for cell in table.suppressed()] == [("s", "<30"), ("s", '30, or "more"')]
        assert table.count(("n", '30, or "more"')) == 17
        assert sp.assess_tables(table, minimum=10, epsilon=1, by="region").verdict == "yes"


def test_codes_with_their_labels_are_codes_of_sdmx(read):
    table = read(
        "STRUCTURE[;],GEO: Region,OBS_VALUE: Value,OBS_STATUS: Status\n"
        "dataflow,N: North,12,A: Normal value\ndataflow,S: South,,M: Data cannot exist\n"
        "dataflow,_T: Total,12,A: Normal value\n"
    )
    assert table.dimensions == (("GEO: Region", ("N: North", "S: South")),)
    assert table.impossible == {("S: South",)}
    assert table.by_key[(None,)].count == 12


def test_titles_above_the_header_are_skipped_and_lines_still_counted_from_the_top(read):
    text = "Table 3: people\nSource: a survey\n" + WIDE
    assert counts(read(text, skip=2)) == counts(read(WIDE))
    with pytest.raises(sp.ArgumentError, match="at least two columns"):
        read(text)
    with pytest.raises(sp.ArgumentError, match="line 4, column <30"):
        read(text.replace("12", "?"), skip=2)
    with pytest.raises(sp.ArgumentError, match="skip = -1"):
        sp.TableLayout(skip=-1)
