"""Bounds of a composition where it has no exact form: known entries, and probabilities known to a range.

Each is compared with the definitions in exact rationals: entries are vectors of independent bits, one for each
unrelated attribute, and every database and every partition is gone through. Larger ones are compared with each other
and with exact compositions, which share neither their envelopes nor their numbers of unknown entries.
"""

import math
import pickle
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv.rules import known_in_parts

from ..cases import cases
from .test_composition import NAMES, Composed, cheap, sizes_within

settings.register_profile("bounds", deadline=None, max_examples=cases(6, campaign=250))
BOUNDS = settings.get_profile("bounds")

EPSILONS = tuple(map(Fraction, ("0", "1/7", "1/2", "3/2", "4")))
INSIDE = st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20)


def not_below(epsilon: Fraction) -> Fraction:
    """A rational that is e^ε or less than 10⁻⁵⁰ more: there δ is not larger than at e^ε."""
    with localcontext() as context:
        context.prec = 60
        power = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
        return Fraction(power.quantize(Decimal(10) ** -52, rounding=ROUND_CEILING)) + Fraction(1, 10**52)


POINTS = {epsilon: not_below(epsilon) if epsilon else Fraction(1) for epsilon in EPSILONS}


def upper(curve: sp.PrivacyCurve, epsilon: object) -> float:
    return curve.delta(epsilon).upper


@st.composite
def tables(draw, probabilities, *, known=True):
    """Numbers of entries, parts, their attributes and the laws of these; some entries may be unused, some known."""
    parts = draw(st.integers(1, 3))
    n = draw(st.integers(max(parts, 2), 5))
    of = [draw(st.sampled_from(NAMES[: k + 1])) for k in range(parts)]
    law = {name: draw(probabilities) for name in NAMES}
    sizes = draw(sizes_within(n, parts))
    adversary = sp.Adversary(known=draw(st.integers(0, n - 1)) if known else 0)
    return [(law[name], name) for name in of], sp.Population(n), sp.RandomPartition(sizes), adversary


def composed(asked, *others) -> Composed:
    return Composed([sp.PropertyQuery(p, attribute=name) for p, name in asked], *others)


def bounds_of(composition: Composed, names: tuple[str, ...]) -> dict[str, sp.PrivacyCurve]:
    return {name: composition.curve(bound=name) for name in names}


@settings(BOUNDS)
@given(tables(INSIDE))
def test_known_entries_are_bounded_wherever_they_fell(table):
    composition = composed(*table)
    assume(cheap(composition))
    truth = composition.truth()
    revealing = ("revealed",) if composition.adversary.total else ()
    for name, curve in bounds_of(composition, ("worst-entry", *revealing, "tightest")).items():
        for epsilon, x in POINTS.items():
            found = curve.delta(epsilon)
            assert Fraction(found.upper) >= truth(x), (name, epsilon)
            assert found.upper <= 1


@st.composite
def ranges(draw):
    return sorted(draw(st.lists(INSIDE, min_size=2, max_size=2, unique=True)))


@settings(BOUNDS)
@given(tables(ranges()), st.fractions(0, 1, max_denominator=9))
def test_a_range_is_bounded_at_all_of_its_points(table, place):
    asked, *others = table
    claimed = composed([(sp.Between(*law), name) for law, name in asked], *others)
    assume(cheap(composed([(lower, name) for (lower, _), name in asked], *others)))
    revealing = "revealed" if claimed.adversary.total else "convex-order"
    curves = bounds_of(claimed, (revealing, "worst-entry", "tightest"))
    bounds = {(name, epsilon): upper(curve, epsilon) for name, curve in curves.items() for epsilon in POINTS}
    for position in {Fraction(0), Fraction(1), Fraction(1, 2), place}:
        points = [(low + (high - low) * position, name) for (low, high), name in asked]
        truth = composed(points, *others).truth()
        for (name, epsilon), bound in bounds.items():
            assert Fraction(bound) >= truth(POINTS[epsilon]), (name, position, epsilon)


