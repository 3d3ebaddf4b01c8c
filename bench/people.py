"""The tables to measure on: Adult, or generated rows of the same shape, and their expansion to millions of rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from bench.setting import Setting
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import ColumnType

if TYPE_CHECKING:
    import pyarrow as pa

Codes = npt.NDArray[np.int32]

COPIES, CHANGED, TARGET = 30, 3, "class"
GROUP = 1 << 20
ROWS, QUICK_ROWS, INCOMPLETE = 48_842, 1_500, 3_620
DOMAINS = {
    "age": 74,
    "workclass": 8,
    "fnlwgt": 28_523,
    "education": 16,
    "education-num": 16,
    "marital-status": 7,
    "occupation": 14,
    "relationship": 6,
    "race": 5,
    "sex": 2,
    "capital-gain": 123,
    "capital-loss": 99,
    "hours-per-week": 96,
    "native-country": 41,
}
ATTRIBUTES = list(DOMAINS)
NUMERIC = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}


def people(setting: Setting) -> tuple[pl.DataFrame, str]:
    """All rows, some with missing values, and what they are: ``Adult`` or ``stand-in``."""
    files = [setting.data / f"adult_{part}.csv" for part in ("train", "test")] if setting.data else []
    if files and all(file.exists() for file in files):
        frame, source = pl.concat([pl.read_csv(file, null_values="?") for file in files]), "Adult"
    else:
        frame, source = stand_in(), "stand-in"
    return (frame.head(QUICK_ROWS) if setting.quick else frame), source


def stand_in() -> pl.DataFrame:
    """Random rows of Adult's shape; the class depends on three attributes and chance."""
    generator = np.random.default_rng(1)
    codes = {name: generator.integers(0, width, ROWS) for name, width in DOMAINS.items()}
    score = sum((codes[name] * 2 < DOMAINS[name]).astype(int) for name in ("age", "education-num", "sex"))
    classes = np.where(score + generator.integers(0, 3, ROWS) > 2, "high", "low")
    missing = generator.permutation(ROWS) < INCOMPLETE
    columns = [_values(name, drawn) for name, drawn in codes.items()]
    frame = pl.DataFrame([*columns, pl.Series(TARGET, classes)])
    return frame.with_columns(occupation=pl.when(~pl.Series(missing)).then(pl.col("occupation")))


def _values(name: str, codes: npt.NDArray[np.int64]) -> pl.Series:
    numbers = pl.Series(name, codes)
    return numbers if name in NUMERIC else pl.select(pl.format(f"{name} {{}}", numbers).alias(name)).to_series()


def encode(frame: pl.DataFrame) -> list[EncodedColumn]:
    """The columns as codes; the frame has no missing values."""
    return [_encode(series) for series in frame]


def _encode(series: pl.Series) -> EncodedColumn:
    dictionary = series.unique().sort()
    kind = ColumnType.CATEGORICAL if series.dtype == pl.String else ColumnType.INTEGER
    codes = series.replace_strict(dictionary, pl.int_range(len(dictionary), eager=True), return_dtype=pl.Int32)
    return EncodedColumn(series.name, kind, codes.to_numpy().astype(np.int32), dictionary)


def expand(columns: list[EncodedColumn], copies: int) -> EncodedTable:
    """Each row and ``copies - 1`` variations of it with three attributes of other rows.

    Which three, and of which rows, is drawn for every variation. All rows come first, then a variation of each, and so
    on, so that the beginning of the table is a smaller table of the same kind. Variations that keep only three
    attributes, as the papers made them, have no class left to learn at ten million rows: trees shrink to their root.
    """
    parts = zip(*islice(variations(columns), copies), strict=True)
    joined = zip(columns, parts, strict=True)
    return EncodedTable.of(
        EncodedColumn(column.name, column.type, np.concatenate(part), column.dictionary) for column, part in joined
    )


def variations(columns: list[EncodedColumn]) -> Iterator[list[Codes]]:
    """The codes of all rows, then those of one variation after the other, without end."""
    generator = np.random.default_rng(2)
    height, attributes = len(columns[0].codes), columns[:-1]
    yield [column.codes for column in columns]
    while True:
        ranks = np.argsort(generator.random((height, len(attributes))), axis=1)
        varied = []
        for place, column in enumerate(attributes):
            others = column.codes[generator.integers(0, height, height)]
            varied.append(np.where(ranks[:, place] < CHANGED, others, column.codes))
        yield [*varied, columns[-1].codes]


def write_people(path: Path, columns: list[EncodedColumn], rows: int) -> None:
    """The first rows of the expansion as Parquet, however many, with a few of them in memory at a time."""
    from pyarrow.parquet import ParquetWriter

    schema = _decoded(columns, [column.codes[:1] for column in columns]).schema
    with ParquetWriter(path, schema, compression="zstd") as writer:
        for codes in _batches(columns, rows):
            writer.write_table(_decoded(columns, codes), row_group_size=GROUP)


def _batches(columns: list[EncodedColumn], rows: int) -> Iterator[list[Codes]]:
    """The codes of that many rows in batches of about a million."""
    several, made = -(-GROUP // len(columns[0].codes)), variations(columns)
    while rows > 0:
        batch = [np.concatenate(part)[:rows] for part in zip(*islice(made, several), strict=True)]
        yield batch
        rows -= len(batch[0])


def _decoded(columns: list[EncodedColumn], codes: list[Codes]) -> pa.Table:
    pairs = zip(columns, codes, strict=True)
    return pl.DataFrame([column.dictionary.gather(part) for column, part in pairs]).to_arrow()


def head(table: EncodedTable, rows: int) -> EncodedTable:
    """The first rows."""
    return EncodedTable.of(
        EncodedColumn(column.name, column.type, column.codes[:rows], column.dictionary)
        for column in table.columns.values()
    )


def decode(table: EncodedTable) -> pl.DataFrame:
    """The values again."""
    return pl.DataFrame([column.dictionary.gather(column.codes) for column in table.columns.values()])
