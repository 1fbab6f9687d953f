"""The neighbouring theories, and differential privacy as the baseline."""
