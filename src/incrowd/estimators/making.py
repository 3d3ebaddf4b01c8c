"""A scikit-learn estimator from an entry of the catalog: its parameters, its constructor, its documentation."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from inspect import Parameter, Signature
from typing import Any

from incrowd.estimators.sampler import Sampler
from incrowd.methods.catalog import MethodEntry

_HOME = "incrowd.estimators"

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
    """The estimator of a method.

    Examples
    --------
    >>> from incrowd.methods.catalog import find_method
    >>> made = make_estimator(find_method("tds"))
    >>> made.__name__, made(k=5, numeric="mean").get_params()["numeric"]
    ('TDS', 'mean')
    """
    names = {
        "__module__": _HOME,
        "__qualname__": entry.factory,
        "__doc__": _documentation(entry),
        "__init__": _constructor(Signature([*_parameters(entry)])),
        "_method": entry.name,
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
    for name, default in {**dict.fromkeys(["quasi_identifiers", *extra]), **own, "random_state": None}.items():
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default)


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
        more=(_HIERARCHIES if entry.generalizes else "") + (_KNOWN_TOGETHER if entry.by_value else ""),
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
