"""Is nothing lost and nothing released twice, wherever a release dies?"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager, suppress
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

import statpriv
from statpriv.errors import GuaranteeNotReachedError, LedgerError, PublicationError, RowsSpentError
from statpriv.releasing import outputs as outputs_module
from statpriv.releasing import publication, run
from statpriv.releasing.ledger import books, chain, commitment, files, registry, secret, session

from ..cases import cases, spread
from .conftest import Workshop, query
from .conftest import statpriv as statpriv_command

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="real processes are killed with POSIX signals"),
    pytest.mark.usefixtures("computed_once"),
]

STEPS = [
    "ledger", "rows", "guarantee", "ids", "earlier releases", "curves of the guarantee", "dependence on known rows",
    "content", "partition", "spend", "predicates", "report",
]  # fmt: skip
SPENT = 13


def spent_and_failed(why):
    return (
        f"Error: the release failed after its rows were spent, or while they were ({why}): they count as spent, "
        "and there is no report\n"
    )


# One process imports the library and forks a real process for each release, which then dies or not. What follows from
# the plan alone is computed before, so that a release takes a tenth of its time, and more kills meet its other steps.
DRIVER = """
import json, os, signal, sys, time
from pathlib import Path
import once
from statpriv.releasing import contents, run
from statpriv.errors import GuaranteeNotReachedError, LedgerError, PublicationError, RowsSpentError
from statpriv.releasing.ledger import Registry
from statpriv.releasing.plan_file import load_plan
from statpriv.releasing.run import Surroundings, carry_out

run.prospective_contents = once.prospective_contents
for name, few in once.FEW_POINTS.items():
    setattr(contents, name, few)
prepared = set()

def prepare(folder):
    plan = load_plan(Path(folder) / "plan.toml")
    if plan.sha256 not in prepared:
        once.prepare(plan, plan.data.path.read_text().count("\\n") - 1)
        prepared.add(plan.sha256)

def release(folder, die_at=None, seen=None, out=None, force=True):
    def progress(step):
        if seen is not None:
            os.write(seen, f"{step}\\n".encode())
        if step == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
    folder = Path(folder)
    try:
        carry_out(
            load_plan(folder / "plan.toml"), out=Path(out or folder) / "report.html",
            json=Path(out or folder) / "report.json",
            registry=Registry.open(folder / "registry"), dry_run=False, force=force,
            surroundings=Surroundings(progress=progress),
        )
    except (LedgerError, PublicationError):
        os._exit(2)
    except GuaranteeNotReachedError:
        os._exit(3)
    except RowsSpentError:
        os._exit(5)
    os._exit(0)

def start(folder, **how):
    child = os.fork()
    if child == 0:
        try:
            release(folder, **how)
        finally:
            os._exit(99)
    return child

