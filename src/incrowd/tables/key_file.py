"""The file of the key that makes pseudonyms and shifts dates: 32 random bytes or more, as hexadecimal digits.

The key stays with its holder. It is not in the recipe, the certificate, the report, the plan or the ledger, and before
anything appears those files are searched for it.
"""

from __future__ import annotations

import base64
import contextlib
import hmac
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

from incrowd.errors import FileFormatError, InputError, OutputError, VerificationError, named_option

_BYTES = 32
_LARGEST = 10_000  # bytes of a file: beyond, it is no key
_DIFFERENT = 16  # 32 random bytes have fewer different ones once in 10^14 keys


def make_key(path: Path) -> None:
    """Make a key in a new file that only its owner can read; an existing file is never touched."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise OutputError(
            f"The key file {path.name} exists, and a key is never replaced: without it nobody can tell what pseudonyms "
            f"stand for. To use it, leave {named_option(new_key=True)} out."
        ) from None
    except OSError as error:
        raise OutputError(f"The key file {path.name} cannot be made: {error.strerror}.") from None
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(secrets.token_hex(_BYTES) + "\n")
        file.flush()
        os.fsync(file.fileno())


def read_key(path: Path) -> bytes:
    """The key in a file that only its owner can read."""
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST)
    except FileNotFoundError:
        way = named_option(key_file=str(path), new_key=True)
        raise InputError(f"The key file {path.name} does not exist. To make a new key in it: {way}.") from None
    except OSError as error:
        raise InputError(f"The key file {path.name} cannot be read: {error.strerror}.") from None
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"The key file {path.name} can be read by others. Take that away: chmod 600 {path.name}")
    key = b""
    with contextlib.suppress(ValueError):
        key = bytes.fromhex(text.decode("ascii"))
    if len(key) < _BYTES or len(set(key)) < _DIFFERENT:
        raise FileFormatError(
            f"{path.name} holds no key: that is {2 * _BYTES} random hexadecimal digits or more. To make one in a new "
            f"file: {named_option(key_file='NEW FILE', new_key=True)}."
        )
    return key


def key_name(key: bytes) -> str:
    """What a key is called in certificates: it tells keys apart, and nothing about what they make.

    Examples
    --------
    >>> key_name(bytes(range(32)))
    'b7a248b26d37fe47'
    """
    return hmac.digest(key, b"incrowd key", "sha256").hex()[:16]


def check_absent(key: bytes, contents: Iterable[bytes]) -> None:
    """Raise if what is about to appear holds the key, in whatever common spelling."""
    digits, coded = key.hex().encode(), base64.b64encode(key).rstrip(b"=")
    spellings = (key, digits, digits.upper(), coded, coded.translate(bytes.maketrans(b"+/", b"-_")), repr(key).encode())
    if any(spelling in content for content in contents for spelling in spellings):
        raise VerificationError("What would appear holds the key of the pseudonyms. Nothing was published.")
