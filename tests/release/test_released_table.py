"""Published tables obey their rule, their totals are sums of what is published, and their files say the same."""

from __future__ import annotations

import copy
import csv
import io
import stat
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statpriv.errors import ArgumentError, PublicationError
from statpriv.releasing.released_table import ReleasedTable, contradictions, holds_other_keys
from statpriv.releasing.table_files import TableFiles, as_csv, as_sdmx_csv, file_names, tables_of

from .table_samples import AGES, SAMPLES, table

COUNTED = [name for name, sample in SAMPLES.items() if sample["published"] is not None]


def read(name):
    return ReleasedTable.from_document(SAMPLES[name])


def lines_of(content):
    """The file as a reader of RFC 4180 takes it."""
    text = content.decode("utf-8")
    assert text.endswith("\r\n")
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


# --- totals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLES)
def test_every_total_is_the_sum_of_the_published_cells_that_it_covers(name):
    found = read(name)
    for size in range(len(found.names) + 1):
        for kept in combinations(found.names, size):
            if found.by is not None and found.by not in kept:
                continue
            places = [found.names.index(dimension) for dimension in kept]
            for key, total in found.margin(*kept).items():
                covered = [n for cell, n in found.counts if tuple(cell[place] for place in places) == key]
                assert total == sum(covered)
                assert len(covered) > 0
            assert sum(found.margin(*kept).values()) == sum(count for _, count in found.counts)


@pytest.mark.parametrize("name", ["by class", "three dimensions", "all classes withheld"])
def test_no_total_over_the_classes_is_formed_even_where_none_is_withheld(name):
    found = read(name)
    assert found.by not in found.summable
    for kept in [(), tuple(found.summable)]:
        with pytest.raises(ArgumentError, match="no total over its classes is formed"):
            found.margin(*kept)


@pytest.mark.parametrize("kept", [("age", "age"), ("nothing",)])
def test_totals_are_by_different_dimensions(kept):
    with pytest.raises(ArgumentError, match="different names of 'region', 'age' are required"):
        read("two dimensions").margin(*kept)


def test_totals_stand_in_the_declared_order_whatever_order_is_asked_for():
    found = read("three dimensions")
    assert [*found.margin("age", "sex")] == [(age, sex) for age in AGES for sex in ("f", "m")]


# --- the rule ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLES)
def test_tables_of_every_kind_are_consistent(name):
    assert contradictions(SAMPLES[name]) == []
    assert not holds_other_keys(SAMPLES[name])


def changed(name, change):
    document = copy.deepcopy(SAMPLES[name])
    change(document)
    return document


