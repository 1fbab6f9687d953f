"""Rows that hang together in clusters: the bound against brute force, and what it is at its ends."""

import json
from fractions import Fraction
from itertools import permutations, product
from math import prod
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import statpriv as sp
from statpriv.composition.cohorts import Cohort
from statpriv.composition.repeated_releases import RepeatedReleases

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "tables.json").read_text(encoding="utf-8"))["clusters"]
OWN = sp.EachBetween("0.2", "0.7")


def households(size, clusters, largest):
    return sp.Population(size, clusters=clusters, largest_cluster=largest)


def laws_of_bits(size):
    """Joint laws of so many bits, by positive integer weights of all configurations."""
    configurations = list(product((0, 1), repeat=size))
    weights = st.lists(st.integers(1, 9), min_size=len(configurations), max_size=len(configurations))
    return weights.map(
        lambda drawn: {values: Fraction(w, sum(drawn)) for values, w in zip(configurations, drawn, strict=True)}
    )


clusters = st.lists(st.integers(1, 3).flatmap(laws_of_bits), min_size=2, max_size=4)


def sizes_of(laws):
    return [len(next(iter(law))) for law in laws]


def range_of(laws):
    ranges = [sp.reference.conditional_range(law, 1) for law in laws]
    return min(low for low, _ in ranges), max(high for _, high in ranges)


@settings(max_examples=40, deadline=None)
@given(clusters, st.sampled_from(["1", "21/20", "3/2", "3"]), st.data())
def test_no_dependence_inside_clusters_exceeds_the_bound(laws, ratio, data):
    sizes = sizes_of(laws)
    j = data.draw(st.integers(0, len(laws) - 1))
    critical = (j, data.draw(st.integers(0, sizes[j] - 1)))
    others = [(k, i) for k, size in enumerate(sizes) for i in range(size) if (k, i) != critical]
    known = data.draw(st.dictionaries(st.sampled_from(others), st.integers(0, 1), max_size=len(others) - 1))
    truth = sp.reference.clustered_curve(laws, sum, critical=critical, known=known)
    curve = sp.privacy_curve(
        sp.PropertyQuery(sp.EachBetween(*range_of(laws))),
        households(sum(sizes), len(sizes), max(sizes)),
        adversary=sp.Adversary(known=len(known)),
    )
    assert truth(ratio) <= curve.exact_delta(exp_epsilon=ratio)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{v['clusters']} of {v['largest_cluster']}")
def test_stored_values(vector):
    m, c = vector["clusters"], vector["largest_cluster"]
    curve = sp.privacy_curve(
        sp.PropertyQuery(sp.EachBetween(vector["lower"], vector["upper"])), households(m * c, m, c)
    )
    assert curve.exact_delta(exp_epsilon=vector["exp_epsilon"]) == Fraction(*map(int, vector["bound"]))
    assert curve.kind == "bound"


def test_a_whole_cluster_attains_it():
    """Singles, and one cluster of two whose members are both ones or both zeros."""
    half = {(0,): "1/2", (1,): "1/2"}
    both = {(0, 0): "1/2", (1, 1): "1/2"}
    truth = sp.reference.clustered_curve([both, half, half, half], sum, critical=(0, 0))
    bound = sp.privacy_curve(sp.PropertyQuery(sp.EachBetween("1/2", "1/2")), households(5, 4, 2))
    for ratio in ("1", "6/5", "3"):
        assert truth(ratio) == bound.exact_delta(exp_epsilon=ratio)


ranges = st.tuples(st.integers(1, 19), st.integers(1, 19)).map(lambda ends: [Fraction(end, 20) for end in sorted(ends)])


@settings(max_examples=20, deadline=None)
@given(ranges, st.integers(2, 9), st.integers(1, 4), st.integers(0, 5), st.sampled_from(["1", "11/10", "2"]))
def test_clusters_are_never_safer_than_independent_rows(ends, m, c, known, ratio):
    query, adversary = sp.PropertyQuery(sp.EachBetween(*ends)), sp.Adversary(known=min(known, m * c - 1))
    clustered = sp.privacy_curve(query, households(m * c, m, c), adversary=adversary)
    alone = sp.privacy_curve(query, sp.Population(m * c), adversary=adversary)
    assert clustered.exact_delta(exp_epsilon=ratio) >= alone.exact_delta(exp_epsilon=ratio)


