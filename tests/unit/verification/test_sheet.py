"""Sheets as people make them: the verification reads the same table as the reader, by its own road."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from incrowd.errors import FileFormatError
from incrowd.tables.reading.read import read
from incrowd.verification.request import InputFile
from incrowd.verification.workbook import sheet_table

DAY = dt.datetime(2021, 3, 4)
CELLS: tuple[tuple[Any, ...], ...] = (
    (1, 2, 39.0, None),
    (0.5, 1e-7, 123456789.25, None),
    ("a", "k.A.", None),
    (1, "39", "k.A.", 2.5, None),
    (DAY, DAY.replace(hour=5), None),
    (DAY, "2021-03-04", "unknown", None),
    (True, False, None),
    (True, "x", 1),
    (None,),
)


def put(path: Path, draw: random.Random) -> dict[str, Any]:
    """A sheet with a table somewhere on it, and how it is read."""
    book = openpyxl.Workbook()
    sheet, titles, left = book.active, draw.randint(0, 2), draw.randint(1, 3)
    for row in range(titles):
        sheet.cell(2 * row + 1, left, "a title")
    top, header = 2 * titles + draw.randint(1, 2), draw.random() < 0.8
    columns = [draw.choice(CELLS) for _ in range(4)]
    for place, values in enumerate(columns, left):
        if header and (values != (None,) or draw.random() < 0.5):
            sheet.cell(top, place, f"column {place}")
        for row in range(top + 1, top + 12):
            sheet.cell(row, place, None if row % 5 == 0 else draw.choice(values))
    if header:
        sheet.cell(top, left + 4, "last")
    sheet.cell(top + 12, left + 4, "end")
    book.save(path)
    if header:
        return {"header_row": top} if titles or draw.random() < 0.5 else {"header": True}
    return {"names": None, "header": False}


@pytest.mark.parametrize("seed", range(40))
def test_the_verification_reads_what_the_reader_reads(seed, tmp_path):
    path = tmp_path / "t.xlsx"
    options = put(path, random.Random(seed))
    frame = read(path, missing=[], **options).frame
    told = InputFile(path, "excel", header=options.get("header", True), header_row=options.get("header_row"))
    table = sheet_table(told)
    assert table.column_names == frame.columns
    assert table.to_pylist() == frame.rows(named=True)


def test_errors_of_formulas_are_missing(tmp_path):
    book = openpyxl.Workbook()
    for row in (["a", "b"], ["#N/A", 1], [2, "#DIV/0!"]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    assert read(tmp_path / "t.xlsx").frame.rows() == [(None, 1), (2, None)]
    assert sheet_table(InputFile(tmp_path / "t.xlsx", "excel")).to_pylist() == [
        {"a": None, "b": 1},
        {"a": 2, "b": None},
    ]


def test_names_that_are_not_there(tmp_path):
    openpyxl.Workbook().save(tmp_path / "t.xlsx")
    with pytest.raises(FileFormatError, match="is empty"):
        sheet_table(InputFile(tmp_path / "t.xlsx", "excel"))
    book = openpyxl.Workbook()
    book.active.append([1, 2])
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(FileFormatError, match="2 columns, not 1"):
        sheet_table(InputFile(tmp_path / "t.xlsx", "excel", header=False, names=("a",)))
