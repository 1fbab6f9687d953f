"""`statpriv verify`: claims of privacy, proved or refuted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click
from rich.text import Text

from statpriv.cli.options import debug_option, examples, json_option
from statpriv.cli.output import (
    WHAT_IS_ENCLOSED,
    at_most,
    enclosed,
    ends,
    fact_grid,
    print_json,
    provenance,
    screen,
    write_whole,
)
from statpriv.cli.plain_text import one_line
from statpriv.cli.progress import progress_on_terminal
from statpriv.errors import ArgumentError, NotAvailableError, PublicationError

if TYPE_CHECKING:
    from statpriv.assurance.certificate import Certificate
    from statpriv.assurance.verification import Finding, Verification
    from statpriv.planning.sensitivity import Sensitivity

__all__ = ["verify"]


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--certificates",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="An empty folder: write a certificate of each claim that is proved, claim-1.json and so on.",
)
@click.option(
    "--plan",
    type=click.Path(path_type=Path),
    metavar="PLAN",
    help="The plan file that the report, or the certificate, has to be of.",
)
@click.option(
    "--public-key",
    type=click.Path(path_type=Path),
    metavar="KEY",
    help="The report has to be signed with the private key of this public one (ed25519, PEM): FILE.sig beside FILE.",
)
@click.option(
    "--sensitivity",
    "with_sensitivity",
    is_flag=True,
    help="Also δ if p is outside its range, if rows are known, or if a person has several. No verdict changes.",
)
@json_option
@debug_option
@click.pass_context
@examples(
    "statpriv verify claims.toml",
    "statpriv verify claims.toml --sensitivity",
    "statpriv verify claims.toml --certificates proofs",
    "python -I -m statpriv.checker proofs/claim-1.json",
    "statpriv verify report.json --plan release.toml",
    "statpriv verify proofs/claim-1.json --plan release.toml",
    "",
    "where claims.toml holds",
    "[[claim]]",
    "epsilon = 0.005",
    "delta = 0.0226",
    "population = 32768",
    "known_rows = 0          # optional",
    "[[claim.part]]",
    'probability = "1/2"     # or a range ["0.4", "0.6"]',
    "size = 1024",
    "count = 32              # optional: so many such parts",
)
def verify(
    context: click.Context,
    *,
    file: Path,
    certificates: Path | None,
    plan: Path | None,
    public_key: Path | None,
    with_sensitivity: bool,
    as_json: bool,
) -> None:
    """Claims of privacy, proved or refuted.

    FILE lists claims: what is counted, an ε and a δ. Or it is the JSON report of a release, which claims that its
    target is reached by everything released from its table so far. Each δ is computed twice, by programs that share
    no code. A report that contradicts itself, or the plan, is refused. FILE may also be a certificate: then the
    stand-alone checker decides it.

    Exit code: 0 if all are proved, 1 if one is refuted, 4 if none is but one is undecided.
    """
    from statpriv.assurance.verification import verify as verified

    if public_key is not None:
        _require_signature(file, public_key)
    proof = _certificate(file)
    if proof is not None:
        context.exit(_checked(proof, plan, as_json=as_json))
    if certificates is not None:
        _make_empty(certificates)
    with progress_on_terminal("claims") as waiting:
        found = verified(file, plan=plan, progress=waiting.counted)
        written: list[str | None] = [None] * len(found)
        if certificates is not None:
            waiting.begin("certificates")
            written = [
                _written(finding, certificates / f"claim-{k}.json") for k, finding in waiting.counting(found.findings)
            ]
        waiting.begin("sensitivity")
        tables = [_what_if(finding) if with_sensitivity else None for _, finding in waiting.counting(found.findings)]
    if as_json:
        print_json({"verdict": found.verdict, "claims": list(map(_document, found, written, tables))}, schema="verify")
    else:
        _print(found, written, tables)
    context.exit(found.exit_code)


def _require_signature(file: Path, public_key: Path) -> None:
    from statpriv.files.documents import as_text, parsed, read_content
    from statpriv.releasing.signature import require_signature

    content = read_content(file, "report")
    require_signature(content, file, parsed(as_text(content, file), file).get("signer"), public_key)


def _certificate(file: Path) -> Certificate | None:
    """The certificate in the file, if it is one."""
    from statpriv.assurance.certificate import Certificate
    from statpriv.files.documents import parsed, read_text

    text = read_text(file, "claims")
    return Certificate(text) if text.lstrip().startswith("{") and "format" in parsed(text, file) else None


def _checked(proof: Certificate, plan: Path | None, *, as_json: bool) -> int:
    """Decide a certificate by the stand-alone checker, and require that it is of the plan."""
    from statpriv.assurance import checker

    if plan is not None:
        _require_plan(proof, plan)
    try:
        found = proof.check()
    except checker.CertificateError as fault:
        raise ArgumentError(f"it is no certificate that can be checked: {fault}") from fault
    if as_json:
        about = proof.about
        print_json(
            {"verdict": found.verdict, "claim": found.claim, "about": None if about is None else dict(vars(about))},
            schema="verify.certificate",
        )
    else:
        screen().print(Text("\n".join(map(one_line, str(found).splitlines()))), soft_wrap=True)
    return checker.EXIT_CODES[found.verdict]


def _require_plan(proof: Certificate, plan: Path) -> None:
    from statpriv.releasing.plan_file import load_plan

    about, digest = proof.about, load_plan(plan).sha256
    if about is None:
        raise ArgumentError(f"--plan = {plan}: the certificate names no report and no plan")
    if about.plan_sha256 != digest:
        raise ArgumentError(
            f"--plan = {plan}: its SHA-256 is {digest}, but the certificate is about a report of the plan with "
            f"{about.plan_sha256}"
        )


def _make_empty(folder: Path) -> None:
    """Make the folder if it is not there; refuse one that may hold certificates of other claims."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        holds_something = any(folder.iterdir())
    except OSError as error:
        raise PublicationError(
            f"--certificates = {folder}: it is no folder that can be used ({error.strerror})"
        ) from error
    if holds_something:
        raise PublicationError(f"--certificates = {folder}: it is not empty; choose another folder, or empty this one")


