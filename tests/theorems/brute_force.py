"""Brute force: every database, every template, every answer, added up in exact rationals.

The definitions of statistical privacy taken literally, for databases of up to about six entries: any finite
set of values, a law for each entry, any query that is a Python function. Nothing here knows a binomial
coefficient, a convolution or a theorem, so it can judge the closed forms of the library and of the oracle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product

Value = Hashable
Database = tuple[Value, ...]
Law = Mapping[Hashable, Fraction]
Query = Callable[[Database], Hashable]
Mechanism = Callable[[Database], Law]
"""What is released about a database: a law on answers, over the mechanism's own randomness."""

Curve = Callable[[Fraction], Fraction]
"""The least δ, as a function of ``x = e^epsilon``."""

Template = tuple[int, ...]
"""The entries on which a query is answered, in order and without repetition: an injective template."""


def databases(laws: Sequence[Law]) -> Iterator[tuple[Database, Fraction]]:
    """Every database of independent entries, with its probability."""
    for entries in product(*(law.items() for law in laws)):
        probability = Fraction(1)
        for _, share in entries:
            probability *= share
        yield tuple(value for value, _ in entries), probability


def answer_law(laws: Sequence[Law], mechanism: Mechanism) -> Law:
    """The law of what is released."""
    law: defaultdict[Hashable, Fraction] = defaultdict(Fraction)
    for database, probability in databases(laws):
        for answer, share in mechanism(database).items():
            law[answer] += probability * share
    return law


def hockey_stick(p: Law, q: Law, x: Fraction) -> Fraction:
    """``Σ_a max(0, P(a) − x Q(a))``."""
    return sum((max(Fraction(0), share - x * q.get(answer, Fraction(0))) for answer, share in p.items()), Fraction(0))


def fixed(laws: Sequence[Law], values: Mapping[int, Value]) -> list[Law]:
    """The same entries, some of them certain: the critical one, or those that the adversary knows."""
    return [{values[i]: Fraction(1)} if i in values else law for i, law in enumerate(laws)]


def privacy_curve(
    laws: Sequence[Law],
    mechanism: Mechanism,
    *,
    critical: int = 0,
    known: Iterable[int] = (),
    pairs: Iterable[tuple[Value, Value]] | None = None,
) -> Curve:
    """The worst hockey stick over the pairs of values (all, unless given) and the values of known entries."""
    ordered = list(permutations(laws[critical], 2) if pairs is None else pairs)
    indices = list(known)
    compared: list[tuple[Law, Law]] = []
    for values in product(*(laws[i] for i in indices)):
        knowledge = dict(zip(indices, values, strict=True))
        released = {
            value: answer_law(fixed(laws, {**knowledge, critical: value}), mechanism)
            for value in {value for pair in ordered for value in pair}
        }
        compared += [(released[v], released[w]) for v, w in ordered]
    return lambda x: max(hockey_stick(p, q, x) for p, q in compared)


def templates(entries: int, sizes: Sequence[int]) -> Iterator[tuple[Template, ...]]:
    """Every way to give disjoint, ordered parts of these sizes, each as likely as the others."""
    for order in permutations(range(entries), sum(sizes)):
        parts, start = [], 0
        for size in sizes:
            parts.append(order[start : start + size])
            start += size
        yield tuple(parts)


def restrict(database: Database, template: Template) -> Database:
    """The entries that a template picks."""
    return tuple(database[i] for i in template)


def exactly(query: Query) -> Mechanism:
    """Release the exact answer."""
    return lambda database: {query(database): Fraction(1)}


def partitioned(queries: Sequence[Query], entries: int, sizes: Sequence[int]) -> Mechanism:
    """Answer each query on its own part of a secret uniform partition; a single query: on a secret sample."""
    assignments = list(templates(entries, sizes))
    share = Fraction(1, len(assignments))

    def mechanism(database: Database) -> Law:
        law: defaultdict[Hashable, Fraction] = defaultdict(Fraction)
        for assignment in assignments:
            answers = (query(restrict(database, part)) for query, part in zip(queries, assignment, strict=True))
            law[tuple(answers)] += share
        return law

    return mechanism


def sampling_privacy_curve(
    laws: Sequence[Law],
    query: Query,
    size: int,
    *,
    critical: int = 0,
    known: Iterable[int] = (),
) -> Curve:
    """Definition 3.3: the mean curve over the templates that hold the critical entry, each one published."""
    indices = tuple(known)

    def published(template: Template) -> Curve:
        mechanism = exactly(lambda database: query(restrict(database, template)))
        return privacy_curve(laws, mechanism, critical=critical, known=[i for i in indices if i in template])

    curves = [published(part) for (part,) in templates(len(laws), [size]) if critical in part]
    return lambda x: sum((curve(x) for curve in curves), Fraction(0)) / len(curves)


def partition_sum(
    laws: Sequence[Law],
    queries: Sequence[Query],
    sizes: Sequence[int],
    *,
    critical: int = 0,
    known: Iterable[int] = (),
) -> Curve:
    """Theorems 5.1 and 5.2: sampling privacy curves, weighted with the chance that part k holds the entry."""
    indices = tuple(known)
    assignments = list(templates(len(laws), sizes))
    weighted = [
        (
            Fraction(sum(critical in assignment[k] for assignment in assignments), len(assignments)),
            sampling_privacy_curve(laws, query, size, critical=critical, known=indices),
        )
        for k, (query, size) in enumerate(zip(queries, sizes, strict=True))
    ]
    return lambda x: sum((weight * curve(x) for weight, curve in weighted), Fraction(0))
