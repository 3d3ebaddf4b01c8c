"""Opening a written table in DuckDB.

DuckDB takes ``Age`` and ``age`` for one name. So a table is opened with its columns named by their position,
:func:`column`, and its true names are given back beside it.
"""

from __future__ import annotations

import json
import math
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd.errors import FileFormatError
from incrowd.verification.delimited import LONGEST_LINE, check_count, examine, unpacked
from incrowd.verification.statistics_files import released_table, stated_rows
from incrowd.verification.workbook import sheet_rows, workbook_table
from incrowd.vocabulary.forms import FileForm

# ARFF: its declarations and rows, told by its lines alone, and its fields as SQL.
# a field: quoted parts, in which a backslash takes the next letter as it is, and plain ones
FIELD = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,'"])+"""
NEVER_IN_A_LINE = "\x1f\x1e\x1d\x1c"
_NAME = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)""", re.IGNORECASE)


def examine_arff(path: Path) -> tuple[list[str], int, int]:
    """The names of the attributes, how many lines come before the data, and how many rows the data has.

    A line of the data that begins with ``%`` is a comment: ARFF is defined so.
    """
    names: list[str] = []
    before = rows = 0
    data = False
    with path.open(encoding="utf-8-sig", newline="") as lines:
        for line in lines:
            content = line.strip()
            if data:
                rows += bool(content) and not content.startswith("%")
                continue
            before += 1
            data = content.lower() == "@data"
            names += [_unquoted(match[1]) for match in [_NAME.match(content)] if match]
    if not data or not names:
        raise FileFormatError(f"{path.name} could not be verified: it is no ARFF file with attributes and data.")
    return names, before, rows


def cell_of(field: str) -> str:
    """The value of a field as SQL: nothing for ``?``; a quoted text without its quotes and backslashes."""
    inner = rf"regexp_replace(substr({field}, 2, length({field}) - 2), '\\(.)', '\1', 'g')"
    quoted = f"{field}[1] IN (chr(34), chr(39))"
    return f"CASE WHEN {field} = '?' THEN NULL WHEN {quoted} THEN {inner} ELSE {field} END"


def _unquoted(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name[1:-1]) if name[0] in "'\"" and len(name) > 1 else name


_LINES = f"max_line_size = {LONGEST_LINE}, buffer_size = 32000000"  # that of the usual 16 lines were 256 MB
_PLAIN_PARQUET = "hive_partitioning = false, union_by_name = false"
_PATTERN = "*?["


def connect(memory: int | None = None, threads: int | None = None, scratch: Path | None = None) -> Any:
    """A fresh in-memory database that reads files in their order and loads nothing from outside.

    ``memory`` limits its bytes; what does not fit goes to the folder ``scratch``, and without one nowhere.
    """
    wanted = {"memory_limit": memory and f"{memory}B", "threads": threads, "temp_directory": scratch and str(scratch)}
    settings = {name: value for name, value in wanted.items() if value is not None}
    if not _PREPARED:
        return _started(settings)
    connection = _PREPARED.pop()
    for name in _THREADS:
        connection.execute(f"RESET {name}")
    for name, value in settings.items():
        connection.execute(f"SET {name} = {text(str(value))}")
    return connection


_PREPARED: list[Any] = []
_THREADS = ("threads", "async_threads")


def prepare() -> None:
    """Start the database that the next connection of this process, or of each of its forks, gets.

    To start one takes as long as all questions about a small table; without threads of its own it outlives a fork.
    """
    _PREPARED[:] = [_started({"threads": 1, "async_threads": 0})]


def _started(settings: dict[str, Any]) -> Any:
    """A database; without a folder of its own it would spill into the one where the program runs."""
    fixed = {"autoinstall_known_extensions": "false", "preserve_insertion_order": "true", "temp_directory": ""}
    connection = duckdb_module().connect(config=fixed | settings)
    connection.execute("SET disabled_optimizers = 'in_clause'")  # makes IN a join, which loses the order of the rows
    connection.execute("SET enable_progress_bar = false")  # it would write into the standard output of a shell
    return connection


def duckdb_module() -> Any:
    """DuckDB, imported with interrupts held back: its native code ends the process if its import is interrupted."""
    if hasattr(signal, "pthread_sigmask"):
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            import duckdb
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    import duckdb

    return duckdb


def create_macros(connection: Any, macros: Sequence[str]) -> None:
    """Let queries call macros, each written as its name, its arguments and ``AS``."""
    for macro in macros:
        connection.execute(f"CREATE OR REPLACE TEMP MACRO {macro}")


def column(position: int) -> str:
    """The name under which queries know a column.

    Examples
    --------
    >>> column(3)
    'c3'
    """
    return f"c{position}"


def text(value: str) -> str:
    """A text as SQL.

    Examples
    --------
    >>> text("it's")
    "'it''s'"
    """
    return "'" + value.replace("'", "''") + "'"


@dataclass(frozen=True)
class Opened:
    """A file that DuckDB reads: the names of its columns in order, its rows counted another way, and the query.

    ``names_nan`` is false where no text of the file can be ``NaN``.
    """

    names: list[str]
    rows: int
    query: str
    names_nan: bool = True


def open_file(connection: Any, path: Path, form: FileForm, name: str = "released") -> Opened:
    """Register the file as a view, which is read again by every query.

    Nothing is guessed: text stays text, and how it is laid out is told by the form. Who reads the view has to compare
    the number of its rows with that of the file, by :func:`check_count`.
    """
    with guarded(path.name, form.kind):
        opened = _opened(connection, path, form)
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {opened.query}")
    return opened


def open_table(connection: Any, path: Path, form: FileForm, *, copy: bool = False, name: str = "released") -> list[str]:
    """Register the file as a table, its rows counted twice; the names of its columns, in order.

    With ``copy`` the file is read once, for many queries.
    """
    opened = open_file(connection, path, form, "opened" if copy else name)
    with guarded(path.name, form.kind):
        if copy:
            connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS FROM opened")
        [(rows,)] = connection.execute(f"SELECT count(*) FROM {name}").fetchall()
    check_count(path.name, rows, opened.rows)
    return opened.names


@contextmanager
def guarded(name: str, kind: str = "a table") -> Iterator[None]:
    """Turn what the libraries raise into one error; their own messages, which may quote cells, do not get out."""
    import duckdb

    try:
        yield
    except Exception as error:
        arrow = sys.modules.get("pyarrow")  # not loaded for its errors alone
        known = (duckdb.Error, OSError, UnicodeDecodeError, *((arrow.ArrowException,) if arrow else ()))
        if not isinstance(error, known):
            raise
        raise FileFormatError(
            f"{name} cannot be read as {kind} by the verification ({type(error).__name__})."
        ) from None


def open_rows(connection: Any, path: Path, names: Sequence[str], start: int, rows: int) -> None:
    """Some rows of a Parquet file as the table ``released``; each query reads the columns it asks for."""
    columns = ", ".join(map(column, range(len(names))))
    connection.execute(
        f"CREATE OR REPLACE TEMP VIEW released AS SELECT {columns} FROM read_parquet({exactly(connection, path)}, "
        f"{_PLAIN_PARQUET}, file_row_number = true) AS t({columns}, place) "
        f"WHERE place >= {start} AND place < {start + rows}"
    )


def open_large(connection: Any, path: Path, form: FileForm, scratch: Path | None) -> tuple[list[str], Path]:
    """Register a file of any size as the table ``released``; the names of its columns, and where its rows are.

    The rows are in a Parquet file, so that they can be read by their numbers: the file itself, or a copy in the folder
    ``scratch``.
    """
    copy = recounted_path(path, form, scratch)
    if copy == path:
        return open_file(connection, path, form).names, path
    with guarded(path.name, form.kind):
        names = _copy_arrow(path, copy) if form.kind == "arrow" else _copy_text(connection, path, form, copy)
    open_file(connection, copy, FileForm("parquet"))
    return names, copy


def recounted_path(path: Path, form: FileForm, scratch: Path | None) -> Path:
    """Where the rows of a large file are counted: the file itself, or its copy in the folder ``scratch``."""
    if form.kind == "parquet":
        return path
    assert scratch is not None
    return scratch / "recount.parquet"


def _copy_text(connection: Any, path: Path, form: FileForm, copy: Path) -> list[str]:
    """Copy a text file to Parquet; the names of its columns."""
    opened = open_file(connection, path, form)
    target = f"{text(str(copy))} (FORMAT parquet, COMPRESSION lz4_raw)"
    [(rows,)] = connection.execute(f"COPY (FROM released) TO {target}").fetchall()
    check_count(path.name, rows, opened.rows)
    return opened.names


def _copy_arrow(path: Path, copy: Path) -> list[str]:
    """Copy an Arrow file to Parquet, batch by batch; the names of its columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with arrow_batches(path) as (schema, batches):
        by_position = pa.schema([field.with_name(column(place)) for place, field in enumerate(schema)])
        with pq.ParquetWriter(copy, by_position, compression="lz4") as writer:
            for batch in batches:
                writer.write_batch(batch.rename_columns(by_position.names))
    return list(schema.names)


