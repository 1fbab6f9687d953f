"""Tables that the data refine: the finest of a ladder that holds the minimum, or a tree that is split cell by cell.

**A ladder is a function of a tree.** In the tree, a cell of each level is split into its cells of the next finer level
if all of these hold the minimum. The table of a level holds it exactly if all cells of the levels before are split. So
the finest table of the ladder that does is known from the tree, and has at most its δ (data processing).

**The tree is an adaptive composition.** Let the critical entry be in the leaf v or in w, and reveal the rest of the
tree from the root down to their lowest common ancestor: one law under both values. There the table of its children is
published or not: a table with a minimum, with a curve of at most δ_T. Below it, v's side and w's side are independent
given the counts that were published. On v's side each further split compares "the critical entry is in child x, the
other m − 1 entries are drawn" with "all m are drawn". With D splits on the way from the root to a leaf at most, that
is one stage with δ_T, at most D − 1 on v's side, and at most D − 1 on w's side in the other order. The kernel composes
such bounds, each for all r > 0, on a lattice of privacy losses, upper bounds throughout
(`rust/core/src/curve/stages.rs`).

**A split below the ancestor** has at most the curve ``e(r) = E(1 − rK)_+``, ``K = Γ_k/k``, ``k = T − 1 − u`` with u
known entries, for all r > 0. *Proof.* Given how many entries are in x, those of the siblings are independent draws,
with one law under both values. Reveal the sequence of their types: what is published is then a function of c, the
number of entries in x, where c is at least T, and of nothing where it is not. So let c be shown where it is at least
T, of which ``T − i`` are unknown, i ≤ u. Among the m unknown entries, ``P(c)/Q(c) = c/(mθ)`` rises with c, Q being
Bin(m, θ). So δ is that of a test ``F_j = P[c ≥ j] − r Q[c ≥ j]``, ``j ≥ T − i``, or ``1 − r ≤ e(r)``. If the best j is
above T − i, the curve is that of c without a gate, ``E(c/(mθ) − r)_+``, which falls as θ rises (c/(mθ) falls in convex
order, by thinning), down from the θ where T − i becomes the best. There and before it is ``F_{T−i}``, and

    F_{T−i}(θ) = ∫_0^θ (b(t) − r b(t) m t/a) dt ≤ E(1 − rV)_+,    a = T − i − 1, V = m U/a, U ~ Beta(a, m − a),

b being the density of U. With an independent ``Γ_m`` the product ``V Γ_m/m`` has the law of ``Γ_a/a``, so V is at most
``Γ_a/a`` in convex order (Jensen), and ``Γ_a/a`` at most ``Γ_k/k``, as ``k ≤ a``. ∎

``e`` is the limit of the heights ``h(k, l)`` for l → ∞, which fall; the kernel takes a large l, an upper bound.
"""

from __future__ import annotations

from statpriv._native import Curve
from statpriv.model.queries.contingency import ContingencyTable
from statpriv.model.situation import Situation
from statpriv.rules.assumptions import COMMON_LAW, INDEPENDENT
from statpriv.rules.minimum_count import SOURCE, of_minima, shown, table_of
from statpriv.rules.registry import rule
from statpriv.rules.whole_population import worst

_FAR = 2**50
"""The number of entries outside that stands for all of them."""


@rule(
    bound="stages",
    kind="bound",
    queries=(ContingencyTable,),
    cost=11,
    theorem=(
        "The finest table of a ladder that holds the minimum is a function of a tree whose cells are split one by one. "
        "The tree is an adaptive composition of at most 2D − 1 stages, D the number of levels: the table of the lowest "
        "common ancestor, with the curve of a minimum count, and the splits on the side of either cell, which compare "
        "the critical entry with one that is drawn like the others: at most E(1 − e^ε Γ_k/k)_+ with k = T − 1 − u for "
        "u known entries, and the same pair in the other order. They are composed on a lattice of privacy losses, "
        "rounded up. For every law that the entries share, every number of entries and every number of cells; margins, "
        "percentages, rounded counts and charts are covered."
    ),
    source=SOURCE,
    assumptions=(INDEPENDENT, COMMON_LAW),
)
def refined_table(situation: Situation) -> Curve:
    """The stages of the worst class."""
    query, known = table_of(situation, refined=True), situation.adversary.total
    minima = dict.fromkeys(query.least_minima(own) for own in query.classes or (None,))
    return worst([_stages(*least, query.depth, known) for least in minima if least is not None])


def _stages(first: int, second: int, depth: int, known: int) -> Curve:
    if known > first - 2:
        return shown()
    rest = first - 1 - known
    below = [
        (Curve.peaks(size=rest + _FAR + 1, tests=[rest], lower=0, upper=1, pair=pair), depth - 1)
        for pair in ((1, 0), (0, 1))
    ]
    return Curve.stages([(of_minima(first, second, known=known, pair=None), 1), *below])
