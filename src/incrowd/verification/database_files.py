"""The rows of a database file, asked for once more by the verification, with code of its own.

No other library reads these files, so Python's sqlite3 and DuckDB do here, too; but what a column of SQLite is, is told
by the cells that Python gets, and DuckDB writes its rows by itself, where the reader takes them as Arrow.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from incrowd.errors import FileFormatError
from incrowd.verification.opening import connect, guarded, text
from incrowd.verification.request import InputFile

_BATCH = 20_000
_AS_TEXT = ("UUID", "ENUM", "TIME WITH TIME ZONE")


def copy_of_rows(file: InputFile, scratch: Path) -> Path:
    """The rows of the query in a Parquet file of the scratch folder, in the order in which the database gives them."""
    copy = scratch / f"input-{secrets.token_hex(4)}.parquet"
    try:
        with guarded(file.path.name, "a database"):
            _copy_sqlite(file, copy) if file.kind == "sqlite" else _copy_duckdb(file, copy)
    except (sqlite3.Error, UnicodeError) as error:
        raise FileFormatError(
            f"{file.path.name} cannot be read as a database by the verification ({type(error).__name__})."
        ) from None
    return copy


def _copy_sqlite(file: InputFile, copy: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = f"{file.path.as_uri()}?mode=ro"
    with closing(sqlite3.connect(place, uri=True, isolation_level=None)) as connection:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        cursor = connection.execute(file.query)
        names = [column[0] for column in cursor.description]
        kinds: list[set[type]] = [set() for _ in names]
        for row in cursor:
            for seen, cell in zip(kinds, row, strict=True):
                seen.add(type(cell))
        schema = pa.schema(list(zip(names, map(_type, kinds), strict=True)))
        with pq.ParquetWriter(copy, schema) as writer:
            for rows in _batches(connection.execute(file.query)):
                cells = [[row[place] for row in rows] for place in range(len(names))]
                columns = [
                    pa.array(_plain(one, field.type), field.type) for one, field in zip(cells, schema, strict=True)
                ]
                writer.write_batch(pa.record_batch(columns, schema))


def _batches(cursor: sqlite3.Cursor) -> Iterator[list[tuple[Any, ...]]]:
    while rows := cursor.fetchmany(_BATCH):
        yield rows


def _type(kinds: set[type]) -> Any:
    import pyarrow as pa

    kinds = kinds - {type(None)}
    if kinds == {int, float}:
        return pa.float64()
    if len(kinds) > 1 or bytes in kinds:
        raise FileFormatError("A column of the database mixes types, or is binary; the verification does not read it.")
    return {int: pa.int64(), float: pa.float64(), str: pa.string()}[next(iter(kinds))] if kinds else pa.null()


def _plain(cells: list[Any], dtype: Any) -> list[Any]:
    import pyarrow as pa

    return [cell if cell is None else float(cell) for cell in cells] if dtype == pa.float64() else cells


def _copy_duckdb(file: InputFile, copy: Path) -> None:
    """With one thread, so that rows come in the same order each time."""
    with connect(threads=1) as connection:
        connection.execute(f"ATTACH {text(str(file.path))} AS given (READ_ONLY)")
        connection.execute("USE given")
        columns = connection.execute(f"DESCRIBE {file.query}").fetchall()
        listed = ", ".join(f"c{place}" for place in range(len(columns)))
        cells = ", ".join(f"{_cast(f'c{place}', one[1])} AS {_quoted(one[0])}" for place, one in enumerate(columns))
        query = f"SELECT {cells} FROM (\n{file.query}\n) AS given({listed})"
        connection.execute(f"COPY ({query}) TO {text(str(copy))} (FORMAT parquet)")


def _cast(cell: str, kind: str) -> str:
    """Types that Parquet has no word for, in others that hold them exactly."""
    if kind.endswith("HUGEINT"):
        return f"CAST({cell} AS DECIMAL(38, 0))"
    return f"CAST({cell} AS VARCHAR)" if kind.startswith(_AS_TEXT) else cell


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
