"""The standing of every leaf of a report: computed again, checked against others, or taken on trust.

:mod:`statpriv.releasing.recomputation` makes a report again from the leaves that are not computed. A leaf is written
as the keys that lead to it: `answers.count` is the count of any answer, `guarantee.delta` is both ends of δ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["LEAVES", "Leaf", "Standing", "named", "on_trust"]

Standing: TypeAlias = Literal["recomputed", "cross-checked", "on trust"]


@dataclass(frozen=True)
class Leaf:
    """What a leaf of a report rests on.

    Attributes
    ----------
    standing
        "recomputed": it follows from other leaves, and is computed from them. "cross-checked": other leaves follow
        from it, or it must fit them. "on trust": nothing else in the report depends on it.
    why
        From what it is computed, what it must fit, or why nothing can check it.
    """

    standing: Standing
    why: str


_STEPS = "queries.publication.gate, queries.publication.suppressed_below and queries.publication.rounded_to"
_QUERIES = (
    "queries.size, queries.where, queries.probability, queries.cells.where, queries.cells.probability, "
    f"queries.groups.size, queries.groups.probability, {_STEPS}"
)
_TABLE = f"data.rows, composition.population, guarantee.epsilon_exact, guarantee.known_rows, {_QUERIES}"
_EVERYTHING = f"{_TABLE}, history.part and ledger.cohorts"
_PARTS = "history.part.probability, history.part.cells, history.part.attribute, history.part.gate and the steps there"

_RECOMPUTED = {
    "release.rows_spent": "queries.size",
    "guarantee.epsilon": "guarantee.epsilon_exact",
    "guarantee.target_delta": "guarantee.target_delta_exact",
    "guarantee.delta guarantee.this_release guarantee.term guarantee.term.delta guarantee.partition_secret "
    "guarantee.partition_known guarantee.kind guarantee.theorem guarantee.source": _EVERYTHING,
    "guarantee.term.weight history.weight": "history.part.size, queries.size, ledger.cohorts.rows and "
    "ledger.cohorts.since_release",
    "guarantee.releases": "history",
    "guarantee.holds": "guarantee.target_delta_exact and δ",
    "guarantee.assumptions": "guarantee.known_rows, queries.publication.gate and the theorem",
    "guarantee.not_protected": "data.group and the theorem",
    "history.rows_spent history.queries.size": "history.part.size",
    "history.rows_then": "ledger.cohorts.rows and ledger.cohorts.since_release",
    "history.delta": f"guarantee.epsilon_exact, guarantee.known_rows, history.part.size, {_PARTS}",
    "queries.property": "queries.where and queries.cells.where",
    "queries.cells.gate": "queries.cells.probability, queries.size and whether there is a gate",
    "queries.delta": _EVERYTHING,
    "queries.withheld_at_most": "queries.publication.gate, queries.cells.gate, queries.probability, "
    "queries.cells.probability, queries.size, queries.groups and data.units",
    "tables.withheld_at_most": "tables.minimum, tables.minima, tables.probability, tables.probabilities, "
    "tables.impossible, tables.ladder, tables.nested and tables.rows",
    "answers.query": "queries.name",
    "answers.cell": "queries.cells.name",
    "answers.size": "queries.size",
    "answers.proportion": "answers.count and queries.size",
    "answers.rmse comparison.rmse_released": "data.rows, composition.population, queries.size, queries.probability, "
    "queries.cells.probability, queries.groups.size, queries.groups.probability and queries.publication.rounded_to",
    "answers.interval": f"answers.count, answers.suppressed, data.rows, queries.size, {_STEPS}",
    "answers.contradicts_range": f"answers.count, queries.size, queries.probability, {_STEPS}",
    "curves.epsilon.epsilon": "guarantee.epsilon_exact and data.rows",
    "curves.epsilon.partition_secret curves.epsilon.partition_known curves.probability.property "
    "curves.probability.points.p curves.probability.points.delta curves.probability.points.exact_counts "
    "degradation.known_rows degradation.partition_secret degradation.partition_known degradation.delta leaks.known "
    "leaks.rows leaks.delta block.rows block.delta people.outside_range people.household people.delta": _EVERYTHING,
    "comparison.queries": "queries",
    "comparison.epsilon": "guarantee.epsilon_exact",
    "comparison.rows": "data.rows",
    "comparison.delta comparison.noise_loose comparison.noise_tight comparison.count_noise_loose "
    "comparison.count_noise_tight": _EVERYTHING,
    "comparison.note verify.command": "the version",
    "composition.epsilon": "guarantee.epsilon_exact",
    "composition.known_rows": "guarantee.known_rows, data.rows and history.part.size",
    "composition.population.size": "data.rows",
    "composition.population.clusters": "data.units",
    "composition.population.largest_cluster": "data.largest_unit",
    "composition.same_rows": "guarantee.protects",
    "composition.part.size": "queries.size and queries.groups.size",
    "composition.part.probability": "queries.probability, queries.groups.group, queries.groups.probability and the "
    "ranges of the property in history.part",
    "composition.part.cells": "queries.cells.probability and the ranges of the cells in history.part.cells",
    "composition.part.each": "queries.each and history.part.each",
    "composition.part.query.kind composition.part.query.dimensions composition.part.query.minimum "
    "composition.part.query.minima.cell composition.part.query.minima.minimum "
    "composition.part.query.impossible composition.part.query.by composition.part.query.recode.label "
    "composition.part.query.recode.categories composition.part.query.nested": "tables.dimensions, tables.ladder, "
    "tables.nested, tables.minimum, tables.minima, tables.impossible and tables.by",
    "composition.part.query.p": "tables.probability, tables.probabilities, tables.each and tables.impossible",
    "composition.part.query.attribute": "tables.dimensions and guarantee.protects",
    "composition.part.attribute": "queries.where and queries.cells.where",
    "composition.part.gate": "queries.publication.gate, queries.probability and queries.size",
    "composition.part.suppressed_below": "queries.publication.suppressed_below",
    "composition.part.rounded_to": "queries.publication.rounded_to",
    "verify.proof": "queries.cells, tables.ladder, tables.nested, tables.probability and guarantee.known_rows",
    "tables.delta": "tables.minimum, tables.minima, tables.by, tables.ladder, tables.nested, "
    "guarantee.epsilon_exact and guarantee.known_rows",
    "ledger.rows_left": "data.rows, history.part.size and queries.size",
    "ledger.rows_spent_before": "history.part.size",
    "warnings": "data.row_id, plan.prior, queries, answers.contradicts_range and history",
}
_CROSS_CHECKED = {
    "release dry_run": "something is released exactly if this is no dry run and the target is reached",
    "data.rows": "δ, errors and intervals follow from it, and the cohorts add up to it",
    "data.units data.largest_unit": "δ follows from them, and they hold the rows of the table",
    "guarantee.protects": "the composition states it, and δ follows from it",
    "data.group": "there is a group exactly if the queries have sizes by group",
    "guarantee.epsilon_exact guarantee.target_delta_exact guarantee.known_rows": "δ and the verdict follow from it",
    "queries.name queries.cells.name": "the answers bear it; of a dry run nothing does",
    "queries.where queries.cells.where": "it is a condition in its normal form, and the parts of the composition ask "
    "it",
    "queries.probability queries.cells.probability queries.groups.probability": "the parts of the composition state "
    "the hull, and gates and δ follow from it",
    "queries.each": "the parts of the composition state it, and δ follows from it",
    "queries.size queries.groups queries.groups.size queries.groups.group queries.cells": "the parts of the "
    "composition and the answers have it",
    "queries.publication.gate": "its ends follow from the range and the size; the composition has it where it helps",
    "queries.publication.suppressed_below queries.publication.rounded_to": "the composition has it where it helps, "
    "and counts, errors and intervals fit it; a count that is withheld or suppressed tells nothing of it",
    "answers.count answers.withheld answers.suppressed": "some exact count of the part has this published form, and "
    "proportion, error and interval follow from it",
    "tables.dimensions tables.impossible tables.by": "the published cells are exactly the possible ones of the classes "
    "that are not withheld, in row-major order",
    "tables.ladder.dimensions tables.ladder.impossible tables.ladder.recode.label tables.ladder.recode.categories "
    "tables.ladder.level": "the published dimensions are those of the level, and δ follows from the number of levels",
    "tables.nested": "the cells are those of a tree exactly if it is one, and δ follows from the number of dimensions",
    "tables.minimum tables.minima.cell tables.minima.minimum tables.ladder.minima.cell "
    "tables.ladder.minima.minimum": "every published count is at least that, and δ follows from it",
    "tables.probability tables.probabilities.cell tables.probabilities.probability tables.each": "the composition has "
    "the range of every cell, and δ follows from it",
    "tables.rows": "the counts add up to it, or to less where a class is withheld",
    "tables.published tables.withheld tables.cells.count": "cells are there exactly where they are published, and "
    "their counts reach the minimum and add up to the rows that were asked",
    "composition.population": "it is the rows that were left, or the rows of the groups, which add up to all",
    "history.part.size history.part.probability history.part.each history.part.cells history.part.attribute "
    "history.part.gate "
    "history.part.suppressed_below history.part.rounded_to": "δ, weights and rows left follow from it; its queries "
    "ask the same and take the same steps",
    "history.part.query.kind history.part.query.dimensions history.part.query.minimum "
    "history.part.query.minima.cell history.part.query.minima.minimum history.part.query.impossible "
    "history.part.query.by history.part.query.recode.label history.part.query.recode.categories "
    "history.part.query.nested "
    "history.part.query.p history.part.query.attribute": "δ of that release "
    "follows from its minimum, its classes and the number of its levels; its queries name a table",
    "history.queries.where history.queries.cells": "the part asks it",
    "history.queries.gates": "it fits the size and the range of the part, and the part's own gate",
    "ledger.cohorts.rows ledger.cohorts.since_release": "weights and rows left follow from it, and each release found "
    "enough rows",
}
_ON_TRUST = {
    "statpriv": "the version that wrote the report; only its sentences and the points of its curves depend on it",
    "html_sha256": "the page is another file; `statpriv report render` makes it again and compares its digest",
    "signer": "the signature is another file; `statpriv verify --public-key` checks it",
    "plan.sha256": "the plan is another file; `statpriv verify --plan` compares it",
    "plan.written_before_access": "nobody but the author knows; `statpriv verify --plan` compares it with the plan",
    "plan.prior plan.prior.description plan.prior.epsilon plan.prior.delta": "publications outside the ledger are the "
    "author's statement; `statpriv verify --plan` compares it with the plan",
    "data.engine data.source data.row_id data.unit": "the table is not at hand; `statpriv verify --plan` compares it "
    "with the plan",
    "data.columns.column data.columns.codes data.columns.range data.columns.source": "which values "
    "a column may have; `statpriv verify --plan` compares it with the plan",
    "data.unit_source": "where the number and the size of units are public is the author's statement",
    "data.group_source": "where the sizes of the groups are public is the author's statement",
    "data.content_edited": "the ledger alone knows; of a first release it must be false",
    "queries.source": "where a range is known from is the author's statement",
    "tables.name": "a label; `statpriv verify --plan` compares it with the plan",
    "tables.conditions": "which values a category has; `statpriv verify --plan` compares it with the plan",
    "tables.source": "where a range is known from is the author's statement",
    "tables.by_source": "where the class of everybody is public is the author's statement",
    "release.id release.ledger release.number": "the ledger alone knows; a number must be above those of the history, "
    "and an id differ from theirs",
    "history.queries.table": "the conditions of the categories of an earlier table; the ledger alone knows them",
    "history.number history.release_id": "the ledger and the earlier reports tell; numbers must ascend and ids differ",
    "history.queries.suppressed_below history.queries.rounded_to": "a step of an earlier release that its certificate "
    "makes no use of; the earlier report tells",
}


def _of(standing: Standing, listed: dict[str, str]) -> dict[str, Leaf]:
    return {leaf: Leaf(standing, why) for leaves, why in listed.items() for leaf in leaves.split()}


LEAVES = {**_of("recomputed", _RECOMPUTED), **_of("cross-checked", _CROSS_CHECKED), **_of("on trust", _ON_TRUST)}
"""Every leaf of the schema of reports, with its standing."""


def named(place: str) -> str:
    """The leaf at a place such as `answers[2].interval[1]`.

    >>> named("answers[2].interval[1]")
    'answers.interval'
    """
    return re.sub(r"\[[^\]]*\]", "", place)


def on_trust() -> dict[str, str]:
    """The leaves that are taken on trust, each with the reason."""
    return {leaf: found.why for leaf, found in LEAVES.items() if found.standing == "on trust"}
