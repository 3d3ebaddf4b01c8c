"""The one list of learners. To add one: write its file and enter it below.

Those of other packages are found behind it: by their entry points (:mod:`incrowd.optional`), by their names in
scikit-learn, or as an object that is passed.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from incrowd.comparisons.learners.learner import Learner
from incrowd.errors import ParameterError

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
        from incrowd.comparisons.learners.scikit import scikit

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
    from incrowd.comparisons.learners.scikit import scikit_named
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
        from incrowd.comparisons.learners.scikit import ScikitObject

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
        from incrowd.comparisons.learners.scikit import scikit_object

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
    from incrowd.comparisons.learners.scikit import close_classifiers

    close = get_close_matches(word, LEARNERS, n=1) or close_classifiers(word)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"There is no learner {word!r}.{hint} Learners: {', '.join(LEARNERS)}; or a scikit-learn classifier by name."
