"""Noiseless privacy of Boolean functions and finite models, against the definitions taken literally."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

import statpriv as sp
from statpriv import noiseless

FAIR = Fraction(1, 2)


def databases(laws):
    for bits in product((0, 1), repeat=len(laws)):
        yield bits, math.prod(p if bit else 1 - p for p, bit in zip(laws, bits, strict=True))


def independent(n, p):
    return dict(databases([Fraction(one) for one in p] if isinstance(p, list) else [Fraction(p)] * n))


def conditional(law, event, given):
    below = sum(mass for bits, mass in law.items() if given(bits))
    return sum(mass for bits, mass in law.items() if given(bits) and event(bits)) / below


def literal_ratios(table, law, n, known=()):
    """e^ε of Definition 2 and of Definition 3: over entries, pairs of values, answers and leaked values."""
    answer = dict(zip(product((0, 1), repeat=n), table, strict=True))
    noiseless_ratio = posterior_ratio = Fraction(1)
    for values in product((0, 1), repeat=len(known)):

        def seen(bits, values=values):
            return all(bits[j] == value for j, value in zip(known, values, strict=True))

        possible = [bits for bits, mass in law.items() if mass and seen(bits)]
        for entry in set(range(n)) - set(known):
            for y in {answer[bits] for bits in possible}:
                given = {
                    v: conditional(
                        law,
                        lambda bits, y=y: answer[bits] == y,
                        lambda bits, v=v, entry=entry: seen(bits) and bits[entry] == v,
                    )
                    for v in {bits[entry] for bits in possible}
                }
                overall = conditional(law, lambda bits, y=y: answer[bits] == y, seen)
                for a in given.values():
                    posterior_ratio = max(posterior_ratio, a / overall, overall / a if a else math.inf)
                    for b in given.values():
                        if a or b:
                            noiseless_ratio = max(noiseless_ratio, a / b if b else math.inf)
    return noiseless_ratio, posterior_ratio


@pytest.mark.parametrize("p", ["1/2", "1/3", ["1/3", "1/2", "9/10"]], ids=str)
def test_every_function_of_three_bits_has_the_ratios_of_the_definitions(p):
    law = independent(3, p)
    for table in product((0, 1), repeat=8):
        function = noiseless.BooleanFunction(table, p=p)
        assert (function.ratio(), function.posterior_ratio()) == literal_ratios(table, law, 3)


@pytest.mark.parametrize("known", [(0,), (2,), (1, 3), (0, 1, 2)])
def test_leaked_entries_count_at_their_worst_values(known):
    source = np.random.default_rng(5)
    p = ["1/3", "1/2", "2/5", "3/4"]
    for _ in range(12):
        table = [int(source.integers(2)) for _ in range(16)]
        function = noiseless.BooleanFunction(table, p=p)
        found = function.ratio(leaked=known), function.posterior_ratio(leaked=known)
        assert found == literal_ratios(table, independent(4, p), 4, known)


def test_joint_laws_also_with_databases_that_are_impossible():
    source = np.random.default_rng(6)
    for _ in range(20):
        weights = [int(source.choice([0, 0, 1, 2, 3])) for _ in range(8)]
        if len({bits[0] for bits, w in zip(product((0, 1), repeat=3), weights, strict=True) if w}) < 1:
            continue
        law = {bits: Fraction(w, sum(weights)) for bits, w in zip(product((0, 1), repeat=3), weights, strict=True)}
        table = [int(source.integers(2)) for _ in range(8)]
        expected = literal_ratios(table, law, 3)
        for given in (law, list(law.values())):
            function = noiseless.BooleanFunction(table, law=given)
            assert (function.ratio(), function.posterior_ratio()) == expected
        leaked = noiseless.BooleanFunction(table, law=law)
        assert (leaked.ratio(leaked=[1]), leaked.posterior_ratio(leaked=[1])) == literal_ratios(table, law, 3, (1,))


def test_a_joint_law_in_doubles_is_that_of_the_rationals_they_store():
    source = np.random.default_rng(7)
    weights = [source.random() for _ in range(8)]
    doubles = [w / sum(weights) for w in weights]
    exact = [Fraction(w) for w in doubles]
    rationals = [w / sum(exact) for w in exact]
    table = [0, 1, 1, 0, 1, 0, 0, 0]
    assert (
        noiseless.BooleanFunction(table, law=doubles).ratio() == noiseless.BooleanFunction(table, law=rationals).ratio()
    )


@pytest.mark.parametrize("p", ["1/2", "2/7"])
@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_the_distance_to_juntas_is_the_largest_over_all_of_them(p, size):
    source = np.random.default_rng(8)
    law = independent(3, p)
    for _ in range(8):
        table = [int(source.integers(2)) for _ in range(8)]
        answer = dict(zip(law, table, strict=True))
        best = Fraction(0)
        for chosen in combinations(range(3), size):
            for values in product((0, 1), repeat=2**size):
                junta = dict(zip(product((0, 1), repeat=size), values, strict=True))
                agree = sum(mass for bits, mass in law.items() if junta[tuple(bits[j] for j in chosen)] == answer[bits])
                best = max(best, abs(2 * agree - 1))
        assert noiseless.BooleanFunction(table, p=p).junta_distance(size) == best


def test_theorems_2_and_3_bound_the_exact_epsilon_and_the_sharper_form_lies_between():
    attained = 0
    for p in ("1/2", "2/5", ["1/2", "3/5", "2/5"]):
        for table in product((0, 1), repeat=8):
            function = noiseless.BooleanFunction(table, p=p)
            exact, sharp, printed = function.epsilon(), function.theorem_3(method="sharp"), function.theorem_3()
            assert exact.lower <= sharp.upper
            assert sharp.lower <= printed.upper
            attained += math.isfinite(exact.upper) and exact.upper > 0 and abs(exact.upper - sharp.upper) < 1e-12
    assert attained > 20


def test_theorem_3_holds_for_correlated_bits():
    source = np.random.default_rng(9)
    finite = 0
    for _ in range(150):
        weights = [int(source.integers(1, 5)) for _ in range(8)]
        law = [Fraction(w, sum(weights)) for w in weights]
        function = noiseless.BooleanFunction([int(source.integers(2)) for _ in range(8)], law=law)
        for method in ("printed", "sharp"):
            bound = function.theorem_3(method=method)
            assert function.epsilon().lower <= bound.upper
            finite += math.isfinite(bound.upper)
    assert finite > 20


@pytest.mark.parametrize("leaked", [0, 1, 2])
def test_theorem_4_fails_for_leaked_values_of_probability_at_most_2_delta(leaked):
    source = np.random.default_rng(10)
    for n, p in ((6, "1/2"), (6, "2/5")):
        table = [int(source.integers(2)) for _ in range(2**n)]
        function = noiseless.BooleanFunction(table, p=p)
        for delta in ("0.3", "0.6", "0.9"):
            for method in ("printed", "sharp"):
                found = function.theorem_4(leaked, delta=delta, method=method)
                if math.isinf(found.epsilon.upper):
                    continue
                for known in combinations(range(n), leaked):
                    assert function.failure(found.epsilon.upper, leaked=known) <= 2 * Fraction(delta)


def test_corollary_1_is_m_times_theorem_4():
    one = noiseless.junta_guarantee("0.01", delta="0.1", p="0.4", method="printed")
    five = noiseless.junta_guarantee("0.01", delta="0.1", p="0.4", method="printed", queries=5)
    assert five.epsilon.lower <= 5 * one.epsilon.upper
    assert five.epsilon.upper >= 5 * one.epsilon.lower
    assert Fraction(1) in five.delta
    exact = math.log((1 + 0.1 / 0.6) / (1 - 0.1 / 0.4))
    assert one.epsilon.upper == pytest.approx(exact, rel=1e-12)


# --- the paper's examples, and its mistakes


def test_misprint_lemma_1_has_its_factors_the_wrong_way_round():
    """Majority of three fair bits: ANP ln 2 and NP ln 3. So ε-ANP does not imply ε-NP."""
    majority = noiseless.BooleanFunction([0, 0, 0, 1, 0, 1, 1, 1])
    assert (majority.ratio(), majority.posterior_ratio()) == (3, 2)
    for table in product((0, 1), repeat=8):
        function = noiseless.BooleanFunction(table, p="1/3")
        np, anp = function.ratio(), function.posterior_ratio()
        assert anp <= np <= anp**2


def test_the_sharper_conversions_hold_and_are_attained():
    for p, least in (("1/2", FAIR), ("1/3", Fraction(1, 3))):
        for table in product((0, 1), repeat=8):
            function = noiseless.BooleanFunction(table, p=p)
            np, anp = function.ratio(), function.posterior_ratio()
            if np == math.inf:
                continue
            assert anp <= least + (1 - least) * np
            assert np <= 1 + (anp - 1) / least
            found = noiseless.posterior_from_noiseless(function.epsilon().upper, least_prior=least)
            assert found.epsilon.upper >= function.posterior_epsilon().lower
            back = noiseless.noiseless_from_posterior(function.posterior_epsilon().upper, least_prior=least)
            assert back.epsilon.upper >= function.epsilon().lower
    tight = noiseless.noiseless_from_posterior(math.log(2), least_prior=FAIR)
    assert tight.epsilon.upper == pytest.approx(math.log(3), rel=1e-14)


@pytest.mark.parametrize("n", [2, 3, 6])
def test_misprint_the_distance_of_and_is_two_to_the_one_minus_n(n):
    """The text has `1 − 1/(2^n − 1)`-far; |2 P[AND = 0] − 1| = 1 − 2^{1−n}, so that it is 2^{1−n}-far."""
    conjunction = noiseless.BooleanFunction([0] * (2**n - 1) + [1])
    assert 1 - conjunction.junta_distance(0) == Fraction(2, 2**n)
    assert conjunction.epsilon().upper == math.inf


@pytest.mark.parametrize("n", [2, 3, 4])
def test_misprint_and_is_not_private_at_epsilon_0_with_delta_two_to_the_minus_n(n):
    """Without the answer 1 there is still P[AND = 0 | t = 1] = 1 − 2^{1−n} against 1."""
    conjunction = noiseless.FiniteModel([{0: "1/2", 1: "1/2"}] * n, all)
    assert conjunction.delta(0) == FAIR
    needed = 1 / (1 - Fraction(2, 2**n))
    assert conjunction.delta(exp_epsilon=needed) == Fraction(1, 2**n)
    assert conjunction.delta(exp_epsilon=needed - Fraction(1, 10**9)) > Fraction(1, 2**n)


def test_parity_is_private_for_fair_bits_only():
    parity = [sum(bits) % 2 for bits in product((0, 1), repeat=4)]
    assert noiseless.boolean_ratio(parity) == 1
    assert noiseless.boolean_ratio(parity, p="1/3") == Fraction(28, 26)
    assert noiseless.BooleanFunction(parity).junta_distance(3) == 0
    assert noiseless.BooleanFunction(parity).junta_distance(4) == 1


def test_a_k_junta_is_at_distance_0_from_k_juntas():
    first_two = [bits[0] & bits[1] for bits in product((0, 1), repeat=4)]
    assert noiseless.BooleanFunction(first_two).junta_distance(2) == 1


def test_theorem_14_random_functions_are_as_private_as_stated():
    source = np.random.default_rng(11)
    n = 10
    found = noiseless.random_function(n, failure="0.01")
    assert found.failure.upper <= 0.0100001
    failures = sum(
        noiseless.boolean_epsilon([int(source.integers(2)) for _ in range(2**n)]).upper > found.epsilon.upper
        for _ in range(100)
    )
    assert failures <= 8  # the mean is at most one
    fourier = noiseless.random_function(n, advantage="0.1")
    assert fourier.epsilon.upper == pytest.approx(-math.log(0.8), rel=1e-14)
    assert fourier.failure.upper == pytest.approx(min(1, 22 * math.exp(-0.01 * 512)), rel=1e-12)


def test_misprint_theorem_14_four_epsilon_only_for_small_epsilon():
    assert noiseless.random_function(40, advantage="0.398").epsilon.upper <= 4 * 0.398
    assert noiseless.random_function(40, advantage="0.399").epsilon.lower > 4 * 0.399


def test_theorem_14_the_bound_covers_every_function_with_such_coefficients():
    """−ln(1−2t) with t the largest of |f^(∅)|, |f^({i})|, for all functions of three bits."""
    for table in product((0, 1), repeat=8):
        signs = dict(zip(product((0, 1), repeat=3), (2 * y - 1 for y in table), strict=True))
        coefficients = [Fraction(sum(signs.values()), 8)]
        coefficients += [Fraction(sum(s * (1 - 2 * bits[i]) for bits, s in signs.items()), 8) for i in range(3)]
        t = max(map(abs, coefficients))
        if t < FAIR:
            assert noiseless.boolean_ratio(table) <= 1 / (1 - 2 * t)


# --- any finite model


def literal_delta(law, query, x):
    """The least δ of Definition 4: all sets of answers, all sets of values."""
    answers, values = {query(d) for d in law}, {v for d in law for v in d}
    n = len(next(iter(law)))
    best = Fraction(1)
    for s1 in (set(c) for k in range(len(answers) + 1) for c in combinations(answers, k)):
        for s2 in (set(c) for k in range(len(values) + 1) for c in combinations(values, k)):
            fine = True
            for entry in range(n):
                for a in answers - s1:
                    given = [
                        conditional(law, lambda d, a=a: query(d) == a, lambda d, v=v, entry=entry: d[entry] == v)
                        for v in values - s2
                        if any(d[entry] == v for d in law)
                    ]
                    fine &= not given or max(given) <= x * min(given)
            if fine:
                cost = sum(mass for d, mass in law.items() if query(d) in s1)
                cost += max(sum(mass for d, mass in law.items() if d[j] in s2) for j in range(n))
                best = min(best, cost)
    return best


@pytest.mark.parametrize("x", ["1", "3/2", "3"])
def test_definition_4_against_all_pairs_of_excepted_sets(x):
    entry = {"a": Fraction(1, 2), "b": Fraction(3, 8), "c": Fraction(1, 8)}
    law = {(u, v): entry[u] * entry[v] for u, v in product(entry, repeat=2)}
    for query in (lambda d: d.count("a"), lambda d: "c" in d, max):
        model = noiseless.FiniteModel([entry] * 2, query)
        assert model.delta(exp_epsilon=x) == literal_delta(law, query, Fraction(x))
        joint = noiseless.FiniteModel(law, query)
        assert joint.exceptions(exp_epsilon=x) == model.exceptions(exp_epsilon=x)


def test_finite_models_agree_with_truth_tables():
    source = np.random.default_rng(12)
    for known in ((), (1,)):
        for _ in range(10):
            table = [int(source.integers(2)) for _ in range(8)]
            answer = dict(zip(product((0, 1), repeat=3), table, strict=True))
            model = noiseless.FiniteModel([{0: "2/3", 1: "1/3"}] * 3, answer.__getitem__, leaked=known)
            function = noiseless.BooleanFunction(table, p="1/3")
            assert model.ratio() == function.ratio(leaked=known)
            assert model.posterior_ratio() == function.posterior_ratio(leaked=known)


def test_noiseless_to_statistical_privacy_and_back():
    """(ε, δ)-NP gives (ε, δ/q)-SP of the values left, and (ε, δ)-SP gives NP a little higher up."""
    law = {0: Fraction(2, 3), 1: Fraction(1, 3)}
    for n in (3, 5):
        model = noiseless.FiniteModel([law] * n, sum)
        curve = model.curve(0)
        for x in (Fraction(3, 2), Fraction(2), Fraction(4)):
            found = model.exceptions(exp_epsilon=x)
            if not found.values:
                assert curve.exact_delta(exp_epsilon=x) <= found.delta / Fraction(1, 3)
            epsilon = Fraction(math.log(x))
            raised = noiseless.noiseless_from_statistical(epsilon, curve.delta(epsilon).upper, target=epsilon + 1)
            assert model.delta(epsilon + 1) <= raised.delta.upper


def test_posteriors_of_a_model_are_those_of_bayes():
    model = noiseless.FiniteModel([{0: "1/2", 1: "1/2"}] * 3, lambda d: sum(d) >= 2)
    after = model.posterior(answer=True, entry=0)
    assert after.law == {0: Fraction(1, 4), 1: Fraction(3, 4)}
    assert max(model.posterior(y, entry=0).worst_ratio for y in (True, False)) == model.posterior_ratio()
    assert sp.noiseless.posterior("1/2", {1: "3/4", 0: "1/4"}).law == after.law
