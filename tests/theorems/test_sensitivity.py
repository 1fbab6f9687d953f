"""`sp.sensitivity_of`: what becomes of δ under other assumptions, against enumeration from the definitions."""

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv.planning.sensitivity import shifted_count

from ..cases import cases

EXP = mpmath.MPContext()
EXP.dps = 50


def hockey_stick(first, second, epsilon):
    """Σ max(0, P − e^ε Q) of two laws as dicts of fractions, to 40 digits."""
    ratio = EXP.exp(EXP.mpf(epsilon.numerator) / epsilon.denominator)

    def mass(law, answer):
        value = law.get(answer, Fraction(0))
        return EXP.mpf(value.numerator) / value.denominator

    return sum(max(0, mass(first, answer) - ratio * mass(second, answer)) for answer in {**first, **second})


def worst(laws, epsilon):
    return max(hockey_stick(first, second, epsilon) for first, second in permutations(laws, 2))


def counted(entries, p, own):
    """The law of a count of which `own` is fixed, and the other entries are drawn."""
    return {own + k: math.comb(entries, k) * p**k * (1 - p) ** (entries - k) for k in range(entries + 1)}


@settings(max_examples=cases(20, campaign=600), deadline=None)
@given(
    others=st.integers(0, 12),
    rows=st.integers(2, 4),
    p=st.sampled_from([Fraction(1, 2), Fraction(1, 5), Fraction(9, 10)]),
    epsilon=st.sampled_from([Fraction(0), Fraction(1, 100), Fraction(1, 2), Fraction(3)]),
)
def test_several_rows_of_one_count_are_exact_over_all_values_a_person_may_have(others, rows, p, epsilon):
    found = shifted_count(others + rows, rows, p, epsilon)
    truth = worst([counted(others, p, own) for own in range(rows + 1)], epsilon)
    slack = EXP.mpf(10) ** -40
    assert found.lower <= truth + slack
    assert truth - slack <= found.upper
    assert found.width <= 1e-15


def test_equal_likelihoods_leave_the_value_tight():
    """At ε = 0 and p = 1/2 two thresholds are equally good."""
    found = shifted_count(1002, 2, Fraction(1, 2), Fraction(0))
    middle = sum(math.comb(1000, k) for k in (499, 500)) / Fraction(2) ** 1000
    assert middle in found
    assert found.width < 1e-16


def histogram_of(cells, entries, own):
    """The law of the counts of all cells, with the cells that `own` entries are in."""
    law = Counter()
    for values in product(range(len(cells)), repeat=entries):
        counts = Counter([*own, *values])
        law[tuple(counts[k] for k in range(len(cells)))] += math.prod((cells[v] for v in values), start=Fraction(1))
    return law


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 2), Fraction(2)])
def test_the_bound_for_several_rows_is_above_the_truth_for_a_table(epsilon):
    cells = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
    n, rows = 5, 2
    people = [histogram_of(cells, n - rows, own) for own in product(range(3), repeat=rows)]
    truth = worst(people, epsilon)
    (found,) = [
        change
        for change in sp.sensitivity_of(sp.HistogramQuery(cells), sp.Population(n), epsilon=epsilon, rows=[rows])
        if change.assumption == "rows a person"
    ]
    assert found.kind == "bound"
    assert truth <= found.delta.upper


def answers_of(sizes, p, own, n):
    """The law of the counts on parts that are drawn: `own` rows have fixed values of the two properties."""
    law = Counter()
    for order in permutations(range(n)):
        place = {}
        position = 0
        for part, size in enumerate(sizes):
            for entry in order[position : position + size]:
                place[entry] = part
            position += size
        for values in product((0, 1), repeat=n - len(own)):
            counts = [0] * len(sizes)
            mass = Fraction(1, math.factorial(n))
            for entry, part in place.items():
                if entry < len(own):
                    counts[part] += own[entry][part]
                else:
                    one = values[entry - len(own)]
                    counts[part] += one
                    mass *= p[part] if one else 1 - p[part]
            # An entry in no part adds a factor of one, twice over its two values.
            unused = sum(1 for entry in range(len(own), n) if entry not in place)
            law[tuple(counts)] += mass / 2**unused
    return law


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1)])
def test_the_bound_for_several_rows_is_above_the_truth_for_a_partition(epsilon):
    p, sizes, n, rows = (Fraction(1, 2), Fraction(1, 5)), (2, 2), 4, 2
    people = [answers_of(sizes, p, own, n) for own in product(product((0, 1), repeat=2), repeat=rows)]
    assert all(sum(law.values()) == 1 for law in people)
    truth = worst(people, epsilon)
    table = sp.sensitivity_of(
        [sp.PropertyQuery(each) for each in p], sp.Population(n), sp.RandomPartition(sizes), epsilon=epsilon, rows=[2]
    )
    (found,) = [change for change in table if change.assumption == "rows a person"]
    assert truth <= found.delta.upper <= 1


