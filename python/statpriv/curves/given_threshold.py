"""Example 1's bound of the sampling privacy curve, with a threshold that the reader chooses."""

from __future__ import annotations

from dataclasses import dataclass

from statpriv.curves.curve import PrivacyCurve
from statpriv.model.adversaries import Adversary
from statpriv.model.populations import Population
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.samplings import WithoutReplacement
from statpriv.model.situation import Situation
from statpriv.numeric.exact import Number, as_count


@dataclass(frozen=True)
class AtThreshold(Situation):
    """A count of a sample, with the number of known entries in it up to which its curve is used."""

    threshold: int = 0

    @property
    def given_threshold(self) -> int:
        """The number of known entries up to which the curve is used."""
        return self.threshold


def threshold_bound(
    query: PropertyQuery,
    population: Population,
    sampling: WithoutReplacement,
    *,
    known: Number,
    threshold: Number,
) -> PrivacyCurve:
    """The bound `1 − H(φ) + H(φ) Δ̂_{s−φ}` of the sampling privacy curve, for a φ of the reader's own.

    `H(φ)` is the chance that at most φ of the others in the sample are known. `bound="spc"` is the curve that it
    bounds, and `bound="threshold"` takes 32 thresholds at once.

    Parameters
    ----------
    query : PropertyQuery
        With one probability, or a range that all rows share.
    population : Population
        The rows, the critical one included.
    sampling : WithoutReplacement
        The secret sample.
    known : int
        How many of the other rows are known.
    threshold : int
        φ, from 0 to one less than the size of the sample.

    Returns
    -------
    PrivacyCurve
        A certified upper bound of δ given that the critical row is in the sample, against ε in nats. It is 1 − H(φ)
        at least, so it does not fall below that however large ε is.

    Raises
    ------
    ArgumentError, NotAvailableError
        A value that is not allowed, or a query of another kind.

    Notes
    -----
    Source: *Parallel Composition for Statistical Privacy*, Example 1, corrected: docs/explanation/samples.md.

    Examples
    --------
    >>> import statpriv as sp
    >>> coin, table, sample = sp.PropertyQuery("1/2"), sp.Population(1000), sp.WithoutReplacement(250)
    >>> for threshold in (30, 40, 60):
    ...     bound = sp.threshold_bound(coin, table, sample, known=100, threshold=threshold)
    ...     print(threshold, round(bound.delta("0.1").upper, 4))
    30 0.1063
    40 0.0201
    60 0.0223
    """
    situation = AtThreshold(query, population, sampling, Adversary(known=known), None, as_count(threshold, "threshold"))
    return PrivacyCurve(situation, bound="given-threshold")
