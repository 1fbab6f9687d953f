"""`statpriv design`: of guarantee, accuracy and population, the third from the other two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import rich_click as click

from statpriv.cli.options import count_from, debug_option, each_option, exact, exact_range, examples, json_option
from statpriv.cli.output import print_facts, print_json, provenance, screen, writable, write_whole
from statpriv.cli.plain_text import printable
from statpriv.cli.progress import progress_on_terminal
from statpriv.errors import ArgumentError
from statpriv.numeric.literals import at_least, at_most

if TYPE_CHECKING:
    from statpriv.model.queries.property import PropertyQuery
    from statpriv.planning.designs import Design, TradeOff

_FORMATS = {".svg": "svg", ".png": "png", ".pdf": "pdf"}
_Command = TypeVar("_Command", bound=Callable[..., Any])
_Range: TypeAlias = tuple[Fraction, Fraction]
"""The ends of a range of p."""


def _number_if_given(context: click.Context, option: click.Parameter, text: str | None) -> Fraction | None:
    return None if text is None else exact(context, option, text)


def _counts(_context: click.Context, option: click.Parameter, text: str | None) -> list[int] | None:
    read = count_from(1)
    return None if text is None else [read(_context, option, each) or 1 for each in text.split(",")]


_n = click.option("--n", callback=count_from(1), metavar="COUNT", required=True, help="Entries of the population.")
_p = click.option(
    "--p", callback=exact_range, metavar="P", required=True, help="Probability: 1/2, 0.4, or a range 0.4..0.6."
)
_epsilon = click.option("--epsilon", callback=exact, metavar="NUMBER", required=True, help="ε in nats, at least 0.")
_delta = click.option("--delta", callback=exact, metavar="NUMBER", required=True, help="δ of all answers together.")
_known = click.option(
    "--known", callback=count_from(0), metavar="COUNT", default="0", help="Entries an adversary knows."
)
_queries = click.option(
    "--queries", callback=count_from(1), metavar="COUNT", default="1", show_default=True, help="How many queries."
)
_same = click.option(
    "--same-property/--unrelated", "same", default=False, help="What the queries ask: one property, or unrelated ones."
)
_bound = click.option("--bound", metavar="NAME", default="tightest", show_default=True, help="As of statpriv delta.")


def _accuracy(command: _Command) -> _Command:
    """Give a command the options about accuracy."""
    option = partial(click.option, callback=_number_if_given, metavar="NUMBER")
    for add in (
        option("--confidence", default="0.95", help="Of that interval; 0.95 by default."),
        option("--half-width", help="Instead, the largest half width of a confidence interval."),
        option("--rmse", help="Largest root mean squared error of a proportion, from sampling."),
    ):
        command = add(command)
    return command


def _printed(command: Callable[..., Design | TradeOff]) -> Callable[..., None]:
    """Give a command that plans the options about what becomes of the plan."""

    @click.option("--out", type=click.Path(path_type=Path), help="A picture, too: .svg, .png or .pdf.")
    @click.option("--force", is_flag=True, help="Replace a picture that exists.")
    @json_option
    @debug_option
    @wraps(command)
    def described(*, out: Path | None, force: bool, as_json: bool, **options: object) -> None:
        if out is not None:
            _check(out, force=force)
        with progress_on_terminal("designs") as waiting:
            plan = command(**options)
            if out is not None:
                waiting.begin("drawing")
                _draw(plan, out)
        _print(plan, as_json=as_json)
        if out is not None and not as_json:
            screen().print(printable(f"Figure: {out}"), soft_wrap=True)

    return described


def _check(out: Path, *, force: bool) -> None:
    """Refuse what cannot be drawn or written, before anything is computed."""
    from statpriv.plotting import require_matplotlib

    if out.suffix.lower() not in _FORMATS:
        raise ArgumentError(f"--out = {out}; a name that ends in .svg, .png or .pdf is required")
    require_matplotlib()
    writable(out, "--out", force=force)


def _draw(plan: Design | TradeOff, out: Path) -> None:
    from statpriv.planning.designs import TradeOff
    from statpriv.plotting import design_picture, render, trade_off_pictures

    pictures = trade_off_pictures(plan) if isinstance(plan, TradeOff) else (design_picture(plan),)
    write_whole(out, render(pictures, _FORMATS[out.suffix.lower()]), "--out")


def _print(plan: Design | TradeOff, *, as_json: bool) -> None:
    from statpriv.planning.designs import TradeOff, written

    curve = None if isinstance(plan, TradeOff) else plan.curve
    if as_json:
        document = {**plan.document(), **({} if curve is None else provenance(curve))}
        print_json(document, schema="design.trade-off" if curve is None else "design")
    elif isinstance(plan, TradeOff):
        for line in str(plan).splitlines():
            screen().print(printable(line), soft_wrap=True)
    else:
        headline, given, *found = (line.strip() for line in str(plan).splitlines())
        grounds = [] if curve is None else [("theorem", curve.theorem), ("assumes", curve.assumptions)]
        sizes = [("parts", f"{len(plan.sizes)}, of {plan.best.cells()[1]} entries")]
        error = [] if plan.rmse is None else [("rmse", f"at most {written(plan.rmse)}, of a proportion in a part")]
        print_facts(headline, [("given", given), ("found", found), *sizes, *error, *grounds])


@click.group(no_args_is_help=False)
@examples(
    "statpriv design most-queries --n 944 --p 1/2 --epsilon 0.1 --delta 0.05",
    "statpriv design smallest-population --p 0.2..0.4 --epsilon 0.1 --delta 0.001",
)
def design() -> None:
    """Plan a study before its data exist: how many queries, which sizes, how small a population, for a target.

    Each answer is certified, and the alternative next to it that fails is shown.
    """


def _add(name: str, summary: str, shown: Sequence[str], *options: Callable[[_Command], _Command]) -> None:
    """Add a command that asks the function of `sp.design` with that name, and prints its plan."""

    def ask(
        *,
        p: _Range | list[_Range] | None = None,
        each: bool = False,
        n: int | None = None,
        same: bool = False,
        **target: object,
    ) -> Design | TradeOff:
        import statpriv as sp
        from statpriv.model.codec import stated_range

        def query(ends: _Range) -> PropertyQuery:
            return sp.PropertyQuery(stated_range(ends, each=each), attribute="the property" if same else None)

        asked: list[object] = []
        if p is None:
            target["attribute"] = "the property" if same else None
        else:
            asked = [[query(ends) for ends in p] if isinstance(p, list) else query(p)]
        population = [] if n is None else [sp.Population(n)]
        plan: Design | TradeOff = getattr(sp.design, name.replace("-", "_"))(*asked, *population, **target)
        return plan

    ask.__doc__ = summary
    command = _printed(examples(*shown)(ask))
    if _p in options or _several_p in options:
        command = each_option(command)
    for option in reversed(options):
        command = option(command)
    design.command(name)(command)


_several_p = click.option(
    "--p",
    callback=lambda context, option, texts: [exact_range(context, option, text) for text in texts],
    metavar="P",
    multiple=True,
    required=True,
    help="Probability: 1/2, 0.4, or a range 0.4..0.6; once for each query.",
)
_step = click.option(
    "--step", callback=exact, metavar="NUMBER", default="0.001", help="The answer is a multiple of it."
)
_target = click.option(
    "--delta", callback=_number_if_given, metavar="NUMBER", help="A target: sizes that reach it are found."
)
_numbers = click.option("--queries", callback=_counts, metavar="COUNT,COUNT,…", help="Which numbers of queries.")

_add(
    "most-queries",
    "How many queries can be answered, each on a secret random part of its own.",
    [
        "statpriv design most-queries --n 32768 --p 1/2 --epsilon 0.01 --delta 0.05",
        "statpriv design most-queries --n 944 --p 1/2 --epsilon 1 --delta .1 --rmse .1",
        "statpriv design most-queries --n 944 --p 0.4..0.6 --epsilon 1 --delta 0.1",
    ],
    *(_n, _p, _epsilon, _delta, _known, _same, _accuracy, _bound),
)
_add(
    "smallest-sizes",
    "How few entries each of several unrelated queries needs for an accuracy.",
    ["statpriv design smallest-sizes --n 99 --p 1/2 --epsilon 1 --delta 1 --rmse .1"],
    *(_n, _several_p, _epsilon, _delta, _known, _accuracy, _bound),
)
_add(
    "largest-size",
    "How many entries each query may use, so how precise its answer can be.",
    ["statpriv design largest-size --n 944 --p 1/2 --epsilon 0.1 --delta 0.001"],
    *(_n, _p, _epsilon, _delta, _queries, _known, _same, _bound),
)
_add(
    "smallest-population",
    "How few entries so many queries need, all entries shared equally by them.",
    [
        "statpriv design smallest-population --p 0.2..0.4 --epsilon 0.1 --delta 0.001",
        "statpriv design smallest-population --p 0.1 --queries 5 --epsilon 1 --delta 1",
    ],
    *(_p, _epsilon, _delta, _queries, _known, _same, _accuracy, _bound),
)
_add(
    "most-known",
    "How many entries an adversary may know.",
    ["statpriv design most-known --n 32768 --p 1/2 --epsilon 0.1 --delta 0.01"],
    *(_n, _p, _epsilon, _delta, _queries, _same, _bound),
)
_add(
    "widest-range",
    "How far p may lie outside what is stated, at both ends.",
    [
        "statpriv design widest-range --n 1000 --p 1/2 --epsilon 0.1 --delta 0.002",
        "statpriv design widest-range --n 944 --p 0.4..0.5 --epsilon 0.1 --delta 0.01",
    ],
    *(_n, _p, _epsilon, _delta, _queries, _known, _same, _step, _bound),
)
_add(
    "least-uncertainty",
    "How uncertain a reader must be of each entry's answer: the least λ if nobody is surer than 1 − λ.",
    ["statpriv design least-uncertainty --n 500 --epsilon 0.1 --delta 0.05 --step 0.01"],
    *(_n, _epsilon, _delta, _queries, _known, _same, _step, _bound),
)
_add(
    "least-delta",
    "Which δ so many queries have, all entries shared equally by them.",
    ["statpriv design least-delta --n 32768 --p 1/2 --queries 8 --epsilon 0.01"],
    *(_n, _p, _epsilon, _queries, _known, _same, _bound),
)
_add(
    "least-epsilon",
    "Which ε so many queries have, all entries shared equally by them.",
    ["statpriv design least-epsilon --n 32768 --p 1/2 --queries 8 --delta 0.01"],
    *(_n, _p, _delta, _queries, _known, _same, _bound),
)
_add(
    "trade-off",
    "What a number of queries costs in privacy and in accuracy.",
    [
        "statpriv design trade-off --n 944 --p 1/2 --epsilon 0.1 --out trade-off.svg",
        "statpriv design trade-off --n 944 --p 0.3 --epsilon 0.1 --queries 1,2,4,8",
    ],
    *(_n, _p, _epsilon, _target, _numbers, _known, _same, _bound),
)


@design.command("table")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="A picture, too: .svg, .png or .pdf.")
@click.option("--force", is_flag=True, help="Replace a picture that exists.")
@json_option
@debug_option
@click.pass_context
@examples(
    "statpriv design table plan.toml --out plan.svg",
    "",
    "where plan.toml holds",
    "rows = 20190",
    "minimum = 30           # or delta = 1e-5",
    "epsilon = 1",
    'source = "survey of 2019, table 3"',
    'earlier = "earlier.csv"',
    "[[recoding]]           # coarser ones, the finest first",
    'name = "by region"',
    'drop = ["age"]',
)
def table(
    context: click.Context,
    file: Path,
    out: Path | None,
    force: bool,  # noqa: FBT001  (a flag, passed by name)
    as_json: bool,  # noqa: FBT001
) -> None:
    """How likely an exact table is to be published under a minimum count, and which recoding is the finest.

    FILE states the rows, the minimum count or a target, and the shares that are expected from an earlier publication,
    never from the table itself. The exit code is 1 if no recoding is published with the confidence.
    """
    from statpriv.files.table_plan import read_table_plan

    if out is not None:
        _check(out, force=force)
    with progress_on_terminal("table plan") as waiting:
        plan = read_table_plan(file)
        if out is not None:
            from statpriv.plotting import render, table_plan_picture

            waiting.begin("drawing")
            write_whole(out, render((table_plan_picture(plan),), _FORMATS[out.suffix.lower()]), "--out")
    if as_json:
        print_json(plan.document(), schema="design.table")
    else:
        headline, *facts = (line.strip() for line in str(plan).splitlines())
        prices = [
            f"{price.minimum}: δ at most {at_most(price.delta.upper)}, published with probability "
            + ", ".join(at_least(passes.lower, 4) for passes in price.passes)
            for price in plan.prices
        ]
        print_facts(headline, [("given", facts[:2]), ("recodings", facts[2:]), ("by minimum", prices)])
        if out is not None:
            screen().print(printable(f"Figure: {out}"), soft_wrap=True)
    context.exit(0 if plan.finest is not None else 1)
