"""`privacy_curve`, `compose` and their results: arguments, bounds, verdicts, explanations, values."""

import re
import sys
from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import mpmath
import numpy as np
import pytest

import statpriv as sp

HALF = sp.PropertyQuery("1/2")
SMOKERS, DRINKERS = (sp.PropertyQuery("1/2", attribute=name) for name in ("smoker", "drinker"))
RANGE = sp.PropertyQuery(sp.Between("0.4", "0.6"))
HUNDRED = sp.Population(100)
QUARTERS = sp.RandomPartition([25] * 4)

WHOLE = sp.privacy_curve(HALF, HUNDRED)
UNRELATED = sp.compose([SMOKERS, DRINKERS] * 2, HUNDRED, QUARTERS)


# --- arguments


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sp.privacy_curve(0.5, HUNDRED), r"query = 0\.5; a query such as sp\.PropertyQuery\(0\.5\)"),
        (lambda: sp.privacy_curve([HALF], HUNDRED), r"query = \[PropertyQuery.*\]; a query such as"),
        (
            lambda: sp.privacy_curve(HALF, 100),
            r"population = 100; a Population such as sp\.Population\(1024\) is required",
        ),
        (
            lambda: sp.privacy_curve(HALF, HUNDRED, adversary=3),
            r"adversary = 3; an Adversary such as sp\.Adversary\(known=",
        ),
        (
            lambda: sp.privacy_curve(HALF, HUNDRED, sampling=5),
            r"sampling = 5; a sampling such as sp\.Without",
        ),
        (
            lambda: sp.compose(HALF, HUNDRED, QUARTERS),
            r"queries = .*; a list of queries is required, one for each part",
        ),
        (
            lambda: sp.privacy_curve(HALF, HUNDRED).table(0.1),
            r"epsilons = 0\.1; a list of numbers, such as \[0, 0\.1, 1\], is required",
        ),
        (
            lambda: sp.privacy_curve(HALF, HUNDRED).sensitivity(epsilon=1, rows=3),
            r"rows = 3; a list of numbers of rows, such as \[2, 3\], is required",
        ),
        (
            lambda: sp.privacy_curve(HALF, HUNDRED).plot(ax=3),
            r"ax = 3; axes of matplotlib are required, or None for a new figure",
        ),
        (lambda: sp.compose(4, HUNDRED, QUARTERS), r"queries = 4; a list of queries is required"),
        (lambda: sp.compose([HALF, 0.5], HUNDRED, QUARTERS), r"queries\[1\] = 0\.5; a query such as sp\.PropertyQuery"),
        (lambda: sp.compose([HALF], 100, QUARTERS), r"population = 100; a Population such as"),
        (lambda: sp.compose([HALF], HUNDRED, [25]), r"partition = \[25\]; a partition such as sp\.RandomPartition"),
        (lambda: sp.compose([HALF] * 3, HUNDRED, QUARTERS), r"3 queries and 4 parts; one query a part is required"),
        (lambda: sp.compose([], HUNDRED, QUARTERS), r"0 queries and 4 parts; one query a part is required"),
        (
            lambda: sp.compose([HALF], HUNDRED, sp.RandomPartition([101])),
            r"the sample or parts have 101 entries together, the population only 100; take smaller parts, or fewer$",
        ),
        (
            lambda: sp.privacy_curve(HALF, HUNDRED, sampling=sp.WithoutReplacement(101)),
            r"101 entries.*population only 100",
        ),
        (
            lambda: sp.privacy_curve(HALF, HUNDRED, adversary=sp.Adversary(known=100)),
            r"known = 100; at most 99 of 100 entries can be known, the critical one is not",
        ),
        (
            lambda: sp.compose([SMOKERS, DRINKERS] * 2, HUNDRED, QUARTERS, pair=(1, 0)),
            r"pair = \(1, 0\) with unrelated properties; a pair for each of the 4 parts, such as worst_case_pairs",
        ),
        (
            lambda: sp.compose([SMOKERS, DRINKERS] * 2, HUNDRED, QUARTERS, pair=[(1, 0)] * 2 + [(0, 1)] * 2),
            r"pair names \(1, 0\) and \(0, 1\) for attribute = 'smoker'; the critical entry has one pair of values",
        ),
        (
            lambda: sp.compose([SMOKERS, sp.PropertyQuery("0.4", attribute="smoker")] * 2, HUNDRED, QUARTERS),
            r"attribute = 'smoker' is asked with two different p, 0.5 and '2/5'; one property has one probability",
        ),
    ],
)
def test_a_bad_argument_is_refused_by_name(call, message):
    with pytest.raises(sp.ArgumentError, match=message):
        call()


