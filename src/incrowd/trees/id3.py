"""ID3: information gain, one branch for each value (Quinlan 1986)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from incrowd.trees.c45 import at_least, check_missing
from incrowd.trees.tree import Tree
from incrowd.vocabulary.encoded_table import EncodedTable


@dataclass(frozen=True)
class ID3:
    """Grows trees by information gain and does not prune them.

    Numbers, dates and ordered categories are split in two by the threshold of the highest gain, everything
    else into one branch for each value that occurs at the node. Growing stops where no test has a gain.
    """

    # min_branch, bins, missing, max_depth, min_node: As in :class:`incrowd.trees.c45.C45`
    min_branch: int = 1
    bins: int | None = 1024
    missing: Literal["stop", "branch", "weight"] = "stop"
    max_depth: int | None = None
    min_node: int = 2

    def __post_init__(self) -> None:
        at_least("min_branch", self.min_branch, 1)
        at_least("min_node", self.min_node, 1)
        at_least("bins", self.bins, 2)
        at_least("max_depth", self.max_depth, 0)
        check_missing(self.missing)

    def grow(self, table: EncodedTable, attributes: Sequence[str], target: str) -> Tree:
        """Grow a tree that tests the attributes to predict the target."""
        from incrowd.trees.c45 import grow
        from incrowd.trees.packing import Rules

        rules = Rules(float(self.min_branch), 0.0, False, False, self.missing == "branch")
        smallest = max(2 * self.min_branch, self.min_node)
        return grow(table, attributes, target, rules, smallest, self.bins, self.max_depth, self.missing == "weight")
