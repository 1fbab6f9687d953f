"""The least minimum count of cells that reaches a guarantee.

**Monotone.** δ_T does not rise with T: its heights ``h(k, l)`` fall in k and in l
(docs/explanation/minimum-counts.md). Neither does the supremum: a table with a larger minimum is a function of the
table with a smaller one. So bisection finds the least T, and all smaller ones fail by the same bound.
"""

from __future__ import annotations

from fractions import Fraction

from statpriv import budget
from statpriv.curves.minimum_count import minimum_count_curve
from statpriv.errors import ArgumentError, GuaranteeNotReachedError, UndecidedError
from statpriv.numeric.exact import Number, as_count, as_fraction
from statpriv.numeric.literals import at_least, at_most, literal, spelled
from statpriv.planning.designs import Design, Trial
from statpriv.planning.search import first_enough


def least_minimum(*, epsilon: Number, delta: Number, known: Number = 0, bound: str = "tightest") -> Design:
    """The least minimum count of every cell with which an exact table is (ε, δ)-statistically private.

    Parameters
    ----------
    epsilon, delta : number
        The guarantee: ε in nats, at least 0, and δ above 0, up to 1.
    known : int, default 0
        Number of entries an adversary knows.
    bound : str, default "tightest"
        As for :func:`statpriv.minimum_count_curve`.

    Returns
    -------
    Design
        Its `value` is the minimum count.

    Raises
    ------
    ArgumentError
        A value that is not allowed.
    GuaranteeNotReachedError
        No minimum count up to 2^52, or 1000 for the supremum, reaches the target.

    Notes
    -----
    Source: the theorem in docs/explanation/minimum-counts.md, with the proof.

    Examples
    --------
    >>> import statpriv as sp
    >>> plan = sp.design.least_minimum(epsilon=1, delta="1e-5")
    >>> plan.value, plan.neighbour.value, plan.neighbour.verdict
    (30, 29, 'undecided')
    >>> sp.design.least_minimum(epsilon=1, delta="1e-5", known=5).value
    34
    >>> sp.design.least_minimum(epsilon=1, delta="1e-5", bound="supremum").value
    29
    """
    exact, target, knows = as_fraction(epsilon, "epsilon"), as_fraction(delta, "delta"), as_count(known, "known")
    if exact < 0:
        raise ArgumentError(f"epsilon = {spelled(epsilon)}; a number of at least 0 is required")
    if not 0 < target <= 1:
        raise ArgumentError(f"delta = {spelled(delta)}; a number above 0, up to 1, is required: no minimum reaches 0")
    trials: dict[int, Trial] = {}

    def trial(least: int) -> Trial:
        if least not in trials:
            trials[least] = _trial(least, exact, target, knows, bound)
        return trials[least]

    def refusal(nearest: Trial) -> GuaranteeNotReachedError:
        return GuaranteeNotReachedError(
            f"no minimum count up to {nearest.value} reaches δ({literal(exact)}) ≤ {literal(target)}; "
            "ask for a larger ε or δ"
        )

    most = int(budget.MAX_SUPREMUM_MINIMUM) if bound == "supremum" else budget.MAX_INTEGER // 2
    best = first_enough(trial, 2, most, refusal, second=2 * knows)
    neighbour = trials.get(best.value - 1)
    beyond = "No smaller one is allowed."
    if neighbour is not None:
        fails = neighbour.verdict == "fails"
        beyond = f"All smaller ones fail too{'' if fails else ' by the same bound'}: it does not rise with the minimum."
    given = f"exact tables of any number of cells and entries, δ({literal(exact)}) ≤ {literal(target)}, {knows} known"
    looked_at = tuple(trials[value] for value in sorted(trials))
    return Design("minimum count", given, best, neighbour, beyond, looked_at, len(trials), target)


def _trial(least: int, epsilon: Fraction, delta: Fraction, known: int, bound: str) -> Trial:
    curve = minimum_count_curve(least, known=known, bound=bound)
    reached = curve.delta(epsilon)
    try:
        holds = curve.satisfies(epsilon=epsilon, delta=delta)
    except UndecidedError:
        holds = False
    if holds:
        return Trial(least, "holds", f"δ ≤ {at_most(reached.upper)}", (), reached, None, curve)
    if curve.kind == "exact":
        return Trial(least, "fails", f"some table has δ ≥ {at_least(reached.lower)}", (), reached, None, curve)
    why = f"the bound is at least {at_least(reached.lower)}, which refutes nothing"
    return Trial(least, "undecided", why, (), reached, None, curve)
