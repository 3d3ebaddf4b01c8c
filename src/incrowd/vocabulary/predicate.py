"""A condition on one attribute: a value, never a string to evaluate.

Numbers are compared with numbers (a date by its days since 1970-01-01), everything else as text. A missing
value satisfies :class:`Missing` and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from incrowd.errors import PlanError


@dataclass(frozen=True)
class Eq:
    """The attribute has exactly this value."""

    attribute: str
    value: str | int | float


@dataclass(frozen=True)
class In:
    """The attribute has one of these values."""

    attribute: str
    values: frozenset[str | int | float]


@dataclass(frozen=True)
class Le:
    """The attribute is at most the threshold."""

    attribute: str
    threshold: float


@dataclass(frozen=True)
class Gt:
    """The attribute is above the threshold."""

    attribute: str
    threshold: float


@dataclass(frozen=True)
class Missing:
    """The attribute is missing."""

    attribute: str


Predicate = Eq | In | Le | Gt | Missing


def predicate_to_json(predicate: Predicate) -> dict[str, Any]:
    """A predicate as plain data.

    Examples
    --------
    >>> predicate_to_json(Le("age", 30.5))
    {'is': 'le', 'attribute': 'age', 'threshold': 30.5}
    """
    data: dict[str, Any] = {"is": type(predicate).__name__.lower(), "attribute": predicate.attribute}
    match predicate:
        case Eq():
            data["value"] = predicate.value
        case In():
            data["values"] = sorted(predicate.values, key=lambda value: (isinstance(value, str), value))
        case Le() | Gt():
            data["threshold"] = predicate.threshold
        case Missing():
            pass
    return data


def predicate_from_json(data: dict[str, Any]) -> Predicate:
    """The predicate that :func:`predicate_to_json` wrote.

    Examples
    --------
    >>> predicate_from_json({'is': 'eq', 'attribute': 'sex', 'value': 'f'})
    Eq(attribute='sex', value='f')
    """
    match data:
        case {"is": "eq", "attribute": attribute, "value": value}:
            return Eq(attribute, value)
        case {"is": "in", "attribute": attribute, "values": values}:
            return In(attribute, frozenset(values))
        case {"is": "le", "attribute": attribute, "threshold": threshold}:
            return Le(attribute, threshold)
        case {"is": "gt", "attribute": attribute, "threshold": threshold}:
            return Gt(attribute, threshold)
        case {"is": "missing", "attribute": attribute}:
            return Missing(attribute)
        case _:
            raise PlanError("A condition in this file has an unknown form; was it written by a newer incrowd?")
