"""Counts of values as text: ``Private:41|State-gov:9|?:2``, a hidden attribute as ``*``.

A member is a value, a colon and the rows that have it; members are joined by ``|``. In a value, ``%``, ``|`` and ``:``
are percent-encoded, so the text splits at bars and colons; so is a first letter that a spreadsheet takes for the
beginning of a formula. ``?`` is the missing value, and a value that is itself ``?`` is encoded. Whoever decodes percent
signs as in web addresses has the value. A value that stands there several times, where attributes are counted together,
has all of these rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

HIDDEN, MISSING = "*", "?"
_SEPARATORS = str.maketrans({"%": "%25", "|": "%7C", ":": "%3A"})
_FORMULA = {"=": "%3D", "+": "%2B", "-": "%2D", "@": "%40", "\t": "%09", "\r": "%0D"}
_MEMBER = re.compile(r"([^|:]*):([1-9][0-9]*)")
Counted = tuple[str | None, int]


def encode_value(value: str | None) -> str:
    """A value as it stands in a member."""
    if value is None:
        return MISSING
    if value == MISSING:
        return "%3F"
    text = value.translate(_SEPARATORS)
    return _FORMULA.get(text[:1], text[:1]) + text[1:]


def decode_value(text: str) -> str | None:
    """The value that :func:`encode_value` wrote.

    Examples
    --------
    >>> decode_value("a%7Cb%3A5%25"), decode_value("?")
    ('a|b:5%', None)
    """
    return None if text == MISSING else unquote(text, errors="strict") if "%" in text else text


def write_counts(members: Iterable[Counted]) -> str:
    """Values with their counts, in the order given."""
    return "|".join(f"{encode_value(value)}:{rows}" for value, rows in members)


def read_members(text: str) -> tuple[Counted, ...] | None:
    """The members of a text as they stand there; None if it is no such text. A hidden cell has none: ``()``."""
    if text == HIDDEN:
        return ()
    matches = [_MEMBER.fullmatch(part) for part in text.split("|")]
    if not all(matches):
        return None
    try:
        return tuple((decode_value(part[1]), int(part[2])) for part in matches if part)
    except UnicodeDecodeError:
        return None


def read_counts(text: str) -> tuple[Counted, ...] | None:
    """The values and counts of a text, each value once; None if it is no such text. A hidden cell has none: ``()``.

    Examples
    --------
    >>> read_counts("nurse:3|cook:2|nurse:1")
    (('nurse', 4), ('cook', 2))
    """
    members = read_members(text)
    if members is None:
        return None
    rows: dict[str | None, int] = {}
    for value, many in members:
        rows[value] = rows.get(value, 0) + many
    return tuple(rows.items())
