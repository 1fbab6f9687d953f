"""Exact laws of answers over a secret sample, including the chance that the critical entry is not sampled."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

from statpriv import budget
from statpriv._native import Curve
from statpriv.lowering.applicability import NotApplicable, require_no_range
from statpriv.lowering.contributions import multinomial
from statpriv.lowering.postprocessing import Released, hockey_stick
from statpriv.lowering.sums import alternatives
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.linear import LinearQuery
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.sum import Additive
from statpriv.model.ranges import ends
from statpriv.model.samplings import PoissonSampling, Sampling, WithoutReplacement
from statpriv.model.situation import Situation
from statpriv.model.steps import Lattice, Step
from statpriv.rules.assumptions import IDENTICAL, INDEPENDENT, SAMPLED, STATED
from statpriv.rules.registry import rule
from statpriv.rules.whole_population import uniform_cells, worst, worst_gaps


def is_data_independent(sampling: type[Sampling]) -> bool:
    """Whether the class states that its samples are drawn independently of the data."""
    return sampling.data_independent


def is_one_sample(sampling: type[Sampling]) -> bool:
    """Whether the class states that the query is answered on one sample, drawn independently of the data."""
    return sampling.data_independent and sampling.is_one_sample


def simple_draw(situation: Situation, group: str | None = None) -> tuple[int, int]:
    """The number of entries, this group's included, from which a sample is drawn without replacement, and its size.

    Raises
    ------
    NotApplicable
        The sample is drawn in another way.
    """
    drawn = None if situation.sampling is None else situation.sampling.simple_draw(situation.population, group)
    if drawn is None:
        raise NotApplicable("the sample is not drawn without replacement, each set of entries equally likely")
    return drawn


def independent_rate(situation: Situation) -> Fraction:
    """The probability that each entry is in the sample, independently of the others.

    Raises
    ------
    NotApplicable
        The sample is drawn in another way.
    """
    rate = None if situation.sampling is None else situation.sampling.independent_rate
    if rate is None:
        raise NotApplicable("the sample does not hold each entry independently of the others")
    return rate


def is_size_published(situation: Situation) -> bool:
    """Whether the number of entries in the sample is released with the answer."""
    return situation.sampling is not None and situation.sampling.size_published


@rule(
    bound="exact",
    kind="exact",
    queries=(PropertyQuery,),
    samplings=(WithoutReplacement,),
    cost=10,
    theorem=(
        "The count of a secret sample of s of n entries has the law (1 − s/n) Bin(s, p) + (s/n)(v + Bin(s−1, p)) "
        "for the value v of the critical entry."
    ),
    source="docs/explanation/samples.md, with the proof",
    assumptions=(INDEPENDENT, IDENTICAL, SAMPLED),
)
def count_without_replacement(situation: Situation) -> Curve:
    """The chance of not being counted is part of the law."""
    p = _one_probability(situation)
    population, size = simple_draw(situation)
    return Curve.sampled_count(size=size, p=p, inclusion=Fraction(size, population), pair=situation.pair)


@rule(
    bound="exact",
    kind="exact",
    queries=(PropertyQuery,),
    samplings=(WithoutReplacement,),
    cost=20,
    theorem=(
        "With u known entries of which K have the property the answer is hypergeometric given the total "
        "K + v + Bin(n−1−u, p), and the worst K is found among those where the best test changes."
    ),
    source="docs/explanation/known-entries-in-a-sample.md, with the proof",
    assumptions=(INDEPENDENT, IDENTICAL, SAMPLED),
)
def count_with_known_entries(situation: Situation) -> Curve:
    """The supremum over the values of the known entries."""
    if situation.adversary.values != "worst":
        raise NotApplicable("the known entries have expected values, not the worst ones")
    (n, s), u = simple_draw(situation), situation.adversary.total
    if u * s / n * sqrt(n - u) > budget.MAX_KNOWN_IN_SAMPLE_STEPS:
        raise NotApplicable(f"the worst values of {u} known entries in a sample of {s} take too long to be found")
    return Curve.known_in_sample(population=n, known=u, size=s, p=_uniform_probability(situation), pair=situation.pair)


@rule(
    bound="exact",
    kind="exact",
    queries=(PropertyQuery,),
    samplings=(PoissonSampling,),
    cost=12,
    theorem=(
        "A published size s of the sample is independent of the data, so that the curves of samples of s entries "
        "average, with the binomial probabilities of s."
    ),
    source="docs/explanation/samples.md, with the proof",
    assumptions=(INDEPENDENT, IDENTICAL, SAMPLED),
)
def count_with_published_size(situation: Situation) -> Curve:
    """Σ_s P[size = s] · Δ of a sample of size s."""
    if not is_size_published(situation):
        raise NotApplicable("the size of the sample is not published")
    p = _one_probability(situation)
    return Curve.poisson_published(
        population=situation.population.size, rate=independent_rate(situation), p=p, pair=situation.pair
    )


@rule(
    bound="exact",
    kind="exact",
    queries=(HistogramQuery,),
    samplings=(WithoutReplacement,),
    cost=12,
    theorem=(
        "Given how many of the sample are in the cells v and w, the count of v is that of a sample of so many entries "
        "that holds the critical one with its posterior probability. The worst pair of cells."
    ),
    source="docs/explanation/samples.md, with the proof",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
)
def histogram_without_replacement(situation: Situation) -> Curve:
    """The mean over the number of sampled entries in the two cells."""
    if situation.adversary.total:
        raise NotApplicable("entries of a hidden sample are known, which is not a shift of a histogram")
    cells = uniform_cells(situation)
    population, size = simple_draw(situation)
    return Curve.sampled_histogram(population=population, size=size, cells=cells, pair=situation.pair)


@rule(
    bound="exact",
    kind="exact",
    queries=(HistogramQuery,),
    samplings=(PoissonSampling,),
    cost=24,
    theorem=(
        "The cells of a histogram sum to the size of the sample, which is independent of the data: so the curves of "
        "samples of s entries average, with the binomial probabilities of s."
    ),
    source="docs/explanation/samples.md, with the proof",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
)
def histogram_at_a_rate(situation: Situation) -> Curve:
    """Σ_s P[size = s] · Δ of a sample of size s."""
    n, rate, pair = situation.population.size, independent_rate(situation), situation.pair
    if situation.adversary.total:
        raise NotApplicable("entries of a hidden sample are known, which is not a shift of a histogram")
    cells = uniform_cells(situation)
    if len(cells) == 2:
        # The only difference to a count with published size is which cell counts as "one".
        directed = None if pair is None else (1 - pair[0], 1 - pair[1])
        return Curve.poisson_published(population=n, rate=rate, p=cells[0], pair=directed)
    if n > budget.MAX_SAMPLE_SIZES:
        raise NotApplicable(
            f"more than {budget.MAX_SAMPLE_SIZES} sizes of samples of a histogram are not averaged over"
        )
    weights = [multinomial((s, n - s), (rate, 1 - rate)) for s in range(n + 1)]
    means = []
    for directed in _worst_pairs(cells) if pair is None else [pair]:
        curves = [Curve.sampled_histogram(population=n, size=s, cells=cells, pair=directed) for s in range(1, n + 1)]
        means.append(Curve.mean(weights, [worst([]), *curves]))
    return worst(means)


def _worst_pairs(cells: tuple[Fraction, ...]) -> list[tuple[int, int]]:
    """The two rarest cells, in both orders; they are the worst pair for every sample size."""
    first, second = sorted(range(len(cells)), key=cells.__getitem__)[:2]
    return [(first, second), (second, first)]


@rule(
    bound="exact",
    kind="exact",
    queries=(PropertyQuery, Additive, LinearQuery, HistogramQuery),
    samplings=(),
    sampling_with=is_data_independent,
    cost=30,
    theorem=(
        "A sample of zeros and ones is post-processing of their total count A: hypergeometric given A without "
        "replacement, Bin(s, A/n) with replacement, Bin(A, γ) at a rate. A sum over a sample, or several counts of "
        "it, is a mixture over how often entries of each kind, and the critical one, are drawn. Where entries are "
        "known, the worst (or the mean over all) of their values, which may be in the interior."
    ),
    source="docs/explanation/samples.md, with the proof; stratified samples: each group by itself",
    assumptions=(INDEPENDENT, STATED, SAMPLED),
)
def total_of_a_sample(situation: Situation) -> Curve:
    """The law of the sample's total in every world."""
    return released_totals(situation)


