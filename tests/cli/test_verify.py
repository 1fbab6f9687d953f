"""`statpriv verify`: exit codes, certified margins and certificates."""

import json
from collections import Counter

import pytest

from statpriv.assurance import checker

CLAIM = """
[[claim]]
name = "coins"
epsilon = 0.005
delta = {delta}
population = 1024
probability = 0.5
"""
BOUND = """
[[claim]]
epsilon = 0.005
delta = 0.0225
population = 2048
bound = "partition-sum"
part = [{probability = 0.5, size = 1024, count = 2}]
"""


@pytest.fixture
def written(tmp_path):
    def write(*claims):
        path = tmp_path / "claims.toml"
        path.write_text("".join(claims), encoding="utf-8")
        return path

    return write


PROVED, REFUTED = CLAIM.format(delta="0.0226"), CLAIM.format(delta="0.0225")


@pytest.mark.parametrize(
    ("claims", "code", "summary"),
    [
        ([PROVED], 0, "1 proved"),
        ([PROVED, PROVED, REFUTED, BOUND], 1, "2 proved, 1 refuted, 1 undecided"),
        ([BOUND, PROVED], 4, "1 undecided, 1 proved"),
    ],
)
def test_exit_codes(run, written, claims, code, summary):
    result = run("verify", written(*claims))
    assert result.exit_code == code
    assert result.stdout.splitlines()[-1] == summary


def test_the_text_has_the_margin_at_its_safe_end(run, written):
    text = run("verify", written(PROVED, REFUTED)).stdout
    assert text.startswith("1. proved: epsilon = 0.005, delta = 0.0226: coins\n")
    assert "the claimed δ minus the least one is at least 0.0000262238\n" in text.replace(" \n", "\n").replace("  ", "")
    assert "2. refuted: epsilon = 0.005, delta = 0.0225: coins\n" in text
    assert "the claimed δ is too small by at least 0.0000737761" in text
    assert "doubles and 30 digits" in text


def test_json(run_json, written):
    document = run_json("verify", written(PROVED, REFUTED), code=1)
    assert document["verdict"] == "refuted"
    proved, refuted = document["claims"]
    assert (proved["verdict"], proved["name"], proved["epsilon"], proved["delta"]) == (
        "proved",
        "coins",
        "1/200",
        "113/5000",
    )
    assert 2.6223810093063e-05 <= proved["margin"]["lower"] <= proved["margin"]["upper"] <= 2.6223810093064e-05
    assert proved["kind"] == "exact"
    assert proved["recomputed_by"] == "30 digits"
    assert refuted["margin"]["upper"] < -7.3e-05
    assert proved["least_delta"]["lower"] <= 0.022573776189906937 <= proved["least_delta"]["upper"]
    assert proved["certificate"] is None


def test_sensitivity_is_shown_for_every_claim_and_changes_no_verdict(run, run_json, written):
    plain = run_json("verify", written(PROVED, REFUTED, BOUND), code=1)
    document = run_json("verify", written(PROVED, REFUTED, BOUND), "--sensitivity", code=1)
    tables = [claim.pop("sensitivity") for claim in document["claims"]]
    assert document == plain
    assert len(tables) == 3
    for table, households in zip(tables, (2, 2, 0), strict=True):
        assert Counter(row["assumption"] for row in table) == {
            "as stated": 1,
            "probability": 5,
            "people not alike": 2,
            **({"households": households} if households else {}),
            "known rows": 4,
            "rows a person": 4,
        }
    assert tables[0][0]["delta"] == document["claims"][0]["least_delta"]
    text = run("verify", written(PROVED), "--sensitivity").stdout
    assert "what if" in text
    assert "known rows 103 " in " ".join(text.split())
    assert "what if" not in run("verify", written(PROVED)).stdout


def test_certificates_of_what_is_proved_are_written(run, written, tmp_path, capsys):
    folder = tmp_path / "proofs" / "of today"
    result = run("verify", written(PROVED, REFUTED, PROVED), "--certificates", folder)
    assert result.exit_code == 1
    assert sorted(path.name for path in folder.iterdir()) == ["claim-1.json", "claim-3.json"]
    assert checker.main([str(folder / "claim-1.json")]) == 0
    assert json.loads((folder / "claim-1.json").read_text(encoding="utf-8"))["claim"]["delta"] == "0.0226"


def test_a_proved_claim_that_cannot_be_certified_says_why(run_json, written, tmp_path):
    certain = CLAIM.format(delta=1).replace("0.5", "0")
    document = run_json("verify", written(certain), "--certificates", tmp_path / "proofs")
    assert document["claims"][0]["verdict"] == "proved"
    assert document["claims"][0]["certificate"].startswith("none: query = PropertyQuery(0.0)")
    assert not list((tmp_path / "proofs").iterdir())


def test_a_folder_that_is_none_or_not_empty_is_refused(run, written, tmp_path):
    """Certificates of an earlier run, of claims that may be refuted now, must not lie among the new ones."""
    (tmp_path / "file").write_text("a file", encoding="utf-8")
    for place, why in [(tmp_path / "file", "it is no folder that can be used"), (tmp_path, "it is not empty")]:
        result = run("verify", written(PROVED), "--certificates", place)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert f"--certificates = {place}: {why}" in result.stderr


def test_a_file_with_mistakes_is_refused_with_their_lines(run, written):
    result = run("verify", written(PROVED.replace("population", "popluation")))
    assert result.exit_code == 2
    assert "line 6: claim[1].popluation: no such key; did you mean population?" in result.stderr
    assert result.stdout == ""


def test_a_real_process_ends_with_the_code(process, written):
    done = process("verify", written(BOUND))
    assert done.returncode == 4
    assert "Traceback" not in done.stderr


def test_help_shows_a_file(run):
    assert "[[claim.part]]" in run("verify", "--help").stdout