@pytest.mark.parametrize(
    "pair", [(1, 1), (0, 0), (2, 0), [1, 0], "10", 1, (1, 0, 0), (1.5, 0), np.array([1, 0])], ids=repr
)
def test_a_pair_is_two_values_of_a_property(pair):
    message = rf"^pair = {re.escape(repr(pair))}; \(1, 0\), \(0, 1\) or None is required for a property$"
    with pytest.raises(sp.ArgumentError, match=message):
        sp.privacy_curve(HALF, HUNDRED, pair=pair)


@pytest.mark.parametrize("pair", [(1.0, 0.0), (True, False)], ids=repr)
def test_what_equals_a_pair_is_one_or_is_refused(pair):
    try:
        curve = sp.privacy_curve(HALF, HUNDRED, pair=pair)
    except sp.ArgumentError as refused:
        assert "pair = " in str(refused)  # noqa: PT017  (either is fine; a bare TypeError is not)
        return
    assert curve.delta("0.1") == sp.privacy_curve(HALF, HUNDRED, pair=(1, 0)).delta("0.1")


@pytest.mark.parametrize("bound", ["Exact", "", "amplified", None, 3, ["exact"], np.zeros(2)])
def test_an_unknown_bound_is_refused_with_the_names(bound):
    message = (
        rf"^bound = {re.escape(repr(bound))}; one of 'tightest', 'exact', .*'spc', .*'partition-sum', .* is required$"
    )
    with pytest.raises(sp.ArgumentError, match=message) as refused:
        sp.privacy_curve(HALF, HUNDRED, bound=bound)
    assert "convex-order" not in str(refused.value), "of compositions alone"


@pytest.mark.parametrize(
    ("epsilon", "message"),
    [
        (-1, r"epsilon = -1; a number of at least 0 is required"),
        ("-0.1", r"epsilon = '?-0\.1'?; a number of at least 0"),
        (-5e-324, r"epsilon = -5e-324; a number of at least 0"),
        (nan, r"epsilon = nan is not finite"),
        (inf, r"epsilon = inf is not finite"),
        (None, r"epsilon = None is not a number"),
        (True, r"epsilon = True is a truth value"),
        ("small", r'epsilon: "small" is not a number'),
        (sp.Enclosure(0, 1), r"epsilon = Enclosure\(0\.0, 1\.0\) is not a number"),
    ],
)
def test_a_bad_epsilon_is_refused_by_name(epsilon, message):
    for evaluate in (WHOLE.delta, lambda value: WHOLE.satisfies(epsilon=value, delta=1)):
        with pytest.raises(sp.ArgumentError, match=message):
            evaluate(epsilon)


@pytest.mark.parametrize(
    ("delta", "message"),
    [
        (-1, r"delta = -1; a number of at least 0 is required"),
        (nan, r"delta = nan is not finite"),
        (False, r"delta = False is a truth value"),
        ("tiny", r'delta: "tiny" is not a number'),
    ],
)
def test_a_bad_delta_is_refused_by_name(delta, message):
    with pytest.raises(sp.ArgumentError, match=message):
        WHOLE.epsilon(delta)


@pytest.mark.parametrize("delta", [-0.1, 1.1, "2"])
def test_a_target_is_a_probability(delta):
    with pytest.raises(sp.ArgumentError, match=rf"^delta = {delta}; a number from 0 to 1 is required$"):
        WHOLE.satisfies(epsilon=1, delta=delta)


