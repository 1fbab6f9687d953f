"""Does `R CMD check` find no fault in the R package, with its tests, examples and vignette?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from ..capi.conftest import PROJECT, installed

__all__ = ["installed"]

pytestmark = [pytest.mark.campaign, pytest.mark.skipif(shutil.which("R") is None, reason="R is not installed")]


def run(*command, folder, **environment):
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


def test_the_package_is_checked_without_errors_or_warnings(installed, tmp_path):
    found = {"PKG_CONFIG_PATH": str(installed / "lib" / "pkgconfig"), "_R_CHECK_FORCE_SUGGESTS_": "false"}
    vignettes = shutil.which("Rscript") and subprocess.run(
        ["Rscript", "-e", "stopifnot(requireNamespace('knitr'), requireNamespace('markdown'))"], check=False
    )
    without = () if vignettes and vignettes.returncode == 0 else ("--no-build-vignettes",)
    run("R", "CMD", "build", *without, str(PROJECT / "r"), folder=tmp_path, **found)
    [package] = tmp_path.glob("statpriv_*.tar.gz")
    ignored = ("--ignore-vignettes",) if without else ()
    told = run("R", "CMD", "check", "--no-manual", *ignored, package.name, folder=tmp_path, **found)
    status = told[told.index("Status:") :].splitlines()[0]
    assert "ERROR" not in status
    assert "WARNING" not in status
    own = tmp_path / "statpriv.Rcheck" / "tests"
    assert {path.name for path in own.glob("*.Rout")} == {"numbers.Rout", "refusals.Rout"}


def test_what_the_page_shows_is_what_it_prints(installed, tmp_path):
    found = {"PKG_CONFIG_PATH": str(installed / "lib" / "pkgconfig"), "R_LIBS": str(tmp_path)}
    run("R", "CMD", "INSTALL", "--no-docs", f"--library={tmp_path}", str(PROJECT / "r"), folder=tmp_path, **found)
    page = (PROJECT / "docs" / "how-to" / "use-from-r.md").read_text(encoding="utf-8")
    [code] = re.findall(r"```r\n(.*?)```", page, re.DOTALL)
    (tmp_path / "page.R").write_text(code, encoding="utf-8")
    printed = run("Rscript", "page.R", folder=tmp_path, **found).splitlines()
    shown = re.findall(r"^#> (.*)$", code, re.MULTILINE)
    assert shown == printed[: len(shown)]
