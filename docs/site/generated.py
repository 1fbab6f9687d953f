"""Pages of the site that the package itself writes: its public names, its commands and its schemas.

MkDocs calls :func:`on_files` while it builds. What they write is in no folder, so nothing can be out of date.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files as resources
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import statpriv
from statpriv import errors
from statpriv.cli import EXIT_CODES, REFUSED, command_line

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

_ROOT = Path(__file__).parents[2]
_OPTIONS = """    options:
      show_root_heading: true
      heading_level: 3
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    from mkdocs.structure.files import File

    pages = {
        **dict(_pages_of_names()),
        "reference/command-line.md": _commands(),
        "reference/schemas.md": _schemas(),
        "reference/errors.md": _errors(),
        "gallery.md": gallery(),
        "changelog.md": _changelog(),
    }
    for place, content in {**pages, **_pictures()}.items():
        files.append(File.generated(config, place, content=content))
    return files


def groups() -> dict[str, tuple[str, ...]]:
    """The public names in the groups of `help(statpriv)`."""
    found: dict[str, list[str]] = {}
    title = ""
    for line in (statpriv.__doc__ or "").partition("\n\nQuestions")[2].join(["Questions", ""]).splitlines():
        if line.startswith(">>>"):
            break
        if line and not line.startswith(" "):
            title = line
        elif title:
            public = [name for name in re.findall(r"\w+", line) if name in statpriv.__all__]
            found.setdefault(title, []).extend(public)
    return {title: tuple(names) for title, names in found.items()}


def _pages_of_names() -> Iterator[tuple[str, str]]:
    for title, names in groups().items():
        shown = dict.fromkeys(map(_home, names))
        blocks = "\n".join(f"::: {home}\n{_OPTIONS}" for home in shown)
        yield f"reference/api/{_slug(title)}.md", f"# {title}\n\nAll are names of `statpriv`.\n\n{blocks}"


def _home(name: str) -> str:
    found = getattr(statpriv, name)
    return str(found.__name__) if inspect.ismodule(found) else f"{found.__module__}.{found.__qualname__}"


def _slug(title: str) -> str:
    return re.sub(r"[^a-z]+", "-", title.lower()).strip("-")


