"""Speed of the tree kernel against scikit-learn, and how its cost grows with the rows.

Run ``python bench/tree.py [rows ...]``. If the folder named by INCROWD_DATA has adult_train.csv and
adult_test.csv, the founding paper's largest case is made from them: the 45,222 complete rows of Adult, each
followed by 29 variations that keep three attributes, chosen at random, and draw the others uniformly from
their domains. Otherwise a generated stand-in of the same shape is used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from math import log
from pathlib import Path
from time import perf_counter, process_time
from typing import TypeVar

import numpy as np
import polars as pl

from incrowd.trees.c45 import C45
from incrowd.trees.routing import route
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import ColumnType

T = TypeVar("T")

COPIES, KEPT, MIN_LEAF = 30, 3, 150
TARGET_RATIO, TARGET_GROWTH = 10, 1.2
SIZES = (45_222, 180_000, 720_000, 2_500_000, 10_000_000)
DOMAINS = {
    "age": 74,
    "workclass": 7,
    "fnlwgt": 26_741,
    "education": 16,
    "education-num": 16,
    "marital-status": 7,
    "occupation": 14,
    "relationship": 6,
    "race": 5,
    "sex": 2,
    "capital-gain": 121,
    "capital-loss": 97,
    "hours-per-week": 96,
    "native-country": 41,
}
NUMERIC = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}


def seed_columns() -> tuple[list[EncodedColumn], str]:
    """The rows to expand: Adult if it is at hand, else rows of the same shape; the class comes last."""
    folder = os.environ.get("INCROWD_DATA")
    files = [Path(folder or "") / f"adult_{part}.csv" for part in ("train", "test")]
    if folder and all(file.exists() for file in files):
        frame = pl.concat([pl.read_csv(file, null_values="?") for file in files]).drop_nulls()
        return [encode(frame[name]) for name in frame.columns], "Adult"
    generator = np.random.default_rng(1)
    codes = {name: generator.integers(0, width, 45_222) for name, width in DOMAINS.items()}
    score = sum((codes[name] * 2 < DOMAINS[name]).astype(int) for name in ("age", "education-num", "sex"))
    codes["class"] = (score + generator.integers(0, 3, 45_222) > 2).astype(np.int64)
    series = [pl.Series(name, values) for name, values in codes.items()]
    return [encode(each if each.name in NUMERIC else each.cast(pl.String)) for each in series], "stand-in"


def encode(series: pl.Series) -> EncodedColumn:
    dictionary = series.unique().sort()
    kind = ColumnType.CATEGORICAL if series.dtype == pl.String else ColumnType.INTEGER
    codes = series.replace_strict(
        dictionary, pl.int_range(len(dictionary), eager=True), return_dtype=pl.Int32
    )
    return EncodedColumn(series.name, kind, codes.to_numpy().astype(np.int32), dictionary)


def expand(columns: list[EncodedColumn], copies: int) -> EncodedTable:
    """Each row and ``copies - 1`` variations of it; the class is kept."""
    generator = np.random.default_rng(2)
    height, attributes = len(columns[0].codes), columns[:-1]
    parts = [[column.codes] for column in columns]
    for _ in range(copies - 1):
        ranks = np.argsort(generator.random((height, len(attributes))), axis=1)
        for place, column in enumerate(attributes):
            drawn = generator.integers(0, len(column.dictionary), height, dtype=np.int32)
            parts[place].append(np.where(ranks[:, place] < KEPT, column.codes, drawn))
        parts[-1].append(columns[-1].codes)
    joined = zip(columns, parts, strict=True)
    return EncodedTable.of(
        EncodedColumn(column.name, column.type, np.concatenate(part), column.dictionary)
        for column, part in joined
    )


def timed(work: Callable[[], T]) -> tuple[T, float, float]:
    """The result with its wall and CPU seconds."""
    wall, cpu = perf_counter(), process_time()
    result = work()
    return result, perf_counter() - wall, process_time() - cpu


def compare(table: EncodedTable, attributes: list[str]) -> float:
    """Grow with both, print the times, return the ratio of CPU times."""
    from sklearn.tree import DecisionTreeClassifier

    grower = C45(min_branch=MIN_LEAF, confidence=None)
    runs = [timed(lambda: grower.grow(table, attributes, "class")) for _ in range(3)]
    tree, wall, cpu = min(runs, key=lambda run: run[2])
    print(f"C4.5 kernel    wall {wall:6.2f} s   CPU {cpu:6.2f} s   {len(tree.nodes)} nodes")
    _, route_wall, route_cpu = timed(lambda: route(tree, table))
    print(f"  routing      wall {route_wall:6.2f} s   CPU {route_cpu:6.2f} s")
    matrix = np.column_stack([table[name].codes for name in attributes]).astype(np.float32)
    other = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=MIN_LEAF, random_state=0)
    fitted, their_wall, their_cpu = timed(lambda: other.fit(matrix, table["class"].codes))
    print(
        f"scikit-learn   wall {their_wall:6.2f} s   CPU {their_cpu:6.2f} s   {fitted.tree_.node_count} nodes"
    )
    print(
        f"ratio          wall {their_wall / wall:6.1f}     CPU {their_cpu / cpu:6.1f}     goal {TARGET_RATIO}"
    )
    return their_cpu / cpu


def scale(columns: list[EncodedColumn], attributes: list[str], sizes: tuple[int, ...]) -> float:
    """Grow on more and more rows; return the largest growth of cost against n log n."""
    base, worst = None, 0.0
    table = expand(columns, -(-max(sizes) // len(columns[0].codes)))
    for rows in sizes:
        part = EncodedTable.of(
            EncodedColumn(column.name, column.type, column.codes[:rows], column.dictionary)
            for column in table.columns.values()
        )
        grower = C45(min_branch=MIN_LEAF, confidence=None)
        runs = [timed(partial(grower.grow, part, attributes, "class")) for _ in range(3)]
        _, wall, cpu = min(runs, key=lambda run: run[2])
        cost = cpu / (rows * log(rows))
        base = base or cost
        worst = max(worst, cost / base)
        print(f"{rows:>11,} rows  wall {wall:6.2f} s  CPU {cpu:6.2f} s  {cost / base:5.2f} x n log n")
    return worst


def main() -> int:
    columns, source = seed_columns()
    attributes = [column.name for column in columns[:-1]]
    C45(confidence=None).grow(expand(columns, 1), attributes, "class")  # compile
    table = expand(columns, COPIES)
    print(f"{source}, {table.height:,} rows x {len(attributes)} attributes, minimum leaf {MIN_LEAF}")
    ratio = compare(table, attributes)
    growth = scale(columns, attributes, tuple(map(int, sys.argv[1:])) or SIZES)
    met = ratio >= TARGET_RATIO and growth <= TARGET_GROWTH
    print(
        f"{'met' if met else 'MISSED'}: {ratio:.1f} times as fast as scikit-learn; n log n times {growth:.2f}"
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
