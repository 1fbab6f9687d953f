"""Excludes this folder from collection: it has no tests, and its programs need packages that are not dependencies."""

collect_ignore_glob = ["*.py"]
