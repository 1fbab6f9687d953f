"""Reads a certificate and decides its claim.

The checker trusts nothing in the certificate. It reads the claim and the situation, recomputes δ from them (counts.py,
and the other files for the rarer kinds), and requires the numbers of the witness to agree with the result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil, floor
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from .counts import MOST_BITS, ONE, ZERO, CertificateError, Interval, Part, Situation, TooLargeError, exponential

if TYPE_CHECKING:
    from .histograms import Histogram
    from .tables import Rule, Table

FORMAT = "statpriv certificate 1"
_WIDEST = Fraction(1, 10**12)
"""Largest relative width of a witness's δ: a wider one would agree with too much. Compositions on grids are exempt."""
_FINER = Fraction(101, 100)
"""A finer lattice of stages.py brings no bound down by this factor."""
_Delta: TypeAlias = "Callable[[Fraction, int | None], Interval]"


# --- the verdict ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """The result: "proved", "refuted" or "undecided", with bounds of Δ or of the bound that was used."""

    verdict: str
    claim: str
    claimed: Fraction
    delta: Interval
    exact: bool
    about: str = ""

    @property
    def margin(self) -> Interval:
        """Bounds of the claimed δ minus the computed δ."""
        return self.claimed - self.delta[1], self.claimed - self.delta[0]

    def __str__(self) -> str:
        computed = "delta" if self.exact else "an upper bound of delta"
        lower, upper = _digits(self.delta[0], floor), _digits(self.delta[1], ceil)
        margin = _digits(self.margin[0], floor)
        result = f"{self.verdict}: {self.claim}\n{computed} is from {lower} to {upper}; the margin is at least {margin}"
        return f"{result}\n{self.about}" if self.about else result


def _digits(value: Fraction, rounded: Callable[[Fraction], int]) -> str:
    """About twelve digits, rounded down or up."""
    power = 12 + (value.denominator.bit_length() - value.numerator.bit_length()) * 3 // 10
    return f"{rounded(value * Fraction(10) ** power)}e{-power}"


def theorem(name: str, situation: Situation | Rule, claimed: Fraction = ZERO) -> tuple[_Delta, bool]:
    """The function of a theorem, and whether it gives Δ itself and can therefore refute."""
    if not isinstance(situation, Situation):
        if name == ("minimum-count" if situation.table.depth == 1 else "stages"):
            return situation.bound, False
        raise CertificateError(f"witness.theorem = {name!r} does not apply to a rule for tables")
    counts, nobody_known = bool(situation.counts), situation.known == 0
    point = counts and nobody_known and situation.is_point
    if name == "partition-sum" and (nobody_known or all(part.knows_shares for part in situation.parts)):
        return situation.partition_sum, False
    if name == "total-count" and situation.one_property and not any(part.gate for part in situation.parts):
        return situation.total_count, situation.used == situation.population and (counts or situation.is_point)
    if name == "hidden-sample" and situation.one_property and point:
        return situation.hidden_sample, True
    if name == "composition" and situation.pair is None and point:
        from .composition import composed

        return partial(composed, situation, claimed), True
    raise CertificateError(f"witness.theorem = {name!r} does not apply to the situation")


def delta_of(
    situation: Situation | Rule, name: str, epsilon: Fraction, bits: int | None, claimed: Fraction = ZERO
) -> Interval:
    """Bounds of Δ(ε), or of a bound on it, by a theorem (1); if `bits` is None, everything but e^ε is exact."""
    value, _ = theorem(name, situation, claimed)
    r = exponential(epsilon, (bits or MOST_BITS) + ceil(2 * epsilon))
    low, high = value(r[0], bits)
    return max(ZERO, low - (r[1] - r[0])), high


def check(document: object) -> Verdict:
    """Prove or refute the claim of a certificate, read from JSON, which may name the report that it is about.

    Raises
    ------
    CertificateError
        The document is not a certificate, contradicts itself, or would take too long (`TooLargeError`).
    """
    about = about_of(document)
    if about is None or not isinstance(document, dict):
        return _verdict(document)
    verdict = _verdict({key: value for key, value in document.items() if key != "about"})
    release = "a dry run" if about["release"] is None else f"release {about['release']}"
    named = f"SHA-256 {about['report_sha256']} by the plan with SHA-256 {about['plan_sha256']}"
    return replace(verdict, about=f"it says that it is about {release}, reported in the file with {named}")


