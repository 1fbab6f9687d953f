"""The entry law stated by a query: the same for every entry, and one for each attribute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from statpriv.errors import ArgumentError
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.linear import LinearQuery
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.valued import Valued
from statpriv.model.situation import Query, asked_of
from statpriv.numeric.literals import abridged

Attribute: TypeAlias = "tuple[str, str]"
"""An attribute, and the form in which its law is stated."""

_STATING = (PropertyQuery, LinearQuery, HistogramQuery, Valued)
"""The query classes that state a law of the entries, and whose attribute says which."""


def check_query(query: object) -> None:
    """Refuse anything that is not a query, and queries that are not hashable and so cannot be counted."""
    if isinstance(query, type) or not isinstance(query, Query):
        raise ArgumentError(f"query = {abridged(query)}; a query such as sp.PropertyQuery(0.5) is required")
    try:
        hash(query)
    except TypeError:
        raise ArgumentError(f"query = {abridged(query)} is not hashable; give its class a __hash__") from None


def check_identical(query: Query) -> None:
    """Refuse queries with laws by group or by entry: all entries must have one law, whichever rows are used."""
    asked = asked_of(query)
    if isinstance(asked, PropertyQuery | HistogramQuery | Valued) and not asked.is_uniform:
        raise ArgumentError(
            f"query = {abridged(query)}; one law for all entries is required: with laws by group or by entry, earlier "
            "answers tell which entries are left for later parts (promise what is asked with only= or declared=)"
        )


def new_laws(known: Mapping[Attribute, object], queries: Iterable[Query]) -> dict[Attribute, object]:
    """The laws of the attributes that are new among these queries; an attribute with two laws is refused."""
    new: dict[Attribute, object] = {}
    for query in queries:
        asked = asked_of(query)
        stated = stated_law(asked)
        if stated is None or not isinstance(asked, _STATING) or asked.attribute is None:
            continue
        form, law = stated
        attribute = (asked.attribute, form)
        if known.get(attribute, new.setdefault(attribute, law)) != law or new[attribute] != law:
            raise ArgumentError(
                f"attribute = {asked.attribute!r} is asked with two different laws, now by {abridged(asked)}; one "
                "attribute has one law (give the hull of the ranges to all its queries)"
            )
    return new


def stated_law(asked: object) -> tuple[str, object] | None:
    """The form and the entry law that a query states; None for a user-defined query."""
    field = next((field for kind, field in _LAWS if isinstance(asked, kind)), None)
    return None if field is None else ("p" if field == "probabilities" else field, getattr(asked, field))


_LAWS = ((PropertyQuery, "probabilities"), (LinearQuery, "p"), (HistogramQuery, "cells"), (Valued, "pmf"))
"""The query classes, and the field of each that states the entry law."""
