"""incrowd: release person-level tables with a counted guarantee and almost no loss of accuracy.

Names are loaded when they are first used, so that importing incrowd costs nothing. Beside them there are rooms:
``incrowd.estimators`` (scikit-learn), ``incrowd.recipients``, ``incrowd.trees``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd import estimators as estimators
    from incrowd import recipients as recipients
    from incrowd import trees as trees
    from incrowd.api import explain, inspect, release, transform
    from incrowd.attacks.run import attack_release
    from incrowd.comparisons.run import compare
    from incrowd.errors import IncrowdError
    from incrowd.hiding.pipeline import hide_cells
    from incrowd.models.pipeline import publish_model
    from incrowd.plan.plan_file import read_plan, write_plan
    from incrowd.plan.release_plan import ReleasePlan
    from incrowd.recipients.received import decode, open_release
    from incrowd.releases.recount import verify
    from incrowd.report.outcome import Release
    from incrowd.risk.assessment import measure_risk
    from incrowd.tables.options import Book, Measuring, Outputs, Run
    from incrowd.tables.recipe import Recipe, read_recipe
    from incrowd.vocabulary.requirement import KAnonymity
    from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

_HOME = {
    "Book": "tables.options",
    "Column": "vocabulary.schema",
    "ColumnType": "vocabulary.schema",
    "IncrowdError": "errors",
    "KAnonymity": "vocabulary.requirement",
    "Measuring": "tables.options",
    "Outputs": "tables.options",
    "Recipe": "tables.recipe",
    "Release": "report.outcome",
    "ReleasePlan": "plan.release_plan",
    "Role": "vocabulary.schema",
    "Run": "tables.options",
    "Schema": "vocabulary.schema",
    "attack_release": "attacks.run",
    "compare": "comparisons.run",
    "decode": "recipients.received",
    "explain": "api",
    "hide_cells": "hiding.pipeline",
    "inspect": "api",
    "measure_risk": "risk.assessment",
    "open_release": "recipients.received",
    "publish_model": "models.pipeline",
    "read_plan": "plan.plan_file",
    "read_recipe": "tables.recipe",
    "release": "api",
    "transform": "api",
    "verify": "releases.recount",
    "write_plan": "plan.plan_file",
}
_ROOMS = ("estimators", "recipients", "trees")

__all__ = [
    "Book",
    "Column",
    "ColumnType",
    "IncrowdError",
    "KAnonymity",
    "Measuring",
    "Outputs",
    "Recipe",
    "Release",
    "ReleasePlan",
    "Role",
    "Run",
    "Schema",
    "attack_release",
    "compare",
    "decode",
    "explain",
    "hide_cells",
    "inspect",
    "measure_risk",
    "open_release",
    "publish_model",
    "read_plan",
    "read_recipe",
    "release",
    "transform",
    "verify",
    "write_plan",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("incrowd")
    if name in _ROOMS:
        return importlib.import_module(f"incrowd.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'incrowd' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"incrowd.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
