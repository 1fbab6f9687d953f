"""Certificates: a privacy claim with everything a reader needs to check it without this library.

A certificate can state whatever :mod:`statpriv.assurance.checker` can prove: counts and histograms on secret parts,
by one of four theorems, entries of several groups, group by group, and exact tables with a minimum count in every cell,
ladders and trees of them included.
Post-processing of a count never raises δ. The certificate therefore concerns the counts themselves or, if a gate makes
them private for every p, the gated counts. The numbers of a certificate come from the kernel. It is only returned after
the checker has reproduced them.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from statpriv import budget
from statpriv.assurance import checker
from statpriv.assurance.certificate_fields import ABOUT, RELEASE, RELEASES, RULE, SEVERAL_GROUPS, SITUATION
from statpriv.errors import ArgumentError, DisagreementError, NotAvailableError
from statpriv.lowering.applicability import NotApplicable
from statpriv.model.features import FEATURES
from statpriv.model.fields import is_by_group
from statpriv.model.partitions import RandomPartition
from statpriv.model.queries.contingency import ContingencyTable
from statpriv.model.queries.histogram import HistogramQuery
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import ends
from statpriv.model.samplings import WithoutReplacement
from statpriv.model.situation import PartitionedSituation, Situation, asked_of, capabilities, gate_for_every_p
from statpriv.model.strategies import AdaptiveSituation
from statpriv.numeric.digits import exact_ends
from statpriv.numeric.exact import Number, as_fraction
from statpriv.numeric.literals import abridged, spelled
from statpriv.rules.own_group_in_parts import groups_alone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from statpriv.composition.cohorts import Cohort
    from statpriv.curves.curve import PrivacyCurve
    from statpriv.model.situation import Query
    from statpriv.rules.registry import AnySituation

__all__ = ["About", "Certificate", "certify", "together"]

_DIGITS = 30
_FORMAT = {"format": checker.FORMAT}


class RefutedError(ArgumentError):
    """The checker has refuted the claim by a theorem."""

    def __init__(self, message: str, theorem: str) -> None:
        super().__init__(message)
        self.theorem = theorem


@dataclass(frozen=True)
class About:
    """The report of a release that a claim is about.

    Attributes
    ----------
    release : str or None
        The id of the release; None of a dry run.
    report_sha256, plan_sha256 : str
        Digests of the JSON report and of the plan file, in hexadecimal.
    """

    release: str | None
    report_sha256: str
    plan_sha256: str


@dataclass(frozen=True)
class Certificate:
    """A privacy claim that `python -m statpriv.checker` proves.

    Made by :meth:`statpriv.PrivacyCurve.certify`.

    Attributes
    ----------
    text : str
        The JSON of the certificate, as it stands in a file; `str()` returns it too.
    """

    text: str

    @property
    def document(self) -> dict[str, Any]:
        """The parsed JSON."""
        return dict(json.loads(self.text))

    @property
    def theorems(self) -> tuple[str, ...]:
        """Names of the theorems that the certificate rests on, as the checker knows them."""
        document = self.document
        inner = document.get("releases", [*document.get("groups", {"": document}).values()])
        return tuple(dict.fromkeys(part["witness"]["theorem"] for part in inner))

    @property
    def about(self) -> About | None:
        """The report that it names; None if it names none."""
        stated = checker.about_of(self.document)
        return None if stated is None else About(**stated)

    def naming(self, about: About) -> Certificate:
        """The same certificate, which names the report that its claim is about."""
        head = {**_FORMAT, "about": ABOUT.write(vars(about))}
        return Certificate(_written({**head, **self.document}))

    def check(self) -> checker.Verdict:
        """The verdict of the checker on this certificate."""
        return checker.check(checker.read(self.text))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        claim = self.document["claim"]
        return f"<Certificate: epsilon = {claim['epsilon']}, delta = {claim['delta']}>"


def certify(curve: PrivacyCurve, *, epsilon: Number, delta: Number) -> Certificate:
    """A certificate that the answers of `curve` are (ε, δ)-statistically private; see `PrivacyCurve.certify`."""
    exact_epsilon, target = as_fraction(epsilon, "epsilon"), as_fraction(delta, "delta")
    if not 0 <= exact_epsilon <= budget.MAX_CERTIFIED_EPSILON:
        raise ArgumentError(
            f"epsilon = {spelled(epsilon)}; a number from 0 to {budget.MAX_CERTIFIED_EPSILON} can be certified"
        )
    if not 0 <= target <= 1:
        raise ArgumentError(f"delta = {spelled(delta)}; a number from 0 to 1 is required")
    if groups := _of_groups(curve.situation):
        return _group_by_group(groups, epsilon=exact_epsilon, delta=target)
    counts = _of_counts(curve.situation)
    situation, claim = _described(counts), {"epsilon": exact_epsilon, "delta": target}
    missed: list[str] = []
    for theorem, bound in _theorems(counts):
        ends = _computed(counts, bound, exact_epsilon)
        margin = target - Fraction(ends["upper"]), target - Fraction(ends["lower"])
        witness = {"theorem": theorem, "delta": ends, "margin": margin}
        document = RELEASE.write({**_FORMAT, "claim": claim, "situation": situation, "witness": witness})
        verdict = _checked(document)
        if verdict.verdict == "proved":
            return Certificate(_written(document))
        if verdict.verdict == "refuted" and counts == curve.situation:  # else it is false of the counts alone
            raise RefutedError(
                f"delta = {spelled(delta)}: the claim is false, delta({spelled(epsilon)}) is at least {ends['lower']}",
                theorem,
            )
        missed.append(f"{theorem} gives {ends['upper']}")
    raise NotAvailableError(
        f"delta = {spelled(delta)} at epsilon = {spelled(epsilon)} cannot be certified, which does not refute it: "
        f"of the theorems that certificates rest on, {'; '.join(missed)}"
    )


def together(
    releases: Sequence[Certificate], cohorts: Sequence[Cohort], *, epsilon: Fraction, delta: Fraction
) -> Certificate:
    """A certificate of several releases from one table, from the certificates of each release on its own rows."""
    document = RELEASES.write(
        {
            **_FORMAT,
            "claim": {"epsilon": epsilon, "delta": delta},
            "cohorts": [{"rows": cohort.rows, "joined_after": cohort.joined_after} for cohort in cohorts],
            "releases": [release.document for release in releases],
        }
    )
    if any("situation" not in release for release in document["releases"]):
        raise NotAvailableError("several releases are certified together only where none is stated by group")
    if _checked(document).verdict != "proved":
        raise DisagreementError("the checker does not prove the sum over all releases; please report it")
    return Certificate(_written(document))


def _group_by_group(groups: dict[str, PartitionedSituation], *, epsilon: Fraction, delta: Fraction) -> Certificate:
    """A certificate of each group, for a reader who is told its counts. A false claim of one group refutes nothing."""
    from statpriv.curves.curve import PrivacyCurve

    def proof(name: str) -> Certificate:
        try:
            return certify(PrivacyCurve(groups[name]), epsilon=epsilon, delta=delta)
        except (RefutedError, NotAvailableError) as missed:
            raise NotAvailableError(f"the group {name!r} by itself: {missed}") from None

    proofs = {name: proof(name) for name in groups}
    document = SEVERAL_GROUPS.write(
        {
            **_FORMAT,
            "claim": {"epsilon": epsilon, "delta": delta},
            "groups": {name: of_group.document for name, of_group in proofs.items()},
        }
    )
    if _checked(document).verdict != "proved":
        raise DisagreementError("the checker does not prove the worst group; please report it")
    return Certificate(_written(document))


def _written(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _theorems(situation: AnySituation) -> Iterator[tuple[str, str]]:
    """The checker's theorems that apply, each with the kernel's name for it.

    For one property, exact theorems come first. For several, the composition comes last: it takes longer to check.
    """
    parts, known = _parts(situation), situation.adversary.total
    several = isinstance(situation, PartitionedSituation) and not situation.one_property
    gated = any(part.gate is not None for part in parts)
    cells = any(part.cells for part in parts)
    if any(part.minima for part in parts):
        alone = "stages" if parts[0].depth else "minimum-count"
        yield (alone, alone) if situation.sampling is None else ("partition-sum", "partition-sum")
        return
    point = all(part.lower == part.upper for part in parts)
    if cells:
        if situation.sampling is None:
            yield "total-count", "exact" if all(low == high for low, high in parts[0].cells) else "ranges"
        else:
            yield "partition-sum", "partition-sum"
        return
    if not several and not gated:
        exact = sum(part.size for part in parts) == situation.population.size
        if not exact and known == 0 and point:
            yield "hidden-sample", "exact"
        else:
            yield "total-count", "exact" if exact else "total-count"
    if situation.sampling is not None:
        yield "partition-sum", "partition-sum"
    if several and point and not known:
        yield "composition", "tightest"


def _computed(situation: AnySituation, bound: str, epsilon: Fraction) -> dict[str, str]:
    """The kernel's δ by the named bound, in decimals rounded outward; from doubles for compositions, gates, cells."""
    from statpriv.curves.curve import PrivacyCurve

    parts = _parts(situation)
    doubles = any(part.gate is not None or part.cells or part.depth for part in parts)
    digits = None if doubles or bound == "tightest" else _DIGITS
    lower, upper = exact_ends(PrivacyCurve(situation, bound=bound).delta(epsilon, digits=digits))
    if any(part.depth for part in parts):  # a composition on a lattice, rounded up
        lower = Fraction(0)
    return {"lower": _decimal(lower, ROUND_FLOOR), "upper": _decimal(upper, ROUND_CEILING)}


