"""ARX's CSV form: one line per value, leaf first, root last, separated by ``;`` or ``,``, quoted where needed."""

from __future__ import annotations

import csv
import io

from incrowd.errors import FileFormatError, InputError, OutputError
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.leaf_interval import parse_day, parse_interval


def parse_arx(text: str, name: str) -> Hierarchy:
    """Read the text of an ARX file. If all leaves are intervals, it is a hierarchy of numbers or dates.

    Examples
    --------
    >>> parse_arx("cook;service;*\\nnurse;health;*\\n", "job").height
    3
    """
    rows = _rows(text, name)
    leaves = [row[0] for row in rows]
    kind = guess_kind(leaves)
    if kind is Leaves.DATES and all(parse_day(leaf) is not None for leaf in leaves):
        return _days(name, rows)
    return Hierarchy.from_paths(name, rows, kind)


def _days(name: str, rows: list[list[str]]) -> Hierarchy:
    """Days are dates where every group is a run of days, else values like any other (weekdays, for instance)."""
    try:
        return Hierarchy.from_paths(name, rows, Leaves.DATES)
    except InputError:
        return Hierarchy.from_paths(name, rows)


def guess_kind(leaves: list[str]) -> Leaves:
    """What leaves are, from their texts; plain numbers are values.

    Examples
    --------
    >>> str(guess_kind(["(-inf, 30]", "(30, inf)"])), str(guess_kind(["2023", "2024"])), str(guess_kind(["2024-01"]))
    ('numbers', 'values', 'dates')
    """
    if all(parse_interval(leaf) for leaf in leaves):
        return Leaves.NUMBERS
    dated = all(parse_interval(leaf, dates=True) for leaf in leaves)
    return Leaves.DATES if dated and not all(leaf.isdigit() for leaf in leaves) else Leaves.VALUES


def _rows(text: str, name: str) -> list[list[str]]:
    """The lines as fields, by the first separator that gives all the same number, or else at least two each."""
    if not text.strip():
        raise FileFormatError(f"Hierarchy {name!r} is empty. Write one line per value: value;group;*")
    tried = [rows for rows in (_split(text, delimiter) for delimiter in ";,\t") if rows and min(map(len, rows)) > 1]
    if not tried:
        raise FileFormatError(
            f"Hierarchy {name!r} cannot be split into levels by ; or , or tabs. Write one line per value: "
            "value;group;*, and close every quote."
        )
    rows = next((rows for rows in tried if len(set(map(len, rows))) == 1), tried[0])
    width = len(rows[0])
    ragged = next((line for line, row in enumerate(rows, start=1) if len(row) != width), None)
    if ragged:
        raise FileFormatError(
            f"Hierarchy {name!r}: entry {ragged} has {len(rows[ragged - 1])} fields, the first has {width}. "
            "Give each value as many levels as the others; repeat the value where a branch is short."
        )
    return rows


def _split(text: str, delimiter: str) -> list[list[str]]:
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        return [row for row in reader if row]
    except csv.Error:
        return []


def format_arx(hierarchy: Hierarchy) -> str:
    """Write ARX's form; a branch that ends early repeats its leaf.

    Examples
    --------
    >>> print(format_arx(Hierarchy.from_paths("job", [["cook", "service", "*"], ["nurse", "*"]])), end="")
    cook;service;*
    nurse;nurse;*
    """
    leaves = [hierarchy.labels[leaf] for leaf in hierarchy.leaves]
    levels = [hierarchy.at_level(level) for level in range(hierarchy.height, 0, -1)]
    if hierarchy.kind is not guess_kind(leaves):
        raise OutputError(
            f"CSV cannot say that the leaves of hierarchy {hierarchy.name!r} are {hierarchy.kind}: they look like "
            f"{guess_kind(leaves)}. Write .yaml, .json or .txt."
        )
    lines = (";".join(_field(hierarchy.labels[node]) for node in way) for way in zip(*levels, strict=True))
    return "".join(f"{line}\n" for line in lines)


def _field(label: str) -> str:
    """The label, in quotes if it has a separator, a quote, a line end or a blank at its ends."""
    plain = not set(label) & set(';,\t"\r\n') and label == label.strip()
    return label if plain else '"' + label.replace('"', '""') + '"'
