"""ARFF: its declarations and rows, told by its lines alone, and its fields as SQL."""

from __future__ import annotations

import re
from pathlib import Path

from incrowd.errors import FileFormatError

# a field: quoted parts, in which a backslash takes the next letter as it is, and plain ones
FIELD = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,'"])+"""
NEVER_IN_A_LINE = "\x1f\x1e\x1d\x1c"
_NAME = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)""", re.IGNORECASE)


def examine_arff(path: Path) -> tuple[list[str], int, int]:
    """The names of the attributes, how many lines come before the data, and how many rows the data has.

    A line of the data that begins with ``%`` is a comment: ARFF is defined so.
    """
    names: list[str] = []
    before = rows = 0
    data = False
    with path.open(encoding="utf-8-sig", newline="") as lines:
        for line in lines:
            content = line.strip()
            if data:
                rows += bool(content) and not content.startswith("%")
                continue
            before += 1
            data = content.lower() == "@data"
            names += [_unquoted(found[1]) for found in [_NAME.match(content)] if found]
    if not data or not names:
        raise FileFormatError(f"{path.name} could not be verified: it is no ARFF file with attributes and data.")
    return names, before, rows


def cell_of(field: str) -> str:
    """The value of a field as SQL: nothing for ``?``; a quoted text without its quotes and backslashes."""
    inner = rf"regexp_replace(substr({field}, 2, length({field}) - 2), '\\(.)', '\1', 'g')"
    quoted = f"{field}[1] IN (chr(34), chr(39))"
    return f"CASE WHEN {field} = '?' THEN NULL WHEN {quoted} THEN {inner} ELSE {field} END"


def _unquoted(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name[1:-1]) if name[0] in "'\"" and len(name) > 1 else name
