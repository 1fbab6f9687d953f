"""Do the real answers have the law that the certified number is about, and would an attack notice if not?"""

from __future__ import annotations

import math
import secrets
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

import statpriv as sp
from statpriv.errors import LedgerError
from statpriv.releasing import ledger
from statpriv.releasing.ledger import Rows
from statpriv.releasing.partition import Strata, secret_partition
from statpriv.releasing.plan import DataSource
from statpriv.releasing.predicate import Predicate
from statpriv.releasing.tables import open_table

from ..cases import cases
from . import attack, mutants
from .attack import EVEN_ODDS, SPREAD, TARGETED, TOTAL, attacked
from .conftest import parts, query

N, SIZES = 4, (2, 1)
EPSILONS = ["0", "0.1", "0.5", "2"]


# --- tiny tables: everything, exactly


PARTITIONS = tuple(sorted(set(permutations([1, 1, 2, 0]))))
"""All partitions of four rows into two rows, one row and a rest, each from equally many orders (`rust/release`)."""


def law_of_answers(folder, predicates, cells, partitions=PARTITIONS):
    """The law of the answers for each table, by the engine: {table: {answers: probability}}."""
    drawn = Counter(partitions)
    laws = {}
    path = folder / "people.csv"
    for table in product(cells, repeat=N):
        path.write_text("v\n" + "".join(f"{cell}\n" for cell in table), encoding="utf-8")
        law = defaultdict(Fraction)
        asked = [Predicate.parse(where) for where in predicates]
        with open_table(DataSource(path, path.name), asked) as opened:
            content = opened.load(b"k" * 32)
            for labels, often in drawn.items():
                answers = tuple(count for (count,) in content.count(parts(labels), [(one,) for one in asked]))
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


@pytest.mark.xdist_group("laws of one property")
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


@pytest.mark.campaign  # that two attributes of one table tell no more together; one attribute runs always
@pytest.mark.xdist_group("laws of two properties")
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_two_properties_leak_no_more_than_certified(laws_of_two_properties, epsilon):
    for a, b in (("1/2", "3/10"), ("1/10", "8/10"), ("1/3", "1/3"))[: cases(1, campaign=3)]:
        shares = {"a": Fraction(a), "b": Fraction(b), "c": 1 - Fraction(a) - Fraction(b)}
        asked = [sp.PropertyQuery(a, attribute="a"), sp.PropertyQuery(b, attribute="b")]
        certified = sp.compose(asked, sp.Population(N), sp.RandomPartition(SIZES)).delta(epsilon)
        assert least_delta(laws_of_two_properties, shares, epsilon)[1] <= Fraction(certified.upper)


@pytest.fixture(scope="module")
def laws_of_two_properties(tmp_path_factory):
    return law_of_answers(tmp_path_factory.mktemp("two"), ["v = 'a'", "v = 'b'"], ("a", "b", "c"))


@pytest.mark.parametrize(
    "mutant",
    ["no shuffle", *(pytest.param(name, marks=pytest.mark.campaign) for name in ("one too often", "one too few"))],
)
def test_a_broken_partition_has_another_law(tmp_path, mutant):
    """The same comparison finds partitions that are not uniform."""
    drawn = {
        "no shuffle": [(1, 1, 2, 0)],
        "one too often": [*PARTITIONS, (1, 1, 2, 0), (1, 1, 2, 0)],
        "one too few": [labels for labels in PARTITIONS if labels != (1, 1, 2, 0)],
    }[mutant]
    laws = law_of_answers(tmp_path, ["v = 1", "v = 1"], ("0", "1"), drawn)
    low, high = least_delta(laws, {"1": Fraction(1, 2), "0": Fraction(1, 2)}, "0.1")
    asked = [sp.PropertyQuery("1/2", attribute="v")] * 2
    certified = sp.compose(asked, sp.Population(N), sp.RandomPartition(SIZES), bound="exact").delta("0.1")
    assert low > Fraction(certified.upper) or high < Fraction(certified.lower)


# --- an attack on larger tables, with the odds of a false alarm below one in a million


DRAWS = 1000


def test_the_interval_is_the_one_of_clopper_and_pearson():
    """Against its definition: at its ends the tail beyond what was seen has the probability of the error."""
    hits = np.arange(21)
    lower, upper = attack.clopper_pearson(hits, 20, 0.025)
    assert (lower[0], upper[20]) == (0, 1)
    for k in range(20):
        assert tail(k + 1, 20, lower[k + 1]) == pytest.approx(0.025)
        assert 1 - tail(k + 1, 20, upper[k]) == pytest.approx(0.025)


