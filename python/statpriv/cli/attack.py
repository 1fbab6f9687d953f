"""`statpriv attack`: a simulated attack on a program or a plan that publishes something about rows."""

from __future__ import annotations

from contextlib import ExitStack
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import rich_click as click

from statpriv.cli.options import count_from, debug_option, exact, examples, json_option
from statpriv.cli.output import ends, print_facts, print_json
from statpriv.errors import ArgumentError
from statpriv.numeric.literals import abridged, literal

if TYPE_CHECKING:
    from statpriv.assurance.attack import Claim, Mechanism

Row: TypeAlias = "int | float | str | tuple[int | float | str, ...]"
"""A value, or one for each column of a plan."""


def _row(text: str) -> Row:
    """A value, or several between colons."""
    from statpriv.assurance.program import number_or_text

    values = tuple(number_or_text(value.strip()) for value in text.split(":"))
    return values if len(values) > 1 else values[0]


def _law(_context: click.Context, _option: click.Parameter, text: str) -> dict[Row, str]:
    pairs = [part.rpartition("=") for part in text.split(",")]
    if not all(value.strip() and between for value, between, _ in pairs):
        raise ArgumentError(
            f"--law = {abridged(text)}; values with their probabilities, such as 1=0.3,0=0.7, are required"
        )
    return {_row(value): probability.strip() for value, _, probability in pairs}


def _claimed(context: click.Context, option: click.Parameter, text: str | None) -> Fraction | None:
    return None if text is None else exact(context, option, text)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[-- PROGRAM [ARGUMENTS]...]")
@click.option("--plan", type=click.Path(exists=True, dir_okay=False), help="A release plan, in place of a program.")
@click.option("--pair", nargs=2, required=True, metavar="V W", help="The two values of the attacked row.")
@click.option("--law", callback=_law, required=True, metavar="V=P,...", help="The law of the other rows.")
@click.option("--others", callback=count_from(0), required=True, metavar="N", help="How many other rows there are.")
@click.option("--epsilon", callback=exact, default="0.1", show_default=True, metavar="NUMBER", help="ε in nats.")
@click.option(
    "--delta",
    callback=_claimed,
    metavar="NUMBER",
    help="What is claimed: δ at this ε; of a plan what is certified for so many rows.",
)
@click.option(
    "--trials", callback=count_from(100), default="10000", show_default=True, help="Databases for each value."
)
@click.option("--confidence", callback=exact, default="0.999", show_default=True, help="Of the interval.")
@click.option("--seed", type=int, default=None, help="Repeats the databases; what the program draws is its own.")
@json_option
@debug_option
@examples(
    "statpriv attack --pair 1 0 --law 1=0.3,0=0.7 --others 49 --delta 0.06 -- python3 mechanism.py",
    "statpriv attack --pair yes no --law no=1 --others 0 --epsilon 1 --delta 0 -- Rscript noise.R",
    "statpriv attack --plan plan.toml --pair yes:30 no:30 --law yes:30=0.2,no:30=0.3,no:60=0.5 --others 99",
)
@click.pass_context
def attack(
    context: click.Context,
    *,
    program: tuple[str, ...],
    plan: str | None,
    pair: tuple[str, str],
    law: dict[Row, str],
    others: int,
    epsilon: Fraction,
    delta: Fraction | None,
    trials: int,
    confidence: Fraction,
    seed: int | None,
    as_json: bool,
) -> None:
    """Attack a program or a release plan by simulation, and compare what it gives away with a claim.

    The program reads lines of JSON, a list of rows each, the attacked row first, and writes a line for each: what it
    publishes. Databases are drawn with either value of the attacked row, the best test is learned on one half of the
    answers, and counted on the other. With all weight of the law on one value, or no other rows, the reader knows all
    others.

    A plan is carried out on made-up rows as on real ones, and nothing is registered. Several columns have their values
    between colons, in the order in which the plan names them.

    The exit code is 1 if the claim is refuted.
    """
    from statpriv.assurance.attack import attack as attacked

    if (plan is None) == (not program):
        raise ArgumentError("a program after -- or --plan is required, and not both; statpriv attack --help shows each")
    with ExitStack() as stack:
        if plan is None:
            from statpriv.assurance.program import Program

            mechanism: Mechanism = stack.enter_context(Program(program))
            claimed: Claim | Fraction | None = delta
        else:
            from statpriv.releasing.rehearsal import plan_mechanism

            mechanism = released = plan_mechanism(plan, rows=others + 1)
            claimed = released.curve if delta is None else delta
        found = attacked(
            mechanism,
            (_row(pair[0]), _row(pair[1])),
            law=law,
            others=others,
            epsilon=literal(epsilon),
            claimed=claimed,
            trials=trials,
            confidence=confidence,
            seed=seed,
        )
    if as_json:
        document = {
            "verdict": found.verdict,
            "pair": [str(value) for value in found.pair],
            "epsilon": literal(epsilon),
            "advantage": ends(found.advantage),
            "claimed": None if found.claimed is None else ends(found.claimed),
            "confidence": literal(confidence),
            "accused": found.accused,
            "falsely_accused": found.falsely_accused,
            "tested": found.tested,
        }
        print_json(document, schema="attack")
    else:
        headline, *lines = str(found).splitlines()
        facts = [(name, text) for name, text in (line.split(maxsplit=1) for line in lines)]
        print_facts(headline, [*facts, ("tested", f"{found.tested} answers with each value")])
    if found.refuted:
        context.exit(1)
