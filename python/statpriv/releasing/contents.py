"""The contents of a report: a function of the plan, the number of rows and the released counts only."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any

import statpriv
from statpriv import budget
from statpriv.errors import ArgumentError
from statpriv.model.queries.property import PropertyQuery
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.literals import literal
from statpriv.numeric.parallel import on_all_processors
from statpriv.releasing.accuracy import (
    Stratum,
    confidence_interval,
    imbalance,
    root_mean_squared_error,
    stratified_interval,
)
from statpriv.releasing.exact_tables import TableAnswer
from statpriv.releasing.guarantee import AS_GOOD_AS_NONE, Guarantee
from statpriv.releasing.leaks import block, leaks
from statpriv.releasing.ledger import ReleaseRecord
from statpriv.releasing.other_people import OtherPeople, other_people
from statpriv.releasing.part import Part
from statpriv.releasing.plan import LAST_CELL, DataSource, PlannedQuery
from statpriv.releasing.sql_text import quoted
from statpriv.releasing.stated_ranges import has_cells, written_range
from statpriv.releasing.steps import PublishedCount
from statpriv.releasing.table_contents import (
    answered_tables,
    assumptions_of_tables,
    known_rows_of_interest,
    prospective_tables,
    warnings_of_tables,
)
from statpriv.releasing.withholding import withheld_at_most
from statpriv.releasing.written_composition import written_composition
from statpriv.theories.differential import kairouz_variance
from statpriv.theories.differential.gaussian import gaussian_deviation

__all__ = ["Progress", "answered_contents", "prospective_contents", "released_contents"]

_PROOF = ["statpriv verify report.json --certificates proofs", "python -I -m statpriv.checker proofs/claim-1.json"]
_KNOWN_SHARES = [Fraction(k, 100) for k in (1, 2, 5, 10, 15, 20, 30, 40, 50, 60, 75, 90)]
_STEPS_TO_TARGET, _STEPS_IF_LARGE = 5, 3
"""Points of the curve of δ against ε up to the target's ε, and the same of a large table."""
_CELLS_CHANGED = 2
"""Cells of a table that change with one row."""
_CELLS_ARE_PROPORTIONS = " An exact table counts as two of them: one changed row changes two of its cells."
_AT_ONCE = 4
"""Points of that curve that are computed in parallel."""
_RESOLUTION, _RESOLUTION_IF_COSTLY = 48, 24
"""Steps of the curves of δ against p."""
_MAX_PROPERTY_CURVES = 12
_WHOSE_ROWS = "one row is one person"
_WHOSE_UNITS = (
    "the rows of a person or household are in one unit, and everything of one unit is protected together; the number "
    "of units and the size of the largest are public"
)
_COUNTS_OF_PARTS_KNOWN = (
    "people of whom a reader knows which part they are in: for them “partition known” is the number that counts"
)

Progress = Callable[[str], None]


