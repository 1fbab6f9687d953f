"""A release of exact counts beside the counting alone."""

from __future__ import annotations

import csv
import random
import tempfile
import time
from pathlib import Path

import duckdb

import statpriv as sp


def beside_grouped_counts(rows: int) -> str:
    """A sentence about one release of a made-up table and DuckDB's grouped counts of the same file."""
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
    return (
        f"A release of {rows} rows with two counts (CSV, ids, ledger, certified guarantee with its curves, "
        f"report) took {ours:.2g} s, "
        f"DuckDB's grouped counts of the same file {theirs:.2g} s."
    )
