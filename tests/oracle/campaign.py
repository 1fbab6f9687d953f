"""The campaign: drawn inputs through the public functions, judged by the oracle, and the worst widths kept.

``python -m tests.oracle.campaign --help``; `make campaign` runs a million. ``worst_widths.json`` holds, for each
stratum, the widest enclosure that was seen and the input that gave it. A stored width may only shrink: it is replaced
where the library has become narrower at that very input, and by a wider one with ``--allow-wider`` only.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, isfinite
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import statpriv as sp

from . import oracle, strata, tails

Arguments = dict[str, Any]
WORST_WIDTHS = Path(__file__).with_name("worst_widths.json")
ACCURACY = Path(__file__).parents[2] / "docs" / "reference" / "accuracy.md"
PAIRS = ("1,0", "0,1", "both")
ROOM = 2
"""Drawn inputs may be so many times as wide as the widest of the stored campaign: chance finds new records."""


@dataclass(frozen=True)
class Verdict:
    """What is wrong with an enclosure, if anything, and how wide it is in parts of the truth."""

    fault: str
    width: float


@dataclass(frozen=True)
class Function:
    """A public function that is judged: where it is looked at, how it is called, and by what."""

    regions: tuple[str, ...]
    share: int
    draw: Callable[[random.Random, str, str], Arguments]
    call: Callable[[Arguments], sp.Enclosure]
    judge: Callable[[Arguments, float, float], Verdict]
    varying: str
    """The argument that an array is given for."""

    def verdict(self, arguments: Arguments) -> Verdict:
        """Of the enclosure at these arguments; a refusal is a fault."""
        try:
            found = self.call(arguments)
        except sp.PrecisionError as error:
            return Verdict(f"refused ({error})", inf)
        return self.judge(arguments, found.lower, found.upper)


# --- the curve of a count


def _curve(arguments: Arguments) -> sp.PrivacyCurve:
    return sp.privacy_curve(
        sp.PropertyQuery(arguments["p"]), sp.Population(arguments["n"]), pair=_pair(arguments["pair"])
    )


def _pair(text: str) -> oracle.Pair:
    return None if text == "both" else (int(text[0]), int(text[2]))


def _truth(arguments: Arguments, epsilon: Fraction) -> oracle.Bounds:
    return oracle.delta_ball(arguments["n"], Fraction(arguments["p"]), epsilon, _pair(arguments["pair"]))


def _draw_delta(rng: random.Random, size: str, region: str) -> Arguments:
    n, p = strata.SIZES[size](rng), strata.probability(rng)
    return {"n": n, "p": p, "pair": rng.choice(PAIRS), "epsilon": strata.EPSILONS[region](rng, n, p)}


def _judge_delta(arguments: Arguments, lower: float, upper: float) -> Verdict:
    return _against(_truth(arguments, Fraction(arguments["epsilon"])), lower, upper)


def _against(truth: oracle.Bounds, lower: float, upper: float, least: float = 0, most: float = 1) -> Verdict:
    width = truth.relative_width(lower, upper) if isfinite(lower) and isfinite(upper) else inf
    return Verdict(truth.fault(lower, upper, least, most), width)


def _draw_epsilon(rng: random.Random, size: str, region: str) -> Arguments:
    """A δ that the curve attains, away from both of its limits: at 0, and where only one value gives an answer."""
    while True:
        arguments = _draw_delta(rng, size, region)
        at_zero, truth = (_truth(arguments, Fraction(at)) for at in (0, arguments.pop("epsilon")))
        arguments["delta"] = float(truth.lower)
        p, others = Fraction(arguments["p"]), arguments["n"] - 1
        plateau = max(
            oracle.binomial_pmf_ball(others, others, at).upper
            for at, pairs in ((p, ("1,0", "both")), (1 - p, ("0,1", "both")))
            if arguments["pair"] in pairs
        )
        room = 1 + Fraction(1, 10**9)
        if truth.lower >= oracle.SMALLEST and plateau * room < truth.lower and truth.upper * room < at_zero.lower:
            return arguments
        if arguments["n"] < 3:
            size = "2 to 12"  # the curve of one or two entries is all limit, or nearly


def _judge_epsilon(arguments: Arguments, lower: float, upper: float) -> Verdict:
    """ε(δ) is the least epsilon; its width is that of the interval of δ it stands for.

    The curve falls, so it is not below δ at the lower end, and not above δ at the upper end.
    """
    if not 0 <= lower <= upper < inf:
        return Verdict("not a finite interval", inf)
    delta = Fraction(arguments["delta"])
    at_lower, at_upper = (_truth(arguments, Fraction(end)) for end in (lower, upper))
    width = float((at_lower.upper - at_upper.lower) / delta)
    if lower > 0 and at_lower.upper < delta:
        return Verdict("the lower end is too high", width)
    if at_upper.lower > delta:
        return Verdict("the upper end is too low", width)
    return Verdict("too wide" if width > 1e-10 else "", width)


# --- laws


def _law(name: str, draw: Callable[[random.Random, str, str], Arguments], share: int) -> Function:
    truth = getattr(oracle, f"{name}_ball")
    least, most = (-inf, 0) if "log" in name else (0, 1)

    def exact(arguments: Arguments) -> Arguments:
        return {key: Fraction(value) if key == "p" else value for key, value in arguments.items()}

    def call(arguments: Arguments) -> sp.Enclosure:
        parameters = dict(arguments)
        return getattr(sp.laws, name)(parameters.pop("k"), **parameters)

    def judge(arguments: Arguments, lower: float, upper: float) -> Verdict:
        return _against(truth(**exact(arguments)), lower, upper, least, most)

    return Function(strata.REGIONS, share, draw, call, judge, "k")


FUNCTIONS: dict[str, Function] = {
    "delta": Function(
        tuple(strata.EPSILONS), 5, _draw_delta, lambda a: _curve(a).delta(a["epsilon"]), _judge_delta, "epsilon"
    ),
    "epsilon": Function(
        ("ε around 1/σ", "ε around 10/σ", "ε from 1 to 40", "log δ about -700"),
        1, _draw_epsilon, lambda a: _curve(a).epsilon(a["delta"]), _judge_epsilon, "delta",
    ),
    "binomial_log_pmf": _law("binomial_log_pmf", strata.binomial, 3),
    "binomial_pmf": _law("binomial_pmf", strata.binomial, 3),
    "binomial_upper_tail": _law("binomial_upper_tail", strata.binomial, 3),
    "hypergeometric_log_pmf": _law("hypergeometric_log_pmf", strata.hypergeometric, 2),
    "hypergeometric_pmf": _law("hypergeometric_pmf", strata.hypergeometric, 2),
    "hypergeometric_upper_tail": _law("hypergeometric_upper_tail", strata.hypergeometric, 1),
}  # fmt: skip


# --- strata, faults and worst widths


@dataclass(frozen=True)
class Stratum:
    """A function, the size of what it is about, and the region."""

    function: str
    size: str
    region: str

    @property
    def name(self) -> str:
        return f"{self.size} | {self.region}"


@dataclass
class Outcome:
    """What many cases came to."""

    cases: int = 0
    faults: list[str] = field(default_factory=list)
    worst: dict[Stratum, tuple[float, Arguments]] = field(default_factory=dict)

    def record(self, stratum: Stratum, arguments: Arguments, verdict: Verdict, where: str) -> None:
        self.cases += 1
        if verdict.fault:
            self.faults.append(f"{verdict.fault}: {stratum.function} at {arguments} ({where})")
        elif verdict.width >= self.worst.get(stratum, (-1.0, {}))[0]:
            self.worst[stratum] = verdict.width, arguments

    def absorb(self, other: Outcome) -> None:
        self.cases += other.cases
        self.faults += other.faults
        for stratum, (width, arguments) in other.worst.items():
            if width >= self.worst.get(stratum, (-1.0, {}))[0]:
                self.worst[stratum] = width, arguments


def all_strata(functions: tuple[str, ...] = tuple(FUNCTIONS)) -> Iterator[Stratum]:
    for name in functions:
        for size in strata.SIZES:
            for region in FUNCTIONS[name].regions:
                yield Stratum(name, size, region)


def judged(stratum: Stratum, seed: str, cases: int) -> Outcome:
    """Cases of one stratum; the seed and the stratum alone decide which."""
    rng = random.Random(f"{seed} {stratum.function} {stratum.name}")  # noqa: S311  (no secrets here)
    function, outcome = FUNCTIONS[stratum.function], Outcome()
    for _ in range(cases):
        arguments = function.draw(rng, stratum.size, stratum.region)
        outcome.record(stratum, arguments, function.verdict(arguments), f"seed {seed}, {stratum.name}")
    return outcome


Stored = dict[str, dict[str, Arguments]]


def stored() -> Stored:
    """``{function: {size | region: {"width": …, "arguments": …}}}``."""
    return json.loads(WORST_WIDTHS.read_text()) if WORST_WIDTHS.exists() else {}


def updated(known: Stored, outcome: Outcome, *, allow_wider: bool = False) -> tuple[Stored, list[str]]:
    """The table after a campaign, and what it would have had to be widened for."""
    table, refused = {name: dict(rows) for name, rows in known.items()}, []
    for stratum, (width, arguments) in outcome.worst.items():
        rows = table.setdefault(stratum.function, {})
        before = rows.get(stratum.name)
        if before:
            again = FUNCTIONS[stratum.function].verdict(before["arguments"]).width
            if again >= width:
                width, arguments = again, before["arguments"]
            if width > before["width"] and not allow_wider:
                refused.append(f"{stratum.function}, {stratum.name}: {width} > {before['width']} at {arguments}")
                continue
        rows[stratum.name] = {"width": width, "arguments": arguments}
    order = {name: [s.name for s in all_strata((name,))] for name in FUNCTIONS}
    return {
        name: {row: table[name][row] for row in order[name] if row in table[name]} for name in FUNCTIONS if name in table
    }, refused


# --- the command


def accuracy_table(table: Stored) -> str:
    """function × region: the worst of all sizes, in parts of the truth and in units of 2^-53 of it, and where."""
    lines = ["| function | region | worst width | in 2^-53 | where |", "|---|---|---|---|---|"]
    for name, rows in table.items():
        for region in FUNCTIONS[name].regions:
            found = [row for key, row in rows.items() if key.endswith(f"| {region}")]
            if found:
                worst = max(found, key=lambda row: row["width"])
                where = ", ".join(f"{key} = {_short(value)}" for key, value in worst["arguments"].items())
                lines.append(f"| {name} | {region} | {worst['width']:.2e} | {worst['width'] * 2**53:.3g} | {where} |")
    return "\n".join(lines)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) < 30 else f"{text[:12]}… ({len(text)} characters)"


def _work(job: tuple[Stratum, str, int]) -> Outcome:
    return judged(*job)


def jobs(seed: int, cases: int, functions: tuple[str, ...]) -> list[tuple[Stratum, str, int]]:
    """About so many cases, by share, in portions of at most 200."""
    every = list(all_strata(functions))
    share = cases / sum(FUNCTIONS[stratum.function].share for stratum in every)
    portions = []
    for stratum in every:
        wanted = max(1, round(share * FUNCTIONS[stratum.function].share))
        portions += [
            (stratum, f"{seed}.{start // 200}", min(200, wanted - start)) for start in range(0, wanted, 200)
        ]
    return portions


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.campaign", description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--functions", nargs="+", choices=FUNCTIONS, default=list(FUNCTIONS))
    parser.add_argument("--store", action="store_true", help="rewrite worst_widths.json and accuracy.md, downwards only")
    parser.add_argument("--allow-wider", action="store_true", help="with --store: also upwards")
    options = parser.parse_args()
    portions = jobs(options.seed, options.cases, tuple(options.functions))
    total, begun, outcome = sum(count for _, _, count in portions), time.monotonic(), Outcome()
    say = sys.stdout.write
    say(f"STATPRIV_SEED={options.seed}: {total} cases in {len(set(s for s, _, _ in portions))} strata\n")
    with get_context("spawn").Pool(options.processes) as pool:
        for part in pool.imap_unordered(_work, portions):
            before = len(outcome.faults)
            outcome.absorb(part)
            for fault in outcome.faults[before : before + 3]:
                say(f"\nFAULT {fault}\n")
            say(f"\r{outcome.cases} of {total}, {len(outcome.faults)} faults, {time.monotonic() - begun:.0f} s ")
            sys.stdout.flush()
    table, refused = updated(stored(), outcome, allow_wider=options.allow_wider)
    say("\n" + accuracy_table(table) + "\n")
    for line in refused:
        say(f"WIDER {line}\n")
    if options.store:
        WORST_WIDTHS.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n")
    return 1 if outcome.faults or refused else 0


if __name__ == "__main__":
    sys.exit(main())
