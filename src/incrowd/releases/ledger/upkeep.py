"""Keeping a book: bringing old entries up to date, withdrawing, entering again, checking.

Marking a book again with a new key: after the old one was lost, or seen by others. Marks cannot be turned into
others, so people are marked again from the tables they came from. While the old key is there, the group of everybody
is found by the old marks. If it is lost, it is no longer known who was in which group: whether somebody is in an
entry can be told, what releases tell together cannot.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import LedgerError, ParameterError
from incrowd.releases.ledger.book import HEAD, LOCK, Ledger, Old, entry_files, read_entry, read_old, table_mark
from incrowd.releases.ledger.entry import (
    BOUND,
    KEY,
    RELEASE,
    SOUND,
    WITHDRAWN,
    ChainLink,
    LedgerEntry,
    MarkedPeople,
    entry_of,
    is_authentic,
    make_key,
    payload_hash,
    read_key,
)
from incrowd.releases.ledger.marks import Marker, Marks, as_frame
from incrowd.releases.ledger.overlap import MarkedTable
from incrowd.tables.publishing.staging import private_folder
from incrowd.tables.reading.source import Source
from incrowd.vocabulary.schema import Column, Schema

_KEPT = ("made", "sha256", "requirement", "k")


def pending(book: Ledger) -> list[str]:
    """The files of version 1 that no entry stands for."""
    entries = book.read()
    done = {one.entry.upgrades for one in entries}
    return [name for one in entries if one.entry.kind == BOUND for name in one.entry.files if name not in done]


def upgraded(book: Ledger, table: MarkedTable) -> list[int]:
    """Enter the people of a table for every release of it that version 1 knows; the numbers of the new entries."""
    waiting = pending(book)
    if not waiting:
        return []
    mark, entries = table_mark(table.source.frame, book.key), []
    for name in waiting:
        with contextlib.suppress(LedgerError, TypeError):
            old = read_old(book.folder / name)
            known = set(old.header.get("quasi_identifiers", ())) <= set(table.source.frame.columns)
            if known and old.header.get("mark") == mark and len(old.classes) == table.people:
                entries.append(int(book.add(book.prepared(*_of_old(name, old, table))).number))
    return entries


def _of_old(name: str, old: Old, table: MarkedTable) -> tuple[LedgerEntry, MarkedPeople]:
    entry = LedgerEntry(
        RELEASE,
        **{field: old.header.get(field) for field in _KEPT},  # type: ignore[arg-type]
        incrowd=str(old.header.get("version", "")),
        quasi_identifiers=tuple(old.header.get("quasi_identifiers", ())),
        unchanged=tuple(old.header.get("unchanged", ())),
        identifiers=tuple(table.persons),
        people=table.people,
        upgrades=name,
    )
    return entry, table.people_of(np.asarray(old.classes, np.int32), entry.quasi_identifiers)


def withdraw(book: Ledger, number: int) -> int:
    """Enter that a release never went out; the number of the new entry."""
    _sound(book)
    if number not in {one.number for one in book.releases()}:
        raise ParameterError(f"The ledger has no release with the number {number}. See: incrowd ledger list.")
    return int(book.add(book.prepared(LedgerEntry(WITHDRAWN, made=_now(), withdraws=number))).number)


def enter_again(book: Ledger, file: Path) -> int | None:
    """Enter the release of an entry's file from another copy of the book; None if the book has it."""
    _sound(book)
    link, payload = read_entry(file, book.key)
    if not is_authentic(link, book.key) or payload_hash(payload) != link.header.get("payload"):
        raise LedgerError(f"{file.name} is no entry of this ledger, or it was altered.")
    entry = entry_of(link.header)
    if entry.kind != RELEASE or link.mac in macs(book):
        return None
    people = MarkedPeople.from_bytes(payload) if payload else None
    return int(book.add(book.prepared(replace(entry, was=link.mac), people)).number)


