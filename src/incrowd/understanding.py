"""From a draft and a recipe to the schema of a release, with the doubts that remain."""

from __future__ import annotations

from collections.abc import Iterator

from incrowd.errors import Notice, SchemaError
from incrowd.reading.draft import draft_schema
from incrowd.reading.source import Source
from incrowd.recipe import Recipe
from incrowd.vocabulary.schema import Column, Role, Schema


def settle_schema(source: Source, recipe: Recipe) -> tuple[Schema, tuple[Notice, ...]]:
    """Every column with its role and type.

    The recipe decides. Of columns it does not name, those that look like identifiers are dropped; all others are
    released unchanged, with a notice where they look as if they should not be.
    """
    target = next((name for name, said in recipe.columns.items() if said.get("role") == Role.TARGET), None)
    draft = draft_schema(source, target=target)
    said = recipe.schema(draft)
    if not any(column.role is Role.QUASI_IDENTIFIER for column in _named(said, recipe)):
        suggested = ", ".join(draft.quasi_identifiers)
        hint = f" From the data one would suggest: {suggested}." if suggested else ""
        raise SchemaError(f"No quasi-identifier is named: what could an attacker know?{hint}")
    if len(draft.columns) == len(recipe.columns) and all("role" in c for c in recipe.columns.values()):
        return said, ()
    columns, notices = [], []
    for column in said.columns:
        if "role" in recipe.columns.get(column.name, {}):
            columns.append(column)
        else:
            settled = _unnamed(column)
            columns.append(settled)
            notices += list(_doubt(column, settled))
    return Schema(tuple(columns)), tuple(notices)


def _named(schema: Schema, recipe: Recipe) -> Iterator[Column]:
    return (schema[name] for name, said in recipe.columns.items() if "role" in said)


def _unnamed(column: Column) -> Column:
    role = Role.IDENTIFIER if column.role is Role.IDENTIFIER else Role.OTHER
    return Column(column.name, role, column.type, column.order, column.reason)


def _doubt(drafted: Column, settled: Column) -> Iterator[Notice]:
    if settled.role is Role.IDENTIFIER:
        yield Notice("dropped", drafted.name, f"dropped ({drafted.reason}). Name its role to keep it.")
    elif drafted.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        message = f"released unchanged, although it looks like {drafted.role} ({drafted.reason})."
        yield Notice("unnamed", drafted.name, message)
