"""Any classifier, learning from a verified release of its training rows: one object for grids and cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from incrowd.errors import ParameterError
from incrowd.estimators.releasing import Releasing
from incrowd.methods.catalog import AUTO, MethodOrName
from incrowd.vocabulary.hierarchy import Hierarchy


def _learner_has(name: str) -> Callable[[AnonymousClassifier], bool]:
    return lambda model: hasattr(getattr(model, "learner_", model.learner), name)


class AnonymousClassifier(ClassifierMixin, Releasing):  # type: ignore[misc]
    """A classifier that learns from a release of its training rows, never from the rows, and predicts plain rows.

    ``fit`` releases the rows, verified as any release is, and lets a copy of the learner learn from what a recipient
    would have: the release and its certificate. Cross-validation and grids then measure what recipients can learn.

    Parameters
    ----------
    learner
        Any classifier of scikit-learn.
    method
        The name of a method, or a method object. ``"blend"``, the default, is the one by which classifiers lose least
        on average, for it publishes counts; it uses no hierarchies and keeps no limits. ``"auto"``: what serves the
        learner best, by a short comparison on the training rows, see :class:`incrowd.methods.automatic.Auto`;
        ``parameters`` may say ``measure`` and ``seconds``. It takes as long as some dozen fits.
    k
        The smallest number of rows that may share their released quasi-identifiers; of persons, if rows have a
        ``person``.
    parameters
        Parameters of the method that is named.
    quasi_identifiers
        The columns an attacker may know; if left out, all that ``require`` does not name.
    require, class_sensitive, hierarchies, known_together, weights, at_most, apart, lose
        As for :func:`incrowd.release`.
    person
        The column of X that says whose row it is, where a person may have several. It is no feature: nothing is learned
        from it, and rows to predict need not have it. Where X has no such column, pass the persons to ``fit``.
    person_ids, missing_persons
        How persons are read, as for :func:`incrowd.release`.
    random_state
        For experiments only; chance is cryptographic if left out.

    Attributes
    ----------
    classes_
        The classes, as in y.
    learner_
        What was learned. It has seen nothing but the release, so it may go wherever the release may go.
    release_ : Release
        The release, with its certificate. The plan in it is the owner's.
    plan_, verdict_
        What was decided, and the independent recount: keep them, and with them this object.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.repeat([[1.0, 5.0], [2.0, 6.0]], 20, axis=0), np.repeat(["no", "yes"], 20)
    >>> model = AnonymousClassifier(LogisticRegression(), k=5).fit(X, y)
    >>> model.predict([[1.0, 5.0], [2.0, 6.0]]).tolist(), model.verdict_.passed
    (['no', 'yes'], True)
    """

    def __init__(
        self,
        learner: Any,
        method: Any = "blend",
        k: int = 10,
        *,
        parameters: Mapping[str, Any] | None = None,
        quasi_identifiers: Iterable[str] | None = None,
        require: Any = None,
        class_sensitive: bool | None = None,
        hierarchies: Mapping[str, Hierarchy | str | Path] | str | Path | None = None,
        known_together: Iterable[tuple[Iterable[str], int]] | None = None,
        weights: Mapping[str, float] | None = None,
        at_most: Mapping[str, int] | None = None,
        apart: Mapping[str, Any] | None = None,
        lose: str | float | None = None,
        person: str | None = None,
        person_ids: str | None = None,
        missing_persons: str | None = None,
        random_state: int | None = None,
    ) -> None:
        self.learner = learner
        self.method = method
        self.k = k
        self.parameters = parameters
        self.quasi_identifiers = quasi_identifiers
        self.require = require
        self.class_sensitive = class_sensitive
        self.hierarchies = hierarchies
        self.known_together = known_together
        self.weights = weights
        self.at_most = at_most
        self.apart = apart
        self.lose = lose
        self.person = person
        self.person_ids = person_ids
        self.missing_persons = missing_persons
        self.random_state = random_state

    def fit(self, X: Any, y: Any, person: Any = None) -> Self:
        """Release the rows and learn from the release; raises unless everything that is asked for holds.

        ``person`` has the person of each row, where rows are not persons and X has no column that says so.
        """
        self.release_, _ = self._released(X, y, person)
        self.learner_ = self._received(self.release_).classifier(self.learner)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each plain row."""
        frame = self._plain(X)
        return np.asarray(self.classes_[self._class_numbers(self.learner_.predict(frame))])

    @available_if(_learner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of each class for each plain row; 0 for a class that the release has lost."""
        frame = self._plain(X)
        return self._by_class(self.learner_.predict_proba(frame), lost=0.0)

    @available_if(_learner_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """The scores of each plain row, for each class; of two classes, for the second."""
        frame = self._plain(X)
        scores = self.learner_.decision_function(frame)
        scores = self._by_class(np.column_stack([-scores, scores]) if scores.ndim == 1 else scores, lost=-np.inf)
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def _plain(self, X: Any) -> pl.DataFrame:
        """Plain rows as a frame."""
        check_is_fitted(self, "learner_")
        return self._frame(X)[0]

    def _by_class(self, scores: npt.NDArray[np.float64], lost: float) -> npt.NDArray[np.float64]:
        """The learner's scores in the order of ``classes_``, which may be another than that of their names."""
        ordered = np.full((len(scores), len(self.classes_)), lost)
        ordered[:, self._class_numbers(self.learner_.classes_)] = scores
        return ordered

    def _method_and_parameters(self) -> tuple[MethodOrName, Mapping[str, Any]]:
        if self.method == AUTO.name:
            return AUTO.name, {"learners": [self.learner], **(self.parameters or {})}
        if isinstance(self.method, str):
            return self.method, self.parameters or {}
        if self.parameters:
            raise ParameterError("A method that is passed as an object has its parameters. Set them there.")
        return self.method, {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
