"""Queries, samplings and noises that the package does not know, defined here: they need no change of any other file.

Each states its capabilities and goes through `privacy_curve`, `explain`, `compare`, steps and, where that is lawful,
`compose`. The numbers are those that `sp.reference` adds up over all databases and templates, in exact rationals.
"""

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import ClassVar

import pytest

import statpriv as sp
from statpriv import noise, reference
from statpriv._native import Law
from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.model.noise import ContinuousNoise, DiscreteNoise
from statpriv.model.partitions import Partition
from statpriv.model.queries.sum import Additive
from statpriv.model.samplings import Sampling
from statpriv.model.steps import Step

MULTIPLIERS = (Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(7, 2))
PMF = {0: Fraction(1, 2), 1: Fraction(1, 3), 2: Fraction(1, 6)}
FIVE = sp.Population(5)
COIN = Law.table(0, ["1/2", "1/2"])


@dataclass(frozen=True, init=False, repr=False)
class VarianceQuery(Additive):
    """The mean squared distance of the entries from a number that is known."""

    centre: Fraction
    is_mean: ClassVar[bool] = True

    def __init__(self, pmf, centre, **labels):
        super().__init__(pmf, **labels)
        object.__setattr__(self, "centre", Fraction(centre))

    def added(self, value):
        return (value - self.centre) ** 2

    def answer(self, rows):
        """For the reference, which knows nothing of the package."""
        return sum((Fraction(row) - self.centre) ** 2 for row in rows) / len(rows)


@dataclass(frozen=True)
class SystematicSampling(Sampling):
    """Every k-th entry from a start that is drawn uniformly."""

    every: int
    data_independent: ClassVar[bool] = True
    is_one_sample: ClassVar[bool] = True
    repeats_entries: ClassVar[bool] = False

    def check(self, population):
        if not 1 <= self.every <= population.size:
            raise ArgumentError(f"every = {self.every}; a number from 1 to {population.size} is required")

    def templates_of(self, population):
        starts = range(self.every)
        return tuple((tuple(range(start, population.size, self.every)), Fraction(1, self.every)) for start in starts)


@dataclass(frozen=True)
class TriangularNoise(DiscreteNoise):
    """Integers of size up to `width`, with probabilities that fall linearly to both sides."""

    width: int
    keeps_ratios_monotone = True

    @property
    def masses(self):
        total = (self.width + 1) ** 2
        return {k: Fraction(self.width + 1 - abs(k), total) for k in range(-self.width, self.width + 1)}


@dataclass(frozen=True)
class TwoPeaks(DiscreteNoise):
    """Zero or three: no law that is log-concave, and none that says it is."""

    @property
    def masses(self):
        return {0: Fraction(1, 2), 3: Fraction(1, 2)}


VARIANCE = VarianceQuery(PMF, "1/2")


def agrees(curve, truth, *, pair=None):
    """The exact curve is the truth, all bounds are at least it, and the curve explains itself."""
    assert curve.kind == "exact"
    for x in MULTIPLIERS:
        assert curve.exact_delta(exp_epsilon=x) == truth(x)
    assert "exact privacy curve" in curve.explain()
    compared = curve.compare("0.1")
    exact = next(row for row in compared if row.bound == "exact")
    assert all(row.delta.upper >= exact.delta.lower for row in compared if not row.conditional)
    assert curve.delta("0.1").lower <= curve.delta("0.1").upper
    return {row.bound for row in compared}


def systematic(population, every):
    return {tuple(range(start, population, every)): Fraction(1, every) for start in range(every)}


def processed(answers, step):
    """The law of an answer after a step that is a function, or a noise with finitely many values."""
    law = defaultdict(Fraction)
    for answer, mass in answers.items():
        if isinstance(step, DiscreteNoise):
            for added, chance in step.masses.items():
                law[answer + added] += mass * chance
        else:
            law[step.apply(answer)] += mass
    return law


def truth_after(steps, entries, query, values, templates=None):
    """The hockey stick of the worst pair, from the laws of the answer and what is done to it."""
    laws = {}
    for value in values:
        law = reference.answer_law(entries, 0, value, query, templates)
        law = {answers[0] if isinstance(answers, tuple) else answers: mass for answers, mass in law.items()}
        for step in steps:
            law = processed(law, step)
        laws[value] = law
    return lambda x: max(reference.hockey_stick(laws[v], laws[w], x) for v, w in permutations(values, 2))


