"""Signatures of certificates: Ed25519 (RFC 8032), with keys in files.

What is signed is the certificate without its ``signature``, as JSON with sorted names, no spaces and no escapes, in
UTF-8: :func:`signed_bytes`. The certificate holds the SHA-256 of the release, so the signature covers both.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd.errors import FileFormatError, IncrowdError, InputError, OutputError, ParameterError
from incrowd.optional import optional

ALGORITHM = "Ed25519"
PUBLIC = ".pub"
_PURPOSE = "Signing certificates"


def keys_folder() -> Path:
    """Where keys are kept that have a name and no path."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "incrowd" / "keys"


def key_path(key: str | Path) -> Path:
    """The file of a private key: a path, or a name in the folder of keys.

    Examples
    --------
    >>> key_path("folder/office.key").name, key_path("office").parent.name
    ('office.key', 'keys')
    """
    path = Path(key)
    named = path.name == str(key) and not path.suffix and not path.exists()
    return keys_folder() / f"{path.name}.key" if named else path


@dataclass(frozen=True)
class PublicKey:
    """A public key, by its 32 bytes."""

    raw: bytes

    @property
    def id(self) -> str:
        """What it is called in certificates: the first half of the SHA-256 of its bytes."""
        return hashlib.sha256(self.raw).hexdigest()[:32]

    @property
    def text(self) -> str:
        """Its bytes in base64."""
        return base64.b64encode(self.raw).decode()

    @classmethod
    def of(cls, private: Any) -> PublicKey:
        """The one that belongs to a private key."""
        return cls(private.public_key().public_bytes_raw())


def make_key(key: str | Path) -> tuple[Path, PublicKey]:
    """Make a pair of keys in two new files: the private one, for its owner alone, and beside it the public one.

    Gives where the private key is, and the public key, which is also in the file of that name and ``.pub``.
    """
    ed25519 = _ed25519()
    path, private = key_path(key), ed25519.Ed25519PrivateKey.generate()
    public = PublicKey.of(private)
    if path.parent == keys_folder():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _write_new(path, _private_text(private), 0o600)
    try:
        _write_new(public_path(path), f"{ALGORITHM} {public.text} {public.id}\n".encode(), 0o644)
    except IncrowdError:
        path.unlink()
        raise
    return path, public


def private_key(key: str | Path) -> Any:
    """Read a private key that only its owner can read."""
    _ed25519()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    path = key_path(key)
    data = _read(path, "incrowd keys make")
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"The private key {path.name} can be read by others. Take that away: chmod 600 {path.name}")
    with contextlib.suppress(ValueError, TypeError, UnsupportedAlgorithm):
        private = load_pem_private_key(data, password=None)
        if isinstance(private, Ed25519PrivateKey):
            return private
    raise FileFormatError(f"{path.name} is no private key of incrowd. Make one: incrowd keys make")


def public_key(key: str | Path) -> PublicKey:
    """Read a public key: a file of one, or a name in the folder of keys."""
    path = key_path(key)
    path = path if path.suffix == PUBLIC else public_path(path)
    words = _read(path, "the .pub file of who signs").decode("utf-8", "replace").split()
    with contextlib.suppress(binascii.Error, IndexError):
        raw = base64.b64decode(words[1], validate=True)
        if words[0] == ALGORITHM and len(raw) == 32:
            return PublicKey(raw)
    raise FileFormatError(f"{path.name} is no public key of incrowd. It is the file that ends in {PUBLIC}.")


def signed(certificate: Mapping[str, Any], key: str | Path) -> dict[str, Any]:
    """The certificate with its signature under a private key."""
    private = private_key(key)
    bare = {name: value for name, value in certificate.items() if name != "signature"}
    return bare | {"signature": _entry(PublicKey.of(private), private.sign(signed_bytes(bare)))}


def _entry(public: PublicKey, value: bytes) -> dict[str, str]:
    """A signature as it stands in a certificate."""
    text = base64.b64encode(value).decode()
    return {"algorithm": ALGORITHM, "key_id": public.id, "public_key": public.text, "value": text}


def is_signed_by(certificate: Mapping[str, Any], public: PublicKey) -> bool:
    """Whether the signature of a certificate is that of the owner of a key, over what the certificate says now.

    The public key that the certificate itself names must be this one, but it is not what is believed: anybody could
    have written it there.
    """
    ed25519 = _ed25519()
    from cryptography.exceptions import InvalidSignature

    try:
        value = base64.b64decode(certificate["signature"]["value"], validate=True)
        ed25519.Ed25519PublicKey.from_public_bytes(public.raw).verify(value, signed_bytes(certificate))
    except (InvalidSignature, binascii.Error, KeyError, TypeError, ValueError):
        return False
    return bool(certificate["signature"] == _entry(public, value))


def signed_bytes(certificate: Mapping[str, Any]) -> bytes:
    """What is signed of a certificate.

    Examples
    --------
    >>> signed_bytes({"b": [1, 0.5], "a": "ö", "signature": {"value": "x"}}).decode()
    '{"a":"ö","b":[1,0.5]}'
    """
    bare = {name: value for name, value in certificate.items() if name != "signature"}
    text = json.dumps(bare, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode()


def _ed25519() -> Any:
    optional("cryptography", _PURPOSE)
    from cryptography.hazmat.primitives.asymmetric import ed25519

    return ed25519


def _private_text(private: Any) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    text: bytes = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return text


def public_path(path: Path) -> Path:
    """Where the public key of a private one lies.

    Examples
    --------
    >>> public_path(Path("office.key")).name, public_path(Path("office")).name
    ('office.pub', 'office.pub')
    """
    return path.with_name(path.name + PUBLIC) if path.suffix != ".key" else path.with_suffix(PUBLIC)


def _write_new(path: Path, data: bytes, mode: int) -> None:
    """Write a file that does not exist yet."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise ParameterError(
            f"{path.name} exists already, and a key is never overwritten. Choose another name."
        ) from None
    except OSError as error:
        raise OutputError(f"{path.name} cannot be written: {error.strerror}.") from None
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _read(path: Path, instead: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"The key {path.name} cannot be read: {error.strerror}. Give {instead}.") from None
