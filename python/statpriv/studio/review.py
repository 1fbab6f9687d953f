"""What a reviewer brings: a published table, a report or a certificate."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from statpriv.assurance.checker import FORMAT, check, read
from statpriv.errors import ArgumentError
from statpriv.files.table_assessment import TableAssessment, assess_tables
from statpriv.numeric.arguments import is_mapping
from statpriv.releasing.recomputation import read_report
from statpriv.studio.fields import whole

__all__ = ["Checked", "assessed", "checked"]


def assessed(text: str, form: Mapping[str, str]) -> TableAssessment:
    """A pasted table beside the rule of a minimum count.

    Raises
    ------
    StatprivError
        With a sentence about what is not allowed, or cannot be read.
    """
    if not text.strip():
        raise ArgumentError("the table is empty: paste it, or choose a file")
    with tempfile.TemporaryDirectory(prefix="statpriv-") as folder:
        path = Path(folder) / "table.csv"
        path.write_text(text, encoding="utf-8")
        return assess_tables(
            path,
            minimum=whole("minimum", form.get("minimum", "").strip() or "0"),
            epsilon=form.get("epsilon", "1"),
            known=whole("known", form.get("known", "").strip() or "0"),
            bounds=False,
        )


@dataclass(frozen=True)
class Checked:
    """What was found in a file.

    Attributes
    ----------
    what
        "report" or "certificate".
    agrees
        Whether the report follows from its facts, or the certificate is proved.
    lines
        Sentences: the guarantee, and every disagreement.
    """

    what: str
    agrees: bool
    lines: tuple[str, ...]


def checked(content: bytes, name: str) -> Checked:
    """Recompute a report without data, or decide a certificate with integers.

    Raises
    ------
    StatprivError
        If the file is neither.
    """
    try:
        text = content.decode()
        document = read(text)
    except ValueError as error:
        raise ArgumentError(f"{name} is no report and no certificate: {error}") from None
    if is_mapping(document) and document.get("format") == FORMAT:
        return _certificate(document)
    report = read_report(content, Path(name))
    found = report.disagreements
    guarantee = report.document["guarantee"]
    stated = f"δ ≤ {guarantee['delta']['upper']} at ε = {guarantee['epsilon_exact']}"
    return Checked("report", not found, (stated, *found))


def _certificate(document: object) -> Checked:
    try:
        verdict = check(document)
    except ValueError as error:
        return Checked("certificate", agrees=False, lines=(str(error),))
    return Checked("certificate", agrees=verdict.verdict == "proved", lines=(str(verdict),))
