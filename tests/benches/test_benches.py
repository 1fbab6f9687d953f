"""The benchmarks run: what they call exists and takes what they give it, and what they compare agrees."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from benches.python import release, side_by_side

ROOT = Path(__file__).parents[2]
BRIEF = {"Fifty digits of δ", "One δ through `curve.delta(ε)`", "Log probabilities", "Upper tails", "Arrays"}
"""Tables whose peers scipy, python-flint and statpriv itself take no time."""
QUICK = ("scipy", "python-flint", "statpriv", "Python integers")


@pytest.mark.campaign  # alone it notices a benchmark that measures other work than its peer
@pytest.mark.parametrize("title", side_by_side.TABLES)
def test_each_piece_of_work_gives_a_narrow_enclosure_and_peers_that_come_near(title):
    for case in side_by_side.TABLES[title]():
        ours = case.ours()
        is_wide = "all patterns" in case.work or "grid" in case.work
        assert side_by_side.relative_width(ours) < (0.1 if is_wide else 1e-6), case.work
        for name, work in case.peers.items():
            if title in BRIEF and name.startswith(QUICK) and "10¹⁵" not in case.work:  # where scipy is off by 3
                assert side_by_side.error_of(work(), case, ours) < 0.01, (case.work, name)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_each_step_of_a_release_is_measured_once(tmp_path, form):
    path = next(path for path in release._tables(tmp_path, 500) if path.suffix == f".{form}")
    measured = release._rows(path)
    steps = [step["step"] for step in measured["steps"]]
    assert len(steps) == len(set(steps)) == 7
    assert measured["seconds"] == pytest.approx(sum(step["seconds"] for step in measured["steps"]))
    alone = [sys.executable, "-m", "benches.python.release", "grouped", str(path)]
    grouped = json.loads(subprocess.run(alone, cwd=ROOT, capture_output=True, check=True, timeout=120).stdout)
    assert 0 < grouped["memory"] < 2048
