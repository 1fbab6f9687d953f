"""Templates are compiled once for all processes, and kept as Python keeps what it compiles of modules."""

import subprocess
import sys
from importlib.util import cache_from_source

import pytest

pytest.importorskip("jinja2")
from statpriv.releasing.compiled_templates import environment


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "page.jinja").write_text("{{ name }}!", encoding="utf-8")
    return tmp_path


@pytest.fixture
def kept(folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(folder / "kept"))
    return lambda: [*(folder / "kept").rglob("page.*")]


def rendered(folder):
    return environment(folder).get_template("page.jinja").render(name="<b>")


def test_a_template_is_compiled_once(folder, kept, monkeypatch):
    assert rendered(folder) == "&lt;b&gt;!"
    [path] = kept()
    assert ".opt-jinja" in path.name
    assert str(path.parent) == str(folder / "kept") + str(folder)
    monkeypatch.setattr("jinja2.Environment.compile", lambda *_, **__: pytest.fail("compiled again"))
    assert rendered(folder) == "&lt;b&gt;!"


def test_what_does_not_belong_to_the_source_is_not_used(folder, kept):
    rendered(folder)
    [path] = kept()
    for damaged in (b"", path.read_bytes()[:-1], b"something else"):
        path.write_bytes(damaged)
        assert rendered(folder) == "&lt;b&gt;!"
    (folder / "page.jinja").write_text("{{ name }}?", encoding="utf-8")
    assert rendered(folder) == "&lt;b&gt;?"
    assert kept() == [path]


def test_python_may_be_told_to_write_no_bytecode(folder, kept, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert rendered(folder) == "&lt;b&gt;!"
    assert kept() == []


def test_a_folder_that_cannot_be_written_is_no_failure(folder, kept):
    (folder / "kept").write_text("a file where a folder should be", encoding="utf-8")
    assert rendered(folder) == "&lt;b&gt;!"


def test_by_default_they_are_beside_the_modules(folder, monkeypatch):
    monkeypatch.setattr(sys, "pycache_prefix", None)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    rendered(folder)
    [path] = (folder / "__pycache__").iterdir()
    assert path.parent == type(path)(cache_from_source(str(folder / "page.jinja"))).parent


def test_the_library_does_not_load_it():
    code = "import statpriv, sys; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