FAULTS = [
    ("two dimensions", lambda t: t["cells"][3].update(count=9), "tables.cells.count is below tables.minimum"),
    ("two dimensions", lambda t: t["cells"][3].update(count=40), "add up to something else than tables.rows"),
    ("two dimensions", lambda t: t["cells"].pop(), "tables.cells has to hold exactly the possible cells"),
    ("two dimensions", lambda t: t["cells"].reverse(), "in row-major order"),
    ("two dimensions", lambda t: t["cells"][0].update(leaked="x"), "tables.cells has to hold exactly"),
    ("two dimensions", lambda t: t["cells"].insert(0, {"region": "north", "age": "<30", "count": 10}), "tables.cells"),
    ("two dimensions", lambda t: t.update(published=False), "nothing if tables.published is not true"),
    ("two dimensions", lambda t: t.update(published=None), "nothing if tables.published is not true"),
    ("two dimensions", lambda t: t.update(withheld=["north"]), "tables.withheld has to name classes"),
    ("two dimensions", lambda t: t.update(impossible=[["north", "31"]]), "tables.impossible has to name different"),
    (
        "minima",
        lambda t: t["minima"][0].update(minimum=11),
        "tables.cells.count is below tables.minimum or tables.minima",
    ),
    ("minima", lambda t: t["minima"][0].update(cell=["north"]), "tables.minima has to name different possible cells"),
    ("minima", lambda t: t["minima"][0].update(cell=["north", "31"]), "tables.minima has to name different possible"),
    ("minima", lambda t: t["minima"].append(t["minima"][0]), "tables.minima has to name different possible cells"),
    ("two dimensions", lambda t: t.update(impossible=[["north"]]), "tables.impossible has to name different"),
    (
        "two dimensions",
        lambda t: t.update(impossible=[["north", "<30"]] * 2),
        "tables.impossible has to name different",
    ),
    ("two dimensions", lambda t: t.update(by="sex", by_source="x"), "tables.by is none of tables.dimensions"),
    ("two dimensions", lambda t: t.update(by="age"), "tables.by_source is there exactly if tables.by is"),
    ("two dimensions", lambda t: t["dimensions"].update(count=["1"]), "one with a reserved name (count, count_status)"),
    ("two dimensions", lambda t: t["dimensions"].update(age=["a", "a"]), "different categories"),
    ("one dimension", lambda t: t.update(impossible=[["<30"], ["60+"]]), "fewer than two possible cells"),
    ("by class", lambda t: t.update(published=False), "tables.published has to be true exactly if a class is not"),
    ("by class", lambda t: t.update(withheld=["west"]), "tables.withheld has to name classes"),
    ("by class", lambda t: t.update(withheld=["south", "north"]), "in their order"),
    ("by class", lambda t: t.update(withheld=[]), "tables.cells has to hold exactly the possible cells"),
    ("by class", lambda t: t.update(rows=1), "tables.cells.count add up to more than tables.rows"),
    ("all classes withheld", lambda t: t.update(published=True), "tables.published has to be true exactly"),
    ("not counted", lambda t: t.update(by="age", by_source="x", withheld=["<30"]), "that nothing was counted"),
]


@pytest.mark.parametrize(("name", "change", "message"), FAULTS)
def test_what_no_release_can_have_published_is_named_by_its_leaf(name, change, message):
    found = contradictions(changed(name, change))
    assert any(message in fault for fault in found), found
    with pytest.raises(ArgumentError, match=r"^tables: tables\."):
        ReleasedTable.from_document(changed(name, change))


def test_a_message_about_a_table_quotes_nothing_of_it():
    text = "canary"

    def plant(t):
        t.update(impossible=[[text, text]], by=text, by_source=text, withheld=[text])
        t["cells"][0][text] = text

    assert not any(text in fault for fault in contradictions(changed("two dimensions", plant)))


@pytest.mark.parametrize("where", ["a key", "a category"])
def test_a_cell_holds_nothing_that_was_not_declared(where):
    def plant(t):
        t["cells"][4].update({"leak": "x"} if where == "a key" else {"age": "x"})

    assert holds_other_keys(changed("two dimensions", plant))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(2, 30), st.data())
def test_a_table_is_consistent_exactly_if_every_cell_reaches_the_minimum(sizes, minimum, data):
    dimensions = {f"d{k}": [f"c{j}" for j in range(size)] for k, size in enumerate(sizes)}
    cells = len([*product(*dimensions.values())])
    if cells < 2:
        return
    counts = data.draw(st.lists(st.integers(1, 60), min_size=cells, max_size=cells))
    document = table(dimensions, counts=counts.__getitem__, minimum=minimum)
    assert (contradictions(document) == []) == (min(counts) >= minimum)


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COUNTED)
def test_the_tidy_file_has_one_line_for_each_declared_cell(name):
    found = read(name)
    head, *lines = lines_of(as_csv(found))
    assert head == [*found.names, "count", "count_status"]
    assert [tuple(line[:-2]) for line in lines] == [*product(*(own for _, own in found.dimensions))]
    told = {tuple(line[:-2]): int(line[-2]) for line in lines if line[-2]}
    assert told == found.by_cell
    assert all((line[-1] == "published") == bool(line[-2]) for line in lines)


