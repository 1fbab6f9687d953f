"""The hockey-stick divergence of two laws given by their probabilities.

>>> import statpriv as sp
>>> sp.hockey_stick([0.75, 0.25], [0.25, 0.75], 0)
Enclosure(0.5, 0.5)
"""

# ruff: noqa: N803  (P and Q are what the field calls them)

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from statpriv._native import EnclosedPair, FinitePair, NormalisedEnclosure
from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import as_items, has_order, is_mapping
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_fraction, as_probability, is_array, is_rounded
from statpriv.numeric.literals import abridged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from statpriv.numeric.enclosure_array import EnclosureArray
    from statpriv.numeric.exact import ArrayLike

    Law: TypeAlias = Sequence[Number] | Mapping[Any, Number] | np.ndarray[Any, Any]
    Mass: TypeAlias = Number | Enclosure
    EnclosedLaw: TypeAlias = Sequence[Mass] | Mapping[Any, Mass] | EnclosureArray | Callable[[Any], Mass]

__all__ = ["NormalisedEnclosure", "doubles", "hockey_stick", "listed"]


@overload
def hockey_stick(
    P: Law | EnclosedLaw,
    Q: Law | EnclosedLaw,
    epsilon: Number,
    *,
    answers: Iterable[Any] | None = None,
    missing: Number | None = None,
    digits: int | None = None,
) -> Enclosure: ...
@overload
def hockey_stick(
    P: Law | EnclosedLaw,
    Q: Law | EnclosedLaw,
    epsilon: ArrayLike,
    *,
    answers: Iterable[Any] | None = None,
    missing: Number | None = None,
    digits: int | None = None,
) -> EnclosureArray: ...
@overload
def hockey_stick(
    P: Law | EnclosedLaw,
    Q: Law | EnclosedLaw,
    *,
    exp_epsilon: Number,
    answers: Iterable[Any] | None = None,
    missing: Number | None = None,
    digits: int | None = None,
) -> Enclosure | Fraction: ...
@overload
def hockey_stick(
    P: Law | EnclosedLaw,
    Q: Law | EnclosedLaw,
    *,
    exp_epsilon: ArrayLike,
    answers: Iterable[Any] | None = None,
    missing: Number | None = None,
    digits: int | None = None,
) -> EnclosureArray | NDArray[Any]: ...
def hockey_stick(
    P: Law | EnclosedLaw,
    Q: Law | EnclosedLaw,
    epsilon: Any = None,
    *,
    exp_epsilon: Any = None,
    answers: Iterable[Any] | None = None,
    missing: Number | None = None,
    digits: int | None = None,
) -> Any:
    """``Σ_a max(0, P(a) − e^ε Q(a))`` over all answers a, certified.

    Answers that only `P` gives count in full, so this is the least δ with ``P(S) ≤ e^ε Q(S) + δ`` for every set S.

    Parameters
    ----------
    P, Q : sequence, numpy array of one dimension, dict, or function
        The probabilities of the same answers in the same order; or dicts from answers to probabilities, with
        probability 0 for omitted answers; or functions of an answer. A float is the rational it stores; int, Fraction,
        Decimal and str (``"0.1"``, ``"1/3"``) are exact. Exact probabilities must sum to exactly one. If n
        probabilities include floats, their exact sum may differ from one by at most ``2**-40 + n * 2**-52``: the usual
        relative error of probabilities computed in doubles, plus one rounding per answer. They are then divided by
        their sum, as rationals, and the result says so. An :class:`Enclosure` contains its probability, and nothing is
        divided.
    epsilon : float, int, Fraction, Decimal or str, or array of these
        ε in nats, of either sign, finite.
    exp_epsilon : float, int, Fraction, Decimal or str, or array of these
        ``e^ε`` instead of ε, above 0.
    answers : iterable, optional
        For functions: the answers at which they are evaluated, each once.
    missing : float, int, Fraction, Decimal or str, optional
        An upper bound on the probability under `P` of all unlisted answers, if probabilities are enclosures or answers
        are omitted. The default is the difference of the sum from one, which an enclosed sum determines only to about
        1e-16 per answer. ``missing=0`` states that all answers are listed, which matters far out in the tail.
    digits : int, optional
        Correct decimal digits, up to 10 000; doubles by default.

    Returns
    -------
    Enclosure or EnclosureArray
        At most a few ulps wide, plus what enclosures and missing answers leave open. If floats did not sum to exactly
        one, a :class:`NormalisedEnclosure` or an array of them, with the two sums as `sums`.
    Fraction, or array of Fraction
        The exact value, if `exp_epsilon` is given without `digits` and no float is among the probabilities.

    Raises
    ------
    ArgumentError
        Negative probabilities, NaN, sums other than one, empty laws, or different lengths; functions without `answers`;
        with `digits`: enclosures, missing answers, or floats that do not sum to exactly one.

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

    Laws given by functions, one of them with infinite support:

    >>> def waiting(p):
    ...     return lambda day: p * (1 - p) ** day
    >>> sp.hockey_stick(waiting(Fraction(1, 2)), waiting(Fraction(1, 4)), "0.1", answers=range(60))
    Enclosure(0.26648..., 0.26648...)
    >>> entries, smokers = 40, lambda count: sp.laws.binomial_pmf(count, n=39, p="1/10")
    >>> sp.hockey_stick(lambda count: smokers(count - 1), smokers, "0.1", answers=range(41), missing=0).width < 1e-14
    True
    """
    if (epsilon is None) == (exp_epsilon is None):
        given = "neither is given" if epsilon is None else f"epsilon = {epsilon} and exp_epsilon = {exp_epsilon}"
        raise ArgumentError(f"either epsilon or exp_epsilon is required; {given}")
    name, value = ("epsilon", epsilon) if exp_epsilon is None else ("exp_epsilon", exp_epsilon)
    first, second = _aligned(P, Q) if answers is None else _asked(P, Q, answers)
    pair, rounded = _read(first, second, missing, open_ended=answers is not None)
    if isinstance(pair, EnclosedPair):
        if digits is not None:
            raise ArgumentError(
                f"digits = {digits}, with enclosures or missing answers; digits= is for exact probabilities of all "
                "answers"
            )
        return _at_each(pair.hockey_stick, name, value)
    if digits is not None:
        return _to_digits(pair, digits, name, value)
    if exp_epsilon is not None and not rounded:
        if not is_array(exp_epsilon):
            return pair.exact(exp_epsilon)
        from statpriv.numeric.broadcasting import exact_each

        return exact_each(pair.exact, exp_epsilon, name)
    return _in_doubles(pair, name, value)


