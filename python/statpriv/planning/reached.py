"""The privacy of a given number of queries: their curve, the least δ and ε, and the trade-off with accuracy."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from statpriv.curves.build import compose
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import GuaranteeNotReachedError
from statpriv.model.adversaries import Adversary
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.property import PropertyQuery
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_fraction
from statpriv.numeric.literals import at_most, literal, spelled
from statpriv.planning.accuracy import root_mean_squared_error
from statpriv.planning.designs import Design, TradeOff, TradeOffRow, Trial
from statpriv.planning.search import last
from statpriv.planning.study import Study, counted, entries_of, folds_of, require_uniform


def least_delta(
    query: PropertyQuery,
    population: Population,
    *,
    epsilon: Number,
    queries: Number = 1,
    known: Number = 0,
    bound: str = "tightest",
) -> Design:
    """The δ of a number of such queries at a given ε, with all entries shared equally.

    Parameters
    ----------
    query, population, epsilon, known, bound
        As for :func:`most_queries`.
    queries : int, default 1
        Number of such queries.

    Returns
    -------
    Design
        Its `value` is an Enclosure of δ, or of a bound on δ if the curve is a bound.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.design.least_delta(sp.PropertyQuery("1/2"), sp.Population(1024), epsilon="0.005").value.upper < 0.0226
    True
    """
    exact = as_fraction(epsilon, "epsilon")
    curve = guarantee(query, population, queries=queries, known=known, bound=bound)
    return _read_off(curve, "δ", curve.delta(exact), f"ε = {literal(exact)}")


def least_epsilon(
    query: PropertyQuery,
    population: Population,
    *,
    delta: Number,
    queries: Number = 1,
    known: Number = 0,
    bound: str = "tightest",
) -> Design:
    """The ε in nats of a number of such queries at a given δ, with all entries shared equally.

    The arguments are those of :func:`least_delta`, with δ in place of ε. Its `value` is an Enclosure of ε, or of a
    bound on ε if the curve is a bound.

    Raises
    ------
    GuaranteeNotReachedError
        No ε suffices; the message says how small δ can be.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.design.least_epsilon(sp.PropertyQuery("1/2"), sp.Population(1024), delta="0.01").value.upper < 0.05
    True
    """
    exact = as_fraction(delta, "delta")
    curve = guarantee(query, population, queries=queries, known=known, bound=bound)
    found = curve.epsilon(exact)
    if math.isinf(found.upper):
        raise GuaranteeNotReachedError(
            f"delta = {spelled(delta)}: no finite ε is certified; δ stays at "
            f"{at_most(curve.infinity_mass().upper)} at most however large ε is; ask for more, or for more entries"
        )
    return _read_off(curve, "ε", found, f"δ = {literal(exact)}")


def guarantee(
    query: PropertyQuery,
    population: Population,
    *,
    queries: Number = 1,
    known: Number = 0,
    bound: str = "tightest",
) -> PrivacyCurve:
    """The privacy curve of several such queries with all entries shared equally; see :func:`least_delta`.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.design.guarantee(sp.PropertyQuery("1/2"), sp.Population(1024), queries=4).satisfies(epsilon=1, delta="0.1")
    True
    """
    require_uniform(query)
    adversary = Adversary(known=known)
    sizes = folds_of(entries_of(population, adversary.total), queries)
    return compose([query] * len(sizes), population, RandomPartition(sizes), adversary=adversary, bound=bound)


def trade_off(
    query: PropertyQuery,
    population: Population,
    *,
    epsilon: Number,
    delta: Number | None = None,
    queries: Iterable[Number] | None = None,
    known: Number = 0,
    bound: str = "tightest",
) -> TradeOff:
    """The cost of a number of queries in privacy and in accuracy.

    Parameters
    ----------
    query, population, epsilon, known, bound
        As for :func:`most_queries`.
    delta : number, optional
        A target, from 0 to 1. The largest size of parts that reaches it is searched, with the other entries not used. δ
        need not be monotone in that size: the size found is certified to hold, but not certified to be the largest.
    queries : iterable of int, optional
        The numbers of queries; by default about 24 from 1 to a hundredth of the population, in equal ratios.

    Returns
    -------
    TradeOff

    Examples
    --------
    >>> import statpriv as sp
    >>> print(sp.design.trade_off(sp.PropertyQuery("1/2"), sp.Population(1000), epsilon="0.1", queries=[1, 2, 4],
    ...                           bound="partition-sum"))
    1000 entries shared equally, queries of p = 0.5, unrelated properties, ε = 0.1, no entry known
    queries  entries of a part  δ at most   rmse at most
    1        1000               0.00161921  0
    2        500                0.00625065  0.0158114
    4        250                0.0163009   0.0273862
    """
    study = Study.of(query, epsilon, 0 if delta is None else delta, known=known, bound=bound)
    n = entries_of(population, study.known)
    numbers = _spread(n) if queries is None else sorted({as_count(m, "queries", least=1) for m in queries})
    rows = [_trade_off_row(study, n, m, has_target=delta is not None) for m in numbers]
    unrelated = "" if study.one_property else ", unrelated properties"
    given = (
        f"{n} entries shared equally, queries of {study.probability}{unrelated}, ε = {literal(study.epsilon)}, "
        f"{study.knows}"
    )
    return TradeOff(given, tuple(rows), None if delta is None else study.delta)


def _trade_off_row(study: Study, n: int, m: int, *, has_target: bool) -> TradeOffRow:
    shared = study.trial(m, n, folds_of(n, m))
    assert shared.delta is not None  # noqa: S101  (evaluated)
    assert shared.rmse is not None  # noqa: S101
    row = TradeOffRow(m, min(shared.sizes), shared.delta, shared.rmse, curve=shared.curve)
    if not has_target:
        return row
    found: Trial | None = shared
    if shared.verdict != "holds":
        found, _ = last(lambda size: study.trial(m, n, (size,) * m), 1, n // m)
    if found is None or found.rmse is None:
        return row
    return TradeOffRow(m, row.size, row.delta, row.rmse, min(found.sizes), found.rmse, curve=shared.curve)


def _read_off(curve: PrivacyCurve, unknown: str, value: Enclosure, at: str) -> Design:
    """A guarantee read off a curve, as a result."""
    situation: Any = curve.situation
    n, sizes = situation.population.size, situation.sampling.sizes
    study = Study.of(situation.queries[0], 0, 1, known=situation.adversary.total)
    delta = value if unknown == "δ" else None
    error = root_mean_squared_error(situation.queries, sizes, n)
    best = Trial(value, "holds", f"{unknown} ≤ {at_most(value.upper)}", sizes, delta, error, curve)
    least = "It is the least: nothing below its lower end holds."
    beyond = least if curve.kind == "exact" else "Less is not excluded: the curve is not known exactly."
    asked = f"{counted(len(sizes), 'query', 'queries')} of {study.probability}"
    return Design(unknown, f"{n} entries, {asked}, {at}, {study.knows}", best, None, beyond, (best,), 1)


def _spread(n: int) -> list[int]:
    from statpriv.plotting import sizes_between

    return sizes_between(1, max(n // 100, 2), 24)
