"""Files of every format, as written by earlier versions, are still read with the same values and curves.

A sample in `vectors/formats` is never changed; a new version of a format gets its own folder.
"""

import json
from fractions import Fraction
from pathlib import Path

import pytest

import statpriv as sp
from statpriv.assurance import checker
from statpriv.files.claims import read_claims
from statpriv.files.composition import Part, read_composition
from statpriv.model.codec import query_from, written_query
from statpriv.releasing.plan import Publication
from statpriv.releasing.plan_file import load_plan
from statpriv.releasing.recomputation import ReleaseReport
from statpriv.releasing.steps import StatedQuery

FORMATS = Path(__file__).parents[1] / "vectors" / "formats"
DELTAS = json.loads((FORMATS / "deltas.json").read_text("utf-8"))
"""For each file: ε, and the ends of δ computed by the version that wrote the file."""

AGES = {0: "1/2", "1/2": "1/4", 5: "1/4"}
SMOKERS = sp.PropertyQuery("1/2", attribute="smoker")
QUERIES = [
    SMOKERS,
    sp.PropertyQuery(0.3, name="Größe"),
    sp.PropertyQuery(sp.Between("0.4", "0.6"), attribute="a"),
    sp.PropertyQuery({"f": "1/3", "m": sp.Between("0.4", "0.6")}),
    sp.PropertyQuery([0.5, "1/3", "1/7"]),
    sp.HistogramQuery([0.2, 0.3, 0.5], attribute="h"),
    sp.HistogramQuery({"f": ["1/3", "2/3"], "m": ["1/2", "1/2"]}),
    sp.SumQuery(AGES, attribute="age"),
    sp.SumQuery({"f": AGES, "m": {0: 0.5, 1: 0.5}}),
    sp.MeanQuery(AGES),
    sp.OrderStatisticQuery(AGES, 2),
    sp.MedianQuery(AGES, name="median"),
    sp.LinearQuery([[1, 1, 0], [0, 1, 1]], p="1/3", attribute="l"),
    sp.LinearQuery([[1, 0]], p=sp.Between("0.2", "0.4")),
    sp.SumQuery({0: sp.Between("0.2", "0.4"), 1: "0.5", 2: sp.Between("0.1", "0.3")}),
    SMOKERS.thresholded(10).rounded(5).clamped(lower=-1, upper=7),
    SMOKERS.clamped(upper="1/2").mapped({0: "none", 1: None, "few": "3/2", None: "?"}),
    SMOKERS.noisy(sp.noise.DiscreteLaplace(alpha="1/3")),
    SMOKERS.noisy(sp.noise.DiscreteLaplace(scale=3)).noisy(sp.noise.DiscreteGaussian(sigma=2.5)),
    SMOKERS.noisy(sp.noise.Laplace(scale=2)),
    SMOKERS.noisy(sp.noise.Gaussian(sigma="0.1")),
    SMOKERS.noisy(sp.noise.Binomial(trials=20, p="1/2")),
    SMOKERS.noisy(sp.noise.Truncated(sp.noise.DiscreteLaplace(alpha=0.5), -3, 3)),
    sp.PropertyQuery({"between": "1/3", "groups": "1/2", "lower": "1/5", "kind": 1}),
    SMOKERS.gated(10, "41/2").thresholded(11),
    sp.HistogramQuery([sp.Between("0.2", "0.3"), sp.Between("0.1", "0.2"), sp.Between("0.5", "0.7")]),
    sp.SumQuery({-3: "1/2", "1/3": "1/2"}, name="signed").noisy(
        sp.noise.Truncated(sp.noise.Binomial(trials=4, p="1/3"), 1, 3)
    ),
]


def kept(folder, pattern="*"):
    return sorted(path for path in (FORMATS / folder).glob(f"*/{pattern}") if path.is_file())


def name_of(path):
    return str(path.relative_to(FORMATS))


def is_as_kept(name, curve):
    epsilon, lower, upper = DELTAS[name]
    found = curve.delta(epsilon)
    # Both enclose the same number, even if one has become tighter since.
    return found.lower <= upper and lower <= found.upper


def from_json(path):
    return json.loads(path.read_text("utf-8"))


# --- queries and the states of accountants ---------------------------------------------------------


@pytest.mark.parametrize("k", range(len(QUERIES)))
def test_queries(k):
    (path,) = kept("query")
    documents = from_json(path)
    assert len(documents) == len(QUERIES)
    assert query_from(documents[k]["document"]) == QUERIES[k]
    assert query_from(written_query(query_from(documents[k]["document"]))) == QUERIES[k]


def accountant(**promise):
    return sp.PartitionAccountant(sp.Population(1000), epsilon="0.1", delta=1, **promise)


def chosen():
    acc = accountant(adversary=sp.Adversary(known=3)).compose(SMOKERS, size=100, count=2)
    acc.compose(sp.SumQuery(AGES), size=20)
    batch = [sp.PropertyQuery(sp.Between("0.3", "0.4")), SMOKERS.thresholded(10)]
    acc.compose_batch(batch, sp.RandomPartition([50, 100]))
    acc.extend(500, known=2)
    return acc.compose(SMOKERS.noisy(sp.noise.DiscreteLaplace(alpha="1/3")), size=200)


def of_groups():
    query = sp.PropertyQuery({"f": "1/3", "m": sp.Between("0.4", "0.5")}, attribute="smoker")
    people = sp.Population(groups={"f": 30, "m": 20})
    return sp.PartitionAccountant(
        people, epsilon=1, delta=1, only=query, adversary=sp.Adversary(known={"f": 3})
    ).compose(query, size=5)


