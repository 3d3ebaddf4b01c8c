from __future__ import annotations

import datetime as dt
import zipfile

import polars as pl
import pytest
import xlsxwriter

import incrowd
from incrowd.errors import FileFormatError, HeaderError, MissingPackageError, ParameterError
from incrowd.tables.publishing.serialise import write_workbook
from incrowd.tables.reading import excel
from incrowd.tables.reading.read import read, read_release

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


def test_a_column_of_several_types_is_text(put):
    source = read(put(["v", "w"], [1, 2], ["k.A.", 3.5], [0.5, 4], [1e16, 1], [dt.date(2020, 1, 2), 1], [True, 1]))
    assert source.frame["v"].to_list() == ["1", "k.A.", "0.5", "10000000000000000", "2020-01-02", "true"]
    assert source.frame["w"].dtype == pl.Float64
    assert [str(notice) for notice in source.notices] == [
        "v: cells of several types, such as text and numbers, are read as text."
    ]


def test_the_row_with_the_names(put):
    path = put(["people"], ["a", "b"], [1, 2], [None, None], [3, 4])
    with pytest.raises(HeaderError, match=r"If the names are in row 2, say reading={'header_row': 2}"):
        read(path)
    source = read(path, header_row=2)
    assert source.frame.rows(named=True) == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    assert [str(notice) for notice in source.notices] == ["1 row without a cell is left out."]
    for row in (0, True, "2"):
        with pytest.raises(ParameterError, match="whole number"):
            read(path, header_row=row)
    with pytest.raises(ParameterError, match="there is none"):
        read(path, header_row=2, header=False)


def test_a_row_above_the_first_cell_has_no_names(put):
    path = put([], [], ["a", "b"], [1, 2])
    assert read(path).frame.rows() == [(1, 2)]
    assert read(path, header_row=3).frame.rows() == [(1, 2)]
    with pytest.raises(HeaderError, match="Row 2 of the sheet is empty"):
        read(path, header_row=2)


def test_a_sheet_without_names(put):
    path = put([1, "x", None, 3], [2, "y", None, 4], [2, "x", None, 3])
    with pytest.raises(HeaderError, match="looks like a row"):
        read(path)
    assert read(path, header=False).frame.rows(named=True)[0] == {"c1": 1, "c2": "x", "c3": 3}
    assert read(path, names=["a", "b", "c"]).frame.columns == ["a", "b", "c"]
    with pytest.raises(HeaderError, match="has 3 columns, and 2 names"):
        read(path, names=["a", "b"])


def test_rows_of_a_release_without_a_cell_stay(tmp_path):
    write_workbook(pl.DataFrame({"a": [None, 1, None], "b": [None, "x", None]}), tmp_path / "r.xlsx")
    assert read_release(tmp_path / "r.xlsx").frame.rows() == [(None, None), (1, "x"), (None, None)]


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
        "The workbook has 3 sheets; the first, 'Sheet1', was read. For another: reading={'sheet': 'Sheet2'}, "
        "reading={'sheet': 'Sheet3'}"
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


def test_rows_without_a_cell_are_counted_where_a_table_is_verified(put, tmp_path):
    path = put(["a", "b"], [1, "x"], [1, "x"], [None, None], [1, "x"])
    verdict = incrowd.verify(path, k=2, quasi_identifiers=["a", "b"])
    assert (verdict.passed, list(verdict.sizes.histogram)) == (False, [(1, 1), (3, 1)])
    write_workbook(pl.DataFrame({"a": [1, 1, None], "b": ["x", "x", None]}), tmp_path / "r.xlsx")
    assert not incrowd.verify(tmp_path / "r.xlsx", k=2, quasi_identifiers=["a", "b"]).passed
