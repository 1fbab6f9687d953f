"""Templates and their laws: the entries on which a query is answered (Definitions 3.1, 3.2 and 3.4).

A *template* is a sequence of indices of entries. Order and repetition matter, so templates also describe drawing with
replacement. A *family* is one template for each of several queries. A sampling technique is a law on templates. A
random partition is a uniform law on families of disjoint templates. All laws here come from enumerating the possible
draws: a uniform law counts them, an independent law multiplies the probabilities of the entries.

With `ordered=False` each set of entries is listed once, in increasing order. There are far fewer cases, and the result
is the same for queries that do not depend on the order of their rows; for other queries it may differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any, TypeAlias, TypeVar

from statpriv.errors import ArgumentError
from statpriv.reference import cases
from statpriv.reference.cases import LIMIT, refuse_above
from statpriv.reference.laws import Number, as_law, as_probability

Template: TypeAlias = tuple[int, ...]
Family: TypeAlias = tuple[Template, ...]
Drawn = TypeVar("Drawn", Template, Family)
TemplateLaw: TypeAlias = dict[Template, Fraction]
FamilyLaw: TypeAlias = dict[Family, Fraction]


def uniform(templates: Iterable[Drawn]) -> dict[Drawn, Fraction]:
    """The uniform law on templates, or on families of templates (Definition 3.4); one listed twice is twice as likely.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.reference.uniform([(0, 1), (2, 3)])
    {(0, 1): Fraction(1, 2), (2, 3): Fraction(1, 2)}
    """
    drawn = list(templates)
    if not drawn:
        raise ArgumentError("templates = []; at least one template is required, or none fits the sizes asked for")
    return _added_up((template, Fraction(1, len(drawn))) for template in drawn)


def everyone(n: int) -> TemplateLaw:
    """The one template that takes all `n` entries.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.reference.everyone(3)
    {(0, 1, 2): Fraction(1, 1)}
    """
    _expect_size(n, "n", least=1)
    return uniform([tuple(range(n))])


def without_replacement(n: int, size: int, *, ordered: bool = True, limit: int = LIMIT) -> TemplateLaw:
    """`size` different entries of `n`, in the order of drawing.

    Parameters
    ----------
    n, size : int
        Number of entries, and number of draws: `0 <= size <= n`.
    ordered : bool, default True
        False lists every set once, in increasing order; equivalent for queries that ignore the order of the rows.
    limit : int, default 2 000 000
        Largest number of templates; more are refused.

    Examples
    --------
    >>> import statpriv as sp
    >>> list(sp.reference.without_replacement(3, 2, ordered=False))
    [(0, 1), (0, 2), (1, 2)]
    >>> len(sp.reference.without_replacement(3, 2))
    6
    """
    return uniform(template for (template,) in _disjoint(n, [size], ordered=ordered, limit=limit))


def with_replacement(n: int, size: int, *, limit: int = LIMIT) -> TemplateLaw:
    """`size` draws from all `n` entries with replacement: an entry can occur several times.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.reference.with_replacement(2, 2)[0, 0]
    Fraction(1, 4)
    """
    _expect_size(n, "n", least=1)
    _expect_size(size, "size")
    refuse_above(limit, n**size, f"with_replacement({n}, {size})")
    return uniform(product(range(n), repeat=size))


def poisson(n: int, rate: Number, *, limit: int = LIMIT) -> TemplateLaw:
    """Every entry is in the sample with probability `rate`, independently; the sample keeps the entries' order.

    The size of the sample is random. To publish it, include it in the answer: `lambda rows: (len(rows), sum(rows))`.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.reference.poisson(2, "1/3")
    {(): Fraction(4, 9), (1,): Fraction(2, 9), (0,): Fraction(2, 9), (0, 1): Fraction(1, 9)}
    """
    _expect_size(n, "n", least=1)
    gamma = as_probability(rate, "rate")
    refuse_above(limit, 2**n, f"poisson({n}, {gamma})")
    return {template: mass for (template,), mass in _assigned(n, [gamma]).items()}


def stratified(
    groups: Sequence[Hashable], sizes: Mapping[Hashable, int], *, ordered: bool = True, limit: int = LIMIT
) -> TemplateLaw:
    """A sample with a fixed number of entries of every group.

    Parameters
    ----------
    groups : sequence
        The group of each entry.
    sizes : mapping
        Number of entries drawn from each group; 0 for a group that is left out.
    ordered, limit
        As for :func:`without_replacement`; `limit` counts the samples of any composition.

    Examples
    --------
    >>> import statpriv as sp
    >>> list(sp.reference.stratified("ffm", {"f": 1, "m": 1}, ordered=False))
    [(0, 2), (1, 2)]
    """
    families = stratified_partitions(groups, [sizes], ordered=ordered, limit=limit)
    return {template: mass for (template,), mass in families.items()}


def partitions(n: int, sizes: Sequence[int], *, ordered: bool = True, limit: int = LIMIT) -> FamilyLaw:
    """A random partition: disjoint parts of these sizes, all families equally likely; other entries are not used.

    Parameters
    ----------
    n : int
        Number of entries.
    sizes : sequence of int
        Size of each part; together at most n.
    ordered, limit
        As for :func:`without_replacement`: each part is listed once, and `limit` counts families.

    Examples
    --------
    >>> import statpriv as sp
    >>> list(sp.reference.partitions(3, [2, 1], ordered=False))
    [((0, 1), (2,)), ((0, 2), (1,)), ((1, 2), (0,))]
    """
    return uniform(_disjoint(n, sizes, ordered=ordered, limit=limit))


def stratified_partitions(
    groups: Sequence[Hashable], sizes: Sequence[Mapping[Hashable, int]], *, ordered: bool = True, limit: int = LIMIT
) -> FamilyLaw:
    """A random partition in which every part has a fixed number of entries of every group.

    It follows Definition 3.4 literally: the law is uniform on the partitions with the required composition.

    Parameters
    ----------
    groups : sequence
        The group of each entry.
    sizes : sequence of mappings
        For each part the number of its entries of each group; 0 for a group that is left out.
    ordered, limit
        As for :func:`partitions`; `limit` counts the partitions of any composition.

    Examples
    --------
    >>> import statpriv as sp
    >>> list(sp.reference.stratified_partitions("ffm", [{"f": 1}, {"f": 1, "m": 1}], ordered=False))
    [((0,), (1, 2)), ((1,), (0, 2))]
    """
    for k, part in enumerate(sizes):
        for group, size in part.items():
            if group not in groups:
                raise ArgumentError(f"sizes[{k}][{group!r}] = {size!r}; the groups are {list(dict.fromkeys(groups))}")

    def composed_as_asked(family: Family) -> bool:
        return all(
            all(sum(groups[i] == group for i in template) == part.get(group, 0) for group in groups)
            for template, part in zip(family, sizes, strict=True)
        )

    totals = [sum(part.values()) for part in sizes]
    return uniform(filter(composed_as_asked, _disjoint(len(groups), totals, ordered=ordered, limit=limit)))


def multinomial_assignment(n: int, weights: Sequence[Number], *, limit: int = LIMIT) -> FamilyLaw:
    """Every entry goes to part k with probability `weights[k]`, independently; other entries are not used.

    Parts keep the order of the entries. The sizes of the parts are random.

    Examples
    --------
    >>> import statpriv as sp
    >>> law = sp.reference.multinomial_assignment(2, ["1/2", "1/4"])
    >>> law[(0,), (1,)], law[(), ()]
    (Fraction(1, 8), Fraction(1, 16))
    """
    _expect_size(n, "n", least=1)
    shares = [as_probability(weight, f"weights[{k}]") for k, weight in enumerate(weights)]
    if not shares or sum(shares) > 1:
        raise ArgumentError(f"weights = {list(weights)!r}; at least one weight is required, and a sum of at most 1")
    refuse_above(limit, (len(shares) + 1) ** n, f"multinomial_assignment of {n} entries to {len(shares)} parts")
    return _assigned(n, shares)


def overlapping(n: int, sizes: Sequence[int], *, ordered: bool = True, limit: int = LIMIT) -> FamilyLaw:
    """One sample without replacement for each query, drawn independently, so samples may share entries.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.reference.overlapping(2, [1, 1])[(0,), (0,)]
    Fraction(1, 4)
    """
    if not sizes:
        raise ArgumentError("sizes = []; at least one sample is required")
    samples = [list(without_replacement(n, size, ordered=ordered, limit=limit)) for size in sizes]
    refuse_above(limit, cases.product(map(len, samples)), f"overlapping({n}, {list(sizes)})")
    return uniform(product(*samples))


def as_families(templates: Mapping[Any, Number], parts: int, n: int, *, single: bool) -> FamilyLaw:
    """The law on families, checked for `parts` queries on `n` entries; a single template is a family of one."""
    shape = "a template such as (0, 2)" if single else f"a family of {parts} templates such as ((0, 2), (1,))"
    families: FamilyLaw = {}
    for drawn, mass in as_law(templates, "templates").items():
        family = (drawn,) if single else drawn
        if not isinstance(family, tuple) or len(family) != parts or not all(isinstance(part, tuple) for part in family):
            raise ArgumentError(f"templates has {drawn!r}; {shape} is required")
        for index in (index for part in family for index in part):
            if not isinstance(index, int) or not 0 <= index < n:
                raise ArgumentError(f"templates has {drawn!r} with the entry {index!r}; entries are 0 to {n - 1}")
        if mass:
            families[family] = mass
    return families


def _disjoint(n: int, sizes: Sequence[int], *, ordered: bool, limit: int) -> Iterator[Family]:
    """Every injective template of this format."""
    _expect_size(n, "n", least=1)
    for k, size in enumerate(sizes):
        _expect_size(size, f"sizes[{k}]")
    if not sizes or sum(sizes) > n:
        raise ArgumentError(f"sizes = {list(sizes)!r}; at least one size is required, and together at most n = {n}")
    ways: Callable[[int, int], int] = cases.arrangements if ordered else cases.subsets
    left = [n - sum(sizes[:k]) for k in range(len(sizes))]
    refuse_above(limit, cases.product(map(ways, left, sizes)), f"samples of sizes {list(sizes)} out of {n} entries")
    draw = permutations if ordered else combinations

    def extended(family: Family) -> Iterator[Family]:
        if len(family) == len(sizes):
            yield family
            return
        unused = [i for i in range(n) if not any(i in part for part in family)]
        for part in draw(unused, sizes[len(family)]):
            yield from extended((*family, part))

    return extended(())


def _assigned(n: int, shares: Sequence[Fraction]) -> FamilyLaw:
    """Every entry independently chooses a part, or none."""
    choices = [*enumerate(shares), (None, 1 - sum(shares, Fraction(0)))]
    law: dict[Family, Fraction] = {}
    for assignment in product(reversed(choices), repeat=n):
        mass = Fraction(1)
        for _, share in assignment:
            mass *= share
        family = tuple(tuple(i for i, (part, _) in enumerate(assignment) if part == k) for k in range(len(shares)))
        law[family] = mass
    return law


def _added_up(weighted: Iterable[tuple[Drawn, Fraction]]) -> dict[Drawn, Fraction]:
    law: defaultdict[Drawn, Fraction] = defaultdict(Fraction)
    for template, mass in weighted:
        law[template] += mass
    return dict(law)


def _expect_size(size: object, name: str, *, least: int = 0) -> None:
    if not isinstance(size, int) or size < least:
        raise ArgumentError(f"{name} = {size!r}; an integer of at least {least} is required")
