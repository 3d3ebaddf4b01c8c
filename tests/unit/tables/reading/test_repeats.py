"""Different values over all rows of a stream, against counting them in memory."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from incrowd.errors import SchemaError
from incrowd.tables.reading.draft import Shared
from incrowd.tables.recipe import Recipe
from incrowd.tables.roles import settle_stream
from incrowd.tables.streams import encode
from incrowd.tables.streams.encode import shared_values
from incrowd.tables.streams.stream import open_stream


def table(rows=3000):
    rng = np.random.default_rng(8)
    return pl.DataFrame(
        {
            "number": rng.integers(0, rows, rows),
            "name": [None if i % 7 == 0 else f"n{i % 911}" for i in range(rows)],
            "unique": [f"u{i}" for i in range(rows)],
            "empty": pl.Series([None] * rows, dtype=pl.String),
            "real": rng.normal(0, 1, rows).round(2),
            "truth": [bool(i % 2) for i in range(rows)],
        }
    )


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("bucket", [1 << 21, 40])
def test_values_are_counted_as_in_memory(tmp_path, monkeypatch, form, bucket):
    """In one bucket, and in many."""
    monkeypatch.setattr(encode, "_BUCKET_ROWS", bucket)
    frame = table()
    path = tmp_path / f"t.{form}"
    frame.write_csv(path) if form == "csv" else frame.write_parquet(path)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    found = shared_values(open_stream(path), frame.columns, scratch)
    read = pl.read_csv(path, infer_schema=False) if form == "csv" else frame
    assert found == {
        name: Shared(read[name].drop_nulls().len(), read[name].drop_nulls().n_unique()) for name in frame.columns
    }
    assert not list(scratch.iterdir())


def test_a_marker_of_a_missing_value_is_no_value(tmp_path):
    (tmp_path / "t.csv").write_text("id\na\n?\n?\nb\n")
    assert shared_values(open_stream(tmp_path / "t.csv"), ["id"], tmp_path) == {"id": Shared(2, 2)}


def test_no_column_is_no_pass(tmp_path):
    table().write_parquet(tmp_path / "t.parquet")
    assert shared_values(open_stream(tmp_path / "t.parquet"), [], tmp_path / "not there") == {}


@pytest.mark.parametrize(
    ("rows", "values", "persons"), [(100, 100, True), (100, 2, False), (100, 3, True), (0, 0, False)]
)
def test_when_a_column_numbers_persons(rows, values, persons):
    assert Shared(rows, values).numbers_persons is persons


def test_an_identifier_that_repeats_in_the_last_row_is_refused(tmp_path):
    """Roles are drafted from a sample; what is refused is counted on all rows."""
    rows = 5000
    frame = pl.DataFrame({"person": [*range(rows - 1), 17], "age": [20 + i % 9 for i in range(rows)]})
    frame.write_parquet(tmp_path / "t.parquet")
    columns = {"person": {"role": "identifier"}, "age": {"role": "quasi-identifier"}}
    with pytest.raises(SchemaError, match="'person' repeats, 1 row has"):
        settle_stream(open_stream(tmp_path / "t.parquet"), Recipe(columns=columns), tmp_path)
