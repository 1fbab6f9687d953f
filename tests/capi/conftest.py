"""The C library, built and installed once for all tests of a worker."""

import shutil
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """A folder with `include/` and `lib/`, as `make capi` leaves it."""
    missing = [tool for tool in ("make", "cargo", "cc") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    prefix = tmp_path_factory.mktemp("capi")
    command = ["make", "--quiet", "capi", f"PREFIX={prefix}", "CAPI_PROFILE=dev"]
    subprocess.run(command, cwd=PROJECT, check=True, timeout=600)
    return prefix
