"""`statpriv compose`: δ of several counts on a secret random partition, from a file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from statpriv.cli.options import debug_option, digits_option, examples, json_option
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
from statpriv.literals import literal

if TYPE_CHECKING:
    from statpriv.composition_file import Composition

__all__ = ["compose"]

_MOST_LINES = 12
_AGREES = "agrees: δ, ε, rows, known rows, sizes and ranges are what its composition gives (nothing else is compared)"


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@digits_option
@debug_option
@click.pass_context
@examples(
    "statpriv compose composition.toml",
    "statpriv compose report.json --json",
    "",
    "where composition.toml holds",
    "epsilon = 0.005",
    "population = 32768",
    "known_rows = 0         # optional",
    "[[part]]",
    'probability = "1/2"    # or a range ["0.4", "0.6"]',
    "size = 1024",
    "count = 32             # optional: so many such parts",
    'attribute = "smoker"   # optional: the same, the same property',
)
def compose(
    context: click.Context,
    file: Path,
    as_json: bool,  # noqa: FBT001  (a flag, passed by name)
    digits: int | None,
) -> None:
    """δ of several exact counts together, each on its own part of the entries.

    FILE describes the parts, or is the JSON report of a release: then δ is computed again without the data, and
    the exit code is 1 if the report states another δ, ε, number of rows or known rows, size or range of p.
    """
    from statpriv.composition_file import Report, read_composition

    found = read_composition(file)
    composition = found.composition if isinstance(found, Report) else found
    curve = composition.curve()
    value = curve.delta(composition.epsilon, digits=digits)
    disagreements = found.disagreements(curve.delta(composition.epsilon)) if isinstance(found, Report) else []
    if as_json:
        document = {"delta": ends(value), **provenance(curve), "inputs": composition.document()}
        if isinstance(found, Report):
            document["report"] = {"agrees": not disagreements, "disagreements": disagreements}
        print_json(document)
    else:
        verdict = disagreements or [_AGREES]
        print_facts(
            f"δ is at most {upper_end(value)} at ε = {literal(composition.epsilon)}",
            [
                *([("report", verdict)] if isinstance(found, Report) else []),
                ("delta", enclosed(value)),
                ("kind", WHAT_IS_ENCLOSED[curve.kind]),
                ("answers", list(_parts(composition))),
                ("adversary", f"knows {composition.known_rows or 'no'} entries"),
                *grounds(curve),
            ],
        )
    if disagreements:
        context.exit(1)


def _parts(composition: Composition) -> list[str]:
    """One line for each kind of part."""
    counts: Counter[str] = Counter()
    for part in composition.parts:
        if part.probability is None:
            attribute = "" if part.attribute is None else f", property {part.attribute}"
            counts[f"histogram of {len(part.ranges)} cells, of {part.size} entries{attribute}"] += part.count
            continue
        low, high = part.probability
        p = f"p = {literal(low)}" if low == high else f"any p from {literal(low)} to {literal(high)}"
        if part.gate is not None:
            p = f"any p, published from {part.gate[0]} to {part.gate[1]}"
        attribute = "a property of its own" if part.attribute is None else f"property {part.attribute}"
        steps = [
            *([] if part.suppressed_below is None else [f"suppressed below {part.suppressed_below}"]),
            *([] if part.rounded_to is None else [f"rounded to {part.rounded_to}"]),
        ]
        counts[", ".join([f"count of {part.size} entries, {p}, {attribute}", *steps])] += part.count
    lines = [f"{count} × a {text}" for text, count in counts.most_common(_MOST_LINES)]
    if len(counts) > _MOST_LINES:
        lines.append(f"… and {len(counts) - _MOST_LINES} more kinds of part")
    return [*lines, f"on disjoint secret parts of {composition.population} entries"]
