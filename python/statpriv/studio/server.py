"""The server of the studio: one port of the loopback interface."""

from __future__ import annotations

import socket
import sys
import webbrowser
from pathlib import Path

import uvicorn

from statpriv.errors import ArgumentError
from statpriv.numeric.waiting import shown_elsewhere
from statpriv.studio.access import Access
from statpriv.studio.application import application
from statpriv.studio.folder import Folder

__all__ = ["serve"]


def serve(folder: Folder, *, port: int, registry: Path | None, open_browser: bool, debug: bool = False) -> None:
    """Print the address in one line, and serve until interrupted.

    Parameters
    ----------
    folder : Folder
        Whose tables and plans the studio works on.
    port : int
        The port; 0 is any free one.
    registry : path, optional
        The registry of the ledger.
    open_browser : bool
        Whether to open the address.
    debug : bool, default False
        Whether the traceback of a defect is printed, which may quote data.

    Raises
    ------
    ArgumentError
        If the port is taken.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen()  # whoever reads the address may connect at once
    except OSError as error:
        listening.close()
        raise ArgumentError(f"port = {port} cannot be used ({error.strerror}); choose another, or 0 for any") from None
    access = Access(listening.getsockname()[1])
    # Requests are not logged: the first one holds the token.
    level = "warning" if debug else "critical"
    settings = uvicorn.Config(application(access, folder, registry), log_level=level, access_log=False)
    sys.stdout.write(f"{access.url}\n")
    sys.stdout.flush()
    if open_browser:
        webbrowser.open(access.url)
    with shown_elsewhere():  # in the pages
        uvicorn.Server(settings).run(sockets=[listening])