def test_clusters_of_one_are_independent_rows():
    query = sp.PropertyQuery(OWN)
    alone = sp.privacy_curve(query, sp.Population(9), adversary=sp.Adversary(known=3))
    for population in (households(9, 9, 1), households(9, 9, 4)):
        clustered = sp.privacy_curve(query, population, adversary=sp.Adversary(known=3))
        assert clustered.exact_delta(exp_epsilon="1.1") == alone.exact_delta(exp_epsilon="1.1")


def test_known_rows_fill_as_few_clusters_as_they_must():
    """Of 1000 rows in 400 clusters of at most 5, 500 unknown ones are in at least 100 clusters."""
    query = sp.PropertyQuery(OWN)
    many = sp.privacy_curve(query, households(1000, 400, 5), adversary=sp.Adversary(known=500))
    few = sp.privacy_curve(query, households(500, 100, 5))
    assert many.delta("0.1") == few.delta("0.1")
    all_but_one = sp.privacy_curve(query, households(1000, 400, 5), adversary=sp.Adversary(known=999))
    assert all_but_one.delta("0.1").lower == 1


def test_one_direction_counts_both_shifts():
    """Given a one, the other members of its cluster may all be zeros."""
    query, five = sp.PropertyQuery(OWN), households(40, 9, 5)
    worst, one, zero = (
        sp.privacy_curve(query, five, pair=pair).exact_delta(exp_epsilon="3/2") for pair in (None, (1, 0), (0, 1))
    )
    three = sp.privacy_curve(query, households(26, 9, 3), pair=(0, 1)).exact_delta(exp_epsilon="3/2")
    assert worst == max(one, zero)
    assert one >= three


def test_what_is_done_to_the_count_or_to_a_sample_of_it_is_bounded_by_the_count():
    query, population = sp.PropertyQuery(OWN, attribute="x"), households(60, 20, 4)
    whole = sp.privacy_curve(query, population).delta("0.2")
    for other in (
        sp.privacy_curve(query.rounded(5), population),
        sp.privacy_curve(query.gated(10, 50), population),
        sp.privacy_curve(query.noisy(sp.noise.DiscreteLaplace(alpha="1/2")), population),
        sp.privacy_curve(query, population, sampling=sp.WithoutReplacement(30)),
        sp.privacy_curve(query, population, sampling=sp.PoissonSampling("1/2")),
        sp.compose([query, query], population, sp.RandomPartition([20, 30])),
        sp.privacy_curve(sp.SumQuery({0: sp.EachBetween("0.3", "0.8"), 7: OWN}), population),
    ):
        assert other.kind == "bound"
        assert other.delta("0.2") == whole


def test_a_sample_of_rows_of_clusters_by_brute_force():
    """A count of two of four rows, drawn without looking at the data."""
    alike = {(0, 0): "3/8", (1, 1): "3/8", (0, 1): "1/8", (1, 0): "1/8"}
    bound = sp.privacy_curve(
        sp.PropertyQuery(sp.EachBetween("1/4", "3/4")), households(4, 2, 2), sampling=sp.WithoutReplacement(2)
    )
    pairs = [(i, j) for i in range(4) for j in range(i)]

    def law(value):
        answers = {}
        for (first, p), (second, q) in product(alike.items(), alike.items()):
            if first[0] != value:
                continue
            rows = (*first, *second)
            for i, j in pairs:
                mass = 2 * Fraction(p) * Fraction(q) / len(pairs)
                answers[rows[i] + rows[j]] = answers.get(rows[i] + rows[j], 0) + mass
        return answers

    for ratio in ("1", "3/2"):
        assert sp.reference.hockey_stick(law(1), law(0), ratio) <= bound.exact_delta(exp_epsilon=ratio)


