"""From table to tree: pack, grow, read back. ID3 and C4.5 differ only in their rules.

C4.5: gain ratio, thresholds, pessimistic pruning (Quinlan 1993; details as in Weka's J48).

Pessimistic pruning: a subtree becomes a leaf unless it promises fewer errors (Quinlan 1993, 4.2).

Pruning with subtree raising: a node may take the place of its parent (Quinlan 1993, 4.1). The rows of the replaced
node are distributed over the raised subtree, so this needs the training table and follows its rows. It costs much
more than plain pruning and rarely changes the accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.trees.levels import Grown, Limits, grow_levels, without_splits
from incrowd.trees.packing import Bins, Rules, Training, class_places, pack
from incrowd.trees.routing import RowPart, code_ranges, share_out
from incrowd.trees.tree import Branch, Eq, Gt, In, Le, Missing, Node, Predicate, Tree
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable

Floats = npt.NDArray[np.float64]

SLACK = 0.1  # errors: the smaller tree is taken where it promises about as few, as in C4.5 release 8


def splits_to_keep(counts: Floats, parents: npt.NDArray[np.int64], confidence: float) -> npt.NDArray[np.bool_]:
    """Which nodes stay split: those that promise fewer errors than a leaf.

    ``counts``: class histogram of each node; a parent comes before its children. ``parents``: the parent of each node;
    -1 for the root.
    """
    as_leaf = with_bound(counts.sum(axis=1), counts.sum(axis=1) - counts.max(axis=1), confidence)
    below = np.zeros_like(counts)
    np.add.at(below, parents[1:], counts[1:])
    staying = np.maximum(counts - below, 0)
    right = staying[np.arange(len(counts)), counts.argmax(axis=1)]
    at_node = with_bound(staying.sum(axis=1), staying.sum(axis=1) - right, confidence).tolist()
    inner = np.bincount(parents[1:], minlength=len(counts)) > 0
    kept = inner.tolist()
    leaf_errors, parent_of, errors = as_leaf.tolist(), parents.tolist(), [0.0] * len(counts)
    for number in reversed(range(len(counts))):
        fewest = leaf_errors[number]
        if kept[number]:
            as_is = at_node[number] + errors[number]
            kept[number] = fewest > as_is + SLACK
            fewest = as_is if kept[number] else fewest
        errors[parent_of[number]] += fewest
    return np.array(kept, np.bool_)


def estimated_errors(node: Node, children: Sequence[Node], confidence: float) -> float:
    """Errors of the majority class among the rows that stay at a node, with the upper confidence bound added."""
    moved = [sum(child.counts[label] for child in children) for label in range(len(node.counts))]
    staying = [max(0.0, count - gone) for count, gone in zip(node.counts, moved, strict=True)]
    majority = max(range(len(staying)), key=node.counts.__getitem__)
    return float(with_bound(sum(staying), sum(staying) - staying[majority], confidence))


def with_bound(rows: npt.ArrayLike, errors: npt.ArrayLike, confidence: float) -> Floats:
    """Errors with the upper confidence bound added; none where there are no rows."""
    rows, errors = np.asarray(rows, np.float64), np.asarray(errors, np.float64)
    return np.where(rows > 0, errors + added_errors(np.maximum(rows, 1e-9), errors, confidence), 0.0)


def added_errors(rows: npt.ArrayLike, errors: npt.ArrayLike, confidence: float) -> Floats:
    """What the upper confidence bound of a binomial error adds to the errors seen.

    As in C4.5 and Weka: exact for no error, the normal approximation from one error on (with continuity
    correction), a line in between.
    """
    rows, errors = np.asarray(rows, np.float64), np.asarray(errors, np.float64)
    none = rows * (1 - np.exp(np.log(confidence) / rows))
    between = none + errors * (_normal_bound(rows, np.maximum(errors, 1.0), confidence) - none)
    return np.where(errors < 1, between, _normal_bound(rows, errors, confidence))


def _normal_bound(rows: Floats, errors: Floats, confidence: float) -> Floats:
    """The normal approximation, from one error on."""
    z = NormalDist().inv_cdf(1 - confidence)
    share = (errors + 0.5) / rows
    spread = np.sqrt(np.maximum(share / rows - share**2 / rows + z**2 / (4 * rows**2), 0))
    bound = (share + z**2 / (2 * rows) + z * spread) / (1 + z**2 / rows) * rows - errors
    return np.where(errors + 0.5 >= rows, np.maximum(rows - errors, 0.0), bound)


def prune_and_raise(tree: Tree, confidence: float, table: EncodedTable) -> Tree:
    """Prune a tree from the bottom; a node becomes a leaf or its largest branch if that is no worse.

    ``table`` is the one the tree was grown on; of a node that is replaced by its largest branch, all rows go there.
    """
    return _Raising(tree, confidence, table).run()


class _Raising:
    def __init__(self, tree: Tree, confidence: float, table: EncodedTable) -> None:
        self._tree, self._confidence = tree, confidence
        self._nodes = list(tree.nodes)
        self._test = list(range(len(self._nodes)))  # whose test a node has now
        self._ranges = code_ranges(tree, table)
        self._labels = class_places(tree, table)

    def run(self) -> Tree:
        """Visit the nodes bottom-up, those of a raised subtree again."""
        height = len(self._labels)
        everybody = RowPart(np.arange(height), np.ones(height))
        path = [(0, everybody, self._children(0, everybody))]
        while path:
            node, part, unvisited = path[-1]
            if unvisited:
                child, below = unvisited.pop()
                path.append((child, below, self._children(child, below)))
            elif self._settle(node, part):
                path.pop()
            else:
                path[-1] = (node, part, self._children(node, part))
        return self._reached()

    def _reached(self) -> Tree:
        """The nodes that can still be reached, level by level, numbered anew."""
        reached = [0]
        for number in reached:
            reached.extend(branch.child for branch in self._nodes[number].branches)
        new = {number: place for place, number in enumerate(reached)}
        kept = [
            replace(node, branches=tuple(Branch(branch.predicate, new[branch.child]) for branch in node.branches))
            for node in (self._nodes[number] for number in reached)
        ]
        return replace(self._tree, nodes=tuple(kept))

    def _children(self, node: int, part: RowPart) -> list[tuple[int, RowPart]]:
        """The children of a node with their rows."""
        children = [branch.child for branch in self._nodes[node].branches]
        if not children:
            return []
        parts, _ = share_out(self._ranges, self._test[node], children, part, self._tree.fractional)
        return list(zip(children, parts, strict=True))

    def _settle(self, node: int, part: RowPart) -> bool:
        """Decide about a node whose children are settled; False if it was replaced: visit it again."""
        here = self._nodes[node]
        if here.is_leaf:
            return True
        as_leaf = estimated_errors(here, (), self._confidence)
        as_is = self._errors(node, {})
        largest = max((branch.child for branch in here.branches), key=lambda child: self._nodes[child].size)
        counts = self._counts_below(largest, part)
        raised = self._errors(largest, counts)
        if as_leaf <= min(as_is, raised) + SLACK:
            self._nodes[node] = Node(None, (), here.counts)
            return True
        if raised > as_is + SLACK:
            return True
        for number, histogram in counts.items():
            self._nodes[number] = replace(self._nodes[number], counts=histogram)
        self._nodes[node] = self._nodes[largest]
        self._test[node] = self._test[largest]
        return False

    def _counts_below(self, top: int, part: RowPart) -> dict[int, tuple[float, ...]]:
        """Class histograms of a subtree if these rows arrived at its top."""
        counts = {}
        waiting = [(top, part)]
        while waiting:
            node, part = waiting.pop()
            counts[node] = self._histogram(part)
            waiting.extend(self._children(node, part))
        return counts

    def _histogram(self, part: RowPart) -> tuple[float, ...]:
        """The class histogram of rows; whole numbers unless rows may be in parts."""
        sums = np.bincount(self._labels[part.rows], part.weights, len(self._tree.classes)).tolist()
        return tuple(sums) if self._tree.fractional else tuple(round(total) for total in sums)

    def _errors(self, top: int, counts: dict[int, tuple[float, ...]]) -> float:
        """Estimated errors of a subtree, with its own or other class histograms."""
        total = 0.0
        waiting = [top]
        while waiting:
            node = self._counted(waiting.pop(), counts)
            below = [branch.child for branch in node.branches]
            total += estimated_errors(node, [self._counted(child, counts) for child in below], self._confidence)
            waiting.extend(below)
        return total

    def _counted(self, number: int, counts: dict[int, tuple[float, ...]]) -> Node:
        node = self._nodes[number]
        return Node(node.attribute, node.branches, counts[number]) if number in counts else node


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
