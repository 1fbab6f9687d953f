"""Plans of exact tables before their data, from a file.

.. code-block:: toml

    rows = 20190                       # rows of the table to come
    minimum = 30                       # rows in every cell; or delta = "1e-5": the least minimum that reaches it
    epsilon = 1                        # in nats
    known_rows = 0                     # optional: rows a reader knows
    confidence = "0.95"                # optional: the probability with which the table should be published
    source = "survey of 2019, table 3" # where the expected shares are from: never this table
    earlier = "earlier.csv"            # the earlier publication, exact counts; the finest recoding is as it stands
    total = ["Total"]                  # optional: labels of totals in it
    absent = "zero"                    # optional: what combinations are that it does not list

    [[recoding]]                       # coarser ones, the finest first; each is made of the earlier table
    name = "broad ages"
    merge = { age = { "under 30" = ["<20", "20-29"], "30 and over" = ["30-59", "60+"] } }

    [[recoding]]
    name = "by region"
    drop = ["age"]

Without `earlier`, every recoding states `shares`, a list with one for each cell.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from statpriv import budget
from statpriv.audit.table import Key, PublishedTable
from statpriv.errors import ArgumentError
from statpriv.files.documents import located, parsed, read_text, refused
from statpriv.files.published_table import TableLayout, read_table
from statpriv.model.fields import COUNT, NUMBER, PROBABILITY, SIZE, TEXT, Field, Record, list_of, listed, table_from
from statpriv.numeric.arguments import is_list, is_mapping
from statpriv.planning.minimum import least_minimum
from statpriv.planning.table_plan import TablePlan, plan_table

AS_PUBLISHED = "as the earlier table"
"""The name of the finest recoding where an earlier table is given."""

_NAMES = list_of(TEXT, "a list of texts", least=1)
_RECODING = Record(
    {
        "name": TEXT,
        "merge": Field(
            table_from,
            "a table of dimensions, each with new categories and the lists of old ones they are made of",
            {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "minProperties": 1,
                    "additionalProperties": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                },
            },
            absent=None,
        ),
        "drop": _NAMES.optional([]),
        "shares": list_of(NUMBER, "a list of numbers of at least 0", least=1).optional(),
    }
)
TABLE_PLAN = Record(
    {
        "rows": SIZE,
        "minimum": SIZE.optional().described("the least rows of every cell, at least 2"),
        "delta": PROBABILITY.optional().described("instead: the least minimum that reaches it is planned"),
        "epsilon": NUMBER.described("ε in nats"),
        "known_rows": COUNT.optional(0),
        "confidence": PROBABILITY.optional().described("0.95 where it is left out"),
        "source": TEXT.described("where the expected shares are from; never this table"),
        "earlier": TEXT.optional().described("the path of a published table, CSV, relative to the plan"),
        "total": _NAMES.optional([]),
        "absent": TEXT.optional(),
        "recoding": Field(
            lambda value: listed(value, least=1, most=budget.MAX_RECODINGS),
            f"1 to {budget.MAX_RECODINGS} tables [[recoding]]",
            {
                "type": "array",
                "minItems": 1,
                "maxItems": int(budget.MAX_RECODINGS),
                "items": _RECODING.schema,
            },
            absent=None,
        ),
    }
)
"""What a table plan says."""


def read_table_plan(path: str | Path) -> TablePlan:
    r"""The plan of an exact table, from a file as :mod:`statpriv.files.table_plan` describes it.

    Parameters
    ----------
    path : str or Path
        A file in TOML or JSON, and beside it the earlier table that it names.

    Returns
    -------
    TablePlan

    Raises
    ------
    ArgumentError
        The file cannot be used as it is; the message lists every fault, with its line.

    Examples
    --------
    >>> import statpriv as sp
    >>> from tempfile import TemporaryDirectory
    >>> text = '''
    ... rows = 400
    ... minimum = 30
    ... epsilon = 1
    ... source = "survey of 2019"
    ... earlier = "earlier.csv"
    ... [[recoding]]
    ... name = "by region"
    ... drop = ["age"]
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "earlier.csv").write_text("region \\ age,young,old\nnorth,310,95\nsouth,420,61\n")
    ...     _ = Path(folder, "plan.toml").write_text(text)
    ...     plan = read_table_plan(Path(folder, "plan.toml"))
    >>> plan.finest.name
    'by region'
    """
    place = Path(path)
    text = read_text(place, "table plan")
    document = parsed(text, place)
    faults: list[str] = []
    read = TABLE_PLAN.read(document, "", faults)
    steps = [
        _RECODING.read(step, f"recoding[{k}]", faults) for k, step in enumerate(read.get("recoding") or [], start=1)
    ]
    if not faults:
        faults += _faults(read, steps)
    if not faults:
        try:
            return _planned(read, _recodings(read, steps, place.parent, faults), faults)
        except ArgumentError as error:
            faults = faults or [str(error)]
    raise refused(path, located(faults, document, text))


def _faults(read: dict[str, Any], steps: list[dict[str, Any]]) -> list[str]:
    found = []
    if (read["minimum"] is None) == (read["delta"] is None):
        found.append("either minimum or delta is required")
    if read["earlier"] is None and not steps:
        found.append("either earlier or [[recoding]] with shares is required")
    for k, step in enumerate(steps, start=1):
        made = bool(step["merge"] or step["drop"])
        if read["earlier"] is None and (step["shares"] is None or made):
            found.append(f"recoding[{k}] needs shares, and neither merge nor drop: no earlier table is given")
        if read["earlier"] is not None and (step["shares"] is not None or not made):
            found.append(f"recoding[{k}] needs merge or drop, and no shares: it is made of the earlier table")
    names = [AS_PUBLISHED, *(step["name"] for step in steps)]
    found += [f"recoding[{k}].name is there twice" for k, name in enumerate(names) if name in names[:k]]
    return found


def _planned(read: dict[str, Any], recodings: dict[str, list[Fraction]], faults: list[str]) -> TablePlan:
    if faults:
        raise ArgumentError("; ".join(faults))
    least = read["minimum"]
    if least is None:
        least = least_minimum(epsilon=read["epsilon"], delta=read["delta"], known=read["known_rows"]).value
    return plan_table(
        recodings,
        read["rows"],
        minimum=least,
        epsilon=read["epsilon"],
        known=read["known_rows"],
        confidence="0.95" if read["confidence"] is None else read["confidence"],
        source=read["source"],
    )


def _recodings(
    read: dict[str, Any], steps: list[dict[str, Any]], folder: Path, faults: list[str]
) -> dict[str, list[Fraction]]:
    if read["earlier"] is None:
        return {step["name"]: list(step["shares"]) for step in steps}
    earlier = read_table(folder / read["earlier"], TableLayout(totals=tuple(read["total"]), absent=read["absent"]))
    if hidden := earlier.suppressed():
        raise ArgumentError(
            f"earlier = {read['earlier']}: {len(hidden)} counts are suppressed, so the shares are not known; take a "
            "coarser table, or state shares"
        )
    found = {AS_PUBLISHED: [Fraction(cell.count or 0) for cell in earlier.inner]}
    for k, step in enumerate(steps, start=1):
        found[step["name"]] = _recoded(earlier, step, f"recoding[{k}]", faults)
    return found


def _recoded(earlier: PublishedTable, step: dict[str, Any], place: str, faults: list[str]) -> list[Fraction]:
    """The counts of an earlier table, with categories merged and dimensions dropped."""
    categories = dict(earlier.dimensions)
    new: dict[str, dict[str, str]] = {name: {label: label for label in labels} for name, labels in earlier.dimensions}
    for name in step["drop"]:
        if name not in categories:
            faults.append(f"{place}.drop: no dimension {name}; there are {', '.join(categories)}")
        new[name] = dict.fromkeys(categories.get(name, ()), "")
    for name, merged in (step["merge"] or {}).items():
        if name not in categories or name in step["drop"] or not is_mapping(merged):
            faults.append(
                f"{place}.merge.{name}: a dimension of {', '.join(categories)} that is not dropped is required"
            )
            continue
        listed_labels = [label for labels in merged.values() for label in (labels if is_list(labels) else [])]
        wrong = [label for label in listed_labels if label not in categories[name]]
        if wrong or len(set(map(str, listed_labels))) < len(listed_labels):
            faults.append(
                f"{place}.merge.{name}: each new category is a list of old ones, each old one in one list at most; "
                f"there are {', '.join(categories[name])}"
            )
            continue
        new[name] |= {label: target for target, labels in merged.items() for label in labels}
    sums: dict[Key, Fraction] = {}
    if not faults:
        for cell in earlier.inner:
            names = earlier.dimension_names
            key = tuple(new[name][label or ""] for name, label in zip(names, cell.key, strict=True))
            sums[key] = sums.get(key, Fraction(0)) + (cell.count or 0)
    return list(sums.values()) or [Fraction(1)]
