"""The one door for hierarchy files; the name says the form."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

from incrowd.errors import FileFormatError, InputError, OutputError
from incrowd.tables.hierarchies.compact import format_compact, parse_compact
from incrowd.tables.hierarchies.nested import format_json, format_yaml, parse_json, parse_yaml
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.released_value import parse_day, parse_interval


def parse_arx(text: str, name: str) -> Hierarchy:
    """Read the text of an ARX file. If all leaves are intervals, it is a hierarchy of numbers or dates."""
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


_PARSERS: dict[str, Callable[[str, str], Hierarchy]] = {
    ".csv": parse_arx,
    ".txt": parse_compact,
    ".yaml": parse_yaml,
    ".yml": parse_yaml,
    ".json": parse_json,
}
_WRITERS: dict[str, Callable[[Hierarchy], str]] = {
    ".csv": format_arx,
    ".txt": format_compact,
    ".yaml": format_yaml,
    ".yml": format_yaml,
    ".json": format_json,
}
_PICKLES = (".pkl", ".pickle", ".p", ".joblib", ".dill")
_LARGEST = 64 << 20  # bytes; a file is read whole, and is hardly a hierarchy if it is longer


def read_hierarchy(path: str | Path, name: str | None = None) -> Hierarchy:
    """Read a hierarchy: ARX's ``.csv``, compact ``.txt``, nested ``.yaml`` or ``.json``.

    A pickle is refused: reading one runs the code in it. Without a name it has the one in the file, or of the file.
    """
    path = Path(path)
    parse = _PARSERS.get(path.suffix.lower())
    content = _content(path)
    if path.suffix.lower() in _PICKLES or content.startswith(b"\x80"):
        raise FileFormatError(f"{path.name!r} is a pickle; reading it could run foreign code. Export it as CSV.")
    if parse is None:
        raise FileFormatError(f"{path.name!r} does not say its form. Known endings: {', '.join(_PARSERS)}.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise FileFormatError(f"{path.name!r} is not UTF-8: see line {line}. Save it as UTF-8.") from None
    hierarchy = parse(text, name or path.stem)
    return hierarchy if name is None else Hierarchy(name, hierarchy.labels, hierarchy.parents, hierarchy.kind)


def hierarchies_in(folder: str | Path) -> dict[str, Hierarchy]:
    """The hierarchies of a folder: a file for each column, named like it (``age.txt``, ``sex.csv``)."""
    if not Path(folder).is_dir():
        raise FileFormatError(f"{str(folder)!r} is not a folder of hierarchies. Check the path.")
    files = sorted(file for file in Path(folder).iterdir() if file.suffix.lower() in _PARSERS)
    hierarchies = {file.stem: read_hierarchy(file, file.stem) for file in files}
    if len(hierarchies) < len(files):
        raise FileFormatError(f"The folder {Path(folder).name!r} has two hierarchies of the same column. Keep one.")
    return hierarchies


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise FileFormatError(f"{str(path)!r} is not a file that can be read. Check the path.")
    if path.stat().st_size > _LARGEST:
        raise FileFormatError(f"{path.name!r} is larger than {_LARGEST >> 20} MB. Is it a hierarchy?")
    try:
        return path.read_bytes()
    except OSError:
        raise FileFormatError(f"{str(path)!r} cannot be opened. Check its permissions.") from None


def hierarchy_text(hierarchy: Hierarchy, path: str | Path) -> str:
    """The hierarchy in the form that a file name asks for."""
    write = _WRITERS.get(Path(path).suffix.lower())
    if write is None:
        raise OutputError(f"{Path(path).name}: a hierarchy is written to one of {', '.join(_WRITERS)}.")
    return write(hierarchy)


def write_hierarchy(hierarchy: Hierarchy, path: str | Path) -> None:
    """Write a hierarchy in the form that the file name asks for."""
    text = hierarchy_text(hierarchy, path)
    try:
        Path(path).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise OutputError(f"{Path(path).name} cannot be written: {error.strerror}.") from None
