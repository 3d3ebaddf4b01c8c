"""What every column is: its role in the release and the type of its values.

Missing is a value: it is counted, grouped and reported like any other; no type excludes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from incrowd.errors import HeaderError, SchemaError
from incrowd.vocabulary.option import nearest

if TYPE_CHECKING:
    from incrowd.vocabulary.encoded_table import EncodedColumn
    from incrowd.vocabulary.hierarchy import Hierarchy

STATED = "stated by you"
"""The reason of a column whose role or type is as the user stated it."""


class Role(StrEnum):
    """What a column is for.

    ``person`` says whose row it is, and is not released; ``identifier`` columns number or name persons and are not
    released; ``drop`` columns are not released either, whatever they are; ``quasi-identifier`` columns are what an
    attacker may know and what the release transforms;
    ``sensitive`` columns are what must not be inferred; ``target`` is the class recipients learn to predict;
    ``private`` columns are released unchanged, and the user states that nobody outside knows them; ``pseudonym``
    columns are released as what a secret key makes of their values, ``shifted`` columns as dates that a secret key
    shifts by person; ``other`` columns are released unchanged, and nothing is stated of them.
    """

    PERSON = "person"
    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    TARGET = "target"
    PRIVATE = "private"
    PSEUDONYM = "pseudonym"
    SHIFTED = "shifted"
    DROP = "drop"
    OTHER = "other"


NOT_RELEASED = (Role.PERSON, Role.IDENTIFIER, Role.DROP)
"""The roles of columns that a release does not have."""
KEYED = (Role.PSEUDONYM, Role.SHIFTED)
"""The roles of columns that a release has as a key of the holder makes them."""


class ColumnType(StrEnum):
    """How the values of a column are read."""

    CATEGORICAL = "categorical"
    ORDERED = "ordered"
    INTEGER = "integer"
    REAL = "real"
    DATE = "date"
    BOOLEAN = "boolean"
    TEXT = "text"

    @property
    def is_numeric(self) -> bool:
        """True for types with a mean and thresholds: integers, reals and dates."""
        return self in (ColumnType.INTEGER, ColumnType.REAL, ColumnType.DATE)

    @property
    def has_order(self) -> bool:
        """True for types whose values can be compared: the numeric ones and ordered categories."""
        return self.is_numeric or self is ColumnType.ORDERED


@dataclass(frozen=True)
class Column:
    """One column: name, role, type, for ordered categories their order, why we think so, and its hierarchy, if any.

    Examples
    --------
    >>> Column("age", Role.QUASI_IDENTIFIER, ColumnType.INTEGER).type.is_numeric
    True
    """

    name: str
    role: Role = Role.OTHER
    type: ColumnType = ColumnType.CATEGORICAL
    order: tuple[str, ...] = ()
    reason: str = ""
    hierarchy: Hierarchy | None = None

    def __post_init__(self) -> None:
        if self.order and self.type is not ColumnType.ORDERED:
            raise SchemaError(
                f"Column {self.name!r} declares an order but has the type {self.type}. Use type: ordered."
            )
        if len(set(self.order)) != len(self.order):
            raise SchemaError(f"The order of column {self.name!r} names a value twice.")


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in their order.

    Examples
    --------
    >>> schema = Schema((Column("age"), Column("sex"), Column("ill")))
    >>> schema = schema.with_roles(quasi_identifiers=["age", "sex"], target="ill")
    >>> schema.quasi_identifiers, schema.target
    (('age', 'sex'), 'ill')
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        if twice:
            raise HeaderError(f"Column names must be unique; {', '.join(map(repr, twice))} occurs more than once.")
        targets = self._named(Role.TARGET)
        if len(targets) > 1:
            raise SchemaError(f"A table has one target; {', '.join(targets)} all claim the role. Keep one.")
        persons = self._named(Role.PERSON)
        if len(persons) > 1:
            raise SchemaError(f"One column says whose row it is; {', '.join(persons)} all claim to. Keep one.")

    def __getitem__(self, name: str) -> Column:
        if name not in self._by_name:
            raise HeaderError(unknown_column(name, self.names))
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    @cached_property
    def _by_name(self) -> dict[object, Column]:
        return {column.name: column for column in self.columns}

    def with_types(self, columns: Mapping[str, EncodedColumn]) -> Schema:
        """The schema with the types that encoded columns have on all rows."""
        return Schema(tuple(replace(c, type=columns[c.name].type) if c.name in columns else c for c in self.columns))

    def _named(self, *roles: Role) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if column.role in roles)

    @property
    def names(self) -> tuple[str, ...]:
        """All column names, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def encoded(self) -> tuple[str, ...]:
        """What algorithms know: the quasi-identifiers, and the target if there is one."""
        return (*self.quasi_identifiers, *([self.target] if self.target else []))

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns an attacker may know."""
        return self._named(Role.QUASI_IDENTIFIER)

    @property
    def target(self) -> str | None:
        """The class, if there is one."""
        targets = self._named(Role.TARGET)
        return targets[0] if targets else None

    @property
    def person(self) -> str | None:
        """The column that says whose row it is, if there is one; without it every row is a person."""
        persons = self._named(Role.PERSON)
        return persons[0] if persons else None

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The columns that number or name persons."""
        return self._named(Role.IDENTIFIER)

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns that are not released: the person, identifiers, and those to drop."""
        return self._named(*NOT_RELEASED)

    @property
    def pseudonyms(self) -> tuple[str, ...]:
        """The columns that are released as pseudonyms."""
        return self._named(Role.PSEUDONYM)

    @property
    def keyed(self) -> tuple[str, ...]:
        """The columns that are released as a key makes them: pseudonyms and shifted dates."""
        return self._named(*KEYED)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that must not be inferred."""
        return self._named(Role.SENSITIVE)

    @property
    def released(self) -> tuple[str, ...]:
        """The columns of the release: all that are not dropped, in order."""
        return tuple(column.name for column in self.columns if column.role not in NOT_RELEASED)

    @property
    def untouched(self) -> tuple[str, ...]:
        """The columns that are released as they were read: target, sensitive, private, keyed and other."""
        return self._named(Role.TARGET, Role.SENSITIVE, Role.PRIVATE, *KEYED, Role.OTHER)

    def _repr_html_(self) -> str:
        from incrowd.vocabulary.views import table_view

        rows = [(column.name, str(column.role), str(column.type), column.reason) for column in self.columns]
        return table_view("Columns", ("column", "role", "type", "why"), rows)

    def with_roles(
        self,
        *,
        quasi_identifiers: Iterable[str] | None = None,
        target: str | None = None,
        identifiers: Iterable[str] | None = None,
        sensitive: Iterable[str] | None = None,
    ) -> Schema:
        """The same columns with the given roles; a role that is not given keeps its columns.

        A column that loses its role because another list is given becomes ``other``.
        """
        by_role: dict[Role, tuple[str, ...]] = {}
        for role, names in (
            (Role.QUASI_IDENTIFIER, quasi_identifiers),
            (Role.TARGET, None if target is None else (target,)),
            (Role.IDENTIFIER, identifiers),
            (Role.SENSITIVE, sensitive),
        ):
            if names is not None:
                by_role[role] = tuple(names)
        roles = _roles_by_name(by_role, self.names)
        return Schema(
            tuple(
                replace(column, role=roles.get(column.name, Role.OTHER), reason=STATED)
                if column.name in roles or column.role in by_role
                else column
                for column in self.columns
            )
        )


def _roles_by_name(by_role: Mapping[Role, tuple[str, ...]], known: tuple[str, ...]) -> dict[str, Role]:
    """One role for each named column; unknown, repeated and doubly used names are errors."""
    roles: dict[str, Role] = {}
    for role, names in by_role.items():
        for name in names:
            if name not in known:
                raise HeaderError(unknown_column(name, known))
            if roles.get(name) is role:
                raise SchemaError(f"Column {name!r} is named twice as {role}. Name it once.")
            if name in roles:
                raise SchemaError(f"Column {name!r} cannot be both {roles[name]} and {role}. Choose one role.")
            roles[name] = role
    return roles


def unknown_column(name: str, known: Iterable[str]) -> str:
    """The sentence for a column that does not exist: what was probably meant, and which there are.

    Examples
    --------
    >>> unknown_column("Postcode", ["age", "postcode"])
    "There is no column 'Postcode'. Did you mean 'postcode'? The table has: age, postcode."
    """
    names = list(known)
    shown = ", ".join(names[:30]) + (f", … ({len(names) - 30} more)" if len(names) > 30 else "")
    meant = nearest(name.casefold(), {one.casefold(): repr(one) for one in names})
    return f"There is no column {name!r}.{meant} The table has: {shown}."
