"""From a draft and a recipe to the schema of a release, with the doubts that remain."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.drawing.wording import counted
from incrowd.errors import Notice, SchemaError, named_option
from incrowd.tables.reading.draft import Shared, draft_schema, role_by_name
from incrowd.tables.reading.source import Source
from incrowd.tables.recipe import Recipe
from incrowd.tables.recipe_checks import DEFAULT_METHOD, VERSION
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
    repeat are refused, unless the recipe lets them or names whose rows they are: k counts rows, and means persons only
    if each has one row.
    """
    return settled_roles(draft_schema(source, target=recipe.target), recipe, _counts(source))


def check_known(source: Source, recipe: Recipe, table: str) -> None:
    """Raise unless a quasi-identifier is named of a table that is one of several, with what one would suggest."""
    if not recipe.named(Role.QUASI_IDENTIFIER):
        draft = draft_schema(source, target=recipe.target)
        raise _unknown(recipe.schema(draft, whole=False), _counts(source), f" of {table}")


def _counts(source: Source) -> Repeats:
    def repeats(names: Sequence[str]) -> dict[str, Shared]:
        values = {name: source.frame[name].drop_nulls() for name in names}
        return {name: Shared(len(column), column.n_unique()) for name, column in values.items()}

    return repeats


def _unknown(stated: Schema, repeats: Repeats, of: str = "") -> SchemaError:
    """That no quasi-identifier is named, with what one would suggest: nothing that numbers persons."""
    numbering = _numbering(stated.columns, repeats)
    suggested = ", ".join(name for name in stated.quasi_identifiers if name not in numbering)
    hint = f" The data suggest: {suggested}." if suggested else ""
    return SchemaError(f"No quasi-identifier{of} is named: what could an attacker know?{hint}")


def settle_stream(stream: Stream, recipe: Recipe, scratch: Path) -> tuple[Schema, tuple[Notice, ...], frozenset[str]]:
    """The same for a table larger than memory; also the columns whose type was drafted from a sample.

    What is refused or dropped is counted on all rows, in the scratch folder.
    """
    from incrowd.tables.streams.encode import draft_stream, shared_values

    draft, draft_notices = draft_stream(stream, recipe.target)
    schema, notices = settled_roles(draft, recipe, lambda names: shared_values(stream, names, scratch))
    typed = {name for name, column in recipe.columns.items() if "type" in column}
    return schema, (*draft_notices, *notices), frozenset(schema.encoded) - typed


def settled_roles(draft: Schema, recipe: Recipe, repeats: Repeats) -> tuple[Schema, tuple[Notice, ...]]:
    """The drafted schema with the roles the recipe says, given what counts the values of columns."""
    stated = recipe.schema(draft)
    if not any(column.role is Role.QUASI_IDENTIFIER for column in _named(stated, recipe)):
        raise _unknown(stated, repeats)
    unnamed = {c.name: c for c in stated.columns if "role" not in recipe.columns.get(c.name, {})}
    identifying = _numbering([*unnamed.values()], repeats)
    columns, notices = [], []
    for column in stated.columns:
        settled = column
        if column.name in unnamed:
            dropped = column.role is Role.IDENTIFIER or column.name in identifying
            settled = replace(column, role=Role.IDENTIFIER if dropped else Role.OTHER)
            if dropped:
                message = f"dropped ({column.reason}). Name its role to keep it."
                notices.append(Notice("dropped", column.name, message))
        drafted = draft[column.name]
        if settled.role is Role.OTHER and drafted.role is not Role.TARGET:  # others could know it, or should not
            message = f"released unchanged, although its drafted role is {drafted.role} ({drafted.reason})."
            notices.append(Notice("unnamed", column.name, message))
        if settled.role in _KEYED_TYPES:
            settled = replace(settled, type=_KEYED_TYPES[settled.role], order=())
        columns.append(settled)
    schema = Schema(tuple(columns))
    return schema, (*notices, *_repeats(schema, recipe, repeats), *_unshifted(schema))


def _named(schema: Schema, recipe: Recipe) -> Iterator[Column]:
    return (schema[name] for name, settings in recipe.columns.items() if "role" in settings)


