"""Are reports whole or absent, and is nothing replaced that must stay?"""

from __future__ import annotations

import errno
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


# --- places


def abandoned(folder, content=b"half a report"):
    """The temporary file of a process that was killed: nobody has it locked."""
    left = folder / ".statpriv-0123456789abcdef.tmp"
    left.write_bytes(content)
    return left


def test_a_place_has_one_holder(tmp_path):
    (destination,) = prepare([tmp_path / "r.html"])
    with destination.reserved() as place:
        assert len(names(tmp_path)) == 1
        with pytest.raises(PublicationError, match=r"another release is writing it; choose another name, or wait"):
            destination.publish(b"second")
        (other,) = prepare([tmp_path / "s.html"])
        other.publish(b"other")
        place.publish(b"first")
    assert names(tmp_path) == ["r.html", "s.html"]
    assert (tmp_path / "r.html").read_bytes() == b"first"


def test_a_place_that_is_not_used_is_given_back(tmp_path):
    (destination,) = prepare([tmp_path / "r.html"])
    with destination.reserved() as place:
        place.hold(10_000)
    assert names(tmp_path) == []
    destination.publish(b"x")


def test_what_is_held_is_not_part_of_the_file(tmp_path):
    for size in (3, 20_000):
        (destination,) = prepare([tmp_path / f"{size}.html"])
        with destination.reserved() as place:
            place.hold(5_000)
            assert sum(path.stat().st_size for path in tmp_path.glob("*.tmp")) == 5_000
            place.publish(b"x" * size)
        assert destination.path.read_bytes() == b"x" * size
        assert stat.S_IMODE(destination.path.stat().st_mode) == 0o600


def test_the_place_of_a_killed_process_is_taken_over(tmp_path):
    child = os.fork()
    if child == 0:
        try:
            with prepare([tmp_path / "r.html"])[0].reserved() as place:
                place.hold(1000)
                os._exit(7)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert len(names(tmp_path)) == 1
    prepare([tmp_path / "r.html"])[0].publish(b"x")
    assert names(tmp_path) == ["r.html"]


def test_only_abandoned_temporary_files_are_removed(tmp_path):
    left = abandoned(tmp_path)
    kept = [".statpriv-0123456789abcdef.txt", ".statpriv-0123.tmp", "x.tmp", ".statpriv-0123456789ABCDEF.tmp"]
    for name in kept:
        (tmp_path / name).write_text("mine")
    (tmp_path / ".statpriv-1111111111111111.tmp").mkdir()
    (tmp_path / ".statpriv-2222222222222222.tmp").symlink_to(tmp_path / "x.tmp")
    with prepare([tmp_path / "held"])[0].reserved():
        (held,) = {path.name for path in tmp_path.glob("*.tmp") if path.is_file() and not path.stat().st_size}
        prepare([tmp_path / "r.html"])[0].publish(b"x")
        assert not left.exists()
        links = [".statpriv-1111111111111111.tmp", ".statpriv-2222222222222222.tmp"]
        assert set(names(tmp_path)) == {*kept, *links, held, "r.html"}


def test_a_process_killed_between_two_names_loses_no_report(tmp_path, monkeypatch):
    """The whole report then has its name and a temporary one, which goes without the content."""
    (destination,) = prepare([tmp_path / "r.html"])
    place = destination.reserved()
    with monkeypatch.context() as patch:
        patch.setattr(publication.Path, "unlink", lambda *_, **__: None)
        with place as held:
            held.publish(b"whole")
    assert len(names(tmp_path)) == 2
    prepare([tmp_path / "s.html"])[0].publish(b"x")
    assert names(tmp_path) == ["r.html", "s.html"]
    assert (tmp_path / "r.html").read_bytes() == b"whole"


@pytest.mark.parametrize("force", [False, True])
def test_what_appears_in_the_last_moment_is_replaced_only_by_force(tmp_path, monkeypatch, force):
    """After every check, so that only the renaming itself can notice it."""
    (destination,) = prepare([tmp_path / "r.html"], force=force)
    fsync = os.fsync

    def overtaken(descriptor):
        (tmp_path / "r.html").write_bytes(b"other")
        fsync(descriptor)

    with destination.reserved() as place:
        monkeypatch.setattr(publication.os, "fsync", overtaken)
        if force:
            monkeypatch.setattr(publication, "sync_folder", lambda _: None)
            place.publish(b"new")
        else:
            with pytest.raises(PublicationError, match="it exists; choose another name or say --force"):
                place.publish(b"new")
    assert (tmp_path / "r.html").read_bytes() == (b"new" if force else b"other")
    assert names(tmp_path) == ["r.html"]


@pytest.mark.parametrize("overtaken", [False, True])
def test_a_file_system_without_hard_links(tmp_path, monkeypatch, overtaken):
    (destination,) = prepare([tmp_path / "r.html"])

    def refuse(*_, **__):
        if overtaken:
            (tmp_path / "r.html").write_bytes(b"other")
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(publication.os, "link", refuse)
    if overtaken:
        with pytest.raises(PublicationError, match="it exists"):
            destination.publish(b"new")
    else:
        destination.publish(b"new")
    assert (tmp_path / "r.html").read_bytes() == (b"other" if overtaken else b"new")
    assert names(tmp_path) == ["r.html"]


def test_a_file_system_without_locks_still_has_one_holder(tmp_path, monkeypatch):
    """There nobody can tell whether the holder still lives, so that its file has to be removed by hand."""

    def refuse(_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(publication, "try_lock", refuse)
    (destination,) = prepare([tmp_path / "r.html"])
    with destination.reserved() as place:
        (held,) = names(tmp_path)
        with pytest.raises(PublicationError, match=f"remove {held} beside it"):
            destination.publish(b"second")
        place.publish(b"first")
    assert names(tmp_path) == ["r.html"]


@pytest.mark.parametrize("number", [errno.EIO, errno.EINVAL])
def test_a_folder_that_cannot_be_synced_is_refused_before_anything_depends_on_it(tmp_path, monkeypatch, number):
    (destination,) = prepare([tmp_path / "r.html"])
    sync = os.fsync

    def refuse(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))
        sync(descriptor)

    monkeypatch.setattr(publication.os, "fsync", refuse)
    with pytest.raises(PublicationError, match="or keeps no file durably"), destination.reserved():
        pytest.fail("nothing may depend on this folder")
    assert names(tmp_path) == []


def test_a_report_whose_name_may_not_last_is_withdrawn(tmp_path, monkeypatch):
    (destination,) = prepare([tmp_path / "r.html"])

    def refuse(_):
        raise OSError(errno.EIO, "Input/output error")

    with destination.reserved() as place:
        monkeypatch.setattr(publication, "sync_folder", refuse)
        with pytest.raises(PublicationError, match="it cannot be written"):
            place.publish(b"new")
    assert names(tmp_path) == []


def test_standard_output_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refused([publication.Path("-")]).startswith("out = -: a report is a file")
    prepare([tmp_path / "-"])
