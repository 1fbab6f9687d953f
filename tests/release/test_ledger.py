"""Is a table released once, whatever its name, and is nothing lost when a process dies?"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import statpriv
import statpriv as sp
from statpriv._native import RowTokens
from statpriv.composition.cohorts import Cohort
from statpriv.errors import LedgerError
from statpriv.releasing.ledger import Registry, Rows
from statpriv.releasing.steps import StatedQuery
from statpriv.releasing.tables import ContentFingerprint

CONTENT = ContentFingerprint(b"o" * 32, b"u" * 32)
OTHER = ContentFingerprint(b"p" * 32, b"v" * 32)
THIRD = ContentFingerprint(b"q" * 32, b"w" * 32)
SMOKERS = sp.PropertyQuery(sp.Between("0.4", "0.6"), attribute="smoker = TRUE", name="Smokers")
STATED = StatedQuery("smoker = TRUE", gates=((20, 80),), rounded_to=5)


def rows_of(ledger, n, names):
    return Rows.of(n, None if names is None else RowTokens.of(ledger.row_key, names, with_rows=True))


def spend(folder, ids, fingerprint=CONTENT, labels=None, **options):
    """One release from lock to spend; ids is a list, or a number of rows without ids."""
    with Registry.open(folder).locked() as ledger:
        return spent_in(ledger, ids, fingerprint, labels, **options)


def spent_in(ledger, ids, fingerprint=CONTENT, labels=None, *, once=False, **options):
    n, names = (ids, None) if isinstance(ids, int) else (len(ids), ids)
    positions = ledger.recognise(rows_of(ledger, n, names), once=once)
    position = ledger.identify(positions, fingerprint, once=once, **options)
    labels = labels or [1] * n
    sizes = [labels.count(part) for part in sorted(set(labels) - {0})]
    return ledger.spend(
        position, fingerprint, position.rows.by_token(np.array(labels) > 0),
        queries=[SMOKERS] * len(sizes), sizes=sizes, stated=[STATED] * len(sizes), plan_sha256="5" * 64,
        once=once,
    )  # fmt: skip


def refused(folder, ids=("x",), fingerprint=OTHER):
    before = stored(folder)
    with pytest.raises(LedgerError) as error:
        spend(folder, ids if isinstance(ids, int) else list(ids), fingerprint)
    assert stored(folder) == before
    return str(error.value)


def stored(folder):
    path = Path(folder) / "ledger.sqlite3"
    if not path.is_file():
        return None
    connection = sqlite3.connect(path)
    try:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master ORDER BY name")]
        return {t: connection.execute(f"SELECT * FROM {t}").fetchall() for t in tables if "auto" not in t}  # noqa: S608 - names of our own tables
    finally:
        connection.close()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "registry"


# --- what a release leaves


def test_a_release_is_numbered_and_counted(folder):
    first = spend(folder, ["a", "b", "c"], CONTENT, [1, 0, 2])
    second = spend(folder, ["d"], OTHER)
    assert (first.number, first.rows_spent, first.rows_left) == (1, 2, 1)
    assert (second.number, second.rows_spent, second.rows_left) == (2, 1, 0)
    assert first.ledger_id == second.ledger_id
    assert len({first.release_id, second.release_id, first.ledger_id}) == 3
    assert all(len(bytes.fromhex(name)) == 16 for name in (first.release_id, first.ledger_id))


def test_the_file_knows_the_union_and_not_the_parts(folder):
    ids, labels = [f"person {i}" for i in range(20)], [i % 3 for i in range(20)]
    spend(folder, ids, CONTENT, labels)
    with Registry.open(folder).locked() as ledger:
        rows = rows_of(ledger, 20, ids)
    ((_, _, _, spent),) = stored(folder)["data_set"]
    ((_, _, joined),) = stored(folder)["token"]
    assert [row[:4] for row in stored(folder)["content"]] == [(1, 1, CONTENT.ordered, CONTENT.unordered)]
    assert joined == np.sort(rows.tokens).tobytes()
    in_order_of_tokens = [labels[i] != 0 for i in rows.order]
    assert np.unpackbits(np.frombuffer(spent, np.uint8), count=20).tolist() == in_order_of_tokens
    same_union = folder.with_name("same-union")
    spend(same_union, 20, CONTENT, labels)
    other_parts = folder.with_name("other-parts")
    spend(other_parts, 20, CONTENT, [3 if label else 0 for label in labels])
    assert stored(same_union)["data_set"] == stored(other_parts)["data_set"]


def test_of_a_plan_its_queries_and_its_digest_are_kept(folder):
    spend(folder, ["a", "b", "c"], CONTENT, [1, 0, 2])
    ((number, _, data_set, rows_spent, queries, sizes, in_words, plan, _),) = stored(folder)["release"]
    assert (number, data_set, rows_spent, json.loads(sizes), plan) == (1, 1, 2, [1, 1], "5" * 64)
    stated = {"kind": "property", "probability": ["0.4", "0.6"], "attribute": "smoker = TRUE"}
    assert json.loads(queries) == [stated, stated]
    assert [StatedQuery.from_document(query) for query in json.loads(in_words)] == [STATED, STATED]


def test_no_id_is_in_any_file(folder):
    spend(folder, ["canary7391", "canary7392"])
    for path in folder.iterdir():
        assert b"canary" not in path.read_bytes()


def test_tokens_depend_on_the_key_and_on_exact_text(folder, tmp_path):
    with Registry.open(folder).locked() as ledger, Registry.open(tmp_path / "other").locked() as other:
        tokens = set(rows_of(ledger, 4, ["7", "07", "a", "A"]).tokens.tolist())
        assert len(tokens) == 4
        assert not tokens & set(rows_of(other, 4, ["7", "07", "a", "A"]).tokens.tolist())
        assert ledger.content_key != other.content_key


def test_the_ledger_is_a_function_of_tokens_fingerprint_and_random_bytes(tmp_path):
    def words(count):
        return bytes(range(count))

    files = []
    for name in ("one", "two"):
        with Registry.open(tmp_path / name, words=words).locked() as ledger:
            spent_in(ledger, ["a", "b"], CONTENT, [1, 0])
        files.append((tmp_path / name / "ledger.sqlite3").read_bytes())
    assert files[0] == files[1]


# --- what is refused


@pytest.mark.parametrize(
    ("ids", "relation", "remedy"),
    [
        (["a", "b", "c", "d"], "this table adds rows to one that was released on", "`statpriv ledger extend` lets the"),
        (["a", "b"], "this table is a part of one that was released on", "so restore the others"),
        (["c", "d"], "some rows of this table belong to one that was released on", "--registry)"),
    ],
)
def test_overlapping_rows_are_refused(folder, ids, relation, remedy):
    record = spend(folder, ["a", "b", "c"], labels=[1, 0, 0])
    message = refused(folder, ids)
    assert message.startswith(relation)
    assert f"(release 1 of ledger {record.ledger_id}): " in message
    assert remedy in message


def test_overlap_with_any_registered_table_is_refused(folder):
    spend(folder, ["a", "b"], CONTENT)
    spend(folder, ["c", "d"], OTHER)
    assert "(release 2 of ledger" in refused(folder, ["z", "d"], THIRD)
    assert spend(folder, ["y", "z"], THIRD).number == 3


def test_unspent_rows_of_a_registered_table_count_as_known(folder):
    spend(folder, ["a", "b"], CONTENT, [1, 0])
    assert "some rows of this table" in refused(folder, ["b", "c"])


def test_a_table_without_ids_is_known_by_its_content(folder):
    spend(folder, 3, CONTENT, [1, 0, 0])
    shuffled = ContentFingerprint(b"q" * 32, CONTENT.unordered)
    assert refused(folder, 3, shuffled).startswith("this table has the same rows in another order as one that was")
    assert refused(folder, ["a", "b", "c"], CONTENT).startswith("this table has the content of one that was released")
    assert spend(folder, 3, OTHER).number == 2
    assert spend(folder, 3, CONTENT, [0, 1, 0]).number == 3
    assert len(stored(folder)["data_set"]) == 2


def test_a_table_with_ids_is_not_released_without_them(folder):
    spend(folder, ["a", "b"], CONTENT, [1, 0])
    assert "has the content of one that was" in refused(folder, 2, CONTENT)
    assert "has the same rows in another order" in refused(folder, 2, ContentFingerprint(b"x" * 32, CONTENT.unordered))
    assert "has the content of one that was" in refused(folder, ["other", "ids"], CONTENT)


def test_a_table_with_groups_is_released_once(folder):
    spend(folder, ["a", "b"], CONTENT, [1, 0], once=True)
    assert "a table by group, in units or with several answers about the same rows is released once" in refused(
        folder, ["a", "b"], CONTENT
    )
    spend(folder, ["c", "d"], OTHER, [1, 0])
    with pytest.raises(
        LedgerError, match="a table by group, in units or with several answers about the same rows is released once"
    ):
        spend(folder, ["c", "d"], OTHER, [0, 1], once=True)
    spend(folder, 2, THIRD, [1, 0], once=True)
    assert "a table by group, in units or with several answers about the same rows is released once" in refused(
        folder, 2, THIRD
    )


# --- the same table again


def test_rows_that_were_not_used_can_be(folder):
    first = spend(folder, ["a", "b", "c", "d"], CONTENT, [1, 0, 0, 2])
    second = spend(folder, ["d", "c", "b", "a"], ContentFingerprint(b"x" * 32, CONTENT.unordered), [0, 1, 0, 0])
    assert (first.number, first.rows_left) == (1, 2)
    assert (second.number, second.rows_spent, second.rows_left) == (2, 1, 1)
    with Registry.open(folder).locked() as ledger:
        (position,) = ledger.recognise(rows_of(ledger, 4, ["b", "a", "c", "d"]))
    assert position.rows.by_row(position.spent).tolist() == [False, True, True, True]
    assert [release.sizes for release in position.releases] == [(1, 1), (1,)]


@pytest.mark.parametrize("labels", [[1, 0, 0], [1, 1, 0]])
def test_no_row_is_spent_twice(folder, labels):
    spend(folder, ["a", "b", "c"], CONTENT, [1, 0, 0])
    with pytest.raises(LedgerError, match=r"the drawn rows are not unspent ones.*; nothing was spent"):
        spend(folder, ["a", "b", "c"], CONTENT, labels)
    assert len(stored(folder)["release"]) == 1


def test_edited_content_is_refused_unless_it_is_accepted(folder):
    ids = ["a", "b", "c"]
    spend(folder, ids, CONTENT, [1, 0, 0])
    message = refused(folder, ids, OTHER)
    assert message.startswith("the content of this table was edited since it was released on")
    assert "--accept-edits" in message
    spend(folder, ids, OTHER, [0, 1, 0], accept_edits=True)
    spend(folder, ids, OTHER, [0, 0, 1])
    assert refused(folder, ids, CONTENT).startswith("the content of this table was edited")


def test_no_earlier_content_of_a_table_is_released_under_another_name(folder):
    spend(folder, ["a", "b"], CONTENT, [1, 0])
    spend(folder, ["a", "b"], OTHER, [0, 1], accept_edits=True)
    for content in (CONTENT, OTHER):
        assert "has the content of one that was" in refused(folder, 2, content)
        assert "has the content of one that was" in refused(folder, ["y", "z"], content)


# --- rows that join


def extend(folder, ids, old=CONTENT, whole=OTHER, **options):
    with Registry.open(folder).locked() as ledger:
        growth = ledger.grown(rows_of(ledger, len(ids), ids))
        edited = ledger.check_growth(growth, old=old, whole=whole, **options)
        ledger.extend(growth, whole)
        return edited, [ids[i] for i in np.flatnonzero(growth.rows.by_row(growth.old))]


def not_extended(folder, ids, **contents):
    before = stored(folder)
    with pytest.raises(LedgerError) as error:
        extend(folder, ids, **contents)
    assert stored(folder) == before
    return str(error.value)


def test_rows_join_a_table_that_was_released(folder):
    spend(folder, ["a", "b", "c"], CONTENT, [1, 0, 0])
    assert extend(folder, ["d", "c", "b", "a", "e"]) == (False, ["c", "b", "a"])
    assert extend(folder, list("abcdef"), old=OTHER, whole=THIRD) == (False, list("abcde"))
    with Registry.open(folder).locked() as ledger:
        (position,) = ledger.recognise(rows_of(ledger, 6, list("fedcba")))
    assert position.cohorts == (Cohort(3), Cohort(3, joined_after=1))
    assert np.flatnonzero(~position.rows.by_row(position.spent)).tolist() == [0, 1, 2, 3, 4]
    assert spend(folder, list("abcdef"), THIRD, [0, 1, 0, 1, 0, 0]).rows_left == 3
    assert "is a part of one that was" in refused(folder, ["a", "b", "c"], CONTENT)


@pytest.mark.parametrize(
    ("ids", "reason"),
    [
        (["a", "b", "c"], "this table has exactly the rows of one that was"),
        (["a", "b"], "this table is a part of one that was"),
        (["a", "b", "x"], "some rows of this table belong to one that was"),
        (["a", "b", "c", "d"], "this table holds more than one that was"),
        (["a", "b", "c", "x", "y"], "some rows of this table belong to one that was"),
        (["z"], "no row of this table is in ledger"),
    ],
)
def test_other_rows_do_not_join(folder, ids, reason):
    spend(folder, ["a", "b", "c"], CONTENT, [1, 0, 0])
    spend(folder, ["d"], OTHER)
    spend(folder, ["x", "w"], THIRD, [1, 0])
    assert reason in not_extended(folder, ids)


def test_rows_join_only_what_was_not_edited(folder):
    spend(folder, ["a", "b"], CONTENT, [1, 0])
    assert "rows of this table were edited since it was" in not_extended(folder, list("abc"), old=THIRD)
    assert extend(folder, list("abc"), old=THIRD, accept_edits=True)[0]
    assert spend(folder, list("abc"), OTHER, [0, 1, 1]).number == 2


def test_rows_do_not_join_with_the_content_of_another_table(folder):
    spend(folder, ["a", "b"], CONTENT, [1, 0])
    spend(folder, 3, OTHER)
    assert "has the content of one that was" in not_extended(folder, list("abc"))


def test_rows_without_ids_and_tables_with_groups_cannot_grow(folder):
    spend(folder, ["a", "b"], CONTENT, [1, 0], once=True)
    assert "a table by group, in units or with several answers about the same rows is released once" in not_extended(
        folder, list("abc")
    )
    with Registry.open(folder).locked() as ledger, pytest.raises(LedgerError, match="name a row_id to extend"):
        ledger.grown(Rows.of(3, None))


# --- the end of a ledger


def test_a_destroyed_secret_ends_all_releases(folder):
    ledger_id = spend(folder, ["a", "b"], CONTENT, [1, 0]).ledger_id
    key = json.loads((folder / "secret.json").read_text())["key"]
    Registry.open(folder).destroy_secret()
    assert not (folder / "secret.json").exists()
    for ids in (["a", "b"], ["z"]):
        assert "its secret was destroyed on 20" in refused(folder, ids, THIRD)
    for path in folder.iterdir():
        assert key.encode() not in path.read_bytes()
    summary = Registry.open(folder).summary()
    assert summary.ledger_id == ledger_id
    assert summary.destroyed.startswith("20")
    Registry.open(folder).destroy_secret()
    (folder / "secret.json").write_text("restored from somewhere")
    assert "its secret was destroyed on 20" in refused(folder, ["a", "b"])


def test_the_bytes_of_an_old_key_file_are_overwritten(folder):
    """Releases replace the file, because the counter in it grows; a hard link shows what became of the old one."""
    spend(folder, ["a", "b"], CONTENT, [1, 0])
    os.link(folder / "secret.json", folder.parent / "old")
    spend(folder, ["a", "b"], CONTENT, [0, 1])
    assert set((folder.parent / "old").read_bytes()) == {0}
    os.link(folder / "secret.json", folder.parent / "last")
    Registry.open(folder).destroy_secret()
    assert set((folder.parent / "last").read_bytes()) == {0}


def test_a_ledger_that_is_not_there_is_neither_shown_nor_destroyed(folder):
    for look in (Registry.open(folder).summary, Registry.open(folder).destroy_secret):
        with pytest.raises(LedgerError, match="there is no ledger; name another folder with --registry"):
            look()
    assert not folder.exists()


def test_nothing_is_spent_without_spend(folder):
    with Registry.open(folder).locked() as ledger:
        ledger.recognise(rows_of(ledger, 1, ["a"]))
    assert spend(folder, ["a"]).number == 1


# --- damage


def test_a_key_without_its_ledger_is_refused(folder):
    spend(folder, ["a"])
    (folder / "ledger.sqlite3").unlink()
    with pytest.raises(LedgerError, match="there is a key and no ledger, so what was released is unknown"):
        spend(folder, ["b"], OTHER)


def test_a_ledger_without_its_key_is_refused(folder):
    spend(folder, ["a"])
    (folder / "secret.json").unlink()
    assert "the ledger has lost its key" in refused(folder)


def test_a_ledger_that_was_rolled_back_is_refused(folder):
    spend(folder, ["a"])
    old = (folder / "ledger.sqlite3").read_bytes()
    spend(folder, ["b"], OTHER)
    (folder / "ledger.sqlite3").write_bytes(old)
    assert "the key has seen 2 releases and the ledger has 1, so it was rolled back" in refused(folder, ["b"])


def test_the_key_of_another_ledger_is_refused(folder, tmp_path):
    spend(folder, ["a"])
    spend(tmp_path / "other", ["a"])
    (folder / "secret.json").write_bytes((tmp_path / "other" / "secret.json").read_bytes())
    assert "the key belongs to another ledger" in refused(folder)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"ledger_id": "a", "key": "00", "releases": 0}'])
def test_a_damaged_key_is_refused(folder, content):
    spend(folder, ["a"])
    (folder / "secret.json").write_bytes(content)
    assert "this is no key of a ledger; restore it" in refused(folder)


@pytest.mark.parametrize(
    ("version", "why"),
    [
        (1, "in a form to which this one can add nothing"),
        (4, "in a form to which this one can add nothing"),
        (7, "a newer statpriv wrote this ledger"),
    ],
)
def test_ledgers_of_other_versions_are_refused(folder, version, why):
    spend(folder, ["a"])
    connection = sqlite3.connect(folder / "ledger.sqlite3")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    assert why in refused(folder)


def test_a_damaged_ledger_is_refused(folder):
    spend(folder, ["a"])
    (folder / "ledger.sqlite3").write_bytes(b"no database" * 100)
    with pytest.raises(LedgerError, match=r"cannot be read and written \(file is not a database\); nothing was"):
        spend(folder, ["b"])


def test_a_counter_that_stayed_behind_is_raised_by_the_next_release(folder):
    spend(folder, ["a"])
    behind = (folder / "secret.json").read_bytes()
    spend(folder, ["c"], THIRD)
    (folder / "secret.json").write_bytes(behind)
    spend(folder, ["b"], OTHER)
    assert json.loads((folder / "secret.json").read_text())["releases"] == 3


# --- the folder


def test_the_registry_is_chosen_by_argument_variable_and_platform(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("STATPRIV_REGISTRY", str(tmp_path / "named"))
    assert Registry.open(tmp_path / "given").folder == tmp_path / "given"
    assert Registry.open().folder == tmp_path / "named"
    monkeypatch.setenv("STATPRIV_REGISTRY", "")
    monkeypatch.setattr(sys, "platform", "linux")
    assert Registry.open().folder == tmp_path / "data" / "statpriv"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Registry.open().folder == tmp_path / ".local" / "share" / "statpriv"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert Registry.open().folder == tmp_path / "Library" / "Application Support" / "statpriv"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert Registry.open().folder == tmp_path / "local" / "statpriv"


@pytest.mark.parametrize("named", ["registry", "~/registry", "../registry"])
def test_no_ledger_depends_on_the_working_folder(tmp_path, monkeypatch, named):
    """Else the same table would meet another ledger in another folder, and the same people answer twice."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STATPRIV_REGISTRY", named)
    with pytest.raises(LedgerError, match=f"STATPRIV_REGISTRY = {named}: this is no absolute path"):
        Registry.open()
    monkeypatch.delenv("STATPRIV_REGISTRY")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", named)
    assert Registry.open().folder == tmp_path / ".local" / "share" / "statpriv"


