"""Are the tests there that the page about the attack simulation names, and does it name every broken mechanism?"""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1] / "release"
PAGE = (Path(__file__).parents[2] / "docs/explanation/attack-simulation.md").read_text(encoding="utf-8")


def functions(path):
    return {node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)}


def test_every_named_test_is_there():
    named = re.findall(r"`(test_\w+\.py)::(\w+)`", PAGE)
    assert len(named) > 10
    assert PAGE.count("::") == len(named)
    assert [(file, name) for file, name in named if name not in functions(TESTS / file)] == []


def test_every_broken_mechanism_is_named():
    table = "".join(line for line in PAGE.splitlines() if line.startswith("| "))
    assert [name for name in functions(TESTS / "mutants.py") if f"`{name}`" not in table] == []
