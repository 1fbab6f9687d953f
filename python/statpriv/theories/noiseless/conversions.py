"""Conversions between noiseless (NP), a-posteriori (ANP) and statistical privacy (SP), with proved factors.

Let `x = e^ε`, and q the least prior probability of a value. Write `P_v` for the probability of an answer given the
value v, `P = Σ_u p_u P_u` for its probability, and `r_v = P_v/P` for posterior over prior, so that `Σ_u p_u r_u = 1`.

*NP to ANP.* `1/r_v = p_v + Σ_{u≠v} p_u P_u/P_v` lies between `q' + (1−q')/x` and `q' + (1−q')x` with `q' = p_v >= q`,
so that 1/r_v is at most `q + (1−q)x <= x`. The same bound holds for r_v, because
`(q + (1−q)x)(q + (1−q)/x) >= 1`. If q is not known, the bound is x, that is, ε. Lemma 1 prints 2ε.

*ANP to NP.* `r_v <= x` and `r_w >= 1/x` give `r_v/r_w <= x²`. Moreover `p_v r_v = 1 − Σ_{u≠v} p_u r_u <= 1 −
(1−p_v)/x`, which gives `r_v/r_w <= x r_v <= (x − 1 + p_v)/p_v <= 1 + (x−1)/q`. So the general factor is 2: ε-ANP
implies 2ε-NP. Lemma 1 prints ε, which the majority of three fair bits refutes: it has ANP ln 2 and NP ln 3. It attains
the second bound, with q = 1/2.

*NP to SP.* The ratio bound fails only for answers in S_1. So `P_v(S) <= P_v(S_1) + x P_w(S)` for any set S of answers,
and `P_v(S_1) <= P(S_1)/p_v <= δ/q` for values outside S_2.

*SP to NP.* Let `y = e^{ε−ε'} < 1` and `S = {P_v > e^{ε'} P_w}`. From `P_v(S) <= x P_w(S) + δ <= y P_v(S) + δ` follows
`P_v(S) <= δ/(1−y)`. For any value u `P_u(S) <= x P_w(S) + δ <= y P_v(S) + δ <= δ/(1−y)`. So `P(S) <= δ/(1−y)`, and the
union over all ordered pairs of values and all entries has at most that probability times their number.
"""

from __future__ import annotations

from fractions import Fraction

from statpriv.errors import ArgumentError
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_nonnegative, as_positive, as_probability
from statpriv.numeric.intervals import enclosure, exact, interval_context
from statpriv.numeric.literals import spelled
from statpriv.theories.noiseless.guarantee import NoiselessGuarantee

_BITS = 160


def posterior_from_noiseless(epsilon: Number, *, least_prior: Number | None = None) -> NoiselessGuarantee:
    """ε-NP implies ε-ANP; the bound is smaller if the least prior probability of a value is known.

    Parameters
    ----------
    epsilon : float, int, Fraction, Decimal or str
        ε of noiseless privacy in nats, at least 0.
    least_prior : float, int, Fraction, Decimal or str, optional
        The least probability q of a value of an entry, above 0 and at most 1/2. The bound is then `ln(q + (1−q)e^ε)`.

    Returns
    -------
    NoiselessGuarantee
        ε of a-posteriori noiseless privacy, in nats.

    Raises
    ------
    ArgumentError
        A value that is not allowed.

    Notes
    -----
    Source: *Noiseless Database Privacy*, Lemma 1, which prints 2ε; the proof is in the module docstring.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.noiseless.posterior_from_noiseless("0.5").epsilon
    Enclosure(0.5, 0.5)
    >>> round(sp.noiseless.posterior_from_noiseless("0.5", least_prior="0.1").epsilon.upper, 4)
    0.4599
    """
    bound = as_nonnegative(epsilon, "epsilon")
    if least_prior is None:
        return _guarantee(
            Enclosure(bound), "a posteriori", "Lemma 1, with its factors the right way round: ε-NP implies ε-ANP"
        )
    q, context = _least_prior(least_prior), interval_context(_BITS)
    moved = context.log(1 + exact(context, 1 - q) * _expm1(context, bound))
    theorem = "Lemma 1, sharpened by the least prior probability q: ε-NP implies ln(q + (1−q)e^ε)-ANP"
    return _guarantee(enclosure(moved, least=0), "a posteriori", theorem)


def noiseless_from_posterior(epsilon: Number, *, least_prior: Number | None = None) -> NoiselessGuarantee:
    """ε-ANP implies 2ε-NP, in nats; the bound is smaller if the least prior probability of a value is known.

    With `least_prior = q` it is the smaller of 2ε and `ln(1 + (e^ε−1)/q)`. The arguments and errors are those of
    :func:`posterior_from_noiseless`.

    Notes
    -----
    Source: *Noiseless Database Privacy*, Lemma 1, which prints ε; the proof is in the module docstring.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.noiseless.noiseless_from_posterior("0.5").epsilon
    Enclosure(1.0, 1.0)
    >>> round(sp.noiseless.noiseless_from_posterior("0.5", least_prior="1/2").epsilon.upper, 4)
    0.8318
    """
    bound = as_nonnegative(epsilon, "epsilon")
    double = Enclosure(2 * bound)
    if least_prior is None:
        return _guarantee(double, "noiseless", "Lemma 1, with its factors the right way round: ε-ANP implies 2ε-NP")
    q, context = _least_prior(least_prior), interval_context(_BITS)
    moved = enclosure(context.log(1 + _expm1(context, bound) / exact(context, q)), least=0)
    smaller = Enclosure(min(moved.lower, double.lower), min(moved.upper, double.upper))
    theorem = "Lemma 1, sharpened by the least prior probability q: ε-ANP implies min(2ε, ln(1 + (e^ε−1)/q))-NP"
    return _guarantee(smaller, "noiseless", theorem)


