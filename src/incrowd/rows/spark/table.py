"""A table that Spark knows: a frame, a path or a name in a catalog. Its rows stay with the executors.

Spark's reader makes rows of columns, and columns of these rows again for Python. Where every task can open the Parquet
files, and both readers plainly mean the same by them, PyArrow reads their row groups instead, and the columns go to
Python as they are. Footers hold cells, the least and the greatest: tasks look at them, too.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import polars as pl

from incrowd.errors import FileFormatError, HeaderError, OutputError, ParameterError, ValuesError
from incrowd.rows.spark.session import Work, cells, errors_translated, in_blocks, mapped, translated
from incrowd.vocabulary.schema import unknown_column

SHARED = "spark.incrowd.sharedFiles"
"""The setting of a session by which a user says that every executor sees the same local files."""

PLACES = 8
"""A sample comes from at least so many row groups, if there are so many."""

PLAIN = {
    "string": ("string", "large_string"),
    "boolean": ("bool",),
    "tinyint": ("int8",),
    "smallint": ("int16",),
    "int": ("int32",),
    "bigint": ("int64",),
    "float": ("float",),
    "double": ("double",),
    "date": ("date32[day]",),
}
"""Types of Spark, and the Arrow types of files in which they mean the same."""

_OTHER = (
    "Of files, the engine spark reads Parquet: leave the engine out, write the table as Parquet, or read it with "
    "spark.read and give the frame."
)


@dataclass(frozen=True)
class File:
    """A file as it was when it was looked at."""

    path: str
    size: int
    changed: int

    @classmethod
    def at(cls, path: str) -> File:
        """The file as it is now."""
        status = os.stat(path)
        return cls(path, status.st_size, status.st_mtime_ns)

    def check(self) -> None:
        """Raise if it is another by now."""
        if File.at(self.path) != self:
            raise OutputError("A file of the table changed while it was read. Nothing was released: start again.")


@dataclass(frozen=True)
class RowGroup:
    """A row group of a file, and how many rows it has."""

    file: File
    number: int
    rows: int


Footer = tuple[tuple[tuple[str, str], ...] | None, tuple[RowGroup, ...]]
"""The columns of a file with their Arrow types, and its row groups."""


@dataclass(frozen=True, eq=False)
class RowGroups:
    """The row groups of files with the same columns; ``types`` are the Arrow types of these by name."""

    session: Any
    types: Mapping[str, str]
    groups: tuple[RowGroup, ...]

    def plain(self, fields: Mapping[str, Any], names: Iterable[str]) -> bool:
        """Whether PyArrow reads some columns as Spark does; ``fields`` are the Spark types of all columns."""
        return list(self.types) == list(fields) and all(
            self.types[name] in PLAIN.get(fields[name].simpleString(), ()) for name in names
        )

    def parts(self, rows: int) -> list[list[RowGroup]]:
        """The groups in order, in parts of at most so many rows, and for every core one if there are so many."""
        most = min(rows, -(-self.rows // self.session.sparkContext.defaultParallelism))
        parts: list[list[RowGroup]] = []
        height = 0
        for group in self.groups:
            if not parts or height + group.rows > most:
                parts.append([])
                height = 0
            parts[-1].append(group)
            height += group.rows
        return parts

    @property
    def rows(self) -> int:
        """The rows of all groups."""
        return sum(group.rows for group in self.groups)

    def mapped(self, names: Sequence[str], coded: Sequence[str], work: Work, rows: int, schema: str) -> Any:
        """A frame of what some work makes of the rows, ``coded`` being texts that come with dictionaries."""
        return self._map(self.parts(rows), RowGroupReading(tuple(names), tuple(coded), work, rows), schema)

    def sampled(self, names: Sequence[str], work: Work, rows: int, schema: str) -> Any:
        """A frame of what some work makes of about so many rows, the first ones of groups from all over the table."""
        every = len(self.groups)
        count = min(every, max(PLACES, -(-rows * every // max(self.rows, 1))))
        some = [self.groups[place * every // count] for place in range(count)]
        return self._map([some], RowGroupReading(tuple(names), (), work, -(-rows // count), first=True), schema)

    def _map(self, parts: Sequence[Sequence[RowGroup]], reading: RowGroupReading, schema: str) -> Any:
        return mapped(_spread(self.session, parts, len(parts)), reading, schema)


@dataclass(frozen=True, eq=False)
class RowGroupReading:
    """Reads the groups it is told of, and hands them on to some work: all rows, or the first ones of each group."""

    names: tuple[str, ...]
    coded: tuple[str, ...]
    work: Work
    rows: int
    first: bool = False

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """What the work makes of the rows."""
        return self.work(self._batches(batches))

    def _batches(self, incoming: Iterable[Any]) -> Iterator[Any]:
        for row in cells(incoming):
            groups = pickle.loads(row["item"])
            for file, members in groupby(groups, key=attrgetter("file")):
                file.check()
                yield from self._read(file, [group.number for group in members])
                file.check()

    def _read(self, file: File, numbers: Sequence[int]) -> Iterator[Any]:
        import pyarrow.parquet as pq

        options = {"read_dictionary": self.coded, "pre_buffer": False, "page_checksum_verification": True}
        batching = {"batch_size": self.rows, "columns": list(self.names), "use_threads": False}
        with pq.ParquetFile(file.path, **options) as opened:
            for some in [[number] for number in numbers] if self.first else [numbers]:
                batches = opened.iter_batches(row_groups=list(some), **batching)
                for batch in islice(batches, 1) if self.first else batches:
                    yield batch.select(self.names)


def row_groups(frame: Any) -> RowGroups | None:
    """The row groups behind a frame of Parquet files, unless tasks cannot open the files or these differ."""
    session = frame.sparkSession
    with errors_translated():
        files = [urlsplit(file) for file in sorted(frame.inputFiles())]
        if not files or not open_to_tasks(session) or not all(_plain_place(file) for file in files):
            return None
        paths = [unquote(file.path) for file in files]
        looked_at = _spread(session, paths, min(len(paths), session.sparkContext.defaultParallelism))
        answers = mapped(looked_at, footers, "answer binary").collect()
    contents = [pickle.loads(row.answer) for row in answers]
    if any(one != contents[0][0] for one, _ in contents) or contents[0][0] is None:
        return None
    groups = [group for _, some in contents for group in some if group.rows]
    groups.sort(key=lambda group: (group.file.path, group.number))
    return RowGroups(session, dict(contents[0][0]), tuple(groups)) if groups else None


def footers(batches: Iterable[Any]) -> Iterator[Any]:
    """For each file its columns with their Arrow types, and its row groups; without columns if it cannot be opened."""
    import pyarrow as pa

    for row in cells(batches):
        answer: Footer
        try:
            answer = _footer(pickle.loads(row["item"]))
        except (OSError, pa.ArrowException):
            answer = None, ()
        yield pa.record_batch({"answer": [pickle.dumps(answer)]})


def _footer(path: str) -> Footer:
    import pyarrow.parquet as pq

    file = File.at(path)
    with pq.ParquetFile(path) as opened:
        metadata = opened.metadata.metadata or {}
        old = b"org.apache.spark.legacyDateTime" in metadata or metadata.get(b"org.apache.spark.version", b"3") < b"3"
        types = [
            (field.name, "old date" if old and "date" in str(field.type) else str(field.type))
            for field in opened.schema_arrow
        ]
        rows = [opened.metadata.row_group(number).num_rows for number in range(opened.num_row_groups)]
    return tuple(types), tuple(RowGroup(file, number, height) for number, height in enumerate(rows))


def open_to_tasks(session: Any) -> bool:
    """Whether tasks see the files of this machine, and Spark has no keys for files that they lack."""
    shared = session.conf.get(SHARED, "false") == "true"
    keys = session._jsc.hadoopConfiguration().get("parquet.crypto.factory.class")
    return keys is None and (shared or session.sparkContext.master.startswith("local"))


def _plain_place(file: Any) -> bool:
    """Whether a file is on a local file system, and not in a folder that says what is in a column."""
    return file.scheme == "file" and "=" not in unquote(file.path).rpartition("/")[0]


def _spread(session: Any, items: Sequence[Any], tasks: int) -> Any:
    """A frame with a row for each item, in partitions for so many tasks."""
    rows = session.sparkContext.parallelize([(pickle.dumps(one),) for one in items], tasks)
    return session.createDataFrame(rows, "item binary")


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
        known = [self.known(name, missing) for name in names]
        counted = [count for column in known for count in (sql.count(column), sql.countDistinct(column))]
        with errors_translated():
            counts = self.frame.agg(*counted).collect()[0]
        return {name: (int(counts[2 * i]), int(counts[2 * i + 1])) for i, name in enumerate(names)}

    def known(self, name: str, missing: Sequence[str]) -> Any:
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
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import AnalysisException, PySparkException

    try:
        frame = session.read.parquet(source)
    except AnalysisException:
        raise FileFormatError(f"Spark finds neither a table of that name nor files at that path. {_OTHER}") from None
    except (PySparkException, Py4JJavaError) as failure:
        if "CANNOT_READ_FILE_FOOTER" in str(failure):
            raise FileFormatError(f"What lies at that path is not Parquet, or is damaged. {_OTHER}") from None
        raise translated(str(failure), type(failure).__name__) from None
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
