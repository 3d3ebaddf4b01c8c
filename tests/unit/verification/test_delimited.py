"""The structure of delimited text: header, rows and quotes, counted letter by letter in a second, slow way."""

from __future__ import annotations

import gzip
import itertools
import random

import pyarrow as pa
import pytest

from incrowd.errors import FileFormatError
from incrowd.verification import delimited
from incrowd.verification.delimited import Structure, check_count, examine, line_end, unpacked
from incrowd.vocabulary.forms import FileForm

LENGTHS = "its rows do not all have as many fields as its header"
BLANK = "there is a blank line between its rows"
OPEN = "a quote is not closed"
STRAY = "a quote stands inside a field"


def found(folder, data, form=None, name="t.csv"):
    """The structure, or what is said against the file."""
    path = folder / name
    path.write_bytes(data)
    try:
        return examine(path, form or FileForm())
    except FileFormatError as error:
        return str(error).removeprefix(f"{name} could not be verified: ").removesuffix(".")


# names, and how they end

HEADERS = {
    "nothing": (b"", "it is empty"),
    "names alone": (b"a,b", (["a", "b"], 0)),
    "names and a line end": (b"a,b\n", (["a", "b"], 0)),
    "one name": (b"a\n1\n", (["a"], 1)),
    "both letters of a line end": (b"a,b\r\n1,2\r\n", (["a", "b"], 1)),
    "carriage returns alone": (b"a,b\r1,2\r", (["a", "b"], 1)),
    "a byte order mark": (b"\xef\xbb\xbfa,b\n1,2\n", (["a", "b"], 1)),
    "a byte order mark before a quote": (b'\xef\xbb\xbf"a",b\n1,2\n', (["a", "b"], 1)),
    "letters beyond ASCII": ("ä,€\nö,ü\n".encode(), (["ä", "€"], 1)),
    "a delimiter in a name": (b'"a,x",b\n1,2\n', (["a,x", "b"], 1)),
    "a line end in a name": (b'"a\nx",b\n1,2\n', (["a\nx", "b"], 1)),
    "two line ends in a name": (b'"a\n\nx","b\n"\n1,2\n', (["a\n\nx", "b\n"], 1)),
    "a quote in a name": (b'"a""x",b\n1,2\n', (['a"x', "b"], 1)),
    "quoted rows after plain names": (b'a,b\n"1",2\n', (["a", "b"], 1)),
    "a first line that is blank": (b"\na,b\n1,2\n", "its first line is blank"),
    "a first line that is blank, both letters": (b"\r\na,b\r\n", "its first line is blank"),
    "nothing but a byte order mark": (b"\xef\xbb\xbf", "its first line is blank"),
    "a name with a letter after its quote": (b'"a"x,b\n1,2\n', "its header cannot be parted into names"),
    "a name that never closes": (b'"a,b\n1,2\n', OPEN),
    "another encoding": ("ä,b\n1,2\n".encode("latin-1"), "its bytes cannot be read as text (UnicodeDecodeError)"),
    "another encoding of a cell": (
        "a,b\n1,ä\n".encode("latin-1"),
        "its bytes cannot be read as text (UnicodeDecodeError)",
    ),
    "a NUL byte in a name": (b"a\0,b\n1,2\n", "it has NUL bytes"),
    "a NUL byte in a cell": (b"a,b\n1,2\0\n", "it has NUL bytes"),
}


@pytest.mark.parametrize(("data", "expected"), HEADERS.values(), ids=HEADERS)
def test_names_are_those_of_the_first_record(tmp_path, data, expected):
    told = found(tmp_path, data)
    assert told == (expected if isinstance(expected, str) else Structure(*expected, names_nan=False))


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"a,b\n1,NaN\n", True),
        (b"NaN,b\n1,2\n", True),
        (b"a,b\nNaN,2\n" + b"1,2\n" * 9, True),
        (b"a,b\n" + b"1,2\n" * 9 + b"banNaNa,2\n", True),
        (b"a,b\n1,nan\n", False),
        (b"a,b\n1,NA\n", False),
    ],
)
@pytest.mark.parametrize("step", [8, 1 << 22])
def test_whether_the_letters_of_a_missing_number_occur(tmp_path, monkeypatch, data, named, step):
    monkeypatch.setattr(delimited, "STEP", step)
    assert found(tmp_path, data).names_nan is named


# rows

