"""What every method keeps on Spark: the promises of the other engines, and the very groups of the engine in blocks."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from contextlib import suppress
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

from incrowd.methods.catalog import METHODS, make_method
from incrowd.releases.job import Job
from incrowd.releases.pipeline import plan_of
from incrowd.rows.blocks.drafting import Drafting, settle_blocks
from incrowd.rows.blocks.held import LocalBlocks
from incrowd.rows.blocks.population import BlockedPopulation, stacked
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.rows.spark import held
from incrowd.rows.spark.session import EXACT, set_for_a_while, unpacked
from incrowd.tables.recipe import Recipe
from incrowd.testing import attempt, check_kept
from incrowd.testing.tables import AWKWARD, BlockedEngine
from incrowd.vocabulary.randomness import SeededRandomness, seeded_key
from incrowd.vocabulary.resources import Clock
from support.engines import SparkEngine
from support.spark_session import PLAIN_PLANS, local_session, spark_release

pytestmark = pytest.mark.slow  # a session of Spark costs more than hundreds of other tests

ROWS, BLOCK = 300, 70
QUASI_IDENTIFIERS = ["age", "weight", "sex", "job", "born"]
ROLES = {
    **{name: {"role": "quasi-identifier"} for name in QUASI_IDENTIFIERS},
    "ill": {"role": "target"},
    "person": {"role": "identifier"},
}
NUMERIC = {  # each method with another form of numbers
    name: entry.numeric[(place + 1) % len(entry.numeric)]
    for place, (name, entry) in enumerate(METHODS.items())
    if entry.numeric
}


def people():
    rng = np.random.default_rng(11)
    jobs = rng.choice(["cook", "nurse", "it's|%", "?"], ROWS)
    return pl.DataFrame(
        {
            "person": [f"p{i}" for i in range(ROWS)],
            "age": rng.integers(18, 60, ROWS).tolist(),
            "weight": [None if i % 17 == 0 else float(w) for i, w in enumerate(rng.normal(70, 3, ROWS).round(0))],
            "sex": rng.choice(["f", "m"], ROWS).tolist(),
            "job": [None if i % 13 == 0 else str(j) for i, j in enumerate(jobs)],
            "born": [dt.date(1950, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 400, ROWS)],
            "seen at": [dt.datetime(2020, 1, 1, 12, i % 60, tzinfo=dt.UTC) for i in range(ROWS)],
            "Note": [f"n{i % 7}" if i % 11 else "?" for i in range(ROWS)],
            "note": [i % 5 for i in range(ROWS)],
            "ill": rng.choice(["y", "n"], ROWS).tolist(),
        }
    )


@pytest.fixture(scope="module")
def spark():
    return local_session(**PLAIN_PLANS)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    for place, rows in enumerate((130, 170)):
        people().slice(130 * place, rows).write_parquet(folder / f"{place}.parquet")
    return str(folder)


class EnoughSeenError(Exception):
    """Nothing was written that could be published."""


@pytest.fixture(scope="module")
def local_blocks(spark, path, tmp_path_factory):
    """The rows in the very blocks that Spark has them in, whatever the method, brought here: only a test may do so."""
    recipe, folder = Recipe(k=6, columns=ROLES), tmp_path_factory.mktemp("again") / "out"
    with (
        patch.object(held, "BLOCK_ROWS", BLOCK),
        suppress(EnoughSeenError),
        held.hold_on_spark(path, recipe, Clock(), to=folder) as rows,
    ):
        tables, store = list(rows.blocks.each(lambda block, _: block)), rows.blocks.store
        beside = {(row.part, row.place): unpacked(row.beside) for row in store.frame.collect()}
        found = rows, tables, [beside[block.part, block.place] for block in store.listed]
        raise EnoughSeenError
    return found


@pytest.mark.parametrize("name", METHODS)
def test_the_whole_way_and_the_same_groups_as_in_blocks(name, spark, path, tmp_path, local_blocks):
    numeric = {"numeric": NUMERIC[name]} if name in NUMERIC else {}
    recipe = Recipe(k=6, method=name, columns=ROLES, parameters=numeric)
    made = spark_release(path, tmp_path / "out", recipe, seed=5, block_rows=BLOCK)
    assert made.verdict.passed
    released = pl.read_parquet(str(tmp_path / "out" / "*.parquet"))
    assert released.columns == [column.name for column in made.plan.written]
    keys = [column.name for column in made.plan.written if column.source in QUASI_IDENTIFIERS]
    assert min(Counter(released.select(keys).rows()).values()) >= 6
    assert Counter(released["note"]) <= Counter(people()["note"])
    assert set(released["Note"]) == {None, *(f"n{i}" for i in range(7))}

    job, chance = Job(path, recipe, counts_key=seeded_key(5)), SeededRandomness(5)
    rows, tables, beside = local_blocks
    local = LocalBlocks(rows.blocks.rows, lambda place: tables[place])
    population = BlockedPopulation.of(local, rows.schema, chance)
    plan = settle_blocks(plan_of(job, rows, population, chance), population, rows.columns)
    assert plan == made.plan
    (tmp_path / "buckets").mkdir()
    drafts = Drafting(plan, population, rows.columns, chance).frames(iter(beside), tmp_path / "buckets")
    frames = [pl.DataFrame(draft.table).cast({pl.Categorical: pl.String}) for draft in drafts]
    assert rows_of(pl.concat(frames)) == rows_of(released)

    whole = EmbeddedEngine().population(stacked(tables), rows.schema, SeededRandomness(5))
    embedded = EmbeddedEngine().settle(plan_of(job, rows, whole, chance), whole)
    if METHODS[name].draws_groups:  # engines draw in another order
        assert sum(group.rows for group in embedded.groups) == sum(group.rows for group in made.plan.groups)
    else:
        assert sizes(embedded) == sizes(made.plan)


def rows_of(frame):
    """How often each row occurs."""
    return Counter(frame.with_columns(pl.col("seen at").dt.epoch()).rows())


def sizes(plan):
    """How many rows look alike in what."""
    if plan.groups:
        return Counter((group.rows, *(type(form).__name__ for form in group.forms)) for group in plan.groups)
    return Counter((name, part.rows) for name in plan.names for part in plan.recode[name].parts)


@pytest.mark.parametrize("table", ["nothing but missing", "huge numbers", "many classes", "one row", "skew"])
def test_awkward_tables(table, spark):
    case, engine = AWKWARD[table], SparkEngine(25, session=spark)
    k = len(case.rows) // 3 + 1
    made = attempt(case, k, engine, make_method("kactus", {}), seed=3)
    check_kept(made, METHODS["kactus"])
    again = attempt(case, k, BlockedEngine(25), make_method("kactus", {}), seed=3)
    assert made.plan == again.plan
    assert made.draft.frame.equals(again.draft.frame)
    assert np.array_equal(made.draft.origin, again.draft.origin)


def without_note(spark, path):
    """The columns whose names differ not only by case."""
    from pyspark.sql.types import StructType

    with set_for_a_while(spark, EXACT):
        return StructType([field for field in spark.read.parquet(path).schema.fields if field.name != "note"])


def test_a_frame_comes_back_as_a_frame(spark, path, tmp_path):
    frame = spark.read.schema(without_note(spark, path)).parquet(path).repartition(3)
    recipe = Recipe(k=6, columns=ROLES)
    made = spark_release(frame, tmp_path / "out", recipe, block_rows=BLOCK)
    assert made.table.count() == made.plan.rows_released
    assert made.table.schema["seen at"].dataType == frame.schema["seen at"].dataType
    assert [notice.code for notice in made.report.notices if notice.where == "Note"]


def test_a_table_of_the_catalog(spark, path, tmp_path):
    spark.read.schema(without_note(spark, path)).parquet(path).createOrReplaceTempView("people_here")
    made = spark_release("people_here", tmp_path / "out", Recipe(k=6, columns=ROLES))
    assert made.verdict.passed
    assert made.verdict.sizes.rows == made.table.count()
