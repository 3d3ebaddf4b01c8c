"""A sampler for each method, made from its entry in the catalog."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter, Signature
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from incrowd.api import show_new_rows
from incrowd.errors import ParameterError
from incrowd.estimators.releasing import RELEASE_OPTIONS, Releasing, free_name
from incrowd.methods.catalog import MethodEntry, MethodOrName
from incrowd.recipients.cells import word_of
from incrowd.recipients.received import ReceivedRelease
from incrowd.tables.reading.frames import to_frame_like
from incrowd.tables.reading.source import Origin, Source
from incrowd.vocabulary.counts_text import HIDDEN

DECODED, RELEASED = "decoded", "released"


def _fitted_by_fit(estimator: Sampler) -> bool:
    return getattr(estimator, "_transforms", False)


class Sampler(Releasing):
    """What the faces share; `make_estimator` adds the method and its parameters."""

    _method: ClassVar[MethodOrName]
    _method_parameters: ClassVar[tuple[str, ...]]
    _sampling_type = "bypass"
    output: str
    deals: int

    def fit(self, X: Any, y: Any, person: Any = None) -> Self:
        """Decide on the release of the rows; ``person`` has the person of each row, where X has no column of them."""
        self._released(X, y, person)
        self._transforms = True
        return self

    def fit_resample(self, X: Any, y: Any, person: Any = None) -> tuple[Any, Any]:
        """The released rows, in random order, and their classes; see ``output``. ``person`` as for ``fit``."""
        if self.output not in (DECODED, RELEASED):
            raise ParameterError(f"output must be {DECODED!r} or {RELEASED!r}.")
        release, origin = self._released(X, y, person)
        self._transforms = False
        if self.output == DECODED:
            frame, _ = self._frame(X)
            rows = _plain_rows(self._received(release), frame, deals=self.deals, seed=self.random_state)
            names = frame.columns
        else:
            rows, names = release.table, [name for name in release.table.columns if name != self._target]
        classes = self.classes_[self._class_numbers(rows[self._target])]
        return _like(rows.select(names), X, origin), _series_like(classes, y)

    @available_if(_fitted_by_fit)  # type: ignore[untyped-decorator]
    def transform(self, X: Any) -> Any:
        """New rows as the plan shows them, in their order; no promise is counted on them."""
        check_is_fitted(self, "plan_")
        frame, origin = self._frame(X)
        return _like(show_new_rows(self.plan_, Source(frame, origin)), X, origin)

    def _method_and_parameters(self) -> tuple[MethodOrName, Mapping[str, Any]]:
        return self._method, {name: getattr(self, name) for name in self._method_parameters}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _like(frame: pl.DataFrame, X: Any, origin: Origin) -> Any:
    """The released rows in the container that came in; suppressed cells are NaN (None among objects)."""
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        return to_frame_like(frame, origin)
    if all(dtype.is_numeric() for dtype in frame.dtypes):
        return frame.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return np.array(frame.rows(), dtype=object)


def _series_like(classes: npt.NDArray[Any], y: Any) -> Any:
    """The classes in the container that came in."""
    if type(y).__module__.startswith("pandas"):
        return type(y)(classes, name=getattr(y, "name", None), dtype=y.dtype)
    return classes


_DOCUMENTATION = """``{name}`` as a sampler: {summary}.

Parameters
----------
k
    The smallest number of rows that may share their released quasi-identifiers; of persons, if rows have a ``person``.
quasi_identifiers
    The columns an attacker may know; if left out, all that ``require`` does not name.
{options}
{parameters}
output
    What ``fit_resample`` gives. ``"decoded"``: plain rows in the columns and types of X, numbers as floats, which any
    learner takes that takes X. Where a cell stands for several values one is drawn; where nothing is shown, one that
    the column shows elsewhere. What is drawn need not be anybody's, and decoded rows carry no guarantee by themselves.
    ``"released"``: the rows as they are released: sets, intervals and counts as text, nothing where nothing is shown.
deals
    How often the rows are decoded. There are no weights here, so with more than 1 all rows are repeated as often, each
    time drawn anew. That is nearer to what the release says, and learners take it for more rows.
random_state
    For experiments only; chance is cryptographic if left out.

Attributes
----------
plan_
    The plan of the last fit.
verdict_
    The independent recount of the last fit.

