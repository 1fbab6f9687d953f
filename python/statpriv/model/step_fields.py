"""Steps in documents: what is done to an answer before it is released, noises and perturbations included."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from statpriv.errors import ArgumentError
from statpriv.model import noise
from statpriv.model.fields import EXACT, Field, Value, list_of, listed, table_from, text_from, written_number
from statpriv.model.kinds import Family, Kind, slot
from statpriv.model.perturbations import RandomRounding
from statpriv.model.queries.processed import Clip, RangeGate, Relabel, Rounding, Step, Threshold
from statpriv.numeric.exact import as_fraction, as_integer
from statpriv.numeric.literals import abridged


def _answer(value: Value) -> object:
    """An answer of a table: a number, a text, or None where it is suppressed."""
    if value is None or value == {"suppressed": True}:
        return None
    if hasattr(value, "keys"):
        return text_from(value["text"], least=0) if "text" in value else as_fraction(value["number"], "an answer")
    return as_fraction(value, "an answer")


def _written_answer(answer: object) -> Value:
    match answer:
        case None:
            return {"suppressed": True}
        case str():
            return {"text": answer}
        case int() | Fraction():
            return written_number(answer)
    raise ArgumentError(f"{abridged(answer)} in a Relabel cannot be written as JSON; numbers, strings and None can")


_ANSWERS = Field(
    lambda pairs: {_answer(answer): _answer(instead) for answer, instead in listed(pairs, least=1)},
    "a list of pairs, an answer and what is published instead,",
    {"type": "array", "minItems": 1, "items": {"type": "array", "minItems": 2, "maxItems": 2}},
    lambda pairs: [[_written_answer(answer), _written_answer(instead)] for answer, instead in pairs],
)


def _numbers(made: type[Any], *names: str, optional: bool = False) -> Kind:
    field = EXACT.optional() if optional else EXACT
    return Kind(made, {name: slot(field, name) for name in names}, made)


_ADDITIONS = Field(
    lambda table: {as_integer(added, "an addition"): mass for added, mass in table_from(table).items()},
    "a table from what is added to its probability",
    {"type": "object", "minProperties": 1, "additionalProperties": EXACT.schema},
    lambda row: {written_number(Fraction(added)): written_number(mass) for added, mass in row},
)
_LATTICE_NOISE = {
    "discrete-laplace": _numbers(noise.DiscreteLaplace, "alpha", "scale", optional=True),
    "discrete-gaussian": _numbers(noise.DiscreteGaussian, "sigma"),
    "binomial": _numbers(noise.Binomial, "trials", "p"),
}
_STEPS = Family(
    "step",
    "steps",
    {
        "threshold": _numbers(Threshold, "above"),
        "gate": _numbers(RangeGate, "lower", "upper"),
        "rounding": _numbers(Rounding, "base"),
        "random-rounding": _numbers(RandomRounding, "base"),
        "cell-key": Kind(
            noise.CellKey,
            {
                "rows": slot(
                    list_of(_ADDITIONS, "a list of tables, one for each count from 0 on,", least=1), "rows", "table"
                ),
                "repeat": slot(EXACT.optional(absent=1), "repeat"),
            },
            noise.CellKey,
        ),
        "clip": _numbers(Clip, "lower", "upper", optional=True),
        "relabel": Kind(Relabel, {"published": slot(_ANSWERS, "published")}, Relabel),
        **_LATTICE_NOISE,
        "truncated": Kind(
            noise.Truncated,
            {
                "noise": slot(Family("lattice_noise", "noises", _LATTICE_NOISE).field, "noise"),
                "lower": slot(EXACT, "lower"),
                "upper": slot(EXACT, "upper"),
            },
            noise.Truncated,
        ),
        "laplace": _numbers(noise.Laplace, "scale"),
        "gaussian": _numbers(noise.Gaussian, "sigma"),
    },
)
STEP = _STEPS.field
"""What is done to an answer, a noise included."""


def publication_steps(
    gate: tuple[int, int] | None = None, suppressed_below: int | None = None, rounded_to: int | None = None
) -> tuple[Step, ...]:
    """What plans, compositions and reports call gate, suppression and rounding of a count, in this order."""
    return (
        *(() if gate is None else (RangeGate(*gate),)),
        *(() if suppressed_below is None else (Threshold(suppressed_below - 1),)),
        *(() if rounded_to is None else (Rounding(rounded_to),)),
    )


_PUBLICATION: dict[type, tuple[str, Callable[[Any], Value]]] = {
    RangeGate: ("gate", lambda step: [int(step.lower), int(step.upper)]),
    Threshold: ("suppressed_below", lambda step: int(step.above) + 1),
    Rounding: ("rounded_to", lambda step: int(step.base)),
}


def written_publication(steps: Iterable[Step]) -> dict[str, Value]:
    """The same steps, of whole numbers, in the words of plans, compositions and reports."""
    stated = (_PUBLICATION[type(step)] + (step,) for step in steps)
    return {key: written(step) for key, written, step in stated}
