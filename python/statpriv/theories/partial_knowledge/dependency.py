"""Dependency of releases, and its cost under composition.

    Dep(o1, o2) = L2(o2 | M1 = o1) − L2(o2)                                (Definition 62, for one background b)

is what o1 adds to the loss of o2. By the convention `∞ − x = ∞` it is infinite if t' excludes the pair. The
mechanisms are (μ, ν)-bounded dependent if `E max(0, 1 − e^{μ−Dep}) <= ν` (Definition 63). As
`P_t(o1,o2)/P_t'(o1,o2) = P_t(o1)/P_t'(o1) · P_t(o2|o1)/P_t'(o2|o1)`,

    L(o1, o2) = L1(o1) + L2(o2) + Dep(o1, o2)                              (Theorem 6; a factor 2 is misprinted)

and `g(x) = max(0, 1 − e^{−x})` is subadditive, so that losses bounded by (ε1, δ1), (ε2, δ2) and a dependency bounded by
(μ, ν) give (μ + ε1 + ε2, δ1 + δ2 + ν). The same holds for more than two releases, with `Dep = L − Σ L_i`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import Any, NamedTuple, TypeAlias, overload

from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import as_tuple, is_list, is_mapping, length_of_tuple
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_fraction, as_nonnegative, as_probability
from statpriv.numeric.literals import abridged, spelled
from statpriv.theories.partial_knowledge.loss import LossCurve, PrivacyLoss, read_law

Joint: TypeAlias = "Mapping[Any, Mapping[tuple[Any, ...], Number]] | Sequence[Mapping[tuple[Any, ...], Number]]"
"""For each value t of the record the law of all outcomes: ``joint[t][(o1, o2)] = P[O1=o1, O2=o2 | D(i)=t]``."""
_Law: TypeAlias = "dict[Any, Fraction]"


class Composed(NamedTuple):
    """(ε, δ) of two releases together: ε in nats."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Independence:
    """Whether two releases are independent given each value of the record.

    Attributes
    ----------
    holds : bool
        Whether they are independent. Then Proposition 29 holds, and Dep is 0 wherever it is finite.
    value : object
        If not, a value of the record given which they are dependent.
    outcomes : tuple
        If not, a pair of outcomes whose probability given this value is not the product.
    """

    holds: bool
    value: Any = None
    outcomes: tuple[Any, Any] | None = None

    def __bool__(self) -> bool:
        return self.holds


@overload
def dependency(joint: Joint, mu: Number) -> Enclosure: ...
@overload
def dependency(joint: Joint, *, exp_mu: Number) -> Fraction: ...
def dependency(joint: Joint, mu: Number | None = None, *, exp_mu: Number | None = None) -> Enclosure | Fraction:
    """The least ν with which releases are (μ, ν)-bounded dependent, for all ordered pairs of values of the record.

    Parameters
    ----------
    joint : dict or list
        For each value t of the record (at least two) a dict from pairs of outcomes to probabilities given t; for more
        than two releases from tuples. Background knowledge is conditioned on, with one call for each of its values.
    mu : float, int, Fraction, Decimal or str
        μ in nats, at least 0.
    exp_mu : float, int, Fraction, Decimal or str
        `e^μ` instead, above 0.

    Returns
    -------
    Enclosure
        ν. Atoms of infinite dependency count in full at any μ.
    Fraction
        The exact value, if `exp_mu` is given.

    Raises
    ------
    ArgumentError
        `joint` is not such a dict, outcomes are not tuples of one length, probabilities do not sum to one, or both or
        neither of `mu` and `exp_mu` are given.

    Notes
    -----
    Source: Desfontaines, Definitions 62 and 63.

    Examples
    --------
    The sum modulo 2 of two fair bits and the second bit are independent, but together they reveal the first bit.

    >>> import statpriv as sp
    >>> bits = {0: {(0, 0): "1/2", (1, 1): "1/2"}, 1: {(1, 0): "1/2", (0, 1): "1/2"}}
    >>> sp.partial_knowledge.dependency(bits, mu=10)
    Enclosure(1.0, 1.0)
    """
    if (mu is None) == (exp_mu is None):
        given = "neither is given" if mu is None else f"mu = {spelled(mu)} and exp_mu = {spelled(exp_mu)}"
        raise ArgumentError(f"either mu or exp_mu is required; {given}")
    curve = dependency_curve(joint)
    if exp_mu is not None:
        return curve.exact_delta(exp_mu)
    if mu is not None and as_fraction(mu, "mu") < 0:
        raise ArgumentError(f"mu = {spelled(mu)}; a number of at least 0 is required")
    return curve.delta(mu if mu is not None else 0)


def dependency_curve(joint: Joint) -> LossCurve:
    """The whole (μ, ν) curve of :func:`dependency`, with its argument: the law of Dep for each ordered pair (t, t').

    Its `delta` is ν at μ, its `epsilon` is the least μ at ν, its `losses` are the laws of `e^Dep` by (t, t').
    """
    laws = _read(joint)
    return LossCurve({(t, other): _dependency(laws[t], laws[other]) for t, other in permutations(laws, 2)})


