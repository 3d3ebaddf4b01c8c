"""Releases as files of SPSS and Stata: the whole way, what they cannot hold, and what they may not carry."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pyreadstat
import pytest

import incrowd
from incrowd.errors import FileFormatError, OutputError
from incrowd.tables.publishing.serialise import write_table
from incrowd.tables.reading.read import read_release
from incrowd.verification.opening import connect, open_table
from incrowd.verification.written_bytes import bytes_check
from incrowd.vocabulary.forms import FileForm
from support.covering import in_turn

ENDINGS = ("sav", "dta")
PEOPLE = pl.DataFrame(
    {
        "age": [20 + at % 7 for at in range(60)],
        "job": [("nurse", "köchin", None)[at % 3] for at in range(60)],
        "seen": [dt.date(2020, 1, 1 + at % 28) if at % 5 else None for at in range(60)],
        "cost": [at / 8 if at % 9 else None for at in range(60)],
        "smokes": [at % 2 == 0 for at in range(60)],
        "note": [" padded" if at % 4 else "=1+2" for at in range(60)],
        "ill": ["yes" if at % 7 > 2 else "no" for at in range(60)],
    }
)


@pytest.mark.parametrize(("ending", "method"), in_turn(ENDINGS, ["kactus-plus", "mondrian"]))
def test_a_release_is_written_and_verified(tmp_path, ending, method):
    to = tmp_path / f"release.{ending}"
    asked = {"quasi_identifiers": ["age", "job", "seen"], "target": "ill", "class_sensitive": False, "k": 5}
    released = incrowd.release(PEOPLE, **asked, method=method, despite_unchanged=True, to=to)
    assert incrowd.verify(to).passed
    frame, about = (pyreadstat.read_sav if ending == "sav" else pyreadstat.read_dta)(str(to), output_format="polars")
    assert frame.columns == PEOPLE.columns
    assert (frame.height, about.variable_value_labels, about.creation_time.year) == (60, {}, 1980)
    assert released.table["cost"].sum() == PEOPLE["cost"].sum()
    assert sorted(released.table["note"]) == sorted(PEOPLE["note"])
    again = incrowd.release(to, **asked, method="mondrian", despite_unchanged=True)
    assert again.table.height == 60


@pytest.mark.parametrize("ending", ENDINGS)
def test_cells_come_back_as_they_were(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    hidden = PEOPLE.with_columns(pl.lit(None, pl.String).alias("nothing"), pl.lit(None, pl.Date).alias("never"))
    write_table(hidden, path, FileForm.of(path))
    plain = hidden.with_columns(pl.col("smokes").cast(pl.String))
    with connect() as connection:
        assert open_table(connection, path, FileForm.of(path)) == hidden.columns
        assert connection.execute("FROM released").fetchall() == plain.rows()
    assert read_release(path, missing=[]).frame["note"].to_list() == plain["note"].to_list()
    assert bytes_check(path, FileForm.of(path)).passed


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    ("column", "cells", "told"),
    [
        ("two words", [1], "'two words' is no name that such a file can have"),
        ("9a", [1], "'9a' is no name"),
        ("with", [1], "'with' is no name"),
        ("a" * 65, [1], "is no name"),
        ("a", ["x" * 40_000], "'a' has texts of more than"),
        ("a", ["x\0y"], "'a' has texts of more than"),
        ("a", [2**60], "'a' has numbers that a double does not hold exactly"),
        ("a", [float("inf")], "'a' has numbers"),
        ("a", [dt.date(50, 1, 1)], "'a' has days that lie too far back"),
    ],
)
def test_what_cannot_be_held_is_refused_by_name(tmp_path, ending, column, cells, told):
    path = tmp_path / f"t.{ending}"
    with pytest.raises(OutputError, match=told):
        write_table(pl.DataFrame({column: cells}), path, FileForm.of(path))
    assert not path.exists()


def test_names_that_differ_by_capitals_and_spaces_at_the_end_of_texts_are_nothing_for_spss(tmp_path):
    for frame, told in (
        (pl.DataFrame({"a": [1], "A": [2]}), "'a', 'A' are told apart by capitals only"),
        (pl.DataFrame({"a": ["x "]}), "'a' has texts"),
    ):
        with pytest.raises(OutputError, match=told):
            write_table(frame, tmp_path / "t.sav", FileForm("spss"))
        write_table(frame, tmp_path / "t.dta", FileForm("stata"))


@pytest.mark.parametrize("ending", ENDINGS)
def test_labels_notes_and_times_are_found(tmp_path, ending):
    path, frame = tmp_path / f"t.{ending}", PEOPLE.select("age", "job")
    write = pyreadstat.write_sav if ending == "sav" else pyreadstat.write_dta
    form = FileForm.of(path)
    more = (
        {},  # the time of writing
        {"file_label": "Station 4"},
        {"column_labels": ["age of Ann", ""]},
        {"variable_value_labels": {"age": {20: "Ann"}}},
    )
    for options in more:
        write(frame.with_columns(pl.col("age").cast(pl.Float64), pl.col("job").fill_null("")), str(path), **options)
        assert not bytes_check(path, form).passed
    write_table(frame, path, form)
    whole = path.read_bytes()
    path.write_bytes(whole + b"Ann")
    assert not bytes_check(path, form).passed
    path.write_bytes(whole[:100])
    with pytest.raises(FileFormatError), connect() as connection:
        open_table(connection, path, form)