def modes(folder):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}


def test_everything_is_its_owner_s_alone(folder):
    before = os.umask(0)
    try:
        spend(folder, ["a"])
    finally:
        os.umask(before)
    assert modes(folder) == {"registry": 0o700, "ledger.sqlite3": 0o600, "secret.json": 0o600, "lock": 0o600}


def test_an_open_folder_is_closed_if_it_is_ours_and_refused_if_not(folder, tmp_path):
    folder.mkdir()
    folder.chmod(0o755)
    spend(folder, ["a"])
    folder.chmod(0o755)
    for path in folder.iterdir():
        path.chmod(0o644)
    spend(folder, ["b"], OTHER)
    assert set(modes(folder).values()) == {0o700, 0o600}
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "thesis.txt").write_text("x")
    shared.chmod(0o755)
    with pytest.raises(LedgerError, match="others may enter this folder, and it holds other files"):
        spend(shared, ["a"])
    assert modes(shared)["shared"] == 0o755


def test_an_unwritable_registry_is_refused(tmp_path, folder):
    (tmp_path / "file").write_text("x")
    with pytest.raises(LedgerError, match=r"cannot be read and written \(.*Not a directory.*\); nothing was spent"):
        spend(tmp_path / "file" / "registry", ["a"])
    folder.mkdir()
    (folder / "lock").mkdir()
    with pytest.raises(LedgerError, match=r"cannot be read and written \(.*Is a directory.*\)"):
        spend(folder, ["a"])


