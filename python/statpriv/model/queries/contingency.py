"""Exact tables that are published only if every possible cell holds a minimum number of entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, ClassVar, TypeAlias

from statpriv import budget
from statpriv.errors import ArgumentError
from statpriv.model.queries.labels import Labelled
from statpriv.model.queries.processed import Numerical
from statpriv.model.queries.protocol import Pair
from statpriv.model.queries.recodings import Recodings, label_of, read_recodings
from statpriv.model.ranges import Range, Stated, is_each, is_range, ranges_of_a_law, show_stated
from statpriv.numeric.arguments import as_items, as_truth, is_list, is_mapping
from statpriv.numeric.calls import answered_class
from statpriv.numeric.exact import Number, as_count
from statpriv.numeric.literals import abridged, show_list

Cell: TypeAlias = Any
"""A tuple with the category of each dimension; or the number of the cell, where only their number is stated."""
Dimensions: TypeAlias = "tuple[tuple[str, tuple[str, ...]], ...]"

DEFAULT = "default"
"""The key of the minimum of all cells that have none of their own."""


@answered_class
@dataclass(frozen=True, init=False, repr=False)
class ContingencyTable(Labelled, Numerical):
    """An exact table of counts, published only if every possible cell holds a minimum number of entries.

    What that protects does not depend on the law of the entries: they are independent and share one law, whatever it
    is. Every function of the published table is covered too: margins, percentages, rounded counts and charts.

    A possible cell without entries is below its minimum, so the table is withheld. There is no exception for zeros:
    "nobody is in this cell" tells everybody that they are not in it. Declare a cell `impossible` if no entry *can* be
    in it.

    Parameters
    ----------
    cells_or_dimensions : int or dict of str to list of str
        The number of possible cells, at least 2. Or the categories of each dimension: distinct texts that are not
        empty. They are declared, never taken from the data.
    minimum : int or dict
        The least number of entries of every cell, at least 2. Or a dict from cell to minimum; the key ``"default"``
        states the minimum of all other cells. A cell is a tuple of categories, in the order of the dimensions, or a
        number from 0.
    impossible : iterable of cells
        Cells that no entry can be in; they are left out.
    by : str, optional
        The dimension that is a public classification: everybody may know the class of each entry. The table of each
        class is published or withheld by itself, and no total over the classes is published. Entries of different
        classes may have different laws.
    recode : dict of str to list of groupings, optional
        Coarser groupings of the categories of some dimensions, the finest first, each made of groups of the one before:
        a list of lists of categories, or a dict from label to list. The *finest* table of this ladder whose cells all
        hold the minimum is published: the first as declared, the next with the first grouping of each, and so on.
    nested : bool, default False
        Instead of all or nothing, a tree: the table of the first dimension is published if its cells hold the minimum;
        each of its categories is split by the second dimension if all its cells do; and so on. Not with `recode`.
    p : Between, EachBetween, list or dict, optional
        Where it is declared, the probability of each possible cell or its range: one for all, a list in the order of
        the cells, or a dict from cell to it, with the key ``"default"``. With `by`, within the class of the cell. With
        :class:`EachBetween` every entry may have a law of its own, and the number of entries protects instead of the
        minimum: that of each class has to be stated, as the groups of the population. With other ranges the smaller of
        both bounds counts.
    attribute : str, optional
        What says that two queries ask the *same*.
    name : str, optional
        A label; it proves nothing.

    Attributes
    ----------
    dimensions : tuple of (str, tuple of str), or None
        Name and categories of each dimension, where they are stated.
    minimum : int
        The least minimum of all possible cells.

    Raises
    ------
    ArgumentError
        A value that is not allowed; the message names it.

    Notes
    -----
    Source: the theorem in docs/explanation/minimum-counts.md, with the proof.

    Examples
    --------
    >>> import statpriv as sp
    >>> table = sp.ContingencyTable(
    ...     {"region": ["n", "s"], "age": ["<30", "30-60", ">60"]}, minimum=10, impossible=[("n", "<30")]
    ... )
    >>> table.number_of_cells, table.cells[0]
    (5, ('n', '30-60'))
    >>> sp.privacy_curve(table, sp.Population(5000)).delta(2).upper < 8.5e-6
    True
    >>> ages = {"age": [f"{start}-{start + 9}" for start in range(20, 60, 10)]}
    >>> ladder = sp.ContingencyTable(ages, minimum=10, recode={"age": [[["20-29", "30-39"], ["40-49", "50-59"]]]})
    >>> ladder.depth, ladder.levels[1].cells
    (2, (('20-29, 30-39',), ('40-49, 50-59',)))
    """

    has_minimum: ClassVar[bool] = True

    dimensions: Dimensions | None
    minimum: int
    minima: tuple[tuple[Cell, int], ...]
    """Cells with a minimum of their own that differs from `default`, in the order of the cells."""
    default: int
    """The minimum of all other cells."""
    impossible: tuple[Cell, ...]
    by: str | None
    stated_cells: int
    """The number of cells, impossible ones included."""
    recode: Recodings
    """For each dimension that has coarser groupings, these, the finest first."""
    nested: bool
    p: tuple[Stated, ...] | None
    """The probability of each possible cell, or its range; within its class, where there are classes."""

    def __init__(
        self,
        cells_or_dimensions: Number | Mapping[str, Sequence[str]],
        *,
        minimum: Number | Mapping[Any, Number],
        impossible: Iterable[Cell] = (),
        by: str | None = None,
        recode: Mapping[str, Sequence[Any]] | None = None,
        nested: bool = False,
        p: Range | Sequence[Number | Range] | Mapping[Any, Number | Range] | None = None,
        attribute: str | None = None,
        name: str | None = None,
    ) -> None:
        self._set_labels(attribute, name)
        dimensions, stated = _read_cells(cells_or_dimensions)
        object.__setattr__(self, "dimensions", dimensions)
        object.__setattr__(self, "stated_cells", stated)
        object.__setattr__(self, "impossible", self._read_impossible(impossible))
        if by is not None and (dimensions is None or by not in dict(dimensions)):
            allowed = "None" if dimensions is None else f"one of {', '.join(map(repr, dict(dimensions)))} or None"
            raise ArgumentError(f"by = {abridged(by)}; {allowed} is required: the dimension that classifies publicly")
        object.__setattr__(self, "by", by)
        if self.number_of_cells < 2:
            raise ArgumentError(
                f"the table has {self.number_of_cells} possible cells; at least two are required, one alone says "
                "nothing about anybody"
            )
        default, minima = self._read_minima(minimum)
        object.__setattr__(self, "default", default)
        object.__setattr__(self, "minima", minima)
        others = [default] if len(minima) < self.number_of_cells else []
        object.__setattr__(self, "minimum", min([*others, *(least for _, least in minima)]))
        object.__setattr__(self, "recode", read_recodings(recode, dict(dimensions or ())))
        object.__setattr__(self, "nested", as_truth(nested, "nested"))
        self._check_levels()
        object.__setattr__(self, "p", self._read_ranges(p))

    # --- reading ---

    def _read_impossible(self, impossible: Iterable[Cell]) -> tuple[Cell, ...]:
        required = "a list of cells is required, such as [('north', '<30')]"
        named = {self._read_cell(cell, "impossible") for cell in as_items(impossible, "impossible", required)}
        return tuple(sorted(named, key=self._place))

    def _read_cell(self, cell: Any, name: str) -> Cell:  # noqa: ANN401  (a user's)
        """A cell, impossible or not, as tables write it."""
        if self.dimensions is None:
            try:
                number = as_count(cell, name)
            except ArgumentError:
                number = self.stated_cells
            if number < self.stated_cells:
                return number
            raise ArgumentError(f"{name} has {abridged(cell)}; a cell is a number from 0 to {self.stated_cells - 1}")
        key = tuple(cell) if is_list(cell) else cell
        kinds = dict(self.dimensions)
        if isinstance(key, tuple) and len(key) == len(kinds) and all(map(_is_among, key, kinds.values())):
            return key
        raise ArgumentError(
            f"{name} has {abridged(cell)}; a cell is a tuple with a category of {', '.join(map(repr, kinds))}, in this "
            "order"
        )

    def _read_minima(self, minimum: Any) -> tuple[int, tuple[tuple[Cell, int], ...]]:  # noqa: ANN401
        if not is_mapping(minimum):
            return _read_minimum(minimum, "minimum"), ()
        stated = dict(minimum)
        default = stated.pop(DEFAULT, None)
        read = {self._read_cell(cell, "minimum"): least for cell, least in stated.items()}
        if refused := [cell for cell in read if cell in self._excluded]:
            raise ArgumentError(
                f"minimum has {abridged(refused[0])}, which is declared impossible; leave one of them out"
            )
        minima = {cell: _read_minimum(least, f"minimum[{abridged(cell)}]") for cell, least in read.items()}
        if default is None and len(minima) < self.number_of_cells:
            missing = next(cell for cell in self._all_cells() if cell not in self._excluded and cell not in minima)
            raise ArgumentError(
                f"minimum states none for {abridged(missing)}; one for every possible cell is required, or the key "
                f"{DEFAULT!r} for all others"
            )
        commonest = max(Counter(minima.values()).items(), key=lambda item: item[::-1])[0] if minima else 2
        others = commonest if default is None else _read_minimum(default, f"minimum[{DEFAULT!r}]")
        own = [(cell, least) for cell, least in minima.items() if least != others]
        return others, tuple(sorted(own, key=lambda item: self._place(item[0])))

    def _check_levels(self) -> None:
        if self.nested and (self.recode or len(self.dimensions or ()) < 2):
            raise ArgumentError(
                "nested = True; at least two dimensions are required, the coarsest first, and no recode: a tree splits "
                "cell by cell, a ladder recodes all cells at once"
            )
        if self.by is not None and (self.nested or self.by in dict(self.recode)):
            raise ArgumentError(
                f"by = {self.by!r} with {'nested' if self.nested else 'a recoding of it'}; a public classification is "
                "neither recoded nor split by the data"
            )
        coarsest = {self.coarsened(cell, self.depth - 1) for cell in self.cells} if self.depth > 1 else None
        if coarsest is not None and len(coarsest) < 2:
            raise ArgumentError("the coarsest table has one possible cell, which says nothing; leave that level out")

    def _read_ranges(self, p: Any) -> tuple[Stated, ...] | None:  # noqa: ANN401  (a user's)
        """One for each possible cell; those of a class can add up to one."""
        if p is None:
            return None
        if is_range(p):
            p = {DEFAULT: p}
        if is_mapping(p):
            stated = dict(p)
            default = stated.pop(DEFAULT, None)
            read = {self._read_cell(cell, "p"): share for cell, share in stated.items()}
            if refused := [cell for cell in read if cell in self._excluded]:
                raise ArgumentError(f"p has {abridged(refused[0])}, which is declared impossible; leave it out")
            missing = [cell for cell in self.cells if cell not in read]
            if missing and default is None:
                raise ArgumentError(
                    f"p states none for {abridged(missing[0])}; one for every possible cell is required, or the key "
                    f"{DEFAULT!r} for all others"
                )
            shares = [read.get(cell, default) for cell in self.cells]
        else:
            shares = as_items(p, "p", "a list with the probability of each possible cell, or its range, is required")
            if len(shares) != self.number_of_cells:
                raise ArgumentError(
                    f"p has {len(shares)} probabilities; one for each of the {self.number_of_cells} possible cells is "
                    "required"
                )
        labelled = [(f"p[{cell!r}]", share) for cell, share in zip(self.cells, shares, strict=True)]
        found: dict[Cell, Stated] = {}
        places: dict[str | None, dict[Cell, int]] = {}
        for place, cell in enumerate(self.cells):
            places.setdefault(self.class_of(cell), {})[cell] = place
        for own, inside in places.items():
            name = "p" if own is None else f"p of the class {own!r}"
            # Everybody in a class of one cell is in that cell.
            alone = (Fraction(1),)
            read_shares = ranges_of_a_law([labelled[k] for k in inside.values()], name) if len(inside) > 1 else alone
            found.update(zip(inside, read_shares, strict=True))
        return tuple(found[cell] for cell in self.cells)

    # --- levels ---

    @property
    def depth(self) -> int:
        """How many tables the data choose from, or how many times they may split: 1 for all or nothing."""
        if self.nested:
            return len(self.dimensions or ())
        return 1 + max((len(groupings) for _, groupings in self.recode), default=0)

    @cached_property
    def levels(self) -> tuple[ContingencyTable, ...]:
        """The tables of all levels, each all or nothing, the finest first: the ladder, or the levels of the tree.

        A cell of a coarser table is impossible if all its cells are, and has the least minimum of them.
        """
        return tuple(map(self._at, range(self.depth)))

    def _at(self, level: int) -> ContingencyTable:
        """The table of a level."""
        if self.dimensions is None:
            return self
        coarser = {cell: self.coarsened(cell, level) for cell in self.cells}
        minima: dict[Cell, int] = {}
        for cell, group in coarser.items():
            minima[group] = min(minima.get(group, budget.MAX_INTEGER), self.minimum_of(cell))
        dimensions = self._dimensions_at(level)
        impossible = [cell for cell in product(*dimensions.values()) if cell not in minima]
        return ContingencyTable(dimensions, minimum=minima, impossible=impossible, by=self.by, name=self.name)

    def _dimensions_at(self, level: int) -> dict[str, tuple[str, ...]]:
        stated = dict(self.dimensions or ())
        if self.nested:
            return {name: stated[name] for name in [*stated][: len(stated) - level]}
        grouped = {name: groupings[min(level, len(groupings)) - 1] for name, groupings in self.recode if level}
        return {
            name: tuple(label for label, _ in grouped[name]) if name in grouped else own for name, own in stated.items()
        }

    def coarsened(self, cell: Cell, level: int) -> Cell:
        """The cell of the table of a level that holds this cell; level 0 is the table as declared."""
        if self.dimensions is None or level == 0:
            return cell
        if self.nested:
            return cell[: len(cell) - level]
        groupings = dict(self.recode)
        names = [name for name, _ in self.dimensions]
        return tuple(
            label_of(part, groupings[name][min(level, len(groupings[name])) - 1]) if name in groupings else part
            for name, part in zip(names, cell, strict=True)
        )

    # --- the cells ---

    def _all_cells(self) -> Iterable[Cell]:
        if self.dimensions is None:
            return range(self.stated_cells)
        return product(*(categories for _, categories in self.dimensions))

    def _place(self, cell: Cell) -> int:
        """The place of a cell in row-major order, impossible cells included."""
        place = 0
        for (_, categories), category in zip(self.dimensions or (), cell if self.dimensions else (), strict=True):
            place = place * len(categories) + categories.index(category)
        return place if self.dimensions else int(cell)

    @cached_property
    def _excluded(self) -> frozenset[Cell]:
        return frozenset(self.impossible)

    @property
    def number_of_cells(self) -> int:
        """The number of possible cells."""
        return self.stated_cells - len(self.impossible)

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """The possible cells in row-major order: tuples of categories, or numbers where only their number is stated."""
        if self.dimensions is None and not self.impossible:
            return range(self.stated_cells)
        return tuple(cell for cell in self._all_cells() if cell not in self._excluded)

    def minimum_of(self, cell: Cell) -> int:
        """The least number of entries of a possible cell.

        Raises
        ------
        ArgumentError
            It is no possible cell.
        """
        read = self._read_cell(cell, "cell")
        if read in self._excluded:
            raise ArgumentError(f"cell = {abridged(cell)} is declared impossible; a possible cell is required")
        return self._own_minima.get(read, self.default)

    @cached_property
    def _own_minima(self) -> dict[Cell, int]:
        return dict(self.minima)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The classes of the public classification that have possible cells; none without one."""
        if self.by is None:
            return ()
        inhabited = {self.class_of(cell) for cell in self.cells}
        return tuple(category for category in dict(self.dimensions or ())[self.by] if category in inhabited)

    def class_of(self, cell: Cell) -> str | None:
        """The class of a cell, where the classification is public."""
        return None if self._place_of_class is None else str(cell[self._place_of_class])

    @cached_property
    def _place_of_class(self) -> int | None:
        return None if self.by is None else [name for name, _ in self.dimensions or ()].index(self.by)

    def least_minima(self, of_class: str | None = None) -> tuple[int, int] | None:
        """The two least minima of the possible cells, of a class if one is named; None where it has one cell alone."""
        if of_class is None and not self.minima:
            return self.default, self.default
        return self._least_by_class.get(of_class)

    @cached_property
    def _least_by_class(self) -> dict[str | None, tuple[int, int]]:
        """The two least minima of each class, and of all cells; nothing for one cell alone."""
        found: dict[str | None, list[int]] = {}
        for cell in self.cells:
            for own in {None, self.class_of(cell)}:
                found.setdefault(own, []).append(self._own_minima.get(cell, self.default))
        least = {own: sorted(minima)[:2] for own, minima in found.items()}
        return {own: (minima[0], minima[1]) for own, minima in least.items() if len(minima) == 2}

    # --- what every query states ---

    @property
    def holds_for_every_law(self) -> bool:
        """Whether what is certified rests on no probability: none is declared."""
        return self.p is None

    @property
    def stated_law(self) -> object:
        """The cells with their probabilities, whatever the minimum."""
        return tuple(self.cells), self.p

    @property
    def each_own(self) -> bool:
        """Whether entries have laws of their own, within declared ranges."""
        return any(map(is_each, self.p or ()))

    @property
    def kind(self) -> str:
        """What messages call queries of this kind."""
        return "ContingencyTable"

    def values_in(self, group: str | None = None) -> tuple[Cell, ...]:
        """The possible cells, the same in all groups."""
        del group
        return tuple(self.cells)

    @property
    def pairs_required(self) -> str:
        """Which pairs of cells are allowed, as messages say it."""
        same = f" of one category of {self.by!r}" if self.by is not None else ""
        return f"a pair of different possible cells{same}, or None is required"

    def _read_pair(self, first: Any, second: Any) -> Pair:  # noqa: ANN401  (a user's)
        try:
            v, w = self._read_cell(first, "pair"), self._read_cell(second, "pair")
        except ArgumentError:
            return None
        allowed = v != w and not {v, w} & self._excluded and self.class_of(v) == self.class_of(w)
        return (v, w) if allowed else None

    def __repr__(self) -> str:
        stated = self.stated_cells if self.dimensions is None else {name: [*own] for name, own in self.dimensions}
        minimum = {DEFAULT: self.default, **self._own_minima} if self.minima else self.default
        further = [f"impossible={[*self.impossible]!r}"] if self.impossible else []
        further += [f"by={self.by!r}"] if self.by is not None else []
        if self.recode:
            recode = {name: [{label: [*own] for label, own in each} for each in all_] for name, all_ in self.recode}
            further.append(f"recode={recode!r}")
        further += ["nested=True"] if self.nested else []
        further += [f"p={show_list(map(show_stated, self.p))}"] if self.p is not None else []
        return self._shown(repr(stated), f"minimum={minimum!r}", *further)


