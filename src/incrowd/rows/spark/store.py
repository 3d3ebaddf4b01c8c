"""One pass over a table: its rows in blocks, kept by Spark, the quasi-identifiers as raw codes.

A block is one row of a Spark frame: the codes of its rows, the values behind the codes, and the columns that are
released unchanged, each packed into one cell. So Spark moves a few large cells instead of many small ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import FileFormatError, ValuesError
from incrowd.rows.spark.session import (
    ONE_BLOCK_AT_A_TIME,
    TASKS,
    cells,
    errors_translated,
    in_blocks,
    mapped,
    packed,
    set_for_a_while,
    unpacked,
)
from incrowd.rows.spark.table import SparkTable

Code = Callable[[pl.Series], tuple[npt.NDArray[np.uint32], pl.Series]]
"""Gives for a column that is no text the raw code of each row (0 is null) and the values behind the codes from 1 on."""

BLOCK_ROWS = 1 << 20  # as many as blocks have on one machine at most
MOST_VALUES = 5_000_000  # of a column: its dictionary comes to the driver and goes to every task
COLUMN, WORD, TEXT, ROWS = "column", "word", "text", "rows"
OWNED = "\x1fowner"  # the codes of the persons of a block's rows; begins with a letter that names do not have
OWNER, PLAIN = -1, -2  # where the words of persons stand among those of columns, and those of their plain spellings
STORED = "part int, place int, rows int, stamp binary, codes binary, values binary, beside binary"


class OwnerCoding(Protocol):
    """Codes the column that says whose rows they are."""

    @property
    def name(self) -> str:
        """The column."""

    def coded(self, column: pl.Series) -> tuple[npt.NDArray[np.uint32], list[pl.DataFrame]]:
        """The code of each row's person, 0 for none, and words as :func:`as_words` makes them."""


@dataclass(frozen=True)
class Listed:
    """A block that was stored: where it came from, its rows, and a random stamp that no other block has."""

    part: int
    place: int
    rows: int
    stamp: bytes


@dataclass(frozen=True, eq=False)
class Gathered:
    """The distinct values of a column over all rows, and how many rows have each; last, how many have none."""

    values: pl.Series
    counts: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Store:
    """The blocks of a table."""

    frame: Any  # one row for each block, kept by Spark: it is not computed again
    listed: tuple[Listed, ...]  # the blocks in order
    coded: Mapping[str, pl.DataType]  # the columns that are stored as codes, with the polars types of their values
    beside: tuple[str, ...]  # the columns that are stored as they are

    @property
    def session(self) -> Any:
        """The session that keeps the blocks."""
        return self.frame.sparkSession

    def gathered(self, limit: int = MOST_VALUES) -> dict[str, Gathered]:
        """The distinct values of the coded columns, once it is known that there are not too many."""
        from pyspark.sql import functions as sql

        kinds = f"{COLUMN} int, {WORD} long, {TEXT} string, {ROWS} long"
        parts = mapped(self.frame.select("values"), each_value, kinds)
        distinct = parts.groupBy(COLUMN, WORD, TEXT).agg(sql.sum(ROWS).alias(ROWS))
        few = {TASKS: str(self.session.sparkContext.defaultParallelism)}
        with errors_translated(), set_for_a_while(self.session, few):
            distinct.persist()
            try:
                with set_for_a_while(self.session, ONE_BLOCK_AT_A_TIME):
                    sizes = distinct.groupBy(COLUMN).count().collect()
                for column, values in sizes:
                    if values > limit + 1:
                        raise _too_many(list(self.coded)[column], limit)
                whole = pl.DataFrame(distinct.toArrow()).sort(COLUMN, WORD, TEXT)
            finally:
                distinct.unpersist()
        by_column = whole.partition_by(COLUMN, as_dict=True)
        return {name: _gathered(by_column[(place,)], kind) for place, (name, kind) in enumerate(self.coded.items())}

    def forget(self) -> None:
        """Let Spark free what it keeps of the blocks."""
        forget(self.frame)