def prospective_contents(
    guarantee: Guarantee, *, alone: Guarantee | None = None, rows_left: int, dry_run: bool, progress: Progress
) -> dict[str, Any]:
    """The report without answers, which is known before any row is spent.

    Parameters
    ----------
    guarantee : Guarantee
        The guarantee from the plan and the number of rows.
    alone : Guarantee, optional
        For a later release: the guarantee on the unspent rows, to which curves and tables refer.
    rows_left : int
        Number of rows of the table that no release has used.
    dry_run : bool
        Whether the report ends here.
    progress : callable
        Called with a description of each computation.
    """
    plan, alone = guarantee.plan, alone or guarantee
    deltas = alone.deltas(known=plan.guarantee.known_rows, epsilon=guarantee.epsilon)
    progress("curves of the guarantee")
    curves = {"epsilon": _epsilon_curve(alone), "probability": _probability_curves(alone)}
    progress("dependence on known rows")
    degradation = _degradation(alone)
    return {
        "statpriv": statpriv.__version__,
        "release": None,
        "dry_run": dry_run,
        "plan": {
            "sha256": plan.sha256,
            "written_before_access": {None: "not stated", True: "yes", False: "no"}[plan.written_before_access],
            "prior": _prior(guarantee),
        },
        "data": {
            "engine": plan.data.engine,
            "source": plan.data.label,
            "rows": guarantee.rows,
            "row_id": plan.data.row_id,
            "group": plan.data.group,
            "group_source": plan.data.group_source,
            "unit": plan.data.unit,
            **_units(plan.data),
            **_columns(plan.data),
        },
        "guarantee": _guarantee(guarantee),
        "queries": _queries(guarantee, deltas[: len(plan.queries)]),
        "answers": [],
        **prospective_tables(guarantee, deltas[len(plan.queries) :]),
        "curves": curves,
        "degradation": degradation,
        "leaks": [{"known": what, "rows": rows, "delta": _ends(delta)} for what, rows, delta in leaks(alone)],
        "block": [{"rows": rows, "delta": _ends(delta)} for rows, delta in block(alone)],
        "people": [_other_people(other) for other in other_people(alone)],
        "comparison": _comparison(guarantee, alone.delta.upper),
        "composition": written_composition(guarantee),
        "verify": {"command": "statpriv compose report.json", "proof": _proof(guarantee)},
        "ledger": {"rows_left": rows_left},
        "warnings": _warnings_of_plan(guarantee),
    }


def released_contents(
    prospective: Mapping[str, Any],
    guarantee: Guarantee,
    counts: Sequence[Sequence[int]],
    tables: Sequence[TableAnswer],
    record: ReleaseRecord,
) -> dict[str, Any]:
    """Complete the report with the answers, derived from the exact counts, and the ledger entry.

    Parameters
    ----------
    prospective : dict
        The report without answers.
    guarantee : Guarantee
        The guarantee from the plan and the number of rows.
    counts : sequence of sequences of int
        For each query of the plan its count, or the counts of all cells of a histogram, the implied cell last.
    tables : sequence of TableAnswer
        What is published of each table of the plan.
    record : ReleaseRecord
        The ledger's record of this release.
    """
    published = [part.steps.publish(exact) for part, exact in zip(guarantee.counted, counts, strict=True)]
    return answered_contents(prospective, guarantee, published, tables, record)


def answered_contents(
    prospective: Mapping[str, Any],
    guarantee: Guarantee,
    published: Sequence[Sequence[PublishedCount]],
    tables: Sequence[TableAnswer],
    record: ReleaseRecord,
) -> dict[str, Any]:
    """The same from the published counts, on which alone a report depends."""
    answers = [
        _answer(guarantee, k, cell, count) for k, counts in enumerate(published) for cell, count in enumerate(counts)
    ]
    return {
        **prospective,
        "release": {
            "id": record.release_id,
            "ledger": record.ledger_id,
            "number": record.number,
            "rows_spent": record.rows_spent,
        },
        "answers": answers,
        **answered_tables(prospective, guarantee, tables),
        "ledger": {**prospective["ledger"], "rows_left": record.rows_left},
        "warnings": [*prospective["warnings"], *_warnings_of_answers(guarantee, answers)],
    }


def _proof(guarantee: Guarantee) -> list[str]:
    """Commands that write and check a certificate; none if a certificate cannot express the queries."""
    plan = guarantee.plan
    histograms = any(has_cells(part.asked) for part in guarantee.parts)
    beyond = any(table.is_refined or table.ranges is not None for table in plan.tables)
    return [] if beyond or plan.is_conditional or (histograms and guarantee.plan.guarantee.known_rows) else list(_PROOF)


def _units(data: DataSource) -> dict[str, Any]:
    """The units that are declared; nothing where each row is a unit of its own."""
    if data.units is None:
        return {}
    return {"units": data.units, "largest_unit": data.largest_unit, "unit_source": data.unit_source}


