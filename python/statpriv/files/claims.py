"""Claims files: claims of privacy to be proved or refuted, as TOML or JSON.

.. code-block:: toml

    [[claim]]                          # one or more
    name = "32 counts"                 # a label
    epsilon = 0.005
    delta = 0.0226
    population = 32768
    known_rows = 0                     # entries an adversary knows; 0 by default
    bound = "tightest"                 # as in statpriv.compose

    [[claim.part]]                     # counts on secret random parts, as in a composition file
    probability = "1/2"
    size = 1024
    count = 32

    [[claim]]                          # or one count
    epsilon = 0.3
    delta = 1e-6
    population = 1024
    probability = ["0.4", "0.6"]
    size = 512                         # of a secret sample of so many entries; of all by default

    [[claim]]                          # or what a release reports, under the assumptions of its JSON report
    report = "report.json"             # relative to this file
    known_rows = 100                   # ε, δ and known rows are the report's where they are left out

The JSON report of a release by itself stands for the claim that its target is reached. Where its table was released
before, a claim about a report is one about everything released so far.

Every number is exact. A key that is not listed here is an error, and all errors are reported at once, with the line.
"""

from __future__ import annotations

from pathlib import Path

from statpriv.assurance.verification import Claim
from statpriv.errors import ArgumentError, StatprivError
from statpriv.files.composition import BOUND, PARTS, Composition, Part, read_composition, read_parts
from statpriv.files.documents import (
    COUNT,
    NUMBER,
    PROBABILITY,
    SIZE,
    TEXT,
    Key,
    Value,
    located,
    parsed,
    read_table,
    read_text,
)
from statpriv.files.release_report import Report

__all__ = ["read_claims"]

MOST_CLAIMS = 10_000


def _claims(value: Value) -> list[Value]:
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_CLAIMS:
        raise ArgumentError("not a list")
    return value


_FILE_KEYS = {"claim": Key(_claims, f"1 to {MOST_CLAIMS} tables [[claim]]")}
_TARGET = {"name": TEXT.optional(), "epsilon": NUMBER, "delta": NUMBER}
_SITUATION = {"population": SIZE, "known_rows": COUNT.optional(0), "bound": BOUND}
_FORMS: dict[str, dict[str, Key]] = {
    "part": {**_TARGET, **_SITUATION, "part": PARTS},
    "probability": {**_TARGET, **_SITUATION, "probability": PROBABILITY, "size": SIZE.optional()},
    "report": {
        "name": TEXT.optional(),
        "report": TEXT,
        "epsilon": NUMBER.optional(),
        "delta": NUMBER.optional(),
        "known_rows": COUNT.optional(),
    },
}
"""What the three kinds of claims may say, by the key that only they have."""


def read_claims(path: Path) -> tuple[Claim, ...]:
    """Read a claims file.

    Raises
    ------
    ArgumentError
        The file cannot be read or is not a claims file; the message lists every fault, with its line.
    """
    text = read_text(path, "claims")
    document = parsed(text, path)
    if "composition" in document and "guarantee" in document:
        return (_reported({"name": None, "report": path.name}, path.parent),)
    faults: list[str] = []
    tables = read_table(document, _FILE_KEYS, "", faults).get("claim", [])
    claims = [_claim(table, f"claim[{k}]", path.parent, faults) for k, table in enumerate(tables, start=1)]
    if faults:
        raise ArgumentError("\n  ".join([f"{path} cannot be used as it is:", *located(faults, document, text)]))
    return tuple(claim for claim in claims if claim is not None)


def _claim(table: Value, place: str, folder: Path, faults: list[str]) -> Claim | None:
    forms = [form for form in _FORMS if isinstance(table, dict) and form in table]
    if len(forms) != 1:
        faults.append(f"{place}: one of {', '.join(_FORMS)} is required, here are {', '.join(forms) or 'none'}")
        return None
    known = len(faults)
    read = read_table(table, _FORMS[forms[0]], place, faults)
    parts = read_parts(read.pop("part", []), f"{place}.part", faults)
    if len(faults) > known:
        return None
    try:
        return _reported(read, folder) if "report" in read else _stated(read, parts)
    except StatprivError as error:
        faults.append(f"{place}: {error}")
        return None


def _stated(read: dict[str, Value], parts: tuple[Part, ...]) -> Claim:
    """A claim about counts that the file describes."""
    import statpriv as sp

    target = {key: read.pop(key) for key in ("epsilon", "delta", "name")}
    if parts:
        return Claim(Composition(epsilon=target["epsilon"], parts=parts, **read).curve(), **target)
    curve = sp.privacy_curve(
        sp.PropertyQuery(sp.Between(*read["probability"])),
        sp.Population(read["population"]),
        adversary=sp.Adversary(known=read["known_rows"]),
        sampling=None if read["size"] is None else sp.WithoutReplacement(read["size"]),
        bound=read["bound"],
    )
    return Claim(curve, **target)


def _reported(read: dict[str, Value], folder: Path) -> Claim:
    """A claim about what a report says was released."""
    report = read_composition(folder / read["report"])
    if not isinstance(report, Report):
        raise ArgumentError(
            f"report = {read['report']!r} is no report of a release; the JSON report of one is required"
        )
    silences = report.silences()
    if silences:
        raise ArgumentError(
            f"report = {read['report']!r} does not say {', '.join(silences)}: what it claims of its release could be "
            "claimed of any; the JSON report as the release wrote it is required"
        )
    contradictions = report.contradictions()
    if contradictions:
        raise ArgumentError(f"report = {read['report']!r} contradicts itself: {'; '.join(contradictions)}")
    delta = report.target if read.get("delta") is None else read["delta"]
    if delta is None:
        raise ArgumentError(f"delta is missing, and {read['report']!r} states no target; a number is required")
    return Claim(
        report.curve_knowing(read.get("known_rows")),
        epsilon=report.composition.epsilon if read.get("epsilon") is None else read["epsilon"],
        delta=delta,
        name=read["name"],
    )
