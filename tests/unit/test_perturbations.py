"""Perturbations of counts: what they refuse, how they are read from files, written and shown."""

from fractions import Fraction
from pathlib import Path

import pytest

import statpriv as sp
from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.model.step_fields import STEP

TABLE = [{0: 1}, {-1: "1/2", 1: "1/2"}, {-1: "1/4", 0: "1/2", 1: "1/4"}]
KEY = sp.noise.CellKey(TABLE)
COUNT = sp.PropertyQuery("1/2")

BY_KEY = '"pcv","ckey","pvalue"\n' + "".join(
    f"{c},{k},{v}\n" for c, row in ((1, "-1 1"), (2, "0 1")) for k, v in enumerate(row.split())
)
BY_INTERVAL = "i;j;p;v;p_int_ub\n0;0;1.0000000;0;1.0000000\n1;0;0.3333333;-1;0.3333333\n1;2;0.6666667;1;1.0000000\n"
BY_PROBABILITY = "i,j,p\n0,0,1\n1,0,0.33333333\n1,2,0.66666666\n"


def written(folder, text):
    path = Path(folder, "ptable.csv")
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_by_dict_or_list_is_one_value(copies):
    assert sp.noise.CellKey(dict(enumerate(TABLE))) == KEY != sp.noise.CellKey(TABLE, repeat=2)
    assert all(copy == KEY and hash(copy) == hash(KEY) for copy in copies(KEY))
    assert all(copy == sp.RandomRounding(3) for copy in copies(sp.RandomRounding(3)))


def test_values_explain_themselves():
    assert repr(KEY) == "noise.CellKey(<counts 0 to 2, then as 2; from -1 to +1>)"
    assert "as the last 2 in turn" in repr(sp.noise.CellKey(TABLE, repeat=2))
    assert repr(COUNT.randomly_rounded(5)) == "PostProcessed(PropertyQuery(0.5), RandomRounding(5))"
    assert "all other entries known" in repr(sp.perturbation_curve(KEY, counts=2))
    explained = sp.perturbation_curve(KEY).explain()
    assert "every count" in explained or "any number of entries" in explained
    assert "counts of the same rows get the same draw" in explained


@pytest.mark.parametrize("step", [KEY, sp.noise.CellKey(TABLE, repeat=3), sp.RandomRounding(7)])
def test_documents_read_back(step):
    assert STEP.read(STEP.write(step)) == step


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], "table = {}"),
        ({1: {0: 1}}, "without gaps"),
        ([{0: 1}, {-2: 1}], "table[1] adds -2; what is published must not be negative"),
        ([{0: "1/2"}], "table[0] sums to 1/2"),
        ([{"0": 1, 0: 0}], "each change may stand there only once"),
        ([{0.5: 1}], "a change of table[0] = 0.5"),
        ([7], "table[0] = 7"),
    ],
)
def test_what_is_no_table_is_refused(table, message):
    with pytest.raises(ArgumentError) as refused:
        sp.noise.CellKey(table)
    assert message in str(refused.value)


@pytest.mark.parametrize("repeat", [0, 4, 1.5])
def test_rows_that_repeat_are_rows_of_the_table(repeat):
    with pytest.raises(ArgumentError, match="repeat"):
        sp.noise.CellKey(TABLE, repeat=repeat)


@pytest.mark.parametrize("base", [1, 0, -3, 2.5, 1001])
def test_a_base_is_an_integer_from_two_on(base):
    with pytest.raises(ArgumentError, match="base"):
        sp.RandomRounding(base)


def test_only_counts_are_perturbed():
    halves = sp.SumQuery({0: "1/2", "1/2": "1/2"}).noisy(KEY)
    with pytest.raises(NotAvailableError, match="of multiples of 1/2"):
        sp.privacy_curve(halves, sp.Population(5), bound="exact")
    below = sp.SumQuery({-1: "1/2", 0: "1/2"}).randomly_rounded(3)
    after_noise = COUNT.noisy(sp.noise.DiscreteLaplace(alpha="1/2")).noisy(KEY)
    for query in (below, after_noise):
        with pytest.raises(NotAvailableError, match="is for answers from 0 on, and these go below"):
            sp.privacy_curve(query, sp.Population(5), bound="exact")
        assert sp.privacy_curve(query, sp.Population(5)).kind == "bound"
    with pytest.raises(ArgumentError, match="a noise, such as"):
        COUNT.noisy(sp.Threshold(3))


def test_a_table_that_repeats_is_for_bounded_numbers_of_counts():
    key = sp.noise.CellKey(TABLE, repeat=2)
    with pytest.raises(ArgumentError, match="With repeat=1 any number of counts is"):
        sp.privacy_curve(COUNT.noisy(key), sp.Population(2 * 10**6)).delta(1)


@pytest.mark.parametrize("counts", [0, 65, 1.5, "two", (0, 0), (1, 64), (1, -1), (1, 1, 1)])
def test_an_entry_changes_a_few_counts(counts):
    with pytest.raises(ArgumentError, match="counts"):
        sp.perturbation_curve(KEY, counts=counts)
    with pytest.raises(ArgumentError, match="RandomRounding"):
        sp.perturbation_curve(sp.Threshold(3))


def test_a_file_by_key_counts_keys(tmp_path):
    key = sp.read_perturbation_table(written(tmp_path, BY_KEY))
    assert key.rows == (
        ((0, 1),),
        ((-1, Fraction(1, 2)), (1, Fraction(1, 2))),
        ((0, Fraction(1, 2)), (1, Fraction(1, 2))),
    )
    assert key.repeat == 1


