from __future__ import annotations

import pytest

from incrowd.errors import ParameterError
from incrowd.tables.reading.layout import (
    check_delimiter,
    header_end,
    sniff_delimiter,
    sniff_encoding,
    sniff_line_end,
)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_finds_the_delimiter_of_plain_tables(delimiter):
    rows = [["a", "b", "c"], ["1", "x y", "3"], ["4", "z", "6"]]
    text = "".join(delimiter.join(row) + "\n" for row in rows)
    assert sniff_delimiter(text, "\n") == delimiter


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a;b\n1,5;2,5\n3,25;4\n", ";"),
        ("a\tb\n1,2\t3,4\n", "\t"),
        ('a,b\n"1;2;3",4\n', ","),
        ('"a;x","b;y"\n"1;2","3;4"\n', ","),
        ("a\n1\n2\n", ","),
        ("a,b\n1,2\n3\n", ","),
        ("a|b|c\n1|2|3,4\n", "|"),
        ("a;b\r\n\r\n1;2\r\n", ";"),
        ("a;b", ";"),
    ],
)
def test_finds_the_delimiter_of_awkward_tables(text, delimiter):
    assert sniff_delimiter(text, "\n") == delimiter


def test_only_complete_records_count():
    assert sniff_delimiter("a,b\n1,2\n3,4;5;6;7", "\n") == ","


@pytest.mark.parametrize("bad", ["", ",,", "a", "7", '"', "\n", "\r", "\0", "é"])
def test_refuses_what_cannot_be_a_delimiter(bad):
    with pytest.raises(ParameterError):
        check_delimiter(bad)


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        (b"a,b", "utf-8"),
        (b"\xef\xbb\xbfa", "utf-8"),
        (b"\xff\xfea\0", "utf-16"),
        (b"\xfe\xff\0a", "utf-16"),
        (b"\xff\xfe\0\0", "utf-32"),
    ],
)
def test_encoding_by_mark(head, encoding):
    assert sniff_encoding(head, None) == encoding


@pytest.mark.parametrize(("name", "known"), [("UTF8", "utf-8"), ("utf-8-sig", "utf-8"), ("Latin-1", "iso8859-1")])
def test_declared_encodings(name, known):
    assert sniff_encoding(b"", name) == known


@pytest.mark.parametrize("name", ["klingon", "rot13", "hex", "zip"])
def test_refuses_what_is_no_text_encoding(name):
    with pytest.raises(ParameterError, match="Unknown encoding"):
        sniff_encoding(b"", name)


def test_line_ends():
    assert sniff_line_end(b"a\nb") == "\n"
    assert sniff_line_end(b"a\r\nb") == "\n"
    assert sniff_line_end(b"a\rb") == "\r"
    assert sniff_line_end(b"a") == "\n"


def test_header_end_respects_quotes():
    assert header_end(b'a,"b\n""c"\n1,2\n', "\n") == 9
    assert header_end(b"a,b", "\n") == 3
    assert header_end(b'a,"b\n', "\n") == 5
