"""Classifiers on counts, naive Bayes and a tree: groups to learn from, plain rows to predict.

Inside a group nobody knows which value belongs to which row. So a group of n rows with the class counts n_c is taken as
n_c rows of each class, of which each has a value with the group's share of it, whatever its other values.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from incrowd.errors import FileFormatError, HeaderError, ValuesError
from incrowd.recipients.cells import Cells, as_table, column_of, pieces_of
from incrowd.recipients.views import CategoryView, ReleasedColumn, view_of
from incrowd.vocabulary.counts_text import HIDDEN, read_counts
from incrowd.vocabulary.schema import ColumnType

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CountedAttribute:
    """An attribute to learn from: how its values are seen, and the share of each in each group.

    ``shares`` is groups x values; a group that hides the attribute has zeros, missing values are left out.
    """

    view: CategoryView
    shares: Floats

    @classmethod
    def of(cls, name: str, texts: Sequence[str], groups: Codes) -> CountedAttribute:
        """From the text of each row and the group it is in."""
        members = {text: read_counts(text) for text in set(texts)}
        if any(each is None for each in members.values()):
            raise HeaderError(f"{name!r} is no column of counts. Learn from columns of counts only, or decode.")
        words = {word for each in members.values() for word, _ in each or () if word is not None}
        kinds = (ColumnType.REAL, ColumnType.DATE)
        kind = next((each for each in kinds if words and _are_bins(words, each)), ColumnType.CATEGORICAL)
        ends = {end for word in words for piece in pieces_of(word, kind) for end in piece if kind.is_numeric}
        cuts = tuple(sorted(end for end in ends if math.isfinite(end)))
        firsts = np.unique(groups, return_index=True)[1]
        cells = Cells.of(pa.chunked_array([pa.array([texts[row] for row in firsts], pa.string())]))
        view = view_of(ReleasedColumn(name, kind, "counts", cuts), cells)
        assert isinstance(view, CategoryView)
        attribute = view.seen(cells)
        known = np.eye(len(view.categories) + 1)[attribute.values][:, :-1]  # the last place is missing
        return cls(view, known if attribute.shares is None else np.maximum(known, attribute.shares))


def _are_bins(words: Iterable[str], kind: ColumnType) -> bool:
    return all(word.startswith("(") and len(pieces_of(word, kind)) == 1 for word in words)


class CountsClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that learns from the counts of groups."""

    def _learned(self, X: Any, y: Any) -> Floats:
        """Keep what is known of attributes and classes; the rows of each group and class."""
        if y is None:
            raise ValuesError("The target y is None: there must be a class for each row of the release.")
        table, labels = as_table(X), column_or_1d(y)
        check_classification_targets(labels)
        if len(labels) != table.num_rows:
            raise ValuesError("There must be a class for each row of the release.")
        names = table.column_names
        columns = [[HIDDEN if text is None else str(text) for text in table.column(name).to_pylist()] for name in names]
        numbers: dict[tuple[str, ...], int] = {}
        groups = np.array([numbers.setdefault(row, len(numbers)) for row in zip(*columns, strict=True)], np.int64)
        every = [CountedAttribute.of(name, texts, groups) for name, texts in zip(names, columns, strict=True)]
        self._check_whole(numbers, groups)
        self.classes_, places = np.unique(labels, return_inverse=True)
        self.attributes_ = [attribute for attribute in every if attribute.shares.any()]
        self.n_features_in_, self.feature_names_in_ = len(names), np.array(names, object)
        rows = np.bincount(groups * len(self.classes_) + places, minlength=len(numbers) * len(self.classes_))
        return rows.reshape(len(numbers), len(self.classes_)).astype(np.float64)

    def _check_whole(self, numbers: Iterable[tuple[str, ...]], groups: Codes) -> None:
        sizes = np.bincount(groups).tolist()
        counted = [{sum(count for _, count in read_counts(text) or ()) for text in row} - {0} for row in numbers]
        if any(totals - {size} for totals, size in zip(counted, sizes, strict=True)):
            raise FileFormatError(
                "There are not as many rows in groups as their counts say. Read the whole release, before rows are "
                "chosen from it, with all of its columns of counts."
            )

    def _codes(self, X: Any) -> list[Codes]:
        """Plain rows as positions of values, attribute by attribute."""
        check_is_fitted(self, "attributes_")
        table = as_table(X)
        views = [attribute.view for attribute in self.attributes_]
        return [view.seen(column_of(table, view.name)).values.astype(np.int64) for view in views]

    def predict_proba(self, X: Any) -> Floats:
        """The share of each class, in the order of ``classes_``, for plain rows: values, numbers or their bins."""
        codes = self._codes(X)
        return self._scores(codes, len(codes[0]) if codes else as_table(X).num_rows)

    def predict(self, X: Any) -> Any:
        """The likeliest class of each plain row."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[likeliest]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # it learns from columns of counts, which are text
        tags.input_tags.string = True
        return tags

    @abstractmethod
    def _scores(self, codes: Sequence[Codes], rows: int) -> Floats:
        """The shares of classes."""


class CountsNaiveBayes(CountsClassifier):
    """Naive Bayes that learns from a release of counts, without dealing values out.

    How often a value goes with a class is the sum over groups of the rows of the class times the value's share of the
    group: what infinitely many deals would show on average.

    Parameters
    ----------
    smoothing
        Added to every count (Laplace).

    Examples
    --------
    >>> import pandas as pd
    >>> release = pd.DataFrame({"age": ["(-inf, 30]:3"] * 3 + ["(30, inf):3"] * 3})
    >>> model = CountsNaiveBayes().fit(release, ["n", "n", "y", "y", "y", "y"])
    >>> model.predict(pd.DataFrame({"age": [25, 44]})).tolist()
    ['n', 'y']
    """

    def __init__(self, smoothing: float = 1.0) -> None:
        self.smoothing = smoothing

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from columns of counts and the class of each row."""
        rows = self._learned(X, y)
        prior = rows.sum(axis=0) + self.smoothing
        self.log_prior_ = np.log(prior / prior.sum())
        self.log_likelihoods_ = []
        for attribute in self.attributes_:
            counts = rows.T @ attribute.shares + self.smoothing
            self.log_likelihoods_.append(np.log(counts / counts.sum(axis=1, keepdims=True)))
        return self

    def _scores(self, codes: Sequence[Codes], rows: int) -> Floats:
        scores = np.tile(self.log_prior_, (rows, 1))
        for places, likelihoods in zip(codes, self.log_likelihoods_, strict=True):
            known = places >= 0
            scores[known] += likelihoods[:, places[known]].T
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))