def _is_among(category: object, categories: tuple[str, ...]) -> bool:
    return isinstance(category, str) and category in categories


def _read_cells(stated: Any) -> tuple[Dimensions | None, int]:  # noqa: ANN401  (a user's)
    """The dimensions, where they are stated, and the number of cells."""
    if not is_mapping(stated):
        try:
            return None, as_count(stated, "cells_or_dimensions", least=2)
        except ArgumentError:
            raise ArgumentError(
                f"cells_or_dimensions = {abridged(stated)}; a whole number of cells, at least 2, or a dict from each "
                "dimension to a list of its categories is required"
            ) from None
    given = stated
    if not given:
        raise ArgumentError("cells_or_dimensions = {}; at least one dimension is required")
    dimensions = tuple((_read_text(name, "a dimension"), _read_categories(name, given[name])) for name in given)
    cells = prod(len(categories) for _, categories in dimensions)
    if cells > budget.MAX_TABLE_CELLS:
        raise ArgumentError(
            f"cells_or_dimensions has {cells} cells; at most {budget.MAX_TABLE_CELLS} are allowed. State the number of "
            "possible cells instead of the dimensions, or fewer categories"
        )
    return dimensions, cells


def _read_categories(dimension: str, categories: object) -> tuple[str, ...]:
    name = f"cells_or_dimensions[{dimension!r}]"
    required = "a list of categories, distinct texts that are not empty, is required"
    read = tuple(
        _read_text(category, f"a category of {dimension!r}") for category in as_items(categories, name, required)
    )
    if not read or len(set(read)) < len(read):
        raise ArgumentError(f"{name} = {abridged(categories)}; {required}")
    return read


def _read_text(text: object, what: str) -> str:
    if not isinstance(text, str) or not text:
        raise ArgumentError(f"{what} is {abridged(text)}; a text that is not empty is required")
    return text


def _read_minimum(minimum: Any, name: str) -> int:  # noqa: ANN401  (a user's)
    try:
        return as_count(minimum, name, least=2)
    except ArgumentError:
        raise ArgumentError(
            f"{name} = {abridged(minimum)}; a whole number of at least 2 is required: a cell of one entry shows where "
            "that entry is"
        ) from None
