"""Order statistics: minimum, median, maximum and every rank between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from statpriv.errors import ArgumentError
from statpriv.model.queries.valued import Valued, ValuesAndLaw
from statpriv.numeric.exact import Number, as_count

Rank: TypeAlias = "int | Literal['median', 'maximum']"


@dataclass(frozen=True, init=False, repr=False)
class OrderStatisticQuery(Valued):
    """The entry of a given rank when all are in order, exactly.

    Parameters
    ----------
    pmf : dict of number to number, or dict of str to such
        Probability of each value that an entry may have, as for :class:`SumQuery`; or that for each group.
    rank : int or {"minimum", "median", "maximum"}
        Counted from below, the minimum is 1. The median of an even number of entries is the lower of the middle two.
    attribute : str, optional
        What says that two queries ask the *same* number.
    name : str, optional
        A label; it proves nothing.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.OrderStatisticQuery({0: 0.5, 1: 0.25, 5: 0.25}, 2)
    OrderStatisticQuery({0: 0.5, 1: 0.25, 5: 0.25}, 2)
    >>> sp.MedianQuery({0: 0.5, 1: 0.5}).rank_among(4)
    2
    """

    rank: Rank
    has_rank: ClassVar[bool] = True

    @property
    def least_entries(self) -> int:
        """As many as the rank, where that is a number."""
        return self.rank if isinstance(self.rank, int) else 1

    def check_part(self, shown: str, smallest: int | None) -> None:
        """Refuse parts that may be empty, or smaller than the rank."""
        if smallest is None:
            return
        if not smallest:
            raise ArgumentError(f"{shown} of a part that may be empty; one entry at least is required")
        self.rank_among(smallest)

    def __init__(
        self,
        pmf: ValuesAndLaw,
        rank: Number | Literal["minimum", "median", "maximum"],
        *,
        attribute: str | None = None,
        name: str | None = None,
    ) -> None:
        self._set_labels(attribute, name)
        self._set_pmf(pmf)
        object.__setattr__(self, "rank", _rank(rank))

    def rank_among(self, entries: int) -> int:
        """The rank from below among `entries` entries."""
        if self.rank == "median":
            return (entries + 1) // 2
        rank = entries if self.rank == "maximum" else int(self.rank)
        if rank > entries:
            raise ArgumentError(f"rank = {rank}; at most {entries}, the number of entries that answer, is possible")
        return rank

    def __repr__(self) -> str:
        return self._shown(self._pmf_shown, repr(self.rank))


def _rank(rank: Number | Literal["minimum", "median", "maximum"]) -> Rank:
    named: dict[object, Rank] = {"minimum": 1, "median": "median", "maximum": "maximum"}
    if isinstance(rank, str) and rank in named:
        return named[rank]
    try:
        return as_count(rank, "rank", least=1)
    except ArgumentError as refused:
        raise ArgumentError(f"{refused}, or 'minimum', 'median' or 'maximum'") from None


def MinimumQuery(  # noqa: N802  (named as what it makes)
    pmf: ValuesAndLaw, *, attribute: str | None = None, name: str | None = None
) -> OrderStatisticQuery:
    """The least entry: the order statistic of rank 1.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.MinimumQuery({0: 0.5, 1: 0.5})
    OrderStatisticQuery({0: 0.5, 1: 0.5}, 1)
    """
    return OrderStatisticQuery(pmf, "minimum", attribute=attribute, name=name)


def MedianQuery(  # noqa: N802  (named as what it makes)
    pmf: ValuesAndLaw, *, attribute: str | None = None, name: str | None = None
) -> OrderStatisticQuery:
    """The entry in the middle, the lower one of two.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.MedianQuery({0: 0.5, 1: 0.5})
    OrderStatisticQuery({0: 0.5, 1: 0.5}, 'median')
    """
    return OrderStatisticQuery(pmf, "median", attribute=attribute, name=name)


def MaximumQuery(  # noqa: N802  (named as what it makes)
    pmf: ValuesAndLaw, *, attribute: str | None = None, name: str | None = None
) -> OrderStatisticQuery:
    """The largest entry.

    Examples
    --------
    >>> import statpriv as sp
    >>> sp.MaximumQuery({0: 0.5, 1: 0.5})
    OrderStatisticQuery({0: 0.5, 1: 0.5}, 'maximum')
    """
    return OrderStatisticQuery(pmf, "maximum", attribute=attribute, name=name)
