"""Is a table released once, whatever its name, and is nothing lost when a process dies?"""

from __future__ import annotations

import hmac
import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from array import array
from pathlib import Path

import numpy as np
import pytest

import statpriv
from statpriv.errors import LedgerError
from statpriv.releasing.ledger import Registry, _keyed_hash
from statpriv.releasing.tables import ContentFingerprint

CONTENT = ContentFingerprint(b"o" * 32, b"u" * 32)
OTHER = ContentFingerprint(b"p" * 32, b"v" * 32)


def spend(folder, ids, fingerprint=CONTENT, labels=None):
    """One release from lock to spend; ids is a list, or a number of rows without ids."""
    n, names = (ids, None) if isinstance(ids, int) else (len(ids), ids)
    with Registry.open(folder).locked() as ledger:
        rows = ledger.rows(n, names)
        ledger.refuse_known_rows(rows)
        ledger.refuse_known_content(fingerprint)
        return ledger.spend(rows, fingerprint, array("I", labels or [1] * n))


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
        tokens = ledger.rows(20, ids).tokens
    ((_, n, joined, ordered, unordered, spent),) = stored(folder)["registered"]
    assert (n, ordered, unordered) == (20, CONTENT.ordered, CONTENT.unordered)
    assert joined == np.sort(tokens).tobytes()
    in_order_of_tokens = [labels[i] != 0 for i in np.argsort(tokens)]
    assert np.unpackbits(np.frombuffer(spent, np.uint8), count=20).tolist() == in_order_of_tokens
    same_union = folder.with_name("same-union")
    spend(same_union, 20, CONTENT, labels)
    other_parts = folder.with_name("other-parts")
    spend(other_parts, 20, CONTENT, [3 if label else 0 for label in labels])
    assert stored(same_union)["registered"] == stored(other_parts)["registered"]


def test_no_id_is_in_any_file(folder):
    spend(folder, ["canary7391", "canary7392"])
    for path in folder.iterdir():
        assert b"canary" not in path.read_bytes()


def test_tokens_depend_on_the_key_and_on_exact_text(folder, tmp_path):
    with Registry.open(folder).locked() as ledger, Registry.open(tmp_path / "other").locked() as other:
        tokens = set(ledger.rows(4, ["7", "07", "a", "A"]).tokens.tolist())
        assert len(tokens) == 4
        assert not tokens & set(other.rows(4, ["7", "07", "a", "A"]).tokens.tolist())
        assert ledger.content_key != other.content_key


def test_the_ledger_is_a_function_of_tokens_fingerprint_and_random_bytes(tmp_path):
    def words(count):
        return bytes(range(count))

    files = []
    for name in ("one", "two"):
        with Registry.open(tmp_path / name, words=words).locked() as ledger:
            ledger.spend(ledger.rows(2, ["a", "b"]), CONTENT, array("I", [1, 0]))
        files.append((tmp_path / name / "ledger.sqlite3").read_bytes())
    assert files[0] == files[1]


# --- what is refused


def test_the_same_rows_are_refused_whatever_their_content(folder):
    record = spend(folder, ["a", "b", "c"])
    message = refused(folder, ["c", "a", "b"], OTHER)
    assert message.startswith("the rows of this table (edited or not) were released on 20")
    assert f"(release 1 of ledger {record.ledger_id}); this version releases a table once" in message


@pytest.mark.parametrize(
    ("ids", "relation"),
    [
        (["a", "b", "c", "d"], "this table adds rows to one that was released on"),
        (["a", "b"], "this table is a part of one that was released on"),
        (["c", "d"], "some rows of this table belong to one that was released on"),
    ],
)
def test_overlapping_rows_are_refused(folder, ids, relation):
    spend(folder, ["a", "b", "c"])
    assert refused(folder, ids).startswith(relation)


def test_overlap_with_any_registered_table_is_refused(folder):
    spend(folder, ["a", "b"], CONTENT)
    spend(folder, ["c", "d"], OTHER)
    third = ContentFingerprint(b"q" * 32, b"w" * 32)
    assert "(release 2 of ledger" in refused(folder, ["z", "d"], third)
    assert spend(folder, ["y", "z"], third).number == 3


