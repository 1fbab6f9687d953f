"""The hockey-stick divergence of two laws given by their probabilities.

>>> import statpriv as sp
>>> sp.hockey_stick([0.75, 0.25], [0.25, 0.75], 0)
Enclosure(0.5, 0.5)
"""

# ruff: noqa: N803  (P and Q are what the field calls them)

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence, Set
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from statpriv._native import FinitePair, NormalisedEnclosure
from statpriv.enclosure import Enclosure
from statpriv.errors import ArgumentError
from statpriv.literals import abridged
from statpriv.numbers import Number, is_array, is_rounded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from statpriv.enclosure_array import EnclosureArray
    from statpriv.numbers import ArrayLike

    Law: TypeAlias = Sequence[Number] | Mapping[Any, Number] | np.ndarray[Any, Any]

__all__ = ["NormalisedEnclosure", "doubles", "hockey_stick", "listed"]


@overload
def hockey_stick(P: Law, Q: Law, epsilon: Number, *, digits: int | None = None) -> Enclosure: ...
@overload
def hockey_stick(P: Law, Q: Law, epsilon: ArrayLike, *, digits: int | None = None) -> EnclosureArray: ...
@overload
def hockey_stick(P: Law, Q: Law, *, exp_epsilon: Number, digits: int | None = None) -> Enclosure | Fraction: ...
@overload
def hockey_stick(
    P: Law, Q: Law, *, exp_epsilon: ArrayLike, digits: int | None = None
) -> EnclosureArray | NDArray[Any]: ...
def hockey_stick(
    P: Law,
    Q: Law,
    epsilon: Any = None,
    *,
    exp_epsilon: Any = None,
    digits: int | None = None,
) -> Any:
    """``Σ_a max(0, P(a) − e^ε Q(a))`` over all answers a, certified.

    What only `P` gives counts in full, so this is the least δ with ``P(S) ≤ e^ε Q(S) + δ`` for every set S of answers.

    Parameters
    ----------
    P, Q : sequence, numpy array of one dimension, or dict
        The probabilities of the same answers in the same order, or dicts from answers to probabilities, in which an
        answer left out has probability 0. A float is the rational it stores; int, Fraction, Decimal and str
        (``"0.1"``, ``"1/3"``) are exact. Exact ones must sum to exactly one. Where floats are among n probabilities,
        their exact sum may differ from one by at most ``2**-40 + n * 2**-52``: the relative error that is usual for
        probabilities computed in doubles, and one rounding an answer. They are then divided by it, as rationals, and
        the result says so.
    epsilon : float, int, Fraction, Decimal or str, or array of these
        ε in nats, of either sign, finite.
    exp_epsilon : float, int, Fraction, Decimal or str, or array of these
        ``e^ε`` instead of ε, above 0.
    digits : int, optional
        Correct decimal digits, up to 10 000; doubles by default.

    Returns
    -------
    Enclosure or EnclosureArray
        A few ulps wide at most. A :class:`NormalisedEnclosure` or an array of them, which has the two sums as `sums`,
        where floats did not sum to exactly one.
    Fraction, or array of Fraction
        The exact value, if `exp_epsilon` is given without `digits` and no float is among the probabilities.

    Raises
    ------
    ArgumentError
        Negative probabilities, NaN, sums other than one, nothing at all, different lengths; with `digits`, floats
        that do not sum to exactly one.

    Examples
    --------
    >>> import statpriv as sp
    >>> from fractions import Fraction
    >>> sp.hockey_stick(["3/4", "1/4"], ["1/4", "3/4"], exp_epsilon=Fraction(3, 2))
    Fraction(3, 8)
    >>> sp.hockey_stick({"yes": 0.75, "no": 0.25}, {"yes": 0.25, "no": 0.5, "refused": 0.25}, 0.5) < 0.34
    True
    >>> sp.hockey_stick([0.1] * 10, [0.1] * 10, 0).sums[0] > 1
    True
    >>> print(sp.hockey_stick(["3/4", "1/4"], ["1/4", "3/4"], "0.1", digits=20))
    [0.47370727048108809379707..., 0.47370727048108809379707...]
    """
    if (epsilon is None) == (exp_epsilon is None):
        given = "neither is given" if epsilon is None else f"epsilon = {epsilon} and exp_epsilon = {exp_epsilon}"
        raise ArgumentError(f"either epsilon or exp_epsilon is required; {given}")
    name, value = ("epsilon", epsilon) if exp_epsilon is None else ("exp_epsilon", exp_epsilon)
    pair, rounded = _read(*_aligned(P, Q))
    if digits is not None:
        return _to_digits(pair, digits, name, value)
    if exp_epsilon is not None and not rounded:
        if not is_array(exp_epsilon):
            return pair.exact(exp_epsilon)
        from statpriv.broadcasting import exact_each

        return exact_each(pair.exact, exp_epsilon, name)
    return _in_doubles(pair, name, value)


