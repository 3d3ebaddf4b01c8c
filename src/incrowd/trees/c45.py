"""From table to tree: pack, grow, read back. ID3 and C4.5 differ only in their rules.

C4.5: gain ratio, thresholds, pessimistic pruning (Quinlan 1993; details as in Weka's J48).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.trees.levels import Grown, Limits, grow_levels, without_splits
from incrowd.trees.packing import Bins, Rules, Training, pack
from incrowd.trees.pruning import prune_and_raise, splits_to_keep
from incrowd.trees.tree import Branch, Eq, Gt, In, Le, Missing, Node, Predicate, Tree
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable


# From the kernel's arrays back to a tree with attribute names, values and thresholds.
def read_back(grown: Grown, training: Training, fractional: bool) -> Tree:
    """The tree the kernel grew."""
    readers = [_reader(column, bins) for column, bins in zip(training.attributes, training.bins, strict=True)]
    codes = grown.code.tolist()
    nodes = []
    child = 1
    for (a, low, high, branches), counts in zip(grown.splits.tolist(), grown.counts.tolist(), strict=True):
        if a < 0:
            nodes.append(Node(None, (), tuple(counts)))
            continue
        children = range(child, child + branches)
        predicates = readers[a]([codes[each] for each in children], low, high)
        tests = tuple(map(Branch, predicates, children))
        nodes.append(Node(training.attributes[a].name, tests, tuple(counts)))
        child += branches
    return Tree(tuple(nodes), training.target, training.classes, fractional)


def _reader(column: EncodedColumn, bins: Bins) -> Callable[[list[int], int, int], list[Predicate]]:
    """Gives the predicates of branches by their codes, and by the bins around the threshold where there is one."""
    name = column.name
    if not column.type.has_order:  # a branch for each value
        values = column.dictionary.gather(bins.first).to_list()
        predicates: list[Predicate] = [*(Eq(name, value) for value in values), Missing(name)]
        return lambda codes, _low, _high: [predicates[code] for code in codes]
    numbers = column.numbers if column.type.is_numeric else np.empty(0)
    occurring = numbers[column.counts[:-1] > 0] if column.type.is_numeric else numbers
    categories = [] if column.type.is_numeric else column.dictionary.to_list()

    def read(codes: list[int], low: int, high: int) -> list[Predicate]:
        """Up to a number, above it, missing; or the first categories of an order, the others, missing."""
        if column.type.is_numeric:
            threshold = largest_up_to_middle(occurring, numbers[bins.last[low]], numbers[bins.first[high]])
            choices: tuple[Predicate, ...] = (Le(name, threshold), Gt(name, threshold), Missing(name))
        else:
            at = int(bins.last[low]) + 1
            choices = (In(name, frozenset(categories[:at])), In(name, frozenset(categories[at:])), Missing(name))
        return [choices[code] for code in codes]

    return read


def largest_up_to_middle(occurring: npt.NDArray[Any], below: Any, above: Any) -> int | float:
    """The largest occurring number that is not above the middle of two numbers (C4.5's threshold).

    Whole numbers are compared as whole numbers, however large; for others, a middle that misses a decimal
    value only by rounding counts as that value.

    Examples
    --------
    >>> largest_up_to_middle(np.array([1, 3, 8]), 1, 8)
    3
    """
    if occurring.dtype.kind == "i":
        middle: int | float = (int(below) + int(above)) // 2
    else:
        rounding = 1e-9 * (float(above) - float(below))
        middle = min((float(below) + float(above)) / 2 + rounding, float(np.nextafter(above, below)))
    place = int(np.searchsorted(occurring, middle, side="right")) - 1
    return occurring[max(place, int(np.searchsorted(occurring, below)))].item()  # type: ignore[no-any-return]


def _grow(
    grower: C45 | ID3,
    table: EncodedTable,
    attributes: Sequence[str],
    target: str,
    rules: Rules,
    *,
    confidence: float | None = None,
    weights: Sequence[float] | None = None,
) -> Tree:
    """Grow a tree by the given rules within the grower's limits, pruned if a confidence is given."""
    training = pack(table, attributes, target, grower.bins, weights)
    smallest, weighted = max(2 * grower.min_branch, grower.min_node), grower.missing == "weight"
    grown = grow_levels(training.rows, training.columns, rules, Limits(smallest, grower.max_depth, weighted))
    if confidence is not None:
        grown = without_splits(grown, splits_to_keep(grown.counts.astype(float), grown.parents, confidence))
    return read_back(grown, training, weighted)


# Checks that the growers' parameters share.
def at_least(name: str, value: int | None, smallest: int) -> None:
    """Refuse anything but a whole number of at least ``smallest`` (or ``None``, where the type allows it)."""
    if value is None and name in ("bins", "max_depth"):
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < smallest:
        raise ParameterError(f"{name} must be a whole number of at least {smallest}.")


def fraction(name: str, value: float | None) -> None:
    """Refuse anything but a number above 0 and up to 0.5 (or ``None``)."""
    if value is None:
        return
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 0.5:
        raise ParameterError(f"{name} must be above 0 and at most 0.5, or None. Give for instance 0.25.")


def _check_limits(grower: C45 | ID3) -> None:
    """Refuse limits that no tree can be grown within, and an unknown policy for missing values."""
    at_least("min_branch", grower.min_branch, 1)
    at_least("min_node", grower.min_node, 1)
    at_least("bins", grower.bins, 2)
    at_least("max_depth", grower.max_depth, 0)
    if grower.missing not in ("stop", "branch", "weight"):
        raise ParameterError("missing must be 'stop', 'branch' or 'weight'.")


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
    weights
        For some attributes a factor of at least 1, by which their gain and their gain ratio count more.

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
    weights: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        _check_limits(self)
        fraction("confidence", self.confidence)
        if not all(isinstance(weight, int | float) and 1 <= weight < float("inf") for _, weight in self.weights):
            raise ParameterError("weights are pairs of an attribute and a factor of at least 1.")
        if self.raising and self.confidence is None:
            raise ParameterError("raising is a kind of pruning: give a confidence as well, for instance 0.25.")

    def grow(self, table: EncodedTable, attributes: Sequence[str], target: str) -> Tree:
        """Grow and prune a tree that tests the attributes to predict the target."""
        rules = Rules(float(self.min_branch), SIDE_SHARE, True, self.mdl, self.missing == "branch")
        weights = [dict(self.weights).get(name, 1.0) for name in attributes]
        early = None if self.raising else self.confidence
        tree = _grow(self, table, attributes, target, rules, confidence=early, weights=weights)
        return prune_and_raise(tree, self.confidence, table) if self.raising and self.confidence else tree


@dataclass(frozen=True)
class ID3:
    """ID3 (Quinlan 1986): grows trees by information gain and does not prune them.

    Numbers, dates and ordered categories are split in two by the threshold of the highest gain, everything
    else into one branch for each value that occurs at the node. Growing stops where no test has a gain.
    Parameters are as in :class:`C45`.
    """

    min_branch: int = 1
    bins: int | None = 1024
    missing: Literal["stop", "branch", "weight"] = "stop"
    max_depth: int | None = None
    min_node: int = 2

    def __post_init__(self) -> None:
        _check_limits(self)

    def grow(self, table: EncodedTable, attributes: Sequence[str], target: str) -> Tree:
        """Grow a tree that tests the attributes to predict the target."""
        rules = Rules(float(self.min_branch), 0.0, False, False, self.missing == "branch")
        return _grow(self, table, attributes, target, rules)