REFUSED = {
    "a short row": (b"a,b\n1,2\n3\n", LENGTHS),
    "a long row": (b"a,b\n1,2,3\n", LENGTHS),
    "a long row with a quote": (b'a,b\n"1",2,3\n', LENGTHS),
    "a delimiter too few among quotes": (b'a,b\n"1,2"\n', LENGTHS),
    "a blank line between rows": (b"a,b\n1,2\n\n3,4\n", BLANK),
    "a blank line before the rows": (b"a,b\n\n3,4\n", BLANK),
    "a blank line before the rows, both letters": (b"a,b\r\n\r\n3,4\r\n", BLANK),
    "a blank line between rows, both letters": (b"a,b\r\n1,2\r\n\r\n3,4\r\n", BLANK),
    "a blank line among quoted rows": (b'a,b\n"1",2\n\n"3",4\n', BLANK),
    "a blank line before the last row, which does not end": (b'a,b\n"1",2\n\n3,4', BLANK),
    "a blank line of carriage returns": (b"a,b\r1,2\r\r3,4\r", BLANK),
    "a quote that never closes": (b'a,b\n1,"2\n3,4\n', OPEN),
    "a quote that opens at the end": (b'a,b\n1,"', OPEN),
    "a quote inside a field": (b'a,b\n1,x"y\n', STRAY),
    "two quotes inside a field": (b'a,b\n1,x"y"z\n', STRAY),
    "a letter after a quote": (b'a,b\n1,"x"y\n', STRAY),
    "a letter before the first quote": (b'a,b\nx"1",2\n', STRAY),
    "a blank after a quote": (b'a,b\n"1" ,2\n', STRAY),
}


@pytest.mark.parametrize(("data", "why"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_plain_table_is_refused_by_its_reason(tmp_path, data, why):
    assert found(tmp_path, data) == why


SOUND = {
    "a last line that does not end": (b"a,b\n1,2\n3,4", 2),
    "a last line in quotes that does not end": (b'a,b\n"1",2\n3,"4"', 2),
    "one line in quotes that does not end": (b'a,b\n"1",2', 1),
    "blank lines at the end": (b"a,b\n1,2\n\n\n", 1),
    "blank lines at the end, both letters": (b"a,b\r\n1,2\r\n\r\n\r\n", 1),
    "blank lines after a row with quotes": (b'a,b\n1,"2"\n\n', 1),
    "blank lines and no row": (b"a,b\n\n\n", 0),
    "blank lines in quotes": (b'a,b\n1,"\n\n\n"\n3,4\n', 2),
    "nothing but quotes": (b'a,b\n"",""\n', 1),
    "quotes in quotes": (b'a,b\n"""","x"""\n"1""2",3\n', 2),
    "empty cells": (b"a,b\n,\n,\n", 2),
    "one column, empty lines": (b"a\n\n1\n\n", 3),
    "one column, empty lines and quotes": (b'a\n\n"1"\n\n', 3),
    "one column, carriage returns in quotes": (b'a\n"\r"\n\r\n', 2),
}


@pytest.mark.parametrize(("data", "rows"), SOUND.values(), ids=SOUND)
def test_rows_are_counted(tmp_path, data, rows):
    assert found(tmp_path, data).rows == rows


def oracle(data, width, delimiter, end):
    """Rows below a header, letter by letter, or that they are refused."""
    records, fields, content, quoted = [], 0, "", False
    for place, letter in enumerate(data):
        before, after = data[place - 1 : place], data[place + 1 : place + 2]
        edges = (delimiter, "\n", "\r", '"', "")
        if letter == '"' and (after if quoted else before) not in edges:
            return None
        quoted ^= letter == '"'
        if letter == end and not quoted:
            records.append(content)
            content = ""
            continue
        fields += letter == delimiter and not quoted
        content += letter
    records += [content] if content else []
    blanks = ("", "\r") if end == "\n" else ("",)
    full = [width == 1 or record not in blanks for record in records]
    if quoted or sorted(full, reverse=True) != full or fields != sum(full) * (width - 1):
        return None
    return sum(full)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("width", "delimiter"), [(1, ","), (2, ","), (3, ";"), (2, "\t")])
def test_rows_are_those_of_a_count_letter_by_letter(tmp_path, monkeypatch, width, delimiter, end):
    chance = random.Random(f"{width}{delimiter}{end}")
    rest = delimiter * (width - 1) + end
    words = ["x", delimiter, '"', '""', f'"{end}"', end, f"x{rest}", f'"a{end}b"{rest}', rest]
    header = delimiter.join("abc"[:width]) + end
    counted = []
    for size in itertools.islice(itertools.cycle(range(9)), 250):
        body = "".join(chance.choices(words, k=size))
        step = chance.choice([len(header), len(header) + 1, len(header) + 3, 1 << 22])
        monkeypatch.setattr(delimited, "STEP", step)
        told = found(tmp_path, (header + body).encode(), FileForm("csv", delimiter))
        rows = None if isinstance(told, str) else told.rows
        assert rows == oracle(body, width, delimiter, end[-1]), (body, told)
        counted.append(rows)
    assert None in counted
    assert {0, 1, 2} <= set(counted)


# pieces


@pytest.mark.parametrize("step", [1, 3, 10])
@pytest.mark.parametrize("longest", [19, 20, 21])
def test_a_line_beyond_the_longest_is_refused_before_it_ends(tmp_path, monkeypatch, step, longest):
    monkeypatch.setattr(delimited, "STEP", step)
    monkeypatch.setattr(delimited, "LONGEST_LINE", longest)
    data = b"a,b\n" + b"1,2\n" * 30
    assert found(tmp_path, data).rows == 30  # the file is longer than that, its lines are not
    assert isinstance(found(tmp_path, data + b"1," + b"x" * 16 + b"\n"), Structure)
    assert found(tmp_path, data + b"1," + b"x" * 40 + b"\n") == f"a line is longer than {longest} bytes"


@pytest.mark.parametrize(("letters", "refused"), [(20, False), (21, True)])
def test_a_line_may_be_as_long_as_the_longest(tmp_path, monkeypatch, letters, refused):
    monkeypatch.setattr(delimited, "LONGEST_LINE", 20)
    assert isinstance(found(tmp_path, b"a\n" + b"x" * letters), str) == refused


def test_lines_of_sixteen_million_letters_are_read(tmp_path):
    assert isinstance(found(tmp_path, b"a\n" + b"x" * 16_000_000), Structure)
    assert found(tmp_path, b"a\n" + b"x" * 16_000_001) == "a line is longer than 16,000,000 bytes"


def test_blank_lines_of_one_piece_are_remembered_in_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "STEP", 4)
    for rest in (b"1,2\n", b'"",\n', b"\n\n\n\n1,2\n"):
        assert found(tmp_path, b"a,b\n1,2\n\n\n\n\n" + rest) == BLANK
    assert found(tmp_path, b"a,b\n1,2\n\n\n\n\n\n\n\n\n").rows == 1