def _read(
    first: Iterable[Any], second: Iterable[Any], missing: Number | None, *, open_ended: bool
) -> tuple[FinitePair | EnclosedPair, bool]:
    """The two laws, and whether floats are among their probabilities.

    `open_ended`: whether exact probabilities may sum to less than one, the rest belonging to unlisted answers.
    """
    if missing is None and (p := doubles(first)) is not None and (q := doubles(second)) is not None:
        return FinitePair.of_doubles(p, q), True
    first, second = list(first), list(second)
    enclosed = any(isinstance(mass, Enclosure) for mass in (*first, *second))
    rounded = any(map(is_rounded, first)), any(map(is_rounded, second))
    cut = open_ended and not enclosed and not any(rounded) and (_sum(first, "P") < 1 or _sum(second, "Q") < 1)
    if missing is not None or enclosed or cut:
        most = None if missing is None else Enclosure(as_probability(missing, "missing")).upper
        return EnclosedPair(_ends(first, "P"), _ends(second, "Q"), missing=most), True
    return FinitePair.of_numbers(first, second, rounded=rounded), any(rounded)


def _sum(law: list[Any], name: str) -> Fraction:
    return sum((as_fraction(mass, f"{name}[{answer}]") for answer, mass in enumerate(law)), Fraction(0))


