"""Claims are proved, refuted or left open, by two computations, and never wrongly."""

import json
import re
import sys
from fractions import Fraction
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv.composition.cohorts import Cohort
from statpriv.composition.repeated_releases import RepeatedReleases
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import NotAvailableError
from statpriv.files.claims import read_claims
from statpriv.numeric.digits import exact_ends

from ..cases import cases

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXACT_1024 = Fraction("0.02257377618990693694135285815974")  # δ of 1024 fair coins at ε = 1/200
COIN = sp.PropertyQuery("1/2")


def one_count(n=1024, p="1/2", known=0):
    return sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n), adversary=sp.Adversary(known=known))


def partition_sum(parts=32, size=1024):
    population, partition = sp.Population(parts * size), sp.RandomPartition([size] * parts)
    return sp.compose([COIN] * parts, population, partition, bound="partition-sum")


def only(curve, epsilon, delta):
    (finding,) = sp.verify(sp.Claim(curve, epsilon=epsilon, delta=delta))
    return finding


# --- verdicts ------------------------------------------------------------------------------------


def test_the_claim_of_the_paper_is_proved_with_its_margin():
    finding = only(partition_sum(), "0.005", "0.0226")
    assert finding.verdict == "proved"
    assert Fraction("0.0226") - EXACT_1024 in finding.margin
    assert finding.margin.width < 1e-19
    assert finding.route == "30 digits"
    assert finding.why == "a bound of the least δ is at most the claimed one"


def test_an_exact_curve_refutes():
    finding = only(one_count(), "0.005", "0.0225")
    assert finding.verdict == "refuted"
    assert Fraction("0.0225") - EXACT_1024 in finding.margin
    assert finding.margin.upper < 0


def test_a_bound_never_refutes():
    finding = only(partition_sum(), "0.005", "0.0225")
    assert finding.verdict == "undecided"
    assert finding.why == "the bound is not below the claimed δ, which refutes nothing"


def test_known_rows_are_part_of_a_claim():
    least = {known: one_count(known=known).delta("0.1").upper for known in (0, 100)}
    target = Fraction(least[100] + least[0]) / 2
    assert only(one_count(known=0), "0.1", target).verdict == "proved"
    assert only(one_count(known=100), "0.1", target).verdict == "refuted"


@pytest.mark.parametrize(
    ("n", "p", "epsilon", "delta"),
    [
        (3, "1/2", 0, Fraction(1, 2)),
        (1024, "1/2", 800, Fraction(1, 2**1023)),
        (7, "1/3", 0, Fraction(2**4 * 15, 3**6)),
        (5, sp.Between("1/3", "1/2"), 0, Fraction(32, 81)),
    ],
)
def test_a_claim_of_exactly_the_least_delta_is_proved_by_fractions(n, p, epsilon, delta):
    curve = sp.privacy_curve(sp.PropertyQuery(p), sp.Population(n))
    finding = only(curve, epsilon, delta)
    assert finding.verdict == "proved"
    assert 0 in finding.margin
    assert finding.margin.width == 0 or finding.route == "30 digits"
    assert only(curve, epsilon, delta * (1 - Fraction(1, 10**60))).verdict == "refuted"


def test_doubles_do_not_tell_but_digits_do():
    above, below = (EXACT_1024 * (1 + sign * Fraction(1, 10**24)) for sign in (1, -1))
    assert only(one_count(), "0.005", above).verdict == "proved"
    assert only(one_count(), "0.005", below).verdict == "refuted"


@settings(max_examples=cases(13, campaign=400), deadline=None)
@given(
    st.integers(1, 400),
    st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=40),
    st.fractions(0, 2, max_denominator=500),
    st.integers(8, 28),
)
def test_claims_next_to_the_truth_are_told_apart(n, p, epsilon, place):
    curve = one_count(n, p)
    low, high = exact_ends(curve.delta(epsilon, digits=40))
    if high * (1 + Fraction(1, 10**place)) < 1:
        assert only(curve, epsilon, high * (1 + Fraction(1, 10**place))).verdict == "proved"
    assert only(curve, epsilon, low * (1 - Fraction(1, 10**place))).verdict == "refuted"


def test_a_composition_of_many_properties_is_confirmed_by_the_checker():
    queries = [sp.PropertyQuery(f"0.{k}") for k in range(10, 22)]
    curve = sp.compose(queries, sp.Population(600), sp.RandomPartition([50] * 12))
    assert curve.kind == "enclosed"
    finding = only(curve, "0.1", "0.04")
    assert finding.verdict == "proved"
    assert finding.route == "the checker of certificates, by composition"


