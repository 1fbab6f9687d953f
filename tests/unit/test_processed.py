"""Steps: what they publish instead of an answer, and how they combine."""

from collections import defaultdict
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import comb

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp
from statpriv.numeric.exact import as_fraction

COUNT = sp.PropertyQuery(0.5)
NOISE = sp.noise.DiscreteLaplace(alpha=0.5)
RATIONALS = st.fractions(-100, 100, max_denominator=20)


# --- each step


@given(answer=st.integers(-99, 99), above=st.integers(-99, 99))
def test_a_threshold_publishes_what_is_above(answer, above):
    assert sp.Threshold(above).apply(answer) == (answer if answer > above else None)


@given(answer=RATIONALS, base=RATIONALS.filter(lambda base: base > 0))
def test_rounding_publishes_the_nearest_multiple_and_the_larger_of_two(answer, base):
    published = sp.Rounding(base).apply(answer)
    assert (published / base).denominator == 1
    assert -base / 2 < published - answer <= base / 2


@given(answer=st.integers(-99, 99), ends=st.tuples(st.integers(-99, 99), st.integers(-99, 99)))
def test_clamping_moves_answers_to_the_nearest_end(answer, ends):
    low, high = min(ends), max(ends)
    assert sp.Clip(low, high).apply(answer) == min(max(answer, low), high)
    assert sp.Clip(lower=low).apply(answer) == max(answer, low)
    assert sp.Clip(upper=high).apply(answer) == min(answer, high)


def test_a_table_publishes_the_rest_as_it_is():
    table = sp.Relabel({0: "none", 1: "few", 2: "few", None: 0})
    assert [table.apply(answer) for answer in (0, 1, 2, 3, None, "other")] == ["none", "few", "few", 3, 0, "other"]


def test_every_kind_of_number_is_an_answer():
    for seven in (7, 7.0, Fraction(7), Decimal(7), np.int64(7), np.float64(7)):
        assert sp.Threshold(7).apply(seven) is None
        assert sp.Rounding(5).apply(seven) == 5
        assert sp.Clip(upper=3).apply(seven) == 3
        assert sp.Relabel({7: "seven"}).apply(seven) == "seven"


@pytest.mark.parametrize("step", [sp.Threshold(3), sp.Rounding(3), sp.Clip(3, 4)])
@pytest.mark.parametrize("other", [None, "few", (1, 2), True])
def test_what_is_no_number_passes_steps_that_compute(step, other):
    assert step.apply(other) is other


def test_a_table_does_not_depend_on_the_order_of_writing():
    assert sp.Relabel({"b": 1, 3: 2, "a": 3, 1: 4}) == sp.Relabel({1: 4, "a": 3, 3: 2, "b": 1})
    assert hash(sp.Relabel({0: "a", 1.0: "b"})) == hash(sp.Relabel({1: "b", 0: "a"}))
    assert sp.Relabel({"b": "x", "a": "y"}).published == (("a", "y"), ("b", "x"))


def test_strings_in_a_table_are_no_numbers():
    assert sp.Relabel({"3": "three"}).apply(3) == 3
    assert sp.Relabel({3: "4"}).apply(3) == "4"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sp.Threshold(None), r"^above = None is not a number"),
        (lambda: sp.Rounding(0), r"^base = 0; a number above 0 is required$"),
        (lambda: sp.Rounding(-5), r"^base = -5; a number above 0 is required$"),
        (sp.Clip, r"^lower = None and upper = None; at least one of them is required$"),
        (lambda: sp.Clip(5, 3), r"^lower = 5 and upper = 3; lower <= upper is required$"),
        (lambda: sp.Relabel({}), r"^published = \{\}; a dict from answer to what is published, such as"),
        (lambda: sp.Relabel([1]), r"^published = \[1\]; a dict from answer to what is published, such as"),
        (
            lambda: sp.Relabel({0: False}),
            r"^published\[0\] = False; Python takes a truth value for 0 or 1: use a string",
        ),
        (lambda: sp.Relabel({True: "yes"}), r"^an answer = True; Python takes a truth value for 0 or 1"),
        (lambda: sp.Relabel({0: [1]}), r"^published\[0\] = \[1\]; something hashable, such as a string, is required$"),
        (lambda: sp.Relabel({0: float("nan")}), r"^published\[0\] = nan is not finite"),
    ],
)
def test_bad_steps_are_refused(make, message):
    with pytest.raises(sp.ArgumentError, match=message):
        make()


