"""Ratios against what a user would otherwise pick, all measured in this one run.

Prints, for the privacy curve of an exact count, the time of one δ against the scipy two-liner, and the error of that
two-liner beside the width of ours; and the time of a release against DuckDB's own grouped counts.
"""

from __future__ import annotations

import csv
import math
import platform
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import scipy
from scipy.stats import binom

import statpriv as sp


def seconds(work: Callable[[], object], *, repeats: int = 7) -> float:
    """Median time of one call, each measurement long enough to be read."""
    work()
    once = time.perf_counter()
    work()
    loops = max(1, int(0.02 / max(time.perf_counter() - once, 1e-9)))
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(loops):
            work()
        times.append((time.perf_counter() - start) / loops)
    return statistics.median(times)


def scipy_delta(n: int, p: float, epsilon: float) -> float:
    """The obvious two-liner, in one direction."""
    first = math.ceil(n * p * math.exp(epsilon) / (1 - p + p * math.exp(epsilon)))
    return binom.sf(first - 2, n - 1, p) - math.exp(epsilon) * binom.sf(first - 1, n - 1, p)


def one_delta() -> None:
    print(f"{'n':>10} {'statpriv':>10} {'scipy':>10} {'ratio':>7} {'our width':>11} {'scipy error':>12}")
    for n in (10**3, 32768, 10**5, 10**6, 10**7):
        epsilon = 1 / math.sqrt(n)
        curve = sp.privacy_curve(sp.PropertyQuery(0.3), sp.Population(n), pair=(1, 0))
        ours, theirs = seconds(lambda: curve.delta(epsilon)), seconds(lambda: scipy_delta(n, 0.3, epsilon))
        delta = curve.delta(epsilon)
        error = abs(scipy_delta(n, 0.3, epsilon) / delta.midpoint - 1)
        print(
            f"{n:>10} {ours * 1e6:>8.1f}µs {theirs * 1e6:>8.1f}µs {theirs / ours:>7.2f} "
            f"{delta.width / delta.upper:>11.1e} {error:>12.1e}"
        )


def one_release(rows: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = random.Random(1)
        with (folder / "table.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "a", "b"])
            writer.writerows([i, source.randrange(2), source.randrange(100)] for i in range(rows))
        query = (
            '[[query]]\nname = "{0}"\nwhere = "{0} < {1}"\nprobability = ["0.4", "0.6"]\n'
            'source = "made up"\nshare = "1/2"\n'
        )
        (folder / "plan.toml").write_text(
            '[data]\nsource = "table.csv"\nrow_id = "id"\n[guarantee]\nepsilon = 0.1\ndelta = 0.1\n'
            + query.format("a", 1)
            + query.format("b", 50)
        )
        start = time.perf_counter()
        sp.release(folder / "plan.toml", registry=folder / "registry", out=folder / "report.html")
        ours = time.perf_counter() - start
        start = time.perf_counter()
        duckdb.sql(
            "SELECT id % 2 AS part, sum(CASE WHEN a < 1 THEN 1 ELSE 0 END), sum(CASE WHEN b < 50 THEN 1 ELSE 0 END) "
            f"FROM '{folder}/table.csv' GROUP BY part"
        ).fetchall()
        theirs = time.perf_counter() - start
        print(f"release of {rows} rows: {ours:.2f} s; plain grouped counts: {theirs:.2f} s; ratio {ours / theirs:.1f}")


if __name__ == "__main__":
    print(
        f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, scipy {scipy.__version__}"
    )
    one_delta()
    one_release(10**6)
