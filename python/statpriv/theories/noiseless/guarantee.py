"""A guarantee of noiseless privacy: ε, δ, the notion of privacy, and the statement that proves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from statpriv.numeric.enclosure import Enclosure

_NOTIONS = {
    "noiseless": "(ε, δ)-noiseless privacy: outside of answers and values of probability δ together, no answer is more "
    "than e^ε times as likely for one value of an entry as for another",
    "a posteriori": "ε-a-posteriori noiseless privacy: no answer makes a value of an entry more than e^ε times as "
    "likely or unlikely as it was before",
    "statistical": "(ε, δ)-statistical privacy: no set of answers is more than e^ε times as likely, and δ more, for "
    "one value of an entry than for another",
}


@dataclass(frozen=True)
class NoiselessGuarantee:
    """ε in nats and δ, as enclosures; the upper ends are safe.

    Attributes
    ----------
    epsilon, delta
        The guarantee.
    notion
        "noiseless" (Definitions 2 and 4), "a posteriori" (Definition 3) or "statistical".
    theorem
        The statement that gives it.
    """

    epsilon: Enclosure
    delta: Enclosure
    notion: Literal["noiseless", "a posteriori", "statistical"]
    theorem: str

    def explain(self) -> str:
        """The guarantee in words, and the statement that proves it.

        Examples
        --------
        >>> import statpriv as sp
        >>> print(sp.noiseless.noiseless_from_posterior("0.25").explain())
        ε = [0.5, 0.5], δ = [0.0, 0.0]: (ε, δ)-noiseless privacy: outside of answers and values of probability δ
        together, no answer is more than e^ε times as likely for one value of an entry as for another.
        By Lemma 1, with its factors the right way round: ε-ANP implies 2ε-NP.
        """
        return f"ε = {self.epsilon}, δ = {self.delta}: {_NOTIONS[self.notion]}.\nBy {self.theorem}."
