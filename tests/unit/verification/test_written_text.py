"""Text files, plain and packed: what lies in them beside the released cells is found, and nothing else is."""

from __future__ import annotations

import random
import struct
import zlib

import polars as pl
import pytest

from incrowd.tables.publishing.serialise import write_table
from incrowd.verification import written_bytes
from incrowd.verification.written_bytes import bytes_check
from incrowd.vocabulary.forms import FileForm

FINE = "nothing but the released cells"
MARK = "a byte order mark stands before the text"
NUL = "the text holds NUL bytes"
IDLE = "cells are quoted without need"
END = "the text does not end with its last row"
HEADER = "the gzip header holds a name, a time or a comment"
AFTER = "bytes follow the end of the gzip data"
NO_DATA = "the zstd file holds bytes that are no data"


def found(folder, data, form=None, name="release.csv"):
    path = folder / name
    path.write_bytes(data)
    check = bytes_check(path, form or FileForm.of(path))
    assert check.name == "bytes"
    assert check.passed == (check.finding == FINE)
    return check.finding


TEXTS = {
    "plain": (b"a,b\n1,2\n", FINE),
    "names alone": (b"a,b\n", FINE),
    "one row of one column": (b"a\n1\n", FINE),
    "a last row without its end": (b"a,b\n1,2", END),
    "a blank line at the end": (b"a,b\n1,2\n\n", END),
    "a blank line after the names": (b"a,b\n\n", END),
    "one column that ends with a missing cell": (b"a\n1\n\n", FINE),
    "one column of nothing but missing cells": (b"a\n\n\n\n", FINE),
    "one column whose name holds a delimiter": (b'"a,b"\n1\n\n', FINE),
    "nothing": (b"", END),
    "a mark": (b"\xef\xbb\xbfa,b\n1,2\n", MARK),
    "a mark and nothing else": (b"\xef\xbb\xbf", f"{MARK}; {END}"),
    "letters beyond ASCII": ("ï»¿,ä\n1,2\n".encode(), FINE),
    "part of a mark": ("\ufec0,b\n1,2\n".encode(), FINE),
    "the letters of a mark later": (b"a,\xef\xbb\xbf\n1,2\n", FINE),
    "a NUL byte": (b"a,b\n1,\0\n", NUL),
    "a NUL byte in the names": (b"a\0,b\n1,2\n", NUL),
    "everything": (b'\xef\xbb\xbfa,b\n1,"2"\n\0,', f"{MARK}; {NUL}; {IDLE}; {END}"),
}


@pytest.mark.parametrize(("data", "fault"), TEXTS.values(), ids=TEXTS)
def test_text_in_pieces_of_any_size(tmp_path, monkeypatch, data, fault):
    for step in (1, 2, 3, 5, 1000):
        monkeypatch.setattr(written_bytes, "STEP", step)
        assert found(tmp_path, data) == fault


@pytest.mark.parametrize(
    ("rows", "needless"),
    [
        ('x,"a,b"\n', False),
        ('"a,b",x\n', False),
        ('x,"a""b"\n', False),
        ('"""a""",x\n', False),
        ('"a""b""c""","""d"""\n', False),
        ('"x\na",1\n', False),
        ('"x\n""a""",1\n', False),
        ('"x\n",1\n', False),
        ('"x\ry",1\n', False),
        ('",",","\n', False),
        ('"",""\n', False),  # an empty text, which is not a missing one
        ('"a",x\n', True),
        ('x,"a"\n', True),
        ('x,"a"', True),
        ('1,2\n"a",x\n3,4\n', True),
        ('1,2\nx,"a b"\n3,4\n', True),
        ('"1","2,3"\n', True),
        ('"1,2","3"\n', True),
        ('"1,\n2","3"\n', True),
    ],
)
def test_quotes_that_nothing_needs(tmp_path, monkeypatch, rows, needless):
    whole = f"k,l\n{rows}5,6\n" if rows.endswith("\n") else f"k,l\n{rows}"
    for delimiter in (",", ";", "\t", "|", "^", "]"):
        data = whole.replace(",", delimiter).encode()
        for step in range(1, len(data) + 1):
            monkeypatch.setattr(written_bytes, "STEP", step)
            told = found(tmp_path, data, FileForm("csv", delimiter))
            assert told.split("; ")[0] == (IDLE if needless else FINE), (delimiter, step)


