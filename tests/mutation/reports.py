"""Shared code of the programs in this folder: their arguments, and a report that is complete after each mutant."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any


def arguments() -> argparse.ArgumentParser:
    """The arguments of a sample: how it is drawn, where it is tried, and where its report goes."""
    words = argparse.ArgumentParser()
    words.add_argument("--count", type=int, default=0, help="how many are drawn")
    words.add_argument("--seed", type=int, required=True)
    words.add_argument("--jobs", type=int, default=1)
    words.add_argument("--work", type=Path, required=True)
    words.add_argument("--report", type=Path, required=True)
    return words


class Report:
    """The outcome of each mutant, and facts about the whole sample."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path, self.seed, self.start = path, seed, time.time()
        self.outcomes: dict[str, tuple[str, str]] = {}

    def seconds(self) -> int:
        return round(time.time() - self.start)

    def note(self, name: str, outcome: tuple[str, str], about: dict[str, Any]) -> None:
        """Records an outcome and writes the report so far."""
        self.outcomes[name] = outcome
        print(outcome, name, flush=True)
        report = {"seed": self.seed, "seconds": self.seconds(), **about, "outcomes": self.outcomes}
        self.path.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