@pytest.mark.parametrize("name", COUNTED)
def test_the_sdmx_file_says_the_same_with_the_codes_of_the_code_lists(name):
    found = read(name)
    head, *lines = lines_of(as_sdmx_csv(found))
    assert head == ["STRUCTURE", "STRUCTURE_ID", "ACTION", *found.names, "OBS_VALUE", "OBS_STATUS", "CONF_STATUS"]
    assert {tuple(line[:3]) for line in lines} == {
        ("dataflow", f"STATPRIV:{'AGE' if found.names == ('age',) else 'REGION_BY_AGE'}(1.0.0)", "I")
    }
    tidy = lines_of(as_csv(found))[1:]
    assert [line[3:-2] for line in lines] == [line[:-1] for line in tidy]
    codes = {"published": ["A", "F"], "withheld": ["Q", "C"], "impossible": ["M", "F"]}
    assert [line[-2:] for line in lines] == [codes[line[-1]] for line in tidy]


def test_a_withheld_table_has_the_same_files_whatever_it_holds():
    one, other = (table(published=False, counts=lambda k, c=c: c * (k + 1)) for c in (0, 5))
    other["rows"] = one["rows"] = 500
    files = [(as_csv(t), as_sdmx_csv(t)) for t in map(ReleasedTable.from_document, (one, other))]
    assert files[0] == files[1]


def test_what_was_not_counted_has_no_file():
    for write in (as_csv, as_sdmx_csv):
        with pytest.raises(PublicationError, match="nothing was counted"):
            write(read("not counted"))


AWKWARD = ["a,b", 'say "x"', "two\nlines", "<b>&amp;</b>", " trimmed ", "ä ß 漢", "'", "cr\r", ""]
FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", " =1", "\uff1d1", "-", "\r=1", "=\u200b"]
NUMBERS = ["-5", "+60", "-1.5", "+2,5", "-10%", "7"]


def test_labels_come_back_from_the_files_as_they_were_and_no_field_begins_like_a_formula():
    labels = [*AWKWARD, *FORMULAS, *NUMBERS]
    found = ReleasedTable.from_document(table({"label, of": labels, "b": ["x"]}, name='T "1"'))
    for content, place in ((as_csv(found), 0), (as_sdmx_csv(found), 3)):
        lines = lines_of(content)
        told = [line[place] for line in lines[1:]]
        assert told == [*AWKWARD, *(f"'{text}" for text in FORMULAS), *NUMBERS]
        fields = [field for line in lines for field in line if field not in NUMBERS]
        assert not any(field.strip().startswith(("=", "+", "-", "@", "\uff1d")) for field in fields)
        assert b"\n" not in content.replace(b"\r\n", b"").replace(b"two\nlines", b"")


def test_a_name_that_is_no_identifier_of_sdmx_is_made_one_that_no_other_column_has():
    names = ["Größe (cm)", "STRUCTURE", "obs_value", "1st", "年齢", "漢", "Action", "ok-1_b"]
    found = ReleasedTable.from_document(table({name: ["x", "y"][: 1 + (k == 0)] for k, name in enumerate(names)}))
    told = lines_of(as_sdmx_csv(found))[0][3:-3]
    assert told == ["Groe_cm", "STRUCTURE_2", "obs_value_2", "D_1st", "D", "D_2", "Action_2", "ok-1_b"]


def test_file_names_lead_nowhere_and_differ():
    names = ["a", "A", "../../x", "/etc/passwd", "CON", "x" * 300, "..", "", "a\x00b", "C:\\a", "-rf", "漢"]
    found = [name for pair in file_names(names) for name in pair]
    assert len({name.casefold() for name in found}) == 2 * len(names)
    for name in found:
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
        assert name[0].isdigit()
        assert len(name) < 80
        assert ".." not in name


# --- a folder of files ---------------------------------------------------------------------------