@pytest.mark.parametrize("name", ["lock", "ledger.sqlite3", "secret.json"])
def test_links_in_the_registry_are_not_followed(folder, tmp_path, name):
    spend(folder, ["a"])
    (folder / name).rename(tmp_path / "elsewhere")
    (folder / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LedgerError, match="cannot be read and written"):
        spend(folder, ["b"], OTHER)


def test_a_full_disk_spends_nothing(folder):
    with Registry.open(folder).locked() as ledger:
        ledger._connection.execute("PRAGMA max_page_count = 8")
        ids = [str(i) for i in range(10_000)]
        with pytest.raises(LedgerError, match=r"database or disk is full\); nothing was spent"):
            spent_in(ledger, ids)
    assert stored(folder)["release"] == []
    assert spend(folder, ids).number == 1


def test_durable_settings(folder):
    with Registry.open(folder).locked() as ledger:
        settings = {
            name: ledger._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "secure_delete")
        }
        assert settings == {"journal_mode": "delete", "synchronous": 2, "secure_delete": 1}
        assert ledger._connection.in_transaction


# --- other processes

CHILD = """
import sys, time
import numpy as np
import statpriv as sp
from pathlib import Path
from statpriv.releasing.ledger import Registry, Rows
from statpriv.releasing.steps import StatedQuery
from statpriv.releasing.tables import ContentFingerprint
from statpriv._native import RowTokens
from statpriv.errors import LedgerError

folder, stop = Path(sys.argv[1]), sys.argv[2]
def pause(step):
    if step == stop:
        print("reached", flush=True)
        time.sleep(60)
try:
    with Registry.open(folder).locked() as ledger:
        pause("locked")
        rows = Rows.of(2, RowTokens.of(ledger.row_key, ["a", "b"]))
        content = ContentFingerprint(b"o" * 32, b"u" * 32)
        position = ledger.identify(ledger.recognise(rows), content)
        if stop == "writing":
            ledger._connection.execute("PRAGMA cache_size = 1")
            ledger._connection.execute("PRAGMA cache_spill = 1")
            ledger._connection.execute(
                "INSERT INTO data_set (has_ids, stratified, spent) VALUES (0, 0, zeroblob(3000000))"
            )
            pause("writing")
        ledger.spend(
            position, content, np.ones(2, np.bool_),
            queries=[sp.PropertyQuery("1/2")], sizes=[2], stated=[], plan_sha256="",
        )
        pause("spent")
    print("released")
except LedgerError as refusal:
    print("refused", refusal)
"""


