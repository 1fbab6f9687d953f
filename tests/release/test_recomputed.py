"""Can a reviewer compute the guarantee of everything released again, from the last report alone?"""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from fractions import Fraction

import pytest
from tests.release.report_samples import variants

import statpriv as sp
from statpriv.assurance import checker
from statpriv.composition.cohorts import Cohort
from statpriv.composition.repeated_releases import RepeatedReleases
from statpriv.errors import ArgumentError
from statpriv.files.composition import read_composition
from statpriv.releasing.extension import extend

from .conftest import query, statpriv

pytestmark = pytest.mark.usefixtures("few_points")

HISTOGRAM = """
[[query]]
name = "Age"
source = "a public table"
rows = 40
cell = [
  {name = "no", where = "age = 0", probability = ["0.3", "0.4"]},
  {name = "one", where = "age = 1", probability = "1/3"},
]
"""


@pytest.fixture
def later():
    """A report of a third release, which agrees with itself."""
    return copy.deepcopy(variants()["later release"])


def people(workshop, n):
    workshop.table(["id", "vote", "age"], [[f"p{i}", i % 2, i % 3] for i in range(n)])


def release(workshop, *queries, **options):
    workshop.plan(*queries, more_data='row_id = "id"', **options)
    workshop.release(force=True)


@pytest.fixture
def third(workshop):
    """The third release of a table that grew after the first; the ranges of one property differ."""
    people(workshop, 300)
    release(workshop, query("vote = 0", rows=60, probability=("0.4", "0.6")), query("age = 0", rows=30), delta="0.3")
    people(workshop, 400)
    extend(workshop.folder / "plan.toml", registry=workshop.registry)
    release(workshop, query("vote = 0", rows=80, probability=("0.45", "0.65")), delta="0.3")
    release(workshop, query("vote = 0", rows=50, probability=("0.5", "0.5")), delta="0.3")
    return workshop


def test_the_report_of_a_later_release_is_recomputed_with_all_earlier_ones(third):
    report, read = third.report, read_composition(third.json)
    assert read.disagreements() == []
    curve = read.curve
    assert isinstance(curve, RepeatedReleases)
    assert curve.cohorts == (Cohort(300), Cohort(100, joined_after=1))
    assert curve.sizes == (90, 80, 50)
    computed, stated = curve.delta("0.1"), report["guarantee"]["delta"]
    assert (computed.lower, computed.upper) == (stated["lower"], stated["upper"])
    assert [part["probability"] for past in report["history"] for part in past["part"] if "vote" in part["attribute"]] \
        == [["0.4", "0.65"], ["0.4", "0.65"]]  # fmt: skip


def test_the_printed_command_computes_every_term_and_the_sum(third):
    command = third.report["verify"]["command"]
    assert command == "statpriv compose report.json"
    done = statpriv("compose", str(third.json))
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert text.startswith("δ of all 3 releases together is at most 0.0")
    assert "and so are the terms of earlier releases, the weights and the sum" in text
    assert "release 1: 90 rows, δ on these [0.0" in text
    assert "ε and δ of the target were not chosen by earlier answers" in text
    assert "], weight 0.3 release 2: 80 rows, " in text
    document = json.loads(statpriv("compose", str(third.json), "--json").stdout)
    assert document["report"] == {"agrees": True, "disagreements": []}
    terms = document["everything"]["terms"]
    assert [(term["rows"], term["weight"]) for term in terms] == [(90, "3/10"), (80, "28/155"), (50, "7/62")]
    total = sum(Fraction(term["weight"]) * Fraction(term["delta"]["upper"]) for term in terms)
    assert document["everything"]["delta"]["upper"] == sp.Enclosure(total).upper


@pytest.mark.parametrize("more", ["known_rows = 10", "[publication]\ngate = true", "[publication]\nrounded_to = 5"])
def test_steps_known_rows_and_histograms_are_part_of_the_history(workshop, more):
    people(workshop, 400)
    release(workshop, query("vote = 0", rows=100), query("age <= 1", rows=60, probability=("2/3", "2/3")), more=more)
    release(workshop, HISTOGRAM, more=more)
    release(workshop, query("age = 2", rows=50), more=more)
    assert read_composition(workshop.json).disagreements() == []


