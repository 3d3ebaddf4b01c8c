"""Which columns a requirement is about, and whether a table can keep it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from incrowd.errors import HeaderError, SchemaError
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.requirement import KAnonymity, KnownTogether, Requirement
from incrowd.vocabulary.requirements.subject import Subject
from incrowd.vocabulary.requirements.together import Together
from incrowd.vocabulary.schema import Role, Schema, unknown_column


def subject_names(requirement: Requirement, target: str | None) -> tuple[str, ...]:
    """The columns a requirement is about, each once; what names none is about the target.

    Examples
    --------
    >>> from incrowd.vocabulary.requirements.entropy_diversity import EntropyDiversity
    >>> subject_names(Together((EntropyDiversity(2), EntropyDiversity(2, "pay"))), "ill")
    ('ill', 'pay')
    """
    if isinstance(requirement, KAnonymity | KnownTogether):
        return ()
    if not isinstance(requirement, Together):
        return () if target is None else (target,)
    if target is None and any(part.on is None for part in requirement.on_columns):
        raise SchemaError("A requirement without 'on COLUMN' is about the target, and there is none. Name a column.")
    return tuple(dict.fromkeys(part.on or str(target) for part in requirement.on_columns))


def with_subjects(requirement: Requirement, schema: Schema) -> Schema:
    """The schema with the columns of a requirement as sensitive ones; raises if they cannot be.

    Examples
    --------
    >>> from incrowd.vocabulary.requirements.entropy_diversity import EntropyDiversity
    >>> from incrowd.vocabulary.schema import Column
    >>> asked = Together((EntropyDiversity(2, "pay"),))
    >>> with_subjects(asked, Schema((Column("pay"),)))["pay"].role
    <Role.SENSITIVE: 'sensitive'>
    """
    names = subject_names(requirement, schema.target)
    for name in names:
        if name not in schema:
            raise HeaderError(f"A requirement names {name!r}. {unknown_column(name, schema.names)}")
        role = schema[name].role
        if role in (Role.QUASI_IDENTIFIER, Role.IDENTIFIER):
            known = "an attacker knows it" if role is Role.QUASI_IDENTIFIER else "it is not released"
            raise SchemaError(
                f"Column {name!r} is {role}: {known}, so nothing can be required of it. Give it the role sensitive, or "
                "leave it out of the requirements."
            )
    columns = (
        replace(column, role=Role.SENSITIVE) if column.name in names and column.role is Role.OTHER else column
        for column in schema.columns
    )
    return Schema(tuple(columns))


def check_columns(requirement: Requirement, columns: Mapping[str, EncodedColumn], schema: Schema) -> None:
    """Raise if no release of this table can keep what is required of its columns; say what would be possible.

    All rows together are the weakest state of a monotone requirement: if they do not keep it, no partition does.
    """
    if not isinstance(requirement, Together):
        return
    for part in requirement.on_columns:
        name = part.on or str(schema.target)
        part.check_possible(Subject.of(columns[name], columns[name].counts, schema[name].hierarchy))
