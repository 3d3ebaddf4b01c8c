"""Rows of a server, for who reads files and frames."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from incrowd.databases.query import query_of


def in_memory(given: Any) -> Any:
    """What was given; if it is on a server, its rows as a polars frame.

    Examples
    --------
    >>> in_memory("visits.csv")
    'visits.csv'
    """
    query = query_of(given)
    if query is None:
        return given
    from incrowd.databases.reading import read_query

    return read_query(query)


@contextmanager
def on_disk(given: Any) -> Iterator[Any]:
    """Give what was given; if it is on a server, its rows as a Parquet file that goes when the block ends.

    Examples
    --------
    >>> with on_disk("visits.csv") as given:
    ...     given
    'visits.csv'
    """
    query = query_of(given)
    if query is None:
        yield given
        return
    from incrowd.databases.reading import fetch_query

    with tempfile.TemporaryDirectory(prefix="incrowd-") as folder:
        yield fetch_query(query, Path(folder))
