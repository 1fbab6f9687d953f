"""The registry of rules: which theorem applies to which situation.

A rule is a function from a situation to a kernel curve. It declares its queries, samplings, kind, cost, theorem, source
and assumptions. A rule names queries and samplings by class or by a capability of the class; combinations that no rule
names have no rule. A rule raises :class:`NotApplicable` with the reason if another hypothesis fails. `explain()`,
`compare()`, the choice of the tightest bound and the nearest combinations named in errors all use these declarations.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from types import NoneType
from typing import Any, Literal, TypeAlias

from statpriv import rules
from statpriv._native import Curve
from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.adversaries import Adversary
from statpriv.model.features import FEATURES
from statpriv.model.partitions import Partition
from statpriv.model.queries.sum import Additive, MeanQuery, SumQuery
from statpriv.model.same_rows import SameRowsSituation
from statpriv.model.samplings import SAMPLINGS, Sampling
from statpriv.model.situation import PartitionedSituation, Situation
from statpriv.model.strategies import AdaptiveSituation

Kind: TypeAlias = Literal["exact", "enclosed", "bound"]
_ORDER = ("exact", "enclosed", "bound")
"""The order in which kinds are tried."""
ADDITIVE = (MeanQuery, SumQuery)
"""The additive queries that messages name."""
AnySituation: TypeAlias = Situation | PartitionedSituation | SameRowsSituation | AdaptiveSituation
Lowering: TypeAlias = Callable[[Any], Curve]
Refusal: TypeAlias = Callable[[Curve], "str | None"]
"""Why a curve is not what a rule declares; None where it is."""
SamplingCapability: TypeAlias = Callable[[type[Sampling]], bool]
"""What a sampling class must state so that a rule applies to it."""


@dataclass(frozen=True)
class Rule:
    """A theorem, with the function that turns it into a curve.

    `bound` is the name that `bound=` selects it by. The cheapest exact rule that applies is used: its `cost` is about
    10 for a closed form, 20 for the law of a sum, 30 for a mixture of laws, 40 and more for an enumeration. Of bounds
    all that apply are computed, and named in the order of their costs. Rules of one kind that can be about one
    situation have different costs. `competes` says whether it is tried by
    `bound="tightest"`; a rule that never wins does not. `conditional` says that it is about the answer given that the
    critical entry is in the sample, and so no bound of what is released. Rules whose kind shows only in the curve share
    one `lowering`, and `refusal` says of which of them it is. `covers` names the features that the theorem holds with
    (:data:`statpriv.model.features.FEATURES`); a situation with any other is refused before the rule sees it. A rule
    that `needs` features covers them, and is not about situations without them.
    """

    bound: str
    kind: Kind
    queries: tuple[type, ...]
    samplings: tuple[type, ...]
    sampling_with: SamplingCapability | None
    cost: int
    theorem: str
    source: str
    assumptions: tuple[str, ...]
    competes: bool
    conditional: bool
    refusal: Refusal
    covers: frozenset[str]
    needs: frozenset[str]
    lowering: Lowering

    def curve(self, situation: AnySituation) -> Curve:
        """The curve of a situation that this rule is about, or :class:`NotApplicable`."""
        return _Lowerings(situation).by(self)

    def is_about(self, situation: AnySituation) -> bool:
        """Whether the query and the sampling are of the declared types, or have the declared capability."""
        of_type = all(isinstance(query, self.queries) for query in situation.different_queries)
        return of_type and self.allows(type(situation.sampling)) and self.needs <= situation.features

    def allows(self, sampling: type) -> bool:
        """Whether samplings of this class are of a declared type, or have the declared capability."""
        capable = self.sampling_with is not None and issubclass(sampling, Sampling) and self.sampling_with(sampling)
        return capable or issubclass(sampling, self.samplings)


@dataclass(frozen=True)
class Lowered:
    """A curve and the rules it rests on."""

    curve: Curve
    kind: Kind
    rules: tuple[Rule, ...]


_RULES: list[Rule] = []


def rule(
    *,
    bound: str,
    kind: Kind,
    queries: tuple[type, ...],
    samplings: tuple[type, ...] = (NoneType,),
    sampling_with: SamplingCapability | None = None,
    cost: int,
    theorem: str,
    source: str,
    assumptions: tuple[str, ...],
    competes: bool = True,
    conditional: bool = False,
    refusal: Refusal = lambda _: None,
    covers: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
) -> Callable[[Lowering], Lowering]:
    """Declare a rule."""
    if unknown := {*covers, *needs} - set(FEATURES):
        raise ArgumentError(f"{min(unknown)!r} is none of the features {', '.join(FEATURES)}, which rules may cover")
    covered = frozenset((*covers, *needs))

    def register(lowering: Lowering) -> Lowering:
        stated = (bound, kind, queries, samplings, sampling_with, cost, theorem, source, assumptions)
        _RULES.append(Rule(*stated, competes, conditional, refusal, covered, frozenset(needs), lowering))
        return lowering

    return register


class _Lowerings:
    """The curves of one situation: a function that several rules share is asked once."""

    def __init__(self, situation: AnySituation) -> None:
        self.situation = situation
        self.features = situation.features
        self._found: dict[Lowering, tuple[Curve | None, str | None]] = {}

    def by(self, rule: Rule) -> Curve:
        """The curve by a rule that is about the situation, or :class:`NotApplicable`."""
        for feature, words in FEATURES.items():
            if feature in self.features - rule.covers:
                raise NotApplicable(f"{words}, for which no such bound is proved")
        if rule.lowering not in self._found:
            self._found[rule.lowering] = self._lowered(rule)
        curve, reason = self._found[rule.lowering]
        if curve is not None and (reason := rule.refusal(curve)) is None:
            return curve
        raise NotApplicable(reason)

    def _lowered(self, rule: Rule) -> tuple[Curve | None, str | None]:
        try:
            return rule.lowering(self.situation), None
        except NotApplicable as reason:
            return None, str(reason)

    def applicable(self) -> Iterator[tuple[Rule, Curve]]:
        """Every rule that applies, with its curve."""
        for candidate in all_rules():
            if not candidate.is_about(self.situation):
                continue
            try:
                yield candidate, self.by(candidate)
            except NotApplicable:
                continue


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule: exact ones first, each kind by cost. A new file of rules is found by its presence in the folder."""
    for module in pkgutil.iter_modules(rules.__path__):
        import_module(f"{rules.__name__}.{module.name}")
    return tuple(sorted(_RULES, key=lambda declared: (_ORDER.index(declared.kind), declared.cost)))


