"""Speed of the tree kernel against scikit-learn's, and how its cost grows with the rows.

The founding paper's largest case: the complete rows of Adult, each followed by 29 variations that keep three
attributes, chosen at random, and draw the others uniformly from their domains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from math import log
from time import perf_counter, process_time
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from bench.people import ATTRIBUTES, COPIES, TARGET, encode, expand, head, people
from bench.setting import Setting, tell
from experiments.charts import line_chart
from experiments.pages import Goal, Picture, Section, Table
from incrowd.trees.c45 import C45
from incrowd.trees.routing import route
from incrowd.trees.tree import Tree
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable

T = TypeVar("T")

MIN_LEAF, LEAST_RATIO, MOST_GROWTH = 150, 10, 1.2
SIZES = (45_222, 180_000, 720_000, 2_500_000, 10_000_000)
QUICK_SIZES, QUICK_COPIES = (1_500, 6_000), 2


class Timed(NamedTuple, Generic[T]):
    """A result with its wall and CPU seconds."""

    result: T
    wall: float
    cpu: float


class Step(NamedTuple):
    """The cost of a tree on that many rows, and against n log n from the first step on."""

    rows: int
    wall: float
    cpu: float
    growth: float


def measure(setting: Setting) -> Section:
    """Grow with both on the large table, then with ours on larger and larger ones."""
    frame, source = people(setting)
    columns = encode(frame.drop_nulls())
    _grow(expand(columns, 1))  # compile
    table = expand(columns, QUICK_COPIES if setting.quick else COPIES)
    compared, ratio = compare(table, setting)
    rows = table.height
    del table
    steps = scale(columns, QUICK_SIZES if setting.quick else SIZES, setting)
    growth = max(step.growth for step in steps)
    return Section(
        "Growing the tree",
        (
            f"{source}, {rows:,} rows x {len(ATTRIBUTES)} attributes, smallest leaf {MIN_LEAF}, no pruning; entropy "
            "for scikit-learn, gain ratio for ours, the same integer codes for both. Compilation is not counted.",
            compared,
            Goal(
                f"at least {LEAST_RATIO} times as fast as scikit-learn (CPU seconds)",
                f"{ratio:.1f} times",
                ratio >= LEAST_RATIO,
            ),
            "The same table with fewer and more variations of each row:",
            _steps_table(steps),
            _picture(steps),
            Goal(
                f"cost grows no faster than n log n (at most {MOST_GROWTH} times it, for noise)",
                f"{growth:.2f} times at most, against the smallest table; {_jump(steps):.2f} against the size before",
                growth <= MOST_GROWTH,
                "The kernel is one pass over the codes per level: more rows make a deeper tree, and large tables leave "
                "the processor's cache.",
            ),
        ),
    )


def compare(table: EncodedTable, setting: Setting) -> tuple[Table, float]:
    """The times of both, and the ratio of their CPU times."""
    ours = _best(partial(_grow, table), setting)
    tell(f"C4.5 kernel, {table.height:,} rows: {ours.cpu:.2f} s CPU")
    routed = _best(lambda: route(ours.result, table), setting)
    theirs = _best(_scikit_learn(table), setting)
    tell(f"scikit-learn: {theirs.cpu:.2f} s CPU")
    rows = (
        ("C4.5 kernel", f"{ours.wall:.2f}", f"{ours.cpu:.2f}", f"{len(ours.result.nodes):,}"),
        ("routing every row down it", f"{routed.wall:.2f}", f"{routed.cpu:.2f}", ""),
        ("scikit-learn", f"{theirs.wall:.2f}", f"{theirs.cpu:.2f}", f"{theirs.result:,}"),
        ("scikit-learn / C4.5 kernel", f"{theirs.wall / ours.wall:.1f}", f"{theirs.cpu / ours.cpu:.1f}", ""),
    )
    return Table(("", "wall s", "CPU s", "nodes"), rows), theirs.cpu / ours.cpu


def scale(columns: list[EncodedColumn], sizes: Sequence[int], setting: Setting) -> list[Step]:
    """Grow on more and more rows."""
    table = expand(columns, -(-max(sizes) // len(columns[0].codes)))
    steps: list[Step] = []
    first = None
    for rows in sizes:
        part = head(table, rows)
        grown = _best(partial(_grow, part), setting)
        cost = grown.cpu / (rows * log(rows))
        first = first or cost
        steps.append(Step(rows, grown.wall, grown.cpu, cost / first))
        tell(f"{rows:,} rows: {grown.cpu:.2f} s CPU")
    return steps


def _jump(steps: Sequence[Step]) -> float:
    """The largest growth against n log n from one size to the next."""
    return max(after.growth / before.growth for before, after in pairwise(steps))


def _steps_table(steps: Sequence[Step]) -> Table:
    rows = [
        (f"{s.rows:,}", f"{s.wall:.2f}", f"{s.cpu:.2f}", f"{1e6 * s.cpu / s.rows:.2f}", f"{s.growth:.2f}")
        for s in steps
    ]
    return Table(("rows", "wall s", "CPU s", "CPU µs per row", "against n log n"), rows)


def _picture(steps: Sequence[Step]) -> Picture:
    title = "CPU time of the tree per row, by rows"
    points = {
        "C4.5 kernel": [(float(s.rows), 1e6 * s.cpu / s.rows) for s in steps],
        "n log n": [(float(s.rows), 1e6 * steps[0].cpu / steps[0].rows * log(s.rows, steps[0].rows)) for s in steps],
    }
    return Picture("tree_scaling", title, line_chart(title, "rows", "µs per row", points, "{:,.0f}".format))


def _grow(table: EncodedTable) -> Tree:
    return C45(min_branch=MIN_LEAF, confidence=None).grow(table, ATTRIBUTES, TARGET)


def _scikit_learn(table: EncodedTable) -> Callable[[], int]:
    """The fitting of scikit-learn's tree, its matrix made before; it returns the number of nodes."""
    from sklearn.tree import DecisionTreeClassifier

    matrix = np.column_stack([table[name].codes for name in ATTRIBUTES]).astype(np.float32)
    classes = table[TARGET].codes

    def fit() -> int:
        tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=MIN_LEAF, random_state=0)
        return int(tree.fit(matrix, classes).tree_.node_count)

    return fit


def _best(work: Callable[[], T], setting: Setting) -> Timed[T]:
    """The run with the least CPU time."""
    return min((_timed(work) for _ in range(setting.repetitions)), key=lambda run: run.cpu)


def _timed(work: Callable[[], T]) -> Timed[T]:
    wall, cpu = perf_counter(), process_time()
    result = work()
    return Timed(result, perf_counter() - wall, process_time() - cpu)
