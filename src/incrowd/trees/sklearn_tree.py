"""scikit-learn's trees in our shape: one-hot and ordinal columns folded back to the attribute.

scikit-learn sends a row with a missing value down one of the two branches. Here such a row rests at the node
that tests it, since a branch would claim a value the row does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, isinf
from sys import float_info
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import SchemaError
from incrowd.trees.packing import check_names, class_places, occurring_classes
from incrowd.trees.routing import route
from incrowd.trees.tree import Branch, Gt, Le, Node, Predicate, Tree, one_of
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable

MOST_INDICATORS = 4096  # each is a column of a matrix with all rows

Value = str | int | float


@dataclass(frozen=True)
class Feature:
    """What one column of the matrix given to scikit-learn means."""

    attribute: str  # the attribute it comes from
    value: Value | None = None  # if given, the column is 1 where the attribute has this value, else 0
    # If given, the column is the place of the value in this order. With neither, it is the number itself.
    order: tuple[Value, ...] = ()


@dataclass(frozen=True)
class SklearnInducer:
    """Lets a scikit-learn tree decide the tests.

    Parameters
    ----------
    estimator
        A ``DecisionTreeClassifier`` or ``ExtraTreeClassifier``. It is copied, never fitted itself.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> SklearnInducer(DecisionTreeClassifier(max_depth=3)).estimator.max_depth
    3
    """

    estimator: Any

    def grow(self, table: EncodedTable, attributes: Sequence[str], target: str) -> Tree:
        """Fit a copy of the estimator and read its tree; the counts are those of the rows that arrive."""
        from sklearn.base import clone

        check_names(table, attributes, target)
        features, matrix = encode(table, attributes)
        classes = occurring_classes(table[target])
        if not features:
            return recount(Tree((Node(None, (), (0,) * len(classes)),), target, classes), table)
        fitted = clone(self.estimator).fit(matrix, table[target].codes)
        columns = [table[feature.attribute] for feature in features]
        tree = _Folding(fitted, features, lambda place, cut: fitting_threshold(columns[place], cut)).tree(target)
        return recount(Tree(tree.nodes, target, classes), table)


def from_sklearn(fitted: Any, features: Sequence[Feature], target: str) -> Tree:
    """The tree of a fitted scikit-learn estimator; counts as the estimator has them.

    A row without missing values rests at the node that corresponds to ``fitted.apply``, whatever its numbers:
    thresholds account for scikit-learn's rounding of numbers to 32 bits.

    ``fitted``: a fitted ``DecisionTreeClassifier`` or ``ExtraTreeClassifier``. ``features``: the meaning of each column
    of the matrix it was fitted on. ``target``: name of the class column.
    """
    return _Folding(fitted, features, lambda _, cut: rounding_threshold(cut)).tree(target)


def encode(table: EncodedTable, attributes: Sequence[str]) -> tuple[tuple[Feature, ...], npt.NDArray[np.float32]]:
    """The matrix scikit-learn is given, and the meaning of its columns.

    Numbers are numbers and ordered categories their place, not-a-number where missing; everything else has
    one indicator for each value, none of them set where missing. A column without any value is left out.
    """
    blocks = [_features(table[name]) for name in attributes]
    matrix = np.zeros((table.height, sum(map(len, blocks))), np.float32)
    start = 0
    for name, block in zip(attributes, blocks, strict=True):
        column = table[name]
        if column.type.has_order and block:
            numbers = column.numbers if column.type.is_numeric else np.arange(column.width - 1)
            matrix[:, start] = np.append(numbers.astype(np.float32), np.nan)[column.codes]
        elif block:
            rows = np.flatnonzero(column.codes != column.missing_code)
            matrix[rows, start + column.codes[rows]] = 1
        start += len(block)
    return tuple(feature for block in blocks for feature in block), matrix


def _features(column: EncodedColumn) -> list[Feature]:
    """The features of one column."""
    if len(column.dictionary) == 0:
        return []
    if column.type.is_numeric:
        return [Feature(column.name)]
    values = column.dictionary.to_list()
    if column.type.has_order:
        return [Feature(column.name, order=tuple(values))]
    if len(values) > MOST_INDICATORS:
        raise SchemaError(
            f"Column {column.name!r} has {len(values)} values; a scikit-learn tree gets at most"
            f" {MOST_INDICATORS} indicators for a column. Use C45, or leave the column out."
        )
    return [Feature(column.name, value) for value in values]


def rounding_threshold(cut: float) -> float:
    """The largest 64-bit number that is not above ``cut`` after rounding to 32 bits."""
    if isinf(cut):
        return float_info.max if cut > 0 else -float_info.max
    below = np.float32(cut)
    if float(below) > cut:
        below = np.nextafter(below, np.float32(-np.inf))
    middle = (float(below) + float(np.nextafter(below, np.float32(np.inf)))) / 2
    return middle if np.float32(middle) == below else float(np.nextafter(middle, -np.inf))


def fitting_threshold(column: EncodedColumn, cut: float) -> int | float:
    """A plain threshold that divides the values of a column as scikit-learn does by ``cut``."""
    below = int(np.count_nonzero(column.numbers.astype(np.float32) <= np.float64(cut)))
    whole = column.numbers.dtype.kind == "i"
    exact = rounding_threshold(cut)
    plain: tuple[int | float, ...] = (floor(cut), floor(exact)) if whole and not isinf(cut) else (cut, exact)
    values = column.numbers.tolist()
    for threshold in plain:
        if not isinf(threshold) and all(
            (value <= threshold) == (place < below)
            for place, value in enumerate(values[max(0, below - 1) : below + 1], max(0, below - 1))
        ):
            return threshold
    return values[below - 1] if below else plain[-1]


class _Folding:
    """Reads the arrays of a fitted tree."""

    def __init__(
        self, fitted: Any, features: Sequence[Feature], threshold: Callable[[int, float], int | float]
    ) -> None:
        _check_fitted(fitted, features)
        self._fitted, self._features, self._threshold = fitted, features, threshold
        self._values: dict[str, list[Value]] = {}
        for feature in features:
            if feature.value is not None:
                self._values.setdefault(feature.attribute, []).append(feature.value)

    def tree(self, target: str) -> Tree:
        """Number the nodes level by level and translate the tests."""
        arrays = self._fitted.tree_
        left, right = arrays.children_left.tolist(), arrays.children_right.tolist()
        order = [0]
        for number in order:
            if left[number] >= 0:
                order.extend((left[number], right[number]))
        place = {number: new for new, number in enumerate(order)}
        counts = self._counts()
        nodes = []
        for number in order:
            if left[number] < 0:
                nodes.append(Node(None, (), counts[number]))
                continue
            feature = int(arrays.feature[number])
            below, above = self._test(feature, float(arrays.threshold[number]))
            branches = (Branch(below, place[left[number]]), Branch(above, place[right[number]]))
            nodes.append(Node(self._features[feature].attribute, branches, counts[number]))
        return Tree(tuple(nodes), target, tuple(self._fitted.classes_.tolist()))

    def _counts(self) -> list[tuple[float, ...]]:
        """Class histograms; whole numbers unless rows were weighted."""
        arrays = self._fitted.tree_
        counts = arrays.value[:, 0, :] * arrays.weighted_n_node_samples[:, None]
        whole = np.rint(counts)
        if np.allclose(counts, whole, atol=1e-6):
            return [tuple(row) for row in whole.astype(np.int64).tolist()]
        return [tuple(row) for row in counts.tolist()]

    def _test(self, place: int, cut: float) -> tuple[Predicate, Predicate]:
        """The predicates of the branches up to the cut and above it."""
        feature = self._features[place]
        if feature.order:
            first = sum(rank <= cut for rank in range(len(feature.order)))
            return one_of(feature.attribute, feature.order[:first]), one_of(feature.attribute, feature.order[first:])
        if feature.value is None:
            threshold = self._threshold(place, cut)
            return Le(feature.attribute, threshold), Gt(feature.attribute, threshold)
        others = [value for value in self._values[feature.attribute] if value != feature.value]
        below = [*(others if cut >= 0 else []), *([feature.value] if cut >= 1 else [])]
        above = [value for value in self._values[feature.attribute] if value not in below]
        return one_of(feature.attribute, below), one_of(feature.attribute, above)


def _check_fitted(fitted: Any, features: Sequence[Feature]) -> None:
    """Refuse what is not one fitted classification tree over these features."""
    if not hasattr(fitted, "tree_") or not hasattr(fitted, "classes_") or fitted.tree_.n_outputs != 1:
        raise SchemaError(
            "Give one fitted classification tree with one class, such as DecisionTreeClassifier;"
            " forests, regressors and unfitted trees cannot be read."
        )
    if fitted.n_features_in_ != len(features):
        raise SchemaError(
            f"The tree was fitted on {fitted.n_features_in_} columns; {len(features)} features are described."
        )


# Class counts of a tree whose nodes have none, or those of other rows.
def recount(tree: Tree, table: EncodedTable) -> Tree:
    """The same tree with the class histograms of the rows of a table, each row whole."""
    counts = np.zeros((len(tree.nodes), len(tree.classes)), np.int64)
    np.add.at(counts, (route(tree, table), class_places(tree, table)), 1)
    for number in range(len(tree.nodes) - 1, 0, -1):
        counts[tree.parents[number]] += counts[number]
    nodes = (
        Node(node.attribute, node.branches, tuple(histogram))
        for node, histogram in zip(tree.nodes, counts.tolist(), strict=True)
    )
    return Tree(tuple(nodes), tree.target, tree.classes)