Notes
-----
{paper}.
"""


def make_estimator(entry: MethodEntry, module: str) -> type[Sampler]:
    """The estimator of a method; ``module`` is where users find it."""
    names = {
        "__module__": module,
        "__qualname__": entry.factory,
        "__doc__": _documentation(entry),
        "__init__": _constructor(Signature([*_parameters(entry)])),
        "_method": entry.foreign or entry.name,
        "_method_parameters": tuple(entry.parameters),
    }
    return type(entry.factory, (Sampler,), names)


def _parameters(entry: MethodEntry) -> Iterator[Parameter]:
    """What its constructor takes: first what all estimators have, then what the method has."""
    yield Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    yield Parameter("k", Parameter.POSITIONAL_OR_KEYWORD, default=10)
    options = dict.fromkeys(["quasi_identifiers", *_release_options(entry)])
    results = {"output": DECODED, "deals": 1, "random_state": None}
    for name, default in {**options, **entry.parameters, **results}.items():
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default)


def _release_options(entry: MethodEntry) -> list[str]:
    """The options of a release that the method can keep."""
    able = {
        "known_together": entry.by_value,
        "weights": entry.weighs,
        "at_most": entry.limits_levels,
        "apart": entry.limits_levels,
        "lose": entry.loses_on_request,
    }
    persons = ("person", "person_ids", "missing_persons")
    return [*persons, "require", "class_sensitive", "hierarchies", *(name for name, can in able.items() if can)]


def _constructor(signature: Signature) -> Callable[..., None]:
    """Keeps its arguments, and does nothing else, as scikit-learn wants it."""

    def __init__(self: Sampler, *values: Any, **named: Any) -> None:  # noqa: N807, it becomes a method
        bound = signature.bind(self, *values, **named)
        bound.apply_defaults()
        for name in [*bound.arguments][1:]:
            setattr(self, name, bound.arguments[name])

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def _documentation(entry: MethodEntry) -> str:
    return _DOCUMENTATION.format(
        name=entry.name,
        summary=entry.summary,
        options="\n".join(RELEASE_OPTIONS[name].docs for name in _release_options(entry)),
        parameters=_documented(entry.load()),
        paper=entry.paper[0].upper() + entry.paper[1:],
    )


def _documented(method: type[Any]) -> str:
    """The method's own description of its parameters; that of the class it builds on if it has none."""
    for each in method.__mro__:
        section = re.search(r"Parameters\n-+\n(.*?)(?=\n\n|\Z)", inspect.cleandoc(each.__doc__ or ""), re.DOTALL)
        if section:
            return section[1]
    return ""


def _plain_rows(received: ReceivedRelease, like: pl.DataFrame, *, deals: int, seed: int | None) -> pl.DataFrame:
    """The released rows, decoded, in the columns and the types of a table, with the class; numbers as floats.

    A cell of which the release shows nothing gets a value that the column shows elsewhere, drawn at random, unless the
    table has missing cells in this column itself. A column of which the release shows nothing at all is constant, and
    a warning names it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that are left out; they come back below
        decoded: pl.DataFrame = received.frame(
            "decoded", deals=deals, seed=seed, weight=free_name("weight", like.columns)
        )
    empty = [name for name in like.columns if name not in decoded.columns or decoded[name].is_null().all()]
    if empty:
        names = ", ".join(map(repr, empty))
        warnings.warn(f"The release shows nothing of {names}: constant in the decoded rows.", UserWarning, stacklevel=3)
    generator = np.random.default_rng(seed)
    shown = decoded.with_columns(pl.lit(None).alias(name) for name in empty)
    columns = [_typed(shown[column.name], column.dtype) for column in like]
    gaps = {column.name for column in like if column.null_count()}.difference(empty)
    return decoded.with_columns(column if column.name in gaps else _filled(column, generator) for column in columns)


def _typed(column: pl.Series, kind: pl.DataType) -> pl.Series:
    """The column in the type that X has it in; numbers as Float64, whatever the method makes of them."""
    if kind.is_numeric():
        return column.cast(pl.Float64).fill_nan(None)
    if kind == pl.Boolean and column.dtype not in (pl.Boolean, pl.Null):
        return column == word_of(True)
    return column.cast(kind if kind.is_temporal() or kind == pl.Boolean else pl.String)


def _filled(column: pl.Series, generator: np.random.Generator) -> pl.Series:
    """The column with a value for each cell: one of those it has; 0, or a sign for nothing, if it has none."""
    shown = column.drop_nulls()
    if shown.is_empty():  # 0 leaves a linear learner no weight to give to the column
        nothing = pl.Series([HIDDEN if column.dtype == pl.String else 0]).cast(column.dtype)
        return nothing.gather(np.zeros(len(column), np.int64)).rename(column.name)
    drawn = shown.gather(generator.integers(0, len(shown), len(column)))
    return column.zip_with(column.is_not_null(), drawn)
