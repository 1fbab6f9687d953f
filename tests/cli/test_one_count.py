"""`statpriv delta` and `statpriv epsilon`."""

import re
from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest

import statpriv as sp

DELTA_1024 = Fraction("0.02257377618990693694135285815974")


def encloses(document, value, *, width):
    lower, upper = Fraction(document["lower"]), Fraction(document["upper"])
    return lower <= value <= upper and upper - lower <= width * value


def test_delta_encloses_the_known_value(run_json):
    document = run_json("delta", "--n", 1024, "--p", "1/2", "--epsilon", "0.005")
    assert encloses(document["delta"], DELTA_1024, width=Fraction(1, 10**12))
    assert document["kind"] == "exact"
    assert document["inputs"] == {
        "n": 1024,
        "p": "1/2",
        "each": False,
        "known": 0,
        "size": None,
        "bound": "tightest",
        "epsilon": "1/200",
    }


def test_json_numbers_read_back_as_the_same_doubles(run_json):
    document = run_json("delta", "--n", 1024, "--p", "1/2", "--epsilon", "0.005")
    value = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024)).delta("0.005")
    assert (document["delta"]["lower"], document["delta"]["upper"]) == (value.lower, value.upper)


@pytest.mark.parametrize(
    ("written", "exact"), [("0.1", Fraction(1, 10)), ("1e-1", Fraction(1, 10)), ("1/3", Fraction(1, 3))]
)
def test_numbers_are_exact(run_json, written, exact):
    document = run_json("delta", "--n", 10, "--p", written, "--epsilon", written)
    assert Fraction(document["inputs"]["p"]) == Fraction(document["inputs"]["epsilon"]) == exact


def test_a_range_is_the_worst_of_its_members(run_json):
    arguments = ("delta", "--n", 50, "--epsilon", "0.1", "--p")
    over_the_range = run_json(*arguments, "0.2..0.6")
    members = [run_json(*arguments, p)["delta"]["lower"] for p in ("0.2", "0.3", "0.4", "0.5", "0.6")]
    assert over_the_range["delta"]["upper"] >= max(members)
    assert over_the_range["inputs"]["p"] == ["1/5", "3/5"]


def test_known_entries_are_taken_away(run_json):
    known = run_json("delta", "--n", 60, "--known", 10, "--p", "0.3", "--epsilon", "0.1")
    fewer = run_json("delta", "--n", 50, "--p", "0.3", "--epsilon", "0.1")
    assert known["delta"] == fewer["delta"]


def test_a_secret_sample_is_more_private_than_its_count_alone(run_json):
    sampled = run_json("delta", "--n", 200, "--size", 50, "--p", "0.3", "--epsilon", "0.1")
    alone = run_json("delta", "--n", 50, "--p", "0.3", "--epsilon", "0.1")
    assert sampled["delta"]["upper"] < alone["delta"]["lower"] / 4
    assert sampled["inputs"]["size"] == 50


def test_the_bound_is_the_one_named(run_json):
    arguments = ("delta", "--n", 200, "--size", 50, "--p", "0.3", "--epsilon", "0.1")
    bound = run_json(*arguments, "--bound", "partition-sum")
    assert bound["kind"] == "bound"
    assert bound["delta"]["lower"] > run_json(*arguments)["delta"]["upper"]


def test_epsilon_encloses_the_closed_form(run_json):
    # Three entries of probability 1/2: δ(ε) = 3/4 − e^ε/4 up to ε = ln 2.
    document = run_json("epsilon", "--n", 3, "--p", "1/2", "--delta", "0.3")
    with mpmath.workprec(200):
        value = Fraction(str(mpmath.log(mpmath.mpf(9) / 5)))
    assert encloses(document["epsilon"], value, width=Fraction(1, 10**12))


def test_infinity_is_a_string(run_json):
    document = run_json("epsilon", "--n", 10, "--p", "1/2", "--delta", 0)
    assert document["epsilon"] == {"lower": "inf", "upper": "inf"}


def test_the_text_quotes_the_safe_end(run):
    result = run("delta", "--n", 1024, "--p", "1/2", "--epsilon", "0.005")
    assert result.exit_code == 0
    headline = result.stdout.splitlines()[0]
    assert headline == "δ is at most 0.0225738 at ε = 0.005"
    assert re.search(r"\[0\.02257377618990[56]\d+, 0\.02257377618990[78]\d+\]", result.stdout)
    assert "exact: the least δ itself is enclosed" in result.stdout
    assert "membership" in result.stdout


