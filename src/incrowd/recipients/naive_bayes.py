"""Naive Bayes on published counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from incrowd.recipients.learning import Codes, CountsClassifier, Floats


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
