"""The book on disk: a folder with its key, its head, and a file for every entry.

The file of an entry is called by its number and made if it is not there, never replaced: a line with the header, a line
with its MAC, and the payload. Nothing is ever removed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import LedgerError, OutputError
from incrowd.releases.ledger.entry import (
    BOUND,
    FIRST,
    KEY,
    RELEASE,
    SOUND,
    WITHDRAWN,
    ChainLink,
    Head,
    LedgerEntry,
    MarkedPeople,
    Recorded,
    entry_of,
    fault,
    is_authentic,
    is_one_behind,
    linked,
    make_key,
    payload_hash,
    plain,
    read_key,
)
from incrowd.releases.ledger.marks import key_name
from incrowd.tables.publishing.staging import flush, private_folder, staged

OLD_ENDING = ".entry.parquet"
# Books of version 1 knew tables, not people: a mark of all cells in their order, and a class for every row.
_METADATA = b"incrowd.releases.ledger"


@dataclass(frozen=True, eq=False)
class Old:
    """An entry of version 1: its header as it stands there, and the class of every row of the table."""

    header: Mapping[str, Any]
    classes: npt.NDArray[np.int32]


def files_of(folder: Path) -> dict[str, str]:
    """The files of version 1 in a folder, and their SHA-256; one that cannot be read has none."""
    digests = {}
    for file in sorted(folder.glob(f"*{OLD_ENDING}")):
        digests[file.name] = ""
        with contextlib.suppress(OSError):
            digests[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    return digests


def read_old(file: Path) -> Old:
    """An entry of version 1."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(file)
        header = json.loads((table.schema.metadata or {})[_METADATA])
        if header.pop("incrowd_ledger") != 1 or table.schema.field("class").type != pa.int32():
            raise ValueError
        bytes.fromhex(header["key"])
        classes = table["class"].fill_null(-1).to_numpy()
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, pa.ArrowException):
        raise LedgerError(f"{file.name} in the ledger is damaged, or incrowd did not write it.") from None
    return Old(header, classes)


def table_mark(frame: pl.DataFrame, key: bytes) -> str:
    """By what version 1 knew a table again: a keyed hash of its names and cells as text, in their order."""
    digest = hmac.new(key, digestmod="sha256")
    digest.update(json.dumps([frame.height, frame.columns]).encode())
    for column in frame.iter_columns():
        cells = column.cast(pl.String)
        digest.update(cells.str.len_bytes().cast(pl.Int64).fill_null(-1).to_numpy().tobytes())
        digest.update((cells.str.join("").item() or "").encode())
    return digest.hexdigest()


ENDING, HEAD, LOCK = ".entry", "head.json", "ledger"


@dataclass(frozen=True, eq=False)
class PreparedEntry:
    """An entry that can be written: its place in the chain, and its payload."""

    link: ChainLink
    payload: bytes


@dataclass(frozen=True, eq=False)
class Ledger:
    """The book, open for one run; the key is the secret of its marks and of its chain."""

    folder: Path
    key: bytes

    @property
    def fault(self) -> str:
        """What is wrong with the book, in words; ``sound`` if nothing is."""
        links = [link for link, _ in self._files]
        broken = fault(links, read_head(self.folder), self.key)
        if broken != SOUND:
            return broken
        for link, digest in self._files:
            if digest != link.header.get("payload"):
                return f"entry {link.number} was altered"
        for link in links:
            try:
                entry_of(link.header)
            except LedgerError as error:
                return f"entry {link.number} cannot be read: {error}"
        return self._old_fault(links)

    def _old_fault(self, links: list[ChainLink]) -> str:
        """What is wrong with the files of version 1."""
        bound = {name: digest for link in links for name, digest in entry_of(link.header).files.items()}
        there = files_of(self.folder)
        for name in bound:
            if there.get(name) != bound[name]:
                return f"{name} {'was altered' if name in there else 'is gone'}"
        unbound = sorted(set(there) - set(bound))
        return f"{unbound[0]} is not bound by an entry" if unbound else SOUND

    @cached_property
    def _files(self) -> list[tuple[ChainLink, str]]:
        """Header and hash of the payload of each file, in the order of their names."""
        files = (read_entry(file, self.key) for file in entry_files(self.folder))
        return [(link, payload_hash(payload)) for link, payload in files]

    def read(self) -> list[Recorded]:
        """The entries that can be read, in their order, whatever is wrong with others."""
        entries = []
        for link, digest in self._files:
            with contextlib.suppress(LedgerError):
                sound = type(link.number) is int and digest == link.header.get("payload")
                if sound and is_authentic(link, self.key):
                    entries.append(Recorded(entry_of(link.header), link, functools.partial(self._people, link)))
        return entries

    def _people(self, link: ChainLink) -> MarkedPeople | None:
        """Who is in an entry, read from its file once more."""
        again, payload = read_entry(self.folder / f"{link.number:06d}{ENDING}", self.key)
        if again != link or payload_hash(payload) != link.header["payload"]:
            raise LedgerError(f"Entry {link.number} of the ledger changed while it was read.")
        return MarkedPeople.from_bytes(payload) if payload else None

    def releases(self) -> list[Recorded]:
        """The entries of releases that went out."""
        entries = self.read()
        gone = {one.entry.withdraws for one in entries if one.entry.kind == WITHDRAWN}
        return [one for one in entries if one.entry.kind == RELEASE and one.number not in gone]

    def prepared(self, entry: LedgerEntry, people: MarkedPeople | None = None) -> PreparedEntry:
        """The entry as it would be written now."""
        payload = b"" if people is None else people.to_bytes()
        header = {**entry.to_json(), "payload": payload_hash(payload)}
        return PreparedEntry(linked(header, *self._next(), self.key), payload)

    def add(self, prepared: PreparedEntry) -> ChainLink:
        """Write an entry and then the head; raises if another run was first."""
        link, number = prepared.link, int(prepared.link.number)
        try:
            _write_new(self.folder / f"{number:06d}{ENDING}", _plain(link) + prepared.payload)
            write_head(self.folder, Head.of(number + 1, link.mac, self.key))
        except FileExistsError:
            raise OutputError(
                f"Another run has written entry {number} of the ledger meanwhile. Run this again: it is counted anew."
            ) from None
        except OSError as error:
            raise OutputError(f"The ledger {self.folder.name} cannot be written: {error.strerror}.") from None
        self._files.append((link, payload_hash(prepared.payload)))
        return link

    def _next(self) -> tuple[int, str]:
        """The number of the next entry and the MAC before it; a gap at the end stays one."""
        head, links = read_head(self.folder), [link for link, _ in self._files]
        last = max((link.number for link in links if type(link.number) is int), default=-1)
        if head is not None and head.entries > last + 1:
            return head.entries, head.last
        return last + 1, links[-1].mac if links else FIRST