def _commands() -> str:
    """The help of every command, as a terminal without colours shows it."""
    lines = ["# Commands", "", "What `--help` says, command by command.", ""]
    for path in _paths_of(command_line):
        told = subprocess.run(  # noqa: S603  (this package)
            [sys.executable, "-m", "statpriv", *path, "--help"],
            capture_output=True,
            text=True,
            check=True,
            env={"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
        )
        lines += [f"## {' '.join(['statpriv', *path])}", "", "```text", told.stdout.strip("\n"), "```", ""]
    return "\n".join(lines)


def _paths_of(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:  # noqa: ANN401  (click's classes)
    import click

    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from _paths_of(inner, (*path, name))


def _schemas() -> str:
    """The published JSON schemas of files."""
    lines = ["# Schemas of files", "", "Each is in the package, and here in full.", ""]
    folder = resources("statpriv")
    published = sorted(Path(str(folder)).rglob("*.schema.json"))
    for path in published:
        schema = json.loads(path.read_text(encoding="utf-8"))
        title = schema.get("title", path.name)
        lines += [f"## {title}", "", f"`statpriv/{path.relative_to(str(folder)).as_posix()}`", ""]
        lines += ['??? note "The schema"', "", "    ```json"]
        lines += [f"    {line}" for line in json.dumps(schema, indent=1, ensure_ascii=False).splitlines()]
        lines += ["    ```", ""]
    return "\n".join(lines)


# --- errors


_WHAT_TO_DO = {
    "ArgumentError": "Write the value as the message shows it.",
    "NotAvailableError": "Take the nearest combination, which the message names, or another `bound=`.",
    "PrecisionError": "Ask for fewer digits, round values to a coarser lattice, or make the sizes smaller.",
    "UndecidedError": "Ask for more digits: `digits=30`.",
    "CallError": "Copy the call from the message.",
    "NotASingleNumberError": "Take `.upper` of δ and ε, `.lower` of a type II error.",
    "MissingExtraError": "Install the extra that the message names.",
    "PlanError": "Mend every key that is listed; nothing was read and nothing was spent.",
    "TableError": "Compare its columns with the plan; `--debug` shows the engine's message, which may quote data.",
    "LedgerError": "Look at `statpriv ledger show`: rows that answered once answer no more.",
    "PublicationError": "Choose another name for the report, or say `--force`.",
    "BudgetExceededError": "Ask less, or of fewer rows: the message says how much is left.",
    "GuaranteeNotReachedError": "Take what the message names: sizes, ε or ranges. Nothing was spent.",
    "RowsSpentError": "The rows stay spent. `statpriv ledger show` tells which; release from the rest.",
    "DisagreementError": "A defect of statpriv: report it, please.",
}


def _errors() -> str:
    """Every error with what it means, and what the library answers to what people write first."""
    lines = [
        "# Errors, and what to do",
        "",
        "Every error is a `statpriv.StatprivError`, and also the error of Python that a caller would expect. A command "
        "ends with the exit code and the message on the standard error; `--json` prints an object ([JSON of "
        "commands](json-output.md)).",
        "",
        "| error | also | exit code | what it means | what to do |",
        "|---|---|---|---|---|",
    ]
    for name, remedy in _WHAT_TO_DO.items():
        error = getattr(errors, name)
        builtin = next(base.__name__ for base in error.__mro__ if base.__module__ == "builtins")
        meaning = " ".join((error.__doc__ or "").split())
        also = "" if builtin == "Exception" else f"`{builtin}`"
        lines.append(f"| `{name}` | {also} | {EXIT_CODES.get(error, REFUSED)} | {meaning} | {remedy} |")
    mistakes = _beside("mistakes")
    lines += [
        "",
        "## What people write first",
        "",
        "Here `CURVE` is a privacy curve, `HALF` a query and `HUNDRED` a population.",
        "",
    ]
    for title, codes in (
        ("Calls that do not fit", mistakes.CALLS),
        ("Names that others have", mistakes.NAMES),
        ("Values that are written otherwise", mistakes.VALUES),
    ):
        lines += [f"### {title}", "", "```text"]
        for code in codes:
            lines += [code, *(f"    {line}" for line in mistakes.message(code).splitlines()), ""]
        lines += ["```", ""]
    return "\n".join(lines)


def _beside(name: str) -> Any:  # noqa: ANN401  (a module of this folder, which is no package)
    spec = spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- the gallery


FIGURES = {
    "curve": ("δ against ε, with a hundred known entries", "plot curve --n 1024 --p 1/2 --known 100"),
    "trade-off": ("What tests can reach: type I against type II errors", "plot trade-off --n 30 --p 0.1"),
    "size": ("δ against the number of entries", "plot size --p 1/2 --p 0.1 --p 0.01 --epsilon 0.05"),
    "known": (
        "δ against the number of entries that a reader knows",
        "plot known --n 1024 --p 1/2 --epsilon 0.01 --epsilon 0.1",
    ),
    "noise": (
        "Noise on top: what the data and what the noise protects",
        "plot known --n 40 --p 1/2 --epsilon 0.1 --noise-alpha 0.9",
    ),
    "minimum-counts": ("What a minimum cell count is worth, for every distribution", "reproduce minimum-counts"),
    "figure-3.5": ("A figure of *Parallel Composition for Statistical Privacy*", "reproduce figure-3.5"),
    "delta-n": ("Another one: δ against the size of the database", "reproduce figure-delta-n"),
}
"""What the gallery shows: a title, and the command that draws it."""


def gallery() -> str:
    """Figures, each with the command that draws it."""
    lines = [
        "# Gallery",
        "",
        "Every figure was drawn by its command when this site was built. "
        "[Draw the figures](how-to/draw-the-figures.md) has more.",
        "",
    ]
    for name, (title, command) in FIGURES.items():
        lines += [
            f"## {title}",
            "",
            f"![{title}](gallery/{name}.svg)",
            "",
            "```text",
            f"statpriv {command} --out {name}.svg",
            "```",
            "",
        ]
    return "\n".join(lines)


def _pictures() -> dict[str, bytes]:
    with TemporaryDirectory() as folder:
        return {
            f"gallery/{name}.svg": _drawn(command, Path(folder, f"{name}.svg"))
            for name, (_, command) in FIGURES.items()
        }


def _drawn(command: str, path: Path) -> bytes:
    words = [sys.executable, "-m", "statpriv", *command.split(), "--out", str(path)]
    subprocess.run(words, check=True, capture_output=True)  # noqa: S603  (this package)
    return path.read_bytes()


def _changelog() -> str:
    return (_ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
