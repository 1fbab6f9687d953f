"""What a curve says about a reader's guess of one person's value."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from statpriv._native import Enclosure
from statpriv.curves.beside_noise import BesideNoise
from statpriv.curves.evaluation import as_points
from statpriv.curves.posterior import posterior
from statpriv.numeric.exact import Number, as_probability
from statpriv.rules.registry import Kind

if TYPE_CHECKING:
    from statpriv.curves.curve import PrivacyCurve


class Guesses(BesideNoise):
    """The curve of answers that a reader guesses from."""

    __slots__ = ()

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """What is enclosed."""

    @abstractmethod
    def reversed(self) -> PrivacyCurve:
        """The curve of the pair in the other order."""

    @abstractmethod
    def _directions(self) -> list[tuple[PrivacyCurve, PrivacyCurve]]:
        """The curves of both orders of each pair of values."""

    def posterior(self, prior: Number) -> Enclosure:
        """The probability that the best guess of a person's value is right, to a reader of the answers.

        Parameters
        ----------
        prior : float, Fraction, Decimal or str
            The reader hesitates between two values of the person, and took the first of them to have this probability.
            From 0 to 1. Of the named pair ``(v, w)`` it is that of v; without a pair, the worst two values count.

        Returns
        -------
        Enclosure
            A probability, at least ``max(prior, 1 - prior)``, which it is without the answers. It is a mean over the
            answers: some may tell more, and as rarely as δ says. For a curve of kind "bound" the upper end bounds it.

        Notes
        -----
        ``(1 − π) + π δ(ln((1 − π)/π))`` for π ≤ 1/2; the proof is in :mod:`statpriv.curves.posterior`.

        Examples
        --------
        >>> import statpriv as sp
        >>> curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024))
        >>> round(curve.posterior("1/2").upper, 4)  # 0.5 without the answer
        0.5125
        >>> round(curve.posterior("0.1").upper, 4)  # somebody who was sure of 90 % learns nothing
        0.9
        """
        return posterior(self, prior)

    def attack_success(self, prior: Number = "1/2") -> Enclosure:
        """The probability that the best attack guesses right: another name of :meth:`posterior`, at even odds."""
        return self.posterior(prior)

    def mutual_information(self, prior: Number = "1/2", *, points: int = 200) -> Enclosure:
        """How much the answers tell about one person's value: their mutual information, in nats.

        Parameters
        ----------
        prior : float, Fraction, Decimal or str, default "1/2"
            The reader hesitates between two values of the person, and took the first of them to have this probability,
            strictly between 0 and 1. Of the named pair ``(v, w)`` it is that of v; without a pair, the worst two count.
        points : int, default 200
            Number of ε at which the curve is evaluated, from 3 to 2^20, and as many in between: more make the
            enclosure narrower.

        Returns
        -------
        Enclosure
            In nats, at most the entropy of the prior; divide by ln 2 for bits. The lower end is 0 where the curve is no
            exact one of a pair or of a property: then the upper end bounds the information.

        Raises
        ------
        ArgumentError
            A value that is not allowed.

        Notes
        -----
        An integral of the curve over ε; the proof is in :mod:`statpriv.curves.information`.

        Examples
        --------
        >>> import statpriv as sp
        >>> curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024))
        >>> print(f"{curve.mutual_information().upper:.4g}")
        0.0004886
        """
        from statpriv.curves.information import mutual_information

        share, many = as_probability(prior, "prior"), as_points(points)
        if share in (0, 1):
            return Enclosure(0.0)  # the reader knows
        found = [mutual_information(*both, share, many) for both in self._directions()]
        # The largest of several curves may be that of no pair.
        of_one_pair = self.situation.pair is not None or self.situation.counts_a_property
        lower = max(each.lower for each in found) if self.kind == "exact" and of_one_pair else 0.0
        return Enclosure(lower, max(each.upper for each in found))
