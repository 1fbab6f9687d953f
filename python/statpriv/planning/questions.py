"""The limits of a study without data: the most queries, the smallest population, the widest range."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cache

from statpriv import budget
from statpriv.errors import ArgumentError, GuaranteeNotReachedError
from statpriv.model.codec import stated_range
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.property import PropertyQuery
from statpriv.numeric.exact import Number, as_count, as_positive
from statpriv.planning.accuracy import accuracy_of
from statpriv.planning.designs import Design, Trial
from statpriv.planning.search import beside_most, first_enough, fit, last, unreachable
from statpriv.planning.study import Study, counted, entries_of, folds_of


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
    """The largest number of such queries that can be answered, each on a secret random part of its own.

    All entries are shared equally. If an accuracy is requested, a second way is tried too: every part has the least
    size that reaches it, and the other entries are not used. The result is the way that allows more queries, and
    statements about larger numbers of queries refer to that way.

    Parameters
    ----------
    query : PropertyQuery
        A query with one p or range for all entries. With an `attribute`, all queries ask the same property; without
        one, they ask unrelated properties.
    population : Population
        The entries available.
    epsilon, delta : number
        The guarantee of all answers together: ε in nats, at least 0, and δ from 0 to 1.
    known : int, default 0
        Number of entries an adversary knows.
    rmse : number, optional
        The largest root mean squared error of a proportion in a part, as an estimate of that in the population. Its
        square is p(1−p)(1/s − 1/n), at the worst p of the range.
    half_width : number, optional
        Instead, the largest half width of a confidence interval, for sampling error alone and arbitrary entries.
    confidence : number, default "0.95"
        The confidence of that interval, above 0 and below 1.
    bound : str, default "tightest"
        As for :func:`statpriv.compose`.

    Returns
    -------
    Design
        Its `value` is a number of queries.

    Raises
    ------
    ArgumentError
        A value that is not allowed.
    GuaranteeNotReachedError
        Even one query exceeds the target; the message says what it reaches.

    Notes
    -----
    Sources: *Parallel Composition for Statistical Privacy*, Theorems 5.1 and 5.2, Example 2; for the half width,
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
    n = entries_of(population, study.known)
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
    """The smallest part of each query that reaches an accuracy, and whether these parts reach the guarantee.

    Parameters
    ----------
    queries : PropertyQuery or iterable of PropertyQuery
        Each on a part of its own; those with the same `attribute` ask the same property.
    population, epsilon, delta, known, rmse, half_width, confidence, bound
        As for :func:`most_queries`; an accuracy is required.

    Returns
    -------
    Design
        Its `value` is a tuple of sizes. The neighbour has one entry fewer in every part that can be smaller.

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
    n = entries_of(population, study.known)
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
    """The largest number of entries each of several such queries may use, and hence the best precision of its answer.

    Parameters
    ----------
    query, population, epsilon, delta, known, bound
        As for :func:`most_queries`.
    queries : int, default 1
        Number of such queries, on parts of one size; the other entries are not used.

    Returns
    -------
    Design
        Its `value` is the size of a part, its `rmse` the error of an answer. Under a bound, larger parts may hold too.

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
    n = entries_of(population, study.known)
    m = len(folds_of(n, queries))
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
    """The smallest population that a number of such queries needs, with all entries shared equally.

    Parameters
    ----------
    query : PropertyQuery
        As for :func:`most_queries`.
    queries : int, default 1
        Number of such queries.
    epsilon, delta, known, rmse, half_width, confidence, bound
        As for :func:`most_queries`.

    Returns
    -------
    Design
        Its `value` is a number of entries.

    Raises
    ------
    ArgumentError
        A value that is not allowed.
    GuaranteeNotReachedError
        No population of up to 2^53 entries suffices; the message says what the largest one reaches.

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
    enough = first_enough(
        trial,
        least,
        int(budget.MAX_INTEGER),
        lambda nearest: unreachable("population of up to 2^53 entries", study, nearest),
    )
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
    """The largest number of entries an adversary may know, with all entries shared equally by the queries.

    Parameters
    ----------
    query, population, epsilon, delta, queries, bound
        As for :func:`largest_size`.

    Returns
    -------
    Design
        Its `value` is a number of known entries.

    Raises
    ------
    ArgumentError, GuaranteeNotReachedError
        As for :func:`largest_size`: the guarantee is not reached even without known entries.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.design.most_known(sp.PropertyQuery("1/2"), sp.Population(1000), epsilon="0.1", delta="0.01")
    <Design, known entries: 634 holds; 635 fails>
    """
    study = Study.of(query, epsilon, delta, bound=bound)
    n = entries_of(population, 0)
    sizes = folds_of(n, queries)
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
    """How far p may lie outside the query's stated value or range, with all entries shared equally by the queries.

    Parameters
    ----------
    query, population, epsilon, delta, known, bound
        As for :func:`most_queries`. The p of the query, a number or a range, is widened by the same amount at both
        ends, within 0 and 1.
    queries : int, default 1
        Number of such queries.
    step : number, default "0.001"
        The answer is a multiple of it.

    Returns
    -------
    Design
        Its `value` is the largest distance of p from the stated range, a Fraction. For a single p it is half the width
        of the range around it.

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
    n = entries_of(population, study.known)
    sizes = folds_of(n, queries)
    width = as_positive(step, "step")

    def trial(steps: int) -> Trial:
        outside = steps * width
        ends = max(query.lower - outside, Fraction(0)), min(query.upper + outside, Fraction(1))
        wider = stated_range(ends, each=query.each_own)
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