def stored(
    table: SparkTable,
    names: Sequence[str],
    beside: Sequence[str],
    code: Code,
    clean: Callable[[pl.DataFrame], pl.DataFrame],
    rows: int = BLOCK_ROWS,
    owners: OwnerCoding | None = None,
) -> Store:
    """Code some columns of a table, block by block, and keep others beside them.

    ``table``: its frame is computed once. ``names``, ``beside``: columns to code, and columns to keep as they are.
    ``code``: codes a column; is run by the executors. ``clean``: what is done to the columns that are kept, such as
    turning markers of missing values to null. ``rows``: most rows of a block. ``owners``: codes the person column, one
    of those that are kept.
    """
    every = tuple(dict.fromkeys((*names, *beside)))
    coding = Coding(every, tuple(names), tuple(beside), code, clean, rows, owners)
    with errors_translated():
        frame = kept(table.mapped(every, names, coding, rows, STORED))
        blocks = [
            Listed(r.part, r.place, r.rows, bytes(r.stamp)) for r in frame.drop("codes", "values", "beside").collect()
        ]
    if not blocks:
        raise FileFormatError("The table has no rows. Give a table with at least one row.")
    listed = tuple(sorted(blocks, key=lambda block: (block.part, block.place)))
    kinds = {name: code(pl.Series([], dtype=table.schema[name]))[1].dtype for name in names}
    return Store(frame, listed, kinds, tuple(beside))


@dataclass(frozen=True, eq=False)
class Coding:
    """Codes the rows of a partition, block by block."""

    every: tuple[str, ...]
    names: tuple[str, ...]
    beside: tuple[str, ...]
    code: Code
    clean: Callable[[pl.DataFrame], pl.DataFrame]
    rows: int
    owners: OwnerCoding | None = None

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """One row for each block."""
        import pyarrow as pa
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        for place, table in enumerate(in_blocks(batches, self.rows)):
            table = table.rename_columns(list(self.every))
            codes, values = self._coded(table)
            beside = self.clean(pl.DataFrame(table.select(self.beside)))
            yield pa.record_batch(
                {
                    "part": pa.array([context.partitionId()], pa.int32()),
                    "place": pa.array([place], pa.int32()),
                    "rows": pa.array([table.num_rows], pa.int32()),
                    "stamp": [os.urandom(16)],
                    "codes": [packed(codes)],
                    "values": [packed(values)],
                    "beside": [packed(beside)],
                }
            )

    def _coded(self, table: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
        import pyarrow as pa

        codes, values = {}, []
        for place, name in enumerate(self.names):
            kind = table[name].type
            text = pa.types.is_dictionary(kind) or pa.types.is_string(kind)
            raw, known = texts_coded(table[name]) if text else self.code(pl.Series(name, table[name]))
            codes[name] = raw.astype(np.min_scalar_type(len(known)))
            values.append(as_words(place, known, np.bincount(raw, minlength=len(known) + 1)))
        if self.owners is not None:
            codes[OWNED], words = self.owners.coded(pl.Series(table[self.owners.name]))
            values += words
        return pl.DataFrame(codes), pl.concat(values)


def texts_coded(column: Any) -> tuple[npt.NDArray[np.uint32], pl.Series]:
    """The raw code of each text of a PyArrow column (0 is null), and the texts behind the codes from 1 on.

    Dictionaries of files may hold texts that no row has, and texts twice: those go.
    """
    import pyarrow as pa

    coded = column.combine_chunks().dictionary_encode()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False) + 1
    used = np.flatnonzero(np.bincount(codes, minlength=len(coded.dictionary) + 1)[1:])
    texts = coded.dictionary.take(pa.array(used)).dictionary_encode()
    places = np.zeros(len(coded.dictionary) + 1, np.uint32)
    places[used + 1] = texts.indices.to_numpy() + 1
    return places[codes], pl.Series(texts.dictionary, dtype=pl.String)


