"""A table in memory, as algorithms know it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.engines.embedded.binning import bin_table
from incrowd.engines.embedded.dealing import deal
from incrowd.errors import PlanError
from incrowd.plan.steps import GROUP, Bin, Place
from incrowd.trees.routing import route
from incrowd.trees.tree import Tree
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.schema import ColumnType, Schema


@dataclass(frozen=True, eq=False)
class EmbeddedPopulation:
    """Encoded quasi-identifiers and target; after placing, the group of every row.

    Examples
    --------
    >>> from incrowd.vocabulary.randomness import SystemRandomness
    >>> column = EncodedColumn("a", ColumnType.TEXT, np.array([0, 0, 1], np.int32), pl.Series(["x"]))
    >>> EmbeddedPopulation(EncodedTable.of([column]), Schema(()), SystemRandomness()).rows
    3
    """

    table: EncodedTable
    schema: Schema
    randomness: Randomness
    groups: Codes | None = None
    _routed: dict[int, tuple[Tree, Codes]] = field(default_factory=dict, repr=False)
    _next: dict[int, tuple[Bin | Place, EmbeddedPopulation]] = field(default_factory=dict, repr=False)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.table.height

    def sample(self) -> EncodedTable:
        """All rows: memory holds them anyway."""
        return self._with_groups

    @cached_property
    def _with_groups(self) -> EncodedTable:
        if self.groups is None:
            return self.table
        count = int(self.groups.max(initial=-1)) + 1
        names = pl.int_range(count, eager=True)
        codes = np.where(self.groups < 0, count, self.groups).astype(np.int32)
        group = EncodedColumn(GROUP, ColumnType.INTEGER, codes, names)
        return EncodedTable.of([*self.table.columns.values(), group])

    def count(self, tree: Tree) -> npt.NDArray[np.int64]:
        """Rows that come to rest at each node, class by class."""
        width = len(tree.classes)
        cells = self._resting(tree).astype(np.int64) * width + self._labels(tree)
        return np.bincount(cells, minlength=len(tree.nodes) * width).reshape(len(tree.nodes), width)

    def bin(self, step: Bin) -> EmbeddedPopulation:
        """The same rows, the step's attributes seen as the bins they lie in."""
        if id(step) not in self._next:
            binned = replace(self, table=bin_table(self.table, step), _routed={}, _next={})
            self._next[id(step)] = (step, binned)
        return self._next[id(step)][1]

    def place(self, step: Place) -> EmbeddedPopulation:
        """The same rows, dealt to groups; the same step gives the same groups again."""
        if id(step) not in self._next:
            cells = self._resting(step.tree)
            if step.stratified:
                cells = cells.astype(np.int64) * len(step.tree.classes) + self._labels(step.tree)
            groups = deal(cells, step, self.randomness)
            placed = EmbeddedPopulation(self.table, self.schema, self.randomness, groups)
            self._next[id(step)] = (step, placed)
        return self._next[id(step)][1]

    def _resting(self, tree: Tree) -> Codes:
        """The node each row rests at; the walk through a tree is taken once."""
        if id(tree) not in self._routed:
            self._routed[id(tree)] = (tree, route(tree, self._with_groups))
        return self._routed[id(tree)][1]

    def _labels(self, tree: Tree) -> Codes:
        """The position of each row's class among the tree's classes."""
        column = self.table[tree.target]
        position = {label: i for i, label in enumerate(tree.classes)}
        values = [*column.dictionary.to_list(), None]
        if any(value not in position and rows for value, rows in zip(values, column.counts, strict=True)):
            raise PlanError(f"The tree does not know all classes of {tree.target!r}; was it grown on other data?")
        return np.array([position.get(value, 0) for value in values], np.int32)[column.codes]