def end(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def killed_later(folder, step, seconds):
    reading, writing = os.pipe()
    child = start(folder, seen=writing)
    os.close(writing)
    with os.fdopen(reading) as told:
        while step and (line := told.readline()) and line.strip() != step:
            pass
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        return end(child)

for line in sys.stdin:
    task, folders, *more = json.loads(line)
    for folder in folders:
        prepare(folder)
    if task == "die at":
        ended = end(start(folders[0], die_at=more[0]))
    elif task == "killed":
        ended = killed_later(folders[0], *more)
    else:
        how = more[0] if more else {}
        ended = [end(child) for child in [start(folder, **how) for folder in folders]]
    print(json.dumps(ended), flush=True)
"""


@pytest.fixture(scope="module")
def process():
    """Give a task to the driver: how the process of a release ended."""
    folder = str(Path(statpriv.__file__).resolve().parents[1])
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([folder, str(Path(__file__).parents[1])])},
    )  # fmt: skip

    def give(task, *folders_and_more):
        print(json.dumps([task, *folders_and_more]), file=driver.stdin, flush=True)
        return json.loads(driver.stdout.readline())

    yield give
    driver.stdin.close()
    assert driver.wait(timeout=60) == 0
    driver.stdout.close()


def prepared(folder, *, name="p"):
    workshop = Workshop(folder)
    workshop.table(["id", "vote"], [[f"{name}{i}", i % 2] for i in range(20)])
    workshop.plan(half("vote = 0", rows=8), half("vote = 1", rows=5), more_data='row_id = "id"')
    return workshop


def half(where, *, rows):
    """A query of one probability: its guarantee, which is not the question here, takes no time."""
    return query(where, rows=rows, probability=("1/2", "1/2"))


def assert_all_or_nothing(workshop):
    """Nothing is spent and a release succeeds, or the rows are spent and a release is refused."""
    spent = workshop.spent()
    assert spent in ([], [SPENT])
    assert_no_partial_file(workshop)
    before = {path.name for path in (workshop.page, workshop.json) if path.exists()}
    assert spent or not before
    # A kill may come between the report and its note in the ledger, which is never there without a report.
    assert workshop.published() <= ({1} if before else set())
    if spent:
        with pytest.raises(
            LedgerError, match="the queries use 13 rows together, and earlier releases have left 7 of 20"
        ):
            workshop.release(force=True)
        assert {path.name for path in (workshop.page, workshop.json) if path.exists()} == before
    else:
        workshop.release(force=True)
        assert workshop.page.exists()
        assert workshop.json.exists()
        assert workshop.published() == {1}
    assert workshop.spent() == [SPENT]
    assert left_behind(workshop) == []


def left_behind(workshop):
    """The temporary files in the folder of the report and in the registry."""
    return [path for folder in (workshop.folder, workshop.registry) for path in folder.glob(".statpriv-*")]


def outputs(workshop):
    """The files of a report that have their names."""
    return [name for name in workshop.outputs() if not name.startswith(".statpriv-")]


def assert_no_partial_file(workshop):
    if workshop.page.exists():
        assert workshop.page.read_text(encoding="utf-8").rstrip().endswith("</html>")
    if workshop.json.exists():
        assert run.Report(
            {key: value for key, value in workshop.report.items() if key != "html_sha256"},
            workshop.page.read_text(encoding="utf-8"),
        ).json == workshop.json.read_text(encoding="utf-8")  # fmt: skip


# --- killed


def test_the_steps_are_those_of_a_release(tmp_path):
    workshop = prepared(tmp_path)
    workshop.release()
    assert workshop.steps == STEPS


@spread("step", STEPS, few=3)
def test_killed_at_a_step(tmp_path, process, step):
    workshop = prepared(tmp_path)
    assert process("die at", [str(tmp_path)], step) == -signal.SIGKILL
    assert workshop.spent() == ([SPENT] if step in {"predicates", "report"} else [])
    assert outputs(workshop) == []
    assert len(left_behind(workshop)) == (0 if step == "ledger" else 2)
    assert_all_or_nothing(workshop)


@pytest.mark.parametrize("trials", [6, pytest.param(1000, marks=pytest.mark.campaign)])
def test_killed_at_random_moments(tmp_path, process, trials):
    """Half of the moments anywhere, half of them around the spend and the report."""
    choose = random.Random()  # noqa: S311 - moments of a test
    ends = []
    for trial in range(trials):
        folder = tmp_path / str(trial)
        folder.mkdir()
        workshop = prepared(folder)
        moment = (None, choose.uniform(0, 0.4)) if trial % 2 else (choose.choice(STEPS[-4:]), choose.expovariate(200))
        ended = process("killed", [str(folder)], *moment)
        assert ended in {0, -signal.SIGKILL}, moment
        assert ended != 0 or workshop.spent() == [SPENT], moment
        assert_all_or_nothing(workshop)
        ends.append(ended)
        shutil.rmtree(folder)
    assert ends.count(-signal.SIGKILL) > trials // 3


def used_rows(workshop):
    """How many rows the bitmap of the one table marks, and how many its releases say that they used."""
    with closing(sqlite3.connect(workshop.registry / "ledger.sqlite3")) as connection:
        ((spent,),) = connection.execute("SELECT spent FROM data_set")
    return int.from_bytes(spent, "big").bit_count()


@spread("step", STEPS, few=2)
def test_a_second_release_killed_at_a_step_loses_nothing_of_the_first(tmp_path, process, step):
    workshop = prepared(tmp_path)
    workshop.plan(half("vote = 0", rows=4), half("vote = 1", rows=2), more_data='row_id = "id"')
    workshop.release()
    first = workshop.report["release"]["id"]
    assert process("die at", [str(tmp_path)], step) == -signal.SIGKILL
    lost = [6] if step in {"predicates", "report"} else []
    assert workshop.spent() == [6, *lost]
    assert_no_partial_file(workshop)
    assert outputs(workshop) == ["report.html", "report.json"]
    workshop.release(force=True)
    workshop.assert_whole_report()
    assert [entry["rows_spent"] for entry in workshop.report["history"]] == [6, *lost]
    assert workshop.published() == {1, len(lost) + 2}
    assert workshop.report["history"][0]["release_id"] == first
    assert used_rows(workshop) == sum(workshop.spent())


@pytest.mark.campaign  # alone it notices what only several kills in a row break
def test_a_table_whose_releases_are_killed_again_and_again(tmp_path, process):
    """Each of them uses two rows or none, and never one that was used."""
    workshop = prepared(tmp_path)
    workshop.plan(half("vote = 0", rows=2), more_data='row_id = "id"')
    choose = random.Random()  # noqa: S311 - moments of a test
    workshop.release()
    for _ in range(cases(4, campaign=12)):
        before = workshop.spent()
        process("killed", [str(tmp_path)], choose.choice(STEPS[-4:]), choose.expovariate(200))
        assert workshop.spent() in (before, [*before, 2])
        assert used_rows(workshop) == sum(workshop.spent())
        assert_no_partial_file(workshop)
        if sum(workshop.spent()) == 20:
            break


def test_no_json_ever_lies_beside_the_page_of_another_release(tmp_path, monkeypatch):
    """Also where files are replaced, whose old and new halves a kill must not mix."""
    workshop = prepared(tmp_path)
    workshop.plan(half("vote = 0", rows=2), more_data='row_id = "id"')
    workshop.release()
    publish = publication.Place.publish

    def watched(place, content):
        assert_no_partial_file(workshop)
        publish(place, content)
        assert_no_partial_file(workshop)

    monkeypatch.setattr(publication.Place, "publish", watched)
    workshop.release(force=True)
    assert workshop.spent() == [2, 2]
    workshop.assert_whole_report()


@pytest.mark.campaign  # alone it notices a state that no kill at a named step leaves
def test_every_state_of_the_disk_that_a_kill_can_leave(tmp_path):
    """A copy of all files before each line of the code that writes: what a kill there would leave behind."""
    (tmp_path / "release").mkdir()
    workshop = prepared(tmp_path / "release")
    states = {}

    def remember():
        files = {path: path.read_bytes() for path in workshop.folder.rglob("*") if path.is_file()}
        # The names of temporary files are random, and say nothing.
        state = tuple(sorted((path.suffix if path.suffix == ".tmp" else path.name, files[path]) for path in files))
        if state not in states:
            states[state] = shutil.copytree(workshop.folder, tmp_path / f"state {len(states)}")

    writing = {
        module.__file__
        for module in (books, chain, commitment, files, registry, secret, session, publication, outputs_module, run)
    }

    def trace(frame, _event, _argument):
        if frame.f_code.co_filename not in writing:
            return None
        remember()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        workshop.release()
    finally:
        sys.settrace(before)
    remember()
    spent = [Workshop(folder).spent() for folder in states.values()]
    assert len(states) >= 12
    assert [SPENT] in spent
    assert [] in spent
    for folder in states.values():
        assert_all_or_nothing(Workshop(folder))


class SyncedDisk:
    """What survives a loss of power: of a file what was synced, under the names that its folder had when it was synced.

    SQLite syncs its own files, out of Python's sight: their contents survive as they are.
    """

    def __init__(self, folder):
        self.contents = {}
        self.names = {}
        for path in (folder, *folder.rglob("*")):
            self.sync(path)

    def sync(self, path):
        if path.is_dir():
            self.names[path] = [(entry.name, entry.inode()) for entry in os.scandir(path)]
        else:
            self.contents[path.stat().st_ino] = path.read_bytes()

    def survive(self, folder, copy):
        copy.mkdir()
        for name, inode in self.names.get(folder, ()):
            path = folder / name
            if path in self.names:
                self.survive(path, copy / name)
            elif path.is_dir():
                (copy / name).mkdir()
            elif name.startswith("ledger.sqlite3"):
                if path.exists():
                    (copy / name).write_bytes(path.read_bytes())
            else:
                (copy / name).write_bytes(self.contents.get(inode, b""))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only there a descriptor tells its file")
def test_what_survives_a_loss_of_power_at_every_sync(tmp_path, monkeypatch):
    """Also of the folders above a new registry, which no report lies in."""
    folder = tmp_path / "release"
    (folder / "reports").mkdir(parents=True)
    workshop = prepared(folder)
    workshop.outputs_in = folder / "reports"
    disk = SyncedDisk(folder)
    states = []
    fsync = os.fsync

    def lose_power():
        copy = tmp_path / f"state {len(states)}"
        states.append(Workshop(copy, outputs_in=copy / "reports"))
        disk.survive(folder, copy)

    def synced(descriptor):
        lose_power()
        fsync(descriptor)
        disk.sync(Path(f"/proc/self/fd/{descriptor}").readlink())
        lose_power()

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", synced)
        workshop.release()
    lose_power()
    assert [state.spent() for state in states if state.json.exists()][-1] == [SPENT]
    assert len(states) > 12
    for state in states:
        assert_all_or_nothing(state)
    assert states[-1].json.read_bytes() == workshop.json.read_bytes()


# --- side by side


@pytest.mark.parametrize("processes", [2, pytest.param(8, marks=pytest.mark.campaign)])
def test_of_processes_side_by_side_one_releases(tmp_path, process, processes):
    workshop = prepared(tmp_path)
    assert sorted(process("at once", [str(tmp_path)] * processes)) == [0] + [2] * (processes - 1)
    assert workshop.spent() == [SPENT]
    workshop.assert_whole_report()


@pytest.mark.campaign  # alone it notices a race of processes
@pytest.mark.parametrize("registries", [1, 4])
@pytest.mark.parametrize("force", [False, True])
def test_of_four_processes_with_one_output_one_releases(tmp_path, process, registries, force):
    """The others spend nothing: in one registry they wait and find the report, in others they find its place taken."""
    workshops = []
    (tmp_path / "out").mkdir()
    for name in "abcd":
        (tmp_path / name).mkdir()
        workshops.append(prepared(tmp_path / name, name=name))
        if registries == 1:
            (tmp_path / name / "registry").symlink_to(tmp_path / "registry")
    (tmp_path / "registry").mkdir(mode=0o700)
    folders = [str(workshop.folder) for workshop in workshops]
    ended = process("at once", folders, {"out": str(tmp_path / "out"), "force": force})
    if registries == 1 and force:
        assert ended == [0, 0, 0, 0]  # one after the other, and each replaces the report of the one before
        assert Workshop(tmp_path).spent() == [SPENT] * 4
    elif force:  # a process that comes late enough may replace a whole report
        assert set(ended) <= {0, 2}
        assert [workshop.spent() for workshop in workshops] == [[SPENT] if end == 0 else [] for end in ended]
    else:
        assert sorted(ended) == [0, 2, 2, 2]
        spent = [Workshop(tmp_path)] if registries == 1 else workshops
        assert sorted(rows for workshop in spent for rows in workshop.spent()) == [SPENT]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["report.html", "report.json"]
    assert_no_partial_file(Workshop(tmp_path / "out"))


@pytest.mark.campaign  # that a budget is kept by more processes than it allows; eight at once run always
def test_twenty_processes_share_one_budget(tmp_path, process):
    """As many releases as the target allows, of rows of their own, in whatever order the processes come."""
    workshop = prepared(tmp_path)
    workshop.table(["id", "vote"], [[f"p{i}", i % 2] for i in range(100)])
    target = "0.1"
    workshop.plan(half("vote = 0", rows=6), delta=target, more_data='row_id = "id"')
    one = Fraction(statpriv.privacy_curve(statpriv.PropertyQuery("1/2"), statpriv.Population(6)).delta("0.1").upper)
    allowed = int(Fraction(target) / (Fraction(6, 100) * one))
    assert 3 <= allowed <= 10
    ends = process("at once", [str(tmp_path)] * 20)
    assert sorted(ends) == [0] * allowed + [3] * (20 - allowed)
    assert workshop.spent() == [6] * allowed
    assert used_rows(workshop) == 6 * allowed
    assert_no_partial_file(workshop)
    with pytest.raises(GuaranteeNotReachedError):
        workshop.release(force=True)


@pytest.mark.campaign  # alone it notices a race of processes
def test_copies_of_a_table_side_by_side_are_one_table(tmp_path, process):
    """Other folders and other names of the file, one registry."""
    folders = []
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        workshop = prepared(tmp_path / name)
        (tmp_path / name / "people.csv").rename(tmp_path / name / f"{name}.csv")
        workshop.plan(half("vote = 0", rows=SPENT), data=f"{name}.csv")
        workshop.registry.symlink_to(tmp_path / "registry")
        folders.append(str(tmp_path / name))
    (tmp_path / "registry").mkdir(mode=0o700)
    assert sorted(process("at once", folders)) == [0, 2, 2]
    assert sum(Workshop(tmp_path / name).page.exists() for name in ("a", "b", "c")) == 1
    assert Workshop(tmp_path).spent() == [SPENT]


# --- failures behind the spend


def removed(workshop):
    shutil.rmtree(workshop.folder / "out")


def replaced_by_a_link(workshop):
    (workshop.folder / "out" / "report.html").symlink_to(workshop.folder / "plan.toml")


def replaced_by_a_folder(workshop):
    (workshop.folder / "out" / "report.json").mkdir()


def overtaken(workshop):
    (workshop.folder / "out" / "report.html").write_text("somebody else's", encoding="utf-8")


@pytest.mark.parametrize(
    ("accident", "why"),
    [
        (removed, "out = {out}/report.json: it cannot be written (No such file or directory)"),
        (replaced_by_a_link, "out = {out}/report.html: it is a symbolic link; write to the file itself"),
        (replaced_by_a_folder, "out = {out}/report.json: it exists and is not a regular file"),
        (overtaken, "out = {out}/report.html: it exists; choose another name or say --force"),
    ],
    ids=["removed", "a link", "a folder", "overtaken"],
)
@pytest.mark.parametrize("step", ["predicates", "report"])
def test_a_report_that_cannot_be_written(tmp_path, in_process, accident, why, step):
    workshop = prepared(tmp_path)
    (tmp_path / "out").mkdir()
    plan = (tmp_path / "plan.toml").read_bytes()
    ended = in_process(
        "release", tmp_path / "plan.toml", "--registry", workshop.registry,
        "--out", tmp_path / "out" / "report.html", "--json", tmp_path / "out" / "report.json",
        on_step=lambda now: accident(workshop) if now == step else None,
    )  # fmt: skip
    assert ended == (5, "", spent_and_failed(why.format(out=tmp_path / "out")))
    assert workshop.spent() == [SPENT]
    assert (tmp_path / "plan.toml").read_bytes() == plan
    assert not list(tmp_path.rglob("*.tmp"))
    assert not any(path.is_file() and "<html" in path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.html"))
    again = in_process(
        "release", tmp_path / "plan.toml", "--registry", workshop.registry, "--out", workshop.page,
    )  # fmt: skip
    assert again[0] == 2
    assert workshop.spent() == [SPENT]


@pytest.mark.parametrize(
    ("failure", "why"),
    [
        (MemoryError("cell7391"), "the memory of this machine was full"),
        (KeyboardInterrupt(), "it was interrupted"),
        (OSError(28, "cell7391", "cell7391"), "No space left on device"),
        (OSError("cell7391"), "OSError; --debug shows its message, which may quote data"),
        (ValueError("cell7391"), "ValueError; --debug shows its message, which may quote data"),
    ],
)
@pytest.mark.parametrize("step", ["predicates", "report"])
def test_whatever_fails_behind_the_spend_is_one_sentence(tmp_path, failure, why, step):
    workshop = prepared(tmp_path)

    def fail(now):
        if now == step:
            raise failure

    with pytest.raises(RowsSpentError) as spent:
        workshop.release(on_step=fail)
    assert spent.value.__cause__ is None
    assert spent.value.__suppress_context__
    assert f"Error: {spent.value}\n" == spent_and_failed(why)
    assert workshop.spent() == [SPENT]
    assert workshop.outputs() == []


def test_an_engine_that_fails_behind_the_spend_is_not_quoted(tmp_path, in_process, before_each_statement):
    workshop = prepared(tmp_path)

    def fail(sql):
        if "COALESCE((" in sql:
            raise duckdb.ConversionException("Could not convert string 'cell7391'")

    before_each_statement(fail)
    code, out, err = in_process(
        "release", tmp_path / "plan.toml", "--registry", workshop.registry, "--out", workshop.page
    )
    assert (code, out) == (5, "")
    assert err == spent_and_failed(
        'data "people.csv": the engine failed while it evaluated a predicate; --debug shows its message, which may '
        "quote data"
    )
    assert workshop.spent() == [SPENT]
    code, out, err = in_process(
        "release", tmp_path / "plan.toml", "--registry", tmp_path / "second", "--out", workshop.page, "--debug"
    )
    assert (code, out) == (5, "")
    assert err.startswith("Contains data, where a table was read: what follows is for this terminal alone.\n")
    assert "cell7391" in err


@pytest.mark.parametrize("step", STEPS[:-2])
@pytest.mark.parametrize("failure", [OSError("disk"), KeyboardInterrupt()])
def test_what_fails_before_the_spend_spends_nothing(tmp_path, step, failure):
    workshop = prepared(tmp_path)

    def fail(now):
        if now == step:
            raise failure

    with pytest.raises(type(failure)):
        workshop.release(on_step=fail)
    workshop.assert_untouched()
    assert_all_or_nothing(workshop)


def test_a_spend_that_may_have_happened_counts_as_spent(tmp_path, monkeypatch):
    """The ledger is written and then its folder cannot be synced: nobody may say that nothing was spent."""
    workshop = prepared(tmp_path)

    def fail(folder):
        if folder == workshop.registry and workshop.spent():
            raise OSError("the disk is gone")

    monkeypatch.setattr(session, "sync_folder", fail)
    with pytest.raises(RowsSpentError):
        workshop.release()
    assert workshop.spent() == [SPENT]
    assert workshop.outputs() == []


# --- disks


@contextmanager
def small_disk(folder, size):
    """A file system of its own; skipped where this is not allowed."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        folder.rmdir()
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(folder):
    with suppress(OSError), (folder / "filling").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def test_a_full_disk_below_the_ledger_is_found_before_the_spend(tmp_path):
    """The registry is a link into a disk that holds the ledger and no second table."""
    workshop = prepared(tmp_path)
    workshop.plan(half("vote = 0", rows=4), more_data='row_id = "id"')
    with small_disk(tmp_path / "disk", "192k") as disk:
        (disk / "registry").mkdir(mode=0o700)
        workshop.registry.symlink_to(disk / "registry")
        workshop.release()
        workshop.table(["id", "vote"], [[f"q{i}", i % 2] for i in range(4000)])
        fill(disk)
        with pytest.raises(LedgerError, match="nothing was spent"):
            workshop.release(force=True)
        (disk / "filling").unlink()
        assert workshop.spent() == [4]
        workshop.release(force=True)
        assert workshop.spent() == [4, 4]


def test_a_full_disk_below_the_report_is_found_before_the_spend(tmp_path):
    workshop = prepared(tmp_path)
    with small_disk(tmp_path / "disk", "128k") as disk:
        fill(disk)
        (disk / "filling").write_bytes(bytes(90_000))
        small = Workshop(tmp_path, outputs_in=disk)
        with pytest.raises(PublicationError, match=r"its folder has no room for a report of \d+ bytes"):
            small.release()
        assert workshop.spent() == []
        assert sorted(path.name for path in disk.iterdir()) == ["filling"]


@pytest.mark.campaign  # alone it notices a full disk
def test_a_disk_that_ledger_and_report_share_has_room_for_both_or_nothing_is_spent(tmp_path):
    """However little is left: what the spend takes of the disk is not what the report needs."""
    workshop = prepared(tmp_path)
    workshop.table(["id", "vote"], [[f"p{i}", i % 2] for i in range(4000)])
    ends = set()
    for kilobytes in (96, 148, 160, 172, 320):
        with small_disk(tmp_path / f"disk {kilobytes}", f"{kilobytes}k") as disk:
            there = Workshop(tmp_path, outputs_in=disk)
            (disk / "registry").mkdir(mode=0o700)
            workshop.registry.symlink_to(disk / "registry")
            try:
                there.release()
            except (LedgerError, PublicationError) as refused:
                ends.add(type(refused))
                assert there.spent() == []
                assert [path.name for path in disk.iterdir()] == ["registry"]
            else:
                ends.add(None)
                assert there.json.exists()
            workshop.registry.unlink()
    assert ends == {LedgerError, PublicationError, None}


def test_a_disk_that_only_reads_is_found_before_the_spend(tmp_path):
    workshop = prepared(tmp_path)
    with small_disk(tmp_path / "disk", "1m") as disk:
        (disk / "registry").mkdir(mode=0o700)
        workshop.registry.symlink_to(disk / "registry")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(LedgerError, match="Read-only file system"):
            workshop.release()
        with pytest.raises(PublicationError, match="Read-only file system"):
            Workshop(tmp_path, outputs_in=disk).release()
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        assert workshop.spent() == []


def test_a_report_that_the_ledger_cannot_note_is_published_all_the_same(tmp_path, monkeypatch):
    def full(*_):
        raise LedgerError("the disk is full")

    workshop = prepared(tmp_path)
    monkeypatch.setattr(session.Ledger, "note_published", full)
    with pytest.warns(UserWarning, match="the report was published, but the ledger could not note that: the disk is"):
        workshop.release()
    workshop.assert_whole_report()
    assert workshop.published() == set()
    shown = statpriv_command("ledger", "show", "--registry", workshop.registry)
    assert "(no report is known)" in shown.stdout