@contextmanager
def arrow_batches(path: Path) -> Iterator[tuple[Any, Iterator[Any]]]:
    """The schema of an Arrow file or stream, and its batches, each validated in full before anything looks at it.

    An offset that points beyond its buffer would otherwise end the process.
    """
    import pyarrow as pa

    with pa.memory_map(str(path)) as mapped:
        is_file = mapped.read(6) == b"ARROW1"
        mapped.seek(0)
        reader = pa.ipc.open_file(mapped) if is_file else pa.ipc.open_stream(mapped)
        batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else iter(reader)
        yield reader.schema, map(_validated, batches)


def _validated(batch: Any) -> Any:
    batch.validate(full=True)
    return batch


def register(connection: Any, table: Any, name: str) -> list[str]:
    """Register a PyArrow table under a name and return the names of its columns, in order."""
    names = list(table.column_names)
    connection.register(name, table.rename_columns([column(i) for i in range(len(names))]))
    return names


def exactly(connection: Any, path: Path) -> str:
    """The path as SQL, for functions that take it for a pattern: it stands for this file and no other.

    DuckDB has no way to say that a name is no pattern; a letter in brackets stands for itself. What it makes of the
    name is asked, and must be the file alone.
    """
    name = str(path.absolute())
    if not any(letter in name for letter in _PATTERN):
        return text(name)
    pattern = text("".join(f"[{letter}]" if letter in _PATTERN else letter for letter in name))
    if connection.execute(f"SELECT file FROM glob({pattern})").fetchall() != [(name,)]:
        raise FileFormatError(f"{path.name}: DuckDB takes this name for a pattern. Rename the file.")
    return pattern


