"""The command as a process: exit codes, streams, encodings, interruption."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

DELTA = ("delta", "--n", "1024", "--p", "1/2", "--epsilon", "0.005")
LONG = (
    "delta",
    "--n",
    "2000000000000",
    "--known",
    "1000000000000",
    "--size",
    "1000000000000",
    "--p",
    "0.4..0.6",
    "--epsilon",
    "1e-6",
)


def test_a_mistake_has_no_traceback(process):
    result = process("delta", "--n", "0", "--p", "1/2", "--epsilon", "1")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr == "Error: --n = 0; a whole number from 1 to 2^53 is required\n"


MARK = "Contains data, where a table was read: what follows is for this terminal alone.\n"


@pytest.mark.parametrize("arguments", [("--debug", "delta"), ("delta", "--debug")])
def test_debug_shows_the_traceback_and_marks_it(process, arguments):
    result = process(*arguments, "--n", "0", "--p", "1/2", "--epsilon", "1")
    assert result.returncode == 2
    assert result.stderr.startswith(f"{MARK}Traceback")
    assert result.stderr.endswith("Error: --n = 0; a whole number from 1 to 2^53 is required\n")


def test_an_unknown_command_is_refused(process):
    result = process("detla")
    assert result.returncode == 2
    assert "No such command 'detla'. Did you mean delta?" in result.stderr
    assert "(try: statpriv --help)" in result.stderr


def test_without_a_command_there_is_help(process):
    result = process()
    assert result.returncode == 0
    assert "Usage: statpriv" in result.stdout


@pytest.mark.parametrize("command", ["delta", "epsilon", "compose", "reproduce"])
def test_help_has_an_example(process, command):
    result = process(command, "--help")
    assert result.returncode == 0
    assert f"\n   statpriv {command} " in result.stdout


def test_the_examples_of_the_help_run(process, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    help_of_compose = process("compose", "--help").stdout.splitlines()
    start = next(k for k, line in enumerate(help_of_compose) if "epsilon = " in line)
    end = next(k for k, line in enumerate(help_of_compose) if "attribute = " in line)
    (tmp_path / "composition.toml").write_text("\n".join(help_of_compose[start : end + 1]), encoding="utf-8")
    ran = 0
    plots = [("plot", kind) for kind in ("curve", "trade-off", "size", "known")]
    for command in (("delta",), ("epsilon",), ("compose",), ("reproduce",), ("plot",), *plots):
        for line in run(*command, "--help").stdout.splitlines():
            words = line.split()
            if words[: len(command) + 1] == ["statpriv", *command] and "report.json" not in words:
                assert run(*words[1:], *(["--force"] if "--out" in words else [])).exit_code == 0, line
                ran += 1
    assert ran == 21


def test_version(process):
    import statpriv

    assert process("--version").stdout == f"statpriv {statpriv.__version__}\n"


def test_pipes_get_no_escape_sequences(process):
    for arguments in (DELTA, ("reproduce", "table2"), ("--help",), ("delta", "--n", "0")):
        result = process(*arguments)
        assert "\x1b" not in result.stdout + result.stderr


@pytest.mark.parametrize(
    "arguments", [DELTA, ("reproduce", "table2"), ("delta", "--help"), ("--help",), (), ("compose", "δ…漢.toml")]
)
def test_a_terminal_that_knows_ascii_only(process, arguments):
    result = process(*arguments, PYTHONIOENCODING="ascii")
    assert "Traceback" not in result.stderr
    assert (result.stdout + result.stderr).isascii()
    assert result.returncode == (2 if "compose" in arguments else 0)


def test_greek_is_spelled_out_in_ascii(process):
    result = process(*DELTA, PYTHONIOENCODING="ascii")
    assert result.stdout.startswith("delta is at most 0.0225738 at epsilon = 0.005\n")
    assert process("reproduce", "table2", PYTHONIOENCODING="ascii").stdout.count(" = ") > 27


def test_the_locale_c(process):
    environment = {"LC_ALL": "C", "PYTHONIOENCODING": "", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    result = process(*DELTA, **environment)
    assert result.returncode == 0
    assert "at most 0.0225738" in result.stdout


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_interruption_is_quiet():
    with subprocess.Popen(
        [sys.executable, "-m", "statpriv", *LONG],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background job ignores SIGINT, and so would its children: Python installs no handler then.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as running:
        time.sleep(3)  # the computation takes 80 s; starting takes 0.1
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert out == ""
    assert err.strip() == "Interrupted."


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [DELTA, (*DELTA, "--json"), ("reproduce", "table1")])
def test_a_full_disk_is_no_defect(arguments):
    command = [sys.executable, "-m", "statpriv", *arguments]
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr == (
        "Error: standard output cannot be written (No space left on device). Files that the command wrote are whole.\n"
    )


def test_a_closed_pipe_is_quiet():
    reading, writing = os.pipe()
    os.close(reading)
    result = subprocess.run(
        [sys.executable, "-m", "statpriv", "reproduce", "table2"],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert result.stderr == ""
    assert result.returncode == 1


DEFECT = """
import sys
from statpriv.cli import main
from statpriv.cli.single_count import SingleCount
def curve(self):
    raise RuntimeError("a cell of the table")
SingleCount.curve = curve
sys.argv = ["statpriv", *{arguments!r}]
main()
"""


def test_a_defect_quotes_nothing_and_asks_for_a_report():
    result = subprocess.run(
        [sys.executable, "-c", DEFECT.format(arguments=DELTA)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert result.stderr.startswith("Error: a defect of statpriv (RuntimeError). Please report it")
    assert "cell" not in result.stderr
    assert result.stderr.count("\n") == 1


def test_debug_shows_a_defect_and_marks_it():
    result = subprocess.run(
        [sys.executable, "-c", DEFECT.format(arguments=[*DELTA, "--debug"])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert result.stderr.startswith(f"{MARK}Traceback")
    assert "RuntimeError: a cell of the table" in result.stderr


def loaded(statement, *names):
    code = f"{statement}\nimport sys\nprint(*(name for name in {names!r} if name in sys.modules))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split("\n")[
        -2
    ]


def test_the_library_does_not_load_the_command_line():
    assert loaded("import statpriv", "click", "rich_click", "rich", "statpriv.cli") == ""


def test_help_does_not_load_the_library():
    statement = (
        "from statpriv.cli import command_line\ntry:\n    command_line(['--help'])\nexcept SystemExit:\n    pass"
    )
    assert loaded(statement, "statpriv._native", "numpy", "mpmath", "pydantic", "duckdb", "sqlglot") == ""


ERRORS = [
    ("ArgumentError", 2),
    ("PlanError", 2),
    ("TableError", 2),
    ("LedgerError", 2),
    ("PublicationError", 2),
    ("MissingExtraError", 2),
    ("PrecisionError", 2),
    ("UndecidedError", 2),
    ("GuaranteeNotReachedError", 3),
]


@pytest.mark.parametrize(("name", "code"), ERRORS)
def test_every_error_has_its_exit_code(run, monkeypatch, name, code):
    from statpriv import errors
    from statpriv.cli.single_count import SingleCount

    def refuse(_count):
        raise getattr(errors, name)("said\x1b[31m so")

    monkeypatch.setattr(SingleCount, "curve", refuse)
    result = run(*DELTA)
    assert result.exit_code == code
    assert result.stderr == "Error: said\\x1b[31m so\n"
