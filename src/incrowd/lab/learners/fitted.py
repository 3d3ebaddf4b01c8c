"""A scikit-learn classifier that was fitted, as a model of the lab."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd.lab.examples import Examples, Numbers
from incrowd.trees.threads import one_thread


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A fitted classifier and how it wants its rows.

    Scores are probabilities where the classifier has them, else its decision function, else 1 for the class it
    predicts. A label without training rows scores 0, or below all others.
    """

    classifier: Any
    matrix: Callable[[Examples], Any]
    labels: int

    def scores(self, examples: Examples) -> Numbers:
        """The scores of the classes."""
        if examples.height == 0:
            return np.zeros((0, self.labels))
        with one_thread()(), quiet():
            found, lowest = self._found(self.matrix(examples))
        scores = np.full((examples.height, self.labels), lowest)
        scores[:, np.asarray(self.classifier.classes_, np.int64)] = found
        return scores

    def _found(self, matrix: Any) -> tuple[Numbers, float]:
        """Scores of the classes the classifier knows, and the score of the others."""
        if hasattr(self.classifier, "predict_proba"):
            return np.nan_to_num(np.asarray(self.classifier.predict_proba(matrix), np.float64)), 0.0
        if hasattr(self.classifier, "decision_function"):
            found = np.asarray(self.classifier.decision_function(matrix), np.float64)
            if found.ndim == 1:
                found = np.stack([-found, found], axis=1)
            return found, float(found.min()) - 1
        predicted = np.asarray(self.classifier.predict(matrix))
        return (predicted[:, None] == self.classifier.classes_[None, :]).astype(np.float64), 0.0


def quiet() -> warnings.catch_warnings[None]:
    """Inside, the libraries' warnings (no convergence, collinear columns) are not shown."""
    return warnings.catch_warnings(action="ignore")
