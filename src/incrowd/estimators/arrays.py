"""What comes from scikit-learn, as incrowd reads it: X as a frame, y as numbered classes, persons as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from incrowd.errors import ParameterError
from incrowd.tables.reading.read import read
from incrowd.tables.reading.source import MISSING_MARKERS, Origin
from incrowd.vocabulary.schema import ColumnType


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
