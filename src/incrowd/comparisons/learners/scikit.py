"""scikit-learn's classifiers as learners: the usual ones, and any other by its name."""

from __future__ import annotations

import importlib
import inspect
import warnings
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np

from incrowd.comparisons.learners.learner import (
    Constant,
    Examples,
    class_shares,
    is_hopeless,
    repeated,
    weighing,
    with_parameters,
)
from incrowd.errors import InputError, ParameterError
from incrowd.recipients.encoding import Fitted
from incrowd.recipients.matrix import Missing, Numbers
from incrowd.trees.compiled import one_thread
from incrowd.vocabulary.option import nearest


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A fitted classifier and how it wants its rows.

    Scores are probabilities where the classifier has them, else its decision function, else 1 for the class it
    predicts. A label without training rows scores 0, or below all others.
    """

    fitted: Fitted
    labels: int

    @property
    def classifier(self) -> Any:
        """What learned."""
        return self.fitted.estimator

    def scores(self, examples: Examples) -> Numbers:
        """The scores of the classes."""
        if examples.height == 0:
            return np.zeros((0, self.labels))
        with one_thread()(), quiet():
            known, lowest = self._known_scores(self.fitted.matrix(examples))
        scores = np.full((examples.height, self.labels), lowest)
        scores[:, np.asarray(self.classifier.classes_, np.int64)] = known
        return scores

    def _known_scores(self, matrix: Any) -> tuple[Numbers, float]:
        """Scores of the classes the classifier knows, and the score of the others."""
        if hasattr(self.classifier, "predict_proba"):
            return np.nan_to_num(np.asarray(self.classifier.predict_proba(matrix), np.float64)), 0.0
        if hasattr(self.classifier, "decision_function"):
            margins = np.asarray(self.classifier.decision_function(matrix), np.float64)
            if margins.ndim == 1:
                margins = np.stack([-margins, margins], axis=1)
            return margins, float(margins.min()) - 1
        predicted = np.asarray(self.classifier.predict(matrix))
        return (predicted[:, None] == self.classifier.classes_[None, :]).astype(np.float64), 0.0


def quiet() -> warnings.catch_warnings[None]:
    """Inside, the libraries' warnings (no convergence, collinear columns) are not shown."""
    return warnings.catch_warnings(action="ignore")


Parameters = tuple[tuple[str, Any], ...]
Way = Literal["auto", "ordinal", "one-hot"]


@dataclass(frozen=True)
class Scikit:
    """A classifier of scikit-learn.

    It runs in one thread, with the seed of the trial. Where it takes no weights, whole ones are repeated rows.
    """

    word: str  # what the catalog calls it
    path: str  # module and class, for instance ``sklearn.tree.DecisionTreeClassifier``
    parameters: Parameters = ()  # those of the classifier that were asked for; they are part of the name
    encoding: Way = "auto"  # as recipients have it; or "ordinal", "one-hot"
    missing: Missing = "zeros"  # what "one-hot" does, see incrowd.recipients.matrix.OneHot

    def __post_init__(self) -> None:
        if self.encoding not in ("auto", "ordinal", "one-hot"):
            raise ParameterError("encoding must be one of auto, ordinal, one-hot.")
        if self.missing not in ("zeros", "indicator", "mode"):
            raise ParameterError("missing must be one of zeros, indicator, mode.")
        known = self._classifier().get_params(deep=False)
        for parameter, _ in self.parameters:
            if parameter not in known:
                hint = nearest(parameter, {name: repr(name) for name in known})
                raise ParameterError(
                    f"{self.word} has no parameter {parameter!r}.{hint} It has: {', '.join(sorted(known))};"
                    " and encoding, missing."
                )

    @property
    def name(self) -> str:
        """The word, with the parameters that were asked for."""
        fed = {"encoding": self.encoding, "missing": self.missing}
        usual = {"encoding": "auto", "missing": "zeros"}
        unusual = {name: value for name, value in fed.items() if value != usual[name]}
        return with_parameters(self.word, dict(self.parameters) | unusual)

    def fit(self, examples: Examples, seed: int) -> FittedModel | Constant:
        """Fit the classifier; with one class, or without any known value, the class shares are all there is."""
        examples = weighing(examples)
        if is_hopeless(examples):
            return Constant(class_shares(examples))
        from sklearn.utils.validation import has_fit_parameter

        classifier = self._seeded(seed)
        if not has_fit_parameter(classifier, "sample_weight"):
            examples = repeated(examples, self.name)
        try:
            with one_thread()(), quiet():
                fitted = Fitted.of(classifier, examples, examples.classes, self._kind(classifier), self.missing)
        except ValueError as refused:
            if type(refused).__name__ == "InvalidParameterError":
                raise ParameterError(f"{self.name} cannot be had: {refused}") from None
            raise InputError(  # the message itself may quote a cell
                f"{self.name} cannot learn from these rows: scikit-learn refuses them. Try another learner."
            ) from None
        return FittedModel(fitted, len(examples.labels))

    def _classifier(self) -> Any:
        """A fresh classifier with its parameters."""
        factory = classifier_class(self.path)
        known = inspect.signature(factory).parameters
        try:
            return factory(**{name: value for name, value in self.parameters if name in known})
        except TypeError:
            raise ParameterError(f"{self.word} is made of other classifiers; it cannot be had by its name.") from None

    def _seeded(self, seed: int) -> Any:
        classifier = self._classifier()
        chosen = {"random_state": seed, "n_jobs": 1}
        known = classifier.get_params(deep=False)
        own = dict(self.parameters)
        return classifier.set_params(
            **{name: value for name, value in chosen.items() if name in known and name not in own}
        )

    def _kind(self, classifier: Any) -> str | None:
        """The kind of learner that was asked for; None is its own."""
        if self.encoding == "ordinal":
            return "trees" if classifier.__sklearn_tags__().input_tags.allow_nan else "numbers"
        return "linear" if self.encoding == "one-hot" else None


