"""What a terminal shows while somebody waits, and that nothing else ever does."""

import json
import os
import pty
import subprocess
import sys
import time
from contextlib import contextmanager, redirect_stderr, suppress

import pytest

from statpriv.cli import progress


@pytest.fixture
def terminal(monkeypatch):
    """Makes standard error a terminal, and reads what is written there; the patience is short, so that tests are."""
    monkeypatch.setattr(progress, "_PATIENCE", 0.05)
    monkeypatch.setenv("TERM", "xterm")

    @contextmanager
    def opened():
        ours, theirs = pty.openpty()
        os.set_blocking(ours, False)

        def written():
            stream.flush()
            try:
                return os.read(ours, 1 << 16).decode()
            except BlockingIOError:
                return ""

        with os.fdopen(theirs, "w") as stream, redirect_stderr(stream):
            yield written
        os.close(ours)

    return opened


def wait_for(text, written, seconds=10):
    seen, end = "", time.monotonic() + seconds
    while text not in seen and time.monotonic() < end:
        time.sleep(0.02)
        seen += written()
    return seen


def silent(written):
    written()
    time.sleep(0.3)
    return written() == ""


def test_who_waits_is_shown_the_step_and_its_count(terminal):
    with terminal() as written:
        with progress.progress_on_terminal("claims") as waiting:
            assert "claims" in wait_for("claims", written)
            for number, piece in waiting.counting(["a", "b"]):
                assert f"claims: {number} of 2" in wait_for(f"claims: {number} of 2", written), piece
            waiting.begin("rows")
            waiting.read(1_000_000)
            assert "rows: 1,000,000 rows" in wait_for("rows: 1,000,000 rows", written)
        assert silent(written)


def test_what_is_done_at_once_is_not_announced(terminal):
    with terminal() as written:
        with progress.progress_on_terminal("claims") as waiting:
            waiting.begin("certificates")
        time.sleep(0.3)
        assert written() == ""


def test_a_step_that_fails_leaves_no_spinner(terminal):
    def fail(written):
        with progress.progress_on_terminal("claims"):
            assert "claims" in wait_for("claims", written)
            raise KeyboardInterrupt

    with terminal() as written:
        with pytest.raises(KeyboardInterrupt):
            fail(written)
        assert silent(written)


def test_brackets_in_a_step_are_no_markup(terminal):
    with terminal() as written, progress.progress_on_terminal("[bold]part[1]") as waiting:
        assert "[bold]part[1]" in wait_for("part[1]", written)
        waiting.begin("[red]part[2]")
        assert "[red]part[2]" in wait_for("part[2]", written)


FORTY_PARTS = "epsilon = 1\npopulation = 400\n" + "".join(
    f'[[part]]\nprobability = "{20 + k}/100"\nsize = 10\n' for k in range(40)
)


IMPATIENT = """
import runpy
from statpriv.cli import progress
progress._PATIENCE = 0
runpy.run_module("statpriv", run_name="__main__", alter_sys=True)
"""


def everything_written(terminal):
    """Until the last process that had it open has ended, which reads as an error."""
    seen = b""
    with suppress(OSError):
        while True:
            seen += os.read(terminal, 1 << 12)
    return seen.decode(errors="ignore")


def test_a_composition_is_announced_on_the_terminal_and_the_json_stays_json(tmp_path):
    file = tmp_path / "composition.toml"
    file.write_text(FORTY_PARTS)
    ours, theirs = pty.openpty()
    command = subprocess.Popen(
        [sys.executable, "-c", IMPATIENT, "compose", str(file), "--json"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    shown = everything_written(ours)
    os.close(ours)
    printed, _ = command.communicate()
    assert command.returncode == 0
    assert "δ of all answers together" in shown
    assert json.loads(printed)["kind"] == "enclosed"


def test_nothing_is_announced_where_no_terminal_is(tmp_path):
    file = tmp_path / "composition.toml"
    file.write_text(FORTY_PARTS)
    command = [sys.executable, "-c", IMPATIENT, "compose", str(file), "--json"]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("{")
