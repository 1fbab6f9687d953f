"""The studio speaks to one browser on this machine alone."""

from __future__ import annotations

import pytest

from statpriv.errors import ArgumentError
from statpriv.studio.folder import Folder


def test_the_address_has_the_token_and_the_cookie_replaces_it(studio):
    assert studio.url.startswith("http://127.0.0.1:")
    status, headers, _ = studio.ask(f"/explore?n=50&token={studio.token}", cookie=False)
    assert (status, headers["Location"]) == (303, "/explore?n=50")
    assert "HttpOnly" in headers["Set-Cookie"]
    assert "SameSite=strict" in headers["Set-Cookie"]
    assert studio.ask("/")[0] == 200


@pytest.mark.parametrize("path", ["/", "/plan?file=plan.toml", "/ledger", "/static/studio.js", "/?token=", "/?token=x"])
def test_without_token_or_cookie_everything_is_refused(studio, path):
    assert studio.ask(path, cookie=False)[0] == 403
    assert studio.ask(path, cookie=False, Cookie=f"{studio.cookie}x")[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:{port}"])
def test_a_foreign_host_is_refused_with_the_cookie_and_with_the_token(studio, host):
    named = host.format(port=studio.home.rpartition(":")[2])
    assert studio.ask("/", Host=named)[0] == 403
    assert studio.ask(f"/?token={studio.token}", cookie=False, Host=named)[0] == 403


def test_localhost_is_this_machine(studio):
    assert studio.ask("/", Host=f"localhost:{studio.home.rpartition(':')[2]}")[0] == 200


@pytest.mark.parametrize("path", ["/plan/new", "/plan/edit", "/release/confirm", "/assess", "/check"])
def test_a_form_of_another_site_is_refused(studio, path):
    form = {"source": "people.csv", "file": "new.toml", "text": "x", "act": "save", "understood": "on"}
    assert studio.ask(path, form=form)[0] == 403
    assert studio.ask(path, form=form, Origin="http://evil.example")[0] == 403
    assert studio.ask(path, form=form, Origin="null")[0] == 403
    assert studio.ask(path, form=form, Origin=studio.home)[0] == 403  # without the secret of the forms
    assert not (studio.folder / "new.toml").exists()


def test_pages_run_no_script_of_others_and_are_in_no_frame_of_others(studio):
    _, headers, _ = studio.ask("/")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "same-origin"


@pytest.mark.parametrize(
    "name", ["../plan.toml", "/etc/passwd", "r", "people.csv", ".hidden.toml", "", "sub/x.toml", "link.toml"]
)
def test_no_path_leads_out_of_the_folder(tmp_path, name):
    inside = tmp_path / "inside"
    (inside / "sub").mkdir(parents=True)
    (tmp_path / "outside.toml").write_text("secret", "utf-8")
    (inside / "link.toml").symlink_to(tmp_path / "outside.toml")
    with pytest.raises(ArgumentError):
        Folder(inside).file(name, ".toml")


def test_a_plan_outside_the_folder_is_not_shown(studio):
    (studio.folder.parent / "outside.toml").write_text("canary", "utf-8")
    for path in ("/plan", "/release"):
        assert "canary" not in studio.ask(f"{path}?file=../outside.toml")[2]
        assert "canary" not in studio.ask(f"{path}?file=..%2Foutside.toml")[2]


@pytest.mark.parametrize("source", ["../outside.csv", "sub/inside.csv", "link.csv"])
def test_a_plan_in_the_folder_reads_no_table_outside(studio, source):
    from tests.studio.conftest import PLAN

    table = "id,smoker\n1,yes\n2,no\n"
    (studio.folder.parent / "outside.csv").write_text(table, "utf-8")
    (studio.folder / "sub").mkdir(exist_ok=True)
    (studio.folder / "sub" / "inside.csv").write_text(table, "utf-8")
    if not (studio.folder / "link.csv").is_symlink():
        (studio.folder / "link.csv").symlink_to(studio.folder.parent / "outside.csv")
    (studio.folder / "elsewhere.toml").write_text(PLAN.replace("people.csv", source), "utf-8")
    for path in ("/plan", "/release"):
        page = studio.ask(f"{path}?file=elsewhere.toml")[2]
        assert "is not in this folder" in page
        assert "for 2 rows" not in page


def test_two_studios_and_a_taken_port(studio):
    from statpriv.studio.server import serve

    port = int(studio.home.rpartition(":")[2])
    with pytest.raises(ArgumentError, match=f"port = {port} cannot be used"):
        serve(Folder(studio.folder), port=port, registry=None, open_browser=False)
