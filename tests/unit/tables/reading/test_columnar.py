from __future__ import annotations

import datetime as dt

import polars as pl
import pyarrow as pa
import pytest

from incrowd.errors import FileFormatError, ValuesError
from incrowd.tables.reading.read import read

TABLE = pl.DataFrame(
    {"age": [39, None], "job": ["nurse", "?"], "bmi": [21.5, None], "born": [dt.date(1980, 2, 29), None]}
)
EXPECTED = [(39, "nurse", 21.5, dt.date(1980, 2, 29)), (None, None, None, None)]


@pytest.mark.parametrize("ending", ["parquet", "pq", "arrow", "feather", "ipc", "arrows"])
def test_types_are_kept(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    if ending in ("parquet", "pq"):
        TABLE.write_parquet(path)
    elif ending == "arrows":
        TABLE.write_ipc_stream(path)
    else:
        TABLE.write_ipc(path)
    source = read(path)
    assert source.frame.rows() == EXPECTED
    assert source.frame.schema == TABLE.schema
    assert source.origin.form == ("parquet" if ending in ("parquet", "pq") else "arrow")


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_categories_become_text(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    table = TABLE.with_columns(pl.col("job").cast(pl.Categorical))
    table.write_parquet(path) if ending == "parquet" else table.write_ipc(path)
    assert read(path).frame.schema["job"] == pl.String


def test_no_rows(tmp_path):
    TABLE.clear().write_parquet(tmp_path / "t.parquet")
    with pytest.raises(FileFormatError, match="no rows"):
        read(tmp_path / "t.parquet")


@pytest.mark.parametrize("kind", [pa.binary(), pa.duration("s")])
def test_types_without_meaning_are_refused(tmp_path, kind):
    path = tmp_path / "t.arrow"
    table = pa.table({"odd": pa.array([None], kind)})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(ValuesError, match="'odd' has the type"):
        read(path)