ACCOUNTANTS = {
    "chosen": chosen,
    "only": lambda: accountant(
        only=sp.PropertyQuery("1/2"), adversary=sp.Adversary(known=3, values="expected")
    ).compose(sp.PropertyQuery("1/2"), size=100, count=2),
    "declared": lambda: accountant(declared=([SMOKERS] * 3, sp.RandomPartition([100] * 3))).compose(
        SMOKERS, size=100, count=2
    ),
    "groups": of_groups,
}


@pytest.mark.parametrize("path", kept("accountant"), ids=name_of)
def test_states_of_accountants(path):
    assert sp.PartitionAccountant.from_json(path.read_text("utf-8")) == ACCOUNTANTS[path.stem]()


@pytest.mark.parametrize("path", kept("ledger"), ids=name_of)
def test_what_a_ledger_keeps_of_a_release(path):
    first, later = from_json(path)
    voters, age = map(query_from, first["queries"])
    between = sp.Between("0.4", "0.6")
    assert voters == sp.PropertyQuery(between, attribute='"vote" = 1').gated(60, 140)
    assert age == sp.PropertyQuery("2/3", attribute='"age" >= 40')
    assert query_from(later["queries"][0]).cells == (sp.Between("0.1", "0.3"), Fraction(2, 5), sp.Between("0.3", "0.5"))
    assert [StatedQuery.from_document(stated) for stated in first["stated"]] == [
        StatedQuery('"vote" = 1', ((60, 140),)),
        StatedQuery('"age" >= 40', None, 10, 5),
    ]


# --- what people write ---------------------------------------------------------------------------


def ends(low, high=None):
    return Fraction(low), Fraction(low if high is None else high)


PARTS = {
    "counts": (Part(ends("1/2"), 1024, 32, "smoker", "Smokers"),),
    "bound": (Part(ends("0.1", "1/3"), 100, 3), Part(ends("0.3"), 250, attribute="a")),
    "gated": (
        Part(ends("1/2"), 50, 4, gate=(10, 40), suppressed_below=12, rounded_to=5),
        Part(ends("0.45", "0.55"), 50, 4, "b", rounded_to=5),
    ),
    "histogram": (
        Part(None, 236, attribute="age", cells=(ends("0.2"), ends("0.4", "0.6"), ends("0.3"))),
        Part(ends("0.5"), 64),
    ),
    "groups": (Part((("f", ends("0.4", "0.6")), ("m", ends("0.5"))), (("f", 250), ("m", 222))),),
}


@pytest.mark.parametrize("path", kept("composition"), ids=name_of)
def test_compositions(path):
    composition = read_composition(path)
    assert composition.parts == PARTS[path.stem]
    assert composition.known_rows == {"bound": 10, "gated": 3, "groups": 2}.get(path.stem, 0)
    assert composition.bound == ("partition-sum" if path.stem == "bound" else "tightest")
    assert is_as_kept(name_of(path), composition.curve())


# `tests/cli/test_compose.py` reads the report of groups as well; here alone a change of its curve is noticed.
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.campaign] if path.stem == "groups" else []) for path in kept("report")],
    ids=name_of,
)
def test_reports(path):
    report = read_composition(path)
    assert isinstance(report, ReleaseReport)
    assert report.disagreements == ()
    assert is_as_kept(name_of(path), report.curve)


@pytest.mark.parametrize("path", kept("claims"), ids=name_of)
def test_claims(path):
    found = read_claims(path)
    asked = [(claim.name, Fraction(claim.epsilon), Fraction(claim.delta)) for claim in found]
    assert asked == [
        ("32 counts", Fraction(1, 200), Fraction("0.0226")),
        (None, Fraction(1, 10), Fraction(1, 5)),
        (None, Fraction(3, 10), Fraction("1e-6")),
        (None, Fraction(1, 10), Fraction("0.02")),
        ("released", Fraction(1, 10), Fraction(1, 2)),
        (None, Fraction(1, 5), Fraction(1, 10)),
    ]
    for k, claim in enumerate(found, start=1):
        assert is_as_kept(f"{name_of(path)}[{k}]", claim.curve)


@pytest.mark.parametrize("path", kept("counts"), ids=name_of)
def test_published_counts(path):
    found = sp.assess(path)
    assert is_as_kept(name_of(path), found.curve)
    if path.name == "parts.toml":
        one = found.published[0]
        assert (one.name, one.probability, one.size, one.count) == ("Clinton voters", ends("0.4", "0.6"), 472, 260)


@pytest.mark.parametrize("path", kept("certificate"), ids=name_of)
def test_certificates(path):
    assert checker.check(checker.read(path.read_text("utf-8"))).verdict == "proved"


@pytest.mark.parametrize("path", kept("plan"), ids=name_of)
def test_plans(path):
    plan = load_plan(path)
    stated = [(query.probability, query.rows, query.share, query.publication) for query in plan.queries]
    exact, gated = Publication(), Publication(gate=True)
    assert (
        stated
        == {
            "first": [
                (ends("0.4", "0.6"), 200, None, gated),
                (Fraction(2, 3), None, Fraction(1, 5), Publication(rounded_to=5, suppressed_below=10)),
            ],
            "histogram": [
                (None, 300, None, Publication(rounded_to=3)),
                (ends("0.45", "0.5"), 100, None, exact),
            ],
            "groups": [({"f": ends("0.4", "0.6"), "m": Fraction(1, 2)}, {"f": 150, "m": 122}, None, exact)],
        }[path.stem]
    )
    cells = [(cell.name, cell.probability) for query in plan.queries for cell in query.cells]
    assert cells == (
        [("under 30", ends("0.1", "0.3")), ("under 60", Fraction(2, 5))] if path.stem == "histogram" else []
    )
