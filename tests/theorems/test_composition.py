"""Compositions over a secret partition against the definitions: every database and every partition, in exact rationals.

Entries are vectors, one value for each attribute. Two parts look at the same coordinate only if their queries name one
attribute; nothing relates the coordinates, so the worst pair of vectors is looked for among all of them.
"""

import json
from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv import reference
from statpriv.model.situation import PartitionedSituation

from ..cases import cases
from .literal import Literal
from .test_every_rule import MULTIPLIERS, NOISES, PROBABILITIES, STEPS, by_group, judged, laws, pmfs

settings.register_profile("compositions", deadline=None, max_examples=cases(40, campaign=1000))

NAMES = ("a", "b", "c")
POINT = Fraction(1, 7)
with localcontext() as context:
    context.prec = 60
    EXP_POINT = Fraction((Decimal(1) / Decimal(7)).exp())


class Composed:
    """A composition in the words of the definitions."""

    def __init__(self, queries, population, partition, adversary=None, pair=None):
        self.queries, self.population, self.partition = queries, population, partition
        self.adversary, self.pair = adversary or sp.Adversary(), pair
        self.parts = [Literal(query, population) for query in queries]
        # One coordinate for each attribute: that of the first part which asks for it.
        named = [part.plain.attribute or k for k, part in enumerate(self.parts)]
        firsts = [named.index(name) for name in dict.fromkeys(named)]
        self.coordinates = [firsts.index(named.index(name)) for name in named]
        self.attributes = [self.parts[k] for k in firsts]

    @property
    def groups(self):
        return self.parts[0].groups

    def entry(self, i):
        """The law of an entry: its coordinates are independent. Two vectors may differ in all of them."""
        values = product(*(attribute.laws[i].items() for attribute in self.attributes))
        return {tuple(v for v, _ in vector): prod((m for _, m in vector), start=Fraction(1)) for vector in values}

    @property
    def noises(self):
        """The noise of each part, as entries that are nobody's."""
        return [part.noises for part in self.parts]

    def database(self):
        entries = [self.entry(i) for i in range(self.population.size)]
        return reference.Database(entries + [law for noises in self.noises for law in noises])

    def families(self):
        n, partition = self.population.size, self.partition
        if isinstance(partition, sp.PartitionLaw):
            drawn = dict(partition.probabilities)
        elif isinstance(partition, sp.MultinomialPartition):
            drawn = reference.multinomial_assignment(n, partition.weights)
        elif partition.strata is not None:
            drawn = reference.stratified_partitions(
                self.groups, [dict(part) for part in partition.strata], ordered=False
            )
        else:
            drawn = reference.partitions(n, partition.sizes, ordered=False)
        first = [n + sum(map(len, self.noises[:k])) for k in range(len(self.parts))]
        added = [tuple(range(start, start + len(own))) for start, own in zip(first, self.noises, strict=True)]
        return {
            tuple(part + own for part, own in zip(family, added, strict=True)): mass for family, mass in drawn.items()
        }

    def asked(self):
        published = isinstance(self.partition, sp.MultinomialPartition) and self.partition.sizes_published

        def of(part, coordinate):
            kept = -len(part.noises) or None

            def answer(rows):
                released = part._released((*(row[coordinate] for row in rows[:kept]), *rows[len(rows[:kept]) :]))
                return (len(rows), released) if published else released

            return answer

        return [of(*each) for each in zip(self.parts, self.coordinates, strict=True)]

    def _worst(self, definition):
        curves = []
        alike = {group: i for i, group in enumerate(self.groups)}.values()
        for critical in range(self.population.size) if isinstance(self.partition, sp.PartitionLaw) else alike:
            pair = self.pair and tuple((value,) for value in self.pair)
            law = self.entry(critical)
            if pair is not None and not set(pair) <= set(law):
                continue
            curves += [
                definition(self.database(), self.asked(), self.families(), critical=critical, pair=pair, known=known)
                for known in self._known(critical)
            ]
        return lambda x: max((curve(x) for curve in curves), default=Fraction(0))

    def _known(self, critical):
        """Which entries may be known besides the critical one, never the noise: of a group any are like any others."""
        members = [
            [i for i, group in enumerate(self.groups) if group == name and i != critical]
            for name in dict.fromkeys(self.groups)
        ]
        stated = self.adversary.known
        for numbers in product(*(range(len(group) + 1) for group in members)):
            by_group = dict(zip(dict.fromkeys(self.groups), numbers, strict=True))
            if (
                sum(numbers) == stated
                if isinstance(stated, int)
                else by_group == {**dict.fromkeys(by_group, 0), **dict(stated)}
            ):
                yield [i for group, number in zip(members, numbers, strict=True) for i in group[:number]]

    def truth(self):
        return self._worst(reference.privacy_curve)

    def partition_sum(self):
        return self._worst(reference.partition_sum)

    def situation(self):
        return PartitionedSituation(tuple(self.queries), self.population, self.partition, self.adversary, self.pair)

    def curve(self, **options):
        return sp.compose(
            self.queries, self.population, self.partition, adversary=self.adversary, pair=self.pair, **options
        )


