"""What one plan may ask together: every combination that it states has a theorem, or is refused with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from statpriv.numeric.arguments import is_mapping
from statpriv.releasing.sql_text import quoted

if TYPE_CHECKING:
    from statpriv.releasing.plan_tables import CountTable, HistogramTable, PlanFile

__all__ = ["is_stratified", "refuse_without_theorem"]


def refuse_without_theorem(plan: PlanFile) -> None:
    """Refuse combinations of queries, tables, groups and units that no theorem is about.

    Raises
    ------
    ValueError
        With a sentence in the words of a plan.
    """
    _tables_of_all_rows_stand_alone(plan)
    _rows_have_one_law(plan)
    if plan.data.group is not None:
        _groups(plan)
    if plan.publication.rows is not None:
        _same_rows(plan)
    else:
        _tables_have_one_law(plan)
    if plan.data.units is not None:
        _units(plan)


def is_stratified(plan: PlanFile) -> bool:
    """Whether rows are drawn in each group by itself."""
    if plan.data.group is None:
        return False
    return not all(map(_states_one_number, plan.query)) if plan.data.stratified is None else plan.data.stratified


def _states_one_number(query: CountTable | HistogramTable) -> bool:
    return query.rows is not None and not is_mapping(query.rows)


def _tables_of_all_rows_stand_alone(plan: PlanFile) -> None:
    whole = [table.name for table in plan.table if table.rows is None and table.share is None]
    if plan.publication.rows is None and whole and len(plan.query) + len(plan.table) > 1:
        raise ValueError(
            f"table {quoted(whole[0])} states neither rows nor share, so all rows answer it, and then nothing else "
            "may be asked of them: two tables of the same rows protect nothing in general (their difference may "
            'show one row). Give each its own part, such as share = "1/2"; only answers with ranges given everything '
            'else of the row can be about the same rows ([publication] rows = "same", and each = true)'
        )


def _rows_have_one_law(plan: PlanFile) -> None:
    if plan.table and plan.data.group is not None:
        raise ValueError(
            f"has a [[table]], but data.group = {quoted(plan.data.group)} is there: a table needs rows of one law. "
            "Leave group out, and state a public classification as by in the table"
        )


def _tables_have_one_law(plan: PlanFile) -> None:
    """On parts of their own: nothing says at once that rows share a law and that each has its own."""
    own = [asked.name for asked in (*plan.query, *plan.table) if asked.each]
    shared = [table.name for table in plan.table if table.probability is None]
    if own and shared:
        raise ValueError(
            f"table {quoted(shared[0])} declares no probability, so its rows need to share one law, and "
            f"{quoted(own[0])} says each = true: each row has its own. State probability, each = true and source for "
            "the table too, or leave each out"
        )


def _groups(plan: PlanFile) -> None:
    """Rows are drawn in each group by itself, for all queries or for none."""
    stratified = is_stratified(plan)
    for k, query in enumerate(plan.query, start=1):
        if stratified and _states_one_number(query):
            raise ValueError(
                f"query[{k}].rows = {query.rows}: must be stated for each group, such as {{f = 30, m = 20}}, because "
                "rows are drawn in each group of data.group. State one number for every query, or data.stratified = "
                "false, and they are drawn from all rows alike"
            )
        if not stratified and is_mapping(query.rows):
            raise ValueError(
                f"query[{k}].rows is stated by group, but data.stratified = false: rows are drawn from all rows alike. "
                "State one number, or leave stratified out"
            )


def _same_rows(plan: PlanFile) -> None:
    """Several answers about the same rows: each about one attribute, with a range given all others of the row."""
    for k, table in enumerate(plan.table, start=1):
        if table.rows is not None or table.share is not None:
            key = "share" if table.rows is None else "rows"
            raise ValueError(
                f'table[{k}] has {key}, but [publication] rows = "same": all rows answer it; leave {key} out'
            )
    if plan.data.group is not None:
        raise ValueError(
            f'has data.group = {quoted(plan.data.group)} and [publication] rows = "same": no rows are drawn within '
            "groups, so leave group out"
        )
    _require_each(
        plan,
        'with [publication] rows = "same" the other answers about the same rows may tell more of a row than a '
        "probability that all rows share. State the range that holds for each row given all its other attributes",
    )
    for (one, columns, asked), (two, others, other) in combinations(_columns(plan), 2):
        if asked != other and columns & others:
            raise ValueError(
                f"{one} and {two} both ask about the column {quoted(min(columns & others))}, with different "
                "conditions: given the one answer of a row, the range for the other is not what was declared. Ask one "
                "histogram, with a [[query.cell]] for each condition, or one table"
            )


def _require_each(plan: PlanFile, why: str) -> None:
    for k, query in enumerate(plan.query, start=1):
        if not query.each:
            raise ValueError(f"query[{k}] needs each = true: {why}")
    for k, table in enumerate(plan.table, start=1):
        if not table.each:
            raise ValueError(f"table[{k}] needs probability, each = true and source: {why}")


def _columns(plan: PlanFile) -> Iterator[tuple[str, frozenset[str], tuple[str, ...]]]:
    """The place of each query and table, the columns that it is about, and its conditions in their normal form."""
    for k, query in enumerate(plan.query, start=1):
        conditions = [predicate for _, predicate in query.conditions]
        columns = frozenset(column.casefold() for predicate in conditions for column in predicate.columns)
        yield f"query[{k}]", columns, tuple(predicate.canonical for predicate in conditions)
    for k, table in enumerate(plan.table, start=1):
        columns = frozenset(dimension.column.casefold() for dimension in table.dimensions)
        # Not even two tables of the same columns: one of them says what both say.
        yield f"table[{k}]", columns, (f"table[{k}]",)


def _units(plan: PlanFile) -> None:
    """Rows that hang together in units: counts alone, of all rows, with a range given the rest of the unit."""
    if plan.table or any(query.cells for query in plan.query):
        raise ValueError(
            "asks a table or a histogram, but data.units says that rows hang together, and for those no theorem holds: "
            "the rest of a unit may show its member. Ask counts"
        )
    if plan.data.group is not None:
        raise ValueError("has data.group and data.units: a unit may lie across groups, so leave group out")
    _require_each(
        plan,
        "data.units says that rows hang together, and a probability that all rows share says nothing of what the "
        "others of a unit tell. State the range that holds for each row given the other rows of its unit",
    )
    if len(plan.query) > 1 and plan.publication.rows is None:
        raise ValueError(
            "has several queries on parts of their own, but data.units says that rows hang together, and a unit may "
            'fall into several parts. State [publication] rows = "same", and all rows answer every query'
        )
