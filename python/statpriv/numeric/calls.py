"""Calls that do not fit a signature, answered with the call that would.

Python says that ``satisfies()`` takes 1 positional argument but 3 were given. Here the answer is
``satisfies(epsilon=0.1, delta=0.01)``: positional arguments get the names of the keywords in their order, and a keyword
of another library gets the name that it has here. Nothing is computed where a call fits.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from statpriv.errors import CallError
from statpriv.numeric.literals import abridged

__all__ = ["answered", "answered_class", "closest"]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Class = TypeVar("_Class", bound=type)

_ELSEWHERE = {
    "eps": ("epsilon",),
    "budget": ("epsilon",),
    "target_epsilon": ("epsilon",),
    "target_delta": ("delta",),
    "prob": ("p",),
    "probability": ("p",),
    "probabilities": ("p",),
    "n": ("size",),
    "population_size": ("size",),
    "rows": ("size",),
    "k": ("known",),
    "known_rows": ("known",),
    "knowledge": ("known", "adversary"),
    "known_entries": ("known",),
    "noise_multiplier": ("sigma",),
    "std": ("sigma",),
    "stddev": ("sigma",),
    "standard_deviation": ("sigma",),
    "b": ("scale",),
    "beta": ("scale",),
    "min": ("minimum",),
    "threshold": ("minimum",),
    "min_count": ("minimum",),
    "method": ("bound",),
    "type1": ("alpha",),
    "fpr": ("alpha",),
    "alpha": ("order",),
    "precision": ("digits",),
}
"""Names of parameters elsewhere, with the name of the same thing here; the first that a signature has counts."""


_WRITTEN = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


def answered(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Answer a call that does not fit the signature of a function with one that does."""

    @wraps(function)
    def call(*arguments: _P.args, **keywords: _P.kwargs) -> _R:
        try:
            return function(*arguments, **keywords)
        except TypeError as error:
            # A frame below this one means that the call did fit, and that the function itself failed.
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            raise CallError(_remedy(function, str(error), arguments, keywords)) from None

    return call


def answered_class(made: _Class) -> _Class:
    """The same for the constructor of a class."""
    made.__init__ = answered(made.__init__)  # type: ignore[misc]
    return made


def closest(name: str, known: Any, *, cutoff: float = 0.6) -> str | None:  # noqa: ANN401  (any iterable of names)
    """The known name that is written most like this one, at best in the same case; None if none is."""
    import difflib

    if same_case := difflib.get_close_matches(name, known := list(known), n=1, cutoff=cutoff):
        return str(same_case[0])
    folded = {other.casefold(): other for other in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=cutoff)
    return folded[close[0]] if close else None


def _remedy(function: Callable[..., Any], said: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> str:
    name = function.__qualname__.removesuffix(".__init__")
    parameters = dict(inspect.signature(function).parameters)
    if "." in function.__qualname__:  # a method: its object is not written in the call
        parameters.pop(next(iter(parameters)))
        arguments = arguments[1:]
        name = name if function.__name__ == "__init__" else function.__name__
    return f"{said}; write {name}({_written(parameters, arguments, keywords)})"


def _written(parameters: dict[str, inspect.Parameter], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> str:
    """The arguments of a call that fits, with the values that were given, and dots where one is missing."""
    named = dict(_renamed(key, value, parameters) for key, value in keywords.items())
    free = [key for key, parameter in parameters.items() if key not in named and parameter.kind in _WRITTEN]
    named.update(zip(free, map(abridged, arguments), strict=False))
    parts = []
    for key, parameter in parameters.items():
        if key in named:
            parts.append(_argument(parameter, named[key]))
        elif parameter.default is parameter.empty and parameter.kind in _WRITTEN:
            parts.append(_argument(parameter, "…"))
    return ", ".join(parts)


def _argument(parameter: inspect.Parameter, value: str) -> str:
    return f"{parameter.name}={value}" if parameter.kind is parameter.KEYWORD_ONLY else value


def _renamed(key: str, value: object, parameters: dict[str, inspect.Parameter]) -> tuple[str, str]:
    """The parameter that a keyword means, and the value that it gets."""
    # Noise that makes a count ε-differentially private has the scale 1/ε.
    if key.casefold() in ("epsilon", "eps") and "scale" in parameters and "epsilon" not in parameters:
        return "scale", f'"1/{value}"'
    match value:
        case int() if "adversary" in parameters and "known" not in parameters and _means(key, "known"):
            return "adversary", f"sp.Adversary(known={value})"
    return _here(key, parameters), abridged(value)


def _means(key: str, parameter: str) -> bool:
    return parameter in (key, *_ELSEWHERE.get(key.casefold(), ()))


def _here(key: str, parameters: dict[str, inspect.Parameter]) -> str:
    if key in parameters:
        return key
    for other in _ELSEWHERE.get(key.casefold(), ()):
        if other in parameters:
            return other
    return closest(key, parameters, cutoff=0.5) or key
