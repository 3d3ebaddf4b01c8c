"""Workbooks by the verification's own road: openpyxl reads their cells; every byte of a release is accounted for."""

from __future__ import annotations

import datetime as dt
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

from incrowd.errors import FileFormatError, MissingPackageError
from incrowd.verification.request import InputFile
from incrowd.vocabulary.forms import PARTS, SHEET, SHEET_HEAD, SHEET_TAIL, column_letters


def sheet_table(file: InputFile) -> Any:
    """The sheet that the user named, read as the user said, as a PyArrow table."""
    import pyarrow as pa

    rows = sheet_cells(file.path, file.sheet)
    width = max(map(len, rows), default=0)
    numbered = [(number, (*row, *(None,) * (width - len(row)))) for number, row in enumerate(rows, 1)]
    cells = [(number, row) for number, row in numbered if any(cell is not None for cell in row)]
    names: Sequence[str] = ()
    if file.header:
        header = next((row for number, row in cells if file.header_row in (None, number)), None)
        if header is None:
            raise FileFormatError(f"{file.path.name}: the row that should have the names of the columns is empty.")
        names = ["" if cell is None else str(cell) for cell in header]
        first = file.header_row or cells[0][0]
        cells = [(number, row) for number, row in cells if number > first]
    people = [row for _, row in cells]
    columns = {place: [row[place] for row in people] for place in range(width)}
    kept = [place for place in columns if (names and names[place]) or any(cell is not None for cell in columns[place])]
    people = [row for row in people if any(row[place] is not None for place in kept)]
    named = [names[place] for place in kept] if file.header else _numbered(file, len(kept))
    return pa.table([_column([row[place] for row in people]) for place in kept], names=named)


def _numbered(file: InputFile, width: int) -> list[str]:
    names = list(file.names) or [f"c{place}" for place in range(1, width + 1)]
    if len(names) != width:
        raise FileFormatError(f"{file.path.name}: the sheet has {width} columns, not {len(names)}.")
    return names


def _column(values: list[Any]) -> Any:
    kinds = {_kind(value) for value in values if value is not None}
    return typed_column(values if len(kinds) <= 1 else [None if cell is None else _text(cell) for cell in values])


def _kind(value: Any) -> type:
    return float if isinstance(value, int | float) and not isinstance(value, bool) else type(value)


def _text(value: Any) -> str:
    """A cell among texts: a number without an exponent, a day without a time, a truth in small letters."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        number = format(Decimal(repr(value)), "f")
        return number.rstrip("0").rstrip(".") if "." in number else number
    if isinstance(value, dt.datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return str(value)


_BROKEN = (OSError, EOFError, ValueError, KeyError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError)
_TEXT = rb'(?P<text> t="inlineStr"><is><t xml:space="preserve">(?:[^<>&\r]|&amp;|&lt;|&gt;)+</t></is>)'
_CELL = re.compile(
    rb'<c r="([A-Z]+)([0-9]+)"(?:' + _TEXT + rb'| t="b"><v>[01]</v>|(?P<day> s="1"><v>[0-9]+</v>)|'
    rb"><v>(?P<number>(?P<whole>-?(?:0|[1-9][0-9]*))|-?(?:(?:0|[1-9][0-9]*)\.(?:0|[0-9]*[1-9])|"
    rb"[1-9](?:\.[0-9]*[1-9])?e[+-][1-9][0-9]*))</v>)</c>"
)
_EXACT = 2**53  # up to it a number holds every whole one
_ESCAPED = re.compile(rb"_x[0-9A-Fa-f]{4}_")


def workbook_table(path: Path) -> Any:
    """The one sheet of a release, as a PyArrow table; its first row has the names."""
    import pyarrow as pa

    header, *rows = sheet_cells(path)
    names = ["" if cell is None else str(cell) for cell in header]
    columns = [[row[place] if place < len(row) else None for row in rows] for place in range(len(names))]
    return pa.table([typed_column(values) for values in columns], names=names)


def sheet_cells(path: Path, sheet: str | None = None) -> list[tuple[Any, ...]]:
    """The rows of a sheet, the first if none is named, as openpyxl reads their cells; errors of formulas are empty."""
    try:
        import openpyxl
    except ImportError:
        raise MissingPackageError(
            "Verifying a workbook needs the package 'openpyxl'. Install it: pip install 'incrowd[excel]'"
        ) from None
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        rows = (book.worksheets[0] if sheet is None else book[sheet]).iter_rows()
        return [tuple(None if cell.data_type == "e" else cell.value for cell in row) for row in rows] or [()]
    except Exception as error:
        raise FileFormatError(
            f"{path.name} cannot be read as a workbook by the verification ({type(error).__name__})."
        ) from None


def typed_column(values: list[Any]) -> Any:
    """Cells of one type as a column of PyArrow."""
    import pyarrow as pa

    present = [value for value in values if value is not None]
    if all(isinstance(value, float | int) and not isinstance(value, bool) for value in present):
        return number_column(values)
    if all(isinstance(value, dt.datetime) for value in present):
        return moment_column(values)
    return pa.array(values)


def number_column(values: list[Any]) -> Any:
    """Numbers of a file that knows one kind of them: whole ones, if all are."""
    import pyarrow as pa

    numbers = [None if value is None or value != value else float(value) for value in values]
    if all(number is None or (number.is_integer() and abs(number) <= _EXACT) for number in numbers):
        return pa.array([None if number is None else int(number) for number in numbers], pa.int64())
    return pa.array(numbers, pa.float64())


def moment_column(values: list[dt.datetime | None]) -> Any:
    """Moments of a file that knows one kind of them: days, if all are midnights."""
    import pyarrow as pa

    if all(value is None or value.time() == dt.time() for value in values):
        return pa.array([value and value.date() for value in values], pa.date32())
    return pa.array(values, pa.timestamp("us"))


def sheet_rows(path: Path) -> int:
    """How many rows the sheet of a release has after the one with the names, by its bytes."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.read(SHEET).count(b"<row ") - 1
    except _BROKEN as error:
        raise FileFormatError(f"{path.name} is no workbook of a release ({type(error).__name__}).") from None