def tail(k, n, p):
    """P[Bin(n, p) >= k]."""
    return sum(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k, n + 1))


def test_what_is_certified_and_what_no_shuffle_would_give_away():
    """64 rows, 16 parts of 4, ε = 0: one moves the total by one of Bin(63, 1/2), its part by one of Bin(3, 1/2)."""
    certified = SPREAD.certified.delta(0)
    of_the_total = Fraction(math.comb(63, 31), 2**63)
    assert Fraction(certified.lower) <= of_the_total <= Fraction(certified.upper)
    assert certified.upper == pytest.approx(0.0993, abs=5e-5)
    assert Fraction(math.comb(3, 1), 2**3) == Fraction("0.375")


@pytest.mark.parametrize("epsilon", ["0", "0.1"])
@pytest.mark.parametrize("scenario", [SPREAD, TARGETED], ids=["nobody known", "all others known"])
def test_no_attack_gains_more_than_is_certified(scenario, epsilon):
    """Not by the optimal test, nor by one that is optimal against a broken mechanism."""
    tests = [TOTAL, attack.COUNTED, attack.part(0), attack.part(len(scenario.sizes) - 1)]
    outcome = attacked(scenario, attack.released, *tests, draws=cases(DRAWS, campaign=2 * DRAWS))
    certain, _ = outcome.gain(math.exp(float(epsilon)))
    assert certain <= scenario.certified.delta(epsilon).upper


def test_the_optimal_attack_gains_what_is_certified():
    """The positive control: an answer that hides more would be noticed, and so would an attack that sees nothing."""
    certain, possible = attacked(SPREAD, attack.released, EVEN_ODDS, draws=8 * DRAWS).gain()
    certified = SPREAD.certified.delta(0)
    assert 0 < certain <= certified.upper
    assert certified.lower <= possible < 2 * certified.upper


@pytest.mark.campaign
def test_without_the_critical_row_the_attack_sees_nothing():
    """The control can fail: here the critical row never answers."""

    def others(holds, sizes, words):
        return attack.released(np.concatenate([holds[:-1], holds[:1]]), sizes, words)

    _, possible = attacked(SPREAD, others, EVEN_ODDS, draws=8 * DRAWS).gain()
    assert possible < SPREAD.certified.delta(0).lower


def test_the_attack_notices_that_nothing_is_shuffled():
    certain, _ = attacked(SPREAD, attack.unshuffled, attack.part(15), draws=DRAWS).gain()
    assert certain > SPREAD.certified.delta(0).upper


def test_a_thousand_tables_are_enough_to_notice_that_nothing_is_shuffled():
    """The power of the test above: it fails unless one of two frequencies is as far off as once in 100 000 times."""
    deviations = 4.27 * np.sqrt(DRAWS * np.array([0.5 * 0.5, 0.875 * 0.125]))
    expected = DRAWS * np.array([tail(2, 3, 0.5), tail(1, 3, 0.5)])  # of at least 2 in the part of the critical row
    unlucky = np.zeros((2, 4))
    unlucky[:, 1] = expected + deviations * [1, -1]
    assert attack.Outcome(DRAWS, *unlucky).gain()[0] > SPREAD.certified.delta(0).upper


def test_the_attack_notices_words_that_repeat():
    """A source that gives the same words for every release is no source of a secret."""
    anywhere = [attack.part(number) for number in range(len(SPREAD.sizes))]
    certain, _ = attacked(SPREAD, attack.on_one_partition, *anywhere, draws=DRAWS).gain()
    assert certain > SPREAD.certified.delta(0).upper


@pytest.mark.parametrize("broken", [attack.answered_again, attack.sorted_by_value])
def test_the_attack_notices_rows_that_answer_again_or_are_sorted(broken):
    """Someone who knows all other rows, and six releases of one table where one is allowed; or the answer itself."""
    certified = TARGETED.certified.delta(0).upper
    certain, possible = attacked(TARGETED, attack.released, attack.COUNTED, draws=DRAWS).gain()
    assert certain <= certified <= possible
    certain, _ = attacked(TARGETED, broken, attack.COUNTED, draws=DRAWS).gain()
    assert certain > certified


