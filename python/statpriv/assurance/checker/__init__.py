"""Proves or refutes a privacy certificate, with integers and fractions of the standard library alone.

    python -I FOLDER certificate.json        where FOLDER is this folder, wherever it is
    python -I -m statpriv.checker certificate.json

Exit code 0: the claim is proved; 1: refuted; 4: undecided; 2: the file is not a certificate, or contradicts itself.
This folder needs no other part of statpriv and no installed package. Two files suffice for most certificates:

* `certificate.py` reads the claim and the situation, and decides the claim;
* `counts.py` computes δ of one count and of a sum of counts, and states its theorems.

Only claims that name them need `histograms.py` (all cells of a table), `composition.py` (different properties,
exactly), `groups.py` (entries of several groups) and `releases.py` (several releases).
"""

import json
import sys
from pathlib import Path

from .certificate import FORMAT, Verdict, check
from .counts import CertificateError, TooLargeError

__all__ = ["EXIT_CODES", "FORMAT", "CertificateError", "TooLargeError", "Verdict", "check", "main", "read"]

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
    """Check the certificate at the given path, print the verdict, and return the exit code."""
    try:
        (path,) = arguments
        verdict = check(read(Path(path).read_text(encoding="utf-8")))
    except (ValueError, OSError) as error:  # a CertificateError, invalid UTF-8, or a wrong number of arguments
        sys.stderr.write(f"Error: {error}\n" if arguments else "Usage: python -I FOLDER certificate.json\n")
        return 2
    sys.stdout.write(f"{verdict}\n")
    return EXIT_CODES[verdict.verdict]