def _columns(data: DataSource) -> dict[str, Any]:
    """The declared values of columns; nothing where the plan declares none."""
    stated = [
        {
            "column": column.column,
            "codes": list(column.codes),
            "range": None if column.range is None else list(column.range),
            "source": column.source,
        }
        for column in data.columns
    ]
    return {"columns": stated} if stated else {}


def _prior(guarantee: Guarantee) -> object:
    prior = guarantee.plan.prior
    if prior is None:
        return "not stated"
    if not prior:
        return "none"
    return [
        {
            "description": publication.description,
            "epsilon": None if publication.epsilon is None else float(publication.epsilon),
            "delta": None if publication.delta is None else float(publication.delta),
        }
        for publication in prior
    ]


def _guarantee(guarantee: Guarantee) -> dict[str, Any]:
    target, curve = guarantee.plan.guarantee, guarantee.curve
    return {
        "epsilon": float(target.epsilon),
        "epsilon_exact": literal(target.epsilon),
        "delta": _ends(guarantee.delta),
        "target_delta": float(target.delta),
        "target_delta_exact": literal(target.delta),
        "holds": guarantee.holds,
        "known_rows": target.known_rows,
        **({} if guarantee.plan.same_rows is None else {"protects": guarantee.plan.same_rows.protects}),
        "kind": curve.kind,
        "theorem": curve.theorem,
        "source": curve.source,
        "assumptions": [
            *curve.assumptions,
            *_assumption_of_ranges(guarantee),
            *assumptions_of_tables(guarantee),
            _WHOSE_ROWS if guarantee.plan.data.units is None else _WHOSE_UNITS,
            f"a reader knows the values of at most {target.known_rows} other rows",
        ],
        "not_protected": _not_protected(guarantee),
        "partition_secret": _ends(guarantee.delta),
        "partition_known": _ends(guarantee.published(known=target.known_rows, epsilon=target.epsilon)),
    }


def _not_protected(guarantee: Guarantee) -> list[str]:
    """The aspects that the model does not protect in this release."""
    group = guarantee.plan.data.group
    return [
        *guarantee.curve.not_protected,
        *([_COUNTS_OF_PARTS_KNOWN] if guarantee.is_of_parts else []),
        *([] if group is None else [f"the column {quoted(group)}: the exact size of each of its groups is published"]),
    ]


def _assumption_of_ranges(guarantee: Guarantee) -> list[str]:
    tables = [False for table in guarantee.plan.tables if table.ranges is not None]
    gated = [*(part.is_gated for part in guarantee.counted), *tables]
    if not gated:
        return []
    if all(gated):
        return ["every declared probability may be wrong: a count outside its gate is withheld, and δ is for every p"]
    named = " and ".join([*(["queries"] if guarantee.counted else []), *(["tables"] if tables else [])])
    hold = f"the declared probabilities hold; their sources, named with the {named}, are other than this table"
    return [f"{hold} (where a gate is certified, δ is for every p instead)" if any(gated) else hold]


def _queries(guarantee: Guarantee, deltas: Sequence[Enclosure]) -> list[dict[str, Any]]:
    plan = guarantee.plan
    properties = {attribute: index for index, attribute in enumerate(plan.properties)}
    return [
        {
            "name": query.name,
            "where": None if query.cells else plan.attribute(query),
            "cells": _cells(guarantee, query, part) if query.cells else None,
            "groups": _groups(guarantee, query, part),
            "publication": _publication(part),
            "property": properties[plan.attribute(query)],
            "probability": None if query.cells else written_range(query.range),
            **({"each": True} if plan.is_each(query) else {}),
            "source": query.source,
            "size": part.size,
            "delta": _ends(delta),
            **withheld_at_most(part),
        }
        for query, part, delta in zip(plan.queries, guarantee.counted, deltas, strict=True)
    ]


