"""Pictures display the certified values at their safe ends, with correct labels."""

import sys
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp
from statpriv.plotting import (
    against_epsilon,
    against_known,
    against_size,
    draw,
    plot_against_known,
    plot_against_size,
    plot_curve,
    plot_trade_off,
    render,
    sizes_between,
    trade_off,
)

from ..cases import spread

mpl.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")

HALF = sp.PropertyQuery("1/2")
CURVE = sp.privacy_curve(HALF, sp.Population(200), adversary=sp.Adversary(known=8))
NOISY = HALF.noisy(sp.noise.DiscreteLaplace(alpha="0.9"))


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def labels(ax):
    """The labels of the lines, in a legend or at their ends."""
    legend = ax.get_legend()
    return [text.get_text() for text in (ax.texts if legend is None else legend.get_texts())]


def test_delta_against_epsilon_is_drawn_at_its_upper_end():
    ax = plot_curve(CURVE, points=20)
    (line,) = ax.get_lines()
    epsilons, deltas = line.get_data()
    assert len(epsilons) == 20
    assert epsilons[0] == 0
    assert list(deltas) == [CURVE.delta(float(epsilon)).upper for epsilon in epsilons]
    assert deltas[-1] <= 1.01e-6 * deltas[0]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_yscale()) == ("ε (nats)", "δ", "log")
    assert labels(ax) == ["δ(ε)"]
    assert ax.get_title() == "p = 0.5, n = 200 entries, 8 known"


def test_a_curve_whose_values_take_long_is_drawn_at_few_places(monkeypatch):
    laws = [sp.PropertyQuery(f"{k + 5}/100", attribute=f"a{k}") for k in range(4)]
    assert sp.compose(laws, sp.Population(600), sp.RandomPartition([150] * 4)).is_costly
    costly = sp.privacy_curve(laws[0], sp.Population(600))
    assert not costly.is_costly
    monkeypatch.setattr(sp.PrivacyCurve, "is_costly", property(lambda _: True))
    monkeypatch.setattr(sp.PrivacyCurve, "epsilon", None)  # a search, which takes as long as fifty values
    (line,) = against_epsilon(costly).lines
    assert len(line.values) == 40
    start, end = line.values[0].upper, line.values[-1].upper
    assert end <= start * 1e-6
    assert costly.delta(line.places[-1] * 7 / 8).upper > start * 1e-6
    assert len(against_epsilon(costly, points=5).lines[0].values) == 5


def test_a_curve_that_falls_little_has_an_axis_from_zero():
    ax = plot_curve(sp.privacy_curve(HALF, sp.Population(6)), points=9)
    assert ax.get_yscale() == "linear"
    assert ax.get_ylim()[0] == 0


def test_the_trade_off_is_drawn_at_its_lower_end_below_that_of_a_blind_test():
    ax = plot_trade_off(CURVE, points=11)
    line, blind = ax.get_lines()
    alphas, betas = line.get_data()
    assert list(betas) == [CURVE.beta(float(alpha)).lower for alpha in alphas]
    assert all(beta <= 1 - alpha for alpha, beta in zip(alphas, betas, strict=True))
    assert (list(blind.get_xdata()), list(blind.get_ydata())) == ([0, 1], [1, 0])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("type I error α", "type II error β")
    assert labels(ax) == ["β(α)", "1 − α: seeing nothing"]
    assert ax.get_aspect() == 1


def test_against_size_has_a_line_for_each_probability_and_each_epsilon():
    queries, epsilons, sizes = [HALF, sp.PropertyQuery("0.1")], ["0.05", "0.2"], [8, 2, 64, 8]
    ax = plot_against_size(queries, sizes, epsilons)
    expected = {
        f"p = {name}, ε = {epsilon}": [sp.privacy_curve(q, sp.Population(n)).delta(epsilon).upper for n in (2, 8, 64)]
        for name, q in zip(("0.5", "0.1"), queries, strict=True)
        for epsilon in epsilons
    }
    drawn = {line.get_label(): list(line.get_ydata()) for line in ax.get_lines()}
    assert drawn == expected
    assert all(list(line.get_xdata()) == [2, 8, 64] for line in ax.get_lines())
    assert (ax.get_xscale(), ax.get_xlabel()) == ("log", "size n of the population (entries)")


