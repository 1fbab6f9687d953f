"""Several probabilities at once: of many entries, or of all the values of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import has_order
from statpriv.numeric.exact import Number, as_probability, is_rounded
from statpriv.numeric.literals import abridged, show, spelled

NormalisedLaw: TypeAlias = "tuple[tuple[Fraction, ...], Fraction]"
"""Probabilities that sum to one, and the sum by which they were divided to do so."""


def listed_numbers(values: object, name: str, required: str) -> list[Any]:
    """The elements of a list, tuple or array of one dimension."""
    if not has_order(values):
        raise ArgumentError(f"{name} = {abridged(values)}; {required} is required")
    if (dimensions := getattr(values, "ndim", 1)) != 1:
        raise ArgumentError(f"{name} is an array of {dimensions} dimensions; {required} is required")
    elements = list(values.tolist() if hasattr(values, "tolist") else values)
    if not elements:
        raise ArgumentError(f"{name} is empty; {required} is required")
    return elements


def probability_list(values: object, name: str) -> tuple[Fraction, ...]:
    """One probability an entry; a million doubles take about a second."""
    elements = listed_numbers(values, name, "a list with the probability of every entry, such as [0.5, 0.4],")
    # Elements of these types that are equal mean the same number, so that one that is repeated is read once.
    repeated = {float, int, str, Fraction}.issuperset(map(type, elements)) and 2 * len(set(elements)) < len(elements)
    if repeated:
        first: dict[Number, int] = {}
        for index, element in enumerate(elements):
            first.setdefault(element, index)
        exact = dict(zip(first, _read(first.items(), name), strict=True))
        return tuple(map(exact.__getitem__, elements))
    return tuple(_read(zip(elements, range(len(elements)), strict=True), name))


def _read(elements: Iterable[tuple[Number, int]], name: str) -> Iterator[Fraction]:
    """Each element, which messages call by its index."""
    return (
        Fraction(p) if isinstance(p, float) and 0.0 <= p <= 1.0 else as_probability(p, f"{name}[{index}]")
        for p, index in elements
    )


def as_law(masses: Sequence[tuple[str, Number]], name: str) -> NormalisedLaw:
    """Probabilities that sum to one: exactly, or once divided by their sum where floats are among them.

    Parameters
    ----------
    masses : sequence of (str, number)
        Each probability, after what messages call it.
    name : str
        What messages call them all.

    Notes
    -----
    The tolerance is that of :func:`statpriv.hockey_stick`, for n probabilities ``2**-40 + n * 2**-52``: the error that
    is usual for probabilities computed in doubles, and one rounding a probability.
    """
    exact = tuple(as_probability(mass, label) for label, mass in masses)
    total = sum(exact, Fraction(0))
    if total == 1:
        return exact, total
    if not any(is_rounded(mass) for _, mass in masses):
        raise ArgumentError(
            f"{name} sums to {abridged(total)}; exact probabilities must sum to exactly one: add what is missing, or "
            "write fractions such as '1/3'"
        )
    tolerance = Fraction(1, 2**40) + Fraction(len(exact), 2**52)
    if abs(total - 1) > tolerance:
        raise ArgumentError(
            f"{name} sums to {spelled(float(total))}; probabilities in floats are divided by their sum if it differs "
            f"from one by at most 2^-40 + {len(exact)} · 2^-52; add what is missing, or divide them yourself"
        )
    return tuple(mass / total for mass in exact), total


def show_law(law: NormalisedLaw) -> list[str]:
    """Literals that read back as the law: the probabilities as they were written, where these are doubles."""
    masses, total = law
    written = [show(mass * total) for mass in masses]
    # Numbers between doubles are shown as fractions in quotes, which must sum to exactly one when they are read back.
    return written if total == 1 or any("'" not in text for text in written) else [show(mass) for mass in masses]
