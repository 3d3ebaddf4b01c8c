"""C4.5: gain ratio, thresholds, pessimistic pruning (Quinlan 1993; details as in Weka's J48)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from incrowd.errors import ParameterError
from incrowd.trees.growing import at_least, check_missing, fraction
from incrowd.trees.tree import Tree
from incrowd.vocabulary.encoded_table import EncodedTable

SIDE_SHARE = 0.1  # of the rows for each class, as in C4.5 release 8


@dataclass(frozen=True)
class C45:
    """Grows trees by gain ratio.

    Categorical, boolean and text attributes get one branch for each value that occurs at the node. Numbers,
    dates and ordered categories are split in two by a threshold. Among the attributes whose gain is at least
    the average positive gain, the one with the best gain ratio is tested; ties go to the earlier attribute.

    Parameters
    ----------
    min_branch
        At least two branches of a test have this many rows. A side of a threshold needs a tenth of the
        node's rows per class as well, up to 25.
    confidence
        Confidence of the pessimistic error estimate that pruning compares; smaller prunes more. ``None``
        leaves the tree as it grew.
    raising
        Whether pruning may also replace a node by its largest branch.
    bins
        Numbers are counted in at most this many bins of equal size, so that a threshold is one of that many
        real values; ``None`` considers every value.
    missing
        ``"stop"``: a row with a missing tested value rests at the node. ``"branch"``: missing values have a
        branch of their own. ``"weight"``: the row is shared out over all branches.
    mdl
        Whether the gain of a threshold pays for choosing it among many.
    max_depth
        Largest number of tests on a path.
    min_node
        A node with fewer rows is not split.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> from incrowd.vocabulary.encoded_table import EncodedColumn
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> codes = np.array([0, 0, 0, 1, 1, 1], np.int32)
    >>> age = EncodedColumn("age", ColumnType.INTEGER, codes, pl.Series([20, 60]))
    >>> ill = EncodedColumn("ill", ColumnType.CATEGORICAL, codes, pl.Series(["no", "yes"]))
    >>> tree = C45().grow(EncodedTable.of([age, ill]), ["age"], "ill")
    >>> tree.nodes[0].branches[0]
    Branch(predicate=Le(attribute='age', threshold=20), child=1)
    """

    min_branch: int = 2
    confidence: float | None = 0.25
    raising: bool = False
    bins: int | None = 1024
    missing: Literal["stop", "branch", "weight"] = "stop"
    mdl: bool = True
    max_depth: int | None = None
    min_node: int = 2

    def __post_init__(self) -> None:
        at_least("min_branch", self.min_branch, 1)
        at_least("min_node", self.min_node, 1)
        at_least("bins", self.bins, 2)
        at_least("max_depth", self.max_depth, 0)
        fraction("confidence", self.confidence)
        check_missing(self.missing)
        if self.raising and self.confidence is None:
            raise ParameterError("raising is a kind of pruning: give a confidence as well, for instance 0.25.")

    def grow(self, table: EncodedTable, attributes: Sequence[str], target: str) -> Tree:
        """Grow and prune a tree that tests the attributes to predict the target."""
        from incrowd.trees.growing import grow
        from incrowd.trees.packing import Rules
        from incrowd.trees.pruning import prune

        rules = Rules(float(self.min_branch), SIDE_SHARE, True, self.mdl, self.missing == "branch")
        smallest = max(2 * self.min_branch, self.min_node)
        weighted, early = self.missing == "weight", None if self.raising else self.confidence
        tree = grow(table, attributes, target, rules, smallest, self.bins, self.max_depth, weighted, early)
        return prune(tree, self.confidence, table) if self.raising and self.confidence else tree