def enter_certified(book: Ledger, certificate: Mapping[str, Any], source: Source) -> int:
    """Enter a release by its certificate and its table; who is in which group of it is not known.

    Later releases that share people with it then cannot be told from it, which is more careful than to forget it.
    """
    _sound(book)
    roles = {role: [c["name"] for c in certificate["columns"] if c["role"] == role] for role in _ROLES}
    table = table_of(source, book.key, roles["quasi-identifier"], roles["identifier"])
    entry = LedgerEntry(
        RELEASE,
        made=certificate["made"],
        sha256=certificate["output"].get("sha256") or "",
        requirement=certificate["requirement_asked"],
        incrowd=certificate["versions"]["incrowd"],
        quasi_identifiers=tuple(roles["quasi-identifier"]),
        unchanged=tuple(roles["other"] + roles["sensitive"] + roles["target"]),
        identifiers=tuple(table.persons),
        people=table.people,
        groups=False,
    )
    nobody = np.full(table.people, -1, np.int32)
    return int(book.add(book.prepared(entry, table.people_of(nobody))).number)


_ROLES = ("quasi-identifier", "identifier", "sensitive", "target", "other")


def table_of(source: Source, key: bytes, quasi_identifiers: Sequence[str], identifiers: Sequence[str]) -> MarkedTable:
    """A table of which the roles of columns are known; identifiers that it has not are passed over."""
    schema = Schema(tuple(Column(name) for name in source.frame.columns))
    there = [name for name in identifiers if name in schema]
    return MarkedTable(source, schema.with_roles(quasi_identifiers=quasi_identifiers, identifiers=there), Marker(key))


def faults(book: Ledger, certificates: Sequence[Path] = ()) -> Iterator[str]:
    """What is wrong with a book, and which of the certified releases it does not know."""
    if book.fault != SOUND:
        yield f"the ledger is not sound: {book.fault}"
    known, withdrawn = macs(book), {one.entry.withdraws for one in book.read()}
    for path in certificates:
        number, mac = _certified(path)
        if mac not in known:
            yield f"{path.name}: entry {number} of the certificate is not in the ledger: it was set back or exchanged"
        elif known[mac] in withdrawn:
            yield f"{path.name}: entry {known[mac]} was withdrawn, as never gone out, and has a certificate"


def macs(book: Ledger) -> dict[str, int]:
    """The MACs of all entries, also of those that were marked or entered again, and their numbers."""
    entries = book.read()
    return {mac: one.number for one in entries for mac in (one.entry.was, one.link.mac) if mac}