def _ends(law: list[Any], name: str) -> tuple[bytes, bytes]:
    """The lower and the upper ends of all probabilities, as the bytes of doubles."""

    def enclosed(answer: int, mass: Any) -> Enclosure:  # noqa: ANN401  (a number, or an enclosure)
        if isinstance(mass, Enclosure):
            return Enclosure(mass.lower, mass.upper)  # enclosures with digits are rounded outward to doubles
        return Enclosure(as_fraction(mass, f"{name}[{answer}]"))

    masses = [enclosed(answer, mass) for answer, mass in enumerate(law)]
    return array("d", [mass.lower for mass in masses]).tobytes(), array("d", [mass.upper for mass in masses]).tobytes()


def _at_each(one: Callable[..., Enclosure], name: str, value: Any) -> Any:  # noqa: ANN401  (an enclosure, or an array)
    """The value at the given ε or e^ε; at every entry, if it is an array."""
    if not is_array(value):
        return one(**_given(name, value))
    from statpriv.numeric.broadcasting import evaluate_each

    return evaluate_each(lambda entry: one(**_given(name, entry)), value, name)


def _in_doubles(pair: FinitePair, name: str, value: Any) -> Any:  # noqa: ANN401  (an enclosure, or an array of them)
    found = _at_each(pair.hockey_stick, name, value)
    if not is_array(value) or all(total == 1 for total in pair.sums):
        return found
    from statpriv.numeric.normalised_array import NormalisedEnclosureArray

    return NormalisedEnclosureArray(found.lower, found.upper, pair.sums)[()]


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
    from statpriv.numeric.broadcasting import evaluate_digits

    return evaluate_digits(lambda **entry: at(entry[name]), **{name: value})


def _given(name: str, value: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"epsilon": None, "exp_epsilon": None, name: value}


def _asked(p: Law | EnclosedLaw, q: Law | EnclosedLaw, answers: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """The probabilities of both laws, given as functions, at each of the answers."""
    for name, law in (("P", p), ("Q", q)):
        if not callable(law):
            raise ArgumentError(
                f"answers is given and {name} is a {type(law).__name__}; it is for laws that are functions"
            )
    listed = as_items(answers, "answers", "an iterable of answers is required, such as range(101)")
    functions: Any = p, q
    return [functions[0](answer) for answer in listed], [functions[1](answer) for answer in listed]


def _aligned(p: Law | EnclosedLaw, q: Law | EnclosedLaw) -> tuple[Iterable[Any], Iterable[Any]]:
    """The probabilities of both laws, aligned by answer."""
    for name, law in (("P", p), ("Q", q)):
        if callable(law):
            raise ArgumentError(f"{name} is a function; answers= is required, the answers at which P and Q are asked")
    if is_mapping(p) and is_mapping(q):
        answers = {**p, **q}
        return [p.get(answer, 0) for answer in answers], [q.get(answer, 0) for answer in answers]
    return listed(p, "P"), listed(q, "Q")


def listed(law: Law | EnclosedLaw, name: str) -> Iterable[Any]:
    """The probabilities of a law that lists them, after checking that it is a law."""
    kind = type(law).__name__
    required = "a sequence of probabilities is required" + ("" if name == "p" else ", or dicts for both P and Q")
    if not has_order(law):
        raise ArgumentError(f"{name} is a {kind}; {required}")
    if (dimensions := getattr(law, "ndim", 1)) != 1:
        raise ArgumentError(f"{name} is an array of {dimensions} dimensions; {required}")
    return law


def doubles(law: Iterable[Any]) -> bytes | None:
    """The bytes of a law that consists of doubles, without inspecting the elements of an array; otherwise None."""
    dtype = getattr(law, "dtype", None)
    if dtype is not None and dtype.kind == "f" and dtype.itemsize <= array("d").itemsize:
        import numpy as np

        return np.asarray(law, dtype=np.float64).tobytes()
    if isinstance(law, (list, tuple)) and all(isinstance(mass, float) for mass in law):
        return array("d", law).tobytes()
    return None
