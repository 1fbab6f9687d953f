"""Sums of functions of the entries: certified curves in place of Theorems 7 and 8.

The theorems say that `Y = (1/s_n) Σ g_i(t_i)` is (O(ln n/n^{1/6}), O(1/√n))-noiseless private, without constants. The
proof does not give this rate: it uses `s_n = θ(n)` instead of `θ(√n)`, and leaves a factor 1.1/0.9 in the ratio. No
numbers are derived from these theorems. The curve of a sum is computed instead: exactly if `g(t)` has finitely many
values, and in closed form if it is normal (:func:`statpriv.theories.noiseless.linear_mu`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NoReturn

from statpriv.curves.build import privacy_curve
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.model.adversaries import Adversary
from statpriv.model.populations import Population
from statpriv.model.queries.sum import SumQuery
from statpriv.numeric.arguments import as_mapping, is_mapping
from statpriv.numeric.exact import Number, as_fraction, as_probability
from statpriv.numeric.literals import abridged, spelled


def sum_curve(
    law: Mapping[Any, Any],
    entries: int | Mapping[str, int],
    *,
    function: Callable[[Any], Number] | Mapping[str, Callable[[Any], Number]] | None = None,
    known: int | Mapping[str, int] = 0,
) -> PrivacyCurve:
    """The privacy curve of a sum of functions of independent entries with finitely many values, exactly.

    Parameters
    ----------
    law : mapping
        Probability of each value of an entry. With groups: a mapping from the name of each group to such a law.
    entries : int or mapping
        Number of entries, including the critical one; or the number in each group.
    function : callable, or mapping, optional
        g, from a value to the number that is added; the value itself by default. With groups: one function for all
        groups, or one for each.
    known : int or mapping, default 0
        Number of the other entries that are known; or the number in each group.

    Returns
    -------
    PrivacyCurve
        δ of statistical privacy against ε. The factor `1/s_n` of the paper does not matter.

    Raises
    ------
    ArgumentError
        Laws, groups or numbers that are inconsistent.

    Notes
    -----
    Source: certified replacement of *Noiseless Database Privacy*, Theorems 7 and 8.

    Examples
    --------
    >>> import statpriv as sp
    >>> die = {face: "1/6" for face in range(1, 7)}
    >>> squares = sp.noiseless.sum_curve(die, 500, function=lambda face: face * face)
    >>> squares.kind, squares.delta("0.5").upper < 0.002
    ('exact', True)
    """
    if not isinstance(entries, Mapping):
        return privacy_curve(SumQuery(_moved(law, function, "law")), Population(entries), adversary=_knows(known))
    if not is_mapping(law) or set(law) != set(entries):
        raise ArgumentError(f"law = {abridged(law)}; the law of each group of {list(entries)} is required")
    functions = function if is_mapping(function) else dict.fromkeys(entries, function)
    if set(functions) != set(entries):
        raise ArgumentError(f"function = {abridged(function)}; one of each group of {list(entries)} is required")
    laws = {group: _moved(law[group], functions[group], f"law[{group!r}]") for group in entries}
    return privacy_curve(SumQuery(laws), Population(groups=entries), adversary=_knows(known))


def sum_guarantee(*, entries: int, known_fraction: Number = 0) -> NoReturn:
    """Always raises NotAvailableError: Theorems 7 and 8 have no explicit constants.

    The message names the functions to use instead. `entries` is n, `known_fraction` is ρ of Theorem 8.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.noiseless.sum_guarantee(entries=1000)
    Traceback (most recent call last):
    ...
    statpriv.errors.NotAvailableError: entries = 1000: Theorem 7 is asymptotic, ...
    """
    theorem = "Theorem 7" if as_fraction(known_fraction, "known_fraction") == 0 else "Theorem 8"
    raise NotAvailableError(
        f"entries = {spelled(entries)}: {theorem} is asymptotic, and its constants are not stated, so that no ε and δ "
        "follow for any n; take sum_curve(law, entries, known=...) for values on a lattice, which is exact, "
        "density_sum_guarantee(density, entries, epsilon, ...) for a density on an interval, which is a bound, "
        "or linear_mu(matrix, entry=..., difference=...) for normal data, which is in closed form"
    )


def _moved(law: Any, function: Any, name: str) -> dict[Fraction, Fraction | Number]:  # noqa: ANN401
    """The law of g(t). The probabilities of values with the same g are added."""
    stated = as_mapping(law, name, "a dict from values to probabilities is required")
    if function is None:
        return dict(stated)
    if not callable(function):
        raise ArgumentError(f"function = {abridged(function)}; a function of a value, or None, is required")
    moved: defaultdict[Fraction, Fraction] = defaultdict(Fraction)
    for value, mass in law.items():
        moved[as_fraction(function(value), f"function({value!r})")] += as_probability(mass, f"{name}[{value!r}]")
    return dict(moved)


def _knows(known: int | Mapping[str, int]) -> Adversary:
    return Adversary(known=known)
