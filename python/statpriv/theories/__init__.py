"""Theories related to statistical privacy, and differential privacy as the baseline."""
