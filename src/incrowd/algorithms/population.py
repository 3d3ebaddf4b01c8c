"""What an algorithm may ask about the table. Engines answer; an algorithm never sees where rows live."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from incrowd.plan.steps import Bin, Place
from incrowd.trees.tree import Tree
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.schema import Schema


class Population(Protocol):
    """The rows of a table, as an algorithm knows them.

    ``sample`` may leave rows out and serves heuristics only (which split, which merge). Counts are exact, over
    all rows, and are what promises are made of.
    """

    @property
    def schema(self) -> Schema:
        """The columns and their roles."""
        ...

    @property
    def rows(self) -> int:
        """Number of rows."""
        ...

    def sample(self) -> EncodedTable:
        """Encoded quasi-identifiers and target of all rows or of a random part of them.

        Once rows are placed the table has one more column, ``GROUP``: the group of each row.
        """
        ...

    def count(self, tree: Tree) -> npt.NDArray[np.int64]:
        """Rows that come to rest at each node, class by class: an array of nodes x classes."""
        ...

    def bin(self, step: Bin) -> Population:
        """The same rows, the step's attributes seen as the bins they lie in: categories named by their interval."""
        ...

    def place(self, step: Place) -> Population:
        """The same rows, dealt to groups as the step says.

        Which rows go where is decided by chance, once: placing by the same step again gives the same groups.
        """
        ...
