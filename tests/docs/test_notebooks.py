"""The notebooks of the documentation run from top to bottom, and hold no output that could be out of date."""

import ast
import json
import warnings

import pytest
from docs.site import notebooks

from .test_snippets import LINK

NOTEBOOKS = sorted(notebooks.FOLDER.glob("*.ipynb"))
SHOWN = {
    "publishing": ["for δ = 1e-5: 30", "islands,35 to 69,", "no row answers twice", "± 5.318"],
    "research": ["± 44.73", "55223/200000\nthe curve:  55223/200000", "consistent"],
    "review": ["as such a rule has it", "under 30, Dole is 46", "8 people with age = 30, vote = Dole", "proved "],
}


def cells(path, kind):
    return [
        "".join(cell["source"])
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == kind
    ]


def run(code, namespace):
    """As a notebook does: a last expression is displayed, by its page if it has one."""
    *statements, last = ast.parse(code).body
    shows = isinstance(last, ast.Expr)
    exec(compile(ast.Module(statements if shows else [*statements, last], []), "cell", "exec"), namespace)  # noqa: S102
    if shows and (value := eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)) is not None:  # noqa: S307
        print(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))  # noqa: T201


@pytest.mark.usefixtures("few_points")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs_and_shows_what_the_text_says(path, monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for code in cells(path, "code"):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
            run(code, namespace)
    printed = capsys.readouterr().out
    assert [words for words in SHOWN[path.stem] if words not in printed] == []


def test_there_are_three_and_none_holds_an_output():
    assert [path.stem for path in NOTEBOOKS] == list(SHOWN)
    for path in NOTEBOOKS:
        code = [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
        assert all((cell["outputs"], cell["execution_count"]) == ([], None) for cell in code)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_relative_links_lead_somewhere(path):
    links = [link["target"] for text in cells(path, "markdown") for link in LINK.finditer(text)]
    assert links
    assert [link for link in links if not (path.parent / link).exists()] == []


@pytest.mark.campaign  # a kernel and a converter that only the site needs
def test_a_page_has_what_its_notebook_prints_and_draws():
    page, pictures = notebooks.executed(notebooks.FOLDER / "research.ipynb")
    assert page.startswith("# Notebook: explore privacy curves\n\n[This page as a notebook](research.ipynb)")
    assert "the curve:  55223/200000" in page
    assert len(pictures) == 2
    assert all(f"]({name})" in page and picture.startswith(b"\x89PNG") for name, picture in pictures.items())
