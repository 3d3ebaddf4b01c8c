"""Cells that are released as they came, in types and spellings that formats do not share."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.api import release
from incrowd.errors import HeaderError
from incrowd.releases.recount import verify

ROWS = 60
ASKED = {"k": 5, "method": "mondrian", "despite_unchanged": True}


@pytest.fixture(autouse=True)
def private_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def table(cells: pa.Array) -> pa.Table:
    return pa.table({"age": [20 + i % 30 for i in range(ROWS)], "sex": ["f", "m"] * (ROWS // 2), "cell": cells})


def released(path: str, to: str, quasi_identifiers=("age", "sex"), **asked) -> None:
    release(path, to=to, quasi_identifiers=list(quasi_identifiers), **ASKED, **asked)


@pytest.mark.each(3)
@pytest.mark.parametrize("to", ["out.csv", "out.parquet", "out.arrow"])
@pytest.mark.parametrize(
    "cells",
    [
        pa.array([float("nan"), None, 1.5] * (ROWS // 3)),
        pa.array([dt.date(2020, 1, 1 + i % 20) for i in range(ROWS)], pa.date64()),
        pa.array([2**63 + i % 20 for i in range(ROWS)], pa.uint64()),
        pa.array([1 + i % 20 for i in range(ROWS)], pa.timestamp("ns")),
        pa.array([1e-7 * (i % 20) for i in range(ROWS)], pa.float32()),
    ],
    ids=["not a number", "days", "large numbers", "nanoseconds", "small numbers"],
)
def test_every_type_is_released_as_it_is(cells, to):
    pq.write_table(table(cells), "people.parquet")
    released("people.parquet", to, sensitive=["cell"])


@pytest.mark.parametrize("cell", ["0.123456789012345678{:02}", "{:02}", "1e40{}"])
def test_a_number_that_would_lose_something_stays_text(cell):
    cells = [cell.format(i % 20) for i in range(ROWS)]
    pl.DataFrame(table(pa.array(cells))).write_csv("people.csv")
    released("people.csv", "out.parquet", sensitive=["cell"])
    assert sorted(pl.read_parquet("out.parquet")["cell"]) == sorted(cells)


def test_a_quasi_identifier_of_which_nothing_is_known():
    pq.write_table(table(pa.nulls(ROWS)), "people.parquet")
    released("people.parquet", "out.parquet", ("age", "sex", "cell"))


@pytest.mark.slow
def test_a_table_with_very_many_columns():
    wide = pl.DataFrame({"age": [20 + i % 30 for i in range(ROWS)]} | {f"n{i}": ["a", "b"] * 30 for i in range(1050)})
    wide.write_csv("people.csv")
    released("people.csv", "out.csv", ["age"])


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_two_columns_of_one_name_are_not_one(ending):
    """The second could be anything, and only the first was counted."""
    both = pa.Table.from_arrays([pa.array([30] * ROWS), pa.array(range(ROWS))], names=["age", "age"])
    match ending:
        case "csv":
            rows = "".join(f"30,{i}\n" for i in range(ROWS))
            Path("people.csv").write_text("age,age\n" + rows)
        case "parquet":
            pq.write_table(both, "people.parquet")
        case "arrow":
            with pa.ipc.new_file("people.arrow", both.schema) as file:
                file.write_table(both)
    with pytest.raises(HeaderError, match="2 columns 'age'"):
        verify(f"people.{ending}", quasi_identifiers=["age"], k=5)
