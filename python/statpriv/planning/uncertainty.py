"""How uncertain a reader must be of each entry's answer."""

from __future__ import annotations

import math
from fractions import Fraction

from statpriv.errors import ArgumentError
from statpriv.model.populations import Population
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import EachBetween
from statpriv.numeric.exact import Number, as_positive
from statpriv.numeric.literals import literal
from statpriv.planning.designs import Design, Trial
from statpriv.planning.search import last, unreachable
from statpriv.planning.study import Study, entries_of, folds_of


def least_uncertainty(
    population: Population,
    *,
    epsilon: Number,
    delta: Number,
    queries: Number = 1,
    known: Number = 0,
    attribute: str | None = None,
    step: Number = "0.001",
    bound: str = "tightest",
) -> Design:
    """The least λ such that counts are private if nobody is surer than 1 − λ of either answer of anybody.

    Each entry has a probability of its own in [λ, 1 − λ], :class:`statpriv.EachBetween`. All entries are shared equally
    by the queries.

    Parameters
    ----------
    population, epsilon, delta, known, bound
        As for :func:`most_queries`.
    queries : int, default 1
        Number of queries, each of them a count.
    attribute : str, optional
        With it, all queries ask the same property; without it, unrelated ones.
    step : number, default "0.001"
        λ is a multiple of it, above 0 and up to 1/2.

    Returns
    -------
    Design
        Its `value` is λ, a Fraction. A smaller λ is a wider range, whose supremum is not smaller.

    Raises
    ------
    ArgumentError
        A value that is not allowed.
    GuaranteeNotReachedError
        Even fair coins do not reach the guarantee; the message says what they reach.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.design.least_uncertainty(sp.Population(500), epsilon="0.1", delta="0.05", step="0.01").value
    Fraction(1, 20)
    """
    width = as_positive(step, "step")
    if width > Fraction(1, 2):
        raise ArgumentError(f"step = {literal(width)}; a number above 0 and up to 1/2 is required")
    coin = PropertyQuery(Fraction(1, 2), attribute=attribute)
    study = Study.of(coin, epsilon, delta, known=known, bound=bound)
    n = entries_of(population, study.known)
    sizes = folds_of(n, queries)
    largest = math.floor(Fraction(1, 2) / width)

    def trial(steps: int) -> Trial:
        certain = (largest - steps) * width
        asked = PropertyQuery(EachBetween(certain, 1 - certain), attribute=attribute)
        return study.trial(certain, n, sizes, queries=(asked,) * len(sizes))

    best, next_to_it = last(trial, 0, largest - 1)
    if best is None:
        raise unreachable("uncertainty", study, next_to_it)
    own = "a p of its own for each entry from λ to 1 − λ"
    given, unknown = study.given(n, len(sizes)).replace(study.probability, own), "least uncertainty λ of each entry"
    if best is next_to_it:
        return study.design(unknown, given, best, None, "A smaller multiple of the step is 0: somebody may be certain.")
    reason = "a supremum over a wider range is not smaller"
    beyond = study.beyond(next_to_it, "smaller λ", truth=reason, total=reason)
    return study.design(unknown, given, best, next_to_it, beyond)
