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

    [[claim]]                          # or any query, in the words of a composition file
    epsilon = 0.3
    delta = 1e-6
    population = { f = 500, m = 444 }
    query = { kind = "sum", pmf = { 0 = "1/2", 5 = "1/2" } }
    sampling = { kind = "poisson", rate = "1/4" }      # of all entries by default

    [[claim]]                          # or the rule "published only if every possible cell has at least 10 rows"
    epsilon = 2
    delta = 8.5e-6
    minimum = 10                       # of every table, of any number of rows: there is no population
    known_rows = 0

    [[claim]]                          # or what a release reports, under the assumptions of its JSON report
    report = "report.json"             # relative to this file
    known_rows = 100                   # ε, δ and known rows are the report's where they are left out

The JSON report of a release by itself stands for the claim that its target is reached. Where its table was released
before, a claim about a report is one about everything released so far.

Every number is exact. A key that is not listed here is an error, and all errors are reported at once, with the line.
"""

from __future__ import annotations

from pathlib import Path

from statpriv import budget
from statpriv.assurance.verification import Claim
from statpriv.errors import ArgumentError, StatprivError
from statpriv.files.composition import (
    BOUND,
    PARTS,
    POPULATION_SIZE,
    Composition,
    Part,
    read_composition,
    read_parts,
    refuse_plan,
)
from statpriv.files.documents import located, parsed, read_text, refused
from statpriv.model.codec import POPULATION, QUERY, SAMPLING, stated_range
from statpriv.model.contingency_fields import MINIMUM
from statpriv.model.fields import (
    COUNT,
    NUMBER,
    RANGE,
    SIZE,
    TEXT,
    TRUTH,
    Field,
    Record,
    Value,
    by_name,
    definition,
    listed,
)
from statpriv.numeric.arguments import is_mapping

__all__ = ["CLAIMS", "read_claims"]


_MAX_CONTRADICTIONS = 8
_TARGET = {
    "name": TEXT.optional().described("a label"),
    "epsilon": NUMBER.described("ε in nats"),
    "delta": NUMBER.described("δ, from 0 to 1"),
}
_SITUATION = {
    "population": POPULATION_SIZE,
    "known_rows": COUNT.optional(0).described("entries an adversary knows"),
    "bound": BOUND,
}
_FORMS: dict[str, Record] = {
    "part": Record({**_TARGET, **_SITUATION, "part": PARTS}, "counts on the parts of a secret random partition"),
    "probability": Record(
        {
            **_TARGET,
            **_SITUATION,
            "probability": RANGE,
            "each": TRUTH.optional(absent=False).described("every entry has a probability of its own in the range"),
            "size": SIZE.optional().described("entries in the sample; all by default"),
        },
        "one count of all entries, or of a secret sample of them",
    ),
    "query": Record(
        {**_TARGET, **_SITUATION, "query": QUERY, "sampling": SAMPLING.optional()},
        "one query of any kind, of all entries or of a secret sample of them",
    ),
    "minimum": Record(
        {**_TARGET, "known_rows": _SITUATION["known_rows"], "minimum": MINIMUM},
        "the rule that an exact table is published only if every possible cell has so many entries; minima by cell are "
        "those of a query",
    ),
    "report": Record(
        {
            "name": _TARGET["name"],
            "report": TEXT.described("the JSON report, relative to this file"),
            **{key: field.optional() for key, field in _TARGET.items() if key != "name"},
            "known_rows": COUNT.optional(),
        },
        "what a release reports; what is left out is the report's",
    ),
}
"""What the kinds of claims may say, by the key that only they have."""

CLAIMS = Record(
    {
        "claim": Field(
            lambda value: listed(value, least=1, most=budget.MAX_FILE_TABLES),
            f"1 to {budget.MAX_FILE_TABLES} tables [[claim]]",
            {
                "type": "array",
                "minItems": 1,
                "maxItems": int(budget.MAX_FILE_TABLES),
                "items": {"oneOf": [definition(f"claim_{form}", record.schema) for form, record in _FORMS.items()]},
            },
        )
    }
)


def read_claims(path: Path, *, plan: Path | None = None) -> tuple[Claim, ...]:
    """Read a claims file.

    Parameters
    ----------
    path : Path
        The file.
    plan : Path, optional
        The plan file that every claim has to be about the report of.

    Raises
    ------
    ArgumentError
        The file cannot be read or is not a claims file; the message lists every fault, with its line.
    """
    text = read_text(path, "claims")
    document = parsed(text, path)
    refuse_plan(document, path)
    if "composition" in document:
        return (_reported({"name": None, "report": path.name}, path.parent, plan),)
    faults: list[str] = []
    tables = CLAIMS.read(document, "", faults).get("claim", [])
    claims = [_claim(table, f"claim[{k}]", path.parent, plan, faults) for k, table in enumerate(tables, start=1)]
    if faults:
        raise refused(path, located(faults, document, text))
    return tuple(claim for claim in claims if claim is not None)


def _claim(table: Value, place: str, folder: Path, plan: Path | None, faults: list[str]) -> Claim | None:
    forms = [form for form in _FORMS if is_mapping(table) and form in table]
    if len(forms) != 1:
        faults.append(f"{place}: one of {', '.join(_FORMS)} is required, here are {', '.join(forms) or 'none'}")
        return None
    known = len(faults)
    read = _FORMS[forms[0]].read(table, place, faults)
    parts = read_parts(read.pop("part", []), f"{place}.part", faults)
    if len(faults) > known:
        return None
    try:
        if plan is not None and "report" not in read:
            faults.append(f"{place}: it is about no report, which could be one of the plan {plan}")
        return _reported(read, folder, plan) if "report" in read else _stated(read, parts)
    except StatprivError as error:
        faults.append(f"{place}: {error}")
        return None


def _stated(read: dict[str, Value], parts: tuple[Part, ...]) -> Claim:
    """A claim about counts that the file describes."""
    import statpriv as sp

    target = {key: read.pop(key) for key in _TARGET}
    if "minimum" in read:
        return Claim(sp.minimum_count_curve(read["minimum"], known=read["known_rows"]), **target)
    if parts:
        return Claim(Composition(epsilon=target["epsilon"], parts=parts, **read).curve(), **target)
    size = read.get("size")
    curve = sp.privacy_curve(
        read["query"] if "query" in read else sp.PropertyQuery(stated_range(read["probability"], each=read["each"])),
        POPULATION.read(by_name(read["population"])),
        adversary=sp.Adversary(known=read["known_rows"]),
        sampling=read.get("sampling") if size is None else sp.WithoutReplacement(size),
        bound=read["bound"],
    )
    return Claim(curve, **target)


def _reported(read: dict[str, Value], folder: Path, plan: Path | None) -> Claim:
    """A claim about what a report says was released, by a plan if one is given."""
    report = read_composition(folder / read["report"])
    if isinstance(report, Composition):
        raise ArgumentError(
            f"report = {read['report']!r} is no report of a release; the JSON report of one is required"
        )
    if plan is not None:
        from statpriv.releasing.plan_file import load_plan

        report = report.of_plan(load_plan(plan))
    if found := report.disagreements:
        shown = [
            *found[:_MAX_CONTRADICTIONS],
            *([f"and {len(found) - _MAX_CONTRADICTIONS} more"] * bool(found[_MAX_CONTRADICTIONS:])),
        ]
        whom = "itself" if plan is None else f"itself or the plan {plan.name}"
        raise ArgumentError(f"report = {read['report']!r} contradicts {whom}: {'; '.join(shown)}")
    report.warn_if_contradicted()
    return Claim(
        report.curve_knowing(read.get("known_rows")),
        epsilon=report.composition.epsilon if read.get("epsilon") is None else read["epsilon"],
        delta=report.target if read.get("delta") is None else read["delta"],
        name=read["name"],
        about=report.about,
    )
