"""The registry: every rule says what it proves and where, and is of use."""

import inspect
from itertools import product

import pytest

import statpriv as sp
from statpriv.rules.registry import NotApplicable, all_rules, lower
from statpriv.situation import Situation

SAME, OTHER = (sp.PropertyQuery("1/2", attribute=name) for name in ("same", "other"))
QUERIES = [(SAME,), (sp.PropertyQuery(sp.Between("0.4", "0.6")),), (SAME, SAME), (SAME, OTHER)]
SITUATIONS = [
    Situation(queries, sp.Population(40), sp.RandomPartition([used // len(queries)] * len(queries)), adversary)
    for queries, used, adversary in product(QUERIES, (40, 20), (sp.Adversary(), sp.Adversary(known=5)))
]
rules = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.lowering.__name__)


@rules
def test_a_rule_declares_what_it_rests_on(rule):
    assert rule.bound == rule.bound.lower().strip() != "tightest"
    assert rule.kind in ("exact", "bound")
    assert len(rule.theorem) > 20
    assert rule.theorem.endswith(".")
    assert rule.source
    assert rule.assumptions
    assert all(isinstance(text, str) and text for text in rule.assumptions)
    assert inspect.getdoc(rule.lowering)


@rules
def test_a_rule_applies_somewhere(rule):
    assert any(applies(rule, situation) for situation in SITUATIONS)


@rules
def test_a_rule_says_why_it_does_not_apply(rule):
    for situation in SITUATIONS:
        reason = verdict(rule, situation)
        assert reason is None or len(reason.split()) > 3


@pytest.mark.parametrize("situation", SITUATIONS, ids=str)
def test_every_situation_has_a_bound_and_every_bound_is_above_the_exact_curve(situation):
    tightest = lower(situation, "tightest")
    for rule in all_rules():
        if rule.bound == "spc" or not applies(rule, situation):
            continue  # the sampling privacy curve is conditional on being sampled, not a bound of the answer's law
        if tightest.kind == "exact":
            for epsilon in ("0", "0.1", "1"):
                assert rule.lowering(situation).delta(epsilon).upper >= tightest.curve.delta(epsilon).lower


def test_exact_rules_come_first():
    kinds = [rule.kind for rule in all_rules()]
    assert kinds == sorted(kinds, key=lambda kind: kind != "exact")


def applies(rule, situation) -> bool:
    return verdict(rule, situation) is None


def verdict(rule, situation) -> str | None:
    """Why a rule does not apply, or None."""
    try:
        rule.lowering(situation)
    except NotApplicable as reason:
        return str(reason)
    return None
