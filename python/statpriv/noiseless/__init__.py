"""Noiseless privacy: what exact answers about random data tell of one entry.

The theory of Bhaskar, Bhowmick, Goyal, Laxman and Thakurta, *Noiseless Database Privacy*, with explicit and certified
numbers, beside the exact values. A query is ε-noiseless private (NP) if no answer is more than e^ε times as likely
for one value of an entry as for another; a posteriori (ANP), if no answer moves the probability of a value by more
than this.

>>> import statpriv as sp
>>> parity, conjunction = [0, 1, 1, 0], [0, 0, 0, 1]
>>> sp.noiseless.boolean_epsilon(parity, p="1/2"), sp.noiseless.boolean_epsilon(conjunction, p="1/2")
(Enclosure(0.0, 0.0), Enclosure(float('inf'), float('inf')))
"""

from statpriv.noiseless.boolean import (
    BooleanFunction,
    boolean_epsilon,
    boolean_posterior_epsilon,
    boolean_posterior_ratio,
    boolean_ratio,
)
from statpriv.noiseless.composition import OverlappingQueries, compose_overlapping
from statpriv.noiseless.conversions import (
    noiseless_from_posterior,
    noiseless_from_statistical,
    posterior_from_noiseless,
    statistical_from_noiseless,
)
from statpriv.noiseless.counts import SubsetCounts, symmetric_curve, symmetric_guarantee
from statpriv.noiseless.densities import density_sum_guarantee
from statpriv.noiseless.diagonal_dominance import DominanceTest
from statpriv.noiseless.guarantee import NoiselessGuarantee
from statpriv.noiseless.juntas import junta_epsilon, junta_guarantee
from statpriv.noiseless.linear import LinearQueries, linear_mu
from statpriv.noiseless.model import Exceptions, FiniteModel
from statpriv.noiseless.posterior import Posterior, posterior
from statpriv.noiseless.random_functions import RandomFunction, random_function
from statpriv.noiseless.sums import sum_curve, sum_guarantee
from statpriv.noiseless.timeline import Timeline

__all__ = [
    "BooleanFunction",
    "DominanceTest",
    "Exceptions",
    "FiniteModel",
    "LinearQueries",
    "NoiselessGuarantee",
    "OverlappingQueries",
    "Posterior",
    "RandomFunction",
    "SubsetCounts",
    "Timeline",
    "boolean_epsilon",
    "boolean_posterior_epsilon",
    "boolean_posterior_ratio",
    "boolean_ratio",
    "compose_overlapping",
    "density_sum_guarantee",
    "junta_epsilon",
    "junta_guarantee",
    "linear_mu",
    "noiseless_from_posterior",
    "noiseless_from_statistical",
    "posterior",
    "posterior_from_noiseless",
    "random_function",
    "statistical_from_noiseless",
    "sum_curve",
    "sum_guarantee",
    "symmetric_curve",
    "symmetric_guarantee",
]
