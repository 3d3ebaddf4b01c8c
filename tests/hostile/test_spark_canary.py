"""No row gets to the driver of Spark, nothing is left behind by a run that fails, and nothing false is published."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import polars as pl
import pytest

from incrowd.errors import OutputError, SchemaError, VerificationError
from incrowd.rows.spark import checking, counting, held
from incrowd.tables.options import Measuring
from incrowd.tables.recipe import Recipe
from incrowd.vocabulary.resources import Clock
from support.spark_session import local_session, spark_release

pytestmark = pytest.mark.slow  # a session of Spark costs more than hundreds of other tests

ROWS = 400
KEPT, DROPPED, RARE = "kept-canary-1f6b", "dropped-canary-77d0", "rare-canary-9a3c"
ROLES = {
    "age": {"role": "quasi-identifier"},
    "job": {"role": "quasi-identifier"},
    "ill": {"role": "target"},
    "name": {"role": "identifier"},
    "note": {"role": "other"},
}
RECIPE = Recipe(method="kactus", k=5, columns=ROLES)


@pytest.fixture(scope="module")
def spark():
    return local_session()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "name": [f"{DROPPED}-{i}" for i in range(ROWS)],
            "age": rng.integers(20, 40, ROWS),
            "job": [RARE, *rng.choice(["cook", "nurse"], ROWS - 1).tolist()],
            "note": [f"{KEPT}-{i % 3}" for i in range(ROWS)],
            "ill": rng.choice(["y", "n"], ROWS),
        }
    )
    folder = tmp_path_factory.mktemp("canary")
    for place in range(2):
        frame.slice(200 * place, 200).write_parquet(folder / f"{place}.parquet")
    return str(folder)


class Border:
    """Sees everything that comes from Spark to the driver's Python."""

    def __init__(self, monkeypatch):
        from pyspark.sql.classic.dataframe import DataFrame

        self.rows, self.tables = [], []
        collect, to_arrow = DataFrame.collect, DataFrame.toArrow

        def seen_rows(frame):
            rows = collect(frame)
            self.rows.append(pickle.dumps([tuple(row) for row in rows]))
            return rows

        def seen_table(frame):
            table = to_arrow(frame)
            self.tables.append(table)
            return table

        def never(*_, **__):
            raise AssertionError("rows were asked for")

        monkeypatch.setattr(DataFrame, "collect", seen_rows)
        monkeypatch.setattr(DataFrame, "toArrow", seen_table)
        for name in ("toPandas", "toLocalIterator", "take", "head", "first", "tail", "show", "foreach"):
            monkeypatch.setattr(DataFrame, name, never)
        monkeypatch.setattr("pyspark.core.rdd.RDD.collect", never)


def test_the_driver_sees_values_counts_and_codes_but_no_row(spark, path, tmp_path, monkeypatch):
    border = Border(monkeypatch)
    made = spark_release(path, tmp_path / "out", RECIPE, block_rows=90, largest_sample=50)
    seen = len(border.rows)
    spark.read.parquet(path).collect()
    monkeypatch.undo()
    assert KEPT.encode() in border.rows.pop()  # what is not kept from the border is seen there
    assert len(border.rows) == seen > 5
    assert made.verdict.passed
    everything = b"".join(border.rows)
    assert KEPT.encode() not in everything
    assert DROPPED.encode() not in everything
    assert len(border.tables) == 1
    dictionary = pl.DataFrame(border.tables[0])
    assert dictionary.columns == ["column", "word", "text", "rows"]
    assert set(dictionary["text"].drop_nulls()) == {RARE, "cook", "nurse", "y", "n"}
    assert dictionary.filter(text=RARE)["rows"].to_list() == [1]
    assert len(everything) < 60_000
    assert KEPT not in repr((made.plan, made.report, made.certificate))


@pytest.mark.parametrize("most", [counting.MOST_CELLS, 1_000], ids=["all rows", "a sample"])
def test_measuring_risk_brings_no_row_and_no_sensitive_value(spark, path, tmp_path, monkeypatch, most):
    monkeypatch.setattr(counting, "MOST_CELLS", most)
    recipe = Recipe(method="kactus", k=5, columns=ROLES | {"note": {"role": "sensitive"}}, class_sensitive=False)
    border = Border(monkeypatch)
    made = spark_release(path, tmp_path / "out", recipe, block_rows=90, measuring=Measuring(risk=True))
    monkeypatch.undo()
    assert made.report.risk.inference[0].column == "note"
    assert len(made.report.risk.notices) == (most == 1_000)
    everything = b"".join(border.rows) + repr([table.to_pydict() for table in border.tables]).encode()
    assert RARE.encode() in everything
    assert KEPT.encode() not in everything
    assert DROPPED.encode() not in everything
    assert KEPT not in repr((made.plan, made.report, made.certificate))


def test_what_comes_to_the_driver_does_not_grow_with_the_rows(spark, path, tmp_path, monkeypatch):
    """Twice the rows in as many blocks: the same sample, the same values, as many answers."""
    sizes = []
    for place, times in enumerate((1, 2)):
        frame = spark.read.parquet(*[path] * times).drop("name").coalesce(2)
        with monkeypatch.context() as patch:
            border = Border(patch)
            spark_release(
                frame,
                tmp_path / f"out{place}",
                Recipe(k=5, columns={name: said for name, said in ROLES.items() if name != "name"}),
                block_rows=100 * times,
                largest_sample=50,
            )
        sizes.append(sum(map(len, border.rows)) + sum(table.nbytes for table in border.tables))
    assert 0 < sizes[1] < 1.25 * sizes[0]


def nothing_left(folder):
    return not list(folder.iterdir())


