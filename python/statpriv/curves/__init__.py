"""Privacy curves: how they are built, what they say, and how they compare."""
