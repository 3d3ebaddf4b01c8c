"""One DuckDB for all tests of a process: each connection to it has its own temporary tables, views and macros.

A database of its own takes 17 ms to start, a connection a quarter of one. Who limits memory or names a scratch folder
gets a database of its own, as in the program; so does the reader of database files, which attaches them. Tables that
are not temporary and functions of Python stay in a database: who makes them takes :data:`start`.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import incrowd.verification.database_files  # noqa: F401, before: it keeps databases of its own
from incrowd.verification import opening

start = opening.connect


@cache
def database(_process: int, threads: int | None) -> Any:
    """The database of this process, which may be a fork of another."""
    return start(threads=threads)


def connect(memory: int | None = None, threads: int | None = None, scratch: Path | None = None) -> Any:
    """A connection as the program opens it."""
    if memory is not None or scratch is not None:
        return start(memory, threads, scratch)
    connection = database(os.getpid(), threads).cursor()
    connection.execute("SET enable_progress_bar = false")
    return connection


def share() -> None:
    """Whoever imports the program's ``connect`` from now on gets this one."""
    opening.connect = connect