def _decimal(exact: Fraction, rounding: str) -> str:
    rounded = Context(prec=_DIGITS, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return str(rounded.divide(Decimal(exact.numerator), Decimal(exact.denominator))).lower()


def _checked(document: dict[str, Any]) -> checker.Verdict:
    try:
        return checker.check(document)
    except checker.TooLargeError as error:
        raise NotAvailableError(
            f"epsilon = {document['claim']['epsilon']}: the checker would take too long, {error}"
        ) from error
    except checker.CertificateError as error:
        raise DisagreementError(f"the checker contradicts the kernel, please report it: {error}") from error


# --- the situation in plain terms ----------------------------------------------------------------


def _of_groups(situation: AnySituation) -> dict[str, PartitionedSituation]:
    """Each group by itself, if the partition is drawn by group or the law is stated by group."""
    if (
        isinstance(situation, Situation)
        and situation.sampling is None
        and not getattr(situation.asked, "is_uniform", True)
        and not capabilities(situation.query).holds_for_every_law
    ):
        groups = dict(situation.population.groups or ())
        if not groups:
            return {}
        whole = RandomPartition([groups])
        situation = PartitionedSituation(
            (situation.query,), situation.population, whole, situation.adversary, situation.pair
        )
    if not isinstance(situation, PartitionedSituation):
        return {}
    try:
        return groups_alone(situation)
    except NotApplicable:
        return {}


def _of_counts(situation: AnySituation) -> AnySituation:
    """The situation without post-processing, except for gates that make counts private for every p.

    A gated count becomes the only part of a partition, which is equivalent to a sample without replacement.
    """
    if isinstance(situation, PartitionedSituation):
        return replace(situation, queries=tuple(map(_count_of, situation.queries)))
    if not isinstance(situation, Situation):
        return situation
    count = _count_of(situation.query)
    if gate_for_every_p(count) is None:
        return replace(situation, query=count)
    partition = RandomPartition(_sizes(situation))
    return PartitionedSituation((count,), situation.population, partition, situation.adversary, situation.pair)


def _count_of(query: Query) -> Query:
    asked: Any = asked_of(query)
    gate = gate_for_every_p(query)
    return asked if gate is None else PostProcessed(asked, gate)


class _Part(NamedTuple):
    """The statement of a certificate about a part. Behind a gate, p is arbitrary, whatever the query states."""

    lower: Fraction
    upper: Fraction
    size: int
    attribute: str | None
    gate: tuple[int, int] | None = None
    cells: tuple[tuple[Fraction, Fraction], ...] = ()
    minima: tuple[tuple[int, int], ...] = ()
    depth: int | None = None
    """Of a ladder or a tree, the number of its levels."""

    def stated(self, count: int) -> dict[str, Any]:
        """The statement of a certificate about `count` such parts."""
        return {**self._asdict(), "probability": (self.lower, self.upper), "count": count}


def _parts(situation: AnySituation) -> list[_Part]:
    """The parts on which counts are released; adaptive compositions are refused."""
    if isinstance(situation, AdaptiveSituation):
        raise NotAvailableError("an adaptive composition has no certificate; only counts asked beforehand have")
    for feature in situation.features:
        raise NotAvailableError(f"{FEATURES[feature]}; certificates are for rows with one law, or one range of it")
    return [_part(query, size) for query, size in zip(situation.queries, _sizes(situation), strict=True)]


def _part(query: Query, size: int) -> _Part:
    count: Any = asked_of(query)
    part_of = _PARTS.get(type(count))
    if part_of is None or not (count.is_uniform or count.holds_for_every_law):
        raise NotAvailableError(
            f"query = {abridged(query)}: only counts with one p, or a range of it, histograms, and exact tables with a "
            "minimum count that declare no p can be certified"
        )
    return part_of(query, count, size)


def _histogram(query: Query, asked: Any, size: int) -> _Part:  # noqa: ANN401  (of one law)
    cells = tuple(ends(p) for p in asked.cells)
    if not all(0 < low <= high < 1 for low, high in cells):
        raise NotAvailableError(f"query = {query!r}: only cells of p strictly between 0 and 1 can be certified")
    return _Part(Fraction(0), Fraction(1), size, asked.attribute, cells=cells)


def _count(query: Query, asked: PropertyQuery, size: int) -> _Part:
    gate = gate_for_every_p(query)
    if gate is not None:
        published = gate.counts
        if not published or published[0] > size:
            raise NotAvailableError(f"query = {query!r}: the gate withholds every count; there is nothing to certify")
        return _Part(Fraction(0), Fraction(1), size, None, gate=(published[0], min(published[-1], size)))
    if asked.lower == 0 or asked.upper == 1:
        raise NotAvailableError(f"query = {query!r}: only p strictly between 0 and 1 can be certified")
    return _Part(asked.lower, asked.upper, size, asked.attribute)


def _table(query: Query, asked: ContingencyTable, size: int) -> _Part:
    least = dict.fromkeys(asked.least_minima(own) for own in asked.classes or (None,))
    minima = tuple(sorted(pair for pair in least if pair is not None))
    if not minima:
        raise NotAvailableError(
            f"query = {abridged(query)}: every class has one cell alone; nothing is told, or certified"
        )
    depth = asked.depth if asked.depth > 1 else None
    return _Part(Fraction(0), Fraction(1), size, asked.attribute, minima=minima, depth=depth)


_PARTS: dict[type, Callable[[Query, Any, int], _Part]] = {
    PropertyQuery: _count,
    HistogramQuery: _histogram,
    ContingencyTable: _table,
}
"""For each query class, the function that makes it a part of a certificate."""


def _sizes(situation: AnySituation) -> tuple[int, ...]:
    sampling = situation.sampling
    if isinstance(sampling, RandomPartition):
        return sampling.sizes
    if isinstance(sampling, WithoutReplacement):
        return (sampling.size,)
    if sampling is None:
        return (situation.population.size,)
    raise NotAvailableError(
        f"{sampling!r} cannot be certified; all entries, sp.WithoutReplacement and sp.RandomPartition with one size a "
        "part can"
    )


def _described(situation: AnySituation) -> dict[str, Any]:
    adversary = situation.adversary
    if isinstance(situation, PartitionedSituation) and situation.pattern is not None:
        raise NotAvailableError("a pair for each part cannot be certified; the worst combination of values can")
    if is_by_group(adversary.known) or (adversary.known and adversary.values != "worst"):
        raise NotAvailableError(
            f"{adversary!r} cannot be certified; a number of known entries at their worst values can"
        )
    parts = Counter(_parts(situation))
    if any(part.cells for part in parts):
        if situation.pair is not None:
            raise NotAvailableError(f"pair = {situation.pair!r}; histograms can be certified for the worst pair")
        if adversary.known and situation.sampling is not None:
            raise NotAvailableError(f"{adversary!r} cannot be certified beside a histogram on a part of the entries")
    if any(part.minima for part in parts):
        if situation.pair is not None:
            raise NotAvailableError(f"pair = {situation.pair!r}; exact tables can be certified for the worst pair")
        if situation.sampling is None:
            (table,) = parts
            return RULE.write({"minima": table.minima, "known_rows": adversary.known, "depth": table.depth})
    return SITUATION.write(
        {
            "population": situation.population.size,
            "known_rows": adversary.known,
            "parts": [part.stated(count) for part, count in parts.items()],
            "pair": None if situation.pair is None else list(situation.pair),
        }
    )
