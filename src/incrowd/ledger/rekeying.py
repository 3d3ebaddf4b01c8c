"""Marking a book again with a new key: after the old one was lost, or seen by others.

Marks cannot be turned into others, so people are marked again from the tables they came from. While the old key is
there, the group of everybody is found by the old marks. If it is lost, it is no longer known who was in which group:
whether somebody is in an entry can be told, what releases tell together cannot.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import LedgerError, ParameterError
from incrowd.ledger.book import HEAD, LOCK, Ledger, entry_files, read_entry
from incrowd.ledger.chain import SOUND, Link
from incrowd.ledger.entry import RELEASE, Entry, People, entry_of
from incrowd.ledger.key import KEY, make_key, read_key
from incrowd.ledger.marks import Marks, as_frame
from incrowd.ledger.table import Table
from incrowd.ledger.upkeep import table_of
from incrowd.publishing.staging import private_folder
from incrowd.reading.source import Source


@dataclass(frozen=True)
class Rekeyed:
    """What became of the entries: marked again with their groups, without them, or not at all."""

    with_groups: tuple[int, ...]
    without_groups: tuple[int, ...]
    not_marked: tuple[int, ...]

    @classmethod
    def of(cls, marked: Sequence[tuple[Entry, People | None]], numbers: Sequence[int]) -> Rekeyed:
        """From the entries as they were written."""
        done: dict[str, list[int]] = {"with": [], "without": [], "not": []}
        for (entry, people), number in zip(marked, numbers, strict=True):
            if entry.kind == RELEASE:
                done["not" if people is None else "with" if entry.groups else "without"].append(number)
        return cls(*(tuple(found) for found in done.values()))


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
    link: Link, payload: bytes, tables: Mapping[int, Source], key: bytes, old: bytes | None
) -> tuple[Entry, People | None]:
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
        classes = _classes(before, People.from_bytes(payload), entry)
    return replace(entry, groups=groups), table.people_of(classes)


def _classes(table: Table, people: People, entry: Entry) -> npt.NDArray[np.int32]:
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


def _entry(link: Link) -> Entry:
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