def test_one_property_over_all_parts_is_one_count():
    asked = {"epsilon": "0.1", "rows": [2, 3]}
    query = sp.PropertyQuery("0.3", attribute="a")
    parts = sp.sensitivity_of([query] * 4, sp.Population(100), sp.RandomPartition([25] * 4), **asked)
    whole = sp.sensitivity_of(query, sp.Population(100), **asked)
    assert [change.delta for change in parts] == [change.delta for change in whole if change.assumption != "households"]
    assert all(change.kind == "exact" for change in parts)


def test_each_change_is_the_curve_of_that_assumption():
    table = sp.sensitivity_of(
        sp.PropertyQuery(sp.Between("0.4", "0.5")), sp.Population(1000), epsilon="0.1", known=15, rows=[2]
    )
    found = {(change.assumption, change.value): change.delta for change in table}

    def delta(lower, upper, known):
        query = sp.PropertyQuery(sp.Between(lower, upper))
        return sp.privacy_curve(query, sp.Population(1000), adversary=sp.Adversary(known=known)).delta("0.1")

    assert found["as stated", "p from 0.4 to 0.5"] == delta("0.4", "0.5", 15)
    assert found["probability", "p from 0.2 to 0.7"] == delta("0.2", "0.7", 15)
    assert found["known rows", "100"] == delta("0.4", "0.5", 100)
    assert ("known rows", "10") not in found
    stated = delta("0.4", "0.5", 15)
    assert all(change.delta.upper >= stated.lower for change in table)


def test_a_rarer_cell_costs():
    cells = sp.HistogramQuery(["1/2", "2/5", "1/10"])
    table = sp.sensitivity_of(cells, sp.Population(500), epsilon="0.1", rows=[])
    (found,) = [change for change in table if change.value == "rarest cell 2 times rarer"]
    changed = sp.HistogramQuery([Fraction(1, 2) * Fraction(19, 18), Fraction(2, 5) * Fraction(19, 18), Fraction(1, 20)])
    assert found.delta == sp.privacy_curve(changed, sp.Population(500)).delta("0.1")


def test_what_is_impossible_is_left_out():
    table = sp.sensitivity_of(sp.PropertyQuery("1/2"), sp.Population(3), epsilon=0, rows=[2, 3, 4])
    assert [change.value for change in table if change.assumption == "rows a person"] == ["2", "3"]
    sure = sp.sensitivity_of(sp.PropertyQuery(sp.Between(0, 1)), sp.Population(3), epsilon=0, rows=[])
    assert [change.assumption for change in sure] == ["as stated", "known rows"]


def test_the_table_is_read_and_stored():
    table = sp.sensitivity_of(sp.PropertyQuery("1/2"), sp.Population(100), epsilon="0.1", rows=[2])
    assert repr(table) == "<Sensitivity at ε = 0.1: 15 assumptions>"
    assert str(table).splitlines()[0].split() == ["assumption", "instead", "δ(0.1)", "at", "most", "kind"]
    assert "<td>rows a person</td>" in table._repr_html_()
    assert len(json.loads(json.dumps(table.document(), allow_nan=False))) == len(table)
    assert table[0].assumption == "as stated"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: sp.sensitivity_of([sp.PropertyQuery("1/2")], sp.Population(3), epsilon=0),
            "partition = None; several queries need a partition",
        ),
        (
            lambda: sp.sensitivity_of(sp.PropertyQuery("1/2"), sp.Population(3), epsilon=0, rows=[1]),
            "rows = 1",
        ),
        (
            lambda: sp.sensitivity_of(sp.PropertyQuery("1/2"), sp.Population(3), epsilon=-1),
            "epsilon = -1",
        ),
    ],
)
def test_arguments_that_are_not_allowed(ask, message):
    with pytest.raises(sp.ArgumentError, match=message):
        ask()


