"""Every format carries released data, awkward or not, and nothing else."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.errors import OutputError
from incrowd.tables.publishing import serialise
from incrowd.tables.publishing.serialise import safe_name, spreadsheet_safe, write_table
from incrowd.tables.reading.read import read
from incrowd.vocabulary.forms import FileForm

TEXT = ["csv", "csv.gz", "csv.zst", "tsv", "txt"]
BINARY = ["parquet", "pq", "arrow", "feather", "ipc"]
LINES = ["jsonl", "ndjson"]
AWKWARD = [
    'say "hi"',
    "it's",
    "a,b;c\td",
    "new\nline",
    "cr\rlf\r\n",
    "NA",
    "null",
    "None",
    "01234",
    " edge ",
    "é𝔘\u202e",
    "a|b%7C",
    "<script>",
    "\\n",
    "{x}",
    "# no comment",
    "x" * 5000,
    None,
]


def write(tmp_path, ending, frame):
    path = tmp_path / f"t.{ending}"
    write_table(frame, path, FileForm.of(path))
    return path


@pytest.mark.parametrize("ending", TEXT + BINARY + LINES)
def test_awkward_text_comes_back(tmp_path, ending):
    frame = pl.DataFrame({"a b": AWKWARD, 'q"c,\n': AWKWARD[::-1], "n": range(len(AWKWARD))})
    back = read(write(tmp_path, ending, frame), missing=[]).frame
    assert back.columns == frame.columns
    assert back.select("a b", 'q"c,\n').equals(frame.select("a b", 'q"c,\n'))
    assert back["n"].cast(pl.Int64).to_list() == frame["n"].to_list()


def test_awkward_text_comes_back_from_arff(tmp_path):
    values = [value for value in AWKWARD if value is None or not set("\n\r") & set(value)]
    frame = pl.DataFrame({"a b": values, "it's": values[::-1], "n": [i / 3 for i in range(len(values))]})
    back = read(write(tmp_path, "arff", frame)).frame
    assert back.columns == frame.columns
    assert back["a b"].to_list() == values
    assert back["it's"].to_list() == values[::-1]
    assert back["n"].cast(pl.Float64).to_list() == frame["n"].to_list()


@pytest.fixture
def typed():
    return pl.DataFrame(
        {
            "whole": [2**53 + 1, -(2**63), None],
            "real": [0.1 + 0.2, None, 5e-324],
            "truth": [True, None, False],
            "day": [dt.date(1, 1, 1), None, dt.date(2020, 2, 29)],
            "word": ["x", "", None],
            "moment": [dt.datetime(2020, 1, 1, 12, 30), None, dt.datetime(1960, 5, 5)],
        }
    )


@pytest.mark.parametrize("ending", BINARY)
def test_types_come_back(tmp_path, ending, typed):
    path = write(tmp_path, ending, typed)
    back = pl.read_parquet(path) if ending in ("parquet", "pq") else pl.read_ipc(path)
    assert back.equals(typed)
    assert back.schema == typed.schema


@pytest.mark.parametrize("ending", TEXT)
def test_typed_cells_are_written_exactly(tmp_path, ending, typed):
    back = read(write(tmp_path, ending, typed)).frame
    assert back["whole"].to_list() == ["9007199254740993", "-9223372036854775808", None]
    assert [None if x is None else float(x) for x in back["real"].to_list()] == typed["real"].to_list()
    assert back["truth"].to_list() == ["true", None, "false"]
    assert back["day"].to_list() == ["0001-01-01", None, "2020-02-29"]


words = st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=6)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(words, words), min_size=1, max_size=6))
def test_python_reads_what_was_written(tmp_path, rows):
    """The standard library, which has never heard of polars, gets the same cells."""
    frame = pl.DataFrame({"a": [a for a, _ in rows], "b": [b for _, b in rows]}, {"a": pl.String, "b": pl.String})
    path = write(tmp_path, "csv", frame)
    text = path.read_bytes().decode("utf-8")
    found = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    safe = spreadsheet_safe(frame).rows()
    assert found == [["a", "b"], *[[cell or "" for cell in row] for row in safe]]


FORMULAS = ["=1+2", "@SUM(A1)", "+1+2", "-1+2", "\t=1", "\r=1", "=\n1+2", "=cmd|' /C calc'!A0", "-x", "+49 30", "--5"]
HARMLESS = ["-5", "+5", "-1.5e3", "=", "-", "@", "a=1", "'=1", "", " =1", None, "1-2"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
def test_formulas_get_an_apostrophe_and_nothing_else_does(tmp_path, ending):
    values = FORMULAS + HARMLESS
    frame = pl.DataFrame({"a": values, "n": [-1.5] * len(values), "m": [-7] * len(values)})
    path = write(tmp_path, ending, frame)
    data = gzip.decompress(path.read_bytes()) if ending.endswith("gz") else path.read_bytes()
    delimiter = "\t" if ending == "tsv" else ","
    rows = list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter=delimiter))[1:]
    assert [row[0] for row in rows] == [f"'{value}" for value in FORMULAS] + [value or "" for value in HARMLESS]
    assert {tuple(row[1:]) for row in rows} == {("-1.5", "-7")}


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_formulas_stay_in_formats_that_no_spreadsheet_runs(tmp_path, ending):
    frame = pl.DataFrame({"=a": FORMULAS})
    assert read(write(tmp_path, ending, frame)).frame.equals(frame)


def test_names_of_columns_are_made_safe_too(tmp_path):
    names = ["=cmd()", "@x", "-", "+1", "\tx", "plain", "<script>"]
    frame = pl.DataFrame({name: ["v"] for name in names})
    header = write(tmp_path, "csv", frame).read_text().splitlines()[0]
    assert next(csv.reader([header])) == ["'=cmd()", "'@x", "-", "'+1", "'\tx", "plain", "<script>"]
    assert [safe_name(name) for name in names] == next(csv.reader([header]))
    assert frame.columns == names


def test_files_carry_no_more_than_the_table(tmp_path):
    import pandas as pd

    source = pd.DataFrame({"a": pd.Categorical(["x", "y"], ["x", "y", "REMOVED"])}, index=["LINE1", "LINE2"])
    source.attrs["secret"] = "ATTRS"
    frame = pl.from_pandas(source.reset_index(drop=True)).cast(pl.String)
    for ending in (*TEXT, *BINARY, "arff"):
        data = write(tmp_path, ending, frame).read_bytes()
        assert not [word for word in (b"REMOVED", b"LINE1", b"ATTRS", b"__index_level") if word in data]
    for path in (write(tmp_path, "parquet", frame), write(tmp_path, "arrow", frame)):
        table = pa.parquet.read_table(path) if path.suffix == ".parquet" else pa.feather.read_table(path)
        assert table.schema.pandas_metadata is None


def test_the_same_table_gives_the_same_bytes(tmp_path):
    frame = pl.DataFrame({"a": ["x", None, "y"] * 1000, "b": range(3000)})
    for ending in (*TEXT, "parquet", "arrow", "arff"):
        assert write(tmp_path, ending, frame).read_bytes() == write(tmp_path, ending, frame).read_bytes()


@pytest.mark.parametrize("value", ["new\nline", "cr\rx"])
def test_arff_refuses_line_breaks(tmp_path, value):
    for frame in (pl.DataFrame({"a": [value]}), pl.DataFrame({value: ["a"]})):
        with pytest.raises(OutputError, match="ARFF cannot hold line breaks") as caught:
            write(tmp_path, "arff", frame)
        assert value not in str(caught.value)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst", "parquet", "arrow", "arff"])
def test_a_folder_that_is_gone_is_an_output_error(tmp_path, ending):
    with pytest.raises(OutputError, match="cannot be written"):
        write(tmp_path / "nowhere", ending, pl.DataFrame({"a": ["SECRET"]}))


UNKNOWN = ["t", "t.exe", "t.csv.zip", "t.parquet.gz", "t.xls", "t.sas7bdat", "t.db", "t.pkl", ".csv"]


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_endings_are_refused(name):
    with pytest.raises(OutputError, match="must end in one of"):
        FileForm.of(name)


def test_arff_declares_numbers_dates_and_values(tmp_path):
    frame = pl.DataFrame(
        {
            "n": [1, None, -3],
            "x y": [0.5, -2.25, None],
            "day": [dt.date(2020, 1, 2), None, None],
            "job": ["two words", None, "cook"],
            "ill": [True, False, None],
        }
    )
    assert write(tmp_path, "arff", frame).read_text() == (
        "@relation release\n\n@attribute n numeric\n@attribute 'x y' numeric\n@attribute day date 'yyyy-MM-dd'\n"
        "@attribute job {cook,'two words'}\n@attribute ill {false,true}\n\n@data\n"
        "1,0.5,2020-01-02,'two words',true\n?,-2.25,?,?,false\n-3,?,?,cook,?\n"
    )


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError("of which nothing is known"), "OSError"),
        (pl.exceptions.ComputeError("a cell"), "ComputeError"),
    ],
)
def test_why_it_cannot_be_written_is_told(tmp_path, monkeypatch, error, reason):
    def refuse(*_):
        raise error

    monkeypatch.setattr(serialise, "write_arff", refuse)
    with pytest.raises(OutputError) as told:
        write(tmp_path, "arff", pl.DataFrame({"a": [1]}))
    assert str(told.value) == f"t.arff cannot be written ({reason}). Is the disk full?"


@pytest.mark.parametrize("name", ["=a", "+a", "@a", "-a", "\ta", "\ra"])
def test_every_name_that_could_be_run_gets_an_apostrophe(name):
    assert safe_name(name) == f"'{name}"
    for harmless in (name[0], name[::-1], f" {name}"):
        assert safe_name(harmless) == harmless
    frame = pl.DataFrame({name: [name, name[0], "a", None], "b": ["a"] * 4})
    assert spreadsheet_safe(frame).to_dict(as_series=False) == {
        f"'{name}": [f"'{name}", name[0], "a", None],
        "b": ["a"] * 4,
    }


@pytest.mark.parametrize("words", [[*HARMLESS, 'a"b', "a,b", "a\nb"], [*FORMULAS, *HARMLESS]])
@pytest.mark.parametrize("ending", TEXT)
def test_categories_are_written_as_their_texts_are(tmp_path, ending, words):
    frame = pl.DataFrame({"=a": words, "b": words[::-1]}, {"=a": pl.String, "b": pl.String})
    plain = write(tmp_path, ending, frame).read_bytes()
    assert write(tmp_path, ending, frame.cast(pl.Categorical)).read_bytes() == plain


def test_a_dictionary_in_parquet_has_the_words_that_occur_in_their_own_order(tmp_path):
    frame = pl.DataFrame({"a": ["b", "c", None, "b", "a", "c"] * 2, "n": pl.Series([None] * 12, dtype=pl.String)})
    path = write(tmp_path, "parquet", frame[:4].vstack(frame[:4]))
    column = pq.read_table(path, read_dictionary=["a"])["a"].chunk(0)
    assert column.dictionary.to_pylist() == ["b", "c"]
    assert read(path).frame.equals(frame[:4].vstack(frame[:4]))
    assert pq.read_metadata(path).metadata is None