@pytest.mark.parametrize("epsilon", ["0", "0.003", "0.1", "0.35"])
def test_the_text_is_never_below_the_truth(run, run_json, epsilon):
    arguments = ("delta", "--n", 77, "--p", "0.3", "--epsilon", epsilon)
    quoted = Decimal(run(*arguments).stdout.split()[5 - 1])
    truth = run_json(*arguments)["delta"]
    assert Decimal(truth["upper"]) <= quoted <= Decimal(truth["upper"]) * (1 + Decimal("1e-5"))


def test_the_text_shows_inputs_exactly(run):
    lines = run("delta", "--n", 10, "--p", "1/3", "--epsilon", "1e-30").stdout.splitlines()
    assert lines[0].endswith("at ε = 1e-30")
    assert "exact count of all 10 entries, p = 1/3, no entries known" in " ".join(lines)


def test_the_text_says_when_it_is_a_bound(run):
    result = run("delta", "--n", 100, "--known", 5, "--size", 50, "--p", "0.4..0.6", "--epsilon", "0.1")
    assert "bound: the least δ is at most this" in result.stdout
    assert "secret sample of 50 of 100 entries" in result.stdout


def test_the_text_of_an_infinite_epsilon_says_why(run):
    result = run("epsilon", "--n", 10, "--p", "1/2", "--delta", "0")
    assert result.exit_code == 0
    assert result.stdout.startswith("no finite ε is certified at δ = 0: δ stays at 0.00195313 however large ε is")


MISTAKES = [
    (("delta", "--n", "1024", "--p", "1/2", "--epsilon", "-1"), "epsilon = -1; a number of at least 0 is required"),
    (("delta", "--n", "0", "--p", "1/2", "--epsilon", "1"), "--n = 0; a whole number from 1 to 2^53 is required"),
    (("delta", "--n", "1.5", "--p", "1/2", "--epsilon", "1"), "--n = 1.5; a whole number from 1 to 2^53 is required"),
    (("delta", "--n", "9007199254740993", "--p", "1/2", "--epsilon", "1"), "--n = 9007199254740993; a whole"),
    (("delta", "--n", "4", "--p", "2", "--epsilon", "1"), "--p = 2; a probability from 0 to 1 is required"),
    (("delta", "--n", "4", "--p", "0.6..0.4", "--epsilon", "1"), "--p = 0.6..0.4; a range low..high with low <= high"),
    (("delta", "--n", "4", "--p", "nan", "--epsilon", "1"), '--p: "nan" is not a number such as 0.1, 1e-6 or 1/2'),
    (("delta", "--n", "4", "--p", "1/2", "--epsilon", "x"), '--epsilon: "x" is not a number'),
    (("delta", "--n", "4", "--p", "1/2", "--epsilon", "1", "--known", "4"), "known = 4; at most 3 of 4 entries"),
    (("delta", "--n", "4", "--p", "1/2", "--epsilon", "1", "--size", "5"), "the population only 4"),
    (("delta", "--n", "4", "--p", "1/2", "--epsilon", "1", "--bound", "best"), "bound = 'best'; one of 'tightest'"),
    (
        ("delta", "--n", "4", "--p", "1/2", "--epsilon", "1", "--digits", "0"),
        "--digits = 0; an integer from 1 to 10000 is required",
    ),
    (("delta", "--n", "4", "--epsilon", "1"), "Missing option '--p'. (try: statpriv delta --help)"),
    (("delta", "--n", "4", "--p", "1/2", "--epsilom", "1"), "No such option"),
    (("epsilon", "--n", "4", "--p", "1/2", "--delta", "-1"), "delta = -1; a number of at least 0 is required"),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES)
def test_a_mistake_is_one_sentence(run, arguments, sentence):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_delta_above_one_is_refused_with_what_may_be_meant(run):
    refused = run("epsilon", "--n", "100", "--p", "0.3", "--delta", "2")
    assert refused.exit_code == 2
    assert "--delta = 2; a probability from 0 to 1 is required, such as 0.02 for 2 %" in " ".join(
        refused.stderr.split()
    )
    assert run("epsilon", "--n", "100", "--p", "0.3", "--delta", "1").exit_code == 0
