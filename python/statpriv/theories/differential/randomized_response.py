"""Composition of any (ε, δ)-differentially private mechanisms: optimal, and in closed form.

Kairouz, Oh and Viswanath (*The Composition Theorem for Differential Privacy*, Theorems 3.2 and 3.3; 3.4 for the
closed form): of all (ε, δ)-private mechanisms, *randomized response* is the worst under composition, also adaptive
composition. With probability δ it reveals everything; otherwise it releases one bit and lies with probability
`1/(1+e^ε)`. So `(ε', δ')` holds for every k-fold composition of such mechanisms exactly if it holds for randomized
response. The δ' of randomized response is a sum over the number `l` of lies among k answers. With

    P_l = C(k,l) e^{(k−l)ε}/(1+e^ε)^k                                       (one law; the other law is P_{k−l})
    δ_RR(ε') = Σ_l (P_l − e^{ε'} P_{k−l})_+ = Σ_l P_l (1 − e^{ε' − (k−2l)ε})_+
    δ'(ε')   = 1 − (1−δ)^k (1 − δ_RR(ε')).

The positive terms are those with `(k−2l)ε > ε'`. Let L be the last such l, and `x = (k−2L)ε − ε'`, so
`0 < x <= 2ε` unless ε' is small. As `e^{(k−2L)ε} P_{k−l} = P_l e^{−2(L−l)ε}` for l <= L,

    δ_RR(ε') = D_L + (1 − e^{−x}) T_L,     T_L = Σ_{l<=L} P_l e^{−2(L−l)ε},     D_L = Σ_{l<=L} P_l − T_L,

where D_L is δ_RR at the knot `(k−2L)ε` and `D_{L+1} = D_L + (1−e^{−2ε}) T_L`, with positive terms only. Between knots
the equation is solved for x in closed form. D_L is the only difference, and loses at most `log2((k+1)/(1−e^{−2ε}))`
bits by cancellation: as `P_{L−1}/P_L = L e^ε/(k−L+1) >= 1/k`, the terms before the last are at least a fraction
`1/(k+1)` of the sum, and each of them contributes to D_L with a factor of at least `1 − e^{−2ε}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from statpriv import budget
from statpriv._native import Enclosure, binomial_digits
from statpriv.errors import ArgumentError
from statpriv.numeric.exact import Number, as_count, as_fraction, as_nonnegative, as_positive, as_probability
from statpriv.numeric.intervals import (
    bits_below_one,
    enclosure,
    exact,
    interval_context,
    one_minus_exp,
    rational_ends,
)
from statpriv.numeric.literals import show_number
from statpriv.theories.differential.renyi import as_order

_BITS = 256
_DIGITS = 70
_NEGLIGIBLE = 2.0**-200
"""Relative size of a remainder that may be dropped from a sum; its bound is added to the upper end."""


class Guarantee(NamedTuple):
    """(ε, δ): ε in nats."""

    epsilon: Fraction
    delta: Enclosure


@dataclass(frozen=True, init=False)
class RandomizedResponse:
    """The k-fold composition of the worst (ε, δ)-differentially private mechanism, exactly.

    Its guarantees hold for any k mechanisms that are (ε, δ)-private, also if they are chosen adaptively. No better
    guarantee holds for all of them.

    Parameters
    ----------
    epsilon : float, int, Fraction, Decimal or str
        ε of each mechanism in nats, at least 0.
    delta : float, int, Fraction, Decimal or str
        δ of each mechanism, from 0 to 1.
    k : int
        Number of mechanisms, from 1 to 10^9.

    Examples
    --------
    >>> import statpriv as sp
    >>> hundred = sp.differential.RandomizedResponse(epsilon="0.1", delta="1e-8", k=100)
    >>> print(f"{hundred.delta(3).upper:.4e}, {hundred.epsilon('1e-5').upper:.4f}")
    1.3624e-03, 4.3296
    """

    local_epsilon: Fraction
    local_delta: Fraction
    k: int

    def __init__(self, *, epsilon: Number, delta: Number = 0, k: int = 1) -> None:
        exact_epsilon = as_nonnegative(epsilon, "epsilon")
        count = as_count(k, "k", least=1)
        if count > budget.MAX_RANDOMIZED_RESPONSES:
            raise ArgumentError(f"k = {k}; at most 10^9 mechanisms are summed up: advanced_composition takes more")
        object.__setattr__(self, "local_epsilon", exact_epsilon)
        object.__setattr__(self, "local_delta", as_probability(delta, "delta"))
        object.__setattr__(self, "k", count)

    def delta(self, epsilon: Number) -> Enclosure:
        """The least δ' at which any k such mechanisms are together (ε', δ')-private; ε' in nats, at least 0."""
        target = as_nonnegative(epsilon, "epsilon")
        if target >= self.k * self.local_epsilon:
            return enclosure(self._told, least=0, most=1)
        last = -((target / self.local_epsilon - self.k) // 2) - 1
        at_knot, slope = self._knot(last)
        rest = (self.k - 2 * last) * self.local_epsilon - target
        return _total(self._told, at_knot + one_minus_exp(self._context, rest) * slope)

    def epsilon(self, delta: Number) -> Enclosure:
        """The least ε' in nats at which k such mechanisms are (ε', δ')-private together; δ' from 0 to 1.

        It is at least 0, and infinite if none suffices.
        """
        target = as_probability(delta, "delta")
        if target == 1:
            return Enclosure(0)
        if self.local_delta == 1:
            return Enclosure(float("inf"))
        if self._is_told(target):
            return Enclosure(self.k * self.local_epsilon)
        # 1 − (1−δ)^k (1−y) = δ' solved for y = δ_RR.
        told = self._told
        wanted = (exact(self._context, target) - told) / (1 - told)
        if wanted.a < 0:
            return Enclosure(0 if wanted.b >= 0 else float("inf"), float("inf"))
        if self.local_epsilon == 0:
            return Enclosure(0)
        return self._solved(wanted)

    def pairs(self) -> Iterator[Guarantee]:
        """The guarantees at the knots `(k−2i)ε`, `i = 0 … ⌊k/2⌋`; between knots δ' is linear in `e^ε'`."""
        context, step = self._context, 2 * self.local_epsilon
        jump, odds, decay = one_minus_exp(context, step), self._odds, context.exp(-exact(context, step))
        told, term, delta, slope = self._told, self._none_lies, context.mpf(0), context.mpf(0)
        for i in range(self.k // 2 + 1):
            yield Guarantee((self.k - 2 * i) * self.local_epsilon, _total(told, delta))
            slope = slope * decay + term
            delta += jump * slope
            term = term * odds * (self.k - i) / (i + 1)

    def renyi(self, order: Number) -> Enclosure:
        """The Rényi divergence of order α > 1 between the two laws, in nats; infinite if δ is above 0.

        With `t = α − ½` it is `k (ln cosh(tε) − ln cosh(ε/2))/(α−1)` (Mironov, *Rényi Differential Privacy*,
        Proposition 5).
        """
        alpha = as_order(order)
        if self.local_delta > 0:
            return Enclosure(float("inf"))
        epsilon = self.local_epsilon
        context = interval_context(_BITS + 2 * bits_below_one(epsilon) + bits_below_one(alpha - 1))
        # cosh(tε)/cosh(ε/2) = e^{(α−1)ε} (1 + e^{−2tε})/(1 + e^{−ε})
        wide, narrow = (context.exp(-exact(context, c * epsilon)) for c in (2 * alpha - 1, Fraction(1)))
        value = exact(context, (alpha - 1) * epsilon) + context.log((1 + wide) / (1 + narrow))
        return enclosure(self.k * value / exact(context, alpha - 1), least=0)

    @property
    def zcdp(self) -> Enclosure:
        """The least ρ of zero-concentrated differential privacy, `k ε tanh(ε/2)`; infinite if δ is above 0.

        `ln cosh(ε√y)` is concave in y, as `tanh(x)/x` falls. Its tangent at `y = ¼` gives at `y = t²`, with
        `t = α − ½`: `ln cosh(tε) − ln cosh(ε/2) <= (t² − ¼) ε tanh(ε/2) = α(α−1) ε tanh(ε/2)`; equality for α → 1.
        """
        if self.local_delta > 0:
            return Enclosure(float("inf"))
        context, epsilon = self._context, self.local_epsilon
        tangent = one_minus_exp(context, epsilon) / (1 + self._odds)
        return enclosure(self.k * exact(context, epsilon) * tangent, least=0)

    @property
    def _context(self) -> Any:  # noqa: ANN401  (mpmath has no types)
        """A precision that covers the cancellation in D_L (see the module docstring) and in `1 − e^{−2ε}`."""
        return interval_context(_BITS + self.k.bit_length() + 2 * bits_below_one(self.local_epsilon))

    @property
    def _odds(self) -> Any:  # noqa: ANN401
        """`e^{−ε}`, the odds of a lie."""
        return self._context.exp(-exact(self._context, self.local_epsilon))

    @property
    def _none_lies(self) -> Any:  # noqa: ANN401
        """`P_0 = (1+e^{−ε})^{−k}`."""
        return self._context.exp(-self.k * self._context.log(1 + self._odds))

    @property
    def _told(self) -> Any:  # noqa: ANN401
        """`1 − (1−δ)^k`, the probability that at least one of k mechanisms reveals everything."""
        return _one_of(self._context, self.local_delta, self.k)

    def _is_told(self, target: Fraction) -> bool:
        """Whether δ' is exactly `1 − (1−δ)^k`; False without a test if the exact power is too long."""
        if self.local_delta == 0:
            return target == 0
        short = self.k * self.local_delta.denominator.bit_length() <= budget.MAX_POWER_BITS
        return short and 1 - target == (1 - self.local_delta) ** self.k

    def _knot(self, last: int) -> tuple[Any, Any]:
        """`(D_L, T_L)`."""
        context = self._context
        weight = context.exp(-exact(context, 2 * last * self.local_epsilon))
        slope = weight * self._sum_of_lies(last, 1)
        return (self._sum_of_lies(last, -1) - slope if last else context.mpf(0)), slope

    def _sum_of_lies(self, last: int, sign: int) -> Any:  # noqa: ANN401
        """`Σ_{l<=L} C(k,l) e^{±lε}/(1+e^{−ε})^k`, summed from its largest term to both sides.

        The ratio of neighbouring terms, `e^{±ε}(k−l)/(l+1)`, decreases in l. So the remainder beyond any term is at
        most a geometric series.
        """
        context, k = self._context, self.k
        ratio = context.exp(sign * exact(context, self.local_epsilon))
        start = min(last, int(k * enclosure(ratio / (1 + ratio)).midpoint)) if sign < 0 else last
        coefficient = binomial_digits("pmf", _DIGITS, k=start, n=k, p=Fraction(1, 2))
        largest = context.mpf([coefficient.lower, coefficient.upper]) * context.mpf(2) ** k * ratio**start
        down = (lies / (ratio * (k - lies + 1)) for lies in range(start, 0, -1))
        up = (ratio * (k - lies) / (lies + 1) for lies in range(start, last))
        return largest * self._none_lies * (1 + _sum_of_products(context, down) + _sum_of_products(context, up))

    def _solved(self, wanted: Any) -> Enclosure:  # noqa: ANN401
        """The ε' with `δ_RR(ε') = y`: bisection finds the knots around it, then a closed form gives x.

        D_L increases in L. If rounding leaves undecided whether y reaches D_{L+1}, the line from knot L is extended
        beyond knot L+1. δ_RR is convex in `1 − e^{−x}`, so a true x above `2ε` is at most the x on the extended line.
        """
        context = self._context
        first, past = 0, (self.k + 1) // 2
        while past - first > 1:
            middle = (first + past) // 2
            if self._knot(middle)[0].b <= wanted.a:
                first = middle
            else:
                past = middle
        at_knot, slope = self._knot(first)
        part = (wanted - at_knot) / slope
        knot, step = (self.k - 2 * first) * self.local_epsilon, 2 * self.local_epsilon
        if part.a >= 1:  # y is not reached even at ε' = 0
            return Enclosure(0)
        least, most = (rational_ends(-context.log(1 - end)) if end < 1 else (knot, knot) for end in (part.a, part.b))
        return Enclosure(
            max(Fraction(0), knot - most[1]), max(Fraction(0), knot - min(max(least[0], Fraction(0)), step))
        )


def optimal_composition(*, epsilon: Number, delta: Number = 0, k: int) -> list[Guarantee]:
    """The optimal composition of k mechanisms that are each (ε, δ)-differentially private.

    Kairouz, Oh and Viswanath, *The Composition Theorem for Differential Privacy*, Theorem 3.3.

    Parameters
    ----------
    epsilon, delta, k
        As for :class:`RandomizedResponse`, which takes less than a second at k = 10^6 for a single ε or δ. The list has
        `⌊k/2⌋ + 1` entries: 10^4 mechanisms take about a second, 10^6 take minutes.

    Returns
    -------
    list of Guarantee
        Pairs `((k−2i)ε, 1 − (1−δ)^k (1−δ_i))`, `i = 0 … ⌊k/2⌋`; ε exactly, δ enclosed.

    Examples
    --------
    >>> import statpriv as sp
    >>> for pair in sp.differential.optimal_composition(epsilon="0.1", delta="1e-6", k=4):
    ...     print(f"{float(pair.epsilon):.1f} {pair.delta.upper:.4e}")
    0.4 4.0000e-06
    0.2 1.3773e-02
    0.0 7.4879e-02
    """
    return list(RandomizedResponse(epsilon=epsilon, delta=delta, k=k).pairs())


def advanced_composition(*, epsilon: Number, delta: Number = 0, k: int, slack: Number) -> tuple[Enclosure, Enclosure]:
    """The composition theorem in closed form: looser than the optimal one, for any k.

    Kairouz, Oh and Viswanath, Theorem 3.4: k mechanisms, each (ε, δ)-private, are together (ε', δ')-private with the
    least of three ε',

        kε,    kε tanh(ε/2) + ε √(2k ln(e + √(kε²)/δ̃)),    kε tanh(ε/2) + ε √(2k ln(1/δ̃)),

    and `δ' = 1 − (1−δ)^k (1−δ̃)`.

    Parameters
    ----------
    epsilon : float, int, Fraction, Decimal or str
        ε of each mechanism in nats, at least 0.
    delta : float, int, Fraction, Decimal or str
        δ of each mechanism, from 0 to 1.
    k : int
        How many mechanisms, from 1 to 2^53.
    slack : float, int, Fraction, Decimal or str
        δ̃, above 0 and at most 1.

    Returns
    -------
    tuple of Enclosure
        ε' and δ'.

    Examples
    --------
    >>> import statpriv as sp
    >>> epsilon, delta = sp.differential.advanced_composition(epsilon="0.1", k=100, slack="1e-5")
    >>> optimal = sp.differential.RandomizedResponse(epsilon="0.1", k=100).epsilon("1e-5")
    >>> print(f"{epsilon.upper:.4f} {optimal.upper:.4f}")
    5.2981 4.3068
    """
    local, count, extra = as_fraction(epsilon, "epsilon"), as_count(k, "k", least=1), as_positive(slack, "slack")
    if local < 0:
        raise ArgumentError(f"epsilon = {epsilon}; a number of at least 0 is required")
    if extra > 1:
        raise ArgumentError(f"slack = {slack}; a number above 0 and at most 1 is required")
    one = RandomizedResponse(epsilon=local, delta=delta)
    context = interval_context(_BITS)
    mean = count * exact(context, local) * one_minus_exp(context, local) / (1 + context.exp(-exact(context, local)))
    logarithms = (
        context.log(context.e + exact(context, local / extra) * context.sqrt(count)),
        -context.log(exact(context, extra)),
    )
    bounds = [
        mean + exact(context, local) * context.sqrt(2 * count * context.mpf([max(x.a, 0), max(x.b, 0)]))
        for x in logarithms
    ]
    bounds.append(exact(context, count * local))
    least = context.mpf([min(bound.a for bound in bounds), min(bound.b for bound in bounds)])
    told = _one_of(context, one.local_delta, count)
    return enclosure(least, least=0), enclosure(told + (1 - told) * exact(context, extra), least=0, most=1)


def exact_randomized_response(*, exp_epsilon: Number, exp_local_epsilon: Number, delta: Number = 0, k: int) -> Fraction:
    """δ' of :class:`RandomizedResponse` as a fraction, where both `e^ε'` and `e^ε` are rational.

    Parameters
    ----------
    exp_epsilon : float, int, Fraction, Decimal or str
        `e^ε'`, at least 1.
    exp_local_epsilon : float, int, Fraction, Decimal or str
        `e^ε` of each mechanism, at least 1.
    delta : float, int, Fraction, Decimal or str
        δ of each mechanism, from 0 to 1.
    k : int
        How many mechanisms; the fraction has about k times the digits of `e^ε` and δ.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.differential.exact_randomized_response(exp_epsilon=1, exp_local_epsilon=3, k=2)
    Fraction(1, 2)
    """
    factor, odds = (as_fraction(exp_epsilon, "exp_epsilon"), as_fraction(exp_local_epsilon, "exp_local_epsilon"))
    for value, name in ((factor, "exp_epsilon"), (odds, "exp_local_epsilon")):
        if value < 1:
            raise ArgumentError(f"{name} = {show_number(value)}; a number of at least 1 is required: ε is not negative")
    count, told = as_count(k, "k", least=1), as_probability(delta, "delta")
    sums, coefficient = Fraction(0), 1
    for lies in range(count // 2 + 1):
        sums += coefficient * max(Fraction(0), odds ** (count - lies) - factor * odds**lies)
        coefficient = coefficient * (count - lies) // (lies + 1)
    return 1 - (1 - told) ** count * (1 - sums / (1 + odds) ** count)


def _one_of(context: Any, probability: Fraction, k: int) -> Any:  # noqa: ANN401
    """`1 − (1−δ)^k`, which for small kδ lies between `kδ − (kδ)²/2` and `kδ` (Bonferroni)."""
    expected = k * probability
    if expected < Fraction(1, 2**64):
        return context.mpf([exact(context, expected - expected**2 / 2).a, exact(context, expected).b])
    if probability == 1:
        return context.mpf(1)
    return 1 - context.exp(k * context.log(exact(context, 1 - probability)))


def _total(told: Any, randomized_response: Any) -> Enclosure:  # noqa: ANN401
    """`1 − (1−δ)^k (1 − y)`, as a sum of positive terms."""
    return enclosure(told + (1 - told) * randomized_response, least=0, most=1)


def _sum_of_products(context: Any, factors: Iterable[Any]) -> Any:  # noqa: ANN401
    """`f_1 + f_1 f_2 + f_1 f_2 f_3 + …` for decreasing positive factors; a geometric series bounds the remainder."""
    term, total = context.mpf(1), context.mpf(0)
    for factor in factors:
        term *= factor
        total += term
        if factor.b < 1:
            rest = term * factor / (1 - factor)
            if rest.b < _NEGLIGIBLE * (1 + total.a):
                return total + context.mpf([0, rest.b])
    return total
