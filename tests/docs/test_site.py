"""The site has every page of the documentation, every public name and every command."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs.site import generated, notebooks

import statpriv

ROOT = Path(__file__).parents[2]
NAVIGATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
PLACES = re.findall(r": ([\w/-]+\.md)$", NAVIGATION, re.MULTILINE)
EXCLUDED = ("explanation/mutation/", "site/")


def test_every_page_is_in_the_navigation_once():
    written = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    written = [place for place in written if not place.startswith(EXCLUDED)]
    own = [place for place in PLACES if place.startswith("reference/api/")]
    generated_pages = [
        *own,
        "reference/command-line.md",
        "reference/schemas.md",
        "reference/errors.md",
        "gallery.md",
        "changelog.md",
        *(f"notebooks/{path.stem}.md" for path in notebooks.FOLDER.glob("*.ipynb")),
    ]
    assert sorted(PLACES) == sorted([*written, *generated_pages])
    assert own == [place for place, _ in generated._pages_of_names()]


def test_every_public_name_is_in_a_group():
    listed = {name for names in generated.groups().values() for name in names}
    assert set(statpriv.__all__) - listed == {"__version__"}


def test_every_command_is_listed():
    listed = set(generated._paths_of(generated.command_line))
    assert {("delta",), ("release",), ("ledger", "show"), ("report", "render"), ("design", "table")} <= listed


def test_every_error_has_a_remedy_and_every_mistake_its_message():
    assert set(generated._WHAT_TO_DO) == set(statpriv.errors.__all__) - {"StatprivError"}
    page = generated._errors()
    assert page.count("\n| `") == len(generated._WHAT_TO_DO)
    assert "CURVE.get_epsilon(1e-6)\n    " in page
    assert "write curve.epsilon(1e-6)" in page


@pytest.mark.parametrize("name", ["curve", pytest.param("minimum-counts", marks=pytest.mark.campaign)])
def test_a_figure_of_the_gallery_is_drawn_by_its_command(tmp_path, name):
    _, command = generated.FIGURES[name]
    assert b"<svg" in generated._drawn(command, tmp_path / "drawn.svg")
    assert f"![{generated.FIGURES[name][0]}](gallery/{name}.svg)" in generated.gallery()
    assert f"statpriv {command} --out {name}.svg" in generated.gallery()


@pytest.mark.campaign
def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path):
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "-d", tmp_path], cwd=ROOT, check=True)
    pages = list(tmp_path.rglob("index.html"))
    assert len(pages) == len(PLACES)
    loaded = [
        found
        for page in pages
        for found in re.findall(r'<(?:script|link|img)[^>]*="https?:[^"]*"', page.read_text("utf-8"))
    ]
    assert [tag for tag in loaded if "canonical" not in tag] == []
