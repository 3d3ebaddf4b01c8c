"""Workbooks: what goes in comes out, by another library than wrote it, and the bytes hold nothing else."""

from __future__ import annotations

import datetime as dt
import zipfile

import openpyxl
import polars as pl
import pytest

from incrowd.errors import FileFormatError, MissingPackageError, OutputError
from incrowd.tables.publishing import serialise
from incrowd.tables.publishing.serialise import write_table
from incrowd.tables.reading.read import read
from incrowd.verification.workbook import sheet_rows, workbook_faults, workbook_table
from incrowd.vocabulary.forms import SHEET, FileForm, column_letters

FRAME = pl.DataFrame(
    {
        "a<b>&\"'": ["x & y", " edge ", "<b>", "two\nlines", "=1+2", None],
        "whole": [1, -7, None, 0, 2**53, 4],
        "real": [0.1, 1.0, 1e22, 1.5e-9, float("nan"), -0.5],
        "truth": [True, None, False, True, True, False],
        "day": [dt.date(2020, 2, 29), dt.date(1900, 3, 1), None, dt.date(9999, 12, 31), None, dt.date(1970, 1, 1)],
        "nothing": [None] * 6,
    }
)


def put(folder, frame):
    path = folder / "release.xlsx"
    write_table(frame, path, FileForm.of(path))
    return path


@pytest.fixture(params=[1, 4, 20_000])
def written(tmp_path, monkeypatch, request):
    monkeypatch.setattr(serialise, "_ROWS", request.param)
    return put(tmp_path, FRAME)


def test_everything_comes_back_by_both_readers(written):
    plain = FRAME.fill_nan(None)
    back = read(written).frame
    assert back.drop("nothing").equals(plain.drop("nothing"))
    assert workbook_table(written).to_pylist() == plain.to_dicts()
    assert sheet_rows(written) == FRAME.height


def test_nothing_else_is_in_it(written):
    assert list(workbook_faults(written)) == []
    with zipfile.ZipFile(written) as archive:
        assert archive.testzip() is None


def test_the_same_table_gives_the_same_bytes(tmp_path):
    first = put(tmp_path, FRAME).read_bytes()
    assert put(tmp_path, FRAME).read_bytes() == first


def test_what_a_sheet_cannot_hold_exactly_is_text(tmp_path):
    long, old, noon = [2**53 + 1, None], [dt.date(1900, 2, 28), None], [dt.datetime(2020, 1, 1, 12), None]
    path = put(tmp_path, pl.DataFrame({"long": long, "old": old, "noon": noon}))
    assert workbook_table(path).to_pylist() == [
        {"long": str(2**53 + 1), "old": "1900-02-28", "noon": "2020-01-01 12:00:00.000000"},
        {"long": None, "old": None, "noon": None},
    ]


REFUSED = {
    "a control character": ({"x": ["a\x01"]}, "letters that a workbook cannot hold"),
    "a carriage return": ({"x": ["a\rb"]}, "letters that a workbook cannot hold"),
    "an escape": ({"x": ["_x0041_"]}, "letters that a workbook cannot hold"),
    "a name with an escape": ({"_x0041_": [1]}, "letters that a workbook cannot hold"),
    "a long text": ({"x": ["a" * 40_000]}, "more than 32,767 letters"),
    "an infinite number": ({"x": [float("inf")]}, "infinite numbers"),
}


@pytest.mark.parametrize(("columns", "message"), REFUSED.values(), ids=REFUSED)
def test_what_it_cannot_hold_at_all_is_refused(tmp_path, columns, message):
    with pytest.raises(OutputError, match=message):
        put(tmp_path, pl.DataFrame(columns))


def test_too_many_rows_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(serialise, "MOST_ROWS", 3)
    with pytest.raises(OutputError, match="at most"):
        put(tmp_path, pl.DataFrame({"x": [1, 2, 3]}))


def replaced(path, old, new):
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert old in parts[SHEET]
    parts[SHEET] = parts[SHEET].replace(old, new, 1)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(serialise._member(name), data)


FAULTS = {
    "a formula": (b"<v>4</v>", b"<f>2+2</f><v>4</v>"),
    "a link": (b"</sheetData>", b"</sheetData><hyperlinks/>"),
    "more digits": (b"<v>0.1</v>", b"<v>0.10000000000000001</v>"),
    "a zero at the end": (b"<v>0.1</v>", b"<v>0.10</v>"),
    "a whole number among others": (b"<v>1.0</v>", b"<v>1</v>"),
    "another cell": (b'r="B2"', b'r="B3"'),
    "a column of its own": (b'r="F1"', b'r="G1"'),
    "cells in another order": (b'<c r="A2"', b'<c r="B2"><v>1</v></c><c r="A2"'),
    "a letter by its number": (b"x &amp; y", b"x &#38; y"),
    "an escape of Excel": (b"x &amp; y", b"_x0041_"),
    "a space in a tag": (b'<row r="2">', b'<row  r="2">'),
    "a carriage return": (b"x &amp; y", b"x\ry"),
}


@pytest.mark.parametrize(("old", "new"), FAULTS.values(), ids=FAULTS)
def test_a_sheet_written_otherwise_is_told(tmp_path, old, new):
    path = put(tmp_path, FRAME)
    replaced(path, old, new)
    assert list(workbook_faults(path))


def test_a_workbook_of_another_program_is_told(tmp_path):
    path = put(tmp_path, FRAME)
    openpyxl.load_workbook(path).save(path)
    assert any("other parts" in fault for fault in workbook_faults(path))


def test_no_workbook_is_refused_without_falling_over(tmp_path):
    path = tmp_path / "release.xlsx"
    for data in (b"", b"PK\3\4KANARIE", put(tmp_path, FRAME).read_bytes()[:900]):
        path.write_bytes(data)
        [fault] = workbook_faults(path)
        assert "cannot be taken apart" in fault
        for reader in (workbook_table, sheet_rows):
            with pytest.raises(FileFormatError) as refused:
                reader(path)
            assert "KANARIE" not in str(refused.value)


def test_it_says_which_package_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'incrowd\[excel\]'"):
        workbook_table(put(tmp_path, FRAME))


def test_columns_are_called_as_in_a_sheet():
    assert [column_letters(place) for place in (0, 25, 26, 701, 702, 16383)] == ["A", "Z", "AA", "ZZ", "AAA", "XFD"]