def as_words(column: int, values: pl.Series, counts: npt.NDArray[np.int64]) -> pl.DataFrame:
    """Values of any type as text or as 64 bits, with their rows; null comes first."""
    nothing = pl.Series([None], dtype=values.dtype)
    every = nothing.append(values)
    text = values.dtype == pl.String
    return pl.DataFrame(
        {
            COLUMN: pl.Series(np.full(len(every), column, np.int32)),
            WORD: pl.Series([None] * len(every), dtype=pl.Int64) if text else _words(every),
            TEXT: every if text else pl.Series([None] * len(every), dtype=pl.String),
            ROWS: pl.Series(counts.astype(np.int64)),
        }
    )


def from_words(rows: pl.DataFrame, kind: pl.DataType) -> pl.Series:
    """The values that :func:`as_words` made words of."""
    if kind == pl.String:
        return rows[TEXT]
    if kind.is_float():
        return rows.select(pl.col(WORD).reinterpret(dtype=pl.Float64)).to_series().cast(kind)
    physical = pl.Series([], dtype=kind).to_physical().dtype
    return rows[WORD].cast(physical).cast(kind)


def each_value(batches: Iterable[Any]) -> Iterator[Any]:
    """The values of all blocks, with their rows."""
    import pyarrow as pa

    kinds = pa.schema([(COLUMN, pa.int32()), (WORD, pa.int64()), (TEXT, pa.string()), (ROWS, pa.int64())])
    for row in cells(batches):
        values = unpacked(row["values"]).filter(pl.col(COLUMN) >= 0)
        yield from values.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(kinds).to_batches(max_chunksize=1 << 16)


def kept(frame: Any) -> Any:
    """The frame, computed once: in the checkpoint folder, if one is set, else on the disks of the executors.

    An executor that is lost takes its part of the latter with it; what is asked then fails. Nothing is computed
    again, since another time the rows might come in another order.
    """
    from pyspark import StorageLevel

    if frame.sparkSession.sparkContext.getCheckpointDir() is not None:
        return frame.checkpoint(eager=True)
    return frame.localCheckpoint(eager=True, storageLevel=StorageLevel.DISK_ONLY)


def forget(frame: Any) -> None:
    """Free what Spark keeps of a frame that was computed once, and remove its files from the checkpoint folder."""
    session = frame.sparkSession
    for rdd in _ancestors(frame._jdf.queryExecution().toRdd()):
        rdd.unpersist(False)
        if rdd.getCheckpointFile().isDefined():
            path = session._jvm.org.apache.hadoop.fs.Path(rdd.getCheckpointFile().get())
            path.getFileSystem(session._jsc.hadoopConfiguration()).delete(path, True)


def _ancestors(rdd: Any) -> Iterator[Any]:
    """A dataset and those it is made from."""
    yield rdd
    dependencies = rdd.dependencies()
    for place in range(dependencies.size()):
        yield from _ancestors(dependencies.apply(place).rdd())


def _words(values: pl.Series) -> pl.Series:
    if values.dtype.is_float():
        return values.cast(pl.Float64).to_frame("").select(pl.all().reinterpret(dtype=pl.Int64)).to_series()
    return values.to_physical().cast(pl.Int64)


def _gathered(rows: pl.DataFrame, kind: pl.DataType) -> Gathered:
    null = rows[WORD].is_null() & rows[TEXT].is_null()
    nothing = int(rows.filter(null)[ROWS].sum())
    present = rows.filter(~null)
    return Gathered(from_words(present, kind), np.append(present[ROWS].to_numpy(), nothing))


def _too_many(name: str, limit: int) -> ValuesError:
    return ValuesError(
        f"Column {name!r} has more than {limit:,} distinct values, too many to count with. Shorten its values "
        "to fewer, round its numbers, or, if it numbers persons, call it an identifier."
    )
