"""Each row a probability of its own, in commands and files: never safer than one shared p, and said where it counts."""

import json
from fractions import Fraction

import pytest

import statpriv as sp

COMPOSITION = """
epsilon = 0.1
population = 300
[[part]]
probability = "0.3..0.6"
{each}size = 100
[[part]]
probability = "0.4..0.6"
{each}size = 100
"""


def delta_of(document):
    return document["delta"]["upper"]


def curve(p, n, **more):
    return sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), **more)


def test_the_option_of_a_count_is_the_range_of_each_row(run_json):
    command = ["delta", "--n", "7", "--p", "0.1..0.9", "--epsilon", "0.05"]
    own, shared = run_json(*command, "--each"), run_json(*command)
    assert delta_of(own) == curve(sp.EachBetween("0.1", "0.9"), 7).delta("0.05").upper
    assert delta_of(shared) == curve(sp.Between("0.1", "0.9"), 7).delta("0.05").upper < delta_of(own)
    assert (own["inputs"]["each"], shared["inputs"]["each"]) == (True, False)


def test_help_says_what_each_means(run):
    assert "a probability of its own" in " ".join(run("delta", "--help").stdout.replace("│", " ").split())


def test_a_composition_file_states_it_part_by_part(tmp_path, run_json):
    own, shared = tmp_path / "own.toml", tmp_path / "shared.toml"
    own.write_text(COMPOSITION.format(each="each = true\n"), "utf-8")
    shared.write_text(COMPOSITION.format(each=""), "utf-8")
    found, other = run_json("compose", own), run_json("compose", shared)
    assert found["inputs"]["part"][0]["each"] is True
    assert "each" not in other["inputs"]["part"][0]
    assert delta_of(other) <= delta_of(found) < 1


def test_a_written_composition_is_read_back(tmp_path, run_json):
    first = tmp_path / "own.toml"
    first.write_text(COMPOSITION.format(each="each = true\n"), "utf-8")
    found = run_json("compose", first)
    again = tmp_path / "again.json"
    again.write_text(json.dumps(found["inputs"]), "utf-8")
    assert run_json("compose", again)["delta"] == found["delta"]


@pytest.mark.campaign  # alone it notices a file that does not hand on that rows differ
def test_claims_and_counts_state_it_too(tmp_path, run, run_json):
    reached = curve(sp.EachBetween("0.3", "0.6"), 100).delta("0.1").upper
    claims = tmp_path / "claims.toml"
    claims.write_text(
        f'[[claim]]\nepsilon = 0.1\ndelta = "{Fraction(reached)}"\n'
        'population = 100\nprobability = "0.3..0.6"\neach = true\n',
        "utf-8",
    )
    assert run("verify", claims).exit_code == 0
    counts = tmp_path / "counts.toml"
    counts.write_text('epsilon = 0.1\npopulation = 100\n[[count]]\nprobability = "0.3..0.6"\neach = true\n', "utf-8")
    assert delta_of(run_json("assess", counts)) == reached


def test_it_stands_beside_a_probability_and_not_beside_a_query(tmp_path, run):
    file = tmp_path / "composition.toml"
    file.write_text(
        "epsilon = 0.1\npopulation = 10\n[[part]]\n"
        'query = { kind = "property", probability = "1/2" }\neach = true\nsize = 5\n',
        "utf-8",
    )
    refused = run("compose", file)
    assert refused.exit_code == 2
    assert "has each beside a query, in which it stands" in refused.stderr


@pytest.mark.parametrize("queries", [1, 3])
def test_the_least_uncertainty_holds_and_the_next_smaller_does_not(queries):
    plan = sp.design.least_uncertainty(
        sp.Population(200), epsilon="0.2", delta="0.05", queries=queries, step="0.01", attribute="a"
    )

    def reached(certain):
        asked = [sp.PropertyQuery(sp.EachBetween(certain, 1 - certain), attribute="a")] * queries
        parts = sp.RandomPartition.folds(200, queries)
        return sp.compose(asked, sp.Population(200), parts).delta("0.2")

    assert Fraction(reached(plan.value).upper) <= Fraction("0.05") < Fraction(reached(plan.neighbour.value).lower)
    assert plan.neighbour.value == plan.value - Fraction(1, 100)


def test_the_command_finds_the_least_uncertainty(run_json):
    found = run_json("design", "least-uncertainty", "--n", 200, "--epsilon", "0.2", "--delta", "0.05", "--step", "0.01")
    plan = sp.design.least_uncertainty(sp.Population(200), epsilon="0.2", delta="0.05", step="0.01")
    assert found["value"] == plan.document()["value"]


def test_fair_coins_that_do_not_reach_the_target_are_named():
    with pytest.raises(sp.GuaranteeNotReachedError, match="no uncertainty is certified to reach"):
        sp.design.least_uncertainty(sp.Population(10), epsilon="0.1", delta="0.001")
    with pytest.raises(sp.ArgumentError, match=r"step = 0\.75"):
        sp.design.least_uncertainty(sp.Population(10), epsilon="0.1", delta="0.001", step="0.75")


def test_sensitivity_tells_what_people_who_are_not_alike_cost():
    shared = sp.sensitivity_of(sp.PropertyQuery(sp.Between("0.1", "0.5")), sp.Population(12), epsilon="0.05")
    unlike = [change for change in shared if change.assumption == "people not alike"]
    assert unlike[0].value == "each row its own p from 0.1 to 0.5"
    assert unlike[0].delta == curve(sp.EachBetween("0.1", "0.5"), 12).delta("0.05")
    own = sp.sensitivity_of(sp.PropertyQuery(sp.EachBetween("0.1", "0.5")), sp.Population(12), epsilon="0.05")
    assert own[0].value == "each row its own p from 0.1 to 0.5"
    assert not [change for change in own if change.assumption == "people not alike"]