def statistical_from_noiseless(epsilon: Number, delta: Number, *, least_prior: Number) -> NoiselessGuarantee:
    """(ε, δ)-NP implies (ε, δ/q)-statistical privacy for the values that are not excepted.

    Parameters
    ----------
    epsilon : float, int, Fraction, Decimal or str
        ε in nats, at least 0; it is unchanged.
    delta : float, int, Fraction, Decimal or str
        δ of noiseless privacy, from 0 to 1.
    least_prior : float, int, Fraction, Decimal or str
        The least probability q of a value outside the excepted set `S_2`, above 0 and at most 1.

    Returns
    -------
    NoiselessGuarantee
        (ε, δ) of statistical privacy; δ is at most 1.

    Raises
    ------
    ArgumentError
        A value that is not allowed.

    Notes
    -----
    Source: *Noiseless Database Privacy*, Definition 4; the proof is in the module docstring.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.noiseless.statistical_from_noiseless("0.5", "1/64", least_prior="1/4").delta
    Enclosure(0.0625, 0.0625)
    """
    q = as_positive(least_prior, "least_prior")
    if q > 1:
        raise ArgumentError(f"least_prior = {spelled(least_prior)}; a probability above 0 is required")
    loss = min(Fraction(1), as_probability(delta, "delta") / q)
    return NoiselessGuarantee(
        *(Enclosure(as_nonnegative(epsilon, "epsilon")), Enclosure(loss), "statistical"),
        "Definition 4: the excepted answers have probability at most δ/q, whatever the value of the entry",
    )


def noiseless_from_statistical(
    epsilon: Number, delta: Number, *, target: Number | None = None, values: int = 2, entries: int = 1
) -> NoiselessGuarantee:
    """(ε, δ)-statistical privacy implies (ε', δ')-NP for every ε' > ε, and (ε, 0) implies ε-NP.

    Parameters
    ----------
    epsilon : float, int, Fraction, Decimal or str
        ε of statistical privacy in nats, at least 0.
    delta : float, int, Fraction, Decimal or str
        δ of statistical privacy, from 0 to 1.
    target : float, int, Fraction, Decimal or str, optional
        ε' in nats, above ε. Needed unless δ = 0.
    values : int, default 2
        Number of values of an entry, at least 2.
    entries : int, default 1
        Number of entries that share one set of excepted answers. For a symmetric query on identically distributed
        entries 1 suffices, because the sets of all entries coincide.

    Returns
    -------
    NoiselessGuarantee
        (ε', δ') of noiseless privacy, `δ' = entries · values(values−1) · δ/(1−e^{ε−ε'})`, at most 1.

    Raises
    ------
    ArgumentError
        A value that is not allowed, or no `target` where one is needed.

    Notes
    -----
    Derived for this project; the proof is in the module docstring.

    Examples
    --------
    >>> import statpriv as sp
    >>> round(sp.noiseless.noiseless_from_statistical("0.1", "1e-6", target="0.2").delta.upper, 8)
    2.102e-05
    """
    bound, loss = as_nonnegative(epsilon, "epsilon"), as_probability(delta, "delta")
    kinds = as_count(values, "values", least=2)
    pairs = kinds * (kinds - 1) * as_count(entries, "entries", least=1)
    if loss == 0 and target is None:
        return _guarantee(Enclosure(bound), "noiseless", "the definitions: with δ = 0 they are the same")
    if target is None:
        raise ArgumentError(f"target = None with delta = {spelled(delta)}; an ε' above epsilon is required")
    raised = as_nonnegative(target, "target")
    if raised <= bound:
        raise ArgumentError(f"target = {spelled(target)}; an ε' above epsilon = {spelled(epsilon)} is required")
    context = interval_context(_BITS)
    moved = exact(context, pairs * loss) / -_expm1(context, bound - raised)
    theorem = (
        "the tail bound δ' = entries · values(values−1) · δ/(1−e^{ε−ε'}) of the ratio that statistical privacy allows"
    )
    return NoiselessGuarantee(Enclosure(raised), enclosure(moved, least=0, most=1), "noiseless", theorem)


def _guarantee(epsilon: Enclosure, notion: str, theorem: str) -> NoiselessGuarantee:
    return NoiselessGuarantee(epsilon, Enclosure(0), notion, theorem)  # type: ignore[arg-type]


def _least_prior(value: Number) -> Fraction:
    q = as_positive(value, "least_prior")
    if q > Fraction(1, 2):
        raise ArgumentError(f"least_prior = {spelled(value)}; of at least two values the least likely has at most 1/2")
    return q


def _expm1(context, x: Fraction):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  (mpmath has no types)
    """`e^x − 1`: for small x it lies between `x` and `x + x²`."""
    if abs(x) < Fraction(1, 2**64):
        return context.mpf([exact(context, x).a, exact(context, x + x * x).b])
    return context.exp(exact(context, x)) - 1
