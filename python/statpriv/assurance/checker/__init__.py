"""Proves or refutes a privacy certificate, with integers and fractions of the standard library alone.

    python -I FOLDER certificate.json        where FOLDER is this folder, wherever it is
    python -I -m statpriv.checker certificate.json
    python -I -m statpriv.checker certificate.json report.json

Exit code 0: the claim is proved; 1: refuted; 4: undecided; 2: the file is not a certificate, or contradicts itself,
or names another report than the one that is given.
This folder needs no other part of statpriv and no installed package. Two files suffice for most certificates:

* `certificate.py` reads the claim and the situation, and decides the claim;
* `counts.py` computes δ of one count and of a sum of counts, and states its theorems.

Only claims that name them need `histograms.py` (all cells of a table), `tables.py` (exact tables with a minimum count
in every cell), `stages.py` (tables that the data refine), `composition.py` (different properties, exactly), `groups.py`
(entries of several groups) and `releases.py` (several releases).
"""

import hashlib
import json
import sys
from pathlib import Path

from .certificate import FORMAT, Verdict, about_of, check
from .counts import CertificateError, TooLargeError

__all__ = [
    "EXIT_CODES",
    "FORMAT",
    "CertificateError",
    "TooLargeError",
    "Verdict",
    "about_of",
    "check",
    "main",
    "read",
]

EXIT_CODES = {"proved": 0, "refuted": 1, "undecided": 4}


def read(text: str) -> object:
    """The parsed document of a certificate; a duplicate key is an error."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(pairs)) < len(pairs):
            raise CertificateError("a key stands there twice")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"not the JSON of a certificate: {error}") from error


def main(arguments: list[str]) -> int:
    """Check the certificate at the first path, about the report at the second, and print the verdict."""
    try:
        path, *reports = arguments[:2] if len(arguments) < 3 else []
        document = read(Path(path).read_text(encoding="utf-8"))
        verdict = check(document)
        for report in reports:
            _require_named(document, hashlib.sha256(Path(report).read_bytes()).hexdigest())
    except OSError as error:
        return _refused(f"Error: {error.filename} cannot be read ({error.strerror})")
    except ValueError as error:  # a CertificateError, invalid UTF-8, or a wrong number of arguments
        return _refused(f"Error: {error}" if arguments else "Usage: python -I FOLDER certificate.json [report.json]")
    sys.stdout.write(f"{verdict}\n")
    return EXIT_CODES[verdict.verdict]


def _refused(why: str) -> int:
    sys.stderr.write(f"{why}\n")
    return 2


def _require_named(document: object, digest: str) -> None:
    about = about_of(document)
    if about is None:
        raise CertificateError("the certificate names no report")
    if about["report_sha256"] != digest:
        raise CertificateError(f"the certificate is about another report: the given one has SHA-256 {digest}")
