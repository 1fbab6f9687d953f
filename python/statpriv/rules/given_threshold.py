"""Example 1's bound with one threshold, which the reader chooses."""

from __future__ import annotations

from fractions import Fraction

from statpriv._native import Curve
from statpriv.distributions import laws
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import ends
from statpriv.model.samplings import WithoutReplacement
from statpriv.model.situation import Situation
from statpriv.rules.assumptions import IDENTICAL, INDEPENDENT, PAPER, SAMPLED
from statpriv.rules.hidden_sample import simple_draw
from statpriv.rules.registry import rule


@rule(
    bound="given-threshold",
    kind="bound",
    queries=(PropertyQuery,),
    samplings=(WithoutReplacement,),
    cost=59,
    theorem=(
        "SPC(ε) ≤ 1 − H(φ) + H(φ) Δ̂_{s−φ}(ε) with H the distribution function of the number of known entries among the "
        "others of the sample: up to φ of them the curve is at most that for φ, beyond it is at most 1."
    ),
    source=f"{PAPER}, Example 1, corrected",
    assumptions=(INDEPENDENT, IDENTICAL, SAMPLED),
    competes=False,
    conditional=True,
)
def given_threshold(situation: Situation) -> Curve:
    """The chance of more known entries is an upper bound of it, which makes the bound no smaller."""
    threshold = situation.given_threshold
    if threshold is None:
        raise NotApplicable("no threshold is given; sp.threshold_bound takes one")
    p, known = situation.asked.probability(), situation.adversary.total
    if p is None or situation.adversary.by_group:
        raise NotApplicable("the threshold is for entries with one probability, known by number")
    n, size = simple_draw(situation)
    if threshold >= size:
        raise NotApplicable(f"threshold = {threshold}; at most {size - 1}, the others of the sample, is allowed")
    beyond = Fraction(0)
    if threshold < min(known, size - 1):
        tail = laws.hypergeometric_upper_tail(threshold + 1, population=n - 1, marked=known, draws=size - 1)
        beyond = min(Fraction(tail.upper), Fraction(1))
    lower, upper = ends(p)
    of_size = [Curve.count(size=s, lower=lower, upper=upper, pair=situation.pair) for s in (1, size - threshold)]
    return Curve.mean([beyond, 1 - beyond], of_size)
