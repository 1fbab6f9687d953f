"""Are reports whole or absent, and is nothing replaced that must stay?"""

from __future__ import annotations

import os
import stat

import pytest

from statpriv.errors import PublicationError
from statpriv.releasing import publication
from statpriv.releasing.publication import prepare, replace_file


def refused(paths, **options):
    with pytest.raises(PublicationError) as error:
        prepare(paths, **options)
    return str(error.value)


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_a_report_is_written_for_its_owner_alone(tmp_path):
    html, json = prepare([tmp_path / "r.html", tmp_path / "r.json"])
    assert names(tmp_path) == []
    html.publish(b"page")
    json.publish(b"{}")
    assert names(tmp_path) == ["r.html", "r.json"]
    assert html.path.read_bytes() == b"page"
    assert stat.S_IMODE(html.path.stat().st_mode) == 0o600


def test_an_existing_file_needs_force(tmp_path):
    path = tmp_path / "r.html"
    path.write_bytes(b"old")
    assert refused([path]) == f"out = {path}: it exists; choose another name or say --force"
    (destination,) = prepare([path], force=True)
    assert path.read_bytes() == b"old"
    destination.publish(b"new")
    assert path.read_bytes() == b"new"


def test_a_file_that_appeared_meanwhile_is_not_replaced(tmp_path):
    (destination,) = prepare([tmp_path / "r.html"])
    (tmp_path / "r.html").write_bytes(b"other")
    with pytest.raises(PublicationError, match="it exists; choose another name"):
        destination.publish(b"new")
    assert (tmp_path / "r.html").read_bytes() == b"other"
    assert names(tmp_path) == ["r.html"]


@pytest.mark.parametrize("force", [False, True])
def test_protected_files_are_known_by_what_they_are(tmp_path, force):
    data = tmp_path / "data.csv"
    data.write_bytes(b"a\n1\n")
    os.link(data, tmp_path / "hard.html")
    for path in (data, tmp_path / "hard.html", tmp_path / "." / "data.csv"):
        assert "are never overwritten; choose another name" in refused([path], force=force, protected=[data])
    assert data.read_bytes() == b"a\n1\n"


def test_a_protected_folder_protects_what_is_in_it_and_what_will_be(tmp_path):
    registry = tmp_path / "registry"
    (registry / "sub").mkdir(parents=True)
    for path in (registry / "key", registry / "sub" / "r.html"):
        assert "are never overwritten" in refused([path], protected=[registry])
    assert "are never overwritten" in refused([tmp_path / "not-yet"], protected=[tmp_path / "not-yet"])
    prepare([tmp_path / "r.html"], protected=[registry])


@pytest.mark.parametrize("force", [False, True])
def test_links_and_folders_are_not_replaced(tmp_path, force):
    link, dangling, folder = tmp_path / "link", tmp_path / "dangling", tmp_path / "folder"
    (tmp_path / "file").write_bytes(b"x")
    link.symlink_to("file")
    dangling.symlink_to("nowhere")
    folder.mkdir()
    assert refused([link], force=force) == f"out = {link}: it is a symbolic link; write to the file itself"
    assert "it is a symbolic link" in refused([dangling], force=force)
    assert "it exists and is not a regular file" in refused([folder], force=force)


def test_a_link_that_appeared_meanwhile_is_not_followed(tmp_path):
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    (destination,) = prepare([tmp_path / "r.html"], force=True)
    (tmp_path / "r.html").symlink_to(target)
    with pytest.raises(PublicationError, match="it is a symbolic link"):
        destination.publish(b"new")
    assert target.read_bytes() == b"precious"


def test_a_folder_reached_through_a_link_is_fine(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (destination,) = prepare([tmp_path / "link" / "r.html"])
    destination.publish(b"x")
    assert names(tmp_path / "real") == ["r.html"]


def test_the_folder_must_exist_and_take_files(tmp_path, monkeypatch):
    path = tmp_path / "none" / "r.html"
    assert refused([path]) == f"out = {path}: its folder does not exist; create it first"
    (tmp_path / "file").write_bytes(b"")
    assert refused([tmp_path / "file" / "r.html"]).startswith(f"out = {tmp_path / 'file' / 'r.html'}: ")
    assert "it has no file name" in refused([tmp_path / ".."])

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(publication.os, "open", full)
    assert "no file can be created in its folder (No space left on device)" in refused([tmp_path / "r.html"])


def test_a_folder_without_write_permission_is_refused(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("this user may write everywhere")
    assert "no file can be created in its folder" in refused([folder / "r.html"])


def test_a_name_that_no_file_can_have_is_refused_before_anything_is_spent(tmp_path):
    assert "it cannot be written" in refused([tmp_path / ("x" * 300)])


def test_two_files_need_two_names(tmp_path):
    message = refused([tmp_path / "r", tmp_path / "." / "r"])
    assert "two files of the report would have this name" in message


@pytest.mark.parametrize("failing", ["fsync", "write"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, failing):
    path = tmp_path / "r.html"
    path.write_bytes(b"old")

    def broken(*_):
        raise OSError(28, "No space left on device")

    if failing == "fsync":
        monkeypatch.setattr(publication.os, "fsync", broken)
    else:
        monkeypatch.setattr(publication.Path, "replace", broken)
    with pytest.raises(OSError, match="No space left"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["r.html"]


def test_content_and_folder_are_synced_around_the_rename(tmp_path, monkeypatch):
    steps = []
    real_sync, real_replace = os.fsync, publication.Path.replace

    def sync(descriptor):
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        real_sync(descriptor)

    def replace(self, target):
        steps.append("rename")
        return real_replace(self, target)

    monkeypatch.setattr(publication.os, "fsync", sync)
    monkeypatch.setattr(publication.Path, "replace", replace)
    replace_file(tmp_path / "r.html", b"x")
    assert steps == ["file", "rename", "folder"]