def test_a_false_claim_about_a_composition_is_refuted_by_the_checker_too():
    """δ is .002357…, and exact values of 32 unrelated properties are out of reach."""
    curve = sp.compose([COIN] * 32, sp.Population(32768), sp.RandomPartition([1024] * 32))
    finding = only(curve, "0.005", "0.0023")
    assert finding.verdict == "refuted"
    assert finding.route == "the checker of certificates, by composition"
    assert only(curve, "0.005", "0.0024").route == "the checker of certificates, by composition"


def test_where_there_are_no_digits_the_checker_confirms_or_it_is_said():
    noisy = sp.privacy_curve(COIN.noisy(sp.noise.Gaussian(sigma=3)), sp.Population(100))
    exact = sp.privacy_curve(COIN, sp.Population(100)).delta("0.1")
    assert only(noisy, "0.1", exact.upper).route == "the checker of certificates, by total-count"
    finding = only(noisy, "0.1", exact.lower * 0.99)  # more than the count itself keeps
    assert finding.verdict == "proved"
    assert finding.route.startswith("nothing else (a curve with continuous noise has no closed digits")
    sample = sp.privacy_curve(
        COIN, sp.Population(944), sampling=sp.WithoutReplacement(472), adversary=sp.Adversary(known=10)
    )
    assert only(sample, "0.1", "0.02").route == "the checker of certificates, by total-count"


class Enclosed(PrivacyCurve):
    """A curve of which one δ is attained and another is proved: truth in between."""

    kind = "enclosed"

    def delta(self, epsilon, *, digits=None):
        if digits is not None:
            raise sp.NotAvailableError("no digits of it")
        return sp.Enclosure("0.25", "0.5")


@pytest.mark.parametrize(("delta", "verdict"), [("0.5", "proved"), ("0.2", "refuted"), ("0.3", "undecided")])
def test_what_is_enclosed_is_proved_by_its_upper_end_and_refuted_by_its_lower(delta, verdict):
    finding = only(Enclosed(one_count().situation), "0.1", delta)
    assert finding.verdict == verdict
    assert Fraction(delta) - Fraction(3, 8) in finding.margin


@pytest.mark.parametrize("factor", [Fraction(999, 1000), Fraction(1001, 1000)])
def test_computations_that_disagree_are_an_error(monkeypatch, factor):
    right = PrivacyCurve.delta

    def wrong(curve, epsilon, *, digits=None):
        found = right(curve, epsilon, digits=digits)
        return found * factor if digits else found

    monkeypatch.setattr(PrivacyCurve, "delta", wrong)
    with pytest.raises(
        sp.DisagreementError, match=r"in doubles and \[0\.0225.* by 30 digits; please report this defect"
    ):
        only(one_count(), "0.005", "0.1")


# --- several claims ------------------------------------------------------------------------------


def test_the_worst_verdict_counts():
    proved, refuted = (sp.Claim(one_count(), epsilon="0.005", delta=delta) for delta in ("0.0226", "0.0225"))
    undecided = sp.Claim(partition_sum(), epsilon="0.005", delta="0.0225")
    for claims, verdict, code in [
        ([proved], "proved", 0),
        ([proved, undecided], "undecided", 4),
        ([undecided, refuted, proved], "refuted", 1),
    ]:
        found = sp.verify(claims)
        assert (found.verdict, found.exit_code, len(found)) == (verdict, code, len(claims))
        assert [finding.claim for finding in found] == claims
    assert str(sp.verify([proved])).startswith("proved     epsilon = 0.005, delta = 0.0226: ")


def test_a_finding_has_a_certificate():
    finding = only(partition_sum(), "0.005", "0.0226")
    assert finding.certificate().check().verdict == "proved"


