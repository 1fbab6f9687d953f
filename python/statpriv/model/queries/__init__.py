"""Queries: what is asked of the entries, one kind a file."""
