"""Files that tasks read and write themselves: as Spark would, or not at all."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import replace
from functools import partial
from unittest import mock

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import OutputError
from incrowd.rows.spark import table as reader
from incrowd.rows.spark import writing
from incrowd.rows.spark.held import _clean, raw_codes
from incrowd.rows.spark.session import EXACT, set_for_a_while, unpacked
from incrowd.rows.spark.store import from_words, stored, texts_coded
from incrowd.rows.spark.table import File, RowGroup, RowGroups, open_table
from incrowd.tables.recipe import Recipe
from support.spark_session import local_session, spark_release

pytestmark = pytest.mark.slow  # a session of Spark costs more than hundreds of other tests

ROWS, BLOCK = 240, 70
KINDS = {
    "t.ext": pa.large_string(),
    "Text": pa.string(),
    "text": pa.string(),
    "truth": pa.bool_(),
    "tiny": pa.int8(),
    "small": pa.int16(),
    "whole": pa.int32(),
    "long": pa.int64(),
    "real": pa.float32(),
    "double": pa.float64(),
    "day": pa.date32(),
}


@pytest.fixture(scope="module")
def spark():
    return local_session()


def everything():
    """Every plain type, with missing cells and odd ones."""
    draw = np.random.default_rng(4)

    def some(values):
        return [None if draw.random() < 0.1 else values[draw.integers(len(values))] for _ in range(ROWS)]

    cells = {
        "t.ext": some(["", " ", "?", "é\x00", "ab" * 50]),
        "Text": some(["nurse", "cook"]),
        "text": some([f"n{i}" for i in range(90)]),
        "truth": some([True, False]),
        "tiny": some([-128, 0, 127]),
        "small": some([-(2**15), 2**15 - 1]),
        "whole": some([-(2**31), 3, 2**31 - 1]),
        "long": some([-(2**63), 0, 2**63 - 1]),
        "real": some([0.1, -0.0, 0.0, float("inf")]),
        "double": some([0.1, -0.0, 0.0, float("nan"), 1e-300]),
        "day": some([dt.date(1, 1, 1), dt.date(1582, 10, 10), dt.date(2020, 2, 29)]),
    }
    return pa.table({name: pa.array(cells[name], kind) for name, kind in KINDS.items()})


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Three files with odd names and many row groups, one of them without rows."""
    folder, table = tmp_path_factory.mktemp("all kinds"), everything()
    pq.write_table(table.slice(0, 100), folder / "a b%20.parquet", row_group_size=30)
    pq.write_table(table.slice(100, 0), folder / "nobody.parquet")
    pq.write_table(table.slice(100), folder / "ü+&?#.parquet", row_group_size=7)
    return str(folder)


def values_and_rows(table, coded, beside):
    """The values of a table with their counts, and its rows with the values put back for codes."""
    store = stored(table, coded, beside, raw_codes, partial(_clean, ("?",)), BLOCK)
    found = store.gathered()
    rows = Counter()
    for row in store.frame.collect():
        values = unpacked(row["values"]).partition_by("column", as_dict=True)
        here = {
            name: from_words(values[(place,)], kind).gather(unpacked(row.codes)[name])
            for place, (name, kind) in enumerate(store.coded.items())
        }
        kept = {series.name: series for series in unpacked(row.beside)}
        rows.update(map(repr, pl.DataFrame(here | kept).rows()))
    store.forget()
    return {name: (repr(one.values.to_list()), one.counts.tolist()) for name, one in found.items()}, rows, store.listed


@pytest.mark.parametrize("cut", [0, 5, len(KINDS)])
def test_both_readers_find_the_same(spark, path, cut):
    """Some columns coded, the others kept as they are."""
    names = list(KINDS)
    with set_for_a_while(spark, EXACT):
        table = open_table(path, spark)
        assert table.groups is not None
        assert table.groups.plain(table.fields, names)
        assert len(table.groups.parts(BLOCK)) > 2
        coded, beside = names[:cut], names[cut:]
        if not coded:
            coded, beside = names[::-1], ["text"]
        values, rows, listed = values_and_rows(table, coded, beside)
        other_values, other_rows, _ = values_and_rows(replace(table, groups=None), coded, beside)
    assert values == other_values
    assert rows == other_rows
    assert sum(rows.values()) == ROWS
    assert max(block.rows for block in listed) <= BLOCK


