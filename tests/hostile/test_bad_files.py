"""Files that are not what they should be: trust list 1 to 21."""

from __future__ import annotations

import gzip
import re
import traceback
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.errors import EncodingError, FileFormatError, HeaderError, InputError, RequirementError, ValuesError
from incrowd.tables.reading import source
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Schema

CANARY = "Zx9Canary"


def refusal(path: Path, **options: str) -> InputError:
    """The error of reading a file, checked for what every error must be."""
    with pytest.raises(InputError) as caught:
        read(path, **options)
    assert caught.value.exit_status == 2
    told = "".join(traceback.format_exception(caught.value))
    assert CANARY not in told
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return caught.value


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


REFUSED = {
    "01-empty": ("t.csv", b"", FileFormatError, "empty"),
    "01-empty-gzip": ("t.csv.gz", gzip.compress(b""), FileFormatError, "empty"),
    "01-only-a-mark": ("t.csv", b"\xef\xbb\xbf", HeaderError, "no name"),
    "02-header-only": ("t.csv", b"a,b\n", FileFormatError, "no rows"),
    "02-header-without-line-end": ("t.csv", b"a,b", FileFormatError, "no rows"),
    "02-header-and-blank-lines": ("t.csv", b"a,b\n\n\n", FileFormatError, "no rows"),
    "06-invalid-utf-8": ("t.csv", f"a,b\n{CANARY},2\n3,x".encode() + b"\xff\n", EncodingError, "Line 3 "),
    "06-invalid-utf-8-quoted": ("t.csv", b'a,b\n"x\ny",2\n3,\xff\n', EncodingError, "Line 4 "),
    "06-invalid-utf-8-header": ("t.csv", b"a,\xff\n1,2\n", EncodingError, "Line 1 "),
    "08-nul-byte": ("t.csv", f"a,b\n1,2\n{CANARY},\0\n".encode(), FileFormatError, "Line 3 .*NUL"),
    "08-nul-byte-quoted": ("t.csv", b'a,b\n1,2\n3,"\n\0"\n', FileFormatError, "Line 4 .*NUL"),
    "08-nul-byte-header": ("t.csv", b"a,b\0\n1,2\n", FileFormatError, "Line 1 .*NUL"),
    "08-utf-16-without-mark": ("t.csv", "a,b\n1,2\n".encode("utf-16-le"), FileFormatError, "NUL"),
    "10-short-row": ("t.csv", f"a,b\n1,2\n{CANARY}\n3,4\n".encode(), FileFormatError, "Line 3 has 1 .* 2"),
    "10-long-row": ("t.csv", f"a,b\n1,2\n{CANARY},2,3\n".encode(), FileFormatError, "Line 3 has 3 .* 2"),
    "10-after-quoted-newline": ("t.csv", b'a,b\n"x\ny",2\n3\n', FileFormatError, "Line 4 has 1"),
    "10-blank-line-between": ("t.csv", b"a,b\n1,2\n\n3,4\n", FileFormatError, "Line 3 has 1"),
    "10-last-row-cut-off": ("t.csv", b"a,b,c\n1,2,3\n4,5", FileFormatError, "Line 3 has 2"),
    "11-trailing-comma-header": ("t.csv", b"a,b,\n1,2,3\n", HeaderError, "Column 3 has no name.*delimiter"),
    "12-unclosed-quote": (
        "t.csv",
        f'a,b\n1,2\n3,"{CANARY}\n4,5\n'.encode(),
        FileFormatError,
        "Line 3 .*quote",
    ),
    "12-unclosed-quote-header": ("t.csv", b'a,"b\n1,2\n', FileFormatError, "Line 1 .*quote"),
    "12-quote-inside-field": (
        "t.csv",
        f'a,b\n1,{CANARY}"x\n3,4\n'.encode(),
        FileFormatError,
        "Line 2 .*quote",
    ),
    "12-text-after-quote": (
        "t.csv",
        f'a,b\n1,"{CANARY}"x\n3,4\n'.encode(),
        FileFormatError,
        "Line 2 .*quote",
    ),
    "12-carriage-return-inside": ("t.csv", b"a,b\n1,2\r3,4\n5,6\n", FileFormatError, "Line 2 .*carriage"),
    "16-truncated-arrow": ("t.arrow", b"ARROW1\0\0", FileFormatError, "truncated"),
    "16-not-quite-parquet": ("t.parquet", b"PAR1PAR1", FileFormatError, "truncated"),
    "19-encrypted-parquet": ("t.parquet", b"PARE" + bytes(40) + b"PARE", FileFormatError, "encrypted"),
    "20-truncated-gzip": ("t.csv.gz", gzip.compress(b"a,b\n1,2\n")[:-5], FileFormatError, "truncated"),
    "21-parquet-named-csv": ("t.csv", b"PAR1" + bytes(20), FileFormatError, "Parquet"),
    "21-text-named-parquet": ("t.parquet", b"a,b\n1,2\n", FileFormatError, "first bytes"),
    "21-excel-named-csv": ("t.csv", b"PK\x03\x04" + bytes(20), FileFormatError, "Excel"),
    "21-gzip-named-csv": ("t.csv", gzip.compress(b"a,b\n1,2\n"), FileFormatError, "gzip"),
    "21-text-named-gzip": ("t.csv.gz", b"a,b\n1,2\n", FileFormatError, "first bytes"),
    "21-no-ending": ("t", b"a,b\n1,2\n", FileFormatError, "Known endings"),
    "21-unknown-ending": ("t.docx", b"a,b\n1,2\n", FileFormatError, "Known endings"),
}


