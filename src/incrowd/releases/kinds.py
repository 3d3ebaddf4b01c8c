"""What a preset does with columns in which kinds of identifiers are found: they are dropped, or made coarser."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from incrowd.errors import Notice
from incrowd.risk.safe_harbor import OLDEST, KindFinding, found_kinds, this_year
from incrowd.tables.preset import Preset
from incrowd.tables.reading.coarsen import coarsened, unreadable
from incrowd.tables.reading.source import Source
from incrowd.tables.recipe import Recipe
from incrowd.vocabulary.coarsening import Coarsening
from incrowd.vocabulary.schema import Role

_NOT_RELEASED = ("drop", "identifier")


def with_kinds(recipe: Recipe, preset: Preset, source: Source) -> tuple[Recipe, Source]:
    """The recipe with what a preset says of the columns of a table, and the table by it; a notice tells each rule.

    What the recipe says of a column wins: a role keeps it from being dropped, a rule of its own from another.
    """
    columns = {name: dict(settings) for name, settings in recipe.columns.items()}
    rules = dict(recipe.reading.get("coarsen") or {})
    missing = source.origin.missing
    mine, why = dict[str, str](), dict[str, str]()
    notices, repeats = [], list(recipe.repeats)
    for found in _by_column(source.frame, preset):
        name, stated = found.column, columns.get(found.column, {}).get("role")
        if stated in _NOT_RELEASED:
            continue
        deed = _deed(preset.kinds[found.kind])
        if (
            deed not in _NOT_RELEASED
            and stated is None
            and unreadable(source.frame[name], Coarsening.of(deed), missing)
        ):
            deed = "drop"
        reason = f"{preset.name}: {found.kind}; {found.why}"
        if name in rules:
            notices.append(Notice("preset-overruled", name, f"left to your rule {rules[name]} ({reason})."))
        elif deed not in _NOT_RELEASED:
            mine[name], why[name] = deed, reason
        elif stated is not None:
            notices.append(Notice("preset-overruled", name, f"not dropped, as you name it {stated} ({reason})."))
        else:
            columns.setdefault(name, {})["role"] = Role.IDENTIFIER
            repeats += [name] if deed == "drop" else []
            notices.append(Notice("preset", name, f"dropped ({reason})."))
    reading = {**recipe.reading, "coarsen": rules | mine} if mine else recipe.reading
    source = replace(source, notices=(*source.notices, *notices))
    return replace(recipe, columns=columns, reading=reading, repeats=repeats), coarsened(source, mine, why)


def _by_column(frame: pl.DataFrame, preset: Preset) -> list[KindFinding]:
    """For each column the kind that decides: one that is not released comes first."""
    known = [found for found in found_kinds(frame) if found.kind in preset.kinds]
    first = sorted(known, key=lambda found: preset.kinds[found.kind] not in _NOT_RELEASED)
    return list({found.column: found for found in reversed(first)}.values())[::-1]


def _deed(deed: str) -> str:
    """A role or a rule, with the year in which people over 89 were born at the latest."""
    return f"year-from-{this_year() - OLDEST - 1}" if deed == "birth-year" else deed
