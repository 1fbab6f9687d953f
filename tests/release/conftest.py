"""A workshop for whole releases: a folder with a table, a plan, a registry and the files that come out."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
from array import array
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import pytest

from statpriv import cli
from statpriv._native import Partition, RowTokens
from statpriv.releasing import ledger, run
from statpriv.releasing.ledger import Rows
from statpriv.releasing.partition import KEY, Strata, cut
from statpriv.releasing.plan_file import load_plan
from statpriv.releasing.report import render
from statpriv.releasing.run import Surroundings, carry_out

from .servers import postgresql_server, spark_session

PYTHON_FOLDER = Path(cli.__file__).resolve().parents[2]


def toml(value):
    """A text, or a list of texts, as TOML."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def query(where, *, rows=None, share=None, probability=("0.4", "0.6"), name="a count"):
    size = f"rows = {rows}" if rows is not None else f"share = {toml(share)}"
    return (
        f"[[query]]\nname = {toml(name)}\nwhere = {toml(where)}\nprobability = {toml(list(probability))}\n"
        f'source = "a public table"\n{size}\n'
    )


def csv_bytes(columns, rows, *, line_end="\n", delimiter=",", mark=b"", quoting=csv.QUOTE_MINIMAL):
    """A CSV file, written by hand: before Python 3.11 the standard writer refused the character NUL."""

    def cell(value):
        text = "" if value is None else str(value)
        plain = quoting == csv.QUOTE_MINIMAL and not any(c in text for c in (delimiter, '"', "\r", "\n"))
        return text if plain and (text or len(columns) > 1) else '"' + text.replace('"', '""') + '"'

    lines = [delimiter.join(map(cell, line)) + line_end for line in (columns, *rows)]
    return mark + "".join(lines).encode()


def words(seed):
    """A deterministic source of random bytes."""
    return random.Random(seed).randbytes  # noqa: S311 - a test repeats them


def partition_words(seed):
    return {} if seed is None else {"words": words(f"partition {seed}")}


def registry(folder, seed):
    random_source = {} if seed is None else {"words": words(f"registry {seed}")}
    return ledger.Registry(Path(folder).absolute(), **random_source)


@cache
def row_key(seed):
    """The key of tokens in the ledger that a release with this seed begins."""
    with tempfile.TemporaryDirectory() as folder, registry(Path(folder) / "registry", seed).locked() as begun:
        return begun.row_key


def labels(rows, sizes, seed):
    """The parts of a first release with this seed: of so many rows without ids, or of rows with these ids."""
    return labels_in_strata(rows, [sizes], None, seed)


def labels_in_strata(rows, sizes, strata, seed):
    """The same for rows in strata, of which 0 is drawn from never."""
    ids = None if isinstance(rows, int) else [str(row) for row in rows]
    tokens = None if ids is None else RowTokens.of(row_key(seed), ids, with_rows=True)
    known = Rows.of(rows if ids is None else len(ids), tokens)
    of_rows = None if strata is None else known.by_token(np.array(strata, dtype=np.uint16))
    key = words(f"partition {seed}")(KEY)
    return array(
        "I", cut(known, row_key(seed), Strata([tuple(each) for each in sizes], of_rows), key).labels(ids).tolist()
    )


def parts(labels):
    """A partition that was not drawn."""
    return Partition.given(np.array(labels, dtype=np.uint32))


class Frame:
    """What hands its columns over as Arrow does, by DuckDB."""

    def __init__(self, select):
        self.engine, self.select, self.asked = duckdb.connect(":memory:"), select, 0

    def __arrow_c_stream__(self, requested_schema=None):
        self.asked += 1
        return self.engine.sql(self.select).__arrow_c_stream__(requested_schema)


