"""`PrivacyCurve.plot` draws on the given axes, or on new ones."""

import sys
from math import isfinite

import matplotlib as mpl
import pytest

import statpriv as sp

mpl.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")

CURVE = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024))


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def test_it_draws_the_safe_end_on_new_axes():
    ax = CURVE.plot(points=20)
    (line,) = ax.get_lines()
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_yscale()) == ("ε (nats)", "δ", "log")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["δ(ε)"]
    epsilons, deltas = line.get_xdata(), line.get_ydata()
    assert len(epsilons) == 20
    assert epsilons[0] == 0
    assert [CURVE.delta(float(epsilon)).upper for epsilon in epsilons] == list(deltas)
    assert deltas[-1] <= 1.01e-6 * deltas[0]


def test_it_draws_on_the_axes_it_is_given_and_returns_them():
    _, (left, right) = pyplot.subplots(1, 2)
    assert CURVE.plot(left, points=5) is left
    assert CURVE.plot(ax=left, points=5) is left
    assert len(left.get_lines()) == 2
    assert not right.get_lines()


def test_a_bound_is_labelled_as_one():
    halves = sp.RandomPartition([20, 20])
    ax = sp.compose([sp.PropertyQuery("1/2")] * 2, sp.Population(40), halves, bound="partition-sum").plot(points=5)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["upper bound of δ(ε)"]
    assert "40 entries" in ax.get_title()


@pytest.mark.parametrize("query", [sp.PropertyQuery(0), sp.PropertyQuery("1/2"), sp.PropertyQuery("1e-300")])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_curve_that_does_not_fall_is_drawn_too(query, size):
    ax = sp.privacy_curve(query, sp.Population(size)).plot(points=5)
    left, right = ax.get_xlim()
    assert left == 0 < right
    assert isfinite(right)


@pytest.mark.parametrize("points", [1, 0, -3, 2.5])
def test_too_few_points_are_refused_by_name(points):
    with pytest.raises(sp.ArgumentError, match=r"^points = "):
        CURVE.plot(points=points)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(sp.MissingExtraError, match=r"plots need matplotlib: pip install 'statpriv\[plot\]'"):
        CURVE.plot()
