"""The kernel: both ways to count, any number of threads, codes of 16 and 32 bits."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from incrowd.trees.c45 import C45
from incrowd.trees.kernel import cells_from_histogram, cells_from_rows, fill_histogram
from incrowd.trees.levels import Limits, grow_levels
from incrowd.trees.packing import Columns, PackedCells, Rules, pack
from incrowd.trees.sklearn_tree import recount
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import ColumnType
from support.kernels import compiled_kernels, plain_kernels


def random_table(rows, seed, widths=(40, 5, 900), classes=3):
    rng = np.random.default_rng(seed)
    kinds = (ColumnType.INTEGER, ColumnType.CATEGORICAL, ColumnType.REAL)
    columns = []
    score = np.zeros(rows)
    for place, (kind, width) in enumerate(zip(kinds, widths, strict=True)):
        codes = rng.integers(0, width + 1, rows).astype(np.int32)
        score += (codes / width > 0.5) * rng.random(rows)
        values = pl.Series(range(width)).cast({"categorical": pl.String, "real": pl.Float64}.get(kind, pl.Int64))
        columns.append(EncodedColumn(f"a{place}", kind, codes, values))
    label = np.minimum((score * classes / 2).astype(np.int32), classes - 1)
    columns.append(EncodedColumn("y", ColumnType.CATEGORICAL, label, pl.Series(list("pqrst")[:classes])))
    return EncodedTable.of(columns)


def as_columns(width, classes, stride):
    one = np.ones(1, np.bool_)
    return Columns(np.array([width]), one, one, np.zeros(1, np.int64), np.ones(1), classes, stride)


@pytest.mark.parametrize("weighted", [False, True])
def test_counting_and_sorting_list_the_same_cells(weighted):
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 3, (200, 4)).astype(np.uint16)
    rows[:, 1] = rng.integers(0, 30, 200)
    columns = as_columns(31, 3, 4)
    weights = rng.random(200) if weighted else None
    kind = np.float64 if weighted else np.int32
    counted, ordered = (
        PackedCells(np.zeros(93, np.int64), np.zeros(93, np.int64), np.zeros(93, kind)) for _ in range(2)
    )
    histogram = np.zeros(93, kind)
    fill_histogram(rows.ravel(), weights, 50, 200, np.zeros(1, np.int64), columns, histogram)
    found = cells_from_histogram(histogram, 0, 31, 3, counted)
    assert cells_from_rows(rows.ravel(), weights, 50, 200, 1, columns, ordered) == found
    for one, other in zip(counted, ordered, strict=True):
        assert one[:found] == pytest.approx(other[:found])
    assert counted.amount.sum() == pytest.approx(150 if weights is None else weights[50:].sum())


def test_tree_does_not_depend_on_threads():
    table = random_table(70_000, seed=2)
    rules = Rules(20.0, 0.1, True, False, False)
    grown = []
    for threads in (1, 2, 5):
        training = pack(table, ["a0", "a1", "a2"], "y", 256)
        grown.append(grow_levels(training.rows, training.columns, rules, Limits(40), threads))
    assert len(grown[0].code) > 100
    for other in grown[1:]:
        assert np.array_equal(grown[0].splits, other.splits)
        assert np.array_equal(grown[0].code, other.code)
        assert np.array_equal(grown[0].counts, other.counts)


@pytest.mark.parametrize("policy", ["stop", "branch", "weight"])
def test_tree_does_not_depend_on_who_runs_the_kernels(policy):
    table = random_table(700, seed=3, classes=5)
    grower = C45(missing=policy, confidence=None, min_branch=1)
    with compiled_kernels():
        tree = grower.grow(table, ["a0", "a1", "a2"], "y")
    with plain_kernels():
        assert grower.grow(table, ["a0", "a1", "a2"], "y") == tree
    assert len(tree.nodes) > 100


@pytest.mark.parametrize("policy", ["stop", "branch"])
def test_every_row_of_a_larger_table_is_counted_where_it_rests(policy):
    table = random_table(60_000, seed=4)
    tree = C45(missing=policy, confidence=None, mdl=False).grow(table, ["a0", "a1", "a2"], "y")
    assert len(tree.nodes) > 1000
    assert recount(tree, table) == tree


def test_fractional_rows_add_up():
    table = random_table(5_000, seed=5)
    tree = C45(missing="weight", confidence=None, mdl=False).grow(table, ["a0", "a1", "a2"], "y")
    sizes = np.array([node.counts for node in tree.nodes])
    for number, node in enumerate(tree.nodes):
        if not node.is_leaf:
            below = sum(sizes[branch.child] for branch in node.branches)
            assert below == pytest.approx(sizes[number], abs=0.05)
    assert sizes[list(tree.leaves)].sum() == pytest.approx(5_000, abs=0.05)


@pytest.mark.slow
def test_more_than_sixteen_bits_of_codes():
    rows = 80_000
    table = random_table(rows, seed=6, widths=(40, 5, 75_000))
    tree = C45(bins=None, confidence=None, min_branch=50).grow(table, ["a0", "a1", "a2"], "y")
    assert recount(tree, table) == tree
    assert "a2" in tree.attributes


def test_a_column_as_wide_as_the_table():
    rows = 3000
    names = EncodedColumn("name", ColumnType.TEXT, np.arange(rows, dtype=np.int32), pl.Series(map(str, range(rows))))
    table = random_table(rows, seed=7)
    table = EncodedTable.of([names, *table.columns.values()])
    tree = C45(min_branch=1, confidence=None).grow(table, ["name", "a0", "a1"], "y")
    assert recount(tree, table) == tree
    alone = C45(min_branch=1, confidence=None).grow(table, ["name"], "y")
    assert len(alone.nodes) == rows + 1
