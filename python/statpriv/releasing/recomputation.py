"""A report made again from the facts that it states, and every place where the two differ.

A report is a function of the plan, the number of rows (of each group), the place of the table in the ledger and the
published counts. The functions that wrote it are called on what it states of these. :mod:`statpriv.releasing.leaves`
says of each leaf whether it is computed, must fit others, or is taken on trust.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import statpriv
from statpriv.assurance.certificate import About
from statpriv.errors import ArgumentError, PlanError, StatprivError
from statpriv.files.composition import Composition, composition_of
from statpriv.files.documents import as_text, parsed, refused
from statpriv.numeric.arguments import is_list, is_mapping
from statpriv.releasing.contents import answered_contents, prospective_contents
from statpriv.releasing.guarantee import certify
from statpriv.releasing.history import Everything, everything, with_everything
from statpriv.releasing.leaves import LEAVES, named
from statpriv.releasing.ledger import ReleaseRecord
from statpriv.releasing.released_table import contradictions
from statpriv.releasing.report import validate_form
from statpriv.releasing.sql_text import quoted
from statpriv.releasing.stated_facts import (
    groups_of,
    misfits,
    past_contradictions,
    plan_facts,
    position_of,
    published_counts,
    published_tables,
)

if TYPE_CHECKING:
    from fractions import Fraction

    from statpriv.composition.repeated_releases import RepeatedReleases
    from statpriv.curves.curve import PrivacyCurve
    from statpriv.releasing.plan import Plan

__all__ = ["ContradictedRangeWarning", "ReleaseReport", "read_report"]

_NEAR = 1e-6
"""Relative distance of the ends of enclosures of one number that different machines and versions may have."""
_ROUNDING = 1e-9
_LONGEST = 120
_SIZES = (
    "data.rows, composition.population, guarantee.known_rows, queries.size, queries.groups.group, queries.groups.size, "
    "queries.groups and history"
)


def read_report(content: bytes, path: Path) -> ReleaseReport:
    """Read the JSON report of a release.

    Parameters
    ----------
    content, path
        The bytes of the file, and its path for messages.

    Returns
    -------
    ReleaseReport

    Raises
    ------
    ArgumentError
        If it breaks the schema of reports; the message names the place and the rule.
    MissingExtraError
        If the release extra is not installed.
    """
    document = parsed(as_text(content, path), path, number=float)
    try:
        validate_form(document, naming_keys=True)
    except ArgumentError as fault:
        raise ArgumentError(f"{path} is no valid {fault}") from None
    faults: list[str] = []
    composition = composition_of(document["composition"], "composition", faults)
    if composition is None:
        raise refused(path, faults)
    return ReleaseReport(document, composition, hashlib.sha256(content).hexdigest())


class ContradictedRangeWarning(UserWarning):
    """A report of a release whose certified δ does not apply, because a declared range is wrong."""


@dataclass(frozen=True)
class ReleaseReport:
    """The report of a release, which says what was released and under which guarantee.

    Attributes
    ----------
    document
        The JSON of the report, valid by its schema.
    composition
        The composition that it states: of a first release on all rows, of a later one that of this release alone, on
        the rows that were left.
    sha256
        The digest of the file, in hexadecimal.
    published_plan
        The plan file that it has to be of; None for what it states itself.
    """

    document: Mapping[str, Any]
    composition: Composition
    sha256: str
    published_plan: Plan | None = None

    def of_plan(self, plan: Plan) -> ReleaseReport:
        """The same report, which has to be of this plan: what the plan says replaces what the report says of it."""
        return replace(self, published_plan=plan)

    @property
    def about(self) -> About:
        """The name of the report in certificates."""
        release = self.document["release"]
        return About(None if release is None else release["id"], self.sha256, self.document["plan"]["sha256"])

    def warn_if_contradicted(self) -> None:
        """Warn of published counts that contradict their declared range: what is recomputed does not apply then."""
        answers = self.document["answers"]
        names = dict.fromkeys(quoted(answer["query"]) for answer in answers if answer["contradicts_range"])
        if names:
            warnings.warn(
                f"the certified δ does not apply: by the report itself, the count of {', '.join(names)} contradicts "
                "the declared range that δ rests on",
                ContradictedRangeWarning,
                stacklevel=2,
            )

    @property
    def target(self) -> Fraction:
        """The largest δ that the plan accepts."""
        return self._everything.guarantee.plan.guarantee.delta

    @property
    def curve(self) -> PrivacyCurve | RepeatedReleases:
        """The curve that the guarantee is about."""
        return self.curve_knowing(None)

    def curve_knowing(self, known_rows: int | None) -> PrivacyCurve | RepeatedReleases:
        """The same for a reader who knows so many rows; None stands for as many as the report says."""
        whole = self._everything
        if whole.is_first:
            released = self.composition
            return (released if known_rows is None else replace(released, known_rows=known_rows)).curve()
        if known_rows is None:
            return whole.releases
        plan = whole.guarantee.plan
        knowing = replace(plan, guarantee=replace(plan.guarantee, known_rows=known_rows))
        return replace(whole, guarantee=replace(whole.guarantee, plan=knowing)).releases

    @cached_property
    def disagreements(self) -> tuple[str, ...]:
        """Where the report contradicts itself: each leaf that is not what follows from its facts, by name."""
        if self.misfits:
            return self.misfits
        try:
            again = self._again()
        except StatprivError as error:
            return (str(error),)
        found = (*_apart("", self.document, again), *self._contradictions())
        version = self.document["statpriv"]
        if found and version != statpriv.__version__:
            this = f"and this is {statpriv.__version__}: sentences, and the points of curves, may differ"
            return (*found, f"the report is of statpriv {version}, {this}")
        return found

    @cached_property
    def misfits(self) -> tuple[str, ...]:
        """Facts between which nothing can be computed."""
        plan, stated = self.published_plan, self.document["plan"]["sha256"]
        if plan is not None and plan.sha256 != stated:
            return (f"plan.sha256 is {stated}, but the digest of {plan.path.name} is {plan.sha256}",)
        if found := tuple(misfits(self.document)):
            return found
        try:
            _ = self._plan
        except PlanError as error:
            return (_in_words_of_reports(str(error)),)
        try:
            if not self._everything.is_first:
                _ = self._everything.releases
        except StatprivError as error:
            return (f"from {_SIZES} nothing can be computed: {error}",)
        return ()

    @cached_property
    def _plan(self) -> Plan:
        plan, stated = self.published_plan, self.document["data"]
        if plan is None:
            return plan_facts(self.document)
        # The command may name another table than the plan: release --data.
        return replace(plan, data=replace(plan.data, label=stated["source"], engine=stated["engine"]))

    @cached_property
    def _everything(self) -> Everything:
        """The guarantee from the stated plan, rows and history."""
        guarantee = certify(self._plan, self.document["data"]["rows"], groups_of(self.document))
        return everything(guarantee, position_of(self.document, once=self._plan.is_once))

    def _again(self) -> dict[str, Any]:
        """The report as the release would write it."""
        stated, whole = self.document, self._everything
        guarantee = whole.guarantee
        contents = prospective_contents(
            guarantee,
            alone=whole.on_rows_left,
            rows_left=guarantee.rows,
            dry_run=stated["dry_run"],
            progress=lambda _step: None,
        )
        position = position_of(stated, once=guarantee.plan.is_once)
        again = with_everything(contents, whole, position)
        if stated["release"] is not None:
            spent = guarantee.rows_used
            record = ReleaseRecord(
                release_id=stated["release"]["id"],
                ledger_id=stated["release"]["ledger"],
                number=stated["release"]["number"],
                rows_spent=spent,
                rows_left=whole.rows_left - spent,
            )
            again = answered_contents(
                again, guarantee, published_counts(stated, guarantee), published_tables(stated), record
            )
        if "tables" in stated and self.published_plan is None:
            asked = zip(again["tables"], stated["tables"], strict=True)
            again["tables"] = [_with_conditions_of(table, one) for one, table in asked]
        _leave_unsaid(again, stated)
        return {**again, **{leaf: stated[leaf] for leaf in ("statpriv", "html_sha256", "signer") if leaf in stated}}

    def _contradictions(self) -> Iterator[str]:
        """Facts from which a report can be made, but that no release has."""
        stated, whole = self.document, self._everything
        for number, (part, counts) in enumerate(
            zip(whole.guarantee.counted, published_counts(stated, whole.guarantee), strict=True), start=1
        ):
            if counts and not part.steps.could_publish(counts):
                yield (
                    f"answers.count, answers.withheld and answers.suppressed of queries[{number}] are not what any "
                    "exact counts of its part are published as"
                )
        for table in stated.get("tables", ()):
            yield from contradictions(table)
        for guarantee in (whole.guarantee, *([] if whole.is_first else [whole.on_rows_left])):
            if guarantee.plan.guarantee.delta < 1 and (telling := guarantee.telling()):
                yield f"queries.probability of {', '.join(telling)} may be 0 or 1, and no such release is made"
        numbers = [entry["number"] for entry in stated["history"]]
        ids = [entry["release_id"] for entry in stated["history"]]
        if stated["release"] is not None:
            numbers, ids = [*numbers, stated["release"]["number"]], [*ids, stated["release"]["id"]]
            namesake = position_of(stated, once=False).namesake
            numbers = numbers if namesake is None else [namesake, *numbers]
        if numbers != sorted(set(numbers)):
            yield "history.number and release.number do not ascend"
        if len(ids) != len(set(ids)):
            yield "history.release_id and release.id are not all different"
        yield from past_contradictions(stated, whole.guarantee.plan)


def _leave_unsaid(again: dict[str, Any], stated: Mapping[str, Any]) -> None:
    """Take away what reports of earlier versions did not say."""
    if "people" not in stated:
        del again["people"]
    if "columns" not in stated["data"]:
        again["data"] = {key: value for key, value in again["data"].items() if key != "columns"}
    for key in ("queries", "tables"):
        for one, told in zip(again.get(key, ()), stated.get(key, ()), strict=True):
            if "withheld_at_most" not in told:
                one.pop("withheld_at_most", None)


def _with_conditions_of(stated: Mapping[str, Any], table: dict[str, Any]) -> dict[str, Any]:
    """A table with the stated conditions of its categories, of which the plan by a report knows the labels alone."""
    own = {key: value for key, value in table.items() if key != "conditions"}
    return {**own, **({"conditions": stated["conditions"]} if "conditions" in stated else {})}


_KEYS = {
    "query[": "queries[",
    "].cell[": "].cells[",
    "guarantee.delta": "guarantee.target_delta_exact",
    "guarantee.epsilon": "guarantee.epsilon_exact",
}


def _in_words_of_reports(message: str) -> str:
    """What is wrong with the stated plan, with the keys of the report."""
    for key, of_report in _KEYS.items():
        message = message.replace(key, of_report)
    return message


# --- comparison ----------------------------------------------------------------------------------


def _apart(place: str, stated: Any, again: Any) -> Iterator[str]:  # noqa: ANN401  (JSON values)
    """Why the stated value is not the one that was computed; one line for each leaf."""
    if _is_enclosure(again) and _is_enclosure(stated):
        yield from _enclosures_apart(place, stated, again)
    elif is_mapping(again) and is_mapping(stated):
        for key in dict.fromkeys((*again, *stated)):
            inner = f"{place}.{key}" if place else key
            if key not in stated:
                yield _sentence(inner, "missing", _shown(again[key]))
            elif key not in again:
                yield _sentence(inner, _shown(stated[key]), "there is none")
            else:
                yield from _apart(inner, stated[key], again[key])
    elif is_list(again) and is_list(stated):
        if len(again) != len(stated):
            yield _sentence(place, f"a list of {len(stated)}", f"one of {len(again)}")
        for k, (one, other) in enumerate(zip(stated, again, strict=False), start=1):
            yield from _apart(f"{place}[{k}]", one, other)
    elif not _same(stated, again):
        yield _sentence(place, _shown(stated), _shown(again))


def _is_enclosure(value: object) -> bool:
    return is_mapping(value) and value.keys() == {"lower", "upper"} and not isinstance(value["lower"], str)


def _enclosures_apart(place: str, stated: Mapping[str, float], again: Mapping[str, float]) -> Iterator[str]:
    if not all(isinstance(end, float) for end in again.values()):  # the two counts of a gate
        if stated != again:
            yield _sentence(place, _ends(stated), _ends(again))
    elif not (stated["lower"] <= again["upper"] and again["lower"] <= stated["upper"]):
        yield _sentence(place, _ends(stated), _ends(again))
    else:
        # As narrow as what was computed, so that the computed width is the freedom that there is for each end.
        width = again["upper"] - again["lower"]
        room = _NEAR * again["upper"] + (width if width <= again["upper"] / 1000 else 0)
        if any(abs(stated[end] - again[end]) > room for end in ("lower", "upper")):
            yield _sentence(place, f"{_ends(stated)}, which says too little to agree or disagree", _ends(again))


def _same(stated: Any, again: Any) -> bool:  # noqa: ANN401  (JSON values)
    if type(again) is float and type(stated) in (int, float):
        return bool(abs(stated - again) <= _ROUNDING * abs(again))
    return type(stated) is type(again) and bool(stated == again)


def _sentence(place: str, stated: str, again: str) -> str:
    leaf = LEAVES.get(named(place))
    basis = f" (from {leaf.why})" if leaf is not None and leaf.standing == "recomputed" else ""
    return f"{place} is {stated}, computed again {again}{basis}"


def _ends(enclosure: Mapping[str, float]) -> str:
    return f"[{enclosure['lower']}, {enclosure['upper']}]"


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
