"""From a draft and a recipe to the schema of a release, with the doubts that remain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from incrowd.errors import Notice, SchemaError, named_option
from incrowd.tables.reading.draft import Shared, draft_schema, role_by_name
from incrowd.tables.reading.source import Source
from incrowd.tables.recipe import Recipe
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

if TYPE_CHECKING:
    from incrowd.tables.streams.stream import Stream

_KEYED_TYPES = {Role.PSEUDONYM: ColumnType.TEXT, Role.SHIFTED: ColumnType.DATE}
Repeats = Callable[[Sequence[str]], Mapping[str, Shared]]
"""Counts the values of columns, over all rows."""


def settle_schema(source: Source, recipe: Recipe) -> tuple[Schema, tuple[Notice, ...]]:
    """Every column with its role and type.

    The recipe decides. Of columns it does not name, those that look like identifiers are dropped; all others are
    released unchanged. Whatever is released unchanged because it has no role or is called ``other`` gets a notice where
    it looks as if it should not be; ``private`` is the user's word that nobody outside knows it. Identifiers that
    repeat are refused, unless the recipe lets them: k counts rows, and means persons only if each has one row.
    """

    def repeats(names: Sequence[str]) -> dict[str, Shared]:
        values = {name: source.frame[name].drop_nulls() for name in names}
        return {name: Shared(len(column), column.n_unique()) for name, column in values.items()}

    return settled_roles(draft_schema(source, target=recipe.target), recipe, repeats)


def settle_stream(stream: Stream, recipe: Recipe, scratch: Path) -> tuple[Schema, tuple[Notice, ...], frozenset[str]]:
    """The same for a table larger than memory; also the columns whose type was drafted from a sample.

    What is refused or dropped is counted on all rows, in the scratch folder.
    """
    from incrowd.tables.streams.draft import draft_stream, shared_values

    draft, draft_notices = draft_stream(stream, recipe.target)
    schema, notices = settled_roles(draft, recipe, lambda names: shared_values(stream, names, scratch))
    typed = {name for name, column in recipe.columns.items() if "type" in column}
    return schema, (*draft_notices, *notices), frozenset(schema.encoded) - typed


def settled_roles(draft: Schema, recipe: Recipe, repeats: Repeats) -> tuple[Schema, tuple[Notice, ...]]:
    """The drafted schema with the roles the recipe says, given what counts the values of columns."""
    stated = recipe.schema(draft)
    if not any(column.role is Role.QUASI_IDENTIFIER for column in _named(stated, recipe)):
        suggested = ", ".join(draft.quasi_identifiers)
        hint = f" From the data one would suggest: {suggested}." if suggested else ""
        raise SchemaError(f"No quasi-identifier is named: what could an attacker know?{hint}")
    unnamed = [column for column in stated.columns if "role" not in recipe.columns.get(column.name, {})]
    doubtful = [column.name for column in unnamed if _may_number_persons(column)]
    identifying = {name for name, shared in repeats(doubtful).items() if shared.numbers_persons}
    columns, notices = [], []
    for column in stated.columns:
        settled = column
        if column in unnamed:
            dropped = column.role is Role.IDENTIFIER or column.name in identifying
            settled = replace(column, role=Role.IDENTIFIER if dropped else Role.OTHER)
            notices += list(_dropped(column, settled))
        if settled.role is Role.OTHER:
            notices += list(_doubt(draft[column.name]))
        if settled.role in _KEYED_TYPES:
            settled = replace(settled, type=_KEYED_TYPES[settled.role], order=())
        columns.append(settled)
    schema = Schema(tuple(columns))
    return schema, (*notices, *_repeats(schema, recipe, repeats), *_unshifted(schema))


def _named(schema: Schema, recipe: Recipe) -> Iterator[Column]:
    return (schema[name] for name, settings in recipe.columns.items() if "role" in settings)


def _may_number_persons(column: Column) -> bool:
    """Whether a column that is not drafted as one is named like an identifier."""
    return column.role not in (Role.IDENTIFIER, Role.TARGET) and role_by_name(column.name) is Role.IDENTIFIER


def _dropped(drafted: Column, settled: Column) -> Iterator[Notice]:
    if settled.role is Role.IDENTIFIER:
        yield Notice("dropped", drafted.name, f"dropped ({drafted.reason}). Name its role to keep it.")


def _doubt(drafted: Column) -> Iterator[Notice]:
    """That a column without a role, or called other, looks as if others could know it, or should not."""
    if drafted.role is not Role.TARGET:
        message = f"released unchanged, although it looks like {drafted.role} ({drafted.reason})."
        yield Notice("unnamed", drafted.name, message)


def _unshifted(schema: Schema) -> Iterator[Notice]:
    """That dates are released as they are beside shifted ones."""
    shifted = [name for name in schema.keyed if name not in schema.pseudonyms]
    plain = [name for name in schema.untouched if schema[name].type is ColumnType.DATE and name not in shifted]
    if plain and shifted:
        message = (
            "dates are released as they are beside shifted ones; where they belong together, they tell the shift. To "
            f"shift them too: {named_option(shift_dates=[*shifted, *plain])}."
        )
        yield Notice("unshifted-dates", ", ".join(plain), message)


def _repeats(schema: Schema, recipe: Recipe, repeats: Repeats) -> Iterator[Notice]:
    """Refuse identifiers and pseudonyms that repeat; those that may are told. A missing one repeats nobody."""
    unique = (*schema.identifiers, *schema.pseudonyms)
    for name in recipe.repeats:
        if name not in unique:
            raise SchemaError(f"repeats names {name!r}, which is no identifier. Only identifiers need to be unique.")
    named_alike = [name for name in schema.dropped if role_by_name(name) is Role.IDENTIFIER]
    for name, shared in repeats(list(dict.fromkeys((*unique, *named_alike)))).items():
        again = shared.rows - shared.values
        if not again:
            continue
        linked = name in schema.pseudonyms
        if name not in unique:
            message = (
                f"{again:,} rows have the value of an earlier row. If it numbers persons, rows are not persons here."
            )
            yield Notice("repeats", name, f"left out as you state; {message}")
        elif name in recipe.repeats:
            message = _linked(again) if linked else f"{again:,} rows have the value of an earlier row; {_NO_PERSONS}"
            yield Notice("repeats", name, message)
        else:
            raise SchemaError(_repeated(name, again, linked=linked))


_NO_PERSONS = "by your statement it does not number persons."


def _linked(again: int) -> str:
    return (
        f"rows are not persons here: {again:,} rows have the pseudonym of an earlier row, as you allow. Recipients "
        "link them, and k counts rows: somebody with several rows is hidden less well than k says."
    )


def _repeated(name: str, again: int, *, linked: bool) -> str:
    what, advice = (
        ("pseudonym", "If you accept that") if linked else ("identifier", "If the column does not number persons")
    )
    return (
        f"Rows are not persons here: the {what} {name!r} repeats, {again:,} rows have the value of an earlier row. "
        f"{'Recipients link them, and ' if linked else ''}k counts rows, so somebody with several rows is hidden less "
        "well than k says. Keep one row for each person, or sum up a person's rows in one, and release that table. "
        f"{advice}: {named_option(repeats=[name])}."
    )
