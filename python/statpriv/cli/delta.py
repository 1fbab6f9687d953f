"""`statpriv delta`: δ at an ε."""

from __future__ import annotations

from fractions import Fraction

import rich_click as click

from statpriv.cli.options import debug_option, digits_option, exact, examples, json_option
from statpriv.cli.output import (
    WHAT_IS_ENCLOSED,
    enclosed,
    ends,
    grounds,
    print_facts,
    print_json,
    provenance,
    upper_end,
)
from statpriv.cli.single_count import SingleCount, single_count_options
from statpriv.numeric.literals import literal


@click.command()
@single_count_options
@click.option("--epsilon", callback=exact, metavar="NUMBER", required=True, help="ε in nats, at least 0.")
@json_option
@digits_option
@debug_option
@examples(
    "statpriv delta --n 1024 --p 1/2 --epsilon 0.005",
    "statpriv delta --n 944 --p 0.4..0.6 --epsilon 0.1 --known 100",
    "statpriv delta --n 32768 --size 1024 --p 1/2 --epsilon 0.005 --json",
    "statpriv delta --n 1024 --p 1/2 --epsilon 0.005 --digits 50",
)
def delta(
    count: SingleCount,
    epsilon: Fraction,
    as_json: bool,  # noqa: FBT001  (a flag, passed by name)
    digits: int | None,
) -> None:
    """δ of one exact count at an ε.

    The least δ at which the count is (ε, δ)-private against someone who knows how the entries are distributed, and
    the values of some. It is computed as an enclosure, and quoted at its upper end.
    """
    curve = count.curve()
    value = curve.delta(epsilon, digits=digits)
    if as_json:
        inputs = {**count.inputs(), "epsilon": str(epsilon)}
        print_json({"delta": ends(value), **provenance(curve), "inputs": inputs}, schema="delta")
        return
    print_facts(
        f"δ is at most {upper_end(value)} at ε = {literal(epsilon)}",
        [
            ("delta", enclosed(value)),
            ("kind", WHAT_IS_ENCLOSED[curve.kind]),
            ("answer", str(count)),
            *grounds(curve),
        ],
    )