TWO = tuple(map(ReleasedTable.from_document, (SAMPLES["two dimensions"], SAMPLES["by class"])))
NAMES = [found.name for found in TWO]
WRITTEN = sorted(name for pair in file_names(NAMES) for name in pair)


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_all_files_are_written_for_their_owner_alone(tmp_path):
    folder = tmp_path / "tables"
    files = TableFiles.prepare(folder, NAMES)
    with files.reserved() as places:
        places.hold(TWO)
        assert {path.suffix for path in folder.iterdir()} == {".tmp"}
        places.write(TWO)
    assert files_in(folder) == WRITTEN
    assert (folder / WRITTEN[0]).read_bytes() == as_csv(TWO[0])
    assert (folder / WRITTEN[1]).read_bytes() == as_sdmx_csv(TWO[0])
    assert {stat.S_IMODE((folder / name).stat().st_mode) for name in WRITTEN} == {0o600}


@pytest.mark.parametrize("name", COUNTED)
def test_at_least_as_much_room_is_reserved_as_the_files_take(tmp_path, name, monkeypatch):
    from statpriv.releasing.publication import Place

    sizes = []
    monkeypatch.setattr(Place, "hold", lambda _, size: sizes.append(size))
    found = read(name)
    with TableFiles.prepare(tmp_path, [found.name]).reserved() as places:
        sizes.clear()
        places.hold([found])
    assert [len(as_csv(found)) <= sizes[0], len(as_sdmx_csv(found)) <= sizes[1]] == [True, True]
    assert sizes[0] < 20 * len(as_sdmx_csv(found))


def test_an_existing_file_is_refused_before_anything_is_written(tmp_path):
    (tmp_path / WRITTEN[3]).write_text("old", encoding="utf-8")
    with pytest.raises(PublicationError, match="it exists; choose another name or say --force"):
        TableFiles.prepare(tmp_path, NAMES)
    assert files_in(tmp_path) == [WRITTEN[3]]
    TableFiles.prepare(tmp_path, NAMES, force=True).write(TWO)
    assert files_in(tmp_path) == WRITTEN


def test_a_protected_file_is_never_replaced(tmp_path):
    (tmp_path / WRITTEN[0]).write_text("the data", encoding="utf-8")
    with pytest.raises(PublicationError, match="never overwritten"):
        TableFiles.prepare(tmp_path, NAMES, force=True, protected=[tmp_path / WRITTEN[0]])


@pytest.mark.parametrize("there", ["a file", "a missing folder"])
def test_a_folder_that_cannot_be_is_refused(tmp_path, there):
    folder = tmp_path / "tables"
    if there == "a file":
        folder.write_text("", encoding="utf-8")
    else:
        folder = folder / "deep" / "down"
    with pytest.raises(PublicationError, match=r"^tables = "):
        TableFiles.prepare(folder, NAMES)


def test_a_folder_that_was_made_goes_with_the_files_that_were_never_written(tmp_path):
    folder = tmp_path / "tables"
    files = TableFiles.prepare(folder, NAMES)
    assert folder.is_dir()
    files.leave()
    assert not folder.exists()
    folder.mkdir()
    TableFiles.prepare(folder, NAMES).leave()
    assert folder.is_dir()


def test_a_failure_leaves_no_file(tmp_path, monkeypatch):
    folder = tmp_path / "tables"
    files = TableFiles.prepare(folder, NAMES)
    monkeypatch.setattr("statpriv.releasing.table_files.as_sdmx_csv", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        files.write(TWO)
    assert not folder.exists()


def test_the_tables_of_a_report_are_read_and_a_report_without_them_has_none():
    assert tables_of({"tables": [SAMPLES["two dimensions"]]}) == (read("two dimensions"),)
    assert tables_of({}) == ()


def test_ten_thousand_cells_are_read_and_written_quickly():
    found = ReleasedTable.from_document(table({"a": [f"a{k}" for k in range(100)], "b": [f"b{k}" for k in range(100)]}))
    assert len(lines_of(as_csv(found))) == 10_001
    assert len(found.margin("a")) == len(found.margin("b")) == 100
