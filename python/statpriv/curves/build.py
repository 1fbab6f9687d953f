"""From a situation to its privacy curve: one query, or several over a secret partition."""

from __future__ import annotations

from collections.abc import Iterable

from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError
from statpriv.model.adversaries import Adversary
from statpriv.model.partitions import Partition
from statpriv.model.populations import Population
from statpriv.model.same_rows import SameRows, SameRowsSituation
from statpriv.model.samplings import Sampling
from statpriv.model.situation import Pair, PartitionedSituation, Query, Situation
from statpriv.numeric.calls import answered
from statpriv.numeric.literals import abridged


@answered
def privacy_curve(
    query: Query,
    population: Population,
    *,
    adversary: Adversary | None = None,
    sampling: Sampling | None = None,
    pair: Pair = None,
    bound: str = "tightest",
) -> PrivacyCurve:
    """The privacy curve of one exact answer.

    Parameters
    ----------
    query : a query
        `PropertyQuery`, `HistogramQuery`, `SumQuery`, `MeanQuery`, `OrderStatisticQuery`, `LinearQuery`, one of these
        in `PostProcessed`, or an object with a method `answer_laws`.
    population : Population
        Number of entries, including the critical one.
    adversary : Adversary, optional
        What is known of the other entries; nothing by default.
    sampling : a sampling, optional
        The answer is computed on a secret sample, drawn by `WithoutReplacement`, `WithReplacement`, `PoissonSampling`,
        `Stratified`, `OverlappingSamples` or a `TemplateLaw`; by default on all entries.
    pair : tuple of two values, or None
        The two values of the critical entry that are compared, in this order: 1 and 0 of a property, cells of a
        histogram counted from 0, values of a sum. None is the worst pair.
    bound : str, default "tightest"
        "tightest" (exact if an exact form exists, else the smallest certified bound), "exact", "spc" (Definition 3.3,
        given that the critical entry is in the sample), "partition-sum", "threshold" (cheaper, and slightly larger if
        many entries are known), "amplification", "total-count", "total-histogram", "own-group", "unprocessed" or
        "noise". :meth:`PrivacyCurve.compare` shows which apply.

    Returns
    -------
    PrivacyCurve
        δ against ε in nats; its `kind` says whether it is exact or a bound.

    Raises
    ------
    ArgumentError
        A value that is not allowed; the message names it.
    NotAvailableError
        The named bound does not apply to this situation; the message names those that do, or the nearest combinations.

    Notes
    -----
    Sources: *Parallel Composition for Statistical Privacy*, Definitions 2.2, 2.3 and 3.3, Example 1.

    Examples
    --------
    >>> from decimal import Decimal
    >>> import statpriv as sp
    >>> curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024))
    >>> Decimal("0.022573776189906936941352858160") in curve.delta("0.005")
    True
    >>> curve.epsilon("0.01").upper < 0.05
    True
    >>> sample = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024), sampling=sp.WithReplacement(256))
    >>> sample.delta("0.005").upper < 0.012
    True
    """
    return PrivacyCurve(Situation(query, population, sampling, _adversary(adversary), pair), bound=bound)


