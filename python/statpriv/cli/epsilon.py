"""`statpriv epsilon`: ε at a δ."""

from __future__ import annotations

import math
from fractions import Fraction

import rich_click as click

from statpriv.cli.options import debug_option, digits_option, exact, examples, json_option
from statpriv.cli.output import enclosed, ends, grounds, print_facts, print_json, provenance, upper_end
from statpriv.cli.single_count import SingleCount, single_count_options
from statpriv.errors import ArgumentError
from statpriv.numeric.literals import literal

_WHAT_IS_ENCLOSED = {
    "exact": "exact: the least ε itself is enclosed",
    "bound": "bound: the least ε is at most this",
}


@click.command()
@single_count_options
@click.option("--delta", callback=exact, metavar="NUMBER", required=True, help="δ, from 0 to 1.")
@json_option
@digits_option
@debug_option
@examples(
    "statpriv epsilon --n 1024 --p 1/2 --delta 1e-6",
    "statpriv epsilon --n 944 --p 0.4..0.6 --delta 0.02 --known 100 --json",
)
def epsilon(
    count: SingleCount,
    delta: Fraction,
    as_json: bool,  # noqa: FBT001  (a flag, passed by name)
    digits: int | None,
) -> None:
    """ε of one exact count at a δ.

    The least ε at which the count is (ε, δ)-private against someone who knows how the entries are distributed, and
    the values of some. It is computed as an enclosure, and quoted at its upper end.
    """
    if delta > 1:  # any ε is enough then, which is hardly what is meant
        raise ArgumentError(f"--delta = {literal(delta)}; a probability from 0 to 1 is required, such as 0.02 for 2 %")
    curve = count.curve()
    value = curve.epsilon(delta, digits=digits)
    if as_json:
        inputs = {**count.inputs(), "delta": str(delta)}
        print_json({"epsilon": ends(value), **provenance(curve), "inputs": inputs}, schema="epsilon")
        return
    if math.isinf(value.upper) and math.isfinite(value.lower):
        from statpriv.numeric.exact import as_fraction

        headline = (
            f"no finite upper end of ε is certified at δ = {literal(delta)}: the curve is too flat there; "
            f"ε is at least {literal(as_fraction(value.lower, 'epsilon'))}"
        )
    elif math.isinf(value.upper):
        headline = (
            f"no finite ε is certified at δ = {literal(delta)}: "
            f"δ stays at {upper_end(curve.infinity_mass())} however large ε is"
        )
    else:
        headline = f"ε is at most {upper_end(value)} nats at δ = {literal(delta)}"
    print_facts(
        headline,
        [
            ("epsilon", enclosed(value)),
            ("kind", _WHAT_IS_ENCLOSED[curve.kind]),
            ("answer", str(count)),
            *grounds(curve),
        ],
    )
