"""Bad input to the functions of noiseless privacy: the message names the argument, its value and the requirement."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest

import statpriv as sp
from statpriv import noiseless

FAIR = {0: "1/2", 1: "1/2"}

REFUSED = [
    (lambda: noiseless.boolean_epsilon([0, 1, 1]), "truth_table has 3 answers; 2^n are required"),
    (lambda: noiseless.boolean_epsilon([1]), "truth_table has 1 answers; 2^n are required"),
    (lambda: noiseless.boolean_epsilon([0, 1, 2, 0]), "truth_table[2] = 2; 0 or 1 is required"),
    (lambda: noiseless.boolean_epsilon([[0, 1], [1, 0]]), "a list of 2^n zeros and ones is required"),
    (lambda: noiseless.boolean_epsilon(5), "truth_table = 5; a list of 2^n zeros and ones"),
    (lambda: noiseless.boolean_epsilon([0, 1], p=0), "p = 0; a probability strictly between 0 and 1"),
    (lambda: noiseless.boolean_posterior_epsilon([0, 1], p=1), "p = 1; a probability strictly between 0 and 1"),
    (lambda: noiseless.boolean_epsilon([0, 1, 1, 0], p=[0.5, 1]), "p[1] = 1; a probability strictly between 0 and 1"),
    (lambda: noiseless.boolean_epsilon([0, 1, 1, 0], p=[0.5]), "p has 1 probabilities for 2 entries"),
    (lambda: noiseless.boolean_epsilon([0, 1], leaked=[0]), "leaked has all 1 entries"),
    (
        lambda: noiseless.boolean_epsilon([0, 1, 1, 0], leaked=[2]),
        "leaked has the entry 2; the entries are numbered 0 to 1",
    ),
    (lambda: noiseless.boolean_epsilon([0, 1, 1, 0], leaked=3), "leaked = 3; a list of entries"),
    (lambda: noiseless.BooleanFunction(max), "entries = None; a Python function does not say"),
    (lambda: noiseless.BooleanFunction(sum, entries=2), "the function answers 2 for (1, 1); 0 or 1 is required"),
    (lambda: noiseless.BooleanFunction(max, entries=25), "entries = 25; truth tables of at most 24 entries"),
    (lambda: noiseless.BooleanFunction([0, 1], entries=2), "entries = 2, but truth_table has 2^1 answers"),
    (lambda: noiseless.BooleanFunction([0, 1], p=0.5, law=[0.5, 0.5]), "give only one of them"),
    (lambda: noiseless.BooleanFunction([0, 1], law=["1/2", "1/3"]), "law sums to 0.8333333333333334"),
    (lambda: noiseless.BooleanFunction([0, 1], law=[0.5, 0.4]), "law sums to 0.9"),
    (lambda: noiseless.BooleanFunction([0, 1], law=[1.5, -0.5]), "law has a probability that is negative"),
    (lambda: noiseless.BooleanFunction([0, 1], law=["3/2", "-1/2"]), "law has the probability -1/2"),
    (lambda: noiseless.BooleanFunction([0, 1], law=[1]), "law has 1 probabilities; 2 are required"),
    (lambda: noiseless.BooleanFunction([0, 1], law={"0": 1}), "law has the key '0'; tuples of 1 zeros and ones"),
    (lambda: noiseless.BooleanFunction([0, 1, 1, 0]).junta_distance(3), "size = 3; the function has 2 entries"),
    (lambda: noiseless.BooleanFunction([0] * 2**20).junta_distance(10), "size = 10 of 20 entries"),
    (lambda: noiseless.BooleanFunction([0, 1], law=[0, 1]).theorem_3(), "law has an entry that is certain"),
    (
        lambda: noiseless.BooleanFunction([0, 1], law=[0.5, 0.5]).theorem_4(0, delta=0.1),
        "Theorem 4 is about independent",
    ),
    (lambda: noiseless.BooleanFunction([0, 1, 1, 0]).failure(leaked=[0]), "either epsilon or exp_epsilon is required"),
    (lambda: noiseless.junta_epsilon(2, 0), "tau_1 = 2; a probability from 0 to 1"),
    (lambda: noiseless.junta_epsilon(0, 0, p=1), "p = 1; probabilities strictly between 0 and 1"),
    (lambda: noiseless.junta_epsilon(0, 0, method="best"), "method = 'best'; 'printed' or 'sharp' is required"),
    (lambda: noiseless.junta_guarantee(0, delta=0), "delta = 0; a number strictly between 0 and 1"),
    (lambda: noiseless.posterior({}, {}), "prior is empty"),
    (lambda: noiseless.posterior(0.5, {2: 1}), "answer[2] is about a value without a prior"),
    (lambda: noiseless.posterior(1, {0: 1}), "has probability 0 under the prior"),
    (lambda: noiseless.posterior(0.5, 0.5), "answer = 0.5; a dict from the values"),
    (lambda: noiseless.posterior_from_noiseless(-1), "epsilon = -1; a number of at least 0"),
    (lambda: noiseless.noiseless_from_posterior(1, least_prior=0.6), "least_prior = 0.6"),
    (lambda: noiseless.statistical_from_noiseless(1, 0, least_prior=2), "least_prior = 2"),
    (lambda: noiseless.noiseless_from_statistical(1, 0.1), "target = None with delta = 0.1"),
    (lambda: noiseless.noiseless_from_statistical(1, 0.1, target=1), "target = 1; an ε' above epsilon = 1"),
    (lambda: noiseless.FiniteModel([FAIR], 3), "query = 3; a function of a tuple of values"),
    (lambda: noiseless.FiniteModel([], sum), "law = []; the law of at least one entry"),
    (lambda: noiseless.FiniteModel([FAIR] * 30, sum), "at most 1048576 are tried"),
    (lambda: noiseless.FiniteModel([{0: "1/3"}], sum), "law[0] sums to 1/3"),
    (lambda: noiseless.FiniteModel({(0,): 0.5, (0, 1): 0.5}, sum), "tuples of one length"),
    (lambda: noiseless.FiniteModel([FAIR], sum, leaked=[0]), "leaked has all 1 entries"),
    (lambda: noiseless.FiniteModel([FAIR], sum).delta(1, notion="DP"), "notion = 'DP'"),
    (lambda: noiseless.FiniteModel([FAIR] * 2, sum, leaked=[0]).curve(1), "the entries [0] have leaked"),
    (lambda: noiseless.FiniteModel([FAIR] * 2, sum).posterior(1, entry=2), "entry = 2; one of [0, 1] is required"),
    (lambda: noiseless.FiniteModel([dict.fromkeys(range(20), "1/20")], sum).delta(1), "the entries have 20 values"),
    (lambda: noiseless.linear_mu([[1, 2], [1]], entry=0, difference=1), "matrix has rows of 2 and of 1 coefficients"),
    (lambda: noiseless.linear_mu(3, entry=0, difference=1), "matrix = 3; a list of rows"),
    (lambda: noiseless.linear_mu([1, 2], entry=0, difference=1), "matrix[0] = 1; a row of coefficients"),
    (lambda: noiseless.linear_mu(np.ones(3), entry=0, difference=1), "matrix has the shape (3,)"),
    (lambda: noiseless.linear_mu([[1, math.nan]], entry=0, difference=1), "matrix[0][1] = nan is not finite"),
    (lambda: noiseless.linear_mu([[1.0, math.inf]], entry=0, difference=1), "matrix[0][1] = inf is not finite"),
    (lambda: noiseless.linear_mu([[1, 2]], entry=2, difference=1), "entry = 2; the entries are numbered 0 to 1"),
    (lambda: noiseless.linear_mu([[1, 2]], entry=0, difference=1, known=[0]), "entry = 0 is known"),
    (lambda: noiseless.linear_mu([[1, 2]], entry=0, difference=1, variances=[1, 0]), "variances[1] = 0"),
    (lambda: noiseless.linear_mu([[1, 2]], entry=0, difference=1, variances=[1]), "variances has 1 numbers"),
    (lambda: noiseless.LinearQueries([[1, 2]], known=[0, 1]).worst(difference=1), "known has all 2 entries"),
    (lambda: noiseless.LinearQueries([[1, 2]]).leakage(1), "known_fraction = 1"),
    (lambda: noiseless.random_function(10), "either advantage or failure is required"),
    (lambda: noiseless.random_function(10, advantage=0.5), "advantage = 0.5; an advantage t above 0 and below 1/2"),
    (lambda: noiseless.random_function(2, failure="1e-9"), "failure = 1e-9 of 2 entries"),
    (lambda: noiseless.random_function(10, failure=1), "failure = 1; a probability strictly between"),
    (lambda: noiseless.symmetric_guarantee(5, 1, p=1), "p = 1; a probability strictly between 0 and 1"),
    (lambda: noiseless.symmetric_guarantee(5, 1, p=0.5, known=5), "known = 5; at most 4 of 5 entries"),
    (lambda: noiseless.symmetric_guarantee(5, p=0.5), "either epsilon or exp_epsilon is required"),
    (lambda: noiseless.symmetric_guarantee(5, p=0.5, exp_epsilon="1/2"), "exp_epsilon = 1/2"),
    (lambda: noiseless.SubsetCounts([], p=0.5), "subsets is empty"),
    (lambda: noiseless.SubsetCounts([[0], []], p=0.5), "subsets[1] is empty"),
    (lambda: noiseless.SubsetCounts([3], p=0.5), "subsets[0] = 3; a set of entries is required"),
    (lambda: noiseless.SubsetCounts(3, p=0.5), "subsets = 3; a list of sets of entries"),
    (lambda: noiseless.density_sum_guarantee([1, 1], 5, 0, width=1, difference=0), "width · Σ density = 2"),
    (lambda: noiseless.density_sum_guarantee([1, -1], 5, 0, width=1, difference=0), "density has -1"),
    (lambda: noiseless.density_sum_guarantee([1], 5, 0, width=1, difference=2), "difference = 2"),
    (lambda: noiseless.density_sum_guarantee([1], 5, 0, width=1, difference=1, known=5), "known = 5; at most 4"),
    (lambda: noiseless.density_sum_guarantee(1, 5, 0, width=1, difference=1), "density = 1; a list of numbers"),
    (lambda: noiseless.SubsetCounts([[0]], p=0), "p = 0; a probability strictly between 0 and 1"),
    (lambda: noiseless.sum_curve({0: 1}, {"a": 2}), "the law of each group of ['a'] is required"),
    (lambda: noiseless.sum_curve({}, 3, function=abs), "law = {}; a dict from values to probabilities"),
    (lambda: noiseless.sum_curve(FAIR, 3, function=2), "function = 2; a function of a value"),
    (lambda: noiseless.compose_overlapping([], 1), "entries is empty"),
    (lambda: noiseless.compose_overlapping([[0], []], 1), "entries[1] is empty"),
    (lambda: noiseless.compose_overlapping([[0], [1]], [1]), "epsilon has 1 numbers for 2 queries"),
    (lambda: noiseless.compose_overlapping([[0]], -1), "epsilon[0] = -1"),
    (lambda: noiseless.compose_overlapping([[0], [0]], 1, leaked=0), "query 0 shares 1 entries with others"),
    (lambda: noiseless.Timeline().ask(1), "the database has no entries"),
    (lambda: noiseless.Timeline(3).count(), "p = None; counts of bits need Timeline(size, p=...)"),
    (lambda: noiseless.Timeline(3).replace([3]), "entries has 3, which is not present"),
    (lambda: noiseless.Timeline(3).replace_oldest(4), "count = 4; only 3 entries are present"),
    (lambda: noiseless.Timeline(3).ask(1, reads="old"), "reads = 'old'; 'all', 'new' or numbers"),
    (lambda: noiseless.Timeline(3).ask(1).ask(1, reads="new"), "no entry is new since the last query"),
    (lambda: noiseless.Timeline(3).ask(-1), "epsilon = -1"),
    (lambda: noiseless.Timeline(3).counts(), "no count was asked"),
    (lambda: noiseless.Timeline(3).composition(), "no query with a guarantee was asked"),
    (lambda: noiseless.Timeline(3, p=0.5).count().ask(1).counts(), "1 other queries were asked besides the counts"),
    (lambda: noiseless.Timeline(3, p=0.5).count().ask(1).composition(), "1 counts were asked besides"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_bad_input_is_refused_in_words(call, message):
    with pytest.raises(sp.ArgumentError, match=re.escape(message)):
        call()


def test_numbers_are_read_exactly():
    assert noiseless.boolean_ratio([0, 1, 1, 0], p="0.1") == noiseless.boolean_ratio([0, 1, 1, 0], p=Fraction(1, 10))
    assert noiseless.boolean_ratio([0, 1, 1, 0], p=0.1) == noiseless.boolean_ratio([0, 1, 1, 0], p=Fraction(0.1))
    table = np.array([0, 1, 1, 0], dtype=np.uint8)
    assert noiseless.boolean_ratio(table.astype(bool)) == noiseless.boolean_ratio(table) == 1


def test_results_explain_themselves():
    assert "3 entries of 3 so far" in repr(noiseless.Timeline(3))
    assert "each for itself" not in noiseless.compose_overlapping([[0, 1], [1, 2]], 1).explain()
    assert "Theorem 1" in noiseless.compose_overlapping([[0, 1], [1, 2]], 1).explain()
    assert "Theorems 12 and 13" in noiseless.compose_overlapping([[0], [1]], 1).explain()
    assert "count determined by the answers" in noiseless.SubsetCounts([[0], [0, 1]], p=0.5).explain()
    assert repr(noiseless.FiniteModel([FAIR] * 2, sum, leaked=[1])) == "<FiniteModel of 2 entries, 1 leaked>"
    assert repr(noiseless.LinearQueries([[1, 2]], known=[1])) == "<LinearQueries: 1 queries, 2 normal entries, 1 known>"
    assert repr(noiseless.BooleanFunction([0, 1])) == "<BooleanFunction of 1 bits>"
