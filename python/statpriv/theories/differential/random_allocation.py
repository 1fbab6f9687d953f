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
from fractions import Fraction

from statpriv import budget
from statpriv._native import Curve, Enclosure, Law
from statpriv.errors import ArgumentError
from statpriv.lowering.dominating_pairs import laws_of_product
from statpriv.numeric.exact import Number, as_count, as_fraction
from statpriv.numeric.intervals import exact, interval_context, rational_ends
from statpriv.numeric.literals import spelled
from statpriv.theories.differential.answer_ratio import Answer, stated_answer, with_noise
from statpriv.theories.differential.few_ratios import few_of, of_all_ratios, ways
from statpriv.theories.differential.ratio_grid import BITS, RatioLaw, dominated, dominating, grid_of, step_of

_STEPS = ((64, 64), (1024, 32), (2**14, 16))
"""Pairs of a largest number of answers and the grid steps per standard deviation of Y."""
_MOST_POINTS = 2**13
"""Points of a grid whose laws are composed."""


def random_allocation_delta(
    epsilon: Number,
    *,
    m: int,
    k: int = 1,
    sigma: Number | None = None,
    sensitivity: Number = 1,
    answer: tuple[Sequence[Number], Sequence[Number]] | None = None,
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
    answer : tuple of two sequences of numbers, optional
        Instead of `sigma`: the probabilities of every value of one answer, with the entry and without it. Each sums to
        one, and no value has a probability with the entry alone.

    Returns
    -------
    Enclosure
        It holds the larger δ of the two directions, an entry added and one removed. It is some tenths of a per cent
        wide for few answers and δ that are not small, and wider on the coarser grids beyond 64 and 1024 answers. For k
        above 1 the ends are further apart, unless an answer has few values: the upper one is that of k independent
        allocations of one each.

    Raises
    ------
    ArgumentError
        The noise is too small for a grid, for instance as small as the sensitivity with 10^4 answers; or a value that
        is not allowed, and the message names it.

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
    """
    answers, target = as_count(m, "m", least=1), as_fraction(epsilon, "epsilon")
    taken = as_count(k, "k", least=1)
    if taken > answers:
        raise ArgumentError(f"k = {spelled(k)} of m = {answers} answers; at most m are required")
    one = stated_answer(answer) if answer is not None else with_noise(sigma, sensitivity)
    if answers == 1:
        return one.delta(target)
    if answers > budget.MAX_ALLOCATED_ANSWERS:
        raise ArgumentError(f"m = {spelled(m)}; at most {budget.MAX_ALLOCATED_ANSWERS} answers are summed up")
    context = interval_context(BITS)
    least, most = rational_ends(context.exp(exact(context, target)))
    if one.ratios and ways(len(one.ratios), answers) <= budget.MAX_ALLOCATION_TERMS:
        ends = [of_all_ratios(one.ratios, answers, taken, factor) for factor in (most, least)]
        return Enclosure(max(Fraction(0), ends[0]), min(Fraction(1), ends[1]))
    if taken > 1:
        return _several(one, answers, taken, target, most)
    known = one.delta(target)  # an upper bound also with the secret, by joint convexity
    steps = next(steps for limit, steps in _STEPS if answers <= limit)
    grid = grid_of(one, answers * most, steps)
    above, below = (law.power(answers, answers * most) for law in (dominating(grid), dominated(one, grid)))

    def bound(total: RatioLaw, factor: Fraction) -> Fraction:
        """The larger of both directions; it decreases in K. `total` is the law of the sum, m times the mean y."""
        present = 1 - factor + total.put(answers * factor) / answers
        return max(present, factor * total.put(answers / factor) / answers)

    upper = min(bound(above, least) + most * Fraction(above.lost, 1 << BITS), Fraction(known.upper))
    return Enclosure(max(Fraction(0), min(bound(below, most), upper)), upper)


def _several(one: Answer, answers: int, taken: int, target: Fraction, factor: Fraction) -> Enclosure:
    """In several of the answers, on a grid: k allocations of one each above, what is computed of all answers below."""
    size, larger = divmod(answers, taken)
    sizes = [size + 1] * larger + [size] * (taken - larger)
    step = step_of(one, _STEPS[0][1])
    most = min(Fraction(math.ceil(one.reach[1] * sizes[0])), _MOST_POINTS * step)
    grid = grid_of(one, most, _STEPS[0][1])
    above = dominating(grid)
    of_size = {size: _block(above, size, most) for size in set(sizes)}
    present, absent = laws_of_product([of_size[size] for size in sizes])
    upper = max(Curve.answers(*laws).delta(target).upper for laws in ((present, absent), (absent, present)))
    ratios = few_of(one.ratios or dominated(one, grid).ratios, answers)
    lower = of_all_ratios(ratios, answers, taken, factor)
    if one.of_sum is not None:
        lower = max(lower, Fraction(one.of_sum(answers, taken, target).lower))
    return Enclosure(max(Fraction(0), lower), min(Fraction(1), Fraction(upper)))


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