def test_unspent_rows_of_a_registered_table_count_as_known(folder):
    spend(folder, ["a", "b"], CONTENT, [1, 0])
    assert "some rows of this table" in refused(folder, ["b", "c"])


def test_a_table_without_ids_is_known_by_its_content(folder):
    spend(folder, 3)
    assert refused(folder, 3, CONTENT).startswith("this table has the same content as one that was released on")
    shuffled = ContentFingerprint(b"q" * 32, CONTENT.unordered)
    assert refused(folder, 3, shuffled).startswith("this table has the same rows in another order as one that was")
    assert refused(folder, ["a", "b", "c"], CONTENT).startswith("this table has the same content")
    assert spend(folder, 3, OTHER).number == 2


def test_spend_itself_refuses_known_tables(folder):
    spend(folder, ["a"])
    with Registry.open(folder).locked() as ledger:
        with pytest.raises(LedgerError, match="the rows of this table"):
            ledger.spend(ledger.rows(1, ["a"]), OTHER, array("I", [1]))
        with pytest.raises(LedgerError, match="has the same content"):
            ledger.spend(ledger.rows(1, None), CONTENT, array("I", [1]))
        with pytest.raises(LedgerError, match="2 labels for 1 rows; nothing was spent"):
            ledger.spend(ledger.rows(1, ["b"]), OTHER, array("I", [1, 1]))


def test_nothing_is_spent_without_spend(folder):
    with Registry.open(folder).locked() as ledger:
        ledger.refuse_known_rows(ledger.rows(1, ["a"]))
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


def test_a_damaged_or_newer_ledger_is_refused(folder):
    spend(folder, ["a"])
    connection = sqlite3.connect(folder / "ledger.sqlite3")
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    assert "a newer statpriv wrote this ledger" in refused(folder)
    (folder / "ledger.sqlite3").write_bytes(b"no database" * 100)
    with pytest.raises(LedgerError, match=r"cannot be read and written \(file is not a database\); nothing was"):
        spend(folder, ["b"])


def test_a_counter_that_stayed_behind_is_raised_by_the_next_release(folder):
    spend(folder, ["a"])
    behind = json.loads((folder / "secret.json").read_text())
    (folder / "secret.json").write_text(json.dumps({**behind, "releases": 0}))
    spend(folder, ["b"], OTHER)
    assert json.loads((folder / "secret.json").read_text())["releases"] == 2


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
            ledger.spend(ledger.rows(10_000, ids), CONTENT, array("I", [1]) * 10_000)
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
from array import array
from pathlib import Path
from statpriv.releasing.ledger import Registry, _keyed_hash
from statpriv.releasing.tables import ContentFingerprint
from statpriv.errors import LedgerError

folder, stop = Path(sys.argv[1]), sys.argv[2]
def pause(step):
    if step == stop:
        print("reached", flush=True)
        time.sleep(60)
try:
    with Registry.open(folder).locked() as ledger:
        pause("locked")
        rows = ledger.rows(2, ["a", "b"])
        ledger.refuse_known_rows(rows)
        if stop == "writing":
            ledger._connection.execute("PRAGMA cache_size = 1")
            ledger._connection.execute("PRAGMA cache_spill = 1")
            ledger._connection.execute(
                "INSERT INTO registered (n, ordered, unordered, spent) VALUES (1, x'00', x'00', zeroblob(3000000))"
            )
            pause("writing")
        ledger.spend(rows, ContentFingerprint(b"o" * 32, b"u" * 32), array("I", [1, 1]))
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
        assert "the rows of this table" in refused(folder, ["a", "b"])
    else:
        assert spend(folder, ["a", "b"]).number == 1
    assert len(stored(folder)["registered"]) == 1


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


def test_tokens_are_hmac_sha256_of_the_ids():
    """Against the standard library's own construction."""
    key = bytes(range(32))
    keyed_hash = _keyed_hash(key)
    for message in (b"", b"7", "Müller, Ägidius".encode(), b"x" * 1000):
        assert keyed_hash(message) == hmac.digest(key, message, "sha256")
