"""Opening a written table in DuckDB."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path
from typing import Any

from incrowd.errors import FileFormatError
from incrowd.vocabulary.file_form import FileForm


def connect() -> Any:
    """A fresh in-memory database that reads files in their order and loads nothing from outside."""
    import duckdb

    return duckdb.connect(config={"autoinstall_known_extensions": "false", "preserve_insertion_order": "true"})


def quoted(name: str) -> str:
    """A column name as SQL, its own quotes doubled."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text as SQL."""
    return "'" + value.replace("'", "''") + "'"


def open_table(connection: Any, path: Path, form: FileForm, *, copy: bool = False) -> str:
    """Register the file under a name that queries can read from, and return that name.

    Text files are read as text; nothing is guessed. With ``copy`` the file is read once, for many queries.
    """
    import duckdb

    kind = "TABLE" if copy else "VIEW"
    try:
        connection.execute(f"CREATE TEMP {kind} released AS {_select(connection, path, form)}")
    except (duckdb.Error, OSError) as error:
        raise FileFormatError(
            f"{path.name} cannot be opened as {form.kind} by the verification ({type(error).__name__})."
        ) from None
    return "released"


def _select(connection: Any, path: Path, form: FileForm) -> str:
    if form.kind == "parquet":
        return f"SELECT * FROM read_parquet({text(str(path))})"
    if form.kind == "arrow":
        import pyarrow.feather

        connection.register("arrow_file", pyarrow.feather.read_table(path, memory_map=True))
        return "SELECT * FROM arrow_file"
    if form.kind == "arff":
        return _arff(path)
    return (
        f"SELECT * FROM read_csv({text(str(path))}, header = true, all_varchar = true, "
        f"delim = {text(form.delimiter)}, quote = '\"', escape = '\"', nullstr = {text(form.missing)}, "
        f"allow_quoted_nulls = false, compression = {text(form.compression or 'none')}, "
        "strict_mode = true, null_padding = false, max_line_size = 16000000)"
    )


def _arff(path: Path) -> str:
    """The data part of an ARFF file is delimited text; names come from its declarations."""
    names: list[str] = []
    with path.open(encoding="utf-8", newline="") as lines:
        header = list(takewhile(lambda line: line.strip().lower() != "@data", lines))
    for line in header:
        word, _, rest = line.strip().partition(" ")
        if word.lower() == "@attribute":
            names.append(_arff_name(rest.strip()))
    columns = "{" + ", ".join(f"{text(name)}: 'VARCHAR'" for name in names) + "}"
    return (
        f"SELECT * FROM read_csv({text(str(path))}, header = false, skip = {len(header) + 1}, delim = ',', "
        f"columns = {columns}, auto_detect = false, quote = '''', escape = '\\', nullstr = '?', "
        "allow_quoted_nulls = false, strict_mode = true, null_padding = false)"
    )


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
