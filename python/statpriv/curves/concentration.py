"""Bounds on Rényi divergences from added noise alone.

Noise N(0, σ²), and its discrete counterpart, shifted by an integer d have ``D_α ≤ ρα`` with ``ρ = d²/(2σ²)`` (Bun and
Steinke, *Concentrated Differential Privacy*, Proposition 1.6; Canonne, Kamath and Steinke, *The Discrete Gaussian for
Differential Privacy*, Theorem 4). An answer's two laws are those of d + noise and of the noise, each plus the same
independent number S, and so no farther apart. For several counts with independent noise, the ρ of the counts that an
entry changes add up.

ρ is the least possible if nothing follows the noise. Let d > 0, N be the greatest value of S, π its probability, and f
the density of the noise, which falls with the distance from 0. For x ≥ N the law of S + noise is at most f(x−N), and
that of d + S + noise is at least π f(x−N−d), so the moment of order α is at least

    π^α ∫_{x≥N} f(x−N−d)^α f(x−N)^{1−α} dx ≥ π^α e^{α(α−1)ρ}/2,

since the integrand is ``e^{α(α−1)ρ} f(x−N−αd)``. (For the discrete noise let α be an integer.) So D_α/α comes
arbitrarily close to ρ. For d < 0 the same holds with the least value.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from statpriv.lowering.applicability import NotApplicable
from statpriv.model.features import CLUSTERS
from statpriv.model.noise import Noise
from statpriv.model.situation import Situation
from statpriv.rules.noise_alone import added_noise
from statpriv.rules.registry import AnySituation


@dataclass(frozen=True)
class Concentration:
    """No Rényi divergence of order α is above ρα."""

    rho: Fraction
    is_attained: bool
    """Whether ρ is the least possible."""


def concentration_of_noise(situation: AnySituation) -> Concentration | None:
    """The bound that the noise of an answer about all entries proves, if the noise is normal."""
    if not isinstance(situation, Situation) or not situation.steps or situation.sampling is not None:
        return None
    if situation.features >= CLUSTERS:  # the others of a cluster move the answer too
        return None
    first = situation.steps[0]
    changed = situation.asked.changed_counts(situation.pair)
    if changed is not None:
        rho = first.rho(Fraction(1)) if isinstance(first, Noise) else None
        most = max(map(sum, changed), default=0)
        return None if rho is None else Concentration(most * rho, is_attained=False)
    try:
        added, gaps, lattice = added_noise(situation)
    except NotApplicable:
        return None
    moved = [added.rho(gap * lattice.unit) for gap in gaps]
    known = [rho for rho in moved if rho is not None]
    if len(known) < len(moved) or added.rho(Fraction(0)) is None:
        return None
    is_last = len(situation.steps) == 1
    return Concentration(max(known, default=Fraction(0)), is_attained=added.rho_is_attained and is_last)
