"""The page on mutation testing shows what the stored report says."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_table_is_that_of_the_report() -> None:
    spec = importlib.util.spec_from_file_location("mutation_table", ROOT / "tests/mutation_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.table() in (ROOT / "docs/explanation/mutation-testing.md").read_text(encoding="utf-8")