# --- a query -------------------------------------------------------------------------------------


@pytest.mark.parametrize("centre", [0, "1/2", 1])
def test_a_query_of_all_entries(centre):
    query = VarianceQuery(PMF, centre)
    curve = sp.privacy_curve(query, FIVE)
    bounds = agrees(curve, reference.privacy_curve(reference.iid(PMF, 5), query.answer, critical=0))
    assert "total-histogram" in bounds
    assert repr(query) in curve.explain()


def test_values_that_add_the_same_hide_each_other():
    """Around one, zero and two are as far."""
    query = VarianceQuery(PMF, 1)
    assert sp.privacy_curve(query, FIVE, pair=(0, 2)).delta(0).upper == 0
    assert sp.privacy_curve(VarianceQuery({0: "1/2", 2: "1/2"}, 1), FIVE).delta(0).upper == 0


@pytest.mark.parametrize(
    ("sampling", "templates"),
    [
        (sp.WithoutReplacement(3), reference.without_replacement(5, 3)),
        (sp.WithReplacement(2), reference.with_replacement(5, 2)),
        (SystematicSampling(2), None),
    ],
)
def test_a_query_of_a_sample(sampling, templates):
    query = sp.SumQuery(PMF) if isinstance(sampling, SystematicSampling) else VARIANCE
    answer = sum if templates is None else VARIANCE.answer
    drawn = systematic(5, 2) if templates is None else templates
    curve = sp.privacy_curve(query, FIVE, sampling=sampling)
    agrees(curve, reference.privacy_curve(reference.iid(PMF, 5), answer, drawn))


def test_a_query_with_groups_and_known_entries():
    laws = {"f": PMF, "m": {0: Fraction(1, 4), 2: Fraction(3, 4)}}
    query, population = VarianceQuery(laws, "1/2"), sp.Population(groups={"f": 2, "m": 2})
    entries = reference.Database([laws["f"]] * 2 + [laws["m"]] * 2)
    curve = sp.privacy_curve(query, population, adversary=sp.Adversary(known=1))
    agrees(curve, reference.privacy_curve(entries, query.answer, known=1))


@pytest.mark.parametrize("step", [sp.Threshold("1/2"), sp.Rounding("1/2"), TriangularNoise(1)], ids=repr)
def test_a_query_that_is_processed(step):
    curve = sp.privacy_curve(sp.PostProcessed(VARIANCE, step), FIVE)
    truth = truth_after([step], reference.iid(PMF, 5), VARIANCE.answer, list(PMF))
    assert "unprocessed" in agrees(curve, truth)
    assert "Two layers" in curve.explain() or not isinstance(step, DiscreteNoise)


@pytest.mark.parametrize("attribute", ["distance", None])
def test_a_query_on_the_parts_of_a_secret_partition(attribute):
    query = VarianceQuery(PMF, "1/2", attribute=attribute)
    curve = sp.compose([query, query], sp.Population(4), sp.RandomPartition([2, 1]))
    values = list(PMF) if attribute else list(product(PMF, repeat=2))
    law = PMF if attribute else {(a, b): PMF[a] * PMF[b] for a, b in values}
    asked = (
        [query.answer] * 2 if attribute else [lambda rows, k=k: query.answer([row[k] for row in rows]) for k in (0, 1)]
    )
    truth = reference.privacy_curve(reference.iid(law, 4), asked, reference.partitions(4, [2, 1]), critical=0)
    bounds = agrees(curve, truth)
    assert "partition-sum" in bounds


# --- a sampling ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("population", "known"), [(6, 0), (7, 0), (6, 1)])
@pytest.mark.parametrize(
    ("query", "law", "answer"),
    [
        (sp.PropertyQuery("1/3"), reference.coin("1/3"), sum),
        (sp.SumQuery(PMF), PMF, sum),
    ],
)
def test_a_sampling(query, law, answer, population, known):
    sampling = SystematicSampling(3)
    curve = sp.privacy_curve(query, sp.Population(population), sampling=sampling, adversary=sp.Adversary(known=known))
    entries = reference.iid(law, population)
    bounds = agrees(curve, reference.privacy_curve(entries, answer, systematic(population, 3), known=known))
    assert {"exact", "spc", "partition-sum"} <= bounds
    assert "total-histogram" not in bounds  # of entries that are not drawn alike
    assert repr(sampling) in curve.explain()


