"""Work that is shipped to the executors, rows that travel as bytes, and what comes back when a task fails."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import polars as pl

from incrowd import errors
from incrowd.errors import IncrowdError, MissingPackageError, OutputError

# Work that is shipped to the executors, and what comes back when it fails.
Work = Callable[[Iterable[Any]], Iterator[Any]]
_OWN_ERROR = re.compile(r"incrowd\.errors\.(\w+): (.+)")


class TaskError(Exception):
    """A task failed; only the type of its error is told, because its words may quote cells."""


@dataclass(frozen=True, eq=False)
class Task:
    """Work on the batches of one partition, in a form that Spark can ship."""

    work: Work

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Do the work; an error tells no more than it may."""
        with quiet():
            yield from self.work(batches)


@contextmanager
def quiet() -> Iterator[None]:
    """Errors of this package pass; of others only the type gets out, into no log and to no driver."""
    try:
        yield
    except (IncrowdError, GeneratorExit):
        raise
    except Exception as failure:
        raise TaskError(type(failure).__name__) from None


def mapped(frame: Any, work: Work, schema: str | Any) -> Any:
    """A frame with each partition's batches changed by some work."""
    with unwarned():
        return frame.mapInArrow(Task(work), schema)


@contextmanager
def unwarned() -> Iterator[None]:
    """Without the warning of Spark that it does not know the version of pandas: pandas is not used."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


@contextmanager
def errors_translated() -> Iterator[None]:
    """Failures of Spark as errors of this package: without rows, tracebacks and plans."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JJavaError) as failure:
        raise translated(str(failure), type(failure).__name__) from None


def translated(words: str, kind: str) -> IncrowdError:
    """The error behind the words of a failed job."""
    for name, message in reversed(_OWN_ERROR.findall(words)):
        known = getattr(errors, name, None)
        if isinstance(known, type) and issubclass(known, IncrowdError):
            return known(message.strip())
    missing = re.findall(r"ModuleNotFoundError: No module named '([\w.]+)'", words)
    if missing:
        return MissingPackageError(
            f"The Python of the executors lacks the module {missing[-1]!r}. Install the same incrowd there as here, "
            "and name that Python in PYSPARK_PYTHON."
        )
    inner = re.findall(r"TaskError: (\w+)", words)
    reason = inner[-1] if inner else kind
    return OutputError(f"A task of Spark failed ({reason}). Nothing was released. See what the executors log.")


# Frames as bytes: a block of rows travels through Spark as one cell.
def packed(frame: pl.DataFrame) -> bytes:
    """A frame as an Arrow stream."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    table = frame.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def unpacked(data: Any, without: str | None = None) -> pl.DataFrame:
    """The frame of an Arrow stream; columns whose names start ``without`` are left packed."""
    import pyarrow as pa

    stream = pa.py_buffer(data)
    if without is None:
        return pl.DataFrame(pa.ipc.open_stream(stream).read_all())
    names = pa.ipc.open_stream(stream).schema.names
    wanted = [place for place, name in enumerate(names) if not name.startswith(without)]
    options = pa.ipc.IpcReadOptions(included_fields=wanted)
    return pl.DataFrame(pa.ipc.open_stream(stream, options=options).read_all())


def in_blocks(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """The rows of PyArrow batches in tables of exactly so many rows; the last may have fewer."""
    import pyarrow as pa

    waiting: list[Any] = []
    missing = rows
    for batch in batches:
        at = 0
        while batch.num_rows - at >= missing:
            waiting.append(batch.slice(at, missing))
            yield pa.Table.from_batches(waiting)
            at, waiting, missing = at + missing, [], rows
        if at < batch.num_rows:
            waiting.append(batch.slice(at))
            missing -= batch.num_rows - at
    if waiting:
        yield pa.Table.from_batches(waiting)


def cells(batches: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """The rows of PyArrow batches, one by one, as Python values; binary cells are not copied."""
    import pyarrow as pa

    for batch in batches:
        for at in range(batch.num_rows):
            row = {name: batch.column(place)[at] for place, name in enumerate(batch.schema.names)}
            yield {
                name: (cell.as_buffer() if cell.is_valid else None)
                if isinstance(cell, pa.BinaryScalar | pa.LargeBinaryScalar)
                else cell.as_py()
                for name, cell in row.items()
            }