def workbook_faults(path: Path) -> Iterator[str]:
    """What a workbook has beside its cells: other files, other sheets, names, times, comments, ways of writing."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield from _archive_faults(path, archive)
            if [member.filename for member in archive.infolist()] != [*PARTS, SHEET]:
                yield "the workbook has other parts than its one sheet needs"
                return
            if any(archive.read(name) != data for name, data in PARTS.items()):
                yield "the workbook tells more than where its one sheet is"
            yield from _sheet_faults(archive.read(SHEET))
    except _BROKEN as error:
        yield f"the workbook cannot be taken apart ({type(error).__name__})"


def _archive_faults(path: Path, archive: zipfile.ZipFile) -> Iterator[str]:
    """Files follow each other from the first byte to the directory, and no entry says more than its name."""
    members, place = archive.infolist(), 0
    with path.open("rb") as file:
        for member in members:
            name = member.filename.encode()
            sizes = (member.CRC, member.compress_size, member.file_size, len(name), 0)
            header = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 33, *sizes) + name
            file.seek(place)
            if member.header_offset != place or file.read(len(header)) != header:
                yield "bytes lie between the files of the archive, or their entries say more than their names"
                return
            unpacking = zlib.decompressobj(wbits=-15)
            unpacking.decompress(file.read(member.compress_size))
            if not unpacking.eof or unpacking.unused_data:
                yield "bytes follow the packed data"
            place += len(header) + member.compress_size
        file.seek(place)
        directory = file.read()
    if directory != _directory(members, place):
        yield "the directory of the archive says more than the names of its files"


def _directory(members: list[zipfile.ZipInfo], start: int) -> bytes:
    """The end of an archive as it has to be."""
    entries = b"".join(
        struct.pack("<4s6H3L5H2L", b"PK\1\2", 20 | 3 << 8, 20, 0, 8, 0, 33, one.CRC, one.compress_size, one.file_size,
                    len(one.filename.encode()), 0, 0, 0, 0, 0o600 << 16, one.header_offset) + one.filename.encode()
        for one in members
    )  # fmt: skip
    return entries + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, len(members), len(members), len(entries), start, 0)


def _sheet_faults(data: bytes) -> Iterator[str]:
    """Rows and cells in their order, each written in the one way that leaves no choice."""
    if not data.startswith(SHEET_HEAD) or not data.endswith(b"</row>" + SHEET_TAIL):
        yield "the sheet has more than its cells"
        return
    rows = data[len(SHEET_HEAD) : -len(SHEET_TAIL)].split(b"</row>")[:-1]
    places: dict[bytes, int] = {}
    whole: dict[bytes, bool] = {}  # the columns of numbers, and whether theirs are written without decimals
    for number, row in enumerate(rows, 1):
        start = b'<row r="%d">' % number
        cells = list(_CELL.finditer(row, len(start)))
        if number == 1:
            places = {column_letters(place).encode(): place for place in range(len(cells))}
        if not row.startswith(start) or sum(len(cell[0]) for cell in cells) + len(start) != len(row):
            yield "the sheet has more than its cells, or writes one otherwise than it has to be"
            return
        if any(cell[2] != b"%d" % number or cell[1] not in places for cell in cells) or any(
            places[before[1]] >= places[after[1]] for before, after in pairwise(cells)
        ):
            yield "cells of the sheet are not where they have to be"
            return
        numbers = [(cell[1], cell["whole"] is not None) for cell in cells if cell["number"] is not None]
        mixed = any(whole.setdefault(at, is_whole) != is_whole for at, is_whole in numbers)
        if mixed or any(map(_strange, cells)):
            yield "a cell of the sheet is written otherwise than it has to be"
            return


def _strange(cell: re.Match[bytes]) -> bool:
    """Whether a text means other letters than it shows, or a number has more digits than tell it apart."""
    if (text := cell["text"]) is not None:
        return _ESCAPED.search(text) is not None
    number = cell["number"]
    return number is not None and _digits(number) != _digits(repr(float(number)).encode())


def _digits(number: bytes) -> bytes:
    return number.partition(b"e")[0].replace(b".", b"").strip(b"-0")
