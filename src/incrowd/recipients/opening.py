"""A release as it lies there: its rows, its certificate, and whether they belong together."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.errors import FileFormatError, HeaderError, IncrowdError, ParameterError
from incrowd.recipients.cells import Cells, as_table, column_of
from incrowd.vocabulary.certificates import certificate_beside, read_certificate
from incrowd.vocabulary.counts_text import HIDDEN, write_counts
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.released_value import parse_number

_ESCAPED = r"(?s)^'[=+@\t\r-]."  # text that a spreadsheet would run, as delimited files have it
_ADDRESSES = ("postgresql:", "postgres:")
_OTHER = " Ask whoever gave you the release for the file and the certificate that were made together."


@dataclass(frozen=True, eq=False)
class OpenedRelease:
    """Rows with plain column names, counts of a second table joined to them, and the certificate."""

    table: pa.Table
    certificate: Mapping[str, Any]
    frames: str  # the kind of frames to give back: pandas, polars or pyarrow
    name: str


def opened(release: Any, certificate: Any, groups: Any) -> OpenedRelease:
    """Read a release and its certificate, and refuse those that do not belong together."""
    if hasattr(release, "certificate") and hasattr(release, "plan"):
        release, certificate, groups = release.table, release.certificate, release.groups
    stored = isinstance(release, str | Path)
    if stored and not str(release).startswith(_ADDRESSES) and not Path(release).is_file():
        raise FileFormatError(f"There is no file {Path(release).name}. Name the file of the release that you received.")
    stated = _certificate(release, certificate, stored)
    name = Path(str(release)).name if stored else "the table"
    if stored and not str(release).startswith(_ADDRESSES):
        path = Path(release)
        counted = [column["name"] for column in stated["released_columns"] if column["as"] == "counts"]
        rows = _read_file(path, _form(stated, path), stated["output"].get("sha256"), counted)
        second = stated["output"].get("groups")
        if groups is None and second is not None:
            groups = path.with_name(second["file"])
    else:
        rows, second = _read_elsewhere(str(release)) if stored else as_table(release), None
    if isinstance(groups, str | Path):
        path = Path(groups)
        groups = _read_file(path, _form(stated, path), second and second["sha256"])
    frames = _installed() if stored else type(release).__module__.partition(".")[0]
    whole = _joined(rows, None if groups is None else as_table(groups), stated)
    return OpenedRelease(_checked(whole, stated), stated, frames, name)


def _certificate(release: Any, certificate: Any, stored: bool) -> Mapping[str, Any]:
    if certificate is None:
        beside = None if not stored or str(release).startswith(_ADDRESSES) else certificate_beside(Path(release))
        if beside is None or not beside.is_file():
            where = f"There is no {beside.name} beside it." if beside else "A table has no file beside it."
            raise ParameterError(
                f"A release is read with its certificate. {where} Ask whoever gave you the release for it and name it: "
                'certificate="release.csv.certificate.json".'
            )
        certificate = beside
    return read_certificate(certificate)


def _form(certificate: Mapping[str, Any], path: Path) -> FileForm:
    """How a file is to be read: as the certificate states, but for the compression, which its name tells."""
    form, stated = FileForm.of(path), certificate["output"].get("form") or {}
    if stated.get("kind") != form.kind:
        return form
    return FileForm(form.kind, stated["delimiter"], form.compression, stated["missing"])


def _installed() -> str:
    return "pandas" if importlib.util.find_spec("pandas") else "pyarrow"


# Files.
def _read_file(path: Path, form: FileForm, digest: str | None, counted: Sequence[str] = ()) -> pa.Table:
    """The rows of a file whose bytes are those of the certificate."""
    try:
        with path.open("rb") as file:
            same = digest is None or hashlib.file_digest(file, "sha256").hexdigest() == digest
    except OSError as error:
        raise FileFormatError(f"{path.name} cannot be read: {error.strerror}.") from None
    if not same:
        raise FileFormatError(
            f"{path.name} is not the file of its certificate: its bytes are others. It was changed, cut off, or opened "
            f"and saved again.{_OTHER}"
        )
    try:
        table = _parsed(path, form)
    except (pa.ArrowException, ValueError, EOFError) as error:
        if isinstance(error, IncrowdError):
            raise
        raise FileFormatError(f"{path.name} cannot be read as {form.kind}.{_OTHER}") from None
    if form.kind != "csv":
        return table
    escaped = [name for name in table.column_names if name not in counted]  # counts have escapes of their own
    for name in escaped:
        table = table.set_column(table.column_names.index(name), name, _plain(table.column(name)))
    return table


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts without the apostrophe that they were written with; numbers were written without one."""
    written = pc.match_substring_regex(column, _ESCAPED)
    if not pc.any(written).as_py():
        return column
    bare = pc.utf8_slice_codeunits(column, 1)
    texts = {text: parse_number(text) is None for text in pc.unique(pc.filter(bare, written)).to_pylist()}
    formulas = pc.is_in(bare, value_set=pa.array([text for text, is_text in texts.items() if is_text], pa.string()))
    return pc.if_else(pc.and_(written, formulas), bare, column)


def _parsed(path: Path, form: FileForm) -> pa.Table:
    if form.kind == "csv":
        return _delimited(path, form)
    if form.kind == "parquet":
        from pyarrow import parquet

        return parquet.read_table(path)
    if form.kind == "arrow":
        from pyarrow import feather

        return feather.read_table(path)
    if form.kind == "jsonl":
        with pa.input_stream(path, compression=form.compression) as stream:
            return as_table([json.loads(line) for line in stream.read().splitlines() if line.strip()])
    return _read_elsewhere(path)


