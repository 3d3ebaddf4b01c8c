"""Any scikit-learn classifier as an adversary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from incrowd.adversaries.features import Features
from incrowd.adversaries.published import PublishedTable
from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.errors import ParameterError
from incrowd.trees.threads import one_thread


def _svm() -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(random_state=0)


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=100, random_state=0)


def _boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0)


def _neighbours() -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier()


ESTIMATORS: Mapping[str, Callable[[], Any]] = MappingProxyType(
    {"svm": _svm, "logistic": _logistic, "forest": _forest, "boosting": _boosting, "knn": _neighbours}
)


@dataclass(frozen=True)
class SklearnAdversary:
    """A classifier that is trained on the rows that show a value of the attribute.

    Parameters
    ----------
    name
        Its name in reports; one of ``svm``, ``logistic``, ``forest``, ``boosting``, ``knn`` if no estimator is given.
    estimator
        A classifier; a copy of it is trained.
    most_rows
        It is trained on at most so many rows, taken evenly from all; on all of them if not given.

    Examples
    --------
    >>> SklearnAdversary("svm").name
    'svm'
    >>> SklearnAdversary("oracle")
    Traceback (most recent call last):
    ...
    incrowd.errors.ParameterError: There is no adversary 'oracle'. Known: boosting, forest, knn, logistic, svm.
    """

    name: str
    estimator: Any = None
    most_rows: int | None = None

    def __post_init__(self) -> None:
        if self.estimator is None and self.name not in ESTIMATORS:
            known = ", ".join(sorted(ESTIMATORS))
            raise ParameterError(f"There is no adversary {self.name!r}. Known: {known}.")

    @property
    def costly(self) -> bool:
        """Training takes long."""
        return True

    def study(self, published: PublishedTable, attribute: str, shown: int) -> SklearnStudent:
        """Train on the rows that show a value below the given node."""
        rows = published.rows_showing(attribute, published.taxonomy(attribute).leaves_below(shown))
        published.work.scans += 1
        if self.most_rows is not None and len(rows) > self.most_rows:
            rows = rows[np.linspace(0, len(rows) - 1, self.most_rows).astype(np.intp)]
        labels = published.nodes(attribute)[rows]
        features = Features(published, published.others(attribute))
        classes = np.unique(labels)
        if len(classes) < 2:
            return SklearnStudent(None, features, int(classes[0]) if len(classes) else HIDDEN)
        model = self._fresh()
        dense = "HistGradientBoosting" in type(model).__name__
        if hasattr(model, "n_neighbors"):
            model.n_neighbors = min(model.n_neighbors, len(rows))
        found, alone = features.of(rows), one_thread()
        with alone():
            model.fit(found.toarray() if dense else found, labels)
        return SklearnStudent(model, features, HIDDEN, dense, alone)

    def _fresh(self) -> Any:
        if self.estimator is None:
            return ESTIMATORS[self.name]()
        from sklearn.base import clone

        return clone(self.estimator)


@dataclass(frozen=True)
class SklearnStudent:
    """A trained classifier; without two classes to tell apart, the only one there is."""

    model: Any
    features: Features
    only: int
    dense: bool = False
    alone: Callable[[], AbstractContextManager[object]] = nullcontext

    def guess(self, row: int) -> int | None:
        """The class the model predicts."""
        if self.model is None:
            return self.only or None
        found = self.features.of(np.array([row], np.intp))
        with self.alone():
            return int(self.model.predict(found.toarray() if self.dense else found)[0])