def test_a_name_in_pieces(tmp_path, monkeypatch):
    for step in range(1, 12):
        monkeypatch.setattr(delimited, "STEP", step)
        told = found(tmp_path, b'"a\n\nb","c"\r\n1,2\r\n')
        assert told == Structure(["a\n\nb", "c"], 1, names_nan=False)


# packing


def packed(path, data, compression):
    if compression == "gzip":
        path.write_bytes(gzip.compress(data))
    elif compression is None:
        path.write_bytes(data)
    else:
        with pa.CompressedOutputStream(str(path), compression) as stream:
            stream.write(data)


@pytest.mark.parametrize("compression", [None, "gzip", "zstd"])
def test_packed_text_is_unpacked(tmp_path, compression):
    path = tmp_path / "t"
    packed(path, b"a,b\n1,2\n", compression)
    with unpacked(path, compression) as stream:
        assert stream.read() == b"a,b\n1,2\n"
    assert examine(path, FileForm("csv", compression=compression)) == Structure(["a", "b"], 1, names_nan=False)


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_text_that_is_not_packed_as_it_should_is_refused(tmp_path, compression):
    told = found(tmp_path, b"a,b\n1,2\n", FileForm("csv", compression=compression))
    assert told.startswith("its bytes cannot be read as text (")


@pytest.mark.parametrize(
    ("data", "end"), [(b"a", b"\n"), (b"a\n", b"\n"), (b"a\r\n", b"\n"), (b"a\r", b"\r"), (b"a\rb\n", b"\n")]
)
def test_line_ends_are_carriage_returns_only_where_no_feed_is(data, end):
    assert line_end(data) == end


def test_both_counts_must_agree():
    check_count("t.csv", 2, 2)
    for counted, expected in ((2, 3), (3, 2), (0, 1)):
        with pytest.raises(FileFormatError, match=f"DuckDB reads {counted} rows, the file has {expected}"):
            check_count("t.csv", counted, expected)
