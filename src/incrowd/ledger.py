"""A private book of the releases of a table, so that together they keep what each of them keeps alone.

The book is a folder that only its owner can read. It has an entry for every release: the secret from which its groups
were drawn, so that a release that asks for the same groups gets the same groups, row by row; and the group of every
row, so that of one that asks for other groups it can be counted what both tell together. An entry is one file: it is
there as a whole, or not at all.

The book holds secrets. It belongs to the owner of the table, like the plan.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.errors import OutputError, PlanError
from incrowd.publishing.staging import private_folder, staged
from incrowd.report.certificate import kept_key

KEY, ENDING, LOCK = "ledger.key", ".entry.parquet", "ledger"
_METADATA, _VERSION = b"incrowd.ledger", 1


@dataclass(frozen=True)
class Entry:
    """One release in the book.

    Parameters
    ----------
    mark
        Of the table it was made from, see :func:`mark_of`.
    asked
        The digest of what decides its groups.
    key
        The secret of its draws.
    made, sha256, requirement, version
        When, the hash of its bytes, what it promises, and by which incrowd.
    k
        The smallest group that it promises; None if it promises more than sizes of groups, or sizes by several sets.
    quasi_identifiers, unchanged
        The columns that it shows by groups, and those that it shows as they are.
    """

    mark: str
    asked: str
    key: str
    made: str
    sha256: str
    requirement: str
    version: str
    k: int | None
    quasi_identifiers: tuple[str, ...]
    unchanged: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Recorded:
    """An entry with the class of every row of the table, null for rows that were left out."""

    entry: Entry
    classes: Any


@dataclass(frozen=True, eq=False)
class Ledger:
    """The book, open for one run.

    Parameters
    ----------
    folder
        Where it is.
    key
        The secret of its marks. It lies in the book, so that the book can be moved to another machine.

    Examples
    --------
    >>> import tempfile
    >>> with open_ledger(Path(tempfile.mkdtemp()) / "book") as book:
    ...     book.read()
    ([], [])
    """

    folder: Path
    key: bytes

    def read(self) -> tuple[list[Recorded], list[str]]:
        """The entries, the first one first; and the names of those that cannot be read."""
        entries, unread = [], []
        for file in sorted(self.folder.glob(f"*{ENDING}")):
            try:
                entries.append(_read(file))
            except PlanError:
                unread.append(file.name)
        return entries, unread

    def add(self, entry: Entry, classes: Any) -> None:
        """Write a release into the book."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        said = json.dumps({"incrowd_ledger": _VERSION, **asdict(entry)})
        table = pa.table({"class": classes}).replace_schema_metadata({_METADATA: said.encode()})
        name = f"{entry.made.replace(':', '').replace('+0000', 'Z')}-{secrets.token_hex(4)}{ENDING}"
        try:
            with staged(self.folder / name) as hidden:
                hidden.touch(mode=0o600)
                pq.write_table(table, hidden)
        except OSError as error:
            raise OutputError(f"The ledger {self.folder.name} cannot be written: {error.strerror}.") from None


@contextlib.contextmanager
def open_ledger(folder: Path) -> Iterator[Ledger]:
    """Open the book, or begin a new one; one run at a time."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        strange = not (folder / KEY).exists() and any(not file.name.startswith(".") for file in folder.iterdir())
    except FileNotFoundError:
        raise OutputError(f"The ledger {folder.name}: its folder does not exist. Make the folder first.") from None
    except OSError as error:
        raise OutputError(f"The ledger {folder.name} cannot be opened: {error.strerror}.") from None
    if strange:
        raise OutputError(f"{folder.name} is a folder with other files, not a ledger. Name a new or an empty folder.")
    with private_folder(folder / LOCK):
        folder.chmod(0o700)
        yield Ledger(folder, kept_key(folder / KEY))


def _read(file: Path) -> Recorded:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(file)
        said = json.loads((table.schema.metadata or {})[_METADATA])
        if said.pop("incrowd_ledger") != _VERSION or table.schema.field("class").type != pa.int32():
            raise ValueError
        said |= {name: tuple(said[name]) for name in ("quasi_identifiers", "unchanged")}
        entry = Entry(**said)
        bytes.fromhex(entry.key)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise PlanError(f"{file.name} in the ledger is damaged, or incrowd did not write it.") from None
    return Recorded(entry, table["class"].combine_chunks())


def mark_of(frame: pl.DataFrame, key: bytes) -> str:
    """By what the book knows a table again: a keyed hash of its names and cells as text, in their order.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [39, None]})
    >>> mark_of(table, b"key") == mark_of(table.cast(pl.String), b"key")
    True
    >>> mark_of(table, b"key") == mark_of(table, b"another key")
    False
    """
    digest = hmac.new(key, digestmod="sha256")
    digest.update(json.dumps([frame.height, frame.columns]).encode())
    for column in frame.iter_columns():
        cells = column.cast(pl.String)
        digest.update(cells.str.len_bytes().cast(pl.Int64).fill_null(-1).to_numpy().tobytes())
        digest.update((cells.str.join("").item() or "").encode())
    return digest.hexdigest()
