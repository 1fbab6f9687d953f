"""An attack on released counts: tables with one row changed, released many times by the real code and by broken ones.

For every set S of answers that is fixed beforehand the guarantee says P_v(S) ≤ e^ε P_w(S) + δ: whoever tests "the
critical row has the property" against "it has not" by whether the answers lie in S errs at least so often. Here the
sets are {score ≥ threshold} for the scores that are optimal against the right law and against each broken one, so
an interval for both errors, with exact coverage, refutes the certified curve or does not.

``python -m tests.release.attack --out docs/explanation/attack-simulation.svg`` draws the picture.
"""

from __future__ import annotations

import argparse
import random
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

import statpriv as sp
from statpriv._native import Partition, stream_tally
from statpriv.releasing.ledger import Rows
from statpriv.releasing.partition import Strata, WordSource, secret_partition

from . import mutants

Answering = tuple[NDArray[np.bool_], NDArray[np.uint32]]
"""Of each row whether it has the property, and in which part it answers, from 1 on; 0 is none."""
Mechanism = Callable[[NDArray[np.bool_], Sequence[int], WordSource], list[Answering]]
"""From who has the property, the sizes of the parts and random words to what is counted, release by release."""

FALSE_ALARM = 1e-6
"""The chance that the real mechanism fails a test of this module."""


# --- what is attacked


@dataclass(frozen=True)
class Scenario:
    """The last row is the critical one. The others are known not to have the property, or are tossed with p = 1/2."""

    rows: int
    sizes: tuple[int, ...]
    others_known: bool

    def table(self, *, critical: bool, words: WordSource) -> NDArray[np.bool_]:
        """Who has the property."""
        if self.others_known:
            holds = np.zeros(self.rows, dtype=np.bool_)
        else:
            holds = np.frombuffer(words(self.rows), dtype=np.uint8) % 2 == 1
        holds[-1] = critical
        return holds

    @property
    def certified(self) -> sp.PrivacyCurve:
        """The curve that a release of this plan certifies."""
        return sp.compose(
            [sp.PropertyQuery("1/2", attribute="v")] * len(self.sizes),
            sp.Population(self.rows),
            sp.RandomPartition(self.sizes),
            adversary=sp.Adversary(known=self.rows - 1 if self.others_known else 0),
        )


SPREAD = Scenario(64, (4,) * 16, others_known=False)
"""Every row answers, in 16 parts of 4, and nobody is known."""

TARGETED = Scenario(16, (4,), others_known=True)
"""A quarter of the rows answers, and all but the critical one are known."""


# --- the real mechanism and the broken ones


ENGINE = duckdb.connect(":memory:")


def counts(releases: Sequence[Answering], parts: int) -> NDArray[np.int64]:
    """The counts of each release, by the code that counts: the parts of all of them in one stream of rows."""
    cells = np.logical_not(np.concatenate([holds for holds, _ in releases])).astype(np.uint16)  # 0 where it holds
    labels = [np.where(of_rows > 0, of_rows + number * parts, 0) for number, (_, of_rows) in enumerate(releases)]
    rows = {"cell": cells}  # which the engine finds by its name
    stream = ENGINE.sql("SELECT cell FROM rows")
    partition = Partition.given(np.concatenate(labels).astype(np.uint32))
    counted, _ = stream_tally(stream, partition, [0] * (parts * len(releases)), 2)
    del rows
    return counted[::2].reshape(len(releases), parts)


def released(
    holds: NDArray[np.bool_], sizes: Sequence[int], words: WordSource = secrets.token_bytes
) -> list[Answering]:
    """One release, by the code that partitions."""
    with secret_partition(Rows.of(len(holds), None), b"", Strata([tuple(sizes)]), words) as partition:
        return [(holds, partition.labels())]


def unshuffled(holds: NDArray[np.bool_], sizes: Sequence[int], words: WordSource) -> list[Answering]:
    """Parts cut from the table as it lies."""
    return [(holds, mutants.as_they_lie(len(holds), sizes, words))]


