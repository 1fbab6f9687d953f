"""Pictures of privacy curves: against ε, as a trade-off, against the population size or the known entries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from statpriv.curves.build import privacy_curve
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError
from statpriv.model.adversaries import Adversary
from statpriv.model.populations import Population
from statpriv.model.queries.processed import PostProcessed
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.ranges import ends
from statpriv.model.situation import Situation
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_fraction, is_array
from statpriv.numeric.literals import abridged, literal
from statpriv.plotting.picture import Line, Picture, Reference

if TYPE_CHECKING:
    from statpriv.model.samplings import Sampling
    from statpriv.model.situation import Query
    from statpriv.rules.registry import AnySituation

_DECADES_OF_A_CURVE = 6
_POINTS, _FEW_POINTS = 200, 40


def against_epsilon(curve: PrivacyCurve, *, points: int | None = None) -> Picture:
    """The picture of :func:`plot_curve`."""
    points = (_FEW_POINTS if curve.is_costly else _POINTS) if points is None else as_count(points, "points", least=2)
    start = curve.delta(0).upper
    lowest = max(start * 10.0**-_DECADES_OF_A_CURVE, curve.infinity_mass().upper * (1 + 1e-9), 1e-300)
    end = _about(curve, lowest) if curve.is_costly else curve.epsilon(lowest).upper
    end = end if math.isfinite(end) and end > 0 else 1.0
    places = [end * k / (points - 1) for k in range(points)]
    values = curve.delta(places)
    label = "δ(ε)" if curve.kind == "exact" else "upper bound of δ(ε)"
    line = Line(label, tuple(places), tuple(values[k] for k in range(points)), (curve,))
    return Picture("epsilon", "delta", _title(curve.situation), (line,))


def _about(curve: PrivacyCurve, delta: float) -> float:
    """An ε from which on δ is at most this, to about a sixteenth; infinite where none is below 512."""
    above, step = 0.0, 1 / 64
    while curve.delta(above + step).upper > delta:
        above, step = above + step, 2 * step
        if above > 512:
            return math.inf
    for _ in range(3):
        step /= 2
        above += step if curve.delta(above + step).upper > delta else 0.0
    return above + step


def trade_off(curve: PrivacyCurve, *, points: int = 200) -> Picture:
    """The picture of :func:`plot_trade_off`."""
    points = as_count(points, "points", least=2)
    places = [k / (points - 1) for k in range(points)]
    label = "β(α)" if curve.kind == "exact" else "lower bound of β(α)"
    line = Line(label, tuple(places), tuple(curve.beta(alpha) for alpha in places), (curve,))
    blind = Reference("1 − α: seeing nothing", (0.0, 1.0), (1.0, 0.0))
    return Picture("alpha", "beta", _title(curve.situation), (line,), (blind,))


def against_size(
    query: Query | Sequence[Query],
    sizes: Iterable[Number],
    epsilon: Number | Sequence[Number],
    *,
    adversary: Adversary | None = None,
    sampling: Sampling | None = None,
    bound: str = "tightest",
) -> Picture:
    """The picture of :func:`plot_against_size`.

    Examples
    --------
    >>> import statpriv as sp
    >>> from statpriv.plotting import against_size
    >>> picture = against_size(sp.PropertyQuery("1/2"), [1, 2, 4], 0)
    >>> [value.upper for value in picture.lines[0].values]
    [1.0, 0.5, 0.375]
    """
    queries: Sequence[Query] = query if isinstance(query, list | tuple) else (query,)
    epsilons = _several(epsilon, "epsilon")
    places = tuple(sorted({as_count(size, "sizes", least=1) for size in sizes}))
    if not queries:
        raise ArgumentError(f"query = {abridged(query)}; at least one query is required")
    if len(places) < 2:
        raise ArgumentError(f"sizes = {abridged(list(places))}; at least two different sizes are required")
    lines = []
    for asked in queries:
        curves = tuple(
            privacy_curve(asked, Population(n), adversary=adversary, sampling=sampling, bound=bound) for n in places
        )
        for exact in epsilons:
            names = (_described(asked), f"ε = {spelled(exact)}")
            varying = [name for name, all_names in zip(names, (queries, epsilons), strict=True) if len(all_names) > 1]
            lines.append(Line(", ".join(varying or names[1:]), places, _deltas(curves, exact), curves))
    common = [_described(queries[0])] if len(queries) == 1 else []
    common += [f"ε = {spelled(epsilons[0])}"] if len(epsilons) == 1 and len(queries) > 1 else []
    common += _circumstances(0 if adversary is None else adversary.total, sampling)
    return Picture("n", "delta", ", ".join(common), marked_as_bounds(lines))


def against_known(
    query: Query,
    population: Population,
    epsilon: Number | Sequence[Number],
    *,
    sampling: Sampling | None = None,
    bound: str = "tightest",
    points: int = 100,
) -> Picture:
    """The picture of :func:`plot_against_known`.

    Examples
    --------
    >>> import statpriv as sp
    >>> from statpriv.plotting import against_known
    >>> picture = against_known(sp.PropertyQuery("1/2"), sp.Population(4), 0)
    >>> [(known, value.upper) for known, value in zip(picture.lines[0].places, picture.lines[0].values)]
    [(0, 0.375), (1, 0.5), (2, 0.5), (3, 1.0)]
    """
    epsilons = _several(epsilon, "epsilon")
    if not isinstance(population, Population) or population.size < 2:
        raise ArgumentError(f"population = {abridged(population)}; a Population of at least two entries is required")
    places = _numbers_known(population.size, as_count(points, "points", least=2))
    curves = tuple(
        privacy_curve(query, population, adversary=Adversary(known=known), sampling=sampling, bound=bound)
        for known in places
    )
    lines = [Line(f"ε = {spelled(exact)}", places, _deltas(curves, exact), curves) for exact in epsilons]
    levels = [line.values[-1].upper for line in lines]
    references = [Reference("all others known", (0, places[-1]), (level, level)) for level in levels if 0 < level < 1]
    title = ", ".join([_described(query), f"n = {population.size:,}", *_circumstances(0, sampling)])
    return Picture("known", "delta", title, marked_as_bounds(lines), tuple(references))


def sizes_between(first: Number, last: Number, points: int = 100) -> list[int]:
    """At most this many sizes from the first to the last, both included, in approximately equal ratios.

    Examples
    --------
    >>> from statpriv.plotting import sizes_between
    >>> sizes_between(1, 1024, 6)
    [1, 4, 16, 64, 256, 1024]
    """
    low, high = as_count(first, "first", least=1), as_count(last, "last", least=1)
    if high <= low:
        raise ArgumentError(f"first = {low} and last = {high}; first < last is required")
    steps = as_count(points, "points", least=2) - 1
    inner = {round(low * (high / low) ** (k / steps)) for k in range(1, steps)}
    return sorted({low, high, *inner})


def _several(value: Number | Sequence[Number], name: str) -> list[Fraction]:
    numbers: Iterable[Number] = value if is_array(value) else (value,)  # type: ignore[assignment]
    exact = [as_fraction(number, name) for number in numbers]
    if not exact:
        raise ArgumentError(f"{name} = {abridged(value)}; at least one number is required")
    return exact


def _deltas(curves: Iterable[PrivacyCurve], epsilon: Fraction) -> tuple[Enclosure, ...]:
    return tuple(curve.delta(epsilon) for curve in curves)


def marked_as_bounds(lines: list[Line]) -> tuple[Line, ...]:
    """Add to the label of each line that is not exact that it is an upper bound."""
    return tuple(line if line.is_exact else replace(line, label=f"{line.label} (upper bound)") for line in lines)


def _numbers_known(population: int, points: int) -> tuple[int, ...]:
    """About this many numbers from 0 to all others: half of them evenly spaced, half denser near the end."""
    others = population - 1
    if population <= points:
        return tuple(range(population))
    half = points // 2
    evenly = {others * k // half for k in range(half + 1)}
    return tuple(sorted(evenly | {others + 1 - unknown for unknown in sizes_between(1, others + 1, points - half)}))


def spelled(value: Fraction) -> str:
    """The fraction in its usual notation, or its nearest double if that takes too many digits."""
    text = literal(value)
    return text if len(text) <= 12 else repr(float(value))


def _described(query: object) -> str:
    """The query, in a few words."""
    if isinstance(query, PostProcessed):
        return ", ".join([_described(query.query), *(_step(step) for step in query.steps)])
    name = getattr(query, "name", None)
    if name is not None:
        return str(name)
    if isinstance(query, PropertyQuery):
        (lower, upper), own = ends(query.p), "each row's " if query.each_own else ""
        return f"p = {spelled(lower)}" if lower == upper else f"{own}p from {spelled(lower)} to {spelled(upper)}"
    return type(query).__name__


def _step(step: object) -> str:
    return repr(step).removeprefix("noise.").replace("'", "")


def _circumstances(known: int, sampling: Sampling | None) -> list[str]:
    return [*([f"{known:,} known"] if known else []), *([] if sampling is None else [repr(sampling)])]


def _title(situation: AnySituation) -> str:
    """The situation in one line."""
    if not isinstance(situation, Situation):
        return situation.title
    size = f"n = {situation.population.size:,} entries"
    return ", ".join(
        [
            _described(situation.query),
            size,
            *_circumstances(situation.adversary.total, situation.sampling),
        ]
    )
