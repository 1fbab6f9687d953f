"""Do programs in C and C++ compile without a warning against what `make capi` installs, and run without a fault?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from .conftest import PROJECT

pytestmark = pytest.mark.xdist_group("capi")

EXAMPLES = PROJECT / "rust" / "capi" / "examples"
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def flags(installed, *which):
    if shutil.which("pkg-config") is None:
        return [f"-I{installed}/include", f"-L{installed}/lib", "-lstatpriv"]
    environment = {**os.environ, "PKG_CONFIG_PATH": str(installed / "lib" / "pkgconfig")}
    told = subprocess.run(
        ["pkg-config", *which, "statpriv"], env=environment, capture_output=True, text=True, check=True
    )
    return told.stdout.split()


def run(command, **environment):
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.parametrize(
    ("compiler", "standard", "source"), [("cc", "c99", "count.c"), ("c++", "c++17", "composition.cpp")]
)
def test_an_example_compiles_and_runs(installed, tmp_path, compiler, standard, source):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    program = tmp_path / "program"
    command = [compiler, f"-std={standard}", *STRICT, EXAMPLES / source, *flags(installed, "--cflags", "--libs")]
    compiled = run([*command, "-lpthread", "-o", program])
    assert (compiled.returncode, compiled.stderr) == (0, "")
    done = run([program], LD_LIBRARY_PATH=str(installed / "lib"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "delta(0.1) is at most 0.00" in done.stdout


def test_the_program_of_the_page_compiles_and_runs(installed, tmp_path):
    page = (PROJECT / "docs" / "how-to" / "use-from-c.md").read_text(encoding="utf-8")
    [program] = re.findall(r"```c\n(.*?)```", page, re.DOTALL)
    source = tmp_path / "page.c"
    source.write_text(program, encoding="utf-8")
    command = ["cc", "-std=c99", *STRICT, source, *flags(installed, "--cflags", "--libs"), "-o", tmp_path / "page"]
    assert run(command).stderr == ""
    assert run([tmp_path / "page"], LD_LIBRARY_PATH=str(installed / "lib")).stdout.startswith(
        "delta(0.1) is at most 0.0015"
    )


def test_a_program_is_linked_to_the_archive(installed, tmp_path):
    program = tmp_path / "program"
    archive = installed / "lib" / "libstatpriv.a"
    compiled = run(
        ["cc", EXAMPLES / "count.c", f"-I{installed}/include", archive, "-lpthread", "-ldl", "-lm", "-o", program]
    )
    assert compiled.returncode == 0
    assert run([program]).stdout.count("\n") == 3


def test_the_header_declares_what_the_sources_define():
    header = (EXAMPLES.parent / "include" / "statpriv.h").read_text(encoding="utf-8")
    sources = "".join(path.read_text(encoding="utf-8") for path in (EXAMPLES.parent / "src").glob("*.rs"))
    defined = re.findall(r'extern "C" fn (\w+)\(\s*', sources)
    assert len(defined) == len(set(defined)) > 20
    assert sorted(re.findall(r"^\w.*\b(statpriv_\w+)\(", header, re.MULTILINE)) == sorted(defined)


@pytest.mark.skipif(shutil.which("nm") is None, reason="nm is not installed")
def test_the_library_exports_its_own_names_alone(installed):
    told = run(["nm", "--dynamic", "--defined-only", "--format=posix", installed / "lib" / "libstatpriv.so"])
    names = [line.split()[0] for line in told.stdout.splitlines()]
    assert names
    assert all(name.startswith("statpriv_") for name in names)
