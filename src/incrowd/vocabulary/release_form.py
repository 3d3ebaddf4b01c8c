"""In which form the groups of a method are released.

::

    strict    plain values: the group's own value, a set, an interval, or nothing
    counts    for each group and attribute all values with their counts, the same text in all rows of the group
    pair      the same counts as a table of groups, beside a table of rows
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from incrowd.errors import ParameterError

STRICT, COUNTS, PAIR = "strict", "counts", "pair"
RELEASE_FORMS = (STRICT, COUNTS, PAIR)


def check_form(form: object) -> None:
    """Raise unless it is the name of a form, or None: the method's own.

    Examples
    --------
    >>> check_form("counts")
    """
    if form is not None and form not in RELEASE_FORMS:
        raise ParameterError(f"form must be one of {', '.join(RELEASE_FORMS)}.")


def groups_path(rows: Path) -> Path:
    """Where the table of groups lies, beside the table of rows.

    Examples
    --------
    >>> groups_path(Path("people.csv.gz")).name
    'people.groups.csv.gz'
    """
    stem, dot, endings = rows.name.partition(".")
    return rows.with_name(f"{stem}.groups{dot}{endings}")


def groups_key(columns: Iterable[str]) -> str:
    """The name of the column that numbers the groups: ``group``, unless the table has one of that name.

    Examples
    --------
    >>> groups_key(["age", "group"])
    'group_'
    """
    taken, name = {column.lower() for column in columns}, "group"
    while name in taken:
        name += "_"
    return name
