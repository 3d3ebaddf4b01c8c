"""incrowd: release person-level tables with a counted guarantee and almost no loss of accuracy.

Names are loaded when they are first used, so that importing incrowd costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd.api import explain, inspect, release, transform
    from incrowd.attacks.run import attack_release
    from incrowd.errors import IncrowdError
    from incrowd.estimators import KActus, KActusPlus
    from incrowd.hiding.pipeline import hide_cells
    from incrowd.models.pipeline import publish_model
    from incrowd.plan.plan_file import read_plan, write_plan
    from incrowd.plan.release_plan import ReleasePlan
    from incrowd.recipients.decoding import decode
    from incrowd.recipients.received import open_release
    from incrowd.releases.recount import verify
    from incrowd.report.outcome import Release
    from incrowd.risk.measuring import measure_risk
    from incrowd.tables.options import Book, Measuring, Outputs, Run
    from incrowd.tables.recipe import Recipe, read_recipe
    from incrowd.trees.c45 import C45
    from incrowd.trees.sklearn_tree import SklearnInducer
    from incrowd.vocabulary.requirement import KAnonymity
    from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

_HOME = {
    "Book": "tables.options",
    "C45": "trees.c45",
    "Column": "vocabulary.schema",
    "ColumnType": "vocabulary.schema",
    "IncrowdError": "errors",
    "KActus": "estimators",
    "KActusPlus": "estimators",
    "KAnonymity": "vocabulary.requirement",
    "Measuring": "tables.options",
    "Outputs": "tables.options",
    "Recipe": "tables.recipe",
    "Release": "report.outcome",
    "ReleasePlan": "plan.release_plan",
    "Role": "vocabulary.schema",
    "Run": "tables.options",
    "Schema": "vocabulary.schema",
    "SklearnInducer": "trees.sklearn_tree",
    "attack_release": "attacks.run",
    "decode": "recipients.decoding",
    "explain": "api",
    "hide_cells": "hiding.pipeline",
    "inspect": "api",
    "measure_risk": "risk.measuring",
    "open_release": "recipients.received",
    "publish_model": "models.pipeline",
    "read_plan": "plan.plan_file",
    "read_recipe": "tables.recipe",
    "release": "api",
    "transform": "api",
    "verify": "releases.recount",
    "write_plan": "plan.plan_file",
}

__all__ = [
    "C45",
    "Book",
    "Column",
    "ColumnType",
    "IncrowdError",
    "KActus",
    "KActusPlus",
    "KAnonymity",
    "Measuring",
    "Outputs",
    "Recipe",
    "Release",
    "ReleasePlan",
    "Role",
    "Run",
    "Schema",
    "SklearnInducer",
    "attack_release",
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
    if name not in _HOME:
        raise AttributeError(f"module 'incrowd' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"incrowd.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
