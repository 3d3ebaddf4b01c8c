"""The released rows, written by Spark's own writer: one Parquet file for each piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from incrowd.engines.blocks.drafting import Drafting
from incrowd.engines.embedded.drafting import draft_columns
from incrowd.engines.spark.packing import cells
from incrowd.engines.spark.pieces import Mixing, Pieces, by_piece
from incrowd.engines.spark.session import EXACT, ONE_BLOCK_AT_A_TIME, set_for_a_while
from incrowd.engines.spark.tasks import mapped, told

_BATCH = 1 << 16


def write_pieces(pieces: Pieces, fields: Mapping[str, Any], folder: str) -> None:
    """Write the release to a folder that does not exist yet. ``fields`` are the Spark types of the source."""
    schema = released_schema(pieces.drafting, fields)
    with told(), set_for_a_while(pieces.frame.sparkSession, ONE_BLOCK_AT_A_TIME | EXACT):
        drafted = mapped(pieces.frame.drop("origins"), Releasing(pieces.mixing, arrow_schema(schema)), schema)
        options = {"maxRecordsPerFile": "0", "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}
        drafted.write.options(**options).mode("error").parquet(folder)


@dataclass(frozen=True, eq=False)
class Releasing:
    """Puts pieces together and hands on their released columns."""

    mixing: Mixing
    schema: Any

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The released rows."""
        for key, parts in by_piece(cells(batches)):
            released = self.mixing.released(key, parts)
            yield from released.cast(self.schema).to_batches(max_chunksize=_BATCH)


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


def _plain_type(dtype: pl.DataType) -> Any:
    from pyspark.sql import types as kinds

    known = {
        pl.String: kinds.StringType,
        pl.Int64: kinds.LongType,
        pl.Float64: kinds.DoubleType,
        pl.Date: kinds.DateType,
    }
    found = kinds.BooleanType if dtype == pl.Boolean else known[type(dtype)]
    return found()


def _without_length(kind: Any) -> Any:
    """Text without a longest length: that of the source is nobody's business."""
    from pyspark.sql.types import StringType

    return StringType() if kind.typeName().partition("(")[0] in ("string", "char", "varchar") else kind
