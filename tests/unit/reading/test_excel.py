from __future__ import annotations

import datetime as dt

import polars as pl
import pytest
import xlsxwriter

from incrowd.errors import FileFormatError, HeaderError, MissingPackageError, ValuesError
from incrowd.reading import excel
from incrowd.reading.read import read

CANARY = "Zx9Canary"


@pytest.fixture
def put(tmp_path):
    def write(*rows, sheets=1):
        path = tmp_path / "t.xlsx"
        with xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd"}) as book:
            pages = [book.add_worksheet() for _ in range(sheets)]
            for number, row in enumerate(rows):
                pages[0].write_row(number, 0, row)
        return path

    return write


def test_reads_the_types_of_cells(put):
    source = read(put(["age", "zip", "bmi", "seen"], [39, "01234", 21.5, dt.date(2020, 1, 2)], [50, "?", None, None]))
    assert source.frame.rows() == [(39, "01234", 21.5, dt.date(2020, 1, 2)), (50, None, None, None)]
    assert source.frame.dtypes == [pl.Int64, pl.String, pl.Float64, pl.Date]
    assert source.origin.form == "excel"


def test_values_far_down_are_not_lost(put):
    rows = [[i] for i in range(1500)]
    rows[1400] = [0.5]
    frame = read(put(["v"], *rows)).frame
    assert frame["v"].null_count() == 0
    assert frame["v"][1400] == 0.5


def test_a_column_of_two_types_is_refused(put):
    with pytest.raises(ValuesError, match="mixes types") as caught:
        read(put(["v"], [1], [CANARY]))
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("names", [["a", "a"], ["a", ""], ["a", "a "]])
def test_bad_headers_are_not_mended(put, names):
    with pytest.raises(HeaderError):
        read(put(names, [1, 2]))


def test_empty_sheets_are_refused(put):
    with pytest.raises(FileFormatError, match="empty"):
        read(put())
    with pytest.raises(FileFormatError, match="no rows"):
        read(put(["a", "b"]))


def test_other_sheets_are_told(put):
    source = read(put(["a"], [1], sheets=3))
    assert [str(notice) for notice in source.notices] == ["The workbook has 3 sheets; the first was read."]


def test_damaged_workbook(tmp_path):
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"PK\x03\x04" + CANARY.encode())
    with pytest.raises(FileFormatError, match="damaged"):
        read(path)


def test_says_which_package_is_missing(put, monkeypatch):
    def absent(package, purpose):
        raise MissingPackageError(f"{purpose} needs {package}")

    monkeypatch.setattr(excel, "optional", absent)
    with pytest.raises(MissingPackageError, match="reading Excel files needs fastexcel"):
        read(put(["a"], [1]))
