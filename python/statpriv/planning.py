"""Planning a study before its data exist: of guarantee, accuracy and population, the third from the other two.

Users see this module as `statpriv.design`. Every function asks how far one number can go, and shows the alternative
next to its answer that fails. Between them lie only comparisons that are certified: `"fails"` means that the least δ
is proved to be above the target, `"undecided"` that a bound of it is, which proves nothing. What is said of all
alternatives further on rests on these lemmas; where none applies, the result says that nothing is claimed.

**Entries.** Δ̂_n(ε) does not rise with n: the count of n+1 independent entries is that of n and an independent summand,
so data processing applies. Nor does its supremum over a range of p.

**Answers.** The first m of m+1 answers on parts of given sizes have the law of m answers on such parts, and every pair
of values that m properties tell apart can be told apart by m+1. So δ does not fall with the number of answers.

**Total.** The answers of all parts determine their sum. If all parts ask for one p, then for the values (1, …, 1) and
(0, …, 0) the sum over all entries is one count of them: δ is at least that of the one count. If all parts ask the same
property, it is equal to it, whatever the parts.

**Sizes.** In a fixed population δ does not fall with the size of a part: the count of a random part of s−1 of s entries
is drawn from the count a of all s, hypergeometric whoever is in the part. (The sum of Theorem 5.2 may fall.)

**Knowledge.** Revealing an entry does not lower δ on average (joint convexity), so not at the worst value either.

**Range.** A supremum over a wider range is not smaller, nor is a sum of such.

**Sum.** Let all n entries be split into m parts whose sizes differ by at most one. The sum of Theorem 5.2,
`Σ_k (n_k/n) SPC(n_k)`, is the mean of `SPC(size of the part of an entry)` over entries. SPC falls with the size: the
unknown others in a part are hypergeometric, stochastically more in a larger part, or if the population has more unknown
entries, and Δ̂ falls with them (*Entries*). The sizes in which entries are fall stochastically with m: one more part
lowers the quotient, or leaves it and leaves fewer parts with one entry more; and they rise with n. So the sum does not
fall with m, and does not rise with n.

**Accuracy.** At a fixed n both errors below fall with the size s of a part. With m ≥ 2 parts of ⌊n/m⌋ entries at least,
they rise with n as long as ⌊n/m⌋ stays, and fall along n = m, 2m, 3m, …

>>> import statpriv as sp
>>> coin = sp.PropertyQuery("1/2", attribute="coin")
>>> sp.design.smallest_population(coin, epsilon="0.1", delta="0.01").value
366
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

from statpriv.adversaries import Adversary
from statpriv.analysis import compose
from statpriv.bisection import least_integer
from statpriv.curve import PrivacyCurve
from statpriv.designs import Design, TradeOff, TradeOffRow, Trial, Verdict, written
from statpriv.enclosure import Enclosure
from statpriv.errors import ArgumentError, GuaranteeNotReachedError, StatprivError, UndecidedError
from statpriv.literals import abridged, at_least, at_most, literal, spelled
from statpriv.numbers import Number, as_count, as_fraction, as_positive
from statpriv.partitions import RandomPartition
from statpriv.populations import Population
from statpriv.queries.property import Between, PropertyQuery

__all__ = [
    "Design",
    "TradeOff",
    "TradeOffRow",
    "Trial",
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

_LARGEST_POPULATION = 2**53
_LOGARITHM_BITS = 100
_NOTHING_CLAIMED = "Nothing is claimed of those further on."


# --- what can be asked ---------------------------------------------------------------------------


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
    accuracy = _accuracy(rmse, half_width, confidence)
    study = _Study.of(query, epsilon, delta, known=known, bound=bound, accuracy=accuracy)
    n = _entries(population, study.known)
    size = study.smallest_size(n)
    ways = [_fit(study, n, size, "all entries shared equally", lambda m: RandomPartition.folds(n, m))]
    if accuracy is not None:
        ways.append(_fit(study, n, size, f"in parts of {size}", lambda m: RandomPartition([size] * m)))
    chosen = max(ways, key=lambda way: 0 if way.best is None else way.best.value)  # of equal ones the first
    if chosen.best is None:
        nearest = min(
            (way.next_to_it for way in ways), key=lambda trial: 1.0 if trial.delta is None else trial.delta.upper
        )
        raise _unreachable("number of queries", study, nearest)
    neighbour, beyond = _beside_most(study, n, size, chosen, fixed=chosen is not ways[0])
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
    accuracy = _accuracy(rmse, half_width, confidence)
    if not asked:
        raise ArgumentError("queries = []; at least one query is required")
    if accuracy is None:
        raise ArgumentError("rmse = None and half_width = None; the accuracy that the parts must reach is required")
    studies = [_Study.of(query, epsilon, delta, known=known, bound=bound, accuracy=accuracy) for query in asked]
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
        raise _unreachable("choice of such sizes", study, best)
    less = tuple(max(size - 1, 1) for size in sizes)
    neighbour = None if less == sizes else Trial(less, "fails", f"no smaller part reaches {accuracy}", less)
    about = f"{n} entries, {_counted(len(sizes), 'query', 'queries')}, {study.goal}, {study.knows}"
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
    study = _Study.of(query, epsilon, delta, known=known, bound=bound)
    n = _entries(population, study.known)
    m = len(_folds(n, queries))
    best, next_to_it = _last(lambda size: study.trial(size, n, (size,) * m), 1, n // m)
    if best is None:
        raise _unreachable("size of a part", study, next_to_it)
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
    accuracy = _accuracy(rmse, half_width, confidence)
    study = _Study.of(query, epsilon, delta, known=known, bound=bound, accuracy=accuracy)
    m = as_count(queries, "queries", least=1)

    @cache
    def trial(n: int) -> Trial:
        return study.trial(n, n, RandomPartition.folds(n, m).sizes)

    least = max(m, study.known + 1)
    enough = _enough(trial, least, study)
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
    study = _Study.of(query, epsilon, delta, bound=bound)
    n = _entries(population, 0)
    sizes = _folds(n, queries)
    best, next_to_it = _last(lambda known: study.trial(known, n, sizes, known=known), 0, n - 1)
    if best is None:
        raise _unreachable("number of known entries", study, next_to_it)
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
    study = _Study.of(query, epsilon, delta, known=known, bound=bound)
    n = _entries(population, study.known)
    sizes = _folds(n, queries)
    width = as_positive(step, "step")

    def trial(steps: int) -> Trial:
        outside = steps * width
        wider = Between(max(query.lower - outside, Fraction(0)), min(query.upper + outside, Fraction(1)))
        asked = PropertyQuery(wider, attribute=query.attribute, name=query.name)
        return study.trial(outside, n, sizes, queries=(asked,) * len(sizes))

    furthest = math.ceil(max(query.lower, 1 - query.upper) / width)
    best, next_to_it = _last(trial, 0, furthest)
    if best is None:
        raise _unreachable("range", study, next_to_it)
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
            f"{at_most(curve.mass_at_infinity().upper)} at most however large ε is; ask for more, or for more entries"
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
    _uniform(query)
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
    study = _Study.of(query, epsilon, 0 if delta is None else delta, known=known, bound=bound)
    n = _entries(population, study.known)
    numbers = _spread(n) if queries is None else sorted({as_count(m, "queries", least=1) for m in queries})
    rows = [_trade_off_row(study, n, m, has_target=delta is not None) for m in numbers]
    unrelated = "" if study.one_property else ", unrelated properties"
    given = (
        f"{n} entries shared equally, queries of {study.probability}{unrelated}, ε = {literal(study.epsilon)}, "
        f"{study.knows}"
    )
    return TradeOff(given, tuple(rows), None if delta is None else study.delta)


# --- what is given -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Accuracy:
    """How far a proportion in a part may be from that in the population."""

    target: Fraction
    confidence: Fraction | None
    """None: the target is of the root mean squared error; else of the half width of a confidence interval."""

    def __str__(self) -> str:
        if self.confidence is None:
            return f"a root mean squared error of {literal(self.target)}"
        return f"a half width of {literal(self.target)} at confidence {literal(self.confidence)}"

    def squared_error(self, variance: Fraction, size: int, rows: int) -> Fraction:
        """What must be at most the square of the target.

        The mean squared error is p(1−p)(1/s − 1/n) (Example 2). The half width t of an interval with confidence 1−α is
        that of Serfling's inequality, P[|mean − truth| ≥ t] ≤ 2 exp(−2 s t²/(1 − (s−1)/n)), for any table of zeros and
        ones; of all entries the proportion is exact.
        """
        if size == rows:
            return Fraction(0)
        if self.confidence is None:
            return variance * (Fraction(1, size) - Fraction(1, rows))
        return _logarithm_above(2 / (1 - self.confidence)) * (1 - Fraction(size - 1, rows)) / (2 * size)


@cache
def _logarithm_above(value: Fraction) -> Fraction:
    """A number that is at least ln(value), by a few units of the last of a hundred bits."""
    from mpmath.ctx_iv import MPIntervalContext

    context = MPIntervalContext()
    context.prec = _LOGARITHM_BITS
    sign, mantissa, exponent, _ = context.log(context.mpf(value.numerator) / value.denominator)._mpi_[1]
    return (-1 if sign else 1) * Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _accuracy(rmse: Number | None, half_width: Number | None, confidence: Number) -> _Accuracy | None:
    exact = as_fraction(confidence, "confidence")
    if not 0 < exact < 1:
        raise ArgumentError(f"confidence = {spelled(confidence)}; a number above 0 and below 1 is required")
    if rmse is not None and half_width is not None:
        raise ArgumentError(f"rmse = {spelled(rmse)} and half_width = {spelled(half_width)}; give only one of them")
    if rmse is not None:
        return _Accuracy(as_positive(rmse, "rmse"), None)
    return None if half_width is None else _Accuracy(as_positive(half_width, "half_width"), exact)


@dataclass
class _Study:
    """A question about one query, asked several times; it counts the curves it evaluates."""

    query: PropertyQuery
    epsilon: Fraction
    delta: Fraction
    known: int
    bound: str
    accuracy: _Accuracy | None
    trials: dict[tuple[object, ...], Trial] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        query: PropertyQuery,
        epsilon: Number,
        delta: Number,
        *,
        known: Number = 0,
        bound: str = "tightest",
        accuracy: _Accuracy | None = None,
    ) -> _Study:
        _uniform(query)
        target, exact = as_fraction(delta, "delta"), as_fraction(epsilon, "epsilon")
        if exact < 0:
            raise ArgumentError(f"epsilon = {spelled(epsilon)}; a number of at least 0 is required")
        if not 0 <= target <= 1:
            raise ArgumentError(f"delta = {spelled(delta)}; a number from 0 to 1 is required")
        return cls(query, exact, target, as_count(known, "known"), bound, accuracy)

    @property
    def one_property(self) -> bool:
        """Whether repeating the query asks the same property again."""
        return self.query.attribute is not None

    @property
    def probability(self) -> str:
        """What is stated about p, in words."""
        low, high = self.query.lower, self.query.upper
        return f"p = {literal(low)}" if low == high else f"any p from {literal(low)} to {literal(high)}"

    @property
    def goal(self) -> str:
        """What is to be reached, in words."""
        accuracy = "" if self.accuracy is None else f", {self.accuracy}"
        return f"δ({literal(self.epsilon)}) ≤ {literal(self.delta)}{accuracy}"

    def given(self, n: int | None, m: int | None, how: str = "", *, states_known: bool = True) -> str:
        """What is given, in words: population, queries, target and adversary."""
        entries = [] if n is None else [f"{n} entries"]
        layout = [how] if how else []
        asked = (
            f"queries of {self.probability}"
            if m is None
            else f"{_counted(m, 'query', 'queries')} of {self.probability}"
        )
        unrelated = [] if self.one_property or m == 1 else ["unrelated properties"]
        return ", ".join([*entries, *layout, asked, *unrelated, self.goal, *([self.knows] if states_known else [])])

    @property
    def knows(self) -> str:
        """What is known, in words."""
        return f"{_counted(self.known, 'entry', 'entries') if self.known else 'no entry'} known"

    def trial(
        self,
        value: object,
        n: int,
        sizes: tuple[int, ...],
        *,
        queries: tuple[PropertyQuery, ...] | None = None,
        known: int | None = None,
    ) -> Trial:
        """Evaluate one alternative, once."""
        asked = (self.query,) * len(sizes) if queries is None else queries
        knows = self.known if known is None else known
        key = (asked[0], len(asked), n, sizes, knows)
        if key not in self.trials:
            curve = compose(
                asked, Population(n), RandomPartition(sizes), adversary=Adversary(known=knows), bound=self.bound
            )
            reached = curve.delta(self.epsilon)
            verdict = self._verdict(curve, reached)
            error = _root_mean_squared_error(asked, sizes, n)
            self.trials[key] = Trial(value, verdict, _why(curve, reached, verdict), sizes, reached, error, curve)
        return self.trials[key]

    def _verdict(self, curve: PrivacyCurve, reached: Enclosure) -> Verdict:
        if Fraction(reached.upper) <= self.delta:
            return "holds"
        if Fraction(reached.lower) > self.delta:
            return "undecided" if curve.kind == "bound" else "fails"
        try:
            return "holds" if curve.satisfies(epsilon=self.epsilon, delta=self.delta) else "fails"
        except UndecidedError:
            return self._equal(curve)

    def _equal(self, curve: PrivacyCurve) -> Verdict:
        """Whether δ, which no number of digits tells from the target, is equal to it.

        δ = A − e^ε B with rational A and B; e^ε is irrational unless ε = 0, so equality needs B = 0 or ε = 0.
        """
        try:
            first, second = curve.exact_terms(self.epsilon)
        except StatprivError:
            return "undecided"
        rational = second == 0 or self.epsilon == 0
        return "holds" if rational and first - second <= self.delta else "undecided"

    def design(
        self,
        unknown: str,
        given: str,
        best: Trial,
        neighbour: Trial | None,
        beyond: str,
        *,
        trials: Iterable[Trial] | None = None,
    ) -> Design:
        """The result, with all that was looked at, or with these of it."""
        looked_at = list(self.trials.values() if trials is None else trials)
        if neighbour is not None and neighbour not in looked_at:
            looked_at.append(neighbour)
        in_order = tuple(sorted(looked_at, key=lambda trial: trial.value))
        return Design(unknown, given, best, neighbour, beyond, in_order, len(self.trials), self.delta)

    def beyond(self, neighbour: Trial, direction: str, *, truth: str | None, total: str | None) -> str:
        """What follows for all further alternatives from the one that does not hold.

        `truth` is why the least δ is monotone, `total` why the sum of Theorem 5.2 is; None where that is not proved.
        """
        if neighbour.verdict == "fails" and truth is not None:
            return f"All {direction} fail too: {truth}."
        if self.bound == "partition-sum" and total is not None:
            return f"The bound proves none of the {direction}: {total}."
        return _NOTHING_CLAIMED

    # --- accuracy

    def _squared_error(self, size: int, n: int) -> Fraction:
        return Fraction(0) if self.accuracy is None else self.accuracy.squared_error(_variance(self.query), size, n)

    def accurate(self, size: int, n: int) -> bool:
        """Whether parts of this size reach the accuracy."""
        return self.accuracy is None or self._squared_error(size, n) <= self.accuracy.target**2

    def inaccuracy(self, size: int, n: int) -> str:
        """What an answer of such a part has instead of the accuracy."""
        error = _root(self._squared_error(size, n))
        return f"a part of {size} has {at_least(error.lower)} at least, and {self.accuracy} is asked for"

    def smallest_size(self, n: int) -> int:
        """The least size of a part that reaches the accuracy; all entries do."""
        return least_integer(lambda size: self.accurate(size, n), 1, n)

    def accurate_population(self, n: int, m: int) -> int:
        """The least population from n on in which m equal parts reach the accuracy: n, or a multiple of m.

        The error rises with n while ⌊n/m⌋ stays, and falls along the multiples of m.
        """
        if self.accurate(n // m, n):
            return n
        if not self.accurate(_LARGEST_POPULATION // m, _LARGEST_POPULATION // m * m):
            raise GuaranteeNotReachedError(
                f"no population of up to 2^53 entries has {self.accuracy} with {_counted(m, 'query', 'queries')}; "
                "ask for less accuracy"
            )
        size, step = n // m + 1, 1
        while not self.accurate(size + step, m * (size + step)):
            step *= 2
        return m * least_integer(lambda s: self.accurate(s, m * s), size, size + step)


@dataclass(frozen=True)
class _Fit:
    """The last number of queries that holds in one way of sizing the parts, and the next one."""

    name: str
    best: Trial | None
    next_to_it: Trial
    trials: tuple[Trial, ...]


def _fit(study: _Study, n: int, size: int, name: str, partition: Callable[[int], RandomPartition]) -> _Fit:
    tried: dict[int, Trial] = {}

    def trial(m: int) -> Trial:
        return tried.setdefault(m, study.trial(m, n, partition(m).sizes))

    from_below = study.accuracy is None and not study.one_property
    best, next_to_it = _last(trial, 1, n // size, from_below=from_below)
    return _Fit(name, best, next_to_it, tuple(tried.values()))


def _beside_most(study: _Study, n: int, size: int, found: _Fit, *, fixed: bool) -> tuple[Trial | None, str]:
    """What is next to the largest number of queries, and what is beyond."""
    most = n // size
    if found.best is found.next_to_it:
        if study.accuracy is None:
            return None, "More queries are not possible: each part has an entry."
        less = n // (most + 1)
        beyond = "All larger numbers fail too: they leave still smaller parts."
        if not less:
            return Trial(most + 1, "fails", "there are fewer entries than parts", ()), beyond
        parts = RandomPartition.folds(n, most + 1).sizes
        return Trial(most + 1, "fails", study.inaccuracy(less, n), parts), beyond
    truth = "all answers together are one count of all entries" if study.one_property else None
    total = "the sum of Theorem 5.2 over equal parts of all entries does not fall with their number"
    if fixed:
        truth = f"in parts of {size} entries, another answer does not lower δ"
        total = f"in parts of {size} entries, another part adds to the sum of Theorem 5.2"
    return found.next_to_it, study.beyond(found.next_to_it, "larger numbers", truth=truth, total=total)


def _last(
    trial: Callable[[int], Trial], least: int, most: int, *, from_below: bool = False
) -> tuple[Trial | None, Trial]:
    """Two neighbours of which the first holds and the second does not, by bisection.

    If the last of all holds, it is both; if the first of all does not, it is the second, and there is no first.
    `from_below` doubles the distance from the first before it bisects, where the last one costs much.
    """
    holding = trial(least) if from_below else None
    low, high = least, min(least + 1, most) if from_below else most
    not_holding = trial(high)
    while not_holding.verdict == "holds" and high < most:
        low, holding, high = high, not_holding, min(2 * high - least + 1, most)
        not_holding = trial(high)
    if not_holding.verdict == "holds":
        return not_holding, not_holding
    holding = trial(least) if holding is None else holding
    if holding.verdict != "holds":
        return None, holding
    while high - low > 1:
        middle = (low + high) // 2
        tried = trial(middle)
        if tried.verdict == "holds":
            low, holding = middle, tried
        else:
            high, not_holding = middle, tried
    return holding, not_holding


def _enough(trial: Callable[[int], Trial], least: int, study: _Study) -> Trial:
    """The first of two neighbouring populations of which the larger holds: doubling, then bisection."""
    low, high = least - 1, least
    while trial(high).verdict != "holds":
        if high == _LARGEST_POPULATION:
            raise _unreachable("population of up to 2^53 entries", study, trial(high))
        low, high = high, min(2 * high, _LARGEST_POPULATION)
    return trial(least_integer(lambda n: trial(n).verdict == "holds", low + 1, high))


def _unreachable(what: str, study: _Study, nearest: Trial) -> GuaranteeNotReachedError:
    reached = "" if nearest.delta is None else f" The best is {written(nearest.value)}: {nearest.why}."
    return GuaranteeNotReachedError(
        f"no {what} is certified to reach δ({literal(study.epsilon)}) ≤ {literal(study.delta)}.{reached} "
        "Ask for a larger delta or epsilon"
    )


def _why(curve: PrivacyCurve, reached: Enclosure, verdict: Verdict) -> str:
    if verdict == "holds":
        return f"δ ≤ {at_most(reached.upper)}"
    if verdict == "fails":
        return f"δ ≥ {at_least(reached.lower)}"
    if curve.kind == "bound":
        return f"the bound is {at_most(reached.upper)}, which refutes nothing"
    return f"δ is between {at_least(reached.lower)} and {at_most(reached.upper)}"


def _trade_off_row(study: _Study, n: int, m: int, *, has_target: bool) -> TradeOffRow:
    shared = study.trial(m, n, _folds(n, m))
    assert shared.delta is not None  # noqa: S101  (evaluated)
    assert shared.rmse is not None  # noqa: S101
    row = TradeOffRow(m, min(shared.sizes), shared.delta, shared.rmse, curve=shared.curve)
    if not has_target:
        return row
    found: Trial | None = shared
    if shared.verdict != "holds":
        found, _ = _last(lambda size: study.trial(m, n, (size,) * m), 1, n // m)
    if found is None or found.rmse is None:
        return row
    return TradeOffRow(m, row.size, row.delta, row.rmse, min(found.sizes), found.rmse, curve=shared.curve)


def _read_off(curve: PrivacyCurve, unknown: str, value: Enclosure, at: str) -> Design:
    """A guarantee that a curve has, as a result."""
    situation: Any = curve.situation
    n, sizes = situation.population.size, situation.sampling.sizes
    study = _Study.of(situation.queries[0], 0, 1, known=situation.adversary.total)
    delta = value if unknown == "δ" else None
    error = _root_mean_squared_error(situation.queries, sizes, n)
    best = Trial(value, "holds", f"{unknown} ≤ {at_most(value.upper)}", sizes, delta, error, curve)
    least = "It is the least: nothing below its lower end holds."
    beyond = least if curve.kind == "exact" else "Less is not excluded: the curve is not known exactly."
    asked = f"{_counted(len(sizes), 'query', 'queries')} of {study.probability}"
    return Design(unknown, f"{n} entries, {asked}, {at}, {study.knows}", best, None, beyond, (best,), 1)


def _uniform(query: object) -> None:
    if not isinstance(query, PropertyQuery) or not query.is_uniform:
        raise ArgumentError(
            f"query = {abridged(query)}; a sp.PropertyQuery with one p or one range for all entries is required"
        )


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


def _variance(query: PropertyQuery) -> Fraction:
    """p(1−p) at the worst p of the range."""
    worst = min(max(Fraction(1, 2), query.lower), query.upper)
    return worst * (1 - worst)


def _root_mean_squared_error(queries: Sequence[PropertyQuery], sizes: Sequence[int], n: int) -> Enclosure:
    """The largest error of a proportion in a part, each at its worst p (Example 2)."""
    asked = set(zip(queries, sizes, strict=True))
    return _root(max(_variance(query) * (Fraction(1, size) - Fraction(1, n)) for query, size in asked))


def _root(square: Fraction) -> Enclosure:
    """The square root, between neighbouring doubles: each end is compared exactly."""
    above = below = math.sqrt(square)
    while Fraction(above) ** 2 < square:
        above = math.nextafter(above, math.inf)
    while Fraction(below) ** 2 > square:
        below = math.nextafter(below, 0.0)
    return Enclosure(below, above)


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
