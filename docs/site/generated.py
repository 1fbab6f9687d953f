"""Pages of the site that the package itself writes: its public names, its commands and its schemas.

MkDocs calls the two functions while it builds. What they write is in no folder, so nothing can be out of date.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import statpriv
from statpriv.cli import command_line

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

_ROOT = Path(__file__).parents[2]
_ROLE = re.compile(r":(?:class|func|meth|mod|data|attr):(<code>)")
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
        "changelog.md": _changelog(),
    }
    for place, text in pages.items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_content(html: str, **_: Any) -> str:  # noqa: ANN401  (what MkDocs passes)
    """Drop the marks of Sphinx from docstrings: `:class:` before a name says nothing here."""
    return _ROLE.sub(r"\1", html)


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


def _changelog() -> str:
    return (_ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
