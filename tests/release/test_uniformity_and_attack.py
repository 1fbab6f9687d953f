"""Do the real answers have the law that the certified number is about, and would an attack notice if not?"""

from __future__ import annotations

import math
import random
import sqlite3
import struct
from array import array
from collections import Counter, defaultdict
from contextlib import closing
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

import statpriv as sp
from statpriv.releasing import ledger, partition
from statpriv.releasing.plan import DataSource
from statpriv.releasing.predicate import Predicate
from statpriv.releasing.tables import open_table
from statpriv.releasing.tables.duckdb import counts_of_parts

from .conftest import query

N, SIZES = 4, (2, 1)
EPSILONS = ["0", "0.1", "0.5", "2"]


# --- tiny tables: everything, exactly


def labelings():
    """The labels from every sequence of index choices: words that stand for equally many words each."""
    drawn = []
    strata = [partition.Stratum.of_all(N, SIZES)]
    for residues in product(range(2), range(3), range(4)):
        words = iter([struct.pack("<3Q", *(12 + residue for residue in residues))])
        drawn.append(tuple(partition.shuffled_parts(strata, N, lambda count, words=words: next(words)[:count])))
    return drawn


def test_every_partition_comes_equally_often():
    drawn = Counter(labelings())
    assert set(drawn) == set(permutations([1, 1, 2, 0]))
    assert set(drawn.values()) == {2}


@pytest.mark.parametrize("bound", [3, 5, 6, 7])
def test_the_words_that_would_tip_the_balance_are_drawn_again(bound):
    """2^64 mod b words are one too many for equal shares."""
    surplus = 2**64 % bound
    assert surplus
    bounds = np.array([bound], dtype=np.uint64)
    for word in (0, surplus - 1):
        words = iter([struct.pack("<Q", word), struct.pack("<Q", 2**64 - 1)])
        assert partition.bounded_integers(bounds, lambda _count, words=words: next(words)) == [(2**64 - 1) % bound]
        assert next(words, None) is None
    words = iter([struct.pack("<Q", surplus)])
    assert partition.bounded_integers(bounds, lambda _count: next(words)) == [surplus % bound]


def law_of_answers(folder, predicates, cells, draw=labelings):
    """The law of the answers for each table, by the engine: {table: {answers: probability}}."""
    drawn = Counter(draw())
    laws = {}
    path = folder / "people.csv"
    for table in product(cells, repeat=N):
        path.write_text("v\n" + "".join(f"{cell}\n" for cell in table), encoding="utf-8")
        law = defaultdict(Fraction)
        asked = [Predicate.parse(where) for where in predicates]
        with open_table(DataSource(path, path.name), asked) as opened:
            content = opened.load(b"k" * 32)
            for labels, often in drawn.items():
                answers = tuple(count for (count,) in content.count(array("I", labels), [(one,) for one in asked]))
                law[answers] += Fraction(often, sum(drawn.values()))
        laws[table] = law
    return laws


def released(laws, shares, critical):
    """The law of the answers when row 0 has this value and the others are drawn with these shares."""
    law = defaultdict(Fraction)
    for others in product(shares, repeat=N - 1):
        probability = math.prod((shares[cell] for cell in others), start=Fraction(1))
        for answers, share in laws[(critical, *others)].items():
            law[answers] += probability * share
    return law


def least_delta(laws, shares, epsilon):
    """Two rationals around the largest hockey stick over all pairs of values of row 0."""
    with localcontext() as context:
        context.prec = 60
        base = Fraction(Decimal(epsilon).exp())
    compared = [(released(laws, shares, v), released(laws, shares, w)) for v, w in permutations(shares, 2)]
    return [
        max(sum(max(Fraction(0), share - x * q[answers]) for answers, share in p.items()) for p, q in compared)
        for x in (base * (1 + Fraction(1, 10**40)), base * (1 - Fraction(1, 10**40)))
    ]


@pytest.fixture(scope="module")
def laws_of_one_property(tmp_path_factory):
    return law_of_answers(tmp_path_factory.mktemp("one"), ["v = 1", "v = 1"], ("0", "1"))