def test_names_that_are_quoted_without_need(tmp_path):
    assert found(tmp_path, b'"a",b\n1,2\n') == IDLE
    assert found(tmp_path, b'a,"b"\n1,2\n') == IDLE
    assert found(tmp_path, b'a,"b"') == f"{IDLE}; {END}"


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst"])
@pytest.mark.parametrize("cells", [["x", None], [None], ["", None, ""], ['a"b', "c,d", "e\nf", "g\r"]])
def test_what_is_written_of_one_column_passes(tmp_path, ending, cells):
    path = tmp_path / f"release.{ending}"
    write_table(pl.DataFrame({"a": cells}), path, FileForm.of(path))
    assert bytes_check(path, FileForm.of(path)).finding == FINE


@pytest.mark.parametrize("step", [7, 64, 4_000_000])
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst"])
def test_no_piece_of_a_long_text_is_passed_over(tmp_path, monkeypatch, ending, step):
    """Rows are so many and so far apart that they are read, and unpacked, in many pieces."""
    monkeypatch.setattr(written_bytes, "STEP", step)
    chance = random.Random(1)
    cells = [chance.randbytes(20).hex() for _ in range(500)] * 2
    path = tmp_path / f"release.{ending}"
    write_table(pl.DataFrame({"a": cells, "b": cells}), path, FileForm.of(path))
    assert bytes_check(path, FileForm.of(path)).finding == FINE
    with_nul = [*cells[:-1], "\0"]
    write_table(pl.DataFrame({"a": with_nul, "b": cells}), path, FileForm.of(path))
    assert bytes_check(path, FileForm.of(path)).finding == NUL
    if ending != "csv":
        path.write_bytes(path.read_bytes() + b"x")
        assert bytes_check(path, FileForm.of(path)).finding in (AFTER, NO_DATA)


# gzip


def member(text=b"a,b\n1,2\n", method=8, flags=0, time=0, name=b"", magic=b"\x1f\x8b"):
    packing = zlib.compressobj(wbits=-15)
    data = packing.compress(text) + packing.flush()
    head = magic + struct.pack("<BBIBB", method, flags, time, 0, 255)
    return head + name + data + struct.pack("<II", zlib.crc32(text), len(text))


MEMBERS = {
    "plain": (member(), FINE),
    "what it holds is at fault": (member(b"a,b\n1,2"), END),
    "a name": (member(flags=8, name=b"people.csv\0"), HEADER),
    "a comment": (member(flags=16, name=b"of people\0"), HEADER),
    "something more": (member(flags=4, name=b"\6\0people"), HEADER),
    "the first second": (member(time=1), HEADER),
    "a late time": (member(time=1 << 31), HEADER),
    "another packing": (member(method=7), HEADER),
    "no gzip": (member(magic=b"\x1f\x8c"), HEADER),
    "no packing at all": (b"a,b\n1,2\n", HEADER),
    "nothing": (b"", HEADER),
    "a byte after it": (member() + b"\0", AFTER),
    "much after it": (member() + b"secret" * 100, AFTER),
    "a second member": (member() + member(b"3,4\n"), AFTER),
    "an empty second member": (member() + member(b""), AFTER),
    "a length that is cut": (member()[:-1], AFTER),
    "a sum that is cut": (member()[:-8], AFTER),
    "data that are cut": (member()[:-12], AFTER),
}


@pytest.mark.parametrize(("data", "fault"), MEMBERS.values(), ids=MEMBERS)
def test_gzip(tmp_path, monkeypatch, data, fault):
    for step in (1, 7, 4_000_000):
        monkeypatch.setattr(written_bytes, "STEP", step)
        assert found(tmp_path, data, name="release.csv.gz") == fault


def test_gzip_looks_back_as_far_as_it_can(tmp_path):
    long = random.Random(2).randbytes(16_000).hex().encode()  # of letters, and longer than half a window
    assert found(tmp_path, member(b"a\n" + long + b"\n" + long + b"\n"), name="release.csv.gz") == FINE


# zstd: frames made by hand (RFC 8878)

ZSTD = b"\x28\xb5\x2f\xfd"


def block(data, kind=0, last=True, size=None):
    return (last | kind << 1 | (len(data) if size is None else size) << 3).to_bytes(3, "little") + data


def checksum(text):
    """XXH64 of a text of fewer than four bytes, which is all that is needed here."""
    one, two, three, five = (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x27D4EB2F165667C5,
    )
    mask = (1 << 64) - 1
    found = five + len(text)
    for letter in text:
        found ^= letter * five & mask
        found = ((found << 11 | found >> 53) & mask) * one & mask
    found = (found ^ found >> 33) * two & mask
    found = (found ^ found >> 29) * three & mask
    return (found ^ found >> 32).to_bytes(8, "little")[:4]


def frame(flags, head, *blocks, tail=b""):
    return ZSTD + bytes([flags]) + head + b"".join(blocks) + tail