@pytest.mark.parametrize(("name", "data", "error", "told"), REFUSED.values(), ids=REFUSED)
def test_refused(tmp_path, name, data, error, told):
    refused = refusal(put(tmp_path, name, data))
    assert type(refused) is error
    assert re.search(told, str(refused))


HANDLED = {
    "04-bom": (b"\xef\xbb\xbfa,b\n1,2\n", {}),
    "04-bom-quoted-header": (b'\xef\xbb\xbf"a",b\n1,2\n', {}),
    "05-utf-16-le": ("\ufeffa,b\n1,2\n".encode("utf-16-le"), {}),
    "05-utf-16-be": ("\ufeffa,b\n1,2\n".encode("utf-16-be"), {}),
    "05-utf-32": ("a,b\n1,2\n".encode("utf-32"), {}),
    "05-declared-utf-16": ("a,b\n1,2\n".encode("utf-16-le"), {"encoding": "utf-16-le"}),
    "09-crlf": (b"a,b\r\n1,2\r\n", {}),
    "09-crlf-and-lf": (b"a,b\r\n1,2\n", {}),
    "09-cr": (b"a,b\r1,2\r", {}),
    "09-no-last-line-end": (b"a,b\n1,2", {}),
    "09-blank-lines-at-the-end": (b"a,b\n1,2\n\n\r\n\n", {}),
    "14-semicolon-found": (b"a;b\n1;2\n", {}),
    "14-tab-found": (b"a\tb\n1\t2\n", {}),
    "14-bar-found": (b"a|b\n1|2\n", {}),
    "14-declared": (b"a:b\n1:2\n", {"delimiter": ":"}),
}


@pytest.mark.parametrize(("data", "options"), HANDLED.values(), ids=HANDLED)
def test_handled(tmp_path, data, options):
    source = read(put(tmp_path, "t.csv", data), **options)
    assert source.frame.columns == ["a", "b"]
    assert source.frame.rows() == [("1", "2")]
    assert source.notices == ()


def test_03_one_row_cannot_hide_among_two(tmp_path):
    source = read(put(tmp_path, "t.csv", b"a,b\n1,2\n"))
    with pytest.raises(RequirementError) as caught:
        KAnonymity(2).check_possible(source.frame.height)
    assert caught.value.exit_status == 2


def test_07_declared_latin_1(tmp_path):
    path = put(tmp_path, "t.csv", "name,b\nJosé,2\n".encode("latin-1"))
    guessed = read(path)
    assert (guessed.frame.rows(), guessed.origin.encoding) == ([("José", "2")], "cp1252")
    assert [notice.code for notice in guessed.notices] == ["reading-guessed"]
    source = read(path, encoding="latin-1")
    assert source.frame.rows() == [("José", "2")]
    assert source.origin.encoding == "iso8859-1"


@pytest.mark.parametrize(("encoding", "line"), [("ascii", 3), ("utf-16", 1)])
def test_07_declared_wrongly(tmp_path, encoding, line):
    path = put(tmp_path, "t.csv", "name,b\nAda,1\nJosé!,2\n".encode())
    assert f"Line {line} is not valid {encoding}" in str(refusal(path, encoding=encoding))


