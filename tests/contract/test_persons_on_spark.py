"""Persons on Spark: told apart by executors, counted as in blocks on one machine, recounted from the written files."""

from __future__ import annotations

import datetime as dt
import os
import sys
from collections import Counter

import numpy as np
import polars as pl
import pytest

from incrowd.api import release
from incrowd.errors import SchemaError, VerificationError
from incrowd.plan.steps import Hide
from incrowd.rows.blocks.drafting import PERSON, Drafting
from incrowd.rows.spark import held
from incrowd.rows.spark.held import PersonWords
from incrowd.rows.spark.store import OWNER, PLAIN
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.testing.tables import BlockedEngine
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema
from support.engines import SparkEngine
from support.spark_session import PLAIN_PLANS, local_session

pytestmark = pytest.mark.slow  # a session of Spark costs more than hundreds of other tests

ROWS, BLOCK, K = 400, 90, 4
QUASI_IDENTIFIERS = ["age", "sex", "job"]
ASKED = {"quasi_identifiers": QUASI_IDENTIFIERS, "target": "ill", "private": ["line"], "class_sensitive": False, "k": K}


@pytest.fixture(scope="module")
def session():
    found = local_session(**PLAIN_PLANS)
    yield found
    found.stop()


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(held, "BLOCK_ROWS", BLOCK)


def visits(persons=60, **columns):
    draw = np.random.default_rng(2)
    made = {
        "patient": [f"p{person}" for person in draw.integers(0, persons, ROWS)],
        "age": draw.integers(18, 90, ROWS),
        "sex": draw.choice(["f", "m"], ROWS),
        "job": draw.choice(["nurse", "cook", "it's|%", None], ROWS),
        "line": np.arange(ROWS),
        "seen": [dt.date(2020, 1, 1) + dt.timedelta(days=int(day)) for day in draw.integers(0, 90, ROWS)],
        "ill": draw.choice(["y", "n"], ROWS),
    }
    return pl.DataFrame(made | columns)


def on_spark(session, table, tmp_path, **asked):
    tmp_path.mkdir(exist_ok=True)
    path = tmp_path / "visits.parquet"
    table.write_parquet(path)
    return release(session.read.parquet(str(path)), **{**ASKED, "person": "patient", "to": tmp_path / "out", **asked})


def fewest_persons(released, table):
    classes = released.join(table.select("line", "patient"), on="line").group_by(QUASI_IDENTIFIERS)
    return classes.agg(pl.col("patient").n_unique())["patient"].min()


ALIKE = pl.Series("patient", [f"{'pP'[line % 2]}{line // 2 % 9}" for line in range(ROWS)])
HALF = pl.Series("patient", ["heavy" if line % 2 else f"p{line}" for line in range(ROWS)])
MISSING = ["?" if line % 16 == 0 else None if line % 8 == 0 else f"p{line % 60}" for line in range(ROWS)]
NUMBERS = visits()["patient"].str.slice(1)


@pytest.mark.parametrize(
    ("method", "patient", "asked", "persons"),
    [
        ("iack", visits()["patient"], {}, visits()["patient"]),
        ("blend", NUMBERS.cast(pl.Int64), {}, NUMBERS),
        ("kactus", NUMBERS.cast(pl.Float64), {}, NUMBERS),
        ("kactus-plus", HALF, {}, HALF),
        ("tdr", ALIKE, {"person_ids": "exact"}, ALIKE),
        ("mondrian", ALIKE, {"person_ids": "normalised"}, ALIKE.str.to_lowercase()),
        (
            "infogain-mondrian",
            pl.Series(MISSING),
            {"missing_persons": "together"},
            pl.Series(MISSING).replace("?", None),
        ),
    ],
    ids=["texts", "whole numbers", "numbers", "half of the rows", "exact", "normalised", "together"],
)
def test_every_class_has_rows_of_k_persons(session, tmp_path, method, patient, asked, persons):
    """Every method, and every way to tell persons; where a fault would take one for two, groups are small ones."""
    table = visits(patient=patient)
    made = on_spark(session, table, tmp_path, method=method, **asked)
    read_back = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert "patient" not in read_back.columns
    counted = table.with_columns(persons.alias("patient"))
    assert fewest_persons(read_back, counted) == made.verdict.sizes.persons.smallest >= K
    assert made.verdict.sizes.persons.persons == persons.n_unique()
    assert made.verdict.sizes.rows == ROWS
    assert made.verdict.unchanged is not None
    told = "one person has 50 % of all rows." in [notice.message for notice in made.report.notices]
    assert told is (patient is HALF)