def test_a_sampling_of_order_statistics_and_of_means():
    entries, drawn = reference.iid(PMF, 6), systematic(6, 3)
    for query, answer in (
        (sp.MaximumQuery(PMF), max),
        (sp.MeanQuery(PMF), lambda rows: Fraction(sum(rows), len(rows))),
        (VARIANCE, VARIANCE.answer),
    ):
        curve = sp.privacy_curve(query, sp.Population(6), sampling=SystematicSampling(3))
        agrees(curve, reference.privacy_curve(entries, answer, drawn))


@pytest.mark.parametrize("step", [sp.Threshold(1), sp.Rounding(2), TriangularNoise(2)], ids=repr)
def test_a_sampling_of_an_answer_that_is_processed(step):
    query = sp.PostProcessed(sp.PropertyQuery("1/3"), step)
    curve = sp.privacy_curve(query, sp.Population(6), sampling=SystematicSampling(3))
    truth = truth_after([step], reference.iid(reference.coin("1/3"), 6), sum, [0, 1], systematic(6, 3))
    assert "unprocessed" in agrees(curve, truth)


def test_a_mean_of_a_hidden_number_is_refused():
    with pytest.raises(NotAvailableError, match="hidden size"):
        sp.privacy_curve(sp.MeanQuery(PMF), sp.Population(7), sampling=SystematicSampling(3), bound="exact")


def test_gaussian_noise_on_a_sampling_that_does_not_say_that_ratios_stay_monotone_is_refused():
    query = sp.PropertyQuery("1/3").noisy(noise.Gaussian(sigma=1))
    with pytest.raises(NotAvailableError, match="need not be monotone"):
        sp.privacy_curve(query, sp.Population(6), sampling=SystematicSampling(3), bound="exact")


class Unstated(Sampling):
    """A sample about which nothing is stated."""

    def templates_of(self, population):
        return (((0,), Fraction(1)),)


class UnstatedPartition(Partition):
    """A partition about which nothing is stated."""

    number_of_parts = 1


class NoLaw(Sampling):
    """A sample that is drawn independently of the data, in a way that is not told."""

    data_independent: ClassVar[bool] = True


def test_a_sample_that_does_not_state_that_it_is_independent_of_the_data_is_refused_everywhere():
    half = sp.PropertyQuery("1/2")
    for query in (half, half.thresholded(1), sp.SumQuery(PMF), sp.HistogramQuery(["1/2"] * 2), sp.MedianQuery(PMF)):
        for bound in ("tightest", "exact", "total-count", "unprocessed"):
            with pytest.raises(ArgumentError, match="data_independent = True in the class Unstated"):
                sp.privacy_curve(query, FIVE, sampling=Unstated(), bound=bound)
    with pytest.raises(ArgumentError, match="independently of the data"):
        sp.delta_at_sizes(half, [4, 5], "0.1", sampling=Unstated())
    with pytest.raises(ArgumentError, match="independently of the data"):
        sp.compose([half], FIVE, UnstatedPartition())


def test_an_analyst_on_a_partition_that_does_not_state_that_it_is_independent_of_the_data_is_refused():
    class FromTheData(sp.RandomPartition):
        data_independent: ClassVar[bool] = False

    asked = sp.AnyOf([sp.PropertyQuery("1/2", attribute="coin")])
    with pytest.raises(ArgumentError, match="data_independent = True in the class FromTheData"):
        sp.compose_adaptive(asked, FIVE, FromTheData([2, 2]))


