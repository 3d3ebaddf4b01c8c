"""JSON Lines: what a line may be, what a column becomes, and what is refused, with its line and without its cells."""

from __future__ import annotations

import polars as pl
import pytest

import incrowd
from incrowd.errors import FileFormatError, IncrowdError, OutputError, ValuesError
from incrowd.tables.publishing.serialise import write_table
from incrowd.tables.reading.read import read
from incrowd.tables.streams import json_lines
from incrowd.tables.streams.stream import open_stream
from incrowd.verification.opening import connect, open_table
from incrowd.verification.written_bytes import bytes_check
from incrowd.vocabulary.forms import FileForm


def put(folder, *lines, end="\n"):
    path = folder / "people.jsonl"
    path.write_bytes(b"".join((line if isinstance(line, bytes) else line.encode()) + end.encode() for line in lines))
    return path


def by_the_verification(path):
    with connect(threads=1) as connection:
        names = open_table(connection, path, FileForm("jsonl"))
        return names, connection.execute("FROM released").fetchall()


COLUMNS = {
    "whole numbers": (["1", "-7", "null"], pl.Int64, [1, -7, None]),
    "numbers": (["1", "2.5", "1e3"], pl.Float64, [1.0, 2.5, 1000.0]),
    "numbers beyond 64 bits": (["1", "18446744073709551616"], pl.String, ["1", "18446744073709551616"]),
    "numbers beyond 64 bits, and others": (["0.5", "18446744073709551616"], pl.Float64, [0.5, 2.0**64]),
    "truths": (["true", "false", "null"], pl.Boolean, [True, False, None]),
    "texts": (['"a"', '"\\u00e9\\n"', '"?"', '""'], pl.String, ["a", "é\n", None, None]),
    "nothing": (["null", "null"], pl.Null, [None, None]),
}


@pytest.mark.parametrize(("cells", "dtype", "values"), COLUMNS.values(), ids=COLUMNS)
def test_types_are_those_of_json(tmp_path, cells, dtype, values):
    path = put(tmp_path, *(f'{{"x": {cell}, "y": 1}}' for cell in cells))
    frame = read(path).frame
    assert (frame["x"].to_list(), frame.schema["x"]) == (values, dtype)
    names, rows = by_the_verification(path)
    assert names == ["x", "y"]
    shown = [None if cell in ("?", "") else cell for cell, _ in rows]
    assert shown == values


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_names_may_be_left_out_and_lines_may_be_blank(tmp_path, end):
    lines = ['\ufeff{"age": 39}', "", '{"Age": "x", "a/b~c.d": true}', " ", '{"age": 7}']
    path = put(tmp_path, *lines, end=end)
    frame = read(path).frame
    assert frame.rows() == [(39, None, None), (None, "x", True), (7, None, None)]
    assert by_the_verification(path) == (frame.columns, frame.rows())


def test_it_is_read_in_pieces_from_any_place(tmp_path, monkeypatch):
    monkeypatch.setattr(json_lines, "MARKED_ROWS", 4)
    path = put(tmp_path, *(f'{{"n": {n}, "t": "{n % 3}"}}' for n in range(23)))
    stream = open_stream(path)
    assert stream.rows == 23
    assert [n for frame in stream.frames(rows=5, columns=["n"]) for n in frame["n"]] == list(range(23))
    assert [stream.part(start, 6)["n"].to_list() for start in (0, 3, 4, 20)] == [
        list(range(start, min(23, start + 6))) for start in (0, 3, 4, 20)
    ]


def test_a_file_that_changes_meanwhile_is_refused(tmp_path):
    stream = open_stream(put(tmp_path, '{"a": 1}', '{"a": 2}'))
    put(tmp_path, '{"a": "KANARIE"}', '{"a": 2}', '{"a": 3}')
    with pytest.raises(FileFormatError, match="changed while it was read"):
        list(stream.frames())


REFUSED = {
    "no object": ("[1]", "Line 2 is no object"),
    "no JSON": ('{"a": KANARIE}', "Line 2 is no object"),
    "cut off": ('{"a": "KANARIE', "Line 2 is no object"),
    "a name twice": ('{"a": 1, "a": 2}', "Line 2 is no object"),
    "NaN": ('{"a": NaN}', "Line 2 is no object"),
    "too large": ('{"a": 1e400}', "Line 2 is no object"),
    "half a letter": ('{"a": "\\ud800"}', "Line 2 is no object"),
    "NUL": ('{"a": "\\u0000"}', "Line 2 is no object"),
    "two objects": ('{"a": 1} {"a": 2}', "Line 2 is no object"),
    "a carriage return inside": ('{"a":\r1}', "Line 2 is no object"),
    "endless nesting": ('{"a": ' + "[" * 100_000, "Line 2 is no object"),
    "no UTF-8": (b'{"a": "\xff"}', "Line 2|line 2"),
    "nested": ('{"a": {"b": 1}}', "Column 'a' is nested"),
    "a list": ('{"a": [1]}', "Column 'a' is nested"),
    "mixed": ('{"a": "KANARIE"}', "Column 'a' mixes"),
    "mixed truths": ('{"a": true}', "Column 'a' mixes"),
}


@pytest.mark.parametrize(("line", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_table_is_refused_without_its_cells(tmp_path, line, message):
    path = put(tmp_path, '{"a": 1}', line)
    with pytest.raises((FileFormatError, ValuesError), match=message) as refused:
        read(path)
    assert "KANARIE" not in str(refused.value)
    with pytest.raises(IncrowdError) as again:
        incrowd.verify(path, k=1, quasi_identifiers=["a"])
    assert "KANARIE" not in str(again.value)


def test_endless_digits_are_no_number(tmp_path):
    with pytest.raises(ValuesError, match="'a' has whole numbers of more than 1023 bits"):
        read(put(tmp_path, '{"a": 0.5}', '{"a": 1' + "0" * 400 + "}"))


@pytest.mark.parametrize("lines", [["{}"], ["", " "]])
def test_nothing_is_no_table(tmp_path, lines):
    with pytest.raises(FileFormatError, match="no rows"):
        read(put(tmp_path, *lines))


def test_what_is_written_is_proven_and_comes_back(tmp_path):
    frame = pl.DataFrame({"a": [1.5, float("nan"), 1e16], "b": ["é", None, '"\\\u2028'], "c": [True, None, False]})
    path = tmp_path / "release.jsonl"
    write_table(frame, path, FileForm("jsonl"))
    assert bytes_check(path, FileForm("jsonl")).passed
    assert read(path).frame.equals(frame.fill_nan(None))
    assert by_the_verification(path)[1] == frame.fill_nan(None).rows()


def test_infinite_numbers_cannot_be_written(tmp_path):
    with pytest.raises(OutputError, match="infinite"):
        write_table(pl.DataFrame({"a": [float("inf")]}), tmp_path / "release.jsonl", FileForm("jsonl"))