def _cells(guarantee: Guarantee, query: PlannedQuery, part: Part) -> list[dict[str, Any]]:
    """The declared cells, followed by the implied last cell."""
    named = [*((cell.name, cell.predicate.canonical) for cell in query.cells), (LAST_CELL, None)]
    ranges = [*query.ranges, guarantee.plan.hulls(query)[-1]]
    return [
        {"name": name, "where": where, "probability": written_range(declared), "gate": _gate(part, cell)}
        for cell, ((name, where), declared) in enumerate(zip(named, ranges, strict=True))
    ]


def _groups(guarantee: Guarantee, query: PlannedQuery, part: Part) -> list[dict[str, Any]] | None:
    """The range of each group, and its rows where rows are drawn in it; None without groups."""
    if guarantee.groups is None:
        return None
    return [
        {
            "group": group,
            "size": None if part.groups is None else part.groups[group],
            "probability": written_range(query.range_in(group)),
        }
        for group in guarantee.groups
    ]


def _publication(part: Part) -> dict[str, Any]:
    return {
        "gate": _gate(part, 0) if len(part.steps.expected) == 1 else None,
        "rounded_to": part.steps.publication.rounded_to,
        "suppressed_below": part.steps.publication.suppressed_below,
    }


def _gate(part: Part, cell: int) -> dict[str, int] | None:
    least, most = part.steps.expected[cell]
    return {"lower": least, "upper": most} if part.steps.publication.gate else None


def _answer(guarantee: Guarantee, number: int, cell: int, published: PublishedCount) -> dict[str, Any]:
    """The published statements about one count: a function of the published form, never of the exact count."""
    query, part = guarantee.plan.queries[number], guarantee.parts[number]
    count = published.count
    return {
        "query": query.name,
        "cell": [*(cell.name for cell in query.cells), LAST_CELL][cell] if query.cells else None,
        "size": part.size,
        "count": count,
        "proportion": None if count is None else count / part.size,
        "rmse": None if count is None else _error(guarantee, number, cell),
        "interval": None if count is None else _interval(guarantee, number, *part.steps.exact(published, cell)),
        "withheld": published.withheld,
        "suppressed": published.suppressed,
        "contradicts_range": part.steps.contradicts(published, cell),
    }


def _interval(guarantee: Guarantee, number: int, least: int, most: int) -> list[float]:
    part = guarantee.parts[number]
    if part.groups is None:
        low, high = confidence_interval(least=least, most=most, size=part.size, rows=guarantee.rows)
    else:
        low, high = stratified_interval(least=least, most=most, strata=_strata(guarantee, number, 0))
    return [Enclosure(low).lower, Enclosure(high).upper]


def _error(guarantee: Guarantee, number: int, cell: int) -> float:
    base = guarantee.parts[number].steps.publication.rounded_to
    return root_mean_squared_error(_strata(guarantee, number, cell), rounded_to=base).upper


def _errors(guarantee: Guarantee) -> list[float]:
    """The error of each answer."""
    return [
        _error(guarantee, number, cell)
        for number, part in enumerate(guarantee.counted)
        for cell in range(len(part.steps.expected))
    ]


def _strata(guarantee: Guarantee, number: int, cell: int) -> list[Stratum]:
    plan, part = guarantee.plan, guarantee.parts[number]
    query = plan.queries[number]
    each = plan.is_each(query)
    if part.groups is None or guarantee.groups is None:
        return [Stratum(guarantee.rows, part.size, *plan.hulls(query)[cell], each or guarantee.groups is not None)]
    sizes = guarantee.groups.items()
    return [Stratum(rows, part.groups[group], *plan.hull(query, group), each) for group, rows in sizes]