PLAIN = ("property", "histogram", "sum", "mean", "order statistic")


@st.composite
def attribute_queries(draw, kinds, groups, name, parts):
    """Queries of the same attribute: one kind of values, and one law."""
    kind = draw(st.sampled_from(kinds))
    if kind == "property":
        p = draw(by_group(groups, PROBABILITIES) if groups else PROBABILITIES)
        return [sp.PropertyQuery(p, attribute=name) for _ in range(parts)]
    if kind == "histogram":
        cells = draw(laws(3))
        return [sp.HistogramQuery(cells, attribute=name) for _ in range(parts)]
    pmf = draw(by_group(groups, pmfs()) if groups else pmfs())
    if kind == "order statistic":
        ranks = st.sampled_from(["minimum", "median", "maximum", 1])
        return [sp.OrderStatisticQuery(pmf, draw(ranks), attribute=name) for _ in range(parts)]
    asked = {"sum": sp.SumQuery, "mean": sp.MeanQuery}[kind]
    return [asked(pmf, attribute=name) for _ in range(parts)]


@st.composite
def steps_of(draw, query):
    """Now and then the answer is processed before it is released."""
    if isinstance(query, sp.HistogramQuery) or draw(st.integers(0, 2)):
        return query
    steps = draw(st.lists(STEPS, max_size=2))
    for added in draw(st.lists(NOISES, max_size=1)):
        steps.insert(draw(st.integers(0, len(steps))), added)
    return sp.PostProcessed(query, *steps) if steps else query


@st.composite
def several(draw, parts, kinds=PLAIN, groups=(), *, processed=True):
    """Queries of some attributes, in any order."""
    queries = []
    while len(queries) < parts:
        together = draw(st.integers(1, parts - len(queries)))
        name = NAMES[len(queries)] if together > 1 or draw(st.booleans()) else None
        queries += draw(attribute_queries(kinds, groups, name, together))
    if processed:
        queries = [draw(steps_of(query)) for query in queries]
    return draw(st.permutations(queries))


@st.composite
def chosen_pairs(draw, queries):
    """The worst pair, or, of one attribute, two values that some entry has."""
    plain = [query.query if isinstance(query, sp.PostProcessed) else query for query in queries]
    if len({query.attribute for query in plain}) > 1 or (len(plain) > 1 and plain[0].attribute is None):
        return None
    literal = Literal(plain[0], sp.Population(1))
    stated = getattr(plain[0], "pmf", None)
    if isinstance(stated, tuple) and isinstance(stated[0][0], str):
        values = [value for value, _ in draw(st.sampled_from(stated))[1]]
    elif isinstance(plain[0], sp.PropertyQuery):
        values = [0, 1]
    else:
        values = list(literal.laws[0])
    return draw(st.one_of(st.none(), st.permutations(values).map(lambda order: tuple(order[:2]))))


def sizes_within(n, parts):
    return st.lists(st.integers(1, n), min_size=parts, max_size=parts).filter(lambda sizes: sum(sizes) <= n)


