"""Parquet files that tasks open as files: their row groups, read by PyArrow instead of by Spark.

Spark's reader makes rows of columns, and columns of these rows again for Python. Where every task can open the files,
and both readers plainly mean the same by them, the columns go to Python as they are. Footers hold cells, the least and
the greatest: tasks look at them, too.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter
from typing import Any
from urllib.parse import unquote, urlsplit

from incrowd.errors import OutputError
from incrowd.rows.spark.tasks import Work, cells, errors_translated, mapped

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