def test_a_large_row_group_is_cut_into_blocks(spark, tmp_path):
    pq.write_table(pa.table({"a": pa.array([f"v{i % 50}" for i in range(500)])}), tmp_path / "one.parquet")
    values, rows, listed = values_and_rows(open_table(str(tmp_path / "one.parquet"), spark), ["a"], [])
    assert [block.rows for block in listed] == [BLOCK] * 7 + [10]
    assert set(values["a"][1]) == {10, 0}
    assert len(rows) == 50


def test_a_sample_comes_from_all_over_the_table(spark, tmp_path):
    groups = pa.table({"group": np.repeat(np.arange(40), 25), "word": ["w"] * 1000})
    pq.write_table(groups, tmp_path / "many.parquet", row_group_size=25)
    table = open_table(str(tmp_path / "many.parquet"), spark)
    assert table.on_a_sample(lambda rows: sorted(set(rows["group"])), 40) == list(range(0, 40, 5))
    assert table.on_a_sample(lambda rows: rows.height, 40) == 40
    assert table.on_a_sample(lambda rows: (rows.height, rows.columns), 5000) == (1000, ["group", "word"])
    assert replace(table, groups=None).on_a_sample(lambda rows: rows.height, 40) == 40


PEOPLE = pa.table({"a": [1, 2, 3], "b": ["x", None, "y"]})
OTHERS = {
    "unsigned": {"1.parquet": PEOPLE.set_column(0, "a", pa.array([1, 2, 3], pa.uint32()))},
    "timestamps": {"1.parquet": PEOPLE.set_column(0, "a", pa.array([1, 2, 3], pa.timestamp("us", "UTC")))},
    "decimals": {"1.parquet": PEOPLE.set_column(0, "a", pa.array([1, 2, 3]).cast(pa.decimal128(21, 1)))},
    "categories": {"1.parquet": PEOPLE.set_column(1, "b", PEOPLE["b"].dictionary_encode())},
    "another order": {"1.parquet": PEOPLE, "2.parquet": PEOPLE.select(["b", "a"])},
    "more columns": {"1.parquet": PEOPLE, "2.parquet": PEOPLE.append_column("c", PEOPLE["a"])},
    "a column in the folder": {"a=7/1.parquet": PEOPLE.select(["b"])},
    "a column in both": {"a=7/1.parquet": PEOPLE},
    "old dates": {
        "1.parquet": pa.table(
            {"a": pa.array([dt.date(1500, 1, 1)]), "b": ["x"]}, metadata={"org.apache.spark.version": "2.4.0"}
        )
    },
    "no rows": {"1.parquet": PEOPLE.slice(0, 0)},
}


@pytest.mark.parametrize("case", OTHERS)
def test_what_is_not_plainly_the_same_is_left_to_spark(spark, tmp_path, case):
    for name, table in OTHERS[case].items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pq.write_table(table, tmp_path / name)
    with set_for_a_while(spark, EXACT):
        table = open_table(str(tmp_path), spark)
        assert table.groups is None or not table.groups.plain(table.fields, ["a", "b"])
        if case != "no rows":
            values, _, _ = values_and_rows(table, ["a", "b"], [])
            frame = table.frame.collect()
            assert sum(values["a"][1]) == len(frame)
            if case.startswith("a column"):
                assert values["a"] == ("[7]", [3, 0])


def test_frames_and_files_that_tasks_may_not_open_are_left_to_spark(spark, path, monkeypatch):
    with set_for_a_while(spark, EXACT):
        frame = spark.read.parquet(path)
        assert open_table(frame, spark).groups is None
        assert reader.row_groups(frame) is not None
        keys = "parquet.crypto.factory.class"
        spark._jsc.hadoopConfiguration().set(keys, "any")
        try:
            assert reader.row_groups(frame) is None
        finally:
            spark._jsc.hadoopConfiguration().unset(keys)
        monkeypatch.setattr(spark.sparkContext, "master", "yarn")
        assert reader.row_groups(frame) is None
        with set_for_a_while(spark, {reader.SHARED: "true"}):
            assert reader.row_groups(frame) is not None


def test_a_file_that_changes_is_an_error(spark, tmp_path):
    pq.write_table(PEOPLE, tmp_path / "1.parquet")
    table = open_table(str(tmp_path), spark)
    pq.write_table(PEOPLE.slice(1), tmp_path / "1.parquet")
    with pytest.raises(OutputError, match="changed while it was read"):
        stored(table, ["a"], [], raw_codes, lambda kept: kept, BLOCK)


