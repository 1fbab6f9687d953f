"""The contents of a report: a function of the plan, the number of rows and the released counts, of nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import statpriv
from statpriv.curve import NOT_PROTECTED
from statpriv.differential import gaussian_distance, kairouz_variance
from statpriv.enclosure import Enclosure
from statpriv.errors import ArgumentError
from statpriv.literals import literal
from statpriv.releasing.accuracy import confidence_interval, root_mean_squared_error
from statpriv.releasing.guarantee import Guarantee
from statpriv.releasing.ledger import ReleaseRecord

__all__ = ["Progress", "prospective_contents", "released_contents"]

_KNOWN_SHARES = [Fraction(k, 100) for k in (1, 2, 5, 10, 15, 20, 30, 40, 50, 60, 75, 90)]
_MOST_PROPERTY_CURVES = 12
_COUNTS_OF_PARTS_KNOWN = (
    "people of whom a reader knows which part they are in: for them “partition known” is the number that counts"
)

Progress = Callable[[str], None]


def prospective_contents(guarantee: Guarantee, *, rows_left: int, dry_run: bool, progress: Progress) -> dict[str, Any]:
    """Everything that is known before any row is spent: a report without answers.

    Parameters
    ----------
    guarantee : Guarantee
        From the plan and the number of rows.
    rows_left : int
        Rows of the table that no release has used.
    dry_run : bool
        Whether this is all that is asked for.
    progress : callable
        Told what is being computed.
    """
    plan = guarantee.plan
    progress("curves of the guarantee")
    curves = {"epsilon": _epsilon_curve(guarantee), "probability": _probability_curves(guarantee)}
    progress("dependence on known rows")
    degradation = _degradation(guarantee)
    return {
        "statpriv": statpriv.__version__,
        "release": None,
        "dry_run": dry_run,
        "plan": {
            "sha256": plan.sha256,
            "written_before_access": {None: "not stated", True: "yes", False: "no"}[plan.written_before_access],
            "prior": _prior(guarantee),
        },
        "data": {"source": plan.data.label, "rows": guarantee.rows, "row_id": plan.data.row_id},
        "guarantee": _guarantee(guarantee),
        "queries": _queries(guarantee),
        "answers": [],
        "curves": curves,
        "degradation": degradation,
        "comparison": _comparison(guarantee),
        "composition": _composition(guarantee),
        "verify": {"command": "statpriv compose report.json"},
        "ledger": {"rows_left": rows_left},
        "warnings": _warnings_of_plan(guarantee),
    }


def released_contents(
    prospective: Mapping[str, Any], guarantee: Guarantee, counts: Sequence[int], record: ReleaseRecord
) -> dict[str, Any]:
    """The same report with the exact answers, in the order of the plan's queries, and the entry in the ledger."""
    return {
        **prospective,
        "release": {
            "id": record.release_id,
            "ledger": record.ledger_id,
            "number": record.number,
            "rows_spent": record.rows_spent,
        },
        "answers": _answers(guarantee, counts),
        "ledger": {**prospective["ledger"], "rows_left": record.rows_left},
        "warnings": [*prospective["warnings"], *_warnings_of_counts(guarantee, counts)],
    }


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
        "kind": curve.kind,
        "theorem": curve.theorem,
        "source": curve.source,
        "assumptions": [
            *curve.assumptions,
            "the declared probabilities hold; their sources, named with the queries, are other than this table",
            "one row is one person",
            f"a reader knows the values of at most {target.known_rows} other rows",
        ],
        "not_protected": [*NOT_PROTECTED, _COUNTS_OF_PARTS_KNOWN],
        "partition_secret": _ends(guarantee.delta),
        "partition_known": _ends(guarantee.published(known=target.known_rows, epsilon=target.epsilon)),
    }


def _queries(guarantee: Guarantee) -> list[dict[str, Any]]:
    plan = guarantee.plan
    properties = {attribute: index for index, attribute in enumerate(plan.properties)}
    deltas = guarantee.parts(known=plan.guarantee.known_rows, epsilon=guarantee.epsilon)
    return [
        {
            "name": query.name,
            "where": plan.attribute(query),
            "property": properties[plan.attribute(query)],
            "probability": {"lower": literal(query.range[0]), "upper": literal(query.range[1])},
            "source": query.source,
            "size": size,
            "delta": _ends(delta),
        }
        for query, size, delta in zip(plan.queries, guarantee.sizes, deltas, strict=True)
    ]


def _answers(guarantee: Guarantee, counts: Sequence[int]) -> list[dict[str, Any]]:
    answers = []
    errors = _errors(guarantee)
    for query, size, count, error in zip(guarantee.plan.queries, guarantee.sizes, counts, errors, strict=True):
        low, high = confidence_interval(count=count, size=size, rows=guarantee.rows)
        answers.append(
            {
                "query": query.name,
                "size": size,
                "count": count,
                "proportion": count / size,
                "rmse": error,
                "interval": [Enclosure(low).lower, Enclosure(high).upper],
                "withheld": False,
                "contradicts_range": _contradicts(count, size, guarantee.plan.hull(query)),
            }
        )
    return answers


def _errors(guarantee: Guarantee) -> list[float]:
    return [
        root_mean_squared_error(size=size, rows=guarantee.rows, lower=query.lower, upper=query.upper)
        for query, size in zip(guarantee.queries, guarantee.sizes, strict=True)
    ]


