"""A release of exact counts beside the plain GROUP BY that counts the same predicates.

Both start cold, each in a process of its own, on the same file: `python -m benches.python.release grouped FILE` and
`… release FILE`. The table is made up: an id, a property and a number from 0 to 99.

    python -m benches.python.release                 # print the table of docs/performance.md
    python -m benches.python.release --rows 1000000
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

REPEATS = 3
PLAN = """
prior = "none"
[data]
source = {source}
row_id = "id"
[guarantee]
epsilon = 0.001
delta = 0.2
[[query]]
name = "a"
where = "a < 1"
probability = ["0.4", "0.6"]
source = "made up"
share = "1/2"
[[query]]
name = "b"
where = "b < 50"
probability = ["0.4", "0.6"]
source = "made up"
share = "1/2"
"""


def beside_grouped_counts(rows: int = 10**7) -> str:
    """Tables about one release of a made-up table and DuckDB's grouped counts of the same file, in Markdown."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return "\n\n".join(_beside(path) for path in _tables(folder, rows))


def _tables(folder: Path, rows: int) -> list[Path]:
    connection = duckdb.connect(":memory:")
    connection.execute("SET threads = 1")  # the order of the rows
    select = (
        "SELECT range AS id, CAST(hash(range) % 2 AS INTEGER) AS a, CAST(hash(range + 7) % 100 AS INTEGER) AS b "
        f"FROM range({rows})"
    )
    paths = [folder / "table.csv", folder / "table.parquet"]
    for path in paths:
        connection.execute(f"COPY ({select}) TO '{path}'")
    return paths


def _beside(path: Path) -> str:
    plain = min((_measured("grouped", path) for _ in range(REPEATS)), key=lambda found: found["seconds"])
    ours = min((_measured("release", path) for _ in range(REPEATS)), key=lambda found: found["seconds"])
    base = plain["seconds"]
    form = {".csv": "CSV", ".parquet": "Parquet"}[path.suffix]
    lines = [
        f"| {form} | seconds | of the GROUP BY | memory so far |",
        "|---|---|---|---|",
        f"| plain GROUP BY | {base:.2f} | 1 | {plain['memory']} MB |",
        *(
            f"| {step['step']} | {step['seconds']:.2f} | {step['seconds'] / base:.2f} | {step['memory']} MB |"
            for step in ours["steps"]
        ),
        f"| **the whole release** | {ours['seconds']:.2f} | {ours['seconds'] / base:.2f} | {ours['memory']} MB |",
    ]
    return "\n".join(lines)


def _measured(what: str, path: Path) -> dict:
    run = subprocess.run(
        [sys.executable, "-m", "benches.python.release", what, str(path)], capture_output=True, text=True, check=True
    )
    return json.loads(run.stdout)


def _peak() -> int:
    """Megabytes that this process has had at most."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1 if sys.platform == "darwin" else 1024)


def _grouped(path: Path) -> dict:
    start = time.perf_counter()
    duckdb.sql(
        f"SELECT id % 2 AS part, count(*) FILTER (a < 1), count(*) FILTER (b < 50) FROM '{path}' GROUP BY part"
    ).fetchall()
    return {"seconds": time.perf_counter() - start, "memory": _peak()}


def _release(path: Path) -> dict:
    import statpriv as sp

    steps: list[dict] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "plan.toml").write_text(PLAN.format(source=json.dumps(str(path))))
        start = time.perf_counter()
        progress, finish = _stopwatch(steps)
        progress("plan and outputs")
        sp.release(folder / "plan.toml", registry=folder / "registry", out=folder / "report.html", progress=progress)
        finish()
        seconds = time.perf_counter() - start
    return {"seconds": seconds, "memory": _peak(), "steps": steps}


def _stopwatch(steps: list[dict]) -> tuple[Callable[[str], None], Callable[[], None]]:
    """What is told the name of each step that begins, and what ends the last one."""
    last: list[float] = []

    def finish() -> None:
        if last:
            steps[-1] |= {"seconds": time.perf_counter() - last.pop(), "memory": _peak()}

    def progress(step: str) -> None:
        finish()
        steps.append({"step": step})
        last.append(time.perf_counter())

    return progress, finish


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["compare", "grouped", "release"], nargs="?", default="compare")
    parser.add_argument("path", type=Path, nargs="?")
    parser.add_argument("--rows", type=int, default=10**7)
    given = parser.parse_args()
    if given.what == "compare":
        print(beside_grouped_counts(given.rows))
    else:
        print(json.dumps((_grouped if given.what == "grouped" else _release)(given.path)))


if __name__ == "__main__":
    main()
