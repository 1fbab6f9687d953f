"""Noises: what is added to an answer before it is released, independently of the data.

>>> import statpriv as sp
>>> sp.PropertyQuery(0.5).noisy(sp.noise.DiscreteLaplace(alpha=0.5))
Processed(PropertyQuery(0.5), noise.DiscreteLaplace(alpha=0.5))
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias

from statpriv.errors import ArgumentError
from statpriv.numeric.exact import Number, as_count, as_fraction, as_integer, as_positive, as_probability
from statpriv.numeric.literals import abridged, show, show_number

__all__ = [
    "Binomial",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DiscreteNoise",
    "Gaussian",
    "Laplace",
    "Noise",
    "Truncated",
]


@dataclass(frozen=True, init=False, repr=False)
class DiscreteLaplace:
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
    support: ClassVar[tuple[None, None]] = (None, None)

    def __init__(self, *, alpha: Number | None = None, scale: Number | None = None) -> None:
        if (alpha is None) == (scale is None):
            given = "neither is given" if alpha is None else f"alpha = {abridged(alpha)} and scale = {abridged(scale)}"
            raise ArgumentError(f"either alpha or scale is required; {given}")
        exact = None if alpha is None else as_fraction(alpha, "alpha")
        if exact is not None and not 0 < exact < 1:
            raise ArgumentError(f"alpha = {abridged(alpha)}; a number above 0 and below 1 is required")
        object.__setattr__(self, "alpha", exact)
        object.__setattr__(self, "scale", None if scale is None else as_positive(scale, "scale"))

    def __repr__(self) -> str:
        parameters = (("alpha", self.alpha), ("scale", self.scale))
        shown = [f"{name}={show_number(value)}" for name, value in parameters if value is not None]
        return f"noise.DiscreteLaplace({', '.join(shown)})"


@dataclass(frozen=True, init=False, repr=False)
class DiscreteGaussian:
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
    support: ClassVar[tuple[None, None]] = (None, None)

    def __init__(self, *, sigma: Number) -> None:
        object.__setattr__(self, "sigma", as_positive(sigma, "sigma"))

    def __repr__(self) -> str:
        return f"noise.DiscreteGaussian(sigma={show_number(self.sigma)})"


@dataclass(frozen=True, init=False, repr=False)
class Laplace:
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

    def __repr__(self) -> str:
        return f"noise.Laplace(scale={show_number(self.scale)})"


@dataclass(frozen=True, init=False, repr=False)
class Gaussian:
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

    def __init__(self, *, sigma: Number) -> None:
        object.__setattr__(self, "sigma", as_positive(sigma, "sigma"))

    def __repr__(self) -> str:
        return f"noise.Gaussian(sigma={show_number(self.sigma)})"


@dataclass(frozen=True, init=False, repr=False)
class Binomial:
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

    def __init__(self, *, trials: Number, p: Number) -> None:
        object.__setattr__(self, "trials", as_count(trials, "trials", least=1))
        object.__setattr__(self, "p", as_probability(p, "p"))

    @property
    def support(self) -> tuple[int, int]:
        """The least and the largest value."""
        return (0 if self.p < 1 else self.trials, 0 if self.p == 0 else self.trials)

    def __repr__(self) -> str:
        return f"noise.Binomial(trials={self.trials}, p={show(self.p)})"


@dataclass(frozen=True, init=False, repr=False)
class Truncated:
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

    noise: DiscreteLaplace | DiscreteGaussian | Binomial
    lower: int
    upper: int

    def __init__(
        self, noise: DiscreteLaplace | DiscreteGaussian | Binomial | Truncated, lower: Number, upper: Number
    ) -> None:
        if not isinstance(noise, DiscreteNoise):
            raise ArgumentError(
                f"noise = {abridged(noise)}; a discrete noise, such as noise.DiscreteLaplace(alpha=0.5), is required"
            )
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

    def __repr__(self) -> str:
        return f"noise.Truncated({self.noise!r}, {self.lower}, {self.upper})"


DiscreteNoise: TypeAlias = DiscreteLaplace | DiscreteGaussian | Binomial | Truncated
"""Noises on the integers."""
Noise: TypeAlias = DiscreteNoise | Laplace | Gaussian
"""What can be added to an answer."""
