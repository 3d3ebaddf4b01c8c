"""The one list of learners, and scikit-learn's classifiers as such. To add one: write its file and enter it below.

Those of other packages are found behind it: by their entry points (:mod:`incrowd.optional`), by their names in
scikit-learn, or as an object that is passed.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from incrowd.comparisons.learners.learner import (
    Constant,
    Examples,
    Learner,
    class_shares,
    is_hopeless,
    repeated,
    weighing,
    with_parameters,
)
from incrowd.errors import InputError, ParameterError
from incrowd.recipients.matrix import Missing, Numbers
from incrowd.trees.compiled import one_thread
from incrowd.vocabulary.option import nearest

if TYPE_CHECKING:
    from incrowd.recipients.encoding import Fitted

_ROOM = "incrowd.comparisons.learners"
OWN = "incrowd"


@dataclass(frozen=True)
class LearnerEntry:
    """One learner: what it is, what makes it from its parameters, and what else it is called."""

    summary: str
    factory: Callable[..., Learner]
    aliases: tuple[str, ...] = ()
    package: str = OWN


def _own(module: str, name: str, **fixed: Any) -> Callable[..., Learner]:
    """Makes a learner of ours; its class is imported when it is needed."""

    def make(**parameters: Any) -> Learner:
        learner = getattr(importlib.import_module(f"{_ROOM}.{module}"), name)
        known = [field.name for field in fields(learner) if field.name not in fixed]
        for parameter in parameters:
            if parameter not in known:
                raise ParameterError(f"There is no parameter {parameter!r} here. There are: {', '.join(known)}.")
        instance: Learner = learner(**fixed, **parameters)
        return instance

    return make


def _scikit(word: str, path: str) -> Callable[..., Learner]:
    """Makes a learner of a classifier of scikit-learn, as it is by default: what its recipient gets."""

    def make(**parameters: Any) -> Learner:
        return scikit(word, f"sklearn.{path}", parameters)

    return make


def _weka(word: str, scheme: str) -> Callable[..., Learner]:
    """Makes a learner of a classifier of Weka, which is needed only when it is to learn."""
    return _own("weka", "Weka", word=word, scheme=f"weka.classifiers.{scheme}")


LEARNERS = {
    "c45": LearnerEntry("C4.5, pruned; missing values are shared out", _own("c45", "C45Learner"), ("c4.5",)),
    "nb": LearnerEntry(
        "naive Bayes for mixed types; missing values are skipped", _own("naive_bayes", "NaiveBayes"), ("naive-bayes",)
    ),
    "logistic": LearnerEntry(
        "logistic regression on one-hot categories",
        _scikit("logistic", "linear_model.LogisticRegression"),
        ("logistic-regression",),
    ),
    "rules": LearnerEntry("rule list from whole C4.5 trees, quicker than PART", _own("rule_list", "RuleList")),
    "part": LearnerEntry("PART: rule list from partial C4.5 trees", _own("rule_list", "RuleList", trees="partial")),
    "tree": LearnerEntry("scikit-learn's decision tree", _scikit("tree", "tree.DecisionTreeClassifier"), ("cart",)),
    "svm": LearnerEntry("linear support vector machine", _scikit("svm", "svm.LinearSVC"), ("linear-svm",)),
    "forest": LearnerEntry(
        "random forest of 100 trees", _scikit("forest", "ensemble.RandomForestClassifier"), ("random-forest",)
    ),
    "boosting": LearnerEntry(
        "gradient boosting on histograms",
        _scikit("boosting", "ensemble.HistGradientBoostingClassifier"),
        ("gradient-boosting",),
    ),
    "knn": LearnerEntry("the five nearest rows", _scikit("knn", "neighbors.KNeighborsClassifier"), ("neighbours",)),
    "weka-j48": LearnerEntry("Weka's J48 (C4.5)", _weka("weka-j48", "trees.J48")),
    "weka-part": LearnerEntry("Weka's PART", _weka("weka-part", "rules.PART")),
    "weka-nb": LearnerEntry("Weka's NaiveBayes", _weka("weka-nb", "bayes.NaiveBayes")),
    "weka-logistic": LearnerEntry("Weka's Logistic", _weka("weka-logistic", "functions.Logistic")),
    "majority": LearnerEntry("the most frequent class, always", _own("learner", "Majority")),
}


def find_learner(named: Any) -> Learner:
    """A learner by its name, with parameters in brackets if they shall not be the usual ones; or one that is passed.

    What is passed is a :class:`~incrowd.comparisons.learners.learner.Learner` or a classifier like scikit-learn's.

    Examples
    --------
    >>> find_learner("c45(missing='branch')").name
    "c45(missing='branch')"
    """
    if not isinstance(named, str):
        return learner_of(named)
    word, parameters = parsed(named)
    for known, entry in LEARNERS.items():
        if word.lower() in (known, *entry.aliases):
            return entry.factory(**parameters)
    from incrowd.optional import find_plugin

    if (plugin := find_plugin("learners", word)) is not None:
        return made_by(plugin.checked(learner_entry).factory, word, parameters)
    from_scikit = scikit_named(word, parameters)
    if from_scikit is None:
        raise ParameterError(_unknown(word))
    return from_scikit


def learner_entry(factory: Any) -> LearnerEntry:
    """The entry of a class or function from elsewhere that makes a learner of its parameters."""
    if not callable(factory):
        raise ParameterError("A learner is named by the class or function that makes it.")
    from incrowd.optional import package_of

    summary = (factory.__doc__ or "").strip().partition("\n")[0].rstrip(".")
    return LearnerEntry(summary, factory, package=package_of(factory))


def made_by(factory: Callable[..., Any], word: str, parameters: Mapping[str, Any]) -> Learner:
    """What a factory from elsewhere makes, which has to call itself as it was called."""
    try:
        instance = factory(**parameters)
    except TypeError:
        raise ParameterError(
            f"{word} cannot be made with these parameters: {', '.join(parameters) or 'none'}."
        ) from None
    if is_classifier(instance):
        return ScikitObject(word, "", tuple(parameters.items()), classifier=instance)
    learner = learner_of(instance)
    if parsed(learner.name)[0] != word:
        raise ParameterError(f"The learner {word!r} calls itself {learner.name!r}.")
    return learner


def is_classifier(passed: Any) -> bool:
    """Whether it is a classifier like scikit-learn's, as an object."""
    return not isinstance(passed, type) and all(hasattr(passed, part) for part in ("fit", "predict", "get_params"))


