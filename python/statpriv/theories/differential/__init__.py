"""Differential privacy as the baseline: the composition of its mechanisms, and the noise they require."""

from statpriv.theories.differential.gaussian import (
    GaussianMechanism,
    gaussian_delta,
    gaussian_distance,
    gaussian_queries,
    kairouz_queries,
    kairouz_variance,
)
from statpriv.theories.differential.laplace import LaplaceMechanism
from statpriv.theories.differential.noise_instead import NoiseInstead, NoisyAnswer
from statpriv.theories.differential.partition import ComparedPartition, PartitionComparison, compare
from statpriv.theories.differential.random_allocation import RandomAllocation, random_allocation_delta
from statpriv.theories.differential.randomized_response import (
    Guarantee,
    RandomizedResponse,
    advanced_composition,
    exact_randomized_response,
    optimal_composition,
)
from statpriv.theories.differential.renyi import (
    delta_from_renyi,
    delta_from_zcdp,
    epsilon_from_renyi,
    epsilon_from_zcdp,
)

__all__ = [
    "ComparedPartition",
    "GaussianMechanism",
    "Guarantee",
    "LaplaceMechanism",
    "NoiseInstead",
    "NoisyAnswer",
    "PartitionComparison",
    "RandomAllocation",
    "RandomizedResponse",
    "advanced_composition",
    "compare",
    "delta_from_renyi",
    "delta_from_zcdp",
    "epsilon_from_renyi",
    "epsilon_from_zcdp",
    "exact_randomized_response",
    "gaussian_delta",
    "gaussian_distance",
    "gaussian_queries",
    "kairouz_queries",
    "kairouz_variance",
    "optimal_composition",
    "random_allocation_delta",
]