@pytest.mark.parametrize("several", [[0.1, 0.2], (0.1,), np.array([0.1]), np.array(0.1)])
def test_a_claim_is_about_one_pair_of_numbers(several):
    with pytest.raises(sp.ArgumentError, match=r"^epsilon = .*is not a number"):
        WHOLE.satisfies(epsilon=several, delta=0.1)
    with pytest.raises(sp.ArgumentError, match=r"^delta = .*is not a number"):
        WHOLE.satisfies(epsilon=0.1, delta=several)


@pytest.mark.parametrize("tenth", [Fraction(1, 10), "0.1", "1/10", Decimal("0.1"), " 1e-1 "])
def test_every_spelling_of_a_number_gives_the_same_curve(tenth):
    assert WHOLE.delta(tenth) == WHOLE.delta("0.1")
    assert WHOLE.epsilon(tenth) == WHOLE.epsilon("0.1")
    assert sp.privacy_curve(sp.PropertyQuery(tenth), HUNDRED) == sp.privacy_curve(sp.PropertyQuery("0.1"), HUNDRED)


@pytest.mark.parametrize("epsilon", [np.float64(0.1), np.float32(0.1), mpmath.mpf(0.1), Fraction(0.1)])
def test_every_float_is_the_rational_it_stores(epsilon):
    exact = Fraction(float(epsilon))
    assert WHOLE.delta(epsilon) == WHOLE.delta(exact)


def test_numpy_integers_are_numbers():
    assert WHOLE.delta(np.int64(1)) == WHOLE.delta(1)


# --- bounds


def test_kinds():
    assert WHOLE.kind == "exact"
    assert sp.privacy_curve(RANGE, HUNDRED).kind == "exact"
    assert sp.compose([SMOKERS] * 4, HUNDRED, QUARTERS).kind == "exact"
    assert sp.privacy_curve(HALF, HUNDRED, sampling=sp.WithoutReplacement(25)).kind == "exact"
    assert sp.privacy_curve(RANGE, HUNDRED, sampling=sp.WithoutReplacement(25)).kind == "bound"
    assert UNRELATED.kind == "exact"
    assert sp.compose([SMOKERS, DRINKERS] * 2, HUNDRED, QUARTERS, bound="partition-sum").kind == "bound"
    assert (
        sp.compose([SMOKERS] * 4, HUNDRED, QUARTERS, adversary=sp.Adversary(known=1), bound="threshold").kind == "bound"
    )
    different = [sp.PropertyQuery(Fraction(k, 30)) for k in range(1, 21)]
    assert sp.compose(different, HUNDRED, sp.RandomPartition([5] * 20)).kind == "enclosed", "a million patterns"


def test_equal_p_and_equal_names_make_no_common_property():
    """For one property all answers together are one count; unrelated properties have no such relation."""
    for unrelated in (HALF, sp.PropertyQuery("1/2", name="n")):
        curve = sp.compose([unrelated] * 4, HUNDRED, QUARTERS)
        assert curve.worst_case_pairs("0.1") in {((1, 0),) * 4, ((0, 1),) * 4}
        assert curve.explain().count("The worst of all combinations of values") == 1
    assert "post-processing of the total count" in sp.compose([SMOKERS] * 4, HUNDRED, QUARTERS).explain()


@pytest.mark.parametrize("bound", ["partition-sum", "total-count", "threshold"])
@pytest.mark.parametrize("epsilon", ["0", "0.05", "1"])
@pytest.mark.parametrize("known", [0, 10, 99])
def test_a_bound_is_above_the_exact_curve(bound, epsilon, known):
    adversary = sp.Adversary(known=known)
    exact = sp.compose([SMOKERS] * 4, HUNDRED, QUARTERS, adversary=adversary, bound="exact")
    bounding = sp.compose([SMOKERS] * 4, HUNDRED, QUARTERS, adversary=adversary, bound=bound)
    assert (exact.kind, bounding.kind) == ("exact", "bound")
    assert bounding.delta(epsilon).upper >= exact.delta(epsilon).lower


