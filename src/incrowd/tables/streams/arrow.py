"""Arrow (Feather) files and streams, read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.tables.reading.columnar import damaged, is_arrow_file, refused, sound
from incrowd.tables.reading.frames import check_arrow
from incrowd.tables.streams.body import Stamp, changed, exact

_MOST_COPIED = 1 << 22


@dataclass(frozen=True, eq=False)
class ArrowBody:
    """An Arrow file: the rows of each of its batches, and its columns.

    A batch is the least that can be read, so memory is bounded by the largest batch. Very large batches are mapped
    into memory: what is not compressed is then loaded only where it is looked at.
    """

    stamp: Stamp
    batches: tuple[int, ...]
    schema: dict[str, pl.DataType]

    @property
    def rows(self) -> int:
        """Number of rows of all batches together."""
        return sum(self.batches)

    def pieces(self, rows: int, names: Sequence[str]) -> Iterator[pl.DataFrame]:  # noqa: ARG002 (a batch is a piece)
        """All rows of the named columns."""
        return self._from(0, names)

    def part(self, start: int, rows: int, names: Sequence[str]) -> pl.DataFrame:
        """Some rows of the named columns from a place in the middle."""
        place, before = 0, 0
        while before + self.batches[place] <= start:
            before += self.batches[place]
            place += 1
        frames, missing = [], start - before + rows
        for frame in self._from(place, names):
            frames.append(frame)
            missing -= frame.height
            if missing <= 0:
                break
        return pl.concat(frames).slice(start - before, rows)

    def check(self) -> None:
        """Refuse to go on if the file is not what it was."""
        self.stamp.check()

    def _from(self, first: int, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The batches from a given one on."""
        import pyarrow as pa

        with _translated(self.stamp):
            mapped = max(self.batches) > _MOST_COPIED
            fields = [place for place, name in enumerate(self.schema) if name in names]
            for place, batch in _batches(self.stamp.path, fields, first, mapped=mapped):
                if place >= len(self.batches) or batch.num_rows != self.batches[place]:
                    raise damaged("Arrow")
                frame: pl.DataFrame = pl.DataFrame(sound(pa.Table.from_batches([batch])))
                yield exact(frame, names)


def open_arrow(path: Path) -> ArrowBody:
    """An Arrow file or stream whose types can be released; its batches are counted."""
    stamp = Stamp.of(path)
    with _translated(stamp):
        schema = _schema(path)
        check_arrow(schema)
        sizes = tuple(batch.num_rows for _, batch in _batches(path, [0]))
        return ArrowBody(stamp, sizes, dict(pl.DataFrame(schema.empty_table()).schema))


@contextmanager
def _translated(stamp: Stamp) -> Iterator[None]:
    """The library's own messages do not get out; what this package raises does."""
    done = False
    with refused():
        yield
        done = True
    if not done:
        raise (damaged("Arrow") if stamp.holds else changed(stamp.path)) from None


def _schema(path: Path) -> Any:
    import pyarrow as pa

    with pa.OSFile(str(path)) as file:
        return (pa.ipc.open_file(file) if is_arrow_file(path) else pa.ipc.open_stream(file)).schema


def _batches(path: Path, fields: list[int], first: int = 0, *, mapped: bool = False) -> Iterator[tuple[int, Any]]:
    """Place and content of the batches from a given one on; a stream is read from its start all the same."""
    import pyarrow as pa

    options = pa.ipc.IpcReadOptions(included_fields=fields)
    with pa.memory_map(str(path)) if mapped else pa.OSFile(str(path)) as file:
        if is_arrow_file(path):
            reader = pa.ipc.open_file(file, options=options)
            for place in range(first, reader.num_record_batches):
                yield place, reader.get_batch(place)
        else:
            for place, batch in enumerate(pa.ipc.open_stream(file, options=options)):
                if place >= first:
                    yield place, batch