def test_one_number_may_stand_in_a_table_once_only_whatever_its_kind():
    with mpmath.workdps(60):
        third = mpmath.mpf(1) / 3
    with pytest.raises(sp.ArgumentError, match=r"^published = .*; each answer may stand there only once$"):
        sp.Relabel({third: 1, as_fraction(third, "third"): 2})


# --- queries with steps


def test_sugar_makes_one_processed_query():
    assert COUNT.thresholded(10) == sp.PostProcessed(COUNT, sp.Threshold(10))
    assert COUNT.gated(10, 20) == sp.PostProcessed(COUNT, sp.RangeGate(10, 20))
    assert COUNT.rounded(5) == sp.PostProcessed(COUNT, sp.Rounding(5))
    assert COUNT.clamped(1, 9) == sp.PostProcessed(COUNT, sp.Clip(1, 9))
    assert COUNT.clamped(upper=9) == sp.PostProcessed(COUNT, sp.Clip(upper=9))
    assert COUNT.mapped({0: "none"}) == sp.PostProcessed(COUNT, sp.Relabel({0: "none"}))
    assert COUNT.noisy(NOISE) == sp.PostProcessed(COUNT, NOISE)


def test_steps_chain_in_the_order_of_writing():
    chained = COUNT.noisy(NOISE).clamped(lower=0).rounded(5).thresholded(10)
    assert chained.query is COUNT
    assert chained.steps == (NOISE, sp.Clip(lower=0), sp.Rounding(5), sp.Threshold(10))
    assert chained == sp.PostProcessed(COUNT, *chained.steps)
    assert chained == sp.PostProcessed(sp.PostProcessed(COUNT, *chained.steps[:2]), *chained.steps[2:])
    assert COUNT.rounded(5).thresholded(10) != COUNT.thresholded(10).rounded(5)


@pytest.mark.parametrize(
    "query",
    [
        sp.PropertyQuery({"f": 0.5}),
        sp.SumQuery({0: 0.5, 2: 0.5}),
        sp.MeanQuery({0: 0.5, 2: 0.5}),
        sp.MedianQuery({0: 0.5, 2: 0.5}),
        sp.HistogramQuery([0.5, 0.5]),
        sp.LinearQuery([[1, 0], [1, 1]]),
    ],
)
def test_every_query_of_the_library_has_the_sugar(query):
    assert query.rounded(5).query == query


class Parity:
    def answer_laws(self, entries):
        fair = {0: "1/2", 1: "1/2"}
        return {0: fair, 1: fair} if entries > 1 else {0: {0: 1}, 1: {1: 1}}


def test_a_query_of_the_users_own_can_be_processed():
    parity = Parity()
    assert isinstance(parity, sp.AnswerLaws)
    assert not isinstance(COUNT, sp.AnswerLaws)
    assert sp.PostProcessed(parity, sp.Relabel({0: "even", 1: "odd"})).query is parity


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: sp.PostProcessed(3, sp.Threshold(1)),
            r"^query = 3; a query, such as PropertyQuery\(0\.5\), or an object with a method answer_laws is required$",
        ),
        (lambda: sp.PostProcessed(Parity, sp.Threshold(1)), r"^query = <class"),
        (lambda: sp.PostProcessed(COUNT), r"^steps = \(\); at least one step, such as Threshold\(10\), is required$"),
        (
            lambda: sp.PostProcessed(COUNT, 3),
            r"^steps\[0\] = 3; Threshold, RangeGate, Rounding, RandomRounding, Clip, Relabel or a noise is required$",
        ),
        (lambda: sp.PostProcessed(COUNT, sp.Threshold(1), COUNT), r"^steps\[1\] = PropertyQuery\(0\.5\); Threshold"),
        (
            lambda: COUNT.noisy(0.5),
            r"^noise = 0\.5; a noise, such as noise\.DiscreteLaplace\(alpha=0\.5\), is required$",
        ),
        (lambda: COUNT.noisy(sp.Threshold(1)), r"^noise = Threshold\(1\); a noise, such as"),
    ],
)
def test_bad_processing_is_refused(make, message):
    with pytest.raises(sp.ArgumentError, match=message):
        make()