def read_certificate(path: Path) -> dict[str, Any]:
    """A certificate as data."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(data, dict) and "incrowd_certificate" in data:
            return data
    except (OSError, ValueError, RecursionError):
        pass
    raise LedgerError(f"{path.name} is no certificate, or it cannot be read.")


def _certified(path: Path) -> tuple[int, str]:
    earlier = read_certificate(path).get("earlier_releases")
    try:
        return int(earlier["entry"]), str(earlier["mac"])  # type: ignore[index]
    except (TypeError, KeyError, ValueError, ArithmeticError):
        raise LedgerError(f"{path.name} is the certificate of a release that was made without a ledger.") from None


def _sound(book: Ledger) -> None:
    if book.fault != SOUND:
        raise LedgerError(f"The ledger {book.folder.name} is not sound: {book.fault}. Put it back from a copy first.")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Rekeyed:
    """What became of the entries: marked again with their groups, without them, or not at all."""

    with_groups: tuple[int, ...]
    without_groups: tuple[int, ...]
    not_marked: tuple[int, ...]

    @classmethod
    def of(cls, marked: Sequence[tuple[LedgerEntry, MarkedPeople | None]], numbers: Sequence[int]) -> Rekeyed:
        """From the entries as they were written."""
        done: dict[str, list[int]] = {"with": [], "without": [], "not": []}
        for (entry, people), number in zip(marked, numbers, strict=True):
            if entry.kind == RELEASE:
                done["not" if people is None else "with" if entry.groups else "without"].append(number)
        return cls(*(tuple(numbers) for numbers in done.values()))


def rekey(folder: Path, tables: Mapping[int, Source], key: Path | None = None) -> Rekeyed:
    """Begin the book anew with a new key; its files so far go into a folder in it, and nothing is removed.

    ``tables`` are the tables of entries, by number.
    """
    place = folder / KEY if key is None else key
    with private_folder(folder / LOCK):
        old = _old_key(place)
        files = [read_entry(file, old or b"") for file in entry_files(folder)]
        if not files:
            raise LedgerError(f"{folder.name} has no entries that could be marked again.")
        if old is not None and (wrong := Ledger(folder, old).fault) != SOUND:
            raise LedgerError(f"The ledger {folder.name} is not sound: {wrong}. Put it back from a copy first.")
        releases = {int(link.number): _entry(link) for link, _ in files if type(link.number) is int}
        strange = set(tables) - {number for number, entry in releases.items() if entry.kind == RELEASE}
        if strange:
            raise ParameterError(f"The ledger has no release with the number {min(strange)}.")
        fresh = place.with_name(f"{place.name}.new")
        fresh.unlink(missing_ok=True)
        try:
            key_bytes = make_key(fresh)
            marked = [_again(link, payload, tables, key_bytes, old) for link, payload in files]
            _set_aside(folder, place)
            os.rename(fresh, place)
        finally:
            fresh.unlink(missing_ok=True)
        book = Ledger(folder, key_bytes)
        for entry, people in marked:
            book.add(book.prepared(entry, people))
    return Rekeyed.of(marked, [int(link.number) for link, _ in files])


def _again(
    link: ChainLink, payload: bytes, tables: Mapping[int, Source], key: bytes, old: bytes | None
) -> tuple[LedgerEntry, MarkedPeople | None]:
    """An entry with the people of its table under the new key."""
    entry, source = replace(_entry(link), was=link.mac), tables.get(int(link.number))
    if source is None:
        return entry, None
    table = table_of(source, key, entry.quasi_identifiers, entry.identifiers)
    if table.people != entry.people:
        raise LedgerError(f"A table has {table.people:,} rows, and the release was made of {entry.people:,}.")
    groups = old is not None and bool(payload) and entry.groups
    classes = np.full(table.people, -1, np.int32)
    if groups and old is not None:
        before = table_of(source, old, entry.quasi_identifiers, entry.identifiers)
        classes = _classes(before, MarkedPeople.from_bytes(payload), entry)
    return replace(entry, groups=groups), table.people_of(classes)


def _classes(table: MarkedTable, people: MarkedPeople, entry: LedgerEntry) -> npt.NDArray[np.int32]:
    """The class of each row of the table, found by the old marks; equal marks in the order of classes."""
    persons = list(table.persons.values())
    numbered = bool(persons and people.persons)
    now = persons[0] if numbered else table.rows(entry.quasi_identifiers)
    then = people.persons[0] if numbered else people.rows
    keys = ["high", "low", "turn"]
    known = _numbered(then).with_columns(**{"class": pl.Series(people.classes)})
    joined = _numbered(now).join(known, on=keys, how="left", maintain_order="left")
    if joined["class"].null_count():
        raise LedgerError("A table is not the one that the release was made of.")
    return joined["class"].to_numpy().astype(np.int32)


def _numbered(marks: Marks) -> pl.DataFrame:
    return as_frame(marks).with_columns(turn=pl.int_range(pl.len()).over("high", "low"))


def _entry(link: ChainLink) -> LedgerEntry:
    try:
        return entry_of(link.header)
    except LedgerError as error:
        raise LedgerError(f"Entry {link.number} of the ledger cannot be read: {error}.") from None


def _old_key(place: Path) -> bytes | None:
    try:
        return read_key(place)
    except LedgerError:
        return None


def _set_aside(folder: Path, key: Path) -> None:
    """Move the files of the book so far into a folder in it, the key beside its place."""
    number = 1 + sum(1 for _ in folder.glob("before rekeying *"))
    aside = folder / f"before rekeying {number}"
    aside.mkdir(mode=0o700)
    for file in [*entry_files(folder), folder / HEAD]:
        with contextlib.suppress(FileNotFoundError):
            os.rename(file, aside / file.name)
    with contextlib.suppress(FileNotFoundError):
        os.rename(key, aside / KEY if key.parent == folder else key.with_name(f"{key.name}.before{number}"))
