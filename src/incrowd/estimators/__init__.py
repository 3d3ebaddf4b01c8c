"""scikit-learn faces of the release methods: one for each method of the catalog, made from its entry.

A face has the name and the parameters of the method, and takes ``k``, ``quasi_identifiers`` and ``random_state`` beside
them. It may import everything but the other faces of the program (command line, desk).

A release may reorder and drop rows, so these are samplers in the manner of imbalanced-learn: ``fit_resample``
gives the released rows with their classes, and works inside its ``Pipeline``, where it touches training data
only. After ``fit``, ``transform`` shows new rows as the plan would show them. (imbalanced-learn refuses steps
that offer both, which is why ``transform`` appears with ``fit`` and not with ``fit_resample``.)

Examples
--------
>>> import numpy as np
>>> from incrowd.estimators import Mondrian
>>> X, y = np.repeat([[1.0, 5.0], [2.0, 6.0]], 10, axis=0), np.repeat(["no", "yes"], 10)
>>> released, classes = Mondrian(k=5).fit_resample(X, y)
>>> released.shape, sorted(set(classes.tolist()))
((20, 2), ['no', 'yes'])
>>> Mondrian(k=5).fit(X, y).transform([[1.0, 7.0]]).shape
(1, 2)
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from incrowd.errors import SchemaError, guarded
from incrowd.estimators.arrays import column_type, frame_of, numbered_classes
from incrowd.methods.catalog import METHODS, MethodEntry
from incrowd.releases.job import Job
from incrowd.releases.new_rows import show_new_rows
from incrowd.releases.pipeline import run_release
from incrowd.report.outcome import Release
from incrowd.tables.options import Run, Wishes
from incrowd.tables.reading.frames import to_frame_like
from incrowd.tables.reading.source import Origin, Source
from incrowd.tables.recipe import Recipe, with_hierarchies
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.option import options_of
from incrowd.vocabulary.schema import Role, unknown_column

_CLASS = "the class"
_WISHES = {one.name: one for one in options_of(Wishes)}


def _fitted_by_fit(estimator: Sampler) -> bool:
    return getattr(estimator, "_transforms", False)


class Sampler(BaseEstimator):  # type: ignore[misc]
    """What the faces share; `make_estimator` adds the method and its parameters."""

    _method: ClassVar[Any]
    _method_parameters: ClassVar[tuple[str, ...]]
    _sampling_type = "bypass"
    k: int
    quasi_identifiers: Sequence[str] | None
    random_state: int | None
    hierarchies: Mapping[str, Hierarchy | str | Path] | None = None
    known_together: Sequence[tuple[Sequence[str], int]] | None = None
    weights: Mapping[str, float] | None = None
    at_most: Mapping[str, int] | None = None
    apart: Mapping[str, Any] | None = None
    lose: str | float | None = None

    def fit(self, X: Any, y: Any) -> Self:
        """Decide on the release of the rows."""
        self._release(X, y)
        self._transforms = True
        return self

    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """The released rows, in random order, and their classes."""
        release, origin = self._release(X, y)
        self._transforms = False
        frame = release.table
        classes = self.classes_[frame[_CLASS].cast(pl.Int64).to_numpy()]
        return _like(frame.drop(_CLASS), X, origin), _series_like(classes, y)

    @available_if(_fitted_by_fit)  # type: ignore[untyped-decorator]
    def transform(self, X: Any) -> Any:
        """New rows as the plan shows them, in their order; no promise is counted on them."""
        check_is_fitted(self, "plan_")
        frame, origin = frame_of(self, X, reset=False)
        return _like(show_new_rows(self.plan_, Source(frame, origin)), X, origin)

    def _release(self, X: Any, y: Any) -> tuple[Release, Origin]:
        frame, origin = frame_of(self, X, reset=True)
        self.classes_, codes = numbered_classes(self, y, frame.height)
        frame = frame.with_columns(pl.Series(_CLASS, codes).cast(pl.String))
        release = guarded(run_release)(Job(frame, self._recipe(frame), run=Run(seed=self.random_state)))
        self.plan_ = release.plan
        self.verdict_ = release.verdict
        return release, origin

    def _recipe(self, frame: pl.DataFrame) -> Recipe:
        sets = [{"columns": list(columns), "k": k} for columns, k in self.known_together or ()]
        chosen = self._chosen([name for name in frame.columns if name != _CLASS], sets)
        roles = {_CLASS: Role.TARGET, **dict.fromkeys(chosen, Role.QUASI_IDENTIFIER)}
        columns = {
            name: {"role": roles.get(name, Role.OTHER), "type": column_type(dtype)}
            for name, dtype in frame.schema.items()
        }
        parameters = {name: getattr(self, name) for name in self._method_parameters}
        wishes = {name: wish for name in _WISHES if (wish := getattr(self, name)) is not None}
        recipe = Recipe(
            k=self.k, method=self._method, parameters=parameters, columns=columns, known_together=sets, **wishes
        )
        return with_hierarchies(recipe, self.hierarchies or {})

    def _chosen(self, names: list[str], sets: Sequence[Mapping[str, Any]]) -> list[str]:
        """The quasi-identifiers: those that are named, those of the sets, or all."""
        chosen = list(self.quasi_identifiers) if self.quasi_identifiers is not None else None
        if chosen is None and sets:
            chosen = list(dict.fromkeys(name for known in sets for name in known["columns"]))
        unknown = [name for name in chosen or () if name not in names]
        if unknown:
            raise SchemaError(unknown_column(unknown[0], names))
        return names if chosen is None else chosen

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
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
    The smallest number of rows that may share their released quasi-identifiers.
quasi_identifiers
    Columns an attacker may know; all columns if left out.
{more}{parameters}
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
{paper}.{default}
"""
_HIERARCHIES = """hierarchies
    Hierarchies by column: ``Hierarchy`` objects or files.
"""
_KNOWN_TOGETHER = """known_together
    Sets of columns an attacker knows together, each with its own k; k above then says nothing.
"""