def about_of(document: object) -> dict[str, Any] | None:
    """What a certificate says of the report that it is about: the release, and digests of report and plan."""
    if not has(document, "about"):
        return None
    about = table(document["about"], "about", {"release", "report_sha256", "plan_sha256"})
    for key, digits in (("release", 32), ("report_sha256", 64), ("plan_sha256", 64)):
        stated = about[key]
        written = isinstance(stated, str) and re.fullmatch(f"[0-9a-f]{{{digits}}}", stated)
        if not written and (key, stated) != ("release", None):
            raise CertificateError(f"about.{key}: {digits} hexadecimal digits are required")
    return about


def _verdict(document: object) -> Verdict:
    if has(document, "releases"):
        from .releases import check_releases

        return check_releases(document)
    if has(document, "groups"):
        from .groups import check_groups

        return check_groups(document)
    return check_release(document)


def check_release(document: object) -> Verdict:
    """The verdict on a certificate of one release."""
    top = table(document, "the certificate", {"format", "claim", "situation", "witness"})
    (epsilon, claimed), situation = claim(top), situation_of(top["situation"])
    witness = table(top["witness"], "witness", {"theorem", "delta", "margin"})
    name, stated = witness["theorem"], interval(witness["delta"], "witness.delta")
    _, exact = theorem(name, situation)
    smallest = min(value for value in (claimed, stated[0], ONE) if value > 0)
    bits = 192 + min(MOST_BITS, smallest.denominator.bit_length() - smallest.numerator.bit_length())
    for precision in (bits, 2 * bits) if situation.is_refined else (bits, 2 * bits, 4 * bits, None):
        try:
            found = delta_of(situation, name, epsilon, precision, claimed)
        except TooLargeError:
            if precision is not None:
                raise
            break
        if found[1] <= claimed or found[0] > claimed or (situation.is_refined and found[1] > _FINER * claimed):
            break
    refuted = exact and found[0] > claimed
    text = f"(epsilon, delta) = ({top['claim']['epsilon']}, {top['claim']['delta']}) for {json.dumps(top['situation'])}"
    told = "proved" if found[1] <= claimed else "refuted" if refuted else "undecided"
    if not refuted:
        loose = name == "composition" or situation.is_refined
        _agree(found, claimed, stated, interval(witness["margin"], "witness.margin"), loose=loose)
    return Verdict(told, text, claimed, found, exact)


def proved(document: object, place: str, epsilon: Fraction) -> Verdict:
    """The verdict on a nested certificate of the same ε, which must be proved."""
    verdict = check_release(document)
    top = table(document, place, {"format", "claim", "situation", "witness"})
    if verdict.verdict != "proved" or claim(top)[0] != epsilon:
        raise CertificateError(f"{place} does not prove a claim of the same epsilon")
    return verdict


def _agree(found: Interval, claimed: Fraction, stated: Interval, margin: Interval, *, loose: bool) -> None:
    """Refuse a witness that contradicts the recomputed δ or the claim, or is too wide to do so."""
    if stated[1] < found[0] or found[1] < stated[0]:
        raise CertificateError("witness.delta is not what the situation gives: the certificate was altered")
    if stated[1] - stated[0] > _WIDEST * stated[1] and not loose:
        raise CertificateError("witness.delta is too wide to agree or disagree")
    if margin != (claimed - stated[1], claimed - stated[0]):
        raise CertificateError("witness.margin is not claim.delta − witness.delta: the certificate was altered")


# --- reading -------------------------------------------------------------------------------------


def has(value: object, key: str) -> TypeGuard[dict[str, Any]]:
    """Whether a value is a table with this key."""
    return isinstance(value, dict) and key in value


def listed(value: object) -> list[Any]:
    """What a list holds; nothing where there is no list."""
    return value if isinstance(value, list) else []


def table(value: object, place: str, keys: set[str]) -> dict[str, Any]:
    """A table with exactly these keys."""
    if not isinstance(value, dict) or set(value) != keys:
        raise CertificateError(f"{place}: a table with exactly the keys {', '.join(sorted(keys))} is required")
    return value


def whole(value: object, place: str, least: int, most: int) -> int:
    """A whole number from `least` to `most`."""
    if type(value) is not int or not least <= value <= most:
        raise CertificateError(f"{place}: a whole number from {least} to {most} is required")
    return value