@answered
def compose(
    queries: Iterable[Query],
    population: Population,
    partition: Partition | SameRows,
    *,
    adversary: Adversary | None = None,
    pair: Pair = None,
    bound: str = "tightest",
) -> PrivacyCurve:
    """The privacy curve of several answers: query k on part k of a secret random partition, or all on the same rows.

    Parameters
    ----------
    queries : iterable of queries
        One query per part, of any type; with `SameRows` any number of them. Two queries ask about the same values of
        the entries only if they have the same `attribute`; all others are unrelated, and the worst combination of
        values counts.
    population : Population
        Number of entries.
    partition : RandomPartition, MultinomialPartition, PartitionLaw or SameRows
        Part sizes, also by group; the probability of each part; or any law of disjoint parts. Entries outside the parts
        are not used. With :class:`SameRows` there is no partition: all entries answer every query, each about one
        attribute, which may be chosen by the answers before it.
    adversary : Adversary, optional
        What is known of the other entries; nothing by default.
    pair : tuple of two values, sequence of such pairs, or None
        The two values of the critical entry that are compared: one pair for one attribute; for several attributes, a
        pair for each part, as :meth:`PrivacyCurve.worst_case_pairs` returns them. None is the worst pair.
    bound : str, default "tightest"
        "tightest" (exact if an exact form exists, else an enclosure or the smallest certified bound), "exact",
        "convex-order" (a bound over all sign patterns of many unrelated attributes, or over all p of a range, by one
        dominating law or by bounds on the transforms), "revealed" and "worst-entry" (known entries in any placement: by
        revealing their parts, or entry by entry), "partition-sum" (Theorems 5.1 and 5.2), "threshold" (the same,
        cheaper and slightly larger if many entries are known), "total-count", "own-group" and "hull" (entries that
        differ: by the critical entry's group alone, or by the range that holds all probabilities), and
        "representatives" (entries that each have a law of their own: one of every part is revealed without its place).

    Returns
    -------
    PrivacyCurve
        δ of all answers together against ε in nats. Its `kind` is "exact", "bound" or "enclosed". "enclosed" means that
        the combinations of values are too many to enumerate: one of them attains the lower end, and none exceeds the
        upper end. :meth:`PrivacyCurve.worst_case_pairs` names the worst.

    Raises
    ------
    ArgumentError
        A value that is not allowed; the message names it.
    NotAvailableError
        The named bound does not apply to this situation.

    Notes
    -----
    Sources: *Parallel Composition for Statistical Privacy*, Definition 3.4, Theorems 5.1 and 5.2;
    docs/explanation/composition.md for the exact forms, with the proofs.

    Examples
    --------
    >>> import statpriv as sp
    >>> smokers = sp.PropertyQuery(0.5, attribute="smoker")
    >>> parts = sp.RandomPartition([1024] * 32)
    >>> sp.compose([smokers] * 32, sp.Population(32768), parts).delta("0.005").upper < 0.0024
    True
    >>> sp.compose([smokers] * 32, sp.Population(32768), parts, bound="partition-sum").delta("0.005").lower > 0.0225
    True

    Two properties with no known relation; the worst pair of values is a mixed one.

    >>> rare = sp.PropertyQuery("0.3")
    >>> both = sp.compose([rare, rare], sp.Population(7), sp.RandomPartition([6, 1]))
    >>> both.kind, both.worst_case_pairs("0.1"), round(both.delta("0.1").upper, 7)
    ('exact', ((0, 1), (1, 0)), 0.3105713)
    >>> plain = sp.compose([rare, rare], sp.Population(7), sp.RandomPartition([6, 1]), pair=[(1, 0), (1, 0)])
    >>> round(plain.delta("0.1").upper, 7)
    0.2972438
    """
    if isinstance(queries, Query) or not isinstance(queries, Iterable):
        raise ArgumentError(f"queries = {abridged(queries)}; a list of queries is required, one for each part")
    asked = tuple(queries)
    first_place: dict[int, int] = {}
    for index, query in enumerate(asked):
        first_place.setdefault(id(query), index)
    for index in first_place.values():
        query = asked[index]
        if isinstance(query, type) or not isinstance(query, Query):
            raise ArgumentError(
                f"queries[{index}] = {abridged(query)}; a query such as sp.PropertyQuery(0.5) is required"
            )
    _expect(population, Population, "population", "sp.Population(1024)")
    if isinstance(partition, SameRows):
        return PrivacyCurve(SameRowsSituation(asked, population, partition, _adversary(adversary), pair), bound=bound)
    if not isinstance(partition, Partition):
        raise ArgumentError(
            f"partition = {abridged(partition)}; a partition such as sp.RandomPartition([512, 512]) is required, or "
            'sp.SameRows(protects="attribute")'
        )
    return PrivacyCurve(PartitionedSituation(asked, population, partition, _adversary(adversary), pair), bound=bound)


def _adversary(adversary: Adversary | None) -> Adversary:
    if adversary is None:
        return Adversary()
    _expect(adversary, Adversary, "adversary", "sp.Adversary(known=10)")
    return adversary


def _expect(value: object, kind: type, name: str, example: str) -> None:
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise ArgumentError(f"{name} = {abridged(value)}; {article} {kind.__name__} such as {example} is required")
