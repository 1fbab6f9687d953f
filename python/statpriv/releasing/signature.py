"""Signatures of reports with a key of the agency: ed25519, of the bytes of the JSON file, in a file beside it.

The signature is detached. It covers the file as it is, so that no canonical form is needed, and with the digest in it
also the page. `openssl` checks it without this library. A report can name the public key, but cannot hold a signature
of itself.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from statpriv import budget
from statpriv.errors import MissingExtraError, PublicationError

__all__ = ["SigningKey", "require_signature", "signature_beside"]

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class SigningKey:
    """A private key. No report, ledger, message or representation holds more of it than its public key.

    Attributes
    ----------
    path
        Its file, which no output replaces.
    public
        The 32 bytes of the public key, in hexadecimal.
    """

    path: Path
    public: str
    _private: Any = field(repr=False, compare=False)

    @classmethod
    def load(cls, path: Path) -> SigningKey:
        """Read a private key, PEM without a password.

        Raises
        ------
        PublicationError
            If the file cannot be read, can be read by others, or holds no such key.
        MissingExtraError
            If cryptography is not installed.
        """
        serialization, ed25519, _ = _cryptography()
        content = _read(path, "sign", secret=True)
        try:
            key = serialization.load_pem_private_key(content, password=None)
        except TypeError:
            raise PublicationError(
                f"sign = {path}: the key has a password, which no release asks for; give a copy without one to its "
                "owner only (chmod 600)"
            ) from None
        except ValueError:
            key = None
        if not isinstance(key, ed25519.Ed25519PrivateKey):
            raise PublicationError(
                f"sign = {path}: it holds no private ed25519 key in PEM; openssl genpkey -algorithm ed25519 makes one"
            )
        return cls(path, _raw(key.public_key()), key)

    def sign(self, content: bytes) -> bytes:
        """The signature: 64 bytes."""
        return bytes(self._private.sign(content))


def signature_beside(report: Path) -> Path:
    """The path of the signature of a report."""
    return report.with_name(f"{report.name}.sig")


def require_signature(content: bytes, report: Path, signer: object, public_key: Path) -> None:
    """Refuse a report that was not signed with the private key that belongs to this public key.

    Parameters
    ----------
    content, report
        The bytes of the JSON report, and its path, beside which the signature is.
    signer
        The public key that the report names.
    public_key
        The file of the agency's public key, PEM, from a source that is trusted.

    Raises
    ------
    PublicationError
        If a file cannot be read, the signature is that of other bytes or of another key, or the report names another
        key.
    MissingExtraError
        If cryptography is not installed.
    """
    serialization, ed25519, invalid = _cryptography()
    try:
        key = serialization.load_pem_public_key(_read(public_key, "public-key"))
    except ValueError:
        key = None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise PublicationError(
            f"public-key = {public_key}: it holds no public ed25519 key in PEM; openssl pkey -in KEY -pubout makes one"
        )
    signature = signature_beside(report)
    try:
        key.verify(_read(signature, "signature"), content)
    except invalid:
        raise PublicationError(
            f"{signature} is no signature of {report} with the key of {public_key}: the report was changed, or is "
            "signed with another key"
        ) from None
    if signer != _raw(key):
        raise PublicationError(f"{report} names another key as its signer than {public_key}, or none")


def _raw(key: Any) -> str:  # noqa: ANN401  (a type of an optional package)
    return bytes(key.public_bytes_raw()).hex()


def _read(path: Path, argument: str, *, secret: bool = False) -> bytes:
    """The content of a small file. What is a secret must be readable by its owner only."""
    try:
        descriptor = os.open(path, _OPEN)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise PublicationError(f"{argument} = {path}: it is no regular file")
            if secret and os.name == "posix" and status.st_mode & _OTHERS:
                raise PublicationError(
                    f"{argument} = {path}: others than its owner can read or change this private key (mode "
                    f"{stat.S_IMODE(status.st_mode):04o}); chmod 600 it, or make another if they did"
                )
            content = file.read(int(budget.MAX_KEY_BYTES) + 1)
    except OSError as error:
        raise PublicationError(f"{argument} = {path}: it cannot be read ({error.strerror})") from None
    if len(content) > budget.MAX_KEY_BYTES:
        raise PublicationError(f"{argument} = {path}: it has more than {budget.MAX_KEY_BYTES} bytes, and is no key")
    return content


def _cryptography() -> tuple[Any, Any, type[Exception]]:
    """The modules for keys and for ed25519, and the error of a wrong signature."""
    try:
        serialization = import_module("cryptography.hazmat.primitives.serialization")
        ed25519 = import_module("cryptography.hazmat.primitives.asymmetric.ed25519")
        invalid = import_module("cryptography.exceptions").InvalidSignature
    except ImportError:
        raise MissingExtraError("signatures of reports need cryptography: pip install 'statpriv[sign]'") from None
    return serialization, ed25519, invalid