def _epsilon_curve(guarantee: Guarantee) -> list[dict[str, Any]]:
    known = guarantee.plan.guarantee.known_rows
    steps = _STEPS_IF_LARGE if guarantee.rows > budget.MAX_ROWS_OF_TIGHT_PICTURES else _STEPS_TO_TARGET
    step = (guarantee.epsilon or Fraction(1, 2)) / steps

    def point(epsilon: Fraction, most: float) -> dict[str, Any]:
        small = most < AS_GOOD_AS_NONE
        secret = Enclosure(0.0, most) if small else guarantee.secret(known=known, epsilon=epsilon)
        return {
            "epsilon": float(epsilon),
            "partition_secret": _ends(secret),
            "partition_known": _ends(guarantee.published(known=known, epsilon=epsilon)),
        }

    epsilons = [k * step for k in range(3 * steps + 1)]
    found: list[dict[str, Any]] = []
    for first in range(0, len(epsilons), _AT_ONCE):
        most = found[-1]["partition_secret"]["upper"] if found else 1.0  # δ does not rise with ε
        found += on_all_processors(partial(point, most=most), epsilons[first : first + _AT_ONCE])
    return found


def _probability_curves(guarantee: Guarantee) -> list[dict[str, Any]]:
    """For each counted property, δ as a function of p: as published, and with exact counts."""
    curves = []
    known = guarantee.plan.guarantee.known_rows
    costly = guarantee.plan.is_conditional or (guarantee.groups is None and guarantee.costly(known))
    resolution = _RESOLUTION_IF_COSTLY if costly else _RESOLUTION
    for index, attribute in _drawn_properties(guarantee):
        parts = [part for part in guarantee.parts if part.asked.attribute == attribute]
        asked = [query for part in parts if isinstance(query := part.asked, PropertyQuery)]
        ends = {min(query.lower for query in asked), max(query.upper for query in asked)}
        grid = sorted({*_probabilities(resolution), *(p for p in ends if 0 < p < 1)})
        processed = any(part != part.exact for part in parts)
        points = [
            {
                "p": float(p),
                "delta": _ends(guarantee.if_probability_were(attribute, p, published=True)),
                **(
                    {"exact_counts": _ends(guarantee.if_probability_were(attribute, p, published=False))}
                    if processed
                    else {}
                ),
            }
            for p in grid
        ]
        curves.append({"property": index, "points": points})
    return curves


def _drawn_properties(guarantee: Guarantee) -> list[tuple[int, str]]:
    """The first counted properties, with their numbers; a histogram has no single p and is left out."""
    counted = [
        (index, attribute)
        for index, (attribute, queries) in enumerate(guarantee.plan.properties.items())
        if not queries[0].cells
    ]
    return counted[:_MAX_PROPERTY_CURVES]


def _probabilities(resolution: int) -> list[Fraction]:
    """Probabilities over the whole unit interval, denser towards its ends."""
    return [
        Fraction(round(10_000 * math.sin(math.pi * k / (2 * resolution)) ** 2), 10_000) for k in range(1, resolution)
    ]


def _degradation(guarantee: Guarantee) -> list[dict[str, Any]]:
    most = guarantee.rows - 1
    shares = {int(share * guarantee.rows) for share in _KNOWN_SHARES}
    of_tables = known_rows_of_interest(guarantee)
    grid = sorted({0, guarantee.plan.guarantee.known_rows, *of_tables, *(known for known in shares if known <= most)})

    def row(known: int) -> dict[str, Any]:
        secret = _ends(guarantee.secret(known=known, epsilon=guarantee.epsilon))
        published = _ends(guarantee.published(known=known, epsilon=guarantee.epsilon))
        return {"known_rows": known, "partition_secret": secret, "partition_known": published, "delta": secret}

    return on_all_processors(row, grid)


def _other_people(other: OtherPeople) -> dict[str, Any]:
    return {
        "outside_range": None if other.outside is None else literal(other.outside),
        "household": other.household,
        "delta": _ends(other.delta),
    }


