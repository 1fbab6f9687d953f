"""`import statpriv` is cheap, and gives every promised name."""

import re
import subprocess
import sys

import pytest

import statpriv as sp

LATE = [
    *("numpy", "mpmath", "click", "rich_click", "rich", "matplotlib", "duckdb", "pydantic", "sqlglot", "jinja2"),
    *("jsonschema", "tomllib", "tomli", "sqlite3", "fractions", "decimal", "dataclasses"),
    *("statpriv._native", "statpriv.curves.curve", "statpriv.releasing", "statpriv.cli"),
]
HEAVY = [
    name
    for name in LATE
    if name not in ("fractions", "decimal", "dataclasses", "statpriv._native", "statpriv.curves.curve")
]


def loaded_by(program: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after `program`, on top of what it starts with."""
    script = f"import sys; before = set(sys.modules)\n{program}\nprint(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


def test_importing_loads_nothing_that_is_not_needed_yet():
    loaded = loaded_by("import statpriv")
    assert "statpriv" in loaded
    assert loaded.isdisjoint(LATE)


def test_a_curve_needs_no_third_party_package():
    loaded = loaded_by(
        "import statpriv as sp\n"
        "curve = sp.privacy_curve(sp.PropertyQuery('1/2'), sp.Population(1024), adversary=sp.Adversary(known=10))\n"
        "curve.delta('0.005'), curve.epsilon('0.01'), curve.explain(), curve.satisfies(epsilon=1, delta=1)"
    )
    assert "statpriv._native" in loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.parametrize("name", sp.__all__)
def test_every_public_name_is_there(name):
    assert getattr(sp, name) is not None
    assert getattr(sp, name) is getattr(sp, name)


def test_dir_lists_the_public_names():
    assert dir(sp) == sorted(sp.__all__)
    assert len(set(sp.__all__)) == len(sp.__all__)


def test_the_help_lists_every_public_name_once():
    groups, _, _ = (sp.__doc__ or "").partition(">>>")
    listed = re.findall(r"\w+", "\n".join(line for line in groups.splitlines() if line.startswith("    ")))
    names = [name for name in listed if name in sp.__all__]
    assert sorted(names) == sorted({*sp.__all__} - {"__version__"})


@pytest.mark.parametrize("module", ["design", "noise", "laws", "interop", "differential", "noiseless", "reference"])
def test_modules_list_their_public_names(module):
    assert dir(getattr(sp, module)) == sorted(getattr(sp, module).__all__)


@pytest.mark.parametrize("module", ["interop", "reference"])
def test_a_module_that_is_imported_by_itself_lists_its_public_names_too(module):
    loaded_by(f"import statpriv.{module} as m\nassert dir(m) == sorted(m.__all__)")


def test_everything_can_be_imported_at_once():
    loaded_by("from statpriv import *\nPropertyQuery, privacy_curve, release, differential")


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'statpriv' has no attribute 'privacy_curves'"):
        _ = sp.privacy_curves
    assert not hasattr(sp, "nonsense")


def test_every_error_has_the_root_and_the_built_in_class_a_caller_expects():
    expected = {
        sp.ArgumentError: ValueError,
        sp.NotAvailableError: ValueError,
        sp.PrecisionError: ArithmeticError,
        sp.UndecidedError: ArithmeticError,
        sp.MissingExtraError: ImportError,
        sp.NotASingleNumberError: TypeError,
        sp.PlanError: ValueError,
    }
    for error, built_in in expected.items():
        assert issubclass(error, built_in)
    errors = [
        value for value in map(sp.__dict__.get, sp.__all__) if isinstance(value, type) and issubclass(value, Exception)
    ]
    assert len(errors) >= len(expected)
    assert all(issubclass(error, sp.StatprivError) for error in errors)
