"""`statpriv attack`: programs of any language are attacked, and a claim that is too small is refuted."""

import json
import sys

import pytest

import statpriv as sp

PRINT = "for line in sys.stdin: print({answer}, flush=True)"
QUIET = ("--pair", "1", "0", "--law", "1=0.3,0=0.7", "--others", "9", "--trials", "2000", "--seed", "1")


@pytest.fixture
def program(tmp_path):
    def written(answer):
        path = tmp_path / "mechanism.py"
        path.write_text(f"import json, random, sys\n{PRINT.format(answer=answer)}\n", encoding="utf-8")
        return "--", sys.executable, str(path)

    return written


@pytest.mark.parametrize(
    ("answer", "delta", "verdict"),
    [
        ("sum(json.loads(line))", "0.3", "consistent"),
        ("json.loads(line)[0]", "0.5", "refuted"),
        ("json.dumps([json.loads(line)[0], 'a', None])", "0.5", "refuted"),
        ("'one' if json.loads(line)[0] else 'none'", "0.5", "refuted"),
        ("json.loads(line)[0]", None, "nothing claimed"),
    ],
)
def test_a_claim_is_refuted_or_not(run, program, answer, delta, verdict):
    claim = () if delta is None else ("--delta", delta)
    result = run("attack", *QUIET, *claim, "--epsilon", "0.5", *program(answer))
    assert result.stdout.startswith(verdict)
    assert result.exit_code == (verdict == "refuted")
    document = json.loads(run("attack", *QUIET, *claim, "--json", *program(answer)).stdout)
    assert document["verdict"] == verdict
    assert document["advantage"]["lower"] < document["advantage"]["upper"] <= 1


def test_values_may_be_words(run, program):
    told = program("json.loads(line)[0]")
    result = run(
        "attack", "--pair", "yes", "no", "--law", "no=1", "--others", "0", "--trials", "200", "--delta", "0", *told
    )
    assert result.exit_code == 1
    assert "accuses a row of 'yes' and not 'no'" in result.stdout


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("1 / 0", "stopped after 0 answers; it has to read one line of JSON after the other"),
        ("sum(json.loads(line)) if random.random() < 0.99 else sys.exit()", "answers; it has to read one line"),
    ],
)
def test_a_program_that_stops_is_told_so(run, program, answer, message):
    result = run("attack", *QUIET, *program(answer))
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--law", "1"), "--law = '1'; values with their probabilities"),
        (("--law", "1=0.3,0=0.6"), "law sums to 9/10"),
        (("--delta", "2"), "claimed = 2"),
        (("--trials", "5"), "--trials = 5; a whole number from 100"),
        (("--confidence", "1"), "confidence = 1"),
        (("--epsilon", "-1"), "epsilon = -1"),
    ],
)
def test_a_bad_argument_is_refused_by_name(run, program, arguments, message):
    result = run("attack", *QUIET, *arguments, *program("1"))
    assert result.exit_code == 2
    assert message in result.stderr


def test_what_cannot_be_started_is_named(run):
    result = run("attack", *QUIET, "--", "no-such-program")
    assert result.exit_code == 2
    assert "'no-such-program' cannot be started" in result.stderr


PLAN = """
prior = "none"
[data]
source = "people.csv"
[guarantee]
epsilon = 0.1
delta = 1
[[query]]
name = "young voters"
where = "vote = 'yes' AND age < 40"
probability = 0.2
source = "-"
rows = 20
"""


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN, encoding="utf-8")
    return ("--plan", str(path), "--law", "yes:30=0.2,no:30=0.3,no:60=0.5", "--others", "49", "--trials", "500")


def test_a_plan_is_attacked_beside_what_is_certified(run, plan):
    """Its data need not exist."""
    result = run("attack", *plan, "--pair", "yes:30", "no:60")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("consistent")
    claimed = float(next(line for line in result.stdout.splitlines() if "claimed" in line).split()[4].rstrip(","))
    asked = sp.compose([sp.PropertyQuery("0.2")], sp.Population(50), sp.RandomPartition([20]))
    assert claimed == pytest.approx(asked.delta("0.1").upper, rel=1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--pair", "yes", "no"), 'a value for each of the columns "vote", "age" is required'),
        (("--pair", "1:30", "0:60"), "vote"),
        (("--pair", "yes:30", "no:60", "--", "cat"), "a program after -- or --plan is required, and not both"),
    ],
)
def test_rows_that_do_not_fit_a_plan_are_refused(run, plan, arguments, message):
    result = run("attack", *plan, *arguments)
    assert result.exit_code != 0
    assert message in result.stderr


def test_something_to_attack_is_required(run):
    result = run("attack", *QUIET)
    assert result.exit_code == 2
    assert "a program after -- or --plan is required" in result.stderr
