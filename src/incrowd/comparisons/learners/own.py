"""Learners that are passed as objects: classifiers of scikit-learn's kind, or what learns from examples itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from incrowd.comparisons.examples import Examples, Numbers
from incrowd.comparisons.learners.catalog import find_learner
from incrowd.comparisons.learners.learner import Learner, Model
from incrowd.errors import IncrowdError, InputError, ParameterError


@dataclass(frozen=True, eq=False)
class OwnLearner:
    """A learner that was passed: what results call it, and what tells it from others of that name."""

    name: str
    mark: str
    learner: Learner


@dataclass(frozen=True, eq=False)
class OwnClassifier:
    """A classifier of scikit-learn's kind; each fit is one of a copy, in one thread.

    Where its chance is left open, it is that of the trial. It gets a matrix: codes with NaN for missing if it takes
    NaN, else a column for each category.
    """

    name: str
    classifier: Any

    def fit(self, examples: Examples, seed: int) -> Model:
        """Fit a copy; an error of the classifier is told without its message, which may quote a cell."""
        from sklearn.base import clone

        from incrowd.comparisons.learners.scikit import fit_classifier

        with _told(self.name):
            copy = clone(self.classifier)
            known = copy.get_params()
            chosen = {"random_state": seed, "n_jobs": 1}
            copy.set_params(
                **{
                    name: chosen[last]
                    for name, value in known.items()
                    if value is None and (last := name.rpartition("__")[2]) in chosen
                }
            )
            return _OwnModel(self.name, fit_classifier(copy, self.name, examples))


@dataclass(frozen=True, eq=False)
class _OwnModel:
    """What a classifier has learned; its errors are told as those of learning."""

    name: str
    model: Model

    def scores(self, examples: Examples) -> Numbers:
        """The scores of the classes."""
        with _told(self.name):
            return self.model.scores(examples)


@contextmanager
def _told(name: str) -> Iterator[None]:
    try:
        yield
    except IncrowdError:
        raise
    except Exception as error:
        raise InputError(f"{name} cannot learn from these rows: it raised {type(error).__name__}.") from None


def own_learner(thing: Any) -> OwnLearner:
    """The learner of an object.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> own_learner(DecisionTreeClassifier(max_depth=3)).name
    'DecisionTreeClassifier(max_depth=3)'
    """
    if isinstance(thing, type):
        raise ParameterError(f"{thing.__name__} is a class. Pass an instance of it: {thing.__name__}().")
    if all(callable(getattr(thing, verb, None)) for verb in ("fit", "predict", "get_params")):
        name = " ".join(repr(thing).split())
        place = f"{type(thing).__module__}.{type(thing).__qualname__}"
        return OwnLearner(name, f"{place} {sorted(thing.get_params().items(), key=str)}", OwnClassifier(name, thing))
    if isinstance(getattr(thing, "name", None), str) and callable(getattr(thing, "fit", None)):
        return OwnLearner(thing.name, repr(thing), thing)
    raise ParameterError(
        f"A {type(thing).__name__} is no learner. Pass a name, a classifier of scikit-learn, or an object with a name "
        "and fit(examples, seed)."
    )


def chosen_learners(learners: Sequence[Any]) -> tuple[tuple[str, ...], tuple[OwnLearner, ...]]:
    """The names of learners, each once, and those of them that are objects; one that does not exist is refused."""
    own = {id(one): own_learner(one) for one in learners if not isinstance(one, str)}
    names = [own[id(one)].name if id(one) in own else find_learner(one).name for one in learners]
    marks = {one.name: one.mark for one in own.values()}
    if twice := [one.name for one in own.values() if marks[one.name] != one.mark]:
        raise ParameterError(f"Two different learners are called {twice[0]}. Compare them one after the other.")
    return tuple(dict.fromkeys(names)), tuple(own.values())
