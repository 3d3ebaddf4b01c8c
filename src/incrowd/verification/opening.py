"""Opening a written table in DuckDB.

DuckDB takes ``Age`` and ``age`` for one name. So a table is opened with its columns named by their position,
:func:`column`, and its true names are given back beside it.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from incrowd.errors import FileFormatError
from incrowd.vocabulary.file_form import FileForm

# a field of ARFF: quoted parts, in which a backslash takes the next letter as it is, and plain ones
_ARFF_FIELD = r"(?:'(?:[^'\\]|\\.)*'|[^,'])+"
_NEVER_IN_A_LINE = "\x1f\x1e\x1d\x1c"
_LINES = "max_line_size = 16000000, buffer_size = 32000000"  # a buffer of the usual 16 lines would be 256 MB


def connect(memory: int | None = None, threads: int | None = None, scratch: Path | None = None) -> Any:
    """A fresh in-memory database that reads files in their order and loads nothing from outside.

    ``memory`` limits its bytes; what does not fit goes to the folder ``scratch``, and without one nowhere.
    """
    config: dict[str, Any] = {"autoinstall_known_extensions": "false", "preserve_insertion_order": "true"}
    if memory is not None:
        config["memory_limit"] = f"{memory}B"
    if threads is not None:
        config["threads"] = threads
    config["temp_directory"] = "" if scratch is None else str(scratch)  # else it were a folder where the program runs
    connection = duckdb_module().connect(config=config)
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


def open_table(connection: Any, path: Path, form: FileForm, *, copy: bool = False, name: str = "released") -> list[str]:
    """Register the file as a table and return the names of its columns, in order.

    Text files are read as text; nothing is guessed. With ``copy`` the file is read once, for many queries.
    """
    import duckdb

    kind = "TABLE" if copy else "VIEW"
    try:
        names, select = _select(connection, path, form)
        connection.execute(f"CREATE OR REPLACE TEMP {kind} {name} AS {select}")
    except (duckdb.Error, OSError, ValueError) as error:
        raise FileFormatError(
            f"{path.name} cannot be opened as {form.kind} by the verification ({type(error).__name__})."
        ) from None
    return names


def open_rows(connection: Any, path: Path, names: Sequence[str], start: int, rows: int) -> None:
    """Some rows of a Parquet file as the table ``released``; each query reads the columns it asks for."""
    columns = ", ".join(map(column, range(len(names))))
    connection.execute(
        f"CREATE OR REPLACE TEMP VIEW released AS SELECT {columns} FROM read_parquet({text(str(path))}, "
        f"file_row_number = true) AS t({columns}, place) WHERE place >= {start} AND place < {start + rows}"
    )


def open_large(connection: Any, path: Path, form: FileForm, scratch: Path | None) -> tuple[list[str], Path]:
    """Register a file of any size as the table ``released``; the names of its columns, and where its rows are.

    The rows are in a Parquet file, so that they can be read by their numbers: the file itself, or a copy in the folder
    ``scratch``.
    """
    if form.kind == "parquet":
        return open_table(connection, path, form), path
    assert scratch is not None
    copy = scratch / "recount.parquet"
    if form.kind == "arrow":
        names = _copy_arrow(path, copy)
    else:
        names = open_table(connection, path, form)
        connection.execute(f"COPY (FROM released) TO {text(str(copy))} (FORMAT parquet, COMPRESSION lz4_raw)")
    open_table(connection, copy, FileForm("parquet"))
    return names, copy


def _copy_arrow(path: Path, copy: Path) -> list[str]:
    """Copy an Arrow file to Parquet, batch by batch; the names of its columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pa.OSFile(str(path)) as file:
            reader = pa.ipc.open_file(file)
            names = list(reader.schema.names)
            by_position = [column(i) for i in range(len(names))]
            schema = pa.schema([each.with_name(name) for each, name in zip(reader.schema, by_position, strict=True)])
            with pq.ParquetWriter(copy, schema, compression="lz4") as writer:
                for place in range(reader.num_record_batches):
                    writer.write_batch(reader.get_batch(place).rename_columns(by_position))
    except (OSError, pa.ArrowException) as error:
        raise FileFormatError(
            f"{path.name} cannot be opened as arrow by the verification ({type(error).__name__})."
        ) from None
    return names


