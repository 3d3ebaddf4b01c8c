"""A first schema of a stream, from a sample of its rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl

from incrowd.errors import Notice, ParameterError
from incrowd.reading.draft import draft_schema
from incrowd.reading.source import Source
from incrowd.reading.streams.stream import Stream
from incrowd.vocabulary.schema import Schema

_PLACES = 16


def draft_stream(stream: Stream, target: str | None = None, rows: int = 200_000) -> tuple[Schema, tuple[Notice, ...]]:
    """Draft type and role of every column from the first rows and from runs of rows at random places.

    A table of at most so many rows is looked at whole, and drafted as :func:`incrowd.reading.draft.draft_schema`
    does. The types of encoded columns can be drafted again from all values: see ``drafted`` of
    :func:`incrowd.reading.streams.encode.encode_stream`. The places are the same each time.

    Parameters
    ----------
    stream
        The table.
    target
        The class, if it is known.
    rows
        Most rows to look at.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from incrowd.reading.streams.stream import open_stream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.parquet")
    ...     pl.DataFrame({"age": range(100), "class": ["a", "b"] * 50}).write_parquet(file)
    ...     schema, notices = draft_stream(open_stream(file), rows=32)
    >>> [(column.name, str(column.type), str(column.role)) for column in schema.columns]
    [('age', 'integer', 'quasi-identifier'), ('class', 'categorical', 'target')]
    >>> print(*notices)
    Types and roles were drafted from 32 of 100 rows.
    """
    if rows < _PLACES:
        raise ParameterError(f"A draft needs {_PLACES} rows or more, not {rows}. Choose a larger number.")
    whole = stream.rows <= rows
    sample = stream.part(0, stream.rows) if whole else _sample(stream, rows)
    told = f"Types and roles were drafted from {sample.height:,} of {stream.rows:,} rows."
    source = Source(sample, stream.origin, declared=stream.declared)
    return draft_schema(source, target=target), () if whole else (Notice("drafted-from-sample", "", told),)


def _sample(stream: Stream, rows: int) -> pl.DataFrame:
    """Half of the rows from the start, the others in equal runs, one from each stretch of what follows."""
    run = rows // (2 * _PLACES) or 1
    first = rows - run * _PLACES
    draw = np.random.default_rng(0)
    edges = np.linspace(first, stream.rows, _PLACES + 1).astype(np.int64)
    starts = [int(draw.integers(low, max(low, high - run) + 1)) for low, high in pairwise(edges)]
    return pl.concat([stream.part(0, first), *(stream.part(start, run) for start in starts)])
