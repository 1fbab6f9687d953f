"""Noiseless privacy: what exact answers about random data reveal about one entry.

This is the theory of Bhaskar, Bhowmick, Goyal, Laxman and Thakurta, *Noiseless Database Privacy*. Its bounds are given
with explicit, certified constants, next to the exact values. A query is ε-noiseless private (NP) if no answer is more
than e^ε times as likely for one value of an entry as for another. It is ε-a-posteriori noiseless private (ANP) if no
answer changes the probability of a value by a factor of more than e^ε, up or down.

>>> import statpriv as sp
>>> parity, conjunction = [0, 1, 1, 0], [0, 0, 0, 1]
>>> sp.noiseless.boolean_epsilon(parity, p="1/2"), sp.noiseless.boolean_epsilon(conjunction, p="1/2")
(Enclosure(0.0, 0.0), Enclosure(float('inf'), float('inf')))
"""

from statpriv.theories.noiseless.boolean import (
    BooleanFunction,
    boolean_epsilon,
    boolean_posterior_epsilon,
    boolean_posterior_ratio,
    boolean_ratio,
)
from statpriv.theories.noiseless.composition import OverlappingQueries, compose_overlapping
from statpriv.theories.noiseless.conversions import (
    noiseless_from_posterior,
    noiseless_from_statistical,
    posterior_from_noiseless,
    statistical_from_noiseless,
)
from statpriv.theories.noiseless.counts import SubsetCounts, symmetric_curve, symmetric_guarantee
from statpriv.theories.noiseless.densities import density_sum_guarantee
from statpriv.theories.noiseless.diagonal_dominance import DominanceTest
from statpriv.theories.noiseless.guarantee import NoiselessGuarantee
from statpriv.theories.noiseless.juntas import junta_epsilon, junta_guarantee
from statpriv.theories.noiseless.linear import LinearQueries, linear_mu
from statpriv.theories.noiseless.model import Exceptions, FiniteModel
from statpriv.theories.noiseless.posterior import Posterior, posterior
from statpriv.theories.noiseless.random_functions import RandomFunction, random_function
from statpriv.theories.noiseless.sums import sum_curve, sum_guarantee
from statpriv.theories.noiseless.timeline import Timeline

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