def applicable(situation: AnySituation) -> Iterator[tuple[Rule, Curve]]:
    """Every rule that applies, with its curve."""
    return _Lowerings(situation).applicable()


def lower(situation: AnySituation, bound: str) -> Lowered:
    """The curve of a situation by the named bound, or by the tightest that applies.

    Raises
    ------
    ArgumentError
        `bound` is not the name of any rule.
    NotAvailableError
        No such rule applies; the message gives the reason, and the bounds that do apply.
    """
    if not isinstance(bound, str) or bound not in {"tightest", *(known.bound for known in all_rules())}:
        names = dict.fromkeys(["tightest", *(known.bound for known in all_rules() if known.is_about(situation))])
        raise ArgumentError(f"bound = {bound!r}; one of {', '.join(map(repr, names))} is required")
    lowerings = _Lowerings(situation)
    found: list[tuple[Rule, Curve]] = []
    reasons: list[str] = []
    for candidate in all_rules():
        if bound != candidate.bound and not (bound == "tightest" and candidate.competes):
            continue
        if not candidate.is_about(situation):
            continue
        try:
            found.append((candidate, lowerings.by(candidate)))
        except NotApplicable as reason:
            reasons.append(str(reason))
            continue
        if candidate.kind != "bound":
            return Lowered(found[0][1], candidate.kind, (candidate,))
    if not found:
        raise NotAvailableError(
            f"bound = {bound!r} does not apply here: {_reasons(situation, reasons)}. {_alternatives(lowerings)}"
        )
    applied, curves = zip(*found, strict=True)
    return Lowered(curves[0] if len(curves) == 1 else Curve.minimum(curves), "bound", applied)


def _query(situation: AnySituation) -> object:
    return situation.different_queries[0]


def _reasons(situation: AnySituation, reasons: list[str]) -> str:
    if reasons:
        return "; ".join(dict.fromkeys(reasons))
    return f"it is not for {_named(type(_query(situation)))} with {_named(type(situation.sampling))}"


def _alternatives(lowerings: _Lowerings) -> str:
    """The bounds that apply; or else what to leave out, and what the query can be combined with."""
    situation = lowerings.situation
    bounds = dict.fromkeys(repr(found.bound) for found, _ in lowerings.applicable())
    if bounds:
        return f"What applies: {', '.join(bounds)}"
    nearest = _nearest(situation)
    found = f" One does {', or '.join(nearest)}." if nearest else ""
    if any(known.is_about(situation) for known in all_rules()):
        return f"No bound of this version applies.{found}"
    query, sampling = type(_query(situation)), type(situation.sampling)
    samplings = {
        other
        for known in all_rules()
        if issubclass(query, known.queries)
        for other in (*known.samplings, *filter(known.allows, SAMPLINGS))
        if issubclass(other, Partition) is issubclass(sampling, Partition)
    }
    queries = {other for known in all_rules() if known.allows(sampling) for other in known.queries}
    return (
        f"No bound of this version applies.{found} {_named(query)} is available with {_listed(samplings)}; "
        f"{_named(sampling)} with {_listed(queries)}"
    )


def _nearest(situation: AnySituation) -> list[str]:
    """All smallest sets of changes after which a bound applies."""
    changed: dict[frozenset[str], tuple[str, AnySituation]] = {frozenset(): ("", situation)}
    while changed:
        further: dict[frozenset[str], tuple[str, AnySituation]] = {}
        for made, (text, before) in changed.items():
            for change, simpler in _simpler(before):
                further.setdefault(made | {change}, (f"{text} and {change}" if text else change, simpler))
        found = [text for text, simpler in further.values() if any(True for _ in applicable(simpler))]
        if found:
            return found
        changed = further
    return []


def _simpler(situation: AnySituation) -> Iterator[tuple[str, AnySituation]]:
    """The situation with one element removed."""
    adversary = situation.adversary
    if adversary.total:
        if adversary.by_group:
            by_number = Adversary(known=adversary.total, values=adversary.values)
            yield f"with known={adversary.total} instead of groups", replace(situation, adversary=by_number)
        yield "without known entries", replace(situation, adversary=Adversary())
    if isinstance(situation, Situation):
        if situation.sampling is not None:
            yield "without a sample", replace(situation, sampling=None)
        if situation.steps:
            yield "without the steps", situation.unprocessed


def _named(part: type) -> str:
    return "no sampling" if part is NoneType else part.__name__


def _listed(parts: set[type]) -> str:
    """Names that a user can write; a family of queries is listed by its members."""
    public = {member for part in parts for member in (ADDITIVE if part is Additive else (part,))}
    return ", ".join(sorted(map(_named, public))) or "nothing"