def failing(self, key, parts):
    """A task that fails, with a cell in its words."""
    from incrowd.rows.spark.session import unpacked

    raise ValueError(f"somebody's {unpacked(parts[0][1])['note'][0]}")


def test_a_task_that_fails_midway_leaves_nothing_and_tells_no_cell(spark, path, tmp_path, monkeypatch):
    from pyspark import cloudpickle

    import incrowd.rows.spark.drafting as shipped

    monkeypatch.setattr(shipped.Mixing, "released", failing)
    for module in (shipped, sys.modules[__name__]):
        cloudpickle.register_pickle_by_value(module)
    try:
        with pytest.raises(OutputError, match=r"A task of Spark failed \(ValueError\)") as failed:
            spark_release(path, tmp_path / "out", RECIPE, block_rows=90)
    finally:
        cloudpickle.unregister_pickle_by_value(shipped)
    assert KEPT not in str(failed.value)
    assert failed.value.__suppress_context__
    assert nothing_left(tmp_path)


def test_an_interrupt_leaves_nothing(spark, path, tmp_path, monkeypatch):
    """It comes when everything is written."""

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(held, "checked", interrupted)
    with pytest.raises(KeyboardInterrupt):
        spark_release(path, tmp_path / "out", RECIPE)
    assert nothing_left(tmp_path)


def swapped(request, sources, expected, salt, everybody, written, original):
    """What the comparison finds if two cells of the file had changed places."""
    import pyarrow as pa

    from incrowd.rows.spark.checking import _compare  # as executors have it

    column = written["note"].to_pylist()
    other = next(place for place, cell in enumerate(column) if cell != column[0])
    column[0], column[other] = column[other], column[0]
    place = written.column_names.index("note")
    changed = written.set_column(place, "note", pa.array(column))
    return _compare(request, sources, expected, salt, everybody, changed, original)


def test_a_file_with_two_cells_swapped_is_not_published(spark, path, tmp_path, monkeypatch):
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setattr(checking, "_compare", swapped)
    with pytest.raises(VerificationError, match=r"note untouched: [1-9]"):
        spark_release(path, tmp_path / "out", RECIPE)
    assert nothing_left(tmp_path)


def sorted_in_classes(request, sources, expected, salt, everybody, written, original):
    """What the comparison finds if rows that look alike came by age."""
    from dataclasses import replace

    from incrowd.rows.spark.checking import _compare  # as executors have it

    looks = list(zip(*(written[name].to_pylist() for name in ("age", "job")), strict=True))
    classes = np.array([sorted(set(map(str, looks))).index(str(look)) for look in looks])
    order = np.empty(len(classes), np.int64)
    order[np.argsort(classes, kind="stable")] = np.lexsort((original.table["age"].to_numpy(), classes))
    moved = replace(original, table=original.table.take(order), origin=original.origin[order])
    return _compare(request, sources, expected, salt, everybody, written.take(order), moved)


def test_rows_that_are_sorted_in_their_classes_are_not_published(spark, path, tmp_path, monkeypatch):
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setattr(checking, "_compare", sorted_in_classes)
    with pytest.raises(VerificationError, match="order in classes: rows of a class are sorted by age"):
        spark_release(path, tmp_path / "out", RECIPE)
    assert nothing_left(tmp_path)


def test_a_target_that_exists_is_refused_before_any_work(spark, path, tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(OutputError, match="out exists"):
        spark_release(path, tmp_path / "out", RECIPE)
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_an_identifier_that_repeats_is_refused(spark, path, tmp_path):
    twice = spark.read.parquet(path, path)
    with pytest.raises(SchemaError, match=r"the identifier 'name' repeats, 400 rows"):
        spark_release(twice, tmp_path / "out", RECIPE)
    assert nothing_left(tmp_path)


def test_nothing_stays_with_spark(spark, path, tmp_path):
    def kept():
        return spark.sparkContext._jsc.getPersistentRDDs().size()

    before, during = kept(), []
    spark_release(path, tmp_path / "out", RECIPE, clock=Clock(lambda _: during.append(kept())))
    assert max(during) == before + 2
    assert kept() == before


def test_nothing_stays_in_the_checkpoint_folder(spark, path, tmp_path):
    def files():
        return [file for file in (tmp_path / "checkpoints").rglob("part-*") if file.is_file()]

    during = []
    spark.sparkContext.setCheckpointDir(str(tmp_path / "checkpoints"))
    try:
        spark_release(path, tmp_path / "out", RECIPE, clock=Clock(lambda _: during.append(len(files()))))
    finally:
        getattr(spark.sparkContext._jsc.sc(), "checkpointDir_$eq")(spark._jvm.scala.Option.empty())
    assert max(during) > 0
    assert not files()
    assert spark.sparkContext.getCheckpointDir() is None


def test_files_hold_released_values_and_no_more(spark, path, tmp_path):
    spark_release(path, tmp_path / "out", RECIPE, block_rows=90)
    files = [file.read_bytes() for file in (tmp_path / "out").iterdir()]
    assert files
    assert not any(needle.encode() in data for data in files for needle in (RARE, DROPPED))


def test_rows_come_in_random_order(spark, path, tmp_path):
    frame = spark.read.parquet(path).drop("note").selectExpr("*", "row_number() OVER (ORDER BY name) AS place")
    roles = {name: said for name, said in ROLES.items() if name != "note"} | {"place": {"role": "other"}}
    spark_release(frame, tmp_path / "out", Recipe(k=5, columns=roles))
    places = pl.read_parquet(str(tmp_path / "out" / "*.parquet"))["place"].to_numpy()
    assert abs(np.corrcoef(np.arange(len(places)), places)[0, 1]) < 4 / np.sqrt(len(places))
