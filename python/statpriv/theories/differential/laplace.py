"""The Laplace mechanism: its k-fold composition in closed form.

Let an answer have sensitivity S and Laplace noise of scale b, and let `η = S/b`. The privacy loss of one answer is
`η − 2U`, where U has mass ½ at 0, the density `e^{−t}/2` on (0, η), and mass `e^{−η}/2` at η. This is the law
`½ e^{−t} ν` with `ν = δ_0 + δ_η + dt` on `[0, η]`. So the sum W of k independent U has the law `2^{−k} e^{−w} ν^{*k}`,
and with `w* = (kη − ε)/2`

    δ(ε) = E[(1 − e^{2(W − w*)})_+] = 2^{1−k} e^{−w*} ∫_0^{w*} sinh(w* − w) ν^{*k}(dw).

The Laplace transform of ν is `(1 + 1/s) + e^{−sη} (1 − 1/s)`, that of sinh is `1/(s²−1)`; so the integral has the
transform `Σ_j C(k,j) e^{−sjη} (s+1)^{k−j−1} (s−1)^{j−1}/s^k`. Where `1 <= j <= k−1` that is a polynomial over `s^k`,
and inverts to a polynomial in `u = w* − jη`. Where `j = 0`, the quotient of `(s+1)^{k−1}` by `s−1` leaves the remainder
`2^{k−1}`, whose part `2^{k−1}/((s−1)s^k)` inverts to `2^{k−1} (e^u − Σ_{i<k} u^i/i!)`. Only the terms with `j < w*/η`
contribute, so `j = k` does not occur, as `w* < kη`:

    δ(ε) = 1 − e^{−w*} 2^{1−k} (2^{k−1} Σ_{i<k} w*^i/i! − Σ_{0<=j<w*/η} C(k,j) p_j(w* − jη)),

with rational polynomials p_j: of `((s+1)^{k−1} − 2^{k−1})/(s−1)` for `j = 0`. For `k = 1` it is `1 − e^{(ε−η)/2}`. The
terms cancel, so the precision is raised until δ is enclosed to about the precision of a double. By symmetry the other
direction has the same curve.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from statpriv import budget
from statpriv._native import Enclosure
from statpriv.errors import ArgumentError
from statpriv.numeric.exact import Number, as_count, as_nonnegative, as_positive, as_probability
from statpriv.numeric.intervals import bits_below_one, enclosure, exact, interval_context, one_minus_exp
from statpriv.theories.differential.inverse import least_epsilon
from statpriv.theories.differential.renyi import as_order

_BITS = 128


@dataclass(frozen=True, init=False)
class LaplaceMechanism:
    """k answers with Laplace noise, exactly.

    Parameters
    ----------
    scale : float, int, Fraction, Decimal or str
        Scale b of the noise, above 0; its standard deviation is `√2 b`.
    sensitivity : float, int, Fraction, Decimal or str
        How far one entry moves an answer, above 0.
    k : int
        Number of answers, each with independent noise.

    Examples
    --------
    >>> import statpriv as sp
    >>> ten = sp.differential.LaplaceMechanism(scale=10, k=10)
    >>> print(f"{ten.delta('0.5').upper:.4e}, {ten.epsilon('1e-3').upper:.4f}")
    8.9383e-03, 0.7383
    """

    scale: Fraction
    sensitivity: Fraction
    k: int

    def __init__(self, *, scale: Number, sensitivity: Number = 1, k: int = 1) -> None:
        object.__setattr__(self, "scale", as_positive(scale, "scale"))
        object.__setattr__(self, "sensitivity", as_positive(sensitivity, "sensitivity"))
        object.__setattr__(self, "k", as_count(k, "k", least=1))

    @property
    def local_epsilon(self) -> Fraction:
        """ε of one answer, pure."""
        return self.sensitivity / self.scale

    def delta(self, epsilon: Number) -> Enclosure:
        """The least δ at which the k answers are (ε, δ)-differentially private; ε in nats, at least 0.

        Raises
        ------
        ArgumentError
            `k` is above 500, where the sum has too many terms; `delta_from_renyi(ε, mechanism.renyi)` bounds it.
        """
        target = as_nonnegative(epsilon, "epsilon")
        reach = (self.k * self.local_epsilon - target) / 2
        if reach <= 0:
            return Enclosure(0)
        if self.k == 1:
            return enclosure(one_minus_exp(interval_context(_BITS), reach), least=0, most=1)
        if self.k > budget.MAX_LAPLACE_ANSWERS:
            raise ArgumentError(
                f"k = {self.k}; up to {budget.MAX_LAPLACE_ANSWERS} answers are composed exactly: "
                "delta_from_renyi(epsilon, mechanism.renyi) bounds more"
            )
        return self._composed(reach)

    def epsilon(self, delta: Number) -> Enclosure:
        """The least ε in nats at which the k answers are (ε, δ)-differentially private; δ from 0 to 1."""
        target = as_probability(delta, "delta")
        most = self.k * self.local_epsilon
        return Enclosure(most) if target == 0 else least_epsilon(self.delta, target, most=most)

    def renyi(self, order: Number) -> Enclosure:
        """The Rényi divergence of order α > 1 of the k answers, in nats (Mironov, Proposition 6).

        `k ln(α e^{(α−1)η}/(2α−1) + (α−1) e^{−αη}/(2α−1))/(α−1)`.
        """
        alpha = as_order(order)
        eta = self.local_epsilon
        context = interval_context(_BITS + 2 * bits_below_one(eta) + bits_below_one(alpha - 1))
        # Without the factor e^{(α−1)η}; for small η the sum is of the order η².
        first, second = (exact(context, part / (2 * alpha - 1)) for part in (alpha, alpha - 1))
        logarithm = context.log(first + second * context.exp(-exact(context, (2 * alpha - 1) * eta)))
        value = exact(context, eta) + logarithm / exact(context, alpha - 1)
        return enclosure(self.k * value, least=0)

    @property
    def zcdp(self) -> Enclosure:
        """The least ρ of zero-concentrated differential privacy, `k (η + e^{−η} − 1)`.

        Harrison and Manurangsi, *Exact zCDP Characterizations for Fundamental Differentially Private Mechanisms*.
        """
        context = interval_context(_BITS + 2 * bits_below_one(self.local_epsilon))
        eta = exact(context, self.local_epsilon)
        return enclosure(self.k * (eta + context.exp(-eta) - 1), least=0)

    def _composed(self, reach: Fraction) -> Enclosure:
        bits = _BITS + 2 * self.k
        while True:
            context = interval_context(bits)
            found = enclosure(self._sum(context, reach), least=0, most=1)
            if found.width <= found.lower * 2.0**-50 or found.upper < 1e-300:
                return found
            bits *= 2

    def _sum(self, context: Any, reach: Fraction) -> Any:  # noqa: ANN401  (mpmath has no types)
        """`1 − e^{−w*} (…)`."""
        k, eta = self.k, self.local_epsilon
        factorials = [context.mpf(1)]
        for i in range(1, k):
            factorials.append(factorials[-1] / i)
        whole = exact(context, reach)
        series = _polynomial(context, [context.mpf(1)] * k, whole, factorials)
        coefficient, rest = 1, context.mpf(0)
        for j, polynomial in enumerate(_numerators(k)):
            if j * eta >= reach:
                break
            # s^m / s^k inverts to u^{k−m−1}/(k−m−1)!.
            rest += coefficient * _polynomial(context, polynomial[::-1], exact(context, reach - j * eta), factorials)
            coefficient = coefficient * (k - j) // (j + 1)
        return 1 - context.exp(-whole) * (series - rest / context.mpf(2) ** (k - 1))


def _polynomial(context: Any, coefficients: list[Any], u: Any, factorials: list[Any]) -> Any:  # noqa: ANN401
    """`Σ c_i u^i/i!`."""
    total = context.mpf(0)
    for coefficient, factorial in zip(reversed(coefficients), reversed(factorials), strict=True):
        total = total * u + coefficient * factorial
    return total


def _numerators(k: int) -> Iterator[list[int]]:
    """Coefficients of `s^0 … s^{k−1}` in the numerator over `s^k`, for j = 0, 1, …, k−1."""
    power = [1]
    for _ in range(k - 1):
        power = _times(power, 1)
    # j = 0: ((s+1)^{k−1} − 2^{k−1})/(s−1), by synthetic division; the remainder is 0.
    yield [*_divided(power, 1), 0]
    # j = 1: (s+1)^{k−2}.
    current = _divided(power, -1)
    for _ in range(1, k):
        yield [*current, 0]
        # (s+1)^a (s−1)^b to (s+1)^{a−1} (s−1)^{b+1}.
        current = _times(_divided(current, -1), -1)


def _times(polynomial: list[int], constant: int) -> list[int]:
    """Times `s + constant`; coefficients from `s^0` on."""
    return [a + constant * b for a, b in zip([0, *polynomial], [*polynomial, 0], strict=True)]


def _divided(polynomial: list[int], root: int) -> list[int]:
    """The quotient by `s − root`."""
    quotient, carried = [], 0
    for coefficient in reversed(polynomial[1:]):
        carried = coefficient + root * carried
        quotient.append(carried)
    return quotient[::-1]