@pytest.mark.parametrize("p", ["1/2", "3/10", "9/10"])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_exact_curve_is_that_of_the_real_answers(laws_of_one_property, p, epsilon):
    shares = {"1": Fraction(p), "0": 1 - Fraction(p)}
    low, high = least_delta(laws_of_one_property, shares, epsilon)
    asked = [sp.PropertyQuery(p, attribute="v")] * 2
    curve = sp.compose(asked, sp.Population(N), sp.RandomPartition(SIZES), bound="exact")
    assert curve.kind == "exact"
    certified = curve.delta(epsilon)
    assert Fraction(certified.lower) <= high
    assert low <= Fraction(certified.upper)
    assert high == 0 or Fraction(certified.upper - certified.lower) <= high / 10**12


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_two_properties_leak_no_more_than_certified(laws_of_two_properties, epsilon):
    for a, b in (("1/2", "3/10"), ("1/10", "8/10"), ("1/3", "1/3")):
        shares = {"a": Fraction(a), "b": Fraction(b), "c": 1 - Fraction(a) - Fraction(b)}
        asked = [sp.PropertyQuery(a, attribute="a"), sp.PropertyQuery(b, attribute="b")]
        certified = sp.compose(asked, sp.Population(N), sp.RandomPartition(SIZES)).delta(epsilon)
        assert least_delta(laws_of_two_properties, shares, epsilon)[1] <= Fraction(certified.upper)


@pytest.fixture(scope="module")
def laws_of_two_properties(tmp_path_factory):
    return law_of_answers(tmp_path_factory.mktemp("two"), ["v = 'a'", "v = 'b'"], ("a", "b", "c"))


@pytest.mark.parametrize("mutant", ["no shuffle", "modulo bias", "one order too few"])
def test_a_broken_partition_has_another_law(tmp_path, mutant):
    """The same comparison finds partitions that are not uniform."""
    drawn = {
        "no shuffle": lambda: [(1, 1, 2, 0)],
        "modulo bias": lambda: [*labelings(), (1, 1, 2, 0), (1, 1, 2, 0)],
        "one order too few": lambda: [labels for labels in labelings() if labels != (1, 1, 2, 0)],
    }[mutant]
    laws = law_of_answers(tmp_path, ["v = 1", "v = 1"], ("0", "1"), drawn)
    low, high = least_delta(laws, {"1": Fraction(1, 2), "0": Fraction(1, 2)}, "0.1")
    asked = [sp.PropertyQuery("1/2", attribute="v")] * 2
    certified = sp.compose(asked, sp.Population(N), sp.RandomPartition(SIZES), bound="exact").delta("0.1")
    assert low > Fraction(certified.upper) or high < Fraction(certified.lower)


# --- an attack on larger tables, with the odds of a false alarm below one in a million

DRAWS = 2000
FALSE_ALARM = 1e-6
PARTS = [4] * 16
EVENTS = {
    **{f"total >= {k}": lambda counts, k=k: sum(counts) >= k for k in (30, 31, 32, 33, 34)},
    **{f"first part >= {k}": lambda counts, k=k: counts[0] >= k for k in (1, 2, 3, 4)},
    **{f"last part >= {k}": lambda counts, k=k: counts[-1] >= k for k in (2, 3)},
}


def answers(holds, sizes, draw=None):
    """One release of these rows by the code that partitions and counts."""
    questions = [(Predicate.parse("v = 1"),)] * len(sizes)
    none_of_these = np.logical_not(holds).astype(np.uint16)
    strata = [partition.Stratum.of_all(len(holds), sizes)]
    with partition.secret_partition(strata, len(holds), *([draw] if draw else [])) as labels:
        of_rows = np.frombuffer(labels, dtype=np.uint32)
        return [count for (count,) in counts_of_parts(of_rows, questions, lambda _question: none_of_these)]


def binomial_tail(k, n, p):
    """P[Bin(n, p) >= k]."""
    if k <= 0 or p >= 1:
        return 1.0
    if p <= 0:
        return 0.0
    logs = (
        math.lgamma(n + 1) - math.lgamma(j + 1) - math.lgamma(n - j + 1) + j * math.log(p) + (n - j) * math.log1p(-p)
        for j in range(k, n + 1)
    )
    return math.fsum(map(math.exp, logs))


def clopper_pearson(k, n, error):
    """An interval that misses the probability with a chance of at most `error` at each end."""

    def root(rising, goal):
        low, high = 0.0, 1.0
        for _ in range(30):
            middle = (low + high) / 2
            low, high = (middle, high) if rising(middle) < goal else (low, middle)
        return low, high

    lower = root(lambda p: binomial_tail(k, n, p), error)[0] if k else 0.0
    upper = root(lambda p: binomial_tail(k + 1, n, p), 1 - error)[1] if k < n else 1.0
    return lower, upper


def test_the_interval_is_the_one_of_clopper_and_pearson():
    low, high = clopper_pearson(0, 10, 0.025)
    assert (low, high) == (0.0, pytest.approx(1 - 0.025 ** (1 / 10), abs=1e-6))
    low, high = clopper_pearson(7, 20, 0.025)
    assert (low, high) == (pytest.approx(0.15391, abs=1e-5), pytest.approx(0.59219, abs=1e-5))