LINE = b"a,b\n"
ROW = b"1,2\n"
NAMES = frame(0x00, b"\x38", block(LINE))
SKIPPED = b"\x50\x2a\x4d\x18" + (6).to_bytes(4, "little") + b"secret"
FRAMES = {
    "one frame": (frame(0x00, b"\x38", block(LINE + ROW)), FINE),
    "two frames": (NAMES + frame(0x00, b"\x38", block(ROW)), FINE),
    "three frames": (NAMES + frame(0x00, b"\x38", block(ROW)) * 2, FINE),
    "an empty frame among them": (NAMES + frame(0x00, b"\x38", block(b"")) + frame(0x00, b"\x38", block(ROW)), FINE),
    "one segment": (NAMES + frame(0x20, b"\x04", block(ROW)) * 2, FINE),
    "one segment, two bytes of length": (
        NAMES + frame(0x60, (400 - 256).to_bytes(2, "little"), block(ROW * 100)) * 2,
        FINE,
    ),
    "two bytes of length and a window": (
        NAMES + frame(0x40, b"\x38" + (400 - 256).to_bytes(2, "little"), block(ROW * 100)) * 2,
        FINE,
    ),
    "four bytes of length": (NAMES + frame(0x80, b"\x38\4\0\0\0", block(ROW)) * 2, FINE),
    "one segment, four bytes of length": (NAMES + frame(0xA0, b"\4\0\0\0", block(ROW)) * 2, FINE),
    "eight bytes of length": (NAMES + frame(0xC0, b"\x38\4\0\0\0\0\0\0\0", block(ROW)) * 2, FINE),
    "one segment, eight bytes of length": (NAMES + frame(0xE0, b"\4\0\0\0\0\0\0\0", block(ROW)) * 2, FINE),
    "a letter again and again": (
        NAMES + frame(0x00, b"\x38", block(b"1", 1, False, 9), block(b",2\n")) * 2,
        FINE,
    ),
    "two blocks": (NAMES + frame(0x00, b"\x38", block(b"1,", 0, False), block(b"2\n")) * 2, FINE),
    "a sum": (NAMES + frame(0x04, b"\x38", block(b",1\n"), tail=checksum(b",1\n")) * 2, FINE),
    "a long frame": (NAMES + frame(0x00, b"\x38", *[block(ROW * 1000, 0, last) for last in (False, True)]) * 2, FINE),
    "a frame that is skipped": (NAMES + SKIPPED, NO_DATA),
    "a frame that is skipped, first": (SKIPPED + NAMES, NO_DATA),
    "a frame that is skipped, between": (NAMES + SKIPPED + NAMES, NO_DATA),
    "letters": (NAMES + b"secret", NO_DATA),
    "a byte": (NAMES + b"\0", NO_DATA),
    "a frame of another magic number": (NAMES + b"\x29" + NAMES[1:], NO_DATA),
    "a frame that begins as one that is skipped": (NAMES + SKIPPED[:4] + NAMES[4:], NO_DATA),
    "a dictionary of one byte": (NAMES + frame(0x01, b"\x38\0", block(ROW)), NO_DATA),
    "a dictionary whose number could be the head of a block": (NAMES + frame(0x01, b"\x38\3", block(b"")), NO_DATA),
    "a dictionary of two bytes": (NAMES + frame(0x02, b"\x38\0\0", block(ROW)), NO_DATA),
    "a dictionary of four bytes": (NAMES + frame(0x03, b"\x38\0\0\0\0", block(ROW)), NO_DATA),
    "a magic number and nothing else": (NAMES + ZSTD, NO_DATA),
    "a block that is not there": (NAMES + frame(0x00, b"\x38"), NO_DATA),
    "half of the head of a block": (NAMES + frame(0x00, b"\x38", b"\1\0"), NO_DATA),
    "a block that is cut": (NAMES + frame(0x00, b"\x38", block(ROW)[:-1]), NO_DATA),
    "a last block that is missing": (NAMES + frame(0x00, b"\x38", block(ROW, 0, False)), NO_DATA),
    "a sum that is cut": (NAMES + frame(0x04, b"\x38", block(b",1\n"), tail=b"\0\0\0"), NO_DATA),
    "a sum that is missing before a frame": (NAMES + frame(0x04, b"\x38", block(b",1\n")) + NAMES, NO_DATA),
}


@pytest.mark.parametrize(("data", "fault"), FRAMES.values(), ids=FRAMES)
def test_zstd(tmp_path, data, fault):
    assert found(tmp_path, data, name="release.csv.zst") == fault
