"""From a draft and a recipe to the schema of a release, with the doubts that remain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from incrowd.errors import Notice, SchemaError
from incrowd.reading.draft import draft_schema
from incrowd.reading.hints import role_by_name
from incrowd.reading.source import Source
from incrowd.recipe import Recipe
from incrowd.vocabulary.schema import Column, Role, Schema

_ROWS_OF_A_PERSON = 50


def settle_schema(source: Source, recipe: Recipe) -> tuple[Schema, tuple[Notice, ...]]:
    """Every column with its role and type.

    The recipe decides. Of columns it does not name, those that look like identifiers are dropped; all others are
    released unchanged, with a notice where they look as if they should not be. Identifiers that repeat are refused,
    unless the recipe lets them: k counts rows, and means persons only if each has one row.
    """
    target = next((name for name, said in recipe.columns.items() if said.get("role") == Role.TARGET), None)
    draft = draft_schema(source, target=target)
    said = recipe.schema(draft)
    if not any(column.role is Role.QUASI_IDENTIFIER for column in _named(said, recipe)):
        suggested = ", ".join(draft.quasi_identifiers)
        hint = f" From the data one would suggest: {suggested}." if suggested else ""
        raise SchemaError(f"No quasi-identifier is named: what could an attacker know?{hint}")
    columns, notices = [], []
    for column in said.columns:
        settled = column
        if "role" not in recipe.columns.get(column.name, {}):
            settled = _unnamed(column, source)
            notices += list(_doubt(column, settled))
        columns.append(settled)
    schema = Schema(tuple(columns))
    return schema, (*notices, *_repeats(schema, source, recipe))


def _named(schema: Schema, recipe: Recipe) -> Iterator[Column]:
    return (schema[name] for name, said in recipe.columns.items() if "role" in said)


def _unnamed(column: Column, source: Source) -> Column:
    dropped = column.role is Role.IDENTIFIER or _numbers_persons(column, source)
    return replace(column, role=Role.IDENTIFIER if dropped else Role.OTHER)


def _numbers_persons(column: Column, source: Source) -> bool:
    """Whether a column that is named like an identifier and repeats has too many values for a category."""
    if role_by_name(column.name) is not Role.IDENTIFIER or column.role is Role.TARGET:
        return False
    values = source.frame[column.name].drop_nulls()
    return len(values) < _ROWS_OF_A_PERSON * values.n_unique()


def _doubt(drafted: Column, settled: Column) -> Iterator[Notice]:
    if settled.role is Role.IDENTIFIER:
        yield Notice("dropped", drafted.name, f"dropped ({drafted.reason}). Name its role to keep it.")
    elif drafted.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        message = f"released unchanged, although it looks like {drafted.role} ({drafted.reason})."
        yield Notice("unnamed", drafted.name, message)


def _repeats(schema: Schema, source: Source, recipe: Recipe) -> Iterator[Notice]:
    """Refuse identifiers that repeat; those that may are told. A missing identifier repeats nobody."""
    for name in recipe.repeats:
        if name not in schema.identifiers:
            raise SchemaError(f"repeats names {name!r}, which is no identifier. Only identifiers need to be unique.")
    for name in schema.identifiers:
        values = source.frame[name].drop_nulls()
        again = len(values) - values.n_unique()
        if again and name not in recipe.repeats:
            raise SchemaError(
                f"The identifier {name!r} repeats: {again:,} rows have the value of an earlier row. k counts rows, not "
                "persons; a person with several rows is hidden less well than k says. Keep one row per person. If the "
                f"column does not number persons, give it another role, or say repeats: [{name}] in the recipe."
            )
        if again:
            message = f"{again:,} rows have the value of an earlier row; you said that it does not number persons."
            yield Notice("repeats", name, message)