def badly_shuffled(holds: NDArray[np.bool_], sizes: Sequence[int], words: WordSource) -> list[Answering]:
    """Rows exchanged with any row."""
    return [(holds, mutants.exchanged_with_any(len(holds), sizes, words))]


def on_one_partition(holds: NDArray[np.bool_], sizes: Sequence[int], words: WordSource) -> list[Answering]:
    """A source of words that repeats: each release has the partition of the last."""
    return released(holds, sizes, mutants.repeated)


def sorted_by_value(holds: NDArray[np.bool_], sizes: Sequence[int], words: WordSource) -> list[Answering]:
    """Parts cut from the table sorted by value."""
    return unshuffled(mutants.sorted_by_value(~holds) == 0, sizes, words)


def from_words_of_the_data(holds: NDArray[np.bool_], sizes: Sequence[int], words: WordSource) -> list[Answering]:
    """A partition drawn with words that are a function of the table."""
    return released(holds, sizes, mutants.of_the_data(holds.tobytes()))


AGAIN = 6


def answered_again(holds: NDArray[np.bool_], sizes: Sequence[int], words: WordSource) -> list[Answering]:
    """Six releases of the same rows, where one is certified."""
    return [release for _ in range(AGAIN) for release in released(holds, sizes, words)]


def answers(
    mechanism: Mechanism, tables: Iterable[NDArray[np.bool_]], sizes: Sequence[int], words: WordSource
) -> NDArray[np.int64]:
    """A row for each table: all counts that are published about it."""
    releases = [mechanism(holds, sizes, words) for holds in tables]
    return counts([each for one in releases for each in one], len(sizes)).reshape(len(releases), -1)


# --- attacks


@dataclass(frozen=True)
class Attack:
    """A score of the answers and the thresholds that it is compared with, all fixed before anything is seen."""

    score: Callable[[NDArray[np.int64]], NDArray[np.float64]]
    thresholds: tuple[float, ...]


TOTAL = Attack(lambda seen: seen.sum(axis=1), tuple(range(1, 65)))
"""Optimal against the right law: with p = 1/2 and equal parts, P_1(s) / P_0(s) = Σ s_k / Σ (4 − s_k)."""

EVEN_ODDS = Attack(TOTAL.score, (32,))
"""The one of these tests that gains most at ε = 0."""

COUNTED = Attack(TOTAL.score, (1,))
"""Optimal where nobody else has the property: any count but 0 gives the critical row away."""


def part(number: int) -> Attack:
    """Optimal against a partition that puts the critical row into this part, counted from 0."""
    return Attack(lambda seen: seen[:, number], (1, 2, 3, 4))


@cache
def part_of_repeated_words() -> int:
    """Where the words that repeat put the critical row of `SPREAD`."""
    ((_, parts),) = released(np.zeros(SPREAD.rows, np.bool_), SPREAD.sizes, mutants.repeated)
    return int(parts[-1]) - 1


@cache
def against_the_bad_shuffle(draws: int = 4000, seed: int = 1) -> Attack:
    """Optimal if the critical row falls into part k with probability w_k: P_1 / P_0 = Σ w_k s_k / Σ w_k (4 − s_k).

    The w_k and the thresholds come from a simulation of the shuffle beforehand; however rough, they are fixed.
    """
    words = random.Random(seed).randbytes  # noqa: S311 - beforehand
    alone = np.arange(SPREAD.rows) == SPREAD.rows - 1
    weights = np.mean(answers(badly_shuffled, [alone] * draws, SPREAD.sizes, words), axis=0)

    def score(seen: NDArray[np.int64]) -> NDArray[np.float64]:
        return seen @ weights / 4

    tossed = SPREAD.table(critical=False, words=words)
    calibration = answers(badly_shuffled, [tossed] * draws, SPREAD.sizes, words)
    middle, spread = score(calibration).mean(), 0.0625
    return Attack(score, tuple(float(middle + spread * step) for step in np.linspace(-3, 3, 25)))


