"""The state of an accountant as a JSON document that shows when it was edited."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from statpriv.errors import ArgumentError
from statpriv.numeric.literals import abridged

__all__ = ["sealed", "unsealed"]

_FORMAT, _VERSION = "statpriv partition accountant", 1


def sealed(content: dict[str, Any]) -> str:
    """The document: format, version, content, and the digest of all of them.

    The digest shows an accident or an edit by hand; it is no signature.
    """
    whole = {"format": _FORMAT, "version": _VERSION, **content}
    return json.dumps({**whole, "sha256": _digest(whole)}, indent=1)


def unsealed(text: object) -> dict[str, Any]:
    """The content of a state document, which is whole and of this version."""
    if not isinstance(text, str):
        raise ArgumentError(f"text = {abridged(text)}; the text that to_json() gave is required")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"text is no JSON document ({error}); what to_json() gave is required") from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ArgumentError(f"text is not the state of an accountant: format is not {_FORMAT!r}")
    version = content.get("version")
    if version != _VERSION:
        raise ArgumentError(
            f"version = {abridged(version)} of the state; this statpriv reads version {_VERSION}: use the one "
            "that wrote it"
        )
    if content.pop("sha256", None) != _digest(content):
        raise ArgumentError(
            "text was edited or damaged after it was written: its sha256 is not that of its content; restore the file"
        )
    return content


def _digest(content: dict[str, Any]) -> str:
    """SHA-256 of the content in one canonical spelling."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
