"""Single probabilities as enclosures, parameters named in words.

>>> import statpriv as sp
>>> sp.laws.binomial_pmf(2, n=4, p=0.5)
Enclosure(0.375, 0.375)
>>> from fractions import Fraction
>>> Fraction(1, 30) in sp.laws.hypergeometric_pmf(3, population=10, marked=4, draws=3)
True
"""

from statpriv._native import (
    binomial_log_pmf,
    binomial_pmf,
    binomial_upper_tail,
    hypergeometric_log_pmf,
    hypergeometric_pmf,
    hypergeometric_upper_tail,
)

__all__ = [
    "binomial_log_pmf",
    "binomial_pmf",
    "binomial_upper_tail",
    "hypergeometric_log_pmf",
    "hypergeometric_pmf",
    "hypergeometric_upper_tail",
]
