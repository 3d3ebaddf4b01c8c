"""Classifiers on counts, naive Bayes and a tree: groups to learn from, plain rows to predict.

Inside a group nobody knows which value belongs to which row. So a group of n rows with the class counts n_c is taken as
n_c rows of each class, of which each has a value with the group's share of it, whatever its other values.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from incrowd.errors import HeaderError, ValuesError
from incrowd.recipients.counted_table import CountedColumn, CountedTable, bin_texts, cuts_of
from incrowd.tables.reading.read import read, read_release
from incrowd.vocabulary.schema import unknown_column

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CountedAttribute:
    """An attribute to learn from: its values, the share of each in each group, and for numbers the public cuts.

    ``shares`` is groups x values; a group that hides the attribute has zeros.
    """

    name: str
    values: tuple[str | None, ...]
    shares: Floats
    cuts: tuple[float | str, ...] | None

    @classmethod
    def of(cls, column: CountedColumn) -> CountedAttribute:
        """From what was published."""
        rows = np.maximum(column.counts.sum(axis=1, keepdims=True), 1)
        return cls(column.name, column.values, column.counts / rows, cuts_of(column))

    def codes(self, cells: pl.Series) -> Codes:
        """The position of each cell's value; -1 for a value that no group has."""
        bare = self.cuts is not None and (cells.dtype != pl.String or not cells.str.starts_with("(").any())
        words = (bin_texts(cells, self.cuts or ()) if bare else cells).cast(pl.String)
        known = {value: place for place, value in enumerate(self.values)}
        return np.array([known.get(word, -1) for word in words.to_list()], np.int64)


class CountsClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that learns from the counts of groups."""

    def _learned(self, X: Any, y: Any) -> Floats:
        """Keep what is known of attributes and classes; the rows of each group and class."""
        table = CountedTable.of(read_release(X, missing=[]).frame)
        if table.beside.width:
            raise HeaderError(
                f"{table.beside.columns[0]!r} is no column of counts. Learn from columns of counts only, or decode."
            )
        if y is None:
            raise ValuesError("The target y is None: there must be a class for each row of the release.")
        labels = column_or_1d(y)
        check_classification_targets(labels)
        if len(labels) != len(table.groups):
            raise ValuesError("There must be a class for each row of the release.")
        self.classes_, places = np.unique(labels, return_inverse=True)
        self.attributes_ = [CountedAttribute.of(column) for column in table.columns.values() if not column.hidden.all()]
        self.n_features_in_, self.feature_names_in_ = len(table.columns), np.array(list(table.columns), object)
        cells = table.groups * len(self.classes_) + places
        rows = np.bincount(cells, minlength=len(table.sizes) * len(self.classes_))
        return rows.reshape(len(table.sizes), len(self.classes_)).astype(np.float64)

    def _codes(self, X: Any) -> list[Codes]:
        """Plain rows as positions of values, attribute by attribute."""
        check_is_fitted(self, "attributes_")
        frame = read(X).frame
        for attribute in self.attributes_:
            if attribute.name not in frame.columns:
                raise HeaderError(unknown_column(attribute.name, frame.columns))
        return [attribute.codes(frame[attribute.name]) for attribute in self.attributes_]

    def predict_proba(self, X: Any) -> Floats:
        """The share of each class, in the order of ``classes_``, for plain rows: values, numbers or their bins."""
        codes = self._codes(X)
        return self._scores(codes, len(codes[0]) if codes else read(X).frame.height)

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
    >>> import polars as pl
    >>> release = pl.DataFrame({"age": ["(-inf, 30]:3"] * 3 + ["(30, inf):3"] * 3})
    >>> model = CountsNaiveBayes().fit(release, ["n", "n", "y", "y", "y", "y"])
    >>> model.predict(pl.DataFrame({"age": [25, 44]})).tolist()
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
    >>> import polars as pl
    >>> release = pl.DataFrame({"age": ["(-inf, 30]:30"] * 30 + ["(30, inf):30"] * 30})
    >>> model = CountsTree().fit(release, ["n"] * 30 + ["y"] * 30)
    >>> model.predict(pl.DataFrame({"age": [25, 44]})).tolist(), model.depth_
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
        self.tree_ = self._grown(_Part.of(rows, shares, [one.cuts is not None for one in self.attributes_]), 0)
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
    """The shares of each group; where the attribute is hidden, those of all groups that show it."""
    hidden = attribute.shares.sum(axis=1) == 0
    size = rows.sum(axis=1)
    overall = size @ attribute.shares
    return np.asarray(np.where(hidden[:, None], overall / max(overall.sum(), 1e-300), attribute.shares))


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
