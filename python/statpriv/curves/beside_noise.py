"""A curve beside the noise that differential privacy would need for the same (ε, δ)."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING

from statpriv.curves.evaluation import EvaluatedCurve
from statpriv.numeric.exact import Number, as_nonnegative, as_probability
from statpriv.rules.registry import AnySituation

if TYPE_CHECKING:
    from statpriv.theories.differential.noise_instead import Mechanism, NoiseInstead


class BesideNoise(EvaluatedCurve):
    """The curve of answers whose error is compared with that of noise."""

    __slots__ = ()

    @property
    @abstractmethod
    def situation(self) -> AnySituation:
        """What is asked of whom."""

    def compare_gaussian(self, epsilon: Number = "0.1", *, delta: Number | None = None) -> NoiseInstead:
        """The error of each answer beside that of normal noise, under differential privacy at the same (ε, δ).

        Parameters
        ----------
        epsilon : float, int, Fraction, Decimal or str, default "0.1"
            ε in nats, at least 0.
        delta : float, int, Fraction, Decimal or str, optional
            δ of the noise, above 0 and below 1. By default that of this curve at ε.

        Returns
        -------
        NoiseInstead
            A row for each different question, in units of its answer for the whole table.

        Raises
        ------
        ArgumentError
            A value that is not allowed; normal noise at δ = 0; a δ of 1.
        NotAvailableError
            Questions that depend on answers, parts of random sizes, or a query of your own.

        Notes
        -----
        Source: :mod:`statpriv.theories.differential.noise_instead`, with the proof.

        Examples
        --------
        >>> import statpriv as sp
        >>> asked = [sp.PropertyQuery("0.3", name="smokers"), sp.SumQuery({0: ".5", 1: ".3", 5: ".2"}, name="visits")]
        >>> curve = sp.compose(asked, sp.Population(2000), sp.RandomPartition([1000, 1000]))
        >>> print(curve.compare_gaussian("0.1"))
        question  rows asked  error of the release  Gaussian noise instead
        smokers   1000        ± 22.37               ± 25.76
        visits    1000        ± 111.8               ± 128.8
        At (ε, δ) = (0.1, 0.00078). Differential privacy holds against whoever knows every other row, whatever the
        distribution; statistical privacy does not.
        """
        return self._instead("Gaussian", epsilon, delta)

    def compare_laplace(self, epsilon: Number = "0.1", *, delta: Number | None = None) -> NoiseInstead:
        """The same with Laplace noise: see :meth:`compare_gaussian`; δ may be 0, and ε is then above 0."""
        return self._instead("Laplace", epsilon, delta)

    def _instead(self, mechanism: Mechanism, epsilon: Number, delta: Number | None) -> NoiseInstead:
        from statpriv.theories.differential.noise_instead import noise_instead

        at = as_nonnegative(epsilon, "epsilon")
        found = Fraction(self.delta(at).upper) if delta is None else as_probability(delta, "delta")
        return noise_instead(mechanism, self.situation, epsilon, found)
