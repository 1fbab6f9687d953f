"""Time budgets of single calls, compared with the least times stored by the Rust benchmarks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MEASUREMENTS = Path(__file__).parents[2] / "target" / "benches" / "criterion"

NANO, MICRO, MILLI = 1e-9, 1e-6, 1e-3


@dataclass(frozen=True)
class Budget:
    """A limit in seconds for every benchmark whose name starts with `benchmarks`; with `each`, per element."""

    what: str
    limit: float
    benchmarks: str
    each: bool = False


BUDGETS = (
    Budget("one δ, any n and threshold, fused multiply-add", 0.5 * MICRO, "delta (avx2+fma)/"),
    Budget("one δ, any n and threshold, portable", 1 * MICRO, "delta (portable)/"),
    Budget("1000 ε at n = 2²⁰", 0.2 * MILLI, "deltas/"),
    Budget("log pmf, binomial", 50 * NANO, "log pmf/binomial"),
    Budget("log pmf, hypergeometric", 120 * NANO, "log pmf/hypergeometric"),
    Budget("full binomial pmf, an element", 3 * NANO, "full pmf/binomial", each=True),
    Budget("full hypergeometric pmf, an element", 3 * NANO, "full pmf/hypergeometric", each=True),
    Budget("upper tail, binomial", 1 * MICRO, "upper tail/binomial"),
    Budget("upper tail, hypergeometric", 1 * MICRO, "upper tail/hypergeometric"),
    Budget("50 digits of δ", 1 * MILLI, "50 digits of delta/"),
    Budget("exact δ, n = 4096, p = 1/100", 10 * MILLI, "exact delta/n = 4096"),
    Budget("exact δ, n = 32768, p = 1/2", 1.0, "exact delta/n = 32768"),
)


@dataclass(frozen=True)
class Measured:
    """One benchmark: the least time of an iteration, in seconds, and the number of elements of an iteration."""

    name: str
    seconds: float
    elements: int


def measurements() -> list[Measured]:
    """All stored measurements."""
    found = []
    for description in sorted(MEASUREMENTS.glob("**/new/benchmark.json")):
        about = json.loads(description.read_text())
        sample = json.loads(description.with_name("sample.json").read_text())
        least = min(time / loops for time, loops in zip(sample["times"], sample["iters"], strict=True)) * NANO
        elements = (about["throughput"] or {}).get("Elements", 1)
        found.append(Measured(about["full_id"], least, elements))
    return found


def table(through_python: float) -> Iterator[str]:
    """The budgets, each with its slowest benchmark. `through_python` is the time of a call of `curve.delta`."""
    yield "| what | budget | measured | | dearest |"
    yield "|---|---|---|---|---|"
    found = measurements()
    for budget in BUDGETS:
        ours = [one for one in found if one.name.startswith(budget.benchmarks)]
        if not ours:
            yield f"| {budget.what} | {in_units(budget.limit)} | not measured | | |"
            continue
        dearest = max(ours, key=lambda one: cost(one, budget))
        yield line(budget.what, budget.limit, cost(dearest, budget), dearest.name.split("/", 1)[1])
    yield line("one δ through `curve.delta(ε)`", 1.5 * MICRO, through_python, "")


def cost(measured: Measured, budget: Budget) -> float:
    return measured.seconds / measured.elements if budget.each else measured.seconds


def line(what: str, limit: float, least: float, dearest: str) -> str:
    verdict = "met" if least <= limit else f"missed: {least / limit:.3g} times"
    return f"| {what} | {in_units(limit)} | {in_units(least)} | {verdict} | {dearest} |"


def in_units(seconds: float) -> str:
    """The time in a suitable unit, with three digits."""
    for unit, size in (("s", 1.0), ("ms", MILLI), ("µs", MICRO)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / NANO:.3g} ns"