def _contradicts(count: int, size: int, declared: tuple[Fraction, Fraction]) -> bool:
    """Whether a count lies more than three standard deviations outside what its range allows."""
    lower, upper = declared
    below, above = size * lower - count, count - size * upper
    return (below > 0 and below**2 > 9 * size * lower * (1 - lower)) or (
        above > 0 and above**2 > 9 * size * upper * (1 - upper)
    )


def _epsilon_curve(guarantee: Guarantee) -> list[dict[str, Any]]:
    known = guarantee.plan.guarantee.known_rows
    fine = 5 if guarantee.costly(known) else 10
    step = (guarantee.epsilon or Fraction(1, 2)) / fine
    return [
        {
            "epsilon": float(epsilon),
            "partition_secret": _ends(guarantee.secret(known=known, epsilon=epsilon)),
            "partition_known": _ends(guarantee.published(known=known, epsilon=epsilon)),
        }
        for epsilon in (k * step for k in range(3 * fine + 1))
    ]


def _probability_curves(guarantee: Guarantee) -> list[dict[str, Any]]:
    curves = []
    resolution = 24 if guarantee.costly(guarantee.plan.guarantee.known_rows) else 48
    for index, (attribute, queries) in enumerate(list(guarantee.plan.properties.items())[:_MOST_PROPERTY_CURVES]):
        ends = guarantee.plan.hull(queries[0])
        grid = sorted({*_probabilities(resolution), *(p for p in ends if 0 < p < 1)})
        points = guarantee.if_probability_were(attribute, grid)
        curves.append({"property": index, "points": [{"p": float(p), "delta": _ends(delta)} for p, delta in points]})
    return curves


def _probabilities(resolution: int) -> list[Fraction]:
    """Probabilities over the whole unit interval, denser towards its ends."""
    return [
        Fraction(round(10_000 * math.sin(math.pi * k / (2 * resolution)) ** 2), 10_000) for k in range(1, resolution)
    ]


def _degradation(guarantee: Guarantee) -> list[dict[str, Any]]:
    most = guarantee.rows - 1
    shares = {int(share * guarantee.rows) for share in _KNOWN_SHARES}
    grid = sorted({0, guarantee.plan.guarantee.known_rows, *(known for known in shares if known <= most)})
    table = []
    for known in grid:
        secret = guarantee.secret(known=known, epsilon=guarantee.epsilon)
        published = guarantee.published(known=known, epsilon=guarantee.epsilon)
        table.append(
            {
                "known_rows": known,
                "partition_secret": _ends(secret),
                "partition_known": _ends(published),
                "delta": _ends(secret),
            }
        )
    return table


def _comparison(guarantee: Guarantee) -> dict[str, Any]:
    """What Gaussian noise would have to be added to as many proportions of the whole table."""
    queries, rows, delta = len(guarantee.queries), guarantee.rows, guarantee.delta.upper
    loose, tight = _loose_noise(guarantee, queries, delta), _tight_noise(guarantee, queries, delta)
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
        ),
    }


def _loose_noise(guarantee: Guarantee, queries: int, delta: float) -> float:
    """Noise of a count by Kairouz, Oh and Viswanath; infinite at ε = 0 or δ = 0, where it does not exist."""
    if delta == 0 or guarantee.epsilon == 0:
        return math.inf
    try:
        return math.sqrt(kairouz_variance(guarantee.epsilon, delta, queries=queries, sensitivity=1).upper)
    except ArgumentError:  # ε beyond the range in which the calibration is proved
        return math.inf


def _tight_noise(guarantee: Guarantee, queries: int, delta: float) -> float:
    """Noise of a count by the exact composition of Gaussian mechanisms."""
    if delta == 0:
        return math.inf
    if delta >= 1:
        return 0.0
    distance = gaussian_distance(guarantee.epsilon, delta).lower
    return math.sqrt(queries) / distance if distance else math.inf


def _composition(guarantee: Guarantee) -> dict[str, Any]:
    """What `statpriv compose` needs to compute δ again."""
    return {
        "epsilon": literal(guarantee.epsilon),
        "known_rows": guarantee.plan.guarantee.known_rows,
        "population": guarantee.rows,
        "part": [
            {"probability": [literal(query.lower), literal(query.upper)], "size": size, "attribute": query.attribute}
            for query, size in zip(guarantee.queries, guarantee.sizes, strict=True)
        ],
    }


def _warnings_of_plan(guarantee: Guarantee) -> list[str]:
    plan = guarantee.plan
    warnings = []
    if plan.data.row_id is None:
        warnings.append(
            "Rows are known by their position only: a sorted or exported-again copy of the table would not be "
            "recognised as released. Name a unique column as row_id."
        )
    if len(plan.properties) > _MOST_PROPERTY_CURVES:
        warnings.append(
            f"δ against p is drawn for the first {_MOST_PROPERTY_CURVES} of {len(plan.properties)} properties."
        )
    return warnings


def _warnings_of_counts(guarantee: Guarantee, counts: Sequence[int]) -> list[str]:
    plan = guarantee.plan
    return [
        f"The count of “{query.name}” contradicts its declared probability ({_range_text(*plan.hull(query))}): "
        "the certified δ does not apply."
        for query, count, size in zip(plan.queries, counts, guarantee.sizes, strict=True)
        if _contradicts(count, size, plan.hull(query))
    ]


def _range_text(lower: Fraction, upper: Fraction) -> str:
    return literal(lower) if lower == upper else f"{literal(lower)} to {literal(upper)}"


def _ends(enclosure: Enclosure) -> dict[str, float]:
    return {"lower": enclosure.lower, "upper": enclosure.upper}


def _number(value: float) -> float | str:
    return "inf" if math.isinf(value) else value