def number(value: object, place: str) -> Fraction:
    """A number as text: "0.0226", "1e-6", "-3/8"."""
    form = r"-?\d{1,4000}(/[1-9]\d{0,4000}|(\.\d{1,4000})?(e[+-]?\d{1,4})?)"
    if not isinstance(value, str) or not re.fullmatch(form, value, re.ASCII):
        raise CertificateError(f'{place}: a number as text, such as "0.1" or "1/10", is required')
    if Fraction(value) < 0 and not place.startswith("witness.margin"):
        raise CertificateError(f"{place}: a number of at least 0 is required")
    return Fraction(value)


def interval(value: object, place: str) -> Interval:
    """Two numbers in order."""
    ends = table(value, place, {"lower", "upper"})
    low, high = number(ends["lower"], f"{place}.lower"), number(ends["upper"], f"{place}.upper")
    if low > high:
        raise CertificateError(f"{place}: lower is above upper")
    return low, high


def claim(top: dict[str, Any]) -> Interval:
    """ε and δ."""
    if top["format"] != FORMAT:
        raise CertificateError(f"format = {top['format']!r}; {FORMAT!r} is required")
    stated = table(top["claim"], "claim", {"epsilon", "delta"})
    epsilon, claimed = number(stated["epsilon"], "claim.epsilon"), number(stated["delta"], "claim.delta")
    if epsilon > 1000 or claimed > 1:
        raise CertificateError("claim: ε from 0 to 1000 and δ from 0 to 1 are required")
    return epsilon, claimed


def situation_of(value: object) -> Situation | Rule:
    """What is released, and the reader's knowledge."""
    if has(value, "minima"):
        from .tables import read_rule

        return read_rule(value)
    stated = table(value, "situation", {"population", "known_rows", "parts", "pair"})
    n = whole(stated["population"], "situation.population", 1, 2**53)
    known = whole(stated["known_rows"], "situation.known_rows", 0, n - 1)
    if stated["pair"] not in (None, [1, 0], [0, 1]):
        raise CertificateError("situation.pair: null, [1, 0] or [0, 1] is required")
    if not listed(stated["parts"]):
        raise CertificateError("situation.parts: a list of parts is required")
    parts = tuple(_part(part, f"situation.parts[{k}]", n) for k, part in enumerate(stated["parts"]))
    situation = Situation(n, known, parts, stated["pair"] and (stated["pair"][0], stated["pair"][1]))
    if situation.pair is not None and not (situation.one_property and situation.counts):
        raise CertificateError(
            "situation.pair: null is required where parts ask different properties, or are no counts"
        )
    if situation.used > n:
        raise CertificateError(f"situation.parts have {situation.used} entries together, the population only {n}")
    laws = {(part.attribute, part.law) for part in parts if part.attribute is not None}
    if len(laws) > len({attribute for attribute, _ in laws}):
        raise CertificateError("situation.parts: one attribute has two different probabilities")
    return situation


def _part(value: object, place: str, most: int) -> Part | Histogram | Table:
    if has(value, "minima"):
        from .tables import read_table

        return read_table(value, place, most)
    if has(value, "cells"):
        from .histograms import read_histogram

        return read_histogram(value, place, most)
    part = table(value, place, {"probability", "size", "count", "attribute", "gate"})
    ends, gate = interval(part["probability"], f"{place}.probability"), part["gate"]
    if gate is None and not 0 < ends[0] <= ends[1] < 1:
        raise CertificateError(f"{place}.probability: a range strictly between 0 and 1 is required")
    if gate is not None and ends != (ZERO, ONE):
        raise CertificateError(f"{place}.probability: from 0 to 1 is required behind a gate, which is for every p")
    size, count, attribute = sizes(part, place, most)
    if gate is not None:
        if len(listed(gate)) != 2:
            raise CertificateError(f"{place}.gate: null or two counts are required")
        least = whole(gate[0], f"{place}.gate", 0, size)
        gate = least, whole(gate[1], f"{place}.gate", least, size)
    return Part(*ends, size, count, attribute, gate)


def sizes(part: dict[str, Any], place: str, most: int) -> tuple[int, int, str | None]:
    """Entries of a part, the number of such parts, and the attribute they ask about."""
    if part["attribute"] is not None and not isinstance(part["attribute"], str):
        raise CertificateError(f"{place}.attribute: a text or null is required")
    size, count = (whole(part[key], f"{place}.{key}", 1, most) for key in ("size", "count"))
    return size, count, part["attribute"]
