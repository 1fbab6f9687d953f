"""The composition theorem of the paper for each rule and notion, for independent and for adaptive mechanisms.

**DP form of the common domain (from Theorems IV.11, VI.7, VI.14, VI.22).** Let each `M_i ∘ f_i` be ε_i-private at a
granularity on whole databases. For neighbours with `f_i(D) = f_i(D')` the mechanism `M_i` has the same law on both
(Remark A.7); for other neighbours the minimum distance is at most 1. So the loss between neighbours is `Σ ε_i` over the
queries that the step changes, and the loss of the whole is that of the worst step. In the coordinates of
:mod:`statpriv.theories.granularity.notions` the same holds for (ε, δ), ρ and μ². This covers every row of the table. If
a step changes one query (compatible inputs), the result is the maximum. If it changes two (a record moves from one part
to another under the bounded granularity), the result is the sum of the two largest. If it changes all, it is the sum.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from statpriv.theories.granularity.notions import Notion

Rule: TypeAlias = Literal[
    "sequential", "disjoint", "disjoint, common domain", "by element", "own domain", "common domain"
]

_THEOREMS: dict[Rule, dict[Notion, tuple[str, str]]] = {
    "sequential": {
        "pure": ("Theorem IV.3", "Theorem V.3"),
        "approximate": ("Theorem VI.5", "Theorem VI.5"),
        "zcdp": ("Theorem VI.15", "Theorem VI.15"),
        "gaussian": ("Theorem VI.23", "Theorem VI.23"),
    },
    "disjoint": {
        "pure": ("Theorem IV.6", "Theorem V.4"),
        "approximate": ("Theorem VI.6", "Theorem VI.6"),
        "zcdp": ("Theorem VI.16", "Theorem VI.16"),
        "gaussian": ("Theorem VI.26", "Theorem VI.26"),
    },
    "disjoint, common domain": {
        "pure": ("Theorem IV.12", "Theorem V.6"),
        "approximate": ("Theorem A.13", "Theorem A.13"),
        "zcdp": ("Theorem A.15", "Theorem A.15"),
        "gaussian": ("Theorem A.17", "Theorem A.17"),
    },
    "by element": {
        "pure": ("Corollary IV.13", "Theorem V.5 as in Corollary IV.13"),
        "approximate": ("Theorem VI.7 as in Corollary IV.13", "Theorem VI.7 as in Corollary IV.13"),
        "zcdp": ("Theorem VI.14 as in Corollary IV.13", "Theorem VI.14 as in Corollary IV.13"),
        "gaussian": ("Corollary A.18", "Theorem VI.22 as in Corollary A.18"),
    },
    "own domain": {
        "pure": ("Theorem IV.1", "Theorem V.2"),
        "approximate": ("Theorem VI.4", "Theorem VI.4"),
        "zcdp": ("Theorem VI.13", "Theorem VI.13"),
        "gaussian": ("Theorem VI.21", "Theorem VI.21"),
    },
    "common domain": {
        "pure": ("Theorem IV.11", "Theorem V.5"),
        "approximate": ("Theorem VI.7", "Theorem VI.7"),
        "zcdp": ("Theorem VI.14", "Theorem VI.14"),
        "gaussian": ("Theorem VI.22", "Theorem VI.22"),
    },
}


def theorem(rule: Rule, notion: Notion, *, adaptive: bool | None) -> str:
    """The name of the theorem. If `adaptive` is None and the two theorems differ, both names.

    >>> theorem("disjoint", "pure", adaptive=None)
    'Theorem IV.6 (adaptively Theorem V.4)'
    """
    independent, in_turn = _THEOREMS[rule][notion]
    if adaptive is None and independent != in_turn:
        return f"{independent} (adaptively {in_turn})"
    return in_turn if adaptive else independent
