"""Counts of independent records whose probabilities are only known to keep a margin (Theorem 3).

Let `λ <= p_i <= 1 − λ` for all records. As printed, the count is (ε, δ)-APKDP for

    ε >= max(√(14 ln(1/δ)/(λ(n−1))), 27/(λ(n−1))),     if that is at most 1.

The sharper form holds for any ε. Each of the other records is a fair coin with probability 2λ, and otherwise a record
of probability `(p_i − λ)/(1 − 2λ)`, which lies in [0, 1]. Reveal to the attacker which records are coins, and the
values of all others. This can only help the attacker, and shifts the count by a known number. What remains is a count
of the critical record and B fair coins, B ~ Bin(n−1, 2λ), so that

    δ(ε) <= E[Δ_{B+1}(ε; 1/2)].

This mean equals `bound="spc"` of a Poisson sample at rate 2λ in this library, and is enclosed by its kernel. If the
attacker knows m of the other records, n is replaced by n − m in both forms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.numeric.arguments import as_word
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_fraction
from statpriv.numeric.literals import at_most, literal, spelled

if TYPE_CHECKING:
    from statpriv.curves.curve import PrivacyCurve

Method: TypeAlias = Literal["sharp", "printed"]

_BITS = 200


@dataclass(frozen=True, repr=False)
class BernoulliGuarantee:
    """ε of a count at a given δ, and whether it is valid. Its ends and comparisons are those of its ε.

    Attributes
    ----------
    epsilon : Enclosure
        In nats; its upper end is safe if `valid`.
    delta : Fraction
        The given δ.
    method : {"sharp", "printed"}
        The form of the theorem.
    valid : bool
        Whether the form applies at this ε: the printed form applies up to 1 only.
    theorem : str
        The statement.
    """

    epsilon: Enclosure
    delta: Fraction
    method: Method
    valid: bool
    theorem: str

    @property
    def lower(self) -> float:
        """The lower end of ε."""
        return self.epsilon.lower

    @property
    def upper(self) -> float:
        """The upper end of ε."""
        return self.epsilon.upper

    @property
    def midpoint(self) -> float:
        """The middle of ε, for plots."""
        return self.epsilon.midpoint

    @property
    def width(self) -> float:
        """The distance of the ends of ε."""
        return self.epsilon.width

    def __lt__(self, other: Number | Enclosure) -> bool:
        return self.epsilon < other

    def __le__(self, other: Number | Enclosure) -> bool:
        return self.epsilon <= other

    def __gt__(self, other: Number | Enclosure) -> bool:
        return self.epsilon > other

    def __ge__(self, other: Number | Enclosure) -> bool:
        return self.epsilon >= other

    def __repr__(self) -> str:
        invalid = "" if self.valid else ", INVALID above 1"
        return (
            f"<BernoulliGuarantee, {self.method}: epsilon = {self.epsilon!r} at delta = {literal(self.delta)}{invalid}>"
        )

    def explain(self) -> str:
        """The guarantee, the theorem and its assumptions, as text.

        Examples
        --------
        >>> import statpriv as sp
        >>> bound = sp.partial_knowledge.bernoulli_epsilon(n=1000, margin="0.05", delta="1e-3", method="printed")
        >>> print(bound.explain())
        ε ≤ 1.39145: INVALID, the printed form holds for ε ≤ 1 only; use method="sharp".
        Theorem 3 of Desfontaines, section 3.2, as printed.
        Records are independent, and the probability of each keeps the margin from 0 and from 1.
        """
        verdict = "" if self.valid else ': INVALID, the printed form holds for ε ≤ 1 only; use method="sharp"'
        return (
            f"ε ≤ {at_most(self.epsilon.upper)}{verdict}.\n{self.theorem}.\n"
            "Records are independent, and the probability of each keeps the margin from 0 and from 1."
        )


def bernoulli_epsilon(
    *,
    n: Number,
    margin: Number,
    delta: Number,
    known: Number = 0,
    method: Method = "sharp",
) -> BernoulliGuarantee:
    """ε of an exact count of independent records, each of a probability from `margin` to `1 − margin` (Theorem 3).

    Parameters
    ----------
    n : int
        Number of records, including the critical one; at least 2.
    margin : float, int, Fraction, Decimal or str
        λ, above 0, at most 1/2.
    delta : float, int, Fraction, Decimal or str
        δ, above 0 and below 1.
    known : int, default 0
        Number of the other records that the attacker knows.
    method : {"sharp", "printed"}
        The certified bound, or the closed form of the paper. Outside its range, for ε above 1, the closed form is
        returned with `valid` False.

    Returns
    -------
    BernoulliGuarantee
        Its `epsilon` is an enclosure, in nats; infinite if too few records are unknown.

    Raises
    ------
    ArgumentError
        A value outside its range.
    NotAvailableError
        ``method="normal"``: approximations by the central limit theorem state no constants.

    Notes
    -----
    Source: Desfontaines, section 3.2, Theorem 3; the sharp form is proved in the module docstring. For known
    probabilities `sp.privacy_curve(sp.PropertyQuery([p_1, ..., p_n]), sp.Population(n))` is exact.

    Examples
    --------
    >>> import statpriv as sp
    >>> sharp = sp.partial_knowledge.bernoulli_epsilon(n=10_000, margin="0.05", delta="1e-6")
    >>> printed = sp.partial_knowledge.bernoulli_epsilon(n=10_000, margin="0.05", delta="1e-6", method="printed")
    >>> print(f"{sharp.epsilon.upper:.3f} {printed.epsilon.upper:.3f} {printed.valid}")
    0.245 0.622 True
    """
    if isinstance(method, str) and method in ("normal", "gaussian", "central-limit", "asymptotic"):
        raise NotAvailableError(
            f"method = {method!r}: approximations by the central limit theorem have no explicit constants, and are not "
            'turned into numbers; the certified replacement is method="sharp"'
        )
    form: Method = as_word(method, "method", get_args(Method))
    target = as_fraction(delta, "delta")
    if not 0 < target < 1:
        raise ArgumentError(f"delta = {spelled(delta)}; a number above 0 and below 1 is required")
    unknown, share = _read(n, margin, known)
    if form == "printed":
        epsilon = _printed(share * unknown, target)
        theorem = "Theorem 3 of Desfontaines, section 3.2, as printed"
        return BernoulliGuarantee(epsilon, target, form, valid=epsilon.upper <= 1, theorem=theorem)
    epsilon = bernoulli_curve(n=n, margin=margin, known=known).epsilon(target)
    theorem = "Theorem 3 of Desfontaines, section 3.2, sharpened: the mean over how many records are fair coins"
    return BernoulliGuarantee(epsilon, target, form, valid=True, theorem=theorem)


def bernoulli_curve(*, n: Number, margin: Number, known: Number = 0) -> PrivacyCurve:
    """The sharper bound of Theorem 3 at every ε: `E[Δ_{B+1}(ε; 1/2)]` with B ~ Bin(n−1, 2·margin).

    Parameters
    ----------
    n, margin, known
        As for :func:`bernoulli_epsilon`.

    Returns
    -------
    PrivacyCurve
        A certified bound for all records that keep the margin. Its `explain` describes the Poisson sample of fair coins
        that is used in the computation.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.partial_knowledge.bernoulli_curve(n=1000, margin="0.05").delta("0.5").upper < 1e-3
    True
    """
    import statpriv as sp

    _, share = _read(n, margin, known)
    return sp.privacy_curve(
        sp.PropertyQuery(Fraction(1, 2)),
        sp.Population(n),
        adversary=sp.Adversary(known=known),
        sampling=sp.PoissonSampling(2 * share),
        bound="spc",
    )


def _read(n: Number, margin: Number, known: Number) -> tuple[int, Fraction]:
    """The number of unknown other records, and the margin."""
    records, told = as_count(n, "n", least=2), as_count(known, "known")
    share = as_fraction(margin, "margin")
    if not 0 < share <= Fraction(1, 2):
        raise ArgumentError(
            f"margin = {spelled(margin)}; a number above 0, at most 1/2 is required: a record of "
            "probability 0 or 1 hides nothing"
        )
    if told >= records:
        raise ArgumentError(
            f"known = {told}; at most n - 1 = {records - 1} is required: the critical record is not known"
        )
    return records - 1 - told, share


def _printed(scale: Fraction, delta: Fraction) -> Enclosure:
    """The closed form, with `scale = λ(n−1)`."""
    from statpriv.numeric.intervals import enclosure, exact, interval_context

    if not scale:
        return Enclosure(math.inf)
    context = interval_context(_BITS)
    by_delta = enclosure(context.sqrt(context.log(exact(context, 1 / delta)) * exact(context, 14 / scale)), least=0)
    at_least = Enclosure(27 / scale)
    return Enclosure(max(by_delta.lower, at_least.lower), max(by_delta.upper, at_least.upper))
