"""The page about the rules of the world has the numbers that the library computes, and a source for each rule."""

import re
from pathlib import Path

import pytest

import statpriv as sp
from statpriv.numeric.literals import at_most

PAGE = (Path(__file__).parents[2] / "docs/explanation/minimum-cell-sizes.md").read_text(encoding="utf-8")
EPSILONS = ("0.5", 1, 2, 3)
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if re.match(r"\| \d+ \|", line)
]
SOURCES = re.findall(r"^\| \[(\d+)\] \|", PAGE, flags=re.MULTILINE)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"T = {row[0]}")
def test_every_delta_is_that_of_the_library_rounded_up(row):
    curve = sp.minimum_count_curve(int(row[0]))
    assert row[1:5] == [at_most(curve.delta(epsilon).upper, 3) for epsilon in EPSILONS]


def test_every_rule_has_a_source_and_every_source_a_rule():
    used = {number for row in ROWS for number in re.findall(r"\[(\d+)\]", row[5])}
    assert len(ROWS) == 9
    assert used == set(SOURCES) == {str(number) for number in range(1, 15)}


def test_the_header_names_the_epsilons():
    header = next(line for line in PAGE.splitlines() if line.startswith("| T |"))
    assert [str(epsilon) for epsilon in EPSILONS] == re.findall(r"ε = ([\d.]+)", header)