# --- of any curve --------------------------------------------------------------------------------


def changes(curve, epsilon, **options):
    return {(change.assumption, change.value): change for change in curve.sensitivity(epsilon=epsilon, **options)}


def sampled(n, size, p, own):
    """The law of a count of a secret sample, when the rows of one person have `own` ones together."""
    rows, fixed = own
    law = Counter()
    for total, mass in counted(n - rows, p, fixed).items():
        for answer in range(size + 1):
            chances = math.comb(total, answer) * math.comb(n - total, size - answer)
            law[answer] += mass * Fraction(chances, math.comb(n, size))
    return law


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 2), Fraction(1)])
def test_rows_of_a_person_in_a_hidden_sample_are_above_the_truth(epsilon):
    n, size, p, rows = 7, 4, Fraction(1, 3), 2
    truth = worst([sampled(n, size, p, (rows, fixed)) for fixed in range(rows + 1)], epsilon)
    curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), sampling=sp.WithoutReplacement(size))
    found = changes(curve, epsilon, rows=[rows])["rows a person", "2"]
    assert found.kind == "bound"
    assert truth <= found.delta.upper
    assert truth > curve.delta(epsilon).upper
    if epsilon == 0:
        assert found.delta.upper < 3 * truth


def test_known_rows_of_a_hidden_sample_are_those_of_its_curve():
    sample = {"sampling": sp.WithoutReplacement(30)}
    query, population = sp.PropertyQuery("1/3"), sp.Population(100)
    found = changes(sp.privacy_curve(query, population, **sample), "0.1")
    for known in (1, 2, 5, 10):
        curve = sp.privacy_curve(query, population, adversary=sp.Adversary(known=known), **sample)
        assert found["known rows", str(known)].delta == curve.delta("0.1")


def test_the_sensitivity_of_a_curve_is_that_of_its_release():
    population, partition = sp.Population(60), sp.RandomPartition([30, 30])
    queries = [sp.PropertyQuery(sp.Between("0.3", "0.4")), sp.PropertyQuery("0.6")]
    curve = sp.compose(queries, population, partition, bound="partition-sum")
    assert curve.sensitivity(epsilon="0.1") == sp.sensitivity_of(
        queries, population, partition, epsilon="0.1", bound="partition-sum"
    )


def test_a_pair_of_values_is_kept_and_its_several_rows_are_a_bound():
    curve = sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(50), pair=(0, 1))
    found = changes(curve, "0.1", rows=[2])
    assert found["as stated", "p = 0.3"].delta == curve.delta("0.1")
    assert found["rows a person", "2"].kind == "bound"


def test_what_is_said_given_that_one_is_drawn_says_nothing_of_several_rows():
    sample = sp.privacy_curve(
        sp.PropertyQuery("0.3"), sp.Population(50), sampling=sp.WithoutReplacement(9), bound="spc"
    )
    assert not any(assumption == "rows a person" for assumption, _ in changes(sample, "0.1"))


def test_what_has_no_bound_is_left_out():
    """A bound that is named must be there: an exact curve of a sample has one p."""
    sample = sp.privacy_curve(
        sp.PropertyQuery("0.3"), sp.Population(50), sampling=sp.WithoutReplacement(9), bound="exact"
    )
    assert not any(assumption == "probability" for assumption, _ in changes(sample, "0.1"))


def test_an_adaptive_composition_is_refused():
    queries = [sp.PropertyQuery("0.5", attribute="a"), sp.PropertyQuery("0.3", attribute="b")]
    curve = sp.compose_adaptive(sp.AnyOf(queries), sp.Population(20), sp.RandomPartition([10, 10]))
    with pytest.raises(sp.NotAvailableError, match="the sensitivity of an adaptive composition, or of"):
        curve.sensitivity(epsilon="0.1")
