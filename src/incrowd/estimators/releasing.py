"""What the faces that release have in common: from X, y and their parameters to a verified release.

Their parameters are options of ``incrowd.release``, under the same names and with the same meaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.base import BaseEstimator

from incrowd.errors import ParameterError, guarded
from incrowd.estimators.arrays import (
    class_words,
    frame_of,
    free_name,
    numbered_classes,
    persons_of,
    released_type,
    target_name,
    without_person,
)
from incrowd.methods.catalog import METHODS, MethodOrName, find_method
from incrowd.recipients.received import ReceivedRelease, open_release
from incrowd.releases.job import Job
from incrowd.releases.pipeline import run_release
from incrowd.report.outcome import Release
from incrowd.tables.options import MethodOptions, Promise, Run, What
from incrowd.tables.reading.source import Origin
from incrowd.tables.recipe import Recipe, asked_recipe
from incrowd.vocabulary.option import options_of
from incrowd.vocabulary.persons import PersonOptions
from incrowd.vocabulary.requirement import subject_names
from incrowd.vocabulary.schema import Role

_NAMES = (
    *("k", "quasi_identifiers", "require", "class_sensitive", "hierarchies"),
    *("known_together", "weights", "at_most", "apart", "lose", "form"),
    *("person", "person_ids", "missing_persons"),
)
_GROUPS = (What, PersonOptions, Promise, MethodOptions)
RELEASE_OPTIONS = {one.name: one for group in _GROUPS for one in options_of(group) if one.name in _NAMES}
"""The options of a release that may be parameters of a face."""


class Releasing(BaseEstimator):  # type: ignore[misc]
    """Releases the rows it is fitted on; a subclass says by which method."""

    k: int
    quasi_identifiers: Iterable[str] | None
    person: str | None
    random_state: int | None

    def _method_and_parameters(self) -> tuple[MethodOrName, Mapping[str, Any]]:
        """The method of the release."""
        raise NotImplementedError

    def _frame(self, X: Any, *, reset: bool = False) -> tuple[pl.DataFrame, Origin]:
        """The rows as a frame, and the kind of container that X is. Whose row it is, is no feature."""
        return frame_of(self, without_person(X, self.person)[0], reset=reset)

    def _released(self, X: Any, y: Any, person: Any = None) -> tuple[Release, Origin]:
        """The verified release of the rows with their classes, and the kind of container that X is."""
        frame, origin = self._frame(X, reset=True)
        persons = persons_of(self, without_person(X, self.person)[1], person, frame.height)
        self.classes_, numbers = numbered_classes(self, y, frame.height)
        self._target = target_name(y, frame.columns)
        words = pl.Series(self._target, class_words(self.classes_), pl.String)
        frame = frame.with_columns(words.gather(numbers))
        whose = None if persons is None else self.person or free_name("person", frame.columns)
        recipe = self._recipe(frame, whose)
        if persons is not None and whose is not None:
            frame = frame.with_columns(persons.alias(whose))
        release = guarded(run_release)(Job(frame, recipe, run=Run(seed=self.random_state)))
        self.plan_ = release.plan
        self.verdict_ = release.verdict
        return release, origin

    def _received(self, release: Release) -> ReceivedRelease:
        """The release as a recipient has it who was told the hierarchies, which are no secret of the rows."""
        hierarchies = {column.name: column.hierarchy for column in release.plan.schema.columns if column.hierarchy}
        return open_release(release, hierarchies=hierarchies)

    def _class_numbers(self, words: Iterable[str]) -> npt.NDArray[np.intp]:
        """For each class as the release writes it its place in ``classes_``."""
        places = {word: place for place, word in enumerate(class_words(self.classes_))}
        return np.array([places[word] for word in words], np.intp)

    def _recipe(self, frame: pl.DataFrame, person: str | None) -> Recipe:
        """What is asked for; every column of X that nothing is said of is one that an attacker may know."""
        options: Any = {name: value for name in RELEASE_OPTIONS if (value := getattr(self, name, None)) is not None}
        options["person"] = person
        options["method"], options["parameters"] = self._method_and_parameters()
        options["target"] = self._target
        recipe = asked_recipe(options)
        subjects = subject_names(recipe.requirement, self._target)
        rest = Role.QUASI_IDENTIFIER if self.quasi_identifiers is None and not recipe.known else Role.OTHER
        columns = {
            name: {"type": released_type(frame[name]), "role": Role.SENSITIVE if name in subjects else rest}
            for name in frame.columns
        }
        for name, settings in recipe.columns.items():
            columns[name] = {**columns.get(name, {}), **settings}
        _refuse_unused(recipe.method, (name for name in recipe.hierarchies if name not in subjects))
        return replace(recipe, columns=columns)


def _refuse_unused(method: MethodOrName, hierarchies: Iterable[str]) -> None:
    """Refuse hierarchies that would do nothing; a face has nobody to tell a notice."""
    name = next(iter(hierarchies), None)
    if name is None or find_method(method).generalizes:
        return
    able = ", ".join(entry.name for entry in METHODS.values() if entry.generalizes)
    raise ParameterError(
        f"{find_method(method).name} uses no hierarchy, also not that of {name!r}. Leave hierarchies= out, or choose "
        f"one of {able}."
    )