def cheap(composed):
    """Few enough vectors to go through all databases."""
    vectors = prod(len(attribute.laws[0]) for attribute in composed.attributes)
    others = vectors ** (composed.population.size - 1) * prod(len(law) for own in composed.noises for law in own)
    return vectors * others * len(composed.families()) <= 60_000


def agree(composed):
    """Exact rules are exact, bounds are bounds, and doubles and digits hold the truth."""
    assume(cheap(composed))
    truth = composed.truth()
    kinds = judged(composed.situation(), truth)
    # A few steps after another have no closed law.
    assert "exact" in kinds or max(len(part.steps) for part in composed.parts) > 1, (
        "this composition has an exact curve"
    )
    if "exact" in kinds:
        digits = composed.curve(bound="exact").delta(POINT, digits=25)
        value = truth(EXP_POINT)
        # Sixty digits of e^ε.
        assert digits.lower - Fraction(1, 10**55) <= value <= digits.upper + Fraction(1, 10**55)
        assert digits.upper - digits.lower <= Fraction(1, 10**24)


@settings(settings.get_profile("compositions"))
@given(st.data())
def test_parts_of_a_secret_partition(data):
    parts = data.draw(st.integers(1, 3))
    n = data.draw(st.integers(parts, 4))
    queries = data.draw(several(parts))
    partition = sp.RandomPartition(data.draw(sizes_within(n, parts)))
    agree(Composed(queries, sp.Population(n), partition, pair=data.draw(chosen_pairs(queries))))


@settings(settings.get_profile("compositions"))
@given(st.data())
def test_parts_with_given_numbers_of_each_group(data):
    parts = data.draw(st.integers(1, 3))
    groups = {"f": data.draw(st.integers(1, 2)), "m": data.draw(st.integers(1, 2))}
    share = st.fixed_dictionaries({name: st.integers(0, size) for name, size in groups.items()})
    sizes = data.draw(st.lists(share.filter(lambda part: sum(part.values())), min_size=parts, max_size=parts))
    assume(all(sum(part[name] for part in sizes) <= size for name, size in groups.items()))
    queries = data.draw(several(parts, ("property", "sum", "mean"), tuple(groups)))
    pair = data.draw(chosen_pairs(queries))
    agree(Composed(queries, sp.Population(groups=groups), sp.RandomPartition(sizes), pair=pair))


@settings(settings.get_profile("compositions"))
@given(st.data())
def test_parts_that_entries_are_assigned_to_independently(data):
    parts = data.draw(st.integers(1, 3))
    shares = data.draw(st.lists(st.integers(1, 3), min_size=parts, max_size=parts))
    rest = data.draw(st.integers(0, 2))
    partition = sp.MultinomialPartition(
        [Fraction(share, sum(shares) + rest) for share in shares], sizes_published=data.draw(st.booleans())
    )
    queries = data.draw(several(parts, ("property",), processed=False))
    n = data.draw(st.integers(1, 4))
    agree(Composed(queries, sp.Population(n), partition, pair=data.draw(chosen_pairs(queries))))


@st.composite
def partition_laws(draw, n, parts, least):
    """Up to three partitions: of sizes that are certain, or not."""
    sizes = draw(st.lists(st.integers(least, 2), min_size=parts, max_size=parts))
    certain = draw(st.booleans())
    drawn = {}
    for _ in range(draw(st.integers(1, 3))):
        own = sizes if certain else draw(st.lists(st.integers(least, 2), min_size=parts, max_size=parts))
        assume(sum(own) <= n)
        order = draw(st.permutations(range(n)))
        family = tuple(tuple(order[sum(own[:k]) : sum(own[: k + 1])]) for k in range(parts))
        drawn[family] = draw(st.integers(1, 4))
    return sp.PartitionLaw({family: Fraction(share, sum(drawn.values())) for family, share in drawn.items()})


