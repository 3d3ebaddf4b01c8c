"""Columns built from fresh memory: the same values, and nothing else in their buffers."""

import numpy as np
import polars as pl
import pytest

from incrowd.vocabulary.randomness import fresh_frame, fresh_series

TEXTS = pl.Series(
    "a", [f"{'SECRET' if i % 10 == 0 else 'public'} that is too long to be kept in place {i}" for i in range(999)]
)
LEFT = {
    "taken": TEXTS.gather(np.flatnonzero(np.arange(999) % 10)),
    "cut": TEXTS[1:9],
    "hidden": pl.select(pl.when(pl.int_range(999) % 10 > 0).then(pl.lit(TEXTS))).to_series().alias("a"),
    "categories": TEXTS.cast(pl.Categorical)[1:9],
}


def buffers(series):
    arrays = series.to_arrow(compat_level=pl.CompatLevel.newest())
    return b"".join(bytes(memoryview(buffer)) for buffer in arrays.buffers() if buffer is not None)


@pytest.mark.parametrize("how", LEFT)
def test_text_leaves_nothing_behind(how):
    fresh = fresh_series(LEFT[how])
    assert fresh.to_list() == LEFT[how].to_list()
    assert (fresh.name, fresh.dtype) == ("a", pl.String)
    assert b"public" in buffers(fresh)
    assert b"SECRET" not in buffers(fresh)


def test_what_was_taken_shares_the_memory_of_all():
    assert b"SECRET" in buffers(LEFT["taken"])


def test_a_number_behind_a_null_is_gone():
    numbers = pl.Series("n", [7777777, 5])
    hidden = pl.select(pl.when(pl.Series([False, True])).then(pl.lit(numbers))).to_series().alias("n")
    fresh = fresh_series(hidden)
    assert fresh.to_list() == [None, 5]
    assert (7777777).to_bytes(8, "little") not in buffers(fresh)


@pytest.mark.parametrize(
    "series",
    [
        pl.Series("a", [], dtype=pl.String),
        pl.Series("a", ["one"]),
        pl.Series("a", [None], dtype=pl.String),
        pl.Series("a", [None, None]),
        pl.Series("a", [True, None]),
        pl.Series("a", ["", "\u00e9", None]),
    ],
    ids=str,
)
def test_small_and_empty_columns_stay_as_they_are(series):
    assert fresh_series(series).equals(series, check_dtypes=True, check_names=True)
    assert fresh_frame(series.to_frame()).equals(series.to_frame())