def attack(release, events, draws=DRAWS, factor=1.0):
    """The largest advantage that is certain, and the largest that is possible, over the events and both orders."""
    seen = {critical: [release(critical) for _ in range(draws)] for critical in (0, 1)}
    error = FALSE_ALARM / (4 * len(events))
    certain, possible = 0.0, 0.0
    for event in events.values():
        ends = [clopper_pearson(sum(map(event, seen[critical])), draws, error) for critical in (0, 1)]
        for v, w in (ends, ends[::-1]):
            certain = max(certain, v[0] - factor * w[1])
            possible = max(possible, v[1] - factor * w[0])
    return certain, possible


def one_release(draw=None, sizes=PARTS):
    """Row 0 is the critical one, the others are tossed."""

    def release(critical):
        holds = np.frombuffer(random.SystemRandom().randbytes(sum(PARTS)), dtype=np.uint8) % 2 == 1
        holds[0] = critical
        return answers(holds, sizes, draw)

    return release


def certified(epsilon=0):
    asked = [sp.PropertyQuery("1/2", attribute="v")] * len(PARTS)
    return sp.compose(asked, sp.Population(sum(PARTS)), sp.RandomPartition(PARTS)).delta(epsilon)


def test_an_attack_gains_what_is_certified_and_no_more():
    certain, possible = attack(one_release(), EVENTS)
    assert certain <= certified().upper
    assert possible >= certified().lower
    assert certified().upper < 0.1


def test_an_attack_gains_no_more_at_a_larger_epsilon():
    certain, possible = attack(one_release(), EVENTS, factor=math.exp(0.1))
    assert certain <= certified("0.1").upper <= possible


def test_the_attack_notices_that_nothing_is_shuffled(monkeypatch):
    monkeypatch.setattr(partition, "bounded_integers", lambda bounds, _words: bounds - bounds)
    certain, _ = attack(one_release(), EVENTS)
    assert certain > certified().upper


def test_the_attack_notices_words_that_repeat():
    """A source that gives the same words for every release is no source of a secret."""
    certain, _ = attack(one_release(lambda count: bytes(range(256))[1:] * (count // 255 + 1)), EVENTS_OF_ANY_PART)
    assert certain > certified().upper


EVENTS_OF_ANY_PART = {f"part {part} >= 2": lambda counts, part=part: counts[part] >= 2 for part in range(len(PARTS))}


def test_the_attack_notices_rows_that_answer_again():
    """Someone who knows all other rows, and six releases of one table where one is allowed."""
    rows, size, again = 16, 4, 6
    asked = sp.PropertyQuery("1/2", attribute="v")
    bound = sp.compose(
        [asked], sp.Population(rows), sp.RandomPartition([size]), adversary=sp.Adversary(known=rows - 1)
    ).delta(0)

    def release(times):
        def run(critical):
            holds = np.zeros(rows, dtype=bool)
            holds[0] = critical
            return [answers(holds, [size])[0] for _ in range(times)]

        return run

    events = {"it was counted": lambda counts: sum(counts) > 0}
    certain, possible = attack(release(1), events, draws=600)
    assert certain <= bound.upper <= possible
    certain, _ = attack(release(again), events, draws=600)
    assert certain > bound.upper


@pytest.mark.parametrize("forgets", [False, True])
def test_rows_answer_again_only_without_the_ledger(workshop, monkeypatch, forgets):
    """What stands between the attack above and a table is the bitmap of the ledger alone."""
    workshop.table(["id", "v"], [[i, i % 2] for i in range(12)])
    workshop.plan(query("v = 1", rows=6), more_data='row_id = "id"')
    workshop.release(seed=1)
    if forgets:
        monkeypatch.setattr(ledger.books.Books, "spent", lambda _, data_set: np.zeros(data_set.rows, np.bool_))
    workshop.release(seed=1, force=True)
    with closing(sqlite3.connect(workshop.registry / "ledger.sqlite3")) as connection:
        ((spent,),) = connection.execute("SELECT spent FROM data_set")
    assert np.unpackbits(np.frombuffer(spent, np.uint8)).sum() == (6 if forgets else 12)


@pytest.mark.parametrize("mutant", [None, "a row in two parts", "a row in no part"])
def test_totals_add_up_exactly_if_every_row_answers_once(mutant):
    """Which no attack on the law could see: every part is a fair sample in both mutants."""
    holds = np.arange(64) % 3 == 0

    def release():
        counted = answers(holds, PARTS)
        if mutant == "a row in two parts":
            counted[0] = answers(holds, [4])[0]
        if mutant == "a row in no part":
            counted = answers(holds, [3, *PARTS[1:]])
        return sum(counted)

    totals = {release() for _ in range(100)}
    assert (totals == {int(holds.sum())}) is (mutant is None)
