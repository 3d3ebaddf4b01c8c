"""The released rows, one Parquet file for each piece, in folders on any file system that Hadoop knows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from incrowd.errors import OutputError
from incrowd.rows.blocks.drafting import Drafting
from incrowd.rows.memory.drafting import draft_columns
from incrowd.rows.spark.drafting import Mixing, Pieces, by_piece
from incrowd.rows.spark.session import EXACT, ONE_BLOCK_AT_A_TIME, cells, errors_translated, mapped, set_for_a_while
from incrowd.rows.spark.table import open_to_tasks
from incrowd.tables.publishing.serialise import parquet_options


# Folders on any file system that Hadoop knows: local, HDFS, object stores.
def listed_files(session: Any, folder: str) -> list[str]:
    """The files of a folder, without hidden ones."""
    with errors_translated():
        system, path = _place(session, folder)
        files = [status.getPath().toString() for status in system.listStatus(path)]
    return sorted(file for file in files if not file.rpartition("/")[2].startswith((".", "_")))


def make_folder(session: Any, folder: str) -> None:
    """Make a folder."""
    with errors_translated():
        system, path = _place(session, folder)
        if not system.mkdirs(path):
            raise OutputError(f"The folder {path.getName()} cannot be made.")


def check_free(session: Any, target: str) -> None:
    """Raise unless a folder may be made there."""
    with errors_translated():
        system, path = _place(session, target)
        if path.getParent() is None:
            raise OutputError("The release needs a folder of its own. Name a new one.")
        if system.exists(path):
            raise OutputError(f"{path.getName()} exists. Name a new folder for the release.")
        if not system.exists(path.getParent()):
            raise OutputError(f"{path.getName()}: its folder does not exist. Make the folder first.")


@contextmanager
def staged_folder(session: Any, target: str) -> Iterator[str]:
    """Give a folder to write to, hidden beside the target; when the block ends well, it appears at the target.

    If the block raises, nothing is left behind.
    """
    check_free(session, target)
    with errors_translated():
        system, path = _place(session, target)
        hidden = _path(session, path.getParent(), f".{path.getName()}.incrowd")
        if system.exists(hidden):
            raise OutputError(
                f"Another run is writing {path.getName()}, or was ended before it could tidy up. If none is, remove "
                f"the folder {hidden.getName()} beside it."
            )
        permission = session._jvm.org.apache.hadoop.fs.permission.FsPermission("700")
        if not system.mkdirs(hidden, permission):
            raise OutputError(f"Nothing can be written beside {path.getName()}.")
    draft = _path(session, hidden, "release")
    try:
        yield draft.toString()
        with errors_translated():
            if system.exists(path) or not system.rename(draft, path):
                raise OutputError(f"{path.getName()} cannot be put in its place. Is there one now?")
    finally:
        with errors_translated():
            system.delete(hidden, True)


def _place(session: Any, folder: str) -> tuple[Any, Any]:
    """The file system of a folder, and its full path there."""
    path = session._jvm.org.apache.hadoop.fs.Path(folder)
    system = path.getFileSystem(session._jsc.hadoopConfiguration())
    return system, system.makeQualified(path)


def _path(session: Any, parent: Any, name: str) -> Any:
    return session._jvm.org.apache.hadoop.fs.Path(parent, name)


_CODECS = ("snappy", "gzip", "zstd")


def write_pieces(pieces: Pieces, fields: Mapping[str, Any], folder: str) -> None:
    """Write the release to a folder that does not exist yet, in a private one. ``fields`` are the source's types.

    Spark's own writer would put metadata and the least and greatest values beside the cells, so files are written here:
    by tasks where they see the folder, and else handed to the driver, piece after piece.
    """
    rows, session = pieces.frame.drop("origins"), pieces.frame.sparkSession
    with errors_translated(), set_for_a_while(session, ONE_BLOCK_AT_A_TIME | EXACT):
        check_not_encrypted(session)
        codec = session.conf.get("spark.sql.parquet.compression.codec")
        places = {key: place for place, key in enumerate(pieces.keys)}
        schema = arrow_schema(released_schema(pieces.drafting, fields))
        own = _local(folder) if tasks_may_write(session, folder) else None
        writing = Writing(pieces.mixing, schema, places, codec if codec in _CODECS else "zstd", own)
        make_folder(session, folder)
        files = mapped(rows, writing, "name string, content binary")
        for file in files.collect() if own else files.toLocalIterator(prefetchPartitions=True):
            if file.content is not None:
                put(session, folder, file.name, file.content)
        if not pieces.drafting.plan.rows_released:
            put(session, folder, file_name(0), writing.content(schema.empty_table()))


def check_not_encrypted(session: Any) -> None:
    """Refuse a session whose files are encrypted: what lies in them could not be verified."""
    if session._jsc.hadoopConfiguration().get("parquet.crypto.factory.class") is not None:
        raise OutputError(
            "Spark is set to encrypt Parquet files, and a release that cannot be looked into cannot be verified. Use a "
            "session without parquet.crypto.factory.class."
        )


def tasks_may_write(session: Any, folder: str) -> bool:
    """Whether tasks see a folder."""
    return folder.startswith("file:/") and open_to_tasks(session)


def put(session: Any, folder: str, name: str, content: bytes) -> None:
    """Write a file of a folder."""
    system, path = _place(session, folder)
    stream = system.create(_path(session, path, name), False)
    try:
        stream.write(content, 0, len(content))
    finally:
        stream.close()


def file_name(place: int) -> str:
    """What the file of a piece is called."""
    return f"part-{place:05d}-release.parquet"


@dataclass(frozen=True, eq=False)
class Writing:
    """Puts pieces together and writes each to a file of a folder, or hands on what the file has to hold.

    A file gets its name when it is complete. A task that is run twice writes the same file under the same name.
    """

    mixing: Mixing
    schema: Any
    places: Mapping[int, int]
    codec: str
    folder: str | None

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The name of each file, and what it holds if it is not written yet."""
        import pyarrow as pa

        for key, parts in by_piece(cells(batches)):
            name, content = file_name(self.places[key]), self.content(self.mixing.released(key, parts))
            if self.folder is not None:
                hidden = os.path.join(os.path.dirname(self.folder), f"{os.urandom(16).hex()}.parquet")
                with open(hidden, "wb") as file:
                    file.write(content)
                os.replace(hidden, os.path.join(self.folder, name))
            held = None if self.folder is not None else content
            yield pa.record_batch({"name": pa.array([name]), "content": pa.array([held], pa.binary())})

    def content(self, released: Any) -> bytes:
        """A file with the columns in their types; text that has a dictionary of the values that occur keeps it."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = {}
        for field in self.schema:
            column = released[field.name]
            coded = pa.types.is_dictionary(column.type) and column.type.value_type == field.type
            columns[field.name] = column if coded else column.cast(field.type)
        table = pa.table(columns)
        with pa.BufferOutputStream() as stream:
            options = parquet_options(table.schema, self.codec)
            pq.write_table(table, stream, row_group_size=max(1, table.num_rows), **options)
            return bytes(stream.getvalue())


def released_schema(drafting: Drafting, fields: Mapping[str, Any]) -> Any:
    """The Spark schema of a release: columns that are released as they are keep their type, and nothing else."""
    from pyspark.sql.types import StructField, StructType

    plan = drafting.plan
    source = pl.DataFrame(schema={name: drafting.type_of(name) for name in plan.names})
    nobody = np.empty(0, np.int32)
    drafted = draft_columns(plan, dict.fromkeys(plan.names, nobody), source, np.arange(0)).schema
    return StructType(
        [
            StructField(
                w.name, _plain_type(drafted[w.name]) if w.source in plan.names else _without_length(fields[w.source])
            )
            for w in plan.written
        ]
    )


def arrow_schema(schema: Any) -> Any:
    """The Arrow types in which Spark takes the columns of a schema."""
    import pyarrow as pa

    known = {
        "string": pa.string(),
        "boolean": pa.bool_(),
        "tinyint": pa.int8(),
        "smallint": pa.int16(),
        "int": pa.int32(),
        "bigint": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", "UTC"),
        "timestamp_ntz": pa.timestamp("us"),
    }
    return pa.schema(
        [
            (
                field.name,
                pa.decimal128(field.dataType.precision, field.dataType.scale)
                if field.dataType.typeName() == "decimal"
                else known[field.dataType.simpleString()],
            )
            for field in schema.fields
        ]
    )


def _local(folder: str) -> str:
    """The path of a folder that is named by ``file:``."""
    return "/" + folder.removeprefix("file:").lstrip("/")


def _plain_type(dtype: pl.DataType) -> Any:
    from pyspark.sql import types as kinds

    known = {
        pl.String: kinds.StringType,
        pl.Int64: kinds.LongType,
        pl.Float64: kinds.DoubleType,
        pl.Date: kinds.DateType,
    }
    kind = kinds.BooleanType if dtype == pl.Boolean else known[type(dtype)]
    return kind()


def _without_length(kind: Any) -> Any:
    """Text without a longest length: that of the source is nobody's business."""
    from pyspark.sql.types import StringType

    return StringType() if kind.typeName().partition("(")[0] in ("string", "char", "varchar") else kind
