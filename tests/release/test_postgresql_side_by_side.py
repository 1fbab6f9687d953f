"""Do releases of one PostgreSQL table use each row once, side by side and where they are killed?"""

from __future__ import annotations

import os
import random
import signal
import time

import pytest

from statpriv.errors import GuaranteeNotReachedError, LedgerError, PublicationError
from statpriv.releasing.ledger import Registry
from statpriv.releasing.plan_file import load_plan
from statpriv.releasing.run import Surroundings, carry_out

from .. import once
from ..cases import cases
from .conftest import Workshop, query
from .test_crashes import used_rows

pytest.importorskip("psycopg")
pytestmark = [
    pytest.mark.xdist_group("postgresql"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="real processes are killed with POSIX signals"),
]

ROWS, PART = 40, 6


@pytest.fixture
def workshop(tmp_path, postgresql, computed_once):
    postgresql.execute(
        "DROP TABLE IF EXISTS crowd",
        "CREATE TABLE crowd (id integer, vote integer)",
        f"INSERT INTO crowd SELECT i, i % 2 FROM generate_series(1, {ROWS}) AS i",  # noqa: S608 - of the tests
    )
    made = Workshop(tmp_path)
    made.plan(
        query("vote = 0", rows=PART, probability=("1/2", "1/2")),
        data=postgresql.url,
        more_data='table = "public.crowd"\nrow_id = "id"',
    )
    once.prepare(load_plan(tmp_path / "plan.toml"), ROWS)
    yield made
    postgresql.execute("DROP TABLE IF EXISTS crowd")


def started(workshop, name, die_at=None):
    """A process that releases the table, and may kill itself at a step."""
    child = os.fork()
    if child:
        return child

    def progress(step):
        if step == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    ended = 99
    try:
        carry_out(
            load_plan(workshop.folder / "plan.toml"),
            out=workshop.folder / f"{name}.html",
            json=workshop.folder / f"{name}.json",
            registry=Registry.open(workshop.registry),
            dry_run=False,
            force=False,
            surroundings=Surroundings(progress=progress),
        )
        ended = 0
    except (LedgerError, PublicationError):
        ended = 2
    except GuaranteeNotReachedError:
        ended = 3
    finally:
        os._exit(ended)


def end(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_processes_side_by_side_share_the_rows(workshop):
    ended = sorted(map(end, [started(workshop, f"r{k}") for k in range(9)]))
    assert ended == [0] * (ROWS // PART) + [2] * (9 - ROWS // PART)
    assert workshop.spent() == [PART] * (ROWS // PART)
    assert used_rows(workshop) == sum(workshop.spent())
    assert len(list(workshop.folder.glob("r*.json"))) == ROWS // PART
    assert not list(workshop.folder.glob(".statpriv-*"))


def test_of_processes_with_one_output_one_releases(workshop):
    assert sorted(map(end, [started(workshop, "same") for _ in range(4)])) == [0, 2, 2, 2]
    assert workshop.spent() == [PART]


@pytest.mark.parametrize("step", ["ids", "content", "partition", "spend", "predicates", "report"])
def test_killed_at_a_step(workshop, postgresql, step):
    """The rows are spent or not, never counted twice, and the server keeps nothing of the release."""
    assert end(started(workshop, "killed", die_at=step)) == -signal.SIGKILL
    lost = [PART] if step in {"predicates", "report"} else []
    assert workshop.spent() == lost
    assert end(started(workshop, "after")) == 0
    assert workshop.spent() == [*lost, PART]
    assert used_rows(workshop) == sum(workshop.spent())
    assert postgresql.rows("SELECT count(*) FROM pg_class WHERE relname LIKE 'statpriv%'") == [(0,)]


@pytest.mark.campaign  # alone it notices a moment at which no named step stands
def test_killed_at_random_moments(workshop):
    choose = random.Random()  # noqa: S311 - moments of a test
    for k in range(cases(6, campaign=60)):
        before = workshop.spent()
        child = started(workshop, f"k{k}")
        time.sleep(choose.uniform(0, 0.3))
        os.kill(child, signal.SIGKILL)
        end(child)
        assert workshop.spent() in (before, [*before, PART])
        assert not workshop.spent() or used_rows(workshop) == sum(workshop.spent())
