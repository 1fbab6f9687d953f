"""Samplings: which of the entries the query sees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, get_args

from statpriv.errors import ArgumentError
from statpriv.model.groups import ByGroup, by_group, show_groups
from statpriv.model.probabilities import listed_numbers
from statpriv.numeric.exact import Number, as_count, as_probability
from statpriv.numeric.literals import abridged, show, show_list

__all__ = [
    "OverlappingSamples",
    "PoissonSampling",
    "Sampling",
    "Stratified",
    "TemplateLaw",
    "WithReplacement",
    "WithoutReplacement",
    "samplings_but",
]


@dataclass(frozen=True, init=False)
class WithoutReplacement:
    """A secret sample of `size` entries, each set of that size equally likely.

    Parameters
    ----------
    size : int
        Number of entries drawn, from 1 to the size of the population.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.WithoutReplacement(256)
    WithoutReplacement(size=256)
    """

    size: int

    def __init__(self, size: Number) -> None:
        object.__setattr__(self, "size", as_count(size, "size", least=1))

    @classmethod
    def jackknife(cls, population_size: Number) -> WithoutReplacement:
        """All entries but one, which is secret: a leave-one-out sample.

        Parameters
        ----------
        population_size : int
            Number of entries, at least 2, the critical one included.

        Examples
        --------
        >>> import statpriv as sp
        >>> sp.WithoutReplacement.jackknife(1024)
        WithoutReplacement(size=1023)
        """
        return cls(as_count(population_size, "population_size", least=2) - 1)


@dataclass(frozen=True, init=False)
class WithReplacement:
    """A secret sample of `size` independent uniform draws: an entry may be counted several times.

    Parameters
    ----------
    size : int
        Number of draws, at least 1; it may exceed the population.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.WithReplacement(256)
    WithReplacement(size=256)
    """

    size: int

    def __init__(self, size: Number) -> None:
        object.__setattr__(self, "size", as_count(size, "size", least=1))

    @classmethod
    def bootstrap(cls, population_size: Number) -> WithReplacement:
        """As many draws as there are entries: a bootstrap sample.

        Parameters
        ----------
        population_size : int
            Number of entries, the critical one included.

        Examples
        --------
        >>> import statpriv as sp
        >>> sp.WithReplacement.bootstrap(1024)
        WithReplacement(size=1024)
        """
        return cls(as_count(population_size, "population_size", least=1))


@dataclass(frozen=True, init=False, repr=False)
class PoissonSampling:
    """A secret sample that holds each entry with probability `rate`, independently of the others.

    Parameters
    ----------
    rate : float, int, Fraction, Decimal or str
        Above 0, at most 1.
    size_published : bool, default False
        Whether the number of entries in the sample is released with the answer.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.PoissonSampling("1/4", size_published=True)
    PoissonSampling(0.25, size_published=True)
    """

    rate: Fraction
    size_published: bool

    def __init__(self, rate: Number, *, size_published: bool = False) -> None:
        exact = as_probability(rate, "rate")
        if exact == 0:
            raise ArgumentError(f"rate = {rate}; a rate above 0 is required, an empty sample has no answer")
        if not isinstance(size_published, bool):
            raise ArgumentError(f"size_published = {abridged(size_published)}; True or False is required")
        object.__setattr__(self, "rate", exact)
        object.__setattr__(self, "size_published", size_published)

    def __repr__(self) -> str:
        return f"PoissonSampling({show(self.rate)}{', size_published=True' if self.size_published else ''})"


@dataclass(frozen=True, init=False, repr=False)
class Stratified:
    """A secret sample without replacement from each group, independently.

    Parameters
    ----------
    sizes : dict of str to int
        Number of entries drawn from each group, at least one of them above 0.

    Attributes
    ----------
    sizes : tuple of (str, int)
        Group and number, in the order given.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.Stratified({"f": 10, "m": 20})
    Stratified({'f': 10, 'm': 20})
    """

    sizes: ByGroup[int]

    def __init__(self, sizes: Mapping[str, Number]) -> None:
        if not isinstance(sizes, Mapping):
            raise ArgumentError(
                f"sizes = {abridged(sizes)}; a dict from group to sample size, such as {{'f': 30}}, is required"
            )
        exact = by_group(sizes, "sizes", as_count)
        if not any(size for _, size in exact):
            raise ArgumentError(f"sizes = {abridged(sizes)}; a sample size above 0 is required in some group")
        object.__setattr__(self, "sizes", exact)

    def __repr__(self) -> str:
        return f"Stratified({show_groups(self.sizes, str)})"


@dataclass(frozen=True, init=False, repr=False)
class OverlappingSamples:
    """Several secret samples without replacement, drawn independently; the query is answered on each.

    Parameters
    ----------
    sizes : iterable of int
        Number of entries of each sample, at least 1. An entry may be in several samples.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.OverlappingSamples([100, 100, 50])
    OverlappingSamples([100] * 2 + [50])
    """

    sizes: tuple[int, ...]

    def __init__(self, sizes: Iterable[Number]) -> None:
        drawn = listed_numbers(sizes, "sizes", "a list of sample sizes, such as [100, 50],")
        exact = tuple(as_count(size, f"sizes[{k}]", least=1) for k, size in enumerate(drawn))
        object.__setattr__(self, "sizes", exact)

    def __repr__(self) -> str:
        return f"OverlappingSamples({show_list(self.sizes)})"


@dataclass(frozen=True, init=False, repr=False)
class TemplateLaw:
    """Any law of the secret sample, stated template by template.

    Parameters
    ----------
    probabilities : dict of tuple of int to number
        Each template, the numbers of the entries that are in the sample, with its exact probability. Entries are
        numbered from 0; one that is named k times counts k times. The probabilities sum to exactly one.

    Attributes
    ----------
    probabilities : tuple of (tuple of int, Fraction)
        Template and probability, in the order of the templates.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.TemplateLaw({(0, 1): "1/3", (1, 2, 2): "2/3"})
    TemplateLaw({(0, 1): '1/3', (1, 2, 2): '2/3'})
    """

    probabilities: tuple[tuple[tuple[int, ...], Fraction], ...]

    def __init__(self, probabilities: Mapping[Any, Number]) -> None:
        if not isinstance(probabilities, Mapping) or not probabilities:
            raise ArgumentError(
                f"probabilities = {abridged(probabilities)}; a dict from template to probability, "
                "such as {(0, 1): '1/2', (1, 2): '1/2'}, is required"
            )
        exact: dict[tuple[int, ...], Fraction] = {}
        for template, probability in probabilities.items():
            entries = _template(template)
            if entries in exact:
                raise ArgumentError(f"probabilities name the template {abridged(entries)} twice; name it once")
            exact[entries] = as_probability(probability, f"probabilities[{abridged(template)}]")
        total = sum(exact.values(), Fraction(0))
        if total != 1:
            raise ArgumentError(
                f"probabilities sum to {abridged(total)}; those of templates must sum to exactly one: write fractions "
                "such as '1/3', a float is the rational it stores"
            )
        if not any(template and probability for template, probability in exact.items()):
            raise ArgumentError(
                f"probabilities = {abridged(probabilities)}; a template with an entry and a probability above 0 is "
                "required, an empty sample has no answer"
            )
        object.__setattr__(self, "probabilities", tuple(sorted(exact.items())))

    def __repr__(self) -> str:
        return f"TemplateLaw({{{', '.join(f'{template}: {show(p)}' for template, p in self.probabilities)}}})"


def _template(entries: object) -> tuple[int, ...]:
    if not isinstance(entries, tuple):
        raise ArgumentError(f"template {abridged(entries)}; a tuple of entry numbers, such as (0, 2), is required")
    return tuple(as_count(entry, f"template {abridged(entries)}, entry") for entry in entries)


Sampling: TypeAlias = (
    WithoutReplacement | WithReplacement | PoissonSampling | Stratified | OverlappingSamples | TemplateLaw
)
"""How a sample is drawn."""


def samplings_but(*left_out: type) -> tuple[type, ...]:
    """The types of all samplings but these."""
    return tuple(sampling for sampling in get_args(Sampling) if sampling not in left_out)
