"""Planning a study before its data exist: any one of guarantee, accuracy and population from the other two.

Users see this module as `statpriv.design`. Every function determines how far one number can go, and returns both the
answer and its neighbour that fails. All comparisons are certified: `"fails"` means that the least δ is proved to be
above the target; `"undecided"` means that a bound on it is above the target, which proves nothing. Statements about
all further alternatives rest on the following lemmas. If no lemma applies, the result says that nothing is claimed.

**Entries.** Δ̂_n(ε) does not rise with n: the count of n+1 independent entries is the count of n plus an independent
summand, so data processing applies. The same holds for its supremum over a range of p, shared or each entry its own.

**Answers.** The first m of m+1 answers on parts of given sizes have the law of m answers on such parts, and m+1
properties tell apart every pair of values that m properties tell apart. So δ does not fall with the number of answers.

**Total.** The answers of all parts determine their sum. If all parts ask about one p, then for the values (1, …, 1) and
(0, …, 0) the sum over all entries is one count, and δ is at least that of this count. If all parts ask the same
property, δ equals that of this count, whatever the parts.

**Sizes.** In a fixed population δ does not fall with the size of a part: given the count a over s entries, the count of
a random part of s−1 of them is hypergeometric, whoever is in the part. (The sum of Theorem 5.2 may fall.)

**Knowledge.** Revealing an entry does not lower δ on average (joint convexity), hence not at the worst value either.

**Range.** A supremum over a wider range is not smaller; the same holds for a sum of such suprema.

**Sum.** Let all n entries be split into m parts whose sizes differ by at most one. The sum of Theorem 5.2,
`Σ_k (n_k/n) SPC(n_k)`, is the mean of `SPC(size of the part of an entry)` over entries. SPC falls with the size. The
number of unknown other entries in a part is hypergeometric and rises stochastically with the size of the part and with
the number of unknown entries; Δ̂ falls with it (*Entries*). The size of an entry's part falls stochastically with m:
one more part lowers the quotient, or keeps it and leaves fewer parts with one extra entry. This size rises with n. So
the sum does not fall with m, and does not rise with n.

**Accuracy.** At a fixed n both errors below fall with the size s of a part. With m ≥ 2 parts of at least ⌊n/m⌋ entries,
they rise with n while ⌊n/m⌋ is constant, and fall along n = m, 2m, 3m, …

>>> import statpriv as sp
>>> coin = sp.PropertyQuery("1/2", attribute="coin")
>>> sp.design.smallest_population(coin, epsilon="0.1", delta="0.01").value
366
"""

from statpriv.planning.designs import Design, TradeOff, TradeOffRow, Trial
from statpriv.planning.gate_probability import gate_probability
from statpriv.planning.minimum import least_minimum
from statpriv.planning.noise_needed import least_noise
from statpriv.planning.perturbation_table import perturbation_table
from statpriv.planning.questions import (
    largest_size,
    most_known,
    most_queries,
    smallest_population,
    smallest_sizes,
    widest_range,
)
from statpriv.planning.reached import guarantee, least_delta, least_epsilon, trade_off
from statpriv.planning.table_plan import MinimumPrice, PlannedTable, TablePlan, plan_table
from statpriv.planning.uncertainty import least_uncertainty

__all__ = [
    "Design",
    "MinimumPrice",
    "PlannedTable",
    "TablePlan",
    "TradeOff",
    "TradeOffRow",
    "Trial",
    "gate_probability",
    "guarantee",
    "largest_size",
    "least_delta",
    "least_epsilon",
    "least_minimum",
    "least_noise",
    "least_uncertainty",
    "most_known",
    "most_queries",
    "perturbation_table",
    "plan_table",
    "smallest_population",
    "smallest_sizes",
    "trade_off",
    "widest_range",
]
