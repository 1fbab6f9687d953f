"""What the JSON report of a release says of its guarantee, and whether that follows from what else it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from statpriv.composition.cohorts import Cohort
from statpriv.composition.known_parts import worst_part
from statpriv.composition.repeated_releases import RepeatedReleases
from statpriv.errors import ArgumentError
from statpriv.files.composition import PARTS, Composition, Part, composition_of, read_parts, together
from statpriv.model.fields import (
    COUNT,
    NUMBER,
    SIZE,
    TEXT,
    TRUTH,
    Field,
    Range,
    Value,
    by_name,
    elements,
    or_null,
    range_from,
    read_table,
)
from statpriv.numeric.enclosure import Enclosure

if TYPE_CHECKING:
    from statpriv.curves.curve import PrivacyCurve

__all__ = ["Everything", "Report", "Term", "read_report"]

_WIDEST = 1e-3  # no report of ours states δ more loosely
_ANY: tuple[Range, ...] = ((Fraction(0), Fraction(1)),)
_Sized: TypeAlias = "tuple[tuple[int, tuple[Range, ...]], ...]"
"""Size of each part, and the range of p, or those of all groups or cells."""


@dataclass(frozen=True)
class Asked:
    """What a report says of a query beside its size and ranges; None stands for silence.

    Attributes
    ----------
    predicate
        What is counted, or all cells of a histogram.
    gate, suppressed_below, rounded_to
        What is done to the count.
    cells
        How many a histogram has; None of a count.
    """

    predicate: str | None
    gate: tuple[int, int] | None = None
    suppressed_below: int | None = None
    rounded_to: int | None = None
    cells: int | None = None

    def is_asked_by(self, part: Part) -> bool:
        """Whether a part of the composition asks this.

        Parts of one attribute say less together than others, so it has to be that of the predicate; behind a gate a
        part needs none, since what is certified there holds for every property.
        """
        return self.predicate in (None, part.attribute) or (part.attribute is None and part.gate is not None)

    def is_processed_as(self, part: Part) -> bool:
        """Whether the certificate makes use of no step that is not taken."""
        return (
            part.gate in (None, self.gate)
            and part.suppressed_below in (None, self.suppressed_below)
            and part.rounded_to in (None, self.rounded_to)
        )


@dataclass(frozen=True)
class Term:
    """What a report says of one release in the sum over all.

    Attributes
    ----------
    parts
        Of the release, each property with the hull of all ranges ever declared for it.
    delta
        On its own rows.
    weight
        Probability that a row of the worst cohort is used in it, as the nearest double.
    rows_spent, rows_then, sizes, asked
        Rows that it used, rows of the table at that time, the rows of each query, and what it asks; None of the release
        that the report is about, which says these elsewhere.
    """

    parts: tuple[Part, ...]
    delta: Enclosure
    weight: float
    rows_spent: int | None = None
    rows_then: int | None = None
    sizes: tuple[int, ...] | None = None
    asked: tuple[Asked, ...] | None = None

    @property
    def rows(self) -> int:
        """Rows of its parts."""
        return sum(part.entries * part.count for part in self.parts)


@dataclass(frozen=True)
class Everything:
    """What a report says of all releases from its table together.

    Attributes
    ----------
    delta
        Of everything released.
    cohorts
        The rows of the table by when they joined it.
    terms
        Of the earlier releases, oldest first, and last of the one that the report is about.
    rows, rows_spent_before
        Of the table, and of the earlier releases.
    """

    delta: Enclosure
    cohorts: tuple[Cohort, ...]
    terms: tuple[Term, ...]
    rows: int
    rows_spent_before: int

    def curve(self, released: Composition, known_rows: int) -> RepeatedReleases:
        """The curve of everything released, at the ε and by the bound of what was released last."""
        return RepeatedReleases(
            self.cohorts,
            tuple(
                replace(
                    released, population=term.rows, parts=term.parts, known_rows=min(known_rows, term.rows - 1)
                ).curve()
                for term in self.terms
            ),
        )

    def disagreements(self, curve: RepeatedReleases, epsilon: Fraction) -> Iterator[str]:
        """Where the terms, their weights or their sum are not what is computed again."""
        deltas = curve.deltas(epsilon)
        for name, term, delta in zip(self._names, self.terms, deltas, strict=True):
            yield from _apart(f"{name}.delta", term.delta, delta)
        yield from _apart("guarantee.delta", self.delta, curve.delta(epsilon))
        if not any(self._are_weights(weights) for weights in _of_worst_cohorts(curve, deltas)):
            yield "the weights of history and guarantee.term are not those of the cohort that is exposed most"

    def contradictions(self) -> Iterator[str]:
        """Where numbers of rows, properties or their ranges do not fit together."""
        yield from self._in_numbers_of_rows()
        for name, term in zip(self._names, self.terms, strict=True):
            if term.asked is not None and not _all_asked(term.asked, term.parts):
                yield f"{name}.queries ask other properties than its parts"
            if term.asked is not None and not _all_processed(term.asked, term.parts):
                yield f"{name}.part has a gate, a suppression or a rounding that its queries do not have"
        if _has_two_ranges([part for term in self.terms for part in term.parts]):
            yield "a property has different ranges in different releases; the hull of all that were declared counts"

    @property
    def _names(self) -> list[str]:
        return [*(f"history[{k}]" for k in range(1, len(self.terms))), "guarantee.term"]

    def _in_numbers_of_rows(self) -> Iterator[str]:
        earlier = self.terms[:-1]
        for k, term in enumerate(earlier):
            name, there = self._names[k], sum(cohort.rows for cohort in self.cohorts if cohort.joined_after <= k)
            if term.rows_spent != term.rows or term.sizes != tuple(size for size, _ in _sized(term.parts)):
                yield f"{name}.rows_spent or the sizes of its queries are not those of its parts"
            if term.rows_then != there:
                yield f"{name}.rows_then is {term.rows_then}, by ledger.cohorts {there}"
        if self.rows != sum(cohort.rows for cohort in self.cohorts):
            yield f"data.rows is {self.rows}, but ledger.cohorts have {sum(cohort.rows for cohort in self.cohorts)}"
        if self.rows_spent_before != sum(term.rows for term in earlier):
            yield f"ledger.rows_spent_before is {self.rows_spent_before}, by history {sum(t.rows for t in earlier)}"

    def _are_weights(self, weights: Sequence[Fraction]) -> bool:
        return [term.weight for term in self.terms] == list(map(float, weights))


def _of_worst_cohorts(curve: RepeatedReleases, deltas: Sequence[Enclosure]) -> Iterator[tuple[Fraction, ...]]:
    """The weights of every cohort that may be exposed most, as far as the enclosures tell."""
    sums = curve.sums(deltas)
    certain = max(lower for lower, _ in sums)
    return (weights for weights, (_, upper) in zip(curve.weights, sums, strict=True) if upper >= certain)


def _has_two_ranges(parts: Sequence[Part]) -> bool:
    """Whether parts ask one property with different ranges; those behind a gate may state any probability at all."""
    stated: dict[object, tuple[Range, ...]] = {}
    asked = [part for part in parts if part.attribute and not (part.gate and part.ranges == _ANY)]
    return any(stated.setdefault((part.attribute, part.cells is None), part.ranges) != part.ranges for part in asked)


@dataclass(frozen=True)
class Report:
    """What the report of a release says, and the composition that it says it of. None stands for silence.

    Attributes
    ----------
    composition
        Of a first release, on all rows; of a later one that of this release alone, on the rows that were left.
    delta
        What the report says of it.
    answered
        The rows of each answer, of a histogram those of every cell.
    rows_spent, rows_spent_before
        By this release, and by earlier ones of the table.
    everything
        Of a later release, what the report says of all releases together: that is what its guarantee is about.
    partition_secret, partition_known
        δ of the guarantee again, and what is left of it for a reader who knows who is in which part.
    """

    composition: Composition
    delta: Enclosure
    holds: bool | None
    target: Fraction | None
    targets: tuple[Fraction, ...]
    epsilons: tuple[Fraction, ...]
    known_rows: int | None
    rows: int | None
    queries: _Sized | None
    asked: tuple[Asked, ...] | None
    answered: tuple[int, ...] = ()
    rows_spent: int | None = None
    rows_spent_before: int | None = None
    everything: Everything | None = None
    partition_secret: Enclosure | None = None
    partition_known: Enclosure | None = None

    @cached_property
    def curve(self) -> PrivacyCurve | RepeatedReleases:
        """The curve that the guarantee is about."""
        return self.curve_knowing(None)

    def curve_knowing(self, known_rows: int | None) -> PrivacyCurve | RepeatedReleases:
        """The same for a reader who knows so many rows; None stands for as many as the report says."""
        if self.everything is None:
            released = self.composition
            return (released if known_rows is None else replace(released, known_rows=known_rows)).curve()
        known = self.known_rows if known_rows is None else known_rows
        return self.everything.curve(self.composition, self.composition.known_rows if known is None else known)

    def disagreements(self) -> list[str]:
        """Where the report contradicts itself, or what is computed again from its composition and its history.

        Two enclosures of one number overlap; their ends may differ between versions.
        """
        asked = self.composition
        reached = self.curve.delta(asked.epsilon)
        if self.everything is not None and isinstance(self.curve, RepeatedReleases):
            found = [*_apart("guarantee.this_release", self.delta, asked.curve().delta(asked.epsilon))]
            found += self.everything.disagreements(self.curve, asked.epsilon)
        else:
            found = [*_apart("guarantee.delta", self.delta, reached)]
        if self.partition_secret is not None:
            found += _apart("guarantee.partition_secret", self.partition_secret, reached)
        if self.partition_known is not None:
            found += _apart("guarantee.partition_known", self.partition_known, self._of_known_parts())
        return [*found, *self._in_verdict(reached), *self.contradictions()]

    def _of_known_parts(self) -> Enclosure:
        """δ of the worst part of all releases, for a reader who knows who is in which."""
        asked = self.composition
        every = (
            asked.parts if self.everything is None else [part for term in self.everything.terms for part in term.parts]
        )
        return worst_part(
            [(part.query(), by_name(part.size)) for part in every],
            known=asked.known_rows if self.known_rows is None else self.known_rows,
            epsilon=asked.epsilon,
        )

    def contradictions(self) -> list[str]:
        """Where the report contradicts itself in what δ is computed from."""
        of_earlier = () if self.everything is None else self.everything.contradictions()
        return [*of_earlier, *self._in_inputs(), *self._in_rows_used()]

    def silences(self) -> list[str]:
        """What the report does not say of its release, so that its composition may be that of anything."""
        said = {
            "data.rows": self.rows is not None,
            "guarantee.known_rows": self.known_rows is not None,
            "queries": self.queries is not None,
            "where or cells of each query": all(asked.predicate for asked in self.asked or ()),
        }
        return [name for name, is_said in said.items() if not is_said]

    def _in_verdict(self, reached: Enclosure) -> Iterator[str]:
        if self.holds is None or self.target is None:
            return
        computed = f"but δ, computed again {_ends(reached)}, is"
        if self.holds and reached.lower > self.target:
            yield f"guarantee.holds is true, {computed} above the target {self.target}"
        if not self.holds and reached.upper <= self.target:
            yield f"guarantee.holds is false, {computed} at most the target {self.target}"

    def _in_inputs(self) -> Iterator[str]:
        asked, known, rows = self.composition, self.known_rows, self.rows
        source = "data.rows is"
        if self.everything is not None:
            rows, source = self.everything.rows - self.everything.rows_spent_before, "the rows that were left are"
            known = known if known is None else min(known, rows - 1)
        if any(abs(epsilon - asked.epsilon) > asked.epsilon / 2**52 for epsilon in self.epsilons):
            yield f"guarantee.epsilon is not {asked.epsilon}, as in the composition"
        if any(abs(target - self.target) > self.target / 2**52 for target in self.targets if self.target is not None):
            yield "guarantee.target_delta and guarantee.target_delta_exact differ"
        if known not in (None, asked.known_rows):
            yield f"guarantee.known_rows is {self.known_rows}, in the composition {asked.known_rows}"
        if rows not in (None, together(asked.population)):
            yield f"{source} {rows}, in the composition {together(asked.population)}"
        if self.queries is not None and not _covered(self.queries, _sized(asked.parts)):
            yield "the queries differ from the parts of the composition in number, size or range of p"
        if self.asked is not None and not _all_asked(self.asked, asked.parts):
            yield "the queries ask other properties than the parts of the composition"
        if self.asked is not None and not _all_processed(self.asked, asked.parts):
            yield "the parts of the composition have a gate, a suppression or a rounding that the queries do not have"

    def _in_rows_used(self) -> Iterator[str]:
        if self.everything is None and self.rows_spent_before:
            yield f"ledger.rows_spent_before is {self.rows_spent_before}, but the guarantee is that of a first release"
        if self.queries is None:
            return
        if self.rows_spent not in (None, sum(size for size, _ in self.queries)):
            yield f"release.rows_spent is {self.rows_spent}, which the queries do not use"
        cells = [1 if query.cells is None else query.cells for query in self.asked or ()]
        sizes = [size for (size, _), count in zip(self.queries, cells, strict=True) for _ in range(count)]
        if self.answered and list(self.answered) != sizes:
            yield "the answers are not those of the queries in number or size"


def _apart(name: str, stated: Enclosure, computed: Enclosure) -> Iterator[str]:
    """Why what is stated of a number is not what was computed of it again."""
    if not (stated.lower <= computed.upper and computed.lower <= stated.upper):
        yield f"{name} is {_ends(stated)}, computed again {_ends(computed)}"
    if stated.upper - stated.lower > _WIDEST:
        yield f"{name} is {_ends(stated)}, which says too little to agree or disagree"


def _sized(parts: Sequence[Part]) -> _Sized:
    return tuple((part.entries, part.ranges) for part in _single(parts))


def _all_asked(queries: Sequence[Asked], parts: Sequence[Part]) -> bool:
    return all(query.is_asked_by(part) for query, part in zip(queries, _single(parts), strict=False))


def _all_processed(queries: Sequence[Asked], parts: Sequence[Part]) -> bool:
    return all(query.is_processed_as(part) for query, part in zip(queries, _single(parts), strict=False))


def _single(parts: Sequence[Part]) -> Iterator[Part]:
    """Every part as often as it is there."""
    return (part for part in parts for _ in range(part.count))


def _covered(queries: _Sized, parts: _Sized) -> bool:
    """Whether query k has the size of part k, and ranges of p inside those of part k."""
    return len(queries) == len(parts) and all(
        size == part_size
        and len(ranges) == len(part_ranges)
        and all(
            low <= query_low and query_high <= high
            for (query_low, query_high), (low, high) in zip(ranges, part_ranges, strict=True)
        )
        for (size, ranges), (part_size, part_ranges) in zip(queries, parts, strict=True)
    )


def _ends(enclosure: Enclosure) -> str:
    return f"[{enclosure.lower}, {enclosure.upper}]"


# --- reading -------------------------------------------------------------------------------------


def _range_of_table(value: Value) -> Range:
    return range_from([value["lower"], value["upper"]])


def _ranges_of_tables(value: Value) -> tuple[Range, ...]:
    return tuple(_range_of_table(table["probability"]) for table in value)


def _read_enclosure(value: Value) -> Enclosure:
    # JSON numbers of a report are doubles in decimal.
    return Enclosure(float(value["lower"]), float(value["upper"]))


def _share(value: Value) -> float:
    if not 0 <= value <= 1:
        raise ArgumentError("not a probability")
    return float(value)


def _past_queries(value: Value) -> tuple[tuple[int, Asked], ...]:
    return tuple((SIZE.read(table["size"]), _past_query(table)) for table in value)


def _past_query(table: Value) -> Asked:
    gates = [_read_gate(gate) for gate in table["gates"] or ()]
    return Asked(
        TEXT.read(table["where"] if "where" in table else table["cells"]),
        gates[0] if len(gates) == 1 else None,
        *(None if table[key] is None else SIZE.read(table[key]) for key in ("suppressed_below", "rounded_to")),
    )


def _read_gate(value: Value) -> tuple[int, int]:
    return COUNT.read(value["lower"]), COUNT.read(value["upper"])


def _cells_of_tables(value: Value) -> tuple[tuple[Range, str | None], ...]:
    return tuple((_range_of_table(table["probability"]), _TEXT_OR_NULL.read(table.get("where"))) for table in value)


def _read_cohorts(value: Value) -> tuple[Cohort, ...]:
    cohorts = tuple(Cohort(SIZE.read(table["rows"]), SIZE.read(table["since_release"]) - 1) for table in value)
    times = [cohort.joined_after for cohort in cohorts]
    if times[:1] != [0] or times != sorted(set(times)):
        raise ArgumentError("not in order")
    return cohorts


def _field(read: Callable[[Value], Any], allowed: str) -> Field:
    """A field of a report, whose schema is published by itself."""
    return Field(read, allowed, {})


_TEXT_OR_NULL = or_null(TEXT)
_ENCLOSURE = _field(_read_enclosure, 'an enclosure {"lower": …, "upper": …}')
_TERM_KEYS = {"delta": _ENCLOSURE, "weight": _field(_share, "a number from 0 to 1")}
_GUARANTEE_KEYS = {
    "delta": _ENCLOSURE,
    "epsilon": NUMBER.optional(),
    "epsilon_exact": NUMBER.optional(),
    "target_delta": NUMBER.optional(),
    "target_delta_exact": NUMBER.optional(),
    "known_rows": COUNT.optional(),
    "holds": TRUTH.optional(),
    "releases": COUNT.optional(1),
    "partition_secret": or_null(_ENCLOSURE),
    "partition_known": or_null(_ENCLOSURE),
}
_DATA_KEYS = {"rows": SIZE.optional()}
_RELEASE_KEYS = {"rows_spent": COUNT.optional()}
_BOOKS_KEYS = {"rows_spent_before": COUNT.optional()}
_ANSWER_KEYS = {"size": SIZE}
_QUERY_KEYS = {
    "size": SIZE,
    "probability": or_null(_field(_range_of_table, 'a range {"lower": …, "upper": …} within 0 and 1')),
    "cells": or_null(_field(_cells_of_tables, "the cells of a histogram, each with its probability")),
    "groups": or_null(_field(_ranges_of_tables, "the groups, each with its probability")),
    "where": _TEXT_OR_NULL,
    "publication": or_null(_field(dict, "a table")),
}
_STEP_KEYS = {
    "gate": or_null(_field(_read_gate, 'two counts {"lower": …, "upper": …}')),
    "suppressed_below": or_null(COUNT),
    "rounded_to": or_null(SIZE),
}
_LATER_GUARANTEE_KEYS = {"this_release": _ENCLOSURE}
_LEDGER_KEYS = {
    "rows_spent_before": COUNT,
    "cohorts": _field(_read_cohorts, "a list of cohorts {rows, since_release} in order, the first since release 1"),
}
_PAST_KEYS = {
    **_TERM_KEYS,
    "rows_spent": SIZE,
    "rows_then": SIZE,
    "queries": _field(
        _past_queries, "a list of queries, each with where or cells, size, gates, suppressed_below and rounded_to"
    ),
    "part": PARTS,
}


def read_report(document: dict[str, Value], _place: str, faults: list[str]) -> Report | None:
    """What a report says; what is wrong with it is added to `faults`."""
    composition = composition_of(document["composition"], "composition", faults)
    said = read_table(document.get("guarantee"), _GUARANTEE_KEYS, "guarantee", faults, closed=False)
    data = read_table(document.get("data", {}), _DATA_KEYS, "data", faults, closed=False)
    queries = document.get("queries")
    asked = [
        read_table(query, _QUERY_KEYS, f"queries[{k}]", faults, closed=False)
        for k, query in enumerate(elements(queries), start=1)
    ]
    steps = [
        read_table(query.get("publication") or {}, _STEP_KEYS, f"queries[{k}].publication", faults, closed=False)
        for k, query in enumerate(asked, start=1)
    ]
    answers = document.get("answers")
    answered = [
        read_table(answer, _ANSWER_KEYS, f"answers[{k}]", faults, closed=False)
        for k, answer in enumerate(elements(answers), start=1)
    ]
    release = read_table(document.get("release") or {}, _RELEASE_KEYS, "release", faults, closed=False)
    books = read_table(document.get("ledger") or {}, _BOOKS_KEYS, "ledger", faults, closed=False)
    if said.get("releases") in (0, 1) and document.get("history"):
        faults.append("history has earlier releases, but by guarantee.releases there are none")
    if composition is None or faults:
        return None
    targets = tuple(said[key] for key in ("target_delta_exact", "target_delta") if said[key] is not None)
    report = Report(
        composition=composition,
        delta=said["delta"],
        holds=said["holds"],
        target=targets[0] if targets else None,
        targets=targets,
        epsilons=tuple(said[key] for key in ("epsilon", "epsilon_exact") if said[key] is not None),
        known_rows=said["known_rows"],
        rows=data["rows"],
        queries=None if queries is None else tuple((query["size"], _ranges_of_query(query)) for query in asked),
        asked=None if queries is None else tuple(map(_asked, asked, steps)),
        answered=tuple(answer["size"] for answer in answered),
        rows_spent=release["rows_spent"],
        rows_spent_before=books["rows_spent_before"],
        partition_secret=said["partition_secret"],
        partition_known=said["partition_known"],
    )
    return report if said["releases"] <= 1 else _later(document, report, faults)


def _later(document: dict[str, Value], report: Report, faults: list[str]) -> Report | None:
    """The same of a later release of a table, with what is said of all releases together."""
    guarantee, history = document["guarantee"], document.get("history")
    own = read_table(guarantee, _LATER_GUARANTEE_KEYS, "guarantee", faults, closed=False)
    last = read_table(guarantee.get("term"), _TERM_KEYS, "guarantee.term", faults)
    ledger = read_table(document.get("ledger"), _LEDGER_KEYS, "ledger", faults, closed=False)
    data = read_table(document.get("data"), {"rows": SIZE}, "data", faults, closed=False)
    if not isinstance(history, list) or len(history) + 1 != int(guarantee["releases"]):
        faults.append("history is not a list of one release less than guarantee.releases")
        history = []
    past = [_past(table, f"history[{k}]", faults) for k, table in enumerate(history, start=1)]
    if faults:
        return None
    terms = (*(term for term in past if term is not None), Term(parts=report.composition.parts, **last))
    if not _could_be_drawn(ledger["cohorts"], [term.rows for term in terms]):
        faults.append("ledger.cohorts had fewer rows left than a release used, or joined after the last one")
        return None
    everything = Everything(report.delta, ledger["cohorts"], terms, data["rows"], ledger["rows_spent_before"])
    return replace(report, delta=own["this_release"], everything=everything)


def _could_be_drawn(cohorts: Sequence[Cohort], rows: Sequence[int]) -> bool:
    """Whether each release found as many rows that no earlier one had used."""
    there = [sum(cohort.rows for cohort in cohorts if cohort.joined_after <= r) for r in range(len(rows))]
    enough = all(size <= there[r] - sum(rows[:r]) for r, size in enumerate(rows))
    return enough and all(cohort.joined_after < len(rows) for cohort in cohorts)


def _past(table: Value, place: str, faults: list[str]) -> Term | None:
    known = len(faults)
    read = read_table(table, _PAST_KEYS, place, faults, closed=False)
    parts = read_parts(read.pop("part", []), f"{place}.part", faults)
    if len(faults) > known:
        return None
    queries = read.pop("queries")
    sizes, asked = tuple(size for size, _ in queries), tuple(query for _, query in queries)
    return Term(parts=parts, sizes=sizes, asked=asked, **read)


def _ranges_of_query(query: Value) -> tuple[Range, ...]:
    """Of its cells or groups, else the one that it states."""
    cells = tuple(ranges for ranges, _ in query["cells"] or ())
    return cells or query["groups"] or ((query["probability"],) if query["probability"] else ())


def _asked(query: dict[str, Value], steps: dict[str, Value]) -> Asked:
    """What a query asks; a histogram is named by the predicates of its cells, of which the last one has none."""
    named = [where for _, where in query["cells"] or () if where is not None]
    cells = None if query["cells"] is None else len(query["cells"])
    return Asked("first of: " + "; ".join(named) if named else query["where"], **steps, cells=cells)