@settings(settings.get_profile("compositions"), max_examples=cases(15, campaign=300))
@given(st.data())
def test_any_law_of_disjoint_parts(data):
    """Definition 3.4: its sum for any law, and δ itself where the sizes of the parts are certain."""
    parts = data.draw(st.integers(1, 3))
    n = data.draw(st.integers(parts, 4))
    least = data.draw(st.integers(0, 1))
    queries = data.draw(several(parts, PLAIN if least else ("property", "histogram", "sum"), processed=False))
    law = data.draw(partition_laws(n, parts, least))
    composed = Composed(queries, sp.Population(n), law, pair=data.draw(chosen_pairs(queries)))
    assume(cheap(composed))
    kinds = judged(composed.situation(), composed.truth())
    assert ("exact" in kinds) == (law.sizes is not None)
    claimed, defined = composed.curve(bound="partition-sum"), composed.partition_sum()
    for x in MULTIPLIERS:
        assert claimed.exact_delta(exp_epsilon=x) == defined(x)


def test_neighbours_who_are_drawn_together_are_no_worse_off_than_others():
    """Whoever else is in the part: only the chance to be in it matters."""
    apart = sp.PartitionLaw({((0, 1), (2, 3)): "1/2", ((2, 3), (0, 1)): "1/2"})
    smokes, drinks = sp.PropertyQuery("0.3"), sp.PropertyQuery("0.6")
    found = [
        sp.compose([smokes, drinks], sp.Population(4), law).exact_delta(exp_epsilon="1.1")
        for law in (apart, sp.RandomPartition([2, 2]))
    ]
    assert found[0] == found[1]


@settings(settings.get_profile("compositions"))
@given(st.data())
def test_known_entries_of_a_partition(data):
    """What is known is only bounded, unless all entries are counted for one property."""
    parts = data.draw(st.integers(1, 3))
    n = data.draw(st.integers(max(parts, 2), 4))
    kinds = data.draw(st.sampled_from([("property",), PLAIN]))
    queries = data.draw(several(parts, kinds, processed=kinds == PLAIN))
    partition = sp.RandomPartition(data.draw(sizes_within(n, parts)))
    adversary = sp.Adversary(known=data.draw(st.integers(1, n - 1)))
    composed = Composed(queries, sp.Population(n), partition, adversary, data.draw(chosen_pairs(queries)))
    assume(cheap(composed))
    assert judged(composed.situation(), composed.truth()), "some bound applies"


@settings(settings.get_profile("compositions"), max_examples=cases(10, campaign=500))
@given(st.data())
def test_known_entries_of_a_partition_by_group(data):
    """Their number in each group, or a number of any of them."""
    parts = data.draw(st.integers(1, 2))
    groups = {"f": data.draw(st.integers(1, 3)), "m": data.draw(st.integers(1, 2))}
    share = st.fixed_dictionaries({name: st.integers(0, size) for name, size in groups.items()})
    sizes = data.draw(st.lists(share.filter(lambda part: sum(part.values())), min_size=parts, max_size=parts))
    assume(all(sum(part[name] for part in sizes) <= size for name, size in groups.items()))
    queries = data.draw(several(parts, ("property", "sum", "mean"), tuple(groups)))
    by_number = st.integers(1, sum(groups.values()) - 1)
    by_name = st.fixed_dictionaries({"f": st.integers(0, groups["f"]), "m": st.integers(0, groups["m"] - 1)})
    adversary = sp.Adversary(known=data.draw(by_number | by_name))
    pair = data.draw(chosen_pairs(queries))
    composed = Composed(queries, sp.Population(groups=groups), sp.RandomPartition(sizes), adversary, pair)
    assume(cheap(composed))
    assert judged(composed.situation(), composed.truth()), "some bound applies"


@settings(settings.get_profile("compositions"), max_examples=cases(8, campaign=500))
@given(st.data())
def test_the_partition_sum_with_known_entries_is_that_of_theorem_5_2(data):
    """Of sums, which known entries only shift, it is no more than the theorem says, but for rounding."""
    parts = data.draw(st.integers(1, 2))
    n = data.draw(st.integers(max(parts, 2), 5))
    queries = data.draw(several(parts, ("sum", "mean"), processed=False))
    adversary = sp.Adversary(known=data.draw(st.integers(1, n - 1)))
    composed = Composed(queries, sp.Population(n), sp.RandomPartition(data.draw(sizes_within(n, parts))), adversary)
    assume(cheap(composed))
    claimed, defined = composed.curve(bound="partition-sum"), composed.partition_sum()
    for x in MULTIPLIERS:
        assert defined(x) <= claimed.exact_delta(exp_epsilon=x) <= defined(x) + Fraction(1, 10**12)