def _delimited(path: Path, form: FileForm) -> pa.Table:
    from pyarrow import csv

    parse = csv.ParseOptions(delimiter=form.delimiter, newlines_in_values=True)
    with pa.input_stream(path, compression=form.compression) as stream:
        header = csv.open_csv(stream, parse_options=parse).schema.names
    texts = dict.fromkeys(header, pa.string())
    options = csv.ConvertOptions(column_types=texts, null_values=[form.missing], strings_can_be_null=True)
    with pa.input_stream(path, compression=form.compression) as stream:
        return csv.read_csv(stream, parse_options=parse, convert_options=options)


def _read_elsewhere(source: Any) -> pa.Table:
    """Workbooks, ARFF files, databases: the readers of the whole program."""
    if str(source).startswith(_ADDRESSES):
        query = importlib.import_module("incrowd.tables.databases.tables").Query.of(str(source))
        rows: pa.Table = importlib.import_module("incrowd.tables.databases.reading").read_query(query).to_arrow()
        return rows
    reader = importlib.import_module("incrowd.tables.reading.read")
    table: pa.Table = reader.read(source, missing=["?"] if str(source).endswith(".arff") else []).frame.to_arrow()
    return table


# Both tables as one, in plain names and types.
def _joined(rows: pa.Table, groups: pa.Table | None, certificate: Mapping[str, Any]) -> pa.Table:
    """The released rows with the counts of their groups, in the order and the names of the released columns."""
    released = certificate["released_columns"]
    counted = [column for column in released if column["as"] == "counts"]
    if groups is not None:
        if groups.num_columns != 4 or groups.column_names[0] not in rows.column_names:
            raise FileFormatError("The table of groups has the columns group, attribute, value and count.")
        rows = _with_counts(rows, groups, [column["from"] for column in counted])
        names = [c["from"] if c in counted else c["name"] for c in released]
    else:
        names = [column["name"] for column in released]
    if [name for name in names if name not in rows.column_names] or rows.num_columns != len(names):
        cure = " Pass the table of groups too: groups=..." if counted and groups is None else ""
        raise HeaderError(f"The columns of the release are not those that its certificate states.{cure}{_OTHER}")
    plain = [c["name"] if c["as"] in ("low end", "high end") else c["from"] for c in released]
    return rows.select(names).rename_columns(plain)


def _with_counts(rows: pa.Table, groups: pa.Table, attributes: list[str]) -> pa.Table:
    """The rows with a column of counts for each attribute in place of the number of their group."""
    key = groups.column_names[0]
    numbers = column_of(rows.select([key]).cast(pa.schema([(key, pa.string())])), key)
    members: dict[tuple[str, str], list[tuple[str | None, int]]] = {}
    columns = [column.to_pylist() for column in groups.columns]
    for group, attribute, value, count in zip(*columns, strict=True):
        members.setdefault((str(group), attribute), []).append((None if value is None else str(value), int(count)))
    known = set(numbers.values)
    if any(group not in known for group, _ in members):
        raise FileFormatError("The table of groups tells of a group that has no row. Read both files whole.")
    made = rows.drop_columns([key])
    for name in attributes:
        texts = [write_counts(members.get((group, name), ())) or HIDDEN for group in numbers.values]
        made = made.append_column(name, pa.array(texts, pa.string()).take(pa.array(numbers.codes)))
    return made


def _checked(table: pa.Table, certificate: Mapping[str, Any]) -> pa.Table:
    rows = certificate["rows"]["released"]
    if table.num_rows != rows:
        raise FileFormatError(
            f"The certificate is of a release of {rows:,} rows; these are {table.num_rows:,}. Open the whole release, "
            f"before rows are chosen from it.{_OTHER}"
        )
    types = {column["name"]: column["type"] for column in certificate["columns"]}
    for at, column in enumerate(certificate["released_columns"]):
        field = table.column(at)
        if column["as"] == "counts":
            table = table.set_column(at, table.column_names[at], pc.fill_null(field.cast(pa.string()), HIDDEN))
        else:
            table = table.set_column(at, table.column_names[at], _typed(field, types[column["from"]]))
    _check_groups(table, certificate)
    return table


_TYPES = {
    "integer": (pa.int64(), pa.float64()),
    "real": (pa.float64(),),
    "boolean": (pa.int64(), pa.bool_()),  # 0 and 1 stay numbers
    "date": (pa.date32(),),
}


def _typed(column: pa.ChunkedArray, kind: str) -> pa.ChunkedArray:
    """Text in the type that the certificate states, where all of it can be read so; else as it is."""
    if kind not in _TYPES or not pa.types.is_string(column.type):
        return column
    for wanted in _TYPES[kind]:
        try:
            return column.cast(wanted)
        except pa.ArrowException:
            continue
    return column


def _check_groups(table: pa.Table, certificate: Mapping[str, Any]) -> None:
    """Counts speak of as many rows as carry them: rows that were chosen from a release no longer do."""
    from incrowd.vocabulary.counts_text import read_counts

    for column in certificate["released_columns"]:
        if column["as"] != "counts":
            continue
        cells = Cells.of(table.column(column["from"]))
        for text, rows in zip(cells.values, cells.rows.astype(np.int64).tolist(), strict=True):
            members = read_counts(text)
            if members is None or (members and rows % sum(count for _, count in members)):
                raise FileFormatError(
                    f"{column['from']}: there are not as many rows as their counts say. Open the whole release, before "
                    "rows are chosen from it."
                )
