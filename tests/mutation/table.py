"""The tables of docs/explanation/mutation-testing.md, from the stored reports.

    python tests/mutation/table.py                                   # print the tables
    python tests/mutation/table.py store REPORT NAME COMMIT COMMAND  # store a finished run as the report NAME
    python tests/mutation/table.py since REPORT NAME                 # add the survivors noticed by later tests

A stored report holds the outcome of each mutant in the run at that commit. Tests that were written for its survivors
are no evidence about mutants that were not drawn. So survivors that are noticed since are counted separately.
"""

import json
import sys
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Any

from scipy.stats import binomtest

REPORTS = Path(__file__).parents[2] / "docs/explanation/mutation"
OUTCOMES = ("caught", "timeout", "bits", "missed", "unviable")
# Noticed by tests that check what is right, not by a comparison with earlier results.
BY_MATHEMATICS = ("caught", "timeout")
ROOTS = {"kernel": "rust/core/src", "theory": "python/statpriv"}


def _outcomes(path: str) -> dict[str, list[str]]:
    found = json.loads(Path(path).read_text(encoding="utf-8"))["outcomes"]
    return {outcome: sorted(name for name, (what, _) in found.items() if what == outcome) for outcome in OUTCOMES}


def _write(name: str, report: dict[str, Any]) -> None:
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    (REPORTS / f"{name}.json").write_text(text, encoding="utf-8")


def store(path: str, name: str, commit: str, command: str) -> None:
    """Stores the report of a finished run."""
    run = json.loads(Path(path).read_text(encoding="utf-8"))
    about = {"command": command, "commit": commit, "seed": run["seed"], "minutes": round(run["seconds"] / 60)}
    lists = {
        key: run[key]
        for key in ("mutants", "not switched", "not tried", "not reached", "failing", "slow")
        if key in run
    }
    _write(name, about | lists | {"outcomes": _outcomes(path), "noticed since": [], "equivalent": []})


def since(path: str, name: str) -> None:
    """Adds the survivors that a later run noticed to a stored report."""
    report = read(name)
    now = _outcomes(path)
    noticed = {*report["noticed since"], *(one for how in (*BY_MATHEMATICS, "bits") for one in now[how])} & {
        *report["outcomes"]["missed"]
    }
    _write(name, report | {"noticed since": sorted(noticed)})


def read(name: str) -> dict[str, Any]:
    """A stored report."""
    report: dict[str, Any] = json.loads((REPORTS / f"{name}.json").read_text(encoding="utf-8"))
    return report


def group(name: str, file: str) -> str:
    """The directory of a file, or its own name if it is at the top."""
    return PurePosixPath(file).relative_to(ROOTS[name]).parts[0].split(".")[0]


def share(noticed: int, tried: int) -> str:
    """The share of noticed mutants among those tried, with a 95 % confidence interval for all mutants."""
    if not tried:
        return "–"
    interval = binomtest(noticed, tried).proportion_ci(0.95, method="exact")
    return f"{noticed / tried:.1%} ({interval.low:.1%} to {interval.high:.1%})"


def table(name: str) -> str:
    """The table with one row for each directory: the noticed mutants among those tried, and the estimate for all."""
    report = read(name)
    count = {outcome: Counter[str]() for outcome in (*OUTCOMES, "noticed since", "equivalent")}
    for outcome, names in (report["outcomes"] | {key: report[key] for key in ("noticed since", "equivalent")}).items():
        count[outcome].update(group(name, mutant.split(":")[0]) for mutant in names)
    mutants = Counter[str]()
    for file, number in report["mutants"].items():
        mutants[group(name, file)] += number
    has_bits = count["bits"].total() > 0
    bits = (" by mathematics |", "--:|") if has_bits else ("", "")
    lines = [
        f"| directory | mutants | tried | noticed, and of all (95 %) |{bits[0]} missed | noticed since | equivalent |",
        f"|---|--:|--:|--:|{bits[1]}--:|--:|--:|",
    ]
    for each in [*sorted(one for one in mutants if mutants[one]), "**all**"]:
        of = {outcome: found.total() if each == "**all**" else found[each] for outcome, found in count.items()}
        first = sum(of[outcome] for outcome in BY_MATHEMATICS)
        noticed = first + of["bits"]
        tried = noticed + of["missed"]
        size = mutants.total() if each == "**all**" else mutants[each]
        title = each if each == "**all**" else f"`{each}`"
        shares = [share(noticed, tried), *([share(first, tried)] if has_bits else [])]
        last = f"{of['missed']} | {of['noticed since']} | {of['equivalent']} |"
        lines.append(f"| {title} | {size} | {tried} | {' | '.join(shares)} | {last}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Stores a report or its later survivors if asked to, and prints the tables."""
    match sys.argv[1:]:
        case ["store", *words]:
            store(*words)
        case ["since", *words]:
            since(*words)
    for name in ROOTS:
        sys.stdout.write(table(name) + "\n")


if __name__ == "__main__":
    main()