def test_the_tightest_bound_is_the_least_one_that_applies():
    options = {"sampling": sp.WithoutReplacement(50), "adversary": sp.Adversary(known=40)}
    tightest = sp.privacy_curve(RANGE, HUNDRED, **options)
    for epsilon in ("0", "0.1", "0.5", "2"):
        bounds = [sp.privacy_curve(RANGE, HUNDRED, bound=name, **options) for name in ("partition-sum", "total-count")]
        least = min(bound.delta(epsilon).upper for bound in bounds)
        assert tightest.delta(epsilon).upper == pytest.approx(least, rel=1e-12)


def test_the_partition_sum_weighs_the_parts_that_are_used():
    """Theorem 5.1 by hand: two parts of 30 and 20 among 100."""
    curve = sp.compose([SMOKERS, DRINKERS], HUNDRED, sp.RandomPartition([30, 20]), bound="partition-sum")
    by_hand = sum(Fraction(size, 100) * sp.privacy_curve(HALF, sp.Population(size)).delta("0.1") for size in (30, 20))
    assert curve.delta("0.1").lower <= by_hand.upper
    assert by_hand.lower <= curve.delta("0.1").upper


def test_spc_is_given_the_sample():
    sampled = sp.privacy_curve(HALF, HUNDRED, sampling=sp.WithoutReplacement(25), bound="spc")
    assert sampled.kind == "bound"
    assert sampled.delta("0.1") == sp.privacy_curve(HALF, sp.Population(25)).delta("0.1")


@pytest.mark.parametrize(
    ("curve", "reason", "alternatives"),
    [
        (
            lambda: sp.compose(
                [sp.PropertyQuery(Fraction(k, 30)) for k in range(1, 21)],
                HUNDRED,
                sp.RandomPartition([5] * 20),
                bound="exact",
            ),
            "the combinations of values of these attributes are too many",
            {"convex-order", "partition-sum", "threshold", "worst-entry"},
        ),
        (
            lambda: sp.compose([SMOKERS, DRINKERS] * 2, HUNDRED, QUARTERS, bound="total-count"),
            "the parts ask unrelated properties",
            {"exact", "partition-sum", "threshold", "worst-entry"},
        ),
        (
            lambda: sp.compose([SMOKERS] * 4, HUNDRED, QUARTERS, bound="spc"),
            "it is not for PropertyQuery with RandomPartition",
            {"exact", "total-count", "partition-sum", "threshold", "worst-entry"},
        ),
        (
            lambda: sp.privacy_curve(
                RANGE, HUNDRED, adversary=sp.Adversary(known=1), sampling=sp.WithoutReplacement(5), bound="exact"
            ),
            "entries of a hidden sample are known, .*; p is a range",
            {"total-count", "partition-sum", "threshold", "spc"},
        ),
        (
            lambda: sp.privacy_curve(RANGE, HUNDRED, sampling=sp.WithoutReplacement(5), bound="exact"),
            "p is a range",
            {"total-count", "partition-sum", "threshold", "spc", "amplification"},
        ),
    ],
)
def test_a_bound_that_does_not_apply_says_why_and_what_does(curve, reason, alternatives):
    with pytest.raises(sp.NotAvailableError, match=rf"^bound = '[a-z-]+' does not apply here: .*{reason}") as refused:
        curve()
    listed = str(refused.value).split("What applies: ")[1]
    assert set(re.findall(r"'([a-z-]+)'", listed)) == alternatives


# --- verdicts


def test_an_exact_curve_is_proved_or_refuted():
    delta = WHOLE.delta("0.1")
    assert WHOLE.satisfies(epsilon="0.1", delta=delta.upper) is True
    assert WHOLE.satisfies(epsilon="0.1", delta=Fraction(delta.lower) * Fraction(999, 1000)) is False
    assert WHOLE.satisfies(epsilon=0, delta=1) is True
    assert WHOLE.satisfies(epsilon=100, delta=0) is False, "no epsilon makes delta 0"


