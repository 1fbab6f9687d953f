"""The table of limits: every limit is documented, and a limit is an ordinary number."""

import ast
import copy
import pickle
from pathlib import Path

import pytest

from statpriv import budget

PACKAGE = Path(budget.__file__).parent


@pytest.mark.parametrize("name", budget.limits())
def test_a_limit_says_what_it_limits_what_happens_beyond_it_and_why(name):
    limit = budget.limits()[name]
    assert name.startswith(("MAX_", "MIN_"))
    assert limit.of
    assert not limit.of.endswith(".")
    assert limit.refusal.endswith((".", "]"))
    assert limit.reason.endswith(".")
    assert "|" not in limit.of + limit.refusal + limit.reason


def test_no_two_limits_are_about_the_same():
    found = [limit.of for limit in budget.limits().values()]
    assert len(found) == len(set(found))


def test_a_limit_is_copied_and_pickled_as_a_number():
    for twin in (copy.copy(budget.MAX_INTEGER), pickle.loads(pickle.dumps(budget.MAX_INTEGER))):  # noqa: S301
        assert type(twin) is int
        assert twin == 2**53
    assert f"{budget.MAX_INTEGER}" == repr(budget.MAX_INTEGER) == str(2**53)


def imported_by(name):
    for node in ast.walk(ast.parse((PACKAGE / name).read_text(encoding="utf-8"))):
        yield from [node.module] if isinstance(node, ast.ImportFrom) else []
        yield from [each.name for each in node.names] if isinstance(node, ast.Import) else []


def test_the_table_of_limits_imports_what_a_limit_is_and_nothing_else_of_the_package():
    assert [name for name in imported_by("budget.py") if name.startswith("statpriv")] == ["statpriv.limit"]
    assert [name for name in imported_by("limit.py") if name.startswith("statpriv")] == []