@pytest.mark.parametrize("person", ["patient", None])
def test_bins_are_of_as_many_people_as_in_memory(session, tmp_path, person):
    table = visits().with_columns(pl.col("age") // 9 * 9)
    asked = {"method": "mondrian", "form": "counts", "person": person, "drop": [] if person else ["patient"]}
    there = on_spark(session, table, tmp_path, **asked)
    here = release(tmp_path / "visits.parquet", **{**ASKED, "to": tmp_path / "out.parquet", **asked})
    bins = [[c for c in made.verdict.checks if c.name == f"bins of {K} people or more"] for made in (here, there)]
    assert bins[0] == bins[1]
    assert len(bins[0]) == 1
    assert "the smallest of" in bins[0][0].finding


def test_persons_that_look_alike_are_refused(session, tmp_path):
    with pytest.raises(SchemaError, match="differ from another only in case"):
        on_spark(session, visits(patient=ALIKE), tmp_path, method="mondrian")


def test_rows_without_a_person_are_refused_or_left_out(session, tmp_path):
    table = visits(patient=pl.Series(MISSING))
    with pytest.raises(SchemaError, match="50 rows have no person"):
        on_spark(session, table, tmp_path, method="mondrian")
    made = on_spark(session, table, tmp_path, method="mondrian", missing_persons="drop")
    assert "50 rows without a person left out." in [notice.message for notice in made.report.notices]
    assert made.certificate["rows"] == {"input": ROWS, "released": ROWS - 50, "left_out": 50}
    assert not (pl.read_parquet(tmp_path / "out" / "*.parquet")["line"] % 8 == 0).any()
    assert made.verdict.sizes.persons.persons == table["patient"].n_unique() - 2
    assert made.verdict.sizes.rows == ROWS - 50


def heavy_means(released, table, shared):
    """Numbers of which one person has more than half of the rows, by hand; and how many numbers there are."""
    own = table.select("line", "patient", pl.col("age").alias("own"))
    rows = released.filter(pl.col("age").is_not_null()).join(own, on="line").rows(named=True)
    groups = {}
    for row in rows:
        groups.setdefault((row["age"], *(() if shared else (row["sex"], row["job"]))), []).append(row)
    several = [part for part in groups.values() if len({row["own"] for row in part}) > 1]
    most = [max(Counter(row["patient"] for row in part).values()) for part in several]
    return sum(2 * one > len(part) for one, part in zip(most, several, strict=True)), len(several)


HEAVY = pl.Series(["heavy" if line % 3 else f"p{line % 40}" for line in range(ROWS)])


@pytest.mark.parametrize(("method", "numeric"), [("mondrian", "mean"), ("kactus-plus", "levels"), ("tdr", "mean")])
def test_no_mean_is_largely_of_one_person(session, tmp_path, method, numeric, monkeypatch, shipped):
    table = visits(patient=HEAVY)
    asked = {"method": method, "parameters": {"numeric": numeric}, "person_ids": "exact"}
    made = on_spark(session, table, tmp_path, **asked)
    assert {check.name: check.passed for check in made.verdict.checks}["means"]
    shared = numeric == "levels" or method == "tdr"
    heavy, _ = heavy_means(pl.read_parquet(tmp_path / "out" / "*.parquet"), table, shared)
    assert heavy == 0
    if (method, numeric) != ("mondrian", "mean"):
        return
    monkeypatch.setattr(
        "incrowd.rows.memory.settling.FormTally.heavy", lambda self, part_of, count: np.zeros(count, bool)
    )
    with pytest.raises(VerificationError, match="one person has more than half"):
        on_spark(session, table, tmp_path / "again", **asked)


def test_means_are_shown_where_nobody_has_most_rows(session, tmp_path):
    table = visits(persons=200)
    on_spark(session, table, tmp_path, method="mondrian", parameters={"numeric": "mean"})
    heavy, numbers = heavy_means(pl.read_parquet(tmp_path / "out" / "*.parquet"), table, shared=False)
    assert numbers > 20
    assert heavy == 0


class NewInEveryBlock(PersonWords):
    """A fault: every block has a secret of its own, so that somebody in two blocks counts as two."""

    def coded(self, column):
        return PersonWords(self.persons, os.urandom(32), self.markers).coded(column)


class OtherPersons(Drafting):
    """A fault: the verification gets rows of other persons than the input has."""

    def originals(self, rows):
        held_there = super().originals(rows)
        others = pl.Series([f"x{place}" for place in range(rows.height)], dtype=pl.String).to_arrow()
        return held_there.set_column(held_there.column_names.index(PERSON), PERSON, others)


@pytest.fixture
def shipped():
    """Executors get the classes of this module as they are: they cannot import it."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def test_blocks_that_cut_persons_apart_are_refused(session, tmp_path, monkeypatch, shipped):
    monkeypatch.setattr(held, "PersonWords", NewInEveryBlock)
    with pytest.raises(VerificationError, match="8-anonymity"):
        on_spark(session, visits(persons=9), tmp_path, k=8, method="mondrian", person_ids="exact")
    assert not (tmp_path / "out").exists()


def test_rows_of_somebody_else_are_refused(session, tmp_path, monkeypatch, shipped):
    monkeypatch.setattr(held, "Drafting", OtherPersons)
    with pytest.raises(VerificationError, match="input: other rows"):
        on_spark(session, visits(), tmp_path, method="mondrian")
    assert not (tmp_path / "out").exists()


def test_a_column_that_tells_persons_is_refused(session, tmp_path):
    one_else = pl.when(pl.col("line") == 7).then(pl.lit("other")).otherwise(pl.col("patient"))
    table = visits().with_columns(one_else.alias("insurance"))  # one exception makes no other column of it
    with pytest.raises(VerificationError, match="no column tells persons"):
        on_spark(session, table, tmp_path, method="mondrian", private=["line", "insurance"])


def test_spark_tells_who_is_where_as_blocks_do(session):
    table = visits()
    schema = Schema(
        (
            Column("age", Role.QUASI_IDENTIFIER, ColumnType.INTEGER),
            Column("job", Role.QUASI_IDENTIFIER),
            Column("ill", Role.TARGET),
        )
    )
    coded, _ = encode(read(table), schema, schema.encoded)
    owners = np.unique(table["patient"].to_numpy(), return_inverse=True)[1].astype(np.int32)
    local = BlockedEngine(BLOCK, 100).population(coded, schema, SeededRandomness(1), owners)
    spark = SparkEngine(BLOCK, 100, session=session).population(coded, schema, SeededRandomness(1), owners)
    for names in ((), ("ill",)):
        here, there = local.presence(("age", "job"), names), spark.presence(("age", "job"), names)
        numbers = owners.max() - there.persons  # the words of the engine for tests are in the other order
        assert facts(here, here.persons) == facts(there, numbers)
        assert len(here.cells) == len(there.cells)
    hidden = [each.hide(Hide(("job",), 55)).combinations(("job",)) for each in (local, spark)]
    assert np.array_equal(hidden[0].codes, hidden[1].codes)
    assert np.array_equal(hidden[0].sizes, hidden[1].sizes)
    assert 60 <= spark.sample().height == len(spark.owners) <= 100


def facts(presence, persons):
    return set(
        zip(presence.cells.tolist(), persons.tolist(), *(codes.tolist() for codes in presence.codes), strict=True)
    )


def test_words_need_the_secret():
    cells = pl.Series("who", ["a", " A", "b", None, "?", "a"])
    one, other = (PersonWords(Persons("who"), secret, ("?",)) for secret in (b"1" * 32, b"2" * 32))
    codes, values = one.coded(cells)
    assert codes.tolist()[3:5] == [0, 0]
    assert codes[0] == codes[5] != codes[2]
    assert [frame["column"][0] for frame in values] == [OWNER, PLAIN]
    assert [frame.height - 1 for frame in values] == [3, 2]
    assert set(values[0]["word"].drop_nulls()).isdisjoint(other.coded(cells)[1][0]["word"].drop_nulls())