# --- what comes of them


def clopper_pearson(
    hits: NDArray[np.int64], draws: int, error: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give intervals that miss the probability with a chance of at most `error` at each end."""
    from scipy.stats import beta

    hits = np.asarray(hits)
    lower = np.where(hits > 0, beta.ppf(error, np.maximum(hits, 1), draws - hits + 1), 0.0)
    upper = np.where(hits < draws, beta.isf(error, hits + 1, np.maximum(draws - hits, 1)), 1.0)
    return lower, upper


@dataclass(frozen=True)
class Outcome:
    """How often each of the attacks took the critical row for one that has the property."""

    draws: int
    without: NDArray[np.int64]
    """Of `draws` tables whose critical row has not: what it got wrong, errors of type I."""
    having: NDArray[np.int64]
    """Of `draws` tables whose critical row has the property."""

    def intervals(self, error: float) -> tuple[NDArray[np.float64], ...]:
        """Give the lower and upper ends of P_0(S), then those of P_1(S); all hold but with a chance of `error`."""
        each = error / (4 * len(self.without))
        return (*clopper_pearson(self.without, self.draws, each), *clopper_pearson(self.having, self.draws, each))

    def gain(self, factor: float = 1.0) -> tuple[float, float]:
        """The largest P_v(S) − factor P_w(S) over the sets, their complements and both orders: certain, possible."""
        low_0, high_0, low_1, high_1 = self.intervals(FALSE_ALARM)
        certain = [low_1 - factor * high_0, (1 - high_0) - factor * (1 - low_1)]
        possible = [high_1 - factor * low_0, (1 - low_0) - factor * (1 - high_1)]
        return float(np.max(certain)), float(np.max(possible))


def attacked(
    scenario: Scenario, mechanism: Mechanism, *attacks: Attack, draws: int, words: WordSource = secrets.token_bytes
) -> Outcome:
    """Release that many tables with each value of the critical row, and try the attacks on the answers."""
    hits = []
    for critical in (False, True):
        tables = (scenario.table(critical=critical, words=words) for _ in range(draws))
        seen = answers(mechanism, tables, scenario.sizes, words)
        hits.append([int((attack.score(seen) >= limit).sum()) for attack in attacks for limit in attack.thresholds])
    return Outcome(draws, np.array(hits[0]), np.array(hits[1]))


# --- the picture


@dataclass(frozen=True)
class Shown:
    """One series of points in the picture."""

    label: str
    mechanism: Mechanism
    attack: Callable[[], Attack]


PANELS: tuple[tuple[str, Scenario, tuple[Shown, ...]], ...] = (
    (
        "The real mechanism\n64 rows in 16 parts of 4",
        SPREAD,
        (
            Shown("by the total: the optimal test", released, lambda: TOTAL),
            Shown("by the count of one part", released, lambda: part(15)),
        ),
    ),
    (
        "Broken mechanisms\n64 rows in 16 parts of 4",
        SPREAD,
        (
            Shown("no shuffle", unshuffled, lambda: part(15)),
            Shown("the same words again", on_one_partition, lambda: part(part_of_repeated_words())),
            Shown("biased shuffle", badly_shuffled, against_the_bad_shuffle),
            Shown("sorted by value (not seen)", sorted_by_value, lambda: TOTAL),
        ),
    ),
    (
        "Real and broken mechanisms\none part of 4 of 16 rows, 15 known",
        TARGETED,
        (
            Shown("the real mechanism", released, lambda: COUNTED),
            Shown(f"the same rows answer {AGAIN} times", answered_again, lambda: COUNTED),
            Shown("sorted by value", sorted_by_value, lambda: COUNTED),
        ),
    ),
)
SEED = 20240229
DRAWS = 20_000
BAND = 0.001
_COLOURS = ("#D55E00", "#009E73", "#CC79A7", "#E69F00")
_MARKERS = (("o", 6.5), ("s", 3.5), ("^", 4.0), ("D", 3.5))
"""The first is so large that another may lie in it."""


def picture(draws: int = DRAWS, file_format: str = "svg") -> bytes:
    """Type I against type II errors of attacks, with bands that hold together but with a chance of 1/1000.

    The seed is for the picture alone, so that it can be drawn again; the tests use the generator of the system.
    """
    import io

    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update({"svg.hashsalt": "statpriv", "font.size": 10})
        figure = Figure(figsize=(13.2, 4.75), layout="constrained")
        words = random.Random(SEED).randbytes  # noqa: S311 - the same picture every time
        for (title, scenario, series), ax in zip(PANELS, figure.subplots(1, len(PANELS)), strict=True):
            _draw_curve(ax, scenario.certified)
            for number, shown in enumerate(series):
                outcome = attacked(scenario, shown.mechanism, shown.attack(), draws=draws, words=words)
                _draw_outcome(ax, outcome, shown.label, number)
            ax.set_title(title, fontsize="medium")
            ax.legend(frameon=False, fontsize="small", loc="upper right")
        file = io.BytesIO()
        figure.savefig(file, format=file_format, dpi=100, metadata={"Date": None} if file_format == "svg" else None)
    return file.getvalue()


def _draw_curve(ax, curve: sp.PrivacyCurve) -> None:
    """Nobody gets below the certified curve; above the diagonal nobody needs the answers."""
    places = np.linspace(0, 1, 101)
    heights = [curve.beta(place).lower for place in places]
    ax.fill_between(places, heights, color="0.93", linewidth=0, zorder=0)
    ax.plot(places, heights, color="#0072B2", linewidth=1.8, label="certified: no test lies below", zorder=3)
    ax.plot([0, 1], [1, 0], color="0.55", linewidth=0.8, label="seeing nothing", zorder=1)
    ax.set(xlim=(-0.015, 1), ylim=(-0.015, 1), aspect="equal", xlabel="type I error α", ylabel="type II error β")
    ax.spines[["top", "right"]].set_visible(False)


def _draw_outcome(ax, outcome: Outcome, label: str, number: int) -> None:
    """A point for each threshold, joined by what tossing between two of them reaches, within its band."""
    low_0, high_0, low_1, high_1 = outcome.intervals(BAND)
    order = np.argsort(outcome.without, kind="stable")

    def chain(alpha: NDArray[np.float64], beta: NDArray[np.float64]) -> tuple[NDArray, NDArray]:
        return np.concatenate([[0.0], alpha[order], [1.0]]), np.concatenate([[1.0], beta[order], [0.0]])

    colour = _COLOURS[number]
    lower, upper = chain(low_0, 1 - high_1), chain(high_0, 1 - low_1)
    ax.fill(*(np.concatenate([a, b[::-1]]) for a, b in zip(lower, upper, strict=True)), color=colour, alpha=0.2, lw=0)
    alpha, beta = outcome.without / outcome.draws, 1 - outcome.having / outcome.draws
    ax.plot(*chain(alpha, beta), color=colour, linewidth=0.8, zorder=4)
    marker, size = _MARKERS[number]
    ax.plot(
        alpha,
        beta,
        marker,
        color=colour,
        markerfacecolor="white",
        markersize=size,
        label=label,
        zorder=5,
        clip_on=False,
    )


def main() -> None:
    options = argparse.ArgumentParser(description="Draw the picture of the attack simulation.")
    options.add_argument("--out", type=Path, required=True, help="a file that ends in .svg or .png")
    out = options.parse_args().out
    out.write_bytes(picture(file_format=out.suffix.removeprefix(".")))


if __name__ == "__main__":
    main()
