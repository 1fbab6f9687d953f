"""Parts of a partition that ask different things of rows that each have a law of their own.

The reader does not know which part holds the critical row, and that is worth several times the partition sum. Where all
rows have one law, the answers of the parts without it are independent of each other. Here they hang together by who is
where. The following makes them independent again.

**Representatives.** Let M + 1 parts have rows, the unused rest among them. Of every part but that of the critical row
draw one row. Reveal these M representatives and the critical row as a set, and where all other rows are. For a
partition σ of the M + 1 rows over the M + 1 parts the probability of this is proportional to the size of the part that
holds the critical row. So it is in part k with probability w_k = n_k/n still, and the representatives are a uniform
permutation over the others, whatever the data are. With S_l the count of the n_l − 1 revealed rows of part l, P_l = 1 +
S_l and Q_l = S_l, a representative j with probability p_{j,l} adds to part l, so that its answer has the law

    p_{j,l} P_l + (1 − p_{j,l}) Q_l = R_l + d_{j,l} D_l,   R_l = p_l P_l + (1 − p_l) Q_l,   D_l = P_l − Q_l,

p_l the mean of p_{j,l} over the representatives, the same wherever the critical row is, and d_{j,l} = p_{j,l} − p_l.

**If some rows are unused**, one reveals more: in which part each representative is if the critical row is not there; if
it is, the representative is in the rest. (The critical row is in part k and its representative in the rest, drawn from
n_0 of them, or it is in the rest and its representative drawn from n_k: n_k to n_0 again.) Then part l has its own
representative, d = 0, and δ is exactly at most

    max E[(w_0 (1 − r) + Σ_k w_k (dP_{k,v} − r dP_{k,w})/dR_k)_+],   r = e^ε, answers drawn from Π R_l,            (1)

the composition of parts as of rows with one law, but for S_l, which is any sum of independent bits with probabilities
in [a_l, b_l], and p_l, which is any number there. (1) is convex in p_l, so p_l is one of the ends; of both ends and
both directions the kernel takes what is above all of them in convex order. For S_l the pair (P_l, Q_l) is replaced by
one that dominates all of them (`lowering/dominating_pairs.py`): a channel turns it into each, and R_l with it.

**If all rows are used**, the law of the other parts given that part k holds the critical row is Π R_l + Y_k with

    Y_k = Σ_{U ∌ k, |U| ≥ 2} E_σ[Π_{l∈U} d_{σ(l),l}] Π_{l∈U} D_l Π_{l∉U} R_l,

since the mean of one d is 0. With h_l = b_l − a_l the variance of d_l is at most h_l²/4, so for |U| = 2, where the
permutation makes Σ_{j≠i} d_{j,l} d_{i,l'} = −Σ_j d_{j,l} d_{j,l'}, the mean is at most h_l h_{l'}/(4(M − 1)); for |U| =
u ≥ 3 by Hölder's inequality at most Π (E|d_l|^u)^{1/u} ≤ Π h_l/4^{1/u} = Π h_l / 4. And ‖D_l‖ = 2 TV(P_l, Q_l), which
is 2 δ_l(0). All Y_k have total mass 0, so they add to (1) at most half their norm,

    Σ_k w_k ‖Y_k‖/2 · ‖P_{k,v} − r P_{k,w}‖,   the last norm = 2 δ_k(ε) + r − 1.

Two parts have no Y. For a dozen parts it is far below the rest; for hundreds it is not, and the partition sum is
smaller.

**Beside rows that share their probabilities**, who are a special case, the bound is not printed below theirs, which is
some tenths of a per cent too large in thousands of rows: the weaker assumption must not look safer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, factorial, log1p, sqrt
from statistics import NormalDist

from statpriv._native import Curve, Law, Part
from statpriv.lowering.applicability import NotApplicable, require_no_pattern
from statpriv.lowering.dominating_pairs import Masses, dominating_pairs
from statpriv.model.partitions import RandomPartition
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import Between
from statpriv.model.situation import PartitionedSituation, Query, attribute_of
from statpriv.rules.assumptions import DRAWN, EACH, INDEPENDENT, SECRET
from statpriv.rules.hull_in_parts import range_of_all
from statpriv.rules.own_count import CountOfEach
from statpriv.rules.registry import lower, rule

_UPWARDS, _DOWNWARDS = (1, 0), (0, 1)
_BITS = 60
"""Binary places of what representatives may add."""
_DEGREE, _MOST_TOLD = 24, 4
"""What so many others add together is summed up. Of more others, s is limited."""
_LEAST, _MOST = 1e-3, 0.49
"""Where the normal law says nothing: a variance of one row, and a slope, are taken to be this."""


@rule(
    bound="representatives",
    kind="bound",
    queries=(PropertyQuery,),
    samplings=(RandomPartition,),
    cost=40,
    theorem=(
        "One row of every part is revealed without its place, and all others with theirs. The critical row is still in "
        "part k with probability n_k/n, and the parts are independent of each other but for the places of these few: "
        "the composition of parts, each with the worst of all its rows' probabilities. What the places may add is "
        "bounded and added."
    ),
    source="docs/explanation/people-who-are-not-alike.md, with the proof",
    assumptions=(INDEPENDENT, EACH, DRAWN, SECRET),
    needs=("each",),
)
def representatives(situation: PartitionedSituation) -> Curve:
    """The composition of dominating pairs, and what representatives who differ may add."""
    require_no_pattern(situation)
    sizes = situation.sampling.part_sizes
    if situation.adversary.total or sizes is None:
        raise NotApplicable("some entries are known, or the partition is stratified by group")
    n = situation.population.size
    unused = 1 - Fraction(situation.used, n)
    parts = [_AnyRows.of(query, size) for query, size in zip(situation.queries, sizes, strict=True)]
    attributes = [(number, list(kind.choices(n))) for kind, number in Counter(parts).items()]
    composed = Curve.maximum(
        [Curve.composed(unused=unused, attributes=attributes, bound=True), _of_shared_probabilities(situation, parts)]
    )
    if unused:
        return composed
    norms = _norms_of_others([part.spread for part in parts])
    if not any(norms):
        return composed
    added = [Fraction(part.size, n) * norm for part, norm in zip(parts, norms, strict=True)]
    slope = sum(added, Fraction(0)) / 2
    bound = Curve.mean([Fraction(1), *added], [composed, *(part.either for part in parts)])
    return Curve.loosened(bound, slope=slope, until=_end_of_fall(parts, n, slope))


def _of_shared_probabilities(situation: PartitionedSituation, parts: Sequence[_AnyRows]) -> Curve:
    """The curve or bound where all rows have one probability of the same range."""
    shared = [
        PropertyQuery(Between(part.lower, part.upper), attribute=attribute_of(query))
        for query, part in zip(situation.queries, parts, strict=True)
    ]
    return lower(replace(situation, queries=tuple(shared)), "tightest").curve


@dataclass(frozen=True, eq=False)
class _AnyRows:
    """A part of rows that each have a probability of their own in a range."""

    size: int
    lower: Fraction
    upper: Fraction
    either: Curve
    """The curve of the count in the worse direction."""
    pairs: dict[tuple[int, int], tuple[Masses, Masses]]
    """The dominating pair of each direction."""

    @staticmethod
    def of(query: Query, size: int) -> _AnyRows:
        """The part of so many rows that a query is answered on."""
        return _any_rows(size, *range_of_all(query))

    @cached_property
    def spread(self) -> Fraction:
        """What one representative may shift the law of the answer by, h ‖D‖, rounded up."""
        norm = 2 * min(Fraction(1), Fraction(self.either.delta(0).upper))
        return Fraction(ceil((self.upper - self.lower) * norm * 2**_BITS), 2**_BITS)

    def choices(self, n: int) -> Iterator[list[Part]]:
        """The part as the kernel composes it, for each direction and each end of its representative's probability."""
        for direction, (first, second) in self.pairs.items():
            for p in {self.lower, self.upper}:
                of_first = p if direction == _UPWARDS else 1 - p
                reference = [of_first * one + (1 - of_first) * other for one, other in zip(first, second, strict=True)]
                laws = {
                    "first": Law.table(0, first),
                    "second": Law.table(0, second),
                    "reference": Law.table(0, reference),
                }
                yield [Part.answer(weight=Fraction(self.size, n), **laws)]