@pytest.mark.parametrize("broken", [attack.sorted_by_value, attack.from_words_of_the_data])
def test_what_no_attack_on_the_law_notices(broken):
    """With nobody known these gain no more than the right law: other tests catch them."""
    certain, _ = attacked(SPREAD, broken, TOTAL, draws=DRAWS).gain()
    assert certain <= SPREAD.certified.delta(0).upper


@pytest.mark.parametrize("mutant", [None, pytest.param("no shuffle", marks=pytest.mark.campaign)])
def test_no_attack_on_a_real_table_gains_more_than_is_certified(tmp_path, mutant):
    """Each column is a table of its own, so that one file and one opened engine hold very many."""
    draws = cases(60, campaign=800)
    words = secrets.token_bytes
    tables = [SPREAD.table(critical=critical, words=words) for critical in (False, True) for _ in range(draws)]
    path = tmp_path / "people.csv"
    rows = np.array(tables).T.astype(int)
    np.savetxt(path, rows, fmt="%d", delimiter=",", header=",".join(f"v{i}" for i in range(2 * draws)), comments="")
    asked = [Predicate.parse(f"v{i} = 1") for i in range(2 * draws)]
    lying, strata = parts(mutants.as_they_lie(64, SPREAD.sizes)), Strata([SPREAD.sizes])
    with open_table(DataSource(path, path.name), asked) as opened:
        content = opened.load(b"k" * 32)
        counts = []
        for one in asked:
            with secret_partition(Rows.of(64, None), b"", strata) as drawn:
                of_parts = content.count(lying if mutant else drawn, [(one,)] * len(SPREAD.sizes))
            counts.append([count for (count,) in of_parts])
    if mutant is None:
        assert [sum(each) for each in counts] == [int(table.sum()) for table in tables]
    answers = np.array(counts)
    hits = [np.array([(half[:, 15] >= 2).sum()]) for half in np.split(answers, 2)]
    certain, _ = attack.Outcome(draws, *hits).gain()
    assert (certain > SPREAD.certified.delta(0).upper) is (mutant is not None)


@pytest.mark.campaign  # alone it notices a picture that depends on chance
def test_the_picture_is_the_same_every_time():
    assert attack.picture(draws=3) == attack.picture(draws=3)


# --- what no attack on the law could see


@pytest.mark.parametrize("broken", [None, "the bitmap", "the bitmap and the facts that contradict it"])
def test_rows_answer_again_only_without_the_ledger(workshop, monkeypatch, broken):
    """Between the attack above and a table stand the bitmap of the ledger and the numbers of rows beside it."""
    workshop.table(["id", "v"], [[i, i % 2] for i in range(12)])
    workshop.plan(query("v = 1", rows=6, probability=("1/2", "1/2")), more_data='row_id = "id"')
    workshop.release(seed=1)
    if broken:
        monkeypatch.setattr(ledger.books.Books, "spent", lambda _, data_set: np.zeros(data_set.rows, np.bool_))
    if broken == "the bitmap":
        with pytest.raises(LedgerError, match="marked as used in data set 1 are not as many as its releases used"):
            workshop.release(seed=1, force=True)
        return
    if broken:
        monkeypatch.setattr(ledger.session, "check_facts", lambda _: None)
    workshop.release(seed=1, force=True)
    with closing(sqlite3.connect(workshop.registry / "ledger.sqlite3")) as connection:
        ((spent,),) = connection.execute("SELECT spent FROM data_set")
    assert np.unpackbits(np.frombuffer(spent, np.uint8)).sum() == (6 if broken else 12)


@pytest.mark.parametrize("mutant", [None, "a row in two parts", "a row in no part"])
def test_totals_add_up_exactly_if_every_row_answers_once(mutant):
    """Which no attack on the law could see: every part is a fair sample in both mutants."""
    holds = np.arange(64) % 3 == 0

    def counted(sizes):
        return attack.answers(attack.released, [holds] * 100, sizes, secrets.token_bytes)

    totals = counted([3, *SPREAD.sizes[1:]] if mutant == "a row in no part" else SPREAD.sizes).sum(axis=1)
    if mutant == "a row in two parts":
        totals = counted(SPREAD.sizes)[:, 1:].sum(axis=1) + counted([4]).sum(axis=1)
    assert (set(totals.tolist()) == {int(holds.sum())}) is (mutant is None)
