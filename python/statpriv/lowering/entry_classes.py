"""Entries of a partitioned population in classes of one law each, where laws are stated entry by entry."""

from __future__ import annotations

from collections import Counter
from typing import Any

from statpriv import budget
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.populations import Population
from statpriv.model.queries.processed import asked_of
from statpriv.model.queries.protocol import capabilities_of
from statpriv.model.queries.variants import with_laws
from statpriv.model.situation import PartitionedSituation, Query, capabilities


def by_class(situation: PartitionedSituation) -> PartitionedSituation:
    """The same situation with laws by group only: entries of which every query states the same laws are a group.

    Raises
    ------
    NotApplicable
        Entries are known by group, and some query states the laws of single entries; or there are too many classes.
    """
    different = situation.different_queries
    if all(capabilities(query).stated_entries is None for query in different):
        return situation
    if situation.adversary.by_group:
        raise NotApplicable("entries are known by group, and a query states laws of single entries")
    size = situation.population.size
    names = [name for name, count in situation.population.groups or (("", size),) for _ in range(count)]
    stated: list[list[Any]] = [_by_entry(query, names) for query in different]
    classes = list(zip(*stated, names, strict=True))
    sizes = Counter(classes)
    if len(sizes) > budget.MAX_GROUPS:
        raise NotApplicable(
            f"entries of more than {budget.MAX_GROUPS} different kinds are not tried one by one: round the "
            "probabilities"
        )
    labels = {one: str(number) for number, one in enumerate(sizes)}
    changed = {
        id(query): _of_classes(query, {label: (one[k], one[-1]) for one, label in labels.items()})
        for k, query in enumerate(different)
    }
    return PartitionedSituation(
        tuple(changed[id(query)] for query in situation.queries),
        Population(groups={labels[one]: count for one, count in sizes.items()}),
        situation.sampling,
        situation.adversary,
        situation.pair,
    )


def _by_entry(query: Query, names: list[str]) -> list[Any]:
    """What a query states for each entry: the index of a law of its own, or the group with a law."""
    asked = capabilities_of(asked_of(query))
    if asked.stated_entries is not None:
        return list(asked.class_of_entries(((None, len(names)),)))
    return names if asked.stated_groups is not None else [None] * len(names)


def _of_classes(query: Query, classes: dict[str, tuple[Any, str]]) -> Query:
    """The query with a law for each class of entries: by the number of the law of single entries, or by group."""
    asked = capabilities_of(asked_of(query))
    if asked.stated_entries is not None:
        laws = asked.laws_by_class(((None, asked.stated_entries),))
        return with_laws(query, lambda _: tuple((label, dict(laws[k].law)[1]) for label, (k, _) in classes.items()))
    if asked.stated_groups is not None:
        return with_laws(query, lambda laws: tuple((label, dict(laws)[name]) for label, (_, name) in classes.items()))
    return query
