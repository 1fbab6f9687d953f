"""Situations taken literally: every database, every template and every noise, by `sp.reference`.

What a situation says is turned into the words of the definitions (a law for each entry, a function of the rows, a law
of templates, who is known), and nothing of how the library answers it is used. Noise is one more entry, that is
nobody's.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations, product
from typing import Any

import statpriv as sp
from statpriv import reference

Truth = Callable[[Fraction], Fraction]
"""δ as a function of e^ε."""


@dataclass(frozen=True)
class Literal:
    """A situation in the words of the definitions."""

    query: Any
    population: sp.Population
    sampling: Any = None
    adversary: sp.Adversary = sp.Adversary()  # noqa: RUF009  (frozen)
    pair: Any = None

    def privacy_curve(self) -> Truth:
        """Definition 2.3, the template secret: the worst critical entry, known entries and pair."""
        return self._worst(reference.privacy_curve, self.asked)

    def sampling_privacy_curve(self) -> Truth:
        """Definition 3.3, given that the critical entry is in the sample: entries that never are do not count."""
        return self._worst(reference.sampling_privacy_curve, self.asked, only_sampled=True)

    def compared(self) -> Iterator[tuple[Mapping[Any, Fraction], Mapping[Any, Fraction]]]:
        """The laws of the answer that the definition compares, for the worst values of known entries."""
        for critical, chosen in self._attacked():
            for values in product(*(self.laws[i] for i in chosen)):
                known = dict(zip(chosen, values, strict=True))
                released = {
                    value: reference.answer_law(self.database, critical, value, self.asked, self.templates, known=known)
                    for value in self._pair_of(critical) or self.laws[critical]
                }
                yield from permutations(released.values(), 2) if self.pair is None else [tuple(released.values())]

    def _pair_of(self, critical: int) -> Any:
        """The pair as values of this entry: one of several counts has its column with it."""
        if self.pair is None or not isinstance(self.plain, sp.LinearQuery):
            return self.pair
        ((_, column), *_) = self.laws[critical]
        return tuple((bit, column) for bit in self.pair)

    def _worst(self, definition: Any, asked: Any, *, only_sampled: bool = False) -> Truth:
        curves = [
            definition(
                self.database,
                asked,
                self.templates,
                critical=critical,
                known=chosen,
                values=self.adversary.values,
                pair=self._pair_of(critical),
            )
            for critical, chosen in self._attacked()
            if not only_sampled or any(mass and critical in template for template, mass in self.templates.items())
        ]
        return lambda x: max((curve(x) for curve in curves), default=Fraction(0))

    def _attacked(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Who is critical and who is known, entries that nothing tells apart only once."""
        seen = set()
        for critical in range(self.population.size):
            if self.pair is not None and not set(self._pair_of(critical)) <= set(self.laws[critical]):
                continue
            for chosen in self._known(critical):
                case = (self._kinds[critical], tuple(sorted(map(repr, (self._kinds[i] for i in chosen)))))
                if case not in seen:
                    seen.add(case)
                    yield critical, chosen

    def _known(self, critical: int) -> Iterator[tuple[int, ...]]:
        others = [i for i in range(self.population.size) if i != critical]
        stated = self.adversary.known
        if isinstance(stated, int):
            yield from combinations(others, stated)
            return
        for chosen in combinations(others, self.adversary.total):
            counted = Counter(self.groups[i] for i in chosen)
            if all(counted[group] == number for group, number in stated):
                yield chosen

    @cached_property
    def groups(self) -> list[str]:
        """The group of each entry."""
        return [name for name, size in self.population.groups or (("", self.population.size),) for _ in range(size)]

    @cached_property
    def _kinds(self) -> list[object]:
        if isinstance(self.sampling, sp.TemplateLaw):
            return list(range(self.population.size))
        return [(group, tuple(law.items())) for group, law in zip(self.groups, self.laws, strict=True)]

    @property
    def plain(self) -> Any:
        """The query before its answer is processed."""
        return self.query.query if isinstance(self.query, sp.PostProcessed) else self.query

    @property
    def steps(self) -> tuple[Any, ...]:
        return self.query.steps if isinstance(self.query, sp.PostProcessed) else ()

    @cached_property
    def laws(self) -> list[dict[Any, Fraction]]:
        """The law of each entry."""
        query = self.plain
        if isinstance(query, sp.PropertyQuery):
            stated = query.probabilities
            if isinstance(stated, tuple) and not isinstance(stated[0], tuple):
                return [reference.coin(p) for p in stated]
            return self._by_group(stated, reference.coin)
        if isinstance(query, sp.LinearQuery):
            bits, columns = reference.coin(query.p), zip(*query.matrix, strict=True)
            return [{(bit, column): mass for bit, mass in bits.items()} for column in columns]
        if isinstance(query, sp.HistogramQuery):
            return self._by_group(query.cells, lambda cells: dict(enumerate(cells)))
        return self._by_group(query.pmf, dict)

    def _by_group(self, stated: Any, law: Callable[[Any], dict[Any, Fraction]]) -> list[dict[Any, Fraction]]:
        """One law for all, or pairs of a group's name and its law."""
        first = stated[0] if isinstance(stated, tuple) else None
        if isinstance(first, tuple) and isinstance(first[0], str):
            return [law(dict(stated)[group]) for group in self.groups]
        return [law(stated)] * self.population.size

    @cached_property
    def noises(self) -> list[dict[int, Fraction]]:
        return [finite(step) for step in self.steps if not hasattr(step, "apply") for _ in range(self._numbers)]

    @property
    def _numbers(self) -> int:
        """How many numbers the answer is, each of which is processed by itself."""
        query = self.plain
        if isinstance(query, sp.LinearQuery):
            return len(query.matrix)
        return len(self.laws[0]) if isinstance(query, sp.HistogramQuery) else 1

    @cached_property
    def database(self) -> reference.Database:
        return reference.Database([*self.laws, *self.noises])

    @cached_property
    def asked(self) -> Any:
        """From the rows, those of noise the last ones, to what is released."""
        if isinstance(self.sampling, sp.OverlappingSamples):
            return [self._released] * len(self.sampling.sizes)
        return self._released

    def _released(self, rows: tuple[Any, ...]) -> Any:
        kept = len(rows) - len(self.noises)
        answer, noises = self._answer(rows[:kept]), rows[kept:]
        if isinstance(answer, tuple):
            answer = tuple(self._processed(one, noises[k :: self._numbers]) for k, one in enumerate(answer))
        else:
            answer = self._processed(answer, noises)
        published = isinstance(self.sampling, sp.PoissonSampling) and self.sampling.size_published
        return (kept, answer) if published else answer

    def _processed(self, answer: Any, noises: tuple[Any, ...]) -> Any:
        drawn = iter(noises)
        for step in self.steps:
            if hasattr(step, "apply"):
                answer = step.apply(answer)
            elif isinstance(answer, int | Fraction):
                answer += next(drawn)
        return answer

    def _answer(self, rows: tuple[Any, ...]) -> Any:
        query = self.plain
        if isinstance(query, sp.PropertyQuery | sp.SumQuery):
            return sum(rows)
        if isinstance(query, sp.MeanQuery):
            return Fraction(sum(rows), len(rows)) if rows else None
        if isinstance(query, sp.HistogramQuery):
            return tuple(rows.count(cell) for cell in range(self._numbers))
        if isinstance(query, sp.LinearQuery):
            return tuple(sum(bit * column[k] for bit, column in rows) for k in range(len(query.matrix)))
        rank = {"median": (len(rows) + 1) // 2, "maximum": len(rows)}.get(query.rank, query.rank)
        return sorted(rows)[rank - 1] if 1 <= rank <= len(rows) else None

    @cached_property
    def templates(self) -> dict[Any, Fraction]:
        """The law of the template; every template ends with the noises."""
        return {self._with_noise(drawn): mass for drawn, mass in self._drawn().items()}

    def _with_noise(self, drawn: Any) -> Any:
        n = self.population.size
        return drawn if isinstance(self.sampling, sp.OverlappingSamples) else (*drawn, *range(n, n + len(self.noises)))

    def _drawn(self) -> dict[Any, Fraction]:
        n, sampling = self.population.size, self.sampling
        match sampling:
            case None:
                drawn = reference.everyone(n)
            case sp.WithoutReplacement():
                drawn = reference.without_replacement(n, sampling.size, ordered=False)
            case sp.WithReplacement():
                drawn = unordered(reference.with_replacement(n, sampling.size))
            case sp.PoissonSampling():
                drawn = reference.poisson(n, sampling.rate)
            case sp.Stratified():
                drawn = reference.stratified(self.groups, dict(sampling.sizes), ordered=False)
            case sp.OverlappingSamples():
                drawn = reference.overlapping(n, sampling.sizes, ordered=False)
            case _:
                drawn = dict(sampling.probabilities)
        return drawn


def unordered(templates: Mapping[tuple[int, ...], Fraction]) -> dict[tuple[int, ...], Fraction]:
    """The same law for queries that do not look at the order of the rows, each selection once."""
    law: defaultdict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for template, mass in templates.items():
        law[tuple(sorted(template))] += mass
    return dict(law)


def finite(noise: Any) -> dict[int, Fraction]:
    """The law of a noise with finitely many values and rational probabilities."""
    if isinstance(noise, sp.noise.Binomial):
        law = {0: Fraction(1)}
        for _ in range(noise.trials):
            law = {
                k: law.get(k, Fraction(0)) * (1 - noise.p) + law.get(k - 1, Fraction(0)) * noise.p
                for k in range(max(law) + 2)
            }
        return law
    inner = noise.noise
    whole = (
        finite(inner)
        if isinstance(inner, sp.noise.Binomial)
        else {k: inner.alpha ** abs(k) for k in range(noise.lower, noise.upper + 1)}
    )
    kept = {k: mass for k, mass in whole.items() if noise.lower <= k <= noise.upper}
    return {k: mass / sum(kept.values()) for k, mass in kept.items()}
