"""Differential privacy, for comparison: what Gaussian noise would have to be added."""

from statpriv.differential.gaussian import (
    gaussian_delta,
    gaussian_distance,
    gaussian_queries,
    kairouz_queries,
    kairouz_variance,
)

__all__ = ["gaussian_delta", "gaussian_distance", "gaussian_queries", "kairouz_queries", "kairouz_variance"]
