"""Exact tables that are published only if every possible cell holds a minimum number of entries.

**Heights.** ``h(k, l) = E(L − rK)_+`` with ``r = e^ε``, ``L = Γ_l/l`` and ``K = Γ_k/k`` independent: the peak height of
the test "answer ≥ k+1" of a count of ``N + 1`` entries, ``N = k + l``; ``h(k, 0) = h(0, l) = 1``. What is used here is
proved in docs/explanation/ranges.md and docs/explanation/minimum-counts.md:

1. *Gated counts.* A count of ``N + 1`` entries that is published only within ``[A, N + 1 − B]`` has, for every p,
   ``δ ≤ max(h(A−1, N+1−A), h(N+1−B, B−1))``.
2. *Monotone.* h falls in k and in l: ``Γ_m/m`` falls in convex order as m rises.
3. *Heights of one N* strictly fall, then strictly rise in k.

**The theorem.** Cells v and w have the minima T_v and T_w, of their entries k_v and k_w are known, ``k_v + k_w ≤ u``.
Reveal how many of the other unknown entries are in each other cell: one law under both values. If the table can be
published at all, the count of v among the ``N₁`` unknown entries in {v, w} is published within ``[a, N₁ − b]``, where
``a = T_v − k_v``, ``b = T_w − k_w`` and ``N₁ ≥ a + b``. By 1 and 2, v against w has ``δ ≤ max(h(a−1, b), h(a, b−1))``;
w against v has the same with a and b exchanged.

**All splits by four heights.** By 2 the worst split has ``k_v + k_w = u``, so ``k + l = T_v + T_w − 1 − u =: N`` for
all these heights, and k runs from ``T_v − u − 1`` to ``T_v``. By 3 only these two ends matter: ``h(T_v − u − 1, T_w)``
and ``h(T_v, T_w − u − 1)``. The kernel's form of some tests of one count takes exactly such maxima.

**All pairs of cells by one.** By 2 the two cells with the least minima are the worst pair.

If ``u ≥ T_v − 1``, all others in v may be known, and the critical entry is the one that is missing: δ = 1.
"""

from __future__ import annotations

from typing import cast

from statpriv._native import Curve, Law
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.queries.contingency import ContingencyTable
from statpriv.model.situation import Pair, Situation
from statpriv.rules.assumptions import COMMON_LAW, INDEPENDENT
from statpriv.rules.registry import rule
from statpriv.rules.whole_population import worst

SOURCE = "docs/explanation/minimum-counts.md, with the proof"


@rule(
    bound="minimum-count",
    kind="bound",
    queries=(ContingencyTable,),
    cost=10,
    theorem=(
        "An exact table that is published only if every possible cell holds at least T entries has "
        "δ ≤ max{h(T−1, T), h(T, T−1)}, h(k, l) = E(Γ_l/l − e^ε Γ_k/k)_+ with independent gamma variables: for every "
        "law that the entries share, every number of entries and every number of cells. Of u known entries the worst "
        "split over the two cells counts; δ = 1 from T − 1 known entries on. Margins, percentages, rounded counts, "
        "charts and everything else that is a function of the published table is covered: data processing."
    ),
    source=SOURCE,
    assumptions=(INDEPENDENT, COMMON_LAW),
)
def minimum_count(situation: Situation) -> Curve:
    """The worst pair of cells; of the worst class, where the classification is public."""
    query, known = table_of(situation), situation.adversary.total
    if situation.pair is not None:
        first, second = map(query.minimum_of, situation.pair)
        return of_minima(first, second, known=known, pair=(1, 0))
    minima = dict.fromkeys(query.least_minima(own) for own in query.classes or (None,))
    # A class with a single possible cell tells nothing: its entries are all in it.
    return worst([of_minima(*least, known=known, pair=None) for least in minima if least is not None])


def table_of(situation: Situation) -> ContingencyTable:
    """The table, if all entries that are compared have one law."""
    query = cast("ContingencyTable", situation.query)
    if situation.population.groups is not None:
        groups = {name for name, _ in situation.population.groups}
        if groups != set(query.classes):
            raise NotApplicable(
                "the population has groups, whose laws may differ; the theorem is about entries with one law. State "
                "the groups as by=, a dimension with the same names, or the population as one number"
            )
    return query


def of_minima(first: int, second: int, *, known: int, pair: Pair) -> Curve:
    """The worst split of the known entries over two cells with these minima: see the module documentation.

    The pair (1, 0) is the first cell against the second; None is the worse of both orders.
    """
    if known > min(first, second) - 2:
        return Curve.answers(Law.table(0, [1]), Law.table(1, [1]))
    size = first + second - known
    return Curve.peaks(size=size, tests=[first - known - 1, first], lower=0, upper=1, pair=pair)
