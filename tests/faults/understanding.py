"""Faults of understanding: a column is worked on in another role than the user gave it."""

from __future__ import annotations

from dataclasses import replace

from faults.planting import BLOCKS, MEMORY, SPARK, as_if, plant
from incrowd.vocabulary.schema import Role, Schema

EVERYWHERE = (MEMORY, BLOCKS, SPARK)


def misunderstood(engines=(MEMORY,), **roles):
    """Enter a fault that gives columns other roles."""

    def enter(described):
        def faulty(original, *arguments, **named):
            schema, notices = original(*arguments, **named)
            columns = (replace(c, role=roles[c.name]) if c.name in roles else c for c in schema.columns)
            return Schema(tuple(columns)), notices

        plant("incrowd.tables.roles:settled_roles", engines)(as_if(faulty, described))
        return described

    return enter


@misunderstood(EVERYWHERE, weight=Role.OTHER)
def a_quasi_identifier_is_forgotten():
    """A quasi-identifier is taken for a column that nobody knows, and released as it is."""


@misunderstood(EVERYWHERE, patient=Role.OTHER)
def an_identifier_is_released():
    """An identifier is taken for a column that may be released."""


@misunderstood(EVERYWHERE, remark=Role.OTHER)
def a_column_to_drop_is_released():
    """A column that the user drops is taken for one that may be released."""


@misunderstood(EVERYWHERE, shoes=Role.QUASI_IDENTIFIER)
def a_private_column_is_changed():
    """A column that is to stay as it is, as nobody outside knows it, is generalized with the others."""


@misunderstood(shoes=Role.DROP)
def a_private_column_is_dropped():
    """A column that is to stay as it is, as nobody outside knows it, is not released."""


@misunderstood(EVERYWHERE, diagnosis=Role.IDENTIFIER)
def a_sensitive_column_is_dropped():
    """A column that is to be released is dropped as if it were an identifier."""


@misunderstood(age=Role.SENSITIVE, diagnosis=Role.QUASI_IDENTIFIER)
def two_roles_are_exchanged():
    """What is known of people and what must not be learned about them are exchanged."""


@misunderstood(diagnosis=Role.QUASI_IDENTIFIER)
def a_sensitive_column_is_generalized():
    """A column that is to be released as it is, is generalized with the others."""


@misunderstood(ill=Role.OTHER, sex=Role.TARGET)
def a_quasi_identifier_is_taken_for_the_class():
    """A quasi-identifier is taken for the class, and released as it is."""
