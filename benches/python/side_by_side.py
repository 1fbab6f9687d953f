"""statpriv compared with alternative software on the same work, in one run: times, ratios and errors.

Prints Markdown. A time is the least of many short batches, so the load of the machine has little effect. Ratios say
more than times. The error of a peer is that of its number against the oracle of the tests, which has forty digits and
shares no code with either. Where the oracle gives no value, it is compared with statpriv's. For statpriv, the width of
the enclosure is shown, which is proved to contain the true value.

    python -m benches.python.side_by_side            # print
    python -m benches.python.side_by_side --write    # also put it into docs/performance.md
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import flint
import mpmath
import numpy as np
from benches.python import budgets, composition_peers, peers, release, situation_peers
from benches.python.budgets import in_units
from benches.python.peers import SkippedError
from tests.oracle import oracle

import statpriv as sp
from statpriv import laws

ROOT = Path(__file__).parents[2]

P = 0.3
SIZES = {"10³": 10**3, "32768": 32768, "10⁶": 10**6, "10⁹": 10**9, "10¹²": 10**12, "10¹⁵": 10**15}
PACKAGES = ("statpriv", "numpy", "scipy", "python-flint", "mpmath", "dp-accounting", "prv-accountant")
MARKERS = ("<!-- written by benches/python/side_by_side.py -->", "<!-- end of what is written -->")

BATCH = 0.002
PATIENCE = 0.4
"""`BATCH` is the length of one batch and `PATIENCE` that of all batches of a measurement, in seconds.

Work that takes longer than `PATIENCE` runs once.
"""


def seconds(work: Callable[[], object]) -> float:
    """The least time of one call."""
    start = time.perf_counter()
    work()
    once = time.perf_counter() - start
    if once > PATIENCE:
        return once
    loops = max(1, int(BATCH / max(once, 1e-8)))
    best, end = once, time.perf_counter() + PATIENCE
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(loops):
            work()
        best = min(best, (time.perf_counter() - start) / loops)
    return best


Peers = dict[str, Callable[[], object]]


@dataclass(frozen=True)
class Case:
    """One piece of work, done by statpriv and by its peers."""

    work: str
    ours: Callable[[], object]
    peers: Peers
    truth: Callable[[], oracle.Bounds] | None = None
    """The true value, from the oracle. Without one, the peers' results are compared with those of statpriv."""


def count(n: int, p: object = P) -> sp.PrivacyCurve:
    return sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), pair=(1, 0))


def deltas() -> Iterator[Case]:
    for name, n in SIZES.items():
        for distance in (1, 10):
            curve, epsilon = count(n), distance / math.sqrt(n * P * (1 - P))
            others = {
                "scipy": lambda: peers.scipy_delta(n, P, epsilon),
                "R (libRmath)": lambda: peers.r_delta(n, P, epsilon),
            }
            if n == 32768 and distance == 1:
                others["dp_accounting, default grid"] = lambda: peers.dp_accounting_curve(n, P, epsilon, 1e-4)
                others["dp_accounting, grid of ε/1000"] = lambda: peers.dp_accounting_curve(
                    n, P, epsilon, epsilon / 1000
                )
                others["prv_accountant, ε to 1/1000"] = lambda: peers.prv_accountant_delta(n, P, epsilon)
            yield Case(
                f"n = {name}, ε = {distance}/σ",
                lambda: curve.delta(epsilon),
                others,
                lambda: oracle.delta_1_0_ball(n, Fraction(P), Fraction(epsilon)),
            )


