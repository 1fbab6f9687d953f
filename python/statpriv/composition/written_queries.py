"""Queries as JSON documents: every number an exact string, and back to an equal query."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar, cast

from statpriv.errors import ArgumentError
from statpriv.model import noise
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.linear import LinearQuery
from statpriv.model.queries.order_statistic import OrderStatisticQuery
from statpriv.model.queries.processed import (
    Clip,
    Numerical,
    PostProcessed,
    RangeGate,
    Relabel,
    Rounding,
    Step,
    Threshold,
)
from statpriv.model.queries.property import Between, PropertyQuery
from statpriv.model.queries.sum import MeanQuery, SumQuery
from statpriv.model.situation import Query
from statpriv.numeric.exact import as_fraction
from statpriv.numeric.literals import abridged

__all__ = ["number_from", "query_from", "written_number", "written_query"]

Document: TypeAlias = "dict[str, Any]"
Law = TypeVar("Law")


def written_number(value: Fraction) -> str:
    """The exact value, as :func:`number_from` reads it.

    >>> written_number(Fraction(1, 3)), number_from("1/3")
    ('1/3', Fraction(1, 3))
    """
    try:
        return str(value)
    except ValueError:  # Python refuses to print integers of many thousand digits
        raise ArgumentError(
            "a number has more digits than a JSON document can hold; round it to a simpler fraction"
        ) from None


def number_from(text: object) -> Fraction:
    """The number that a string says exactly."""
    if not isinstance(text, str):
        raise ArgumentError(f"{abridged(text)} is no number; a string such as '1/3' is required")
    return as_fraction(text, "a number")


def written_query(query: Query) -> Document:
    """The document of a query.

    Raises
    ------
    ArgumentError
        A query of the user's own, or a table of answers other than numbers, strings and None.

    Examples
    --------
    >>> import statpriv as sp
    >>> written_query(sp.PropertyQuery("1/2", attribute="smoker"))
    {'type': 'PropertyQuery', 'p': '1/2', 'attribute': 'smoker'}
    """
    if isinstance(query, PostProcessed):
        inner = written_query(query.query)
        return {"type": "Processed", "query": inner, "steps": [_written_step(step) for step in query.steps]}
    if type(query) not in _QUERIES:
        raise ArgumentError(
            f"query = {abridged(query)}; queries of your own cannot be written as JSON, those of statpriv "
            f"({', '.join(kind.__name__ for kind in _QUERIES)}, and PostProcessed ones of them) can"
        )
    labels = {key: getattr(query, key) for key in ("attribute", "name") if getattr(query, key) is not None}
    return {"type": type(query).__name__, **_QUERIES[type(query)](query), **labels}


def query_from(document: Document) -> Query:
    """The query of a document that :func:`written_query` made."""
    stated = dict(document)
    kind = stated.pop("type")
    if kind == "Processed":
        inner = cast("Numerical", query_from(stated["query"]))
        return PostProcessed(inner, *(_step_from(step) for step in stated["steps"]))
    if kind not in _READERS:
        raise ArgumentError(f"type = {abridged(kind)}; one of {', '.join(_READERS)} or Processed is required")
    return _READERS[kind](stated)


# --- laws, or laws by group ----------------------------------------------------------------------


def _by_group(laws: Any, *, grouped: bool, written: Callable[[Any], object]) -> object:  # noqa: ANN401  (any law)
    if not grouped:
        return written(laws)
    return {"groups": [[group, written(law)] for group, law in laws]}


def _group_from(document: Any, read: Callable[[Any], Law]) -> Law | dict[str, Law]:  # noqa: ANN401  (any JSON value)
    if isinstance(document, dict) and "groups" in document:
        return {group: read(law) for group, law in document["groups"]}
    return read(document)


def _written_stated(stated: Fraction | Between) -> object:
    if isinstance(stated, Between):
        return {"between": [written_number(stated.lower), written_number(stated.upper)]}
    return written_number(stated)


def _stated_from(document: Any) -> Fraction | Between:  # noqa: ANN401  (any JSON value)
    if isinstance(document, dict):
        lower, upper = document["between"]
        return Between(number_from(lower), number_from(upper))
    return number_from(document)


def _written_probabilities(query: PropertyQuery) -> Document:
    stated: Any = query.probabilities
    if query.is_uniform or isinstance(stated[0], tuple):
        return {"p": _by_group(stated, grouped=not query.is_uniform, written=_written_stated)}
    return {"p": [written_number(p) for p in stated]}


def _property_from(stated: Document) -> PropertyQuery:
    p = stated.pop("p")
    return PropertyQuery(list(map(number_from, p)) if isinstance(p, list) else _group_from(p, _stated_from), **stated)


def _written_cells(query: HistogramQuery) -> Document:
    return {"p": _by_group(query.cells, grouped=not query.is_uniform, written=lambda law: [*map(_written_stated, law)])}


def _histogram_from(stated: Document) -> HistogramQuery:
    cells: Any = _group_from(stated.pop("p"), lambda law: [*map(_stated_from, law)])
    return HistogramQuery(cells, **stated)


def _written_pmf(query: SumQuery | MeanQuery | OrderStatisticQuery) -> Document:
    return {
        "pmf": _by_group(
            query.pmf,
            grouped=not query.is_uniform,
            written=lambda law: [[written_number(value), _written_stated(mass)] for value, mass in law],
        )
    }


def _pmf_from(stated: Document) -> Any:  # noqa: ANN401  (a law, or one a group)
    return _group_from(stated.pop("pmf"), lambda law: {number_from(value): _stated_from(mass) for value, mass in law})


_QUERIES: dict[type, Callable[[Any], Document]] = {
    PropertyQuery: _written_probabilities,
    HistogramQuery: _written_cells,
    SumQuery: _written_pmf,
    MeanQuery: _written_pmf,
    OrderStatisticQuery: lambda query: {**_written_pmf(query), "rank": query.rank},
    LinearQuery: lambda query: {"matrix": [list(row) for row in query.matrix], "p": _written_stated(query.p)},
}
_READERS: dict[str, Callable[[Document], Query]] = {
    "PropertyQuery": _property_from,
    "HistogramQuery": _histogram_from,
    "SumQuery": lambda stated: SumQuery(_pmf_from(stated), **stated),
    "MeanQuery": lambda stated: MeanQuery(_pmf_from(stated), **stated),
    "OrderStatisticQuery": lambda stated: OrderStatisticQuery(_pmf_from(stated), stated.pop("rank"), **stated),
    "LinearQuery": lambda stated: LinearQuery(stated.pop("matrix"), _stated_from(stated.pop("p")), **stated),
}


# --- steps ---------------------------------------------------------------------------------------


def _written_step(step: Step) -> Document:
    if isinstance(step, Relabel):
        return {"type": "Table", "published": [[_written_answer(a), _written_answer(b)] for a, b in step.published]}
    if isinstance(step, noise.Truncated):
        return {
            "type": "Truncated",
            "noise": _written_step(step.noise),
            "lower": str(step.lower),
            "upper": str(step.upper),
        }
    kind = next(word for word, (made, _) in _PARAMETERS.items() if made is type(step))
    parameters = {name: getattr(step, name) for name in _PARAMETERS[kind][1]}
    numbers = {name: written_number(Fraction(value)) for name, value in parameters.items() if value is not None}
    return {"type": kind, **numbers}


def _step_from(document: Document) -> Step:
    stated = dict(document)
    kind = stated.pop("type")
    if kind == "Table":
        return Relabel({_answer_from(answer): _answer_from(instead) for answer, instead in stated["published"]})
    if kind == "Truncated":
        inner = cast("noise.DiscreteNoise", _step_from(stated["noise"]))
        return noise.Truncated(inner, number_from(stated["lower"]), number_from(stated["upper"]))
    if kind not in _PARAMETERS:
        raise ArgumentError(f"type = {abridged(kind)}; one of {', '.join(_PARAMETERS)}, Table or Truncated is required")
    return _PARAMETERS[kind][0](**{name: number_from(value) for name, value in stated.items()})


_PARAMETERS: dict[str, tuple[Callable[..., Step], tuple[str, ...]]] = {
    "Threshold": (Threshold, ("above",)),
    "Gate": (RangeGate, ("lower", "upper")),
    "Rounding": (Rounding, ("base",)),
    "Clamping": (Clip, ("lower", "upper")),
    "DiscreteLaplace": (noise.DiscreteLaplace, ("alpha", "scale")),
    "DiscreteGaussian": (noise.DiscreteGaussian, ("sigma",)),
    "Laplace": (noise.Laplace, ("scale",)),
    "Gaussian": (noise.Gaussian, ("sigma",)),
    "Binomial": (noise.Binomial, ("trials", "p")),
}
"""What makes each step, and the names of its numbers."""


def _written_answer(answer: object) -> object:
    """An answer of a table: a number, a text, or None where it is suppressed."""
    if answer is None:
        return None
    if isinstance(answer, int | Fraction):
        return {"number": written_number(Fraction(answer))}
    if isinstance(answer, str):
        return {"text": answer}
    raise ArgumentError(f"{abridged(answer)} in a Relabel cannot be written as JSON; numbers, strings and None can")


def _answer_from(document: Any) -> Any:  # noqa: ANN401  (any JSON value)
    if document is None:
        return None
    return document["text"] if "text" in document else number_from(document["number"])
