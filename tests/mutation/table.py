"""The table of docs/explanation/mutation-testing.md, from what cargo-mutants wrote.

python tests/mutation_table.py                  # the table
python tests/mutation_table.py collect OUT...   # reads mutants.out folders into the report; a later one overrides
"""

import json
import sys
from collections import Counter
from pathlib import Path

REPORT = Path(__file__).parents[1] / "docs/explanation/mutation/outcomes.json"
OUTCOMES = ("caught", "missed", "timeout", "unviable")


def collect(folders: list[Path]) -> None:
    """Merges finished outcomes into the report, by the name of the mutant."""
    report = json.loads(REPORT.read_text(encoding="utf-8"))
    outcomes = {name: outcome for outcome in OUTCOMES for name in report["outcomes"].get(outcome, [])}
    for folder in folders:
        for outcome in OUTCOMES:
            outcomes.update(
                dict.fromkeys((folder / f"{outcome}.txt").read_text(encoding="utf-8").splitlines(), outcome)
            )
    report["outcomes"] = {
        outcome: sorted(name for name, found in outcomes.items() if found == outcome) for outcome in OUTCOMES
    }
    REPORT.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def table() -> str:
    """A row a file: how many mutants there are, were tried, and could fail; and how many of those were noticed."""
    report = json.loads(REPORT.read_text(encoding="utf-8"))
    tried = Counter(
        (name.split(":")[0].removeprefix("rust/core/src/"), outcome)
        for outcome, names in report["outcomes"].items()
        for name in names
    )
    lines = ["| file | mutants | tried | viable | noticed | survived |", "|---|--:|--:|--:|--:|--:|"]
    sums = Counter[str]()
    for file, mutants in sorted(report["mutants"].items()):
        count = {outcome: tried[file, outcome] for outcome in OUTCOMES}
        row = {
            "mutants": mutants,
            "tried": sum(count.values()),
            "viable": sum(count.values()) - count["unviable"],
            "noticed": count["caught"] + count["timeout"],
            "survived": count["missed"],
        }
        sums.update(row)
        if row["tried"]:
            lines.append(f"| `{file}` | " + " | ".join(str(n) for n in row.values()) + " |")
    untried = sum(n for file, n in report["mutants"].items() if not any(tried[file, o] for o in OUTCOMES))
    lines.append(f"| files of which none was tried | {untried} | 0 | 0 | 0 | 0 |")
    return "\n".join([*lines, "| **all** | " + " | ".join(str(n) for n in sums.values()) + " |"]) + "\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["collect"]:
        collect([Path(folder) for folder in sys.argv[2:]])
    sys.stdout.write(table())
