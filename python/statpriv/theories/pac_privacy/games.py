"""Three attacks on counts with the noise of PAC privacy, each a privacy curve of this library.

In a table of N rows c have a property. The noise follows from the variance of the count over the data as they are
drawn, and who attacks is told what is drawn, with one exception:

* **law**: the rows are drawn independently, with the property with probability p = c/N. The reader knows p, and guesses
  the value of one row. The variance is Np(1 − p).
* **half**: the table is fixed. The reader knows all other rows, and guesses the value of one. Answers are given on a
  secret half, drawn without replacement, for each answer another one. The variance is
  ``h (c/N)(1 − c/N)(N − h)/(N − 1)`` for the half of h = ⌊N/2⌋ rows.
* **membership**: the table is fixed, and the reader knows it. Each row is in a secret sample with probability 1/2; the
  reader guesses whether a row with the property is. The count is that of c coins, of which one is guessed, and its
  variance c/4.

**What is promised holds for each.** In the first and in the last game what is guessed is a part of the data that are
drawn. In the second one it is not: the half is drawn. Let B say whether the row is in the half, which is independent of
its value v. An answer A tells about v at most ``I(v; A | B)``, and so at most h/N times what v with the noise tells:
``I(v; A) ≤ (h/N) · ½ ln(1 + ¼/σ²) ≤ (h/N)/(8σ²)``. As ``V ≥ h(N − h)/N²`` and ``σ² = mV/(2β)``, all m answers together
tell at most ``β N/(4(N − h)) ≤ β/2``.

Several answers tell about a row what a product of pairs of laws tells: in the first game counts of attributes that are
independent of each other; in the last one counts that have the guessed row in common and no other.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from statpriv import budget
from statpriv.curves.build import compose
from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError
from statpriv.model.noise import Gaussian
from statpriv.model.populations import Population
from statpriv.model.queries.property import PropertyQuery
from statpriv.model.same_rows import SameRows
from statpriv.numeric.calls import answered
from statpriv.numeric.enclosure import Enclosure
from statpriv.numeric.exact import Number, as_count, as_positive, as_probability
from statpriv.numeric.literals import abridged, spelled
from statpriv.planning.sampling_error import root
from statpriv.theories.pac_privacy.calibration import largest_success, noise_variances

__all__ = ["Game", "games"]


@dataclass(frozen=True, repr=False)
class Game:
    """One attack on counts with calibrated noise.

    Attributes
    ----------
    name : str
        "law", "half" or "membership".
    guessed : str
        What is guessed, and what is known.
    information : Fraction
        The largest mutual information of the data and the answers that the noise was calibrated to, in nats.
    sigma : Fraction
        Standard deviation of the noise on each answer, rounded up.
    curve : PrivacyCurve
        δ against ε, for the two values that are guessed between.
    """

    name: str
    guessed: str
    information: Fraction
    sigma: Fraction
    curve: PrivacyCurve

    def __repr__(self) -> str:
        return f"<Game {self.name!r}: {self.guessed}; noise of standard deviation {float(self.sigma):.4g}>"

    def promised(self, prior: Number = "1/2") -> Enclosure:
        """How likely a guess may be right by the information; `prior` as in :meth:`success`."""
        chance = as_probability(prior, "prior")
        return largest_success(self.information, max(chance, 1 - chance))

    def success(self, prior: Number = "1/2") -> Enclosure:
        """How likely the best guess is right, for a reader who took the first value to have the probability `prior`."""
        return self.curve.attack_success(prior)


@answered
def games(ones: Number, rows: Number, *, information: Number, queries: Number = 1) -> tuple[Game, Game, Game]:
    """The certified success of three attacks on counts with the noise of PAC privacy.

    Parameters
    ----------
    ones, rows : int
        How many rows have the property, at least 1, of how many, more than that.
    information : float, int, Fraction, Decimal or str
        The largest mutual information of the data and all answers together, in nats, above 0. The noise is calibrated
        to it.
    queries : int, default 1
        Number of answers, each about as many rows, from 1 to 64. They share `information`, so the variance of the noise
        on each is as many times that for one.

    Returns
    -------
    tuple of three Game
        The reader knows the law; the reader knows all other rows, and a half of all answers; the reader knows all rows,
        and guesses who is in a sample. ``game.success()`` is certified: exact for one answer, an upper bound for
        several; ``game.promised()`` is what the information alone allows. Of several answers the second one takes
        seconds, and a minute for tens of thousands of rows.

    Raises
    ------
    ArgumentError
        A value that is not allowed; the message names it.

    Notes
    -----
    Source: Xiao and Devadas, *PAC Privacy*, Theorems 1 and 3; :mod:`statpriv.theories.pac_privacy.games` for the laws.

    Examples
    --------
    >>> import statpriv as sp
    >>> for game in sp.pac_privacy.games(300, 1000, information="1/8"):
    ...     print(f"{game.name:10} sigma {float(game.sigma):.1f}, promised {game.promised().upper:.3f}, "
    ...           f"true {game.success().upper:.4f}")
    law        sigma 29.0, promised 0.745, true 0.5062
    half       sigma 14.5, promised 0.745, true 0.5062
    membership sigma 17.3, promised 0.745, true 0.5103
    """
    c, n, m = as_count(ones, "ones", least=1), as_count(rows, "rows", least=2), as_count(queries, "queries", least=1)
    if c >= n:
        raise ArgumentError(f"ones = {spelled(ones)} of rows = {spelled(rows)}; fewer than all rows are required")
    if m > budget.MAX_PRODUCT_FACTORS:
        raise ArgumentError(f"queries = {abridged(queries)}; at most {budget.MAX_PRODUCT_FACTORS} are composed")
    allowed = as_positive(information, "information")
    half, p = n // 2, Fraction(c, n)
    law = _Count(p, Population(n), n * p * (1 - p))
    share = _Count(
        {"with": 1, "without": 0},
        Population(groups={"with": c, "without": n - c}),
        half * p * (1 - p) * Fraction(n - half, n - 1),
        sample=half,
    )
    coins = _Count(Fraction(1, 2), Population(c), Fraction(c, 4))
    told = "the value of a row, by a reader who knows"
    return (
        law.game("law", f"{told} the law", m, allowed),
        share.game("half", f"{told} all others but not which half answers", m, allowed),
        coins.game("membership", "whether a row is in the sample, by a reader who knows all rows", m, allowed),
    )


@dataclass(frozen=True)
class _Count:
    """What is counted without noise, and its variance."""

    p: Fraction | dict[str, int]
    population: Population
    variance: Fraction
    sample: int | None = None

    def game(self, name: str, guessed: str, queries: int, information: Fraction) -> Game:
        """So many of these counts with noise."""
        sigma = Fraction(root(noise_variances([self.variance] * queries, information=information)[0]).upper)
        counts = [PropertyQuery(self.p, attribute=f"count {k}").noisy(Gaussian(sigma=sigma)) for k in range(queries)]
        samples = None if self.sample is None else [self.sample] * queries
        curve = compose(counts, self.population, SameRows(protects="row", independent=True, samples=samples))
        return Game(name, guessed, information, sigma, curve)