def test_a_tie_is_decided_where_the_kernel_is_exact():
    three = sp.privacy_curve(HALF, sp.Population(3))
    assert three.satisfies(epsilon=0, delta="1/2") is True
    assert three.satisfies(epsilon=0, delta=Fraction(1, 2) - Fraction(1, 10**100)) is False


def test_what_the_enclosure_leaves_open_is_decided_with_more_digits():
    delta = WHOLE.delta("0.1")
    inside = (Fraction(delta.lower) + Fraction(delta.upper)) / 2
    assert delta.width > 0
    assert WHOLE.satisfies(epsilon="0.1", delta=inside) is (WHOLE.delta("0.1", digits=40) <= inside)


def mpmath_fraction(x):
    """The value of an mpf as a dyadic rational."""
    sign, mantissa, exponent, _ = x._mpf_
    return (-1) ** sign * int(mantissa) * Fraction(2) ** exponent


def test_what_no_digits_decide_is_undecided():
    value = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(64)).delta("0.1", digits=200)
    inside = (Fraction(mpmath_fraction(value.lower)) + Fraction(mpmath_fraction(value.upper))) / 2
    with pytest.raises(sp.UndecidedError, match=r"^delta\(0\.1\) = \[.*\] against delta = .*more than 100 digits"):
        sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(64)).satisfies(epsilon="0.1", delta=inside)


def test_digits_that_are_refused_are_not_asked_for_again(monkeypatch):
    curve, asked = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(64)), []
    known = curve.delta("0.1")

    def delta(_, epsilon, *, digits=None):
        asked.append(digits)
        if digits is not None:
            raise sp.PrecisionError(f"{digits} digits take too long")
        return known

    monkeypatch.setattr(sp.PrivacyCurve, "delta", delta)
    with pytest.raises(sp.UndecidedError, match="30 digits take too long"):
        curve.satisfies(epsilon="0.1", delta=(Fraction(known.lower) + Fraction(known.upper)) / 2)
    assert asked == [None, 30]


def test_a_bound_refutes_nothing():
    bound = sp.compose([SMOKERS, DRINKERS] * 2, HUNDRED, QUARTERS, bound="partition-sum")
    assert bound.satisfies(epsilon="0.1", delta=bound.delta("0.1").upper) is True
    with pytest.raises(sp.UndecidedError, match="the bound exceeds it, which refutes nothing"):
        bound.satisfies(epsilon="0.1", delta="0.001")


@pytest.mark.campaign  # alone it notices a wrong verdict next to an end
def test_what_is_enclosed_is_proved_above_refuted_below_and_undecided_between():
    different = [sp.PropertyQuery(Fraction(k, 30)) for k in range(1, 21)]
    curve = sp.compose(different, HUNDRED, sp.RandomPartition([5] * 20))
    found = curve.delta("0.1")
    assert 0 < found.lower < found.upper < 1.4 * found.lower
    assert curve.satisfies(epsilon="0.1", delta=found.upper) is True
    assert curve.satisfies(epsilon="0.1", delta=found.lower / 2) is False
    with pytest.raises(sp.UndecidedError, match="between what is attained and what is proved"):
        curve.satisfies(epsilon="0.1", delta=(found.lower + found.upper) / 2)
    epsilon = curve.epsilon(found.upper)
    assert epsilon.lower <= 0.1 <= epsilon.upper * (1 + 1e-4)
    assert curve.delta(epsilon.upper).upper <= found.upper
    assert (
        found.upper
        <= sp.compose(different, HUNDRED, sp.RandomPartition([5] * 20), bound="partition-sum").delta("0.1").upper
    )


# --- the curve at its edges


