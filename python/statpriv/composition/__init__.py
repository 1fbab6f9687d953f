"""Composition over a secret partition, beyond queries that are fixed in advance."""
