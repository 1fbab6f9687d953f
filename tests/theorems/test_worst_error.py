"""The error of an answer scaled up from a sample, against all tables and all samples of a few rows."""

from fractions import Fraction
from itertools import product

import pytest

import statpriv as sp
from statpriv import reference

COUNT, SUM = sp.PropertyQuery("1/3"), sp.SumQuery({-1: "1/4", 0: "1/4", 3: "1/2"})
MEAN = sp.MeanQuery({-1: "1/4", 0: "1/4", 3: "1/2"})
FIVE, GROUPS = sp.Population(5), sp.Population(groups={"a": 3, "b": 2})


def by_definition(values, templates, scale):
    """The largest mean of (scaled answer − total)² over all tables."""
    found = []
    for table in product(*values):
        total = sum(table)
        found.append(
            sum(mass * (scale * sum(table[row] for row in drawn) - total) ** 2 for drawn, mass in templates.items())
        )
    return max(found)


def first(families):
    """Of families with one template each, the template."""
    law = {}
    for family, mass in families.items():
        drawn = family[0] if family and isinstance(family[0], tuple) else family
        law[drawn] = law.get(drawn, 0) + mass
    return law


SAMPLES = [
    (sp.WithoutReplacement(2), first(reference.without_replacement(5, 2)), Fraction(5, 2)),
    (sp.WithoutReplacement(5), first(reference.without_replacement(5, 5)), Fraction(1)),
    (sp.WithReplacement(3), first(reference.with_replacement(5, 3)), Fraction(5, 3)),
    (sp.PoissonSampling("1/3"), first(reference.poisson(5, "1/3")), Fraction(3)),
    (sp.OverlappingSamples([3, 2]), first(reference.without_replacement(5, 2)), Fraction(5, 2)),
    (
        sp.TemplateLaw({(0, 1): "1/2", (2, 2, 4): "1/4", (3,): "1/4"}),
        {(0, 1): Fraction(1, 2), (2, 2, 4): Fraction(1, 4), (3,): Fraction(1, 4)},
        Fraction(5, 2),
    ),
]


@pytest.mark.parametrize(("sampling", "templates", "scale"), SAMPLES, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize(("query", "values"), [(COUNT, (0, 1)), (SUM, (-1, 0, 3))], ids=["count", "sum"])
def test_it_is_the_worst_of_all_tables(query, values, sampling, templates, scale):
    truth = by_definition([values] * 5, templates, scale)
    error = sp.root_mean_squared_error(query, FIVE, sampling)
    assert Fraction(error.lower) ** 2 <= truth <= Fraction(error.upper) ** 2
    assert error.width <= 1e-15 * error.upper


def test_a_mean_is_not_scaled_and_a_histogram_has_its_worst_cell():
    sampling = sp.WithoutReplacement(2)
    total, mean = (sp.root_mean_squared_error(query, FIVE, sampling) for query in (SUM, MEAN))
    assert mean.midpoint == pytest.approx(total.midpoint / 5)
    cells = sp.HistogramQuery(["1/5", "1/5", "3/5"])
    assert sp.root_mean_squared_error(cells, FIVE, sampling) == sp.root_mean_squared_error(COUNT, FIVE, sampling)


@pytest.mark.parametrize("drawn", [{"a": 1, "b": 2}, {"a": 2, "b": 1}, {"a": 3, "b": 2}, {"a": 0, "b": 1}])
def test_a_stratified_sample_may_have_a_bias(drawn):
    """The worst table may then be one whose rows are alike: they are scaled up by the wrong factor."""
    templates = first(reference.stratified("aaabb", drawn))
    truth = by_definition([(0, 1)] * 5, templates, Fraction(5, sum(drawn.values())))
    error = sp.root_mean_squared_error(COUNT, GROUPS, sp.Stratified(drawn))
    assert Fraction(error.lower) ** 2 <= truth <= Fraction(error.upper) ** 2


def test_groups_with_values_of_their_own():
    query = sp.SumQuery({"a": {0: "1/2", 4: "1/2"}, "b": {-1: "1/4", 1: "3/4"}})
    values = [(0, 4)] * 3 + [(-1, 1)] * 2
    for sampling, templates, scale in SAMPLES[:4]:
        truth = by_definition(values, templates, scale)
        error = sp.root_mean_squared_error(query, GROUPS, sampling)
        assert Fraction(error.lower) ** 2 <= truth <= Fraction(error.upper) ** 2


def test_example_2_is_its_mean_over_random_tables():
    """`E[Q] = (n−1) p(1−p)`: at p = 1/2 the worst table has one part in n − 1 more."""
    n, s = 400, 100
    worst = sp.root_mean_squared_error(sp.PropertyQuery("1/2"), sp.Population(n), sp.WithoutReplacement(s)).midpoint / n
    example = (0.25 * (1 / s - 1 / n)) ** 0.5
    assert worst == pytest.approx(example * (n / (n - 1)) ** 0.5, rel=1e-12)


def test_everybody_asked_is_no_error_and_what_has_none_is_refused():
    assert sp.root_mean_squared_error(COUNT, FIVE) == sp.Enclosure(0.0, 0.0)
    for query, sampling, reason in [
        (COUNT.rounded(5), sp.WithoutReplacement(2), "with steps has no error of this kind"),
        (sp.MedianQuery({0: "1/2", 1: "1/2"}), sp.WithoutReplacement(2), "has no error of this kind"),
        (MEAN, sp.PoissonSampling("1/3"), "that of no row"),
    ]:
        with pytest.raises(sp.NotAvailableError, match=reason):
            sp.root_mean_squared_error(query, FIVE, sampling)
    large = sp.Population(groups={"a": 3000, "b": 3000})
    with pytest.raises(sp.NotAvailableError, match="among too many"):
        sp.root_mean_squared_error(COUNT, large, sp.Stratified({"a": 100, "b": 200}))
