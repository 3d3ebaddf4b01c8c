"""What counts as the same value, and what is told of the classes: small tables, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from incrowd.errors import FileFormatError, HeaderError, ParameterError
from incrowd.verification import class_sizes as module
from incrowd.verification.class_sizes import (
    class_sizes,
    k_check,
    recount_promises,
    sizes_of,
    unify,
    verify_arrow,
    verify_table,
)
from incrowd.verification.opening import connect, register
from incrowd.verification.population import People
from incrowd.verification.requirements import Further
from incrowd.verification.verdict import Check, ClassSizes
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.requirements.diversity import DistinctDiversity
from incrowd.vocabulary.requirements.population import KMap
from incrowd.vocabulary.resources import Resources
from incrowd.vocabulary.schema import ColumnType

NAN = float("nan")
UNIFIED = {  # type, markers, whether it is asked for numbers, cells, what they are afterwards
    "null alone is missing in a file of our own": (
        "VARCHAR",
        None,
        False,
        ["", " ", "?", "NaN", None],
        ["", " ", "?", "NaN", None],
    ),
    "nothing is missing": ("VARCHAR", (), False, ["", " ", "?", "x ", None], [None, None, "?", "x ", None]),
    "markers": ("VARCHAR", ("?", "x"), False, ["?", " ? ", "x", "xx", "y"], [None, None, None, "xx", "y"]),
    "negative zeros": (
        "VARCHAR",
        None,
        False,
        ["-0", "-0.0", "-00", "-0.", "-0e5", "-0.00E-3", "-05", "-0.1", "-", "-.0", "-0x", "0"],
        ["0", "0.0", "00", "0.", "0e5", "0.00E-3", "-05", "-0.1", "-", "-.0", "-0x", "0"],
    ),
    "NaN among numbers": (
        "VARCHAR",
        (),
        True,
        ["NaN", "1", "1e3", "", None],
        [None, "1", "1e3", None, None],
    ),
    "NaN among numbers and markers": ("VARCHAR", ("?",), True, ["NaN", "1", "?"], [None, "1", None]),
    "NaN among words": ("VARCHAR", (), True, ["NaN", "1", "x"], ["NaN", "1", "x"]),
    "NaN that nobody asks for": ("VARCHAR", (), False, ["NaN", "1"], ["NaN", "1"]),
    "NaN in a file of our own": ("VARCHAR", None, True, ["NaN", "1", None], [None, "1", None]),
    "NaN beside an empty text of our own": ("VARCHAR", None, True, ["NaN", "1", ""], ["NaN", "1", ""]),
    "an enumeration": ("ENUM('a', '?', '-0')", ("?",), False, ["a", "?", "-0"], ["a", None, "0"]),
    "an enumeration of numbers": ("ENUM('1', 'NaN')", None, True, ["1", "NaN"], ["1", None]),
    "real numbers": ("DOUBLE", ("1.0",), True, [1.0, NAN, -0.0, None], [1.0, None, 0.0, None]),
    "short real numbers": ("FLOAT", None, False, [0.5, NAN, -0.0, None], [0.5, None, 0.0, None]),
    "whole numbers": ("BIGINT", ("7",), True, [7, -7, None], [7, -7, None]),
    "truth": ("BOOLEAN", (), True, [True, None], [True, None]),
    "days": ("DATE", (), True, ["2020-02-29", None], ["2020-02-29", None]),
}


@pytest.mark.parametrize(("kind", "markers", "numeric", "cells", "meant"), UNIFIED.values(), ids=UNIFIED)
def test_values_have_one_spelling(kind, markers, numeric, cells, meant):
    with connect(threads=1) as connection:
        connection.execute(f"CREATE TEMP TABLE written (c0 {kind}, c1 {kind}, c2 INTEGER)")
        connection.executemany("INSERT INTO written VALUES (?, ?, ?)", [(c, c, i) for i, c in enumerate(cells)])
        unify(connection, ["a", "b"], markers, [1] if numeric else [])
        rows = connection.execute("SELECT * FROM released").fetchall()
        assert [str(b) for _, b in rows] == [str(cell) for cell in meant]
        assert [a for a, _ in rows if a == "NaN"] == [cell for cell in cells if cell == "NaN"]  # a was not asked for
        assert class_sizes(connection, [1]).classes == len(set(map(str, meant)))


@pytest.mark.parametrize(
    ("bars", "sizes"),
    [
        ([], ClassSizes(0, 0, 0, ())),
        ([(3, 1)], ClassSizes(3, 1, 3, ((3, 1),))),
        ([(2, 3), (10, 1)], ClassSizes(16, 4, 2, ((2, 3), (10, 1)))),
    ],
)
def test_sizes_are_added_up(bars, sizes):
    assert sizes_of(bars) == sizes


@pytest.mark.parametrize(
    ("k", "told"),
    [
        (1, "smallest of 4 classes: 2 rows"),
        (2, "smallest of 4 classes: 2 rows"),
        (3, "smallest of 4 classes: 2 rows; 6 rows are in 3 classes below 3"),
        (2001, "smallest of 4 classes: 2 rows; 2,006 rows are in 4 classes below 2001"),
    ],
)
def test_no_class_is_smaller_than_k(k, told):
    assert k_check(sizes_of([(2, 3), (2000, 1)]), "k", k) == Check("k", k <= 2, told)


TABLE = pa.table({"no": pa.array([None] * 6, pa.int64()), "a": list("xxxxyy"), "b": list("pppqqq"), "c": ["s"] * 6})


def test_classes_are_told_of_the_promise_that_is_nearest_to_be_broken():
    promises = [("2 of a", ["a"], 2), ("3 of b", ["b"], 3), ("3 of all", ["a", "b"], 3), ("2 of c", ["c"], 2)]
    verdict = verify_arrow(TABLE, promises)
    assert verdict.sizes == ClassSizes(6, 3, 1, ((1, 1), (2, 1), (3, 1)))
    assert [(check.name, check.passed) for check in verdict.checks] == [
        ("2 of a", True),
        ("3 of b", True),
        ("3 of all", False),
        ("2 of c", True),
    ]
    assert verify_arrow(TABLE, [promises[3], promises[1]]).sizes.histogram == ((3, 2),)
    assert verify_arrow(TABLE, [("9 of c", ["c"], 9), promises[0]]).sizes.histogram == ((6, 1),)


@pytest.mark.parametrize("promises", [[], [("none", [], 2)], [("2 of a", ["a"], 2), ("none", [], 2)]])
def test_columns_are_named_to_count_by(promises):
    with connect(threads=1) as connection, pytest.raises(ParameterError, match="at least one quasi-identifier"):
        recount_promises(connection, ["a"], promises)


def test_columns_that_are_counted_are_there_once():
    twice = pa.table([pa.array(["x"])] * 4, ["a", "b", "a", "a"])
    assert verify_arrow(twice, [("1 of b", ["b"], 1)]).passed
    with pytest.raises(HeaderError, match="The table has 3 columns 'a'"):
        verify_arrow(twice, [("1 of a", ["b", "a"], 1)])
    with pytest.raises(HeaderError, match="The table has 2 columns 'a'"):
        verify_arrow(twice.select([0, 1, 2]), [("1 of a", ["a"], 1)])
    with pytest.raises(HeaderError, match="no column 'z'"):
        verify_arrow(twice, [("1 of z", ["z"], 1)])
    with pytest.raises(FileFormatError, match="no rows"):
        verify_arrow(TABLE.slice(0, 0), [("1 of a", ["a"], 1)])


def test_all_that_is_required_is_recounted():
    codes = EncodedColumn("a", ColumnType.CATEGORICAL, np.array([0, 0, 1], np.int32), pl.Series(["x", "y"]))
    people = People(EncodedTable.of([codes]), {"a": "a"}, [KMap(2)])
    verdict = verify_arrow(TABLE, [("2 of a", ["a"], 2)], [Further(DistinctDiversity(2), "b")], people)
    assert [check.passed for check in verdict.checks] == [True, False, False]
    assert len(verify_arrow(TABLE, [("2 of a", ["a"], 2)]).checks) == 1


def test_text_that_is_not_a_number_is_counted_as_the_name_of_one(tmp_path):
    numbers = pa.table({"a": ["NaN", "1", "1", None], "b": ["NaN", "x", "x", None]})
    promises = [("1 of a", ["a"], 1)]
    assert verify_arrow(numbers, promises).sizes.histogram == ((2, 2),)
    assert verify_arrow(numbers, [("1 of b", ["b"], 1)]).sizes.histogram == ((1, 2), (2, 1))
    for text, histogram in (("a,b\nNaN,1\n1,1\n1,1\n,1\n", ((2, 2),)), ("a,b\nNa,1\n1,1\n1,1\n,1\n", ((1, 2), (2, 1)))):
        (tmp_path / "t.csv").write_text(text)
        assert verify_table(tmp_path / "t.csv", FileForm("csv"), promises, markers=()).sizes.histogram == histogram


@pytest.mark.parametrize("kind", ["arrow", "parquet", "csv"])
@pytest.mark.parametrize("memory", [None, 2_000_000_000])
def test_only_an_arrow_file_is_copied_and_only_where_memory_is_limited(tmp_path, kind, memory):
    path = tmp_path / f"t.{kind}"
    table = TABLE.select(["a", "b"])
    match kind:
        case "arrow":
            feather.write_feather(table, path, compression="uncompressed")
        case "parquet":
            pq.write_table(table, path)
        case _:
            path.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in zip("xxxxyy", "pppqqq", strict=True)))
    limits = Resources(memory, scratch=tmp_path)
    verdict = verify_table(str(path), FileForm(kind), [("2 of b", ["b"], 2)], resources=limits)
    assert verdict.sizes == ClassSizes(6, 2, 3, ((3, 2),))
    assert (tmp_path / "recount.parquet").exists() == (kind == "arrow" and memory is not None)


def test_rows_are_counted_a_second_way(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("a\nx\nx\n")
    opened = module.open_file
    monkeypatch.setattr(module, "open_file", lambda *given: replace(opened(*given), rows=3))
    with pytest.raises(FileFormatError, match="DuckDB reads 2 rows, the file has 3"):
        verify_table(tmp_path / "t.csv", FileForm("csv"), [("2 of a", ["a"], 2)])


def test_half_of_the_memory_is_for_counting_and_none_is_set_without_a_limit(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(module, "connect", lambda *given: told.append(given) or connect(*given))
    (tmp_path / "t.csv").write_text("a\nx\nx\n")
    for limits in (Resources(2_000_000_000, scratch=tmp_path), None):
        verify_table(tmp_path / "t.csv", FileForm("csv"), [("2 of a", ["a"], 2)], resources=limits)
    assert told == [(1_000_000_000, None, tmp_path), (None, None, None)]


@pytest.mark.parametrize(
    "cells",
    [pa.array([0.0, -0.0, NAN, None]), pa.array([0.5, 0.5, NAN, None], pa.float32()), ["0.0", "-0.0", None, None]],
)
def test_a_released_table_is_counted_by_values(cells):
    with connect(threads=1) as connection:
        register(connection, pa.table({"a": ["x"] * 4, "b": cells}), "released")
        assert class_sizes(connection, [1]).histogram == ((2, 2),)
        assert class_sizes(connection, [0, 1]).histogram == ((2, 2),)


def test_a_file_that_breaks_off_inside_is_told_by_name_and_kind(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": ["x", "y"] * 50}), path, compression="none", use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[4:40] = b"\xff" * 36
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=r"t\.parquet cannot be read as parquet"):
        verify_table(path, FileForm("parquet"), [("2 of a", ["a"], 2)])


def test_what_cannot_be_read_is_told_by_name_and_kind(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 this is none PAR1")
    with pytest.raises(FileFormatError, match=r"t\.parquet cannot be read as parquet"):
        verify_table(tmp_path / "t.parquet", FileForm("parquet"), [("2 of a", ["a"], 2)])
