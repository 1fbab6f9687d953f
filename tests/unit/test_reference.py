"""sp.reference is self-contained, and refuses what it cannot answer with a helpful message."""

import ast
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

import statpriv as sp
from statpriv import reference as ref

COINS = ref.iid(ref.coin("1/2"), 4)
SOURCES = sorted(Path(ref.__file__).parent.glob("*.py"))
STANDARD = {"__future__", "collections", "dataclasses", "decimal", "fractions", "functools", "itertools", "typing"}
FORMULAS = {"comb", "perm", "factorial", "lgamma", "convolve", "binomial"}


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield node.module


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_it_shares_no_code_with_what_it_judges(source):
    """It imports only the errors of statpriv, and nothing that computes from the standard library."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    for module in imported(tree):
        own = module == "statpriv.errors" or module.startswith("statpriv.reference")
        assert own or module.split(".")[0] in STANDARD, module
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert (names | attributes).isdisjoint(FORMULAS)
    assert not any(isinstance(node, ast.Constant) and isinstance(node.value, float) for node in ast.walk(tree))


def test_every_file_is_looked_at():
    assert {"laws", "databases", "templates", "releases", "worlds", "curves"} <= {source.stem for source in SOURCES}


def test_it_loads_nothing_else_of_statpriv():
    program = "import sys, statpriv.reference; print(*(name for name in sys.modules if name.startswith('statpriv')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    loaded = {name for name in done.stdout.split() if not name.startswith("statpriv.reference")}
    assert loaded == {"statpriv", "statpriv.errors"}


@pytest.mark.parametrize("name", ref.__all__)
def test_every_public_name_has_an_example(name):
    assert ">>>" in getattr(ref, name).__doc__


@pytest.mark.parametrize("third", [Fraction(3, 10), "3/10", "0.3", Decimal("0.3")])
def test_numbers_are_exact(third):
    assert ref.coin(third)[1] == Fraction(3, 10)


def test_a_float_is_the_rational_it_stores():
    assert ref.coin(0.3)[1] == Fraction(0.3) != Fraction(3, 10)
    assert sum(ref.coin(0.3).values()) == 1


def test_databases_are_values():
    assert ref.iid({0: "1/2", 1: 0.5}, 2) == ref.Database([ref.coin("1/2")] * 2)
    assert hash(ref.iid({1: "1/2", 0: 0.5}, 2)) == hash(ref.Database([ref.coin("1/2")] * 2))
    assert COINS.fixed({1: 1}) != COINS


def total(rows):
    return sum(rows)


STRATEGY = ref.Strategy(lambda earlier: total)
PARTS = ref.partitions(4, [2, 1])


@pytest.mark.parametrize(("call", "told"), [
    (lambda: ref.coin("3/2"), "p = '3/2'; a probability from 0 to 1 is required"),
    (lambda: ref.coin(float("nan")), "p = nan; a finite number is required"),
    (lambda: ref.coin("1/0"), "p = '1/0'; a finite number is required"),
    (lambda: ref.coin(None), "p = None; a finite number is required"),
    (lambda: ref.Database([]), "entries = []; at least one entry is required"),
    (lambda: ref.Database({0: 1}), "one law for each entry is required; iid(law, n) repeats one"),
    (lambda: ref.Database([{0: "1/2", 1: "1/3"}]), "entries[0] sums to 5/6 (about 0.8333"),
    (lambda: ref.Database([{0: 0.7, 1: 0.3}]), 'write "0.3" or Fraction(3, 10) for three tenths'),
    (lambda: ref.Database([{0: "3/2", 1: "-1/2"}]), "entries[0][0] = '3/2'; a probability from 0 to 1"),
    (lambda: ref.Database([[1]]), "entries[0] = [1]; a law is required"),
    (lambda: ref.iid(ref.coin(0), 0), "n = 0; at least one entry is required"),
    (lambda: COINS.fixed({4: 0}), "entry 4; the entries are numbered 0 to 3"),
    (lambda: ref.hockey_stick({0: 1}, {0: 1}, 0), "exp_epsilon = 0; e^epsilon is above 0"),
    (lambda: ref.hockey_stick({0: 1}, {0: "1/2"}, 1), "q sums to 1/2"),
    (lambda: ref.privacy_curve(COINS, total)("1/2"), "exp_epsilon = '1/2'; e^epsilon of at least 1 is required"),
    (lambda: ref.privacy_curve([ref.coin(0)], total), "a Database is required"),
    (lambda: ref.privacy_curve(COINS, 3), "query = 3; a function of the tuple of rows is required"),
    (lambda: ref.privacy_curve(COINS, []), "query = []; a function of the tuple of rows is required"),
    (lambda: ref.privacy_curve(COINS, list), "a query answers ["),
    (lambda: ref.privacy_curve(COINS, STRATEGY), "templates = None; a law on families is required"),
    (lambda: ref.privacy_curve(COINS, total, {}), "templates sums to 0"),
    (lambda: ref.privacy_curve(COINS, total, {(0, 4): 1}), "with the entry 4; entries are 0 to 3"),
    (lambda: ref.privacy_curve(COINS, total, {0: 1}), "templates has 0; a template such as (0, 2) is required"),
    (lambda: ref.privacy_curve(COINS, total, PARTS), "templates has ((0, 1), (2,)) with the entry (0, 1)"),
    (lambda: ref.privacy_curve(COINS, [total] * 3, PARTS), "a family of 3 templates such as ((0, 2), (1,))"),
    (lambda: ref.privacy_curve(COINS, [total], ref.everyone(4)), "a family of 1 templates"),
    (lambda: ref.privacy_curve(COINS, total, critical=4), "entry 4; the entries are numbered 0 to 3"),
    (lambda: ref.privacy_curve(COINS, total, critical=-1), "entry -1; the entries are numbered 0 to 3"),
    (lambda: ref.privacy_curve(COINS, total, pair=(0, 2)), "two values of entry 0 are required, out of [0, 1]"),
    (lambda: ref.privacy_curve(COINS, total, known=4), "known = 4; of 4 entries 0 to 3 can be known"),
    (lambda: ref.privacy_curve(COINS, total, known=-1), "known = -1; of 4 entries"),
    (lambda: ref.privacy_curve(COINS, total, critical=0, known=[0]), "the critical entry is never among the known"),
    (lambda: ref.privacy_curve(COINS, total, known=range(4)), "the critical entry is never among the known ones"),
    (lambda: ref.privacy_curve(COINS, total, known=[7]), "entry 7; the entries are numbered 0 to 3"),
    (lambda: ref.privacy_curve(COINS, total, known={1: 5}), "entry 1 = 5; its values are [0, 1]"),
    (lambda: ref.privacy_curve(COINS, total, values="mean"), 'values = \'mean\'; "worst" or "expected" is required'),
    (lambda: ref.answer_law(COINS, 0, 2, total), "entry 0 = 2; its values are [0, 1]"),
    (lambda: ref.answer_law(COINS, 0, 1, total, known={0: 1}), "holds the critical entry 0; leave it out"),
    (lambda: ref.sampling_privacy_curve(COINS, total, {(1, 2): 1}, critical=0), "none holds the critical entry 0"),
    (lambda: ref.partition_sum(COINS, [total] * 2, ref.overlapping(4, [1, 1])), "parts that share no entry"),
    (lambda: ref.adaptive_partition_sum(COINS, [total] * 2, PARTS), "for a list of queries use partition_sum"),
    (lambda: ref.worst_strategy_curve(COINS, [], PARTS), "allowed = []; a list of at least one query is required"),
    (lambda: ref.without_replacement(3, 4), "sizes = [4]; at least one size is required, and together at most n = 3"),
    (lambda: ref.without_replacement(3, -1), "sizes[0] = -1; an integer of at least 0 is required"),
    (lambda: ref.partitions(3, []), "sizes = []; at least one size is required"),
    (lambda: ref.overlapping(3, []), "sizes = []; at least one sample is required"),
    (lambda: ref.everyone(0), "n = 0; an integer of at least 1 is required"),
    (lambda: ref.stratified("aab", {"c": 1}), "sizes[0]['c'] = 1; the groups are ['a', 'b']"),
    (lambda: ref.stratified("aab", {"b": 2}), "none fits the sizes asked for"),
    (lambda: ref.multinomial_assignment(3, ["2/3", "2/3"]), "a sum of at most 1"),
    (lambda: ref.poisson(3, 2), "rate = 2; a probability from 0 to 1 is required"),
    (lambda: ref.uniform([]), "templates = []; at least one template is required"),
])  # fmt: skip
def test_what_is_not_allowed_is_named(call, told):
    with pytest.raises(sp.ArgumentError) as refused:
        call()
    assert told in str(refused.value)


@pytest.mark.parametrize(("call", "cases"), [
    (lambda: ref.without_replacement(12, 8), 19_958_400),
    (lambda: ref.partitions(40, [20, 20], ordered=False), 137_846_528_820),
    (lambda: ref.with_replacement(8, 9), 8**9),
    (lambda: ref.poisson(60, "1/2"), 2**60),
    (lambda: ref.multinomial_assignment(30, ["1/2", "1/2"]), 3**30),
    (lambda: ref.overlapping(10, [5, 5]), 30_240**2),
    (lambda: ref.answer_law(ref.iid(ref.coin("1/2"), 64), 0, 1, total), 2**63),
    (lambda: ref.privacy_curve(ref.iid(ref.coin("1/2"), 64), total, critical=0), 2**64),
    (lambda: ref.privacy_curve(ref.iid(ref.coin("1/2"), 64), total, critical=0, known=32), 916_312_070_471_295_267),
    (lambda: ref.worst_strategy_curve(COINS, [total, max] * 30, ref.partitions(4, [1] * 4)), 60**4),
    (lambda: ref.worst_strategy_curve(COINS, [total, max] * 30, PARTS), 4 * 60**2 * 2 * (6 * 2**3 + 18 * 2**2)),
])  # fmt: skip
def test_what_would_take_too_long_is_refused_at_once(call, cases):
    with pytest.raises(sp.ArgumentError) as refused:
        call()
    assert f"about {cases} cases would be enumerated, more than limit = 2000000" in str(refused.value)
    assert "raise limit=" in str(refused.value)


def test_the_limit_counts_databases_times_templates_and_can_be_raised():
    templates = ref.without_replacement(4, 2)
    cases = len(templates) // 2 * 2**1 + len(templates) // 2 * 2**2
    told = f"about {2 * cases} cases would be enumerated, more than limit = {2 * cases - 1}"
    with pytest.raises(sp.ArgumentError, match=told):
        ref.privacy_curve(COINS, total, templates, critical=0, limit=2 * cases - 1)
    assert ref.privacy_curve(COINS, total, templates, critical=0, limit=2 * cases)(1) == Fraction(1, 4)
