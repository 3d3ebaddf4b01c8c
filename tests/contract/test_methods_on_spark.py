"""What every method keeps on Spark: the promises of the other engines, and the very groups of the engine in blocks."""

from __future__ import annotations

import datetime as dt
from collections import Counter

import numpy as np
import polars as pl
import pytest
from test_methods_on_engines import AWKWARD, check, make

from incrowd.methods.catalog import METHODS
from incrowd.rows.blocks.drafting import Drafting, settle_blocks
from incrowd.rows.blocks.population import BlockedPopulation, LocalBlocks, stacked
from incrowd.rows.memory.engine import EmbeddedEngine
from incrowd.rows.spark.blocks import SparkBlocks
from incrowd.rows.spark.session import EXACT, set_for_a_while
from incrowd.rows.spark.store import stored
from incrowd.rows.spark.table import open_table
from incrowd.rows.spark.tasks import unpacked
from incrowd.tables.recipe import Recipe
from incrowd.vocabulary.randomness import SeededRandomness
from support.engines import BlockedEngine, SparkEngine
from support.spark_session import SparkSteps, local_session, spark_release

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
    return local_session()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    for place, rows in enumerate((130, 170)):
        people().slice(130 * place, rows).write_parquet(folder / f"{place}.parquet")
    return str(folder)


def local_blocks(path, steps, spark):
    """The rows in the very blocks that Spark has them in, brought here: only a test may do so."""
    with set_for_a_while(spark, EXACT):
        table = open_table(path, spark)
        schema = steps.schema(table)
        store = stored(table, schema.encoded, schema.untouched, steps.code, steps.clean, BLOCK)
        schema, meanings = steps.meanings(schema, store.gathered())
    blocks = SparkBlocks.of(store, meanings)
    tables = list(blocks.each(lambda block, _: block))
    beside = {(row.part, row.place): unpacked(row.beside) for row in store.frame.collect()}
    return schema, blocks, tables, [beside[block.part, block.place] for block in store.listed]


@pytest.mark.parametrize("name", METHODS)
def test_the_whole_way_and_the_same_groups_as_in_blocks(name, spark, path, tmp_path):
    numeric = {"numeric": NUMERIC[name]} if name in NUMERIC else {}
    recipe = Recipe(k=6, method=name, columns=ROLES, parameters=numeric)
    made, _ = spark_release(path, tmp_path / "out", recipe, spark, seed=5, block_rows=BLOCK)
    assert made.verdict.passed
    released = pl.read_parquet(str(tmp_path / "out" / "*.parquet"))
    assert released.columns == [column.name for column in made.plan.written]
    keys = [column.name for column in made.plan.written if column.source in QUASI_IDENTIFIERS]
    assert min(Counter(released.select(keys).rows()).values()) >= 6
    assert Counter(released["note"]) <= Counter(people()["note"])
    assert set(released["Note"]) == {None, *(f"n{i}" for i in range(7))}

    chance = SeededRandomness(5)
    steps = SparkSteps(recipe, chance)
    schema, blocks, tables, beside = local_blocks(path, steps, spark)
    local = LocalBlocks(blocks.rows, lambda place: tables[place])
    population = BlockedPopulation.of(local, schema, chance)
    plan = settle_blocks(steps.plan(population, blocks.columns), population, blocks.columns)
    assert plan == made.plan
    (tmp_path / "buckets").mkdir()
    drafts = Drafting(plan, population, blocks.columns, chance).frames(iter(beside), tmp_path / "buckets")
    frames = [pl.DataFrame(draft.table).cast({pl.Categorical: pl.String}) for draft in drafts]
    assert rows_of(pl.concat(frames)) == rows_of(released)

    whole = EmbeddedEngine().population(stacked(tables), schema, SeededRandomness(5))
    embedded = EmbeddedEngine().settle(steps.plan(whole, blocks.columns), whole)
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
    plan, draft, _ = make(case, k, engine, "kactus", 3)
    check(case, k, plan, draft)
    same, again, _ = make(case, k, BlockedEngine(25), "kactus", 3)
    assert plan == same
    assert draft.frame.equals(again.frame)
    assert np.array_equal(draft.origin, again.origin)


def without_note(spark, path):
    """The columns whose names differ not only by case."""
    from pyspark.sql.types import StructType

    with set_for_a_while(spark, EXACT):
        return StructType([field for field in spark.read.parquet(path).schema.fields if field.name != "note"])


def test_a_frame_comes_back_as_a_frame(spark, path, tmp_path):
    frame = spark.read.schema(without_note(spark, path)).parquet(path).repartition(3)
    recipe = Recipe(k=6, columns=ROLES)
    made, steps = spark_release(frame, tmp_path / "out", recipe, spark, block_rows=BLOCK)
    assert made.frame.count() == made.plan.rows_released
    assert made.frame.schema["seen at"].dataType == frame.schema["seen at"].dataType
    assert [notice.code for notice in steps.notices if notice.where == "Note"]


def test_a_table_of_the_catalog(spark, path, tmp_path):
    spark.read.schema(without_note(spark, path)).parquet(path).createOrReplaceTempView("people_here")
    made, _ = spark_release("people_here", tmp_path / "out", Recipe(k=6, columns=ROLES), spark)
    assert made.verdict.passed
    assert made.verdict.sizes.rows == made.frame.count()
