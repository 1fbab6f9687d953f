"""Per-row work of a release of exact counts, compared with a plain GROUP BY that counts the same predicates.

Each run is a cold start in its own process, on the same file: `python -m benches.python.release grouped FILE`,
`… rows FILE` for the steps on rows, and `… release FILE` for a whole release with its guarantee, curves and report.
The table is synthetic: an id, a binary property and a number from 0 to 99.

    python -m benches.python.release                              # a million rows, once
    python -m benches.python.release --rows 10000000 --repeats 3  # the table of docs/performance.md
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


def beside_grouped_counts(rows: int = 10**6, repeats: int = 1) -> str:
    """Markdown tables that compare the release of a synthetic table with DuckDB's grouped counts of the same file."""
    with tempfile.TemporaryDirectory() as name:
        return "\n\n".join(_beside(path, repeats) for path in _tables(Path(name), rows))


def _tables(folder: Path, rows: int) -> list[Path]:
    connection = duckdb.connect(":memory:")
    connection.execute("SET threads = 1")  # keeps the order of the rows
    select = (
        "SELECT range AS id, CAST(hash(range) % 2 AS INTEGER) AS a, CAST(hash(range + 7) % 100 AS INTEGER) AS b "
        f"FROM range({rows})"
    )
    paths = [folder / "table.csv", folder / "table.parquet"]
    for path in paths:
        connection.execute(f"COPY ({select}) TO '{path}'")
    return paths


def _beside(path: Path, repeats: int) -> str:
    plain, rows, whole = (
        min((_measured(what, path) for _ in range(repeats)), key=lambda found: found["seconds"])
        for what in ("grouped", "rows", "release")
    )
    form = {".csv": "CSV", ".parquet": "Parquet"}[path.suffix]
    measured = [("plain GROUP BY", plain), *((step["step"], step) for step in rows["steps"])]
    measured += [("**all steps on rows**", rows), ("a whole release, with its curves", whole)]
    lines = [
        f"| {form} | time | of the GROUP BY | processor time | of the GROUP BY | memory so far |",
        "|---|---|---|---|---|---|",
        *(
            f"| {what} | {_beside_plain(found, plain, 'seconds')} | {_beside_plain(found, plain, 'processor')} "
            f"| {found['memory']} MB |"
            for what, found in measured
        ),
    ]
    return "\n".join(lines)


def _beside_plain(found: dict, plain: dict, clock: str) -> str:
    return f"{found[clock]:.2f} s | {found[clock] / plain[clock]:.1f}"


def _measured(what: str, path: Path) -> dict:
    run = subprocess.run(
        [sys.executable, "-m", "benches.python.release", what, str(path)], capture_output=True, text=True, check=True
    )
    return json.loads(run.stdout)


def _peak() -> int:
    """Peak memory of this process, in megabytes."""
    import resource

    status = Path("/proc/self/status")
    if status.exists():  # `getrusage` would include the memory of the parent process
        (peak,) = (line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(peak) // 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1 if sys.platform == "darwin" else 1024)


def _clocks() -> dict:
    return {"seconds": time.perf_counter(), "processor": time.process_time()}


def _since(start: dict) -> dict:
    now = _clocks()
    return {clock: now[clock] - start[clock] for clock in start} | {"memory": _peak()}


def _grouped(path: Path) -> dict:
    start = _clocks()
    duckdb.sql(
        f"SELECT id % 2 AS part, count(*) FILTER (a < 1), count(*) FILTER (b < 50) FROM '{path}' GROUP BY part"
    ).fetchall()
    return _since(start)


def _rows(path: Path) -> dict:
    """The steps on rows of a first release, in its order, without the theory."""
    from statpriv.releasing.ledger import Registry, Rows
    from statpriv.releasing.partition import Strata, secret_partition
    from statpriv.releasing.plan_file import load_plan
    from statpriv.releasing.tables import open_table

    steps: list[dict] = []
    step, finish = _stopwatch(steps)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "plan.toml").write_text(PLAN.format(source=json.dumps(str(path))))
        plan = load_plan(folder / "plan.toml")
        questions = [query.questions for query in plan.queries]
        with (
            Registry.open(folder / "registry").locked() as ledger,
            open_table(plan.data, [predicate for question in questions for predicate in question]) as table,
        ):
            step("number of rows")
            n = table.row_count()
            step("ids: read, tokens in order, no two equal")
            rows = Rows.of(n, table.row_tokens(ledger.row_key))
            step("ledger: known rows")
            positions = ledger.recognise(rows)
            step("content: two fingerprints")
            content = table.load(ledger.content_key)
            position = ledger.identify(positions, content.fingerprint)
            step("partition: ends of the parts")
            sizes = (n // 2, n // 2)
            with secret_partition(rows, ledger.row_key, Strata([sizes])) as partition:
                step("ledger: the spend")
                ledger.spend(
                    position, content.fingerprint, partition.drawn(),
                    queries=[], sizes=sizes, stated=[], plan_sha256=plan.sha256,
                )  # fmt: skip
                step("predicates: the counting itself")
                content.count(partition, questions)
                finish()
    return {clock: sum(step[clock] for step in steps) for clock in _clocks()} | {"memory": _peak(), "steps": steps}


def _release(path: Path) -> dict:
    import statpriv as sp

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "plan.toml").write_text(PLAN.format(source=json.dumps(str(path))))
        start = _clocks()
        sp.release(folder / "plan.toml", registry=folder / "registry", out=folder / "report.html")
        return _since(start)


def _stopwatch(steps: list[dict]) -> tuple[Callable[[str], None], Callable[[], None]]:
    """Two functions: one to begin a step with a name, and one to end the last step."""
    last: list[dict] = []

    def finish() -> None:
        if last:
            steps[-1] |= _since(last.pop())

    def step(name: str) -> None:
        finish()
        steps.append({"step": name})
        last.append(_clocks())

    return step, finish


_KINDS: dict[str, Callable[[Path], dict]] = {"grouped": _grouped, "rows": _rows, "release": _release}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["compare", *_KINDS], nargs="?", default="compare")
    parser.add_argument("path", type=Path, nargs="?")
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--repeats", type=int, default=1)
    given = parser.parse_args()
    if given.what == "compare":
        print(beside_grouped_counts(given.rows, given.repeats))
    else:
        print(json.dumps(_KINDS[given.what](given.path)))


if __name__ == "__main__":
    main()