@given(st.lists(st.integers(0, 9), min_size=1), st.integers(1, 12))
def test_parts_have_every_group_once_and_not_too_many_rows(heights, most):
    groups = tuple(RowGroup(File("", 0, 0), place, rows) for place, rows in enumerate(heights))
    parts = RowGroups(mock.Mock(**{"sparkContext.defaultParallelism": 3}), {}, groups).parts(most)
    assert [group for part in parts for group in part] == list(groups)
    assert all(parts)
    assert all(len(part) == 1 or sum(group.rows for group in part) <= most for part in parts)


@given(st.lists(st.lists(st.sampled_from(["", "a", "b", "ü", None])), min_size=1))
def test_texts_with_dictionaries_are_coded_as_those_without(chunks):
    plain = pa.chunked_array(chunks, pa.string())
    words = ["never", "ü", "b", "a", "", "a"]  # one in no row, one twice
    coded = [
        pa.DictionaryArray.from_arrays(
            pa.array(
                [
                    None if text is None else words.index(text) + 2 * (text == "a") * (at % 2)
                    for at, text in enumerate(chunk)
                ],
                pa.int32(),
            ),
            pa.array(words),
        )
        for chunk in chunks
    ]
    for column in (plain, pa.chunked_array(coded)):
        codes, texts = texts_coded(column)
        assert [[None, *texts.to_list()][code] for code in codes] == plain.to_pylist()
        assert Counter(texts) == Counter(set(plain.to_pylist()) - {None})


ROLES = {
    **{name: {"role": "quasi-identifier"} for name in ("Text", "whole")},
    "truth": {"role": "target"},
    "text": {"role": "other"},
    "double": {"role": "other"},
    "day": {"role": "other"},
    "t.ext": {"role": "other"},
}


def one_file(folder):
    chosen = everything().select(list(ROLES))
    pq.write_table(chosen, folder / "people.parquet")
    return str(folder / "people.parquet")


def test_with_and_without_sparks_reader_by_tasks_or_the_driver_the_same_is_released(spark, tmp_path, monkeypatch):
    source, recipe = one_file(tmp_path), Recipe(k=4, columns=ROLES)
    plan = spark_release(source, tmp_path / "tasks", recipe, seed=3, block_rows=BLOCK).plan
    monkeypatch.setattr("incrowd.rows.spark.table.row_groups", lambda _: None)
    monkeypatch.setattr(writing, "tasks_may_write", lambda *_: False)
    assert spark_release(source, tmp_path / "driver", recipe, seed=3, block_rows=BLOCK).plan == plan
    ours, theirs = (sorted((tmp_path / name).glob("*.parquet")) for name in ("tasks", "driver"))
    assert len(ours) == len(theirs) == 4
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(ours, theirs, strict=True))


def test_files_that_tasks_write_hold_data_alone(spark, tmp_path):
    spark_release(one_file(tmp_path), tmp_path / "out", Recipe(k=4, columns=ROLES), block_rows=BLOCK)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.certificate.json", "people.parquet"]
    files = sorted((tmp_path / "out").iterdir())
    assert [file.name for file in files] == [f"part-{place:05d}-release.parquet" for place in range(4)]
    for file in files:
        told = pq.ParquetFile(file).metadata
        assert told.metadata is None
        assert told.num_row_groups == 1
        assert not any(told.row_group(0).column(at).is_stats_set for at in range(told.num_columns))


def test_a_task_that_is_run_twice_does_no_harm(spark, tmp_path, monkeypatch):
    def twice(frame, work, schema):
        made = writing.Mapped(frame, work, schema)  # type: ignore[attr-defined]
        made.collect()
        return made

    monkeypatch.setattr(writing, "Mapped", writing.mapped, raising=False)
    monkeypatch.setattr(writing, "mapped", twice)
    made = spark_release(one_file(tmp_path), tmp_path / "out", Recipe(k=4, columns=ROLES), block_rows=BLOCK)
    assert len(list((tmp_path / "out").iterdir())) == 4
    assert made.verdict.passed


def test_who_writes(spark):
    assert writing.tasks_may_write(spark, "file:/x")
    assert not writing.tasks_may_write(spark, "hdfs://x/y")


def test_where_files_would_be_encrypted_nothing_is_written(spark):
    hadoop = spark._jsc.hadoopConfiguration()
    writing.check_not_encrypted(spark)
    hadoop.set("parquet.crypto.factory.class", "org.example.Keys")
    try:
        with pytest.raises(OutputError, match="encrypt"):
            writing.check_not_encrypted(spark)
    finally:
        hadoop.unset("parquet.crypto.factory.class")
