"""What the faces that release have in common: from X, y and their parameters to a verified release.

What comes from scikit-learn is read first: X as a frame, y as numbered classes, persons as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from incrowd.errors import ParameterError, guarded
from incrowd.methods.catalog import METHODS, MethodOrName, find_method
from incrowd.recipients.received import ReceivedRelease, open_release
from incrowd.releases.job import Job
from incrowd.releases.pipeline import run_release
from incrowd.report.outcome import Release
from incrowd.tables.options import MethodOptions, Promise, Run, What
from incrowd.tables.reading.read import read
from incrowd.tables.reading.source import MISSING_MARKERS, Origin
from incrowd.tables.recipe import Recipe, recipe_of
from incrowd.vocabulary.option import options_of
from incrowd.vocabulary.persons import PersonOptions
from incrowd.vocabulary.requirement import subject_names
from incrowd.vocabulary.schema import ColumnType, Role


def frame_of(estimator: Any, X: Any, *, reset: bool, missing: bool = True) -> tuple[pl.DataFrame, Origin]:
    """The rows as a polars frame; scikit-learn's own checks come first.

    ``reset``: whether the estimator learns the columns now. ``missing``: whether arrays may hold NaN.
    """
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if names is not None and all(isinstance(name, str) for name in names):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        source = read(X, missing=())
        return source.frame, source.origin
    finite = "allow-nan" if missing else True
    X = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=finite, ensure_min_samples=1 + reset)
    names = [f"x{i}" for i in range(X.shape[1])]
    if X.dtype.kind in "OUS":
        columns = [pl.Series(name, X[:, i].tolist(), strict=False) for i, name in enumerate(names)]
        return pl.DataFrame(columns), Origin("polars", missing=())
    return pl.from_numpy(np.ascontiguousarray(X), schema=names), Origin("polars", missing=())


def without_person(X: Any, person: str | None) -> tuple[Any, list[Any] | None]:
    """X without the column that says whose row it is, and that column; None where X does not have it."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if person is None or names is None or person not in list(names):
        return X, None
    frame = nw.from_native(X, eager_only=True)
    return frame.drop(person).to_native(), frame[person].to_list()


def persons_of(estimator: Any, named: list[Any] | None, person: Any, rows: int) -> pl.Series | None:
    """The person of each row as text: of the column that the estimator names, or as passed; None if rows are such."""
    column = estimator.person
    if person is None:
        if column is not None and named is None:
            raise ParameterError(
                f"X has no column {column!r} that says whose row it is. Leave person= out of "
                f"{type(estimator).__name__}, and pass it to fit: fit(X, y, person=…), a person for each row."
            )
        values = named
    elif column is not None:
        raise ParameterError("Say once whose rows they are: by a column of X, or by what is passed to fit.")
    else:
        values = person.tolist() if hasattr(person, "tolist") else list(person)
    if values is None:
        return None
    if len(values) != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[rows, len(values)]}")
    return pl.Series([None if value is None or value != value else str(value) for value in values], dtype=pl.String)


