"""Where the system fails: is what is said true, is what was spent counted, and does the registry open?"""

from __future__ import annotations

import errno
import os
import random
import shutil
import sqlite3
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from statpriv.errors import LedgerError, RowsSpentError
from statpriv.releasing.ledger import Registry, commitment, files, registry, secret, session
from statpriv.releasing.ledger.chain import entries

from ..cases import cases
from .registries import grow, release, state, written_registry

fcntl = pytest.importorskip("fcntl")
resource = pytest.importorskip("resource")

IDS = list("abcdefgh")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("original") / "registry"
    written_registry(folder)
    return folder


@pytest.fixture
def folder(original, tmp_path):
    return shutil.copytree(original, tmp_path / "registry")


def again(folder):
    return release(Registry(folder), IDS, "r", [0, 0, 0, 0, 1, 0, 0, 0])


def new_table(folder):
    return release(Registry(folder), [f"new {i}" for i in range(3000)], "n", [1] * 1000 + [0] * 2000)


def more_rows(folder):
    grow(Registry(folder), [*IDS, "i"], "r", "s")


def the_end(folder):
    Registry(folder).destroy_secret()


CHANGES = [again, new_table, more_rows, the_end]


def number_of_changes(folder):
    return len(state(folder)["history"])


def assert_true(folder, change, failed):
    """A change happened, or it did not, as it was said; and the registry opens."""
    before = 7
    happened = number_of_changes(folder) - before
    assert happened in (0, 1)
    if failed is None:
        assert happened == 1
    elif "nothing was spent" in failed or "no row joined" in failed or "nothing was destroyed" in failed:
        assert happened == 0, failed
    else:
        assert happened == 1, failed
        assert any(words in failed for words in ("whether that lasts is unknown", "a copy of its key may be left"))
    summary = Registry(folder).summary()
    if change is the_end and happened:
        assert summary.destroyed
        the_end(folder)
        assert not (folder / "secret.json").exists()
    else:
        assert Registry(folder).verify().entry == before + happened
    assert not list(folder.glob("*.tmp"))


def attempted(change, folder):
    try:
        change(folder)
    except (LedgerError, RowsSpentError) as error:
        return str(error)
    return None


# --- the system


@pytest.mark.parametrize("change", CHANGES)
def test_an_fsync_that_fails(original, tmp_path, monkeypatch, change):
    """Each of the program's own, one after the other; SQLite's are in the tests of a failed commit."""
    fsync, ends = os.fsync, []
    for failing in range(20):
        folder = shutil.copytree(original, tmp_path / str(failing))
        calls = []

        def fail(descriptor, failing=failing, calls=calls):
            calls.append(descriptor)
            if len(calls) == failing + 1:
                raise OSError(errno.EIO, "Input/output error")
            fsync(descriptor)

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fail)
            failed = attempted(change, folder)
        assert_true(folder, change, failed)
        if len(calls) <= failing:
            assert failed is None
            break
        ends.append(failed)
    assert len(ends) >= 2