def child(folder, stop="never"):
    environment = {**os.environ, "PYTHONPATH": str(Path(statpriv.__file__).parents[1])}
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), stop], stdout=subprocess.PIPE, text=True, env=environment
    )


def test_of_racing_processes_exactly_one_releases(folder):
    racing = [child(folder) for _ in range(4)]
    said = sorted(process.communicate(timeout=60)[0].split()[0] for process in racing)
    assert said == ["refused", "refused", "refused", "released"]
    assert len(stored(folder)["release"]) == 1


@pytest.mark.parametrize(("stop", "spent"), [("locked", False), ("writing", False), ("spent", True)])
def test_a_killed_process_loses_nothing(folder, stop, spent):
    process = child(folder, stop)
    assert process.stdout.readline() == "reached\n"
    if stop == "writing":
        assert (folder / "ledger.sqlite3-journal").stat().st_size > 0
        assert stat.S_IMODE((folder / "ledger.sqlite3-journal").stat().st_mode) == 0o600
    process.send_signal(signal.SIGKILL)
    process.communicate()
    if spent:
        with Registry.open(folder).locked() as ledger:
            (position,) = ledger.recognise(rows_of(ledger, 2, ["a", "b"]))
        assert position.rows_left == 0
    else:
        assert spend(folder, ["a", "b"]).number == 1
    assert len(stored(folder)["data_set"]) == 1