# --- noise on sums


@pytest.mark.parametrize(
    "added", [sp.noise.Gaussian(sigma=2), sp.noise.Laplace(scale=2), sp.noise.DiscreteLaplace(alpha="0.7")]
)
def test_a_sum_of_two_fair_bits_an_entry_is_a_count_of_twice_as_many(added):
    bits = sp.SumQuery({0: "1/4", 1: "1/2", 2: "1/4"}).noisy(added)
    total = sp.privacy_curve(bits, sp.Population(12), adversary=sp.Adversary(known=2), pair=(1, 0))
    count = sp.privacy_curve(sp.PropertyQuery("1/2").noisy(added), sp.Population(19), pair=(1, 0))
    assert total.kind == count.kind == "exact"
    assert abs(total.delta("0.1").midpoint / count.delta("0.1").midpoint - 1) < 1e-13
    worst = sp.privacy_curve(bits, sp.Population(12), adversary=sp.Adversary(known=2))
    two = [sp.privacy_curve(bits, sp.Population(10), pair=pair).delta("0.1") for pair in ((2, 0), (0, 2))]
    assert worst.delta("0.1").upper == max(delta.upper for delta in two)


@pytest.mark.parametrize("added", [sp.noise.DiscreteLaplace(alpha="0.7"), sp.noise.Laplace(scale=1)])
@pytest.mark.parametrize("unit", [Fraction(1, 2), Fraction(1), Fraction(3)])
def test_of_noisy_sums_the_worst_pair_is_the_worst_of_all(added, unit):
    """Between the integers, discrete noise need not keep ratios monotone; all differences are then evaluated."""
    values = [0 * unit, 1 * unit, 2 * unit]
    query = sp.SumQuery(dict(zip(values, ["1/4", "1/2", "1/4"], strict=True))).noisy(added)
    worst = sp.privacy_curve(query, sp.Population(4))
    pairs = [(v, w) for v in values for w in values if v != w]
    for epsilon in ("0", "0.2", "1"):
        each = [sp.privacy_curve(query, sp.Population(4), pair=pair).delta(epsilon) for pair in pairs]
        assert worst.delta(epsilon).upper == max(delta.upper for delta in each)


def test_gaussian_noise_on_sums_with_gaps_or_between_the_integers_of_other_noise_is_bounded():
    gaussian, laplace = sp.noise.Gaussian(sigma=2), sp.noise.DiscreteLaplace(alpha="0.7")
    gaps = sp.SumQuery({0: "1/2", 2: "1/4", 3: "1/4"}).noisy(gaussian)
    halves = sp.SumQuery({0: "1/4", "1/2": "1/2", 1: "1/4"}).noisy(laplace).noisy(gaussian)
    assert [sp.privacy_curve(query, sp.Population(9)).kind for query in (gaps, halves)] == ["bound", "bound"]


INCOMES = {0: "0.5", 1200: "0.3", 35001: "0.2"}


@pytest.mark.parametrize(
    ("pmf", "added", "reason"),
    [
        (INCOMES, sp.noise.DiscreteGaussian(sigma=100), "take too long to be added up"),
        ({0: "0.5", "1200.50": "0.3", "35001.17": "0.2"}, sp.noise.DiscreteLaplace(scale=9), "answers matter, and the"),
        (INCOMES, sp.noise.DiscreteLaplace(scale="1e400"), r"answers matter, and the probabilities of 2e\+07 are"),
        ({0: "0.5", "0.5": "0.3", 7: "0.2"}, sp.noise.Binomial(trials=2**53, p="1/2"), "take too long to be added up"),
    ],
)
def test_sums_with_noise_on_too_many_answers_are_bounded_by_the_data_alone(pmf, added, reason):
    noisy, population = sp.SumQuery(pmf).noisy(added), sp.Population(1000)
    with pytest.raises(sp.NotAvailableError, match=reason):
        sp.privacy_curve(noisy, population, bound="exact")
    curve = sp.privacy_curve(noisy, population)
    assert curve.kind == "bound"
    assert "the answer before all steps" in curve.theorem