def test_one_entry_has_no_privacy():
    for p in (0, "1e-300", "1/3", "1/2", "3/4", 1):
        alone = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(1))
        assert (
            alone.delta(0)
            == alone.delta("1/8")
            == alone.delta(2)
            == alone.delta(1000)
            == alone.infinity_mass()
            == sp.Enclosure(1)
        )
        assert alone.epsilon("0.99") == sp.Enclosure(inf)
        assert alone.epsilon(1) == sp.Enclosure(0)


def test_a_value_that_never_occurs_has_no_privacy():
    for p in (0, 1, sp.Between(0, "1/2"), sp.Between("1/2", 1)):
        assert sp.privacy_curve(sp.PropertyQuery(p), HUNDRED).delta(10) == sp.Enclosure(1)


@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)])
@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(3, 2), Fraction(50)])
def test_two_entries_by_hand(p, ratio):
    """Answers 1, 2 with probabilities q, p against 0, 1 with q, p."""
    q = 1 - p
    with mpmath.workdps(60):
        log = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
    two = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(2), pair=(1, 0)).delta(log)
    exact = p + max(Fraction(0), q - ratio * p)
    assert abs(Fraction(two.lower) - exact) < Fraction(1, 10**15)
    assert abs(Fraction(two.upper) - exact) < Fraction(1, 10**15)


@pytest.mark.parametrize("n", [2**53, 2**53 - 1])
@pytest.mark.parametrize("epsilon", ["0", "1e-9", "2e-8", "1e-7", "0.005", "700", "1e9"])
def test_the_largest_population_is_answered_rightly_or_not_at_all(n, epsilon):
    try:
        delta = sp.privacy_curve(HALF, sp.Population(n)).delta(epsilon)
    except sp.PrecisionError as refused:
        assert f"n = {n}" in str(refused)  # noqa: PT017  (a right answer is as good as a refusal)
        return
    with mpmath.workdps(40):
        x, mu = mpmath.mpf(epsilon), 2 / mpmath.sqrt(n)
        normal = (
            mpmath.ncdf(mu / 2 - x / mu) - mpmath.exp(x) * mpmath.ncdf(-mu / 2 - x / mu) if x < 1 else mpmath.mpf(0)
        )
        assert delta.lower <= normal * (1 + mpmath.mpf("1e-5")) + mpmath.mpf("1e-300")
        assert delta.upper >= normal * (1 - mpmath.mpf("1e-5"))


def test_all_others_known_leaves_nothing_hidden():
    assert sp.privacy_curve(HALF, sp.Population(2**53), adversary=sp.Adversary(known=2**53 - 1)).delta(
        5
    ) == sp.Enclosure(1)


@pytest.mark.parametrize("size", [10, 1000, 3000, 10**6])
def test_no_epsilon_reaches_delta_zero(size):
    assert sp.privacy_curve(HALF, sp.Population(size)).epsilon(0) == sp.Enclosure(inf)


def test_equal_parts_are_evaluated_once(monkeypatch):
    """A hundred thousand equal parts cost as much as one part."""
    partition_sum = sys.modules["statpriv.rules.partition_sum"]
    lowered = []

    def counted(query, population, situation):
        lowered.append(population.size)
        return original(query, population, situation)

    original = partition_sum._of_part
    monkeypatch.setattr(partition_sum, "_of_part", counted)
    m = 10**5
    curve = sp.compose([HALF] * m, sp.Population(11 * m), sp.RandomPartition([10] * m), bound="partition-sum")
    assert lowered == [10]
    one = Fraction(10, 11) * sp.privacy_curve(HALF, sp.Population(10)).delta("0.1")
    assert abs(curve.delta("0.1").upper - one.upper) < 1e-15


# --- explanations


def test_an_explanation_has_everything_a_reviewer_asks_for():
    text = WHOLE.explain()
    assert text.startswith("An exact privacy curve.\n")
    for heading in ("\nSituation\n", "\nTheorem\n", "\nAssumptions\n", "\nNot covered\n"):
        assert heading in text
    for content in (
        WHOLE.theorem,
        WHOLE.source,
        *WHOLE.assumptions,
        "PropertyQuery(0.5)",
        "Population(size=100)",
        "membership",
    ):
        assert content in text