@pytest.mark.parametrize(
    ("queries", "epsilon", "title", "expected"),
    [
        (HALF, 0.1, "p = 0.5", ["ε = 0.1"]),
        (HALF, ["1/3", "1e-3"], "p = 0.5", ["ε = 1/3", "ε = 0.001"]),
        ([HALF, sp.PropertyQuery("0.1", name="Smokers")], "0.1", "ε = 0.1", ["p = 0.5", "Smokers"]),
        ([HALF, sp.PropertyQuery(sp.Between("0.4", "0.6"))], "0.1", "ε = 0.1", ["p = 0.5", "p from 0.4 to 0.6"]),
        (NOISY, 0.1, "p = 0.5, DiscreteLaplace(alpha=9/10)", ["ε = 0.1"]),
    ],
    ids=str,
)
def test_labels_say_what_differs_and_the_title_what_does_not(queries, epsilon, title, expected):
    picture = against_size(queries, [2, 3], epsilon)
    assert picture.title == title
    assert [line.label for line in picture.lines] == expected


def test_known_entries_take_away_the_protection():
    ax = plot_against_known(HALF, sp.Population(30), ["0", "0.1"])
    for line, epsilon in zip(ax.get_lines(), ("0", "0.1"), strict=True):
        known, deltas = line.get_data()
        assert list(known) == list(range(30))
        assert deltas[-1] == 1
        assert list(deltas) == [sp.privacy_curve(HALF, sp.Population(30 - int(u))).delta(epsilon).upper for u in known]
    assert ax.get_xlabel() == "known entries"


def test_with_noise_the_line_flattens_at_the_level_of_the_noise_alone():
    # All others known, only the noise N(k) = α^|k| (1−α)/(1+α) hides the entry: Σ_k max(0, N(k−1) − N(k)) = N(0).
    picture = against_known(NOISY, sp.Population(20), "0")
    (line,), (level,) = picture.lines, picture.references
    alone = (1 - 0.9) / (1 + 0.9)
    assert level.heights == (line.values[-1].upper,) * 2
    assert level.heights[0] == pytest.approx(alone, rel=1e-12)
    assert all(value.upper <= level.heights[0] for value in line.values)
    ax = draw(picture, pyplot.figure().subplots())
    assert "all others known" in labels(ax)
    assert not against_known(HALF, sp.Population(20), "0").references


def test_a_large_population_is_drawn_at_few_numbers_with_more_near_the_end():
    picture = against_known(HALF, sp.Population(10_000), "0.1", points=40)
    places = picture.lines[0].places
    assert 30 <= len(places) <= 41
    assert (places[0], places[-2:]) == (0, (9998, 9999))
    assert list(places) == sorted(set(places))
    assert max(after - before for before, after in pairwise(places)) <= 500


@pytest.mark.parametrize(
    "picture",
    [
        against_epsilon(
            sp.compose([HALF] * 2, sp.Population(40), sp.RandomPartition([20, 20]), bound="partition-sum"), points=5
        ),
        against_size(HALF, [20, 30], ["0.1", "0.2"], sampling=sp.WithoutReplacement(10), bound="spc"),
        against_known(HALF, sp.Population(20), "0.1", sampling=sp.WithoutReplacement(10), bound="spc"),
    ],
    ids=["epsilon", "size", "known"],
)
def test_a_bound_is_labelled_as_an_upper_bound(picture):
    assert all(curve.kind == "bound" for line in picture.lines for curve in line.curves)
    assert all("upper bound" in line.label for line in picture.lines)
    assert all(
        "upper bound" in text for text in labels(draw(picture, pyplot.figure().subplots()))[: len(picture.lines)]
    )


def test_a_bound_of_the_trade_off_is_a_lower_one():
    curve = sp.compose([HALF] * 2, sp.Population(40), sp.RandomPartition([20, 20]), bound="partition-sum")
    assert trade_off(curve, points=3).lines[0].label == "lower bound of β(α)"


def test_lines_differ_in_black_and_white_too():
    ax = plot_against_size(HALF, [2, 4], ["0", "0.1", "0.2", "0.3", "0.4", "0.5"])
    dashes = {(line.get_linestyle(), line._unscaled_dash_pattern) for line in ax.get_lines()}
    colours = {line.get_color() for line in ax.get_lines()}
    assert len(dashes) == len(colours) == 6


def test_few_lines_with_ends_apart_are_labelled_where_they_end():
    ax = plot_against_size(HALF, sizes_between(10, 30_000, 20), ["0.005", "0.01", "0.02"])
    assert ax.get_legend() is None
    ends = {line.get_label(): line.get_ydata()[-1] for line in ax.get_lines()}
    assert {text.get_text(): text.xy[1] for text in ax.texts} == ends
    assert {text.get_text(): text.get_color() for text in ax.texts} == {
        line.get_label(): line.get_color() for line in ax.get_lines()
    }