def numbered_classes(estimator: Any, y: Any, rows: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """The classes, and for each row the number of its class."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    if len(y) != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[rows, len(y)]}")
    classes, numbers = np.unique(y, return_inverse=True)
    return classes, numbers


def class_words(classes: npt.NDArray[Any]) -> list[str]:
    """The classes as the text that a release shows; their numbers, where a text would be read as a missing value."""
    words = [str(value) for value in classes.tolist()]
    odd = len({*words}) < len(words) or not {*words}.isdisjoint(("", *MISSING_MARKERS))
    return [str(number) for number in range(len(words))] if odd else words


def target_name(y: Any, columns: Sequence[str]) -> str:
    """What the class is called: as y is, if no column has the name."""
    name = getattr(y, "name", None)
    if isinstance(name, str) and name and name not in columns:
        return name
    return free_name("class", columns)


def free_name(name: str, columns: Sequence[str]) -> str:
    """The name, with underscores after it until no column has it."""
    while name in columns:
        name += "_"
    return name


def column_type(dtype: pl.DataType) -> ColumnType:
    """The type of a column of X, by the type its frame gives it."""
    if dtype.is_integer():
        return ColumnType.INTEGER
    if dtype.is_numeric():
        return ColumnType.REAL
    if isinstance(dtype, pl.Date | pl.Datetime):
        return ColumnType.DATE
    return ColumnType.BOOLEAN if dtype == pl.Boolean else ColumnType.CATEGORICAL


def released_type(column: pl.Series) -> ColumnType:
    """The type in which a column of X is released: whole numbers are such, also where they are kept as floats.

    What is drawn inside an interval of whole numbers is then whole, and never between a cut and the number at it.
    """
    kind = column_type(column.dtype)
    return ColumnType.INTEGER if kind is ColumnType.REAL and (column == column.round()).all() else kind


_NAMES = (
    *("k", "quasi_identifiers", "require", "class_sensitive", "hierarchies"),
    *("known_together", "weights", "at_most", "apart", "lose", "form"),
    *("person", "person_ids", "missing_persons"),
)
_GROUPS = (What, PersonOptions, Promise, MethodOptions)
RELEASE_OPTIONS = {one.name: one for group in _GROUPS for one in options_of(group) if one.name in _NAMES}
"""The options of a release that may be parameters of a face."""


class Owner(BaseEstimator):  # type: ignore[misc]
    """Has rows from scikit-learn, with their classes and persons; a subclass says what is asked for."""

    person: str | None

    def _recipe(self, frame: pl.DataFrame, person: str | None) -> Recipe:
        """What is asked for, of a table with its class and the column of persons, if there is one."""
        raise NotImplementedError

    def _words(self) -> list[str]:
        """The classes as they are written."""
        return class_words(self.classes_)

    def _frame(self, X: Any, *, reset: bool = False) -> tuple[pl.DataFrame, Origin]:
        """The rows as a frame, and the kind of container that X is. Whose row it is, is no feature."""
        return frame_of(self, without_person(X, self.person)[0], reset=reset)

    def _asked(self, X: Any, y: Any, person: Any) -> tuple[pl.DataFrame, Recipe, Origin]:
        """The rows with their classes and persons, what is asked for, and the kind of container that X is."""
        frame, origin = self._frame(X, reset=True)
        persons = persons_of(self, without_person(X, self.person)[1], person, frame.height)
        self.classes_, numbers = numbered_classes(self, y, frame.height)
        self._target = target_name(y, frame.columns)
        frame = frame.with_columns(pl.Series(self._target, self._words(), pl.String).gather(numbers))
        whose = None if persons is None else self.person or free_name("person", frame.columns)
        recipe = self._recipe(frame, whose)
        if persons is not None and whose is not None:
            frame = frame.with_columns(persons.alias(whose))
        return frame, recipe, origin

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


class Releasing(Owner):
    """Releases the rows it is fitted on; a subclass says by which method."""

    k: int
    quasi_identifiers: Iterable[str] | None
    random_state: int | None

    def _method_and_parameters(self) -> tuple[MethodOrName, Mapping[str, Any]]:
        """The method of the release."""
        raise NotImplementedError

    def _released(self, X: Any, y: Any, person: Any = None) -> tuple[Release, Origin]:
        """The verified release of the rows with their classes, and the kind of container that X is."""
        frame, recipe, origin = self._asked(X, y, person)
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
        """Every column of X that nothing is said of is one that an attacker may know."""
        options: Any = {name: value for name in RELEASE_OPTIONS if (value := getattr(self, name, None)) is not None}
        options["person"] = person
        options["method"], options["parameters"] = self._method_and_parameters()
        options["target"] = self._target
        recipe = recipe_of(options)
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
        f"{find_method(method).name} uses no hierarchy, not even that of {name!r}. Leave hierarchies= out, or choose "
        f"one of {able}."
    )
