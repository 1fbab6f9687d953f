"""What can be asked of a study that has no data yet."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from typing import Any

from statpriv.curves.build import compose
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError, GuaranteeNotReachedError
from statpriv.model.adversaries import Adversary
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.property import Between, PropertyQuery
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_fraction, as_positive
from statpriv.numeric.literals import abridged, at_most, literal, spelled
from statpriv.planning.accuracy import accuracy_of, root_mean_squared_error
from statpriv.planning.designs import Design, TradeOff, TradeOffRow, Trial
from statpriv.planning.search import beside_most, first_enough, fit, last, unreachable
from statpriv.planning.study import Study, counted, require_uniform

__all__ = [
    "guarantee",
    "largest_size",
    "least_delta",
    "least_epsilon",
    "most_known",
    "most_queries",
    "smallest_population",
    "smallest_sizes",
    "trade_off",
    "widest_range",
]


def most_queries(
    query: PropertyQuery,
    population: Population,
    *,
    epsilon: Number,
    delta: Number,
    known: Number = 0,
    rmse: Number | None = None,
    half_width: Number | None = None,
    confidence: Number = "0.95",
    bound: str = "tightest",
) -> Design:
    """How many such queries can be answered, each on a secret random part of its own.

    Either all entries are shared equally, or, if an accuracy is asked for, every part has the least size that reaches
    it and the other entries are not used. The way that allows more queries is shown; what is said of larger numbers is
    about that way.

    Parameters
    ----------
    query : PropertyQuery
        With one p or range for all entries. With an `attribute` all queries ask the same property, without one they
        ask unrelated properties.
    population : Population
        The entries that can be used.
    epsilon, delta : number
        The guarantee of all answers together: ε in nats, at least 0, and δ from 0 to 1.
    known : int, default 0
        How many entries an adversary knows.
    rmse : number, optional
        The largest root mean squared error of a proportion in a part, as an estimate of that in the population:
        p(1−p)(1/s − 1/n) squared, at the worst p of the range.
    half_width : number, optional
        Instead, the largest half width of a confidence interval, from sampling alone and whatever the entries are.
    confidence : number, default "0.95"
        Of that interval, above 0 and below 1.
    bound : str, default "tightest"
        As of :func:`statpriv.compose`.

    Returns
    -------
    Design
        Its `value` is a number of queries.

    Raises
    ------
    ArgumentError
        A value that is not allowed.
    GuaranteeNotReachedError
        One query is too much; the message says what it reaches.

    Notes
    -----
    Sources: *Parallel Composition for Statistical Privacy*, Theorems 5.1 and 5.2, Example 2; for the half width
    Serfling, *Probability Inequalities for the Sum in Sampling without Replacement* (1974), Corollary 1.1.

    Examples
    --------
    >>> import statpriv as sp
    >>> plan = sp.design.most_queries(sp.PropertyQuery("1/2", attribute="coin"), sp.Population(32768), epsilon="0.01",
    ...                               delta="0.05", rmse="0.02")
    >>> plan.value, plan.neighbour.value, plan.neighbour.verdict
    (53, 54, 'fails')
    """
    accuracy = accuracy_of(rmse, half_width, confidence)
    study = Study.of(query, epsilon, delta, known=known, bound=bound, accuracy=accuracy)
    n = _entries(population, study.known)
    size = study.smallest_size(n)
    ways = [fit(study, n, size, "all entries shared equally", lambda m: RandomPartition.folds(n, m))]
    if accuracy is not None:
        ways.append(fit(study, n, size, f"in parts of {size}", lambda m: RandomPartition([size] * m)))
    chosen = max(ways, key=lambda way: 0 if way.best is None else way.best.value)  # of equal ones the first
    if chosen.best is None:
        nearest = min(
            (way.next_to_it for way in ways), key=lambda trial: 1.0 if trial.delta is None else trial.delta.upper
        )
        raise unreachable("number of queries", study, nearest)
    neighbour, beyond = beside_most(study, n, size, chosen, fixed=chosen is not ways[0])
    given = study.given(n, None, chosen.name)
    return study.design("queries", given, chosen.best, neighbour, beyond, trials=chosen.trials)


def smallest_sizes(
    queries: PropertyQuery | Iterable[PropertyQuery],
    population: Population,
    *,
    epsilon: Number,
    delta: Number,
    known: Number = 0,
    rmse: Number | None = None,
    half_width: Number | None = None,
    confidence: Number = "0.95",
    bound: str = "tightest",
) -> Design:
    """The least part of each query that reaches an accuracy, and whether these parts reach the guarantee.

    Parameters
    ----------
    queries : PropertyQuery or iterable of PropertyQuery
        Each on a part of its own; those with the same `attribute` ask the same property.
    population, epsilon, delta, known, rmse, half_width, confidence, bound
        As of :func:`most_queries`; an accuracy is required.

    Returns
    -------
    Design
        Its `value` is a tuple of sizes. The neighbour has one entry less in every part that can be smaller.

    Raises
    ------
    ArgumentError
        A value that is not allowed, or more parts than entries.
    GuaranteeNotReachedError
        These parts do not reach the guarantee; the message says what they reach.

    Examples
    --------
    >>> import statpriv as sp
    >>> queries = [sp.PropertyQuery("1/2"), sp.PropertyQuery("0.1")]
    >>> plan = sp.design.smallest_sizes(queries, sp.Population(10_000), epsilon="0.1", delta="0.01", rmse="0.02")
    >>> plan.value
    (589, 221)
    """
    asked = (queries,) if isinstance(queries, PropertyQuery) else tuple(queries)
    accuracy = accuracy_of(rmse, half_width, confidence)
    if not asked:
        raise ArgumentError("queries = []; at least one query is required")
    if accuracy is None:
        raise ArgumentError("rmse = None and half_width = None; the accuracy that the parts must reach is required")
    studies = [Study.of(query, epsilon, delta, known=known, bound=bound, accuracy=accuracy) for query in asked]
    study = studies[0]
    n = _entries(population, study.known)
    sizes = tuple(each.smallest_size(n) for each in studies)
    if sum(sizes) > n:
        raise GuaranteeNotReachedError(
            f"the parts need {sum(sizes)} entries for {accuracy}, and the population has {n}; "
            "ask fewer queries or less accuracy"
        )
    best = study.trial(sizes, n, sizes, queries=asked)
    if best.verdict != "holds":
        raise unreachable("choice of such sizes", study, best)
    less = tuple(max(size - 1, 1) for size in sizes)
    neighbour = None if less == sizes else Trial(less, "fails", f"no smaller part reaches {accuracy}", less)
    about = f"{n} entries, {counted(len(sizes), 'query', 'queries')}, {study.goal}, {study.knows}"
    beyond = "Every smaller part misses the accuracy: the error falls with the size of a part."
    return study.design("entries of each part", about, best, neighbour, beyond)


def largest_size(
    query: PropertyQuery,
    population: Population,
    *,
    epsilon: Number,
    delta: Number,
    queries: Number = 1,
    known: Number = 0,
    bound: str = "tightest",
) -> Design:
    """How many entries each of so many such queries may use, so how precise its answer can be.

    Parameters
    ----------
    query, population, epsilon, delta, known, bound
        As of :func:`most_queries`.
    queries : int, default 1
        How many such queries are asked, on parts of one size; the other entries are not used.

    Returns
    -------
    Design
        Its `value` is the size of a part, its `rmse` the error of an answer. Under a bound larger parts may hold, too.

    Raises
    ------
    ArgumentError
        A value that is not allowed.
    GuaranteeNotReachedError
        Even parts of one entry are too large; the message says what they reach.

    Examples
    --------
    >>> import statpriv as sp
    >>> coin = sp.PropertyQuery("1/2", attribute="coin")
    >>> print(sp.design.largest_size(coin, sp.Population(1000), queries=4, epsilon="0.1", delta="0.0001"))
    size of a part: 104
      1000 entries, 4 queries of p = 0.5, δ(0.1) ≤ 0.0001, no entry known
      104 holds: δ ≤ 0.0000990986
      105 fails: δ ≥ 0.000103223
      All larger parts fail too: the count of fewer entries is drawn from that of more.
      curves evaluated: 10
    """
    study = Study.of(query, epsilon, delta, known=known, bound=bound)
    n = _entries(population, study.known)
    m = len(_folds(n, queries))
    best, next_to_it = last(lambda size: study.trial(size, n, (size,) * m), 1, n // m)
    if best is None:
        raise unreachable("size of a part", study, next_to_it)
    given = study.given(n, m)
    if best is next_to_it:
        return study.design("size of a part", given, best, None, "Larger parts have more entries than there are.")
    beyond = study.beyond(
        next_to_it, "larger parts", truth="the count of fewer entries is drawn from that of more", total=None
    )
    return study.design("size of a part", given, best, next_to_it, beyond)


def smallest_population(
    query: PropertyQuery,
    *,
    epsilon: Number,
    delta: Number,
    queries: Number = 1,
    known: Number = 0,
    rmse: Number | None = None,
    half_width: Number | None = None,
    confidence: Number = "0.95",
    bound: str = "tightest",
) -> Design:
    """The least population that so many such queries need, all entries shared equally by them.

    Parameters
    ----------
    query : PropertyQuery
        As of :func:`most_queries`.
    queries : int, default 1
        How many such queries are asked.
    epsilon, delta, known, rmse, half_width, confidence, bound
        As of :func:`most_queries`.

    Returns
    -------
    Design
        Its `value` is a number of entries.

    Raises
    ------
    ArgumentError
        A value that is not allowed.
    GuaranteeNotReachedError
        No population of up to 2^53 entries is enough; the message says what the largest reaches.

    Examples
    --------
    >>> import statpriv as sp
    >>> plan = sp.design.smallest_population(sp.PropertyQuery(sp.Between("0.2", "0.4")), epsilon="0.1", delta="0.001")
    >>> print(plan)
    entries: 1973
      1 query of any p from 0.2 to 0.4, δ(0.1) ≤ 0.001, no entry known
      1973 holds: δ ≤ 0.000998102
      1972 fails: δ ≥ 0.00100066
      All populations below 1973 fail too: δ does not rise with the number of entries.
      curves evaluated: 22
    """
    accuracy = accuracy_of(rmse, half_width, confidence)
    study = Study.of(query, epsilon, delta, known=known, bound=bound, accuracy=accuracy)
    m = as_count(queries, "queries", least=1)

    @cache
    def trial(n: int) -> Trial:
        return study.trial(n, n, RandomPartition.folds(n, m).sizes)

    least = max(m, study.known + 1)
    enough = first_enough(trial, least, study)
    best = trial(study.accurate_population(enough.value, m))
    while best.verdict != "holds":  # δ is not proved to be monotone for every curve
        best = trial(study.accurate_population(best.value + 1, m))
    given = study.given(None, m)
    if best.value == least:
        beyond = "Fewer are not possible: every part has an entry, and the critical one is not known."
        return study.design("entries", given, best, None, beyond)
    below = "Fewer entries than that are not possible."
    if enough.value > least:
        below = study.beyond(
            trial(enough.value - 1),
            f"populations below {enough.value}",
            truth="δ does not rise with the number of entries" if m == 1 or study.one_property else None,
            total="the sum of Theorem 5.2 does not rise with the number of entries",
        )
    if best.value == enough.value:
        return study.design("entries", given, best, trial(best.value - 1), below)
    n = best.value - 1
    neighbour = Trial(n, "fails", study.inaccuracy(n // m, n), RandomPartition.folds(n, m).sizes)
    beyond = f"Between {enough.value - 1} and {best.value} every number misses the accuracy or the guarantee. {below}"
    return study.design("entries", given, best, neighbour, beyond)


def most_known(
    query: PropertyQuery,
    population: Population,
    *,
    epsilon: Number,
    delta: Number,
    queries: Number = 1,
    bound: str = "tightest",
) -> Design:
    """How many entries an adversary may know, all entries shared equally by so many such queries.

    Parameters
    ----------
    query, population, epsilon, delta, bound
        As of :func:`most_queries`.
    queries : int, default 1
        How many such queries are asked.

    Returns
    -------
    Design
        Its `value` is a number of known entries.

    Raises
    ------
    ArgumentError
        A value that is not allowed.
    GuaranteeNotReachedError
        Even without known entries the guarantee is not reached; the message says what is.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.design.most_known(sp.PropertyQuery("1/2"), sp.Population(1000), epsilon="0.1", delta="0.01")
    <Design, known entries: 634 holds; 635 fails>
    """
    study = Study.of(query, epsilon, delta, bound=bound)
    n = _entries(population, 0)
    sizes = _folds(n, queries)
    best, next_to_it = last(lambda known: study.trial(known, n, sizes, known=known), 0, n - 1)
    if best is None:
        raise unreachable("number of known entries", study, next_to_it)
    given = study.given(n, len(sizes), states_known=False)
    if best.value == n - 1:
        return study.design("known entries", given, best, None, "More cannot be known: the critical entry is not.")
    beyond = study.beyond(
        next_to_it,
        "larger numbers",
        truth="knowing more entries does not lower δ",
        total="the sum of Theorem 5.2 does not fall with the number of known entries",
    )
    return study.design("known entries", given, best, next_to_it, beyond)


def widest_range(
    query: PropertyQuery,
    population: Population,
    *,
    epsilon: Number,
    delta: Number,
    queries: Number = 1,
    known: Number = 0,
    step: Number = "0.001",
    bound: str = "tightest",
) -> Design:
    """How far p may lie beyond what the query states, all entries shared equally by so many such queries.

    Parameters
    ----------
    query, population, epsilon, delta, known, bound
        As of :func:`most_queries`. Its p, a number or a range, is widened by the same amount at both ends, as far as 0
        and 1.
    queries : int, default 1
        How many such queries are asked.
    step : number, default "0.001"
        The answer is a multiple of it.

    Returns
    -------
    Design
        Its `value` is how far p may lie outside, a Fraction. With a p that is a number it is half the width of the
        range around it.

    Raises
    ------
    ArgumentError
        A value that is not allowed.
    GuaranteeNotReachedError
        Even the stated p does not reach the guarantee; the message says what it reaches.

    Examples
    --------
    >>> import statpriv as sp
    >>> plan = sp.design.widest_range(sp.PropertyQuery("1/2"), sp.Population(1000), epsilon="0.1", delta="0.002")
    >>> plan.value, plan.neighbour.value
    (Fraction(133, 1000), Fraction(67, 500))
    """
    study = Study.of(query, epsilon, delta, known=known, bound=bound)
    n = _entries(population, study.known)
    sizes = _folds(n, queries)
    width = as_positive(step, "step")

    def trial(steps: int) -> Trial:
        outside = steps * width
        wider = Between(max(query.lower - outside, Fraction(0)), min(query.upper + outside, Fraction(1)))
        asked = PropertyQuery(wider, attribute=query.attribute, name=query.name)
        return study.trial(outside, n, sizes, queries=(asked,) * len(sizes))

    furthest = math.ceil(max(query.lower, 1 - query.upper) / width)
    best, next_to_it = last(trial, 0, furthest)
    if best is None:
        raise unreachable("range", study, next_to_it)
    given, unknown = study.given(n, len(sizes)), "distance of p from what is stated"
    if best.value == furthest * width:
        return study.design(unknown, given, best, None, "The whole range from 0 to 1 holds.")
    reason = "a supremum over a wider range is not smaller"
    return study.design(
        unknown, given, best, next_to_it, study.beyond(next_to_it, "wider ranges", truth=reason, total=reason)
    )


def least_delta(
    query: PropertyQuery,
    population: Population,
    *,
    epsilon: Number,
    queries: Number = 1,
    known: Number = 0,
    bound: str = "tightest",
) -> Design:
    """The δ that so many such queries have at an ε, all entries shared equally by them.

    Parameters
    ----------
    query, population, epsilon, known, bound
        As of :func:`most_queries`.
    queries : int, default 1
        How many such queries are asked.

    Returns
    -------
    Design
        Its `value` is an Enclosure of δ, or of the bound that its curve is.

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
    """The ε that so many such queries have at a δ, all entries shared equally by them.

    Parameters
    ----------
    query, population, delta, known, bound
        As of :func:`most_queries`.
    queries : int, default 1
        How many such queries are asked.

    Returns
    -------
    Design
        Its `value` is an Enclosure of ε in nats, or of that of the bound that its curve is.

    Raises
    ------
    GuaranteeNotReachedError
        No ε is enough; the message says how small δ can be.

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
    """The privacy curve of so many such queries, all entries shared equally by them.

    Parameters
    ----------
    query, population, known, bound
        As of :func:`most_queries`.
    queries : int, default 1
        How many such queries are asked.

    Returns
    -------
    PrivacyCurve

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.design.guarantee(sp.PropertyQuery("1/2"), sp.Population(1024), queries=4).satisfies(epsilon=1, delta="0.1")
    True
    """
    require_uniform(query)
    adversary = Adversary(known=known)
    sizes = _folds(_entries(population, adversary.total), queries)
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
    """What a number of queries costs in privacy and in accuracy.

    Parameters
    ----------
    query, population, epsilon, known, bound
        As of :func:`most_queries`.
    delta : number, optional
        A target, from 0 to 1: the size of parts that reaches it is looked for, the other entries not used. δ need
        not be monotone in that size, so the largest found is certified to hold and not to be the largest.
    queries : iterable of int, optional
        Which numbers of queries; by default about 24 from 1 to a hundredth of the population, in equal ratios.

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
    n = _entries(population, study.known)
    numbers = _spread(n) if queries is None else sorted({as_count(m, "queries", least=1) for m in queries})
    rows = [_trade_off_row(study, n, m, has_target=delta is not None) for m in numbers]
    unrelated = "" if study.one_property else ", unrelated properties"
    given = (
        f"{n} entries shared equally, queries of {study.probability}{unrelated}, ε = {literal(study.epsilon)}, "
        f"{study.knows}"
    )
    return TradeOff(given, tuple(rows), None if delta is None else study.delta)


def _trade_off_row(study: Study, n: int, m: int, *, has_target: bool) -> TradeOffRow:
    shared = study.trial(m, n, _folds(n, m))
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
    """A guarantee that a curve has, as a result."""
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


def _entries(population: object, known: int) -> int:
    if not isinstance(population, Population):
        raise ArgumentError(
            f"population = {abridged(population)}; a Population such as sp.Population(1024) is required"
        )
    if known >= population.size:
        raise ArgumentError(f"known = {known}; of {population.size} entries at most {population.size - 1} can be known")
    return population.size


def _folds(n: int, queries: Number) -> tuple[int, ...]:
    m = as_count(queries, "queries", least=1)
    if m > n:
        raise ArgumentError(f"queries = {m}; at most one an entry, here {n}, is possible")
    return RandomPartition.folds(n, m).sizes


def _spread(n: int) -> list[int]:
    from statpriv.plotting import sizes_between

    return sizes_between(1, max(n // 100, 2), 24)