def test_keys_that_are_not_listed_change_nothing(tmp_path):
    key = sp.read_perturbation_table(written(tmp_path, "pcv,ckey,pvalue\n1,3,-1\n"))
    assert key.rows[1] == ((-1, Fraction(1, 4)), (0, Fraction(3, 4)))


def test_a_large_file_by_key_repeats_its_last_250_counts(tmp_path):
    lines = "".join(f"{count},0,{-(count % 5)}\n" for count in range(1, 751))
    path = written(tmp_path, "pcv,ckey,pvalue\n" + lines)
    assert sp.read_perturbation_table(path).repeat == 250
    assert sp.read_perturbation_table(path).law_for(1003) == {1000: 1}
    assert sp.read_perturbation_table(path, repeat=1).law_for(1003) == {1003: 1}


def test_ends_of_intervals_count_where_they_are_stated(tmp_path):
    key = sp.read_perturbation_table(written(tmp_path, BY_INTERVAL))
    assert key.rows[1] == ((-1, Fraction(3333333, 10**7)), (1, Fraction(6666667, 10**7)))


def test_rounded_probabilities_are_divided_by_their_sum(tmp_path):
    assert sp.read_perturbation_table(written(tmp_path, BY_PROBABILITY)).rows[1] == (
        (-1, Fraction(33333333, 99999999)),
        (1, Fraction(66666666, 99999999)),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "pcv, ckey, pvalue, or i, j and p_int_ub or p, are required"),
        ("i,j\n0,0\n", "are required"),
        ("pcv,ckey,pvalue\n", "no line below the header"),
        ("i,j,p\n", "no line below the header"),
        ("pcv,ckey,pvalue\n1,0,-1\n1,0,0\n", "line 3 states the count 1 with the key 0 again"),
        ("i,j,p\n0,0,1\n0,0,1\n", "line 3 states the count 0 as 0 again"),
        ("pcv,ckey,pvalue\n1,x,-1\n", "line 2 has"),
        ("pcv,ckey,pvalue\n1,0\n", "line 2 has 2 cells; 3 as in the header"),
        ("pcv,ckey,pvalue\n1.5,0,0\n", "pcv = 3/2; an integer from 0 on"),
        ("pcv,ckey,pvalue\n1,0,-2\n", "must not be negative"),
        ("i,j,p\n0,0,1\n2,2,1\n", "no line for the count 1"),
        ("i,j,p\n0,0,0.9\n", "the count 0 sum to 0.9; 1 is required"),
        ("i,j,p\n0,0,nan\n", "numbers are required"),
        ("i,j,p\n0,0,-1\n0,1,2\n", "table[0]"),
        ("\0", "not a text"),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_the_place(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(ArgumentError) as refused:
        sp.read_perturbation_table(path)
    assert str(path) in str(refused.value)
    assert message in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ArgumentError, match="the path of a CSV file with a perturbation table is required"):
        sp.read_perturbation_table(tmp_path / "none.csv")


# --- tables of greatest entropy ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("largest", "variance", "smallest"), [(2, 1, 1), (5, 3, 1), (5, 3, 3), (3, "2", 1), (9, "8.5", 2)]
)
def test_a_table_of_greatest_entropy_keeps_its_mean_and_variance(largest, variance, smallest):
    key = sp.design.perturbation_table(largest=largest, variance=variance, smallest=smallest)
    assert key.rows[0] == ((0, 1),)
    for count, row in enumerate(key.rows[1:], start=1):
        changes = [change for change, _ in row]
        assert sum(mass for _, mass in row) == 1
        assert abs(sum(change * mass for change, mass in row)) < 1e-9
        assert abs(sum(change**2 * mass for change, mass in row) - Fraction(variance)) < 1e-8
        assert all(count + change == 0 or count + change >= smallest for change in changes)
        assert max(map(abs, changes)) <= largest
    assert [change for change, _ in key.rows[-1]] == list(range(-largest, largest + 1))


def test_no_other_law_with_these_moments_has_more_entropy():
    """Along every direction that keeps sum, mean and variance entropy is stationary, and it is concave."""
    from math import log

    key = sp.design.perturbation_table(largest=5, variance=3, smallest=3)
    for row in key.rows[1:]:
        masses = dict(row)
        for v in masses:
            if all(v + step in masses for step in range(4)):
                direction = {v: 1, v + 1: -3, v + 2: 3, v + 3: -1}  # third differences keep three moments
                slope = -sum(weight * log(masses[place]) for place, weight in direction.items())
                assert abs(slope) < 1e-4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"largest": 5, "variance": 2, "smallest": 3},
            "variance = 2; what is added to a count of 1 can have variances between 2 and 5 only",
        ),
        ({"largest": 2, "variance": 5}, "between 0 and 2 only"),
        ({"largest": 0, "variance": 1}, "largest"),
        ({"largest": 101, "variance": 1}, "largest = 101"),
        ({"largest": 3, "variance": 0}, "variance"),
        ({"largest": 3, "variance": 1, "smallest": 4}, "smallest = 4, largest = 3"),
    ],
)
def test_a_table_that_cannot_be_is_refused(arguments, message):
    with pytest.raises(ArgumentError) as refused:
        sp.design.perturbation_table(**arguments)
    assert message in str(refused.value)
