"""The command line.

Exit codes, the same for every command:

===  ====================================================================================
0    done; where the command answers a question, the answer is yes
1    the answer is no: a table does not come out, a report disagrees; or a defect of statpriv, or output that
     cannot be written: a closed pipe, a full disk
2    the command, a plan, a file or the data are refused, or the number cannot be enclosed
3    a guarantee does not reach its target
4    some claims are neither proved nor refuted
5    a release failed after its rows were spent
6    released, but a published count contradicts its declared range: the certified δ does not apply
130  interrupted
===  ====================================================================================

A mistake is one readable sentence on standard error, and with `--json` also an object on standard output, with the keys
`schema`, `version` and `error`; `--debug` shows where it was noticed, marked as containing data.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
import warnings
from functools import partial
from importlib import import_module
from types import TracebackType
from typing import Any

import rich_click as click

from statpriv import __version__
from statpriv.cli.options import debug_option, examples
from statpriv.cli.plain_text import never_fail, printable
from statpriv.errors import GuaranteeNotReachedError, RowsSpentError, StatprivError

__all__ = ["EXIT_CODES", "REFUSED", "command_line", "main"]

REFUSED = 2
"""The exit code where nothing more special is said."""
_UNWRITTEN, _INTERRUPTED = 1, 130
_CONTAINS_DATA = "Contains data, where a table was read: what follows is for this terminal alone.\n"
_FILES = "Files that the command wrote are whole."
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
EXIT_CODES: dict[type[Exception], int] = {GuaranteeNotReachedError: 3, RowsSpentError: 5}
"""Those of errors that scripts have to tell apart."""

# The module that holds the command of that name; loaded when it is used.
_COMMANDS = {
    "delta": "statpriv.cli.delta",
    "epsilon": "statpriv.cli.epsilon",
    "compose": "statpriv.cli.compose",
    "design": "statpriv.cli.design",
    "assess": "statpriv.cli.assess",
    "plot": "statpriv.cli.plot",
    "reproduce": "statpriv.cli.reproduce",
    "init": "statpriv.cli.init",
    "release": "statpriv.cli.release",
    "ledger": "statpriv.cli.ledger",
    "report": "statpriv.cli.report",
    "verify": "statpriv.cli.verify",
    "attack": "statpriv.cli.attack",
    "studio": "statpriv.cli.studio",
}


class _CommandLine(click.RichGroup):
    """A group that loads its commands late, and gives each error its sentence and its exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _COMMANDS and cmd_name not in self.commands:
            self.add_command(getattr(import_module(_COMMANDS[cmd_name]), cmd_name))
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Add to the refusal of a command that there is not the one that is written most like it."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from statpriv.numeric.calls import closest

            if (meant := closest(args[0], _COMMANDS)) is None:
                raise
            raise click.UsageError(f"{error.message} Did you mean {meant}?", ctx) from None

    def main(self, *args: Any, **extra: Any) -> Any:  # noqa: ANN401  (click's signature)
        """Run a command and end the process, with a sentence instead of a traceback for what is refused."""
        settings: dict[str, bool] = extra.setdefault("obj", {})
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
            sys.stdout.flush()
            sys.exit(code)
        except click.Abort:
            sys.stderr.write("Interrupted.\n")
            sys.exit(_INTERRUPTED)
        except (click.ClickException, StatprivError) as error:
            if settings.get("debug"):
                sys.stderr.write(_CONTAINS_DATA)
                traceback.print_exception(error)
            code = EXIT_CODES.get(type(error), REFUSED)
            if settings.get("json"):
                sys.stdout.write(_as_json(error, code))
            sys.stderr.write(f"Error: {printable(_sentence(error))}\n")
            sys.exit(code)
        except OSError as error:
            if (
                error.errno not in _NO_ROOM or error.filename is not None
            ):  # what is opened has a name, a stream has none
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left in its buffer goes nowhere
            sys.stderr.write(f"Error: standard output cannot be written ({error.strerror}). {_FILES}\n")
            sys.exit(_UNWRITTEN)


def _as_json(error: click.ClickException | StatprivError, code: int) -> str:
    """A refusal as JSON, for programs that asked for it; the sentence is on standard error as well."""
    about = {"kind": type(error).__name__, "message": _sentence(error), "exit_code": code}
    return json.dumps({"schema": "statpriv.error", "version": 1, "error": about}, indent=2) + "\n"


def _sentence(error: click.ClickException | StatprivError) -> str:
    if not isinstance(error, click.ClickException):
        return str(error)
    help_at = f" (try: {error.ctx.command_path} --help)" if isinstance(error, click.UsageError) and error.ctx else ""
    return error.format_message() + help_at


@click.group(cls=_CommandLine, invoke_without_command=True)
@click.rich_config({"text_paragraph_linebreaks": "\n\n"})
@click.version_option(__version__, message="%(prog)s %(version)s")
@debug_option
@click.pass_context
@examples(
    "statpriv delta --n 1024 --p 1/2 --epsilon 0.005",
    "statpriv compose composition.toml",
    "statpriv reproduce table1",
)
def command_line(context: click.Context) -> None:
    """How private are exact counts already? Certified answers.

    Numbers are exact: 0.1 and 1/10 are one tenth. What is printed is a theorem, at its safe end.
    """
    if context.invoked_subcommand is None:
        sys.stdout.write(f"{context.get_help()}\n")


def main() -> None:
    """Run the command line in this process, and end it."""
    settings: dict[str, bool] = {}
    sys.excepthook = partial(_defect, settings)
    warnings.showwarning = _show_warning
    for stream in (sys.stdout, sys.stderr):
        never_fail(stream)
    command_line.main(prog_name="statpriv", obj=settings)


def _show_warning(message: Warning | str, *_where: object, **_also: object) -> None:
    """A warning is a sentence of this program on standard error, without the place in the code that noticed it."""
    sys.stderr.write(f"Warning: {printable(str(message))}\n")


def _defect(
    settings: dict[str, bool],
    kind: type[BaseException],
    error: BaseException,
    where: TracebackType | None,
) -> None:
    """Report what no command expects. Its message may quote data: only `--debug` shows it."""
    if settings.get("debug"):
        sys.stderr.write(_CONTAINS_DATA)
        sys.__excepthook__(kind, error, where)
    elif not issubclass(kind, KeyboardInterrupt):
        sys.stderr.write(
            f"Error: a defect of statpriv ({kind.__name__}). Please report it, with what the same command "
            "shows with --debug (read it first: it may quote your data).\n"
        )