def _comparison(guarantee: Guarantee, delta: float) -> dict[str, Any]:
    """The Gaussian noise needed on the same number of proportions of the whole table, for the same δ."""
    queries, tables, rows = len(guarantee.counted), len(guarantee.tabulated), guarantee.rows
    changed = queries + _CELLS_CHANGED * tables
    loose, tight = _loose_noise(guarantee, changed, delta), _tight_noise(guarantee, changed, delta)
    return {
        "queries": queries,
        "epsilon": float(guarantee.epsilon),
        "delta": delta,
        "rows": rows,
        "rmse_released": _errors(guarantee),
        "noise_loose": _number(loose / rows),
        "noise_tight": _number(tight / rows),
        "count_noise_loose": _number(loose),
        "count_noise_tight": _number(tight),
        "note": (
            "Standard deviation of the Gaussian noise under which differential privacy at the same ε and δ would "
            "release as many proportions of the whole table. Differential privacy holds against someone who "
            "knows all other rows, and whatever the distribution; statistical privacy does not."
            + (_CELLS_ARE_PROPORTIONS if tables else "")
        ),
    }


def _loose_noise(guarantee: Guarantee, queries: int, delta: float) -> float:
    """Noise of a count by Kairouz, Oh and Viswanath; infinite at ε = 0 or δ = 0, where their result gives none."""
    if delta == 0 or guarantee.epsilon == 0:
        return math.inf
    try:
        return math.sqrt(kairouz_variance(guarantee.epsilon, delta, queries=queries, sensitivity=1).upper)
    except ArgumentError:  # ε is beyond the range in which the calibration is proved
        return math.inf


def _tight_noise(guarantee: Guarantee, queries: int, delta: float) -> float:
    """Noise of a count by the exact composition of Gaussian mechanisms."""
    if delta == 0:
        return math.inf
    if delta >= 1:
        return 0.0
    return gaussian_deviation(guarantee.epsilon, delta, answers=queries).upper


def _warnings_of_plan(guarantee: Guarantee) -> list[str]:
    plan = guarantee.plan
    counted = sum(not queries[0].cells for queries in plan.properties.values())
    unbalanced = any(imbalance(_strata(guarantee, k, 0)) for k in range(len(plan.queries)))
    uncertified = [
        query.name
        for query, part in zip(plan.queries, guarantee.counted, strict=True)
        if part.steps.publication.gate and not part.is_gated
    ]
    said = [
        (
            bool(uncertified),
            f"The gate of {_quoted_list(uncertified)} gives no bound for every p: it lets counts of nobody or everyone "
            "through (known rows aside), or is one of a histogram or of groups. "
            "The certified δ relies on the declared range there.",
        ),
        (
            plan.data.row_id is None,
            "Rows are known by their position only: an edited or exported-again copy of the table would not be "
            "recognised as released. Name a unique column as row_id.",
        ),
        (
            counted > _MAX_PROPERTY_CURVES,
            f"δ against p is drawn for the first {_MAX_PROPERTY_CURVES} of {counted} properties.",
        ),
        (
            unbalanced,
            "Some part does not have the same share of each group: its interval is wider by what that may change.",
        ),
    ]
    return [*(sentence for holds, sentence in said if holds), *warnings_of_tables(guarantee)]


def _warnings_of_answers(guarantee: Guarantee, answers: Sequence[Mapping[str, Any]]) -> list[str]:
    remaining = iter(answers)
    warnings = []
    for query in guarantee.plan.queries:
        declared = guarantee.plan.hulls(query)
        own = list(islice(remaining, len(declared)))
        warnings += [
            f"The count of “{_title(answer)}” contradicts its declared probability ({_range_text(*hull)}): "
            "the certified δ does not apply."
            for hull, answer in zip(declared, own, strict=True)
            if answer["contradicts_range"]
        ]
    return warnings


def _quoted_list(names: Sequence[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)


def _title(answer: Mapping[str, Any]) -> str:
    return answer["query"] if answer["cell"] is None else f"{answer['query']}: {answer['cell']}"


def _range_text(lower: Fraction, upper: Fraction) -> str:
    return literal(lower) if lower == upper else f"{literal(lower)} to {literal(upper)}"


def _ends(enclosure: Enclosure) -> dict[str, float]:
    return {"lower": enclosure.lower, "upper": enclosure.upper}


def _number(value: float) -> float | str:
    return "inf" if math.isinf(value) else value
