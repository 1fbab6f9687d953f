"""Boolean functions of bits: exact noiseless privacy, and the theorems of the paper for comparison.

For entry i and answer y the ratios compare `P[f = y | t_i = 1]`, `P[f = y | t_i = 0]` and `P[f = y]`. All three follow
exactly from the masses of cylinders of at most one entry. With leaked entries the ratios are computed for each of the
leaked values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

from statpriv import budget
from statpriv.errors import ArgumentError
from statpriv.numeric.arguments import as_items
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count
from statpriv.numeric.literals import at_most, spelled
from statpriv.theories.noiseless.bits import BitLaw, IndependentBits, Masses, bit_law, truth_table_of
from statpriv.theories.noiseless.guarantee import NoiselessGuarantee
from statpriv.theories.noiseless.juntas import Method, junta_guarantee, junta_ratio
from statpriv.theories.noiseless.levels import Ratio, larger_of, level_of, log_ratio, quotient

if TYPE_CHECKING:
    from numpy.typing import NDArray

Function = Any
"""A truth table, or a Python function of a tuple of bits."""
Probabilities = Any
"""A number for all entries, or one for each."""


@dataclass(frozen=True)
class _Slice:
    """A function and the law of the other entries, given one value of the leaked entries."""

    mass: Fraction
    function: Masses
    everything: Masses

    def laws(self) -> Iterator[tuple[int, int, int, int]]:
        """For each entry the masses of {f=1, t=1}, {t=1}, {f=1, t=0}, {t=0}. Entries that are certain are left out."""
        for chosen, one in self.everything.items():
            zero = self.everything[()] - one
            if chosen and one and zero:
                yield self.function[chosen], one, self.function[()] - self.function[chosen], zero

    def ratio(self) -> Ratio:
        """The largest ratio of the probabilities of an answer for the two values of an entry."""
        return larger_of(
            ratio
            for f_one, one, f_zero, zero in self.laws()
            for a, b in ((f_one, f_zero), (one - f_one, zero - f_zero))
            if a or b
            for ratio in (quotient(a * zero, b * one), quotient(b * one, a * zero))
        )

    def posterior_ratio(self) -> Ratio:
        """The largest ratio of posterior over prior of a value, or of prior over posterior."""
        total = self.everything[()]
        return larger_of(
            ratio
            for f_one, one, f_zero, zero in self.laws()
            for a, b in ((f_one, f_zero), (one - f_one, zero - f_zero))
            if a or b
            for joint, prior in ((a, one), (b, zero))
            for ratio in (quotient(joint * total, prior * (a + b)), quotient(prior * (a + b), joint * total))
        )


class BooleanFunction:
    """A Boolean query on n random bits: exact noiseless privacy, distances to juntas, and the theorems' bounds.

    Parameters
    ----------
    function : sequence of 0 and 1, numpy array, or callable
        The truth table in the order of ``itertools.product((0, 1), repeat=n)``, or a Python function of a tuple of
        bits; n from 1 to 24.
    p : float, int, Fraction, Decimal or str, or a sequence, default "1/2"
        Probability that an entry is one, for independent entries, strictly between 0 and 1; one number for all entries
        or one for each.
    law : mapping or sequence, optional
        A joint law, instead of `p`: from tuples of bits to probabilities, or the probability of each database in the
        order of the table.
    entries : int, optional
        n, for a callable.

    Raises
    ------
    ArgumentError
        A table whose length is no power of two, answers other than 0 and 1, probabilities of 0 or 1, a law that does
        not sum to one.

    Examples
    --------
    >>> import statpriv as sp
    >>> majority = sp.noiseless.BooleanFunction(lambda bits: sum(bits) >= 2, entries=3)
    >>> majority.ratio(), majority.posterior_ratio()
    (Fraction(3, 1), Fraction(2, 1))
    >>> majority.junta_distance(0), majority.junta_distance(1)
    (Fraction(0, 1), Fraction(1, 2))
    >>> print(majority.explain())
    ε of noiseless privacy, exactly                   1.09862
    ε of a-posteriori noiseless privacy, exactly      0.693148
    advantage of the best constant, τ_1               0
    advantage of the best function of one entry, τ_2  0.5
    ε by Theorem 3, as printed                        1.09862
    ε by Theorem 3, with one A above and below        1.09862
    """

    def __init__(
        self,
        function: Function | Callable[[tuple[int, ...]], int],
        *,
        p: Probabilities = None,
        law: Mapping[tuple[int, ...], Number] | Sequence[Number] | NDArray[Any] | None = None,
        entries: int | None = None,
    ) -> None:
        self._table = truth_table_of(function, entries)
        self._law = bit_law(len(self._table).bit_length() - 1, p, law)

    @property
    def entries(self) -> int:
        """The number n of bits."""
        return self._law.entries

    @property
    def probability(self) -> Fraction:
        """P[f = 1]."""
        return Fraction(self._law.masses(self._table, 0)[()], self._law.masses(None, 0)[()])

    def ratio(self, *, leaked: Iterable[int] = ()) -> Ratio:
        """e^ε of noiseless privacy (Definition 2) of the entries that have not leaked, exactly.

        Parameters
        ----------
        leaked : iterable of int, optional
            Entries whose values are known, counted from 0. The maximum over their values is taken.

        Returns
        -------
        Fraction, or infinity
            The largest ratio of probabilities of an answer.
        """
        return larger_of(part.ratio() for part in self._slices(leaked))

    def epsilon(self, *, leaked: Iterable[int] = ()) -> Enclosure:
        """ε of noiseless privacy in nats: the logarithm of :meth:`ratio`."""
        return log_ratio(self.ratio(leaked=leaked))

    def posterior_ratio(self, *, leaked: Iterable[int] = ()) -> Ratio:
        """e^ε of a-posteriori noiseless privacy (Definition 3), exactly: posterior over prior, or its inverse."""
        return larger_of(part.posterior_ratio() for part in self._slices(leaked))

    def posterior_epsilon(self, *, leaked: Iterable[int] = ()) -> Enclosure:
        """ε of a-posteriori noiseless privacy in nats: the logarithm of :meth:`posterior_ratio`."""
        return log_ratio(self.posterior_ratio(leaked=leaked))

    def failure(
        self, epsilon: Number | None = None, *, exp_epsilon: Number | None = None, leaked: Iterable[int]
    ) -> Fraction:
        """The exact probability of the leaked values for which the function is not ε-noiseless private.

        Theorem 4 bounds it by 2δ. Give ε in nats, at least 0, or `exp_epsilon`, e^ε. `leaked` has entries counted from
        0.

        Examples
        --------
        >>> import statpriv as sp
        >>> if_first_then_all = sp.noiseless.BooleanFunction([0, 1, 1, 0, 0, 0, 0, 1])
        >>> if_first_then_all.failure("0.1", leaked=[0])
        Fraction(1, 2)
        """
        level = level_of(epsilon, exp_epsilon)
        bad = (part.mass for part in self._slices(leaked) if not level.holds(part.ratio()))
        return sum(bad, Fraction(0))

    def junta_distance(self, size: int) -> Fraction:
        """`τ_k`, the advantage `|2 P[f = g] − 1|` of the best function g of at most k entries, exactly.

        The paper says that f is (1−τ_k)-far from k-juntas (Definition 6).

        Parameters
        ----------
        size : int
            k, from 0 to n.

        Raises
        ------
        ArgumentError
            A size beyond n, or one with more than 200 000 sets of entries.
        """
        n, k = self.entries, as_count(size, "size")
        if k > n:
            raise ArgumentError(f"size = {spelled(size)}; the function has {n} entries")
        if math.comb(n, k) << k > budget.MAX_JUNTAS:
            raise ArgumentError(
                f"size = {k} of {n} entries: {math.comb(n, k)} sets of entries with 2^{k} values each; at most "
                f"{budget.MAX_JUNTAS} of these together are tried"
            )
        function, everything = self._law.masses(self._table, k), self._law.masses(None, k)
        # The best g takes the likelier answer for each value of its entries: Σ |P[f=1, value] − P[f=0, value]|.
        best = max(
            sum(abs(2 * ones - total) for ones, total in zip(_cells(function, of), _cells(everything, of), strict=True))
            for of in combinations(range(n), k)
        )
        return Fraction(best, everything[()])

    def theorem_3(self, *, method: Method = "printed") -> Enclosure:
        """ε in nats by Theorem 3 (Theorem 2 for fair bits), from this function's own τ_1 and τ_2.

        `method` is that of :func:`junta_epsilon`. ε is infinite if the theorem gives no bound; :meth:`epsilon` is
        exact.
        """
        everything = self._law.masses(None, 1)
        p = [Fraction(everything[(i,)], everything[()]) for i in range(self.entries)]
        if any(value in (0, 1) for value in p):
            raise ArgumentError("law has an entry that is certain; Theorem 3 needs 0 < P[t_i = 1] < 1 for all of them")
        return log_ratio(junta_ratio(self.junta_distance(0), self.junta_distance(1), p, method))

    def theorem_4(
        self, leaked: int, *, delta: Number, queries: int = 1, method: Method = "printed"
    ) -> NoiselessGuarantee:
        """(ε, 2δ) by Theorem 4 when any `leaked` entries have leaked; by Corollary 1 for several queries.

        Parameters
        ----------
        leaked : int
            d, the number of leaked entries, below n.
        delta : float, int, Fraction, Decimal or str
            Any number strictly between 0 and 1.
        queries : int, default 1
            m of Corollary 1.
        method : {"printed", "sharp"}
            See :func:`junta_guarantee`.

        Raises
        ------
        ArgumentError
            A joint law: the theorem is about independent bits.
        """
        if not isinstance(self._law, IndependentBits):
            raise ArgumentError(
                "the function has a joint law; Theorem 4 is about independent bits: ask ratio(leaked=...)"
            )
        tau = self.junta_distance(as_count(leaked, "leaked") + 1)
        return junta_guarantee(tau, delta=delta, p=self._law.p, queries=queries, method=method)

    def explain(self) -> str:
        """The exact values, and the bounds of the theorems for comparison."""
        rows = [
            ("ε of noiseless privacy, exactly", self.epsilon().upper),
            ("ε of a-posteriori noiseless privacy, exactly", self.posterior_epsilon().upper),
            ("advantage of the best constant, τ_1", float(self.junta_distance(0))),
            ("advantage of the best function of one entry, τ_2", float(self.junta_distance(1))),
            ("ε by Theorem 3, as printed", self.theorem_3().upper),
            ("ε by Theorem 3, with one A above and below", self.theorem_3(method="sharp").upper),
        ]
        return "\n".join(f"{name:<50}{at_most(value)}" for name, value in rows)

    def __repr__(self) -> str:
        return f"<BooleanFunction of {self.entries} bits>"

    def _slices(self, leaked: Iterable[int]) -> Iterator[_Slice]:
        known = _entries(leaked, self.entries)
        if not known:
            yield _slice(Fraction(1), self._law, self._table)
            return
        everything: Masses | None = None
        for mass, law, table in self._law.slices(self._table, known):
            if everything is None or not isinstance(law, IndependentBits):
                everything = law.masses(None, 1)
            yield _Slice(mass, law.masses(table, 1), everything)


def boolean_epsilon(
    truth_table: Function, p: Probabilities = Fraction(1, 2), *, leaked: Iterable[int] = ()
) -> Enclosure:
    """ε of noiseless privacy of a Boolean function of independent bits.

    Parameters
    ----------
    truth_table : sequence of 0 and 1, or numpy array
        The 2^n answers in the order of ``itertools.product((0, 1), repeat=n)``, n from 1 to 24.
    p : float, int, Fraction, Decimal or str, or a sequence, default "1/2"
        Probability that an entry is one, strictly between 0 and 1; one for all entries or one for each.
    leaked : iterable of int, optional
        Entries whose values are known, counted from 0: the others are protected.

    Returns
    -------
    Enclosure
        ε in nats: the logarithm of the exact :func:`boolean_ratio`. Infinite if an answer rules out a value.

    Raises
    ------
    ArgumentError
        A table whose length is no power of two, answers other than 0 and 1, probabilities of 0 or 1.

    Notes
    -----
    Source: *Noiseless Database Privacy*, Definition 2. For joint laws and Python functions: :class:`BooleanFunction`.

    Examples
    --------
    The parity of fair bits is perfectly private, and that of biased ones is not:

    >>> import statpriv as sp
    >>> parity = [0, 1, 1, 0, 1, 0, 0, 1]
    >>> sp.noiseless.boolean_epsilon(parity, p="1/2")
    Enclosure(0.0, 0.0)
    >>> sp.noiseless.boolean_ratio(parity, p="1/3")
    Fraction(5, 4)
    >>> sp.noiseless.boolean_epsilon([0, 0, 0, 1], p="1/2")
    Enclosure(float('inf'), float('inf'))
    """
    return log_ratio(boolean_ratio(truth_table, p, leaked=leaked))


def boolean_ratio(truth_table: Function, p: Probabilities = Fraction(1, 2), *, leaked: Iterable[int] = ()) -> Ratio:
    """e^ε of :func:`boolean_epsilon`, with its arguments, exactly: a Fraction, or infinity."""
    return BooleanFunction(truth_table, p=p).ratio(leaked=leaked)


def boolean_posterior_epsilon(
    truth_table: Function, p: Probabilities = Fraction(1, 2), *, leaked: Iterable[int] = ()
) -> Enclosure:
    """ε in nats of a-posteriori noiseless privacy of a Boolean function of independent bits.

    No answer makes a value of an entry more than e^ε times as likely, or unlikely, as it was before. The arguments and
    errors are those of :func:`boolean_epsilon`.

    Notes
    -----
    Source: *Noiseless Database Privacy*, Definition 3. It is at most the ε of :func:`boolean_epsilon`, and at least
    half of it; Lemma 1 prints these factors the other way round.

    Examples
    --------
    >>> import statpriv as sp
    >>> majority = [0, 0, 0, 1, 0, 1, 1, 1]
    >>> sp.noiseless.boolean_posterior_ratio(majority), sp.noiseless.boolean_ratio(majority)
    (Fraction(2, 1), Fraction(3, 1))
    >>> round(sp.noiseless.boolean_posterior_epsilon(majority).upper, 6)
    0.693147
    """
    return log_ratio(boolean_posterior_ratio(truth_table, p, leaked=leaked))


def boolean_posterior_ratio(
    truth_table: Function, p: Probabilities = Fraction(1, 2), *, leaked: Iterable[int] = ()
) -> Ratio:
    """e^ε of :func:`boolean_posterior_epsilon`, with its arguments, exactly: a Fraction, or infinity."""
    return BooleanFunction(truth_table, p=p).posterior_ratio(leaked=leaked)


def _slice(mass: Fraction, law: BitLaw, table: Any) -> _Slice:  # noqa: ANN401  (a numpy array of booleans)
    return _Slice(mass, law.masses(table, 1), law.masses(None, 1))


def _entries(leaked: Iterable[int], n: int) -> list[int]:
    listed = as_items(leaked, "leaked", "a list of entries counted from 0, such as [0, 2], is required")
    known = sorted({as_count(entry, "leaked") for entry in listed})
    if known and known[-1] >= n:
        raise ArgumentError(f"leaked has the entry {known[-1]}; the entries are numbered 0 to {n - 1}")
    if len(known) == n:
        raise ArgumentError(f"leaked has all {n} entries; none is left to protect")
    return known


def _cells(masses: Masses, entries: tuple[int, ...]) -> list[int]:
    """The mass of each value of these entries, from the masses of cylinders of ones by differences in each entry."""
    cells = [masses[chosen] for chosen in _subsets(entries)]
    for place in range(len(entries)):
        step = 1 << place
        for index in range(len(cells)):
            if not index & step:
                cells[index] -= cells[index | step]
    return cells


def _subsets(entries: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All subsets. The subset at an index consists of the entries at the one bits of the index."""
    for index in range(1 << len(entries)):
        yield tuple(entry for place, entry in enumerate(entries) if index >> place & 1)
