"""The servers that the tests start for themselves, each in a folder of its own that is removed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

# --- PostgreSQL


@dataclass(frozen=True)
class PostgresqlServer:
    folder: Path

    @property
    def url(self):
        return f"postgresql://postgres@/postgres?host={self.folder}"

    @property
    def log(self):
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def execute(self, *statements):
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def rows(self, query):
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(query).fetchall()

    def files_with(self, *texts):
        """Every file of the server that holds one of the texts."""
        wanted = [text.encode() for text in texts]
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return [path for path in files if any(text in path.read_bytes() for text in wanted)]


def _programs():
    found = shutil.which("pg_ctl")
    folders = [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not folders or not (folders[-1] / "initdb").exists():
        pytest.skip("there is no PostgreSQL server on this machine (initdb, pg_ctl)")
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed")
    return folders[-1]


def _as_a_user(command):
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return command
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
    return [shutil.which("runuser", path=path) or "runuser", "-u", "postgres", "--", *command]


@contextmanager
def postgresql_server():
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="statpriv-postgresql-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")

    def run(program, *arguments):
        command = _as_a_user([str(programs / program), *arguments])
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/", timeout=120)

    data = str(folder / "data")
    settings = f"-c listen_addresses='' -k {folder} -c log_statement=all -c log_min_duration_statement=0 -c fsync=off"
    try:
        run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale", "C.UTF-8", "--no-sync")
        run("pg_ctl", "start", "-w", "-D", data, "-l", str(folder / "log"), "-o", settings)
        try:
            yield PostgresqlServer(folder)
        finally:
            run("pg_ctl", "stop", "-m", "immediate", "-D", data)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# --- Spark


@contextmanager
def spark_session():
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java on this machine")
    from pyspark.sql import SparkSession

    folder = Path(tempfile.mkdtemp(prefix="statpriv-spark-"))
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.local.dir", str(folder / "local"))
        .getOrCreate()
    )
    try:
        yield session
    finally:
        session.stop()
        shutil.rmtree(folder, ignore_errors=True)