def _written(finding: Finding, path: Path) -> str | None:
    """Write the certificate of a claim that is proved, and say where it is or why there is none."""
    if finding.verdict != "proved":
        return None
    try:
        proof = finding.certificate()
    except NotAvailableError as reason:
        return f"none: {reason}"
    write_whole(path, proof.text.encode(), "--certificates")
    return str(path)


def _what_if(finding: Finding) -> Sensitivity | str:
    """δ under other assumptions, or why that is not computed."""
    try:
        return finding.sensitivity()
    except NotAvailableError as reason:
        return f"none: {reason}"


def _document(finding: Finding, certificate: str | None, sensitivity: Sensitivity | str | None) -> dict[str, Any]:
    claim = finding.claim
    return {
        "name": claim.name,
        "epsilon": str(claim.epsilon),
        "delta": str(claim.delta),
        "verdict": finding.verdict,
        "why": finding.why,
        "margin": ends(finding.margin),
        "least_delta": ends(finding.delta),
        "recomputed_by": finding.route,
        "certificate": certificate,
        **({} if sensitivity is None else {"sensitivity": _table(sensitivity)}),
        **provenance(claim.curve),
    }


def _table(sensitivity: Sensitivity | str) -> list[dict[str, object]] | str:
    return sensitivity if isinstance(sensitivity, str) else sensitivity.document()


def _print(found: Verification, written: list[str | None], tables: list[Sensitivity | str | None]) -> None:
    console = screen()
    for number, (finding, certificate, sensitivity) in enumerate(zip(found, written, tables, strict=True), start=1):
        claim = finding.claim
        console.print(Text(one_line(f"{number}. {finding.verdict}: {claim}"), style="bold"))
        facts = [
            ("why", finding.why),
            ("margin", _margin(finding)),
            ("delta", f"{enclosed(finding.delta)}, {WHAT_IS_ENCLOSED.get(claim.curve.kind, claim.curve.kind)}"),
            ("by", f"doubles and {finding.route}"),
            ("theorem", claim.curve.theorem),
            *([] if certificate is None else [("certificate", certificate)]),
            *([] if sensitivity is None else [("what if", str(sensitivity).splitlines())]),
        ]
        console.print(fact_grid(facts))
    counts = Counter(finding.verdict for finding in found)
    console.print("\n" + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()))


def _margin(finding: Finding) -> str:
    """The certified margin at its safe end."""
    margin = finding.margin
    if finding.verdict == "refuted":
        return f"the claimed δ is too small by at least {_at_least(-margin.upper)}"
    return f"the claimed δ minus the least one is at least {_at_least(margin.lower)}"


def _at_least(value: float) -> str:
    text = at_most(-value)
    return text[1:] if text.startswith("-") else f"-{text}" if value else "0"
