"""The state of an accountant as a JSON document in which edits are detectable."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

from statpriv.composition.ledger import ENTRY
from statpriv.composition.promises import PROMISE
from statpriv.errors import ArgumentError
from statpriv.model.codec import KNOWN, POPULATION, VALUES
from statpriv.model.fields import COUNT, SIZE, WRITTEN, Field, Record, list_of, or_null, table_from, text_from
from statpriv.numeric.literals import abridged

_FORMAT, _VERSION, _READ = "statpriv partition accountant", 2, (1, 2)
_BY_GROUP = ("population", "known")

_PAIRS = {"type": "array", "items": {"type": "array", "prefixItems": [{"type": "string"}, COUNT.schema], "minItems": 2}}
_JOINED = Record(
    {
        "rows": SIZE,
        "known": COUNT.described("known ones among them"),
        "after": COUNT.described("entries of the ledger before them"),
    }
)
STATE = Record(
    {
        "population": POPULATION.described("number of entries at first, or that of each group"),
        "epsilon": WRITTEN.described("in nats"),
        "delta": WRITTEN.described("the budget"),
        "known": KNOWN.described("number of these that are known, or that of each group"),
        "values": VALUES,
        "promise": or_null(PROMISE.field("a promise")),
        "joined": list_of(_JOINED.field("rows"), "a list of rows").described("rows that were appended, in order"),
        "ledger": list_of(Field(table_from, "an entry", ENTRY.schema), "a list of entries"),
    }
)
"""The content of a state. Ledger entries are read in order, each after the rows that joined before it."""


def _schema() -> dict[str, Any]:
    """The JSON schema of documents of both versions."""
    seal = {
        "format": Field(text_from, "the format", {"const": _FORMAT}),
        "version": Field(int, "the version", {"enum": [*_READ]}),
        "sha256": Field(
            text_from,
            "a digest",
            {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            description="digest of all other keys, as JSON in ASCII with sorted keys and without spaces; no signature",
        ),
    }
    kept = {key: replace(STATE.fields[key], schema=_or_pairs(STATE.fields[key].schema)) for key in _BY_GROUP}
    return Record({**STATE.fields, **kept, **seal}).schema


def _or_pairs(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [*schema["anyOf"], _PAIRS]}


SCHEMA = _schema()
"""The JSON schema of a state."""


def sealed(content: dict[str, Any]) -> str:
    """The document: format, version, content, and the digest of all of them.

    The digest reveals accidental or manual changes; it is not a signature.
    """
    whole = {"format": _FORMAT, "version": _VERSION, **content}
    return json.dumps({**whole, "sha256": _digest(whole)}, indent=1)


def unsealed(text: object) -> dict[str, Any]:
    """The content of a state document, after checking its digest and its version."""
    if not isinstance(text, str):
        raise ArgumentError(f"text = {abridged(text)}; the text that to_json() gave is required")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"text is no JSON document ({error}); what to_json() gave is required") from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ArgumentError(f"text is not the state of an accountant: format is not {_FORMAT!r}")
    version = content.get("version")
    if version not in _READ:
        raise ArgumentError(
            f"version = {abridged(version)} of the state; this statpriv reads versions up to {_VERSION}: use the one "
            "that wrote it"
        )
    if content.pop("sha256", None) != _digest(content):
        raise ArgumentError(
            "text was edited or damaged after it was written: its sha256 is not that of its content; restore the file"
        )
    return content


def state_of(content: dict[str, Any]) -> dict[str, Any]:
    """The fields of the content, by key, with version 1 converted to the current form."""
    former = {} if content["version"] == _VERSION else {key: _by_name(content.get(key)) for key in _BY_GROUP}
    return STATE.strictly({**{key: content[key] for key in content.keys() & STATE.fields.keys()}, **former})


def _by_name(counts: object) -> object:
    """Counts by group as a mapping; version 1 wrote them as pairs."""
    return dict(counts) if isinstance(counts, list) else counts


def _digest(content: dict[str, Any]) -> str:
    """SHA-256 of the content in its canonical form."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
