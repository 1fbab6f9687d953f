"""The privacy curve: what every analysis ends in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload
from warnings import warn

from statpriv._native import Curve, Enclosure, rough_delta_array
from statpriv.curves.comparison import Comparison, CurveTable, compare
from statpriv.curves.elsewhere import answer
from statpriv.curves.evaluation import as_points, at_each
from statpriv.curves.guesses import Guesses
from statpriv.curves.shown import sketched, telling
from statpriv.errors import ArgumentError, PrecisionError, UndecidedError
from statpriv.model.features import CLUSTERS
from statpriv.numeric.arguments import as_items
from statpriv.numeric.calls import answered
from statpriv.numeric.exact import Number, as_fraction, is_array
from statpriv.numeric.literals import spelled
from statpriv.numeric.waiting import while_found
from statpriv.rules.assumptions import OF_FEATURES, SAMPLED
from statpriv.rules.registry import AnySituation, Kind, applicable, lower

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes

    from statpriv.assurance.certificate import Certificate
    from statpriv.curves.renyi import Divergences
    from statpriv.numeric.enclosure_array import EnclosureArray
    from statpriv.numeric.exact import ArrayLike
    from statpriv.planning.sensitivity import Sensitivity

_DEPENDENCE = (
    "dependence: entries that say something about each other (households, repeated rows) are outside the model"
)
_BETWEEN_CLUSTERS = "dependence between clusters: what one says about another is outside the model"
_WHOLE_ROW = "the row as a whole: all answers together may tell more about all attributes of a person than about one"
_WRONG_PROBABILITY = "a wrong probability: the guarantee holds for the stated p or range, not for others"
NOT_PROTECTED = (
    "membership: that someone is in the table is not hidden",
    _DEPENDENCE,
    _WRONG_PROBABILITY,
    "what is published elsewhere about the same entries",
)
"""What the model says nothing about; of a wrong probability, unless a gate makes the theorem hold for every one."""

_NATURE = {
    "exact": "An exact privacy curve.",
    "enclosed": "A privacy curve enclosed between an attained value and a certified bound.",
    "bound": "A certified upper bound of the privacy curve.",
}
_LAYERS = {"unprocessed": "the data alone", "noise": "the noise alone"}
_ESCALATION = (None, 30, 100)
"""Digits with which a comparison is tried before it is undecided; None stands for doubles."""


class PrivacyCurve(Guesses):
    """δ as a function of ε, certified, with the theorem it rests on.

    Made by :func:`statpriv.privacy_curve` and :func:`statpriv.compose`.

    Examples
    --------
    >>> import statpriv as sp
    >>> curve = sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(500), adversary=sp.Adversary(known=20))
    >>> curve.kind
    'exact'
    >>> curve.satisfies(epsilon="0.1", delta="0.02")
    True
    """

    __slots__ = ("_bound", "_lowered", "_situation")

    def __init__(self, situation: AnySituation, *, bound: str = "tightest") -> None:
        self._situation = situation
        self._bound = bound
        self._lowered = lower(situation, bound)

    @property
    def _expression(self) -> Curve:
        return self._lowered.curve

    @property
    def kind(self) -> Kind:
        """What is enclosed.

        `"exact"`: δ itself. `"bound"`: a certified upper bound of δ. `"enclosed"`: δ, between an attained value and a
        proved bound that need not be close.
        """
        return self._lowered.kind

    @property
    def situation(self) -> AnySituation:
        """The queries, population, sampling and adversary the curve belongs to."""
        return self._situation

    @property
    def theorem(self) -> str:
        """The statement the curve rests on."""
        statements = [rule.theorem for rule in self._lowered.rules]
        if len(statements) == 1:
            return statements[0]
        return f"The smaller of {len(statements)} bounds, at every ε. " + " And: ".join(statements)

    @property
    def source(self) -> str:
        """Where that statement is proved."""
        return "; ".join(dict.fromkeys(rule.source for rule in self._lowered.rules))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What has to be true of the data and of the release."""
        is_sample = self._situation.sampling is not None
        texts = [text for rule in self._lowered.rules for text in rule.assumptions if is_sample or text != SAMPLED]
        for feature in sorted(self._situation.features & OF_FEATURES.keys()):
            texts = [OF_FEATURES[feature].get(text, text) for text in texts]
        return tuple(dict.fromkeys(texts))

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What the number says nothing about."""
        situation = self._situation
        whatever_p = situation.holds_for_every_probability
        texts = [text for text in NOT_PROTECTED if not (whatever_p and text == _WRONG_PROBABILITY)]
        if situation.features >= CLUSTERS:
            texts[texts.index(_DEPENDENCE)] = _BETWEEN_CLUSTERS
        return (*texts, _WHOLE_ROW) if situation.protects_one_attribute else tuple(texts)

    @answered
    def satisfies(self, *, epsilon: Number, delta: Number) -> bool:
        """Whether the answers are (ε, δ)-statistically private, proved; ε in nats, at least 0, and δ from 0 to 1.

        Returns
        -------
        bool
            True if it is proved. False if it is refuted, which only an exact curve can do.

        Raises
        ------
        UndecidedError
            A hundred digits of δ(ε) do not tell it from δ, or a bound exceeds it.
        """
        as_fraction(epsilon, "epsilon")
        target = as_fraction(delta, "delta")
        if not 0 <= target <= 1:
            raise ArgumentError(f"delta = {spelled(delta)}; a number from 0 to 1 is required")
        why = f"more than {_ESCALATION[-1]} digits are needed: compare delta({epsilon}, digits=...) with it"
        for digits in _ESCALATION:
            if digits is not None and self.kind == "enclosed":
                why = "it lies between what is attained and what is proved, and digits do not bring these together"
                break
            try:
                reached = self.delta(epsilon, digits=digits)
            except PrecisionError as error:
                if digits is None:
                    raise
                why = str(error)
                break
            try:
                # Enclosures compare exactly; an mpf would round the fraction to mpmath's precision.
                holds = reached <= target
            except UndecidedError:
                continue
            if holds or self.kind != "bound":
                return holds
            why = "the bound exceeds it, which refutes nothing"
            break
        raise UndecidedError(f"delta({epsilon}) = {reached} against delta = {delta}: {why}")

    @answered
    def certify(self, *, epsilon: Number, delta: Number) -> Certificate:
        """A certificate that the answers are (ε, δ)-statistically private, for readers who do not trust this library.

        The certificate is a small JSON text. `python -m statpriv.checker certificate.json` proves it with integers and
        fractions alone; that file of Python can be read, and needs nothing else of statpriv.

        Parameters
        ----------
        epsilon : float, int, Fraction, Decimal or str
            ε in nats, from 0 to 1000.
        delta : float, int, Fraction, Decimal or str
            δ, from 0 to 1.

        Returns
        -------
        Certificate
            Its `text` is the JSON.

        Raises
        ------
        ArgumentError
            The claim is false; the message has the δ that is reached.
        NotAvailableError
            The claim is not one about counts or histograms with one law, or ranges, for all entries or for each group,
            of all entries or secret random parts of them, and a number of known entries; or the theorems that
            certificates rest on do not prove it.

        Notes
        -----
        What is done to a count is left out, since it never raises δ, but for a gate that makes it private for every p.
        Entries with a law for each group are certified group by group, as if the counts of each were told.
        Sources and proofs: docs/explanation/certificates.md.

        Examples
        --------
        >>> import statpriv as sp
        >>> curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024))
        >>> certificate = curve.certify(epsilon="0.005", delta="0.0226")
        >>> certificate.check().verdict
        'proved'
        >>> certificate.document["claim"]
        {'epsilon': '0.005', 'delta': '0.0226'}
        """
        from statpriv.assurance.certificate import certify

        return certify(self, epsilon=epsilon, delta=delta)

    @answered
    def sensitivity(self, *, epsilon: Number, rows: Iterable[Number] = (2, 3, 5, 10)) -> Sensitivity:
        """What becomes of δ(ε) if an assumption is another: p outside its range, more known rows, rows of one person.

        Parameters
        ----------
        epsilon : float, int, Fraction, Decimal or str
            ε in nats, at least 0.
        rows : iterable of int, default (2, 3, 5, 10)
            Numbers of rows that one person may have, at least 2.

        Returns
        -------
        Sensitivity
            The table of :func:`statpriv.sensitivity_of`, by the bound of this curve.

        Raises
        ------
        ArgumentError
            A value that is not allowed.
        NotAvailableError
            The curve is that of an adaptive composition.

        Notes
        -----
        One assumption changes at a time. Source: the proofs in :mod:`statpriv.planning.sensitivity`.

        Examples
        --------
        >>> import statpriv as sp
        >>> sample = sp.WithoutReplacement(472)
        >>> curve = sp.privacy_curve(sp.PropertyQuery("0.3"), sp.Population(944), sampling=sample)
        >>> print(curve.sensitivity(epsilon="0.1", rows=[2]))
        assumption        instead                               δ(0.1) at most  kind
        as stated         p = 0.3                               0.000478633     exact
        probability       p from 0.29 to 0.31                   0.000762056     bound
        probability       p from 0.28 to 0.32                   0.000815263     bound
        probability       p from 0.25 to 0.35                   0.00100898      bound
        probability       p from 0.2 to 0.4                     0.00155169      bound
        probability       p from 0.1 to 0.5                     0.00519292      bound
        people not alike  each row its own p from 0.25 to 0.35  0.00100898      bound
        people not alike  each row its own p from 0.1 to 0.5    0.00519292      bound
        known rows        10                                    0.000490668     exact
        known rows        19                                    0.000503970     exact
        known rows        48                                    0.000543096     exact
        known rows        95                                    0.000619170     exact
        rows a person     2                                     0.00898342      bound
        """
        from statpriv.planning.sensitivity import sensitivity_of_curve

        return sensitivity_of_curve(self, self._bound, epsilon=epsilon, rows=rows)

    def worst_case_pairs(self, epsilon: Number = "0.1") -> tuple[tuple[Any, Any], ...]:
        """Which pair of values of the critical entry is the worst, for each part of a composition.

        The critical entry has a value for each attribute; parts of one attribute share it.

        Parameters
        ----------
        epsilon : float, int, Fraction, Decimal or str, default "0.1"
            ε in nats, at least 0: the worst pattern may change with it.

        Returns
        -------
        tuple of tuples of two values
            (v, w) for each part, in the order of the queries: δ is that of v against w. Of a curve of kind "enclosed"
            the worst that was found, which attains the lower end. Of parts that are alike any may have either pair.

        Raises
        ------
        NotAvailableError
            This curve is no composition with a pattern, or that of a bound.

        Examples
        --------
        >>> import statpriv as sp
        >>> rare = sp.PropertyQuery("0.3")
        >>> sp.compose([rare, rare], sp.Population(15), sp.RandomPartition([4, 1])).worst_case_pairs("0.1")
        ((0, 1), (1, 0))
        """
        from statpriv.curves.worst_case import worst_case_pairs

        return worst_case_pairs(self._situation, self._expression, as_fraction(epsilon, "epsilon"))

    def mass_at_infinity(self, *, digits: int | None = None) -> Enclosure:
        """The old name of :meth:`infinity_mass`."""
        _renamed("mass_at_infinity", "infinity_mass")
        return self.infinity_mass(digits=digits)

    def pattern(self, epsilon: Number = "0.1") -> tuple[tuple[Any, Any], ...]:
        """The old name of :meth:`worst_case_pairs`."""
        _renamed("pattern", "worst_case_pairs")
        return self.worst_case_pairs(epsilon)

    @overload
    def renyi(self, order: Number, *, points: int = 400) -> Enclosure: ...
    @overload
    def renyi(self, order: ArrayLike, *, points: int = 400) -> EnclosureArray: ...
    def renyi(self, order: Any, *, points: int = 400) -> Any:
        """The Rényi divergence of the answers' laws, of an order above 1.

        Parameters
        ----------
        order : float, int, Fraction, Decimal or str, or array of these
            α, above 1.
        points : int, default 400
            Number of ε at which the curve is evaluated, up to 2^20: more make the enclosure narrower.

        Returns
        -------
        Enclosure or EnclosureArray
            ``ln(E_w[(P_v/P_w)^α])/(α−1)`` in nats, of a property without a `pair` the larger of both directions.
            Infinite wherever an answer gives the value away, as for exact counts; finite under hidden sampling, bounded
            noise or Gaussian noise. Open above where δ falls for ever without being 0, and no noise bounds the
            divergence. For a bound, and where a curve is a maximum over groups, over known entries or over the pairs
            of more than two values, only the upper end counts: no two of the laws differ by more.

        Notes
        -----
        From the curve by the integral representation of f-divergences: see :mod:`statpriv.curves.renyi`.

        Examples
        --------
        >>> import statpriv as sp
        >>> coin = sp.PropertyQuery("1/2")
        >>> sp.privacy_curve(coin, sp.Population(100)).renyi(2).lower
        inf
        >>> sample = sp.privacy_curve(coin, sp.Population(100), sampling=sp.WithReplacement(10))
        >>> sample.renyi(2).upper < 0.004
        True
        """
        from statpriv.theories.differential.renyi import as_order

        orders = as_order(order) if not is_array(order) else order
        divergences = self._divergences(points)
        return at_each(lambda one: divergences.renyi(as_order(one)), orders, "order")

    def zcdp(self, *, points: int = 400) -> Enclosure:
        """The least ρ of zero-concentrated privacy: no Rényi divergence of order α > 1 is above ρα.

        Parameters
        ----------
        points : int, default 400
            Number of ε at which the curve is evaluated; the supremum over the orders is found to a relative width of
            about ``4/points``.

        Returns
        -------
        Enclosure
            ρ in nats, with the reservations of :meth:`renyi`: infinite for every exact count of all entries, since "all
            have it" and "none has it" give values away.

        Notes
        -----
        Bun and Steinke, *Concentrated Differential Privacy*. The supremum is enclosed by convexity in the order: see
        :mod:`statpriv.curves.renyi`, with the proof.

        Examples
        --------
        >>> import statpriv as sp
        >>> coin = sp.PropertyQuery("1/2")
        >>> sp.privacy_curve(coin, sp.Population(100)).zcdp()
        Enclosure(float('inf'), float('inf'))
        >>> sample = sp.privacy_curve(coin, sp.Population(100), sampling=sp.WithReplacement(10))
        >>> rho = sample.zcdp(points=100)
        >>> 0.0018 < rho.lower <= rho.upper < 0.002
        True
        >>> noisy = sp.privacy_curve(coin.noisy(sp.noise.Gaussian(sigma=10)), sp.Population(100))
        >>> noisy.zcdp(points=100).upper <= 0.005  # what the noise alone gives
        True
        """
        from fractions import Fraction

        return self._divergences(points).zero_concentrated(Fraction(4, points))

    def _divergences(self, points: int) -> Divergences:
        """What Rényi divergences are computed from."""
        from statpriv.curves.concentration import concentration_of_noise
        from statpriv.curves.renyi import Divergences, HockeySticks

        noise = concentration_of_noise(self._situation)
        rho = None if noise is None else noise.rho
        many = as_points(points)
        bounds = list(dict.fromkeys(rule.bound for rule in self._lowered.rules))
        # The smaller of several curves need not be convex: each bounds the divergence by itself.
        curves = [self] if len(bounds) == 1 else [PrivacyCurve(self._situation, bound=name) for name in bounds]
        return Divergences(
            [
                [HockeySticks.of(*both, many, rho) for both in curve._directions()]  # noqa: SLF001
                for curve in curves
            ],
            noise,
        )

    def _roughly(self, epsilons: Sequence[float], width: float) -> EnclosureArray:
        """δ at each ε to about a relative width, where that is less work than δ itself."""
        import numpy as np

        from statpriv.numeric.enclosure_array import from_ends

        with while_found("δ at ε") as on_done:
            return from_ends(rough_delta_array(self._expression, np.array(epsilons), width, on_done))

    def _directions(self) -> list[tuple[PrivacyCurve, PrivacyCurve]]:
        """The curves of both orders of each pair of values: of a property both pairs, where none is chosen."""
        situation = self._situation
        if situation.pair is None and situation.counts_a_property:
            one, other = (PrivacyCurve(replace(situation, pair=pair), bound=self._bound) for pair in ((1, 0), (0, 1)))
            return [(one, other), (other, one)]
        return [(self, self.reversed())]

    def reversed(self) -> PrivacyCurve:
        """The curve of the pair in the other order; the worst pair stays the worst.

        For ``pair=(v, w)`` it is that of ``(w, v)``, in every part that has a pair of its own; else the same curve.

        Examples
        --------
        >>> import statpriv as sp
        >>> curve = sp.privacy_curve(sp.PropertyQuery("1/4"), sp.Population(3), pair=(1, 0))
        >>> curve.exact_delta(exp_epsilon=2), curve.reversed().exact_delta(exp_epsilon=2)
        (Fraction(5, 16), Fraction(9, 16))
        """
        situation = self._situation
        return self if situation.pair is None else PrivacyCurve(situation.turned, bound=self._bound)

    def compare(self, epsilon: Number = "0.1") -> Comparison:
        """All theorems that apply to the same situation at ε in nats, at least 0, the smallest δ first.

        The rows of the table have `bound`, `kind`, `delta`, `conditional` and `theorem`.

        Examples
        --------
        >>> import statpriv as sp
        >>> sample = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(100), sampling=sp.WithoutReplacement(25))
        >>> sample.compare("0.1")[0].bound
        'exact'
        """
        return compare(self._situation, epsilon)

    @answered
    def table(self, epsilons: Iterable[Number] | None = None) -> CurveTable:
        """δ at several ε, as a table that prints, shows in notebooks, and becomes a DataFrame where pandas is there.

        The `epsilons` are in nats; by default 0 and what is needed for δ of 0.1, 0.01, … down to a millionth, as far as
        it exists.

        Examples
        --------
        >>> import statpriv as sp
        >>> print(sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(100)).table([0, "0.1", "0.2"]))
        ε (nats)  δ
        0         0.0795892
        0.1       0.0418368
        0.2       0.0184641
        """
        required = "a list of numbers, such as [0, 0.1, 1], is required"
        if epsilons is None:
            return self._shown(telling(self))
        chosen = as_items(epsilons, "epsilons", required)
        return CurveTable(tuple(chosen), tuple(self.delta(epsilon) for epsilon in chosen), self.kind == "exact")

    def _shown(self, deltas: Mapping[float, Enclosure]) -> CurveTable:
        return CurveTable(tuple(deltas), tuple(deltas.values()), self.kind == "exact")

    @answered
    def explain(self) -> str:
        """The theorem used, its source, the assumptions, and what is not covered, as text.

        Examples
        --------
        >>> import statpriv as sp
        >>> print(sp.privacy_curve(sp.PropertyQuery(0.5), sp.Population(100)).explain())  # doctest: +ELLIPSIS
        An exact privacy curve.
        ...
        """
        nature = _NATURE[self.kind]
        lines = [nature, "", "Situation", *(f"  {line}" for line in self._situation.describe()), "", "Theorem"]
        for rule in self._lowered.rules:
            lines += [f"  {rule.theorem}", f"    ({rule.source})"]
        if len(self._lowered.rules) > 1:
            lines.append("  The smaller of these bounds, at every ε.")
        lines += [*self._layers(), "", "Assumptions", *(f"  - {text}" for text in self.assumptions)]
        lines += ["", "Not covered", *(f"  - {text}" for text in self.not_protected)]
        return "\n".join(lines)

    def _layers(self) -> list[str]:
        """Data and noise, where both protect."""
        if not self._situation.steps:
            return []
        layers = {found.bound: curve for found, curve in applicable(self._situation) if found.bound in _LAYERS}
        if set(layers) != set(_LAYERS):
            return []
        shown = ", ".join(f"δ(0.1) ≤ {layers[name].delta('0.1').upper:.3g} by {_LAYERS[name]}" for name in _LAYERS)
        return ["", "Two layers", f"  {shown}; both hold at once, and δ is at most the smaller."]

    @answered
    def plot(self, ax: Axes | None = None, *, points: int | None = None) -> Axes:
        """δ against ε, δ on a logarithmic axis: :func:`statpriv.plotting.plot_curve`."""
        from statpriv.plotting import plot_curve

        return plot_curve(self, ax, points=points)

    def _repr_html_(self) -> str:
        from html import escape

        heading = f"Privacy curve, {'upper bound' if self.kind == 'bound' else self.kind}"
        parts = (line.split(maxsplit=1) for line in self._situation.describe())
        rows = "".join(f"<tr><th scope='row'>{part}</th><td>{escape(shown)}</td></tr>" for part, shown in parts)
        deltas = self._shown(sketched(self))._repr_html_()
        return f"<table><caption>{heading}</caption><tbody>{rows}</tbody></table>{deltas}"

    if not TYPE_CHECKING:  # a type checker is to refuse names that are none

        def __getattr__(self, name: str) -> object:
            raise AttributeError(answer(name, dir(type(self))), name=name, obj=self)

    def __repr__(self) -> str:
        return f"<PrivacyCurve, {self.kind}: {self._situation.summary}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PrivacyCurve):
            return NotImplemented
        return (self._situation, self._bound) == (other._situation, other._bound)

    def __hash__(self) -> int:
        return hash((self._situation, self._bound))

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self._situation, self._bound)


def _renamed(old: str, new: str) -> None:
    warn(f"PrivacyCurve.{old} is now PrivacyCurve.{new}; the old name goes in 0.3", DeprecationWarning, stacklevel=3)


def _rebuild(situation: AnySituation, bound: str) -> PrivacyCurve:
    return PrivacyCurve(situation, bound=bound)
