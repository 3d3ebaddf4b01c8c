"""An entry: what a release was, who is in it, and in which group each of them is shown.

Entries hang together: each header names the MAC of the one before, and the head says how many there are.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import LedgerError
from incrowd.releases.ledger.marks import MARK_BYTES, Marks, from_bytes, key_name, subkey, to_binary, to_bytes
from incrowd.report.certificate import KEY_BYTES, kept_key

FIRST = "0" * 64
"""What the first entry names as the MAC of the one before."""

SOUND = "sound"


@dataclass(frozen=True)
class ChainLink:
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


def linked(header: Mapping[str, Any], number: int, before: str, key: bytes) -> ChainLink:
    """The header as a link of the chain."""
    whole = {**header, "version": 2, "number": number, "before": before, "key": key_name(key)}
    return ChainLink(whole, mac_of(whole, key))


def mac_of(header: Mapping[str, Any], key: bytes) -> str:
    """The MAC of a header."""
    return _mac(key, "chain", header)


def is_authentic(link: ChainLink, key: bytes) -> bool:
    """Whether the header is as it was when its MAC was made with the key."""
    return hmac.compare_digest(mac_of(link.header, key).encode(), link.mac.encode())


def fault(links: Sequence[ChainLink], head: Head | None, key: bytes) -> str:
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


def is_one_behind(links: Sequence[ChainLink], head: Head | None, key: bytes) -> bool:
    """Whether the last entry was written and the head not yet: the run was stopped between the two."""
    if len(links) == 1 and head is None:
        return fault(links, Head.of(1, links[-1].mac, key), key) == SOUND
    if not links or head is None or fault(links[:-1], head, key) != SOUND:
        return False
    return fault(links, Head.of(len(links), links[-1].mac, key), key) == SOUND


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


RELEASE, WITHDRAWN, BOUND = "release", "withdrawn", "version 1"
KINDS = (RELEASE, WITHDRAWN, BOUND)
_NAMES = ("quasi_identifiers", "unchanged", "identifiers")
_TEXTS = ("kind", "made", "sha256", "requirement", "incrowd", "request", "secret", "was")
_KEYS = {"request": "asked", "vouched": "said"}  # fields that have another name in the header: books of old keep theirs


@dataclass(frozen=True)
class LedgerEntry:
    """The header of an entry, beside its place in the chain."""

    kind: str  # a release; the word that one never went out; or the files of a book of version 1, which are bound by it
    # when, the hash of the release's bytes, what it promises, and by which version
    made: str = ""
    sha256: str = ""
    requirement: str = ""
    incrowd: str = ""
    # the digest of what decides the groups, and the secret they were drawn from
    request: str = ""
    secret: str = ""
    # the smallest group that it promises; None if it promises more than sizes of groups, or sizes by several sets
    k: int | None = None
    # the columns that it shows by groups, those that it shows as they are, and those that number persons
    quasi_identifiers: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    people: int = 0  # rows of its table
    groups: bool = True  # whether it is known who is in which group
    vouched: tuple[Mapping[str, Any], ...] = ()  # what somebody vouched for: entries that are about other people
    withdraws: int | None = None  # the number of the entry that never went out
    files: Mapping[str, str] = field(default_factory=dict)  # the files of version 1 with their SHA-256
    upgrades: str | None = None  # the file of version 1 that this entry stands for
    was: str = ""  # the MAC of the entry that was marked again, or entered again

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise LedgerError("its kind is not known")
        if self.k is not None and (type(self.k) is not int or self.k < 1):
            raise LedgerError("its k is not a whole number of at least 1")
        if type(self.people) is not int or self.people < 0:
            raise LedgerError("its number of people is not a whole number")
        if not isinstance(self.withdraws, int | None) or not isinstance(self.files, Mapping):
            raise LedgerError("it lacks a field, or has one of another kind")
        for name in _TEXTS:
            if not isinstance(getattr(self, name), str):
                raise LedgerError(f"its {name} is not text")
        for name in _NAMES:
            if not all(isinstance(one, str) for one in getattr(self, name)):
                raise LedgerError(f"its {name} are not names")

    def to_json(self) -> dict[str, Any]:
        """What stands in the header."""
        values = asdict(self).items()
        return {_KEYS.get(name, name): list(value) if isinstance(value, tuple) else value for name, value in values}


@dataclass(frozen=True, eq=False)
class MarkedPeople:
    """Who is in an entry."""

    persons: tuple[Marks, ...]  # marks of each column that numbers persons
    rows: Marks  # marks of the quasi-identifiers
    classes: npt.NDArray[np.int32]  # the number of the group of each person; -1 if left out, or not known
    alike: Mapping[str, Marks] = field(default_factory=dict)  # for each quasi-identifier marks of some rows without it
    values: Mapping[str, Marks] = field(default_factory=dict)  # for each quasi-identifier marks of some of its values
    owners: Marks | None = None  # the mark of the person of each row, where a person may have several

    def to_bytes(self) -> bytes:
        """The payload of an entry: people in the order of their marks, so that the order of rows is not in it."""
        import pyarrow as pa

        first = self.persons[0] if self.persons else self.rows
        order = np.lexsort((self.classes, first[:, 1], first[:, 0]))
        columns = {f"person{place}": to_binary(marks[order]) for place, marks in enumerate(self.persons)}
        columns |= {"row": to_binary(self.rows[order]), "class": pa.array(self.classes[order])}
        if self.owners is not None:
            columns["owner"] = to_binary(self.owners[order])
        known = {
            f"{what} {name}".encode(): to_bytes(marks) for what, each in self._some for name, marks in each.items()
        }
        table = pa.table(columns).replace_schema_metadata(known)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        payload: bytes = sink.getvalue().to_pybytes()
        return payload

    @property
    def _some(self) -> tuple[tuple[str, Mapping[str, Marks]], ...]:
        return ("alike", self.alike), ("values", self.values)

    @classmethod
    def from_bytes(cls, payload: bytes) -> MarkedPeople:
        """What :meth:`to_bytes` wrote; its hash is checked before."""
        import pyarrow as pa

        try:
            table = pa.ipc.open_file(payload).read_all().combine_chunks()
            table.validate(full=True)
            return cls._of_table(table)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, pa.ArrowException):
            raise LedgerError("who is in an entry of the ledger cannot be read") from None

    @classmethod
    def _of_table(cls, table: Any) -> MarkedPeople:
        persons = [name for name in table.column_names if name.startswith("person")]
        known = {key.decode(): from_bytes(value) for key, value in (table.schema.metadata or {}).items()}
        some = {
            what: {name.removeprefix(f"{what} "): marks for name, marks in known.items() if name.startswith(f"{what} ")}
            for what in ("alike", "values")
        }
        owners = _marks(table["owner"]) if "owner" in table.column_names else None
        return cls(
            tuple(_marks(table[name]) for name in persons),
            _marks(table["row"]),
            table["class"].to_numpy(),
            **some,
            owners=owners,
        )


@dataclass(frozen=True, eq=False)
class Recorded:
    """An entry of the book; ``load`` reads who is in it, which may be many: they are not kept in memory."""

    entry: LedgerEntry
    link: ChainLink
    load: Callable[[], MarkedPeople | None]

    @property
    def people(self) -> MarkedPeople | None:
        """Who is in it; nobody if it is no release."""
        return self.load()

    @property
    def number(self) -> int:
        """Its number."""
        return int(self.link.number)


def entry_of(header: Mapping[str, Any]) -> LedgerEntry:
    """The entry that a header describes; what the chain needs is passed over."""
    known = {_KEYS.get(one.name, one.name): one.name for one in fields(LedgerEntry)}
    values: dict[str, Any] = {
        known[key]: tuple(value) if isinstance(value, list) else value for key, value in header.items() if key in known
    }
    try:
        return LedgerEntry(**values)
    except TypeError:
        raise LedgerError("it lacks a field, or has one of another kind") from None


def payload_hash(payload: bytes) -> str:
    """The SHA-256 of a payload, as headers name it."""
    return hashlib.sha256(payload).hexdigest()


def _marks(column: Any) -> Marks:
    array = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    array = array.chunk(0) if hasattr(array, "chunk") else array
    start = array.offset * MARK_BYTES
    return from_bytes(array.buffers()[1].to_pybytes()[start : start + len(array) * MARK_BYTES])
