"""Noiseless privacy of Boolean functions from their distance to juntas: Theorems 2 to 4 and Corollary 1.

`τ_k` is the advantage `|2 P[f = g] − 1|` of the best function g of at most k of the entries; the paper calls f
`(1−τ_k)`-far from k-juntas. Let `A = P[f = 0]`, so that `|2A − 1| = τ_1` of the paper (0-juntas are the constants), and
`1/2 + B = P[f = t_i]`, so that `|2B| <= τ_2`. With `p = P[t_i = 1]`

    N = P[f = 0 | t_i = 0] = (A + B + 1/2 − p)/(2(1−p)),      D = P[f = 0 | t_i = 1] = (A − B − 1/2 + p)/(2p).

ε is the largest logarithm of N/D, D/N, (1−N)/(1−D) and (1−D)/(1−N). The paper takes the worst A separately in the
numerator and in the denominator, which gives `(1 + s/(2(1−p)))/(1 − s/(2p))` with `s = τ_1 + τ_2`, and the same with p
and 1−p exchanged. The sharper form uses the same A in both, and tries both signs of τ_1. All four ratios are quotients
of functions that are linear in B, so they are monotone in B if the denominator is positive: the ends ±τ_2/2 suffice.
The ratios are monotone in A too. Theorem 4 has `|2A − 1| <= τ/δ` and `|2B| <= τ/δ`, except for leaked values of
probability 2δ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Literal

from statpriv.errors import ArgumentError
from statpriv.model.probabilities import probability_list
from statpriv.numeric.arguments import as_word
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_fraction, as_probability, is_array
from statpriv.numeric.literals import spelled
from statpriv.theories.noiseless.guarantee import NoiselessGuarantee
from statpriv.theories.noiseless.levels import Ratio, larger_of, log_ratio

Method = Literal["printed", "sharp"]


def junta_epsilon(
    tau_1: Number, tau_2: Number, *, p: Number | Sequence[Number] = Fraction(1, 2), method: Method = "sharp"
) -> Enclosure:
    """ε of a Boolean function that is (1−τ_1)-far from constants and (1−τ_2)-far from 1-juntas.

    Parameters
    ----------
    tau_1, tau_2 : float, int, Fraction, Decimal or str
        The advantages, from 0 to 1: of the best constant, and of the best function of one entry.
    p : float, int, Fraction, Decimal or str, or a sequence, default "1/2"
        Probability that an entry is one, strictly between 0 and 1; one number for all entries or one for each. The
        entries need not be independent.
    method : {"sharp", "printed"}
        "printed" is the bound of Theorem 3 (Theorem 2 for fair bits). "sharp" uses the same P[f = 0] in the numerator
        and the denominator of the ratio.

    Returns
    -------
    Enclosure
        ε of noiseless privacy in nats; infinite if the theorem gives no bound.

    Raises
    ------
    ArgumentError
        A value out of range.

    Notes
    -----
    Source: *Noiseless Database Privacy*, Theorems 2 and 3; the sharper form is proved in the module docstring.

    Examples
    --------
    >>> import statpriv as sp
    >>> round(sp.noiseless.junta_epsilon("0.2", "0.3", method="printed").upper, 4)
    1.0986
    >>> round(sp.noiseless.junta_epsilon("0.2", "0.3").upper, 4)
    0.7885
    """
    return log_ratio(
        junta_ratio(as_probability(tau_1, "tau_1"), as_probability(tau_2, "tau_2"), _probabilities(p), method)
    )


def junta_guarantee(
    tau: Number,
    *,
    delta: Number,
    p: Number | Sequence[Number] = Fraction(1, 2),
    queries: int = 1,
    method: Method = "sharp",
) -> NoiselessGuarantee:
    """(ε, δ) of a Boolean function that is (1−τ)-far from (d+1)-juntas, when any d independent entries have leaked.

    Parameters
    ----------
    tau : float, int, Fraction, Decimal or str
        The advantage of the best function of d+1 entries, from 0 to 1.
    delta : float, int, Fraction, Decimal or str
        Any number strictly between 0 and 1. The guarantee fails for leaked values of total probability at most 2δ.
    p : float, int, Fraction, Decimal or str, or a sequence, default "1/2"
        Probability that an entry is one, strictly between 0 and 1; one number for all entries that have not leaked,
        or one for each.
    queries : int, default 1
        Number m of such functions that are answered. All but d entries are refreshed before each (Definition 7).
    method : {"sharp", "printed"}
        "printed" is the bound of Theorem 4. "sharp" uses the same P[f = 0] in the numerator and the denominator.

    Returns
    -------
    NoiselessGuarantee
        (mε, 2mδ) for m queries, ε in nats; ε is infinite if the theorem gives no bound.

    Raises
    ------
    ArgumentError
        A value out of range.

    Notes
    -----
    Source: *Noiseless Database Privacy*, Theorem 4 and Corollary 1.

    Examples
    --------
    >>> import statpriv as sp
    >>> found = sp.noiseless.junta_guarantee("0.001", delta="0.01", queries=3, method="printed")
    >>> round(found.epsilon.upper, 4), round(found.delta.upper, 4)
    (1.2164, 0.06)
    """
    loss = as_fraction(delta, "delta")
    if not 0 < loss < 1:
        raise ArgumentError(f"delta = {spelled(delta)}; a number strictly between 0 and 1 is required")
    m = as_count(queries, "queries", least=1)
    advantage = as_probability(tau, "tau") / loss
    ratio = junta_ratio(advantage, advantage, _probabilities(p), method) if advantage <= 1 else math.inf
    theorem = "Theorem 4" if m == 1 else f"Corollary 1: {m} queries, all but d entries refreshed before each"
    delta_of_all = Enclosure(min(Fraction(1), 2 * m * loss))
    return NoiselessGuarantee(m * log_ratio(ratio), delta_of_all, "noiseless", theorem)


def junta_ratio(tau_1: Fraction, tau_2: Fraction, p: Sequence[Fraction], method: str = "sharp") -> Ratio:
    """e^ε of Theorem 3, exactly."""
    ratios = _printed if as_word(method, "method", ("printed", "sharp")) == "printed" else _sharp
    return larger_of(ratio for one in set(p) for ratio in ratios(tau_1, tau_2, one))


def _printed(tau_1: Fraction, tau_2: Fraction, p: Fraction) -> Iterator[Ratio]:
    half = (tau_1 + tau_2) / 2
    for one in (p, 1 - p):
        yield (1 + half / (1 - one)) / (1 - half / one) if half < one else math.inf


def _sharp(tau_1: Fraction, tau_2: Fraction, p: Fraction) -> Iterator[Ratio]:
    half = Fraction(1, 2)
    for a, b in product((half - tau_1 / 2, half + tau_1 / 2), (-tau_2 / 2, tau_2 / 2)):
        n, d = (a + b + half - p) / (2 * (1 - p)), (a - b - half + p) / (2 * p)
        if not 0 < min(n, d) <= max(n, d) < 1:
            yield math.inf
        else:
            yield from (n / d, d / n, (1 - n) / (1 - d), (1 - d) / (1 - n))


def _probabilities(p: Number | Sequence[Number]) -> tuple[Fraction, ...]:
    listed = probability_list(p, "p") if is_array(p) else (as_probability(p, "p"),)  # type: ignore[arg-type]
    for value in listed:
        if value in (0, 1):
            raise ArgumentError(f"p = {spelled(value)}; probabilities strictly between 0 and 1 are required")
    return listed