def register(connection: Any, table: Any, name: str) -> list[str]:
    """Register a PyArrow table under a name and return the names of its columns, in order."""
    names = list(table.column_names)
    connection.register(name, table.rename_columns([column(i) for i in range(len(names))]))
    return names


def _select(connection: Any, path: Path, form: FileForm) -> tuple[list[str], str]:
    """The names of a file's columns, and the query that reads them by position."""
    if form.kind == "arff":
        return _arff(path)
    if form.kind == "arrow":
        import pyarrow.feather

        names = register(connection, pyarrow.feather.read_table(path, memory_map=True), "arrow_file")
        return names, "SELECT * FROM arrow_file"
    if form.kind == "parquet":
        import pyarrow.parquet

        files = parquet_files(path)
        names = list(pyarrow.parquet.read_schema(files[0]).names)
        listed = ", ".join(text(str(file)) for file in files)
        return names, f"SELECT * FROM read_parquet([{listed}]) {_by_position(names)}"
    options = (
        f"{text(str(path))}, all_varchar = true, delim = {text(form.delimiter)}, quote = '\"', escape = '\"', "
        f"nullstr = {text(form.missing)}, allow_quoted_nulls = false, "
        f"compression = {text(form.compression or 'none')}, "
        f"strict_mode = true, null_padding = false, {_LINES}"
    )
    header = connection.execute(f"SELECT * FROM read_csv({options}, header = false) LIMIT 1").fetchone()
    names = [name or "" for name in header or ()]
    return names, f"SELECT * FROM read_csv({options}, header = true) {_by_position(names)}"


def parquet_files(path: Path) -> list[Path]:
    """The file, or the files of a folder in the order of their names; hidden ones are passed over."""
    if not path.is_dir():
        return [path]
    return sorted(entry for entry in path.iterdir() if not entry.name.startswith((".", "_")))


def _by_position(names: list[str]) -> str:
    return f"AS t({', '.join(column(i) for i in range(len(names)))})"


def _arff(path: Path) -> tuple[list[str], str]:
    """Names come from the declarations; the data part is read line by line and parted at its commas."""
    with path.open(encoding="utf-8", newline="") as lines:
        header = list(takewhile(lambda line: line.strip().lower() != "@data", lines))
    declared = [line.strip().partition(" ") for line in header]
    names = [_arff_name(rest.strip()) for word, _, rest in declared if word.lower() == "@attribute"]
    cells = ", ".join(f"{_arff_cell(f'trim(fields[{i + 1}])')} AS {column(i)}" for i in range(len(names)))
    return names, (
        f"WITH lines AS (SELECT line FROM read_csv({text(str(path))}, header = false, skip = {len(header) + 1}, "
        f"auto_detect = false, delim = {text(_NEVER_IN_A_LINE)}, quote = '', escape = '', "
        f"columns = {{'line': 'VARCHAR'}}, strict_mode = true, {_LINES}) "
        "WHERE trim(line) <> '' AND NOT starts_with(line, '%')), "
        f"parts AS (SELECT regexp_extract_all(line, {text(_ARFF_FIELD)}) AS fields FROM lines), "
        f"whole AS (SELECT CASE WHEN len(fields) = {len(names)} THEN fields "
        "ELSE error('a row of another length') END AS fields FROM parts) "
        f"SELECT {cells} FROM whole"
    )


def _arff_cell(field: str) -> str:
    """The value of a field as SQL: nothing for ``?``; a quoted text without its quotes and backslashes."""
    inner = rf"regexp_replace(substr({field}, 2, length({field}) - 2), '\\(.)', '\1', 'g')"
    return f"CASE WHEN {field} = '?' THEN NULL WHEN starts_with({field}, chr(39)) THEN {inner} ELSE {field} END"


def _arff_name(rest: str) -> str:
    if not rest.startswith("'"):
        return rest.split(maxsplit=1)[0]
    name, escaped = "", False
    for letter in rest[1:]:
        if escaped:
            name, escaped = name + letter, False
        elif letter == "\\":
            escaped = True
        elif letter == "'":
            break
        else:
            name += letter
    return name
