"""The campaign: the public functions at random inputs, judged by the oracle. The worst widths are stored.

See ``python -m tests.oracle.campaign --help``. `make campaign` runs a million cases. ``worst_widths.json`` holds, for
each stratum, the widest enclosure found and its input. A stored width may only shrink: it is replaced if the library
has become narrower at that very input, and by a wider one only with ``--allow-wider``.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, isfinite
from multiprocessing import get_context
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

import statpriv as sp

from . import oracle, strata

Arguments = dict[str, Any]
WORST_WIDTHS = Path(__file__).with_name("worst_widths.json")
ACCURACY = Path(__file__).parents[2] / "docs" / "reference" / "accuracy.md"
MARKER = "<!-- written by tests/oracle/campaign.py -->"
PAIRS = ("1,0", "0,1", "both")
ROOM = 2
"""Limit of the width at drawn inputs, relative to the widest stored one of the function. Chance finds new records."""


@dataclass(frozen=True)
class Verdict:
    """What is wrong with an enclosure, if anything, and its width relative to the true value."""

    fault: str
    width: float


@dataclass(frozen=True)
class Function:
    """A public function that is judged: the regions and how inputs are drawn, how it is called, and its judge."""

    regions: tuple[str, ...]
    share: int
    draw: Callable[[random.Random, str, str], Arguments]
    call: Callable[[Arguments], sp.Enclosure]
    judge: Callable[[Arguments, float, float], Verdict]
    draw_array: Callable[[random.Random, str], list[Arguments]]
    call_array: Callable[[list[Arguments]], Any]

    def verdict(self, arguments: Arguments) -> Verdict:
        """The verdict on the enclosure at these arguments. A refusal is a fault."""
        try:
            found = self.call(arguments)
        except sp.PrecisionError as error:
            return Verdict(f"refused ({error})", inf)
        try:
            return self.judge(arguments, found.lower, found.upper)
        except ArithmeticError as error:
            return Verdict(f"not judged: the oracle is {error}", 0.0)

    def array_faults(self, rng: random.Random, size: str) -> list[str]:
        """The faults of the elements of one array."""
        every = self.draw_array(rng, size)
        found = self.call_array(every)
        ends = zip(every, found.lower, found.upper, strict=True)
        verdicts = [(arguments, self.judge(arguments, float(low), float(high))) for arguments, low, high in ends]
        return [f"{verdict.fault}: {arguments}" for arguments, verdict in verdicts if verdict.fault]


def against(truth: oracle.Bounds, lower: float, upper: float, least: float = 0, most: float = 1) -> Verdict:
    """The verdict if the true value has known bounds."""
    width = truth.relative_width(lower, upper) if isfinite(lower) and isfinite(upper) else inf
    return Verdict(truth.fault(lower, upper, least, most), width)


def as_double(p: strata.Number) -> float:
    """The nearest double inside (0, 1), since arrays hold doubles."""
    return min(max(float(Fraction(p)), 5e-324), 1 - 2**-53)


# --- the curve of a count


def _draw_count(rng: random.Random, size: str) -> Arguments:
    return {"n": strata.SIZES[size](rng), "p": strata.probability(rng), "pair": rng.choice(PAIRS)}


def _pair(count: Arguments) -> oracle.Pair:
    return {"1,0": (1, 0), "0,1": (0, 1), "both": None}[count["pair"]]


def _curve(count: Arguments) -> sp.PrivacyCurve:
    return sp.privacy_curve(sp.PropertyQuery(count["p"]), sp.Population(count["n"]), pair=_pair(count))


def truth_of_delta(count: Arguments, epsilon: strata.Number | Fraction) -> oracle.Bounds:
    return oracle.delta_ball(count["n"], Fraction(count["p"]), Fraction(epsilon), _pair(count))


def _with_epsilon(rng: random.Random, count: Arguments, region: str) -> Arguments:
    return count | {"epsilon": strata.EPSILONS[region](rng, count["n"], count["p"])}


def _judge_delta(arguments: Arguments, lower: float, upper: float) -> Verdict:
    return against(truth_of_delta(arguments, arguments["epsilon"]), lower, upper)


def _delta_array(rng: random.Random, size: str) -> list[Arguments]:
    count = _draw_count(rng, size)
    every = [_with_epsilon(rng, count, region) for region in strata.EPSILONS]
    return [arguments for arguments in every if isinstance(arguments["epsilon"], float)]


def _with_delta(rng: random.Random, count: Arguments, region: str) -> Arguments | None:
    """A δ that the curve attains, away from δ(0) and from the limit: the mass of answers that only one value can give.

    None if there is no such δ, or if it is too small.
    """
    epsilon = strata.EPSILONS[region](rng, count["n"], count["p"])
    at_zero, truth = truth_of_delta(count, 0), truth_of_delta(count, epsilon)
    others, p, room = count["n"] - 1, Fraction(count["p"]), 1 + Fraction(1, 10**9)
    givers = {"1,0": (p,), "0,1": (1 - p,), "both": (p, 1 - p)}[count["pair"]]
    plateau = max(oracle.binomial_pmf_ball(others, others, giver).upper for giver in givers)
    usable = plateau * room < truth.lower and truth.upper * room < at_zero.lower and truth.lower >= oracle.SMALLEST
    return count | {"delta": float(truth.lower)} if usable else None


def _draw_epsilon(rng: random.Random, size: str, region: str) -> Arguments:
    """The curve of one entry is constant, and that of a few may be at its limit. Then another count is drawn."""
    while (arguments := _with_delta(rng, _draw_count(rng, size), region)) is None:
        size = "2 to 12" if size == "1" else size
    return arguments


def _judge_epsilon(arguments: Arguments, lower: float, upper: float) -> Verdict:
    """ε(δ) is the least epsilon: the curve is not below δ at the lower end, and not above δ at the upper end.

    The width is the smaller of two relative widths: that of ε and that of the corresponding interval of δ. Near δ(0), a
    small change of δ is a large change of ε. Where the curve is steep, one rounding of ε corresponds to many of δ.
    """
    if not 0 <= lower <= upper < inf:
        return Verdict("not a finite interval", inf)
    delta = Fraction(arguments["delta"])
    at_lower, at_upper = (truth_of_delta(arguments, end) for end in (lower, upper))
    width = min(float((at_lower.upper - at_upper.lower) / delta), (upper - lower) / upper if upper else 0.0)
    if lower > 0 and at_lower.upper < delta:
        return Verdict("the lower end is too high", width)
    if at_upper.lower > delta:
        return Verdict("the upper end is too low", width)
    return Verdict("too wide" if width > oracle.RELATIVE_WIDTH else "", width)


def _epsilon_array(rng: random.Random, size: str) -> list[Arguments]:
    first = _draw_epsilon(rng, size, EPSILON_REGIONS[0])
    count = {key: value for key, value in first.items() if key != "delta"}
    drawn = [_with_delta(rng, count, region) for region in EPSILON_REGIONS]
    return [first, *(arguments for arguments in drawn if arguments)]


EPSILON_REGIONS = ("ε around 1/σ", "ε around 10/σ", "ε from 1 to 40", "log δ about -700")

DELTA = Function(
    tuple(strata.EPSILONS),
    5,
    lambda rng, size, region: _with_epsilon(rng, _draw_count(rng, size), region),
    lambda arguments: _curve(arguments).delta(arguments["epsilon"]),
    _judge_delta,
    _delta_array,
    lambda every: _curve(every[0]).delta(np.array([arguments["epsilon"] for arguments in every])),
)
EPSILON = Function(
    EPSILON_REGIONS,
    1,
    _draw_epsilon,
    lambda arguments: _curve(arguments).epsilon(arguments["delta"]),
    _judge_epsilon,
    _epsilon_array,
    lambda every: _curve(every[0]).epsilon(np.array([arguments["delta"] for arguments in every])),
)


# --- laws


def truth_of_law(name: str, arguments: Arguments) -> oracle.Bounds:
    exact = {key: Fraction(value) if key == "p" else value for key, value in arguments.items()}
    return getattr(oracle, f"{name}_ball")(**exact)


def _law(name: str, draw: Callable[[random.Random, str, str], Arguments], share: int) -> Function:
    least, most = (-inf, 0) if "log" in name else (0, 1)

    def call(arguments: Arguments) -> Any:
        parameters = dict(arguments)
        return getattr(sp.laws, name)(parameters.pop("k"), **parameters)

    def draw_array(rng: random.Random, size: str) -> list[Arguments]:
        every = [draw(rng, size, region) for region in strata.REGIONS * 3]
        return [a | {"p": as_double(a["p"])} if "p" in a else a for a in every]

    return Function(
        strata.REGIONS,
        share,
        draw,
        call,
        lambda arguments, lower, upper: against(truth_of_law(name, arguments), lower, upper, least, most),
        draw_array,
        lambda every: call({key: np.array([arguments[key] for arguments in every]) for key in every[0]}),
    )


FUNCTIONS: dict[str, Function] = {
    "delta": DELTA,
    "epsilon": EPSILON,
    "binomial_log_pmf": _law("binomial_log_pmf", strata.binomial, 3),
    "binomial_pmf": _law("binomial_pmf", strata.binomial, 3),
    "binomial_upper_tail": _law("binomial_upper_tail", strata.binomial, 3),
    "hypergeometric_log_pmf": _law("hypergeometric_log_pmf", strata.hypergeometric, 2),
    "hypergeometric_pmf": _law("hypergeometric_pmf", strata.hypergeometric, 2),
    "hypergeometric_upper_tail": _law("hypergeometric_upper_tail", strata.hypergeometric, 1),
}


# --- strata, faults and worst widths


@dataclass(frozen=True)
class Stratum:
    """A function, the size of its population or law, and the region."""

    function: str
    size: str
    region: str

    @property
    def name(self) -> str:
        return f"{self.size} | {self.region}"


@dataclass
class Outcome:
    """The combined result of many cases."""

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


def all_strata(
    functions: Iterable[str] = tuple(FUNCTIONS), sizes: Iterable[str] = tuple(strata.SIZES)
) -> Iterator[Stratum]:
    for name in functions:
        for size in sizes:
            for region in FUNCTIONS[name].regions:
                yield Stratum(name, size, region)


def judged(stratum: Stratum, seed: str, cases: int) -> Outcome:
    """The outcome of cases of one stratum. They depend only on the seed and the stratum."""
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
    """The table after a campaign, and the widenings that were refused."""
    table, refused = {name: dict(rows) for name, rows in known.items()}, []
    for stratum, (width, arguments) in outcome.worst.items():
        rows = table.setdefault(stratum.function, {})
        before = rows.get(stratum.name)
        worst = {"width": width, "arguments": arguments}
        if before:
            again = {**before, "width": FUNCTIONS[stratum.function].verdict(before["arguments"]).width}
            worst = max(again, worst, key=itemgetter("width"))
            if worst["width"] > before["width"] and not allow_wider:
                refused.append(f"{stratum.function}, {stratum.name}: {worst} against {before['width']}")
                worst = before
        rows[stratum.name] = worst
    order = {name: [s.name for s in all_strata((name,))] for name in FUNCTIONS}
    return {
        name: {row: rows[row] for row in order[name] if row in (rows := table[name])}
        for name in FUNCTIONS
        if name in table
    }, refused


# --- the command


def accuracy_table(table: Stored) -> str:
    """The worst width over all sizes for each function and region, relative to the true value, with its input.

    The width is given as a number and in units of 2^-53.
    """
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


def write(table: Stored, seed: int, cases: int) -> None:
    """Writes the table, and the page that shows it."""
    WORST_WIDTHS.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n")
    before, marker, _ = ACCURACY.read_text().partition(MARKER)
    if not marker:
        raise ValueError(f"{ACCURACY} has lost its line {MARKER!r}, after which the table goes")
    last = f"The last campaign that changed this table drew {cases} cases from seed {seed}."
    ACCURACY.write_text(f"{before}{MARKER}\n\n{accuracy_table(table)}\n\n{last}\n")


def _work(job: Job) -> Outcome:
    return judged(*job)


Job = tuple[Stratum, str, int]


def jobs(seed: int, cases: int) -> list[Job]:
    """About `cases` cases of all strata, in proportion to the shares, in portions of at most 200."""
    share = cases / sum(FUNCTIONS[stratum.function].share for stratum in all_strata())
    portions = []
    for stratum in all_strata():
        wanted = max(1, round(share * FUNCTIONS[stratum.function].share))
        portions += [(stratum, f"{seed}.{start // 200}", min(200, wanted - start)) for start in range(0, wanted, 200)]
    return portions


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.campaign", description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--functions", nargs="+", choices=FUNCTIONS, default=list(FUNCTIONS))
    parser.add_argument("--sizes", nargs="+", choices=strata.SIZES, default=list(strata.SIZES))
    parser.add_argument(
        "--store", action="store_true", help="rewrite worst_widths.json and accuracy.md, downwards only"
    )
    parser.add_argument("--allow-wider", action="store_true", help="with --store: also upwards")
    options = parser.parse_args()
    wanted = set(all_strata(options.functions, options.sizes))
    portions = [job for job in jobs(options.seed, options.cases) if job[0] in wanted]
    total, begun, outcome = sum(count for _, _, count in portions), time.monotonic(), Outcome()
    say = sys.stdout.write
    say(f"STATPRIV_SEED={options.seed}: {total} cases in {len(wanted)} strata\n")
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
        write(table, options.seed, outcome.cases)
    return 1 if outcome.faults or refused else 0


if __name__ == "__main__":
    sys.exit(main())
