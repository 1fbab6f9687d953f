"""Certificates: a claim of privacy with what a reader needs to check it without this library.

What :mod:`statpriv.checker` can prove, counts on secret parts by one of four theorems, can be certified. The numbers
of a certificate come from the kernel; it is only handed out after the checker has come to the same ones.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from statpriv import checker
from statpriv.digits import exact_ends
from statpriv.errors import ArgumentError, DisagreementError, NotAvailableError
from statpriv.literals import abridged, literal, spelled
from statpriv.numbers import Number, as_fraction
from statpriv.partitions import RandomPartition
from statpriv.queries.property import PropertyQuery
from statpriv.samplings import WithoutReplacement
from statpriv.situation import PartitionedSituation, Situation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from statpriv.curve import PrivacyCurve
    from statpriv.rules.registry import AnySituation

__all__ = ["Certificate", "certify"]

_DIGITS = 30
_LARGEST_EPSILON = 1000
_LONGEST = 2**13  # bits of a numerator or denominator: Python writes them, and the checker reads them


@dataclass(frozen=True)
class Certificate:
    """A claim of privacy that `python -m statpriv.checker` proves.

    Made by :meth:`statpriv.PrivacyCurve.certify`.

    Attributes
    ----------
    text : str
        The JSON of the certificate, as it stands in a file; `str()` gives it too.
    """

    text: str

    @property
    def document(self) -> dict[str, Any]:
        """The JSON, read."""
        return dict(json.loads(self.text))

    def check(self) -> checker.Verdict:
        """What the checker says of it."""
        return checker.check(checker.read(self.text))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        claim = self.document["claim"]
        return f"<Certificate: epsilon = {claim['epsilon']}, delta = {claim['delta']}>"


def certify(curve: PrivacyCurve, *, epsilon: Number, delta: Number) -> Certificate:
    """A certificate that the answers of `curve` are (ε, δ)-statistically private; see `PrivacyCurve.certify`."""
    exact_epsilon, target = as_fraction(epsilon, "epsilon"), as_fraction(delta, "delta")
    if not 0 <= exact_epsilon <= _LARGEST_EPSILON:
        raise ArgumentError(f"epsilon = {spelled(epsilon)}; a number from 0 to {_LARGEST_EPSILON} can be certified")
    if not 0 <= target <= 1:
        raise ArgumentError(f"delta = {spelled(delta)}; a number from 0 to 1 is required")
    situation = _described(curve.situation)
    claim = {"epsilon": _text(exact_epsilon), "delta": _text(target)}
    missed: list[str] = []
    for theorem, bound in _theorems(curve.situation):
        ends = _computed(curve.situation, bound, exact_epsilon)
        margin = {
            "lower": _text(target - Fraction(ends["upper"])),
            "upper": _text(target - Fraction(ends["lower"])),
        }
        witness = {"theorem": theorem, "delta": ends, "margin": margin}
        document = {"format": checker.FORMAT, "claim": claim, "situation": situation, "witness": witness}
        verdict = _checked(document)
        if verdict.verdict == "proved":
            return Certificate(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        if verdict.verdict == "refuted":
            raise ArgumentError(
                f"delta = {spelled(delta)}: the claim is false, delta({spelled(epsilon)}) is at least {ends['lower']}"
            )
        missed.append(f"{theorem} gives {ends['upper']}")
    raise NotAvailableError(
        f"delta = {spelled(delta)} at epsilon = {spelled(epsilon)} cannot be certified, which does not refute it: "
        f"of the theorems that certificates rest on, {'; '.join(missed)}"
    )


def _theorems(situation: AnySituation) -> Iterator[tuple[str, str]]:
    """The theorems of the checker that apply, with the kernel's name for them.

    Of one property the exact ones come first; of several the composition, which takes longer to check, comes last.
    """
    queries = _queries(situation)
    if not isinstance(situation, PartitionedSituation) or situation.one_property:
        used, known = sum(_sizes(situation)), situation.adversary.total
        exact = used == situation.population.size
        if not exact and known == 0 and queries[0].lower == queries[0].upper:
            yield "hidden-sample", "exact"
        else:
            yield "total-count", "exact" if exact else "total-count"
    if situation.sampling is not None:
        yield "partition-sum", "partition-sum"
    several = isinstance(situation, PartitionedSituation) and not situation.one_property
    if several and not situation.adversary.total and all(query.lower == query.upper for query in queries):
        yield "composition", "tightest"


def _computed(situation: AnySituation, bound: str, epsilon: Fraction) -> dict[str, str]:
    """The kernel's δ by the named bound, as decimals rounded outward: of a composition from doubles."""
    from statpriv.curve import PrivacyCurve

    digits = None if bound == "tightest" else _DIGITS
    lower, upper = exact_ends(PrivacyCurve(situation, bound=bound).delta(epsilon, digits=digits))
    return {"lower": _decimal(lower, ROUND_FLOOR), "upper": _decimal(upper, ROUND_CEILING)}


def _text(exact: Fraction) -> str:
    if max(abs(exact.numerator), exact.denominator).bit_length() > _LONGEST:
        raise NotAvailableError(f"{abridged(exact)} cannot be certified; fractions of up to {_LONGEST} bits can")
    return literal(exact)


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


def _queries(situation: AnySituation) -> tuple[PropertyQuery, ...]:
    """The counts that are released, where nothing but counts is."""
    if not isinstance(situation, Situation | PartitionedSituation):
        raise NotAvailableError("an adaptive composition has no certificate; only counts asked beforehand have")
    asked = situation.queries if isinstance(situation, PartitionedSituation) else (situation.query,)
    counts = [query for query in asked if isinstance(query, PropertyQuery) and query.is_uniform]
    if len(counts) < len(asked):
        raise NotAvailableError(
            f"query = {abridged(asked[0])}: only counts with one p, or a range of it, can be certified"
        )
    for query in counts:
        if query.lower == 0 or query.upper == 1:
            raise NotAvailableError(f"query = {query!r}: only p strictly between 0 and 1 can be certified")
    return tuple(counts)


def _sizes(situation: AnySituation) -> tuple[int, ...]:
    sampling = situation.sampling
    if isinstance(sampling, RandomPartition) and all(isinstance(size, int) for size in sampling.sizes):
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
    if not isinstance(adversary.known, int) or (adversary.known and adversary.values != "worst"):
        raise NotAvailableError(
            f"{adversary!r} cannot be certified; a number of known entries at their worst values can"
        )
    parts = Counter(
        (query.lower, query.upper, size, query.attribute)
        for query, size in zip(_queries(situation), _sizes(situation), strict=True)
    )
    return {
        "population": situation.population.size,
        "known_rows": adversary.known,
        "parts": [
            {
                "probability": {"lower": _text(lower), "upper": _text(upper)},
                "size": size,
                "count": count,
                "attribute": attribute,
            }
            for (lower, upper, size, attribute), count in parts.items()
        ],
        "pair": None if situation.pair is None else list(situation.pair),
    }
