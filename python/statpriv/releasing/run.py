"""The release of a plan: exact counts of a table on secret random parts, in an order that never reuses a row.

plan → outputs → lock → schema → rows → guarantee of this plan alone → ids and ledger → guarantee of everything
released → content fingerprint → partition → spend → predicates → report. Every refusal precedes the spend. After a
later failure the rows stay spent, so that the same rows never answer twice.
"""

from __future__ import annotations

import hashlib
import json as json_format
import os
import secrets
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from math import inf, isinf
from pathlib import Path
from typing import Any

import numpy as np

from statpriv._native import Partition
from statpriv.errors import GuaranteeNotReachedError, LedgerError, PublicationError, RowsSpentError, TableError
from statpriv.numeric.literals import at_most
from statpriv.releasing.contents import Progress, prospective_contents, released_contents
from statpriv.releasing.exact_tables import TableAnswer
from statpriv.releasing.guarantee import Guarantee, certify
from statpriv.releasing.history import Everything, as_first_release, everything, with_everything
from statpriv.releasing.ledger import Anchor, Ledger, Position, Registry, ReleaseRecord, Rows
from statpriv.releasing.outputs import Outputs, Places
from statpriv.releasing.partition import Strata, WordSource, secret_partition
from statpriv.releasing.plan import Plan, TableInMemory
from statpriv.releasing.plan_file import load_plan
from statpriv.releasing.report import render
from statpriv.releasing.signature import SigningKey
from statpriv.releasing.sql_text import quoted
from statpriv.releasing.tables import (
    Content,
    Groups,
    QueryListener,
    RowListener,
    Table,
    open_table,
    source_files,
)

__all__ = ["Report", "Surroundings", "carry_out", "certified", "counted", "release", "tabulated"]


@dataclass(frozen=True)
class Report:
    """A report: what was released, and its guarantee.

    Attributes
    ----------
    contents
        All published data, as a dictionary (the contents of the JSON file).
    html
        The same data as one self-contained page.
    """

    contents: Mapping[str, Any]
    html: str

    @property
    def json(self) -> str:
        """The JSON file, including the digest of the page."""
        digest = hashlib.sha256(self.html.encode()).hexdigest()
        return json_format.dumps(
            {**self.contents, "html_sha256": digest}, indent=1, ensure_ascii=False, allow_nan=False
        )

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        guarantee, answers = self.contents["guarantee"], self.contents["answers"]
        answered = ", ".join(f"{answer['query']}: {answer['count']} of {answer['size']}" for answer in answers)
        delta = f"({guarantee['epsilon']}, {guarantee['delta']['upper']:.4g})-statistical privacy"
        cells = [len(table["cells"]) for table in self.contents.get("tables", ()) if table["published"] is not None]
        tables = f"{sum(cells)} cells of exact tables" if cells else ""
        released = ", ".join(filter(None, [answered, tables]))
        return f"<Report, {delta}: {released or 'nothing released'}>"


@dataclass(frozen=True)
class Surroundings:
    """The interfaces of a release to the outside; only tests replace them."""

    words: WordSource = secrets.token_bytes
    progress: Progress = lambda _step: None
    on_query: QueryListener | None = None
    on_rows: RowListener | None = None
    debug: bool = False