@pytest.mark.parametrize(
    ("capability", "ask"),
    [
        ("number_of_parts", lambda: Partition().number_of_parts),
        ("masses", lambda: DiscreteNoise().masses),
        ("spread", lambda: ContinuousNoise().spread),
        ("rounded_law", lambda: ContinuousNoise().rounded_law(Fraction(1))),
        ("smoothed", lambda: ContinuousNoise().smoothed(COIN, COIN, Fraction(1))),
        ("published_for", lambda: Step().published_for(1)),
        ("of_count", lambda: NoLaw().of_count(COIN, 1)),
        ("added", lambda: sp.HistogramQuery(["1/2"] * 2).added(1)),
        ("laws_of_answers", lambda: sp.PropertyQuery("1/2").laws_of_answers(1)),
    ],
)
def test_a_capability_that_is_not_stated_is_refused_by_its_name(capability, ask):
    with pytest.raises(NotAvailableError, match=f"states no {capability}\\b"):
        ask()


@pytest.mark.parametrize(
    "query",
    [
        sp.PropertyQuery("1/2"),
        sp.PropertyQuery("1/2").thresholded(1),
        sp.PropertyQuery("1/2").noisy(noise.Laplace(scale=1)),
        sp.SumQuery(PMF),
        sp.MeanQuery(PMF),
        sp.HistogramQuery(["1/2", "1/4", "1/4"]),
        sp.MinimumQuery(PMF),
        sp.LinearQuery([[1, 1, 0, 0, 0]]),
    ],
    ids=repr,
)
def test_a_sample_of_which_no_law_is_told_has_no_curve(query):
    with pytest.raises((NotAvailableError, ArgumentError)):
        sp.privacy_curve(query, FIVE, sampling=NoLaw())


# --- a noise -------------------------------------------------------------------------------------


@pytest.mark.parametrize("added", [TriangularNoise(1), TriangularNoise(3), TwoPeaks()], ids=repr)
@pytest.mark.parametrize("after", [(), (sp.Threshold(1),), (sp.Rounding(2),)], ids=repr)
def test_a_noise(added, after):
    query = sp.PostProcessed(sp.PropertyQuery("1/3"), added, *after)
    curve = sp.privacy_curve(query, FIVE)
    truth = truth_after([added, *after], reference.iid(reference.coin("1/3"), 5), sum, [0, 1])
    bounds = agrees(curve, truth)
    assert {"noise", "unprocessed"} <= bounds
    assert "Two layers" in curve.explain()


def test_a_noise_on_several_counts():
    query = sp.HistogramQuery(["1/2", "1/4", "1/4"]).noisy(TriangularNoise(1))
    bound = sp.privacy_curve(query, FIVE, bound="noise")
    masses = TriangularNoise(1).masses
    first = {(a + 1, b): masses[a] * masses[b] for a, b in product(masses, repeat=2)}
    second = {(a, b + 1): masses[a] * masses[b] for a, b in product(masses, repeat=2)}
    for x in MULTIPLIERS:
        assert bound.exact_delta(exp_epsilon=x) == reference.hockey_stick(first, second, x)


def test_a_noise_on_the_parts_of_a_secret_partition():
    added = TriangularNoise(1)
    query = sp.PropertyQuery("1/3", attribute="smoker").noisy(added)
    curve = sp.compose([query, query], sp.Population(3), sp.RandomPartition([2, 1]))
    entries = reference.Database([reference.coin("1/3")] * 3 + [added.masses] * 2)
    drawn = {}
    for parts, mass in reference.partitions(3, [2, 1]).items():
        drawn[tuple((*part, 3 + k) for k, part in enumerate(parts))] = mass
    agrees(curve, reference.privacy_curve(entries, [sum, sum], drawn, critical=0))


def test_gaussian_noise_after_a_noise_that_does_not_say_that_it_is_log_concave_is_refused():
    half = sp.PropertyQuery("1/2")
    assert sp.privacy_curve(half.noisy(TriangularNoise(1)).noisy(noise.Gaussian(sigma=1)), FIVE).kind == "exact"
    refused = half.noisy(TwoPeaks()).noisy(noise.Gaussian(sigma=1))
    with pytest.raises(NotAvailableError, match="need not be monotone"):
        sp.privacy_curve(refused, FIVE, bound="exact")


def test_a_noise_of_which_no_divergence_is_known_has_those_of_the_curve():
    curve = sp.privacy_curve(sp.PropertyQuery("1/2").noisy(TriangularNoise(3)), FIVE)
    assert curve.renyi(2, points=20).lower > 0
