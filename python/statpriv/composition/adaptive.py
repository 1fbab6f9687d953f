"""Adaptive composition over a secret partition."""

from __future__ import annotations

from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError
from statpriv.model.adversaries import Adversary
from statpriv.model.partitions import RandomPartition
from statpriv.model.populations import Population
from statpriv.model.situation import Pair
from statpriv.model.strategies import AdaptiveSituation, AnyOf, Ask, Choice, Strategy, unrolled
from statpriv.numeric.arguments import as_instance
from statpriv.numeric.literals import abridged


def compose_adaptive(
    strategy: Strategy | Choice,
    population: Population,
    partition: RandomPartition,
    *,
    adversary: Adversary | None = None,
    pair: Pair = None,
    bound: str = "tightest",
) -> PrivacyCurve:
    """The privacy curve of exact counts that are chosen adaptively, each after the answers before it.

    Query k is answered on part k of a secret random partition, in the order of the parts.

    Parameters
    ----------
    strategy : AnyOf, Ask, or a function
        The analyst. `AnyOf([...])`: the worst analyst among all who choose from these queries. `Ask(...)`: a given tree
        of queries. A function maps the tuple of the answers so far to the next query, or to None to stop; it is called
        once for every sequence of answers, and there must be at most 100 000 of these.
    population : Population
        Number of entries, including the critical one; identically distributed, or in groups.
    partition : RandomPartition
        Part sizes; entries beyond their sum are not used.
    adversary : Adversary, optional
        What is known of the other entries; nothing by default.
    pair : (1, 0), (0, 1) or None
        The two values of the critical entry that are compared (one property only); None is the worst pair.
    bound : str, default "tightest"
        "tightest" (exact if an exact form exists, else the smallest certified bound), "exact", "free-signs" (the
        critical entry's values are chosen anew for every query), "revealed-composition" (the numbers of entries of each
        group in each part are revealed) or "partition-sum" (Theorems 5.3 and 5.4, at any size).

    Returns
    -------
    PrivacyCurve
        δ of all answers together against ε in nats. The width of its enclosures is limited to what some seconds of work
        reach, a relative width of one millionth in ordinary cases.

    Raises
    ------
    ArgumentError
        A value that is not allowed; the message names it.
    NotAvailableError
        The named bound does not apply to this situation.

    Notes
    -----
    Sources: *Parallel Composition for Statistical Privacy*, Theorems 5.3 and 5.4, for the bounds;
    docs/explanation/adaptive-composition.md for the exact recursion.

    Examples
    --------
    An analyst who may choose between two properties on each of four parts:

    >>> from fractions import Fraction
    >>> import statpriv as sp
    >>> smokes = sp.PropertyQuery("0.3", attribute="smoker")
    >>> drinks = sp.PropertyQuery("0.6", attribute="drinker")
    >>> parts = sp.RandomPartition([100] * 4)
    >>> curve = sp.compose_adaptive(sp.AnyOf([smokes, drinks]), sp.Population(400), parts)
    >>> curve.kind, round(curve.delta("0.05").upper, 4)
    ('exact', 0.0239)

    A given analyst, who asks again only after a small answer:

    >>> ask = lambda answers: smokes if answers == () or answers[0] <= 1 else drinks
    >>> given = sp.compose_adaptive(ask, sp.Population(8), sp.RandomPartition([3, 3]))
    >>> given.exact_delta(exp_epsilon=Fraction(11, 10))
    Fraction(9964499, 40000000)
    """
    as_instance(population, "population", Population, "a Population such as sp.Population(400) is required")
    random = "a RandomPartition such as sp.RandomPartition([100] * 4) is required"
    as_instance(partition, "partition", RandomPartition, random)
    known = Adversary() if adversary is None else adversary
    as_instance(known, "adversary", Adversary, "an Adversary such as sp.Adversary(known=0) is required")
    if isinstance(strategy, Ask | AnyOf):
        analyst: Strategy = strategy
    elif callable(strategy) and not isinstance(strategy, type):
        analyst = unrolled(strategy, partition.sizes)
    else:
        raise ArgumentError(
            f"strategy = {abridged(strategy)}; sp.AnyOf([...]), sp.Ask(...) or a function from the answers so far to "
            "the next query is required"
        )
    return PrivacyCurve(AdaptiveSituation(analyst, population, partition, known, pair), bound=bound)
