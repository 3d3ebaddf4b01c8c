"""Columns as codes, and the pairs of cells that rows have."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.verification import coded
from incrowd.verification.coded import CodedCells, add_to, shown_cells, taken, tally_pairs
from incrowd.verification.opening import connect, register

CELLS = ["b", None, "a", "b", None, "c"]
KINDS = {
    "plain": pa.array(CELLS),
    "in chunks": pa.chunked_array([CELLS[:2], CELLS[2:]]),
    "coded": pa.array(CELLS).dictionary_encode(),
    "coded in chunks": pa.chunked_array([pa.array(part).dictionary_encode() for part in (CELLS[:4], CELLS[4:])]),
    "a missing word": pa.DictionaryArray.from_arrays([1, 0, 2, 1, 0, 3], [None, "b", "a", "c"]),
}


def cells_of(coded):
    return taken(coded.words, coded.codes).to_pylist()


@pytest.mark.parametrize("kind", KINDS)
def test_codes_stand_for_the_cells(kind):
    coded = CodedCells.of(KINDS[kind])
    assert cells_of(coded) == CELLS
    assert coded.words.null_count == 0
    assert sorted(coded.words.to_pylist()) == ["a", "b", "c"]


@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.date32()])
def test_a_column_without_rows(kind):
    coded = CodedCells.of(pa.chunked_array([], kind))
    assert (len(coded.words), len(coded.codes)) == (0, 0)


def test_shown_cells_are_texts_in_the_order_of_the_rows():
    with connect(threads=1) as connection:
        register(connection, pa.table({"a": CELLS, "b": [True, None, False] * 2, "n": range(6)}), "released")
        found = shown_cells(connection, [2, 1, 0])
        assert [cells_of(one) for one in found] == [list("012345"), ["true", None, "false"] * 2, CELLS]
        assert shown_cells(connection, []) == []


def test_pairs_are_counted_missing_cells_too():
    others = [1, 1, None, 1, None, 1]
    ones, beside = CodedCells.of(pa.array(CELLS)), CodedCells.of(pa.array(others))
    first, second, rows = tally_pairs(ones, beside)
    pairs = zip(taken(ones.words, first).to_pylist(), taken(beside.words, second).to_pylist(), strict=True)
    assert dict(zip(pairs, rows.tolist(), strict=True)) == Counter(zip(CELLS, others, strict=True))


def test_numbers_of_one_name_are_added():
    numbers = {"a": 1}
    add_to(numbers, {"a": 2, "b": 3})
    assert numbers == {"a": 3, "b": 3}


def test_some_rows_of_the_groups_of_a_file_are_read(tmp_path):
    words = [f"{row % 3}" for row in range(10)]
    pq.write_table(pa.table({"t": words, "n": range(10)}), tmp_path / "a.parquet", row_group_size=4)
    for rows in (range(10), range(3, 4), range(3, 9), range(4, 8), range(8, 8)):
        read = coded.cells_of([*coded.text_groups(tmp_path / "a.parquet", ["t", "n"], rows)])
        shown = [read["t"].words[int(code)].as_py() for code in read["t"].codes] if rows else []
        assert shown == words[rows.start : rows.stop]
        assert read.keys() == ({"t"} if rows else set())
