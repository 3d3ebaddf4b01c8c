"""C4.5 as a learner: our own kernel, pruned, on rows that may count more or less than one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from incrowd.comparisons.learners.learner import Examples, called, class_weights, repeated, weighing
from incrowd.recipients.matrix import Attribute, Codes, Numbers
from incrowd.trees.c45 import C45, SIDE_SHARE, read_back, splits_to_keep
from incrowd.trees.levels import Limits, grow_levels, without_splits
from incrowd.trees.packing import Rules, Training
from incrowd.trees.routing import class_shares
from incrowd.trees.tree import ClassValue, Tree
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import ColumnType

CLASS = ""  # no attribute is called that


def tabled(examples: Examples) -> EncodedTable:
    """The attributes under their names and the classes under the empty name."""
    classes = EncodedColumn(CLASS, ColumnType.CATEGORICAL, examples.classes.astype(np.int32), _text(examples.labels))
    return EncodedTable.of([*(column(attribute) for attribute in examples.attributes), classes])


def column(attribute: Attribute) -> EncodedColumn:
    """One attribute as codes into its distinct values; numbers ascending, ordered bins too, categories as they are."""
    missing = attribute.is_missing
    if attribute.categories is not None and not attribute.ordered:
        codes = np.where(missing, len(attribute.categories), attribute.values)
        return EncodedColumn(
            attribute.name, ColumnType.CATEGORICAL, codes.astype(np.int32), _text(attribute.categories)
        )
    values, places = np.unique(attribute.values[~missing], return_inverse=True)
    codes = np.full(len(attribute.values), len(values), np.int32)
    codes[~missing] = places
    return EncodedColumn(attribute.name, ColumnType.REAL, codes, pl.Series(values, dtype=pl.Float64))


def class_places(classes: Sequence[ClassValue], labels: tuple[str, ...]) -> Codes:
    """The place among the labels of each class a tree knows."""
    place = {label: number for number, label in enumerate(labels)}
    return np.array([place[str(value)] for value in classes], np.int64)


def _text(values: tuple[str, ...]) -> pl.Series:
    return pl.Series(list(values), dtype=pl.String)


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A tree; a row's scores are the class shares of the leaf where it ends, or of several by weight."""

    tree: Tree
    places: Codes
    labels: int

    def scores(self, examples: Examples) -> Numbers:
        """The shares of the classes."""
        scores = np.zeros((examples.height, self.labels))
        scores[:, self.places] = class_shares(self.tree, tabled(examples))
        return scores


@dataclass(frozen=True)
class C45Learner:
    """C4.5 with pessimistic pruning (Quinlan 1993).

    Rows may have any weights if ``missing`` is ``"weight"`` and nothing is raised; otherwise whole weights only.
    """

    confidence: float | None = 0.25
    min_branch: int = 2
    raising: bool = False
    bins: int | None = 1024
    missing: Literal["stop", "branch", "weight"] = "weight"

    def __post_init__(self) -> None:
        self._grower()

    @property
    def name(self) -> str:
        """What the catalog calls it."""
        return called("c45", self)

    def fit(self, examples: Examples, seed: int) -> TreeModel:  # noqa: ARG002
        """Grow and prune a tree; there is no chance in it."""
        class_weights(examples)
        tree = self._tree(weighing(examples))
        return TreeModel(tree, class_places(tree.classes, examples.labels), len(examples.labels))

    def _tree(self, examples: Examples) -> Tree:
        names = [attribute.name for attribute in examples.attributes]
        if examples.weights is not None and self.missing == "weight" and not self.raising:
            from incrowd.trees.packing import pack

            training = pack(tabled(examples), names, CLASS, self.bins)
            return WeightedC45(training, self.min_branch, self.confidence).grow(examples.weights)
        return self._grower().grow(tabled(repeated(examples, self.name)), names, CLASS)

    def _grower(self) -> C45:
        return C45(self.min_branch, self.confidence, self.raising, self.bins, self.missing)


@dataclass(frozen=True, eq=False)
class WeightedC45:
    """Grows pruned trees on the same packed rows again and again, each time with other weights.

    Rows with a missing tested value are shared out over all branches (``missing="weight"`` of
    :class:`incrowd.trees.c45.C45`, which grows the same tree where all weights are one).
    """

    training: Training
    min_branch: int
    confidence: float | None

    def grow(self, weights: Numbers) -> Tree:
        """The tree of the rows whose weight is above 0."""
        rows = np.flatnonzero(weights > 0)
        records = self.training.rows.reshape(-1, self.training.columns.stride)[rows].ravel()
        rules = Rules(float(self.min_branch), SIDE_SHARE, True, True, False)
        limits = Limits(2 * self.min_branch, weighted=True)
        grown = grow_levels(records, self.training.columns, rules, limits, 1, weights[rows])
        if self.confidence is not None:
            grown = without_splits(grown, splits_to_keep(grown.counts, grown.parents, self.confidence))
        return read_back(grown, self.training, True)