def test_13_quoted_newline_delimiter_and_quote(tmp_path):
    source = read(put(tmp_path, "t.csv", b'"a ""x""",b\r\n"1\r\n,""2""",3\r\n'))
    assert source.frame.columns == ['a "x"', "b"]
    assert source.frame.rows() == [('1\r\n,"2"', "3")]


def test_14_wrong_delimiter_is_told(tmp_path):
    source = read(put(tmp_path, "t.csv", b"a;b\n1;2\n"), delimiter=",")
    assert [notice.code for notice in source.notices] == ["wrong-delimiter"]


def test_15_decimal_comma_is_told(tmp_path):
    source = read(put(tmp_path, "t.csv", b"a;b\n1,5;2\n2,25;3\n"))
    table, notices = encode(source, draft_schema(source), ["a"])
    assert table["a"].dictionary.to_list() == [1.5, 2.25]
    assert "decimal-comma" in [notice.code for notice in notices]


@pytest.mark.parametrize("share", [0.2, 0.5, 0.95, 0.999])
def test_16_truncated_parquet(tmp_path, share):
    whole = tmp_path / "whole.parquet"
    pl.DataFrame({"a": [CANARY] * 500, "b": range(500)}).write_parquet(whole, compression="uncompressed")
    data = whole.read_bytes()
    refusal(put(tmp_path, "t.parquet", data[: int(len(data) * share)]))


def test_16_damaged_parquet_page(tmp_path):
    whole = tmp_path / "whole.parquet"
    pl.DataFrame({"a": [f"{CANARY}{i}" for i in range(5000)]}).write_parquet(whole, compression="zstd")
    data = bytearray(whole.read_bytes())
    data[40:400] = bytes(360)
    refusal(put(tmp_path, "t.parquet", bytes(data)))


NESTED = {
    "list": pa.array([[CANARY]]),
    "struct": pa.array([{"x": CANARY}]),
    "map": pa.array([[(CANARY, 1)]], pa.map_(pa.string(), pa.int64())),
}


@pytest.mark.parametrize("values", NESTED.values(), ids=NESTED)
@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_17_nested_column(tmp_path, values, name):
    path = tmp_path / name
    _write_arrow(pa.table({"deep": values}), path)
    refused = refusal(path)
    assert isinstance(refused, ValuesError)
    assert "'deep' is nested" in str(refused)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_18_extension_type(tmp_path, name):
    path = tmp_path / name
    values = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0123456789abcdef"], pa.binary(16)))
    _write_arrow(pa.table({"odd": values}), path)
    refused = refusal(path)
    assert isinstance(refused, ValuesError)
    assert "'odd' has an extension type" in str(refused)


def _write_arrow(table: pa.Table, path: Path) -> None:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_20_decompression_bomb(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(source, "FREE_BYTES", 1 << 20)
    flood = b"a,b\n" + b"1,2\n" * 2_000_000
    packed = gzip.compress(flood) if ending == "gz" else pa.compress(flood, "zstd", asbytes=True)
    assert "bomb" in str(refusal(put(tmp_path, f"t.csv.{ending}", packed)))


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_20_honest_compression(tmp_path, ending):
    plain = b"a,b\n1,2\n"
    packed = gzip.compress(plain) if ending == "gz" else pa.compress(plain, "zstd", asbytes=True)
    source = read(put(tmp_path, f"t.csv.{ending}", packed))
    assert source.frame.rows() == [("1", "2")]
    assert source.origin.compression == {"gz": "gzip", "zst": "zstd"}[ending]


def test_21_not_a_file(tmp_path):
    assert "no Parquet file" in str(refusal(tmp_path))
    assert "not a file" in str(refusal(tmp_path / "nowhere.csv"))


def test_declared_types_do_not_leak_values(tmp_path):
    source = read(put(tmp_path, "t.csv", f"a,b\n{CANARY},2\n1,{CANARY}\n".encode()))
    for kind in (
        ColumnType.INTEGER,
        ColumnType.REAL,
        ColumnType.DATE,
        ColumnType.BOOLEAN,
        ColumnType.ORDERED,
    ):
        order = ("x",) if kind is ColumnType.ORDERED else ()
        with pytest.raises(ValuesError) as caught:
            encode(source, Schema((Column("a", type=kind, order=order),)), ["a"])
        assert CANARY not in "".join(traceback.format_exception(caught.value))