@settings(settings.get_profile("compositions"))
@given(st.data())
def test_the_partition_sum_is_that_of_theorem_5_1(data):
    parts = data.draw(st.integers(1, 3))
    n = data.draw(st.integers(parts, 4))
    queries = data.draw(several(parts, processed=False))
    composed = Composed(queries, sp.Population(n), sp.RandomPartition(data.draw(sizes_within(n, parts))))
    assume(cheap(composed))
    claimed, defined = composed.curve(bound="partition-sum"), composed.partition_sum()
    for x in MULTIPLIERS:
        assert claimed.exact_delta(exp_epsilon=x) == defined(x)


@settings(settings.get_profile("compositions"))
@given(st.data())
def test_the_worst_pattern_attains_the_curve(data):
    """The pair of vectors that `worst_case_pairs` names has the δ that the curve claims."""
    parts = data.draw(st.integers(2, 3))
    n = data.draw(st.integers(parts, 4))
    queries = data.draw(several(parts, ("property", "histogram", "sum"), processed=False))
    composed = Composed(queries, sp.Population(n), sp.RandomPartition(data.draw(sizes_within(n, parts))))
    assume(cheap(composed))
    pattern = composed.curve().worst_case_pairs(POINT)
    firsts = [composed.coordinates.index(k) for k in range(len(composed.attributes))]
    assert all(pattern[k] == pattern[firsts[coordinate]] for k, coordinate in enumerate(composed.coordinates))
    pair = tuple(tuple(pattern[k][side] for k in firsts) for side in (0, 1))
    named = reference.privacy_curve(composed.database(), composed.asked(), composed.families(), critical=0, pair=pair)
    assert named(EXP_POINT) == composed.truth()(EXP_POINT)


@settings(settings.get_profile("compositions"), max_examples=cases(15, campaign=300))
@given(st.data())
def test_a_pair_for_each_part_is_compared(data):
    """Any two vectors that differ in all coordinates, in the order that is asked for."""
    parts = data.draw(st.integers(2, 3))
    n = data.draw(st.integers(parts, 4))
    queries = data.draw(several(parts, ("property", "histogram", "sum"), processed=False))
    plain = Composed(queries, sp.Population(n), sp.RandomPartition(data.draw(sizes_within(n, parts))))
    assume(cheap(plain))
    chosen = [
        data.draw(st.permutations(list(attribute.laws[0])).map(lambda order: tuple(order[:2])))
        for attribute in plain.attributes
    ]
    assume(all(len(pair) == 2 for pair in chosen))
    pattern = tuple(chosen[coordinate] for coordinate in plain.coordinates)
    curve = sp.compose(queries, plain.population, plain.partition, pair=pattern)
    pair = tuple(zip(*chosen, strict=True))
    named, turned = (
        reference.privacy_curve(plain.database(), plain.asked(), plain.families(), critical=0, pair=order)
        for order in (pair, pair[::-1])
    )
    assert curve.kind == "exact"
    assert curve.worst_case_pairs(POINT) == pattern
    for x in MULTIPLIERS:
        assert curve.exact_delta(exp_epsilon=x) == named(x)
        assert curve.reversed().exact_delta(exp_epsilon=x) == turned(x)


def vectors() -> list[Mapping]:
    return json.loads((Path(__file__).parents[1] / "vectors" / "partition_exact.json").read_text())


@pytest.mark.parametrize("vector", vectors(), ids=lambda vector: f"{vector['p']}-{vector['sizes']}-{vector['n']}")
def test_published_vectors(vector):
    """Fractions that were computed by enumeration elsewhere; queries without an attribute are unrelated."""
    queries = [sp.PropertyQuery(p) for p in vector["p"]]
    curve = sp.compose(queries, sp.Population(vector["n"]), sp.RandomPartition(vector["sizes"]))
    assert curve.kind == "exact"
    assert curve.exact_delta(exp_epsilon=Fraction(vector["exp_epsilon"])) == Fraction(*map(int, vector["exact"]))
