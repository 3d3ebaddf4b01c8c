"""A sheet that somebody made, as an input: where its names are, what is empty, cells of several types in a column.

A row without a cell is nobody; a column without a name and without a cell is none. A column with cells of several types
is a column of texts, as it would be in a file of text.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from incrowd.errors import FileFormatError
from incrowd.verification.request import InputFile
from incrowd.verification.workbook import sheet_cells, typed_column


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