def records(size):
    """Joint laws of two bits of each of so many members."""
    everyone = list(product(product((0, 1), repeat=2), repeat=size))
    weights = st.lists(st.sampled_from([1, 2, 9]), min_size=len(everyone), max_size=len(everyone))
    return weights.map(lambda w: {who: Fraction(one, sum(w)) for who, one in zip(everyone, w, strict=True)})


def bits_of(law, k):
    """The joint law of bit k of the members alone."""
    found = {}
    for who, mass in law.items():
        bits = tuple(record[k] for record in who)
        found[bits] = found.get(bits, 0) + mass
    return found


def counts_of_drawn_clusters(laws, sizes, value):
    """The law of the counts of bit k in part k, whole clusters being drawn, if the first member has this value."""
    totals = []
    for j, law in enumerate(laws):
        kept = {who: mass for who, mass in law.items() if j or who[0] == value}
        of_cluster = {}
        for who, mass in kept.items():
            both = tuple(sum(record[k] for record in who) for k in range(2))
            of_cluster[both] = of_cluster.get(both, 0) + mass / sum(kept.values())
        totals.append(of_cluster)
    assigned = set(permutations([0] * sizes[0] + [1] * sizes[1] + [None] * (len(laws) - sum(sizes))))
    answers = {}
    for parts in assigned:
        for outcome in product(*(of_cluster.items() for of_cluster in totals)):
            mass = Fraction(1, len(assigned)) * prod(chance for _, chance in outcome)
            counts = tuple(
                sum(both[k] for (both, _), part in zip(outcome, parts, strict=True) if part == k) for k in range(2)
            )
            answers[counts] = answers.get(counts, 0) + mass
    return answers


@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.integers(1, 2).flatmap(records), min_size=2, max_size=3),
    st.sampled_from([(1, 1), (1, 2), (2, 1), (1, 0), (2, 0)]),
    st.sampled_from(["1", "3/2", "3"]),
)
def test_parts_and_samples_of_whole_clusters_are_within_the_sum(laws, sizes, ratio):
    sizes = sizes if sum(sizes) <= len(laws) else (1, 1)
    laws_by_value = [counts_of_drawn_clusters(laws, sizes, value) for value in product((0, 1), repeat=2)]
    truth = max(sp.reference.hockey_stick(one, other, ratio) for one, other in permutations(laws_by_value, 2))
    members = sizes_of(laws)
    population = households(sum(members), len(members), max(members))
    asked = [
        sp.PropertyQuery(sp.EachBetween(*range_of([bits_of(law, k) for law in laws])), attribute=str(k))
        for k in range(2)
    ]
    if sizes[1]:
        curve = sp.compose(asked, population, sp.ClusterPartition(sizes))
    else:
        curve = sp.privacy_curve(asked[0], population, sampling=sp.ClusterSample(sizes[0]))
    assert curve.kind == "bound"
    assert truth <= curve.exact_delta(exp_epsilon=ratio)


def test_a_sample_of_whole_clusters_has_the_share_of_their_bound():
    drawn = sp.privacy_curve(sp.PropertyQuery(OWN), households(600, 200, 5), sampling=sp.ClusterSample(50))
    alone = sp.privacy_curve(sp.PropertyQuery(OWN), households(250, 50, 5))
    assert drawn.delta("0.5").upper == pytest.approx(alone.delta("0.5").upper / 4, rel=1e-12)
    every = sp.privacy_curve(sp.PropertyQuery(OWN), households(600, 200, 5), sampling=sp.ClusterSample(200))
    assert every.delta("0.5") == sp.privacy_curve(sp.PropertyQuery(OWN), households(600, 200, 5)).delta("0.5")


def test_known_rows_are_all_in_other_clusters_of_the_part():
    asked, population = [sp.PropertyQuery(OWN)] * 2, households(600, 200, 5)
    known = sp.compose(asked, population, sp.ClusterPartition([60, 80]), adversary=sp.Adversary(known=10))
    fewer = sp.compose(asked, population, sp.ClusterPartition([50, 70])).delta("0.5").upper
    assert fewer < known.delta("0.5").upper


