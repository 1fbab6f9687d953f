"""Nothing here is a test, and what the programs need is not among the dependencies."""

collect_ignore_glob = ["*.py"]
