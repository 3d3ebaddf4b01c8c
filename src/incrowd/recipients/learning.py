"""What classifiers on counts have in common: groups to learn from, plain rows to predict.

Inside a group nobody knows which value belongs to which row. So a group of n rows with the class counts n_c is taken as
n_c rows of each class, of which each has a value with the group's share of it, whatever its other values.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from incrowd.errors import HeaderError, ValuesError
from incrowd.recipients.bins import bin_texts, cuts_of
from incrowd.recipients.counted_table import CountedColumn, CountedTable
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
        labels = column_or_1d(y)
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
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

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