def test_a_gate_frees_a_count_of_the_range_that_others_declare(workshop):
    """What is certified of it holds for every p, so it needs no hull; a number for p has no range to begin with."""
    people(workshop, 400)
    gated = query("vote = 0", rows=100, probability=("1/2", "1/2")) + "gate = true\n"
    release(workshop, gated)
    release(workshop, query("vote = 0", rows=100))
    release(workshop, gated)
    assert read_composition(workshop.json).disagreements() == []
    first, second = (past["part"][0] for past in workshop.report["history"])
    assert (first["probability"], second["probability"]) == (["0", "1"], ["0.4", "0.6"])


def test_the_history_states_every_step_of_earlier_queries_also_where_no_certificate_makes_use_of_it(workshop):
    people(workshop, 400)
    steps = "gate = true\nsuppressed_below = 10\nrounded_to = 5\n"
    release(workshop, query("vote = 0", rows=100) + steps)
    release(workshop, HISTOGRAM + "gate = true\n")
    release(workshop, query("age = 2", rows=50, probability=("0.3", "0.4")))
    assert read_composition(workshop.json).disagreements() == []
    counted, histogram = (past["queries"][0] for past in workshop.report["history"])
    assert counted == {
        "where": '"vote" = 0',
        "size": 100,
        "gates": [{"lower": 26, "upper": 74}],
        "suppressed_below": 10,
        "rounded_to": 5,
    }
    assert "suppressed_below" not in workshop.report["history"][0]["part"][0]  # behind the gate it adds nothing
    assert (histogram["cells"], len(histogram["gates"])) == ('first of: "age" = 0; "age" = 1', 3)
    page = " ".join(re.sub(r"<[^>]*>", " ", workshop.page.read_text(encoding="utf-8")).split())
    assert "on 100 , within 26 to 74 only , suppressed below 10 , rounded to 5" in page


# --- claims and certificates


def test_the_report_itself_is_a_claim_that_the_target_is_reached(third):
    done = statpriv("verify", str(third.json), "--certificates", str(third.folder / "proofs"))
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert "1. proved: epsilon = 0.1, delta = 0.3: 3 releases of 400 rows" in text
    assert "by doubles and the checker of certificates, by " in text
    [written] = (third.folder / "proofs").iterdir()
    assert written.name == "claim-1.json"
    assert checker.main([str(written)]) == 0


def test_the_printed_commands_prove_the_target_of_gated_rounded_and_suppressed_counts(workshop):
    """As a reviewer does: type what the page says beside the report, and compare what was proved with the page."""
    people(workshop, 400)
    rounded = query("age = 0", rows=90, probability=("0.3", "0.4")) + "suppressed_below = 10\nrounded_to = 5\n"
    gated = query("vote = 0", rows=200) + "gate = true\nrounded_to = 5\n"
    release(workshop, gated, rounded, delta="0.05", more="known_rows = 3")
    commands = workshop.report["verify"]["proof"]
    assert commands[1].startswith("python -I -m ")  # whatever came in one folder with the certificate
    assert all(command in workshop.page.read_text(encoding="utf-8") for command in commands)
    for command in commands:
        # Isolated, Python would not find the package under test, but one that is installed.
        executable, *arguments = command.replace("statpriv ", "python -m statpriv ", 1).replace(" -I ", " ").split()
        done = subprocess.run(
            [sys.executable, *arguments], cwd=workshop.folder, capture_output=True, encoding="utf-8", check=False
        )
        assert (executable, done.returncode, done.stderr) == ("python", 0, "")
    assert done.stdout.startswith("proved: (epsilon, delta) = (0.1, 0.05) for ")
    proved = json.loads(done.stdout.splitlines()[0].partition(" for ")[2])
    assert [(part["size"], part["gate"], part["probability"]) for part in proved["parts"]] == [
        (200, [60, 140], {"lower": "0", "upper": "1"}),
        (90, None, {"lower": "0.3", "upper": "0.4"}),
    ]
    assert (proved["population"], proved["known_rows"]) == (400, 3)


def proved_by_the_printed_commands(workshop):
    """What the checker says of the certificate that `verify` writes for the report."""
    assert len(workshop.report["verify"]["proof"]) == 2
    proofs = workshop.folder / "proofs"
    done = statpriv("verify", str(workshop.json), "--certificates", str(proofs))
    assert (done.returncode, done.stderr) == (0, "")
    return checker.check(checker.read((proofs / "claim-1.json").read_text(encoding="utf-8")))


