"""Samplings: accepted arguments, and the samples of their named uses."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import statpriv as sp

# --- named uses


@given(n=st.integers(1, 2**53))
def test_a_bootstrap_draws_as_often_as_there_are_entries(n):
    assert sp.WithReplacement.bootstrap(n) == sp.WithReplacement(n)


@given(n=st.integers(2, 2**53))
def test_a_jackknife_leaves_one_entry_out(n):
    assert sp.WithoutReplacement.jackknife(n).size == n - 1


def test_a_jackknife_needs_two_entries():
    with pytest.raises(sp.ArgumentError, match=r"^population_size = 1; an integer from 2 to 2\^53 is required$"):
        sp.WithoutReplacement.jackknife(1)


@given(data=st.data(), n=st.integers(1, 500))
def test_folds_use_every_entry_and_differ_by_at_most_one(data, n):
    k = data.draw(st.integers(1, n))
    sizes = sp.RandomPartition.folds(n, k).sizes
    assert (len(sizes), sum(sizes)) == (k, n)
    assert max(sizes) - min(sizes) <= 1
    assert list(sizes) == sorted(sizes, reverse=True)


@pytest.mark.parametrize(
    ("n", "folds", "message"),
    [
        (3, 4, r"^folds = 4; at most one fold an entry, here 3, is possible$"),
        (3, 0, r"^folds = 0; an integer from 1 to 2\^53 is required$"),
        (0, 1, r"^population_size = 0; an integer from 1 to 2\^53 is required$"),
    ],
)
def test_bad_folds_are_refused(n, folds, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.RandomPartition.folds(n, folds)


# --- Poisson sampling


def test_a_rate_is_exact():
    assert sp.PoissonSampling("0.1").rate == Fraction(1, 10)
    assert sp.PoissonSampling(0.1).rate == Fraction(0.1)
    assert sp.PoissonSampling(1).rate == 1
    assert not sp.PoissonSampling(1).size_published


@pytest.mark.parametrize(
    ("rate", "message"),
    [
        (0, r"^rate = 0; a rate above 0 is required"),
        ("1.01", r"^rate = 1\.01; a probability from 0 to 1 is required$"),
        (-0.5, r"^rate = -0\.5; a probability from 0 to 1 is required$"),
        (None, r"^rate = None is not a number"),
    ],
)
def test_a_bad_rate_is_refused(rate, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.PoissonSampling(rate)


def test_whether_the_size_is_published_is_yes_or_no():
    with pytest.raises(sp.ArgumentError, match=r"^size_published = 1; True or False is required$"):
        sp.PoissonSampling(0.5, size_published=1)
    with pytest.raises(TypeError, match="positional"):
        sp.PoissonSampling(0.5, True)


# --- strata and several samples


def test_strata_keep_their_order_and_may_be_left_out():
    assert sp.Stratified({"m": 0, "f": 3.0}).sizes == (("m", 0), ("f", 3))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({}, r"^sizes = \{\}; at least one group is required$"),
        ([3, 4], r"^sizes = \[3, 4\]; a dict from group to sample size, such as \{'f': 30\}, is required$"),
        ({"f": 0, "m": 0}, r"^sizes = .*; a sample size above 0 is required in some group$"),
        ({"f": -1}, r"^sizes\['f'\] = -1; an integer from 0 to 2\^53 is required$"),
        ({"": 1}, r"^sizes has a group ''; the name of a group is a string, not empty$"),
        ({1: 1}, r"^sizes has a group 1; the name of a group is a string, not empty$"),
    ],
)
def test_bad_strata_are_refused(sizes, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.Stratified(sizes)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([], r"^sizes is empty; a list of sample sizes, such as \[100, 50\], is required$"),
        (100, r"^sizes = 100; a list of sample sizes, such as \[100, 50\], is required$"),
        ({"f": 3}, r"^sizes = \{'f': 3\}; a list of sample sizes"),
        ([100, 0], r"^sizes\[1\] = 0; an integer from 1 to 2\^53 is required$"),
    ],
)
def test_bad_overlapping_samples_are_refused(sizes, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.OverlappingSamples(sizes)


# --- template laws


def test_a_template_law_does_not_depend_on_the_order_of_writing():
    law = sp.TemplateLaw({(0, 1): "1/3", (): "1/3", (2, 2): "1/3"})
    assert law == sp.TemplateLaw({(2, 2): "1/3", (0, 1): "1/3", (): "1/3"})
    assert law.probabilities == (((), Fraction(1, 3)), ((0, 1), Fraction(1, 3)), ((2, 2), Fraction(1, 3)))


def test_equal_templates_with_different_orders_are_two():
    assert len(sp.TemplateLaw({(0, 1): 0.5, (1, 0): 0.5}).probabilities) == 2


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ({}, r"^probabilities = \{\}; a dict from template to probability, such as"),
        ([(0, 1)], r"^probabilities = \[\(0, 1\)\]; a dict from template to probability, such as"),
        ({0: 1}, r"^template 0; a tuple of entry numbers, such as \(0, 2\), is required$"),
        ({(0, -1): 1}, r"^template \(0, -1\), entry = -1; an integer from 0 to 2\^53 is required$"),
        ({("f",): 1}, r"^template \('f',\), entry: \"f\" is not a number"),
        (
            {(): 1, (0,): 0},
            r"^probabilities = \{\(\): 1, \(0,\): 0\}; a template with an entry and a probability above 0 is",
        ),
        ({(0,): 0.5, ("0",): 0.5}, r"^probabilities name the template \(0,\) twice; name it once$"),
        ({(0,): 1.5}, r"^probabilities\[\(0,\)\] = 1\.5; a probability from 0 to 1 is required$"),
        ({(0,): "1/3", (1,): "1/3"}, r"^probabilities sum to 2/3; .*exactly one: write fractions"),
        ({(0,): 0.1, (1,): 0.9}, r"^probabilities sum to \d+/\d+; .*a float is the rational it stores$"),
    ],
)
def test_a_bad_template_law_is_refused(law, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.TemplateLaw(law)


# --- partition laws


def test_a_partition_law_does_not_depend_on_the_order_of_writing():
    law = sp.PartitionLaw({((1, 0), (2,)): "1/4", ((2,), ()): "1/2", ((0, 1), (2,)): "1/4", ((0,), (1,)): 0})
    assert law == sp.PartitionLaw({((2,), ()): 0.5, ((0, 1), (2,)): 0.5})
    assert repr(law) == "PartitionLaw({((0, 1), (2,)): 0.5, ((2,), ()): 0.5})"
    assert (law.parts, law.entries, law.sizes, law.smallest) == (2, (0, 1, 2), None, 0)
    assert law.shares(2) == (Fraction(1, 2), Fraction(1, 2))


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ({}, r"^probabilities = \{\}; a dict from partition to probability, such as"),
        (
            {(0, 1): 1},
            r"^partition \(0, 1\); a tuple of parts, each a tuple of entry numbers, such as \(\(0, 1\), \(2,\)\)",
        ),
        ({(): 1}, r"^partition \(\); a tuple of parts, each a tuple of entry numbers"),
        ({((0,), (0,)): 1}, r"^partition \(\(0,\), \(0,\)\) names an entry twice; an entry is in one part at most"),
        ({((-1,),): 1}, r"^partition \(\(-1,\),\), entry = -1; an integer from 0 to 2\^53 is required$"),
        (
            {((0,),): 0.5, ((0,), (1,)): 0.5},
            r"^probabilities name partitions into \[1, 2\] parts; one number of parts is",
        ),
        ({((0,),): "1/3", ((1,),): "1/3"}, r"^probabilities sum to 2/3; .*exactly one: write fractions"),
        ({((0,),): 1.5}, r"^probabilities\[\(\(0,\),\)\] = 1\.5; a probability from 0 to 1 is required$"),
    ],
)
def test_a_bad_partition_law_is_refused(law, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.PartitionLaw(law)


@pytest.mark.parametrize(
    ("query", "law", "message"),
    [
        (sp.PropertyQuery(0.5), {((0, 4),): 1}, "^the partition names entry 4; the population has those from 0 to 3$"),
        (
            sp.MedianQuery({0: 0.5, 1: 0.5}),
            {((0,),): 0.5, ((),): 0.5},
            "of a part that may be empty; one entry at least",
        ),
    ],
)
def test_a_partition_law_that_does_not_fit_is_refused(query, law, message):
    with pytest.raises(sp.ArgumentError, match=message):
        sp.compose([query], sp.Population(4), sp.PartitionLaw(law))
