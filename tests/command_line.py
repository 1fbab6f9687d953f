"""The command of a user, run in this process: what one command has computed, the next one need not."""

from click.testing import CliRunner, Result

from statpriv.cli import command_line


def in_this_process(*arguments: object) -> Result:
    """What it printed and its exit code; an exception that no command expects fails the test."""
    result = CliRunner().invoke(command_line, [str(argument) for argument in arguments], prog_name="statpriv")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
