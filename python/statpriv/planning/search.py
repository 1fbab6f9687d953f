"""Search for two neighbouring alternatives, one of which holds while the other does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from statpriv.errors import GuaranteeNotReachedError
from statpriv.model.partitions import RandomPartition
from statpriv.numeric.literals import literal
from statpriv.numeric.search import least_integer
from statpriv.planning.designs import Trial, written
from statpriv.planning.study import Study


@dataclass(frozen=True)
class Fit:
    """For one way of sizing the parts, the last number of queries that holds, and the next number."""

    name: str
    best: Trial | None
    next_to_it: Trial
    trials: tuple[Trial, ...]


def fit(study: Study, n: int, size: int, name: str, partition: Callable[[int], RandomPartition]) -> Fit:
    """The largest number of queries whose parts, by this partition, all have at least `size` entries."""
    tried: dict[int, Trial] = {}

    def trial(m: int) -> Trial:
        return tried.setdefault(m, study.trial(m, n, partition(m).sizes))

    from_below = study.accuracy is None and not study.one_property
    best, next_to_it = last(trial, 1, n // size, from_below=from_below)
    return Fit(name, best, next_to_it, tuple(tried.values()))


def beside_most(study: Study, n: int, size: int, found: Fit, *, fixed: bool) -> tuple[Trial | None, str]:
    """The neighbour of the largest number of queries, and the statement about all larger numbers."""
    most = n // size
    if found.best is found.next_to_it:
        if study.accuracy is None:
            return None, "More queries are not possible: each part has an entry."
        less = n // (most + 1)
        beyond = "All larger numbers fail too: they leave still smaller parts."
        if not less:
            return Trial(most + 1, "fails", "there are fewer entries than parts", ()), beyond
        parts = RandomPartition.folds(n, most + 1).sizes
        return Trial(most + 1, "fails", study.inaccuracy(less, n), parts), beyond
    truth = "all answers together are one count of all entries" if study.one_property else None
    total = "the sum of Theorem 5.2 over equal parts of all entries does not fall with their number"
    if fixed:
        truth = f"in parts of {size} entries, another answer does not lower δ"
        total = f"in parts of {size} entries, another part adds to the sum of Theorem 5.2"
    return found.next_to_it, study.beyond(found.next_to_it, "larger numbers", truth=truth, total=total)


def last(
    trial: Callable[[int], Trial], least: int, most: int, *, from_below: bool = False
) -> tuple[Trial | None, Trial]:
    """Two neighbours, found by bisection: the first holds and the second does not.

    If `most` holds, it is returned twice. If `least` does not hold, the result is None and the trial of `least`.
    With `from_below`, the distance from `least` is doubled before bisection, for searches in which `most` is expensive.
    """
    holding = trial(least) if from_below else None
    low, high = least, min(least + 1, most) if from_below else most
    not_holding = trial(high)
    while not_holding.verdict == "holds" and high < most:
        low, holding, high = high, not_holding, min(2 * high - least + 1, most)
        not_holding = trial(high)
    if not_holding.verdict == "holds":
        return not_holding, not_holding
    holding = trial(least) if holding is None else holding
    if holding.verdict != "holds":
        return None, holding
    while high - low > 1:
        middle = (low + high) // 2
        tried = trial(middle)
        if tried.verdict == "holds":
            low, holding = middle, tried
        else:
            high, not_holding = middle, tried
    return holding, not_holding


def first_enough(
    trial: Callable[[int], Trial],
    least: int,
    most: int,
    refusal: Callable[[Trial], GuaranteeNotReachedError],
    *,
    second: int = 0,
) -> Trial:
    """The larger of two neighbouring values of which only the larger holds, by doubling and then bisection.

    `trial` remembers what it has tried. `second` is the least value that is tried after `least`, and `refusal` what is
    raised if `most` does not hold.
    """
    low, high = least - 1, least
    while (tried := trial(high)).verdict != "holds":
        if high >= most:
            raise refusal(tried)
        low, high = high, min(max(2 * high, second), most)
    return trial(least_integer(lambda value: trial(value).verdict == "holds", low + 1, high))


def unreachable(what: str, study: Study, nearest: Trial) -> GuaranteeNotReachedError:
    """The error raised if no alternative reaches the target."""
    reached = "" if nearest.delta is None else f" The best is {written(nearest.value)}: {nearest.why}."
    return GuaranteeNotReachedError(
        f"no {what} is certified to reach δ({literal(study.epsilon)}) ≤ {literal(study.delta)}.{reached} "
        "Ask for a larger delta or epsilon"
    )