@contextmanager
def largest_file(size):
    """No file can be written beyond this size, as if the disk were full there."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("change", CHANGES)
def test_a_disk_that_is_full_at_every_write(original, tmp_path, change):
    size = (original / "ledger.sqlite3").stat().st_size
    places = sorted({*range(0, size + 100_000, cases(8192, campaign=1024)), 100, 340, size, size + 4096})
    ends = []
    for place in places:
        folder = shutil.copytree(original, tmp_path / str(place))
        with largest_file(place):
            failed = attempted(change, folder)
        ends.append(failed)
        assert_true(folder, change, failed)
        shutil.rmtree(folder)
    assert ends[0] is not None
    assert ends[-1] is None


def test_a_disk_that_is_full_when_a_registry_is_made(tmp_path):
    ends = []
    for place in [*range(0, 65_536, 4096), 10**6]:
        folder = tmp_path / str(place)
        with largest_file(place):
            failed = attempted(lambda folder: release(Registry(folder), ["a", "b"], "o", [1, 0]), folder)
        ends.append(failed)
        if failed is not None:
            assert "nothing was spent" in failed
            release(Registry(folder), ["a", "b"], "o", [1, 0])
        assert Registry(folder).verify().entry == 2
    assert ends[0] is not None
    assert ends[-1] is None


class FailingCommit:
    """A connection whose COMMIT fails, although or because it was carried out or not."""

    def __init__(self, connection, happens):
        self.connection, self.happens = connection, happens
        self.close = connection.close
        self.executemany = connection.executemany

    @property
    def in_transaction(self):
        return self.connection.in_transaction

    def execute(self, sql, *values):
        if sql == "COMMIT":
            if self.happens:
                self.connection.execute(sql)
            raise sqlite3.OperationalError("disk I/O error")
        return self.connection.execute(sql, *values)


@pytest.fixture(params=[False, True], ids=["did not happen", "happened"])
def happens(request, monkeypatch):
    """Every ledger that is opened has a commit that fails."""

    def failing(*arguments, **options):
        return session.Ledger(*arguments[:4], FailingCommit(arguments[4], request.param), *arguments[5:], **options)

    monkeypatch.setattr(registry, "Ledger", failing)
    yield request.param
    monkeypatch.undo()


@pytest.mark.parametrize("change", [again, new_table, more_rows])
def test_a_commit_that_fails_is_looked_up(folder, change, happens, monkeypatch):
    """SQLite removes its journal, which is the commit, and syncs the folder after that."""
    failed = attempted(change, folder)
    monkeypatch.undo()
    assert "(disk I/O error)" in failed
    assert (number_of_changes(folder) == 8) == happens
    assert_true(folder, change, failed)


@pytest.mark.parametrize("happens", [False], indirect=True)
def test_a_commit_that_cannot_be_looked_up_counts_as_spent(folder, happens, monkeypatch):
    monkeypatch.setattr(commitment, "_may_hold", lambda *_: True)
    with pytest.raises(RowsSpentError, match=r"whether that lasts is unknown .* take them as spent"):
        again(folder)


def test_the_look_up_itself(folder):
    newest = Registry(folder).verify()
    path = folder / "ledger.sqlite3"
    assert commitment._may_hold(path, newest)
    assert not commitment._may_hold(path, replace(newest, link=bytes(16)))
    assert not commitment._may_hold(path, replace(newest, entry=8))
    path.write_bytes(b"no database" * 100)
    assert commitment._may_hold(path, newest)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EIO])
@pytest.mark.parametrize("change", CHANGES)
def test_a_file_system_without_locks(folder, monkeypatch, number, change):
    def refuse(_descriptor, _operation):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", refuse)
        failed = attempted(change, folder)
        assert "its file system gives no locks" in failed
        assert "keep the registry on a local disk" in failed
    assert_true(folder, change, failed)


@pytest.mark.parametrize("change", CHANGES)
def test_a_database_that_is_only_read(folder, monkeypatch, change):
    connect = sqlite3.connect
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", lambda path, **how: connect(f"file:{path}?mode=ro", uri=True, **how))
        failed = attempted(change, folder)
    assert "cannot be read and written (attempt to write a readonly database); no" in failed
    assert_true(folder, change, failed)


@pytest.mark.parametrize("change", CHANGES)
def test_a_folder_that_is_only_read(folder, monkeypatch, change):
    opened = os.open

    def refuse(path, flags, *more, **options):
        if flags & (os.O_RDWR | os.O_CREAT) and str(folder) in str(path):
            raise OSError(errno.EROFS, "Read-only file system")
        return opened(path, flags, *more, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        failed = attempted(change, folder)
    assert "Read-only file system" in failed
    assert_true(folder, change, failed)


@pytest.mark.parametrize("day", ["1970-01-01", "2026-01-01", "9999-12-31"])
def test_a_clock_that_was_set_changes_nothing_but_the_day(folder, monkeypatch, day):
    """No order and no number depends on it."""
    with monkeypatch.context() as patch:
        patch.setattr(session, "today", lambda: day)
        assert again(folder).number == 5
    release(Registry(folder), IDS, "r", [0, 0, 0, 0, 0, 0, 0, 1])
    assert Registry(folder).verify().entry == 9
    days = [release.day for release in Registry(folder).summary().data_sets[0].releases]
    assert days[-2] == day


# --- a loss of power


def test_a_loss_of_power_during_a_commit(folder, original, monkeypatch):
    """SQLite syncs its journal before it writes a page, and pages reach a disk in any order.

    Some pages of a large change are written before its commit. Whichever of them survive, the journal undoes them.
    """
    states = []

    class Watched(FailingCommit):
        def execute(self, sql, *values):
            if sql == "COMMIT":
                states.append(
                    {name: (folder / name).read_bytes() for name in ("ledger.sqlite3", "ledger.sqlite3-journal")}
                )
            return self.connection.execute(sql, *values)

    def watched(*arguments):
        arguments[4].execute("PRAGMA cache_size = 1")
        arguments[4].execute("PRAGMA cache_spill = 1")
        return session.Ledger(*arguments[:4], Watched(arguments[4], happens=True), *arguments[5:])

    with monkeypatch.context() as patch:
        patch.setattr(registry, "Ledger", watched)
        new_table(folder)
    ((old, middle, journal),) = [((original / "ledger.sqlite3").read_bytes(), *found.values()) for found in states]
    pages = [k for k in range(0, len(middle), 4096) if middle[k : k + 4096] != old[k : k + 4096]]
    assert len(pages) > 5
    before = state(original)
    choose = random.Random(3)  # noqa: S311 - a test repeats them
    for _ in range(cases(40, campaign=1000)):
        torn = bytearray(old.ljust(len(middle), b"\0"))
        for page in choose.sample(pages, choose.randrange(len(pages) + 1)):
            torn[page : page + 4096] = middle[page : page + 4096]
        at = shutil.copytree(original, folder.with_name("torn"))
        (at / "ledger.sqlite3").write_bytes(torn[: choose.choice([len(torn), max(len(old), *pages) + 512])])
        (at / "ledger.sqlite3-journal").write_bytes(journal)
        assert Registry(at).verify().entry == 7
        assert state(at) == before
        shutil.rmtree(at)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only there a descriptor tells its file")
def test_a_key_file_is_whole_before_it_has_its_name(folder, monkeypatch):
    """And the ledger's folder is synced before the key says that it has seen the change."""
    events = []
    fsync, rename = os.fsync, Path.replace

    def synced(descriptor):
        name = Path(f"/proc/self/fd/{descriptor}").readlink().name
        events.append("temporary" if name.startswith(".statpriv-") else name)
        fsync(descriptor)

    def renamed(path, target):
        events.append("rename")
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    again(folder)
    assert events == ["registry", "temporary", "rename", "registry", "secret.json (deleted)"]