Mask = npt.NDArray[np.bool_]
_NOTHING = 1e-6  # rows


@dataclass(frozen=True, eq=False)
class CountNode:
    """A node: the share of each class, and, unless it is a leaf, which values of an attribute go to the first child."""

    shares: Floats
    attribute: int = -1
    first: Mask | None = None
    part: float = 0.0
    children: tuple[CountNode, ...] = ()


class CountsTree(CountsClassifier):
    """A binary decision tree that learns from a release of counts, without dealing values out.

    A group goes to both sides of a split, in the share of its values. A split is made where it saves more bits of the
    classes than it takes to describe (minimum description length), so that there is nothing to tune.

    Parameters
    ----------
    min_rows
        Rows, in fractions, that each side of a split has at least.
    max_depth
        Most splits above a leaf.

    Examples
    --------
    >>> import pandas as pd
    >>> release = pd.DataFrame({"age": ["(-inf, 30]:30"] * 30 + ["(30, inf):30"] * 30})
    >>> model = CountsTree().fit(release, ["n"] * 30 + ["y"] * 30)
    >>> model.predict(pd.DataFrame({"age": [25, 44]})).tolist(), model.depth_
    (['n', 'y'], 1)
    """

    def __init__(self, min_rows: float = 5.0, max_depth: int = 30) -> None:
        self.min_rows = min_rows
        self.max_depth = max_depth

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from columns of counts and the class of each row."""
        rows = self._learned(X, y)
        shares = [_filled(attribute, rows) for attribute in self.attributes_]
        self.depth_ = 0
        self.tree_ = self._grown(_Part.of(rows, shares, [one.view.ordered for one in self.attributes_]), 0)
        return self

    def _grown(self, part: _Part, depth: int) -> CountNode:
        self.depth_ = max(self.depth_, depth)
        totals = part.rows.sum(axis=0)
        shares = (totals + 1 / len(totals)) / (totals.sum() + 1)
        best = part.best_split(self.min_rows) if depth < self.max_depth else None
        if best is None:
            return CountNode(shares)
        attribute, first = best
        sides = [part.narrowed(attribute, side) for side in (first, ~first)]
        sizes = [float(side.rows.sum()) for side in sides]
        children = tuple(self._grown(side, depth + 1) for side in sides)
        return CountNode(shares, attribute, first, sizes[0] / sum(sizes), children)

    def _scores(self, codes: Sequence[Codes], rows: int) -> Floats:
        scores = np.zeros((rows, len(self.classes_)))
        _score(self.tree_, codes, np.arange(rows), np.ones(rows), scores)
        return scores


def _score(
    node: CountNode, codes: Sequence[Codes], rows: npt.NDArray[np.intp], weights: Floats, scores: Floats
) -> None:
    """Add what the leaves below a node say of rows; a value that nobody had goes both ways."""
    if not len(rows):
        return
    if not node.children or node.first is None:
        scores[rows] += weights[:, None] * node.shares
        return
    places = codes[node.attribute][rows]
    unknown = places < 0
    first = ~unknown & node.first[places]
    for child, way, part in zip(node.children, (first, ~first & ~unknown), (node.part, 1 - node.part), strict=True):
        taken = way | unknown
        _score(child, codes, rows[taken], np.where(unknown, weights * part, weights)[taken], scores)


def _filled(attribute: CountedAttribute, rows: Floats) -> Floats:
    """The shares of each group, missing values left out; where it is hidden, those of all groups that show it."""
    known = attribute.shares.sum(axis=1, keepdims=True)
    overall = rows.sum(axis=1) @ attribute.shares
    shares = attribute.shares / np.where(known > 0, known, 1.0)
    return np.asarray(np.where(known > 0, shares, overall / max(overall.sum(), 1e-300)))


@dataclass(frozen=True, eq=False)
class _Part:
    """What comes to a node: rows of each group and class, and the share of each value among them.

    ``shares`` is groups x values of all attributes side by side; ``places`` says where the values of an attribute are.
    """

    rows: Floats
    shares: Floats
    places: Sequence[slice]
    ordered: Sequence[bool]

    @classmethod
    def of(cls, rows: Floats, shares: Sequence[Floats], ordered: Sequence[bool]) -> _Part:
        ends = np.cumsum([0, *(share.shape[1] for share in shares)]).tolist()
        places = [slice(start, end) for start, end in pairwise(ends)]
        return cls(rows, np.hstack([*shares, np.empty((len(rows), 0))]), places, ordered)

    def narrowed(self, attribute: int, side: Mask) -> _Part:
        """The rows whose value is on a side; groups of which next to nothing is left are left out."""
        mine = self.shares[:, self.places[attribute]] * side
        share = mine.sum(axis=1)
        rows = self.rows * share[:, None]
        kept = rows.sum(axis=1) > _NOTHING
        shares = self.shares[kept]
        shares[:, self.places[attribute]] = mine[kept] / share[kept, None]
        return _Part(rows[kept], shares, self.places, self.ordered)

    def best_split(self, min_rows: float) -> tuple[int, Mask] | None:
        """The attribute and the values of the first side that save most, if they save more than they cost."""
        totals = self.rows.sum(axis=0)
        counts = self.rows.T @ self.shares
        whole = float(_bits(totals[:, None])[0])
        cost = (len(totals) - 1) / 2 * np.log2(max(totals.sum(), 2)) + np.log2(max(len(self.places), 1))
        best, saved = None, 0.0
        if whole <= cost:
            return None
        for attribute, place in enumerate(self.places):
            mine = counts[:, place]
            values = np.flatnonzero(mine.sum(axis=0) > _NOTHING)
            if len(values) < 2:
                continue
            for order in _orders(mine[:, values], self.ordered[attribute]):
                below = np.cumsum(mine[:, values[order]], axis=1)[:, :-1]
                above = np.maximum(totals[:, None] - below, 0)
                bits = whole - _bits(below) - _bits(above) - np.log2(max(len(values) - 1, 1))
                bits[(below.sum(axis=0) < min_rows) | (above.sum(axis=0) < min_rows)] = -np.inf
                at = int(bits.argmax())
                if bits[at] - cost > saved:
                    first = np.zeros(mine.shape[1], np.bool_)
                    first[values[order[: at + 1]]] = True
                    best, saved = (attribute, first), float(bits[at] - cost)
        return best


def _orders(counts: Floats, ordered: bool) -> Iterator[npt.NDArray[np.intp]]:
    """Orders of values to cut: their own, or by the share of each class in turn."""
    if ordered:
        yield np.arange(counts.shape[1])
        return
    shares = counts / counts.sum(axis=0)
    for of_class in shares[1:] if len(counts) == 2 else shares:
        yield np.argsort(of_class, kind="stable")


def _bits(counts: Floats) -> Floats:
    """n times the entropy of each column."""
    sums = counts.sum(axis=0)
    return np.asarray(_xlogx(sums) - _xlogx(counts).sum(axis=0))


def _xlogx(numbers: Floats) -> Floats:
    return numbers * np.log2(np.where(numbers > 0, numbers, 1.0))
