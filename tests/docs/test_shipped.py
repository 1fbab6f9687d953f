"""Do the files beside the code say of the project what its own files say?"""

import re
from pathlib import Path

import pytest

import statpriv as sp

ROOT = Path(__file__).parents[2]
VERSION = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)[1]


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("CITATION.cff", r"^version: (.*)$"),
        ("packaging/conda/recipe.yaml", r"^  version: (\d.*)$"),
        ("r/DESCRIPTION", r"^Version: (.*)$"),
    ],
)
def test_every_file_has_the_version_of_the_crates(file, pattern):
    text = (ROOT / file).read_text(encoding="utf-8")
    assert re.findall(pattern, text, re.MULTILINE) == [VERSION] == [sp.__version__]


def test_the_recipe_needs_what_the_package_needs():
    """With the extra for releases: conda has no extras, and other names for some packages."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    dependencies = re.search(r"^dependencies = \[(.*?)^\]", project, re.MULTILINE | re.DOTALL)[1]
    extra = re.search(r"^release = \[(.*?)\]", project, re.MULTILINE)[1]
    stated = re.findall(r'"([a-z0-9-]+)>=([0-9.]+)(?!.*python_version)', dependencies + extra)
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text(encoding="utf-8")
    run = recipe.partition("  run:")[2].partition("\ntests:")[0]
    needed = re.findall(r"^    - ([a-z0-9-]+) >=([0-9.]+)$", run, re.MULTILINE)
    assert sorted(needed) == sorted((name.replace("duckdb", "python-duckdb"), version) for name, version in stated)


def test_workflows_name_targets_of_make_that_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    workflows = "".join(path.read_text(encoding="utf-8") for path in (ROOT / ".github/workflows").glob("*.yml"))
    asked = set(re.findall(r"\bmake ([a-z]+)", workflows))
    assert asked
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in asked)
