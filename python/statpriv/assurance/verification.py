"""Privacy claims, proved or refuted, each by two computations that share no code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from statpriv import budget
from statpriv.composition.repeated_releases import RepeatedReleases
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError, DisagreementError, NotAvailableError, PrecisionError, UndecidedError
from statpriv.numeric.arguments import as_instance
from statpriv.numeric.calls import answered
from statpriv.numeric.digits import exact_ends
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_fraction
from statpriv.numeric.literals import abridged, literal, spelled

if TYPE_CHECKING:
    from statpriv.assurance.certificate import About, Certificate
    from statpriv.planning.sensitivity import Sensitivity

__all__ = ["Claim", "Finding", "Verdict", "Verification", "verify"]

Verdict: TypeAlias = Literal["proved", "refuted", "undecided"]

_DIGITS = (30, 100)
_WHY: dict[tuple[str, Verdict], str] = {
    ("exact", "proved"): "the least δ is at most the claimed one",
    ("exact", "refuted"): "the least δ is above the claimed one",
    ("exact", "undecided"): "what was computed does not tell the least δ from the claimed one",
    ("bound", "proved"): "a bound of the least δ is at most the claimed one",
    ("bound", "undecided"): "the bound is not below the claimed δ, which refutes nothing",
    ("enclosed", "proved"): "what the least δ is proved to be at most is at most the claimed one",
    ("enclosed", "refuted"): "a δ that is attained is above the claimed one",
    ("enclosed", "undecided"): "the claimed δ is between what is attained and what is proved",
}


@dataclass(frozen=True, init=False, repr=False)
class Claim:
    """The claim that answers are (ε, δ)-statistically private.

    Parameters
    ----------
    curve : PrivacyCurve
        The curve of the release, from :func:`statpriv.privacy_curve` or :func:`statpriv.compose`.
    epsilon : float, int, Fraction, Decimal or str
        ε in nats, at least 0.
    delta : float, int, Fraction, Decimal or str
        δ, from 0 to 1.
    name : str, optional
        The name of the claim in tables.
    about : About, optional
        The report of a release that the claim is about, which a certificate then names.

    Examples
    --------
    >>> import statpriv as sp
    >>> curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024))
    >>> sp.Claim(curve, epsilon="0.3", delta="1e-6")
    <Claim: epsilon = 0.3, delta = 0.000001: PropertyQuery(0.5) on Population(size=1024)>
    """

    curve: PrivacyCurve | RepeatedReleases
    epsilon: Fraction
    delta: Fraction
    name: str | None
    about: About | None

    def __init__(
        self,
        curve: PrivacyCurve | RepeatedReleases,
        *,
        epsilon: Number,
        delta: Number,
        name: str | None = None,
        about: About | None = None,
    ) -> None:
        required = "a curve such as sp.privacy_curve(...) gives is required"
        as_instance(curve, "curve", (PrivacyCurve, RepeatedReleases), required)
        as_instance(name, "name", (str, type(None)), "a string or None is required")
        exact_epsilon, exact_delta = as_fraction(epsilon, "epsilon"), as_fraction(delta, "delta")
        if exact_epsilon < 0:
            raise ArgumentError(f"epsilon = {spelled(epsilon)}; a number of at least 0 is required")
        if not 0 <= exact_delta <= 1:
            raise ArgumentError(f"delta = {spelled(delta)}; a number from 0 to 1 is required")
        for argument, exact in (("epsilon", exact_epsilon), ("delta", exact_delta)):
            if max(exact.numerator, exact.denominator).bit_length() > budget.MAX_FRACTION_BITS:
                raise ArgumentError(
                    f"{argument} = {abridged(exact)}; a fraction of up to {budget.MAX_FRACTION_BITS} bits is required"
                )
        object.__setattr__(self, "curve", curve)
        object.__setattr__(self, "epsilon", exact_epsilon)
        object.__setattr__(self, "delta", exact_delta)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "about", about)

    def __repr__(self) -> str:
        return f"<Claim: {self}>"

    def __str__(self) -> str:
        claimed = f"epsilon = {literal(self.epsilon)}, delta = {literal(self.delta)}"
        return f"{claimed}: {self.name or self._released}"

    @property
    def _released(self) -> str:
        return self.curve.summary if isinstance(self.curve, RepeatedReleases) else self.curve.situation.summary


@dataclass(frozen=True)
class Finding:
    """The result for one claim.

    Attributes
    ----------
    claim : Claim
        The claim.
    verdict : str
        "proved", "refuted" or "undecided".
    delta : Enclosure
        δ at the claimed ε in doubles, or the bound if the curve is a bound.
    margin : Enclosure
        The claimed δ minus the computed δ; negative if the claim is false. It uses the second computation, which is the
        tighter one, if there is one.
    route : str
        The computation that confirmed the first one, or the reason why there is none.
    why : str
        The basis of the verdict.
    """

    claim: Claim
    verdict: Verdict
    delta: Enclosure
    margin: Enclosure
    route: str
    why: str

    def certificate(self) -> Certificate:
        """A certificate that :mod:`statpriv.assurance.checker` proves; see :meth:`PrivacyCurve.certify`."""
        proof = _certificate(self.claim)
        return proof if self.claim.about is None else proof.naming(self.claim.about)

    def sensitivity(self) -> Sensitivity:
        """δ under changed assumptions; see :meth:`PrivacyCurve.sensitivity`. No verdict rests on it."""
        return self.claim.curve.sensitivity(epsilon=self.claim.epsilon)


@dataclass(frozen=True)
class Verification:
    """The results for several claims, in their order.

    Attributes
    ----------
    findings : tuple of Finding
        One finding per claim.
    """

    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        """The joint verdict: "refuted" if any claim is, else "undecided" if any claim is, else "proved"."""
        verdicts = {finding.verdict for finding in self.findings}
        order: tuple[Verdict, ...] = ("refuted", "undecided", "proved")
        return next(verdict for verdict in order if verdict in verdicts)

    @property
    def exit_code(self) -> int:
        """The exit code of `statpriv verify`: 0 all proved, 1 some refuted, 4 some undecided."""
        return {"proved": 0, "refuted": 1, "undecided": 4}[self.verdict]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, index: int) -> Finding:
        return self.findings[index]

    def __str__(self) -> str:
        return "\n".join(
            f"{finding.verdict:9}  {finding.claim}; the margin is in {finding.margin}, {finding.why}"
            for finding in self
        )


@answered
def verify(
    claims: str | Path | Claim | Iterable[Claim],
    *,
    plan: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Verification:
    """Prove or refute claims of privacy.

    Each δ is computed twice: in doubles, and by a tier of the kernel that shares no code with them, either to the
    digits required or in exact fractions. A claim is proved if an upper end of δ is at most the claimed δ. It is
    refuted if a lower end exceeds the claimed δ and the curve is exact or attains that end. A bound never refutes.

    Parameters
    ----------
    claims : Claim, iterable of Claim, or path
        The claims, or a claims file (docs/reference/claims-file.md), or the JSON report of a release.
    plan : path, optional
        The plan file that the reports have to be of.
    progress : callable, optional
        Called before each claim with its number and the number of claims: 1 and 3, 2 and 3, 3 and 3.

    Returns
    -------
    Verification
        One finding per claim, with the verdict and the certified margin.

    Raises
    ------
    ArgumentError
        There is no claim, or the file is not a claims file; the message lists every fault.
    DisagreementError
        The two computations contradict each other: a defect of statpriv. Neither result can be trusted.

    Examples
    --------
    >>> import statpriv as sp
    >>> smokers = [sp.PropertyQuery("1/2") for _ in range(32)]
    >>> counts = sp.compose(smokers, sp.Population(32768), sp.RandomPartition([1024] * 32), bound="partition-sum")
    >>> one = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024))
    >>> found = sp.verify([sp.Claim(counts, epsilon="0.005", delta="0.0226"), sp.Claim(one, epsilon=0, delta="0.02")])
    >>> [finding.verdict for finding in found], found.exit_code
    (['proved', 'refuted'], 1)
    >>> found[0].margin.lower > 2.6e-5
    True
    """
    if isinstance(claims, str | Path):
        from statpriv.files.claims import read_claims

        claims = read_claims(Path(claims), plan=None if plan is None else Path(plan))
    asked = (claims,) if isinstance(claims, Claim) else tuple(claims) if isinstance(claims, Iterable) else ()
    if not asked or not all(isinstance(claim, Claim) for claim in asked):
        raise ArgumentError(
            f"claims = {abridged(claims)}; claims such as sp.Claim(curve, epsilon=0.1, delta=0.02), or the path of a "
            "claims file, are required"
        )
    findings = []
    for number, claim in enumerate(asked, start=1):
        if progress is not None:
            progress(number, len(asked))
        findings.append(_finding(claim))
    return Verification(tuple(findings))


def _finding(claim: Claim) -> Finding:
    curve, target = claim.curve, claim.delta
    first = curve.delta(claim.epsilon)
    route, second = _recomputed(claim)
    if second is not None and _apart(first, second):
        raise DisagreementError(f"{claim}: δ is {first} in doubles and {second} by {route}; please report this defect")
    closest = first if second is None else second
    said = {_holds(reached, target) for reached in (first, closest)}
    verdict: Verdict = (
        "proved" if True in said else "refuted" if False in said and curve.kind != "bound" else "undecided"
    )
    if second is None and verdict != "undecided":
        route = _confirmed(claim, verdict) or route
    least, most = (closest, closest) if isinstance(closest, Fraction) else exact_ends(closest)
    margin = Enclosure(target - most, target - least)
    return Finding(claim, verdict, first, margin, route, _WHY[curve.kind, verdict])


def _recomputed(claim: Claim) -> tuple[str, Enclosure | Fraction | None]:
    """The second computation of δ and its result: digits, enough to separate it from the claimed δ, or a fraction."""
    try:
        for digits in _DIGITS:
            found = claim.curve.delta(claim.epsilon, digits=digits)
            if _holds(found, claim.delta) is not None:
                return f"{digits} digits", found
    except (NotAvailableError, PrecisionError) as reason:
        return f"nothing else ({reason})", None
    exact = _exactly(claim)
    return (f"{_DIGITS[-1]} digits", found) if exact is None else ("exact fractions", exact)


def _confirmed(claim: Claim, verdict: Verdict) -> str | None:
    """The checker's theorem that confirms the verdict if δ itself cannot be recomputed, or None."""
    from statpriv.assurance.certificate import RefutedError

    try:
        found, theorems = "proved", _certificate(claim).theorems
    except RefutedError as refutation:
        found, theorems = "refuted", (refutation.theorem,)
    except (ArgumentError, PrecisionError):
        return None
    return f"the checker of certificates, by {', '.join(theorems)}" if found == verdict else None


def _certificate(claim: Claim) -> Certificate:
    return claim.curve.certify(epsilon=claim.epsilon, delta=claim.delta)


def _exactly(claim: Claim) -> Fraction | None:
    """δ, where it is a rational A − e^ε B: at ε = 0, or if B is 0. Otherwise it is irrational: no claim is a tie.

    For rational ε other than 0, e^ε is transcendental (Lindemann).
    """
    if claim.curve.kind not in ("exact", "bound"):  # two numbers
        return None
    try:
        if claim.epsilon == 0:
            return claim.curve.exact_delta(exp_epsilon=1)
        constant, factor = claim.curve.exact_terms(claim.epsilon)
    except (ArgumentError, PrecisionError):
        return None
    return constant if factor == 0 else None


def _holds(reached: Enclosure | Fraction, target: Fraction) -> bool | None:
    """Whether the value is at most the target; None if undecided. Enclosures are compared exactly."""
    try:
        return reached <= target
    except UndecidedError:
        return None


def _apart(first: Enclosure, second: Enclosure | Fraction) -> bool:
    """Whether no number can lie in both."""
    try:
        return first < second or first > second
    except UndecidedError:
        return False
