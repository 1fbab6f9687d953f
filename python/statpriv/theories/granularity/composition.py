"""Composition at any granularity: the best applicable theorem for the given budgets and inputs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sized
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias, cast, get_args

from statpriv.errors import ArgumentError, NotAvailableError
from statpriv.numeric.arguments import as_items, as_word
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count
from statpriv.numeric.literals import abridged
from statpriv.theories.differential.gaussian import gaussian_delta
from statpriv.theories.differential.randomized_response import RandomizedResponse
from statpriv.theories.differential.renyi import delta_from_zcdp
from statpriv.theories.granularity.inputs import sets_of
from statpriv.theories.granularity.notions import Budget, Figures, Notion, Value, as_notion, read_budgets
from statpriv.theories.granularity.protocol import Granularity, Touched, as_granularity
from statpriv.theories.granularity.relation import relation_on, warn_of_missing_paths
from statpriv.theories.granularity.theorems import Rule, theorem

Setting: TypeAlias = Literal["sequential", "disjoint", "element_partition", "overlapping"]
Domain: TypeAlias = Literal["own", "common"]

_PARALLEL_FAILS = (
    "parallel composition does not hold: two queries that each publish how many records their part has are each "
    "perfectly private, and together they reveal that a record moved (Example II.9)"
)


@dataclass(frozen=True)
class Composition:
    """The guarantee of a composition, and its justification.

    Attributes
    ----------
    notion : {"pure", "approximate", "zcdp", "gaussian"}
        The notion of privacy.
    epsilon, delta, rho, mu : Fraction, Enclosure or None
        The guarantee; None for parameters that the notion does not have. ε is in nats. μ is an enclosure if it is
        irrational.
    theorem : str
        The statement of *Composition in Differential Privacy for General Granularity Notions* that gives it.
    because : str
        Why the hypotheses of the theorem hold.
    assumes : tuple of str
        Assumptions that are not checked.
    worst : tuple of int
        The queries that the worst step changes, counted from 0.
    change : tuple
        The change made by that step: elements, places, or a pair of databases.
    granularity : str
        The granularity of the composition and of the budgets.
    sequential, parallel : Figures
        The results of the sequential rule (the sum of all budgets) and of the parallel rule (the maximum).
    parallel_holds : bool
        Whether the parallel rule is valid here.
    """

    notion: Notion
    epsilon: Value | float | None
    delta: Value | float | None
    rho: Value | float | None
    mu: Value | float | None
    theorem: str
    because: str
    assumes: tuple[str, ...]
    worst: tuple[int, ...]
    change: tuple[Hashable, ...]
    granularity: str
    sequential: Figures
    parallel: Figures
    parallel_holds: bool
    _budgets: tuple[Budget, ...] = field(repr=False)

    @property
    def figures(self) -> Figures:
        """The guarantee alone."""
        return Figures(self.epsilon, self.delta, self.rho, self.mu)

    def delta_at(self, epsilon: Number) -> Enclosure:
        """The δ for which the guarantee implies (ε, δ)-privacy at another ε in nats; its upper end is safe.

        For pure and approximate privacy it is the δ of the worst mechanism (randomized response), for Gaussian privacy
        the exact curve, for zero-concentrated privacy the conversion of Canonne, Kamath and Steinke.
        """
        if self.notion == "zcdp":
            return delta_from_zcdp(epsilon, rho=_fraction(self.rho))
        if self.notion == "gaussian":
            ends = (self.mu.lower, self.mu.upper) if isinstance(self.mu, Enclosure) else (_fraction(self.mu),) * 2
            if ends[1] == 0:
                return Enclosure(0)
            return Enclosure(gaussian_delta(epsilon, mu=ends[0]).lower, gaussian_delta(epsilon, mu=ends[1]).upper)
        worst = RandomizedResponse(epsilon=_fraction(self.epsilon), delta=min(_fraction(self.delta), Fraction(1)))
        return worst.delta(epsilon)

    def of_each_component(self) -> str:
        """The guarantee of each mechanism that follows from the guarantee of the whole (reciprocal theorems)."""
        return (
            f"each M_i ∘ f_i alone satisfies {self.figures} too, as post-processing of the whole (Theorem VII.2); if "
            "they are adaptive, each along the answers that the earlier ones gave (Theorem VII.3). The M_i themselves "
            "need not (Remark III.7)"
        )

    def explain(self) -> str:
        """The guarantee, the theorem, why it applies, and the results of the two classical rules."""
        verdict = "which holds here" if self.parallel_holds else "which does not hold here"
        step = " and ".join(map(abridged, self.change))
        lines = [
            f"{self.figures} at the {self.granularity} granularity",
            f"  by {self.theorem}",
            f"  because {self.because}",
            *(f"  if {hypothesis}" for hypothesis in self.assumes),
            f"  worst step: {step or 'any'}, which changes {len(self.worst)} of {len(self._budgets)} answers",
            f"  sequential rule: {self.sequential}",
            f"  parallel rule: {self.parallel}, {verdict}",
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Composition, {self.notion}: {self.figures}, {self.granularity}, by {self.theorem}>"


def compose(
    budgets: Iterable[Any],
    *,
    granularity: Granularity,
    setting: Setting | None = None,
    notion: Notion = "pure",
    inputs: Any = None,  # noqa: ANN401  (Inputs, sets, or functions)
    reach: Number | None = None,
    domain: Domain | None = None,
    adaptive: bool | None = None,
) -> Composition:
    """The guarantee of several mechanisms together, at a granularity.

    Parameters
    ----------
    budgets : iterable
        The budget of each mechanism at this granularity: ε, a pair (ε, δ), ρ or μ, all exact, ε in nats; or a
        `sp.differential.LaplaceMechanism` or `GaussianMechanism`, whose sensitivity is that of one step.
    granularity : granularity
        `Unbounded()`, `Bounded()`, `FreeLunch()`, `Ordered()`, `Edge()`, `Node()` or a `Relation`.
    setting : {"sequential", "disjoint", "element_partition", "overlapping"}, optional
        The inputs of the mechanisms. `"sequential"`: every mechanism reads everything. `"disjoint"`: disjoint,
        compatible parts, so that neighbouring databases differ in at most one; parts of ordered databases are sets of
        places. `"element_partition"`: disjoint sets of elements (records by value, edges, nodes). `"overlapping"`: no
        element is read by more than `reach` mechanisms. By default the best theorem for the declared `inputs` is used.
    notion : {"pure", "approximate", "zcdp", "gaussian"}, default "pure"
        The notion of the budgets: ε, (ε, δ), ρ or μ.
    inputs : Inputs, sequence of sets, or sequence of functions, optional
        The part that each query reads; functions of the database for a `Relation`.
    reach : int, optional
        For `"overlapping"`: the largest number of queries that read one and the same element.
    domain : {"own", "common"}, optional
        Whether the budgets hold for the mechanisms on their own inputs (`M_i` is private), or on whole databases
        (`M_i ∘ f_i` is private). By default the condition that the theorem needs; it is then listed in `assumes`.
    adaptive : bool, optional
        Whether mechanisms may depend on earlier answers. The numbers are the same; only the theorem's name differs.

    Returns
    -------
    Composition
        The guarantee (`epsilon`, `delta`, `rho` or `mu`, by the notion), with `theorem` and `explain()`.

    Raises
    ------
    NotAvailableError
        A setting that has no guarantee at this granularity, such as `"disjoint"` for the bounded one.
    ArgumentError
        An invalid or inconsistent argument.

    Notes
    -----
    *Composition in Differential Privacy for General Granularity Notions*, sections IV to VI; for the rule that covers
    all of them see :mod:`statpriv.theories.granularity.theorems`.

    Examples
    --------
    >>> import statpriv as sp
    >>> half, third = "1/2", "1/3"
    >>> sp.granularity.compose([half, third], granularity=sp.granularity.Unbounded(), setting="disjoint")
    <Composition, pure: ε = 0.5, unbounded, by Theorem IV.6 (adaptively Theorem V.4)>
    >>> sp.granularity.compose([1, 2, 3], granularity=sp.granularity.Bounded(), setting="element_partition").epsilon
    Fraction(5, 1)
    >>> hospitals = sp.granularity.Inputs([{"a", "b"}, {"b", "c"}, {"c"}])
    >>> overlapping = sp.granularity.compose(
    ...     [3, 4, 5], granularity=sp.granularity.Unbounded(), notion="gaussian", inputs=hospitals
    ... )
    >>> overlapping.mu.upper, overlapping.change
    (6.403124237432849, ('c',))
    """
    kind = as_notion(notion)
    question = _Question(kind, as_granularity(granularity), tuple(read_budgets(budgets, kind)), domain, adaptive)
    _check_options(setting, inputs, reach, domain)
    if setting == "sequential":
        return question.sequential()
    if setting == "overlapping":
        return question.overlapping(as_count(cast("Number", reach), "reach", least=1))
    return question.partitioned(setting, inputs)


def _check_options(setting: object, inputs: object, reach: object, domain: object) -> None:
    settings = ", ".join(map(repr, get_args(Setting)))
    if setting is None and inputs is None:
        raise ArgumentError(f"setting is not given; one of {settings} is required, or inputs=")
    if setting is not None:
        as_word(setting, "setting", get_args(Setting))
    if (setting == "overlapping") != (reach is not None):
        raise ArgumentError(
            f'reach = {reach} with setting = {setting!r}; "overlapping" needs it, and nothing else does'
        )
    if setting in ("sequential", "overlapping") and inputs is not None:
        raise ArgumentError(f"setting = {setting!r} with inputs; leave the setting out to have the inputs looked at")
    if domain is not None:
        as_word(domain, "domain", get_args(Domain))


@dataclass(frozen=True)
class _Question:
    """The budgets of mechanisms, with their notion and granularity."""

    notion: Notion
    granularity: Granularity
    costs: tuple[Budget, ...]
    domain: Domain | None
    adaptive: bool | None

    def sequential(self) -> Composition:
        """Every mechanism reads everything."""
        everything = Touched({frozenset(range(len(self.costs))): "anything"}, together=1, own_domain=True)
        return self._composed(everything, "sequential", assumes=())

    def partitioned(self, setting: Setting | None, declared: Any) -> Composition:  # noqa: ANN401
        """The guarantee of the worst step: the budgets of all queries that it changes are added up."""
        inputs = self._inputs(setting, declared)
        touched = self.granularity.touched(inputs)
        if setting is not None:
            _expect_partition(inputs, setting)
        if setting == "disjoint" and touched.conflict is not None:
            raise NotAvailableError(_not_compatible(self.granularity, touched))
        self._expect_domain(touched)
        if (relation := relation_on(self.granularity)) is not None:
            warn_of_missing_paths(relation.universe, relation)
        return self._composed(touched, self._rule(touched, inputs), assumes=(self._stated(touched),))

    def overlapping(self, reach: int) -> Composition:
        """The sum of the `reach` largest budgets, or of twice as many: Examples IV.5 and VI.8."""
        disjoint, count = self.granularity.elements(len(self.costs)), len(self.costs)
        if disjoint is None:
            raise NotAvailableError(
                f'setting = "overlapping" with {self.granularity.name}: no element is known; declare the inputs='
            )
        touched = self.granularity.touched(disjoint)
        self._expect_domain(touched)
        everybody = any(len(queries) == count > 1 for queries in touched.classes)
        changed = count if everybody else min(touched.together * reach, count)
        largest = [sorted(range(count), key=values.__getitem__, reverse=True)[:changed] for values in self._columns]
        return self._result(
            [sum((values[i] for i in rank), Fraction(0)) for values, rank in zip(self._columns, largest, strict=True)],
            tuple(sorted(largest[0])),
            ("all of the database" if everybody else ("an element", "an element by another")[touched.together - 1],),
            rule="own domain" if self._own(touched) else "common domain",
            because=f"one step changes at most {changed} answers (as in Examples IV.5 and VI.8)",
            assumes=(f"no element is read by more than {reach} of the queries", self._stated(touched)),
            parallel_holds=changed == 1,
        )

    def _inputs(self, setting: Setting | None, declared: Any) -> Any:  # noqa: ANN401
        """The declared inputs, or disjoint inputs of the given setting."""
        count = len(self.costs)
        if declared is not None:
            if sets_of(declared) is None:
                declared = as_items(declared, "inputs", f"one input for each of the {count} budgets is required")
            if len(declared) != count:
                raise ArgumentError(
                    f"inputs = {abridged(declared)}, with {count} budgets; one input for each is required"
                )
            return declared
        found = self.granularity.disjoint(count) if setting == "disjoint" else self.granularity.elements(count)
        if found is None:
            raise NotAvailableError(
                f"setting = {setting!r} with the {self.granularity.name} granularity: whether parts are compatible "
                "depends on what they are (Example II.9 shows what happens if they are not); declare them as inputs=, "
                'or say setting="element_partition"'
            )
        return found

    def _own(self, touched: Touched) -> bool:
        return touched.own_domain and self.domain != "common"

    def _expect_domain(self, touched: Touched) -> None:
        if self.domain == "own" and not touched.own_domain:
            raise NotAvailableError(
                f'domain = "own" with the {self.granularity.name} granularity: one step can change an input by more '
                f"than one step, so {_PARALLEL_FAILS}. State the budgets of M_i ∘ f_i on the whole databases: "
                'domain="common"'
            )

    def _rule(self, touched: Touched, inputs: Sized) -> Rule:
        if touched.conflict is None:
            return "disjoint" if self._own(touched) else "disjoint, common domain"
        sets = sets_of(inputs)
        if sets is not None and sets.is_partition and touched.together == 2:
            return "by element"
        if any(len(queries) == len(inputs) for queries in touched.classes):
            return "sequential"
        return "own domain" if self._own(touched) else "common domain"

    def _stated(self, touched: Touched) -> str:
        """The assumption on the domain of the budgets."""
        if self._own(touched):
            other = "" if self.domain else "; or each M_i ∘ f_i on the whole databases"
            return f"each M_i has its budget on its own inputs{other}"
        return (
            "each M_i ∘ f_i has its budget on the whole databases (common domain); budgets on the inputs alone "
            "may not be enough (Example II.9)"
        )

    @property
    def _columns(self) -> list[list[Fraction]]:
        """The budgets as one list for each coordinate."""
        return [list(values) for values in zip(*self.costs, strict=True)]

    def _composed(self, touched: Touched, rule: Rule, *, assumes: tuple[str, ...]) -> Composition:
        found = [touched.worst(values) for values in self._columns]
        _, queries, change = found[0]
        return self._result(
            [total for total, _, _ in found],
            tuple(sorted(queries)),
            change,
            rule=rule,
            because=_BECAUSE[rule],
            assumes=assumes,
            parallel_holds=touched.conflict is None,
        )

    def _result(
        self,
        coordinates: list[Fraction],
        worst: tuple[int, ...],
        change: tuple[Hashable, ...],
        *,
        rule: Rule,
        because: str,
        assumes: tuple[str, ...],
        parallel_holds: bool,
    ) -> Composition:
        figures = Figures.of(self.notion, coordinates)
        return Composition(
            self.notion,
            figures.epsilon,
            figures.delta,
            figures.rho,
            figures.mu,
            theorem(rule, self.notion, adaptive=self.adaptive),
            because,
            assumes,
            worst,
            change,
            self.granularity.name,
            Figures.of(self.notion, [sum(values, Fraction(0)) for values in self._columns]),
            Figures.of(self.notion, [max(values) for values in self._columns]),
            parallel_holds,
            self.costs,
        )


_BECAUSE: dict[Rule, str] = {
    "sequential": "a step may change what every mechanism reads, and losses add up at every granularity",
    "disjoint": "neighbouring databases differ in one part at most, and there by one step (compatible, sensitivity 1)",
    "disjoint, common domain": "neighbouring databases differ in one part at most (compatible)",
    "by element": "a record that is replaced leaves one part and enters another: two parts change at most",
    "own domain": "only the queries that read what a step changes lose anything, and their inputs change by one step",
    "common domain": "only the queries that read what a step changes lose anything (dependency, Proposition IV.10)",
}


def _expect_partition(inputs: object, setting: str) -> None:
    sets = sets_of(inputs)
    if sets is not None and not sets.is_partition:
        twice = next(atom for atom, queries in sets.readers().items() if len(queries) > 1)
        raise ArgumentError(
            f"setting = {setting!r}, but {abridged(twice)} is read by several queries; leave the setting out, or say "
            'setting="overlapping"'
        )


def _not_compatible(granularity: Granularity, touched: Touched) -> str:
    changes = " and ".join(map(abridged, touched.conflict or ()))
    return (
        f'setting = "disjoint": the parts are not compatible with the {granularity.name} granularity, one step changes '
        f"several of them ({changes}), so {_PARALLEL_FAILS}. What holds, of mechanisms that are private on the whole "
        'databases, is the element partition, setting="element_partition" (Corollary IV.13: for bounded databases the '
        "two largest budgets)"
    )


def _fraction(value: Value | float | None) -> Fraction:
    if not isinstance(value, Fraction):
        raise NotAvailableError(f"δ of a guarantee of {value} has no exact value to start from")
    return value
