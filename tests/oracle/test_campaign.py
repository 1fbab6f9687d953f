"""Every enclosure contains the true value and is tight: a sample of the campaign, and the worst cases it ever found.

Every run has a new seed, which is printed if a test fails. ``STATPRIV_SEED=…`` repeats a run.
"""

import math
import os
import random
from fractions import Fraction
from functools import cache

import pytest

import statpriv as sp

from ..cases import cases
from . import campaign, oracle, strata

SEED = int(os.environ.get("STATPRIV_SEED", random.SystemRandom().randrange(2**32)))
CASES = 10_000

JUDGED = {
    "delta",
    "epsilon",
    "binomial_log_pmf",
    "binomial_pmf",
    "binomial_upper_tail",
    "hypergeometric_log_pmf",
    "hypergeometric_pmf",
    "hypergeometric_upper_tail",
}
EXACT_LAWS = {  # judged against exact sums and single balls, in tests/properties, test_laws.py and test_quantiles.py
    "poisson_binomial_pmf",
    "binomial_lower_tail",
    "binomial_pmf_row",
    "binomial_quantile",
    "hypergeometric_lower_tail",
    "hypergeometric_pmf_row",
    "hypergeometric_quantile",
}


def test_what_is_judged():
    """Fails if a law is added to the library but not here, or if one is removed."""
    assert set(campaign.FUNCTIONS) == JUDGED
    laws = JUDGED - {"delta", "epsilon"}
    assert laws <= set(sp.laws.__all__) <= laws | EXACT_LAWS


@cache
def stored() -> campaign.Stored:
    return campaign.stored()


def widened(outcome: campaign.Outcome) -> list[str]:
    """Strata in which a drawn case is too wide, compared with the widest stored case of the function.

    The comparison is not by stratum, because a stratum of a few dozen cases may have met one algorithm only.
    """
    return [
        f"{stratum.function}, {stratum.name}: {width} at {arguments} (STATPRIV_SEED={SEED})"
        for stratum, (width, arguments) in outcome.worst.items()
        if width > campaign.ROOM * max(row["width"] for row in stored()[stratum.function].values())
    ]


def drawn(function: str, size: str) -> campaign.Outcome:
    outcome = campaign.Outcome()
    for stratum, seed, count in campaign.jobs(SEED, CASES):
        if (stratum.function, stratum.size) == (function, size):
            outcome.absorb(campaign.judged(stratum, seed, count))
    return outcome


@pytest.mark.parametrize("size", strata.SIZES)
@pytest.mark.parametrize("function", campaign.FUNCTIONS)
def test_contained_and_tight(function, size):
    outcome = drawn(function, size)
    assert outcome.cases >= 8 * len(campaign.FUNCTIONS[function].regions), "every region is looked at"
    assert outcome.faults == []
    assert widened(outcome) == []


@pytest.mark.parametrize("function", campaign.FUNCTIONS)
def test_the_worst_has_not_become_worse(function):
    for name, row in stored()[function].items():
        verdict = campaign.FUNCTIONS[function].verdict(row["arguments"])
        assert verdict.fault == "", (name, row)
        assert verdict.width <= row["width"], (name, row)


def test_every_stratum_has_a_stored_worst():
    missing = [s for s in campaign.all_strata() if s.name not in stored().get(s.function, {})]
    assert missing == []


@pytest.mark.parametrize("size", strata.SIZES)
@pytest.mark.parametrize("function", campaign.FUNCTIONS)
def test_arrays_are_contained_and_tight(function, size):
    rng = random.Random(f"{SEED} array {function} {size}")  # noqa: S311  (no secrets here)
    assert campaign.FUNCTIONS[function].array_faults(rng, size) == [], f"STATPRIV_SEED={SEED}"


# --- the judge, given enclosures that are wrong on purpose


def truth(function: str, arguments: campaign.Arguments) -> oracle.Bounds:
    if function == "delta":
        return campaign.truth_of_delta(arguments, arguments["epsilon"])
    return campaign.truth_of_law(function, arguments)


def ulps_away(x: float, ulps: int) -> float:
    for _ in range(abs(ulps)):
        x = math.nextafter(x, math.inf if ulps > 0 else -math.inf)
    return x


def tightest(bounds: oracle.Bounds) -> tuple[float, float]:
    """The two neighbouring doubles around a number that is not a double."""
    near = float(bounds.lower)
    return (near, ulps_away(near, 1)) if Fraction(near) < bounds.lower else (ulps_away(near, -1), near)