@settings(BOUNDS)
@given(tables(INSIDE))
def test_who_knows_entries_is_bounded_by_more(table):
    """The bound grows with the number of known entries, from no less than δ without them."""
    asked, population, partition, _ = table
    queries = [sp.PropertyQuery(p, attribute=name) for p, name in asked]

    def at(known: int, bound: str) -> list[float]:
        adversary = sp.Adversary(known=known)
        curve = sp.compose(queries, population, partition, adversary=adversary, bound=bound)
        return [upper(curve, epsilon) for epsilon in EPSILONS]

    nobody = at(0, "exact")
    for bound in ("revealed", "worst-entry"):
        known = [at(known, bound) for known in range(1, population.size)]
        for fewer, more in pairwise([nobody, *known]):
            assert all(a <= b * (1 + 1e-6) + 1e-12 for a, b in zip(fewer, more, strict=True)), bound


@settings(BOUNDS)
@given(st.integers(1, 60), st.integers(0, 59), st.integers(1, 5), st.data())
def test_of_even_odds_entry_by_entry_is_a_count_of_the_unknown_entries(n, known, parts, data):
    assume(known < n and parts <= n)
    queries = [sp.PropertyQuery("1/2")] * parts
    partition = sp.RandomPartition([data.draw(st.integers(1, n // parts)) for _ in queries])
    all_used = sum(partition.sizes) == n
    claimed = sp.compose(queries, sp.Population(n), partition, adversary=sp.Adversary(known=known), bound="worst-entry")
    count = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(n - known))
    for epsilon in EPSILONS:
        exact, found = count.delta(epsilon), claimed.delta(epsilon)
        assert found.upper >= exact.lower
        # Bounds are inverted to 1e-6, and to 1e-4 where much of the law lies on a point at or next to zero: at ε = 0,
        # or where rows are left out.
        assert found.upper <= exact.upper * (1 + (1e-5 if epsilon and all_used else 1e-4)) + 1e-14


def range_of(lower: str, upper: str) -> sp.PropertyQuery:
    return sp.PropertyQuery(sp.Between(lower, upper))


@pytest.mark.parametrize(("lower", "higher"), [(".1", ".2"), (".4", ".6"), (".7", ".95")])
@pytest.mark.parametrize("epsilon", ["0", "0.05", "0.5"])
def test_a_range_exceeds_all_its_probabilities_and_every_pattern(lower, higher, epsilon):
    population, partition = sp.Population(64), sp.RandomPartition([30, 20])
    claimed = sp.compose([range_of(lower, higher)] * 2, population, partition, bound="convex-order")
    width = Fraction(higher) - Fraction(lower)
    points = [Fraction(lower) + width * step / 6 for step in range(7)]
    exact = [
        sp.compose([sp.PropertyQuery(p), sp.PropertyQuery(q)], population, partition, bound="exact").delta(epsilon)
        for p in points
        for q in points[::3]
    ]
    most = max(found.lower for found in exact)
    assert most <= upper(claimed, epsilon)
    # Half as much again is what the union of all laws of a range costs here.
    assert upper(claimed, epsilon) <= 1.5 * most


@pytest.mark.parametrize("epsilon", ["0.05", *(pytest.param(end, marks=pytest.mark.campaign) for end in ("0", "0.2"))])
def test_a_narrow_range_is_bounded_as_its_probability_is(epsilon):
    """Twelve unrelated properties, each with a size of its own: too many patterns to try them all."""
    middles = [Fraction(k + 2, 15) for k in range(12)]
    population, partition = sp.Population(400), sp.RandomPartition(range(20, 44, 2))
    half = Fraction(1, 2 * 10**9)
    ranges = [sp.PropertyQuery(sp.Between(p - half, p + half)) for p in middles]
    bounded = upper(sp.compose(ranges, population, partition, bound="convex-order"), epsilon)
    enclosed = sp.compose([sp.PropertyQuery(p) for p in middles], population, partition, bound="convex-order")
    found = enclosed.delta(epsilon)
    assert enclosed.kind == "enclosed"
    assert found.lower <= bounded
    # One law for all patterns is some per cent above the worst of them.
    assert bounded == pytest.approx(found.upper, rel=0.08)


def enclosed_curve():
    queries = [sp.PropertyQuery(f"0.{k}") for k in range(10, 21)]
    curve = sp.compose(queries, sp.Population(44), sp.RandomPartition([4] * 11))
    assert curve.kind == "enclosed"
    return curve


def test_epsilon_of_an_enclosed_curve_is_that_of_its_two_ends():
    """To a relative 10^-6 it is where the attained δ, and the proved one, cross the level."""
    curve = enclosed_curve()
    level, near = 0.02, 1 + 3e-6
    epsilon = curve.epsilon(level)
    assert curve.delta(epsilon.lower).upper >= curve.delta(epsilon.lower).lower >= level
    assert curve.delta(epsilon.upper).upper <= level
    assert curve.delta(epsilon.lower * near).lower <= level
    assert curve.delta(epsilon.upper / near).upper >= level


# Of the views that search over the whole curve, this alone has two ends apart.
@pytest.mark.campaign
def test_the_least_error_of_an_enclosed_curve_is_that_of_its_two_ends():
    curve = enclosed_curve()
    error, beta = 0.1, curve.beta("0.1")
    duals = [1 - curve.delta(x / 8).upper - math.exp(x / 8) * error for x in range(8)]
    assert max(duals) - 1e-6 <= beta.lower <= beta.upper <= 1 - error
    assert beta.lower < max(duals) + 1e-2


def curves(queries, n: int, sizes: list[int], known: int, names: tuple[str, ...]) -> dict[str, float]:
    """The upper ends at ε = 0.02."""
    population, partition, adversary = sp.Population(n), sp.RandomPartition(sizes), sp.Adversary(known=known)
    options = {"adversary": adversary}
    return {name: upper(sp.compose(queries, population, partition, bound=name, **options), "0.02") for name in names}


# The large one alone would notice a bound that is loose for many entries.
@pytest.mark.parametrize(("parts", "size"), [(32, 1024), pytest.param(2, 500_000, marks=pytest.mark.campaign)])
def test_many_entries_are_bounded_well_below_the_sum_of_the_parts(parts, size):
    queries = [range_of(".4", ".6"), *[range_of(".45", ".6")] * (parts - 1)]
    n, sizes = parts * size, [size] * parts
    nobody = curves(queries, n, sizes, 0, ("convex-order", "worst-entry", "partition-sum"))
    some = curves(queries, n, sizes, 1000, ("revealed", "worst-entry", "partition-sum"))
    exact = curves([sp.PropertyQuery(".45")] * parts, n, sizes, 0, ("exact",))["exact"]
    # Of convex order and entry by entry either may be less: one bounds a range by its cells, the other by its ends.
    for bound in ("convex-order", "worst-entry"):
        assert 0 < exact <= nobody[bound] < nobody["partition-sum"] < 1
    assert nobody["convex-order"] <= some["revealed"] < some["partition-sum"] < 1
    assert nobody["worst-entry"] <= some["worst-entry"] < some["partition-sum"]


# A chance that helps nowhere costs time, and this alone would notice it.
@pytest.mark.campaign
def test_each_of_three_chances_of_more_unknown_entries_gives_the_least_bound_somewhere(monkeypatch):
    """A millionth, 10^-11 and none: the smaller the chance, the larger the parts, and the lower what is added."""
    asked = [sp.PropertyQuery(f"{k}/11") for k in (3, 4, 5, 6)]
    n, partition, known = sp.Population(4000), sp.RandomPartition([1000] * 4), sp.Adversary(known=2000)

    def revealed(epsilon):
        return sp.compose(asked, n, partition, adversary=known, bound="revealed").delta(epsilon).upper

    epsilons = ("0.01", "0.3", "0.6")
    least = [revealed(epsilon) for epsilon in epsilons]
    for place, chance in enumerate((Fraction(1, 10**6), Fraction(1, 10**11), Fraction(0))):
        monkeypatch.setattr(known_in_parts, "CHANCES", (chance,))
        bounds = [revealed(epsilon) for epsilon in epsilons]
        assert bounds[place] == least[place]
        assert all(bound >= best for bound, best in zip(bounds, least, strict=True))


def test_no_way_to_fall_into_large_parts_is_counted(monkeypatch):
    """Its number has as many digits as there are entries, and takes half a minute."""
    monkeypatch.setattr(known_in_parts, "comb", None)
    asked = [sp.PropertyQuery("1/2", attribute="a"), sp.PropertyQuery("1/3", attribute="b")]
    composed = sp.Population(10**7), sp.RandomPartition([5 * 10**6] * 2)
    nobody = sp.compose(asked, *composed).delta("0.001")
    some = sp.compose(asked, *composed, adversary=sp.Adversary(known=10**6), bound="revealed").delta("0.001")
    assert nobody.lower <= some.upper < 1


@pytest.mark.parametrize("chance", [Fraction(1, 10**6), Fraction(1, 10**11)])
def test_all_parts_together_have_more_unknown_entries_with_at_most_the_chance_that_is_taken(monkeypatch, chance):
    """What is left of δ for ε → ∞ is the chance that an answer tells."""
    monkeypatch.setattr(known_in_parts, "CHANCES", (chance,))
    asked, partition = [sp.PropertyQuery(f"{k}/11") for k in (3, 4, 5, 6)], sp.RandomPartition([500] * 4)
    curve = sp.compose(asked, sp.Population(4000), partition, adversary=sp.Adversary(known=2000), bound="revealed")
    assert 0 < curve.infinity_mass().upper <= chance


def test_of_a_single_bound_that_cannot_be_computed_the_reason_is_told():
    """Where one of 10^12 entries is known, the chances are too small to leave any number of unknown ones out."""
    asked, partition = [sp.PropertyQuery("1/3"), sp.PropertyQuery("1/4")], sp.RandomPartition([5 * 10**11] * 2)
    curve = sp.compose(asked, sp.Population(10**12), partition, adversary=sp.Adversary(known=1), bound="revealed")
    with pytest.raises(sp.PrecisionError, match="this composition needs more terms than are taken on"):
        curve.delta(1)


def test_where_every_entry_is_in_a_part_known_ones_may_leave_an_answer_that_tells():
    """Four of six have neither property: if the fifth lacks that of its part, only the last makes a count positive."""
    asked, partition = [sp.PropertyQuery("1/3"), sp.PropertyQuery("1/4")], sp.RandomPartition([3, 3])
    for bound in ("revealed", "worst-entry", "tightest"):
        curve = sp.compose(asked, sp.Population(6), partition, adversary=sp.Adversary(known=4), bound=bound)
        # Under the other values the last has both properties; the fifth is in either part.
        assert (Fraction(2, 3) + Fraction(3, 4)) / 2 <= curve.infinity_mass().upper
        assert math.isinf(curve.epsilon("1/2").lower)


def test_in_groups_that_are_spread_evenly_nothing_of_an_entry_is_averaged():
    """The only entry of its group is in the first part for certain: the count of that part is its value."""
    population = sp.Population(groups={"f": 1, "m": 10})
    asked, partition = [sp.PropertyQuery(".3")], sp.RandomPartition([{"f": 1, "m": 0}])
    assert sp.compose(asked, population, partition).delta("0.1").upper == 1
    known = sp.Adversary(known=3)
    with pytest.raises(sp.NotAvailableError, match=r"bound = 'revealed' does not apply here: .*stratified partition"):
        sp.compose(asked, population, partition, adversary=known, bound="revealed")
    both = [sp.PropertyQuery(".3"), sp.PropertyQuery(".4")]
    apart = sp.RandomPartition([{"f": 1, "m": 0}, {"f": 0, "m": 4}])
    for bound in ("worst-entry", "partition-sum"):
        assert sp.compose(asked, population, partition, adversary=known, bound=bound).delta("0.1").upper == 1
        assert sp.compose(both, population, apart, adversary=known, bound=bound).delta("0.1").upper == 1


def test_entry_by_entry_only_the_unknown_ones_of_the_own_group_count():
    """As if the worst group were alone: the others are shown."""
    population = sp.Population(groups={"f": 300, "m": 500})
    asked = [sp.PropertyQuery({"f": ".3", "m": sp.Between(".4", ".6")}), sp.PropertyQuery({"f": ".5", "m": ".4"})]
    partition = sp.RandomPartition([{"f": 150, "m": 200}, {"f": 100, "m": 200}])

    def alone(size, *ends):
        of_one = [range_of(*each) for each in ends]
        whole = sp.RandomPartition([size // 2] * 2)
        return upper(sp.compose(of_one, sp.Population(size), whole, bound="worst-entry"), "0.1")

    for known, left in [(0, (300, 500)), (40, (260, 460)), ({"f": 100}, (200, 500)), ({"m": 400}, (300, 100))]:
        adversary = sp.Adversary(known=known)
        curve = sp.compose(asked, population, partition, adversary=adversary, bound="worst-entry")
        worst = max(alone(left[0], (".3", ".3"), (".5", ".5")), alone(left[1], (".4", ".6"), (".4", ".4")))
        assert upper(curve, "0.1") == pytest.approx(worst, rel=1e-5)


@pytest.mark.parametrize("ends", [("0", ".5"), (".5", "1")])
@pytest.mark.parametrize(("bound", "known"), [("convex-order", 0), ("worst-entry", 0), ("revealed", 3)])
def test_a_range_up_to_certainty_has_the_sum_of_the_parts_only(ends, bound, known):
    asked, partition, adversary = [range_of(*ends)] * 2, sp.RandomPartition([8, 8]), sp.Adversary(known=known)
    with pytest.raises(sp.NotAvailableError, match="a property that everyone or nobody may have gives itself away"):
        sp.compose(asked, sp.Population(20), partition, adversary=adversary, bound=bound)
    assert upper(sp.compose(asked, sp.Population(20), partition, adversary=adversary), "0.1") <= 1


@settings(BOUNDS)
@given(st.integers(2, 4), st.lists(st.tuples(INSIDE, st.integers(1, 3)), min_size=1, max_size=2), st.data())
def test_known_entries_of_a_multinomial_partition_are_bounded(n, parts, data):
    rest = data.draw(st.integers(0, 2))
    total = sum(share for _, share in parts) + rest
    partition = sp.MultinomialPartition(
        [Fraction(share, total) for _, share in parts], sizes_published=data.draw(st.booleans())
    )
    adversary = sp.Adversary(known=data.draw(st.integers(0, n - 1)))
    composition = Composed([sp.PropertyQuery(p) for p, _ in parts], sp.Population(n), partition, adversary)
    assume(cheap(composition))
    truth, claimed = composition.truth(), composition.curve(bound="worst-entry")
    for epsilon, x in POINTS.items():
        assert Fraction(upper(claimed, epsilon)) >= truth(x)


@pytest.mark.parametrize(
    ("p", "known"), [(Fraction(1, 3), 2), (sp.Between(".3", ".4"), 2), (sp.Between(".3", ".4"), 0)]
)
def test_what_is_done_to_a_count_reveals_no_more(p, known):
    count = sp.PropertyQuery(p)
    bound = "revealed" if known else "convex-order"
    plain, processed = (
        sp.compose(
            queries, sp.Population(7), sp.RandomPartition([3, 3]), adversary=sp.Adversary(known=known), bound=bound
        )
        for queries in ([count, count], [sp.PostProcessed(count, sp.Threshold(2)), count])
    )
    assert processed.delta("0.1") == plain.delta("0.1")


def test_a_histogram_with_known_entries_is_the_mean_over_how_many_of_them_a_part_holds():
    """Of seven others three are known; j of them are among the five in the part, with C(3,j) C(4,5−j) / C(7,5)."""
    cells = sp.HistogramQuery([sp.Between("0.2", "0.4"), sp.Between("0.4", "0.5"), sp.Between("0.1", "0.3")])
    held = {j: Fraction(math.comb(3, j) * math.comb(4, 5 - j), math.comb(7, 5)) for j in (1, 2, 3)}
    part = sp.RandomPartition([6])
    bound = sp.compose([cells], sp.Population(8), part, adversary=sp.Adversary(known=3), bound="partition-sum")
    for epsilon in ("0", "0.3", "1", "3"):
        of_part = sum(
            mass * Fraction(sp.privacy_curve(cells, sp.Population(6 - j), bound="ranges").delta(epsilon).upper)
            for j, mass in held.items()
        )
        assert bound.delta(epsilon).upper == pytest.approx(float(Fraction(6, 8) * of_part), rel=1e-12)


def test_the_order_of_the_values_of_one_property_is_kept():
    asked, partition = [sp.PropertyQuery(".2", attribute="smoker")] * 2, sp.RandomPartition([3, 2])
    for bound in ("revealed", "worst-entry"):
        first, second, worst = (
            sp.compose(asked, sp.Population(7), partition, adversary=sp.Adversary(known=1), pair=pair, bound=bound)
            for pair in ((1, 0), (0, 1), None)
        )
        for epsilon in EPSILONS[1:]:
            ends = upper(first, epsilon), upper(second, epsilon)
            assert ends[0] != ends[1] or ends == (0, 0)
            assert max(ends) <= upper(worst, epsilon) * (1 + 1e-6)


BOUNDED = [
    ("revealed", [sp.PropertyQuery("1/2"), sp.PropertyQuery("1/3")], 3),
    ("worst-entry", [sp.PropertyQuery("1/2"), sp.PropertyQuery("1/3")], 3),
    ("convex-order", [range_of(".3", ".35"), range_of(".5", ".6")], 0),
]


@pytest.mark.parametrize(("bound", "queries", "known"), BOUNDED, ids=[bound for bound, _, _ in BOUNDED])
def test_what_is_asked_of_a_curve_may_be_asked_of_a_bound(bound, queries, known):
    curve = sp.compose(
        queries, sp.Population(20), sp.RandomPartition([8, 8]), adversary=sp.Adversary(known=known), bound=bound
    )
    assert curve.kind == "bound"
    assert curve.satisfies(epsilon="1", delta="0.1")
    # A bound proves and never refutes.
    with pytest.raises(sp.UndecidedError, match="the bound exceeds it, which refutes nothing"):
        curve.satisfies(epsilon="0.1", delta="0.0001")
    reached = curve.epsilon("0.05").upper
    assert upper(curve, reached) <= 0.05 <= upper(curve, reached - 0.01)
    # Of a test with errors α and β: β ≥ 1 − δ(ε) − e^ε α, at ε = 0 among others.
    assert curve.beta("0.1").lower >= 1 - upper(curve, 0) - 0.1 - 1e-9
    assert curve.infinity_mass().upper <= 1
    assert bound in str(curve.compare("0.1"))
    assert "docs/explanation/" in curve.explain()
    again = pickle.loads(pickle.dumps(curve))  # noqa: S301  (what was written just now)
    assert again == curve
    assert again.delta("0.1") == curve.delta("0.1")


@settings(BOUNDS, max_examples=cases(6, campaign=100))
@given(tables(INSIDE))
def test_where_known_entries_fell_is_averaged_over(table):
    """The mean of the compositions of the unknown entries alone, which is never above the sum of Theorem 5.2."""
    asked, population, partition, adversary = table
    assume(adversary.total)
    composition = composed(asked, population, partition, adversary)
    assume(cheap(composition))
    unknown, n = population.size - adversary.total, population.size
    truths = []
    for fallen in product(*(range(size + 1) for size in partition.sizes)):
        rest = unknown - sum(fallen)
        held = [(law, size) for law, size in zip(asked, fallen, strict=True) if size]
        if not 0 <= rest <= n - sum(partition.sizes) or not held:
            continue
        ways = math.comb(n - sum(partition.sizes), rest) * math.prod(map(math.comb, partition.sizes, fallen))
        laws, sizes = zip(*held, strict=True)
        alone = composed(laws, sp.Population(unknown), sp.RandomPartition(sizes))
        truths.append((Fraction(ways, math.comb(n, unknown)), alone.truth()))
    revealed, summed = (composition.curve(bound=bound) for bound in ("revealed", "partition-sum"))
    for x in (Fraction(1), Fraction(11, 10), Fraction(3, 2)):
        expected = sum((chance * truth(x) for chance, truth in truths), Fraction(0))
        claimed = revealed.exact_delta(exp_epsilon=x)
        assert claimed == expected
        assert composition.truth()(x) <= claimed <= summed.exact_delta(exp_epsilon=x)


def test_thousands_of_parts_with_known_entries_are_bounded():
    asked, partition = [sp.PropertyQuery("1/2")] * 3000, sp.RandomPartition([1] * 3000)
    curve = sp.compose(asked, sp.Population(3000), partition, adversary=sp.Adversary(known=1), bound="revealed")
    assert upper(curve, "0.1") < 1e-3


def test_of_one_unknown_entry_it_matters_whether_a_part_holds_it():
    """With n − 1 known the unused rows protect, which entry by entry is not seen."""
    asked, partition = [sp.PropertyQuery("1/2"), sp.PropertyQuery("1/3")], sp.RandomPartition([8, 1])
    everything = sp.Adversary(known=19)
    by = {
        bound: upper(sp.compose(asked, sp.Population(20), partition, adversary=everything, bound=bound), "0.1")
        for bound in ("revealed", "worst-entry", "partition-sum", "tightest")
    }
    assert by["worst-entry"] == 1
    for bound in ("revealed", "partition-sum", "tightest"):
        assert by[bound] == pytest.approx(9 / 20, rel=1e-15)
