"""A table in memory, as algorithms know it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.engines.embedded.binning import bin_table
from incrowd.engines.embedded.combining import combine, first_rows
from incrowd.engines.embedded.dealing import Shares, deal, seated
from incrowd.engines.embedded.hiding import drop_rows, hide_rows, rare_rows
from incrowd.engines.embedded.recoding import recode_table
from incrowd.methods.population import Combinations
from incrowd.plan.steps import DROPPED, GROUP, Bin, Hide, Place, Recode, Seat
from incrowd.trees.packing import class_places
from incrowd.trees.routing import route
from incrowd.trees.tree import Tree
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.schema import ColumnType, Schema


@dataclass(frozen=True, eq=False)
class EmbeddedPopulation:
    """Encoded quasi-identifiers, target and columns of the requirement; after placing, the group of every row.

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
    _next: dict[int, tuple[Any, EmbeddedPopulation]] = field(default_factory=dict, repr=False)

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

    def histograms(self, tree: Tree, name: str) -> npt.NDArray[np.int64]:
        """Rows that come to rest at each node, by their value of a column."""
        column = self.table[name]
        cells = self._resting(tree).astype(np.int64) * column.width + column.codes
        return np.bincount(cells, minlength=len(tree.nodes) * column.width).reshape(len(tree.nodes), column.width)

    def contingency(self, name: str) -> npt.NDArray[np.int64]:
        """Rows per code of an attribute and class."""
        column = self.table[name]
        return self._by_class(column.codes.astype(np.int64), column.width, np.arange(self.rows))

    def combinations(self, names: Sequence[str]) -> Combinations:
        """The combinations of these attributes that occur among the rows that are not left out."""
        kept = self.kept
        columns = [self.table[name].take(kept) for name in names]
        numbers, count = combine(columns, len(kept))
        first = first_rows(numbers, count)
        codes = [column.codes[first] for column in columns]
        shape = np.stack(codes, axis=1) if codes else np.empty((count, 0), np.int32)
        return Combinations(shape, self._by_class(numbers, count, kept))

    @property
    def kept(self) -> npt.NDArray[np.intp]:
        """The rows that are not left out."""
        return np.arange(self.rows) if self.groups is None else np.flatnonzero(self.groups != DROPPED)

    def _by_class(self, cells: npt.NDArray[np.int64], count: int, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
        """Rows per cell and class; without a target there is one class."""
        if self.schema.target is None:
            return np.bincount(cells, minlength=count).reshape(count, 1)
        target = self.table[self.schema.target]
        keys = cells * target.width + target.codes[rows]
        return np.bincount(keys, minlength=count * target.width).reshape(count, target.width)

    def recode(self, step: Recode) -> EmbeddedPopulation:
        """The same rows, the step's attributes seen as the parts their values belong to."""
        return self._once(step, lambda: self._changed(recode_table(self.table, step), self.groups))

    def hide(self, step: Hide) -> EmbeddedPopulation:
        """The same rows, nothing shown of the step's attributes where their combination is rare."""

        def hidden() -> EmbeddedPopulation:
            rows = rare_rows(self.table, step, self.kept)
            if step.drop:
                return self._changed(self.table, drop_rows(self.groups, self.rows, rows))
            return self._changed(hide_rows(self.table, step, rows), self.groups)

        return self._once(step, hidden)

    def bin(self, step: Bin) -> EmbeddedPopulation:
        """The same rows, the step's attributes seen as the bins they lie in."""
        return self._once(step, lambda: self._changed(bin_table(self.table, step), self.groups))

    def place(self, step: Place) -> EmbeddedPopulation:
        """The same rows, dealt to groups; the same step gives the same groups again."""
        return self._once(step, lambda: self.dealt(step, Shares.of(step)))

    def dealt(self, step: Place, shares: Shares) -> EmbeddedPopulation:
        """The same rows, dealt to the groups of a step, so many as the shares say."""
        return self._changed(self.table, deal(self._cells(step), shares, self.randomness))

    def seat(self, step: Seat) -> EmbeddedPopulation:
        """The same rows, each in the group the step gives it."""
        return self._once(step, lambda: self._changed(self.table, seated(step, self.rows)))

    def resting(self, step: Place) -> npt.NDArray[np.int64]:
        """Rows that rest in each cell of a placing step."""
        return np.bincount(self._cells(step), minlength=step.cells)

    def _cells(self, step: Place) -> npt.NDArray[np.integer]:
        """The cell each row rests in: its node, or its node and class."""
        cells = self._resting(step.tree)
        if step.stratified:
            return cells.astype(np.int64) * len(step.tree.classes) + self._labels(step.tree)
        return cells

    def _once(self, step: object, make: Callable[[], EmbeddedPopulation]) -> EmbeddedPopulation:
        """The population after a step; asked again, the same one."""
        if id(step) not in self._next:
            self._next[id(step)] = (step, make())
        return self._next[id(step)][1]

    def _changed(self, table: EncodedTable, groups: Codes | None) -> EmbeddedPopulation:
        return EmbeddedPopulation(table, self.schema, self.randomness, groups)

    def _resting(self, tree: Tree) -> Codes:
        """The node each row rests at; the walk through a tree is taken once."""
        if id(tree) not in self._routed:
            self._routed[id(tree)] = (tree, route(tree, self._with_groups))
        return self._routed[id(tree)][1]

    def _labels(self, tree: Tree) -> Codes:
        """The position of each row's class among the tree's classes; a tree without a target has one."""
        if not tree.target:
            return np.zeros(self.rows, np.int32)
        return class_places(tree, self.table).astype(np.int32)
