"""Does a release from Spark, killed at any moment, use each row at most once?"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from .conftest import Workshop, query
from .test_crashes import used_rows

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(shutil.which("java") is None and "JAVA_HOME" not in os.environ, reason="Spark needs Java"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="real processes are killed with POSIX signals"),
]

STEPS = ["rows", "ids", "content", "partition", "spend", "predicates", "report"]
ROWS, PART, KILLS = 400, 6, 12

# A process that says at which step it is, and may kill itself there.
RELEASE = """
import os, signal, sys
from pathlib import Path
from statpriv.errors import LedgerError
from statpriv.releasing.ledger import Registry
from statpriv.releasing.plan_file import load_plan
from statpriv.releasing.run import Surroundings, carry_out

folder, name, die_at = Path(sys.argv[1]), sys.argv[2], sys.argv[3]

def progress(step):
    print(step, flush=True)
    if step == die_at:
        os.kill(os.getpid(), signal.SIGKILL)

carry_out(
    load_plan(folder / "plan.toml"), out=folder / f"{name}.html", json=folder / f"{name}.json",
    registry=Registry.open(folder / "registry"), dry_run=False, force=False,
    surroundings=Surroundings(progress=progress),
)
"""


@pytest.fixture
def workshop(tmp_path):
    pytest.importorskip("pyspark")
    made = Workshop(tmp_path)
    made.table(["id", "vote"], [[f"p{i}", i % 2] for i in range(ROWS)])
    made.plan(query("vote = 0", rows=PART, probability=("1/2", "1/2")), more_data='engine = "spark"\nrow_id = "id"')
    return made


def started(workshop, name, die_at=""):
    return subprocess.Popen(
        [sys.executable, "-c", RELEASE, str(workshop.folder), name, die_at],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYSPARK_SUBMIT_ARGS": "--master local[1] pyspark-shell"},
    )


def ended(process):
    process.stdout.read()
    process.stdout.close()
    return process.wait(timeout=120)


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_a_step(workshop, step):
    assert ended(started(workshop, "killed", die_at=step)) == -signal.SIGKILL
    lost = [PART] if step in {"predicates", "report"} else []
    assert workshop.spent() == lost
    assert ended(started(workshop, "after")) == 0
    assert workshop.spent() == [*lost, PART]
    assert used_rows(workshop) == sum(workshop.spent())


def test_killed_at_random_moments(workshop):
    choose = random.Random()  # noqa: S311 - moments of a test
    for k in range(KILLS):
        before = workshop.spent()
        process = started(workshop, f"k{k}")
        step = choose.choice(STEPS)
        while (line := process.stdout.readline()) and line.strip() != step:
            pass
        time.sleep(choose.uniform(0, 0.3))
        process.kill()
        ended(process)
        assert workshop.spent() in (before, [*before, PART])
        assert not workshop.spent() or used_rows(workshop) == sum(workshop.spent())
    assert ended(started(workshop, "after")) == 0
