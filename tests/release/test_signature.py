"""Reports signed with a key of the agency; changed bytes, other keys and keys that others can read are refused."""

from __future__ import annotations

import json
import sys

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from statpriv.releasing.signature import SigningKey

from ..command_line import in_this_process
from .conftest import query

pytestmark = pytest.mark.usefixtures("computed_once")


def pem(private, protection=None):
    return private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, protection or NoEncryption())


def written(path, content, mode=0o600):
    path.write_bytes(content)
    path.chmod(mode)
    return path


@pytest.fixture
def agency(workshop):
    """A workshop with a table, a plan, and the two keys of an agency."""
    private = Ed25519PrivateKey.generate()
    workshop.private = written(workshop.folder / "agency.pem", pem(private))
    public = private.public_key()
    public_pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    workshop.public = written(workshop.folder / "agency.pub.pem", public_pem, 0o644)
    workshop.signer = public.public_bytes_raw().hex()
    workshop.table(["id", "vote"], [[f"p{i}", i % 2] for i in range(60)])
    workshop.plan(query("vote = 0", rows=20), more_data='row_id = "id"')
    return workshop


def command(*arguments):
    """Run a command in this process: exit code, and all that it says."""
    result = in_this_process(*arguments)
    return result.exit_code, result.output


def release(agency, *more, key=None):
    outputs = ("--out", agency.page, "--json", agency.json, "--registry", agency.registry)
    return command("release", agency.folder / "plan.toml", *outputs, "--sign", key or agency.private, *more)


def verify(agency, key=None):
    return command("verify", agency.json, "--public-key", key or agency.public)


def test_a_signed_report_verifies_and_its_page_names_the_key(agency):
    assert release(agency)[0] == 0
    signature = agency.json.with_name("report.json.sig")
    assert len(signature.read_bytes()) == 64
    assert agency.report["signer"] == agency.signer
    assert agency.signer in agency.page.read_text(encoding="utf-8")
    assert verify(agency)[0] == 0
    key = SigningKey.load(agency.private)
    assert key.sign(agency.json.read_bytes()) == signature.read_bytes()
    assert command("compose", agency.json)[0] == 0


def test_a_dry_run_can_be_signed(agency):
    assert release(agency, "--dry-run")[0] == 0
    assert verify(agency)[0] == 0


@pytest.mark.parametrize(
    ("forge", "told"),
    [
        (lambda text: text.replace('"dry_run": false', '"dry_run":  false'), "the report was changed, or is signed"),
        (lambda text: text + "\n", "the report was changed, or is signed with another key"),
    ],
)
def test_changed_bytes_are_refused_even_where_they_mean_the_same(agency, forge, told):
    release(agency)
    agency.json.write_text(forge(agency.json.read_text(encoding="utf-8")), encoding="utf-8")
    code, output = verify(agency)
    assert code == 2
    assert told in output


def test_another_signature_and_another_signer_are_refused(agency):
    release(agency)
    signature = agency.json.with_name("report.json.sig")
    other = Ed25519PrivateKey.generate()
    signature.write_bytes(other.sign(agency.json.read_bytes()))
    assert verify(agency)[0] == 2
    # The agency's key signs a report that names another key, or none.
    key = SigningKey.load(agency.private)
    for signer in ("0" * 64, None):
        report = {name: value for name, value in agency.report.items() if name != "signer"}
        agency.json.write_text(json.dumps(report if signer is None else report | {"signer": signer}))
        signature.write_bytes(key.sign(agency.json.read_bytes()))
        code, output = verify(agency)
        assert code == 2
        assert "names another key as its signer" in output
    signature.unlink()
    assert "report.json.sig: it cannot be read (No such file or directory)" in verify(agency)[1]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o700 | 0o010])
def test_a_private_key_that_others_can_read_is_refused_and_nothing_is_spent(agency, mode):
    agency.private.chmod(mode)
    code, output = release(agency)
    assert code == 2
    assert f"others than its owner can read or change this private key (mode {mode:04o}); chmod 600 it" in output
    assert agency.spent() == []
    assert not agency.json.exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "it holds no private ed25519 key in PEM"),
        (b"-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n", "it holds no private ed25519 key in PEM"),
        (pem(X25519PrivateKey.generate()), "it holds no private ed25519 key in PEM; openssl genpkey"),
        (pem(Ed25519PrivateKey.generate(), BestAvailableEncryption(b"x")), "the key has a password, which no release"),
        (b"#" * 2**17, "it has more than 65536 bytes, and is no key"),
    ],
    ids=["empty", "broken", "of another kind", "with a password", "huge"],
)
def test_what_is_no_key_is_refused_before_anything_is_spent(agency, content, told):
    written(agency.private, content)
    code, output = release(agency)
    assert code == 2
    assert told in output
    assert "secret" not in output
    assert agency.spent() == []


def test_the_private_key_is_in_no_output_and_no_file_of_the_registry(agency):
    release(agency)
    secret = agency.private.read_bytes().splitlines()[1]
    key = SigningKey.load(agency.private)
    raw = key._private.private_bytes_raw()
    for path in (*agency.folder.glob("report*"), *agency.registry.iterdir()):
        content = path.read_bytes()
        assert not any(kind in content for kind in (secret, raw, raw.hex().encode()))
    assert "Private" not in repr(key)


def test_the_key_and_the_signature_are_protected_as_outputs_are(agency):
    before = agency.private.read_bytes()
    code, output = command(
        "release", agency.folder / "plan.toml", "--out", agency.page, "--json", agency.private, "--force",
        "--registry", agency.registry, "--sign", agency.private,
    )  # fmt: skip
    assert code == 2
    assert "are never overwritten" in output
    assert agency.private.read_bytes() == before
    agency.json.with_name("report.json.sig").write_bytes(b"kept")
    code, output = release(agency)
    assert code == 2
    assert "report.json.sig: it exists" in output
    assert agency.spent() == []


def test_without_cryptography_the_extra_is_named_before_anything_is_spent(agency, monkeypatch):
    release(agency)
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.serialization", None)
    for code, output in (release(agency, "--force"), verify(agency)):
        assert code == 2
        assert "signatures of reports need cryptography: pip install 'statpriv[sign]'" in " ".join(output.split())
    assert agency.spent() == [20]


def test_signing_needs_the_json_report(agency):
    code, output = command("release", agency.folder / "plan.toml", "--out", agency.page, "--sign", agency.private)
    assert code == 2
    assert "the JSON report is what --sign signs" in " ".join(output.split())
