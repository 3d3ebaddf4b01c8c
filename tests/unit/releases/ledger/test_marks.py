"""Marks: whatever way a cell is written, and whatever order, a person has one mark; without the key it is noise."""

from __future__ import annotations

import datetime
import hashlib
import hmac

import numpy as np
import polars as pl
import pytest

from incrowd.releases.ledger.marks import (
    PERSON,
    ROW,
    CellContents,
    Marker,
    canonical,
    cells_of,
    distinct_rows,
    from_bytes,
    shared,
    subkey,
    to_bytes,
)
from incrowd.tables.reading.source import distinct

KEY = bytes(range(32))


def told(*values, dtype=None):
    frame = pl.DataFrame({"c": pl.Series(values, dtype=dtype)})
    column = cells_of(distinct(frame, ["c"])["c"])
    return [column.contents[code] for code in column.codes]


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("007", b"n7"),
        ("+7.000", b"n7"),
        ("-0.0", b"n0"),
        (".50", b"n0.5"),
        ("31.", b"n31"),
        ("000", b"n0"),
        ("１２", b"n12"),
        ("1,5", b"t1,5"),
        ("1e5", b"t1e5"),
        ("-", b"t-"),
        (".", b"t."),
        ("", b"t"),
        ("  New \t York ", b"tnew york"),
        ("STRASSE", b"tstrasse"),
        ("straße", b"tstrasse"),
        ("ﬁn", b"tfin"),
    ],
)
def test_what_a_text_says(text, bytes_):
    assert canonical(text) == bytes_


def test_numbers_dates_and_truth_say_the_same_in_every_type():
    assert told(7, None) == told("7", None) == told(7.0, None) == [b"n7", b"m"]
    assert told(0.1, dtype=pl.Float32) == told("0.10") == [b"n0.1"]
    assert told(1e20) == told("100000000000000000000")
    assert told(float("nan")) == [b"m"]
    day = datetime.date(2020, 2, 1)
    midnight = datetime.datetime(2020, 2, 1)
    assert told(day) == told("2020-02-01") == told("01.02.2020") == told(midnight) == [b"t2020-02-01"]
    assert told(datetime.datetime(2020, 2, 1, 7, 30)) == [b"t2020-02-01t07:30:00"]
    assert told(True) == told("TRUE") == [b"ttrue"]


def test_a_mark_is_an_hmac_over_lengths_and_cells():
    column = CellContents(np.array([0, 1]), (b"n7", b"m"))
    first, second = to_bytes(Marker(KEY).marks([column, column], ROW)).hex()[:32], b"\0\0\0\1m\0\0\0\1m"
    plain = hmac.new(subkey(KEY, "row"), b"\0\0\0\2n7\0\0\0\2n7", hashlib.sha256).hexdigest()[:32]
    assert first == plain
    made = Marker(KEY).marks([column, column], ROW)
    assert to_bytes(made[1:]).hex() == hmac.new(subkey(KEY, "row"), second, hashlib.sha256).hexdigest()[:32]
    assert (from_bytes(to_bytes(made)) == made).all()


def test_marks_depend_on_key_and_purpose_and_not_on_the_order():
    column = CellContents(np.array([0, 1, 2, 1]), (b"ta", b"tb", b"m"))
    made = Marker(KEY).marks([column], PERSON)
    assert (made[1] == made[3]).all()
    assert shared(made, made[::-1]) == 4
    assert shared(made, Marker(KEY).marks([column], ROW)) == 0
    assert shared(made, Marker(bytes(32)).marks([column], PERSON)) == 0


def test_many_columns_of_many_values_do_not_overflow():
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 2**20, 300) for _ in range(6)]
    codes = [np.concatenate([one, one]) for one in codes]
    first, same = distinct_rows(codes, [2**20] * 6)
    assert len(first) == 300
    assert (same[:300] == same[300:]).all()


def test_moving_whole_numbers():
    column = CellContents(np.array([0, 1, 2]), (b"n9", b"n-1", b"m"))
    assert column.is_whole()
    assert column.shifted(1).contents == (b"n10", b"n0", b"m")
    assert not CellContents(np.array([0]), (b"n1.5", b"m")).is_whole()
    assert not CellContents(np.array([0]), (b"m",)).is_whole()
