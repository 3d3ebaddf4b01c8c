"""What forms show in a column, made once: the right value for each row, and no other value in the memory."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from incrowd.rows.blocks.drafting import Palette


def shown_by(palette, forms):
    return palette.column(forms, np.unique(forms))


@pytest.mark.parametrize(
    "shown",
    [
        ["nurse", None, "nurse", "cook"],
        [3, None, 3, -4],
        [0.5, 0.5, None, -0.25],
        [None, None, None, None],
    ],
)
def test_a_column_shows_what_its_forms_show(shown):
    forms = np.array([3, 0, 2, 1, -1, 0, 4], np.int32)
    series = pl.Series("a", shown, dtype=pl.String if shown == [None] * 4 else None)
    column = shown_by(Palette.of_values(series), forms)
    expected = [[*shown, None][form] for form in forms]
    assert column.to_pylist() == expected


def test_text_that_is_not_shown_is_not_carried_along():
    palette = Palette.of_values(pl.Series("job", ["nurse", "canary-xyzzy", "cook"]))
    column = shown_by(palette, np.array([0, 2, 0, -1], np.int32))
    assert column.dictionary.to_pylist() == ["cook", "nurse"]
    buffers = [*column.indices.buffers(), *column.dictionary.buffers()]
    assert not any(b"xyzzy" in buffer.to_pybytes() for buffer in buffers if buffer is not None)


def test_numbers_of_rows_that_show_nothing_are_not_in_the_memory():
    palette = Palette.of_values(pl.Series("pay", [7, 0x4B414E415249454E, None], dtype=pl.Int64))
    column = shown_by(palette, np.array([0, 2, -1, 0], np.int32))
    secret = (0x4B414E415249454E).to_bytes(8, "little")
    assert not any(secret in buffer.to_pybytes() for buffer in column.buffers() if buffer is not None)


def test_a_piece_that_shows_nothing_is_empty_not_missing():
    palette = Palette.of_values(pl.Series("job", ["nurse", None]))
    assert shown_by(palette, np.array([1, -1], np.int32)).to_pylist() == [None, None]
    assert shown_by(palette, np.array([], np.int32)).to_pylist() == []
