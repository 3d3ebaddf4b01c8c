"""What a preset does with columns in which kinds of identifiers are found: they are dropped, or made coarser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from incrowd.errors import Notice
from incrowd.risk.safe_harbor import OLDEST, ItemFinding, found_kinds, this_year
from incrowd.tables.reading.coarsen import coarsened, unreadable
from incrowd.tables.reading.source import Source
from incrowd.tables.recipe import Recipe
from incrowd.tables.recipe_checks import Preset, PresetDeeds
from incrowd.vocabulary.column_rules import Coarsening
from incrowd.vocabulary.schema import NOT_RELEASED, Role


def with_kinds(recipe: Recipe, preset: Preset, source: Source) -> tuple[Recipe, Source]:
    """The recipe with what a preset says of the columns of a table, and the table by it; a notice tells each rule."""
    deeds = deeds_of(recipe, preset, source.origin.missing, source.frame)
    source = replace(source, notices=(*source.notices, *deeds.notices))
    recipe = replace(recipe, columns=deeds.columns, reading=deeds.reading(recipe.reading))
    return recipe, coarsened(source, deeds.rules, deeds.why)


def deeds_of(recipe: Recipe, preset: Preset, missing: Sequence[str], frame: pl.DataFrame) -> PresetDeeds:
    """What a preset says of the columns of a table.

    What the recipe says of a column wins: a role keeps it from being dropped, a rule of its own from another.
    """
    columns = {name: dict(settings) for name, settings in recipe.columns.items()}
    rules = dict(recipe.reading.get("coarsen") or {})
    mine, why = dict[str, str](), dict[str, str]()
    notices = []
    for finding in _by_column(frame, preset, columns):
        name, stated = finding.column, columns.get(finding.column, {}).get("role")
        if stated in NOT_RELEASED:
            continue
        deed = _deed(preset.kinds[finding.kind])
        readable = deed in NOT_RELEASED or not unreadable(frame[name], Coarsening.of(deed), missing)
        deed = deed if readable or stated is not None else "drop"
        reason = f"{preset.name}: {finding.kind}; {finding.why}"
        if name in rules:
            notices.append(Notice("preset-overruled", name, f"left to your rule {rules[name]} ({reason})."))
        elif deed not in NOT_RELEASED:
            mine[name], why[name] = deed, reason
        elif stated is not None:
            notices.append(Notice("preset-overruled", name, f"not dropped, as you name it {stated} ({reason})."))
        else:
            columns.setdefault(name, {})["role"] = Role(deed)
            notices.append(Notice("preset", name, f"dropped ({reason})."))
    return PresetDeeds(columns, mine, why, tuple(notices))


def _by_column(frame: pl.DataFrame, preset: Preset, columns: Mapping[str, Mapping[str, Any]]) -> list[ItemFinding]:
    """For each column the kind that decides: one that is not released; where a stated role keeps it, one that is."""

    def comes_later(finding: ItemFinding) -> bool:
        return (preset.kinds[finding.kind] in NOT_RELEASED) == ("role" in columns.get(finding.column, {}))

    known = [finding for finding in found_kinds(frame) if finding.kind in preset.kinds]
    decided = {finding.column: finding for finding in sorted(known, key=comes_later, reverse=True)}
    return [decided[name] for name in frame.columns if name in decided]


def _deed(deed: str) -> str:
    """A role or a rule, with the year in which people over 89 were born at the latest."""
    return f"year-from-{this_year() - OLDEST - 1}" if deed == "birth-year" else deed
