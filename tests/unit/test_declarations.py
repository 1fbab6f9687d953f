"""Declarations of the theory's modules: immutable values, keyword options, imports for type checkers."""

import ast
import dataclasses
import inspect
import pkgutil
import sys
from importlib import import_module
from pathlib import Path

import pytest

from statpriv import lowering, model, rules
from statpriv.lowering import contributions
from statpriv.model import queries
from statpriv.rules.registry import all_rules

MODULES = [import_module("statpriv.curves.curve")] + [
    import_module(f"{package.__name__}.{found.name}")
    for package in (model, queries, lowering, rules)
    for found in pkgutil.iter_modules(package.__path__)
]
VALUES = [
    made
    for module in MODULES
    for _, made in inspect.getmembers(module, inspect.isclass)
    if dataclasses.is_dataclass(made) and made.__module__ == module.__name__
]
modules = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
values = pytest.mark.parametrize("made", VALUES, ids=lambda made: made.__name__)


def functions(module):
    """The functions of the module and of its classes."""
    for _, made in inspect.getmembers(module):
        if getattr(made, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(made):
            yield made
        elif inspect.isclass(made):
            yield from (inspect.unwrap(getattr(found, "__func__", found)) for found in methods(made))


def methods(made):
    return [found for found in vars(made).values() if inspect.isfunction(getattr(found, "__func__", found))]


OPTIONS = {"attribute", "digits", "points", "size_published", "through_zero", "shift_matters", "labelled"}


@modules
def test_every_argument_can_be_named_and_options_must_be(module):
    for function in functions(module):
        kinds = {name: parameter.kind for name, parameter in inspect.signature(function).parameters.items()}
        assert inspect.Parameter.POSITIONAL_ONLY not in kinds.values(), function
        if function.__name__[0] != "_" or function.__name__ == "__init__":
            options = {name for name in kinds if name in OPTIONS and is_public(function)}
            assert {kinds[name] for name in options} <= {inspect.Parameter.KEYWORD_ONLY}, function


def is_public(function):
    """Whether the function is written for callers; functions made by dataclasses take their fields in order."""
    return inspect.unwrap(function).__code__.co_filename != "<string>"


@values
def test_values_do_not_change_and_are_made_and_shown_in_one_way(made):
    """`__init__` and `__repr__` come from dataclasses, or from a method of the class, its bases or its subclasses."""
    declared = made.__dataclass_params__
    assert declared.frozen
    assert declared.init is not is_written(made, "__init__")
    assert declared.repr is not is_written(made, "__repr__")
    assert declared.eq or made.__eq__ is object.__eq__


def is_written(made, method):
    family = [*made.__mro__[:-1], *made.__subclasses__()]
    return any(is_public(vars(one)[method]) for one in family if method in vars(one))


@modules
def test_what_is_imported_for_type_checkers_is_not_there(module):
    """Heavy packages are imported only where they are used, and modules import in one direction."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    guarded = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    for node in (imported for guard in guarded for imported in guard.body):
        assert not {name.asname or name.name for name in node.names} & vars(module).keys()
    assert vars(module).get("TYPE_CHECKING", False) is False
    assert sys.modules[module.__name__] is module


@pytest.mark.parametrize("made", [contributions.Contributions, contributions.EntryClass])
def test_what_remembers_its_work_is_equal_to_itself_alone(made):
    assert made.__eq__ is object.__eq__
    assert made.__hash__ is object.__hash__


def test_what_makes_a_curve_of_a_situation_alone_is_a_rule():
    declared = {rule.lowering for rule in all_rules()}
    for module in MODULES:
        for name, made in inspect.getmembers(module, inspect.isfunction):
            alone = list(inspect.signature(made).parameters) == ["situation"] and made.__module__ == module.__name__
            if alone and made.__annotations__["return"] == "Curve" and not name.startswith("_"):
                assert made in declared
