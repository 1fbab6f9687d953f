"""Planning a study before its data exist: of guarantee, accuracy and population, the third from the other two.

Users see this module as `statpriv.design`. Every function asks how far one number can go, and shows the alternative
next to its answer that fails. Between them lie only comparisons that are certified: `"fails"` means that the least δ
is proved to be above the target, `"undecided"` that a bound of it is, which proves nothing. What is said of all
alternatives further on rests on these lemmas; where none applies, the result says that nothing is claimed.

**Entries.** Δ̂_n(ε) does not rise with n: the count of n+1 independent entries is that of n and an independent summand,
so data processing applies. Nor does its supremum over a range of p.

**Answers.** The first m of m+1 answers on parts of given sizes have the law of m answers on such parts, and every pair
of values that m properties tell apart can be told apart by m+1. So δ does not fall with the number of answers.

**Total.** The answers of all parts determine their sum. If all parts ask for one p, then for the values (1, …, 1) and
(0, …, 0) the sum over all entries is one count of them: δ is at least that of the one count. If all parts ask the same
property, it is equal to it, whatever the parts.

**Sizes.** In a fixed population δ does not fall with the size of a part: the count of a random part of s−1 of s entries
is drawn from the count a of all s, hypergeometric whoever is in the part. (The sum of Theorem 5.2 may fall.)

**Knowledge.** Revealing an entry does not lower δ on average (joint convexity), so not at the worst value either.

**Range.** A supremum over a wider range is not smaller, nor is a sum of such.

**Sum.** Let all n entries be split into m parts whose sizes differ by at most one. The sum of Theorem 5.2,
`Σ_k (n_k/n) SPC(n_k)`, is the mean of `SPC(size of the part of an entry)` over entries. SPC falls with the size: the
unknown others in a part are hypergeometric, stochastically more in a larger part, or if the population has more unknown
entries, and Δ̂ falls with them (*Entries*). The sizes in which entries are fall stochastically with m: one more part
lowers the quotient, or leaves it and leaves fewer parts with one entry more; and they rise with n. So the sum does not
fall with m, and does not rise with n.

**Accuracy.** At a fixed n both errors below fall with the size s of a part. With m ≥ 2 parts of ⌊n/m⌋ entries at least,
they rise with n as long as ⌊n/m⌋ stays, and fall along n = m, 2m, 3m, …

>>> import statpriv as sp
>>> coin = sp.PropertyQuery("1/2", attribute="coin")
>>> sp.design.smallest_population(coin, epsilon="0.1", delta="0.01").value
366
"""

from statpriv.planning.designs import Design, TradeOff, TradeOffRow, Trial
from statpriv.planning.questions import (
    largest_size,
    most_known,
    most_queries,
    smallest_population,
    smallest_sizes,
    widest_range,
)
from statpriv.planning.reached import guarantee, least_delta, least_epsilon, trade_off

__all__ = [
    "Design",
    "TradeOff",
    "TradeOffRow",
    "Trial",
    "guarantee",
    "largest_size",
    "least_delta",
    "least_epsilon",
    "most_known",
    "most_queries",
    "smallest_population",
    "smallest_sizes",
    "trade_off",
    "widest_range",
]
