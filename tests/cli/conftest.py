"""Two ways to run the command: in this process, and as a user does."""

import functools
import json
import os
import subprocess
import sys

import pytest

from statpriv.assurance import alternatives

from ..command_line import in_this_process

compared_once = functools.cache(alternatives.alternatives)


@pytest.fixture(autouse=True)
def alternatives_are_compared_once(monkeypatch):
    """Attacks on two tables take seconds, and several commands and pages show what they gain."""
    monkeypatch.setattr(alternatives, "alternatives", compared_once)


@pytest.fixture
def run():
    """Run in this process."""
    return in_this_process


@pytest.fixture
def run_json(run):
    """Run with `--json` and read what it prints as strict JSON."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    def invoke(*arguments, code=0):
        result = run(*arguments, "--json")
        assert result.exit_code == code, result.stderr
        return json.loads(result.stdout, parse_constant=refuse)

    return invoke


@pytest.fixture
def process():
    """Run `python -m statpriv` in a process of its own."""

    def invoke(*arguments, **environment):
        return subprocess.run(
            [sys.executable, "-m", "statpriv", *map(str, arguments)],
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
            timeout=60,
            check=False,
        )

    return invoke
