"""Persons in groups: first by how many rows they keep, then by their summaries; and groups that are taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.methods.histories.rows_of_persons import Ints
from incrowd.methods.judging import Judge
from incrowd.methods.partitioning.dimensions import dimensions_of
from incrowd.methods.partitioning.mondrian import class_codes, grow_cuts
from incrowd.methods.partitioning.tree_of_cuts import tree_of_cuts
from incrowd.trees.routing import route
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.schema import Schema


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
    made = tree_of_cuts(cuts, dimensions, schema.target or "", classes)
    return np.asarray(made.owners, np.int64)[route(made.tree, table)], cuts.parents
