"""Does the bench behind the table of docs/performance.md still measure the steps of a release?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_bench_of_a_release_takes_its_steps(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,a,b\n" + "".join(f"{i},{i % 2},{i % 100}\n" for i in range(1000)))
    run = subprocess.run(
        [sys.executable, "-m", "benches.python.release", "rows", str(path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    found = json.loads(run.stdout)
    assert [step["step"].split(":")[0] for step in found["steps"]] == [
        "number of rows", "ids", "ledger", "content", "partition", "ledger", "predicates",
    ]  # fmt: skip
    assert found["seconds"] > 0
    assert found["memory"] < 1024
