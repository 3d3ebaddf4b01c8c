"""Small functions of the hiding room, each on values that can be reckoned by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from incrowd.hiding.bayes_hiders import DropP
from incrowd.hiding.id3 import gain_times_rows
from incrowd.hiding.methods import Options, make_hider
from incrowd.hiding.other_rows import labels_needed
from incrowd.hiding.published import RowIndex, ScannedRows, ShownCells
from incrowd.hiding.request import tells_rows_apart
from incrowd.tables.reading.draft import Shared


def test_the_gain_of_a_split_times_its_rows():
    assert gain_times_rows(np.array([[0, 2, 0], [0, 0, 2]])) == 4.0
    assert gain_times_rows(np.array([[1, 1, 0], [1, 0, 1]])) == 2.0


def test_a_hider_has_the_options_its_name_stands_for():
    assert make_hider("dropp-g", Options(degree=2)) == DropP(degree=2, generalize=True, nearest=False)


def test_cells_in_a_file_change_without_the_file(tmp_path):
    codes = np.memmap(tmp_path / "codes", np.uint8, "w+", shape=4)
    codes[:] = [0, 1, 2, 1]
    cells = ShownCells(codes, np.array([1, 2, 0], np.int32))
    cells[np.array([3])] = np.array([0])
    assert (cells[1:].tolist(), int(cells[1]), cells[np.array([0, 3])].tolist()) == ([2, 0, 0], 2, [1, 0])
    assert codes.tolist() == [0, 1, 2, 1]


@pytest.mark.parametrize("index", [RowIndex, lambda keys, _: ScannedRows(lambda a, b: keys[a:b], len(keys))])
def test_rows_of_a_key(index):
    rows = index(np.array([1, 0, 1]), 2)
    assert (rows.rows(1).tolist(), [chunk.tolist() for chunk in rows.chunks(0)]) == ([0, 2], [[1]])


def test_labels_needed_to_overtake():
    assert [labels_needed(4, 2, Fraction(2)), labels_needed(4, 1, Fraction(2)), labels_needed(4, 2, Fraction(1))] == [
        2,
        4,
        0,
    ]


def test_a_column_of_many_values_tells_rows_apart():
    assert tells_rows_apart(Shared(rows=100, values=60))
    assert not tells_rows_apart(Shared(rows=100, values=10))
