"""The one way to write and read what a user says: queries, steps, populations, adversaries, samplings, partitions.

A value is a table of plain data, the same in TOML, in JSON and in a ledger:

.. code-block:: toml

    query = { kind = "property", probability = "0.4..0.6", attribute = "smoker" }
    query = { kind = "histogram", cells = ["0.2", ["0.3", "0.4"], "0.45"] }
    query = { kind = "sum", pmf = { 0 = "1/2", 5 = "1/2" }, steps = [{ kind = "rounding", base = 5 }] }
    sampling = { kind = "poisson", rate = "1/4" }

A probability is a number or a range of two; the text ``"each 0.4..0.6"`` is a range in which every entry has a
probability of its own. A table in its place has one for each group of the population, and the key
`probabilities` has one for each entry. Each kind of value has one entry in this file. A value whose type has none
cannot be written.

Version 1 of these documents named types and arguments as Python does: ``{"type": "PropertyQuery", "p": "1/2"}``. It is
read too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

from statpriv.errors import ArgumentError
from statpriv.model import contingency_fields
from statpriv.model.adversaries import Adversary
from statpriv.model.fields import (
    COUNT,
    LABEL,
    PROBABILITY,
    RANGE,
    SIZE,
    TRUTH,
    Field,
    Range,
    Record,
    Value,
    by_group,
    by_name,
    definition,
    is_by_group,
    list_of,
    listed,
    range_from,
    table_from,
    text_from,
    written_number,
)
from statpriv.model.kinds import Family, Kind, Slot, slot
from statpriv.model.partitions import ClusterPartition, MultinomialPartition, PartitionLaw, RandomPartition
from statpriv.model.populations import Population
from statpriv.model.queries.contingency import ContingencyTable
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.linear import LinearQuery
from statpriv.model.queries.order_statistic import OrderStatisticQuery
from statpriv.model.queries.processed import PostProcessed, Step
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.queries.sum import MeanQuery, SumQuery
from statpriv.model.ranges import Between, EachBetween, Stated, as_stated, ends, is_each
from statpriv.model.same_rows import SameRows
from statpriv.model.samplings import (
    ClusterSample,
    OverlappingSamples,
    PoissonSampling,
    Stratified,
    TemplateLaw,
    WithoutReplacement,
    WithReplacement,
)
from statpriv.model.situation import Query
from statpriv.model.step_fields import STEP
from statpriv.numeric.arguments import is_list, is_mapping
from statpriv.numeric.exact import as_fraction
from statpriv.numeric.literals import abridged

# --- probabilities and laws ----------------------------------------------------------------------


def stated_range(ends: Range, *, each: bool = False) -> Stated:
    """The range as queries take it; one of a single point is that probability."""
    kind = EachBetween if each else Between
    return ends[0] if ends[0] == ends[1] else kind(*ends)


_EACH = "each "
"""What stands before a range in which every entry has a probability of its own."""


def _stated(value: Value) -> Stated:
    if isinstance(value, str) and value.startswith(_EACH):
        return as_stated(EachBetween(*range_from(value.removeprefix(_EACH))), "probability")
    return stated_range(range_from(value))


def _written_stated(stated: Stated) -> Value:
    low, high = ends(stated)
    if is_each(stated):
        return f"{_EACH}{written_number(low)}..{written_number(high)}"
    return written_number(low) if low == high else RANGE.write((low, high))


STATED = Field(_stated, RANGE.allowed, RANGE.schema, _written_stated)
"""A probability or a range of one, as queries take it."""
ENDS = replace(STATED, write=lambda stated: RANGE.write(ends(stated)))
"""The same, written with both ends even where they are equal, as releases do."""

_CELLS = list_of(STATED, "a list of probabilities, numbers or ranges, that can add up to 1", least=2)


def _law(table: Value) -> dict[Fraction, Stated]:
    return {as_fraction(value, "a value"): STATED.read(mass) for value, mass in table_from(table).items()}


_LAW = Field(
    _law,
    "a table from each value to its probability",
    {"type": "object", "minProperties": 1, "additionalProperties": STATED.schema},
    lambda law: {written_number(value): _written_stated(mass) for value, mass in law},
)


def _laws(table: Value) -> object:
    """One law; or one for each group, where every value of the table is a table."""
    inner = table_from(table).values()
    nested = all(hasattr(law, "keys") for law in inner) and bool(inner)
    return {group: _law(law) for group, law in table.items()} if nested else _law(table)


_LAWS = Field(_laws, f"{_LAW.allowed}, or one for each group", by_group(_LAW).schema, by_group(_LAW).write)

# --- queries -------------------------------------------------------------------------------------


def _query(
    made: type[Any],
    slots: Mapping[str, Slot],
    one_of: tuple[str, ...] = (),
    build: Callable[..., Any] | None = None,
) -> Kind:
    def make(*, steps: tuple[Step, ...] = (), **stated: Any) -> Query:  # noqa: ANN401  (the fields of the query)
        asked = build(**stated) if build else made(**{key: by_name(given) for key, given in stated.items()})
        return PostProcessed(asked, *steps) if steps else cast("Query", asked)

    return Kind(made, {**slots, **_LABELS, "steps": _AFTERWARDS}, make, one_of)


_AFTERWARDS = Slot(
    list_of(STEP, "a list of steps", least=1).optional().described("first applied first"), "steps", lambda _: None
)
_LABELS = {
    "attribute": slot(LABEL.optional().described("queries with the same attribute ask the same"), "attribute"),
    "name": slot(LABEL.optional().described("a label; it proves nothing"), "name"),
}
_RANK = Field(
    lambda value: value if value in ("minimum", "median", "maximum") else SIZE.read(value),
    'a whole number from 1, "minimum", "median" or "maximum"',
    {"anyOf": [SIZE.schema, {"enum": ["minimum", "median", "maximum"]}]},
)
_MATRIX = Field(
    listed,
    "a list of rows of 0 and 1",
    {"type": "array", "minItems": 1, "items": {"type": "array", "items": {"enum": [0, 1]}}},
    lambda matrix: [list(row) for row in matrix],
)


def _is_by_entry(query: PropertyQuery) -> bool:
    return not query.is_uniform and not is_by_group(query.probabilities)


_QUERIES = Family(
    "query",
    "queries",
    {
        "property": _query(
            PropertyQuery,
            {
                "probability": Slot(
                    by_group(STATED).optional(),
                    "p",
                    lambda query: None if _is_by_entry(query) else query.probabilities,
                ),
                "probabilities": Slot(
                    list_of(PROBABILITY, "a list with the probability of each entry", least=1).optional(),
                    "p",
                    lambda query: query.probabilities if _is_by_entry(query) else None,
                ),
            },
            one_of=("probability", "probabilities"),
        ),
        "histogram": _query(HistogramQuery, {"cells": slot(by_group(_CELLS), "cells", "p")}),
        "sum": _query(SumQuery, {"pmf": slot(_LAWS, "pmf")}),
        "mean": _query(MeanQuery, {"pmf": slot(_LAWS, "pmf")}),
        "order-statistic": _query(OrderStatisticQuery, {"pmf": slot(_LAWS, "pmf"), "rank": slot(_RANK, "rank")}),
        "contingency-table": _query(
            ContingencyTable,
            {
                **contingency_fields.SLOTS,
                "p": Slot(
                    list_of(STATED, "a list with the probability of each cell or its range", least=2).optional(),
                    "p",
                    lambda table: table.p,
                ),
            },
            one_of=("dimensions", "number_of_cells"),
            build=contingency_fields.contingency_table,
        ),
        "linear": _query(LinearQuery, {"matrix": slot(_MATRIX, "matrix"), "probability": slot(STATED.optional(), "p")}),
    },
)


def written_query(query: Query) -> dict[str, Value]:
    """The table of a query.

    Raises
    ------
    ArgumentError
        A query of the user's own, or a table of answers other than numbers, strings and None.

    Examples
    --------
    >>> import statpriv as sp
    >>> written_query(sp.PropertyQuery("1/2", attribute="smoker").rounded(5))
    {'kind': 'property', 'probability': '0.5', 'attribute': 'smoker', 'steps': [{'kind': 'rounding', 'base': '5'}]}
    """
    if isinstance(query, PostProcessed):
        return {**_QUERIES.write(query.query), "steps": [STEP.write(step) for step in query.steps]}
    return _QUERIES.write(query)


def query_from(document: Value) -> Query:
    """The query of a table, in today's words or in those of version 1.

    >>> query_from({"kind": "property", "probability": {"f": "0.4..0.6", "m": "1/2"}})
    PropertyQuery({'f': Between('2/5', '3/5'), 'm': 0.5})
    """
    return cast("Query", _QUERIES.read(_renewed(document)))


QUERY = replace(_QUERIES.field, read=query_from, write=written_query)
"""A query of any kind, with the steps after it."""


def without_name(query: Query) -> dict[str, Any]:
    """The document of a query without its label: the plan author chooses the label, and the theory ignores it."""
    document = written_query(query)
    document.pop("name", None)
    return document


# --- who is asked, and who looks on --------------------------------------------------------------

_SIZES = by_group(SIZE)
_CLUSTERED = Record(
    {
        "size": SIZE.described("entries, the critical one included"),
        "clusters": SIZE.described("clusters, such as households"),
        "largest_cluster": SIZE.described("no cluster has more entries"),
    }
)


def is_clustered(value: Value) -> bool:
    """Whether a table states clusters: these three keys are no names of groups."""
    return is_mapping(value) and set(value) == set(_CLUSTERED.fields)


def _population(value: Value) -> Population:
    if is_clustered(value):
        return Population(**_CLUSTERED.strictly(value))
    return Population(value) if isinstance(value, int) else Population(groups=table_from(value))


def _written_population(population: Population) -> Value:
    if population.clusters is not None:
        return _CLUSTERED.write(vars(population))
    return _SIZES.write(population.groups or population.size)


POPULATION = Field(
    _population,
    f"{_SIZES.allowed}, or a table with size, clusters and largest_cluster",
    {"anyOf": [*_SIZES.schema["anyOf"], _CLUSTERED.schema]},
    _written_population,
)
"""The number of entries, that of each group, or entries in clusters."""

_SAMPLE = Field(
    lambda value: None if value == "all" else SIZE.read(value),
    'a whole number from 1 to 2^53, or "all"',
    {"anyOf": [SIZE.schema, {"const": "all"}]},
    lambda size: "all" if size is None else size,
)
_SAME_ROWS = Record(
    {
        "protects": Field(text_from, "attribute or row", {"enum": ["attribute", "row"]}),
        "independent": TRUTH.optional(absent=False).described("the attributes of one row are declared independent"),
        "samples": list_of(_SAMPLE, 'a list of sizes, or "all"', least=1)
        .optional()
        .described("the size of a secret sample for each query, or all entries"),
    }
)


def _same_rows(value: Value) -> SameRows:
    return SameRows(**_SAME_ROWS.strictly(value if is_mapping(value) else {"protects": value}))


SAME_ROWS = Field(
    _same_rows,
    "attribute or row, or a table with protects, independent and samples",
    {"anyOf": [{"enum": ["attribute", "row"]}, _SAME_ROWS.schema]},
    lambda same: _SAME_ROWS.write(vars(same)) if same.independent or same.samples else same.protects,
)
"""All entries answer every query, and what is protected of them."""

KNOWN = by_group(COUNT)
VALUES = Field(text_from, "worst or expected", {"enum": ["worst", "expected"]})
_ADVERSARY = Record(
    {
        "known": KNOWN.optional(0).described("entries that an adversary knows, or those of each group"),
        "values": VALUES.optional("worst").described("the worst values of these, or the expected ones"),
    }
)


def _adversary(value: Value) -> Adversary:
    stated = _ADVERSARY.strictly(value)
    return Adversary(known=by_name(stated["known"]), values=stated["values"])


ADVERSARY = Field(
    _adversary,
    "a table with known and values",
    _ADVERSARY.schema,
    lambda adversary: _ADVERSARY.write({"known": adversary.known, "values": adversary.values}),
)

# --- samplings and partitions --------------------------------------------------------------------

_TEMPLATE = Field(
    lambda entries: tuple(listed(entries)), "a list of entries", {"type": "array", "items": COUNT.schema}, list
)
_PARTS = list_of(_TEMPLATE, "a list of parts, each a list of entries")


def _distribution(outcome: Field) -> Field:
    """The probability of each outcome of a law."""
    return Field(
        lambda pairs: {outcome.read(stated): PROBABILITY.read(mass) for stated, mass in listed(pairs)},
        "a list of pairs, an outcome and its probability,",
        {
            "type": "array",
            "minItems": 1,
            "items": {"type": "array", "prefixItems": [outcome.schema, PROBABILITY.schema], "minItems": 2},
        },
        lambda law: [[outcome.write(stated), written_number(mass)] for stated, mass in law],
    )


def _kind(made: type[Any], **fields: Field) -> Kind:
    """A kind whose keys are the attributes of the value, and the arguments of its constructor."""

    def make(**stated: Any) -> object:  # noqa: ANN401  (the fields of the kind)
        return made(**{key: by_name(given) for key, given in stated.items()})

    return Kind(made, {key: slot(field, key) for key, field in fields.items()}, make)


_SAMPLINGS = Family(
    "sampling",
    "samplings",
    {
        "without-replacement": _kind(WithoutReplacement, size=SIZE),
        "with-replacement": _kind(WithReplacement, size=SIZE),
        "poisson": _kind(PoissonSampling, rate=PROBABILITY, size_published=TRUTH.optional(absent=False)),
        "stratified": _kind(Stratified, sizes=by_group(COUNT)),
        "overlapping": _kind(OverlappingSamples, sizes=list_of(SIZE, "a list of sizes", least=1)),
        "clusters": _kind(ClusterSample, size=SIZE),
        "template-law": _kind(TemplateLaw, probabilities=_distribution(_TEMPLATE)),
    },
)
SAMPLING = _SAMPLINGS.field
"""How a sample of the entries is drawn."""


def _random_partition(sizes: Iterable[Any]) -> RandomPartition:
    return RandomPartition([by_name(size) for size in sizes])


_PARTITIONS = Family(
    "partition",
    "partitions",
    {
        "random": Kind(
            RandomPartition,
            {
                "sizes": Slot(
                    list_of(by_group(SIZE, COUNT), "a list of sizes, or of one for each group", least=1),
                    "sizes",
                    lambda partition: partition.strata or partition.sizes,
                )
            },
            _random_partition,
        ),
        "multinomial": _kind(
            MultinomialPartition,
            weights=list_of(PROBABILITY, "a list of probabilities", least=1),
            sizes_published=TRUTH.optional(absent=False),
        ),
        "clusters": _kind(ClusterPartition, sizes=list_of(SIZE, "a list of numbers of clusters", least=1)),
        "partition-law": _kind(PartitionLaw, probabilities=_distribution(_PARTS)),
    },
)
PARTITION = _PARTITIONS.field
"""Which entries answer which query."""

# --- version 1 -----------------------------------------------------------------------------------

_WORDS = {
    "PropertyQuery": "property",
    "HistogramQuery": "histogram",
    "SumQuery": "sum",
    "MeanQuery": "mean",
    "OrderStatisticQuery": "order-statistic",
    "LinearQuery": "linear",
    "Threshold": "threshold",
    "Gate": "gate",
    "Rounding": "rounding",
    "Clamping": "clip",
    "Table": "relabel",
    "DiscreteLaplace": "discrete-laplace",
    "DiscreteGaussian": "discrete-gaussian",
    "Binomial": "binomial",
    "Truncated": "truncated",
    "Laplace": "laplace",
    "Gaussian": "gaussian",
}

_FORMER = Record(
    {
        "type": Field(text_from, "a type", {"enum": [*_WORDS, "Processed"]}),
        **{key: Field(dict, "a law", {"type": ["string", "array", "object"]}, absent=None) for key in ("p", "pmf")},
        "rank": _RANK.optional(),
        "matrix": _MATRIX.optional(),
        "query": Field(dict, "a query", {"$ref": "#/$defs/query_1"}, absent=None),
        "steps": Field(
            list,
            "a list of steps",
            {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["type"]}},
            absent=None,
        ),
        "attribute": LABEL.optional(),
        "name": LABEL.optional(),
    },
    "a query as version 1 wrote it",
)
KEPT_QUERY = replace(QUERY, schema={"anyOf": [QUERY.schema, definition("query_1", _FORMER.schema)]})
"""A query of a file that version 1 may have written."""


def _renewed(document: Value) -> Value:
    """A query or a step of version 1 in today's words; every other document as it is."""
    if "type" not in table_from(document):
        return document
    stated = dict(document)
    named = stated.pop("type")
    if named == "Processed":
        return {**_renewed(stated["query"]), "steps": [_renewed(step) for step in stated["steps"]]}
    if named not in _WORDS:
        raise ArgumentError(f"type = {abridged(named)}; one of {', '.join(_WORDS)} or Processed is required")
    if "noise" in stated:
        stated["noise"] = _renewed(stated["noise"])
    word = _WORDS[named]
    if "p" in stated and word in _QUERIES.kinds:
        p = stated.pop("p")
        of_entries = "cells" if word == "histogram" else "probabilities"
        stated[of_entries if word == "histogram" or is_list(p) else "probability"] = _renewed_law(p)
    if "pmf" in stated:
        stated["pmf"] = _renewed_law(stated["pmf"])
    return {"kind": word, **stated}


def _renewed_law(law: Value) -> Value:
    if is_mapping(law):
        between: Value = law.get("between")
        return {group: _renewed_law(inner) for group, inner in law["groups"]} if between is None else between
    if not is_list(law):
        return law
    pairs = all(len(inner) == 2 and type(inner) is list for inner in law)
    return {value: _renewed_law(mass) for value, mass in law} if pairs else list(map(_renewed_law, law))
