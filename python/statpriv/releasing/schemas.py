"""The published JSON schemas, generated from the declarations that read the files.

``python -m statpriv.releasing.schemas`` regenerates them; a test compares the published files with the generated ones.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import statpriv
from statpriv.assurance.certificate_fields import CERTIFICATE
from statpriv.composition import state
from statpriv.files.assessment import COUNTS
from statpriv.files.claims import CLAIMS
from statpriv.files.composition import COMPOSITION
from statpriv.files.table_plan import TABLE_PLAN
from statpriv.model.fields import schema_of
from statpriv.releasing.plan_file import plan_schema

__all__ = ["generated", "main"]


def generated() -> dict[str, dict[str, Any]]:
    """Each schema, keyed by the path of its file in the package."""
    return {
        "composition/accountant.schema.json": schema_of(
            state.SCHEMA,
            id="urn:statpriv:accountant:2",
            title="State of a statpriv partition accountant",
            description="What PartitionAccountant.to_json() writes, and what version 1 wrote. Numbers that are no "
            "counts are exact numbers in strings.",
        ),
        "releasing/certificate.schema.json": schema_of(
            CERTIFICATE,
            title="Certificate",
            description="A claim of privacy that `python -m statpriv.checker` proves or refutes.",
        ),
        "releasing/claims.schema.json": schema_of(
            CLAIMS.schema,
            title="Claims file",
            description="Claims of privacy that `statpriv verify` proves or refutes.",
        ),
        "releasing/composition.schema.json": schema_of(
            COMPOSITION.schema,
            title="Composition file",
            description="Answers on the parts of a secret random partition, whose δ `statpriv compose` computes.",
        ),
        "releasing/counts.schema.json": schema_of(
            COUNTS.schema,
            title="Counts file",
            description="A published table that `statpriv assess` assesses: one count, counts on disjoint secret "
            "random parts, or one contingency table.",
        ),
        "releasing/plan.schema.json": plan_schema(),
        "releasing/table_plan.schema.json": schema_of(
            TABLE_PLAN.schema,
            title="Table plan",
            description="An exact table that is planned before its data, for `statpriv design table`.",
        ),
    }


def main() -> None:
    """Write all schemas."""
    folder = Path(statpriv.__file__).parent
    for name, schema in generated().items():
        (folder / name).write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