def test_claims_are_values(copies):
    claim = sp.Claim(one_count(), epsilon="0.005", delta="0.0226", name="coins")
    assert claim == sp.Claim(one_count(), epsilon=Fraction(1, 200), delta=Fraction(226, 10_000), name="coins")
    assert len({claim, *copies(claim)}) == 1
    assert repr(claim) == "<Claim: epsilon = 0.005, delta = 0.0226: coins>"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sp.Claim(one_count(), epsilon=-1, delta=0), "epsilon = -1; a number of at least 0 is required"),
        (lambda: sp.Claim(one_count(), epsilon=1, delta="1.1"), "delta = 1.1; a number from 0 to 1 is required"),
        (lambda: sp.Claim(one_count(), epsilon=1, delta="1e-4000"), "a fraction of up to 8192 bits is required"),
        (lambda: sp.Claim(COIN, epsilon=1, delta=0), "curve = PropertyQuery(0.5); a curve such as"),
        (lambda: sp.Claim(one_count(), epsilon=1, delta=0, name=3), "name = 3; a string or None is required"),
        (lambda: sp.verify([]), "claims = []; claims such as sp.Claim"),
        (lambda: sp.verify(3), "claims = 3; claims such as sp.Claim"),
        (lambda: sp.verify([one_count()]), "claims such as sp.Claim"),
        (
            lambda: sp.verify("nowhere.toml"),
            "nowhere.toml: No such file or directory; the path of a claims file is required",
        ),
    ],
)
def test_what_is_no_claim_is_refused(make, message):
    with pytest.raises(sp.ArgumentError, match=re.escape(message)):
        make()


# --- claims files --------------------------------------------------------------------------------

THREE_FORMS = """\
[[claim]]
name = "32 counts"
epsilon = 0.005
delta = 0.0226
population = 32768
bound = "partition-sum"

[[claim.part]]
probability = "1/2"
size = 1024
count = 32

[[claim]]
epsilon = 0.1
delta = 1e-1
population = 944
probability = ["0.4", 0.6]
known_rows = 100

[[claim]]
epsilon = "1/10"
delta = 1
population = 944
probability = 0.5
size = 472
"""


@pytest.fixture
def written(tmp_path):
    def write(text, name="claims.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_file_says_what_the_library_would(written):
    first, second, third = read_claims(written(THREE_FORMS))
    assert first == sp.Claim(partition_sum(), epsilon="0.005", delta="0.0226", name="32 counts")
    between = sp.privacy_curve(
        sp.PropertyQuery(sp.Between("0.4", "0.6")), sp.Population(944), adversary=sp.Adversary(known=100)
    )
    assert second == sp.Claim(between, epsilon="0.1", delta="0.1")
    sample = sp.privacy_curve(COIN, sp.Population(944), sampling=sp.WithoutReplacement(472))
    assert third == sp.Claim(sample, epsilon="0.1", delta=1)
    assert sp.verify(written(THREE_FORMS)).verdict == "proved"
    assert sp.verify(str(written(THREE_FORMS))).verdict == "proved"


def test_json_says_the_same(written):
    document = {"claim": [{"epsilon": 0.1, "delta": "0.1", "population": 944, "probability": "1/2"}]}
    (claim,) = read_claims(written(json.dumps(document), "claims.json"))
    assert claim == sp.Claim(one_count(944), epsilon="0.1", delta="0.1")


KEPT = Path(__file__).parents[1] / "vectors" / "formats" / "report" / "1" / "first.json"


def test_what_a_release_reports_can_be_claimed(written):
    written(KEPT.read_text(encoding="utf-8"), "report.json")
    own, more = read_claims(
        written('[[claim]]\nreport = "report.json"\n[[claim]]\nreport = "report.json"\nknown_rows = 100')
    )
    assert (own.epsilon, own.delta) == (Fraction(1, 10), Fraction(1, 2))
    assert more.curve.situation.adversary.total == 100
    changed = '[[claim]]\nreport = "report.json"\nepsilon = 0.2\ndelta = 0.01\nname = "later"'
    (other,) = read_claims(written(changed))
    assert (other.epsilon, other.delta, other.name) == (Fraction(1, 5), Fraction(1, 100), "later")


@pytest.mark.parametrize("key", ["queries", "data", "guarantee"])
def test_a_report_that_does_not_say_what_was_released_is_no_claim(written, key):
    """Without its queries a report of two properties could state a composition of one, which tells less."""
    document = json.loads(KEPT.read_text(encoding="utf-8"))
    del document[key]
    with pytest.raises(sp.ArgumentError, match=r"is no valid report: \$ breaks the rule required"):
        sp.verify(written(json.dumps(document), "report.json"))


def test_all_mistakes_are_named_at_once_with_their_lines(written):
    text = (
        THREE_FORMS.replace("size = 1024", "sise = 1024")
        .replace("delta = 1e-1", "delta = [\n  1,  # delta\n]\ndleta = 2")
        .replace("known_rows = 100", "known_rows = 944")
        .replace("size = 472", "size = 945")
    )
    with pytest.raises(sp.ArgumentError) as caught:
        read_claims(written(text))
    assert str(caught.value).split("\n  ")[1:] == [
        "line 10: claim[1].part[1].sise: no such key; did you mean size?",
        "line 8: claim[1].part[1].size is missing; a whole number from 1 to 2^53, or one for each group is required",
        "line 18: claim[2].dleta: no such key; did you mean delta?",
        'line 15: claim[2].delta = [1]; a number of at least 0 such as 0.1, "0.1" or "1/10" is required',
        "line 23: claim[3]: size = 945: the sample has 945 entries, the population only 944; take a smaller sample",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "claim is missing; 1 to 10000 tables [[claim]] is required"),
        ("claim = []", "line 1: claim = []; 1 to 10000 tables [[claim]] is required"),
        (
            "claim = [3]",
            "line 1: claim[1]: one of part, probability, query, minimum, report is required, here are none",
        ),
        (
            "[[claim]]\nepsilon = 1",
            "line 1: claim[1]: one of part, probability, query, minimum, report is required, here are none",
        ),
        (
            "[[claim]]\nprobability = 1\nreport = 'a'",
            "line 1: claim[1]: one of part, probability, query, minimum, report is required, here are probability, "
            "report",
        ),
        ("x = 1\n" + THREE_FORMS, "line 1: x: no such key; allowed here: claim"),
        ("[[claim]\n", "neither TOML nor JSON: Expected ']]' at the end of an array declaration (at line 1"),
        ("[[claim]]\nreport = 'nowhere.json'", "line 1: claim[1]: "),
        (THREE_FORMS.replace("0.0226", "2"), "line 1: claim[1]: delta = 2; a number from 0 to 1 is required"),
        (THREE_FORMS.replace('"partition-sum"', '"sum"'), "line 1: claim[1]: bound = 'sum'; one of 'tightest', "),
    ],
)
def test_what_is_no_claims_file_is_refused(written, text, message):
    with pytest.raises(sp.ArgumentError, match=re.escape(message)):
        read_claims(written(text))


