"""`statpriv studio`: the local web application."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from statpriv.cli.options import debug_option, examples
from statpriv.errors import MissingExtraError


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port; 0, the default, is any free one.")
@click.option("--no-browser", is_flag=True, help="Print the address and open no browser.")
@click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="The folder of tables and plans, and the only one that is read or written; by default this one.",
)
@click.option(
    "--database",
    help="The address of a PostgreSQL database, without a password, whose tables may be released too.",
)
@click.option("--registry", type=click.Path(path_type=Path), help="The registry of the ledger.")
@debug_option
@click.pass_context
@examples(
    "statpriv studio",
    "statpriv studio --folder survey --no-browser",
    "statpriv studio --database postgresql://curator@db.example.org/health",
)
def studio(
    context: click.Context,
    *,
    port: int,
    no_browser: bool,
    folder: Path,
    database: str | None,
    registry: Path | None,
) -> None:
    """Explore curves, write plans, release, assess and check, in a browser on this machine.

    Prints one line with the address. It serves this machine alone, and whoever has the address; Ctrl-C ends it.
    """
    try:
        from statpriv.studio.folder import Folder
        from statpriv.studio.server import serve
    except ImportError as missing:
        raise MissingExtraError(f"the studio needs {missing.name}: pip install 'statpriv[studio]'") from None
    debug = bool(context.ensure_object(dict).get("debug"))
    serve(Folder(folder.absolute(), database), port=port, registry=registry, open_browser=not no_browser, debug=debug)