def released_totals(situation: Situation, steps: tuple[Step, ...] = ()) -> Curve:
    """The worst pair of values in the worst world, for an additive query after all steps."""
    if steps and is_size_published(situation):
        raise NotApplicable("a processed answer with the published size of its sample is not one number")
    # Noise is translation-invariant, so a shift by known entries is as irrelevant after noise as before.
    shift_matters = not all(step.moves_with_answer for step in steps)
    entries, worlds = alternatives(situation, shift_matters=shift_matters, labelled=not steps)
    curves = []
    for alternative in worlds:
        if situation.sampling is None and not shift_matters:
            # d + S against S, for any noise added to S.
            [(_, law)] = alternative.known
            others = Released(law(0), law(0), entries.lattice, window=alternative.world.window)
            released = others.processed(steps)
            monotone = keeps_ratios_monotone(steps, entries.lattice)
            gaps = worst_gaps(alternative.world, situation.pair, monotone=monotone)
            curves += [released.moved(gap * entries.lattice.unit).curve() for gap in gaps]
            continue
        for v, w in dict.fromkeys(alternative.world.pairs(situation.pair)):
            cases = [
                (weight, hockey_stick(law(v), law(w), entries.lattice, steps)) for weight, law in alternative.known
            ]
            curves.append(over_known_values(cases, situation))
    return worst(curves)


def keeps_ratios_monotone(noises: tuple[Step, ...], lattice: Lattice) -> bool:
    """Whether these steps preserve monotone likelihood ratios.

    Log-concavity on the integers says nothing about answers between integers.
    """
    return all(_keeps_ratios_monotone(added, lattice) for added in noises)


def _keeps_ratios_monotone(step: Step, lattice: Lattice) -> bool:
    return step.keeps_ratios_monotone and (step.is_dense or lattice.unit.denominator == 1)


def over_known_values(cases: list[tuple[Fraction, Curve]], situation: Situation) -> Curve:
    """The worst case over the known values, or the mean over them if the adversary's values are expected ones."""
    curves = [curve for _, curve in cases]
    if len(curves) == 1:
        return curves[0]
    if situation.adversary.values == "expected":
        return Curve.mean([weight for weight, _ in cases], curves)
    return Curve.maximum(curves)


def _one_probability(situation: Situation) -> Fraction:
    if situation.adversary.total:
        raise NotApplicable("entries of a hidden sample are known, which is not a shift of the count")
    return _uniform_probability(situation)


def _uniform_probability(situation: Situation) -> Fraction:
    p = situation.asked.probability()
    if p is None:
        raise NotApplicable("the entries have different probabilities")
    require_no_range(situation.asked, "the law of a hidden sample")
    return ends(p)[0]