@pytest.mark.parametrize(
    ("drawn", "population", "reason"),
    [
        (sp.ClusterSample(5), sp.Population(9), "the population states none"),
        (sp.ClusterSample(5), sp.Population(9, clusters=4, largest_cluster=3), "has only 4"),
    ],
)
def test_clusters_that_are_not_there_cannot_be_drawn(drawn, population, reason):
    with pytest.raises(sp.ArgumentError, match=reason):
        sp.privacy_curve(sp.PropertyQuery(OWN), population, sampling=drawn)
    with pytest.raises(sp.ArgumentError, match=reason):
        sp.compose([sp.PropertyQuery(OWN)], population, sp.ClusterPartition([drawn.size]))


REFUSED = {
    "a probability": (lambda: sp.privacy_curve(sp.PropertyQuery("0.5"), households(9, 4, 3)), "EachBetween"),
    "one range for all": (
        lambda: sp.privacy_curve(sp.PropertyQuery(sp.Between("0.4", "0.6")), households(9, 4, 3)),
        "EachBetween",
    ),
    "a histogram": (lambda: sp.privacy_curve(sp.HistogramQuery([OWN, OWN, OWN]), households(9, 4, 3)), "cluster"),
    "a table": (lambda: sp.privacy_curve(sp.ContingencyTable(3, minimum=2), households(9, 4, 3)), "cluster"),
    "three values": (
        lambda: sp.privacy_curve(sp.SumQuery({0: OWN, 1: OWN, 2: OWN}), households(9, 4, 3)),
        "two values",
    ),
    "unrelated properties": (
        lambda: sp.compose([sp.PropertyQuery(OWN)] * 2, households(9, 4, 3), sp.RandomPartition([4, 4])),
        "unrelated",
    ),
    "an account": (
        lambda: sp.PartitionAccountant(households(9, 4, 3), epsilon=1, delta="0.1"),
        "clusters",
    ),
    "several releases": (
        lambda: RepeatedReleases((Cohort(9),), (sp.privacy_curve(sp.PropertyQuery(OWN), households(9, 4, 3)),)),
        "several releases of rows in clusters",
    ),
    "persons of several rows": (
        lambda: sp.granularity.person_curve(sp.PropertyQuery("0.4"), households(9, 4, 3), rows=2),
        "clusters",
    ),
    "a certificate": (
        lambda: sp.privacy_curve(sp.PropertyQuery(OWN), households(9, 4, 3)).certify(epsilon=1, delta=1),
        "certificates are for",
    ),
    "other assumptions": (
        lambda: sp.privacy_curve(sp.PropertyQuery(OWN), households(9, 4, 3)).sensitivity(epsilon=1),
        "no other assumptions",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_proved_of_clusters_is_refused(what):
    ask, reason = REFUSED[what]
    with pytest.raises(sp.NotAvailableError, match=reason):
        ask()


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        ({"clusters": 3, "largest_cluster": 3}, "hold 9 of 10"),
        ({"clusters": 11, "largest_cluster": 3}, "at most 10"),
        ({"clusters": 3, "largest_cluster": 11}, "at most 10"),
        ({"clusters": 0, "largest_cluster": 3}, "clusters = 0"),
        ({"clusters": 3}, "largest_cluster = None"),
        ({"largest_cluster": 3}, "clusters = None"),
    ],
)
def test_clusters_that_do_not_fit_are_refused(stated, reason):
    with pytest.raises(sp.ArgumentError, match=reason):
        sp.Population(10, **stated)
    with pytest.raises(sp.ArgumentError, match="groups"):
        sp.Population(groups={"a": 10}, clusters=5, largest_cluster=4)


def test_explain_says_what_is_covered():
    text = str(sp.privacy_curve(sp.PropertyQuery(OWN), households(20, 8, 5)).explain())
    assert "given the other members of its cluster" in text
    assert "dependence between clusters" in text
    assert "households, repeated rows" not in text
