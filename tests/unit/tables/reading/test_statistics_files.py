"""SPSS, Stata and SAS: codes become labels, user-defined missing values missing, and both readers agree on it."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys

import polars as pl
import pyreadstat
import pytest

import incrowd
from incrowd.errors import FileFormatError, MissingPackageError
from incrowd.tables.reading import statistics_files
from incrowd.tables.reading.read import read
from incrowd.verification.statistics_files import statistics_table

ENDINGS = ["sav", "zsav", "dta", "xpt"]
CANARY = "KANARIE"
FRAME = pl.DataFrame(
    {
        "age": [30, 31, None, 0],
        "sex": [1, 2, 1, 2],
        "part": [1.0, 2.0, 7.0, 1.5],
        "same": [1, 2, 1, 2],
        "word": ["a", "b é", None, "d"],
        "day": [dt.date(2020, 2, 29), None, dt.date(1950, 1, 1), dt.date(1999, 12, 31)],
        "at": [dt.datetime(2020, 1, 1, 12, 30), None, dt.datetime(1999, 1, 1), dt.datetime(2000, 1, 1)],
    }
)
LABELS = {"sex": {1: "female", 2: "male"}, "part": {7: "refused"}, "same": {1: "yes", 2: "yes"}}


def put(folder, ending, frame=FRAME, **more):
    path = folder / f"people.{ending}"
    match ending:
        case "sav" | "zsav":
            pyreadstat.write_sav(frame, str(path), compress=ending == "zsav", **more)
        case "dta":
            pyreadstat.write_dta(frame, str(path), **more)
        case _:
            pyreadstat.write_xport(frame, str(path), file_format_version=5)
    return path


def by_the_verification(path):
    return pl.DataFrame(statistics_table(path, read(path).origin.form))


@pytest.mark.each(3)
@pytest.mark.parametrize("ending", ENDINGS)
def test_both_readers_give_the_same_table(tmp_path, ending):
    labels = {} if ending == "xpt" else {"variable_value_labels": LABELS}
    path = put(tmp_path, ending, **labels)
    frame = read(path).frame
    words = pl.Series("sex", ["female", "male"] * 2) if labels else FRAME["sex"]
    assert frame.equals(FRAME.with_columns(words))
    again = by_the_verification(path)
    assert again.with_columns(pl.col("word").replace("", None)).equals(frame)


def test_labels_are_told_and_used_where_they_tell_all_values_apart(tmp_path):
    source = read(put(tmp_path, "dta", variable_value_labels=LABELS))
    assert [str(notice) for notice in source.notices] == [
        "The codes of 'sex' are read as their labels.",
        "The labels of 'part', 'same' do not tell all values apart, so the codes are kept.",
    ]


def test_many_columns_are_told_in_one_sentence(tmp_path):
    frame = pl.DataFrame({f"c{place}": [1, 2] for place in range(9)})
    source = read(put(tmp_path, "sav", frame, variable_value_labels={name: {1: "a", 2: "b"} for name in frame.columns}))
    [notice] = source.notices
    assert str(notice).endswith("'c5' and 3 more columns are read as their labels.")


def test_user_defined_missing_values_are_missing(tmp_path):
    frame = pl.DataFrame({"age": [30, 98, 99, -1, 41], "sex": ["f", "m", "x", "f", "x"]})
    ranges = {"age": [{"lo": 90, "hi": 99}, -1], "sex": ["x"]}
    path = put(tmp_path, "sav", frame, missing_ranges=ranges, variable_value_labels={"age": {30: "thirty", 41: "many"}})
    expected = [("thirty", "f"), (None, "m"), (None, None), (None, "f"), ("many", None)]
    assert read(path).frame.rows() == expected
    assert by_the_verification(path).rows() == expected


def test_codes_that_are_words_have_labels_too(tmp_path):
    path = put(
        tmp_path, "sav", pl.DataFrame({"sex": ["m", "f"]}), variable_value_labels={"sex": {"m": "male", "f": "female"}}
    )
    assert read(path).frame.rows() == by_the_verification(path).rows() == [("male",), ("female",)]


@pytest.mark.each(3)
@pytest.mark.parametrize("ending", ["sav", "dta", "xpt"])
def test_a_release_is_verified_against_the_file(tmp_path, ending):
    frame = pl.DataFrame(
        {"age": [30, 30, 41, 41] * 5, "sex": [1, 2] * 10, "n": [0, 1, 2, None] * 5, "ill": ["y", "n"] * 10}
    )
    path = put(
        tmp_path, ending, frame, **({} if ending == "xpt" else {"variable_value_labels": {"sex": LABELS["sex"]}})
    )
    asked = {"quasi_identifiers": ["age", "sex"], "target": "ill", "k": 5, "class_sensitive": False}
    released = incrowd.release(path, **asked, despite_unchanged=True, method="mondrian", to=tmp_path / "r.csv")
    assert released.table.height == 20


@pytest.mark.each(5)
@pytest.mark.parametrize("ending", [*ENDINGS, "sas7bdat"])
def test_damaged_files_are_refused_without_their_cells(tmp_path, ending):
    frame = pl.DataFrame({"name": [CANARY] * 50, "n": range(50)})
    whole = put(tmp_path, "sav" if ending == "sas7bdat" else ending, frame).read_bytes()
    whole = b"\0" * 12 + b"\xc2\xea\x81\x60" + whole if ending == "sas7bdat" else whole
    path = tmp_path / f"damaged.{ending}"
    for data in (whole[: len(whole) // 2], whole[:200], whole[:20], whole[:100] + b"\xff" * 200 + whole[300:]):
        path.write_bytes(data)
        for reader in (read, lambda file: statistics_table(file, {"dta": "stata", "xpt": "sas"}.get(ending, "spss"))):
            assert CANARY not in told(reader, path)


def told(reader, path):
    try:
        reader(path)
    except FileFormatError as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize(("status", "message"), [(-11, "truncated, damaged"), (3, "more than 200 times its size")])
def test_a_file_that_ends_its_reader_or_is_too_large_is_refused(tmp_path, monkeypatch, status, message):
    path = put(tmp_path, "sav")
    ended = subprocess.CompletedProcess([], status, b"")
    monkeypatch.setattr(statistics_files.subprocess, "run", lambda *_, **__: ended)
    with pytest.raises(FileFormatError, match=message):
        read(path)


def test_what_is_named_so_and_is_none_is_refused(tmp_path):
    path = tmp_path / "people.sav"
    path.write_text("age,sex\n1,2\n")
    with pytest.raises(FileFormatError, match="its first bytes are those of text"):
        read(path)


def test_it_says_which_packages_are_missing(tmp_path, monkeypatch):
    path = put(tmp_path, "sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    for reader in (read, lambda file: statistics_table(file, "spss")):
        with pytest.raises(MissingPackageError, match=r"pip install 'incrowd\[statistics-files\]'"):
            reader(path)
