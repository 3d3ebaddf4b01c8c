"""scikit-learn's classifiers as learners: the usual ones, and any other by its name."""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np

from incrowd.comparisons.learners.learner import (
    Constant,
    Examples,
    called,
    class_shares,
    is_hopeless,
    repeated,
    weighing,
    with_parameters,
)
from incrowd.errors import InputError, ParameterError
from incrowd.recipients.matrix import Missing, Numbers, OneHot, Ordinal
from incrowd.trees.compiled import one_thread
from incrowd.vocabulary.option import nearest


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
            known, lowest = self._known_scores(self.matrix(examples))
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


DENSE_CELLS = 50_000_000  # up to here neighbours are found among dense rows, five times as quickly

Parameters = tuple[tuple[str, Any], ...]
Encoding = Literal["auto", "ordinal", "one-hot"]


@dataclass(frozen=True)
class Scikit:
    """A classifier of scikit-learn.

    It runs in one thread, with the seed of the trial. Where it takes no weights, whole ones are repeated rows.
    """

    word: str  # what the catalog calls it
    path: str  # module and class, for instance ``sklearn.tree.DecisionTreeClassifier``
    parameters: Parameters = ()  # those of the classifier that were asked for; they are part of the name
    usual: Parameters = ()  # those we give it where nothing else is asked for
    encoding: Encoding = "auto"  # "ordinal" with missing as NaN if the classifier takes it, else "one-hot"
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
        classifier, matrix = self._encoded(classifier, examples)
        if hasattr(classifier, "n_neighbors"):
            classifier.set_params(n_neighbors=min(classifier.n_neighbors, examples.height))
        weights = {} if examples.weights is None else {"sample_weight": examples.weights}
        try:
            with one_thread()(), quiet():
                classifier.fit(matrix(examples), examples.classes, **weights)
        except ValueError as refused:
            if type(refused).__name__ == "InvalidParameterError":
                raise ParameterError(f"{self.name} cannot be had: {refused}") from None
            raise InputError(  # the message itself may quote a cell
                f"{self.name} cannot learn from these rows: scikit-learn refuses them. Try another learner."
            ) from None
        return FittedModel(classifier, matrix, len(examples.labels))

    def _classifier(self) -> Any:
        """A fresh classifier with its parameters."""
        factory = classifier_class(self.path)
        known = inspect.signature(factory).parameters
        settings = dict(self.usual) | {name: value for name, value in self.parameters if name in known}
        try:
            return factory(**settings)
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

    def _encoded(self, classifier: Any, examples: Examples) -> tuple[Any, Callable[[Examples], Any]]:
        """The classifier, told about its columns, and how it wants its rows."""
        tags = classifier.__sklearn_tags__().input_tags
        if self.encoding == "ordinal" or (self.encoding == "auto" and tags.allow_nan):
            ordinal = Ordinal.of(examples)
            if "categorical_features" in classifier.get_params(deep=False):
                classifier.set_params(categorical_features=list(ordinal.is_category))
            return classifier, ordinal.matrix if tags.allow_nan else _filled(ordinal)
        one_hot = OneHot.of(examples, self.missing)
        if tags.positive_only:
            return classifier, lambda rows: _positive(one_hot.matrix(rows), tags.sparse)
        near = hasattr(classifier, "n_neighbors") and examples.height * one_hot.width <= DENSE_CELLS
        if tags.sparse and not near:
            return classifier, one_hot.matrix
        return classifier, lambda rows: one_hot.matrix(rows).toarray()


def _filled(ordinal: Ordinal) -> Callable[[Examples], Any]:
    """Codes with -1 for missing, for classifiers that take no NaN."""
    return lambda rows: np.nan_to_num(ordinal.matrix(rows), nan=-1.0)


def _positive(matrix: Any, sparse: bool) -> Any:
    """Standardised numbers moved to where none is negative: below the mean counts as 0."""
    positive = matrix.maximum(0)
    return positive if sparse else positive.toarray()


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


def scikit(word: str, path: str, parameters: dict[str, Any], usual: Parameters = ()) -> Scikit:
    """A classifier with parameters; ``encoding`` and ``missing`` are ours, the others its own."""
    ours = {name: value for name, value in parameters.items() if name in ("encoding", "missing")}
    theirs = tuple((name, value) for name, value in parameters.items() if name not in ours)
    kept = tuple((name, value) for name, value in usual if name not in parameters)
    return replace(Scikit(word, path, theirs, kept), **ours)


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


LARGEST_HESSIAN = 500  # columns times classes; beyond, the quasi-Newton solver is quicker


@dataclass(frozen=True)
class Logistic:
    """Logistic regression with a quadratic penalty, multinomial for more than two classes.

    Newton's method takes 0.14 s for 22,611 rows of Adult (103 columns) and converges fully; lbfgs 0.13 to 0.2 s.
    """

    C: float = 1.0  # the penalty is 1 / C; Weka's ridge of 1e-8 is about ``C=5e7``
    missing: Missing = "zeros"  # see incrowd.recipients.matrix.OneHot

    def __post_init__(self) -> None:
        if isinstance(self.C, bool) or not isinstance(self.C, int | float) or not 0 < self.C < float("inf"):
            raise ParameterError("C must be a number above 0. Smaller penalises more.")
        if self.missing not in ("zeros", "indicator", "mode"):
            raise ParameterError("missing must be one of zeros, indicator, mode.")

    @property
    def name(self) -> str:
        """What the catalog calls it."""
        return called("logistic", self)

    def fit(self, examples: Examples, seed: int) -> FittedModel | Constant:  # noqa: ARG002
        """Maximise the penalised likelihood; there is no chance in it."""
        examples = weighing(examples)
        if is_hopeless(examples):
            return Constant(class_shares(examples))
        from sklearn.linear_model import LogisticRegression

        encoding = OneHot.of(examples, self.missing)
        small = encoding.width * len(examples.labels) <= LARGEST_HESSIAN
        solver = "newton-cholesky" if small else "lbfgs"
        classifier = LogisticRegression(C=self.C, solver=solver, max_iter=500)
        with one_thread()(), quiet():
            classifier.fit(encoding.matrix(examples), examples.classes, examples.weights)
        return FittedModel(classifier, encoding.matrix, len(examples.labels))


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