# --- copies of the key


def leftover(folder, name=".statpriv-0123456789abcdef.tmp"):
    shutil.copy(folder / "secret.json", folder / name)
    os.link(folder / name, folder.parent / "watched")
    return folder / name


@pytest.mark.parametrize(
    "look", [Registry.summary, Registry.verify, Registry.destroy_secret, lambda r: again(r.folder)]
)
def test_unfinished_files_of_killed_processes_are_overwritten_and_removed(folder, look):
    left = leftover(folder)
    folder.chmod(0o755)
    look(Registry(folder))
    assert not left.exists()
    assert set((folder.parent / "watched").read_bytes()) == {0}


def test_only_unfinished_files_are_swept(folder, tmp_path):
    kept = [".statpriv-0123456789abcdef.txt", ".statpriv-0123.tmp", "x.tmp", ".statpriv-0123456789ABCDEF.tmp"]
    for name in kept:
        (folder / name).write_text("mine")
    (tmp_path / "target").write_text("mine")
    (folder / ".statpriv-0000000000000000.tmp").symlink_to(tmp_path / "target")
    (folder / ".statpriv-1111111111111111.tmp").mkdir()
    Registry(folder).summary()
    assert (tmp_path / "target").read_text() == "mine"
    assert {path.name for path in folder.iterdir()} >= {*kept, ".statpriv-1111111111111111.tmp"}
    assert not (folder / ".statpriv-0000000000000000.tmp").is_symlink()


def test_a_process_that_dies_while_it_writes_the_key_leaves_nothing_behind(folder):
    """A real one, before the new file of the key has its name."""
    child = os.fork()
    if child == 0:
        Path.replace = lambda *_: os._exit(7)
        try:
            again(folder)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    (left,) = folder.glob(".statpriv-*.tmp")
    assert b'"key"' in left.read_bytes()
    assert Registry(folder).verify().entry == 8
    assert not left.exists()


def test_every_copy_of_the_key_below_the_registry_is_destroyed(folder):
    key = Registry(folder)._secret_path.read_bytes().split(b'"key": "')[1][:64]
    (folder / "deeper").mkdir()
    copies = {
        folder / "secret.json.bak": (folder / "secret.json").read_bytes(),
        folder / "deeper" / "raw": bytes(2**20 - 7) + bytes.fromhex(key.decode()) + b"more",
        folder / "deeper" / "notes.txt": b"key: " + key.upper(),
    }
    for path, whole in copies.items():
        path.write_bytes(whole)
    (folder / "deeper" / "mine.txt").write_text("kept")
    os.link(folder / "deeper" / "raw", folder.parent / "watched")
    Registry(folder).destroy_secret()
    left = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert left == {"ledger.sqlite3", "lock", "deeper/mine.txt"}
    assert set((folder.parent / "watched").read_bytes()) == {0}
    assert list(secret.copies_of(bytes.fromhex(key.decode()), folder.parent)) == []


def test_a_copy_that_is_left_is_named(folder, monkeypatch):
    (folder / "copy").write_bytes((folder / "secret.json").read_bytes())
    remove = files.remove
    monkeypatch.setattr(registry, "remove", lambda path: None if path.name == "copy" else remove(path))
    with pytest.raises(LedgerError, match="the ledger is ended, and its key is still in copy: remove that"):
        Registry(folder).destroy_secret()
    assert not (folder / "secret.json").exists()


def test_the_destruction_is_in_the_history(folder):
    the_end(folder)
    with Registry(folder)._held(1) as connection:
        assert '"kind": "destroyed"' in entries(connection)[-1][1]