def test_a_process_that_waits_too_long_gives_up(folder):
    process = child(folder, "locked")
    assert process.stdout.readline() == "reached\n"
    begun = time.monotonic()
    with (
        pytest.raises(LedgerError, match="another release holds the ledger"),
        Registry.open(folder).locked(patience=0.2),
    ):
        pass
    assert time.monotonic() - begun < 10
    process.kill()
    process.communicate()


def test_a_first_use_that_was_killed_between_its_files_can_go_on(folder):
    with Registry.open(folder).locked():
        pass
    (folder / "secret.json").unlink()  # as if killed after the ledger was created
    assert spend(folder, ["a"]).number == 1


# --- sizes


def test_many_rows(folder):
    n = 200_000
    spend(folder, [f"p{i}" for i in range(n)])
    assert "some rows of this table" in refused(folder, [f"p{i}" for i in range(n - 1, 2 * n)])
    assert spend(folder, [f"p{i}" for i in range(n, 2 * n)], OTHER).number == 2


def test_marks_go_from_rows_to_tokens_and_back(folder):
    with Registry.open(folder).locked() as ledger:
        rows = rows_of(ledger, 40, map(str, range(40)))
    marks = np.arange(40) % 3 == 0
    assert rows.by_token(marks).tolist() == [row % 3 == 0 for row in rows.order.tolist()] != marks.tolist()
    assert rows.by_row(rows.by_token(marks)).tolist() == marks.tolist()
