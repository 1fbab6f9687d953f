"""What tests of several folders need: reading a repr back, every way of copying a value, and a real browser."""

import copy
import pickle
import shutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import settings

import statpriv as sp
from statpriv.releasing import run

from . import once
from .cases import cases

# Where a file or a test says nothing else. A machine that is busy is no counterexample.
settings.register_profile("statpriv", max_examples=cases(25, campaign=1000), deadline=None)
settings.load_profile("statpriv")


@pytest.fixture(scope="session")
def read_back() -> Callable[[str], object]:
    """The value that a repr stands for, where the names of the library are imported."""
    names = {name: getattr(sp, name) for name in sp.__all__} | {"float": float, "Fraction": Fraction}

    def evaluate(text: str) -> object:
        return eval(text, {"__builtins__": {}}, names)  # noqa: S307  (reprs of this very process)

    return evaluate


@pytest.fixture
def few_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw a report's curves roughly, where they are not the question."""
    once.draw_roughly(monkeypatch)


@pytest.fixture
def computed_once(few_points: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, and for a plan that was released before nothing but the answers is computed."""
    monkeypatch.setattr(run, "prospective_contents", once.prospective_contents)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, started once for a module; its tests are marked for one worker, `xdist_group("browser")`."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no chromium on this machine")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def copies() -> Callable[[object], list[object]]:
    """A value copied, deep-copied and pickled with every protocol."""

    def copied(value: object) -> list[object]:
        protocols = range(2, pickle.HIGHEST_PROTOCOL + 1)
        unpickled = [pickle.loads(pickle.dumps(value, protocol)) for protocol in protocols]  # noqa: S301  (own pickles)
        return [copy.copy(value), copy.deepcopy(value), *unpickled]

    return copied
