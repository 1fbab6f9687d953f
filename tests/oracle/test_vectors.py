"""The library against the stored vectors, each of which was computed elsewhere in three independent ways."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

import statpriv as sp
from statpriv._native import Curve, exact_delta

from . import oracle

VECTORS = Path(__file__).parents[1] / "vectors"


def stored(name: str) -> list[dict]:
    return json.loads((VECTORS / f"{name}.json").read_text())


def exact_input(text: str) -> float | str:
    """The library's input for a text: the double for a hexadecimal text, otherwise the text itself."""
    return float.fromhex(text) if "0x" in text else text


def described(row: dict) -> str:
    return " ".join(f"{key}={value}" for key, value in row.items() if isinstance(value, str | int))


def exactly(pair: list[str]) -> oracle.Bounds:
    value = Fraction(int(pair[0]), int(pair[1]))
    return oracle.Bounds(value, value)


@pytest.mark.parametrize("row", stored("hockey_stick_binomial"), ids=described)
def test_hockey_sticks(row):
    query, population = sp.PropertyQuery(exact_input(row["p"])), sp.Population(row["n"])
    truths = {
        pair: oracle.Bounds(*(Fraction(end) for end in row[f"delta_{pair[0]}_{pair[1]}"])) for pair in oracle.DIRECTIONS
    }
    truths[None] = oracle.largest(truths.values())
    epsilon = exact_input(row["epsilon"])
    try:
        found = {pair: sp.privacy_curve(query, population, pair=pair).delta(epsilon) for pair in truths}
    except sp.PrecisionError:
        assert row["n"] > 10**7, "a size that is promised"
        return
    assert [truth.fault(found[pair].lower, found[pair].upper) for pair, truth in truths.items()] == [""] * 3


@pytest.mark.parametrize("row", stored("spc_known_entries_exact"), ids=described)
def test_sampling_curves_with_known_entries(row):
    curve = sp.privacy_curve(
        sp.PropertyQuery(row["p"]),
        sp.Population(row["n"]),
        adversary=sp.Adversary(known=row["known"]),
        sampling=sp.WithoutReplacement(row["sample"]),
        bound="spc",
    )
    found = oracle.at_exp_epsilon(curve.delta, Fraction(row["exp_epsilon"]))
    assert exactly(row["spc"]).fault(*found) == ""


@pytest.mark.parametrize("row", stored("partition_exact"), ids=described)
def test_partition_sums(row):
    queries = [sp.PropertyQuery(p, attribute=f"property {k}") for k, p in enumerate(row["p"])]
    curve = sp.compose(queries, sp.Population(row["n"]), sp.RandomPartition(row["sizes"]), bound="partition-sum")
    found = oracle.at_exp_epsilon(curve.delta, Fraction(row["exp_epsilon"]))
    assert exactly(row["theorem_5_1"]).fault(*found) == ""


@pytest.mark.parametrize("row", stored("partition_exact"), ids=described)
def test_what_a_composition_claims_is_never_below_the_exact_value(row):
    queries = [sp.PropertyQuery(p, attribute=f"property {k}") for k, p in enumerate(row["p"])]
    curve = sp.compose(queries, sp.Population(row["n"]), sp.RandomPartition(row["sizes"]))
    _, upper = oracle.at_exp_epsilon(curve.delta, Fraction(row["exp_epsilon"]))
    assert exactly(row["exact"]).lower <= Fraction(upper)


@pytest.mark.parametrize("row", [row for row in stored("histogram_exact") if len(row["p"]) == 2], ids=described)
def test_a_histogram_of_two_cells_is_a_count(row):
    curve = sp.privacy_curve(sp.PropertyQuery(row["p"][0]), sp.Population(row["n"]))
    found = oracle.at_exp_epsilon(curve.delta, Fraction(row["exp_epsilon"]))
    assert exactly(row["delta"]).fault(*found) == ""


@pytest.mark.parametrize("row", stored("histogram_exact"), ids=described)
def test_histograms(row):
    curve = Curve.histogram(size=row["n"], cells=row["p"])
    found = oracle.at_exp_epsilon(curve.delta, Fraction(row["exp_epsilon"]))
    assert exactly(row["delta"]).fault(*found) == ""
    assert exact_delta(curve, row["exp_epsilon"]) == exactly(row["delta"]).lower


def exponential(logarithm: list[str]) -> oracle.Bounds:
    """Bounds of the probability whose logarithm is stored as two ends."""
    lower, upper = (Fraction(end) for end in logarithm)
    if upper < -840:
        return oracle.Bounds(Fraction(0), oracle.NEGLIGIBLE)
    return oracle.Bounds(oracle.exp_bounds(lower).lower, oracle.exp_bounds(upper).upper)


@pytest.mark.parametrize("row", stored("ln_pmf_binomial"), ids=described)
def test_binomial_probabilities(row):
    found = sp.laws.binomial_pmf(row["k"], n=row["n"], p=exact_input(row["p"]))
    assert exponential(row["ln_pmf"]).fault(found.lower, found.upper) == ""


@pytest.mark.parametrize("row", stored("ln_pmf_hypergeometric"), ids=described)
def test_hypergeometric_probabilities(row):
    found = sp.laws.hypergeometric_pmf(row["k"], population=row["N"], marked=row["K"], draws=row["s"])
    assert exponential(row["ln_pmf"]).fault(found.lower, found.upper) == ""


def test_hypergeometric_tails_against_exact_integers():
    for population, marked, draws in [(1, 1, 1), (12, 5, 7), (60, 59, 30), (400, 130, 250)]:
        for k in range(-1, draws + 2):
            tail = oracle.hypergeometric_upper_tail(k, population, marked, draws)
            found = sp.laws.hypergeometric_upper_tail(k, population=population, marked=marked, draws=draws)
            assert oracle.Bounds(tail, tail).fault(found.lower, found.upper) == "", (population, marked, draws, k)
