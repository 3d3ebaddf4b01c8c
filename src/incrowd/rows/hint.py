"""What the verification is told of rows: where the input lies, and from which input row each released one was made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from incrowd.errors import OutputError
from incrowd.rows.held import Drafted
from incrowd.tables.databases.tables import query_of
from incrowd.tables.reading.read import missing_markers
from incrowd.tables.reading.source import Origin
from incrowd.verification.request import Hint, InputFile

_FRAMES = ("pandas", "polars", "pyarrow")


class Hints:
    """Takes drafts, hands on their tables and keeps where their rows come from.

    Parameters
    ----------
    folder
        Private; the hint lies there as files.
    order
        The input row of each row that was held, if these were put in another order.
    """

    def __init__(self, folder: Path, order: Any = None) -> None:
        self._folder, self._order = folder, order
        self._origins: list[Any] = []
        self._claims: dict[str, list[tuple[Any, Any]]] = {}

    def pieces(self, drafts: Iterable[Drafted]) -> Iterator[Any]:
        """The tables of the drafts, one after the other."""
        for draft in drafts:
            yield draft.table
            origin = draft.origin if self._order is None else self._order[draft.origin]
            self._origins.append(np.asarray(origin, np.int64))
            for name, ends in draft.claims.items():
                self._claims.setdefault(name, []).append(ends)

    @property
    def origin(self) -> Any:
        """The input row of each released row, in the release's order."""
        return np.concatenate(self._origins) if self._origins else np.empty(0, np.int64)

    def save(self) -> Hint:
        """The hint as files."""
        sizes = tuple(len(part) for part in self._origins)
        claims = {}
        for place, (name, ends) in enumerate(self._claims.items()):
            low, high = zip(*ends, strict=True)
            claims[name] = (self._saved(f"low-{place}", low), self._saved(f"high-{place}", high))
        return Hint(self._saved("origin", self._origins), sizes, claims)

    def _saved(self, name: str, parts: Sequence[Any]) -> Path:
        path = self._folder / f"{name}.npy"
        try:
            np.save(path, np.concatenate(parts) if parts else np.empty(0, np.int64))
        except OSError:
            raise OutputError("The private folder is full or cannot be written. Free space there.") from None
        return path


def input_file(given: Any, origin: Origin, folder: Path, name: str, reading: Mapping[str, Any]) -> InputFile:
    """The file that the user named, as the user says it is read and else as was announced; a frame is put down as one.

    What is read from a server lies where the reader says.
    """
    if origin.form in _FRAMES:
        return InputFile(_put_down(given, folder / f"{name}.arrow"), "arrow", missing=origin.missing)
    path = Path(str(origin.path) if query_of(given) is not None else given)
    delimiter = reading.get("delimiter") or origin.delimiter
    missing = missing_markers(reading.get("missing"))
    return InputFile(path.resolve(), origin.form, delimiter, origin.encoding, origin.compression, missing)


def _put_down(frame: Any, path: Path) -> Path:
    """A frame as an Arrow file, cell by cell as it is."""
    import narwhals as nw
    import pyarrow as pa

    if isinstance(frame, pl.DataFrame):
        table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    elif isinstance(frame, pa.Table):
        table = frame
    else:
        table = nw.from_native(frame.reset_index(drop=True), eager_only=True).to_arrow()
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    return path
