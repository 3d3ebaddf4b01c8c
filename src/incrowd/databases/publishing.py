"""A written release copied into a table, and given back for the verification before anybody sees it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from incrowd.databases.new_table import NewTable
from incrowd.databases.writing import staged_table

_ROWS = 1 << 16


@contextmanager
def published(written: Path, table: NewTable) -> Iterator[Path]:
    """Copy the rows of a Parquet file into a table, and give a file with the rows that the server then has.

    That file lies beside the first one. When the block ends well, the table appears under its name; else there is none.
    """
    with staged_table(table.address, replace=table.replace) as staged:
        staged.write(_frames(written))
        back = written.with_name("back.parquet")
        staged.save(back)
        yield back


def _frames(path: Path) -> Iterator[pl.DataFrame]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(_ROWS):
            yield pl.DataFrame(batch)