def test_the_target_of_a_histogram_beside_a_count_is_proved(workshop):
    people(workshop, 400)
    release(workshop, HISTOGRAM, query("vote = 0", rows=100), delta="0.3")
    verdict = proved_by_the_printed_commands(workshop)
    assert verdict.verdict == "proved"
    parts = json.loads(verdict.claim.partition(" for ")[2])["parts"]
    assert [part["size"] for part in parts] == [40, 100]
    assert [cell["lower"] for cell in parts[0]["cells"]] == ["0.3", "1/3", "4/15"]


def test_a_histogram_among_the_earlier_releases_is_proved_with_them(workshop):
    people(workshop, 400)
    release(workshop, HISTOGRAM, delta="0.3")
    release(workshop, query("vote = 0", rows=100), delta="0.3")
    verdict = proved_by_the_printed_commands(workshop)
    assert verdict.verdict == "proved"
    releases = json.loads(verdict.claim.partition(" for ")[2])["releases"]
    assert ["cells" in release["parts"][0] for release in releases] == [True, False]


def test_the_target_of_a_stratified_plan_is_proved_group_by_group(workshop):
    workshop.table(["id", "vote", "sex"], [[f"p{i}", i % 2, "mf"[i % 3 == 0]] for i in range(300)])
    by_group = query("vote = 0", rows=120).replace("rows = 120", "rows = {f = 50, m = 70}")
    workshop.plan(by_group, more_data='row_id = "id"\ngroup = "sex"\ngroup_source = "a census"', delta="0.3")
    workshop.release()
    verdict = proved_by_the_printed_commands(workshop)
    assert verdict.verdict == "proved"
    groups = json.loads(verdict.claim.partition(" for ")[2])["groups"]
    assert {name: group["population"] for name, group in groups.items()} == {"f": 100, "m": 200}


def test_histograms_with_known_rows_name_no_commands_that_could_not_prove_them(workshop):
    people(workshop, 100)
    release(workshop, HISTOGRAM, more="known_rows = 3")
    assert workshop.report["verify"]["proof"] == []
    assert "certificate" not in workshop.page.read_text(encoding="utf-8")


def test_the_certificate_of_all_releases_adds_up_to_the_target(third):
    """By hand: the checker proves each, and the weights of old and of new rows bring the sums to the target."""
    [finding] = sp.verify(third.json)
    proof = finding.certificate().document
    assert proof["cohorts"] == [{"rows": 300, "joined_after": 0}, {"rows": 100, "joined_after": 1}]
    proofs = proof["releases"]
    assert [release["situation"]["population"] for release in proofs] == [90, 80, 50]
    one, two, three = (Fraction(release["claim"]["delta"]) for release in proofs)
    drawn = Fraction(90, 300), Fraction(80, 310), Fraction(50, 230)
    new = drawn[1] * two + (1 - drawn[1]) * drawn[2] * three
    old = drawn[0] * one + (1 - drawn[0]) * new
    assert new < old <= Fraction(3, 10)
    assert old > Fraction(2999, 10000)


def test_a_target_below_the_sum_is_not_proved(third, tmp_path):
    stated = Fraction(third.report["guarantee"]["delta"]["upper"])
    claims = tmp_path / "claims.toml"
    for delta, verdict in ((stated * Fraction(9, 10), "undecided"), (stated * Fraction(11, 10), "proved")):
        claims.write_text(f'[[claim]]\nreport = "{third.json}"\ndelta = "{delta}"\n')
        assert sp.verify(claims).verdict == verdict
    with pytest.raises(ArgumentError, match=r"the bound is 0\.\d+, above delta = 0\.01"):
        RepeatedReleases((Cohort(10),), (sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(5)),)).certify(
            epsilon="0.1", delta="0.01"
        )


def test_known_rows_of_a_claim_count_in_every_release(third, tmp_path):
    claims = tmp_path / "claims.toml"
    claims.write_text(f'[[claim]]\nreport = "{third.json}"\nknown_rows = 20\n')
    [finding] = sp.verify(claims)
    assert finding.delta.lower > third.report["guarantee"]["delta"]["upper"]


# --- forged reports


def test_the_sample_agrees(later, tmp_path):
    assert disagreements(later, tmp_path) == []


