"""Compositions whose queries are chosen one after the other."""
