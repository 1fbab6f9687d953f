"""Noises: what is added to an answer before it is released, independently of the data.

>>> import statpriv as sp
>>> sp.PropertyQuery(0.5).noisy(sp.noise.DiscreteLaplace(alpha=0.5))
PostProcessed(PropertyQuery(0.5), noise.DiscreteLaplace(alpha=0.5))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, sqrt
from typing import ClassVar

from statpriv._native import Curve, Law
from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.model.perturbations import CellKey
from statpriv.model.steps import Step
from statpriv.numeric.arguments import as_instance
from statpriv.numeric.calls import answered_class
from statpriv.numeric.exact import Number, as_count, as_fraction, as_integer, as_positive, as_probability
from statpriv.numeric.literals import abridged, show, show_number

__all__ = [
    "Binomial",
    "CellKey",
    "ContinuousNoise",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DiscreteNoise",
    "Gaussian",
    "Laplace",
    "Noise",
    "Truncated",
]

DEVIATIONS = 25
"""All but 2^-80 of most sums lies within half as many standard deviations on each side."""
PRECISION = 2**100
"""A deviation is rounded down to a multiple of one part in so many."""


class Noise(Step):
    """What is added to an answer, independently of the data. Each capability is "no" unless a class overrides it."""

    moves_with_answer: ClassVar[bool] = True

    rho_is_attained: ClassVar[bool] = False
    """Whether no smaller ρ than `rho` will do for an answer to which the noise is added last."""

    def rho(self, move: Fraction) -> Fraction | None:
        """A ρ with D_α ≤ ρα for every order α, for the noise against the noise moved so far, if one is known."""
        del move
        return None

    def of_several(self, first: int, second: int) -> tuple[Law, Law, ContinuousNoise | None] | None:
        """What tells independent noises on several counts apart: two laws, and a noise that is added to both.

        `first` counts are larger by one under the first value, `second` other ones under the second. None where only
        all noises together say it.
        """
        del first, second
        return None


class DiscreteNoise(Noise):
    """A noise on the integers: given by `masses`, or by its law and the ends of its support."""

    adds_quickly: ClassVar[bool] = False
    """Whether the kernel adds the noise to a law of integers in linear time."""

    @property
    def masses(self) -> Mapping[int, Fraction]:
        """The probability of each integer, where finitely many are possible."""
        raise NotAvailableError(f"{self!r} states no masses: the probability of each integer is required")

    @property
    def support(self) -> tuple[int | None, int | None]:
        """The least and the largest value; None where there is no end."""
        return min(self.masses), max(self.masses)

    def law(self) -> Law:
        """The law of the noise."""
        masses = self.masses
        least, most = min(masses), max(masses)
        return Law.table(least, [masses.get(number, Fraction(0)) for number in range(least, most + 1)])

    @property
    def window(self) -> float:
        """About how many integers hold the noise, but for 2^-80; infinite where nothing is told."""
        least, most = self.support
        return float("inf") if least is None or most is None else float(min(most - least + 1, 2**60))

    def truncated_law(self, lower: int, upper: int) -> Law:
        """The law, given that the noise lies from `lower` to `upper`."""
        return self.law().truncated(lower, upper)


class ContinuousNoise(Noise):
    """A noise with a density that is symmetric and log-concave."""

    keeps_ratios_monotone = True
    is_dense: ClassVar[bool] = True

    @property
    def spread(self) -> Fraction:
        """The scale or the standard deviation."""
        raise NotAvailableError(f"{self!r} states no spread: its scale or its standard deviation is required")

    def rounded_law(self, spread: Fraction) -> Law:
        """The law of the noise of this spread, rounded to the integers."""
        raise NotAvailableError(f"{self!r} states no rounded_law: no law of the noise of spread {spread} on integers")

    def smoothed(self, first: Law, second: Law, unit: Fraction) -> Curve:
        """The hockey stick of two laws on multiples of a unit, each with this noise."""
        del first, second, unit
        raise NotAvailableError(f"{self!r} states no smoothed: no hockey stick of two laws with this noise")


@answered_class
@dataclass(frozen=True, init=False, repr=False)
class DiscreteLaplace(DiscreteNoise):
    """Integers with ``P[k] ∝ alpha^|k|``, also called the two-sided geometric law. Give `alpha` or `scale`.

    Parameters
    ----------
    alpha : float, int, Fraction, Decimal or str
        Above 0, below 1.
    scale : float, int, Fraction, Decimal or str
        Above 0: ``alpha = e^(-1/scale)``.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.noise.DiscreteLaplace(alpha="1/3")
    noise.DiscreteLaplace(alpha='1/3')
    >>> sp.noise.DiscreteLaplace(scale=10)
    noise.DiscreteLaplace(scale=10)
    """

    alpha: Fraction | None
    scale: Fraction | None
    adds_quickly: ClassVar[bool] = True
    keeps_ratios_monotone = True

    def __init__(self, *, alpha: Number | None = None, scale: Number | None = None) -> None:
        if (alpha is None) == (scale is None):
            given = "neither is given" if alpha is None else f"alpha = {abridged(alpha)} and scale = {abridged(scale)}"
            raise ArgumentError(f"either alpha or scale is required; {given}")
        exact = None if alpha is None else as_fraction(alpha, "alpha")
        if exact is not None and not 0 < exact < 1:
            raise ArgumentError(f"alpha = {abridged(alpha)}; a number above 0 and below 1 is required")
        object.__setattr__(self, "alpha", exact)
        object.__setattr__(self, "scale", None if scale is None else as_positive(scale, "scale"))

    @property
    def support(self) -> tuple[None, None]:
        """All integers."""
        return (None, None)

    def law(self) -> Law:
        """The two-sided geometric law."""
        return Law.geometric_noise(self.alpha) if self.alpha is not None else Law.laplace_noise(self.scale or 1)

    @property
    def window(self) -> float:
        """``α^k`` is 2^-80 at k = 80 ln 2/(−ln α), and −ln α ≥ 1 − α."""
        return _finite(111 * (1 / (1 - self.alpha) if self.alpha is not None else self.scale or Fraction(1)))

    def of_several(self, first: int, second: int) -> tuple[Law, Law, None]:
        """Whether each noise is above zero tells all that it tells: the answers of randomized response."""
        law, counts = self.law(), first + second
        return law.shifted(1).clamped(0, 1).repeated(counts), law.clamped(0, 1).repeated(counts), None

    def __repr__(self) -> str:
        parameters = (("alpha", self.alpha), ("scale", self.scale))
        shown = [f"{name}={show_number(value)}" for name, value in parameters if value is not None]
        return f"noise.DiscreteLaplace({', '.join(shown)})"


@answered_class
@dataclass(frozen=True, init=False, repr=False)
class DiscreteGaussian(DiscreteNoise):
    """Integers with ``P[k] ∝ e^(-k²/(2 sigma²))``.

    Parameters
    ----------
    sigma : float, int, Fraction, Decimal or str
        Above 0.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.noise.DiscreteGaussian(sigma=2.5)
    noise.DiscreteGaussian(sigma=2.5)
    """

    sigma: Fraction
    keeps_ratios_monotone = True
    rho_is_attained: ClassVar[bool] = True

    def __init__(self, *, sigma: Number) -> None:
        object.__setattr__(self, "sigma", as_positive(sigma, "sigma"))

    @property
    def support(self) -> tuple[None, None]:
        """All integers."""
        return (None, None)

    def law(self) -> Law:
        """The discrete normal law."""
        return Law.gaussian_noise(self.sigma**2)

    @property
    def window(self) -> float:
        """A number of standard deviations."""
        return _finite(DEVIATIONS * self.sigma)

    def rho(self, move: Fraction) -> Fraction | None:
        """As of the normal law, for moves by integers."""
        return move**2 / (2 * self.sigma**2) if move.denominator == 1 else None

    def of_several(self, first: int, second: int) -> tuple[Law, Law, None]:
        """The signed sum of all noises tells all that they tell."""
        counts = first + second
        total = self.law().repeated(counts)
        return total.shifted(counts), total, None

    def __repr__(self) -> str:
        return f"noise.DiscreteGaussian(sigma={show_number(self.sigma)})"


@answered_class
@dataclass(frozen=True, init=False, repr=False)
class Laplace(ContinuousNoise):
    """Real numbers with the density ``e^(-|x|/scale)/(2 scale)``.

    Parameters
    ----------
    scale : float, int, Fraction, Decimal or str
        Above 0.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.noise.Laplace(scale=2)
    noise.Laplace(scale=2)
    """

    scale: Fraction

    def __init__(self, *, scale: Number) -> None:
        object.__setattr__(self, "scale", as_positive(scale, "scale"))

    @property
    def spread(self) -> Fraction:
        """The scale."""
        return self.scale

    def rounded_law(self, spread: Fraction) -> Law:
        """The law of the noise of this scale, rounded to the integers."""
        return Law.rounded_laplace_noise(spread)

    def smoothed(self, first: Law, second: Law, unit: Fraction) -> Curve:
        """The hockey stick of two laws with this noise."""
        return Curve.smoothed(first, second, laplace_scale=self.scale / unit)

    def of_several(self, first: int, second: int) -> tuple[Law, Law, ContinuousNoise | None] | None:
        """No more than the two-sided geometric noise of the same scale tells."""
        return DiscreteLaplace(scale=self.scale).of_several(first, second)

    def __repr__(self) -> str:
        return f"noise.Laplace(scale={show_number(self.scale)})"


@answered_class
@dataclass(frozen=True, init=False, repr=False)
class Gaussian(ContinuousNoise):
    """Real numbers with the normal law of mean 0 and standard deviation `sigma`.

    Parameters
    ----------
    sigma : float, int, Fraction, Decimal or str
        Above 0.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.noise.Gaussian(sigma=2)
    noise.Gaussian(sigma=2)
    """

    sigma: Fraction
    is_gaussian: ClassVar[bool] = True
    rho_is_attained: ClassVar[bool] = True

    def __init__(self, *, sigma: Number) -> None:
        object.__setattr__(self, "sigma", as_positive(sigma, "sigma"))

    @property
    def spread(self) -> Fraction:
        """The standard deviation."""
        return self.sigma

    def rounded_law(self, spread: Fraction) -> Law:
        """The law of the noise of this deviation, rounded to the integers."""
        return Law.rounded_gaussian_noise(spread)

    def smoothed(self, first: Law, second: Law, unit: Fraction) -> Curve:
        """The hockey stick of two laws with this noise."""
        return Curve.smoothed(first, second, gaussian_sigma=self.sigma / unit)

    def rho(self, move: Fraction) -> Fraction:
        """D_α = ρα."""
        return move**2 / (2 * self.sigma**2)

    def of_several(self, first: int, second: int) -> tuple[Law, Law, ContinuousNoise]:
        """The signed sum of all noises tells all that they tell; its deviation is rounded down."""
        counts, point = first + second, Law.table(0, [1])
        deviation = Fraction(isqrt(int(counts * (self.sigma * PRECISION) ** 2)), PRECISION)
        return point.shifted(counts), point, Gaussian(sigma=deviation)

    def __repr__(self) -> str:
        return f"noise.Gaussian(sigma={show_number(self.sigma)})"


@answered_class
@dataclass(frozen=True, init=False, repr=False)
class Binomial(DiscreteNoise):
    """The number of successes in `trials` of probability `p`, from 0 to `trials`: not centred.

    Parameters
    ----------
    trials : int
        From 1 to 2^53.
    p : float, int, Fraction, Decimal or str
        From 0 to 1.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.noise.Binomial(trials=20, p=0.5)
    noise.Binomial(trials=20, p=0.5)
    """

    trials: int
    p: Fraction
    adds_quickly: ClassVar[bool] = True
    keeps_ratios_monotone = True

    def __init__(self, *, trials: Number, p: Number) -> None:
        object.__setattr__(self, "trials", as_count(trials, "trials", least=1))
        object.__setattr__(self, "p", as_probability(p, "p"))

    @property
    def support(self) -> tuple[int, int]:
        """The least and the largest value."""
        return (0 if self.p < 1 else self.trials, 0 if self.p == 0 else self.trials)

    def law(self) -> Law:
        """The binomial law."""
        return Law.binomial(self.trials, self.p)

    @property
    def window(self) -> float:
        """A number of standard deviations, or all values."""
        return _finite(min(self.trials + 1, DEVIATIONS * sqrt(self.trials * self.p * (1 - self.p))))

    def truncated_law(self, lower: int, upper: int) -> Law:
        """Relative to the least value by ratios of neighbours, then divided by the sum."""
        odds = self.p / (1 - self.p) if self.p < 1 else Fraction(0)
        masses = [Fraction(1)]
        for k in range(lower, upper):
            masses.append(masses[-1] * odds * Fraction(self.trials - k, k + 1))
        total = sum(masses, Fraction(0))
        return Law.table(lower, [mass / total for mass in masses])

    def __repr__(self) -> str:
        return f"noise.Binomial(trials={self.trials}, p={show(self.p)})"


@dataclass(frozen=True, init=False, repr=False)
class Truncated(DiscreteNoise):
    """A discrete noise, given that it lies from `lower` to `upper`.

    Parameters
    ----------
    noise : DiscreteLaplace, DiscreteGaussian, Binomial or Truncated
        The law before. Of a truncated one, the law that was truncated first.
    lower, upper : int
        Ends, with a value of the noise between them; where the noise ends earlier, so does the result.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.noise.Truncated(sp.noise.DiscreteLaplace(alpha=0.5), -3, 3)
    noise.Truncated(noise.DiscreteLaplace(alpha=0.5), -3, 3)
    """

    noise: DiscreteNoise
    lower: int
    upper: int

    def __init__(self, noise: DiscreteNoise, lower: Number, upper: Number) -> None:
        required = "a discrete noise, such as noise.DiscreteLaplace(alpha=0.5), is required"
        as_instance(noise, "noise", DiscreteNoise, required)
        ends = as_integer(lower, "lower"), as_integer(upper, "upper")
        least, largest = noise.support
        low, high = (
            ends[0] if least is None else max(ends[0], least),
            ends[1] if largest is None else min(ends[1], largest),
        )
        if low > high:
            raise ArgumentError(
                f"lower = {ends[0]} and upper = {ends[1]}; ends with a value of {noise!r} between them are required"
            )
        object.__setattr__(self, "noise", noise.noise if isinstance(noise, Truncated) else noise)
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)

    @property
    def support(self) -> tuple[int, int]:
        """The least and the largest value."""
        return self.lower, self.upper

    @property
    def keeps_ratios_monotone(self) -> bool:
        """As before it was truncated."""
        return self.noise.keeps_ratios_monotone

    def law(self) -> Law:
        """The law, given the ends."""
        return self.noise.truncated_law(self.lower, self.upper)

    def __repr__(self) -> str:
        return f"noise.Truncated({self.noise!r}, {self.lower}, {self.upper})"


def _finite(integers: Fraction | float) -> float:
    """The number as a double, which an exact one may exceed."""
    return float(min(integers, 2**60))
