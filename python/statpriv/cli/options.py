"""Options that commands share, and the exact numbers they take."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import rich_click as click

from statpriv import budget
from statpriv.errors import ArgumentError

_Command = TypeVar("_Command", bound=Callable[..., Any])


def exact(_context: click.Context, option: click.Parameter, text: str) -> Fraction:
    """A number that is exactly what is written: `0.1`, `1e-6`, `1/3`."""
    from statpriv.numeric.exact import as_fraction

    return as_fraction(text, option.opts[0])


def exact_range(_context: click.Context, option: click.Parameter, text: str) -> tuple[Fraction, Fraction]:
    """A probability or a range of them: `1/2`, `0.4..0.6`."""
    from statpriv.numeric.exact import as_probability

    low, dots, high = text.partition("..")
    ends = as_probability(low, option.opts[0]), as_probability(high if dots else low, option.opts[0])
    if ends[0] > ends[1]:
        raise ArgumentError(f"{option.opts[0]} = {text}; a range low..high with low <= high is required")
    return ends


def each_option(command: _Command) -> _Command:
    """Give a command `--each`, as the argument `each`."""
    return click.option(
        "--each", is_flag=True, help="Every entry has a probability of its own in the range; without it, all share one."
    )(command)


def count_from(least: int) -> Callable[[click.Context, click.Parameter, str | None], int | None]:
    """A whole number from `least` to 2^53, if one is given."""

    def count(_context: click.Context, option: click.Parameter, text: str | None) -> int | None:
        from statpriv.numeric.exact import as_count

        try:
            return None if text is None else as_count(text, option.opts[0], least=least)
        except ArgumentError as error:
            raise ArgumentError(
                f"{option.opts[0]} = {text}; a whole number from {least} to 2^53 is required"
            ) from error

    return count


def debug_option(command: _Command) -> _Command:
    """Give a command `--debug`, which the context remembers."""

    def remember(context: click.Context, _option: click.Parameter, asked: bool) -> None:  # noqa: FBT001  (click's signature)
        if asked:
            context.ensure_object(dict)["debug"] = True

    return click.option(
        "--debug",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=remember,
        help="Show the traceback of an error; it may quote data.",
    )(command)


def digits_option(command: _Command) -> _Command:
    """Give a command `--digits`, as the argument `digits`: None stands for doubles."""

    def read(_context: click.Context, option: click.Parameter, text: str | None) -> int | None:
        if text is not None and not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= budget.MAX_DIGITS):
            raise ArgumentError(f"{option.opts[0]} = {text}; an integer from 1 to {budget.MAX_DIGITS} is required")
        return None if text is None else int(text)

    return click.option(
        "--digits", callback=read, metavar="N", help="So many correct decimal digits; about 15 by default."
    )(command)


def json_option(command: _Command) -> _Command:
    """Give a command `--json`, as the argument `as_json`; the context remembers it for errors."""

    def remember(context: click.Context, _option: click.Parameter, asked: bool) -> bool:  # noqa: FBT001  (click's signature)
        if asked:
            context.ensure_object(dict)["json"] = True
        return asked

    return click.option(
        "--json", "as_json", is_flag=True, is_eager=True, callback=remember, help="Print JSON instead of text."
    )(command)


def examples(*lines: str) -> Callable[[_Command], _Command]:
    """End the help of a command with lines that are shown as they stand; an empty one parts them."""

    def append(command: _Command) -> _Command:
        # click keeps the line ends of a paragraph that starts with a backspace and has no empty line.
        paragraph = "\n  ".join(["\b\nExamples", *lines])
        command.__doc__ = f"{inspect.cleandoc(command.__doc__ or '')}\n\n{paragraph}"
        return command

    return append
