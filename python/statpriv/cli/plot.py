"""`statpriv plot`: the pictures of one exact count, and their data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import rich_click as click

from statpriv import budget
from statpriv.cli.options import count_from, debug_option, each_option, exact, exact_range, examples
from statpriv.cli.output import ends, screen, writable, write_whole
from statpriv.cli.plain_text import printable
from statpriv.cli.progress import progress_on_terminal
from statpriv.cli.single_count import SingleCount, single_count_options
from statpriv.errors import ArgumentError

if TYPE_CHECKING:
    from statpriv.model.queries.property import PropertyQuery
    from statpriv.plotting import Line, Picture

_FORMATS = {".svg": "svg", ".png": "png", ".pdf": "pdf"}
_Computed: TypeAlias = "tuple[Picture, Mapping[str, object]]"
"""A picture, and what was asked for it."""


@dataclass(frozen=True)
class Files:
    """Where a picture and its data go; either may be left out."""

    out: Path | None
    data: Path | None = None
    force: bool = False

    def check(self) -> None:
        """Refuse what cannot be drawn or written, before anything is computed."""
        if self.out is not None:
            from statpriv.plotting import require_matplotlib

            if self.out.suffix.lower() not in _FORMATS:
                raise ArgumentError(f"--out = {self.out}; a name that ends in .svg, .png or .pdf is required")
            if self.out == self.data:
                raise ArgumentError(f"--out and --json are both {self.out}; two names are required")
            require_matplotlib()
            writable(self.out, "--out", force=self.force)
        if self.data is not None:
            writable(self.data, "--json", force=self.force)

    def write(self, picture: Picture, inputs: Mapping[str, object]) -> Iterator[str]:
        """Write the picture and its data, each whole or not at all; a line about each."""
        yield from self.draw(picture)
        if self.data is not None:
            text = json.dumps({**as_document(picture), "inputs": inputs}, indent=2, allow_nan=False)
            write_whole(self.data, f"{text}\n".encode(), "--json")
            yield f"Data: {self.data}"

    def draw(self, *pictures: Picture) -> Iterator[str]:
        """Write the pictures, side by side if they are several, whole or not at all; a line about the file."""
        if self.out is not None and pictures:
            from statpriv.plotting import render

            write_whole(self.out, render(pictures, _FORMATS[self.out.suffix.lower()]), "--out")
            yield f"Figure: {self.out}"


def as_document(picture: Picture) -> dict[str, object]:
    """The data of a picture for JSON: every value with both ends, and what it rests on."""
    return {
        "title": picture.title,
        "across": picture.across,
        "up": picture.up,
        "lines": [_line_document(picture, line) for line in picture.lines],
    }


def _line_document(picture: Picture, line: Line) -> dict[str, object]:
    return {
        "label": line.label,
        "kind": "exact" if line.is_exact else "bound",
        "theorem": " And: ".join(dict.fromkeys(curve.theorem for curve in line.curves)),
        "source": "; ".join(dict.fromkeys(curve.source for curve in line.curves)),
        "assumptions": list(dict.fromkeys(text for curve in line.curves for text in curve.assumptions)),
        "points": [
            {picture.across: place, picture.up: ends(value)}
            for place, value in zip(line.places, line.values, strict=True)
        ],
    }


def _picture_options(command: Callable[..., _Computed]) -> Callable[..., None]:
    """Give a command that computes a picture, and says of what, the options about points and files."""

    @click.option("--points", callback=_points, metavar="COUNT", help="How many values a line has, about.")
    @click.option("--out", type=click.Path(path_type=Path), help="The picture: .svg, .png or .pdf.")
    @click.option("--json", "data", type=click.Path(path_type=Path), help="Its data: certified values, as JSON.")
    @click.option("--force", is_flag=True, help="Replace files that exist.")
    @debug_option
    @wraps(command)
    def described(*, points: int | None, out: Path | None, data: Path | None, force: bool, **others: object) -> None:
        if out is None and data is None:
            raise click.UsageError("--out is missing: name the picture, such as figure.svg, or its data with --json")
        files = Files(out, data, force)
        files.check()
        with progress_on_terminal("values of the picture") as waiting:
            computed = command(points={} if points is None else {"points": points}, **others)
            waiting.begin("drawing")
            lines = list(files.write(*computed))
        for line in lines:
            screen().print(printable(line), soft_wrap=True)

    return described


def _points(context: click.Context, option: click.Parameter, text: str | None) -> int | None:
    points = count_from(2)(context, option, text)
    if points is not None and points > budget.MAX_PLOTTED_POINTS:
        raise ArgumentError(f"{option.opts[0]} = {text}; at most {budget.MAX_PLOTTED_POINTS} points are drawn")
    return points


def _each(read: Callable[..., Any]) -> Callable[[click.Context, click.Parameter, tuple[str, ...]], list[Any]]:
    """Read every value of an option that may be repeated."""
    return lambda context, option, texts: [read(context, option, text) for text in texts]


def _noise_alpha(context: click.Context, option: click.Parameter, text: str | None) -> Fraction | None:
    alpha = None if text is None else exact(context, option, text)
    if alpha is not None and not 0 < alpha < 1:
        raise ArgumentError(f"{option.opts[0]} = {text}; a number above 0 and below 1 is required")
    return alpha


_epsilons = click.option(
    "--epsilon",
    "epsilons",
    callback=_each(exact),
    metavar="NUMBER",
    multiple=True,
    required=True,
    help="ε in nats, at least 0; repeat it for more lines.",
)


@click.group(no_args_is_help=False)
@examples(
    "statpriv plot curve --n 1024 --p 1/2 --out curve.svg",
    "statpriv plot size --p 1/2 --p 0.1 --epsilon 0.05 --out size.pdf",
)
def plot() -> None:
    """Pictures of one exact count, as SVG, PNG or PDF, and their data as JSON.

    What is drawn is certified: the upper end of δ, the lower end of β.
    """


@plot.command("curve")
@single_count_options
@_picture_options
@examples("statpriv plot curve --n 1024 --p 1/2 --known 100 --out curve.svg")
def curve(count: SingleCount, points: dict[str, int]) -> _Computed:
    """δ against ε."""
    from statpriv.plotting import against_epsilon

    return against_epsilon(count.curve(), **points), count.inputs()


@plot.command("trade-off")
@single_count_options
@_picture_options
@examples("statpriv plot trade-off --n 30 --p 0.1 --out trade-off.pdf")
def trade_off(count: SingleCount, points: dict[str, int]) -> _Computed:
    """The type II error of the best test of the critical entry, against its type I error."""
    from statpriv.plotting import trade_off as picture

    return picture(count.curve(), **points), count.inputs()


@plot.command("size")
@click.option(
    "--p",
    "probabilities",
    callback=_each(exact_range),
    metavar="P",
    multiple=True,
    required=True,
    help="Probability: 1/2, 0.4, or a range 0.4..0.6; repeat it for more lines.",
)
@each_option
@_epsilons
@click.option(
    "--from", "first", callback=count_from(1), metavar="COUNT", default="2", show_default=True, help="Least n."
)
@click.option(
    "--to", "last", callback=count_from(1), metavar="COUNT", default="32768", show_default=True, help="Largest n."
)
@click.option("--known", callback=count_from(0), metavar="COUNT", default="0", help="Other entries an adversary knows.")
@_picture_options
@examples(
    "statpriv plot size --p 1/2 --epsilon 0.005 --epsilon 0.02 --out size.svg",
    "statpriv plot size --p 1/2 --p 0.1 --p 0.01 --epsilon 0.05 --out size.svg",
)
def size(
    *,
    probabilities: list[tuple[Fraction, Fraction]],
    each: bool,
    epsilons: list[Fraction],
    first: int,
    last: int,
    known: int,
    points: dict[str, int],
) -> _Computed:
    """δ against the number of entries, one line for each probability and each ε."""
    import statpriv as sp
    from statpriv.plotting import against_size, sizes_between

    if first >= last:
        raise ArgumentError(f"--from = {first} and --to = {last}; --from below --to is required")
    if known >= first:
        raise ArgumentError(f"--known = {known} and --from = {first}; fewer known entries than --from are required")
    inputs = {
        "p": [_spelled(p) for p in probabilities],
        "each": each,
        "epsilon": [str(epsilon) for epsilon in epsilons],
        "from": first,
        "to": last,
        "known": known,
    }
    queries, sizes = [_asked(p, each=each) for p in probabilities], sizes_between(first, last, **points)
    return against_size(queries, sizes, epsilons, adversary=sp.Adversary(known=known)), inputs


@plot.command("known")
@click.option("--n", callback=count_from(2), metavar="COUNT", required=True, help="Entries, the critical one included.")
@click.option(
    "--p", callback=exact_range, metavar="P", required=True, help="Probability: 1/2, 0.4, or a range 0.4..0.6."
)
@each_option
@_epsilons
@click.option("--size", callback=count_from(1), metavar="COUNT", help="Count in a secret sample of this many entries.")
@click.option(
    "--noise-alpha",
    "alpha",
    callback=_noise_alpha,
    metavar="NUMBER",
    help="Add discrete Laplace noise: k with a probability proportional to this number to the power |k|.",
)
@click.option("--bound", metavar="NAME", default="tightest", show_default=True, help="As of statpriv delta.")
@_picture_options
@examples(
    "statpriv plot known --n 1024 --p 1/2 --epsilon 0.1 --out known.svg",
    "statpriv plot known --n 40 --p 1/2 --epsilon 0 --noise-alpha 0.9 --out a.svg",
)
def known(
    *,
    n: int,
    p: tuple[Fraction, Fraction],
    each: bool,
    epsilons: list[Fraction],
    size: int | None,
    alpha: Fraction | None,
    bound: str,
    points: dict[str, int],
) -> _Computed:
    """δ against the number of known entries, one line for each ε.

    With noise the lines flatten at the level of the noise alone.
    """
    import statpriv as sp
    from statpriv.plotting import against_known

    query = _asked(p, each=each)
    noisy = query if alpha is None else query.noisy(sp.noise.DiscreteLaplace(alpha=alpha))
    inputs = {
        "n": n,
        "p": _spelled(p),
        "each": each,
        "epsilon": [str(epsilon) for epsilon in epsilons],
        "size": size,
        "noise_alpha": None if alpha is None else str(alpha),
        "bound": bound,
    }
    sampling = None if size is None else sp.WithoutReplacement(size)
    return against_known(noisy, sp.Population(n), epsilons, sampling=sampling, bound=bound, **points), inputs


def _asked(p: tuple[Fraction, Fraction], *, each: bool) -> PropertyQuery:
    import statpriv as sp
    from statpriv.model.codec import stated_range

    return sp.PropertyQuery(stated_range(p, each=each))


def _spelled(p: tuple[Fraction, Fraction]) -> str | list[str]:
    low, high = p
    return str(low) if low == high else [str(low), str(high)]
