"""Persons as rows and in groups: by how many rows they keep, then by what does not change and what sums up the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.methods.histories.rows_of_persons import Ints
from incrowd.methods.judging import Judge
from incrowd.methods.partitioning.dimensions import dimensions_of
from incrowd.methods.partitioning.mondrian import class_codes, grow_cuts
from incrowd.methods.partitioning.tree_of_cuts import tree_of_cuts
from incrowd.trees.routing import route
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema


def is_static(column: EncodedColumn, owners: Ints, persons: int) -> bool:
    """Whether no person has two values; missing is one.

    Examples
    --------
    >>> sex = EncodedColumn("sex", ColumnType.TEXT, np.array([0, 0, 1], np.int32), pl.Series(["f", "m"]))
    >>> is_static(sex, np.array([0, 0, 1]), 2), is_static(sex, np.array([0, 1, 1]), 2)
    (True, False)
    """
    first = np.zeros(persons, np.int64)
    first[owners] = column.codes
    return bool((first[owners] == column.codes).all())


def summaries(table: EncodedTable, schema: Schema, owners: Ints, persons: int) -> tuple[EncodedTable, Schema]:
    """A table with a row for each person, and its columns.

    A quasi-identifier that never changes is as it is; of the others there is the commonest value, or the smallest,
    largest and mean number. The class is the commonest one.
    """
    columns: list[EncodedColumn] = []
    described: list[Column] = []
    for name in schema.quasi_identifiers:
        column, known = table[name], schema[name]
        if column.type.is_numeric and not is_static(column, owners, persons):
            parts = list(_of_numbers(column, owners, persons))
            columns += parts
            described += [Column(part.name, Role.QUASI_IDENTIFIER, part.type) for part in parts]
        else:
            columns.append(commonest(column, owners, persons))
            described.append(known)
    if schema.target is not None:
        columns.append(commonest(table[schema.target], owners, persons))
        described.append(schema[schema.target])
    return EncodedTable.of(columns), Schema(tuple(described))


def commonest(column: EncodedColumn, owners: Ints, persons: int) -> EncodedColumn:
    """The value that most rows of each person have, the first of several; missing where there is no row."""
    cells, rows = np.unique(owners * column.width + column.codes, return_counts=True)
    order = np.lexsort((cells % column.width, -rows, cells // column.width))
    people, first = np.unique(cells[order] // column.width, return_index=True)
    codes = np.full(persons, column.missing_code, np.int32)
    codes[people] = (cells[order] % column.width)[first]
    return EncodedColumn(column.name, column.type, codes, column.dictionary)


def _of_numbers(column: EncodedColumn, owners: Ints, persons: int) -> Iterator[EncodedColumn]:
    """The smallest, largest and mean number of each person; missing where there is none."""
    rows = column.codes != column.missing_code
    codes, people = column.codes[rows], owners[rows]
    least = np.full(persons, column.missing_code, np.int32)
    np.minimum.at(least, people, codes)
    most = np.full(persons, -1, np.int32)
    np.maximum.at(most, people, codes)
    most[most < 0] = column.missing_code
    yield EncodedColumn(f"{column.name} #least", column.type, least, column.dictionary)
    yield EncodedColumn(f"{column.name} #most", column.type, most, column.dictionary)
    numbers = column.numbers.astype(np.float64)[codes]
    count = np.bincount(people, minlength=persons)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        means = np.bincount(people, numbers, persons) / count
    known = np.isfinite(means)
    values, places = np.unique(means[known], return_inverse=True)
    of_mean = np.full(persons, len(values), np.int32)
    of_mean[known] = places
    yield EncodedColumn(f"{column.name} #mean", ColumnType.REAL, of_mean, pl.Series(values, dtype=pl.Float64))


@dataclass(frozen=True, eq=False)
class Grouping:
    """Trees of groups, and the node that each person is at: ``parents`` has the node above each, -1 for a root.

    All below a root keep as many rows.
    """

    parents: Ints
    nodes: Ints

    @property
    def groups(self) -> tuple[Ints, int]:
        """The group of each person, numbered without gaps, and how many there are."""
        used, groups = np.unique(self.nodes, return_inverse=True)
        return groups.astype(np.int64), len(used)

    def roots(self, groups: Ints) -> npt.NDArray[np.bool_]:
        """Which of these groups have no group above them."""
        return np.asarray(self.parents[np.unique(self.nodes)[groups]] < 0)

    def taken_back(self, failing: Ints) -> Grouping:
        """The grouping with the last cut above these groups undone; none of them is a root."""
        used = np.unique(self.nodes)
        undone = {int(self.parents[used[group]]) for group in failing.tolist()}
        node_of = {}
        for node in used.tolist():
            above = node_of[node] = node
            while (above := int(self.parents[above])) >= 0:
                if above in undone:
                    node_of[node] = above
        return Grouping(self.parents, np.array([node_of[node] for node in self.nodes.tolist()], np.int64))


def group_persons(
    table: EncodedTable,
    schema: Schema,
    lengths: Ints,
    judge_of: Callable[[int], tuple[Judge, Ints]],
    rows_of: list[Ints] | None = None,
) -> Grouping:
    """Cut persons by the rows they keep (``lengths``), then each part as Mondrian does, by class if there is one.

    ``table`` has a row for each person, or, with ``rows_of`` (the rows of each person in it), for each row.
    ``judge_of`` has for each length the judge, and what it must know of each row (:meth:`Judge.of_rows`).
    """
    parents: list[int] = []
    nodes = np.zeros(len(lengths), np.int64)
    for length in np.unique(lengths).tolist():
        people = np.flatnonzero(lengths == length)
        rows, first, root = people, np.arange(len(people)), len(parents)
        if rows_of is not None:
            rows = np.concatenate([rows_of[person] for person in people.tolist()])
            first = np.cumsum([0, *(len(rows_of[person]) for person in people.tolist())])[:-1]
        judge, marks = judge_of(length)
        resting, above = _cut(table.take(rows), schema, judge, marks[rows])
        nodes[people] = resting[first] + root
        parents += [-1 if one < 0 else one + root for one in above.tolist()]
    return Grouping(np.array(parents, np.int64), nodes)


def _cut(table: EncodedTable, schema: Schema, judge: Judge, marks: Ints) -> tuple[Ints, Ints]:
    """The node that each row comes to rest at, and the node above each."""
    by_class = schema.target is not None
    dimensions = dimensions_of(table, schema, by_class)
    labels, classes = class_codes(table, schema.target)
    cuts = grow_cuts(dimensions, labels, len(classes), judge, marks, by_class=by_class, min_gain=None)
    tree = tree_of_cuts(cuts, dimensions, schema.target or "", classes)
    return np.asarray(tree.owners, np.int64)[route(tree.tree, table)], cuts.parents