def test_binomial_noise_on_a_count_is_so_many_more_entries_however_many():
    added = sp.noise.Binomial(trials=10**9, p="1/2")
    noisy = sp.privacy_curve(sp.PropertyQuery("1/2").noisy(added), sp.Population(10**5))
    count = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(10**9 + 10**5))
    assert noisy.kind == "exact"
    assert noisy.delta("1e-5").midpoint == pytest.approx(count.delta("1e-5").midpoint, rel=1e-12)


PUBLISHED = [
    (lambda query: query.rounded(3), lambda x: (2 * x + 3) // 6),
    (lambda query: query.rounded(50), lambda x: (x + 25) // 50),
    (lambda query: query.thresholded(-7), lambda x: max(x, -7)),
    (lambda query: query.clamped(-7, 9), lambda x: min(max(x, -7), 9)),
    (lambda query: query.gated(-7, 9), lambda x: x if -7 <= x <= 9 else None),
    (lambda query: query.clamped(-6, 9).rounded(6), lambda x: (min(max(x, -6), 9) + 3) // 6),
    (lambda query: query.gated(-7, 9).rounded(4), lambda x: (2 * x + 4) // 8 if -7 <= x <= 9 else None),
]


@pytest.mark.parametrize(("steps", "published"), PUBLISHED)
def test_the_greatest_loss_of_noise_without_bounds_is_that_of_what_is_published(steps, published):
    """Far out the loss is ln 2 at every answer; no answer that is published together with others attains it."""
    laws = [defaultdict(Fraction), defaultdict(Fraction)]
    for critical, x, others in product(range(2), range(-240, 241), range(3)):  # the mass beyond is negligible
        noise = abs(x - others - critical)
        laws[critical][published(x)] += Fraction(comb(2, others), 4) * Fraction(1, 3 * 2**noise)
    truth = max(first[label] / second[label] for first, second in (laws, laws[::-1]) for label in first)
    with localcontext() as context:
        context.prec = 60
        loss, nothing = Fraction((Decimal(truth.numerator) / Decimal(truth.denominator)).ln()), Fraction(1, 10**50)
    query = sp.PropertyQuery("1/2").noisy(sp.noise.DiscreteLaplace(alpha="1/2"))
    found = sp.privacy_curve(steps(query), sp.Population(3)).epsilon(0)
    assert Fraction(found.lower) <= loss + nothing
    assert loss - nothing <= Fraction(found.upper)
    assert found.upper - found.lower <= 1e-15


@pytest.mark.parametrize("added", [sp.noise.DiscreteLaplace(alpha="1/2"), sp.noise.DiscreteGaussian(sigma=2)])
def test_noise_on_the_integers_reaches_all_that_the_halves_do(added):
    """Answers that are no integers keep their distance from these; with more than one other entry none is certain."""
    curve = sp.privacy_curve(sp.SumQuery({0: "1/2", "1/2": "1/4", 3: "1/4"}).noisy(added), sp.Population(5))
    assert curve.kind == "exact"
    assert curve.infinity_mass().lower == 0
    assert curve.infinity_mass().upper < 1e-50
    found = curve.epsilon("1e-6")
    assert curve.delta(found.upper).lower <= 1e-6 <= curve.delta(found.lower).upper
    assert found.width < 1e-12
    assert "upper bound" not in curve._repr_html_()
    lone = sp.privacy_curve(sp.SumQuery({0: "1/2", "1/2": "1/2"}).noisy(added), sp.Population(1))
    assert 1 in lone.infinity_mass()


@pytest.mark.parametrize(
    ("old", "new"),
    [("Gate", "RangeGate"), ("Clamping", "Clip"), ("Table", "Relabel"), ("Processed", "PostProcessed")],
)
def test_old_names_of_steps_still_work_and_say_the_new_ones(old, new):
    with pytest.warns(DeprecationWarning, match=f"sp.{old} is now sp.{new}"):
        assert getattr(sp, old) is getattr(sp, new)