def disagreements(report, folder):
    path = folder / "report.json"
    path.write_text(json.dumps(report), encoding="utf-8")
    return read_composition(path).disagreements()


FORGERIES = [
    (("guarantee", "delta"), {"lower": 0.02, "upper": 0.02}, "guarantee.delta is [0.02, 0.02], computed again ["),
    (("guarantee", "delta"), {"lower": 0.0, "upper": 1.0}, "guarantee.delta is [0.0, 1.0], which says too little"),
    (("guarantee", "this_release"), {"lower": 0.0, "upper": 0.0}, "guarantee.this_release is [0.0, 0.0], computed"),
    (("guarantee", "term", "delta"), {"lower": 0.0, "upper": 0.0}, "guarantee.term.delta is [0.0, 0.0], computed"),
    (("guarantee", "term", "weight"), 0.18, "the weights of history and guarantee.term are not those of the cohort"),
    (
        ("guarantee", "partition_secret"),
        {"lower": 0.0, "upper": 1e-9},
        "guarantee.partition_secret is [0.0, 1e-09], co",
    ),
    (
        ("guarantee", "partition_known"),
        {"lower": 0.0, "upper": 1e-9},
        "guarantee.partition_known is [0.0, 1e-09], comp",
    ),
    (("guarantee", "holds"), False, "guarantee.holds is false, but δ, computed again ["),
    (("guarantee", "target_delta_exact"), "0.02", "guarantee.holds is true, but δ, computed again ["),
    (("history", 0, "delta"), {"lower": 0.0, "upper": 0.0}, "history[1].delta is [0.0, 0.0], computed again ["),
    (("history", 1, "weight"), 0.1, "the weights of history and guarantee.term are not those of the cohort"),
    (("history", 0, "rows_spent"), 200, "history[1].rows_spent or the sizes of its queries are not those of its parts"),
    (("history", 0, "queries", 0, "size"), 9, "history[1].rows_spent or the sizes of its queries are not those"),
    (("history", 1, "rows_then"), 1100, "history[2].rows_then is 1100, by ledger.cohorts 944"),
    (("history", 0, "part", 0, "attribute"), '"vote" = 0', "a property has different ranges in different releases"),
    (("ledger", "rows_spent_before"), 400, "ledger.rows_spent_before is 400, by history 500"),
    (("data", "rows"), 1000, "data.rows is 1000, but ledger.cohorts have 1100"),
    (("history", 0, "part", 0, "attribute"), "x", "history[1].queries ask other properties than its parts"),
    (("history", 1, "queries", 0, "cells"), '"age" < 30', "history[2].queries ask other properties than its parts"),
    (("queries", 0, "where"), '"pid" = 0', "the queries ask other properties than the parts of the composition"),
    (("composition", "part", 0, "suppressed_below"), 40, "the parts of the composition have a gate, a suppression"),
    (("composition", "part", 0, "rounded_to"), 10, "the parts of the composition have a gate, a suppression or"),
    (("composition", "part", 0, "gate"), [90, 99], "the parts of the composition have a gate, a suppression or"),
    (("history", 0, "part", 1, "rounded_to"), 10, "history[1].part has a gate, a suppression or a rounding that its"),
    (("guarantee", "target_delta"), 1e-9, "guarantee.target_delta and guarantee.target_delta_exact differ"),
]


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: ".".join(map(str, forgery[0])))
def test_a_forged_report_disagrees(later, tmp_path, forgery):
    (*path, last), value, sentence = forgery
    table = later
    for key in path:
        table = table[key]
    table[last] = value
    assert any(text.startswith(sentence) for text in disagreements(later, tmp_path))


def test_queries_that_are_said_to_ask_one_property_are_found_to_ask_four(tmp_path):
    """One property asked of all parts says less than four: by the parts alone the claim would be proved."""
    forged = variants()["first release"]
    for part in forged["composition"]["part"]:
        part.update(attribute="one", probability=["0.4", "0.6"])
    for asked in forged["queries"]:
        asked["probability"] = {"lower": "0.4", "upper": "0.6"}
    told = disagreements(forged, tmp_path)
    assert told[-1] == "the queries ask other properties than the parts of the composition"
    with pytest.raises(ArgumentError, match=r"'report\.json' contradicts itself: the queries ask other properties"):
        sp.verify(tmp_path / "report.json")
    for asked in forged["queries"]:
        asked["where"] = "one"
    disagreements(forged, tmp_path)
    assert sp.verify(tmp_path / "report.json").verdict == "proved"