@contextlib.contextmanager
def open_ledger(folder: Path, key: Path | None = None) -> Iterator[Ledger]:
    """Open the book, or begin a new one; one run at a time. ``key`` is its file, where it is not in the book."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        files = [file.name for file in folder.iterdir() if not file.name.startswith(".")]
    except FileNotFoundError:
        raise OutputError(f"The ledger {folder.name}: its folder does not exist. Make the folder first.") from None
    except OSError as error:
        raise OutputError(f"The ledger {folder.name} cannot be opened: {error.strerror}.") from None
    known = [name for name in files if name in (KEY, HEAD) or name.endswith((ENDING, OLD_ENDING))]
    if files and not known:
        raise OutputError(f"{folder.name} is a folder with other files, not a ledger. Name a new or an empty folder.")
    with private_folder(folder / LOCK):
        folder.chmod(0o700)
        begun = any(name != KEY for name in known)
        yield _opened(folder, folder / KEY if key is None else key, begun=begun)


def _opened(folder: Path, key: Path, *, begun: bool) -> Ledger:
    """The book of a locked folder: begun, completed, or with the files of version 1 bound."""
    book = Ledger(folder, read_key(key) if begun else make_key(key))
    head = read_head(folder)
    links = [link for link, _ in book._files]
    if is_one_behind(links, head, book.key):
        write_head(folder, Head.of(len(links), links[-1].mac, book.key))
    elif not links and head is None:
        write_head(folder, Head.of(0, FIRST, book.key))
        if old := files_of(folder):
            book.add(book.prepared(LedgerEntry(BOUND, files=old)))
    return book


def entry_files(folder: Path) -> list[Path]:
    """The files of entries, in their order."""
    return sorted(file for file in folder.glob(f"*{ENDING}") if not file.name.startswith("."))


def read_head(folder: Path) -> Head | None:
    """The head; None if there is none, one that nobody vouches for if it is damaged."""
    try:
        written = json.loads((folder / HEAD).read_bytes())
        entries, last, mac = written["entries"], written["last"], written["mac"]
        whole = type(entries) is int and isinstance(last, str) and isinstance(mac, str) and mac.isascii()
        return Head(entries, last, mac) if whole else Head(0, "", "")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError, RecursionError):
        return Head(0, "", "")


def write_head(folder: Path, head: Head) -> None:
    """Put the head into its file."""
    with staged(folder / HEAD) as hidden:
        hidden.touch(mode=0o600)
        hidden.write_text(json.dumps(head.to_json()), encoding="ascii")


def _plain(link: ChainLink) -> bytes:
    return plain(link.header) + b"\n" + link.mac.encode() + b"\n"


def _write_new(path: Path, content: bytes) -> None:
    """Write a file that must not be there yet: it is there as a whole, or not at all."""
    draft = path.parent / f".{LOCK}.incrowd" / path.name
    with open(draft, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    try:
        getattr(os, "link", os.rename)(draft, path)  # neither takes a name that is taken, where there are no links
    finally:
        draft.unlink(missing_ok=True)
    flush(path.parent)


def read_entry(file: Path, key: bytes) -> tuple[ChainLink, bytes]:
    """Header, MAC and payload of a file; one that cannot be read is an entry that was altered."""
    try:
        header, mac, payload = file.read_bytes().split(b"\n", 2)
        parsed: Any = json.loads(header)
        if isinstance(parsed, dict) and type(parsed.get("number")) is int:
            return ChainLink(parsed, mac.decode("ascii")), payload
    except (OSError, ValueError, RecursionError):
        pass
    name = file.name.removesuffix(ENDING)
    return ChainLink({"key": key_name(key), "number": int(name) if name.isdecimal() else name}, ""), b""
