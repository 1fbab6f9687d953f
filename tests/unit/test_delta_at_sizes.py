"""`sp.delta_at_sizes` agrees with the curves of all sizes, for every query, and reports faulty arguments."""

import math

import numpy as np
import pytest

import statpriv as sp

HALF = sp.PropertyQuery("1/2")


def overlap(one, other):
    return one.lower <= other.upper and other.lower <= one.upper


@pytest.mark.parametrize("query", [HALF, sp.PropertyQuery(0.3), sp.PropertyQuery("1e-4"), sp.PropertyQuery(0)])
@pytest.mark.parametrize("epsilon", [0, "0.1", 0.02, 3])
@pytest.mark.parametrize("pair", [None, (1, 0), (0, 1)])
def test_of_a_count_every_size_has_the_delta_of_its_curve(query, epsilon, pair):
    sizes = [5, 4000, 3990, 3990, 1, 1025, 3985, 70]
    deltas = sp.delta_at_sizes(query, sizes, epsilon, pair=pair)
    for n, delta in zip(sizes, deltas, strict=True):
        alone = sp.privacy_curve(query, sp.Population(n), pair=pair).delta(epsilon)
        assert overlap(delta, alone), n
        assert delta.width <= max(1.2e-13 * delta.upper, alone.width), n


@pytest.mark.parametrize(
    ("query", "circumstances"),
    [
        (HALF, {"adversary": sp.Adversary(known=5)}),
        (sp.PropertyQuery(sp.Between("0.4", "0.6")), {}),
        (sp.PropertyQuery(sp.Between("0.4", "0.6")), {"adversary": sp.Adversary(known=5)}),
        (HALF, {"sampling": sp.WithoutReplacement(20)}),
        (HALF, {"sampling": sp.WithoutReplacement(20), "bound": "amplification"}),
        (HALF.rounded(5), {}),
        (HALF.noisy(sp.noise.Gaussian(sigma=3)), {}),
        (sp.HistogramQuery([0.2, 0.3, 0.5]), {"pair": (0, 2)}),
        (sp.SumQuery(pmf={0: 0.5, 1: 0.3, 5: 0.2}), {}),
    ],
    ids=repr,
)
def test_of_anything_else_too(query, circumstances):
    sizes = np.array([[40, 41], [60, 30]])
    deltas = sp.delta_at_sizes(query, sizes, "0.05", **circumstances)
    assert deltas.shape == (2, 2)
    for place, n in np.ndenumerate(sizes):
        alone = sp.privacy_curve(query, sp.Population(int(n)), **circumstances).delta("0.05")
        assert overlap(deltas[place], alone)
        assert deltas[place].width <= max(1.2e-13 * alone.upper, alone.width)


def test_many_sizes_do_not_depend_on_what_else_is_asked():
    """Long arrays are split among threads at fixed places, so no result depends on the number of threads."""
    sizes = np.arange(10_000, 14_000)
    whole = sp.delta_at_sizes(HALF, sizes, "0.01")
    assert np.all(np.diff(whole.lower) < 0)
    for start in (0, 1024, 2048):
        run = slice(start, start + 1024)
        assert sp.delta_at_sizes(HALF, sizes[run], "0.01") == whole[run]


def test_one_size_is_a_number():
    assert sp.delta_at_sizes(HALF, 3, 0) == sp.delta_at_sizes(HALF, np.array(3), 0) == sp.Enclosure(0.5)
    assert sp.delta_at_sizes(HALF, "3", 0) == sp.Enclosure(0.5)


def test_digits_are_those_of_the_curves():
    deltas = sp.delta_at_sizes(HALF, [8, 1000], "0.1", digits=30)
    for n, delta in zip((8, 1000), deltas, strict=True):
        assert delta == sp.privacy_curve(HALF, sp.Population(n)).delta("0.1", digits=30)
        assert delta.width <= 1e-30


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([], r"^sizes = \[\]; at least one size is required$"),
        ([10, 0], r"^sizes\[1\] = 0; an integer from 1 to 2\^53 is required$"),
        ([10, 1.5], r"^sizes\[1\] = 1\.5; an integer from 1 to 2\^53 is required$"),
        ([10, -3], r"^sizes\[1\] = -3; an integer from 1 to 2\^53 is required$"),
        ([math.nan], r"^sizes\[0\] = nan; an integer from 1 to 2\^53 is required$"),
        ([[5, 2**54]], r"^sizes\[0, 1\] = 1\.801439850948198e\+16; an integer from 1 to 2\^53 is required$"),
        (["ten"], r'^sizes\[0\]: "ten" is not a number'),
    ],
    ids=repr,
)
def test_a_wrong_size_is_named(sizes, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.delta_at_sizes(HALF, sizes, "0.1")


def test_other_wrong_arguments_are_named():
    with pytest.raises(sp.ArgumentError, match=r"^epsilon = -1; a number of at least 0 is required$"):
        sp.delta_at_sizes(HALF, [10, 20], -1)
    with pytest.raises(sp.ArgumentError, match=r"^sizes\[0\] = 5; an integer from 6 to 2\^53 is required$"):
        sp.delta_at_sizes(HALF, [5, 20], "0.1", adversary=sp.Adversary(known=5))
    with pytest.raises(sp.ArgumentError, match=r"^query = 0\.5; a query such as sp\.PropertyQuery\(0\.5\) is required"):
        sp.delta_at_sizes(0.5, [10], "0.1")
    with pytest.raises(sp.ArgumentError, match=r"known"):
        sp.delta_at_sizes(HALF, [5, 4], "0.1", adversary=sp.Adversary(known=5))
    with pytest.raises(sp.NotAvailableError, match=r"^bound = 'amplification' does not apply here"):
        sp.delta_at_sizes(HALF, [5, 4], "0.1", bound="amplification")
