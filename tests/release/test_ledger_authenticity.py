"""Is everything that was not written by the program refused, and is what it wrote never refused?"""

from __future__ import annotations

import json
import random
import re
import shutil
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from statpriv.errors import ArgumentError, LedgerError
from statpriv.releasing.extension import extend
from statpriv.releasing.ledger import Anchor, Registry
from statpriv.releasing.ledger.authentication import Authenticator
from statpriv.releasing.run import release as released

from ..cases import cases
from .conftest import Workshop, query
from .registries import grow, release, rows_of, state, written_registry

DAMAGED = "the ledger is damaged or was edited"
FORMATS = Path(__file__).parents[1] / "vectors" / "formats" / "registry"


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("original") / "registry"
    written_registry(folder)
    return folder


@pytest.fixture
def folder(original, tmp_path):
    return shutil.copytree(original, tmp_path / "registry")


def refused(folder):
    """Why a registry is refused: by a look at it, by its check and by a release, in the same words."""
    registry = Registry(folder)
    said = set()
    for look in (registry.summary, registry.verify, lambda: release(registry, ["new"], "n", [1])):
        with pytest.raises(LedgerError) as error:
            look()
        said.add(str(error.value))
    (why,) = said
    return why


@contextmanager
def edited(folder):
    """The tables of a ledger, to be edited by somebody without the key."""
    with closing(sqlite3.connect(folder / "ledger.sqlite3", isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        yield connection


# --- what the program wrote


def test_what_was_written_is_accepted(original, folder):
    newest = Registry(folder).verify()
    assert newest.entry == 7
    assert Registry(folder).summary() == Registry(original).summary()
    release(Registry(folder), list("abcdefgh"), "r", [0, 0, 0, 0, 1, 0, 0, 0])
    assert Registry(folder).verify(anchor=newest).entry == 8


def test_the_history_tells_each_change(folder):
    with edited(folder) as connection:
        changes = [json.loads(change) for (change,) in connection.execute("SELECT change FROM history")]
    assert [change["kind"] for change in changes] == [
        "created", "released", "released", "extended", "released", "edits accepted", "released",
    ]  # fmt: skip
    assert (changes[3]["data_set"], changes[3]["rows_joined"]) == (1, 2)


def test_two_ledgers_of_one_history_have_no_code_in_common(tmp_path):
    codes = []
    for seed in (1, 2):
        written_registry(tmp_path / str(seed), seed)
        found = state(tmp_path / str(seed))
        codes.append({row[-1] for row in (*found["history"], *found["seal"])})
    assert not codes[0] & codes[1]


def test_neither_history_nor_anchor_nor_key_file_depends_on_content(tmp_path):
    """An anchor is kept and shown elsewhere, and a digest of content would be a publication."""
    kept = []
    for name in ("o", "z"):
        registry = Registry(tmp_path / name, random.Random(1).randbytes)  # noqa: S311 - a test repeats them
        release(registry, list("abc"), name, [1, 0, 0])
        kept.append(
            (state(tmp_path / name)["history"], registry.verify(), (tmp_path / name / "secret.json").read_bytes())
        )
    assert kept[0] == kept[1]
    assert state(tmp_path / "o")["seal"] != state(tmp_path / "z")["seal"]


def test_the_seal_of_an_earlier_state_is_nowhere(folder):
    """With it and the key, somebody could try which rows the release in between used."""
    seals = set()
    for k in (4, 7):
        seals |= {mac for _, _, mac in state(folder)["seal"]} - {None}
        labels = [int(i == k) for i in range(8)]
        release(Registry(folder), list("abcdefgh"), "r", labels)
    seals -= {mac for _, _, mac in state(folder)["seal"]}
    assert len(seals) >= 4
    files = [path.read_bytes() for path in folder.iterdir()]
    assert not any(mac in content for mac in seals for content in files)


# --- bytes


@pytest.mark.campaign  # alone it notices a byte of the ledger that no other test changes
@pytest.mark.parametrize("destroyed", [False, True])
def test_flipped_bytes_are_refused_or_without_effect(original, tmp_path, destroyed):
    """Of a ledger without its secret, nobody can tell a changed number; but a look at it ends in a sentence."""
    folder = shutil.copytree(original, tmp_path / "registry")
    registry = Registry(folder)
    if destroyed:
        registry.destroy_secret()
    files = {path: path.read_bytes() for path in sorted(folder.iterdir()) if path.stat().st_size}
    before = registry.summary(), state(folder)
    choose = random.Random(77)  # noqa: S311 - a test repeats them
    places = [(path, place) for path, whole in files.items() for place in range(len(whole))]
    # Most pages are empty at their end, so that half of the flips meet what is written.
    written = [(path, place) for path, place in places if files[path][place]]
    ends = {"refused": 0, "accepted": 0}
    for trial in range(cases(200 if destroyed else 600, campaign=10_000)):
        path, place = choose.choice(written if trial % 2 else places)
        flipped = bytearray(files[path])
        flipped[place] ^= choose.randrange(1, 256)
        path.write_bytes(flipped)
        try:
            found = registry.summary()
        except LedgerError as error:
            assert DAMAGED in str(error), (path.name, place, str(error))  # noqa: PT017 - both ends are right
            ends["refused"] += 1
        else:
            ends["accepted"] += 1
            assert destroyed or (found, state(folder)) == before, (path.name, place)
        for name, whole in files.items():
            if name.read_bytes() != whole:
                name.write_bytes(whole)
        (folder / "ledger.sqlite3-journal").unlink(missing_ok=True)
    assert min(ends.values()) > sum(ends.values()) // 10


@pytest.mark.parametrize("name", ["ledger.sqlite3", "secret.json"])
def test_a_truncated_file_is_refused(original, folder, name):
    whole = (folder / name).read_bytes()
    for length in range(1, len(whole), max(1, len(whole) // 40)):
        (folder / name).write_bytes(whole[:length])
        with pytest.raises(LedgerError, match=DAMAGED):
            Registry(folder).summary()
    (folder / name).write_bytes(whole + b" ")
    try:
        assert Registry(folder).summary() == Registry(original).summary()
    except LedgerError as error:
        assert DAMAGED in str(error)  # noqa: PT017 - both ends are right


# --- cells and rows


def other(value):
    """Values that might be taken for this one."""
    if isinstance(value, int):
        return [value + 1, value - 1, -value - 1, float(value), str(value), None, 2**62]
    if isinstance(value, bytes):
        return [bytes([value[0] ^ 1]) + value[1:], value[:-1], value + b"\0", value[::-1] + b"1", b"", 0, "text"]
    if isinstance(value, str):
        return [value + " ", value.encode(), value.replace("1", "2", 1) + "\0", "", 7, "[" * 100_000]
    return ["2026-01-01", 0, b""]


def cells(folder):
    """Every cell of every table: its table, the rowid of its row, its column and its value."""
    with edited(folder) as connection:
        for table in [name for (name,) in connection.execute("SELECT name FROM sqlite_master").fetchall()]:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            for rowid, *row in connection.execute(f"SELECT rowid, * FROM {table}").fetchall():  # noqa: S608 - our tables
                yield from ((table, rowid, column, value) for column, value in zip(columns, row, strict=True))


def test_every_cell_is_authenticated(original, folder):
    found = list(cells(folder))
    assert len(found) > 80
    assert {table for table, *_ in found} == {
        "ledger", "data_set", "token", "cohort", "content", "release", "history", "seal",
    }  # fmt: skip
    whole = (original / "ledger.sqlite3").read_bytes()
    for table, rowid, column, value in found:
        for instead in other(value):
            before = state(folder)
            try:
                with edited(folder) as connection:
                    connection.execute("PRAGMA ignore_check_constraints = ON")
                    connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", [instead, rowid])  # noqa: S608 - our tables
            except sqlite3.Error:
                continue  # the schema does not take this value
            if state(folder) != before:
                with pytest.raises(LedgerError) as error:
                    Registry(folder).summary()
                # A day of destruction and the identifier of another ledger have sentences of their own.
                assert DAMAGED in str(error.value) or table == "ledger", (table, column, instead)
            (folder / "ledger.sqlite3").write_bytes(whole)


@pytest.mark.parametrize("table", ["data_set", "token", "cohort", "content", "release", "history", "seal"])
def test_rows_that_are_removed_repeated_or_reordered(original, folder, table):
    whole = (original / "ledger.sqlite3").read_bytes()
    rows = [row[0] for row in state(folder)[table]]
    edits = [f"DELETE FROM {table} WHERE rowid = {row}" for row in rows] + [f"DELETE FROM {table}"]  # noqa: S608 - our tables
    with edited(folder) as connection:
        columns = ", ".join(
            name for _, name, kind, _, _, key in connection.execute(f"PRAGMA table_info({table})") if not key
        )
    edits += [f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {table} WHERE rowid = {row}" for row in rows]  # noqa: S608
    if len(rows) > 1:
        edits.append(
            f"UPDATE {table} SET rowid = -1 WHERE rowid = {rows[0]};"  # noqa: S608
            f"UPDATE {table} SET rowid = {rows[0]} WHERE rowid = {rows[1]};"
            f"UPDATE {table} SET rowid = {rows[1]} WHERE rowid = -1"
        )
    for edit in edits:
        with edited(folder) as connection:
            connection.executescript(edit)
        assert DAMAGED in refused(folder), edit
        (folder / "ledger.sqlite3").write_bytes(whole)


def test_a_whole_release_cannot_be_taken_back(folder):
    """All facts agree then, and only the codes know better."""
    with edited(folder) as connection:
        connection.executescript(
            "DELETE FROM release WHERE number = 4; DELETE FROM history WHERE number = 7;"
            "DELETE FROM history WHERE number = 6; DELETE FROM content WHERE number = 4"
        )
        ((spent,),) = connection.execute("SELECT spent FROM data_set WHERE number = 1").fetchall()
        bits = [i for i in range(8) if spent[0] & 1 << i]
        connection.execute("UPDATE data_set SET spent = ? WHERE number = 1", [bytes([spent[0] ^ 1 << bits[0]])])
    assert DAMAGED in refused(folder)


# --- the key


def test_each_digit_of_the_key_counts(folder):
    text = (folder / "secret.json").read_text()
    key = json.loads(text)["key"]
    for place in range(0, 64, 7):
        changed = key[:place] + ("0" if key[place] != "0" else "1") + key[place + 1 :]
        (folder / "secret.json").write_text(text.replace(key, changed))
        assert DAMAGED in refused(folder)


def test_a_key_file_that_fits_itself_and_not_the_ledger_is_refused(folder, tmp_path):
    """Somebody who makes a key of his own can authenticate nothing that the ledger holds."""
    values = json.loads((folder / "secret.json").read_text())
    codes = Authenticator.of(values["ledger_id"], bytes(32))
    mac = codes.rows("secret", [(values["releases"], values["anchor"])]).hex()
    (folder / "secret.json").write_text(json.dumps({**values, "key": "00" * 32, "mac": mac}))
    assert DAMAGED in refused(folder)


def test_a_counter_cannot_be_lowered(folder):
    text = (folder / "secret.json").read_text()
    (folder / "secret.json").write_text(text.replace('"releases": 4', '"releases": 3'))
    assert DAMAGED in refused(folder)


# --- what SQLite would run


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE more (x)",
        "CREATE INDEX quick ON release (day)",
        "CREATE VIEW shown AS SELECT * FROM release",
        "CREATE TRIGGER later AFTER INSERT ON release BEGIN DELETE FROM history; END",
        "ALTER TABLE release RENAME COLUMN day TO date",
        "ALTER TABLE cohort ADD COLUMN more",
        "DROP TABLE cohort; CREATE VIEW cohort AS SELECT 1 AS data_set, 0 AS joined_after, load_extension('x') AS rows",
        "DROP TABLE cohort",
        "CREATE VIRTUAL TABLE found USING fts5(x)",
        "ANALYZE",
        "PRAGMA application_id = 7",
        "PRAGMA user_version = 0",
        "PRAGMA user_version = 7",
        "PRAGMA user_version = 5",
        "PRAGMA journal_mode = WAL",
        "PRAGMA auto_vacuum = FULL; VACUUM",
    ],
)
def test_no_foreign_schema_is_used(original, folder, sql):
    with edited(folder) as connection:
        connection.executescript(sql)
    if "WAL" in sql:  # a setting without meaning for the content, which is set back
        assert Registry(folder).summary() == Registry(original).summary()
        return
    assert DAMAGED in refused(folder)


def test_a_forged_journal_is_refused(original, folder):
    """SQLite plays it back before anything can be read, and then the codes do not fit."""
    forger = shutil.copytree(folder, folder.with_name("forger"))
    with edited(forger) as connection:
        connection.executescript(
            "UPDATE release SET day = '2020-01-01'; PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN;"
            "UPDATE release SET day = '2021-01-01'; INSERT INTO seal VALUES ('x', zeroblob(3000000))"
        )
        journal = (forger / "ledger.sqlite3-journal").read_bytes()
        assert len(journal) > 4096
        connection.execute("ROLLBACK")
    (folder / "ledger.sqlite3-journal").write_bytes(journal)
    assert DAMAGED in refused(folder)
    assert state(folder)["release"] != state(original)["release"]
    assert not (folder / "ledger.sqlite3-journal").exists()


@pytest.mark.parametrize("beside", ["-journal", "-wal", "-shm"])
def test_sqlite_writes_through_no_link(folder, tmp_path, beside):
    (tmp_path / "mine").write_text("mine")
    (folder / f"ledger.sqlite3{beside}").symlink_to(tmp_path / "mine")
    assert f"(ledger.sqlite3{beside} is a symbolic link)" in refused(folder)
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_ledger_that_is_made_again_takes_over_nothing(folder):
    """Without its key and its releases it is a new ledger, like an empty folder."""
    (folder / "secret.json").unlink()
    with edited(folder) as connection:
        connection.executescript("DELETE FROM data_set; DELETE FROM release")
    release(Registry(folder), ["x", "y"], "n", [1, 0])
    assert Registry(folder).verify().entry == 2
    assert {table: len(rows) for table, rows in state(folder).items()} == {
        "ledger": 1, "data_set": 1, "token": 1, "cohort": 1, "content": 1, "release": 1, "history": 2, "seal": 7,
    }  # fmt: skip


# --- a registry that was rolled back


def test_a_rolled_back_folder_is_refused_with_an_anchor(folder, tmp_path):
    old = shutil.copytree(folder, tmp_path / "old")
    release(Registry(folder), list("abcdefgh"), "r", [0, 0, 0, 0, 1, 0, 0, 0])
    anchor = Registry(folder).verify()
    assert Registry(old).verify().entry == anchor.entry - 1
    for look in (Registry(old).verify, entered(old)):
        with pytest.raises(LedgerError, match=r"it was rolled back \(the anchor names entry 8 .* ends with 7\)"):
            look(anchor=anchor)


def test_a_copy_that_went_another_way_is_refused_with_an_anchor(folder, tmp_path):
    fork = shutil.copytree(folder, tmp_path / "fork")
    for copy in (folder, fork):
        release(Registry(copy), list("abcdefgh"), "r", [0, 0, 0, 0, 1, 0, 0, 0])
    anchor = Registry(folder).verify()
    with pytest.raises(LedgerError, match=r"it is another copy \(entry 8 of the history is not the one"):
        Registry(fork).verify(anchor=anchor)
    (fork / "secret.json").write_bytes((folder / "secret.json").read_bytes())
    assert "the key belongs to another copy of this ledger" in refused(fork)


def test_a_ledger_whose_extension_was_rolled_back_is_refused(folder):
    old = (folder / "ledger.sqlite3").read_bytes()
    grow(Registry(folder), list("abcdefghi"), "r", "s")
    (folder / "ledger.sqlite3").write_bytes(old)
    assert "so it was rolled back (its history ends with entry 7, and the key has seen 8)" in refused(folder)


def entered(folder):
    def look(anchor):
        with Registry(folder).locked(anchor=anchor):
            pass

    return look


def test_the_anchor_of_another_ledger_and_of_none(folder, tmp_path):
    written_registry(tmp_path / "other", seed=2)
    anchor = Registry(tmp_path / "other").verify()
    with pytest.raises(LedgerError, match=f"the anchor belongs to ledger {anchor.ledger_id}, and this is ledger"):
        Registry(folder).verify(anchor=anchor)
    with pytest.raises(LedgerError, match="there is no ledger"):
        entered(tmp_path / "nothing")(anchor)
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize(
    "change", [lambda a: a[:-1], lambda a: "x" + a[1:], lambda a: a.replace("-", "–"), lambda _: ""]
)
def test_a_malformed_anchor_is_refused_before_anything_is_read(folder, change):
    text = change(str(Registry(folder).verify()))
    for read in (released, extend):
        with pytest.raises(ArgumentError, match=r"anchor = .*; the line that `statpriv ledger anchor` printed"):
            read("no such plan.toml", anchor=text)


def test_an_anchor_is_read_as_it_is_written(folder):
    newest = Registry(folder).verify()
    assert Anchor.parse(f"{newest}\n") == newest
    assert re.fullmatch(r"[0-9a-f]{32}-7-[0-9a-f]{32}", str(newest))


@pytest.fixture
def workshop(tmp_path, computed_once):
    made = Workshop(tmp_path)
    made.table(["id", "vote"], [[f"p{i}", i % 2] for i in range(60)])
    made.plan(query("vote = 0", rows=10, probability=("1/2", "1/2")), more_data='row_id = "id"')
    made.release()
    return made


def test_the_commands(workshop, in_process):
    at = ("--registry", workshop.registry)
    code, anchor, err = in_process("ledger", "anchor", *at)
    assert (code, err) == (0, "")
    kept = shutil.copytree(workshop.registry, workshop.folder / "kept")
    plan = workshop.folder / "plan.toml"
    code, *_ = in_process("release", plan, "--out", workshop.page, "--force", "--anchor", anchor.strip(), *at)
    assert code == 0
    _, newer, _ = in_process("ledger", "anchor", *at)
    assert newer != anchor
    assert in_process("ledger", "verify", "--anchor", anchor, *at) == (
        0, f"Ledger {anchor[:32]} is as it was written, with 5 entries in its history.\n", "",
    )  # fmt: skip
    shutil.rmtree(workshop.registry)
    kept.rename(workshop.registry)
    before = workshop.spent(), workshop.page.read_bytes()
    for arguments in (
        ("release", plan, "--out", workshop.page, "--force"), ("ledger", "extend", plan), ("ledger", "verify"),
    ):  # fmt: skip
        code, out, err = in_process(*arguments, "--anchor", newer, *at)
        assert (code, out) == (2, "")
        assert "it was rolled back (the anchor names entry 5 of the history, which ends with 3)" in err
        code, out, err = in_process(*arguments, "--anchor", "nonsense", *at)
        assert (code, out) == (2, "")
        assert "anchor = nonsense; the line that `statpriv ledger anchor` printed is required" in err
    assert (workshop.spent(), workshop.page.read_bytes()) == before
    with edited(workshop.registry) as connection:
        connection.execute("UPDATE release SET day = '2020-01-01'")
    code, out, err = in_process("ledger", "verify", *at)
    assert (code, out) == (2, "")
    assert f"{DAMAGED} (release: not as it was written); nothing was spent; restore the whole registry" in err


# --- the end, and other formats


def test_without_the_secret_nothing_can_be_told(folder, in_process):
    Registry(folder).destroy_secret()
    with edited(folder) as connection:
        connection.execute("UPDATE release SET day = '2020-01-01' WHERE number = 1")
    code, out, _ = in_process("ledger", "show", "--registry", folder)
    assert code == 0
    assert "Whether it was edited since then cannot be told" in out
    code, out, err = in_process("ledger", "verify", "--registry", folder)
    assert (code, out) == (2, "")
    assert "so whether the ledger was edited since then cannot be told; no two of its facts contradict" in err
    with edited(folder) as connection:
        connection.execute("UPDATE data_set SET spent = X'FF' WHERE number = 1")
    assert "(the rows that are marked as used in data set 1 are not as many as its releases used)" in said(folder)


def said(folder):
    with pytest.raises(LedgerError) as error:
        Registry(folder).summary()
    return str(error.value)


@pytest.mark.parametrize("kept", sorted(FORMATS.iterdir()), ids=lambda kept: kept.name)
def test_a_registry_of_an_earlier_version_is_refused_with_what_to_do(kept, tmp_path):
    folder = tmp_path / "registry"
    folder.mkdir(mode=0o700)
    with edited(folder) as connection:
        connection.executescript((kept / "ledger.sql").read_text(encoding="utf-8"))
    shutil.copy(kept / "secret.json", folder)
    before = state(folder), (folder / "secret.json").read_bytes()
    why = refused(folder)
    assert f"an earlier statpriv wrote this ledger (format {kept.name}, and this one writes 6)" in why
    assert "Release the rest of its tables with the version that wrote it; keep the whole registry" in why
    assert (state(folder), (folder / "secret.json").read_bytes()) == before


def test_the_facts_are_checked_before_a_change_is_sealed(folder, monkeypatch):
    """A defect that forgets to mark rows must not be authenticated."""
    from statpriv.releasing.ledger.books import Books

    before = state(folder)
    monkeypatch.setattr(Books, "set_spent", lambda *_: None)
    with pytest.raises(LedgerError, match=f"{DAMAGED}.*marked as used in data set 1 .*nothing was spent"):
        release(Registry(folder), list("abcdefgh"), "r", [0, 0, 0, 0, 1, 0, 0, 0])
    monkeypatch.undo()
    assert state(folder) == before
    Registry(folder).verify()


def test_a_report_is_noted_once_and_only_of_a_release(folder):
    record = release(Registry(folder), list("abcdefgh"), "r", [0, 0, 0, 0, 1, 0, 0, 0])
    assert record.number not in Registry(folder).summary().published
    with Registry(folder).locked() as ledger:
        ledger.note_published(record)
    before = state(folder)
    assert record.number in Registry(folder).summary().published
    for other in (record, replace(record, number=record.number + 1)):
        with Registry(folder).locked() as ledger, pytest.raises(LedgerError, match=f"{DAMAGED}.*history says of a rep"):
            ledger.note_published(other)
    assert state(folder) == before


def test_rows_are_found_where_they_were(folder):
    """What was authenticated is what a release reads."""
    with Registry(folder).locked() as ledger:
        (position,) = ledger.recognise(rows_of(ledger, list("hgfedcba")))
    assert np.flatnonzero(~position.rows.by_row(position.spent)).tolist() == [0, 3]


@pytest.mark.parametrize("table", ["ledger", "token", "cohort", "seal"])
@pytest.mark.parametrize("place", ["rowid + 100", "9223372036854775807"])
def test_the_places_of_rows_are_authenticated(folder, table, place):
    """Rows that follow are placed after them, and pieces of tokens are read in the order of their places."""
    with edited(folder) as connection:
        ((last,),) = connection.execute(f"SELECT max(rowid) FROM {table}").fetchall()  # noqa: S608 - our tables
        connection.execute(f"UPDATE {table} SET rowid = {place} WHERE rowid = {last}")  # noqa: S608 - our tables
    assert DAMAGED in refused(folder)
