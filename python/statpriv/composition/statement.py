"""The text of an accountant's statement: its guarantee, the theorem behind it, and what is only reported."""

from __future__ import annotations

from statpriv.composition.filter import Filter
from statpriv.composition.ledger import at_most
from statpriv.composition.repeated_releases import RepeatedReleases
from statpriv.curves.curve import NOT_PROTECTED
from statpriv.numeric.literals import literal
from statpriv.rules.assumptions import INDEPENDENT, PAPER

_FILTER = (
    "δ(ε) ≤ E[Σ_k (n_k/n) · Δ̂_k(ε)], the mean over the answers by which queries and sizes are chosen (Theorem 5.3). "
    "What would bring the sum above the budget is refused, so that it is at most the budget whatever the answers are, "
    "and so is its mean."
)
_WORST_SHARE = (
    "Earlier answers may tell where the known entries are not: each part is charged as if it held as many as it can."
)
_GROWTH = (
    "Rows that were appended are a cohort of their own: each cohort has its own sum, with the probability that a row "
    "of it is in part k for n_k/n, and the largest sum counts (docs/explanation/repeated-releases.md)."
)
_ASSUMPTIONS = (
    INDEPENDENT,
    "every entry has the law that the queries state (or any in the stated range)",
    "rows are taken in an order that is drawn once, uniformly and independently of the data, and kept secret",
    "no row answers twice",
    "the analyst sees nothing of the data but the answers",
)
_GROWN = (
    "rows that were appended were shuffled, in secret, into those that had not answered",
    *RepeatedReleases.own_assumptions,
)


def statement(spending: Filter) -> str:
    """The statement: guarantee, theorem, bookkeeping, assumptions, and what is not covered."""
    level = f"({literal(spending.epsilon)}, {literal(spending.delta)})-statistical privacy"
    if spending.promise is None or spending.promised is None:
        guarantee = [f"{level} of all answers together, whatever is asked."]
        theorem = [_FILTER, f"({PAPER}, Theorem 5.3; docs/explanation/filters-and-odometers.md)"]
        theorem += [_WORST_SHARE] if spending.adversary.known else []
        theorem += [_GROWTH] if spending.joined else []
        report = ["get_delta, get_epsilon: the sum on the path that happened. No guarantee by itself."]
        report += ["non_adaptive_curve: a guarantee only if everything was settled before the first answer."]
        assumptions = (*_ASSUMPTIONS, *(_GROWN if spending.joined else ()))
    else:
        holds = (
            f"{level} of all answers together, as promised."
            if spending.spent <= spending.delta
            else f"None: the promise costs up to {at_most(spending.spent)}, above the budget; everything is refused."
        )
        guarantee = [holds, "get_delta and get_epsilon are guarantees at every ε."]
        theorem = [spending.promise.theorem, spending.promised.theorem, f"({spending.promised.source})"]
        n = spending.population.size
        report = [f"rows: {n - spending.draws.left} of {n} have answered."]
        assumptions = (*spending.promised.assumptions, *_ASSUMPTIONS[2:])
    sections = {
        "Guarantee": guarantee,
        "Theorem": theorem,
        "Bookkeeping": report,
        "Assumptions": [f"- {text}" for text in dict.fromkeys(assumptions)],
        "Not covered": [f"- {text}" for text in NOT_PROTECTED],
    }
    return "\n\n".join("\n".join([title, *(f"  {line}" for line in lines)]) for title, lines in sections.items())