def test_an_explanation_describes_the_situation():
    curve = sp.compose(
        [SMOKERS] * 4, HUNDRED, QUARTERS, adversary=sp.Adversary(known=7), pair=(0, 1), bound="partition-sum"
    )
    text = curve.explain()
    assert text.startswith("A certified upper bound of the privacy curve.\n")
    for content in ("attribute='smoker'", "RandomPartition([25] * 4)", "knows 7 entries", "(0, 1)", "Theorem 5.2"):
        assert content in text


def test_an_explanation_of_several_bounds_names_them_all():
    curve = sp.privacy_curve(RANGE, HUNDRED, sampling=sp.WithoutReplacement(25), adversary=sp.Adversary(known=5))
    text = curve.explain()
    assert "The smaller of these bounds, at every ε." in text
    assert "post-processing of the counts of all entries" in text
    assert "Theorem 5.2" in text
    assert curve.theorem.startswith("The smaller of 2 bounds, at every ε. ")
    assert curve.theorem.count(" And: ") == 1


def test_many_different_queries_are_counted_not_listed():
    queries = [sp.PropertyQuery("1/2", attribute=str(k)) for k in range(20)]
    text = sp.compose(queries, HUNDRED, sp.RandomPartition([5] * 20)).explain()
    assert "20 different queries" in text


# --- value semantics


def test_curves_of_one_situation_are_equal(copies):
    same = sp.privacy_curve(sp.PropertyQuery(0.5), sp.Population(100), adversary=sp.Adversary(known=0))
    assert same == WHOLE
    assert hash(same) == hash(WHOLE)
    for copied in copies(UNRELATED):
        assert copied == UNRELATED
        assert hash(copied) == hash(UNRELATED)
        assert copied.delta("0.1") == UNRELATED.delta("0.1")


@pytest.mark.parametrize(
    "other",
    [
        sp.privacy_curve(HALF, sp.Population(101)),
        sp.privacy_curve(HALF, HUNDRED, adversary=sp.Adversary(known=1)),
        sp.privacy_curve(HALF, HUNDRED, pair=(1, 0)),
        sp.privacy_curve(HALF, HUNDRED, bound="partition-sum"),
        sp.privacy_curve(HALF, HUNDRED, sampling=sp.WithoutReplacement(99)),
        sp.privacy_curve(SMOKERS, HUNDRED),
        "curve",
    ],
)
def test_curves_of_different_situations_differ(other):
    assert other != WHOLE


def test_curves_say_what_they_are():
    assert repr(WHOLE) == "<PrivacyCurve, exact: PropertyQuery(0.5) on Population(size=100)>"
    known = sp.compose([SMOKERS] * 4, sp.Population(200), QUARTERS, adversary=sp.Adversary(known=7))
    assert repr(known) == "<PrivacyCurve, bound: 4 queries on 100 of 200 entries, 7 known>"
    assert WHOLE.situation.population == HUNDRED


def test_a_gate_protects_from_a_wrong_probability_and_says_so():
    smokers = sp.PropertyQuery(sp.Between("0.4", "0.6"), attribute="smoker")
    trusted, gated = (sp.privacy_curve(query, sp.Population(100)) for query in (smokers, smokers.gated(20, 80)))
    wrong = {text for text in trusted.not_protected if text not in gated.not_protected}
    assert [text.partition(":")[0] for text in wrong] == ["a wrong probability"]
    assert "a wrong probability" in trusted.explain()
    assert "a wrong probability" not in gated.explain()
    stated = sp.privacy_curve(sp.PropertyQuery("1/2").gated(20, 80), sp.Population(100))
    assert stated.not_protected == trusted.not_protected
    together = sp.compose(
        [smokers.gated(10, 40), sp.PropertyQuery("0.5")], sp.Population(100), sp.RandomPartition([50, 50])
    )
    assert together.not_protected == trusted.not_protected
