"""The page on mutation testing shows what the stored report says."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tables_are_those_of_the_reports() -> None:
    spec = importlib.util.spec_from_file_location("mutation_table", ROOT / "tests/mutation/table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (ROOT / "docs/explanation/mutation-testing.md").read_text(encoding="utf-8")
    for name in module.ROOTS:
        assert module.table(name) in page
