"""Equal piles of rows have equal fingerprints, in any order and any parts; others have others."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from incrowd.verification import person_keys
from incrowd.verification.input_table import ColumnOrigin
from incrowd.verification.meaning import CellMeaning
from incrowd.verification.opening import connect
from incrowd.verification.person_keys import Fingerprint, InputReader, fingerprint
from incrowd.vocabulary.schema import Column, ColumnType, Role

ROWS = [(1, "a"), (2, None), (None, "b"), (None, None), (1, "a")]


def of(rows, kind=None):
    kind = kind or pa.int64()
    return pa.table({"n": pa.array([n for n, _ in rows], kind), "t": pa.array([t for _, t in rows], pa.string())})


def test_sums_add():
    assert Fingerprint() == Fingerprint(0, 0)
    assert Fingerprint(2, 5) + Fingerprint(1, 7) == Fingerprint(3, 12)


def test_an_empty_pile():
    assert fingerprint(of([]), 7) == Fingerprint(0, 0)


def test_neither_order_nor_parts_matter():
    whole = fingerprint(of(ROWS), 7)
    assert whole.rows == 5
    assert fingerprint(of(ROWS[::-1]), 7) == whole
    for cut in range(6):
        assert fingerprint(of(ROWS[:cut]), 7) + fingerprint(of(ROWS[cut:]), 7) == whole


@pytest.mark.parametrize(
    "other",
    [
        ROWS[:4],
        [*ROWS[:4], (1, "b")],
        [*ROWS[:4], (2, "a")],
        [*ROWS[:4], (None, "a")],
        [*ROWS[:4], (1, None)],
        [(2, "a"), (1, None), *ROWS[2:]],
        [*ROWS, (None, None)],
    ],
)
def test_other_rows_have_another_sum(other):
    assert fingerprint(of(other), 7) != fingerprint(of(ROWS), 7)
    assert fingerprint(of(ROWS), 8).total != fingerprint(of(ROWS), 7).total


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
def test_numbers_are_compared_by_what_they_are(kind):
    zeros = [fingerprint(of([(n, "a")], kind), 7) for n in (0.0, -0.0)]
    assert zeros[0] == zeros[1]
    missing = [fingerprint(of([(n, "a")], kind), 7) for n in (None, float("nan"))]
    assert missing[0] == missing[1] != zeros[0]
    assert fingerprint(of([(0.5, "a")], kind), 7) != fingerprint(of([(-0.5, "a")], kind), 7)
    assert fingerprint(of([(0.5, "a")], pa.float32()), 7) == fingerprint(of([(0.5, "a")], pa.float64()), 7)


def test_a_moment_is_the_same_everywhere(monkeypatch):
    def elsewhere(**options):
        connection = connect(**options)
        connection.execute("SET TimeZone = 'Asia/Tokyo'")
        return connection

    monkeypatch.setattr("incrowd.verification.person_keys.connect", elsewhere)
    moment = dt.datetime(2020, 1, 1, 20, tzinfo=dt.UTC)
    found = [
        fingerprint(pa.table({"at": pa.array([moment], pa.timestamp("us", zone))}), 7) for zone in ("UTC", "Asia/Tokyo")
    ]
    assert found[0] == found[1]
    text = pa.table({"at": ["2020-01-01 20:00:00+00"]})
    assert fingerprint(text, 7) == found[0]


def test_batches_of_the_input_are_summed_up_as_they_are_meant():
    sources = [
        ColumnOrigin("n", Column("n", Role.QUASI_IDENTIFIER, ColumnType.INTEGER)),
        ColumnOrigin("t", Column("t", Role.OTHER)),
    ]
    meanings = {"n": CellMeaning(ColumnType.INTEGER), "t": CellMeaning(ColumnType.CATEGORICAL, missing=("?",))}
    reader = InputReader(sources, meanings, 7)
    texts = [("1", "a"), (" 2 ", "?"), ("", "b"), (None, None), ("1.0", "a")]
    batches = of(texts, pa.string()).to_batches(max_chunksize=2)
    assert len(batches) == 3
    assert reader(batches) == fingerprint(of(ROWS), 7)
    assert reader([]) == Fingerprint(0, 0)


def test_many_small_batches_are_looked_at_together_and_large_ones_apart(monkeypatch):
    asked = []
    monkeypatch.setattr(person_keys, "connect", lambda **options: asked.append(1) or connect(**options))
    reader = InputReader([ColumnOrigin("n", Column("n", Role.OTHER))], {"n": CellMeaning(ColumnType.CATEGORICAL)}, 7)
    batches = pa.table({"n": [str(n) for n in range(100)]}).to_batches(max_chunksize=1)
    together = reader(batches)
    assert (together.rows, len(asked)) == (100, 1)
    monkeypatch.setattr(person_keys, "_BYTES_AT_ONCE", 1)
    assert reader(batches) == together
    assert len(asked) == 101
