"""A studio as users start it: a process of its own on a folder with a table and a plan."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import statpriv

PLAN = """prior = "none"
[data]
source = "people.csv"
row_id = "id"
[guarantee]
epsilon = 0.5
delta = 0.5
[[query]]
name = "Smokers"
where = "smoker = 'yes'"
probability = ["0.2", "0.6"]
source = "a survey"
share = "1/2"
"""


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args, **_more):
        return None


@dataclass
class Studio:
    """What the process printed, and the folder that it works on."""

    url: str
    folder: Path
    cookie: str = ""

    @property
    def home(self) -> str:
        return self.url.partition("/?")[0]

    @property
    def token(self) -> str:
        return self.url.partition("token=")[2]

    def ask(self, path, *, form=None, cookie=True, **headers):
        """Status, headers and text of an answer; redirections are not followed."""
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        if cookie:
            named.setdefault("Cookie", self.cookie)
        body = None if form is None else urllib.parse.urlencode(form).encode()
        request = urllib.request.Request(self.home + path, data=body, headers=named)  # noqa: S310
        try:
            with urllib.request.build_opener(NoRedirect).open(request, timeout=60) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as answer:
            return answer.code, answer.headers, answer.read().decode()

    def post(self, path, form):
        """Send a form as a page of the studio does."""
        secret = self.ask("/assess")[2].partition('name="secret" value="')[2].partition('"')[0]
        return self.ask(path, form={"secret": secret, **form}, Origin=self.home)


@pytest.fixture(scope="module")
def studio(tmp_path_factory) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("studio")
    rows = "".join(f"p{i},{'yes' if i % 3 else 'no'},{'ns'[i % 2]}\n" for i in range(200))
    (folder / "people.csv").write_text("id,smoker,region\n" + rows, "utf-8")
    (folder / "plan.toml").write_text(PLAN, "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "statpriv", "studio", "--no-browser", "--folder", folder, "--registry", folder / "r"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(statpriv.__file__).parents[1])},
    )
    try:
        started = Studio(process.stdout.readline().strip(), folder)
        started.cookie = started.ask(f"/?token={started.token}", cookie=False)[1]["Set-Cookie"].partition(";")[0]
        yield started
    finally:
        process.terminate()
        with process:
            log = process.stdout.read()
    assert log == ""  # nothing of a request, and nothing of the data