def _read(first: Iterable[Any], second: Iterable[Any]) -> tuple[FinitePair, bool]:
    """The two laws, and whether floats are among their probabilities."""
    if (p := doubles(first)) is not None and (q := doubles(second)) is not None:
        return FinitePair.of_doubles(p, q), True
    first, second = list(first), list(second)
    rounded = any(map(is_rounded, first)), any(map(is_rounded, second))
    return FinitePair.of_numbers(first, second, rounded=rounded), any(rounded)


def _in_doubles(pair: FinitePair, name: str, value: Any) -> Any:  # noqa: ANN401  (an enclosure, or an array of them)
    """At the ε or e^ε that is given; at every entry, where it is an array."""

    def at(entry: Any) -> Enclosure:  # noqa: ANN401  (checked by the kernel)
        return pair.hockey_stick(**_given(name, entry))

    if not is_array(value):
        return at(value)
    from statpriv.broadcasting import evaluate_each
    from statpriv.normalised_array import NormalisedEnclosureArray

    array = evaluate_each(at, value, name)
    if all(total == 1 for total in pair.sums):
        return array
    return NormalisedEnclosureArray(array.lower, array.upper, pair.sums)[()]


def _to_digits(pair: FinitePair, digits: int, name: str, value: Any) -> Any:  # noqa: ANN401
    for law, total in zip("PQ", pair.sums, strict=True):
        if total != 1:
            raise ArgumentError(
                f"digits = {digits} and {law} sums to {abridged(total)}; digits= is for probabilities that sum to "
                "exactly one: give exact numbers, such as '0.1' or Fraction(1, 3)"
            )

    def at(entry: Any) -> Enclosure:  # noqa: ANN401
        return pair.digits(digits, **_given(name, entry))

    if not is_array(value):
        return at(value)
    from statpriv.broadcasting import evaluate_digits

    return evaluate_digits(lambda **entry: at(entry[name]), **{name: value})


def _given(name: str, value: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"epsilon": None, "exp_epsilon": None, name: value}


def _aligned(p: Law, q: Law) -> tuple[Iterable[Any], Iterable[Any]]:
    """Both laws, answer by answer."""
    if isinstance(p, Mapping) and isinstance(q, Mapping):
        answers = {**p, **q}
        return [p.get(answer, 0) for answer in answers], [q.get(answer, 0) for answer in answers]
    return listed(p, "P"), listed(q, "Q")


def listed(law: Law, name: str) -> Iterable[Any]:
    """A law that lists its probabilities, checked for being one."""
    kind = type(law).__name__
    required = "a sequence of probabilities is required" + ("" if name == "p" else ", or dicts for both P and Q")
    if isinstance(law, (Mapping, Set, str, bytes)) or not isinstance(law, Iterable):
        raise ArgumentError(f"{name} is a {kind}; {required}")
    if (dimensions := getattr(law, "ndim", 1)) != 1:
        raise ArgumentError(f"{name} is an array of {dimensions} dimensions; {required}")
    return law


def doubles(law: Iterable[Any]) -> bytes | None:
    """The bytes of a law that consists of doubles; of an array without a look at its elements."""
    dtype = getattr(law, "dtype", None)
    if dtype is not None and dtype.kind == "f" and dtype.itemsize <= array("d").itemsize:
        import numpy as np

        return np.asarray(law, dtype=np.float64).tobytes()
    if isinstance(law, (list, tuple)) and all(isinstance(mass, float) for mass in law):
        return array("d", law).tobytes()
    return None
