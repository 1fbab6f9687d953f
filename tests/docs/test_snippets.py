"""What README and docs show runs, and prints what they say it prints.

Every fenced ``python`` block runs, in one namespace a file: as a doctest where it has ``>>>``. Every ``statpriv``
command of a ``sh`` or ``console`` block runs, in one directory a file that has a copy of ``examples/``. Other commands
(git, make, pip, cargo) are not run. Two words after the language say more:

``expect=3``
    the commands of this block end with exit code 3;
``after=release``
    they need a report: the example is released first.

The commands of the pages in `LONG` run in a campaign: they draw many figures, in half a minute. So does the Python of
those in `LONG_IN_PYTHON`, some seconds each.
"""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..command_line import in_this_process

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```[ ]*$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^print\((?P<shown>.*)\)\s+# (?P<value>True|False|\d[\d.e-]*)(?P<cut>…?)", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?://|mailto:|#)(?P<target>[^)#\s]+)")
SHELL = re.compile(r"[|<>$&;*?`]")
RELEASE = "statpriv release examples/election.toml --registry registry --out report.html --json report.json"

LONG = ("convince-the-ethics-board.md", "draw-the-figures.md")
LONG_IN_PYTHON = (
    "ask-several-questions-of-the-same-people.md",
    "attack-a-mechanism.md",
    "work-with-differential-privacy.md",
    "noiseless.md",
    "perturbed-counts.md",
)


def pages_but(in_a_campaign: tuple[str, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "page",
        [
            pytest.param(page, marks=[pytest.mark.campaign] if page.name in in_a_campaign else [])
            for page in PAGES
            if page.exists()
        ],
        ids=lambda page: page.name,
    )


@dataclass(frozen=True)
class Block:
    """A fenced block: language, options, text, and the line it starts at."""

    language: str
    options: dict[str, str]
    text: str
    line: int


def blocks(page: Path, *languages: str) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        language, *words = found["info"].split() or [""]
        if language in languages:
            body = re.sub(rf"^{found['indent']}", "", found["body"], flags=re.MULTILINE)
            options = dict(word.split("=", 1) for word in words)
            yield Block(language, options, body, text.count("\n", 0, found.start()) + 2)


def commands(block: Block) -> Iterator[str]:
    """The statpriv commands of a block; in a console block they stand after a `$`, the rest is output."""
    for line in block.text.replace("\\\n", " ").splitlines():
        if block.language == "console" and not line.startswith("$ "):
            continue
        command = line.removeprefix("$ ").strip()
        if command.split(maxsplit=1)[:1] == ["statpriv"]:
            yield command


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A directory with a copy of the examples, as a clone has them, and no ledger of this user's."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STATPRIV_REGISTRY", str(tmp_path / "registry of this test"))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    return tmp_path


def run(command: str, expected: int, place: str) -> None:
    """Run what a reader would type: in this process, or by a shell where the line needs one."""
    if SHELL.search(command):
        code, printed = in_a_shell(command)
    else:
        done = in_this_process(*shlex.split(command)[1:])
        code, printed = done.exit_code, done.output
    told = f"{place}: `{command}` ended with {code} instead of {expected}\n{printed}"
    assert code == expected, told
    assert "Traceback" not in printed, told


def in_a_shell(command: str) -> tuple[int, str]:
    """With `statpriv` as the package under test."""
    statpriv = f'statpriv() {{ {shlex.quote(sys.executable)} -m statpriv "$@"; }}'
    done = subprocess.run(
        ["sh", "-c", f"{statpriv}\n{command}"],
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pages_but(LONG_IN_PYTHON)
@pytest.mark.usefixtures("computed_once")
def test_python_runs(page, workplace):
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page, "python", "pycon"):
        place = f"{page.relative_to(ROOT)}:{block.line}"
        if ">>>" in block.text:
            example = doctest.DocTestParser().get_doctest(block.text, namespace, place, str(page), block.line)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
            runner.run(example, clear_globs=False)
            namespace |= example.globs
            assert runner.summarize(verbose=False).failed == 0
            continue
        # As many empty lines before it as there are in the page, so that a traceback names the right one.
        exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), namespace)  # noqa: S102  (our own docs)
        for line in SHOWN.finditer(block.text):
            value = str(eval(line["shown"], namespace))  # noqa: S307  (our own docs)
            told = f"{place}: {line['shown']} is {value}, not {line['value']}"
            assert value.startswith(line["value"]) if line["cut"] else value == line["value"], told


@pages_but(LONG)
@pytest.mark.skipif(os.name != "posix", reason="the commands are written for a POSIX shell")
@pytest.mark.usefixtures("computed_once")
def test_commands_run(page, workplace):
    for block in blocks(page, "sh", "bash", "shell", "console"):
        unknown = block.options.keys() - {"expect", "after"}
        assert not unknown, f"{page.name}:{block.line}: unknown words {unknown}"
        if block.options.get("after") == "release" and not (workplace / "report.json").exists():
            run(RELEASE, 0, f"{page.name}:{block.line} (before it)")
        for command in commands(block):
            run(command, int(block.options.get("expect", 0)), f"{page.relative_to(ROOT)}:{block.line}")


def test_the_long_pages_are_there():
    assert {*LONG, *LONG_IN_PYTHON} <= {page.name for page in PAGES}


@pages_but(())
def test_relative_links_lead_somewhere(page):
    missing = [
        link["target"]
        for link in LINK.finditer(page.read_text(encoding="utf-8"))
        if not (page.parent / link["target"]).exists()
    ]
    assert not missing


def test_the_readme_shows_both_languages():
    """If the fences were not recognised any more, the tests above would pass with nothing run."""
    readme = ROOT / "README.md"
    assert any(blocks(readme, "python"))
    assert any(command for block in blocks(readme, "sh", "console") for command in commands(block))
    assert "make demo" in readme.read_text(encoding="utf-8").split("## ")[0]


def test_the_runner_itself(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "Text\n\n```sh expect=3\nstatpriv delta --n 3 \\\n  --p 1/2\nmake demo\n```\n\n"
        "```console\n$ statpriv --version\nstatpriv 0\n```\n- item\n  ```python\n  if True:\n      x = 1\n  ```\n"
    )
    shell, console = blocks(page, "sh", "console")
    assert (shell.options, shell.line) == ({"expect": "3"}, 4)
    assert [command.split() for command in commands(shell)] == [["statpriv", "delta", "--n", "3", "--p", "1/2"]]
    assert list(commands(console)) == ["statpriv --version"]
    (python,) = blocks(page, "python")
    assert python.text == "if True:\n    x = 1\n"
    with pytest.raises(AssertionError, match="instead of 3"):
        run("true", 3, "here")