def composed_curve(joint: Joint) -> LossCurve:
    """The exact privacy curve of both releases together, to compare with :func:`compose`; `joint` as for `dependency`.

    Its `losses` are by (t, t').

    Examples
    --------
    >>> import statpriv as sp
    >>> bits = {0: {(0, 0): "1/2", (1, 1): "1/2"}, 1: {(1, 0): "1/2", (0, 1): "1/2"}}
    >>> sp.partial_knowledge.composed_curve(bits).mass_at_infinity
    Fraction(1, 1)
    """
    laws = _read(joint)
    one = Fraction(1)
    return LossCurve(
        {(t, other): PrivacyLoss.mixture([(one, laws[t], laws[other])]) for t, other in permutations(laws, 2)}
    )


def compose(
    first: tuple[Number, Number],
    second: tuple[Number, Number],
    *more: tuple[Number, Number],
    dependency: tuple[Number, Number],
) -> Composed:
    """The composition of releases with bounded dependency: (μ + ε1 + ε2 + …, δ1 + δ2 + … + ν).

    Parameters
    ----------
    first, second, *more : tuple
        (ε, δ) of each release alone against the same attacker, ε in nats and at least 0.
    dependency : tuple
        (μ, ν) of all of them; μ in nats and at least 0. For enclosures give their upper ends.

    Returns
    -------
    Composed
        Exact; δ is at most 1.

    Raises
    ------
    ArgumentError
        A negative number, or a probability above 1.

    Notes
    -----
    Source: Desfontaines, Theorem 6, corrected.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.partial_knowledge.compose(("0.1", "1e-6"), ("0.2", "1e-6"), dependency=("0.05", "1e-7"))
    Composed(epsilon=Fraction(7, 20), delta=Fraction(21, 10000000))
    """
    epsilon, delta = Fraction(0), Fraction(0)
    others = ((f"more[{index}]", bound) for index, bound in enumerate(more))
    for name, bound in (("first", first), ("second", second), *others, ("dependency", dependency)):
        as_tuple(bound, name, "a pair such as (0.1, 1e-6) is required")
        size = as_nonnegative(bound[0], f"{name}[0]")
        epsilon += size
        delta += as_probability(bound[1], f"{name}[1]")
    return Composed(epsilon, min(delta, Fraction(1)))


def conditional_independence(joint: Joint) -> Independence:
    """Whether releases are independent given each value of the record, the hypothesis that Proposition 29 needs.

    Independence alone, as printed, is not enough: see :func:`proposition_29_counterexample`.

    Parameters
    ----------
    joint : dict
        As for :func:`dependency`, with one call for each value of the background. Products are compared exactly, so
        pass exact fractions: floats are rounded.

    Returns
    -------
    Independence
        True as a condition if independence holds; otherwise it has a counterexample.

    Examples
    --------
    >>> import statpriv as sp
    >>> bits = {0: {(0, 0): "1/2", (1, 1): "1/2"}, 1: {(1, 0): "1/2", (0, 1): "1/2"}}
    >>> sp.partial_knowledge.conditional_independence(bits)
    Independence(holds=False, value=0, outcomes=(0, 0))
    """
    for value, law in _read(joint).items():
        for outcomes in product(*(marginal.items() for marginal in _marginals(law))):
            each = tuple(outcome for outcome, _ in outcomes)
            if law.get(each, 0) != math.prod(mass for _, mass in outcomes):
                return Independence(holds=False, value=value, outcomes=each)
    return Independence(holds=True)


def _dependency(law: _Law, other: _Law) -> PrivacyLoss:
    """The law of `e^Dep` given t: the ratio of the joint probabilities over the product of the marginal ratios."""
    # If t' excludes a single outcome, it excludes every tuple with it, and Dep is infinite by convention.
    alone = [
        {outcome: there[outcome] / mass for outcome, mass in here.items() if outcome in there}
        for here, there in zip(_marginals(law), _marginals(other), strict=True)
    ]
    found: defaultdict[Fraction | float, Fraction] = defaultdict(Fraction)
    for outcomes, mass in law.items():
        compared = other.get(outcomes)
        if compared:
            inverse = math.prod(ratios[outcome] for ratios, outcome in zip(alone, outcomes, strict=True))
            found[mass / compared * inverse] += mass
        else:
            found[math.inf] += mass
    return PrivacyLoss(found)


def _marginals(law: _Law) -> list[_Law]:
    """The law of each release alone."""
    found: list[_Law] = [defaultdict(Fraction) for _ in next(iter(law))]
    for outcomes, mass in law.items():
        for marginal, outcome in zip(found, outcomes, strict=True):
            marginal[outcome] += mass
    return found


def _read(joint: Joint) -> dict[Any, _Law]:
    """The laws by the value of the record: from a dict, or from a list whose positions are the values."""
    if is_list(joint):
        joint = dict(enumerate(joint))
    if not is_mapping(joint) or len(joint) < 2:
        raise ArgumentError(
            f"joint = {abridged(joint)}; a dict from two or more values of the record to laws of pairs of outcomes is "
            "required"
        )
    laws = {value: read_law(law, f"joint[{value!r}]") for value, law in joint.items()}
    lengths = {length_of_tuple(outcome) for law in laws.values() for outcome in law} - {-1}
    for value, law in laws.items():
        for outcome in law:
            if len(lengths) > 1 or length_of_tuple(outcome) < 2:
                raise ArgumentError(
                    f"joint[{value!r}] has the outcome {outcome!r}; pairs (o1, o2) are required, or tuples of one "
                    "length for more releases"
                )
    return {value: {pair: mass for pair, mass in law.items() if mass} for value, law in laws.items()}
