"""The facts that a report states: its plan, its place in the ledger, and the published counts.

Everything else in a report follows from these. They are read into the values that a release itself works with, so that
:mod:`statpriv.releasing.recomputation` calls the functions that wrote the report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from statpriv.composition.cohorts import Cohort
from statpriv.errors import ArgumentError
from statpriv.files.composition import Part, read_parts
from statpriv.model.codec import stated_range
from statpriv.model.fields import is_by_group
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.situation import Query
from statpriv.model.step_fields import publication_steps
from statpriv.numeric.arguments import is_mapping
from statpriv.releasing.classification import EVERYTHING_ELSE
from statpriv.releasing.exact_tables import TableAnswer
from statpriv.releasing.guarantee import Guarantee
from statpriv.releasing.history import namesake_of
from statpriv.releasing.ledger import DataSet, PastRelease, Position, Rows
from statpriv.releasing.plan import DataSource, Plan, StatedColumn
from statpriv.releasing.plan_file import plan_of
from statpriv.releasing.sql_text import quoted
from statpriv.releasing.steps import PublishedCount, StatedQuery, expected_counts

__all__ = [
    "groups_of",
    "misfits",
    "past_contradictions",
    "plan_facts",
    "position_of",
    "published_counts",
    "published_tables",
]

_WRITTEN = {"yes": True, "no": False, "not stated": None}


def plan_facts(report: Mapping[str, Any]) -> Plan:
    """The plan, checked by the rules for plan files.

    Raises
    ------
    PlanError
        If no plan could state this.
    """
    data, target = report["data"], report["guarantee"]
    keys = ("row_id", "group", "group_source", "unit", "units", "largest_unit", "unit_source")
    named = {key: data[key] for key in keys if data.get(key) is not None}
    written, prior = _WRITTEN[report["plan"]["written_before_access"]], report["plan"]["prior"]
    tables = {
        "data": {"source": "table", **named},
        "guarantee": {
            "epsilon": target["epsilon_exact"],
            "delta": target["target_delta_exact"],
            "known_rows": target["known_rows"],
            **({} if written is None else {"written_before_access": written}),
        },
        **({} if (protects := _protected(report)) is None else {"publication": {"rows": "same", "protects": protects}}),
        "query": [_query_table(query, of_parts=protects is None) for query in report["queries"]],
        "table": [_exact_table(table, of_parts=protects is None) for table in report.get("tables", ())],
        **({} if prior == "not stated" else {"prior": prior if prior == "none" else list(map(_prior, prior))}),
    }
    columns = tuple(map(_column, data.get("columns", ())))
    source = DataSource(path=None, label=data["source"], engine=data["engine"], columns=columns, **named)
    return plan_of(tables, "the plan by the report", data=source, sha256=report["plan"]["sha256"])


def _column(stated: Mapping[str, Any]) -> StatedColumn:
    ends = None if stated["range"] is None else tuple(stated["range"])
    return StatedColumn(stated["column"], tuple(stated["codes"]), ends, stated["source"])


def _prior(publication: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in publication.items() if value is not None}


def _protected(report: Mapping[str, Any]) -> str | None:
    """What is protected where all rows answer every query; None where they do not."""
    protects: str | None = report["guarantee"].get("protects")
    return protects


def _query_table(query: Mapping[str, Any], *, of_parts: bool) -> dict[str, Any]:
    steps, cells, groups = query["publication"], query["cells"], query["groups"]
    ranges = None if groups is None else {group["group"]: _ends(group["probability"]) for group in groups}
    asked: dict[str, Any] = {
        "where": query["where"],
        "probability": _ends(query["probability"]) if ranges is None else ranges,
    }
    if cells is not None:
        declared = [
            {**_chosen(cell, "name", "where"), "probability": _ends(cell["probability"])} for cell in cells[:-1]
        ]
        asked = {"cell": declared, **{key: value for key, value in asked.items() if value is not None}}
    return {
        **_chosen(query, "name", "source"),
        **asked,
        "each": query.get("each", False),
        **({"rows": _sizes(groups) or query["size"]} if of_parts else {}),
        "gate": any(gate is not None for gate in (steps["gate"], *(cell["gate"] for cell in cells or ()))),
        "rounded_to": 1 if steps["rounded_to"] is None else steps["rounded_to"],
        "suppressed_below": 0 if steps["suppressed_below"] is None else steps["suppressed_below"],
    }


def _sizes(groups: Sequence[Mapping[str, Any]] | None) -> dict[str, int]:
    """The rows of each group of a stratified plan; empty for any other."""
    return {group["group"]: group["size"] for group in groups or () if group["size"] is not None}


def _exact_table(table: Mapping[str, Any], *, of_parts: bool) -> dict[str, Any]:
    """A table with the labels of its categories as their values; nothing else in a report depends on the values."""
    finest = table.get("ladder", table)
    dimensions: dict[str, Any] = {
        name: [EVERYTHING_ELSE if label == EVERYTHING_ELSE else {"values": [label], "label": label} for label in labels]
        for name, labels in finest["dimensions"].items()
    }
    for name, groupings in finest.get("recode", {}).items():
        recode = [{group["label"]: group["categories"] for group in grouping} for grouping in groupings]
        dimensions[name] = {"values": dimensions[name], "recode": recode}
    optional = ("by", "by_source", "each", "source", "nested")
    stated = {key: value for key in optional if (value := table.get(key)) is not None} | _ranges(table)
    sized = _chosen(table, "rows") if of_parts else {}
    asked = {**_chosen(table, "name", "minimum"), **sized, "minima": finest.get("minima", [])}
    return {**asked, **stated, "impossible": finest["impossible"], "dimensions": dimensions}


def _ranges(table: Mapping[str, Any]) -> dict[str, Any]:
    """The declared ranges of the cells, if there are any."""
    if "probability" not in table:
        return {}
    own = [{"cell": one["cell"], "probability": _ends(one["probability"])} for one in table["probabilities"]]
    return {"probability": _ends(table["probability"]), "probabilities": own}


def published_tables(report: Mapping[str, Any]) -> list[TableAnswer]:
    """What is published of each table; empty if nothing was released."""
    tables = report.get("tables", ())
    return [] if report["release"] is None else list(map(TableAnswer.from_document, tables))


def _chosen(table: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: table[key] for key in keys}


def _ends(stated: Mapping[str, str] | None) -> list[str] | None:
    return None if stated is None else [stated["lower"], stated["upper"]]


def groups_of(report: Mapping[str, Any]) -> dict[str, int] | None:
    """The number of rows of each group of a stratified plan; None without groups."""
    return dict(report["composition"]["population"]) if report["data"]["group"] is not None else None


def position_of(report: Mapping[str, Any], *, once: bool) -> Position:
    """The place of the table in the ledger, as far as a report depends on it.

    Raises
    ------
    ArgumentError
        If the history has parts that no release could have had.
    """
    rows, past = (
        Rows(report["data"]["rows"]),
        tuple(_past(k, entry) for k, entry in enumerate(report["history"], start=1)),
    )
    nothing = np.zeros(0, np.bool_)
    if not past:
        return Position(rows, None, nothing, namesake=namesake_of(report["warnings"]))
    data_set = DataSet(1, report["data"]["row_id"] is not None, once, _cohorts(report), past)
    return Position(rows, data_set, nothing, content_edited=report["data"]["content_edited"])


def _cohorts(report: Mapping[str, Any]) -> tuple[Cohort, ...]:
    return tuple(Cohort(cohort["rows"], cohort["since_release"] - 1) for cohort in report["ledger"]["cohorts"])


def _past(k: int, entry: Mapping[str, Any]) -> PastRelease:
    return PastRelease(
        number=entry["number"],
        release_id=entry["release_id"],
        queries=tuple(map(_query, past_parts(k, entry))),
        sizes=tuple(part["size"] for part in entry["part"]),
        stated=tuple(map(_stated, entry["queries"])),
        plan_sha256="",
        day="",
    )


def past_parts(k: int, entry: Mapping[str, Any]) -> tuple[Part, ...]:
    """The parts of earlier release `k`.

    Raises
    ------
    ArgumentError
        If a part is stated by group, or is none.
    """
    faults: list[str] = []
    parts = read_parts(entry["part"], f"history[{k}].part", faults)
    if faults or any(is_by_group(part.size) for part in parts):
        raise ArgumentError("; ".join(faults) or "history.part is by group, and such a table is released once only")
    return parts


def _query(part: Part) -> Query:
    """The query that :func:`statpriv.releasing.contents.written_part` wrote."""
    if part.asked is not None:
        return part.asked
    ranges: Any = [stated_range(ends, each=part.each) for ends in part.ranges]
    if part.cells is not None:
        return HistogramQuery(ranges, attribute=part.attribute)
    asked = PropertyQuery(ranges[0], attribute=part.attribute)
    steps = publication_steps(part.gate, part.suppressed_below, part.rounded_to)
    return PostProcessed(asked, *steps) if steps else asked


def _stated(query: Mapping[str, Any]) -> StatedQuery:
    steps = _chosen(query, "gates", "suppressed_below", "rounded_to")
    predicate = next((query[key] for key in ("where", "cells", "table") if key in query), "")
    return StatedQuery.from_document({"predicate": predicate, **steps})


def published_counts(report: Mapping[str, Any], guarantee: Guarantee) -> list[list[PublishedCount]]:
    """The published counts of each part, of a histogram those of its cells."""
    answers = iter(report["answers"])
    return [
        [
            PublishedCount(answer["count"], withheld=answer["withheld"], suppressed=answer["suppressed"])
            for answer in islice(answers, len(part.steps.expected))
        ]
        for part in guarantee.counted
    ]


# --- facts that do not fit together --------------------------------------------------------------


def misfits(report: Mapping[str, Any]) -> Iterator[str]:
    """Facts between which nothing could be computed."""
    cohorts, history = _cohorts(report), report["history"]
    rows, joined = report["data"]["rows"], [cohort.joined_after for cohort in cohorts]
    total = sum(cohort.rows for cohort in cohorts)
    if total != rows:
        yield f"data.rows is {rows}, but ledger.cohorts.rows add up to {total}"
    if joined[0] != 0 or joined != sorted(set(joined)) or joined[-1] > len(history):
        yield "ledger.cohorts.since_release is not in order, from release 1 to at most this one"
    groups = report["composition"]["population"] if report["data"]["group"] is not None else None
    if groups is not None and not (is_mapping(groups) and sum(groups.values()) == rows):
        yield f"composition.population is not, by data.group, of groups whose rows add up to data.rows, {rows}"
    named = {"data.group": groups, "data.units": report["data"].get("units"), "guarantee.protects": _protected(report)}
    if history and (alone := [key for key, value in named.items() if value is not None]):
        yield f"history has earlier releases beside {alone[0]}, but such a table is released once only"
    if report["dry_run"] and (history or len(cohorts) > 1):
        yield "dry_run is true, which looks into no ledger, but there are history or ledger.cohorts"
    for k, entry in enumerate(history, start=1):
        if len(entry["part"]) != len(entry["queries"]):
            yield f"history[{k}].part and history[{k}].queries differ in number"
    asked = sum(len(query["cells"] or "1") for query in report["queries"])
    if (report["answers"] or report["release"] is not None) and len(report["answers"]) != asked:
        yield f"answers are {len(report['answers'])}, but queries and queries.cells ask for {asked}"
    yield from _too_few(cohorts, [*map(_rows_of, history), _rows_asked(report)])


def _rows_asked(report: Mapping[str, Any]) -> int:
    if _protected(report) is not None:
        return int(report["data"]["rows"])
    of_tables: int = sum(table["rows"] for table in report.get("tables", ()))
    return of_tables + sum(int(query["size"]) for query in report["queries"])


def _rows_of(entry: Mapping[str, Any]) -> int:
    return sum(part["size"] for part in entry["part"] if not is_mapping(part["size"]))


def _too_few(cohorts: Sequence[Cohort], used: Sequence[int]) -> Iterator[str]:
    """Where a release did not find as many rows that no earlier one had used."""
    for r, rows in enumerate(used):
        left = sum(cohort.rows for cohort in cohorts if cohort.joined_after <= r) - sum(used[:r])
        if rows > left:
            where = f"history[{r + 1}].part.size" if r + 1 < len(used) else "queries.size"
            yield (
                f"{where} uses {rows} rows, but by ledger.cohorts.rows, ledger.cohorts.since_release and "
                f"history.part.size {left} were left"
            )


def past_contradictions(report: Mapping[str, Any], plan: Plan) -> Iterator[str]:
    """What history says of a query and not of its part, and gates and ranges that no plan led to."""
    attained: dict[str, list[bool]] = {}
    for k, entry in enumerate(report["history"], start=1):
        for j, (query, part) in enumerate(zip(entry["queries"], past_parts(k, entry), strict=True), start=1):
            place, own = f"history[{k}].queries[{j}]", f"history[{k}].part[{j}]"
            asked = "where" if "where" in query else "cells"
            if ("table" in query) != (part.asked is not None):
                yield f"{place}.table is there exactly if {own}.query is"
            if (
                "table" not in query
                and part.attribute != query.get(asked)
                and not (part.attribute is None and part.gate is not None)
            ):
                yield f"{place}.{asked} is not what {own}.attribute asks"
            yield from _steps_apart(query, part, place, own)
            if part.attribute is not None:
                attained.setdefault(part.attribute, []).extend(_attained(query, part, plan))
    for attribute, ends in attained.items():
        if not (any(ends[::2]) and any(ends[1::2])):
            yield f"history.part.probability of {quoted(attribute)} is wider than any release can have declared it"


def _steps_apart(query: Mapping[str, Any], part: Part, place: str, own: str) -> Iterator[str]:
    gates = None if query["gates"] is None else [(gate["lower"], gate["upper"]) for gate in query["gates"]]
    if part.gate is not None and gates != [part.gate]:
        yield f"{place}.gates are not {own}.gate"
    for step in ("suppressed_below", "rounded_to"):
        if getattr(part, step) not in (None, query[step]):
            yield f"{own}.{step} is not {place}.{step}"
    expected = _expected(part)
    inside = [low <= least <= most <= high for (low, high), (least, most) in zip(expected, gates or (), strict=False)]
    if gates is not None and not (all(inside) and len(gates) == len(expected)):
        yield f"{place}.gates are not within the counts that {own} leads to expect"


def _expected(part: Part) -> list[tuple[int, int]]:
    return [expected_counts([(part.entries, ends)]) for ends in part.ranges]


def _attained(query: Mapping[str, Any], part: Part, plan: Plan) -> tuple[bool, bool]:
    """Whether this query, or the plan, may have declared the least and the greatest end of the part's hull.

    The gate of a query tells what its plan declared. Without a gate it may have declared anything within the hull.
    """
    gates = query["gates"]
    own = [plan.hulls(asked[0]) for attribute, asked in plan.properties.items() if attribute == part.attribute]
    if gates is None or part.cells is not None:
        return True, True
    ((least, most),), ((low, high),) = _expected(part), part.ranges
    return (
        gates[0]["lower"] == least or any(hull[0][0] <= low for hull in own),
        gates[0]["upper"] == most or any(hull[0][1] >= high for hull in own),
    )
