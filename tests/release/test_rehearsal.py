"""A plan as a mechanism: it publishes of made-up rows what a release would, and an attack finds out what is broken."""

# ruff: noqa: S311  (what is drawn for a simulation is no secret)

import random
from collections import Counter
from contextlib import contextmanager

import duckdb
import numpy as np
import pytest

import statpriv as sp
from statpriv._native import Partition
from statpriv.releasing import rehearsal

VOTERS = {"name": "voters", "where": "vote = 1", "probability": "0.3", "source": "-"}


def plan_of(*queries, tables=(), publication=None):
    stated = {"prior": "none", "guarantee": {"epsilon": 0.1, "delta": 1}, "query": list(queries), "table": list(tables)}
    return {key: value for key, value in stated.items() if value} | (
        {"publication": publication} if publication else {}
    )


def released(plan, rows, columns, folder):
    """What a release of these rows publishes, where all of them answer."""
    names = ", ".join(columns)
    values = ", ".join(map(str, rows))
    data = duckdb.sql(f"SELECT row_number() OVER () AS id, * FROM (VALUES {values}) AS t({names})")  # noqa: S608
    stated = {**plan, "data": {"row_id": "id"}}
    return sp.release(stated, data=data, registry=folder / "registry").contents


def test_where_all_rows_answer_it_is_what_a_release_publishes(tmp_path):
    rows = [("yes", 20 + 3 * k) if k % 3 else ("no", 30 + k) for k in range(24)]
    table = {
        "name": "vote by age",
        "minimum": 2,
        "rows": 24,
        "dimensions": {"vote": ["yes", "no"], "age": {"breaks": [40], "labels": ["young", "old"]}},
    }
    plan = plan_of(tables=[table])
    mechanism = sp.plan_mechanism(plan, rows=24)
    assert mechanism.columns == ("vote", "age")
    (cells,) = mechanism(rows, random.Random())
    (published,) = released(plan, rows, ("vote", "age"), tmp_path)["tables"]
    assert len(cells) == 4
    assert [count for _, count in cells] == [cell["count"] for cell in published["cells"]]
    assert sum(count for _, count in cells) == 24


def test_a_query_counts_a_part_drawn_afresh_each_time():
    """Three of six rows answer: the counts have the hypergeometric law."""
    mechanism = sp.plan_mechanism(plan_of({**VOTERS, "rows": 3}), rows=6)
    source = random.Random(5)
    seen = Counter(mechanism([1, 1, 1, 0, 0, 0], source)[0] for _ in range(4000))
    for count, ways in enumerate((1, 9, 9, 1)):
        assert abs(seen[count] / 4000 - ways / 20) < 5 * (ways / 20 / 4000) ** 0.5


def test_parts_are_disjoint_and_steps_are_applied():
    young = {"name": "young", "where": "age < 30", "probability": "0.3", "source": "-", "rows": 4}
    mechanism = sp.plan_mechanism(plan_of({**VOTERS, "rows": 4}, young, publication={"suppressed_below": 3}), rows=8)
    answers = {mechanism([(1, 20)] * 5 + [(0, 60)] * 3, random.Random(seed)) for seed in range(60)}
    assert {answer[0] for answer in answers} == {"suppressed", 3, 4}
    both = [pair for pair in answers if "suppressed" not in pair]
    assert not both or all(sum(pair) <= 5 for pair in both)


def test_rows_that_answer_everything():
    """Of the same rows nothing is drawn."""
    asked = [
        {"name": name, "where": f"{name} = 1", "probability": ["0.1", "0.9"], "each": True, "source": "-"}
        for name in ("smokes", "votes")
    ]
    mechanism = sp.plan_mechanism(plan_of(*asked, publication={"rows": "same", "protects": "row"}), rows=5)
    assert mechanism([(1, 0), (1, 1), (1, 0), (0, 0), (0, 1)], random.Random()) == (3, 2)


def test_an_attack_on_the_real_code_is_consistent_and_on_a_broken_draw_is_not(monkeypatch):
    plan = plan_of({**VOTERS, "rows": 10})
    mechanism, law = sp.plan_mechanism(plan, rows=40), {1: "0.3", 0: "0.7"}
    stated = {"law": law, "others": 39, "claimed": mechanism.curve, "trials": 2000, "seed": 3}
    assert sp.attack(mechanism, (1, 0), **stated).verdict == "consistent"

    @contextmanager
    def as_they_lie(rows, *_):
        yield Partition.given((np.arange(rows.n) < 10).astype(np.uint32))

    monkeypatch.setattr(rehearsal, "secret_partition", as_they_lie)
    assert sp.attack(mechanism, (1, 0), **stated).verdict == "refuted"


def test_the_certified_curve_is_that_of_the_plan():
    mechanism = sp.plan_mechanism(plan_of({**VOTERS, "rows": 10}), rows=40)
    alike = sp.compose([sp.PropertyQuery("0.3")], sp.Population(40), sp.RandomPartition([10]))
    assert mechanism.curve.delta("0.1") == alike.delta("0.1")


def test_what_is_no_table_for_the_plan_is_refused():
    mechanism = sp.plan_mechanism(plan_of({**VOTERS, "rows": 3}), rows=6)
    with pytest.raises(sp.ArgumentError, match="there are 2 rows; 6 are required"):
        mechanism([1, 0], random.Random())
    with pytest.raises(sp.TableError, match="vote"):
        mechanism(["yes"] * 6, random.Random())
    with pytest.raises(sp.ArgumentError, match=r"row = \[1\]; a value, or a tuple of values, is required"):
        mechanism([[1]] * 6, random.Random())
    two = sp.plan_mechanism(plan_of({**VOTERS, "where": "vote = 1 AND age > 3", "rows": 3}), rows=6)
    with pytest.raises(sp.ArgumentError, match='a value for each of the columns "vote", "age"'):
        two([1] * 6, random.Random())
    groups = {**plan_of({**VOTERS, "rows": 3}), "data": {"group": "region", "group_source": "-"}}
    with pytest.raises(sp.StatprivError, match="group"):
        sp.plan_mechanism(groups, rows=6)
