from __future__ import annotations

import datetime as dt
import zipfile

import polars as pl
import pytest
import xlsxwriter

import incrowd
from incrowd.errors import FileFormatError, HeaderError, MissingPackageError, ParameterError, ValuesError
from incrowd.tables.reading import excel
from incrowd.tables.reading.read import read

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
    assert [str(notice) for notice in source.notices] == [
        "The workbook has 3 sheets; the first was read. For another one: reading={'sheet': 'NAME'}."
    ]


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


@pytest.mark.parametrize("column", ["XFE", "infE", "ZZZ", "aaaaaa"])
def test_a_cell_beyond_the_last_column(tmp_path, column):
    """The library makes all columns up to there, which takes minutes."""
    file = tmp_path / "wide.xlsx"
    pl.DataFrame({"age": [39, 50], "sex": ["f", "m"]}).write_excel(file)
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    assert b'r="B2"' in members[sheet]
    members[sheet] = members[sheet].replace(b'r="B2"', f'r="{column}2"'.encode())
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(FileFormatError, match="damaged"):
        excel.read_excel(file)


def test_a_workbook_that_unpacks_to_a_flood(tmp_path):
    file = tmp_path / "flood.xlsx"
    pl.DataFrame({"age": [39]}).write_excel(file)
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/more.xml", b" " * (70 << 20))
    with pytest.raises(FileFormatError, match="decompression bomb"):
        excel.read_excel(file)


@pytest.fixture
def two_sheets(tmp_path):
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name, value in (("notes", "n"), ("people of 2024", "p")):
            sheet = book.add_worksheet(name)
            sheet.write_column(0, 0, ["v", *[value, value + "2"] * 2])
            sheet.write_column(0, 1, ["age", 30, 30, 40, 40])
    return path


def test_a_sheet_is_read_by_its_name(two_sheets):
    source = read(two_sheets, sheet="people of 2024")
    assert (sorted(source.frame["v"].unique()), source.notices) == (["p", "p2"], ())
    with pytest.raises(ParameterError, match=r"no sheet 'people'. It has 'notes', 'people of 2024'"):
        read(two_sheets, sheet="people")


def test_a_release_of_a_sheet_is_verified_against_that_sheet(two_sheets, tmp_path):
    released = incrowd.release(
        two_sheets,
        quasi_identifiers=["age"],
        target="v",
        k=2,
        class_sensitive=False,
        despite_unchanged=True,
        reading={"sheet": "people of 2024"},
        method="mondrian",
        to=tmp_path / "release.xlsx",
    )
    assert sorted(released.table["v"]) == ["p", "p", "p2", "p2"]
    assert incrowd.verify(tmp_path / "release.xlsx").passed
