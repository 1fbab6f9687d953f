"""Imports of the package point one way, and never in a circle (docs/explanation/architecture.md)."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "python" / "statpriv"
# From bottom to top. Folders of one layer may import each other as long as no cycle arises.
LAYERS = (
    {"errors", "_native", "limit"},
    {"numeric", "distributions", "budget"},
    {"model"},
    {"lowering"},
    {"rules"},
    {"curves"},
    {"composition", "planning", "assurance", "audit", "plotting", "interop", "theories"},
    {"files", "releasing"},
    {"studio"},
    {"cli"},
)
LEVEL = {folder: level for level, folders in enumerate(LAYERS) for folder in folders}
# Two independent implementations. They share no code with what they check, and so import nothing from the package.
ALONE = {"reference": {"errors"}, "assurance.checker": set()}
# Short names for deeper modules: they import their target, and nothing imports them.
ALIASES = {"", "__main__", "checker"}


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in PACKAGE.rglob("*.py")}


def module_level_statements(body):
    """The statements that run when a module is imported: neither function bodies nor code for type checkers only."""
    for statement in body:
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from module_level_statements(statement.orelse)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            for field in ("body", "orelse", "finalbody"):
                yield from module_level_statements(getattr(statement, field, []))


def target(module: str, name: str) -> str:
    """The module that `from module import name` loads."""
    return f"{module}.{name}".strip(".") if f"{module}.{name}".strip(".") in MODULES else module


def imports_of(name: str) -> set[str]:
    """The modules of the package that a module loads when it is imported."""
    path, found = MODULES[name], set()
    folder = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for statement in module_level_statements(ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(statement, ast.Import):
            found |= {alias.name.partition(".")[2] for alias in statement.names if alias.name.startswith("statpriv.")}
        elif statement.level:
            parts = folder.split(".")[: len(folder.split(".")) - statement.level + 1]
            base = ".".join([*parts, *filter(None, [statement.module])])
            found |= {target(base, alias.name) for alias in statement.names}
        elif statement.module == "statpriv" or (statement.module or "").startswith("statpriv."):
            base = (statement.module or "").partition(".")[2]
            found |= {target(base, alias.name) for alias in statement.names if alias.name != "_native"}
    return found - {name, ""}


IMPORTS = {name: imports_of(name) for name in MODULES}


def test_the_imports_of_the_package_are_seen():
    assert "model.situation" in IMPORTS["rules.registry"]
    assert "assurance.checker.counts" in IMPORTS["assurance.checker"]


@pytest.mark.parametrize("name", sorted(MODULES))
def test_no_arrow_points_upwards(name):
    if name in ALIASES or name.startswith(tuple(ALONE)):
        return
    folder = name.partition(".")[0]
    upwards = {other for other in IMPORTS[name] if LEVEL.get(other.partition(".")[0], -1) > LEVEL[folder]}
    assert upwards == set()
    assert not IMPORTS[name] & ALIASES


@pytest.mark.parametrize("folder", sorted(ALONE))
def test_what_checks_the_package_imports_nothing_of_it(folder):
    inside = {name for name in MODULES if name == folder or name.startswith(f"{folder}.")}
    assert len(inside) > 1
    assert {other for name in inside for other in IMPORTS[name]} - inside <= ALONE[folder]


def circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """The import cycles through each module."""
    found, finished = [], set()

    def visit(name: str, path: list[str]) -> None:
        if name in path:
            found.append([*path[path.index(name) :], name])
        elif name not in finished:
            for other in sorted(imports.get(name, ())):
                visit(other, [*path, name])
            finished.add(name)

    for name in sorted(imports):
        visit(name, [])
    return found


def test_a_circle_is_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == [["a", "b", "c", "a"]]


def test_no_modules_import_each_other_in_a_circle():
    assert circles(IMPORTS) == []


def test_no_folders_import_each_other_in_a_circle():
    """A top-level folder of the package is one node, so that two folders of one layer do not depend on each other."""
    between: dict[str, set[str]] = {}
    for name, others in IMPORTS.items():
        if name not in ALIASES:
            top = name.partition(".")[0]
            between.setdefault(top, set()).update({other.partition(".")[0] for other in others} - {top})
    assert circles(between) == []


def test_no_file_holds_more_than_six_hundred_lines():
    long = {name: lines for name, path in MODULES.items() if (lines := len(path.read_text().splitlines())) > 600}
    assert long == {}


@pytest.mark.parametrize(
    ("folders", "most"),
    [(["lowering", "rules", "curves", "composition"], 60), ([""], 330)],
    ids=["inside", "everywhere"],
)
def test_values_say_what_they_can_do_and_code_rarely_asks_who_they_are(folders, most):
    """What arrives at the borders as plain JSON, TOML or an argument has to be asked."""
    files = [path for folder in folders for path in (PACKAGE / folder).rglob("*.py")]
    assert sum(path.read_text(encoding="utf-8").count("isinstance") for path in files) <= most
