"""A first schema of a stream, from a sample of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import Notice, ParameterError
from incrowd.tables.reading.draft import Shared, draft_schema
from incrowd.tables.reading.source import Source
from incrowd.tables.streams.body import scratch_full
from incrowd.tables.streams.stream import Stream
from incrowd.vocabulary.schema import Schema

_PLACES = 16  # stretches of the table that are looked at: a sorted table shows more than its first values


def draft_stream(stream: Stream, target: str | None = None, rows: int = 200_000) -> tuple[Schema, tuple[Notice, ...]]:
    """Draft type and role of every column from the first rows and from runs of rows at random places.

    A table of at most so many rows is looked at whole, and drafted as :func:`incrowd.tables.reading.draft.draft_schema`
    does. The types of encoded columns can be drafted again from all values: see ``drafted`` of
    :func:`incrowd.tables.streams.encode.encode_stream`. The places are the same each time.
    """
    if rows < _PLACES:
        raise ParameterError(f"A draft needs {_PLACES} rows or more, not {rows}. Choose a larger number.")
    whole = stream.rows <= rows
    sample = stream.part(0, stream.rows) if whole else _sample(stream, rows)
    sentence = f"Types and roles were drafted from {sample.height:,} of {stream.rows:,} rows."
    source = Source(sample, stream.origin, declared=stream.declared)
    return draft_schema(source, target=target), () if whole else (Notice("drafted-from-sample", "", sentence),)


def _sample(stream: Stream, rows: int) -> pl.DataFrame:
    """Half of the rows from the start, the others in equal runs, one from each stretch of what follows."""
    run = rows // (2 * _PLACES) or 1
    first = rows - run * _PLACES
    draw = np.random.default_rng(0)
    edges = np.linspace(first, stream.rows, _PLACES + 1).astype(np.int64)
    starts = [int(draw.integers(low, max(low, high - run) + 1)) for low, high in pairwise(edges)]
    return pl.concat([stream.part(0, first), *(stream.part(start, run) for start in starts)])


# How many different values columns have, counted over all rows of a stream, in bounded memory.
_BUCKET_ROWS = 1 << 21
_MARK = np.dtype([("first", np.uint64), ("second", np.uint64)])


def shared_values(stream: Stream, names: Sequence[str], scratch: Path) -> dict[str, Shared]:
    """For each column how many rows show a value, and how many different values they show.

    Values are told apart by marks of 128 bits, sorted in buckets on disk: two values have the same mark with a
    probability below one in 10^20 for a billion rows.
    """
    if not names:
        return {}
    count = 1 << max(0, stream.rows // _BUCKET_ROWS).bit_length()
    with TemporaryDirectory(dir=scratch) as folder:
        buckets = {name: [Path(folder, f"{i}-{place}") for place in range(count)] for i, name in enumerate(names)}
        rows = _spread(stream, names, buckets)
        return {name: Shared(rows[name], sum(map(_different, buckets[name]))) for name in names}


def _spread(stream: Stream, names: Sequence[str], buckets: dict[str, list[Path]]) -> dict[str, int]:
    """Write the marks of all values to the buckets; how many rows show a value."""
    rows = dict.fromkeys(names, 0)
    try:
        files: dict[str, list[IO[bytes]]] = {name: [path.open("wb") for path in buckets[name]] for name in names}
        for frame in stream.frames(columns=names):
            for name in names:
                marks = _marks(frame[name].drop_nulls())
                rows[name] += len(marks)
                place = (marks["first"] >> np.uint64(40)) & np.uint64(len(files[name]) - 1)
                order = np.argsort(place, kind="stable")
                ends = np.cumsum(np.bincount(place.astype(np.intp), minlength=len(files[name])))
                for file, part in zip(files[name], np.split(marks[order], ends[:-1]), strict=True):
                    file.write(part.tobytes())
        for opened in files.values():
            for file in opened:
                file.close()
    except OSError:
        raise scratch_full() from None
    return rows


def _marks(values: pl.Series) -> npt.NDArray[np.void]:
    marks = np.empty(len(values), _MARK)
    marks["first"], marks["second"] = values.hash(1).to_numpy(), values.hash(2).to_numpy()
    return marks


def _different(path: Path) -> int:
    """Different marks in a bucket."""
    marks = np.fromfile(path, _MARK)
    order = np.lexsort((marks["second"], marks["first"]))
    marks = marks[order]
    return int(len(marks) > 0) + int(np.count_nonzero(marks[1:] != marks[:-1]))
