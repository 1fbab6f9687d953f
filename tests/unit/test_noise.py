"""Noises: exact parameters, and refusal of values out of range."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp
from statpriv import noise

POSITIVE = [
    (lambda x: noise.DiscreteLaplace(scale=x), "scale"),
    (lambda x: noise.Laplace(scale=x), "scale"),
    (lambda x: noise.DiscreteGaussian(sigma=x), "sigma"),
    (lambda x: noise.Gaussian(sigma=x), "sigma"),
]


@pytest.mark.parametrize(("make", "name"), POSITIVE)
def test_a_width_is_an_exact_number_above_zero(make, name):
    assert getattr(make("0.1"), name) == Fraction(1, 10)
    assert getattr(make(0.1), name) == Fraction(0.1)
    for refused in (0, "-1", -0.0):
        with pytest.raises(sp.ArgumentError, match=rf"^{name} = {refused}; a number above 0 is required$"):
            make(refused)
    with pytest.raises(sp.ArgumentError, match=rf"^{name} = True is a truth value"):
        make(True)
    with pytest.raises(sp.ArgumentError, match=rf"^{name} = inf is not finite"):
        make(float("inf"))


@pytest.mark.parametrize("alpha", [0, 1, "-0.1", 1.5])
def test_alpha_lies_strictly_between_zero_and_one(alpha):
    with pytest.raises(sp.ArgumentError, match=r"^alpha = .*; a number above 0 and below 1 is required$"):
        noise.DiscreteLaplace(alpha=alpha)


def test_either_alpha_or_scale():
    assert noise.DiscreteLaplace(alpha="1/3").alpha == Fraction(1, 3)
    with pytest.raises(sp.ArgumentError, match=r"^either alpha or scale is required; neither is given$"):
        noise.DiscreteLaplace()
    with pytest.raises(sp.ArgumentError, match=r"^either alpha or scale is required; alpha = 0\.5 and scale = 2$"):
        noise.DiscreteLaplace(alpha=0.5, scale=2)


def test_parameters_are_named():
    for make in (noise.DiscreteLaplace, noise.Laplace, noise.DiscreteGaussian, noise.Gaussian):
        with pytest.raises(TypeError, match="positional"):
            make(0.5)


@pytest.mark.parametrize(
    ("trials", "p", "message"),
    [
        (0, 0.5, r"^trials = 0; an integer from 1 to 2\^53 is required$"),
        (3, "1.1", r"^p = 1\.1; a probability from 0 to 1 is required$"),
    ],
)
def test_a_bad_binomial_noise_is_refused(trials, p, message):
    with pytest.raises(sp.ArgumentError, match=message):
        noise.Binomial(trials=trials, p=p)


@pytest.mark.parametrize(("p", "support"), [(0, (0, 0)), (1, (9, 9)), (0.5, (0, 9))])
def test_the_support_of_binomial_noise(p, support):
    assert noise.Binomial(trials=9, p=p).support == support


# --- truncation


@given(a=st.integers(-9, 9), b=st.integers(-9, 9), c=st.integers(-9, 9), d=st.integers(-9, 9))
def test_truncating_twice_is_truncating_to_both_at_once(a, b, c, d):
    wide = noise.DiscreteLaplace(alpha=0.5)
    if max(a, c) <= min(b, d):
        once = noise.Truncated(wide, max(a, c), min(b, d))
        assert noise.Truncated(noise.Truncated(wide, a, b), c, d) == once
        assert once.noise == wide
    elif a <= b:
        with pytest.raises(sp.ArgumentError, match=r"ends with a value of noise\.Truncated.* between them"):
            noise.Truncated(noise.Truncated(wide, a, b), c, d)


def test_a_truncated_noise_ends_where_the_noise_does():
    assert noise.Truncated(noise.Binomial(trials=9, p=0.5), -3, 4).support == (0, 4)
    assert noise.Truncated(noise.DiscreteGaussian(sigma=2), -3, 4).support == (-3, 4)


@pytest.mark.parametrize(
    ("wide", "lower", "upper", "message"),
    [
        (noise.Gaussian(sigma=1), -1, 1, r"^noise = noise\.Gaussian\(sigma=1\); a discrete noise, such as"),
        (
            noise.Laplace(scale=1),
            -1,
            1,
            r"a discrete noise, such as noise\.DiscreteLaplace\(alpha=0\.5\), is required$",
        ),
        (3, -1, 1, r"^noise = 3; a discrete noise"),
        (noise.DiscreteGaussian(sigma=1), 2, 1, r"^lower = 2 and upper = 1; ends with a value of"),
        (noise.Binomial(trials=3, p=1), 0, 2, r"^lower = 0 and upper = 2; ends with a value of"),
        (noise.DiscreteGaussian(sigma=1), 0.5, 1, r"^lower = 0\.5; an integer of size up to 2\^53 is required$"),
        (noise.DiscreteGaussian(sigma=1), 0, 2**53 + 1, r"^upper = 9007199254740993; an integer of size up to"),
    ],
)
def test_a_bad_truncation_is_refused(wide, lower, upper, message):
    with pytest.raises(sp.ArgumentError, match=message):
        noise.Truncated(wide, lower, upper)