def log_pmfs() -> Iterator[Case]:
    for name in ("10⁶", "10¹²", "10¹⁵"):
        n = SIZES[name]
        k = int(0.3 * n + math.sqrt(n))
        yield Case(
            f"binomial, n = {name}",
            lambda: laws.binomial_log_pmf(k, n=n, p=P),
            {
                "scipy": lambda: peers.scipy_log_pmf(k, n, P),
                "R (libRmath)": lambda: peers.r_log_pmf(k, n, P),
                "python-flint, 128 bits": lambda: peers.flint_log_pmf(k, n, P),
            },
            lambda: oracle.binomial_log_pmf_ball(k, n, Fraction(P)),
        )
    for name in ("10⁶", "10¹²", "10¹⁵"):
        n = SIZES[name]
        table = (2 * n, 3 * n // 5, n)
        k = int(0.3 * n + math.sqrt(n) / 2)
        yield Case(
            f"hypergeometric, {name} of twice as many",
            lambda: laws.hypergeometric_log_pmf(k, population=table[0], marked=table[1], draws=table[2]),
            {
                "scipy": lambda: peers.scipy_hypergeometric_log_pmf(k, *table),
                "R (libRmath)": lambda: peers.r_hypergeometric_log_pmf(k, *table),
                "python-flint, 128 bits": lambda: peers.flint_hypergeometric_log_pmf(k, *table),
            },
            lambda: oracle.hypergeometric_log_pmf_ball(k, *table),
        )


def tails() -> Iterator[Case]:
    for name in ("10⁶", "10¹²", "10¹⁵"):
        n = SIZES[name]
        k = int(0.3 * n + math.sqrt(n))
        yield Case(
            f"binomial, n = {name}",
            lambda: laws.binomial_upper_tail(k, n=n, p=P),
            {
                "scipy": lambda: peers.scipy_tail(k, n, P),
                "R (libRmath)": lambda: peers.r_tail(k, n, P),
            },
            lambda: oracle.binomial_upper_tail_ball(k, n, Fraction(P)),
        )
    n = 10**6
    table = (2 * n, 3 * n // 5, n)
    k = int(0.3 * n + math.sqrt(n) / 2)
    yield Case(
        "hypergeometric, 10⁶ of twice as many",
        lambda: laws.hypergeometric_upper_tail(k, population=table[0], marked=table[1], draws=table[2]),
        {
            "scipy": lambda: peers.scipy_hypergeometric_tail(k, *table),
            "R (libRmath)": lambda: peers.r_hypergeometric_tail(k, *table),
        },
        lambda: oracle.hypergeometric_upper_tail_ball(k, *table),
    )


def arrays() -> Iterator[Case]:
    n, epsilons = 1 << 20, np.arange(1, 1001) * 1e-5
    curve = count(n)
    yield Case(
        "1000 values of δ, n = 2²⁰",
        lambda: curve.delta(epsilons),
        {
            "scipy": lambda: peers.scipy_delta(n, P, epsilons),
            "dp_accounting, default grid": lambda: peers.dp_accounting_curve(n, P, epsilons, 1e-4),
        },
    )
    query, sizes = sp.PropertyQuery(P), np.arange(10**6, 10**6 + 1000)
    yield Case(
        "δ(0.001) at 1000 sizes from 10⁶ on",
        lambda: sp.delta_at_sizes(query, sizes, 0.001, pair=(1, 0)),
        {
            "statpriv, one by one": lambda: [count(int(n)).delta(0.001).midpoint for n in sizes],
            "scipy": lambda: peers.scipy_delta(sizes, P, 0.001),
        },
    )
    yield Case(
        "full pmf, n = 10⁴",
        lambda: laws.binomial_pmf_row(n=10**4, p=P),
        {"scipy": lambda: peers.scipy_pmf(10**4, P)},
    )


def fifty_digits() -> Iterator[Case]:
    for name, n in SIZES.items():
        curve, epsilon = count(n), 1 / math.sqrt(n)
        yield Case(
            f"n = {name}",
            lambda: curve.delta(epsilon, digits=50),
            {
                "python-flint, 300 bits": lambda: peers.flint_digits(n, P, epsilon),
                "mpmath, 60 digits": lambda: peers.mpmath_digits(n, P, epsilon),
            },
        )


def exact_values() -> Iterator[Case]:
    for n, p, ratio in ((4096, Fraction(1, 100), Fraction(11, 10)), (32768, Fraction(1, 2), Fraction(201, 200))):
        curve = count(n, p)
        yield Case(
            f"n = {n}, p = {p}, e^ε = {ratio}",
            lambda: curve.exact_delta(exp_epsilon=ratio),
            {"Python integers": lambda: peers.exact_delta(n, p, ratio)},
        )


def situations() -> Iterator[Case]:
    """Curves that are built and evaluated once, as for a user's first number. The peers are given the worst entry."""

    def first(query: object, population: object, epsilon: float, **options: object) -> Callable[[], object]:
        return lambda: sp.privacy_curve(query, population, **options).delta(epsilon)

    def told(laws: Callable[..., situation_peers.Laws], *arguments: object, epsilon: float) -> Peers:
        return {"dp_accounting, default grid": lambda: situation_peers.discretised(laws(*arguments), epsilon)}

    def both(name: str, laws: Callable[..., situation_peers.Laws], *arguments: object, epsilon: float) -> Peers:
        added = {name: lambda: situation_peers.hockey_stick(laws(*arguments), epsilon)}
        return added | told(laws, *arguments, epsilon=epsilon)

    half, known = sp.PropertyQuery(0.5), sp.Adversary(known=10**5)
    sample, numbers = sp.WithoutReplacement(10**5), (10**6, 10**5, 10**5, 0.5)
    yield Case(
        "sampling privacy curve, n = 10⁶, sample and known entries 10⁵",
        first(half, sp.Population(10**6), 0.005, adversary=known, sampling=sample, bound="spc", pair=(1, 0)),
        {"scipy": lambda: situation_peers.known_in_sample(*numbers, 0.005)}
        | told(situation_peers.known_in_sample_laws, *numbers, epsilon=0.005),
    )
    for n in (10**4, 10**5):
        yield Case(
            f"count with replacement, n = s = {n}",
            first(sp.PropertyQuery(P), sp.Population(n), 0.005, sampling=sp.WithReplacement(n), pair=(1, 0)),
            both("scipy", situation_peers.with_replacement_laws, n, n, P, epsilon=0.005) if n == 10**4 else {},
        )
    cells = [k / 55 for k in range(1, 11)]
    yield Case(
        "histogram of 10 cells, n = 10⁶",
        first(sp.HistogramQuery(cells), sp.Population(10**6), 0.005),
        {"scipy": lambda: situation_peers.histogram(10**6, cells, 0.005)}
        | told(situation_peers.histogram_laws, 10**6, cells, epsilon=0.005),
    )
    for epsilon in (0.01, 0.3):
        yield Case(
            f"sum over 100 values, n = 10⁴, ε = {epsilon}",
            first(sp.SumQuery(dict.fromkeys(range(100), "1/100")), sp.Population(10**4), epsilon),
            both("numpy, FFT", situation_peers.sum_laws, 10**4, [0.01] * 100, epsilon=epsilon),
        )
    mixed = [k / 5001 for k in range(1, 5001)]
    yield Case(
        "5000 entries with different p",
        first(sp.PropertyQuery(mixed), sp.Population(5000), 0.01),
        both("scipy", situation_peers.mixed_laws, mixed, 2077, epsilon=0.01),
    )
    for n in (10**3, 10**6):
        yield Case(
            f"each row its own p in [0.4, 0.7], n = {n}",
            first(sp.PropertyQuery(sp.EachBetween("0.4", "0.7")), sp.Population(n), 0.01, pair=(1, 0)),
            {"numpy, every k": lambda: situation_peers.each_in_range(1000, 0.4, 0.7, 0.01)} if n == 10**3 else {},
        )
    yield Case(
        "households of at most 3, each row its own p in [0.4, 0.7], 1000 of them",
        first(
            sp.PropertyQuery(sp.EachBetween("0.4", "0.7")), sp.Population(2500, clusters=1000, largest_cluster=3), 0.1
        ),
        {"numpy, every k": lambda: situation_peers.each_in_range(1000, 0.4, 0.7, 0.1, gap=3)},
    )
    for size in (500, 10**4):
        drawn = {"a": 12 * size, "b": 8 * size}
        yield Case(
            f"sampling privacy curve, {size} drawn from 2 groups",
            first(
                sp.PropertyQuery({"a": 0.2, "b": 0.667}),
                sp.Population(groups=drawn),
                1 / size**0.5,
                sampling=sp.WithoutReplacement(size),
                bound="spc",
                pair=(1, 0),
            ),
            {
                "numpy, every composition": lambda: situation_peers.drawn_groups(
                    (6000, 4000), (0.2, 0.667), 500, 500**-0.5
                )
            }
            if size == 500
            else {},
        )
    shares = {"a": 0.3, "b": 0.5, "c": 0.9}
    for size in (10**4, 10**12):
        sizes = dict.fromkeys(shares, size)
        yield Case(
            f"3 groups of {size:.0e} entries",
            first(sp.PropertyQuery(shares), sp.Population(groups=sizes), 1 / size**0.5, pair=(1, 0)),
            both("scipy, FFT", situation_peers.grouped_laws, sizes, shares, "a", epsilon=1 / size**0.5)
            if size == 10**4
            else {},
        )


def compositions() -> Iterator[Case]:
    """Curves that are built and evaluated once. The peers are given the pattern and do not search for the worst one."""
    half = Fraction(1, 2)
    many = [Fraction(511 + 8 * k, 5110) for k in range(512)]
    several = [Fraction(7 + 6 * k, 70) for k in range(8)]
    cases = [
        ("512 different parts of 64, given pattern", 64, many, [p > half for p in many], 0.02),
        ("512 different parts of 64, given pattern, ε = 0.1", 64, many, [p > half for p in many], 0.1),
        ("512 different parts of 64, all patterns", 64, many, None, 0.02),
        ("8 different parts of 50, given pattern", 50, several, [k > 4 for k in range(8)], 0.05),
        ("8 different parts of 50, all patterns", 50, several, None, 0.05),
        ("32 unrelated parts of 1024, one p, all patterns", 1024, [Fraction(3, 10)] * 32, None, 0.005),
    ]
    for work, size, shares, upwards, epsilon in cases:
        n = size * len(shares)
        others = {}
        if upwards is not None:
            pattern = [(size, float(p), up) for p, up in zip(shares, upwards, strict=True)]
            others["numpy, FFT on a grid"] = lambda: situation_peers.composed_on_a_grid(n, pattern, epsilon)
            if epsilon < 0.1:  # beyond this, no draw reaches the tail
                others["numpy, a million draws"] = lambda: situation_peers.composed_by_drawing(n, pattern, epsilon)
        yield Case(work, lambda: composed(size, shares, upwards, epsilon), others)


def composed(size: int, shares: list[Fraction], upwards: list[bool] | None, epsilon: float) -> object:
    """δ of the worst pattern, or of a given one."""
    queries, parts = [sp.PropertyQuery(p) for p in shares], sp.RandomPartition([size] * len(shares))
    pattern = upwards and [(1, 0) if up else (0, 1) for up in upwards]
    return sp.compose(queries, sp.Population(size * len(shares)), parts, pair=pattern).delta(epsilon)


def accountants() -> Iterator[Case]:
    """Counts of different sizes and probabilities, which accountants of differential privacy can compose too."""
    epsilon, together = 0.02, composition_peers
    tables = [(1 << 15, 0.5), (1 << 14, 0.3), (1 << 13, 0.1)]
    yield Case(
        "3 independent tables, statpriv's distributions in dp_accounting, default grid",
        lambda: together.exported(tables, epsilon, 1e-4),
        {
            "dp_accounting, default grid": lambda: together.discretised(tables, epsilon, 1e-4),
            "dp_accounting, grid of ε/1000": lambda: together.discretised(tables, epsilon, epsilon / 1000),
            "prv_accountant, ε to 1/1000": lambda: together.prv(tables, epsilon),
        },
        lambda: in_doubles(together.product_delta(tables, epsilon)),
    )
    parts = [(2000, 0.1), (3000, 0.5)]
    yield Case(
        "2 parts of one secret partition, all patterns",
        lambda: together.partition_certified(parts, epsilon),
        {
            "dp_accounting, all joint answers, default grid": lambda: together.partition_discretised(
                parts, epsilon, 1e-4
            ),
            "prv_accountant, all joint answers, ε to 1/1000": lambda: together.partition_prv(parts, epsilon),
            "numpy, all joint answers": lambda: together.partition_delta(parts, epsilon),
        },
    )


def in_doubles(value: float) -> oracle.Bounds:
    """A true value that is known to ten digits only."""
    return oracle.Bounds(Fraction(value), Fraction(value))


TABLES = {
    "One δ through `curve.delta(ε)`": deltas,
    "Log probabilities": log_pmfs,
    "Upper tails": tails,
    "Arrays": arrays,
    "Fifty digits of δ": fifty_digits,
    "Exact δ": exact_values,
    "Situations": situations,
    "Compositions": compositions,
    "Compositions beside accountants of differential privacy": accountants,
}


HELD = 1e-300
"""Smaller numbers are not compared, because doubles lose precision there."""


def relative_width(value: object) -> float:
    """The relative width of an enclosure, or the largest one of an array. It is 0 for an exact value."""
    if isinstance(value, Fraction):
        return 0.0
    if isinstance(value, sp.EnclosureArray):
        held = value.upper > HELD
        return float(np.max(value.width[held] / value.upper[held]))
    return float(value.width / abs(value.upper))


def error_of(value: object, case: Case, ours: object) -> float:
    """The relative error of a peer's value, or the largest one of an array."""
    if isinstance(ours, sp.EnclosureArray):
        held = ours.upper > HELD
        return float(np.max(np.abs(np.asarray(value)[held] / ours.midpoint[held] - 1)))
    if case.truth is not None:
        bounds = case.truth()
        truth = (bounds.lower + bounds.upper) / 2
    else:
        truth = as_fraction(ours)
    return float(abs(as_fraction(value) / truth - 1))


def as_fraction(value: object) -> Fraction:
    """The number, or the midpoint of a ball or an enclosure."""
    match value:
        case flint.arb():
            mantissa, exponent = value.mid().man_exp()
        case mpmath.mpf():
            mantissa, exponent = value.man_exp
        case Fraction():
            return value
        case _ if hasattr(value, "midpoint"):
            return as_fraction(value.midpoint)
        case _:
            return Fraction(float(np.squeeze(value)))
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def rows(case: Case) -> Iterator[str]:
    ours, time_of_ours = case.ours(), seconds(case.ours)
    start = f"| {case.work} | {in_units(time_of_ours)} | {relative_width(ours):.1e} |"
    if not case.peers:
        yield f"{start} | | | |"
    for name, work in case.peers.items():
        try:
            value = work()
        except SkippedError as reason:
            yield f"{start} {name} | – | – | {reason} |"
        else:
            theirs = seconds(work)
            ratio = theirs / time_of_ours
            shown = f"{ratio:.2g}" if ratio < 10 else f"{ratio:.0f}"
            yield f"{start} {name} | {in_units(theirs)} | {shown} | {error_of(value, case, ours):.1e} |"
        start = "| | | |"


def tables() -> Iterator[str]:
    for title, cases in TABLES.items():
        yield f"### {title}\n"
        yield "| | statpriv | width | peer | its time | ratio | its error |"
        yield "|---|---|---|---|---|---|---|"
        for case in cases():
            yield from rows(case)
        yield ""


def machine() -> str:
    """The machine and the software of the measurement."""
    cpu = platform.processor() or platform.machine()
    if (info := Path("/proc/cpuinfo")).exists():
        names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0] if names else cpu
    software = ", ".join(installed(name) for name in PACKAGES)
    return f"{cpu}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, {software}."


def installed(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"no {name}"


def page() -> Iterator[str]:
    yield f"{machine()}\n"
    yield from budgets.table(through_python())
    yield "\n## Beside others\n"
    yield from tables()
    yield "\n### A release of a million rows\n"
    yield release.beside_grouped_counts(10**6)


def through_python() -> float:
    """The time of the slowest call of `curve.delta(ε)`, in seconds."""
    return max(seconds(case.ours) for case in deltas())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/performance.md")
    written = []
    write = parser.parse_args().write
    for line in page():
        print(line, flush=True)
        written.append(line)
    if write:
        path = ROOT / "docs" / "performance.md"
        before, rest = path.read_text().split(MARKERS[0])
        after = rest.split(MARKERS[1])[1]
        path.write_text(f"{before}{MARKERS[0]}\n\n" + "\n".join(written).rstrip() + f"\n\n{MARKERS[1]}{after}")


if __name__ == "__main__":
    main()
