"""Kinds of values in documents: a table with the word of the kind and the fields of the value.

A kind is one entry in a table: its word, its type, and its fields. Reading, writing and the JSON schema follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from statpriv.errors import ArgumentError
from statpriv.model.fields import Field, Record, RefusedError, Value, definition, table_from
from statpriv.numeric.literals import abridged


@dataclass(frozen=True)
class Slot:
    """A field of a kind.

    Attributes
    ----------
    field
        How it is read and written.
    argument
        The argument of the constructor that takes what is read.
    of
        What is written of a value; None is left out.
    """

    field: Field
    argument: str
    of: Callable[[Any], Any]


def slot(field: Field, of: str, argument: str = "") -> Slot:
    """A field that writes an attribute of the value, and gives it back to the constructor by its name."""
    return Slot(field, argument or of, lambda value: getattr(value, of))


@dataclass(frozen=True)
class Kind:
    """A kind of value.

    Attributes
    ----------
    type
        The type whose values are written like this.
    slots
        The fields by key.
    make
        From the arguments to the value.
    one_of
        Keys of which exactly one is stated.
    """

    type: type
    slots: Mapping[str, Slot]
    make: Callable[..., Any]
    one_of: tuple[str, ...] = ()

    @property
    def record(self) -> Record:
        """The fields as a table."""
        return Record({key: slot.field for key, slot in self.slots.items()}, one_of=self.one_of)

    def read(self, table: dict[str, Value]) -> object:
        """The value of a table without the word of its kind."""
        stated = {key: value for key, value in self.record.strictly(table).items() if value is not None}
        if self.one_of and len(stated.keys() & set(self.one_of)) != 1:
            raise RefusedError([f": exactly one of {', '.join(self.one_of)} is required"])
        try:
            return self.make(**{self.slots[key].argument: value for key, value in stated.items()})
        except ArgumentError as error:
            raise RefusedError([f": {error}"]) from None

    def write(self, value: object) -> dict[str, Value]:
        """The table of a value without the word of its kind."""
        stated = {key: (slot.field, slot.of(value)) for key, slot in self.slots.items()}
        return {key: field.write(given) for key, (field, given) in stated.items() if given is not None}


@dataclass(frozen=True)
class Family:
    """All kinds of one thing, such as the samplings.

    Attributes
    ----------
    name, plural
        What messages and schemas call the thing.
    kinds
        By their words.
    """

    name: str
    plural: str
    kinds: Mapping[str, Kind]

    @property
    def field(self) -> Field:
        """The field of a document that holds one of them."""
        allowed = f'a table such as {{ kind = "{next(iter(self.kinds))}", … }}'
        schema = {"oneOf": [_schema(word, kind) for word, kind in self.kinds.items()]}
        return Field(self.read, allowed, definition(self.name, schema), self.write)

    def write(self, value: object) -> dict[str, Value]:
        """The table of a value.

        Raises
        ------
        ArgumentError
            No kind has the type of the value.
        """
        for word, kind in self.kinds.items():
            if kind.type is type(value):
                return {"kind": word, **kind.write(value)}
        types = ", ".join(kind.type.__name__ for kind in self.kinds.values())
        raise ArgumentError(
            f"{self.name} = {abridged(value)}; {self.plural} of your own cannot be written as JSON, those of statpriv "
            f"({types}) can"
        )

    def read(self, table: Value) -> Any:  # noqa: ANN401  (a value of any of the types)
        """The value of a table; RefusedError names what is wrong with it."""
        stated = dict(table_from(table))
        word = stated.pop("kind", None)
        kind = self.kinds.get(word) if word.__hash__ else None
        if kind is None:
            raise RefusedError([f"kind = {abridged(word)}; one of {', '.join(self.kinds)} is required"])
        return kind.read(stated)


def _schema(word: str, kind: Kind) -> dict[str, Any]:
    schema = kind.record.schema
    required, properties = schema.pop("required", []), schema.pop("properties")
    return {**schema, "required": ["kind", *required], "properties": {"kind": {"const": word}, **properties}}
