"""Every row of docs/paper_map.md leads somewhere: to files that exist, to names in them and to tests of that name."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "statpriv"
TESTS = ROOT / "tests"
# Where the files of a section are, and the files of tests that its letters stand for.
SECTIONS = {
    "From the papers to the code": (PACKAGE, {}),
    "Partial knowledge [S2]": (
        PACKAGE / "theories" / "partial_knowledge",
        {
            "M": "theorems/test_partial_knowledge_models",
            "D": "theorems/test_partial_knowledge_dependency",
            "C": "theorems/test_partial_knowledge_counts",
            "R": "cli/test_reproduce",
        },
    ),
    "Noiseless database privacy [S3]": (
        PACKAGE / "theories" / "noiseless",
        {
            "B": "theorems/test_noiseless_boolean",
            "L": "theorems/test_noiseless_linear",
            "C": "theorems/test_noiseless_changing",
            "P": "unit/test_privacy_curve",
        },
    ),
    "Composition for any granularity [S4]": (
        PACKAGE / "theories" / "granularity",
        {
            "C": "theorems/test_granularity_composition",
            "D": "theorems/test_granularity_distances",
            "M": "theorems/test_granularity_misprints",
            "V": "theorems/test_granularity_divergences",
            "U": "unit/test_granularity",
        },
    ),
}


def rows() -> list[tuple[str, list[str]]]:
    """(section, cells) of each row of the page."""
    found, section = [], ""
    for line in (ROOT / "docs" / "paper_map.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            section = line.lstrip("# ")
        elif line.startswith("| ") and not line.startswith("| statement"):
            found.append((section, [cell.strip() for cell in line.strip("|").split(" | ")]))
    return found


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]*)`", cell)


def located(name: str, folder: Path) -> Path | None:
    """The file or folder of that name, in its section's folder, the package or the repository."""
    return next((place / name for place in (folder, PACKAGE, ROOT) if (place / name).exists()), None)


def text_of(cells: list[str], folder: Path) -> str:
    """All that the files of a row say, and what every row may name: the curve and the functions of its section."""
    files = [PACKAGE / "curves" / "curve.py", PACKAGE / "curves" / "evaluation.py", folder / "__init__.py"]
    for place in filter(None, (located(name, folder) for name in quoted(cells[1]))):
        files += [place] if place.is_file() else sorted(place.rglob("*.py")) + sorted(place.rglob("*.rs"))
    return "".join(file.read_text(encoding="utf-8") for file in files)


ROWS = [pytest.param(section, cells, id=cells[0][:60]) for section, cells in rows()]


@pytest.mark.parametrize(("section", "cells"), ROWS)
def test_the_files_of_a_row_exist(section: str, cells: list[str]) -> None:
    folder, _ = SECTIONS[section]
    assert [name for name in quoted(cells[1]) if located(name, folder) is None] == []


@pytest.mark.parametrize(("section", "cells"), ROWS)
def test_the_names_of_a_row_are_in_its_files(section: str, cells: list[str]) -> None:
    folder, _ = SECTIONS[section]
    text = text_of(cells, folder)
    calls = [name for name in quoted(cells[2]) if not name.startswith("statpriv ")]
    names = [word for name in calls for word in re.findall(r"[A-Za-z_]\w{2,}", name)]
    assert [name for name in names if not re.search(rf"\b{name}\b", text)] == []


@pytest.mark.parametrize(("section", "cells"), [row for row in ROWS if SECTIONS[row.values[0]][1]])
def test_the_tests_of_a_row_exist(section: str, cells: list[str]) -> None:
    """D `theorem_6_…` is a test of file D whose name contains that; … stands for anything."""
    _, letters = SECTIONS[section]
    named = re.findall(r"(?:\b([A-Z]) )?`([^`]*)`", cells[3])
    assert named, "every statement has a test"
    file = ""
    for letter, name in named:
        if (TESTS / f"{name}.py").exists():
            continue
        file = letters[letter] if letter else file
        pattern = r"\w*".join(re.escape(piece) for piece in name.replace("*", "…").split("…"))
        text = (TESTS / f"{file}.py").read_text(encoding="utf-8")
        assert re.search(rf"(def|class) \w*{pattern}", text), f"{file}: {name}"
