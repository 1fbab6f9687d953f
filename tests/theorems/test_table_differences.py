"""What tables give away together, against the people they were counted from."""

import random
import sys
from itertools import pairwise, product

import pytest

import statpriv as sp
from statpriv import budget
from statpriv.audit.differences import compare

from ..cases import cases


def counted(people, name, **dimensions):
    """The table of these people: for each dimension its categories, each with the test of a person."""
    labels = {dimension: list(tests) for dimension, tests in dimensions.items()}
    cells = [
        sum(all(dimensions[d][label](person) for d, label in zip(dimensions, key, strict=True)) for person in people)
        for key in product(*labels.values())
    ]
    return sp.PublishedTable.from_counts(labels, cells, name=name)


def regions():
    return {region: lambda person, region=region: person["region"] == region for region in ("n", "s")}


def ages(*breaks):
    """Labels of ranges between the breaks, and their tests."""
    ends = [0, *breaks, None]
    found = {}
    for low, high in pairwise(ends):
        label = f"{low}+" if high is None else f"{low}-{high - 1}"
        found[label] = lambda person, low=low, high=high: (
            person["age"] >= low and (high is None or person["age"] < high)
        )
    return found


def people(rng, n):
    return [{"region": rng.choice("ns"), "age": rng.randint(0, 80), "smokes": rng.random() < 0.3} for _ in range(n)]


def test_breaks_that_do_not_coincide_isolate_the_people_between_them():
    rng = random.Random(1)  # noqa: S311  (a case, not a secret)
    for _ in range(cases(10, campaign=200)):
        group = people(rng, rng.randint(20, 60))
        one = counted(group, "one", region=regions(), age=ages(16, 40))
        other = counted(group, "other", region=regions(), age=ages(18, 40))
        found = {
            dict(each.where).get("region"): each.people
            for each in compare([one, other], 10**6, jointly=False).differences
            if dict(each.where)["age"] == "16-17"
        }
        truth = {region: sum(p["age"] in (16, 17) and p["region"] == region for p in group) for region in "ns"}
        assert {region: found[region] for region in "ns"} == truth


def test_a_table_of_some_people_isolates_those_who_are_left_out():
    rng = random.Random(2)  # noqa: S311
    group = people(rng, 200)
    adults = [person for person in group if person["age"] >= 5]
    everybody = counted(group, "everybody", region=regions(), age=ages(20, 40))
    part = counted(adults, "adults", region=regions())
    found = compare([everybody, part], 30, jointly=False)
    truth = {region: sum(p["age"] < 5 and p["region"] == region for p in group) for region in "ns"}
    assert {dict(each.where)["region"]: each.people for each in found.differences if each.where} == truth
    assert str(found.differences[0]).startswith(
        f"everybody has {min(truth.values())} people more than adults where region = "
    )


def test_only_differences_below_the_minimum_are_named():
    everybody = sp.PublishedTable.from_counts({"region": ["n", "s"]}, [52, 40], name="everybody")
    adults = sp.PublishedTable.from_counts({"region": ["n", "s"]}, [49, 18], name="adults")
    assert [each.people for each in compare([everybody, adults], 3).differences] == []
    assert [each.people for each in compare([everybody, adults], 4).differences] == [3]
    assert [each.people for each in compare([adults, everybody], 23).differences] == [-3, -22]


def test_equal_tables_differ_nowhere():
    table = sp.PublishedTable.from_counts({"region": ["n", "s"]}, [52, 40])
    assert compare([table, table], 10).differences == ()


def test_a_suppressed_count_is_not_compared():
    one = sp.PublishedTable.from_counts({"region": ["n", "s"]}, [None, 40], name="one")
    other = sp.PublishedTable.from_counts({"region": ["n", "s"]}, [5, 39], name="other")
    assert [each.where for each in compare([one, other], 10, jointly=False).differences] == [(("region", "s"),)]


def test_three_margins_can_isolate_where_no_two_do():
    """All three two-dimensional margins of eight cells: the joint bounds contain the truth, and name small cells."""
    rng = random.Random(3)  # noqa: S311
    yes_no = {"yes": lambda person: person["smokes"], "no": lambda person: not person["smokes"]}
    young = {"young": lambda person: person["age"] < 40, "old": lambda person: person["age"] >= 40}
    isolated = 0
    for _ in range(cases(8, campaign=100)):
        group = people(rng, 25)
        tables = [
            counted(group, "one", region=regions(), smokes=yes_no),
            counted(group, "two", region=regions(), age=young),
            counted(group, "three", age=young, smokes=yes_no),
        ]
        whole = counted(group, "whole", region=regions(), smokes=yes_no, age=young)
        found = compare(tables, 4)
        assert found.joint == "yes: 8 combinations of all categories"
        for each in found.isolated:
            where = dict(each.where)
            count = whole.count(tuple(where[name] for name in whole.dimension_names))
            assert 1 <= each.bounds.lower <= count <= each.bounds.upper < 4
            isolated += 1
    assert isolated > 0


def test_refined_breaks_are_looked_at_together():
    rng = random.Random(4)  # noqa: S311
    group = [*people(rng, 60), *({"region": "n", "age": age, "smokes": False} for age in (16, 17, 17))]
    one = counted(group, "one", age=ages(16, 40))
    other = counted(group, "other", age=ages(18, 40))
    found = compare([one, other], 60)
    (between,) = (each for each in found.isolated if dict(each.where)["age"] == "16-17")
    truth = sum(person["age"] in (16, 17) for person in group)
    assert (between.bounds.lower, between.bounds.upper) == (truth, truth)


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ({"region": ["n", "s"]}, "different totals"),
        ({"region": ["n", "w"]}, "other categories"),
    ],
)
def test_tables_that_cannot_be_looked_at_together_are_said_to_be(counts, reason):
    one = sp.PublishedTable.from_counts({"region": ["n", "s"]}, [52, 40], name="one")
    other = sp.PublishedTable.from_counts(counts, [52, 60], name="other")
    assert reason in compare([one, other], 10).joint


def test_counts_that_no_people_have_are_said_to_be():
    one = sp.PublishedTable.from_counts({"a": ["x", "y"], "b": ["u", "v"]}, [[5, 5], [5, 5]], name="one")
    other = sp.PublishedTable.from_counts({"b": ["u", "v"], "c": ["p", "q"]}, [[6, 6], [4, 4]], name="other")
    assert "no group of people has all these counts" in compare([one, other], 10).joint


def test_work_is_bounded(monkeypatch):
    one = sp.PublishedTable.from_counts({"region": ["n", "s"]}, [52, 40], name="one")
    monkeypatch.setattr(budget, "MAX_JOINT_CELLS", 1)
    assert "at most 1 are looked at" in compare([one, one], 10).joint
    monkeypatch.setattr(budget, "MAX_COMPARED_TABLES", 1)
    with pytest.raises(sp.ArgumentError, match="at most 1 are compared"):
        compare([one, one], 10)


def test_two_by_two_needs_no_scipy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    one = sp.PublishedTable.from_counts({"a": ["x", "y"], "b": ["u", "v"]}, [[5, 5], [5, 5]], name="one")
    assert compare([one, one], 10, jointly=False).compared == 9
