"""What an answer reveals about one entry: prior and posterior probability of each value."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from statpriv.errors import ArgumentError
from statpriv.model.probabilities import as_law
from statpriv.numeric.arguments import is_mapping
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_probability
from statpriv.numeric.literals import abridged, literal
from statpriv.theories.noiseless.levels import Ratio, larger_of, log_ratio, quotient


@dataclass(frozen=True, repr=False)
class Posterior:
    """The law of one entry before and after an answer.

    Attributes
    ----------
    prior, law : mapping
        Probability of each value before and after.
    ratio : mapping
        Posterior over prior, for each value of positive prior; Definition 3 of the paper bounds it by e^{±ε}.
    """

    prior: Mapping[Hashable, Fraction]
    law: Mapping[Hashable, Fraction]

    @property
    def ratio(self) -> Mapping[Hashable, Fraction]:
        """Posterior over prior, by value."""
        return MappingProxyType({value: self.law[value] / mass for value, mass in self.prior.items() if mass})

    @property
    def worst_ratio(self) -> Ratio:
        """The larger of the largest ratio and the inverse of the smallest; infinite if a value is ruled out."""
        return larger_of(max(ratio, quotient(1, ratio)) for ratio in self.ratio.values())

    @property
    def epsilon(self) -> Enclosure:
        """The logarithm of `worst_ratio` in nats: how far this one answer moves the belief about the entry."""
        return log_ratio(self.worst_ratio)

    def explain(self) -> str:
        """One sentence for each value.

        Examples
        --------
        >>> import statpriv as sp
        >>> print(sp.noiseless.posterior({"ill": "0.1", "well": "0.9"}, {"ill": "0.8", "well": "0.2"}).explain())
        ill: 0.1 before, 4/13 = 0.3077 after the answer: 3.077 times as likely
        well: 0.9 before, 9/13 = 0.6923 after the answer: 0.7692 times as likely
        """
        return "\n".join(
            f"{value}: {literal(self.prior[value])} before, {_with_decimal(self.law[value])} after the answer: "
            f"{float(ratio):.4g} times as likely"
            for value, ratio in self.ratio.items()
        )

    def __repr__(self) -> str:
        moved = ", ".join(f"{value!r}: {self.prior[value]} -> {mass}" for value, mass in self.law.items())
        return f"Posterior({moved})"


def _with_decimal(value: Fraction) -> str:
    text = literal(value)
    return text if "/" not in text else f"{text} = {float(value):.4g}"


def posterior(prior: Number | Mapping[Hashable, Number], answer: Mapping[Hashable, Number]) -> Posterior:
    """The exact law of an entry after an answer is observed, by Bayes' rule.

    Parameters
    ----------
    prior : mapping or number
        Probability of each value of the entry. A single number is the probability of 1, for an entry that is 0 or 1.
    answer : mapping
        Probability of the observed answer given each value of the entry, from 0 to 1. For a value that is left out,
        this probability is 0.

    Returns
    -------
    Posterior
        Its `law` is exact. `ratio` is the posterior over the prior, and `epsilon` is the largest absolute logarithm of
        these ratios, in nats.

    Raises
    ------
    ArgumentError
        A prior that does not sum to one, a value that has no prior, or an answer that is impossible.

    Notes
    -----
    Source: *Noiseless Database Privacy*, Definition 3.

    Examples
    --------
    The majority of three fair bits was 1. Given that one of them is 1, this has probability 3/4; if it is 0, 1/4:

    >>> import statpriv as sp
    >>> after = sp.noiseless.posterior("1/2", {1: "3/4", 0: "1/4"})
    >>> after.law[1], after.ratio[1], after.worst_ratio
    (Fraction(3, 4), Fraction(3, 2), Fraction(2, 1))
    """
    masses = _prior(prior)
    if not is_mapping(answer):
        raise ArgumentError(
            f"answer = {abridged(answer)}; a dict from the values of the entry to the probability of the answer that "
            "was seen is required, such as {1: '3/4', 0: '1/4'}"
        )
    if unknown := [value for value in answer if value not in masses]:
        raise ArgumentError(f"answer[{unknown[0]!r}] is about a value without a prior; the prior has {list(masses)}")
    given = {value: as_probability(answer.get(value, 0), f"answer[{value!r}]") for value in masses}
    total = sum((masses[value] * given[value] for value in masses), Fraction(0))
    if total == 0:
        raise ArgumentError(
            f"answer = {abridged(answer)} has probability 0 under the prior, so nobody can have seen it"
        )
    after = {value: masses[value] * given[value] / total for value in masses}
    return Posterior(MappingProxyType(masses), MappingProxyType(after))


def _prior(prior: Number | Mapping[Hashable, Number]) -> dict[Hashable, Fraction]:
    if isinstance(prior, Mapping):
        if not prior:
            raise ArgumentError("prior is empty; the probability of each value is required, such as {1: 0.3, 0: 0.7}")
        law, _ = as_law([(f"prior[{value!r}]", mass) for value, mass in prior.items()], "prior")
        return dict(zip(prior, law, strict=True))
    one = as_probability(prior, "prior")
    return {1: one, 0: 1 - one}