def make_estimator(entry: MethodEntry) -> type[Sampler]:
    """The estimator of a method."""
    names = {
        "__module__": __name__,
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
    own = dict(entry.parameters)
    if entry.estimator_numeric is not None:
        own["numeric"] = entry.estimator_numeric
    extra = [*(["hierarchies"] if entry.generalizes else []), *(["known_together"] if entry.by_value else [])]
    extra += _wishes(entry)
    for name, default in {**dict.fromkeys(["quasi_identifiers", *extra]), **own, "random_state": None}.items():
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default)


def _wishes(entry: MethodEntry) -> list[str]:
    """The weights and limits that the method can keep."""
    able = {"weights": entry.weighs, "lose": entry.loses_on_request}
    return [name for name in _WISHES if able.get(name, entry.limits_levels)]


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
    default = f" Here ``numeric`` is ``{entry.estimator_numeric!r}`` by default, since learners want numbers."
    return _DOCUMENTATION.format(
        name=entry.name,
        summary=entry.summary,
        more=(_HIERARCHIES if entry.generalizes else "")
        + (_KNOWN_TOGETHER if entry.by_value else "")
        + "".join(f"{name}\n    {_WISHES[name].option.help}\n" for name in _wishes(entry)),
        parameters=_documented(entry.load()),
        paper=entry.paper[0].upper() + entry.paper[1:],
        default=default if entry.estimator_numeric else "",
    )


def _documented(method: type[Any]) -> str:
    """The method's own description of its parameters; that of the class it builds on if it has none."""
    for each in method.__mro__:
        section = re.search(r"Parameters\n-+\n(.*?)(?=\n\n|\Z)", inspect.cleandoc(each.__doc__ or ""), re.DOTALL)
        if section:
            return section[1]
    return ""


def __getattr__(name: str) -> Any:
    entry = next((entry for entry in METHODS.values() if entry.factory == name), None)
    if entry is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = estimator = make_estimator(entry)
    return estimator


def __dir__() -> list[str]:
    return sorted([*globals(), *(entry.factory for entry in METHODS.values())])
