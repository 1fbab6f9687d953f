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

**The supremum.** The bound on gated counts is not attained. The supremum over p and ``N₁`` for one split is found by
the kernel, with the proof in `rust/core/src/forms/gated_supremum.rs`. A table with larger minima is a function of the
table with smaller ones: what is below the larger ones is withheld. So the supremum falls with either minimum too. The
worst pair of cells are those with the least minima, and the worst splits have all u known entries in the two cells.

If ``u ≥ T_v − 1``, all others in v may be known, and the critical entry is the one that is missing: δ = 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from statpriv import budget
from statpriv._native import Curve, Law
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.queries.contingency import ContingencyTable
from statpriv.model.situation import Pair, Situation
from statpriv.rules.assumptions import COMMON_LAW, INDEPENDENT
from statpriv.rules.registry import rule
from statpriv.rules.whole_population import worst

SUPREMUM = (
    "The supremum of δ over all laws, all numbers of entries and all numbers of cells of exact tables that are "
    "published only if every possible cell holds its minimum, with the worst split of known entries, by branch and "
    "bound: enclosed to a relative width of 2^-41."
)
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
        "charts and everything else that is a function of the published table is covered: data processing. With a "
        "public classification each class is published or withheld by itself, and no total over the classes is."
    ),
    source=SOURCE,
    assumptions=(INDEPENDENT, COMMON_LAW),
)
def minimum_count(situation: Situation) -> Curve:
    """The four heights of the two least minima."""
    return _worst(situation, of_minima)


def _worst(situation: Situation, of_two_cells: Callable[..., Curve]) -> Curve:
    """The worst pair of cells; of the worst class, where the classification is public."""
    query, known = table_of(situation), situation.adversary.total
    if situation.pair is not None:
        first, second = map(query.minimum_of, situation.pair)
        return of_two_cells(first, second, known=known, pair=(1, 0))
    minima = dict.fromkeys(query.least_minima(own) for own in query.classes or (None,))
    # A class with a single possible cell tells nothing: its entries are all in it.
    return worst([of_two_cells(*least, known=known, pair=None) for least in minima if least is not None])


@rule(
    bound="supremum",
    kind="exact",
    queries=(ContingencyTable,),
    cost=12,
    competes=False,
    theorem=f"{SUPREMUM} It is attained by a table of two cells.",
    source=SOURCE,
    assumptions=(INDEPENDENT, COMMON_LAW),
)
def supremum(situation: Situation) -> Curve:
    """The supremum over all tables with these minima."""
    if not situation.is_about_every_size:
        raise NotApplicable("the number of entries is given, and the supremum is over all")
    return _supremum(situation)


@rule(
    bound="supremum",
    kind="bound",
    queries=(ContingencyTable,),
    cost=12,
    competes=False,
    theorem=f"{SUPREMUM} A table with a given number of entries has at most that.",
    source=SOURCE,
    assumptions=(INDEPENDENT, COMMON_LAW),
)
def bounded_by_supremum(situation: Situation) -> Curve:
    """The same as a bound of one table."""
    return _supremum(situation)


def _supremum(situation: Situation) -> Curve:
    return _worst(situation, supremum_of_minima)


def table_of(situation: Situation, *, refined: bool = False) -> ContingencyTable:
    """The table, if it is one or is `refined` by the data, and all entries that are compared have one law."""
    query = cast("ContingencyTable", situation.query)
    if (query.depth > 1) is not refined:
        raise NotApplicable(
            "the table is all or nothing, and no stages follow each other"
            if refined
            else "the data choose among several tables, of which the theorem on one does not speak"
        )
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
        return shown()
    size = first + second - known
    return Curve.peaks(size=size, tests=[first - known - 1, first], lower=0, upper=1, pair=pair)


def shown() -> Curve:
    """δ = 1: the critical entry is shown."""
    return Curve.answers(Law.table(0, [1]), Law.table(1, [1]))


def supremum_of_minima(first: int, second: int, *, known: int, pair: Pair) -> Curve:
    """The supremum over all laws and all numbers of entries; of equal minima both orders are one curve."""
    if known > min(first, second) - 2:
        return shown()
    if max(first, second) > budget.MAX_SUPREMUM_MINIMUM:
        raise NotApplicable(
            f"a minimum of {max(first, second)} is above {budget.MAX_SUPREMUM_MINIMUM}, the largest of which the "
            'supremum is sought; "minimum-count" has no limit'
        )
    return Curve.gated_supremum(first=first, second=second, known=known, pair=(1, 0) if first == second else pair)