def _opened(connection: Any, path: Path, form: FileForm) -> Opened:
    if form.kind == "arff":
        return _open_arff(connection, path)
    if form.kind == "excel":
        table = workbook_table(path)
        return Opened(register(connection, table, "workbook"), sheet_rows(path), "SELECT * FROM workbook")
    if form.kind in ("spss", "stata"):
        names = register(connection, released_table(path, form.kind), "statistics")
        return Opened(names, stated_rows(path, form.kind), "SELECT * FROM statistics")
    if form.kind == "jsonl":
        return _open_json_lines(connection, path, form.compression)
    if form.kind == "arrow":
        return _open_arrow(connection, path)
    if form.kind == "parquet":
        return _open_parquet(connection, path)
    return _open_delimited(connection, path, form)


def _open_delimited(connection: Any, path: Path, form: FileForm) -> Opened:
    structure = examine(path, form)
    columns = ", ".join(f"'{column(place)}': 'VARCHAR'" for place in range(len(structure.names)))
    query = (
        f"SELECT * FROM read_csv({exactly(connection, path)}, auto_detect = false, header = true, "
        f"columns = {{{columns}}}, delim = {text(form.delimiter)}, quote = '\"', escape = '\"', comment = '', "
        f"nullstr = {text(form.missing)}, allow_quoted_nulls = false, ignore_errors = false, "
        f"compression = {text(form.compression or 'none')}, strict_mode = true, null_padding = false, {_LINES})"
    )
    return Opened(structure.names, structure.rows, query, structure.names_nan)


def _open_arrow(connection: Any, path: Path) -> Opened:
    import pyarrow as pa

    with arrow_batches(path) as (schema, batches):
        table = pa.Table.from_batches(batches, schema)
    names = register(connection, table, "arrow_file")
    return Opened(names, table.num_rows, "SELECT * FROM arrow_file")


def _open_parquet(connection: Any, path: Path) -> Opened:
    import pyarrow.parquet as pq

    files = parquet_files(path)
    footers = [pq.read_metadata(file) for file in files]
    headers = {tuple(footer.schema.to_arrow_schema().names) for footer in footers}
    if len(headers) != 1:
        raise FileFormatError(f"{path.name} could not be verified: its files do not have the same columns.")
    listed = ", ".join(exactly(connection, file) for file in files)
    [names] = headers
    columns = ", ".join(map(column, range(len(names))))
    query = f"SELECT {columns} FROM read_parquet([{listed}], {_PLAIN_PARQUET}) AS t({columns})"
    return Opened(list(names), sum(footer.num_rows for footer in footers), query)