def test_lines_are_found_in_long_files(written):
    claims = "".join(
        f"\n# size of claim {k}\n[[claim]]\nepsilon = 1\ndelta = 1\npopulation = {k}\nprobability = 0.5\nsize = {k}\n"
        for k in range(1, 201)
    )
    with pytest.raises(sp.ArgumentError, match=r"line 1592: claim\[199\]\.sise: no such key; did you mean size\?$"):
        read_claims(written(claims.replace("size = 199", "sise = 199")))


def test_a_claim_may_be_about_any_query_and_sampling(written):
    text = """
    [[claim]]
    epsilon = 0.3
    delta = 0.9
    population = { f = 50, m = 44 }
    query = { kind = "property", probability = { f = "0.4..0.6", m = "1/2" } }
    sampling = { kind = "stratified", sizes = { f = 20, m = 22 } }
    """
    (claim,) = read_claims(written(text))
    expected = sp.privacy_curve(
        sp.PropertyQuery({"f": sp.Between("0.4", "0.6"), "m": "1/2"}),
        sp.Population(groups={"f": 50, "m": 44}),
        sampling=sp.Stratified({"f": 20, "m": 22}),
    )
    assert claim.curve.delta("0.3") == expected.delta("0.3")
    schema().validate(tomllib.loads(text))


def schema():
    text = resources.files("statpriv.releasing").joinpath("claims.schema.json").read_text("utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def test_the_schema_takes_what_the_reader_takes():
    import tomllib

    whole = tomllib.loads(THREE_FORMS)
    schema().validate(whole)
    schema().validate({"claim": [{"report": "report.json", "known_rows": 100}]})
    for k, claim in enumerate(whole["claim"]):
        for wrong in [{**claim, "dleta": 1}, {**claim, "epsilon": -1}, {**claim, "report": "a"}, {"epsilon": 1}]:
            assert not schema().is_valid({"claim": [*whole["claim"][:k], wrong]})


def test_the_sensitivity_of_several_releases_together_is_refused() -> None:
    release = sp.privacy_curve(sp.PropertyQuery("1/5"), sp.Population(7))
    both = RepeatedReleases((Cohort(14),), (release, release))
    (found,) = sp.verify(sp.Claim(both, epsilon="0.1", delta="0.9"))
    with pytest.raises(NotAvailableError, match=r"sensitivity of 2 releases together is not computed; state the"):
        found.sensitivity()
