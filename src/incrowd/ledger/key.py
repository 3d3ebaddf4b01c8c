"""The key of a book: 32 bytes that only the owner can read. Who has it can test who is in the book."""

from __future__ import annotations

from pathlib import Path

from incrowd.errors import LedgerError
from incrowd.report.certificate import KEY_BYTES, kept_key

KEY = "ledger.key"


def read_key(path: Path) -> bytes:
    """The key in a file; none is made."""
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        raise LedgerError(
            f"The key {path.name} of the ledger is not there, and without it nobody can be known again. Put it back "
            "from a copy, or say ledger-key where it is. If it is lost: incrowd ledger rekey."
        ) from None
    except OSError as error:
        raise LedgerError(f"The key {path.name} of the ledger cannot be read: {error.strerror}.") from None
    if len(key) != KEY_BYTES:
        raise LedgerError(
            f"The key {path.name} of the ledger is damaged. Put it back from a copy. If it is lost: incrowd ledger "
            "rekey."
        )
    return key


def make_key(path: Path) -> bytes:
    """A new key in a file that only its owner can read; never over an old one."""
    if path.exists():
        raise LedgerError(
            f"The key {path.name} exists, but the ledger has no entries and no head: they are gone. Put them back from "
            "a copy. For a new ledger name a new folder, and no key or a new one."
        )
    return kept_key(path)