def release(
    plan: str | Path | Mapping[str, Any],
    *,
    data: str | Path | TableInMemory | None = None,
    out: str | Path | None = None,
    json: str | Path | None = None,
    registry: str | Path | None = None,
    dry_run: bool = False,
    force: bool = False,
    accept_edits: bool = False,
    anchor: str | None = None,
    sign: str | Path | None = None,
    tables: str | Path | None = None,
    progress: Progress | None = None,
) -> Report:
    """Release exact counts of a table under a certified statistical-privacy guarantee.

    Parameters
    ----------
    plan : path or dict
        The plan file, or what it holds as a dict; `statpriv.releasing.plan_file` describes it.
    data : path or table, optional
        The table, in place of the plan's `data.source`: a path, or a table in memory. Whatever hands its columns over
        as Arrow does is such a table: a data frame of polars, or of pandas 2.2 with pyarrow, or a table of pyarrow.
    out, json : path, optional
        Paths of the page and the JSON report.
    registry : path, optional
        Folder of the ledger; by default `STATPRIV_REGISTRY`, else the user's data folder.
    dry_run : bool, default False
        Report the guarantee from the plan and the number of rows, and read nothing else.
    force : bool, default False
        Replace existing output files.
    accept_edits : bool, default False
        Release a table again although its content was edited since; spent rows stay spent.
    anchor : str, optional
        A line that `statpriv ledger anchor` printed. A registry that is older, or another copy, is refused.
    sign : path, optional
        A private key (ed25519, PEM) that only its owner can read. The JSON report is signed with it, in a file beside
        it whose name ends with `.sig`. Needs the extra `[sign]`.
    tables : path, optional
        A folder for the exact tables of the plan, each as a CSV and an SDMX-CSV 2.0 file. It is made if only the folder
        itself is missing. A dry run counts nothing and writes none of them.
    progress : callable, optional
        Called with the name of each step.

    Returns
    -------
    Report

    Raises
    ------
    ArgumentError
        If the anchor is none.
    PlanError, TableError, LedgerError, PublicationError
        If the plan, the data, the ledger or the outputs are refused; nothing is spent.
    GuaranteeNotReachedError
        If δ is not certified to be at most the target; no content was read, and nothing is spent. (A dry run
        reports this instead, unless a declared probability may be 0 or 1: then there is nothing to report.)
    RowsSpentError
        If something failed after the rows were spent.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.release("examples/election.toml", dry_run=True).contents["guarantee"]["holds"]
    True
    """
    known = None if anchor is None else Anchor.parse(anchor)
    loaded = load_plan(plan, data=data)
    surroundings = Surroundings() if progress is None else Surroundings(progress=progress)
    return carry_out(
        loaded,
        out=None if out is None else Path(out),
        json=None if json is None else Path(json),
        registry=Registry.open(registry),
        dry_run=dry_run,
        force=force,
        accept_edits=accept_edits,
        anchor=known,
        key=None if sign is None else SigningKey.load(Path(sign)),
        tables=None if tables is None else Path(tables),
        surroundings=surroundings,
    )


def carry_out(
    plan: Plan,
    *,
    out: Path | None,
    json: Path | None,
    registry: Registry,
    dry_run: bool,
    force: bool,
    accept_edits: bool = False,
    anchor: Anchor | None = None,
    key: SigningKey | None = None,
    tables: Path | None = None,
    surroundings: Surroundings,
) -> Report:
    """Carry out :func:`release` with the given interfaces to the outside."""
    protected = [plan.path, *source_files(plan.data), registry.folder, *registry.files]
    outputs = Outputs.prepare(out, json, key, force=force, protected=protected)
    if tables is not None:
        outputs = outputs.with_tables(tables, plan, dry_run=dry_run, force=force, protected=protected)
    try:
        return _carry_out(
            plan, outputs, registry, surroundings, dry_run=dry_run, accept_edits=accept_edits, anchor=anchor
        )
    except BaseException:
        outputs.leave()
        raise


def _carry_out(
    plan: Plan,
    outputs: Outputs,
    registry: Registry,
    surroundings: Surroundings,
    *,
    dry_run: bool,
    accept_edits: bool,
    anchor: Anchor | None,
) -> Report:
    if dry_run:
        with _opened(plan, surroundings) as table:
            guarantee, _ = certified(plan, table, surroundings.progress)
        contents = as_first_release(
            prospective_contents(guarantee, rows_left=guarantee.rows, dry_run=True, progress=surroundings.progress),
            guarantee,
        )
        report = Report(contents | outputs.signer, render(contents | outputs.signer))
        with outputs.reserved() as places:
            places.write(report.html, report.json, contents)
        return report
    surroundings.progress("ledger")
    with registry.locked(anchor=anchor) as ledger, outputs.reserved() as places:
        return _release_under_lock(plan, ledger, places, surroundings, accept_edits=accept_edits, signer=outputs.signer)


