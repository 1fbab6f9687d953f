"""Can a reviewer compute the guarantee of everything released again, from the last report alone?"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from fractions import Fraction

import pytest
from tests.release import real_reports

import statpriv as sp
from statpriv.assurance import checker
from statpriv.composition.cohorts import Cohort
from statpriv.composition.repeated_releases import RepeatedReleases
from statpriv.errors import ArgumentError
from statpriv.files.composition import read_composition
from statpriv.releasing.extension import extend

from ..command_line import in_this_process
from .conftest import query

pytestmark = pytest.mark.usefixtures("computed_once")

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
    """A report of a fourth release, which agrees with itself."""
    return real_reports.report("later")


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def statpriv(*arguments):
    """Run a command in this process, where curves have few points as those of the reports here."""
    result = in_this_process(*arguments)
    return Done(result.exit_code, result.stdout, result.stderr)


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
    assert read.disagreements == ()
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
    assert "agrees: everything that follows from the plan, the rows, the history and the counts" in text
    assert "on trust statpriv, html_sha256, signer, plan.sha256," in text
    assert "release 1: 90 rows, δ on these [0.0" in text
    assert "ε and δ of the target were not chosen by earlier answers" in text
    assert "], weight 0.3 release 2: 80 rows, " in text
    document = json.loads(statpriv("compose", str(third.json), "--json").stdout)
    assert (document["report"]["agrees"], document["report"]["disagreements"]) == (True, [])
    assert document["report"]["on_trust"]["plan.sha256"].startswith("the plan is another file")
    terms = document["everything"]["terms"]
    assert [(term["rows"], term["weight"]) for term in terms] == [(90, "3/10"), (80, "28/155"), (50, "7/62")]
    total = sum(Fraction(term["weight"]) * Fraction(term["delta"]["upper"]) for term in terms)
    assert document["everything"]["delta"]["upper"] == sp.Enclosure(total).upper


@pytest.mark.campaign  # alone it notices a step that a later report forgets
@pytest.mark.parametrize("more", ["known_rows = 10", "[publication]\ngate = true", "[publication]\nrounded_to = 5"])
def test_steps_known_rows_and_histograms_are_part_of_the_history(workshop, more):
    people(workshop, 400)
    release(workshop, query("vote = 0", rows=100), query("age <= 1", rows=60, probability=("2/3", "2/3")), more=more)
    release(workshop, HISTOGRAM, more=more)
    release(workshop, query("age = 2", rows=50), more=more)
    assert read_composition(workshop.json).disagreements == ()


def test_a_gate_frees_a_count_of_the_range_that_others_declare(workshop):
    """What is certified of it holds for every p, so it needs no hull; a number for p has no range to begin with."""
    people(workshop, 400)
    gated = query("vote = 0", rows=100, probability=("1/2", "1/2")) + "gate = true\n"
    release(workshop, gated)
    release(workshop, query("vote = 0", rows=100))
    release(workshop, gated)
    assert read_composition(workshop.json).disagreements == ()
    first, second = (past["part"][0] for past in workshop.report["history"])
    assert (first["probability"], second["probability"]) == (["0", "1"], ["0.4", "0.6"])


def test_the_history_states_every_step_of_earlier_queries_also_where_no_certificate_makes_use_of_it(workshop):
    people(workshop, 400)
    steps = "gate = true\nsuppressed_below = 10\nrounded_to = 5\n"
    release(workshop, query("vote = 0", rows=100) + steps)
    release(workshop, HISTOGRAM + "gate = true\n")
    release(workshop, query("age = 2", rows=50, probability=("0.3", "0.4")))
    assert read_composition(workshop.json).disagreements == ()
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


def test_the_printed_commands_prove_the_target_of_gated_rounded_and_suppressed_counts(workshop, monkeypatch, capsys):
    """As a reviewer does: type what the page says beside the report, and compare what was proved with the page."""
    people(workshop, 400)
    rounded = query("age = 0", rows=90, probability=("0.3", "0.4")) + "suppressed_below = 10\nrounded_to = 5\n"
    gated = query("vote = 0", rows=200) + "gate = true\nrounded_to = 5\n"
    release(workshop, gated, rounded, delta="0.05", more="known_rows = 3")
    commands = workshop.report["verify"]["proof"]
    assert commands[1].startswith("python -I -m ")  # whatever came in one folder with the certificate
    assert all(command in workshop.page.read_text(encoding="utf-8") for command in commands)
    monkeypatch.chdir(workshop.folder)
    prove, check = (command.split() for command in commands)
    assert (prove[0], check[:4]) == ("statpriv", ["python", "-I", "-m", "statpriv.checker"])
    done = statpriv(*prove[1:])
    assert (done.returncode, done.stderr) == (0, "")
    assert checker.main(check[4:]) == 0
    told = capsys.readouterr().out
    assert told.startswith("proved: (epsilon, delta) = (0.1, 0.05) for ")
    proved = json.loads(told.splitlines()[0].partition(" for ")[2])
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


@pytest.mark.campaign  # alone it notices histograms of earlier releases
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


@pytest.mark.campaign  # alone it notices known rows of a claim that are forgotten
def test_known_rows_of_a_claim_count_in_every_release(third, tmp_path):
    claims = tmp_path / "claims.toml"
    claims.write_text(f'[[claim]]\nreport = "{third.json}"\nknown_rows = 20\n')
    [finding] = sp.verify(claims)
    assert finding.delta.lower > third.report["guarantee"]["delta"]["upper"]


# --- forged reports


def disagreements(report):
    return real_reports.again(report).disagreements


def changed(report, place, value):
    *path, last = place
    table = report
    for key in path:
        table = table[key]
    table[last] = value
    return report


RANGE = {"lower": "0.2", "upper": "0.25"}
FORGERIES = [
    (("guarantee", "delta"), {"lower": 0.02, "upper": 0.02}, "guarantee.delta is [0.02, 0.02], computed again ["),
    (("guarantee", "delta"), {"lower": 0.0, "upper": 1.0}, "guarantee.delta is [0.0, 1.0], which says too little"),
    (("guarantee", "term", "weight"), 0.18, "guarantee.term.weight is 0.18, computed again 0."),
    (("guarantee", "holds"), False, "report.json is no valid report: $.release breaks the rule type"),
    (("guarantee", "target_delta_exact"), "0.02", "guarantee.target_delta is 1.0, computed again 0.02 (from"),
    (("history", 0, "rows_spent"), 200, "history[1].rows_spent is 200, computed again 24 (from history.part.size"),
    (("history", 1, "rows_then"), 90, "history[2].rows_then is 90, computed again 60 (from ledger.cohorts.rows"),
    (("ledger", "rows_spent_before"), 4, "ledger.rows_spent_before is 4, computed again 48 (from history.part.size)"),
    (("data", "rows"), 100, "data.rows is 100, but ledger.cohorts.rows add up to 90"),
    (("history", 1, "part", 0, "attribute"), "x", "history[2].queries[1].where is not what history[2].part[1].attrib"),
    (("history", 2, "queries", 0, "cells"), "x", "history[3].queries[1].cells is not what history[3].part[1].attrib"),
    (("history", 0, "queries", 0, "gates"), None, "history[1].queries[1].gates are not history[1].part[1].gate"),
    (("history", 0, "part", 0, "gate"), [0, 24], "history[1].queries[1].gates are not history[1].part[1].gate"),
    (("history", 1, "part", 0, "rounded_to"), 10, "history[2].part[1].rounded_to is not history[2].queries[1].rou"),
    (("history", 0, "part", 0, "probability"), ["0.6", "0.7"], "history[1].queries[1].gates are not within"),
    (("history", 0, "part", 0, "size"), 60, "history[2].part.size uses 12 rows, but by ledger.cohorts.rows, ledger"),
    (("history", 1, "number"), 1, "history.number and release.number do not ascend"),
    (("release", "number"), 2, "history.number and release.number do not ascend"),
    (("ledger", "cohorts", 1, "since_release"), 9, "ledger.cohorts.since_release is not in order, from release 1"),
    (("queries", 0, "where"), '"age" = 0', "composition.part[1].attribute is "),
    (("queries", 0, "where"), "vote = 0", 'queries[1].where is "vote = 0", computed again '),
    (("queries", 0, "where"), "random() < 0.5", "the plan by the report: 1 mistake"),
    (("queries", 0, "probability"), RANGE, "composition.part[1].probability[1] is "),
    (("composition", "part", 0, "suppressed_below"), 4, "composition.part[1].suppressed_below is 4, computed aga"),
    (("answers", 0, "count"), 21, "answers.count, answers.withheld and answers.suppressed of queries[1] are not what"),
    (("answers",), [], "answers are 0, but queries and queries.cells ask for 1"),
    (("answers", 0, "interval"), [0.1, 0.2], "answers[1].interval[1] is 0.1, computed again "),
    (("answers", 0, "secret"), 1, "report.json is no valid report: $.answers[0] breaks the rule that no key"
     ' may be there which the schema does not name: "secret"'),
    (("history", 0, "day"), "Monday", 'report.json is no valid report: $.history[0] breaks the rule that no key may'),
]  # fmt: skip


@pytest.mark.campaign  # alone it notices a leaf that is not compared; `test_leaves.py` changes each
@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: ".".join(map(str, forgery[0])))
def test_a_forged_report_is_refused(later, forgery):
    path, value, sentence = forgery
    try:
        told = disagreements(changed(later, path, value))
    except ArgumentError as refused:
        told = [str(refused)]
    assert any(text.startswith(sentence) for text in told), told


@pytest.mark.campaign  # alone it notices one lie about an attribute
def test_queries_that_are_said_to_ask_one_property_are_found_to_ask_two():
    """One property asked of all parts says less than several: by the parts alone the claim would be proved."""
    forged = real_reports.report("suppressed")
    for part in forged["composition"]["part"]:
        part.update(attribute='"age" = 0', probability=["0.1", "0.4"])
    told = disagreements(forged)
    assert any(text.startswith("composition.part[1].attribute is") for text in told)


def test_a_later_release_does_not_pass_for_a_first_one(later):
    """Without its history, on the rows that were left, it would be a claim about this release alone."""
    guarantee = later["guarantee"]
    guarantee.update(releases=1, delta=guarantee["this_release"], term=None)
    later["history"] = []
    left = later["composition"]["population"]
    later["data"]["rows"] = left
    assert disagreements(later) == (
        f"data.rows is {left}, but ledger.cohorts.rows add up to 90",
        *disagreements(later)[1:],
    )
    later["ledger"].update(cohorts=[{"rows": left, "since_release": 1}], rows_spent_before=0)
    told = disagreements(later)
    assert any(text.startswith("guarantee.theorem is ") for text in told)


def test_counts_that_no_table_has_are_refused():
    """Counts of cells that do not add up, a multiple that is none, a count behind its gate."""
    cells = real_reports.report("gates and cells")
    whole = "answers.count, answers.withheld and answers.suppressed of queries[2] are not what any exact counts"
    answer = cells["answers"][1]
    count = answer["count"] + 1
    answer.update(count=count, proportion=count / 12)
    assert any(text.startswith(whole) for text in disagreements(cells))
    rounded = real_reports.report("counts")
    rounded["answers"][0].update(count=7, proportion=7 / 24)
    assert any("of queries[1] are not what any" in text for text in disagreements(rounded))
    withheld = real_reports.report("counts")
    withheld["answers"][0].update(count=None, proportion=None, rmse=None, interval=None, withheld=True)
    assert any("of queries[1] are not what any" in text for text in disagreements(withheld))


def test_a_report_that_contradicts_itself_is_no_claim(later, tmp_path):
    path = tmp_path / "report.json"
    path.write_text(json.dumps(changed(later, ("answers", 0, "proportion"), 0.9)), encoding="utf-8")
    sentence = r"'report\.json' contradicts itself: answers\[1\]\.proportion is 0\.9, computed again 0\.\d+ \(from"
    with pytest.raises(ArgumentError, match=sentence):
        sp.verify(path)
    done = statpriv("verify", str(path))
    assert (done.returncode, done.stdout) == (2, "")
    assert statpriv("compose", str(path)).returncode == 1


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda report: report["history"].pop(), "ledger.rows_spent_before is 48, computed again 36"),
        (lambda report: report.pop("history"), "no valid report: $ breaks the rule required"),
        (lambda report: report["history"][0].pop("part"), "$.history[0] breaks the rule required"),
        (
            lambda report: report["history"][0]["queries"].clear(),
            "history[1].part and history[1].queries differ in num",
        ),
        (lambda report: report["history"][0]["queries"][0].pop("where"), "history[1].queries[1].cells is not what"),
        (lambda report: report["guarantee"].pop("term"), "$.guarantee breaks the rule required"),
        (lambda report: report["ledger"]["cohorts"].reverse(), "ledger.cohorts.since_release is not in order"),
        (lambda report: report["ledger"]["cohorts"].clear(), "$.ledger.cohorts breaks the rule minItems"),
        (lambda report: report["answers"].append(report["answers"][0]), "answers are 2, but queries and queries.cells"),
        (lambda report: report["release"].update(rows_spent=1), "release.rows_spent is 1, computed again 20"),
    ],
)
def test_a_report_of_which_something_is_missing_is_refused(later, spoil, message):
    spoil(later)
    try:
        told = " ".join(disagreements(later))
    except ArgumentError as refused:
        told = str(refused)
    assert message in told


# --- which report, which plan


@pytest.fixture
def released(workshop):
    """A release of which report, plan and certificate are there."""
    people(workshop, 100)
    release(workshop, query("vote = 0", rows=60), delta="0.3", more="known_rows = 1")
    done = statpriv("verify", str(workshop.json), "--certificates", str(workshop.folder / "proofs"))
    assert done.returncode == 0
    workshop.proof = workshop.folder / "proofs" / "claim-1.json"
    return workshop


def test_a_certificate_names_its_report_and_its_plan(released, capsys):
    about = json.loads(released.proof.read_text())["about"]
    plan = released.folder / "plan.toml"
    assert about == {
        "release": released.report["release"]["id"],
        "report_sha256": hashlib.sha256(released.json.read_bytes()).hexdigest(),
        "plan_sha256": hashlib.sha256(plan.read_bytes()).hexdigest(),
    }
    assert checker.main([str(released.proof), str(released.json)]) == 0
    assert f"release {about['release']}, reported in the file with SHA-256" in capsys.readouterr().out
    assert checker.main([str(released.proof), str(released.page)]) == 2
    assert "the certificate is about another report: the given one has SHA-256" in capsys.readouterr().err
    document = json.loads(released.proof.read_text())
    del document["about"]
    released.proof.write_text(json.dumps(document))
    assert checker.main([str(released.proof), str(released.json)]) == 2
    assert "the certificate names no report" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"release": "x"}, "about.release: 32 hexadecimal digits are required"),
        ({"plan_sha256": None}, "about.plan_sha256: 64 hexadecimal digits are required"),
        ({"note": "approved"}, "about: a table with exactly the keys"),
    ],
)
def test_what_a_certificate_says_of_its_report_has_one_form(released, changed, told):
    document = json.loads(released.proof.read_text())
    document["about"].update(changed)
    with pytest.raises(checker.CertificateError, match=re.escape(told)):
        checker.check(document)
    released.proof.write_text(json.dumps(document))
    done = statpriv("verify", str(released.proof))
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_report_and_certificate_belong_to_the_plan(released):
    plan, other = released.folder / "plan.toml", released.folder / "other.toml"
    other.write_text(plan.read_text() + "# another\n")
    for file in (released.json, released.proof):
        assert statpriv("verify", str(file), "--plan", str(plan)).returncode == 0
        done = statpriv("verify", str(file), "--plan", str(other))
        assert (done.returncode, done.stdout) == (2, "")
        assert hashlib.sha256(other.read_bytes()).hexdigest() in done.stderr
    stated = json.loads(statpriv("verify", str(released.proof), "--json").stdout)
    assert (stated["verdict"], stated["about"]["release"]) == ("proved", released.report["release"]["id"])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("queries", 0, "source"), "a friend"),
        (("plan", "written_before_access"), "yes"),
        (("plan", "prior"), "not stated"),
        (("data", "row_id"), "vote2"),
        (("data", "unit"), "id"),
    ],
    ids=str,
)
def test_with_the_plan_what_it_states_is_no_longer_taken_on_trust(released, path, value):
    forged = changed(released.report, path, value)
    released.json.write_text(json.dumps(forged))
    assert statpriv("verify", str(released.json)).returncode == 0
    done = statpriv("verify", str(released.json), "--plan", str(released.folder / "plan.toml"))
    assert done.returncode == 2
    assert f"{'.'.join(str(key) for key in path if key != 0).replace('queries.', 'queries[1].')} is" in done.stderr
