"""Persons whose rows are not in memory: spread over files and blocks, with half of all rows, or with one each."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd.errors import IncrowdError, ParameterError, SchemaError, VerificationError
from incrowd.rows.blocks import held
from incrowd.tables.streams.gathering import PersonNumbers

ROWS, BLOCK, K = 600, 150, 4
QUASI_IDENTIFIERS = ["age", "sex", "job"]
ASKED = {"quasi_identifiers": QUASI_IDENTIFIERS, "target": "ill", "private": ["line"], "class_sensitive": False}
METHODS = ("mondrian", "infogain-mondrian", "kactus", "kactus-plus", "tdr", "iack", "blend")


def spread(draw):
    """Everybody has rows all over the table."""
    return np.arange(ROWS) % 60


def half(draw):
    """One person has half of the rows."""
    return draw.permutation(np.where(np.arange(ROWS) % 2, 0, draw.integers(1, 80, ROWS)))


def one_each(draw):
    """Everybody has one row."""
    return draw.permutation(ROWS)


def one_place(draw):
    """Everybody has all rows in one place."""
    return np.sort(draw.integers(0, 90, ROWS))


def table_of(owners, seed=1):
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "patient": [f"p{person}" for person in owners],
            "age": draw.integers(18, 90, ROWS),
            "sex": draw.choice(["f", "m"], ROWS),
            "job": draw.choice(["nurse", "cook", "baker", None], ROWS),
            "line": np.arange(ROWS),
            "ill": draw.choice(["y", "n"], ROWS),
        }
    )


def folder_of(table, tmp_path):
    folder = tmp_path / "visits"
    folder.mkdir()
    for place, start in enumerate(range(0, ROWS, 250)):
        table[start : start + 250].write_parquet(folder / f"part-{place}.parquet")
    return folder


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(held, "block_rows", lambda *_: BLOCK)


def fewest_persons(released, table):
    """The fewest persons of a class, told by the line of the input that each row still has."""
    whose = table.select("line", "patient")
    classes = released.join(whose, on="line").group_by(QUASI_IDENTIFIERS)
    return classes.agg(pl.col("patient").n_unique())["patient"].min()


@pytest.mark.each(5)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("owners", [spread, half, one_each, one_place])
def test_every_class_has_rows_of_k_persons(owners, method, tmp_path):
    table = table_of(owners(np.random.default_rng(0)))
    to = tmp_path / "out.parquet"
    released = incrowd.release(folder_of(table, tmp_path), person="patient", k=K, method=method, to=to, **ASKED)
    read = pl.read_parquet(to)
    assert "patient" not in read.columns
    assert fewest_persons(read, table) == released.verdict.sizes.persons.smallest >= K
    assert released.verdict.sizes.persons.persons == table["patient"].n_unique()


def test_who_is_refused_in_memory_is_refused_in_blocks(tmp_path):
    table = table_of(np.arange(ROWS) % 3)
    with pytest.raises(IncrowdError):
        incrowd.release(folder_of(table, tmp_path), person="patient", k=K, method="mondrian", **ASKED)


def test_blocks_that_cut_persons_apart_are_refused(tmp_path, monkeypatch):
    original, frames = PersonNumbers.add, []

    def anew(self, cells):
        frames.append(1)
        return original(self, cells) + np.uint32(1_000 * len(frames))

    monkeypatch.setattr(PersonNumbers, "add", anew)
    table = table_of(np.arange(ROWS) % 12)
    with pytest.raises(VerificationError, match=r"8-anonymity: smallest of .* persons"):
        incrowd.release(folder_of(table, tmp_path), person="patient", k=8, method="mondrian", **ASKED)
    assert len(frames) > 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["visits"]


@pytest.mark.parametrize("missing", ["drop", "together", None])
def test_rows_without_a_person(missing, tmp_path):
    owners = spread(None)
    table = table_of(owners).with_columns(
        pl.when(pl.col("line") % 7 == 0).then(None).otherwise(pl.col("patient")).alias("patient")
    )
    folder, to = folder_of(table, tmp_path), tmp_path / "out.parquet"
    asked = {**ASKED, "person": "patient", "k": K, "method": "mondrian", "to": to}
    if missing is None:
        with pytest.raises(SchemaError, match="86 rows have no person"):
            incrowd.release(folder, **asked)
        return
    released = incrowd.release(folder, missing_persons=missing, **asked)
    lines = set(pl.read_parquet(to)["line"].to_list())
    expected = set(range(ROWS)) if missing == "together" else {line for line in range(ROWS) if line % 7}
    assert lines == expected
    assert released.verdict.sizes.persons.persons == 60 + (missing == "together")


def test_rows_of_a_whole_block_may_be_nobodys(tmp_path):
    patients = [None if BLOCK <= line < 3 * BLOCK else f"p{line % 50}" for line in range(ROWS)]
    table = table_of(np.zeros(ROWS)).with_columns(pl.Series("patient", patients))
    to = tmp_path / "out.parquet"
    asked = {**ASKED, "person": "patient", "missing_persons": "drop", "k": K, "method": "kactus", "to": to}
    incrowd.release(folder_of(table, tmp_path), **asked)
    assert pl.read_parquet(to).height == ROWS - 2 * BLOCK
    assert fewest_persons(pl.read_parquet(to), table) >= K


def test_persons_that_look_alike_in_different_blocks_are_refused(tmp_path):
    table = table_of(spread(None)).with_columns(
        pl.when(pl.col("line") == 500).then(pl.lit("P3")).otherwise(pl.col("patient")).alias("patient")
    )
    folder = folder_of(table, tmp_path)
    asked = {**ASKED, "person": "patient", "k": K, "method": "mondrian"}
    with pytest.raises(SchemaError, match="differ from another only in case"):
        incrowd.release(folder, **asked)
    same = incrowd.release(folder, person_ids="normalised", **asked)
    other = incrowd.release(folder, person_ids="exact", **asked)
    assert (same.verdict.sizes.persons.persons, other.verdict.sizes.persons.persons) == (60, 61)


def test_what_spark_cannot_do_with_persons_is_refused_at_once(tmp_path):
    asked = {"person": "patient", "k": K, "method": "kactus", "run": incrowd.Run(engine="spark"), "keep_link": True}
    with pytest.raises(ParameterError, match="keep_link"):
        incrowd.release(tmp_path / "nowhere", **ASKED, **asked)