def _numbering(columns: Sequence[Column], repeats: Repeats) -> set[str]:
    """Those of the columns that seem to number persons, although they are not drafted as identifiers."""
    others = (column.name for column in columns if column.role not in (Role.IDENTIFIER, Role.TARGET))
    doubtful = [name for name in others if role_by_name(name) is Role.IDENTIFIER]
    return {name for name, shared in repeats(doubtful).items() if shared.numbers_persons}


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
    """Refuse identifiers and pseudonyms that repeat; those that may are told. A missing one repeats nobody.

    Where a column says whose row it is, identifiers repeat with their persons; only one with fewer values is told.
    """
    unique = (*schema.identifiers, *schema.pseudonyms)
    for name in recipe.repeats:
        if name not in unique:
            raise SchemaError(f"repeats names {name!r}, which is no identifier. Only identifiers need to be unique.")
    person = schema.person
    named_alike = [name for name in schema.dropped if role_by_name(name) is Role.IDENTIFIER]
    counts = repeats(list(dict.fromkeys((*unique, *named_alike, *([person] if person else [])))))
    persons = counts[person].values if person else None
    for name, shared in counts.items():
        again = shared.rows - shared.values
        if not again or name == person:
            continue
        linked = name in schema.pseudonyms
        if name in recipe.repeats:
            message = _linked(again, schema) if linked else f"{_shared(again)}; {_NO_PERSONS}"
            yield Notice("repeats", name, message)
        elif linked or (name in unique and persons is None):
            raise SchemaError(_repeated(name, again, schema))
        elif persons is None:
            yield Notice("repeats", name, f"left out as you state; {_shared(again)}. {_IF_PERSONS}")
        elif name in unique and shared.values < persons:
            yield Notice("repeats", name, f"has fewer values than {person} has persons. {_IF_THESE_PERSONS}")


_NO_PERSONS = "by your statement it does not number persons."
_IF_PERSONS = "If it numbers persons, rows are not persons here."
_IF_THESE_PERSONS = "If it numbers the persons to be protected, name it as the person instead."


def _shared(again: int) -> str:
    return f"{again:,} {'row has' if again == 1 else 'rows have'} the value of an earlier row"


def _linked(again: int, schema: Schema) -> str:
    what = "have" if again > 1 else "has"
    allowed = f"{counted(again, 'row')} {what} the pseudonym of an earlier row, as you allow. Recipients link them, and"
    if schema.person:
        return f"{allowed} whoever knows several rows of a person finds fewer than k persons who fit them all."
    return (
        f"rows are not persons here: {allowed} k counts rows: somebody with several rows is hidden less well than k "
        "says."
    )


def _repeated(name: str, again: int, schema: Schema) -> str:
    """What a column that repeats asks: whose rows are they?"""
    linked = name in schema.pseudonyms
    accepted = named_option(repeats=[name])
    if linked and schema.person:
        return (
            f"The pseudonym {name!r} repeats: {_shared(again)}, so recipients link them, and whoever knows several "
            f"rows of a person finds fewer than k persons who fit them all. Leave it out; if recipients shall follow "
            f"persons: {named_option(keep_link=True)}. If you accept that: {accepted}."
        )
    words = f"Rows are not persons here: the {'pseudonym' if linked else 'identifier'} {name!r} repeats, "
    words += f"{_shared(again)}. Somebody with several rows is hidden less well than k says if k counts rows. "
    if linked:
        follow = f"{named_option(person=name)} with {named_option(keep_link=True)}"
        return f"{words}If it says whose row it is: {follow}, in place of a pseudonym. If you accept that: {accepted}."
    return (
        f"{words}If it says whose row it is, let k count persons: {named_option(person=name)}. "
        f"If it does not number persons: {accepted}."
    )


def draft_recipe(
    schema: Schema, k: int = 10, method: str = DEFAULT_METHOD, reading: Mapping[str, Any] | None = None
) -> str:
    """A recipe for the user to confirm or edit; every role comes with its reason, and how the file is read is kept."""
    lines = [
        "# What each column is. Check every line, then: incrowd release FILE --recipe THIS --to OUT",
        f"# roles: {', '.join(Role)}",
        f"# types: {', '.join(ColumnType)} (ordered: add order: [low, ..., high])",
        f"incrowd_recipe: {VERSION}  # version of this format",
        "columns:",
    ]
    width = max((len(json.dumps(column.name)) for column in schema.columns), default=0) + 1
    for column in schema.columns:
        name = json.dumps(column.name, ensure_ascii=False) + ":"
        order = f", order: {json.dumps(list(column.order), ensure_ascii=False)}" if column.order else ""
        settings = f"{{role: {column.role}, type: {column.type}{order}}}"
        lines.append(f"  {name:<{width}} {settings:<48} # {column.reason}".rstrip(" #"))
    if reading:
        lines.append("reading:  # how the file is read: confirm it, too")
        lines += [f"  {name}: {json.dumps(value, ensure_ascii=False)}" for name, value in reading.items()]
    lines.append(f"k: {k}")
    if schema.target is not None:
        lines.append("class_sensitive:  # yes or no: must the class of a person not be inferred? There is no default")
    lines += [f"method: {method}", ""]
    return "\n".join(lines)