def classifier_class(path: str) -> Any:
    """The class at a path within scikit-learn."""
    from sklearn.base import ClassifierMixin

    module, _, name = path.rpartition(".")
    try:
        candidate = getattr(importlib.import_module(module), name, None) if path.startswith("sklearn.") else None
    except ImportError:
        candidate = None
    if isinstance(candidate, type) and issubclass(candidate, ClassifierMixin):
        return candidate
    raise ParameterError(f"scikit-learn has no classifier {path!r}.{_hint(name)}")


def scikit_named(word: str, parameters: dict[str, Any]) -> Scikit | None:
    """The learner for a class of scikit-learn, by its path or by its name alone; None if there is no such class."""
    path = word if word.startswith("sklearn.") else _all_classifiers().get(word.lower())
    return None if path is None else scikit(word, path, parameters)


def scikit(word: str, path: str, parameters: dict[str, Any]) -> Scikit:
    """A classifier with parameters; ``encoding`` and ``missing`` are ours, the others its own."""
    ours = {name: value for name, value in parameters.items() if name in ("encoding", "missing")}
    theirs = tuple((name, value) for name, value in parameters.items() if name not in ours)
    return replace(Scikit(word, path, theirs), **ours)


def close_classifiers(word: str) -> list[str]:
    """The names of scikit-learn's classifiers that look like a word."""
    names = {path.rpartition(".")[2].lower(): path.rpartition(".")[2] for path in _all_classifiers().values()}
    return [names[close] for close in get_close_matches(word.rpartition(".")[2].lower(), names, n=1)]


def _hint(name: str) -> str:
    close = close_classifiers(name)
    return f" Did you mean {close[0]!r}?" if close else ""


def _all_classifiers() -> dict[str, str]:
    """The path of each classifier, by its name in small letters."""
    from sklearn.utils import all_estimators

    with quiet():
        classifiers = all_estimators(type_filter="classifier")
    return {name.lower(): f"{each.__module__}.{name}" for name, each in classifiers}


@dataclass(frozen=True)
class ScikitObject(Scikit):
    """A classifier that was passed as an object: a copy of it learns."""

    classifier: Any = None

    def __post_init__(self) -> None:
        """It has its parameters already."""

    def _classifier(self) -> Any:
        from sklearn.base import clone

        return clone(self.classifier)

    def _seeded(self, seed: int) -> Any:
        """A copy, of which each part has the seed of the trial where its chance is left open, and one thread."""
        classifier, chosen = self._classifier(), {"random_state": seed, "n_jobs": 1}
        open_ones = {name: name.rpartition("__")[2] for name, value in classifier.get_params().items() if value is None}
        return classifier.set_params(**{name: chosen[last] for name, last in open_ones.items() if last in chosen})


def scikit_object(classifier: Any) -> ScikitObject:
    """The learner of a classifier like scikit-learn's; its name is its class with the parameters that are not usual.

    Examples
    --------
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> scikit_object(BernoulliNB(alpha=2.0)).name
    'BernoulliNB(alpha=2.0)'
    """
    usual = inspect.signature(type(classifier)).parameters
    own = {
        name: value if isinstance(value, str | int | float | None) else type(value).__name__
        for name, value in classifier.get_params(deep=False).items()
        if name in usual and repr(value) != repr(usual[name].default)
    }
    return ScikitObject(type(classifier).__name__, "", tuple(own.items()), classifier=classifier)
