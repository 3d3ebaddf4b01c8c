"""The originals of a release, kept for the verification: in memory, or in files of a scratch folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from incrowd.errors import FileFormatError, OutputError
from incrowd.holding.held import Drafted
from incrowd.verification.asked import Original, Originals

_ORIGIN, _LOW, _HIGH = "\x1forigin", "\x1flow ", "\x1fhigh "  # begin with a letter that names do not have


class Kept:
    """Takes drafts, hands on their tables and keeps what the input held.

    Parameters
    ----------
    rename
        From the name of a column to its name in the written file.
    folder
        Where pieces are kept; in memory if not given.
    """

    def __init__(self, rename: Callable[[str], str], folder: Path | None) -> None:
        self._rename, self._folder = rename, folder
        self._pieces: list[Original | Path] = []
        self._sizes: list[int] = []
        self._rows = 0

    def pieces(self, drafts: Iterable[Drafted]) -> Iterator[Any]:
        """The tables of the drafts, one after the other."""
        for draft in drafts:
            original = draft.original
            yield draft.table
            del draft  # from here on only the written bytes count
            self._keep(self._renamed(original()))

    @property
    def originals(self) -> Original | Originals:
        """All that was kept, in the order of the release."""
        first = self._pieces[0]
        if isinstance(first, Original):
            return first
        return Originals(self._rows, tuple(self._sizes), self._piece)

    def _renamed(self, original: Original) -> Original:
        table = original.table.rename_columns([self._rename(name) for name in original.table.column_names])
        claims = {self._rename(name): ends for name, ends in original.claims.items()}
        return Original(table, original.origin, original.rows, claims)

    def _keep(self, original: Original) -> None:
        self._rows = original.rows
        self._sizes.append(len(original.origin))
        if self._folder is None:
            self._pieces.append(original)
            return
        path = self._folder / f"original-{len(self._pieces):06d}.arrow"
        _write(original, path)
        self._pieces.append(path)

    def _piece(self, place: int) -> Original:
        path = self._pieces[place]
        assert isinstance(path, Path)
        return _read(path, self._rows)


def _write(original: Original, path: Path) -> None:
    import pyarrow as pa

    table = original.table.append_column(_ORIGIN, pa.array(original.origin))
    for name, (low, high) in original.claims.items():
        table = table.append_column(_LOW + name, pa.array(low)).append_column(_HIGH + name, pa.array(high))
    try:
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table)
    except OSError:
        raise OutputError("The scratch folder is full or cannot be written. Free space there.") from None


def _read(path: Path, rows: int) -> Original:
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as file:
            table = pa.ipc.open_file(file).read_all()
    except (OSError, pa.ArrowInvalid):
        raise FileFormatError("A file in the scratch folder of this run was changed or removed. Start again.") from None
    claimed = [name.removeprefix(_LOW) for name in table.column_names if name.startswith(_LOW)]
    claims = {name: (_numbers(table, _LOW + name), _numbers(table, _HIGH + name)) for name in claimed}
    beside = [name for name in table.column_names if name == _ORIGIN or name.startswith((_LOW, _HIGH))]
    return Original(table.drop_columns(beside), _numbers(table, _ORIGIN), rows, claims)


def _numbers(table: Any, name: str) -> np.ndarray[Any, Any]:
    return np.asarray(table[name].to_numpy())