@lru_cache(1024)
def _any_rows(size: int, lower: Fraction, upper: Fraction) -> _AnyRows:
    """Remembered, because what is said of other people asks for the same parts again."""
    count = CountOfEach(lower, upper)
    upwards = count.roughly(size, _UPWARDS)
    # With zeros and ones exchanged a range around one half is the same range.
    downwards = upwards if lower + upper == 1 else count.roughly(size, _DOWNWARDS)
    pairs = dict(zip((_UPWARDS, _DOWNWARDS), dominating_pairs(upwards, downwards), strict=True))
    return _AnyRows(size, lower, upper, count.roughly(size, None), pairs)


def _norms_of_others(spreads: Sequence[Fraction]) -> list[Fraction]:
    """For each part a bound of ‖Y_k‖, from the spreads of the M others.

    Their elementary symmetric polynomials e_u follow from those of all, ``e_u(all) = e_u + x e_{u−1}`` with the own
    spread x. Beyond a degree U they are at most s^u/u!, s the sum of the others, so together at most the first of these
    terms over 1 − s/(U + 2).
    """
    most, others = min(_DEGREE, len(spreads)), len(spreads) - 1
    if others < 2:
        return [Fraction(0)] * len(spreads)
    of_all = [Fraction(1)] + [Fraction(0)] * most
    for spread in spreads:
        for u in range(most, 0, -1):
            of_all[u] += spread * of_all[u - 1]
    norms = {}
    for own in dict.fromkeys(spreads):
        symmetric = [Fraction(1)]
        for of_degree in of_all[1:]:
            symmetric.append(of_degree - own * symmetric[-1])
        beyond = _beyond(sum(spreads) - own, most) if others > most else Fraction(0)
        norms[own] = symmetric[2] / (4 * (others - 1)) + (sum(symmetric[3:], Fraction(0)) + beyond) / 4
    return [norms[spread] for spread in spreads]


def _beyond(total: Fraction, degree: int) -> Fraction:
    """Σ s^u/u! over u above a degree, at most."""
    if total > _MOST_TOLD:
        raise NotApplicable("the parts are so many that who is where in the others tells too much")
    return total ** (degree + 1) / factorial(degree + 1) / (1 - total / (degree + 2))


def _end_of_fall(parts: Sequence[_AnyRows], n: int, slope: Fraction) -> Fraction:
    """About the ε up to which δ falls twice as fast as `slope` times e^ε rises.

    Any ε is right: from there on the bound stays. Beyond the one where the sum is least it would rise. What (1) is the
    mean of is about normal with mean 1 − r and variance σ² = Σ w_k²/(n_k p_k (1 − p_k)), so that the slope in r is
    −P[Z > (r − 1)/σ].
    """
    variance = sum(part.size / (n * n * max(float(part.lower * (1 - part.lower)), _LEAST)) for part in parts)
    quantile = NormalDist().inv_cdf(1 - min(2 * float(slope), _MOST))
    return Fraction(log1p(sqrt(variance) * quantile))
