"""Random tables, trees and requests for the property tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from hypothesis import strategies as st

from incrowd.trees.tree import Branch, Eq, Gt, In, Le, Missing, Node, Tree
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

TARGET = "class"
KINDS = (ColumnType.CATEGORICAL, ColumnType.ORDERED, ColumnType.INTEGER, ColumnType.REAL)


@dataclass(frozen=True)
class Case:
    """A table as plain Python rows, encoded, with its schema."""

    rows: list[dict]
    table: EncodedTable
    schema: Schema

    @property
    def names(self):
        return self.schema.quasi_identifiers

    @property
    def frame(self):
        return pl.DataFrame(
            [self.table[name].dictionary.gather(_nullable(self.table[name])).alias(name) for name in self.schema.names]
        )


def _nullable(column):
    return pl.Series([None if c == column.missing_code else int(c) for c in column.codes], dtype=pl.Int64)


def _dictionary(kind, size):
    if kind is ColumnType.INTEGER:
        return pl.Series([3 * i - 4 for i in range(size)], dtype=pl.Int64)
    if kind is ColumnType.REAL:
        return pl.Series([0.1 * i**2 - 1 for i in range(size)], dtype=pl.Float64)
    return pl.Series([f"v{i}" for i in range(size)], dtype=pl.String)


@st.composite
def cases(draw, max_rows=40, max_columns=4, max_values=5):
    """Tables with missing values, ties, constant and all-missing columns."""
    height = draw(st.integers(1, max_rows))
    width = draw(st.integers(1, max_columns))
    columns, schema = [], []
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    for i in range(width):
        kind = draw(st.sampled_from(KINDS))
        size = draw(st.integers(0, max_values))
        missing = draw(st.sampled_from([0.0, 0.0, 0.1, 0.5]))
        codes = rng.integers(0, size, height) if size else np.zeros(height, int)
        codes = np.where(rng.random(height) < missing, size, codes).astype(np.int32)
        used = np.unique(codes[codes < size])
        lookup = np.full(size + 1, len(used), np.int32)
        lookup[used] = np.arange(len(used), dtype=np.int32)
        dictionary = _dictionary(kind, size).gather(used.astype(np.int64))
        columns.append(EncodedColumn(f"a{i}", kind, lookup[codes], dictionary))
        order = tuple(dictionary.to_list()) if kind is ColumnType.ORDERED else ()
        schema.append(Column(f"a{i}", Role.QUASI_IDENTIFIER, kind, order))
    labels = rng.integers(0, draw(st.integers(1, 3)), height).astype(np.int32)
    if draw(st.booleans()) and columns:
        labels = (columns[0].codes % 2).astype(np.int32)
    classes = int(labels.max()) + 1
    columns.append(EncodedColumn(TARGET, ColumnType.CATEGORICAL, labels, pl.Series(["x", "y", "z"][:classes])))
    schema.append(Column(TARGET, Role.TARGET, ColumnType.CATEGORICAL))
    table = EncodedTable.of(columns)
    values = {c.name: [*c.dictionary.to_list(), None] for c in columns}
    rows = [{c.name: values[c.name][c.codes[r]] for c in columns} for r in range(height)]
    return Case(rows, table, Schema(tuple(schema)))


@st.composite
def trees(draw, case):
    """A tree over the case's attributes, not grown from the data: empty leaves, uncovered values, repeats."""
    nodes = [Node(None, (), (0,) * 4)]
    open_nodes = [0]
    for _ in range(draw(st.integers(0, 6))):
        number = open_nodes.pop(draw(st.integers(0, len(open_nodes) - 1)))
        name = draw(st.sampled_from(case.names))
        tests = draw(_tests(case.table[name]))
        children = range(len(nodes), len(nodes) + len(tests))
        nodes[number] = Node(name, tuple(Branch(t, c) for t, c in zip(tests, children, strict=True)), (0,) * 4)
        nodes += [Node(None, (), (0,) * 4)] * len(tests)
        open_nodes += children
        if not open_nodes:
            break
    return Tree(tuple(nodes), TARGET, ("x", "y", "z", None))


@st.composite
def _tests(draw, column):
    values = column.dictionary.to_list()
    tests = []
    if column.type.is_numeric and draw(st.booleans()):
        threshold = draw(st.sampled_from([*values, 0.5]))
        tests = [Le(column.name, threshold), Gt(column.name, threshold)]
    else:
        extra = [] if column.type.is_numeric else ["never"]
        left = draw(st.permutations([*values, *extra]))
        while left:
            size = draw(st.integers(1, len(left)))
            part, left = left[:size], left[size:]
            if draw(st.integers(0, 4)):
                tests.append(Eq(column.name, part[0]) if size == 1 else In(column.name, frozenset(part)))
    if draw(st.booleans()) or not tests:
        tests.append(Missing(column.name))
    return tests