def _release_under_lock(
    plan: Plan,
    ledger: Ledger,
    places: Places,
    surroundings: Surroundings,
    *,
    accept_edits: bool,
    signer: Mapping[str, Any],
) -> Report:
    progress = surroundings.progress
    with _opened(plan, surroundings) as table:
        guarantee, groups = certified(plan, table, progress)
        _refuse_unless_reached(guarantee)
        progress("ids")
        tokens = table.row_tokens(ledger.row_key, with_rows=groups is not None)
        rows = Rows.of(guarantee.rows, tokens, table.columns)
        positions = ledger.recognise(rows, once=plan.is_once)
        progress("earlier releases")
        if len(positions) == 1:
            _refuse_unless_enough(guarantee, positions[0])
        candidates = {
            p.number: everything(guarantee, p)
            for p in positions
            if guarantee.rows_used <= p.rows_left and not p.is_refused(once=plan.is_once)
        }
        _refuse_unless_everything_holds(list(candidates.values()), unclear=len(positions) > 1)
        # Everything that does not depend on the answers is computed before the content is read.
        prospects = {number: _prospect(whole, progress) for number, whole in candidates.items()}
        progress("content")
        content = table.load(ledger.content_key)
        position = ledger.identify(positions, content.fingerprint, accept_edits=accept_edits, once=plan.is_once)
        _refuse_unless_enough(guarantee, position)
        prospective = with_everything(prospects[position.number], candidates[position.number], position)
        prospective |= signer
        without_answers = Report(prospective, render({**prospective, "dry_run": True}))
        progress("partition")
        strata = _strata(guarantee, groups, position)
        places.hold(without_answers.html, without_answers.json, prospective)
        with ExitStack() as drawn:
            partition = drawn.enter_context(secret_partition(rows, ledger.row_key, strata, surroundings.words))
            progress("spend")
            with _from_the_spend_on(debug=surroundings.debug):
                record = ledger.spend(
                    position,
                    content.fingerprint,
                    partition.drawn(),
                    queries=guarantee.queries,
                    sizes=guarantee.sizes_drawn,
                    stated=[part.stated for part in guarantee.parts],
                    plan_sha256=plan.sha256,
                    once=plan.is_once,
                )
                progress("predicates")
                counts = counted(content, partition, guarantee)
                outcomes = tabulated(content, partition, guarantee)
                answers = list(map(TableAnswer.of_outcomes, guarantee.plan.tables, outcomes))
                drawn.close()  # forgets the partition before anything is computed from the counts
                progress("report")
                contents = released_contents(prospective, guarantee, counts, answers, record)
                report = Report(contents, render(contents))
                places.write(report.html, report.json, contents)
        _note_published(ledger, record)
        return report


def _note_published(ledger: Ledger, record: ReleaseRecord) -> None:
    """Note in the ledger that the report was written; nothing is lost if that fails."""
    try:
        ledger.note_published(record)
    except LedgerError as error:
        warnings.warn(f"the report was published, but the ledger could not note that: {error}", stacklevel=2)


def _prospect(whole: Everything, progress: Progress) -> dict[str, Any]:
    """The report without answers and without earlier releases."""
    return prospective_contents(
        whole.guarantee,
        alone=whole.on_rows_left,
        rows_left=whole.guarantee.rows,
        dry_run=False,
        progress=progress,
    )


def certified(plan: Plan, table: Table, progress: Progress) -> tuple[Guarantee, Groups | None]:
    """The guarantee, from the number of rows and, for a stratified plan, the publicly known sizes of the groups."""
    progress("rows")
    rows = table.row_count()
    groups = None if plan.data.group is None else table.groups()
    progress("guarantee")
    guarantee = certify(plan, rows, None if groups is None else groups.sizes)
    _refuse_what_tells(guarantee)
    return guarantee, groups


def _strata(guarantee: Guarantee, groups: Groups | None, position: Position) -> Strata:
    """The rows that no release has used, by group for a stratified plan."""
    if groups is None or not guarantee.sizes_by_group:
        sizes = [tuple(guarantee.sizes_drawn)]
        return Strata(sizes, None if position.rows_spent == 0 else (~position.spent).astype(np.uint16))
    of_groups = np.zeros(len(groups.names), np.uint16)
    for number, (group, _) in enumerate(guarantee.sizes_by_group, start=1):
        of_groups[groups.names.index(group)] = number
    of_rows = position.rows.by_token(of_groups[groups.of_rows])
    of_rows[position.spent] = 0
    return Strata([tuple(sizes) for _, sizes in guarantee.sizes_by_group], of_rows)


def counted(content: Content, partition: Partition, guarantee: Guarantee) -> list[tuple[int, ...]]:
    """The exact counts of the queries, each on its part, or each on all rows."""
    questions = [query.questions for query in guarantee.plan.queries]
    if guarantee.is_of_parts:
        return content.count(partition, questions) if questions else []
    return [content.count(partition, [question])[0] for question in questions]


def tabulated(content: Content, partition: Partition, guarantee: Guarantee) -> list[list[int]]:
    """The number of rows with each outcome of the tables, each of its part, or each of all rows."""
    first = len(guarantee.plan.queries) + 1
    return [
        content.tabulate(partition, part if guarantee.is_of_parts else 1, table.classification)
        for part, table in enumerate(guarantee.plan.tables, start=first)
    ]


def _opened(plan: Plan, surroundings: Surroundings) -> AbstractContextManager[Table]:
    return open_table(
        plan.data,
        plan.conditions,
        debug=surroundings.debug,
        on_query=surroundings.on_query,
        on_rows=surroundings.on_rows,
    )


