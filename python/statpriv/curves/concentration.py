"""What added noise by itself says of Rényi divergences.

Noise N(0, σ²), and its discrete counterpart moved by an integer d, have ``D_α ≤ ρα`` with ``ρ = d²/(2σ²)`` (Bun and
Steinke, *Concentrated Differential Privacy*, Proposition 1.6; Canonne, Kamath and Steinke, *The Discrete Gaussian for
Differential Privacy*, Theorem 4). An answer's two laws are those of d + noise and of the noise, to which the same
independent number S is added, and so no farther apart. Of several counts with a noise each the ρ of those that an entry
changes add up.

No smaller ρ will do where nothing follows the noise. Let d > 0, N be the greatest value of S, π its probability, and f
the density of the noise, which falls with the distance from 0. For x ≥ N the law of S + noise is at most f(x−N), that
of d + S + noise at least π f(x−N−d), so that the moment of order α is at least

    π^α ∫_{x≥N} f(x−N−d)^α f(x−N)^{1−α} dx ≥ π^α e^{α(α−1)ρ}/2,

since the integrand is ``e^{α(α−1)ρ} f(x−N−αd)``. (For the discrete noise let α be an integer.) So D_α/α comes as near
to ρ as one likes. For d < 0 the same with the least value.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from statpriv.lowering.applicability import NotApplicable
from statpriv.model import noise
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.linear import LinearQuery
from statpriv.model.queries.processed import Processed
from statpriv.model.situation import Situation
from statpriv.rules.noise_alone import added_noise, changed_counts
from statpriv.rules.registry import AnySituation

__all__ = ["Concentration", "concentration_of_noise"]


@dataclass(frozen=True)
class Concentration:
    """No Rényi divergence of order α is above ρα."""

    rho: Fraction
    is_attained: bool
    """Whether no smaller ρ will do."""


def concentration_of_noise(situation: AnySituation) -> Concentration | None:
    """What the noise of an answer about all entries proves, if it is normal."""
    if not (isinstance(situation, Situation) and isinstance(situation.query, Processed) and situation.sampling is None):
        return None
    first = situation.query.steps[0]
    if isinstance(situation.asked, HistogramQuery | LinearQuery):
        if not isinstance(first, noise.Gaussian | noise.DiscreteGaussian):
            return None
        changed = max((sum(counts) for counts in changed_counts(situation)), default=0)
        return Concentration(changed / (2 * first.sigma**2), is_attained=False)
    try:
        first, gaps, lattice = added_noise(situation)
    except NotApplicable:
        return None
    moves = [gap * lattice.unit for gap in gaps]
    integral = all(move.denominator == 1 for move in moves)
    if isinstance(first, noise.Gaussian) or (isinstance(first, noise.DiscreteGaussian) and integral):
        rho = max((move**2 / (2 * first.sigma**2) for move in moves), default=Fraction(0))
        return Concentration(rho, is_attained=len(situation.query.steps) == 1)
    return None
