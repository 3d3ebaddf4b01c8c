"""Entries hang together: each header names the MAC of the one before, and the head says how many there are."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from incrowd.errors import LedgerError
from incrowd.releases.ledger.marks import key_name, subkey
from incrowd.report.certificate import KEY_BYTES, kept_key

FIRST = "0" * 64
"""What the first entry names as the MAC of the one before."""

SOUND = "sound"


@dataclass(frozen=True)
class Link:
    """The header of an entry with its MAC."""

    header: Mapping[str, Any]
    mac: str

    @property
    def number(self) -> Any:
        """The number that the entry says it has."""
        return self.header.get("number")


@dataclass(frozen=True)
class Head:
    """How many entries there are, and the MAC of the last one; ``mac`` vouches for both."""

    entries: int
    last: str
    mac: str

    @classmethod
    def of(cls, entries: int, last: str, key: bytes) -> Head:
        """With its MAC."""
        return cls(entries, last, _mac(key, "head", {"entries": entries, "last": last}))

    def is_authentic(self, key: bytes) -> bool:
        """Whether it was made with the key."""
        return hmac.compare_digest(self.mac, Head.of(self.entries, self.last, key).mac)

    def to_json(self) -> dict[str, Any]:
        """As it stands in its file."""
        return asdict(self)


def plain(header: Mapping[str, Any]) -> bytes:
    """The bytes of a header.

    Examples
    --------
    >>> plain({"number": 0, "k": 5})
    b'{"k":5,"number":0}'
    """
    return json.dumps(header, sort_keys=True, separators=(",", ":")).encode("ascii")


def linked(header: Mapping[str, Any], number: int, before: str, key: bytes) -> Link:
    """The header as a link of the chain."""
    whole = {**header, "version": 2, "number": number, "before": before, "key": key_name(key)}
    return Link(whole, mac_of(whole, key))


def mac_of(header: Mapping[str, Any], key: bytes) -> str:
    """The MAC of a header."""
    return _mac(key, "chain", header)


def is_authentic(link: Link, key: bytes) -> bool:
    """Whether the header is as it was when its MAC was made with the key."""
    return hmac.compare_digest(mac_of(link.header, key).encode(), link.mac.encode())


def fault(links: Sequence[Link], head: Head | None, key: bytes) -> str:
    """What is wrong with a book; :data:`SOUND` if nothing is.

    Examples
    --------
    >>> key = bytes(32)
    >>> first = linked({"k": 5}, 0, FIRST, key)
    >>> fault([first], Head.of(1, first.mac, key), key)
    'sound'
    >>> fault([first], Head.of(2, "0f" * 32, key), key)
    'the last entries are gone'
    """
    before = FIRST
    for place, link in enumerate(links):
        if link.header.get("key") != key_name(key):
            return "another key"
        if not is_authentic(link, key):
            return f"entry {link.number} was altered"
        if link.header.get("before") != before or link.number != place:
            return f"an entry before number {link.number} is gone"
        before = link.mac
    if head is None:
        return "the head is gone" if links else SOUND
    if not head.is_authentic(key):
        return "the head was altered"
    return SOUND if (head.entries, head.last) == (len(links), before) else "the last entries are gone"


def is_one_behind(links: Sequence[Link], head: Head | None, key: bytes) -> bool:
    """Whether the last entry was written and the head not yet: the run was stopped between the two."""
    if len(links) == 1 and head is None:
        return fault(links, Head.of(1, links[-1].mac, key), key) == SOUND
    return bool(links) and head is not None and fault(links[:-1], head, key) == SOUND == _completed(links, key)


def _completed(links: Sequence[Link], key: bytes) -> str:
    return fault(links, Head.of(len(links), links[-1].mac, key), key)


def _mac(key: bytes, purpose: str, content: Mapping[str, Any]) -> str:
    return hmac.digest(subkey(key, purpose), plain(content), "sha256").hex()


# The key of a book: 32 bytes that only the owner can read. Who has it can test who is in the book.
KEY = "ledger.key"


def read_key(path: Path) -> bytes:
    """The key in a file; none is made."""
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        raise LedgerError(
            f"The key {path.name} of the ledger is not there, and without it nobody can be known again. Put it back "
            "from a copy, or set ledger-key to its place. If it is lost: incrowd ledger rekey."
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
