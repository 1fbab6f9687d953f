"""Random allocation: the counterpart of a secret partition in differential privacy.

Every entry takes part in one of m noisy answers, which is drawn at random and kept secret. Feldman and Shenfeld,
*Efficient Privacy Loss Accounting for Subsampling and Random Allocation*, account for it on a grid in floating point.
This module encloses it, by the same idea as for exact composition over a secret partition.

Let one answer have the law P₁ with the entry and Q₁ without it. One entry present or absent is the mean P of the m
laws with P₁ in one place and Q₁ in the others, against `Q = Q₁ ⊗ … ⊗ Q₁`. Under Q the ratio `P/Q = (Y_1 + … + Y_m)/m
=: y` is a mean of independent copies of `Y = P₁/Q₁`, of mean at most one (one less the mass of P₁ where Q₁ has none).
With `K = e^ε` both directions are puts on y,

    P(y = ∞) + E_Q[(P/Q − K)_+] = 1 − K + E(K − y)_+,        E_Q[(1 − K P/Q)_+] = K E(1/K − y)_+.

So both increase if Y is replaced by Y' with `u'(x) = E(x − Y')_+ >= u(x) = E(x − Y)_+` for all x, and decrease if it
is replaced by one with `u' <= u`. This is the order of decreasing convex functions. Sums of independent variables
preserve it: given the other terms, the payoff is a put on one of them. u is convex, `u(x) = x δ'(−ln x)` for `x <= 1`
and `x − 1 + δ(ln x)` for `x > 1`, where δ and δ' are the curves of one answer, P₁ against Q₁ and the reverse.
These laws are those of `ratio_grid.py`.

**In k of m answers**, a set of k drawn uniformly. The ratio is the mean of the products of k different copies of Y. Let
the m answers be divided into k blocks, of sizes that differ by one at most, at random among all divisions with these
sizes, and let one answer of each block be drawn. By symmetry every set of k answers is drawn equally often. Whoever is
told the division, which does not depend on the entry, faces k independent allocations of one each; so their composition
is an upper bound (joint convexity). Each is replaced by a finite pair above it: the law Y' of its ratio, what was lost
in rounding where the entry is absent alone, and what the ratio lacks where it is present alone. Ratios beyond the grid
are moved down to its end, which raises u. The composition of these pairs is that of `lowering/dominating_pairs.py`.

From below, whatever is computed of the answers is not worse than they are: their sum, where the noise is normal, of
distance ``kμ/√m``; and the answers with neighbouring ratios merged until they are few, and counted out. Where the
ratio has no few values these are those of the law below Y: given the other answers, the mean of products is linear and
rising in each ratio, so that a put on it falls with each law, as it does where ratios are merged (Jensen).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from statpriv import budget
from statpriv._native import Curve, Enclosure, Law
from statpriv.errors import ArgumentError
from statpriv.lowering.dominating_pairs import laws_of_product
from statpriv.numeric.arguments import as_truth
from statpriv.numeric.exact import Number, as_count, as_fraction
from statpriv.numeric.intervals import exact, interval_context, rational_ends
from statpriv.numeric.literals import spelled
from statpriv.theories.differential.answer_ratio import Answer, as_distance, stated_answer, with_noise
from statpriv.theories.differential.few_ratios import few_of, of_all_ratios, ways
from statpriv.theories.differential.ratio_grid import BITS, RatioGrid, RatioLaw, dominated, dominating, grid_of, step_of
from statpriv.theories.differential.replaced_entry import replaced_with_noise, stated_values

_STEPS = ((64, 64), (1024, 32), (2**14, 16))
"""Pairs of a largest number of answers and the grid steps per standard deviation of Y."""
_MOST_POINTS, _MOST_OF_SEVERAL = 2**15, 2**13
"""Points of the grid of a sum, in one of the answers and in several, whose laws are composed."""


def random_allocation_delta(
    epsilon: Number,
    *,
    m: int,
    k: int = 1,
    sigma: Number | None = None,
    sensitivity: Number = 1,
    answer: Sequence[Sequence[Number]] | None = None,
    replaced: bool = False,
) -> Enclosure:
    """δ(ε) where every entry takes part in one of m noisy answers, or in k of them, drawn in secret.

    Parameters
    ----------
    epsilon : float, int, Fraction, Decimal or str
        ε in nats, at least 0.
    m : int
        Number of answers, from 1 to 2^14. A hundred take a second, a thousand half a minute.
    k : int, default 1
        In how many of the answers every entry takes part, from 1 to m.
    sigma : float, int, Fraction, Decimal or str, optional
        Standard deviation of normal noise on each answer, above 0.
    sensitivity : float, int, Fraction, Decimal or str
        How far one entry, present or absent, moves the answer it takes part in; above 0.
    answer : tuple of two or three sequences of numbers, optional
        Instead of `sigma`: the probabilities of every value of one answer, with the entry and without it; of an entry
        that is replaced with its first value, with its second one, and without it. Each sums to one, and no value has a
        probability with the entry alone.
    replaced : bool, default False
        An entry is replaced by any other one, each of which moves the answer by at most `sensitivity`, instead of
        present or absent. With noise and k above 1 it takes a minute.

    Returns
    -------
    Enclosure
        It holds the larger δ of the two directions, such as an entry added and one removed. It is some tenths of a per
        cent wide for few answers and δ that are not small, and wider on the coarser grids beyond 64 and 1024 answers.
        For k above 1 the ends are further apart, unless an answer has few values: the upper one is that of k
        independent allocations of one each.

    Raises
    ------
    ArgumentError
        The noise is too small for a grid, for instance as small as the sensitivity with 10^4 answers; or a value that
        is not allowed, and the message names it.
    NotAvailableError
        An entry is replaced in several answers that have neither noise nor few values.

    Examples
    --------
    Twenty answers; each entry takes part in one of them, which is either secret or known:

    >>> import statpriv as sp
    >>> bound = sp.differential.random_allocation_delta("0.2", sigma=4, m=20)
    >>> print(f"{bound.upper:.2e}, known {sp.differential.gaussian_delta('0.2', mu='1/4').upper:.2e}")
    3.44e-06, known 3.31e-02

    Everybody in two of six answers that are told by randomized response:

    >>> told = (["0.75", "0.25"], ["0.25", "0.75"])
    >>> print(f"{sp.differential.random_allocation_delta('0.2', m=6, k=2, answer=told).upper:.4f}")
    0.3327

    A row replaced by another, in one of twenty answers:

    >>> replaced = sp.differential.random_allocation_delta("0.2", sigma=4, m=20, replaced=True)
    >>> print(f"{replaced.lower:.3e} to {replaced.upper:.3e}")
    1.813e-03 to 1.815e-03
    """
    target, (answers, taken) = as_fraction(epsilon, "epsilon"), _numbers(m, k)
    if as_truth(replaced, "replaced"):
        both = stated_values(answer) if answer is not None else [replaced_with_noise(as_distance(sigma, sensitivity))]
        steps = max(_steps(answers) // 2, 16)  # a put on the difference of two ratios costs more
        deltas = (one.delta(target, answers, taken, steps) for one in both)
        return max(deltas, key=lambda delta: delta.upper)
    one = stated_answer(answer) if answer is not None else with_noise(sigma, sensitivity)
    return _present_or_absent(one, answers, taken, target)


def _numbers(m: Number, k: Number) -> tuple[int, int]:
    """How many answers there are, and in how many of them every entry takes part."""
    answers, taken = as_count(m, "m", least=1), as_count(k, "k", least=1)
    if taken > answers:
        raise ArgumentError(f"k = {spelled(k)} of m = {answers} answers; at most m are required")
    if answers > budget.MAX_ALLOCATED_ANSWERS:
        raise ArgumentError(f"m = {spelled(m)}; at most {budget.MAX_ALLOCATED_ANSWERS} answers are summed up")
    return answers, taken


def _steps(answers: int) -> int:
    """Steps of the grid in a standard deviation of Y."""
    return next(steps for limit, steps in _STEPS if answers <= limit)


def _present_or_absent(one: Answer, answers: int, taken: int, target: Fraction) -> Enclosure:
    """δ of an entry added or removed."""
    if answers == 1:
        return one.delta(target)
    context = interval_context(BITS)
    least, most = rational_ends(context.exp(exact(context, target)))
    if one.ratios and ways(len(one.ratios), answers) <= budget.MAX_ALLOCATION_TERMS:
        ends = [of_all_ratios(one.ratios, answers, taken, factor) for factor in (most, least)]
        return Enclosure(max(Fraction(0), ends[0]), min(Fraction(1), ends[1]))
    if taken > 1:
        return _several(one, answers, taken, target, most)
    known = one.delta(target)  # an upper bound also with the secret, by joint convexity
    grid = grid_of(one.put, step_of(one.spread, _steps(answers)), one.reach, answers * most, one.described)
    above, below = (law.power(answers, answers * most) for law in (dominating(grid), dominated(one.put, grid)))

    def bound(total: RatioLaw, factor: Fraction) -> Fraction:
        """The larger of both directions; it decreases in K. `total` is the law of the sum, m times the mean y."""
        present = 1 - factor + total.put(answers * factor) / answers
        return max(present, factor * total.put(answers / factor) / answers)

    upper = min(bound(above, least) + most * Fraction(above.lost, 1 << BITS), Fraction(known.upper))
    return Enclosure(max(Fraction(0), min(bound(below, most), upper)), upper)


@dataclass(frozen=True, init=False, repr=False)
class RandomAllocation:
    """Answers of which every entry takes part in one, or in k of them, drawn in secret: for export and composition.

    Parameters
    ----------
    m, k, sigma, sensitivity, answer
        As for :func:`random_allocation_delta`; the entry is present or absent.

    Notes
    -----
    Source: Feldman and Shenfeld, *Efficient Privacy Loss Accounting for Subsampling and Random Allocation*;
    :mod:`statpriv.theories.differential.random_allocation` for the proof.

    Examples
    --------
    An epoch of three steps, and ten such epochs as dp_accounting composes them:

    >>> import statpriv as sp
    >>> epoch = sp.differential.RandomAllocation(m=3, sigma=4)
    >>> distribution = sp.interop.to_dp_accounting(epoch, interval=1e-2)
    >>> ten = distribution.self_compose(10)
    >>> print(f"{epoch.delta('0.5').upper:.1e}, ten {float(ten.get_delta_for_epsilon(0.5)):.1e}")
    1.5e-05, ten 4.1e-02
    """

    m: int
    k: int
    one: Answer

    def __init__(
        self,
        *,
        m: int,
        k: int = 1,
        sigma: Number | None = None,
        sensitivity: Number = 1,
        answer: Sequence[Sequence[Number]] | None = None,
    ) -> None:
        answers, taken = _numbers(m, k)
        object.__setattr__(self, "m", answers)
        object.__setattr__(self, "k", taken)
        object.__setattr__(self, "one", stated_answer(answer) if answer is not None else with_noise(sigma, sensitivity))

    def __repr__(self) -> str:
        return f"<RandomAllocation: in {self.k} of {self.m} answers; {self.one.described}>"

    def delta(self, epsilon: Number) -> Enclosure:
        """δ at ε in nats, as :func:`random_allocation_delta` has it."""
        return _present_or_absent(self.one, self.m, self.k, as_fraction(epsilon, "epsilon"))

    def dominating_curves(self) -> tuple[Curve, Curve]:
        """Curves above that of an entry present against absent, and of the reverse, from one pair of finite laws.

        It is within a few per cent of `delta` where that is not small.
        """
        known = self.one.curves
        if self.m == 1:
            return known
        curves = _dominating(*_grid(self.one, self.m, self.k), self.m, self.k)
        if self.k > 1:
            return curves
        joined, left = (Curve.minimum(list(pair)) for pair in zip(curves, known, strict=True))
        return joined, left


def _several(one: Answer, answers: int, taken: int, target: Fraction, factor: Fraction) -> Enclosure:
    """In several of the answers, on a grid: k allocations of one each above, what is computed of all answers below."""
    grid, most = _grid(one, answers, taken)
    upper = max(curve.delta(target).upper for curve in _dominating(grid, most, answers, taken))
    ratios = few_of(one.ratios or dominated(one.put, grid).ratios, answers)
    lower = of_all_ratios(ratios, answers, taken, factor)
    if one.of_sum is not None:
        lower = max(lower, Fraction(one.of_sum(answers, taken, target).lower))
    return Enclosure(max(Fraction(0), lower), min(Fraction(1), Fraction(upper)))


def _grid(one: Answer, answers: int, taken: int) -> tuple[RatioGrid, Fraction]:
    """The grid of one answer, and up to where sums of a block are composed: to their end, or as far as is allowed."""
    largest = -(-answers // taken)
    steps, points = (_steps(largest), _MOST_POINTS) if taken == 1 else (_STEPS[0][1], _MOST_OF_SEVERAL)
    step = step_of(one.spread, steps)
    most = min(Fraction(math.ceil(one.reach[1] * largest)), points * step)
    return grid_of(one.put, step, one.reach, most, one.described), most


def _dominating(grid: RatioGrid, most: Fraction, answers: int, taken: int) -> tuple[Curve, Curve]:
    """Curves above both directions: of k allocations of one each, among answers that are divided evenly."""
    size, larger = divmod(answers, taken)
    sizes = [size + 1] * larger + [size] * (taken - larger)
    above = dominating(grid)
    of_size = {size: _block(above, size, most) for size in set(sizes)}
    if taken == 1:
        return of_size[size]
    present, absent = laws_of_product([of_size[size] for size in sizes])
    return Curve.answers(present, absent), Curve.answers(absent, present)


def _block(one: RatioLaw, answers: int, most: Fraction) -> tuple[Curve, Curve]:
    """The hockey sticks of a finite pair above one of so many answers, and of its reverse."""
    total = one.power(answers, most)
    beyond = (1 << BITS) - sum(total.masses) - total.lost
    masses = [*total.masses, max(beyond, 0)]
    places = [*range(total.first, total.first + len(total.masses)), max(math.floor(most / total.step), total.first)]
    absent = [Fraction(mass, 1 << BITS) for mass in masses]
    present = [place * total.step / answers * mass for place, mass in zip(places, absent, strict=True)]
    zero = Fraction(0)
    first = Law.table(0, [zero, *present, 1 - sum(present, zero)])
    second = Law.table(0, [1 - sum(absent, zero), *absent, zero])
    return Curve.answers(first, second), Curve.answers(second, first)