def test_a_later_release_does_not_pass_for_a_first_one(later, tmp_path):
    """Without its history, on the rows that were left, it would be a claim about this release alone."""
    guarantee = later["guarantee"]
    guarantee.update(releases=1, delta=guarantee.pop("this_release"))
    del guarantee["term"], guarantee["partition_secret"], guarantee["partition_known"], later["history"]
    later["data"]["rows"] = later["composition"]["population"]
    told = disagreements(later, tmp_path)
    assert told == ["ledger.rows_spent_before is 500, but the guarantee is that of a first release"]


@pytest.mark.parametrize(
    ("forge", "sentence"),
    [
        (lambda report: report["answers"].append(report["answers"][0]), "the answers are not those of the queries"),
        (lambda report: report["answers"].pop(), "the answers are not those of the queries in number or size"),
        (lambda report: report["answers"][0].update(size=900), "the answers are not those of the queries in number"),
        (lambda report: report["release"].update(rows_spent=1), "release.rows_spent is 1, which the queries do not"),
    ],
    ids=["one more", "one less", "more rows", "fewer rows spent"],
)
def test_answers_that_the_guarantee_is_not_about_show(workshop, tmp_path, forge, sentence):
    people(workshop, 400)
    release(workshop, HISTOGRAM, query("vote = 0", rows=100), delta="0.3")
    report = workshop.report
    assert disagreements(report, tmp_path) == []
    forge(report)
    assert any(text.startswith(sentence) for text in disagreements(report, tmp_path))


def test_a_report_that_contradicts_itself_is_no_claim(later, tmp_path):
    later["data"]["rows"] = 1000
    disagreements(later, tmp_path)
    with pytest.raises(ArgumentError, match=r"contradicts itself: data\.rows is 1000, but ledger\.cohorts have 1100"):
        sp.verify(tmp_path / "report.json")


def test_a_range_that_was_narrowed_afterwards_shows_in_its_delta(later, tmp_path):
    later["history"][0]["part"][0]["probability"] = ["0.2", "0.25"]
    told = disagreements(later, tmp_path)
    assert told[0].startswith("history[1].delta is [")
    assert any(text.startswith("guarantee.delta is [") for text in told)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda report: report["history"].pop(), "history is not a list of one release less than guarantee.releases"),
        (lambda report: report.pop("history"), "history is not a list of one release less than guarantee.releases"),
        (
            lambda report: report["guarantee"].update(releases=1),
            "history has earlier releases, but by guarantee.releases there are none",
        ),
        (lambda report: report["history"][0].pop("part"), "history[1].part is missing"),
        (
            lambda report: report["history"][0]["queries"][0].pop("where"),
            "a list of queries, each with where or cells, size, gates, suppressed_below and rounded_to",
        ),
        (
            lambda report: report["queries"][0].update(
                cells=[{"probability": {"lower": "0", "upper": "1"}, "where": 5}] * 2
            ),
            "queries[1].cells = [",
        ),
        (lambda report: report["guarantee"].pop("term"), "guarantee.term = null; a table with the keys delta, weight"),
        (lambda report: report["ledger"].pop("cohorts"), "ledger.cohorts is missing; a list of cohorts"),
        (lambda report: report["ledger"]["cohorts"].reverse(), "a list of cohorts {rows, since_release} in order"),
        (lambda report: report["ledger"]["cohorts"].clear(), "a list of cohorts {rows, since_release} in order"),
        (
            lambda report: report["ledger"]["cohorts"][0].update(rows=400),
            "ledger.cohorts had fewer rows left than a release used, or joined after the last one",
        ),
    ],
    ids=[
        "one less",
        "none",
        "one release",
        "no parts",
        "no predicate",
        "no text",
        "no term",
        "no cohorts",
        "disorder",
        "empty",
        "too few rows",
    ],
)
def test_a_report_from_which_nothing_can_be_computed_is_refused(later, tmp_path, spoil, message):
    spoil(later)
    with pytest.raises(ArgumentError) as refused:
        disagreements(later, tmp_path)
    assert message in str(refused.value)