@dataclass
class Workshop:
    folder: Path
    queries: list[tuple[str, str]] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    outputs_in: Path | None = None

    @property
    def registry(self):
        return self.folder / "registry"

    @property
    def page(self):
        return (self.outputs_in or self.folder) / "report.html"

    @property
    def json(self):
        return (self.outputs_in or self.folder) / "report.json"

    @property
    def report(self):
        return json.loads(self.json.read_text(encoding="utf-8"))

    def table(self, columns, rows, *, name="people.csv", **style):
        return self.write(name, csv_bytes(columns, rows, **style))

    def parquet(self, select, *, name="people.parquet"):
        path = self.folder / name
        with closing(duckdb.connect(":memory:")) as connection:
            connection.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
        return path

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def plan(self, *queries, name="plan.toml", data="people.csv", delta="1", epsilon="0.1", more_data="", more=""):
        """A plan file with these queries; its target holds for everything unless delta says otherwise."""
        return self.write(
            name,
            f'prior = "none"\n[data]\nsource = {toml(data)}\n{more_data}\n'
            f"[guarantee]\nepsilon = {epsilon}\ndelta = {delta}\n{more}\n{''.join(queries)}",
        )

    def release(self, plan="plan.toml", *, seed=None, on_step=None, force=False, dry_run=False, data=None):
        """Release inside this process; `queries` and `steps` record what the engine was asked, and when."""
        self.queries.clear()
        self.steps.clear()

        def progress(step):
            self.steps.append(step)
            if on_step is not None:
                on_step(step)

        return carry_out(
            load_plan(self.folder / plan, data=data),
            out=self.page,
            json=self.json,
            registry=registry(self.registry, seed),
            dry_run=dry_run,
            force=force,
            surroundings=Surroundings(
                progress=progress,
                on_query=lambda sql: self.queries.append(((self.steps or [""])[-1], sql)),
                **partition_words(seed),
            ),
        )

    @property
    def arguments(self):
        """Those of a command that releases."""
        written = "--out", str(self.page), "--json", str(self.json)
        return "release", str(self.folder / "plan.toml"), *written, "--registry", str(self.registry)

    def command(self, *arguments, env=None):
        """Run `statpriv release` as a user does, in a process of its own."""
        return statpriv(*self.arguments, *arguments, env=env)

    def spent(self):
        """Rows spent by each release in the ledger."""
        path = self.registry / "ledger.sqlite3"
        if not path.exists():
            return []
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            if not connection.execute("SELECT * FROM sqlite_master").fetchall():
                return []
            return [rows for (rows,) in connection.execute("SELECT rows_spent FROM release ORDER BY number")]

    def published(self):
        """The releases of which the ledger knows a report."""
        return set(ledger.Registry.open(self.registry).summary().published) if self.spent() else set()

    def outputs(self):
        """Everything in the folder that is neither input nor registry."""
        inputs = {".csv", ".tsv", ".parquet", ".toml"}
        return sorted(p.name for p in self.folder.iterdir() if p.name != "registry" and p.suffix not in inputs)

    def assert_untouched(self):
        """Nothing was spent and nothing was written."""
        assert self.spent() == []
        assert self.outputs() == []

    def assert_whole_report(self):
        """The two files are there, belong together, and the page is made of the JSON alone."""
        report = self.report
        contents = {key: value for key, value in report.items() if key != "html_sha256"}
        page = self.page.read_bytes()
        assert render(contents).encode() == page
        assert run.Report(contents, page.decode()).json == self.json.read_text(encoding="utf-8")
        assert self.outputs() == ["report.html", "report.json"]


def statpriv(*arguments, env=None, stdin=None):
    return subprocess.run(
        [sys.executable, "-m", "statpriv", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(PYTHON_FOLDER), "PYTHONIOENCODING": "utf-8", **(env or {})},
    )


@pytest.fixture(scope="session", autouse=True)
def interrupts_arrive():
    """Here and in processes that are started: a shell that runs the tests in the background had them ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def workshop(tmp_path, computed_once):
    return Workshop(tmp_path)


@pytest.fixture
def in_process(monkeypatch, capfd):
    """Run `statpriv` inside this process, in surroundings of the test's choice: exit code, stdout, stderr."""

    def command(*arguments, seed=None, on_step=None):
        def surroundings(**given):
            chosen = {**given, **partition_words(seed)}
            return Surroundings(**({**chosen, "progress": on_step} if on_step else chosen))

        with monkeypatch.context() as patch:
            patch.setattr(run, "Surroundings", surroundings)
            patch.setattr(ledger.Registry, "open", lambda folder: registry(folder, seed))
            with pytest.raises(SystemExit) as ended:
                cli.command_line.main([str(argument) for argument in arguments], prog_name="statpriv")
        captured = capfd.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    return command


@pytest.fixture
def before_each_statement(monkeypatch):
    """Call a function with every statement that any connection to the engine is about to run."""
    connect = duckdb.connect

    def intercept(act):
        class Intercepted:
            def __init__(self, *arguments, **settings):
                self.connection = connect(*arguments, **settings)
                self.close = self.connection.close

            def execute(self, sql, *arguments):
                act(sql)
                return self.connection.execute(sql, *arguments)

            def sql(self, sql):
                act(sql)
                return self.connection.sql(sql)

        monkeypatch.setattr(duckdb, "connect", Intercepted)

    return intercept


@pytest.fixture
def connections(before_each_statement):
    """Every statement that any connection to the engine runs."""
    statements = []
    before_each_statement(statements.append)
    return statements


def own_count(rows, part_labels: array[int], part, holds):
    """The count of a part, by Python."""
    return sum(label == part and holds(row) for row, label in zip(rows, part_labels, strict=True))


@pytest.fixture(scope="session")
def postgresql():
    """A server of this session's own, whose log holds every statement."""
    with postgresql_server() as server:
        yield server


@pytest.fixture(scope="session")
def spark():
    """A session of Spark on two threads of this process' own."""
    with spark_session() as session:
        yield session
