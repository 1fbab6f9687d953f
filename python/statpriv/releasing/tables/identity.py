"""What identifies rows and contents, the same on every engine: canonical ids, and keyed fingerprints."""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from statpriv.releasing.predicate import quoted
from statpriv.releasing.tables.protocol import ContentFingerprint, Groups, Refusals

__all__ = ["canonical_ids", "fingerprint_of", "groups_of"]


def canonical_ids(
    texts: Iterable[str | None], column: str, refusal: Refusals, *, key: str = "row_id", rows: str = "rows"
) -> list[str]:
    """Write equal ids equally, and refuse ids that identify nobody without naming one.

    Parameters
    ----------
    texts
        The ids as they are stored; None where there is none.
    key, rows
        What the plan calls the column, and what its values identify.
    """
    name = quoted(column)
    canonical: list[str] = []
    for text in texts:
        if text is None:
            raise refusal(f"the {key} column {name} has no value in some row")
        canonical.append(_canonical(text))
    if "" in canonical:
        raise refusal(f"the {key} column {name} is empty in some row")
    if len(set(canonical)) < len(canonical):
        raise refusal(
            f"the {key} column {name} does not identify {rows}: two of its values are equal, or differ "
            "only in blanks around them or in the Unicode form of their letters"
        )
    return canonical


def _canonical(text: str) -> str:
    """No blanks around it, one Unicode form; "007" stays apart from "7"."""
    trimmed = text.strip()
    return trimmed if trimmed.isascii() else unicodedata.normalize("NFC", trimmed)


def groups_of(texts: Sequence[str | None], column: str, refusal: Refusals) -> Groups:
    """Number the groups in the binary order of their names."""
    present = [text for text in texts if text is not None]
    if len(present) < len(texts):
        raise refusal(f"the group column {quoted(column)} has no value in some row; every row needs a group")
    names = tuple(sorted(set(present)))
    numbers = {name: number for number, name in enumerate(names)}
    return Groups(names, np.fromiter((numbers[text] for text in present), dtype=np.int64, count=len(present)))


def fingerprint_of(digests: NDArray[np.bytes_], key: bytes) -> ContentFingerprint:
    """Combine the hexadecimal digests of the rows, in their order; sorts the array."""
    ordered = _keyed(key, b"ordered", digests)
    digests.sort()
    return ContentFingerprint(ordered, _keyed(key, b"unordered", digests))


def _keyed(key: bytes, purpose: bytes, digests: NDArray[np.bytes_]) -> bytes:
    return hmac.digest(key, purpose + hashlib.sha256(digests.tobytes()).digest(), "sha256")
