"""The wheel: complete, for every Python from 3.10 on, and enough to do the main job where there is no Rust.

A campaign builds it once, with the profile that users get, and installs it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import statpriv as sp

ROOT = Path(__file__).parents[2]

# One worker builds the wheel, once: two builds at a time in one target folder disturb each other.
pytestmark = [pytest.mark.xdist_group("wheel"), pytest.mark.campaign]


def run(*command: object, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    env = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", place)
    run(*pip, ROOT, cwd=place, env=env)
    (built,) = place.glob("*.whl")
    return built


def test_the_wheel_is_complete(wheel):
    assert re.fullmatch(rf"statpriv-{re.escape(sp.__version__)}-cp310-abi3-[a-z0-9_]+\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata_file,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(metadata_file).decode()
        (entry_points,) = (archive.read(name).decode() for name in names if name.endswith("entry_points.txt"))
    sources = {path.relative_to(ROOT / "python").as_posix() for path in (ROOT / "python").rglob("*") if is_source(path)}
    assert sources <= names, f"not in the wheel: {sorted(sources - names)}"
    for name in ("statpriv/py.typed", "statpriv/_native.pyi", "statpriv/releasing/report.html.jinja"):
        assert name in names
    assert {"statpriv/releasing/plan.schema.json", "statpriv/releasing/report.schema.json"} <= names
    assert [name for name in names if re.fullmatch(r"statpriv/_native\.(abi3\.so|pyd)", name)]
    licences = {Path(name).name for name in names if ".dist-info/licenses/" in name}
    assert licences == {"LICENSE-APACHE", "LICENSE-MIT"}
    assert "statpriv=statpriv.cli:main" in entry_points.replace(" ", "")
    assert "License-Expression: Apache-2.0 OR MIT" in metadata
    assert "Requires-Python: >=3.10" in metadata
    extras = set(re.findall(r"^Provides-Extra: (.*)$", metadata, re.MULTILINE))
    assert {"all", "plot", "release"} <= extras


def test_nothing_else_is_in_the_wheel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        # The bill of materials that maturin adds names the directory of the build.
        texts = {name: archive.read(name) for name in names if not name.endswith((".so", ".pyd", ".cyclonedx.json"))}
    assert all(name.startswith(("statpriv/", f"statpriv-{sp.__version__}.dist-info/")) for name in names)
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".rs", ".csv"))]
    assert not [name for name, text in texts.items() if str(ROOT).encode() in text], "a path of this machine"


@pytest.mark.campaign  # alone notices a dependency that is installed with the tests and not with the wheel
def test_it_does_the_main_job_where_there_is_no_rust(wheel, tmp_path):
    environment = tmp_path / "environment"
    bare = {key: os.environ[key] for key in ("HOME", "LANG", "TMPDIR", "SYSTEMROOT") if key in os.environ}
    run(sys.executable, "-m", "venv", environment, cwd=tmp_path, env=os.environ | {})
    scripts = environment / ("Scripts" if os.name == "nt" else "bin")
    bare |= {"PATH": str(scripts), "STATPRIV_REGISTRY": str(tmp_path / "default registry")}
    python, statpriv = scripts / "python", scripts / "statpriv"
    assert shutil.which("cargo", path=bare["PATH"]) is None
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:")
    proxies = {
        key: value for key, value in os.environ.items() if key.upper().startswith(("PIP_", "HTTP", "NO_PROXY", "SSL_"))
    }
    run(*pip, f"{wheel}[release]", cwd=tmp_path, env=bare | proxies)

    imported = run(python, "-c", "import statpriv; print(statpriv.__file__)", cwd=tmp_path, env=bare).stdout.strip()
    assert Path(imported).is_relative_to(environment)

    printed = run(
        *(statpriv, "delta", "--n", "1024", "--p", "1/2", "--epsilon", "0.005", "--json"), cwd=tmp_path, env=bare
    )
    delta = json.loads(printed.stdout)["delta"]
    assert delta["lower"] <= 0.022573776189906937 <= delta["upper"]

    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    release = (statpriv, "release", "examples/election.toml", "--registry", "registry", "--out", "report.html")
    run(*release, "--json", "report.json", cwd=tmp_path, env=bare)
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["guarantee"]["holds"] is True
    assert report["statpriv"] == sp.__version__
    assert all(isinstance(answer["count"], int) for answer in report["answers"])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert all(answer["query"].replace("'", "&#39;") in page for answer in report["answers"])


def is_source(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".so", ".pyd", ".pyc")