def _refuse_what_tells(guarantee: Guarantee) -> None:
    target = guarantee.plan.guarantee
    if target.delta < 1 and (telling := guarantee.telling()):
        raise GuaranteeNotReachedError(
            f"the certified δ at ε = {float(target.epsilon):g} is 1, above the target of {float(target.delta):g}, for "
            f"whoever answers {' or '.join(map(quoted, telling))}: the probability may be 0 or 1, and then the answer "
            "tells a value for certain. Nothing was released, and no answer was read; narrow the range"
        )


def _refuse_unless_reached(guarantee: Guarantee) -> None:
    if guarantee.holds:
        return
    target = guarantee.plan.guarantee
    raise GuaranteeNotReachedError(
        f"the certified δ at ε = {float(target.epsilon):g} is {guarantee.delta.upper:.6g}, above the target of "
        f"{float(target.delta):g}: nothing was released, and no answer was read. {_what_would_reach_it(guarantee)}"
        "Larger parts, fewer queries and narrower ranges make it smaller; --dry-run draws the whole picture"
    )


def _what_would_reach_it(guarantee: Guarantee) -> str:
    """The part that costs most, and the ε at which the target holds, as sentences."""
    target = guarantee.plan.guarantee
    said = ""
    if len(guarantee.parts) > 1:
        alone = guarantee.deltas(known=target.known_rows, epsilon=target.epsilon)
        costs = [part.size * delta.upper for part, delta in zip(guarantee.parts, alone, strict=True)]
        most = costs.index(max(costs))
        said = (
            f"{quoted(guarantee.names[most])} costs most: {guarantee.parts[most].size} rows with δ = "
            f"{at_most(alone[most].upper)} for whoever is known to answer it. "
        )
    reached = inf if guarantee.costly(target.known_rows) else guarantee.curve.epsilon(target.delta).upper
    return said if isinf(reached) else f"{said}The target holds at ε = {at_most(reached, 3)}. "


def _refuse_unless_everything_holds(candidates: Sequence[Everything], *, unclear: bool) -> None:
    """Check the target for each registered table that this one may be, if that table has enough rows left.

    Without ids, the table may be any registered table with the same number of rows, and only its content could tell
    which. A refusal because of the target must precede the reading of the content.
    """
    for whole in candidates:
        _refuse_what_tells(whole.on_rows_left)  # its ranges are the hulls of all ranges ever declared
        if whole.holds:
            continue
        target = whole.guarantee.plan.guarantee
        which = (
            " (the table names no row_id, so before its content is read it may be any with as many rows that was)"
            if unclear
            else ""
        )
        raise GuaranteeNotReachedError(
            f"the certified δ at ε = {float(target.epsilon):g} of everything released from this table{which}, this "
            f"release included, is {whole.delta.upper:.6g}, above the target of {float(target.delta):g}: nothing was "
            "released, and no answer was read. Fewer rows or queries, narrower ranges of probability or a weaker "
            "target may reach it"
        )


def _refuse_unless_enough(guarantee: Guarantee, position: Position) -> None:
    asked = guarantee.rows_used
    if asked > position.rows_left:
        raise LedgerError(
            f"the {guarantee.plan.what_is_asked} use {asked} rows together, and earlier releases have left "
            f"{position.rows_left} of {position.rows.n}; give them fewer rows (no row answers twice)"
        )


@contextmanager
def _from_the_spend_on(*, debug: bool) -> Iterator[None]:
    """Replace every failure in this block by one sentence that says what failed and quotes nothing from the data.

    Only the ledger can still refuse in this block; its message then says that nothing was spent.
    """
    try:
        yield
    except (LedgerError, RowsSpentError):
        raise
    except BaseException as failure:  # noqa: BLE001  (re-raised without what a traceback would quote)
        raise RowsSpentError(
            f"the release failed after its rows were spent, or while they were ({_what_failed(failure)}): they count "
            "as spent, and there is no report"
        ) from (failure if debug else None)


def _what_failed(failure: BaseException) -> str:
    """What failed, in words of this program or of the system, which quote no data."""
    match failure:
        case PublicationError() | TableError():  # sentences of this program
            return str(failure)
        case MemoryError():
            return "the memory of this machine was full"
        case KeyboardInterrupt():
            return "it was interrupted"
        case OSError(errno=int() as number):
            return os.strerror(number)
        case _:
            return f"{type(failure).__name__}; --debug shows its message, which may quote data"
