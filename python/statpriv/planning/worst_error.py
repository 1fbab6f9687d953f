"""How far the answer of a secret sample, scaled up, is from that of the table, in the worst possible table.

Rows have values `x_1, …, x_n`, `x̄` is their mean and `Q = Σ (x_i − x̄)²`. What is scaled up is without bias, and its
mean squared error as an estimate of `Σ x_i` is

* without replacement, `n² (1/s − 1/n) Q/(n−1)`, the variance of a mean of a finite population (Cochran, *Sampling
  Techniques*, Theorem 2.2);
* with replacement, `n² Q/(n s)`: s independent draws;
* at a rate γ, with the answer divided by γ, `Σ x_i² (1−γ)/γ`: each row is in the sample by itself.

*Parallel Composition for Statistical Privacy*, Example 2, has the mean of the first over random tables with one p,
`p(1−p)(1/s − 1/n)` for a proportion: `E[Q] = (n−1) p(1−p)`. Each is a convex function of every `x_i`, so that the worst
table has only least and greatest values. Where all rows have the same, `Q = k(n−k)/n · (greatest − least)²` with k
greatest ones is largest for `k = ⌊n/2⌋`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import TypeAlias

from statpriv import budget
from statpriv.errors import NotAvailableError
from statpriv.model.adversaries import Adversary
from statpriv.model.populations import Population
from statpriv.model.queries.processed import steps_of
from statpriv.model.samplings import Sampling, Templates
from statpriv.model.situation import Query, Situation, capabilities
from statpriv.numeric.enclosure import Enclosure
from statpriv.planning.sampling_error import root

Kinds: TypeAlias = "list[tuple[int, Fraction, Fraction]]"
"""Numbers of rows with their least and their greatest value."""


def root_mean_squared_error(query: Query, population: Population, sampling: Sampling | None = None) -> Enclosure:
    """The root mean squared error of an answer that is scaled up from a sample to the table, in the worst table.

    Counts and sums are multiplied with n/s, or divided by the rate of a Poisson sample; a mean stays as it is. Of a
    histogram or a table it is the error of the worst cell, and of several samples that of the worst answer. The worst
    table is one with values that the query allows, whatever their probabilities.

    Parameters
    ----------
    query : PropertyQuery, SumQuery, MeanQuery, HistogramQuery or ContingencyTable
        What is asked, before its answer is processed.
    population : Population
        The rows of the table.
    sampling : WithoutReplacement, WithReplacement, PoissonSampling, Stratified, OverlappingSamples or TemplateLaw
        How the sample is drawn; None asks every row, without an error.

    Returns
    -------
    Enclosure
        The error, in units of the answer for the whole table.

    Raises
    ------
    NotAvailableError
        Another query, a processed answer, or tables that are too many to be tried.

    Examples
    --------
    A count of 1000 rows from 250 of them is wrong by some 27 rows where half of the rows have the property:

    >>> import statpriv as sp
    >>> error = sp.root_mean_squared_error(sp.PropertyQuery("0.3"), sp.Population(1000), sp.WithoutReplacement(250))
    >>> round(error.upper, 3)
    27.4
    """
    situation = Situation(query, population, sampling, Adversary())
    asked = capabilities(query)
    if steps_of(query) or not (asked.is_total or asked.counts_values or asked.has_minimum):
        raise NotAvailableError(
            f"{asked.kind}{' with steps' if steps_of(query) else ''} has no error of this kind: counts, sums, "
            "means, histograms and tables have, before they are processed"
        )
    if sampling is None:
        return Enclosure(0.0, 0.0)
    kinds = _kinds(situation)
    square = _squared_error(kinds, population, sampling, mean=asked.is_mean)
    return root(square / population.size**2 if asked.is_mean else square)


def _kinds(situation: Situation) -> Kinds:
    """Rows by group where these have different values; a cell of a histogram is a count."""
    asked, population = situation.asked, situation.population
    found: Kinds = []
    for name, size in population.groups or ((None, population.size),):
        group = None if asked.is_uniform or asked.stated_entries is not None else name
        values = [Fraction(0), Fraction(1)] if not asked.is_total else [asked.added(v) for v in asked.values_in(group)]
        found.append((size, min(values), max(values)))
    return found


def _squared_error(kinds: Kinds, population: Population, sampling: Sampling, *, mean: bool) -> Fraction:
    """The largest mean squared error of an estimate of the total."""
    n = population.size
    if (templates := sampling.templates_of(population)) is not None:
        return _of_templates(kinds, templates, n)
    if (strata := sampling.stratum_sizes) is not None:
        drawn = dict(strata)
        return _of_strata(kinds, [drawn.get(name, 0) for name, _ in population.groups or ()])
    if (rate := sampling.independent_rate) is not None:
        if mean:
            raise NotAvailableError("the mean of a sample at a rate may be that of no row, and has no error")
        largest = sum((size * max(low**2, high**2) for size, low, high in kinds), Fraction(0))
        return largest * (1 - rate) / rate
    if (draws := sampling.draws_again()) is not None:
        return _largest_spread(kinds) * n / draws
    sizes = sampling.sizes_in(population)
    if not sizes or not sampling.sizes_are_fixed or (sampling.repeats_entries and sampling.is_one_sample):
        raise NotAvailableError(f"{sampling!r} states nothing from which this error follows")
    return _without_replacement(_largest_spread(kinds), n, sizes[0])


def _without_replacement(spread: Fraction, n: int, size: int) -> Fraction:
    return Fraction(0) if size == n else n**2 * (Fraction(1, size) - Fraction(1, n)) * spread / (n - 1)


def _largest_spread(kinds: Kinds) -> Fraction:
    """The largest `Σ (x − x̄)²`."""
    n = sum(size for size, _, _ in kinds)
    if len({(low, high) for _, low, high in kinds}) == 1:
        _, low, high = kinds[0]
        return Fraction((n // 2) * (n - n // 2), n) * (high - low) ** 2

    def spread(greatest: Sequence[int]) -> Fraction:
        rows = list(zip(kinds, greatest, strict=True))
        total = sum((k * high + (size - k) * low for (size, low, high), k in rows), Fraction(0))
        squares = sum((k * high**2 + (size - k) * low**2 for (size, low, high), k in rows), Fraction(0))
        return squares - total**2 / n

    return _largest(spread, [range(size + 1) for size, _, _ in kinds])


def _of_strata(kinds: Kinds, drawn: list[int]) -> Fraction:
    """The answer is that of all strata together, and scaled up as one: so it may have a bias.

    In group h the scaled share is `n s_h/(s n_h)` times its total. Where it is one in every group the groups are
    independent without bias, and each has its worst table.
    """
    n, size = sum(size for size, _, _ in kinds), sum(drawn)
    scale = Fraction(n, size)
    alone = [
        scale**2 * (_without_replacement(Fraction(1), rows, s) * Fraction(s, rows) ** 2 if s else Fraction(0))
        for (rows, _, _), s in zip(kinds, drawn, strict=True)
    ]
    biases = [scale * Fraction(s, rows) - 1 for (rows, _, _), s in zip(kinds, drawn, strict=True)]
    if not any(biases):
        return sum((a * _largest_spread([kind]) for a, kind in zip(alone, kinds, strict=True)), Fraction(0))

    def error(greatest: Sequence[int]) -> Fraction:
        variance, bias = Fraction(0), Fraction(0)
        for (rows, low, high), a, b, k in zip(kinds, alone, biases, greatest, strict=True):
            variance += a * Fraction(k * (rows - k), rows) * (high - low) ** 2
            bias += b * (k * high + (rows - k) * low)
        return variance + bias**2

    return _largest(error, [range(rows + 1) for rows, _, _ in kinds])


def _of_templates(kinds: Kinds, templates: Templates, n: int) -> Fraction:
    """The answer is scaled by n over the mean number of rows that are drawn."""
    expected = sum((len(template) * chance for template, chance in templates), Fraction(0))
    if not expected:
        raise NotAvailableError("the sample is always empty, and its answer cannot be scaled up")
    ends = [(low, high) for size, low, high in kinds for _ in range(size)]
    factors = [(chance, [n * template.count(row) / expected - 1 for row in range(n)]) for template, chance in templates]

    def error(greatest: Sequence[int]) -> Fraction:
        values = [end[k] for end, k in zip(ends, greatest, strict=True)]
        return sum(
            (c * sum((f * x for f, x in zip(of, values, strict=True)), Fraction(0)) ** 2 for c, of in factors),
            Fraction(0),
        )

    return _largest(error, [range(2)] * n, times=n * len(templates))


def _largest(error: Callable[[Sequence[int]], Fraction], ranges: list[range], times: int = 1) -> Fraction:
    """The largest over all numbers of greatest values, or over all vertices."""
    if prod(map(len, ranges)) * times > budget.MAX_LABELS // 2**7:
        raise NotAvailableError("the worst table would be searched among too many: take fewer groups or rows")
    choices: Iterator[tuple[int, ...]] = product(*ranges)
    return max(map(error, choices))
