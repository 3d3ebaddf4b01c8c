"""A table that Spark knows: a frame, a path or a name in a catalog. Its rows stay with the executors."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import polars as pl

from incrowd.errors import FileFormatError, HeaderError, ParameterError, ValuesError
from incrowd.rows.spark.row_groups import RowGroups, row_groups
from incrowd.rows.spark.tasks import Work, errors_translated, in_blocks, mapped
from incrowd.vocabulary.schema import unknown_column

Answer = TypeVar("Answer")
DRAFTED_ROWS = 100_000
_TYPES: dict[str, pl.DataType] = {
    "string": pl.String(),
    "char": pl.String(),
    "varchar": pl.String(),
    "boolean": pl.Boolean(),
    "tinyint": pl.Int8(),
    "smallint": pl.Int16(),
    "int": pl.Int32(),
    "bigint": pl.Int64(),
    "float": pl.Float32(),
    "double": pl.Float64(),
    "date": pl.Date(),
    "timestamp": pl.Datetime("us", "UTC"),
    "timestamp_ntz": pl.Datetime("us"),
}


@dataclass(frozen=True, eq=False)
class SparkTable:
    """A table whose types can be released."""

    frame: Any  # the Spark frame, its columns named by their position: Spark takes ``Age`` and ``age`` for one name
    schema: Mapping[str, pl.DataType]  # the true names and the polars types of the columns
    fields: Mapping[str, Any]  # the Spark types of the columns
    name: str  # what the table is called in messages
    groups: RowGroups | None = None  # the row groups of the files it is made of, if tasks can read them without Spark

    @property
    def session(self) -> Any:
        """The session of the frame."""
        return self.frame.sparkSession

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.schema)

    def at(self, name: str) -> str:
        """The column of ``frame`` that has a name."""
        return position(self.place(name))

    def place(self, name: str) -> int:
        """The position of a column."""
        try:
            return self.columns.index(name)
        except ValueError:
            raise HeaderError(unknown_column(name, self.columns)) from None

    def rows(self) -> int:
        """Number of rows, counted."""
        with errors_translated():
            return int(self.frame.count())

    def on_a_sample(self, ask: Callable[[pl.DataFrame], Answer], rows: int = DRAFTED_ROWS) -> Answer:
        """What an executor says of at most so many rows. They stay there.

        They are the first rows of row groups all over the table where tasks read files, else the first of the table.
        """
        seen, answer = Seen(tuple(self.columns), ask, rows), "answer binary"
        with errors_translated():
            if self.groups is not None and self.groups.plain(self.fields, self.columns):
                answers = self.groups.sampled(self.columns, seen, rows, answer).collect()
            else:
                answers = mapped(self.frame.limit(rows).coalesce(1), seen, answer).collect()
        if not answers:
            raise FileFormatError("The table has no rows. Give a table with at least one row.")
        reply: Answer = pickle.loads(bytes(answers[0].answer))
        return reply

    def mapped(self, names: Sequence[str], coded: Sequence[str], work: Work, rows: int, schema: str) -> Any:
        """A frame of what some work makes of the rows, their columns in the order of ``names``.

        Tasks read files themselves where both readers mean the same. Texts that are ``coded`` then come with
        dictionaries, and batches have at most so many rows.
        """
        if self.groups is not None and self.groups.plain(self.fields, names):
            texts = [name for name in coded if self.schema[name] == pl.String]
            return self.groups.mapped(names, texts, work, rows, schema)
        return mapped(self.frame.select([self.at(name) for name in names]), work, schema)

    def uniqueness(self, names: Sequence[str], missing: Sequence[str] = ()) -> dict[str, tuple[int, int]]:
        """For each column the rows with a value and the different values, counted over all rows.

        ``missing`` are the texts that mean that there is no value.
        """
        from pyspark.sql import functions as sql

        if not names:
            return {}
        known = [self._known(name, missing) for name in names]
        counted = [count for column in known for count in (sql.count(column), sql.countDistinct(column))]
        with errors_translated():
            counts = self.frame.agg(*counted).collect()[0]
        return {name: (int(counts[2 * i]), int(counts[2 * i + 1])) for i, name in enumerate(names)}

    def _known(self, name: str, missing: Sequence[str]) -> Any:
        """A column as Spark knows it, null where there is no value; text as bytes, whatever collation it has."""
        from pyspark.sql import functions as sql

        column = sql.col(self.at(name))
        if self.schema[name] != pl.String:
            return column
        return sql.when(~column.isin(list(missing)), column).cast("binary") if missing else column.cast("binary")


@dataclass(frozen=True, eq=False)
class Seen:
    """What is said of the rows of the one partition there is."""

    names: tuple[str, ...]
    ask: Callable[[pl.DataFrame], Any]
    rows: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """One answer, if there is a row."""
        import pyarrow as pa

        for table in in_blocks(batches, self.rows):
            answer = self.ask(pl.DataFrame(table.rename_columns(list(self.names))))
            yield pa.record_batch({"answer": [pickle.dumps(answer)]})
            return


def position(place: int) -> str:
    """The name of a column by its position."""
    return f"c{place}"


def open_table(source: Any, session: Any) -> SparkTable:
    """A Spark frame, the path of Parquet files, or the name of a table in Spark's catalog."""
    from pyspark.sql import DataFrame

    if isinstance(source, DataFrame):
        return of_frame(source, "a Spark table")
    if not isinstance(source, str):
        raise ParameterError("Give a Spark frame, the path of Parquet files, or the name of a table.")
    with errors_translated():
        if session.catalog.tableExists(source) if _is_name(source) else False:
            return of_frame(session.table(source), source)
    from pyspark.errors import AnalysisException

    try:
        frame = session.read.parquet(source)
    except AnalysisException:
        raise FileFormatError(
            "Spark finds neither a table of that name nor Parquet files at that path. Other formats: read them "
            "with spark.read and give the frame."
        ) from None
    return replace(of_frame(frame, source.rstrip("/").rpartition("/")[2]), groups=row_groups(frame))


def of_frame(frame: Any, name: str) -> SparkTable:
    """A Spark frame whose columns have types that can be released.

    Text with a collation is refused: under one, different texts may be one value.
    """
    fields = {field.name: field.dataType for field in frame.schema.fields}
    names = [field.name for field in frame.schema.fields]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise HeaderError(f"Column names must be unique; {', '.join(map(repr, twice))} occurs more than once.")
    schema = {name: polars_type(name, kind.simpleString()) for name, kind in fields.items()}
    return SparkTable(frame.toDF(*(position(place) for place in range(len(names)))), schema, fields, name)


def polars_type(name: str, spark: str) -> pl.DataType:
    """The polars type of a column of a Spark type."""
    plain = spark.partition("(")[0]
    if plain == "decimal":
        precision, _, scale = spark.partition("(")[2].rstrip(")").partition(",")
        return pl.Decimal(int(precision), int(scale))
    if plain not in _TYPES:
        raise ValuesError(
            f"Column {name!r} has the Spark type {plain}. Convert it to text, numbers or dates, or drop it."
        )
    return _TYPES[plain]


def _is_name(text: str) -> bool:
    """Whether a text may be the name of a table: no path has only letters, digits, underscores and dots."""
    return all(part.replace("_", "a").isalnum() for part in text.split("."))