def parquet_files(path: Path) -> list[Path]:
    """The file, or the files of a folder in the order of their names; hidden ones are passed over."""
    if not path.is_dir():
        return [path]
    return sorted(entry for entry in path.iterdir() if not entry.name.startswith((".", "_")))


def _lines(connection: Any, path: Path, skip: int = 0, compression: str | None = None) -> str:
    """SQL: the lines of a text after the first so many, but for blank ones."""
    return (
        f"SELECT line FROM read_csv({exactly(connection, path)}, header = false, skip = {skip}, "
        f"auto_detect = false, delim = {text(NEVER_IN_A_LINE)}, quote = '', escape = '', comment = '', "
        f"columns = {{'line': 'VARCHAR'}}, compression = {text(compression or 'none')}, strict_mode = true, {_LINES}) "
        "WHERE trim(line) <> ''"
    )


def _open_arff(connection: Any, path: Path) -> Opened:
    """Names come from the declarations; the data part is read line by line and parted at its commas."""
    names, declared, rows = examine_arff(path)
    cells = ", ".join(f"{cell_of(f'trim(fields[{place + 1}])')} AS {column(place)}" for place in range(len(names)))
    query = (
        f"WITH lines AS ({_lines(connection, path, declared)} AND NOT starts_with(ltrim(line), '%')), "
        f"parts AS (SELECT line, regexp_extract_all(line, {text(FIELD)}) AS fields FROM lines), "
        f"whole AS (SELECT CASE WHEN len(fields) = {len(names)} AND array_to_string(fields, ',') = line THEN fields "
        "ELSE error('a row of another length') END AS fields FROM parts) "
        f"SELECT {cells} FROM whole"
    )
    return Opened(names, rows, query)


# JSON Lines: names, rows and types are told by Python, a line at a time; cells are taken by DuckDB.
_JSON = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}


def examine_json_lines(path: Path, compression: str | None = None) -> tuple[dict[str, str], int]:
    """The columns, each with the type of DuckDB that holds all its cells, and how many rows there are."""
    kinds: dict[str, set[type]] = {}
    beyond: set[str] = set()
    rows = 0
    with unpacked(path, compression) as lines:
        for line in lines:
            if not line.strip():
                continue
            rows += 1
            for name, value in _pairs(path, line, first=rows == 1):
                if isinstance(value, float) and not math.isfinite(value):
                    raise _no_objects(path)
                kinds.setdefault(name, set()).add(type(value))
                if type(value) is int and not -(2**63) <= value < 2**63:
                    beyond.add(name)
    if not rows or not kinds:
        raise _no_objects(path)
    return {name: _json_type(path, seen - {type(None)}, name in beyond) for name, seen in kinds.items()}, rows


def _pairs(path: Path, line: bytes, *, first: bool) -> list[tuple[str, Any]]:
    """The names of a line, each of which must be there once, and their plain values."""
    try:
        pairs = json.loads(line.decode("utf-8-sig" if first else "utf-8"), object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        pairs = None
    if not isinstance(pairs, tuple) or len(dict(pairs)) < len(pairs) or b"\r" in line.rstrip():
        raise _no_objects(path)
    return list(pairs)


def _json_type(path: Path, kinds: set[type], beyond: bool) -> str:
    """Numbers with and without decimals are numbers; whole ones beyond 64 bits are text."""
    if kinds == {int, float}:
        return "DOUBLE"
    if len(kinds) > 1 or not kinds <= set(_JSON):
        raise _no_objects(path)
    return "VARCHAR" if beyond or not kinds else _JSON[next(iter(kinds))]


def _no_objects(path: Path) -> FileFormatError:
    return FileFormatError(f"{path.name} could not be verified: its lines are no objects of JSON with plain values.")


def _open_json_lines(connection: Any, path: Path, compression: str | None) -> Opened:
    columns, rows = examine_json_lines(path, compression)
    places = ", ".join(text("/" + name.replace("~", "~0").replace("/", "~1")) for name in columns)
    cells = ", ".join(
        f"CAST(cells[{place + 1}] AS {kind}) AS {column(place)}" for place, kind in enumerate(columns.values())
    )
    query = (
        f"SELECT {cells} FROM (SELECT json_extract_string(line, [{places}]) AS cells FROM "
        f"({_lines(connection, path, compression=compression)}))"
    )
    return Opened(list(columns), rows, query)
