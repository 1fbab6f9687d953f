"""`statpriv compose`: δ of several counts on a secret random partition, from a file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
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
from statpriv.cli.progress import progress_on_terminal
from statpriv.numeric.literals import literal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from statpriv.composition.repeated_releases import RepeatedReleases
    from statpriv.files.composition import Composition
    from statpriv.numeric.enclosure import Enclosure

__all__ = ["compose"]

_MAX_LINES = 12
_AGREES = "agrees: everything that follows from the plan, the rows, the history and the counts is what it says"


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

    FILE describes the parts, or is the JSON report of a release: then everything in it that follows from the plan,
    the numbers of rows, the history and the counts is computed again without the data, and the exit code is 1 if the
    report says anything else. Where a table was released before, δ is that of this release alone, on the rows that
    were left, and of all releases together: every term of the sum, its weights, and the sum.
    """
    from statpriv.composition.repeated_releases import RepeatedReleases
    from statpriv.files.composition import Composition, read_composition
    from statpriv.releasing.leaves import on_trust

    found = read_composition(file)
    report = None if isinstance(found, Composition) else found
    composition = found if isinstance(found, Composition) else found.composition
    if report is not None:
        report.warn_if_contradicted()
    with progress_on_terminal("δ of all answers together") as waiting:
        curve = composition.curve()
        value = curve.delta(composition.epsilon, digits=digits)
        waiting.begin("the statements of the report")
        disagreements = report.disagreements if report else ()
        everything = report.curve if report and not report.misfits else curve
        together = _Together(everything, composition.epsilon) if isinstance(everything, RepeatedReleases) else None
    if as_json:
        document = {"delta": ends(value), **provenance(curve), "inputs": composition.document()}
        if report:
            document["report"] = {
                "agrees": not disagreements,
                "disagreements": list(disagreements),
                "on_trust": on_trust(),
            }
        if together is not None:
            document["everything"] = together.document()
        print_json(document, schema="compose")
    else:
        alone = "" if together is None else " of this release alone"
        print_facts(
            together.headline if together else f"δ is at most {upper_end(value)} at ε = {literal(composition.epsilon)}",
            [
                *(_verdict(disagreements) if report else []),
                *([] if together is None else together.facts()),
                (f"delta{alone}", enclosed(value)),
                ("kind", WHAT_IS_ENCLOSED[curve.kind]),
                ("answers", list(_parts(composition))),
                ("adversary", f"knows {composition.known_rows or 'no'} entries"),
                *grounds(curve),
            ],
        )
    if disagreements:
        context.exit(1)


def _verdict(disagreements: Sequence[str]) -> list[tuple[str, str | Sequence[str]]]:
    """Whether the report agrees, and what nothing in it can tell."""
    from statpriv.releasing.leaves import on_trust

    if not disagreements:
        return [("report", _AGREES), ("on trust", ", ".join(on_trust()))]
    more = len(disagreements) - _MAX_LINES
    return [("report", [*disagreements[:_MAX_LINES], *([f"… and {more} more; --json lists all"] if more > 0 else [])])]


@dataclass(frozen=True)
class _Together:
    """What is said of all releases of a table together."""

    curve: RepeatedReleases
    epsilon: Fraction

    @property
    def headline(self) -> str:
        number = len(self.curve.releases)
        return f"δ of all {number} releases together is at most {upper_end(self._delta)} at ε = {literal(self.epsilon)}"

    @cached_property
    def _delta(self) -> Enclosure:
        return self.curve.delta(self.epsilon)

    @cached_property
    def _terms(self) -> list[tuple[int, Fraction, Enclosure]]:
        """Rows, weight and δ of each release, for the cohort that is exposed most."""
        deltas = self.curve.deltas(self.epsilon)
        sums = self.curve.sums(deltas)
        worst = max(range(len(sums)), key=lambda cohort: sums[cohort][1])
        return list(zip(self.curve.sizes, self.curve.weights[worst], deltas, strict=True))

    def facts(self) -> list[tuple[str, str | Sequence[str]]]:
        lines = [
            f"release {k}: {rows} rows, δ on these {enclosed(delta)}, weight {literal(weight)}"
            for k, (rows, weight, delta) in enumerate(self._terms, start=1)
        ]
        return [
            ("together", enclosed(self._delta)),
            ("kind", WHAT_IS_ENCLOSED[self.curve.kind]),
            ("terms", lines),
            ("theorem", self.curve.theorem),
            ("source", self.curve.source),
            ("assumes", self.curve.own_assumptions),
        ]

    def document(self) -> dict[str, object]:
        return {
            "delta": ends(self._delta),
            **provenance(self.curve),
            "terms": [
                {"rows": rows, "weight": str(weight), "delta": ends(delta)} for rows, weight, delta in self._terms
            ],
        }


def _parts(composition: Composition) -> list[str]:
    """One line for each kind of part."""
    from statpriv.files.composition import together

    counts: Counter[str] = Counter()
    for part in composition.parts:
        if part.asked is not None:
            counts[f"{part.asked!r} of {part.entries or 'all'} entries"] += part.count
            continue
        p = ", ".join(_range(*ends) for ends in part.ranges)
        if part.gate is not None and not part.each:
            p = "any p"
        if part.each:
            p += ", each entry its own"
        if part.gate is not None:
            p += f", published from {part.gate[0]} to {part.gate[1]}"
        attribute = "a property of its own" if part.attribute is None else f"property {part.attribute}"
        steps = [
            *([] if part.suppressed_below is None else [f"suppressed below {part.suppressed_below}"]),
            *([] if part.rounded_to is None else [f"rounded to {part.rounded_to}"]),
        ]
        kind = "a count" if part.cells is None else "a histogram"
        counts[", ".join([f"{kind} of {part.entries or 'all'} entries, {p}, {attribute}", *steps])] += part.count
    lines = [f"{count} × {text}" for text, count in counts.most_common(_MAX_LINES)]
    if len(counts) > _MAX_LINES:
        lines.append(f"… and {len(counts) - _MAX_LINES} more kinds of part")
    entries = together(composition.population)
    if composition.same_rows is not None:
        return [*lines, f"all of the same {entries} entries; protected: one {composition.same_rows.protects}"]
    if [part.size for part in composition.parts] == [None]:
        return [*lines, f"of a table of {entries} entries, which all answer"]
    return [*lines, f"on disjoint secret parts of {entries} entries"]


def _range(low: Fraction, high: Fraction) -> str:
    return f"p = {literal(low)}" if low == high else f"any p from {literal(low)} to {literal(high)}"
