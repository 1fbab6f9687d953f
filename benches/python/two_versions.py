"""Compares two installed versions of statpriv on the same work: medians of five runs, their ratio, and the widths.

    python benches/python/two_versions.py OLD_PYTHON NEW_PYTHON

Each argument is an interpreter with one version installed. Each piece of work runs in its own process, alternately with
either interpreter, so that a drift in the speed of the machine affects both alike. Prints Markdown.
"""

import json
import statistics
import subprocess
import sys

RUNS = 5
PRELUDE = """
import json, time
import statpriv as sp
def seconds(work, patience=0.3):
    start = time.perf_counter(); work(); once = time.perf_counter() - start
    if once > patience: return once
    loops, best, end = max(1, int(0.002 / max(once, 1e-8))), once, time.perf_counter() + patience
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(loops): work()
        best = min(best, (time.perf_counter() - start) / loops)
    return best
def report(build, ask):
    curve = build()
    width = getattr(ask(curve), "width", 0.0)
    largest = float(width.max() if hasattr(width, "max") else width)
    print(json.dumps([seconds(lambda: ask(build() if FRESH else curve)), largest]))
"""
COUNT = "sp.privacy_curve(sp.PropertyQuery({p}), sp.Population({n}){more})"
PARTS = "sp.compose({queries}, sp.Population({n}), sp.RandomPartition({sizes}){more})"
DELTA = "lambda curve: curve.delta('{epsilon}')"
# Work: (expression that builds the curve, query of the curve, whether the time includes building it).
WORK = {
    "δ, n = 1024": (COUNT.format(p="'0.3'", n=1024, more=""), DELTA.format(epsilon="0.1"), False),
    "δ, n = 10⁶": (COUNT.format(p="'0.3'", n=10**6, more=""), DELTA.format(epsilon="0.002"), False),
    "δ, n = 10¹²": (COUNT.format(p="'0.3'", n=10**12, more=""), DELTA.format(epsilon="2e-6"), False),
    "δ over a range of p, n = 10⁶": (
        COUNT.format(p="sp.Between('0.2', '0.3')", n=10**6, more=""),
        DELTA.format(epsilon="0.002"),
        False,
    ),
    "δ with 50 digits, n = 10⁶": (
        COUNT.format(p="'0.3'", n=10**6, more=""),
        "lambda curve: curve.delta('0.002', digits=50)",
        False,
    ),
    "exact δ, n = 4096": (
        COUNT.format(p="'1/100'", n=4096, more=""),
        "lambda curve: curve.exact_delta(exp_epsilon='11/10')",
        False,
    ),
    "1000 δ of one curve, n = 10⁶": (
        COUNT.format(p="'0.3'", n=10**6, more=""),
        "lambda curve: curve.delta([k / 250000 for k in range(1000)])",
        False,
    ),
    "ε(δ), n = 1024": (COUNT.format(p="'0.3'", n=1024, more=""), "lambda curve: curve.epsilon('1e-6')", False),
    "β(α), n = 1024": (COUNT.format(p="'0.3'", n=1024, more=""), "lambda curve: curve.beta('0.1')", False),
    "a count in a hidden sample, 100 known": (
        COUNT.format(
            p="'0.3'", n=1024, more=", sampling=sp.WithoutReplacement(256), adversary=sp.Adversary(known=100)"
        ),
        DELTA.format(epsilon="0.1"),
        True,
    ),
    "a sum of three values of 200 rows": (
        "sp.privacy_curve(sp.SumQuery(pmf={0: '.5', 1: '.3', 5: '.2'}), sp.Population(200))",
        DELTA.format(epsilon="0.1"),
        True,
    ),
    "a noisy count": (
        "sp.privacy_curve(sp.PropertyQuery('0.3').noisy(sp.noise.Gaussian(sigma=3)), sp.Population(500))",
        DELTA.format(epsilon="0.1"),
        True,
    ),
    "a histogram of three cells, n = 10⁴": (
        "sp.privacy_curve(sp.HistogramQuery(['.2', '.3', '.5']), sp.Population(10**4))",
        DELTA.format(epsilon="0.05"),
        True,
    ),
    "32 counts of one property": (
        PARTS.format(queries="[sp.PropertyQuery('1/2', attribute='a')] * 32", n=32768, sizes="[1024] * 32", more=""),
        DELTA.format(epsilon="0.005"),
        True,
    ),
    "8 unrelated counts": (
        PARTS.format(
            queries="[sp.PropertyQuery(p, attribute=p) for p in ('.2', '.3', '.4', '.5', '.6', '.7', '.8', '.9')]",
            n=8192,
            sizes="[1024] * 8",
            more="",
        ),
        DELTA.format(epsilon="0.01"),
        True,
    ),
    "24 unrelated counts, enclosed": (
        PARTS.format(
            queries="[sp.PropertyQuery(f'{k}/50', attribute=str(k)) for k in range(10, 34)]",
            n=24000,
            sizes="[1000] * 24",
            more="",
        ),
        DELTA.format(epsilon="0.01"),
        True,
    ),
    "Theorem 5.1, 100 parts": (
        PARTS.format(
            queries="[sp.PropertyQuery('1/2', attribute='a')] * 100",
            n=100000,
            sizes="list(range(901, 1001))",
            more=", bound='partition-sum'",
        ),
        DELTA.format(epsilon="0.01"),
        True,
    ),
}
STARTS = {"import statpriv": ["-c", "import statpriv"], "statpriv --help": ["-m", "statpriv", "--help"]}


def measured(python: str, work: tuple[str, str, bool]) -> tuple[float, float]:
    """Seconds and width of one piece of work, run in its own process."""
    build, ask, fresh = work
    program = f"FRESH = {fresh}\n{PRELUDE}\nreport(lambda: {build}, {ask})"
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True, cwd="/")
    seconds, width = json.loads(done.stdout)
    return seconds, width


def started(python: str, arguments: list[str]) -> tuple[float, float]:
    """Seconds from the start of a process to its end, the least of three runs."""
    program = (
        "import subprocess, sys, time; start = time.perf_counter(); "
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); print(time.perf_counter() - start)"
    )
    times = [
        float(
            subprocess.run([python, "-c", program, python, *arguments], capture_output=True, check=True, cwd="/").stdout
        )
        for _ in range(3)
    ]
    return min(times), 0.0


def main() -> None:
    """Prints one row for each piece of work."""
    pythons = sys.argv[1:3]
    rows = [(name, lambda python, work=work: measured(python, work)) for name, work in WORK.items()]
    rows += [(name, lambda python, args=args: started(python, args)) for name, args in STARTS.items()]
    print("| work | before | now | ratio | width before | width now |\n|---|---|---|---|---|---|")
    for name, measure in rows:
        runs = [[measure(python) for python in pythons] for _ in range(RUNS)]
        (old, new) = (statistics.median(run[k][0] for run in runs) for k in (0, 1))
        before, now = (runs[0][k][1] for k in (0, 1))
        print(
            f"| {name} | {1e6 * old:.4g} µs | {1e6 * new:.4g} µs | {new / old:.2f} | {before:.2e} | {now:.2e} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
