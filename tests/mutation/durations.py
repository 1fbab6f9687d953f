"""A pytest plugin that writes the duration of each test, in seconds: ``-p durations --durations-to FILE``."""

import json
from collections import Counter
from pathlib import Path

_seconds: Counter[str] = Counter()


def pytest_addoption(parser):
    parser.addoption("--durations-to", type=Path, required=True, help="JSON, by the name of each test")


def pytest_runtest_logreport(report):
    _seconds[report.nodeid] += report.duration


def pytest_sessionfinish(session):
    session.config.getoption("--durations-to").write_text(json.dumps(_seconds, indent=1), encoding="utf-8")
