"""The same table is the same table in every file and frame, in memory and in blocks: the definition of equal.

The oracle says in plain Python what a cell means; every container must be understood like that.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import incrowd
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.tables.streams.encode import draft_stream, encode_stream
from incrowd.tables.streams.stream import open_stream
from incrowd.vocabulary.schema import Column, ColumnType, Schema
from support.containers import STREAMED, TEXTS, TYPED, WHOLE, container, is_missing, meaning, writable, written


def in_memory(given, schema):
    source = read(given)
    table, _ = encode(source, schema, ["x"])
    return drafted(draft_schema(source)), understood(table["x"], table["x"].codes)


def in_blocks(path, schema):
    stream = open_stream(path)
    with tempfile.TemporaryDirectory() as folder:
        blocks = encode_stream(stream, schema, ["x"], Path(folder), threads=1, rows=3)
        codes = [code for block in blocks for code in block["x"].codes.tolist()]
    return drafted(draft_stream(stream)[0]), understood(blocks.columns["x"], codes)


def drafted(schema):
    return schema["x"].type


def understood(column, codes):
    values = [*column.dictionary.to_list(), None]
    return [values[code] for code in codes]


@pytest.mark.parametrize("kind", WHOLE)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@example(texts=["", "*", "?", "", "*", "?"])
@example(texts=["a", "a ", "", '""', "#", "# a"])
@given(texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=12))
def test_texts_mean_the_same_in_every_container(kind, texts):
    if not writable(kind, texts):
        texts = ["a"]
    schema = Schema((Column("x", type=ColumnType.CATEGORICAL), Column("y")))
    frame = pl.DataFrame({"x": texts, "y": ["y"] * len(texts)}, {"x": pl.String, "y": pl.String})
    expected = [meaning(text) for text in texts]
    with tempfile.TemporaryDirectory() as folder:
        given_ = container(Path(folder), kind, frame, texts)
        assert in_memory(given_, schema)[1] == expected
        if kind in STREAMED:
            assert in_blocks(given_, schema)[1] == expected


def typed_meaning(value, kind):
    if is_missing(value):
        return None
    match kind:
        case ColumnType.INTEGER:
            return int(value)
        case ColumnType.REAL:
            return value + 0.0
        case ColumnType.DATE:
            return value
        case _:
            return written(value)


@pytest.mark.each(11)
@pytest.mark.parametrize("values", TYPED)
@pytest.mark.parametrize("kind", WHOLE)
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_numbers_truths_and_dates_mean_the_same_in_every_container(kind, values, data):
    dtype, pool, column_type = TYPED[values]
    own = data.draw(st.permutations(pool) | st.lists(st.sampled_from(pool), min_size=1, max_size=12))
    if kind == "arff" and values in ("truth", "date"):
        kind = "csv"  # it knows numbers and text
    frame = pl.DataFrame({"x": own, "y": ["y"] * len(own)}, {"x": dtype, "y": pl.String})
    schema = Schema((Column("x", type=column_type), Column("y")))
    expected = [typed_meaning(value, column_type) for value in own]
    with tempfile.TemporaryDirectory() as folder:
        given_ = container(Path(folder), kind, frame, [written(value) for value in own])
        found = [in_memory(given_, schema), *([in_blocks(given_, schema)] if kind in STREAMED else [])]
        plain = in_memory(container(Path(folder), "csv", frame, [written(value) for value in own]), schema)
    for drafted_type, understood_values in found:
        assert understood_values == expected
        assert [math.copysign(1, v) for v in understood_values if v == 0 and isinstance(v, float)].count(-1.0) == 0
        assert drafted_type == plain[0] or kind == "arff" or only_types_tell(own)


def only_types_tell(own):
    """A text file with one word for yes or no, or with 0 and 1 alone, does not say whether they are truths."""
    known = {value for value in own if not is_missing(value)}
    return known == {0, 1} or (len(known) == 1 and isinstance(next(iter(known)), bool))


JOBS = ["cook", " cook", "cook ", "caf\u00e9", "cafe\u0301", "", "?", "*", " ", "nurse", "nurse\u200b", "NA"] * 5
PEOPLE = pl.DataFrame({"x": JOBS, "y": ["y", "n", "n"] * 20})


def released(given_, method):
    """What is released, in one order, and the sizes of the classes."""
    asked = {"quasi_identifiers": ["x"], "target": "y", "k": 3, "class_sensitive": False}
    made = incrowd.release(given_, **asked, method=method, run=incrowd.Run(seed=1))
    table = made.table if isinstance(made.table, pl.DataFrame) else read(made.table).frame
    return sorted(map(repr, table.select("x", "y").rows())), made.verdict.sizes


@pytest.fixture(scope="module", params=["kactus-plus", "mondrian"])
def plain(request):
    """A method, and its release of a frame."""
    return request.param, released(PEOPLE, request.param)


@pytest.mark.slow
@pytest.mark.parametrize("kind", WHOLE)
def test_a_release_does_not_depend_on_the_container(tmp_path, kind, plain):
    method, expected = plain
    assert released(container(tmp_path, kind, PEOPLE, JOBS), method) == expected


@pytest.mark.slow
@pytest.mark.parametrize("kind", STREAMED)
def test_a_release_in_blocks_does_not_depend_on_the_container(tmp_path, monkeypatch, kind, plain):
    monkeypatch.setattr("incrowd.releases.pipeline.in_blocks", lambda *_: True)
    method, expected = plain
    assert released(container(tmp_path, kind, PEOPLE, JOBS), method)[1] == expected[1]
