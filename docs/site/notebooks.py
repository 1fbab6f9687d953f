"""The notebooks of the documentation as pages of the site, executed while it is built.

MkDocs calls `on_files`. No output is kept with a notebook, so a page shows what today's package says.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

FOLDER = Path(__file__).parents[1] / "notebooks"
_SECONDS_A_CELL = 300


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each notebook, and the pictures that it draws."""
    from mkdocs.structure.files import File

    for notebook in sorted(FOLDER.glob("*.ipynb")):
        page, pictures = executed(notebook)
        files.append(File.generated(config, f"notebooks/{notebook.stem}.md", content=page))
        for name, picture in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=picture))
    return files


def executed(notebook: Path) -> tuple[str, dict[str, bytes]]:
    """The page of a notebook in Markdown, and its pictures by the names that the page has for them."""
    import nbformat
    from nbconvert.exporters import MarkdownExporter
    from nbconvert.preprocessors import ExecutePreprocessor

    content = nbformat.read(notebook, as_version=4)
    with TemporaryDirectory() as folder:
        # A kernel warns that its port is not encrypted: a port of this machine, with nothing that is not on the page.
        quiet = ["--log-level=ERROR"]
        executing = ExecutePreprocessor(timeout=_SECONDS_A_CELL, extra_arguments=quiet)
        executing.preprocess(content, {"metadata": {"path": folder}})
    page, resources = MarkdownExporter().from_notebook_node(content, {"unique_key": notebook.stem})
    title, _, rest = page.partition("\n")
    own = f"[This page as a notebook]({notebook.name}): it was executed when the site was built."
    return "\n".join([title, "", own, rest.replace(".ipynb)", ".md)")]), resources["outputs"]