@pytest.mark.parametrize("size", ["13 to 1e3", "1e13 and more"])
@pytest.mark.parametrize("function", sorted(JUDGED - {"epsilon"}))
def test_one_rounding_off_is_noticed(function, size):
    judge = campaign.FUNCTIONS[function].judge
    rng = random.Random(f"{SEED} wrong {function} {size}")  # noqa: S311  (no secrets here)
    region = "ε around 1/σ" if function == "delta" else "core"
    tried = 0
    while tried < cases(3, campaign=20):
        arguments = campaign.FUNCTIONS[function].draw(rng, size, region)
        bounds = truth(function, arguments)
        if not Fraction(1, 10**290) < abs(bounds.upper) < 1 - 1e-15 and "log" not in function:
            continue
        if any(bounds.lower <= Fraction(float(end)) <= bounds.upper for end in (bounds.lower, bounds.upper)):
            continue  # the true value is a double, or cannot be told from one
        tried += 1
        lower, upper = tightest(bounds)
        assert judge(arguments, lower, upper).fault == "", arguments
        for ulps in (1, -1):
            assert judge(arguments, ulps_away(lower, ulps), ulps_away(upper, ulps)).fault == "misses the truth"
        for point in (lower, upper):
            assert judge(arguments, point, point).fault == "misses the truth"
        assert judge(arguments, ulps_away(lower, -10_000), upper).fault == "too wide"
        assert "not an interval" in judge(arguments, upper, lower).fault
        assert "not an interval" in judge(arguments, math.nan, upper).fault
        assert "not an interval" in judge(arguments, lower, math.inf).fault


def test_an_inverse_that_is_off_is_noticed():
    count = {"n": 1024, "p": "1/2", "pair": "both"}
    arguments = count | {"delta": float(campaign.truth_of_delta(count, "1/10").lower)}
    judge = campaign.FUNCTIONS["epsilon"].judge
    for ends, fault in [
        ((0.1 + 1e-15, 0.1 + 2e-15), "the lower end is too high"),
        ((0.1 - 2e-15, 0.1 - 1e-15), "the upper end is too low"),
        ((0.09, 0.11), "too wide"),
        ((0.1, math.inf), "not a finite interval"),
        ((0.1 - 1e-15, 0.1 + 1e-15), ""),
    ]:
        assert judge(arguments, *ends).fault == fault


STRATUM = campaign.Stratum("delta", "2 to 12", "ε around 1/σ")
ARGUMENTS = {"n": 7, "p": "3/10", "pair": "both", "epsilon": 0.25}
HERE = campaign.FUNCTIONS["delta"].verdict(ARGUMENTS).width


def table_with(width: float) -> campaign.Stored:
    return {STRATUM.function: {STRATUM.name: {"width": width, "arguments": ARGUMENTS}}}


def outcome_with(width: float) -> campaign.Outcome:
    return campaign.Outcome(1, [], {STRATUM: (width, ARGUMENTS)})


def test_the_stored_width_only_shrinks():
    """The input has the width `HERE`, whatever the table says."""
    assert campaign.updated(table_with(9 * HERE), outcome_with(HERE)) == (table_with(HERE), [])
    table, refused = campaign.updated(table_with(HERE / 9), outcome_with(HERE))
    assert table == table_with(HERE / 9)
    assert len(refused) == 1
    assert campaign.updated(table_with(HERE / 9), outcome_with(HERE), allow_wider=True) == (table_with(HERE), [])
    assert campaign.updated(table_with(HERE), outcome_with(HERE / 9)) == (table_with(HERE), []), "it is still so wide"
    assert campaign.updated({}, outcome_with(HERE)) == (table_with(HERE), [])


def test_what_is_wider_than_the_table_allows_is_noticed(monkeypatch):
    monkeypatch.setitem(stored(), STRATUM.function, table_with(1e-15)[STRATUM.function])
    assert widened(outcome_with(1e-15 * campaign.ROOM)) == []
    assert len(widened(outcome_with(1.1e-15 * campaign.ROOM))) == 1


def test_a_wrong_number_and_a_refusal_are_faults(monkeypatch):
    function = campaign.FUNCTIONS["delta"]
    for answer, fault in [(sp.Enclosure(0.5, 0.5), "misses the truth"), (sp.Enclosure(0, 1), "too wide")]:
        monkeypatch.setattr(campaign, "_curve", lambda count, answer=answer: type("", (), {"delta": lambda *_: answer}))
        assert function.verdict(ARGUMENTS).fault == fault

    def refuse(count):
        raise sp.PrecisionError("too hard")

    monkeypatch.setattr(campaign, "_curve", refuse)
    assert function.verdict(ARGUMENTS).fault == "refused (too hard)"