def learner_of(passed: Any) -> Learner:
    """A learner that is passed as an object; those of scikit-learn are called by their class."""
    if is_classifier(passed):
        return scikit_object(passed)
    if isinstance(getattr(passed, "name", None), str) and callable(getattr(passed, "fit", None)):
        own: Learner = passed
        known = [name for each, entry in LEARNERS.items() for name in (each, *entry.aliases)]
        if parsed(own.name)[0] in known and not type(own).__module__.startswith("incrowd."):
            raise ParameterError(f"A learner has the name of another one, {own.name!r}. Give it a name of its own.")
        return own
    raise ParameterError(
        "A learner is the name of one, an object with a name and fit(examples, seed), or a classifier such as "
        "scikit-learn's, as an object."
    )


def parsed(name: str) -> tuple[str, dict[str, Any]]:
    """The word and the parameters of ``word(parameter=value, ...)``."""
    word, bracket, inside = name.strip().partition("(")
    if not bracket:
        return word, {}
    try:
        call = ast.parse(f"f({inside}", mode="eval").body
        if isinstance(call, ast.Call) and not call.args and all(keyword.arg for keyword in call.keywords):
            return word.strip(), {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError):
        pass
    raise ParameterError(f"The parameters of {word!r} are not understood. Write {word}(name=value, name='text').")


def _unknown(word: str) -> str:
    """What to say about a learner there is not."""
    close = get_close_matches(word, LEARNERS, n=1) or close_classifiers(word)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"There is no learner {word!r}.{hint} Learners: {', '.join(LEARNERS)}; or a scikit-learn classifier by name."


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

        from incrowd.recipients.encoding import Fitted

        classifier = self._seeded(seed)
        if not has_fit_parameter(classifier, "sample_weight"):
            examples = repeated(examples, self.name)
        try:
            with one_thread()(), quiet():
                fitted = Fitted.of(classifier, examples, examples.classes, self._kind(classifier), self.missing)
        except ValueError as refused:
            if type(refused).__name__ == "InvalidParameterError":
                raise ParameterError(f"{self.name} cannot be made: {refused}") from None
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
            raise ParameterError(f"{self.word} is made of other classifiers, so it cannot be used by name.") from None

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