def test_lines_that_end_together_or_outside_have_a_legend():
    together = plot_against_known(HALF, sp.Population(30), ["0", "0.1"])
    assert labels(together) == ["ε = 0", "ε = 0.1"]
    assert not together.texts
    outside = plot_against_size(HALF, [10, 1000, 100_000], ["0.005", "0.5"])
    assert (
        outside.get_lines()[1].get_ydata()[-1]
        < outside.get_ylim()[0]
        == pytest.approx(outside.get_lines()[0].get_ydata()[0] * 1e-10 / 1.3)
    )
    assert not outside.texts


def test_a_second_picture_on_the_same_axes_looks_different():
    ax = plot_curve(CURVE, points=5)
    assert plot_curve(sp.privacy_curve(HALF, sp.Population(20)), ax, points=5) is ax
    first, second = ax.get_lines()
    assert first.get_color() != second.get_color()
    assert ax.get_xlim()[1] == max(second.get_xdata())


@given(first=st.integers(1, 10**6), more=st.integers(1, 10**6), points=st.integers(2, 60))
def test_sizes_between_hold_both_ends_and_are_few(first, more, points):
    sizes = sizes_between(first, first + more, points)
    assert (sizes[0], sizes[-1]) == (first, first + more)
    assert sizes == sorted(set(sizes))
    assert len(sizes) <= points


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sizes_between(5, 5), "^first = 5 and last = 5; first < last is required$"),
        (lambda: against_size(HALF, [5, 5], 0), r"^sizes = \[5\]; at least two different sizes are required$"),
        (lambda: against_size(HALF, [0, 5], 0), "^sizes = 0"),
        (lambda: against_size([], [2, 5], 0), r"^query = \[\]; at least one query is required$"),
        (lambda: against_size(HALF, [2, 5], []), r"^epsilon = \[\]; at least one number is required$"),
        (lambda: against_size(HALF, [2, 5], -1), "^epsilon = -1"),
        (lambda: against_known(HALF, sp.Population(1), 0), "^population = .*; a Population of at least two entries"),
        (lambda: against_known(HALF, 20, 0), "^population = 20; a Population of at least two entries is required$"),
        (lambda: against_known(HALF, sp.Population(9), 0, points=1), "^points = 1"),
        (lambda: against_epsilon(CURVE, points=1), "^points = 1"),
        (lambda: trade_off(CURVE, points=1), "^points = 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(call, message):
    with pytest.raises(sp.ArgumentError, match=message):
        call()


@spread("name, start", [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")], few=2)
def test_the_same_picture_is_the_same_file(name, start):
    picture = against_epsilon(CURVE, points=5)
    file = render(picture, name)
    assert file.startswith(start)
    with mpl.rc_context({"lines.linewidth": 9, "font.size": 30}):  # whatever the user's settings are
        assert render(picture, name) == file


def test_what_was_rendered_leaves_no_trace():
    open_before = pyplot.get_fignums()
    with mpl.rc_context({"font.size": 30}):
        render(trade_off(CURVE, points=3), "png")
        assert mpl.rcParams["font.size"] == 30
    assert pyplot.get_fignums() == open_before


@pytest.mark.parametrize(
    "picture",
    [
        against_epsilon(CURVE, points=20),
        trade_off(CURVE, points=20),
        against_size([HALF, sp.PropertyQuery("0.1")], sizes_between(2, 50_000, 20), ["0.01", "0.02"]),
        against_known(NOISY, sp.Population(25), ["0", "0.1"]),
    ],
    ids=["epsilon", "trade-off", "size", "known"],
)
def test_nothing_is_clipped_and_no_two_labels_overlap(picture):
    figure = pyplot.figure(figsize=(6.4, 4.0), layout="constrained")
    ax = draw(picture, figure.subplots())
    figure.canvas.draw()
    paper = figure.bbox
    texts = [
        ax.title,
        ax.xaxis.label,
        ax.yaxis.label,
        *ax.texts,
        *(ax.get_legend().get_texts() if ax.get_legend() else []),
    ]
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    for box in boxes:
        assert paper.x0 <= box.x0 <= box.x1 <= paper.x1
        assert paper.y0 <= box.y0 <= box.y1 <= paper.y1
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])


@pytest.mark.parametrize(
    "call",
    [
        lambda: plot_curve(CURVE),
        lambda: plot_trade_off(CURVE),
        lambda: plot_against_size(HALF, [2, 3], 0),
        lambda: plot_against_known(HALF, sp.Population(3), 0),
        lambda: render(trade_off(CURVE, points=3), "svg"),
    ],
)
def test_without_matplotlib_the_extra_is_named(monkeypatch, call):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(sp.MissingExtraError, match=r"plots need matplotlib: pip install 'statpriv\[plot\]'"):
        call()


def test_data_need_no_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert against_size(HALF, np.array([2, 3]), 0).heights(against_size(HALF, [2, 3], 0).lines[0]) == [0.5, 0.5]
