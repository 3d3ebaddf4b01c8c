"""What the commands have in common: the table they read, options, enough memory, progress, JSON."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from incrowd.errors import InputError, ParameterError
from incrowd.tables.options import MemoryLimit, Reading

if TYPE_CHECKING:
    from incrowd.tables.databases.tables import NewTable, Query


T = TypeVar("T")
_File = TypeVar("_File", str, Path)

_LIBRARIES = 4 << 30
_OF_A_CORE = 64 << 20
_OF_A_BYTE = 30


def enough_memory(file: _File) -> _File:
    """Give the file back if a limit on the address space (``ulimit -v``) leaves room for reading it.

    The libraries below end the process when they get no memory, so this is asked before they are loaded. A table of a
    database is read in pieces, so only they count for it.
    """
    limit = _address_space()
    size = Path(file).stat().st_size if Path(file).is_file() else 0
    needed = _LIBRARIES + _OF_A_CORE * (os.cpu_count() or 1) + _OF_A_BYTE * size
    if limit is not None and limit < needed:
        raise InputError(
            f"There is not enough memory: a limit leaves {limit >> 20:,} MB of address space, and this table needs "
            f"about {needed >> 20:,} MB. Raise the limit (ulimit -v)."
        )
    return file


def _address_space() -> int | None:
    """The limit in bytes; None if there is none, or no such notion on this system."""
    try:
        import resource
    except ModuleNotFoundError:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


File = Annotated[
    Path,
    typer.Argument(
        help="The table: CSV (any delimiter, .gz, .zst), Parquet, Arrow, ARFF, JSON Lines, Excel, SPSS, Stata, SAS.",
        callback=enough_memory,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON, for machines.")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace a file that exists.")]
READING = {"Reading files": (Reading,)}
"""The options that say how a text file is read."""
READING_WHOLE = {"Engine": (MemoryLimit,), **READING}
"""The same of a command that holds the whole table."""


def print_json(data: object) -> None:
    """Plain data on standard output."""
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False, default=str))


def write_text(path: Path, text: str, *, replace: bool = False) -> None:
    """Write a file that is there whole, or not at all."""
    from incrowd.tables.publishing.staging import staged

    with staged(path, replace=replace) as hidden:
        hidden.write_text(text, encoding="utf-8", newline="")


def plugged(kind: str, own: Collection[str], entry_of: Callable[[Any], T]) -> dict[str, T]:
    """What other packages add, by name; what is wrong with the rest is said beside it."""
    from incrowd.optional import usable

    entries, problems = usable(kind, own, entry_of)
    for problem in problems:
        typer.echo(f"note: {problem}", err=True)
    return {plugin.name: entry for plugin, entry in entries.items()}


@contextmanager
def loading() -> Iterator[None]:
    """While libraries are imported: they leave no garbage, and each search for it would look at all of them."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def kernels_are_compiled() -> bool:
    """Whether an earlier run has left compiled kernels beside the package or in Numba's own folder."""
    package = Path(__file__).parents[1]
    folders = [package, Path(os.environ.get("NUMBA_CACHE_DIR", Path.home() / ".cache" / "numba"))]
    return any(next(folder.rglob("*.nbi"), None) for folder in folders if folder.is_dir())


class FirstRun:
    """Words for a line of progress while kernels are compiled that no earlier run has left; none at other times."""

    def __init__(self) -> None:
        self._is_first = not kernels_are_compiled()

    def __str__(self) -> str:
        """The words, now: a small table needs no compiled kernels."""
        return "first run: compiling, up to half a minute" if self._is_first and "numba" in sys.modules else ""


def recorder() -> Callable[..., None] | None:
    """What writes facts of a run as lines of JSON, for another program, to the file that ``INCROWD_PROGRESS`` names.

    ``stage``, perhaps ``done``, ``total`` and ``left`` (seconds), and in the end ``error`` and ``message``.
    """
    file = os.environ.get("INCROWD_PROGRESS")
    if not file:
        return None

    def record(**facts: object) -> None:
        with Path(file).open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({**facts, "at": time.time()}, ensure_ascii=False) + "\n")

    return record


@contextmanager
def progress(quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """A line that tells the running stage, how far it is and the time, on a terminal; nothing when piped.

    It changes in place and is gone in the end. Another program is told by :func:`recorder`.
    """
    if (record := recorder()) is not None:
        yield lambda stage: record(stage=stage)
        return
    if quiet or not sys.stderr.isatty():
        yield lambda _stage: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description} {task.fields[first]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", first=FirstRun())
        yield lambda stage: bar.update(task, description=escape(stage))


FileOrTable = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="The table: CSV (any delimiter, .gz, .zst), Parquet, Arrow, ARFF, JSON Lines, Excel, SPSS, Stata, SAS; "
        "or of a database: clinic.db?table=name (SQLite, DuckDB), postgresql:///database?table=name.",
        callback=enough_memory,
    ),
]

_DATABASE = "Databases"
Table = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The table of the database: research.visits.", rich_help_panel=_DATABASE),
]
Select = Annotated[
    str | None,
    typer.Option(
        metavar="SELECT", help="One query that gives the rows to read from the database.", rich_help_panel=_DATABASE
    ),
]


def table_at(text: str, table: str | None = None, query: str | None = None) -> Path | Query:
    """The file, or what is to be read from the database at this address.

    Examples
    --------
    >>> table_at("people.csv").name
    'people.csv'
    >>> print(table_at("postgresql:///clinic", table="visits"))
    table visits of the database clinic
    """
    from incrowd.tables.databases.tables import Address, DatabaseFile, Query, is_address, is_database_file

    if is_address(text):
        return Query.of(Address.parse(text).at(table), query)
    if is_database_file(text):
        return Query.of(DatabaseFile.parse(text).at(table), query)
    if table is not None or query is not None:
        raise ParameterError("--table and --query need a database: postgresql:///clinic, or a file such as clinic.db.")
    return Path(text)


def called(table: Path | Query) -> str:
    """What the table is called on the screen."""
    return table.name if isinstance(table, Path) else str(table)


def place(to: str | Path, replace: bool) -> Path | NewTable:
    """Where a release goes: a file, or a new table."""
    from incrowd.tables.databases.tables import NewTable, is_address

    if is_address(str(to)):
        return NewTable.of(str(to), replace=replace)
    return Path(to)
