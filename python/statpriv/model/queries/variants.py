"""The same query with other labels, or of some groups only."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import fields
from typing import Any, TypeVar, cast

from statpriv.model.groups import ByGroup
from statpriv.model.queries.processed import PostProcessed, asked_of
from statpriv.model.queries.protocol import capabilities_of

Asked = TypeVar("Asked")


def unlabelled(query: Asked) -> Asked:
    """Without attribute and name: two parts that differ in these alone have the same laws."""
    return _changed(query, dict.fromkeys(("attribute", "name")))


def with_attribute(query: Asked, *, attribute: str) -> Asked:
    """The same query, which asks this attribute."""
    return _changed(query, {"attribute": attribute})


def of_groups(query: Asked, names: Collection[str]) -> Asked:
    """With the laws of these groups alone, where it states laws by group."""
    asked: Any = asked_of(cast("Any", query))
    stated = capabilities_of(asked)
    if stated.stated_groups is None:
        return query
    return _changed(
        query,
        {law: tuple(item for item in getattr(asked, law) if item[0] in names) for law in stated.law_fields},
    )


def with_laws(query: Asked, change: Callable[[Any], ByGroup[Any]]) -> Asked:
    """With other laws by group: what `change` makes of each field that states laws."""
    asked: Any = asked_of(cast("Any", query))
    return _changed(query, {law: change(getattr(asked, law)) for law in capabilities_of(asked).law_fields})


def _changed(query: Asked, changes: dict[str, Any]) -> Asked:
    if isinstance(query, PostProcessed):
        return _with(query, {"query": _changed(query.query, changes)})
    stated = {name for name in changes if hasattr(query, name)}
    return _with(query, {name: changes[name] for name in stated}) if stated else query


def _with(query: Asked, changes: dict[str, Any]) -> Asked:
    """A copy that has nothing but the fields: what was computed from them is computed anew."""
    stated: Any = query
    copied: Asked = object.__new__(type(query))
    for field in fields(stated):
        object.__setattr__(copied, field.name, changes.get(field.name, getattr(query, field.name)))
    return copied
